/* share.c - memory of a GPU that other libraries of the process have from lgt.  See gpu.h.
 *
 * It may be given back by any thread, after the runtime has closed, too: each block keeps the context, and what it needs of
 * the driver stays loaded.
 */
#include "gpu.h"

typedef struct block {
  lgt_shared shared; /* first: it is one */
  const lgt_cuda *cuda;
  CUdevice number;
  CUcontext context;
} block;

lgt_status lgt_gpu_settle(lgt_device *device) {
  lgt_gpu *gpu = lgt_gpu_of(device);
  lgt_status status = lgt_gpu_enter(gpu);
  return status ? status : LGT_CUDA(gpu->cuda, cuCtxSynchronize());
}

static void release(block *b) {
  b->cuda->cuDevicePrimaryCtxRelease_v2(b->number);
  lgt_mem_free(b);
}

static void give_back(lgt_shared *shared) {
  block *b = (block *)shared;
  CUcontext before = NULL;
  b->cuda->cuCtxGetCurrent(&before);
  if (LGT_CUDA(b->cuda, cuCtxSetCurrent(b->context)) ||
      LGT_CUDA(b->cuda, cuMemFree_v2((CUdeviceptr)(uintptr_t)b->shared.data)))
    lgt_log(MAP, 1, "memory of a GPU is lost: %s", lgt_message());
  b->cuda->cuCtxSetCurrent(before); /* the thread is another library's */
  release(b);
}

lgt_status lgt_gpu_share(lgt_device *device, size_t bytes, lgt_shared **out) {
  lgt_gpu *gpu = lgt_gpu_of(device);
  block *b = lgt_mem_zalloc(sizeof *b);
  CUdeviceptr address;
  if (!b) return lgt_err(LGT_NO_MEMORY, "out of memory for a block of a device");
  *b = (block){{.device = gpu->number, .free = give_back}, gpu->cuda, gpu->number, NULL};
  lgt_status status = LGT_CUDA(gpu->cuda, cuDevicePrimaryCtxRetain(&b->context, gpu->number));
  if (status) return lgt_mem_free(b), status;
  status = lgt_gpu_enter(gpu);
  if (!status) status = LGT_CUDA(gpu->cuda, cuMemAlloc_v2(&address, bytes));
  if (status) return release(b), status;
  b->shared.data = (void *)(uintptr_t)address;
  *out = &b->shared;
  return LGT_OK;
}
