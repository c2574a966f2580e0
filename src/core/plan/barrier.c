/* barrier.c - see barrier.h. */
#include "plan/barrier.h"

#include <limits.h>
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

/* A root, in the calls that the group may take. */
typedef struct passage {
  int maker, arg; /* the call that makes all of it, and nobody else writes it; -1: there is none */
  int readers;    /* calls that read it ... */
  int reader;     /* ... and the last of them */
  int least;      /* the level on which it is needed first, as far as is known ... */
  int most;       /* ... and last */
  int changed; /* the level on which somebody who comes later in the program writes it; INT_MAX: nobody does */
} passage;

typedef struct barriers {
  const lgt_fuser *fuser;
  const lgt_plan *plan;
  int first, next;
  int *newest;      /* by root: its newest writer in the group, or -1 */
  bool *counted;    /* by root: its newest contents lie between levels */
  passage *passage; /* by root */
  uint16_t *level;  /* by call of the group */
  bool *raised;     /* by call: it waits for its first reader */
  int *followed;    /* by root: a level on which neighbours of its newest contents are read, or -1 */
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

/* Of a domain's share. */
static int64_t bytes_of(const lgt_fuser *fuser, const lgt_plan_root *root) {
  return lgt_layout_bytes(lgt_layout_at(fuser->stores, root->layout)) / fuser->solver.domains;
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

/* On devices what reads neighbours of a result may compute them (inline.h), and nothing lies between; on the host what reads an
 * array that was joined. */
static bool may_be_inlined(const barriers *b, uint16_t root, const writer *w) {
  const lgt_plan_call *from = &b->plan->call[w->call];
  if (lgt_inline_joins(b->fuser, b->plan, root)) return true;
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
 * them stays in the cache, however much it is.  Some call on this level must read neighbours of what was written: what could be
 * in a register, were its reader on the writer's level, would be torn apart for nothing.  (A call that was raised was so
 * because that is not so.) */
static bool may_follow(barriers *b, int number, uint16_t root, const writer *w) {
  const lgt_plan_call *call = &b->plan->call[number];
  int64_t few = b->fuser->config->skew;
  const lgt_layout *written = layout_of(b, b->plan->call[w->call].layout[w->arg]);
  int level = b->level[number - b->first];
  if (!few || b->devices || bytes_of(b->fuser, &b->plan->root[root]) < few) return false;
  for (int a = 0; a < call->nargs; a++) {
    if (call->root[a] != root || !(call->kind->privilege[a] & LGT_PRIV_READ)) continue;
    if (!near(layout_of(b, call->layout[a]), written)) return false;
    if (!same_element(b, call, a, w)) b->followed[root] = level;
  }
  return b->raised[number - b->first] || b->followed[root] == level;
}

static bool reads(const lgt_plan_call *call, int arg) {
  int privilege = call->kind->privilege[arg];
  return privilege & LGT_PRIV_READ && !(privilege & LGT_PRIV_REDUCE);
}

/* ... and is it the first argument through which it reads that root? */
static bool reads_first(const lgt_plan_call *call, int arg) {
  bool first = reads(call, arg);
  for (int a = 0; a < arg && first; a++) first = !reads(call, a) || call->root[a] != call->root[arg];
  return first;
}

/* Does a call read what a writer has written? */
static bool finds(const barriers *b, const lgt_plan_call *call, int arg, const writer *w) {
  return lgt_views_collide(layout_of(b, call->layout[arg]), false,
                           layout_of(b, b->plan->call[w->call].layout[w->arg]), true);
}

/* The lowest level that a call may have. */
static int lowest_level(const barriers *b, const lgt_plan_call *call) {
  int level = 0;
  for (int a = 0; a < call->nargs; a++)
    for (int w = reads(call, a) ? b->newest[call->root[a]] : -1; w >= 0; w = b->writer[w].before) {
      const writer *from = &b->writer[w];
      if (!finds(b, call, a, from)) continue;
      int after = b->level[from->call - b->first] + !same_element(b, call, a, from);
      if (after > level) level = after;
    }
  return level;
}

/* What a call reads across a barrier lies between from now on. */
static void count_between(barriers *b, int number) {
  const lgt_plan_call *call = &b->plan->call[number];
  int level = b->level[number - b->first];
  for (int a = 0; a < call->nargs; a++)
    for (int w = reads(call, a) ? b->newest[call->root[a]] : -1; w >= 0; w = b->writer[w].before) {
      const writer *from = &b->writer[w];
      uint16_t root = call->root[a];
      if (level <= b->level[from->call - b->first] || b->counted[root] || !finds(b, call, a, from) ||
          may_be_inlined(b, root, from) || may_follow(b, number, root, from))
        continue;
      b->counted[root] = true;
      b->between += bytes_of(b->fuser, &b->plan->root[root]);
    }
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
    b->followed[call->root[a]] = -1;
  }
}

/* The lowest level of all calls, and what becomes of roots if that is where they stay. */
static void find_levels(barriers *b) {
  for (int r = 0; r < b->plan->nroot; r++)
    b->newest[r] = -1,
    b->passage[r] = (passage){.maker = -1, .least = INT_MAX, .most = -1, .changed = INT_MAX};
  for (int i = b->first; i < b->next; i++) {
    const lgt_plan_call *call = &b->plan->call[i];
    int level = lowest_level(b, call);
    b->level[i - b->first] = (uint16_t)level;
    for (int a = 0; a < call->nargs; a++) {
      passage *p = &b->passage[call->root[a]];
      const lgt_plan_root *root = &b->plan->root[call->root[a]];
      if (lgt_kind_writes(call->kind, a) && root->fresh && root->writes == 1) p->maker = i, p->arg = a;
      if (!reads_first(call, a)) continue;
      p->readers++;
      p->reader = i;
      if (level > p->most) p->most = level;
    }
    note_writes(b, i);
  }
}

/* Could a call be on the level of those who read what it makes? */
static bool may_rise(const barriers *b, int number) {
  const lgt_plan_call *call = &b->plan->call[number];
  bool good = call->kind->body && !call->kind->reduces;
  for (int a = 0; a < call->nargs; a++)
    if (lgt_kind_writes(call->kind, a)) good &= b->passage[call->root[a]].maker == number;
  return good;
}

/* Is a call the only one that reads what another one makes? */
static bool is_only_reader(const barriers *b, int number, int maker) {
  const lgt_plan_call *call = &b->plan->call[maker];
  for (int a = 0; a < call->nargs; a++) {
    const passage *p = &b->passage[call->root[a]];
    if (lgt_kind_writes(call->kind, a) && p->readers && (p->readers > 1 || p->reader != number)) return false;
  }
  return true;
}

/* Would what a call reads through an argument lie between if the call were on a level, and does not yet? */
static bool is_brought(const barriers *b, const lgt_plan_call *call, int arg, int level) {
  const passage *p = &b->passage[call->root[arg]];
  return reads_first(call, arg) && p->maker >= 0 && b->level[p->maker - b->first] < level && p->most < level;
}

/* The bytes of that, with all that the call reads of the same maker; 0 if they count for an earlier argument. */
static int64_t bytes_of_maker(const barriers *b, const lgt_plan_call *call, int arg, int level) {
  int64_t bytes = 0;
  for (int a = 0; a < call->nargs; a++) {
    if (!is_brought(b, call, a, level) ||
        b->passage[call->root[a]].maker != b->passage[call->root[arg]].maker)
      continue;
    if (a < arg) return 0;
    bytes += bytes_of(b->fuser, &b->plan->root[call->root[a]]);
  }
  return bytes;
}

/* Bytes that would lie between if a call were on a level, and do not yet; what only it needs would be there, too, if that is
 * less.  Comes to a call once at most: from its only reader, for all that this one reads of it. */
static int64_t bytes_brought(const barriers *b, int number, int level) {
  const lgt_plan_call *call = &b->plan->call[number];
  int64_t bytes = 0;
  for (int a = 0; a < call->nargs; a++) {
    int maker = b->passage[call->root[a]].maker;
    int64_t whole = is_brought(b, call, a, level) ? bytes_of_maker(b, call, a, level) : 0, made = whole;
    if (whole && may_rise(b, maker) && is_only_reader(b, number, maker))
      made = bytes_brought(b, maker, level);
    bytes += made < whole ? made : whole;
  }
  return bytes;
}

/* The level of the first reader, if what the call reads is there then, and less lies between. */
static void raise_call(barriers *b, int number) {
  const lgt_plan_call *call = &b->plan->call[number];
  int level = INT_MAX, changed = INT_MAX;
  int64_t bytes = 0;
  for (int a = 0; a < call->nargs; a++) {
    const passage *p = &b->passage[call->root[a]];
    if (lgt_kind_writes(call->kind, a)) bytes += bytes_of(b->fuser, &b->plan->root[call->root[a]]);
    if (lgt_kind_writes(call->kind, a) && p->least < level) level = p->least;
    if (reads(call, a) && p->changed < changed) changed = p->changed;
  }
  if (level == INT_MAX || level <= b->level[number - b->first] || level > changed ||
      bytes_brought(b, number, level) >= bytes)
    return;
  b->level[number - b->first] = (uint16_t)level;
  b->raised[number - b->first] = true;
}

/* Who could wait for the first reader does so, as when items get their loops (sink.h).  From the last call to the first. */
static void raise_levels(barriers *b) {
  for (int i = b->next - 1; i >= b->first; i--) {
    const lgt_plan_call *call = &b->plan->call[i];
    if (may_rise(b, i)) raise_call(b, i);
    int level = b->level[i - b->first];
    for (int a = 0; a < call->nargs; a++) {
      passage *p = &b->passage[call->root[a]];
      if (lgt_kind_writes(call->kind, a) && level < p->changed) p->changed = level;
      if (!reads(call, a) || p->maker < 0) continue;
      int before = level - !same_element(b, call, a, &(writer){p->maker, p->arg, -1});
      if (before < p->least) p->least = before;
      if (level > p->most) p->most = level;
    }
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

/* The call before which too much lies between; `next`: there is none. */
static int first_too_much(barriers *b, int64_t most) {
  find_levels(b);
  raise_levels(b);
  memset(b->newest, 0xff, (size_t)b->plan->nroot * sizeof *b->newest);
  b->nwriter = 0;
  for (int i = b->first; i < b->next; i++) {
    count_between(b, i);
    if (b->between > most && i > b->first) return i;
    note_writes(b, i);
  }
  return b->next;
}

int lgt_barrier_end(const lgt_fuser *fuser, const lgt_plan *plan, int first, int next) {
  int64_t most = most_between(fuser, plan);
  if (bytes_written(fuser, plan, first, next) <= most) return next;
  size_t nroot = (size_t)plan->nroot, ncall = (size_t)(next - first), nargs = 0;
  for (int i = first; i < next; i++) nargs += plan->call[i].nargs;
  barriers b = {
      .fuser = fuser, .plan = plan, .first = first, .next = next, .devices = lgt_inline_applies(fuser, plan)};
  int *newest = lgt_mem_alloc((2 * nroot + 1) * sizeof *newest);
  b.followed = lgt_mem_alloc((nroot + 1) * sizeof *b.followed);
  b.counted = lgt_mem_zalloc(nroot + 1);
  b.passage = lgt_mem_alloc((nroot + 1) * sizeof *b.passage);
  b.level = lgt_mem_alloc((ncall + 1) * sizeof *b.level);
  b.raised = lgt_mem_zalloc(ncall + 1);
  b.writer = lgt_mem_alloc((nargs + 1) * sizeof *b.writer);
  int end = next;
  if (newest && b.followed && b.counted && b.passage && b.level && b.raised && b.writer) {
    b.newest = newest;
    end = first_too_much(&b, most);
    if (end < next) end = best_cut(fuser, plan, first, end, newest, newest + nroot);
  }
  lgt_mem_free(newest);
  lgt_mem_free(b.followed);
  lgt_mem_free(b.counted);
  lgt_mem_free(b.passage);
  lgt_mem_free(b.level);
  lgt_mem_free(b.raised);
  lgt_mem_free(b.writer);
  return end;
}
