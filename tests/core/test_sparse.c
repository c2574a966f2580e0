/* A product of a matrix and a vector has the same bits whatever instructions compute it. */
#include <stdlib.h>

#include "check.h"
#include "helper.h"
#include "sparse.h"

enum { ROWS = 700, MOST = 10, COLUMNS = ROWS + 3 * MOST };

/* A matrix whose rows have `length` entries, and follow one another but where a multiple of `broken` begins. */
typedef struct matrix {
  int32_t pos[ROWS + 1], crd[ROWS * MOST];
  double vals[ROWS * MOST], x[COLUMNS];
  uint8_t run[ROWS];
} matrix;

static double number(unsigned *state) {
  *state = *state * 1664525 + 1013904223;
  return *state % 7 == 0 ? -0.0 : ((double)*state - 2e9) * 1e-9;
}

static matrix *make(int length, int broken) {
  matrix *a = calloc(1, sizeof *a);
  unsigned state = (unsigned)(length * 1000 + broken);
  for (int i = 0; i < COLUMNS; i++) a->x[i] = number(&state);
  for (int i = 0; i < ROWS; i++) {
    a->pos[i + 1] = a->pos[i] + length;
    for (int k = 0; k < length; k++) {
      int at = i * length + k;
      a->crd[at] = i + 2 * k + (i / broken) % 2;
      a->vals[at] = number(&state);
    }
  }
  for (int i = ROWS - 2; i >= 0; i--)
    a->run[i] = (uint8_t)((i + 1) % broken == 0       ? 0
                          : a->run[i + 1] < UINT8_MAX ? a->run[i + 1] + 1
                                                      : UINT8_MAX);
  return a;
}

static void multiply(matrix *a, const char *isa, double *y, int64_t lo, int64_t hi) {
  const lgt_builtin *dot = lgt_sparse_builtins;
  lgt_tile tile[7] = {{.data = y, .dtype = LGT_FLOAT64},        {.data = a->pos, .dtype = LGT_INT32},
                      {.data = a->pos + 1, .dtype = LGT_INT32}, {.data = a->crd, .dtype = LGT_INT32},
                      {.data = a->vals, .dtype = LGT_FLOAT64},  {.data = a->x, .dtype = LGT_FLOAT64},
                      {.data = a->run, .dtype = LGT_UINT8}};
  const int64_t extent[7] = {ROWS, ROWS, ROWS, a->pos[ROWS], a->pos[ROWS], COLUMNS, ROWS};
  for (int t = 0; t < 7; t++) {
    tile[t].ndim = 1;
    tile[t].extent[0] = extent[t];
    tile[t].stride[0] = lgt_dtype_size(tile[t].dtype);
  }
  while (strcmp(dot->name, "csr_dot")) dot++;
  CHECK_EQ(lgt_isa_limit(isa), LGT_OK);
  CHECK_EQ(dot->variant(tile, 7, NULL, lo, hi), LGT_OK);
  CHECK_EQ(lgt_isa_limit(""), LGT_OK);
}

TEST(instructions_do_not_matter) {
  for (int length = 0; length <= MOST; length++)
    for (int broken = 5; broken < 3 * ROWS; broken = broken * 7 / 2) {
      matrix *a = make(length, broken);
      double y[2][ROWS] = {{0}}, sum[ROWS];
      for (int i = 0; i < ROWS; i++) {
        sum[i] = 0;
        for (int k = a->pos[i]; k < a->pos[i + 1]; k++) sum[i] += a->vals[k] * a->x[a->crd[k]];
      }
      multiply(a, "generic", y[0], 0, ROWS);
      multiply(a, "", y[1], 0, ROWS / 3);
      multiply(a, "", y[1], ROWS / 3, ROWS);
      free(a);
      CHECK_EQ(memcmp(y[0], sum, sizeof sum), 0);
      CHECK_EQ(memcmp(y[1], sum, sizeof sum), 0);
    }
}

int main(void) {
  RUN(instructions_do_not_matter);
  return check_done();
}
