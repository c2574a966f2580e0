/* devices.h - which devices a runtime opens: emulated ones, and those of the source that is offered (device.h). */
#ifndef LGT_DEVICES_H
#define LGT_DEVICES_H

#include "runtime/runtime.h"

/* --gpus: how many this rank opens, which is the same on all ranks.  An error if there are too few. */
lgt_status lgt_devices_count(const lgt_config *config, int *count);
/* Open them, after lgt_map_init: each in turn is the home of a local domain. */
lgt_status lgt_devices_open(lgt_runtime *rt);

/* Where groups run by estimate (side.h) devices are opened later, when they are wanted.  Begin, once there is a binder. */
void lgt_devices_begin(lgt_runtime *rt);
/* Open what is wanted.  If that fails, with an error, the host goes on alone. */
lgt_status lgt_devices_want(lgt_runtime *rt);

#endif
