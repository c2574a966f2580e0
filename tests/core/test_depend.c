/* test_depend.c - tasks ordered by the instances they touch.
 *
 * Random tasks read and write random instances.  Each instance holds the number of its last writer, in plain
 * memory: every task finds there what program order says, whatever threads do.
 */
#include "check.h"
#include "exec/depend.h"
#include "loops.h"

enum { TASKS = 60, INSTANCES = 6 };

static lgt_stores stores;
static lgt_map map;
static lgt_instance *inst[INSTANCES];

typedef struct job {
  lgt_task task;
  lgt_step step;
  int number, nread, nwrite;
  int read[INSTANCES], write[INSTANCES];
  int expected[INSTANCES]; /* for each read, then for each write */
  int wrong;
} job;

static lgt_status run(lgt_step *step, int chunk) {
  job *j = step->data;
  (void)chunk;
  for (int i = 0; i < j->nread; i++) j->wrong += *(int *)inst[j->read[i]]->data != j->expected[j->read[i]];
  for (int i = 0; i < j->nwrite; i++) {
    int *value = (int *)inst[j->write[i]]->data;
    j->wrong += *value != j->expected[j->write[i]];
    *value = j->number;
  }
  return LGT_OK;
}

static void setup(void) {
  const lgt_layout *root = lgt_layout_at(&stores, lgt_stores_dense(&stores, LGT_INT32, 0, NULL));
  lgt_rect point = {.ndim = 0};
  lgt_map_init(&map, &stores, 1, 0, 1, 1 << 20);
  for (int i = 0; i < INSTANCES; i++) {
    inst[i] = lgt_instance_new(&map, 0, root, &point);
    *(int *)inst[i]->data = -1;
  }
}

static void teardown(void) {
  for (int i = 0; i < INSTANCES; i++) {
    CHECK_EQ(inst[i]->refs, 1);
    CHECK(!inst[i]->writer && inst[i]->nreader == 0);
    lgt_instance_release(&map, inst[i]);
  }
  CHECK_EQ(map.live, 0);
  lgt_map_fini(&map);
}

static void make(job *j, int number, int cost) {
  memset(j, 0, sizeof *j);
  j->number = number;
  j->step = (lgt_step){1, NULL, run, NULL, NULL, j};
  j->task.step = &j->step;
  j->task.nstep = 1;
  j->task.cost = cost;
  lgt_task_init(&j->task);
}

static void retire(job *j) {
  for (int i = 0; i < j->nread; i++) lgt_depend_retire(&map, &j->task, inst[j->read[i]]);
  for (int i = 0; i < j->nwrite; i++) lgt_depend_retire(&map, &j->task, inst[j->write[i]]);
  lgt_exec_forget(&j->task);
}

static void random_tasks(int cpus) {
  static job jobs[TASKS];
  lgt_exec *exec;
  CHECK(!lgt_exec_new(cpus, &exec));
  for (int round = 0; round < 100 && !check_failed; round++) {
    int last[INSTANCES], retired = 0;
    setup();
    for (int i = 0; i < INSTANCES; i++) last[i] = -1;
    for (int t = 0; t < TASKS; t++) {
      job *j = &jobs[t];
      make(j, t, random_below(3) ? 1 << 20 : 1);
      for (int i = 0; i < INSTANCES; i++) {
        int what = random_below(6);
        if (what < 2) j->read[j->nread++] = i;
        if (what == 2) j->write[j->nwrite++] = i;
        j->expected[i] = last[i];
        if (what == 2) last[i] = t;
      }
      if (random_below(2)) lgt_exec_together(exec);
      for (int i = 0; i < j->nread; i++) CHECK(lgt_depend_read(exec, &j->task, inst[j->read[i]]));
      for (int i = 0; i < j->nwrite; i++) CHECK(lgt_depend_write(exec, &j->task, inst[j->write[i]]));
      lgt_exec_submit(exec, &j->task);
      while (retired <= t && random_below(3) == 0) { /* sometimes early, in order */
        lgt_exec_wait(exec, &jobs[retired].task);
        retire(&jobs[retired++]);
      }
    }
    for (; retired < TASKS; retired++) {
      lgt_exec_wait(exec, &jobs[retired].task);
      retire(&jobs[retired]);
    }
    for (int t = 0; t < TASKS; t++) CHECK_EQ(jobs[t].wrong, 0);
    for (int i = 0; i < INSTANCES; i++) CHECK_EQ(*(int *)inst[i]->data, last[i]);
    teardown();
  }
  lgt_exec_free(exec);
}

TEST(one_thread) { random_tasks(1); }
TEST(three_threads) { random_tasks(3); }

/* Only what must wait waits. */
TEST(readers_do_not_wait_for_each_other) {
  static job jobs[5];
  lgt_exec *exec;
  CHECK(!lgt_exec_new(1, &exec));
  setup();
  static const bool writes[5] = {true, false, false, true, false};
  static const int waits[5] = {0, 1, 1, 3, 1};
  for (int t = 0; t < 5; t++) {
    make(&jobs[t], t, 1 << 20);
    bool good = writes[t] ? lgt_depend_write(exec, &jobs[t].task, inst[0])
                          : lgt_depend_read(exec, &jobs[t].task, inst[0]);
    CHECK(good);
    CHECK_EQ(jobs[t].task.ordered, waits[t]);
    CHECK_EQ(inst[0]->refs, t + 2);
  }
  for (int t = 0; t < 5; t++) lgt_exec_submit(exec, &jobs[t].task);
  lgt_exec_wait(exec, &jobs[4].task);
  for (int t = 0; t < 5; t++) {
    lgt_exec_wait(exec, &jobs[t].task);
    lgt_depend_retire(&map, &jobs[t].task, inst[0]);
    lgt_exec_forget(&jobs[t].task);
  }
  teardown();
  lgt_exec_free(exec);
}

/* The failure of a reader is not that of the next writer. */
static lgt_status fail_now(lgt_step *step, int chunk) {
  (void)step, (void)chunk;
  return lgt_err(LGT_IO, "as it must");
}

TEST(who_only_waits_does_not_fail) {
  for (int early = 0; early < 2; early++) {
    static job jobs[4];
    lgt_exec *exec;
    CHECK(!lgt_exec_new(1, &exec));
    setup();
    for (int t = 0; t < 4; t++) make(&jobs[t], t, 1 << 20);
    jobs[0].step.run = fail_now;
    CHECK(lgt_depend_read(exec, &jobs[0].task, inst[0]) && lgt_depend_write(exec, &jobs[0].task, inst[1]));
    if (early) lgt_exec_submit(exec, &jobs[0].task), lgt_exec_wait(exec, &jobs[0].task);
    CHECK(lgt_depend_write(exec, &jobs[1].task, inst[0])); /* over what the first read */
    CHECK(lgt_depend_read(exec, &jobs[2].task, inst[1]));  /* what the first should have written */
    CHECK(lgt_depend_read(exec, &jobs[3].task, inst[0]));
    for (int t = early; t < 4; t++) lgt_exec_submit(exec, &jobs[t].task);
    for (int t = 0; t < 4; t++) lgt_exec_wait(exec, &jobs[t].task);
    CHECK(jobs[0].task.status == LGT_IO && jobs[2].task.status == LGT_IO);
    CHECK(!jobs[1].task.status && !jobs[3].task.status);
    static const int touched[4][2] = {{0, 1}, {0, -1}, {1, -1}, {0, -1}};
    for (int t = 0; t < 4; t++) {
      for (int k = 0; k < 2 && touched[t][k] >= 0; k++)
        lgt_depend_retire(&map, &jobs[t].task, inst[touched[t][k]]);
      lgt_exec_forget(&jobs[t].task);
    }
    teardown();
    lgt_exec_free(exec);
  }
}

TEST(memory_may_run_out) {
  enum {
    READERS = LGT_FEW_EDGES,
    NUM = READERS + 2
  }; /* a writer, as many readers as it has room for, one task more */
  static job jobs[NUM];
  lgt_exec *exec;
  CHECK(!lgt_exec_new(1, &exec));
  setup();
  for (int t = 0; t < NUM; t++) make(&jobs[t], t, 1 << 20);
  lgt_mem_fail_at(1);
  CHECK(!lgt_depend_read(exec, &jobs[0].task, inst[0]));
  lgt_mem_fail_at(0);
  CHECK_EQ(inst[0]->refs, 1);
  CHECK(lgt_depend_write(exec, &jobs[0].task, inst[0]));
  for (int t = 1; t <= READERS; t++) CHECK(lgt_depend_read(exec, &jobs[t].task, inst[0]));
  lgt_mem_fail_at(1);
  CHECK(!lgt_depend_write(exec, &jobs[NUM - 1].task, inst[0]));
  lgt_mem_fail_at(0);
  CHECK_EQ(inst[0]->refs, 2 + READERS);
  CHECK(inst[0]->writer == &jobs[0].task);
  for (int t = 0; t <= READERS; t++) lgt_exec_submit(exec, &jobs[t].task);
  for (int t = 0; t <= READERS; t++) {
    lgt_exec_wait(exec, &jobs[t].task);
    lgt_depend_retire(&map, &jobs[t].task, inst[0]);
    lgt_exec_forget(&jobs[t].task);
  }
  teardown();
  lgt_exec_free(exec);
}

int main(void) {
  if (lgt_stores_init(&stores)) return 1;
  RUN(one_thread);
  RUN(three_threads);
  RUN(readers_do_not_wait_for_each_other);
  RUN(who_only_waits_does_not_fail);
  RUN(memory_may_run_out);
  lgt_stores_fini(&stores);
  return check_done() || lgt_mem_live() != 0;
}
