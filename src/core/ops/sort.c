/* sort.c - sorting, and searching in what is sorted.
 *
 *   sort         argument 0 = the lines of argument 1 in ascending order
 *   argsort      argument 0 (int64) = the positions that would sort the lines of argument 1, counted from
 *                parameter 0; equal elements keep their order
 *   select       argument 0 = the elements of the lines of argument 1 that would be at the offsets in the vector, or
 *                in the lines, of argument 2 (int64), were the lines sorted; real elements
 *   partition    argument 0 = the lines of argument 1 with the element at offset parameter 0 where a sort would put it,
 *                less ones before, greater ones behind it; real elements
 *   argpartition argument 0 (int64) = the positions, counted from parameter 1, of such an order
 *   topk         argument 0 = the greatest elements of the lines of argument 2, the greatest first and of equal ones the
 *                last; argument 1 (int64) = their positions, counted from parameter 0; real elements
 *   searchsorted argument 0 (int64) = how many elements of the vector argument 1, which is sorted, come before
 *                each element of argument 2: those less than it, or (parameter 0 = 1) not greater.  Parameter 1 = -1: it
                may descend instead, then how many do not come before the element; an error if it does neither
 *   search_runs  argument 0 (int64) [r, i] = the same of element i of the vector argument 2 among run r of argument 1, in
 *                runs of parameter 1 elements
 *   member       argument 0 (bool) = whether the elements of the lines of argument 2 are in the vector argument 1,
 *                which is not empty and (parameter 0 = 1) sorted; real elements
 *   unique       argument 0 (bool) = whether an element of a line of argument 1 differs from the one before it
 *
 * All are stable and put NaN last.  Elements become unsigned keys whose order is theirs (keys.h).  Complex numbers with
 * a NaN come after those without any; among either, the real parts decide, then the imaginary parts.
 */
#include "ops/keys.h"

/* ---- lines ----------------------------------------------------------------------------------------------------- */

/* Complex numbers in the order of their parts: those with a NaN go behind the others. */
static pair *nan_last(int dtype, const char *line, int64_t stride, pair *sorted, pair *other, int64_t n) {
  int64_t bytes = lgt_dtype_size(dtype), numbers = 0;
  uint64_t nan = key_of_nan(dtype);
  for (int64_t i = 0; i < n; i++) {
    sorted[i].key =
        sorted[i].key == nan || order_key(dtype, line + (int64_t)sorted[i].at * stride + bytes) == nan;
    numbers += !sorted[i].key;
  }
  int64_t to[2] = {0, numbers};
  for (int64_t k = 0; k < n; k++) other[to[sorted[k].key]++] = sorted[k];
  return other;
}

/* The n elements of a line in order: returns pairs whose `at` are offsets from 0. */
static pair *order_line(const lgt_tile *tile, const char *line, int64_t n, pair *room) {
  int dtype = lgt_dtype_part(tile->dtype), bytes = (int)lgt_dtype_size(dtype);
  int64_t stride = tile->stride[tile->ndim - 1];
  pair *p = room, *other = room + n;
  bool is_complex = dtype != tile->dtype;
  for (int64_t i = 0; i < n; i++)
    p[i] = (pair){order_key(dtype, line + i * stride + (is_complex ? bytes : 0)), (uint64_t)i};
  pair *sorted = radix_sort(p, other, n, bytes);
  if (!is_complex || n == 0) return sorted;
  bool any_nan = sorted[n - 1].key == key_of_nan(dtype);
  other = sorted == p ? other : p; /* stable: now by the real parts */
  for (int64_t i = 0; i < n; i++) sorted[i].key = order_key(dtype, line + (int64_t)sorted[i].at * stride);
  p = radix_sort(sorted, other, n, bytes);
  return any_nan ? nan_last(dtype, line, stride, p, p == sorted ? other : sorted, n) : p;
}

/* As many short lines side by side as a vector has lanes, their elements compared all at once: by merge exchange
 * (Batcher; Knuth, The Art of Computer Programming 3, 5.2.2, algorithm M), which compares the same places whatever they
 * have.  Keys are signed here, so that NaN is the greatest of all, as in keys.h. */
enum { LANES_BYTES = 64, LONGEST_IN_LANES = 1000, LONGEST_BESIDE_VECTORS = 256, FEWEST_IN_LANES = 4 };
#define LGT_CLONES __attribute__((target_clones("default", "avx2", "avx512f")))

#define IN_LANES(SUFFIX, T)                                                                                  \
  enum { LANES_##SUFFIX = LANES_BYTES / sizeof(T) };                                                         \
                                                                                                             \
  LGT_CLONES static void exchange_##SUFFIX(T *keys, int64_t n) {                                             \
    int64_t top = 1;                                                                                         \
    while (2 * top < n) top *= 2;                                                                            \
    for (int64_t p = top; p > 0; p /= 2)                                                                     \
      for (int64_t q = top, r = 0, d = p; d > 0; d = q > p ? q - p : 0, q /= 2, r = p)                       \
        for (int64_t i = 0; i < n - d; i++) {                                                                \
          T *restrict x = keys + i * LANES_##SUFFIX, *restrict y = x + d * LANES_##SUFFIX;                   \
          if ((i & p) != r) continue;                                                                        \
          _Pragma("GCC ivdep") _Pragma("GCC unroll 1") /* else it is no loop before it could be vectors */   \
              for (int l = 0; l < LANES_##SUFFIX; l++) {                                                     \
            T a = x[l], b = y[l];                                                                            \
            x[l] = a < b ? a : b;                                                                            \
            y[l] = a < b ? b : a;                                                                            \
          }                                                                                                  \
        }                                                                                                    \
  }                                                                                                          \
                                                                                                             \
  static void sort_in_lanes_##SUFFIX(char *(*at)[2], int lines, int64_t n, const int64_t stride[2],          \
                                     lgt_key_kind kind, T *keys) {                                           \
    int64_t count = n * LANES_##SUFFIX;                                                                      \
    for (int l = 0; l < lines; l++)                                                                          \
      for (int64_t i = 0; i < n; i++) keys[i * LANES_##SUFFIX + l] = *(const T *)(at[l][1] + i * stride[1]); \
    lgt_turn_##SUFFIX(keys, keys, count, kind);                                                              \
    exchange_##SUFFIX(keys, n);                                                                              \
    lgt_turn_back_##SUFFIX(keys, count, kind);                                                               \
    for (int l = 0; l < lines; l++)                                                                          \
      for (int64_t i = 0; i < n; i++) *(T *)(at[l][0] + i * stride[0]) = keys[i * LANES_##SUFFIX + l];       \
  }
IN_LANES(i32, int32_t)
IN_LANES(i64, int64_t)

static lgt_status sort_short_lines(const lgt_tile *tiles, lgt_walk *walk, int64_t lo, int64_t hi) {
  const lgt_tile *to = &tiles[0], *from = &tiles[1];
  int lead = to->ndim - 1, dtype = from->dtype, lines = 0;
  int64_t n = from->extent[lead], size = lgt_dtype_size(dtype),
          stride[2] = {to->stride[lead], from->stride[lead]};
  lgt_key_kind kind = lgt_key_kind_of(dtype);
  char *at[LANES_i32][2];
  void *keys = lgt_scratch_zalloc((size_t)n * LANES_BYTES);
  if (!keys) return LGT_NO_MEMORY;
  bool more = true;
  while (more) {
    at[lines][0] = walk->at[0], at[lines][1] = walk->at[1];
    lines++;
    more = lgt_walk_next(walk, lo, hi);
    if (more && lines < LANES_BYTES / size) continue;
    if (size == 4) sort_in_lanes_i32(at, lines, n, stride, kind, keys);
    else sort_in_lanes_i64(at, lines, n, stride, kind, keys);
    lines = 0;
  }
  lgt_scratch_free(keys);
  return LGT_OK;
}

static lgt_status sort_lines(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                             int64_t hi) {
  const lgt_tile *to = &tiles[0], *from = &tiles[1];
  int lead = to->ndim - 1;
  int64_t n = from->extent[lead], size = lgt_dtype_size(from->dtype), lines = 1;
  lgt_walk walk;
  (void)nargs, (void)params;
  if (n == 0 || !lgt_walk_begin(&walk, tiles, 2, lead, lo, hi)) return LGT_OK;
  for (int d = 0; d < lead; d++) lines *= d > 0 ? from->extent[d] : hi - lo;
  bool real = lgt_dtype_part(from->dtype) == from->dtype;
  int64_t longest = lgt_can_sort_vectors() ? LONGEST_BESIDE_VECTORS : LONGEST_IN_LANES;
  if (lines >= FEWEST_IN_LANES && n <= longest && size >= 4 && real)
    return sort_short_lines(tiles, &walk, lo, hi);
  pair *room = lgt_scratch_alloc(2 * (size_t)n * (real ? sizeof(uint64_t) : sizeof *room));
  if (!room) return LGT_NO_MEMORY;
  do {
    if (real) {
      lgt_sort_line(walk.at[0], to->stride[lead], walk.at[1], from->stride[lead], n, from->dtype,
                    (uint64_t *)room);
      continue;
    }
    const pair *sorted = order_line(from, walk.at[1], n, room);
    for (int64_t i = 0; i < n; i++)
      memcpy(walk.at[0] + i * to->stride[lead], walk.at[1] + (int64_t)sorted[i].at * from->stride[lead],
             (size_t)size);
  } while (lgt_walk_next(&walk, lo, hi));
  lgt_scratch_free(room);
  return LGT_OK;
}

static lgt_status argsort_lines(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                                int64_t hi) {
  const lgt_tile *to = &tiles[0], *from = &tiles[1];
  int lead = to->ndim - 1;
  int64_t n = from->extent[lead], base = (int64_t)params[0].f;
  lgt_walk walk;
  (void)nargs;
  if (n == 0 || !lgt_walk_begin(&walk, tiles, 2, lead, lo, hi)) return LGT_OK;
  pair *room = lgt_scratch_alloc(2 * (size_t)n * sizeof *room);
  if (!room) return LGT_NO_MEMORY;
  do {
    const pair *sorted = order_line(from, walk.at[1], n, room);
    for (int64_t i = 0; i < n; i++)
      *(int64_t *)(walk.at[0] + i * to->stride[lead]) = base + (int64_t)sorted[i].at;
  } while (lgt_walk_next(&walk, lo, hi));
  lgt_scratch_free(room);
  return LGT_OK;
}

/* ---- a few places of a sorted line --------------------------------------------------------------------------- */

enum { MOST_BUCKETS = 4096 };

/* Keys in buckets of equal ranges: `count` says how many are in the buckets before each one, NaN aside, which are
 * last.  A place is looked for in its bucket alone, which is sorted when it is needed.  Short lines are one bucket: what
 * many of them cost is what is done besides. */
typedef struct buckets {
  uint64_t *keys; /* n */
  uint64_t *room; /* owned: has the sorted keys of bucket `now`, in its first or second half */
  int64_t held;   /* keys that there is room for */
  const uint64_t *sorted;
  int64_t n, many, count[MOST_BUCKETS + 1], now; /* many: how many buckets there are, a power of two */
  uint64_t least;
  int shift, bytes;
} buckets;

static void make_buckets(buckets *b, int dtype) {
  b->now = -1;
  if (b->n <= SHORT_LINE) {
    b->many = 1, b->least = 0, b->shift = 63;
    b->count[0] = 0, b->count[1] = b->n;
    return;
  }
  uint64_t least = UINT64_MAX, greatest = 0, nan = UINT64_MAX;
  bool is_float = dtype == LGT_FLOAT16 || dtype == LGT_FLOAT32 || dtype == LGT_FLOAT64;
  if (is_float) nan = key_of_nan(dtype);
  for (int64_t i = 0; i < b->n; i++) {
    uint64_t key = b->keys[i];
    least = key < least ? key : least;
    if (!is_float || key != nan) greatest = key > greatest ? key : greatest;
  }
  int64_t wanted = 16;
  while (wanted < MOST_BUCKETS && wanted * 16 < b->n) wanted *= 2;
  b->least = least, b->shift = 0, b->many = wanted;
  while (greatest > least && (greatest - least) >> b->shift >= (uint64_t)wanted - 1) b->shift++;
  memset(b->count, 0, (size_t)(wanted + 1) * sizeof *b->count);
  int64_t last = wanted - 1; /* of NaN, too */
  for (int64_t i = 0; i < b->n; i++) {
    uint64_t k = (b->keys[i] - least) >> b->shift;
    b->count[(k < (uint64_t)last ? (int64_t)k : last) + 1]++;
  }
  for (int64_t k = 0; k < wanted; k++) b->count[k + 1] += b->count[k];
}

/* The key at an offset of the sorted line. */
static uint64_t key_at(buckets *b, int64_t offset) {
  int64_t low = 0, n = b->many;
  while (n > 1) { /* the last bucket that begins at or before the offset */
    int64_t half = n / 2;
    if (b->count[low + half] <= offset) low += half, n -= half;
    else n = half;
  }
  if (low != b->now) {
    int64_t found = 0, size = b->count[low + 1] - b->count[low];
    bool last = b->count[low + 1] == b->n;
    for (int64_t i = 0; i < b->n && found < size; i++) {
      uint64_t k = (b->keys[i] - b->least) >> b->shift;
      b->room[found] = b->keys[i];
      found += k == (uint64_t)low || (last && k > (uint64_t)low);
    }
    b->sorted = radix_sort_keys(b->room, b->room + size, size, b->bytes);
    b->now = low;
  }
  return b->sorted[offset - b->count[low]];
}

/* For lines of n keys; NULL with a message if there is no memory. */
static buckets *new_buckets(int64_t n, int dtype) {
  buckets *b = lgt_scratch_alloc(sizeof *b + (size_t)n * sizeof *b->keys);
  if (!b) return NULL;
  b->keys = (uint64_t *)(b + 1), b->room = NULL, b->held = 0;
  b->n = n, b->bytes = (int)lgt_dtype_size(dtype);
  return b;
}

static void free_buckets(buckets *b) {
  if (b) lgt_scratch_free(b->room);
  lgt_scratch_free(b);
}

static lgt_status hold(buckets *b, int64_t keys) {
  if (keys <= b->held) return LGT_OK;
  lgt_scratch_free(b->room);
  b->held = keys;
  b->room = lgt_scratch_alloc((size_t)keys * sizeof *b->room);
  return b->room ? LGT_OK : LGT_NO_MEMORY;
}

/* Room to sort the largest bucket. */
static lgt_status make_room(buckets *b) {
  int64_t most = 0;
  for (int64_t k = 0; k < b->many; k++)
    if (b->count[k + 1] - b->count[k] > most) most = b->count[k + 1] - b->count[k];
  return hold(b, 2 * most);
}

/* equal_zeros: -0 is 0, as where positions are looked for. */
static lgt_status read_keys(buckets *b, int dtype, const char *line, int64_t stride, bool equal_zeros) {
  for (int64_t i = 0; i < b->n; i++) {
    uint64_t key = key_of(dtype, line + i * stride);
    b->keys[i] = equal_zeros ? without_sign_of_zero(dtype, key) : key;
  }
  make_buckets(b, dtype);
  return make_room(b);
}

static lgt_status select_places(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                                int64_t hi) {
  const lgt_tile *to = &tiles[0], *from = &tiles[1], *places = &tiles[2];
  int lead = to->ndim - 1, dtype = from->dtype;
  int64_t n = from->extent[lead], m = to->extent[lead];
  bool own = places->ndim == to->ndim; /* each line has places of its own */
  lgt_walk walk;
  (void)nargs, (void)params;
  if (n == 0 || m == 0 || !lgt_walk_begin(&walk, tiles, own ? 3 : 2, lead, lo, hi)) return LGT_OK;
  buckets *b = new_buckets(n, dtype);
  if (!b) return LGT_NO_MEMORY;
  lgt_status status;
  do {
    if ((status = read_keys(b, dtype, walk.at[1], from->stride[lead], false))) break;
    for (int64_t k = 0; k < m; k++) {
      const char *at = own ? walk.at[2] : (const char *)places->data;
      int64_t place = *(const int64_t *)(at + k * places->stride[places->ndim - 1]);
      put_key(walk.at[0] + k * to->stride[lead], key_at(b, place), dtype, b->bytes);
    }
  } while (lgt_walk_next(&walk, lo, hi));
  free_buckets(b);
  return status;
}

static lgt_status partition_lines(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                                  int64_t hi) {
  const lgt_tile *to = &tiles[0], *from = &tiles[1];
  int lead = to->ndim - 1, dtype = from->dtype;
  int64_t n = from->extent[lead], place = (int64_t)params[0].f, stride = to->stride[lead];
  lgt_walk walk;
  (void)nargs;
  if (n == 0 || !lgt_walk_begin(&walk, tiles, 2, lead, lo, hi)) return LGT_OK;
  buckets *b = new_buckets(n, dtype);
  if (!b) return LGT_NO_MEMORY;
  lgt_status status;
  do {
    if ((status = read_keys(b, dtype, walk.at[1], from->stride[lead], false))) break;
    if ((status = hold(b, 2 * n))) break;
    uint64_t middle = key_at(b, place), *less = b->room, *greater = b->room + n;
    int64_t nless = 0, ngreater = 0;
    for (int64_t i = 0; i < n; i++) {
      less[nless] = greater[ngreater] = b->keys[i];
      nless += b->keys[i]<middle, ngreater += b->keys[i]> middle;
    }
    for (int64_t i = 0; i < n; i++)
      put_key(walk.at[0] + i * stride,
              i < nless          ? less[i]
              : i < n - ngreater ? middle
                                 : greater[i - (n - ngreater)],
              dtype, b->bytes);
  } while (lgt_walk_next(&walk, lo, hi));
  free_buckets(b);
  return status;
}

/* argpartition: the positions of what a partition puts first, then of the element there and its equals, then of
 * the others, each in their order. */
static lgt_status argpartition_lines(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                                     int64_t hi) {
  const lgt_tile *to = &tiles[0], *from = &tiles[1];
  int lead = to->ndim - 1, dtype = from->dtype;
  int64_t n = from->extent[lead], place = (int64_t)params[0].f, base = (int64_t)params[1].f;
  int64_t stride = to->stride[lead];
  lgt_walk walk;
  (void)nargs;
  if (n == 0 || !lgt_walk_begin(&walk, tiles, 2, lead, lo, hi)) return LGT_OK;
  buckets *b = new_buckets(n, dtype);
  if (!b) return LGT_NO_MEMORY;
  lgt_status status;
  do {
    if ((status = read_keys(b, dtype, walk.at[1], from->stride[lead], true))) break;
    uint64_t middle = key_at(b, place);
    int64_t at[3] = {0};
    for (int64_t i = 0; i < n; i++) at[1] += b->keys[i] < middle, at[2] += b->keys[i] <= middle;
    for (int64_t i = 0; i < n; i++) {
      int part = (b->keys[i] >= middle) + (b->keys[i] > middle);
      *(int64_t *)(walk.at[0] + at[part]++ * stride) = base + i;
    }
  } while (lgt_walk_next(&walk, lo, hi));
  free_buckets(b);
  return status;
}

/* The k greatest of b's keys as pairs in ascending order, of equal ones the last; p has room for 2k. */
static pair *greatest(buckets *b, int64_t k, pair *p) {
  uint64_t least = key_at(b, b->n - k);
  int64_t above = 0, equal = 0, found = 0;
  for (int64_t i = 0; i < b->n; i++) above += b->keys[i] > least, equal += b->keys[i] == least;
  int64_t skip = equal - (k - above); /* of the equal ones, the first */
  for (int64_t i = 0; i < b->n; i++) {
    if (b->keys[i] < least || (b->keys[i] == least && skip-- > 0)) continue;
    p[found++] = (pair){b->keys[i], (uint64_t)i};
  }
  return radix_sort(p, p + k, k, b->bytes);
}

static lgt_status topk_lines(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                             int64_t hi) {
  const lgt_tile *to = &tiles[0], *positions = &tiles[1], *from = &tiles[2];
  int lead = to->ndim - 1, dtype = from->dtype;
  int64_t n = from->extent[lead], k = to->extent[lead], base = (int64_t)params[0].f;
  int64_t size = lgt_dtype_size(dtype);
  lgt_walk walk;
  (void)nargs;
  if (k == 0 || !lgt_walk_begin(&walk, tiles, 3, lead, lo, hi)) return LGT_OK;
  buckets *b = new_buckets(n, dtype);
  pair *room = b ? lgt_scratch_alloc(2 * (size_t)k * sizeof *room) : NULL;
  lgt_status status = room ? LGT_OK : LGT_NO_MEMORY;
  if (status) goto done;
  do {
    if ((status = read_keys(b, dtype, walk.at[2], from->stride[lead], true))) break;
    const pair *sorted = greatest(b, k, room);
    for (int64_t i = 0; i < k; i++) {
      int64_t at = (int64_t)sorted[k - 1 - i].at;
      *(int64_t *)(walk.at[1] + i * positions->stride[lead]) = base + at;
      memcpy(walk.at[0] + i * to->stride[lead], walk.at[2] + at * from->stride[lead], (size_t)size);
    }
  } while (lgt_walk_next(&walk, lo, hi));
done:
  lgt_scratch_free(room);
  free_buckets(b);
  return status;
}

/* ---- searching ------------------------------------------------------------------------------------------------- */

/* The keys of a complex number's parts, and whether one is NaN. */
typedef struct complex_key {
  bool nan;
  uint64_t re, im;
} complex_key;

static complex_key complex_key_of(int part, const char *p) {
  complex_key k = {.re = order_key(part, p), .im = order_key(part, p + lgt_dtype_size(part))};
  k.nan = k.re == key_of_nan(part) || k.im == key_of_nan(part);
  return k;
}

/* Do two elements come in this order?  1: a before b, -1: b before a, 0: they are equal. */
static int compare(int dtype, const char *a, const char *b) {
  int part = lgt_dtype_part(dtype);
  if (part == dtype) {
    uint64_t x = order_key(dtype, a), y = order_key(dtype, b);
    return x < y ? 1 : x > y ? -1 : 0;
  }
  complex_key x = complex_key_of(part, a), y = complex_key_of(part, b);
  if (x.nan != y.nan) return y.nan ? 1 : -1;
  if (x.re != y.re) return x.re < y.re ? 1 : -1;
  return x.im < y.im ? 1 : x.im > y.im ? -1 : 0;
}

/* NaN differs from nothing that has one. */
static bool differ(int dtype, const char *a, const char *b) {
  int part = lgt_dtype_part(dtype);
  if (part != dtype && complex_key_of(part, a).nan && complex_key_of(part, b).nan) return false;
  return compare(dtype, a, b) != 0;
}

/* The keys of a sorted vector, if they are looked at often enough; else NULL. */
static uint64_t *keys_of(const lgt_tile *sorted, int64_t searches) {
  int dtype = sorted->dtype;
  int64_t n = sorted->extent[0], stride = sorted->stride[0];
  if (lgt_dtype_part(dtype) != dtype || n == 0 || n / 4 > searches) return NULL;
  uint64_t *keys = lgt_scratch_alloc((size_t)n * sizeof *keys);
  for (int64_t i = 0; keys && i < n; i++) keys[i] = order_key(dtype, (const char *)sorted->data + i * stride);
  return keys;
}

/* How many of n ascending keys are below a limit.  Without branches: the processor could not guess them. */
static int64_t count_below(const uint64_t *keys, int64_t n, uint64_t limit) {
  const uint64_t *p = keys;
  while (n > 1) {
    int64_t half = n / 2;
    p += p[half - 1] < limit ? half : 0;
    n -= half;
  }
  return p - keys + (*p < limit);
}

/* The values of a set of integers as bits, if they lie close together. */
typedef struct bitmap {
  uint64_t *bits; /* NULL: there is none */
  uint64_t least, span;
} bitmap;

static bitmap bitmap_of(const uint64_t *keys, int64_t n, int dtype, int64_t searches) {
  bitmap map = {0};
  if (n == 0 || dtype < LGT_BOOL || dtype > LGT_UINT64) return map;
  uint64_t least = keys[0], most = keys[0];
  for (int64_t i = 1; i < n; i++) {
    least = keys[i] < least ? keys[i] : least;
    most = keys[i] > most ? keys[i] : most;
  }
  uint64_t span = most - least;
  if (span >= (uint64_t)1 << 26 || span / 8 > (uint64_t)searches) return map;
  map = (bitmap){lgt_scratch_zalloc((size_t)(span / 64 + 1) * sizeof *map.bits), least, span};
  for (int64_t i = 0; map.bits && i < n; i++) {
    uint64_t k = keys[i] - map.least;
    map.bits[k / 64] |= (uint64_t)1 << k % 64;
  }
  return map;
}

static lgt_status search_members(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                                 int64_t hi) {
  const lgt_tile *to = &tiles[0], *set = &tiles[1], *from = &tiles[2];
  int dtype = set->dtype, lead = to->ndim - 1;
  int64_t n = set->extent[0], line = to->extent[lead];
  bool sorted = params[0].f != 0;
  lgt_tile moving[2] = {*to, *from};
  lgt_walk walk;
  (void)nargs;
  if (!lgt_walk_begin(&walk, moving, 2, lead, lo, hi)) return LGT_OK;
  uint64_t *room = lgt_scratch_alloc((size_t)(sorted ? n + 1 : 2 * n + 1) * sizeof *room);
  if (!room) return LGT_NO_MEMORY;
  for (int64_t i = 0; i < n; i++) room[i] = order_key(dtype, (const char *)set->data + i * set->stride[0]);
  bool is_float = dtype == LGT_FLOAT16 || dtype == LGT_FLOAT32 || dtype == LGT_FLOAT64;
  uint64_t nan = is_float ? key_of_nan(dtype) : 0;
  bitmap map = bitmap_of(room, n, dtype, line);
  const uint64_t *keys =
      sorted || map.bits ? room : radix_sort_keys(room, room + n, n, (int)lgt_dtype_size(dtype));
  do {
    for (int64_t i = 0; i < line; i++) {
      uint64_t key = order_key(dtype, walk.at[1] + i * from->stride[lead]);
      uint8_t *out = (uint8_t *)walk.at[0] + i * to->stride[lead];
      if (map.bits) {
        uint64_t k = key - map.least;
        *out = k <= map.span && (map.bits[k / 64] >> k % 64 & 1);
      } else {
        int64_t k = count_below(keys, n, key);
        *out = k < n && keys[k] == key && !(is_float && key == nan);
      }
    }
  } while (lgt_walk_next(&walk, lo, hi));
  lgt_scratch_free(map.bits);
  lgt_scratch_free(room);
  return LGT_OK;
}

/* Does a vector ascend, or descend?  If the latter, *sorted becomes its reverse.  NaN is in no order. */
static lgt_status find_order(lgt_tile *sorted, bool *descends) {
  int dtype = sorted->dtype;
  uint64_t nan = dtype >= LGT_FLOAT16 ? key_of_nan(dtype) : 0, last = 0;
  bool up = false, down = false, any = false;
  for (int64_t i = 0; i < sorted->extent[0]; i++) {
    uint64_t key = order_key(dtype, (const char *)sorted->data + i * sorted->stride[0]);
    if (any && key != nan && last != nan) up |= last<key, down |= last> key;
    last = key, any = true;
  }
  if (up && down) return lgt_err(LGT_BAD_ARGUMENT, "the edges must ascend or descend");
  *descends = down;
  if (!down) return LGT_OK;
  sorted->data = (char *)sorted->data + (sorted->extent[0] - 1) * sorted->stride[0];
  sorted->stride[0] = -sorted->stride[0];
  return LGT_OK;
}

static inline bool comes_before(const lgt_tile *sorted, int64_t i, const char *value, bool right) {
  int order = compare(sorted->dtype, (const char *)sorted->data + i * sorted->stride[0], value);
  return order > 0 || (right && order == 0);
}

/* A value that does not come before the last one is not found before it, at *first: what follows is looked at in steps that
 * double.  Values in order cost little, wherever they are. */
static void narrow(const lgt_tile *sorted, const char *value, bool right, int64_t *first, int64_t *past) {
  for (int64_t step = 1; *first + step <= *past; step *= 2) {
    if (!comes_before(sorted, *first + step - 1, value, right)) {
      *past = *first + step - 1;
      return;
    }
    *first += step;
  }
}

enum { IN_ORDER = 4 }; /* so many values in a row ascended: the next probably does */

static lgt_status search_lines(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                               int64_t hi) {
  const lgt_tile *to = &tiles[0], *from = &tiles[2];
  lgt_tile sorted = tiles[1];
  int dtype = sorted.dtype;
  int64_t n = sorted.extent[0];
  bool right = params[0].f != 0, descends = false;
  lgt_walk walk;
  (void)nargs;
  lgt_tile moving[2] = {*to, *from};
  if (!lgt_walk_begin(&walk, moving, 2, to->ndim, lo, hi)) return LGT_OK;
  if (params[1].f < 0 && find_order(&sorted, &descends)) return LGT_BAD_ARGUMENT;
  int64_t searches = hi - lo, ascents = 0, found = 0;
  const char *last = NULL;
  for (int d = 1; d < to->ndim; d++) searches *= to->extent[d];
  uint64_t *keys = keys_of(&sorted, searches);
  do {
    const char *value = walk.at[1];
    int64_t first = 0, past = n;
    ascents = last && compare(dtype, last, value) >= 0 ? ascents + 1 : 0;
    last = value;
    if (ascents >= IN_ORDER) {
      first = found;
      narrow(&sorted, value, right, &first, &past);
    } else if (keys) {
      uint64_t key = order_key(dtype, value);
      first = right && key == UINT64_MAX ? n : count_below(keys, n, key + right);
      past = first;
    }
    while (first < past) {
      int64_t middle = first + (past - first) / 2;
      if (comes_before(&sorted, middle, value, right)) first = middle + 1;
      else past = middle;
    }
    found = first;
    *(int64_t *)walk.at[0] = descends ? n - first : first;
  } while (lgt_walk_next(&walk, lo, hi));
  lgt_scratch_free(keys);
  return LGT_OK;
}

static lgt_status search_runs(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                              int64_t hi) {
  int64_t run = (int64_t)params[1].f;
  lgt_status status = LGT_OK;
  for (int64_t r = lo; r < hi && !status; r++) {
    lgt_tile part[3] = {tiles[0], tiles[1], tiles[2]};
    int64_t n = tiles[1].extent[0] - r * run;
    part[0].data = (char *)tiles[0].data + r * tiles[0].stride[0];
    part[0].ndim = 1, part[0].extent[0] = tiles[0].extent[1], part[0].stride[0] = tiles[0].stride[1];
    part[1].extent[0] = n < 0 ? 0 : n < run ? n : run;
    if (n > 0) part[1].data = (char *)tiles[1].data + r * run * tiles[1].stride[0];
    status = search_lines(part, nargs, params, 0, part[0].extent[0]);
  }
  return status;
}

static lgt_status mark_first(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                             int64_t hi) {
  const lgt_tile *to = &tiles[0], *from = &tiles[1];
  int lead = to->ndim - 1;
  int64_t n = from->extent[lead], stride = from->stride[lead];
  lgt_walk walk;
  (void)nargs, (void)params;
  if (n == 0 || !lgt_walk_begin(&walk, tiles, 2, lead, lo, hi)) return LGT_OK;
  do {
    const char *p = walk.at[1];
    for (int64_t i = 0; i < n; i++, p += stride)
      *(uint8_t *)(walk.at[0] + i * to->stride[lead]) = i == 0 || differ(from->dtype, p - stride, p);
  } while (lgt_walk_next(&walk, lo, hi));
  return LGT_OK;
}

const lgt_builtin lgt_sort_builtins[] = {{"sort", sort_lines},
                                         {"argsort", argsort_lines},
                                         {"select", select_places},
                                         {"partition", partition_lines},
                                         {"argpartition", argpartition_lines},
                                         {"topk", topk_lines},
                                         {"searchsorted", search_lines},
                                         {"search_runs", search_runs},
                                         {"member", search_members},
                                         {"unique", mark_first},
                                         {0}};
