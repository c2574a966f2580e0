/* elementary.c - are the elementary functions right, and by how much not?
 *
 *   elementary                         the test: within the bounds, special values, exact results, order,
 *                                      and the same bits on every instruction set, compiled and not, at every
 *                                      place
 *   elementary --points N              the worst of N float64 points a function, lgt's and others'; then bits
 *   elementary --bits                  whether all ways to compute 10^7 results (or N) give the same bits
 *   elementary --all-float32           all float32 and float16 (of functions of two: N, or 10^7, sampled), those
 *                                      that are wrong
 *   elementary --table                 docs/elementary.md's table
 *   elementary --write-hashes          the hashes of the results, for the next machine to compare
 *
 *   --function NAME   only this one            --part K/N    of all float32, every Nth from K on
 *   --of NAME,...     lgt, libmvec, glibc, numpy: only these
 *   --between A,B     --points of float64 of one operand: there, where errors were large
 *   --threads N       work for so many         --hashes FILE     in place of tests/core/elementary.hashes
 */
#include "elementary_judge.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/half.h"
#include "kernel/helper.h"

static struct options {
  const char *function, *of, *hashes;
  int64_t points, part, parts;
  int threads;
  double low, high; /* all points between them, if there is room */
  bool all_float32, bits, table, write_hashes;
} options = {.hashes = LGT_ELEMENTARY_HASHES, .part = 3, .parts = 1021, .threads = 1};

/* ---- many points, in blocks, by threads -------------------------------------------------------- */

#define BLOCK 4096
/* An asked process answers in greater portions. */
#define GREAT_BLOCK (1 << 20)

typedef struct work {
  const elementary *f;
  const rival *by;
  int dtype;
  bool all;              /* of float32 or float16, else sampled */
  int64_t first, end;    /* numbers of points */
  int64_t start, stride; /* all: point i is the bits start + i * stride */
  verdict v;
} work;

static void fill_all(const work *w, int64_t first, int64_t n, float *a) {
  for (int64_t i = 0; i < n; i++) {
    uint64_t bits = (uint64_t)(w->start + (first + i) * w->stride);
    a[i] = w->dtype == LGT_FLOAT32 ? lgt_float_of_bits((uint32_t)bits) : lgt_half_to_float((uint16_t)bits);
  }
}

static void *work_run(void *argument) {
  work *w = argument;
  int64_t block = strcmp(w->by->name, "numpy") ? BLOCK : GREAT_BLOCK;
  double *a = malloc((size_t)block * 8), *b = malloc((size_t)block * 8), *out = malloc((size_t)block * 8);
  for (int64_t first = w->first; first < w->end; first += block) {
    int64_t n = w->end - first < block ? w->end - first : block;
    if (w->all) fill_all(w, first, n, (float *)a);
    else if (w->dtype == LGT_FLOAT64 && w->f->arity == 1 && options.low < options.high)
      points_between(options.low, options.high, first, n, a);
    else points_fill(w->f, w->dtype, first, n, a, b);
    w->by->compute(w->f, w->dtype, out, a, w->f->arity == 2 ? b : NULL, n);
    judge(w->f, w->dtype, a, b, out, n, &w->v);
  }
  free(a);
  free(b);
  free(out);
  judge_done();
  return NULL;
}

/* count points: all of them by their bits from start on with a stride, or (stride 0) sampled ones. */
static verdict run(const elementary *f, const rival *by, int dtype, int64_t count, int64_t start,
                   int64_t stride) {
  enum { most = 64 };
  int threads = options.threads > most ? most : strcmp(by->name, "numpy") ? options.threads : 1;
  pthread_t thread[most];
  work w[most];
  for (int t = 0; t < threads; t++) {
    w[t] = (work){.f = f,
                  .by = by,
                  .dtype = dtype,
                  .all = stride != 0,
                  .first = count * t / threads,
                  .end = count * (t + 1) / threads,
                  .start = start,
                  .stride = stride};
    if (t > 0) pthread_create(&thread[t], NULL, work_run, &w[t]);
  }
  work_run(&w[0]);
  for (int t = 1; t < threads; t++) {
    pthread_join(thread[t], NULL);
    judge_merge(&w[0].v, &w[t].v);
  }
  return w[0].v;
}

static verdict run_float64(const elementary *f, const rival *by, int64_t count) {
  return run(f, by, LGT_FLOAT64, count, 0, 0);
}
static verdict run_float32(const elementary *f, const rival *by, int64_t pairs) {
  int64_t count = (((int64_t)1 << 32) - options.part + options.parts - 1) / options.parts;
  return f->arity == 1 ? run(f, by, LGT_FLOAT32, count, options.part, options.parts)
                       : run(f, by, LGT_FLOAT32, pairs, 0, 0);
}
static verdict run_float16(const elementary *f, const rival *by, int64_t pairs) {
  return f->arity == 1 ? run(f, by, LGT_FLOAT16, 65536, 0, 1) : run(f, by, LGT_FLOAT16, pairs, 0, 0);
}

/* ---- what is said ------------------------------------------------------------------------------ */

static const char *point_text(const elementary *f, const double *at) {
  static char text[2][100];
  static int turn;
  char *t = text[turn ^= 1];
  if (f->arity == 1) snprintf(t, sizeof *text, "%s(%a = %.17g)", f->name, at[0], at[0]);
  else snprintf(t, sizeof *text, "%s(%a, %a)", f->name, at[0], at[1]);
  return t;
}

static void print_wrong(const elementary *f, const verdict *v) {
  for (int i = 0; i < v->kept; i++)
    printf("  %s is %a, not %a\n", point_text(f, v->kept_at[i]), v->kept_got[i], v->kept_expected[i]);
}

static bool say(const elementary *f, const char *dtype, const verdict *v) {
  if (!v->wrong) {
    printf("ok %s_%s\n", f->name, dtype);
    return true;
  }
  printf("FAIL %s_%s: %" PRId64 " of %" PRId64 " wrong", f->name, dtype, v->wrong, v->points);
  if (!strcmp(dtype, "float64"))
    printf(", worst %.4f ulp: %s is %a, not %a", v->worst, point_text(f, v->at), v->got, v->expected);
  else printf(", %s is %a, not %a", point_text(f, v->kept_at[0]), v->kept_got[0], v->kept_expected[0]);
  putchar('\n');
  return false;
}

/* ---- modes ------------------------------------------------------------------------------------- */

static bool chosen(const elementary *f) { return !options.function || !strcmp(options.function, f->name); }

static bool asked_of(const rival *by) {
  const char *at = options.of ? strstr(options.of, by->name) : by->name;
  size_t length = strlen(by->name);
  return at && (!options.of || ((at == options.of || at[-1] == ',') && (!at[length] || at[length] == ',')));
}

static bool test_function(const elementary *f) {
  const rival *lgt = &rival_list[0];
  verdict v = run_float64(f, lgt, options.points ? options.points : 300000);
  bool well = say(f, "float64", &v);
  v = run_float32(f, lgt, 1000000);
  well = say(f, "float32", &v) && well;
  v = run_float16(f, lgt, 300000);
  well = say(f, "float16", &v) && well;
  well = cases_special(f) && well;
  well = cases_exact(f) && well;
  well = cases_order(f) && well;
  well = cases_hard(f) && well;
  well = bits_expected(f, options.hashes) && well;
  fflush(stdout);
  return well;
}

static int test_all(void) {
  bool well = true;
  for (int op = 0; op < LGT_NOP; op++) {
    if (!lgt_math_has(op) || (options.function && strcmp(options.function, lgt_op_name(op)))) continue;
    const elementary *f = elementary_find(lgt_op_name(op));
    if (f) well = test_function(f) && well;
    else well = false, printf("FAIL %s: nothing here judges it\n", lgt_op_name(op));
  }
  if (options.function && elementary_op(elementary_find(options.function)) < 0)
    printf("skip %s: lgt has no such function\n", options.function);
  return !well;
}

/* Whether lgt is right. */
static bool long_float64(const elementary *f) {
  bool well = true;
  for (int i = 0; i < rival_count; i++) {
    const rival *by = &rival_list[i];
    if (!asked_of(by) || !by->has(f)) continue;
    int64_t points = strcmp(by->name, "numpy") || options.points < 10000000 ? options.points : 10000000;
    verdict v = run_float64(f, by, points);
    printf("%-7s %-7s float64 %9" PRId64 " points: %.4f ulp, %s is %a, not %a; %" PRId64 " above %g ulp\n",
           f->name, by->name, v.points, v.worst, point_text(f, v.at), v.got, v.expected, v.wrong, f->bound);
    fflush(stdout);
    if (i == 0 && v.wrong) well = false;
  }
  return well;
}

static bool long_bits(const elementary *f) {
  int64_t count = options.points < 10000000 ? options.points : 10000000;
  uint64_t hash[3];
  if (elementary_op(f) < 0 || !asked_of(&rival_list[0])) return true;
  bool same = bits_same(f, count, hash);
  if (same)
    printf("%-7s lgt     bits    %9" PRId64 " inputs: %016" PRIx64 " %016" PRIx64 " %016" PRIx64
           ", the same on all instruction sets up to %s\n",
           f->name, count, hash[0], hash[1], hash[2], lgt_isa_name(lgt_isa_host()));
  fflush(stdout);
  return same;
}

static bool long_float32(const elementary *f) {
  bool well = true;
  for (int i = 0; i < rival_count; i++) {
    const rival *by = &rival_list[i];
    if (!asked_of(by) || !by->has(f)) continue;
    verdict v = run_float32(f, by, options.points ? options.points : 10000000);
    if (i == 0 && v.wrong) well = false;
    printf("%-7s %-7s float32 %10" PRId64 " inputs: %" PRId64 " wrong\n", f->name, by->name, v.points,
           v.wrong);
    print_wrong(f, &v);
    v = run_float16(f, by, options.points ? options.points : 10000000);
    printf("%-7s %-7s float16 %10" PRId64 " inputs: %" PRId64 " wrong\n", f->name, by->name, v.points,
           v.wrong);
    print_wrong(f, &v);
    fflush(stdout);
    if (i == 0 && v.wrong) well = false;
  }
  return well;
}

static const char *error_text(double worst, char *text) {
  if (isinf(worst)) strcpy(text, "wrong");
  else sprintf(text, worst < 100 ? "%.3f" : "%.3g", worst);
  return text;
}

static void table_row(const elementary *f, int64_t points) {
  char text[64];
  printf("| %s |", f->name);
  for (int i = 0; i < rival_count; i++) {
    const rival *by = &rival_list[i];
    if (!asked_of(by)) continue;
    if (!by->has(f)) {
      printf(" | | |%s", i ? "" : " |");
      continue;
    }
    verdict v = run_float64(f, by, points), single = run_float32(f, by, points),
            half = run_float16(f, by, points);
    printf(" %s |", error_text(v.worst, text));
    if (i == 0 && f->arity == 1) printf(" %.17g |", v.at[0]);
    if (i == 0 && f->arity == 2) printf(" %.17g, %.17g |", v.at[0], v.at[1]);
    printf(single.wrong ? " %.3g %% |" : " 0 |", 100.0 * (double)single.wrong / (double)single.points);
    printf(half.wrong ? " %.3g %% |" : " 0 |", 100.0 * (double)half.wrong / (double)half.points);
    fflush(stdout);
  }
  putchar('\n');
}

static int table(void) {
  printf("| function |");
  for (int i = 0; i < rival_count; i++)
    if (asked_of(&rival_list[i]))
      printf(" %s: float64 |%s float32 | float16 |", rival_list[i].name, i ? "" : " at |");
  printf("\n| --- |");
  for (int i = 0; i < rival_count; i++)
    if (asked_of(&rival_list[i])) printf(" --: |%s --: | --: |", i ? "" : " :-- |");
  putchar('\n');
  for (int i = 0; i < elementary_count; i++)
    if (chosen(&elementary_list[i]))
      table_row(&elementary_list[i], options.points ? options.points : 1000000);
  return 0;
}

static int usage(const char *word) {
  fprintf(stderr, "elementary: %s: see the head of tests/core/elementary.c\n", word);
  return 2;
}

static int parse(int count, char **words) {
  for (int i = 1; i < count; i++) {
    const char *word = words[i], *value = i + 1 < count ? words[i + 1] : NULL;
    if (!strcmp(word, "--all-float32")) options.all_float32 = true;
    else if (!strcmp(word, "--bits")) options.bits = true;
    else if (!strcmp(word, "--table")) options.table = true;
    else if (!strcmp(word, "--write-hashes")) options.write_hashes = true;
    else if (!value) return usage(word);
    else if (!strcmp(word, "--function")) options.function = words[++i];
    else if (!strcmp(word, "--of")) options.of = words[++i];
    else if (!strcmp(word, "--hashes")) options.hashes = words[++i];
    else if (!strcmp(word, "--points")) options.points = (int64_t)atof(words[++i]);
    else if (!strcmp(word, "--threads")) options.threads = atoi(words[++i]);
    else if (!strcmp(word, "--between") && sscanf(value, "%lf,%lf", &options.low, &options.high) == 2) i++;
    else if (!strcmp(word, "--part") &&
             sscanf(value, "%" SCNd64 "/%" SCNd64, &options.part, &options.parts) == 2)
      i++;
    else return usage(word);
  }
  if (options.function && !elementary_find(options.function)) return usage(options.function);
  if (options.parts < 1 || options.part < 0 || options.threads < 1) return usage("a number");
  return 0;
}

int main(int count, char **words) {
  bool part = false;
  for (int i = 1; i < count; i++) part = part || !strcmp(words[i], "--part");
  int status = parse(count, words);
  if (status) return status;
  if (options.all_float32 && !part) options.part = 0, options.parts = 1;
  if (options.write_hashes) return bits_write(options.hashes);
  if (options.table) return table();
  if (options.bits && !options.points) options.points = 10000000;
  if (!options.points && !options.all_float32) return test_all();
  bool well = true;
  for (int i = 0; i < elementary_count; i++) {
    const elementary *f = &elementary_list[i];
    if (!chosen(f)) continue;
    if (options.all_float32) well = long_float32(f) && well;
    else if (options.bits) well = long_bits(f) && well;
    else well = long_float64(f) && (options.low < options.high || long_bits(f)) && well;
  }
  return !well;
}
