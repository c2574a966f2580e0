/* ptx_warp_run.c - the interpreter's loop: a warp, a group of its lanes at a time.
 *
 * A group is the lanes with the same program counter at the same depth of calls.  The deepest and then the one furthest
 * behind runs, until it reaches the place of another group (`meet`), which joins it, or its slice ends.  Now and then
 * another group is chosen, since lanes may wait for each other in a loop.
 */
#include "ptx_inner.h"

typedef struct {
  uint32_t lanes, pc, meet;
} group;

static void pick(ptx_warp *w, group *g, bool any) {
  uint32_t ready = ready_lanes(w), best = (uint32_t)__builtin_ctz(ready);
  if (any) {
    uint32_t skip = (uint32_t)ptx_random(&w->run->random) & 31;
    while (!(ready >> (best = skip++ & 31) & 1)) continue;
  } else
    for (uint32_t left = ready; left; left &= left - 1) {
      uint32_t l = (uint32_t)__builtin_ctz(left);
      if (w->depth[l] > w->depth[best] || (w->depth[l] == w->depth[best] && w->pc[l] < w->pc[best])) best = l;
    }
  *g = (group){0, w->pc[best], UINT32_MAX};
  for (uint32_t left = ready; left; left &= left - 1) {
    int l = __builtin_ctz(left);
    if (w->depth[l] != w->depth[best]) continue;
    if (w->pc[l] == g->pc) g->lanes |= 1u << l;
    else if (w->pc[l] > g->pc && w->pc[l] < g->meet) g->meet = w->pc[l];
  }
  w->level = w->depth[best];
  w->frame = &w->frames[w->level];
  const ptx_run_state *r = w->run;
  uint64_t depot = w->level ? r->f->local_bytes + (uint64_t)(w->level - 1) * r->m->most_local : 0;
  for (int l = 0; l < LANES; l++) w->special[SPECIAL_DEPOT].lane[l] = depot;
}

static void set_pcs(ptx_warp *w, uint32_t lanes, uint32_t pc) {
  for (uint32_t left = lanes; left; left &= left - 1) w->pc[__builtin_ctz(left)] = pc;
}

/* ---- Waits for memory ---- */

/* The lanes need something that is coming; so all else that is comes, too. */
static void wait_for_memory(ptx_warp *w, uint32_t lanes) {
  uint64_t *most = &w->run->counts.waits;
  int kept = 0;
  for (int k = 0; k < w->lates; k++)
    if (*w->late[k] &= ~lanes) w->late[kept++] = w->late[k];
  w->lates = kept;
  for (uint32_t left = lanes; left; left &= left - 1) {
    uint64_t n = ++w->waits[__builtin_ctz(left)];
    if (n > *most) *most = n;
  }
}

/* The instruction has written its results, those of w->far from global memory. */
static void note_coming(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  for (int k = 0; k < i->nd; k++) {
    uint32_t *coming = &w->frame->coming[i->d[k]];
    *coming = (*coming & ~lanes) | w->far;
    if (w->far && w->lates < MOST_LATE) w->late[w->lates++] = coming;
    else if (w->far) *coming = 0;
  }
  w->far = 0;
}

/* ---- What was never written ---- */

static uint32_t missing_value(const ptx_warp *w, ptx_ref ref, uint32_t lanes) {
  return ref >= 0 && ref < SPECIAL_BASE ? lanes & ~w->frame->defined[ref] : 0;
}

/* Lanes whose result is as unwritten as what it comes from; after a fault all. */
static uint32_t unwritten(ptx_warp *w, const ptx_inst *i, uint32_t lanes, uint32_t values, uint32_t preds) {
  if (w->run->launch->unchecked & PTX_NO_UNWRITTEN) return 0;
  if (!i->copies || (i->copies == 2 && preds)) {
    uint32_t lane = values ? values : preds;
    ptx_fault(w, __builtin_ctz(lane), "a %s is read that was never written",
              values ? "register" : "predicate");
    return lanes;
  }
  if (i->copies == 1) return values | preds;
  uint32_t first = pred_of(w, i->sp);
  return missing_value(w, i->s[0], lanes & first) | missing_value(w, i->s[1], lanes & ~first);
}

static void written(ptx_warp *w, const ptx_inst *i, uint32_t lanes, uint32_t missing) {
  ptx_frame *f = w->frame;
  for (int k = 0; k < i->nd; k++) f->defined[i->d[k]] = (f->defined[i->d[k]] | lanes) & ~missing;
  if (i->dp >= 0) f->pdefined[i->dp] = (f->pdefined[i->dp] | lanes) & ~missing;
  if (i->dq >= 0) f->pdefined[i->dq] |= lanes;
}

/* Lanes that read a register or predicate that was never written; those whose result is as unwritten are in `missing`. */
static bool reads_written(ptx_warp *w, const ptx_inst *i, uint32_t lanes, uint32_t *missing) {
  const ptx_frame *f = w->frame;
  uint32_t values = 0, preds = 0, coming = 0;
  for (int k = 0; k < i->nreads; k++) {
    values |= ~f->defined[i->reads[k]];
    coming |= f->coming[i->reads[k]];
  }
  if (coming & lanes) wait_for_memory(w, coming & lanes);
  for (int k = 0; k < i->npreads; k++) preds |= ~f->pdefined[i->preads[k]];
  *missing = (values | preds) & lanes ? unwritten(w, i, lanes, values & lanes, preds & lanes) : 0;
  return !w->run->failed;
}

static void run_handler(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  uint32_t missing;
  if (!lanes || !reads_written(w, i, lanes, &missing)) return;
  i->run(w, i, lanes);
  written(w, i, lanes, missing);
  note_coming(w, i, lanes);
}

/* The lanes for which the guard holds. */
static uint32_t guarded(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  if (i->guard < 0) return lanes;
  uint32_t missing = lanes & ~w->frame->pdefined[i->guard >> 1];
  if (missing && !(w->run->launch->unchecked & PTX_NO_UNWRITTEN))
    ptx_fault(w, __builtin_ctz(missing), "a predicate is read that was never written");
  return lanes & pred_of(w, i->guard);
}

/* ---- Calls ---- */

static void call(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  const ptx_function *f = &w->run->m->functions[i->target];
  int level = w->level + 1;
  if (level == MAX_DEPTH) {
    ptx_fault(w, __builtin_ctz(lanes), "calls are nested more than %d deep", MAX_DEPTH);
    return;
  }
  ptx_frame_enter(w, level, lanes);
  if (w->run->failed) return;
  const ptx_frame *from = &w->frames[level - 1];
  ptx_frame *to = &w->frames[level];
  for (uint32_t left = lanes; left; left &= left - 1) {
    int l = __builtin_ctz(left);
    for (int k = 0; k < f->params; k++)
      memcpy(to->param + (size_t)l * to->param_stride + f->param[k].offset,
             from->param + (size_t)l * from->param_stride + i->list[k], f->param[k].bytes);
    to->back[l] = w->at + 1;
    w->depth[l] = (uint8_t)level;
  }
  set_pcs(w, lanes, f->start);
}

static void give_back(ptx_warp *w, int l) {
  ptx_frame *from = &w->frames[w->level], *to = &w->frames[w->level - 1];
  const ptx_inst *i = &w->run->m->code[from->back[l] - 1];
  const ptx_function *f = &w->run->m->functions[i->target];
  if (f->results && i->list[f->params] >= 0)
    memcpy(to->param + (size_t)l * to->param_stride + i->list[f->params],
           from->param + (size_t)l * from->param_stride + f->param[f->params].offset,
           f->param[f->params].bytes);
  w->pc[l] = from->back[l];
  w->depth[l] = (uint8_t)(w->level - 1);
}

static void leave(ptx_warp *w, uint32_t lanes, bool all) {
  if (all || !w->level) {
    ptx_exited(w, lanes);
    return;
  }
  for (uint32_t left = lanes; left; left &= left - 1) give_back(w, __builtin_ctz(left));
}

/* ---- Control ---- */

static void branch_indexed(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  const uint64_t *x = in(w, i->s[0]);
  for (uint32_t left = lanes; left; left &= left - 1) {
    int l = __builtin_ctz(left);
    if ((uint32_t)x[l] >= (uint32_t)i->lists) {
      ptx_fault(w, l, "brx.idx: index %u of %d targets", (uint32_t)x[l], i->lists);
      return;
    }
    w->pc[l] = (uint32_t)i->list[(uint32_t)x[l]];
  }
}

/* The mask is that of the first lane; lanes with another one come here again by themselves. */
static void together(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  const uint64_t *masks = in(w, i->s[i->ns - 1]);
  uint32_t mask = (uint32_t)masks[__builtin_ctz(lanes)], here = 0;
  for (uint32_t left = lanes; left; left &= left - 1) {
    int l = __builtin_ctz(left);
    if (!((uint32_t)masks[l] >> l & 1)) {
      ptx_fault(w, l, "the lane is not in its mask 0x%08x", (uint32_t)masks[l]);
      return;
    }
    if ((uint32_t)masks[l] == mask) here |= 1u << l;
  }
  set_pcs(w, lanes, w->at);
  for (uint32_t left = w->waiting; left; left &= left - 1) {
    int l = __builtin_ctz(left);
    if (w->pc[l] == w->at && w->depth[l] == w->level && (uint32_t)masks[l] == mask) here |= 1u << l;
  }
  uint32_t needed = mask & w->live;
  if (needed & ~here) {
    w->waiting |= here & lanes;
    return;
  }
  w->waiting &= ~needed;
  run_handler(w, i, needed);
  set_pcs(w, needed, w->at + 1);
}

static void control(ptx_warp *w, const ptx_inst *i, uint32_t lanes, uint32_t rest) {
  set_pcs(w, rest, w->at + 1);
  switch (i->control) {
    case BRANCH:
      set_pcs(w, lanes, i->target);
      break;
    case BRANCH_INDEXED:
      branch_indexed(w, i, lanes);
      break;
    case CALL:
      call(w, i, lanes);
      break;
    case RET:
      leave(w, lanes, false);
      break;
    case EXIT:
      leave(w, lanes, true);
      break;
    case TRAP:
      ptx_fault(w, __builtin_ctz(lanes), "trap");
      break;
    case YIELD:
      set_pcs(w, lanes, w->at + 1);
      break;
    case BARRIER:
      ptx_barrier_arrive(w, i, lanes);
      break;
    case TOGETHER:
      together(w, i, lanes);
      break;
  }
}

/* Up to `slice` instructions of the group; what is left of the slice. */
static int run_group(ptx_warp *w, group *g, int slice) {
  const ptx_inst *code = w->run->m->code;
  uint32_t lanes = g->lanes, pc = g->pc, threads = (uint32_t)__builtin_popcount(lanes), missing;
  while (slice-- > 0) {
    const ptx_inst *i = &code[pc];
    w->at = pc;
    w->run->count += threads;
    w->run->counts.doubles += threads * i->doubles;
    uint32_t on = guarded(w, i, lanes);
    if (w->run->failed) return 0;
    if (i->control == PLAIN) {
      run_handler(w, i, on);
      pc++;
    } else if (!on) pc++;
    else if (i->control == BRANCH && on == lanes) pc = i->target;
    else {
      if (reads_written(w, i, on, &missing)) control(w, i, on, lanes & ~on);
      return i->control == YIELD ? 0 : slice;
    }
    if (w->run->failed) return 0;
    if (pc >= g->meet) break;
  }
  set_pcs(w, lanes, pc);
  return slice;
}

bool ptx_warp_run(ptx_warp *w, int slice) {
  while (slice > 0 && !w->run->failed && ready_lanes(w)) {
    group g;
    pick(w, &g, (ptx_random(&w->run->random) & 7) == 0);
    slice = run_group(w, &g, slice);
  }
  return ready_lanes(w) != 0;
}
