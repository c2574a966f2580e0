/* transport.h - messages between ranks: UCX tag matching.
 *
 * A message goes from one rank to another under a *tag*.  Both sides know its size and tag beforehand, so there
 * is no header and no negotiation.  Messages with equal sender, receiver and tag match in the order in which they
 * began; sends and receives may begin in any order otherwise, and any number may be in flight.
 *
 * UCX is loaded by lgt_transport_open; a process that runs alone never loads it.  Between ranks that share memory
 * it uses that, else the network; `tcp` restricts it to TCP.  Connections are made at the first message to a peer.
 *
 * Failure.  A rank's death ends the run (control.h), so a wait either succeeds or the process ends; only what
 * breaks without a death, such as a message of another size than expected, is returned, as a status whose message
 * names operation, peer, tag and the time waited.  Cancelled receives are for runs that go on: a request's memory
 * must stay until it is done.
 *
 * Progress is made inside these calls only: long computations on the submitting thread delay large messages.
 *
 * Thread: the submitting thread.  Others may call lgt_transport_wake, and nothing else: a condition that a wait is
 * for is stored (release) before the wake, and the wait looks at it (acquire) after each.
 */
#ifndef LGT_TRANSPORT_H
#define LGT_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control.h"

enum { LGT_TAG_BITS = 40 }; /* of a tag are used; the position in the stream, say, modulo 2^40 */

typedef struct lgt_transport lgt_transport;

/* One message in flight; the caller's memory. */
typedef struct lgt_request {
  bool done; /* read only; changes in lgt_transport_progress, in tests, and in waits */
  bool sending, cancelled;
  int error; /* UCX's status, once done; 0: none */
  int peer;
  uint64_t tag;
  size_t bytes;   /* as it began */
  size_t arrived; /* of a receive that is done */
  void *handle;   /* UCX's, while it is pending */
  lgt_transport *transport;
} lgt_request;

typedef struct lgt_transport_counters {
  uint64_t messages_sent, bytes_sent, messages_received, bytes_received; /* of finished requests */
} lgt_transport_counters;

/* `control` is borrowed.  tcp: use TCP only. */
lgt_status lgt_transport_open(lgt_control *control, bool tcp, lgt_transport **out);
/* This rank will send and receive nothing any more: that peers end is no error from now on. */
void lgt_transport_leave(lgt_transport *transport);
/* When all ranks have left, since peers may still be reading. */
void lgt_transport_close(lgt_transport *transport);
int lgt_transport_rank(const lgt_transport *transport);
int lgt_transport_size(const lgt_transport *transport);
lgt_transport_counters lgt_transport_count(const lgt_transport *transport);

/* Begin a message of `bytes` contiguous bytes (0 is legal; a rank may send to itself).  On an error nothing
 * has begun. */
lgt_status lgt_transport_send(lgt_transport *transport, int peer, uint64_t tag, const void *data, size_t bytes,
                              lgt_request *request);
lgt_status lgt_transport_recv(lgt_transport *transport, int peer, uint64_t tag, void *data, size_t bytes, lgt_request *request);
/* Progress, then whether it is done. */
bool lgt_transport_test(lgt_transport *transport, lgt_request *request);
/* Of a request that is done: whether it went well, and if not, a message. */
lgt_status lgt_request_status(const lgt_request *request);
/* Of a request that is done: a message came, and it was shorter or longer than expected. */
bool lgt_request_odd_length(const lgt_request *request);
/* Until all n are done; the status of the first that failed. */
lgt_status lgt_transport_wait(lgt_transport *transport, lgt_request *requests, int n);
/* Of a receive: it is done, cancelled or not, when this returns. */
void lgt_transport_cancel(lgt_transport *transport, lgt_request *request);

/* Let messages move; true if something happened. */
bool lgt_transport_progress(lgt_transport *transport);
/* Until ready() says so: while messages move, it looks often; then it sleeps until a message comes, somebody calls
 * lgt_transport_wake, or 100 ms have passed.  ready() is not called again once it has said so.  `what` completes
 * "waits ..." in messages: "for task 'matmul'". */
lgt_status lgt_transport_until(lgt_transport *transport, bool (*ready)(void *context), void *context, const char *what);
void lgt_transport_wake(lgt_transport *transport); /* any thread; cheap while nobody sleeps */

/* ---- for collective.c ------------------------------------------------------------------------------ */

/* Something that lgt_transport_progress advances, besides messages. */
typedef struct lgt_stepper {
  bool (*advance)(struct lgt_stepper *stepper); /* true if something happened; may remove itself */
  struct lgt_stepper *next, **link;             /* in the transport's list */
} lgt_stepper;
void lgt_transport_add(lgt_transport *transport, lgt_stepper *stepper);
void lgt_stepper_remove(lgt_stepper *stepper);
/* As lgt_transport_until, with the text made when it is needed. */
lgt_status lgt_transport_until_made(lgt_transport *transport, bool (*ready)(void *context),
                                    void (*describe)(void *context, char *text, size_t room), void *context);
/* The same as send and recv in a space of tags of their own. */
lgt_status lgt_transport_send_inner(lgt_transport *transport, int peer, uint64_t tag, const void *data, size_t bytes,
                                    lgt_request *request);
lgt_status lgt_transport_recv_inner(lgt_transport *transport, int peer, uint64_t tag, void *data, size_t bytes,
                                    lgt_request *request);

#endif
