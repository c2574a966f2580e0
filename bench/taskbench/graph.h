/* graph.h - Task Bench's graphs, kernels and checksums, for the programs in C.  patterns.lua and taskbench.lua are the same for lgt.
 *
 * Slaughter et al., "Task Bench: a parameterized benchmark for evaluating parallel runtime performance", SC20.  A graph has
 * `steps` rows of at most `width` points.  Each point is a task: it reads the results of some points of the row before, its
 * dependences, which a pattern names, and gives one number.  Points and steps count from 0.
 *
 * A task's result depends on the task's place and on every dependence by a weight that depends on the order: the sum of all
 * results, each times a number that belongs to its place, differs if any dependence is left out, taken twice, taken from
 * another point, or read too early.
 */
#ifndef GRAPH_H
#define GRAPH_H

#include <stdbool.h>
#include <string.h>

#include "../rivals/rival.h"

enum { MOST = 5, RADIX = 5, SPREAD = 3, PERIOD = 3 }; /* MOST: dependences of a task */

typedef struct graph graph;
/* Writes the points on which a task depends, some of which the row before may lack; returns how many. */
typedef int (*pattern)(const graph *g, int step, int point, int *deps);

typedef struct task {
  int step, point, ndeps;
  int deps[MOST]; /* points of the row before */
  double own;     /* what its place gives to its result */
} task;

struct graph {
  int steps, width, ntasks;
  pattern pattern;
  task *tasks;    /* row by row, and in a row by points */
  double *result; /* steps x width; where a row has no such point, 0 */
  bool memory;    /* the kernel is the one that memory bounds */
  double *from;   /* what kernels read: shared by all tasks of the compute kernel */
  double *to;     /* what the memory kernel writes */
};

/* ---- patterns ---- */

/* A whole number below 2^31 - 1 that looks random: small enough at each step to be exact in Lua, too. */
static inline double hash(int a, int b, int c) {
  return (double)(((a * 73856093LL + b * 19349663LL + c * 83492791LL + 12345) % 2147483647 * 48271) %
                  2147483647);
}

static int span(const graph *g, int lo, int hi, int *deps) {
  int n = 0;
  for (int i = lo; i <= hi; i++)
    if (i >= 0 && i < g->width) deps[n++] = i;
  return n;
}

static int levels(const graph *g) { /* ceil(log2(width)), 1 at least */
  int n = 1;
  while (1 << n < g->width) n++;
  return n;
}

static int trivial(const graph *g, int step, int i, int *deps) { return 0; }
static int no_comm(const graph *g, int step, int i, int *deps) { return span(g, i, i, deps); }
static int stencil_1d(const graph *g, int step, int i, int *deps) { return span(g, i - 1, i + 1, deps); }
static int dom(const graph *g, int step, int i, int *deps) { return span(g, i - 1, i, deps); }
static int tree(const graph *g, int step, int i, int *deps) { return span(g, i / 2, i / 2, deps); }
static int nearest(const graph *g, int step, int i, int *deps) {
  return span(g, i - RADIX / 2, i + (RADIX - 1) / 2, deps);
}

static int stencil_1d_periodic(const graph *g, int step, int i, int *deps) {
  for (int k = 0; k < 3; k++) deps[k] = (i + k - 1 + g->width) % g->width;
  return 3;
}

static int fft(const graph *g, int step, int i, int *deps) {
  int n = 0, apart = 1 << (step - 1) % levels(g);
  for (int k = -1; k <= 1; k++)
    if (i + k * apart >= 0 && i + k * apart < g->width) deps[n++] = i + k * apart;
  return n;
}

static int spread(const graph *g, int step, int i, int *deps) {
  for (int k = 0; k < SPREAD; k++) deps[k] = (i + k * g->width / SPREAD + (k ? step % PERIOD : 0)) % g->width;
  return SPREAD;
}

/* Of the nearest ones the point itself and a quarter of the others. */
static int random_nearest(const graph *g, int step, int i, int *deps) {
  int near[MOST], n = 0, most = nearest(g, step, i, near);
  for (int k = 0; k < most; k++)
    if (near[k] == i || hash(step % PERIOD, i, near[k]) < 0.25 * 2147483647) deps[n++] = near[k];
  return n;
}

static const struct {
  const char *name;
  pattern pattern;
} patterns[] = {{"trivial", trivial},
                {"no_comm", no_comm},
                {"stencil_1d", stencil_1d},
                {"stencil_1d_periodic", stencil_1d_periodic},
                {"dom", dom},
                {"tree", tree},
                {"fft", fft},
                {"nearest", nearest},
                {"spread", spread},
                {"random_nearest", random_nearest}};

static inline int least(int a, int b) { return a < b ? a : b; }

/* Points [*begin, *end) of a row: a wavefront that crosses a rectangle, a tree that grows, or all. */
static void row(const graph *g, int step, int *begin, int *end) {
  int count = g->width;
  *begin = 0;
  if (g->pattern == dom) {
    count = least(g->width, least(step + 1, g->steps - step));
    *begin = step + g->width > g->steps ? step + g->width - g->steps : 0;
  } else if (g->pattern == tree) {
    count = least(g->width, 1 << least(step, 30));
  }
  *end = *begin + count;
}

/* ---- graphs ---- */

static void add_task(graph *g, int step, int point) {
  task *t = &g->tasks[g->ntasks++];
  *t = (task){.step = step, .point = point, .own = hash(step, point, 0) / 2147483647};
  if (step == 0) return;
  int deps[MOST], n = g->pattern(g, step, point, deps), begin, end;
  row(g, step - 1, &begin, &end);
  for (int k = 0; k < n; k++)
    if (deps[k] >= begin && deps[k] < end) t->deps[t->ndeps++] = deps[k];
}

enum {
  ROOM = 1 << 18
}; /* elements of `from`; of `to`, and of `from` with the memory kernel, for each point */

static void graph_fill(graph *g) {
  int64_t n = (int64_t)ROOM * (g->memory ? g->width : 1);
  g->from = array_new(n);
  g->to = g->memory ? array_new(n) : NULL;
  for (int64_t i = 0; i < n; i++) {
    double x = i % ROOM * 0.6180339887498949;
    g->from[i] = x - floor(x);
    if (g->to) g->to[i] = 0;
  }
}

/* Arguments: PATTERN STEPS WIDTH [compute | memory [LACKING]].  To try checksums, the last dependence of task number LACKING is
 * left out. */
static graph *graph_new(int argc, char **argv) {
  graph *g = calloc(1, sizeof *g);
  for (size_t i = 0; argc > 3 && i < sizeof patterns / sizeof *patterns; i++)
    if (!strcmp(patterns[i].name, argv[1])) g->pattern = patterns[i].pattern;
  if (!g->pattern) {
    fprintf(stderr, "usage: %s PATTERN STEPS WIDTH [compute | memory]\n", argv[0]);
    exit(1);
  }
  g->steps = atoi(argv[2]), g->width = atoi(argv[3]);
  g->memory = argc > 4 && !strcmp(argv[4], "memory");
  g->tasks = calloc((size_t)g->steps * g->width, sizeof *g->tasks);
  g->result = calloc((size_t)g->steps * g->width, sizeof *g->result);
  for (int step = 0; step < g->steps; step++) {
    int begin, end;
    row(g, step, &begin, &end);
    for (int i = begin; i < end; i++) add_task(g, step, i);
  }
  if (argc > 5) g->tasks[atoi(argv[5])].ndeps--;
  graph_fill(g);
  return g;
}

static inline double *result_of(const graph *g, int step, int point) {
  return &g->result[(size_t)step * g->width + point];
}

static double checksum(const graph *g) {
  double sum = 0;
  for (int i = 0; i < g->ntasks; i++)
    sum += g->tasks[i].own * *result_of(g, g->tasks[i].step, g->tasks[i].point);
  return sum;
}

/* ---- kernels: n iterations ---- */

enum { CHAINS = 8, DEPTH = 8 };

/* An iteration is 64 products and sums on an element, in CHAINS chains that do not wait for each other.  The greatest value
 * counts, which is the same in any order. */
static double compute(const double *from, int64_t n, double seed) {
  double best = 0;
#pragma omp simd reduction(max : best)
  for (int64_t i = 0; i < n; i++) {
    double x = from[i] + seed, sum = 0;
#pragma GCC unroll 8
    for (int c = 0; c < CHAINS; c++) {
      double y = x + c;
#pragma GCC unroll 8
      for (int d = 0; d < DEPTH; d++) y = y * 0.875 + 0.0625;
      sum += y;
    }
    sum *= 0.125;
    best = sum > best ? sum : best;
  }
  return best;
}

/* An iteration reads an element and writes one. */
static double copy(const double *from, double *to, int64_t n, double seed) {
  double best = 0;
#pragma omp simd reduction(max : best)
  for (int64_t i = 0; i < n; i++) {
    double x = (from[i] + seed) * 0.5;
    to[i] = x;
    best = x > best ? x : best;
  }
  return best;
}

/* Where a task's part of its point's ROOM begins: the memory kernel goes through all of it, step by step. */
static int64_t part(int64_t n, int step) { return n * step % ROOM; }

static double kernel(const graph *g, const task *t, int64_t n, double seed) {
  if (!g->memory) return compute(g->from, n, seed);
  int64_t first = (int64_t)ROOM * t->point + part(n, t->step);
  return copy(g->from + first, g->to + first, n, seed);
}

static void run_task(const graph *g, const task *t, int64_t n) {
  double seed = t->own, weight = 0.5;
  for (int k = 0; k < t->ndeps; k++, weight *= 0.5) seed += weight * *result_of(g, t->step - 1, t->deps[k]);
  *result_of(g, t->step, t->point) = kernel(g, t, n, seed);
}

/* The protocol of rival.h, but for one thing: a line has the iterations of a task, a power of two up to ROOM; the answer is
 * how many seconds all tasks take together. */
enum { CHECKED = 256 }; /* the iterations behind the numbers of "ready" */

/* Turns before the one that is measured: others have used the caches, and threads sleep.  Tasks of so many iterations make up
 * for it in one. */
enum { LONG = 8192, MOST_TURNS = 16 };
static inline int turns_before(int64_t n) {
  return n > LONG / 2 ? 1 : n < LONG / MOST_TURNS ? MOST_TURNS : (int)(LONG / n);
}

static inline void ready(const graph *g) {
  printf("ready %d %.17g\n", g->ntasks, checksum(g)), fflush(stdout);
}

static inline void serve_graph(graph *g, void (*work)(graph *, int64_t)) {
  char line[64];
  work(g, CHECKED);
  ready(g);
  while (fgets(line, sizeof line, stdin)) {
    int64_t n = atoll(line);
    for (int i = turns_before(n); i > 0; i--) work(g, n);
    double begin = seconds();
    work(g, n);
    printf("%.9f\n", seconds() - begin), fflush(stdout);
  }
}

#endif
