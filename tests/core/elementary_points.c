/* elementary_points.c - inputs.  A point depends on its number alone, so that points may be computed in any
 * order by any number of threads; and only on operations that IEEE 754 defines, so that machines agree. */
#include "elementary_judge.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/half.h"
#include "lgt.h"

uint64_t points_mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

typedef uint64_t rng;
static uint64_t next(rng *r) { return points_mix(*r += 0x632be59bd9b4e019u); }

static double of_bits(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
static uint64_t bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static double uniform(rng *r, double from, double to) {
  double t = (double)(next(r) >> 11) * 0x1p-53;
  return from * (1 - t) + to * t;
}
static int integer(rng *r, int from, int to) { return from + (int)(next(r) % (uint64_t)(to - from + 1)); }

/* Uniform in bits: every exponent is as likely. */
static double magnitude(rng *r, double low, double high) {
  uint64_t from = bits_of(low), to = bits_of(high);
  return of_bits(from + next(r) % (to - from + 1));
}
static double by_bits(rng *r, double low, double high) {
  if (low >= 0) return magnitude(r, low, high);
  if (high <= 0) return -magnitude(r, -high, -low);
  return next(r) & 1 ? magnitude(r, 0, high) : -magnitude(r, 0, -low);
}

/* Up to some ulp away; most often a few. */
static double near(rng *r, double x, int dtype) {
  uint64_t away = next(r) % 4 ? next(r) % 4 : next(r) >> integer(r, 20, 63);
  if (dtype != LGT_FLOAT64) away <<= 29;
  uint64_t bits = bits_of(x);
  if ((bits & INT64_MAX) < away) return x;
  return of_bits(next(r) & 1 ? bits + away : bits - away);
}

static double near_multiple(rng *r, int dtype) {
  long double k = (long double)(next(r) >> integer(r, 11, 63));
  double x = (double)(k * 0xc.90fdaa22168c235p-3L);
  return near(r, next(r) & 1 ? x : -x, dtype);
}

static double one_point(const elementary *f, rng *r, int dtype) {
  int specials = 0, interval = integer(r, 0, 1);
  while (specials < 16 && f->special[specials] != 0) specials++;
  switch (integer(r, 0, 15)) {
    case 0:
      return of_bits(next(r));
    case 1:
    case 2:
    case 3:
      return by_bits(r, f->low, f->high);
    case 4:
      return f->high < 1e6 ? uniform(r, f->low, f->high) : by_bits(r, f->low, f->high);
    case 5:
    case 6:
    case 7:
    case 8:
    case 9:
      return uniform(r, f->from[interval], f->to[interval]);
    case 10:
    case 11:
      return near(r, f->special[integer(r, 0, specials - 1)], dtype);
    case 12:
      return -near(r, f->special[integer(r, 0, specials - 1)], dtype);
    case 13:
      return near(
          r, ldexp(next(r) & 1 ? 1 : -1, integer(r, 0, 1) ? integer(r, -1074, 1023) : integer(r, -60, 12)),
          dtype);
    case 14:
      return near(r, integer(r, -400, 400) * 0.5, dtype);
    default:
      return near_multiple(r, dtype);
  }
}

/* Near enough, and the same everywhere. */
static double rough_log2(double x) {
  int exponent;
  double m = frexp(x, &exponent);
  if (m < 0.7071) m *= 2, exponent--;
  double s = (m - 1) / (m + 1), t = s * s;
  return exponent + 2.8853900817779268 * s * (1 + t * (1.0 / 3 + t * (0.2 + t / 7)));
}

typedef struct range {
  double tiny, normal, huge;
  int least, greatest;
} range;

static range range_of(int dtype) {
  if (dtype == LGT_FLOAT64) return (range){0x1p-1074, 0x1p-1022, DBL_MAX, -1076, 1025};
  if (dtype == LGT_FLOAT32) return (range){0x1p-149, 0x1p-126, FLT_MAX, -151, 129};
  return (range){0x1p-24, 0x1p-14, 65504, -26, 17};
}

static double signed_by(rng *r, double x) { return next(r) & 1 ? x : -x; }

static void pow_point(rng *r, int dtype, double *x, double *y) {
  range in = range_of(dtype);
  *x = 0;
  switch (integer(r, 0, 9)) {
    case 0:
    case 1:
      *x = magnitude(r, in.tiny, in.huge);
      break;
    case 2:
    case 3:
      *x = uniform(r, 0, 10);
      break;
    case 4:
      *x = near(r, 1, dtype);
      break;
    case 5:
      *x = uniform(r, 0.5, 2);
      break;
    case 6: /* usual */
      *x = uniform(r, 0, 10);
      *y = uniform(r, -10, 10);
      return;
    case 7: /* small integers and halves, whose powers may be exact */
      *x = integer(r, -40, 40);
      *y = integer(r, -20, 40) * 0.5;
      return;
    case 8: /* an integer power of something negative */
      *x = -magnitude(r, in.tiny, in.huge);
      *y = rint(uniform(r, in.least, in.greatest) / rough_log2(-*x));
      return;
    default:
      *x = signed_by(r, magnitude(r, in.tiny, in.huge));
      *y = signed_by(r, magnitude(r, in.tiny, in.huge));
      return;
  }
  /* so that the result may be anything */
  double span = integer(r, 0, 3)   ? uniform(r, in.least, in.greatest)
                : integer(r, 0, 1) ? uniform(r, in.greatest - 3, in.greatest)
                                   : uniform(r, in.least, in.least + 60);
  *y = *x == 1 ? uniform(r, -1e300, 1e300) : span / rough_log2(*x);
}

static void pair_point(rng *r, int dtype, double *x, double *y) {
  range in = range_of(dtype);
  switch (integer(r, 0, 7)) {
    case 0:
      *x = signed_by(r, magnitude(r, in.tiny, in.huge));
      *y = signed_by(r, magnitude(r, in.tiny, in.huge));
      return;
    case 1:
    case 2:
      *x = signed_by(r, magnitude(r, in.tiny, in.huge));
      *y = signed_by(r, ldexp(*x * uniform(r, 1, 2), integer(r, -60, 60)));
      return;
    case 3:
    case 4:
      *x = uniform(r, -10, 10);
      *y = uniform(r, -10, 10);
      return;
    case 5:
      *x = signed_by(r, magnitude(r, in.tiny, in.huge));
      *y = signed_by(r, near(r, *x, dtype));
      return;
    case 6:
      *x = signed_by(r,
                     next(r) & 1 ? magnitude(r, in.tiny, in.normal * 4) : magnitude(r, in.huge / 4, in.huge));
      *y = signed_by(r,
                     next(r) & 1 ? magnitude(r, in.tiny, in.normal * 4) : magnitude(r, in.huge / 4, in.huge));
      return;
    default:
      *x = integer(r, -100, 100);
      *y = integer(r, -100, 100);
  }
}

static double special_value(rng *r, int dtype) {
  range in = range_of(dtype);
  const double values[] = {0,       1,        2,   3, 0.5,  1.5,    in.tiny, in.normal,
                           in.huge, INFINITY, NAN, 4, 0.25, 0x1p12, 5,       1023};
  return signed_by(r, values[next(r) % 16]);
}

void points_between(double low, double high, int64_t first, int64_t n, double *a) {
  for (int64_t i = 0; i < n; i++) {
    rng r = points_mix((uint64_t)(first + i));
    a[i] = uniform(&r, low, high);
  }
}

void points_fill(const elementary *f, int dtype, int64_t first, int64_t n, void *a, void *b) {
  for (int64_t i = 0; i < n; i++) {
    rng r = points_mix((uint64_t)(first + i));
    double x, y = 0;
    if (f->arity == 1) x = one_point(f, &r, dtype);
    else if (next(&r) % 32 == 0) x = special_value(&r, dtype), y = special_value(&r, dtype);
    else if (!strcmp(f->name, "pow")) pow_point(&r, dtype, &x, &y);
    else pair_point(&r, dtype, &x, &y);
    if (dtype == LGT_FLOAT64) {
      ((double *)a)[i] = x;
      if (f->arity == 2) ((double *)b)[i] = y;
    } else {
      float u = (float)x, v = (float)y;
      ((float *)a)[i] = dtype == LGT_FLOAT16 ? lgt_half_round(u) : u;
      if (f->arity == 2) ((float *)b)[i] = dtype == LGT_FLOAT16 ? lgt_half_round(v) : v;
    }
  }
}
