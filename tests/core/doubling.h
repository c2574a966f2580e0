/* doubling.h - for C tests: a nest that doubles what is in memory. */
#ifndef LGT_TEST_DOUBLING_H
#define LGT_TEST_DOUBLING_H

#include <string.h>

#include "kernel/loop.h"

/* b[i] = a[i] + a[i] over n elements. */
typedef struct doubling {
  lgt_access access[2];
  lgt_inst inst[3];
  lgt_loop loop;
  int64_t stride[2 * LGT_MAX_DIM];
  lgt_nest_shape shape;
  lgt_base base[2];
  lgt_nest nest;
} doubling;

__attribute__((unused)) static void doubling_of(doubling *d, void *from, void *to, int64_t n) {
  const uint8_t f = LGT_FLOAT64;
  memset(d, 0, sizeof *d);
  d->access[0] = (lgt_access){LGT_ACCESS_LOAD, f, LGT_STRIDE_UNIT, 0};
  d->access[1] = (lgt_access){LGT_ACCESS_STORE, f, LGT_STRIDE_UNIT, 0};
  d->inst[0] = (lgt_inst){LGT_OP_LOAD, f, 0, 0, 0, LGT_NO_VALUE, LGT_NO_VALUE};
  d->inst[1] = (lgt_inst){LGT_OP_ADD, f, 0, 0, 0, 0, LGT_NO_VALUE};
  d->inst[2] = (lgt_inst){LGT_OP_STORE, f, 0, 0, 1, 1, LGT_NO_VALUE};
  d->loop = (lgt_loop){.naccess = 2, .ninst = 3, .access = d->access, .inst = d->inst};
  lgt_loop_seal(&d->loop);
  d->stride[0] = d->stride[LGT_MAX_DIM] = 8;
  d->shape = (lgt_nest_shape){.ndim = 1, .extent = {n}, .stride = d->stride};
  lgt_nest_shape_finish(&d->loop, &d->shape, 2, false, 0);
  d->base[0].address = from;
  d->base[1].address = to;
  d->nest = (lgt_nest){.loop = &d->loop, .shape = &d->shape, .base = d->base};
}

#endif
