/* scan.c - running sums and the like.
 *
 *   scan        element i of a line of argument 0 is the combination of elements 0 to i of that line of
 *               argument 1; parameter 0 is the number of the operation (scan.h), both have one dtype
 *   scan_totals element b along an axis of argument 0 is the combination of block b along it of argument 1;
 *               parameters 0 the operation, 1 the axis (from 0)
 *   scan_carry  element b > 0 of a line of argument 0 is the combination of elements 0 to b - 1 of that line of
 *               argument 1, from the left
 *   scan_blocks block b along an axis of argument 0 is the running combination of that block of argument 1, after
 *               element b of argument 2, for b > 0; parameters as of scan_totals
 *   reduceat  element k of a line of argument 0 is the combination of elements p[k] to p[k + 1] - 1 of that line of
 *             argument 1 (element p[k] alone, if there are none), where p is the vector argument 2 (int64, from 1);
 *             parameter 1 is the axis, for messages
 *   reduceat_runs  argument 0 [r, k] is what of that lies in run r of the vector argument 1, if anything; parameters 1
 *             the length of a run, 2 of the vector
 *   reduceat_fold  element k of the vector argument 0 is the combination of argument 1 [r, k] over those runs; argument 2
 *             and parameters as before
 *
 * The order of a scan is the same whoever computes which part of it.  A line is combined in *blocks* of 1024
 * elements, a block in *groups* of four: a, a + b, (a + b) + c, (a + b) + (c + d).  Elements of a group are added to the
 * last of the group before it in its block; what comes out of a block, to the last of the block before it.  So the
 * blocks of a line may be scanned at once by many, given the totals of those before them; a processor has
 * four sums to do where it would else wait for each; and running sums of what is not negative never descend.  Where
 * the order of operations matters (differences and quotients), a line is combined from the left, in one piece.
 *
 * Each operation exists once for each dtype that has it, made by macros: LOAD and STORE say how an element
 * lies in memory, EXPR combines a and b.
 */
#include "ops/scan.h"

#include "base/half.h"

enum { BLOCK = LGT_SCAN_BLOCK };

typedef void (*run_fn)(char *to, int64_t to_stride, const char *from, int64_t stride, int64_t count);
/* *to = from[0] op from[1] ..., from the left; one at least. */
typedef void (*fold_fn)(char *to, const char *from, int64_t stride, int64_t count);
/* Scan a block of at most BLOCK elements after *carry (NULL: nothing); to = NULL: only its total is wanted.  *total may
 * be *carry. */
typedef void (*block_fn)(char *to, int64_t to_stride, const char *from, int64_t stride, int64_t count,
                         const char *carry, char *total);

typedef struct pair32 {
  float re, im;
} pair32;
typedef struct pair64 {
  double re, im;
} pair64;

/* a / b of complex numbers: Smith, Algorithm 116, CACM 1962. */
static pair64 divide64(pair64 a, pair64 b) {
  if ((b.re < 0 ? -b.re : b.re) >= (b.im < 0 ? -b.im : b.im)) {
    double r = b.im / b.re, s = 1 / (b.re + b.im * r);
    return (pair64){(a.re + a.im * r) * s, (a.im - a.re * r) * s};
  }
  double r = b.re / b.im, s = 1 / (b.im + b.re * r);
  return (pair64){(a.re * r + a.im) * s, (a.im * r - a.re) * s};
}
static pair32 divide32(pair32 a, pair32 b) {
  pair64 q = divide64((pair64){a.re, a.im}, (pair64){b.re, b.im});
  return (pair32){(float)q.re, (float)q.im};
}

#define LOAD_PLAIN(T, p)     (*(const T *)(p))
#define STORE_PLAIN(T, p, x) (*(T *)(p) = (x))
#define LOAD_HALF(T, p)      lgt_half_to_float(*(const uint16_t *)(p))
#define STORE_HALF(T, p, x)  (*(uint16_t *)(p) = lgt_half_from_float(x))
#define LOAD_BOOL(T, p)      (*(const uint8_t *)(p) != 0)
#define ROUND_PLAIN(x)       (x)
#define IS_LOAD_PLAIN        1 /* elements lie in memory as they are combined */
#define IS_LOAD_HALF         0
#define IS_LOAD_BOOL         0

/* By groups of four; to = NULL: only the total, which is returned, is wanted. */
#define DEFINE_BLOCK(OP, SUFFIX, T, LOAD, STORE, ROUND, EXPR)                                       \
  static inline T combine_##OP##_##SUFFIX(T a, T b) {                                               \
    (void)a;                                                                                        \
    return (T)ROUND(EXPR);                                                                          \
  }                                                                                                 \
  static inline __attribute__((always_inline)) T groups_##OP##_##SUFFIX(                            \
      char *to, int64_t to_stride, const char *from, int64_t stride, int64_t n, const T *carry) {   \
    T sum = LOAD(T, from);                                                                          \
    int64_t i = 0;                                                                                  \
    for (; i + 4 <= n; i += 4, from += 4 * stride) {                                                \
      T x = LOAD(T, from + 2 * stride), y = combine_##OP##_##SUFFIX(x, LOAD(T, from + 3 * stride)); \
      T g0 = LOAD(T, from), g1 = combine_##OP##_##SUFFIX(g0, LOAD(T, from + stride));               \
      T g2 = combine_##OP##_##SUFFIX(g1, x), g3 = combine_##OP##_##SUFFIX(g1, y);                   \
      if (i > 0) {                                                                                  \
        g0 = combine_##OP##_##SUFFIX(sum, g0), g1 = combine_##OP##_##SUFFIX(sum, g1);               \
        g2 = combine_##OP##_##SUFFIX(sum, g2), g3 = combine_##OP##_##SUFFIX(sum, g3);               \
      }                                                                                             \
      sum = g3;                                                                                     \
      if (carry) {                                                                                  \
        g0 = combine_##OP##_##SUFFIX(*carry, g0), g1 = combine_##OP##_##SUFFIX(*carry, g1);         \
        g2 = combine_##OP##_##SUFFIX(*carry, g2), g3 = combine_##OP##_##SUFFIX(*carry, g3);         \
      }                                                                                             \
      if (to) {                                                                                     \
        char *at = to + i * to_stride;                                                              \
        STORE(T, at, g0);                                                                           \
        STORE(T, at + to_stride, g1);                                                               \
        STORE(T, at + 2 * to_stride, g2);                                                           \
        STORE(T, at + 3 * to_stride, g3);                                                           \
      }                                                                                             \
    }                                                                                               \
    T group = sum, before = sum;                                                                    \
    for (int64_t first = i; i < n; i++, from += stride) {                                           \
      group = i == first ? LOAD(T, from) : combine_##OP##_##SUFFIX(group, LOAD(T, from));           \
      sum = first > 0 ? combine_##OP##_##SUFFIX(before, group) : group;                             \
      if (to) STORE(T, to + i * to_stride, carry ? combine_##OP##_##SUFFIX(*carry, sum) : sum);     \
    }                                                                                               \
    return carry ? combine_##OP##_##SUFFIX(*carry, sum) : sum;                                      \
  }                                                                                                 \
  static void block_##OP##_##SUFFIX(char *to, int64_t to_stride, const char *from, int64_t stride,  \
                                    int64_t n, const char *carry, char *total) {                    \
    T before = LOAD(T, carry ? carry : from), sum;                                                  \
    const int64_t size = IS_##LOAD ? (int64_t)sizeof(T) : 2;                                        \
    const T *after = carry ? &before : NULL;                                                        \
    if (!to) sum = groups_##OP##_##SUFFIX(NULL, 0, from, stride, n, NULL);                          \
    else if (stride == size && to_stride == size)                                                   \
      sum = groups_##OP##_##SUFFIX(to, size, from, size, n, after);                                 \
    else sum = groups_##OP##_##SUFFIX(to, to_stride, from, stride, n, after);                       \
    if (total) STORE(T, total, sum);                                                                \
  }

#define DEFINE_STEP(OP, SUFFIX, T, LOAD, STORE, ROUND, EXPR)     \
  static void step_##OP##_##SUFFIX(char *to, const char *from) { \
    T a = LOAD(T, to), b = LOAD(T, from);                        \
    (void)a;                                                     \
    STORE(T, to, EXPR);                                          \
  }
#define DEFINE_FOLD(OP, SUFFIX, T, LOAD, STORE, ROUND, EXPR)                                    \
  static void fold_##OP##_##SUFFIX(char *to, const char *from, int64_t stride, int64_t count) { \
    T a = LOAD(T, from);                                                                        \
    for (int64_t i = 1; i < count; i++) {                                                       \
      T b = LOAD(T, from + i * stride);                                                         \
      (void)a;                                                                                  \
      a = (T)ROUND(EXPR);                                                                       \
    }                                                                                           \
    STORE(T, to, a);                                                                            \
  }
#define DEFINE_RUN(OP, SUFFIX, T, LOAD, STORE, ROUND, EXPR)                                      \
  static void run_##OP##_##SUFFIX(char *to, int64_t to_stride, const char *from, int64_t stride, \
                                  int64_t count) {                                               \
    T a = LOAD(T, to);                                                                           \
    for (int64_t i = 0; i < count; i++, from += stride) {                                        \
      T b = LOAD(T, from);                                                                       \
      a = ROUND(EXPR);                                                                           \
      to += to_stride;                                                                           \
      STORE(T, to, a);                                                                           \
    }                                                                                            \
  }
#define ORDERED(OP, ...)       \
  DEFINE_STEP(OP, __VA_ARGS__) \
  DEFINE_FOLD(OP, __VA_ARGS__) \
  DEFINE_RUN(OP, __VA_ARGS__)
#define SCAN(OP, ...)          \
  DEFINE_STEP(OP, __VA_ARGS__) \
  DEFINE_FOLD(OP, __VA_ARGS__) \
  DEFINE_BLOCK(OP, __VA_ARGS__)

#define WRAP(T, op) (T)((uint64_t)a op(uint64_t) b)
#define INTEGER(SUFFIX, T)                                                  \
  SCAN(SET, SUFFIX, T, LOAD_PLAIN, STORE_PLAIN, ROUND_PLAIN, b)             \
  SCAN(ADD, SUFFIX, T, LOAD_PLAIN, STORE_PLAIN, ROUND_PLAIN, WRAP(T, +))    \
  SCAN(MUL, SUFFIX, T, LOAD_PLAIN, STORE_PLAIN, ROUND_PLAIN, WRAP(T, *))    \
  ORDERED(SUB, SUFFIX, T, LOAD_PLAIN, STORE_PLAIN, ROUND_PLAIN, WRAP(T, -)) \
  SCAN(MAX, SUFFIX, T, LOAD_PLAIN, STORE_PLAIN, ROUND_PLAIN, a > b ? a : b) \
  SCAN(MIN, SUFFIX, T, LOAD_PLAIN, STORE_PLAIN, ROUND_PLAIN, a < b ? a : b) \
  SCAN(AND, SUFFIX, T, LOAD_PLAIN, STORE_PLAIN, ROUND_PLAIN, WRAP(T, &))    \
  SCAN(OR, SUFFIX, T, LOAD_PLAIN, STORE_PLAIN, ROUND_PLAIN, WRAP(T, |))     \
  SCAN(XOR, SUFFIX, T, LOAD_PLAIN, STORE_PLAIN, ROUND_PLAIN, WRAP(T, ^))

#define FLOAT(SUFFIX, T, LOAD, STORE, ROUND)                         \
  SCAN(SET, SUFFIX, T, LOAD, STORE, ROUND, b)                        \
  SCAN(ADD, SUFFIX, T, LOAD, STORE, ROUND, a + b)                    \
  SCAN(MUL, SUFFIX, T, LOAD, STORE, ROUND, a *b)                     \
  ORDERED(SUB, SUFFIX, T, LOAD, STORE, ROUND, a - b)                 \
  ORDERED(DIV, SUFFIX, T, LOAD, STORE, ROUND, a / b)                 \
  SCAN(MAX, SUFFIX, T, LOAD, STORE, ROUND, a > b || a != a ? a : b)  \
  SCAN(MIN, SUFFIX, T, LOAD, STORE, ROUND, a < b || a != a ? a : b)  \
  SCAN(FMAX, SUFFIX, T, LOAD, STORE, ROUND, a > b || b != b ? a : b) \
  SCAN(FMIN, SUFFIX, T, LOAD, STORE, ROUND, a < b || b != b ? a : b)

#define COMPLEX(SUFFIX, T, DIVIDE)                                                               \
  SCAN(SET, SUFFIX, T, LOAD_PLAIN, STORE_PLAIN, ROUND_PLAIN, b)                                  \
  SCAN(ADD, SUFFIX, T, LOAD_PLAIN, STORE_PLAIN, ROUND_PLAIN, ((T){a.re + b.re, a.im + b.im}))    \
  ORDERED(SUB, SUFFIX, T, LOAD_PLAIN, STORE_PLAIN, ROUND_PLAIN, ((T){a.re - b.re, a.im - b.im})) \
  SCAN(MUL, SUFFIX, T, LOAD_PLAIN, STORE_PLAIN, ROUND_PLAIN,                                     \
       ((T){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}))                              \
  ORDERED(DIV, SUFFIX, T, LOAD_PLAIN, STORE_PLAIN, ROUND_PLAIN, DIVIDE(a, b))

INTEGER(i8, int8_t)
INTEGER(i16, int16_t)
INTEGER(i32, int32_t)
INTEGER(i64, int64_t)
INTEGER(u8, uint8_t)
INTEGER(u16, uint16_t)
INTEGER(u32, uint32_t)
INTEGER(u64, uint64_t)
FLOAT(f16, float, LOAD_HALF, STORE_HALF, lgt_half_round)
FLOAT(f32, float, LOAD_PLAIN, STORE_PLAIN, ROUND_PLAIN)
FLOAT(f64, double, LOAD_PLAIN, STORE_PLAIN, ROUND_PLAIN)
COMPLEX(c64, pair32, divide32)
COMPLEX(c128, pair64, divide64)
SCAN(SET, b, uint8_t, LOAD_BOOL, STORE_PLAIN, ROUND_PLAIN, b)
SCAN(AND, b, uint8_t, LOAD_BOOL, STORE_PLAIN, ROUND_PLAIN, a &b)
SCAN(OR, b, uint8_t, LOAD_BOOL, STORE_PLAIN, ROUND_PLAIN, a | b)
SCAN(XOR, b, uint8_t, LOAD_BOOL, STORE_PLAIN, ROUND_PLAIN, a ^ b)

typedef struct entry {
  lgt_scan_step step;
  fold_fn fold;
  block_fn block; /* one of the two: where the order matters, run */
  run_fn run;
} entry;

#define E(OP, SUFFIX) \
  [LGT_SCAN_##OP] = {step_##OP##_##SUFFIX, fold_##OP##_##SUFFIX, block_##OP##_##SUFFIX, NULL}
#define O(OP, SUFFIX) \
  [LGT_SCAN_##OP] = {step_##OP##_##SUFFIX, fold_##OP##_##SUFFIX, NULL, run_##OP##_##SUFFIX}
#define ALL(SUFFIX)   E(SET, SUFFIX), E(ADD, SUFFIX), E(MUL, SUFFIX), O(SUB, SUFFIX)
#define BITS(SUFFIX)  E(AND, SUFFIX), E(OR, SUFFIX), E(XOR, SUFFIX)
#define ORDER(SUFFIX) E(MAX, SUFFIX), E(MIN, SUFFIX)
#define INTEGERS(SUFFIX) \
  { ALL(SUFFIX), ORDER(SUFFIX), BITS(SUFFIX) }
#define FLOATS(SUFFIX) \
  { ALL(SUFFIX), ORDER(SUFFIX), O(DIV, SUFFIX), E(FMAX, SUFFIX), E(FMIN, SUFFIX) }
#define COMPLEXES(SUFFIX) \
  { ALL(SUFFIX), O(DIV, SUFFIX) }

static const entry operations[LGT_NDTYPE][LGT_SCAN_NOP] = {
    [LGT_BOOL] = {E(SET, b), E(AND, b), E(OR, b), E(XOR, b)},
    [LGT_INT8] = INTEGERS(i8),
    [LGT_INT16] = INTEGERS(i16),
    [LGT_INT32] = INTEGERS(i32),
    [LGT_INT64] = INTEGERS(i64),
    [LGT_UINT8] = INTEGERS(u8),
    [LGT_UINT16] = INTEGERS(u16),
    [LGT_UINT32] = INTEGERS(u32),
    [LGT_UINT64] = INTEGERS(u64),
    [LGT_FLOAT16] = FLOATS(f16),
    [LGT_FLOAT32] = FLOATS(f32),
    [LGT_FLOAT64] = FLOATS(f64),
    [LGT_COMPLEX64] = COMPLEXES(c64),
    [LGT_COMPLEX128] = COMPLEXES(c128),
};

static const entry *entry_of(int op, int dtype) {
  static const char *const name[] = {
#define X(NAME) #NAME,
      LGT_SCAN_OPS(X)
#undef X
  };
  if (op >= 0 && op < LGT_SCAN_NOP && operations[dtype][op].step) return &operations[dtype][op];
  lgt_err(LGT_BAD_DTYPE, "elements of %s cannot be combined by %s", lgt_dtype_name(dtype),
          op >= 0 && op < LGT_SCAN_NOP ? name[op] : "an unknown operation");
  return NULL;
}

lgt_scan_step lgt_scan_step_of(int op, int dtype) {
  const entry *e = entry_of(op, dtype);
  return e ? e->step : NULL;
}

static lgt_status scan_lines(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                             int64_t hi) {
  const lgt_tile *to = &tiles[0], *from = &tiles[1];
  int lead = to->ndim - 1;
  int64_t n = from->extent[lead], stride = from->stride[lead];
  const entry *e = entry_of((int)params[0].f, from->dtype);
  lgt_walk walk;
  (void)nargs;
  if (!e) return LGT_BAD_DTYPE;
  if (n == 0 || !lgt_walk_begin(&walk, tiles, 2, lead, lo, hi)) return LGT_OK;
  do {
    char carry[16];
    if (!e->block) {
      memcpy(walk.at[0], walk.at[1], (size_t)lgt_dtype_size(from->dtype));
      e->run(walk.at[0], to->stride[lead], walk.at[1] + stride, stride, n - 1);
      continue;
    }
    for (int64_t i = 0; i < n; i += BLOCK)
      e->block(walk.at[0] + i * to->stride[lead], to->stride[lead], walk.at[1] + i * stride, stride,
               n - i < BLOCK ? n - i : BLOCK, i ? carry : NULL, carry);
  } while (lgt_walk_next(&walk, lo, hi));
  return LGT_OK;
}

/* ---- blocks of lines --------------------------------------------------------------------------------- */

static lgt_status carry_lines(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                              int64_t hi) {
  const lgt_tile *to = &tiles[0], *from = &tiles[1];
  int lead = to->ndim - 1;
  int64_t n = to->extent[lead], to_stride = to->stride[lead], size = lgt_dtype_size(to->dtype);
  const entry *e = entry_of((int)params[0].f, from->dtype);
  lgt_walk walk;
  (void)nargs;
  if (!e) return LGT_BAD_DTYPE;
  if (n == 0 || !lgt_walk_begin(&walk, tiles, 2, lead, lo, hi)) return LGT_OK;
  do {
    memcpy(walk.at[0], walk.at[1], (size_t)size); /* element 0 is nobody's carry */
    if (n == 1) continue;
    memcpy(walk.at[0] + to_stride, walk.at[1], (size_t)size);
    for (int64_t i = 2; i < n; i++) {
      char *at = walk.at[0] + i * to_stride;
      memcpy(at, at - to_stride, (size_t)size);
      e->step(at, walk.at[1] + (i - 1) * from->stride[lead]);
    }
  } while (lgt_walk_next(&walk, lo, hi));
  return LGT_OK;
}

/* Goes through the blocks along an axis whose first element is within rows [lo, hi) of a tile's dimension 0. */
typedef struct block_walk {
  const lgt_tile *line; /* what is cut into blocks */
  int axis;
  int64_t lo[6], hi[6], at[6]; /* of blocks along the axis, of elements along the other dimensions */
} block_walk;

static bool blocks_begin(block_walk *w, const lgt_tile *line, int axis, int64_t lo, int64_t hi) {
  *w = (block_walk){.line = line, .axis = axis};
  for (int d = 0; d < line->ndim; d++) {
    w->hi[d] = d == axis ? (line->extent[d] + BLOCK - 1) / BLOCK : line->extent[d];
    if (d == 0) w->lo[d] = lo, w->hi[d] = hi < w->hi[d] ? hi : w->hi[d];
    if (w->lo[d] >= w->hi[d]) return false;
    w->at[d] = w->lo[d];
  }
  return true;
}

static bool blocks_next(block_walk *w) {
  for (int d = w->line->ndim - 1; d >= 0; d--) {
    if (++w->at[d] < w->hi[d]) return true;
    w->at[d] = w->lo[d];
  }
  return false;
}

/* Element (of a tile that has one for each block) or first element of the current block, and how many it has. */
static char *blocks_at(const block_walk *w, const lgt_tile *tile, int64_t block) {
  char *p = tile->data;
  for (int d = 0; d < tile->ndim; d++) p += w->at[d] * (d == w->axis ? block : 1) * tile->stride[d];
  return p;
}
static int64_t blocks_count(const block_walk *w) {
  int64_t rest = w->line->extent[w->axis] - w->at[w->axis] * BLOCK;
  return rest < BLOCK ? rest : BLOCK;
}

static lgt_status total_blocks(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                               int64_t hi) {
  const lgt_tile *to = &tiles[0], *from = &tiles[1];
  int axis = (int)params[1].f;
  const entry *e = entry_of((int)params[0].f, from->dtype);
  block_walk w;
  (void)nargs;
  if (!e) return LGT_BAD_DTYPE;
  if (!blocks_begin(&w, from, axis, lo, hi)) return LGT_OK;
  do
    e->block(NULL, 0, blocks_at(&w, from, BLOCK), from->stride[axis], blocks_count(&w), NULL,
             blocks_at(&w, to, 1));
  while (blocks_next(&w));
  return LGT_OK;
}

static lgt_status scan_blocks(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                              int64_t hi) {
  const lgt_tile *to = &tiles[0], *from = &tiles[1], *carry = &tiles[2];
  int axis = (int)params[1].f;
  const entry *e = entry_of((int)params[0].f, from->dtype);
  block_walk w;
  (void)nargs;
  if (!e) return LGT_BAD_DTYPE;
  if (axis == 0) lo = (lo + BLOCK - 1) / BLOCK, hi = (hi + BLOCK - 1) / BLOCK;
  if (!blocks_begin(&w, from, axis, lo, hi)) return LGT_OK;
  do {
    bool first = carry->origin[axis] + w.at[axis] == 0;
    e->block(blocks_at(&w, to, BLOCK), to->stride[axis], blocks_at(&w, from, BLOCK), from->stride[axis],
             blocks_count(&w), first ? NULL : blocks_at(&w, carry, 1), NULL);
  } while (blocks_next(&w));
  return LGT_OK;
}

/* ---- segments ---------------------------------------------------------------------------------------- */

static inline int64_t offset_at(const lgt_tile *positions, int64_t k) {
  return *(const int64_t *)((const char *)positions->data + k * positions->stride[0]) - 1;
}

/* Elements *first to *past - 1 of n belong to position k. */
static inline void segment(const lgt_tile *positions, int64_t k, int64_t n, int64_t *first, int64_t *past) {
  int64_t next = k + 1 < positions->extent[0] ? offset_at(positions, k + 1) : n;
  *first = offset_at(positions, k);
  *past = next > *first ? next : *first + 1;
}

static lgt_status check_segments(const lgt_tile *positions, int64_t n, int axis) {
  for (int64_t k = 0; k < positions->extent[0]; k++) {
    int64_t first = offset_at(positions, k);
    if (first < 0 || first >= n)
      return lgt_err(LGT_OUT_OF_BOUNDS, "reduceat: position %lld of axis %d is outside its extent of %lld",
                     (long long)first + 1, axis, (long long)n);
  }
  return LGT_OK;
}

static lgt_status reduce_at(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                            int64_t hi) {
  const lgt_tile *to = &tiles[0], *from = &tiles[1], *positions = &tiles[2];
  int lead = to->ndim - 1;
  int64_t n = from->extent[lead], m = positions->extent[0], stride = from->stride[lead];
  const entry *e = entry_of((int)params[0].f, from->dtype);
  lgt_walk walk;
  (void)nargs;
  if (!e) return LGT_BAD_DTYPE;
  lgt_status status = check_segments(positions, n, (int)params[1].f);
  if (status) return status;
  if (m == 0 || !lgt_walk_begin(&walk, tiles, 2, lead, lo, hi)) return LGT_OK;
  do {
    for (int64_t k = 0; k < m; k++) {
      int64_t first, past;
      segment(positions, k, n, &first, &past);
      e->fold(walk.at[0] + k * to->stride[lead], walk.at[1] + first * stride, stride, past - first);
    }
  } while (lgt_walk_next(&walk, lo, hi));
  return LGT_OK;
}

static lgt_status reduce_runs(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                              int64_t hi) {
  const lgt_tile *to = &tiles[0], *from = &tiles[1], *positions = &tiles[2];
  int64_t run = (int64_t)params[1].f, n = (int64_t)params[2].f, stride = from->stride[0],
          size = lgt_dtype_size(from->dtype);
  const entry *e = entry_of((int)params[0].f, from->dtype);
  (void)nargs;
  if (!e) return LGT_BAD_DTYPE;
  lgt_status status = check_segments(positions, n, 1);
  for (int64_t r = lo; r < hi && !status; r++) {
    int64_t begin = (to->origin[0] + r) * run, first, past;
    const char *at = (const char *)from->data + r * run * stride;
    for (int64_t k = 0; k < to->extent[1]; k++) {
      char *out = (char *)to->data + r * to->stride[0] + k * to->stride[1];
      segment(positions, k, n, &first, &past);
      if (first < begin) first = begin;
      if (past > begin + run) past = begin + run;
      if (first < past) e->fold(out, at + (first - begin) * stride, stride, past - first);
      else memset(out, 0, (size_t)size); /* which nobody looks at */
    }
  }
  return status;
}

static lgt_status reduce_fold(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                              int64_t hi) {
  const lgt_tile *to = &tiles[0], *from = &tiles[1], *positions = &tiles[2];
  int64_t run = (int64_t)params[1].f, n = (int64_t)params[2].f;
  const entry *e = entry_of((int)params[0].f, from->dtype);
  (void)nargs;
  if (!e) return LGT_BAD_DTYPE;
  for (int64_t k = lo; k < hi; k++) {
    int64_t first, past;
    segment(positions, to->origin[0] + k, n, &first, &past);
    const char *at = (const char *)from->data + k * from->stride[1] + first / run * from->stride[0];
    e->fold((char *)to->data + k * to->stride[0], at, from->stride[0], (past - 1) / run - first / run + 1);
  }
  return LGT_OK;
}

const lgt_builtin lgt_scan_builtins[] = {{"scan", scan_lines},           {"scan_totals", total_blocks},
                                         {"scan_carry", carry_lines},    {"scan_blocks", scan_blocks},
                                         {"reduceat", reduce_at},        {"reduceat_runs", reduce_runs},
                                         {"reduceat_fold", reduce_fold}, {0}};
