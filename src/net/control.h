/* control.h - a rank's line to the hub, open for the whole run.
 *
 * A small thread sends heartbeats, so a rank that merely computes is known to live, and listens: when the hub
 * says that the run has failed, or the hub is lost, the thread ends the process, whatever the submitting thread is
 * doing.  So nothing that waits for a peer has to care about its death.
 *
 * On every rank the same reason is known; it is printed once: by the launcher, or by rank 0 where the output of
 * all ranks is gathered, or else by each rank.  The rank that has the hub obeys SIGTERM, unless the program handles it,
 * a moment late: mpirun sends that to all when one of them has died, and somebody has to say which one and why.
 *
 * Divergence.  lgt_control_note is called for each operation of the stream.  A rank that waits longer than
 * `patience_ms` reports its stream to the hub, which asks the others for theirs and ends the run if two
 * disagree, naming both lines.
 *
 * Ctrl-C is for all ranks, at the same place of the program.  Such places are *checkpoints*, which all ranks come to in
 * the same order.  When somebody presses Ctrl-C, ranks stop at their next checkpoint and tell the hub its number; all
 * then go on to the greatest of these, where the checkpoint says that it was interrupted.  For a rank that comes to no
 * checkpoint for a while (STUCK_MS; time without a processor does not count, up to STARVED_MS) its control thread answers
 * that the rank goes on, too.  If all ranks are such ranks, all are interrupted wherever they are (lgt_control_on_interrupt).
 *
 * Thread: note, report, address, leave and close belong to the submitting thread; abort, wake and aborted may
 * be called by any.
 */
#ifndef LGT_CONTROL_H
#define LGT_CONTROL_H

#include <stdatomic.h>

#include "stream.h"
#include "wire.h"
#include "wireup.h"

typedef struct lgt_control_options {
  const char *version;     /* must be the same on all ranks */
  const char *agreed;      /* lines "name=value" that must be the same on all ranks; NULL: none */
  int start_ms;            /* within which all ranks must have met; 0: 30 s */
  int dead_ms;             /* a silent rank or hub counts as dead; beats are sent ten times as often; 0: 10 s */
  int patience_ms;         /* a longer wait is reported to the hub; 0: 1 s */
  lgt_line_text line_text; /* of the numbers given to lgt_control_note; called on the submitting thread */
  void *context;           /* of it */
} lgt_control_options;

enum { LGT_STOPPING = 1, LGT_STOP_KNOWN };

typedef struct lgt_control lgt_control;
struct lgt_control {
  int rank, size;
  int local_rank, local_size; /* among the ranks on this machine, which share its cores and memory */
  int wake;                   /* eventfd, readable when a wait should look around */
  _Atomic bool wanted;        /* the hub asks for a report; set by the control thread, release/acquire with note */
  _Atomic bool finished;      /* all ranks have said goodbye */
  _Atomic int pressed;        /* on rank 0: Ctrl-C was, and others are to hear of it: 1 once, 2 until forgotten; 0: no */
  _Atomic int stopping;       /* 0; LGT_STOPPING: stop and say where; LGT_STOP_KNOWN: stop at stop_at; release/acquire */
  _Atomic uint64_t stop_at;
  _Atomic uint64_t checkpoints; /* come to so far; written by the submitting thread */
  lgt_stream stream;            /* of the submitting thread */
  struct control_private *p;
};

/* Joins the run: returns when all ranks are there and fit together.  Takes over the wire-up's sockets, and
 * begins the hub on rank 0 if it has a listener. */
lgt_status lgt_control_open(const lgt_control_options *options, lgt_wireup *wireup, lgt_control **out);
/* Says goodbye: on all ranks the program has ended.  `*finished` becomes true when all have said it. */
void lgt_control_leave(lgt_control *control);
/* They have: the process may end at any place now, and its launcher sees a good end. */
void lgt_control_left(lgt_control *control);
void lgt_control_close(lgt_control *control);

/* An operation of the stream. */
static inline void lgt_control_note(lgt_control *control, const lgt_operation *operation);
/* Tell the hub where this rank is and what it waits for ("for 8 bytes from rank 2"). */
void lgt_control_report(lgt_control *control, const char *what);

/* The transport's address: publish this rank's; learn another's (waits until that rank has published it). */
lgt_status lgt_control_publish(lgt_control *control, const void *address, size_t bytes);
lgt_status lgt_control_address(lgt_control *control, int rank, const char **address, size_t *bytes, lgt_place *place);

/* Ctrl-C, on rank 0; a signal handler may call it.  insist: all ranks are interrupted again and again, until it is
 * forgotten: some may have caught the error. */
void lgt_control_interrupt(lgt_control *control, bool insist);
void lgt_control_forget(lgt_control *control);
/* A checkpoint, in two parts between which the caller waits until `stopping` is not LGT_STOPPING: its number, or 0 if
 * nobody wants to stop; then whether this is where all do. */
static inline uint64_t lgt_control_checkpoint(lgt_control *control);
bool lgt_control_stops(lgt_control *control, uint64_t checkpoint);
/* What to do when all ranks are interrupted wherever they are; called on the control thread. */
void lgt_control_on_interrupt(lgt_control *control, void (*act)(void *context), void *context);

/* End the run on all ranks, with this reason.  Does not return. */
_Noreturn void lgt_control_abort(lgt_control *control, const char *reason);
/* The program ended by this error, on all ranks, as a rule, which is then said once.  As abort otherwise. */
_Noreturn void lgt_control_fail(lgt_control *control, const char *error);
/* Makes the submitting thread's wait look around. */
void lgt_control_wake(lgt_control *control);
int lgt_control_patience(const lgt_control *control); /* ms */

static inline void lgt_control_note(lgt_control *control, const lgt_operation *operation) {
  lgt_stream_note(&control->stream, operation);
  if (__builtin_expect(atomic_load_explicit(&control->wanted, memory_order_acquire), 0))
    lgt_control_report(control, "for nothing");
}

uint64_t lgt_control_arrive(lgt_control *control, uint64_t checkpoint);
static inline uint64_t lgt_control_checkpoint(lgt_control *control) {
  uint64_t n = atomic_load_explicit(&control->checkpoints, memory_order_relaxed) + 1;
  atomic_store_explicit(&control->checkpoints, n, memory_order_relaxed);
  if (__builtin_expect(!atomic_load_explicit(&control->stopping, memory_order_acquire), 1)) return 0;
  return lgt_control_arrive(control, n);
}

#endif
