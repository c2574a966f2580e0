/* room.h - what the instances of an exchange must have room for, as it was the last time.
 *
 * If the exchange replays a record (record.h) that follows from the group alone: from what its touches and its loops are of,
 * and from the halos that its slots were found to need.  So it is found out once, and again when a halo was learned.
 *
 * Belongs to the submitting thread.
 */
#ifndef LGT_ROOM_H
#define LGT_ROOM_H

#include "move/exchange.h"

/* Is it known?  Then the exchange has its covers, spares and what is written. */
bool lgt_room_take(lgt_exchange *exchange);
/* All needs, margins and spares have been told: keep them for the next exchange that replays.  (With the option `check` nothing is
 * taken, and what is kept is compared.) */
void lgt_room_keep(lgt_exchange *exchange);

#endif
