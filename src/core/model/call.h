/* call.h - launches whose arguments are resolved. */
#ifndef LGT_CALL_H
#define LGT_CALL_H

#include "model/kind.h"
#include "model/store.h"

/* A recorded launch with its arguments resolved to stores. */
typedef struct lgt_call {
  const lgt_kind *kind;
  uint16_t kind_number;
  uint8_t nargs, nparams;
  uint32_t line;
  uint32_t store[LGT_MAX_ARGS]; /* each holds a ref */
  uint32_t layout[LGT_MAX_ARGS];
  lgt_scalar param[LGT_MAX_PARAMS];
} lgt_call;

/* The iteration space of a call: the common shape of its arguments after broadcasting. */
lgt_status lgt_call_space(const lgt_stores *stores, const lgt_call *call, int *ndim, int64_t *shape);

#endif
