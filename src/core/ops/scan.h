/* scan.h - one step of combining elements, for scans (scan.c) and for scatters that accumulate (gather.c).
 *
 * The operations are those of body.h on each dtype, the result rounded to the dtype after each step; `set`
 * takes the second operand.  Lua knows them by their numbers. */
#ifndef LGT_SCAN_H
#define LGT_SCAN_H

#include "ops/builtin.h"

#define LGT_SCAN_OPS(X) X(SET) X(ADD) X(MUL) X(SUB) X(DIV) X(MAX) X(MIN) X(FMAX) X(FMIN) X(AND) X(OR) X(XOR)

/* clang-format off */
enum {
#define X(NAME) LGT_SCAN_##NAME,
  LGT_SCAN_OPS(X)
#undef X
      LGT_SCAN_NOP
};
/* clang-format on */

/* How many elements of a line are scanned in one piece (scan.c); lib/array/math/scan.lua has the same number. */
enum { LGT_SCAN_BLOCK = 1024 };

/* *to = *to op *from. */
typedef void (*lgt_scan_step)(char *to, const char *from);
/* NULL with a message where the dtype has no such operation. */
lgt_scan_step lgt_scan_step_of(int op, int dtype);

#endif
