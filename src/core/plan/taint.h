/* taint.h - which of a group's results depend on contents that failed.
 *
 * The calls of a group run together, but each fails for itself, as if they ran one after another: a result is tainted if
 * its call read a failed argument, or wrote a part of one, until the result is overwritten as a whole.  The group's kernels
 * run over what failed as over any other elements, for they cannot fail; its calls of C, which may believe what they
 * read, are left out.
 *
 * Of several failures the first in the stream counts.  Any thread: what is looked at is sealed.
 */
#ifndef LGT_TAINT_H
#define LGT_TAINT_H

#include "plan/weave.h"

#define LGT_TAINT_NONE INT64_MAX

/* The slots that results depend on, by number, or LGT_NONE: initial ones whose contents have failed, and new ones for which
 * there is no memory. */
typedef struct lgt_taint {
  uint16_t *buffer; /* owned; by number of the group's buffers, as the group leaves them: not of slots used again */
  uint16_t *item;   /* owned; what is read or written in part by each item; memory of `buffer` */
  uint16_t *loop;   /* owned; of items, by their loops: the slot without memory that keeps the loop from running; memory of
                        * `buffer` */
  const lgt_plan_group *group;
} lgt_taint;

/* `position`: by slot, that of its failure in the stream; LGT_TAINT_NONE: it has not failed.  A new slot fails if there is no
 * memory for it.  False: out of memory. */
bool lgt_taint_find(lgt_taint *taint, const lgt_plan_group *group, const int64_t *position);
void lgt_taint_fini(lgt_taint *taint);
/* The slot that taints the contents of a slot, or of a root that the group writes, after the group. */
uint16_t lgt_taint_of_slot(const lgt_taint *taint, int slot);
uint16_t lgt_taint_of_root(const lgt_taint *taint, uint16_t root);
/* Does the group overwrite the root, so that its former failure ends? */
bool lgt_taint_overwrites(const lgt_taint *taint, uint16_t root);

#endif
