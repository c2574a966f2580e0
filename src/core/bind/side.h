/* side.h - where a group runs by default: on the host or on a device, by estimate.
 *
 * A rank of one domain with a device may run a group on either side: where a domain's memory lies is a rank's own affair (map.h),
 * and the bits are the same.  The rule promises that a program is never slower than without devices by more than a tenth, as
 * far as the estimates are right.  Three quantities, all in seconds:
 *
 *   estimate  of a group: on the host, and on the device, each with the copies that it takes to bring there what only the other
 *             side has; from bytes, operations, and rates (device.h) that follow from what the devices say and from constants
 *   credit    a tenth of what all groups would have taken on the host so far, and all that groups on the device, copies, and
 *             waiting for compilers won or lost compared with that
 *   missed    of a group: what it would have won on the device, had its arrays been there, since it last moved
 *
 * A group goes to the device if
 *
 *   worth     it is faster there with its copies; or has missed as much by now as the copies cost, which a second time takes
 *             twice as much, unless it has run there without copies since
 *   credit    is left afterwards, even if all that devices hold were to come back at once
 *   code      is there; waiting for the compiler counts like copies, and if it is not worth that the host goes on meanwhile
 *
 * So arrays of an iteration move once it has run for a while, and then stay.  What runs on the host in any case (calls of C)
 * counts for the credit, too.
 *
 * Plans are made for devices (lgt_window.devices) once nearly all of the recent groups that may run there, by their time, do
 * so.
 *
 * The devices themselves are opened by the same rule: when what all groups have missed, by the rates of a usual device,
 * exceeds what opening costs, and the credit does.  The runtime does so before its next window (`wanted`).
 *
 * Belongs to the submitting thread.
 */
#ifndef LGT_SIDE_H
#define LGT_SIDE_H

#include "bind/attempt.h"

/* From now on sides are chosen so; `credit` seconds are there from the beginning, and count as missed already. */
void lgt_side_begin(lgt_binder *binder, double credit, uint64_t jitter);
/* There are devices now, or (false) there will be none. */
void lgt_side_opened(lgt_binder *binder, bool some);

/* Shall the next window be planned for devices? */
bool lgt_side_devices(lgt_binder *binder);
/* Why the group, which may run on devices, shall run on the host; NULL: it shall not.  Sets the attempt's estimate. */
const char *lgt_side_choose(lgt_attempt *attempt);
/* The attempt runs, wherever: count it. */
void lgt_side_count(lgt_attempt *attempt);

#endif
