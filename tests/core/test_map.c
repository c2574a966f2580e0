/* test_map.c - instances, the pool, and what moves between domains, against bitmaps.
 *
 * The model of a store keeps, for each element and domain, whether the newest value is there.  A fetch must
 * copy exactly what is missing and somebody has, each element once, from somebody who has it.
 */
#include "check.h"
#include "loops.h"
#include "map.h"
#include "mem.h"

enum { SIDE = 6, MOST = SIDE * SIDE, MAX_DOMAINS = 4 };

static lgt_stores stores;

static const lgt_layout *root_of(int dtype, int ndim, const int64_t *shape) {
  return lgt_layout_at(&stores, lgt_stores_dense(&stores, dtype, ndim, shape));
}

/* ---- memory ----------------------------------------------------------------------------------------- */

TEST(released_memory_is_used_again) {
  lgt_map map;
  lgt_map_init(&map, &stores, 1, 1 << 30);
  const lgt_layout *root = root_of(LGT_FLOAT64, 1, (int64_t[]){1000});
  lgt_rect all = lgt_rect_of_shape(1, root->shape);
  lgt_instance *a = lgt_instance_new(&map, 0, root, &all);
  CHECK(a && a->refs == 1 && a->elem == 8 && a->stride[0] == 8);
  CHECK_EQ((uintptr_t)a->data % 64, 0);
  CHECK(a->bytes >= 8000 && a->bytes <= 10000);
  CHECK_EQ(map.live, a->bytes);
  char *data = a->data;
  lgt_instance_retain(a);
  lgt_instance_release(&map, a);
  CHECK_EQ(map.pooled, 0);
  int64_t bytes = a->bytes;
  lgt_instance_release(&map, a);
  CHECK(map.live == 0 && map.pooled == bytes && map.peak == bytes);
  lgt_instance *b = lgt_instance_new(&map, 0, root, &all);
  CHECK(b->data == data && map.pooled == 0);
  lgt_instance_release(&map, b);
  lgt_map_trim(&map);
  CHECK_EQ(map.pooled, 0);
  lgt_instance_release(&map, NULL);
  lgt_map_fini(&map);
}

TEST(blocks_of_every_size_come_and_go) {
  enum { N = 60 };
  lgt_map map;
  lgt_map_init(&map, &stores, 1, (int64_t)1 << 32);
  lgt_instance *inst[N] = {NULL};
  for (int round = 0; round < 4000; round++) {
    int i = random_below(N);
    if (inst[i]) {
      int64_t n = lgt_rect_size(&inst[i]->rect);
      for (int64_t k = 0; k < n; k += n / 7 + 1) CHECK_EQ((unsigned char)inst[i]->data[k], i);
      CHECK(n == 0 || (unsigned char)inst[i]->data[n - 1] == i);
      lgt_instance_release(&map, inst[i]);
      inst[i] = NULL;
      continue;
    }
    int64_t n = random_below(4) ? random_below(3000) : random_below(6 << 20);
    lgt_rect rect = {.ndim = 1, .lo = {5}, .hi = {5 + n}};
    inst[i] = lgt_instance_new(&map, 0, root_of(LGT_UINT8, 1, (int64_t[]){7 << 20}), &rect);
    CHECK(inst[i] && inst[i]->bytes >= n && inst[i]->bytes <= (n < 256 ? n + 64 : n + n / 4));
    memset(inst[i]->data, i, (size_t)n);
  }
  int64_t live = 0;
  for (int i = 0; i < N; i++)
    if (inst[i]) live += inst[i]->bytes;
  CHECK_EQ(map.live, live);
  for (int i = 0; i < N; i++) lgt_instance_release(&map, inst[i]);
  CHECK_EQ(map.live, 0);
  lgt_map_fini(&map);
}

TEST(the_budget_counts_free_blocks_only_until_they_are_needed) {
  lgt_map map;
  lgt_map_init(&map, &stores, 1, 100000);
  lgt_instance *inst[4];
  lgt_rect small = {.ndim = 1, .hi = {20000}}, large = {.ndim = 1, .hi = {80000}};
  const lgt_layout *root = root_of(LGT_UINT8, 1, (int64_t[]){80000});
  for (int i = 0; i < 4; i++) CHECK((inst[i] = lgt_instance_new(&map, 0, root, &small)) != NULL);
  CHECK(!lgt_instance_new(&map, 0, root, &small));
  CHECK_EQ(map.live, 4 * inst[0]->bytes);
  for (int i = 0; i < 4; i++) lgt_instance_release(&map, inst[i]);
  CHECK(map.pooled > 60000);
  lgt_instance *one = lgt_instance_new(&map, 0, root, &large);
  CHECK(one && map.pooled == 0);
  lgt_instance_release(&map, one);
  map.budget = 1 << 30;
  lgt_mem_fail_at(1); /* the elements: free blocks are given back, then it is tried again */
  one = lgt_instance_new(&map, 0, root, &small);
  lgt_mem_fail_at(0);
  CHECK(one && map.pooled == 0);
  for (int n = 1; n <= 2; n++) { /* the elements of one whose record is used again, and of a new one */
    lgt_mem_fail_from(n);
    lgt_instance *two = lgt_instance_new(&map, 0, root, &small);
    lgt_mem_fail_at(0);
    CHECK(!two == (n == 1));
    lgt_instance_release(&map, two);
  }
  lgt_instance_release(&map, one);
  CHECK_EQ(map.live, 0);
  lgt_map_fini(&map);
}

TEST(attached_memory_is_not_freed) {
  lgt_map map;
  double memory[6] = {1, 2, 3, 4, 5, 6};
  lgt_map_init(&map, &stores, 1, 1000);
  lgt_instance *inst = lgt_instance_attach(&map, root_of(LGT_FLOAT64, 2, (int64_t[]){2, 3}), memory);
  CHECK(inst && inst->bytes == 0 && map.live == 0);
  CHECK(lgt_instance_at(inst, (int64_t[]){1, 2}) == (char *)&memory[5]);
  lgt_instance_release(&map, inst);
  CHECK(memory[5] == 6 && map.pooled == 0);
  lgt_map_fini(&map);
}

/* ---- copies -------------------------------------------------------------------------------------------- */

static lgt_rect random_rect(int ndim, const int64_t *extent) {
  lgt_rect r = {.ndim = ndim};
  for (int d = 0; d < ndim; d++) {
    r.lo[d] = random_below((int)extent[d]);
    r.hi[d] = r.lo[d] + 1 + random_below((int)(extent[d] - r.lo[d]));
  }
  return r;
}

static bool next(int ndim, const int64_t *shape, int64_t *x) {
  int d = ndim - 1;
  for (; d >= 0 && ++x[d] == shape[d]; d--) x[d] = 0;
  return d >= 0;
}

TEST(a_copy_moves_its_rect) {
  lgt_map map;
  lgt_map_init(&map, &stores, 2, 1 << 20);
  for (int round = 0; round < 500; round++) {
    int ndim = random_below(4);
    int64_t shape[3] = {1 + random_below(5), 1 + random_below(5), 1 + random_below(5)}, x[LGT_MAX_DIM] = {0};
    const lgt_layout *root = root_of(LGT_INT32, ndim, shape);
    lgt_rect rect = random_rect(ndim, shape), around = rect, all = lgt_rect_of_shape(ndim, shape);
    for (int d = 0; d < ndim; d++) { /* another instance, with a margin */
      around.lo[d] -= random_below((int)around.lo[d] + 1);
      around.hi[d] += random_below((int)(shape[d] - around.hi[d]) + 1);
    }
    lgt_instance *from = lgt_instance_new(&map, 0, root, &all),
                 *to = lgt_instance_new(&map, 1, root, &around);
    memset(to->data, 0xff, (size_t)to->bytes);
    int n = 0;
    do *(int32_t *)lgt_instance_at(from, x) = n++;
    while (next(ndim, shape, x));
    lgt_copy copy = {from, to, rect};
    lgt_copy_run(&copy);
    memset(x, 0, sizeof x);
    n = 0;
    do {
      lgt_rect point = {.ndim = ndim};
      for (int d = 0; d < ndim; d++) point.lo[d] = x[d], point.hi[d] = x[d] + 1;
      if (lgt_rect_contains(&around, &point))
        CHECK_EQ(*(int32_t *)lgt_instance_at(to, x), lgt_rect_contains(&rect, &point) ? n : -1);
      n++;
    } while (next(ndim, shape, x));
    lgt_instance_release(&map, from);
    lgt_instance_release(&map, to);
  }
  CHECK_EQ(map.live, 0);
  lgt_map_fini(&map);
}

/* ---- replicas -------------------------------------------------------------------------------------------- */

typedef struct model {
  int domains;
  bool valid[MAX_DOMAINS][MOST];
  int value[MOST]; /* the newest; 0: never written */
} model;

static lgt_rect point_of(int e) {
  return (lgt_rect){.ndim = 2, .lo = {e / SIDE, e % SIDE}, .hi = {e / SIDE + 1, e % SIDE + 1}};
}
static bool holds(const lgt_rect *r, int e) {
  lgt_rect p = point_of(e);
  return lgt_rect_contains(r, &p);
}
static int *element(const lgt_store *store, int domain, int e) {
  return (int *)lgt_instance_at(store->replica[domain].inst, (int64_t[]){e / SIDE, e % SIDE});
}

/* What lgt says is valid is what the model says, and holds the newest values. */
static bool agrees(const model *m, const lgt_store *store) {
  for (int d = 0; d < m->domains; d++)
    for (int e = 0; e < MOST; e++) {
      lgt_rect p = point_of(e);
      if (lgt_region_contains(&store->replica[d].valid, &p) != m->valid[d][e]) return false;
      if (m->valid[d][e] && m->value[e] && *element(store, d, e) != m->value[e]) return false;
    }
  return true;
}

static bool fetch(model *m, lgt_map *map, lgt_store *store, int domain, const lgt_rect *rect, bool fail) {
  lgt_copy *copies = NULL;
  int count = 0, room = 0, moved[MOST] = {0};
  int64_t before = map->copied, expected = 0;
  lgt_mem_fail_at(fail ? 1 + random_below(3) : 0);
  bool good = lgt_store_fetch(map, store, domain, rect, &copies, &count, &room);
  lgt_mem_fail_at(0);
  if (good) {
    for (int i = 0; i < count; i++) {
      int from = copies[i].from->domain;
      if (copies[i].to != store->replica[domain].inst || from == domain) return false;
      for (int e = 0; e < MOST; e++)
        if (holds(&copies[i].rect, e)) {
          if (!m->valid[from][e] || !holds(rect, e)) return false;
          moved[e]++;
        }
      lgt_copy_run(&copies[i]);
    }
    for (int e = 0; e < MOST; e++) {
      bool somebody = false;
      for (int d = 0; d < m->domains; d++) somebody |= m->valid[d][e];
      bool missing = holds(rect, e) && !m->valid[domain][e] && somebody;
      if (moved[e] != missing) return false;
      expected += missing;
      if (holds(rect, e)) m->valid[domain][e] = true;
    }
    if (map->copied - before != expected * 4) return false;
    if (!lgt_region_add(&store->replica[domain].valid, rect)) return false;
  } else if (!fail) {
    return false;
  }
  lgt_mem_free(copies);
  return agrees(m, store);
}

TEST(exactly_what_is_missing_moves) {
  lgt_map map;
  int64_t live = lgt_mem_live();
  int64_t shape[] = {SIDE, SIDE};
  const lgt_layout *root = root_of(LGT_INT32, 2, shape);
  lgt_rect all = lgt_rect_of_shape(2, shape);
  int version = 0;
  for (int round = 0; round < 300; round++) {
    model m = {.domains = 1 + random_below(MAX_DOMAINS)};
    lgt_map_init(&map, &stores, m.domains, 1 << 20);
    lgt_store *store = lgt_store_new(&stores, lgt_stores_dense(&stores, LGT_INT32, 2, shape));
    CHECK(lgt_store_replicas(&map, store) == store->replica);
    CHECK(lgt_store_replicas(&map, store) == store->replica);
    for (int d = 0; d < m.domains; d++) {
      lgt_instance *inst = lgt_instance_new(&map, d, root, &all);
      lgt_replica_set(&map, &store->replica[d], inst);
      CHECK_EQ(inst->owners, 1);
    }
    for (int step = 0; step < 30; step++) {
      int domain = random_below(m.domains);
      lgt_rect rect = random_rect(2, shape);
      if (random_below(2)) {
        CHECK(fetch(&m, &map, store, domain, &rect, random_below(4) == 0));
        continue;
      }
      lgt_mem_fail_at(random_below(3));
      bool good = lgt_store_written(&map, store, domain, &rect);
      lgt_mem_fail_at(0);
      if (!good) {
        CHECK(agrees(&m, store));
        CHECK(lgt_store_written(&map, store, domain, &rect));
      }
      version++;
      for (int e = 0; e < MOST; e++)
        if (holds(&rect, e)) {
          for (int d = 0; d < m.domains; d++) m.valid[d][e] = d == domain;
          m.value[e] = *element(store, domain, e) = version;
        }
      CHECK(agrees(&m, store));
    }
    lgt_store_forget(&map, store);
    CHECK(!store->replica && map.live == 0);
    lgt_store_recycle(&stores, store);
    lgt_map_fini(&map);
  }
  CHECK_EQ(lgt_mem_live(), live);
}

int main(void) {
  if (lgt_stores_init(&stores)) return 1;
  RUN(released_memory_is_used_again);
  RUN(blocks_of_every_size_come_and_go);
  RUN(the_budget_counts_free_blocks_only_until_they_are_needed);
  RUN(attached_memory_is_not_freed);
  RUN(a_copy_moves_its_rect);
  RUN(exactly_what_is_missing_moves);
  lgt_stores_fini(&stores);
  return check_done() || lgt_mem_live() != 0;
}
