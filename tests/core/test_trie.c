/* test_trie.c - traces in a trie, and the stream that goes along them: against looking at all strings. */
#include "trace/trie.h"

#include "check.h"
#include "loops.h"

enum { MOST = 1000 };

static int tokens_of(const char *text, uint64_t *token) {
  int n = (int)strlen(text);
  for (int i = 0; i < n; i++) token[i] = (uint64_t)(unsigned char)text[i] * 0x9e3779b97f4a7c15u;
  return n;
}

static lgt_trace *add(lgt_trie *trie, const char *text, bool look) {
  uint64_t token[MOST];
  bool made;
  int evicted, n = tokens_of(text, token);
  if (lgt_trie_add(trie, token, n, look, 1, &made, &evicted) || !made) return NULL;
  return trie->trace[trie->count - 1];
}

/* How much of the end of a text is the beginning of a trace? */
static int depth_of(const lgt_trie *trie, const uint64_t *token, int n) {
  int deepest = 0;
  for (int t = 0; t < trie->count; t++)
    for (int d = deepest + 1; d <= n && d <= trie->trace[t]->length; d++)
      if (!memcmp(trie->trace[t]->token, token + n - d, (size_t)d * sizeof *token)) deepest = d;
  return deepest;
}

/* Does the match lie where its trace is? */
static bool fits(const lgt_match *match, const uint64_t *token) {
  return match->end - match->start == match->trace->length &&
         !memcmp(token + match->start, match->trace->token, (size_t)match->trace->length * sizeof *token);
}

TEST(the_state_is_the_longest_pointer) {
  int deep = 0, held = 0;
  for (int turn = 0; turn < 2000; turn++) {
    lgt_trie trie;
    uint64_t token[60];
    lgt_trie_init(&trie, MOST);
    int n = 1 + random_below(60), letters = 1 + random_below(3);
    for (int k = random_below(6); k >= 0; k--) {
      char text[13];
      int length = 1 + random_below(12);
      for (int i = 0; i < length; i++) text[i] = (char)('a' + random_below(letters));
      text[length] = 0;
      add(&trie, text, random_below(3) == 0);
    }
    CHECK(!lgt_trie_build(&trie, 0));
    for (int i = 0; i < n; i++) {
      token[i] = (uint64_t)('a' + random_below(letters)) * 0x9e3779b97f4a7c15u;
      lgt_trie_feed(&trie, token[i], 1);
      CHECK_EQ(lgt_trie_depth(&trie), depth_of(&trie, token, i + 1));
      deep += lgt_trie_depth(&trie) > 2;
      if (!trie.held.trace) continue;
      CHECK(fits(&trie.held, token) && !trie.held.trace->look);
      held++;
    }
    lgt_trie_look(&trie);
    CHECK(!trie.held.trace || fits(&trie.held, token));
    CHECK(!trie.held.trace || !trie.held.trace->look || trie.held.end == n);
    lgt_trie_fini(&trie);
  }
  CHECK(deep > 10000 && held > 10000);
}

/* What the text is taken apart into: letters by themselves, and traces in brackets. */
static const char *parts(lgt_trie *trie, const char *text, bool look) {
  static char out[200];
  uint64_t token[MOST];
  int n = tokens_of(text, token), used = 0, at = 0;
  lgt_trie_restart(trie, 0);
  for (bool over = false; !over;) {
    while (trie->position < n && !lgt_trie_settled(trie)) lgt_trie_feed(trie, token[trie->position], 1);
    over = trie->position == n && !lgt_trie_settled(trie);
    if (over && look) lgt_trie_look(trie);
    lgt_match held = trie->held;
    if (!held.trace) break;
    used += sprintf(out + used, "%.*s(%.*s)", (int)held.start - at, text + at, held.trace->length,
                    text + held.start);
    at = (int)held.end;
    lgt_trie_restart(trie, at);
    over = false;
  }
  sprintf(out + used, "%s", text + at);
  return out;
}

TEST(the_longest_trace_that_begins_first) {
  lgt_trie trie;
  lgt_trie_init(&trie, MOST);
  CHECK(add(&trie, "abc", false) && add(&trie, "abcabc", false) && add(&trie, "xab", false));
  CHECK(!add(&trie, "abc", false));
  CHECK(!lgt_trie_build(&trie, 0));
  CHECK_TEXT(parts(&trie, "", true), "");
  CHECK_TEXT(parts(&trie, "abcabcabcabca", false), "(abcabc)(abcabc)a");
  CHECK_TEXT(parts(&trie, "abcabcabcab", false), "(abcabc)(abc)ab");
  CHECK_TEXT(parts(&trie, "abcabyabc", false), "(abc)aby(abc)");
  CHECK_TEXT(parts(&trie, "qxabcabc", false),
             "q(xab)c(abc)"); /* a longer one that begins later is not waited for */
  CHECK_TEXT(parts(&trie, "xabxab", false), "(xab)(xab)");
  lgt_trie_fini(&trie);
}

TEST(traces_that_end_in_looks) {
  lgt_trie trie;
  lgt_trie_init(&trie, MOST);
  CHECK(add(&trie, "abc", true) && add(&trie, "abca", false) && add(&trie, "bcbc", true));
  CHECK(!lgt_trie_build(&trie, 0));
  CHECK_TEXT(parts(&trie, "abc", false), "abc");
  CHECK_TEXT(parts(&trie, "abc", true), "(abc)");
  CHECK_TEXT(parts(&trie, "abcb", true), "abcb");
  CHECK_TEXT(parts(&trie, "abcabc", true), "(abca)bc");
  CHECK_TEXT(parts(&trie, "abcaabc", true), "(abca)(abc)");
  CHECK_TEXT(parts(&trie, "xbcbc", true), "x(bcbc)");
  lgt_trie_fini(&trie);
}

/* The traces that n tokens are cut into, by feeding each or (`again`) by looking first whether the last one comes again. */
static int cut(lgt_trie *trie, const uint64_t *token, int n, bool again, lgt_match *out, int *told) {
  int count = 0;
  trie->straight = NULL;
  lgt_trie_restart(trie, 0);
  while (trie->position < n) {
    lgt_match match = {0};
    if (again) match = lgt_trie_again(trie, token + trie->position, n - trie->position, false);
    if (match.trace) {
      lgt_trie_restart(trie, match.end);
      ++*told;
    } else {
      while (!lgt_trie_settled(trie) && trie->position < n) lgt_trie_feed(trie, token[trie->position], 1);
      if (!lgt_trie_settled(trie)) break;
      match = lgt_trie_take(trie, true);
    }
    out[count++] = match;
  }
  return count;
}

TEST(a_trace_that_comes_again_is_told_at_once) {
  enum { N = 200 };
  int told = 0;
  for (int round = 0; round < 3000; round++) {
    lgt_trie trie;
    uint64_t token[N];
    lgt_match fed[N], seen[N];
    char text[8];
    lgt_trie_init(&trie, 1000);
    int letters = 2 + (int)random_below(2), period = 1 + (int)random_below(6);
    for (int t = 0; t < 4; t++) {
      int length = 1 + (int)random_below(6);
      for (int i = 0; i < length; i++) text[i] = (char)('a' + random_below((uint64_t)letters));
      text[length] = 0;
      add(&trie, text, false);
    }
    CHECK(!lgt_trie_build(&trie, 0));
    for (int i = 0; i < N; i++) { /* a loop, now and then another launch */
      bool other = i < period || random_below(30) == 0;
      token[i] = other ? (97 + random_below((uint64_t)letters)) * 0x9e3779b97f4a7c15u : token[i - period];
    }
    int n = cut(&trie, token, N, false, fed, &told), m = cut(&trie, token, N, true, seen, &told);
    CHECK_EQ(m, n);
    for (int i = 0; i < n && i < m; i++)
      CHECK(fed[i].start == seen[i].start && fed[i].end == seen[i].end && fed[i].trace == seen[i].trace);
    lgt_trie_fini(&trie);
  }
  CHECK(told > 10000);
}

TEST(scores_are_capped_and_decay) {
  lgt_trace often = {.length = 10, .count = 1000 * LGT_TRACE_ONCE},
            better = {.length = 20, .count = 64 * LGT_TRACE_ONCE};
  CHECK(lgt_trace_score(&better, 0) == 2 * lgt_trace_score(&often, 0));
  CHECK(lgt_trace_score(&better, 100000) < lgt_trace_score(&better, 0) / 1000);
  CHECK_EQ(lgt_trace_score(&better, INT64_MAX / 2), 0);
  lgt_trace once = {.length = 10, .count = LGT_TRACE_ONCE}, recorded = once;
  recorded.recorded = true;
  CHECK(lgt_trace_score(&recorded, 0) > lgt_trace_score(&once, 0));
  int64_t before = lgt_trace_score(&once, 0);
  lgt_trace_seen(&once, 10);
  CHECK(once.recorded && lgt_trace_score(&once, 10) > 2 * before);
}

TEST(the_least_score_makes_room) {
  lgt_trie trie;
  uint64_t token[MOST];
  bool made;
  int evicted, n = tokens_of("mnopqr", token);
  lgt_trie_init(&trie, 12);
  CHECK(add(&trie, "abcd", false) && add(&trie, "efgh", false));
  lgt_trace_seen(trie.trace[0], 0);
  CHECK(!lgt_trie_add(&trie, token, n, false, 1, &made, &evicted) && made);
  CHECK(evicted == 1 && trie.count == 2 && trie.tokens == 10 &&
        trie.trace[0]->token[0] != trie.trace[1]->token[0]);
  CHECK_EQ(trie.trace[0]->id, 1);
  CHECK(!lgt_trie_build(&trie, 0));
  CHECK_TEXT(parts(&trie, "efghabcdmnopqr", false), "efgh(abcd)(mnopqr)");
  n = tokens_of("longer than all room", token);
  CHECK(!lgt_trie_add(&trie, token, n, false, 1, &made, &evicted) && !made && !evicted);
  lgt_trie_fini(&trie);
}

TEST(without_memory) {
  int failed = 0;
  int64_t live = lgt_mem_live();
  for (int at = 1; at < 8; at++) {
    lgt_trie trie;
    uint64_t token[MOST];
    bool made;
    int evicted, n = tokens_of("abc", token);
    lgt_trie_init(&trie, MOST);
    lgt_mem_fail_at(at);
    lgt_status status = lgt_trie_add(&trie, token, n, false, 1, &made, &evicted);
    if (!status) status = lgt_trie_build(&trie, 0);
    lgt_mem_fail_at(0);
    failed += status == LGT_NO_MEMORY;
    if (status) CHECK_TEXT(parts(&trie, "abc", true), "abc");
    lgt_trie_fini(&trie);
  }
  CHECK(failed > 3);
  CHECK_EQ(lgt_mem_live(), live);
}

int main(void) {
  RUN(the_state_is_the_longest_pointer);
  RUN(the_longest_trace_that_begins_first);
  RUN(traces_that_end_in_looks);
  RUN(a_trace_that_comes_again_is_told_at_once);
  RUN(scores_are_capped_and_decay);
  RUN(the_least_score_makes_room);
  RUN(without_memory);
  return check_done();
}
