/* sparse_factors.h - the kernels of sparse_solve.c for one type of positions, I, and one of values, V.
 *
 * A template: included once for each pair of types, with NAME(f) for the functions' names.  [lo, hi) is a block.
 */

/* x[row] = (b[row] - sum of the triangle's other entries times x) / diagonal, for each column. */
static lgt_status NAME(triangular)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  const lgt_tile *x = &t[1], *b = &t[5];
  const I *crd = t[3].data;
  const V *vals = t[4].data;
  bool lower = params[1].f != 0, unit = params[2].f != 0;
  int64_t columns = x->extent[1], down = x->stride[0], along = x->stride[1];
  (void)nargs;
  for (int64_t step = 0; step < hi - lo; step++) {
    int64_t i = lower ? lo + step : hi - 1 - step;
    int64_t first = LGT_AT(const I, &t[0], i), past = LGT_AT(const I, &t[2], i);
    char *to = (char *)x->data + i * down;
    V diagonal = unit;
    for (int64_t k = first; k < past && !unit; k++)
      if (crd[k] == i) diagonal = vals[k];
    if (diagonal == 0) return singular(i);
    for (int64_t j = 0; j < columns; j++) {
      V sum = *(const V *)((const char *)b->data + i * b->stride[0] + j * b->stride[1]);
      for (int64_t k = first; k < past; k++) {
        bool inside = lower ? crd[k] < i && crd[k] >= lo : crd[k] > i && crd[k] < hi;
        if (inside) sum -= vals[k] * *(const V *)((const char *)x->data + (int64_t)crd[k] * down + j * along);
      }
      *(V *)(to + j * along) = sum / diagonal;
    }
  }
  return LGT_OK;
}

/* Row by row: entry (i, k) below the diagonal is divided by (k, k), and row k, as far as row i has its columns, goes. */
static lgt_status NAME(ilu0)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  V *vals = t[1].data;
  const I *crd = t[3].data;
  int64_t *at = lgt_mem_alloc((size_t)(hi - lo) * 2 * sizeof *at), *diagonal = at + (hi - lo);
  lgt_status status = LGT_OK;
  (void)nargs, (void)params;
  if (!at) return lgt_err(LGT_NO_MEMORY, "out of memory to factorise %lld rows", (long long)(hi - lo));
  for (int64_t i = 0; i < hi - lo; i++) at[i] = -1;
  for (int64_t i = lo; i < hi && !status; i++) {
    int64_t first = LGT_AT(const I, &t[0], i), past = LGT_AT(const I, &t[2], i);
    while (first < past && crd[first] < lo) first++;
    while (past > first && crd[past - 1] >= hi) past--;
    diagonal[i - lo] = -1;
    for (int64_t p = first; p < past; p++) at[crd[p] - lo] = p;
    for (int64_t p = first; p < past && crd[p] < i; p++) {
      int64_t k = crd[p], end = LGT_AT(const I, &t[2], k);
      vals[p] /= vals[diagonal[k - lo]];
      for (int64_t q = diagonal[k - lo] + 1; q < end && crd[q] < hi; q++)
        if (at[crd[q] - lo] >= 0) vals[at[crd[q] - lo]] -= vals[p] * vals[q];
    }
    diagonal[i - lo] = at[i - lo];
    if (at[i - lo] < 0 || vals[at[i - lo]] == 0) status = singular(i);
    for (int64_t p = first; p < past; p++) at[crd[p] - lo] = -1;
  }
  lgt_mem_free(at);
  return status;
}

#undef V
#undef NAME
