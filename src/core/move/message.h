/* message.h - copies between instances and messages between ranks, as tasks.
 *
 * What is sent is put together in a buffer first, and nothing but that waits until it is on its way: so every wait is
 * for something earlier in the stream, on whatever rank, and there are no circles.  What comes goes to a buffer, too, so
 * that it can come while the instance is still in use; only what is large and contiguous goes to its place at once.
 * A message's tag is made of the *exchange* it belongs to, a position in the stream, and its place there, so both sides
 * know it.
 *
 * A message begins whatever happened: if what should be sent failed, or there is no memory to send from or to
 * receive into, the peer is told by a message without contents, and what arrives for nobody is dropped.  So the
 * messages of a run do not depend on failures.
 *
 * Belongs to the submitting thread.
 */
#ifndef LGT_MESSAGE_H
#define LGT_MESSAGE_H

#include "move/job.h"

/* Numbers for a rank, or from one. */
typedef struct lgt_numbers {
  int peer;
  bool sends;
  uint64_t tag;
  int64_t count;
  int64_t *word; /* owned */
} lgt_numbers;

enum { LGT_MESSAGE_FOLDS = 63 }; /* in place of a domain, in tags of what all ranks fold */

/* The place of a message within the binder's current exchange; tags from 2^39 on are others'. */
uint64_t lgt_message_tag(const lgt_binder *binder, int touch, int domain);

/* Copies of one store to one instance. */
lgt_status lgt_copy_submit(lgt_binder *binder, const lgt_copy *copies, int count);
/* One message of n pieces, which lie in instances. */
lgt_status lgt_message_send(lgt_binder *binder, int peer, uint64_t tag, const lgt_piece *piece, int n, int elem);
lgt_status lgt_message_recv(lgt_binder *binder, int peer, uint64_t tag, const lgt_piece *piece, int n, int elem);
/* Pieces of all ranks, in the order of the ranks, to all of them: `owner` says whose each is; its owner says where it
 * lies, the others where it goes.  What some rank has no room for fails on all of them. */
lgt_status lgt_message_share(lgt_binder *binder, uint64_t tag, const lgt_piece *piece, const int *owner, int n, int elem);
/* Fold the n elements (of operator's type `dtype`) at the beginning of every rank's instance, and of that of positions
 * (or NULL), in the order of the ranks. */
lgt_status lgt_message_fold(lgt_binder *binder, uint64_t tag, int redop, int dtype, lgt_instance *value, lgt_instance *at, int64_t n);

/* Several messages under one tag, whose sizes are known when what the task reads is there: then `write` lists them, for
 * instances that are good; if they are not, it lists as many without contents, to the same ranks in the same order.
 * `context`, which is taken over, is from mem.h. */
typedef struct lgt_peer_message {
  int peer;
  bool sends;
  void *data;
  size_t bytes;
} lgt_peer_message;
typedef void (*lgt_write_messages)(void *context, bool good, lgt_peer_message *message);
lgt_status lgt_message_many(lgt_binder *binder, uint64_t tag, lgt_instance *const *inst, int ninst, int nread, bool poisoned, int count,
                             lgt_write_messages write, void *context);

/* At once, and wait: the least of all ranks' values, for each of n; what rank `root` has. */
void lgt_message_least(lgt_binder *binder, uint64_t tag, int64_t *value, int64_t n);
void lgt_message_tell(lgt_binder *binder, uint64_t tag, int root, void *data, size_t bytes);
/* ... `each` numbers of every rank, where its own are in `all`; numbers whose receivers do not know how many they are. */
void lgt_message_gather(lgt_binder *binder, uint64_t tag, int64_t *all, int64_t each);
void lgt_message_numbers(lgt_binder *binder, lgt_numbers *numbers, int n);

/* Begin the messages that are ready and finish those that are done; true if something happened. */
bool lgt_message_progress(lgt_binder *binder);
/* The executor shall look after messages, and until the end who waits for other ranks after the executor. */
void lgt_message_begin(lgt_binder *binder);
void lgt_message_end(lgt_binder *binder);

#endif
