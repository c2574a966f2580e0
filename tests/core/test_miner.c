/* test_miner.c - which windows the miner finds, and when: the same on all ranks, however fast their searches are. */
#include "trace/miner.h"

#include "check.h"
#include "loops.h"
#include "base/mem.h"

/* Windows are divided by '|' and '!' (where the script looked); a digit behind it says how the next one's stores repeat.  */
static int launches_of(const char *text, lgt_mined_launch *launch) {
  int n = 0, begin = 0;
  uint64_t pattern = 1;
  for (; *text; text++) {
    if (*text == '|' || *text == '!') {
      launch[begin].length = n - begin;
      launch[begin].look = *text == '!';
      launch[begin].pattern = pattern;
      begin = n;
      pattern = 1;
    } else if (*text >= '0' && *text <= '9') {
      pattern = (uint64_t)(*text - '0');
    } else {
      launch[n++] = (lgt_mined_launch){.token = (uint64_t)(unsigned char)*text * 0x9e3779b97f4a7c15u};
    }
  }
  return n;
}

static const char *found(const char *text, int shortest) {
  static char out[400];
  lgt_mined_launch launch[200];
  lgt_findings findings;
  int n = launches_of(text, launch), used = 0;
  out[0] = 0;
  if (!lgt_miner_search(launch, n, shortest, &findings)) return "failed";
  for (int i = 0; i < findings.count; i++) {
    const lgt_found *f = &findings.found[i];
    used += sprintf(out + used, "%s", i ? " " : "");
    for (int k = 0; k < f->length; k++)
      used += sprintf(out + used, "%c", (char)(f->token[k] * 0xf1de83e19937733du));
    used += sprintf(out + used, "%s*%d", f->look ? "!" : "", f->count);
  }
  lgt_findings_fini(&findings);
  return out;
}

TEST(windows_within_repeats) {
  CHECK_TEXT(found("", 2), "");
  CHECK_TEXT(found("ab|cd|ef|", 2), "");
  CHECK_TEXT(found("ab|ab|ab|ab|", 2), "ab*4");
  CHECK_TEXT(found("ab!ab!ab!ab!", 2), "ab!*4");
  CHECK_TEXT(found("ab!ab|ab!ab|", 2), "ab!*2 ab*2");
  CHECK_TEXT(found("abc|de|xabc|de|yabc|de|", 2), "abc*1 de*3"); /* x and y begin windows */
  CHECK_TEXT(found("abc|de|xabc|de|yabc|de|", 3), "abc*1");
  CHECK_TEXT(found("xab|cde|yabcde|", 2), "cde*1");     /* x begins the other one */
  CHECK_TEXT(found("ab|cde|yabcde|", 2), "ab*1 cde*1"); /* elsewhere they are cut in another way */
}

TEST(stores_of_two_windows_repeat_alike) {
  CHECK_TEXT(found("1ab|2ab|3ab|4ab|", 2), "");
  CHECK_TEXT(found("1ab|2ab|3ab|1ab|", 2), "ab*4");
}

/* A loop of `period` launches in windows of `window`, the miner of one rank.  What it finds goes into `seen`: places of the
 * stream, lengths and counts. */
static int run(uint64_t seed, int period, int window, int launches, bool traced, int64_t *seen,
               int64_t *wish) {
  lgt_miner *miner;
  int n = 0;
  if (lgt_miner_new(&(lgt_miner_options){.sample = 16, .history = 256, .shortest = 2, .seed = seed}, &miner))
    return -1;
  for (int at = 0; at < launches; at++) {
    for (const lgt_findings *f; (f = lgt_miner_due(miner));)
      for (int i = 0; i < f->count; i++) {
        seen[n++] = at;
        seen[n++] = f->found[i].length * 1000 + f->found[i].count;
        seen[n++] = (int64_t)f->found[i].token[0];
      }
    lgt_miner_token(miner, (uint64_t)(at % period) * 0x9e3779b97f4a7c15u);
    if ((at + 1) % window == 0 && !lgt_miner_window(miner, at + 1 - window, window, 7, false, traced))
      n = -1000;
  }
  *wish = lgt_miner_wish(miner);
  lgt_miner_free(miner);
  return n;
}

static int64_t here[1 << 16], there[1 << 16];

TEST(ranks_find_the_same_at_the_same_place) {
  int late = 0;
  for (int turn = 0; turn < 40; turn++) {
    int period = 1 + random_below(40), window = 2 + random_below(20), launches = 500 + random_below(1000);
    int64_t wish, other;
    int n = run(0, period, window, launches, false, here, &wish);
    int m = run((uint64_t)turn + 1, period, window, launches, false, there, &other);
    CHECK(n > 0);
    CHECK_EQ(n, m);
    CHECK(!memcmp(here, there, (size_t)n * sizeof *here));
    late += other > 128;
  }
  CHECK(late > 0);
}

TEST(long_loops_are_found_by_long_searches) {
  int64_t wish;
  for (int period = 4; period <= 112; period += 36) {
    int n = run(0, period, 4, 600, false, here, &wish);
    CHECK(n > 0);
    CHECK(here[0] >= period + 4 + 16); /* a window comes again, and then the search's time */
    CHECK(here[0] <= 4 * period + 16 + 128 + 16);
  }
  CHECK_EQ(run(0, 300, 4, 2000, false, here, &wish), 0); /* longer than what is searched */
}

/* How many searches of a stream that never repeats are taken in. */
static int searches(bool judge) {
  lgt_miner *miner;
  int n = 0;
  if (lgt_miner_new(&(lgt_miner_options){.sample = 16, .history = 256, .shortest = 2}, &miner)) return -1;
  for (int at = 0; at < 4096; at++) {
    for (const lgt_findings *f; (f = lgt_miner_due(miner)); n++)
      if (judge) lgt_miner_judge(miner, f->count > 0);
    lgt_miner_token(miner, (uint64_t)(at + 1) * 0x9e3779b97f4a7c15u);
    if (at % 4 == 3 && !lgt_miner_window(miner, at - 3, 4, 7, false, false)) n = -10000;
  }
  lgt_miner_free(miner);
  return n;
}

TEST(what_never_repeats_is_searched_less_and_less) {
  int often = searches(false), rarely = searches(true);
  CHECK(often > 200);
  CHECK(rarely > 10 && rarely < often / 6);
}

TEST(what_goes_along_traces_is_not_searched) {
  int64_t wish;
  CHECK_EQ(run(0, 8, 8, 2000, true, here, &wish), 0);
  CHECK_EQ(wish, 128);
}

TEST(without_memory) {
  int64_t live = lgt_mem_live();
  int failed = 0;
  for (int at = 1; at < 20; at++) {
    lgt_findings findings;
    lgt_mined_launch launch[20];
    int n = launches_of("ab|ab|ab|", launch);
    lgt_mem_fail_at(at);
    failed += !lgt_miner_search(launch, n, 2, &findings) && findings.failed;
    lgt_mem_fail_at(0);
    lgt_findings_fini(&findings);
  }
  CHECK(failed > 5);
  CHECK_EQ(lgt_mem_live(), live);
}

int main(void) {
  RUN(windows_within_repeats);
  RUN(stores_of_two_windows_repeat_alike);
  RUN(ranks_find_the_same_at_the_same_place);
  RUN(long_loops_are_found_by_long_searches);
  RUN(what_never_repeats_is_searched_less_and_less);
  RUN(what_goes_along_traces_is_not_searched);
  RUN(without_memory);
  return check_done();
}
