/* coherence.c - lists of events.  See coherence.h.
 *
 * A question is answered from the newest event to the oldest, with the region that is not accounted for yet: what
 * the domain itself touched is there; what another one wrote since is lacking, and is to be had from the writer;
 * whatever is left at the end was never written.  Only what is lacking is then asked for among the domains of the
 * same rank, the same way: they may have newer events than the domain itself for what it has, too.
 */
#include "memory/coherence.h"

#include <string.h>

/* Take the part of `rest` that lies in `rect` out, as pieces. */
static bool take(lgt_region *rest, const lgt_rect *rect, int from, lgt_pieces *pieces) {
  for (int i = 0; i < rest->count; i++) {
    lgt_piece piece = {.from = from};
    if (!lgt_rect_intersect(&rest->rect[i], rect, &piece.rect)) continue;
    if (!lgt_mem_grow((void **)&pieces->piece, &pieces->room, pieces->count + 1, sizeof *pieces->piece))
      return false;
    pieces->piece[pieces->count++] = piece;
  }
  return lgt_region_remove(rest, rect);
}

/* What another domain of the rank has: `most` is the first one that has not. */
static bool take_from_siblings(lgt_region *rest, const lgt_footprints *f, const lgt_footprint *fp, int domain,
                               int most, lgt_pieces *pieces) {
  int first = domain / f->local * f->local;
  bool good = true;
  for (int d = first; d < most && good; d++) {
    lgt_rect rect;
    for (int i = -1; d != domain && good && (i = lgt_footprint_next(f, fp, d, i, &rect)) >= 0;)
      if (lgt_region_meets(rest, &rect)) good = take(rest, &rect, d, pieces);
  }
  return good;
}

static bool remove_own(lgt_region *rest, const lgt_footprints *f, const lgt_footprint *fp, int domain) {
  lgt_rect rect;
  bool good = true;
  for (int i = -1; good && (i = lgt_footprint_next(f, fp, domain, i, &rect)) >= 0;)
    if (lgt_region_meets(rest, &rect)) good = lgt_region_remove(rest, &rect);
  return good;
}

/* What others wrote. */
static bool take_from_writers(lgt_region *rest, const lgt_footprints *f, const lgt_footprint *fp,
                              lgt_pieces *pieces) {
  bool good = true;
  lgt_rect bound = rest->rect[0];
  lgt_near near;
  for (int i = 1; i < rest->count; i++) bound = lgt_rect_bound(&bound, &rest->rect[i]);
  lgt_near_begin(&near, f, fp, &bound);
  while (good && rest->count && lgt_near_next(&near)) good = take(rest, &near.rect, near.domain, pieces);
  return good;
}

/* Go through the events with what is not accounted for yet. */
static bool account(lgt_region *rest, const lgt_history *history, const lgt_footprints *f, int domain,
                    bool siblings, lgt_pieces *pieces) {
  int end = domain / f->local * f->local + f->local;
  bool good = true;
  for (int i = history->count - 1; i >= 0 && good && rest->count; i--) {
    const lgt_event *e = &history->event[i];
    const lgt_footprint *fp = e->what;
    if (!lgt_region_meets(rest, &fp->whole)) continue;
    if (domain == LGT_NOBODY) {
      if (!fp->launch) good = lgt_region_remove(rest, &fp->whole);
    } else {
      good = remove_own(rest, f, fp, domain);
      if (good && rest->count && siblings) good = take_from_siblings(rest, f, fp, domain, end, pieces);
      if (good && rest->count && e->wrote && !fp->launch) /* every rank has it, and so a sibling */
        good = take(rest, &fp->whole, end - f->local, pieces);
    }
    if (good && rest->count && e->wrote && fp->launch) good = take_from_writers(rest, f, fp, pieces);
  }
  return good;
}

/* Take what is nearer from siblings instead, for the pieces from `first` on. */
static bool prefer_siblings(const lgt_history *history, const lgt_footprints *f, const lgt_footprint *reading,
                            int domain, int first, lgt_pieces *pieces) {
  int end = pieces->count;
  bool good = true;
  for (int i = first; i < end && good; i++) {
    lgt_region rest = {0};
    good = lgt_region_add(&rest, &pieces->piece[i].rect);
    if (good && reading) good = take_from_siblings(&rest, f, reading, domain, domain, pieces);
    if (good) good = account(&rest, history, f, domain, true, pieces);
    lgt_region_fini(&rest);
  }
  if (!good) return false;
  for (int i = end; i < pieces->count; i++) pieces->piece[first + i - end] = pieces->piece[i];
  pieces->count -= end - first;
  return true;
}

bool lgt_history_lacks(const lgt_history *history, const lgt_footprints *f, const lgt_footprint *reading,
                       int domain, const lgt_rect *place, lgt_pieces *pieces) {
  lgt_region rest = {0};
  int first = pieces->count;
  bool good = lgt_region_add(&rest, place) && account(&rest, history, f, domain, false, pieces);
  if (good && !lgt_domain_alone(f->local) && domain != LGT_NOBODY && pieces->count > first)
    good = prefer_siblings(history, f, reading, domain, first, pieces);
  lgt_region_fini(&rest);
  if (!good) pieces->count = first;
  return good;
}

bool lgt_history_has(const lgt_history *history, const lgt_footprint *footprint) {
  lgt_rect common;
  for (int i = history->count - 1; i >= 0; i--) {
    const lgt_event *e = &history->event[i];
    if (e->what == footprint) return true;
    if (!e->what->launch && !footprint->launch && lgt_rect_contains(&e->what->whole, &footprint->whole))
      return true;
    if (e->wrote && lgt_rect_intersect(&e->what->whole, &footprint->whole, &common)) return false;
  }
  return true; /* nothing was written there */
}

/* ---- what happened -------------------------------------------------------------------------------------- */

static void remove_event(lgt_history *history, int at) {
  for (int i = at + 1; i < history->count; i++) history->event[i - 1] = history->event[i];
  history->count--;
}

bool lgt_history_read(lgt_history *history, const lgt_footprint *footprint) {
  if (!lgt_mem_grow((void **)&history->event, &history->room, history->count + 1, sizeof *history->event))
    return false;
  for (int i = history->count - 1; i >= 0; i--)
    if (!history->event[i].wrote && history->event[i].what == footprint) remove_event(history, i);
  history->event[history->count++] = (lgt_event){footprint, false};
  return true;
}

bool lgt_history_written(lgt_history *history, const lgt_footprint *footprint) {
  if (!lgt_mem_grow((void **)&history->event, &history->room, history->count + 1, sizeof *history->event))
    return false;
  for (int i = history->count - 1; i >= 0; i--) {
    const lgt_footprint *old = history->event[i].what;
    if (old == footprint || (footprint->exact && lgt_rect_contains(&footprint->whole, &old->whole)))
      remove_event(history, i);
  }
  history->event[history->count++] = (lgt_event){footprint, true};
  history->nimage = 0;
  return true;
}

bool lgt_history_is(const lgt_history *history, const lgt_event *event, int count) {
  if (history->count != count) return false;
  for (int i = 0; i < count; i++)
    if (event[i].what != history->event[i].what || event[i].wrote != history->event[i].wrote) return false;
  return true;
}

bool lgt_history_shows(const lgt_history *history, int64_t image) {
  for (int i = 0; i < history->nimage; i++)
    if (history->image[i] == image) return true;
  return false;
}

void lgt_history_shown(lgt_history *history, int64_t image) {
  if (history->nimage == LGT_HISTORY_IMAGES)
    memmove(history->image, history->image + 1, (size_t)--history->nimage * sizeof *history->image);
  history->image[history->nimage++] = image;
}

void lgt_history_forget_reads(lgt_history *history) {
  int n = 0;
  for (int i = 0; i < history->count; i++)
    if (history->event[i].wrote) history->event[n++] = history->event[i];
  history->count = n;
  history->nimage = 0;
}
