/* count.c - how often values occur, and where there are any.
 *
 *   count        element k of the vector argument 0 = how often k + parameter 0 occurs in the integers of argument 1,
 *                or the sum of the weights of argument 2 that it occurs with (of argument 0's dtype: int64 or float64)
 *   histogram    element k of the vector argument 0 = how many values of argument 1 (float64) lie between
 *                elements k and k + 1 of the ascending vector argument 2 (float64), the last one included, or the
 *                sum of the weights of argument 3; parameter 0: whether the edges are equidistant, but for rounding
 *   nonzero      vectors argument 0, ..., ndim - 1 (int64) = the positions, from 1, of what is true in the last
 *                argument, a vector that is an array in C order; parameters: ndim - 1 extents, from the second axis
 *   nonzero_runs argument 0 (int64) = the positions, from 1, of what is true in argument 1, a vector, for each run of
 *                parameter 0 elements behind its beginning; argument 2 (int64) = how many these are
 *   nonzero_cuts cuts for a shuffle (shuffle.h) of these to runs of parameter 0: argument 0, from argument 1, how many
 *
 * Each but the last two is one task in one piece, which overwrites its results; all arguments have a leading dimension of extent 1.
 * Additions are made in the order of the values.
 */
#include "builtin.h"

#include <math.h>

static double number_at(const lgt_tile *tile, int64_t i) {
  return *(const double *)((const char *)tile->data + i * tile->stride[1]);
}

/* Zeros in all of a vector of int64 or float64: both are zero bits. */
static void clear(const lgt_tile *to) {
  for (int64_t i = 0; i < to->extent[1]; i++)
    memset((char *)to->data + i * to->stride[1], 0, (size_t)lgt_dtype_size(to->dtype));
}

static inline void add(const lgt_tile *to, int64_t k, const lgt_tile *weights, int64_t i) {
  char *at = (char *)to->data + k * to->stride[1];
  if (!weights) {
    ++*(int64_t *)at;
    return;
  }
  const char *w = (const char *)weights->data + i * weights->stride[1];
  if (to->dtype == LGT_INT64) *(uint64_t *)at += *(const uint64_t *)w;
  else *(double *)at += *(const double *)w;
}

/* ---- integers ------------------------------------------------------------------------------------------ */

static inline int64_t integer_at(int dtype, const char *p) {
  switch (dtype) {
    case LGT_INT8:
      return *(const int8_t *)p;
    case LGT_INT16:
      return *(const int16_t *)p;
    case LGT_INT32:
      return *(const int32_t *)p;
    case LGT_UINT16:
      return *(const uint16_t *)p;
    case LGT_UINT32:
      return *(const uint32_t *)p;
    case LGT_BOOL:
    case LGT_UINT8:
      return *(const uint8_t *)p;
    default:
      return *(const int64_t *)p;
  }
}

/* The same number many times in a row would wait for itself to be stored: neighbours count in tables of their own. */
enum { TABLES = 4, TABLE_SIZE = 4096 };

static bool count_in_tables(const lgt_tile *to, const lgt_tile *from, int64_t base) {
  int64_t n = from->extent[1], stride = from->stride[1], size = to->extent[1];
  const char *p = from->data;
  if (size > TABLE_SIZE || n < 4 * size) return false;
  int64_t *table = lgt_mem_alloc(TABLES * (size_t)size * sizeof *table);
  if (!table) return false;
  memset(table, 0, TABLES * (size_t)size * sizeof *table);
  bool inside = true;
  for (int64_t i = 0; i < n && inside; i++, p += stride) {
    int64_t k = integer_at(from->dtype, p) - base;
    inside = k >= 0 && k < size;
    if (inside) table[(i % TABLES) * size + k]++;
  }
  for (int64_t k = 0; inside && k < size; k++) {
    int64_t sum = 0;
    for (int t = 0; t < TABLES; t++) sum += table[t * size + k];
    *(int64_t *)((char *)to->data + k * to->stride[1]) = sum;
  }
  lgt_mem_free(table);
  return inside; /* if not, the other loop says what is outside */
}

/* The common case of weights, all side by side.  False: some integer is outside, or it is another case. */
static bool add_weights(const lgt_tile *to, const lgt_tile *from, const lgt_tile *weights, int64_t base) {
  if (from->dtype != LGT_INT64 || to->dtype != LGT_FLOAT64 || from->stride[1] != 8 || to->stride[1] != 8 ||
      weights->stride[1] != 8)
    return false;
  const int64_t *x = from->data;
  const double *w = weights->data;
  double *sum = to->data;
  uint64_t size = (uint64_t)to->extent[1];
  for (int64_t i = 0; i < from->extent[1]; i++) {
    uint64_t k = (uint64_t)(x[i] - base);
    if (k >= size) return false;
    sum[k] += w[i];
  }
  return true;
}

static lgt_status count(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  const lgt_tile *to = &tiles[0], *from = &tiles[1], *weights = nargs > 2 ? &tiles[2] : NULL;
  int64_t n = from->extent[1], size = to->extent[1], base = (int64_t)params[0].f;
  const char *p = from->data;
  if (lo >= hi || (!weights && count_in_tables(to, from, base))) return LGT_OK;
  clear(to);
  if (weights && add_weights(to, from, weights, base)) return LGT_OK;
  clear(to);
  for (int64_t i = 0; i < n; i++, p += from->stride[1]) {
    int64_t x = integer_at(from->dtype, p), k = x - base;
    if (x < base)
      return lgt_err(LGT_OUT_OF_BOUNDS, "bincount: %lld is below %lld", (long long)x, (long long)base);
    if (k >= size)
      return lgt_err(LGT_OUT_OF_BOUNDS, "bincount: %lld is above %lld, the last that is counted",
                     (long long)x, (long long)(size - 1 + base));
    add(to, k, weights, i);
  }
  return LGT_OK;
}

/* ---- values between edges ------------------------------------------------------------------------------- */

/* In which bin from 0 a value within the edges lies, found by bisection. */
static int64_t search(const double *edge, int64_t bins, double x) {
  int64_t low = 0;
  for (int64_t n = bins; n > 1;) {
    int64_t half = n / 2;
    low += edge[low + half] <= x ? half : 0;
    n -= half;
  }
  return low;
}

static lgt_status histogram(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                            int64_t hi) {
  const lgt_tile *to = &tiles[0], *from = &tiles[1], *edges = &tiles[2],
                 *weights = nargs > 3 ? &tiles[3] : NULL;
  int64_t n = from->extent[1], bins = to->extent[1];
  if (lo >= hi) return LGT_OK;
  double *edge = lgt_mem_alloc((size_t)(bins + 1) * sizeof *edge);
  if (!edge) return lgt_err(LGT_NO_MEMORY, "out of memory for %lld edges", (long long)(bins + 1));
  for (int64_t k = 0; k <= bins; k++) edge[k] = number_at(edges, k);
  clear(to);
  double first = edge[0], last = edge[bins], scale = (double)bins / (last - first);
  bool equidistant = params[0].f != 0 && isfinite(scale) && isfinite(first);
  for (int64_t i = 0; i < n; i++) {
    double x = number_at(from, i);
    if (!(x >= first && x <= last)) continue;
    int64_t k;
    if (equidistant) { /* a guess, which rounding may have put one too far */
      k = (int64_t)((x - first) * scale);
      k = k < bins ? k : bins - 1;
      k -= x < edge[k];
      k += k < bins - 1 && x >= edge[k + 1];
    } else {
      k = search(edge, bins, x);
    }
    add(to, k, weights, i);
  }
  lgt_mem_free(edge);
  return LGT_OK;
}

/* ---- positions ------------------------------------------------------------------------------------------- */

static void nonzero_of_vector(const lgt_tile *to, const lgt_tile *mask) {
  const uint8_t *p = mask->data;
  int64_t n = mask->extent[1], stride = mask->stride[1], room = to->extent[1], found = 0;
  for (int64_t i = 0; i < n && found < room; i++) {
    *(int64_t *)((char *)to->data + found * to->stride[1]) = i + 1; /* overwritten unless it is one */
    found += p[i * stride] != 0;
  }
}

static lgt_status nonzero(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                          int64_t hi) {
  int ndim = nargs - 1;
  const lgt_tile *mask = &tiles[ndim];
  int64_t n = mask->extent[1], found = 0, at[6] = {0};
  const uint8_t *p = mask->data;
  if (lo >= hi) return LGT_OK;
  if (ndim == 1) {
    nonzero_of_vector(&tiles[0], mask);
    return LGT_OK;
  }
  for (int64_t i = 0; i < n; i++, p += mask->stride[1]) {
    if (*p && found < tiles[0].extent[1]) {
      for (int d = 0; d < ndim; d++)
        *(int64_t *)((char *)tiles[d].data + found * tiles[d].stride[1]) = at[d] + 1;
      found++;
    }
    for (int d = ndim - 1; d >= 0; d--) {
      if (d == 0 || ++at[d] < (int64_t)params[d - 1].f) {
        at[0] += d == 0;
        break;
      }
      at[d] = 0;
    }
  }
  return LGT_OK;
}

static lgt_status nonzero_runs(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                               int64_t hi) {
  const lgt_tile *to = &tiles[0], *mask = &tiles[1], *counts = &tiles[2];
  int64_t run = (int64_t)params[0].f, n = mask->extent[0], stride = mask->stride[0];
  (void)nargs;
  for (int64_t first = (lo + run - 1) / run * run; first < hi; first += run) { /* those that begin here */
    int64_t past = first + run < n ? first + run : n, at = first;
    for (int64_t i = first; i < past; i++) {
      *(int64_t *)((char *)to->data + at * to->stride[0]) = mask->origin[0] + i + 1;
      at += ((const uint8_t *)mask->data)[i * stride] != 0;
    }
    *(int64_t *)((char *)counts->data + first / run * counts->stride[0]) = at - first;
  }
  return LGT_OK;
}

static lgt_status nonzero_cuts(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                               int64_t hi) {
  const lgt_tile *to = &tiles[0], *counts = &tiles[1];
  (void)nargs;
  for (int64_t j = lo; j < hi; j++) {
    int64_t before = j * (int64_t)params[0].f; /* of those not yet seen, how many come before run j */
    for (int64_t r = 0; r < to->extent[1]; r++) {
      int64_t n = *(const int64_t *)((const char *)counts->data + r * counts->stride[0]);
      int64_t cut = before < n ? before : n;
      before -= cut;
      *(int64_t *)((char *)to->data + j * to->stride[0] + r * to->stride[1]) = cut;
    }
  }
  return LGT_OK;
}

const lgt_builtin lgt_count_builtins[] = {{"count", count},
                                          {"histogram", histogram},
                                          {"nonzero", nonzero},
                                          {"nonzero_runs", nonzero_runs},
                                          {"nonzero_cuts", nonzero_cuts},
                                          {0}};
