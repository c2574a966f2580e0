/* test_skew.c - nests that follow one another row by row leave what they leave one after another.
 *
 * Programs are random: loops that add what they read at shifted places of a few arrays, and store it to one of them.  The
 * parts of a skewed run are executed in random interleavings of the workers that could have run them.
 */
#include "check.h"
#include "kernel/skew.h"
#include "random_loop.h"

enum { ARRAYS = 4, LOOPS = 12, SIDE = 40, BYTES = SIDE * SIDE * SIDE * 8, PARTS = 20000 };

typedef struct step {
  lgt_loop loop;
  lgt_access access[3];
  lgt_inst inst[4];
  lgt_nest_shape shape;
  int64_t stride[3 * LGT_MAX_DIM];
  lgt_base base[3];
  lgt_nest nest;
} step;

typedef struct program {
  int ndim, nstep;
  int64_t side[3];
  step step[LOOPS];
  double *array[ARRAYS];
} program;

static void set_access(step *s, int a, int mode, double *first, const program *p, const int64_t *at,
                       int along) {
  int64_t stride = 8;
  s->access[a] = (lgt_access){(uint8_t)mode, LGT_FLOAT64, LGT_STRIDE_UNIT, 0};
  s->base[a].address = (char *)first;
  for (int d = p->ndim - 1; d >= 0; d--) {
    s->base[a].index += at[d] * stride;
    s->stride[a * LGT_MAX_DIM + d] = stride;
    stride *= p->side[d];
  }
  if (along < 0) return; /* one dimension only */
  s->stride[a * LGT_MAX_DIM] = s->stride[a * LGT_MAX_DIM + along];
  if (s->stride[a * LGT_MAX_DIM] != 8) s->access[a].inner = LGT_STRIDE_ANY;
}

/* target[inner box] = a[box moved by up to two] + b[box moved], or of a single row or column, or of whole rows, which are then
 * walked as one dimension. */
static void grow_step(program *p, step *s) {
  int64_t at[3], moved[3];
  int target = random_below(ARRAYS), along = random_below(5) ? -1 : random_below(p->ndim);
  bool rows = along < 0 && random_below(3) == 0;
  memset(s, 0, sizeof *s);
  s->shape.ndim = along < 0 ? p->ndim : 1;
  for (int d = 0; d < p->ndim; d++) at[d] = 2 + random_below(2);
  for (int d = 0; d < p->ndim; d++)
    if (along >= 0 && d != along) at[d] = 2 + random_below((int)p->side[d] - 4);
  for (int d = 1; d < p->ndim && rows; d++) at[d] = 0;
  for (int d = 0; d < p->ndim && along < 0; d++)
    s->shape.extent[d] = rows && d ? p->side[d] : p->side[d] - 3 - at[d];
  if (along >= 0) s->shape.extent[0] = p->side[along] - 3 - at[along];
  for (int a = 0; a < 2; a++) {
    int from = random_below(ARRAYS);
    for (int d = 0; d < p->ndim; d++)
      moved[d] = at[d] + (from == target || (rows && d) ? 0 : random_below(5) - 2);
    set_access(s, a, LGT_ACCESS_LOAD, p->array[from], p, moved, along);
  }
  set_access(s, 2, LGT_ACCESS_STORE, p->array[target], p, at, along);
  s->inst[0] = (lgt_inst){LGT_OP_LOAD, LGT_FLOAT64, 0, 0, 0, LGT_NO_VALUE, LGT_NO_VALUE};
  s->inst[1] = (lgt_inst){LGT_OP_LOAD, LGT_FLOAT64, 0, 0, 1, LGT_NO_VALUE, LGT_NO_VALUE};
  s->inst[2] = (lgt_inst){LGT_OP_ADD, LGT_FLOAT64, 0, 0, 0, 1, LGT_NO_VALUE};
  s->inst[3] = (lgt_inst){LGT_OP_STORE, LGT_FLOAT64, 0, 0, 2, 2, LGT_NO_VALUE};
  s->loop = (lgt_loop){.naccess = 3, .ninst = 4, .access = s->access, .inst = s->inst};
  lgt_loop_seal(&s->loop);
  s->shape.stride = s->stride;
  lgt_nest_shape_finish(&s->loop, &s->shape, 1, false, 0);
  s->nest = (lgt_nest){.loop = &s->loop, .shape = &s->shape, .base = s->base};
}

static void run_all(const program *p) {
  for (int i = 0; i < p->nstep; i++)
    for (int c = 0; c < p->step[i].shape.nchunk; c++) CHECK(!lgt_nest_run(&p->step[i].nest, NULL, c, NULL));
}

/* ---- workers --------------------------------------------------------------------------------------------- */

typedef struct part {
  int step;
  int64_t lo, hi;
} part;

typedef struct worker {
  part part[PARTS];
  int n, done;
  const int *step; /* by nest of the sweep */
} worker;

static void note_part(void *context, int n, int64_t lo, int64_t hi) {
  worker *w = context;
  lgt_assert(w->n < PARTS);
  w->part[w->n++] = (part){n, lo, hi};
}

static void do_part(const program *p, const worker *w, const part *part) {
  const lgt_nest *nest = &p->step[w->step[part->step]].nest;
  lgt_nest_run_rows(nest, NULL, part->lo, part->hi);
}

/* What the workers have to do, in a random order that each of them could see. */
static void interleave(const program *p, worker *worker, int n) {
  for (int left = n; left > 0;) {
    int i = random_below(n), some = 1 + random_below(4);
    for (; some && worker[i].done < worker[i].n; some--)
      do_part(p, &worker[i], &worker[i].part[worker[i].done++]);
    left = 0;
    for (int k = 0; k < n; k++) left += worker[k].done < worker[k].n;
  }
}

enum { MOST_WORKERS = 5 };
static worker workers[4 * MOST_WORKERS];

static void run_skewed(const program *p, const lgt_skew *skew, const int *step) {
  for (int wedges = 0; wedges < 2; wedges++) {
    int n = skew->ntrapezoid - wedges;
    for (int i = 0; i < n; i++) {
      workers[i].n = workers[i].done = 0;
      workers[i].step = step;
      if (wedges) lgt_skew_wedge(skew, i, note_part, &workers[i]);
      else lgt_skew_trapezoid(skew, i, note_part, &workers[i]);
    }
    if (n) interleave(p, workers, n);
  }
}

static void run_alone(const step *s) {
  for (int c = 0; c < s->shape.nchunk; c++) lgt_nest_run(&s->nest, NULL, c, NULL);
}

/* Line up the steps from `first` on, and return the number of them; some of those that may are run at once, before the sweep. */
static int line_up(const program *p, int first, int64_t cache, lgt_skew *skew, int *number, int *early) {
  int n = 0;
  *skew = (lgt_skew){0};
  for (; first + n < p->nstep; n++) {
    const step *s = &p->step[first + n];
    if (n && random_below(2) && lgt_skew_apart(skew, &s->nest)) run_alone(s), ++*early;
    else if (lgt_skew_add(skew, &s->nest, cache)) number[skew->nskewed - 1] = first + n;
    else break;
  }
  return n;
}

/* Returns how many steps followed another one; -1: sweeps were compared wrongly. */
static int run_following(const program *p, int64_t cache, int nworker, int *early) {
  int following = 0;
  for (int i = 0, n; i < p->nstep; i += n) {
    int number[LGT_SKEW_MOST];
    lgt_skew skew;
    if (!(n = line_up(p, i, cache, &skew, number, early))) {
      run_alone(&p->step[i]);
      n = 1;
      continue;
    }
    lgt_skew_cut(&skew, cache, nworker);
    lgt_skew other = skew;
    bool equal = lgt_skew_equal(&skew, &other);
    other.skewed[random_below(skew.nskewed)].ahead++;
    if (!equal || lgt_skew_equal(&skew, &other)) return -1;
    run_skewed(p, &skew, number);
    following += skew.nskewed - 1;
  }
  return following;
}

static int64_t size_of(const program *p) {
  int64_t size = 1;
  for (int d = 0; d < p->ndim; d++) size *= p->side[d];
  return size;
}

TEST(followers_leave_what_loops_leave) {
  static double memory[ARRAYS][BYTES / 8], wanted[ARRAYS][BYTES / 8], before[ARRAYS][BYTES / 8];
  int following = 0, early = 0;
  for (int turn = 0; turn < 400; turn++) {
    program p = {.ndim = 1 + random_below(3), .nstep = 2 + random_below(LOOPS - 1)};
    for (int d = 0; d < p.ndim; d++) p.side[d] = 8 + random_below(p.ndim == 3 ? 8 : SIDE - 8);
    if (random_below(2)) p.side[0] = p.ndim == 1 ? 1000 + random_below(500) : 30 + random_below(SIDE - 30);
    for (int a = 0; a < ARRAYS; a++) p.array[a] = memory[a];
    for (int i = 0; i < p.nstep; i++) grow_step(&p, &p.step[i]);
    for (int a = 0; a < ARRAYS; a++)
      for (int64_t i = 0; i < size_of(&p); i++) memory[a][i] = before[a][i] = (double)random_below(1000);
    run_all(&p);
    for (int a = 0; a < ARRAYS; a++) {
      memcpy(wanted[a], memory[a], (size_t)size_of(&p) * 8);
      memcpy(memory[a], before[a], (size_t)size_of(&p) * 8);
    }
    int followed = run_following(&p, 64 << random_below(12), 1 + random_below(MOST_WORKERS), &early);
    CHECK(followed >= 0);
    following += followed;
    for (int a = 0; a < ARRAYS; a++) CHECK(!memcmp(memory[a], wanted[a], (size_t)size_of(&p) * 8));
  }
  CHECK(following > 400);
  CHECK(early > 40);
}

/* Two grids in turn: each loop needs one row of the one before, on either side. */
TEST(a_stencil_leans_by_a_row_a_loop) {
  static double memory[ARRAYS][BYTES / 8];
  program p = {.ndim = 2, .nstep = 5, .side = {80, 30}};
  lgt_skew skew = {0};
  for (int a = 0; a < ARRAYS; a++) p.array[a] = memory[a];
  for (int i = 0; i < p.nstep; i++) {
    step *s = &p.step[i];
    grow_step(&p, s);
    s->shape = (lgt_nest_shape){.ndim = 2, .extent = {78, 28}, .stride = s->stride};
    memset(s->base, 0, sizeof s->base);
    set_access(s, 0, LGT_ACCESS_LOAD, memory[i % 2], &p, (int64_t[]){0, 1}, -1);
    set_access(s, 1, LGT_ACCESS_LOAD, memory[i % 2], &p, (int64_t[]){2, 1}, -1);
    set_access(s, 2, LGT_ACCESS_STORE, memory[1 - i % 2], &p, (int64_t[]){1, 1}, -1);
    lgt_nest_shape_finish(&s->loop, &s->shape, 1, false, 0);
    CHECK(lgt_skew_add(&skew, &s->nest, 1 << 20));
    CHECK_EQ(skew.skewed[i].ahead, i);
    CHECK_EQ(skew.skewed[i].behind, i);
    CHECK_EQ(skew.skewed[i].origin, 0);
  }
  lgt_skew_cut(&skew, 6000, 2);
  CHECK_EQ(skew.ntrapezoid, 2);
}

int main(void) {
  RUN(followers_leave_what_loops_leave);
  RUN(a_stencil_leans_by_a_row_a_loop);
  return check_done();
}
