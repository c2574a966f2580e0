/* image_moves.c - how the elements of an image come to who needs them.  See image.h.
 *
 * A domain asks the target's history for all between its first element and its last one.  The answer is pieces, each
 * with a domain that has it; of these it needs what its image names.  If images are dense that is all of each piece, and
 * both sides of a message know it.  If they are not, a domain writes to each rank that has pieces for it, for
 * each piece, which positions it needs.  A rank that has pieces for a domain of another rank knows that as it would for a
 * halo, and expects these numbers.
 */
#include "move/image_moves.h"

#include <string.h>

static void free_one(lgt_image_moves *moves) {
  for (int i = 0; i < moves->npiece; i++) lgt_runs_release(moves->piece[i].runs);
  lgt_mem_free(moves->move);
  lgt_mem_free(moves->piece);
  lgt_mem_free(moves);
}

void lgt_image_moves_free(lgt_image_moves *moves) {
  while (moves) {
    lgt_image_moves *next = moves->next;
    free_one(moves);
    moves = next;
  }
}

typedef struct plotting {
  lgt_binder *binder;
  const lgt_image *image;
  const lgt_history *history;
  lgt_image_moves *moves;
  lgt_numbers *numbers; /* owned, with their words */
  int nnumbers, numbers_room;
  struct wanted {
    int first, count, domain;
  } * wanted; /* owned, by `numbers`: the pieces that they are about */
  int wanted_room;
} plotting;

/* A piece of the moves; of runs: takes over a reference.  What is empty is left out. */
static bool add_piece(plotting *p, const lgt_piece *piece, lgt_runs *runs) {
  lgt_image_moves *moves = p->moves;
  int along = p->image->along;
  if (runs && !runs->total) return lgt_runs_release(runs), true;
  if (!lgt_mem_grow((void **)&moves->piece, &moves->piece_room, moves->npiece + 1, sizeof *moves->piece))
    return lgt_runs_release(runs), false;
  if (runs && runs->total == piece->rect.hi[along] - piece->rect.lo[along]) {
    lgt_runs_release(runs);
    runs = NULL;
  }
  moves->piece[moves->npiece++] =
      (lgt_piece){.rect = piece->rect, .from = piece->from, .runs = runs, .along = along};
  return true;
}

/* A move of the pieces from `first` on, if there are any. */
static bool add_move(plotting *p, int domain, int peer, bool sends, int first) {
  lgt_image_moves *moves = p->moves;
  if (first == moves->npiece) return true;
  if (!lgt_mem_grow((void **)&moves->move, &moves->move_room, moves->nmove + 1, sizeof *moves->move))
    return false;
  moves->move[moves->nmove++] =
      (lgt_move){.to = domain, .peer = peer, .sends = sends, .first = first, .count = moves->npiece - first};
  return true;
}

static bool add_numbers(plotting *p, int domain, int peer, bool sends, int first, int count) {
  lgt_binder *binder = p->binder;
  if (!lgt_mem_grow((void **)&p->numbers, &p->numbers_room, p->nnumbers + 1, sizeof *p->numbers))
    return false;
  if (!lgt_mem_grow((void **)&p->wanted, &p->wanted_room, p->nnumbers + 1, sizeof *p->wanted)) return false;
  p->wanted[p->nnumbers] = (struct wanted){first, count, domain};
  p->numbers[p->nnumbers++] =
      (lgt_numbers){.peer = peer, .sends = sends, .tag = lgt_message_tag(binder, 0, domain)};
  return true;
}

/* Write down what a local domain wants of pieces of another rank: for each the number of runs, and these. */
static bool write_numbers(plotting *p, lgt_runs *const *runs, int count) {
  lgt_numbers *numbers = &p->numbers[p->nnumbers - 1];
  for (int i = 0; i < count; i++) numbers->count += 1 + 2 * runs[i]->count;
  numbers->word = lgt_mem_alloc((size_t)numbers->count * sizeof *numbers->word);
  if (!numbers->word) return false;
  int64_t *w = numbers->word;
  for (int i = 0; i < count; i++) {
    *w++ = runs[i]->count;
    memcpy(w, runs[i]->run, (size_t)runs[i]->count * sizeof *runs[i]->run);
    w += 2 * runs[i]->count;
  }
  return true;
}

/* What a local domain needs of the binder's pieces first ... first + count - 1, which one rank has. */
static bool add_needed(plotting *p, int domain, int first, int count) {
  lgt_binder *binder = p->binder;
  const lgt_piece *piece = binder->pieces.piece + first;
  const lgt_runs *needs = p->image->runs[domain == LGT_NOBODY ? 0 : domain - binder->map->first];
  bool here = lgt_is_here(binder, piece->from), asks = !here && !p->image->dense && domain != LGT_NOBODY;
  int peer = here || domain == LGT_NOBODY ? -1 : lgt_rank_of(binder, piece->from), begin = p->moves->npiece;
  lgt_runs **runs = lgt_mem_zalloc((size_t)count * sizeof *runs);
  bool good = runs && (!asks || add_numbers(p, domain, peer, true, first, count));
  for (int i = 0; i < count && good; i++) {
    runs[i] = lgt_runs_within(needs, piece[i].rect.lo[p->image->along], piece[i].rect.hi[p->image->along]);
    good = runs[i] != NULL;
  }
  if (good && asks) good = write_numbers(p, runs, count);
  for (int i = 0; i < count && good; i++) good = add_piece(p, &piece[i], lgt_runs_retain(runs[i]));
  for (int i = 0; i < count && runs; i++) lgt_runs_release(runs[i]);
  lgt_mem_free(runs);
  return good && add_move(p, domain, peer, false, begin);
}

/* For each local domain; for all ranks alike where each runs the launch. */
static bool plot_needed(plotting *p) {
  lgt_binder *binder = p->binder;
  const lgt_footprint *what = &p->image->what;
  bool shared = !what->launch && binder->map->domains > binder->map->local, good = true;
  for (int d = binder->map->first; d < binder->map->first + binder->map->local && good; d++) {
    int first, end, domain = shared ? LGT_NOBODY : d;
    good = lgt_moves_pieces(binder, p->history, what, domain, &first);
    end = binder->pieces.count;
    for (int i = first; i < end && good;) {
      int k = i + 1;
      while (k < end && (shared || lgt_rank_of(binder, binder->pieces.piece[k].from) ==
                                       lgt_rank_of(binder, binder->pieces.piece[i].from)))
        k++;
      good = add_needed(p, domain, i, k - i);
      i = k;
    }
    if (shared) break;
  }
  return good;
}

/* What others need and this rank has: all of it, or they will say. */
static bool plot_asked(plotting *p) {
  lgt_binder *binder = p->binder;
  const lgt_footprint *what = &p->image->what;
  if (!what->launch || binder->map->domains == binder->map->local) return true;
  if (!lgt_moves_near(binder, p->history, what)) return false;
  for (int i = 0; i < binder->nnear; i++) {
    int first, end, domain = binder->near[i], begin = p->moves->npiece;
    if (!lgt_moves_pieces(binder, p->history, what, domain, &first)) return false;
    while (first < binder->pieces.count && !lgt_is_here(binder, binder->pieces.piece[first].from)) first++;
    for (end = first; end < binder->pieces.count && lgt_is_here(binder, binder->pieces.piece[end].from);)
      end++;
    if (first == end) continue;
    int peer = lgt_rank_of(binder, domain);
    if (!p->image->dense) {
      if (!add_numbers(p, domain, peer, false, first, end - first)) return false;
      continue;
    }
    for (int k = first; k < end; k++)
      if (!add_piece(p, &binder->pieces.piece[k], NULL)) return false;
    if (!add_move(p, domain, peer, true, begin)) return false;
  }
  return true;
}

/* What numbers from another rank ask for. */
static bool read_numbers(plotting *p, const lgt_numbers *numbers, const struct wanted *wanted) {
  const int64_t *w = numbers->word, *end = w + numbers->count;
  int begin = p->moves->npiece;
  for (int i = 0; i < wanted->count && w < end; i++) {
    int64_t n = *w++;
    lgt_assert(n >= 0 && end - w >= 2 * n);
    lgt_runs *runs = lgt_runs_new(n);
    if (!runs) return false;
    memcpy(runs->run, w, (size_t)n * sizeof *runs->run);
    for (int64_t k = 0; k < n; k++) runs->total += runs->run[k][1] - runs->run[k][0];
    w += 2 * n;
    if (!add_piece(p, &p->binder->pieces.piece[wanted->first + i], runs)) return false;
  }
  return add_move(p, wanted->domain, numbers->peer, true, begin);
}

static bool plot(plotting *p) {
  lgt_binder *binder = p->binder;
  binder->pieces.count = 0;
  binder->agreed.exchanges++;
  if (!plot_needed(p) || !plot_asked(p)) return false;
  if (p->nnumbers) lgt_message_numbers(binder, p->numbers, p->nnumbers);
  for (int i = 0; i < p->nnumbers; i++)
    if (!p->numbers[i].sends && !read_numbers(p, &p->numbers[i], &p->wanted[i])) return false;
  return true;
}

static lgt_image_moves *make(lgt_binder *binder, const lgt_image *image, const lgt_history *history) {
  lgt_image_moves *moves = lgt_mem_zalloc(sizeof *moves);
  plotting p = {.binder = binder, .image = image, .history = history, .moves = moves};
  bool good = moves && plot(&p);
  for (int i = 0; i < p.nnumbers; i++) lgt_mem_free(p.numbers[i].word);
  lgt_mem_free(p.numbers);
  lgt_mem_free(p.wanted);
  if (good) {
    moves->history = history->plain;
    lgt_log(MAP, 2, "image %lld: %d moves of %d pieces, %d lists of numbers", (long long)image->serial,
            moves->nmove, moves->npiece, p.nnumbers);
    return moves;
  }
  if (binder->peers) binder->peers->abort(binder->peers, "out of memory for which elements other ranks need");
  if (moves) free_one(moves);
  return NULL;
}

/* The image's moves for a history, which become its first ones; too old ones go, but none that this group uses. */
static lgt_image_moves *find(lgt_image *image, const lgt_history *history, int64_t position) {
  lgt_image_moves *found = NULL;
  int count = 0;
  for (lgt_image_moves **link = &image->moves; *link;) {
    lgt_image_moves *moves = *link;
    bool is = !found && moves->history == history->plain;
    if (!is && (moves->used == position || ++count < LGT_IMAGE_HISTORIES)) {
      link = &moves->next;
      continue;
    }
    *link = moves->next;
    if (is) found = moves;
    else free_one(moves);
  }
  if (!found) return NULL;
  found->next = image->moves;
  return image->moves = found;
}

lgt_status lgt_image_moves_prepare(lgt_binder *binder, lgt_store *store, lgt_selected *selected) {
  lgt_image *image = selected->image;
  if (lgt_history_shows(store->history, image->serial)) return LGT_OK;
  lgt_image_moves *moves = find(image, store->history, binder->agreed.position);
  if (!moves) {
    moves = make(binder, image, store->history);
    if (!moves) return lgt_err(LGT_NO_MEMORY, "out of memory for which elements other ranks need");
    moves->next = image->moves;
    image->moves = moves;
  }
  moves->used = binder->agreed.position;
  selected->moves = moves;
  return LGT_OK;
}
