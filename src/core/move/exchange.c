/* exchange.c - what a group touches, acquires and leaves behind.  See exchange.h. */
#include "move/exchange.h"

#include <string.h>

#include "move/image.h"
#include "move/record.h"
#include "move/room.h"
#include "memory/replica.h"
#include "plan/weave.h"

lgt_selected lgt_touch_selected(const lgt_binder *binder, const lgt_plan_group *group,
                                const lgt_touch *touch) {
  if (binder->selecting == group) return binder->selected[touch - group->notes->touch];
  return (lgt_selected){.what = touch->whole};
}

/* ... with the margins: what is read, and has room. */
static lgt_selected selected_around(const lgt_binder *binder, const lgt_plan_group *group,
                                    const lgt_touch *touch) {
  lgt_selected s = lgt_touch_selected(binder, group, touch);
  if (touch->around != touch->whole) s.what = touch->around; /* no image selects of that */
  return s;
}

/* ---- what moves --------------------------------------------------------------------------------------- */

/* A domain's instance if it holds the rect and its contents are sound. */
static lgt_instance *holder(const lgt_exchange *x, int n, int domain, const lgt_rect *rect, bool has) {
  int local = rect->ndim ? domain - x->binder->map->first : 0;
  lgt_instance *inst =
      has ? lgt_replica_holder(&x->store[n]->replica[local], rect) : lgt_exchange_destination(x, n, local);
  if (!inst || !lgt_rect_contains(&inst->rect, rect)) return NULL;
  if (has && lgt_region_meets(&x->store[n]->replica[local].absent, rect)) return NULL;
  return has && x->store[n]->failure ? NULL : inst;
}

static void add_cover(lgt_exchange *x, int domain, int n, const lgt_rect *rect) {
  lgt_rect *cover = &x->cover[domain * x->nheld + n];
  *cover = cover->ndim < 0 ? *rect : lgt_rect_bound(cover, rect);
}

/* Room for what this rank's domains touch. */
static void cover_all(lgt_exchange *x, int n, const lgt_footprint *what) {
  lgt_map *map = x->binder->map;
  for (int d = 0; d < map->local; d++) {
    lgt_rect rect;
    for (int i = -1; (i = lgt_footprint_next(&map->footprints, what, map->first + d, i, &rect)) >= 0;)
      if (!what->launch || !lgt_rect_empty(&rect)) add_cover(x, rect.ndim ? d : 0, n, &rect);
  }
}

/* The moves from `first` on are of a store of the exchange. */
static void note_moves(lgt_exchange *x, int n, int place, int first) {
  lgt_binder *binder = x->binder;
  for (int i = first; i < binder->nmove; i++) {
    lgt_move *move = &binder->move[i];
    int to = move->to == LGT_NOBODY ? 0 : move->to - binder->map->first;
    move->root = (uint16_t)n;
    move->place = place;
    if (!move->sends) x->gets[to * x->nheld + n] = true;
  }
}

/* List what has to move before a footprint of the store may be read; the history says then that it was. */
static bool list_moves(lgt_exchange *x, int n, const lgt_footprint *what, int place) {
  lgt_binder *binder = x->binder;
  const lgt_history *history = x->store[n]->history;
  int first = binder->nmove;
  if (lgt_history_has(history, what)) {
    if (!binder->check) return true;
    bool good = lgt_moves_list(binder, history, what);
    lgt_assert(!good || binder->nmove == first);
    return good;
  }
  lgt_log(MAP, 3, "array %u is read %s, after %d events", x->store[n]->id,
          what->launch ? "in tiles" : "everywhere", history->count);
  if (!lgt_moves_list(binder, history, what)) return false;
  note_moves(x, n, place, first);
  return lgt_history_read(&binder->map->histories, &x->store[n]->history, what);
}

/* The same for an image: the lists were made when its elements first came this way. */
static bool list_image_moves(lgt_exchange *x, int n, const lgt_selected *s, int place) {
  lgt_binder *binder = x->binder;
  const lgt_history **history = &x->store[n]->history;
  if (!s->moves || lgt_history_shows(*history, s->image->serial)) return true;
  int first = binder->nmove;
  if (!lgt_moves_add(binder, s->moves->move, s->moves->nmove, s->moves->piece, s->moves->npiece))
    return false;
  note_moves(x, n, place, first);
  return lgt_history_shown(&binder->map->histories, history, s->image->serial);
}

static bool list_selected(lgt_exchange *x, int n, const lgt_selected *s, bool reads, int place) {
  if (!lgt_image_pick(x, n, s)) return false;
  if (!x->group || !x->group->notes->cover) cover_all(x, n, s->what);
  if (!reads) return true;
  return s->image ? list_image_moves(x, n, s, place) : list_moves(x, n, s->what, place);
}

/* Bring the elements of a store with a long history together: each domain gets a tile of its own. */
static bool consolidate(lgt_exchange *x, int n, int place) {
  lgt_binder *binder = x->binder;
  lgt_store *store = x->store[n];
  const lgt_solver *solver = &binder->fuser->solver;
  const lgt_layout *root = lgt_layout_at(binder->stores, store->layout);
  lgt_alignment align = {.to = {0, 1, 2, 3, 4, 5}};
  lgt_log(MAP, 2, "the history of array %u has %d events", store->id, store->history->count);
  lgt_histories *histories = &binder->map->histories;
  if (!lgt_history_forget_reads(histories, &store->history)) return false;
  if (!lgt_history_long(store->history)) return true;
  const lgt_partition *natural =
      lgt_partition_natural(solver->partitions, root->ndim, root->shape, 0, solver->most, solver->min_tile);
  if (!natural) return false;
  lgt_rect all = lgt_rect_of_shape(root->ndim, root->shape);
  lgt_footprints *f = &binder->map->footprints;
  const lgt_footprint *what = natural->ncolour == 1
                                  ? lgt_footprint_everywhere(f, &all)
                                  : lgt_footprint_of(f, store->layout, &align, natural, false);
  if (!what) return false;
  cover_all(x, n, what);
  if (!list_moves(x, n, what, place) || !lgt_history_written(histories, &store->history, what)) return false;
  for (int i = 0; i < binder->nmove; i++) binder->move[i].early = true;
  return x->together[n] = true;
}

/* ---- before ------------------------------------------------------------------------------------------- */

static lgt_status save_histories(lgt_exchange *x) {
  lgt_binder *binder = x->binder;
  x->split = x->group && x->group->split;
  x->saved = lgt_arena_alloc(&binder->arena, ((size_t)x->nstore + 1) * sizeof *x->saved);
  if (!x->saved) return lgt_no_memory_to_launch();
  binder->agreed.exchanges++; /* from here on it can be undone */
  binder->nmove = binder->pieces.count = 0;
  for (int i = 0; i < x->nstore; i++) {
    if (!x->store[i]->replica && !lgt_store_replicas(binder->map, x->store[i]))
      return lgt_no_memory_to_launch();
    lgt_store_begin_history(binder->map, x->store[i]);
    x->saved[i] = x->store[i]->history;
  }
  return LGT_OK;
}

static lgt_status make_room(lgt_exchange *x) {
  lgt_arena *arena = &x->binder->arena;
  size_t n = (size_t)x->binder->map->local * (size_t)x->nheld + 1;
  x->cover = lgt_arena_alloc(arena, 2 * n * sizeof *x->cover);
  x->gets = lgt_arena_alloc(arena, 3 * n);
  x->inst = x->split ? lgt_arena_alloc(arena, n * sizeof *x->inst) : NULL;
  if ((x->split && !x->inst) || !x->cover || !x->gets) return lgt_no_memory_to_launch();
  x->spare = x->cover + n;
  x->written = x->gets + n;
  x->together = x->written + n;
  const lgt_rect *cover = x->group ? x->group->notes->cover : NULL;
  for (size_t i = 0; i < n; i++) x->cover[i].ndim = x->spare[i].ndim = -1;
  if (cover) memcpy(x->cover, cover, (n - 1) * sizeof *cover);
  return LGT_OK;
}

/* The same for one store that no group touches. */
static lgt_status make_room_for_store(lgt_exchange *x) {
  lgt_status status = save_histories(x);
  return status ? status : make_room(x);
}

int lgt_exchange_too_large(const lgt_binder *binder, const lgt_plan_group *group, const uint32_t *root,
                           int64_t bytes) {
  for (int i = 0; i < group->notes->ntouch; i++) {
    const lgt_touch *t = &group->notes->touch[i];
    if (t->brought <= bytes) continue;
    lgt_selected s = selected_around(binder, group, t);
    const lgt_store *store = lgt_store_at(binder->stores, root[group->notes->touched[t->root].root]);
    if (!s.image && store->history && !lgt_history_has(store->history, s.what)) return i;
  }
  return -1;
}

/* What each domain makes in its tile and margin it need not get for the turns that follow (widen.h).  Whatever else they touch
 * comes from those who had it before the group: a box around a tile, of which a call reads every second column, say. */
static bool foresee_write(lgt_exchange *x, const lgt_touch *t) {
  if (!t->writes || t->fresh) return true;
  return lgt_history_read(&x->binder->map->histories, &x->store[t->root]->history, t->around);
}

/* What the group's touches have to move. */
static bool list_all(lgt_exchange *x) {
  const lgt_plan_notes *notes = x->group->notes;
  bool good = true;
  for (int i = 0; i < x->nheld && good; i++)
    if (lgt_history_long(x->store[i]->history)) good = consolidate(x, i, notes->ntouch + i);
  for (int i = 0, made = 0; i < notes->ntouch && good; i++) {
    const lgt_touch *t = &notes->touch[i];
    if (t->repeats && t->reads) good = list_moves(x, t->root, t->whole, i); /* to each rank once */
    lgt_selected s = t->fresh ? (lgt_selected){0} : selected_around(x->binder, x->group, t);
    if (good && !t->fresh) good = list_selected(x, t->root, &s, t->reads, i);
    bool ends = i + 1 == notes->ntouch || t[1].call != t->call; /* a call reads before it writes */
    for (; x->group->turns && ends && made <= i && good; made++) good = foresee_write(x, &notes->touch[made]);
  }
  return good && (!x->group->turns || lgt_moves_join(x->binder));
}

lgt_status lgt_exchange_begin(lgt_exchange *x, lgt_binder *binder, const lgt_plan_group *group,
                              const uint32_t *root) {
  *x = (lgt_exchange){.binder = binder, .group = group};
  lgt_status status = lgt_touches_make(binder, group);
  if (status) return status;
  x->nstore = group->notes->ntouched, x->nheld = group->notes->nheld;
  x->store = lgt_arena_alloc(&binder->arena, ((size_t)x->nstore + 1) * sizeof *x->store);
  if (!x->store) return lgt_no_memory_to_launch();
  for (int i = 0; i < x->nstore; i++)
    x->store[i] = lgt_store_at(binder->stores, root[group->notes->touched[i].root]);
  if ((status = save_histories(x))) return status;
  if (lgt_log_on(MAP, 3)) lgt_exchange_log_calls(binder, group, root);
  x->replays = (x->record = lgt_record_find(x)) != NULL;
  if (!lgt_room_take(x) && (status = make_room(x))) return status;
  bool good = x->replays && !binder->check ? lgt_record_replay(x, x->record) : list_all(x);
  if (x->replays && good && binder->check) lgt_verified(lgt_record_verify(x, x->record, false));
  if (!x->replays && good) x->record = lgt_record_begin(x);
  if (lgt_log_on(MOVE, 3)) lgt_exchange_log_moves(x);
  return good ? LGT_OK : lgt_no_memory_to_launch();
}

lgt_status lgt_exchange_go_on(lgt_exchange *x) {
  lgt_binder *binder = x->binder;
  binder->agreed.exchanges++;
  x->saved = x->found; /* from here on it can be undone */
  binder->nmove = binder->pieces.count = 0;
  return lgt_record_replay(x, x->record) ? LGT_OK : lgt_no_memory_to_launch();
}

lgt_status lgt_exchange_begin_store(lgt_exchange *x, lgt_binder *binder, lgt_store *store,
                                    const lgt_selected *selected) {
  *x = (lgt_exchange){.binder = binder, .nstore = 1, .nheld = 1, .host = true};
  x->store = lgt_arena_alloc(&binder->arena, sizeof *x->store);
  if (!x->store) return lgt_no_memory_to_launch();
  x->store[0] = store;
  lgt_status status = make_room_for_store(x);
  if (status) return status;
  if (lgt_history_long(store->history) && !consolidate(x, 0, 1)) return lgt_no_memory_to_launch();
  return list_selected(x, 0, selected, true, 0) ? LGT_OK : lgt_no_memory_to_launch();
}

lgt_status lgt_exchange_look(lgt_exchange *x, lgt_binder *binder, lgt_store *store, const lgt_rect *rect,
                             bool read, bool write) {
  *x = (lgt_exchange){.binder = binder, .nstore = 1, .nheld = 1, .host = true};
  lgt_arena_reset(&binder->arena);
  x->store = lgt_arena_alloc(&binder->arena, sizeof *x->store);
  if (!x->store) return lgt_no_memory_to_launch();
  x->store[0] = store;
  lgt_status status = make_room_for_store(x);
  const lgt_footprint *what = status ? NULL : lgt_footprint_everywhere(&binder->map->footprints, rect);
  if (!what) return LGT_NO_MEMORY;
  x->cover[0] = *rect; /* empty ones, too: there shall be an instance */
  if (read && !list_moves(x, 0, what, 0)) return lgt_no_memory_to_launch();
  x->written[0] = write;
  if (!read) x->spare[0] = *rect;
  if (write && !lgt_history_written(&binder->map->histories, &store->history, what))
    return lgt_no_memory_to_launch();
  if (write) store->version = ++binder->agreed.versions;
  return LGT_OK;
}

static int number_of_slot(const lgt_exchange *x, const lgt_plan_slot *slot) {
  return x->group->notes->of_slot[slot - x->group->slot];
}

void lgt_exchange_need(lgt_exchange *x, int domain, const lgt_plan_slot *slot, const lgt_rect *rect) {
  int n = number_of_slot(x, slot);
  lgt_assert(n >= 0 && n < x->nheld); /* the group does not make what has contents from before */
  add_cover(x, domain, n, rect);
  x->written[n] |= slot->written;
}

void lgt_exchange_margin(lgt_exchange *x, int slot) {
  int n = number_of_slot(x, &x->group->slot[slot]);
  const lgt_layout *layout = lgt_layout_at(x->binder->stores, x->store[n]->layout);
  for (int at = n; at < x->binder->map->local * x->nheld; at += x->nheld)
    if (x->cover[at].ndim > 0) x->cover[at] = lgt_acquire_margin(x->group, slot, &x->cover[at], layout);
}

void lgt_exchange_spare(lgt_exchange *x, int domain, const lgt_plan_slot *slot, const lgt_rect *rect) {
  x->spare[domain * x->nheld + number_of_slot(x, slot)] = *rect;
}

/* Does anything come to a domain for a store, to whichever of its parts?  From there it goes to the others. */
static bool gets(const lgt_exchange *x, int n, int domain) {
  bool any = x->gets[domain * x->nheld + n];
  for (int i = 0; i < x->nheld && x->split && !any; i++)
    any = x->store[i] == x->store[n] && x->gets[domain * x->nheld + i];
  return any;
}

/* The instance for a part of a store may have given way to that for another part, if they are near here, or to want of memory. */
static void find_parts_again(lgt_exchange *x) {
  for (int at = 0; at < x->binder->map->local * x->nheld && x->split; at++) {
    lgt_replica *replica = &x->store[at % x->nheld]->replica[at / x->nheld];
    if (x->inst[at] && !lgt_replica_old(replica, x->inst[at])) x->inst[at] = replica->inst;
  }
}

/* The group makes memory for a domain's part of a store of which others made other parts, as the pieces of a concatenation
 * do: if that is too small later, the group learns it. */
static bool note_housed(const lgt_exchange *x, int n) {
  const lgt_plan_group *group = x->group;
  for (int s = 0; s < group->nslot; s++)
    if (group->notes->of_slot[s] == n && group->slot[s].initial && group->slot[s].written)
      return lgt_acquire_housed(x->store[n], lgt_plan_group_lasting(group), s), true;
  return false;
}

/* Have all domains one instance of each store, as mostly, and no domain lacks what it should have? */
static bool is_plain(const lgt_exchange *x) {
  for (int n = 0; n < x->nstore; n++)
    for (int d = 0; d < x->binder->map->local; d++) {
      const lgt_replica *replica = &x->store[n]->replica[d];
      if (replica->naside || replica->old.count || replica->absent.count) return false;
    }
  return true;
}

lgt_status lgt_exchange_acquire(lgt_exchange *x) {
  lgt_status status = LGT_OK;
  int local = x->binder->map->local;
  if (x->ready) return x->ready = false, LGT_OK; /* another attempt must look */
  for (int n = 0; n < x->nstore; n++)            /* then new stores of one that was ready have none yet */
    if (!lgt_store_replicas(x->binder->map, x->store[n])) return lgt_no_memory_to_launch();
  x->lacks = x->plain = false;
  if (x->split) memset(x->inst, 0, (size_t)local * (size_t)x->nheld * sizeof *x->inst);
  for (int i = 0; i < 2 * x->nheld && !status; i++) /* what is written comes last, into the main instance */
    for (int d = 0; d < local && !status; d++) {
      int n = i % x->nheld, at = d * x->nheld + n;
      if (x->cover[at].ndim < 0 || x->written[n] != (i >= x->nheld)) continue;
      bool comes = gets(x, n, d);
      lgt_use use = lgt_exchange_use(x, n, comes);
      lgt_memory *memory = x->host ? x->binder->map->memory : lgt_map_home(x->binder->map, d);
      if (!x->split && lgt_acquire_suits(x->store[n], d, memory, &x->cover[at], use)) continue;
      if (x->changed && lgt_acquire_beside(x->store[n], d, memory, &x->cover[at], &x->changed[n])) continue;
      const lgt_rect *spare = x->spare[at].ndim < 0 || comes ? NULL : &x->spare[at];
      lgt_store *store = x->store[n];
      bool makes = x->group && x->written[n] && !lgt_replica_meets(&store->replica[d], &x->cover[at]) &&
                   note_housed(x, n);
      status = lgt_acquire(x->binder, store, d, memory, &x->cover[at], use, spare,
                           x->picks ? &x->picks[at] : NULL);
      if (!status && makes) lgt_acquire_made(x->binder, x->group, store, d, &x->cover[at]);
      if (!status && x->split) x->inst[at] = store->replica[d].inst, find_parts_again(x);
    }
  return x->lacks = status != LGT_OK, status;
}

void lgt_exchange_undo(lgt_exchange *x) {
  if (!x->saved) return;
  for (int n = 0; n < x->nstore && x->saved[n]; n++) /* so far had it come */
    x->store[n]->history = x->saved[n];
  x->record = NULL; /* what comes of it now is not what an exchange comes to */
  x->binder->agreed.exchanges--;
}

/* ---- meanwhile ---------------------------------------------------------------------------------------- */

static bool add_rects(lgt_region *region, const lgt_rect *rect, int n) {
  bool good = true;
  for (int i = 0; i < n && good; i++) good = lgt_region_add(region, &rect[i]);
  return good;
}

/* The elements of a piece for which a domain of this rank had no memory when they came. */
static bool add_absent(const lgt_replica *replica, const lgt_piece *piece, lgt_region *missing) {
  bool good = true;
  lgt_rect common;
  for (int i = 0; i < replica->absent.count && good; i++)
    if (lgt_rect_intersect(&replica->absent.rect[i], &piece->rect, &common))
      good = lgt_region_add(missing, &common);
  return good;
}

/* Where a domain of this rank has the elements of a piece: in one of its instances, or some here and some there.  What is
 * found has refs to its runs; what the domain does not have, although the history says so, is added to `missing`.  False
 * when out of memory. */
static bool find_here(const lgt_exchange *x, int n, const lgt_piece *piece, lgt_pieces *found,
                      lgt_region *missing) {
  int local = piece->rect.ndim ? piece->from - x->binder->map->first : 0, first = found->count;
  const lgt_replica *replica = &x->store[n]->replica[local];
  lgt_instance *inst = holder(x, n, piece->from, &piece->rect, true);
  if (inst) {
    if (!lgt_mem_grow((void **)&found->piece, &found->room, found->count + 1, sizeof *found->piece))
      return false;
    lgt_piece *all = &found->piece[found->count++];
    *all = *piece;
    all->inst = inst;
    lgt_runs_retain(all->runs);
    return true;
  }
  if (x->store[n]->failure) return true;
  lgt_region rest = {0};
  bool good = lgt_region_add(&rest, &piece->rect) && lgt_replica_find(replica, &rest, found) &&
              add_rects(missing, rest.rect, rest.count) && add_absent(replica, piece, missing);
  lgt_region_fini(&rest);
  for (int i = first; i < found->count && piece->runs; i++) {
    lgt_piece *part = &found->piece[i];
    part->along = piece->along;
    part->runs = lgt_runs_within(piece->runs, part->rect.lo[part->along], part->rect.hi[part->along]);
    good &= part->runs != NULL;
  }
  return good;
}

/* Between domains of this rank. */
static lgt_status copy_here(lgt_exchange *x, const lgt_move *move, const lgt_piece *piece, int to) {
  lgt_pieces found = {0};
  lgt_region missing = {0};
  bool good = true;
  int n = move->root, count = 0;
  for (int i = 0; i < move->count && good; i++) {
    if (!lgt_is_here(x->binder, piece[i].from) || piece[i].from == to) continue;
    lgt_instance *into = holder(x, n, to, &piece[i].rect, false);
    int first = found.count;
    if (into) good = find_here(x, n, &piece[i], &found, &missing);
    if (into && found.count == first && !into->failure && x->store[n]->failure)
      into->failure = lgt_failure_retain(x->store[n]->failure);
  }
  if (good)
    good = add_rects(&x->store[n]->replica[to - x->binder->map->first].absent, missing.rect, missing.count);
  lgt_copy *copies =
      good ? lgt_arena_alloc(&x->binder->arena, ((size_t)found.count + 1) * sizeof *copies) : NULL;
  for (int i = 0; copies && i < found.count; i++) {
    const lgt_piece *p = &found.piece[i];
    lgt_instance *into = holder(x, n, to, &p->rect, false);
    if (p->inst == into) continue; /* a scalar exists once on a rank */
    copies[count++] = (lgt_copy){p->inst, into, p->rect, -1, -1, p->runs, p->along, NULL};
  }
  lgt_status status = copies ? LGT_OK : lgt_no_memory_to_launch();
  if (!status && count) status = lgt_copy_submit(x->binder, copies, count);
  for (int i = 0; i < found.count; i++) lgt_runs_release(found.piece[i].runs);
  lgt_mem_free(found.piece);
  lgt_region_fini(&missing);
  return status;
}

/* A piece whose elements are in several instances, in one buffer.  *out: a ref; NULL: there is no memory. */
static lgt_status bring_together(const lgt_exchange *x, const lgt_piece *piece, const lgt_pieces *found,
                                 int elem, lgt_instance **out) {
  lgt_copy *copies = lgt_arena_alloc(&x->binder->arena, (size_t)found->count * sizeof *copies);
  if (!copies) return lgt_no_memory_to_launch();
  if (!(*out = lgt_instance_shared(x->binder->map, elem, &piece->rect))) return LGT_OK;
  for (int i = 0; i < found->count; i++) {
    const lgt_piece *p = &found->piece[i];
    copies[i] = lgt_copy_of(p->inst, *out, &p->rect);
    copies[i].runs = p->runs;
    copies[i].along = p->along;
  }
  return lgt_copy_submit(x->binder, copies, found->count);
}

/* Where a piece lies that this rank sends; if some of it is here and some there, a buffer with all.  *out: a ref; NULL: there
 * is no memory, or the contents failed. */
static lgt_status find_sent(const lgt_exchange *x, int n, const lgt_piece *piece, int elem,
                            lgt_instance **out) {
  if ((*out = holder(x, n, piece->from, &piece->rect, true))) lgt_instance_retain(*out);
  if (*out || x->store[n]->failure) return LGT_OK;
  lgt_pieces found = {0};
  lgt_region missing = {0};
  lgt_status status = find_here(x, n, piece, &found, &missing) ? LGT_OK : lgt_no_memory_to_launch();
  if (!status && found.count && !missing.count) status = bring_together(x, piece, &found, elem, out);
  for (int i = 0; i < found.count; i++) lgt_runs_release(found.piece[i].runs);
  lgt_mem_free(found.piece);
  lgt_region_fini(&missing);
  return status;
}

static void release_pieces(const lgt_exchange *x, const lgt_piece *placed, int n) {
  for (int i = 0; i < n; i++) lgt_instance_release(x->binder->map, placed[i].inst);
}

/* Copies within this rank into `to`: pieces that its own domains have, and what is everywhere. */
static lgt_status copy_here_to(lgt_exchange *x, const lgt_rect *rect, lgt_instance *to) {
  lgt_binder *binder = x->binder;
  const lgt_replica *replica = x->store[0]->replica;
  lgt_region rest = {0}, missing = {0};
  lgt_pieces found = {0};
  bool good = lgt_region_add(&rest, rect);
  for (int i = 0; i < binder->pieces.count && good; i++) {
    const lgt_piece *piece = &binder->pieces.piece[i];
    good = lgt_region_remove(&rest, &piece->rect);
    if (good && lgt_is_here(binder, piece->from)) good = find_here(x, 0, piece, &found, &missing);
  }
  if (good && !x->store[0]->failure) good = lgt_replica_find(replica, &rest, &found);
  lgt_copy *copies = good ? lgt_mem_alloc(((size_t)found.count + 1) * sizeof *copies) : NULL;
  for (int i = 0; copies && i < found.count; i++)
    copies[i] = lgt_copy_of(found.piece[i].inst, to, &found.piece[i].rect);
  lgt_status status = copies ? LGT_OK : lgt_no_memory_to_launch();
  if (!status && found.count) status = lgt_copy_submit(binder, copies, found.count);
  lgt_mem_free(copies);
  lgt_mem_free(found.piece);
  lgt_region_fini(&rest);
  lgt_region_fini(&missing);
  return status;
}

lgt_status lgt_exchange_peek(lgt_binder *binder, lgt_store *store, const lgt_rect *rect, lgt_instance **out) {
  lgt_exchange x = {.binder = binder, .nstore = 1, .nheld = 1, .store = &store};
  const lgt_layout *root = lgt_layout_at(binder->stores, store->layout);
  lgt_arena_reset(&binder->arena);
  binder->pieces.count = 0;
  binder->agreed.exchanges++;
  bool good = lgt_store_replicas(binder->map, store) != NULL;
  const lgt_footprint what = {.whole = *rect};
  int first;
  if (good) good = lgt_moves_pieces(binder, store->history, &what, LGT_NOBODY, &first);
  lgt_instance *to = lgt_instance_new(binder->map, 0, root, rect);
  lgt_status status = good ? LGT_OK : lgt_no_memory_to_launch();
  int n = binder->pieces.count;
  if (!status && n && binder->peers) {
    lgt_piece *placed = lgt_arena_alloc(&binder->arena, (size_t)n * sizeof *placed);
    int *owner = lgt_arena_alloc(&binder->arena, (size_t)n * sizeof *owner);
    if (!placed || !owner) status = lgt_no_memory_to_launch();
    int elem = lgt_dtype_size(root->dtype), count = 0;
    for (; count < n && !status; count++) {
      const lgt_piece *piece = &binder->pieces.piece[count];
      owner[count] = lgt_rank_of(binder, piece->from);
      placed[count] = *piece;
      placed[count].inst = to ? lgt_instance_retain(to) : NULL;
      if (!lgt_is_here(binder, piece->from)) continue;
      lgt_instance_release(binder->map, to);
      status = find_sent(&x, 0, piece, elem, &placed[count].inst);
    }
    if (!status) status = lgt_message_share(binder, lgt_message_tag(binder, 0, 0), placed, owner, n, elem);
    if (placed) release_pieces(&x, placed, count);
  }
  if (!status && to) status = copy_here_to(&x, rect, to);
  if (status && binder->peers) binder->peers->abort(binder->peers, lgt_message());
  if (status) return lgt_instance_release(binder->map, to), status;
  *out = to;
  return to ? LGT_OK : LGT_NO_MEMORY;
}

/* A message of pieces for all ranks. */
static lgt_status share(lgt_exchange *x, const lgt_move *move, const lgt_piece *piece, uint64_t tag,
                        int elem) {
  lgt_binder *binder = x->binder;
  lgt_piece *placed = lgt_arena_alloc(&binder->arena, (size_t)move->count * sizeof *placed);
  int *owner = lgt_arena_alloc(&binder->arena, (size_t)move->count * sizeof *owner);
  if (!placed || !owner) return lgt_no_memory_to_launch();
  lgt_status status = LGT_OK;
  int n = 0;
  for (; n < move->count && !status; n++) {
    bool mine = lgt_is_here(binder, piece[n].from);
    owner[n] = lgt_rank_of(binder, piece[n].from);
    placed[n] = piece[n];
    placed[n].inst = mine ? NULL : holder(x, move->root, binder->map->first, &piece[n].rect, false);
    if (placed[n].inst) lgt_instance_retain(placed[n].inst);
    if (mine) status = find_sent(x, move->root, &piece[n], elem, &placed[n].inst);
  }
  if (!status) status = lgt_message_share(binder, tag, placed, owner, move->count, elem);
  release_pieces(x, placed, n);
  return status ? status : copy_here(x, move, piece, binder->map->first);
}

static bool forget_absent(lgt_region *absent, const lgt_piece *piece) {
  lgt_rect rect = piece->rect;
  if (!piece->runs) return lgt_region_remove(absent, &rect);
  bool good = true;
  for (int64_t i = 0; i < piece->runs->count && good; i++) {
    rect.lo[piece->along] = piece->runs->run[i][0];
    rect.hi[piece->along] = piece->runs->run[i][1];
    good = lgt_region_remove(absent, &rect);
  }
  return good;
}

/* Remember what comes to a local domain, or cannot for want of memory. */
static bool note_arrival(lgt_exchange *x, const lgt_move *move, const lgt_piece *piece) {
  int to = move->to == LGT_NOBODY ? x->binder->map->first : move->to;
  int local = to - x->binder->map->first;
  lgt_replica *replica = &x->store[move->root]->replica[local];
  lgt_region *absent = &replica->absent;
  bool good = true;
  for (int i = 0; i < move->count && good; i++) {
    if (piece[i].from == to) continue;
    lgt_instance *inst = holder(x, move->root, to, &piece[i].rect, false);
    if (!inst) good = lgt_region_add(absent, &piece[i].rect), x->plain = false;
    else if (absent->count) good = forget_absent(absent, &piece[i]);
    if (!inst || !good) continue;
    /* Of runs, too: what else the domain has of the rect has already been copied there. */
    good = lgt_replica_written(replica, inst, &piece[i].rect);
    if (x->lacks) lgt_acquire_arrival(x->binder->map, inst, &piece[i]);
  }
  return good;
}

static bool any_absent(const lgt_exchange *x) {
  for (int at = 0; at < x->binder->map->local * x->nheld; at++)
    if (x->store[at % x->nheld]->replica[at / x->nheld].absent.count) return true;
  return false;
}

bool lgt_exchange_lacks_memory(const lgt_exchange *x) {
  const lgt_map *map = x->binder->map;
  if (x->plain || !any_absent(x)) return false;
  for (int i = 0; i < x->group->notes->ntouch; i++) {
    const lgt_touch *t = &x->group->notes->touch[i];
    const lgt_footprint *what = selected_around(x->binder, x->group, t).what;
    for (int d = 0; d < map->local && t->reads; d++) {
      const lgt_region *absent = &x->store[t->root]->replica[d].absent;
      lgt_rect rect, common;
      if (!absent->count) continue;
      for (int k = -1; (k = lgt_footprint_next(&map->footprints, what, map->first + d, k, &rect)) >= 0;)
        for (int a = 0; a < absent->count; a++)
          if (lgt_rect_intersect(&absent->rect[a], &rect, &common)) return true;
    }
  }
  return false;
}

/* What a local domain writes it has: in its main instance, unless it is left to a recipe. */
static bool note_written_by(const lgt_exchange *x, int n, const lgt_footprint *what, int domain) {
  lgt_map *map = x->binder->map;
  const lgt_store *store = x->store[n];
  const lgt_layout *root = lgt_layout_at(x->binder->stores, store->layout);
  lgt_replica *replica = &store->replica[domain];
  lgt_rect all = lgt_rect_of_shape(root->ndim, root->shape), rect;
  bool good = true;
  if (what->exact && lgt_rect_contains(&what->whole, &all)) lgt_replica_drop_asides(map, replica);
  for (int k = -1;
       good && (k = lgt_footprint_next(&map->footprints, what, map->first + domain, k, &rect)) >= 0;) {
    good = lgt_region_remove(&replica->absent, &rect);
    if (good) good = lgt_replica_written(replica, store->recipe ? NULL : replica->inst, &rect);
  }
  return good;
}

static bool note_written(const lgt_exchange *x) {
  bool good = true;
  for (int i = 0; i < x->group->notes->ntouch; i++) {
    const lgt_touch *t = &x->group->notes->touch[i];
    const lgt_footprint *what = t->repeats ? t->around : lgt_touch_selected(x->binder, x->group, t).what;
    for (int d = 0; d < x->binder->map->local && t->writes && good; d++) {
      const lgt_replica *r = &x->store[t->root]->replica[d];
      if (!r->absent.count && !r->naside && !r->old.count) continue;
      good = note_written_by(x, t->root, what, d);
    }
  }
  return good;
}

static lgt_status carry_out(lgt_exchange *x, const lgt_move *move) {
  lgt_binder *binder = x->binder;
  const lgt_piece *piece = binder->pieces.piece + move->first;
  const lgt_layout *root = lgt_layout_at(binder->stores, x->store[move->root]->layout);
  int elem = lgt_dtype_size(root->dtype);
  uint64_t tag = lgt_message_tag(binder, move->place, move->to == LGT_NOBODY ? 0 : move->to);
  lgt_status status = LGT_OK;
  if (x->replays && x->record && lgt_record_carry(x, x->record, move, tag, &status)) return status;
  if (!move->sends && !note_arrival(x, move, piece)) return lgt_no_memory_to_launch();
  if (move->to == LGT_NOBODY) return share(x, move, piece, tag, elem);
  if (move->peer < 0) return copy_here(x, move, piece, move->to);
  lgt_piece *placed = lgt_arena_alloc(&binder->arena, (size_t)move->count * sizeof *placed);
  if (!placed) return lgt_no_memory_to_launch();
  int n = 0;
  for (; n < move->count && !status; n++) {
    placed[n] = piece[n];
    if (move->sends) {
      status = find_sent(x, move->root, &piece[n], elem, &placed[n].inst);
    } else {
      placed[n].inst = holder(x, move->root, move->to, &piece[n].rect, false);
      if (placed[n].inst) lgt_instance_retain(placed[n].inst);
    }
  }
  if (!status)
    status = move->sends ? lgt_message_send(binder, move->peer, tag, placed, n, elem)
                         : lgt_message_recv(binder, move->peer, tag, placed, n, elem);
  release_pieces(x, placed, n);
  return status;
}

/* What came for one part of a store, another part may have, too. */
static lgt_status refresh_parts(lgt_exchange *x) {
  lgt_status status = LGT_OK;
  find_parts_again(x);
  for (int at = 0; at < x->binder->map->local * x->nheld && !status; at++) {
    lgt_replica *replica = &x->store[at % x->nheld]->replica[at / x->nheld];
    if (x->inst[at] && lgt_replica_old(replica, x->inst[at])->count)
      status = lgt_acquire_refresh(x->binder, replica, x->inst[at], &x->cover[at], NULL);
  }
  return status;
}

static lgt_status carry_out_all(lgt_exchange *x, bool early, bool sends) {
  lgt_status status = LGT_OK;
  for (int i = 0; i < x->binder->nmove && !status; i++) {
    const lgt_move *move = &x->binder->move[i];
    if (move->early == early && move->sends == sends) status = carry_out(x, move);
  }
  return status;
}

/* What is half done cannot be taken back, and other ranks have gone on. */
static lgt_status end_moves(const lgt_exchange *x, lgt_status status) {
  lgt_status flushed = lgt_message_flush(x->binder);
  if (!status) status = flushed;
  if (status && x->binder->peers) x->binder->peers->abort(x->binder->peers, lgt_message());
  return status;
}

/* What is sent leaves before anything comes, on every rank: else each would wait for the other. */
lgt_status lgt_exchange_send(lgt_exchange *x) {
  find_parts_again(x);
  lgt_status status = carry_out_all(x, true, true);
  if (!status) status = carry_out_all(x, true, false);
  if (!status) status = carry_out_all(x, false, true);
  return end_moves(x, status);
}

lgt_status lgt_exchange_receive(lgt_exchange *x) {
  lgt_status status = end_moves(x, carry_out_all(x, false, false));
  return !status && x->split ? end_moves(x, refresh_parts(x)) : status;
}

lgt_status lgt_exchange_move(lgt_exchange *x) {
  lgt_status status = lgt_exchange_send(x);
  return status ? status : lgt_exchange_receive(x);
}

/* ---- afterwards --------------------------------------------------------------------------------------- */

/* Each domain has its tile in its main instance: there need not be others. */
static void end_consolidation(lgt_exchange *x) {
  lgt_map *map = x->binder->map;
  for (int at = 0; x->together && at < map->local * x->nheld; at++) {
    lgt_replica *replica = &x->store[at % x->nheld]->replica[at / x->nheld];
    if (x->together[at % x->nheld] && !x->split && replica->inst && x->cover[at].ndim >= 0 &&
        lgt_rect_contains(&replica->inst->rect, &x->cover[at]))
      lgt_replica_drop_asides(map, replica);
  }
}

/* Is anything that a local domain has put aside still what the store has there? */
static bool is_current(const lgt_exchange *x, const lgt_store *store, int domain, const lgt_aside *aside) {
  const lgt_map *map = x->binder->map;
  lgt_region rest = {0};
  lgt_pieces lacking = {0};
  if (store->history->nimage) return true; /* of what images brought the events do not tell */
  bool good = lgt_region_add(&rest, &aside->inst->rect);
  for (int i = 0; i < aside->old.count && good; i++) good = lgt_region_remove(&rest, &aside->old.rect[i]);
  for (int i = 0; i < rest.count && good; i++)
    good = lgt_history_lacks(store->history, &map->footprints, NULL, map->first + domain, &rest.rect[i],
                             &lacking);
  for (int i = 0; i < lacking.count && good; i++) good = lgt_region_remove(&rest, &lacking.piece[i].rect);
  bool any = rest.count > 0;
  lgt_region_fini(&rest);
  lgt_mem_free(lacking.piece);
  return any || !good;
}

/* Give back what is of no use any more.  Tasks in flight hold what they work on. */
static void tidy(lgt_exchange *x) {
  lgt_map *map = x->binder->map;
  for (int i = 0; i < x->nstore && x->binder->check; i++)
    lgt_verified(lgt_history_verify(&map->histories, x->store[i]->history));
  for (int i = 0; i < x->nstore; i++)
    for (int d = 0; d < map->local; d++) {
      lgt_replica *replica = &x->store[i]->replica[d];
      for (int k = replica->naside - 1; k >= 0; k--)
        if (!is_current(x, x->store[i], d, &replica->aside[k])) lgt_replica_drop(map, replica, k);
      lgt_replica_tidy(map, replica);
    }
  for (int i = 0; i < x->nstore && lgt_log_on(MAP, 3); i++) lgt_exchange_log_instances(x, x->store[i]);
}

/* The touches that write, one after the other. */
static bool write_all(lgt_exchange *x) {
  for (int i = 0; i < x->group->notes->ntouch; i++) {
    lgt_touch *t = &x->group->notes->touch[i];
    lgt_store *store = x->store[t->root];
    if (!t->writes) continue;
    const lgt_footprint *what = lgt_touch_selected(x->binder, x->group, t).what;
    lgt_histories *histories = &x->binder->map->histories;
    if (!lgt_history_written(histories, &store->history, what)) return false;
    if (t->repeats && !lgt_history_read(histories, &store->history, t->around)) return false;
    store->key = lgt_touch_key_after(x->binder, x->group, t, store->key);
    store->written = true;
    store->version = ++x->binder->agreed.versions;
  }
  return true;
}

lgt_status lgt_exchange_end(lgt_exchange *x) {
  bool replays = x->record && x->replays && !x->binder->check, plain = x->plain || is_plain(x);
  lgt_assert(!x->binder->check || plain == is_plain(x));
  int64_t versions = x->binder->agreed.versions;
  end_consolidation(x);
  if (replays) lgt_record_finish(x, x->record);
  if ((!replays && !write_all(x)) || (!plain && !note_written(x))) return lgt_no_memory_to_launch();
  if (x->record && !replays) lgt_record_end(x, x->record, versions);
  if (!plain || x->binder->check || lgt_log_on(MAP, 3)) tidy(x);
  return LGT_OK;
}
