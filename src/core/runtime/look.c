/* look.c - see look.h. */
#include "runtime/look.h"

#include <string.h>

#include "bind/point.h"
#include "bind/rescue.h"
#include "memory/replica.h"
#include "move/acquire.h"
#include "move/exchange.h"
#include "move/poison.h"
#include "runtime/handles.h"

/* A rect of a store in one instance of this rank's first domain: with several domains its elements come from
 * wherever they are. */
static lgt_status gather_rect(lgt_runtime *rt, lgt_store *store, const lgt_rect *rect, bool read, bool write,
                              bool last) {
  lgt_exchange x;
  lgt_peers *peers = rt->binder.peers;
  if (lgt_map_whole(&rt->map))
    return lgt_acquire(&rt->binder, store, 0, rt->map.memory, rect, write ? LGT_USE_WRITE : LGT_USE_READ,
                       NULL, NULL);
  lgt_status status = lgt_exchange_look(&x, &rt->binder, store, rect, read, write);
  if (status && peers) peers->abort(peers, lgt_message());
  if (status) return lgt_exchange_undo(&x), status;
  status = lgt_exchange_acquire(&x);
  if (status && !last) lgt_exchange_undo(&x);
  if (status && !last) return status;
  lgt_status moved = lgt_exchange_move(&x);
  if (moved && !peers) lgt_exchange_undo(&x);
  if (!status && !moved && write) {
    lgt_replica *replica = &store->replica[0];
    if (lgt_replica_written(replica, replica->inst, rect)) lgt_replica_tidy(&rt->map, replica);
    else moved = lgt_err(LGT_NO_MEMORY, "out of memory while writing an array");
    if (moved && peers) peers->abort(peers, lgt_message()); /* it has moved: nobody does it again */
  }
  return status ? status : moved;
}

/* The same for a look that ends when its elements have been read. */
static lgt_status peek_rect(lgt_runtime *rt, lgt_store *store, const lgt_rect *rect, lgt_instance **out) {
  if (!lgt_map_whole(&rt->map) && store->history) {
    const lgt_footprint *what = lgt_footprint_everywhere(&rt->map.footprints, rect);
    if (what && !lgt_history_has(store->history, what))
      return lgt_exchange_peek(&rt->binder, store, rect, out);
  }
  lgt_status status = gather_rect(rt, store, rect, true, false, rt->binder.peers != NULL);
  if (!status) *out = lgt_instance_retain(store->replica[0].inst);
  return status;
}

int64_t lgt_look_begins(lgt_runtime *rt) { return rt->profile ? lgt_profile_now() : 0; }

static const char *looking_line(const lgt_runtime *rt) {
  return rt->binder.line_text(rt->binder.line_context, rt->front.line);
}

void lgt_look_ended(lgt_runtime *rt, int64_t begin, const char *what, const char *unit, int64_t n) {
  lgt_label label = {.category = "wait", .name = what, .line = looking_line(rt)};
  lgt_profile_span(rt->profile, begin, &label, "\"%s\":%lld", unit, (long long)n);
}

static lgt_status acquire_rect(lgt_runtime *rt, lgt_store *store, const lgt_rect *rect, lgt_look access,
                               lgt_instance **out) {
  if (access <= LGT_LOOK_PEEK) return peek_rect(rt, store, rect, out);
  bool read = access != LGT_LOOK_WRITE, write = access != LGT_LOOK_READ;
  lgt_status status = gather_rect(rt, store, rect, read, write, false);
  if (status == LGT_NO_MEMORY && (rt->binder.njob || rt->map.kept_alone)) {
    lgt_rescue_kept_alone(&rt->binder);
    lgt_job_retire(&rt->binder, true);
    status = gather_rect(rt, store, rect, read, write, false);
  }
  if (status == LGT_NO_MEMORY && rt->binder.peers) gather_rect(rt, store, rect, read, write, true);
  if (!status) *out = lgt_instance_retain(store->replica[0].inst);
  return status;
}

static bool is_all(const lgt_layout *root, const lgt_rect *rect) {
  lgt_rect all = lgt_rect_of_shape(root->ndim, root->shape);
  return lgt_rect_equal(rect, &all);
}

/* What has failed (NULL: nothing), as the look's error. */
static lgt_status report(lgt_runtime *rt, const lgt_failure *failure, lgt_look access) {
  if (failure && access == LGT_LOOK_TRY) return lgt_err(failure->status, "%s", failure->message);
  return lgt_poison_report(&rt->binder, failure);
}

/* The newest elements of a rect in one instance, with nothing in flight on it. */
static lgt_status settle_here(lgt_runtime *rt, lgt_store *store, const lgt_rect *rect, lgt_look access,
                              lgt_instance **out, int64_t *position) {
  lgt_status status = lgt_runtime_settle(rt);
  *position = rt->binder.agreed.position;
  if (status) return status;
  rt->binder.where = looking_line(rt);
  status = lgt_rescue_store(&rt->binder, store);
  const lgt_layout *root = lgt_layout_at(&rt->stores, store->layout);
  if (access == LGT_LOOK_WRITE && is_all(root, rect)) {
    lgt_poison_overwrite(&rt->binder, store);
    lgt_poison_end(&rt->binder, store->id); /* nor does what is still in flight poison it */
  }
  /* What is poisoned here only is what others may want to read. */
  if (!status && !rt->binder.peers && store->failure) {
    status = lgt_job_look_native(&rt->binder); /* what is not done yet may have failed before that did */
    lgt_job_retire(&rt->binder, false);
    return status ? status : report(rt, store->failure, access);
  }
  if (!status) status = acquire_rect(rt, store, rect, access, out);
  if (status && store->failure) { /* that came first */
    *position = store->failure->position;
    return report(rt, store->failure, access);
  }
  if (status == LGT_NO_MEMORY) {
    lgt_err(status, "out of memory: reading an array needs %lld bytes, %lld of %lld are taken",
            (long long)(lgt_rect_size(rect) * lgt_dtype_size(root->dtype)),
            (long long)(rt->map.pool->limit - lgt_pool_left(rt->map.pool)), (long long)rt->map.pool->limit);
  }
  if (status) return status;
  if (access >= LGT_LOOK_WRITE) lgt_job_wait(&rt->binder, *out, true); /* it counts as written already */
  else status = lgt_job_look(&rt->binder, *out);
  if (!status) status = lgt_job_look_native(&rt->binder);
  lgt_job_retire(&rt->binder, false);
  if (status) return status;
  const lgt_failure *failure = store->failure ? store->failure : (*out)->failure;
  if (failure) *position = failure->position;
  return report(rt, failure, access);
}

lgt_status lgt_look_rect(lgt_runtime *rt, lgt_store *store, const lgt_rect *rect, lgt_look access,
                         lgt_instance **out) {
  int64_t position;
  static const char *const what[] = {"read values", "read values", "read in place", "write in place",
                                     "write in place"};
  int64_t begin = lgt_look_begins(rt);
  *out = NULL;
  lgt_runtime_note(rt, access >= LGT_LOOK_WRITE ? LGT_NOTE_WRITE : LGT_NOTE_LOOK, store, rect);
  lgt_status status = settle_here(rt, store, rect, access, out, &position);
  status = lgt_agree(&rt->binder, status, position);
  if (begin) lgt_look_ended(rt, begin, what[access], "elements", lgt_rect_size(rect));
  if (status) lgt_instance_release(&rt->map, *out);
  return status;
}

lgt_instance *lgt_look_there(const lgt_runtime *rt, const lgt_store *store) {
  const lgt_replica *replica = store->replica;
  bool still = lgt_map_still(&rt->map) && !rt->binder.peers && !rt->profile;
  if (!still || !replica || !replica->inst || !lgt_runtime_idle(rt) || rt->binder.first) return NULL;
  if (store->recipe || store->failure || replica->inst->failure || replica->naside || replica->old.count)
    return NULL;
  return replica->inst;
}

lgt_status lgt_look_part(lgt_runtime *rt, lgt_id array, const lgt_rect *part, lgt_look access,
                         const lgt_layout **layout, lgt_instance **inst) {
  lgt_store *store;
  lgt_status status = lgt_handle_store(rt, array, &store);
  if (status) return status;
  *layout = lgt_layout_at(&rt->stores, rt->stores.handle[array].layout);
  lgt_instance *there = access <= LGT_LOOK_PEEK ? lgt_look_there(rt, store) : NULL;
  if (there) {
    *inst = lgt_instance_retain(there);
    return lgt_runtime_settle(rt); /* sweeps the layouts of views through which much has been looked at */
  }
  bool write = access >= LGT_LOOK_WRITE;
  if (write && (*layout)->flags & LGT_LAYOUT_STRETCHED)
    return lgt_err(
        LGT_BAD_SHAPE,
        "the view is stretched: several of its positions are one element, so it cannot be written; "
        "write a copy");
  lgt_rect rect;
  if (part) {
    rect = lgt_layout_root_rect(*layout, part);
  } else {
    lgt_rect view = lgt_rect_of_shape((*layout)->ndim, (*layout)->shape);
    rect = lgt_layout_root_rect(*layout, &view);
  }
  if (write && !lgt_layout_exact(*layout)) access = LGT_LOOK_READ_WRITE;
  store->refs++; /* settling may drop what only launches kept alive */
  status = lgt_look_rect(rt, store, &rect, access, inst);
  store->refs--;
  if (!status && write) store->written = true, store->at_once = NULL;
  return status;
}

/* Has the instance all of the root? */
static bool has_all(const lgt_layout *layout, const lgt_instance *inst) {
  bool all = true;
  for (int d = 0; d < layout->root_ndim; d++)
    all &= inst->rect.lo[d] == 0 && inst->rect.hi[d] == layout->root_shape[d];
  return all;
}

void lgt_look_locate(const lgt_layout *layout, const lgt_instance *inst, lgt_tile *tile) {
  if (has_all(layout, inst)) {
    *tile = (lgt_tile){
        .data = inst->data + layout->offset * inst->elem, .ndim = layout->ndim, .dtype = layout->dtype};
    for (int d = 0; d < layout->ndim; d++) {
      tile->extent[d] = layout->shape[d];
      tile->stride[d] = layout->stride[d] * inst->elem;
    }
    return;
  }
  lgt_alignment align;
  lgt_rect view = lgt_rect_of_shape(layout->ndim, layout->shape);
  memset(&align, 0, sizeof align);
  for (int d = 0; d < LGT_MAX_DIM; d++) align.to[d] = (int8_t)d;
  lgt_instance_tile(layout, &align, &view, inst, tile, NULL);
}

lgt_status lgt_look_new(lgt_runtime *rt, lgt_id array, lgt_tile *tile) {
  lgt_store *store;
  lgt_status status = lgt_handle_store(rt, array, &store);
  if (status) return status;
  const lgt_layout *root = lgt_layout_at(&rt->stores, store->layout);
  lgt_rect all = lgt_rect_of_shape(root->ndim, root->shape);
  lgt_replica *replica = lgt_store_replicas(&rt->map, store);
  lgt_instance *inst = replica ? lgt_instance_new(&rt->map, 0, root, &all) : NULL;
  if (!inst) return LGT_NO_MEMORY;
  lgt_replica_set(&rt->map, replica, inst);
  store->written = true;
  lgt_look_locate(root, inst, tile);
  return LGT_OK;
}

static lgt_status look_at_all(lgt_runtime *rt, lgt_id array, lgt_look access, lgt_tile *tile,
                              lgt_instance **inst) {
  const lgt_layout *layout;
  lgt_status status = lgt_handle_check(rt, array);
  if (!status) status = lgt_look_part(rt, array, NULL, access, &layout, inst);
  if (!status) lgt_look_locate(layout, *inst, tile);
  return status;
}

lgt_status lgt_look_peek(lgt_runtime *rt, lgt_id array, lgt_tile *tile, lgt_instance **inst) {
  return look_at_all(rt, array, LGT_LOOK_PEEK, tile, inst);
}

lgt_status lgt_look_try(lgt_runtime *rt, lgt_id array, lgt_tile *tile, lgt_instance **inst) {
  return look_at_all(rt, array, LGT_LOOK_TRY, tile, inst);
}
