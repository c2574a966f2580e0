/* attempt.c - see attempt.h. */
#include "bind/attempt.h"

#include <stdio.h>
#include <string.h>

#include "move/acquire.h"
#include "move/evict.h"
#include "bind/fold.h"
#include "bind/point.h"
#include "bind/side.h"
#include "kernel/grid.h"
#include "memory/replica.h"
#include "move/message.h"
#include "move/poison.h"
#include "move/room.h"
#include "move/stale.h"

bool lgt_attempt_taints(const lgt_attempt *try, uint16_t root) {
  return try->poison && lgt_taint_of_root(&try->taint, root) != LGT_NONE;
}

static bool is_scalar(const lgt_attempt *try, int slot) {
  return lgt_layout_at(try->binder->stores, try->group->slot[slot].layout)->ndim == 0;
}

bool lgt_attempt_disturbs(const lgt_binder *binder, const lgt_plan_group *group, const uint32_t *root,
                          int slot, const lgt_instance *inst) {
  const lgt_plan_slot *s = &group->slot[slot];
  lgt_rect common;
  if (!s->written || (inst->owners < 2 && !inst->pins)) return false;
  if (inst->owners > 1 || s->changed.ndim < 0) return true;
  return lgt_rect_intersect(&inst->pinned, &s->changed, &common) || lgt_survey_may_fail(binder, group, root);
}

/* ---- instances for slots ------------------------------------------------------------------------------------ */

/* Keep an instance until the group is bound: settling one store may drop what another one gets. */
static void hold(lgt_attempt *try, int at, lgt_instance *inst) {
  try->inst[at] = inst ? lgt_instance_retain(inst) : NULL;
}

/* What a domain's colour overwrites of a slot; false: nothing for certain. */
static bool overwritten(const lgt_attempt *try, int s, int domain, lgt_rect *out) {
  if (!try->touched.spare) return lgt_survey_spare(try->binder, try->group, s, domain, out);
  *out = try->touched.spare[domain * try->group->nslot + s];
  return out->ndim >= 0;
}

/* What the group changes of each store, if recipes may keep the rest: nothing of what the group makes can fail, and poison all
 * of an instance.  What comes from elsewhere may. */
static void find_changed(lgt_attempt *try) {
  lgt_exchange *x = &try->exchange;
  const lgt_plan_group *group = try->group;
  x->changed = NULL;
  if (!try->binder->recipes || x->ready || x->split || group->turns || try->poison || try->lacks) return;
  if (lgt_exchange_gets(x) || lgt_survey_may_fail(try->binder, group, try->root)) return;
  lgt_rect *changed = lgt_arena_alloc(&try->binder->arena, ((size_t)x->nstore + 1) * sizeof *changed);
  for (int n = 0; changed && n < x->nstore; n++) changed[n].ndim = -1;
  for (int s = 0; changed && s < group->nslot; s++) {
    const lgt_plan_slot *slot = &group->slot[s];
    if (!slot->initial || !slot->written) continue;
    lgt_rect *of = &changed[group->notes->of_slot[s]], all;
    const lgt_layout *root = lgt_layout_at(try->binder->stores, slot->layout);
    all = lgt_rect_of_shape(root->ndim, root->shape);
    const lgt_rect *more = slot->changed.ndim < 0 ? &all : &slot->changed;
    *of = of->ndim < 0 ? *more : lgt_rect_bound(of, more);
  }
  x->changed = changed; /* NULL: all may change */
}

/* Instances for the slots that are there already, and for all that the group's calls read. */
static lgt_status prepare_initial(lgt_attempt *try) {
  const lgt_plan_group *group = try->group;
  for (int s = 0; s < group->nslot && !try->exchange.known; s++) {
    const lgt_plan_slot *slot = &group->slot[s];
    if (!slot->initial) continue;
    for (int d = 0; d < try->binder->map->local; d++) {
      lgt_rect spare;
      if (slot->written && overwritten(try, s, d, &spare))
        lgt_exchange_spare(&try->exchange, d, slot, &spare);
      int at = d * group->nslot + s;
      const lgt_rect *read = &try->touched.read[at], *write = &try->touched.write[at];
      if ((is_scalar(try, s) || try->touched.fold[s]) && d > 0) break;
      if (read->ndim >= 0) lgt_exchange_need(&try->exchange, d, slot, read);
      if (write->ndim >= 0) lgt_exchange_need(&try->exchange, d, slot, write);
    }
    lgt_exchange_margin(&try->exchange, s);
  }
  find_changed(try);
  lgt_room_keep(&try->exchange);
  try->exchange.known = true; /* another attempt finds it so: margins would grow */
  lgt_stale_give_back(&try->exchange);
  return lgt_exchange_acquire(&try->exchange);
}

/* A rescue reads what the recipe kept, perhaps of a group that ran on a device, and had less to do than the rescue: then
 * the host gets a copy. */
static lgt_status hold_kept(lgt_attempt *try, int s, int domain) {
  lgt_map *map = try->binder->map;
  const lgt_plan_slot *slot = &try->group->slot[s];
  lgt_instance *kept = try->source->inst[domain * (try->source->ninst / map->local) + slot->root];
  int at = domain * try->group->nslot + s;
  if (!kept || !try->host || lgt_instance_on_host(kept)) {
    hold(try, at, kept);
    return LGT_OK;
  }
  const lgt_layout *root = lgt_layout_at(try->binder->stores, slot->layout);
  lgt_copy copy =
      lgt_copy_of(kept, lgt_instance_in(map, map->memory, domain, root, &kept->rect), &kept->rect);
  try->inst[at] = copy.to;
  if (!copy.to) return LGT_NO_MEMORY;
  if (!lgt_rect_intersect(&kept->rect, &kept->pinned, &copy.rect)) return LGT_OK;
  return lgt_copy_submit(try->binder, &copy, 1);
}

static lgt_status hold_initial(lgt_attempt *try, int s, int domain) {
  if (try->source) return hold_kept(try, s, domain);
  int at = domain * try->group->nslot + s;
  hold(try, at, lgt_exchange_instance(&try->exchange, domain, s));
  return LGT_OK;
}

/* Where a renamed slot has the rest of its elements from; NULL: it has none. */
static lgt_instance *former(const lgt_attempt *try, int s, int domain) {
  uint16_t rest = try->group->slot[s].rest;
  return rest == LGT_NONE ? NULL : try->inst[domain * try->group->nslot + rest];
}

/* What several colours reduce into is the host's, if all ranks do (fold.h). */
static lgt_memory *memory_of(const lgt_attempt *try, int s, int domain) {
  bool among_ranks = try->binder->peers && try->touched.fold && try->touched.fold[s];
  return try->host || among_ranks ? try->binder->map->memory : lgt_map_home(try->binder->map, domain);
}

/* Does the group write, in a domain, the memory that a renamed slot had before? */
static bool writes_former(const lgt_attempt *try, int s, int domain) {
  int n = try->group->nslot, rest = try->group->slot[s].rest;
  return former(try, s, domain) && try->touched.write[domain * n + rest].ndim >= 0;
}

static lgt_status new_instance(lgt_attempt *try, int s, int domain, const lgt_rect *rect,
                               const lgt_rect *made_for) {
  int at = domain * try->group->nslot + s;
  const lgt_layout *root = lgt_layout_at(try->binder->stores, try->group->slot[s].layout);
  try->inst[at] = lgt_instance_in(try->binder->map, memory_of(try, s, domain), domain, root, rect);
  if (!try->inst[at]) return LGT_NO_MEMORY;
  try->inst[at]->made_for = *made_for;
  return LGT_OK;
}

/* What the domain touches of a new slot; false: nothing. */
static bool touched_of_new(const lgt_attempt *try, int at, lgt_rect *out) {
  const lgt_rect *read = &try->touched.read[at], *write = &try->touched.write[at];
  if (read->ndim < 0 && write->ndim < 0) return false;
  *out = read->ndim < 0 ? *write : write->ndim < 0 ? *read : lgt_rect_bound(read, write);
  return true;
}

/* Is what the group reads of a store all that anybody will read of it, and has it not failed? */
static bool is_last_use(const lgt_attempt *try, uint16_t root) {
  const lgt_plan_group *group = try->group;
  const lgt_store *store = lgt_attempt_store(try, root);
  int uses = 0;
  if (lgt_store_reachable(store) || store->attached || store->home) return false;
  for (int i = group->first; i < group->first + group->count; i++)
    for (int a = 0; a < group->plan->call[i].nargs; a++) uses += group->plan->call[i].root[a] == root;
  return store->uses == uses && !lgt_poison_of(try->binder, store);
}

/* Nobody else wants what is in the instance that a new slot may take: then it may be overwritten. */
static bool may_take(const lgt_attempt *try, int s, int domain) {
  const lgt_plan_slot *slot = &try->group->slot[s], *old = &try->group->slot[slot->takes];
  const lgt_instance *inst = try->inst[domain * try->group->nslot + slot->takes];
  return !try->source && inst->owners == 1 && inst->pins == 0 && !lgt_slots_have(try->kept, slot->takes) &&
         (old->root == slot->root || (!inst->failure && is_last_use(try, old->root)));
}

/* ... in a domain, if that has tiles, and all that it touches of the new slot is there? */
static bool may_take_tile(const lgt_attempt *try, int s, int domain, const lgt_rect *touched) {
  const lgt_instance *old = former(try, s, domain);
  return try->group->slot[s].takes != LGT_NONE && !try->poison && !old->thin &&
         old->memory == memory_of(try, s, domain) && lgt_rect_contains(&old->rect, touched) &&
         may_take(try, s, domain);
}

static lgt_status make_new(lgt_attempt *try, int s, int domain) {
  int at = domain * try->group->nslot + s;
  const lgt_layout *root = lgt_layout_at(try->binder->stores, try->group->slot[s].layout);
  lgt_rect rect = lgt_rect_of_shape(root->ndim, root->shape), made_for = rect, touched;
  int64_t waste = 0;
  if (!lgt_map_whole(try->binder->map)) {
    lgt_instance *old = former(try, s, domain);
    if (touched_of_new(try, at, &touched)) {
      if (old && may_take_tile(try, s, domain, &touched)) {
        hold(try, at, old);
        old->made_for = lgt_rect_bound(&old->made_for, &touched);
        return LGT_OK;
      }
      made_for = old ? lgt_rect_bound(&old->made_for, &touched) : touched;
      rect = lgt_acquire_margin(try->group, s, &made_for, root);
      if (!old) rect = lgt_acquire_spacious(try->binder, &rect, root);
      if (old && lgt_rect_contains(&old->rect, &rect)) { /* as mostly */
        rect = old->rect;
        waste = old->waste;
      } else if (old) { /* with all that is valid there: it has a halo of its own */
        waste = old->waste;
        lgt_rect_near(&old->rect, &touched, &waste);
        rect = lgt_rect_bound(&rect, &old->rect);
      }
    } else if (writes_former(try, s, domain)) {
      rect = old->rect;
      made_for = old->made_for;
      waste = old->waste;
    } else { /* others write: what was there is what will be */
      hold(try, at, old);
      return LGT_OK;
    }
  }
  lgt_status status = new_instance(try, s, domain, &rect, &made_for);
  if (!status) try->inst[at]->waste = waste;
  return status;
}

/* Does each task compute a new number for itself (cells.h)? */
static bool is_repeated(const lgt_attempt *try, int slot) {
  return try->group->mixed && !try->group->slot[slot].initial && !try->touched.fold[slot];
}

/* No domain has memory for a slot if one lacks it. */
static void go_without(lgt_attempt *try, int s) {
  for (int at = s; at < try->group->nslot * try->binder->map->local; at += try->group->nslot) {
    lgt_instance_release(try->binder->map, try->inst[at]);
    try->inst[at] = NULL;
  }
  try->lacks[s] = true;
}

/* What a call touches in a local domain through an argument, if that is one tile. */
static bool touched_by(const lgt_attempt *try, const lgt_plan_call *call, int arg, int domain,
                       lgt_rect *out) {
  const lgt_layout *layout = lgt_layout_at(try->binder->stores, call->layout[arg]);
  int colour = lgt_binder_next(try->binder, call->launch, domain, -1);
  if (colour < 0 || call->launch->kind == LGT_PARTITION_NONE) return false;
  lgt_rect tile = lgt_partition_rect(call->wide, colour);
  lgt_rect view = lgt_space_view_rect(layout, &call->space.align[arg], &tile);
  *out = lgt_layout_root_rect(layout, &view);
  return !lgt_rect_empty(out);
}

/* A tile of a slot shall have room for more, in each dimension in which that is at most such a share of the tile. */
enum { THIN = 16, ANY = 0 };
static void note_more(const lgt_attempt *try, int s, const lgt_rect *had, const lgt_rect *want, int share,
                      lgt_plan_notes *notes) {
  for (int k = 0; k < had->ndim; k++) {
    int64_t below = had->lo[k] - want->lo[k], above = want->hi[k] - had->hi[k],
            most = share == ANY ? INT64_MAX : (had->hi[k] - had->lo[k]) / share;
    if (below > most || above > most || (below <= 0 && above <= 0)) continue;
    if (!notes->halo) notes->halo = lgt_mem_zalloc((size_t)try->group->nslot * sizeof *notes->halo);
    if (!notes->halo) return; /* tiles have to grow */
    notes->halos++;
    if (below > notes->halo[s].below[k]) notes->halo[s].below[k] = below;
    if (above > notes->halo[s].above[k]) notes->halo[s].above[k] = above;
  }
}

/* Of margins the next windows, which have more turns, want as much again, or more. */
static int64_t margin_to_come(const lgt_rect *tile, int d, int64_t margin) {
  enum { LITTLE = 64 }; /* a share of the tile */
  int64_t little = (tile->hi[d] - tile->lo[d]) / LITTLE;
  return margin <= 0 ? 0 : margin > little ? margin : little;
}

/* What arrays of a slot's layout were found to need around their tiles; `named`: because data has named it. */
static bool habit_of(const lgt_attempt *try, int s, const lgt_rect *had, bool named, lgt_rect *want) {
  uint32_t layout = try->group->slot[s].layout;
  const lgt_habit *habit = &try->binder->habit[layout % LGT_HABITS];
  const lgt_layout *root = lgt_layout_at(try->binder->stores, layout);
  if (habit->layout != layout || had->ndim < 1) return false;
  const lgt_halo *halo = named ? &habit->named : &habit->halo;
  *want = lgt_rect_grown(had, halo->below, halo->above, root->shape);
  return true;
}

/* Does data name the elements that a call reads through an argument? */
static bool is_named(const lgt_plan_call *call, int arg) {
  const lgt_constraint_set *set = call->kind->constraints;
  bool named = false;
  for (int i = 0; set && i < set->nimage; i++) named |= set->image[i].arg == arg;
  return named && !lgt_kind_writes(call->kind, arg);
}

/* A later group of the plan touches more around the tiles of a slot, which hold a root: a thin halo gets room at once.  So does
 * what data may name, as much as it has named so far of arrays like this one: else the tile would be copied to where both have
 * room. */
static void foresee_halo(const lgt_attempt *try, int s, const lgt_plan_call *call, int arg,
                         lgt_plan_notes *notes) {
  for (int d = 0; d < try->binder->map->local; d++) {
    const lgt_rect *had = &try->touched.write[d * try->group->nslot + s];
    lgt_rect want;
    if (had->ndim < 1 || !touched_by(try, call, arg, d, &want)) continue;
    if (is_named(call, arg) && habit_of(try, s, had, true, &want)) {
      note_more(try, s, had, &want, ANY, notes);
      continue;
    }
    note_more(try, s, had, &want, THIN, notes);
    if (call->wide == call->launch) continue;
    for (int k = 0; k < had->ndim; k++) {
      want.lo[k] -= margin_to_come(had, k, had->lo[k] - want.lo[k]);
      want.hi[k] += margin_to_come(had, k, want.hi[k] - had->hi[k]);
    }
    note_more(try, s, had, &want, THIN, notes);
  }
}

/* The group is new.  Tiles of what it makes may need the halos that other arrays of this layout did, if these are thin. */
static void guess_halo(const lgt_attempt *try, int s, lgt_plan_notes *notes) {
  lgt_rect want;
  for (int d = 0; d < try->binder->map->local; d++) {
    const lgt_rect *had = &try->touched.write[d * try->group->nslot + s];
    if (habit_of(try, s, had, false, &want)) note_more(try, s, had, &want, THIN, notes);
  }
}

/* Does the group leave a root in memory of its own? */
static bool leaves_new(const lgt_plan_group *group, uint16_t root) {
  for (int f = 0; f < group->nfinal; f++)
    if (group->slot_of_final[2 * f] == root) return !group->slot[group->slot_of_final[2 * f + 1]].initial;
  return false;
}

/* What a root that ends in a slot will need.  The groups that work on what this one leaves are those up to the next one that
 * leaves something else. */
static void foresee(const lgt_attempt *try, uint16_t root, int s, lgt_plan_notes *notes) {
  const lgt_plan *plan = try->group->plan;
  bool over = &plan->group[plan->root[root].last_group] == try->group;
  for (const lgt_plan_group *g = try->group + 1; g < plan->group + plan->ngroup && !over; g++) {
    for (int i = g->first; i < g->first + g->count; i++)
      for (int a = 0; a < plan->call[i].nargs; a++)
        if (plan->call[i].root[a] == root) foresee_halo(try, s, &plan->call[i], a, notes);
    over = leaves_new(g, root);
  }
}

static void foresee_halos(const lgt_attempt *try) {
  const lgt_plan_group *group = try->group;
  lgt_plan_notes *notes = lgt_plan_group_lasting(group)->notes;
  if (notes->foreseen || lgt_map_whole(try->binder->map)) return;
  notes->foreseen = true;
  for (int f = 0; f < group->nfinal; f++) {
    int s = group->slot_of_final[2 * f + 1];
    if (group->slot[s].initial) continue;
    guess_halo(try, s, notes);
    foresee(try, group->slot_of_final[2 * f], s, notes);
  }
  for (int s = 0; s < group->nslot; s++) { /* in place, where there may be nothing yet */
    const lgt_plan_slot *slot = &group->slot[s];
    if (!slot->initial || !slot->written) continue;
    if (group == &group->plan->group[group->plan->root[slot->root].first_group]) guess_halo(try, s, notes);
    foresee(try, slot->root, s, notes);
  }
}

/* How a slot comes to its instance in a domain. */
typedef enum fit {
  FIT_NONE,  /* it has none */
  FIT_FIRST, /* the first domain's */
  FIT_INITIAL,
  FIT_NEW,
  FIT_NEW_RECT /* NEW, with a rect that is known */
} fit;

static fit fit_of(const lgt_attempt *try, int s, int domain) {
  if (is_scalar(try, s) && domain > 0 && !is_repeated(try, s)) return FIT_FIRST;
  if (try->touched.fold[s] && domain > 0) return FIT_NONE; /* results meet in the first one */
  return try->group->slot[s].initial ? FIT_INITIAL : FIT_NEW;
}

/* How all slots do, by local domain * nslot + slot: as long as no halo is learned that is always the same. */
typedef struct fitting {
  int halos; /* of the notes, when it was found out */
  lgt_rect *touched, *rect;
  uint8_t *how;
} fitting;

/* NULL: it is not worth it, or there is no memory. */
static const fitting *make_fitting(const lgt_attempt *try) {
  const lgt_plan_group *group = try->group;
  int n = group->nslot * try->binder->map->local;
  lgt_mem_free(group->notes->fitting);
  fitting *f = group->notes->fitting = lgt_mem_alloc(sizeof *f + (size_t)n * (2 * sizeof *f->rect + 1));
  if (!f) return NULL;
  f->halos = group->notes->halos;
  f->touched = (lgt_rect *)(f + 1);
  f->rect = f->touched + n;
  f->how = (uint8_t *)(f->rect + n);
  for (int at = 0; at < n; at++) {
    int s = at % group->nslot;
    f->how[at] = (uint8_t)fit_of(try, s, at / group->nslot);
    if (f->how[at] != FIT_NEW || group->slot[s].rest != LGT_NONE) continue;
    const lgt_layout *root = lgt_layout_at(try->binder->stores, group->slot[s].layout);
    f->how[at] = touched_of_new(try, at, &f->touched[at]) ? FIT_NEW_RECT : FIT_NONE;
    if (f->how[at] != FIT_NEW_RECT) continue;
    f->rect[at] = lgt_acquire_margin(group, s, &f->touched[at], root);
    f->rect[at] = lgt_acquire_spacious(try->binder, &f->rect[at], root);
  }
  return f;
}

static const fitting *find_fitting(const lgt_attempt *try) {
  const lgt_plan_notes *notes = try->group->notes;
  const fitting *f = notes->fitting;
  if (try->source || !notes->survey || try->group->plan->origin) return NULL; /* a shifted plan runs once */
  return f && f->halos == notes->halos && !try->binder->check ? f : make_fitting(try);
}

static lgt_status fit_slot(lgt_attempt *try, const fitting *f, int s, int d) {
  int at = d * try->group->nslot + s;
  switch (f ? (fit)f->how[at] : fit_of(try, s, d)) {
    case FIT_NONE:
      return LGT_OK;
    case FIT_FIRST:
      hold(try, at, try->inst[s]);
      return LGT_OK;
    case FIT_INITIAL:
      return hold_initial(try, s, d);
    case FIT_NEW:
      return make_new(try, s, d);
    case FIT_NEW_RECT:
      return new_instance(try, s, d, &f->rect[at], &f->touched[at]);
  }
  return LGT_OK;
}

static lgt_status acquire_slots(lgt_attempt *try) {
  int n = try->group->nslot;
  if (!try->source) foresee_halos(try);
  lgt_status status = try->source ? LGT_OK : prepare_initial(try);
  const fitting *f = status ? NULL : find_fitting(try); /* what has just been learned counts */
  for (int d = 0; d < try->binder->map->local && !status; d++)
    for (int s = 0; s < n && !status; s++) {
      if (try->lacks && try->lacks[s]) continue;
      status = fit_slot(try, f, s, d);
      if (status != LGT_NO_MEMORY || !try->lacks || try->group->slot[s].initial) continue;
      go_without(try, s);
      status = LGT_OK;
    }
  return status;
}

/* A root's memory with what is in it. */
static lgt_status acquire_there(lgt_attempt *try, int s) {
  const lgt_plan_slot *slot = &try->group->slot[s];
  lgt_store *store = lgt_attempt_store(try, slot->root);
  lgt_instance *inst = store->replica ? store->replica[0].inst : NULL;
  bool keep = slot->saved != LGT_NONE && lgt_slots_have(try->kept, slot->saved);
  lgt_memory *memory = memory_of(try, s, 0);
  bool there = inst && inst->memory == memory && !store->replica[0].naside;
  if (there && !keep && !lgt_attempt_disturbs(try->binder, try->group, try->root, s, inst)) {
    hold(try, s, inst);
    return LGT_OK;
  }
  const lgt_layout *root = lgt_layout_at(try->binder->stores, slot->layout);
  lgt_rect all = lgt_rect_of_shape(root->ndim, root->shape);
  if (keep && !there) { /* nothing was written yet, or elsewhere: even that stays as it is */
    lgt_status status = lgt_acquire(try->binder, store, 0, memory, &all, LGT_USE_READ, NULL, NULL);
    if (status) return status;
    inst = store->replica[0].inst;
  }
  if (keep) {
    hold(try, slot->saved, inst);
    lgt_instance_pin(try->binder->map, inst, &all); /* the group goes on in a copy */
  }
  lgt_status status =
      lgt_acquire(try->binder, store, 0, memory, &all, slot->written ? LGT_USE_WRITE : LGT_USE_READ,
                  slot->defined ? &all : NULL, NULL);
  if (keep) lgt_instance_unpin(try->binder->map, inst);
  if (!status) hold(try, s, store->replica[0].inst);
  return status;
}

/* Bytes of the new slots, but for those that have the memory of another one already. */
static int64_t bytes_wanted(const lgt_attempt *try) {
  int64_t bytes = 0;
  for (int s = 0; s < try->group->nslot; s++) {
    const lgt_plan_slot *slot = &try->group->slot[s];
    bool taken = slot->takes != LGT_NONE && try->inst[s] && try->inst[s] == try->inst[slot->takes];
    if (!slot->initial && !slot->idle && !taken)
      bytes += lgt_layout_bytes(lgt_layout_at(try->binder->stores, slot->layout));
  }
  return bytes;
}

/* With one domain all of the above comes down to this. */
static lgt_status acquire_whole(lgt_attempt *try) {
  lgt_status status = LGT_OK;
  for (int s = 0; s < try->group->nslot && !status; s++) {
    const lgt_plan_slot *slot = &try->group->slot[s];
    if (slot->idle) continue;
    if (slot->former) continue; /* held with what goes on from there, if at all */
    if (!slot->initial && slot->takes != LGT_NONE && may_take(try, s, 0)) {
      hold(try, s, try->inst[slot->takes]);
    } else if (!slot->initial) {
      status = make_new(try, s, 0);
    } else if (try->source) {
      status = hold_kept(try, s, 0);
    } else {
      status = acquire_there(try, s);
    }
  }
  if (status == LGT_NO_MEMORY) try->wanted = bytes_wanted(try);
  return status;
}

/* ---- on the host, or on devices ----------------------------------------------------------------------------- */

/* May a loop be launched on a device of many threads?  That depends on which strides are 0 and which extents are 1: with
 * several domains as in the whole space. */
static bool may_launch(const lgt_attempt *try, const lgt_plan_loop *loop) {
  const lgt_loop *code = loop->kernel->loop;
  if (lgt_map_whole(try->binder->map)) return !lgt_grid_check(code, &loop->shape);
  lgt_nest_shape shape = {.ndim = loop->ndim};
  shape.stride =
      lgt_arena_alloc(&try->binder->arena, ((size_t)code->naccess + 1) * LGT_MAX_DIM * sizeof *shape.stride);
  if (!shape.stride) return lgt_no_memory_to_launch(), false;
  for (int d = 0; d < loop->ndim; d++) shape.extent[d] = loop->extent[loop->dim[d]];
  for (int a = 0; a < code->naccess; a++)
    for (int d = 0; d < loop->ndim; d++)
      shape.stride[a * LGT_MAX_DIM + d] = loop->access[a].stride[loop->dim[d]];
  return !lgt_grid_check(code, &shape);
}

/* Is there code for the devices?  Why not: the message. */
static bool has_code(const lgt_attempt *try) {
  const lgt_plan_group *group = try->group;
  lgt_kernels *kernels = try->binder->fuser->kernels;
  if (!try->binder->map->memory[1].device->target) return true; /* they run the host's */
  for (int l = 0; l < group->nloop; l++) lgt_kernel_prepare(kernels, group->loop[l].kernel);
  for (int l = 0; l < group->nloop; l++)
    if (!lgt_kernel_loaded(kernels, group->loop[l].kernel)) return false;
  return !try->touched.fold || lgt_fold_loaded(try->binder, group, try->touched.fold);
}

/* May the devices be launched with the group's loops?  That is so for all runs, or for none. */
static bool may_launch_all(const lgt_attempt *try) {
  lgt_plan_notes *notes = try->group->notes;
  if (notes->on_grid || !try->binder->map->memory[1].device->target) return true;
  for (int l = 0; l < try->group->nloop; l++)
    if (!may_launch(try, &try->group->loop[l])) return false;
  return notes->on_grid = true;
}

/* Does the slot hold results that reach several domains' work, but exist once on a rank?  What several colours reduce into meets
 * on a device (fold.h), but what it held before is the host's, where ranks fold. */
static bool is_shared(const lgt_attempt *try, int s) {
  const lgt_plan_group *group = try->group;
  bool fold = try->touched.fold && try->touched.fold[s],
       written = group->slot[s].written || !group->slot[s].initial;
  if (fold) return group->slot[s].initial && (try->binder->peers || try->source);
  return is_scalar(try, s) && written && !lgt_domain_alone(try->binder->map->local) &&
         group->launch->kind != LGT_PARTITION_NONE && !is_repeated(try, s);
}

/* Why the group must run on the host, whose functions calls of C are, and where memory lies that the host program attached
 * (devices read copies of it).  NULL: it need not. */
static const char *must_be_host(const lgt_attempt *try) {
  const lgt_plan_group *group = try->group;
  if (group->nnative) return "it has no variant for devices";
  if (try->crowded) return "devices lack memory for it";
  for (int s = 0; s < group->nslot; s++) {
    if (is_shared(try, s)) return "several devices change one number";
    if (!group->slot[s].written || !group->slot[s].initial || try->source) continue;
    const lgt_store *store = lgt_attempt_store(try, group->slot[s].root);
    if (store->attached && !store->home) return "it writes memory of the host program";
  }
  return may_launch_all(try) ? NULL : lgt_message();
}

static const char *why_on_host(lgt_attempt *try) {
  const char *why = must_be_host(try);
  if (!why && try->binder->side.by_estimate && !try->source) why = lgt_side_choose(try);
  if (why) return why;
  return has_code(try) ? NULL : lgt_message();
}

/* The call for whose sake the group runs on the host: the first one that has no variant for devices. */
static const lgt_kind *host_kind(const lgt_plan_group *group) {
  for (int i = group->first; i < group->first + group->count; i++)
    if (lgt_kind_native(group->plan->call[i].kind)) return group->plan->call[i].kind;
  return group->plan->call[group->first].kind;
}

/* For lgt_explain.  Without memory it says less. */
static void note_host(const lgt_attempt *try, const char *why) {
  lgt_plan_notes *notes = lgt_plan_group_lasting(try->group)->notes;
  const char *name = host_kind(try->group)->name, *had = notes->on_host;
  if (why && had && !strncmp(had, name, strlen(name)) && !strcmp(had + strlen(name) + 2, why)) return;
  lgt_mem_free(notes->on_host);
  notes->on_host = NULL;
  if (!why) return;
  size_t size = strlen(name) + strlen(why) + 3;
  notes->on_host = lgt_mem_alloc(size);
  if (notes->on_host) snprintf(notes->on_host, size, "%s: %s", name, why);
}

/* A rescue runs where its recipe's instances are, if it may. */
static lgt_status choose_side(lgt_attempt *try) {
  lgt_binder *binder = try->binder;
  bool there = !try->source; /* may be on devices, or must be */
  try->host = try->exchange.host = true;
  if (binder->map->nmemory == 1) return LGT_OK;
  for (int i = 0; try->source && i < try->source->ninst; i++)
    there |= try->source->inst[i] && !lgt_instance_on_host(try->source->inst[i]);
  if (!there) return lgt_plan_want_code(try->binder->fuser, try->group), LGT_OK;
  const char *why = why_on_host(try);
  try->host = try->exchange.host = why != NULL;
  if (!try->source) note_host(try, why);
  if (why && binder->strict)
    return lgt_err(LGT_UNSUPPORTED, "'%s' would run on the host, which --gpu-strict forbids: %s",
                   host_kind(try->group)->name, why);
  if (why) {
    lgt_log(MAP, 3, "'%s' runs on the host: %s", host_kind(try->group)->name, why);
    lgt_plan_want_code(try->binder->fuser, try->group);
  }
  return LGT_OK;
}

/* The group with what the attempt has for it. */
static lgt_bound bound_of(const lgt_attempt *try) {
  return (lgt_bound){.group = try->group,
                     .inst = try->inst,
                     .param = try->param,
                     .fold = try->touched.fold,
                     .where = try->where,
                     .last = try->last,
                     .lacks = try->lacks,
                     .away = !try->host,
                     .points = try->pointed ? &try->points : NULL};
}

/* With `lacks`, a new slot whose points lack memory goes without. */
static lgt_status acquire_points(lgt_attempt *try) {
  if (!lgt_points_needed(try->group)) return LGT_OK;
  lgt_bound bound = bound_of(try);
  try->pointed = true;
  for (;;) {
    lgt_status status = lgt_points_acquire(try->binder, &bound, &try->points);
    int lacks = try->points.lacks;
    if (status != LGT_NO_MEMORY || !try->lacks || lacks < 0 || try->group->slot[lacks].initial) return status;
    lgt_points_release(try->binder->map, try->group, &try->points);
    go_without(try, lacks);
  }
}

lgt_status lgt_attempt_acquire(lgt_attempt *try) {
  const lgt_plan_group *group = try->group;
  bool many = !lgt_map_whole(try->binder->map);
  size_t n = (size_t)group->nslot * (size_t)try->binder->map->local + 1;
  try->inst = lgt_arena_alloc(&try->binder->arena, n * sizeof *try->inst);
  for (int m = 1; m < try->binder->map->nmemory; m++) try->binder->map->memory[m].pool->lacked = 0;
  if (!try->inst || (many && !lgt_survey(try->binder, group, &try->touched)))
    return lgt_no_memory_to_launch();
  lgt_status status = choose_side(try);
  if (status) return status;
  if (!many) return acquire_whole(try);
  status = acquire_slots(try);
  return status ? status : acquire_points(try);
}

lgt_status lgt_attempt_acquire_part(lgt_attempt *try) {
  try->lacks = lgt_arena_alloc(&try->binder->arena, (size_t)try->group->nslot + 1);
  return try->lacks ? lgt_attempt_acquire(try) : lgt_no_memory_to_launch();
}

void lgt_attempt_release(lgt_attempt *try) {
  for (int i = 0; try->inst && i < try->group->nslot * try->binder->map->local; i++)
    lgt_instance_release(try->binder->map, try->inst[i]);
  try->inst = NULL;
  if (try->pointed) lgt_points_release(try->binder->map, try->group, &try->points);
  try->pointed = false;
}

/* Ways to get memory: each is tried once those before it help no more. */
enum {
  WAIT,       /* for tasks in flight */
  EVICT,      /* what is in a device's memory, and nobody needs there now: as often as that helps */
  EVICT_ALL,  /* blocks of other sizes may be in the way */
  GO_TO_HOST, /* where the group runs then */
  NONE
};

bool lgt_attempt_make_room(lgt_attempt *try, bool last) {
  lgt_binder *binder = try->binder;
  lgt_attempt_release(try);
  if (try->ways == WAIT) {
    try->ways = EVICT;
    if (binder->njob) return lgt_job_retire(binder, true), true;
  }
  if (binder->map->nmemory == 1) return false;
  if (try->ways == EVICT) {
    if (lgt_evict_garbage(binder)) return false;
    if (lgt_evict(binder)) return true;
    try->ways = EVICT_ALL;
  }
  if (try->ways == EVICT_ALL) {
    try->ways = GO_TO_HOST;
    if (!lgt_evict_all(binder)) return true;
  }
  if (try->ways == NONE || !last || try->host || binder->strict) return false;
  try->ways = NONE;
  return try->crowded = true;
}

/* ---- running it, and afterwards ------------------------------------------------------------------------------ */

/* What a renamed slot of a domain has from the former memory of its root. */
static lgt_status copy_rest(lgt_attempt *try, int s, int domain) {
  lgt_instance *from = former(try, s, domain), *to = try->inst[domain * try->group->nslot + s];
  lgt_rect piece[2 * LGT_MAX_DIM], written;
  lgt_copy copies[2 * LGT_MAX_DIM];
  if (!from || !to || from == to) return LGT_OK;
  /* What has failed, and is overwritten in the end, must not fail the rest of the instance. */
  if (try->poison && try->poison[try->group->slot[s].rest] && lgt_taint_of_slot(&try->taint, s) == LGT_NONE)
    return LGT_OK;
  int n = 1;
  piece[0] = from->rect;
  if (overwritten(try, s, domain, &written)) n = lgt_rect_subtract(&from->rect, &written, piece);
  for (int i = 0; i < n; i++) copies[i] = lgt_copy_of(from, to, &piece[i]);
  return n ? lgt_copy_submit(try->binder, copies, n) : LGT_OK;
}

/* Where a group runs although it might elsewhere, and why. */
static void report_side(const lgt_attempt *try) {
  if (try->binder->map->nmemory == 1 || try->source) return;
  const char *why = lgt_plan_group_lasting(try->group)->notes->on_host;
  const lgt_estimate *e = &try->estimate;
  lgt_label label = {.category = try->host ? "on the host" : "on a device",
                     .name = try->host && why ? why : host_kind(try->group)->name,
                     .line = try->where};
  lgt_profile_mark(try->binder->profile, &label, "\"host_us\":%.1f,\"device_us\":%.1f,\"copies_us\":%.1f",
                   1e6 * (e->host + e->down), 1e6 * (e->device + e->up), 1e6 * (e->down + e->up));
}

lgt_status lgt_attempt_run_ahead(lgt_attempt *try, const lgt_portion *ahead) {
  try->points.ahead = ahead;
  lgt_bound bound = bound_of(try);
  bound.fallible = true;
  return lgt_bound_run_ahead(try->binder, &bound);
}

lgt_status lgt_attempt_run(lgt_attempt *try) {
  lgt_status status = LGT_OK;
  for (int s = 0; s < try->group->nslot && !status; s++)
    for (int d = 0; d < try->binder->map->local && !status && try->group->slot[s].rest != LGT_NONE; d++)
      status = copy_rest(try, s, d);
  if (status && try->binder->peers) try->binder->peers->abort(try->binder->peers, lgt_message());
  if (status) return status;
  if (try->host && try->binder->map->nmemory > 1) try->binder->host_groups++;
  lgt_side_count(try);
  if (try->binder->profile) report_side(try);
  lgt_bound bound = bound_of(try);
  bound.fallible =
      try->source || try->poison || try->lacks || lgt_survey_may_fail(try->binder, try->group, try->root);
  /* One call runs if it overwrites all that has failed. */
  if (try->group->count > 1) bound.poison = try->poison;
  return lgt_bound_run(try->binder, &bound);
}

lgt_status lgt_attempt_settle(lgt_attempt *try, lgt_store *store, int s) {
  lgt_map *map = try->binder->map;
  int n = try->group->nslot;
  if (!lgt_store_replicas(map, store)) return lgt_no_memory_to_launch();
  for (int d = 0; d < map->local; d++) {
    lgt_instance *inst = is_scalar(try, s) && d > 0 ? NULL : try->inst[d * n + s];
    lgt_replica *replica = &store->replica[d];
    if (inst && replica->naside && lgt_map_whole(map))
      lgt_replica_drop_asides(map, replica); /* of former contents */
    if (!inst || inst == replica->inst) continue;
    const lgt_instance *rest = try->group->slot[s].rest == LGT_NONE ? NULL : former(try, s, d);
    lgt_rect had = rest ? rest->rect : inst->rect;
    /* What it takes the place of may have been put aside for another part of the root. */
    for (int k = 0; rest && rest != replica->inst && k < replica->naside; k++)
      if (replica->aside[k].inst == rest) lgt_replica_turn(replica, k);
    lgt_replica_set(map, replica, lgt_instance_retain(inst));
    /* What a recipe kept may be older than what its owner is now. */
    if (inst->owners == 2) inst->alike = try->source ? LGT_ALIKE_NEVER : LGT_ALIKE_SOON;
    if (replica->naside && !lgt_replica_changed(replica, rest ? &had : NULL))
      return lgt_no_memory_to_launch();
  }
  return LGT_OK;
}
