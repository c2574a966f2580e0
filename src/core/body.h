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
 *   - Integers wrap.  FLOORDIV and MOD follow Python (the remainder has the divisor's sign); by
 *     zero they give 0, and MIN / -1 gives MIN.  The details, of DIV, FMOD and integer POW too, are in
 *     helper.h (lgt_helper_<op>_<type>), where both back ends find them.  A shift by the width or more gives 0, or the sign
 *     for SHR of a signed type.
 *   - MAX(a,b) = a > b || isnan(a) ? a : b, MIN likewise with <: NaN wins.  FMAX and FMIN drop NaN:
 *     FMAX(a,b) = a > b || isnan(b) ? a : b.
 *   - SIGN gives -1, 0, 1, or NaN for NaN.  RINT rounds half to even.
 *   - Transcendental functions of float64 and float32 are those of glibc's libmvec for the widest
 *     vectors of the host, in the main loop and in the remainder alike (8 doubles or 16 floats with
 *     AVX-512, 4 and 8 with AVX2): lgt_helper_math of helper.h.  SQRT is exact.  float16 goes
 *     through float32.
 *   - CAST from float to integer truncates; NaN and out-of-range values give the smallest value of
 *     int64 (respectively int32 for int32 and the narrower types), cut to the width.  To bool: x != 0.
 *   - PHILOX is Philox4x32-10 (Salmon et al., SC'11) with counter (lo32(a), hi32(a), 0, 0) and key
 *     (lo32(b), hi32(b)); its value is word0 | word1 << 32.
 *
 * Complex dtypes exist in bodies of kinds; lgt_body_lower_complex rewrites them into real ones
 * before a loop is built, so that no back end ever sees them.
 */
#ifndef LGT_BODY_H
#define LGT_BODY_H

#include "dtype.h"
#include "err.h"
#include "lgt.h"

/* name, number of operands */
#define LGT_OP_LIST(X)                                                                             \
  /* leaves; LOAD and INDEX: aux is unused, a is a slot */                                         \
  X(LOAD, load, 0) X(CONST, const, 0) X(PARAM, param, 0) X(INDEX, index, 0)                        \
  /* effects; STORE: a value, b slot.  REDUCE: a value, b slot, aux redop | fresh.                 \
     REDUCE_ARG: a value, b slot of the value (b + 1: of the position), c position */              \
  X(STORE, store, 1) X(REDUCE, reduce, 1) X(REDUCE_ARG, reduce_arg, 2)                             \
  X(CAST, cast, 1) X(SELECT, select, 3)                                                            \
  /* arithmetic */                                                                                 \
  X(ADD, add, 2) X(SUB, sub, 2) X(MUL, mul, 2) X(DIV, div, 2) X(FLOORDIV, floordiv, 2)             \
  X(MOD, mod, 2) X(FMOD, fmod, 2) X(POW, pow, 2) X(MIN, min, 2) X(MAX, max, 2) X(FMIN, fmin, 2)    \
  X(FMAX, fmax, 2) X(ATAN2, atan2, 2) X(HYPOT, hypot, 2) X(COPYSIGN, copysign, 2)                  \
  X(NEG, neg, 1) X(ABS, abs, 1) X(SIGN, sign, 1)                                                   \
  /* bits and logic; on bool they are logical */                                                   \
  X(AND, and, 2) X(OR, or, 2) X(XOR, xor, 2) X(NOT, not, 1) X(SHL, shl, 2) X(SHR, shr, 2)          \
  /* comparisons and tests, dtype bool */                                                          \
  X(EQ, eq, 2) X(NE, ne, 2) X(LT, lt, 2) X(LE, le, 2) X(GT, gt, 2) X(GE, ge, 2)                    \
  X(ISNAN, isnan, 1) X(ISINF, isinf, 1) X(ISFINITE, isfinite, 1) X(SIGNBIT, signbit, 1)            \
  /* rounding and roots */                                                                         \
  X(FLOOR, floor, 1) X(CEIL, ceil, 1) X(TRUNC, trunc, 1) X(RINT, rint, 1) X(SQRT, sqrt, 1)         \
  /* transcendental */                                                                             \
  X(CBRT, cbrt, 1) X(EXP, exp, 1) X(EXP2, exp2, 1) X(EXP10, exp10, 1) X(EXPM1, expm1, 1)           \
  X(LOG, log, 1) X(LOG2, log2, 1) X(LOG10, log10, 1) X(LOG1P, log1p, 1)                            \
  X(SIN, sin, 1) X(COS, cos, 1) X(TAN, tan, 1) X(ASIN, asin, 1) X(ACOS, acos, 1) X(ATAN, atan, 1)  \
  X(SINH, sinh, 1) X(COSH, cosh, 1) X(TANH, tanh, 1) X(ASINH, asinh, 1) X(ACOSH, acosh, 1)         \
  X(ATANH, atanh, 1) X(ERF, erf, 1) X(ERFC, erfc, 1)                                               \
  /* complex, gone after lowering: a complex from two reals, and back */                           \
  X(COMPLEX, complex, 2) X(REAL, real, 1) X(IMAG, imag, 1)                                         \
  X(PHILOX, philox, 2)

typedef enum lgt_op {
#define X(NAME, name, arity) LGT_OP_##NAME,
  LGT_OP_LIST(X)
#undef X
  LGT_NOP
} lgt_op;

/* Reduction operators.  SUM and PROD add and multiply; MIN, MAX, AND, OR, XOR are the opcodes of
 * that name; ARGMIN and ARGMAX keep the best value and the lowest position where it is found (the
 * first NaN wins). */
#define LGT_REDOP_LIST(X) \
  X(SUM, sum) X(PROD, prod) X(MIN, min) X(MAX, max) X(AND, and) X(OR, or) X(XOR, xor) \
  X(ARGMIN, argmin) X(ARGMAX, argmax)

typedef enum lgt_redop_id {
#define X(NAME, name) LGT_REDOP_##NAME,
  LGT_REDOP_LIST(X)
#undef X
  LGT_NREDOP
} lgt_redop_id;

#define LGT_REDUCE_FRESH 0x80 /* in aux of REDUCE: the target's former contents take no part */
#define LGT_NO_VALUE 0xffff

typedef struct lgt_inst {
  uint8_t op;    /* lgt_op */
  uint8_t dtype; /* of the value; of the element for effects */
  uint8_t aux;   /* REDUCE: redop, perhaps | LGT_REDUCE_FRESH */
  uint8_t pad;   /* 0: instructions are compared and hashed as bytes */
  uint16_t a, b, c; /* operands; LGT_NO_VALUE where unused.  CONST, PARAM: a is the index.
                       INDEX in a kind's body: a is the dimension, or LGT_NO_VALUE for the C-order position */
} lgt_inst;

struct lgt_body {
  int ninst, nconst;
  int inst_room, const_room;
  lgt_inst *inst;       /* owned */
  lgt_scalar *constant; /* owned */
  int nslot;            /* 1 + greatest slot */
  int nparam;           /* 1 + greatest parameter */
};

const char *lgt_op_name(int op);
int lgt_op_arity(int op);
const char *lgt_redop_name(int redop);
/* The value that leaves others unchanged: 0 for sum, +inf or the greatest integer for min, .... */
lgt_scalar lgt_redop_identity(int redop, int dtype);

/* Checks operands, dtypes and slots; a status with a message on the first mistake. */
lgt_status lgt_body_verify(const lgt_body *body);
/* A new body without complex values: slot s of a complex argument becomes slots part[s] = (s', s'+1)
 * for its real and imaginary parts.  *part is an array of nslot first slots, owned by the caller. */
lgt_status lgt_body_lower_complex(const lgt_body *body, lgt_body **out, int **part);
/* One line an instruction, for LGT_DEBUG. */
void lgt_body_print(const lgt_body *body, char *text, size_t room);

#endif
