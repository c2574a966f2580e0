/* sparse_blocks.h - the kernels of sparse_blocks.c for one type of positions, I, and one of values, V.
 *
 * A template: included once for each pair of types, with NAME(f) for the functions' names.
 */

/* Rows of blocks [lo, hi); inlined with the extents of frequent blocks. */
ALWAYS_INLINE void NAME(times_vector)(const lgt_tile *t, int64_t height, int64_t width, int64_t lo,
                                      int64_t hi) {
  const I *crd = t[3].data;
  const char *x = t[5].data;
  int64_t beside = t[5].stride[1];
  for (int64_t i = lo; i < hi; i++) {
    int64_t first = LGT_AT(const I, &t[1], i), past = LGT_AT(const I, &t[2], i);
    char *y = (char *)t[0].data + i * t[0].stride[0];
    lgt_sparse_foresee((const V *)t[4].data + first * height * width + LGT_SPARSE_AHEAD,
                       (past - first) * height * width * (int64_t)sizeof(V));
    for (int64_t a = 0; a < height; a++) {
      const V *row = (const V *)t[4].data + (first * height + a) * width;
      V sum = 0;
      for (int64_t k = first; k < past; k++, row += height * width) {
        const char *from = x + (int64_t)crd[k] * t[5].stride[0];
        for (int64_t b = 0; b < width; b++) sum += row[b] * *(const V *)(from + b * beside);
      }
      *(V *)(y + a * t[0].stride[1]) = sum;
    }
  }
}

/* x [c,w,columns], y [n,h,columns]. */
static void NAME(times_matrix)(const lgt_tile *t, int64_t height, int64_t width, int64_t lo, int64_t hi) {
  const I *crd = t[3].data;
  int64_t columns = t[0].extent[2];
  for (int64_t i = lo; i < hi; i++)
    for (int64_t a = 0; a < height; a++) {
      char *y = (char *)t[0].data + i * t[0].stride[0] + a * t[0].stride[1];
      int64_t first = LGT_AT(const I, &t[1], i), past = LGT_AT(const I, &t[2], i);
      for (int64_t j = 0; j < columns; j++) *(V *)(y + j * t[0].stride[2]) = 0;
      for (int64_t k = first; k < past; k++)
        for (int64_t b = 0; b < width; b++) {
          V v = ((const V *)t[4].data)[(k * height + a) * width + b];
          const char *from = (const char *)t[5].data + (int64_t)crd[k] * t[5].stride[0] + b * t[5].stride[1];
          for (int64_t j = 0; j < columns; j++)
            *(V *)(y + j * t[0].stride[2]) += v * *(const V *)(from + j * t[5].stride[2]);
        }
    }
}

static lgt_status NAME(bsr_dot)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo,
                                int64_t hi) {
  int64_t height = t[4].extent[1], width = t[4].extent[2];
  (void)nargs, (void)params;
  if (t[0].ndim == 3) NAME(times_matrix)(t, height, width, lo, hi);
  else if (height == 2 && width == 2) NAME(times_vector)(t, 2, 2, lo, hi);
  else if (height == 3 && width == 3) NAME(times_vector)(t, 3, 3, lo, hi);
  else if (height == 4 && width == 4) NAME(times_vector)(t, 4, 4, lo, hi);
  else NAME(times_vector)(t, height, width, lo, hi);
  return LGT_OK;
}

static lgt_status NAME(ell_dot)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo,
                                int64_t hi) {
  bool vector = t[0].ndim == 1;
  int64_t columns = vector ? 1 : t[0].extent[1], y_stride = vector ? 0 : t[0].stride[1],
          x_stride = vector ? 0 : t[4].stride[1];
  (void)nargs, (void)params;
  for (int64_t i = lo; i < hi; i++) {
    int64_t count = LGT_AT(const I, &t[1], i);
    const I *crd = (const I *)((const char *)t[2].data + i * t[2].stride[0]);
    const V *vals = (const V *)((const char *)t[3].data + i * t[3].stride[0]);
    char *y = (char *)t[0].data + i * t[0].stride[0];
    lgt_sparse_foresee(crd + LGT_SPARSE_AHEAD, count * (int64_t)sizeof(I));
    lgt_sparse_foresee(vals + LGT_SPARSE_AHEAD, count * (int64_t)sizeof(V));
    for (int64_t j = 0; j < columns; j++) {
      const char *x = (const char *)t[4].data + j * x_stride;
      V sum = 0;
      for (int64_t k = 0; k < count; k++) sum += vals[k] * *(const V *)(x + (int64_t)crd[k] * t[4].stride[0]);
      *(V *)(y + j * y_stride) = sum;
    }
  }
  return LGT_OK;
}

#undef V
#undef NAME
