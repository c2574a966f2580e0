/* blas.c - products of matrices: kinds whose CPU variant calls the BLAS of the machine.
 *
 * gemm.<dtype>: argument 0 = argument 1 x argument 2, all of them matrices.  Rows of the result are cut
 * alike with rows of argument 1; each point task sees all of argument 2.  The runtime cuts the rows
 * once more among its workers, so BLAS itself must not: it is told to use one thread a call.
 *
 * BLAS is found at run time, by the first task that needs it: OpenBLAS takes longer to load than lgt
 * to start, and a program without matrix products should run without it.  Any worker may be the first.
 *
 * Of a matrix times its own transpose half is computed, and the other half is its mirror image.
 *
 * BLAS wants one of a matrix's strides to be 1.  Both orders are passed on as they are; other strides
 * (every second column, say) are packed into a scratch matrix first.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "ops/blas.h"
#include "memory/pool.h"

enum { ROW_MAJOR = 101, PLAIN = 111, TRANSPOSED = 112, UPPER = 121 };

typedef void (*sgemm_fn)(int, int, int, int, int, int, float, const float *, int, const float *, int, float,
                         float *, int);
typedef void (*dgemm_fn)(int, int, int, int, int, int, double, const double *, int, const double *, int,
                         double, double *, int);
typedef void (*xgemm_fn)(int, int, int, int, int, int, const void *, const void *, int, const void *, int,
                         const void *, void *, int);

typedef void (*ssyrk_fn)(int, int, int, int, int, float, const float *, int, float, float *, int);
typedef void (*dsyrk_fn)(int, int, int, int, int, double, const double *, int, double, double *, int);
typedef void (*xsyrk_fn)(int, int, int, int, int, const void *, const void *, int, const void *, void *, int);

static struct {
  pthread_once_t once; /* protects the loading; everything below is constant afterwards */
  void *library;
  sgemm_fn sgemm;
  dgemm_fn dgemm;
  xgemm_fn cgemm, zgemm;
  ssyrk_fn ssyrk;
  dsyrk_fn dsyrk;
  xsyrk_fn csyrk, zsyrk;
} blas = {.once = PTHREAD_ONCE_INIT};

static void load_blas(void) {
  static const char *const names[] = {"libopenblas.so.0", "libopenblas.so", "libcblas.so.3", "libblas.so.3"};
  for (int i = 0; i < 4; i++) {
    void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library) continue;
    *(void **)&blas.sgemm = dlsym(library, "cblas_sgemm");
    *(void **)&blas.dgemm = dlsym(library, "cblas_dgemm");
    *(void **)&blas.cgemm = dlsym(library, "cblas_cgemm");
    *(void **)&blas.zgemm = dlsym(library, "cblas_zgemm");
    *(void **)&blas.ssyrk = dlsym(library, "cblas_ssyrk");
    *(void **)&blas.dsyrk = dlsym(library, "cblas_dsyrk");
    *(void **)&blas.csyrk = dlsym(library, "cblas_csyrk");
    *(void **)&blas.zsyrk = dlsym(library, "cblas_zsyrk");
    if (!blas.sgemm || !blas.dgemm || !blas.cgemm || !blas.zgemm || !blas.ssyrk || !blas.dsyrk ||
        !blas.csyrk || !blas.zsyrk) {
      dlclose(library);
      continue;
    }
    void (*set_threads)(int);
    *(void **)&set_threads = dlsym(library, "openblas_set_num_threads");
    if (set_threads) set_threads(1);
    blas.library = library;
    return;
  }
}

void *lgt_blas_library(void) {
  pthread_once(&blas.once, load_blas);
  return blas.library;
}

/* ---- one operand as BLAS wants it ---------------------------------------------------------------- */

typedef struct matrix {
  const char *data;
  int order, ld; /* PLAIN: rows are contiguous; TRANSPOSED: columns are */
  size_t packed; /* bytes that it takes packed; 0 where the matrix can stay where it is */
} matrix;

static bool fits(int64_t stride, int64_t along, int64_t size) {
  return stride % size == 0 && stride / size >= (along > 1 ? along : 1) && stride / size <= INT32_MAX;
}

/* Rows [lo, hi) of a tile. */
static matrix matrix_of(const lgt_tile *tile, int64_t lo, int64_t hi) {
  int64_t size = lgt_dtype_size(tile->dtype), rows = hi - lo, cols = tile->extent[1];
  const char *data = (const char *)tile->data + lo * tile->stride[0];
  matrix m = {.data = data, .order = PLAIN, .ld = (int)(cols > 1 ? cols : 1)};
  bool rows_contiguous = cols <= 1 || tile->stride[1] == size,
       cols_contiguous = rows <= 1 || tile->stride[0] == size;
  if (rows_contiguous && rows <= 1) return m;
  if (rows_contiguous && fits(tile->stride[0], cols, size)) {
    m.ld = (int)(tile->stride[0] / size);
  } else if (cols_contiguous && (cols <= 1 || fits(tile->stride[1], rows, size))) {
    m.order = TRANSPOSED;
    m.ld = cols <= 1 ? (int)(rows > 1 ? rows : 1) : (int)(tile->stride[1] / size);
  } else {
    m.packed = (size_t)(rows * cols * size);
  }
  return m;
}

/* Moves the matrix of a tile to `room`, if it must be; what is left of that. */
static char *pack(matrix *m, const lgt_tile *tile, char *room) {
  int64_t size = lgt_dtype_size(tile->dtype), cols = tile->extent[1];
  char *to = room, *end = room + m->packed;
  if (!m->packed) return room;
  for (int64_t i = 0; to < end; i++)
    for (int64_t j = 0; j < cols; j++, to += size)
      memcpy(to, m->data + i * tile->stride[0] + j * tile->stride[1], (size_t)size);
  m->data = room;
  return end;
}

static void gemm(int dtype, const matrix *a, const matrix *b, char *c, int ldc, int rows, int cols,
                 int inner) {
  static const float one[2] = {1, 0}, zero[2] = {0, 0};
  static const double done[2] = {1, 0}, dzero[2] = {0, 0};
  if (dtype == LGT_FLOAT32)
    blas.sgemm(ROW_MAJOR, a->order, b->order, rows, cols, inner, 1, (const float *)a->data, a->ld,
               (const float *)b->data, b->ld, 0, (float *)c, ldc);
  else if (dtype == LGT_FLOAT64)
    blas.dgemm(ROW_MAJOR, a->order, b->order, rows, cols, inner, 1, (const double *)a->data, a->ld,
               (const double *)b->data, b->ld, 0, (double *)c, ldc);
  else if (dtype == LGT_COMPLEX64)
    blas.cgemm(ROW_MAJOR, a->order, b->order, rows, cols, inner, one, a->data, a->ld, b->data, b->ld, zero, c,
               ldc);
  else
    blas.zgemm(ROW_MAJOR, a->order, b->order, rows, cols, inner, done, a->data, a->ld, b->data, b->ld, dzero,
               c, ldc);
}

/* The upper half of a matrix times its own transpose. */
static void syrk(int dtype, const matrix *a, char *c, int ldc, int n, int inner) {
  static const float one[2] = {1, 0}, zero[2] = {0, 0};
  static const double done[2] = {1, 0}, dzero[2] = {0, 0};
  if (dtype == LGT_FLOAT32)
    blas.ssyrk(ROW_MAJOR, UPPER, a->order, n, inner, 1, (const float *)a->data, a->ld, 0, (float *)c, ldc);
  else if (dtype == LGT_FLOAT64)
    blas.dsyrk(ROW_MAJOR, UPPER, a->order, n, inner, 1, (const double *)a->data, a->ld, 0, (double *)c, ldc);
  else if (dtype == LGT_COMPLEX64)
    blas.csyrk(ROW_MAJOR, UPPER, a->order, n, inner, one, a->data, a->ld, zero, c, ldc);
  else blas.zsyrk(ROW_MAJOR, UPPER, a->order, n, inner, done, a->data, a->ld, dzero, c, ldc);
}

/* Is argument 2 the transpose of argument 1, in the same memory?  (Of a part of the rows it is not: extents differ.) */
static bool is_gram(const lgt_tile *tiles) {
  const lgt_tile *a = &tiles[1], *b = &tiles[2];
  return a->data == b->data && a->extent[0] == b->extent[1] && a->extent[1] == b->extent[0] &&
         a->stride[0] == b->stride[1] && a->stride[1] == b->stride[0];
}

/* A column's elements become a row's.  The compiler knows the size, so that each is a move or two. */
static inline void turn(char *row, const char *column, int64_t down, int64_t count, const size_t size) {
  for (int64_t i = 0; i < count; i++) memcpy(row + i * (int64_t)size, column + i * down, size);
}

/* Below the diagonal: the mirror image of rows [lo, hi). */
static void mirror(char *c, int64_t lo, int64_t hi, int64_t n, int64_t ldc, int64_t size) {
  enum { PANEL = 32 }; /* rows that are turned at once: what is read by columns stays in the nearest cache */
  for (int64_t i = lo; i < hi; i += PANEL)
    for (int64_t j = i + 1; j < n; j++) {
      int64_t end = i + PANEL < hi ? i + PANEL : hi, count = (j < end ? j : end) - i;
      char *row = c + (j * ldc + i) * size, *column = c + (i * ldc + j) * size;
      if (size == 8) turn(row, column, ldc * size, count, 8);
      else if (size == 4) turn(row, column, ldc * size, count, 4);
      else turn(row, column, ldc * size, count, 16);
    }
}

/* Rows [lo, lo + rows) of a matrix times its own transpose, but for what is left of the diagonal, and the mirror image of
 * what is right of it, which lies in rows that nobody else writes there.  Nothing else in the task sees it too early:
 * columns are broadcast, so what follows by rows is no part of the same loop. */
static lgt_status gram_rows(const lgt_tile *tiles, const matrix *a, int64_t lo, int64_t rows, int ldc) {
  const lgt_tile *t = &tiles[2];
  int64_t n = tiles[0].extent[1], size = lgt_dtype_size(t->dtype), rest = n - lo - rows;
  char *c = (char *)tiles[0].data;
  syrk(t->dtype, a, c + (lo * ldc + lo) * size, ldc, (int)rows, (int)t->extent[0]);
  if (rest > 0) {
    lgt_tile right = *t;
    right.data = (char *)t->data + (lo + rows) * t->stride[1];
    right.extent[1] = rest;
    matrix b = matrix_of(&right, 0, t->extent[0]);
    char *room = b.packed ? lgt_scratch_alloc(b.packed) : NULL;
    if (b.packed && !room) return LGT_NO_MEMORY;
    pack(&b, &right, room);
    gemm(t->dtype, a, &b, c + (lo * ldc + lo + rows) * size, ldc, (int)rows, (int)rest, (int)t->extent[0]);
    lgt_scratch_free(room);
  }
  mirror(c, lo, lo + rows, n, ldc, size);
  return LGT_OK;
}

lgt_status lgt_blas_product(const lgt_tile *tiles, int64_t lo, int64_t hi) {
  const lgt_tile *c = &tiles[0];
  int64_t size = lgt_dtype_size(c->dtype), rows = hi - lo, cols = c->extent[1], inner = tiles[1].extent[1];
  if (rows <= 0 || cols == 0) return LGT_OK;
  pthread_once(&blas.once, load_blas);
  if (!blas.library)
    return lgt_err(LGT_UNSUPPORTED,
                   "products of matrices need a BLAS with the C interface: install libopenblas0");
  if (rows > INT32_MAX || cols > INT32_MAX || inner > INT32_MAX)
    return lgt_err(LGT_UNSUPPORTED,
                   "a product of matrices of %lld x %lld x %lld: BLAS takes extents below 2^31",
                   (long long)rows, (long long)inner, (long long)cols);
  char *to = (char *)c->data + lo * c->stride[0], *room = NULL;
  bool direct = (cols <= 1 || c->stride[1] == size) && (rows <= 1 || fits(c->stride[0], cols, size)),
       gram = direct && rows > 1 && is_gram(tiles);
  matrix a = matrix_of(&tiles[1], lo, hi), b = matrix_of(&tiles[2], 0, tiles[2].extent[0]);
  size_t bytes = a.packed + (gram ? 0 : b.packed) + (direct ? 0 : (size_t)(rows * cols * size));
  if (bytes && !(room = lgt_scratch_alloc(bytes)))
    return LGT_NO_MEMORY; /* at once: threads wait for each other */
  char *result = pack(&a, &tiles[1], room);
  lgt_status status = LGT_OK;
  if (gram) {
    status = gram_rows(tiles, &a, lo, rows, (int)(c->stride[0] / size));
    goto done;
  }
  result = pack(&b, &tiles[2], result);
  int ld = !direct || rows <= 1 ? (int)cols : (int)(c->stride[0] / size);
  gemm(c->dtype, &a, &b, direct ? to : result, ld, (int)rows, (int)cols, (int)inner);
  for (int64_t i = 0; i < rows && !direct; i++)
    for (int64_t j = 0; j < cols; j++)
      memcpy(to + i * c->stride[0] + j * c->stride[1], result + (i * cols + j) * size, (size_t)size);
done:
  lgt_scratch_free(room);
  return status;
}

static lgt_status gemm_rows(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                            int64_t hi) {
  (void)nargs, (void)params;
  return lgt_blas_product(tiles, lo, hi);
}

int lgt_blas_kind(lgt_kinds *kinds, int dtype) {
  if (dtype != LGT_FLOAT32 && dtype != LGT_FLOAT64 && dtype != LGT_COMPLEX64 && dtype != LGT_COMPLEX128)
    return lgt_err(LGT_BAD_DTYPE, "gemm: %s was given; BLAS knows float32, float64, complex64, complex128",
                   lgt_dtype_valid(dtype) ? lgt_dtype_name(dtype) : "no element type"),
           -1;
  char name[32];
  snprintf(name, sizeof name, "gemm.%s", lgt_dtype_name(dtype));
  pthread_once(&blas.once, load_blas);
  return lgt_kinds_add_own(
      kinds, name, "wrr", "align(0.0,1.0) broadcast(0.1) broadcast(1.1) broadcast(2.0) broadcast(2.1) varies",
      gemm_rows, blas.library != NULL);
}
