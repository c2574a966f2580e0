/* devices.c - see devices.h. */
#include "runtime/devices.h"

#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "bind/side.h"
#include "lgt_binding.h"
#include "move/offload.h"
#include "runtime/near.h"

/* Where groups run by estimate (side.h) none is opened yet. */
static bool by_estimate(const lgt_config *config) {
  return config->gpus == LGT_DEVICES_BY_ESTIMATE && lgt_domain_alone(config->domains) && !config->emulate &&
         !config->pretend_ranks && lgt_device_offered();
}

/* --gpus: how many of them this rank has, which is the same on all ranks.  `all` of one process are those of the machine;
 * of several, each has one. */
lgt_status lgt_devices_count(const lgt_config *config, int *count) {
  const lgt_device_source *source = lgt_device_offered();
  int found;
  *count = config->gpus;
  if (!config->gpus || config->gpus == LGT_DEVICES_BY_ESTIMATE || config->pretend_ranks)
    return *count = 0, LGT_OK;
  if (!source) return lgt_err(LGT_UNSUPPORTED, "gpus: this program is built without them");
  if (config->emulate) return lgt_err(LGT_BAD_ARGUMENT, "gpus and emulate: choose one of them");
  lgt_status status = source->count(&found);
  if (status) return lgt_err_within(status, "gpus");
  bool alone = !config->peers || config->peers->size == 1;
  if (config->gpus == LGT_ALL_DEVICES)
    *count = !alone ? 1 : found < LGT_MOST_DEVICES ? found : LGT_MOST_DEVICES;
  if (*count > LGT_MOST_DEVICES)
    return lgt_err(LGT_BAD_ARGUMENT, "gpus = %d: at most %d are possible", *count, LGT_MOST_DEVICES);
  if (alone && *count > found)
    return lgt_err(LGT_BAD_ARGUMENT, "gpus = %d: there %s %d", *count, found == 1 ? "is" : "are", found);
  return LGT_OK;
}

/* A core that this process is bound to with fewer others than there are; -1: it is not. */
static int bound_core(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) || CPU_COUNT(&set) >= sysconf(_SC_NPROCESSORS_ONLN)) return -1;
  for (int core = 0; core < CPU_SETSIZE; core++)
    if (CPU_ISSET(core, &set)) return core;
  return -1;
}

/* The numbers of this rank's GPUs, of `found`: near ones, which the ranks of a machine divide among each other (near.h). */
static void choose_gpus(const lgt_config *config, int count, int found, int out[LGT_MOST_DEVICES]) {
  char bus[LGT_MOST_DEVICES_OF_MACHINE][LGT_BUS_ID];
  int core[LGT_MOST_LOCAL], all[LGT_MOST_LOCAL * LGT_MOST_DEVICES], rank = config->local_rank;
  int ranks = config->local_size > 1 ? config->local_size : 1;
  hwloc_topology_t topology = NULL;
  if (found > LGT_MOST_DEVICES_OF_MACHINE || ranks > LGT_MOST_LOCAL || rank >= ranks) {
    for (int i = 0; i < count; i++) out[i] = (rank * count + i) % found;
    return;
  }
  for (int r = 0; r < ranks; r++) core[r] = config->local_core[r];
  if (ranks == 1) core[0] = bound_core();
  for (int d = 0; d < found; d++) lgt_device_offered()->bus(d, bus[d]);
  bool known = found > 1 && !hwloc_topology_init(&topology);
  bool loaded = known && !hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT) &&
                !hwloc_topology_load(topology);
  lgt_near_assign(loaded ? topology : NULL, bus, found, core, ranks, count, all);
  if (known) hwloc_topology_destroy(topology);
  for (int i = 0; i < count; i++) {
    out[i] = all[rank * count + i];
    lgt_log(MAP, 2, "GPU %d at %s is the nearest that is free", out[i], bus[out[i]]);
  }
}

/* Each in turn is the home of a local domain. */
static lgt_status open_gpus(lgt_runtime *rt) {
  const lgt_config *config = rt->config;
  int found = 1, number[LGT_MOST_DEVICES];
  lgt_status status = rt->gpus ? lgt_device_offered()->count(&found) : LGT_OK;
  if (!status && rt->gpus) choose_gpus(config, rt->gpus, found, number);
  for (int i = 0; i < rt->gpus && !status; i++) {
    lgt_device *device;
    int all = (config->local_size + !config->local_size) * rt->gpus;
    status = lgt_device_offered()->open(number[i], config->gpu_mem, (all + found - 1) / found, &device);
    if (status) break;
    status = lgt_map_add_device(&rt->map, device, device->traits.limit);
    if (!status && device->target) lgt_kernels_for_target(rt->kernels, device->target);
  }
  return status ? lgt_err_within(status, "gpus") : LGT_OK;
}

lgt_status lgt_devices_open(lgt_runtime *rt) {
  const lgt_config *config = rt->config;
  lgt_status status = LGT_OK;
  for (int i = 0; i < config->emulate && !status; i++) {
    lgt_device *device = lgt_device_emulate(config->emulate_mem, (uint64_t)config->jitter + (uint64_t)i + 1);
    status = device ? lgt_map_add_device(&rt->map, device, config->emulate_mem) : LGT_SYSTEM;
  }
  return status ? status : open_gpus(rt);
}

void lgt_devices_begin(lgt_runtime *rt) {
  if (by_estimate(rt->config)) lgt_side_begin(&rt->binder, rt->config->gpu_credit / 1e3, rt->jitter);
}

/* Tasks in flight know of no devices. */
lgt_status lgt_devices_want(lgt_runtime *rt) {
  if (!rt->binder.side.wanted) return LGT_OK;
  lgt_job_retire(&rt->binder, true);
  rt->gpus = 1;
  lgt_status status = open_gpus(rt);
  if (status) rt->gpus = 0;
  if (status) lgt_log(MAP, 1, "no GPU is used: %s", lgt_message());
  if (!status) lgt_offload_begin(&rt->binder);
  if (!status) rt->fuser.gpu_bytes = rt->map.memory[1].device->traits.limit;
  lgt_side_opened(&rt->binder, !status);
  return status;
}

/* ---- what there is -------------------------------------------------------------------------------------- */

int lgt_device_list(lgt_runtime *rt, int n, lgt_device_info *out) {
  static const char *const class_name[LGT_CLASSES] = {"host", "emulated", "cuda"};
  int count = rt->map.nmemory - 1;
  if (n < 0 || n >= count) return count;
  const lgt_memory *memory = &rt->map.memory[n + 1];
  *out = (lgt_device_info){
      .name = memory->device->name,
      .class_name = class_name[memory->device->class],
      .memory = memory->pool->limit,
      .taken = memory->pool->limit - lgt_pool_left(memory->pool) + lgt_pool_idle(memory->pool),
      .domain = n};
  return count;
}

void lgt_gpus_describe(char *text, size_t room) {
  const lgt_device_source *source = lgt_device_offered();
  if (source) source->describe(text, room);
  else snprintf(text, room, "this program is built without them");
}
