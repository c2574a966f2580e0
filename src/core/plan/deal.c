/* deal.c - see deal.h. */
#include "plan/deal.h"

#include "plan/inline.h"

/* A loop is dealt to have few streams if it moves more bytes than the nearest cache has, in more streams than these: processors
 * foresee few, and those that begin at like addresses drive each other out.  (Whatever its arrays are to each other, a loop has
 * no more large ones than MAX_STREAMS of place.c.) */
static const double CACHE = 32 << 10;
enum { STREAMS = 8 };

/* What loops cost (abreast.c): bytes that they move, or as many as they have operations, if these are more. */
typedef struct price {
  double bytes, work;
  int streams; /* views of arrays in memory */
} price;

/* The items of a loop, in the order of the program, by sets of those that stay together. */
typedef struct dealer {
  lgt_weaver *w;
  uint16_t *item; /* owned, room for all items */
  uint16_t *set;  /* of the same block: by place in `item`, the place of the first one of its set */
  price *cost;    /* of the same block: as `set`, of all of a set at the place of its first one */
  int nitem;
} dealer;

static const lgt_weave_item *item_at(const dealer *d, int place) {
  return &d->w->items->item[d->item[place]];
}

static price together(price a, price b) {
  return (price){a.bytes + b.bytes, a.work + b.work, a.streams + b.streams};
}

static double units(price p) { return p.work > p.bytes ? p.work : p.bytes; }

/* ---- what stays together ------------------------------------------------------------------------------ */

/* A buffer that may be written over an old one is in the old one's memory: that one stands for both. */
static uint16_t memory_of(const dealer *d, uint16_t buffer) {
  uint16_t old = buffer == LGT_NONE ? LGT_NONE : d->w->items->buffer[buffer].takes;
  return old == LGT_NONE ? buffer : old;
}

static bool same_memory(const dealer *d, uint16_t a, uint16_t b) {
  return a != LGT_NONE && b != LGT_NONE && memory_of(d, a) == memory_of(d, b);
}

/* Do two views of one root lie among each other, as columns do?  Then they have lines of a cache in common. */
static bool lie_among(const lgt_layout *a, const lgt_layout *b) {
  lgt_rect all = lgt_rect_of_shape(a->ndim, a->shape), others = lgt_rect_of_shape(b->ndim, b->shape);
  if (lgt_rect_empty(&all) || lgt_rect_empty(&others)) return false;
  int64_t first, last, its_first, its_last;
  lgt_layout_reach(a, &all, &first, &last);
  lgt_layout_reach(b, &others, &its_first, &its_last);
  return first <= its_last && its_first <= last;
}

/* Does one argument write lines that the other one touches, or do both read the same ones?  (A single number is no reason to
 * stay together: each worker's cache has a copy of it.) */
static bool share(const dealer *d, const lgt_weave_item *x, int a, const lgt_weave_item *y, int b) {
  bool written = same_memory(d, x->out[a], y->out[b]) || same_memory(d, x->out[a], y->in[b]) ||
                 same_memory(d, x->in[a], y->out[b]);
  const lgt_layout *l = lgt_weaver_layout(d->w, x->layout[a]);
  if (!written && (!same_memory(d, x->in[a], y->in[b]) || lgt_layout_distinct(l) == 1)) return false;
  return lie_among(l, lgt_weaver_layout(d->w, y->layout[b]));
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
  d->cost[first] = together(d->cost[first], d->cost[second]);
}

static void find_sets(dealer *d) {
  for (int k = 0; k < d->nitem; k++)
    for (int j = 0; j < k; j++) {
      int first = d->set[j] < d->set[k] ? d->set[j] : d->set[k], second = d->set[j] + d->set[k] - first;
      if (first != second && are_related(d, item_at(d, j), item_at(d, k))) unite(d, first, second);
    }
}

/* ---- what it costs -------------------------------------------------------------------------------------- */

/* Is the argument's array in memory before the loop, or behind it?  What loops further on read is not counted. */
static bool in_memory(const dealer *d, const lgt_weave_item *item, int a) {
  const lgt_weave_items *items = d->w->items;
  if (item->out[a] != LGT_NONE && items->buffer[item->out[a]].final) return true;
  if (item->in[a] == LGT_NONE) return false;
  const lgt_weave_buffer *in = &items->buffer[item->in[a]];
  return in->initial || in->writers == 0 || items->item[in->last_writer].loop != item->loop;
}

/* For one colour; an array that several items read counts for each of them. */
static price cost_of(const dealer *d, const lgt_weave_item *item, double points) {
  price cost = {0};
  const lgt_body *body = item->kind->body;
  for (int a = 0; a < item->nargs; a++) {
    const lgt_layout *l = lgt_weaver_layout(d->w, item->layout[a]);
    if (!in_memory(d, item, a)) continue;
    cost.bytes += (double)lgt_layout_distinct(l) * (double)lgt_dtype_size(l->dtype);
  }
  for (int i = 0; body && i < body->ninst; i++) cost.work += lgt_inline_work(&body->inst[i]);
  int ncolour = lgt_item_launch(d->w, item)->ncolour;
  return (price){.bytes = cost.bytes / ncolour, .work = cost.work * points / ncolour};
}

/* Is a buffer used through a view by an item before the place, or through an earlier argument of the one there? */
static bool is_known(const dealer *d, int place, int arg, uint16_t buffer, uint32_t layout) {
  for (int k = 0; k <= place; k++) {
    const lgt_weave_item *item = item_at(d, k);
    for (int a = 0; a < (k < place ? item->nargs : arg); a++)
      if (item->layout[a] == layout &&
          (same_memory(d, item->in[a], buffer) || same_memory(d, item->out[a], buffer)))
        return true;
  }
  return false;
}

/* Streams of the loop, each with the first of its items that reads or writes it: views of arrays in memory. */
static int count_streams(dealer *d) {
  int n = 0;
  for (int k = 0; k < d->nitem; k++) {
    const lgt_weave_item *item = item_at(d, k);
    for (int a = 0; a < item->nargs; a++) {
      if (lgt_layout_distinct(lgt_weaver_layout(d->w, item->layout[a])) == 1 || !in_memory(d, item, a))
        continue;
      uint16_t in = item->in[a], out = item->out[a];
      if (in != LGT_NONE && !is_known(d, k, a, in, item->layout[a])) d->cost[k].streams++;
      if (out != LGT_NONE && !same_memory(d, in, out) && !is_known(d, k, a, out, item->layout[a]))
        d->cost[k].streams++;
    }
    n += d->cost[k].streams;
  }
  return n;
}

/* Does an item of another loop touch lines of a buffer that an item of this loop touches through its argument? */
static bool touched_elsewhere(const dealer *d, const lgt_weave_item *item, int a, uint16_t buffer) {
  const lgt_weave_items *items = d->w->items;
  const lgt_layout *l = lgt_weaver_layout(d->w, item->layout[a]);
  if (buffer == LGT_NONE) return false;
  for (int i = 0; i < items->nitem; i++) {
    const lgt_weave_item *other = &items->item[i];
    for (int b = 0; b < other->nargs && other->loop != item->loop && other->loop != LGT_NONE; b++)
      if ((same_memory(d, other->in[b], buffer) || same_memory(d, other->out[b], buffer)) &&
          lie_among(l, lgt_weaver_layout(d->w, other->layout[b])))
        return true;
  }
  return false;
}

/* Does no other loop touch lines that the loop touches, but for numbers?  Then nothing but what its own items share is lost if they
 * do not run side by side. */
static bool is_lonely(const dealer *d) {
  for (int k = 0; k < d->nitem; k++) {
    const lgt_weave_item *item = item_at(d, k);
    for (int a = 0; a < item->nargs; a++)
      if (lgt_layout_distinct(lgt_weaver_layout(d->w, item->layout[a])) > 1 &&
          (touched_elsewhere(d, item, a, item->in[a]) || touched_elsewhere(d, item, a, item->out[a])))
        return false;
  }
  return true;
}

static int64_t points_of(const lgt_weave_loop *loop) {
  int64_t points = 1;
  for (int k = 0; k < loop->ndim; k++) points *= loop->extent[k];
  return points;
}

/* Lists the loop's items, each as a set of its own; returns what they cost. */
static price list_items(dealer *d, int number) {
  price cost = {0};
  d->nitem = 0;
  for (int i = 0; i < d->w->items->nitem; i++) {
    const lgt_weave_item *item = &d->w->items->item[i];
    if (item->loop != number) continue;
    d->item[d->nitem] = (uint16_t)i;
    d->set[d->nitem] = (uint16_t)d->nitem;
    d->cost[d->nitem] = cost_of(d, item, (double)points_of(&d->w->loop[number]));
    cost = together(cost, d->cost[d->nitem++]);
  }
  return cost;
}

/* ---- dealing -------------------------------------------------------------------------------------------- */

/* How many loops the workers could run at once where they now wait for one; 1: the loop stays as it is.  The tasks of a rank's
 * domains run side by side, too. */
static int most_loops(const dealer *d, const lgt_weave_loop *loop) {
  const lgt_fuser *fuser = d->w->fuser;
  if (!loop->reduces || fuser->workers < 2 || !fuser->config->abreast) return 1;
  int ncolour = loop->launch->ncolour, domains = fuser->config->domains;
  int64_t side_by_side =
      lgt_reduction_chunks(points_of(loop) / ncolour) * (ncolour < domains ? ncolour : domains);
  int64_t most = fuser->workers / side_by_side;
  return most > 1 ? (int)most : 1;
}

/* Neighbouring sets share a loop.  If it is `crowded`, they do so until they have many streams.  If loops may run abreast, so many
 * at most, they cost about the same besides, and none less than `abreast`.  Afterwards set[k] is the loop of the item at place k,
 * from 0; returns how many loops there are. */
static int choose_loops(dealer *d, int most, price cost, bool crowded) {
  double least = (double)d->w->fuser->config->abreast, share = units(cost) / most;
  price own = {0}, left = cost;
  int n = 1;
  for (int k = 0; k < d->nitem; k++) {
    if (d->set[k] != k) {
      d->set[k] = d->set[d->set[k]];
      continue;
    }
    price more = together(own, d->cost[k]);
    bool many = crowded && more.bytes > CACHE && more.streams > STREAMS && own.streams,
         full = units(own) >= least && units(own) + units(d->cost[k]) / 2 > share;
    if (many || (full && units(left) >= least && n < most)) own = (price){0}, n++;
    own = together(own, d->cost[k]);
    left.bytes -= d->cost[k].bytes, left.work -= d->cost[k].work;
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
  const lgt_weave_loop *loop = &d->w->loop[number];
  if (loop->alone || loop->by_rows) return LGT_OK;
  price cost = list_items(d, number);
  int most = most_loops(d, loop);
  if (units(cost) < 2 * (double)d->w->fuser->config->abreast) most = 1;
  /* Not among domains, where what runs ahead of messages is of the first loop (ahead.h). */
  bool crowded = lgt_solver_whole(&d->w->fuser->solver) && cost.bytes > CACHE && count_streams(d) > STREAMS &&
                 is_lonely(d);
  if (most < 2 && !crowded) return LGT_OK;
  find_sets(d);
  int n = choose_loops(d, most, cost, crowded);
  return n > 1 ? make_loops(d, number, n) : LGT_OK;
}

lgt_status lgt_deal_items(lgt_weaver *w) {
  size_t n = (size_t)w->items->nitem;
  const lgt_fuser *fuser = w->fuser;
  int before = w->nloop;
  lgt_status status = LGT_OK;
  if (!fuser->config->kernel_fusion || lgt_kernels_for_devices(fuser->kernels)) return LGT_OK;
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
