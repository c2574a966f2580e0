/* barrier.c - see barrier.h. */
#include "plan/barrier.h"

#include <string.h>

#include "plan/inline.h"

bool lgt_views_collide(const lgt_layout *a, bool a_writes, const lgt_layout *b, bool b_writes) {
  if (lgt_layout_may_overlap(a, b)) return true;
  if (!(a_writes && !lgt_layout_exact(a)) && !(b_writes && !lgt_layout_exact(b))) return false;
  lgt_rect va = lgt_rect_of_shape(a->ndim, a->shape), vb = lgt_rect_of_shape(b->ndim, b->shape), common;
  lgt_rect ra = lgt_layout_root_rect(a, &va), rb = lgt_layout_root_rect(b, &vb);
  return lgt_rect_intersect(&ra, &rb, &common);
}

/* The argument through which a call writes a root; the calls that write one form a list. */
typedef struct writer {
  int call, arg;
  int before; /* the one before, or -1 */
} writer;

typedef struct barriers {
  const lgt_fuser *fuser;
  const lgt_plan *plan;
  int first;
  int *newest;     /* by root: its newest writer in the group, or -1 */
  bool *counted;   /* by root: its newest contents lie between levels */
  uint16_t *level; /* by call of the group */
  writer *writer;
  int nwriter;
  int64_t between;
  bool devices; /* one, which runs code of its own */
} barriers;

/* A GPU's memory is no cache that results would have to stay in, but must have room for them. */
enum { GPU_FACTOR = 1024, GPU_SHARE = 8 };

static int64_t most_between(const lgt_fuser *fuser, const lgt_plan *plan) {
  int64_t most = fuser->config->between, share = fuser->gpu_bytes / GPU_SHARE;
  if (!lgt_inline_applies(fuser, plan) || most >= share) return most;
  return most < share / GPU_FACTOR ? most * GPU_FACTOR : share;
}

static const lgt_layout *layout_of(const barriers *b, uint32_t number) {
  return lgt_layout_at(b->fuser->stores, number);
}

static int64_t bytes_of(const lgt_fuser *fuser, const lgt_plan_root *root) {
  return lgt_layout_bytes(lgt_layout_at(fuser->stores, root->layout));
}

/* Is what the call reads through an argument what a writer made of the same element of the space? */
static bool same_element(const barriers *b, const lgt_plan_call *call, int arg, const writer *w) {
  const lgt_plan_call *from = &b->plan->call[w->call];
  if (from->kind->privilege[w->arg] & LGT_PRIV_REDUCE) return false;
  if (!lgt_same_space(call->space.ndim, call->space.extent, from->space.ndim, from->space.extent))
    return false;
  return lgt_pointwise(layout_of(b, call->layout[arg]), &call->space.align[arg],
                       layout_of(b, from->layout[w->arg]), &from->space.align[w->arg]);
}

/* On devices what reads neighbours of a result may compute them (inline.h), and nothing lies between. */
static bool may_be_inlined(const barriers *b, uint16_t root, const writer *w) {
  const lgt_plan_call *from = &b->plan->call[w->call];
  return b->devices && from->kind->body && !from->kind->reduces && b->plan->root[root].fresh &&
         b->plan->root[root].writes == 1;
}

/* Do two views lie a few rows from each other? */
static bool near(const lgt_layout *read, const lgt_layout *written) {
  enum { NEAR_ROWS = 8 };
  int64_t row = 0, apart = read->offset - written->offset;
  if (read->ndim != written->ndim) return false;
  for (int d = 0; d < read->ndim; d++) {
    if (read->shape[d] == 1 || written->shape[d] == 1) continue;
    if (read->stride[d] != written->stride[d]) return false;
    if (!row) row = read->stride[d];
  }
  return apart <= NEAR_ROWS * row && apart >= -NEAR_ROWS * row;
}

/* May the loop that reads a large root follow the one that writes it a few rows behind (bind/follow.h)?  Then what lies between
 * them stays in the cache, however much it is.  It must read neighbours of what was written: what could be in a register, were
 * its reader on this level, would be torn apart for nothing. */
static bool may_follow(const barriers *b, const lgt_plan_call *call, uint16_t root, const writer *w) {
  int64_t few = b->fuser->config->skew;
  const lgt_layout *written = layout_of(b, b->plan->call[w->call].layout[w->arg]);
  bool neighbours = false;
  if (!few || b->devices || bytes_of(b->fuser, &b->plan->root[root]) < few) return false;
  for (int a = 0; a < call->nargs; a++) {
    if (call->root[a] != root || !(call->kind->privilege[a] & LGT_PRIV_READ)) continue;
    if (!near(layout_of(b, call->layout[a]), written)) return false;
    neighbours |= !same_element(b, call, a, w);
  }
  return neighbours;
}

/* The level of a call; what it reads across a barrier lies between from now on. */
static int level_of(barriers *b, int number) {
  const lgt_plan_call *call = &b->plan->call[number];
  int level = 0;
  for (int pass = 0; pass < 2; pass++)
    for (int a = 0; a < call->nargs; a++) {
      int privilege = call->kind->privilege[a];
      if (!(privilege & LGT_PRIV_READ) || privilege & LGT_PRIV_REDUCE) continue;
      for (int w = b->newest[call->root[a]]; w >= 0; w = b->writer[w].before) {
        const writer *from = &b->writer[w];
        int after = b->level[from->call - b->first];
        if (!lgt_views_collide(layout_of(b, call->layout[a]), false,
                               layout_of(b, b->plan->call[from->call].layout[from->arg]), true))
          continue;
        if (pass == 0 && !same_element(b, call, a, from)) after++;
        if (pass == 0 && after > level) level = after;
        if (pass == 1 && level > after && !b->counted[call->root[a]] &&
            !may_be_inlined(b, call->root[a], from) && !may_follow(b, call, call->root[a], from)) {
          b->counted[call->root[a]] = true;
          b->between += bytes_of(b->fuser, &b->plan->root[call->root[a]]);
        }
      }
    }
  return level;
}

static void note_writes(barriers *b, int number) {
  const lgt_plan_call *call = &b->plan->call[number];
  for (int a = 0; a < call->nargs; a++) {
    if (!lgt_kind_writes(call->kind, a)) continue;
    int *newest = &b->newest[call->root[a]];
    bool all =
        call->kind->privilege[a] == LGT_PRIV_WRITE && lgt_layout_covers(layout_of(b, call->layout[a]), false);
    b->writer[b->nwriter] = (writer){number, a, all ? -1 : *newest};
    *newest = b->nwriter++;
    b->counted[call->root[a]] = false; /* another version */
  }
}

/* Where between `first` and `end` to cut: at the latest call before which the fewest bytes of results were made that are
 * needed from it on, and nowhere else.  Of several domains all must cut alike: what the program still holds does not
 * count then, for collectors run at different times. */
static int best_cut(const lgt_fuser *fuser, const lgt_plan *plan, int first, int end, int *last_use,
                    int *made) {
  int64_t crossing = 0, least = INT64_MAX;
  int best = end;
  for (int r = 0; r < plan->nroot; r++) last_use[r] = made[r] = -1;
  for (int i = first; i < plan->ncall; i++)
    for (int a = 0; a < plan->call[i].nargs; a++) last_use[plan->call[i].root[a]] = i;
  for (int i = first; i < end; i++) { /* cut after call i */
    for (int a = 0; a < plan->call[i].nargs; a++) {
      int r = plan->call[i].root[a];
      if (!plan->root[r].fresh || (plan->root[r].alive && lgt_solver_whole(&fuser->solver))) continue;
      if (made[r] < 0 && last_use[r] > i) crossing += bytes_of(fuser, &plan->root[r]), made[r] = i;
      if (made[r] >= 0 && last_use[r] == i) crossing -= bytes_of(fuser, &plan->root[r]), made[r] = -1;
    }
    if (crossing > least) continue;
    least = crossing;
    best = i + 1;
  }
  return best;
}

/* What the calls may leave for one another at most. */
static int64_t bytes_written(const lgt_fuser *fuser, const lgt_plan *plan, int first, int next) {
  int64_t bytes = 0;
  for (int i = first; i < next; i++)
    for (int a = 0; a < plan->call[i].nargs; a++)
      if (lgt_kind_writes(plan->call[i].kind, a))
        bytes += bytes_of(fuser, &plan->root[plan->call[i].root[a]]);
  return bytes;
}

int lgt_barrier_end(const lgt_fuser *fuser, const lgt_plan *plan, int first, int next) {
  int64_t most = most_between(fuser, plan);
  if (bytes_written(fuser, plan, first, next) <= most) return next;
  size_t nroot = (size_t)plan->nroot, ncall = (size_t)(next - first), nargs = 0;
  for (int i = first; i < next; i++) nargs += plan->call[i].nargs;
  barriers b = {.fuser = fuser, .plan = plan, .first = first, .devices = lgt_inline_applies(fuser, plan)};
  int *newest = lgt_mem_alloc((2 * nroot + 1) * sizeof *newest);
  b.counted = lgt_mem_zalloc(nroot + 1);
  b.level = lgt_mem_alloc((ncall + 1) * sizeof *b.level);
  b.writer = lgt_mem_alloc((nargs + 1) * sizeof *b.writer);
  int end = next;
  if (newest && b.counted && b.level && b.writer) {
    b.newest = newest;
    memset(newest, 0xff, nroot * sizeof *newest);
    for (int i = first; i < next && end == next; i++) {
      b.level[i - first] = (uint16_t)level_of(&b, i);
      if (b.between > most && i > first) end = best_cut(fuser, plan, first, i, newest, newest + nroot);
      else note_writes(&b, i);
    }
  }
  lgt_mem_free(newest);
  lgt_mem_free(b.counted);
  lgt_mem_free(b.level);
  lgt_mem_free(b.writer);
  return end;
}
