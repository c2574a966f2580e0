/* coherence.h - who has the newest elements of a store, and who has copies of them.
 *
 * What happened to a store is kept as a short list of events, each a footprint that was written or read: a write
 * makes the elements of each of its domains the newest, a read leaves copies of them in each of its domains.  The list
 * tells which elements a domain lacks and which domain has them, without an account for each domain; so every rank
 * knows what it must send and what it will receive, at a cost that does not depend on the number of ranks.
 *
 * The list follows from the stream of operations alone, and is the same on every rank.  A read of a footprint
 * replaces an earlier read of the same footprint, and a write removes the events that lie within it, so in a program's
 * steady state the list does not grow.  Nor does it where each domain reads or writes a part of what it wrote, and nobody else
 * has touched since: nothing has changed.  Where it does grow (rows written one by one through shifting views), the caller
 * must bring the elements together once lgt_history_long says so.
 *
 * Histories are immutable and interned, as footprints are: the same happened to two stores, or to one store at two
 * times, exactly when the pointers are equal.  An event leads from a history to the next one, and that step is remembered,
 * so that a program that repeats itself walks through the same few histories at the price of a look-up each:
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
  const lgt_history *plain; /* borrowed: the history with these events and no images; itself, if it has no images */
  const lgt_event *event;   /* the newest last; in the memory behind the plain history */
  int count;
  /* Images (image.h) whose elements have come, since the newest write, to all domains that need them.  Only these
   * domains know which elements came, so no other domain may fetch an element from where an image brought it. */
  int nimage;
  int64_t image[LGT_HISTORY_IMAGES];
  bool marked;
};

/* A step that is remembered: history `from`, then something happens, then history `to`. */
typedef struct lgt_history_step {
  const lgt_history *from, *to;
  uint64_t what; /* a footprint's address, or an image's number */
  int how;
} lgt_history_step;

typedef struct lgt_histories {
  lgt_intern table;       /* owns its things */
  lgt_history none;       /* of a store to which nothing has happened yet */
  lgt_history_step *step; /* owned, by hash; NULL: none yet */
  uint32_t left;          /* histories at the last sweep */
} lgt_histories;

void lgt_histories_init(lgt_histories *histories);
void lgt_histories_fini(lgt_histories *histories);
/* For sweep.h: mark a history that is in use; a sweep frees those that were not marked since the last one. */
void lgt_history_mark(const lgt_history *history);
void lgt_histories_sweep(lgt_histories *histories);
/* Are there so many new histories that a sweep, which goes through all stores for those in use, is worth its time? */
static inline bool lgt_histories_many(const lgt_histories *histories) {
  return histories->table.count > 2 * histories->left + 4 * LGT_HISTORY_STEPS;
}

typedef struct lgt_instance lgt_instance; /* map.h */

/* Elements of a store that move or are copied together, and which domain or instance has them. */
typedef struct lgt_piece {
  lgt_rect rect;
  lgt_runs *runs; /* borrowed; NULL: all of the rect, else its runs along dimension `along` */
  int along;
  int from;           /* a domain that has the elements that the domain in question lacks */
  lgt_instance *inst; /* borrowed: where they lie on this rank, or will lie; NULL: no memory, or the contents failed */
} lgt_piece;

typedef struct lgt_pieces {
  lgt_piece *piece; /* owned */
  int count, room;
} lgt_pieces;

enum { LGT_NOBODY = -1 };

/* Does each domain certainly have all that it touches of this footprint?  False may be too pessimistic. */
bool lgt_history_has(const lgt_history *history, const lgt_footprint *footprint);
/* Append to `pieces` the elements of `place` that `domain` lacks: `from` is a domain of the same rank that has them, else
 * the domain that wrote them.  LGT_NOBODY as the domain: the elements that some domain lacks, from the domains that wrote
 * them.  An element that was never written is not lacking.  `reading`: the footprint that is being fetched, or NULL; the
 * domains of the same rank with lower numbers count as having their share of it.  False when out of memory. */
bool lgt_history_lacks(const lgt_history *history, const lgt_footprints *footprints, const lgt_footprint *reading, int domain,
                       const lgt_rect *place, lgt_pieces *pieces);

/* An event: *history becomes the next history.  False when out of memory; then *history has not changed. */
bool lgt_history_read(lgt_histories *histories, const lgt_history **history, const lgt_footprint *footprint);
bool lgt_history_written(lgt_histories *histories, const lgt_history **history, const lgt_footprint *footprint);
/* Has every domain that needs elements of this image got them?  (shown: from now on each has.) */
bool lgt_history_shows(const lgt_history *history, int64_t image);
bool lgt_history_shown(lgt_histories *histories, const lgt_history **history, int64_t image);
/* Forget all copies. */
bool lgt_history_forget_reads(lgt_histories *histories, const lgt_history **history);
/* With the option `check`: is this the only history of its events and images, and is none of them superseded by a later
 * one?  False with a message. */
bool lgt_history_verify(const lgt_histories *histories, const lgt_history *history);
/* Is the history so long that it costs more than bringing the elements together would? */
enum { LGT_HISTORY_LONG = 40 };
static inline bool lgt_history_long(const lgt_history *history) { return history->count > LGT_HISTORY_LONG; }
/* Would it be, if its reads were forgotten? */
static inline bool lgt_history_scattered(const lgt_history *history) {
  int writes = 0;
  for (int i = 0; i < history->count && lgt_history_long(history); i++) writes += history->event[i].wrote;
  return writes > LGT_HISTORY_LONG;
}

#endif
