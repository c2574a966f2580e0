/* filter.c - convolutions of vectors.
 *
 *   convolve     element i of the vector argument 0 = the sum over j of element i - j of argument 1 times element j of
 *                argument 2, elements outside being 0; float64, or int64 that wraps around
 *
 * One task in one piece; all arguments have a leading dimension of extent 1.  A block of the result that fits
 * into the nearest cache is worked on by all elements of argument 2, in their order, before the next one.
 */
#include "builtin.h"

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
  /* Elements first to past - 1 of the result, term j, of which some lie outside of a. */                    \
  static void add_term_##SUFFIX(T *to, const T *a, int64_t n, T x, int64_t j, int64_t first, int64_t past) { \
    first = j > first ? j : first, past = j + n < past ? j + n : past;                                       \
    for (int64_t i = first; i < past; i++) to[i] += a[i - j] * x;                                            \
  }                                                                                                          \
  static void convolve_##SUFFIX(T *to, const T *a, int64_t n, const T *b, int64_t m) {                       \
    for (int64_t begin = 0; begin < n + m - 1; begin += BLOCK) {                                             \
      int64_t end = begin + BLOCK < n + m - 1 ? begin + BLOCK : n + m - 1, j = 0;                            \
      memset(to + begin, 0, (size_t)(end - begin) * sizeof *to);                                             \
      while (j < m) {                                                                                        \
        if (j + 4 <= m && begin - j >= 3 && end - j <= n) {                                                  \
          add_terms_##SUFFIX(to + begin, a + begin - j, b + j, end - begin);                                 \
          j += 4;                                                                                            \
        } else {                                                                                             \
          add_term_##SUFFIX(to, a, n, b[j], j, begin, end);                                                  \
          j++;                                                                                               \
        }                                                                                                    \
      }                                                                                                      \
    }                                                                                                        \
  }
DEFINE(f64, double)
DEFINE(u64, uint64_t)

/* The elements side by side: where they lie, or a copy, which *owned is then. */
static const void *packed(const lgt_tile *tile, void **owned) {
  int64_t n = tile->extent[1], size = lgt_dtype_size(tile->dtype);
  *owned = NULL;
  if (tile->stride[1] == size) return tile->data;
  *owned = lgt_mem_alloc((size_t)(n * size));
  if (*owned) lgt_copy_line(*owned, size, tile->data, tile->stride[1], n, size);
  return *owned;
}

static lgt_status convolve(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                           int64_t hi) {
  const lgt_tile *to = &tiles[0];
  int64_t n = tiles[1].extent[1], m = tiles[2].extent[1], size = lgt_dtype_size(to->dtype);
  (void)nargs, (void)params;
  if (lo >= hi || n == 0 || m == 0) return LGT_OK;
  void *own_a, *own_b, *own_to = NULL;
  const void *a = packed(&tiles[1], &own_a), *b = packed(&tiles[2], &own_b);
  void *out = to->stride[1] == size ? to->data : (own_to = lgt_mem_alloc((size_t)((n + m - 1) * size)));
  lgt_status status = LGT_OK;
  if (!a || !b || !out)
    status = lgt_err(LGT_NO_MEMORY, "out of memory to convolve %lld elements", (long long)n);
  else if (to->dtype == LGT_FLOAT64) convolve_f64(out, a, n, b, m);
  else convolve_u64(out, a, n, b, m);
  if (!status && own_to) lgt_copy_line(to->data, to->stride[1], out, size, n + m - 1, size);
  lgt_mem_free(own_a);
  lgt_mem_free(own_b);
  lgt_mem_free(own_to);
  return status;
}

const lgt_builtin lgt_filter_builtins[] = {{"convolve", convolve}, {0}};
