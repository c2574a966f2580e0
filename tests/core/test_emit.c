/* Compiled loops against the interpreter, bit for bit.  The first argument is the emitter module; the
 * second, how many random loops to try on each instruction set; the third, the first seed. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "kernel/kernel.h"
#include "kernel/object.h"
#include "random_loop.h"

static lgt_emit_loop_fn *emit;
static int count = 100;
static uint64_t first_seed = 1;

typedef struct compiled {
  lgt_object *object[LGT_KERNEL_NFORM];
  lgt_kernel_fn code[LGT_KERNEL_NFORM];
} compiled;

static bool compile(const lgt_loop *loop, lgt_isa isa, compiled *out, char *why, size_t room) {
  memset(out, 0, sizeof *out);
  for (int form = 0; form < LGT_KERNEL_NFORM; form++) {
    lgt_emit_result result;
    if (form == LGT_KERNEL_STREAM && !lgt_loop_streams(loop)) continue;
    if (emit(loop, isa, (lgt_kernel_form)form, false, &result) != LGT_OK) {
      snprintf(why, room, "not compiled: %s", result.message);
      return false;
    }
    lgt_status status = lgt_object_load(result.object, result.size, &out->object[form]);
    free(result.object);
    if (status) {
      snprintf(why, room, "not loaded: %s", lgt_message());
      return false;
    }
    const char *name = form == LGT_KERNEL_STREAM ? "lgt_kernel_stream" : "lgt_kernel";
    out->code[form] = (lgt_kernel_fn)lgt_object_symbol(out->object[form], name);
    if (!out->code[form]) return snprintf(why, room, "no %s", name), false;
  }
  return true;
}

static void free_compiled(compiled *kernel) {
  for (int form = 0; form < LGT_KERNEL_NFORM; form++) lgt_object_free(kernel->object[form]);
}

/* Cut the columns where there is no reduction, the rows always; the interpreter is cut alike where a
 * reduction makes a difference. */
static void run_pieces(const memory *a, const memory *b, const random_loop *r, lgt_kernel_fn code,
                       bool pieces) {
  int64_t row = 0;
  while (row < a->rows) {
    int64_t rows = pieces && r->reduces != 1 ? 1 + random_below((int)(a->rows - row)) : a->rows;
    int64_t col = 0;
    while (col < a->cols) {
      int64_t cols =
          pieces && r->reduces != 1 && r->reduces != 2 ? 1 + random_below((int)(a->cols - col)) : a->cols;
      memory_run(b, r, code, row, rows, col, cols);
      col += cols;
    }
    row += rows;
  }
  memory_run(a, r, NULL, 0, a->rows, 0, a->cols);
}

/* One loop on memory of one shape; false with a reason when the two disagree. */
static bool agree(const random_loop *r, lgt_kernel_fn code, bool pieces, char *why, size_t room) {
  /* several blocks of a body with functions (emit_phase.c), groups of rows (emit_rows.c) */
  bool wide = random_below(r->reduces == 2 ? 2 : 6) == 0;
  int64_t rows = 1 + random_below(wide ? 11 : 4), cols = 1 + random_below(wide ? 1000 : 70);
  if (r->zero_only) rows = cols = 1;
  memory a, b;
  size_t where = 0;
  memory_make(&a, r, rows, cols);
  memory_copy(&b, &a, r);
  run_pieces(&a, &b, r, code, pieces);
  int k = memory_differs(&a, &b, r, &where);
  if (k >= 0) {
    lgt_scalar x =
        lgt_dtype_load(r->access[k].dtype, a.data[k] + where * (size_t)lgt_dtype_size(r->access[k].dtype));
    lgt_scalar y =
        lgt_dtype_load(r->access[k].dtype, b.data[k] + where * (size_t)lgt_dtype_size(r->access[k].dtype));
    snprintf(why, room, "%lld x %lld: access %d element %zu is %llx (%g), interpreted %llx (%g)",
             (long long)rows, (long long)cols, k, where, (unsigned long long)y.u, y.f,
             (unsigned long long)x.u, x.f);
  }
  memory_free(&a);
  memory_free(&b);
  return k < 0;
}

static bool try_loop(const random_loop *r, lgt_isa isa, int shapes, char *why, size_t room) {
  compiled kernel;
  bool good = compile(&r->loop, isa, &kernel, why, room);
  for (int i = 0; good && i < shapes; i++)
    for (int form = 0; good && form < LGT_KERNEL_NFORM; form++)
      good = !kernel.code[form] || agree(r, kernel.code[form], i > 0, why, room);
  free_compiled(&kernel);
  return good;
}

static bool begin_isa(lgt_isa isa) {
  if (isa > lgt_isa_host()) {
    printf("skip %s: this CPU has no more than %s\n", lgt_isa_name(isa), lgt_isa_name(lgt_isa_host()));
    return false;
  }
  return lgt_isa_limit(lgt_isa_name(isa)) == LGT_OK;
}

static void random_loops(lgt_isa isa) {
  if (!begin_isa(isa)) return;
  for (int i = 0; i < count; i++) {
    random_loop r;
    char why[500] = "";
    uint64_t seed = first_seed + (uint64_t)i;
    random_state = seed * 0x9e3779b97f4a7c15ULL + 1;
    random_loop_make(&r, i % 4 == 0 ? 40 : 8);
    if (!try_loop(&r, isa, 4, why, sizeof why)) {
      random_loop_print(&r);
      FAIL("seed %llu on %s: %s", (unsigned long long)seed, lgt_isa_name(isa), why);
    }
  }
}

TEST(random_avx512) { random_loops(LGT_ISA_AVX512); }
TEST(random_avx2) { random_loops(LGT_ISA_AVX2); }
TEST(random_generic) { random_loops(LGT_ISA_GENERIC); }

/* One opcode on one dtype; all casts from a dtype together. */
static void make_single(random_loop *r, int op, int dtype) {
  int in[3];
  random_loop_init(r);
  in[0] = add_load(r, op == LGT_OP_SELECT ? LGT_BOOL : dtype, LGT_STRIDE_UNIT);
  for (int k = 1; k < 3; k++) in[k] = add_load(r, dtype, LGT_STRIDE_UNIT);
  bool test = op >= LGT_OP_EQ && op <= LGT_OP_SIGNBIT;
  for (int k = 0; k < (op == LGT_OP_CAST ? NREAL : 1); k++) {
    int result = op == LGT_OP_CAST ? real_dtypes[k] : test ? LGT_BOOL : dtype;
    add_store(r, add_inst(r, op, result, 0, in[0], in[1], in[2]), LGT_STRIDE_UNIT);
  }
}

static void every_opcode(lgt_isa isa) {
  if (!begin_isa(isa)) return;
  for (int op = LGT_OP_CAST; op < LGT_NOP; op++)
    for (int d = 0; d < NREAL; d++) {
      random_loop r;
      char why[500] = "";
      int dtype = real_dtypes[d];
      if (op == LGT_OP_COMPLEX || op == LGT_OP_REAL || op == LGT_OP_IMAG || !has_class(op, dtype)) continue;
      if (op == LGT_OP_PHILOX && dtype != LGT_UINT64) continue;
      random_state = (uint64_t)(op * 16 + d + 1) * 0x9e3779b97f4a7c15ULL;
      make_single(&r, op, dtype);
      if (!try_loop(&r, isa, 12, why, sizeof why)) {
        random_loop_print(&r);
        FAIL("%s of %s on %s: %s", lgt_op_name(op), lgt_dtype_name(dtype), lgt_isa_name(isa), why);
      }
    }
}

/* A long body in which each instruction waits for the one before, of so many arrays: several vectors side by side. */
static void make_chain(random_loop *r, int dtype, int loads) {
  random_loop_init(r);
  int value[6], x;
  for (int k = 0; k < loads; k++) value[k] = add_load(r, dtype, LGT_STRIDE_UNIT);
  x = value[0];
  for (int i = 0; i < 32; i++) {
    int op = dtype == LGT_BOOL ? LGT_OP_XOR : i % 2 ? LGT_OP_MUL : LGT_OP_ADD;
    x = add_inst(r, op, dtype, 0, x, value[i / 2 % loads], LGT_NO_VALUE);
  }
  add_store(r, x, LGT_STRIDE_UNIT);
}

static void chains(lgt_isa isa) {
  if (!begin_isa(isa)) return;
  for (int loads = 1; loads <= 6; loads++)
    for (int d = 0; d < NREAL; d++) {
      random_loop r;
      char why[500] = "";
      random_state = (uint64_t)(loads * 16 + d + 1) * 0x9e3779b97f4a7c15ULL;
      make_chain(&r, real_dtypes[d], loads);
      if (!try_loop(&r, isa, 12, why, sizeof why)) {
        random_loop_print(&r);
        FAIL("%d loads of %s on %s: %s", loads, lgt_dtype_name(real_dtypes[d]), lgt_isa_name(isa), why);
      }
    }
}

TEST(chains_avx512) { chains(LGT_ISA_AVX512); }
TEST(chains_avx2) { chains(LGT_ISA_AVX2); }
TEST(chains_generic) { chains(LGT_ISA_GENERIC); }

/* One reduction of each row: what a row of a matrix, or its product with a vector, comes to. */
static void row_reductions(lgt_isa isa) {
  if (!begin_isa(isa)) return;
  for (int i = 0; i < 3 * NREAL; i++) {
    random_loop r;
    char why[500] = "";
    int dtype = real_dtypes[i % NREAL];
    random_state = (uint64_t)(i + 1) * 0x9e3779b97f4a7c15ULL;
    random_loop_init(&r);
    int value = add_load(&r, dtype, LGT_STRIDE_UNIT);
    int other = i < NREAL ? value : add_load(&r, dtype, i < 2 * NREAL ? LGT_STRIDE_UNIT : LGT_STRIDE_ANY);
    if (other != value && has_class(LGT_OP_MUL, dtype))
      value = add_inst(&r, LGT_OP_MUL, dtype, 0, value, other, LGT_NO_VALUE);
    r.reduces = 2;
    add_reduction(&r, value, r.reduces);
    if (!try_loop(&r, isa, 20, why, sizeof why)) {
      random_loop_print(&r);
      FAIL("%s of %s: %s", lgt_isa_name(isa), lgt_dtype_name(dtype), why);
    }
  }
}

TEST(rows_avx512) { row_reductions(LGT_ISA_AVX512); }
TEST(rows_avx2) { row_reductions(LGT_ISA_AVX2); }
TEST(rows_generic) { row_reductions(LGT_ISA_GENERIC); }

/* Sine and cosine of the same operand are one function's: cos a, sin a, cos a once more, and sin b, cos b. */
static void sine_and_cosine(lgt_isa isa) {
  static const int dtypes[] = {LGT_FLOAT16, LGT_FLOAT32, LGT_FLOAT64};
  if (!begin_isa(isa)) return;
  for (int d = 0; d < 3; d++) {
    random_loop r;
    char why[500] = "";
    int in[2];
    random_state = (uint64_t)(d + 1) * 0x9e3779b97f4a7c15ULL;
    random_loop_init(&r);
    for (int k = 0; k < 2; k++) in[k] = add_load(&r, dtypes[d], LGT_STRIDE_UNIT);
    for (int k = 0; k < 4; k++)
      add_store(&r, add_inst(&r, k % 2 ? LGT_OP_SIN : LGT_OP_COS, dtypes[d], 0, in[k == 3], in[0], in[0]),
                LGT_STRIDE_UNIT);
    add_store(&r, add_inst(&r, LGT_OP_COS, dtypes[d], 0, in[1], in[0], in[0]), LGT_STRIDE_UNIT);
    if (!try_loop(&r, isa, 12, why, sizeof why)) {
      random_loop_print(&r);
      FAIL("%s on %s: %s", lgt_dtype_name(dtypes[d]), lgt_isa_name(isa), why);
    }
  }
}

TEST(sincos_avx512) { sine_and_cosine(LGT_ISA_AVX512); }
TEST(sincos_avx2) { sine_and_cosine(LGT_ISA_AVX2); }
TEST(sincos_generic) { sine_and_cosine(LGT_ISA_GENERIC); }

TEST(opcodes_avx512) { every_opcode(LGT_ISA_AVX512); }
TEST(opcodes_avx2) { every_opcode(LGT_ISA_AVX2); }
TEST(opcodes_generic) { every_opcode(LGT_ISA_GENERIC); }

/* A loop that MLIR refuses: a message, no crash. */
TEST(refusal) {
  random_loop r;
  char why[500] = "";
  compiled kernel;
  random_loop_init(&r);
  int a = add_load(&r, LGT_FLOAT64, LGT_STRIDE_UNIT), b = add_load(&r, LGT_INT32, LGT_STRIDE_UNIT);
  add_store(&r, add_inst(&r, LGT_OP_ADD, LGT_FLOAT64, 0, a, b, LGT_NO_VALUE), LGT_STRIDE_UNIT);
  CHECK(!compile(&r.loop, lgt_isa_host(), &kernel, why, sizeof why));
  CHECK_HAS(why, "vector<");
}

int main(int argc, char **argv) {
  if (argc < 2) return fprintf(stderr, "usage: %s MODULE [COUNT [SEED]]\n", argv[0]), 2;
  void *module = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!module) return fprintf(stderr, "%s\n", dlerror()), 2;
  emit = (lgt_emit_loop_fn *)dlsym(module, "lgt_emit_loop");
  if (!emit) return fprintf(stderr, "%s\n", dlerror()), 2;
  if (argc > 2) count = atoi(argv[2]);
  if (argc > 3) first_seed = strtoull(argv[3], NULL, 0);
  RUN(sincos_avx512);
  RUN(sincos_avx2);
  RUN(sincos_generic);
  RUN(opcodes_avx512);
  RUN(opcodes_avx2);
  RUN(opcodes_generic);
  RUN(chains_avx512);
  RUN(chains_avx2);
  RUN(chains_generic);
  RUN(rows_avx512);
  RUN(rows_avx2);
  RUN(rows_generic);
  RUN(random_avx512);
  RUN(random_avx2);
  RUN(random_generic);
  RUN(refusal);
  return check_done();
}
