/* gpu.h - inside src/gpu: a GPU as a device of the core (device.h).
 *
 *   driver.c   NVIDIA's driver
 *   gpu.c      opening: what there is, its context, its memory
 *   queue.c    streams, copies, events
 *   code.c     texts become modules, nests become launches
 *
 * The context is the device's primary one, which other libraries of the process share.  It is made current by each function
 * that needs it, since any thread may call; none is put back.
 */
#ifndef LGT_GPU_H
#define LGT_GPU_H

#include <pthread.h>

#include "device/device.h"
#include "driver.h"

typedef struct lgt_gpu {
  lgt_device device; /* first: it is one */
  lgt_target target; /* what makes its code */
  const lgt_cuda *cuda;
  CUdevice number;
  CUcontext context;
  int64_t max_pitch;    /* bytes between the rows of a copy */
  pthread_mutex_t lock; /* protects the next one */
  lgt_spares events;    /* owned: of CUevent, to use again */
  CUstream alerts;      /* owned: tells of events without holding up what is behind them; NULL: there is none yet */
} lgt_gpu;

static inline lgt_gpu *lgt_gpu_of(const lgt_device *device) { return (lgt_gpu *)device; }
/* From now on the calling thread works with this device. */
lgt_status lgt_gpu_enter(const lgt_gpu *gpu);

/* ---- queue.c ---- */
struct lgt_queue {
  lgt_gpu *gpu;
  CUstream stream;
  CUdeviceptr scratch; /* owned: for what the launches of a nest leave for one another */
  int64_t scratch_bytes;
};

lgt_queue *lgt_gpu_queue_new(lgt_device *device);
void lgt_gpu_queue_free(lgt_queue *queue);
lgt_status lgt_gpu_copy(lgt_queue *queue, const lgt_box *box);
lgt_status lgt_gpu_fill(lgt_queue *queue, void *to, const void *element, int size, int64_t count);
lgt_event *lgt_gpu_event_new(lgt_device *device);
void lgt_gpu_event_free(lgt_event *event);
lgt_status lgt_gpu_record(lgt_queue *queue, lgt_event *event);
lgt_status lgt_gpu_wait(lgt_queue *queue, lgt_event *event);
void lgt_gpu_alert(lgt_event *event);
bool lgt_gpu_query(lgt_event *event, lgt_status *status);
void lgt_gpu_free_events(lgt_gpu *gpu);

/* ---- code.c ---- */
void lgt_gpu_target(lgt_gpu *gpu, int major, int minor);
lgt_status lgt_gpu_launch(lgt_queue *queue, lgt_code code, lgt_nest *nest);

#endif
