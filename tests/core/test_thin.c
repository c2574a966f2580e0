/* test_thin.c - blocks of which only some pages take memory. */
#include "check.h"
#include "memory/pool.h"

enum { PAGE = LGT_THIN_PAGE, MB = 1 << 20 };

static lgt_thin *noted(int64_t span, int64_t lo, int64_t hi) {
  lgt_thin *thin = lgt_thin_new(span);
  if (thin) lgt_thin_note(thin, lo, hi);
  return thin;
}

TEST(pages_are_counted_once) {
  lgt_thin *thin = lgt_thin_new(100 * PAGE);
  CHECK_EQ(lgt_thin_note(thin, 10, 11), PAGE);
  CHECK_EQ(lgt_thin_note(thin, 0, PAGE), 0);
  CHECK_EQ(lgt_thin_note(thin, PAGE - 1, PAGE + 1), PAGE);
  CHECK_EQ(lgt_thin_note(thin, 70 * PAGE, 70 * PAGE), 0); /* nothing */
  CHECK_EQ(lgt_thin_note(thin, 60 * PAGE, 70 * PAGE), 10 * PAGE);
  CHECK_EQ(lgt_thin_note(thin, 0, 100 * PAGE), 88 * PAGE);
  CHECK_EQ(lgt_thin_bytes(thin), 100 * PAGE);
  lgt_thin_free(thin);
}

TEST(pages_that_are_not_wanted_go) {
  lgt_thin *thin = noted(100 * PAGE + 10, 3 * PAGE, 70 * PAGE),
           *wanted = noted(100 * PAGE + 10, 10 * PAGE, 20 * PAGE);
  CHECK(lgt_thin_map(thin));
  lgt_thin_note(thin, 100 * PAGE, 100 * PAGE + 1);
  lgt_thin_note(wanted, 68 * PAGE, 90 * PAGE); /* the last of these were never there */
  for (int64_t i = 3 * PAGE; i < 70 * PAGE; i++) thin->data[i] = 1;
  thin->data[100 * PAGE] = 1;
  lgt_thin_drop(thin, wanted);
  CHECK_EQ(lgt_thin_bytes(thin), 12 * PAGE);
  CHECK_EQ(lgt_thin_lacks(wanted, thin), 0);
  for (int64_t p = 3; p < 70; p++) CHECK_EQ(thin->data[p * PAGE + p], (p >= 10 && p < 20) || p >= 68);
  CHECK_EQ(thin->data[100 * PAGE], 0);
  lgt_thin_free(wanted);
  lgt_thin_free(thin);
}

TEST(a_pool_counts_what_is_noted) {
  lgt_pool *pool = lgt_pool_new(MB);
  lgt_thin *thin = noted(1000 * MB, 500 * MB, 500 * MB + 5 * PAGE);
  CHECK(lgt_pool_take_thin(pool, thin));
  CHECK_EQ(pool->used, 5 * PAGE);
  thin->data[500 * MB] = 1;
  CHECK(lgt_pool_thicken(pool, lgt_thin_note(thin, 0, PAGE), false));
  CHECK_EQ(pool->used, 6 * PAGE);
  lgt_thin *more = noted(1000 * MB, 100 * MB - 3 * PAGE, 101 * MB - 3 * PAGE);
  CHECK_EQ(lgt_thin_lacks(thin, more), MB);
  CHECK(!lgt_pool_thicken(pool, MB, false));
  CHECK_EQ(pool->used, 6 * PAGE);
  CHECK(lgt_pool_thicken(pool, MB, true)); /* in any case */
  CHECK_EQ(pool->used, 6 * PAGE + MB);
  lgt_thin_join(thin, more);
  lgt_thin_free(more);
  CHECK_EQ(lgt_thin_bytes(thin), 6 * PAGE + MB);
  lgt_pool_give_thin(pool, thin);
  CHECK_EQ(pool->used, pool->idle);
  thin = noted(1000 * MB, 0, 2 * MB);
  CHECK(!lgt_pool_take_thin(pool, thin));
  lgt_thin_free(thin);
  CHECK_EQ(pool->used, 0); /* what was free made way */
  lgt_pool_release(pool);
}

TEST(free_blocks_are_used_again_if_they_have_the_right_pages) {
  lgt_pool *pool = lgt_pool_new(1000 * MB);
  lgt_thin *thin = noted(100 * MB, 0, 40 * PAGE);
  CHECK(lgt_pool_take_thin(pool, thin));
  const char *data = thin->data;
  thin->data[3] = 7;
  lgt_pool_give_thin(pool, thin);
  thin = noted(100 * MB, 50 * MB, 50 * MB + 40 * PAGE); /* others */
  CHECK(lgt_pool_take_thin(pool, thin) && thin->data != data);
  CHECK_EQ(pool->used - pool->idle, 40 * PAGE);
  lgt_thin *more = noted(100 * MB, PAGE, 50 * PAGE); /* one that it has is not needed */
  CHECK(lgt_pool_take_thin(pool, more) && more->data == data && data[3] == 7);
  CHECK_EQ(lgt_thin_bytes(more), 50 * PAGE);
  CHECK_EQ(pool->used, 90 * PAGE);
  CHECK_EQ(pool->idle, 0);
  lgt_pool_give_thin(pool, more);
  lgt_pool_give_thin(pool, thin);
  lgt_pool_trim(pool);
  CHECK_EQ(pool->used, 0);
  lgt_pool_release(pool);
}

/* No more than a few, and not for ever. */
TEST(free_blocks_do_not_pile_up) {
  lgt_pool *pool = lgt_pool_new(1000 * MB);
  lgt_thin *thin[2 * LGT_POOL_THIN];
  for (int i = 0; i < 2 * LGT_POOL_THIN; i++) {
    thin[i] = noted((i + 1) * MB, 0, PAGE);
    CHECK(lgt_pool_take_thin(pool, thin[i]));
  }
  for (int i = 0; i < 2 * LGT_POOL_THIN; i++) lgt_pool_give_thin(pool, thin[i]);
  CHECK_EQ(pool->idle, LGT_POOL_THIN * PAGE);
  int64_t size;
  for (int i = 0; i < 100; i++) { /* meanwhile others take memory */
    char *block = lgt_pool_take(pool, MB, false, &size);
    CHECK(block);
    lgt_pool_give(pool, block, size);
  }
  CHECK_EQ(pool->idle, size);
  lgt_pool_release(pool);
}

int main(void) {
  RUN(pages_are_counted_once);
  RUN(pages_that_are_not_wanted_go);
  RUN(a_pool_counts_what_is_noted);
  RUN(free_blocks_are_used_again_if_they_have_the_right_pages);
  RUN(free_blocks_do_not_pile_up);
  return check_done();
}
