/* stale.h - what came to a domain because data named it, and is not asked for any more, gives its memory back.
 *
 * What data names of an array comes to instances that are asides (replica.h), or thin (thin.h), for one image after the
 * other (image.h).  The history of the array knows the newest few images; what older ones brought comes again where it is
 * needed again, so a domain need not keep it.  Without this, positions that move on from turn to turn would leave all of
 * the array with every domain.
 *
 * That is local to a rank: the history says what a domain is expected to have, and all of that stays.
 */
#ifndef LGT_STALE_H
#define LGT_STALE_H

#include "move/exchange.h"

/* The exchange, which has been surveyed, is going to acquire its instances: of the arrays of which data names elements, asides
 * go that neither it nor any history asks for; so do pages of thin instances, where they are many or memory is short, and no
 * task in flight may touch them. */
void lgt_stale_give_back(const lgt_exchange *exchange);

#endif
