/* skew.c - see skew.h. */
#include "kernel/skew.h"

/* Workers come late or are slow: each should find several parts to do.  A wedge has little to do if parts are so many times as
 * wide as the loops lean. */
enum { LEAST_HEIGHT = 2, FEW_BYTES = 4096, PARTS_PER_WORKER = 4, WIDE = 16 };
enum { WEDGE = 2 }; /* caches that the rows of a wedge may fill, which has little to do */
/* Finding conflicts takes time that grows with the square of the accesses. */
enum { MOST_ACCESSES = 400 };

/* ---- what a nest touches ------------------------------------------------------------------------------ */

/* What an access touches in the first row, as bytes of memory, how far it moves for each row, and in how many; and
 * what it touches in all of them. */
typedef struct reach {
  int64_t lo, hi, stride, rows, first, last;
} reach;

static bool touches_memory(const lgt_nest *nest, int a) {
  return nest->loop->access[a].mode != LGT_ACCESS_INDEX;
}

static reach reach_of(const lgt_skewed *skewed, int a) {
  const lgt_nest_shape *shape = skewed->nest->shape;
  const int64_t *stride = &shape->stride[a * LGT_MAX_DIM];
  reach r = {.lo = skewed->nest->base[a].index,
             .stride = skewed->whole ? 0 : stride[0] * skewed->unit,
             .rows = skewed->rows};
  r.hi = r.lo + lgt_dtype_size(skewed->nest->loop->access[a].dtype);
  r.first = r.lo, r.last = r.hi;
  for (int d = 0; d < shape->ndim; d++) {
    int64_t points = d > 0 || skewed->whole ? shape->extent[d] : skewed->unit;
    int64_t more = (points - 1) * stride[d], all = (shape->extent[d] - 1) * stride[d];
    *(more < 0 ? &r.lo : &r.hi) += more;
    *(all < 0 ? &r.first : &r.last) += all;
  }
  return r;
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t lesser(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }

/* Do two accesses meet anywhere? */
static bool meet(const reach *a, const reach *b) { return a->first < b->last && b->first < a->last; }

/* Rows of an earlier nest less rows of a later one, where they conflict. */
typedef struct distance {
  bool any;
  int64_t least, most;
} distance;

static void extend(distance *d, int64_t least, int64_t most) {
  if (!d->any || least < d->least) d->least = least;
  if (!d->any || most > d->most) d->most = most;
  d->any = true;
}

/* False: nobody knows. */
static bool add_conflict(distance *d, const reach *a, const reach *b) {
  if (!meet(a, b)) return true;
  int64_t stride = a->rows > 1 ? a->stride : b->stride;
  if (a->rows == 1 && b->rows == 1) return extend(d, 0, 0), true;
  if (stride <= 0 || (a->rows > 1 && b->rows > 1 && a->stride != b->stride)) return false;
  /* bytes [a.lo + i s, a.hi + i s) and [b.lo + j s, b.hi + j s) meet for i - j from .. to .. */
  int64_t most = floor_div(b->hi - a->lo - 1, stride), least = -floor_div(a->hi - b->lo - 1, stride);
  if (least <= most) extend(d, least, most); /* else they lie side by side in each row */
  return true;
}

static bool writes(const lgt_nest *nest, int a) { return nest->loop->access[a].mode != LGT_ACCESS_LOAD; }

static bool find_distance(const lgt_skewed *early, const lgt_skewed *late, distance *out) {
  *out = (distance){0};
  for (int i = 0; i < early->nest->loop->naccess; i++) {
    if (!touches_memory(early->nest, i)) continue;
    reach from = reach_of(early, i);
    for (int k = 0; k < late->nest->loop->naccess; k++) {
      if (!touches_memory(late->nest, k) || !(writes(early->nest, i) || writes(late->nest, k))) continue;
      reach to = reach_of(late, k);
      if (!add_conflict(out, &from, &to)) return false;
    }
  }
  return true;
}

/* ---- joining --------------------------------------------------------------------------------------------- */

/* Where the nest lies among the others, and how far it leans; false: nobody knows. */
static bool lean(const lgt_skew *skew, lgt_skewed *skewed) {
  bool placed = false;
  skewed->ahead = skewed->behind = 0;
  skewed->origin = skew->nskewed ? skew->skewed[skew->nskewed - 1].origin : 0;
  for (int pass = 0; pass < 2; pass++)
    for (int i = skew->nskewed - 1; i >= 0; i--) {
      const lgt_skewed *other = &skew->skewed[i];
      distance d;
      if (!find_distance(other, skewed, &d)) return false;
      if (!d.any) continue;
      if (!placed) skewed->origin = other->origin + floor_div(d.least + d.most, 2), placed = true;
      if (pass == 0) break;
      int64_t between = other->origin - skewed->origin;
      int64_t ahead = other->ahead + d.most + between, behind = other->behind - d.least - between;
      if (ahead > skewed->ahead) skewed->ahead = ahead;
      if (behind > skewed->behind) skewed->behind = behind;
    }
  return true;
}

/* Bytes of a row that the nest touches, and no nest before it. */
static int64_t new_bytes(const lgt_skew *skew, const lgt_skewed *skewed) {
  int64_t bytes = 0;
  for (int a = 0; a < skewed->nest->loop->naccess; a++) {
    if (!touches_memory(skewed->nest, a)) continue;
    reach r = reach_of(skewed, a);
    bool known = false;
    for (int i = 0; i <= skew->nskewed && !known; i++) {
      const lgt_skewed *other = i < skew->nskewed ? &skew->skewed[i] : skewed;
      for (int b = 0; b < (other == skewed ? a : other->nest->loop->naccess) && !known; b++) {
        reach o = reach_of(other, b);
        known = touches_memory(other->nest, b) && meet(&r, &o);
      }
    }
    if (!known) bytes += r.hi - r.lo;
  }
  return bytes;
}

/* The bytes by which a nest moves for each row through what it shares with another; 0: nobody knows. */
static int64_t common_row(const lgt_skewed *skewed, const lgt_skewed *other) {
  for (int i = 0; i < skewed->nest->loop->naccess; i++)
    for (int k = 0; k < other->nest->loop->naccess; k++) {
      if (!touches_memory(skewed->nest, i) || !touches_memory(other->nest, k)) continue;
      reach a = reach_of(skewed, i), b = reach_of(other, k);
      bool conflict = (writes(skewed->nest, i) || writes(other->nest, k)) && meet(&a, &b);
      if (conflict && a.rows > 1 && b.rows > 1) return a.stride;
    }
  return 0;
}

/* Let a nest of one dimension, which may have been several, have the rows of another one. */
static bool take_rows(lgt_skewed *skewed, const lgt_skewed *other) {
  int64_t row = common_row(other, skewed), mine = common_row(skewed, other);
  if (skewed->nest->shape->ndim != 1 || skewed->whole || row <= 0 || mine <= 0 || row % mine) return false;
  int64_t points = skewed->nest->shape->extent[0];
  skewed->unit *= row / mine;
  skewed->rows = (points + skewed->unit - 1) / skewed->unit;
  return true;
}

/* Let it have those of one of the nests before, rather of a late one. */
static bool take_rows_of_any(const lgt_skew *skew, lgt_skewed *skewed) {
  const lgt_skewed as_it_is = *skewed;
  for (int i = skew->nskewed - 1; i >= 0; i--) {
    if (take_rows(skewed, &skew->skewed[i]) && lean(skew, skewed)) return true;
    *skewed = as_it_is;
  }
  return false;
}

/* The only nest so far takes the rows of the next one.  False: it cannot, or the next one cannot follow then; nothing has
 * changed. */
static bool first_takes_rows(lgt_skew *skew, lgt_skewed *next) {
  lgt_skewed *first = &skew->skewed[0], before = *first;
  if (skew->nskewed != 1) return false;
  if (!take_rows(first, next) || !lean(skew, next)) return *first = before, false;
  skew->row = new_bytes(&(lgt_skew){0}, first);
  skew->last = skew->first + first->rows;
  return true;
}

/* Place the nest; if it has other rows than those before, let one of both take the other's, or let it be one row. */
static bool place(lgt_skew *skew, lgt_skewed *skewed) {
  const lgt_skewed as_it_is = *skewed;
  if (lean(skew, skewed)) return true;
  if (!skew->nskewed) return false;
  *skewed = as_it_is;
  if (take_rows_of_any(skew, skewed)) return true;
  if (first_takes_rows(skew, skewed)) return true;
  *skewed = as_it_is;
  skewed->whole = true;
  skewed->rows = 1;
  return lean(skew, skewed);
}

/* Rows of which all bytes must fit into the cache where nests lean as far as this one. */
static int64_t most_at_once(const lgt_skewed *skewed) {
  int64_t trapezoid = skewed->ahead + LEAST_HEIGHT;
  return larger(trapezoid, (skewed->ahead + skewed->behind + LEAST_HEIGHT) / WEDGE);
}

bool lgt_skew_apart(const lgt_skew *skew, const lgt_nest *nest) {
  const lgt_nest_shape *shape = nest->shape;
  bool apart = shape->size == 0;
  if (lgt_loop_reduces(nest->loop)) return false; /* none joins the others, either */
  for (int whole = shape->ndim == 0; whole < 2 && !apart; whole++) {
    lgt_skewed skewed = {.nest = nest, .rows = whole ? 1 : shape->extent[0], .unit = 1, .whole = whole};
    apart = true;
    for (int i = 0; i < skew->nskewed && apart; i++) {
      distance d;
      apart = find_distance(&skew->skewed[i], &skewed, &d) && !d.any;
    }
  }
  return apart;
}

bool lgt_skew_add(lgt_skew *skew, const lgt_nest *nest, int64_t cache) {
  const lgt_nest_shape *shape = nest->shape;
  int naccess = skew->naccess + nest->loop->naccess;
  if (skew->nskewed == LGT_SKEW_MOST || (skew->nskewed && naccess > MOST_ACCESSES)) return false;
  if (shape->size == 0 || shape->ndim == 0 || lgt_loop_reduces(nest->loop)) return false;
  lgt_skewed skewed = {.nest = nest, .points = shape->extent[0], .rows = shape->extent[0], .unit = 1};
  if (!place(skew, &skewed)) return false;
  int64_t row = skew->row + new_bytes(skew, &skewed);
  if (most_at_once(&skewed) * row > cache) return false;
  if (!skew->nskewed || skewed.origin < skew->first) skew->first = skewed.origin;
  if (!skew->nskewed || skewed.origin + skewed.rows > skew->last) skew->last = skewed.origin + skewed.rows;
  skew->naccess = naccess;
  skew->row = row;
  skew->alone += new_bytes(&(lgt_skew){0}, &skewed) * skewed.rows;
  skew->skewed[skew->nskewed++] = skewed;
  return true;
}

/* The rows by which any of them lean, both ways. */
static void most_lean(const lgt_skew *skew, int64_t *ahead, int64_t *behind) {
  *ahead = *behind = 0;
  for (int i = 0; i < skew->nskewed; i++) {
    if (skew->skewed[i].ahead > *ahead) *ahead = skew->skewed[i].ahead;
    if (skew->skewed[i].behind > *behind) *behind = skew->skewed[i].behind;
  }
}

void lgt_skew_cut(lgt_skew *skew, int64_t cache, int workers) {
  int64_t ahead, behind, rows = skew->last - skew->first;
  most_lean(skew, &ahead, &behind);
  skew->height = cache / (skew->row ? skew->row : 1) - ahead;
  int64_t least = FEW_BYTES / (skew->row ? skew->row : 1) + LEAST_HEIGHT;
  if (skew->height < least) skew->height = least;
  int64_t most = lesser(rows / (2 * (ahead + behind) + skew->height), workers);
  if (workers > 1)
    most = larger(most, lesser(rows / (WIDE * (ahead + behind) + skew->height), PARTS_PER_WORKER * workers));
  skew->ntrapezoid = (int)larger(most, 1);
  for (int i = 0; i < skew->nskewed; i++) skew->skewed[i].nest = NULL;
}

bool lgt_skew_equal(const lgt_skew *a, const lgt_skew *b) {
  bool same = a->nskewed == b->nskewed && a->first == b->first && a->last == b->last &&
              a->height == b->height && a->ntrapezoid == b->ntrapezoid;
  for (int i = 0; i < a->nskewed && same; i++) {
    const lgt_skewed *s = &a->skewed[i], *t = &b->skewed[i];
    same = s->points == t->points && s->rows == t->rows && s->origin == t->origin && s->unit == t->unit &&
           s->whole == t->whole && s->ahead == t->ahead && s->behind == t->behind;
  }
  return same;
}

/* ---- running ------------------------------------------------------------------------------------------ */

static int64_t boundary(const lgt_skew *skew, int n) {
  return skew->first + (skew->last - skew->first) * n / skew->ntrapezoid;
}

/* The rows of one nest among [lo, hi) of the sweep. */
static void run_rows(const lgt_skew *skew, int n, int64_t lo, int64_t hi, lgt_skew_run *run, void *context) {
  const lgt_skewed *s = &skew->skewed[n];
  lo -= s->origin;
  hi -= s->origin;
  if (lo < 0) lo = 0;
  if (hi > s->rows) hi = s->rows;
  if (lo >= hi) return;
  if (s->whole) run(context, n, 0, s->points);
  else run(context, n, lo * s->unit, lesser(hi * s->unit, s->points));
}

void lgt_skew_trapezoid(const lgt_skew *skew, int n, lgt_skew_run *run, void *context) {
  bool first = n == 0, last = n == skew->ntrapezoid - 1;
  int64_t ahead, behind, lo = boundary(skew, n), hi = boundary(skew, n + 1);
  most_lean(skew, &ahead, &behind);
  for (int64_t at = lo; at < hi + (last ? ahead : 0); at += skew->height)
    for (int i = 0; i < skew->nskewed; i++) {
      const lgt_skewed *s = &skew->skewed[i];
      int64_t from = at == lo ? lo + (first ? 0 : s->behind) : at - s->ahead;
      int64_t to = at + skew->height - s->ahead;
      if (!first) from = larger(from, lo + s->behind);
      if (!last) to = lesser(to, hi - s->ahead);
      run_rows(skew, i, from, to, run, context);
    }
}

void lgt_skew_wedge(const lgt_skew *skew, int n, lgt_skew_run *run, void *context) {
  int64_t at = boundary(skew, n + 1);
  for (int i = 0; i < skew->nskewed; i++)
    run_rows(skew, i, at - skew->skewed[i].ahead, at + skew->skewed[i].behind, run, context);
}
