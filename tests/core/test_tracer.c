/* test_tracer.c - windows along traces: the tracer drives a stream that is cut as a flush would cut it. */
#include "trace/tracer.h"

#include "check.h"
#include "loops.h"

enum { ROOM = 100000, WINDOW = 32 };

static lgt_config *config_of(const char *jitter) {
  lgt_config *config;
  if (lgt_config_new(&config)) return NULL;
  lgt_config_set(config, "trace", "1");
  lgt_config_set(config, "trace_sample", "50");
  lgt_config_set(config, "jitter", jitter);
  return config;
}

/* What became of a stream: each window's length, negative ones were traces. */
static int window[ROOM], nwindow;
static uint64_t stream[ROOM];
/* Of a hundred windows that go along a trace, how many have a plan that was recorded: that is each rank's own affair.
 * -1: nobody plans. */
static int replayed_of_100 = -1;

/* The window gets a plan, which serves once. */
static void plan(lgt_tracer *tracer, uint64_t *token, const lgt_cut *cut, int length, bool look) {
  lgt_window w = {.token = token, .count = length};
  lgt_plan once = {.guessed = true};
  if (cut->trace && random_below(100) < replayed_of_100) lgt_tracer_replayed(tracer, cut->trace);
  lgt_tracer_planned(tracer, &w, length, look, cut->trace, &once, 1);
}

/* Tokens; 0 is a look.  `unlike`: without traces, windows have 20 launches. */
static lgt_status run(lgt_tracer *tracer, const uint64_t *token, int n) {
  uint64_t waiting[2 * WINDOW];
  int count = 0;
  nwindow = 0;
  for (int i = 0; i < n; i++) {
    bool look = token[i] == 0;
    if (!look) waiting[count++] = token[i];
    while (count && (look || count >= WINDOW)) {
      lgt_cut cut = lgt_tracer_cut(tracer, waiting, count, look);
      int length = cut.count ? cut.count : cut.most < 20 ? cut.most : 20;
      if (length < 1 || length > count || (cut.trace && cut.trace->length != length)) return LGT_SYSTEM;
      if (cut.trace && memcmp(cut.trace->token, waiting, (size_t)length * sizeof *waiting)) return LGT_SYSTEM;
      if (cut.trace && cut.trace->look && !(look && length == count)) return LGT_SYSTEM;
      window[nwindow++] = cut.trace ? -length : length;
      if (replayed_of_100 >= 0) plan(tracer, waiting, &cut, length, look && length == count);
      lgt_tracer_dropped(tracer, length, cut.trace, 1, look && length == count);
      memmove(waiting, waiting + length, (size_t)(count -= length) * sizeof *waiting);
    }
  }
  return tracer->failed ? LGT_NO_MEMORY : LGT_OK;
}

static uint64_t token_of(int i) { return (uint64_t)(i + 1) * 0x9e3779b97f4a7c15u; }

/* Of the last `last` windows, the launches that went along traces, in percent. */
static int traced(int last) {
  int64_t sum = 0, all = 0;
  for (int i = nwindow > last ? nwindow - last : 0; i < nwindow; i++) {
    all += window[i] < 0 ? -window[i] : window[i];
    sum += window[i] < 0 ? -window[i] : 0;
  }
  return all ? (int)(100 * sum / all) : 0;
}

/* A loop of `period` launches, which looks every `every` turns (0: never). */
static int loop(int period, int every, int turns) {
  int n = 0;
  for (int t = 0; t < turns; t++) {
    for (int i = 0; i < period; i++) stream[n++] = token_of(i);
    if (every && t % every == every - 1) stream[n++] = 0;
  }
  return n;
}

TEST(loops_become_traces) {
  static const int every[] = {0, 1, 3, 7};
  lgt_config *config = config_of("0");
  for (int k = 0; k < 4; k++)
    for (int period = 2; period < 50; period += 1 + period / 3) {
      lgt_tracer tracer;
      CHECK(!lgt_tracer_init(&tracer, config));
      CHECK(!run(&tracer, stream, loop(period, every[k], 20000 / period)));
      if (traced(100) < 90) FAIL("period %d, a look every %d: %d %%", period, every[k], traced(100));
      CHECK(traced(nwindow) > 80);
      lgt_tracer_fini(&tracer);
    }
  lgt_config_free(config);
}

/* All ranks cut alike, however late their searches are, and whatever plans they have. */
TEST(ranks_cut_alike) {
  static int before[ROOM];
  int many = 0;
  for (int turn = 0; turn < 60; turn++) {
    int n = 0, count = 0;
    bool plans = turn % 2 == 0;
    while (n < 6000) { /* loops of all kinds, one behind the other */
      int period = 1 + random_below(30), first = random_below(40), every = random_below(4);
      for (int t = random_below(60); t > 0 && n < 6000; t--) {
        for (int i = 0; i < period; i++) stream[n++] = token_of(first + i % (1 + period / 2));
        if (random_below(30) == 0) stream[n++] = token_of(random_below(100));
        if (every && t % every == 0) stream[n++] = 0;
      }
    }
    for (int rank = 0; rank < 3; rank++) {
      lgt_tracer tracer;
      lgt_config *config = config_of(rank == 0 ? "0" : rank == 1 ? "5" : "77");
      CHECK(!lgt_tracer_init(&tracer, config));
      replayed_of_100 = plans ? 50 * rank : -1;
      CHECK(!run(&tracer, stream, n));
      if (rank) CHECK(count == nwindow && !memcmp(before, window, (size_t)count * sizeof *window));
      memcpy(before, window, (size_t)nwindow * sizeof *window);
      count = nwindow;
      many += traced(nwindow) > 30;
      lgt_tracer_fini(&tracer);
      lgt_config_free(config);
    }
  }
  replayed_of_100 = -1;
  CHECK(many > 60);
}

TEST(windows_that_grow_outgrow_their_traces) {
  lgt_config *config = config_of("0");
  lgt_tracer tracer;
  CHECK(!lgt_tracer_init(&tracer, config));
  CHECK(!run(&tracer, stream, loop(10, 0, 100)));
  CHECK(tracer.trie.count > 0 && traced(10) == 100);
  lgt_tracer_grew(&tracer, 64);
  CHECK(!run(&tracer, stream, loop(10, 0, 4)));
  CHECK_EQ(tracer.trie.count, 0);
  CHECK(tracer.stats.reason[LGT_TRACE_GREW] > 0);
  CHECK_EQ(lgt_tracer_ended(&tracer, true), tracer.stats.reason[LGT_TRACE_GREW]);
  lgt_tracer_fini(&tracer);
  lgt_config_free(config);
}

TEST(options_forget_traces_or_end_them) {
  lgt_config *config = config_of("0");
  lgt_tracer tracer;
  CHECK(!lgt_tracer_init(&tracer, config));
  CHECK(!run(&tracer, stream, loop(10, 1, 100)));
  CHECK(tracer.trie.count > 0);
  CHECK(!lgt_tracer_restart(&tracer, config));
  CHECK(tracer.trie.count == 0 && tracer.stats.reason[LGT_TRACE_OPTIONS] > 0);
  CHECK(!run(&tracer, stream, loop(10, 1, 100)));
  CHECK(traced(10) == 100);
  lgt_config_set(config, "trace", "0");
  CHECK(!lgt_tracer_restart(&tracer, config));
  CHECK(!run(&tracer, stream, loop(10, 0, 100)));
  CHECK_EQ(traced(nwindow), 0);
  lgt_tracer_fini(&tracer);
  lgt_config_free(config);
}

TEST(without_memory) {
  int64_t live = lgt_mem_live();
  int failed = 0;
  for (int at = 1; at < 40; at++) {
    lgt_config *config = config_of("0");
    lgt_tracer tracer;
    CHECK(!lgt_tracer_init(&tracer, config));
    lgt_mem_fail_at(at);
    failed += run(&tracer, stream, loop(10, 0, 50)) == LGT_NO_MEMORY;
    lgt_mem_fail_at(0);
    CHECK(nwindow > 10);
    lgt_tracer_fini(&tracer);
    lgt_config_free(config);
  }
  CHECK(failed > 10);
  CHECK_EQ(lgt_mem_live(), live);
}

int main(void) {
  RUN(loops_become_traces);
  RUN(ranks_cut_alike);
  RUN(windows_that_grow_outgrow_their_traces);
  RUN(options_forget_traces_or_end_them);
  RUN(without_memory);
  return check_done();
}
