/* gpu.c - see gpu.h. */
#include "gpu.h"

#include <stdio.h>
#include <string.h>

enum { LEAST_MAJOR = 8 }; /* compute capability for which loops are written */
enum { LEAST_FREE = 64 << 20 };
enum { SHARE = 10, SHARES = 12 }; /* of the free memory that is taken, if nobody says how much */

lgt_status lgt_gpu_enter(const lgt_gpu *gpu) { return LGT_CUDA(gpu->cuda, cuCtxSetCurrent(gpu->context)); }
static lgt_status enter(const lgt_device *device) { return lgt_gpu_enter(lgt_gpu_of(device)); }

/* The pool of the core keeps blocks for reuse, so that these two are called rarely: they may wait for the device. */
static void *alloc(lgt_device *device, size_t bytes) {
  lgt_gpu *gpu = lgt_gpu_of(device);
  CUdeviceptr address;
  lgt_status status = lgt_gpu_enter(gpu);
  if (!status) status = LGT_CUDA(gpu->cuda, cuMemAlloc_v2(&address, bytes));
  if (status == LGT_NO_MEMORY) return NULL;
  device->lost |= status == LGT_DEVICE_LOST;
  snprintf(device->failure, sizeof device->failure, "%s", status ? lgt_message() : "");
  return status ? NULL : (void *)(uintptr_t)address;
}

static void release(lgt_device *device, void *block, size_t bytes) {
  lgt_gpu *gpu = lgt_gpu_of(device);
  (void)bytes;
  if (lgt_gpu_enter(gpu) || LGT_CUDA(gpu->cuda, cuMemFree_v2((CUdeviceptr)(uintptr_t)block)))
    lgt_log(MAP, 1, "memory of a GPU is lost: %s", lgt_message());
}

static void close_gpu(lgt_device *device) {
  lgt_gpu *gpu = lgt_gpu_of(device);
  bool entered = !lgt_gpu_enter(gpu);
  if (entered) {
    if (gpu->alerts) gpu->cuda->cuStreamSynchronize(gpu->alerts);
    if (gpu->alerts) gpu->cuda->cuStreamDestroy_v2(gpu->alerts);
    lgt_gpu_free_clock(gpu);
    lgt_gpu_free_ring(gpu);
  }
  lgt_gpu_free_events(gpu, entered);
  gpu->cuda->cuCtxSetCurrent(NULL);
  gpu->cuda->cuDevicePrimaryCtxRelease_v2(gpu->number);
  lgt_mem_free(gpu->events.item);
  pthread_mutex_destroy(&gpu->lock);
  lgt_mem_free(gpu);
}

static lgt_status attribute(const lgt_gpu *gpu, CUdevice_attribute which, int64_t *out) {
  int value;
  lgt_status status = LGT_CUDA(gpu->cuda, cuDeviceGetAttribute(&value, which, gpu->number));
  if (!status) *out = value;
  return status;
}

/* Float64 operations of a multiprocessor in a clock: chips for computing, and those for graphics. */
static int doubles_of(int major, int minor) {
  enum { AMPERE = 32, HOPPER = 64, GRAPHICS = 2 };
  if (major == 8) return minor ? GRAPHICS : AMPERE;
  return major == 9 || (major == 10 && !minor) ? HOPPER : GRAPHICS;
}

/* Both rates of memory and arithmetic are less in practice than what the clocks say. */
static lgt_status read_rates(const lgt_gpu *gpu, int doubles, lgt_rates *out) {
  static const double SHARE_OF_PEAK = 0.8, BUS = 12e9; /* PCI express, through memory that is pinned */
  int64_t clock = 0, memory_clock = 0, width = 0;      /* kHz, bits */
  lgt_status status = attribute(gpu, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, &clock);
  if (!status) status = attribute(gpu, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, &memory_clock);
  if (!status) status = attribute(gpu, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, &width);
  if (status) return status;
  *out = (lgt_rates){.memory = SHARE_OF_PEAK * 2 * 1e3 * (double)memory_clock * (double)width / 8,
                     .operations = SHARE_OF_PEAK * 1e3 * (double)clock * doubles * gpu->device.traits.workers,
                     .bus = BUS};
  return LGT_OK;
}

static lgt_status read_traits(lgt_gpu *gpu) {
  lgt_traits *traits = &gpu->device.traits;
  int64_t major = 0, minor = 0, units = 0;
  lgt_status status =
      LGT_CUDA(gpu->cuda, cuDeviceGetName(gpu->device.name, sizeof gpu->device.name, gpu->number));
  if (!status) status = attribute(gpu, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major);
  if (!status) status = attribute(gpu, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor);
  if (!status) status = attribute(gpu, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &units);
  if (!status) status = attribute(gpu, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, &traits->cache_bytes);
  if (!status) status = attribute(gpu, CU_DEVICE_ATTRIBUTE_MAX_PITCH, &gpu->max_pitch);
  if (status) return status;
  if (major < LEAST_MAJOR)
    return lgt_err(LGT_UNSUPPORTED, "%s has compute capability %d.%d, and lgt needs %d.0 at least",
                   gpu->device.name, (int)major, (int)minor, LEAST_MAJOR);
  traits->workers = (int)units;
  traits->lanes = 32;
  lgt_gpu_target(gpu, (int)major, (int)minor);
  return read_rates(gpu, doubles_of((int)major, (int)minor), &traits->rates);
}

/* What arrays may take. */
static lgt_status set_limit(lgt_gpu *gpu, int64_t bytes, int sharers) {
  size_t free_bytes, all;
  lgt_status status = lgt_gpu_enter(gpu);
  if (!status) status = LGT_CUDA(gpu->cuda, cuMemGetInfo_v2(&free_bytes, &all));
  if (status) return status;
  if (bytes > (int64_t)all)
    return lgt_err(LGT_BAD_ARGUMENT, "gpu-mem = %lld: %s has %lld bytes", (long long)bytes, gpu->device.name,
                   (long long)all);
  if (!bytes && (int64_t)free_bytes < LEAST_FREE)
    return lgt_err(LGT_NO_MEMORY,
                   "%s has too little memory left: others have taken %lld of %lld MiB (nvidia-smi says who); "
                   "use --gpus none, or another GPU (CUDA_VISIBLE_DEVICES)",
                   gpu->device.name, (long long)((all - free_bytes) >> 20), (long long)(all >> 20));
  gpu->device.traits.limit = bytes ? bytes : (int64_t)free_bytes / SHARES * SHARE / sharers;
  return LGT_OK;
}

static lgt_status count(int *count) {
  const lgt_cuda *cuda = lgt_cuda_load();
  if (!cuda) return LGT_UNSUPPORTED;
  *count = cuda->devices;
  return LGT_OK;
}

static void bus(int number, char id[LGT_BUS_ID]) {
  const lgt_cuda *cuda = lgt_cuda_load();
  CUdevice device;
  id[0] = 0;
  if (!cuda || LGT_CUDA(cuda, cuDeviceGet(&device, number)) ||
      LGT_CUDA(cuda, cuDeviceGetPCIBusId(id, LGT_BUS_ID, device)))
    id[0] = 0;
}

static lgt_status open_gpu(int number, int64_t bytes, int sharers, lgt_device **out) {
  const lgt_cuda *cuda = lgt_cuda_load();
  if (!cuda) return LGT_UNSUPPORTED;
  lgt_gpu *gpu = lgt_mem_zalloc(sizeof *gpu);
  if (!gpu) return lgt_err(LGT_NO_MEMORY, "out of memory for a device");
  gpu->cuda = cuda;
  gpu->device = (lgt_device){.class = LGT_CLASS_CUDA,
                             .staging = LGT_RING_BYTES / 2,
                             .target = &gpu->target,
                             .alloc = alloc,
                             .free = release,
                             .queue_new = lgt_gpu_queue_new,
                             .queue_free = lgt_gpu_queue_free,
                             .copy = lgt_gpu_copy,
                             .fill = lgt_gpu_fill,
                             .enter = enter,
                             .launch = lgt_gpu_launch,
                             .event_new = lgt_gpu_event_new,
                             .event_free = lgt_gpu_event_free,
                             .record = lgt_gpu_record,
                             .wait = lgt_gpu_wait,
                             .query = lgt_gpu_query,
                             .when = lgt_gpu_when,
                             .alert = lgt_gpu_alert,
                             .settle = lgt_gpu_settle,
                             .share = lgt_gpu_share,
                             .close = close_gpu};
  gpu->device.number = number;
  lgt_status status = LGT_CUDA(cuda, cuDeviceGet(&gpu->number, number));
  if (!status) status = read_traits(gpu);
  if (status) goto fail;
  status = LGT_CUDA(cuda, cuDevicePrimaryCtxRetain(&gpu->context, gpu->number));
  if (status) goto fail;
  pthread_mutex_init(&gpu->lock, NULL);
  status = set_limit(gpu, bytes, sharers);
  if (status) {
    close_gpu(&gpu->device);
    return status;
  }
  *out = &gpu->device;
  return LGT_OK;
fail:
  lgt_mem_free(gpu);
  return status;
}

__attribute__((constructor)) static void offer(void) {
  static const lgt_device_source source = {count, open_gpu, bus, lgt_cuda_describe};
  lgt_device_offer(&source);
}
