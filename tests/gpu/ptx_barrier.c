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

void ptx_barrier_arrive(ptx_warp *w, const ptx_inst *i, uint32_t lanes, uint32_t group) {
  ptx_block *b = w->block;
  int first = __builtin_ctz(lanes);
  if (i->saturate && (lanes != group || lanes != w->live)) {
    uint32_t others = w->live & ~lanes;
    ptx_fault(w, first, "a barrier in divergent code: lane %d is not here", __builtin_ctz(others));
    return;
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
    int l = __builtin_ctz(left);
    w->pc[l] = w->at;
    w->barrier[l] = (uint8_t)number;
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

void ptx_stuck(ptx_block *b) {
  for (int k = 0; k < b->warps; k++) {
    ptx_warp *w = &b->warp[k];
    uint32_t lanes = w->waiting & w->live;
    if (!lanes) lanes = w->parked & w->live;
    if (!lanes) continue;
    int l = __builtin_ctz(lanes);
    w->at = w->pc[l];
    ptx_fault(w, l,
              w->waiting & w->live ? "waits for lanes of its warp that never come"
                                   : "waits at a barrier for threads that never come");
    return;
  }
}
