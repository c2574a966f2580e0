/* survey.c - see survey.h. */
#include "bind/survey.h"

#include <string.h>

#include "move/exchange.h"
#include "move/image.h"
#include "plan/weave.h"

/* What lgt_survey was given. */
typedef struct survey {
  lgt_binder *binder;
  const lgt_plan_group *group;
  lgt_rect *read, *write, *spare;
  bool *fold;
} survey;

/* The root rect that one access touches for one tile of the launch's space. */
static lgt_rect access_rect(const survey *s, const lgt_plan_access *access, int mode, const lgt_rect *tile) {
  const lgt_layout *layout = lgt_layout_at(s->binder->stores, access->layout);
  lgt_alignment align = lgt_group_align(s->group, access);
  lgt_rect view = lgt_space_view_rect(layout, &align, tile);
  return mode == LGT_ACCESS_REDUCE ? lgt_layout_target_rect(layout, view)
                                   : lgt_layout_root_rect(layout, &view);
}

static int access_count(const lgt_plan_loop *loop) { return loop->kernel ? loop->kernel->loop->naccess : 0; }
static int access_mode(const lgt_plan_loop *loop, int a) { return loop->kernel->loop->access[a].mode; }

static void bound_into(lgt_rect *rect, const lgt_rect *more) {
  *rect = rect->ndim < 0 ? *more : lgt_rect_bound(rect, more);
}

/* A rect of a slot is written, or read, or both. */
static void note(survey *s, const lgt_plan_access *access, int domain, const lgt_rect *rect, bool writes,
                 bool reads) {
  int at = domain * s->group->nslot + access->slot;
  bool exact = lgt_layout_exact(lgt_layout_at(s->binder->stores, access->layout));
  if (writes) bound_into(&s->write[at], rect);
  if (reads || !writes || !exact) bound_into(&s->read[at], rect);
}

static void survey_native(survey *s, const lgt_plan_native *native, int domain, int colour,
                          const lgt_rect *tile) {
  for (int a = 0; a < native->kind->nargs; a++) {
    const lgt_plan_access *access = &native->access[a];
    if (access->slot == LGT_NONE) continue;
    const lgt_touch *touch = lgt_touch_of(s->group, access);
    lgt_selected selected = touch ? lgt_touch_selected(s->binder, s->group, touch) : (lgt_selected){0};
    lgt_rect rect = access_rect(s, access, LGT_ACCESS_LOAD, tile);
    if (selected.image)
      rect = lgt_footprint_rect(&s->binder->map->footprints, selected.what, s->binder->map->first + domain,
                                colour);
    int privilege = native->kind->privilege[a];
    note(s, access, domain, &rect, privilege & LGT_PRIV_WRITE, privilege & LGT_PRIV_READ);
  }
}

/* What one loop touches for a colour. */
static void survey_loop(survey *s, const lgt_plan_loop *loop, int domain, int colour) {
  const lgt_plan_group *group = s->group;
  lgt_rect tile = lgt_group_tile(group, loop, colour);
  if (lgt_rect_empty(&tile) && group->launch->ncolour > 1) return;
  for (int i = 0; i < loop->nnative; i++) survey_native(s, &loop->native[i], domain, colour, &tile);
  for (int a = 0; a < access_count(loop); a++) {
    const lgt_plan_access *access = &loop->access[a];
    if (access->slot == LGT_NONE) continue;
    int mode = access_mode(loop, a);
    lgt_rect rect = access_rect(s, access, mode, &tile);
    bool adds = mode == LGT_ACCESS_REDUCE && group->slot[access->slot].read; /* to the former contents */
    note(s, access, domain, &rect, mode != LGT_ACCESS_LOAD, adds);
  }
}

/* Slots into which several colours reduce: each rank has them whole, in its first domain. */
static void survey_folds(survey *s) {
  const lgt_plan_group *group = s->group;
  for (int l = 0; l < group->nloop; l++) {
    const lgt_plan_loop *loop = &group->loop[l];
    lgt_rect whole = lgt_rect_of_shape(loop->space_ndim, loop->extent);
    for (int a = 0; a < access_count(loop); a++) {
      const lgt_plan_access *access = &loop->access[a];
      if (access->slot == LGT_NONE || access_mode(loop, a) != LGT_ACCESS_REDUCE ||
          !lgt_partition_repeats(loop->launch, access->stride))
        continue;
      lgt_rect rect = access_rect(s, access, LGT_ACCESS_REDUCE, &whole);
      s->fold[access->slot] = true;
      bound_into(&s->write[access->slot], &rect);
      if (group->slot[access->slot].read) bound_into(&s->read[access->slot], &rect);
    }
  }
}

/* A scalar exists once on a rank, in its first domain; so does what several colours reduce into. */
static void share_slots(const survey *v) {
  int n = v->group->nslot;
  for (int s = 0; s < n; s++) {
    if (lgt_layout_at(v->binder->stores, v->group->slot[s].layout)->ndim > 0 && !v->fold[s]) continue;
    for (int d = 1; d < v->binder->map->local; d++) {
      if (v->read[d * n + s].ndim >= 0) bound_into(&v->read[s], &v->read[d * n + s]);
      if (v->write[d * n + s].ndim >= 0) bound_into(&v->write[s], &v->write[d * n + s]);
    }
  }
}

bool lgt_survey_spare(const lgt_binder *binder, const lgt_plan_group *group, int slot, int domain,
                      lgt_rect *out) {
  int arg = group->slot[slot].rest_arg;
  if (arg == 0xff) return false;
  const lgt_plan_call *call = &group->plan->call[group->slot[slot].rest_call];
  const lgt_partition *launch = call->wide;
  int colour = lgt_binder_next(binder, launch, domain, -1);
  if (colour < 0) return false;
  const lgt_layout *layout = lgt_layout_at(binder->stores, call->layout[arg]);
  if (call->kind->privilege[arg] == LGT_PRIV_WRITE && lgt_layout_covers(layout, false)) {
    *out = lgt_rect_of_shape(layout->root_ndim, layout->root_shape);
    return true;
  }
  if (!lgt_partition_apart(launch, binder->map->domains)) return false;
  lgt_rect tile = lgt_partition_rect(launch, colour);
  lgt_rect view = lgt_space_view_rect(layout, &call->space.align[arg], &tile);
  const lgt_touch *touch = group->count == 1 && group->notes->touch ? &group->notes->touch[arg] : NULL;
  *out = lgt_layout_root_rect(layout, &view);
  lgt_selected selected = touch ? lgt_touch_selected(binder, group, touch) : (lgt_selected){0};
  if (selected.image)
    *out = lgt_footprint_rect(&binder->map->footprints, selected.what, binder->map->first + domain, colour);
  return !lgt_rect_empty(&tile);
}

static void find_out(survey *s) {
  const lgt_plan_group *group = s->group;
  int local = s->binder->map->local;
  for (int i = 0; i < local * group->nslot; i++) {
    int slot = i % group->nslot;
    s->read[i].ndim = s->write[i].ndim = -1;
    if (!lgt_survey_spare(s->binder, group, slot, i / group->nslot, &s->spare[i])) s->spare[i].ndim = -1;
  }
  memset(s->fold, 0, (size_t)group->nslot);
  if (group->launch->ncolour > 1) survey_folds(s);
  for (int d = 0; d < local; d++)
    for (int c = -1; (c = lgt_binder_next(s->binder, group->launch, d, c)) >= 0;)
      for (int l = 0; l < group->nloop; l++) survey_loop(s, &group->loop[l], d, c);
  share_slots(s);
}

/* By root of a translated plan: a touch of the group whose view has moved; NULL: none has, or the group does not touch it.  NULL
 * when out of memory. */
static const lgt_touch **find_moved(const survey *s) {
  const lgt_plan *plan = s->group->plan;
  const lgt_plan_notes *notes = s->group->notes;
  const lgt_touch **moved = lgt_arena_alloc(&s->binder->arena, ((size_t)plan->nroot + 1) * sizeof *moved);
  for (int i = 0; moved && i < notes->ntouch; i++) {
    const lgt_touch *t = &notes->touch[i];
    if (plan->call[t->call].layout[t->arg] != plan->origin->call[t->call].layout[t->arg])
      moved[notes->touched[t->root].root] = t;
  }
  return moved;
}

/* May several roots have a slot, of which views have moved?  Or copies that no call of the program makes? */
static bool is_mixed(const lgt_plan_group *group, const lgt_touch *const *moved) {
  for (int i = 0; i < group->items->nitem; i++)
    if (group->items->item[i].call == LGT_NONE) return true;
  for (int b = 0; b < group->items->nbuffer; b++) {
    const lgt_weave_buffer *buffer = &group->items->buffer[b];
    if (buffer->slot != LGT_NONE && moved[buffer->root] && !group->slot[buffer->slot].initial) return true;
  }
  return false;
}

static void move(lgt_rect *rect, const int64_t *by) {
  if (rect->ndim < 0 || lgt_rect_empty(rect)) return;
  for (int k = 0; k < rect->ndim; k++) rect->lo[k] += by[k], rect->hi[k] += by[k];
}

/* All that the domains touch of a slot. */
static void move_slot(const survey *s, int slot, const lgt_touch *t) {
  const lgt_plan *plan = s->group->plan;
  const lgt_layout *from = lgt_layout_at(s->binder->stores, plan->origin->call[t->call].layout[t->arg]),
                   *to = lgt_layout_at(s->binder->stores, plan->call[t->call].layout[t->arg]);
  int64_t by[LGT_MAX_DIM];
  for (int k = 0; k < from->root_ndim; k++) by[k] = to->first[k] - from->first[k];
  for (int at = slot; at < s->binder->map->local * s->group->nslot; at += s->group->nslot) {
    move(&s->read[at], by);
    move(&s->write[at], by);
    move(&s->spare[at], by);
  }
}

/* The group of a translated plan touches what that of its origin does, as far from there as its views are (shift.h).  False: that
 * does not tell all. */
static bool translate(survey *s) {
  const lgt_plan_group *group = s->group, *from = lgt_plan_group_lasting(group);
  int n = group->nslot, local = s->binder->map->local;
  if (!group->plan->translated || from == group || !from->notes->survey || !group->notes->touch) return false;
  const lgt_touch **moved = find_moved(s);
  if (!moved || is_mixed(group, moved)) return false;
  memcpy(s->read, from->notes->survey, 3 * (size_t)(local * n) * sizeof(lgt_rect) + (size_t)n);
  for (int i = 0; i < n; i++)
    if (group->slot[i].initial && moved[group->slot[i].root]) move_slot(s, i, moved[group->slot[i].root]);
  return true;
}

static bool is_same(const lgt_rect *a, const lgt_rect *b) {
  return a->ndim == b->ndim && (a->ndim < 0 || lgt_rect_equal(a, b));
}

/* With the option `check`: is that what would be found out? */
static bool check_translated(const survey *s) {
  int n = s->group->nslot, all = s->binder->map->local * n;
  lgt_rect *read = lgt_arena_alloc(&s->binder->arena, 3 * (size_t)all * sizeof *read + (size_t)n + 1);
  if (!read) return false;
  survey again = {s->binder, s->group, read, read + all, read + 2 * all, (bool *)(read + 3 * all)};
  find_out(&again);
  for (int i = 0; i < 3 * all; i++) lgt_assert(is_same(&s->read[i], &read[i]));
  for (int i = 0; i < n; i++) lgt_assert(s->fold[i] == again.fold[i]);
  return true;
}

bool lgt_survey(lgt_binder *binder, const lgt_plan_group *group, lgt_surveyed *out) {
  size_t n = (size_t)binder->map->local * (size_t)group->nslot;
  size_t bytes = 3 * n * sizeof(lgt_rect) + (size_t)group->nslot + 1;
  bool lasts = !lgt_images_select(group);
  lgt_rect *read = group->notes->survey;
  if (!read) read = lasts ? lgt_mem_alloc(bytes) : lgt_arena_alloc(&binder->arena, bytes);
  if (!read) return false;
  survey s = {binder, group, read, read + n, read + 2 * n, (bool *)(read + 3 * n)};
  bool made = group->notes->survey != NULL, translated = !made && lasts && translate(&s);
  if (!made && !translated) find_out(&s);
  if (lasts) group->notes->survey = read;
  if (translated && binder->check && !check_translated(&s)) return false;
  *out = (lgt_surveyed){s.read, s.write, s.spare, s.fold};
  return true;
}

/* May a replica's contents have failed, or fail in flight?  `alone`: what has failed already is known to the caller. */
static bool may_have_failed(const lgt_replica *replica, bool alone) {
  const lgt_instance *inst = replica->inst;
  if (!alone && (replica->naside || replica->absent.count || (inst && inst->failure))) return true;
  return inst && inst->writer && inst->writer->fallible;
}

bool lgt_survey_may_fail(const lgt_binder *binder, const lgt_plan_group *group, const uint32_t *root) {
  const lgt_map *map = binder->map;
  if (map->nmemory > 1 || group->nnative) return true;
  for (int l = 0; l < group->nloop; l++)
    if (group->loop[l].shape.partial) return true;
  for (int s = 0; s < group->nslot; s++) {
    if (!group->slot[s].initial) continue;
    const lgt_store *store = lgt_store_at(binder->stores, root[group->slot[s].root]);
    for (int d = 0; store->replica && d < map->local; d++)
      if (may_have_failed(&store->replica[d], lgt_map_whole(map))) return true;
  }
  return false;
}
