/* layouts.c - see layouts.h. */
#include "layouts.h"

#include "weave.h"

static void mark_accesses(lgt_stores *stores, const lgt_plan_access *access, int n) {
  for (int a = 0; a < n; a++) lgt_layout_mark(stores, access[a].layout);
}

static void mark_group(lgt_stores *stores, const lgt_plan_group *group) {
  for (int s = 0; s < group->nslot; s++) lgt_layout_mark(stores, group->slot[s].layout);
  for (int i = 0; group->items && i < group->items->nitem; i++)
    for (int a = 0; a < group->items->item[i].nargs; a++)
      lgt_layout_mark(stores, group->items->item[i].layout[a]);
  for (int l = 0; l < group->nloop; l++) {
    const lgt_plan_loop *loop = &group->loop[l];
    if (loop->kernel) mark_accesses(stores, loop->access, loop->kernel->loop->naccess);
    for (int k = 0; k < loop->nnative; k++)
      mark_accesses(stores, loop->native[k].access, loop->native[k].kind->nargs);
  }
  for (int e = 0; e < group->nelided; e++)
    if (group->elided[e].rescue) mark_group(stores, group->elided[e].rescue);
}

static void mark_plan(lgt_stores *stores, const lgt_plan *plan) {
  if (!plan) return;
  for (int i = 0; i < plan->ncall; i++)
    for (int a = 0; a < plan->call[i].nargs; a++) lgt_layout_mark(stores, plan->call[i].layout[a]);
  for (int r = 0; r < plan->nroot; r++) lgt_layout_mark(stores, plan->root[r].layout);
  for (int k = 0; k < plan->nlayout; k++) lgt_layout_mark(stores, plan->layout[k]);
  for (int g = 0; g < plan->ngroup; g++) mark_group(stores, &plan->group[g]);
}

static void mark_plans(lgt_stores *stores, const lgt_fuser *fuser) {
  for (uint32_t i = 0; i <= fuser->mask; i++) mark_plan(stores, fuser->table[i]);
  for (int i = 0; i < fuser->nretired; i++) mark_plan(stores, fuser->retired[i]);
  for (const lgt_plan *p = fuser->shifted; p; p = p->next_shifted) mark_plan(stores, p);
}

void lgt_layouts_collect(lgt_stores *stores, const lgt_window *window, const lgt_fuser *fuser,
                         uint32_t most) {
  if (fuser->solver.domains > 1 || stores->new_layouts < most ||
      stores->new_layouts < stores->old_layouts / 4)
    return;
  for (uint32_t id = 1; id <= stores->max_handle; id++) lgt_layout_mark(stores, stores->handle[id].layout);
  for (uint32_t id = 1; id < stores->nstore; id++) lgt_layout_mark(stores, stores->store[id].layout);
  for (int i = 0; i < window->count; i++)
    for (int a = 0; a < window->call[i].nargs; a++) lgt_layout_mark(stores, window->call[i].layout[a]);
  mark_plans(stores, fuser);
  lgt_layouts_sweep(stores);
}
