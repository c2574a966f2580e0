/* deal.h - a loop whose items have nothing to do with each other becomes several loops.
 *
 * Weaving puts all items over one space into one loop, so that what they share is loaded once and stays in registers.  A loop over
 * few elements is one chunk: all its items are the work of one worker, and the others wait, even if each item has arrays of its
 * own.  Example: a program copies a piece of each of its eight rows and keeps the greatest element of each.
 *
 *   loop 0   p0 p1 p2 p3 p4 p5 p6 p7       becomes       loop 0   p0 p1 p2 p3
 *                                                        loop 1   p4 p5 p6 p7     abreast
 *
 * So after all items have their loops, those of one loop are dealt to as many loops as there are workers at most, if
 *
 *   loop     it has reductions, and fewer chunks than there are workers.  (Loops without reductions may write their results
 *            over what a neighbour reads, and then do not run abreast.)
 *   sets     items that share memory, more than a number, stay together; so do those of views that lie among each other
 *   cost     each of the loops costs as much as loops that run abreast must (abreast.h)
 *
 * With one memory, a loop is dealt for another reason, too: what it reads and writes are more *streams* of memory (views that are
 * gone through side by side) than a processor foresees, and more bytes than its nearest cache has, and no other loop of the group
 * touches anything near those.  Then it becomes as many loops as it takes for each to have few streams.  Example: a program scales
 * each of sixteen arrays, or one piece of an array after the other.
 *
 * No value depends on dealing: how a loop's elements are cut into chunks follows from its space.  Nor does any result of the
 * program: items that share what might be stored stay together.  So dealing may depend on the workers of a rank.
 */
#ifndef LGT_DEAL_H
#define LGT_DEAL_H

#include "plan/weave.h"

/* Items have the loops in which they stay, but for this; no slots yet. */
lgt_status lgt_deal_items(lgt_weaver *weaver);

#endif
