/* scan.c - running sums and the like.
 *
 *   scan    element i of a line of argument 0 is the combination of elements 0 to i of that line of argument 1,
 *           from the left; parameter 0 is the number of the operation (scan.h), both have one dtype
 *   reduceat  element k of a line of argument 0 is the combination of elements p[k] to p[k + 1] - 1 of that line of
 *           argument 1 (element p[k] alone, if there are none), where p is the vector argument 2 (int64, from 1);
 *           parameter 1 is the axis, for messages
 *
 * Each operation exists once for each dtype that has it, made by macros: LOAD and STORE say how an element
 * lies in memory, EXPR combines a and b.
 */
#include "scan.h"

#include "half.h"

typedef void (*run_fn)(char *to, int64_t to_stride, const char *from, int64_t stride, int64_t count);

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

#define DEFINE(OP, SUFFIX, T, LOAD, STORE, ROUND, EXPR)                                          \
  static void step_##OP##_##SUFFIX(char *to, const char *from) {                                 \
    T a = LOAD(T, to), b = LOAD(T, from);                                                        \
    (void)a;                                                                                     \
    STORE(T, to, EXPR);                                                                          \
  }                                                                                              \
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

#define WRAP(T, op) (T)((uint64_t)a op(uint64_t) b)
#define INTEGER(SUFFIX, T)                                                    \
  DEFINE(SET, SUFFIX, T, LOAD_PLAIN, STORE_PLAIN, ROUND_PLAIN, b)             \
  DEFINE(ADD, SUFFIX, T, LOAD_PLAIN, STORE_PLAIN, ROUND_PLAIN, WRAP(T, +))    \
  DEFINE(MUL, SUFFIX, T, LOAD_PLAIN, STORE_PLAIN, ROUND_PLAIN, WRAP(T, *))    \
  DEFINE(SUB, SUFFIX, T, LOAD_PLAIN, STORE_PLAIN, ROUND_PLAIN, WRAP(T, -))    \
  DEFINE(MAX, SUFFIX, T, LOAD_PLAIN, STORE_PLAIN, ROUND_PLAIN, a > b ? a : b) \
  DEFINE(MIN, SUFFIX, T, LOAD_PLAIN, STORE_PLAIN, ROUND_PLAIN, a < b ? a : b) \
  DEFINE(AND, SUFFIX, T, LOAD_PLAIN, STORE_PLAIN, ROUND_PLAIN, WRAP(T, &))    \
  DEFINE(OR, SUFFIX, T, LOAD_PLAIN, STORE_PLAIN, ROUND_PLAIN, WRAP(T, |))     \
  DEFINE(XOR, SUFFIX, T, LOAD_PLAIN, STORE_PLAIN, ROUND_PLAIN, WRAP(T, ^))

#define FLOAT(SUFFIX, T, LOAD, STORE, ROUND)                           \
  DEFINE(SET, SUFFIX, T, LOAD, STORE, ROUND, b)                        \
  DEFINE(ADD, SUFFIX, T, LOAD, STORE, ROUND, a + b)                    \
  DEFINE(MUL, SUFFIX, T, LOAD, STORE, ROUND, a *b)                     \
  DEFINE(SUB, SUFFIX, T, LOAD, STORE, ROUND, a - b)                    \
  DEFINE(DIV, SUFFIX, T, LOAD, STORE, ROUND, a / b)                    \
  DEFINE(MAX, SUFFIX, T, LOAD, STORE, ROUND, a > b || a != a ? a : b)  \
  DEFINE(MIN, SUFFIX, T, LOAD, STORE, ROUND, a < b || a != a ? a : b)  \
  DEFINE(FMAX, SUFFIX, T, LOAD, STORE, ROUND, a > b || b != b ? a : b) \
  DEFINE(FMIN, SUFFIX, T, LOAD, STORE, ROUND, a < b || b != b ? a : b)

#define COMPLEX(SUFFIX, T, DIVIDE)                                                              \
  DEFINE(SET, SUFFIX, T, LOAD_PLAIN, STORE_PLAIN, ROUND_PLAIN, b)                               \
  DEFINE(ADD, SUFFIX, T, LOAD_PLAIN, STORE_PLAIN, ROUND_PLAIN, ((T){a.re + b.re, a.im + b.im})) \
  DEFINE(SUB, SUFFIX, T, LOAD_PLAIN, STORE_PLAIN, ROUND_PLAIN, ((T){a.re - b.re, a.im - b.im})) \
  DEFINE(MUL, SUFFIX, T, LOAD_PLAIN, STORE_PLAIN, ROUND_PLAIN,                                  \
         ((T){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}))                           \
  DEFINE(DIV, SUFFIX, T, LOAD_PLAIN, STORE_PLAIN, ROUND_PLAIN, DIVIDE(a, b))

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
DEFINE(SET, b, uint8_t, LOAD_BOOL, STORE_PLAIN, ROUND_PLAIN, b)
DEFINE(AND, b, uint8_t, LOAD_BOOL, STORE_PLAIN, ROUND_PLAIN, a &b)
DEFINE(OR, b, uint8_t, LOAD_BOOL, STORE_PLAIN, ROUND_PLAIN, a | b)
DEFINE(XOR, b, uint8_t, LOAD_BOOL, STORE_PLAIN, ROUND_PLAIN, a ^ b)

typedef struct entry {
  run_fn run;
  lgt_scan_step step;
} entry;

#define E(OP, SUFFIX) [LGT_SCAN_##OP] = {run_##OP##_##SUFFIX, step_##OP##_##SUFFIX}
#define ALL(SUFFIX)   E(SET, SUFFIX), E(ADD, SUFFIX), E(MUL, SUFFIX), E(SUB, SUFFIX)
#define BITS(SUFFIX)  E(AND, SUFFIX), E(OR, SUFFIX), E(XOR, SUFFIX)
#define ORDER(SUFFIX) E(MAX, SUFFIX), E(MIN, SUFFIX)
#define INTEGERS(SUFFIX) \
  { ALL(SUFFIX), ORDER(SUFFIX), BITS(SUFFIX) }
#define FLOATS(SUFFIX) \
  { ALL(SUFFIX), ORDER(SUFFIX), E(DIV, SUFFIX), E(FMAX, SUFFIX), E(FMIN, SUFFIX) }
#define COMPLEXES(SUFFIX) \
  { ALL(SUFFIX), E(DIV, SUFFIX) }

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
    memcpy(walk.at[0], walk.at[1], (size_t)lgt_dtype_size(from->dtype));
    e->run(walk.at[0], to->stride[lead], walk.at[1] + stride, stride, n - 1);
  } while (lgt_walk_next(&walk, lo, hi));
  return LGT_OK;
}

static lgt_status reduce_at(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                            int64_t hi) {
  const lgt_tile *to = &tiles[0], *from = &tiles[1], *positions = &tiles[2];
  int lead = to->ndim - 1;
  int64_t n = from->extent[lead], m = positions->extent[0], stride = from->stride[lead];
  lgt_scan_step step = lgt_scan_step_of((int)params[0].f, from->dtype);
  lgt_walk walk;
  (void)nargs;
  if (!step) return LGT_BAD_DTYPE;
#define OFFSET(k) (*(const int64_t *)((const char *)positions->data + (k)*positions->stride[0]) - 1)
  for (int64_t k = 0; k < m; k++)
    if (OFFSET(k) < 0 || OFFSET(k) >= n)
      return lgt_err(LGT_OUT_OF_BOUNDS, "reduceat: position %lld of axis %d is outside its extent of %lld",
                     (long long)OFFSET(k) + 1, (int)params[1].f, (long long)n);
  if (m == 0 || !lgt_walk_begin(&walk, tiles, 2, lead, lo, hi)) return LGT_OK;
  do {
    for (int64_t k = 0; k < m; k++) {
      int64_t first = OFFSET(k), past = k + 1 < m ? OFFSET(k + 1) : n;
      char *out = walk.at[0] + k * to->stride[lead];
      memcpy(out, walk.at[1] + first * stride, (size_t)lgt_dtype_size(from->dtype));
      for (int64_t i = first + 1; i < past; i++) step(out, walk.at[1] + i * stride);
    }
  } while (lgt_walk_next(&walk, lo, hi));
#undef OFFSET
  return LGT_OK;
}

const lgt_builtin lgt_scan_builtins[] = {{"scan", scan_lines}, {"reduceat", reduce_at}, {0}};
