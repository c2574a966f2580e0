/* widen.c - see widen.h. */
#include "plan/widen.h"

#include <string.h>

#include "model/cell.h"
#include "plan/barrier.h"
#include "plan/cells.h"

static const double BYTE_US = 0.1e-3; /* of a byte in memory */
enum {
  ELEMENT = 8 /* bytes */,
  VERSIONS = 8 /* tiles that turns leave for one another, and as many besides */
};

static int64_t side_of(const lgt_partition *p, int d) { return p->grid[d] > 1 ? p->tile[d] : p->extent[d]; }

/* Elements of a tile in the middle, with a margin or without (NULL). */
static double points_of(const lgt_partition *p, const lgt_halo *margin) {
  double points = 1;
  for (int d = 0; d < p->ndim; d++) {
    int64_t side = side_of(p, d);
    if (margin) side += margin->below[d] + margin->above[d];
    points *= (double)(side < p->extent[d] ? side : p->extent[d]);
  }
  return points;
}

/* How many turns can follow one another (bind/follow.h), some rows of each being in the cache, if tiles are so large?  Versions of
 * theirs must not be what memory is too small for.  0: none. */
static int64_t following(const lgt_fuser *fuser, const lgt_partition *launch) {
  enum { ROWS = 3 }; /* of a turn */
  const lgt_config *config = fuser->config;
  double bytes = points_of(launch, NULL) * ELEMENT, row = bytes / (double)side_of(launch, 0);
  if (bytes <= (double)config->skew || lgt_kernels_for_devices(fuser->kernels) ||
      (fuser->mem && bytes * VERSIONS >= (double)fuser->mem))
    return 0;
  return (int64_t)((double)config->skew / (ROWS * row));
}

bool lgt_widen_may(const lgt_fuser *fuser, const lgt_partition *launch) {
  return fuser->config->widen > 0 && launch->kind == LGT_PARTITION_TILING && launch->ncolour > 1 &&
         lgt_partition_apart(launch, fuser->solver.domains) &&
         (points_of(launch, NULL) * ELEMENT * VERSIONS < (double)fuser->config->between ||
          following(fuser, launch) > 1);
}

double lgt_widen_stream(const lgt_fuser *fuser, const lgt_partition *launch, int turns) {
  int64_t most = following(fuser, launch);
  return most > 1 ? points_of(launch, NULL) * 2 * ELEMENT * BYTE_US * (double)((turns + most - 1) / most) : 0;
}

/* ---- who has what a reader needs -------------------------------------------------------------------- */

/* One argument of a call, along one dimension of the grid of owners. */
typedef struct side {
  lgt_cell cell;
  int64_t step; /* elements of the root from a point of the space to the next; 0: the cell has no dimension */
  int32_t first, last; /* owners that have a tile */
  lgt_rect rect;       /* of the root: what the call touches through the argument */
} side;

static bool side_along(const lgt_fuser *fuser, const lgt_plan_call *call, int arg, int j, side *out) {
  const lgt_layout *l = lgt_layout_at(fuser->stores, call->layout[arg]);
  const lgt_alignment *align = &call->space.align[arg];
  const lgt_home *home = &call->launch->home;
  if (l->flags & LGT_LAYOUT_RESHAPED || !lgt_cell_of(l, align, call->launch, j, &out->cell)) return false;
  int64_t tiles = home->dim[j] < 0 ? 1 : call->launch->grid[home->dim[j]], end = home->grid[j] - 1,
          first = home->first[j], last = first + tiles - 1;
  out->step = out->cell.dim < 0 ? 0 : out->cell.tile / call->launch->tile[home->dim[j]];
  out->first = (int32_t)(first < 0 ? 0 : first > end ? end : first);
  out->last = (int32_t)(last < 0 ? 0 : last > end ? end : last);
  lgt_rect space = lgt_rect_of_shape(call->space.ndim, call->space.extent);
  lgt_rect view = lgt_space_view_rect(l, align, &space);
  out->rect = lgt_layout_root_rect(l, &view);
  return true;
}

/* Do owners that read with such a margin, but have no tile of the writer, stay away from what is written? */
static bool others_stay_away(const side *w, const side *r, int64_t below, int64_t above) {
  int d = r->cell.dim;
  int32_t before = w->first - 1, behind = w->last + 1;
  if (before > r->last) before = r->last;
  if (behind < r->first) behind = r->first;
  int64_t end = before == r->last ? r->rect.hi[d] : r->cell.origin + (before + 1) * r->cell.tile,
          begin = behind == r->first ? r->rect.lo[d] : r->cell.origin + behind * r->cell.tile;
  return (before < r->first || end + above * r->step <= w->rect.lo[d]) &&
         (behind > r->last || begin - below * r->step >= w->rect.hi[d]);
}

/* By how many points a writer's margin is to be wider than the reader's, before the tile and behind it. */
typedef struct shift {
  int64_t below, above;
} shift;

/* Rounded down, also below 0. */
static int64_t whole_steps(int64_t distance, int64_t step) { return distance / step - (distance % step < 0); }

/* That follows from what lies between their cuts, of which the first or the last ones lie farthest apart.  The reader needs all
 * points of the writer's from its own first element to its last, also those that lie between its points. */
static bool shift_of(const side *w, const side *r, int32_t owners, shift *out) {
  const lgt_cell *x = &w->cell, *y = &r->cell;
  int64_t origin = y->origin - x->origin, tile = y->tile - x->tile;
  if (x->dim != y->dim || w->step != r->step) return false;
  int64_t first = origin + tile, last = origin + (owners - 1) * tile;
  *out = (shift){whole_steps(-(first < last ? first : last), w->step),
                 whole_steps(first > last ? first : last, w->step)};
  return true;
}

/* May each owner find all that it reads, with a margin of so many points, among what it has written itself, along dimension j of
 * the grid of owners?  The writer's margin is the reader's and *more then.  False: no, or it cannot be told. */
static bool meet(const lgt_fuser *fuser, const lgt_plan_call *writer, int other, const lgt_plan_call *reader,
                 int arg, int j, int64_t below, int64_t above, shift *more) {
  int32_t owners = reader->launch->home.grid[j];
  side w, r;
  *more = (shift){0, 0};
  if (!side_along(fuser, writer, other, j, &w) || !side_along(fuser, reader, arg, j, &r)) return false;
  if (w.cell.dim < 0 && r.cell.dim < 0) return w.cell.first == r.cell.first;
  if (r.cell.dim < 0) /* one owner reads */
    return w.first <= r.first && r.first <= w.last && lgt_cell_holds(&w.cell, &r.rect, r.first, owners);
  if (!others_stay_away(&w, &r, below, above)) return false;
  return w.cell.dim < 0 || shift_of(&w, &r, owners, more); /* else one owner writes */
}

/* Does a call write through an argument, and must have what lies between the elements that it writes? */
static bool completes(const lgt_fuser *fuser, const lgt_plan_call *call, int arg) {
  return lgt_kind_writes(call->kind, arg) &&
         !lgt_layout_exact(lgt_layout_at(fuser->stores, call->layout[arg]));
}

bool lgt_widen_reaches(const lgt_fuser *fuser, const lgt_plan_call *earlier, int other,
                       const lgt_plan_call *call, int arg) {
  shift more;
  if (!lgt_partition_same_owners(earlier->launch, call->launch) ||
      (lgt_kind_writes(call->kind, arg) && !completes(fuser, call, arg)))
    return false;
  for (int j = 0; j < call->launch->home.ndim; j++)
    if (!meet(fuser, earlier, other, call, arg, j, 0, 0, &more)) return false;
  return true;
}

/* ---- margins ---------------------------------------------------------------------------------------- */

/* May a call have a margin? */
static bool can_widen(const lgt_plan *plan, const lgt_plan_call *call) {
  if (lgt_kind_native(call->kind) || call->kind->reduces) return false;
  for (int a = 0; a < call->nargs; a++)
    if (lgt_kind_writes(call->kind, a) && plan->root[call->root[a]].attached) return false;
  return true;
}

static bool is_nothing(const lgt_halo *margin) {
  static const lgt_halo none;
  return !memcmp(margin, &none, sizeof none);
}

/* The dimension of a launch that is cut along dimension j of the grid of owners, or -1. */
static int cut_along(const lgt_partition *launch, int j) {
  int d = launch->home.dim[j];
  return d >= 0 && launch->grid[d] > 1 ? d : -1;
}

/* A reader with a margin reads through an argument what the writer writes: let the writer's reach that far. */
static bool reach(const lgt_fuser *fuser, const lgt_plan_call *writer, int other, const lgt_plan_call *reader,
                  int arg, const lgt_halo *margin, lgt_halo *wanted) {
  if (!lgt_partition_same_owners(writer->launch, reader->launch)) return false;
  for (int j = 0; j < writer->launch->home.ndim; j++) {
    int d = cut_along(writer->launch, j), from = cut_along(reader->launch, j);
    int64_t below = from < 0 ? 0 : margin->below[from], above = from < 0 ? 0 : margin->above[from];
    shift more;
    if (!meet(fuser, writer, other, reader, arg, j, below, above, &more)) return false;
    if (d < 0 || from < 0) continue;
    if (wanted->below[d] < below + more.below) wanted->below[d] = below + more.below;
    if (wanted->above[d] < above + more.above) wanted->above[d] = above + more.above;
  }
  return true;
}

/* A reader with a margin: let that of an earlier call be as wide as the reader needs it. */
static bool serve(const lgt_fuser *fuser, const lgt_plan_call *w, const lgt_plan_call *r,
                  const lgt_halo *margin, lgt_halo *wanted) {
  for (int a = 0; a < r->nargs; a++)
    for (int b = 0; b < w->nargs; b++) {
      if (w->root[b] != r->root[a] || !lgt_kind_writes(w->kind, b) ||
          !(r->kind->privilege[a] & LGT_PRIV_READ || completes(fuser, r, a)) ||
          !lgt_views_collide(lgt_layout_at(fuser->stores, w->layout[b]), true,
                             lgt_layout_at(fuser->stores, r->layout[a]), completes(fuser, r, a)))
        continue;
      if (!reach(fuser, w, b, r, a, margin, wanted)) return false;
    }
  return true;
}

/* The only argument through which a call writes; -1: there are several. */
static int only_result(const lgt_plan_call *call) {
  int found = -1, n = 0;
  for (int a = 0; a < call->nargs; a++)
    if (lgt_kind_writes(call->kind, a)) found = a, n++;
  return n == 1 ? found : -1;
}

/* Does a later call write what an earlier one writes through its argument b, and nothing else, cut alike?  Then those behind both
 * ask the same of either. */
static bool renews(const lgt_plan_call *later, const lgt_plan_call *earlier, int b) {
  int a = only_result(later);
  const lgt_space *x = &earlier->space, *y = &later->space;
  return a >= 0 && later->root[a] == earlier->root[b] && later->layout[a] == earlier->layout[b] &&
         later->launch == earlier->launch && !later->repeats && x->ndim == y->ndim &&
         !memcmp(x->extent, y->extent, (size_t)x->ndim * sizeof *x->extent) &&
         !memcmp(&x->align[b], &y->align[a], sizeof *x->align);
}

static void widen(lgt_halo *margin, const lgt_halo *other) {
  for (int d = 0; d < LGT_MAX_DIM; d++) {
    if (margin->below[d] < other->below[d]) margin->below[d] = other->below[d];
    if (margin->above[d] < other->above[d]) margin->above[d] = other->above[d];
  }
}

/* The last call that uses what a call writes. */
static int last_reader(const lgt_plan_call *call, const int *last) {
  int found = -1;
  for (int a = 0; a < call->nargs; a++)
    if (lgt_kind_writes(call->kind, a) && last[call->root[a]] > found) found = last[call->root[a]];
  return found;
}

bool lgt_widen_margins(const lgt_fuser *fuser, const lgt_plan *plan, int first, int next, const int *last,
                       lgt_halo *margin) {
  memset(margin, 0, (size_t)(next - first) * sizeof *margin);
  for (int i = next - 2; i >= first; i--) {
    const lgt_plan_call *w = &plan->call[i];
    lgt_halo *wanted = &margin[i - first];
    int result = only_result(w), end = last_reader(w, last);
    for (int k = i + 1; k < next && k <= end && !w->repeats; k++) { /* else each task has its own result */
      if (!serve(fuser, w, &plan->call[k], &margin[k - first], wanted)) return false;
      if (result < 0 || !renews(&plan->call[k], w, result)) continue;
      widen(wanted, &margin[k - first]);
      break;
    }
    if (!is_nothing(wanted) && !can_widen(plan, w)) return false;
  }
  return true;
}

double lgt_widen_messages(const lgt_plan *plan, int first, int next, const lgt_halo *margin) {
  double sides = 0, all = 1;
  for (int j = 0; j < plan->group[plan->ngroup].launch->home.ndim; j++) {
    bool any = false;
    for (int i = first; i < next; i++) {
      int d = plan->call[i].repeats ? -1 : cut_along(plan->call[i].launch, j);
      any |= d >= 0 && (margin[i - first].below[d] || margin[i - first].above[d]);
    }
    if (any) sides += 2, all *= 3;
  }
  return sides ? (all - 1) / sides : 1;
}

double lgt_widen_cost(const lgt_plan *plan, int first, int next, const lgt_halo *margin) {
  double points = 0;
  for (int i = first; i < next; i++) {
    const lgt_partition *p = plan->call[i].launch;
    if (p->kind == LGT_PARTITION_TILING) points += points_of(p, &margin[i - first]) - points_of(p, NULL);
  }
  return points * LGT_POINT_US;
}

bool lgt_widen_calls(const lgt_fuser *fuser, lgt_plan *plan, int first, int next, const lgt_halo *margin) {
  for (int i = first; i < next; i++) {
    lgt_plan_call *call = &plan->call[i];
    const lgt_halo *m = &margin[i - first];
    if (call->launch->kind != LGT_PARTITION_TILING) continue; /* it is repeated */
    call->wide = lgt_partition_widened(fuser->solver.partitions, call->launch, m->below, m->above);
    if (!call->wide) return false;
  }
  return true;
}
