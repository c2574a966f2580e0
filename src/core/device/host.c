/* host.c - the host as a device: everything is done where it is asked for.  See device.h. */
#include "device/device.h"

#include <string.h>

struct lgt_queue {
  lgt_status status; /* of what failed since the last event */
};
struct lgt_event {
  lgt_status status;
};

static const lgt_device_source *offered;

void lgt_device_offer(const lgt_device_source *source) { offered = source; }
const lgt_device_source *lgt_device_offered(void) { return offered; }

void lgt_box_copy(const lgt_box *box) {
  for (int64_t i = 0; i < box->count[0]; i++) {
    char *to = box->to + i * box->to_stride[0];
    const char *from = box->from + i * box->from_stride[0];
    for (int64_t j = 0; j < box->count[1]; j++, to += box->to_stride[1], from += box->from_stride[1])
      memcpy(to, from, (size_t)box->bytes);
  }
}

static void *alloc(lgt_device *device, size_t bytes) { return (void)device, lgt_mem_pages_alloc(bytes); }
static void release(lgt_device *device, void *block, size_t bytes) {
  (void)device;
  lgt_mem_pages_free(block, bytes);
}

static lgt_queue *queue_new(lgt_device *device) {
  lgt_queue *queue = lgt_mem_zalloc(sizeof *queue);
  (void)device;
  if (!queue) lgt_err(LGT_NO_MEMORY, "out of memory for a queue");
  return queue;
}
static void queue_free(lgt_queue *queue) { lgt_mem_free(queue); }

static lgt_status copy(lgt_queue *queue, const lgt_box *box) {
  if (!queue->status) lgt_box_copy(box);
  return LGT_OK;
}

static lgt_status fill(lgt_queue *queue, void *to, const void *element, int size, int64_t count) {
  for (int64_t i = 0; i < count && !queue->status; i++) memcpy((char *)to + i * size, element, (size_t)size);
  return LGT_OK;
}

static lgt_status launch(lgt_queue *queue, lgt_code code, lgt_nest *nest) {
  if (queue->status) return LGT_OK;
  queue->status = lgt_nest_begin(nest);
  for (int c = 0; c < nest->shape->nchunk && !queue->status; c++)
    queue->status = lgt_nest_run(nest, (lgt_kernel_fn)code.handle, c, NULL);
  lgt_nest_end(nest);
  return LGT_OK;
}

static lgt_event *event_new(lgt_device *device) {
  lgt_event *event = lgt_mem_zalloc(sizeof *event);
  (void)device;
  if (!event) lgt_err(LGT_NO_MEMORY, "out of memory for an event");
  return event;
}
static void event_free(lgt_event *event) { lgt_mem_free(event); }

static lgt_status record(lgt_queue *queue, lgt_event *event) {
  event->status = queue->status;
  queue->status = LGT_OK;
  return LGT_OK;
}
static lgt_status wait(lgt_queue *queue, lgt_event *event) { return (void)queue, (void)event, LGT_OK; }
static bool query(lgt_event *event, lgt_status *status) { return *status = event->status, true; }
static void close_host(lgt_device *device) { (void)device; }

lgt_device *lgt_device_host(void) {
  static lgt_device host = {.class = LGT_CLASS_HOST,
                            .on_host = true,
                            .traits = {.lanes = 4, .workers = 1},
                            .staging = INT64_MAX,
                            .name = "the host",
                            .alloc = alloc,
                            .free = release,
                            .queue_new = queue_new,
                            .queue_free = queue_free,
                            .copy = copy,
                            .fill = fill,
                            .launch = launch,
                            .event_new = event_new,
                            .event_free = event_free,
                            .record = record,
                            .wait = wait,
                            .query = query,
                            .close = close_host};
  return &host;
}
