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
 * Belongs to the submitting thread.
 */
#ifndef LGT_COHERENCE_H
#define LGT_COHERENCE_H

#include "memory/footprint.h"
#include "base/runs.h"

typedef struct lgt_event {
  const lgt_footprint *what;
  bool wrote;
} lgt_event;

enum { LGT_HISTORY_IMAGES = 4 };

struct lgt_history {
  lgt_event *event; /* owned, the newest last */
  int count, room;
  /* Images (image.h) whose elements are where they are needed since the newest write; who has which of these is not
   * known to everybody, so that nobody gets an element because an image brought it. */
  int64_t image[LGT_HISTORY_IMAGES];
  int nimage;
  struct lgt_history *next; /* among the spare ones */
};

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

/* What happened.  False when out of memory; then nothing has changed. */
bool lgt_history_read(lgt_history *history, const lgt_footprint *footprint);
bool lgt_history_written(lgt_history *history, const lgt_footprint *footprint);
/* Is this all that happened? */
bool lgt_history_is(const lgt_history *history, const lgt_event *event, int count);
/* Have those who need the elements of this image got them?  They have now. */
bool lgt_history_shows(const lgt_history *history, int64_t image);
void lgt_history_shown(lgt_history *history, int64_t image);
/* Forget all copies. */
void lgt_history_forget_reads(lgt_history *history);
/* So long that it costs more than to move elements? */
static inline bool lgt_history_long(const lgt_history *history) { return history->count > 40; }

#endif
