/* abreast.h - what the loops of a group cost, and which of them may run at once.
 *
 * The loops of a task run one after another, each in chunks that all workers share.  A loop over few elements is one chunk,
 * although it may compute for long: hundreds of instructions for each element, as the members of an ensemble do, or tasks of the
 * program's own.  All workers but one would wait for its end, even if the next loop does not need what it makes.
 *
 * Neighbouring loops none of which writes what another one of them touches may run *abreast*.  When a task's steps are built
 * (bind/point.c), those that are not cut for all workers by themselves become one step, whose chunks are theirs.  Example: in
 * each turn of a program every point p reads neighbours of the turn before.
 *
 *   loops 0 to 3   turn 1: p0 p1 | p2 p3 | p4 p5 | p6 p7      abreast: they write different numbers
 *   loops 4 to 7   turn 2: p0 p1 | p2 p3 | p4 p5 | p6 p7      abreast, but loop 4 reads what loop 1 writes
 *
 * A loop that costs less than the option `abreast` is left alone: to hand it to another worker would take as long.
 *
 * Values do not depend on it: a loop's chunks are the same, whoever runs them and when.
 */
#ifndef LGT_ABREAST_H
#define LGT_ABREAST_H

#include "plan/fuse.h"

/* Sets the loops' `cost`, and `abreast` unless each shall be alone.  When memory is lacking each is. */
void lgt_abreast_find(const lgt_fuser *fuser, lgt_plan_group *group, bool alone);

#endif
