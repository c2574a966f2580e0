/* interp_ops.h - the interpreter's inner loops, private to interp*.c.
 *
 * interp_ops.c is compiled once for each instruction set of helper.h; each copy defines one table.
 *
 * Values lie in blocks of scratch memory: elements side by side, aligned to 64 bytes, with room for a
 * multiple of LGT_LANES.  What lies behind the n-th element up to that multiple may be read and written,
 * so that loops run over whole vectors only.  The type of an element in scratch is that of its dtype,
 * but float16 is kept as float32 (rounded to float16 after every operation) and bool as a byte 0 or 1.
 */
#ifndef LGT_INTERP_OPS_H
#define LGT_INTERP_OPS_H

#include "kernel/loop.h"

#define LGT_INTERP_NDTYPE LGT_COMPLEX64 /* the real dtypes come first */

/* out, a, b, c are whole blocks in scratch, and out is none of the others. */
typedef void lgt_interp_op_fn(void *out, const void *a, const void *b, const void *c, int64_t n);
/* Between memory (any stride in bytes, any alignment) and scratch, anywhere in a block. */
typedef void lgt_interp_load_fn(void *out, const char *from, int64_t stride, int64_t n);
typedef void lgt_interp_store_fn(char *to, int64_t stride, const void *values, int64_t n);

/* A reduction operator.  acc has LGT_LANES elements in scratch form; only n values take part. */
typedef struct lgt_interp_reduce {
  void (*lanes)(void *acc, const void *values, int64_t n);               /* element i to acc[i % LGT_LANES] */
  void (*fold)(void *acc);                                               /* the tree; the result is acc[0] */
  void (*each)(char *to, int64_t stride, const void *values, int64_t n); /* element i to target i in memory */
} lgt_interp_reduce;

/* The same with positions, int64. */
typedef struct lgt_interp_reduce_arg {
  void (*lanes)(void *acc, int64_t *acc_at, const void *values, const int64_t *at, int64_t n);
  void (*fold)(void *acc, int64_t *acc_at);
  void (*each)(char *to, int64_t stride, char *to_at, int64_t stride_at, const void *values, const int64_t *at, int64_t n);
} lgt_interp_reduce_arg;

typedef struct lgt_interp_ops {
  lgt_interp_op_fn *op[LGT_NOP][LGT_INTERP_NDTYPE]; /* by dtype of the operands; NULL: an elementary function, see helper.h */
  lgt_interp_op_fn *cast[LGT_INTERP_NDTYPE][LGT_INTERP_NDTYPE]; /* from, to */
  void (*half_round)(float *values, int64_t n);                 /* to the nearest float16 */
  lgt_interp_load_fn *load[LGT_INTERP_NDTYPE];
  lgt_interp_store_fn *store[LGT_INTERP_NDTYPE];
  lgt_interp_reduce reduce[LGT_REDOP_ARGMIN][LGT_INTERP_NDTYPE];
  lgt_interp_reduce_arg reduce_arg[2][LGT_INTERP_NDTYPE]; /* argmin, argmax */
} lgt_interp_ops;

extern const lgt_interp_ops lgt_interp_ops_generic, lgt_interp_ops_avx2, lgt_interp_ops_avx512;

#endif
