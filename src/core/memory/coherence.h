/* coherence.h - who has the newest elements of a store, and who has copies of them.
 *
 * What happened to a store is kept as a short list of events, each a footprint that was written or read: a write
 * makes its domains' elements the newest, a read leaves copies behind.  From the list anybody can tell what any
 * domain lacks and from whom it gets that, without an account for each domain; so every rank knows what it must
 * send and what it will receive, whatever the number of ranks.
 *
 * The list follows from the stream of operations alone, and is the same on every rank.  A read of a footprint
 * takes the place of an earlier read of it, a write covers what lies within it, so in a program's steady state the
 * list does not grow; when it does (rows written one by one through shifting views), somebody has to bring the
 * elements together (lgt_history_long).
 *
 * Histories are immutable and interned, as footprints are: what happened to a store is the same as what happened to
 * another one, or to itself some time ago, exactly when the pointers are equal.  What happens next gives the next
 * history, and that is remembered, so that a program that does the same again and again walks through the same few
 * histories at the price of a look-up each:
 *
 *   (none) --written A--> [A!] --read B--> [A! B] --written A--> [A!] --read B--> [A! B] ...
 *
 * A history that no store and no image's moves (image.h) name any more is freed at the next sweep (sweep.h).
 *
 * Belongs to the submitting thread.
 */
#ifndef LGT_COHERENCE_H
#define LGT_COHERENCE_H

#include "memory/footprint.h"
#include "base/hash.h"
#include "base/runs.h"

typedef struct lgt_event {
  const lgt_footprint *what;
  bool wrote;
} lgt_event;

enum { LGT_HISTORY_IMAGES = 4, LGT_HISTORY_STEPS = 1024 };

struct lgt_history {
  const lgt_history *plain; /* borrowed: the same without images; itself, if it has none */
  const lgt_event *event;   /* the newest last; they lie behind the plain one */
  int count;
  /* Images (image.h) whose elements are where they are needed since the newest write; who has which of these is not
   * known to everybody, so that nobody gets an element because an image brought it. */
  int nimage;
  int64_t image[LGT_HISTORY_IMAGES];
  bool marked;
};

/* What follows a history after something happened. */
typedef struct lgt_history_step {
  const lgt_history *from, *to;
  uint64_t what; /* a footprint's address, or an image's number */
  int how;
} lgt_history_step;

typedef struct lgt_histories {
  lgt_intern table; /* owns its things */
  lgt_history none; /* of a store to which nothing has happened yet */
  lgt_history_step *step; /* owned, by hash; NULL: none yet */
  uint32_t left;    /* histories at the last sweep */
} lgt_histories;

void lgt_histories_init(lgt_histories *histories);
void lgt_histories_fini(lgt_histories *histories);
/* For sweep.h: a history is in use; those that were not marked since the last sweep are freed. */
void lgt_history_mark(const lgt_history *history);
void lgt_histories_sweep(lgt_histories *histories);
/* Are there so many new ones that it is worth going through all stores for what is in use? */
static inline bool lgt_histories_many(const lgt_histories *histories) {
  return histories->table.count > 2 * histories->left + 4 * LGT_HISTORY_STEPS;
}

typedef struct lgt_instance lgt_instance; /* map.h */

/* Elements of a store that move, or are copied, as one: who has them, or where. */
typedef struct lgt_piece {
  lgt_rect rect;
  lgt_runs *runs;     /* borrowed; NULL: all of the rect, else what lies there along dimension `along` */
  int along;
  int from;           /* a domain that has them, where another one lacks them */
  lgt_instance *inst; /* borrowed: where they lie here, or are to lie; NULL: nowhere (no memory, or the contents failed) */
} lgt_piece;

typedef struct lgt_pieces {
  lgt_piece *piece; /* owned */
  int count, room;
} lgt_pieces;

enum { LGT_NOBODY = -1 };

/* Do all domains have what they touch of this footprint, for certain?  False may be too pessimistic. */
bool lgt_history_has(const lgt_history *history, const lgt_footprint *footprint);
/* What `domain` lacks of `place` is appended to pieces: from a domain of the same rank, if one has it, else from the
 * one that wrote it.  LGT_NOBODY: what is not everywhere, from those who wrote it.  What was never written is not
 * lacking.  `reading`: the footprint that is being fetched, if any; domains of the rank before this one have theirs
 * already.  False when out of memory. */
bool lgt_history_lacks(const lgt_history *history, const lgt_footprints *footprints, const lgt_footprint *reading, int domain,
                       const lgt_rect *place, lgt_pieces *pieces);

/* What happens next: *history is what follows.  False when out of memory; then it has not changed. */
bool lgt_history_read(lgt_histories *histories, const lgt_history **history, const lgt_footprint *footprint);
bool lgt_history_written(lgt_histories *histories, const lgt_history **history, const lgt_footprint *footprint);
/* Have those who need the elements of this image got them?  They have now. */
bool lgt_history_shows(const lgt_history *history, int64_t image);
bool lgt_history_shown(lgt_histories *histories, const lgt_history **history, int64_t image);
/* Forget all copies. */
bool lgt_history_forget_reads(lgt_histories *histories, const lgt_history **history);
/* So long that it costs more than to move elements? */
static inline bool lgt_history_long(const lgt_history *history) { return history->count > 40; }

#endif
