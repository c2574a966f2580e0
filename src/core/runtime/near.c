/* near.c - see near.h. */
#include "runtime/near.h"

#include <limits.h>

enum { MOST = LGT_MOST_DEVICES_OF_MACHINE };

/* The cores of the smallest part of the machine that holds the device and the core; INT_MAX: one of them is unknown. */
static int distance(hwloc_topology_t topology, const char *bus, int core) {
  if (!topology || !*bus || core < 0) return INT_MAX;
  hwloc_obj_t device = hwloc_get_pcidev_by_busidstring(topology, bus);
  hwloc_obj_t part = device ? hwloc_get_non_io_ancestor_obj(topology, device) : NULL;
  while (part && !(part->cpuset && hwloc_bitmap_isset(part->cpuset, (unsigned)core))) part = part->parent;
  return part ? hwloc_bitmap_weight(part->cpuset) : INT_MAX;
}

/* What a device would be for a rank, best first: one that the rank has not got yet, that has not got its share of ranks, and that
 * is near. */
typedef struct offer {
  bool again, full;
  int far;
} offer;

static bool is_better(const offer *a, const offer *b) {
  if (a->again != b->again) return b->again;
  if (a->full != b->full) return b->full;
  return a->far < b->far;
}

void lgt_near_assign(hwloc_topology_t topology, char (*bus)[LGT_BUS_ID], int ndevice, const int *core,
                     int nrank, int each, int *out) {
  int taken[MOST] = {0}, rank[MOST] = {0}; /* the last one that took it, from 1 */
  if (ndevice > MOST) ndevice = MOST;
  int share = (nrank * each + ndevice - 1) / ndevice;
  for (int n = 0; n < nrank * each; n++) {
    int best = -1;
    offer least;
    for (int i = 0; i < ndevice; i++) {
      int d = (n + i) % ndevice;
      offer o = {rank[d] == n / each + 1, taken[d] >= share, distance(topology, bus[d], core[n / each])};
      if (best >= 0 && !is_better(&o, &least)) continue;
      best = d;
      least = o;
    }
    taken[best]++;
    rank[best] = n / each + 1;
    out[n] = best;
  }
}
