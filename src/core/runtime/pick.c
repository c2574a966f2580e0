/* pick.c - what boolean arrays pick from small arrays, while the script waits for how many elements that are.
 *
 * The script has to look at the mask in any case.  To look at the other array, too, and to write the result in place takes
 * half as long as tasks do.  Where something has failed, tasks are launched all the same (lib/array/index/picks.lua): they
 * know what fails with it, and whoever looks at that is told.  For a process with one domain.
 *
 * Nothing is launched, so no flush would ask for a collection: these functions ask for it themselves.
 */
#include "lgt_binding.h"
#include "ops/select.h"
#include "runtime/handles.h"
#include "runtime/look.h"

/* A new array, and where its elements are to be written. */
typedef struct list {
  lgt_id array;
  lgt_tile tile;
} list;

static lgt_status list_new(lgt_runtime *rt, uint32_t room, list *out) {
  *out = (list){.array = lgt_layout_array(rt, room)};
  return out->array ? lgt_look_new(rt, out->array, &out->tile) : LGT_NO_MEMORY;
}

/* It has been written, by what tasks of a kind would do: it shows only the first n rows of what it has. */
static lgt_status list_end(lgt_runtime *rt, list *of, int64_t n, const char *kind) {
  lgt_handle *handle = &rt->stores.handle[of->array];
  lgt_store_at(&rt->stores, handle->store)->at_once = kind;
  uint32_t layout = lgt_layout_slice(rt, handle->layout, 0, 0, n, 1);
  if (layout) handle->layout = layout;
  return layout ? LGT_OK : LGT_NO_MEMORY;
}

lgt_id lgt_mask_pick(lgt_runtime *rt, uint32_t room, lgt_id mask, lgt_id array) {
  lgt_instance *by_inst, *from_inst;
  lgt_tile by, from;
  list picked = {0};
  int64_t waits = rt->waits + 1, n = 0; /* the script waits once */
  if (lgt_look_try(rt, mask, &by, &by_inst)) return 0;
  lgt_status status = lgt_look_try(rt, array, &from, &from_inst);
  if (status) goto release_mask;
  status = list_new(rt, room, &picked);
  if (!status) n = lgt_select_pick(&picked.tile, &by, &from);
  if (!status) status = list_end(rt, &picked, n, "mask_pick");
  lgt_instance_release(&rt->map, from_inst);
release_mask:
  lgt_instance_release(&rt->map, by_inst);
  rt->waits = waits;
  if (status) lgt_handle_drop(rt, picked.array);
  else lgt_runtime_relieve(rt);
  return status ? 0 : picked.array;
}

lgt_status lgt_mask_list(lgt_runtime *rt, uint32_t room, lgt_id mask, lgt_id *lists) {
  lgt_instance *by_inst;
  lgt_tile by, tile[LGT_MAX_DIM];
  list made[LGT_MAX_DIM] = {{0}};
  int64_t waits = rt->waits + 1, n = 0;
  lgt_status status = lgt_look_try(rt, mask, &by, &by_inst);
  if (status) return status;
  for (int d = 0; d < by.ndim && !status; d++) {
    status = list_new(rt, room, &made[d]);
    tile[d] = made[d].tile;
  }
  if (!status) n = lgt_select_list(tile, &by);
  for (int d = 0; d < by.ndim && !status; d++) status = list_end(rt, &made[d], n, "mask_list");
  for (int d = 0; d < by.ndim; d++) {
    lists[d] = made[d].array;
    if (status) lgt_handle_drop(rt, lists[d]);
  }
  lgt_instance_release(&rt->map, by_inst);
  rt->waits = waits;
  if (!status) lgt_runtime_relieve(rt);
  return status;
}
