/* test_constraint.c - constraint sets, iteration spaces, and the solver, against counting. */
#include "check.h"
#include "model/constraint.h"
#include "loops.h"

static lgt_stores stores;
static lgt_partitions partitions;

static uint32_t dense(int ndim, const int64_t *shape) {
  return lgt_stores_dense(&stores, LGT_FLOAT64, ndim, shape);
}
static const lgt_layout *at(uint32_t layout) { return lgt_layout_at(&stores, layout); }

/* ---- parsing -------------------------------------------------------------------------------------------- */

TEST(dimensions_that_are_aligned_are_one_class) {
  lgt_constraint_set *s =
      lgt_constraint_parse(" align(0.0, 1.1,2.0) align(0.1,2.1) align( 3.0 ,2.1 ) broadcast(1.0)", 4);
  CHECK(s);
  CHECK_EQ(s->nargs, 4);
  CHECK_EQ(s->nclass, 2);
  CHECK(s->class_of[0][0] == s->class_of[1][1] && s->class_of[0][0] == s->class_of[2][0]);
  CHECK(s->class_of[0][1] == s->class_of[2][1] && s->class_of[0][1] == s->class_of[3][0]);
  CHECK(s->class_of[0][0] != s->class_of[0][1]);
  CHECK(s->class_of[0][0] >= 0 && s->class_of[0][1] >= 0);
  CHECK_EQ(s->class_of[1][0], -1);
  CHECK_EQ(s->class_of[3][1], -1);
  lgt_mem_free(s);
}

TEST(a_class_with_a_whole_member_is_whole) {
  lgt_constraint_set *s = lgt_constraint_parse("align(0.0,1.0) align(0.1,1.1) broadcast(1.0)", 2);
  CHECK(s);
  CHECK_EQ(s->class_of[0][0], -1);
  CHECK_EQ(s->class_of[1][0], -1);
  CHECK(s->class_of[0][1] == 0 && s->class_of[1][1] == 0);
  CHECK_EQ(s->nclass, 1);
  lgt_mem_free(s);
}

TEST(a_halo_has_two_widths) {
  lgt_constraint_set *s = lgt_constraint_parse("align(0.0,1.0) bloat(1.0,2,3)", 2);
  CHECK(s);
  CHECK(s->below[1][0] == 2 && s->above[1][0] == 3);
  CHECK(s->below[0][0] == 0 && s->above[0][0] == 0);
  lgt_mem_free(s);
  s = lgt_constraint_parse("", 2);
  CHECK(s && s->nclass == 0);
  lgt_mem_free(s);
}

TEST(dimensions_may_be_named_by_data) {
  lgt_constraint_set *s =
      lgt_constraint_parse("align(0.0,1.0,2.0) image_ranges(1,2:3.0,4.0) image_points(3 : 5.1;1)", 6);
  CHECK(s && s->nclass == 1 && s->nimage == 3);
  for (int i = 0; i < 2; i++) {
    CHECK(s->image[i].arg == 3 + i && s->image[i].dim == 0);
    CHECK(s->image[i].source[0] == 1 && s->image[i].source[1] == 2);
  }
  CHECK(s->image[2].arg == 5 && s->image[2].dim == 1 && s->image[2].base == 1);
  CHECK(s->image[2].source[0] == 3 && s->image[2].source[1] == -1);
  lgt_mem_free(s);
  s = lgt_constraint_parse("align(0.0,1.0) image_points(0:1.0)", 2);
  CHECK(s && s->class_of[1][0] == -1 && s->image[0].base == 0); /* it is never cut */
  lgt_mem_free(s);
  s = lgt_constraint_parse("align(0.0) image_inverse(2,0.1:2.0,1.1;1)", 3);
  CHECK(s && s->nimage == 2 && s->image[0].arg == 2 && s->image[1].arg == 1 && s->image[1].base == 1);
  CHECK(s->image[1].source[0] == 2 && s->image[1].tile[0] == 0 && s->image[1].tile[1] == 1);
  lgt_mem_free(s);
}

TEST(malformed_sets_are_refused) {
  static const char *const bad[] = {"align",
                                    "align(",
                                    "align(0.0",
                                    "align(0.0,",
                                    "align(0.0,1.0",
                                    "align(2.0,0.0)",
                                    "align(0.0,0.6)",
                                    "align(-1.0,0.0)",
                                    "align(0,1)",
                                    "align()",
                                    "broadcast(0)",
                                    "broadcast()",
                                    "bloat(0.0)",
                                    "bloat(0.0,1)",
                                    "bloat(0.0,1,-1)",
                                    "bloat(0.0,-1,1)",
                                    "bloat(0.0,1,x)",
                                    "align(0.0,1.0))",
                                    "scale(0.0,0)",
                                    "align(0.0 1.0)",
                                    "x",
                                    "scale(2.0)",
                                    "scale(0.0,2,3)",
                                    "scale(0.0,)",
                                    "align(0.0;1.0)",
                                    "bloat(3.0,1,1)",
                                    "image_points(0:1)",
                                    "image_points(1:1.0)",
                                    "image_points(2:1.0)",
                                    "image_ranges(0:1.0)",
                                    "image_points(0:1.0,1.1)",
                                    "image_points(0:1.0;x)",
                                    "image_points(0,1.0)",
                                    "image_inverse(0:1.0)",
                                    "image_inverse(0,1:1.0)",
                                    "image_inverse(2,0.0:1.0)"};
  int64_t live = lgt_mem_live();
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    lgt_constraint_set *s = lgt_constraint_parse(bad[i], 2);
    if (s) FAIL("\"%s\" was accepted", bad[i]);
    CHECK_HAS(lgt_message(), bad[i]);
    CHECK_HAS(lgt_message(), "arguments 0 to 1");
  }
  lgt_mem_fail_at(1);
  CHECK(!lgt_constraint_parse("align(0.0,1.0)", 2));
  lgt_mem_fail_at(0);
  CHECK_EQ(lgt_mem_live(), live);
}

/* ---- spaces ------------------------------------------------------------------------------------------------ */

static lgt_body some_body;
static lgt_kind generator = {.name = "some generator", .body = &some_body};

static lgt_call call_of(lgt_kind *kind, int nargs) {
  lgt_call call = {.kind = kind, .nargs = (uint8_t)nargs};
  kind->nargs = nargs;
  for (int a = 0; a < nargs; a++) kind->privilege[a] = a ? LGT_PRIV_READ : LGT_PRIV_WRITE;
  return call;
}

TEST(the_space_of_a_generator_is_numpys_broadcast) {
  int refused = 0;
  for (int round = 0; round < 3000; round++) {
    int n = 1 + random_below(3), most = 0;
    lgt_call call = call_of(&generator, n);
    lgt_alignment room[LGT_MAX_ARGS];
    lgt_space space = {.align = room};
    int64_t shape[3][LGT_MAX_DIM], expected[LGT_MAX_DIM];
    int ndim[3];
    bool fits = true;
    for (int a = 0; a < n; a++) {
      ndim[a] = random_below(4);
      for (int d = 0; d < ndim[a]; d++)
        shape[a][d] = random_below(3) ? 1 : random_below(8) ? 4 + random_below(8) / 7 : 0;
      call.layout[a] = dense(ndim[a], shape[a]);
      if (ndim[a] > most) most = ndim[a];
    }
    for (int d = 0; d < most; d++) {
      expected[d] = 1;
      for (int a = 0; a < n; a++) {
        int k = d - (most - ndim[a]);
        if (k < 0 || shape[a][k] == 1) continue;
        if (expected[d] != 1 && expected[d] != shape[a][k]) fits = false;
        expected[d] = shape[a][k];
      }
    }
    lgt_status status = lgt_space_of_call(&stores, &call, &space);
    CHECK_EQ(status, fits ? LGT_OK : LGT_BAD_SHAPE);
    refused += !fits;
    if (!fits) CHECK_HAS(lgt_message(), "some generator");
    if (!fits) continue;
    CHECK_EQ(space.ndim, most);
    for (int d = 0; d < most; d++) CHECK_EQ(space.extent[d], expected[d]);
    for (int a = 0; a < n; a++)
      for (int d = 0; d < ndim[a]; d++) CHECK_EQ(space.align[a].to[d], most - ndim[a] + d);
  }
  CHECK(refused > 100);
}

TEST(the_space_of_a_set_is_its_classes) {
  lgt_kind product = {.name = "product"};
  product.constraints = lgt_constraint_parse("align(0.0,1.0) align(0.1,2.1) broadcast(1.1,2.0)", 3);
  lgt_call call = call_of(&product, 3);
  lgt_alignment room[LGT_MAX_ARGS];
  lgt_space space = {.align = room};
  call.layout[0] = dense(2, (int64_t[]){4, 6}), call.layout[1] = dense(2, (int64_t[]){4, 5}),
  call.layout[2] = dense(2, (int64_t[]){5, 6});
  CHECK(!lgt_space_of_call(&stores, &call, &space));
  CHECK(space.ndim == 2 && space.extent[0] == 4 && space.extent[1] == 6);
  CHECK(space.align[1].to[0] == 0 && space.align[1].to[1] == -1 && space.align[2].to[0] == -1 &&
        space.align[2].to[1] == 1);
  call.layout[1] = dense(2, (int64_t[]){3, 5});
  CHECK_EQ(lgt_space_of_call(&stores, &call, &space), LGT_BAD_SHAPE);
  CHECK_HAS(lgt_message(), "'product' wants dimension 1 of argument 2 to have 4 elements, it has 3");
  lgt_mem_free(product.constraints);
}

TEST(what_is_scaled_is_cut_in_blocks) {
  lgt_kind sums = {.name = "sums"};
  sums.constraints = lgt_constraint_parse("align(0.0,1.0,2.0) scale(1.0,4) scale(2.0)", 3);
  CHECK(sums.constraints);
  lgt_call call = call_of(&sums, 3);
  lgt_alignment room[LGT_MAX_ARGS];
  lgt_space space = {.align = room};
  call.layout[0] = dense(1, (int64_t[]){3}), call.layout[1] = dense(1, (int64_t[]){10}),
  call.layout[2] = dense(1, (int64_t[]){20});
  CHECK(!lgt_space_of_call(&stores, &call, &space));
  CHECK(space.ndim == 1 && space.extent[0] == 3 && space.unit == 7);
  CHECK(space.align[0].block[0] == 0 && space.align[1].block[0] == 4 && space.align[2].block[0] == 7);
  lgt_rect tile = {1, {2}, {3}};
  lgt_rect part = lgt_space_view_rect(at(call.layout[1]), &space.align[1], &tile);
  CHECK(part.lo[0] == 8 && part.hi[0] == 10);
  part = lgt_space_view_rect(at(call.layout[2]), &space.align[2], &tile);
  CHECK(part.lo[0] == 14 && part.hi[0] == 20);
  call.layout[1] = dense(1, (int64_t[]){13});
  CHECK_EQ(lgt_space_of_call(&stores, &call, &space), LGT_BAD_SHAPE);
  CHECK_HAS(lgt_message(), "'sums' wants dimension 1 of argument 2 to have 3 blocks, it has 4");
  lgt_mem_free(sums.constraints);
}

/* Which elements of an argument does a tile need?  Those that some point of the tile is aligned with, and
 * their neighbours in the halo. */
TEST(a_tile_needs_its_part_of_a_view) {
  for (int round = 0; round < 3000; round++) {
    int ndim = 1 + random_below(3);
    int64_t extent[3], shape[3];
    lgt_alignment align = {0};
    lgt_rect tile = {.ndim = ndim};
    memset(align.to, -1, sizeof align.to);
    for (int d = 0; d < ndim; d++) {
      extent[d] = 1 + random_below(6);
      tile.lo[d] = random_below((int)extent[d]);
      tile.hi[d] = tile.lo[d] + 1 + random_below((int)(extent[d] - tile.lo[d]));
      int what = random_below(4);
      shape[d] = what == 0 ? 1 : what == 1 ? 7 : extent[d]; /* stretched, whole, aligned */
      align.to[d] = what == 1 ? -1 : (int8_t)d;
      if (what > 1 && random_below(3) == 0)
        align.below[d] = random_below(3), align.above[d] = random_below(3);
      if (what == 2 && random_below(2)) {
        align.block[d] = 1 + random_below(4);
        shape[d] = extent[d] * align.block[d] - random_below((int)align.block[d]);
      }
    }
    const lgt_layout *l = at(dense(ndim, shape));
    lgt_rect got = lgt_space_view_rect(l, &align, &tile);
    CHECK_EQ(got.ndim, ndim);
    for (int d = 0; d < ndim; d++)
      for (int64_t x = 0; x < shape[d]; x++) {
        bool needed = align.to[d] < 0;
        for (int64_t t = tile.lo[d]; t < tile.hi[d]; t++)
          needed |= shape[d] == 1 || (x >= t * lgt_alignment_block(&align, d) - align.below[d] &&
                                      x < (t + 1) * lgt_alignment_block(&align, d) + align.above[d]);
        CHECK_EQ(x >= got.lo[d] && x < got.hi[d], needed);
      }
  }
}

/* ---- the solver ----------------------------------------------------------------------------------------------- */

/* The tile that has all of a rect; or the first that does of those of one owner beyond the grid of owners, which a view may
 * have as one tile. */
static int tile_holding(const lgt_partition *p, const lgt_rect *r) {
  int first = -1;
  bool one = true;
  for (int c = 0; c < p->ncolour; c++) {
    lgt_rect tile = lgt_partition_rect(p, c), common;
    if (lgt_rect_contains(&tile, r)) return c;
    if (!lgt_rect_intersect(&tile, r, &common)) continue;
    if (first < 0) first = c;
    for (int domains = 1; domains < 40; domains++)
      one &= lgt_partition_domain(p, domains, c) == lgt_partition_domain(p, domains, first);
  }
  return one ? first : -1;
}

static const lgt_partition *random_tiling(int ndim, const int64_t *extent) {
  int64_t tile[LGT_MAX_DIM], offset[LGT_MAX_DIM];
  for (int d = 0; d < ndim; d++) {
    tile[d] = random_below(2) ? 1 + random_below(8) : extent[d] + 1;
    offset[d] = random_below(8);
  }
  lgt_home home = {.ndim = 1, .grid = {1 + random_below(6)}, .first = {random_below(9) - 4}};
  home.dim[0] = (int8_t)(random_below(ndim + 1) - 1);
  return lgt_partition_tiling_at(&partitions, ndim, extent, tile, offset, random_below(2) ? &home : NULL);
}

/* A view of a root of two dimensions: a slice, perhaps transposed, projected or promoted. */
static uint32_t random_view(uint32_t root) {
  uint32_t v = root;
  for (int d = 0; d < 2; d++) {
    int64_t extent = at(v)->shape[d],
            step = random_below(6)   ? 1
                   : random_below(2) ? 2
                                     : -1,
            first = random_below((int)extent);
    int64_t most = step > 0 ? (extent - 1 - first) / step + 1 : first + 1;
    v = lgt_stores_slice(&stores, v, d, first, 1 + random_below((int)most), step);
  }
  if (random_below(3) == 0) v = lgt_stores_transpose(&stores, v, (int[]){1, 0});
  if (random_below(5) == 0) v = lgt_stores_project(&stores, v, random_below(2), 0);
  if (random_below(5) == 0) v = lgt_stores_promote(&stores, v, random_below(at(v)->ndim + 1), 3);
  return v;
}

static lgt_solver solver = {.partitions = &partitions, .domains = 4, .most = 4, .min_tile = 1};

/* A block is cut by nobody: the tiles of the key partition end at the nearest ones, unless that makes one more. */
TEST(tiles_of_blocks_follow_the_key_partition) {
  lgt_kind sums = {.name = "sums"};
  sums.constraints = lgt_constraint_parse("align(0.0,1.0) scale(1.0,10)", 2);
  lgt_call call = call_of(&sums, 2);
  lgt_alignment room[LGT_MAX_ARGS];
  lgt_space space = {.align = room};
  lgt_store *to = lgt_store_new(&stores, dense(1, (int64_t[]){100})),
            *from = lgt_store_new(&stores, dense(1, (int64_t[]){1000}));
  lgt_solver_key_state state[LGT_MAX_ARGS] = {{NULL, false}};
  const char *reason;
  call.store[0] = to->id, call.store[1] = from->id;
  call.layout[0] = to->layout, call.layout[1] = from->layout;
  state[1].key = lgt_partition_tiling(&partitions, 1, (int64_t[]){1000}, (int64_t[]){253}, (int64_t[]){0});
  CHECK(!lgt_space_of_call(&stores, &call, &space));
  const lgt_partition *p = lgt_solver_choose(&solver, &stores, &call, &space, state, &reason);
  CHECK_HAS(reason, "key partition");
  CHECK(p->ncolour == 4 && p->tile[0] == 25);
  const lgt_partition *key = lgt_solver_key(&solver, at(from->layout), &space.align[1], p);
  CHECK(key && key->tile[0] == 250 && key->extent[0] == 1000);
  state[1].key = lgt_partition_tiling(&partitions, 1, (int64_t[]){1000}, (int64_t[]){334}, (int64_t[]){0});
  p = lgt_solver_choose(&solver, &stores, &call, &space, state, &reason);
  CHECK(p->ncolour == 3 && p->tile[0] == 34);
  state[1].key = NULL;
  p = lgt_solver_choose(&solver, &stores, &call, &space, state, &reason);
  CHECK(p->ncolour == 4 && p->tile[0] == 25);
  lgt_store_recycle(&stores, to);
  lgt_store_recycle(&stores, from);
  lgt_mem_free(sums.constraints);
}

/* A launch over a view of a root that was written with some partition: its tiles lie within the root's. */
TEST(tiles_follow_the_key_partition) {
  int followed = 0, kept = 0;
  for (int round = 0; round < 4000; round++) {
    int64_t shape[] = {1 + random_below(20), 1 + random_below(20)};
    uint32_t root = dense(2, shape), view = random_view(root);
    lgt_store *store = lgt_store_new(&stores, root);
    lgt_call call = call_of(&generator, 1);
    lgt_alignment room[LGT_MAX_ARGS];
    lgt_space space = {.align = room};
    lgt_solver_key_state state[LGT_MAX_ARGS] = {{random_tiling(2, shape), false}};
    const char *reason;
    call.store[0] = store->id;
    call.layout[0] = view;
    CHECK(!lgt_space_of_call(&stores, &call, &space));
    const lgt_partition *p = lgt_solver_choose(&solver, &stores, &call, &space, state, &reason);
    CHECK(p && reason && *reason);
    CHECK_EQ(p->ndim, space.ndim);
    for (int d = 0; d < p->ndim; d++) CHECK_EQ(p->extent[d], space.extent[d]);
    CHECK(lgt_partition_disjoint(p));
    CHECK(p->ncolour <= 4 * solver.most);
    if (strstr(reason, "key partition")) {
      followed++;
      for (int c = 0; c < p->ncolour; c++) {
        lgt_rect tile = lgt_partition_rect(p, c),
                 part = lgt_space_view_rect(at(view), &space.align[0], &tile);
        lgt_rect touched = lgt_layout_root_rect(at(view), &part);
        int k = tile_holding(state[0].key, &touched);
        CHECK(k >= 0);
        if (lgt_rect_empty(&touched)) continue;
        /* What the tile works on is there already. */
        for (int domains = 1; domains < 12 && p->ncolour > 1; domains++)
          CHECK_EQ(lgt_partition_domain(p, domains, c), lgt_partition_domain(state[0].key, domains, k));
        kept++;
      }
    }
    lgt_store_recycle(&stores, store);
  }
  CHECK(followed > 300 && kept > 300);
}

/* Is some dimension cut that the view does not walk along? */
static bool stands_still(const lgt_layout *l, const lgt_alignment *align, const lgt_partition *launch) {
  for (int k = 0; k < launch->ndim; k++) {
    bool walks = launch->grid[k] == 1;
    for (int d = 0; d < l->ndim; d++) walks |= align->to[d] == k && l->dim[d] >= 0 && l->shape[d] > 1;
    if (!walks) return true;
  }
  return false;
}

/* The other way: what a launch writes through a view becomes the root's key partition. */
TEST(what_is_written_has_the_tiles_of_its_launch) {
  int told = 0, kept = 0;
  for (int round = 0; round < 4000; round++) {
    int64_t shape[] = {1 + random_below(20), 1 + random_below(20)};
    uint32_t root = dense(2, shape), view = random_view(root);
    lgt_call call = call_of(&generator, 1);
    lgt_alignment room[LGT_MAX_ARGS];
    lgt_space space = {.align = room};
    call.layout[0] = view;
    CHECK(!lgt_space_of_call(&stores, &call, &space));
    const lgt_partition *launch = random_tiling(space.ndim, space.extent);
    const lgt_partition *key = lgt_solver_key(&solver, at(view), &space.align[0], launch);
    if (!key) continue;
    CHECK(key->ndim == 2 && key->extent[0] == shape[0] && key->extent[1] == shape[1]);
    told += key->ncolour > 1;
    int used[400] = {0};
    for (int c = 0; c < launch->ncolour; c++) {
      lgt_rect tile = lgt_partition_rect(launch, c),
               part = lgt_space_view_rect(at(view), &space.align[0], &tile);
      lgt_rect touched = lgt_layout_root_rect(at(view), &part);
      int k = tile_holding(key, &touched);
      CHECK(k >= 0);
      used[k]++;
      if (key->ncolour == 1 || lgt_rect_empty(&touched) || stands_still(at(view), &space.align[0], launch))
        continue;
      for (int domains = 1; domains < 12; domains++) /* who wrote it has it */
        CHECK_EQ(lgt_partition_domain(key, domains, k), lgt_partition_domain(launch, domains, c));
      kept++;
    }
    bool still = false; /* several colours write the same tile only along dimensions that do not walk */
    for (int d = 0; d < at(view)->ndim; d++) still |= at(view)->dim[d] < 0;
    for (int k = 0; k < key->ncolour && !still; k++) CHECK(used[k] <= 1);
  }
  CHECK(told > 100 && kept > 300);
}

/* Half of an array that two owners share says nothing of the other half; nearly all of it does. */
TEST(a_part_tells_how_an_array_is_cut_if_all_have_their_share) {
  int64_t n = 100;
  uint32_t root = dense(1, &n);
  for (int64_t first = 0; first <= 50; first += 2)
    for (int64_t size = 20; first + size <= n; size += 2) {
      uint32_t view = lgt_stores_slice(&stores, root, 0, first, size, 1);
      int64_t tile = size / 2, zero = 0, share = first + tile > n / 2 ? first + tile : n - first - tile;
      lgt_alignment align = {.to = {0}};
      const lgt_partition *launch = lgt_partition_tiling(&partitions, 1, &size, &tile, &zero);
      CHECK(launch && launch->ncolour == 2);
      const lgt_partition *key = lgt_solver_key_after(&solver, at(view), &align, launch, false, NULL);
      if (share > 63) CHECK(!key);
      if (share < 62 && size * 2 >= n) CHECK(key && key->ncolour > 1);
      CHECK(size < n || key);
      CHECK(lgt_solver_key_after(&solver, at(view), &align, launch, false, launch) == launch || size == n);
    }
}

/* A view of a root in other dimensions, all of it or what slices leave. */
static uint32_t random_reshaped(uint32_t root) {
  int64_t shape[3] = {1, 1, 1}, left = at(root)->size;
  int ndim = 1 + (int)random_below(3);
  for (int d = 0; d < ndim - 1; d++) {
    int64_t n = 1 + random_below(12);
    while (left % n) n--;
    shape[d] = n, left /= n;
  }
  shape[ndim - 1] = left;
  uint32_t view = lgt_stores_reshape(&stores, root, ndim, shape);
  for (int d = 0; d < ndim && view; d++) {
    if (random_below(3)) continue;
    int64_t first = random_below(shape[d]), step = 1 + random_below(2);
    view = lgt_stores_slice(&stores, view, d, first, (shape[d] - first + step - 1) / step, step);
  }
  return view && ndim > 1 && random_below(3) == 0
             ? lgt_stores_project(&stores, view, ndim - 1, random_below(at(view)->shape[ndim - 1]))
             : view;
}

/* Are all elements of a part of a view in a rect of its root? */
static bool all_in(const lgt_layout *l, const lgt_rect *part, const lgt_rect *touched) {
  int64_t extent[LGT_MAX_DIM], index[LGT_MAX_DIM] = {0}, stride[LGT_MAX_DIM], position = l->offset;
  lgt_shape_strides(l->root_ndim, l->root_shape, stride);
  for (int d = 0; d < l->ndim; d++) {
    extent[d] = part->hi[d] - part->lo[d];
    position += part->lo[d] * l->stride[d];
  }
  do {
    int64_t left = position;
    for (int r = 0; r < l->root_ndim; r++) {
      int64_t at = left / stride[r];
      left -= at * stride[r];
      if (at < touched->lo[r] || at >= touched->hi[r]) return false;
    }
  } while (lgt_index_next(l->ndim, extent, index, 1, &position, (const int64_t *const[]){l->stride}));
  return true;
}

/* Tiles of a reshaped view that is written have rows of the root to themselves, and their owner keeps these. */
TEST(what_is_written_through_a_reshaped_view_is_cut_in_rows) {
  int cut = 0, followed = 0, exact = 0;
  for (int round = 0; round < 6000; round++) {
    int64_t shape[] = {1 + random_below(12), 1 + random_below(8), 1 + random_below(4)};
    int ndim = 1 + (int)random_below(3);
    uint32_t root = dense(ndim, shape), view = random_reshaped(root);
    lgt_store *store = lgt_store_new(&stores, root);
    lgt_call call = call_of(&generator, 1);
    lgt_alignment room[LGT_MAX_ARGS];
    lgt_space space = {.align = room};
    lgt_solver_key_state state[LGT_MAX_ARGS] = {{random_below(2) ? random_tiling(ndim, shape) : NULL, false}};
    const char *reason;
    call.store[0] = store->id;
    call.layout[0] = view;
    CHECK(view && !lgt_space_of_call(&stores, &call, &space));
    const lgt_partition *p = lgt_solver_choose(&solver, &stores, &call, &space, state, &reason);
    CHECK(p && p->ndim == space.ndim);
    lgt_store_recycle(&stores, store);
    if (p->ncolour < 2 || !(at(view)->flags & LGT_LAYOUT_RESHAPED)) continue;
    const lgt_partition *key = lgt_solver_key(&solver, at(view), &space.align[0], p);
    lgt_rect touched[64], common;
    int64_t size = 0;
    CHECK(key && p->ncolour <= 64);
    cut++;
    followed += strstr(reason, "key partition") != NULL;
    for (int c = 0; c < p->ncolour; c++) {
      lgt_rect tile = lgt_partition_rect(p, c), part = lgt_space_view_rect(at(view), &space.align[0], &tile);
      touched[c] = lgt_layout_root_rect(at(view), &part);
      size += lgt_rect_size(&touched[c]);
      CHECK(lgt_rect_empty(&part) || all_in(at(view), &part, &touched[c]));
      int k = tile_holding(key, &touched[c]);
      CHECK(k >= 0);
      for (int domains = 1; domains < 12; domains++)
        CHECK_EQ(lgt_partition_domain(key, domains, k), lgt_partition_domain(p, domains, c));
      for (int b = 0; b < c; b++) CHECK(!lgt_rect_intersect(&touched[b], &touched[c], &common));
    }
    if (lgt_layout_exact(at(view))) {
      exact++;
      CHECK(at(view)->size == at(root)->size && size == at(root)->size);
    }
  }
  CHECK(cut > 1000 && followed > 200 && exact > 200);
}

static const char *reason_for(lgt_call *call, const lgt_solver *s, const lgt_solver_key_state *state,
                              int *colours) {
  lgt_alignment room[LGT_MAX_ARGS];
  lgt_space space = {.align = room};
  const char *reason = "none";
  if (lgt_space_of_call(&stores, call, &space)) return lgt_message();
  *colours = lgt_solver_choose(s, &stores, call, &space, state, &reason)->ncolour;
  return reason;
}

TEST(the_solver_gives_reasons) {
  int64_t shape[] = {100, 100};
  uint32_t root = dense(2, shape), small = dense(1, (int64_t[]){100});
  lgt_store *x = lgt_store_new(&stores, root), *y = lgt_store_new(&stores, small);
  lgt_call call = call_of(&generator, 2);
  lgt_solver_key_state state[LGT_MAX_ARGS] = {{NULL, false}, {NULL, false}};
  lgt_solver one = solver, coarse = solver;
  int n = 0;
  one.domains = 1;
  coarse.min_tile = 5001;
  call.store[0] = x->id, call.store[1] = y->id, call.layout[0] = root, call.layout[1] = small;
  CHECK_HAS(reason_for(&call, &solver, state, &n), "natural");
  CHECK_EQ(n, 4);
  CHECK_HAS(reason_for(&call, &one, state, &n), "one domain");
  CHECK_EQ(n, 1);
  CHECK_HAS(reason_for(&call, &coarse, state, &n), "smaller than two tiles");
  CHECK_EQ(n, 1);
  /* The larger argument has its way; among equals the one that was just made. */
  const lgt_partition *rows =
      lgt_partition_tiling(&partitions, 2, shape, (int64_t[]){50, 100}, (int64_t[]){0, 0});
  const lgt_partition *fifths = lgt_partition_tiling(&partitions, 1, shape, (int64_t[]){20}, (int64_t[]){0});
  state[0].key = rows, state[1].key = fifths;
  CHECK_HAS(reason_for(&call, &solver, state, &n), "largest argument");
  CHECK_EQ(n, 2);
  state[0].key = NULL; /* a row that is stretched over the space does not count */
  CHECK_HAS(reason_for(&call, &solver, state, &n), "natural");
  CHECK_EQ(n, 4);
  call.layout[1] = root;
  state[0].key = rows;
  state[1].key = lgt_partition_tiling(&partitions, 2, shape, (int64_t[]){100, 30}, (int64_t[]){0, 0});
  state[1].recent = true;
  CHECK_HAS(reason_for(&call, &solver, state, &n), "a result it uses");
  CHECK_EQ(n, 4);
  /* Tiles of a small part are no use for the whole. */
  state[0].key = lgt_partition_tiling(&partitions, 2, shape, (int64_t[]){1, 100}, (int64_t[]){0, 0});
  state[1] = (lgt_solver_key_state){NULL, false};
  CHECK_HAS(reason_for(&call, &solver, state, &n), "natural");
  CHECK_EQ(n, 4);
  /* One colour. */
  call.layout[1] = lgt_stores_reshape(&stores, dense(1, (int64_t[]){10000}), 2, shape);
  CHECK_HAS(reason_for(&call, &solver, state, &n), "natural"); /* a view that is read: rows of its root */
  CHECK_EQ(n, 4);
  uint32_t root_layout = call.layout[0];
  call.layout[0] = call.layout[1];
  CHECK_HAS(reason_for(&call, &solver, state, &n), "natural"); /* in rows, too */
  CHECK_EQ(n, 4);
  call.layout[0] = lgt_stores_reshape(&stores, dense(2, (int64_t[]){625, 16}), 2, shape);
  CHECK_HAS(reason_for(&call, &solver, state, &n), "writes a reshaped view"); /* no tile ends with a row */
  CHECK_EQ(n, 1);
  call.layout[0] = root_layout;
  call.store[1] = x->id;
  call.layout[1] = lgt_stores_slice(&stores, root, 0, 99, 100, -1);
  CHECK_HAS(reason_for(&call, &solver, state, &n), "natural"); /* each domain has a copy of what it reads */
  CHECK_EQ(n, 4);
  lgt_solver crowded = solver;
  crowded.most = 8;
  CHECK_HAS(reason_for(&call, &crowded, state, &n), "overwrites what it reads");
  CHECK_EQ(n, 1);
  lgt_store_recycle(&stores, x);
  lgt_store_recycle(&stores, y);
}

int main(void) {
  if (lgt_stores_init(&stores)) return 1;
  lgt_partitions_init(&partitions);
  RUN(dimensions_that_are_aligned_are_one_class);
  RUN(a_class_with_a_whole_member_is_whole);
  RUN(a_halo_has_two_widths);
  RUN(dimensions_may_be_named_by_data);
  RUN(malformed_sets_are_refused);
  RUN(the_space_of_a_generator_is_numpys_broadcast);
  RUN(the_space_of_a_set_is_its_classes);
  RUN(what_is_scaled_is_cut_in_blocks);
  RUN(a_tile_needs_its_part_of_a_view);
  RUN(tiles_follow_the_key_partition);
  RUN(tiles_of_blocks_follow_the_key_partition);
  RUN(what_is_written_has_the_tiles_of_its_launch);
  RUN(a_part_tells_how_an_array_is_cut_if_all_have_their_share);
  RUN(what_is_written_through_a_reshaped_view_is_cut_in_rows);
  RUN(the_solver_gives_reasons);
  lgt_partitions_fini(&partitions);
  lgt_stores_fini(&stores);
  return check_done() || lgt_mem_live() != 0;
}
