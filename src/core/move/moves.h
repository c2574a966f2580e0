/* moves.h - which elements move before a footprint of a store may be read, and between whom.
 *
 * A rank lists what its own domains lack, and what it has to send: to the domains whose colours touch what its own
 * ones wrote.  Both sides of a message ask the same question of the same history, so they agree without talking.
 *
 * The answer follows from the history and the footprint alone, of which there is one each: a question is two pointers.  A
 * program that does the same again and again asks the same question again and again: short answers are kept, in a table
 * of fixed size.
 *
 * Belongs to the submitting thread.
 */
#ifndef LGT_MOVES_H
#define LGT_MOVES_H

#include "move/binder.h"

/* Elements that move for a store: from one domain to another of this rank, or in a message. */
struct lgt_move {
  uint16_t root;    /* among the exchange's */
  int place;        /* in the exchange, for the tag */
  bool early;       /* what comes may be sent on by those that are not */
  int to;           /* domain; LGT_NOBODY: the first one of every rank */
  int peer;         /* rank; -1: none, to here from here */
  bool sends;
  int first, count; /* of the pieces */
};

/* What has to move before the footprint may be read is appended to the binder's moves and pieces; `root` and `place`
 * are for the caller to fill in.  False when out of memory. */
bool lgt_moves_list(lgt_binder *binder, const lgt_history *history, const lgt_footprint *what);
/* The same with a list that was made before; its moves count its own pieces from 0. */
bool lgt_moves_add(lgt_binder *binder, const lgt_move *move, int nmove, const lgt_piece *piece, int npiece);
/* Forget the answers that were kept: footprints and histories that they name may go. */
void lgt_moves_forget(lgt_binder *binder);
void lgt_moves_fini(lgt_binder *binder);

/* What a domain of any rank lacks of a footprint is appended to the binder's pieces, those from one rank together;
 * *first: where they begin.  Both sides of a message ask this, and so agree on the order.  False when out of memory. */
bool lgt_moves_pieces(lgt_binder *binder, const lgt_history *history, const lgt_footprint *what, int domain, int *first);
/* The domains of other ranks whose colours touch what domains of this one wrote, in order: the binder's `near`. */
bool lgt_moves_near(lgt_binder *binder, const lgt_history *history, const lgt_footprint *what);

/* The rank of a domain. */
static inline int lgt_rank_of(const lgt_binder *binder, int domain) { return domain / binder->map->local; }
static inline bool lgt_is_here(const lgt_binder *binder, int domain) { return lgt_rank_of(binder, domain) == lgt_rank_of(binder, binder->map->first); }

#endif
