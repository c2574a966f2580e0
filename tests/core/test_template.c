/* test_template.c - jobs that are made by copying: when they are, what they compute, and planted mistakes that are found. */
#include "check.h"
#include "engine.h"
#include "move/template.h"
#include "runtime/runtime.h"

enum { N = 64 };

static lgt_runtime *rt;
static lgt_id x;
static int kind;

/* y = p x + x, the parameter another one each time. */
static double turn(double p) {
  int64_t n = N;
  double got[N];
  lgt_id y = array_of(rt, LGT_FLOAT64, 1, &n);
  if (launch_with(rt, kind, p, 2, y, x) || lgt_fence(rt) || lgt_array_copy_out(rt, y, got)) return -1;
  lgt_array_free(rt, y);
  return got[N - 1];
}

static bool begin(const char *domains) {
  int64_t n = N;
  double ones[N];
  if (open_with(&rt, "cpus", "1", "min_tile", "1", "domains", domains, NULL)) return false;
  kind = kind_of(rt, LGT_FLOAT64, "a1 p0 mul a1 add =0");
  x = array_of(rt, LGT_FLOAT64, 1, &n);
  for (int i = 0; i < N; i++) ones[i] = 1;
  return !lgt_array_copy_in(rt, x, ones);
}

/* The templates that the group of the one-call plan has: how many, and one of them. */
static int count_templates(lgt_template **one) {
  int n = 0;
  for (uint32_t i = 0; i <= rt->fuser.mask; i++) {
    if (!rt->fuser.table[i] || rt->fuser.table[i]->ncall != 1) continue;
    lgt_template **list = rt->fuser.table[i]->group[0].notes->template;
    for (int k = 0; list && k < LGT_TEMPLATE_LISTS; k++)
      for (lgt_template *t = list[k]; t; t = t->next) *one = t, n++;
  }
  return n;
}

static void copies_what_is_alike(const char *domains, int points) {
  lgt_template *one;
  CHECK(begin(domains));
  int64_t before = rt->binder.copied;
  for (int i = 0; i < 10; i++) CHECK_EQ((int)turn(i), i + 1);
  /* The first turn finds x where it was put, and leaves it cut as the next ones find it. */
  if (rt->binder.copied - before < 8 * points) FAIL("%d jobs were copied", (int)(rt->binder.copied - before));
  int n = count_templates(&one);
  if (n < points || n > 2 * points) FAIL("%d templates", n);
  lgt_close(rt);
}
TEST(one_domain) { copies_what_is_alike("1", 1); }
TEST(several_domains) { copies_what_is_alike("4", 4); }
TEST(many_domains) { copies_what_is_alike("64", 64); }

TEST(portions_differ) {
  lgt_portion a = {LGT_PORTION_AHEAD, 1, {.ndim = 1, .hi = {5}}}, b = a;
  CHECK(lgt_portion_equal(&a, &b));
  b.inner.hi[0] = 6;
  CHECK(!lgt_portion_equal(&a, &b));
  b = a, b.loop = 2;
  CHECK(!lgt_portion_equal(&a, &b));
  b = a, b.what = LGT_PORTION_REST;
  CHECK(!lgt_portion_equal(&a, &b));
  a.what = b.what = LGT_PORTION_ALL, b.loop = 2;
  CHECK(lgt_portion_equal(&a, &b));
}

/* Instances of other places are others' templates, up to a number for each colour. */
TEST(the_oldest_places_are_forgotten) {
  enum { COLOURS = 40, PLACES = 12 };
  lgt_plan_notes notes = {0};
  lgt_instance inst = {.rect = {.ndim = 1}}, *at = &inst;
  lgt_portion some = {.what = LGT_PORTION_REST, .inner = {.ndim = 1}}, others = some;
  others.inner.hi[0] = 1;
  uint32_t stamp = 0;
  int64_t live = lgt_mem_live();
  for (int place = 0; place < PLACES; place++)
    for (int c = 0; c < COLOURS; c++) {
      inst.rect.hi[0] = place + 1;
      lgt_template *t = lgt_template_new(c, &some, &at, 1, 0);
      CHECK(t && !lgt_template_find(&notes, &stamp, c, &some, &at, 1));
      lgt_template_keep(&notes, t);
      lgt_template_release(t);
      CHECK(lgt_template_find(&notes, &stamp, c, &some, &at, 1) == t);
      CHECK(!lgt_template_find(&notes, &stamp, c, &others, &at, 1));
    }
  for (int place = 0; place < PLACES; place++)
    for (int c = 0; c < COLOURS; c++) {
      inst.rect.hi[0] = place + 1;
      if (!lgt_template_find(&notes, &stamp, c, &some, &at, 1) != (place < PLACES - LGT_TEMPLATES))
        FAIL("colour %d, place %d", c, place);
    }
  notes.free_templates(notes.template);
  CHECK_EQ(lgt_mem_live(), live);
}

/* Which loops follow one another was found out for slots of which the first and the last have one instance. */
TEST(who_shares_an_instance_counts_if_loops_follow) {
  lgt_plan_notes notes = {0};
  lgt_portion all = {.what = LGT_PORTION_ALL};
  lgt_instance a = {.rect = {.ndim = 1}}, b = a, c = a;
  lgt_instance *like[] = {&a, &b, NULL, &a}, *moved[] = {&c, &a, NULL, &c}, *apart[] = {&a, &b, NULL, &c},
               *together[] = {&a, &a, NULL, &a}, *crossed[] = {&a, &b, NULL, &b};
  uint32_t stamp = 0;
  int64_t live = lgt_mem_live();
#define FOUND(inst) lgt_template_find(&notes, &stamp, 0, &all, inst, 4)
  lgt_template *t = lgt_template_new(0, &all, like, 4, 0);
  CHECK(t);
  lgt_template_keep(&notes, t);
  lgt_template_release(t);
  CHECK(FOUND(like) && FOUND(moved) && FOUND(apart) && FOUND(together) && FOUND(crossed));
  CHECK(lgt_template_follow(t, like, lgt_mem_alloc(1)));
  CHECK(FOUND(like) && FOUND(moved) && !FOUND(apart) && !FOUND(together) && !FOUND(crossed));
  CHECK(FOUND(like));
  notes.free_templates(notes.template);
  CHECK_EQ(lgt_mem_live(), live);
}

/* Sums of neighbours go from one vector to the other and back, in loops that follow one another element by element.
 * That is found out once, though the vectors are others each time. */
static void keeps_what_follows(const char *domains, const char *check) {
  enum { MANY = 6000, LOOPS = 6, TURNS = 12, WARM = 6 };
  static double wanted[2][MANY], got[MANY];
  int64_t n = MANY, allocations = 0;
  if (open_with(&rt, "cpus", "1", "min_tile", "1", "domains", domains, "skew", "1024", "check", check, NULL))
    FAIL("no runtime");
  int add = kind_of(rt, LGT_FLOAT64, "a1 a2 add c0.5 mul =0");
  for (int turn = 0; turn < TURNS; turn++) {
    lgt_id v[2], inner[2], below[2], above[2];
    for (int k = 0; k < 2; k++) {
      for (int i = 0; i < MANY; i++) wanted[k][i] = (i * 7 + k + turn) % 64;
      v[k] = array_of(rt, LGT_FLOAT64, 1, &n);
      CHECK(!lgt_array_copy_in(rt, v[k], wanted[k]));
      inner[k] = slice_of(rt, v[k], 0, 1, MANY - 2, 1);
      below[k] = slice_of(rt, v[k], 0, 0, MANY - 2, 1);
      above[k] = slice_of(rt, v[k], 0, 2, MANY - 2, 1);
    }
    int64_t followed = rt->binder.followed, before = lgt_mem_count();
    for (int i = 0; i < LOOPS; i++) {
      int to = !(i % 2);
      CHECK(!launch(rt, add, 3, inner[to], below[!to], above[!to]));
      for (int k = 1; k < MANY - 1; k++) wanted[to][k] = (wanted[!to][k - 1] + wanted[!to][k + 1]) * 0.5;
    }
    CHECK(!lgt_fence(rt));
    if (rt->binder.followed < followed + LOOPS) FAIL("%s domains: loops do not follow", domains);
    if (turn >= WARM) allocations += lgt_mem_count() - before;
    for (int k = 0; k < 2; k++) {
      CHECK(!lgt_array_copy_out(rt, v[k], got) && !memcmp(got, wanted[k], sizeof got));
      for (int i = 0; i < 3; i++) lgt_array_free(rt, (lgt_id[]){inner[k], below[k], above[k]}[i]);
      lgt_array_free(rt, v[k]);
    }
  }
  if (*check == '0' && *domains == '1')
    CHECK_EQ(allocations, TURNS - WARM); /* the job, whose memory is kept */
  lgt_close(rt);
}
TEST(what_follows_is_kept) { keeps_what_follows("1", "0"); }
TEST(what_follows_is_kept_and_checked) { keeps_what_follows("1", "1"); }
TEST(what_follows_is_kept_among_domains) { keeps_what_follows("2", "0"), keeps_what_follows("2", "1"); }

TEST(planted_mistakes_are_found) {
  CHECK(begin("2"));
  turn(1);
  turn(2);
  lgt_template *t = NULL;
  CHECK(count_templates(&t) && t->nrelocation > 4 && t->nshape == 1);
  lgt_template again = *t;
  char *bytes = malloc(t->size);
  lgt_relocation *relocation = malloc((size_t)t->nrelocation * sizeof *relocation);
  CHECK(bytes && relocation);
  memcpy(bytes, t->bytes, t->size);
  memcpy(relocation, t->relocation, (size_t)t->nrelocation * sizeof *relocation);
  again.bytes = bytes;
  again.relocation = relocation;
  CHECK(lgt_template_verify(t, &again));
  bytes[t->size - 1] ^= 1;
  CHECK(!lgt_template_verify(t, &again) && strstr(lgt_message(), "no relocation"));
  bytes[t->size - 1] ^= 1;
  for (int i = 0; i < t->nrelocation; i++) {
    relocation[i].offset += 8;
    CHECK(!lgt_template_verify(t, &again) && strstr(lgt_message(), "relocation"));
    relocation[i].offset -= 8;
  }
  again.cost++;
  CHECK(!lgt_template_verify(t, &again) && strstr(lgt_message(), "steps or nests"));
  free(bytes);
  free(relocation);
  lgt_close(rt);
}

int main(void) {
  RUN(one_domain);
  RUN(several_domains);
  RUN(many_domains);
  RUN(portions_differ);
  RUN(the_oldest_places_are_forgotten);
  RUN(who_shares_an_instance_counts_if_loops_follow);
  RUN(what_follows_is_kept);
  RUN(what_follows_is_kept_and_checked);
  RUN(what_follows_is_kept_among_domains);
  RUN(planted_mistakes_are_found);
  return check_done();
}
