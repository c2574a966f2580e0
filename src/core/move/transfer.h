/* transfer.h - copies between instances and messages between ranks, as tasks.
 *
 * What is sent is put together in a buffer first, and nothing but that waits until it is on its way: so every wait is
 * for something earlier in the stream, on whatever rank, and there are no circles.  What comes goes to a buffer, too, so
 * that it can come while the instance is still in use; only what is large and contiguous goes to its place at once.
 * A message's tag is made of the *exchange* it belongs to, a position in the stream, and its place there, so both sides
 * know it.
 *
 * A message is posted whatever happened: if what should be sent failed, or there is no memory to send from or to
 * receive into, the peer is told by a message without contents, and what arrives for nobody is dropped.  So the
 * messages of a run do not depend on failures.
 *
 * Belongs to the submitting thread.
 */
#ifndef LGT_TRANSFER_H
#define LGT_TRANSFER_H

#include "move/job.h"

/* A part of a message: where it lies. */
typedef struct lgt_part {
  lgt_instance *inst; /* borrowed; NULL: nowhere (there was no memory, or the contents failed) */
  lgt_rect rect;
  lgt_runs *runs;     /* borrowed; NULL: all of the rect, else what lies there along dimension `along` */
  int along;
} lgt_part;

/* Numbers for a rank, or from one. */
typedef struct lgt_letter {
  int peer;
  bool sends;
  uint64_t tag;
  int64_t count;
  int64_t *word; /* owned */
} lgt_letter;

enum { LGT_TRANSFER_FOLDS = 63 }; /* in place of a domain, in tags of what all ranks fold */

/* The place of a message within the binder's current exchange; tags from 2^39 on are others'. */
uint64_t lgt_transfer_tag(const lgt_binder *binder, int touch, int domain);

/* Copies of one store to one instance. */
lgt_status lgt_transfer_copy(lgt_binder *binder, const lgt_copy *copies, int count);
/* One message of n parts. */
lgt_status lgt_transfer_send(lgt_binder *binder, int peer, uint64_t tag, const lgt_part *part, int n, int elem);
lgt_status lgt_transfer_recv(lgt_binder *binder, int peer, uint64_t tag, const lgt_part *part, int n, int elem);
/* Parts of all ranks, in the order of the ranks, to all of them: `owner` says whose each is; for its owner `part` is
 * where it is, for the others where it goes.  What some rank has no room for fails on all of them. */
lgt_status lgt_transfer_share(lgt_binder *binder, uint64_t tag, const lgt_part *part, const int *owner, int n, int elem);
/* Fold the n elements (of operator's type `dtype`) at the beginning of every rank's instance, and of that of positions
 * (or NULL), in the order of the ranks. */
lgt_status lgt_transfer_fold(lgt_binder *binder, uint64_t tag, int redop, int dtype, lgt_instance *value, lgt_instance *at, int64_t n);

/* Several messages under one tag, whose sizes are known when what the task reads is there: then `write` lists them, for
 * instances that are good; if they are not, it lists as many without contents, to the same ranks in the same order.
 * `context`, which is taken over, is from mem.h. */
typedef struct lgt_parcel {
  int peer;
  bool sends;
  void *data;
  size_t bytes;
} lgt_parcel;
typedef void (*lgt_parcels)(void *context, bool good, lgt_parcel *parcel);
lgt_status lgt_transfer_many(lgt_binder *binder, uint64_t tag, lgt_instance *const *inst, int ninst, int nread, bool poisoned, int count,
                             lgt_parcels write, void *context);

/* At once, and wait: the least of all ranks' values, for each of n; what rank `root` has. */
void lgt_transfer_least(lgt_binder *binder, uint64_t tag, int64_t *value, int64_t n);
void lgt_transfer_tell(lgt_binder *binder, uint64_t tag, int root, void *data, size_t bytes);
/* ... `each` numbers of every rank, where its own are in `all`; letters, whose receivers do not know how long they are. */
void lgt_transfer_gather(lgt_binder *binder, uint64_t tag, int64_t *all, int64_t each);
void lgt_transfer_letters(lgt_binder *binder, lgt_letter *letter, int n);

/* Begin the messages that are ready and finish those that are done; true if something happened. */
bool lgt_transfer_move(lgt_binder *binder);
/* The executor shall look after messages, and until the end who waits for other ranks after the executor. */
void lgt_transfer_begin(lgt_binder *binder);
void lgt_transfer_end(lgt_binder *binder);

#endif
