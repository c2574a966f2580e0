/* blas.h - the BLAS of the machine, loaded when it is first needed (blas.c). */
#ifndef LGT_BLAS_H
#define LGT_BLAS_H

#include "core.h"

/* The handle of dlopen, with the library's own threads turned off; NULL where there is none.  Any thread. */
void *lgt_blas_library(void);

#endif
