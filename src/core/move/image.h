/* image.h - which elements of a store a launch touches through an argument whose positions are data.
 *
 * An *image* belongs to a source (the arguments that hold the positions, at a version, as the launch's tiles cut them)
 * and a target (a dimension of a view).  Planning uses only the identity of an image.  Its positions are looked at
 * once: each rank looks at its own part of the source, and tells the others how far its domains reach.  If every domain
 * needs all elements within its reach, no rank has to know more, and elements move as they do for halos.  Otherwise the
 * ranks that have the elements are told which ones are needed.  The moves that result are kept for the history of the
 * target, so that a vector that is written in the same way again and again finds them again.
 *
 * While it looks, a rank waits for the source's contents and for the other ranks.  That happens once for each version of
 * the source; if single elements are listed, once for each history, too.  After that an image costs what a footprint does.
 *
 * Elements that come are put into an instance that reaches from the first element to the last.  Where little of it is
 * needed the instance is thin (thin.h): the elements between have addresses, but no memory.
 *
 * Elements may be written through ranges, too, if each domain needs all elements within its reach and no two reaches
 * meet: each tile of the result then has its elements, however many it makes.
 *
 * Whether an image and its moves are known already follows from the stream of operations: it is the same on all ranks.
 *
 * Belongs to the submitting thread.
 */
#ifndef LGT_IMAGE_H
#define LGT_IMAGE_H

#include "move/exchange.h"

/* The most histories for which an image keeps moves; the most images of a source. */
enum { LGT_IMAGE_HISTORIES = 8, LGT_IMAGES = 16 };

/* How the elements of an image come to the domains that need them, for one history: moves as in an exchange. */
struct lgt_image_moves {
  const lgt_history *history; /* borrowed: the history that these moves are for, without images */
  lgt_move *move;             /* owned */
  int nmove, move_room;
  lgt_piece *piece; /* owned, each with a ref to its runs */
  int npiece, piece_room;
  int64_t used; /* position (bind.h) of the group that used it last, which borrows it */
  lgt_image_moves *next;
};

/* What an image is of: equal bytes, equal image. */
typedef struct lgt_image_key {
  int64_t version[2];                     /* of the sources */
  int64_t through;                        /* the image through which the source is read; 0: none */
  const lgt_footprint *source[2], *whole; /* how the source is cut; how the target would be, were it no image */
  uint32_t layout[3];                     /* of sources and target */
  int32_t base, dim, tile_dim;            /* tile_dim: of an inverse, whose tiles are source[1]; else -1 */
} lgt_image_key;

struct lgt_image {
  int64_t serial; /* no other one has it */
  lgt_image_key key;
  lgt_footprint what;           /* how far domains reach */
  const lgt_footprint *written; /* the same, for writing the elements; NULL: they were never written through it */
  int64_t (*reach)[2];          /* owned, by domain */
  int along;                    /* dimension of the root */
  lgt_runs **runs;              /* owned, by local domain: refs to positions in that dimension */
  lgt_runs **coarse;            /* owned, by local domain: the same, with what lies within a page between them; or NULL */
  lgt_runs **rows;              /* of an inverse: owned, by local domain: refs to the indices that count; else NULL */
  bool dense;                   /* each domain needs all elements within its reach */
  bool bad;                     /* some rank does not know what it needs: its source failed, or it lacks memory */
  bool bad_here;                /* this rank does not know */
  int64_t used;                 /* position (bind.h) of the group that used it last, which borrows it */
  lgt_image_moves *moves;       /* owned */
  lgt_image *next;              /* of the same source, the one that was used last comes first */
};

/* Does data select what some call of the group touches? */
bool lgt_images_select(const lgt_plan_group *group);
/* Look up or make the images of a group that is about to be bound, whose touches are there, and the moves by which their
 * elements come: what is selected from now on until the next group.  *bad: one of them cannot be known, on all ranks.  LGT_BAD_ARGUMENT, on all
 * ranks: what is written may not be written so. */
lgt_status lgt_images_prepare(lgt_binder *binder, const lgt_plan_group *group, const uint32_t *root, bool *bad);
/* Before an exchange makes room for what is selected of its store number n: which elements are needed of all that it makes
 * room for.  False when out of memory. */
bool lgt_image_pick(lgt_exchange *exchange, int n, const lgt_selected *selected);
/* The store's contents are gone. */
void lgt_images_drop(lgt_store *store);

#endif
