/* share.h - memory of devices that arrays share with other libraries of the process, which have the same device.
 *
 * Memory that is given becomes an instance of the array, its *home*, as attached memory of the host does.  But an array need
 * not be written there: what the host computes is elsewhere until the home is given back (detach).  For arrays of a process
 * with one domain.
 */
#ifndef LGT_SHARE_H
#define LGT_SHARE_H

#include "runtime/runtime.h"

/* A new store's contents are in memory of the device that groups run on, which somebody may still be writing: waits for all that
 * the process has asked of the device. */
lgt_status lgt_share_attach(lgt_runtime *rt, lgt_store *store, void *data);
/* The newest contents are in the store's home, and nobody in lgt works there any more. */
lgt_status lgt_share_settle(lgt_runtime *rt, lgt_store *store);

#endif
