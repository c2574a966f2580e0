/* test_bind.c - what is said where a group finds no memory. */
#include "bind/bind.h"

#include "fusion.h"

/* The message of a look at 8 MB, of which there is no room for all. */
static const char *message_of(const char *option, const char *value) {
  static char text[500];
  if (open_with(&rt, "cpus", "1", "check", "1", "mem", "6M", option, value, NULL)) return lgt_message();
  double *got = malloc(8 << 20);
  lgt_id x = vector(1 << 20);
  int kind = kind_of(rt, LGT_FLOAT64, "c1 =0");
  lgt_status status = launch(rt, kind, 1, x);
  if (!status) status = lgt_array_copy_out(rt, x, got);
  snprintf(text, sizeof text, "%s", status == LGT_NO_MEMORY ? lgt_message() : "no failure");
  free(got);
  lgt_close(rt);
  return text;
}

TEST(it_says_how_much_is_needed_and_which_option_helps) {
  CHECK_HAS(message_of("domains", "1"), "out of memory: a task needs 8388608 more bytes");
  CHECK_HAS(message_of("domains", "1"), "or raise --mem");
  CHECK_HAS(message_of("domains", "2"), "or raise --mem");
}

/* Any allocation may fail, and all that follow it: also before it is known where the group works. */
TEST(it_says_so_whichever_allocation_fails) {
  int failed = 0;
  for (int n = 1, good = 0; n < 400 && good < 2; n++) {
    CHECK(!open_with(&rt, "cpus", "1", "domains", "2", "min_tile", "1", NULL));
    lgt_id x = filled(N, 1, 0), y = vector(N);
    int kind = kind_of(rt, LGT_FLOAT64, "a1 c1 add =0");
    CHECK(!lgt_fence(rt) && !launch(rt, kind, 2, y, x));
    lgt_mem_fail_from(n);
    lgt_status status = lgt_fence(rt);
    lgt_mem_fail_at(0);
    if (status) CHECK_HAS(lgt_message(), "out of memory");
    else if (value_at(y, 7) == 8) good++;
    failed += status != LGT_OK;
    lgt_close(rt);
  }
  CHECK(failed > 5);
}

/* Where there is room for one array, the next one is written over it, if nobody can ask for it any more. */
TEST(what_is_garbage_makes_room_for_what_comes_of_it) {
  enum { MANY = 1 << 19 };
  double *got = malloc(MANY * sizeof *got);
  for (int keep = 0; keep < 2; keep++) {
    CHECK(!open_with(&rt, "cpus", "2", "check", "1", "mem", "6M", NULL));
    lgt_id x = vector(MANY);
    CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "c1 =0"), 1, x) && !lgt_fence(rt));
    lgt_id y = keep ? apply("a1 c1 add =0", x, 0) : apply_drop("a1 c1 add =0", x, 0);
    CHECK_EQ(lgt_array_copy_out(rt, y, got), keep ? LGT_NO_MEMORY : LGT_OK);
    for (int i = 0; i < MANY && !keep; i++) CHECK(got[i] == 2);
    CHECK(!keep || !lgt_array_copy_out(rt, x, got));
    for (int i = 0; i < MANY && keep; i++) CHECK(got[i] == 1);
    lgt_close(rt);
  }
  free(got);
}

/* y = keep + x, in one order or the other: x is garbage, keep is not. */
TEST(garbage_is_found_beside_what_lives) {
  enum { MANY = 1 << 19 };
  double *got = malloc(MANY * sizeof *got);
  for (int turned = 0; turned < 2; turned++) {
    CHECK(!open_with(&rt, "cpus", "2", "check", "1", "mem", "10M", NULL));
    lgt_id keep = vector(MANY), x = vector(MANY);
    int fill = kind_of(rt, LGT_FLOAT64, "c1 =0");
    CHECK(!launch(rt, fill, 1, keep) && !launch(rt, fill, 1, x) && !lgt_fence(rt));
    lgt_id y = vector(MANY);
    int plus = kind_of(rt, LGT_FLOAT64, "a1 a2 add =0");
    CHECK(!launch(rt, plus, 3, y, turned ? x : keep, turned ? keep : x));
    lgt_array_free(rt, x);
    CHECK(!lgt_array_copy_out(rt, y, got) && got[0] == 2 && got[MANY - 1] == 2);
    CHECK(!lgt_array_copy_out(rt, keep, got) && got[0] == 1 && got[MANY - 1] == 1);
    lgt_close(rt);
  }
  free(got);
}

/* Of two new arrays one takes the place of x: only the other one needs memory. */
TEST(what_takes_memory_needs_none) {
  enum { MANY = 1 << 19 };
  double *got = malloc(MANY * sizeof *got);
  CHECK(!open_with(&rt, "cpus", "2", "mem", "6M", NULL));
  lgt_id x = vector(MANY);
  CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "c1 =0"), 1, x) && !lgt_fence(rt));
  lgt_id y = vector(MANY), z = vector(MANY);
  CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "a2 c1 add =0 a2 c2 mul =1"), 3, y, z, x));
  lgt_array_free(rt, x);
  CHECK_EQ(lgt_array_copy_out(rt, y, got), LGT_NO_MEMORY);
  CHECK_HAS(lgt_message(), "a task needs 4194304 more bytes");
  lgt_close(rt);
  free(got);
}

int main(void) {
  RUN(it_says_how_much_is_needed_and_which_option_helps);
  RUN(it_says_so_whichever_allocation_fails);
  RUN(what_is_garbage_makes_room_for_what_comes_of_it);
  RUN(garbage_is_found_beside_what_lives);
  RUN(what_takes_memory_needs_none);
  return check_done();
}
