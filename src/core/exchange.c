/* exchange.c - the elements that move for a group.  See exchange.h. */
#include "exchange.h"

#include "job.h"
#include "weave.h"

static lgt_status no_memory(void) { return lgt_err(LGT_NO_MEMORY, "out of memory while launching a task"); }

/* ---- touches ------------------------------------------------------------------------------------------ */

static bool is_fresh(const lgt_plan_group *group, uint16_t root) {
  const lgt_plan_root *r = &group->plan->root[root];
  return r->fresh && group == &group->plan->group[r->first_group];
}

/* Has an earlier call of the group written all elements of this view? */
static bool made_before(const lgt_plan_group *group, int call, int arg) {
  const lgt_plan_call *reader = &group->plan->call[call];
  for (int i = group->first; i < call; i++) {
    const lgt_plan_call *writer = &group->plan->call[i];
    for (int b = 0; b < writer->nargs; b++)
      if (writer->kind->privilege[b] & LGT_PRIV_WRITE && writer->root[b] == reader->root[arg] &&
          writer->layout[b] == reader->layout[arg])
        return true;
  }
  return false;
}

/* Does the argument stand still along a dimension that is cut? */
static bool stands_still(const lgt_layout *layout, const lgt_alignment *align, const lgt_partition *launch) {
  lgt_signature s = lgt_signature_of(layout, align);
  for (int d = 0; launch->kind == LGT_PARTITION_TILING && d < launch->ndim; d++)
    if (launch->grid[d] > 1 && s.stride[d] == 0) return true;
  return false;
}

/* The number of a root among the group's; -1 for one that it does not touch. */
static int number_of(const lgt_plan_group *group, uint16_t root) {
  for (int i = 0; i < group->ntouched; i++)
    if (group->touched[i] == root) return i;
  return -1;
}

static lgt_touch touch_of(const lgt_fuser *fuser, lgt_plan_group *group, int call, int arg) {
  const lgt_plan_call *c = &group->plan->call[call];
  const lgt_layout *layout = lgt_layout_at(fuser->stores, c->layout[arg]);
  int privilege = c->kind->privilege[arg];
  int root = number_of(group, c->root[arg]);
  if (root < 0) group->touched[root = group->ntouched++] = c->root[arg];
  lgt_touch t = {.call = (uint16_t)call, .root = (uint16_t)root, .arg = (uint8_t)arg};
  t.fresh = is_fresh(group, c->root[arg]);
  t.writes = privilege & (LGT_PRIV_WRITE | LGT_PRIV_REDUCE);
  /* A writer that leaves elements out (a step of 2, say) owns the whole box around its tile. */
  bool former = privilege & LGT_PRIV_READ || (t.writes && !lgt_layout_exact(layout));
  t.reads = former && !t.fresh && !(lgt_layout_exact(layout) && made_before(group, call, arg));
  t.folds = privilege & LGT_PRIV_REDUCE && stands_still(layout, &c->space.align[arg], group->launch);
  if (t.writes && group->launch->ncolour > 1)
    t.key = lgt_solver_key(&fuser->solver, layout, &c->space.align[arg], group->launch);
  return t;
}

lgt_status lgt_exchange_prepare(const lgt_fuser *fuser, lgt_plan_group *group) {
  const lgt_plan *plan = group->plan;
  int n = 0;
  if (group->touch) return LGT_OK;
  for (int i = group->first; i < group->first + group->count; i++) n += plan->call[i].nargs;
  if (!group->touched) group->touched = lgt_mem_alloc(((size_t)n + 1) * sizeof *group->touched);
  if (group->touched) group->touch = lgt_mem_alloc(((size_t)n + 1) * sizeof *group->touch);
  if (!group->touch) return no_memory();
  for (int i = group->first; i < group->first + group->count; i++)
    for (int a = 0; a < plan->call[i].nargs; a++)
      group->touch[group->ntouch++] = touch_of(fuser, group, i, a);
  return LGT_OK;
}

static lgt_store *store_of(const lgt_exchange *x, int root) {
  return lgt_store_at(x->binder->stores, x->root[x->group->touched[root]]);
}

/* The root rect that a touch reaches for a colour; ndim -1 for a colour without work. */
static lgt_rect rect_of(const lgt_exchange *x, const lgt_touch *t, int colour) {
  const lgt_plan_call *call = &x->group->plan->call[t->call];
  const lgt_layout *layout = lgt_layout_at(x->binder->stores, call->layout[t->arg]);
  bool whole = x->group->launch->ncolour == 1;
  lgt_rect tile = whole ? lgt_rect_of_shape(call->space.ndim, call->space.extent)
                        : lgt_partition_rect(x->group->launch, colour);
  if (!whole && lgt_rect_empty(&tile)) return (lgt_rect){.ndim = -1};
  lgt_rect view = lgt_space_view_rect(layout, &call->space.align[t->arg], &tile);
  return call->kind->privilege[t->arg] & LGT_PRIV_REDUCE ? lgt_layout_target_rect(layout, view)
                                                         : lgt_layout_root_rect(layout, &view);
}

/* A scalar exists once, in domain 0, for all domains; so does what several colours reduce into. */
static int domain_of(const lgt_exchange *x, const lgt_touch *t, int colour) {
  bool scalar = lgt_layout_at(x->binder->stores, store_of(x, t->root)->layout)->ndim == 0;
  return scalar || t->folds ? 0 : lgt_bind_domain_of(x->binder, x->group->launch, colour);
}

/* ---- before ------------------------------------------------------------------------------------------- */

static void add_cover(lgt_exchange *x, int domain, int root, const lgt_rect *rect) {
  lgt_rect *cover = &x->cover[domain * x->group->ntouched + root];
  *cover = cover->ndim < 0 ? *rect : lgt_rect_bound(cover, rect);
}

void lgt_exchange_need(lgt_exchange *x, int domain, uint16_t root, const lgt_rect *rect, bool written) {
  int n = number_of(x->group, root);
  lgt_assert(n >= 0);
  add_cover(x, domain, n, rect);
  x->written[n] |= written;
}

static bool survey(lgt_exchange *x, const lgt_touch *t) {
  lgt_store *store = store_of(x, t->root);
  bool good = lgt_store_replicas(x->binder->map, store) != NULL;
  for (int c = 0; c < x->group->launch->ncolour && good; c++) {
    int domain = domain_of(x, t, c);
    lgt_rect rect = rect_of(x, t, c);
    if (rect.ndim < 0) continue;
    add_cover(x, domain, t->root, &rect);
    if (t->reads && !lgt_region_contains(&store->replica[domain].valid, &rect))
      good = lgt_region_add(&x->lacks[domain * x->group->ntouched + t->root], &rect);
  }
  return good;
}

/* Only a survey that went wrong leaves regions here. */
static void drop_lacks(lgt_exchange *x) {
  for (int i = 0; i < x->binder->map->domains * x->group->ntouched; i++) lgt_region_fini(&x->lacks[i]);
}

lgt_status lgt_exchange_begin(lgt_exchange *x) {
  lgt_arena *arena = &x->binder->arena;
  lgt_status status = lgt_exchange_prepare(x->binder->fuser, x->group);
  if (status) return status;
  size_t n = (size_t)x->binder->map->domains * (size_t)x->group->ntouched;
  x->cover = lgt_arena_alloc(arena, (n + 1) * sizeof *x->cover);
  x->lacks = lgt_arena_alloc(arena, (n + 1) * sizeof *x->lacks);
  x->written = lgt_arena_alloc(arena, (size_t)x->group->ntouched + 1);
  if (!x->cover || !x->lacks || !x->written) return no_memory();
  for (size_t i = 0; i < n; i++) x->cover[i].ndim = -1;
  for (int i = 0; i < x->group->ntouch; i++) {
    if (x->group->touch[i].fresh || survey(x, &x->group->touch[i])) continue;
    drop_lacks(x);
    return no_memory();
  }
  return LGT_OK;
}

lgt_status lgt_exchange_fetch(lgt_exchange *x) {
  int nroot = x->group->ntouched;
  lgt_status status = LGT_OK;
  for (int r = 0; r < nroot && !status; r++)
    for (int d = 0; d < x->binder->map->domains && !status; d++) {
      int at = d * nroot + r;
      lgt_instance *inst;
      if (x->cover[at].ndim < 0) continue;
      status =
          lgt_bind_acquire(x->binder, store_of(x, r), d, &x->cover[at], &x->lacks[at], x->written[r], &inst);
    }
  drop_lacks(x);
  return status;
}

lgt_instance *lgt_exchange_instance(const lgt_exchange *x, int domain, uint16_t root) {
  int n = number_of(x->group, root);
  if (x->cover[domain * x->group->ntouched + n].ndim < 0) return NULL;
  return store_of(x, n)->replica[domain].inst;
}

/* ---- afterwards --------------------------------------------------------------------------------------- */

lgt_status lgt_exchange_end(lgt_exchange *x) {
  for (int i = 0; i < x->group->ntouch; i++) {
    const lgt_touch *t = &x->group->touch[i];
    lgt_store *store = store_of(x, t->root);
    if (!t->writes) continue;
    if (!lgt_store_replicas(x->binder->map, store)) return no_memory();
    for (int c = 0; c < x->group->launch->ncolour; c++) {
      lgt_rect rect = rect_of(x, t, c);
      if (rect.ndim >= 0 && !lgt_store_written(x->binder->map, store, domain_of(x, t, c), &rect))
        return no_memory();
    }
    store->key = t->key;
  }
  return LGT_OK;
}
