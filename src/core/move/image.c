/* image.c - making images.  See image.h; image_moves.c finds out what has to move. */
#include "move/image.h"

#include <string.h>

#include "move/image_inverse.h"
#include "move/image_moves.h"
#include "memory/replica.h"

/* ---- looking at positions ------------------------------------------------------------------------------- */

/* Positions, or ranges of them, as they are met: first how far they reach, then which ones they are. */
typedef struct spots {
  int64_t extent, base;
  int64_t lo, hi;  /* all lie between */
  int64_t open[2]; /* the ones met so far, if they are side by side */
  bool apart;      /* they are not */
  bool odd;        /* some count from the end, or are outside */
  uint64_t *bits;  /* from lo on; NULL: the first time */
} spots;

static void set_bits(uint64_t *bits, int64_t lo, int64_t hi) {
  for (; lo < hi && lo % 64; lo++) bits[lo / 64] |= 1ull << lo % 64;
  for (; lo + 64 <= hi; lo += 64) bits[lo / 64] = ~0ull;
  for (; lo < hi; lo++) bits[lo / 64] |= 1ull << lo % 64;
}

static inline void meet(spots *s, int64_t lo, int64_t hi) {
  if (s->bits) {
    if (hi - lo == 1) s->bits[(lo - s->lo) / 64] |= 1ull << (lo - s->lo) % 64;
    else set_bits(s->bits, lo - s->lo, hi - s->lo);
    return;
  }
  if (lo < s->lo) s->lo = lo;
  if (hi > s->hi) s->hi = hi;
  if (s->open[0] > s->open[1]) s->open[0] = lo, s->open[1] = hi;
  if (lo > s->open[1] || hi < s->open[0]) s->apart = true;
  if (lo < s->open[0]) s->open[0] = lo;
  if (hi > s->open[1]) s->open[1] = hi;
}

/* Positions side by side, which are most: first between which all lie, and whether one goes on from the other, by vectors. */
#define LGT_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
LGT_CLONES static bool find_bounds(const int64_t *restrict p, int64_t n, int64_t *least, int64_t *most) {
  int64_t lo = p[0], hi = p[0];
  uint64_t steps = 0;
  for (int64_t i = 1; i < n; i++) {
    lo = p[i] < lo ? p[i] : lo;
    hi = p[i] > hi ? p[i] : hi;
    steps |= (uint64_t)p[i] - (uint64_t)p[i - 1];
  }
  *least = lo;
  *most = hi;
  return steps <= 1;
}

/* ... and then which ones they are: `p` from `origin` on.  Neighbours often share a word. */
static void set_all(uint64_t *bits, const int64_t *p, int64_t n, int64_t origin) {
  int64_t word = (p[0] - origin) / 64;
  uint64_t mask = 0;
  for (int64_t i = 0; i < n; i++) {
    uint64_t at = (uint64_t)(p[i] - origin);
    if ((int64_t)(at / 64) != word) {
      bits[word] |= mask;
      word = (int64_t)(at / 64);
      mask = 0;
    }
    mask |= 1ull << at % 64;
  }
  bits[word] |= mask;
}

/* False: they are to be looked at one by one. */
static bool meet_positions(spots *s, const int64_t *p, int64_t n) {
  int64_t least, most;
  if (s->odd || n < 1) return false;
  if (s->bits) return set_all(s->bits, p, n, s->base + s->lo), true;
  bool beside = find_bounds(p, n, &least, &most);
  if (least < 0 || least < s->base || most >= s->base + s->extent) return s->odd = true, false;
  meet(s, least - s->base, most - s->base + 1);
  s->apart |= !beside;
  return true;
}

static inline int64_t number_at(const lgt_tile *t, const char *p) {
  return t->dtype == LGT_INT32 ? *(const int32_t *)p : *(const int64_t *)p;
}

/* A line of the source: positions, or the beginnings and ends of ranges.  What is outside the task will complain of. */
static void meet_line(spots *s, const lgt_tile *from, const char *p, const lgt_tile *to, const char *q,
                      int64_t n, int64_t step, int64_t to_step) {
  if (!to && from->dtype == LGT_INT64 && step == 8 && meet_positions(s, (const int64_t *)p, n)) return;
  for (int64_t i = 0; i < n; i++, p += step, q += to_step) {
    int64_t lo = number_at(from, p), hi;
    if (to) {
      hi = number_at(to, q);
      if (lo < 0) lo = 0;
      if (hi > s->extent) hi = s->extent;
    } else {
      lo = lo < 0 ? s->extent + lo : lo - s->base;
      hi = lo + 1;
      if (lo < 0 || hi > s->extent) continue;
    }
    if (lo < hi) meet(s, lo, hi);
  }
}

/* All elements of a tile; of two that have one shape. */
static void meet_tile(spots *s, const lgt_tile *from, const lgt_tile *to) {
  int64_t index[LGT_MAX_DIM] = {0}, at[2] = {0};
  const int64_t *stride[2] = {from->stride, to ? to->stride : NULL};
  int last = from->ndim - 1;
  for (int d = 0; d < from->ndim; d++)
    if (from->extent[d] <= 0) return;
  do {
    int64_t n = last < 0 ? 1 : from->extent[last];
    const char *p = (const char *)from->data + at[0], *q = to ? (const char *)to->data + at[1] : NULL;
    meet_line(s, from, p, to, q, n, last < 0 ? 0 : from->stride[last],
              last < 0 || !to ? 0 : to->stride[last]);
  } while (lgt_index_next(last, from->extent, index, to ? 2 : 1, at, stride));
}

/* ---- one image --------------------------------------------------------------------------------------------- */

/* What an image is made from. */
typedef struct making {
  lgt_binder *binder;
  const lgt_plan_group *group;
  const lgt_image_constraint *constraint;
  const lgt_touch *touch;              /* of the call's first argument */
  lgt_selected *selected;              /* the same */
  const lgt_touch *target, *source[2]; /* source[1]: NULL for points */
  lgt_store *store[2];
  lgt_image *image;
} making;

static const lgt_layout *layout_of(const making *m, const lgt_touch *t) {
  return lgt_layout_at(m->binder->stores, m->group->plan->call[t->call].layout[t->arg]);
}

/* The dimension of the root along which a dimension of a view walks; -1: none, or it does not do so alone. */
static int root_dimension(const lgt_layout *layout, int dim, int64_t *begin, int64_t *step) {
  int64_t begins[LGT_MAX_DIM], steps[LGT_MAX_DIM];
  *begin = *step = 0;
  if (layout->flags & LGT_LAYOUT_RESHAPED || dim >= layout->ndim || layout->dim[dim] < 0) return -1;
  lgt_layout_walk(layout, begins, steps);
  *begin = begins[layout->dim[dim]];
  *step = layout->shape[dim] == 1 ? 1 : steps[dim];
  return *step ? layout->dim[dim] : -1;
}

/* The image through which a source is read; NULL: it is read as it lies. */
static const lgt_image *through(const making *m, int which) {
  return m->selected[m->source[which]->arg].image;
}

static lgt_tile tile_of(const making *m, int which, int domain, int colour) {
  const lgt_touch *t = m->source[which];
  const lgt_alignment *align = &m->group->plan->call[t->call].space.align[t->arg];
  lgt_rect tile = lgt_partition_rect(m->group->launch, colour);
  lgt_tile out;
  lgt_map *map = m->binder->map;
  lgt_rect root = lgt_footprint_rect(&map->footprints, m->selected[t->arg].what, map->first + domain, colour);
  const lgt_replica *replica = lgt_store_replica(map, m->store[which], domain);
  const lgt_instance *inst =
      lgt_replica_holder(replica, &root); /* the other source may be another part of it */
  lgt_instance_tile(layout_of(m, t), align, &tile, inst ? inst : replica->inst, &out, NULL);
  return out;
}

/* Run i of what a domain needs of a source that is read through another image. */
static lgt_tile run_of(const making *m, int which, int domain, int64_t i) {
  const int64_t *run = through(m, which)->runs[domain]->run[i];
  const lgt_replica *replica = &m->store[which]->replica[domain];
  lgt_rect root = {.ndim = 1, .lo = {run[0]}, .hi = {run[1]}};
  const lgt_instance *inst =
      lgt_replica_holder(replica, &root); /* the other source may be another part of it */
  lgt_tile t = {.ndim = 1, .dtype = layout_of(m, m->source[which])->dtype};
  t.stride[0] = lgt_dtype_size(t.dtype);
  t.data = lgt_instance_at(inst ? inst : replica->inst, run);
  t.extent[0] = run[1] - run[0];
  return t;
}

/* The positions that a domain reads through another image, or ranges: one image names where they begin and end. */
static void meet_image(const making *m, int domain, spots *s) {
  for (int64_t i = 0; i < through(m, 0)->runs[domain]->count; i++) {
    lgt_tile from = run_of(m, 0, domain, i), to;
    if (m->source[1]) to = run_of(m, 1, domain, i);
    meet_tile(s, &from, m->source[1] ? &to : NULL);
  }
}

static void meet_all(const making *m, int domain, spots *s) {
  for (int i = 0; i < 2 && m->source[i]; i++)
    if (!lgt_store_replica(m->binder->map, m->store[i], domain)->inst) return; /* the domain reads nothing */
  if (through(m, 0)) {
    meet_image(m, domain, s);
    return;
  }
  for (int c = -1; (c = lgt_binder_next(m->binder, m->group->launch, domain, c)) >= 0;) {
    lgt_rect tile = lgt_partition_rect(m->group->launch, c);
    if (lgt_rect_empty(&tile)) continue;
    lgt_tile from = tile_of(m, 0, domain, c), to;
    if (m->source[1]) to = tile_of(m, 1, domain, c);
    meet_tile(s, &from, m->source[1] ? &to : NULL);
  }
}

/* For runs without ranks, whose tasks do nothing: as if each domain needed its share. */
static void assume(const making *m, int domain, spots *s) {
  int64_t n = m->binder->map->domains, d = m->binder->map->first + domain;
  meet(s, s->extent * d / n, s->extent * (d + 1) / n);
}

/* What a local domain needs, along the target's dimension; NULL when out of memory. */
static lgt_runs *find_runs(const making *m, int domain) {
  const lgt_layout *target = layout_of(m, m->target);
  spots s = {.extent = target->shape[m->constraint->dim],
             .base = m->constraint->base,
             .lo = INT64_MAX,
             .open = {1, 0}};
  int64_t begin, step;
  lgt_runs *view = NULL, *runs;
  if (m->binder->dry) assume(m, domain, &s);
  else meet_all(m, domain, &s);
  if (s.lo >= s.hi) return lgt_runs_new(0);
  if (!s.apart) {
    if ((view = lgt_runs_new(1))) view->run[0][0] = s.lo, view->run[0][1] = s.hi, view->total = s.hi - s.lo;
  } else if ((s.bits = lgt_mem_zalloc((size_t)((s.hi - s.lo + 63) / 64) * 8))) {
    meet_all(m, domain, &s);
    view = lgt_runs_of_bits(s.bits, s.lo, s.hi - s.lo);
    lgt_mem_free(s.bits);
  }
  if (!view) return NULL;
  root_dimension(target, m->constraint->dim, &begin, &step);
  runs = lgt_runs_along(view, begin, step);
  lgt_runs_release(view);
  return runs;
}

bool lgt_image_move(lgt_binder *binder, lgt_store *store, const lgt_selected *selected) {
  lgt_exchange x;
  bool good = true;
  if (lgt_exchange_begin_store(&x, binder, store, selected)) {
    if (binder->peers) binder->peers->abort(binder->peers, lgt_message());
    return lgt_exchange_undo(&x), false;
  }
  if (lgt_exchange_acquire(&x)) {
    good = false;
    if (!binder->peers) return lgt_exchange_undo(&x), false;
  }
  if (lgt_exchange_move(&x)) return lgt_exchange_undo(&x), false;
  for (int d = 0; d < binder->map->local && !binder->dry; d++)
    lgt_job_wait(binder, store->replica[d].inst, false);
  lgt_job_retire(binder, false);
  for (int d = 0; d < binder->map->local; d++) {
    const lgt_replica *replica = &store->replica[d];
    if (store->failure || (replica->inst && replica->inst->failure) || replica->absent.count) good = false;
  }
  return good;
}

/* How far the domains of all ranks reach, and whether they need all between. */
enum { LO, HI, STATE, TOLD };
enum { DENSE, SPARSE, UNKNOWN };

static lgt_status share_reach(making *m, bool known) {
  lgt_binder *binder = m->binder;
  lgt_image *image = m->image;
  const lgt_map *map = binder->map;
  int64_t(*all)[TOLD] = lgt_arena_alloc(&binder->arena, (size_t)map->domains * sizeof *all);
  if (!all) return lgt_err(LGT_NO_MEMORY, "out of memory for an image");
  memset(all, 0, (size_t)map->domains * sizeof *all);
  for (int d = 0; d < map->local; d++) {
    const lgt_runs *runs = image->runs[d];
    int64_t *own = all[map->first + d];
    own[STATE] = known ? DENSE : UNKNOWN;
    if (!known || !runs->count) continue;
    own[LO] = runs->run[0][0];
    own[HI] = runs->run[runs->count - 1][1];
    own[STATE] = runs->count > 1 ? SPARSE : DENSE;
  }
  if (binder->peers) {
    binder->agreed.exchanges++;
    lgt_message_gather(binder, lgt_message_tag(binder, 0, 0), all[0], (int64_t)map->local * TOLD);
  }
  image->dense = true;
  for (int d = 0; d < map->domains; d++) {
    image->reach[d][0] = all[d][LO];
    image->reach[d][1] = all[d][HI];
    image->dense &= all[d][STATE] == DENSE;
    image->bad |= all[d][STATE] == UNKNOWN;
  }
  return LGT_OK;
}

/* An image of the same source, of an array that has the same extent there: what it holds is the same. */
static const lgt_image *alike(const making *m, const lgt_image_key *key) {
  const lgt_layout *target = layout_of(m, m->target);
  int64_t begin, step, its_begin, its_step;
  root_dimension(target, key->dim, &begin, &step);
  for (const lgt_image *image = m->store[0]->images; image; image = image->next) {
    lgt_image_key other = image->key;
    const lgt_layout *its = lgt_layout_at(m->binder->stores, other.layout[2]);
    if (image->bad || image->rows || image->along != m->image->along) continue;
    root_dimension(its, other.dim, &its_begin, &its_step);
    other.whole = key->whole;
    other.layout[2] = key->layout[2];
    if (!memcmp(&other, key, sizeof other) && its->shape[key->dim] == target->shape[key->dim] &&
        its_begin == begin && its_step == step)
      return image;
  }
  return NULL;
}

static void copy_reach(making *m, const lgt_image *from) {
  lgt_map *map = m->binder->map;
  for (int d = 0; d < map->local; d++) m->image->runs[d] = lgt_runs_retain(from->runs[d]);
  memcpy(m->image->reach, from->reach, (size_t)map->domains * sizeof *from->reach);
  m->image->dense = from->dense;
}

/* Which parts of the array are needed at all, with room for what is near.  For want of memory all between is near. */
static void coarsen(making *m) {
  lgt_image *image = m->image;
  const lgt_layout *target = layout_of(m, m->target);
  int64_t row = lgt_dtype_size(target->dtype);
  if (image->along) return; /* rows, one after the other, lie in pages of their own */
  for (int d = 1; d < target->root_ndim; d++) row *= target->root_shape[d];
  image->coarse = lgt_mem_zalloc(((size_t)m->binder->map->local + 1) * sizeof(lgt_runs *));
  bool good = image->coarse != NULL;
  for (int d = 0; d < m->binder->map->local && good; d++)
    good =
        (image->coarse[d] = lgt_runs_merged(image->runs[d], 1 + LGT_THIN_PAGE / (row > 0 ? row : 1))) != NULL;
}

static void image_free(lgt_image *image) {
  if (!image) return;
  for (int d = 0; image->coarse && image->coarse[d]; d++) lgt_runs_release(image->coarse[d]);
  lgt_mem_free(image->coarse);
  for (int d = 0; image->rows && image->rows[d]; d++) lgt_runs_release(image->rows[d]);
  lgt_mem_free(image->rows);
  for (int d = 0; image->runs && image->runs[d]; d++) lgt_runs_release(image->runs[d]);
  lgt_image_moves_free(image->moves);
  lgt_mem_free(image->runs);
  lgt_mem_free(image->reach);
  lgt_mem_free(image);
}

void lgt_images_drop(lgt_store *store) {
  for (lgt_image *image; (image = store->images);) {
    store->images = image->next;
    image_free(image);
  }
}

/* What positions or ranges name. */
static bool find_named(const making *m) {
  bool known = lgt_image_move(m->binder, m->store[0], &m->selected[m->source[0]->arg]);
  /* Whatever came of the first: other ranks fetch both. */
  if (m->source[1]) known &= lgt_image_move(m->binder, m->store[1], &m->selected[m->source[1]->arg]);
  for (int d = 0; d < m->binder->map->local && known; d++)
    known = (m->image->runs[d] = find_runs(m, d)) != NULL;
  return known;
}

/* Which positions lead to a domain's tiles; what another argument of the call knows already is not found out again.
 * *here: it is not for this rank that they cannot be found. */
static bool find_inverse(const making *m, bool *here) {
  const lgt_plan_call *call = &m->group->plan->call[m->target->call];
  const lgt_image_constraint *c = m->constraint;
  const lgt_image *known = through(m, 0);
  int local = m->binder->map->local;
  int64_t begin, step;
  lgt_runs **rows = m->image->rows = lgt_mem_zalloc(((size_t)local + 1) * sizeof *rows);
  bool good = rows != NULL;
  root_dimension(layout_of(m, m->target), c->dim, &begin, &step);
  if (good && known && known->rows) {
    for (int d = 0; d < local; d++) rows[d] = lgt_runs_retain(known->rows[d]);
  } else if (good && m->binder->dry) {
    for (int d = 0; d < local && good; d++) good = (rows[d] = lgt_runs_new(0)) != NULL;
  } else {
    lgt_inverse inverse = {.store = m->store[0],
                           .layout = call->layout[c->source[0]],
                           .launch = m->group->launch,
                           .target = lgt_layout_at(m->binder->stores, call->layout[c->tile[0]]),
                           .align = &call->space.align[c->tile[0]],
                           .dim = c->tile[1],
                           .base = c->base};
    if (!good && m->binder->peers) m->binder->peers->abort(m->binder->peers, "out of memory for an image");
    good = good && lgt_inverse_find(m->binder, &inverse, rows, here);
  }
  for (int d = 0; d < local && good; d++)
    *here = good = (m->image->runs[d] = lgt_runs_along(rows[d], begin, step)) != NULL;
  return good;
}

static lgt_status make(making *m, const lgt_image_key *key) {
  lgt_map *map = m->binder->map;
  lgt_image *image = m->image = lgt_mem_zalloc(sizeof *image);
  int64_t begin, step;
  if (image) image->runs = lgt_mem_zalloc(((size_t)map->local + 1) * sizeof(lgt_runs *));
  if (image) image->reach = lgt_mem_zalloc((size_t)map->domains * sizeof *image->reach);
  if (!image || !image->runs || !image->reach) goto no_memory;
  image->key = *key;
  image->serial = ++m->binder->agreed.images;
  image->along = root_dimension(layout_of(m, m->target), m->constraint->dim, &begin, &step);
  const lgt_image *same = m->constraint->tile[0] < 0 ? alike(m, key) : NULL;
  if (same) {
    copy_reach(m, same);
  } else {
    bool here = false, known = m->constraint->tile[0] < 0 ? find_named(m) : find_inverse(m, &here);
    if (share_reach(m, known)) goto no_memory;
    image->bad_here = !known && !here;
  }
  if (!image->bad) coarsen(m);
  image->what =
      lgt_footprint_reaching(m->target->whole, image->along, (const int64_t(*)[2])image->reach, map->domains);
  image->what.sparse = !image->dense;
  image->next = m->store[0]->images;
  m->store[0]->images = image;
  lgt_log(MAP, 2, "image of array %u: %s", m->store[0]->id,
          image->bad     ? "unknown"
          : image->dense ? "ranges"
                         : "points");
  return LGT_OK;
no_memory:
  image_free(image);
  return lgt_err(LGT_NO_MEMORY, "out of memory for an image");
}

/* ---- which ones ------------------------------------------------------------------------------------------- */

static void describe(const making *m, lgt_image_key *key) {
  memset(key, 0, sizeof *key);
  for (int i = 0; i < 2 && m->source[i]; i++) {
    key->version[i] = m->store[i]->version;
    key->source[i] = m->source[i]->whole;
    key->layout[i] = m->group->plan->call[m->source[i]->call].layout[m->source[i]->arg];
  }
  key->tile_dim = -1;
  if (m->constraint->tile[0] >= 0) {
    const lgt_touch *tile = &m->touch[m->constraint->tile[0]];
    key->source[1] = tile->whole;
    key->layout[1] = m->group->plan->call[tile->call].layout[tile->arg];
    key->tile_dim = m->constraint->tile[1];
  } else if (through(m, 0)) key->through = through(m, 0)->serial;
  key->whole = m->target->whole;
  key->layout[2] = m->group->plan->call[m->target->call].layout[m->target->arg];
  key->base = m->constraint->base;
  key->dim = m->constraint->dim;
}

/* The source's image, which becomes its first one.  Those of former versions go, and the oldest of too many, but none
 * that other calls of this group use. */
static lgt_image *find(lgt_store *store, const lgt_image_key *key, int64_t position) {
  lgt_image *found = NULL;
  int count = 0;
  for (lgt_image **link = &store->images; *link;) {
    lgt_image *image = *link;
    bool is = !image->bad && !memcmp(&image->key, key, sizeof *key);
    bool current = !image->bad && image->key.version[0] == store->version;
    if (!is && (image->used == position || (current && ++count < LGT_IMAGES))) {
      link = &image->next;
      continue;
    }
    *link = image->next;
    if (is) found = image;
    else image_free(image);
  }
  if (!found) return NULL;
  found->next = store->images;
  return store->images = found;
}

/* Can it be made?  Not for all views, nor for what the group itself makes. */
static bool possible(const making *m) {
  int64_t begin, step;
  if ((m->target->fresh && !m->target->writes) || m->source[0]->fresh) return false;
  if (root_dimension(layout_of(m, m->target), m->constraint->dim, &begin, &step) < 0) return false;
  for (int i = 0; i < 2 && m->source[i]; i++) {
    int dtype = layout_of(m, m->source[i])->dtype;
    if (dtype != LGT_INT32 && dtype != LGT_INT64) return false;
  }
  if (m->constraint->tile[0] >= 0) /* rows are cut: by tiles, of what is a view */
    return m->group->launch->kind == LGT_PARTITION_TILING && layout_of(m, m->source[0])->ndim > 0 &&
           !(layout_of(m, m->source[0])->flags & LGT_LAYOUT_RESHAPED);
  if (m->source[1] && !through(m, 0) != !through(m, 1)) return false;
  return !through(m, 0) || layout_of(m, m->source[0])->ndim == 1;
}

/* Would something have to move for this argument?  Few elements are not worth asking which ones. */
static bool lacking(const making *m, const uint32_t *root, int arg) {
  lgt_binder *binder = m->binder;
  const lgt_touch *t = &m->touch[arg];
  const lgt_store *store = lgt_store_at(binder->stores, root[m->group->notes->touched[t->root].root]);
  lgt_footprint everywhere = {.whole = t->whole->whole};
  return lgt_rect_size(&everywhere.whole) >= binder->fuser->solver.min_tile && store->history &&
         !lgt_history_has(store->history, &everywhere);
}

/* For this argument, or for one whose positions it holds, or that one's? */
static bool worthwhile(const making *m, const uint32_t *root, int arg) {
  const lgt_constraint_set *set = m->group->plan->call[m->target->call].kind->constraints;
  bool is = lacking(m, root, arg);
  for (int i = 0; i < set->nimage && !is; i++)
    if (set->image[i].arg != arg && (set->image[i].source[0] == arg || set->image[i].source[1] == arg))
      is = worthwhile(m, root, set->image[i].arg);
  return is;
}

/* Where one task writes all, there is nothing to find out.  Where there are several, each must know its part. */
static bool needed(const making *m, const uint32_t *root) {
  if (m->target->writes) return m->group->launch->kind == LGT_PARTITION_TILING;
  return possible(m) && worthwhile(m, root, m->constraint->arg);
}

/* Along other dimensions than the one that ranges name. */
static bool is_cut(const making *m) {
  const lgt_alignment *align = &m->group->plan->call[m->target->call].space.align[m->target->arg];
  bool is = false;
  for (int d = 0; d < layout_of(m, m->target)->ndim; d++) is |= align->to[d] >= 0;
  return is;
}

static lgt_status not_so(const making *m, const char *why) {
  const lgt_plan_call *call = &m->group->plan->call[m->target->call];
  return lgt_err(LGT_BAD_ARGUMENT, "'%s' cannot write argument %d where ranges say: %s", call->kind->name,
                 m->target->arg, why);
}

/* What an image is to who writes it. */
static lgt_status note_written(const making *m) {
  lgt_image *image = m->image;
  bool good = image->dense;
  if (image->written) return LGT_OK;
  if (good) image->written = lgt_footprint_ordered(&m->binder->map->footprints, &image->what, &good);
  if (!good) return not_so(m, "those of one tile must lie side by side, behind those of the tiles before it");
  return image->written ? LGT_OK : LGT_NO_MEMORY;
}

static lgt_status prepare_one(lgt_binder *binder, const lgt_plan_group *group, const uint32_t *root,
                              int first, const lgt_image_constraint *constraint) {
  const lgt_touch *touch = &group->notes->touch[first], *target = &touch[constraint->arg];
  lgt_selected *selected = &binder->selected[first], *of_target = &selected[constraint->arg];
  making m = {.binder = binder,
              .group = group,
              .constraint = constraint,
              .touch = touch,
              .selected = selected,
              .target = target};
  lgt_store *store = lgt_store_at(binder->stores, root[group->notes->touched[target->root].root]);
  lgt_image_key key;
  lgt_status status = LGT_OK;
  for (int i = 0; i < 2 && constraint->source[i] >= 0; i++) {
    m.source[i] = &touch[constraint->source[i]];
    m.store[i] = lgt_store_at(binder->stores, root[group->notes->touched[m.source[i]->root].root]);
    lgt_store_begin_history(binder->map, m.store[i]);
  }
  lgt_store_begin_history(binder->map, store);
  if (!needed(&m, root)) return LGT_OK;
  if (target->writes && !m.source[1]) return not_so(&m, "only image_ranges may be written");
  if (target->writes && is_cut(&m)) return not_so(&m, "no other dimension of it may be cut");
  if (target->writes && !possible(&m))
    return not_so(&m, "it must be no reshaped view, and where ranges begin and end be integers made before");
  describe(&m, &key);
  m.image = find(m.store[0], &key, binder->agreed.position);
  if (!m.image) status = make(&m, &key);
  if (status) return status;
  m.image->used = binder->agreed.position;
  of_target->image = m.image;
  of_target->what = &m.image->what;
  if (m.image->bad) return LGT_OK;
  if (target->writes) {
    status = note_written(&m);
    if (status) return status;
    of_target->what = m.image->written;
  }
  return target->reads ? lgt_image_moves_prepare(binder, store, of_target) : LGT_OK;
}

/* Of one call, whose touches begin with number `first`. */
static lgt_status prepare_call(lgt_binder *binder, const lgt_plan_group *group, const uint32_t *root,
                               const lgt_constraint_set *set, int first, bool *bad) {
  lgt_status status = LGT_OK;
  for (int i = 0; i < set->nimage && !status && !*bad; i++) {
    status = prepare_one(binder, group, root, first, &set->image[i]);
    const lgt_image *image = binder->selected[first + set->image[i].arg].image;
    *bad = image && image->bad;
  }
  return status;
}

/* All that was touched so far is needed. */
static bool begin_picks(lgt_exchange *x) {
  size_t n = (size_t)x->binder->map->local * (size_t)x->nheld;
  x->picks = lgt_arena_alloc(&x->binder->arena, n * sizeof *x->picks);
  for (size_t i = 0; x->picks && i < n; i++) x->picks[i] = (lgt_picks){.rest = x->cover[i]};
  return x->picks != NULL;
}

bool lgt_image_pick(lgt_exchange *x, int n, const lgt_selected *s) {
  lgt_map *map = x->binder->map;
  if (!x->picks && !s->image) return true;
  if (!x->picks && !begin_picks(x)) return false;
  for (int d = 0; d < map->local; d++) {
    lgt_picks *picks = &x->picks[d * x->nheld + n];
    lgt_rect rect;
    if (s->image && s->image->coarse && s->image->coarse[d] && picks->count < LGT_PICKS) {
      picks->runs[picks->count++] = s->image->coarse[d];
      continue;
    }
    for (int i = -1; (i = lgt_footprint_next(&map->footprints, s->what, map->first + d, i, &rect)) >= 0;)
      picks->rest = picks->rest.ndim < 0 ? rect : lgt_rect_bound(&picks->rest, &rect);
  }
  return true;
}

bool lgt_images_select(const lgt_plan_group *group) {
  bool any = false;
  for (int i = group->first; i < group->first + group->count && !any; i++) {
    const lgt_constraint_set *set = group->plan->call[i].kind->constraints;
    any = set && set->nimage;
  }
  return any;
}

lgt_status lgt_images_prepare(lgt_binder *binder, const lgt_plan_group *group, const uint32_t *root,
                              bool *bad) {
  lgt_status status = LGT_OK;
  *bad = false;
  binder->selecting = NULL;
  if (group->notes->cover || !lgt_images_select(group)) return LGT_OK;
  if (!lgt_mem_grow((void **)&binder->selected, &binder->selected_room, group->notes->ntouch,
                    sizeof *binder->selected))
    return lgt_err(LGT_NO_MEMORY, "out of memory for an image");
  for (int i = 0; i < group->notes->ntouch; i++)
    binder->selected[i] = (lgt_selected){.what = group->notes->touch[i].whole};
  binder->selecting = group;
  for (int i = group->first, first = 0; i < group->first + group->count && !status && !*bad; i++) {
    const lgt_plan_call *call = &group->plan->call[i];
    if (call->kind->constraints && call->kind->constraints->nimage)
      status = prepare_call(binder, group, root, call->kind->constraints, first, bad);
    first += call->nargs;
  }
  return status;
}
