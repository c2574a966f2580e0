/* device.h - devices: memory, and what works on it behind the host's back.
 *
 * A table of operations, as peers.h has one for other ranks, so that the core knows no CUDA.  host.c fills it with what
 * the host does at once; emulated.c with memory that the host cannot touch and with queues that take their time, so that
 * every rule below can be broken and seen to be broken on any machine; src/gpu with CUDA's driver, which it offers to the
 * core as a *source* of devices.
 *
 * Queues.  What is put into a queue is done in order, some time later; nothing orders two queues, or a queue and the host,
 * but events: one that was recorded in a queue is over when all that was put there before is done.  What an operation
 * names (a nest, its addresses) stays where it is until then.  A queue that is told to wait for an event waits for what the event
 * stood for at that moment: once that is over the event may be recorded again, or freed, though the queue has not come there yet.
 *
 * Addresses of a device are the device's: the host may compute with them, but only an `on_host` device's may be followed.
 * A copy may have its ends in the host's memory, in the device's own, or in that of another device of the same class.  What is
 * copied from the host's memory to a device may be read there before the call returns: nothing in a queue may still have
 * to write it.  What is copied to the host's memory may be written by `query`, when it says that an event behind the copy is
 * over: nothing but other copies to there may be put into a queue before, if it uses that memory.
 *
 * Failures.  An operation that returns a status was not put into the queue.  One that fails there fails what is behind it
 * up to the next event, which has the status.  A queue that waits for such an event goes on all the same: a caller whose work
 * in that queue needs what failed must query both events.
 *
 * Threads: one thread puts operations into a queue, records events and queries them; `notify` is called by any.
 */
#ifndef LGT_DEVICE_H
#define LGT_DEVICE_H

#include "core.h"
#include "kernel/kernel.h"

typedef struct lgt_device lgt_device;
typedef struct lgt_queue lgt_queue;
typedef struct lgt_event lgt_event;

typedef enum lgt_device_class { LGT_CLASS_HOST, LGT_CLASS_EMULATED, LGT_CLASS_CUDA, LGT_CLASSES } lgt_device_class;

/* What a device can do in a second; of one that has no rates of its own they are 0. */
typedef struct lgt_rates {
  double memory;     /* bytes that kernels read and write */
  double operations; /* with numbers of 8 bytes */
  double bus;        /* bytes between it and the host */
} lgt_rates;

/* What planning asks of a device. */
typedef struct lgt_traits {
  int lanes;           /* elements of 8 bytes that one step of a worker computes */
  int workers;         /* that share the chunks of a nest */
  int64_t cache_bytes; /* that they share */
  int64_t limit;       /* bytes of memory; 0: unknown */
  lgt_rates rates;
} lgt_traits;

/* Bytes in up to three dimensions: count[0] times count[1] runs of `bytes`. */
typedef struct lgt_box {
  char *to;
  const char *from;
  int64_t bytes, count[2], to_stride[2], from_stride[2];
  const struct lgt_device *to_device, *from_device; /* whose addresses these are; NULL: the host's */
} lgt_box;

/* Machine code, or what takes its place: code that a device of this class can run.  Of host and emulated devices it is a
 * lgt_kernel_fn (NULL: the interpreter), of others what their `target` has loaded. */
typedef struct lgt_code {
  lgt_device_class class;
  void *handle;
} lgt_code;

struct lgt_device {
  lgt_device_class class;
  bool on_host; /* the host may follow its addresses */
  lgt_traits traits;
  char name[64]; /* for people */
  int number;    /* of its source, from 0 */
  bool lost;     /* it has failed for good */
  /* Bytes that may be copied between it and the host's memory before the caller has to wait for what is in queues; INT64_MAX:
   * the caller never has to.  And how often that happened; bytes that went through memory of the device's own choice. */
  int64_t staging, staging_waits, staged_bytes;
  char failure[160];  /* why there is no memory, if it is not because there is too little; else empty */
  lgt_target *target; /* owned: what makes code for it (kernel.h); NULL: it runs the host's */

  /* Aligned to 64 bytes, not zeroed; NULL when there is no more.  Freeing does not wait for queues. */
  void *(*alloc)(lgt_device *device, size_t bytes);
  void (*free)(lgt_device *device, void *block, size_t bytes);

  lgt_queue *(*queue_new)(lgt_device *device); /* NULL with an error */
  void (*queue_free)(lgt_queue *queue);        /* waits for what is in it */
  lgt_status (*copy)(lgt_queue *queue, const lgt_box *box);
  /* `count` elements of `size` bytes, one after the other. */
  lgt_status (*fill)(lgt_queue *queue, void *to, const void *element, int size, int64_t count);
  /* Before launches: the calling thread is going to work with this device.  Holds until the thread works with another one, or
   * leaves the core, for the host program may use the same library.  NULL: nothing has to be done. */
  lgt_status (*enter)(const lgt_device *device);
  /* All chunks of a nest, with begin and end. */
  lgt_status (*launch)(lgt_queue *queue, lgt_code code, lgt_nest *nest);

  lgt_event *(*event_new)(lgt_device *device); /* NULL with an error */
  void (*event_free)(lgt_event *event);        /* which must be over, or never recorded */
  lgt_status (*record)(lgt_queue *queue, lgt_event *event);
  lgt_status (*wait)(lgt_queue *queue, lgt_event *event); /* later operations of the queue wait for the event */
  /* Is the event over?  Does not wait.  If it is over, *status is the status of the operations that the event stands for,
   * with a message if one of them has failed; later queries answer the same until the event is recorded again; and what
   * the host does from now on comes after these operations.  An event that was never recorded is over. */
  bool (*query)(lgt_event *event, lgt_status *status);

  /* When an event that is over was over, in nanoseconds of lgt_profile_now's clock; 0: nobody knows.  Only of events that were made
   * and recorded while `timed` was set.  NULL: no event has a time. */
  int64_t (*when)(lgt_event *event);
  bool timed; /* set by the core */

  /* Let `notify` be called once the recorded event is over.  This may fail without a word, and then `notify` is not called
   * for the event.  NULL: `notify` is called after each event. */
  void (*alert)(lgt_event *event);

  /* Other libraries of the process that have the same device; NULL: there are none.  Settle: wait until all that anybody here
   * has put to it is done.  Share: memory that they may have for longer than the device is open, aligned as other blocks, not
   * zeroed. */
  lgt_status (*settle)(lgt_device *device);
  lgt_status (*share)(lgt_device *device, size_t bytes, lgt_shared **out);

  void (*close)(lgt_device *device); /* after its queues and events were freed */

  /* Set by the code that waits for events, called when one is over; a query may still deny that for a moment. */
  void (*notify)(void *context);
  void *notify_context;

  /* Set by the code that counts the device's memory: what launches need beside arrays comes from there.  NULL: from `alloc`. */
  void *(*take)(void *pool, int64_t bytes, int64_t *rounded);
  void (*give)(void *pool, void *block, int64_t rounded);
  void *pool;
};

/* The bytes of a box, by the thread that asks. */
void lgt_box_copy(const lgt_box *box);

enum { LGT_BUS_ID = 16 };
/* Devices that are not the core's own.  Each question loads the libraries that its answer needs; nothing loads them before.
 * A process that is forked after a question cannot use these devices. */
typedef struct lgt_device_source {
  lgt_status (*count)(int *count); /* how many there are; none is an error that says why */
  /* A device, by its number from 0.  `bytes`: of its memory, for its limit; 0: most of what is free, divided by the
   * processes that share it. */
  lgt_status (*open)(int number, int64_t bytes, int sharers, lgt_device **out);
  /* Where it is on the PCI bus, "0000:10:00.0"; "": unknown. */
  void (*bus)(int number, char id[LGT_BUS_ID]);
  /* A line for people: what was found, or why nothing. */
  void (*describe)(char *text, size_t room);
} lgt_device_source;
/* Offered when the library is loaded; NULL: this program has none. */
void lgt_device_offer(const lgt_device_source *source);
const lgt_device_source *lgt_device_offered(void);

/* The host's memory.  Never fails, nothing to close. */
lgt_device *lgt_device_host(void);

/* An emulated device of so many bytes; its delays follow from the seed.  NULL with an error. */
lgt_device *lgt_device_emulate(int64_t bytes, uint64_t seed);
/* For tests: the n-th operation that its queues carry out from now on fails (1: the next); 0 turns it off. */
void lgt_device_fail_at(lgt_device *device, int64_t n);
/* For tests: what is in its queues stays there until they are let go. */
void lgt_device_hold(lgt_device *device, bool hold);

#endif
