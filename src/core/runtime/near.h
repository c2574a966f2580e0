/* near.h - which GPUs the ranks of a machine take: each the nearest that has not got its share of them.
 *
 * A GPU is the nearer to a core the smaller the part of the machine is that holds both: a NUMA node, a package, all of it.  Ranks
 * choose in order, so that all of them work out the same without a message.  What is equally near is taken in turn.
 */
#ifndef LGT_NEAR_H
#define LGT_NEAR_H

#include <hwloc.h>

#include "device/device.h"

enum { LGT_MOST_DEVICES_OF_MACHINE = 64 };
/* `each` devices for each of `nrank` ranks.  Of a device its place on the bus, of a rank a core, or -1: anywhere.  The
 * numbers of rank r's are out[r * each], ...  `topology` has PCI devices; NULL: nothing is known. */
void lgt_near_assign(hwloc_topology_t topology, char (*bus)[LGT_BUS_ID], int ndevice, const int *core, int nrank, int each,
                     int *out);

#endif
