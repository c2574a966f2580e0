/* test_kind.c - registration of kinds: what a generator does to its arguments, and what is refused. */
#include "check.h"
#include "engine.h"
#include "base/mem.h"
#include "model/call.h"
#include "model/failure.h"

static lgt_kinds kinds;

static int add(int dtype, const char *text) {
  lgt_body *body = body_of(dtype, text);
  return body ? lgt_kinds_add_generator(&kinds, text, body) : -2;
}

TEST(privileges_follow_from_the_body) {
  static const struct {
    const char *text;
    int nargs, nparams;
    uint8_t privilege[4];
    bool copy, reduces;
  } cases[] = {
      {"a1 =0", 2, 0, {LGT_PRIV_WRITE, LGT_PRIV_READ}, true, false},
      {"a0 =1", 2, 0, {LGT_PRIV_READ, LGT_PRIV_WRITE}, false, false},
      {"p2 =0", 1, 3, {LGT_PRIV_WRITE}, false, false},
      {"a0 a1 add =0", 2, 0, {LGT_PRIV_READ | LGT_PRIV_WRITE, LGT_PRIV_READ}, false, false},
      {"a2 exp =0 a2 a3 mul p0 add =1",
       4,
       1,
       {LGT_PRIV_WRITE, LGT_PRIV_WRITE, LGT_PRIV_READ, LGT_PRIV_READ},
       false,
       false},
      {"a1 sum>0", 2, 0, {LGT_PRIV_WRITE | LGT_PRIV_REDUCE, LGT_PRIV_READ}, false, true},
      {"a1 max+>0", 2, 0, {LGT_PRIV_READ | LGT_PRIV_REDUCE, LGT_PRIV_READ}, false, true},
      {"a2 i-1 argmin>0",
       3,
       0,
       {LGT_PRIV_WRITE | LGT_PRIV_REDUCE, LGT_PRIV_WRITE | LGT_PRIV_REDUCE, LGT_PRIV_READ},
       false,
       true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    int number = add(LGT_FLOAT32, cases[i].text);
    CHECK_EQ(number, kinds.count - 1);
    const lgt_kind *k = kinds.kind[number];
    CHECK_TEXT(k->name, cases[i].text);
    CHECK_EQ(k->nargs, cases[i].nargs);
    CHECK_EQ(k->nparams, cases[i].nparams);
    CHECK_EQ(k->is_copy, cases[i].copy);
    CHECK_EQ(k->reduces, cases[i].reduces);
    for (int a = 0; a < k->nargs; a++) {
      CHECK_EQ(k->privilege[a], cases[i].privilege[a]);
      CHECK_EQ(k->dtype[a], a == 1 && strstr(cases[i].text, "argmin") ? LGT_INT64 : LGT_FLOAT32);
    }
  }
}

TEST(complex_arguments_have_two_slots) {
  int number = add(LGT_COMPLEX64, "a1 a2 mul =0 a1 real:float32 =3");
  if (number < 0) FAIL("%s", lgt_message());
  const lgt_kind *k = kinds.kind[number];
  CHECK_EQ(k->nargs, 4);
  CHECK_EQ(k->dtype[0], LGT_COMPLEX64);
  CHECK_EQ(k->body->nslot, 7);
  for (int a = 0; a < 4; a++) CHECK_EQ(k->part[a], 2 * a);
  for (int i = 0; i < k->body->ninst; i++) CHECK(!lgt_dtype_is_pair(k->body->inst[i].dtype));
}

/* A message that names the kind; nothing leaks. */
#define REFUSED(call, words)         \
  do {                               \
    int64_t live_ = lgt_mem_live();  \
    CHECK_EQ((call), -1);            \
    CHECK_HAS(lgt_message(), words); \
    CHECK_EQ(lgt_mem_live(), live_); \
  } while (0)

TEST(impossible_generators_are_refused) {
  REFUSED(add(LGT_FLOAT64, ""), "neither stores nor reduces");
  REFUSED(add(LGT_FLOAT64, "a0 a1 add"), "neither stores nor reduces");
  REFUSED(add(LGT_FLOAT64, "a1 =0 a3 =2 a5 =4 a7 =6 a9 =8 a11 =10 a13 =12"), "more than 12 arguments");
  REFUSED(add(LGT_FLOAT64, "p6 =0"), "7 parameters");
  REFUSED(add(LGT_FLOAT64, "a2 =0"), "neither loaded nor stored");
  REFUSED(add(LGT_FLOAT64, "a1 a1:float32 cast:float64 add =0"), "argument 2 is used as");
  REFUSED(add(LGT_FLOAT64, "a1 =0 a1 =0"), "argument 1 is stored twice");
  REFUSED(add(LGT_FLOAT64, "a0 sum>0"), "argument 1 is reduced");
  REFUSED(
      add(LGT_COMPLEX128,
          "a11 sum>0 a11 sum>1 a11 sum>2 a11 sum>3 a11 sum>4 a11 sum>5 a11 sum>6 a11 sum>7 a11 sum>8 a9 =10"),
      "reductions");
  REFUSED(lgt_kinds_add_generator(&kinds, "none", NULL), "'none'");
}

static lgt_status nothing(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                          int64_t hi) {
  (void)tiles, (void)nargs, (void)params, (void)lo, (void)hi;
  return LGT_OK;
}
static lgt_status nothing_of(void *context, const lgt_work *work) {
  (void)context, (void)work;
  return LGT_OK;
}

TEST(tasks_in_c_state_their_privileges) {
  int number = lgt_kinds_add(&kinds, "task", "wrm", "align(0.0,1.0)"), context;
  CHECK(number > 0);
  lgt_kind *k = lgt_kinds_find(&kinds, (uint32_t)number);
  CHECK(lgt_kind_native(k) && k->constraints);
  CHECK_EQ(k->nargs, 3);
  CHECK_EQ(k->privilege[0], LGT_PRIV_WRITE);
  CHECK_EQ(k->privilege[1], LGT_PRIV_READ);
  CHECK_EQ(k->privilege[2], LGT_PRIV_READ | LGT_PRIV_WRITE);
  for (int a = 0; a < 3; a++) CHECK_EQ(k->dtype[a], LGT_NDTYPE);
  CHECK(lgt_kind_ready(k));
  CHECK_HAS(lgt_message(), "'task' has no function for the CPU");
  CHECK(lgt_kind_set_variant(k, LGT_NCLASS, nothing_of, NULL) &&
        lgt_kind_set_variant(k, 0, nothing_of, NULL));
  CHECK(lgt_kind_set_variant(k, LGT_VARIANT_CPU, NULL, NULL));
  CHECK(!lgt_kind_set_variant(k, LGT_VARIANT_CPU, nothing_of, &context) && !lgt_kind_ready(k));
  CHECK(k->variant[LGT_VARIANT_CPU] == nothing_of && k->context[LGT_VARIANT_CPU] == &context && !k->own);
  CHECK(lgt_kind_set_variant(k, LGT_VARIANT_CPU, nothing_of, NULL));
  CHECK_HAS(lgt_message(), "already");
  number = lgt_kinds_add_own(&kinds, "own", "w", "", nothing, true);
  k = lgt_kinds_find(&kinds, (uint32_t)number);
  CHECK(k && k->own == nothing && k->infallible && !lgt_kind_ready(k) &&
        lgt_kind_set_variant(k, LGT_VARIANT_CPU, nothing_of, NULL));
  CHECK(!lgt_kinds_find(&kinds, 0) && !lgt_kinds_find(&kinds, (uint32_t)kinds.count));
  REFUSED(lgt_kinds_add(&kinds, "bad", "", ""), "'bad'");
  REFUSED(lgt_kinds_add(&kinds, "bad", "wrrrrrrrrrrrr", ""), "1 to 12");
  REFUSED(lgt_kinds_add(&kinds, "bad", "wx", ""), "'x' is none of r, w, m");
  REFUSED(lgt_kinds_add(&kinds, "bad", "w", "align(1.0)"), "align(1.0)");
}

TEST(parts_do_not_write_beyond_themselves) {
  REFUSED(lgt_kinds_add(&kinds, "wide", "wr", "align(0.0,1.0) bloat(0.0,0,2)"),
          "'wide': bloat(0.0,0,2) wants an argument that is only read (r), not 'w'");
  REFUSED(lgt_kinds_add(&kinds, "wide", "wrm", "align(0.0,1.0,2.1) bloat(1.0,1,1) bloat(2.1,1,0)"),
          "not 'm'");
  CHECK(lgt_kinds_add(&kinds, "narrow", "wrm", "align(0.0,1.0,2.0) bloat(1.0,3,1) bloat(0.0,0,0)") > 0);
}

TEST(failures_carry_their_line) {
  lgt_failure *f = lgt_failure_new(LGT_IO, "the disk is full", "script.lua:7");
  CHECK(f && f->refs == 1 && f->status == LGT_IO);
  CHECK_HAS(f->message, "the disk is full");
  CHECK_HAS(f->message, "script.lua:7");
  CHECK(lgt_failure_retain(f) == f && f->refs == 2);
  lgt_failure_release(f);
  lgt_failure_release(f);
  lgt_failure_release(NULL);
  f = lgt_failure_new(LGT_IO, "the disk is full", NULL);
  CHECK_TEXT(f->message, "the disk is full");
  lgt_failure_release(f);
  for (int n = 1; n <= 2; n++) {
    lgt_mem_fail_at(n);
    CHECK(!lgt_failure_new(LGT_IO, "x", NULL));
    lgt_mem_fail_at(0);
  }
}

TEST(registering_may_run_out_of_memory) {
  int64_t live = lgt_mem_live();
  int failures = 0, count = kinds.count;
  for (int n = 1;; n++) {
    lgt_body *body = body_of(LGT_COMPLEX64, "a1 a2 mul exp =0");
    lgt_mem_fail_at(n);
    int number = lgt_kinds_add_generator(&kinds, "product", body);
    lgt_mem_fail_at(0);
    if (number >= 0) break;
    failures++;
    CHECK_EQ(lgt_mem_live(), live);
    CHECK_EQ(kinds.count, count);
  }
  CHECK(failures > 3);
}

int main(void) {
  RUN(privileges_follow_from_the_body);
  RUN(complex_arguments_have_two_slots);
  RUN(impossible_generators_are_refused);
  RUN(tasks_in_c_state_their_privileges);
  RUN(parts_do_not_write_beyond_themselves);
  RUN(failures_carry_their_line);
  RUN(registering_may_run_out_of_memory);
  lgt_kinds_fini(&kinds);
  return check_done() || lgt_mem_live() != 0;
}
