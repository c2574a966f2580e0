/* acquire.c - memory of a domain for some elements of a store.  See acquire.h. */
#include "move/acquire.h"

#include "base/random.h"
#include "memory/replica.h"
#include "move/job.h"
#include "move/message.h"

/* By no more than a tile, or, if data has named what is wanted, however far.  False: it is wide enough. */
static bool widen(lgt_halo *halo, const lgt_rect *had, const lgt_rect *want, bool named) {
  bool changed = false;
  for (int d = 0; d < had->ndim; d++) {
    int64_t below = had->lo[d] - want->lo[d], above = want->hi[d] - had->hi[d],
            most = named ? INT64_MAX : had->hi[d] - had->lo[d] + 2;
    if (below <= most && below > halo->below[d]) halo->below[d] = below, changed = true;
    if (above <= most && above > halo->above[d]) halo->above[d] = above, changed = true;
  }
  return changed;
}

/* Halos make an instance grow so many times at most: what goes on growing is written piece by piece. */
enum { FEW_GROWTHS = 2 };

static lgt_habit *habit_of(lgt_binder *binder, const lgt_store *store) {
  lgt_habit *habit = &binder->habit[store->layout % LGT_HABITS];
  if (habit->layout != store->layout) *habit = (lgt_habit){.layout = store->layout};
  return habit;
}

/* What the group that made memory of the store has learned of that; NULL: nobody learns it, and the memory has to grow again. */
static lgt_halo *halo_of(const lgt_store *store) {
  if (!store->housed) return NULL;
  lgt_plan_notes *notes = store->housed->notes;
  if (!notes->halo) notes->halo = lgt_mem_zalloc((size_t)store->housed->nslot * sizeof *notes->halo);
  return notes->halo ? &notes->halo[store->housed_slot] : NULL;
}

/* The instance of a tile has to grow, by a halo perhaps: the group that made it makes room for that from now on, and those
 * that make the first arrays like it do. */
static void learn_halo(lgt_binder *binder, const lgt_store *store, const lgt_rect *made_for,
                       const lgt_rect *want) {
  widen(&habit_of(binder, store)->halo, made_for, want, false);
  lgt_halo *halo = halo_of(store);
  if (halo && widen(halo, made_for, want, false)) store->housed->notes->halos++;
}

/* It has grown to have memory for all between the elements that data names. */
static void learn_named(lgt_binder *binder, const lgt_store *store, const lgt_rect *made_for,
                        const lgt_rect *want) {
  if (lgt_rect_empty(made_for)) return;
  widen(&habit_of(binder, store)->named, made_for, want, true);
  lgt_halo *halo = halo_of(store);
  if (halo && widen(halo, made_for, want, true)) store->housed->notes->halos++;
}

void lgt_acquire_housed(lgt_store *store, const lgt_plan_group *lasting, int slot) {
  store->housed = lasting;
  store->housed_slot = (uint16_t)slot;
}

lgt_status lgt_acquire_refresh(lgt_binder *binder, lgt_replica *replica, lgt_instance *inst,
                               const lgt_rect *rect, const lgt_rect *spare) {
  lgt_region want = {0}, *old = lgt_replica_old(replica, inst);
  lgt_pieces found = {0};
  bool good = true;
  for (int i = 0; i < old->count && good; i++) {
    lgt_rect common;
    if (lgt_rect_intersect(&old->rect[i], rect, &common)) good = lgt_region_add(&want, &common);
  }
  if (good && spare) good = lgt_region_remove(&want, spare);
  if (good) good = lgt_replica_find(replica, &want, &found);
  int n = found.count;
  lgt_copy *copies = good && n ? lgt_mem_alloc((size_t)n * sizeof *copies) : NULL;
  lgt_status status = good && (copies || !n) ? LGT_OK : lgt_no_memory_to_launch();
  for (int i = 0; i < n && !status; i++)
    copies[i] = lgt_copy_of(found.piece[i].inst, inst, &found.piece[i].rect);
  if (!status && n) status = lgt_copy_submit(binder, copies, n);
  if (!status && !lgt_region_remove(old, rect)) status = lgt_no_memory_to_launch();
  lgt_mem_free(copies);
  lgt_mem_free(found.piece);
  lgt_region_fini(&want);
  return status;
}

static void note_rows(lgt_thin *thin, int64_t row, const lgt_rect *rect) {
  if (!lgt_rect_empty(rect)) lgt_thin_note(thin, rect->lo[0] * row, rect->hi[0] * row);
}

static void note_picks(lgt_thin *thin, int64_t row, const lgt_picks *picks) {
  for (int i = 0; i < picks->count; i++)
    for (int64_t k = 0; k < picks->runs[i]->count; k++)
      lgt_thin_note(thin, picks->runs[i]->run[k][0] * row, picks->runs[i]->run[k][1] * row);
  if (picks->rest.ndim >= 0) note_rows(thin, row, &picks->rest);
}

/* If little of what an instance shall hold is needed: a block with the pages of that, for all of the store along the first
 * dimension, so that it need not grow; *want says so then.  NULL: it is not worth it. */
static lgt_thin *thin_for(lgt_binder *binder, const lgt_layout *root, const lgt_rect *had,
                          const lgt_picks *picks, lgt_rect *want) {
  enum { SAVED = 1 << 20, OF = 4 }; /* bytes, and one of so many */
  int64_t row = lgt_dtype_size(root->dtype), most = 0;
  if (!picks || !picks->count || !want->ndim || lgt_rect_empty(want)) return NULL;
  for (int d = 1; d < want->ndim; d++) row *= want->hi[d] - want->lo[d];
  int64_t bytes = row * (want->hi[0] - want->lo[0]), limit = bytes - bytes / OF;
  if (limit > bytes - SAVED && !lgt_random_choice(&binder->jitter)) limit = bytes - SAVED;
  for (int i = 0; i < picks->count; i++)
    if (picks->runs[i]->total > most) most = picks->runs[i]->total;
  if (most * row > limit) return NULL;
  lgt_thin *thin = lgt_thin_new(row * root->shape[0]);
  if (!thin) return NULL;
  note_picks(thin, row, picks);
  if (had) note_rows(thin, row, had);
  if (lgt_thin_bytes(thin) > limit) return lgt_thin_free(thin), NULL;
  lgt_log(MAP, 2, "%lld of %lld bytes are needed", (long long)lgt_thin_bytes(thin), (long long)bytes);
  want->lo[0] = 0;
  want->hi[0] = root->shape[0];
  return thin;
}

/* Memory for the picked elements of a rect in an instance that covers it: for all of them, or for none. */
static lgt_status thicken(lgt_map *map, lgt_instance *inst, const lgt_rect *rect, const lgt_picks *picks,
                          bool needed) {
  if (!inst->thin) return LGT_OK;
  lgt_thin *more = lgt_thin_new(inst->thin->span);
  if (!more) return lgt_no_memory_to_launch();
  if (picks && picks->count) note_picks(more, inst->stride[0], picks);
  else note_rows(more, inst->stride[0], rect);
  bool good = lgt_instance_thicken(map, inst, more, needed);
  lgt_thin_free(more);
  return good ? LGT_OK : LGT_NO_MEMORY;
}

void lgt_acquire_arrival(lgt_map *map, lgt_instance *inst, const lgt_piece *piece) {
  lgt_picks picks = {.runs = {piece->runs}, .count = 1, .rest.ndim = -1};
  thicken(map, inst, &piece->rect, piece->runs && !piece->along ? &picks : NULL, true);
}

static lgt_instance *new_instance(lgt_map *map, lgt_memory *memory, int domain, const lgt_layout *root,
                                  const lgt_rect *rect, lgt_thin *thin) {
  if (!thin) return lgt_instance_in(map, memory, domain, root, rect);
  lgt_instance *inst = lgt_instance_new_thin(map, domain, root, rect, thin);
  if (!inst) lgt_thin_free(thin);
  return inst;
}

lgt_rect lgt_acquire_spacious(lgt_binder *binder, const lgt_rect *rect, const lgt_layout *root) {
  enum { SHARE = 32, LARGE = 1 << 20 };
  int64_t bytes = lgt_rect_size(rect) * lgt_dtype_size(root->dtype), rounded;
  lgt_halo halo = {0};
  int d = 0;
  while (d < rect->ndim && rect->hi[d] - rect->lo[d] == root->shape[d]) d++;
  if (d == rect->ndim || !bytes || (bytes < LARGE && !binder->jitter)) return *rect;
  lgt_pool_has(binder->map->pool, bytes, &rounded);
  int64_t side = rect->hi[d] - rect->lo[d], sides = (rect->lo[d] > 0) + (rect->hi[d] < root->shape[d]),
          room = (rounded - bytes) / (bytes / side) / sides;
  if (room > side / SHARE) room = side / SHARE;
  if (binder->jitter) room = lgt_random_choice(&binder->jitter);
  halo.below[d] = halo.above[d] = room;
  return lgt_rect_grown(rect, halo.below, halo.above, root->shape);
}

/* A larger or private instance for a domain, with the old one's elements; `beside`: one more, and the old one stays. */
static lgt_status replace_instance(lgt_binder *binder, lgt_store *store, int domain, lgt_memory *memory,
                                   const lgt_rect *rect, int64_t waste, const lgt_rect *spare, bool beside,
                                   const lgt_picks *picks) {
  lgt_replica *replica = &store->replica[domain];
  lgt_instance *old = beside ? NULL : replica->inst;
  lgt_rect had = old ? old->rect : *rect;
  lgt_rect piece[2 * LGT_MAX_DIM];
  lgt_copy copies[2 * LGT_MAX_DIM];
  const lgt_layout *root = lgt_layout_at(binder->stores, store->layout);
  lgt_rect want = *rect;
  lgt_thin *thin = memory->on_host ? thin_for(binder, root, old ? &had : NULL, picks, &want) : NULL;
  lgt_instance *inst = new_instance(binder->map, memory, domain, root, &want, thin);
  if (!inst) return LGT_NO_MEMORY;
  inst->waste = waste;
  if (old) inst->made_for = old->made_for;
  int n = 0;
  if (old && spare && old->rect.ndim) n = lgt_rect_subtract(&old->rect, spare, piece);
  else if (old) piece[n++] = old->rect;
  for (int i = 0; i < n; i++) copies[i] = lgt_copy_of(old, inst, &piece[i]);
  lgt_status status = n ? lgt_copy_submit(binder, copies, n) : LGT_OK;
  if (!status && beside && !lgt_replica_add(binder->map, replica, inst)) status = lgt_no_memory_to_launch();
  if (status) return lgt_instance_release(binder->map, inst), status;
  if (!beside) lgt_replica_set(binder->map, replica, inst);
  if (!replica->naside || lgt_replica_changed(replica, old ? &had : NULL)) return LGT_OK;
  /* Nobody knows any more which of its elements are old. */
  if (!inst->failure) inst->failure = lgt_failure_retain(binder->no_memory);
  return lgt_no_memory_to_launch();
}

/* May it have all of the array along the dimensions in which it grows?  That is no more than the domain's share of it. */
static bool grow_to_share(const lgt_map *map, const lgt_rect *had, const lgt_layout *root, lgt_rect *want) {
  enum { HALO = 16 }; /* a share has halos, of up to so many parts of it */
  lgt_rect all = *want;
  for (int d = 0; d < had->ndim; d++) {
    if (want->lo[d] >= had->lo[d] && want->hi[d] <= had->hi[d]) continue;
    all.lo[d] = 0;
    all.hi[d] = root->shape[d];
  }
  int64_t share = root->size / map->domains;
  if (lgt_rect_size(&all) > share + share / HALO) return false;
  *want = all;
  return true;
}

/* A margin (widen.h) that is thin beside its tile is soon wanted twice as wide, by a window of twice as many turns. */
static int64_t more_margin(int64_t margin, int64_t side) {
  enum { HALO = 4, THIN = 32 }; /* elements that a mere halo may have; a share of the tile */
  return margin > HALO && margin <= side / THIN ? margin : 0;
}

static void grow_margins(const lgt_instance *inst, const lgt_layout *root, lgt_rect *want) {
  const lgt_rect *had = &inst->rect, *tile = &inst->made_for;
  for (int d = 0; d < had->ndim; d++) {
    int64_t side = tile->hi[d] - tile->lo[d];
    if (want->lo[d] < had->lo[d]) want->lo[d] -= more_margin(tile->lo[d] - want->lo[d], side);
    if (want->hi[d] > had->hi[d]) want->hi[d] += more_margin(want->hi[d] - tile->hi[d], side);
    if (want->lo[d] < 0) want->lo[d] = 0;
    if (want->hi[d] > root->shape[d]) want->hi[d] = root->shape[d];
  }
}

/* An instance that has grown several times, a column at a time perhaps, grows by more than it must, so that all its growth
 * together copies little more than it has in the end. */
static void grow_ahead(const lgt_map *map, lgt_replica *replica, const lgt_layout *root, lgt_rect *want,
                       int64_t *waste) {
  enum { SHARE = 4 };
  const lgt_rect *had = &replica->inst->rect;
  int64_t size = lgt_rect_size(want);
  if (++replica->grown <= FEW_GROWTHS) {
    grow_margins(replica->inst, root, want);
    *waste += lgt_rect_size(want) - size;
    return;
  }
  bool all = grow_to_share(map, had, root, want);
  for (int d = 0; d < had->ndim && !all; d++) {
    int64_t more = (had->hi[d] - had->lo[d]) / SHARE;
    if (want->lo[d] < had->lo[d]) want->lo[d] = want->lo[d] > more ? want->lo[d] - more : 0;
    if (want->hi[d] > had->hi[d])
      want->hi[d] = want->hi[d] + more < root->shape[d] ? want->hi[d] + more : root->shape[d];
  }
  *waste += lgt_rect_size(want) - size;
}

lgt_status lgt_acquire(lgt_binder *binder, lgt_store *store, int domain, lgt_memory *memory,
                       const lgt_rect *rect, lgt_use use, const lgt_rect *spare, const lgt_picks *picks) {
  if (!lgt_store_replicas(binder->map, store)) return lgt_no_memory_to_launch();
  lgt_replica *replica = &store->replica[domain];
  bool many = !lgt_map_whole(binder->map), still = lgt_map_still(binder->map), beside = false,
       writes = use == LGT_USE_WRITE;
  int64_t waste = 0;
  const lgt_layout *root = lgt_layout_at(binder->stores, store->layout);
  lgt_rect all;
  if (!many && !still) { /* what is whole is brought whole to another memory */
    all = lgt_rect_of_shape(root->ndim, root->shape);
    rect = &all;
  }
  if (!still && replica->inst && (rect->ndim || binder->map->nmemory > 1)) {
    int k = lgt_replica_choose(replica, memory, rect, &waste);
    beside = k == LGT_REPLICA_NEW;
    if (k >= 0) lgt_replica_turn(replica, k);
  }
  bool covers = !beside && replica->inst && lgt_rect_contains(&replica->inst->rect, rect);
  if (use == LGT_USE_READ && lgt_region_meets(&replica->old, rect)) use = LGT_USE_RECEIVE;
  if (!covers || lgt_acquire_must_part(store, replica->inst, use)) {
    bool there = replica->inst && !beside;
    lgt_rect had = there ? replica->inst->rect : *rect, want = lgt_rect_bound(&had, rect);
    lgt_rect made_for = there ? replica->inst->made_for : *rect;
    if (!many) want = lgt_rect_of_shape(root->ndim, root->shape);
    if (there && many) {
      if (replica->grown < FEW_GROWTHS) learn_halo(binder, store, &made_for, &want);
      if (!covers) grow_ahead(binder->map, replica, root, &want, &waste);
    }
    bool fresh = !replica->inst && many && writes && !picks;
    if (fresh) want = lgt_acquire_spacious(binder, rect, root);
    lgt_status status = replace_instance(binder, store, domain, memory, &want, waste, spare, beside, picks);
    if (status) return status;
    if (fresh) replica->inst->made_for = *rect;
    if (picks && picks->count && !replica->inst->thin) learn_named(binder, store, &made_for, &want);
  }
  lgt_status status = thicken(binder->map, replica->inst, rect, picks, false);
  if (!status && replica->old.count)
    status = lgt_acquire_refresh(binder, replica, replica->inst, rect, spare);
  if (!status && writes && !many && replica->naside) lgt_replica_drop_asides(binder->map, replica);
  return status;
}

/* False: nothing is known of it. */
static bool halo_at(const lgt_plan_group *group, int slot, const lgt_rect *tile, lgt_halo *out) {
  enum { THIN = 16 };
  const lgt_plan_group *lasting = lgt_plan_group_lasting(group);
  if (!lasting->notes->halo) return false;
  *out = lasting->notes->halo[slot];
  for (int d = 0; d < tile->ndim && lasting != group; d++) {
    int64_t most = (tile->hi[d] - tile->lo[d]) / THIN;
    if (out->below[d] > most) out->below[d] = most;
    if (out->above[d] > most) out->above[d] = most;
  }
  return true;
}

lgt_rect lgt_acquire_margin(const lgt_plan_group *group, int slot, const lgt_rect *rect,
                            const lgt_layout *root) {
  lgt_halo halo;
  return halo_at(group, slot, rect, &halo) ? lgt_rect_grown(rect, halo.below, halo.above, root->shape)
                                           : *rect;
}

void lgt_acquire_made(const lgt_binder *binder, const lgt_plan_group *group, const lgt_store *store,
                      int domain, const lgt_rect *rect) {
  const lgt_layout *root = lgt_layout_at(binder->stores, store->layout);
  lgt_instance *inst = store->replica[domain].inst;
  lgt_rect *tile = &inst->made_for;
  lgt_halo halo;
  bool known = lgt_rect_equal(tile, rect) && halo_at(group, store->housed_slot, tile, &halo);
  for (int d = 0; d < tile->ndim && known; d++) {
    if (tile->lo[d] > 0) tile->lo[d] += halo.below[d];
    if (tile->hi[d] < root->shape[d]) tile->hi[d] -= halo.above[d];
    if (tile->lo[d] > tile->hi[d]) *tile = *rect, known = false; /* it has been learned since */
  }
}
