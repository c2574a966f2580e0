/* rival.h - what every contestant written in C shares.
 *
 * The protocol of a contestant (in any language): it sets itself up, prints "ready" and numbers that say
 * what it computed, and then, for each line with a number n on its standard input, does its work n
 * times and prints how many seconds that took.  So that bench/run can let the contestants of a case
 * take turns, while each stays warm.
 *
 * Data is the same in every language: fraction(i * k) for some irrational k.
 */
#ifndef RIVAL_H
#define RIVAL_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#ifndef REAL
#define REAL double
#endif

#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif

static inline double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK, &now);
  return now.tv_sec + 1e-9 * now.tv_nsec;
}

/* n elements on huge pages where the system has them. */
static inline REAL *array_new(int64_t n) {
  size_t page = 2 << 20, size = (n * sizeof(REAL) + page - 1) / page * page;
  REAL *a = aligned_alloc(page, size);
  if (!a) {
    fprintf(stderr, "out of memory: %zu bytes\n", size);
    exit(1);
  }
  madvise(a, size, MADV_HUGEPAGE);
  return a;
}

/* a[i] = lo + (hi - lo) * fraction(i * k), touched by the thread that will use it. */
static inline void array_fill(REAL *a, int64_t n, double k, double lo, double hi) {
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < n; i++) {
    double x = i * k;
    a[i] = (REAL)(lo + (hi - lo) * (x - floor(x)));
  }
}

static inline double array_mean(const REAL *a, int64_t n) {
  double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (int64_t i = 0; i < n; i++) sum += a[i];
  return sum / n;
}

static inline void serve(void (*work)(void)) {
  char line[64];
  while (fgets(line, sizeof line, stdin)) {
    int turns = atoi(line);
    double begin = seconds();
    for (int i = 0; i < turns; i++) work();
    printf("%.9f\n", seconds() - begin);
    fflush(stdout);
  }
}

#endif
