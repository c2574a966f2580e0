/* test_pool.c - blocks that are used again, given back, and refused. */
#include <string.h>
#include <sys/mman.h>

#include "check.h"
#include "memory/pool.h"

enum { MB = 1 << 20 };

TEST(a_block_is_used_again) {
  lgt_pool *pool = lgt_pool_new(1 << 30);
  int64_t size, again;
  char *block = lgt_pool_take(pool, 3 * MB, false, &size);
  CHECK(block && size >= 3 * MB && size <= 4 * MB);
  lgt_pool_give(pool, block, size);
  CHECK_EQ(lgt_pool_idle(pool), size);
  CHECK(lgt_pool_take(pool, 3 * MB - 5000, false, &again) == block && again == size);
  CHECK_EQ(lgt_pool_idle(pool), 0);
  lgt_pool_give(pool, block, size);
  lgt_pool_release(pool);
}

/* In each turn a loop needs two blocks at a time of sizes that it never needs again. */
TEST(sizes_that_change_do_not_pile_up) {
  lgt_pool *pool = lgt_pool_new((int64_t)1 << 40);
  int64_t most = 0;
  for (int turn = 0; turn < 60; turn++) {
    char *block[2];
    int64_t size[2];
    for (int i = 0; i < 2; i++) {
      block[i] = lgt_pool_take(pool, (int64_t)(2 << 20) << turn / 4 % 5, false, &size[i]);
      CHECK(block[i]);
    }
    if (pool->used > most) most = pool->used;
    for (int i = 0; i < 2; i++) lgt_pool_give(pool, block[i], size[i]);
  }
  CHECK(most <= 2 * 32 * MB + 2 * 32 * MB / 2 + 16 * MB);
  lgt_pool_release(pool);
}

/* Four arrays, each of which is made anew in each turn, a little smaller: hardly more is kept than what is in use at once. */
TEST(sizes_that_shrink_are_within_what_was_in_use) {
  lgt_pool *pool = lgt_pool_new((int64_t)1 << 40);
  int64_t size[4], other, most = 0;
  char *block[4];
  for (int i = 0; i < 4; i++) block[i] = lgt_pool_take(pool, 64 * MB, false, &size[i]);
  for (int turn = 1; turn < 20; turn++)
    for (int i = 0; i < 4; i++) {
      char *next = lgt_pool_take(pool, (int64_t)(64 - 2 * turn) * MB, false, &other);
      if (pool->used > most) most = pool->used;
      lgt_pool_give(pool, block[i], size[i]);
      block[i] = next;
      size[i] = other;
    }
  CHECK(most <= 5 * 64 * MB + 16 * MB);
  for (int i = 0; i < 4; i++) lgt_pool_give(pool, block[i], size[i]);
  lgt_pool_release(pool);
}

/* Where memory is short a request does not get more than it needs: the next one would lack it. */
TEST(a_block_that_is_too_large_is_left_to_others) {
  lgt_pool *pool = lgt_pool_new(100 * MB);
  int64_t large, middle, again;
  char *keep = lgt_pool_take(pool, 10 * MB, false, &again),
       *block = lgt_pool_take(pool, 48 * MB, false, &large);
  lgt_pool_give(pool, block, large);
  char *b = lgt_pool_take(pool, 33 * MB, false, &middle), *c = lgt_pool_take(pool, 48 * MB, false, &large);
  CHECK(b && c && middle < 48 * MB);
  lgt_pool_give(pool, keep, again);
  lgt_pool_give(pool, b, middle);
  if (c) lgt_pool_give(pool, c, large);
  lgt_pool_release(pool);
}

/* Three sizes, of which one is in use at a time: in the end their blocks are kept, as half of what is in use always may. */
TEST(sizes_that_take_turns_are_kept) {
  lgt_pool *pool = lgt_pool_new((int64_t)1 << 40);
  int64_t size, large;
  char *block = lgt_pool_take(pool, 256 * MB, false, &large), *last[3] = {0};
  int fresh = 0;
  for (int turn = 0; turn < 60; turn++) {
    char *part = lgt_pool_take(pool, (int64_t)(12 << turn % 3) * MB, false, &size);
    if (turn >= 30) fresh += part != last[turn % 3];
    last[turn % 3] = part;
    lgt_pool_give(pool, part, size);
  }
  CHECK_EQ(fresh, 0);
  lgt_pool_give(pool, block, large);
  lgt_pool_release(pool);
}

/* Beside blocks that come and go, one that is used in each turn stays warm. */
TEST(what_is_used_in_each_turn_is_kept) {
  lgt_pool *pool = lgt_pool_new((int64_t)1 << 40);
  int64_t size, other;
  char *kept = lgt_pool_take(pool, 64 * MB, false, &size), *first = kept;
  for (int turn = 0; turn < 50; turn++) {
    char *small = lgt_pool_take(pool, 5 * MB, false, &other);
    lgt_pool_give(pool, kept, size);
    lgt_pool_give(pool, small, other);
    kept = lgt_pool_take(pool, 64 * MB, false, &size);
    CHECK(kept == first);
  }
  lgt_pool_give(pool, kept, size);
  lgt_pool_release(pool);
}

/* How many MB of a block have pages. */
static int64_t resident(const char *block, int64_t size) {
  static unsigned char pages[256 * MB / 4096];
  char *first = (char *)((size_t)block & -(size_t)4096);
  int64_t count = size / 4096, there = 0;
  if (mincore(first, (size_t)size, pages) != 0) return -1;
  for (int64_t i = 0; i < count; i++) there += pages[i] & 1;
  return there * 4096 / MB;
}

/* Blocks that make way for another one give it their pages, and what they have too much to the next one. */
TEST(pages_that_were_touched_go_on) {
  lgt_pool *pool = lgt_pool_new((int64_t)1 << 40);
  int64_t size[2], large, next;
  char *block[2];
  for (int i = 0; i < 2; i++) {
    block[i] = lgt_pool_take(pool, 32 * MB, false, &size[i]);
    memset(block[i], 1 + i, (size_t)size[i]);
  }
  for (int i = 0; i < 2; i++) lgt_pool_give(pool, block[i], size[i]);
  char *fresh = lgt_pool_take(pool, 48 * MB, false, &large);
  CHECK(fresh && resident(fresh, large) >= 47);
  CHECK(pool->used == large + lgt_pool_idle(pool) && lgt_pool_idle(pool) <= 16 * MB);
  CHECK(lgt_pool_idle(pool) == pool->stocked && pool->stocked > 0);
  memset(fresh, 3, (size_t)large);
  char *second = lgt_pool_take(pool, 24 * MB, false, &next);
  CHECK(second && resident(second, next) >= 14);
  CHECK_EQ(pool->used, large + next);
  memset(second, 4, (size_t)next);
  lgt_pool_give(pool, fresh, large);
  lgt_pool_give(pool, second, next);
  lgt_pool_trim(pool);
  CHECK(pool->used == 0 && lgt_pool_idle(pool) == 0);
  lgt_pool_release(pool);
}

TEST(the_limit_holds_with_what_is_idle) {
  lgt_pool *pool = lgt_pool_new(10 * MB);
  int64_t size, other;
  char *block = lgt_pool_take(pool, 6 * MB, false, &size);
  CHECK(block && !lgt_pool_take(pool, 6 * MB, false, &other));
  CHECK(pool->asked >= 6 * MB);
  lgt_pool_give(pool, block, size);
  block = lgt_pool_take(pool, 9 * MB, false, &size); /* instead of the one that is idle */
  CHECK(block && lgt_pool_left(pool) >= 0 && lgt_pool_idle(pool) == 0);
  lgt_pool_give(pool, block, size);
  block = lgt_pool_take(pool, 20 * MB, true, &size);
  CHECK(block);
  lgt_pool_give(pool, block, size);
  lgt_pool_release(pool);
}

/* Memory of a library counts, and has no bytes of its own. */
TEST(what_libraries_hold_counts) {
  lgt_pool *pool = lgt_pool_new(10 * MB);
  int64_t size;
  void *factors = lgt_host_outside(pool, 6 * MB);
  CHECK(factors && pool->outside == 6 * MB && lgt_pool_left(pool) == 4 * MB);
  CHECK(!lgt_pool_take(pool, 6 * MB, false, &size));
  void *more = lgt_host_outside(pool, 6 * MB); /* the library has it already */
  CHECK(more && lgt_pool_left(pool) < 0);
  lgt_host_free(more);
  lgt_host_free(factors);
  CHECK_EQ(pool->outside, 0);
  CHECK_EQ(lgt_pool_left(pool), 10 * MB);
  lgt_pool_release(pool);
}

int main(void) {
  RUN(a_block_is_used_again);
  RUN(sizes_that_change_do_not_pile_up);
  RUN(sizes_that_shrink_are_within_what_was_in_use);
  RUN(sizes_that_take_turns_are_kept);
  RUN(a_block_that_is_too_large_is_left_to_others);
  RUN(what_is_used_in_each_turn_is_kept);
  RUN(pages_that_were_touched_go_on);
  RUN(the_limit_holds_with_what_is_idle);
  RUN(what_libraries_hold_counts);
  return check_done();
}
