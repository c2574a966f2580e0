/* ahead.c - see ahead.h. */
#include "bind/ahead.h"

#include "base/random.h"
#include "move/record.h"

/* A domain's task, one loop of it, and the exchange before it. */
typedef struct view {
  const lgt_attempt *try;
  const lgt_plan_group *group;
  int domain, colour;
  const lgt_plan_loop *loop;
} view;

/* ---- what touches nothing that comes ---------------------------------------------------------------- */

/* Does an access touch elements of `rect`, for this part of the loop's space? */
static bool touches(const view *v, const lgt_plan_access *access, const lgt_rect *space,
                    const lgt_rect *rect) {
  const lgt_layout *layout = lgt_layout_at(v->try->binder->stores, access->layout);
  lgt_alignment align = lgt_group_align(v->group, access);
  lgt_rect part = lgt_space_view_rect(layout, &align, space), common;
  lgt_rect root = lgt_layout_root_rect(layout, &part);
  return lgt_rect_intersect(&root, rect, &common);
}

/* Take from one side of `inner` what touches the rect, doubling the share, for halos are thin.  False: that would be more than
 * a quarter of it. */
static bool shrink(const view *v, const lgt_plan_access *access, const lgt_rect *rect, int side,
                   lgt_rect *inner) {
  int d = side / 2;
  int64_t most = (inner->hi[d] - inner->lo[d]) / 4;
  for (int64_t n = 1; n <= most; n *= 2) {
    lgt_rect left = *inner;
    if (side % 2) left.hi[d] -= n;
    else left.lo[d] += n;
    if (!touches(v, access, &left, rect)) return *inner = left, true;
  }
  return false;
}

/* Leave what touches the rect, at the side where that is least. */
static bool avoid(const view *v, const lgt_plan_access *access, const lgt_rect *rect, lgt_rect *inner) {
  lgt_rect best = {.ndim = -1};
  if (!touches(v, access, inner, rect)) return true;
  for (int side = 0; side < 2 * inner->ndim; side++) {
    lgt_rect left = *inner;
    if (shrink(v, access, rect, side, &left) &&
        (best.ndim < 0 || lgt_rect_size(&left) > lgt_rect_size(&best)))
      best = left;
  }
  if (best.ndim < 0) return false;
  *inner = best;
  return true;
}

/* What is still to come to a root's elements here, in messages or from other domains of this rank; or, if the access stores, to
 * go from here to these domains or to all ranks. */
static bool avoid_moves(const view *v, const lgt_plan_access *access, bool stores, lgt_rect *inner) {
  const lgt_binder *binder = v->try->binder;
  int n = v->group->notes->of_slot[access->slot], me = binder->map->first + v->domain;
  for (int i = 0; i < binder->nmove; i++) {
    const lgt_move *move = &binder->move[i];
    if (move->sends || move->root != n) continue;
    for (int k = move->first; k < move->first + move->count; k++) {
      const lgt_piece *piece = &binder->pieces.piece[k];
      bool here = move->to == me || move->to == LGT_NOBODY || !piece->rect.ndim;
      if ((here || (stores && piece->from == me)) && !avoid(v, access, &piece->rect, inner)) return false;
    }
  }
  return true;
}

/* The rest of a renamed slot, which is copied when all of its root has come: there, or where it is copied from. */
static bool avoid_rest(const view *v, const lgt_plan_access *access, int renamed, lgt_rect *inner) {
  const lgt_layout *root = lgt_layout_at(v->try->binder->stores, v->group->slot[renamed].layout);
  const lgt_rect *written = &v->try->touched.spare[v->domain * v->group->nslot + renamed];
  lgt_rect all = lgt_rect_of_shape(root->ndim, root->shape), piece[2 * LGT_MAX_DIM];
  int n = written->ndim < 0 ? -1 : lgt_rect_subtract(&all, written, piece);
  for (int i = 0; i < n; i++)
    if (!avoid(v, access, &piece[i], inner)) return false;
  return n >= 0;
}

/* All rests that an access touches: of the slot itself, or, if it stores, of others that have theirs from there. */
static bool avoid_rests(const view *v, const lgt_plan_access *access, bool stores, lgt_rect *inner) {
  for (int s = 0; s < v->group->nslot; s++) {
    uint16_t rest = v->group->slot[s].rest;
    bool touched = rest != LGT_NONE && (s == access->slot || (stores && rest == access->slot));
    if (touched && !avoid_rest(v, access, s, inner)) return false;
  }
  return true;
}

/* The part of a tile of the loop's space that touches nothing that comes, perhaps all of it; false: the loop is to wait.  One that
 * reduces is not cut, for its chunks are part of the order in which values are combined (loop.h); one with calls of C is not,
 * for these may fail. */
static bool find_inner(const view *v, const lgt_rect *tile, lgt_rect *inner) {
  if (!v->loop->kernel || v->loop->nnative) return false;
  const lgt_loop *code = v->loop->kernel->loop;
  *inner = *tile;
  for (int a = 0; a < code->naccess; a++) {
    const lgt_plan_access *access = &v->loop->access[a];
    lgt_access_mode mode = code->access[a].mode;
    if (mode == LGT_ACCESS_REDUCE) return false;
    if (mode == LGT_ACCESS_INDEX || access->slot == LGT_NONE) continue;
    const lgt_plan_slot *slot = &v->group->slot[access->slot];
    bool stores = mode == LGT_ACCESS_STORE;
    if (!avoid_rests(v, access, stores, inner)) return false;
    bool old = slot->initial || slot->takes != LGT_NONE; /* may its memory be that of former contents? */
    if (old && !avoid_moves(v, access, stores, inner)) return false;
  }
  return true;
}

/* ---- is it worth it? -------------------------------------------------------------------------------- */

/* Nanoseconds that a second job takes; that a row of a strip takes, which is in a cache no more; bytes that a loop moves in a
 * nanosecond.  Of about this size on any machine. */
enum { JOB = 5000, ROW = 30, BYTES = 10 };

static int64_t bytes_of(const lgt_plan_loop *loop, const lgt_rect *tile, const lgt_rect *part) {
  return (int64_t)((double)(loop->bytes / loop->launch->ncolour) * (double)lgt_rect_size(part) /
                   (double)lgt_rect_size(tile));
}

static int64_t rows_around(const lgt_rect *tile, const lgt_rect *inner) {
  lgt_rect strip[2 * LGT_MAX_DIM];
  int64_t rows = 0;
  int n = lgt_rect_subtract(tile, inner, strip), last = tile->ndim - 1;
  for (int i = 0; i < n; i++) rows += lgt_rect_size(&strip[i]) / (strip[i].hi[last] - strip[i].lo[last]);
  return rows;
}

/* Are the loops so large that they follow one another (follow.h)?  That saves more. */
static bool may_follow(const view *v) {
  int64_t cache = v->try->binder->fuser->config->skew;
  bool any = false;
  for (int l = 0; l < v->group->nloop && cache && v->group->nloop > 1; l++)
    any |= v->group->loop[l].bytes / v->group->loop[l].launch->ncolour > cache;
  return any;
}

/* So many bytes may be moved ahead of what comes, at the price of so many rows of strips. */
static bool pays(const view *v, int64_t bytes, int64_t rows) {
  lgt_binder *binder = v->try->binder;
  int64_t message = binder->message_us * (int64_t)1000, ahead = bytes / BYTES;
  bool worth = (message < ahead ? message : ahead) > 2 * (JOB + ROW * rows) && !may_follow(v);
  return binder->jitter ? lgt_random_choice(&binder->jitter) : worth;
}

/* ---- jobs ------------------------------------------------------------------------------------------- */

static bool anything_comes(const lgt_binder *binder) {
  for (int i = 0; i < binder->nmove; i++)
    if (!binder->move[i].sends && !binder->move[i].early) return true;
  return false;
}

/* What of a domain's task runs ahead; LGT_PORTION_ALL: nothing.  It follows from the group and the exchange's moves alone. */
static lgt_portion find(view *v) {
  lgt_portion found = {.what = LGT_PORTION_ALL};
  int64_t bytes = 0, rows = 0;
  const lgt_binder *binder = v->try->binder;
  if (!anything_comes(binder) || !lgt_partition_apart(v->group->launch, binder->map->domains)) return found;
  for (int l = 0; l < v->group->nloop && !rows; l++) {
    v->loop = &v->group->loop[l];
    lgt_rect tile = lgt_group_tile(v->group, v->loop, v->colour), inner;
    if (lgt_rect_empty(&tile)) continue;
    if (!find_inner(v, &tile, &inner)) break;
    found = (lgt_portion){LGT_PORTION_AHEAD, l, inner};
    bytes += bytes_of(v->loop, &tile, &inner);
    rows = rows_around(&tile, &inner);
  }
  if (found.what == LGT_PORTION_AHEAD && !pays(v, bytes, rows)) found.what = LGT_PORTION_ALL;
  return found;
}

/* Is all there that the group works on, on the host, and does no data say what moves? */
static bool may_run_ahead(const lgt_attempt *try) {
  const lgt_exchange *x = &try->exchange;
  return try->host && try->pointed && !try->poison && !try->lacks && !x->lacks && !x->split &&
         try->binder->selecting != try->group;
}

/* What was found before must be found again; whether it is worth it may be a random choice. */
static void check(view *v, const lgt_portion *known) {
  lgt_portion again = find(v);
  lgt_assert(known->what != again.what || lgt_portion_equal(known, &again));
}

lgt_status lgt_ahead_run(lgt_attempt *try) {
  lgt_binder *binder = try->binder;
  bool known = false, any = false;
  if ((!binder->message_us && !binder->jitter) || !may_run_ahead(try)) return LGT_OK;
  lgt_portion *ahead = try->exchange.record
                           ? lgt_record_ahead(try->exchange.record, &known)
                           : lgt_arena_alloc(&binder->arena, (size_t)binder->map->local * sizeof *ahead);
  if (!ahead) return LGT_OK; /* all of it waits then */
  for (int d = 0; d < binder->map->local && !known; d++) ahead[d].what = LGT_PORTION_ALL;
  for (int i = 0; i < try->points.count; i++) {
    const lgt_point *p = &try->points.point[i];
    view v = {.try = try, .group = try->group, .domain = p->domain, .colour = p->colour};
    if (!known) ahead[p->domain] = find(&v);
    else if (binder->check) check(&v, &ahead[p->domain]);
    any |= ahead[p->domain].what == LGT_PORTION_AHEAD;
  }
  return any ? lgt_attempt_run_ahead(try, ahead) : LGT_OK;
}
