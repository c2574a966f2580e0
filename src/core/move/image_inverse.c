/* image_inverse.c - see image_inverse.h.
 *
 * Each rank looks at its share of the rows of positions, and sorts their numbers by whose tiles they lead to.  All tell
 * each other between which positions theirs lie; so everybody knows who may have rows for whom, and these write: for
 * each domain of the other rank, which rows.  What a rank holds may be cut in any way before.
 */
#include "move/image_inverse.h"

#include <string.h>

/* The rows that lead between two positions. */
typedef struct bucket {
  int64_t lo, hi;
  int64_t (*run)[2]; /* owned */
  int count, room;
} bucket;

typedef struct sorting {
  lgt_binder *binder;
  const lgt_inverse *inverse;
  bucket *
      bucket; /* owned, by domain of all ranks: where its tiles begin and end, and the rows here that lead there */
  bool ordered;   /* one begins where the one before ends */
  int64_t lo, hi; /* all positions here lie between; what is nowhere is everywhere */
  bool good;      /* false: out of memory */
} sorting;

static void add_run(bucket *b, int64_t lo, int64_t hi, bool *good) {
  if (b->count && b->run[b->count - 1][1] >= lo) {
    if (b->run[b->count - 1][1] < hi) b->run[b->count - 1][1] = hi;
    return;
  }
  if (!lgt_mem_grow((void **)&b->run, &b->room, b->count + 1, sizeof *b->run)) {
    *good = false;
    return;
  }
  b->run[b->count][0] = lo;
  b->run[b->count++][1] = hi;
}

/* Where each domain's tiles begin and end. */
static bool make_buckets(sorting *s) {
  const lgt_inverse *v = s->inverse;
  int n = s->binder->map->domains;
  s->bucket = lgt_mem_zalloc((size_t)n * sizeof *s->bucket);
  s->ordered = true;
  for (int d = 0; d < n && s->bucket; d++) {
    bucket *b = &s->bucket[d];
    for (int c = -1; (c = lgt_partition_next(v->launch, n, d, c)) >= 0;) {
      lgt_rect tile = lgt_partition_rect(v->launch, c);
      if (lgt_rect_empty(&tile)) continue;
      lgt_rect view = lgt_space_view_rect(v->target, v->align, &tile);
      if (b->lo >= b->hi) b->lo = view.lo[v->dim], b->hi = view.hi[v->dim];
      if (view.lo[v->dim] < b->lo) b->lo = view.lo[v->dim];
      if (view.hi[v->dim] > b->hi) b->hi = view.hi[v->dim];
    }
    if (b->lo >= b->hi) b->lo = b->hi = d ? s->bucket[d - 1].hi : 0;
    s->ordered &= b->lo == (d ? s->bucket[d - 1].hi : 0);
  }
  return s->bucket != NULL;
}

/* Row `row` holds this position, which may be nowhere. */
static void sort_position(sorting *s, int64_t row, int64_t position) {
  int64_t extent = s->inverse->target->shape[s->inverse->dim];
  int64_t at = position < 0 ? extent + position : position - s->inverse->base;
  int n = s->binder->map->domains, lo = 0, hi = n;
  bool nowhere = at < 0 || at >= extent;
  if (nowhere) s->lo = 0, s->hi = extent;
  if (!nowhere && at < s->lo) s->lo = at;
  if (!nowhere && at >= s->hi) s->hi = at + 1;
  if (s->ordered && !nowhere) {
    while (hi - lo > 1) { /* the first bucket that ends behind it */
      int middle = lo + (hi - lo) / 2;
      if (s->bucket[middle - 1].hi > at) hi = middle;
      else lo = middle;
    }
    add_run(&s->bucket[lo], row, row + 1, &s->good);
    return;
  }
  for (int d = 0; d < n; d++)
    if (nowhere || (at >= s->bucket[d].lo && at < s->bucket[d].hi))
      add_run(&s->bucket[d], row, row + 1, &s->good);
}

static void sort_tile(sorting *s, const lgt_tile *t) {
  int64_t index[LGT_MAX_DIM] = {0}, at = 0;
  const int64_t *stride = t->stride;
  for (int d = 0; d < t->ndim; d++)
    if (t->extent[d] <= 0) return;
  do {
    const char *p = (const char *)t->data + at;
    sort_position(s, t->origin[0] + index[0],
                  t->dtype == LGT_INT32 ? *(const int32_t *)p : *(const int64_t *)p);
  } while (lgt_index_next(t->ndim, t->extent, index, 1, &at, &stride));
}

/* Before anything was fetched, which the other ranks do. */
static bool give_up(const lgt_binder *binder) {
  if (binder->peers) binder->peers->abort(binder->peers, "out of memory for an image");
  return false;
}

/* Look at this rank's share of the rows; *everywhere: each rank looks at all of them. */
static bool sort_rows(sorting *s, bool *everywhere) {
  lgt_binder *binder = s->binder;
  const lgt_solver *solver = &binder->fuser->solver;
  lgt_footprints *footprints = &binder->map->footprints;
  const lgt_layout *layout = lgt_layout_at(binder->stores, s->inverse->layout);
  lgt_rect all = lgt_rect_of_shape(layout->ndim, layout->shape), root = lgt_layout_root_rect(layout, &all);
  lgt_alignment align = {.to = {0, 1, 2, 3, 4, 5}};
  const lgt_partition *share = lgt_partition_natural(solver->partitions, layout->ndim, layout->shape, ~1u,
                                                     solver->most, solver->min_tile);
  if (!share) return give_up(binder);
  lgt_footprint here = {.whole = root};
  *everywhere = share->kind == LGT_PARTITION_NONE || lgt_history_has(s->inverse->store->history, &here);
  if (*everywhere) share = lgt_partition_none(solver->partitions, layout->ndim, layout->shape);
  lgt_selected selected = {
      .what = *everywhere ? lgt_footprint_everywhere(footprints, &root)
                          : lgt_footprint_of(footprints, s->inverse->layout, &align, share, false)};
  if (!selected.what) return give_up(binder);
  if (!lgt_image_move(binder, s->inverse->store, &selected)) return false;
  for (int d = 0; d < binder->map->local; d++)
    for (int c = -1; (c = lgt_binder_next(binder, share, d, c)) >= 0;) {
      lgt_rect tile = lgt_partition_rect(share, c);
      lgt_tile t;
      if (lgt_rect_empty(&tile)) continue;
      lgt_instance_tile(layout, &align, &tile, lgt_store_replica(binder->map, s->inverse->store, d)->inst, &t,
                        NULL);
      sort_tile(s, &t);
    }
  return s->good;
}

/* ---- among ranks -------------------------------------------------------------------------------------------- */

enum { LO, HI, UNKNOWN, TOLD };

static bool meet(const sorting *s, const int64_t *told, int rank) {
  for (int d = rank * s->binder->map->local; d < (rank + 1) * s->binder->map->local; d++)
    if (s->bucket[d].lo < told[HI] && told[LO] < s->bucket[d].hi) return true;
  return false;
}

static void write_numbers(const sorting *s, lgt_numbers *numbers, int rank) {
  int local = s->binder->map->local;
  const bucket *b = &s->bucket[rank * local];
  for (int d = 0; d < local; d++) numbers->count += 1 + 2 * (int64_t)b[d].count;
  numbers->word = lgt_mem_alloc((size_t)numbers->count * sizeof *numbers->word);
  if (!numbers->word) s->binder->peers->abort(s->binder->peers, "out of memory for a message");
  int64_t *w = numbers->word;
  for (int d = 0; d < local; d++) {
    *w++ = b[d].count;
    if (b[d].count) memcpy(w, b[d].run, (size_t)b[d].count * sizeof *b[d].run);
    w += 2 * (int64_t)b[d].count;
  }
}

/* Append the rows that numbers from another rank name to those of the local domains. */
static void read_numbers(const sorting *s, const lgt_numbers *numbers, bucket *rows, bool *good) {
  const int64_t *w = numbers->word, *end = w + numbers->count;
  for (int d = 0; d < s->binder->map->local && w < end; d++) {
    int64_t n = *w++;
    lgt_assert(n >= 0 && end - w >= 2 * n);
    for (; n > 0; n--, w += 2) add_run(&rows[d], w[0], w[1], good);
  }
}

/* The rows of all ranks for the local domains, in order: ranks have ascending ones. */
static bool exchange_rows(sorting *s, bool known, bool everywhere, bucket *rows) {
  lgt_binder *binder = s->binder;
  int ranks = binder->map->domains / binder->map->local, me = lgt_rank_of(binder, binder->map->first), n = 0;
  bool good = true;
  int64_t(*told)[TOLD] = lgt_mem_zalloc((size_t)ranks * sizeof *told);
  lgt_numbers *numbers = lgt_mem_zalloc((2 * (size_t)ranks) * sizeof *numbers);
  if ((!told || !numbers) && binder->peers) binder->peers->abort(binder->peers, "out of memory for an image");
  if (!told || !numbers) known = false;
  if (known) told[me][LO] = s->lo, told[me][HI] = s->hi;
  if (told) told[me][UNKNOWN] = !known;
  if (binder->peers) {
    binder->agreed.exchanges++;
    lgt_message_gather(binder, lgt_message_tag(binder, 0, 0), told[0], TOLD);
    for (int r = 0; r < ranks; r++) known &= !told[r][UNKNOWN];
  }
  for (int r = 0; r < ranks && known && !everywhere; r++) {
    uint64_t tag = lgt_message_tag(binder, 0, 0);
    if (r != me && meet(s, told[r], me)) numbers[n++] = (lgt_numbers){.peer = r, .tag = tag};
    if (r == me || !meet(s, told[me], r)) continue;
    numbers[n] = (lgt_numbers){.peer = r, .sends = true, .tag = tag};
    write_numbers(s, &numbers[n++], r);
  }
  if (n) lgt_message_numbers(binder, numbers, n);
  for (int r = 0, i = 0; r < ranks && known; r++) {
    for (int d = 0; d < binder->map->local && r == me; d++) {
      const bucket *own = &s->bucket[binder->map->first + d];
      for (int k = 0; k < own->count; k++) add_run(&rows[d], own->run[k][0], own->run[k][1], &good);
    }
    for (; i < n && numbers[i].peer == r; i++)
      if (!numbers[i].sends) read_numbers(s, &numbers[i], rows, &good);
  }
  for (int i = 0; i < n; i++) lgt_mem_free(numbers[i].word);
  lgt_mem_free(numbers);
  lgt_mem_free(told);
  if (!good && binder->peers) binder->peers->abort(binder->peers, "out of memory for an image");
  return known && good;
}

static lgt_runs *runs_of(const bucket *rows) {
  lgt_runs *runs = lgt_runs_new(rows->count);
  for (int i = 0; runs && i < rows->count; i++) {
    memcpy(runs->run[i], rows->run[i], sizeof runs->run[i]);
    runs->total += rows->run[i][1] - rows->run[i][0];
  }
  return runs;
}

bool lgt_inverse_find(lgt_binder *binder, const lgt_inverse *inverse, lgt_runs **runs, bool *here) {
  sorting s = {.binder = binder, .inverse = inverse, .lo = INT64_MAX, .good = true};
  int local = binder->map->local;
  bool everywhere = false;
  bucket *rows = lgt_mem_zalloc((size_t)local * sizeof *rows);
  bool known = make_buckets(&s) && rows && sort_rows(&s, &everywhere);
  *here = known;
  if (!s.bucket || !rows) {
    if (binder->peers) binder->peers->abort(binder->peers, "out of memory for an image");
  } else {
    known = exchange_rows(&s, known, everywhere, rows);
  }
  for (int d = 0; d < local && known; d++) *here = known = (runs[d] = runs_of(&rows[d])) != NULL;
  if (!known && !binder->peers)
    for (int d = 0; d < local; d++) lgt_runs_release(runs[d]), runs[d] = NULL;
  for (int d = 0; d < local && rows; d++) lgt_mem_free(rows[d].run);
  for (int d = 0; d < binder->map->domains && s.bucket; d++) lgt_mem_free(s.bucket[d].run);
  lgt_mem_free(rows);
  lgt_mem_free(s.bucket);
  return known;
}
