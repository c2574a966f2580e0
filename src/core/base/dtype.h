/* dtype.h - the element types: sizes, names, classes. */
#ifndef LGT_DTYPE_H
#define LGT_DTYPE_H

#include <stdbool.h>

#include "lgt_binding.h"

/* enumerator, name, bytes, class: b bool, i signed, u unsigned, f float, c complex, r range */
/* clang-format off */
#define LGT_DTYPE_LIST(X)                                                                          \
  X(BOOL, "bool", 1, 'b')                                                                          \
  X(INT8, "int8", 1, 'i') X(INT16, "int16", 2, 'i') X(INT32, "int32", 4, 'i') X(INT64, "int64", 8, 'i')         \
  X(UINT8, "uint8", 1, 'u') X(UINT16, "uint16", 2, 'u') X(UINT32, "uint32", 4, 'u') X(UINT64, "uint64", 8, 'u') \
  X(FLOAT16, "float16", 2, 'f') X(FLOAT32, "float32", 4, 'f') X(FLOAT64, "float64", 8, 'f')        \
  X(COMPLEX64, "complex64", 8, 'c') X(COMPLEX128, "complex128", 16, 'c')                           \
  X(RANGE, "range", 16, 'r')
/* clang-format on */

static inline int lgt_dtype_size(int dtype) {
#define X(NAME, name, size, cls) size,
  static const unsigned char sizes[] = {LGT_DTYPE_LIST(X)};
#undef X
  return sizes[dtype];
}

static inline char lgt_dtype_class(int dtype) {
#define X(NAME, name, size, cls) cls,
  static const char classes[] = {LGT_DTYPE_LIST(X)};
#undef X
  return classes[dtype];
}

static inline const char *lgt_dtype_name(int dtype) {
#define X(NAME, name, size, cls) name,
  static const char *const names[] = {LGT_DTYPE_LIST(X)};
#undef X
  return names[dtype];
}

static inline bool lgt_dtype_valid(int dtype) { return dtype >= 0 && dtype < LGT_NDTYPE; }
static inline bool lgt_dtype_is_float(int dtype) { return lgt_dtype_class(dtype) == 'f'; }
static inline bool lgt_dtype_is_complex(int dtype) { return lgt_dtype_class(dtype) == 'c'; }
static inline bool lgt_dtype_is_integer(int dtype) { return lgt_dtype_class(dtype) == 'i' || lgt_dtype_class(dtype) == 'u'; }
/* Complex numbers and ranges are pairs: two parts of one type, one behind the other. */
static inline bool lgt_dtype_is_pair(int dtype) { return dtype >= LGT_COMPLEX64; }
/* The type of a pair's parts; of others the type itself. */
static inline int lgt_dtype_part(int dtype) {
  return dtype == LGT_COMPLEX64 ? LGT_FLOAT32 : dtype == LGT_COMPLEX128 ? LGT_FLOAT64 : dtype == LGT_RANGE ? LGT_INT64 : dtype;
}

/* Between an element in memory and a scalar by value. */
lgt_scalar lgt_dtype_load(int dtype, const void *element);
void lgt_dtype_store(int dtype, void *element, lgt_scalar value);
/* A NaN has 2^52 - 1 bit patterns; this one in place of all others. */
static inline double lgt_plain_nan(double x) { return x == x ? x : __builtin_nan(""); }

#endif
