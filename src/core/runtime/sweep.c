/* sweep.c - see sweep.h. */
#include "runtime/sweep.h"

#include <string.h>

#include "move/image.h"
#include "move/moves.h"
#include "plan/weave.h"

/* New bytes: with random decisions for tests, else; and of a plan for each of its calls, with what it keeps for that.
 * A layout weighs more than it has bytes, for the misses of the look-ups among many. */
enum { LITTLE = 12 << 10, MUCH = 16 << 20, CALL = 4096, LAYOUT = 768 };
enum { SHARE = 16 }; /* of what arrays may take: how much what planning keeps may at most */

/* ---- marking ------------------------------------------------------------------------------------------- */

/* A footprint that is interned, or an image's own. */
static void mark_footprint(lgt_stores *stores, const lgt_footprint *footprint) {
  if (!footprint) return;
  lgt_footprint_mark(footprint);
  lgt_partition_mark(footprint->launch);
  lgt_layout_mark(stores, footprint->layout); /* 0 where there is none */
}

static void mark_accesses(lgt_stores *stores, const lgt_plan_access *access, int n) {
  for (int a = 0; a < n; a++) lgt_layout_mark(stores, access[a].layout);
}

static void mark_group(lgt_stores *stores, const lgt_plan_group *group) {
  lgt_partition_mark(group->launch);
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
  for (int t = 0; t < group->notes->ntouch; t++) {
    mark_footprint(stores, group->notes->touch[t].whole);
    mark_footprint(stores, group->notes->touch[t].around);
    lgt_partition_mark(group->notes->touch[t].before);
    lgt_partition_mark(group->notes->touch[t].after);
  }
  for (int e = 0; e < group->nelided && group->notes->rescue; e++)
    if (group->notes->rescue[e]) mark_group(stores, group->notes->rescue[e]);
}

static void mark_plan(lgt_stores *stores, const lgt_plan *plan) {
  if (!plan) return;
  for (int i = 0; i < plan->ncall; i++) {
    lgt_partition_mark(plan->call[i].launch);
    lgt_partition_mark(plan->call[i].wide);
    for (int a = 0; a < plan->call[i].nargs; a++) lgt_layout_mark(stores, plan->call[i].layout[a]);
  }
  for (int r = 0; r < plan->nroot; r++) {
    lgt_layout_mark(stores, plan->root[r].layout);
    lgt_partition_mark(plan->root[r].key);
  }
  for (int k = 0; k < plan->nlayout; k++) lgt_layout_mark(stores, plan->layout[k]);
  for (int g = 0; g < plan->ngroup; g++) mark_group(stores, &plan->group[g]);
}

static void mark_plans(lgt_stores *stores, const lgt_fuser *fuser) {
  for (uint32_t i = 0; i <= fuser->mask; i++) mark_plan(stores, fuser->table[i]);
  for (int i = 0; i < fuser->nretired; i++) mark_plan(stores, fuser->retired[i]);
  for (const lgt_plan *p = fuser->shifted; p; p = p->next_shifted) mark_plan(stores, p);
}

/* A history, and what it speaks of. */
static void mark_history(lgt_stores *stores, const lgt_history *history) {
  for (int i = 0; i < history->count; i++) mark_footprint(stores, history->event[i].what);
}

static void mark_image(lgt_stores *stores, const lgt_image *image) {
  mark_footprint(stores, image->key.source[0]);
  mark_footprint(stores, image->key.source[1]);
  mark_footprint(stores, image->key.whole);
  mark_footprint(stores, &image->what);
  mark_footprint(stores, image->written);
  for (int i = 0; i < 3; i++) lgt_layout_mark(stores, image->key.layout[i]);
  for (const lgt_image_moves *moves = image->moves; moves; moves = moves->next)
    mark_history(stores, moves->history);
}

static void mark_store(lgt_stores *stores, const lgt_store *store) {
  lgt_layout_mark(stores, store->layout);
  lgt_partition_mark(store->key);
  if (store->history) mark_history(stores, store->history);
  for (const lgt_image *image = store->images; image; image = image->next) mark_image(stores, image);
}

/* Histories are many where arrays are written through shifting views, and are swept by themselves then. */
static void sweep_histories(lgt_runtime *rt) {
  lgt_stores *stores = &rt->stores;
  for (uint32_t id = 1; id < stores->nstore; id++) {
    const lgt_store *store = &stores->store[id];
    if (store->history) lgt_history_mark(store->history);
    for (const lgt_image *image = store->images; image; image = image->next)
      for (const lgt_image_moves *moves = image->moves; moves; moves = moves->next)
        lgt_history_mark(moves->history);
  }
  lgt_moves_forget(&rt->binder);
  lgt_histories_sweep(&rt->map.histories);
}

/* ---- sweeping ------------------------------------------------------------------------------------------ */

/* How many bytes there are of what may be swept, about. */
static int64_t bytes_of(const lgt_runtime *rt) {
  const lgt_stores *stores = &rt->stores;
  int64_t layouts = stores->nlayout - 1 - stores->nfree_layout, footprints = rt->map.footprints.table.count;
  return layouts * LAYOUT + footprints * (int64_t)sizeof(lgt_footprint) +
         (int64_t)rt->partitions.table.count * (int64_t)sizeof(lgt_partition) + rt->fuser.calls * CALL;
}

/* So much is new that it is worth going through all there is. */
static bool is_time(const lgt_runtime *rt) {
  int64_t fresh = bytes_of(rt) - rt->swept;
  return rt->jitter ? fresh > LITTLE : fresh > MUCH && fresh > rt->room && fresh > rt->swept / 4;
}

/* Of what was made since the last sweep, was much swept before?  Then a turn of the program's loop needs more than there
 * was room for: there is twice as much from now on, as long as that is a small part of what arrays may take.  If nothing
 * was, the program goes on to other things. */
static void make_room(lgt_runtime *rt) {
  int64_t most = rt->map.pool->limit / SHARE, room = rt->room > MUCH ? rt->room : MUCH;
  if (rt->fuser.again > rt->fuser.made / 4) rt->room = 2 * room <= most ? 2 * room : room;
  else if (!rt->fuser.again) rt->room = room / 2;
  rt->fuser.again = rt->fuser.made = 0;
}

void lgt_sweep(lgt_runtime *rt) {
  lgt_stores *stores = &rt->stores;
  bool time = is_time(rt);
  if (time || lgt_histories_many(&rt->map.histories)) sweep_histories(rt);
  if (!time) return;
  make_room(rt);
  lgt_fuser_retire(&rt->fuser);
  lgt_tracer_sweep(&rt->tracer);
  for (uint32_t id = 1; id <= stores->max_handle; id++) lgt_layout_mark(stores, stores->handle[id].layout);
  for (uint32_t id = 1; id < stores->nstore; id++) {
    lgt_store *store = &stores->store[id];
    if (!store->layout) continue; /* nobody's */
    if (store->maker && store->maker->plan->retired) store->maker = NULL;
    if (store->housed && store->housed->plan->retired) store->housed = NULL;
    mark_store(stores, store);
  }
  lgt_fuser_sweep(&rt->fuser);
  for (int i = 0; i < rt->window.count; i++)
    for (int a = 0; a < rt->window.call[i].nargs; a++) lgt_layout_mark(stores, rt->window.call[i].layout[a]);
  mark_plans(stores, &rt->fuser);
  if (lgt_footprints_sweep(&rt->map.footprints)) { /* else they keep the others */
    lgt_partitions_sweep(&rt->partitions);
    uint32_t unused = stores->nfree_layout;
    lgt_layouts_sweep(stores);
    if (stores->nfree_layout > unused) lgt_fuser_forget_seen(&rt->fuser);
  }
  rt->swept = bytes_of(rt);
  lgt_log(WINDOW, 2, "swept: %lld bytes of plans and what they are made of are left", (long long)rt->swept);
}
