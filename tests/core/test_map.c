/* test_map.c - instances, the pool, and copies. */
#include "check.h"
#include "loops.h"
#include "memory/map.h"
#include "base/mem.h"

static lgt_stores stores;

static const lgt_layout *root_of(int dtype, int ndim, const int64_t *shape) {
  return lgt_layout_at(&stores, lgt_stores_dense(&stores, dtype, ndim, shape));
}

/* ---- memory ----------------------------------------------------------------------------------------- */

TEST(released_memory_is_used_again) {
  lgt_map map;
  lgt_map_init(&map, &stores, 1, 0, 1, 1 << 30);
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
  CHECK_EQ(map.pool->idle, 0);
  int64_t bytes = a->bytes;
  lgt_instance_release(&map, a);
  CHECK(map.live == 0 && map.pool->idle == bytes && map.peak == bytes);
  lgt_instance *b = lgt_instance_new(&map, 0, root, &all);
  CHECK(b->data == data && map.pool->idle == 0);
  lgt_instance_release(&map, b);
  lgt_pool_trim(map.pool);
  CHECK_EQ(map.pool->idle, 0);
  lgt_instance_release(&map, NULL);
  lgt_map_fini(&map);
}

/* Memory that is used again has what was there, unless `check` shall show who reads it. */
TEST(with_check_new_memory_is_not_a_number) {
  lgt_map map;
  lgt_map_init(&map, &stores, 1, 0, 1, 1 << 30);
  const lgt_layout *root = root_of(LGT_FLOAT64, 1, (int64_t[]){100});
  lgt_rect all = lgt_rect_of_shape(1, root->shape);
  for (int check = 0; check < 2; check++) {
    map.check = check;
    lgt_instance *inst = lgt_instance_new(&map, 0, root, &all);
    CHECK(inst);
    double *element = (double *)inst->data;
    for (int i = 0; i < 100 && check; i++) CHECK(element[i] != element[i]);
    for (int i = 0; i < 100; i++) element[i] = 1;
    lgt_instance_release(&map, inst);
  }
  lgt_map_fini(&map);
}

TEST(blocks_of_every_size_come_and_go) {
  enum { N = 60 };
  lgt_map map;
  lgt_map_init(&map, &stores, 1, 0, 1, (int64_t)1 << 32);
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
    /* A quarter more, or a large free block of the next two sizes. */
    int64_t most = n < 256 ? n + 64 : n + n / 4;
    if (most >= 1 << 20) most = n + 3 * n / 4;
    CHECK(inst[i] && inst[i]->bytes >= n && inst[i]->bytes <= most);
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
  lgt_map_init(&map, &stores, 1, 0, 1, 100000);
  lgt_instance *inst[4];
  lgt_rect small = {.ndim = 1, .hi = {20000}}, large = {.ndim = 1, .hi = {80000}};
  const lgt_layout *root = root_of(LGT_UINT8, 1, (int64_t[]){80000});
  for (int i = 0; i < 4; i++) CHECK((inst[i] = lgt_instance_new(&map, 0, root, &small)) != NULL);
  CHECK(!lgt_instance_new(&map, 0, root, &small));
  CHECK_EQ(map.live, 4 * inst[0]->bytes);
  for (int i = 0; i < 4; i++) lgt_instance_release(&map, inst[i]);
  CHECK(map.pool->idle > 60000);
  lgt_instance *one = lgt_instance_new(&map, 0, root, &large);
  CHECK(one && map.pool->idle == 0);
  lgt_instance_release(&map, one);
  map.pool->limit = 1 << 30;
  lgt_mem_fail_at(1); /* the elements: free blocks are given back, then it is tried again */
  one = lgt_instance_new(&map, 0, root, &small);
  lgt_mem_fail_at(0);
  CHECK(one && map.pool->idle == 0);
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
  lgt_map_init(&map, &stores, 1, 0, 1, 1000);
  lgt_instance *inst = lgt_instance_attach(&map, root_of(LGT_FLOAT64, 2, (int64_t[]){2, 3}), memory);
  CHECK(inst && inst->bytes == 0 && map.live == 0);
  CHECK(lgt_instance_at(inst, (int64_t[]){1, 2}) == (char *)&memory[5]);
  lgt_instance_release(&map, inst);
  CHECK(memory[5] == 6 && map.pool->idle == 0);
  lgt_map_fini(&map);
}

static int given_back;
static void give_back(void *data) {
  given_back++;
  free(data);
}

TEST(adopted_memory_is_freed_once) {
  lgt_map map;
  double *memory = malloc(6 * sizeof *memory);
  given_back = 0;
  lgt_map_init(&map, &stores, 1, 0, 1, 1000);
  lgt_instance *inst =
      lgt_instance_adopt(&map, root_of(LGT_FLOAT64, 2, (int64_t[]){2, 3}), memory, give_back);
  CHECK(inst && inst->bytes == 48 && map.live == 48);
  CHECK(lgt_instance_at(inst, (int64_t[]){1, 2}) == (char *)&memory[5]);
  lgt_instance_retain(inst);
  lgt_instance_release(&map, inst);
  CHECK_EQ(given_back, 0);
  lgt_instance_release(&map, inst);
  CHECK(given_back == 1 && map.live == 0 && map.pool->idle == 0 && map.peak == 48);
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
  lgt_map_init(&map, &stores, 2, 0, 1, 1 << 20);
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
    int64_t at = random_below(5); /* at once, or through a message */
    lgt_instance *buffer =
        random_below(2) ? lgt_instance_buffer(&map, 4, at + lgt_rect_size(&rect), false) : NULL;
    if (buffer) lgt_copy_run(&(lgt_copy){from, buffer, rect, -1, at, NULL, 0, NULL});
    if (lgt_instance_contiguous(from, &rect) && buffer && !lgt_rect_empty(&rect))
      CHECK(!memcmp(lgt_instance_at(from, rect.lo), buffer->data + 4 * at, 4 * (size_t)lgt_rect_size(&rect)));
    lgt_copy_run(buffer ? &(lgt_copy){buffer, to, rect, at, -1, NULL, 0, NULL}
                        : &(lgt_copy){from, to, rect, -1, -1, NULL, 0, NULL});
    lgt_instance_release(&map, buffer);
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

int main(void) {
  if (lgt_stores_init(&stores)) return 1;
  RUN(released_memory_is_used_again);
  RUN(with_check_new_memory_is_not_a_number);
  RUN(blocks_of_every_size_come_and_go);
  RUN(the_budget_counts_free_blocks_only_until_they_are_needed);
  RUN(attached_memory_is_not_freed);
  RUN(adopted_memory_is_freed_once);
  RUN(a_copy_moves_its_rect);
  lgt_stores_fini(&stores);
  return check_done() || lgt_mem_live() != 0;
}
