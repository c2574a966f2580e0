/* sparse_pairs.h - the kernels of sparse_join.c for one type of positions, I, and one of values, V.  This file has those that
 * work entry by entry.
 *
 * A template: included once for each pair of types, with NAME(f) for the functions' names; COMPLEX says that values
 * have no order.
 */

/* ---- entry by entry ------------------------------------------------------------------------------------ */

ALWAYS_INLINE V NAME(combine)(int op, V a, V b) {
  switch (op) {
    case ADD:
      return a + b;
    case SUBTRACT:
      return a - b;
    case MULTIPLY:
      return a * b;
#ifndef COMPLEX
    case MAXIMUM:
      return a >= b ? a : a < b ? b : a + b; /* NaN wins */
    case MINIMUM:
      return a <= b ? a : a > b ? b : a + b;
    case LESS:
      return a < b;
    case GREATER:
      return a > b;
#endif
    case NOT_EQUAL:
      return a != b;
    default:
      return 0;
  }
}

/* A value, or zero, without a branch: its bits, masked. */
ALWAYS_INLINE V NAME(only_if)(bool keep, V value) {
  enum { WORDS = sizeof(V) / sizeof(uint64_t) }; /* a float has half of one */
  union {
    V value;
    uint32_t half;
    uint64_t word[WORDS + 1];
  } u = {value};
  if (WORDS == 0) u.half &= -(uint32_t)keep;
  for (int i = 0; i < WORDS; i++) u.word[i] &= -(uint64_t)keep;
  return u.value;
}

/* The entry of two that are next, of columns p and q; false: it is none of the result. */
ALWAYS_INLINE bool NAME(join_entry)(int op, I p, I q, bool has_a, bool has_b, V x, V y, I *crd, V *vals) {
  V v = NAME(combine)(op, NAME(only_if)(has_a, x), NAME(only_if)(has_b, y));
  *crd = has_a ? p : q;
  *vals = v;
  return v != 0 && (op != MULTIPLY || (has_a && has_b));
}

/* Row i of A and of B, whose tiles are at a and b, in room for the entries of both (MULTIPLY: of A): how many it has.  Which of
 * two columns comes first cannot be foreseen, so nothing branches on it; and while it is not yet known which are next at the
 * beginning, there is work to do at the end: the last entries are collected at the end of the room. */
ALWAYS_INLINE int64_t NAME(join_row)(int op, const lgt_tile *a, const lgt_tile *b, int64_t i, I *crd,
                                     V *vals) {
  const I *ca = a[2].data, *cb = b[2].data;
  const V *va = a[3].data, *vb = b[3].data;
  int64_t j = LGT_AT(const I, &a[0], i), k = LGT_AT(const I, &b[0], i), n = 0;
  int64_t jend = LGT_AT(const I, &a[1], i), kend = LGT_AT(const I, &b[1], i);
  int64_t room = jend - j + kend - k, last = room;
  if (jend - j == kend - k && !memcmp(ca + j, cb + k, (size_t)(jend - j) * sizeof *ca)) { /* often, if ever */
    for (; j < jend; j++, k++) n += NAME(join_entry)(op, ca[j], ca[j], true, true, va[j], vb[k], &crd[n], &vals[n]);
    return n;
  }
#define FIRST()                                                                     \
  do {                                                                              \
    I p = ca[j], q = cb[k];                                                         \
    bool has_a = p <= q, has_b = q <= p;                                            \
    n += NAME(join_entry)(op, p, q, has_a, has_b, va[j], vb[k], &crd[n], &vals[n]); \
    j += has_a, k += has_b;                                                         \
  } while (0)
  while (op != MULTIPLY && jend - j > 1 && kend - k > 1) {
    FIRST();
    I p = ca[jend - 1], q = cb[kend - 1];
    bool has_a = p >= q, has_b = q >= p;
    last -=
        NAME(join_entry)(op, p, q, has_a, has_b, va[jend - 1], vb[kend - 1], &crd[last - 1], &vals[last - 1]);
    jend -= has_a, kend -= has_b;
  }
  while (j < jend && k < kend) FIRST();
#undef FIRST
  if (op == MULTIPLY) return n;
  for (; j < jend; j++) n += NAME(join_entry)(op, ca[j], 0, true, false, va[j], 0, &crd[n], &vals[n]);
  for (; k < kend; k++) n += NAME(join_entry)(op, 0, cb[k], false, true, 0, vb[k], &crd[n], &vals[n]);
  if (n < last) {
    memmove(&crd[n], &crd[last], (size_t)(room - last) * sizeof *crd);
    memmove(&vals[n], &vals[last], (size_t)(room - last) * sizeof *vals);
  }
  return n + room - last;
}

ALWAYS_INLINE void NAME(join_rows)(int op, const lgt_tile *t, int64_t lo, int64_t hi) {
  for (int64_t i = lo; i < hi; i++) {
    int64_t to = LGT_AT(const I, &t[0], i);
    LGT_AT(int64_t, &t[1], i) = NAME(join_row)(op, &t[4], &t[8], i, (I *)t[2].data + to, (V *)t[3].data + to);
  }
}

static lgt_status NAME(join)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  (void)nargs;
  switch ((int)params[0].f) { /* a loop for each */
    case ADD:
      NAME(join_rows)(ADD, t, lo, hi);
      break;
    case SUBTRACT:
      NAME(join_rows)(SUBTRACT, t, lo, hi);
      break;
    case MULTIPLY:
      NAME(join_rows)(MULTIPLY, t, lo, hi);
      break;
    case MAXIMUM:
      NAME(join_rows)(MAXIMUM, t, lo, hi);
      break;
    case MINIMUM:
      NAME(join_rows)(MINIMUM, t, lo, hi);
      break;
    default: /* comparisons */
      NAME(join_rows)((int)params[0].f, t, lo, hi);
      break;
  }
  return LGT_OK;
}

/* Rows go by way of room for all entries of A and B there: t[0 ...], a and b, are counts, or where rows begin. */
static lgt_status NAME(join_apart)(const lgt_tile *t, const lgt_tile *a, const lgt_tile *b, bool fill, int op,
                                   int64_t lo, int64_t hi) {
  int64_t longest = 0;
  for (int64_t i = lo; i < hi; i++) {
    int64_t n = LGT_AT(const I, &a[1], i) - LGT_AT(const I, &a[0], i) + LGT_AT(const I, &b[1], i) -
                LGT_AT(const I, &b[0], i);
    if (n > longest) longest = n;
  }
  size_t room = ((size_t)longest * sizeof(V) + 7) / 8 * 8; /* columns are aligned */
  V *vals = lgt_scratch_alloc(room + (size_t)longest * sizeof(I) + 1);
  if (!vals) return LGT_NO_MEMORY;
  I *crd = (I *)((char *)vals + room);
  for (int64_t i = lo; i < hi; i++) {
    int64_t n = NAME(join_row)(op, a, b, i, crd, vals);
    if (fill) {
      int64_t to = LGT_AT(const I, &t[0], i);
      memcpy((I *)t[2].data + to, crd, (size_t)n * sizeof *crd);
      memcpy((V *)t[3].data + to, vals, (size_t)n * sizeof *vals);
    } else {
      LGT_AT(int64_t, &t[0], i) = n;
    }
  }
  lgt_scratch_free(vals);
  return LGT_OK;
}

static lgt_status NAME(join_count)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo,
                                   int64_t hi) {
  (void)nargs;
  return NAME(join_apart)(t, &t[1], &t[5], false, (int)params[0].f, lo, hi);
}

static lgt_status NAME(join_fill)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo,
                                  int64_t hi) {
  (void)nargs;
  return NAME(join_apart)(t, &t[4], &t[8], true, (int)params[0].f, lo, hi);
}

#include "ops/sparse/sparse_products.h"

#undef V
#undef NAME
