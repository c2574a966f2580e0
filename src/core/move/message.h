/* message.h - copies between instances and messages between ranks, as tasks.
 *
 * The elements to be sent are packed into a buffer first, and only this buffer waits until the message is on its way:
 * so every task waits for tasks that are earlier in the stream, on whatever rank, and there are no circles.  Received
 * elements go to a buffer, too, so that they can arrive while the instance is still in use; only a large contiguous
 * piece goes to its place at once, if no task runs ahead of it (bind/ahead.h).  Small messages (small.h), one behind the
 * other, that are all sent from or all received into the same instances are one task, done by the submitting thread: to
 * send them is to pack them and hand them over, and a receive begins when it is listed, before its elements can be
 * unpacked.  The tag of a message is made of the *exchange* to which it belongs (a position in the stream) and its place
 * there, so both sides know the tag.
 *
 * A message is sent whatever happened.  If its elements failed, or there is no memory to send from, the message goes
 * without contents; a message for which the receiver has no memory is received and dropped.  So which messages there
 * are does not depend on failures.
 *
 * Belongs to the submitting thread.
 */
#ifndef LGT_MESSAGE_H
#define LGT_MESSAGE_H

#include "move/job.h"
#include "move/small.h"

/* Numbers to be sent to a rank, or received from one. */
typedef struct lgt_numbers {
  int peer;
  bool sends;
  uint64_t tag;
  int64_t count;
  int64_t *word; /* owned */
} lgt_numbers;

enum { LGT_MESSAGE_FOLDS = 63 }; /* in place of a domain, in tags of messages by which all ranks fold */

/* The tag of a message: its place within the binder's current exchange.  Tags from 2^39 on are not made here. */
uint64_t lgt_message_tag(const lgt_binder *binder, int touch, int domain);

/* Submit copies of elements of one store to one instance, as a task. */
lgt_status lgt_copy_submit(lgt_binder *binder, const lgt_copy *copies, int count);
/* Submit one message of n pieces, which lie (recv: will lie) in instances. */
lgt_status lgt_message_send(lgt_binder *binder, int peer, uint64_t tag, const lgt_piece *piece, int n, int elem);
lgt_status lgt_message_recv(lgt_binder *binder, int peer, uint64_t tag, const lgt_piece *piece, int n, int elem);
/* The same, of a small message that may go. */
lgt_status lgt_message_small(lgt_binder *binder, const lgt_small *small, lgt_instance *const *inst, uint64_t tag);
/* Submit the task of the last small messages, if it is not yet: a caller must do so after its last message.  (Any other task
 * that is submitted comes behind it, too.) */
lgt_status lgt_message_flush(lgt_binder *binder);
/* What a job's messages own goes with the job. */
void lgt_message_free(lgt_binder *binder, lgt_job *job);
/* Share n pieces, listed in the order of the ranks that own them (`owner`), with all ranks.  The instance of a piece is
 * on its owner where the piece lies, on any other rank where the piece goes.  A piece for which some rank has no room
 * fails on all ranks. */
lgt_status lgt_message_share(lgt_binder *binder, uint64_t tag, const lgt_piece *piece, const int *owner, int n, int elem);
/* Fold, in the order of the ranks, the first n elements (of the operator's type `dtype`) of every rank's instance `value`,
 * and of the instance `at` of positions, or NULL.  Each rank then has the result there. */
lgt_status lgt_message_fold(lgt_binder *binder, uint64_t tag, int redop, int dtype, lgt_instance *value, lgt_instance *at,
                            int64_t n);

/* Submit a task that sends and receives `count` messages under one tag, whose sizes are known only when the task begins.
 * Then `write` lists the messages.  If an instance that the task reads is poisoned (!good), `write` must list as many
 * messages without contents, for the same ranks in the same order.  `context`, allocated by mem.h, is taken over. */
typedef struct lgt_peer_message {
  int peer;
  bool sends;
  void *data;
  size_t bytes;
} lgt_peer_message;
typedef void (*lgt_write_messages)(void *context, bool good, lgt_peer_message *message);
lgt_status lgt_message_many(lgt_binder *binder, uint64_t tag, lgt_instance *const *inst, int ninst, int nread, bool poisoned,
                            int count, lgt_write_messages write, void *context);

/* The next four exchange numbers at once and wait for the other ranks.
 * Each of the n values becomes the least of all ranks' values. */
void lgt_message_least(lgt_binder *binder, uint64_t tag, int64_t *value, int64_t n);
/* Every rank gets the bytes that rank `root` has. */
void lgt_message_tell(lgt_binder *binder, uint64_t tag, int root, void *data, size_t bytes);
/* `all` gets `each` numbers of every rank, in the order of the ranks; this rank's own are there before. */
void lgt_message_gather(lgt_binder *binder, uint64_t tag, int64_t *all, int64_t each);
/* Numbers between ranks, where a receiver does not know how many there will be. */
void lgt_message_numbers(lgt_binder *binder, lgt_numbers *numbers, int n);

/* Begin the messages that are ready and finish those that are done.  True if there were any. */
bool lgt_message_progress(lgt_binder *binder);
/* From now on the executor calls lgt_message_progress while it waits, and a wait for other ranks lets the executor work;
 * until lgt_message_end. */
void lgt_message_begin(lgt_binder *binder);
void lgt_message_end(lgt_binder *binder);

#endif
