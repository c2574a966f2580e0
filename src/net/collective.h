/* collective.h - what all ranks do together.
 *
 * Every rank calls the same function with the same tag and the same sizes; the tags of collectives and those of
 * messages do not meet.  A collective begins with `lgt_..._begin`, moves on inside every call that makes progress
 * (transport.h), and is over when `done` is set; several may be in flight, and may be begun in different orders on
 * different ranks if their tags differ.  Without `_begin` it waits for its own end.
 *
 * Algorithms, of ceil(log2 n) rounds (+2 where n is no power of two, for reductions) but for the last:
 *   barrier     dissemination
 *   broadcast   a binomial tree
 *   allgather   Bruck's, in place: the parts known are neighbours in the result, so a round is one or two messages
 *   allreduce   recursive doubling; of many elements: each rank combines a part of them, which the others send it in
 *               n - 1 rounds, and the results are gathered.  A rank then sends twice the data whatever n is, not
 *               log2 n times
 *
 * The order of a reduction is fixed, the same in both algorithms: with p the greatest power of two not above n, the
 * first 2(n - p) ranks combine in pairs, 2i with 2i + 1, which leaves p values in the order of the ranks; these combine
 * in a balanced binary tree, the lower rank's on the left.  So every rank gets the same bits, whatever n elements.
 *
 * A rank that has nothing to contribute, because what should have made it failed, says so with `good` false: all
 * take part as usual, and on every rank that hears of it, in reductions and allgathers on all, `good` is false at the
 * end and the data are undefined.  It costs nothing: a message of another length than expected is how it is said.
 *
 * Thread: the submitting thread.
 */
#ifndef LGT_COLLECTIVE_H
#define LGT_COLLECTIVE_H

#include "transport.h"

/* One collective in flight; the caller's memory, which stays where it is until `done`. */
typedef struct lgt_collective lgt_collective;
struct lgt_collective {
  bool done;         /* read only */
  lgt_status status; /* once done */
  bool good;         /* once done: the data are what they should be */
  /* private */
  lgt_transport *transport;
  const struct collective_kind *kind;
  uint64_t tag;
  int round, nrequest;
  lgt_request request[4];
  lgt_stepper stepper;
  char *data; /* borrowed: where the result goes */
  size_t bytes;
  const int64_t *offset; /* borrowed: of allgather; NULL in a reduction, whose parts are of equal size */
  int root;              /* of broadcast */
  int redop, dtype;
  int64_t n;
  int64_t *at;                /* borrowed: where positions go */
  char *mine, *other;         /* of a reduction: so far; what a peer sent */
  char *owned;                /* memory of one or both of these */
  _Alignas(8) char small[64]; /* the same, if it fits */
  char nothing;               /* a byte to send where none is expected */
};

lgt_status lgt_barrier(lgt_transport *transport, uint64_t tag);
/* Those that wait: that somebody's data were not good is an error.
 * data: `bytes` bytes, of rank `root`, reach all. */
lgt_status lgt_broadcast(lgt_transport *transport, uint64_t tag, int root, void *data, size_t bytes);
/* data holds offset[n] bytes; those from offset[r] to offset[r + 1] are rank r's.  offset has n + 1 entries, alike
 * on all ranks, the first of them 0. */
lgt_status lgt_allgather(lgt_transport *transport, uint64_t tag, void *data, const int64_t *offset);
/* data[i] = data[i] of rank 0 op data[i] of rank 1 op ..., of n elements; operator and element type as in
 * lgt_redop_fold.  at: positions, n of them, with ARGMIN and ARGMAX, else NULL. */
lgt_status lgt_allreduce(lgt_transport *transport, uint64_t tag, int redop, int dtype, void *data, int64_t *at, int64_t n);

lgt_status lgt_barrier_begin(lgt_transport *transport, uint64_t tag, lgt_collective *out);
lgt_status lgt_broadcast_begin(lgt_transport *transport, uint64_t tag, int root, void *data, size_t bytes, bool good,
                               lgt_collective *out);
lgt_status lgt_allgather_begin(lgt_transport *transport, uint64_t tag, void *data, const int64_t *offset, bool good,
                               lgt_collective *out);
lgt_status lgt_allreduce_begin(lgt_transport *transport, uint64_t tag, int redop, int dtype, void *data, int64_t *at, int64_t n,
                               bool good, lgt_collective *out);
/* Until it is done; its status. */
lgt_status lgt_collective_wait(lgt_collective *collective);

#endif
