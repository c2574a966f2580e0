/* collective.h - what all ranks do together.
 *
 * Every rank calls the same function with the same tag and the same sizes; the tags of collectives and those of
 * messages do not meet.  A collective begins with `lgt_..._begin`, moves on inside every call that makes progress
 * (transport.h), and is over when `done` is set; several may be in flight, and may be begun in different orders on
 * different ranks if their tags differ.  Without `_begin` it waits for its own end.
 *
 * Algorithms, all of ceil(log2 n) rounds (+2 where n is no power of two, for reductions):
 *   barrier     dissemination
 *   broadcast   a binomial tree
 *   allgather   Bruck's, in place: the parts known are neighbours in the result, so a round is one or two messages
 *   allreduce   recursive doubling
 *
 * The order of a reduction is fixed and every rank computes all of it, so each gets the same bits: with p the
 * greatest power of two not above n, the first 2(n - p) ranks combine in pairs, 2i with 2i + 1, which leaves p
 * values in the order of the ranks; these combine in a balanced binary tree, the lower rank's on the left.
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
  /* private */
  lgt_transport *transport;
  const struct collective_kind *kind;
  uint64_t tag;
  int round, nrequest;
  lgt_request request[4];
  lgt_mover mover;
  char *data;            /* borrowed: where the result goes */
  size_t bytes;
  const int64_t *offset; /* borrowed: of allgather */
  int root;              /* of broadcast */
  int redop, dtype;
  int64_t n;
  int64_t *at;           /* borrowed: where positions go */
  char *mine, *other;    /* of a reduction: so far; what a peer sent */
  char *owned;           /* memory of one or both of these */
  _Alignas(8) char small[64]; /* the same, if it fits */
};

lgt_status lgt_barrier(lgt_transport *transport, uint64_t tag);
/* data: `bytes` bytes, of rank `root`, reach all. */
lgt_status lgt_broadcast(lgt_transport *transport, uint64_t tag, int root, void *data, size_t bytes);
/* data holds offset[n] bytes; those from offset[r] to offset[r + 1] are rank r's.  offset has n + 1 entries, alike
 * on all ranks, the first of them 0. */
lgt_status lgt_allgather(lgt_transport *transport, uint64_t tag, void *data, const int64_t *offset);
/* data[i] = data[i] of rank 0 op data[i] of rank 1 op ..., of n elements; operator and element type as in
 * lgt_redop_fold.  at: positions, n of them, with ARGMIN and ARGMAX, else NULL. */
lgt_status lgt_allreduce(lgt_transport *transport, uint64_t tag, int redop, int dtype, void *data, int64_t *at, int64_t n);

lgt_status lgt_barrier_begin(lgt_transport *transport, uint64_t tag, lgt_collective *out);
lgt_status lgt_broadcast_begin(lgt_transport *transport, uint64_t tag, int root, void *data, size_t bytes,
                               lgt_collective *out);
lgt_status lgt_allgather_begin(lgt_transport *transport, uint64_t tag, void *data, const int64_t *offset,
                               lgt_collective *out);
lgt_status lgt_allreduce_begin(lgt_transport *transport, uint64_t tag, int redop, int dtype, void *data, int64_t *at,
                               int64_t n, lgt_collective *out);
/* Until it is done; its status. */
lgt_status lgt_collective_wait(lgt_collective *collective);

#endif
