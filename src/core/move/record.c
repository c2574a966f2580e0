/* record.c - see record.h.  A record is one block of memory. */
#include "move/record.h"

#include "move/room.h"

#include <string.h>

/* From so many exchanges in a row on that were like no record, only one in as many is recorded. */
enum { UNLIKE = 4, SELDOM = 64 };

/* What an exchange found of a store, and left. */
typedef struct past {
  const lgt_history *before, *begun, *after;
  const lgt_partition *key, *key_after;
  int64_t version; /* the last of its new contents, counted from the exchange's first; 0: it has none */
} past;

struct lgt_record {
  int64_t forgets;  /* of the binder, when it was made */
  int64_t versions; /* how many new ones there are */
  bool ended;
  int nstore, nmove, npiece;
  past *store;
  lgt_move *move; /* with their pieces from 0 on */
  lgt_piece *piece;
  lgt_small **small;  /* by move: as it goes if it is a small message; NULL: it is none */
  lgt_portion *ahead; /* by local domain */
  bool knows_ahead;
  bool *gets;
};

static bool is_by_data(const lgt_exchange *x) { return x->split || x->binder->selecting == x->group; }

/* Do the moves follow from more than histories and keys?  Then how such an exchange is counted, else REPLAYED. */
static int rests_on_more(const lgt_exchange *x) {
  if (is_by_data(x)) return LGT_EXCHANGES_BY_DATA;
  for (int i = 0; i < x->nstore; i++)
    if (lgt_history_scattered(x->saved[i])) return LGT_EXCHANGES_GATHERED;
  return LGT_EXCHANGES_REPLAYED;
}

static bool is_good(const lgt_exchange *x, const lgt_record *r) {
  return r && r->ended && r->forgets == x->binder->forgets;
}

static bool is_like(const lgt_exchange *x, const lgt_record *r) {
  for (int i = 0; i < x->nstore; i++)
    if (x->saved[i] != r->store[i].before || x->store[i]->key != r->store[i].key) return false;
  return true;
}

/* How the exchange is counted.  REPLAYED: *at is the place of the record that is like it among its group's. */
static int judge(const lgt_exchange *x, int *at) {
  int what = LGT_EXCHANGES_NEW;
  for (*at = 0; *at < LGT_RECORDS && !is_by_data(x); ++*at) {
    const lgt_record *r = x->group->notes->recorded[*at];
    if (!is_good(x, r)) continue;
    if (is_like(x, r)) return LGT_EXCHANGES_REPLAYED;
    what = LGT_EXCHANGES_CHANGED;
  }
  int more = rests_on_more(x);
  return more == LGT_EXCHANGES_REPLAYED ? what : more;
}

static lgt_record *bring_to_front(lgt_plan_notes *notes, int at) {
  lgt_record *r = notes->recorded[at];
  notes->recorded[at] = notes->recorded[0];
  notes->recorded[0] = r;
  return r;
}

lgt_record *lgt_record_find(const lgt_exchange *x) {
  lgt_plan_notes *notes = x->group->notes;
  int at, what = judge(x, &at);
  x->binder->exchanged[what]++;
  if (what == LGT_EXCHANGES_CHANGED) notes->unlike++;
  if (what != LGT_EXCHANGES_REPLAYED) return NULL;
  notes->unlike = 0;
  return bring_to_front(notes, at);
}

bool lgt_record_replay(lgt_exchange *x, const lgt_record *r) {
  if (x->ready) x->binder->exchanged[LGT_EXCHANGES_REPLAYED]++, x->group->notes->unlike = 0;
  if (!lgt_moves_add(x->binder, r->move, r->nmove, r->piece, r->npiece)) return false;
  for (int i = 0; i < x->nstore; i++) x->store[i]->history = r->store[i].begun;
  x->gets = r->gets;
  return true;
}

/* In one domain: is the only instance of a store, number n of the exchange, as that wants it? */
static bool is_there(const lgt_exchange *x, const lgt_store *store, int n, int domain) {
  const lgt_replica *replica = store->replica ? &store->replica[domain] : NULL;
  int at = domain * x->nheld + n;
  bool covers = n < x->nheld && x->cover[at].ndim >= 0;
  if (!replica) return !covers;
  if (replica->naside | replica->old.count | replica->absent.count) return false;
  if (replica->inst && replica->inst->failure) return false;
  return !covers || lgt_acquire_suits(store, domain, x->binder->map->memory, &x->cover[at],
                                      lgt_exchange_use(x, n, x->gets[at]));
}

/* Are the stores as the record has them?  They are listed, and their histories, as far as it is so. */
static bool is_as_before(lgt_exchange *x, const lgt_record *r, const uint32_t *root) {
  const lgt_map *map = x->binder->map;
  for (int n = 0; n < x->nstore; n++) {
    lgt_store *store = lgt_store_at(x->binder->stores, root[x->group->notes->touched[n].root]);
    const lgt_history *history = store->history ? store->history : &map->histories.none;
    if (history != r->store[n].before || store->key != r->store[n].key) return false;
    if (store->recipe || store->failure) return false;
    for (int d = 0; d < map->local; d++)
      if (!is_there(x, store, n, d)) return false;
    x->store[n] = store;
    x->found[n] = history;
  }
  return true;
}

bool lgt_record_again(lgt_exchange *x, lgt_binder *binder, const lgt_plan_group *group,
                      const uint32_t *root) {
  lgt_plan_notes *notes = group->notes;
  size_t n = (size_t)notes->ntouched + 1;
  *x = (lgt_exchange){
      .binder = binder, .group = group, .nstore = notes->ntouched, .nheld = notes->nheld, .replays = true};
  /* Whoever checks or reads a log wants all of it. */
  bool may = !binder->check && binder->map->nmemory == 1 && !group->split && notes->cover &&
             !lgt_log_on(MAP, 3) && !lgt_log_on(MOVE, 3) && lgt_room_take(x);
  if (may) x->store = lgt_arena_alloc(&binder->arena, n * (sizeof *x->store + sizeof *x->found));
  if (x->store) x->found = (const lgt_history **)(x->store + n);
  for (int k = 0; x->store && k < LGT_RECORDS && !x->ready; k++) {
    lgt_record *r = notes->recorded[k];
    if (!is_good(x, r)) continue;
    x->gets = r->gets;
    if (!is_as_before(x, r, root)) continue;
    x->record = bring_to_front(notes, k);
    x->plain = x->ready = true;
  }
  if (!x->ready) *x = (lgt_exchange){0};
  return x->ready;
}

static bool is_worth_it(const lgt_exchange *x) {
  int unlike = x->group->notes->unlike;
  if (x->group->plan->origin) return false; /* a shifted plan runs once */
  return rests_on_more(x) == LGT_EXCHANGES_REPLAYED && (unlike < UNLIKE || unlike % SELDOM == 0);
}

static int elem_of(const lgt_exchange *x, const lgt_move *move) {
  return lgt_dtype_size(lgt_layout_at(x->binder->stores, x->store[move->root]->layout)->dtype);
}

/* The bytes of a move as a small message; 0: it is none. */
static size_t small_size(const lgt_exchange *x, const lgt_move *move) {
  const lgt_piece *piece = x->binder->pieces.piece + move->first;
  int64_t bytes = 0;
  if (move->peer < 0 || move->to == LGT_NOBODY) return 0;
  for (int i = 0; i < move->count; i++) {
    if (piece[i].runs) return 0;
    bytes += lgt_rect_size(&piece[i].rect) * elem_of(x, move);
  }
  return bytes <= LGT_SMALL_MOST ? lgt_small_size(move->count) : 0;
}

static void make_small(const lgt_exchange *x, lgt_record *r, char *memory) {
  for (int i = 0; i < r->nmove; i++) {
    const lgt_move *move = &r->move[i];
    size_t size = small_size(x, move);
    r->small[i] = size ? (lgt_small *)memory : NULL;
    if (size)
      lgt_small_make(r->small[i], move->peer, move->sends, r->piece + move->first, move->count,
                     elem_of(x, move));
    memory += size;
  }
}

bool lgt_record_carry(const lgt_exchange *x, const lgt_record *r, const lgt_move *move, uint64_t tag,
                      lgt_status *status) {
  enum { FEW = 8 };
  lgt_instance *inst[FEW];
  const lgt_store *store = x->store[move->root];
  const lgt_piece *piece = r->piece + move->first;
  const lgt_small *small = r->small[move - x->binder->move];
  bool good = small && small->n <= FEW && !x->lacks && !(move->sends && store->failure);
  for (int i = 0; good && i < small->n; i++) {
    int domain = (move->sends ? piece[i].from : move->to) - x->binder->map->first;
    const lgt_replica *replica = &store->replica[piece[i].rect.ndim ? domain : 0];
    inst[i] = replica->inst;
    good = inst[i] && (x->plain || (!replica->naside && !replica->old.count && !replica->absent.count &&
                                    lgt_rect_contains(&inst[i]->rect, &piece[i].rect)));
    lgt_assert(!good || !x->binder->check || lgt_rect_contains(&inst[i]->rect, &piece[i].rect));
  }
  if (!good || !lgt_small_may_go(x->binder, small, inst)) return false;
  *status = lgt_message_small(x->binder, small, inst, tag);
  return true;
}

lgt_record *lgt_record_begin(const lgt_exchange *x) {
  const lgt_binder *binder = x->binder;
  lgt_plan_notes *notes = x->group->notes;
  size_t stores = (size_t)x->nstore * sizeof(past), moves = (size_t)binder->nmove * sizeof(lgt_move),
         pieces = (size_t)binder->pieces.count * sizeof(lgt_piece),
         messages = (size_t)binder->nmove * sizeof(lgt_small *),
         ahead = (size_t)binder->map->local * sizeof(lgt_portion),
         gets = (size_t)binder->map->local * (size_t)x->nheld,
         size = stores + pieces + moves + messages + ahead;
  for (int i = 0; i < binder->nmove; i++) size += small_size(x, &binder->move[i]);
  lgt_record *r = is_worth_it(x) ? lgt_mem_alloc(sizeof *r + size + gets) : NULL;
  if (!r) return NULL;
  *r = (lgt_record){.forgets = binder->forgets,
                    .nstore = x->nstore,
                    .nmove = binder->nmove,
                    .npiece = binder->pieces.count};
  r->store = (past *)(r + 1);
  r->piece = (lgt_piece *)(r->store + r->nstore);
  r->ahead = (lgt_portion *)(r->piece + r->npiece);
  r->small = (lgt_small **)(r->ahead + binder->map->local);
  r->gets = (bool *)(r + 1) + size;
  r->move = (lgt_move *)(r->gets - moves);
  for (int i = 0; i < r->nstore; i++)
    r->store[i] = (past){.before = x->saved[i], .begun = x->store[i]->history, .key = x->store[i]->key};
  if (moves) memcpy(r->move, binder->move, moves);
  if (pieces) memcpy(r->piece, binder->pieces.piece, pieces);
  make_small(x, r, (char *)(r->small + r->nmove));
  memcpy(r->gets, x->gets, gets);
  lgt_mem_free(notes->recorded[LGT_RECORDS - 1]);
  memmove(notes->recorded + 1, notes->recorded, (LGT_RECORDS - 1) * sizeof *notes->recorded);
  notes->recorded[0] = r;
  return r;
}

lgt_portion *lgt_record_ahead(lgt_record *r, bool *known) {
  *known = r->knows_ahead;
  r->knows_ahead = true;
  return r->ahead;
}

void lgt_record_finish(const lgt_exchange *x, const lgt_record *r) {
  for (int i = 0; i < r->nstore; i++) {
    const past *p = &r->store[i];
    lgt_store *store = x->store[i];
    store->history = p->after;
    if (!p->version) continue;
    store->key = p->key_after;
    store->version = x->binder->agreed.versions + p->version;
    store->written = true;
  }
  x->binder->agreed.versions += r->versions;
}

static bool is_same_piece(const lgt_piece *a, const lgt_piece *b) {
  return lgt_rect_equal(&a->rect, &b->rect) && a->from == b->from && a->runs == b->runs;
}

static bool is_same_move(const lgt_move *a, const lgt_move *b) {
  return a->root == b->root && a->place == b->place && a->early == b->early && a->to == b->to &&
         a->peer == b->peer && a->sends == b->sends && a->first == b->first && a->count == b->count;
}

bool lgt_record_verify(const lgt_exchange *x, const lgt_record *r, bool ended) {
  const lgt_binder *binder = x->binder;
  bool same = r->nmove == binder->nmove && r->npiece == binder->pieces.count;
  for (int i = 0; i < r->nmove && same; i++) same = is_same_move(&r->move[i], &binder->move[i]);
  for (int i = 0; i < r->npiece && same; i++) same = is_same_piece(&r->piece[i], &binder->pieces.piece[i]);
  if (!same) return lgt_err(LGT_SYSTEM, "record: other elements move than were recorded"), false;
  for (int i = 0; i < r->nstore; i++) {
    const past *p = &r->store[i];
    const lgt_partition *key = x->store[i]->key; /* NULL: there may have been no memory for it */
    if (x->store[i]->history != (ended ? p->after : p->begun) || (ended && key && key != p->key_after))
      return lgt_err(LGT_SYSTEM, "record: another history or key than was recorded"), false;
  }
  return true;
}

void lgt_record_end(const lgt_exchange *x, lgt_record *r, int64_t versions) {
  if (x->replays) return lgt_verified(lgt_record_verify(x, r, true));
  bool good = true;
  r->versions = x->binder->agreed.versions - versions;
  for (int i = 0; i < r->nstore; i++) {
    past *p = &r->store[i];
    p->after = x->store[i]->history;
    p->key_after = x->store[i]->key;
    p->version = x->store[i]->version > versions ? x->store[i]->version - versions : 0;
  }
  for (int i = 0; i < x->group->notes->ntouch; i++) {
    const lgt_touch *t = &x->group->notes->touch[i];
    good = good && (!t->writes || t->keyed); /* else there was perhaps no memory for the key */
  }
  r->ended = good;
}
