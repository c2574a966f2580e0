/* elementary_list.h - which opcodes are elementary functions. */
#ifndef LGT_ELEMENTARY_LIST_H
#define LGT_ELEMENTARY_LIST_H

/* A line a header: enumerator, name, number of operands. */
#define LGT_MATH_LIST(X)                                                                           \
  X(EXP, exp, 1) X(EXP2, exp2, 1) X(EXP10, exp10, 1)                                               \
  X(LOG, log, 1) X(LOG2, log2, 1) X(LOG10, log10, 1) X(LOG1P, log1p, 1)                            \
  X(LGAMMA, lgamma, 1) X(TGAMMA, tgamma, 1)                                                        \
  X(ASINH, asinh, 1) X(ACOSH, acosh, 1) X(ATANH, atanh, 1)                                         \
  X(POW, pow, 2) X(CBRT, cbrt, 1) X(HYPOT, hypot, 2)                                               \
  X(SIN, sin, 1) X(COS, cos, 1) X(TAN, tan, 1)                                                     \
  X(EXPM1, expm1, 1) X(SINH, sinh, 1) X(COSH, cosh, 1) X(TANH, tanh, 1)                            \
  X(ASIN, asin, 1) X(ACOS, acos, 1) X(ATAN, atan, 1) X(ATAN2, atan2, 2)                            \
  X(ERF, erf, 1) X(ERFC, erfc, 1)

#endif
