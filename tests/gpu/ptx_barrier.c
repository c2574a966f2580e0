/* ptx_barrier.c - barriers of a block, and threads that wait for what does not come.
 *
 * All threads of the block take part in a barrier.  A thread that has exited never comes: older chips hang then, later
 * ones go on, so it is a mistake here.
 */
#include "ptx_inner.h"

static void release(ptx_block *b, int number) {
  ptx_barrier *a = &b->barrier[number];
  for (int k = 0; k < b->warps; k++) {
    ptx_warp *w = &b->warp[k];
    for (uint32_t left = w->parked; left; left &= left - 1) {
      int l = __builtin_ctz(left);
      uint32_t lane = 1u << l;
      if (w->barrier[l] != number) continue;
      const ptx_inst *i = &w->run->m->code[w->pc[l]];
      ptx_frame *f = &w->frames[w->depth[l]];
      if (i->op == BARRIER_POPC) {
        f->value[(size_t)i->d[0] * LANES + l] = a->ones;
        f->defined[i->d[0]] |= lane;
      } else if (i->op != BARRIER_SYNC && i->dp >= 0) {
        bool yes = i->op == BARRIER_AND ? a->ones == b->threads : a->ones != 0;
        f->pred[i->dp] = (f->pred[i->dp] & ~lane) | (yes ? lane : 0);
        f->pdefined[i->dp] |= lane;
      }
      w->pc[l]++;
      w->parked &= ~lane;
    }
  }
  *a = (ptx_barrier){0, 0};
  b->tick++;
  ptx_order_barrier(b);
  b->barrier_tick = b->tick;
}

/* The number of the barrier, the same for all lanes; -1 after a fault. */
static int barrier_number(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  int first = __builtin_ctz(lanes);
  uint64_t number = in(w, i->s[0])[first];
  uint64_t count = i->ns > 1 ? in(w, i->s[1])[first] : w->block->threads;
  for (uint32_t left = lanes; left; left &= left - 1)
    if (in(w, i->s[0])[__builtin_ctz(left)] != number) {
      ptx_fault(w, __builtin_ctz(left), "lanes of a warp at different barriers");
      return -1;
    }
  uint64_t all = (w->block->threads + LANES - 1) / LANES * LANES;
  if (number >= BARRIERS)
    ptx_fault(w, first, "barrier %llu: there are %d", (unsigned long long)number, BARRIERS);
  else if (count != w->block->threads && count != all)
    ptx_fault(w, first, "a barrier for %llu of %u threads, which is not emulated", (unsigned long long)count,
              w->block->threads);
  return w->run->failed ? -1 : (int)number;
}

void ptx_barrier_arrive(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  ptx_block *b = w->block;
  int first = __builtin_ctz(lanes);
  for (uint32_t left = lanes; left; left &= left - 1) w->pc[__builtin_ctz(left)] = w->at;
  if (i->saturate) { /* all lanes of the warp come to the same instruction */
    for (uint32_t left = w->waiting; left; left &= left - 1) {
      int l = __builtin_ctz(left);
      if (w->pc[l] == w->at && w->depth[l] == w->level) lanes |= 1u << l;
    }
    if (lanes != w->live) {
      w->waiting |= lanes;
      return;
    }
    w->waiting = 0;
  }
  if (b->live != b->threads) {
    ptx_fault(w, first, "a barrier that %u of %u threads cannot reach: they have exited",
              b->threads - b->live, b->threads);
    return;
  }
  int number = barrier_number(w, i, lanes);
  if (number < 0) return;
  if (i->op != BARRIER_SYNC)
    b->barrier[number].ones += (uint32_t)__builtin_popcount(pred_of(w, i->sp) & lanes);
  for (uint32_t left = lanes; left; left &= left - 1) {
    w->barrier[__builtin_ctz(left)] = (uint8_t)number;
  }
  w->parked |= lanes;
  b->barrier[number].arrived += (uint32_t)__builtin_popcount(lanes);
  w->run->counts.barriers += b->barrier[number].arrived == b->threads;
  if (b->barrier[number].arrived == b->threads) release(b, number);
}

void ptx_exited(ptx_warp *w, uint32_t lanes) {
  ptx_block *b = w->block;
  w->live &= ~lanes;
  w->waiting = 0; /* who waits for these lanes looks again */
  b->live -= (uint32_t)__builtin_popcount(lanes);
  for (int k = 0; k < BARRIERS; k++)
    if (b->barrier[k].arrived) {
      ptx_fault(w, __builtin_ctz(lanes), "the thread ends while others wait at a barrier for it");
      return;
    }
}

static void stuck_warp(ptx_warp *w) {
  uint32_t lanes = w->waiting & w->live;
  if (!lanes) {
    int l = __builtin_ctz(w->parked);
    w->at = w->pc[l];
    ptx_fault(w, l, "waits at a barrier for threads that never come");
    return;
  }
  int l = __builtin_ctz(lanes);
  w->at = w->pc[l];
  uint32_t others = w->live;
  for (uint32_t left = lanes; left; left &= left - 1)
    if (w->pc[__builtin_ctz(left)] == w->at) others &= ~(1u << __builtin_ctz(left));
  int other = others ? __builtin_ctz(others) : l;
  bool barrier = w->run->m->code[w->at].control == BARRIER;
  ptx_fault(w, l, "%s: lane %d is at line %u and does not come here",
            barrier ? "a barrier in divergent code" : "waits for lanes of its warp", other,
            w->run->m->code[w->pc[other]].line);
}

void ptx_stuck(ptx_block *b) {
  for (int pass = 0; pass < 2; pass++) /* those who wait within a warp say more */
    for (int k = 0; k < b->warps; k++) {
      ptx_warp *w = &b->warp[k];
      if ((pass ? w->parked : w->waiting) & w->live) {
        stuck_warp(w);
        return;
      }
    }
}
