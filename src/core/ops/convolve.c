/* filter.c - convolutions of vectors.
 *
 *   convolve     element i of the vector argument 0 = the sum over j of element i - j of argument 1 times element j of
 *                argument 2, those of argument 1 below 0 or from parameter 0 on being 0; float64, or int64 that wraps
 *                around
 *
 * Any part of argument 0 may be made by itself, of those elements of argument 1.  A block of the result that fits into
 * the nearest cache is worked on by all elements of argument 2, in their order, before the next one.
 */
#include "ops/builtin.h"

enum { BLOCK = 1024 };

#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define LGT_CLONES __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define LGT_CLONES
#endif

/* Four terms for each element, one after the other, each operation rounded: the next elements of b meet earlier ones of
 * a. */
#define DEFINE(SUFFIX, T)                                                                                    \
  LGT_CLONES static void add_terms_##SUFFIX(T *restrict to, const T *restrict a, const T *restrict b,        \
                                            int64_t n) {                                                     \
    T b0 = b[0], b1 = b[1], b2 = b[2], b3 = b[3];                                                            \
    for (int64_t i = 0; i < n; i++)                                                                          \
      to[i] = to[i] + a[i] * b0 + a[i - 1] * b1 + a[i - 2] * b2 + a[i - 3] * b3;                             \
  }                                                                                                          \
  /* Elements first to past - 1 of the result, at `to`: term j, which for some lies outside of a. */         \
  static void add_term_##SUFFIX(T *to, const T *a, int64_t n, T x, int64_t j, int64_t first, int64_t past) { \
    int64_t begin = j > first ? j : first, end = j + n < past ? j + n : past;                                \
    for (int64_t i = begin; i < end; i++) to[i - first] += a[i - j] * x;                                     \
  }                                                                                                          \
  /* `at`: what element 0 of a is in the whole: blocks begin where they would there. */                      \
  static void convolve_##SUFFIX(T *to, const T *a, int64_t n, const T *b, int64_t m, int64_t first,          \
                                int64_t past, int64_t at) {                                                  \
    for (int64_t begin = first, end; begin < past; begin = end) {                                            \
      int64_t j = 0;                                                                                         \
      end = begin + BLOCK - (begin + at) % BLOCK;                                                            \
      end = end < past ? end : past;                                                                         \
      T *out = to + (begin - first);                                                                         \
      memset(out, 0, (size_t)(end - begin) * sizeof *out);                                                   \
      while (j < m) {                                                                                        \
        if (j + 4 <= m && begin - j >= 3 && end - j <= n) {                                                  \
          add_terms_##SUFFIX(out, a + begin - j, b + j, end - begin);                                        \
          j += 4;                                                                                            \
        } else {                                                                                             \
          add_term_##SUFFIX(out, a, n, b[j], j, begin, end);                                                 \
          j++;                                                                                               \
        }                                                                                                    \
      }                                                                                                      \
    }                                                                                                        \
  }
DEFINE(f64, double)
DEFINE(u64, uint64_t)

/* Elements first to first + n - 1 side by side: where they lie, or a copy, which *owned is then. */
static const void *packed(const lgt_tile *tile, int64_t first, int64_t n, void **owned) {
  int64_t size = lgt_dtype_size(tile->dtype);
  const char *from = (const char *)tile->data + first * tile->stride[0];
  *owned = NULL;
  if (n <= 0) return tile->data;
  if (tile->stride[0] == size) return from;
  *owned = lgt_scratch_alloc((size_t)(n * size));
  if (*owned) lgt_copy_line(*owned, size, from, tile->stride[0], n, size);
  return *owned;
}

static lgt_status convolve(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                           int64_t hi) {
  const lgt_tile *to = &tiles[0], *from = &tiles[1];
  int64_t m = tiles[2].extent[0], size = lgt_dtype_size(to->dtype), here = from->origin[0];
  int64_t first = to->origin[0] + lo, past = to->origin[0] + hi; /* of the result */
  int64_t begin = first - m + 1 > here ? first - m + 1 : here, end = past;
  (void)nargs;
  if (end > (int64_t)params[0].f) end = (int64_t)params[0].f;
  if (lo >= hi || m == 0) return LGT_OK;
  lgt_assert(to->extent[0] == 1 || to->stride[0] == size);
  void *own_a, *own_b, *out = (char *)to->data + lo * size;
  const void *a = packed(from, begin - here, end - begin, &own_a), *b = packed(&tiles[2], 0, m, &own_b);
  lgt_status status = a && b ? LGT_OK : LGT_NO_MEMORY;
  if (status) goto out;
  if (to->dtype == LGT_FLOAT64) convolve_f64(out, a, end - begin, b, m, first - begin, past - begin, begin);
  else convolve_u64(out, a, end - begin, b, m, first - begin, past - begin, begin);
out:
  lgt_scratch_free(own_a);
  lgt_scratch_free(own_b);
  return status;
}

const lgt_builtin lgt_filter_builtins[] = {{"convolve", convolve}, {0}};
