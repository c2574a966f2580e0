/* runtime.c - opening and closing a runtime, and its options.  See runtime.h; flush.c has the flush. */
#include "runtime/runtime.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "move/offload.h"
#include "plan/inline.h"
#include "runtime/devices.h"
#include "runtime/handles.h"

enum { FIRST_WINDOW = 64, MORE_LAUNCHES = 2, MAX_CPUS = 4096, MAX_DOMAINS = 1024 };
static const int64_t FORMER_MOST = 32 << 20; /* bytes of former contents that recipes may keep, ... */
enum { FORMER_SHARE = 16 };                  /* ... a part of the budget at most */
static const double COLLECTION_NS = 30000;   /* until the caller's heap is known */

/* ---- opening and closing ---------------------------------------------------------------------------- */

static const char *line_text(void *context, uint32_t line) {
  lgt_runtime *rt = context;
  return line && (int)line < rt->nline ? rt->line[line] : NULL;
}

/* What arrays may take: --mem, or most of what there is. */
static int64_t memory_budget(const lgt_config *config) {
  if (config->mem > 0) return config->mem;
  return lgt_mem_available("") / 10 * 9;
}

static int64_t most_saved(int64_t budget) {
  return (budget / FORMER_SHARE < FORMER_MOST ? budget / FORMER_SHARE : FORMER_MOST) / LGT_FORMER_GROUPS;
}

static int64_t cache_bytes(void) {
  long bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
  if (bytes <= 0) bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return bytes > 0 ? bytes : 8 << 20;
}

/* Copies of every element type: fusing makes some of its own. */
static lgt_status add_copy_kinds(lgt_runtime *rt) {
  for (int dtype = 0; dtype < LGT_NDTYPE; dtype++) {
    if (dtype == LGT_RANGE) continue;
    char name[32];
    snprintf(name, sizeof name, "copy.%s", lgt_dtype_name(dtype));
    lgt_body *body = lgt_build_new();
    if (!body) return lgt_err(LGT_NO_MEMORY, "out of memory for task kinds");
    int value = lgt_build_load(body, dtype, 1);
    if (value < 0 || lgt_build_store(body, 0, value) < 0) {
      lgt_body_free(body);
      return LGT_NO_MEMORY;
    }
    int kind = lgt_kinds_add_generator(&rt->kinds, name, body);
    if (kind < 0) return LGT_NO_MEMORY;
    rt->fuser.copy_kind[dtype] = rt->kinds.kind[kind];
  }
  return LGT_OK;
}

/* Numbers with which a machine would come to a standstill rather than a runtime to life. */
static lgt_status check_config(const lgt_config *config) {
  if (config->cpus > MAX_CPUS)
    return lgt_err(LGT_BAD_ARGUMENT, "cpus = %d: at most %d are possible", config->cpus, MAX_CPUS);
  if (config->emulate > LGT_MOST_DEVICES)
    return lgt_err(LGT_BAD_ARGUMENT, "emulate = %d: at most %d devices are possible", config->emulate,
                   LGT_MOST_DEVICES);
  int most = config->peers ? LGT_MESSAGE_FOLDS : MAX_DOMAINS;
  if (config->domains > most)
    return lgt_err(LGT_BAD_ARGUMENT, "domains = %d: at most %d are possible%s", config->domains, most,
                   config->peers ? " on each rank" : "");
  return LGT_OK;
}

int lgt_runtime_window(const lgt_runtime *rt) {
  int window = rt->config->window;
  if (window > 1 && rt->window.devices) window *= MORE_LAUNCHES;
  return window > LGT_RING ? LGT_RING : window;
}

static void apply_config(lgt_runtime *rt) {
  rt->fuser.solver.min_tile = rt->config->min_tile;
  rt->fuser.solver.most = rt->config->max_tiles > 0 ? rt->config->max_tiles : rt->map.domains;
  rt->binder.check = rt->map.check = rt->config->check;
  rt->front.reproducible = rt->config->reproducible;
  rt->binder.replicate = rt->config->replicate;
  int window = lgt_runtime_window(rt);
  if (rt->target > window || rt->target == 0) rt->target = window < FIRST_WINDOW ? window : FIRST_WINDOW;
  rt->front.limit = (uint32_t)rt->target;
}

/* --pretend-ranks */
static lgt_status pretend(lgt_runtime *rt) {
  const lgt_config *config = rt->config;
  if (config->peers || config->pretend_ranks < 1) return LGT_OK;
  if (config->as_rank >= config->pretend_ranks)
    return lgt_err(LGT_BAD_ARGUMENT, "as-rank = %d: the %d ranks are numbered from 0", config->as_rank,
                   config->pretend_ranks);
  rt->pretended = lgt_peers_pretend(config->as_rank, config->pretend_ranks);
  return rt->pretended ? LGT_OK : lgt_err(LGT_NO_MEMORY, "out of memory for a runtime");
}

/* Opening a runtime is an operation of the stream, too, the first of its own: a host may do so on one rank only. */
static void begin_stream(lgt_runtime *rt) {
  static const char *const names[LGT_NOTES] = {[LGT_NOTE_OPEN] = "lgt_open",
                                               [LGT_NOTE_LOOK] = "a look at values",
                                               [LGT_NOTE_WRITE] = "writing in place",
                                               [LGT_NOTE_FENCE] = "fence",
                                               [LGT_NOTE_FLUSH] = "flush",
                                               [LGT_NOTE_FILE] = "an array in a file",
                                               [LGT_NOTE_GIVEN] = "elements from Lua or C",
                                               [LGT_NOTE_TRACE] = "a trace"};
  lgt_peers *peers = rt->binder.peers;
  for (int n = 0; n < LGT_NOTES && peers; n++) rt->note_name[n] = peers->name(peers, names[n]);
  lgt_agree_note(&rt->binder, &(lgt_operation){.token = 1, .what = rt->note_name[LGT_NOTE_OPEN]});
}

/* What a message takes that crosses a network; between ranks that share memory, nothing to speak of. */
static int message_us(const lgt_runtime *rt, const lgt_peers *peers) {
  const lgt_config *config = rt->config;
  bool near = !peers || (peers == config->peers && !config->tcp && config->local_size == peers->size);
  return near ? 0 : config->overlap;
}

/* Ranks may have more or less memory, but must plan alike. */
static int64_t least_mem(lgt_runtime *rt) {
  int64_t mem = rt->config->mem > 0 ? rt->config->mem : INT64_MAX;
  if (rt->binder.peers) {
    rt->binder.agreed.exchanges++;
    lgt_message_least(&rt->binder, lgt_message_tag(&rt->binder, 0, 0), &mem, 1);
  }
  return mem < INT64_MAX ? mem : 0;
}

static lgt_status init_parts(lgt_runtime *rt) {
  lgt_status status = lgt_stores_init(&rt->stores);
  lgt_partitions_init(&rt->partitions);
  if (!status)
    status = lgt_window_init(&rt->window, 2 * LGT_RING); /* a full window, and a full front behind it */
  if (!status) status = lgt_tracer_init(&rt->tracer, rt->config);
  if (!status) status = lgt_kernels_new(rt->config, &rt->kernels);
  if (!status) status = lgt_exec_new(rt->config->cpus, &rt->exec);
  if (status) return status;
  lgt_peers *peers = rt->config->peers ? rt->config->peers : rt->pretended;
  if (peers && peers->size == 1) peers = NULL; /* alone, it has nobody to talk to */
  if (*rt->config->profile)
    status = lgt_profile_open(rt->config->profile, peers ? peers->rank : 0, peers ? peers->size : 1,
                              lgt_exec_cpus(rt->exec), &rt->profile);
  if (status) return status;
  lgt_kernels_watch(rt->kernels, lgt_exec_cpus(rt->exec), rt->profile);
  lgt_exec_watch(rt->exec, rt->profile);
  status = lgt_map_init(&rt->map, &rt->stores, rt->config->domains, peers ? peers->rank : 0,
                        peers ? peers->size : 1, memory_budget(rt->config));
  if (!status) status = lgt_devices_open(rt);
  if (status) return status;
  rt->fuser = (lgt_fuser){.stores = &rt->stores,
                          .kernels = rt->kernels,
                          .config = rt->config,
                          .workers = lgt_exec_cpus(rt->exec),
                          .cache_bytes = cache_bytes(),
                          .gpu_bytes = rt->map.nmemory > 1 ? rt->map.memory[1].device->traits.limit : 0,
                          .collection_ns = COLLECTION_NS,
                          .most_saved = most_saved(rt->map.pool->limit),
                          .solver = {.partitions = &rt->partitions, .domains = rt->map.domains}};
  status = lgt_fuser_init(&rt->fuser);
  if (!status) status = add_copy_kinds(rt);
  rt->binder = (lgt_binder){.stores = &rt->stores,
                            .map = &rt->map,
                            .exec = rt->exec,
                            .fuser = &rt->fuser,
                            .peers = peers,
                            .profile = rt->profile,
                            .message_us = message_us(rt, peers),
                            .dry = rt->pretended != NULL,
                            .strict = rt->config->gpu_strict && rt->map.nmemory > 1,
                            .line_text = line_text,
                            .line_context = rt,
                            .no_memory = lgt_failure_new(LGT_NO_MEMORY, "out of memory", NULL)};
  begin_stream(rt);
  lgt_offload_begin(&rt->binder);
  if (peers) lgt_message_begin(&rt->binder);
  if (!rt->binder.no_memory) return lgt_err(LGT_NO_MEMORY, "out of memory for a runtime");
  if (status) return status;
  rt->front = (lgt_front){
      .handles = rt->stores.handle, .free_ids = rt->stores.free_handle, .layouts = rt->stores.layout};
  rt->front.launches = lgt_mem_alloc(LGT_RING * sizeof *rt->front.launches);
  if (!rt->front.launches) return lgt_err(LGT_NO_MEMORY, "out of memory for the ring of launches");
  if (!lgt_handles_refill(&rt->stores, &rt->front.nfree)) return LGT_NO_MEMORY;
  rt->front.max_id = rt->stores.max_handle;
  rt->front.epoch = rt->stores.epoch;
  rt->front.all_lines = rt->config->peers || rt->profile;
  apply_config(rt);
  return LGT_OK;
}

lgt_status lgt_open(const lgt_config *config, lgt_runtime **out) {
  lgt_runtime *rt = lgt_mem_zalloc(sizeof *rt);
  if (!rt) return lgt_err(LGT_NO_MEMORY, "out of memory for a runtime");
  lgt_status status = config ? LGT_OK : lgt_config_new(&rt->config);
  if (config && !(rt->config = lgt_config_copy(config)))
    status = lgt_err(LGT_NO_MEMORY, "out of memory for the configuration");
  if (!status && rt->config->domains < rt->config->emulate) rt->config->domains = rt->config->emulate;
  if (!status) status = lgt_devices_count(rt->config, &rt->gpus);
  if (!status && rt->config->domains < rt->gpus) rt->config->domains = rt->gpus;
  if (!status) status = check_config(rt->config);
  if (!status) status = lgt_log_set(rt->config->debug);
  if (!status) status = pretend(rt);
  if (!status) status = init_parts(rt);
  if (!status) {
    rt->fuser.mem = least_mem(rt);
    rt->jitter = (uint64_t)rt->config->jitter;
    if (rt->jitter && rt->binder.peers) /* each rank has its own */
      rt->jitter += ((uint64_t)rt->binder.peers->rank << 32) + (uint64_t)rt->binder.peers->rank;
    rt->fuser.jitter = rt->binder.jitter = rt->jitter ? lgt_hash_mix(rt->jitter, 0) : 0;
    lgt_devices_begin(rt);
    rt->nline = 1;
    *out = rt;
    return LGT_OK;
  }
  lgt_close(rt);
  return status;
}

/* The summaries of LGT_DEBUG. */
static void log_totals(const lgt_runtime *rt) {
  lgt_log(WINDOW, 1, "%lld launches in %lld windows, %lld plans, %lld of them shifted, %lld collections",
          (long long)rt->launches, (long long)rt->windows, (long long)(rt->plans + rt->shifts),
          (long long)rt->shifts, (long long)rt->collections);
  lgt_tracer_log(&rt->tracer);
  lgt_log(EXEC, 1, "%lld groups in %lld tasks, %lld passes, %lld bytes read and written",
          (long long)rt->binder.groups, (long long)rt->binder.tasks, (long long)rt->binder.passes,
          (long long)rt->binder.moved);
  lgt_log(MAP, 1, "%lld bytes of arrays at most, %lld copied between instances", (long long)rt->map.peak,
          (long long)rt->map.copied);
}

/* What --pretend-ranks is for. */
static void report_issuing(const lgt_runtime *rt) {
  const lgt_binder *b = &rt->binder;
  fprintf(stderr,
          "rank %d of %d: %lld launches in %lld tasks, issued in %.0f ns each; %lld messages of %lld bytes "
          "in all\n",
          rt->pretended->rank, rt->pretended->size, (long long)rt->launches, (long long)b->tasks,
          rt->launches ? rt->issuing / (double)rt->launches * 1e9 : 0.0, (long long)b->messages,
          (long long)b->sent);
}

void lgt_close(lgt_runtime *rt) {
  if (!rt) return;
  if (rt->exec) lgt_job_retire(&rt->binder, true);
  if (rt->exec) log_totals(rt);
  if (rt->exec && rt->pretended) report_issuing(rt);
  for (uint32_t id = 1; rt->stores.handle && id <= rt->stores.max_handle; id++) lgt_handle_drop(rt, id);
  for (int i = rt->flush.released; i < rt->window.count; i++)
    for (int a = 0; a < rt->window.call[i].nargs; a++) {
      lgt_store *store = lgt_store_at(&rt->stores, rt->window.call[i].store[a]);
      store->refs--;
      lgt_bind_drop_store(&rt->binder, store);
    }
  if (rt->exec) lgt_job_retire(&rt->binder, true);
  lgt_binder_fini(&rt->binder);
  lgt_plan_release(rt->flush.plan); /* of a flush that waits for a collection */
  lgt_plan_release(rt->flush.shifted);
  lgt_tracer_fini(&rt->tracer);
  lgt_fuser_fini(&rt->fuser);
  lgt_window_fini(&rt->window);
  lgt_kernels_stop(rt->kernels);
  lgt_map_fini(&rt->map); /* then no device stirs the executor any more */
  lgt_exec_free(rt->exec);
  lgt_kernels_free(rt->kernels);
  lgt_profile_close(rt->profile);
  lgt_kinds_fini(&rt->kinds);
  lgt_partitions_fini(&rt->partitions);
  lgt_stores_fini(&rt->stores);
  for (int i = 1; i < rt->nline; i++) lgt_mem_free(rt->line[i]);
  lgt_mem_free(rt->line);
  lgt_mem_free(rt->front.launches);
  lgt_mem_free(rt->text);
  lgt_mem_free(rt->pretended);
  lgt_config_free(rt->config);
  lgt_mem_free(rt);
}

/* With other ranks an option is an operation of the stream: plans, and so messages, depend on options. */
static void note_option(lgt_runtime *rt, const char *name, const char *value) {
  if (!rt->binder.peers) return;
  uint64_t hash = XXH3_64bits(value, strlen(value));
  char text[80];
  snprintf(text, sizeof text, "option %s", name);
  lgt_agree_note(&rt->binder, &(lgt_operation){.token = XXH3_64bits(name, strlen(name)) * 3 + hash,
                                               .line = rt->front.line,
                                               .what = rt->binder.peers->name(rt->binder.peers, text),
                                               .parts = lgt_operation_part(LGT_PART_NUMBERS, hash)});
}

lgt_status lgt_option(lgt_runtime *rt, const char *name, const char *value) {
  lgt_status status = lgt_fence(rt); /* what was launched ran under the old options */
  note_option(rt, name, value);
  if (!status) status = lgt_config_set_live(rt->config, name, value);
  rt->front.settings++;
  if (status) return status;
  apply_config(rt);
  lgt_fuser_clear(&rt->fuser); /* plans depend on options */
  return lgt_tracer_restart(&rt->tracer, rt->config);
}
