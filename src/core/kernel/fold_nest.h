/* fold_nest.h - elements are folded into others: a nest, so that every device can do it.
 *
 *   fold      to = to redop from, element by element; ARGMIN and ARGMAX also choose between positions: of equal values that
 *             at the lower one counts
 *   identity  to = the operator's identity; a position: INT64_MAX
 *
 * Neither is a reduction (loop.h): each element is on its own, so the cut does not matter, and what is folded in an order is
 * folded by one nest after another.  Strides are not in the loops' bytes: a device needs code for the operator and the type
 * alone.
 */
#ifndef LGT_FOLD_NEST_H
#define LGT_FOLD_NEST_H

#include "kernel/loop.h"

enum { LGT_FOLD_ACCESSES = 6, LGT_FOLD_INSTS = 20 };

/* A nest with all that it points to: it must stay where it is. */
typedef struct lgt_fold_nest {
  lgt_nest nest;
  lgt_loop loop;
  lgt_nest_shape shape;
  lgt_access access[LGT_FOLD_ACCESSES];
  lgt_inst inst[LGT_FOLD_INSTS];
  lgt_scalar constant[2];
  lgt_base base[LGT_FOLD_ACCESSES];
  int64_t stride[LGT_FOLD_ACCESSES * LGT_MAX_DIM];
} lgt_fold_nest;

/* Whose elements: tiles of equal extents, those of positions only for ARGMIN and ARGMAX.  Without `from` the target becomes
 * the identity.  Dimensions along which the target stands still are those of the reduction, and count once. */
typedef struct lgt_fold_tiles {
  const lgt_tile *to, *from, *to_at, *from_at;
} lgt_fold_tiles;

/* The nest's loop alone, of which lgt_loop_copy makes a lasting one.  `dtype`: of a part, if elements are pairs. */
void lgt_fold_loop(lgt_fold_nest *fold, int redop, int dtype, bool identity);
/* All of it.  `workers`: as for lgt_nest_shape_finish. */
void lgt_fold_nest_make(lgt_fold_nest *fold, int redop, int dtype, const lgt_fold_tiles *tiles, int workers);

#endif
