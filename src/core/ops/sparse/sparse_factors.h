/* sparse_factors.h - the kernels of sparse_solve.c for one type of positions, I, and one of values, V.
 *
 * A template: included once for each pair of types, with NAME(f) for the functions' names.  [lo, hi) is a block, in rows of
 * the tile; `origin` is the number of the tile's first row, as columns count.
 */

/* x[row] = (b[row] - sum of the triangle's other entries times x) / diagonal, for each column. */
static lgt_status NAME(triangular)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  const lgt_tile *x = &t[1], *b = &t[5];
  const I *crd = t[3].data;
  const V *vals = t[4].data;
  bool lower = params[1].f != 0, unit = params[2].f != 0;
  int64_t columns = x->extent[1], down = x->stride[0], along = x->stride[1], origin = t[0].origin[0];
  (void)nargs;
  for (int64_t step = 0; step < hi - lo; step++) {
    int64_t i = lower ? lo + step : hi - 1 - step;
    int64_t first = LGT_AT(const I, &t[0], i), past = LGT_AT(const I, &t[2], i);
    char *to = (char *)x->data + i * down;
    V diagonal = unit;
    for (int64_t k = first; k < past && !unit; k++)
      if (crd[k] - origin == i) diagonal = vals[k];
    if (diagonal == 0) return singular(origin + i);
    for (int64_t j = 0; j < columns; j++) {
      V sum = *(const V *)((const char *)b->data + i * b->stride[0] + j * b->stride[1]);
      for (int64_t k = first; k < past; k++) {
        int64_t c = crd[k] - origin;
        bool inside = lower ? c < i && c >= lo : c > i && c < hi;
        if (inside) sum -= vals[k] * *(const V *)((const char *)x->data + c * down + j * along);
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
  int64_t *at = lgt_scratch_alloc((size_t)(hi - lo) * 2 * sizeof *at), *diagonal = at + (hi - lo);
  int64_t origin = t[0].origin[0] + lo, size = hi - lo; /* rows and columns of the block count from its first one */
  lgt_status status = LGT_OK;
  (void)nargs, (void)params;
  if (!at) return LGT_NO_MEMORY;
  for (int64_t i = 0; i < size; i++) at[i] = -1;
  for (int64_t i = 0; i < size && !status; i++) {
    int64_t first = LGT_AT(const I, &t[0], lo + i), past = LGT_AT(const I, &t[2], lo + i);
    memcpy(vals + first, (const V *)t[4].data + first, (size_t)(past - first) * sizeof(V));
    while (first < past && crd[first] < origin) first++;
    while (past > first && crd[past - 1] - origin >= size) past--;
    for (int64_t p = first; p < past; p++) at[crd[p] - origin] = p;
    for (int64_t p = first; p < past && crd[p] - origin < i; p++) {
      int64_t k = crd[p] - origin, end = LGT_AT(const I, &t[2], lo + k);
      vals[p] /= vals[diagonal[k]];
      for (int64_t q = diagonal[k] + 1; q < end && crd[q] - origin < size; q++)
        if (at[crd[q] - origin] >= 0) vals[at[crd[q] - origin]] -= vals[p] * vals[q];
    }
    diagonal[i] = at[i];
    if (at[i] < 0 || vals[at[i]] == 0) status = singular(origin + i);
    for (int64_t p = first; p < past; p++) at[crd[p] - origin] = -1;
  }
  lgt_scratch_free(at);
  return status;
}

#undef V
#undef NAME
