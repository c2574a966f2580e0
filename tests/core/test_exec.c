/* test_exec.c - random graphs of tasks on one to four threads.
 *
 * A task's value is one more than the greatest of those it needs; its chunks write plain memory that
 * its later steps and its successors read, so that ThreadSanitizer sees a missing edge.  Some tasks fail:
 * then they and everything that needs them end with the first failure, and nothing of that runs.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "check.h"
#include "exec/exec.h"
#include "loops.h"

enum { MAX_NODES = 60, MAX_STEPS = 3, MAX_CHUNKS = 12 };

typedef struct node node;
typedef struct part {
  node *owner;
  int at;
} part;

struct node {
  lgt_task task;
  lgt_step step[MAX_STEPS];
  part part[MAX_STEPS];
  node *before[MAX_NODES];
  bool needs[MAX_NODES]; /* by edge: its value counts, and its failure */
  int nbefore, number;
  int ran[MAX_STEPS][MAX_CHUNKS], began[MAX_STEPS], ended[MAX_STEPS];
  int value;
  int fails_step, fails_chunk; /* -1: begin; step -1: it does not fail */
  bool doomed;                 /* it fails, or waits for one that does */
};

static node nodes[MAX_NODES];
static atomic_int mistakes;

/* Have all chunks of the first steps run? */
static bool is_finished(const node *n, int nstep) {
  for (int s = 0; s < nstep; s++)
    for (int c = 0; c < n->step[s].nchunk; c++)
      if (n->ran[s][c] != 1) return false;
  return true;
}

static lgt_status begin(lgt_step *step) {
  part *p = step->data;
  node *n = p->owner;
  n->began[p->at]++;
  for (int i = 0; i < n->nbefore; i++)
    if (!n->before[i]->doomed && !is_finished(n->before[i], n->before[i]->task.nstep))
      atomic_fetch_add(&mistakes, 1);
  if (n->fails_step == p->at && n->fails_chunk == -1)
    return lgt_err(LGT_TASK_FAILED, "begin of %d", n->number);
  return LGT_OK;
}

static lgt_status run(lgt_step *step, int chunk) {
  part *p = step->data;
  node *n = p->owner;
  if (step->begin && n->began[p->at] != 1) atomic_fetch_add(&mistakes, 1);
  if (!is_finished(n, p->at)) atomic_fetch_add(&mistakes, 1); /* the barrier */
  n->ran[p->at][chunk]++;
  if (p->at == 0 && chunk == 0) {
    int most = 0;
    for (int i = 0; i < n->nbefore; i++)
      if (n->needs[i] && n->before[i]->value > most) most = n->before[i]->value;
    n->value = most + 1;
  }
  if (n->number % 7 == 3) usleep(20);
  if (n->fails_step == p->at && n->fails_chunk == chunk)
    return lgt_err(LGT_IO, "chunk %d of %d", chunk, n->number);
  return LGT_OK;
}

static void end(lgt_step *step) {
  part *p = step->data;
  p->owner->ended[p->at]++;
}

/* A task of one to three steps, sometimes without chunks. */
static void make(node *n, int number, bool may_fail) {
  memset(n, 0, sizeof *n);
  n->number = number;
  n->fails_step = -1;
  int nstep = 1 + random_below(MAX_STEPS);
  for (int s = 0; s < nstep; s++) {
    n->part[s] = (part){n, s};
    int nchunk = s == 0 ? 1 + random_below(MAX_CHUNKS) : random_below(MAX_CHUNKS + 1);
    n->step[s] = (lgt_step){
        nchunk, random_below(2) ? begin : NULL, run, random_below(2) ? end : NULL, NULL, &n->part[s]};
  }
  n->task.step = n->step;
  n->task.nstep = nstep;
  n->task.cost = random_below(3) ? 1 << 20 : 10; /* small ones run where they are submitted */
  lgt_task_init(&n->task);
  if (may_fail && random_below(8) == 0) {
    n->fails_step = random_below(nstep);
    lgt_step *s = &n->step[n->fails_step];
    n->fails_chunk = s->begin && random_below(2) ? -1 : s->nchunk ? random_below(s->nchunk) : -2;
    if (n->fails_chunk == -2) n->fails_step = -1;
  }
  n->doomed = n->fails_step >= 0;
}

static void check_node(const node *n) {
  bool behind = false;
  int most = 0;
  for (int i = 0; i < n->nbefore; i++) {
    behind |= n->needs[i] && n->before[i]->task.status != LGT_OK;
    if (n->needs[i] && n->before[i]->value > most) most = n->before[i]->value;
  }
  CHECK(lgt_task_done((lgt_task *)&n->task));
  CHECK_EQ(n->task.status != LGT_OK, n->doomed);
  if (behind) {
    CHECK(n->task.message && *n->task.message);
    for (int s = 0; s < n->task.nstep; s++) {
      CHECK_EQ(n->began[s], 0);
      for (int c = 0; c < n->step[s].nchunk; c++) CHECK_EQ(n->ran[s][c], 0);
    }
    return;
  }
  if (n->fails_chunk < 0 || n->fails_step != 0) CHECK(n->doomed || n->value == most + 1);
  if (n->doomed) {
    char words[40];
    snprintf(words, sizeof words, n->fails_chunk < 0 ? "begin of %d" : "of %d", n->number);
    CHECK_HAS(n->task.message, words);
    CHECK_EQ(n->task.status, n->fails_chunk < 0 ? LGT_TASK_FAILED : LGT_IO);
  }
  for (int s = 0; s < n->task.nstep; s++) {
    bool reached = !n->doomed || s <= n->fails_step;
    bool whole = !n->doomed || s < n->fails_step;
    for (int c = 0; c < n->step[s].nchunk; c++) {
      CHECK(n->ran[s][c] <= reached);
      if (whole) CHECK_EQ(n->ran[s][c], 1);
    }
    if (n->step[s].begin) CHECK_EQ(n->began[s], reached);
    if (n->step[s].end) CHECK_EQ(n->ended[s], reached); /* also after a failure */
  }
}

static void random_graph(lgt_exec *exec, bool may_fail) {
  int n = 1 + random_below(MAX_NODES), submitted = 0;
  for (int i = 0; i < n; i++) {
    make(&nodes[i], i, may_fail);
    int edges = random_below(4);
    for (int e = 0; e < edges && i > 0; e++) {
      int back = random_below(3) ? random_below(i < 5 ? i : 5) : random_below(i);
      node *before = &nodes[i - 1 - back];
      bool known = false;
      for (int k = 0; k < nodes[i].nbefore; k++) known |= nodes[i].before[k] == before;
      if (known) continue;
      bool needs = random_below(4);
      nodes[i].needs[nodes[i].nbefore] = needs;
      nodes[i].before[nodes[i].nbefore++] = before;
      nodes[i].doomed |= needs && before->doomed;
      CHECK(lgt_exec_order(exec, &before->task, &nodes[i].task, needs ? before : NULL));
    }
    lgt_exec_submit(exec, &nodes[i].task);
    submitted++;
    if (random_below(10) == 0) { /* look at one in the middle of it all */
      node *some = &nodes[random_below(submitted)];
      lgt_exec_wait(exec, &some->task);
      check_node(some);
    }
  }
  for (int i = n - 1; i >= 0; i--) {
    lgt_exec_wait(exec, &nodes[i].task);
    check_node(&nodes[i]);
  }
  for (int i = 0; i < n; i++) lgt_exec_forget(&nodes[i].task);
}

static void graphs(int cpus, bool may_fail) {
  lgt_exec *exec;
  int64_t live = lgt_mem_live();
  CHECK(!lgt_exec_new(cpus, &exec));
  CHECK_EQ(lgt_exec_cpus(exec), cpus);
  for (int round = 0; round < 60 && !check_failed; round++) random_graph(exec, may_fail);
  CHECK_EQ(atomic_load(&mistakes), 0);
  lgt_exec_free(exec);
  CHECK_EQ(lgt_mem_live(), live);
}

TEST(one_thread) { graphs(1, false); }
TEST(two_threads) { graphs(2, false); }
TEST(four_threads) { graphs(4, false); }
TEST(failures_on_one_thread) { graphs(1, true); }
TEST(failures_on_two_threads) { graphs(2, true); }
TEST(failures_on_four_threads) { graphs(4, true); }

/* Chunks of one task run on several threads at once: each waits for the other. */
static atomic_int meeting;
static lgt_status meet(lgt_step *step, int chunk) {
  (void)step, (void)chunk;
  atomic_fetch_add(&meeting, 1);
  for (int i = 0; i < 500000 && atomic_load(&meeting) < 2; i++) usleep(10);
  return LGT_OK;
}

TEST(the_waiting_thread_works_too) {
  lgt_exec *exec;
  CHECK(!lgt_exec_new(2, &exec));
  for (int round = 0; round < 20; round++) {
    lgt_step step = {2, NULL, meet, NULL, NULL, NULL};
    lgt_task task = {.step = &step, .nstep = 1, .cost = 1 << 30};
    atomic_store(&meeting, 0);
    lgt_task_init(&task);
    lgt_exec_submit(exec, &task);
    lgt_exec_wait(exec, &task);
    CHECK_EQ(atomic_load(&meeting), 2);
    lgt_exec_forget(&task);
  }
  lgt_exec_free(exec);
}

/* ---- on which cores ------------------------------------------------------------------------------------------- */

/* Where the two chunks of a task ran. */
typedef struct places {
  atomic_int meeting;
  int cpu[2];
  bool script[2]; /* was it the submitting thread? */
  pthread_t submits;
} places;

static lgt_status note_place(lgt_step *step, int chunk) {
  places *p = step->data;
  atomic_fetch_add(&p->meeting, 1);
  for (int i = 0; i < 500000 && atomic_load(&p->meeting) < 2; i++) usleep(10);
  p->cpu[chunk] = sched_getcpu();
  p->script[chunk] = pthread_equal(pthread_self(), p->submits);
  return LGT_OK;
}

/* The core on which the worker of two threads is; -1: it did nothing. */
static int core_of_worker(lgt_exec *exec) {
  places p = {.submits = pthread_self()};
  lgt_step step = {2, NULL, note_place, NULL, NULL, &p};
  lgt_task task = {.step = &step, .nstep = 1, .cost = 1 << 30};
  lgt_task_init(&task);
  lgt_exec_submit(exec, &task);
  lgt_exec_wait(exec, &task);
  lgt_exec_forget(&task);
  return p.script[0] != p.script[1] ? p.cpu[p.script[0]] : -1;
}

static void stay_on(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}

TEST(a_worker_leaves_the_core_of_the_script) {
  cpu_set_t all;
  lgt_exec *exec;
  CHECK(!sched_getaffinity(0, sizeof all, &all));
  if (CPU_COUNT(&all) < 2) {
    printf("skip a_worker_leaves_the_core_of_the_script: there is one core\n");
    return;
  }
  CHECK(!lgt_exec_new(2, &exec));
  int at = core_of_worker(exec);
  CHECK(at >= 0);
  for (int round = 0; round < 10; round++) {
    int before = at;
    stay_on(at);
    at = core_of_worker(exec);
    CHECK(at >= 0 && at != before);
  }
  CHECK(!sched_setaffinity(0, sizeof all, &all));
  lgt_exec_free(exec);
}

TEST(a_task_without_steps_is_done) {
  lgt_exec *exec;
  CHECK(!lgt_exec_new(2, &exec));
  lgt_task task = {.cost = 1 << 30};
  lgt_task_init(&task);
  lgt_exec_submit(exec, &task);
  lgt_exec_wait(exec, &task);
  CHECK(lgt_task_done(&task) && !task.status);
  lgt_exec_forget(&task);
  lgt_exec_free(exec);
}

TEST(all_usable_cpus_by_default) {
  lgt_exec *exec;
  CHECK(!lgt_exec_new(0, &exec));
  CHECK(lgt_exec_cpus(exec) >= 1 && lgt_exec_cpus(exec) <= sysconf(_SC_NPROCESSORS_CONF));
  lgt_exec_free(exec);
  lgt_exec_free(NULL);
}

/* ---- from step to step ------------------------------------------------------------------------------------- */

enum { SHORT_STEPS = 60, SHORT_CHUNKS = 5 };

/* A task that is gone as soon as it is done: its memory is overwritten then, and freed. */
typedef struct brief {
  lgt_task task;
  lgt_step step[SHORT_STEPS];
  int count[SHORT_STEPS][SHORT_CHUNKS]; /* one more than in any chunk of the step before */
} brief;

static lgt_status add_one(lgt_step *step, int chunk) {
  brief *b = step->data;
  int at = (int)(step - b->step), most = 0;
  for (int c = 0; at && c < b->step[at - 1].nchunk; c++)
    if (b->count[at - 1][c] > most) most = b->count[at - 1][c];
  b->count[at][chunk] += most + 1;
  return LGT_OK;
}

static brief *brief_new(lgt_exec *exec) {
  brief *b = calloc(1, sizeof *b);
  for (int s = 0; s < SHORT_STEPS; s++)
    b->step[s] = (lgt_step){1 + random_below(SHORT_CHUNKS), NULL, add_one, NULL, NULL, b};
  b->task.step = b->step, b->task.nstep = SHORT_STEPS, b->task.cost = 1 << 30;
  lgt_task_init(&b->task);
  lgt_exec_submit(exec, &b->task);
  return b;
}

static void brief_end(lgt_exec *exec, brief *b) {
  lgt_exec_wait(exec, &b->task);
  for (int s = 0; s < SHORT_STEPS; s++)
    for (int c = 0; c < b->step[s].nchunk; c++) CHECK_EQ(b->count[s][c], s + 1);
  lgt_exec_forget(&b->task);
  memset(b, 0xa5, sizeof *b);
  free(b);
}

TEST(steps_follow_one_another_and_a_done_task_is_let_go) {
  lgt_exec *exec;
  CHECK(!lgt_exec_new(4, &exec));
  for (int round = 0; round < 400 && !check_failed; round++) {
    brief *first = brief_new(exec), *second = brief_new(exec);
    brief_end(exec, round % 2 ? first : second);
    brief_end(exec, round % 2 ? second : first);
  }
  lgt_exec_free(exec);
}

/* Steps of a single chunk stay with the thread that has done the one before, although others look for work. */
static atomic_int changes;
static pthread_t at_work;
static lgt_status note_thread(lgt_step *step, int chunk) {
  (void)chunk;
  if (step->data && !pthread_equal(at_work, pthread_self())) atomic_fetch_add(&changes, 1);
  at_work = pthread_self();
  for (int i = 0; i < 100; i++) __builtin_ia32_pause();
  return LGT_OK;
}

TEST(a_thread_goes_through_steps_of_one_chunk) {
  lgt_exec *exec;
  CHECK(!lgt_exec_new(4, &exec));
  for (int round = 0; round < 50; round++) {
    lgt_step step[SHORT_STEPS];
    for (int s = 0; s < SHORT_STEPS; s++)
      step[s] = (lgt_step){1, NULL, note_thread, NULL, NULL, s ? step : NULL};
    lgt_task task = {.step = step, .nstep = SHORT_STEPS, .cost = 1 << 30};
    lgt_task_init(&task);
    lgt_exec_submit(exec, &task);
    lgt_exec_wait(exec, &task);
    lgt_exec_forget(&task);
  }
  CHECK_EQ(atomic_load(&changes), 0);
  lgt_exec_free(exec);
}

/* ---- interruption ---------------------------------------------------------------------------------------- */

static lgt_exec *interrupted_exec;
static atomic_int held, holding;

static lgt_status hold(lgt_step *step, int chunk) {
  (void)step, (void)chunk;
  atomic_store(&holding, 1);
  while (atomic_load(&held)) usleep(100);
  return LGT_OK;
}

static void on_alarm(int number) {
  (void)number;
  lgt_exec_interrupt(interrupted_exec, true);
}

/* A signal ends the wait for a task that runs on another thread; the task goes on and can be waited for. */
static void a_wait_is_interrupted(void) {
  lgt_step step = {.nchunk = 1, .run = hold};
  lgt_task task = {.step = &step, .nstep = 1, .cost = 1 << 30};
  CHECK(!lgt_exec_new(2, &interrupted_exec));
  atomic_store(&held, 1);
  lgt_task_init(&task);
  lgt_exec_submit(interrupted_exec, &task);
  while (!atomic_load(&holding)) usleep(100);
  signal(SIGALRM, on_alarm);
  setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {.tv_usec = 20000}}, NULL);
  CHECK(!lgt_exec_look(interrupted_exec, &task));
  CHECK(!lgt_exec_look(interrupted_exec, &task)); /* and at once from now on */
  CHECK(!lgt_task_done(&task));
  lgt_exec_interrupt(interrupted_exec, false);
  atomic_store(&held, 0);
  CHECK(lgt_exec_look(interrupted_exec, &task));
  CHECK(task.status == LGT_OK);
  lgt_exec_interrupt(interrupted_exec, true);
  CHECK(lgt_exec_look(interrupted_exec, &task)); /* nothing to wait for */
  lgt_exec_forget(&task);
  lgt_exec_free(interrupted_exec);
}

/* The waiting thread leaves a task on which it works itself after the chunk in which it is interrupted. */
static int chunks_run;
static lgt_status interrupt(lgt_step *step, int chunk) {
  (void)step, (void)chunk;
  chunks_run++;
  lgt_exec_interrupt(interrupted_exec, true);
  return LGT_OK;
}

TEST(an_interrupt_leaves_the_other_chunks) {
  CHECK(!lgt_exec_new(1, &interrupted_exec));
  lgt_step step[3];
  for (int s = 0; s < 3; s++) step[s] = (lgt_step){1 + s % 2, NULL, interrupt, NULL, NULL, NULL};
  lgt_task task = {.step = step, .nstep = 3, .cost = 1 << 30};
  lgt_task_init(&task);
  lgt_exec_submit(interrupted_exec, &task);
  for (int n = 1; n <= 4; n++) {
    CHECK_EQ(lgt_exec_look(interrupted_exec, &task), n == 4);
    CHECK_EQ(chunks_run, n);
    lgt_exec_interrupt(interrupted_exec, false);
  }
  CHECK(lgt_task_done(&task));
  lgt_exec_forget(&task);
  lgt_exec_free(interrupted_exec);
}

int main(void) {
  RUN(a_wait_is_interrupted);
  RUN(one_thread);
  RUN(two_threads);
  RUN(four_threads);
  RUN(failures_on_one_thread);
  RUN(failures_on_two_threads);
  RUN(failures_on_four_threads);
  RUN(the_waiting_thread_works_too);
  RUN(a_worker_leaves_the_core_of_the_script);
  RUN(a_task_without_steps_is_done);
  RUN(all_usable_cpus_by_default);
  RUN(steps_follow_one_another_and_a_done_task_is_let_go);
  RUN(a_thread_goes_through_steps_of_one_chunk);
  RUN(an_interrupt_leaves_the_other_chunks);
  return check_done();
}
