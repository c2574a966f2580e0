/* keys.c - elements of 32 and 64 bits as signed keys, and lines of elements sorted by their values alone.
 *
 * Longer lines are sorted by vectors (keys_highway.cpp) where that module was built and the instruction set has vectors
 * worth it, else by their bytes.  The keys are in one total order, so both give the same bits.
 */
#include "ops/keys.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>

#include "kernel/helper.h"
#include "kernel/kernel.h"

/* ---- signed keys --------------------------------------------------------------------------------------- */

#define LGT_CLONES __attribute__((target_clones("default", "avx2", "avx512f")))

/* The clones are static: gcc exports those of functions that are not, whatever their visibility.
 *
 * Each element is read before the same one is written, so `to` may be `from`.  Below 0, a float's key has its other bits
 * the other way round: of sorted keys only the first ones. */
#define SIGNED_KEYS(SUFFIX, T, U, NAN_ABOVE)                                                      \
  LGT_CLONES static void turn_##SUFFIX(T *to, const T *from, int64_t n, lgt_key_kind kind) {      \
    const T most = (T)((U)-1 >> 1);                                                               \
    if (kind == LGT_KEY_SIGNED && to != from) memcpy(to, from, (size_t)n * sizeof(T));            \
    _Pragma("GCC ivdep") for (int64_t i = 0; kind == LGT_KEY_UNSIGNED && i < n; i++) to[i] =      \
        from[i] ^ (-most - 1);                                                                    \
    _Pragma("GCC ivdep") for (int64_t i = 0; kind == LGT_KEY_FLOAT && i < n; i++) {               \
      T key = from[i];                                                                            \
      to[i] = (key & most) > NAN_ABOVE ? most : key ^ (key < 0 ? most : 0);                       \
    }                                                                                             \
  }                                                                                               \
  LGT_CLONES static void turn_back_##SUFFIX(T *keys, int64_t n, lgt_key_kind kind) {              \
    const T most = (T)((U)-1 >> 1);                                                               \
    for (int64_t i = 0; kind == LGT_KEY_UNSIGNED && i < n; i++) keys[i] ^= -most - 1;             \
    for (int64_t i = 0; kind == LGT_KEY_FLOAT && i < n; i++) keys[i] ^= keys[i] < 0 ? most : 0;   \
  }                                                                                               \
  static int64_t count_negative_##SUFFIX(const T *sorted, int64_t n) {                            \
    int64_t low = 0, high = n;                                                                    \
    while (low < high) {                                                                          \
      int64_t middle = low + (high - low) / 2;                                                    \
      if (sorted[middle] < 0) low = middle + 1;                                                   \
      else high = middle;                                                                         \
    }                                                                                             \
    return low;                                                                                   \
  }                                                                                               \
  static void turn_sorted_back_##SUFFIX(T *keys, int64_t n, lgt_key_kind kind) {                  \
    turn_back_##SUFFIX(keys, kind == LGT_KEY_FLOAT ? count_negative_##SUFFIX(keys, n) : n, kind); \
  }                                                                                               \
  void lgt_turn_##SUFFIX(T *to, const T *from, int64_t n, lgt_key_kind kind) {                    \
    turn_##SUFFIX(to, from, n, kind);                                                             \
  }                                                                                               \
  void lgt_turn_back_##SUFFIX(T *keys, int64_t n, lgt_key_kind kind) { turn_back_##SUFFIX(keys, n, kind); }
SIGNED_KEYS(i32, int32_t, uint32_t, 0x7f800000)
SIGNED_KEYS(i64, int64_t, uint64_t, 0x7ff0000000000000)

lgt_key_kind lgt_key_kind_of(int dtype) {
  if (dtype == LGT_FLOAT32 || dtype == LGT_FLOAT64) return LGT_KEY_FLOAT;
  return dtype == LGT_UINT32 || dtype == LGT_UINT64 ? LGT_KEY_UNSIGNED : LGT_KEY_SIGNED;
}

/* ---- by vectors ---------------------------------------------------------------------------------------- */

static void (*sort_int32)(int32_t *, size_t), (*sort_int64)(int64_t *, size_t); /* NULL: there is no module */

static void load_module(void) {
  char path[PATH_MAX];
  void *module =
      lgt_module_path("liblgt-sort.so", path, sizeof path) ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
  if (!module) return;
  *(void **)&sort_int32 = dlsym(module, "lgt_sort_int32");
  *(void **)&sort_int64 = dlsym(module, "lgt_sort_int64");
}

bool lgt_can_sort_vectors(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  if (lgt_isa_current() == LGT_ISA_GENERIC) return false;
  pthread_once(&once, load_module);
  return sort_int32 && sort_int64;
}

/* ---- lines --------------------------------------------------------------------------------------------- */

/* radix_sort_keys for signed keys of 32 bits: half the bytes and, for long lines, greater digits. */
static uint32_t *radix_sort_words(uint32_t *p, uint32_t *other, int64_t n) {
  enum { GREAT = 11, SMALL = 8, LONG_LINE = 4000 };
  int bits = n < LONG_LINE ? SMALL : GREAT;
  uint32_t count[1 << GREAT], many = UINT32_C(1) << bits;
  for (int shift = 0; shift < 32; shift += bits) {
    uint32_t sign = 0x80000000u >> shift, sum = 0; /* of what is left of a key */
    memset(count, 0, many * sizeof *count);
    for (int64_t i = 0; i < n; i++) count[(p[i] >> shift ^ sign) % many]++;
    if (count[(p[0] >> shift ^ sign) % many] == n) continue;
    for (uint32_t v = 0; v < many; v++) {
      uint32_t here = count[v];
      count[v] = sum;
      sum += here;
    }
    for (int64_t i = 0; i < n; i++) other[count[(p[i] >> shift ^ sign) % many]++] = p[i];
    uint32_t *swap = p;
    p = other;
    other = swap;
  }
  return p;
}

/* At once where the result is to be, if its elements lie side by side. */
static void sort_by_vectors(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t n,
                            int dtype, uint64_t *room) {
  int64_t size = lgt_dtype_size(dtype);
  lgt_key_kind kind = lgt_key_kind_of(dtype);
  char *keys = to_stride == size ? to : (char *)room;
  if (from_stride != size) {
    lgt_copy_line(keys, size, from, from_stride, n, size);
    from = keys;
  }
  if (size == 4) {
    lgt_turn_i32((int32_t *)keys, (const int32_t *)from, n, kind);
    sort_int32((int32_t *)keys, (size_t)n);
    turn_sorted_back_i32((int32_t *)keys, n, kind);
  } else {
    lgt_turn_i64((int64_t *)keys, (const int64_t *)from, n, kind);
    sort_int64((int64_t *)keys, (size_t)n);
    turn_sorted_back_i64((int64_t *)keys, n, kind);
  }
  if (keys != to) lgt_copy_line(to, to_stride, keys, size, n, size);
}

void lgt_sort_line(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t n, int dtype,
                   uint64_t *room) {
  int bytes = (int)lgt_dtype_size(dtype);
  if (bytes >= 4 && n > SHORT_LINE && lgt_can_sort_vectors()) {
    sort_by_vectors(to, to_stride, from, from_stride, n, dtype, room);
    return;
  }
  if (bytes == 4 && n > SHORT_LINE && n <= INT32_MAX) {
    uint32_t *words = (uint32_t *)room;
    lgt_copy_line((char *)words, 4, from, from_stride, n, 4);
    lgt_turn_i32((int32_t *)words, (int32_t *)words, n, lgt_key_kind_of(dtype));
    words = radix_sort_words(words, words + n, n);
    turn_sorted_back_i32((int32_t *)words, n, lgt_key_kind_of(dtype));
    lgt_copy_line(to, to_stride, (char *)words, 4, n, 4);
    return;
  }
  for (int64_t i = 0; i < n; i++) room[i] = key_of(dtype, from + i * from_stride);
  const uint64_t *sorted = radix_sort_keys(room, room + n, n, bytes);
  for (int64_t i = 0; i < n; i++) put_key(to + i * to_stride, sorted[i], dtype, bytes);
}
