/* follow.h - steps of a task that follow one another row by row (skew.h) in place of waiting for each other's end. */
#ifndef LGT_FOLLOW_H
#define LGT_FOLLOW_H

#include "bind/work.h"

/* Let neighbouring loops of a job whose steps are built follow one another, where the arrays that they share do not fit into a
 * cache.  When memory for that is lacking they stay as they are. */
void lgt_follow(lgt_binder *binder, lgt_job *job);

#endif
