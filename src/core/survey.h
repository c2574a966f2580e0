/* survey.h - which elements of a group's slots the domains of this rank touch, from its loops and tiles alone.
 *
 * With several domains only; with one each instance is a whole root.  Belongs to the submitting thread.
 */
#ifndef LGT_SURVEY_H
#define LGT_SURVEY_H

#include "point.h"

/* Fill in read[] and write[], nslot for each local domain: a bound of what its colours touch (ndim -1: nothing); and
 * fold[], by slot: do several colours reduce into the same elements?  These slots, and scalars, are in the first domain
 * only. */
void lgt_survey(const lgt_binder *binder, const lgt_plan_group *group, lgt_rect *read, lgt_rect *write, bool *fold);

#endif
