/* peers.h - the other ranks of a run, as the core asks for them.
 *
 * A table of operations: src/net fills one over UCX, so that the core knows neither sockets nor UCX; peers.c
 * fills one that pretends, for measuring what a rank of a large run does without the others.  A runtime that
 * has no peers is the only rank there is.
 *
 * Every rank issues the same stream of operations, and so begins the same collectives in the same order, and
 * for each message that one rank sends the peer begins a receive of the same size under the same tag.  Messages
 * of equal tag between the same two ranks match in the order in which they began.
 *
 * A message that is shorter than its receive means that the sender has no data because what should have made
 * them failed: `intact` is false then, and the receiver's results fail, too.  What cannot be shared (a dead
 * peer, a broken network) ends the run inside these functions; they do not return then.
 *
 * Thread: the submitting thread, but for wake, which any may call, and abort.
 */
#ifndef LGT_PEERS_H
#define LGT_PEERS_H

#include "core.h"

/* A message or a collective in flight. */
typedef struct lgt_pending lgt_pending;

/* An operation of the stream, which all ranks issue: what must be alike, and what to call it where it is not. */
typedef struct lgt_operation {
  uint64_t token; /* a hash of all that must be alike */
  uint32_t line;  /* that issued it; 0: unknown */
  uint32_t what;  /* its name, a number from `name`; 0: none */
  uint32_t parts; /* short hashes of its shapes, arrays and numbers, by lgt_operation_part */
} lgt_operation;

/* Hashes of a part of an operation, in places of `parts`. */
enum { LGT_PART_SHAPES, LGT_PART_ARRAYS, LGT_PART_NUMBERS, LGT_PARTS };
static inline uint32_t lgt_operation_part(int part, uint64_t hash) {
  return (uint32_t)(hash * 0x9e3779b97f4a7c15u >> 56) << 8 * part;
}

typedef struct lgt_peers lgt_peers;
struct lgt_peers {
  int rank, size;
  const char *how; /* they were started, for messages: "lgt -n", "PMIx" */

  /* Begin; the memory stays where it is until it is done.  NULL with an error when out of memory. */
  lgt_pending *(*send)(lgt_peers *peers, int peer, uint64_t tag, const void *data, size_t bytes);
  lgt_pending *(*recv)(lgt_peers *peers, int peer, uint64_t tag, void *data, size_t bytes);
  /* Collectives: every rank gets the same bits.  `data` is replaced by the result, which is intact if it was
   * `good` on all ranks that contribute. */
  lgt_pending *(*broadcast)(lgt_peers *peers, uint64_t tag, int root, void *data, size_t bytes, bool good);
  lgt_pending *(*allreduce)(lgt_peers *peers, uint64_t tag, int redop, int dtype, void *data, int64_t *at, int64_t n, bool good);
  /* data holds offset[size] bytes, those from offset[r] to offset[r + 1] are rank r's; offset stays, too. */
  lgt_pending *(*allgather)(lgt_peers *peers, uint64_t tag, void *data, const int64_t *offset, bool good);
  /* Is it done?  Then it is freed, and *intact says whether all of it came.  Makes no progress. */
  bool (*done)(lgt_peers *peers, lgt_pending *message, bool *intact);

  /* Let messages go on; true if something happened. */
  bool (*progress)(lgt_peers *peers);
  /* Until ready() says so, progress goes on; the thread sleeps while nothing happens, and looks again when somebody
   * calls wake.  ready() is not called again once it has said so.  `what` completes "waits ..." in messages. */
  void (*until)(lgt_peers *peers, bool (*ready)(void *context), void *context, const char *what);
  void (*wake)(lgt_peers *peers);
  /* Set by the runtime: work a little on launched tasks and their messages; true if something happened.  A wait for anything
   * but the runtime's tasks must call it again and again: another rank may be unable to come to the same place before it
   * has what is computed here. */
  bool (*attend)(void *context);
  void *attend_context;

  /* A place at which Ctrl-C may stop all ranks together, at a flush, say: all come to the same ones in the same order.
   * True: it does, here, on all; what waits or launches then says "interrupted".  Costs two loads and a store. */
  bool (*checkpoint)(lgt_peers *peers);

  /* An operation of the stream.  The text of its line is asked for by line_text, set by the runtime, on the submitting
   * thread. */
  void (*note)(lgt_peers *peers, const lgt_operation *operation);
  uint32_t (*name)(lgt_peers *peers, const char *text); /* a number for a name; 0: it has none */
  const char *(*line_text)(void *context, uint32_t line);
  void *line_context;
  /* End the run on all ranks, for this reason. */
  void (*abort)(lgt_peers *peers, const char *reason);
};

/* Ranks that only pretend: a message is done when it begins and moves nothing.  For measuring what one rank of a large
 * run does before anything is computed.  NULL when out of memory; freed with lgt_mem_free. */
lgt_peers *lgt_peers_pretend(int rank, int size);

#endif
