/* test_repeats.c - what repeats in streams of tokens, against what the finder promises, checked by looking everywhere. */
#include "trace/repeats.h"

#include "check.h"
#include "loops.h"
#include "base/mem.h"

enum { MOST = 400 };

static int tokens_of(const char *text, uint64_t *token) {
  int n = (int)strlen(text);
  for (int i = 0; i < n; i++) token[i] = (uint64_t)text[i];
  return n;
}

/* "string@place,place string@place ...": the longest first. */
static const char *written(const char *text, const lgt_repeats *r) {
  static char out[4000];
  int used = 0;
  out[0] = 0;
  for (int i = 0; i < r->count; i++) {
    const lgt_repeat *one = &r->repeat[i];
    used += sprintf(out + used, "%s%.*s@", i ? " " : "", one->length, text + r->place[one->first]);
    for (int k = 0; k < one->count; k++)
      used += sprintf(out + used, "%s%d", k ? "," : "", r->place[one->first + k]);
  }
  return out;
}

#define CHECK_REPEATS(text, shortest, longest, expected)                 \
  do {                                                                   \
    uint64_t token[MOST] = {0};                                          \
    lgt_repeats r;                                                       \
    int n = tokens_of(text, token);                                      \
    CHECK_EQ(lgt_repeats_find(token, n, shortest, longest, &r), LGT_OK); \
    CHECK_TEXT(written(text, &r), expected);                             \
    lgt_repeats_fini(&r);                                                \
  } while (0)

TEST(the_example_of_the_paper) { CHECK_REPEATS("aabcbcbaa", 2, 100, "aa@0,7 bc@2,4"); }

TEST(loops) {
  CHECK_REPEATS("", 1, 100, "");
  CHECK_REPEATS("a", 1, 100, "");
  CHECK_REPEATS("abcdef", 1, 100, "");
  CHECK_REPEATS("aa", 1, 100, "a@0,1");
  CHECK_REPEATS("xabcabcabcabcy", 3, 3, "abc@1,4,7,10");
  CHECK_REPEATS("xabcabcabcabcy", 3, 100, "abcabc@1,7");
  CHECK_REPEATS("abababa", 3, 100, "");
  CHECK_REPEATS("pabcdeqabcderabcde", 4, 100, "abcde@1,7,13");
  CHECK_REPEATS("pabcdeqabcderabcde", 6, 100, "");
  CHECK_REPEATS("aaaaaaaa", 1, 3, "aaa@0,3 aa@6");
}

/* Does a string occur at two places that do not overlap? */
static bool occurs_twice(const uint64_t *token, int n, int start, int length) {
  for (int i = 0; i + length <= n; i++)
    if ((i + length <= start || start + length <= i) &&
        !memcmp(token + i, token + start, (size_t)length * sizeof *token))
      return true;
  return false;
}

/* What repeats.h promises. */
static bool sound(const uint64_t *token, int n, int shortest, int longest, const lgt_repeats *r) {
  bool taken[MOST] = {false};
  for (int i = 0; i < r->count; i++) {
    const lgt_repeat *one = &r->repeat[i];
    int start = r->place[one->first];
    if (one->length < shortest || one->length > longest || one->count < 1) return false;
    if (i > 0 && one->length > r->repeat[i - 1].length) return false;
    if (!occurs_twice(token, n, start, one->length)) return false;
    for (int k = 0; k < one->count; k++) {
      int at = r->place[one->first + k];
      if (at < 0 || at + one->length > n || (k > 0 && at <= r->place[one->first + k - 1])) return false;
      if (memcmp(token + at, token + start, (size_t)one->length * sizeof *token)) return false;
      for (int t = at; t < at + one->length; t++) {
        if (taken[t]) return false;
        taken[t] = true;
      }
    }
    for (int k = 0; k < i; k++) {
      const lgt_repeat *other = &r->repeat[k];
      if (other->length == one->length &&
          !memcmp(token + r->place[other->first], token + start, (size_t)one->length * sizeof *token))
        return false;
    }
  }
  return true;
}

TEST(random_strings) {
  uint64_t token[MOST];
  int found = 0;
  for (int turn = 0; turn < 4000; turn++) {
    int n = random_below(turn % 10 ? 60 : MOST) + 1, letters = 1 + random_below(5);
    int shortest = 1 + random_below(6), longest = shortest + random_below(30);
    for (int i = 0; i < n; i++) token[i] = (uint64_t)random_below(letters) << 40;
    lgt_repeats r;
    CHECK_EQ(lgt_repeats_find(token, n, shortest, longest, &r), LGT_OK);
    CHECK(sound(token, n, shortest, longest, &r));
    found += r.count > 0;
    lgt_repeats_fini(&r);
  }
  CHECK(found > 2000);
}

/* A loop whose turns are disturbed now and then: most tokens of it are covered. */
TEST(a_loop_with_noise) {
  uint64_t token[MOST];
  for (int turn = 0; turn < 300; turn++) {
    int period = 5 + random_below(15), covered = 0, strange = 0;
    for (int i = 0; i < MOST; i++) {
      bool noise = random_below(100) == 0;
      token[i] = noise ? 1000 + (uint64_t)i : (uint64_t)(i % period);
      strange += noise;
    }
    lgt_repeats r;
    CHECK_EQ(lgt_repeats_find(token, MOST, 2, period, &r), LGT_OK);
    CHECK(sound(token, MOST, 2, period, &r));
    for (int i = 0; i < r.count; i++) covered += r.repeat[i].count * r.repeat[i].length;
    CHECK(covered >= MOST - 2 * (strange + 1) * period);
    lgt_repeats_fini(&r);
  }
}

static int64_t moves_for(int n, int period) {
  uint64_t *token = lgt_mem_alloc((size_t)n * sizeof *token);
  lgt_repeats r = {0};
  if (!token) return -1;
  for (int i = 0; i < n; i++) token[i] = period ? (uint64_t)(i % period) : random_bits();
  lgt_status status = lgt_repeats_find(token, n, 10, 5000, &r);
  int64_t moves = status ? -1 : r.moves;
  if (!period && r.count) moves = -1;
  if (period && !r.count) moves = -1;
  lgt_repeats_fini(&r);
  lgt_mem_free(token);
  return moves;
}

/* log2 of the length rounds of sorting, each a few moves a token, whatever repeats. */
TEST(the_work_is_n_log_n) {
  static const int period[] = {0, 1, 7, 1000};
  for (int p = 0; p < 4; p++)
    for (int bits = 10; bits <= 18; bits += 4) {
      int64_t n = (int64_t)1 << bits, moves = moves_for((int)n, period[p]);
      CHECK(moves > 0 && moves <= n * (2 * bits + 12));
    }
}

TEST(without_memory) {
  uint64_t token[MOST];
  int n = tokens_of("xabcabcabcabcy", token), failed = 0;
  int64_t live = lgt_mem_live();
  for (int at = 1; at < 10; at++) {
    lgt_repeats r;
    lgt_mem_fail_at(at);
    lgt_status status = lgt_repeats_find(token, n, 2, 10, &r);
    lgt_mem_fail_at(0);
    failed += status == LGT_NO_MEMORY;
    if (status) CHECK(!r.count && !r.repeat);
    lgt_repeats_fini(&r);
    CHECK_EQ(lgt_mem_live(), live);
  }
  CHECK_EQ(failed, 5);
}

int main(void) {
  RUN(the_example_of_the_paper);
  RUN(loops);
  RUN(random_strings);
  RUN(a_loop_with_noise);
  RUN(the_work_is_n_log_n);
  RUN(without_memory);
  return check_done();
}
