/* test_evict.c - what leaves a device whose memory is short: what is needed last, and least. */
#include "move/evict.h"

#include <string.h>

#include "fusion.h"
#include "memory/pool.h"
#include "memory/replica.h"
#include "move/acquire.h"

enum { BYTES = N * 8 }; /* of an array */

/* Element i is i + 1, in the device's memory. */
static lgt_id made(void) {
  lgt_id x = apply_drop("a1 c1 add =0", filled(N, 1, 0), 0);
  return lgt_fence(rt) ? 0 : x;
}

static bool is_there(lgt_id id) { return !lgt_instance_on_host(store_of(id)->replica[0].inst); }

/* A group has worked on the array alone. */
static void use(lgt_id id) {
  lgt_store *store = store_of(id);
  rt->binder.agreed.position++;
  store->used_before = store->used;
  store->used = rt->binder.agreed.position;
}

/* The device lacks room for one array. */
static bool evict(void) {
  rt->map.memory[1].pool->lacked = BYTES;
  return lgt_evict(&rt->binder);
}

static bool opened(lgt_id *id, int n) {
  if (open_with(&rt, "cpus", "1", "emulate", "1", "min_tile", "1", NULL)) return false;
  for (int i = 0; i < n; i++) id[i] = made();
  for (int i = 0; i < n; i++)
    if (!id[i] || !is_there(id[i])) return false;
  return true;
}

TEST(what_was_used_longest_ago_leaves_first) {
  lgt_id x[3];
  CHECK(opened(x, 3));
  for (int i = 0; i < 3; i++) store_of(x[i])->used_before = 0;
  store_of(x[0])->used = 3;
  store_of(x[1])->used = 1;
  store_of(x[2])->used = 2;
  CHECK(evict());
  CHECK(is_there(x[0]) && !is_there(x[1]) && is_there(x[2]));
  CHECK(evict());
  CHECK(is_there(x[0]) && !is_there(x[1]) && !is_there(x[2]));
  lgt_close(rt);
}

TEST(what_is_used_in_turns_leaves_when_its_turn_was) {
  lgt_id x[3];
  CHECK(opened(x, 3));
  for (int turn = 0; turn < 2; turn++)
    for (int i = 0; i < 3; i++) use(x[i]);
  CHECK(evict());
  CHECK(is_there(x[0]) && is_there(x[1]) && !is_there(x[2]));
  for (int i = 0; i < 20; i++) rt->binder.agreed.position++; /* nobody expects them any more */
  CHECK(evict());
  CHECK(!is_there(x[0]) && is_there(x[1]));
  lgt_close(rt);
}

TEST(what_the_window_needs_stays_longer) {
  lgt_id x[3];
  CHECK(opened(x, 3));
  for (int i = 0; i < 3; i++) use(x[i]);
  lgt_call calls[2] = {{.nargs = 1, .store = {store_of(x[0])->id}},
                       {.nargs = 1, .store = {store_of(x[1])->id}}};
  rt->binder.ahead = calls;
  rt->binder.nahead = 2;
  CHECK(evict());
  CHECK(is_there(x[0]) && is_there(x[1]) && !is_there(x[2]));
  CHECK(evict());
  CHECK(is_there(x[0]) && !is_there(x[1]));
  rt->binder.nbound = 1; /* the group that is being bound works on it */
  CHECK(!evict());
  CHECK(is_there(x[0]));
  rt->binder.nahead = rt->binder.nbound = 0;
  lgt_close(rt);
}

TEST(what_the_host_has_too_is_not_copied) {
  lgt_id x[3];
  CHECK(opened(x, 3));
  for (int i = 0; i < 3; i++) use(x[i]);
  for (int i = 0; i < 3; i++) store_of(x[i])->used_before = 0;
  lgt_store *last = store_of(x[2]);
  lgt_rect all = last->replica[0].inst->rect;
  CHECK(!lgt_acquire(&rt->binder, last, 0, rt->map.memory, &all, LGT_USE_READ, NULL, NULL) && !lgt_fence(rt));
  CHECK(last->replica[0].naside == 1); /* on the device */
  int64_t down = rt->map.down_bytes, live = rt->map.live;
  CHECK(evict());
  CHECK(is_there(x[0]) && is_there(x[1]) && !last->replica[0].naside);
  CHECK(rt->map.down_bytes == down && rt->map.live <= live - BYTES);
  lgt_close(rt);
}

TEST(garbage_is_collected_before_much_is_moved) {
  lgt_id x[1];
  CHECK(opened(x, 1));
  rt->map.memory[1].pool->lacked = BYTES;
  rt->fuser.collection_ns = 100;
  rt->binder.may_collect = true;
  rt->map.since_collection = BYTES;
  CHECK(lgt_evict_garbage(&rt->binder));
  rt->map.since_collection = BYTES - 1; /* dead handles cannot hold so much */
  CHECK(!lgt_evict_garbage(&rt->binder));
  rt->map.since_collection = BYTES;
  rt->fuser.collection_ns = 1e6;
  CHECK(!lgt_evict_garbage(&rt->binder));
  rt->fuser.collection_ns = 100;
  rt->binder.may_collect = false;
  CHECK(!lgt_evict_garbage(&rt->binder));
  lgt_close(rt);
}

TEST(there_may_be_room) {
  lgt_id x[1];
  CHECK(opened(x, 1));
  CHECK(!lgt_evict(&rt->binder) && is_there(x[0]));
  lgt_close(rt);
}

TEST(all_may_leave) {
  CHECK(!open_with(&rt, "cpus", "1", "emulate", "1", "min_tile", "1", NULL));
  lgt_id id = made();
  lgt_store *x = store_of(id);
  CHECK(id && is_there(id));
  CHECK(!lgt_evict_all(&rt->binder));
  CHECK(!is_there(id) && !x->replica[0].naside && ((double *)x->replica[0].inst->data)[7] == 8);
  lgt_close(rt);
}

TEST(an_error_says_which_device_lacks_memory) {
  enum { LITTLE = 1024 };
  CHECK(!open_with(&rt, "cpus", "1", "emulate", "2", "gpu_strict", "1", "min_tile", "1", NULL));
  lgt_pool *second = rt->map.memory[2].pool;
  lgt_pool_widen(second, LITTLE - second->limit);
  lgt_id x = apply_drop("a1 c1 add =0", filled(N, 1, 0), 0);
  CHECK(isnan(value_at(x, 0)));
  if (!strstr(lgt_message(), "of 1024 are taken")) printf("# %s\n", lgt_message());
  CHECK(strstr(lgt_message(), "of 1024 are taken"));
  lgt_close(rt);
}

int main(void) {
  RUN(what_was_used_longest_ago_leaves_first);
  RUN(what_is_used_in_turns_leaves_when_its_turn_was);
  RUN(what_the_window_needs_stays_longer);
  RUN(what_the_host_has_too_is_not_copied);
  RUN(garbage_is_collected_before_much_is_moved);
  RUN(there_may_be_room);
  RUN(all_may_leave);
  RUN(an_error_says_which_device_lacks_memory);
  return check_done();
}
