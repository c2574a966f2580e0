/* inline.h - loops that compute anew what earlier loops would leave for them in memory.
 *
 * A stencil of a stencil's result must be a loop of its own, since it reads neighbours; what lies between goes through memory.
 * On a processor that is a cache, but for what is only copied (below).  On a device it is the memory itself, and arithmetic costs
 * little beside it: there a loop may do again, for each of the neighbours that it reads, what the earlier loop does for one element.
 *
 *   loop 0   s[i] = f(a[i], a[i + 1])                      becomes
 *   loop 1   b[i] = s[i + 1] - s[i]                        b[i] = f(a[i + 1], a[i + 2]) - f(a[i], a[i + 1])
 *
 * So it is done with stores of a group's temporary memory if
 *
 *   views       all that is read there lies within what one earlier loop has written, element by element, perhaps shifted;
 *               a loop that reads more is cut (cut.h): into one over what it finds there, and others around it
 *   order       what that loop reads is not overwritten until the last of its readers has run
 *   cost        the bytes that need not cross the memory take longer than the arithmetic that is done several times
 *
 * On the host the same is done with arrays that are *joined*: written piece by piece by copies alone, as roll and concatenate do.  To read what was copied costs nothing, so a periodic stencil becomes one loop over the interior,
 * and small ones over the edges; what was joined is never stored.
 *
 * Where groups may run on either side by estimate (side.h) it is done in plans that are made for devices (lgt_window.devices):
 * the host would compute all of it anew.
 *
 * It works on the loops of a group as assemble.c has built them, from the first to the last, and only where there is one memory
 * domain: with several, tiles and halos follow from the calls' views.  Plans with such loops are not shifted (shift.h).
 */
#ifndef LGT_INLINE_H
#define LGT_INLINE_H

#include "plan/assemble.h"

/* May plans be made for a device?  Are loops of this plan inlined for one? */
bool lgt_inline_possible(const lgt_fuser *fuser);
bool lgt_inline_applies(const lgt_fuser *fuser, const lgt_plan *plan);
/* Shall loops on the host read what a root was joined of, if nobody needs it? */
bool lgt_inline_joins(const lgt_fuser *fuser, const lgt_plan *plan, uint16_t root);
lgt_status lgt_inline_loops(lgt_weaver *weaver);
/* Operations of float64 in the time of a byte of memory (2.9 TB/s, 14.8 T/s). */
enum { LGT_BYTE_WORK = 5 };
/* How many operations an instruction counts for. */
int lgt_inline_work(const lgt_inst *inst);

#endif
