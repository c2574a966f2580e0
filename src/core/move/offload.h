/* offload.h - tasks that devices do.  Between job.c and exec.c, as message.h is for messages.
 *
 * A task that a device does names the memory it works in (`place`) and what is to be put into a queue (`enqueue`).  It is put
 * there when it is ready: whatever it waits for is done by then, elsewhere or here, so that nothing but the event behind it
 * has to be waited for.
 *
 * Belongs to the submitting thread; a device wakes it.
 */
#ifndef LGT_OFFLOAD_H
#define LGT_OFFLOAD_H

#include "move/job.h"

/* The executor shall look after the devices of the map. */
void lgt_offload_begin(lgt_binder *binder);
/* The job is for the device of a memory. */
void lgt_offload_job(lgt_binder *binder, lgt_job *job, lgt_memory *place,
                     lgt_status (*enqueue)(lgt_job *job, const lgt_device *device, lgt_queue *queue));
/* Begin what is ready and finish what is done; true if something happened. */
bool lgt_offload_progress(lgt_binder *binder);

#endif
