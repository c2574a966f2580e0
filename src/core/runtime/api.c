/* api.c - the public interface (lgt.h, lgt_binding.h) over the runtime's parts: arrays, kinds, launches, reading
 * elements, counters.  Arguments are checked here; what lies below trusts them. */
#include <stdio.h>
#include <string.h>

#include "move/acquire.h"
#include "move/exchange.h"
#include "bind/point.h"
#include "move/poison.h"
#include "memory/replica.h"
#include "model/result.h"
#include "ops/blas.h"
#include "ops/builtin.h"
#include "bind/rescue.h"
#include "runtime/handles.h"
#include "runtime/look.h"
#include "runtime/share.h"

/* ---- layouts ----------------------------------------------------------------------------------------- */

static bool layout_ok(lgt_runtime *rt, uint32_t layout) {
  if (layout && layout < rt->stores.nlayout && rt->stores.note[layout].epoch != LGT_NOWHERE) return true;
  lgt_err(LGT_BAD_ARGUMENT, "layout %u does not exist", layout);
  return false;
}

static uint32_t publish(lgt_runtime *rt, uint32_t layout) {
  rt->front.nlayouts = rt->stores.nlayout;
  return layout;
}

uint32_t lgt_layout_dense(lgt_runtime *rt, int dtype, int ndim, const int64_t *shape) {
  return publish(rt, lgt_stores_dense(&rt->stores, dtype, ndim, shape));
}
uint32_t lgt_layout_slice(lgt_runtime *rt, uint32_t layout, int dim, int64_t first, int64_t count,
                          int64_t step) {
  return layout_ok(rt, layout) ? publish(rt, lgt_result_slice(&rt->stores, layout, dim, first, count, step))
                               : 0;
}
uint32_t lgt_layout_project(lgt_runtime *rt, uint32_t layout, int dim, int64_t index) {
  return layout_ok(rt, layout) ? publish(rt, lgt_result_project(&rt->stores, layout, dim, index)) : 0;
}
uint32_t lgt_layout_promote(lgt_runtime *rt, uint32_t layout, int dim, int64_t extent) {
  return layout_ok(rt, layout) ? publish(rt, lgt_result_promote(&rt->stores, layout, dim, extent)) : 0;
}
uint32_t lgt_layout_transpose(lgt_runtime *rt, uint32_t layout, const int *axes) {
  return layout_ok(rt, layout) ? publish(rt, lgt_stores_transpose(&rt->stores, layout, axes)) : 0;
}
uint32_t lgt_layout_diagonal(lgt_runtime *rt, uint32_t layout, int row, int column, int64_t above) {
  return layout_ok(rt, layout) ? publish(rt, lgt_stores_diagonal(&rt->stores, layout, row, column, above))
                               : 0;
}
uint32_t lgt_layout_windows(lgt_runtime *rt, uint32_t layout, int dim, int64_t width) {
  return layout_ok(rt, layout) ? publish(rt, lgt_stores_windows(&rt->stores, layout, dim, width)) : 0;
}
uint32_t lgt_layout_broadcast(lgt_runtime *rt, uint32_t layout, int ndim, const int64_t *shape) {
  return layout_ok(rt, layout) ? publish(rt, lgt_stores_broadcast(&rt->stores, layout, ndim, shape)) : 0;
}
uint32_t lgt_layout_reshape(lgt_runtime *rt, uint32_t layout, int ndim, const int64_t *shape) {
  return layout_ok(rt, layout) ? publish(rt, lgt_stores_reshape(&rt->stores, layout, ndim, shape)) : 0;
}
uint32_t lgt_layout_join(lgt_runtime *rt, int dtype, uint32_t a, uint32_t b) {
  return layout_ok(rt, a) && layout_ok(rt, b) ? publish(rt, lgt_result_join(&rt->stores, dtype, a, b)) : 0;
}
int lgt_layout_fills(lgt_runtime *rt, uint32_t target, uint32_t from) {
  return layout_ok(rt, target) && layout_ok(rt, from) && lgt_result_fills(&rt->stores, target, from);
}
uint32_t lgt_layout_reduced(lgt_runtime *rt, int dtype, uint32_t a, uint32_t b, unsigned axes, int keepdims,
                            uint32_t *view) {
  if (!layout_ok(rt, a) || !layout_ok(rt, b)) return 0;
  return publish(rt, lgt_result_reduced(&rt->stores, dtype, a, b, axes & 63, keepdims != 0, view));
}

/* ---- handles ------------------------------------------------------------------------------------------- */

lgt_front *lgt_front_of(lgt_runtime *rt) { return &rt->front; }
lgt_status lgt_array_reserve(lgt_runtime *rt, int count) { return lgt_handle_reserve(rt, count); }

lgt_status lgt_memory_resize(lgt_runtime *rt, int64_t bytes, int beyond, void **memory) {
  if (bytes < 0 || bytes > PTRDIFF_MAX - 4096)
    return lgt_err(LGT_NO_MEMORY, "out of memory: %lld bytes are needed", (long long)bytes);
  void *result = lgt_host_resize(rt->map.pool, *memory, bytes, beyond);
  if (!result && rt->binder.njob) {
    lgt_job_retire(&rt->binder, true); /* what is in flight has memory, too */
    result = lgt_host_resize(rt->map.pool, *memory, bytes, beyond);
  }
  if (!result) return LGT_NO_MEMORY;
  *memory = result;
  return LGT_OK;
}

lgt_status lgt_memory_alloc(lgt_runtime *rt, int64_t bytes, int beyond, void **memory) {
  void *fresh = NULL;
  lgt_status status = lgt_memory_resize(rt, bytes, beyond, &fresh);
  if (!status) *memory = fresh;
  return status;
}
lgt_status lgt_memory_count(lgt_runtime *rt, int64_t bytes, void **memory) {
  if (bytes < 0) return lgt_err(LGT_BAD_ARGUMENT, "%lld bytes of a library's memory", (long long)bytes);
  void *block = lgt_host_outside(rt->map.pool, bytes);
  if (!block) return LGT_NO_MEMORY;
  lgt_map_hold(&rt->map, bytes); /* what frees it is an object that the collector may find dead */
  *memory = block;
  return LGT_OK;
}
void lgt_memory_free(void *memory) { lgt_host_free(memory); }

lgt_id lgt_layout_array(lgt_runtime *rt, uint32_t layout) {
  if (!layout_ok(rt, layout)) return 0;
  if (!(rt->stores.layout[layout].flags & LGT_LAYOUT_WHOLE)) {
    lgt_err(LGT_BAD_ARGUMENT, "a new array needs a dense layout, %u is a view", layout);
    return 0;
  }
  lgt_id id = lgt_handle_take(rt);
  if (id) rt->stores.handle[id] = (lgt_handle){0, layout};
  return id;
}

lgt_id lgt_layout_view(lgt_runtime *rt, lgt_id array, uint32_t layout) {
  lgt_store *store;
  if (!layout_ok(rt, layout) || lgt_handle_store(rt, array, &store)) return 0;
  const lgt_layout *l = lgt_layout_at(&rt->stores, layout), *root = lgt_layout_at(&rt->stores, store->layout);
  bool same = l->dtype == root->dtype && l->root_ndim == root->ndim;
  for (int d = 0; same && d < root->ndim; d++) same = l->root_shape[d] == root->shape[d];
  if (!same) {
    lgt_err(LGT_BAD_ARGUMENT, "layout %u is not a view of this array", layout);
    return 0;
  }
  lgt_id id = lgt_handle_take(rt);
  if (!id) return 0;
  rt->stores.handle[id] = (lgt_handle){store->id, layout};
  store->handles++;
  return id;
}

void lgt_array_free(lgt_runtime *rt, lgt_id array) { lgt_handle_drop(rt, array); }

void lgt_array_free_many(lgt_runtime *rt, const lgt_id *arrays, int64_t count) {
  for (int64_t i = 0; i < count; i++) lgt_array_free(rt, arrays[i]);
}

/* ---- arrays by shape, and views of arrays ---------------------------------------------------------------- */

lgt_id lgt_array_new(lgt_runtime *rt, lgt_dtype dtype, int ndim, const int64_t *shape) {
  uint32_t layout = lgt_layout_dense(rt, (int)dtype, ndim, shape);
  return layout ? lgt_layout_array(rt, layout) : 0;
}

/* The layout of an array; 0 with a message if there is none. */
static uint32_t layout_of(lgt_runtime *rt, lgt_id array) {
  return lgt_handle_check(rt, array) ? 0 : rt->stores.handle[array].layout;
}

/* A view through a layout, or 0. */
static lgt_id view_of(lgt_runtime *rt, lgt_id array, uint32_t layout) {
  return layout ? lgt_layout_view(rt, array, layout) : 0;
}

lgt_id lgt_array_alias(lgt_runtime *rt, lgt_id array) { return view_of(rt, array, layout_of(rt, array)); }

lgt_status lgt_array_describe(lgt_runtime *rt, lgt_id array, lgt_description *out) {
  lgt_status status = lgt_handle_check(rt, array);
  if (status) return status;
  enum { FIRST = offsetof(lgt_description, count) + sizeof out->count }; /* bytes that 0.3.0 knew */
  if (out->size < FIRST)
    return lgt_err(LGT_BAD_ARGUMENT, "an lgt_description of %zu bytes: `size` must be set to its sizeof, %zu",
                   out->size, sizeof *out);
  const lgt_layout *layout = lgt_layout_at(&rt->stores, rt->stores.handle[array].layout);
  out->dtype = layout->dtype;
  out->ndim = layout->ndim;
  out->count = layout->size;
  memcpy(out->shape, layout->shape, sizeof out->shape);
  return LGT_OK;
}

lgt_id lgt_array_slice(lgt_runtime *rt, lgt_id array, int dim, int64_t first, int64_t count, int64_t step) {
  uint32_t layout = layout_of(rt, array);
  return layout ? view_of(rt, array, lgt_layout_slice(rt, layout, dim, first, count, step)) : 0;
}
lgt_id lgt_array_project(lgt_runtime *rt, lgt_id array, int dim, int64_t index) {
  uint32_t layout = layout_of(rt, array);
  return layout ? view_of(rt, array, lgt_layout_project(rt, layout, dim, index)) : 0;
}
lgt_id lgt_array_promote(lgt_runtime *rt, lgt_id array, int dim, int64_t extent) {
  uint32_t layout = layout_of(rt, array);
  return layout ? view_of(rt, array, lgt_layout_promote(rt, layout, dim, extent)) : 0;
}
lgt_id lgt_array_transpose(lgt_runtime *rt, lgt_id array, const int *axes) {
  uint32_t layout = layout_of(rt, array);
  return layout ? view_of(rt, array, lgt_layout_transpose(rt, layout, axes)) : 0;
}
lgt_id lgt_array_diagonal(lgt_runtime *rt, lgt_id array, int row, int column, int64_t above) {
  uint32_t layout = layout_of(rt, array);
  return layout ? view_of(rt, array, lgt_layout_diagonal(rt, layout, row, column, above)) : 0;
}
lgt_id lgt_array_windows(lgt_runtime *rt, lgt_id array, int dim, int64_t width) {
  uint32_t layout = layout_of(rt, array);
  return layout ? view_of(rt, array, lgt_layout_windows(rt, layout, dim, width)) : 0;
}
lgt_id lgt_array_broadcast(lgt_runtime *rt, lgt_id array, int ndim, const int64_t *shape) {
  uint32_t layout = layout_of(rt, array);
  return layout ? view_of(rt, array, lgt_layout_broadcast(rt, layout, ndim, shape)) : 0;
}
lgt_id lgt_array_reshape(lgt_runtime *rt, lgt_id array, int ndim, const int64_t *shape) {
  uint32_t layout = layout_of(rt, array), reshaped = layout ? lgt_layout_reshape(rt, layout, ndim, shape) : 0;
  if (layout && !reshaped && !*lgt_message())
    lgt_err(LGT_BAD_SHAPE, "the strides of the array allow no view of this shape: copy it first");
  return view_of(rt, array, reshaped);
}

/* ---- memory of the host program ---------------------------------------------------------------------------- */

/* Every rank has memory of its own with the same contents. */
static bool written_everywhere(lgt_runtime *rt, lgt_store *store, const lgt_rect *rect) {
  if (lgt_map_whole(&rt->map)) return true;
  lgt_store_begin_history(&rt->map, store);
  const lgt_footprint *what = lgt_footprint_everywhere(&rt->map.footprints, rect);
  return what && lgt_history_written(&rt->map.histories, &store->history, what);
}

/* A new store's elements are in this instance (NULL: there is no memory for it).  Takes over the reference. */
static lgt_status begin_with(lgt_runtime *rt, lgt_store *store, lgt_instance *inst) {
  const lgt_layout *root = lgt_layout_at(&rt->stores, store->layout);
  lgt_rect all = lgt_rect_of_shape(root->ndim, root->shape);
  lgt_replica *replica = inst ? lgt_store_replicas(&rt->map, store) : NULL;
  if (!replica || !written_everywhere(rt, store, &all)) {
    lgt_instance_release(&rt->map, inst);
    return lgt_err(LGT_NO_MEMORY, "out of memory while attaching an array");
  }
  lgt_replica_set(&rt->map, &replica[0], inst);
  lgt_runtime_note_given(rt, store, root->dtype, inst->data, (size_t)lgt_layout_bytes(root));
  return LGT_OK;
}

static lgt_status attach_host(lgt_runtime *rt, lgt_store *store, void *data) {
  const lgt_layout *root = lgt_layout_at(&rt->stores, store->layout);
  return begin_with(rt, store, lgt_instance_attach(&rt->map, root, data));
}

lgt_id lgt_array_attach(lgt_runtime *rt, lgt_dtype dtype, int ndim, const int64_t *shape,
                        lgt_memory_kind kind, void *data, void (*release)(void *), void *context) {
  if (kind != LGT_MEMORY_HOST && kind != LGT_MEMORY_CUDA)
    return lgt_err(LGT_BAD_ARGUMENT, "%d is no kind of memory", (int)kind), 0;
  uint32_t layout = lgt_layout_dense(rt, (int)dtype, ndim, shape);
  if (layout && !data && rt->stores.layout[layout].size > 0)
    return lgt_err(LGT_BAD_ARGUMENT, "the memory of an array with elements is NULL"), 0;
  lgt_id id = layout ? lgt_layout_array(rt, layout) : 0;
  lgt_store *store;
  if (!id) return 0;
  if (lgt_handle_store(rt, id, &store)) {
    lgt_array_free(rt, id);
    return 0;
  }
  lgt_status status =
      kind == LGT_MEMORY_HOST ? attach_host(rt, store, data) : lgt_share_attach(rt, store, data);
  if (status) {
    lgt_array_free(rt, id);
    return 0;
  }
  store->attached = store->written = true;
  store->release = release;
  store->release_context = context;
  return id;
}

lgt_id lgt_array_adopt(lgt_runtime *rt, uint32_t layout, void *data, void (*release)(void *data)) {
  lgt_id id = lgt_layout_array(rt, layout);
  lgt_store *store = NULL;
  lgt_instance *inst = NULL;
  if (id && !data && rt->stores.layout[layout].size > 0) {
    lgt_array_free(rt, id);
    return lgt_err(LGT_BAD_ARGUMENT, "the memory of an array with elements is NULL"), 0;
  }
  if (id && !lgt_handle_store(rt, id, &store))
    inst = lgt_instance_adopt(&rt->map, lgt_layout_at(&rt->stores, layout), data, release);
  if (!inst) release(data);
  if (!store || begin_with(rt, store, inst)) {
    if (id) lgt_array_free(rt, id);
    return 0;
  }
  store->written = true;
  return id;
}

static lgt_status settle_host(lgt_runtime *rt, lgt_store *store) {
  const lgt_layout *root = lgt_layout_at(&rt->stores, store->layout);
  lgt_rect all = lgt_rect_of_shape(root->ndim, root->shape);
  lgt_instance *inst;
  lgt_status status = lgt_look_rect(rt, store, &all, LGT_LOOK_READ, &inst);
  if (status) return status;
  lgt_job_wait(&rt->binder, inst, true);
  lgt_instance_release(&rt->map, inst);
  lgt_job_retire(&rt->binder, false);
  return LGT_OK;
}

lgt_status lgt_array_detach(lgt_runtime *rt, lgt_id array) {
  lgt_store *store;
  lgt_status status = lgt_handle_store(rt, array, &store);
  if (status) return status;
  if (!store->attached)
    return lgt_err(LGT_BAD_ARGUMENT,
                   "the array does not use memory of the host program: only attached arrays can be detached");
  status = store->home ? lgt_share_settle(rt, store) : settle_host(rt, store);
  if (status) return status;
  for (int d = 0; d < rt->map.local; d++) lgt_replica_drop_asides(&rt->map, &store->replica[d]);
  lgt_store_forget(&rt->map, store);
  for (uint32_t id = 1; id <= rt->stores.max_handle; id++) /* nothing in flight names them any more */
    if (rt->stores.handle[id].store == store->id) rt->stores.handle[id].layout = 0;
  lgt_instance_release(&rt->map, store->home);
  store->home = NULL;
  store->attached = false;
  if (store->release) store->release(store->release_context);
  store->release = NULL;
  return LGT_OK;
}

/* ---- elements ------------------------------------------------------------------------------------------------ */

/* An element, for whoever is going to look at it as a number. */
static lgt_scalar load_number(int dtype, const void *element) {
  lgt_scalar x = lgt_dtype_load(dtype, element);
  if (lgt_dtype_is_float(dtype)) x.f = lgt_plain_nan(x.f);
  if (lgt_dtype_is_complex(dtype)) x.c[0] = lgt_plain_nan(x.c[0]), x.c[1] = lgt_plain_nan(x.c[1]);
  return x;
}

lgt_status lgt_array_item(lgt_runtime *rt, lgt_id array, lgt_scalar *out) {
  const lgt_layout *layout;
  lgt_instance *inst;
  lgt_tile tile;
  lgt_status status = lgt_handle_check(rt, array);
  if (status) return status;
  layout = lgt_layout_at(&rt->stores, rt->stores.handle[array].layout);
  if (layout->size != 1)
    return lgt_err(LGT_BAD_SHAPE, "the array has %lld elements, only one can be read as a number",
                   (long long)layout->size);
  status = lgt_look_part(rt, array, NULL, LGT_LOOK_PEEK, &layout, &inst);
  if (status) return status;
  tile.data = inst->data + layout->offset * inst->elem; /* of an instance that has all of the root */
  if (!lgt_map_whole(&rt->map)) lgt_look_locate(layout, inst, &tile);
  *out = load_number(layout->dtype, tile.data);
  lgt_instance_release(&rt->map, inst);
  return LGT_OK;
}

lgt_status lgt_array_element(lgt_runtime *rt, lgt_id array, const int64_t *index, lgt_scalar *out) {
  const lgt_layout *layout;
  lgt_instance *inst;
  lgt_status status = lgt_handle_check(rt, array);
  if (status) return status;
  layout = lgt_layout_at(&rt->stores, rt->stores.handle[array].layout);
  lgt_rect place = {.ndim = layout->ndim};
  int64_t at = layout->offset, root[LGT_MAX_DIM], stride[LGT_MAX_DIM];
  for (int d = 0; d < layout->ndim; d++) {
    if (index[d] < 0 || index[d] >= layout->shape[d])
      return lgt_err(LGT_OUT_OF_BOUNDS, "index %lld of dimension %d, which has %lld element%s",
                     (long long)index[d] + 1, d + 1, (long long)layout->shape[d],
                     lgt_plural(layout->shape[d]));
    place.lo[d] = index[d];
    place.hi[d] = index[d] + 1;
    at += index[d] * layout->stride[d];
  }
  status = lgt_look_part(rt, array, &place, LGT_LOOK_PEEK, &layout, &inst);
  if (status) return status;
  bool whole = layout->flags & LGT_LAYOUT_WHOLE;
  if (!whole) lgt_shape_strides(layout->root_ndim, layout->root_shape, stride);
  for (int d = 0; d < layout->root_ndim && !whole; d++) root[d] = at / stride[d], at %= stride[d];
  *out = load_number(layout->dtype, lgt_instance_at(inst, whole ? index : root));
  lgt_instance_release(&rt->map, inst);
  return LGT_OK;
}

/* Not in a trace that the script names: that has the same launches each time, whatever is in flight. */
int lgt_element_put(lgt_runtime *rt, lgt_id array, uint32_t layout, double value) {
  const lgt_layout *l = lgt_layout_at(&rt->stores, layout);
  lgt_store *store;
  if (!lgt_runtime_idle(rt) || rt->tracer.manual.now || lgt_handle_store(rt, array, &store)) return 0;
  const lgt_instance *inst = lgt_look_there(rt, store);
  if (!inst || inst->owners != 1 || inst->pins) return 0;
  char *element = inst->data + l->offset * inst->elem; /* of an instance that has all of the root */
  if (l->dtype == LGT_FLOAT64) *(double *)element = value;
  else if (l->dtype == LGT_FLOAT32) *(float *)element = (float)value;
  else if (l->dtype == LGT_INT64) *(int64_t *)element = (int64_t)value;
  else return 0;
  store->written = true;
  return !lgt_flush_some(rt); /* sweeps the layouts of elements that were written */
}

/* Between the view and a C-order buffer. */
static void copy_tile(const lgt_tile *tile, char *buffer, bool out) {
  int64_t index[LGT_MAX_DIM] = {0};
  size_t size = (size_t)lgt_dtype_size(tile->dtype);
  int n = tile->ndim;
  for (int d = 0; d < n; d++)
    if (tile->extent[d] == 0) return;
  bool contiguous = n > 0 && tile->stride[n - 1] == (int64_t)size;
  int64_t inner = n ? tile->extent[n - 1] : 1;
  int64_t at = 0;
  const int64_t *stride = tile->stride;
  do {
    char *row = (char *)tile->data + at;
    if (contiguous) {
      if (out) memcpy(buffer, row, size * (size_t)inner);
      else memcpy(row, buffer, size * (size_t)inner);
      buffer += size * (size_t)inner;
    } else {
      for (int64_t i = 0; i < inner; i++, buffer += size) {
        char *element = row + (n ? i * tile->stride[n - 1] : 0);
        if (out) memcpy(buffer, element, size);
        else memcpy(element, buffer, size);
      }
    }
  } while (lgt_index_next(n - 1, tile->extent, index, 1, &at, &stride));
}

lgt_status lgt_array_copy_out(lgt_runtime *rt, lgt_id array, void *out) {
  lgt_instance *inst;
  lgt_tile tile;
  lgt_status status = lgt_look_peek(rt, array, &tile, &inst);
  if (status) return status;
  copy_tile(&tile, out, true);
  lgt_instance_release(&rt->map, inst);
  return LGT_OK;
}

lgt_status lgt_array_given(lgt_runtime *rt, lgt_id array, const void *data) {
  lgt_store *store;
  lgt_status status = lgt_handle_store(rt, array, &store);
  if (status) return status;
  const lgt_layout *layout = lgt_layout_at(&rt->stores, rt->stores.handle[array].layout);
  lgt_runtime_note_given(rt, store, layout->dtype, data, (size_t)lgt_layout_bytes(layout));
  return LGT_OK;
}

lgt_status lgt_array_copy_in(lgt_runtime *rt, lgt_id array, const void *data) {
  const lgt_layout *layout;
  lgt_instance *inst;
  lgt_tile tile;
  lgt_status status = lgt_look_part(rt, array, NULL, LGT_LOOK_WRITE, &layout, &inst);
  if (status) return status;
  lgt_look_locate(layout, inst, &tile);
  copy_tile(&tile, (char *)data, false);
  lgt_instance_release(&rt->map, inst);
  return lgt_array_given(rt, array, data);
}

lgt_status lgt_array_host(lgt_runtime *rt, lgt_id array, const char *mode, lgt_tile *out) {
  const lgt_layout *layout;
  lgt_instance *inst;
  bool read = strchr(mode, 'r') != NULL, write = strchr(mode, 'w') != NULL;
  if ((!read && !write) || mode[strspn(mode, "rw")])
    return lgt_err(LGT_BAD_ARGUMENT, "mode \"%s\" is none of \"r\", \"w\", \"rw\"", mode);
  lgt_status status = lgt_look_part(rt, array, NULL,
                                    !write ? LGT_LOOK_READ
                                    : read ? LGT_LOOK_READ_WRITE
                                           : LGT_LOOK_WRITE,
                                    &layout, &inst);
  if (status) return status;
  lgt_look_locate(layout, inst, out);
  lgt_instance_release(&rt->map, inst); /* the store keeps it */
  return LGT_OK;
}

/* ---- kinds and launches ---------------------------------------------------------------------------------------- */

/* A number of a kind, or -1. */
static lgt_kind_id kind_id(int number) { return number > 0 ? (lgt_kind_id)number : 0; }

lgt_kind_id lgt_kind_generator(lgt_runtime *rt, const char *name, lgt_body *body) {
  return kind_id(lgt_kinds_add_generator(&rt->kinds, name, body));
}
lgt_kind_id lgt_kind_new(lgt_runtime *rt, const char *name, const char *privileges, const char *constraints) {
  return kind_id(lgt_kinds_add(&rt->kinds, name, privileges, constraints));
}
lgt_status lgt_kind_variant(lgt_runtime *rt, lgt_kind_id number, lgt_variant_class device,
                            lgt_variant function, void *context) {
  lgt_kind *kind = lgt_kinds_find(&rt->kinds, number);
  return kind ? lgt_kind_set_variant(kind, (int)device, function, context) : LGT_BAD_ARGUMENT;
}
lgt_kind_id lgt_kind_gemm(lgt_runtime *rt, lgt_dtype dtype) {
  return kind_id(lgt_blas_kind(&rt->kinds, (int)dtype));
}
lgt_kind_id lgt_kind_builtin(lgt_runtime *rt, const char *name, const char *privileges,
                             const char *constraints) {
  bool infallible;
  lgt_own_variant own = lgt_builtin_find(name, &infallible);
  return own ? kind_id(lgt_kinds_add_own(&rt->kinds, name, privileges, constraints, own, infallible)) : 0;
}

uint32_t lgt_line(lgt_runtime *rt, const char *text) {
  for (int i = 1; i < rt->nline; i++) /* a program has few lines that launch large tasks */
    if (!strcmp(rt->line[i], text)) return (uint32_t)i;
  if (!lgt_mem_grow((void **)&rt->line, &rt->line_room, rt->nline + 1, sizeof *rt->line)) return 0;
  rt->line[rt->nline] = lgt_mem_strdup(text);
  return rt->line[rt->nline] ? (uint32_t)rt->nline++ : 0;
}

/* Do two handles have one store?  A new array has none before its first launch is in a window, and no views. */
static inline bool one_store(const lgt_handle *handle, lgt_id a, lgt_id b) {
  return a == b || (handle[a].store && handle[a].store == handle[b].store);
}

/* A written argument has all of the launch's dimensions, and no two writes meet: else which would win?
 * A task in C moreover sees its arguments while it writes, so that these must not meet either. */
static lgt_status check_writes(lgt_runtime *rt, const lgt_launch *launch, const lgt_call *call,
                               const lgt_space *space) {
  const lgt_kind *kind = call->kind;
  for (int a = 0; a < call->nargs; a++) {
    if (!lgt_kind_writes(kind, a)) continue;
    const lgt_layout *l = lgt_layout_at(&rt->stores, call->layout[a]);
    bool target = kind->privilege[a] & LGT_PRIV_REDUCE, whole = l->ndim == space->ndim;
    for (int d = 0; d < l->ndim && whole; d++) whole = l->shape[d] == space->extent[d];
    if (!target && l->flags & LGT_LAYOUT_STRETCHED)
      return lgt_err(
          LGT_BAD_SHAPE,
          "task '%s' writes argument %d, a stretched view: several of its positions are one element; "
          "give it a copy",
          kind->name, a + 1);
    if (!target && kind->body && !whole)
      return lgt_err(LGT_BAD_SHAPE, "task '%s' writes argument %d, which is smaller than the launch",
                     kind->name, a + 1);
    for (int b = 0; b < call->nargs; b++) {
      bool harmless = kind->body
                          ? kind->privilege[b] == LGT_PRIV_READ
                          : call->layout[a] == call->layout[b] && kind->privilege[b] == LGT_PRIV_READ &&
                                !memcmp(&space->align[a], &space->align[b], sizeof space->align[a]);
      if (b == a || harmless || !one_store(rt->stores.handle, launch->arg[a], launch->arg[b])) continue;
      const lgt_layout *other = lgt_layout_at(&rt->stores, call->layout[b]);
      /* Of boxes we are certain; of interleaved views the program is trusted. */
      if (lgt_layout_exact(l) && lgt_layout_exact(other) && lgt_layout_may_overlap(l, other))
        return lgt_err(LGT_BAD_ARGUMENT, "task '%s' writes argument %d, which overlaps argument %d",
                       kind->name, a + 1, b + 1);
    }
  }
  return LGT_OK;
}

static lgt_status check(lgt_runtime *rt, const lgt_kind *kind, const lgt_launch *launch) {
  lgt_call call = {.kind = kind, .nargs = launch->nargs};
  lgt_alignment align[LGT_MAX_ARGS];
  lgt_space space = {.align = align};
  if (launch->nargs != kind->nargs)
    return lgt_err(LGT_BAD_ARGUMENT, "task '%s' takes %d argument%s, %d were given", kind->name, kind->nargs,
                   lgt_plural(kind->nargs), launch->nargs);
  if (launch->nparams > LGT_MAX_PARAMS)
    return lgt_err(LGT_BAD_ARGUMENT, "task '%s' was given %d parameters, %d are possible", kind->name,
                   launch->nparams, LGT_MAX_PARAMS);
  if (kind->body && launch->nparams < kind->nparams)
    return lgt_err(LGT_BAD_ARGUMENT, "task '%s' takes %d parameter%s, %d were given", kind->name,
                   kind->nparams, lgt_plural(kind->nparams), launch->nparams);
  for (int a = 0; a < launch->nargs; a++) {
    lgt_status status = lgt_handle_check(rt, launch->arg[a]);
    if (status) return lgt_err_within(status, "task '%s', argument %d", kind->name, a + 1);
    call.layout[a] = rt->stores.handle[launch->arg[a]].layout;
    const lgt_layout *l = lgt_layout_at(&rt->stores, call.layout[a]);
    if (kind->dtype[a] != LGT_NDTYPE && kind->dtype[a] != l->dtype)
      return lgt_err(LGT_BAD_DTYPE, "task '%s' wants argument %d to be %s, it is %s", kind->name, a + 1,
                     lgt_dtype_name(kind->dtype[a]), lgt_dtype_name(l->dtype));
  }
  if (rt->config->reproducible) {
    lgt_status status = lgt_reproducible_check(kind);
    if (status) return status;
  }
  lgt_status status = lgt_space_of_call(&rt->stores, &call, &space);
  return status ? status : check_writes(rt, launch, &call, &space);
}

/* Where a launch like this one is if it was found good before, with `mine` filled in; NULL: an argument cannot be used. */
static lgt_checked *place_of(lgt_runtime *rt, const lgt_launch *launch, lgt_checked *mine) {
  const lgt_stores *stores = &rt->stores;
  uint32_t h = launch->kind * 0x9e3779b1u;
  mine->kind = launch->kind;
  mine->epoch = stores->epoch;
  for (int a = 0; a < launch->nargs; a++) {
    lgt_id id = launch->arg[a];
    mine->layout[a] = id <= stores->max_handle ? stores->handle[id].layout : 0;
    if (!mine->layout[a]) return NULL;
    h = (h ^ mine->layout[a]) * 0x85ebca6bu;
  }
  return &rt->checked[(h ^ h >> 16) % LGT_CHECKED];
}

/* Does the launch write a store that another argument has? */
static bool shares_written(const lgt_runtime *rt, const lgt_kind *kind, const lgt_launch *launch) {
  const lgt_handle *handle = rt->stores.handle;
  for (int a = 0; a < kind->nargs; a++) {
    if (!lgt_kind_writes(kind, a)) continue;
    for (int b = 0; b < kind->nargs; b++)
      if (b != a && one_store(handle, launch->arg[a], launch->arg[b])) return true;
  }
  return false;
}

lgt_status lgt_check(lgt_runtime *rt, const lgt_launch *launch) {
  const lgt_kind *kind = lgt_kinds_find(&rt->kinds, launch->kind);
  if (!kind || lgt_kind_ready(kind)) return LGT_BAD_ARGUMENT;
  lgt_checked mine, *known = NULL;
  size_t layouts = (size_t)kind->nargs * sizeof *mine.layout;
  if (launch->nargs == kind->nargs && launch->nparams == kind->nparams && !rt->config->reproducible)
    known = place_of(rt, launch, &mine);
  if (known && known->kind == mine.kind && known->epoch == mine.epoch &&
      !memcmp(known->layout, mine.layout, layouts) && !shares_written(rt, kind, launch))
    return LGT_OK;
  lgt_status status = check(rt, kind, launch);
  if (!status && known) memcpy(known, &mine, offsetof(lgt_checked, layout) + layouts);
  return status;
}

lgt_status lgt_submit(lgt_runtime *rt, const lgt_launch *launch) {
  lgt_status status = lgt_check(rt, launch);
  if (status) return status;
  rt->front.launches[rt->front.count++] = *launch;
  return rt->front.count >= rt->front.limit ? lgt_flush(rt) : LGT_OK;
}

static lgt_status fence_here(lgt_runtime *rt, int64_t *position) {
  lgt_status status = lgt_runtime_settle(rt);
  *position = rt->binder.agreed.position;
  if (status) lgt_job_retire(&rt->binder, true);
  else status = lgt_job_look_all(&rt->binder);
  if (status || !rt->binder.unreported) return status;
  const lgt_failure *failure = rt->binder.unreported;
  *position = failure->position;
  status = lgt_err(failure->status, "%s", failure->message);
  lgt_poison_reported(&rt->binder);
  return status;
}

lgt_status lgt_fence(lgt_runtime *rt) {
  int64_t position, begin = lgt_look_begins(rt);
  lgt_runtime_note(rt, LGT_NOTE_FENCE, NULL, NULL);
  lgt_status status = fence_here(rt, &position);
  status = lgt_agree(&rt->binder, status, position);
  if (begin) lgt_look_ended(rt, begin, "fence", "launches", rt->launches);
  return status;
}

void lgt_interrupt(lgt_runtime *rt, int on) { lgt_exec_interrupt(rt->exec, on != 0); }

/* ---- seeing inside ------------------------------------------------------------------------------------------------ */

/* Of all devices, since the last reset. */
static int64_t staged_bytes(const lgt_runtime *rt, int64_t *waits) {
  int64_t bytes = 0;
  *waits = 0;
  for (int m = 1; m < rt->map.nmemory; m++) {
    bytes += rt->map.memory[m].device->staged_bytes;
    *waits += rt->map.memory[m].device->staging_waits;
  }
  return bytes;
}

typedef struct counter {
  const char *name;
  int64_t value;
} counter;

#define EXCHANGES(what, stat) {stat, rt->binder.exchanged[LGT_EXCHANGES_##what]},
int64_t lgt_stat(lgt_runtime *rt, int n, const char **name) {
  lgt_kernels_stats kernels = lgt_kernels_stat(rt->kernels);
  int64_t staging_waits, staged = staged_bytes(rt, &staging_waits);
  const counter stat[] = {
      {"launches", rt->launches},
      {"tasks", rt->binder.tasks},
      {"tasks_copied", rt->binder.copied}, /* from earlier ones, with addresses and numbers filled in */
      {"passes", rt->binder.passes},
      {"passes_following", rt->binder.followed},
      {"passes_abreast", rt->binder.abreast},
      {"fused_groups", rt->binder.groups},
      {"temporaries_elided", rt->binder.elided},
      {"recipes_computed", rt->binder.rescued},
      {"windows", rt->windows},
      {"waits", rt->waits}, /* how often the script looked at what tasks compute: values, fences, files */
      {"plans_made", rt->plans},
      {"plans_shifted", rt->shifts},
      {"launches_replayed", rt->tracer.stats.launches}, /* whose plan came with a trace */
      {"traces_recorded", rt->tracer.stats.recorded},
      {"traces_evicted", lgt_tracer_ended(&rt->tracer, true)},
      {"traces_aborted", lgt_tracer_ended(&rt->tracer, false)}, /* launches left them before the end */
      {"kernels_compiled", kernels.compiled},
      {"kernels_loaded", kernels.loaded},
      {"kernels_failed", kernels.failed},
      {"bytes_moved", rt->binder.moved},
      {"bytes_copied", rt->map.copied},
      {"device_tasks", rt->binder.device_tasks},  /* of devices: kernels, copies to and from their memory */
      {"queue_waits", rt->binder.queue_waits},    /* how often a queue of a device waits for another one */
      {"device_kernels", kernels.for_devices},    /* loops that there is code of devices for */
      {"groups_on_host", rt->binder.host_groups}, /* although there are devices: what these cannot run */
      {"copies_to_devices", rt->map.uploads},
      {"copies_from_devices", rt->map.downloads},
      {"bytes_to_devices", rt->map.up_bytes},
      {"bytes_from_devices", rt->map.down_bytes},
      {"bytes_staged", staged},         /* of both, through pinned memory, so that nobody waits for the bus */
      {"staging_waits", staging_waits}, /* ... unless that memory was full */
      {"bytes_handed_over", rt->map.handed_over}, /* memory of devices, reused while tasks worked on it */
      {"bytes_read", rt->file_read},
      {"bytes_written", rt->file_written},
      {"bytes_sent", rt->binder.sent},
      {"messages_sent", rt->binder.messages},
      {"tasks_ahead", rt->binder.ahead_tasks}, /* that did something before all had come that they read */
      LGT_EXCHANGES_LIST(EXCHANGES)            /* which elements move: as recorded, or why not (record.h) */
      {"bytes_live", rt->map.live},
      {"bytes_peak", rt->map.peak},
      {"bytes_pooled", lgt_pool_idle(rt->map.pool)},
      {"bytes_in_libraries", rt->map.pool->outside},
      {"collections", rt->collections},
      {"live_stores", rt->stores.live_stores},
      {"layouts", rt->stores.nlayout - 1 - rt->stores.nfree_layout},
      {"footprints", rt->map.footprints.table.count},
      {"partitions", rt->partitions.table.count},
      {"plans", (int64_t)rt->fuser.count + rt->fuser.nretired},
  };
  bool known = n >= 0 && n < (int)(sizeof stat / sizeof *stat);
  *name = known ? stat[n].name : NULL;
  return known ? stat[n].value : 0;
}

void lgt_stats_reset(lgt_runtime *rt) {
  rt->launches = rt->windows = rt->waits = rt->plans = rt->shifts = rt->collections = 0;
  rt->binder.tasks = rt->binder.copied = rt->binder.passes = rt->binder.followed = rt->binder.abreast =
      rt->binder.groups = 0;
  rt->binder.elided = rt->binder.rescued = 0;
  rt->map.copied = rt->binder.moved = rt->binder.sent = rt->binder.messages = 0;
  rt->map.uploads = rt->map.downloads = rt->map.up_bytes = rt->map.down_bytes = rt->binder.device_tasks = 0;
  rt->binder.queue_waits = rt->map.handed_over = 0;
  for (int m = 1; m < rt->map.nmemory; m++)
    rt->map.memory[m].device->staged_bytes = rt->map.memory[m].device->staging_waits = 0;
  rt->binder.host_groups = rt->binder.ahead_tasks = 0;
  memset(rt->binder.exchanged, 0, sizeof rt->binder.exchanged);
  rt->tracer.stats = (lgt_tracer_stats){0};
  rt->file_read = rt->file_written = 0;
  rt->map.peak = rt->map.live;
  rt->issuing = 0;
  lgt_kernels_stat_reset(rt->kernels);
}

int lgt_rank(lgt_runtime *rt) { return rt->binder.peers ? rt->binder.peers->rank : 0; }
int lgt_size(lgt_runtime *rt) { return rt->binder.peers ? rt->binder.peers->size : 1; }
int lgt_domains(lgt_runtime *rt) { return rt->map.domains; }
int lgt_workers(lgt_runtime *rt) { return lgt_exec_cpus(rt->exec); }
int64_t lgt_min_tile(lgt_runtime *rt) { return rt->config->min_tile; }
int64_t lgt_replicate(lgt_runtime *rt) { return rt->config->replicate; }
