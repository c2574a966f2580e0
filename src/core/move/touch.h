/* touch.h - what the calls of a group touch of each array, as far as it follows from the group alone.
 *
 * It is found out once for each group, and belongs to its notes (fuse.h): the group's *touches*, the parts of roots that
 * they are of, and which elements of each part a domain needs room for.
 *
 * Belongs to the submitting thread.
 */
#ifndef LGT_TOUCH_H
#define LGT_TOUCH_H

#include "move/binder.h"

/* How one argument of a call takes part in the group. */
struct lgt_touch {
  uint16_t call; /* of the plan */
  uint16_t root; /* among the group's `touched`, which are parts of roots */
  uint8_t arg;
  bool fresh; /* the group makes the root: it has no contents from before */
  bool reads; /* it reads contents from before the group */
  bool writes;
  bool keyed;
  const lgt_partition *before, *after; /* keyed: the key partition that a root had before the last such write, and has after it */
  const lgt_footprint *whole;          /* *everywhere*, if several colours reduce into the same elements */
  const lgt_footprint *around;         /* with the margins in which the call is computed (widen.h): what is read, and has room */
  bool repeats; /* each domain makes all of it for itself (cells.h): `around` is what each touches; of numbers, which a rank has
                   once, false */
  int64_t brought; /* bytes that every domain which takes part must have, all the same ones; 0: each has its own */
};

/* Make the group's touches, unless it has them already. */
lgt_status lgt_touches_make(lgt_binder *binder, const lgt_plan_group *group);
/* The touch of a native call's access; NULL: the group has no touches yet. */
const lgt_touch *lgt_touch_of(const lgt_plan_group *group, const lgt_plan_access *access);
/* The partition through which a root was last written, after a touch that writes it; `key`: before that. */
const lgt_partition *lgt_touch_key_after(const lgt_binder *binder, const lgt_plan_group *group, lgt_touch *touch,
                                         const lgt_partition *key);

#endif
