/* sink.h - items go to the loop of their first reader: what compilers call code sinking.
 *
 * Weaving puts an item into the earliest loop that its dependences allow.  Where that is not the loop of whoever needs the result,
 * the result lies in memory between the two.  In a stencil in place, turn after turn,
 *
 *   loop 0   ... u = ..., so that reaction = u * v * v of the next turn joins it, and is stored
 *   loop 1   loads reaction, and the neighbours of u
 *
 * loop 1 loads u anyway: it may as well compute the reaction.  So after all items have their loops, from the last item to the
 * first, one goes to the loop of its first reader, and with it those that only it needs, if
 *
 *   order     nobody in between changes what they read, and in that loop those who do come after them in the program, at the
 *             same element
 *   cost      fewer bytes are loaded and stored by all loops together
 *   room      the loop takes them, as it would take a new item
 *
 * Nothing is computed twice, so this is worth while everywhere, on devices too (inline.h may do more there).
 */
#ifndef LGT_SINK_H
#define LGT_SINK_H

#include "plan/weave.h"

/* All items have been placed, and it is known which buffers are final; no slots yet. */
lgt_status lgt_sink_items(lgt_weaver *weaver);

#endif
