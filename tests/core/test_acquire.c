/* test_acquire.c - a domain's memory for some elements of a store: when it grows, parts, or gets one more beside it. */
#include "move/acquire.h"

#include "fusion.h"
#include "memory/replica.h"

static lgt_rect range(int64_t lo, int64_t hi) { return (lgt_rect){.ndim = 1, .lo = {lo}, .hi = {hi}}; }

static lgt_status acquire(lgt_store *store, int domain, int64_t lo, int64_t hi, lgt_use use) {
  lgt_rect rect = range(lo, hi);
  return lgt_acquire(&rt->binder, store, domain, rt->map.memory, &rect, use, NULL, NULL);
}

/* A vector of which two domains have written a half each: element i is i + 1. */
static lgt_store *halves(void) {
  open_domains();
  lgt_id x = apply("a1 c1 add =0", filled(N, 1, 0), 0);
  return lgt_fence(rt) ? NULL : store_of(x);
}

static bool covers(const lgt_instance *inst, int64_t lo, int64_t hi) {
  return inst->rect.lo[0] == lo && inst->rect.hi[0] == hi;
}

static double element(const lgt_instance *inst, int64_t i) {
  return ((double *)inst->data)[i - inst->rect.lo[0]];
}

TEST(an_instance_grows_by_a_halo_and_keeps_its_elements) {
  lgt_store *x = halves();
  CHECK(x);
  lgt_replica *own = &x->replica[0];
  CHECK(covers(own->inst, 0, N / 2));
  lgt_instance *before = own->inst;
  CHECK(!acquire(x, 0, 10, N / 2, LGT_USE_READ));
  CHECK(own->inst == before); /* it has them */
  CHECK(!acquire(x, 0, N / 2, N / 2 + 3, LGT_USE_RECEIVE));
  CHECK(covers(own->inst, 0, N / 2 + 3) && !own->naside);
  CHECK(x->housed && x->housed->notes->halo);
  CHECK_EQ(x->housed->notes->halo[x->housed_slot].above[0], 3); /* its group makes that room from now on */
  CHECK(!lgt_fence(rt));
  CHECK(element(own->inst, 0) == 1 && element(own->inst, N / 2 - 1) == N / 2);
  lgt_close(rt);
}

TEST(what_is_far_away_lies_aside) {
  lgt_store *x = halves();
  CHECK(x);
  lgt_replica *own = &x->replica[0];
  lgt_instance *before = own->inst;
  CHECK(!acquire(x, 0, N - 5, N, LGT_USE_RECEIVE));
  CHECK_EQ(own->naside, 1);
  CHECK(covers(own->inst, N - 5, N) && own->aside[0].inst == before);
  CHECK(!acquire(x, 0, 0, 7, LGT_USE_READ)); /* the former one is worked with again */
  CHECK(own->inst == before && own->naside == 1);
  lgt_close(rt);
}

/* What a recipe reads, or another store has, stays as it is. */
TEST(memory_that_others_need_is_not_written) {
  lgt_store *x = halves();
  CHECK(x);
  lgt_replica *own = &x->replica[0];
  lgt_instance *before = lgt_instance_retain(own->inst);
  before->owners++;
  CHECK(!acquire(x, 0, 0, N / 2, LGT_USE_READ));
  CHECK(own->inst == before);
  CHECK(!acquire(x, 0, 0, N / 2, LGT_USE_WRITE));
  CHECK(own->inst != before && !lgt_fence(rt));
  CHECK(element(own->inst, 5) == 6 && element(before, 5) == 6);
  before->owners--;
  lgt_instance_release(&rt->map, before);
  before = own->inst;
  lgt_instance_pin(&rt->map, before, &before->rect);
  lgt_instance_retain(before);
  CHECK(!acquire(x, 0, 3, 4, LGT_USE_RECEIVE));
  CHECK(own->inst != before && !lgt_fence(rt) && element(own->inst, 5) == 6);
  lgt_instance_unpin(&rt->map, before);
  lgt_instance_release(&rt->map, before);
  lgt_close(rt);
}

/* Elements that are about to be overwritten need not come along. */
TEST(what_is_spare_is_not_copied) {
  lgt_store *x = halves();
  CHECK(x);
  int64_t copied = stat_of(rt, "bytes_copied");
  lgt_rect want = range(0, N / 2 + 10), spare = range(0, N / 2 - 4);
  CHECK(!lgt_acquire(&rt->binder, x, 0, rt->map.memory, &want, LGT_USE_WRITE, &spare, NULL));
  CHECK(!lgt_fence(rt));
  CHECK_EQ(stat_of(rt, "bytes_copied") - copied, 4 * 8);
  CHECK(element(x->replica[0].inst, N / 2 - 1) == N / 2);
  lgt_close(rt);
}

/* Two instances have an element: that of the instance that is acquired is brought up to date. */
TEST(old_elements_come_from_where_they_are_new) {
  lgt_store *x = halves();
  CHECK(x && !acquire(x, 0, N - 5, N, LGT_USE_RECEIVE) && !acquire(x, 0, N - 300, N - 290, LGT_USE_RECEIVE));
  lgt_replica *own = &x->replica[0];
  lgt_rect part = range(2, 9);
  lgt_instance *tile = lgt_replica_holder(own, &part), *fresh;
  CHECK(tile && tile != own->inst);
  CHECK((fresh = lgt_instance_in(&rt->map, rt->map.memory, 0, lgt_layout_at(&rt->stores, x->layout), &part)));
  CHECK(lgt_replica_add(&rt->map, own, fresh));
  for (int i = 0; i < 7; i++) ((double *)fresh->data)[i] = -i;
  CHECK(lgt_replica_written(own, fresh, &part));
  CHECK(!acquire(x, 0, 0, N / 2, LGT_USE_READ) && !lgt_fence(rt));
  CHECK(own->inst == tile && !lgt_region_meets(&own->old, &part));
  CHECK(element(tile, 1) == 2 && element(tile, 4) == -2 && element(tile, 9) == 10);
  lgt_close(rt);
}

TEST(one_domain_has_all_of_a_store) {
  open_plain();
  lgt_id x = filled(N, 1, 0);
  lgt_store *store = store_of(x);
  lgt_instance *before = lgt_instance_retain(store->replica[0].inst);
  lgt_instance_pin(&rt->map, before, &before->rect);
  CHECK(!acquire(store, 0, 3, 5, LGT_USE_WRITE));
  CHECK(store->replica[0].inst != before && covers(store->replica[0].inst, 0, N));
  lgt_instance_unpin(&rt->map, before);
  lgt_instance_release(&rt->map, before);
  lgt_close(rt);
}

TEST(without_memory_nothing_changes) {
  lgt_store *x = halves();
  CHECK(x);
  lgt_instance *before = x->replica[0].inst;
  for (int n = 1; n < 4; n++) {
    lgt_mem_fail_at(n);
    lgt_status status = acquire(x, 0, N - 5, N, LGT_USE_RECEIVE);
    lgt_mem_fail_at(0);
    if (!status) break;
    CHECK_EQ(status, LGT_NO_MEMORY);
    CHECK(x->replica[0].inst == before && !x->replica[0].naside);
  }
  lgt_close(rt);
}

/* Of a long store the elements on each k-th page. */
static lgt_picks pages(int64_t first, int64_t n, int64_t k) {
  enum { OF = LGT_THIN_PAGE / 8 };
  lgt_runs *runs = lgt_runs_new(n);
  for (int64_t i = 0; runs && i < n; i++) {
    runs->run[i][0] = OF * (first + k * i);
    runs->run[i][1] = runs->run[i][0] + 1;
  }
  if (runs) runs->count = runs->total = n;
  return (lgt_picks){.runs = {runs}, .count = 1, .rest.ndim = -1};
}

/* What was refused is refused again, and takes no part of the memory that is left. */
TEST(pages_are_there_or_they_are_not) {
  enum { LONG = 1 << 20 };
  open_domains();
  lgt_id id = apply("a1 c1 add =0", vector(LONG), 0);
  CHECK(!lgt_fence(rt));
  lgt_store *x = store_of(id);
  lgt_store_forget(&rt->map, x);
  lgt_rect all = range(0, LONG);
  lgt_memory *memory = rt->map.memory;
  lgt_picks few = pages(0, 10, 1), many = pages(5, 500, 2), others = pages(1000, 20, 2);
  CHECK(!lgt_acquire(&rt->binder, x, 0, memory, &all, LGT_USE_RECEIVE, NULL, &few));
  lgt_instance *inst = x->replica[0].inst;
  CHECK(inst->thin && inst->bytes == 10 * LGT_THIN_PAGE);
  lgt_pool_trim(memory->pool);
  lgt_pool_widen(memory->pool, 40 * LGT_THIN_PAGE - lgt_pool_left(memory->pool));
  for (int turn = 0; turn < 3; turn++)
    CHECK_EQ(lgt_acquire(&rt->binder, x, 0, memory, &all, LGT_USE_RECEIVE, NULL, &many), LGT_NO_MEMORY);
  CHECK_EQ(inst->bytes, 10 * LGT_THIN_PAGE);
  CHECK(!lgt_acquire(&rt->binder, x, 0, memory, &all, LGT_USE_RECEIVE, NULL, &others));
  CHECK_EQ(inst->bytes, 30 * LGT_THIN_PAGE);
  CHECK_EQ(lgt_pool_left(memory->pool), 20 * LGT_THIN_PAGE);
  lgt_piece piece = {.rect = all, .runs = (lgt_runs *)many.runs[0]};
  lgt_acquire_arrival(&rt->map, inst, &piece); /* but for three, which the first ones had */
  CHECK_EQ(inst->bytes, (30 + 500 - 3) * LGT_THIN_PAGE);
  CHECK_EQ(lgt_pool_left(memory->pool), (20 - 500 + 3) * LGT_THIN_PAGE);
  lgt_runs_release((lgt_runs *)few.runs[0]);
  lgt_runs_release((lgt_runs *)many.runs[0]);
  lgt_runs_release((lgt_runs *)others.runs[0]);
  lgt_close(rt);
}

int main(void) {
  RUN(an_instance_grows_by_a_halo_and_keeps_its_elements);
  RUN(what_is_far_away_lies_aside);
  RUN(memory_that_others_need_is_not_written);
  RUN(what_is_spare_is_not_copied);
  RUN(old_elements_come_from_where_they_are_new);
  RUN(one_domain_has_all_of_a_store);
  RUN(without_memory_nothing_changes);
  RUN(pages_are_there_or_they_are_not);
  return check_done();
}
