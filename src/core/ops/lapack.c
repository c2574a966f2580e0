/* lapack.c - decompositions of matrices, by the LAPACK that comes with the BLAS of the machine.
 *
 * The last two dimensions are matrices (the last one, vectors); those before are a stack, of which each
 * matrix is one call.  Arguments in order, w: written, r: read:
 *
 *   solve     w x [n,k]  r a [n,n]  r b [n,k]          inv       w x [n,n]  r a [n,n]
 *   slogdet   w sign []  w log [] (real)  r a [n,n]    cholesky  w l [n,n]  r a [n,n]
 *   qr        w q [m,k or m]  w r [k or m,n]  r a [m,n]                       qrr       w r  r a
 *   svd       w s [k] (real)  w u [m,k or m]  w v [k or n,n]  r a [m,n]      svdvals  w s  r a
 *   eigh      w w [n] (real)  w v [n,n]  r a [n,n]      eigvalsh  w w  r a     parameter 0: upper triangle?
 *   eig       w w [n] (complex)  w v [n,n] (complex)  r a [n,n]               eigvals  w w  r a
 *   lstsq     w x [n,k]  w s [min(m,n)] (real)  w rank [] (int64)  r a [m,n]  r b [m,k]    parameter 0: rcond
 *   lu        w lu [n,n], by columns  w pivots [n] (int32)  r a [n,n]
 *
 * Workers share a large matrix's factorisation, some columns after others: those are factored (one worker), then what is
 * right of them is brought up to date (all workers), and at last the rows left of them are exchanged, too.  The columns of
 * the matrix are rows of the array; k of them are looked at, in their lines from the diagonal on:
 *
 *   lu_panel  m lu [1,k,m]  w pivots [1,k]                parameter 0: is singular an error?  1: lines above the first
 *   lu_update m lu [c,m], right of  r lu [k,m]  r pivots [k]                                  parameter 0: lines above
 *   lu_finish m lu [n,n]  r pivots [n]                    parameter 0: k
 *   lu_slogdet w sign [1]  w log [1]  r lu [1,n,n]  r pivots [1,n]
 *
 * Many right-hand sides of one matrix are shared out among workers once it is factored:
 *
 *   solve_lu  w x [k,n]  r lu [n,n]  r pivots [n]  r b [k,n]; without b: those of the inverse
 *
 * Elements are float32, float64, complex64 or complex128.  LAPACK wants columns, so matrices are packed into
 * scratch memory; its own threads are off (blas.c).  A matrix without the property that a decomposition
 * needs is an error.
 */
#include "ops/blas.h"
#include "ops/builtin.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>

typedef void (*routine)(); /* Fortran: everything by reference, lengths of strings at the end */

#define ROUTINES(X)          \
  X(GESV, "gesv", "gesv")    \
  X(GETRF, "getrf", "getrf") \
  X(GETRS, "getrs", "getrs") \
  X(LASWP, "laswp", "laswp") \
  X(TRSM, "trsm", "trsm")    \
  X(GEMM, "gemm", "gemm")    \
  X(POTRF, "potrf", "potrf") \
  X(GEQRF, "geqrf", "geqrf") \
  X(ORGQR, "orgqr", "ungqr") \
  X(GESDD, "gesdd", "gesdd") \
  X(SYEVD, "syevd", "heevd") \
  X(GEEV, "geev", "geev")    \
  X(GELSD, "gelsd", "gelsd")

enum {
#define X(NAME, of_real, of_complex) NAME,
  ROUTINES(X)
#undef X
      NROUTINE
};

enum { SINGLE, DOUBLE, SINGLE_COMPLEX, DOUBLE_COMPLEX };

static struct {
  pthread_once_t once; /* protects the loading; constant afterwards */
  bool complete;
  routine call[4][NROUTINE];
} lapack = {.once = PTHREAD_ONCE_INIT};

static void load_lapack(void) {
  static const char *const name[2][NROUTINE] = {
#define X(NAME, of_real, of_complex) [NAME] = of_real,
      {ROUTINES(X)},
#undef X
#define X(NAME, of_real, of_complex) [NAME] = of_complex,
      {ROUTINES(X)},
#undef X
  };
  void *library[] = {lgt_blas_library(), NULL};
  if (!library[0] || !dlsym(library[0], "dgesv_"))
    library[1] = dlopen("liblapack.so.3", RTLD_NOW | RTLD_LOCAL);
  void *from = library[1] ? library[1] : library[0];
  lapack.complete = from != NULL;
  for (int p = 0; p < 4 && from; p++)
    for (int r = 0; r < NROUTINE; r++) {
      char symbol[16];
      snprintf(symbol, sizeof symbol, "%c%s_", "sdcz"[p], name[p >= SINGLE_COMPLEX][r]);
      *(void **)&lapack.call[p][r] = dlsym(from, symbol);
      if (!lapack.call[p][r]) lapack.complete = false;
    }
}

/* ---- one call ------------------------------------------------------------------------------------------- */

/* What all variants need: which LAPACK, sizes of elements, scratch memory that is handed out piece by piece. */
typedef struct session {
  const routine *call;
  int precision;
  bool is_complex, is_double;
  int64_t size, real; /* bytes of an element, and of its real part */
  char *scratch;      /* owned */
  size_t used, room;
} session;

static lgt_status begin(session *s, int dtype, int64_t most) {
  static const int precision_of[LGT_NDTYPE] = {[LGT_FLOAT32] = 1 + SINGLE,
                                               [LGT_FLOAT64] = 1 + DOUBLE,
                                               [LGT_COMPLEX64] = 1 + SINGLE_COMPLEX,
                                               [LGT_COMPLEX128] = 1 + DOUBLE_COMPLEX};
  *s = (session){.precision = precision_of[dtype] - 1};
  if (s->precision < 0)
    return lgt_err(LGT_BAD_DTYPE, "LAPACK knows float32, float64, complex64, complex128, not %s",
                   lgt_dtype_name(dtype));
  pthread_once(&lapack.once, load_lapack);
  if (!lapack.complete)
    return lgt_err(LGT_UNSUPPORTED, "decompositions of matrices need LAPACK: install libopenblas0");
  if (most > INT32_MAX / 8)
    return lgt_err(LGT_UNSUPPORTED, "a matrix with an extent of %lld is too large for LAPACK",
                   (long long)most);
  s->call = lapack.call[s->precision];
  s->is_complex = s->precision >= SINGLE_COMPLEX;
  s->is_double = s->precision == DOUBLE || s->precision == DOUBLE_COMPLEX;
  s->real = s->is_double ? 8 : 4;
  s->size = s->real * (s->is_complex ? 2 : 1);
  return LGT_OK;
}

static void end(session *s) { lgt_scratch_free(s->scratch); }

static size_t padded(int64_t bytes) { return ((size_t)bytes + 63) & ~(size_t)63; }

/* Room for several blocks, whose sizes in bytes end with -1. */
static lgt_status reserve(session *s, const int64_t *bytes) {
  s->room = s->used = 0;
  for (int i = 0; bytes[i] >= 0; i++) s->room += padded(bytes[i]) + 64;
  lgt_scratch_free(s->scratch);
  s->scratch = lgt_scratch_alloc(s->room + 64);
  return s->scratch ? LGT_OK : LGT_NO_MEMORY;
}
#define RESERVE(s, ...) reserve(s, (const int64_t[]){__VA_ARGS__, -1})

static void *block(session *s, int64_t bytes) {
  char *p = s->scratch + s->used;
  s->used += padded(bytes) + 64;
  return p;
}

/* The optimal size of a workspace, which a query leaves in its first element. */
static int64_t answer(const session *s, const void *work) {
  return (int64_t)(s->is_double ? *(const double *)work : *(const float *)work) + 1;
}

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

/* ---- matrices by columns ------------------------------------------------------------------------------------ */

enum { PANEL = 32 }; /* rows that are turned at once: what is read by columns stays in the nearest cache */

/* Between a matrix of any strides and one by columns. */
static void pack(const lgt_tile *tile, const char *at, int64_t rows, int64_t cols, char *to, int64_t ld) {
  int64_t size = lgt_dtype_size(tile->dtype), down = tile->stride[tile->ndim - 2],
          along = tile->stride[tile->ndim - 1];
  for (int64_t i = 0; i < rows; i += PANEL)
    for (int64_t j = 0; j < cols; j++)
      lgt_copy_line(to + (j * ld + i) * size, size, at + i * down + j * along, down,
                    rows - i < PANEL ? rows - i : PANEL, size);
}

static void unpack(const lgt_tile *tile, char *at, int64_t rows, int64_t cols, const char *from, int64_t ld) {
  int64_t size = lgt_dtype_size(tile->dtype), down = tile->stride[tile->ndim - 2],
          along = tile->stride[tile->ndim - 1];
  for (int64_t i = 0; i < rows; i += PANEL)
    for (int64_t j = 0; j < cols; j++)
      lgt_copy_line(at + i * down + j * along, down, from + (j * ld + i) * size, size,
                    rows - i < PANEL ? rows - i : PANEL, size);
}

static void unpack_vector(const lgt_tile *tile, char *at, int64_t n, const char *from) {
  int64_t size = lgt_dtype_size(tile->dtype);
  lgt_copy_line(at, tile->stride[tile->ndim - 1], from, size, n, size);
}

static int64_t rows_of(const lgt_tile *t) { return t->extent[t->ndim - 2]; }
static int64_t cols_of(const lgt_tile *t) { return t->extent[t->ndim - 1]; }

static void clear(const session *s, char *p, int64_t count) { memset(p, 0, (size_t)(count * s->size)); }

static void set_one(const session *s, char *p) {
  if (s->is_double) *(double *)p = 1;
  else *(float *)p = 1;
}

/* ---- systems, inverses, determinants -------------------------------------------------------------------------- */

static lgt_status solve(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  const lgt_tile *x = &tiles[0], *a = &tiles[1];
  bool invert = nargs == 2; /* the right-hand side is the identity */
  int64_t n64 = cols_of(a), k64 = cols_of(x);
  int n = (int)n64, k = (int)k64, ld = n > 1 ? n : 1, info = 0;
  session s;
  lgt_walk walk;
  (void)params;
  lgt_status status = begin(&s, a->dtype, most(n64, k64));
  if (status || n == 0 || k == 0 || !lgt_walk_begin(&walk, tiles, nargs, x->ndim - 2, lo, hi)) return status;
  int64_t asize = n64 * n64 * s.size, bsize = n64 * k64 * s.size;
  status = RESERVE(&s, asize, bsize, n64 * 4);
  if (status) return status;
  char *pa = block(&s, asize), *pb = block(&s, bsize);
  int *pivot = block(&s, n64 * 4);
  do {
    pack(a, walk.at[1], n, n, pa, ld);
    if (!invert) {
      pack(&tiles[2], walk.at[2], n, k, pb, ld);
    } else {
      clear(&s, pb, n64 * n64);
      for (int64_t i = 0; i < n; i++) set_one(&s, pb + (i * n64 + i) * s.size);
    }
    s.call[GESV](&n, &k, pa, &ld, pivot, pb, &ld, &info);
    if (info > 0) status = lgt_err(LGT_BAD_ARGUMENT, "the matrix is singular");
    else unpack(x, walk.at[0], n, k, pb, ld);
  } while (!status && lgt_walk_next(&walk, lo, hi));
  end(&s);
  return status;
}

static lgt_status lu(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  const lgt_tile *to = &tiles[0], *pivots = &tiles[1], *a = &tiles[2];
  int64_t n64 = cols_of(a);
  int n = (int)n64, ld = n > 1 ? n : 1, info = 0;
  session s;
  lgt_walk walk;
  (void)params;
  lgt_status status = begin(&s, a->dtype, n64);
  if (status || n == 0 || !lgt_walk_begin(&walk, tiles, nargs, to->ndim - 2, lo, hi)) return status;
  status = RESERVE(&s, n64 * n64 * s.size, n64 * 4);
  if (status) return status;
  char *pa = block(&s, n64 * n64 * s.size);
  int *pivot = block(&s, n64 * 4);
  do {
    pack(a, walk.at[2], n, n, pa, ld);
    s.call[GETRF](&n, &n, pa, &ld, pivot, &info);
    if (info > 0) status = lgt_err(LGT_BAD_ARGUMENT, "the matrix is singular");
    for (int64_t j = 0; j < n; j++)
      lgt_copy_line(walk.at[0] + j * to->stride[to->ndim - 2], to->stride[to->ndim - 1],
                    pa + j * n64 * s.size, s.size, n, s.size);
    lgt_copy_line(walk.at[1], pivots->stride[pivots->ndim - 1], (const char *)pivot, 4, n, 4);
  } while (!status && lgt_walk_next(&walk, lo, hi));
  end(&s);
  return status;
}

static lgt_tile turned(const lgt_tile *t) {
  lgt_tile result = *t;
  for (int d = 0; d < 2; d++) result.stride[d] = t->stride[1 - d], result.extent[d] = t->extent[1 - d];
  return result;
}

/* Rows of x, that is, right-hand sides: [lo, hi). */
static lgt_status solve_lu(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                           int64_t hi) {
  const lgt_tile *x = &tiles[0], *factors = &tiles[1], *b = nargs > 3 ? &tiles[3] : NULL;
  int64_t n64 = cols_of(factors), k64 = hi - lo;
  int n = (int)n64, k = (int)k64, ld = n > 1 ? n : 1, info = 0;
  session s;
  (void)params;
  lgt_status status = begin(&s, factors->dtype, most(n64, k64));
  if (status || n == 0 || k <= 0) return status;
  bool dense = factors->stride[1] == s.size && factors->stride[0] == n64 * s.size;
  int64_t asize = dense ? 0 : n64 * n64 * s.size, bsize = n64 * k64 * s.size;
  status = RESERVE(&s, asize, bsize, n64 * 4);
  if (status) return status;
  char *pa = block(&s, asize), *pb = block(&s, bsize);
  int *pivot = block(&s, n64 * 4);
  lgt_copy_line((char *)pivot, 4, tiles[2].data, tiles[2].stride[0], n, 4);
  lgt_tile columns = turned(factors), unknowns = turned(x), given = b ? turned(b) : unknowns;
  if (dense) pa = factors->data;
  else pack(&columns, columns.data, n, n, pa, ld);
  if (b) {
    pack(&given, (const char *)b->data + lo * b->stride[0], n, k, pb, ld);
  } else {
    clear(&s, pb, n64 * k64);
    for (int64_t j = 0; j < k; j++) set_one(&s, pb + (j * n64 + x->origin[0] + lo + j) * s.size);
  }
  s.call[GETRS]("N", &n, &k, pa, &ld, pivot, pb, &ld, &info, (size_t)1);
  unpack(&unknowns, (char *)x->data + lo * x->stride[0], n, k, pb, ld);
  end(&s);
  return LGT_OK;
}

/* ---- a factorisation that workers share ------------------------------------------------------------------------ */

/* Rows of a matrix of the array, which are columns to LAPACK; NULL if these are not each in one piece. */
static char *columns_of(const session *s, const lgt_tile *t, int64_t first, int *ld) {
  int64_t across = t->stride[t->ndim - 2], lines = t->extent[t->ndim - 1];
  bool alone = rows_of(t) == 1;
  if ((lines > 1 && t->stride[t->ndim - 1] != s->size) ||
      (!alone && (across % s->size || across / s->size < lines)))
    return lgt_err(LGT_UNSUPPORTED, "a matrix to be factored lies in memory with gaps"), NULL;
  *ld = (int)(alone ? most(lines, 1) : across / s->size);
  return (char *)t->data + first * across;
}

static lgt_status lu_panel(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                           int64_t hi) {
  const lgt_tile *lu = &tiles[0], *pivots = &tiles[1];
  int k = (int)rows_of(lu), m = (int)cols_of(lu), ld, info = 0, most_pivots = k < m ? k : m;
  session s;
  (void)nargs;
  lgt_status status = begin(&s, lu->dtype, m);
  if (status || lo >= hi) return status;
  char *columns = columns_of(&s, lu, 0, &ld);
  if (!columns) return LGT_UNSUPPORTED;
  if ((status = RESERVE(&s, k * 4))) return status;
  int *pivot = block(&s, k * 4);
  s.call[GETRF](&m, &k, columns, &ld, pivot, &info);
  if (info > 0 && params[0].f != 0) status = lgt_err(LGT_BAD_ARGUMENT, "the matrix is singular");
  for (int i = 0; i < most_pivots; i++) pivot[i] += (int)params[1].f;
  lgt_copy_line((char *)pivots->data, pivots->stride[1], (const char *)pivot, 4, k, 4);
  end(&s);
  return status;
}

/* Columns [lo, hi) right of factored ones. */
static lgt_status lu_update(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                            int64_t hi) {
  static const double one[] = {1, 0}, minus[] = {-1, 0};
  static const float one_single[] = {1, 0}, minus_single[] = {-1, 0};
  const lgt_tile *right = &tiles[0], *panel = &tiles[1];
  int m = (int)cols_of(right), k = (int)rows_of(panel), c = (int)(hi - lo), below = m - k, first = 1, ld, ldp;
  session s;
  (void)nargs;
  lgt_status status = begin(&s, right->dtype, most(m, rows_of(right)));
  if (status || c <= 0) return status;
  char *columns = columns_of(&s, right, lo, &ld), *factors = columns_of(&s, panel, 0, &ldp);
  if (!columns || !factors) return LGT_UNSUPPORTED;
  if ((status = RESERVE(&s, k * 4))) return status;
  int *pivot = block(&s, k * 4);
  lgt_copy_line((char *)pivot, 4, tiles[2].data, tiles[2].stride[0], k, 4);
  for (int i = 0; i < k; i++) pivot[i] -= (int)params[0].f;
  const void *plus = s.is_double ? (const void *)one : one_single,
             *less = s.is_double ? (const void *)minus : minus_single;
  s.call[LASWP](&c, columns, &ld, &first, &k, pivot, &first);
  s.call[TRSM]("L", "L", "N", "U", &k, &c, plus, factors, &ldp, columns, &ld, (size_t)1, (size_t)1, (size_t)1,
               (size_t)1);
  if (below > 0)
    s.call[GEMM]("N", "N", &below, &c, &k, less, factors + k * s.size, &ldp, columns, &ld, plus,
                 columns + k * s.size, &ld, (size_t)1, (size_t)1);
  end(&s);
  return LGT_OK;
}

/* Columns [lo, hi): their rows are exchanged as those of the columns right of them were. */
static lgt_status lu_finish(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                            int64_t hi) {
  const lgt_tile *lu = &tiles[0];
  int64_t width = (int64_t)params[0].f;
  int n = (int)cols_of(lu), ld, step = 1;
  session s;
  (void)nargs;
  lgt_status status = begin(&s, lu->dtype, n);
  if (status || lo >= hi || !columns_of(&s, lu, 0, &ld))
    return status ? status : lo < hi ? LGT_UNSUPPORTED : LGT_OK;
  if ((status = RESERVE(&s, n * 4))) return status;
  int *pivot = block(&s, n * 4);
  lgt_copy_line((char *)pivot, 4, tiles[1].data, tiles[1].stride[0], n, 4);
  for (int64_t from = lo, to; from < hi; from = to) {
    int first = (int)((from / width + 1) * width) + 1;
    to = first - 1 < hi ? first - 1 : hi;
    int count = (int)(to - from);
    if (first <= n) s.call[LASWP](&count, columns_of(&s, lu, from, &ld), &ld, &first, &n, pivot, &step);
  }
  end(&s);
  return LGT_OK;
}

/* Sign and logarithm of the product of the diagonal of LU, and of the permutation. */
static void product_of_diagonal(const session *s, const char *lu, int64_t n, int64_t ld, const int *pivot,
                                double *sign, double *log_out) {
  double re = 1, im = 0, sum = 0;
  for (int64_t i = 0; i < n; i++) {
    const char *p = lu + (i * ld + i) * s->size;
    double x = s->is_double ? *(const double *)p : *(const float *)p, y = 0;
    if (s->is_complex) y = s->is_double ? ((const double *)p)[1] : ((const float *)p)[1];
    double length = s->is_complex ? hypot(x, y) : fabs(x);
    sum += log(length);
    if (length > 0) x /= length, y /= length;
    if (pivot[i] != i + 1) x = -x, y = -y;
    double r = re * x - im * y;
    im = re * y + im * x;
    re = r;
  }
  if (sum == -INFINITY) re = im = 0;
  sign[0] = re, sign[1] = im;
  *log_out = sum;
}

static void put_logarithm(const session *s, char *sign_out, char *log_out, const double *sign,
                          double logarithm) {
  for (int p = 0; p < (s->is_complex ? 2 : 1); p++)
    if (s->is_double) ((double *)sign_out)[p] = sign[p];
    else ((float *)sign_out)[p] = (float)sign[p];
  if (s->is_double) *(double *)log_out = logarithm;
  else *(float *)log_out = (float)logarithm;
}

static lgt_status lu_slogdet(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                             int64_t hi) {
  const lgt_tile *lu = &tiles[2];
  int n = (int)cols_of(lu), ld;
  double sign[2], logarithm;
  session s;
  (void)nargs, (void)params;
  lgt_status status = begin(&s, lu->dtype, n);
  if (status || lo >= hi) return status;
  const char *factors = columns_of(&s, lu, 0, &ld);
  if (!factors) return LGT_UNSUPPORTED;
  if ((status = RESERVE(&s, n * 4))) return status;
  int *pivot = block(&s, n * 4);
  lgt_copy_line((char *)pivot, 4, tiles[3].data, tiles[3].stride[1], n, 4);
  product_of_diagonal(&s, factors, n, ld, pivot, sign, &logarithm);
  put_logarithm(&s, tiles[0].data, tiles[1].data, sign, logarithm);
  end(&s);
  return LGT_OK;
}

static lgt_status slogdet(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                          int64_t hi) {
  const lgt_tile *a = &tiles[2];
  int64_t n64 = cols_of(a);
  int n = (int)n64, ld = n > 1 ? n : 1, info = 0;
  session s;
  lgt_walk walk;
  (void)params;
  lgt_status status = begin(&s, a->dtype, n64);
  if (status || !lgt_walk_begin(&walk, tiles, nargs, tiles[0].ndim, lo, hi)) return status;
  status = RESERVE(&s, n64 * n64 * s.size, n64 * 4);
  if (status) return status;
  char *pa = block(&s, n64 * n64 * s.size);
  int *pivot = block(&s, n64 * 4);
  do {
    double sign[2], logarithm;
    pack(a, walk.at[2], n, n, pa, ld);
    if (n) s.call[GETRF](&n, &n, pa, &ld, pivot, &info);
    product_of_diagonal(&s, pa, n, n, pivot, sign, &logarithm);
    put_logarithm(&s, walk.at[0], walk.at[1], sign, logarithm);
  } while (lgt_walk_next(&walk, lo, hi));
  end(&s);
  return LGT_OK;
}

/* What lies by rows is the transpose by columns: its upper factor is the transpose of the lower one that is wanted. */
static lgt_status cholesky(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                           int64_t hi) {
  const lgt_tile *l = &tiles[0], *a = &tiles[1];
  int64_t n64 = cols_of(a);
  int n = (int)n64, info = 0;
  session s;
  lgt_walk walk;
  (void)params;
  lgt_status status = begin(&s, a->dtype, n64);
  if (status || n == 0 || !lgt_walk_begin(&walk, tiles, nargs, l->ndim - 2, lo, hi)) return status;
  int64_t down = l->stride[l->ndim - 2], along = l->stride[l->ndim - 1], row = n64 * s.size;
  bool direct = along == s.size && down % s.size == 0 && down >= row && down / s.size <= INT32_MAX;
  if (!direct) status = RESERVE(&s, n64 * row);
  if (status) return status;
  char *scratch = direct ? NULL : block(&s, n64 * row);
  do {
    char *to = direct ? walk.at[0] : scratch;
    int64_t step = direct ? down : row;
    int ld = (int)(step / s.size);
    for (int64_t i = 0; i < n; i++) {
      lgt_copy_line(to + i * step, s.size, walk.at[1] + i * a->stride[a->ndim - 2], a->stride[a->ndim - 1],
                    i + 1, s.size);
      clear(&s, to + i * step + (i + 1) * s.size, n64 - i - 1);
    }
    s.call[POTRF]("U", &n, to, &ld, &info, (size_t)1);
    if (info > 0) status = lgt_err(LGT_BAD_ARGUMENT, "the matrix is not positive definite");
    for (int64_t i = 0; i < n && !status && !direct; i++)
      lgt_copy_line(walk.at[0] + i * down, along, to + i * step, s.size, n64, s.size);
  } while (!status && lgt_walk_next(&walk, lo, hi));
  end(&s);
  return status;
}

/* ---- orthogonal decompositions ---------------------------------------------------------------------------------- */

static lgt_status qr(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  const lgt_tile *q = nargs == 3 ? &tiles[0] : NULL, *r = &tiles[nargs - 2], *a = &tiles[nargs - 1];
  int64_t m64 = rows_of(a), n64 = cols_of(a), k64 = m64 < n64 ? m64 : n64,
          wide = most(q ? cols_of(q) : 0, n64);
  int m = (int)m64, n = (int)n64, k = (int)k64, qcols = q ? (int)cols_of(q) : 0, ld = m > 1 ? m : 1, info = 0,
      query = -1;
  char probe[16];
  session s;
  lgt_walk walk;
  (void)params;
  lgt_status status = begin(&s, a->dtype, most(m64, n64));
  if (status || m == 0 || n == 0 || !lgt_walk_begin(&walk, tiles, nargs, r->ndim - 2, lo, hi)) return status;
  s.call[GEQRF](&m, &n, NULL, &ld, NULL, probe, &query, &info);
  int64_t work64 = answer(&s, probe);
  if (q) {
    s.call[ORGQR](&m, &qcols, &k, NULL, &ld, NULL, probe, &query, &info);
    work64 = most(work64, answer(&s, probe));
  }
  int lwork = (int)work64;
  status = RESERVE(&s, m64 * wide * s.size, k64 * s.size, work64 * s.size);
  if (status) return status;
  char *pa = block(&s, m64 * wide * s.size), *tau = block(&s, k64 * s.size),
       *work = block(&s, work64 * s.size);
  do {
    pack(a, walk.at[nargs - 1], m, n, pa, ld);
    s.call[GEQRF](&m, &n, pa, &ld, tau, work, &lwork, &info);
    for (int64_t i = 0; i < rows_of(r); i++)
      for (int64_t j = 0; j < n; j++) {
        char *to = walk.at[nargs - 2] + i * r->stride[r->ndim - 2] + j * r->stride[r->ndim - 1];
        if (i <= j) memcpy(to, pa + (j * m64 + i) * s.size, (size_t)s.size);
        else clear(&s, to, 1);
      }
    if (!q) continue;
    s.call[ORGQR](&m, &qcols, &k, pa, &ld, tau, work, &lwork, &info);
    unpack(q, walk.at[0], m, qcols, pa, ld);
  } while (lgt_walk_next(&walk, lo, hi));
  end(&s);
  return LGT_OK;
}

static lgt_status svd(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  const lgt_tile *a = &tiles[nargs - 1];
  bool vectors = nargs == 4;
  int64_t m64 = rows_of(a), n64 = cols_of(a), k64 = m64 < n64 ? m64 : n64;
  int m = (int)m64, n = (int)n64, ld = m, info = 0, query = -1;
  int ucols = vectors ? (int)cols_of(&tiles[1]) : 1, vrows = vectors ? (int)rows_of(&tiles[2]) : 1;
  const char *job = !vectors ? "N" : ucols == m && vrows == n ? "A" : "S";
  char probe[16];
  session s;
  lgt_walk walk;
  (void)params;
  lgt_status status = begin(&s, a->dtype, most(m64, n64));
  if (status || k64 == 0 || !lgt_walk_begin(&walk, tiles, nargs, tiles[0].ndim - 1, lo, hi)) return status;
  int64_t rwork64 =
      !s.is_complex ? 0 : most(5 * k64 * k64 + 5 * k64, 2 * most(m64, n64) * k64 + 2 * k64 * k64 + k64);
  int ldu = m, ldv = vrows > 1 ? vrows : 1;
  s.call[GESDD](job, &m, &n, NULL, &ld, NULL, NULL, &ldu, NULL, &ldv, probe, &query,
                s.is_complex ? (void *)probe : (void *)&info, &info, &info, (size_t)1);
  int64_t work64 = answer(&s, probe);
  int lwork = (int)work64;
  int64_t asize = m64 * n64 * s.size, usize = vectors ? m64 * ucols * s.size : 0,
          vsize = vectors ? n64 * vrows * s.size : 0;
  status = RESERVE(&s, asize, usize, vsize, k64 * s.real, work64 * s.size, rwork64 * s.real, 8 * k64 * 4);
  if (status) return status;
  char *pa = block(&s, asize), *u = block(&s, usize), *v = block(&s, vsize),
       *values = block(&s, k64 * s.real), *work = block(&s, work64 * s.size),
       *rwork = block(&s, rwork64 * s.real);
  int *iwork = block(&s, 8 * k64 * 4);
  do {
    pack(a, walk.at[nargs - 1], m, n, pa, ld);
    if (s.is_complex)
      s.call[GESDD](job, &m, &n, pa, &ld, values, u, &ldu, v, &ldv, work, &lwork, rwork, iwork, &info,
                    (size_t)1);
    else s.call[GESDD](job, &m, &n, pa, &ld, values, u, &ldu, v, &ldv, work, &lwork, iwork, &info, (size_t)1);
    if (info != 0) status = lgt_err(LGT_BAD_ARGUMENT, "the singular values did not converge");
    unpack_vector(&tiles[0], walk.at[0], k64, values);
    if (vectors) {
      unpack(&tiles[1], walk.at[1], m, ucols, u, ldu);
      unpack(&tiles[2], walk.at[2], vrows, n, v, ldv);
    }
  } while (!status && lgt_walk_next(&walk, lo, hi));
  end(&s);
  return status;
}

/* ---- eigenvalues --------------------------------------------------------------------------------------------------- */

static lgt_status eigh(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  const lgt_tile *a = &tiles[nargs - 1];
  int64_t n64 = cols_of(a);
  int n = (int)n64, ld = n, info = 0, query = -1, iquery[2];
  const char *job = nargs == 3 ? "V" : "N", *uplo = params[0].f != 0 ? "U" : "L";
  char probe[16], rprobe[16];
  session s;
  lgt_walk walk;
  lgt_status status = begin(&s, a->dtype, n64);
  if (status || n == 0 || !lgt_walk_begin(&walk, tiles, nargs, tiles[0].ndim - 1, lo, hi)) return status;
  if (s.is_complex)
    s.call[SYEVD](job, uplo, &n, NULL, &ld, NULL, probe, &query, rprobe, &query, iquery, &query, &info,
                  (size_t)1, (size_t)1);
  else
    s.call[SYEVD](job, uplo, &n, NULL, &ld, NULL, probe, &query, iquery, &query, &info, (size_t)1, (size_t)1);
  int64_t work64 = answer(&s, probe), rwork64 = s.is_complex ? answer(&s, rprobe) : 0;
  int lwork = (int)work64, lrwork = (int)rwork64, liwork = iquery[0];
  status =
      RESERVE(&s, n64 * n64 * s.size, n64 * s.real, work64 * s.size, rwork64 * s.real, (int64_t)liwork * 4);
  if (status) return status;
  char *pa = block(&s, n64 * n64 * s.size), *values = block(&s, n64 * s.real),
       *work = block(&s, work64 * s.size), *rwork = block(&s, rwork64 * s.real);
  int *iwork = block(&s, (int64_t)liwork * 4);
  do {
    pack(a, walk.at[nargs - 1], n, n, pa, ld);
    if (s.is_complex)
      s.call[SYEVD](job, uplo, &n, pa, &ld, values, work, &lwork, rwork, &lrwork, iwork, &liwork, &info,
                    (size_t)1, (size_t)1);
    else
      s.call[SYEVD](job, uplo, &n, pa, &ld, values, work, &lwork, iwork, &liwork, &info, (size_t)1,
                    (size_t)1);
    if (info != 0) status = lgt_err(LGT_BAD_ARGUMENT, "the eigenvalues did not converge");
    unpack_vector(&tiles[0], walk.at[0], n64, values);
    if (nargs == 3) unpack(&tiles[1], walk.at[1], n, n, pa, ld);
  } while (!status && lgt_walk_next(&walk, lo, hi));
  end(&s);
  return status;
}

/* Eigenvalues of a real matrix come as real and imaginary parts; vectors of a conjugate pair as the real and
 * imaginary parts of the first. */
static void join_parts(const session *s, const char *re, const char *im, char *values, const char *packed,
                       char *vectors, int64_t n) {
#define JOIN(T)                                                                           \
  const T *wr = (const T *)re, *wi = (const T *)im, *v = (const T *)packed;               \
  T *w = (T *)values, *out = (T *)vectors;                                                \
  for (int64_t j = 0; j < n; j++) w[2 * j] = wr[j], w[2 * j + 1] = wi[j];                 \
  for (int64_t j = 0; j < n && packed; j++) {                                             \
    bool first = wi[j] > 0, second = wi[j] < 0;                                           \
    for (int64_t i = 0; i < n; i++) {                                                     \
      out[2 * (j * n + i)] = v[(second ? j - 1 : j) * n + i];                             \
      out[2 * (j * n + i) + 1] = first ? v[(j + 1) * n + i] : second ? -v[j * n + i] : 0; \
    }                                                                                     \
  }
  if (s->is_double) {
    JOIN(double)
  } else {
    JOIN(float)
  }
#undef JOIN
}

/* Of anything else LAPACK's functions complain to each other, on standard output. */
static bool is_finite(const session *s, const char *matrix, int64_t count) {
  int64_t n = count * (s->size / s->real);
  for (int64_t i = 0; i < n; i++)
    if (!isfinite(s->is_double ? ((const double *)matrix)[i] : ((const float *)matrix)[i])) return false;
  return true;
}

static lgt_status eig(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  const lgt_tile *a = &tiles[nargs - 1];
  bool vectors = nargs == 3;
  int64_t n64 = cols_of(a);
  int n = (int)n64, ld = n, info = 0, query = -1;
  const char *job = vectors ? "V" : "N";
  char probe[16], rprobe[16];
  session s;
  lgt_walk walk;
  (void)params;
  lgt_status status = begin(&s, a->dtype, n64);
  if (status || n == 0 || !lgt_walk_begin(&walk, tiles, nargs, tiles[0].ndim - 1, lo, hi)) return status;
  if (s.is_complex)
    s.call[GEEV]("N", job, &n, NULL, &ld, NULL, NULL, &ld, NULL, &ld, probe, &query, rprobe, &info, (size_t)1,
                 (size_t)1);
  else
    s.call[GEEV]("N", job, &n, NULL, &ld, NULL, NULL, NULL, &ld, NULL, &ld, probe, &query, &info, (size_t)1,
                 (size_t)1);
  int64_t work64 = answer(&s, probe), pair = 2 * s.real, all = n64 * n64;
  int lwork = (int)work64;
  status = RESERVE(&s, all * s.size, all * s.size, all * pair, n64 * pair, 2 * n64 * s.real, work64 * s.size);
  if (status) return status;
  char *pa = block(&s, all * s.size), *v = block(&s, all * s.size), *joined = block(&s, all * pair),
       *values = block(&s, n64 * pair), *parts = block(&s, 2 * n64 * s.real),
       *work = block(&s, work64 * s.size);
  do {
    pack(a, walk.at[nargs - 1], n, n, pa, ld);
    if (!is_finite(&s, pa, all)) {
      status = lgt_err(LGT_BAD_ARGUMENT, "a matrix with a NaN or an infinity has no eigenvalues");
      break;
    }
    if (s.is_complex) {
      s.call[GEEV]("N", job, &n, pa, &ld, values, v, &ld, v, &ld, work, &lwork, parts, &info, (size_t)1,
                   (size_t)1);
    } else {
      s.call[GEEV]("N", job, &n, pa, &ld, parts, parts + n64 * s.real, v, &ld, v, &ld, work, &lwork, &info,
                   (size_t)1, (size_t)1);
      join_parts(&s, parts, parts + n64 * s.real, values, vectors ? v : NULL, joined, n64);
    }
    if (info != 0) status = lgt_err(LGT_BAD_ARGUMENT, "the eigenvalues did not converge");
    unpack_vector(&tiles[0], walk.at[0], n64, values);
    if (vectors) unpack(&tiles[1], walk.at[1], n, n, s.is_complex ? v : joined, ld);
  } while (!status && lgt_walk_next(&walk, lo, hi));
  end(&s);
  return status;
}

/* ---- least squares --------------------------------------------------------------------------------------------------- */

static lgt_status lstsq(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  const lgt_tile *x = &tiles[0], *a = &tiles[3], *b = &tiles[4];
  int64_t m64 = rows_of(a), n64 = cols_of(a), k64 = cols_of(b), small = m64 < n64 ? m64 : n64,
          tall = most(m64, n64);
  int m = (int)m64, n = (int)n64, k = (int)k64, ld = m > 1 ? m : 1, ldb = tall > 1 ? (int)tall : 1;
  int rank = 0, info = 0, query = -1, iquery[2];
  double rcond = params[0].f;
  float rcond_single = (float)rcond;
  char probe[16], rprobe[16];
  session s;
  lgt_walk walk;
  lgt_status status = begin(&s, a->dtype, most(tall, k64));
  if (status || n == 0 || !lgt_walk_begin(&walk, tiles, nargs, x->ndim - 2, lo, hi)) return status;
  const void *cut = s.is_double ? (const void *)&rcond : (const void *)&rcond_single;
  if (s.is_complex)
    s.call[GELSD](&m, &n, &k, NULL, &ld, NULL, &ldb, NULL, cut, &rank, probe, &query, rprobe, iquery, &info);
  else s.call[GELSD](&m, &n, &k, NULL, &ld, NULL, &ldb, NULL, cut, &rank, probe, &query, iquery, &info);
  int64_t work64 = answer(&s, probe), rwork64 = s.is_complex ? answer(&s, rprobe) : 0;
  int lwork = (int)work64;
  int64_t asize = m64 * n64 * s.size, bsize = tall * k64 * s.size;
  status = RESERVE(&s, asize, bsize, small * s.real, work64 * s.size, rwork64 * s.real,
                   ((int64_t)iquery[0] + 1) * 4);
  if (status) return status;
  char *pa = block(&s, asize), *pb = block(&s, bsize), *values = block(&s, small * s.real),
       *work = block(&s, work64 * s.size), *rwork = block(&s, rwork64 * s.real);
  int *iwork = block(&s, ((int64_t)iquery[0] + 1) * 4);
  do {
    pack(a, walk.at[3], m, n, pa, ld);
    clear(&s, pb, tall * k64);
    pack(b, walk.at[4], m, k, pb, ldb);
    if (s.is_complex)
      s.call[GELSD](&m, &n, &k, pa, &ld, pb, &ldb, values, cut, &rank, work, &lwork, rwork, iwork, &info);
    else s.call[GELSD](&m, &n, &k, pa, &ld, pb, &ldb, values, cut, &rank, work, &lwork, iwork, &info);
    if (info != 0) status = lgt_err(LGT_BAD_ARGUMENT, "the least-squares solution did not converge");
    unpack(x, walk.at[0], n, k, pb, ldb);
    unpack_vector(&tiles[1], walk.at[1], small, values);
    *(int64_t *)walk.at[2] = rank;
  } while (!status && lgt_walk_next(&walk, lo, hi));
  end(&s);
  return status;
}

const lgt_builtin lgt_lapack_builtins[] = {{"lu_panel", lu_panel},
                                           {"lu_update", lu_update},
                                           {"lu_finish", lu_finish},
                                           {"lu_slogdet", lu_slogdet},
                                           {"solve", solve},
                                           {"inv", solve},
                                           {"lu", lu},
                                           {"solve_lu", solve_lu},
                                           {"slogdet", slogdet},
                                           {"cholesky", cholesky},
                                           {"qr", qr},
                                           {"qrr", qr},
                                           {"svd", svd},
                                           {"svdvals", svd},
                                           {"eigh", eigh},
                                           {"eigvalsh", eigh},
                                           {"eig", eig},
                                           {"eigvals", eig},
                                           {"lstsq", lstsq},
                                           {0}};
