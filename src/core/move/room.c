/* room.c - see room.h. */
#include "move/room.h"

#include <string.h>

/* One block of memory. */
typedef struct room {
  int halos; /* of the notes, when it was found out */
  lgt_rect *cover, *spare;
  bool *written;
} room;

bool lgt_room_take(lgt_exchange *x) {
  const room *r = x->group->notes->room;
  if (!x->replays || x->binder->check || !r || r->halos != x->group->notes->halos) return false;
  x->cover = r->cover;
  x->spare = r->spare;
  x->written = r->written;
  return x->known = true;
}

static bool is_same_room(const lgt_exchange *x, const room *r) {
  bool same = !memcmp(r->written, x->written, (size_t)x->nheld);
  for (int at = 0; at < x->binder->map->local * x->nheld && same; at++) {
    const lgt_rect *a = &r->cover[at], *b = &x->cover[at], *c = &r->spare[at], *d = &x->spare[at];
    same = a->ndim == b->ndim && (a->ndim < 0 || lgt_rect_equal(a, b)) && c->ndim == d->ndim &&
           (c->ndim < 0 || lgt_rect_equal(c, d));
  }
  return same;
}

void lgt_room_keep(lgt_exchange *x) {
  lgt_plan_notes *notes = x->group->notes;
  const room *old = notes->room;
  size_t n = (size_t)x->binder->map->local * (size_t)x->nheld;
  if (!x->replays || x->known || x->group->plan->origin) return; /* a shifted plan runs once */
  if (old && old->halos == notes->halos)
    return lgt_assert(is_same_room(x, old)); /* with the option `check` */
  lgt_mem_free(notes->room);
  room *r = notes->room = lgt_mem_alloc(sizeof *r + 2 * n * sizeof *r->cover + (size_t)x->nheld);
  if (!r) return;
  r->halos = notes->halos;
  r->cover = (lgt_rect *)(r + 1);
  r->spare = r->cover + n;
  r->written = (bool *)(r->spare + n);
  memcpy(r->cover, x->cover, n * sizeof *r->cover);
  memcpy(r->spare, x->spare, n * sizeof *r->spare);
  memcpy(r->written, x->written, (size_t)x->nheld);
}
