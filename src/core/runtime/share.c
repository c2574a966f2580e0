/* share.c - see share.h. */
#include "runtime/share.h"

#include "bind/rescue.h"
#include "bind/side.h"
#include "move/acquire.h"
#include "move/message.h"
#include "move/poison.h"
#include "runtime/devices.h"
#include "runtime/handles.h"

/* The device that groups run on; NULL with an error.  Where it would be opened when it is worth it, it is opened now. */
static lgt_memory *find_device(lgt_runtime *rt) {
  if (!lgt_map_whole(&rt->map))
    return lgt_err(LGT_UNSUPPORTED, "memory of a GPU is shared by programs of one process and one GPU only"),
           NULL;
  if (rt->binder.side.unopened) {
    rt->binder.side.wanted = true;
    if (lgt_devices_want(rt)) return NULL;
  }
  if (rt->map.nmemory < 2 || !rt->map.memory[1].device->share)
    return lgt_err(LGT_UNSUPPORTED, "this program uses no GPU: --gpus 1 asks for one"), NULL;
  return &rt->map.memory[1];
}

int lgt_device_shared(lgt_runtime *rt) {
  const lgt_memory *memory = find_device(rt);
  return memory ? memory->device->number : -1;
}

lgt_status lgt_share_attach(lgt_runtime *rt, lgt_store *store, void *data) {
  lgt_memory *memory = find_device(rt);
  lgt_status status = memory ? memory->device->settle(memory->device) : lgt_last_status();
  if (status) return status;
  lgt_replica *replica = lgt_store_replicas(&rt->map, store);
  lgt_instance *inst =
      replica ? lgt_instance_attach(&rt->map, lgt_layout_at(&rt->stores, store->layout), data) : NULL;
  if (!inst) return lgt_err(LGT_NO_MEMORY, "out of memory while attaching an array");
  inst->memory = memory;
  store->home = lgt_instance_retain(inst);
  lgt_replica_set(&rt->map, &replica[0], inst);
  return LGT_OK;
}

/* Elements of a store, in order, to memory of a device that is no store's.  Waits. */
static lgt_status copy_out(lgt_runtime *rt, lgt_store *store, lgt_instance *to) {
  lgt_status status = lgt_runtime_settle(rt);
  if (!status) status = lgt_rescue_store(&rt->binder, store);
  if (!status) status = lgt_poison_report(&rt->binder, store->failure);
  if (!status) status = lgt_acquire(&rt->binder, store, 0, to->memory, &to->rect, LGT_USE_READ, NULL, NULL);
  if (status == LGT_NO_MEMORY) lgt_err(status, "out of memory of %s", to->memory->device->name);
  lgt_instance *from = status ? NULL : store->replica[0].inst;
  if (from && from != to) {
    lgt_copy copy = lgt_copy_of(from, to, &to->rect);
    status = lgt_copy_submit(&rt->binder, &copy, 1);
  }
  if (!status) status = lgt_job_look(&rt->binder, to);
  lgt_job_wait(&rt->binder, to, true);
  lgt_job_retire(&rt->binder, false);
  if (status) return status;
  return lgt_poison_report(&rt->binder, store->failure ? store->failure : to->failure);
}

lgt_status lgt_share_settle(lgt_runtime *rt, lgt_store *store) { return copy_out(rt, store, store->home); }

lgt_status lgt_array_share(lgt_runtime *rt, lgt_id array, lgt_memory_kind kind, lgt_shared **out) {
  lgt_store *store;
  lgt_status status = lgt_handle_store(rt, array, &store);
  if (status) return status;
  const lgt_layout *layout = lgt_layout_at(&rt->stores, rt->stores.handle[array].layout);
  lgt_memory *memory = kind == LGT_MEMORY_CUDA ? find_device(rt) : NULL;
  if (kind != LGT_MEMORY_CUDA)
    return lgt_err(LGT_BAD_ARGUMENT, "%d is no kind of memory of devices", (int)kind);
  if (!memory) return lgt_last_status();
  if (!(layout->flags & LGT_LAYOUT_WHOLE))
    return lgt_err(LGT_BAD_ARGUMENT,
                   "a view has to be copied first: its elements are not all of an array, in order");
  lgt_shared *shared;
  int64_t bytes = lgt_layout_bytes(layout);
  status = memory->device->share(memory->device, (size_t)(bytes > 0 ? bytes : 1), &shared);
  if (status) return status;
  store->refs++;
  lgt_instance *inst = lgt_instance_attach(&rt->map, lgt_layout_at(&rt->stores, store->layout), shared->data);
  if (inst) inst->memory = memory;
  status = inst ? copy_out(rt, store, inst) : lgt_err(LGT_NO_MEMORY, "out of memory while sharing an array");
  lgt_instance_release(&rt->map, inst);
  store->refs--;
  if (status) lgt_shared_free(shared);
  else *out = shared;
  return status;
}

void lgt_shared_free(lgt_shared *shared) {
  if (shared) shared->free(shared);
}
