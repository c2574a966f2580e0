/* elementary_rivals.c - who computes. */
#include "elementary_judge.h"

#include <dlfcn.h>
#include <immintrin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/helper.h"

/* ---- lgt ------------------------------------------------------------------------------------- */

static bool lgt_has(const elementary *f) { return elementary_op(f) >= 0; }

static void lgt_compute(const elementary *f, int dtype, void *out, const void *a, const void *b, int64_t n) {
  lgt_helper_math(elementary_op(f), dtype, out, a, b, n);
}

/* ---- glibc's functions of one number ----------------------------------------------------------- */

static bool glibc_has(const elementary *f) { return f->middle != NULL; }

static void glibc_compute(const elementary *f, int dtype, void *out, const void *a, const void *b,
                          int64_t n) {
  bool two = f->arity == 2;
  if (dtype == LGT_FLOAT64) {
    const double *x = a, *y = b;
    for (int64_t i = 0; i < n; i++) ((double *)out)[i] = f->middle(x[i], two ? y[i] : 0);
  } else {
    const float *x = a, *y = b;
    for (int64_t i = 0; i < n; i++) ((float *)out)[i] = f->narrow(x[i], two ? y[i] : 0);
  }
}

/* ---- libmvec's of AVX2: 4 doubles, 8 floats ---------------------------------------------------- */

static void *libmvec_symbol(const elementary *f, bool single) {
  static void *library;
  char name[64];
  if (!library) library = dlopen("libmvec.so.1", RTLD_NOW);
  snprintf(name, sizeof name, "_ZGVdN%d%s_%s%s", single ? 8 : 4, f->arity == 1 ? "v" : "vv", f->name,
           single ? "f" : "");
  return library ? dlsym(library, name) : NULL;
}

static bool libmvec_has(const elementary *f) {
  return lgt_isa_host() >= LGT_ISA_AVX2 && libmvec_symbol(f, false) && libmvec_symbol(f, true);
}

/* A short vector is filled up with its first element. */
#define VECTORS(name, V, T, load, store)                                                                \
  __attribute__((target("avx2"))) static void name(const elementary *f, T *out, const T *a, const T *b, \
                                                   int64_t n) {                                         \
    enum { lanes = sizeof(V) / sizeof(T) };                                                             \
    void *function = libmvec_symbol(f, sizeof(T) == 4);                                                 \
    for (int64_t i = 0; i < n; i += lanes) {                                                            \
      T x[lanes], y[lanes], z[lanes];                                                                   \
      int64_t have = n - i < lanes ? n - i : lanes;                                                     \
      for (int64_t lane = 0; lane < lanes; lane++) {                                                    \
        x[lane] = a[i + (lane < have ? lane : 0)];                                                      \
        y[lane] = f->arity == 2 ? b[i + (lane < have ? lane : 0)] : 0;                                  \
      }                                                                                                 \
      if (f->arity == 1) store(z, ((V(*)(V))function)(load(x)));                                        \
      else store(z, ((V(*)(V, V))function)(load(x), load(y)));                                          \
      memcpy(out + i, z, (size_t)have * sizeof(T));                                                     \
    }                                                                                                   \
  }
VECTORS(libmvec_f64, __m256d, double, _mm256_loadu_pd, _mm256_storeu_pd)
VECTORS(libmvec_f32, __m256, float, _mm256_loadu_ps, _mm256_storeu_ps)

static void libmvec_compute(const elementary *f, int dtype, void *out, const void *a, const void *b,
                            int64_t n) {
  if (dtype == LGT_FLOAT64) libmvec_f64(f, out, a, b, n);
  else libmvec_f32(f, out, a, b, n);
}

/* ---- NumPy: a process that answers ------------------------------------------------------------- */

static FILE *numpy_ask, *numpy_answer;

static bool numpy_start(void) {
  int ask[2], answer[2];
  if (numpy_ask) return true;
  if (pipe(ask) || pipe(answer)) return false;
  pid_t child = fork();
  if (child < 0) return false;
  if (child == 0) {
    dup2(ask[0], 0);
    dup2(answer[1], 1);
    close(ask[1]);
    close(answer[0]);
    execl("/usr/bin/python3", "python3", LGT_ELEMENTARY_SCRIPT, (char *)NULL);
    _exit(127);
  }
  close(ask[0]);
  close(answer[1]);
  numpy_ask = fdopen(ask[1], "w");
  numpy_answer = fdopen(answer[0], "r");
  return true;
}

/* "0" or "1" and, after a 1, the results. */
static bool numpy_asked(const elementary *f, const char *dtype, int64_t n) {
  if (!numpy_start()) return false;
  fprintf(numpy_ask, "%s %s %d %lld\n", f->name, dtype, f->arity, (long long)n);
  fflush(numpy_ask);
  return fgetc(numpy_answer) == '1';
}

static bool numpy_has(const elementary *f) { return numpy_asked(f, "float64", 0); }

static void numpy_compute(const elementary *f, int dtype, void *out, const void *a, const void *b,
                          int64_t n) {
  size_t size = dtype == LGT_FLOAT64 ? 8 : 4;
  if (!numpy_asked(f, dtype == LGT_FLOAT64 ? "float64" : dtype == LGT_FLOAT32 ? "float32" : "float16", n))
    return;
  fwrite(a, size, (size_t)n, numpy_ask);
  if (f->arity == 2) fwrite(b, size, (size_t)n, numpy_ask);
  fflush(numpy_ask);
  if (fread(out, size, (size_t)n, numpy_answer) != (size_t)n) {
    fprintf(stderr, "elementary: %s does not answer\n", LGT_ELEMENTARY_SCRIPT);
    exit(1);
  }
}

const rival rival_list[] = {{"lgt", lgt_has, lgt_compute},
                            {"libmvec", libmvec_has, libmvec_compute},
                            {"glibc", glibc_has, glibc_compute},
                            {"numpy", numpy_has, numpy_compute}};
const int rival_count = sizeof rival_list / sizeof *rival_list;
