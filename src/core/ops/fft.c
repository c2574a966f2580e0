/* fft.c - discrete Fourier transforms of lines, by FFTW in double precision.
 *
 *   fft     argument 0 = transform of argument 1, complex128 both; parameter 0: the sign of the exponent
 *   rfft    argument 0 (complex128, n/2 + 1 elements a line) = transform of argument 1 (float64, n)
 *   irfft   argument 0 (float64, n) = inverse transform of argument 1 (complex128, n/2 + 1)
 *   All multiply by parameter 1.
 *
 * FFTW is found at run time, by the first task that needs it.  Plans are made by estimate, so that results do
 * not depend on what was measured; making them is not thread-safe and happens under a lock, executing them
 * is.  The first few are kept until the end, since any worker may be executing them.
 */
#include "ops/builtin.h"

#include <dlfcn.h>
#include <pthread.h>

enum { ESTIMATE = 1 << 6, KEPT = 32, ALIGNMENT = 64 };
enum { COMPLEX, FROM_REAL, TO_REAL };

typedef struct plan {
  int n, kind, sign;
  void *made; /* an fftw_plan, owned */
} plan;

static struct {
  pthread_mutex_t lock; /* of everything below */
  bool tried;
  void *library;
  void *(*complex_1d)(int, void *, void *, int, unsigned);
  void *(*real_1d)(int, void *, void *, unsigned);
  void *(*to_real_1d)(int, void *, void *, unsigned);
  void (*execute)(void *, void *, void *), (*execute_real)(void *, void *, void *),
      (*execute_to_real)(void *, void *, void *);
  void (*destroy)(void *), (*cleanup)(void);
  plan kept[KEPT];
  int nkept;
} fftw = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void load_fftw(void) {
  fftw.tried = true;
  void *library = dlopen("libfftw3.so.3", RTLD_NOW | RTLD_LOCAL);
  if (!library) return;
  *(void **)&fftw.complex_1d = dlsym(library, "fftw_plan_dft_1d");
  *(void **)&fftw.real_1d = dlsym(library, "fftw_plan_dft_r2c_1d");
  *(void **)&fftw.to_real_1d = dlsym(library, "fftw_plan_dft_c2r_1d");
  *(void **)&fftw.execute = dlsym(library, "fftw_execute_dft");
  *(void **)&fftw.execute_real = dlsym(library, "fftw_execute_dft_r2c");
  *(void **)&fftw.execute_to_real = dlsym(library, "fftw_execute_dft_c2r");
  *(void **)&fftw.destroy = dlsym(library, "fftw_destroy_plan");
  *(void **)&fftw.cleanup = dlsym(library, "fftw_cleanup");
  if (fftw.complex_1d && fftw.real_1d && fftw.to_real_1d && fftw.execute && fftw.execute_real &&
      fftw.execute_to_real && fftw.destroy && fftw.cleanup)
    fftw.library = library;
}

__attribute__((destructor)) static void unload_fftw(void) {
  for (int i = 0; i < fftw.nkept; i++) fftw.destroy(fftw.kept[i].made);
  if (fftw.library) fftw.cleanup();
  fftw.nkept = 0;
}

/* A plan for lines of n, with the lock held; the buffers only serve the planner.  *shared: it is kept, so
 * the caller must not destroy it. */
static void *plan_for(int n, int kind, int sign, void *in, void *out, bool *shared) {
  *shared = true;
  for (int i = 0; i < fftw.nkept; i++) {
    plan *p = &fftw.kept[i];
    if (p->n == n && p->kind == kind && p->sign == sign) return p->made;
  }
  void *made = kind == COMPLEX     ? fftw.complex_1d(n, in, out, sign, ESTIMATE)
               : kind == FROM_REAL ? fftw.real_1d(n, in, out, ESTIMATE)
                                   : fftw.to_real_1d(n, in, out, ESTIMATE);
  *shared = made && fftw.nkept < KEPT;
  if (*shared) fftw.kept[fftw.nkept++] = (plan){n, kind, sign, made};
  return made;
}

static char *aligned(char *p) { return (char *)(((uintptr_t)p + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT); }

/* Lines whose elements lie apart are read several at a time: where they begin side by side, these share cache lines. */
enum { TOGETHER = 8, MOST_TOGETHER = 1 << 20 /* bytes */ };

static int lines_together(int64_t bytes, bool dense) {
  int64_t fit = dense ? 1 : MOST_TOGETHER / bytes;
  return fit > TOGETHER ? TOGETHER : fit > 1 ? (int)fit : 1;
}

/* `lines` lines of n elements, of `words` doubles each and `stride` bytes apart, to buffers `pitch` bytes apart. */
static void read_lines(char *to, int64_t pitch, char *const *from, int lines, int64_t n, int64_t stride,
                       int words) {
  if (lines == 1) {
    lgt_copy_line(to, 8 * words, from[0], stride, n, 8 * words);
    return;
  }
  for (int64_t i = 0; i < n; i++)
    for (int l = 0; l < lines; l++) {
      const double *x = (const double *)(from[l] + i * stride);
      double *copy = (double *)(to + l * pitch) + i * words;
      copy[0] = x[0];
      if (words == 2) copy[1] = x[1];
    }
}

static lgt_status transform(const lgt_tile *tiles, const lgt_scalar *params, int64_t lo, int64_t hi,
                            int kind) {
  const lgt_tile *to = &tiles[0], *from = &tiles[1];
  int lead = to->ndim - 1;
  int64_t nin = from->extent[lead], nout = to->extent[lead], n = kind == TO_REAL ? nout : nin;
  int64_t in_size = lgt_dtype_size(from->dtype), out_size = lgt_dtype_size(to->dtype);
  double scale = params[1].f;
  lgt_walk walk;
  bool shared = false;
  if (n == 0 || !lgt_walk_begin(&walk, tiles, 2, lead, lo, hi)) return LGT_OK;
  if (n > INT32_MAX)
    return lgt_err(LGT_UNSUPPORTED, "a transform of %lld elements: FFTW takes less than 2^31", (long long)n);
  /* Aligned as the planner was told, which vector instructions need. */
  int together = lines_together(nin * in_size, from->stride[lead] == in_size);
  int64_t pitch = (nin * in_size / ALIGNMENT + 2) * ALIGNMENT;
  char *room = lgt_scratch_alloc((size_t)(together * pitch + nout * out_size + 2 * ALIGNMENT));
  if (!room) return LGT_NO_MEMORY;
  char *in = aligned(room), *out = in + together * pitch;
  pthread_mutex_lock(&fftw.lock);
  if (!fftw.tried) load_fftw();
  void *made = fftw.library ? plan_for((int)n, kind, params[0].f > 0 ? 1 : -1, in, out, &shared) : NULL;
  pthread_mutex_unlock(&fftw.lock);
  lgt_status status = LGT_OK;
  if (!made) {
    status = lgt_err(LGT_UNSUPPORTED, "Fourier transforms need FFTW: install libfftw3-double3");
    goto done;
  }
  for (bool more = true; more;) {
    char *source[TOGETHER], *target[TOGETHER];
    int lines = 0;
    do {
      target[lines] = walk.at[0], source[lines] = walk.at[1];
      lines++;
      more = lgt_walk_next(&walk, lo, hi);
    } while (more && lines < together);
    read_lines(in, pitch, source, lines, nin, from->stride[lead], (int)in_size / 8);
    for (int l = 0; l < lines; l++) {
      (kind == COMPLEX     ? fftw.execute
       : kind == FROM_REAL ? fftw.execute_real
                           : fftw.execute_to_real)(made, in + l * pitch, out);
      double *p = (double *)out;
      for (int64_t i = 0; scale != 1 && i < nout * out_size / 8; i++) p[i] *= scale;
      lgt_copy_line(target[l], to->stride[lead], out, out_size, nout, out_size);
    }
  }
  if (!shared) {
    pthread_mutex_lock(&fftw.lock);
    fftw.destroy(made);
    pthread_mutex_unlock(&fftw.lock);
  }
done:
  lgt_scratch_free(room);
  return status;
}

static lgt_status fft(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  (void)nargs;
  return transform(tiles, params, lo, hi, COMPLEX);
}
static lgt_status rfft(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  (void)nargs;
  return transform(tiles, params, lo, hi, FROM_REAL);
}
static lgt_status irfft(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  (void)nargs;
  return transform(tiles, params, lo, hi, TO_REAL);
}

const lgt_builtin lgt_fft_builtins[] = {{"fft", fft}, {"rfft", rfft}, {"irfft", irfft}, {0}};
