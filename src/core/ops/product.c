/* product.c - products of matrices whose bits depend on the two matrices alone, for reproducible mode.
 *
 *   product      argument 0 = argument 1 x argument 2, matrices of float32, float64, complex64 or complex128;
 *                argument 0's rows lie as argument 1's
 *
 * A BLAS rounds differently for other numbers of rows.  Here an element is its terms added one after another, in order,
 * each operation rounded; real and imaginary parts of a complex number are sums of their own, of the products' parts.
 * Vectors go along the columns: PANEL columns at a time are packed, and worked on for ROWS rows at a time.
 */
#include "ops/builtin.h"

enum { ROWS = 4, PANEL_BYTES = 64 };
#define LGT_CLONES __attribute__((target_clones("default", "avx2", "avx512f")))

/* Elements of the first `rows` rows and `cols` columns, of one plane (0: real, 1: imaginary) of a matrix of T, to
 * to[row * row_step + column * col_step]. */
#define DEFINE(SUFFIX, T)                                                                                   \
  enum { PANEL_##SUFFIX = PANEL_BYTES / sizeof(T) };                                                        \
  typedef T lanes_##SUFFIX __attribute__((vector_size(PANEL_BYTES)));                                       \
                                                                                                            \
  static void pack_##SUFFIX(const lgt_tile *m, int plane, int64_t row, int64_t rows, int64_t col,           \
                            int64_t cols, T *to, int64_t row_step, int64_t col_step) {                      \
    const char *from = (const char *)m->data + row * m->stride[0] + col * m->stride[1];                     \
    for (int64_t i = 0; i < rows; i++)                                                                      \
      for (int64_t j = 0; j < cols; j++)                                                                    \
        to[i * row_step + j * col_step] = ((const T *)(from + i * m->stride[0] + j * m->stride[1]))[plane]; \
  }                                                                                                         \
                                                                                                            \
  LGT_CLONES static void real_##SUFFIX(const T *a, const lanes_##SUFFIX *b, int64_t inner,                  \
                                       lanes_##SUFFIX *c) {                                                 \
    lanes_##SUFFIX sum[ROWS] = {{0}};                                                                       \
    for (int64_t k = 0; k < inner; k++)                                                                     \
      for (int r = 0; r < ROWS; r++) sum[r] += a[k * ROWS + r] * b[k];                                      \
    for (int r = 0; r < ROWS; r++) c[r] = sum[r];                                                           \
  }                                                                                                         \
                                                                                                            \
  /* The imaginary planes lie `apart` behind the real ones. */                                              \
  LGT_CLONES static void complex_##SUFFIX(const T *a, int64_t a_apart, const lanes_##SUFFIX *b,             \
                                          int64_t inner, lanes_##SUFFIX *c) {                               \
    lanes_##SUFFIX re[ROWS] = {{0}}, im[ROWS] = {{0}};                                                      \
    for (int64_t k = 0; k < inner; k++)                                                                     \
      for (int r = 0; r < ROWS; r++) {                                                                      \
        T x = a[k * ROWS + r], y = a[a_apart + k * ROWS + r];                                               \
        re[r] += x * b[k] - y * b[inner + k];                                                               \
        im[r] += x * b[inner + k] + y * b[k];                                                               \
      }                                                                                                     \
    for (int r = 0; r < ROWS; r++) c[r] = re[r], c[ROWS + r] = im[r];                                       \
  }                                                                                                         \
                                                                                                            \
  static void product_##SUFFIX(const lgt_tile *t, int64_t lo, int64_t hi, int planes, char *scratch) {      \
    enum { PANEL = PANEL_##SUFFIX };                                                                        \
    int64_t inner = t[1].extent[1], cols = t[0].extent[1], blocks = (hi - lo + ROWS - 1) / ROWS;            \
    lanes_##SUFFIX *b = (lanes_##SUFFIX *)scratch;                                                          \
    T *a = (T *)(b + planes * inner);                                                                       \
    int64_t block = ROWS * inner, apart = blocks * block;                                                   \
    for (int p = 0; p < planes; p++)                                                                        \
      for (int64_t row = lo; row < hi; row += ROWS)                                                         \
        pack_##SUFFIX(&t[1], p, row, hi - row < ROWS ? hi - row : ROWS, 0, inner,                           \
                      a + p * apart + (row - lo) / ROWS * block, 1, ROWS);                                  \
    for (int64_t col = 0; col < cols; col += PANEL) {                                                       \
      int64_t width = cols - col < PANEL ? cols - col : PANEL;                                              \
      for (int p = 0; p < planes; p++)                                                                      \
        pack_##SUFFIX(&t[2], p, 0, inner, col, width, (T *)(b + p * inner), PANEL, 1);                      \
      for (int64_t row = lo; row < hi; row += ROWS) {                                                       \
        lanes_##SUFFIX c[2 * ROWS];                                                                         \
        const T *rows = a + (row - lo) / ROWS * block;                                                      \
        if (planes == 1) real_##SUFFIX(rows, b, inner, c);                                                  \
        else complex_##SUFFIX(rows, apart, b, inner, c);                                                    \
        for (int p = 0; p < planes; p++)                                                                    \
          for (int64_t i = row; i < row + ROWS && i < hi; i++)                                              \
            for (int64_t j = 0; j < width; j++)                                                             \
              ((T *)((char *)t[0].data + i * t[0].stride[0] + (col + j) * t[0].stride[1]))[p] =             \
                  c[p * ROWS + i - row][j];                                                                 \
      }                                                                                                     \
    }                                                                                                       \
  }
DEFINE(f64, double)
DEFINE(f32, float)

static lgt_status product(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                          int64_t hi) {
  int dtype = tiles[0].dtype, planes = lgt_dtype_is_complex(dtype) ? 2 : 1;
  int64_t inner = tiles[1].extent[1], rows = (hi - lo + ROWS - 1) / ROWS * ROWS, bytes;
  (void)nargs, (void)params;
  if (lo >= hi || !tiles[0].extent[1]) return LGT_OK;
  bytes = planes * inner * (PANEL_BYTES + rows * (int64_t)sizeof(double)) + PANEL_BYTES;
  char *scratch = lgt_scratch_alloc((size_t)bytes);
  if (!scratch) return LGT_NO_MEMORY;
  memset(scratch, 0, (size_t)bytes); /* columns and rows that are not there */
  char *aligned = scratch + (-(uintptr_t)scratch & (PANEL_BYTES - 1));
  if (lgt_dtype_part(dtype) == LGT_FLOAT64) product_f64(tiles, lo, hi, planes, aligned);
  else product_f32(tiles, lo, hi, planes, aligned);
  lgt_scratch_free(scratch);
  return LGT_OK;
}

const lgt_builtin lgt_product_builtins[] = {{"product", product}, {0}};
