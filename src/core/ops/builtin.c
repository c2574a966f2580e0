/* builtin.c - the table of variants that come with lgt.  See builtin.h. */
#include "ops/builtin.h"

lgt_own_variant lgt_builtin_find(const char *name, bool *infallible) {
  static const lgt_builtin *const tables[] = {
      lgt_sort_builtins,         lgt_merge_builtins,         lgt_split_builtins,
      lgt_scan_builtins,         lgt_gather_builtins,        lgt_special_builtins,
      lgt_lapack_builtins,       lgt_fft_builtins,           lgt_random_builtins,
      lgt_sparse_builtins,       lgt_sparse_shape_builtins,  lgt_sparse_join_builtins,
      lgt_sparse_solve_builtins, lgt_sparse_blocks_builtins, lgt_count_builtins,
      lgt_filter_builtins,       lgt_market_builtins,        lgt_stack_builtins,
      lgt_product_builtins,      lgt_select_builtins,        lgt_pick_builtins};
  for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
    for (const lgt_builtin *b = tables[t]; b->name; b++)
      if (!strcmp(b->name, name)) return *infallible = tables[t] == lgt_pick_builtins, b->variant;
  return lgt_err(LGT_BAD_ARGUMENT, "lgt has no task called '%s'", name), NULL;
}
