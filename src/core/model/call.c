/* call.c - the iteration space of a launch.  See call.h. */
#include "model/call.h"

#include <string.h>

lgt_status lgt_call_space(const lgt_stores *stores, const lgt_call *call, int *ndim, int64_t *shape) {
  int n = 0;
  int64_t s[LGT_MAX_DIM];
  for (int a = 0; a < call->nargs; a++) {
    const lgt_layout *l = lgt_layout_at(stores, call->layout[a]);
    if (l->ndim > n) n = l->ndim;
  }
  for (int d = 0; d < n; d++) s[d] = 1;
  for (int a = 0; a < call->nargs; a++) {
    const lgt_layout *l = lgt_layout_at(stores, call->layout[a]);
    for (int d = 0; d < l->ndim; d++) {
      int k = n - l->ndim + d;
      if (l->shape[d] == 1 || l->shape[d] == s[k]) continue;
      if (s[k] != 1)
        return lgt_err(LGT_BAD_SHAPE,
                       "the arguments of '%s' do not fit: extent %lld against %lld in dimension %d",
                       call->kind->name, (long long)l->shape[d], (long long)s[k], k + 1);
      s[k] = l->shape[d];
    }
  }
  *ndim = n;
  memcpy(shape, s, (size_t)n * sizeof *s);
  return LGT_OK;
}
