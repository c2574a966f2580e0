/* touch.c - see touch.h. */
#include "move/touch.h"

#include <string.h>

#include "move/image.h"
#include "plan/weave.h"

enum { NONE = -1 };

/* What is known of the group while its touches are made; from the arena. */
typedef struct making {
  lgt_binder *binder;
  const lgt_plan_group *group;
  int *part;   /* by root of the plan: its first part among the group's; or NONE */
  int *writer; /* by root of the plan: the last touch so far that writes it; or NONE ... */
  int *before; /* ... and by touch: the one before that */
} making;

static bool begin(making *m, int ntouch) {
  size_t nroot = (size_t)m->group->plan->nroot;
  m->part = lgt_arena_alloc(&m->binder->arena, (2 * nroot + (size_t)ntouch + 1) * sizeof *m->part);
  if (!m->part) return false;
  m->writer = m->part + nroot;
  m->before = m->writer + nroot;
  for (size_t i = 0; i < 2 * nroot; i++) m->part[i] = NONE;
  return true;
}

static bool is_fresh(const lgt_plan_group *group, uint16_t root) {
  const lgt_plan_root *r = &group->plan->root[root];
  return r->fresh && group == &group->plan->group[r->first_group];
}

/* The rect of its root that an argument of the call touches, over all colours. */
static lgt_rect whole_rect(const lgt_binder *binder, const lgt_plan_call *call, int arg) {
  const lgt_layout *layout = lgt_layout_at(binder->stores, call->layout[arg]);
  lgt_rect space = lgt_rect_of_shape(call->space.ndim, call->space.extent);
  lgt_rect view = lgt_space_view_rect(layout, &call->space.align[arg], &space);
  return call->kind->privilege[arg] & LGT_PRIV_REDUCE ? lgt_layout_target_rect(layout, view)
                                                      : lgt_layout_root_rect(layout, &view);
}

/* Has an earlier call of the group written all elements of this view?  Then whoever reads one has written it (cells.h). */
static bool made_before(const making *m, const lgt_plan_call *reader, int arg) {
  const lgt_layout *layout = lgt_layout_at(m->binder->stores, reader->layout[arg]);
  if (!lgt_layout_exact(layout)) return false;
  for (int i = m->writer[reader->root[arg]]; i != NONE; i = m->before[i]) {
    const lgt_touch *t = &m->group->notes->touch[i];
    const lgt_plan_call *writer = &m->group->plan->call[t->call];
    if (t->call == reader - m->group->plan->call) continue;
    if (writer->layout[t->arg] == reader->layout[arg]) return true;
    lgt_rect read = whole_rect(m->binder, reader, arg), written = whole_rect(m->binder, writer, t->arg);
    if (lgt_layout_exact(lgt_layout_at(m->binder->stores, writer->layout[t->arg])) &&
        lgt_rect_contains(&written, &read))
      return true;
  }
  return false;
}

/* The number of a part of a root among the group's; NONE: the group has not touched it yet. */
static int number_of(const lgt_plan_notes *notes, int first, uint16_t root, uint8_t part) {
  for (int i = first; i != NONE && i < notes->ntouched; i++)
    if (notes->touched[i].root == root && notes->touched[i].part == part) return i;
  return NONE;
}

static int part_of(making *m, uint16_t root, uint8_t part) {
  lgt_plan_notes *notes = m->group->notes;
  int number = number_of(notes, m->part[root], root, part);
  if (number != NONE) return number;
  notes->touched[number = notes->ntouched++] = (lgt_touched){root, part};
  if (m->part[root] == NONE) m->part[root] = number;
  return number;
}

/* The bytes of a footprint if every domain that takes part touches all of it; else 0. */
static int64_t brought(const lgt_binder *binder, const lgt_footprint *what, int dtype) {
  int64_t bytes = lgt_rect_size(&what->whole) * lgt_dtype_size(dtype);
  lgt_rect rect;
  if (!what->launch) return bytes;
  if (what->launch->ncolour <= 1) return 0;
  int domain = lgt_partition_domain(what->launch, binder->map->domains, 0);
  int i = lgt_footprint_next(&binder->map->footprints, what, domain, -1, &rect);
  return i >= 0 && lgt_rect_equal(&rect, &what->whole) ? bytes : 0;
}

static void note_brought(lgt_plan_notes *notes, const lgt_touch *t) {
  if (t->brought > notes->brought) notes->brought = t->brought;
}

static const lgt_footprint *footprint_of(const lgt_binder *binder, const lgt_plan_call *c, int arg,
                                         const lgt_partition *launch, bool everywhere) {
  lgt_footprints *footprints = &binder->map->footprints;
  if (!everywhere)
    return lgt_footprint_of(footprints, c->layout[arg], &c->space.align[arg], launch,
                            c->kind->privilege[arg] & LGT_PRIV_REDUCE);
  lgt_rect rect = whole_rect(binder, c, arg);
  return lgt_footprint_everywhere(footprints, &rect);
}

/* All of the elements, for each domain that takes part in the group. */
static const lgt_footprint *repeated(const lgt_binder *binder, const lgt_plan_group *group, uint32_t layout) {
  lgt_alignment whole = {.below = {0}};
  memset(whole.to, -1, sizeof whole.to);
  return lgt_footprint_of(&binder->map->footprints, layout, &whole, group->launch, false);
}

/* The footprints of a touch. */
static bool find_footprints(const lgt_binder *binder, const lgt_plan_group *group, const lgt_plan_call *c,
                            bool everywhere, lgt_touch *t) {
  t->repeats = c->repeats && lgt_layout_at(binder->stores, c->layout[t->arg])->root_ndim > 0;
  t->whole = footprint_of(binder, c, t->arg, c->launch, everywhere);
  t->around = t->repeats             ? repeated(binder, group, c->layout[t->arg])
              : c->wide == c->launch ? t->whole
                                     : footprint_of(binder, c, t->arg, c->wide, everywhere);
  return t->whole && t->around;
}

static lgt_status make_touch(making *m, int call, int arg, lgt_touch *t) {
  const lgt_plan_call *c = &m->group->plan->call[call];
  const lgt_layout *layout = lgt_layout_at(m->binder->stores, c->layout[arg]);
  const lgt_alignment *align = &c->space.align[arg];
  int privilege = c->kind->privilege[arg];
  *t = (lgt_touch){.call = (uint16_t)call,
                   .root = (uint16_t)part_of(m, c->root[arg], c->part[arg]),
                   .arg = (uint8_t)arg,
                   .fresh = is_fresh(m->group, c->root[arg]),
                   .writes = lgt_kind_writes(c->kind, arg)};
  /* A writer that leaves elements out (a step of 2, say) owns the whole box around its tile. */
  bool former = privilege & LGT_PRIV_READ || (t->writes && !lgt_layout_exact(layout));
  t->reads = former && !t->fresh && !made_before(m, c, arg);
  bool everywhere = c->launch->kind == LGT_PARTITION_NONE ||
                    (layout->root_ndim == 0 && c->launch->ncolour > 1) ||
                    (privilege & LGT_PRIV_REDUCE &&
                     lgt_partition_repeats(c->launch, lgt_signature_of(layout, align).stride));
  if (!find_footprints(m->binder, m->group, c, everywhere, t)) return LGT_NO_MEMORY;
  if (t->reads) t->brought = brought(m->binder, t->around, layout->dtype);
  note_brought(m->group->notes, t);
  int number = (int)(t - m->group->notes->touch);
  if (privilege & LGT_PRIV_WRITE) {
    m->before[number] = m->writer[c->root[arg]];
    m->writer[c->root[arg]] = number;
  }
  return LGT_OK;
}

/* Room for what this rank's domains touch, by local domain and part.  Where data selects that, nobody knows it yet. */
static void find_cover(const making *m, lgt_rect *cover) {
  const lgt_plan_notes *notes = m->group->notes;
  const lgt_map *map = m->binder->map;
  for (int i = 0; i < map->local * notes->nheld; i++) cover[i].ndim = NONE;
  for (int i = 0; i < notes->ntouch; i++) {
    const lgt_touch *t = &notes->touch[i];
    for (int d = 0; d < map->local && !t->fresh; d++) {
      lgt_rect rect;
      for (int k = -1;
           (k = lgt_footprint_next(&map->footprints, t->around, map->first + d, k, &rect)) >= 0;) {
        if (t->around->launch && lgt_rect_empty(&rect)) continue;
        lgt_rect *at = &cover[(rect.ndim ? d : 0) * notes->nheld + t->root];
        *at = at->ndim < 0 ? rect : lgt_rect_bound(at, &rect);
      }
    }
  }
}

/* Which elements the domains need room for. */
static bool make_cover(const making *m) {
  lgt_plan_notes *notes = m->group->notes;
  size_t n = (size_t)m->binder->map->local * (size_t)notes->nheld;
  if (lgt_images_select(m->group)) return true;
  notes->cover = lgt_mem_alloc((n + 1) * sizeof *notes->cover);
  if (notes->cover) find_cover(m, notes->cover);
  return notes->cover;
}

/* Roots that the group makes have nothing that exchanges could move, nor room to be made for: their numbers come last. */
static bool number_held_first(const making *m) {
  lgt_plan_notes *notes = m->group->notes;
  int n = notes->ntouched, next[2] = {0, 0}; /* of those that are held, and of the others */
  int *to = lgt_arena_alloc(&m->binder->arena, ((size_t)n + 1) * sizeof *to);
  lgt_touched *was = lgt_arena_alloc(&m->binder->arena, ((size_t)n + 1) * sizeof *was);
  if (!to || !was) return false;
  memcpy(was, notes->touched, (size_t)n * sizeof *was);
  for (int i = 0; i < n; i++) next[1] += !is_fresh(m->group, was[i].root);
  notes->nheld = next[1];
  for (int i = 0; i < n; i++) {
    to[i] = next[is_fresh(m->group, was[i].root)]++;
    notes->touched[to[i]] = was[i];
  }
  for (int i = 0; i < notes->ntouch; i++) notes->touch[i].root = (uint16_t)to[notes->touch[i].root];
  for (int r = 0; r < m->group->plan->nroot; r++) /* the parts of a root keep their order */
    if (m->part[r] != NONE) m->part[r] = to[m->part[r]];
  return true;
}

/* What follows from the touches: the part that each slot has, and the cover. */
static bool make_rest(const making *m) {
  const lgt_plan_group *group = m->group;
  lgt_plan_notes *notes = group->notes;
  notes->of_slot = lgt_mem_alloc(((size_t)group->nslot + 1) * sizeof *notes->of_slot);
  if (!notes->of_slot) return false;
  for (int s = 0; s < group->nslot; s++) {
    const lgt_plan_slot *slot = &group->slot[s];
    int first = slot->root == LGT_NONE ? NONE : m->part[slot->root];
    notes->of_slot[s] = (int16_t)number_of(notes, first, slot->root, slot->part);
  }
  return make_cover(m);
}

/* All or nothing, to be made again. */
static void forget(lgt_plan_notes *notes) {
  lgt_mem_free(notes->touch);
  lgt_mem_free(notes->touched);
  lgt_mem_free(notes->of_slot);
  lgt_mem_free(notes->cover);
  notes->touch = NULL;
  notes->touched = NULL;
  notes->of_slot = NULL;
  notes->cover = NULL;
  notes->ntouch = notes->ntouched = notes->nheld = 0;
}

/* The group of a translated plan touches what its origin does, through other views, and these relate to one another as those
 * of the origin do.  NULL: it is no such group, or the origin has no touches yet. */
static const lgt_plan_group *pattern_of(const lgt_plan_group *group) {
  const lgt_plan_group *from = lgt_plan_group_lasting(group);
  return group->plan->translated && from != group && from->notes->touch ? from : NULL;
}

/* All rects of a root are as far from those of the origin as its views are. */
static bool take_cover(const making *m, const lgt_plan_group *from) {
  const lgt_plan *plan = m->group->plan;
  lgt_plan_notes *notes = m->group->notes;
  int n = notes->nheld, local = m->binder->map->local;
  bool *moved = lgt_arena_alloc(&m->binder->arena, (size_t)n + 1);
  notes->cover = lgt_mem_alloc(((size_t)(local * n) + 1) * sizeof *notes->cover);
  if (!moved || !notes->cover) return false;
  memset(moved, 0, (size_t)n);
  memcpy(notes->cover, from->notes->cover, (size_t)(local * n) * sizeof *notes->cover);
  for (int i = 0; i < notes->ntouch; i++) {
    const lgt_touch *t = &notes->touch[i];
    uint32_t layout = plan->call[t->call].layout[t->arg], old = plan->origin->call[t->call].layout[t->arg];
    if (layout == old || t->fresh || moved[t->root]) continue;
    moved[t->root] = true;
    const lgt_layout *a = lgt_layout_at(m->binder->stores, old),
                     *b = lgt_layout_at(m->binder->stores, layout);
    for (int d = 0; d < local; d++) {
      lgt_rect *rect = &notes->cover[d * n + t->root];
      if (rect->ndim < 0 || lgt_rect_empty(rect)) continue;
      for (int k = 0; k < rect->ndim; k++) {
        rect->lo[k] += b->first[k] - a->first[k];
        rect->hi[k] += b->first[k] - a->first[k];
      }
    }
  }
  return true;
}

/* With the option `check`: is that what would be found out? */
static bool check_cover(const making *m) {
  lgt_rect *taken = m->group->notes->cover;
  int n = m->binder->map->local * m->group->notes->nheld;
  bool good = make_cover(m);
  for (int i = 0; i < n && good; i++) {
    const lgt_rect *made = &m->group->notes->cover[i];
    lgt_assert(made->ndim == taken[i].ndim && (made->ndim < 0 || lgt_rect_equal(made, &taken[i])));
  }
  lgt_mem_free(taken);
  return good;
}

static bool take_touches(making *m, const lgt_plan_group *from) {
  const lgt_plan *plan = m->group->plan;
  lgt_plan_notes *notes = m->group->notes;
  notes->of_slot = lgt_mem_alloc(((size_t)from->nslot + 1) * sizeof *notes->of_slot);
  if (!notes->of_slot) return false;
  memcpy(notes->of_slot, from->notes->of_slot, (size_t)from->nslot * sizeof *notes->of_slot);
  notes->ntouched = from->notes->ntouched;
  notes->nheld = from->notes->nheld;
  memcpy(notes->touched, from->notes->touched, (size_t)notes->ntouched * sizeof *notes->touched);
  for (int i = 0; i < from->notes->ntouch; i++) {
    lgt_touch *t = &notes->touch[i];
    *t = from->notes->touch[i];
    notes->ntouch++;
    note_brought(notes, t);
    if (plan->call[t->call].layout[t->arg] == plan->origin->call[t->call].layout[t->arg]) continue;
    if (!find_footprints(m->binder, m->group, &plan->call[t->call], !t->whole->launch, t)) return false;
  }
  if (!from->notes->cover) return make_cover(m);
  return take_cover(m, from) && (!m->binder->check || check_cover(m));
}

lgt_status lgt_touches_make(lgt_binder *binder, const lgt_plan_group *group) {
  const lgt_plan *plan = group->plan;
  lgt_plan_notes *notes = group->notes;
  making m = {.binder = binder, .group = group};
  int n = 0;
  if (notes->touch) return LGT_OK;
  for (int i = group->first; i < group->first + group->count; i++) n += plan->call[i].nargs;
  notes->touched = lgt_mem_alloc(((size_t)n + 1) * sizeof *notes->touched);
  notes->touch = lgt_mem_alloc(((size_t)n + 1) * sizeof *notes->touch);
  const lgt_plan_group *pattern = pattern_of(group);
  if (pattern && notes->touched && notes->touch && take_touches(&m, pattern)) return LGT_OK;
  bool good = !pattern && notes->touched && notes->touch && begin(&m, n);
  for (int i = group->first; i < group->first + group->count && good; i++)
    for (int a = 0; a < plan->call[i].nargs && good; a++) {
      good = !make_touch(&m, i, a, &notes->touch[notes->ntouch]);
      notes->ntouch += good;
    }
  if (good && number_held_first(&m) && make_rest(&m)) return LGT_OK;
  forget(notes);
  return lgt_no_memory_to_launch();
}

const lgt_touch *lgt_touch_of(const lgt_plan_group *group, const lgt_plan_access *access) {
  int call = group->items->item[access->item].call;
  return group->notes->touch ? &group->notes->touch[group->plan->call[call].touch + access->arg] : NULL;
}

/* Does lgt_solver_key have none for a write through this view, however much memory there is?  So for one value that several
 * domains compute. */
static bool never_has_key(const lgt_layout *layout, const lgt_partition *launch) {
  if (launch->kind != LGT_PARTITION_TILING) return true;
  return !(layout->flags & LGT_LAYOUT_RESHAPED) && !layout->root_ndim && launch->ncolour > 1;
}

const lgt_partition *lgt_touch_key_after(const lgt_binder *binder, const lgt_plan_group *group, lgt_touch *t,
                                         const lgt_partition *key) {
  const lgt_plan_call *call = &group->plan->call[t->call];
  if (t->keyed && t->before == key) return t->after;
  t->before = key;
  const lgt_layout *layout = lgt_layout_at(binder->stores, call->layout[t->arg]);
  t->after = lgt_solver_key_after(&binder->fuser->solver, layout, &call->space.align[t->arg], call->launch,
                                  call->kind->privilege[t->arg] & LGT_PRIV_REDUCE, key);
  t->keyed = t->after || never_has_key(layout, call->launch); /* else there was perhaps no memory for one */
  return t->after;
}
