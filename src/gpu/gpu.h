/* gpu.h - inside src/gpu: a GPU as a device of the core (device.h).
 *
 *   driver.c   NVIDIA's driver
 *   gpu.c      opening: what there is, its context, its memory
 *   queue.c    streams, copies, events
 *   staging.c  copies to and from the host's memory, through pinned memory
 *   share.c    memory that other libraries of the process have
 *   code.c     texts become modules, nests become launches
 *
 * The context is the device's primary one, which other libraries of the process share.  It is made current by each function
 * that needs it, since any thread may call, but for launches, of which a task may have hundreds: who launches has entered.  None
 * is put back.
 */
#ifndef LGT_GPU_H
#define LGT_GPU_H

#include <pthread.h>

#include "device/device.h"
#include "driver.h"

enum { LGT_RING_BYTES = 16 << 20, LGT_RING_PIECES = 8, LGT_STAGES = 256 }; /* a large copy takes pieces of the ring */

/* A part of the ring that a copy uses. */
typedef struct lgt_stage {
  lgt_queue *queue; /* borrowed: of the copy; NULL: it is over */
  lgt_event *event; /* borrowed: is over when the copy is; NULL: none was recorded yet */
  lgt_event *own;   /* owned: that event, if nobody else has asked for it */
  lgt_box host;     /* what the host has to copy then; 0 bytes: nothing */
  int64_t end;      /* of its bytes, counted from the begin of the ring on through all its turns */
} lgt_stage;

/* Belongs to the thread that puts operations into queues, which also asks for their events. */
typedef struct lgt_ring {
  char *memory; /* owned, pinned; NULL: there is none yet */
  lgt_stage stage[LGT_STAGES];
  int64_t first, last; /* stages in use: their numbers, modulo LGT_STAGES */
  int64_t begin, end;  /* their bytes */
} lgt_ring;

typedef struct lgt_gpu {
  lgt_device device; /* first: it is one */
  lgt_target target; /* what makes its code */
  const lgt_cuda *cuda;
  CUdevice number;
  CUcontext context;
  int64_t max_pitch;    /* bytes between the rows of a copy */
  pthread_mutex_t lock; /* protects the next one */
  lgt_spares events;    /* owned: of CUevent, to use again */
  lgt_ring ring;
  /* All that follows belongs to the thread that puts operations into queues, as the ring does. */
  CUstream clock;     /* owned, like the next one, which was recorded there at this time; NULL: there is none */
  CUevent epoch;      /* other events' times are counted from it */
  int64_t epoch_time; /* of lgt_profile_now; 0: never */
  CUstream alerts;    /* owned: tells of events without holding up what is behind them; NULL: there is none yet */
} lgt_gpu;

static inline lgt_gpu *lgt_gpu_of(const lgt_device *device) { return (lgt_gpu *)device; }
/* From now on the calling thread works with this device. */
lgt_status lgt_gpu_enter(const lgt_gpu *gpu);

/* ---- queue.c ---- */
struct lgt_queue {
  lgt_gpu *gpu;
  CUstream stream;
  bool staged;   /* there may be stages behind which no event was recorded */
  void *scratch; /* owned: for what the launches of a nest leave for one another */
  int64_t scratch_bytes;
};

struct lgt_event {
  lgt_gpu *gpu;
  CUevent event;
  int stages; /* of the ring, that it stands for */
};

lgt_queue *lgt_gpu_queue_new(lgt_device *device);
void lgt_gpu_queue_free(lgt_queue *queue);
lgt_status lgt_gpu_copy(lgt_queue *queue, const lgt_box *box);
lgt_status lgt_gpu_copy_box(const lgt_queue *queue, const lgt_box *box); /* by the driver alone, of a box that is not empty */
lgt_status lgt_gpu_fill(lgt_queue *queue, void *to, const void *element, int size, int64_t count);
lgt_event *lgt_gpu_event_new(lgt_device *device);
void lgt_gpu_event_free(lgt_event *event);
lgt_status lgt_gpu_record(lgt_queue *queue, lgt_event *event);
lgt_status lgt_gpu_wait(lgt_queue *queue, lgt_event *event);
void lgt_gpu_alert(lgt_event *event);
bool lgt_gpu_query(lgt_event *event, lgt_status *status);
int64_t lgt_gpu_when(lgt_event *event);
void lgt_gpu_free_clock(lgt_gpu *gpu);                /* entered, as below */
void lgt_gpu_free_events(lgt_gpu *gpu, bool entered); /* entered: lgt_gpu_enter has succeeded */

/* ---- staging.c ---- */
/* A copy with an end in the host's memory, if it can be done so. */
lgt_status lgt_gpu_stage(lgt_queue *queue, const lgt_box *box, bool *staged);
/* The event was recorded behind the queue's stages. */
void lgt_gpu_attach_stages(lgt_queue *queue, lgt_event *event);
/* The event is over: bring to the host's memory (good) what it stands for. */
void lgt_gpu_land(lgt_event *event, bool good);
/* What the queue was to do is over, and nobody wants it: all of it, or what no event of others stands for. */
void lgt_gpu_drop_stages(lgt_queue *queue, bool all);
void lgt_gpu_free_ring(lgt_gpu *gpu);

/* ---- share.c ---- */
lgt_status lgt_gpu_settle(lgt_device *device);
lgt_status lgt_gpu_share(lgt_device *device, size_t bytes, lgt_shared **out);

/* ---- code.c ---- */
void lgt_gpu_target(lgt_gpu *gpu, int major, int minor);
void lgt_gpu_free_scratch(lgt_queue *queue); /* nothing in the queue uses it any more */
lgt_status lgt_gpu_launch(lgt_queue *queue, lgt_code code, lgt_nest *nest);

#endif
