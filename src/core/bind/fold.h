/* fold.h - reductions into which several colours reduce.
 *
 * Each colour gets a private instance in the memory where its task works; a last task folds these in the order of the colours,
 * one after another, where the result is to be: on a device, if that is its memory, to which those of other devices are copied.
 * With several ranks it folds them, on the host, into a buffer, whose contents all ranks then combine, so that each has the
 * result.  A rank with a single colour has nothing to fold: this colour reduces into the result itself, which is the buffer.
 */
#ifndef LGT_FOLD_H
#define LGT_FOLD_H

#include "bind/point.h"

typedef struct lgt_fold {
  const lgt_plan_loop *loop;
  const lgt_inst *in;
  int slot, at_slot;        /* at_slot: of the positions, or -1 */
  lgt_instance *value, *at; /* refs: this rank's results, on their way to all ranks */
  bool in_place;            /* `value` is the slot's instance, into which the only colour of this rank reduces */
  int64_t n;                /* elements of the operator's type */
  int redop, dtype;
} lgt_fold;

/* The group's folds, in the binder's arena; NULL when out of memory.  `folds`: by slot, whether several colours reduce
 * into it. */
lgt_fold *lgt_fold_list(lgt_binder *binder, const lgt_plan_group *group, const bool *folds, int *count);
/* The same of a bound group, which keeps the list. */
lgt_fold *lgt_fold_all(lgt_binder *binder, const lgt_bound *bound, int *count);
/* Before the point tasks: make room for the results.  Without it the other ranks cannot go on, and all ranks end.  `bound`:
 * NULL if the group does not run here. */
void lgt_fold_begin(lgt_binder *binder, const lgt_plan_group *group, const lgt_bound *bound, lgt_fold *fold, int nfold);
/* Have devices code for the folds?  Waits for the compiler; false, with a message: there is none. */
bool lgt_fold_loaded(lgt_binder *binder, const lgt_plan_group *group, const bool *folds);
/* Where the results of all colours meet: with the target, or, among ranks, on the host. */
lgt_memory *lgt_fold_memory(const lgt_binder *binder, const lgt_bound *bound, int slot);
/* A private instance for each folded slot of a point, where its task works; on the host it is filled with the identity.  Where
 * there is no memory for one, *lacks is its slot. */
lgt_status lgt_fold_private(lgt_binder *binder, const lgt_bound *bound, const lgt_points *points, int point, lgt_instance **inst,
                            int *lacks);
/* Before a point's task, if it is a device's: a task that fills the private instances (nslot of them). */
lgt_status lgt_fold_clear(lgt_binder *binder, const lgt_bound *bound, const lgt_fold *fold, int nfold, const lgt_point *point,
                          lgt_instance *const *private);
/* After the point tasks: submit the folds.  `status` says whether the point tasks were launched, and the other ranks are told
 * if they were not. */
lgt_status lgt_fold_end(lgt_binder *binder, const lgt_bound *bound, lgt_fold *fold, int nfold, lgt_status status);
/* The group cannot run on this rank: tell the other ranks, which wait for its part of the results. */
lgt_status lgt_fold_skip(lgt_binder *binder, const lgt_plan_group *group, const bool *folds, lgt_failure *failure);

#endif
