/* staging.c - copies between a GPU and the host's memory, through a ring of pinned memory.  See gpu.h.
 *
 * The driver copies pageable memory while the caller waits for it, and for all that is before it in its stream.  So elements
 * go through memory that is pinned once: on their way to the device the host puts them there at once; on their way back
 * the host fetches them when it sees that the event behind the copy is over (`land`), before it tells anybody.
 *
 * Each copy takes a *stage*, a piece of the ring.  Stages are given back in the order in which they were taken.  When there
 * is no room the caller waits for the oldest one, whose event is in a stream and so will be over.  A large copy takes several
 * stages with events of their own: the host fills one while the device empties another.
 *
 * A copy from the host to the host needs no memory of the ring, but a stage: what it reads may not have landed yet.
 */
#include "gpu.h"

enum { EVENT_FROM = 256 << 10 }; /* bytes of a stage that gets an event of its own */
enum { ALIGNMENT = 256 };

static lgt_stage *stage_of(lgt_ring *ring, int64_t number) { return &ring->stage[number % LGT_STAGES]; }

/* Nothing is left to do with it. */
static void end_stage(lgt_stage *stage) {
  if (stage->event) stage->event->stages--;
  if (stage->own) lgt_gpu_event_free(stage->own);
  stage->event = stage->own = NULL;
  stage->queue = NULL;
}

static void give_back(lgt_ring *ring) {
  for (; ring->first < ring->last && !stage_of(ring, ring->first)->queue; ring->first++)
    ring->begin = stage_of(ring, ring->first)->end;
}

void lgt_gpu_land(lgt_event *event, bool good) {
  lgt_ring *ring = &event->gpu->ring;
  int left = event->stages; /* an event of a stage is gone with it */
  for (int64_t n = ring->first; n < ring->last && left; n++) {
    lgt_stage *stage = stage_of(ring, n);
    if (stage->event != event) continue;
    if (good && stage->host.bytes) lgt_box_copy(&stage->host);
    end_stage(stage);
    left--;
  }
  give_back(ring);
}

static void attach(lgt_stage *stage, lgt_event *event) {
  if (stage->own) {
    stage->event->stages--;
    lgt_gpu_event_free(stage->own);
    stage->own = NULL;
  }
  stage->event = event;
  event->stages++;
}

/* A stage that had an event of its own gets this one instead, which stands for the same and more. */
void lgt_gpu_attach_stages(lgt_queue *queue, lgt_event *event) {
  lgt_ring *ring = &queue->gpu->ring;
  for (int64_t n = ring->first; n < ring->last; n++) {
    lgt_stage *stage = stage_of(ring, n);
    if (stage->queue == queue && (!stage->event || stage->own)) attach(stage, event);
  }
  queue->staged = false;
}

void lgt_gpu_drop_stages(lgt_queue *queue, bool all) {
  lgt_ring *ring = &queue->gpu->ring;
  for (int64_t n = ring->first; n < ring->last; n++) {
    lgt_stage *stage = stage_of(ring, n);
    if (stage->queue == queue && (all || !stage->event || stage->own)) end_stage(stage);
  }
  queue->staged = false;
  give_back(ring);
}

/* An event of its own behind the stage, for which others may wait. */
static lgt_status record_own(lgt_stage *stage) {
  lgt_queue *queue = stage->queue;
  lgt_event *event = lgt_gpu_event_new(&queue->gpu->device);
  if (!event) return lgt_last_status();
  lgt_status status = LGT_CUDA(queue->gpu->cuda, cuEventRecord(event->event, queue->stream));
  if (status) {
    lgt_gpu_event_free(event);
    return status;
  }
  attach(stage, event);
  stage->own = event;
  return LGT_OK;
}

static lgt_status wait_for_oldest(lgt_gpu *gpu) {
  lgt_stage *stage = stage_of(&gpu->ring, gpu->ring.first);
  lgt_status status = stage->event ? LGT_OK : record_own(stage);
  if (status) return status;
  gpu->device.staging_waits++;
  status = LGT_CUDA(gpu->cuda, cuEventSynchronize(stage->event->event));
  lgt_gpu_land(stage->event, !status);
  return status;
}

/* Is there room behind the last stage, without a break? */
static bool has_room(lgt_ring *ring, int64_t bytes, int64_t *at) {
  if (ring->first == ring->last) ring->begin = ring->end = 0;
  int64_t turn = ring->end / LGT_RING_BYTES * LGT_RING_BYTES;
  *at = ring->end + bytes <= turn + LGT_RING_BYTES ? ring->end : turn + LGT_RING_BYTES;
  return *at + bytes <= ring->begin + LGT_RING_BYTES && ring->last - ring->first < LGT_STAGES;
}

static lgt_status take_stage(lgt_queue *queue, int64_t bytes, lgt_stage **out, char **memory) {
  lgt_ring *ring = &queue->gpu->ring;
  int64_t at;
  bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  while (!has_room(ring, bytes, &at)) {
    lgt_status status = wait_for_oldest(queue->gpu);
    if (status) return status;
  }
  *out = stage_of(ring, ring->last++);
  **out = (lgt_stage){.queue = queue, .end = ring->end = at + bytes};
  *memory = ring->memory + at % LGT_RING_BYTES;
  queue->staged = true;
  return LGT_OK;
}

/* The box with one end packed into the ring. */
static lgt_status stage_piece(lgt_queue *queue, const lgt_box *box, int64_t bytes) {
  lgt_stage *stage;
  char *memory;
  lgt_status status = take_stage(queue, bytes, &stage, &memory);
  if (status) return status;
  queue->gpu->device.staged_bytes += bytes;
  lgt_box host = *box, rest = *box;
  const int64_t packed[2] = {box->bytes * box->count[1], box->bytes};
  host.to_device = host.from_device = NULL;
  bool up = box->to_device;
  for (int d = 0; d < 2; d++)
    if (up) host.to_stride[d] = rest.from_stride[d] = packed[d];
    else host.from_stride[d] = rest.to_stride[d] = packed[d];
  if (up) host.to = memory, rest.from = memory;
  else host.from = memory, rest.to = memory;
  if (up) lgt_box_copy(&host);
  else stage->host = host;
  status = lgt_gpu_copy_box(queue, &rest);
  return !status && bytes >= EVENT_FROM ? record_own(stage) : status;
}

/* In pieces, along its outermost dimension. */
static lgt_status stage_box(lgt_queue *queue, const lgt_box *box) {
  int64_t plane = box->bytes * box->count[1], bytes = plane * box->count[0];
  if (bytes <= LGT_RING_BYTES / LGT_RING_PIECES) return stage_piece(queue, box, bytes);
  lgt_box part = *box;
  int d = box->count[0] > 1 ? 0 : box->count[1] > 1 ? 1 : 2;
  int64_t unit = d == 0 ? plane : d == 1 ? box->bytes : 1, *count = d < 2 ? &part.count[d] : &part.bytes;
  int64_t all = *count, most = LGT_RING_BYTES / LGT_RING_PIECES / unit;
  lgt_status status = LGT_OK;
  if (most < 1) most = 1;
  for (int64_t at = 0; at < all && !status; at += most) {
    part.to = box->to + at * (d < 2 ? box->to_stride[d] : 1);
    part.from = box->from + at * (d < 2 ? box->from_stride[d] : 1);
    *count = all - at < most ? all - at : most;
    status = stage_box(queue, &part);
  }
  return status;
}

/* The ring, when it is first needed.  Where nothing can be pinned the driver copies, and the caller waits. */
static bool have_ring(lgt_gpu *gpu) {
  void *memory;
  if (gpu->ring.memory || !gpu->device.staging) return gpu->ring.memory;
  lgt_status status = LGT_CUDA(gpu->cuda, cuMemHostAlloc(&memory, LGT_RING_BYTES, CU_MEMHOSTALLOC_PORTABLE));
  if (status) {
    gpu->device.staging = 0;
    lgt_log(MAP, 1, "copies to and from a GPU wait: %s", lgt_message());
    return false;
  }
  gpu->ring.memory = memory;
  return true;
}

lgt_status lgt_gpu_stage(lgt_queue *queue, const lgt_box *box, bool *staged) {
  bool to = box->to_device, from = box->from_device;
  lgt_stage *stage;
  char *memory;
  *staged = (!to || !from) && have_ring(queue->gpu);
  if (!*staged) return LGT_OK;
  if (to || from) return stage_box(queue, box);
  lgt_status status = take_stage(queue, 0, &stage, &memory);
  if (!status) stage->host = *box;
  return status;
}

void lgt_gpu_free_ring(lgt_gpu *gpu) {
  if (gpu->ring.memory) gpu->cuda->cuMemFreeHost(gpu->ring.memory);
}
