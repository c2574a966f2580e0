/* survey.h - which elements of a group's slots the domains of this rank touch, from its loops and tiles alone.
 *
 * With several domains only; with one each instance is a whole root.  Belongs to the submitting thread.
 */
#ifndef LGT_SURVEY_H
#define LGT_SURVEY_H

#include "bind/point.h"

typedef struct lgt_surveyed {
  const lgt_rect *read, *write; /* nslot for each local domain: a bound of what its colours touch (ndim -1: nothing) */
  const bool *fold; /* by slot: do several colours reduce into the same elements?  These, and scalars, are in the first
                     * domain only */
} lgt_surveyed;

/* Valid until the binder's arena is reset; found once for a group, unless data says what it touches.  False when out of
 * memory. */
bool lgt_survey(lgt_binder *binder, lgt_plan_group *group, lgt_surveyed *out);

#endif
