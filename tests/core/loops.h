/* loops.h - for C tests: loops made from bodies, and slabs to run them on. */
#ifndef LGT_TEST_LOOPS_H
#define LGT_TEST_LOOPS_H

#include <math.h>
#include <stdlib.h>

#include "kernel/loop.h"

/* A loop over the body's instructions; `access` stays the caller's. */
__attribute__((unused)) static lgt_loop loop_of(const lgt_body *body, lgt_access *access, int naccess) {
  return (lgt_loop){.naccess = (uint16_t)naccess,
                    .ninst = (uint16_t)body->ninst,
                    .nconst = (uint16_t)body->nconst,
                    .nparam = (uint16_t)body->nparam,
                    .access = access,
                    .inst = body->inst,
                    .constant = body->constant};
}

enum { MAX_ACCESS = 16 };

/* A slab with its arrays. */
typedef struct slab {
  lgt_slab slab;
  lgt_base base[MAX_ACCESS];
  int64_t row_stride[MAX_ACCESS], col_stride[MAX_ACCESS];
  lgt_scalar param[MAX_ACCESS];
} slab;

__attribute__((unused)) static void slab_init(slab *s, int64_t rows, int64_t cols) {
  memset(s, 0, sizeof *s);
  s->slab = (lgt_slab){rows, cols, s->base, s->row_stride, s->col_stride, s->param, 0};
}

/* Access a: at `address`, with strides in bytes. */
__attribute__((unused)) static void slab_bind(slab *s, int a, void *address, int64_t row_stride, int64_t col_stride) {
  s->base[a].address = address;
  s->row_stride[a] = row_stride;
  s->col_stride[a] = col_stride;
}

/* ---- numbers ---------------------------------------------------------------------------------- */

/* splitmix64 */
__attribute__((unused)) static uint64_t random_bits(void) {
  static uint64_t state = 1;
  uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

__attribute__((unused)) static int random_below(int n) { return (int)(random_bits() % (uint64_t)n); }

/* Values worth trying, a few dozen for each dtype.  Returns how many. */
__attribute__((unused)) static int interesting(int dtype, lgt_scalar *out) {
  static const double floats[] = {0.0,
                                  -0.0,
                                  1,
                                  -1,
                                  0.5,
                                  -0.5,
                                  1.5,
                                  2.5,
                                  -2.5,
                                  3,
                                  -7,
                                  10,
                                  0.1,
                                  255,
                                  256,
                                  -129,
                                  65504,
                                  65520,
                                  1e-7,
                                  6e-8,
                                  1e5,
                                  -1e5,
                                  2147483647.0,
                                  2147483648.0,
                                  -2147483648.5,
                                  -2147483649.0,
                                  4294967295.0,
                                  1e10,
                                  9223372036854775808.0,
                                  -9223372036854775808.0,
                                  1.6e19,
                                  1e300,
                                  -1e-300,
                                  4.9e-324,
                                  INFINITY,
                                  -INFINITY,
                                  NAN,
                                  3.5,
                                  1e18,
                                  0.49999999999999994};
  int n = 0, bits = 8 * lgt_dtype_size(dtype);
  switch (lgt_dtype_class(dtype)) {
    case 'b':
      for (; n < 2; n++) out[n] = (lgt_scalar){.i = n};
      return n;
    case 'f':
      for (; n < (int)(sizeof floats / sizeof *floats); n++) {
        char memory[8];
        lgt_dtype_store(dtype, memory, (lgt_scalar){.f = floats[n]});
        out[n] = lgt_dtype_load(dtype, memory);
      }
      return n;
  }
  static const int64_t small[] = {0, 1, 2, 3, 5, 7, 8, 15, 31, 63, 64, 100};
  for (int i = 0; i < (int)(sizeof small / sizeof *small); i++) out[n++].i = small[i];
  if (lgt_dtype_class(dtype) == 'u') {
    uint64_t greatest = UINT64_MAX >> (64 - bits);
    for (uint64_t i = 0; i < 3; i++) out[n++].u = greatest - i;
    out[n++].u = greatest / 2;
    out[n++].u = greatest / 2 + 1;
    return n;
  }
  for (int i = 1; i < 10; i++) out[n++].i = -small[i];
  int64_t least = INT64_MIN >> (64 - bits);
  for (int i = 0; i < 3; i++) out[n++].i = least + i, out[n++].i = -(least + 1) - i;
  return n;
}

/* The same value: bits, except that any NaN is as good as another. */
__attribute__((unused)) static int same_value(int dtype, lgt_scalar a, lgt_scalar b) {
  return (lgt_dtype_is_float(dtype) && a.f != a.f && b.f != b.f) || a.i == b.i;
}

__attribute__((unused)) static const char *show(int dtype, lgt_scalar x) {
  static char text[8][40];
  static int next;
  char *t = text[next++ % 8];
  if (lgt_dtype_is_float(dtype)) snprintf(t, sizeof text[0], "%.17g", x.f);
  else if (lgt_dtype_class(dtype) == 'u') snprintf(t, sizeof text[0], "%llu", (unsigned long long)x.u);
  else snprintf(t, sizeof text[0], "%lld", (long long)x.i);
  return t;
}

#endif
