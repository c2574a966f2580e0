/* abreast.c - see abreast.h. */
#include "plan/abreast.h"

#include "plan/cut.h"
#include "plan/inline.h"

enum { MOST_LOOPS = 64 }; /* abreast: to find them takes their square */

/* An access of a loop. */
typedef struct use {
  int loop, access;
  int before; /* of the same memory, or -1 */
} use;

/* The loops from `first` on run abreast so far. */
typedef struct row {
  const lgt_fuser *fuser;
  lgt_plan_group *group;
  int first;
  use *use; /* all of theirs */
  int nuse;
  int *newest; /* by memory: the newest of them, or -1 */
} row;

/* Two slots may be one memory when the group runs: of those, one stands for it. */
static uint16_t memory_of(const lgt_plan_group *group, uint16_t slot) {
  uint16_t old = group->slot[slot].takes;
  return old == LGT_NONE ? slot : old;
}

/* Bytes that it moves, or as many as it has operations, if these are more: either takes about as long in a cache. */
static int64_t cost_of(const lgt_plan_loop *loop) {
  double work = 0;
  if (!loop->kernel) return loop->bytes;
  for (int i = 0; i < loop->kernel->loop->ninst; i++) work += lgt_inline_work(&loop->kernel->loop->inst[i]);
  for (int d = 0; d < loop->space_ndim; d++) work *= (double)loop->extent[d];
  return work > (double)loop->bytes ? (int64_t)work : loop->bytes;
}

/* Calls of C have a step of their own: they may want all workers, and what they cost is not known. */
static bool may_share(const lgt_fuser *fuser, const lgt_plan_loop *loop) {
  int64_t least = fuser->config->abreast;
  return least && loop->kernel && !loop->nnative && loop->cost / loop->launch->ncolour >= least;
}

static bool in_memory(const lgt_plan_loop *loop, int a) {
  return loop->kernel->loop->access[a].mode != LGT_ACCESS_INDEX && loop->access[a].slot != LGT_NONE;
}

static bool writes(const lgt_plan_loop *loop, int a) {
  return loop->kernel->loop->access[a].mode != LGT_ACCESS_LOAD;
}

static bool collides(const row *r, const lgt_plan_loop *loop, int a) {
  int u = in_memory(loop, a) ? r->newest[memory_of(r->group, loop->access[a].slot)] : -1;
  for (; u >= 0; u = r->use[u].before) {
    const lgt_plan_loop *other = &r->group->loop[r->use[u].loop];
    int b = r->use[u].access;
    if ((writes(loop, a) || writes(other, b)) && !lgt_cut_apart(r->fuser->stores, loop, a, other, b))
      return true;
  }
  return false;
}

static bool may_join(const row *r, int number) {
  const lgt_plan_loop *loop = &r->group->loop[number];
  if (number == r->first || number - r->first >= MOST_LOOPS || !may_share(r->fuser, loop) ||
      !may_share(r->fuser, &r->group->loop[r->first]))
    return false;
  for (int a = 0; a < loop->kernel->loop->naccess; a++)
    if (collides(r, loop, a)) return false;
  return true;
}

static void begin_row(row *r, int first) {
  for (; r->nuse > 0; r->nuse--) {
    const use *u = &r->use[r->nuse - 1];
    r->newest[memory_of(r->group, r->group->loop[u->loop].access[u->access].slot)] = -1;
  }
  r->first = first;
}

static void add_uses(row *r, int number) {
  const lgt_plan_loop *loop = &r->group->loop[number];
  for (int a = 0; loop->kernel && a < loop->kernel->loop->naccess; a++) {
    if (!in_memory(loop, a)) continue;
    int *newest = &r->newest[memory_of(r->group, loop->access[a].slot)];
    r->use[r->nuse] = (use){number, a, *newest};
    *newest = r->nuse++;
  }
}

/* Is there anything to find? */
static bool any_pair(const lgt_fuser *fuser, const lgt_plan_group *group) {
  for (int l = 1; l < group->nloop; l++)
    if (may_share(fuser, &group->loop[l - 1]) && may_share(fuser, &group->loop[l])) return true;
  return false;
}

void lgt_abreast_find(const lgt_fuser *fuser, lgt_plan_group *group, bool alone) {
  for (int l = 0; l < group->nloop; l++) {
    group->loop[l].cost = cost_of(&group->loop[l]);
    group->loop[l].abreast = (uint16_t)l;
  }
  if (alone || !any_pair(fuser, group)) return;
  row r = {.fuser = fuser, .group = group};
  r.newest = lgt_mem_alloc(((size_t)group->nslot + 1) * sizeof *r.newest);
  r.use = lgt_mem_alloc(((size_t)group->naccess + 1) * sizeof *r.use);
  for (int s = 0; s < group->nslot && r.newest; s++) r.newest[s] = -1;
  for (int l = 0; l < group->nloop && r.newest && r.use; l++) {
    if (!may_join(&r, l)) begin_row(&r, l);
    group->loop[l].abreast = (uint16_t)r.first;
    add_uses(&r, l);
  }
  lgt_mem_free(r.newest);
  lgt_mem_free(r.use);
}
