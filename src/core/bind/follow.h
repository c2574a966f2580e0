/* follow.h - steps of a task that follow one another row by row (skew.h) in place of waiting for each other's end.
 *
 * Which loops do that follows from the places that they touch.  Of jobs that are made from one template these differ
 * in where the instances begin, and in which slots have the same one.  So the template keeps what was found for the
 * first job, and is from then on for jobs alone whose slots share instances as that one's do.
 */
#ifndef LGT_FOLLOW_H
#define LGT_FOLLOW_H

#include "bind/work.h"

/* Let neighbouring loops of a job whose steps are built follow one another, where the arrays that they share do not fit into a
 * cache.  When memory for that is lacking they stay as they are.  `inst`: the job's instances, by slot. */
void lgt_follow(lgt_binder *binder, lgt_job *job, lgt_instance *const *inst);

#endif
