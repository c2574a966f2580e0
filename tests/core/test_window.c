/* test_window.c - launches become calls, windows are cut, and isomorphic windows have equal words.
 *
 * Isomorphism is decided here by trying to map the stores of one window to those of the other.
 */
#include "check.h"
#include "engine.h"
#include "loops.h"
#include "base/mem.h"
#include "model/partition.h"
#include "plan/window.h"

enum { ROOM = 256, KINDS = 3, LAYOUTS = 4, STORES = 8 };

static lgt_stores stores;
static lgt_kinds kinds;
static uint32_t layouts[LAYOUTS];
static lgt_partition key[2];

static void setup(void) {
  int64_t shape[] = {4, 5};
  layouts[0] = lgt_stores_dense(&stores, LGT_FLOAT64, 2, shape);
  layouts[1] = lgt_stores_slice(&stores, layouts[0], 0, 1, 3, 1);
  layouts[2] = lgt_stores_slice(&stores, layouts[0], 0, 0, 3, 1);
  layouts[3] = lgt_stores_transpose(&stores, layouts[0], (int[]){1, 0});
  static const char *const texts[KINDS] = {"c1 =0", "a1 exp =0", "a1 a2 add =0"};
  for (int k = 0; k < KINDS; k++) lgt_kinds_add_generator(&kinds, texts[k], body_of(LGT_FLOAT64, texts[k]));
}

/* A window made by hand; the stores are the caller's. */
static void push(lgt_window *w, int kind, const uint32_t *store, const uint32_t *layout) {
  lgt_call *call = &w->call[w->count];
  *call = (lgt_call){.kind = kinds.kind[kind + 1],
                     .kind_number = (uint16_t)(kind + 1),
                     .nargs = (uint8_t)kinds.kind[kind + 1]->nargs};
  for (int a = 0; a < call->nargs; a++) call->store[a] = store[a], call->layout[a] = layout[a];
  w->token[w->count++] = (uint64_t)kind;
}

/* ---- canonical form --------------------------------------------------------------------------------- */

static bool like(const lgt_store *a, const lgt_store *b) {
  return a->written == b->written && a->attached == b->attached && a->key == b->key;
}

static bool isomorphic(const lgt_window *a, const lgt_window *b) {
  uint32_t to[1000] = {0}, back[1000] = {0};
  if (a->count != b->count) return false;
  for (int i = 0; i < a->count; i++) {
    const lgt_call *x = &a->call[i], *y = &b->call[i];
    if (x->kind != y->kind) return false;
    for (int k = 0; k < x->nargs; k++) {
      uint32_t s = x->store[k], t = y->store[k];
      if (x->layout[k] != y->layout[k]) return false;
      if (!to[s] && !back[t] && like(&stores.store[s], &stores.store[t])) to[s] = t, back[t] = s;
      if (to[s] != t || back[t] != s) return false;
    }
  }
  return true;
}

static bool equal_words(const lgt_window *a, const lgt_window *b) {
  return a->nword == b->nword && !memcmp(a->word, b->word, (size_t)a->nword * sizeof *a->word);
}

TEST(isomorphic_windows_and_no_others_have_equal_words) {
  int equal = 0, differ = 0;
  for (int round = 0; round < 3000; round++) {
    lgt_window w[2];
    lgt_store *mine[2][STORES];
    CHECK(!lgt_window_init(&w[0], ROOM) && !lgt_window_init(&w[1], ROOM));
    for (int i = 0; i < STORES; i++) {
      mine[0][i] = lgt_store_new(&stores, layouts[0]);
      mine[0][i]->written = random_below(2);
      mine[0][i]->attached = random_below(8) == 0;
      mine[0][i]->key = random_below(3) ? NULL : &key[random_below(2)];
    }
    for (int i = STORES - 1; i >= 0; i--) { /* other numbers, the same properties */
      mine[1][i] = lgt_store_new(&stores, layouts[0]);
      mine[1][i]->written = mine[0][i]->written;
      mine[1][i]->attached = mine[0][i]->attached;
      mine[1][i]->key = mine[0][i]->key;
    }
    int n = 1 + random_below(12), altered = random_below(2) ? random_below(n) : -1;
    if (random_below(6) == 0) mine[1][random_below(STORES)]->written ^= true;
    for (int i = 0; i < n; i++) {
      int kind[2], what = random_below(4);
      uint32_t store[2][3], layout[2][3];
      kind[0] = kind[1] = random_below(KINDS);
      for (int a = 0; a < 3; a++) {
        int s = random_below(STORES);
        store[0][a] = mine[0][s]->id, store[1][a] = mine[1][s]->id;
        layout[0][a] = layout[1][a] = layouts[random_below(LAYOUTS)];
      }
      if (i == altered && what == 0) kind[1] = random_below(KINDS);
      if (i == altered && what == 1) layout[1][random_below(3)] = layouts[random_below(LAYOUTS)];
      if (i == altered && what > 1) store[1][random_below(3)] = mine[1][random_below(STORES)]->id;
      for (int k = 0; k < 2; k++) push(&w[k], kind[k], store[k], layout[k]);
    }
    if (random_below(10) == 0) w[1].count--;
    for (int k = 0; k < 2; k++) CHECK(lgt_window_canonical(&w[k], &stores, w[k].count));
    bool same = isomorphic(&w[0], &w[1]);
    CHECK_EQ(equal_words(&w[0], &w[1]), same);
    if (same) CHECK_EQ(w[0].hash, w[1].hash);
    if (same) CHECK_EQ(w[0].pattern, w[1].pattern);
    CHECK_EQ(lgt_window_compare(&w[1], &stores, w[1].count, w[0].word, w[0].nword, w[0].nroot) ==
                 LGT_NO_DIFFERENCE,
             same);
    if (!same) CHECK(lgt_window_canonical(&w[1], &stores, w[1].count));
    same ? equal++ : differ++;
    /* Roots are numbered by first use, and each use is counted. */
    int next = 0, uses[STORES] = {0};
    for (int i = 0; i < w[1].count; i++)
      for (int a = 0; a < w[1].call[i].nargs; a++) {
        const lgt_store *s = &stores.store[w[1].call[i].store[a]];
        if (s->number == next) CHECK_EQ(w[1].root[next++], s->id);
        CHECK(s->number < next);
        uses[s->number]++;
      }
    CHECK_EQ(w[1].nroot, next);
    for (int r = 0; r < next; r++) CHECK_EQ(stores.store[w[1].root[r]].uses, uses[r]);
    for (int k = 0; k < 2; k++) {
      lgt_window_fini(&w[k]);
      for (int i = 0; i < STORES; i++) lgt_store_recycle(&stores, mine[k][i]);
    }
  }
  CHECK(equal > 500 && differ > 500);
}

/* What nobody but the window refers to is not reachable. */
TEST(references_from_outside_are_told_from_the_windows_own) {
  lgt_window w;
  CHECK(!lgt_window_init(&w, ROOM));
  lgt_store *s = lgt_store_new(&stores, layouts[0]);
  for (int i = 0; i < 3; i++) push(&w, 2, (uint32_t[]){s->id, s->id, s->id}, layouts);
  s->refs = 9;
  CHECK(lgt_window_canonical(&w, &stores, 3));
  CHECK(!lgt_store_reachable(s));
  s->handles = 1;
  CHECK(lgt_store_reachable(s));
  s->handles = 0;
  CHECK(lgt_window_canonical(&w, &stores, 2)); /* the third call is not being planned */
  CHECK(lgt_store_reachable(s));
  lgt_store_recycle(&stores, s);
  lgt_window_fini(&w);
}

/* ---- cutting -------------------------------------------------------------------------------------------- */

static void tokens(lgt_window *w, const char *text) {
  w->formed = w->count = (int)strlen(text);
  memset(w->call, 0, (size_t)w->count * sizeof *w->call);
  for (int i = 0; i < w->count; i++)
    w->form_token[i] = w->token[i] = (uint64_t)(unsigned char)text[i] * 1234567891234567u;
}

TEST(a_window_ends_where_a_repetition_ends) {
  static const struct {
    const char *text;
    int cut;
  } cases[] = {
      {"abcabcabcab", 9}, {"xyabcabcabc", 11},      {"aaaaaaa", 7},
      {"ababababa", 8},   {"pqababababab", 12},     {"abcdabcdabcd", 12},
      {"xabababab", 9},   {"abccabccabccabcc", 16}, {"aabcaabcaabcaa", 12},
  };
  lgt_window w;
  int period;
  CHECK(!lgt_window_init(&w, ROOM));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tokens(&w, cases[i].text);
    int cut = lgt_window_cut(&w, &stores, false, &period);
    if (cut != cases[i].cut) FAIL("%s is cut at %d", cases[i].text, cut);
    CHECK_EQ(lgt_window_cut(&w, &stores, true, &period), (int)strlen(cases[i].text));
  }
  w.formed = w.count = 0;
  CHECK_EQ(lgt_window_cut(&w, &stores, false, &period), 0);
  CHECK_EQ(lgt_window_cut(&w, &stores, true, &period), 0);
  for (int n = 1; n < 4; n++) {
    tokens(&w, "abc");
    w.formed = w.count = n;
    CHECK(lgt_window_cut(&w, &stores, false, &period) >= 1 &&
          lgt_window_cut(&w, &stores, false, &period) <= n);
  }
  lgt_window_fini(&w);
}

/* A loop of `turns` launches runs for ever; how many different windows are there in the end? */
static int different_windows(int turns, int size) {
  lgt_window w;
  int64_t at = 0, seen[400];
  int nseen = 0, period;
  if (lgt_window_init(&w, ROOM)) return -1;
  for (int turn = 0; turn < 400; turn++) {
    if (!lgt_window_reserve(&w, size)) return -1;
    while (w.count < size) {
      uint64_t position = (uint64_t)((at + w.count) % turns);
      w.call[w.count] = (lgt_call){0};
      w.form_token[w.count] = w.token[w.count] = (position + 1) * 0x9e3779b97f4a7c15u ^ position << 7;
      w.formed = ++w.count;
    }
    int n = lgt_window_cut(&w, &stores, false, &period);
    if (n < 1 || n > size) return -1;
    int64_t name = at % turns * 1000 + n;
    bool known = turn < 100; /* settling in */
    for (int i = 0; i < nseen; i++) known |= seen[i] == name;
    if (!known) seen[nseen++] = name;
    lgt_window_drop(&w, n);
    at += n;
  }
  lgt_window_fini(&w);
  return nseen;
}

TEST(a_loop_soon_gives_the_same_windows) {
  for (int period = 1; period <= 32; period++) CHECK_EQ(different_windows(period, 64), 1);
  for (int period = 70; period < 200; period += 13) {
    int n = different_windows(period, 64); /* several landmarks for each turn of the loop */
    if (n < 1 || n > 2 * (period / 32 + 1)) FAIL("%d windows of a loop of %d", n, period);
  }
}

/* A chain of results, each computed from the one before it, but for one place: there nothing crosses, and the window is
 * cut, whatever the tokens. */
TEST(a_long_loop_is_cut_where_little_crosses) {
  enum { LENGTH = 64 };
  for (int place = LENGTH / 2 + 1; place < LENGTH - LENGTH / 8; place++) {
    lgt_window w;
    lgt_store *before = NULL, *made[LENGTH];
    int period;
    CHECK(!lgt_window_init(&w, ROOM));
    for (int i = 0; i < LENGTH; i++) {
      made[i] = lgt_store_new(&stores, layouts[0]);
      push(&w, i % place == 0 ? 0 : 1, (uint32_t[]){made[i]->id, before ? before->id : 0},
           (uint32_t[]){layouts[0], layouts[0]});
      w.form_token[i] = w.token[i] = (uint64_t)random_below(1 << 30);
      before = made[i];
    }
    w.formed = LENGTH;
    CHECK_EQ(lgt_window_cut(&w, &stores, false, &period), place);
    CHECK_EQ(period, 0);
    for (int i = 0; i < LENGTH; i++) lgt_store_recycle(&stores, made[i]);
    lgt_window_fini(&w);
  }
}

/* Two arrays change in part by turns, each by a result that is computed from the other.  Whichever array the next turn changes is
 * there in any case: the window ends where the result does not cross, although the turns behind it are not known. */
TEST(a_window_ends_where_no_result_crosses) {
  enum { LENGTH = 13 };
  lgt_window w;
  lgt_store *array[2] = {lgt_store_new(&stores, layouts[0]), lgt_store_new(&stores, layouts[0])},
            *made[LENGTH] = {0};
  CHECK(!lgt_window_init(&w, ROOM));
  for (int i = 0; i < LENGTH; i++) {
    lgt_store *from = array[i / 2 % 2], *to = array[1 - i / 2 % 2];
    made[i] = i % 2 ? made[i - 1] : lgt_store_new(&stores, layouts[0]);
    if (i % 2) push(&w, 1, (uint32_t[]){to->id, made[i]->id}, (uint32_t[]){layouts[1], layouts[0]});
    else push(&w, 1, (uint32_t[]){made[i]->id, from->id}, (uint32_t[]){layouts[0], layouts[1]});
  }
  CHECK_EQ(lgt_window_fit(&w, &stores, 11, 2), 10);
  for (int i = 0; i < LENGTH; i += 2) lgt_store_recycle(&stores, made[i]);
  for (int i = 0; i < 2; i++) lgt_store_recycle(&stores, array[i]);
  lgt_window_fini(&w);
}

/* ---- taking ----------------------------------------------------------------------------------------------- */

static lgt_front front;
static lgt_launch ring[32];

static lgt_id handle(uint32_t layout) {
  lgt_id id = front.free_ids[--front.nfree];
  front.handles[id] = (lgt_handle){0, layout};
  return id;
}

static uint32_t line; /* of a bad launch */

static void record(int kind, int nargs, const lgt_id *ids) {
  lgt_launch l = {.kind = (uint16_t)(kind + 1),
                  .nargs = (uint8_t)nargs,
                  .nparams = 1,
                  .line = 5 + front.count,
                  .param = {{.f = 2.5}}};
  memcpy(l.arg, ids, (size_t)nargs * sizeof *ids);
  front.launches[front.count++] = l;
}

TEST(launches_become_calls) {
  lgt_window w;
  CHECK(!lgt_window_init(&w, ROOM));
  front = (lgt_front){.handles = stores.handle, .free_ids = stores.free_handle, .launches = ring};
  CHECK(lgt_handles_refill(&stores, &front.nfree));
  front.max_id = stores.max_handle;
  lgt_id x = handle(layouts[0]), y = handle(layouts[0]);
  record(1, 2, (lgt_id[]){y, x});
  record(2, 3, (lgt_id[]){y, y, x});
  CHECK(!lgt_window_take(&w, &stores, &kinds, &front, &line));
  CHECK_EQ(front.count, 0);
  CHECK_EQ(w.count, 2);
  uint32_t sx = stores.handle[x].store, sy = stores.handle[y].store;
  CHECK(sx && sy && sx != sy);
  CHECK(w.call[0].store[0] == sy && w.call[0].store[1] == sx && w.call[1].store[1] == sy);
  CHECK(w.call[0].layout[0] == layouts[0] && w.call[0].line == 5 && w.call[0].param[0].f == 2.5);
  CHECK(stores.store[sx].refs == 2 && stores.store[sy].refs == 3);
  CHECK(stores.store[sx].handles == 1 && stores.store[sx].line == 5);
  CHECK(w.token[0] != w.token[1]);

  /* A view of the same store: another token. */
  lgt_id part = handle(layouts[1]);
  stores.handle[part].store = sx;
  record(1, 2, (lgt_id[]){y, part});
  record(1, 2, (lgt_id[]){y, x});
  CHECK(!lgt_window_take(&w, &stores, &kinds, &front, &line));
  CHECK(w.token[3] == w.token[0] && w.token[2] != w.token[0]);
  lgt_window_drop(&w, 3);
  CHECK(w.count == 1 && w.call[0].store[1] == sx && w.call[0].layout[1] == layouts[0]);
  lgt_window_drop(&w, 1);

  /* A bad one is dropped, and nothing else. */
  static const char *const words[] = {"kind 100 is not registered",
                                      "takes 2 arguments, 3 were given",
                                      "handle 0",
                                      "handle 4000000",
                                      "not in use",
                                      "was detached"};
  for (int bad = 0; bad < 6; bad++) {
    record(1, 2, (lgt_id[]){y, x});
    lgt_id none = front.free_ids[front.nfree - 1], ids[3] = {y, x, x};
    if (bad == 2) ids[1] = 0;
    if (bad == 3) ids[1] = 4000000;
    if (bad == 4) ids[1] = none;
    if (bad == 5) stores.handle[x].layout = stores.handle[part].layout = 0;
    record(bad == 0 ? 99 : 1, bad == 1 ? 3 : 2, ids);
    record(0, 1, (lgt_id[]){y});
    int refs = stores.store[sy].refs;
    lgt_status status = lgt_window_take(&w, &stores, &kinds, &front, &line);
    CHECK_EQ(status, bad == 5 ? LGT_RELEASED : LGT_BAD_ARGUMENT);
    CHECK_EQ(line, bad == 5 ? 5 : 6);
    CHECK_HAS(lgt_message(), words[bad]);
    CHECK_EQ(front.count, bad == 5 ? 2 : 1);
    CHECK_EQ(w.count, bad == 5 ? 0 : 1);
    while (front.count) lgt_window_take(&w, &stores, &kinds, &front, &line);
    CHECK_EQ(w.call[w.count - 1].nargs, 1);
    CHECK_EQ(stores.store[sy].refs - refs, bad == 5 ? 1 : 2);
    lgt_window_drop(&w, w.count);
  }
  lgt_window_fini(&w);
}

TEST(memory_may_run_out) {
  lgt_window w;
  int64_t live = lgt_mem_live();
  for (int n = 1; n <= 2; n++) {
    lgt_mem_fail_at(n);
    CHECK_EQ(lgt_window_init(&w, ROOM), LGT_NO_MEMORY);
    lgt_mem_fail_at(0);
    lgt_window_fini(&w);
  }
  CHECK(!lgt_window_init(&w, ROOM));
  lgt_store *s = lgt_store_new(&stores, layouts[0]);
  push(&w, 0, &s->id, layouts);
  for (int n = 1; n <= 2; n++) {
    lgt_mem_fail_at(1);
    CHECK(!lgt_window_canonical(&w, &stores, 1));
    lgt_mem_fail_at(0);
    if (n == 1) lgt_mem_grow((void **)&w.word, &w.word_room, 100, sizeof *w.word);
  }
  CHECK(lgt_window_canonical(&w, &stores, 1));
  lgt_store_recycle(&stores, s);
  lgt_window_fini(&w);
  CHECK_EQ(lgt_mem_live(), live);
}

int main(void) {
  if (lgt_stores_init(&stores)) return 1;
  setup();
  RUN(isomorphic_windows_and_no_others_have_equal_words);
  RUN(references_from_outside_are_told_from_the_windows_own);
  RUN(a_window_ends_where_a_repetition_ends);
  RUN(a_loop_soon_gives_the_same_windows);
  RUN(a_long_loop_is_cut_where_little_crosses);
  RUN(a_window_ends_where_no_result_crosses);
  RUN(launches_become_calls);
  RUN(memory_may_run_out);
  lgt_kinds_fini(&kinds);
  lgt_stores_fini(&stores);
  return check_done() || lgt_mem_live() != 0;
}
