/* random.c - random numbers that take a varying number of uniform ones.
 *
 *   random.gamma       parameter array: shape (scale 1)        random.poisson   mean
 *   random.binomial    n, p                                    random.hypergeometric   good, bad, drawn
 *   random.zipf        exponent                                random.logseries p
 *   random.vonmises    mu, kappa                               random.bytes, random.permutation, random.choice (see there)
 *
 * Argument 0 is the result, a vector; the next ones (float64) are the parameters, stretched to its length.
 * Parameter 0 is the number of the first element, parameter 1 the key.  Element i draws from a sequence of its
 * own, Philox with counter (number + i, block, 1), which no generator uses (those leave the last two words
 * 0); so numbers depend neither on tiles nor on workers.  A parameter outside its range gives NaN, or the
 * smallest integer.
 *
 * gamma: Marsaglia and Tsang, ACM TOMS 26 (2000).  poisson and binomial: Hoermann's transformed rejection with
 * squeeze, PTRS (Insurance: Math. Econ. 12, 1993) and BTRS (J. Stat. Comput. Simul. 46, 1993); small ones by
 * inversion from 0.  hypergeometric: inversion outwards from the mode.  zipf and logseries: Devroye, Non-Uniform Random
 * Variate Generation (1986), X.6.1 and Kemp's method.  vonmises: Best and Fisher, Applied Statistics 28 (1979).
 */
#include "ops/builtin.h"

#include <math.h>
#include <pthread.h>

/* Hashes that are made at once, so that the processor works on several. */
enum { BATCH = 32 };

typedef struct stream {
  uint64_t element, key;
  uint32_t block;
  int left;
  uint64_t bits[2];
} stream;

static void philox(uint64_t element, uint64_t key, uint32_t block, uint64_t out[2]) {
  uint32_t c0 = (uint32_t)element, c1 = (uint32_t)(element >> 32), c2 = block, c3 = 1;
  uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
  for (int round = 0; round < 10; round++, k0 += 0x9e3779b9, k1 += 0xbb67ae85) {
    uint64_t p = (uint64_t)0xd2511f53 * c0, q = (uint64_t)0xcd9e8d57 * c2;
    uint32_t next0 = (uint32_t)(q >> 32) ^ c1 ^ k0, next2 = (uint32_t)(p >> 32) ^ c3 ^ k1;
    c0 = next0, c1 = (uint32_t)q, c2 = next2, c3 = (uint32_t)p;
  }
  out[0] = c2 | (uint64_t)c3 << 32;
  out[1] = c0 | (uint64_t)c1 << 32;
}

static uint64_t next_bits(stream *s) {
  if (!s->left) {
    philox(s->element, s->key, s->block++, s->bits);
    s->left = 2;
  }
  return s->bits[--s->left];
}

/* In (0, 1): multiples of 2^-53, shifted by half of one. */
static inline double unit(uint64_t bits) { return ((double)(bits >> 11) + 0.5) * 0x1p-53; }
static double uniform(stream *s) { return unit(next_bits(s)); }

/* ---- normal numbers ----------------------------------------------------------------------------------- */

/* Marsaglia and Tsang's ziggurat, J. Stat. Software 5 (2000), of LAYERS layers of one area: layer i reaches to
 * edge[i] and lies wholly under the curve up to edge[i + 1]. */
enum { LAYERS = 256 };
static const double tail_begin = 3.6541528853610088, layer_area = 0.00492867323399;
static struct {
  pthread_once_t once;
  double edge[LAYERS + 1], height[LAYERS + 1];
} ziggurat = {.once = PTHREAD_ONCE_INIT};

static void make_ziggurat(void) {
  double *x = ziggurat.edge, *y = ziggurat.height;
  x[1] = tail_begin, y[1] = exp(-0.5 * x[1] * x[1]);
  x[0] = layer_area / y[1], y[0] = 0;
  for (int i = 2; i < LAYERS; i++) {
    y[i] = y[i - 1] + layer_area / x[i - 1];
    x[i] = sqrt(-2 * log(y[i]));
  }
  x[LAYERS] = 0, y[LAYERS] = 1;
}

static double normal(stream *s) {
  for (;;) {
    uint64_t bits = next_bits(s);
    int layer = (int)(bits & (LAYERS - 1));
    double sign = bits & LAYERS ? -1 : 1, x = unit(bits) * ziggurat.edge[layer];
    if (x < ziggurat.edge[layer + 1]) return sign * x;
    if (layer == 0) { /* beyond the last edge: Marsaglia 1964 */
      double a, b;
      do {
        a = -log(uniform(s)) / tail_begin;
        b = -log(uniform(s));
      } while (b + b < a * a);
      return sign * (tail_begin + a);
    }
    double low = ziggurat.height[layer], high = ziggurat.height[layer + 1];
    if (low + uniform(s) * (high - low) < exp(-0.5 * x * x)) return sign * x;
  }
}

/* ---- distributions ---------------------------------------------------------------------------------- */

/* What depends on the parameters alone is prepared once as long as they stay the same.  A prepared `bad` gives NaN. */

typedef struct gamma_setup {
  double shape, d, c;
} gamma_setup;

static gamma_setup prepare_gamma(double shape) {
  double d = (shape < 1 ? shape + 1 : shape) - 1.0 / 3;
  return (gamma_setup){shape, d, 1 / sqrt(9 * d)};
}

static double gamma_of(stream *s, const gamma_setup *g) {
  if (!(g->shape >= 0)) return NAN;
  if (g->shape == 0) return 0;
  double d = g->d, c = g->c;
  for (;;) {
    double x = normal(s), v = 1 + c * x;
    if (v <= 0) continue;
    v = v * v * v;
    double u = uniform(s), square = x * x;
    if (u < 1 - 0.0331 * square * square || log(u) < 0.5 * square + d - d * v + d * log(v))
      return g->shape < 1 ? d * v * pow(uniform(s), 1 / g->shape) : d * v;
  }
}

typedef struct poisson_setup {
  double mean, none; /* the probability of 0, if the mean is small */
  double a, b, log_inverse, squeeze, log_mean;
} poisson_setup;

static poisson_setup prepare_poisson(double mean) {
  poisson_setup p = {.mean = mean};
  if (mean < 10) {
    p.none = exp(-mean);
  } else {
    p.b = 0.931 + 2.53 * sqrt(mean), p.a = -0.059 + 0.02483 * p.b;
    p.log_inverse = log(1.1239 + 1.1328 / (p.b - 3.4));
    p.squeeze = 0.9277 - 3.6224 / (p.b - 2), p.log_mean = log(mean);
  }
  return p;
}

static double poisson(stream *s, const poisson_setup *p) {
  if (!(p->mean >= 0)) return NAN;
  if (p->mean < 10) {
    double rest = uniform(s), here = p->none, k = 0;
    while (rest > here && k < 200) { /* beyond, the probability is less than 10^-150 */
      rest -= here;
      here *= p->mean / ++k;
    }
    return k;
  }
  double a = p->a, b = p->b;
  for (;;) {
    double u = uniform(s) - 0.5, v = uniform(s), us = 0.5 - fabs(u);
    double k = floor((2 * a / us + b) * u + p->mean + 0.43);
    if (us >= 0.07 && v <= p->squeeze) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (log(v) + p->log_inverse - log(a / (us * us) + b) <= -p->mean + k * p->log_mean - lgamma(k + 1))
      return k;
  }
}

typedef struct binomial_setup {
  bool bad, turned; /* turned: of failures */
  double n, p, q;
  double none, bound; /* inversion: the probability of 0, and where to give up */
  double a, b, c, v_r, alpha, odds, mode, h;
} binomial_setup;

static binomial_setup prepare_binomial(double n, double chance) {
  binomial_setup s = {.n = n, .turned = chance > 0.5, .p = chance > 0.5 ? 1 - chance : chance};
  s.bad = !(n >= 0) || !(chance >= 0 && chance <= 1) || n != floor(n);
  double p = s.p, q = s.q = 1 - p;
  if (s.bad) return s;
  if (n * p < 10) {
    s.none = exp(n * log1p(-p));
    s.bound = fmin(n, n * p + 10 * sqrt(n * p * q + 1));
    return s;
  }
  double spread = sqrt(n * p * q);
  s.b = 1.15 + 2.53 * spread, s.a = -0.0873 + 0.0248 * s.b + 0.01 * p;
  s.c = n * p + 0.5, s.v_r = 0.92 - 4.2 / s.b, s.alpha = (2.83 + 5.1 / s.b) * spread, s.odds = log(p / q);
  s.mode = floor((n + 1) * p), s.h = lgamma(s.mode + 1) + lgamma(n - s.mode + 1);
  return s;
}

static double few_successes(stream *s, const binomial_setup *t) {
  for (;;) {
    double rest = uniform(s), here = t->none, k = 0;
    while (rest > here && k <= t->bound) {
      rest -= here;
      k++;
      here *= (t->n - k + 1) * t->p / (k * t->q);
    }
    if (k <= t->bound) return k;
  }
}

static double many_successes(stream *s, const binomial_setup *t) {
  for (;;) {
    double u = uniform(s) - 0.5, v = uniform(s), us = 0.5 - fabs(u);
    double k = floor((2 * t->a / us + t->b) * u + t->c);
    if (k < 0 || k > t->n) continue;
    if (us >= 0.07 && v <= t->v_r) return k;
    v = log(v * t->alpha / (t->a / (us * us) + t->b));
    if (v <= t->h - lgamma(k + 1) - lgamma(t->n - k + 1) + (k - t->mode) * t->odds) return k;
  }
}

static double binomial(stream *s, const binomial_setup *t) {
  if (t->bad) return NAN;
  double k = t->n == 0 || t->p == 0 ? 0 : t->n * t->p < 10 ? few_successes(s, t) : many_successes(s, t);
  return t->turned ? t->n - k : k;
}

typedef struct hypergeometric_setup {
  bool bad;
  double good, bad_ones, drawn, least, most, mode, chance; /* the mode's */
} hypergeometric_setup;

static double log_choose(double n, double k) { return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1); }

static hypergeometric_setup prepare_hypergeometric(double good, double bad, double drawn) {
  hypergeometric_setup h = {.good = good, .bad_ones = bad, .drawn = drawn};
  h.bad = !(good >= 0 && bad >= 0 && drawn >= 0 && drawn <= good + bad);
  h.least = fmax(0, drawn - bad), h.most = fmin(good, drawn);
  double mode = floor((drawn + 1) * (good + 1) / (good + bad + 2));
  h.mode = fmin(fmax(mode, h.least), h.most);
  if (!h.bad)
    h.chance =
        exp(log_choose(good, h.mode) + log_choose(bad, drawn - h.mode) - log_choose(good + bad, drawn));
  return h;
}

static double hypergeometric(stream *s, const hypergeometric_setup *h) {
  if (h->bad) return NAN;
  double good = h->good, bad = h->bad_ones, drawn = h->drawn;
  double up = h->mode, down = h->mode, rest = uniform(s), p_up = h->chance, p_down = p_up;
  for (rest -= p_up; rest > 0 && (up < h->most || down > h->least);) {
    if (up < h->most) {
      p_up *= (good - up) * (drawn - up) / ((up + 1) * (bad - drawn + up + 1));
      up++;
      if ((rest -= p_up) <= 0) return up;
    }
    if (down > h->least) {
      p_down *= down * (bad - drawn + down) / ((good - down + 1) * (drawn - down + 1));
      down--;
      if ((rest -= p_down) <= 0) return down;
    }
  }
  return h->mode;
}

static double zipf(stream *s, double a) {
  if (!(a > 1)) return NAN;
  if (a >= 1025) return 1; /* others have less than 2^-1024 of all chances, and b overflows */
  double am1 = a - 1, b = pow(2, am1),
         least = pow(0x1p63, -am1); /* near 1 most would be too large for an integer */
  for (;;) {
    double u = least + (1 - least) * uniform(s), v = uniform(s), x = floor(pow(u, -1 / am1));
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

/* The streams of elements first, ..., first + BATCH - 1 with their first hashes made. */
static void begin_streams(stream *s, uint64_t first, uint64_t key) {
  uint64_t bits[BATCH][2];
  for (int k = 0; k < BATCH; k++) philox(first + (uint64_t)k, key, 0, bits[k]);
  for (int k = 0; k < BATCH; k++)
    s[k] = (stream){
        .element = first + (uint64_t)k, .key = key, .block = 1, .left = 2, .bits = {bits[k][0], bits[k][1]}};
}

/* SAME: whether the parameters of element i are those that PREPARE was called for. */
#define VARIANT(NAME, LOCALS, SAME, PREPARE, VALUE)                                                     \
  static lgt_status draw_##NAME(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo, \
                                int64_t hi) {                                                           \
    uint64_t first = (uint64_t)params[0].f + (uint64_t)tiles[0].origin[0], key = (uint64_t)params[1].f; \
    (void)nargs;                                                                                        \
    pthread_once(&ziggurat.once, make_ziggurat);                                                        \
    LOCALS;                                                                                             \
    bool prepared = false;                                                                              \
    for (int64_t i = lo; i < hi;) {                                                                     \
      stream streams[BATCH], *s = streams;                                                              \
      begin_streams(streams, first + (uint64_t)i, key);                                                 \
      for (int64_t past = i + BATCH < hi ? i + BATCH : hi; i < past; i++, s++) {                        \
        if (!prepared || !(SAME)) {                                                                     \
          PREPARE;                                                                                      \
          prepared = true;                                                                              \
        }                                                                                               \
        put(&tiles[0], i, VALUE);                                                                       \
      }                                                                                                 \
    }                                                                                                   \
    return LGT_OK;                                                                                      \
  }
#define P(n) parameter(&tiles[n], i)
VARIANT(gamma, gamma_setup g, g.shape == P(1), g = prepare_gamma(P(1)), gamma_of(s, &g))
VARIANT(poisson, poisson_setup p, p.mean == P(1), p = prepare_poisson(P(1)), poisson(s, &p))
VARIANT(binomial, binomial_setup b;
        double p, b.n == P(1) && p == P(2), (p = P(2), b = prepare_binomial(P(1), p)), binomial(s, &b))
VARIANT(hypergeometric, hypergeometric_setup h, h.good == P(1) && h.bad_ones == P(2) && h.drawn == P(3),
        h = prepare_hypergeometric(P(1), P(2), P(3)), hypergeometric(s, &h))
VARIANT(zipf, , true, , zipf(s, P(1)))
VARIANT(logseries, , true, , logseries(s, P(1)))
VARIANT(vonmises, , true, , vonmises(s, P(1), P(2)))

/* random.bytes: sixteen bytes of argument 0 a hash. */
static lgt_status draw_bytes(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                             int64_t hi) {
  enum { BYTES = 16 * BATCH };
  uint64_t first = (uint64_t)params[0].f, key = (uint64_t)params[1].f, bits[BATCH][2];
  int64_t stride = tiles[0].stride[0], begin = tiles[0].origin[0];
  uint8_t *p = tiles[0].data;
  (void)nargs;
  while (lo < hi) {
    int64_t at = (begin + lo) % BYTES, past = lo - at + BYTES < hi ? lo - at + BYTES : hi;
    uint64_t block = first + (uint64_t)(begin + lo) / 16 - (uint64_t)at / 16;
    for (int k = 0; k < BATCH; k++) philox(block + (uint64_t)k, key, 0, bits[k]);
    if (stride == 1) memcpy(p + lo, (const uint8_t *)bits + at, (size_t)(past - lo));
    else
      for (int64_t i = lo; i < past; i++, at++) p[i * stride] = ((const uint8_t *)bits)[at];
    lo = past;
  }
  return LGT_OK;
}

/* ---- permutations ---------------------------------------------------------------------------------------- */

/* Element i of a permutation is computed from i alone: a generalised Feistel network (Black and Rogaway, Ciphers with
 * arbitrary finite domains, 2002) permutes a rectangle of width * height >= n cells, and who comes out behind the nth is
 * sent through it again; so does Mitchell et al., Bandwidth-optimal random shuffling for GPUs (2021).  Few elements, of
 * which all orders shall be equally likely, are put in order by Fisher and Yates, whoever asks for some of them. */
enum { FEW = 1024, ROUNDS = 8 };

typedef struct network {
  uint64_t n, width, height, key[ROUNDS];
  uint64_t
      odd; /* 1: the first two change places.  Else all orders were even ones where width and height are odd. */
} network;

static network new_network(uint64_t n, uint64_t first, uint64_t key) {
  network f = {.n = n, .width = (uint64_t)sqrt((double)n)};
  while (f.width * f.width < n) f.width++;
  f.height = (n + f.width - 1) / f.width;
  for (uint32_t r = 0; r < ROUNDS; r += 2) philox(first, key, r, &f.key[r]);
  f.odd = f.key[0] >> 63;
  return f;
}

/* (x + h) modulo m, where h is a hash of y that is less than m. */
static inline uint64_t turned(uint64_t x, uint64_t y, uint64_t key, uint64_t m) {
  uint64_t h = (y + key) * 0x9e3779b97f4a7c15;
  h = (h ^ h >> 32) * 0xd6e8feb86659fd93;
  x += (h >> 32) * m >> 32;
  return x < m ? x : x - m;
}

static inline uint64_t permuted(const network *f, uint64_t i) {
  if (i < 2) i ^= f->odd;
  do {
    uint64_t x = i % f->width, y = i / f->width;
    for (int r = 0; r < ROUNDS; r += 2) {
      x = turned(x, y, f->key[r], f->width);
      y = turned(y, x, f->key[r + 1], f->height);
    }
    i = y * f->width + x;
  } while (i >= f->n);
  return i;
}

static void order_few(int64_t *p, int64_t n, uint64_t first, uint64_t key) {
  for (int64_t i = 0; i < n; i++) p[i] = i;
  for (int64_t i = n - 1; i > 0; i--) {
    uint64_t bits[2];
    philox(first + (uint64_t)i, key, 0, bits);
    /* The high half of a product: uneven by less than n / 2^64. */
    int64_t j = (int64_t)((unsigned __int128)bits[0] * (uint64_t)(i + 1) >> 64), x = p[i];
    p[i] = p[j];
    p[j] = x;
  }
}

/* random.permutation: argument 0 = the first of the positions 1 to n (parameter 2) in random order. */
static lgt_status permutation(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                              int64_t hi) {
  int64_t n = (int64_t)params[2].f, stride = tiles[0].stride[0], begin = tiles[0].origin[0];
  uint64_t first = (uint64_t)params[0].f, key = (uint64_t)params[1].f;
  char *p = tiles[0].data;
  (void)nargs;
  if (n <= FEW) {
    int64_t few[FEW];
    order_few(few, n, first, key);
    for (int64_t i = lo; i < hi; i++) *(int64_t *)(p + i * stride) = few[begin + i] + 1;
    return LGT_OK;
  }
  network f = new_network((uint64_t)n, first, key);
  for (int64_t i = lo; i < hi; i++)
    *(int64_t *)(p + i * stride) = (int64_t)permuted(&f, (uint64_t)(begin + i)) + 1;
  return LGT_OK;
}

/* random.choice: argument 0 = argument 1, the sum of probabilities of which argument 2 is the least, as long as it is
 * 1 but for parameter 0. */
static lgt_status probabilities(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                                int64_t hi) {
  (void)nargs;
  for (int64_t i = lo; i < hi; i++) {
    double sum = parameter(&tiles[1], i), least = parameter(&tiles[2], i);
    if (!(least >= 0)) /* NaN is none either */
      return lgt_err(LGT_BAD_ARGUMENT, "a probability of %g; from 0 to 1 was expected",
                     least == least ? least : NAN);
    if (!(fabs(sum - 1) <= params[0].f))
      return lgt_err(LGT_BAD_ARGUMENT, "the probabilities sum to %.9g, not to 1: use p / p:sum()", sum);
    put(&tiles[0], i, sum);
  }
  return LGT_OK;
}

const lgt_builtin lgt_random_builtins[] = {{"random.gamma", draw_gamma},
                                           {"random.poisson", draw_poisson},
                                           {"random.binomial", draw_binomial},
                                           {"random.hypergeometric", draw_hypergeometric},
                                           {"random.zipf", draw_zipf},
                                           {"random.logseries", draw_logseries},
                                           {"random.vonmises", draw_vonmises},
                                           {"random.bytes", draw_bytes},
                                           {"random.permutation", permutation},
                                           {"random.choice", probabilities},
                                           {0}};
