/* test_targets.c - one launch that reduces along different dimensions: what each target holds is compared with sums in C. */
#include "check.h"
#include "engine.h"

enum { DIMS = 3, MASKS = 1 << DIMS, ELEMENTS = 6 * 5 * 4 };
static const int64_t extent[DIMS] = {6, 5, 4};

static lgt_runtime *rt;

static void open_domains(const char *domains, const char *reproducible) {
  lgt_status status =
      open_with(&rt, "domains", domains, "min_tile", "1", "cpus", "1", "reproducible", reproducible, NULL);
  if (status) printf("%s\n", lgt_message());
}

static int64_t value_of(int i) { return i * 7 % 23 - 4; }

/* A target that keeps the dimensions in `mask`, over the whole space. */
static lgt_id target_of(int dtype, int mask, lgt_id *array) {
  int64_t shape[DIMS];
  for (int d = 0; d < DIMS; d++) shape[d] = mask >> d & 1 ? extent[d] : 1;
  *array = lgt_array_new(rt, dtype, DIMS, shape);
  return lgt_array_broadcast(rt, *array, DIMS, extent);
}

/* The place in such a target of element i of the space. */
static int place_in(int mask, int i) {
  int place = 0, size = 1;
  for (int d = DIMS - 1; d >= 0; d--) {
    int index = i % (int)extent[d];
    i /= (int)extent[d];
    if (mask >> d & 1) place += index * size, size *= (int)extent[d];
  }
  return place;
}

static int64_t wrong_sums(lgt_id array, int mask, int64_t times) {
  int64_t want[ELEMENTS] = {0}, got[ELEMENTS] = {0}, wrong = 0;
  for (int i = 0; i < ELEMENTS; i++) want[place_in(mask, i)] += times * value_of(i);
  if (lgt_array_copy_out(rt, array, got)) return -1;
  for (int i = 0; i < ELEMENTS; i++) wrong += got[i] != want[i];
  return wrong;
}

static lgt_id input_of(void) {
  int64_t data[ELEMENTS];
  for (int i = 0; i < ELEMENTS; i++) data[i] = value_of(i);
  lgt_id x = lgt_array_new(rt, LGT_INT64, DIMS, extent);
  return lgt_array_copy_in(rt, x, data) ? 0 : x;
}

static void check_masks(const char *domains) {
  open_domains(domains, "0");
  lgt_id x = input_of();
  int kind = kind_of(rt, LGT_INT64, "a3 sum>0 a3 c2 mul sum>1 a3 c3 mul sum>2");
  CHECK(kind && x);
  for (int a = 0; a < MASKS; a++)
    for (int b = 0; b < MASKS; b++) {
      int mask[3] = {a, b, (a + 3 * b + 1) % MASKS};
      lgt_id array[3], view[3];
      for (int t = 0; t < 3; t++) view[t] = target_of(LGT_INT64, mask[t], &array[t]);
      CHECK(!launch(rt, kind, 4, view[0], view[1], view[2], x));
      for (int t = 0; t < 3; t++) {
        int64_t wrong = wrong_sums(array[t], mask[t], t + 1);
        if (wrong)
          FAIL("masks %d %d %d: %lld elements of sum %d are wrong", a, b, mask[2], (long long)wrong, t);
        lgt_array_free(rt, view[t]);
        lgt_array_free(rt, array[t]);
      }
    }
  lgt_close(rt);
}

TEST(each_target_has_its_own_sums) { check_masks("1"); }
TEST(each_target_has_its_own_sums_of_tiles) { check_masks("4"); }

/* All sums are of what was there before. */
TEST(what_is_overwritten_is_read_first) {
  for (int reproducible = 0; reproducible < 2; reproducible++) {
    open_domains("3", reproducible ? "1" : "0");
    lgt_id x = input_of(), rows, columns;
    lgt_id by_row = target_of(LGT_INT64, 1, &rows), by_column = target_of(LGT_INT64, 6, &columns);
    int kind = kind_of(rt, LGT_INT64, "a0 sum>1 a0 sum>2 c1 =0");
    CHECK(kind && x && !launch(rt, kind, 3, x, by_row, by_column));
    CHECK_EQ(wrong_sums(rows, 1, 1), 0);
    CHECK_EQ(wrong_sums(columns, 6, 1), 0);
    int64_t ones[ELEMENTS], sum = 0;
    CHECK(!lgt_array_copy_out(rt, x, ones));
    for (int i = 0; i < ELEMENTS; i++) sum += ones[i];
    CHECK_EQ(sum, ELEMENTS);
    lgt_close(rt);
  }
}

TEST(a_value_lies_as_its_position_does) {
  open_domains("1", "0");
  lgt_id x = input_of(), value, position;
  lgt_id by_row = target_of(LGT_INT64, 1, &value), by_column = target_of(LGT_INT64, 2, &position);
  int kind = kind_of(rt, LGT_INT64, "a2 i-1 argmax>0");
  CHECK(kind && x);
  CHECK(launch(rt, kind, 3, by_row, by_column, x) || lgt_fence(rt));
  CHECK_HAS(lgt_message(),
            "reduces into arguments 1 and 2, a value and its position, along different dimensions");
  lgt_close(rt);
}

int main(void) {
  RUN(each_target_has_its_own_sums);
  RUN(each_target_has_its_own_sums_of_tiles);
  RUN(what_is_overwritten_is_read_first);
  RUN(a_value_lies_as_its_position_does);
  return check_done();
}
