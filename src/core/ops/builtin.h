/* builtin.h - CPU variants that come with lgt, for what is no loop over elements.
 *
 * A concept (sort.c, scan.c, ...) lists its variants in a table; lgt_kind_builtin (api.c) registers one of them
 * under the privileges and constraints of the caller, which knows how many dimensions there are.
 *
 * Most of them work on *lines*, the elements along the last dimension, or on *matrices*, the last two:
 * the dimensions before, of all arguments, are cut alike, and lgt_walk visits them.  The runtime cuts
 * dimension 0 once more among its workers, so a single line or matrix needs a leading dimension of
 * extent 1.
 *
 * Variants run on any thread, several at once.  Scratch memory comes from pool.h.
 */
#ifndef LGT_BUILTIN_H
#define LGT_BUILTIN_H

#include "core.h"
#include "memory/pool.h"
#include "model/kind.h"

#include <string.h>

enum { LGT_WALK_ARGS = LGT_MAX_ARGS };

typedef struct lgt_builtin {
  const char *name; /* NULL ends a table */
  lgt_own_variant variant;
} lgt_builtin;

extern const lgt_builtin lgt_sort_builtins[], lgt_merge_builtins[], lgt_split_builtins[], lgt_scan_builtins[],
    lgt_gather_builtins[], lgt_special_builtins[], lgt_lapack_builtins[], lgt_fft_builtins[], lgt_random_builtins[],
    lgt_sparse_builtins[], lgt_sparse_shape_builtins[], lgt_sparse_join_builtins[], lgt_sparse_solve_builtins[],
    lgt_sparse_blocks_builtins[], lgt_count_builtins[], lgt_filter_builtins[], lgt_market_builtins[], lgt_stack_builtins[],
    lgt_product_builtins[], lgt_select_builtins[], lgt_pick_builtins[];

/* The variant of this name, and whether it is *infallible* (kind.h); NULL with a message: there is none. */
lgt_own_variant lgt_builtin_find(const char *name, bool *infallible);

/* ---- walking over the leading dimensions of several tiles -------------------------------------------- */

typedef struct lgt_walk {
  const lgt_tile *tile;
  int nargs, lead;
  int64_t index[LGT_MAX_DIM];
  char *at[LGT_WALK_ARGS]; /* where each tile's current line or matrix begins */
} lgt_walk;

/* Rows [lo, hi) of dimension 0 and all of the next lead - 1 dimensions.  An argument with fewer than
 * `lead` dimensions, or with extent 1 in one of them, stands still there.  False: there is nothing. */
static inline bool lgt_walk_begin(lgt_walk *w, const lgt_tile *tile, int nargs, int lead, int64_t lo, int64_t hi) {
  *w = (lgt_walk){.tile = tile, .nargs = nargs, .lead = lead, .index = {lo}};
  for (int a = 0; a < nargs; a++) {
    w->at[a] = tile[a].data;
    if (tile[a].ndim && tile[a].extent[0] > 1) w->at[a] += lo * tile[a].stride[0];
  }
  for (int d = 1; d < lead; d++)
    if (tile[0].extent[d] <= 0) return false;
  return lo < hi;
}

static inline bool lgt_walk_next(lgt_walk *w, int64_t lo, int64_t hi) {
  for (int d = w->lead - 1; d >= 0; d--) {
    int64_t first = d ? 0 : lo, past = d ? w->tile[0].extent[d] : hi, back = w->index[d] - first;
    if (++w->index[d] < past) {
      for (int a = 0; a < w->nargs; a++)
        if (d < w->tile[a].ndim && w->tile[a].extent[d] > 1) w->at[a] += w->tile[a].stride[d];
      return true;
    }
    w->index[d] = first;
    for (int a = 0; a < w->nargs; a++)
      if (d < w->tile[a].ndim && w->tile[a].extent[d] > 1) w->at[a] -= back * w->tile[a].stride[d];
  }
  return false;
}

/* The same for variants whose arguments are cut alike in all dimensions: *count elements at a time, along the last
 * one. */
static inline bool lgt_walk_elements(lgt_walk *w, const lgt_tile *tile, int nargs, int64_t lo, int64_t hi, int64_t *count) {
  int last = tile->ndim - 1;
  *count = last > 0 ? tile->extent[last] : hi - lo;
  return lgt_walk_begin(w, tile, nargs, last > 0 ? last : 0, lo, hi) && *count > 0;
}

/* `count` elements of `size` bytes from one stride to another.  Where the compiler knows the size an element is a move
 * or two. */
static inline void lgt_copy_elements(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t count,
                                     int64_t size) {
  for (int64_t i = 0; i < count; i++, to += to_stride, from += from_stride) memcpy(to, from, (size_t)size);
}
static inline void lgt_copy_line(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t count,
                                 int64_t size) {
  if (to_stride == size && from_stride == size) memcpy(to, from, (size_t)(count * size));
  else if (size == 8) lgt_copy_elements(to, to_stride, from, from_stride, count, 8);
  else if (size == 4) lgt_copy_elements(to, to_stride, from, from_stride, count, 4);
  else if (size == 16) lgt_copy_elements(to, to_stride, from, from_stride, count, 16);
  else lgt_copy_elements(to, to_stride, from, from_stride, count, size);
}

#endif
