/* driver.h - the driver of NVIDIA's GPUs, loaded when it is first wanted.
 *
 * libcuda.so.1 comes with the driver, not with the toolkit, so a program that is linked with it starts nowhere else.
 * Nothing else of CUDA is used: no runtime library, no toolkit.
 *
 * A process that is forked from one that uses the driver cannot use it: ranks and helpers are forked before.
 */
#ifndef LGT_GPU_DRIVER_H
#define LGT_GPU_DRIVER_H

#include "core.h"
#include "cuda_driver.h"

typedef struct lgt_cuda {
#define X(name, since, arguments) CUresult(*name) arguments;
  LGT_CUDA_FUNCTIONS(X)
#undef X
  int version; /* that the driver supports, as 12040 for CUDA 12.4 */
  int devices; /* that are visible; at least one */
} lgt_cuda;

/* The driver, with at least one device; NULL with an error that says what to do.  What has been loaded stays.  Any thread. */
const lgt_cuda *lgt_cuda_load(void);

/* What a function of the driver returned, as a status with a message. */
lgt_status lgt_cuda_check(CUresult result, const char *what);
#define LGT_CUDA(cuda, call) lgt_cuda_check((cuda)->call, #call)

/* A line for people: the driver, or why there is none; devices are opened by nobody. */
void lgt_cuda_describe(char *text, size_t room);

#endif
