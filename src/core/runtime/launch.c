/* launch.c - the commonest launches in one call of a binding.
 *
 * A binding can do all of this by itself, and does where it is refused here: where an array is large enough that the
 * launch says its line; where a flush or a sweep comes first; and where it must raise.  But LuaJIT, which never uses a
 * spill slot twice, keeps what it knows of each launch until the trace of a loop ends, and does not compile a loop in
 * which that is too much; and its interpreter takes longer for each of these steps than they take here.
 */
#include <math.h>

#include "memory/pool.h"
#include "model/result.h"
#include "runtime/handles.h"
#include "runtime/look.h"

enum { MOST_TAKEN = 2 }; /* handles that a launch takes here */

_Static_assert((int)LGT_NO_TYPE < (int)LGT_NTYPE, "rules have room for each type of an array");

/* 0: the handle is not in use. */
static uint32_t layout_of(const lgt_runtime *rt, lgt_id array) { return rt->stores.handle[array].layout; }

static const lgt_layout *at(const lgt_runtime *rt, uint32_t layout) {
  return lgt_layout_at(&rt->stores, layout);
}

/* May a launch be recorded that need not say its line? */
static bool ready(const lgt_runtime *rt) {
  const lgt_front *front = &rt->front;
  return front->count < front->limit && front->nfree >= LGT_SPARE_HANDLES + MOST_TAKEN && !front->all_lines;
}

static bool large(const lgt_layout *layout) { return layout->flags & LGT_LAYOUT_LARGE; }

/* The next launch, whose result has this layout; it counts once the caller has added it. */
static lgt_launch *begin(lgt_runtime *rt, lgt_rule rule, uint32_t layout) {
  lgt_front *front = &rt->front;
  lgt_launch *launch = &front->launches[front->count];
  lgt_id id = front->free_ids[--front->nfree];
  front->nlayouts = rt->stores.nlayout;
  front->handles[id] = (lgt_handle){.layout = layout};
  launch->kind = rule.kind;
  launch->nparams = 0;
  launch->line = 0;
  launch->arg[0] = id;
  return launch;
}

static lgt_id elementwise(lgt_runtime *rt, lgt_rule rule, lgt_id a, lgt_id b, const double *number) {
  if (!rule.kind || !ready(rt)) return 0;
  uint32_t first = layout_of(rt, a), second = b ? layout_of(rt, b) : first;
  uint32_t layout = lgt_result_join(&rt->stores, rule.dtype, first, second);
  if (!layout || large(at(rt, layout))) return 0;
  lgt_launch *launch = begin(rt, rule, layout);
  launch->nargs = b ? 3 : 2;
  launch->arg[1] = a;
  if (b) launch->arg[2] = b;
  if (number) {
    launch->nparams = 1;
    launch->param[0].f = *number;
  }
  rt->front.count++;
  return launch->arg[0];
}

lgt_id lgt_launch_pair(lgt_runtime *rt, const lgt_rules *rules, lgt_id a, lgt_id b) {
  uint32_t first = layout_of(rt, a), second = layout_of(rt, b);
  if (!first || !second) return 0;
  return elementwise(rt, rules->pair[at(rt, first)->type][at(rt, second)->type], a, b, NULL);
}

lgt_id lgt_launch_single(lgt_runtime *rt, const lgt_rules *rules, lgt_id a) {
  uint32_t layout = layout_of(rt, a);
  return layout ? elementwise(rt, rules->single[at(rt, layout)->type], a, 0, NULL) : 0;
}

lgt_id lgt_launch_before(lgt_runtime *rt, const lgt_rules *rules, lgt_id a, double number) {
  uint32_t layout = layout_of(rt, a);
  return layout ? elementwise(rt, rules->before[at(rt, layout)->type], a, 0, &number) : 0;
}

lgt_id lgt_launch_after(lgt_runtime *rt, const lgt_rules *rules, double number, lgt_id a) {
  uint32_t layout = layout_of(rt, a);
  return layout ? elementwise(rt, rules->after[at(rt, layout)->type], a, 0, &number) : 0;
}

/* Does every type of integers hold a number, if it is integral? */
static bool fits_all(double x) { return (x >= 0 && x <= 127) || x != floor(x) || x - x != 0; }

lgt_id lgt_launch_few(lgt_runtime *rt, lgt_kind_id kind, int dtype, int count, lgt_id a, lgt_id b, lgt_id c,
                      double x, double y, double z) {
  const lgt_id array[] = {a, b, c};
  const double number[] = {x, y, z};
  uint32_t common = 0;
  bool integers = false, fit = true;
  for (int i = 0; i < count; i++) {
    uint32_t layout = array[i] ? layout_of(rt, array[i]) : 0;
    if (!array[i]) {
      fit = fit && fits_all(number[i]);
      continue;
    }
    common = layout ? lgt_result_join(&rt->stores, dtype, common ? common : layout, layout) : 0;
    if (!common) return 0;
    integers = integers || lgt_dtype_is_integer(at(rt, layout)->dtype);
  }
  if (!common || large(at(rt, common)) || (integers && !fit) || !ready(rt)) return 0;
  lgt_launch *launch = begin(rt, (lgt_rule){kind, (uint8_t)dtype}, common);
  launch->nargs = 1;
  for (int i = 0; i < count; i++) {
    if (array[i]) launch->arg[launch->nargs++] = array[i];
    else launch->param[launch->nparams++].f = number[i];
  }
  rt->front.count++;
  return launch->arg[0];
}

lgt_id lgt_launch_new(lgt_runtime *rt, lgt_kind_id kind, uint32_t layout, int nparams, double x, double y) {
  if (!kind || !layout || large(at(rt, layout)) || !ready(rt)) return 0;
  lgt_launch *launch = begin(rt, (lgt_rule){kind, at(rt, layout)->dtype}, layout);
  launch->nargs = 1;
  launch->nparams = (uint8_t)nparams;
  launch->param[0].f = x;
  launch->param[1].f = y;
  rt->front.count++;
  return launch->arg[0];
}

/* The sum, or another reduction, of what two arrays, or one twice, give along `axes`; both have layouts. */
static lgt_id reduction(lgt_runtime *rt, lgt_rule rule, lgt_id a, lgt_id b, unsigned axes, bool keepdims) {
  uint32_t first = layout_of(rt, a), second = b ? layout_of(rt, b) : first, view;
  if (!rule.kind || !ready(rt) || large(at(rt, first)) || large(at(rt, second))) return 0;
  uint32_t layout = lgt_result_reduced(&rt->stores, rule.dtype, first, second, axes, keepdims, &view);
  if (!layout) return 0;
  lgt_launch *launch = begin(rt, rule, layout);
  lgt_id id = launch->arg[0], target = view == layout ? id : lgt_layout_view(rt, id, view);
  if (!target) {
    lgt_handle_drop(rt, id);
    return 0;
  }
  launch->nargs = b ? 3 : 2;
  launch->arg[0] = target;
  launch->arg[1] = a;
  if (b) launch->arg[2] = b;
  rt->front.count++;
  if (target != id) lgt_handle_drop(rt, target);
  return id;
}

lgt_id lgt_launch_reduced(lgt_runtime *rt, const lgt_rules *rules, lgt_id a, unsigned axes, int keepdims) {
  uint32_t layout = layout_of(rt, a);
  if (!layout || at(rt, layout)->size == 0) return 0;
  return reduction(rt, rules->single[at(rt, layout)->type], a, 0, axes, keepdims);
}

lgt_id lgt_launch_product(lgt_runtime *rt, const lgt_rules *rules, lgt_id a, lgt_id b) {
  uint32_t first = layout_of(rt, a), second = layout_of(rt, b);
  if (!first || !second) return 0;
  const lgt_layout *la = at(rt, first), *lb = at(rt, second);
  if (la->ndim == 0 || lb->ndim != 1 || la->shape[la->ndim - 1] != lb->shape[0]) return 0;
  return reduction(rt, rules->pair[la->type][lb->type], a, b, 1u << (la->ndim - 1), false);
}

/* The elements of an array that nobody works on; false: somebody does, or has yet to, or they have failed. */
static bool elements_of(lgt_runtime *rt, lgt_id array, bool writes, lgt_tile *tile) {
  lgt_store *store;
  if (lgt_handle_store(rt, array, &store)) return false;
  const lgt_instance *inst = lgt_look_there(rt, store);
  if (!inst || (writes && (inst->owners != 1 || inst->pins))) return false;
  if (writes) store->written = true;
  lgt_look_locate(at(rt, layout_of(rt, array)), inst, tile);
  return true;
}

int lgt_launch_at_once(lgt_runtime *rt, const lgt_launch *launch) {
  const lgt_kind *kind = rt->kinds.kind[launch->kind];
  lgt_id result = launch->arg[0];
  lgt_tile tile[LGT_MAX_ARGS];
  bool fresh = !rt->stores.handle[result].store;
  if (!rt->looked || !lgt_runtime_idle(rt) || rt->front.all_lines || rt->tracer.manual.now) return 0;
  if (!kind->own || fresh == !!(kind->privilege[0] & LGT_PRIV_READ)) return 0;
  for (int a = fresh; a < kind->nargs; a++)
    if (!elements_of(rt, launch->arg[a], a == 0, &tile[a])) return 0;
  if ((fresh && lgt_look_new(rt, result, &tile[0])) || tile[0].ndim == 0) return 0;
  lgt_scratch_serve(rt->map.pool);
  if (kind->own(tile, kind->nargs, launch->param, 0, tile[0].extent[0])) return 0;
  lgt_store_at(&rt->stores, rt->stores.handle[result].store)->at_once = kind->name;
  if (fresh) lgt_runtime_relieve(rt);
  return 1;
}
