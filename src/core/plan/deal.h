/* deal.h - a loop whose items have nothing to do with each other becomes several loops, which run abreast.
 *
 * Weaving puts all items over one space into one loop, so that what they share is loaded once and stays in registers.  A loop over
 * few elements is one chunk: all its items are the work of one worker, and the others wait, even if each item has arrays of its
 * own.  Example: a program copies a piece of each of its eight rows and keeps the greatest element of each.
 *
 *   loop 0   p0 p1 p2 p3 p4 p5 p6 p7       becomes       loop 0   p0 p1 p2 p3
 *                                                        loop 1   p4 p5 p6 p7     abreast
 *
 * So after all items have their loops, those of one are dealt to as many as there are workers, if
 *
 *   loop     it has reductions, and fewer chunks than that.  (What others make may take the memory of what neighbours read,
 *            and then does not run abreast.)
 *   sets     items that share memory, more than a number, stay together
 *   cost     each of the loops costs as much as those that run abreast must (abreast.h)
 *
 * Values do not depend on it: how a loop's elements are cut into chunks follows from its space.  Neither does what is stored: what
 * two items share is stored anyway, or they stay together.  So it may depend on the workers of a rank.
 */
#ifndef LGT_DEAL_H
#define LGT_DEAL_H

#include "plan/weave.h"

/* Items have the loops in which they stay, but for this; no slots yet. */
lgt_status lgt_deal_items(lgt_weaver *weaver);

#endif
