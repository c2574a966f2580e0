/* dtype.c - elements in memory and scalars by value.
 *
 * Elements need not be aligned (they may come from a file or from the host program).  A scalar that does
 * not fit is cut to the width, as C does; a float is rounded to nearest even, once.
 */
#include "base/dtype.h"

#include <string.h>

#include "base/half.h"

#define LOAD(T, field)             \
  {                                \
    T x;                           \
    memcpy(&x, element, sizeof x); \
    value.field = x;               \
    break;                         \
  }

lgt_scalar lgt_dtype_load(int dtype, const void *element) {
  lgt_scalar value = {.range = {0, 0}};
  switch (dtype) {
    case LGT_BOOL:
      value.i = *(const uint8_t *)element != 0;
      break;
    case LGT_INT8:
      LOAD(int8_t, i)
    case LGT_INT16:
      LOAD(int16_t, i)
    case LGT_INT32:
      LOAD(int32_t, i)
    case LGT_INT64:
      LOAD(int64_t, i)
    case LGT_UINT8:
      LOAD(uint8_t, u)
    case LGT_UINT16:
      LOAD(uint16_t, u)
    case LGT_UINT32:
      LOAD(uint32_t, u)
    case LGT_UINT64:
      LOAD(uint64_t, u)
    case LGT_FLOAT16: {
      uint16_t half;
      memcpy(&half, element, sizeof half);
      value.f = lgt_half_to_float(half);
      break;
    }
    case LGT_FLOAT32:
      LOAD(float, f)
    case LGT_FLOAT64:
      LOAD(double, f)
    case LGT_COMPLEX64: {
      float part[2];
      memcpy(part, element, sizeof part);
      value.c[0] = part[0];
      value.c[1] = part[1];
      break;
    }
    case LGT_COMPLEX128:
      memcpy(value.c, element, sizeof value.c);
      break;
    case LGT_RANGE:
      memcpy(value.range, element, sizeof value.range);
      break;
  }
  return value;
}

#define PLAIN(T)                                                       \
  for (T *p = data; p < (T *)data + n; p++) *p = (T)lgt_plain_nan(*p); \
  break;

void lgt_plain_nans(int dtype, void *data, int64_t n) {
  if (lgt_dtype_is_complex(dtype)) n *= 2;
  switch (lgt_dtype_part(dtype)) {
    case LGT_FLOAT32:
      PLAIN(float)
    case LGT_FLOAT64:
      PLAIN(double)
  }
}

#define STORE(T, from)             \
  {                                \
    T x = (T)(from);               \
    memcpy(element, &x, sizeof x); \
    break;                         \
  }

void lgt_dtype_store(int dtype, void *element, lgt_scalar value) {
  switch (dtype) {
    case LGT_BOOL:
      *(uint8_t *)element = value.i != 0;
      break;
    case LGT_INT8:
    case LGT_UINT8:
      STORE(uint8_t, value.u)
    case LGT_INT16:
    case LGT_UINT16:
      STORE(uint16_t, value.u)
    case LGT_INT32:
    case LGT_UINT32:
      STORE(uint32_t, value.u)
    case LGT_INT64:
    case LGT_UINT64:
      STORE(uint64_t, value.u)
    case LGT_FLOAT16:
      STORE(uint16_t, lgt_half_from_double(value.f))
    case LGT_FLOAT32:
      STORE(float, value.f)
    case LGT_FLOAT64:
      STORE(double, value.f)
    case LGT_COMPLEX64: {
      float part[2] = {(float)value.c[0], (float)value.c[1]};
      memcpy(element, part, sizeof part);
      break;
    }
    case LGT_COMPLEX128:
      memcpy(element, value.c, sizeof value.c);
      break;
    case LGT_RANGE:
      memcpy(element, value.range, sizeof value.range);
      break;
  }
}
