/* peers.c - ranks that are not there.  See peers.h: lgt_peers_pretend. */
#include "move/peers.h"

#include <sched.h>
#include <string.h>

static char at_once; /* every message is done when it begins */

static lgt_pending *done_at_once(void) { return (lgt_pending *)&at_once; }

static lgt_pending *send_none(lgt_peers *p, int peer, uint64_t tag, const void *data, size_t bytes) {
  (void)p, (void)peer, (void)tag, (void)data, (void)bytes;
  return done_at_once();
}
static lgt_pending *recv_none(lgt_peers *p, int peer, uint64_t tag, void *data, size_t bytes) {
  (void)p, (void)peer, (void)tag, (void)data, (void)bytes;
  return done_at_once();
}
static lgt_pending *broadcast_own(lgt_peers *p, uint64_t tag, int root, void *data, size_t bytes, bool good) {
  (void)p, (void)tag, (void)root, (void)data, (void)bytes, (void)good;
  return done_at_once();
}
static lgt_pending *allreduce_own(lgt_peers *p, uint64_t tag, int redop, int dtype, void *data, int64_t *at,
                                  int64_t n, bool good) {
  (void)p, (void)tag, (void)redop, (void)dtype, (void)data, (void)at, (void)n, (void)good;
  return done_at_once();
}
static lgt_pending *allgather_own(lgt_peers *p, uint64_t tag, void *data, const int64_t *offset, bool good) {
  (void)p, (void)tag, (void)data, (void)offset, (void)good;
  return done_at_once();
}

static bool done(lgt_peers *p, lgt_pending *pending, bool *intact) {
  (void)p, (void)pending;
  return *intact = true;
}
static bool progress(lgt_peers *p) { return (void)p, false; }
static void until(lgt_peers *p, bool (*ready)(void *), void *context, const char *what) {
  (void)p, (void)what;
  while (!ready(context)) sched_yield();
}
static void wake(lgt_peers *p) { (void)p; }
static bool checkpoint(lgt_peers *p) { return (void)p, false; }
static void note(lgt_peers *p, const lgt_operation *operation) { (void)p, (void)operation; }
/* One for all texts: nobody asks. */
static uint32_t name(lgt_peers *p, const char *text) { return (void)p, (void)text, 1; }
static void give_up(lgt_peers *p, const char *reason) {
  (void)p;
  lgt_err(LGT_SYSTEM, "%s", reason);
}

lgt_peers *lgt_peers_pretend(int rank, int size) {
  lgt_peers *p = lgt_mem_zalloc(sizeof *p);
  if (!p) return NULL;
  *p = (lgt_peers){.rank = rank,
                   .size = size,
                   .how = "--pretend-ranks",
                   .send = send_none,
                   .recv = recv_none,
                   .broadcast = broadcast_own,
                   .allreduce = allreduce_own,
                   .allgather = allgather_own,
                   .done = done,
                   .progress = progress,
                   .until = until,
                   .wake = wake,
                   .checkpoint = checkpoint,
                   .note = note,
                   .name = name,
                   .abort = give_up};
  return p;
}
