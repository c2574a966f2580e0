/* test_body.c - building, checking and printing generators. */
#include <limits.h>
#include <math.h>

#include "model/body.h"
#include "check.h"
#include "base/mem.h"

TEST(names) {
  CHECK_EQ(lgt_opcode("add"), LGT_OP_ADD);
  CHECK_EQ(lgt_opcode("philox"), LGT_OP_PHILOX);
  CHECK_EQ(lgt_opcode("addd"), -1);
  CHECK_EQ(lgt_redop("argmax"), LGT_REDOP_ARGMAX);
  CHECK_EQ(lgt_redop("mean"), -1);
  for (int op = 0; op < LGT_NOP; op++) CHECK_EQ(lgt_opcode(lgt_op_name(op)), op);
  for (int redop = 0; redop < LGT_NREDOP; redop++) CHECK_EQ(lgt_redop(lgt_redop_name(redop)), redop);
  CHECK_EQ(lgt_op_arity(LGT_OP_SELECT), 3);
}

TEST(identities) {
  CHECK_EQ(lgt_redop_identity(LGT_REDOP_SUM, LGT_INT32).i, 0);
  CHECK(lgt_redop_identity(LGT_REDOP_PROD, LGT_FLOAT32).f == 1);
  CHECK_EQ(lgt_redop_identity(LGT_REDOP_PROD, LGT_INT8).i, 1);
  CHECK(lgt_redop_identity(LGT_REDOP_MIN, LGT_FLOAT16).f == INFINITY);
  CHECK(lgt_redop_identity(LGT_REDOP_ARGMAX, LGT_FLOAT64).f == -INFINITY);
  CHECK_EQ(lgt_redop_identity(LGT_REDOP_MIN, LGT_INT16).i, 32767);
  CHECK_EQ(lgt_redop_identity(LGT_REDOP_MAX, LGT_INT64).i, INT64_MIN);
  CHECK_EQ(lgt_redop_identity(LGT_REDOP_MIN, LGT_UINT8).u, 255);
  CHECK_EQ(lgt_redop_identity(LGT_REDOP_MAX, LGT_UINT64).u, 0);
  CHECK_EQ(lgt_redop_identity(LGT_REDOP_AND, LGT_INT32).i, -1);
  CHECK_EQ(lgt_redop_identity(LGT_REDOP_AND, LGT_UINT16).u, 65535);
  CHECK_EQ(lgt_redop_identity(LGT_REDOP_AND, LGT_BOOL).i, 1);
  CHECK_EQ(lgt_redop_identity(LGT_REDOP_XOR, LGT_UINT16).u, 0);
}

TEST(a_body_is_built_and_printed) {
  lgt_body *body = lgt_build_new();
  int x = lgt_build_load(body, LGT_FLOAT64, 0), y = lgt_build_load(body, LGT_FLOAT64, 1);
  int a = lgt_build_param(body, LGT_FLOAT64, 0),
      c = lgt_build_const(body, LGT_FLOAT64, (lgt_scalar){.f = 0.5});
  int z = lgt_build_op(body, LGT_OP_MUL, LGT_FLOAT64, a, x, -1);
  int less = lgt_build_op(body, LGT_OP_LT, LGT_BOOL, z, y, 99);
  int s = lgt_build_op(body, LGT_OP_SELECT, LGT_FLOAT64, less, c, z);
  int i = lgt_build_index(body, -1);
  CHECK(lgt_build_store(body, 2, s) >= 0);
  CHECK(lgt_build_reduce(body, 3, LGT_REDOP_SUM, z, 1) >= 0);
  CHECK(lgt_build_reduce_arg(body, 4, LGT_REDOP_ARGMIN, z, i) >= 0);
  CHECK_EQ(body->nslot, 6);
  CHECK_EQ(body->nparam, 1);
  CHECK_EQ(body->inst[less].c, LGT_NO_VALUE);
  CHECK_EQ(lgt_body_verify(body), LGT_OK);
  char text[1000], cut[40];
  lgt_body_print(body, text, sizeof text);
  CHECK_TEXT(text,
             "%0 = load float64 $0\n%1 = load float64 $1\n%2 = param float64 0\n%3 = const float64 0.5\n"
             "%4 = mul float64 %2, %0\n%5 = lt bool %4, %1\n%6 = select float64 %5, %3, %4\n%7 = index -1\n"
             "store float64 $2, %6\nreduce float64 sum fresh $3, %4\n"
             "reduce_arg float64 argmin fresh $4, $5, %4, %7\n");
  lgt_body_print(body, cut, sizeof cut);
  CHECK_TEXT(cut, "%0 = load float64 $0\n");
  lgt_body_free(body);
}

/* Each call fails and says why; the body stays as it was. */
TEST(mistakes_raise_where_they_are_made) {
  lgt_body *body = lgt_build_new();
  int x = lgt_build_load(body, LGT_FLOAT64, 0), n = lgt_build_load(body, LGT_INT64, 1),
      z = lgt_build_load(body, LGT_COMPLEX64, 2);
  int b = lgt_build_load(body, LGT_BOOL, 3), f = lgt_build_load(body, LGT_FLOAT32, 4);
  int stored = lgt_build_store(body, 5, x), ninst = body->ninst;
#define REFUSED(call, words)       \
  CHECK_EQ(call, -1);              \
  CHECK_HAS(lgt_message(), words); \
  CHECK_EQ(body->ninst, ninst);
  REFUSED(lgt_build_op(body, LGT_OP_ADD, LGT_FLOAT64, x, n, -1),
          "add: the operands %0 and %1 are float64 and int64; cast");
  REFUSED(lgt_build_op(body, LGT_OP_ADD, LGT_FLOAT32, x, x, -1), "add has dtype float64 here, not float32");
  REFUSED(lgt_build_op(body, LGT_OP_ADD, LGT_FLOAT64, x, 77, -1),
          "add: operand %77 does not exist; there are 6 values");
  REFUSED(lgt_build_op(body, LGT_OP_ADD, LGT_FLOAT64, x, -1, -1),
          "add: an operand is missing or is no value; it takes 2");
  REFUSED(lgt_build_op(body, LGT_OP_ADD, LGT_FLOAT64, x, INT_MAX, -1), "add: an operand is missing");
  REFUSED(lgt_build_op(body, LGT_OP_NEG, LGT_FLOAT64, stored, -1, -1),
          "operand %5 is a store, which has no value");
  REFUSED(lgt_build_op(body, LGT_OP_NEG, 99, x, -1, -1), "99 is not an element type");
  REFUSED(lgt_build_op(body, 250, LGT_FLOAT64, x, x, -1), "250 is not an opcode");
  REFUSED(lgt_build_op(body, LGT_OP_STORE, LGT_FLOAT64, x, 1, -1), "store is not an operation on values");
  REFUSED(lgt_build_op(body, LGT_OP_EXP, LGT_INT64, n, -1, -1),
          "exp is not defined for int64, only for: floats, complex");
  REFUSED(lgt_build_op(body, LGT_OP_ADD, LGT_BOOL, b, b, -1), "add is not defined for bool");
  REFUSED(lgt_build_op(body, LGT_OP_LT, LGT_BOOL, z, z, -1), "lt is not defined for complex64");
  REFUSED(lgt_build_op(body, LGT_OP_LT, LGT_FLOAT64, x, x, -1), "lt has dtype bool here, not float64");
  REFUSED(lgt_build_op(body, LGT_OP_SELECT, LGT_FLOAT64, x, x, x), "the condition %0 is float64; bool");
  REFUSED(lgt_build_op(body, LGT_OP_SELECT, LGT_FLOAT64, b, x, n),
          "the operands %0 and %1 are float64 and int64");
  REFUSED(lgt_build_op(body, LGT_OP_ABS, LGT_COMPLEX64, z, -1, -1), "abs has dtype float32 here");
  REFUSED(lgt_build_op(body, LGT_OP_REAL, LGT_FLOAT64, z, -1, -1), "real has dtype float32 here");
  REFUSED(lgt_build_op(body, LGT_OP_COMPLEX, LGT_COMPLEX128, f, f, -1),
          "no complex128 has parts of type float32");
  REFUSED(lgt_build_op(body, LGT_OP_COMPLEX, LGT_FLOAT32, f, f, -1), "no float32 has parts");
  REFUSED(lgt_build_op(body, LGT_OP_PHILOX, LGT_UINT64, n, n, -1), "philox is not defined for int64");
  REFUSED(lgt_build_op(body, LGT_OP_CAST, LGT_RANGE, x, -1, -1), "cast has dtype float64 here, not range");
  REFUSED(lgt_build_index(body, 6), "dimension 7: 1 to 6 was expected");
  REFUSED(lgt_build_param(body, LGT_FLOAT64, -1), "param -1");
  REFUSED(lgt_build_load(body, LGT_FLOAT64, -1), "argument 0: 1 to 256");
  REFUSED(lgt_build_load(body, LGT_NDTYPE, 0), "15 is not an element type");
  REFUSED(lgt_build_store(body, 300, x), "argument 301");
  REFUSED(lgt_build_store(body, 7, 12), "store: operand %12 does not exist");
  REFUSED(lgt_build_reduce(body, 7, LGT_REDOP_SUM, b, 0), "reduce sum is not defined for bool");
  REFUSED(lgt_build_reduce(body, 7, LGT_REDOP_PROD, z, 0), "reduce prod is not defined for complex64");
  REFUSED(lgt_build_reduce(body, 7, LGT_REDOP_XOR, x, 0), "reduce xor is not defined for float64");
  REFUSED(lgt_build_reduce(body, 7, LGT_REDOP_ARGMIN, x, 0), "argmin is not an operator for reduce");
  REFUSED(lgt_build_reduce(body, 7, -1, x, 0), "not a reduction operator");
  REFUSED(lgt_build_reduce_arg(body, 7, LGT_REDOP_SUM, x, n), "sum is not an operator for reduce_arg");
  REFUSED(lgt_build_reduce_arg(body, 7, LGT_REDOP_ARGMAX, x, x), "the position of argmax is float64; int64");
  CHECK_EQ(body->nslot, 6);
  CHECK_EQ(body->nparam, 0);
  CHECK_EQ(lgt_body_verify(body), LGT_OK);
  lgt_body_free(body);
}

/* Mistakes that only the whole body shows. */
TEST(verify_sees_slots) {
#define BODY(what, words)                                                                 \
  do {                                                                                    \
    lgt_body *body = lgt_build_new();                                                     \
    int x = lgt_build_load(body, LGT_FLOAT64, 0), i = lgt_build_load(body, LGT_INT64, 1); \
    (void)x, (void)i;                                                                     \
    what;                                                                                 \
    lgt_status status = lgt_body_verify(body);                                            \
    lgt_body_free(body);                                                                  \
    if (!*words) CHECK_EQ(status, LGT_OK);                                                \
    else CHECK(status < 0);                                                               \
    if (*words) CHECK_HAS(lgt_message(), words);                                          \
  } while (0)
  BODY(lgt_build_store(body, 2, x), "");
  BODY(lgt_build_store(body, 0, x), ""); /* in place */
  BODY(lgt_build_store(body, 0, i), "argument 1 is used as float64 and as int64");
  BODY(lgt_build_store(body, 2, x); lgt_build_store(body, 2, x), "argument 3 is stored twice");
  BODY(lgt_build_store(body, 3, x), "argument 3 is neither loaded nor stored");
  BODY(lgt_build_reduce(body, 0, LGT_REDOP_SUM, x, 0), "argument 1 is reduced; nothing else");
  BODY(lgt_build_reduce(body, 2, LGT_REDOP_SUM, x, 0);
       lgt_build_load(body, LGT_FLOAT64, 2), "argument 3 is reduced");
  BODY(lgt_build_reduce_arg(body, 2, LGT_REDOP_ARGMIN, x, i), "");
  BODY(lgt_build_reduce_arg(body, 2, LGT_REDOP_ARGMIN, x, i);
       lgt_build_store(body, 3, i), "argument 4 is reduced");
  /* Damage that the builder would have refused. */
  BODY(body->inst[1].dtype = 77, "instruction %1: 77 is not an element type");
  BODY(lgt_build_op(body, LGT_OP_NEG, LGT_FLOAT64, x, -1, -1);
       body->inst[2].a = 2, "operand %2 does not exist");
  BODY(lgt_build_const(body, LGT_FLOAT64, (lgt_scalar){.f = 1}); body->nconst = 0, "const 0 does not exist");
  BODY(lgt_build_param(body, LGT_FLOAT64, 0); body->inst[2].aux = 2, "param 0 does not exist");
  BODY(body->inst[1].a = 9, "argument 10 does not exist; the body has 2");
}

TEST(constants_are_comparable_as_bytes) {
  lgt_body *body = lgt_build_new();
  lgt_build_const(body, LGT_FLOAT64, (lgt_scalar){.c = {1, 2}});
  lgt_build_const(body, LGT_COMPLEX128, (lgt_scalar){.c = {1, 2}});
  CHECK(body->constant[0].c[1] == 0);
  CHECK(body->constant[1].c[1] == 2);
  lgt_body_free(body);
}

TEST(a_body_has_a_limit) {
  lgt_body *body = lgt_build_new();
  int x = lgt_build_load(body, LGT_FLOAT64, 0);
  for (int i = 1; i < LGT_MAX_INST; i++) CHECK_EQ(lgt_build_op(body, LGT_OP_NEG, LGT_FLOAT64, x, -1, -1), i);
  CHECK_EQ(lgt_build_op(body, LGT_OP_NEG, LGT_FLOAT64, x, -1, -1), -1);
  CHECK_HAS(lgt_message(), "at most 4096 instructions");
  lgt_body_free(body);
}

TEST(out_of_memory_is_an_error) {
  int64_t live = lgt_mem_live();
  lgt_mem_fail_at(1);
  CHECK(!lgt_build_new());
  lgt_body *body = lgt_build_new();
  lgt_mem_fail_at(1);
  CHECK_EQ(lgt_build_load(body, LGT_FLOAT64, 0), -1);
  CHECK_HAS(lgt_message(), "out of memory");
  lgt_mem_fail_at(1);
  CHECK_EQ(lgt_build_const(body, LGT_FLOAT64, (lgt_scalar){.f = 0}), -1);
  CHECK_EQ(body->nconst + body->ninst + body->nslot, 0);
  CHECK_EQ(lgt_build_load(body, LGT_FLOAT64, 0), 0);
  lgt_mem_fail_at(1);
  CHECK_EQ(lgt_body_verify(body), LGT_NO_MEMORY);
  lgt_mem_fail_at(0);
  lgt_body_free(body);
  CHECK_EQ(lgt_mem_live(), live);
}

int main(void) {
  RUN(names);
  RUN(identities);
  RUN(a_body_is_built_and_printed);
  RUN(mistakes_raise_where_they_are_made);
  RUN(verify_sees_slots);
  RUN(constants_are_comparable_as_bytes);
  RUN(a_body_has_a_limit);
  RUN(out_of_memory_is_an_error);
  return check_done();
}
