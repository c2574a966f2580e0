/* code.c - from the text of a loop to launches.  See gpu.h.
 *
 * The text is linked into a cubin, which the core keeps on disk by `chip`; what the driver loads is a module, whose
 * functions are looked up when they are first launched.
 */
#include <stdio.h>
#include <string.h>

#include "gpu.h"
#include "kernel/grid.h"

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
  if (!status && !(*image = lgt_mem_alloc(*size)))
    status = lgt_err(LGT_NO_MEMORY, "out of memory for a kernel");
  if (!status) memcpy(*image, cubin, *size);
  log[sizeof log - 1] = 0;
  if (status) complain(status, log);
  cuda->cuLinkDestroy(link);
  return status;
}

/* What is loaded. */
typedef struct module {
  CUmodule module;
  struct {
    const char *name; /* a literal of grid.c */
    CUfunction function;
  } found[LGT_GRID_LAUNCHES]; /* belongs to the thread that launches, like the next one */
  lgt_grid_memo memo;
} module;

static lgt_status load(lgt_target *target, const void *image, void **code) {
  lgt_gpu *gpu = gpu_of(target);
  module *m = lgt_mem_zalloc(sizeof *m);
  if (!m) return lgt_err(LGT_NO_MEMORY, "out of memory for a kernel");
  lgt_status status = lgt_gpu_enter(gpu);
  if (!status) status = LGT_CUDA(gpu->cuda, cuModuleLoadDataEx(&m->module, image, 0, NULL, NULL));
  if (status) lgt_mem_free(m);
  else *code = m;
  return status;
}

static void unload(lgt_target *target, void *code) {
  lgt_gpu *gpu = gpu_of(target);
  module *m = code;
  if (!lgt_gpu_enter(gpu)) gpu->cuda->cuModuleUnload(m->module);
  lgt_grid_forget(&m->memo);
  lgt_mem_free(m);
}

void lgt_gpu_target(lgt_gpu *gpu, int major, int minor) {
  gpu->target = (lgt_target){.build = build, .load = load, .unload = unload};
  snprintf(gpu->target.chip, sizeof gpu->target.chip, "sm_%d%d of driver %d", major, minor,
           gpu->cuda->version);
}

/* ---- launches -------------------------------------------------------------------------------------------- */

static lgt_status find_function(const lgt_gpu *gpu, module *m, const char *name, CUfunction *out) {
  int n = 0;
  for (; n < LGT_GRID_LAUNCHES && m->found[n].name; n++)
    if (m->found[n].name == name) return *out = m->found[n].function, LGT_OK;
  lgt_status status = LGT_CUDA(gpu->cuda, cuModuleGetFunction(out, m->module, name));
  if (!status && n < LGT_GRID_LAUNCHES) m->found[n].name = name, m->found[n].function = *out;
  return status;
}

void lgt_gpu_free_scratch(lgt_queue *queue) {
  lgt_device *device = &queue->gpu->device;
  if (!queue->scratch) return;
  if (device->give) device->give(device->pool, queue->scratch, queue->scratch_bytes);
  else device->free(device, queue->scratch, (size_t)queue->scratch_bytes);
  queue->scratch = NULL;
  queue->scratch_bytes = 0;
}

/* Launches of a queue use one block of memory one after another.  A smaller one is given back when they are over, for which
 * the caller waits, so the next one is at least twice as large. */
static lgt_status grow_scratch(lgt_queue *queue, int64_t bytes) {
  lgt_device *device = &queue->gpu->device;
  int64_t room = bytes < 2 * queue->scratch_bytes ? 2 * queue->scratch_bytes : bytes;
  void *block = device->take ? device->take(device->pool, room, &room) : device->alloc(device, (size_t)room);
  if (!block)
    return lgt_err(device->lost ? LGT_DEVICE_LOST : LGT_NO_MEMORY,
                   "out of memory of %s: %lld bytes for a reduction%s%s", device->name, (long long)bytes,
                   *device->failure ? ": " : "", device->failure);
  lgt_status status =
      queue->scratch ? LGT_CUDA(queue->gpu->cuda, cuStreamSynchronize(queue->stream)) : LGT_OK;
  lgt_gpu_free_scratch(queue);
  queue->scratch = block;
  queue->scratch_bytes = room;
  return status;
}

static lgt_status put(const lgt_queue *queue, module *m, const lgt_grid_launch *l) {
  CUfunction function;
  void *param[] = {(void *)l->param};
  lgt_status status = find_function(queue->gpu, m, l->kernel, &function);
  if (status) return status;
  return LGT_CUDA(queue->gpu->cuda,
                  cuLaunchKernel(function, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1],
                                 l->block[2], l->shared, queue->stream, param, NULL));
}

lgt_status lgt_gpu_launch(lgt_queue *queue, lgt_code code, lgt_nest *nest) {
  lgt_assert(code.class == LGT_CLASS_CUDA && code.handle);
  module *m = code.handle;
  lgt_grid grid;
  lgt_status status = LGT_OK;
  int nlaunch;
  const lgt_grid_launch *again = lgt_grid_again(&m->memo, nest, queue->scratch, &nlaunch);
  for (int i = 0; again && i < nlaunch && !status; i++) status = put(queue, m, &again[i]);
  if (again) return status;
  status = lgt_grid_of(nest, queue->scratch, &grid);
  if (!status && grid.scratch_bytes > queue->scratch_bytes) {
    status = grow_scratch(queue, grid.scratch_bytes);
    if (!status) status = lgt_grid_of(nest, queue->scratch, &grid);
  }
  for (int i = 0; i < grid.nlaunch && !status; i++) status = put(queue, m, &grid.launch[i]);
  if (!status) lgt_grid_remember(&m->memo, nest, queue->scratch, &grid);
  return status;
}
