/* black_scholes.c - European options, hand-fused: one pass in C and OpenMP, with libmvec's vector functions.
 *
 *   black_scholes N RATE VOLATILITY
 *
 * The mathematics is that of examples/black_scholes.lua.  Built with -ffast-math, without which gcc does
 * not use libmvec.  CALL and PUT are the last expressions, for the mutants: in the price S, the discounted
 * strike D, and the distribution's values n1 and n2.
 */
#include <tgmath.h>

#include "rival.h"

#ifndef CALL
#define CALL S * n1 - D * n2
#endif
#ifndef PUT
#define PUT D * (1 - n2) - S * (1 - n1)
#endif

static int64_t n;
static REAL *price, *strike, *years, *call, *put;
static double rate = 0.02, volatility = 0.3;

/* The cumulative normal distribution after Abramowitz and Stegun, 26.2.17. */
static inline REAL cnd(REAL d) {
  const REAL k = 1 / (1 + (REAL)0.2316419 * fabs(d));
  const REAL p = k * ((REAL)0.31938153 +
                      k * ((REAL)-0.356563782 +
                           k * ((REAL)1.781477937 + k * ((REAL)-1.821255978 + k * (REAL)1.330274429))));
  const REAL tail = (REAL)0.3989422804014327 * exp((REAL)-0.5 * d * d) * p;
  return d > 0 ? 1 - tail : tail;
}

static void work(void) {
  const REAL r = (REAL)rate, v = (REAL)volatility;
#pragma omp parallel for simd schedule(static)
  for (int64_t i = 0; i < n; i++) {
    const REAL S = price[i], X = strike[i], T = years[i];
    const REAL vt = v * sqrt(T);
    const REAL d1 = (log(S / X) + (r + (REAL)0.5 * v * v) * T) / vt;
    const REAL n1 = cnd(d1), n2 = cnd(d1 - vt);
    const REAL D = X * exp(-r * T);
    call[i] = CALL;
    put[i] = PUT;
  }
}

int main(int argc, char **argv) {
  n = argc > 1 ? atoll(argv[1]) : 1 << 20;
  if (argc > 2) rate = atof(argv[2]);
  if (argc > 3) volatility = atof(argv[3]);
  price = array_new(n), strike = array_new(n), years = array_new(n), call = array_new(n), put = array_new(n);
  array_fill(price, n, 0.8191725133961645, 5, 30);
  array_fill(strike, n, 0.6710436067037893, 1, 100);
  array_fill(years, n, 0.5497004779019703, 0.25, 10);
  array_fill(call, n, 0, 0, 0);
  array_fill(put, n, 0, 0, 0);
  work();
  printf("ready %.17g %.17g\n", array_mean(call, n), array_mean(put, n));
  fflush(stdout);
  serve(work);
  return 0;
}
