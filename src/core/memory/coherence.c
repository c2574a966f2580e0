/* coherence.c - lists of events, each kept once.  See coherence.h.
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
    if (e->wrote && lgt_footprint_at_home(footprint, e->what)) return true;
    if (e->wrote && lgt_rect_intersect(&e->what->whole, &footprint->whole, &common)) return false;
  }
  return true; /* nothing was written there */
}

/* ---- interning ------------------------------------------------------------------------------------------ */

void lgt_histories_init(lgt_histories *histories) {
  *histories = (lgt_histories){0};
  histories->none.plain = &histories->none;
}

static void discard(void *history) { lgt_mem_free(history); }

void lgt_histories_fini(lgt_histories *histories) {
  lgt_intern_fini(&histories->table, discard);
  lgt_mem_free(histories->step);
  *histories = (lgt_histories){0};
}

void lgt_history_mark(const lgt_history *history) {
  ((lgt_history *)history)->marked = ((lgt_history *)history->plain)->marked = true;
}

static bool keep(void *thing) {
  lgt_history *history = thing;
  bool marked = history->marked;
  history->marked = false;
  if (!marked) lgt_mem_free(history);
  return marked;
}

void lgt_histories_sweep(lgt_histories *histories) {
  lgt_intern_sweep(&histories->table, keep);
  histories->left = histories->table.count;
  lgt_mem_free(histories->step); /* footprints that the steps name may go, too */
  histories->step = NULL;
}

static bool equal(const lgt_history *a, const lgt_history *b) {
  if (a->nimage != b->nimage || a->count != b->count) return false;
  if (a->nimage) return a->plain == b->plain && !memcmp(a->image, b->image, sizeof a->image);
  for (int i = 0; i < a->count; i++)
    if (a->event[i].what != b->event[i].what || a->event[i].wrote != b->event[i].wrote) return false;
  return true;
}

static uint64_t hash_of(const lgt_history *history) {
  uint64_t h = (uint64_t)history->nimage;
  for (int i = 0; i < history->nimage; i++) h = lgt_hash_mix(h, (uint64_t)history->image[i]);
  if (history->nimage) return lgt_hash_mix(h, (uintptr_t)history->plain);
  for (int i = 0; i < history->count; i++)
    h = lgt_hash_mix(h, (uintptr_t)history->event[i].what ^ history->event[i].wrote);
  return h;
}

/* The one history that equals the draft, which is used up; NULL: there is none, for want of memory. */
static const lgt_history *intern(lgt_histories *histories, lgt_history *draft) {
  if (!draft) return NULL;
  const lgt_history *known = draft->count || draft->nimage ? NULL : &histories->none;
  uint64_t hash = hash_of(draft);
  uint32_t at = 0;
  while (!known && (known = lgt_intern_next(&histories->table, hash, &at)))
    if (!equal(known, draft)) known = NULL;
    else break;
  if (!known && lgt_intern_add(&histories->table, hash, draft)) return draft;
  lgt_mem_free(draft);
  return known;
}

/* ---- what happened -------------------------------------------------------------------------------------- */

typedef enum what_next { READ, WRITTEN, SHOWN, READS_FORGOTTEN } what_next;

/* Does an event leave the list when something happens?  A footprint that is written covers what lies within it. */
static bool is_superseded(const lgt_event *old, what_next how, const lgt_footprint *footprint) {
  if (how == READS_FORGOTTEN) return !old->wrote;
  if (how == READ) return !old->wrote && old->what == footprint;
  return old->what == footprint ||
         (footprint->exact && lgt_rect_contains(&footprint->whole, &old->what->whole));
}

static const lgt_history *next_plain(lgt_histories *histories, const lgt_history *from, what_next how,
                                     const lgt_footprint *footprint) {
  lgt_history *draft = lgt_mem_alloc(sizeof *draft + ((size_t)from->count + 1) * sizeof(lgt_event));
  if (!draft) return NULL;
  *draft = (lgt_history){.plain = draft, .event = (const lgt_event *)(draft + 1)};
  lgt_event *event = (lgt_event *)(draft + 1);
  for (int i = 0; i < from->count; i++)
    if (!is_superseded(&from->event[i], how, footprint)) event[draft->count++] = from->event[i];
  if (footprint) event[draft->count++] = (lgt_event){footprint, how == WRITTEN};
  return intern(histories, draft);
}

/* The same events with images: those of `from`, of which the oldest makes room, and perhaps one more. */
static const lgt_history *with_images(lgt_histories *histories, const lgt_history *plain,
                                      const lgt_history *from, int64_t more) {
  lgt_history *draft = lgt_mem_alloc(sizeof *draft);
  if (!draft) return NULL;
  *draft = (lgt_history){.plain = plain, .event = plain->event, .count = plain->count};
  for (int i = more && from->nimage == LGT_HISTORY_IMAGES; i < from->nimage; i++)
    draft->image[draft->nimage++] = from->image[i];
  if (more) draft->image[draft->nimage++] = more;
  return intern(histories, draft);
}

static const lgt_history *find_next(lgt_histories *histories, const lgt_history *from, what_next how,
                                    const lgt_footprint *footprint, int64_t image) {
  if (how == SHOWN) return with_images(histories, from->plain, from, image);
  const lgt_history *plain = next_plain(histories, from, how, footprint);
  return plain && how == READ && from->nimage ? with_images(histories, plain, from, 0) : plain;
}

/* Where it is remembered what follows; NULL: nowhere, for want of memory. */
static lgt_history_step *place_of(lgt_histories *histories, const lgt_history_step *step) {
  uint64_t h = lgt_hash_mix(lgt_hash_mix((uint64_t)step->how, (uintptr_t)step->from), step->what);
  if (!histories->step) histories->step = lgt_mem_zalloc(LGT_HISTORY_STEPS * sizeof *histories->step);
  return histories->step ? &histories->step[(h >> 32) % LGT_HISTORY_STEPS] : NULL;
}

static bool go_on(lgt_histories *histories, const lgt_history **history, what_next how,
                  const lgt_footprint *footprint, int64_t image) {
  lgt_history_step step = {*history, NULL, footprint ? (uintptr_t)footprint : (uint64_t)image, how};
  lgt_history_step *known = place_of(histories, &step);
  if (known && known->from == step.from && known->what == step.what && known->how == step.how) {
    *history = known->to;
    return true;
  }
  step.to = find_next(histories, *history, how, footprint, image);
  if (!step.to) return false;
  if (known) *known = step;
  *history = step.to;
  return true;
}

bool lgt_history_read(lgt_histories *histories, const lgt_history **history, const lgt_footprint *footprint) {
  return go_on(histories, history, READ, footprint, 0);
}

/* Does every domain write what it wrote before, and has nobody touched it since?  Nothing has changed then. */
static bool is_written_again(const lgt_history *history, const lgt_footprint *footprint) {
  lgt_rect common;
  for (int i = history->count - 1; i >= 0 && !history->nimage; i--) {
    const lgt_event *e = &history->event[i];
    if (e->wrote && lgt_footprint_at_home(footprint, e->what)) return true;
    if (lgt_rect_intersect(&e->what->whole, &footprint->whole, &common)) return false;
  }
  return false;
}

bool lgt_history_written(lgt_histories *histories, const lgt_history **history,
                         const lgt_footprint *footprint) {
  return is_written_again(*history, footprint) || go_on(histories, history, WRITTEN, footprint, 0);
}

bool lgt_history_shows(const lgt_history *history, int64_t image) {
  for (int i = 0; i < history->nimage; i++)
    if (history->image[i] == image) return true;
  return false;
}

bool lgt_history_shown(lgt_histories *histories, const lgt_history **history, int64_t image) {
  return go_on(histories, history, SHOWN, NULL, image);
}

bool lgt_history_forget_reads(lgt_histories *histories, const lgt_history **history) {
  return go_on(histories, history, READS_FORGOTTEN, NULL, 0);
}

/* ---- checks --------------------------------------------------------------------------------------------- */

static bool is_listed(const lgt_histories *histories, const lgt_history *history) {
  uint32_t at = 0;
  const lgt_history *other;
  if (history == &histories->none) return true;
  while ((other = lgt_intern_next(&histories->table, hash_of(history), &at)))
    if (equal(other, history)) return other == history;
  return false;
}

bool lgt_history_verify(const lgt_histories *histories, const lgt_history *history) {
  const lgt_history *plain = history->plain;
  if (plain->plain != plain || plain->nimage || plain->event != history->event ||
      plain->count != history->count || (history != plain && !history->nimage))
    return lgt_err(LGT_SYSTEM, "history: it is not that of its events with images"), false;
  for (int i = 0; i < history->count; i++)
    for (int k = i + 1; k < history->count; k++) {
      const lgt_event *late = &history->event[k];
      if (is_superseded(&history->event[i], late->wrote ? WRITTEN : READ, late->what))
        return lgt_err(LGT_SYSTEM, "history: event %d supersedes event %d", k, i), false;
    }
  if (is_listed(histories, history) && is_listed(histories, plain)) return true;
  return lgt_err(LGT_SYSTEM, "history: it is not the one in the table"), false;
}
