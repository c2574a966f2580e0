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

int main(void) {
  RUN(it_says_how_much_is_needed_and_which_option_helps);
  RUN(it_says_so_whichever_allocation_fails);
  return check_done();
}
