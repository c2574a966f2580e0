/* How nests are launched on devices (grid.h): what is launched, what is refused, and whose memory is whose.  That the results
 * are right is for tests/gpu/test_emit_device.c to show. */
#include "check.h"
#include "core/random_loop.h"
#include "kernel/grid.h"

static lgt_grid grid;

/* A loop that adds up what it reads, and a nest of it over addresses that nobody follows. */
typedef struct summed {
  random_loop loop;
  lgt_nest_shape shape;
  lgt_base base[MAX_ACCESS];
  int64_t stride[MAX_ACCESS * LGT_MAX_DIM];
} summed;

static lgt_status launch(summed *s, void *scratch) {
  lgt_nest nest = {&s->loop.loop, &s->shape, s->base, s->loop.param, NULL};
  return lgt_grid_of(&nest, scratch, &grid);
}

static void set_strides(summed *s, int access, const int64_t *stride) {
  memcpy(&s->stride[access * LGT_MAX_DIM], stride, (size_t)s->shape.ndim * sizeof *stride);
}

/* `still`: the dimensions along which the target stands still. */
static void sum_over(summed *s, int ndim, const int64_t *extent, unsigned still) {
  int64_t dense[LGT_MAX_DIM], target[LGT_MAX_DIM], size = 8, kept = 8;
  memset(s, 0, sizeof *s);
  random_loop_init(&s->loop);
  for (int d = ndim - 1; d >= 0; d--) {
    dense[d] = size;
    size *= extent[d];
    target[d] = still >> d & 1 ? 0 : kept;
    if (!(still >> d & 1)) kept *= extent[d];
    s->shape.extent[d] = extent[d];
  }
  s->shape.ndim = ndim;
  s->shape.stride = s->stride;
  int value = add_load(&s->loop, LGT_FLOAT64, LGT_STRIDE_UNIT);
  int access = add_access(&s->loop, LGT_ACCESS_REDUCE, LGT_FLOAT64,
                          still >> (ndim - 1) & 1 ? LGT_STRIDE_ZERO : LGT_STRIDE_UNIT,
                          ndim > 1 && !(still >> (ndim - 2) & 1) ? LGT_STRIDE_ANY : LGT_STRIDE_ZERO);
  add_inst(&s->loop, LGT_OP_REDUCE, LGT_FLOAT64, LGT_REDOP_SUM, value, access, LGT_NO_VALUE);
  lgt_loop_seal(&s->loop.loop);
  set_strides(s, 0, dense);
  set_strides(s, access, target);
  s->base[0].index = 1 << 20;
  s->base[access].index = 1 << 30;
  lgt_nest_shape_finish(&s->loop.loop, &s->shape, 4, false, 0);
}

static bool launched(const char *names) {
  char text[100] = "";
  for (int i = 0; i < grid.nlaunch; i++) {
    const lgt_grid_launch *l = &grid.launch[i];
    strcat(strcat(text, i ? " " : ""), l->kernel + strlen("lgt_"));
    if (l->grid[0] < 1 || l->grid[0] > INT32_MAX || l->grid[1] != 1 || l->grid[2] != 1) return false;
    if (l->block[0] * l->block[1] * l->block[2] > 1024 || l->param_bytes > LGT_GRID_PARAM_MOST) return false;
  }
  if (strcmp(text, names)) printf("launched %s\n", text);
  return strcmp(text, names) == 0;
}

static lgt_grid_target target_of(int launch) {
  lgt_grid_target target;
  memcpy(&target, grid.launch[launch].param + sizeof(lgt_grid_fold), sizeof target);
  return target;
}

TEST(launches) {
  summed s;
  sum_over(&s, 1, (int64_t[]){100}, 1);
  CHECK(!launch(&s, NULL) && launched("kernel") && grid.scratch_bytes == 0);
  sum_over(&s, 1, (int64_t[]){3 * LGT_BLOCK / 2}, 1); /* two blocks */
  CHECK(!launch(&s, NULL) && launched("wide steps") && grid.scratch_bytes == 64);
  sum_over(&s, 1, (int64_t[]){1000000}, 1);
  CHECK(!launch(&s, NULL) && launched("wide steps chunks"));
  CHECK(s.shape.partial && s.shape.nchunk > 1);
  sum_over(&s, 2, (int64_t[]){1000, 1000}, 3); /* a slab each */
  CHECK(!launch(&s, NULL) && launched("wide chunks"));
  CHECK(grid.scratch_bytes == (s.shape.nchunk * 8 + 63) / 64 * 64);
  sum_over(&s, 2, (int64_t[]){1000, 1000}, 2); /* rows */
  CHECK(!launch(&s, NULL) && launched("wide"));
  CHECK(grid.launch[0].block[0] == 1024 && grid.launch[0].block[1] == 1 && grid.launch[0].grid[0] == 1000);
  sum_over(&s, 2, (int64_t[]){10000, 1000}, 2); /* many rows */
  CHECK(!launch(&s, NULL) && launched("kernel"));
  CHECK(grid.launch[0].block[0] == 256 && grid.launch[0].grid[0] == 10000 / 16);
  sum_over(&s, 3, (int64_t[]){30, 1000, 100}, 5); /* rows, in 30 steps */
  CHECK(!launch(&s, NULL) && launched("kernel steps"));
  CHECK(grid.scratch_bytes == 30 * 1000 * 8);
  sum_over(&s, 2, (int64_t[]){1000, 1000}, 1); /* columns */
  CHECK(!launch(&s, NULL) && launched("kernel"));
  sum_over(&s, 2, (int64_t[]){100000, 4}, 1); /* a few columns */
  CHECK(!launch(&s, NULL) && launched("kernel chunks"));
}

TEST(nothing) {
  summed s;
  sum_over(&s, 2, (int64_t[]){0, 10}, 1); /* targets become the identity */
  CHECK(!launch(&s, NULL) && launched("steps") && grid.scratch_bytes == 0);
  sum_over(&s, 2, (int64_t[]){10, 0}, 1); /* there are none */
  CHECK(!launch(&s, NULL) && launched(""));
}

/* Is what is remembered the same as what is worked out? */
static bool same_again(lgt_grid_memo *memo, const lgt_nest *nest, void *scratch) {
  int n = 0;
  const lgt_grid_launch *again = lgt_grid_again(memo, nest, scratch, &n), *l = grid.launch;
  if (lgt_grid_of(nest, scratch, &grid) || !again || n != grid.nlaunch) return false;
  for (; n--; again++, l++)
    if (memcmp(again->param, l->param, (size_t)l->param_bytes) || again->param_bytes != l->param_bytes ||
        again->kernel != l->kernel || again->shared != l->shared ||
        memcmp(again->grid, l->grid, sizeof l->grid) || memcmp(again->block, l->block, sizeof l->block))
      return false;
  return true;
}

static bool is_known(lgt_grid_memo *memo, const lgt_nest *nest, void *scratch) {
  int n;
  return lgt_grid_again(memo, nest, scratch, &n) != NULL;
}

TEST(once_more) {
  static random_loop r;
  lgt_grid_memo memo = {0};
  int64_t stride[MAX_ACCESS * LGT_MAX_DIM] = {0};
  lgt_base base[MAX_ACCESS] = {{.index = 1 << 20}, {.index = 1 << 24}};
  random_loop_init(&r);
  int value = add_load(&r, LGT_FLOAT64, LGT_STRIDE_UNIT);
  int number = add_inst(&r, LGT_OP_PARAM, LGT_FLOAT64, 0, r.loop.nparam++, LGT_NO_VALUE, LGT_NO_VALUE);
  int sum = add_inst(&r, LGT_OP_ADD, LGT_FLOAT64, 0, value, number, LGT_NO_VALUE);
  int out = add_access(&r, LGT_ACCESS_STORE, LGT_FLOAT64, LGT_STRIDE_UNIT, 0);
  add_inst(&r, LGT_OP_STORE, LGT_FLOAT64, 0, sum, out, LGT_NO_VALUE);
  lgt_loop_seal(&r.loop);
  lgt_nest_shape shape = {.ndim = 2, .extent = {30, 50}, .stride = stride};
  for (int a = 0; a < 2; a++) stride[a * LGT_MAX_DIM] = 400, stride[a * LGT_MAX_DIM + 1] = 8;
  lgt_nest_shape_finish(&r.loop, &shape, 4, false, 0);
  lgt_nest nest = {&r.loop, &shape, base, r.param, NULL};
  CHECK(!is_known(&memo, &nest, NULL) && !lgt_grid_of(&nest, NULL, &grid));
  lgt_grid_remember(&memo, &nest, NULL, &grid);
  CHECK(same_again(&memo, &nest, NULL));
  base[0].index += 4096;
  r.param[0].f = 3.5;
  CHECK(same_again(&memo, &nest, NULL));
  base[1].index += 8; /* pieces of 16 bytes would be across */
  CHECK(same_again(&memo, &nest, NULL));
  base[1].index -= 8;
  CHECK(same_again(&memo, &nest, NULL));
  stride[0] = 408; /* another shape */
  CHECK(!is_known(&memo, &nest, NULL) && !lgt_grid_of(&nest, NULL, &grid));
  lgt_grid_remember(&memo, &nest, NULL, &grid);
  CHECK(same_again(&memo, &nest, NULL));
  shape.extent[0] = 31;
  CHECK(!is_known(&memo, &nest, NULL));
  lgt_grid_forget(&memo);
}

/* Reductions, of one launch and of several, whose targets move; what scratch memory they have may not. */
TEST(once_more_reduced) {
  static const struct {
    int ndim;
    int64_t extent[3];
    unsigned still;
  } sums[] = {{1, {100}, 1},           {1, {3 * LGT_BLOCK / 2}, 1}, {1, {1000000}, 1},
              {2, {1000, 1000}, 3},    {2, {1000, 1000}, 2},        {2, {10000, 1000}, 2},
              {3, {30, 1000, 100}, 5}, {2, {1000, 1000}, 1},        {2, {100000, 4}, 1}};
  _Alignas(64) static char memory[2][64];
  for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
    static summed s;
    lgt_grid_memo memo = {0};
    sum_over(&s, sums[i].ndim, sums[i].extent, sums[i].still);
    lgt_nest nest = {&s.loop.loop, &s.shape, s.base, s.loop.param, NULL};
    CHECK(!launch(&s, memory[0]) && !is_known(&memo, &nest, memory[0]));
    bool scratch = grid.scratch_bytes > 0;
    lgt_grid_remember(&memo, &nest, memory[0], &grid);
    CHECK(same_again(&memo, &nest, memory[0]));
    s.base[0].index += 4096;
    s.base[1].index += 8;
    CHECK(same_again(&memo, &nest, memory[0]));
    s.base[1].index += 8;
    s.base[0].index += 8;
    CHECK(same_again(&memo, &nest, memory[0]));
    CHECK(is_known(&memo, &nest, memory[1]) == !scratch);
    CHECK(!launch(&s, memory[1]));
    lgt_grid_remember(&memo, &nest, memory[1], &grid);
    CHECK(same_again(&memo, &nest, memory[1]));
    CHECK(is_known(&memo, &nest, memory[0]) == !scratch && memo.next == 1);
    s.shape.nchunk += s.shape.partial; /* cut otherwise */
    CHECK(is_known(&memo, &nest, memory[1]) == !s.shape.partial);
    lgt_grid_forget(&memo);
  }
}

/* A loop for some shapes in turns. */
TEST(once_more_of_several_shapes) {
  static summed s;
  lgt_grid_memo memo = {0};
  int64_t extent[] = {1000, 1000};
  sum_over(&s, 2, extent, 2);
  lgt_nest nest = {&s.loop.loop, &s.shape, s.base, s.loop.param, NULL};
  for (int i = 0; i <= LGT_GRID_RECORDS; i++) {
    s.shape.extent[0] = 1000 + i;
    CHECK(!launch(&s, NULL) && !is_known(&memo, &nest, NULL));
    lgt_grid_remember(&memo, &nest, NULL, &grid);
    for (int k = 0; k <= i; k++) {
      s.shape.extent[0] = 1000 + k;
      CHECK(is_known(&memo, &nest, NULL) == (i < LGT_GRID_RECORDS || k > 0));
      CHECK(!is_known(&memo, &nest, NULL) || same_again(&memo, &nest, NULL));
    }
  }
  lgt_grid_forget(&memo);
}

/* The first call says how much memory, the second is told where. */
TEST(scratch) {
  summed s;
  char memory[64];
  sum_over(&s, 1, (int64_t[]){1000000}, 1);
  CHECK(!launch(&s, NULL));
  int64_t bytes = grid.scratch_bytes;
  CHECK(!launch(&s, memory) && grid.scratch_bytes == bytes);
  lgt_grid_target t = target_of(1);
  uint64_t from = (uint64_t)(uintptr_t)memory;
  CHECK(t.partial == from && t.chunk == 8);
  CHECK(t.steps == from + (uint64_t)((s.shape.nchunk * 8 + 63) / 64 * 64));
  CHECK(t.target == 1 << 30);
  lgt_grid_fold fold;
  memcpy(&fold, grid.launch[1].param, sizeof fold);
  CHECK(t.steps + 8 * fold.middle <= from + (uint64_t)bytes);
  CHECK((int64_t)fold.middle ==
        (s.shape.nchunk - 1) * (int64_t)fold.grain +
            (1000000 - (s.shape.nchunk - 1) * s.shape.grain + LGT_BLOCK - 1) / LGT_BLOCK);
}

TEST(refusals) {
  summed s;
  sum_over(&s, 2, (int64_t[]){50, 50}, 1);
  add_access(&s.loop, LGT_ACCESS_REDUCE, LGT_FLOAT64, LGT_STRIDE_ZERO, LGT_STRIDE_ZERO);
  CHECK(lgt_grid_dims(&s.loop.loop) < 0);
  CHECK(launch(&s, NULL) == LGT_UNSUPPORTED);
  CHECK_HAS(lgt_message(), "several forms");
  /* Elements that several rows write. */
  random_loop r;
  random_loop_init(&r);
  add_store(&r, add_load(&r, LGT_FLOAT64, LGT_STRIDE_UNIT), LGT_STRIDE_UNIT);
  int64_t stride[2 * LGT_MAX_DIM] = {80, 8};
  stride[LGT_MAX_DIM + 1] = 8;
  lgt_nest_shape shape = {.ndim = 2, .extent = {5, 10}, .stride = stride};
  CHECK(lgt_grid_check(&r.loop, &shape) == LGT_UNSUPPORTED);
  CHECK_HAS(lgt_message(), "many times");
  shape.extent[0] = 1;
  CHECK(lgt_grid_check(&r.loop, &shape) == LGT_OK);
}

/* Parameters have room for so many accesses, and for fewer in more dimensions. */
TEST(room) {
  lgt_access access[LGT_MAX_ACCESS];
  lgt_loop loop = {.access = access};
  for (int a = 0; a < LGT_MAX_ACCESS; a++)
    access[a] = (lgt_access){LGT_ACCESS_LOAD, LGT_FLOAT64, LGT_STRIDE_UNIT, 0};
  int most[LGT_MAX_DIM] = {0}, dims;
  for (int n = 1; n <= LGT_MAX_ACCESS; n++) {
    loop.naccess = (uint16_t)n;
    dims = lgt_grid_dims(&loop);
    if (dims >= 0) CHECK(lgt_grid_param_bytes(&loop) <= LGT_GRID_PARAM_MOST);
    for (int d = 0; d <= dims; d++) most[d] = n;
  }
  CHECK(most[LGT_MAX_DIM - 2] >= 50 && most[0] >= 100);
  CHECK(most[0] > most[1] && most[1] > most[2]);
  CHECK(most[0] < LGT_MAX_ACCESS);
}

TEST(lanes) {
  static const int sizes[][2] = {{LGT_FLOAT64, 2}, {LGT_FLOAT32, 4}, {LGT_INT16, 8}, {LGT_INT8, 8}};
  random_loop r;
  for (int i = 0; i < 4; i++) {
    random_loop_init(&r);
    add_store(&r, add_load(&r, sizes[i][0], LGT_STRIDE_UNIT), LGT_STRIDE_UNIT);
    CHECK_EQ(lgt_grid_lanes(&r.loop), sizes[i][1]);
  }
  random_loop_init(&r);
  int x = add_load(&r, LGT_FLOAT64, LGT_STRIDE_UNIT);
  add_store(&r, add_inst(&r, LGT_OP_EXP, LGT_FLOAT64, 0, x, LGT_NO_VALUE, LGT_NO_VALUE), LGT_STRIDE_UNIT);
  CHECK_EQ(lgt_grid_lanes(&r.loop), 1); /* long */
}

int main(void) {
  RUN(launches);
  RUN(nothing);
  RUN(scratch);
  RUN(once_more);
  RUN(once_more_reduced);
  RUN(once_more_of_several_shapes);
  RUN(refusals);
  RUN(room);
  RUN(lanes);
  return check_done();
}
