/* helper.c - functions shared by the interpreter and compiled kernels.
 *
 * The kernel of an element-wise operation runs on vectors, its remainder on masked vectors, and the
 * interpreter on short arrays.  All of them must give an element the same bits, so whatever is too long
 * to be written inline is computed by one function for all three.
 *
 * Which instruction set is in use is decided once, when a runtime opens, and read with relaxed atomics:
 * the submitting thread sets it before any worker runs.
 */
#include "kernel/helper.h"

#include <immintrin.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "kernel/elementary/elementary.h"
#include "base/half.h"

/* ---- instruction sets ---------------------------------------------------------------------- */

static _Atomic int isa_limit = LGT_NISA;

const char *lgt_isa_name(int isa) {
#define X(NAME, name) #name,
  static const char *const names[] = {LGT_ISA_LIST(X)};
#undef X
  return names[isa];
}

lgt_isa lgt_isa_host(void) {
  static _Atomic int host = LGT_NISA;
  int isa = atomic_load_explicit(&host, memory_order_relaxed);
  if (isa != LGT_NISA) return (lgt_isa)isa;
  __builtin_cpu_init();
  isa = LGT_ISA_GENERIC;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c") &&
      __builtin_cpu_supports("bmi2"))
    isa = LGT_ISA_AVX2;
  if (isa == LGT_ISA_AVX2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
    isa = LGT_ISA_AVX512;
  atomic_store_explicit(&host, isa, memory_order_relaxed);
  return (lgt_isa)isa;
}

lgt_isa lgt_isa_current(void) {
  int limit = atomic_load_explicit(&isa_limit, memory_order_relaxed);
  return limit == LGT_NISA ? lgt_isa_host() : (lgt_isa)limit;
}

lgt_status lgt_isa_limit(const char *name) {
  lgt_isa host = lgt_isa_host();
  int isa = 0;
  while (isa < LGT_NISA && strcmp(name, lgt_isa_name(isa)) != 0) isa++;
  if (!*name) isa = host;
  if (isa == LGT_NISA)
    return lgt_err(LGT_BAD_ARGUMENT, "isa = \"%s\": expected generic, avx2 or avx512", name);
  if (isa > (int)host)
    return lgt_err(LGT_UNSUPPORTED, "isa = \"%s\": this CPU has no more than %s", name, lgt_isa_name(host));
  atomic_store_explicit(&isa_limit, isa, memory_order_relaxed);
  return LGT_OK;
}

/* ---- elementary functions -------------------------------------------------------------------- */

typedef void plain_fn(void);

static const lgt_math_table *const tables[LGT_NISA] = {
    [LGT_ISA_GENERIC] = &lgt_math_table_generic,
    [LGT_ISA_AVX2] = &lgt_math_table_avx2,
    [LGT_ISA_AVX512] = &lgt_math_table_avx512,
};

bool lgt_math_has(int op) { return op != LGT_OP_POWER && tables[0]->math[op][0] != NULL; }

void lgt_helper_math(int op, int dtype, void *out, const void *a, const void *b, int64_t n) {
  tables[lgt_isa_current()]->math[op][lgt_form_of(dtype)](out, a, b, n);
}

/* ---- division, remainders, integer powers --------------------------------------------------- */

#include "kernel/helper_scalar.h"

#define X(OP, op, DTYPE, d, T)                                             \
  static void loop_##op##_##d(T *out, const T *a, const T *b, int64_t n) { \
    for (int64_t i = 0; i < n; i++) out[i] = op##_##d(a[i], b[i]);         \
  }
LGT_DIVIDE_LIST(X)
#undef X

#define NAME  divide_i64_avx2
#define ISA   "avx2"
#define T     int64_t
#define LANES 4
#define N     int32_t
#define BITS  31
#include "kernel/helper_integers.h"

#define NAME  divide_u64_avx2
#define ISA   "avx2"
#define T     uint64_t
#define LANES 4
#define N     int32_t
#define BITS  31
#include "kernel/helper_integers.h"

#define NAME  divide_i64_avx512
#define ISA   "avx512f,avx512dq"
#define T     int64_t
#define LANES 8
#define N     int64_t
#define BITS  52
#include "kernel/helper_integers.h"

#define NAME  divide_u64_avx512
#define ISA   "avx512f,avx512dq"
#define T     uint64_t
#define LANES 8
#define N     int64_t
#define BITS  52
#include "kernel/helper_integers.h"

#define X(OP, op, DTYPE, d, T)                                                                   \
  void lgt_helper_##op##_##d(T *out, const T *a, const T *b, int64_t n) {                        \
    lgt_isa isa = LGT_OP_##OP == LGT_OP_POW ? LGT_ISA_GENERIC : lgt_isa_current();               \
    if (isa == LGT_ISA_AVX512) divide_##d##_avx512(LGT_OP_##OP, loop_##op##_##d, out, a, b, n);  \
    else if (isa == LGT_ISA_AVX2) divide_##d##_avx2(LGT_OP_##OP, loop_##op##_##d, out, a, b, n); \
    else loop_##op##_##d(out, a, b, n);                                                          \
  }
LGT_DIVIDE_INT_LIST(X)
#undef X

typedef int64_t i64_4 __attribute__((vector_size(32)));
typedef int64_t i64_8 __attribute__((vector_size(64)));
typedef int32_t i32_8 __attribute__((vector_size(32)));
typedef int32_t i32_16 __attribute__((vector_size(64)));
#define ANY_256(mask) !_mm256_testz_si256((__m256i)(mask), (__m256i)(mask))
#define ANY_512(mask) (_mm512_test_epi64_mask((__m512i)(mask), (__m512i)(mask)) != 0)

#define NAME           divmod_f64_avx2
#define ISA            "avx2,fma"
#define T              double
#define V              __m256d
#define I              i64_4
#define CALL(function) _mm256_##function##_pd
#define MOST           0x1p52
#define ANY            ANY_256
#include "kernel/helper_divmod.h"

#define NAME           divmod_f64_avx512
#define ISA            "avx512f,avx512dq"
#define T              double
#define V              __m512d
#define I              i64_8
#define CALL(function) _mm512_##function##_pd
#define MOST           0x1p52
#define ANY            ANY_512
#include "kernel/helper_divmod.h"

#define NAME           divmod_f32_avx2
#define ISA            "avx2,fma"
#define T              float
#define V              __m256
#define I              i32_8
#define CALL(function) _mm256_##function##_ps
#define MOST           0x1p23f
#define ANY            ANY_256
#include "kernel/helper_divmod.h"

#define NAME           divmod_f32_avx512
#define ISA            "avx512f,avx512dq"
#define T              float
#define V              __m512
#define I              i32_16
#define CALL(function) _mm512_##function##_ps
#define MOST           0x1p23f
#define ANY            ANY_512
#include "kernel/helper_divmod.h"

#define X(OP, op, DTYPE, d, T)                                                                   \
  void lgt_helper_##op##_##d(T *out, const T *a, const T *b, int64_t n) {                        \
    lgt_isa isa = lgt_isa_current();                                                             \
    if (isa == LGT_ISA_AVX512) divmod_##d##_avx512(LGT_OP_##OP, loop_##op##_##d, out, a, b, n);  \
    else if (isa == LGT_ISA_AVX2) divmod_##d##_avx2(LGT_OP_##OP, loop_##op##_##d, out, a, b, n); \
    else loop_##op##_##d(out, a, b, n);                                                          \
  }
LGT_DIVIDE_FLOAT_LIST(X)
#undef X

/* ---- float16 ------------------------------------------------------------------------------- */

void lgt_helper_f16_to_f32(float *out, const uint16_t *a, int64_t n) {
  for (int64_t i = 0; i < n; i++) out[i] = lgt_half_to_float(a[i]);
}

void lgt_helper_f32_to_f16(uint16_t *out, const float *a, int64_t n) {
  for (int64_t i = 0; i < n; i++) out[i] = lgt_half_from_float(a[i]);
}

/* ---- what kernels may call ------------------------------------------------------------------ */

/* lgt_math_<name>_<form> and lgt_math_sincos_<form>, of the instruction set in use. */
static void *math_symbol(const char *name) {
  static const char *const form[LGT_NFORM] = {"f64", "f32", "f16"};
  char own[48];
  for (int f = 0; f < LGT_NFORM; f++) {
    snprintf(own, sizeof own, "lgt_math_sincos_%s", form[f]);
    if (strcmp(name, own) == 0) return (void *)tables[lgt_isa_current()]->sincos[f];
  }
  for (int op = 0; op < LGT_NOP; op++)
    for (int f = 0; f < LGT_NFORM; f++) {
      if (!tables[lgt_isa_current()]->math[op][f]) continue;
      snprintf(own, sizeof own, "lgt_math_%s_%s", lgt_op_name(op), form[f]);
      if (strcmp(name, own) == 0) return (void *)tables[lgt_isa_current()]->math[op][f];
    }
  return NULL;
}

void *lgt_helper_symbol(const char *name) {
  static const struct {
    const char *name;
    plain_fn *fn;
  } helpers[] = {
#define X(OP, op, DTYPE, d, T) {"lgt_helper_" #op "_" #d, (plain_fn *)lgt_helper_##op##_##d},
      LGT_DIVIDE_LIST(X)
#undef X
          {"lgt_helper_f16_to_f32", (plain_fn *)lgt_helper_f16_to_f32},
      {"lgt_helper_f32_to_f16", (plain_fn *)lgt_helper_f32_to_f16},
      {"memcpy", (plain_fn *)memcpy},
      {"memset", (plain_fn *)memset},
  };
  for (size_t i = 0; i < sizeof helpers / sizeof *helpers; i++)
    if (strcmp(name, helpers[i].name) == 0) return (void *)helpers[i].fn;
  return math_symbol(name);
}
