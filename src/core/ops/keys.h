/* keys.h - elements as numbers in the same order, and sorting these.
 *
 * Between sort.c and merge.c.  All orders are stable and put NaN last.  Keys are sorted by their bytes from the lowest
 * up (LSD radix sort; short lines by insertion), which takes a time that depends on the size of an element and not on
 * the data.  A byte that is the same in all keys is passed over.
 */
#ifndef LGT_KEYS_H
#define LGT_KEYS_H

#include "ops/builtin.h"
#include "base/half.h"

enum { SHORT_LINE = 40 };

typedef struct pair {
  uint64_t key;
  uint64_t at;
} pair;

static inline uint64_t key_of_bits(uint64_t bits, uint64_t sign, uint64_t infinity) {
  if ((bits & ~sign) > infinity) return sign | (sign - 1); /* NaN, of either sign */
  return bits & sign ? ~bits & (sign | (sign - 1)) : bits | sign;
}

/* A real element as a key in the same order. */
static inline uint64_t key_of(int dtype, const char *p) {
  switch (dtype) {
    case LGT_BOOL:
      return *(const uint8_t *)p != 0;
    case LGT_INT8:
      return (uint8_t)(*(const uint8_t *)p ^ 0x80u);
    case LGT_UINT8:
      return *(const uint8_t *)p;
    case LGT_INT16:
      return (uint16_t)(*(const uint16_t *)p ^ 0x8000u);
    case LGT_UINT16:
      return *(const uint16_t *)p;
    case LGT_INT32:
      return *(const uint32_t *)p ^ 0x80000000u;
    case LGT_UINT32:
      return *(const uint32_t *)p;
    case LGT_INT64:
      return *(const uint64_t *)p ^ (uint64_t)1 << 63;
    case LGT_FLOAT16:
      return key_of_bits(*(const uint16_t *)p, 0x8000, 0x7c00);
    case LGT_FLOAT32:
      return key_of_bits(*(const uint32_t *)p, 0x80000000u, 0x7f800000u);
    case LGT_FLOAT64:
      return key_of_bits(*(const uint64_t *)p, (uint64_t)1 << 63, 0x7ff0000000000000u);
    default:
      return *(const uint64_t *)p;
  }
}

/* The key of NaN, which is above all others. */
static inline uint64_t key_of_nan(int float_dtype) { return UINT64_MAX >> (64 - 8 * lgt_dtype_size(float_dtype)); }

/* -0 as 0, which it equals. */
static inline uint64_t without_sign_of_zero(int dtype, uint64_t key) {
  if (dtype == LGT_FLOAT64) return key == ((uint64_t)1 << 63) - 1 ? (uint64_t)1 << 63 : key;
  if (dtype == LGT_FLOAT32) return key == 0x7fffffffu ? 0x80000000u : key;
  if (dtype == LGT_FLOAT16) return key == 0x7fff ? 0x8000 : key;
  return key;
}

/* A key under which equal elements are the same. */
static inline uint64_t order_key(int dtype, const char *p) { return without_sign_of_zero(dtype, key_of(dtype, p)); }

/* The element that has a key. */
static inline void put_key(char *to, uint64_t bits, int dtype, int bytes) {
  uint64_t sign = (uint64_t)1 << (8 * bytes - 1);
  if (dtype == LGT_FLOAT16 || dtype == LGT_FLOAT32 || dtype == LGT_FLOAT64) bits = bits & sign ? bits ^ sign : ~bits;
  else if (dtype >= LGT_INT8 && dtype <= LGT_INT64) bits ^= sign;
  memcpy(to, &bits, (size_t)bytes); /* the low bytes come first */
}

static inline void insertion_sort(pair *p, int64_t n) {
  for (int64_t i = 1; i < n; i++) {
    pair x = p[i];
    int64_t j = i;
    for (; j > 0 && p[j - 1].key > x.key; j--) p[j] = p[j - 1];
    p[j] = x;
  }
}

/* Sorts the n pairs at p, with as much room at `other`; returns which of the two has the result. */
static inline pair *radix_sort(pair *p, pair *other, int64_t n, int bytes) {
  int64_t count[8][256];
  if (n <= SHORT_LINE) {
    insertion_sort(p, n);
    return p;
  }
  memset(count, 0, (size_t)bytes * sizeof *count);
  for (int64_t i = 0; i < n; i++)
    for (int b = 0; b < bytes; b++) count[b][p[i].key >> 8 * b & 255]++;
  for (int b = 0; b < bytes; b++) {
    int64_t *c = count[b], sum = 0;
    if (c[p[0].key >> 8 * b & 255] == n) continue;
    for (int v = 0; v < 256; v++) {
      int64_t here = c[v];
      c[v] = sum;
      sum += here;
    }
    for (int64_t i = 0; i < n; i++) other[c[p[i].key >> 8 * b & 255]++] = p[i];
    pair *swap = p;
    p = other;
    other = swap;
  }
  return p;
}

/* The same for keys alone. */
static inline uint64_t *radix_sort_keys(uint64_t *p, uint64_t *other, int64_t n, int bytes) {
  int64_t count[8][256];
  if (n <= SHORT_LINE) {
    for (int64_t i = 1; i < n; i++) {
      uint64_t x = p[i];
      int64_t j = i;
      for (; j > 0 && p[j - 1] > x; j--) p[j] = p[j - 1];
      p[j] = x;
    }
    return p;
  }
  memset(count, 0, (size_t)bytes * sizeof *count);
  for (int64_t i = 0; i < n; i++)
    for (int b = 0; b < bytes; b++) count[b][p[i] >> 8 * b & 255]++;
  for (int b = 0; b < bytes; b++) {
    int64_t *c = count[b], sum = 0;
    if (c[p[0] >> 8 * b & 255] == n) continue;
    for (int v = 0; v < 256; v++) {
      int64_t here = c[v];
      c[v] = sum;
      sum += here;
    }
    for (int64_t i = 0; i < n; i++) other[c[p[i] >> 8 * b & 255]++] = p[i];
    uint64_t *swap = p;
    p = other;
    other = swap;
  }
  return p;
}

/* ---- by values alone (keys.c) ---------------------------------------------------------------------------- */

typedef enum lgt_key_kind { LGT_KEY_SIGNED, LGT_KEY_UNSIGNED, LGT_KEY_FLOAT } lgt_key_kind;

/* What the bits of elements of 32 and 64 bits are. */
lgt_key_kind lgt_key_kind_of(int dtype);

/* Elements as signed keys, of which all NaN have one, the greatest; and back.  `to` may be `from`. */
void lgt_turn_i32(int32_t *to, const int32_t *from, int64_t n, lgt_key_kind kind);
void lgt_turn_i64(int64_t *to, const int64_t *from, int64_t n, lgt_key_kind kind);
void lgt_turn_back_i32(int32_t *keys, int64_t n, lgt_key_kind kind);
void lgt_turn_back_i64(int64_t *keys, int64_t n, lgt_key_kind kind);

/* Are there vectors that sort faster than networks across many short lines, but for very short ones? */
bool lgt_can_sort_vectors(void);

/* The n real elements of a line in ascending order, to another line.  There is room for 2n keys. */
void lgt_sort_line(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t n, int dtype, uint64_t *room);

#endif
