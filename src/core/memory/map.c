/* map.c - instances and replicas, and copies between them.  See map.h. */
#include "memory/map.h"

#include <string.h>

enum { RECORDS = 1024 }; /* bytes of bookkeeping, about, that go with a block of elements */

/* ---- memory --------------------------------------------------------------------------------------- */

static void count_live(lgt_map *map, int64_t bytes) {
  map->live += bytes;
  if (map->live > map->peak) map->peak = map->live;
}

static char *take_block(lgt_map *map, const lgt_memory *memory, int64_t bytes, bool needed,
                        int64_t *rounded) {
  char *block = lgt_pool_take(memory->pool, bytes, needed, rounded);
  if (block) count_live(map, *rounded);
  return block;
}

static void give_block(lgt_map *map, const lgt_memory *memory, char *data, int64_t rounded) {
  lgt_pool_give(memory->pool, data, rounded);
  map->live -= rounded;
}

static void give_adopted(lgt_map *map, lgt_instance *inst) {
  map->live -= inst->bytes;
  inst->release(inst->data);
}

static void give_thin(lgt_map *map, lgt_instance *inst) {
  map->live -= inst->bytes;
  lgt_pool_give_thin(map->pool, inst->thin);
}

lgt_status lgt_map_init(lgt_map *map, lgt_stores *stores, int local, int rank, int ranks, int64_t budget) {
  *map = (lgt_map){.stores = stores, .domains = local * ranks, .local = local, .first = local * rank};
  map->pool = lgt_pool_new(budget);
  map->memory[0] = (lgt_memory){.pool = map->pool, .device = lgt_device_host(), .on_host = true};
  map->nmemory = 1;
  if (!map->pool) return lgt_err(LGT_NO_MEMORY, "out of memory for a runtime");
  lgt_histories_init(&map->histories);
  lgt_footprints_init(&map->footprints, stores, map->domains, local);
  return LGT_OK;
}

/* Few bytes, for a launch that cannot be put off: counted, and beyond the limit if need be. */
static void *take_beside(void *pool, int64_t bytes, int64_t *rounded) {
  return lgt_pool_take(pool, bytes, true, rounded);
}
static void give_beside(void *pool, void *block, int64_t rounded) { lgt_pool_give(pool, block, rounded); }

/* Everything that its queues did is done, and there are no instances. */
static void free_memory(lgt_memory *m) {
  for (int q = 0; q < LGT_QUEUES; q++)
    if (m->queue[q]) m->device->queue_free(m->queue[q]);
  if (!m->pool) return;
  lgt_pool_release(m->pool);
  m->device->close(m->device);
}

lgt_status lgt_map_add_device(lgt_map *map, lgt_device *device, int64_t budget) {
  lgt_memory *m = &map->memory[map->nmemory];
  lgt_assert(map->nmemory <= LGT_MOST_DEVICES);
  *m = (lgt_memory){.pool = lgt_pool_on(device, budget), .device = device};
  if (!m->pool) {
    device->close(device);
    return lgt_err(LGT_NO_MEMORY, "out of memory for a device");
  }
  device->take = take_beside;
  device->give = give_beside;
  device->pool = m->pool;
  for (int q = 0; q < LGT_QUEUES; q++)
    if (!(m->queue[q] = device->queue_new(device))) return free_memory(m), LGT_NO_MEMORY;
  map->nmemory++;
  return LGT_OK;
}

static void free_record(lgt_instance *inst) {
  lgt_mem_free(inst->reader);
  lgt_mem_free(inst);
}

static void free_replicas(const lgt_map *map, lgt_replica *replica) {
  for (int d = 0; d < map->local; d++) {
    lgt_region_fini(&replica[d].absent);
    lgt_region_fini(&replica[d].old);
    lgt_mem_free(replica[d].aside);
  }
  lgt_mem_free(replica);
}

void lgt_map_fini(lgt_map *map) {
  for (int m = 0; m < map->nmemory; m++) free_memory(&map->memory[m]);
  for (lgt_instance *inst; (inst = lgt_spares_take(&map->spare_instance, 0));) free_record(inst);
  lgt_mem_free(map->spare_instance.item);
  lgt_mem_free(map->leaving);
  for (lgt_replica *replica; (replica = lgt_spares_take(&map->spare_replicas, 0));)
    free_replicas(map, replica);
  lgt_mem_free(map->spare_replicas.item);
  lgt_histories_fini(&map->histories);
  lgt_footprints_fini(&map->footprints);
}

/* ---- instances -------------------------------------------------------------------------------------- */

static lgt_instance *instance_of(lgt_map *map, int domain, int elem, const lgt_rect *rect) {
  lgt_instance *inst = lgt_spares_take(&map->spare_instance, sizeof *inst);
  if (!inst && !(inst = lgt_mem_zalloc(sizeof *inst))) return NULL;
  lgt_task **reader = inst->reader;
  int room = inst->reader_room;
  memset(inst, 0, offsetof(lgt_instance, rect));
  inst->refs = 1;
  inst->overwritten_at = -1;
  inst->domain = map->first + domain;
  inst->elem = elem;
  inst->rect = inst->made_for = *rect;
  inst->reader = reader;
  inst->reader_room = room;
  int64_t s = inst->elem;
  for (int d = rect->ndim - 1; d >= 0; d--) {
    int64_t extent = rect->hi[d] - rect->lo[d];
    inst->stride[d] = s;
    s *= extent > 0 ? extent : 1;
  }
  return inst;
}

static void keep_spare(lgt_map *map, lgt_instance *inst) {
  if (!lgt_spares_give(&map->spare_instance, inst)) free_record(inst);
}

static void unlist(lgt_map *map, int i) {
  map->leaving[i]->leaving = false;
  map->nleaving--;
  memmove(map->leaving + i, map->leaving + i + 1, (size_t)(map->nleaving - i) * sizeof *map->leaving);
}

/* Only tasks in flight refer to it: if it is a device's, its memory is to be had. */
static void leave(lgt_map *map, lgt_instance *inst) {
  if (inst->memory->on_host || !inst->bytes || inst->leaving || (inst->former && !inst->behind)) return;
  lgt_instance *former = inst->former;
  inst->former = NULL;
  lgt_instance_release(map, former);
  if (!lgt_mem_grow((void **)&map->leaving, &map->leaving_room, map->nleaving + 1, sizeof *map->leaving))
    return;
  map->leaving[map->nleaving++] = inst;
  inst->leaving = true;
}

/* Memory of a leaving instance of the same size; `kernels`: on which the queue for kernels alone works. */
static bool take_over(lgt_map *map, lgt_instance *inst, int64_t rounded, bool kernels) {
  for (int i = 0; i < map->nleaving; i++) {
    lgt_instance *from = map->leaving[i];
    if (from->memory != inst->memory || from->bytes != rounded || (kernels && from->abroad)) continue;
    unlist(map, i);
    inst->former = lgt_instance_retain(from);
    inst->data = from->data;
    inst->bytes = rounded;
    from->bytes = 0;
    map->handed_over += rounded;
    return true;
  }
  return false;
}

/* On a device: a free block, else one on which kernels still work, else a fresh one, else any on which something works. */
static bool find_memory(lgt_map *map, lgt_instance *inst, int64_t bytes, bool needed) {
  const lgt_memory *memory = inst->memory;
  int64_t rounded;
  bool search = map->nleaving && !memory->on_host && !lgt_pool_has(memory->pool, bytes, &rounded);
  if (search && take_over(map, inst, rounded, true)) return true;
  inst->data = take_block(map, memory, bytes, needed, &inst->bytes);
  return inst->data || (search && take_over(map, inst, rounded, false));
}

static lgt_instance *allocate(lgt_map *map, lgt_memory *memory, int domain, int elem, const lgt_rect *rect,
                              bool needed) {
  lgt_instance *inst = instance_of(map, domain, elem, rect);
  if (!inst) return NULL;
  int64_t bytes = lgt_rect_size(rect) * inst->elem;
  inst->memory = memory;
  if (!find_memory(map, inst, bytes > 0 ? bytes : 1, needed)) {
    keep_spare(map, inst);
    return NULL;
  }
  if (map->check && memory->on_host) memset(inst->data, 0xff, (size_t)bytes); /* NaN, or -1 */
  return inst;
}

lgt_instance *lgt_instance_new(lgt_map *map, int domain, const lgt_layout *root, const lgt_rect *rect) {
  return allocate(map, map->memory, domain, lgt_dtype_size(root->dtype), rect, false);
}

lgt_instance *lgt_instance_in(lgt_map *map, lgt_memory *memory, int domain, const lgt_layout *root,
                              const lgt_rect *rect) {
  return allocate(map, memory, domain, lgt_dtype_size(root->dtype), rect, false);
}

lgt_instance *lgt_instance_new_thin(lgt_map *map, int domain, const lgt_layout *root, const lgt_rect *rect,
                                    lgt_thin *thin) {
  lgt_instance *inst = instance_of(map, domain, lgt_dtype_size(root->dtype), rect);
  if (!inst) return NULL;
  inst->memory = map->memory;
  if (!lgt_pool_take_thin(map->pool, thin)) {
    keep_spare(map, inst);
    return NULL;
  }
  inst->thin = thin;
  inst->data = thin->data;
  inst->bytes = lgt_thin_bytes(thin);
  count_live(map, inst->bytes);
  if (map->check) lgt_thin_fill(thin, 0xff);
  return inst;
}

bool lgt_instance_thicken(lgt_map *map, lgt_instance *inst, const lgt_thin *more, bool needed) {
  int64_t bytes = lgt_thin_lacks(inst->thin, more);
  if (!bytes) return true;
  if (!lgt_pool_thicken(map->pool, bytes, needed)) return false;
  lgt_thin_join(inst->thin, more);
  inst->bytes += bytes;
  count_live(map, bytes);
  return true;
}

void lgt_instance_thin_out(lgt_map *map, lgt_instance *inst, const lgt_thin *wanted) {
  int64_t bytes = lgt_thin_lacks(wanted, inst->thin);
  lgt_thin_drop(inst->thin, wanted);
  lgt_pool_thicken(map->pool, -bytes, true);
  inst->bytes -= bytes;
  inst->thin->wanted = inst->bytes;
  count_live(map, -bytes);
}

lgt_instance *lgt_instance_shared(lgt_map *map, int elem, const lgt_rect *rect) {
  return allocate(map, map->memory, 0, elem, rect, true);
}

lgt_instance *lgt_instance_buffer(lgt_map *map, int elem, int64_t count, bool needed) {
  lgt_rect rect = {.ndim = 1, .hi = {count}};
  return allocate(map, map->memory, 0, elem, &rect, needed);
}

lgt_instance *lgt_instance_attach(lgt_map *map, const lgt_layout *root, void *data) {
  lgt_rect all = lgt_rect_of_shape(root->ndim, root->shape);
  lgt_instance *inst = instance_of(map, 0, lgt_dtype_size(root->dtype), &all);
  if (inst) inst->data = data, inst->memory = map->memory;
  return inst;
}

lgt_instance *lgt_instance_adopt(lgt_map *map, const lgt_layout *root, void *data,
                                 void (*release)(void *data)) {
  lgt_instance *inst = lgt_instance_attach(map, root, data);
  if (!inst) return NULL;
  inst->release = release;
  inst->bytes = lgt_layout_bytes(root);
  count_live(map, inst->bytes);
  return inst;
}

void lgt_instance_left(lgt_map *map, lgt_instance *inst) {
  if (inst->refs > 0) return leave(map, inst);
  lgt_instance *former = inst->former;
  for (int i = 0; i < map->nleaving && inst->leaving; i++)
    if (map->leaving[i] == inst) unlist(map, i);
  if (former && former->flying) former->bytes = inst->bytes; /* nobody has written it */
  else if (inst->thin) give_thin(map, inst);
  else if (inst->release) give_adopted(map, inst);
  else if (inst->bytes) give_block(map, inst->memory, inst->data, inst->bytes);
  lgt_failure_release(inst->failure);
  keep_spare(map, inst);
  lgt_instance_release(map, former);
}

/* What only tasks in flight refer to no collection gives back. */
static bool is_held(const lgt_instance *inst) { return inst->owners || inst->pins; }

void lgt_map_hold(lgt_map *map, int64_t bytes) { map->since_collection += bytes; }

void lgt_map_let_go(lgt_map *map, int64_t bytes) {
  map->since_collection -= bytes;
  if (map->since_collection < 0) map->since_collection = 0; /* some were held before it */
}

static void count_held(lgt_map *map, const lgt_instance *inst) {
  if (is_held(inst) || !inst->bytes) return;
  lgt_map_hold(map, inst->bytes + RECORDS);
  map->held_since++;
}

static void count_let_go(lgt_map *map, const lgt_instance *inst) {
  if (is_held(inst) || !inst->bytes) return;
  lgt_map_let_go(map, inst->bytes + RECORDS);
  if (map->held_since) map->held_since--;
}

/* With several domains, and thin instances, it is not asked for. */
static int64_t kept_alone(const lgt_map *map, const lgt_instance *inst) {
  return lgt_map_whole(map) && inst->pins && !inst->owners ? inst->bytes : 0;
}

static void change_users(lgt_map *map, lgt_instance *inst, int owners, int pins) {
  map->kept_alone -= kept_alone(map, inst);
  inst->owners += owners;
  inst->pins += pins;
  map->kept_alone += kept_alone(map, inst);
}

void lgt_instance_own(lgt_map *map, lgt_instance *inst) {
  count_held(map, inst);
  change_users(map, inst, 1, 0);
}

void lgt_instance_disown(lgt_map *map, lgt_instance *inst) {
  change_users(map, inst, -1, 0);
  count_let_go(map, inst);
}

void lgt_instance_pin(lgt_map *map, lgt_instance *inst, const lgt_rect *rect) {
  count_held(map, inst);
  if (!inst->pins) inst->pinned_alike = inst->alike ? inst->alike : LGT_ALIKE_SOON;
  inst->pinned = inst->pins ? lgt_rect_bound(&inst->pinned, rect) : *rect;
  change_users(map, inst, 0, 1);
}

void lgt_instance_unpin(lgt_map *map, lgt_instance *inst) {
  change_users(map, inst, 0, -1);
  count_let_go(map, inst);
}

char *lgt_instance_at(const lgt_instance *inst, const int64_t *coordinate) {
  char *p = inst->data;
  for (int d = 0; d < inst->rect.ndim; d++) p += (coordinate[d] - inst->rect.lo[d]) * inst->stride[d];
  return p;
}

/* Segment by segment: where the view is not slanted, the instance has whole rows of the segment. */
static void reshaped_tile(const lgt_layout *layout, const lgt_rect *view, const lgt_instance *inst,
                          lgt_tile *out) {
  int64_t begin[LGT_MAX_DIM], step[LGT_MAX_DIM][LGT_MAX_DIM], row;
  lgt_layout part;
  out->data = inst->data;
  for (int first = 0, end; first < layout->root_ndim; first = end) {
    end = lgt_layout_segment(layout, first, &part);
    if (lgt_layout_steps(&part, begin, step)) {
      for (int k = first; k < end; k++) {
        int64_t at = begin[k - first] - inst->rect.lo[k];
        for (int d = 0; d < layout->ndim; d++) {
          out->stride[d] += step[d][k - first] * inst->stride[k];
          at += step[d][k - first] * view->lo[d];
        }
        out->data += at * inst->stride[k];
      }
      continue;
    }
    int64_t at = part.offset, unit = inst->stride[end - 1];
    at -= inst->rect.lo[first + lgt_layout_row(&part, &row)] * row;
    for (int d = 0; d < layout->ndim; d++) {
      out->stride[d] += part.stride[d] * unit;
      at += part.stride[d] * view->lo[d];
    }
    out->data += at * unit;
  }
}

void lgt_instance_tile(const lgt_layout *layout, const lgt_alignment *align, const lgt_rect *tile,
                       const lgt_instance *inst, lgt_tile *out, int64_t *space_stride) {
  lgt_rect view = lgt_space_view_rect(layout, align, tile);
  *out = (lgt_tile){.ndim = layout->ndim, .dtype = layout->dtype};
  for (int d = 0; d < layout->ndim; d++) {
    out->extent[d] = view.hi[d] - view.lo[d];
    out->origin[d] = view.lo[d];
  }
  int64_t begin[LGT_MAX_DIM], step[LGT_MAX_DIM];
  if (layout->flags & LGT_LAYOUT_RESHAPED) {
    reshaped_tile(layout, &view, inst, out);
  } else {
    lgt_layout_walk(layout, begin, step);
    for (int d = 0; d < layout->ndim; d++) {
      if (!step[d]) continue;
      out->stride[d] = step[d] * inst->stride[layout->dim[d]];
      begin[layout->dim[d]] += step[d] * view.lo[d];
    }
    out->data = lgt_instance_at(inst, begin);
  }
  for (int d = 0; d < layout->ndim && space_stride; d++)
    if (align->to[d] >= 0 && layout->shape[d] != 1) space_stride[align->to[d]] = out->stride[d];
}

/* ---- replicas ------------------------------------------------------------------------------------------ */

lgt_replica *lgt_store_replicas(lgt_map *map, lgt_store *store) {
  if (store->replica) return store->replica;
  store->replica = lgt_spares_take(&map->spare_replicas, (size_t)map->local * sizeof *store->replica);
  if (!store->replica) store->replica = lgt_mem_zalloc((size_t)map->local * sizeof *store->replica);
  return store->replica;
}

const lgt_replica *lgt_store_replica(const lgt_map *map, const lgt_store *store, int domain) {
  return &store->replica[lgt_layout_at(map->stores, store->layout)->ndim ? domain : 0];
}

void lgt_replica_set(lgt_map *map, lgt_replica *replica, lgt_instance *inst) {
  lgt_instance *old = replica->inst;
  if (inst) lgt_instance_own(map, inst);
  replica->inst = inst;
  if (!old) return;
  lgt_instance_disown(map, old);
  lgt_instance_release(map, old);
}

void lgt_store_forget(lgt_map *map, lgt_store *store) {
  store->history = NULL;
  if (!store->replica) return;
  for (int d = 0; d < map->local; d++) {
    lgt_replica *replica = &store->replica[d];
    lgt_replica_set(map, replica, NULL);
    lgt_assert(!replica->naside);
    replica->grown = 0; /* another store's has not */
    lgt_region_clear(&replica->absent);
  }
  if (!lgt_spares_give(&map->spare_replicas, store->replica)) free_replicas(map, store->replica);
  store->replica = NULL;
}

bool lgt_instance_contiguous(const lgt_instance *inst, const lgt_rect *rect) {
  int d = 0;
  while (d < rect->ndim && rect->hi[d] - rect->lo[d] == 1) d++;
  for (d++; d < rect->ndim; d++)
    if (rect->lo[d] != inst->rect.lo[d] || rect->hi[d] != inst->rect.hi[d]) return false;
  return true;
}

static int elem_of(const lgt_copy *copy) { return copy->to ? copy->to->elem : copy->from->elem; }

static char *memory_of(const lgt_copy *copy, const lgt_instance *inst) {
  return inst ? inst->data : copy->buffer;
}

/* Where the copy begins on one side, and the strides there. */
static char *side(const lgt_copy *copy, const lgt_instance *inst, int64_t at, int64_t *stride) {
  const lgt_rect *r = &copy->rect;
  if (at < 0) {
    memcpy(stride, inst->stride, sizeof inst->stride);
    return lgt_instance_at(inst, r->lo);
  }
  int64_t s = elem_of(copy);
  for (int d = r->ndim - 1; d >= 0; d--) {
    stride[d] = s;
    s *= r->hi[d] - r->lo[d];
  }
  return memory_of(copy, inst) + at * elem_of(copy);
}

int64_t lgt_elements(const lgt_rect *rect, const lgt_runs *runs, int along) {
  int64_t n = lgt_rect_size(rect);
  return runs && n ? n / (rect->hi[along] - rect->lo[along]) * runs->total : n;
}

static void copy_rect(const lgt_copy *copy) {
  const lgt_rect *r = &copy->rect;
  int64_t index[LGT_MAX_DIM] = {0}, extent[LGT_MAX_DIM], from_stride[LGT_MAX_DIM], to_stride[LGT_MAX_DIM],
          at[2] = {0, 0};
  int n = r->ndim;
  if (lgt_rect_empty(r)) return;
  const char *from = side(copy, copy->from, copy->from_at, from_stride);
  char *to = side(copy, copy->to, copy->to_at, to_stride);
  int64_t run = elem_of(copy);
  for (; n > 0 && from_stride[n - 1] == run && to_stride[n - 1] == run; n--)
    run *= r->hi[n - 1] - r->lo[n - 1];
  for (int d = 0; d < n; d++) extent[d] = r->hi[d] - r->lo[d];
  do {
    memcpy(to + at[1], from + at[0], (size_t)run);
  } while (lgt_index_next(n, extent, index, 2, at, (const int64_t *const[]){from_stride, to_stride}));
}

/* A vector: run by run, without asking more than where each begins. */
static void copy_vector(const lgt_copy *copy) {
  const lgt_runs *runs = copy->runs;
  int64_t size = elem_of(copy), from = copy->from_at, to = copy->to_at;
  for (int64_t i = 0; i < runs->count; i++) {
    int64_t lo = runs->run[i][0], n = runs->run[i][1] - lo;
    const char *f =
        memory_of(copy, copy->from) + (copy->from_at < 0 ? lo - copy->from->rect.lo[0] : from) * size;
    char *t = memory_of(copy, copy->to) + (copy->to_at < 0 ? lo - copy->to->rect.lo[0] : to) * size;
    if (n == 1 && size == 8) memcpy(t, f, 8);
    else memcpy(t, f, (size_t)(n * size));
    from += n;
    to += n;
  }
}

void lgt_copy_run(const lgt_copy *copy) {
  const lgt_runs *runs = copy->runs;
  if (!runs) return copy_rect(copy);
  if (lgt_rect_empty(&copy->rect)) return;
  if (copy->rect.ndim == 1) return copy_vector(copy);
  lgt_copy part = *copy;
  for (int64_t i = 0; i < runs->count; i++) {
    part.rect.lo[copy->along] = runs->run[i][0];
    part.rect.hi[copy->along] = runs->run[i][1];
    copy_rect(&part);
    int64_t n = lgt_rect_size(&part.rect);
    if (part.from_at >= 0) part.from_at += n;
    if (part.to_at >= 0) part.to_at += n;
  }
}

static const lgt_device *device_of(const lgt_instance *inst) {
  return lgt_instance_on_host(inst) ? NULL : inst->memory->device;
}

/* A rect: boxes of its inner dimensions, one for each index of the others. */
static lgt_status enqueue_rect(const lgt_copy *copy, const lgt_device *device, lgt_queue *queue) {
  const lgt_rect *r = &copy->rect;
  int64_t index[LGT_MAX_DIM] = {0}, extent[LGT_MAX_DIM], from_stride[LGT_MAX_DIM], to_stride[LGT_MAX_DIM],
          at[2] = {0, 0};
  int n = r->ndim;
  if (lgt_rect_empty(r)) return LGT_OK;
  const char *from = side(copy, copy->from, copy->from_at, from_stride);
  char *to = side(copy, copy->to, copy->to_at, to_stride);
  lgt_box box = {.bytes = copy->to->elem,
                 .count = {1, 1},
                 .to_device = device_of(copy->to),
                 .from_device = device_of(copy->from)};
  for (; n > 0 && from_stride[n - 1] == box.bytes && to_stride[n - 1] == box.bytes; n--)
    box.bytes *= r->hi[n - 1] - r->lo[n - 1];
  for (int k = 1; k >= 0 && n > 0; k--, n--) {
    box.count[k] = r->hi[n - 1] - r->lo[n - 1];
    box.from_stride[k] = from_stride[n - 1];
    box.to_stride[k] = to_stride[n - 1];
  }
  for (int d = 0; d < n; d++) extent[d] = r->hi[d] - r->lo[d];
  lgt_status status;
  do {
    box.from = from + at[0];
    box.to = to + at[1];
    status = device->copy(queue, &box);
  } while (!status &&
           lgt_index_next(n, extent, index, 2, at, (const int64_t *const[]){from_stride, to_stride}));
  return status;
}

lgt_status lgt_copy_enqueue(const lgt_copy *copy, const lgt_device *device, lgt_queue *queue) {
  const lgt_runs *runs = copy->runs;
  if (!runs) return enqueue_rect(copy, device, queue);
  lgt_copy part = *copy;
  lgt_status status = LGT_OK;
  if (lgt_rect_empty(&copy->rect)) return LGT_OK;
  for (int64_t i = 0; i < runs->count && !status; i++) {
    part.rect.lo[copy->along] = runs->run[i][0];
    part.rect.hi[copy->along] = runs->run[i][1];
    status = enqueue_rect(&part, device, queue);
    int64_t n = lgt_rect_size(&part.rect);
    if (part.from_at >= 0) part.from_at += n;
    if (part.to_at >= 0) part.to_at += n;
  }
  return status;
}
