/* image_route.c - how the elements of an image come to who needs them.  See image.h.
 *
 * A domain asks the target's history for all between its first element and its last one.  The answer is pieces, each
 * with a domain that has it; of these it needs what its image names.  If images are dense that is all of each piece, and
 * both sides of a message know it.  If they are not, a domain writes a letter to each rank that has pieces for it: for
 * each piece, which positions.  Who has pieces for a domain of another rank knows that as it would for a halo, and
 * expects its letter.
 */
#include "move/image_route.h"

#include <string.h>

static void route_free(lgt_route *route) {
  for (int i = 0; i < route->npiece; i++) lgt_runs_release(route->piece[i].runs);
  lgt_mem_free(route->event);
  lgt_mem_free(route->move);
  lgt_mem_free(route->piece);
  lgt_mem_free(route);
}

void lgt_routes_free(lgt_route *route) {
  while (route) {
    lgt_route *next = route->next;
    route_free(route);
    route = next;
  }
}

typedef struct plotting {
  lgt_binder *binder;
  const lgt_image *image;
  const lgt_history *history;
  lgt_route *route;
  lgt_letter *letter; /* owned, with their words */
  int nletter, letter_room;
  struct wanted {
    int first, count, domain;
  } * wanted; /* owned, by letter: pieces that it is about */
  int wanted_room;
} plotting;

/* A piece of the route; of runs: takes over a reference.  What is empty is left out. */
static bool add_piece(plotting *p, const lgt_piece *piece, lgt_runs *runs) {
  lgt_route *route = p->route;
  int along = p->image->along;
  if (runs && !runs->total) return lgt_runs_release(runs), true;
  if (!lgt_mem_grow((void **)&route->piece, &route->piece_room, route->npiece + 1, sizeof *route->piece))
    return lgt_runs_release(runs), false;
  if (runs && runs->total == piece->rect.hi[along] - piece->rect.lo[along]) {
    lgt_runs_release(runs);
    runs = NULL;
  }
  route->piece[route->npiece++] = (lgt_piece){piece->rect, piece->from, runs, along};
  return true;
}

/* A move of the pieces from `first` on, if there are any. */
static bool add_move(plotting *p, int domain, int peer, bool sends, int first) {
  lgt_route *route = p->route;
  if (first == route->npiece) return true;
  if (!lgt_mem_grow((void **)&route->move, &route->move_room, route->nmove + 1, sizeof *route->move))
    return false;
  route->move[route->nmove++] =
      (lgt_move){.to = domain, .peer = peer, .sends = sends, .first = first, .count = route->npiece - first};
  return true;
}

static bool add_letter(plotting *p, int domain, int peer, bool sends, int first, int count) {
  lgt_binder *binder = p->binder;
  if (!lgt_mem_grow((void **)&p->letter, &p->letter_room, p->nletter + 1, sizeof *p->letter)) return false;
  if (!lgt_mem_grow((void **)&p->wanted, &p->wanted_room, p->nletter + 1, sizeof *p->wanted)) return false;
  p->wanted[p->nletter] = (struct wanted){first, count, domain};
  p->letter[p->nletter++] =
      (lgt_letter){.peer = peer, .sends = sends, .tag = lgt_transfer_tag(binder, 0, domain)};
  return true;
}

/* Write down what a local domain wants of pieces of another rank: for each the number of runs, and these. */
static bool write_letter(plotting *p, lgt_runs *const *runs, int count) {
  lgt_letter *letter = &p->letter[p->nletter - 1];
  for (int i = 0; i < count; i++) letter->count += 1 + 2 * runs[i]->count;
  letter->word = lgt_mem_alloc((size_t)letter->count * sizeof *letter->word);
  if (!letter->word) return false;
  int64_t *w = letter->word;
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
  int peer = here || domain == LGT_NOBODY ? -1 : lgt_rank_of(binder, piece->from), begin = p->route->npiece;
  lgt_runs **runs = lgt_mem_zalloc((size_t)count * sizeof *runs);
  bool good = runs && (!asks || add_letter(p, domain, peer, true, first, count));
  for (int i = 0; i < count && good; i++) {
    runs[i] = lgt_runs_within(needs, piece[i].rect.lo[p->image->along], piece[i].rect.hi[p->image->along]);
    good = runs[i] != NULL;
  }
  if (good && asks) good = write_letter(p, runs, count);
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
    int first, end, domain = binder->near[i], begin = p->route->npiece;
    if (!lgt_moves_pieces(binder, p->history, what, domain, &first)) return false;
    while (first < binder->pieces.count && !lgt_is_here(binder, binder->pieces.piece[first].from)) first++;
    for (end = first; end < binder->pieces.count && lgt_is_here(binder, binder->pieces.piece[end].from);)
      end++;
    if (first == end) continue;
    int peer = lgt_rank_of(binder, domain);
    if (!p->image->dense) {
      if (!add_letter(p, domain, peer, false, first, end - first)) return false;
      continue;
    }
    for (int k = first; k < end; k++)
      if (!add_piece(p, &binder->pieces.piece[k], NULL)) return false;
    if (!add_move(p, domain, peer, true, begin)) return false;
  }
  return true;
}

/* What a letter from another rank asks for. */
static bool read_letter(plotting *p, const lgt_letter *letter, const struct wanted *wanted) {
  const int64_t *w = letter->word, *end = w + letter->count;
  int begin = p->route->npiece;
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
  return add_move(p, wanted->domain, letter->peer, true, begin);
}

static bool plot(plotting *p) {
  lgt_binder *binder = p->binder;
  binder->pieces.count = 0;
  binder->agreed.exchanges++;
  if (!plot_needed(p) || !plot_asked(p)) return false;
  if (p->nletter) lgt_transfer_letters(binder, p->letter, p->nletter);
  for (int i = 0; i < p->nletter; i++)
    if (!p->letter[i].sends && !read_letter(p, &p->letter[i], &p->wanted[i])) return false;
  return true;
}

static lgt_route *make(lgt_binder *binder, const lgt_image *image, const lgt_history *history) {
  lgt_route *route = lgt_mem_zalloc(sizeof *route);
  plotting p = {.binder = binder, .image = image, .history = history, .route = route};
  if (route) route->event = lgt_mem_alloc(((size_t)history->count + 1) * sizeof *route->event);
  bool good = route && route->event && plot(&p);
  for (int i = 0; i < p.nletter; i++) lgt_mem_free(p.letter[i].word);
  lgt_mem_free(p.letter);
  lgt_mem_free(p.wanted);
  if (good) {
    memcpy(route->event, history->event, (size_t)history->count * sizeof *route->event);
    route->nevent = history->count;
    lgt_log(MAP, 2, "route of image %lld: %d moves of %d pieces, %d letters", (long long)image->serial,
            route->nmove, route->npiece, p.nletter);
    return route;
  }
  if (binder->peers) binder->peers->abort(binder->peers, "out of memory for which elements other ranks need");
  if (route) route_free(route);
  return NULL;
}

/* The image's route for a history, which becomes its first one; too old ones go, but none that this group uses. */
static lgt_route *find(lgt_image *image, const lgt_history *history, int64_t position) {
  lgt_route *found = NULL;
  int count = 0;
  for (lgt_route **link = &image->route; *link;) {
    lgt_route *route = *link;
    bool is = !found && lgt_history_is(history, route->event, route->nevent);
    if (!is && (route->used == position || ++count < LGT_IMAGE_ROUTES)) {
      link = &route->next;
      continue;
    }
    *link = route->next;
    if (is) found = route;
    else route_free(route);
  }
  if (!found) return NULL;
  found->next = image->route;
  return image->route = found;
}

lgt_status lgt_route_prepare(lgt_binder *binder, lgt_store *store, lgt_touch *touch) {
  lgt_image *image = touch->image;
  if (!touch->reads || lgt_history_shows(store->history, image->serial)) return LGT_OK;
  lgt_route *route = find(image, store->history, binder->agreed.position);
  if (!route) {
    route = make(binder, image, store->history);
    if (!route) return lgt_err(LGT_NO_MEMORY, "out of memory for which elements other ranks need");
    route->next = image->route;
    image->route = route;
  }
  route->used = binder->agreed.position;
  touch->route = route;
  return LGT_OK;
}
