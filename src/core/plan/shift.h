/* shift.h - a plan for another window of the same form.
 *
 * A program whose loop works on other slices in each turn never shows the same window twice.  But when two
 * windows have the same form (window.h), almost all that planning decided for the first holds for the
 * second: which calls fuse, which results are stored, the loops, their code.  Only the numbers differ:
 * extents, offsets, strides.  A *shifted* plan is a copy with these numbers changed, which is cheaper than
 * planning again and needs no collection of garbage.
 *
 * What planning decided by numbers is checked again; if one of these differs, the plan cannot be shifted:
 *
 *   guards       views of one buffer that were apart, or the same elements, and on which the order of
 *                loops or a value in a register rests
 *   pieces       arrays that are written piece by piece are still written whole
 *   spaces       calls that share a loop must still agree in their extents, and extents of one stay so
 *   strides      each access keeps its class of stride along the innermost dimension
 *   memory       buffers that share a slot must have equal sizes; former contents that are left to recipes, no larger
 *                ones than planning would leave
 *   reductions   must walk the same dimension innermost, since the order of values depends on it
 *
 * With several domains launch partitions and groups follow from the numbers, too, so they are decided again, as if the
 * window were planned anew: planning is to decide and to weave, and only weaving is spared.  The plan takes the new
 * partitions, of launches and of roots, if all else comes out the same:
 *
 *   groups       their first and last calls, whether they are mixed or split
 *   launches     one tile or several, and whether each domain has one at most; which calls of a group are cut alike
 *   calls        which ones tasks repeat, and which arguments have parts of their root
 *
 * Most of this need not be asked of a *translated* window: each of its views lies as far from the one of the origin's window as
 * all other views of the root do.  Views relate to one another as they did, so guards hold.  With several domains decisions
 * are the same, too, if roots are cut as they were, and views were moved along dimensions that nothing cuts, or lie within one
 * tile there before and after:
 *
 *   y[{ {}, j }] = x[{ {}, j }]    rows are cut, j moves along columns
 *   y[j] = x[j]                    until j comes to the other tile
 *
 * All ranks decide alike, therefore it does not matter if some of them shift a plan and others do not.  What is to move is
 * found for each plan when it runs.
 *
 * Belongs to the submitting thread.
 */
#ifndef LGT_SHIFT_H
#define LGT_SHIFT_H

#include "plan/recipes.h"

/* Two accesses of one buffer, as item and argument. */
struct lgt_guard {
  uint16_t item[2];
  uint8_t arg[2];
  bool apart; /* else: they agree */
};

/* A plan of the window's first n calls made from one of the same form; NULL when there is none or it cannot be shifted.
 * The caller has a reference. */
lgt_plan *lgt_plan_shift(lgt_fuser *fuser, const lgt_window *window, int n);

#endif
