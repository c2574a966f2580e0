/* deal.c - see deal.h. */
#include "plan/deal.h"

#include "plan/inline.h"

/* The items of a loop, in the order of the program, by sets of those that stay together. */
typedef struct dealer {
  lgt_weaver *w;
  uint16_t *item; /* owned, room for all items */
  uint16_t *set;  /* of the same block: by place in `item`, the place of the first one of its set */
  int64_t *cost;  /* of the same block: as `set`, of all of a set at the place of its first one */
  int nitem;
} dealer;

static const lgt_weave_item *item_at(const dealer *d, int place) {
  return &d->w->items->item[d->item[place]];
}

/* ---- what stays together ------------------------------------------------------------------------------ */

/* A buffer that may be written over an old one is in its memory. */
static uint16_t memory_of(const dealer *d, uint16_t buffer) {
  uint16_t old = buffer == LGT_NONE ? LGT_NONE : d->w->items->buffer[buffer].takes;
  return old == LGT_NONE ? buffer : old;
}

static bool same_memory(const dealer *d, uint16_t a, uint16_t b) {
  return a != LGT_NONE && b != LGT_NONE && memory_of(d, a) == memory_of(d, b);
}

/* Does one argument write what the other one touches, or do both read several elements?  A number is in the cache of whoever wants
 * it. */
static bool share(const dealer *d, const lgt_weave_item *x, int a, const lgt_weave_item *y, int b) {
  bool written = same_memory(d, x->out[a], y->out[b]) || same_memory(d, x->out[a], y->in[b]) ||
                 same_memory(d, x->in[a], y->out[b]);
  const lgt_layout *l = lgt_weaver_layout(d->w, x->layout[a]);
  if (!written && (!same_memory(d, x->in[a], y->in[b]) || lgt_layout_distinct(l) == 1)) return false;
  return lgt_layout_may_overlap(l, lgt_weaver_layout(d->w, y->layout[b]));
}

static bool are_related(const dealer *d, const lgt_weave_item *x, const lgt_weave_item *y) {
  for (int a = 0; a < x->nargs; a++)
    for (int b = 0; b < y->nargs; b++)
      if (share(d, x, a, y, b)) return true;
  return false;
}

static void unite(dealer *d, int first, int second) {
  for (int k = 0; k < d->nitem; k++)
    if (d->set[k] == second) d->set[k] = (uint16_t)first;
  d->cost[first] += d->cost[second];
}

static void find_sets(dealer *d) {
  for (int k = 0; k < d->nitem; k++)
    for (int j = 0; j < k; j++) {
      int first = d->set[j] < d->set[k] ? d->set[j] : d->set[k], second = d->set[j] + d->set[k] - first;
      if (first != second && are_related(d, item_at(d, j), item_at(d, k))) unite(d, first, second);
    }
}

/* ---- what it costs -------------------------------------------------------------------------------------- */

/* As of loops (abreast.c), for one colour. */
static int64_t cost_of(const dealer *d, const lgt_weave_item *item, int64_t points) {
  double bytes = 0, work = 0;
  const lgt_body *body = item->kind->body;
  for (int a = 0; a < item->nargs; a++) {
    const lgt_layout *l = lgt_weaver_layout(d->w, item->layout[a]);
    bytes += (double)lgt_layout_distinct(l) * (double)lgt_dtype_size(l->dtype);
  }
  for (int i = 0; body && i < body->ninst; i++) work += lgt_inline_work(&body->inst[i]);
  work *= (double)points;
  return (int64_t)((work > bytes ? work : bytes) / lgt_item_launch(d->w, item)->ncolour);
}

static int64_t points_of(const lgt_weave_loop *loop) {
  int64_t points = 1;
  for (int k = 0; k < loop->ndim; k++) points *= loop->extent[k];
  return points;
}

/* Its items, each a set of its own; what they cost is returned. */
static int64_t list_items(dealer *d, int number) {
  int64_t cost = 0;
  d->nitem = 0;
  for (int i = 0; i < d->w->items->nitem; i++) {
    const lgt_weave_item *item = &d->w->items->item[i];
    if (item->loop != number) continue;
    d->item[d->nitem] = (uint16_t)i;
    d->set[d->nitem] = (uint16_t)d->nitem;
    cost += d->cost[d->nitem++] = cost_of(d, item, points_of(&d->w->loop[number]));
  }
  return cost;
}

/* ---- dealing -------------------------------------------------------------------------------------------- */

/* How many loops a loop may become. */
static int64_t most_loops(const dealer *d, int number, int64_t cost) {
  const lgt_weave_loop *loop = &d->w->loop[number];
  int workers = d->w->fuser->workers;
  int64_t most = cost / d->w->fuser->config->abreast;
  bool one = !loop->reduces || loop->alone || loop->by_rows || d->nitem < 2 ||
             lgt_reduction_chunks(points_of(loop) / loop->launch->ncolour) >= workers;
  return one ? 1 : most < workers ? most : workers;
}

/* Neighbouring sets go to one of so many loops, so that these cost about the same.  In `set` is then by place the number of the
 * loop, from 0; their number is returned. */
static int choose_loops(dealer *d, int64_t most, int64_t cost) {
  int64_t before = 0, newest = -1;
  int n = 0;
  for (int k = 0; k < d->nitem; k++) {
    if (d->set[k] != k) {
      d->set[k] = d->set[d->set[k]];
      continue;
    }
    int64_t loop = (int64_t)(((double)before + (double)d->cost[k] / 2) * (double)most / (double)cost);
    before += d->cost[k];
    n += loop != newest;
    newest = loop;
    d->set[k] = (uint16_t)(n - 1);
  }
  return n;
}

static lgt_status make_loops(dealer *d, int number, int n) {
  lgt_weaver *w = d->w;
  if (!lgt_mem_grow((void **)&w->loop, &w->loop_room, w->nloop + n - 1, sizeof *w->loop))
    return lgt_no_memory_to_fuse();
  for (int i = 0; i < w->items->nitem; i++) {
    lgt_weave_item *item = &w->items->item[i];
    if (item->loop != LGT_NONE && item->loop > number) item->loop = (uint16_t)(item->loop + n - 1);
  }
  for (int l = w->nloop - 1; l > number; l--) w->loop[l + n - 1] = w->loop[l];
  w->nloop += n - 1;
  for (int l = n - 1; l >= 0; l--) {
    lgt_weave_loop *loop = &w->loop[number + l];
    *loop = w->loop[number];
    loop->reduces = false;
    for (int k = 0; k < d->nitem; k++) loop->reduces |= d->set[k] == l && item_at(d, k)->kind->reduces;
    if (!loop->reduces) loop->kept = 0, loop->inner = -1;
  }
  for (int k = 0; k < d->nitem; k++) w->items->item[d->item[k]].loop = (uint16_t)(number + d->set[k]);
  return LGT_OK;
}

static lgt_status deal(dealer *d, int number) {
  int64_t cost = list_items(d, number), most = most_loops(d, number, cost);
  if (most < 2) return LGT_OK;
  find_sets(d);
  int n = choose_loops(d, most, cost);
  return n > 1 ? make_loops(d, number, n) : LGT_OK;
}

lgt_status lgt_deal_items(lgt_weaver *w) {
  size_t n = (size_t)w->items->nitem;
  int before = w->nloop;
  lgt_status status = LGT_OK;
  if (w->fuser->workers < 2 || !w->fuser->config->abreast || lgt_inline_applies(w->fuser, w->plan))
    return LGT_OK;
  dealer d = {.w = w};
  d.cost = lgt_mem_alloc((n + 1) * (sizeof *d.cost + sizeof *d.item + sizeof *d.set));
  if (!d.cost) return lgt_no_memory_to_fuse();
  d.item = (uint16_t *)(d.cost + n);
  d.set = d.item + n;
  for (int l = w->nloop - 1; l >= 0 && !status; l--) status = deal(&d, l);
  lgt_mem_free(d.cost);
  if (w->nloop > before) lgt_weave_note_loops(w);
  return status;
}
