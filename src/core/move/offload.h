/* offload.h - tasks that devices do.  Between job.c and exec.c, as message.h is for messages.
 *
 * A task that a device does names the memory it works in (`place`) and what is to be put into a queue (`enqueue`).  It is put
 * there as soon as all that it waits for is done, here or elsewhere, or is itself in a queue of a device: then its own queue is
 * told to wait for that one's event first.  So the only waits for devices are those of tasks of the host and messages that
 * need what devices make, and those of scripts that look.
 *
 * A device has three queues: for its kernels, for copies from the host or another device, and for copies to the host.  Jobs in a
 * queue are numbered: a wait for one of them is a wait for all before it, too.
 *
 * Jobs end in an order in which none ends before a job that it waits for, so that failures pass from one to the next.  Only then
 * does a job give back its instances: until its event is over, and the host has seen it, nobody else gets their memory.
 *
 * Belongs to the submitting thread; a device wakes it.
 */
#ifndef LGT_OFFLOAD_H
#define LGT_OFFLOAD_H

#include "move/job.h"

enum { LGT_MOST_NEEDS = 8 };

/* A job of another lane that is to be over before this one begins: the last one of several.  The event is that job's. */
typedef struct lgt_need {
  int lane;
  int64_t number;
  lgt_event *event;
} lgt_need;

struct lgt_job_offload {
  lgt_memory *place;                                                               /* borrowed */
  lgt_status (*enqueue)(lgt_job *job, const lgt_device *device, lgt_queue *queue); /* puts the work into a queue; NULL: nothing */
  int lane;
  bool late;         /* to put it into the queue makes the caller wait: not before all that it waits for is done */
  bool from_host;    /* it reads memory of the host when it is put into the queue: not before that has arrived */
  bool alerted;      /* its end will wake the submitting thread */
  bool recorded;     /* the event stands for it; else nothing of it is in the queue */
  int64_t number;    /* in its lane, once it has begun */
  lgt_event *event;  /* owned */
  lgt_status status; /* of what could not be put into the queue ... */
  char *message;     /* ... owned */
  const char *where; /* borrowed: source line of the work, for its failure; or NULL */
  uint64_t span;     /* of the profile; ... */
  lgt_event *begin;  /* ... owned: where the work begins in the queue; NULL: nobody wants to know */
  lgt_job *next;     /* in the lane */
  lgt_need need[LGT_MOST_NEEDS];
  int nneed;
};

/* The executor shall look after the devices of the map. */
void lgt_offload_begin(lgt_binder *binder);
/* The job is for the device of a memory.  If it copies, its copies are listed. */
lgt_status lgt_offload_job(lgt_binder *binder, lgt_job *job, lgt_memory *place,
                           lgt_status (*enqueue)(lgt_job *job, const lgt_device *device, lgt_queue *queue));
void lgt_offload_free(lgt_job *job); /* what the job has for it, if anything */
/* Begin what may begin. */
bool lgt_offload_start(lgt_binder *binder);
/* The same, and finish what is done; true if something happened. */
bool lgt_offload_progress(lgt_binder *binder);

#endif
