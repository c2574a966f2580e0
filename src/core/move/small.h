/* small.h - small messages: what is known of one before it goes, and those that are on their way.
 *
 * The submitting thread packs a small message by itself, into a buffer that lives until the message is taken, so the task of
 * the message is done, and its instances can be written again, as soon as it is sent.  If all that it sends has come about,
 * it needs no task at all.
 *
 * Belongs to the submitting thread.
 */
#ifndef LGT_SMALL_H
#define LGT_SMALL_H

#include "move/binder.h"

enum { LGT_SMALL_MOST = 32 << 10 }; /* bytes of a small message at most */

/* A message, ready to go as often as it comes again: all but the instances and the tag. */
typedef struct lgt_small {
  int peer, n;
  size_t bytes;
  bool sends;
  lgt_copy copy[]; /* n; without `from` of what is sent, or `to` of what is received; runs: borrowed */
} lgt_small;

/* Bytes that one of n pieces takes, and making it there.  It may be too large to go. */
size_t lgt_small_size(int n);
void lgt_small_make(lgt_small *small, int peer, bool sends, const lgt_piece *piece, int n, int elem);
/* May it go as a small message now, from or to these instances?  What is received must go to one. */
bool lgt_small_may_go(lgt_binder *binder, const lgt_small *small, lgt_instance *const *inst);
/* Send it without a task.  False: it is received, or there is something to wait for; or a profile is written, which has tasks. */
bool lgt_small_send_at_once(lgt_binder *binder, const lgt_small *small, lgt_instance *const *inst, uint64_t tag);

/* A message that has been packed. */
struct lgt_eager {
  lgt_eager *next;
  lgt_pending *pending;
  size_t bytes;
  char data[];
};

/* NULL when out of memory: then all ranks end. */
lgt_eager *lgt_eager_new(lgt_binder *binder, size_t bytes);
/* `good`: it has contents. */
void lgt_eager_send(lgt_binder *binder, lgt_eager *eager, int peer, uint64_t tag, bool good);
/* Give back the buffers of messages that were taken; true if there were any. */
bool lgt_eager_finish(lgt_binder *binder);

#endif
