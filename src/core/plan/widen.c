/* widen.c - see widen.h. */
#include "plan/widen.h"

#include <string.h>

#include "model/cell.h"
#include "plan/barrier.h"

/* Of an operation on one element, in a cache; of a byte in memory. */
static const double POINT_US = 0.2e-3, BYTE_US = 0.1e-3;
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
      (config->mem && bytes * VERSIONS >= (double)config->mem))
    return 0;
  return (int64_t)((double)config->skew / (ROWS * row));
}

bool lgt_widen_may(const lgt_fuser *fuser, const lgt_plan_call *call) {
  const lgt_partition *launch = call->launch;
  return fuser->config->widen > 0 && launch->kind == LGT_PARTITION_TILING && launch->ncolour > 1 &&
         lgt_partition_apart(launch, fuser->solver.domains) &&
         (points_of(launch, NULL) * ELEMENT * VERSIONS < (double)fuser->config->between ||
          following(fuser, launch) > 1);
}

double lgt_widen_stream(const lgt_fuser *fuser, const lgt_partition *launch, int turns) {
  int64_t most = following(fuser, launch);
  return most > 1 ? points_of(launch, NULL) * 2 * ELEMENT * BYTE_US * (double)((turns + most - 1) / most) : 0;
}

/* By how many points of the space is the reader's view before (negative) or behind the writer's along dimension j of the grid
 * of owners?  False: it cannot be told, or they are not shifted by whole points. */
static bool distance(const lgt_fuser *fuser, const lgt_plan_call *writer, int other,
                     const lgt_plan_call *reader, int arg, int j, int64_t *points) {
  const lgt_layout *w = lgt_layout_at(fuser->stores, writer->layout[other]),
                   *r = lgt_layout_at(fuser->stores, reader->layout[arg]);
  lgt_cell x, y;
  *points = 0;
  if ((w->flags | r->flags) & LGT_LAYOUT_RESHAPED ||
      !lgt_cell_of(w, &writer->space.align[other], writer->launch, j, &x) ||
      !lgt_cell_of(r, &reader->space.align[arg], reader->launch, j, &y) || x.dim != y.dim)
    return false;
  if (x.dim < 0) return x.first == y.first;
  int64_t step = x.tile / writer->launch->tile[writer->launch->home.dim[j]];
  if (x.tile != y.tile || (y.origin - x.origin) % step) return false;
  *points = (y.origin - x.origin) / step;
  return true;
}

bool lgt_widen_reaches(const lgt_fuser *fuser, const lgt_plan_call *earlier, int other,
                       const lgt_plan_call *call, int arg) {
  int64_t points;
  if (earlier->launch != call->launch || lgt_kind_writes(call->kind, arg)) return false;
  for (int j = 0; j < call->launch->home.ndim; j++)
    if (!distance(fuser, earlier, other, call, arg, j, &points)) return false;
  return true;
}

/* May a call have a margin? */
static bool can_widen(const lgt_fuser *fuser, const lgt_plan *plan, const lgt_plan_call *call) {
  if (lgt_kind_native(call->kind) || call->kind->reduces) return false;
  for (int a = 0; a < call->nargs; a++)
    if (lgt_kind_writes(call->kind, a) && (plan->root[call->root[a]].attached ||
                                           !lgt_layout_exact(lgt_layout_at(fuser->stores, call->layout[a]))))
      return false;
  return true;
}

static bool is_nothing(const lgt_halo *margin) {
  static const lgt_halo none;
  return !memcmp(margin, &none, sizeof none);
}

/* A reader with a margin reads through an argument what the writer writes: let the writer's reach that far. */
static bool reach(const lgt_fuser *fuser, const lgt_plan_call *writer, int other, const lgt_plan_call *reader,
                  int arg, const lgt_halo *margin, lgt_halo *wanted) {
  const lgt_partition *launch = writer->launch;
  for (int j = 0; j < launch->home.ndim; j++) {
    int d = launch->home.dim[j];
    int64_t points;
    if (!distance(fuser, writer, other, reader, arg, j, &points)) return false;
    if (d < 0 || launch->grid[d] == 1) continue;
    if (wanted->below[d] < margin->below[d] - points) wanted->below[d] = margin->below[d] - points;
    if (wanted->above[d] < margin->above[d] + points) wanted->above[d] = margin->above[d] + points;
  }
  return true;
}

bool lgt_widen_margins(const lgt_fuser *fuser, const lgt_plan *plan, int first, int next, lgt_halo *margin) {
  memset(margin, 0, (size_t)(next - first) * sizeof *margin);
  for (int i = next - 2; i >= first; i--) {
    const lgt_plan_call *w = &plan->call[i];
    for (int k = i + 1; k < next; k++)
      for (int a = 0; a < plan->call[k].nargs; a++)
        for (int b = 0; b < w->nargs; b++) {
          const lgt_plan_call *r = &plan->call[k];
          if (w->root[b] != r->root[a] || !lgt_kind_writes(w->kind, b) ||
              !(r->kind->privilege[a] & LGT_PRIV_READ) ||
              !lgt_views_collide(lgt_layout_at(fuser->stores, w->layout[b]), true,
                                 lgt_layout_at(fuser->stores, r->layout[a]), false))
            continue;
          if (!reach(fuser, w, b, r, a, &margin[k - first], &margin[i - first])) return false;
        }
    if (!is_nothing(&margin[i - first]) && !can_widen(fuser, plan, w)) return false;
  }
  return true;
}

double lgt_widen_messages(const lgt_plan *plan, int first, int next, const lgt_halo *margin) {
  const lgt_partition *p = plan->call[first].launch;
  double sides = 0, all = 1;
  for (int d = 0; d < p->ndim; d++) {
    bool any = false;
    for (int i = 0; i < next - first; i++) any |= margin[i].below[d] || margin[i].above[d];
    if (any) sides += 2, all *= 3;
  }
  return sides ? (all - 1) / sides : 1;
}

double lgt_widen_cost(const lgt_plan *plan, int first, int next, const lgt_halo *margin) {
  const lgt_partition *p = plan->call[first].launch;
  double points = 0;
  for (int i = first; i < next; i++) points += points_of(p, &margin[i - first]) - points_of(p, NULL);
  return points * POINT_US;
}

bool lgt_widen_calls(const lgt_fuser *fuser, lgt_plan *plan, int first, int next, const lgt_halo *margin) {
  for (int i = first; i < next; i++) {
    lgt_plan_call *call = &plan->call[i];
    const lgt_halo *m = &margin[i - first];
    call->wide = lgt_partition_widened(fuser->solver.partitions, call->launch, m->below, m->above);
    if (!call->wide) return false;
  }
  return true;
}
