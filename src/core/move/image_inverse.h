/* image_inverse.h - inverse images: which positions name elements of a domain's tiles (image.h). */
#ifndef LGT_IMAGE_INVERSE_H
#define LGT_IMAGE_INVERSE_H

#include "move/image.h"

typedef struct lgt_inverse {
  lgt_store *store; /* of the positions */
  uint32_t layout;  /* their view, cut into rows along its dimension 0 */
  const lgt_partition *launch;
  const lgt_layout *target;   /* the view whose tiles along `dim` the positions lead to */
  const lgt_alignment *align; /* and how it lies in the launch's space */
  int dim;
  int64_t base;
} lgt_inverse;

/* runs[] gets, by local domain, the rows that hold a position in the domain's tiles.  A position outside of the target counts
 * for every domain, so that every domain reports it.  False on all ranks if some rank cannot answer; *here: this rank can. */
bool lgt_inverse_find(lgt_binder *binder, const lgt_inverse *inverse, lgt_runs **runs, bool *here);

/* Bring what a touch reads of a store to local domains, and wait until it is there.  False: it does not come here. */
bool lgt_image_move(lgt_binder *binder, lgt_store *store, const lgt_selected *selected);

#endif
