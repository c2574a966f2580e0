/* test_runs.c - sets of positions against bitmaps, position by position. */
#include "check.h"
#include "loops.h"
#include "base/mem.h"
#include "base/runs.h"

enum { FIRST = 70, MOST = 300 };

static bool holds(const lgt_runs *runs, int64_t position) {
  for (int64_t i = 0; i < runs->count; i++)
    if (position >= runs->run[i][0] && position < runs->run[i][1]) return true;
  return false;
}

/* Ascending, not empty, apart, and counted. */
static bool sound(const lgt_runs *runs) {
  int64_t total = 0;
  for (int64_t i = 0; i < runs->count; i++) {
    if (runs->run[i][0] >= runs->run[i][1]) return false;
    if (i > 0 && runs->run[i][0] <= runs->run[i - 1][1]) return false;
    total += runs->run[i][1] - runs->run[i][0];
  }
  return total == runs->total;
}

/* Runs of random lengths, long ones too, so that words of bits are full and empty. */
static int64_t some_bits(uint64_t *bits, bool *has) {
  int64_t n = random_below(MOST) + 1;
  bool set = random_below(2);
  memset(bits, 0, MOST / 8 + 8);
  for (int64_t i = 0, left = 0; i < n; i++, left--) {
    if (left <= 0) set = !set, left = random_below(4) ? 1 + random_below(5) : 1 + random_below(150);
    has[i] = set;
    if (set) bits[i / 64] |= 1ull << i % 64;
  }
  return n;
}

/* Are those of `merged` the runs, and exactly the gaps that are smaller than `gap`? */
static bool is_merged(const lgt_runs *runs, const lgt_runs *merged, int64_t gap) {
  int64_t from = -1; /* behind the last one that was seen */
  if (!sound(merged)) return false;
  for (int64_t i = 0; i < runs->count; i++) {
    const int64_t *run = runs->run[i];
    bool bridged = from >= 0 && run[0] - from < gap;
    for (int64_t k = from; from >= 0 && k < run[0]; k++)
      if (holds(merged, k) != bridged) return false;
    for (int64_t k = run[0]; k < run[1]; k++)
      if (!holds(merged, k)) return false;
    from = run[1];
  }
  return !runs->count || merged->run[merged->count - 1][1] == from;
}

TEST(bits_become_runs) {
  for (int turn = 0; turn < 3000; turn++) {
    uint64_t bits[MOST / 64 + 2];
    bool has[MOST];
    int64_t n = some_bits(bits, has);
    lgt_runs *runs = lgt_runs_of_bits(bits, FIRST, n);
    CHECK(runs && sound(runs));
    for (int64_t i = 0; i < n; i++) CHECK(holds(runs, FIRST + i) == has[i]);
    CHECK(!holds(runs, FIRST - 1) && !holds(runs, FIRST + n));
    int64_t lo = FIRST + random_below(MOST) - 20, hi = lo + random_below(MOST);
    lgt_runs *within = lgt_runs_within(runs, lo, hi);
    CHECK(within && sound(within));
    for (int64_t i = FIRST - 30; i < FIRST + MOST + 30; i++)
      CHECK(holds(within, i) == (holds(runs, i) && i >= lo && i < hi));
    static const int64_t steps[] = {1, -1, 2, -3};
    for (int k = 0; k < 4; k++) {
      int64_t begin = 2000, step = steps[k];
      lgt_runs *along = lgt_runs_along(runs, begin, step);
      CHECK(along && along->total == runs->total);
      for (int64_t i = 0; i < n; i++) CHECK(holds(along, begin + (FIRST + i) * step) == has[i]);
      for (int64_t i = 1; i < along->count; i++) CHECK(along->run[i][0] >= along->run[i - 1][1]);
      lgt_runs_release(along);
    }
    for (int64_t gap = 1; gap < 200; gap = 3 * gap + 1) {
      lgt_runs *merged = lgt_runs_merged(runs, gap);
      CHECK(merged && is_merged(runs, merged, gap));
      lgt_runs_release(merged);
    }
    lgt_runs_release(within);
    lgt_runs_release(runs);
  }
}

TEST(memory_may_run_out) {
  uint64_t bits[1] = {0xf0f};
  int64_t live = lgt_mem_live();
  lgt_runs *runs = lgt_runs_of_bits(bits, 0, 64);
  CHECK(runs);
  lgt_mem_fail_at(1);
  CHECK(!lgt_runs_of_bits(bits, 0, 64));
  lgt_mem_fail_at(1);
  CHECK(!lgt_runs_within(runs, 0, 8));
  lgt_mem_fail_at(1);
  CHECK(!lgt_runs_along(runs, 0, 2));
  lgt_mem_fail_at(1);
  CHECK(!lgt_runs_merged(runs, 2));
  lgt_mem_fail_at(0);
  lgt_runs_release(lgt_runs_retain(runs));
  lgt_runs_release(runs);
  CHECK_EQ(lgt_mem_live(), live);
}

int main(void) {
  RUN(bits_become_runs);
  RUN(memory_may_run_out);
  return check_done();
}
