/* stale.c - see stale.h. */
#include "move/stale.h"

#include "memory/replica.h"
#include "move/image.h"

/* So many asides of a domain are not looked at; nor is a thin instance that has grown by no more than a quarter and ROOM
 * bytes since it was. */
static const int FEW = 2;
static const int64_t ROOM = 1 << 20;

/* What is wanted of an instance that a local domain has of a store, while it is found out. */
typedef struct wanted {
  const lgt_exchange *x;
  const lgt_store *store;
  const lgt_instance *inst;
  lgt_thin *page; /* gets the pages that are wanted; NULL: nobody asks which */
  bool any;       /* something is wanted */
  int domain;
} wanted;

static void want_rect(wanted *w, const lgt_rect *rect) {
  int64_t row = w->inst->stride[0];
  lgt_rect common;
  if (rect->ndim < 1 || !lgt_rect_intersect(rect, &w->inst->rect, &common)) return;
  w->any = true;
  if (w->page) lgt_thin_note(w->page, common.lo[0] * row, common.hi[0] * row);
}

static void want_runs(wanted *w, const lgt_runs *runs) {
  lgt_rect rect = w->inst->rect;
  for (int64_t k = 0; k < runs->count; k++) {
    rect.lo[0] = runs->run[k][0];
    rect.hi[0] = runs->run[k][1];
    want_rect(w, &rect);
  }
}

static void want_footprint(wanted *w, const lgt_footprint *what) {
  const lgt_map *map = w->x->binder->map;
  lgt_rect rect;
  for (int i = -1; (i = lgt_footprint_next(&map->footprints, what, map->first + w->domain, i, &rect)) >= 0;)
    want_rect(w, &rect);
}

/* What the domain is expected to have. */
static void want_history(wanted *w, const lgt_history *history) {
  lgt_stores *stores = w->x->binder->stores;
  for (int i = 0; i < history->count; i++) want_footprint(w, history->event[i].what);
  for (uint32_t id = 1; id < stores->nstore && history->nimage; id++)
    for (const lgt_image *image = lgt_store_at(stores, id)->images; image; image = image->next) {
      if (!lgt_history_shows(history, image->serial)) continue;
      if (image->coarse && image->coarse[w->domain]) want_runs(w, image->coarse[w->domain]);
      else want_footprint(w, &image->what);
    }
}

/* What the exchange works on, and what the store's domains had before it and have behind it. */
static bool is_wanted(wanted *w) {
  const lgt_exchange *x = w->x;
  w->any = false;
  for (int n = 0; n < x->nheld; n++) {
    int at = w->domain * x->nheld + n;
    if (x->store[n] != w->store) continue;
    want_history(w, x->saved[n]);
    if (x->cover[at].ndim < 0) continue;
    const lgt_picks *picks = x->picks[at].count ? &x->picks[at] : NULL;
    for (int i = 0; picks && i < picks->count; i++) want_runs(w, picks->runs[i]);
    want_rect(w, picks ? &picks->rest : &x->cover[at]);
  }
  want_history(w, w->store->history);
  return w->any;
}

static void drop_asides(wanted *w, lgt_replica *replica) {
  lgt_map *map = w->x->binder->map;
  for (int k = replica->naside - 1; k >= 0; k--) {
    w->inst = replica->aside[k].inst;
    if (!is_wanted(w)) lgt_replica_drop(map, replica, k);
  }
}

/* Is it worth while?  With `check` always, so that it shows if pages were not stale. */
static bool may_thin_out(const lgt_map *map, const lgt_instance *inst) {
  if (!inst || !inst->thin || inst->refs > 1 || inst->pins) return false;
  return map->check || inst->bytes > inst->thin->wanted + inst->thin->wanted / 4 + ROOM ||
         lgt_pool_left(map->pool) < inst->bytes;
}

static void thin_out(wanted *w, lgt_instance *inst) {
  w->inst = inst;
  if (!(w->page = lgt_thin_new(inst->thin->span))) return; /* they may stay */
  is_wanted(w);
  lgt_instance_thin_out(w->x->binder->map, inst, w->page);
  lgt_thin_free(w->page);
  w->page = NULL;
}

void lgt_stale_give_back(const lgt_exchange *x) {
  lgt_map *map = x->binder->map;
  for (int at = 0; x->picks && at < map->local * x->nheld; at++) {
    const lgt_store *store = x->store[at % x->nheld];
    wanted w = {.x = x, .store = store, .domain = at / x->nheld};
    if (!x->picks[at].count || !store->replica) continue;
    lgt_replica *replica = &store->replica[w.domain];
    if (replica->naside > (map->check ? 0 : FEW)) drop_asides(&w, replica);
    if (may_thin_out(map, replica->inst)) thin_out(&w, replica->inst);
  }
}
