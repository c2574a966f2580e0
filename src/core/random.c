/* random.c - random numbers that take a varying number of uniform ones.
 *
 *   random.gamma       parameter array: shape (scale 1)        random.poisson   mean
 *   random.binomial    n, p                                    random.hypergeometric   good, bad, drawn
 *   random.zipf        exponent                                random.logseries p
 *   random.vonmises    mu, kappa
 *
 * Argument 0 is the result, a vector; the next ones (float64) are the parameters, stretched to its length.
 * Parameter 0 is the number of the first element, parameter 1 the key.  Element i draws from a sequence of its
 * own, Philox with counter (number + i, block, 1), which no generator uses (those leave the last two words
 * 0); so numbers depend neither on tiles nor on workers.  A parameter outside its range gives NaN, or the
 * smallest integer.
 *
 * gamma: Marsaglia and Tsang, ACM TOMS 26 (2000).  poisson and binomial: Hoermann's transformed rejection with
 * squeeze, PTRS (Insurance: Math. Econ. 12, 1993) and BTRS (J. Stat. Comput. Simul. 46, 1993); small ones by
 * inversion.  hypergeometric: inversion outwards from the mode.  zipf and logseries: Devroye, Non-Uniform Random
 * Variate Generation (1986), X.6.1 and Kemp's method.  vonmises: Best and Fisher, Applied Statistics 28 (1979).
 */
#include "builtin.h"

#include <math.h>

typedef struct stream {
  uint64_t element, key;
  uint32_t block;
  int left;
  uint64_t bits[2];
} stream;

static uint64_t next_bits(stream *s) {
  if (s->left) return s->bits[--s->left];
  uint32_t c0 = (uint32_t)s->element, c1 = (uint32_t)(s->element >> 32), c2 = s->block++, c3 = 1;
  uint32_t k0 = (uint32_t)s->key, k1 = (uint32_t)(s->key >> 32);
  for (int round = 0; round < 10; round++, k0 += 0x9e3779b9, k1 += 0xbb67ae85) {
    uint64_t p = (uint64_t)0xd2511f53 * c0, q = (uint64_t)0xcd9e8d57 * c2;
    uint32_t next0 = (uint32_t)(q >> 32) ^ c1 ^ k0, next2 = (uint32_t)(p >> 32) ^ c3 ^ k1;
    c0 = next0, c1 = (uint32_t)q, c2 = next2, c3 = (uint32_t)p;
  }
  s->bits[0] = c2 | (uint64_t)c3 << 32;
  s->left = 1;
  return c0 | (uint64_t)c1 << 32;
}

/* In (0, 1): multiples of 2^-53, shifted by half of one. */
static double uniform(stream *s) { return ((double)(next_bits(s) >> 11) + 0.5) * 0x1p-53; }

static double normal(stream *s) {
  double u = uniform(s);
  return sqrt(-2 * log(u)) * cos(2 * M_PI * uniform(s));
}

/* ---- distributions ---------------------------------------------------------------------------------- */

static double gamma_of(stream *s, double shape) {
  if (!(shape >= 0)) return NAN;
  if (shape == 0) return 0;
  if (shape < 1) return gamma_of(s, shape + 1) * pow(uniform(s), 1 / shape);
  double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
  for (;;) {
    double x = normal(s), v = 1 + c * x;
    if (v <= 0) continue;
    v = v * v * v;
    if (log(uniform(s)) < 0.5 * x * x + d - d * v + d * log(v)) return d * v;
  }
}

static double poisson(stream *s, double mean) {
  if (!(mean >= 0)) return NAN;
  if (mean < 10) {
    double limit = exp(-mean), product = uniform(s);
    int k = 0;
    for (; product > limit; k++) product *= uniform(s);
    return k;
  }
  double b = 0.931 + 2.53 * sqrt(mean), a = -0.059 + 0.02483 * b, inverse = 1.1239 + 1.1328 / (b - 3.4);
  double squeeze = 0.9277 - 3.6224 / (b - 2), log_mean = log(mean);
  for (;;) {
    double u = uniform(s) - 0.5, v = uniform(s), us = 0.5 - fabs(u);
    double k = floor((2 * a / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= squeeze) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (log(v) + log(inverse) - log(a / (us * us) + b) <= -mean + k * log_mean - lgamma(k + 1)) return k;
  }
}

static double binomial(stream *s, double n, double p) {
  if (!(n >= 0) || !(p >= 0 && p <= 1) || n != floor(n)) return NAN;
  if (n == 0 || p == 0) return 0;
  if (p > 0.5) return n - binomial(s, n, 1 - p);
  double q = 1 - p;
  if (n * p < 10) { /* sum of the distances between successes */
    double k = -1, at = 0;
    for (; at <= n; k++) at += floor(log(uniform(s)) / log1p(-p)) + 1;
    return k;
  }
  double spread = sqrt(n * p * q), b = 1.15 + 2.53 * spread, a = -0.0873 + 0.0248 * b + 0.01 * p;
  double c = n * p + 0.5, v_r = 0.92 - 4.2 / b, alpha = (2.83 + 5.1 / b) * spread, odds = log(p / q);
  double mode = floor((n + 1) * p), h = lgamma(mode + 1) + lgamma(n - mode + 1);
  for (;;) {
    double u = uniform(s) - 0.5, v = uniform(s), us = 0.5 - fabs(u);
    double k = floor((2 * a / us + b) * u + c);
    if (k < 0 || k > n) continue;
    if (us >= 0.07 && v <= v_r) return k;
    v = log(v * alpha / (a / (us * us) + b));
    if (v <= h - lgamma(k + 1) - lgamma(n - k + 1) + (k - mode) * odds) return k;
  }
}

static double log_choose(double n, double k) { return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1); }

static double hypergeometric(stream *s, double good, double bad, double drawn) {
  if (!(good >= 0 && bad >= 0 && drawn >= 0 && drawn <= good + bad)) return NAN;
  double least = fmax(0, drawn - bad), most = fmin(good, drawn);
  double mode = floor((drawn + 1) * (good + 1) / (good + bad + 2));
  mode = fmin(fmax(mode, least), most);
  double up = mode, down = mode, rest = uniform(s);
  double p_up = exp(log_choose(good, mode) + log_choose(bad, drawn - mode) - log_choose(good + bad, drawn));
  double p_down = p_up;
  for (rest -= p_up; rest > 0 && (up < most || down > least);) {
    if (up < most) {
      p_up *= (good - up) * (drawn - up) / ((up + 1) * (bad - drawn + up + 1));
      up++;
      if ((rest -= p_up) <= 0) return up;
    }
    if (down > least) {
      p_down *= down * (bad - drawn + down) / ((good - down + 1) * (drawn - down + 1));
      down--;
      if ((rest -= p_down) <= 0) return down;
    }
  }
  return mode;
}

static double zipf(stream *s, double a) {
  if (!(a > 1)) return NAN;
  double am1 = a - 1, b = pow(2, am1);
  for (;;) {
    double u = uniform(s), v = uniform(s), x = floor(pow(u, -1 / am1));
    if (x > 0x1p63 || x < 1) continue;
    double t = pow(1 + 1 / x, am1);
    if (v * x * (t - 1) / (b - 1) <= t / b) return x;
  }
}

static double logseries(stream *s, double p) {
  if (!(p >= 0 && p < 1)) return NAN;
  double r = log1p(-p);
  for (;;) {
    double v = uniform(s);
    if (v >= p) return 1;
    double q = -expm1(r * uniform(s));
    if (v <= q * q) {
      double k = floor(1 + log(v) / log(q));
      if (k >= 1) return k;
      continue;
    }
    return v >= q ? 1 : 2;
  }
}

static double vonmises(stream *s, double mu, double kappa) {
  if (!(kappa >= 0)) return NAN;
  if (kappa < 1e-8) return M_PI * (2 * uniform(s) - 1);
  double r = 1 + sqrt(1 + 4 * kappa * kappa), rho = (r - sqrt(2 * r)) / (2 * kappa),
         t = (1 + rho * rho) / (2 * rho);
  for (;;) {
    double z = cos(M_PI * uniform(s)), w = (1 + t * z) / (t + z), y = kappa * (t - w), v = uniform(s);
    if (y * (2 - y) - v < 0 && log(y / v) + 1 - y < 0) continue;
    double angle = acos(w);
    if (uniform(s) < 0.5) angle = -angle;
    return fmod(fmod(angle + mu + M_PI, 2 * M_PI) + 2 * M_PI, 2 * M_PI) - M_PI;
  }
}

/* ---- variants ------------------------------------------------------------------------------------------- */

static double parameter(const lgt_tile *tile, int64_t i) {
  return *(const double *)((const char *)tile->data + i * tile->stride[0]);
}

static void put(const lgt_tile *tile, int64_t i, double x) {
  char *at = (char *)tile->data + i * tile->stride[0];
  if (tile->dtype == LGT_INT64) *(int64_t *)at = x >= -0x1p63 && x < 0x1p63 ? (int64_t)x : INT64_MIN;
  else *(double *)at = x;
}

#define VARIANT(NAME, VALUE)                                                                            \
  static lgt_status draw_##NAME(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo, \
                                int64_t hi) {                                                           \
    uint64_t first = (uint64_t)params[0].f + (uint64_t)tiles[0].origin[0], key = (uint64_t)params[1].f; \
    (void)nargs;                                                                                        \
    for (int64_t i = lo; i < hi; i++) {                                                                 \
      stream s = {.element = first + (uint64_t)i, .key = key};                                          \
      put(&tiles[0], i, VALUE);                                                                         \
    }                                                                                                   \
    return LGT_OK;                                                                                      \
  }
#define P(n) parameter(&tiles[n], i)
VARIANT(gamma, gamma_of(&s, P(1)))
VARIANT(poisson, poisson(&s, P(1)))
VARIANT(binomial, binomial(&s, P(1), P(2)))
VARIANT(hypergeometric, hypergeometric(&s, P(1), P(2), P(3)))
VARIANT(zipf, zipf(&s, P(1)))
VARIANT(logseries, logseries(&s, P(1)))
VARIANT(vonmises, vonmises(&s, P(1), P(2)))

const lgt_builtin lgt_random_builtins[] = {
    {"random.gamma", draw_gamma},       {"random.poisson", draw_poisson},
    {"random.binomial", draw_binomial}, {"random.hypergeometric", draw_hypergeometric},
    {"random.zipf", draw_zipf},         {"random.logseries", draw_logseries},
    {"random.vonmises", draw_vonmises}, {0}};
