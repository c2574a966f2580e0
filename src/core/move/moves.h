/* moves.h - which elements move before a footprint of a store may be read, and between whom.
 *
 * A rank lists the elements that its own domains lack, and those that it has to send: to domains of other ranks whose
 * colours touch elements that its own domains wrote.  Both sides of a message ask the same question of the same history,
 * so they agree without talking.
 *
 * The answer follows from the history and the footprint alone, and both are interned: a question is two pointers.  A
 * program that repeats itself repeats its questions, so short answers are kept, in a table of fixed size.
 *
 * Belongs to the submitting thread.
 */
#ifndef LGT_MOVES_H
#define LGT_MOVES_H

#include "move/binder.h"

/* Elements that move for a store: from one domain to another of this rank, or in a message. */
struct lgt_move {
  uint16_t root;    /* number among the exchange's stores */
  int place;        /* in the exchange, for the tag */
  bool early;       /* is done before moves that are not early, which may send on its elements */
  int to;           /* domain; LGT_NOBODY: the first domain of every rank */
  int peer;         /* the other rank; -1: none, a copy on this rank */
  bool sends;       /* to the peer; else it receives */
  int first, count; /* of its pieces */
};

/* Append to the binder's moves and pieces what has to move before the footprint may be read.  The caller must fill in
 * `root` and `place`.  False when out of memory. */
bool lgt_moves_list(lgt_binder *binder, const lgt_history *history, const lgt_footprint *what);
/* Append a list of moves that was made before; these count their pieces from 0 in `piece`. */
bool lgt_moves_add(lgt_binder *binder, const lgt_move *move, int nmove, const lgt_piece *piece, int npiece);
/* Join the binder's messages that are between the same domains for the same `root`: each goes in the place of the first of them.
 * False when out of memory. */
bool lgt_moves_join(lgt_binder *binder);
/* Forget the answers that were kept, so that footprints and histories that they name may be freed. */
void lgt_moves_forget(lgt_binder *binder);
void lgt_moves_fini(lgt_binder *binder);

/* Append to the binder's pieces what a domain of any rank lacks of a footprint, with the pieces from one rank together;
 * *first: the number of the first piece.  Both sides of a message call this, and so agree on the order of its pieces.
 * False when out of memory. */
bool lgt_moves_pieces(lgt_binder *binder, const lgt_history *history, const lgt_footprint *what, int domain, int *first);
/* List in the binder's `near`, in order, the domains of other ranks whose colours touch elements that domains of this rank
 * wrote.  False when out of memory. */
bool lgt_moves_near(lgt_binder *binder, const lgt_history *history, const lgt_footprint *what);

/* The rank of a domain. */
static inline int lgt_rank_of(const lgt_binder *binder, int domain) { return domain / binder->map->local; }
static inline bool lgt_is_here(const lgt_binder *binder, int domain) {
  return lgt_rank_of(binder, domain) == lgt_rank_of(binder, binder->map->first);
}

#endif
