/* queue.c - a queue is a stream.  See gpu.h.
 *
 * An event's end is told by a function in a stream of its own, which waits for the event: behind the event it would hold up
 * what comes there.  The function calls nothing of the driver.  Where the device has failed no such function is called;
 * whoever waits looks again after a moment.
 */
#include <string.h>

#include "base/profile.h"
#include "gpu.h"

/* ---- streams ------------------------------------------------------------------------------------------ */

lgt_queue *lgt_gpu_queue_new(lgt_device *device) {
  lgt_gpu *gpu = lgt_gpu_of(device);
  lgt_queue *queue = lgt_mem_zalloc(sizeof *queue);
  if (!queue) return lgt_err(LGT_NO_MEMORY, "out of memory for a queue"), NULL;
  queue->gpu = gpu;
  if (!lgt_gpu_enter(gpu) && !LGT_CUDA(gpu->cuda, cuStreamCreate(&queue->stream, CU_STREAM_NON_BLOCKING)))
    return queue;
  lgt_mem_free(queue);
  return NULL;
}

void lgt_gpu_queue_free(lgt_queue *queue) {
  if (!queue) return;
  const lgt_cuda *cuda = queue->gpu->cuda;
  if (!lgt_gpu_enter(queue->gpu)) {
    cuda->cuStreamSynchronize(queue->stream);
    cuda->cuStreamDestroy_v2(queue->stream);
    lgt_gpu_free_scratch(queue);
  }
  lgt_gpu_drop_stages(queue, true);
  lgt_mem_free(queue);
}

/* ---- copies --------------------------------------------------------------------------------------------- */

/* One of the two ends. */
typedef struct end {
  CUmemorytype type;
  CUdeviceptr device;
  void *host;
  CUcontext context;
} end;

static end end_of(const lgt_device *device, const char *address) {
  if (!device) return (end){CU_MEMORYTYPE_HOST, 0, (void *)address, NULL};
  return (end){CU_MEMORYTYPE_DEVICE, (CUdeviceptr)(uintptr_t)address, NULL, lgt_gpu_of(device)->context};
}

static lgt_status copy_within(const lgt_queue *queue, const lgt_box *box, const int64_t height[2]) {
  const lgt_cuda *cuda = queue->gpu->cuda;
  end to = end_of(box->to_device, box->to), from = end_of(box->from_device, box->from);
  CUDA_MEMCPY3D c = {.srcMemoryType = from.type,
                     .srcHost = from.host,
                     .srcDevice = from.device,
                     .srcPitch = (size_t)box->from_stride[1],
                     .srcHeight = (size_t)height[1],
                     .dstMemoryType = to.type,
                     .dstHost = to.host,
                     .dstDevice = to.device,
                     .dstPitch = (size_t)box->to_stride[1],
                     .dstHeight = (size_t)height[0],
                     .WidthInBytes = (size_t)box->bytes,
                     .Height = (size_t)box->count[1],
                     .Depth = (size_t)box->count[0]};
  return LGT_CUDA(cuda, cuMemcpy3DAsync_v2(&c, queue->stream));
}

/* From the host to the host, where that is in order with other copies of the queue. */
static lgt_status copy_on_host(const lgt_queue *queue, const lgt_box *box) {
  lgt_status status = LGT_OK;
  for (int64_t at = 0, n; at < box->bytes && !status; at += n) {
    n = box->bytes - at < queue->gpu->max_pitch ? box->bytes - at : queue->gpu->max_pitch;
    lgt_box part = {box->to + at, box->from + at, n, {1, 1}, {n, n}, {n, n}, NULL, NULL};
    status = copy_within(queue, &part, (const int64_t[2]){1, 1});
  }
  return status;
}

/* Bytes that lie one behind the other. */
static lgt_status copy_run(const lgt_queue *queue, const lgt_box *box) {
  const lgt_cuda *cuda = queue->gpu->cuda;
  end to = end_of(box->to_device, box->to), from = end_of(box->from_device, box->from);
  size_t bytes = (size_t)box->bytes;
  if (!box->to_device && !box->from_device) return copy_on_host(queue, box);
  if (!box->to_device)
    return LGT_CUDA(cuda, cuMemcpyDtoHAsync_v2(to.host, from.device, bytes, queue->stream));
  if (!box->from_device)
    return LGT_CUDA(cuda, cuMemcpyHtoDAsync_v2(to.device, from.host, bytes, queue->stream));
  if (to.context == from.context)
    return LGT_CUDA(cuda, cuMemcpyDtoDAsync_v2(to.device, from.device, bytes, queue->stream));
  return LGT_CUDA(cuda,
                  cuMemcpyPeerAsync(to.device, to.context, from.device, from.context, bytes, queue->stream));
}

static lgt_status copy_between(const lgt_queue *queue, const lgt_box *box, const int64_t height[2]) {
  const lgt_cuda *cuda = queue->gpu->cuda;
  end to = end_of(box->to_device, box->to), from = end_of(box->from_device, box->from);
  CUDA_MEMCPY3D_PEER c = {.srcMemoryType = from.type,
                          .srcDevice = from.device,
                          .srcContext = from.context,
                          .srcPitch = (size_t)box->from_stride[1],
                          .srcHeight = (size_t)height[1],
                          .dstMemoryType = to.type,
                          .dstDevice = to.device,
                          .dstContext = to.context,
                          .dstPitch = (size_t)box->to_stride[1],
                          .dstHeight = (size_t)height[0],
                          .WidthInBytes = (size_t)box->bytes,
                          .Height = (size_t)box->count[1],
                          .Depth = (size_t)box->count[0]};
  return LGT_CUDA(cuda, cuMemcpy3DPeerAsync(&c, queue->stream));
}

/* Rows of a plane lie `stride` bytes apart, planes a number of rows: how many; 0: the driver cannot copy such planes. */
static int64_t plane_height(const lgt_gpu *gpu, const lgt_box *box, const int64_t stride[2]) {
  if (stride[1] < box->bytes || stride[1] > gpu->max_pitch) return 0;
  if (box->count[0] == 1) return box->count[1];
  if (stride[0] < stride[1] || stride[0] % stride[1]) return 0;
  int64_t height = stride[0] / stride[1];
  return height >= box->count[1] ? height : 0;
}

/* One call of the driver for all of the box if it can, else one for each plane, or each row. */
lgt_status lgt_gpu_copy_box(const lgt_queue *queue, const lgt_box *box) {
  if (box->count[0] == 1 && box->count[1] == 1) return copy_run(queue, box);
  lgt_box b = *box;
  if (b.count[1] == 1) { /* rows, one to a plane, are a plane of rows */
    b.count[1] = b.count[0];
    b.to_stride[1] = b.to_stride[0];
    b.from_stride[1] = b.from_stride[0];
    b.count[0] = 1;
  }
  int64_t height[2] = {plane_height(queue->gpu, &b, b.to_stride),
                       plane_height(queue->gpu, &b, b.from_stride)};
  bool between = b.to_device && b.from_device && b.to_device != b.from_device;
  if (height[0] && height[1])
    return between ? copy_between(queue, &b, height) : copy_within(queue, &b, height);
  lgt_status status = LGT_OK;
  int d = b.count[0] == 1;
  lgt_box part = b;
  part.count[d] = 1;
  for (int64_t i = 0; i < b.count[d] && !status; i++) {
    part.to = b.to + i * b.to_stride[d];
    part.from = b.from + i * b.from_stride[d];
    status = lgt_gpu_copy_box(queue, &part);
  }
  return status;
}

lgt_status lgt_gpu_copy(lgt_queue *queue, const lgt_box *box) {
  if (box->bytes <= 0 || box->count[0] <= 0 || box->count[1] <= 0) return LGT_OK;
  bool staged = false;
  lgt_status status = lgt_gpu_enter(queue->gpu);
  if (!status) status = lgt_gpu_stage(queue, box, &staged);
  return status || staged ? status : lgt_gpu_copy_box(queue, box);
}

/* Is the element the same `size` bytes over and over? */
static bool repeats(const char *element, int bytes, int size) {
  for (int i = size; i < bytes; i++)
    if (element[i] != element[i - size]) return false;
  return bytes % size == 0;
}

lgt_status lgt_gpu_fill(lgt_queue *queue, void *to, const void *element, int size, int64_t count) {
  const lgt_cuda *cuda = queue->gpu->cuda;
  CUdeviceptr at = (CUdeviceptr)(uintptr_t)to;
  size_t bytes = (size_t)size * (size_t)count;
  unsigned char one;
  unsigned short two;
  unsigned four;
  if (!bytes) return LGT_OK;
  lgt_status status = lgt_gpu_enter(queue->gpu);
  if (status) return status;
  if (repeats(element, size, 1)) {
    memcpy(&one, element, sizeof one);
    return LGT_CUDA(cuda, cuMemsetD8Async(at, one, bytes, queue->stream));
  }
  if (repeats(element, size, 2)) {
    memcpy(&two, element, sizeof two);
    return LGT_CUDA(cuda, cuMemsetD16Async(at, two, bytes / sizeof two, queue->stream));
  }
  if (repeats(element, size, 4)) {
    memcpy(&four, element, sizeof four);
    return LGT_CUDA(cuda, cuMemsetD32Async(at, four, bytes / sizeof four, queue->stream));
  }
  return lgt_err(LGT_UNSUPPORTED, "elements of %d bytes do not fill memory of a GPU", size);
}

/* ---- events --------------------------------------------------------------------------------------------- */

lgt_event *lgt_gpu_event_new(lgt_device *device) {
  lgt_gpu *gpu = lgt_gpu_of(device);
  pthread_mutex_lock(&gpu->lock);
  lgt_event *event = lgt_spares_take(&gpu->events, 0);
  pthread_mutex_unlock(&gpu->lock);
  if (event) return event;
  if (!(event = lgt_mem_zalloc(sizeof *event)))
    return lgt_err(LGT_NO_MEMORY, "out of memory for an event"), NULL;
  event->gpu = gpu;
  unsigned flags = device->timed ? 0 : CU_EVENT_DISABLE_TIMING;
  if (!lgt_gpu_enter(gpu) && !LGT_CUDA(gpu->cuda, cuEventCreate(&event->event, flags))) return event;
  lgt_mem_free(event);
  return NULL;
}

/* `entered`: the device can be worked with, else what it has for the event stays there. */
static void destroy(lgt_event *event, bool entered) {
  if (entered) event->gpu->cuda->cuEventDestroy_v2(event->event);
  lgt_mem_free(event);
}

void lgt_gpu_event_free(lgt_event *event) {
  lgt_gpu *gpu = event->gpu;
  if (event->stages) lgt_gpu_land(event, false);
  pthread_mutex_lock(&gpu->lock);
  bool kept = lgt_spares_give(&gpu->events, event);
  pthread_mutex_unlock(&gpu->lock);
  if (!kept) destroy(event, !lgt_gpu_enter(gpu));
}

void lgt_gpu_free_events(lgt_gpu *gpu, bool entered) {
  for (lgt_event *event; (event = lgt_spares_take(&gpu->events, 0));) destroy(event, entered);
}

/* ---- times ---------------------------------------------------------------------------------------------- */

/* Times of events are floats, counted in milliseconds from another event: of one long ago they would be coarse. */
static const int64_t EPOCH_LASTS = 10000000000, NEAR = 50000; /* ns */
enum { TRIES = 5 };

void lgt_gpu_free_clock(lgt_gpu *gpu) {
  if (gpu->epoch) gpu->cuda->cuEventDestroy_v2(gpu->epoch);
  if (gpu->clock) gpu->cuda->cuStreamDestroy_v2(gpu->clock);
}

/* From time to time, in a stream with nothing else in it: an event at a time that the host knows, between two looks at its
 * clock that are near each other. */
static void renew_epoch(lgt_gpu *gpu) {
  const lgt_cuda *cuda = gpu->cuda;
  int64_t begin = lgt_profile_now(), end = begin;
  if (gpu->epoch_time && begin - gpu->epoch_time < EPOCH_LASTS) return;
  if (!gpu->clock && LGT_CUDA(cuda, cuStreamCreate(&gpu->clock, CU_STREAM_NON_BLOCKING))) return;
  if (!gpu->epoch && LGT_CUDA(cuda, cuEventCreate(&gpu->epoch, 0))) return;
  gpu->epoch_time = 0; /* nobody knows, should one of these fail */
  for (int i = 0; i < TRIES && (i == 0 || end - begin > NEAR); i++) {
    begin = lgt_profile_now();
    if (LGT_CUDA(cuda, cuEventRecord(gpu->epoch, gpu->clock)) ||
        LGT_CUDA(cuda, cuEventSynchronize(gpu->epoch)))
      return;
    end = lgt_profile_now();
  }
  gpu->epoch_time = begin + (end - begin) / 2;
}

int64_t lgt_gpu_when(lgt_event *event) {
  lgt_gpu *gpu = event->gpu;
  float milliseconds;
  if (!gpu->epoch_time || lgt_gpu_enter(gpu) ||
      LGT_CUDA(gpu->cuda, cuEventElapsedTime(&milliseconds, gpu->epoch, event->event)))
    return 0;
  return gpu->epoch_time + (int64_t)((double)milliseconds * 1e6);
}

/* ---- events' ends --------------------------------------------------------------------------------------- */

static void tell(void *context) {
  const lgt_device *device = context;
  if (device->notify) device->notify(device->notify_context);
}

/* Without an event nobody knows when the work before it is done: then that is waited for. */
lgt_status lgt_gpu_record(lgt_queue *queue, lgt_event *event) {
  lgt_gpu *gpu = queue->gpu;
  lgt_status status = lgt_gpu_enter(gpu);
  if (!status && gpu->device.timed) renew_epoch(gpu);
  if (!status) status = LGT_CUDA(gpu->cuda, cuEventRecord(event->event, queue->stream));
  if (!status && queue->staged) lgt_gpu_attach_stages(queue, event);
  if (!status) return LGT_OK;
  gpu->cuda->cuStreamSynchronize(queue->stream);
  if (queue->staged) lgt_gpu_drop_stages(queue, false);
  return status;
}

void lgt_gpu_alert(lgt_event *event) {
  lgt_gpu *gpu = event->gpu;
  const lgt_cuda *cuda = gpu->cuda;
  if (lgt_gpu_enter(gpu)) return;
  if (!gpu->alerts && LGT_CUDA(cuda, cuStreamCreate(&gpu->alerts, CU_STREAM_NON_BLOCKING))) return;
  if (LGT_CUDA(cuda, cuStreamWaitEvent(gpu->alerts, event->event, 0))) return;
  cuda->cuLaunchHostFunc(gpu->alerts, tell, &gpu->device);
}

lgt_status lgt_gpu_wait(lgt_queue *queue, lgt_event *event) {
  lgt_status status = lgt_gpu_enter(queue->gpu);
  return status ? status : LGT_CUDA(queue->gpu->cuda, cuStreamWaitEvent(queue->stream, event->event, 0));
}

/* What cannot be asked for is waited for, lest memory is used again that the device still works on. */
bool lgt_gpu_query(lgt_event *event, lgt_status *status) {
  lgt_gpu *gpu = event->gpu;
  *status = lgt_gpu_enter(gpu);
  CUresult result = gpu->cuda->cuEventQuery(event->event);
  if (result == CUDA_ERROR_NOT_READY && !*status) return false;
  if (result) {
    *status = lgt_cuda_check(result, "work of the device");
    gpu->cuda->cuEventSynchronize(event->event);
  }
  if (event->stages) lgt_gpu_land(event, !*status);
  return true;
}
