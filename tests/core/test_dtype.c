/* test_dtype.c - element types, and float16 against the compiler's own. */
#include <math.h>

#include "check.h"
#include "base/dtype.h"
#include "base/half.h"
#include "loops.h"

TEST(classes_and_sizes) {
  CHECK_EQ(lgt_dtype_size(LGT_FLOAT16), 2);
  CHECK_EQ(lgt_dtype_size(LGT_COMPLEX64), 8);
  CHECK_EQ(lgt_dtype_size(LGT_RANGE), 16);
  CHECK_TEXT(lgt_dtype_name(LGT_UINT16), "uint16");
  CHECK(lgt_dtype_is_integer(LGT_UINT8) && lgt_dtype_is_integer(LGT_INT64) &&
        !lgt_dtype_is_integer(LGT_BOOL));
  CHECK(lgt_dtype_is_pair(LGT_COMPLEX64) && lgt_dtype_is_pair(LGT_RANGE) && !lgt_dtype_is_pair(LGT_FLOAT64));
  CHECK_EQ(lgt_dtype_part(LGT_COMPLEX64), LGT_FLOAT32);
  CHECK_EQ(lgt_dtype_part(LGT_COMPLEX128), LGT_FLOAT64);
  CHECK_EQ(lgt_dtype_part(LGT_RANGE), LGT_INT64);
  CHECK_EQ(lgt_dtype_part(LGT_INT8), LGT_INT8);
  CHECK(lgt_dtype_valid(0) && !lgt_dtype_valid(-1) && !lgt_dtype_valid(LGT_NDTYPE));
}

TEST(elements_survive_a_round_trip) {
  for (int dtype = 0; dtype < LGT_COMPLEX64; dtype++) {
    lgt_scalar values[64];
    int n = interesting(dtype, values);
    for (int i = 0; i < n; i++) {
      char memory[16 + 1] = {0};
      lgt_dtype_store(dtype, memory + 1, values[i]);
      if (!same_value(dtype, lgt_dtype_load(dtype, memory + 1), values[i]))
        FAIL("%s %s", lgt_dtype_name(dtype), show(dtype, values[i]));
      for (int k = lgt_dtype_size(dtype); k < 16; k++) CHECK_EQ(memory[1 + k], 0);
    }
  }
  char memory[16];
  lgt_dtype_store(LGT_COMPLEX64, memory, (lgt_scalar){.c = {1.5, -2}});
  lgt_scalar z = lgt_dtype_load(LGT_COMPLEX64, memory);
  CHECK(z.c[0] == 1.5 && z.c[1] == -2);
  lgt_dtype_store(LGT_RANGE, memory, (lgt_scalar){.range = {3, -9}});
  z = lgt_dtype_load(LGT_RANGE, memory);
  CHECK(z.range[0] == 3 && z.range[1] == -9);
}

TEST(what_does_not_fit_is_cut) {
  char memory[8] = {0};
  lgt_dtype_store(LGT_INT8, memory, (lgt_scalar){.i = 200});
  CHECK_EQ(lgt_dtype_load(LGT_INT8, memory).i, -56);
  lgt_dtype_store(LGT_UINT16, memory, (lgt_scalar){.i = -1});
  CHECK_EQ(lgt_dtype_load(LGT_UINT16, memory).u, 65535);
  lgt_dtype_store(LGT_BOOL, memory, (lgt_scalar){.i = 256});
  CHECK_EQ(memory[0], 1);
  memory[0] = 7;
  CHECK_EQ(lgt_dtype_load(LGT_BOOL, memory).i, 1);
}

static uint16_t bits_of(_Float16 x) {
  uint16_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

TEST(every_half_is_read_right) {
  for (int bits = 0; bits < 65536; bits++) {
    _Float16 half;
    uint16_t b = (uint16_t)bits;
    memcpy(&half, &b, sizeof half);
    float expected = (float)half, got = lgt_half_to_float(b);
    if (isnan(expected) ? !isnan(got) : lgt_float_bits(got) != lgt_float_bits(expected))
      FAIL("%04x is %a, not %a", bits, got, expected);
    if (!isnan(expected) && lgt_half_from_float(got) != b)
      FAIL("%a gives %04x, not %04x", got, lgt_half_from_float(got), bits);
  }
}

static void check_float(float x) {
  uint16_t got = lgt_half_from_float(x), expected = bits_of((_Float16)x);
  if (isnan(x) ? (got & 0x7fff) <= 0x7c00 : got != expected)
    FAIL("%a gives %04x, not %04x", x, got, expected);
}

static void check_double(double x) {
  uint16_t got = lgt_half_from_double(x), expected = bits_of((_Float16)x);
  if (isnan(x) ? (got & 0x7fff) <= 0x7c00 : got != expected)
    FAIL("%a gives %04x, not %04x", x, got, expected);
}

TEST(halves_are_rounded_to_even) {
  for (int i = 0; i < 2000000; i++) check_float(lgt_float_of_bits((uint32_t)random_bits()));
  /* All values and midpoints, and what lies next to them. */
  for (int bits = 0; bits < 0x7c00; bits++) {
    double low = lgt_half_to_float((uint16_t)bits),
           high = bits == 0x7bff ? 65536 : lgt_half_to_float((uint16_t)(bits + 1));
    double middle = (low + high) / 2;
    for (int sign = -1; sign < 2; sign += 2) {
      double points[] = {
          low, middle, nextafter(middle, 0), nextafter(middle, 1e9), nextafter(low, 0), nextafter(low, 1e9)};
      for (int i = 0; i < 6; i++) check_double(sign * points[i]);
      check_float((float)(sign * middle));
      check_float(nextafterf((float)(sign * middle), 0));
      check_float(nextafterf((float)(sign * middle), (float)sign * 1e9f));
    }
  }
  static const double special[] = {0.0,    -0.0,   INFINITY,  -INFINITY, NAN,     1e300,
                                   -1e300, 1e-300, 65519.999, 65520,     4.9e-324};
  for (int i = 0; i < 11; i++) check_double(special[i]), check_float((float)special[i]);
}

int main(void) {
  RUN(classes_and_sizes);
  RUN(elements_survive_a_round_trip);
  RUN(what_does_not_fit_is_cut);
  RUN(every_half_is_read_right);
  RUN(halves_are_rounded_to_even);
  return check_done();
}
