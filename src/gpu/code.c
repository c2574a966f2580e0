/* code.c - from the text of a loop to launches.  See gpu.h.
 *
 * The text is linked into a cubin, which the core keeps on disk by `chip`; what the driver loads is a module, whose
 * functions are looked up when they are first launched.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"

enum { LOG_ROOM = 1024 };

static lgt_gpu *gpu_of(lgt_target *target) { return (lgt_gpu *)((char *)target - offsetof(lgt_gpu, target)); }

/* With what the driver's assembler said, on one line. */
static lgt_status complain(lgt_status status, char *log) {
  for (char *c = log; *c; c++)
    if (*c == '\n') *c = c[1] ? ';' : 0;
  return *log ? lgt_err(status, "%s: %s", lgt_message(), log) : status;
}

static lgt_status build(lgt_target *target, const char *text, void **image, size_t *size) {
  lgt_gpu *gpu = gpu_of(target);
  const lgt_cuda *cuda = gpu->cuda;
  char log[LOG_ROOM] = "";
  CUjit_option option[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *value[] = {log, (void *)(uintptr_t)sizeof log}, *cubin;
  CUlinkState link;
  lgt_status status = lgt_gpu_enter(gpu);
  if (!status) status = LGT_CUDA(cuda, cuLinkCreate_v2(2, option, value, &link));
  if (status) return status;
  status = LGT_CUDA(
      cuda, cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, (void *)text, strlen(text) + 1, "loop", 0, NULL, NULL));
  if (!status) status = LGT_CUDA(cuda, cuLinkComplete(link, &cubin, size));
  if (!status && !(*image = malloc(*size))) status = lgt_err(LGT_NO_MEMORY, "out of memory for a kernel");
  if (!status) memcpy(*image, cubin, *size);
  log[sizeof log - 1] = 0;
  if (status) complain(status, log);
  cuda->cuLinkDestroy(link);
  return status;
}

static lgt_status load(lgt_target *target, const void *image, void **code) {
  lgt_gpu *gpu = gpu_of(target);
  CUmodule module;
  lgt_status status = lgt_gpu_enter(gpu);
  if (!status) status = LGT_CUDA(gpu->cuda, cuModuleLoadDataEx(&module, image, 0, NULL, NULL));
  if (!status) *code = module;
  return status;
}

static void unload(lgt_target *target, void *code) {
  lgt_gpu *gpu = gpu_of(target);
  if (!lgt_gpu_enter(gpu)) gpu->cuda->cuModuleUnload(code);
}

void lgt_gpu_target(lgt_gpu *gpu, int major, int minor) {
  gpu->target = (lgt_target){.build = build, .load = load, .unload = unload};
  snprintf(gpu->target.chip, sizeof gpu->target.chip, "sm_%d%d of driver %d", major, minor,
           gpu->cuda->version);
}

lgt_status lgt_gpu_launch(lgt_queue *queue, lgt_code code, lgt_nest *nest) {
  (void)queue, (void)code, (void)nest;
  return lgt_err(LGT_UNSUPPORTED, "kernels cannot be launched on GPUs yet");
}
