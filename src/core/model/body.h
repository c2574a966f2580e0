/* body.h - generators: scalar programs that say what a task does to one element.
 *
 * A body is a list of instructions in SSA form.  An instruction's number is its value's name;
 * operands refer to earlier instructions.  Memory is touched by slots only: in the body of a task
 * kind a slot is an argument, in a loop (loop.h) a slot is an access.  The same instruction set
 * serves both: fusing means concatenating bodies and renaming slots.
 *
 * Two back ends give it meaning, the interpreter (interp.c) and the compiler (emit.c), and they must
 * agree bit for bit.  So the meaning of every opcode is stated here:
 *
 *   - Arithmetic is done in the instruction's dtype, operation by operation: no contraction to fma,
 *     no reassociation, no excess precision (float16 rounds after each operation).  Operands of
 *     arithmetic have the instruction's dtype; a comparison's operands agree with each other.
 *   - Integers wrap.  FLOORDIV and MOD follow Python (the remainder has the divisor's sign); DIV truncates
 *     and FMOD is its remainder, as in C.  Division by zero gives 0 and so does its remainder; MIN / -1
 *     gives MIN.  Float FLOORDIV and MOD are NumPy's, float FMOD is C's.  helper.h has the details of all
 *     of these, and of integer POW (lgt_helper_<op>_<type>).
 *   - A shift's distance is taken as unsigned; by the width or more it gives 0, or the sign for SHR of a
 *     signed type.
 *   - MAX(a,b) = a > b || isnan(a) ? a : b, MIN likewise with <: NaN wins.  FMAX and FMIN drop NaN:
 *     FMAX(a,b) = a > b || isnan(b) ? a : b.
 *   - SIGN gives -1, 0, 1, or NaN for NaN.  RINT rounds half to even.
 *   - Elementary functions are lgt's own (elementary.h), the same bits on every instruction set: float64 within 1 ulp
 *     (POW and LGAMMA 2), float32 and float16 correctly rounded.  SQRT is exact.  POWER is within 1 ulp, too.
 *   - CAST from float to integer truncates; NaN and out-of-range values give the smallest value of
 *     int64 (respectively int32 for int32 and the narrower types), cut to the width.  To bool: x != 0.
 *     To uint64, values from 2^63 up to 2^64 are kept.  To a float, rounding is to nearest even, once
 *     (float64 to float16 must not round twice: half.h shows how).  Complex to real drops the
 *     imaginary part.
 *   - A bool in memory is true if its byte is not 0; lgt writes 0 and 1.
 *   - Which NaN comes out of an operation (sign, payload) is not specified.
 *   - PHILOX is Philox4x32-10 (Salmon et al., SC'11) with counter (lo32(a), hi32(a), 0, 0) and key
 *     (lo32(b), hi32(b)); its value is word0 | word1 << 32.
 *
 * Pairs (the complex dtypes and range) exist in bodies of kinds; lgt_body_lower_complex rewrites them
 * into their parts before a loop is built, so that no back end ever sees them.  A PARAM has aux 0, or 1
 * for the second half of the scalar (c[1], range[1]), as lowering makes it for a pair's second part.
 */
#ifndef LGT_BODY_H
#define LGT_BODY_H

#include "base/dtype.h"
#include "base/err.h"
#include "lgt_binding.h"

/* enumerator, name, number of operands, classes that an operand may have: b bool, i signed, u unsigned,
 * f float, c complex, r range.  Values are the operands that count: a condition, a slot, a position or
 * an index has its own fixed type.  What the dtype of the instruction must be:
 *   most            that of the operands, which agree
 *   CAST            anything but range; ABS, REAL, IMAG of a pair: the type of its parts
 *   COMPLEX         the pair of which the operands are the parts
 *   comparisons and tests: bool
 *   INDEX           int64; PHILOX: uint64 */
/* clang-format off */
#define LGT_OP_LIST(X)                                                                             \
  /* leaves: a is the slot, the constant, the parameter, the dimension */                          \
  X(LOAD, load, 0, "biufcr") X(CONST, const, 0, "biufcr") X(PARAM, param, 0, "biufcr")             \
  X(INDEX, index, 0, "i")                                                                          \
  /* effects; STORE: a value, b slot.  REDUCE: a value, b slot, aux redop | fresh.                 \
     REDUCE_ARG: a value, b slot of the value (b + 1: of the position), c position */              \
  X(STORE, store, 1, "biufcr") X(REDUCE, reduce, 1, "biufc") X(REDUCE_ARG, reduce_arg, 2, "biuf")  \
  X(CAST, cast, 1, "biufc")                                                                        \
  /* a ? b : c, where a is a bool */                                                               \
  X(SELECT, select, 3, "biufcr")                                                                   \
  /* arithmetic */                                                                                 \
  X(ADD, add, 2, "iufc") X(SUB, sub, 2, "iufc") X(MUL, mul, 2, "iufc") X(DIV, div, 2, "iufc")      \
  X(FLOORDIV, floordiv, 2, "iuf") X(MOD, mod, 2, "iuf") X(FMOD, fmod, 2, "iuf")                    \
  X(POW, pow, 2, "iufc") X(MIN, min, 2, "biuf") X(MAX, max, 2, "biuf") X(FMIN, fmin, 2, "biuf")    \
  X(FMAX, fmax, 2, "biuf") X(ATAN2, atan2, 2, "f") X(HYPOT, hypot, 2, "f")                         \
  X(COPYSIGN, copysign, 2, "f") X(NEG, neg, 1, "iufc") X(ABS, abs, 1, "iufc") X(SIGN, sign, 1, "iuf") \
  /* bits and logic; on bool they are logical */                                                   \
  X(AND, and, 2, "biu") X(OR, or, 2, "biu") X(XOR, xor, 2, "biu") X(NOT, not, 1, "biu")            \
  X(SHL, shl, 2, "iu") X(SHR, shr, 2, "iu")                                                        \
  /* comparisons and tests, dtype bool */                                                          \
  X(EQ, eq, 2, "biufcr") X(NE, ne, 2, "biufcr") X(LT, lt, 2, "biuf") X(LE, le, 2, "biuf")          \
  X(GT, gt, 2, "biuf") X(GE, ge, 2, "biuf") X(ISNAN, isnan, 1, "fc") X(ISINF, isinf, 1, "fc")      \
  X(ISFINITE, isfinite, 1, "fc") X(SIGNBIT, signbit, 1, "f")                                       \
  /* rounding and roots */                                                                         \
  X(FLOOR, floor, 1, "f") X(CEIL, ceil, 1, "f") X(TRUNC, trunc, 1, "f") X(RINT, rint, 1, "f")      \
  X(SQRT, sqrt, 1, "fc")                                                                           \
  /* transcendental */                                                                             \
  X(CBRT, cbrt, 1, "f") X(EXP, exp, 1, "fc") X(EXP2, exp2, 1, "f") X(EXP10, exp10, 1, "f")         \
  X(EXPM1, expm1, 1, "f") X(LOG, log, 1, "fc") X(LOG2, log2, 1, "fc") X(LOG10, log10, 1, "fc")     \
  X(LOG1P, log1p, 1, "f") X(SIN, sin, 1, "fc") X(COS, cos, 1, "fc") X(TAN, tan, 1, "fc")           \
  X(ASIN, asin, 1, "f") X(ACOS, acos, 1, "f") X(ATAN, atan, 1, "f") X(SINH, sinh, 1, "fc")         \
  X(COSH, cosh, 1, "fc") X(TANH, tanh, 1, "fc") X(ASINH, asinh, 1, "f") X(ACOSH, acosh, 1, "f")    \
  X(ATANH, atanh, 1, "f") X(ERF, erf, 1, "f") X(ERFC, erfc, 1, "f")                                \
  X(LGAMMA, lgamma, 1, "f") X(TGAMMA, tgamma, 1, "f")                                              \
  /* a to the power aux (int8_t), made of POW by lgt_build_op */                                    \
  X(POWER, power, 1, "f")                                                                          \
  /* pairs, gone after lowering: a complex number or a range from two parts, and back */           \
  X(COMPLEX, complex, 2, "if") X(REAL, real, 1, "cr") X(IMAG, imag, 1, "cr")                       \
  X(PHILOX, philox, 2, "u")
/* clang-format on */

/* clang-format off */
typedef enum lgt_op {
#define X(NAME, name, arity, classes) LGT_OP_##NAME,
  LGT_OP_LIST(X)
#undef X
  LGT_NOP
} lgt_op;
/* clang-format on */

/* Reduction operators: enumerator, name, classes of values.  SUM and PROD add and multiply; MIN, MAX, AND,
 * OR, XOR are the opcodes of that name; ARGMIN and ARGMAX keep the best value and the lowest position where
 * it is found (a NaN is better than any number, so the first one wins). */
/* clang-format off */
#define LGT_REDOP_LIST(X)                                                                          \
  X(SUM, sum, "iufc") X(PROD, prod, "iuf") X(MIN, min, "biuf") X(MAX, max, "biuf")                 \
  X(AND, and, "biu") X(OR, or, "biu") X(XOR, xor, "biu")                                           \
  X(ARGMIN, argmin, "biuf") X(ARGMAX, argmax, "biuf")
/* clang-format on */

/* clang-format off */
typedef enum lgt_redop_id {
#define X(NAME, name, classes) LGT_REDOP_##NAME,
  LGT_REDOP_LIST(X)
#undef X
  LGT_NREDOP
} lgt_redop_id;
/* clang-format on */

#define LGT_REDUCE_FRESH 0x80 /* in aux of REDUCE: the target's former contents take no part */
#define LGT_NO_VALUE     0xffff

/* POWER: aux is a whole exponent from 3 or from -2 to LGT_POWER_MOST either way (others take one operation), or this for
 * 1/2, or its negative for -1/2. */
enum { LGT_POWER_MOST = 64, LGT_POWER_ROOT = 100 };

typedef struct lgt_inst {
  uint8_t op;       /* lgt_op */
  uint8_t dtype;    /* of the value; of the element for effects */
  uint8_t aux;      /* REDUCE, REDUCE_ARG: redop, perhaps | LGT_REDUCE_FRESH.  PARAM: 0 or 1, which half.  POWER: the
                    exponent */
  uint8_t pad;      /* 0: instructions are compared and hashed as bytes */
  uint16_t a, b, c; /* operands; LGT_NO_VALUE where unused.  CONST, PARAM: a is the index.
                       INDEX in a kind's body: a is the dimension, or LGT_NO_VALUE for the C-order position */
} lgt_inst;

#define LGT_MAX_INST       4096 /* in a body or a loop */
#define LGT_MAX_REDUCTIONS 16   /* likewise; those of complex numbers count twice */

struct lgt_body {
  int ninst, nconst;
  int inst_room, const_room;
  lgt_inst *inst;       /* owned */
  lgt_scalar *constant; /* owned */
  int nslot;            /* 1 + greatest slot */
  int nparam;           /* 1 + greatest parameter */
  lgt_status failed;    /* of the first append through lgt.h that failed, ... */
  char *why;            /* owned; ... and its message, NULL when out of memory */
};

const char *lgt_op_name(int op);
int lgt_op_arity(int op);
/* Does it change an argument, instead of giving a value? */
static inline bool lgt_op_effect(int op) { return op == LGT_OP_STORE || op == LGT_OP_REDUCE || op == LGT_OP_REDUCE_ARG; }
const char *lgt_op_classes(int op); /* as in LGT_OP_LIST */
const char *lgt_redop_name(int redop);
/* The operator that folds two elements; not of redops that keep positions. */
int lgt_redop_op(int redop);
/* The values that an instruction takes, in the order of the list above; returns how many. */
int lgt_inst_operands(const lgt_inst *inst, uint16_t operand[3]);
void lgt_inst_set_operands(lgt_inst *inst, const uint16_t operand[3]);
static inline int lgt_inst_power(const lgt_inst *inst) { return (int8_t)inst->aux; }
static inline int lgt_inst_redop(const lgt_inst *inst) { return inst->aux & ~LGT_REDUCE_FRESH; }
/* The value that leaves others unchanged: 0 for sum, +inf or the greatest integer for min, ....  The
 * position that belongs to argmin's and argmax's is INT64_MAX. */
lgt_scalar lgt_redop_identity(int redop, int dtype);

/* The numbers of an opcode and of a reduction operator by name; -1: unknown. */
int lgt_opcode(const char *name);
int lgt_redop(const char *name);

/* As the functions lgt_body_... of lgt.h, which stand upon these; but values are the numbers of instructions, from 0, and -1 is
 * no value: then there is a message.  So are effects. */
lgt_body *lgt_build_new(void); /* NULL when out of memory */
int lgt_build_op(lgt_body *body, int opcode, int dtype, int a, int b, int c);
int lgt_build_const(lgt_body *body, int dtype, lgt_scalar value);
int lgt_build_param(lgt_body *body, int dtype, int index);
int lgt_build_load(lgt_body *body, int dtype, int arg);
int lgt_build_index(lgt_body *body, int dim);
int lgt_build_store(lgt_body *body, int arg, int value);
int lgt_build_reduce(lgt_body *body, int arg, int redop, int value, int fresh);
int lgt_build_reduce_arg(lgt_body *body, int arg, int redop, int value, int index);

/* A copy of an instruction on values of another body; a, b, c are its operands in this one. */
int lgt_body_copy(lgt_body *body, const lgt_inst *inst, int a, int b, int c);
/* Checks operands, dtypes and slots; a status with a message on the first mistake.  Every slot below nslot
 * is used, with one dtype; it is stored at most once, and a slot that is reduced is used for nothing else. */
lgt_status lgt_body_verify(const lgt_body *body);
/* A new body without complex values: slot s of a pair becomes slots part[s] and part[s] + 1 for its first
 * and second (real and imaginary) parts, any other slot becomes part[s]; the order of slots is kept.  *part is
 * an array of nslot first slots, owned by the caller (lgt_mem_free).  The body is one that lgt_body_verify
 * accepts; UNSUPPORTED where an opcode has no complex form. */
lgt_status lgt_body_lower_complex(const lgt_body *body, lgt_body **out, int **part);
/* One line an instruction, for tests and debuggers. */
void lgt_body_print(const lgt_body *body, char *text, size_t room);

#endif
