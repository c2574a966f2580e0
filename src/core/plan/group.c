/* group.c - which calls of a plan become one task.  See group.h. */
#include "plan/group.h"

#include <string.h>

#include "plan/barrier.h"
#include "plan/cells.h"
#include "plan/widen.h"

enum { MAX_GROUP_CALLS = 512 };

/* What the calls of a group touch of each root, for some of its tiles: the box around it.  These are the corners of the
 * grid of tiles (if not too many dimensions are cut): from one to the other the distance of two views changes evenly, so that
 * nowhere are they farther apart.  Where they are all the same, more memory is held; values are right. */
enum { CORNERS = 3, SAMPLES = 2 << CORNERS };
/* Elements that lie apart, or which share of the others they are: memory of their own takes less than a task of their own. */
enum { FEW = 16, FEW_OF = 64 };
typedef struct reach {
  int group;     /* that touched it last; -1: none yet */
  uint16_t call; /* the first of it, ... */
  uint8_t arg;   /* ... through this argument */
  bool boxed;    /* there was another view since: `box` and `waste` are valid */
  bool split;    /* it has parts */
  bool gave;     /* what was read before `call` has become one (give_way) */
  lgt_rect box[SAMPLES];
  int64_t waste[SAMPLES]; /* elements of the box that no call touches */
} reach;
/* Which calls of a group use a root, and which write it: bit i stands for the group's call number i. */
enum { MEMBER_WORDS = MAX_GROUP_CALLS / 64 };
typedef struct members {
  int group; /* the bits are of this one */
  uint64_t user[MEMBER_WORDS], writer[MEMBER_WORDS];
} members;

typedef struct reaches {
  reach *root;     /* owned; one for each root of the plan */
  members *member; /* likewise */
  int colour[SAMPLES], ntile;
  bool owners;      /* these are owners, not colours of the launch */
  lgt_halo *margin; /* owned; by call of a group */
} reaches;

/* Where nothing is cut, each call of a group has a space of its own. */
static lgt_rect sample_rect(const lgt_fuser *fuser, const lgt_plan_call *call, int arg, const reaches *all,
                            int sample) {
  const lgt_layout *layout = lgt_layout_at(fuser->stores, call->layout[arg]);
  lgt_rect tile = lgt_rect_of_shape(call->space.ndim, call->space.extent);
  int colour = 0;
  if (call->launch->kind != LGT_PARTITION_NONE) {
    colour = all->owners ? lgt_partition_colour_of(call->launch, all->colour[sample]) : all->colour[sample];
    if (colour >= 0) tile = lgt_partition_rect(call->launch, colour);
  }
  lgt_rect rect = lgt_layout_target_rect(layout, lgt_space_view_rect(layout, &call->space.align[arg], &tile));
  if (colour < 0) rect.ndim = -1;
  return rect;
}

/* May an argument of a group's first call have memory of its own?  It reads what was there before, so what is written
 * has to be elsewhere; and what is reduced lives in memory of its own anyway. */
static bool may_split(const lgt_fuser *fuser, const lgt_plan_call *call, int arg) {
  const lgt_layout *layout = lgt_layout_at(fuser->stores, call->layout[arg]);
  for (int a = 0; a < call->nargs; a++) {
    if (call->root[a] != call->root[arg] || !lgt_kind_writes(call->kind, a)) continue;
    if (a == arg || call->kind->privilege[a] & LGT_PRIV_REDUCE ||
        lgt_views_collide(lgt_layout_at(fuser->stores, call->layout[a]), true, layout, false))
      return false;
  }
  return !call->kind->constraints || !call->kind->constraints->nimage;
}

/* The argument that stands for a root: what is written has one place, and others may be far from that. */
static uint8_t first_arg(const lgt_plan_call *call, int arg) {
  for (int a = arg; a < call->nargs; a++)
    if (call->root[a] == call->root[arg] && lgt_kind_writes(call->kind, a)) return (uint8_t)a;
  return (uint8_t)arg;
}

/* The part of its root that an argument has: of what a call from `first` on reads through the same view, or a new one; 0:
 * there are too many, or, unless `add`, there is none yet. */
static uint8_t part_of(const lgt_plan *plan, int first, const lgt_plan_call *call, int arg, bool add) {
  int part = 1;
  for (const lgt_plan_call *c = &plan->call[first]; c <= call; c++)
    for (int a = 0; a < (c == call ? arg : c->nargs); a++) {
      if (c->root[a] != call->root[arg] || !c->part[a]) continue;
      if (c->layout[a] == call->layout[arg]) return c->part[a];
      if (c->part[a] >= part) part = c->part[a] + 1;
    }
  return add && part <= UINT8_MAX ? (uint8_t)part : 0;
}

/* Does no call of the plan's newest group write a root, of those before `next`? */
static bool only_read(const lgt_plan *plan, uint16_t root, int next) {
  for (int i = plan->group[plan->ngroup].first; i < next; i++)
    for (int a = 0; a < plan->call[i].nargs; a++)
      if (plan->call[i].root[a] == root && lgt_kind_writes(plan->call[i].kind, a)) return false;
  return true;
}

/* Does the owner of a sample have all of a box of the root, as its tile?  Then it takes no memory to touch all of the box. */
static bool has_all(const lgt_partition *key, const lgt_partition *launch, const reaches *all, int sample,
                    const lgt_rect *box) {
  if (!key || key->kind != LGT_PARTITION_TILING || !all->owners || !lgt_partition_same_owners(key, launch))
    return false;
  int colour = lgt_partition_colour_of(key, all->colour[sample]);
  lgt_rect tile = lgt_partition_rect(key, colour < 0 ? 0 : colour);
  return colour >= 0 && lgt_rect_contains(&tile, box);
}

/* What a group touches of a root if one more view joins: as in `reach`. */
typedef struct spread {
  lgt_rect box[SAMPLES];
  int64_t waste[SAMPLES];
  bool far;         /* the view lies so far from the others that a domain should not hold all between */
  bool few;         /* it is of few elements */
  bool all_but_few; /* the others are */
} spread;

static bool is_few(const lgt_rect *rect, const lgt_rect *others) {
  int64_t size = lgt_rect_size(rect);
  return size <= FEW || size <= lgt_rect_size(others) / FEW_OF;
}

/* `begins`: the call is the first of its group, whose parts cost nothing; else less than any tile may lie between, or what is
 * there anyway. */
static spread spread_to(const lgt_fuser *fuser, const lgt_plan *plan, const reaches *all, reach *r,
                        const lgt_plan_call *call, int arg, bool begins) {
  const lgt_partition *key = plan->root[call->root[arg]].last_key;
  spread w = {.few = true, .all_but_few = true};
  for (int i = 0; i < all->ntile; i++) {
    lgt_rect rect = sample_rect(fuser, call, arg, all, i);
    if (!r->boxed) r->box[i] = sample_rect(fuser, &plan->call[r->call], r->arg, all, i), r->waste[i] = 0;
    bool both = rect.ndim >= 0 && r->box[i].ndim >= 0;
    w.box[i] = both ? lgt_rect_bound(&r->box[i], &rect) : rect.ndim < 0 ? r->box[i] : rect;
    w.waste[i] = r->waste[i];
    bool near = !both || lgt_rect_near(&r->box[i], &rect, &w.waste[i]);
    bool more = r->split && w.waste[i] > r->waste[i]; /* parts are there not to hold what lies between them */
    bool far = (!near || more) && (begins || w.waste[i] >= fuser->solver.min_tile);
    if (far && (r->split || !has_all(key, plan->group[plan->ngroup].launch, all, i, &w.box[i]))) w.far = true;
    w.few = w.few && (!both || is_few(&rect, &r->box[i]));
    w.all_but_few = w.all_but_few && (!both || is_few(&r->box[i], &rect));
  }
  return w;
}

/* What the plan's newest group touches of an argument's root, which the argument begins if no earlier one has. */
static reach *reach_of(const lgt_plan *plan, reaches *all, int number, int arg) {
  const lgt_plan_call *call = &plan->call[number];
  reach *r = &all->root[call->root[arg]];
  if (r->group == plan->ngroup) return r;
  r->group = plan->ngroup;
  r->call = (uint16_t)number;
  r->arg = first_arg(call, arg);
  r->boxed = r->split = r->gave = false;
  return r;
}

/* The group has read one view of a root so far, of few elements, and now comes to another one that is far and large: what it
 * has read gets a part, and the other one stands for the root.  False: it may not. */
static bool give_way(const lgt_fuser *fuser, lgt_plan *plan, reach *r, int next, int arg) {
  int first = plan->group[plan->ngroup].first;
  const lgt_plan_call *call = &plan->call[next];
  uint16_t root = call->root[arg];
  uint32_t layout = plan->call[r->call].layout[r->arg];
  if (r->boxed || r->split || !only_read(plan, root, next) || lgt_kind_writes(call->kind, arg)) return false;
  for (int b = 0; b < arg; b++)
    if (call->root[b] == root) return false;
  for (int pass = 0; pass < 2; pass++)
    for (lgt_plan_call *c = &plan->call[first]; c < call; c++)
      for (int a = 0; a < c->nargs; a++) {
        if (c->root[a] != root || c->layout[a] != layout) continue;
        if (pass == 0 && !may_split(fuser, c, a)) return false;
        c->part[a] = pass ? 1 : 0;
      }
  r->call = (uint16_t)next;
  r->arg = first_arg(call, arg);
  return r->gave = true;
}

/* Call `next` does not join the group after all: nothing gives way to it. */
static void take_back(lgt_plan *plan, const reaches *all, int next) {
  const lgt_plan_call *call = &plan->call[next];
  for (int a = 0; a < call->nargs; a++) {
    const reach *r = &all->root[call->root[a]];
    if (r->group != plan->ngroup || !r->gave || r->call != next) continue;
    for (lgt_plan_call *c = &plan->call[plan->group[plan->ngroup].first]; c < call; c++)
      for (int b = 0; b < c->nargs; b++)
        if (c->root[b] == call->root[a]) c->part[b] = 0;
  }
}

/* Let call `next` into the plan's newest group, as far as places go: arguments that lie far from the rest of their root
 * get parts, if they are of the group's first call, or few elements that are only read; to the others what the group touches
 * spreads, or what was read before gives way (unless `margins`).  False: one can do neither, since a domain would need all
 * between. */
static bool place_args(const lgt_fuser *fuser, lgt_plan *plan, reaches *all, int next, bool margins) {
  lgt_plan_group *group = &plan->group[plan->ngroup];
  lgt_plan_call *call = &plan->call[next];
  bool begins = next == group->first && !call->repeats; /* what repeats has no launch of its own */
  memset(call->part, 0, sizeof call->part);
  for (int a = 0; a < call->nargs; a++) {
    reach *r = reach_of(plan, all, next, a);
    if (r->split && !begins) {
      if (lgt_kind_writes(call->kind, a)) return false;
      call->part[a] = part_of(plan, group->first, call, a, false);
    }
    if (call->part[a] || plan->call[r->call].layout[r->arg] == call->layout[a]) continue;
    spread w = spread_to(fuser, plan, all, r, call, a, begins);
    if (!w.far) {
      r->boxed = true;
      memcpy(r->box, w.box, sizeof w.box);
      memcpy(r->waste, w.waste, sizeof w.waste);
      continue;
    }
    if ((begins || (w.few && only_read(plan, call->root[a], next))) && may_split(fuser, call, a))
      call->part[a] = part_of(plan, group->first, call, a, true);
    bool apart = call->part[a] || (!begins && !margins && w.all_but_few && give_way(fuser, plan, r, next, a));
    if (apart) r->split = group->split = true;
    else if (!begins) return false;
  }
  return true;
}

/* The same; where it is false, nothing has given way, and the group has no more parts than before. */
static bool take_place(const lgt_fuser *fuser, lgt_plan *plan, reaches *all, int next, bool margins) {
  lgt_plan_group *group = &plan->group[plan->ngroup];
  bool split = group->split, good = place_args(fuser, plan, all, next, margins);
  if (!good) take_back(plan, all, next);
  if (!good) group->split = split;
  return good;
}

/* The corners of a grid of tiles. */
static void list_corners(int ndim, const int32_t *grid, reaches *all) {
  int first = all->ntile, cut = 0;
  all->colour[all->ntile++] = 0;
  for (int d = ndim - 1, colours = 1; d >= 0; colours *= grid[d--]) {
    int n = all->ntile;
    if (grid[d] == 1 || cut++ >= CORNERS) continue;
    for (int i = first; i < n; i++) all->colour[all->ntile++] = all->colour[i] + colours * (grid[d] - 1);
  }
}

/* Of a group from call `first` on with the launches of call `head`, which both take their places, as do those between.  False: one
 * lies far from the calls before it. */
static bool begin_reaches(const lgt_fuser *fuser, lgt_plan *plan, reaches *all, int first, int head) {
  const lgt_partition *launch = plan->call[head].launch;
  if (lgt_solver_whole(&fuser->solver)) return true;
  all->owners = lgt_partition_apart(launch, fuser->solver.domains);
  all->ntile = 0;
  list_corners(launch->kind == LGT_PARTITION_TILING ? launch->ndim : 0, launch->grid, all);
  for (int i = 0; i < all->ntile && all->owners; i++)
    all->colour[i] = lgt_partition_owner(launch, all->colour[i]);
  if (all->owners) list_corners(launch->home.ndim, launch->home.grid, all); /* of other calls */
  bool near = true;
  for (int i = first; i <= head && near; i++) near = take_place(fuser, plan, all, i, false);
  return near;
}

/* Does the call overwrite what it reads of this argument's root?  It works in new memory then, whose rest comes from before
 * the group. */
static bool overwrites_what_it_reads(const lgt_fuser *fuser, const lgt_plan_call *call, int arg) {
  for (int a = 0; a < call->nargs; a++)
    for (int b = 0; b < call->nargs; b++)
      if (call->root[a] == call->root[arg] && call->root[b] == call->root[arg] &&
          lgt_kind_writes(call->kind, a) && call->layout[a] != call->layout[b] &&
          lgt_layout_may_overlap(lgt_layout_at(fuser->stores, call->layout[a]),
                                 lgt_layout_at(fuser->stores, call->layout[b])))
        return true;
  return false;
}

/* Do several colours of a call share elements of an argument, which stands still along a dimension that is cut? */
static bool stands_still(const lgt_layout *layout, const lgt_plan_call *call, int arg) {
  return lgt_partition_repeats(call->launch, lgt_signature_of(layout, &call->space.align[arg]).stride);
}

/* Do several colours of a call reduce into the same elements?  Then each has private memory for all of the root until the group
 * has run. */
static bool reduces_together(const lgt_fuser *fuser, const lgt_plan_call *call, int arg) {
  if (!(call->kind->privilege[arg] & LGT_PRIV_REDUCE)) return false;
  return stands_still(lgt_layout_at(fuser->stores, call->layout[arg]), call, arg);
}

/* May `call` follow `earlier` in one group of several colours?  `own`: each has a domain, and so a copy of what it
 * reads of others, to itself: nobody overwrites what it has yet to read.  `wide`: the earlier one may be computed in a margin
 * around its tiles, too. */
static lgt_refusal check_pair(const lgt_fuser *fuser, const lgt_plan_call *earlier, const lgt_plan_call *call,
                              bool own, bool wide) {
  for (int a = 0; a < call->nargs; a++)
    for (int b = 0; b < earlier->nargs; b++) {
      if (call->root[a] != earlier->root[b]) continue;
      bool wrote = lgt_kind_writes(earlier->kind, b), writes = lgt_kind_writes(call->kind, a);
      if (!wrote && !writes) continue;
      if (wrote && writes && earlier->repeats != call->repeats) return LGT_REFUSAL_REDUCTION;
      if (wrote ? earlier->repeats : call->repeats) continue; /* each task has its own */
      /* Which elements of others its rows need is looked up before the group runs. */
      if (lgt_kind_native(call->kind) && wrote && call->kind->constraints->nimage)
        return LGT_REFUSAL_TRUE_DEPENDENCE;
      /* Even into another part of the array. */
      if (reduces_together(fuser, call, a) || reduces_together(fuser, earlier, b))
        return LGT_REFUSAL_REDUCTION;
      const lgt_layout *la = lgt_layout_at(fuser->stores, call->layout[a]),
                       *lb = lgt_layout_at(fuser->stores, earlier->layout[b]);
      if (!lgt_views_collide(la, writes, lb, wrote)) continue;
      if (wrote && call->repeats) return LGT_REFUSAL_TRUE_DEPENDENCE; /* it needs what all have written */
      /* Then each colour touches what it touched before, if colours share no elements of it. */
      if (call->launch == earlier->launch && !stands_still(la, call, a) &&
          lgt_pointwise(la, &call->space.align[a], lb, &earlier->space.align[b]))
        continue;
      if (own && !(wrote && overwrites_what_it_reads(fuser, call, a)) &&
          lgt_cells_agree(fuser, call, a, earlier, b))
        continue;
      if (wide && wrote && !overwrites_what_it_reads(fuser, call, a) &&
          lgt_widen_reaches(fuser, earlier, b, call, a))
        continue;
      if (wrote) return LGT_REFUSAL_TRUE_DEPENDENCE;
      if (!own) return LGT_REFUSAL_ANTI_DEPENDENCE;
    }
  return LGT_REFUSAL_END;
}

/* Are all calls of the plan's newest group, and the next one, over one partition, or over partitions between the same
 * owners?  Calls on single numbers and on small arrays may be among them. */
static bool may_share_owners(const lgt_fuser *fuser, lgt_plan *plan, int next) {
  const lgt_plan_group *group = &plan->group[plan->ngroup];
  lgt_plan_call *call = &plan->call[next];
  if (group->launch == call->launch && !group->mixed) return true;
  if (!fuser->config->mix) return false;
  call->repeats =
      lgt_cells_everywhere(fuser, group->launch) && lgt_cells_may_repeat(fuser, plan, call, group->repeated);
  if (!call->repeats &&
      (!lgt_cells_may_mix(fuser, call) || !lgt_partition_same_owners(group->launch, call->launch)))
    return false;
  for (int i = group->first; i < next && !group->mixed; i++)
    if (!lgt_cells_may_mix(fuser, &plan->call[i])) return call->repeats = false;
  return true;
}

/* The call whose launch the group from `first` on has: one that calls on single numbers or on small arrays precede, or the
 * first.  These repeat then. */
static int head_of(const lgt_fuser *fuser, lgt_plan *plan, int first) {
  int head = first;
  int64_t points = 0;
  if (!fuser->config->mix || !fuser->config->fusion || lgt_solver_whole(&fuser->solver)) return first;
  while (head < plan->ncall && head - first < MAX_GROUP_CALLS - 1 &&
         lgt_cells_may_repeat(fuser, plan, &plan->call[head], points)) {
    points += lgt_cells_points(fuser, &plan->call[head]);
    plan->call[head++].repeats = true;
  }
  const lgt_plan_call *call = &plan->call[head];
  bool good = head > first && head < plan->ncall && lgt_cells_everywhere(fuser, call->launch) &&
              lgt_cells_may_mix(fuser, call) && !lgt_kind_alone(call->kind);
  for (int i = first; i < head && good; i++)
    good = check_pair(fuser, &plan->call[i], call, true, false) == LGT_REFUSAL_END;
  for (int i = first; i < head; i++) plan->call[i].repeats = good;
  return good ? head : first;
}

static void forget_reaches(const lgt_plan *plan, reaches *all) {
  for (int r = 0; r < plan->nroot; r++) all->root[r].group = -1;
}

/* The plan's newest group begins with call `first`.  Returns the next call that may be one of the group. */
static int begin_group(const lgt_fuser *fuser, lgt_plan *plan, reaches *all, int first) {
  lgt_plan_group *group = &plan->group[plan->ngroup];
  for (int i = first; i < plan->ncall; i++) plan->call[i].repeats = false;
  int head = head_of(fuser, plan, first);
  *group = (lgt_plan_group){
      .plan = plan, .first = first, .launch = plan->call[head].launch, .mixed = head > first};
  if (!begin_reaches(fuser, plan, all, first, head) && head > first) {
    for (int i = first; i < head; i++) plan->call[i].repeats = false;
    forget_reaches(plan, all);
    group->launch = plan->call[head = first].launch;
    group->mixed = group->split = false;
    begin_reaches(fuser, plan, all, first, head);
  }
  return head + 1;
}

/* A call becomes one of the plan's newest group. */
static void note_member(const lgt_fuser *fuser, lgt_plan *plan, reaches *all, int number) {
  const lgt_plan_call *call = &plan->call[number];
  lgt_plan_group *group = &plan->group[plan->ngroup];
  group->mixed |= call->launch != group->launch && group->launch->kind == LGT_PARTITION_TILING;
  if (call->repeats) group->repeated += lgt_cells_points(fuser, call);
  int i = number - group->first;
  for (int a = 0; a < call->nargs; a++) {
    members *m = &all->member[call->root[a]];
    if (m->group != plan->ngroup) *m = (members){.group = plan->ngroup};
    m->user[i / 64] |= 1ull << i % 64;
    if (lgt_kind_writes(call->kind, a)) m->writer[i / 64] |= 1ull << i % 64;
  }
}

/* May call `next` follow each call of the group?  Only those are asked that write what it uses, or use what it writes.  Those
 * before `turn` may be computed in margins. */
static lgt_refusal check_members(const lgt_fuser *fuser, const lgt_plan *plan, const reaches *all, int turn,
                                 int next) {
  const lgt_plan_call *call = &plan->call[next];
  int first = plan->group[plan->ngroup].first;
  bool own = call->repeats || lgt_partition_apart(call->launch, fuser->solver.domains);
  for (int w = 0; w <= (next - 1 - first) / 64; w++) {
    uint64_t bits = 0;
    for (int a = 0; a < call->nargs; a++) {
      const members *m = &all->member[call->root[a]];
      if (m->group == plan->ngroup) bits |= lgt_kind_writes(call->kind, a) ? m->user[w] : m->writer[w];
    }
    for (; bits; bits &= bits - 1) {
      int number = first + w * 64 + __builtin_ctzll(bits);
      lgt_refusal refusal = check_pair(fuser, &plan->call[number], call, own, number < turn);
      if (refusal != LGT_REFUSAL_END) return refusal;
    }
  }
  return LGT_REFUSAL_END;
}

/* Is a call a task of its own?  Calls of C are, unless they are small, and cannot fail: others of their task would, too.
 * (Devices have no variants of them, so that what is beside them would not be computed there.) */
static bool is_alone(const lgt_fuser *fuser, const lgt_plan_call *call) {
  enum { FEW_BYTES = 4096 };
  if (!lgt_kind_alone(call->kind)) return false;
  if (!call->kind->infallible || !lgt_solver_whole(&fuser->solver) ||
      lgt_kernels_for_devices(fuser->kernels) || fuser->config->emulate)
    return true;
  int64_t bytes = 0;
  for (int a = 0; a < call->nargs; a++) {
    const lgt_layout *layout = lgt_layout_at(fuser->stores, call->layout[a]);
    bytes += lgt_layout_distinct(layout) * lgt_dtype_size(layout->dtype);
    if (lgt_kind_writes(call->kind, a) && !lgt_layout_covers(layout, false)) return true;
  }
  return bytes > FEW_BYTES;
}

static lgt_refusal may_follow(const lgt_fuser *fuser, lgt_plan *plan, reaches *all, int next) {
  const lgt_plan_group *group = &plan->group[plan->ngroup];
  int first = group->first;
  const lgt_plan_call *call = &plan->call[next];
  if (!fuser->config->fusion) return LGT_REFUSAL_OFF;
  if (is_alone(fuser, &plan->call[first]) || is_alone(fuser, call)) return LGT_REFUSAL_CPU_VARIANT;
  if (next - first >= MAX_GROUP_CALLS) return LGT_REFUSAL_SIZE;
  if (group->launch->kind == LGT_PARTITION_NONE && call->launch->kind == LGT_PARTITION_NONE)
    return lgt_solver_whole(&fuser->solver) || take_place(fuser, plan, all, next, false) ? LGT_REFUSAL_END
                                                                                         : LGT_REFUSAL_FAR;
  if (!lgt_partition_disjoint(call->launch) || !may_share_owners(fuser, plan, next))
    return LGT_REFUSAL_LAUNCH_DOMAIN;
  lgt_refusal refusal = check_members(fuser, plan, all, first, next);
  if (refusal != LGT_REFUSAL_END) return refusal;
  return take_place(fuser, plan, all, next, false) ? LGT_REFUSAL_END : LGT_REFUSAL_FAR;
}

/* ---- turns ---------------------------------------------------------------------------------------------- */

/* May call `next` be one of the plan's newest group, which goes on since call `turn` although it would end there if nothing was
 * computed in margins? */
static lgt_refusal may_go_on(const lgt_fuser *fuser, lgt_plan *plan, reaches *all, int turn, int next) {
  lgt_plan_group *group = &plan->group[plan->ngroup];
  const lgt_plan_call *call = &plan->call[next];
  if (lgt_kind_native(call->kind)) return LGT_REFUSAL_CPU_VARIANT;
  if (next - group->first >= MAX_GROUP_CALLS) return LGT_REFUSAL_SIZE;
  if (!lgt_partition_disjoint(call->launch) || !may_share_owners(fuser, plan, next))
    return LGT_REFUSAL_LAUNCH_DOMAIN;
  lgt_refusal refusal = check_members(fuser, plan, all, turn, next);
  if (refusal != LGT_REFUSAL_END) return refusal;
  bool near = take_place(fuser, plan, all, next, true) && !group->split;
  group->split = false;
  return near ? LGT_REFUSAL_END : LGT_REFUSAL_FAR;
}

/* The plan's newest group may take the calls before `next`: where does it end, for the sake of memory? */
static int end_of_memory(const lgt_fuser *fuser, lgt_plan *plan, int first, int next) {
  int end = next - first > 1 ? lgt_barrier_end(fuser, plan, first, next) : next;
  if (end < next) plan->group[plan->ngroup].refusal = LGT_REFUSAL_MEMORY;
  return end;
}

/* The plan's newest group may take the calls before `next`, and no more without margins.  A *turn* is what it would take from
 * there on if it began there: take so many that one of them is cheapest, in exchanges, memory and what is computed in margins.
 * Returns the next call after the group. */
static int take_turns(const lgt_fuser *fuser, lgt_plan *plan, reaches *all, const int *last, int next) {
  lgt_plan_group *group = &plan->group[plan->ngroup];
  lgt_halo *margin = all->margin;
  int first = group->first, plain = next, turn = next, end = next;
  double stream = lgt_widen_stream(fuser, group->launch, 1), least = fuser->config->widen + stream;
  for (int turns = 2; turn < plan->ncall; turns++, turn = end) {
    lgt_refusal refusal = LGT_REFUSAL_END;
    while (end < plan->ncall && (refusal = may_go_on(fuser, plan, all, turn, end)) == LGT_REFUSAL_END)
      note_member(fuser, plan, all, end++);
    if (end == turn || !lgt_widen_margins(fuser, plan, first, end, last, margin)) break;
    double more = lgt_widen_cost(plan, first, end, margin),
           whole = more + fuser->config->widen * lgt_widen_messages(plan, first, end, margin) +
                   lgt_widen_stream(fuser, group->launch, turns);
    if (more / turns >= least) break; /* of further turns each costs still more */
    if (whole / turns < least) {
      least = whole / turns;
      next = end;
      group->turns = turns;
      group->refusal = refusal;
    }
    if (refusal != LGT_REFUSAL_TRUE_DEPENDENCE) break;
  }
  if (group->turns && stream > 0) next = end_of_memory(fuser, plan, first, next);
  if (next < plain) { /* nor do all calls of one turn follow one another */
    next = plain;
    group->turns = 0;
    group->refusal = LGT_REFUSAL_TRUE_DEPENDENCE;
  }
  group->mixed = false; /* without the calls of turns that were not taken */
  for (int i = first; i < next; i++) group->mixed |= plan->call[i].launch != group->launch;
  return next;
}

/* ---- where a group of tiles ends ---------------------------------------------------------------------- */

/* By root: the first and the last call that uses it. */
typedef struct uses {
  int *first, *last;
} uses;

static bool list_uses(const lgt_plan *plan, uses *out) {
  out->first = lgt_mem_alloc(2 * ((size_t)plan->nroot + 1) * sizeof *out->first);
  if (!out->first) return false;
  out->last = out->first + plan->nroot + 1;
  for (int i = plan->ncall - 1; i >= 0; i--)
    for (int a = 0; a < plan->call[i].nargs; a++) out->first[plan->call[i].root[a]] = i;
  for (int i = 0; i < plan->ncall; i++)
    for (int a = 0; a < plan->call[i].nargs; a++) out->last[plan->call[i].root[a]] = i;
  return true;
}

/* May a call be left to the group that call `next` begins?  It must not be what that one may not follow. */
static bool may_leave(const lgt_fuser *fuser, const lgt_plan *plan, const lgt_plan_call *call, int next) {
  if (lgt_kind_native(call->kind) || call->kind->reduces) return false;
  for (int a = 0; a < call->nargs; a++)
    if (lgt_kind_writes(call->kind, a) && !plan->root[call->root[a]].fresh) return false;
  bool own = lgt_partition_apart(plan->call[next].launch, fuser->solver.domains);
  return check_pair(fuser, call, &plan->call[next], own, false) == LGT_REFUSAL_END;
}

/* Bytes that need not be stored because call `number` is left to the next group, as all behind it are: what it makes, less
 * what is made for it alone. */
static int64_t spared(const lgt_fuser *fuser, const lgt_plan *plan, const uses *u, int number) {
  const lgt_plan_call *call = &plan->call[number];
  int64_t bytes = 0;
  for (int a = 0; a < call->nargs; a++) {
    int r = call->root[a];
    const lgt_layout *l = lgt_layout_at(fuser->stores, plan->root[r].layout);
    bool counted = !plan->root[r].fresh;
    for (int b = 0; b < a; b++) counted |= call->root[b] == r;
    if (counted) continue;
    if (u->first[r] == number) bytes += u->last[r] > number ? lgt_layout_bytes(l) : 0;
    else if (u->last[r] == number) bytes -= lgt_layout_bytes(l);
  }
  return bytes;
}

/* The call before which a group that may take those before `next` ends, so that as little as possible is stored for later
 * groups; for a few bytes no more groups are risked.  It keeps the call before `from`. */
static int end_of_tiles(const lgt_fuser *fuser, const lgt_plan *plan, const uses *u, int from, int next) {
  int best = next;
  int64_t bytes = 0, most = fuser->solver.min_tile;
  for (int i = next - 1; next < plan->ncall && i >= from && may_leave(fuser, plan, &plan->call[i], next);
       i--) {
    bytes += spared(fuser, plan, u, i);
    if (bytes > most) most = bytes, best = i;
  }
  return best;
}

/* May the plan's newest group, of the calls before `next`, take more of them with margins? */
static bool may_turn(const lgt_fuser *fuser, const lgt_plan *plan, int first, int next) {
  const lgt_plan_group *group = &plan->group[plan->ngroup];
  if (group->refusal != LGT_REFUSAL_TRUE_DEPENDENCE || group->split || next == plan->ncall ||
      !lgt_widen_may(fuser, group->launch))
    return false;
  for (int i = first; i < next; i++)
    if (lgt_kind_native(plan->call[i].kind)) return false;
  return true;
}

/* The plan's newest group ends before call `end`: what gave way to calls behind that has memory as any other. */
static void end_parts(lgt_plan *plan, const reaches *all, int end) {
  lgt_plan_group *group = &plan->group[plan->ngroup];
  bool split = false;
  for (lgt_plan_call *c = &plan->call[group->first]; c < &plan->call[end] && group->split; c++)
    for (int a = 0; a < c->nargs; a++) {
      const reach *r = &all->root[c->root[a]];
      if (r->gave && r->call >= end) c->part[a] = 0;
      split |= c->part[a] != 0;
    }
  group->split = split;
}

/* Would the calls be one group if arrays were not cut? */
static bool is_of_tiles(lgt_refusal refusal) {
  return refusal == LGT_REFUSAL_LAUNCH_DOMAIN || refusal == LGT_REFUSAL_TRUE_DEPENDENCE ||
         refusal == LGT_REFUSAL_ANTI_DEPENDENCE || refusal == LGT_REFUSAL_REDUCTION ||
         refusal == LGT_REFUSAL_FAR;
}

/* The next call after the plan's newest group, which begins with call `first`. */
static int take_calls(const lgt_fuser *fuser, lgt_plan *plan, reaches *all, const uses *u, int first) {
  lgt_plan_group *group = &plan->group[plan->ngroup];
  int from = begin_group(fuser, plan, all, first), next = from;
  for (int i = first; i < from; i++) note_member(fuser, plan, all, i);
  while (next < plan->ncall && (group->refusal = may_follow(fuser, plan, all, next)) == LGT_REFUSAL_END)
    note_member(fuser, plan, all, next++);
  bool whole = group->launch->kind == LGT_PARTITION_NONE;
  if (!whole && may_turn(fuser, plan, first, next)) next = take_turns(fuser, plan, all, u->last, next);
  bool tiles = group->refusal == LGT_REFUSAL_TRUE_DEPENDENCE ||
               group->refusal == LGT_REFUSAL_ANTI_DEPENDENCE || group->refusal == LGT_REFUSAL_REDUCTION;
  int end = whole   ? end_of_memory(fuser, plan, first, next)
            : tiles ? end_of_tiles(fuser, plan, u, from, next)
                    : next;
  end_parts(plan, all, end);
  return end;
}

/* The calls [first, next) are a group: where are they computed? */
static bool place_calls(const lgt_fuser *fuser, lgt_plan *plan, int first, int next, const int *last,
                        lgt_halo *margin) {
  lgt_plan_group *group = &plan->group[plan->ngroup];
  for (int i = first; i < next; i++) plan->call[i].wide = plan->call[i].launch;
  if (!group->turns) return true;
  bool good = lgt_widen_margins(fuser, plan, first, next, last, margin); /* as it was for more turns */
  lgt_assert(good);
  return lgt_widen_calls(fuser, plan, first, next, margin);
}

static void note_uses(lgt_plan *plan, int first, int next) {
  uint16_t touch = 0;
  for (int i = first; i < next; touch = (uint16_t)(touch + plan->call[i++].nargs)) {
    plan->call[i].touch = touch;
    for (int a = 0; a < plan->call[i].nargs; a++) {
      lgt_plan_root *root = &plan->root[plan->call[i].root[a]];
      if (root->first_group == LGT_NONE) root->first_group = (uint16_t)plan->ngroup;
      root->last_group = (uint16_t)plan->ngroup;
    }
  }
}

lgt_status lgt_group_calls(lgt_fuser *fuser, lgt_plan *plan) {
  plan->group = lgt_mem_zalloc(((size_t)plan->ncall + 1) * sizeof *plan->group);
  reaches all = {.root = lgt_mem_alloc(((size_t)plan->nroot + 1) * sizeof *all.root),
                 .member = lgt_mem_alloc(((size_t)plan->nroot + 1) * sizeof *all.member),
                 .margin = lgt_mem_alloc(MAX_GROUP_CALLS * sizeof *all.margin)};
  uses u;
  bool good = list_uses(plan, &u) && plan->group && all.root && all.member && all.margin;
  for (int r = 0; r < plan->nroot; r++) plan->root[r].first_group = LGT_NONE;
  if (good) forget_reaches(plan, &all);
  for (int r = 0; r < plan->nroot && good; r++) all.member[r].group = -1;
  for (int i = 0, next; i < plan->ncall && good; i = next) {
    lgt_plan_group *group = &plan->group[plan->ngroup];
    next = take_calls(fuser, plan, &all, &u, i);
    group->count = next - i;
    group->notes = lgt_mem_zalloc(sizeof *group->notes);
    if (good) good = place_calls(fuser, plan, i, next, u.last, all.margin);
    if (group->mixed) group->launch = lgt_partition_owners(fuser->solver.partitions, group->launch);
    good &= group->notes && group->launch;
    note_uses(plan, i, next);
    plan->ngroup++; /* in any case: it is to be freed with the others */
  }
  lgt_mem_free(u.first);
  lgt_mem_free(all.root);
  lgt_mem_free(all.member);
  lgt_mem_free(all.margin);
  if (!good) return lgt_no_memory_to_fuse();
  plan->fused_whole = !is_alone(fuser, &plan->call[0]);
  for (int g = 0; g + 1 < plan->ngroup && plan->fused_whole; g++)
    plan->fused_whole = is_of_tiles(plan->group[g].refusal);
  return LGT_OK;
}
