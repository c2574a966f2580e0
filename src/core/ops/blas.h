/* blas.h - the BLAS of the machine, loaded when it is first needed (blas.c). */
#ifndef LGT_BLAS_H
#define LGT_BLAS_H

#include "core.h"
#include "model/kind.h"

/* The handle of dlopen, with the library's own threads turned off; NULL where there is none.  Any thread. */
void *lgt_blas_library(void);

/* Rows [lo, hi) of matrix 0 = matrix 1 x matrix 2, all of one of the dtypes that BLAS has.  Any thread. */
lgt_status lgt_blas_product(const lgt_tile *tiles, int64_t lo, int64_t hi);

/* A kind for the product of whole matrices; -1 with a message on error. */
int lgt_blas_kind(lgt_kinds *kinds, int dtype);

#endif
