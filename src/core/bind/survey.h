/* survey.h - which elements of a group's slots the domains of this rank touch, from its loops and tiles alone.
 *
 * With several domains only; with one each instance is a whole root.  Whether the group may fail is asked with one, too.  Belongs
 * to the submitting thread.
 */
#ifndef LGT_SURVEY_H
#define LGT_SURVEY_H

#include "bind/point.h"

typedef struct lgt_surveyed {
  const lgt_rect *read, *write; /* nslot for each local domain: a bound of the elements that its colours touch; ndim -1: none */
  const lgt_rect *spare;        /* the same: what is overwritten before anybody looks (lgt_survey_spare) */
  const bool *fold; /* by slot: do several colours reduce into the same elements?  Such slots, and scalars, have instances
                     * in the rank's first domain only */
} lgt_surveyed;

/* *out is valid until the binder's arena is reset.  A group is surveyed once, unless data says what it touches.  False when
 * out of memory. */
bool lgt_survey(lgt_binder *binder, const lgt_plan_group *group, lgt_surveyed *out);
/* What a local domain's colour overwrites of a slot before anybody looks, or others do where all of it is; false: nothing
 * for certain. */
bool lgt_survey_spare(const lgt_binder *binder, const lgt_plan_group *group, int slot, int domain, lgt_rect *out);
/* May what the group makes fail to come about, by itself or because of what it finds here?  Calls of C may fail, and loops that
 * need memory to reduce.  Kernels cannot: they have no status (lgt_kernel_fn), and every opcode is defined for all operands
 * (body.h). */
bool lgt_survey_may_fail(const lgt_binder *binder, const lgt_plan_group *group, const uint32_t *root);

#endif
