/* handles.c - see handles.h. */
#include "runtime/handles.h"

lgt_status lgt_handle_check(lgt_runtime *rt, lgt_id array) {
  lgt_handle handle = {0, 0};
  if (array && array <= rt->stores.max_handle) handle = rt->stores.handle[array];
  if (handle.layout) return LGT_OK;
  return handle.store
             ? lgt_err(LGT_RELEASED, "the array was detached from its memory and cannot be used any more")
             : lgt_err(LGT_BAD_ARGUMENT, "array handle %u is not in use", array);
}

lgt_status lgt_handle_store(lgt_runtime *rt, lgt_id array, lgt_store **out) {
  lgt_status status = lgt_handle_check(rt, array);
  if (status) return status;
  lgt_handle *handle = &rt->stores.handle[array];
  if (!handle->store) {
    lgt_store *store = lgt_store_new(&rt->stores, handle->layout);
    if (!store) return LGT_NO_MEMORY;
    store->handles = 1;
    handle->store = store->id;
  }
  *out = lgt_store_at(&rt->stores, handle->store);
  return LGT_OK;
}

lgt_status lgt_handle_reserve(lgt_runtime *rt, int count) {
  while (rt->front.nfree < (uint32_t)count)
    if (!lgt_handles_refill(&rt->stores, &rt->front.nfree)) return LGT_NO_MEMORY;
  rt->front.max_id = rt->stores.max_handle;
  return LGT_OK;
}

lgt_id lgt_handle_take(lgt_runtime *rt) {
  return lgt_handle_reserve(rt, 1) ? 0 : rt->front.free_ids[--rt->front.nfree];
}

void lgt_handle_drop(lgt_runtime *rt, lgt_id array) {
  if (!array || array > rt->stores.max_handle) return;
  lgt_handle handle = rt->stores.handle[array];
  if (!handle.layout && !handle.store) return;
  if (rt->front.count) { /* a recorded launch may name the handle: resolve it first */
    lgt_runtime_take(rt);
    handle = rt->stores.handle[array];
  }
  rt->stores.handle[array] = (lgt_handle){0, 0};
  rt->front.free_ids[rt->front.nfree++] = array;
  if (!handle.store) return;
  lgt_store *store = lgt_store_at(&rt->stores, handle.store);
  if (--store->handles == 0 && store->refs == 0) lgt_bind_drop_store(&rt->binder, store);
}
