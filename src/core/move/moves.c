/* moves.c - see moves.h. */
#include "move/moves.h"

#include <string.h>

static int rank_count(const lgt_binder *binder) { return binder->map->domains / binder->map->local; }

static bool add_move(lgt_binder *binder, lgt_move move) {
  if (!lgt_mem_grow((void **)&binder->move, &binder->move_room, binder->nmove + 1, sizeof *binder->move))
    return false;
  binder->move[binder->nmove++] = move;
  return true;
}

/* Those from one rank come together, in the order in which they were found. */
static void sort_by_rank(const lgt_binder *binder, lgt_piece *piece, int n) {
  for (int i = 1; i < n; i++) {
    lgt_piece p = piece[i];
    int k = i;
    for (; k > 0 && lgt_rank_of(binder, piece[k - 1].from) > lgt_rank_of(binder, p.from); k--)
      piece[k] = piece[k - 1];
    piece[k] = p;
  }
}

bool lgt_moves_pieces(lgt_binder *binder, const lgt_history *history, const lgt_footprint *what, int domain,
                      int *first) {
  const lgt_footprints *f = &binder->map->footprints;
  const lgt_footprint *reading = what->sparse ? NULL : what; /* nobody else may get elements this way */
  bool good = true;
  lgt_rect rect, had = {.ndim = -1};
  *first = binder->pieces.count;
  if (domain == LGT_NOBODY)
    good = lgt_history_lacks(history, f, reading, domain, &what->whole, &binder->pieces);
  for (int i = -1;
       domain != LGT_NOBODY && good && (i = lgt_footprint_next(f, what, domain, i, &rect)) >= 0;) {
    if (had.ndim == rect.ndim && lgt_rect_contains(&had, &rect))
      continue; /* what one colour needs comes once */
    good = lgt_history_lacks(history, f, reading, domain, &rect, &binder->pieces);
    had = rect;
  }
  sort_by_rank(binder, binder->pieces.piece + *first, binder->pieces.count - *first);
  return good;
}

/* What a domain of this rank lacks. */
static bool list_received(lgt_binder *binder, const lgt_history *history, const lgt_footprint *what,
                          int domain) {
  int first;
  if (!lgt_moves_pieces(binder, history, what, domain, &first)) return false;
  for (int i = first; i < binder->pieces.count;) {
    int rank = lgt_rank_of(binder, binder->pieces.piece[i].from), k = i;
    while (k < binder->pieces.count && lgt_rank_of(binder, binder->pieces.piece[k].from) == rank) k++;
    int peer = rank == lgt_rank_of(binder, binder->map->first) ? -1 : rank;
    if (!add_move(binder, (lgt_move){.to = domain, .peer = peer, .first = i, .count = k - i})) return false;
    i = k;
  }
  return true;
}

/* What a domain of another rank lacks and has to come from here. */
static bool list_sent_to(lgt_binder *binder, const lgt_history *history, const lgt_footprint *what,
                         int domain) {
  int first, end;
  if (!lgt_moves_pieces(binder, history, what, domain, &first)) return false;
  lgt_pieces *pieces = &binder->pieces;
  while (first < pieces->count && !lgt_is_here(binder, pieces->piece[first].from)) first++;
  for (end = first; end < pieces->count && lgt_is_here(binder, pieces->piece[end].from);) end++;
  pieces->count = end;
  if (first == end) return true;
  int peer = lgt_rank_of(binder, domain);
  return add_move(
      binder, (lgt_move){.to = domain, .peer = peer, .sends = true, .first = first, .count = end - first});
}

static bool add_number(lgt_binder *binder, int domain) {
  int i = 0;
  while (i < binder->nnear && binder->near[i] < domain) i++;
  if (i < binder->nnear && binder->near[i] == domain) return true;
  if (!lgt_mem_grow((void **)&binder->near, &binder->near_room, binder->nnear + 1, sizeof *binder->near))
    return false;
  memmove(binder->near + i + 1, binder->near + i, (size_t)(binder->nnear++ - i) * sizeof *binder->near);
  binder->near[i] = domain;
  return true;
}

bool lgt_moves_near(lgt_binder *binder, const lgt_history *history, const lgt_footprint *what) {
  const lgt_footprints *f = &binder->map->footprints;
  binder->nnear = 0;
  for (int e = 0; e < history->count; e++) {
    const lgt_footprint *written = history->event[e].what;
    if (!history->event[e].wrote || !written->launch || written == what) continue;
    for (int d = binder->map->first; d < binder->map->first + binder->map->local; d++) {
      lgt_rect rect;
      for (int i = -1; (i = lgt_footprint_next(f, written, d, i, &rect)) >= 0;) {
        lgt_near near;
        for (lgt_near_begin(&near, f, what, &rect); lgt_near_next(&near);)
          if (!lgt_is_here(binder, near.domain) && !add_number(binder, near.domain)) return false;
      }
    }
  }
  return true;
}

static bool find_out(lgt_binder *binder, const lgt_history *history, const lgt_footprint *what) {
  const lgt_map *map = binder->map;
  bool good = true;
  if (!what->launch && rank_count(binder) > 1) {
    int first;
    good = lgt_moves_pieces(binder, history, what, LGT_NOBODY, &first);
    int count = binder->pieces.count - first;
    lgt_move all = {.to = LGT_NOBODY, .peer = -1, .first = first, .count = count};
    return good && (!count || add_move(binder, all));
  }
  for (int d = map->first; d < map->first + map->local && good; d++)
    good = list_received(binder, history, what, d);
  if (good && rank_count(binder) > 1) {
    good = lgt_moves_near(binder, history, what);
    for (int i = 0; i < binder->nnear && good; i++)
      good = list_sent_to(binder, history, what, binder->near[i]);
  }
  return good;
}

/* ---- answers that were given before ------------------------------------------------------------------ */

enum { ANSWER_BITS = 10, ANSWERS = 1 << ANSWER_BITS, MOST_PIECES = 64 };

struct lgt_answer {
  const lgt_footprint *what;  /* the question ... */
  const lgt_history *history; /* (without images, which nobody gets an element from) */
  int nmove, npiece;          /* ... and the answer */
  lgt_move *move;
  lgt_piece *piece;
};

/* Where the answer is, if it was kept. */
static lgt_answer **place_of(lgt_binder *binder, const lgt_history *history, const lgt_footprint *what) {
  uint64_t h = lgt_hash_mix((uintptr_t)what, (uintptr_t)history->plain) * 0x9e3779b97f4a7c15u;
  if (!binder->answer) binder->answer = lgt_mem_zalloc(ANSWERS * sizeof *binder->answer);
  return binder->answer ? &binder->answer[h >> (64 - ANSWER_BITS)] : NULL;
}

/* Keep what was found out, the moves from `move` and the pieces from `piece` on, in the place of what was there.  If
 * there is no memory for it, it has to be found out again. */
static void keep(const lgt_binder *binder, lgt_answer **place, const lgt_history *history,
                 const lgt_footprint *what, int move, int piece) {
  int nmove = binder->nmove - move, npiece = binder->pieces.count - piece;
  size_t moves = (size_t)nmove * sizeof(lgt_move), pieces = (size_t)npiece * sizeof(lgt_piece);
  lgt_answer *a = npiece > MOST_PIECES ? NULL : lgt_mem_alloc(sizeof *a + pieces + moves);
  if (!a) return;
  *a = (lgt_answer){.what = what, .history = history->plain, .nmove = nmove, .npiece = npiece};
  a->piece = (lgt_piece *)(a + 1);
  a->move = (lgt_move *)(a->piece + npiece);
  if (npiece) memcpy(a->piece, binder->pieces.piece + piece, pieces);
  if (nmove) memcpy(a->move, binder->move + move, moves);
  for (int i = 0; i < nmove; i++) a->move[i].first -= piece;
  lgt_mem_free(*place);
  *place = a;
}

bool lgt_moves_add(lgt_binder *binder, const lgt_move *move, int nmove, const lgt_piece *piece, int npiece) {
  lgt_pieces *pieces = &binder->pieces;
  if (!lgt_mem_grow((void **)&binder->move, &binder->move_room, binder->nmove + nmove, sizeof *move) ||
      !lgt_mem_grow((void **)&pieces->piece, &pieces->room, pieces->count + npiece, sizeof *piece))
    return false;
  for (int i = 0; i < nmove; i++) {
    lgt_move *added = &binder->move[binder->nmove++];
    *added = move[i];
    added->first += pieces->count;
  }
  if (npiece) memcpy(pieces->piece + pieces->count, piece, (size_t)npiece * sizeof *piece);
  pieces->count += npiece;
  return true;
}

bool lgt_moves_list(lgt_binder *binder, const lgt_history *history, const lgt_footprint *what) {
  int move = binder->nmove, piece = binder->pieces.count;
  lgt_answer **place = place_of(binder, history, what), *a = place ? *place : NULL;
  if (a && a->what == what && a->history == history->plain)
    return lgt_moves_add(binder, a->move, a->nmove, a->piece, a->npiece);
  if (!find_out(binder, history, what)) return false;
  if (place) keep(binder, place, history, what, move, piece);
  return true;
}

/* Two messages, that is: a copy on this rank may read what an earlier one has brought to another of its domains. */
static bool between_the_same(const lgt_move *a, const lgt_move *b) {
  return a->root == b->root && a->to == b->to && a->peer == b->peer && a->sends == b->sends &&
         a->early == b->early && a->peer >= 0;
}

/* Append the pieces of the moves from `first` on that go with that one, which takes them; the others are empty then. */
static void take_pieces(lgt_binder *binder, int first) {
  lgt_pieces *pieces = &binder->pieces;
  lgt_move *move = &binder->move[first];
  int begin = pieces->count;
  for (int i = first; i < binder->nmove; i++) {
    lgt_move *other = &binder->move[i];
    if (!between_the_same(move, other)) continue;
    memcpy(pieces->piece + pieces->count, pieces->piece + other->first,
           (size_t)other->count * sizeof *pieces->piece);
    pieces->count += other->count;
    if (i > first) other->count = 0;
  }
  move->first = begin;
  move->count = pieces->count - begin;
}

bool lgt_moves_join(lgt_binder *binder) {
  lgt_pieces *pieces = &binder->pieces;
  int n = 0;
  if (!lgt_mem_grow((void **)&pieces->piece, &pieces->room, 2 * pieces->count, sizeof *pieces->piece))
    return false;
  for (int i = 0; i < binder->nmove; i++) {
    if (binder->move[i].peer >= 0 && binder->move[i].count) take_pieces(binder, i);
    if (binder->move[i].count) binder->move[n++] = binder->move[i];
  }
  binder->nmove = n;
  return true;
}

void lgt_moves_forget(lgt_binder *binder) {
  binder->forgets++;
  for (int i = 0; binder->answer && i < ANSWERS; i++) {
    lgt_mem_free(binder->answer[i]);
    binder->answer[i] = NULL;
  }
}

void lgt_moves_fini(lgt_binder *binder) {
  lgt_moves_forget(binder);
  lgt_mem_free(binder->answer);
  lgt_mem_free(binder->move);
  lgt_mem_free(binder->pieces.piece);
  lgt_mem_free(binder->near);
}
