/* cut.h - one loop of a group becomes several, over boxes of its space.
 *
 * Loops qualify in which no element depends on another one: they reduce nothing and load nothing that they store, and as no
 * launch's writes meet (lgt_launch), no two elements store in one place.  Then the loops may run in any order.
 */
#ifndef LGT_CUT_H
#define LGT_CUT_H

#include "plan/assemble.h"

/* A box of a loop's space, and how many elements along each dimension a point of the new loop takes. */
typedef struct lgt_cut_box {
  int64_t lo[LGT_MAX_DIM], hi[LGT_MAX_DIM];
  int step[LGT_MAX_DIM];
} lgt_cut_box;

/* Around a box that is taken out of another one there are so many at most. */
enum { LGT_CUT_FRAME = 2 * LGT_MAX_DIM };

bool lgt_cut_possible(const lgt_plan_loop *loop);
/* All of the loop's space, element by element. */
lgt_cut_box lgt_cut_whole(const lgt_plan_loop *loop);
/* A loop over boxes of the same extents and steps, of each of which a point takes what lies at its place. */
lgt_status lgt_cut_build(lgt_weaver *weaver, const lgt_plan_loop *loop, const lgt_cut_box *box, int n, lgt_plan_loop *out);
/* Do two accesses certainly come to different elements of their root?  Of loops that were cut or inlined (inline.h) their layouts
 * tell of too many. */
bool lgt_cut_apart(const lgt_stores *stores, const lgt_plan_loop *loop, int a, const lgt_plan_loop *other, int b);
/* What the loop stores gets memory that it does not load from: a point of a new loop may store one element before it loads another. */
void lgt_cut_part_memory(lgt_plan_group *group, const lgt_plan_loop *loop);
/* `n` loops take the place of `count` ones of the group, which are the caller's then; where there are fewer, nothing fails. */
lgt_status lgt_cut_exchange(lgt_plan_group *group, int number, int count, const lgt_plan_loop *fresh, int n);

#endif
