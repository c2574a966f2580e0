/* merge.c - sorting a vector in pieces that are then merged.
 *
 * A vector is cut into runs of parameter 1 elements, one for each element of the last but one argument (marks, whose
 * contents nobody looks at), and a run into parameter 0 parts, which are sorted on their own; the cuts do not
 * depend on who works on them.  Elements are real.
 *
 *   sort_parts     argument 0 = the elements of argument 1, each part in ascending order; then marks
 *   argsort_parts  argument 0 (int64) = their positions, from parameter 2, in that order; argument 2 = the elements in
 *                  it; then marks
 *   merge_parts    argument 0 = the elements of argument 1, each run in ascending order; then marks
 *   argmerge_parts argument 0 (int64) = the positions of argument 2 that go with the elements of argument 1, each run in
 *                  ascending order of these; with five arguments, argument 3 = the elements in it; then marks
 *   merge_pieces   argument 0 = the elements of argument 1, whose runs consist of sorted pieces: as many of each run r of
 *                  another vector as there are from cuts[j, r] to cuts[j + 1, r] for run j; then marks, and cuts (int64)
 *   argmerge_pieces  the same as argmerge_parts is to merge_parts; then marks, and cuts
 *   shuffle        see shuffle.h
 *
 * Any stretch of a result can be made by itself: where it begins and ends in each part is found by bisection of the
 * bits of the keys.  Of equal elements those of earlier parts come first, so that positions stay in order.
 */
#include "ops/keys.h"
#include "bind/shuffle.h"

enum { STRETCH = 32768 };

/* ---- cuts ---------------------------------------------------------------------------------------------- */

/* Sorted parts, one after another in memory; where a stretch of their merged order begins and ends in each. */
typedef struct parts {
  const lgt_tile *element, *position; /* NULL: there are none */
  size_t item;                        /* bytes of what is merged: a pair, or a key */
  bool is_signed;                     /* of as many bits as an element has (keys.h) */
  int count;
  int64_t *first;                    /* count + 1: of each part within the tile */
  int64_t *lo, *hi, *at, *from, *to; /* count each: bounds of the search; the stretch */
} parts;

static uint64_t part_key(const parts *p, int64_t i) {
  uint64_t key = key_of(p->element->dtype, (const char *)p->element->data + i * p->element->stride[0]);
  return p->position ? without_sign_of_zero(p->element->dtype, key) : key;
}

static bool parts_new(parts *p, const lgt_tile *element, const lgt_tile *position, int count) {
  int64_t *memory = lgt_scratch_alloc((6 * (size_t)count + 1) * sizeof *memory);
  *p = (parts){
      .element = element, .position = position, .item = sizeof(uint64_t), .count = count, .first = memory};
  if (position) p->item = sizeof(pair);
  else if (lgt_dtype_size(element->dtype) >= 4)
    p->item = (size_t)lgt_dtype_size(element->dtype), p->is_signed = true;
  if (!memory) return false;
  p->lo = memory + count + 1, p->hi = p->lo + count, p->at = p->hi + count;
  p->from = p->at + count, p->to = p->from + count;
  return true;
}

/* The first element from lo to hi of the tile whose key is not below a limit. */
static int64_t search(const parts *p, int64_t lo, int64_t hi, uint64_t limit) {
  while (lo < hi) {
    int64_t middle = lo + (hi - lo) / 2;
    if (part_key(p, middle) < limit) lo = middle + 1;
    else hi = middle;
  }
  return lo;
}

/* How much of each part comes before offset t of the merged order: to[], given from[], an earlier such place (or where
 * the parts begin). */
static void cut(parts *p, int64_t t) {
  int64_t before = 0;
  uint64_t key = 0;
  for (int r = 0; r < p->count; r++) p->lo[r] = p->from[r], p->hi[r] = p->first[r + 1];
  for (int bit = 8 * (int)lgt_dtype_size(p->element->dtype) - 1; bit >= 0; bit--) {
    int64_t sum = 0;
    uint64_t limit = key | (uint64_t)1 << bit;
    for (int r = 0; r < p->count; r++) {
      p->at[r] = search(p, p->lo[r], p->hi[r], limit);
      sum += p->at[r] - p->first[r];
    }
    if (sum <= t) key = limit;
    int64_t *bound = sum <= t ? p->lo : p->hi;
    memcpy(bound, p->at, (size_t)p->count * sizeof *bound);
  }
  for (int r = 0; r < p->count; r++) before += p->lo[r] - p->first[r];
  for (int r = 0; r < p->count; r++) { /* of those that equal the element at t, the first ones */
    int64_t equal = p->hi[r] - p->lo[r], take = t - before < equal ? t - before : equal;
    p->to[r] = p->lo[r] + take;
    before += take;
  }
}

/* ---- merging ------------------------------------------------------------------------------------------- */

static void merge_keys(uint64_t *to, const uint64_t *a, int64_t na, const uint64_t *b, int64_t nb) {
  const uint64_t *a_end = a + na, *b_end = b + nb;
  while (a < a_end && b < b_end) { /* no branches: the processor could not guess them */
    uint64_t x = *a, y = *b;
    bool second = y < x;
    *to++ = second ? y : x;
    a += !second, b += second;
  }
  memcpy(to, a, (size_t)(a_end - a) * sizeof *a);
  memcpy(to + (a_end - a), b, (size_t)(b_end - b) * sizeof *b);
}

static void merge_pairs(pair *to, const pair *a, int64_t na, const pair *b, int64_t nb) {
  const pair *a_end = a + na, *b_end = b + nb;
  while (a < a_end && b < b_end) {
    bool second = b->key < a->key;
    *to++ = *(second ? b : a);
    a += !second, b += second;
  }
  memcpy(to, a, (size_t)(a_end - a) * sizeof *a);
  memcpy(to + (a_end - a), b, (size_t)(b_end - b) * sizeof *b);
}

static int64_t lesser(int64_t a, int64_t b) { return a < b ? a : b; }

/* The lower and the upper half of the result at once, as a step of one does not wait for the other's. */
#define MERGE_SIGNED(SUFFIX, T)                                                                            \
  static void merge_rest_##SUFFIX(T *to, const T *a, const T *a_end, const T *b, const T *b_end) {         \
    while (a < a_end && b < b_end) {                                                                       \
      T x = *a, y = *b;                                                                                    \
      bool second = y < x;                                                                                 \
      *to++ = second ? y : x;                                                                              \
      a += !second, b += second;                                                                           \
    }                                                                                                      \
    memcpy(to, a, (size_t)(a_end - a) * sizeof(T));                                                        \
    memcpy(to + (a_end - a), b, (size_t)(b_end - b) * sizeof(T));                                          \
  }                                                                                                        \
  static void merge_##SUFFIX(T *to, const T *a, int64_t na, const T *b, int64_t nb) {                      \
    int64_t half = (na + nb) / 2, low = half > nb ? half - nb : 0, high = lesser(half, na);                \
    while (low < high) { /* so many of a are in the lower half */                                          \
      int64_t middle = low + (high - low) / 2;                                                             \
      if (a[middle] <= b[half - 1 - middle]) low = middle + 1;                                             \
      else high = middle;                                                                                  \
    }                                                                                                      \
    const T *c = a + low, *d = b + (half - low), *a_end = c, *b_end = d, *c_end = a + na, *d_end = b + nb; \
    T *upper = to + half;                                                                                  \
    for (int64_t n; (n = lesser(lesser(a_end - a, b_end - b), lesser(c_end - c, d_end - d))) > 0;)         \
      for (; n > 0; n--) { /* none of the four can end before */                                           \
        T x = *a, y = *b, u = *c, v = *d;                                                                  \
        bool second = y < x, fourth = v < u;                                                               \
        *to++ = second ? y : x;                                                                            \
        *upper++ = fourth ? v : u;                                                                         \
        a += !second, b += second, c += !fourth, d += fourth;                                              \
      }                                                                                                    \
    merge_rest_##SUFFIX(to, a, a_end, b, b_end);                                                           \
    merge_rest_##SUFFIX(upper, c, c_end, d, d_end);                                                        \
  }
MERGE_SIGNED(i32, int32_t)
MERGE_SIGNED(i64, int64_t)

static void merge_two(const parts *p, void *to, const void *a, int64_t na, const void *b, int64_t nb) {
  if (p->position) merge_pairs(to, a, na, b, nb);
  else if (!p->is_signed) merge_keys(to, a, na, b, nb);
  else if (p->item == 4) merge_i32(to, a, na, b, nb);
  else merge_i64(to, a, na, b, nb);
}

/* Merge the pieces of a stretch, which lie one after another at `room`: piece r is to[r] - from[r] items.  Returns where
 * the result is: there, or behind it. */
static void *merge_stretch(parts *p, void *room, int64_t n) {
  int64_t *length = p->at;
  int count = 0;
  size_t item = p->item;
  char *here = room, *there = here + (size_t)n * item;
  for (int r = 0; r < p->count; r++)
    if (p->to[r] > p->from[r]) length[count++] = p->to[r] - p->from[r];
  while (count > 1) {
    char *from = here, *to = there;
    int merged = 0;
    for (int r = 0; r < count; r += 2) {
      int64_t na = length[r], nb = r + 1 < count ? length[r + 1] : 0;
      char *second = from + (size_t)na * item;
      merge_two(p, to, from, na, second, nb);
      from = second + (size_t)nb * item, to += (size_t)(na + nb) * item;
      length[merged++] = na + nb;
    }
    count = merged;
    char *swap = here;
    here = there, there = swap;
  }
  return here;
}

static void read_signed(const parts *p, char *room) {
  const lgt_tile *t = p->element;
  lgt_key_kind kind = lgt_key_kind_of(t->dtype);
  int64_t size = (int64_t)p->item;
  for (int r = 0; r < p->count; r++) {
    int64_t n = p->to[r] - p->from[r];
    lgt_copy_line(room, size, (const char *)t->data + p->from[r] * t->stride[0], t->stride[0], n, size);
    if (size == 4) lgt_turn_i32((int32_t *)room, (int32_t *)room, n, kind);
    else lgt_turn_i64((int64_t *)room, (int64_t *)room, n, kind);
    room += n * size;
  }
}

static void write_signed(const lgt_tile *elements, char *keys, int64_t at, int64_t n) {
  lgt_key_kind kind = lgt_key_kind_of(elements->dtype);
  int64_t size = lgt_dtype_size(elements->dtype);
  if (size == 4) lgt_turn_back_i32((int32_t *)keys, n, kind);
  else lgt_turn_back_i64((int64_t *)keys, n, kind);
  lgt_copy_line((char *)elements->data + at * elements->stride[0], elements->stride[0], keys, size, n, size);
}

static void read_stretch(const parts *p, void *room) {
  uint64_t *key = room;
  pair *both = room;
  for (int r = 0; r < p->count; r++)
    for (int64_t i = p->from[r]; i < p->to[r]; i++) {
      if (!p->position) *key++ = part_key(p, i);
      else
        *both++ = (pair){part_key(p, i),
                         *(const uint64_t *)((const char *)p->position->data + i * p->position->stride[0])};
    }
}

/* `elements` and `positions` (each may be NULL) get n items from element `at` of theirs. */
static void write_items(const lgt_tile *elements, const lgt_tile *positions, bool pairs, const void *items,
                        int64_t at, int64_t n) {
  const uint64_t *key = items;
  const pair *both = items;
  int bytes = elements ? (int)lgt_dtype_size(elements->dtype) : 0;
  for (int64_t i = 0; elements && i < n; i++)
    put_key((char *)elements->data + (at + i) * elements->stride[0], pairs ? both[i].key : key[i],
            elements->dtype, bytes);
  for (int64_t i = 0; positions && i < n; i++)
    *(uint64_t *)((char *)positions->data + (at + i) * positions->stride[0]) = both[i].at;
}

/* Elements lo to hi of the merged order of parts; element t of it goes to element base + t of the results. */
static lgt_status merge_range(parts *p, const lgt_tile *elements, const lgt_tile *positions, int64_t base,
                              int64_t lo, int64_t hi) {
  int64_t most = hi - lo < STRETCH ? hi - lo : STRETCH;
  if (lo >= hi) return LGT_OK;
  void *room = lgt_scratch_alloc(2 * (size_t)most * p->item);
  if (!room) return LGT_NO_MEMORY;
  memcpy(p->from, p->first, (size_t)p->count * sizeof *p->from);
  cut(p, lo);
  for (int64_t n; lo < hi; lo += n) {
    n = hi - lo < STRETCH ? hi - lo : STRETCH;
    memcpy(p->from, p->to, (size_t)p->count * sizeof *p->from);
    cut(p, lo + n);
    if (p->is_signed) {
      read_signed(p, room);
      write_signed(elements, merge_stretch(p, room, n), base + lo, n);
      continue;
    }
    read_stretch(p, room);
    write_items(elements, positions, p->position != NULL, merge_stretch(p, room, n), base + lo, n);
  }
  lgt_scratch_free(room);
  return LGT_OK;
}

/* ---- tasks --------------------------------------------------------------------------------------------- */

typedef struct cutting {
  int parts;         /* of a run */
  int64_t run, part; /* elements */
} cutting;

static cutting cutting_of(const lgt_scalar *params) {
  cutting c = {.parts = (int)params[0].f, .run = (int64_t)params[1].f};
  c.part = (c.run + c.parts - 1) / c.parts;
  return c;
}

/* Where the parts of the run that begins at element `base` begin: they are of one length, or as `cuts` (may be NULL) says. */
static void find_parts(parts *p, const lgt_tile *from, const lgt_tile *cuts, int64_t run, int64_t base) {
  int64_t n = from->extent[0] - base < run ? from->extent[0] - base : run,
          part = (run + p->count - 1) / p->count;
  p->first[0] = base;
  for (int r = 0; r < p->count; r++) {
    if (!cuts) {
      p->first[r + 1] = base + ((r + 1) * part < n ? (r + 1) * part : n);
      continue;
    }
    int64_t j = (from->origin[0] + base) / run;
    const char *cut = (const char *)cuts->data + j * cuts->stride[0] + r * cuts->stride[1];
    p->first[r + 1] = p->first[r] + *(const int64_t *)(cut + cuts->stride[0]) - *(const int64_t *)cut;
  }
}

/* Run after run of a tile, as far as rows [lo, hi) of it go. */
static lgt_status merge_runs(const lgt_tile *elements, const lgt_tile *positions, const lgt_tile *from,
                             const lgt_tile *from_positions, const lgt_tile *cuts, const lgt_scalar *params,
                             int64_t lo, int64_t hi) {
  int count = cuts ? (int)cuts->extent[1] : (int)params[0].f;
  int64_t run = (int64_t)params[1].f;
  parts p;
  lgt_status status = LGT_OK;
  if (!parts_new(&p, from, from_positions, count)) return LGT_NO_MEMORY;
  for (int64_t base = lo / run * run; base < hi && !status; base += run) {
    find_parts(&p, from, cuts, run, base);
    int64_t n = p.first[count] - base;
    status =
        merge_range(&p, elements, positions, base, lo > base ? lo - base : 0, hi - base < n ? hi - base : n);
  }
  lgt_scratch_free(p.first);
  return status;
}

static lgt_status merge_parts(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                              int64_t hi) {
  (void)nargs;
  return merge_runs(&tiles[0], NULL, &tiles[1], NULL, NULL, params, lo, hi);
}

static lgt_status argmerge_parts(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                                 int64_t hi) {
  return merge_runs(nargs > 4 ? &tiles[3] : NULL, &tiles[0], &tiles[1], &tiles[2], NULL, params, lo, hi);
}

static lgt_status merge_pieces(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                               int64_t hi) {
  (void)nargs;
  return merge_runs(&tiles[0], NULL, &tiles[1], NULL, &tiles[3], params, lo, hi);
}

static lgt_status argmerge_pieces(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                                  int64_t hi) {
  return merge_runs(nargs > 5 ? &tiles[3] : NULL, &tiles[0], &tiles[1], &tiles[2], &tiles[nargs - 1], params,
                    lo, hi);
}

/* Sort elements [first, first + n) of a tile. */
static lgt_status sort_part(const lgt_tile *elements, const lgt_tile *positions, const lgt_tile *from,
                            int64_t base, int64_t first, int64_t n) {
  int dtype = from->dtype, bytes = (int)lgt_dtype_size(dtype);
  const char *at = (const char *)from->data + first * from->stride[0];
  pair *both = lgt_scratch_alloc(2 * (size_t)n * (positions ? sizeof *both : sizeof(uint64_t)));
  if (!both) return LGT_NO_MEMORY;
  if (positions) {
    for (int64_t i = 0; i < n; i++, at += from->stride[0])
      both[i] = (pair){order_key(dtype, at), (uint64_t)(base + first + i)};
    write_items(elements, positions, true, radix_sort(both, both + n, n, bytes), first, n);
  } else {
    lgt_sort_line((char *)elements->data + first * elements->stride[0], elements->stride[0], at,
                  from->stride[0], n, dtype, (uint64_t *)both);
  }
  lgt_scratch_free(both);
  return LGT_OK;
}

/* The parts that begin within rows [lo, hi). */
static lgt_status sort_runs(const lgt_tile *elements, const lgt_tile *positions, const lgt_tile *from,
                            const lgt_scalar *params, int64_t lo, int64_t hi) {
  cutting c = cutting_of(params);
  int64_t base = from->origin[0] + (int64_t)params[2].f;
  lgt_status status = LGT_OK;
  for (int64_t run = lo / c.run * c.run; run < hi && !status; run += c.run)
    for (int64_t first = 0; first < c.run && !status; first += c.part) {
      int64_t n = first + c.part < c.run ? c.part : c.run - first, at = run + first;
      if (at < lo || at >= hi) continue;
      if (n > from->extent[0] - at) n = from->extent[0] - at;
      status = sort_part(elements, positions, from, base, at, n);
    }
  return status;
}

static lgt_status sort_parts(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                             int64_t hi) {
  (void)nargs;
  return sort_runs(&tiles[0], NULL, &tiles[1], params, lo, hi);
}

static lgt_status argsort_parts(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                                int64_t hi) {
  (void)nargs;
  return sort_runs(&tiles[2], &tiles[0], &tiles[1], params, lo, hi);
}

const lgt_builtin lgt_merge_builtins[] = {
    {"sort_parts", sort_parts},     {"argsort_parts", argsort_parts},
    {"merge_parts", merge_parts},   {"argmerge_parts", argmerge_parts},
    {"merge_pieces", merge_pieces}, {"argmerge_pieces", argmerge_pieces},
    {"shuffle", lgt_shuffle},       {0}};
