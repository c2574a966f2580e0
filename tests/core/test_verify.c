/* test_verify.c - what `check` finds: a sound window, plan or history has no mistake, and each that is planted is named. */
#include "check.h"
#include "engine.h"
#include "plan/verify.h"
#include "plan/weave.h"
#include "runtime/runtime.h"

enum { N = 100 };

static lgt_runtime *rt;

static lgt_id vector(void) {
  int64_t n = N;
  return array_of(rt, LGT_FLOAT64, 1, &n);
}

static lgt_id apply(const char *text, lgt_id a, lgt_id b) {
  lgt_id out = vector();
  int kind = kind_of(rt, LGT_FLOAT64, text);
  lgt_status status = b ? launch(rt, kind, 3, out, a, b) : launch(rt, kind, 2, out, a);
  return status ? 0 : out;
}

/* Plans lie in the order of their hashes. */
static lgt_plan *plan_that_elides(int ncall) {
  for (uint32_t i = 0; i <= rt->fuser.mask; i++) {
    lgt_plan *plan = rt->fuser.table[i];
    if (plan && plan->ncall == ncall && plan->group[0].nelided) return plan;
  }
  return NULL;
}

/* t = 2 x is elided and its handle lives; y = t + x is stored. */
static lgt_plan *open_with_recipe(void) {
  if (open_with(&rt, "cpus", "1", "check", "1", NULL)) return NULL;
  lgt_id x = vector(), t, y;
  double ones[N];
  for (int i = 0; i < N; i++) ones[i] = 1;
  if (lgt_array_copy_in(rt, x, ones)) return NULL;
  t = apply("a1 c2 mul =0", x, 0);
  y = apply("a1 a2 add =0", t, x);
  lgt_array_free(rt, t); /* dead when the plan is made, so it may be elided; a later window holds it */
  if (!y || lgt_fence(rt)) return NULL;
  t = apply("a1 c2 mul =0", x, 0);
  y = apply("a1 a2 add =0", t, x);
  return t && y && !lgt_fence(rt) ? plan_that_elides(2) : NULL;
}

#define SOUND(question)                         \
  do {                                          \
    if (!(question)) FAIL("%s", lgt_message()); \
  } while (0)

#define FINDS(what, wrong)                                                       \
  do {                                                                           \
    CHECK(!(what));                                                              \
    if (!strstr(lgt_message(), (wrong))) FAIL("it was said: %s", lgt_message()); \
  } while (0)

/* With a member changed for a moment. */
#define PLANT(plan, member, value, wrong)                \
  do {                                                   \
    __typeof__(member) was = (member);                   \
    (member) = (value);                                  \
    FINDS(lgt_plan_verify(&rt->fuser, (plan)), (wrong)); \
    (member) = was;                                      \
    SOUND(lgt_plan_verify(&rt->fuser, (plan)));          \
  } while (0)

TEST(plans) {
  lgt_plan *plan = open_with_recipe();
  CHECK(plan);
  SOUND(lgt_plan_verify(&rt->fuser, plan));
  lgt_plan_group *group = &plan->group[0];
  CHECK_EQ(group->nelided, 1);
  PLANT(plan, group->count, 1, "calls are in groups");
  PLANT(plan, group->first, 1, "does not follow");
  PLANT(plan, plan->call[1].touch, 7, "touch");
  PLANT(plan, plan->call[1].root[0], 99, "root");
  PLANT(plan, plan->root[0].writes, 5, "is written");
  PLANT(plan, group->slot[0].root, 77, "root");
  PLANT(plan, group->slot[0].layout, plan->call[0].layout[0] + 1, "layout");
  PLANT(plan, group->slot[0].takes, 9, "former memory");
  PLANT(plan, group->slot_of_final[1], 9, "final");
  PLANT(plan, group->loop[0].access[0].slot, 9, "access of slot 9");
  PLANT(plan, group->loop[0].access[0].offset, 1, "elements 1 to 100 of 100");
  PLANT(plan, group->loop[0].access[0].offset, -1, "elements -1 to 98");
  PLANT(plan, group->loop[0].access[0].stride[0], 2, "elements 0 to 198");
  PLANT(plan, group->loop[0].dim[0], 3, "dimension");
  lgt_close(rt);
}

/* Two turns, of which the second reads what the first has written one place further on. */
TEST(margins) {
  CHECK(!open_with(&rt, "cpus", "1", "check", "1", "domains", "2", "min_tile", "1", "widen", "1000", NULL));
  lgt_id x = vector(), y = apply("a1 c2 mul =0", x, 0), z = array_of(rt, LGT_FLOAT64, 1, (int64_t[]){N - 1});
  lgt_id low = slice_of(rt, x, 0, 0, N - 1, 1), high = slice_of(rt, z, 0, 1, N - 2, 1),
         w = array_of(rt, LGT_FLOAT64, 1, (int64_t[]){N - 2}), rest = slice_of(rt, low, 0, 0, N - 2, 1);
  CHECK(y && !lgt_fence(rt));
  launch(rt, kind_of(rt, LGT_FLOAT64, "a1 =0"), 2, slice_of(rt, z, 0, 0, N - 2, 1), rest);
  launch(rt, kind_of(rt, LGT_FLOAT64, "a1 =0"), 2, w, high);
  CHECK(!lgt_fence(rt));
  lgt_plan *plan = NULL;
  for (uint32_t i = 0; i <= rt->fuser.mask; i++)
    if (rt->fuser.table[i] && rt->fuser.table[i]->ncall == 2) plan = rt->fuser.table[i];
  CHECK(plan && plan->group[0].turns == 2);
  PLANT(plan, plan->call[0].wide, plan->call[0].launch, "call 1 reads what another tile has of call 0");
  lgt_close(rt);
}

TEST(recipes) {
  lgt_plan *plan = open_with_recipe();
  CHECK(plan);
  lgt_plan_group *group = &plan->group[0];
  lgt_plan_elided *elided = &group->elided[0];
  CHECK(!elided->must_die && elided->nitem == 1);
  PLANT(plan, elided->reads[0], 0, "reads what is not kept");
  PLANT(plan, elided->nitem, 0, "does not make its result");
  PLANT(plan, elided->item[0], 1, "reads what is not kept");
  PLANT(plan, elided->root, 1, "elided result");
  for (int s = 0; s < group->nslot; s++)
    if (group->slot[s].pinned) PLANT(plan, group->slot[s].pinned, false, "is not pinned");
  /* As if the last item wrote over what the recipe reads. */
  uint16_t read = group->items->item[0].in[1];
  PLANT(plan, group->items->item[1].out[0], read, "changes what item 0 reads");
  lgt_close(rt);
}

static lgt_plan *plan_of(int ncall, int nloop) {
  for (uint32_t i = 0; i <= rt->fuser.mask; i++) {
    lgt_plan *plan = rt->fuser.table[i];
    if (plan && plan->ncall == ncall && plan->group[0].nloop == nloop) return plan;
  }
  return NULL;
}

static uint32_t layout_of_part(int64_t first, int64_t count) {
  return lgt_stores_slice(&rt->stores, lgt_stores_dense(&rt->stores, LGT_FLOAT64, 1, &(int64_t){N}), 0, first,
                          count, 1);
}

/* s = 2 x, t = s + x: a loop; d = s[1:] - s[:-1] needs a second one. */
TEST(the_order_of_loops) {
  CHECK(!open_with(&rt, "cpus", "1", "check", "1", NULL));
  lgt_id x = vector(), s = apply("a1 c2 mul =0", x, 0), t = apply("a1 a2 add =0", s, x), d;
  int64_t less = N - 1;
  d = array_of(rt, LGT_FLOAT64, 1, &less);
  CHECK(s && t && d);
  CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "a1 a2 sub =0"), 3, d, lgt_array_slice(rt, s, 0, 1, N - 1, 1),
                lgt_array_slice(rt, s, 0, 0, N - 1, 1)));
  CHECK(!lgt_fence(rt));
  lgt_plan *plan = plan_of(3, 2);
  CHECK(plan);
  SOUND(lgt_plan_verify(&rt->fuser, plan));
  lgt_weave_item *item = plan->group[0].items->item;
  CHECK(item[0].loop == 0 && item[1].loop == 0 && item[2].loop == 1);
  PLANT(plan, item[2].loop, 0, "items 0 and 2 touch other elements of an array in one loop");
  PLANT(plan, item[0].loop, 1, "item 1 runs before item 0");
  PLANT(plan, plan->group[0].loop[1].abreast, 0, "abreast, but what one writes the other touches");
  PLANT(plan, plan->group[0].loop[0].abreast, 1, "loop 0: abreast of loop 1");
  PLANT(plan, item[1].layout[1], layout_of_part(1, N - 1), "items 0 and 1 touch other elements");
  lgt_weave_item first = item[0]; /* a loop's items run as they lie */
  item[0] = item[1];
  item[1] = first;
  FINDS(lgt_plan_verify(&rt->fuser, plan), "items 1 and 0 touch other elements");
  lgt_close(rt);
}

/* x = 3 x, but for its last element. */
TEST(the_order_within_a_loop) {
  CHECK(!open_with(&rt, "cpus", "1", "check", "1", NULL));
  lgt_id x = vector(), front = lgt_array_slice(rt, x, 0, 0, N - 1, 1);
  double ones[N];
  for (int i = 0; i < N; i++) ones[i] = 1;
  CHECK(!lgt_array_copy_in(rt, x, ones));
  CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "a0 c3 mul =0"), 1, front) && !lgt_fence(rt));
  lgt_plan *plan = plan_of(1, 1);
  CHECK(plan);
  lgt_plan_loop *loop = &plan->group[0].loop[0];
  const lgt_loop *code = loop->kernel->loop;
  CHECK(code->naccess == 2 && code->ninst == 4 && code->inst[0].op == LGT_OP_LOAD &&
        code->inst[3].op == LGT_OP_STORE);
  SOUND(lgt_plan_verify(&rt->fuser, plan));
  PLANT(plan, loop->access[code->inst[3].b].offset, 1, "access 0 loads what access 1 writes at other points");
  PLANT(plan, loop->access[code->inst[0].a].stride[0], 0,
        "access 0 loads what access 1 writes at other points");
  lgt_inst load = code->inst[0];
  code->inst[0] = code->inst[3];
  code->inst[3] = load;
  FINDS(lgt_plan_verify(&rt->fuser, plan), "instruction 3 loads what instruction 0 has written");
  code->inst[3] = code->inst[0];
  code->inst[0] = load;
  lgt_close(rt);
}

/* y = x + 1 may be written over x. */
TEST(what_is_written_over) {
  CHECK(!open_with(&rt, "cpus", "1", "check", "1", NULL));
  lgt_id x = vector();
  double ones[N];
  for (int i = 0; i < N; i++) ones[i] = 1;
  CHECK(!lgt_array_copy_in(rt, x, ones) && apply("a1 c1 add =0", x, 0));
  lgt_array_free(rt, x);
  CHECK(!lgt_fence(rt));
  lgt_plan *plan = plan_of(1, 1);
  CHECK(plan && plan->group[0].nslot == 2);
  SOUND(lgt_plan_verify(&rt->fuser, plan));
  lgt_plan_slot *slot = plan->group[0].slot;
  int new = slot[0].initial;
  CHECK_EQ(slot[new].takes, !new);
  PLANT(plan, plan->group[0].items->item[0].layout[1], layout_of_part(1, N - 1),
        "item 0 may write over what item 0 reads");
  PLANT(plan, plan->group[0].loop[0].access[0].stride[0], 0, "loads what access 1 writes at other points");
  PLANT(plan, slot[!new].written, true, "or that is written");
  lgt_close(rt);
}

/* No element is read or written. */
TEST(nothing_is_written_over) {
  CHECK(!open_with(&rt, "cpus", "1", "check", "1", NULL));
  int64_t none = 0;
  lgt_id x = array_of(rt, LGT_FLOAT64, 1, &none), y = array_of(rt, LGT_FLOAT64, 1, &none);
  CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "c1 =0"), 1, x) && !lgt_fence(rt));
  CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "a1 c1 add =0"), 2, y, x));
  lgt_array_free(rt, x);
  CHECK(!lgt_fence(rt));
  lgt_close(rt);
}

/* y = x + 1, then z = y[1:] + x[:-1], which needs a second loop: y may not be written over x. */
TEST(what_is_written_over_too_early) {
  CHECK(!open_with(&rt, "cpus", "1", "check", "1", NULL));
  lgt_id x = vector(), y, z;
  double ones[N];
  int64_t less = N - 1;
  for (int i = 0; i < N; i++) ones[i] = 1;
  CHECK(!lgt_array_copy_in(rt, x, ones) && (y = apply("a1 c1 add =0", x, 0)));
  z = array_of(rt, LGT_FLOAT64, 1, &less);
  CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "a1 a2 add =0"), 3, z, lgt_array_slice(rt, y, 0, 1, N - 1, 1),
                lgt_array_slice(rt, x, 0, 0, N - 1, 1)));
  CHECK(!lgt_fence(rt));
  lgt_plan *plan = plan_of(2, 2);
  CHECK(plan && plan->group[0].nslot == 3);
  SOUND(lgt_plan_verify(&rt->fuser, plan));
  const lgt_weave_items *items = plan->group[0].items;
  uint16_t old = items->buffer[items->item[0].in[1]].slot, new = items->buffer[items->item[0].out[0]].slot;
  CHECK_EQ(plan->group[0].slot[new].takes, LGT_NONE);
  PLANT(plan, plan->group[0].slot[new].takes, old, "item 0 may write over what item 1 reads");
  lgt_close(rt);
}

TEST(windows) {
  CHECK(!open_with(&rt, "cpus", "1", "check", "1", NULL));
  lgt_id x = vector(), y = apply("a1 c2 mul =0", x, 0);
  CHECK(y && apply("a1 a2 add =0", y, x));
  lgt_runtime_take(rt);
  lgt_window *window = &rt->window;
  CHECK(lgt_window_canonical(window, &rt->stores, 2));
  SOUND(lgt_window_verify(window, &rt->stores, 2));
  for (int k = 0; k < window->nword; k++) { /* no bit is left unlooked at but that of `saves` */
    window->word[k] ^= 1;
    if (lgt_window_verify(window, &rt->stores, 2)) FAIL("word %d", k);
    window->word[k] ^= 1;
  }
  window->nroot++;
  FINDS(lgt_window_verify(window, &rt->stores, 2), "beyond");
  window->nroot--;
  uint32_t was = window->root[0];
  window->root[0] = window->root[1];
  FINDS(lgt_window_verify(window, &rt->stores, 2), "another array");
  window->root[0] = was;
  lgt_close(rt);
}

int main(void) {
  RUN(plans);
  RUN(margins);
  RUN(recipes);
  RUN(the_order_of_loops);
  RUN(the_order_within_a_loop);
  RUN(what_is_written_over);
  RUN(nothing_is_written_over);
  RUN(what_is_written_over_too_early);
  RUN(windows);
  return check_done();
}
