/* test_image.c - elements that data names: how far domains reach, which ones come, and when that is known already. */
#include "move/image.h"

#include "fusion.h"

static lgt_kind_id take, add_up;

/* to[i] = from[place[i]], where `from` may lie anywhere within its whole extent. */
static lgt_status take_tile(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                            int64_t hi) {
  (void)nargs, (void)params;
  for (int64_t i = lo; i < hi; i++) {
    int64_t p = *(int64_t *)((char *)tiles[1].data + i * tiles[1].stride[0]);
    if (p < 0) p += N;
    *(double *)((char *)tiles[0].data + i * tiles[0].stride[0]) =
        *(double *)((char *)tiles[2].data + (p - tiles[2].origin[0]) * tiles[2].stride[0]);
  }
  return LGT_OK;
}

/* to[i] = the sum of from[first[i]] up to, but without, from[past[i]]. */
static lgt_status add_up_tile(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                              int64_t hi) {
  (void)nargs, (void)params;
  for (int64_t i = lo; i < hi; i++) {
    int64_t first = *(int64_t *)((char *)tiles[1].data + i * tiles[1].stride[0]);
    int64_t past = *(int64_t *)((char *)tiles[2].data + i * tiles[2].stride[0]);
    double sum = 0;
    for (int64_t p = first; p < past; p++)
      sum += *(double *)((char *)tiles[3].data + (p - tiles[3].origin[0]) * tiles[3].stride[0]);
    *(double *)((char *)tiles[0].data + i * tiles[0].stride[0]) = sum;
  }
  return LGT_OK;
}

/* Two domains; element i of the vector that is given back is 10 i, and each domain has a half of it. */
static lgt_id begin(void) {
  if (open_with(&rt, "cpus", "1", "check", "1", "domains", "2", "min_tile", "1", NULL)) return 0;
  take = native_kind(rt, "take", "wrr", "align(0.0,1.0) image_points(1:2.0)", take_tile);
  add_up = native_kind(rt, "add_up", "wrrr", "align(0.0,1.0,2.0) image_ranges(1,2:3.0)", add_up_tile);
  lgt_id from = apply("a1 c10 mul =0", filled(N, 1, 0), 0);
  return take && add_up && !lgt_fence(rt) ? from : 0;
}

static lgt_id places(int64_t n, int64_t first, int64_t step) {
  static int64_t place[N];
  for (int64_t i = 0; i < n; i++) place[i] = ((first + i * step) % N + N) % N;
  lgt_id id = array_of(rt, LGT_INT64, 1, &n);
  return lgt_array_copy_in(rt, id, place) ? 0 : id;
}

static lgt_image *image_of(lgt_id source) { return store_of(source)->images; }

static int count_of(lgt_id source) {
  int n = 0;
  for (const lgt_image *image = image_of(source); image; image = image->next) n++;
  return n;
}

TEST(points_come_from_where_they_are) {
  lgt_id from = begin(), at = places(N, N - 1, -3), to = vector(N);
  CHECK(from && at && !launch(rt, (int)take, 3, to, at, from) && !lgt_fence(rt));
  const lgt_image *image = image_of(at);
  CHECK(image && !image->next && !image->bad && !image->dense && image->along == 0);
  for (int i = 0; i < N; i++) CHECK(value_at(to, i) == 10 * (((N - 1 - 3 * i) % N + N) % N));
  lgt_close(rt);
}

/* Each domain takes two of the other one's elements: no more than its reach comes. */
TEST(a_reach_is_no_larger_than_what_is_named) {
  lgt_id from = begin(), at = places(N, 2, 1), to = vector(N);
  CHECK(from && at);
  CHECK(!launch(rt, (int)take, 3, to, at, slice_of(rt, from, 0, 0, N, 1)) && !lgt_fence(rt));
  const lgt_image *image = image_of(at);
  CHECK(image && image->reach[0][0] == 2 && image->reach[0][1] == N / 2 + 2);
  CHECK(image->reach[1][0] == 0 && image->reach[1][1] == N); /* from the last elements on to the first ones */
  const lgt_image_moves *moves = image->moves;
  CHECK(moves && moves->npiece == 2);
  for (int p = 0; p < 2; p++) {
    const lgt_piece *piece = &moves->piece[p];
    CHECK_EQ(lgt_elements(&piece->rect, piece->runs, piece->along), 2);
  }
  CHECK(value_at(to, 0) == 20 && value_at(to, N - 1) == 10);
  lgt_close(rt);
}

/* Side by side, with jumps, backwards, from the end: what each domain needs is what its half of the positions names. */
TEST(positions_may_lie_in_any_order) {
  lgt_id from = begin(), to = vector(N);
  CHECK(from);
  for (int round = 0; round < 60; round++) {
    static int64_t place[N];
    static bool named[2][N];
    int64_t n = N, step = round % 3 - 1, at = (int64_t)(round * 7919 % N);
    for (int64_t i = 0; i < N; i++) {
      if (round >= 30 && i * 31 % (round + 1) == 0) at += 12 * round;
      at = ((at + (i % 4 ? step : 0)) % N + N) % N;
      place[i] = round % 5 == 4 && i % 9 == 0 ? at - N : at;
    }
    lgt_id id = array_of(rt, LGT_INT64, 1, &n);
    CHECK(!lgt_array_copy_in(rt, id, place));
    CHECK(!launch(rt, (int)take, 3, to, id, from) && !lgt_fence(rt));
    const lgt_image *image = image_of(id);
    CHECK(image && !image->bad);
    memset(named, 0, sizeof named);
    bool dense = true;
    for (int d = 0; d < 2; d++) {
      lgt_rect tile = lgt_partition_rect(store_of(to)->key, d);
      int64_t lo = N, hi = 0, count = 0;
      for (int64_t i = tile.lo[0]; i < tile.hi[0]; i++)
        named[d][place[i] < 0 ? place[i] + N : place[i]] = true;
      for (int64_t p = 0; p < N; p++)
        if (named[d][p]) count++, lo = p < lo ? p : lo, hi = p + 1;
      CHECK(image->reach[d][0] == lo && image->reach[d][1] == hi);
      CHECK_EQ(image->runs[d]->total, count);
      for (int64_t k = 0; k < image->runs[d]->count; k++)
        for (int64_t p = image->runs[d]->run[k][0]; p < image->runs[d]->run[k][1]; p++) CHECK(named[d][p]);
      dense &= count == hi - lo;
    }
    CHECK(image->dense == dense);
    for (int i = 0; i < N; i += 11)
      CHECK(value_at(to, i) == 10 * (double)(place[i] < 0 ? place[i] + N : place[i]));
  }
  lgt_close(rt);
}

TEST(ranges_without_gaps_are_dense) {
  lgt_id from = begin(), first = places(N, 0, 1), past = places(N - 1, 1, 1), to = vector(N - 1);
  lgt_id less = slice_of(rt, first, 0, 0, N - 1, 1);
  CHECK(from && !launch(rt, (int)add_up, 4, to, less, past, from) && !lgt_fence(rt));
  const lgt_image *image = image_of(first);
  CHECK(image && image->dense);
  for (int d = 0; d < 2; d++) {
    lgt_rect tile = lgt_partition_rect(store_of(to)->key, d);
    CHECK(image->reach[d][0] == tile.lo[0] && image->reach[d][1] == tile.hi[0]);
  }
  for (int i = 0; i < N - 1; i++) CHECK(value_at(to, i) == 10 * i);
  lgt_close(rt);
}

/* An image is known for as long as its source has the same contents. */
TEST(an_image_is_made_once_for_each_version) {
  lgt_id from = begin(), at = places(N, 3, 1), to = vector(N);
  CHECK(from && !launch(rt, (int)take, 3, to, at, from) && !lgt_fence(rt));
  int64_t serial = image_of(at)->serial;
  lgt_id other = apply("a1 c1 add =0", from, 0); /* other elements, at the same places */
  CHECK(!launch(rt, (int)take, 3, to, at, other) && !lgt_fence(rt));
  CHECK(image_of(at)->serial == serial && count_of(at) == 1);
  CHECK(value_at(to, 0) == 31);
  lgt_id new = places(N, 5, 1);
  CHECK(!launch(rt, kind_of(rt, LGT_INT64, "a1 =0"), 2, at, new));
  CHECK(!launch(rt, (int)take, 3, to, at, from) && !lgt_fence(rt));
  CHECK(image_of(at) && image_of(at)->serial != serial && count_of(at) == 1);
  CHECK(value_at(to, 0) == 50);
  lgt_close(rt);
}

/* The moves that bring the elements are kept for the history of what is read. */
TEST(moves_are_found_again) {
  lgt_id from = begin(), at = places(N, N / 2, 7), to = vector(N);
  CHECK(from && !launch(rt, (int)take, 3, to, at, from) && !lgt_fence(rt));
  const lgt_image_moves *moves = image_of(at)->moves;
  CHECK(moves && moves->nmove == 2 && !moves->next); /* one to each domain */
  for (int turn = 0; turn < 3; turn++) {
    CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "a1 c1 add =0"), 2, from, from));
    CHECK(!launch(rt, (int)take, 3, to, at, from) && !lgt_fence(rt));
  }
  int n = 0;
  for (moves = image_of(at)->moves; moves; moves = moves->next) n++;
  CHECK(n <= 2); /* as it was written first, and as it is written since */
  CHECK(value_at(to, 1) == 10 * (N / 2 + 7) + 3);
  lgt_close(rt);
}

TEST(old_images_make_room_for_new_ones) {
  lgt_id from = begin(), at = places(N, 1, 1), to = vector(N);
  CHECK(from);
  for (int n = 0; n < LGT_IMAGES + 5; n++) { /* as many views of the target, and so images */
    lgt_id part = slice_of(rt, from, 0, 0, N, 1), some = slice_of(rt, at, 0, 0, 100 + n, 1);
    CHECK(!launch(rt, (int)take, 3, slice_of(rt, to, 0, 0, 100 + n, 1), some, part) && !lgt_fence(rt));
    CHECK(count_of(at) <= LGT_IMAGES + 1);
  }
  CHECK(count_of(at) >= LGT_IMAGES);
  lgt_images_drop(store_of(at));
  CHECK_EQ(count_of(at), 0);
  lgt_close(rt);
}

int main(void) {
  RUN(points_come_from_where_they_are);
  RUN(a_reach_is_no_larger_than_what_is_named);
  RUN(positions_may_lie_in_any_order);
  RUN(ranges_without_gaps_are_dense);
  RUN(an_image_is_made_once_for_each_version);
  RUN(moves_are_found_again);
  RUN(old_images_make_room_for_new_ones);
  return check_done();
}
