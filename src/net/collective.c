/* collective.c - see collective.h.
 *
 * A collective is a sequence of rounds.  A round begins at most two sends and two receives; when they are done it is
 * folded in, and the next begins.  What a round begins follows from its number, so nothing is built beforehand.
 */
#include "collective.h"

#include <stdio.h>
#include <string.h>

#include "base/dtype.h"
#include "kernel/loop.h"
#include "base/mem.h"

/* A rank's part of a reduction, from which on cutting it is faster than its many messages are slow. */
enum { SHARE_BYTES = 32 << 10 };

typedef struct collective_kind {
  const char *name;
  /* Begin the messages of this round; false if there is no such round. */
  bool (*begin)(lgt_collective *c, int round);
  /* They have arrived. */
  void (*fold)(lgt_collective *c, int round);
} collective_kind;

/* ---- running ------------------------------------------------------------------------------------------ */

/* Another length says that the data are not good. */
static void send_part(lgt_collective *c, int peer, const void *data, size_t bytes) {
  if (c->status) return;
  if (!c->good) data = &c->nothing, bytes = !bytes;
  c->status = lgt_transport_send_inner(c->transport, peer, c->tag, data, bytes, &c->request[c->nrequest]);
  if (!c->status) c->nrequest++;
}

static void recv_part(lgt_collective *c, int peer, void *data, size_t bytes) {
  if (c->status) return;
  lgt_request *r = &c->request[c->nrequest];
  r->done = false;
  c->status = lgt_transport_recv_inner(c->transport, peer, c->tag, data, bytes, r);
  if (r->done) c->status = LGT_OK; /* it is judged with the others */
  if (!c->status) c->nrequest++;
}

static void finish(lgt_collective *c) {
  lgt_stepper_remove(&c->stepper);
  c->done = true;
  bool copy = c->mine && c->good && !c->status;
  if (copy && c->mine != c->data) memcpy(c->data, c->mine, (size_t)c->n * (size_t)lgt_dtype_size(c->dtype));
  if (c->at && copy) memcpy(c->at, c->mine + c->bytes - (size_t)c->n * 8, (size_t)c->n * 8);
  lgt_mem_free(c->owned);
  c->owned = NULL;
}

/* The messages of the current round are done. */
static bool arrived(lgt_collective *c) {
  for (int i = 0; i < c->nrequest; i++)
    if (!c->request[i].done) return false;
  for (int i = 0; i < c->nrequest && !c->status; i++) {
    if (lgt_request_odd_length(&c->request[i])) c->good = false;
    else c->status = lgt_request_status(&c->request[i]);
  }
  return true;
}

static void cancel_receives(lgt_collective *c) {
  for (int i = 0; i < c->nrequest; i++)
    if (!c->request[i].sending && !c->request[i].done) lgt_transport_cancel(c->transport, &c->request[i]);
}

static bool advance(lgt_stepper *stepper) {
  lgt_collective *c = (lgt_collective *)((char *)stepper - offsetof(lgt_collective, stepper));
  bool any = false;
  while (arrived(c)) {
    any = true;
    if (c->round >= 0 && c->kind->fold && c->good && !c->status) c->kind->fold(c, c->round);
    c->nrequest = 0;
    if (c->status || !c->kind->begin(c, ++c->round)) return finish(c), true;
    if (c->status) cancel_receives(c); /* it failed half-way; what was sent leaves first */
  }
  return any;
}

static lgt_status begin(lgt_collective *c) {
  c->round = -1;
  c->stepper.advance = advance;
  lgt_transport_add(c->transport, &c->stepper);
  advance(&c->stepper);
  return c->done ? c->status : LGT_OK;
}

static bool is_done(void *context) { return ((const lgt_collective *)context)->done; }

static void describe(void *context, char *text, size_t room) {
  const lgt_collective *c = context;
  int i = 0;
  while (i < c->nrequest - 1 && c->request[i].done) i++;
  snprintf(text, room, "in %s of all ranks (tag %#llx) for rank %d", c->kind->name,
           (unsigned long long)c->tag, c->nrequest ? c->request[i].peer : -1);
}

lgt_status lgt_collective_wait(lgt_collective *c) {
  lgt_status status = lgt_transport_until_made(c->transport, is_done, describe, c);
  if (!c->done) {
    cancel_receives(c);
    finish(c);
  }
  return status ? status : c->status;
}

static lgt_status wait_begun(lgt_status begun, lgt_collective *c) {
  lgt_status status = begun ? begun : lgt_collective_wait(c);
  if (status || c->good) return status;
  return lgt_err(LGT_SYSTEM, "in %s of all ranks (tag %#llx) a message of another length came", c->kind->name,
                 (unsigned long long)c->tag);
}

static int rank_of(const lgt_collective *c) { return lgt_transport_rank(c->transport); }
static int size_of(const lgt_collective *c) { return lgt_transport_size(c->transport); }

/* ---- barrier ------------------------------------------------------------------------------------------- */

static bool barrier_begin(lgt_collective *c, int round) {
  int n = size_of(c), distance = 1 << round;
  if (distance >= n) return false;
  recv_part(c, (rank_of(c) - distance + n) % n, NULL, 0);
  send_part(c, (rank_of(c) + distance) % n, NULL, 0);
  return true;
}

lgt_status lgt_barrier_begin(lgt_transport *t, uint64_t tag, lgt_collective *out) {
  static const collective_kind barrier = {"a barrier", barrier_begin, NULL};
  *out = (lgt_collective){.transport = t, .kind = &barrier, .tag = tag, .good = true};
  return begin(out);
}

lgt_status lgt_barrier(lgt_transport *t, uint64_t tag) {
  lgt_collective c;
  return wait_begun(lgt_barrier_begin(t, tag, &c), &c);
}

/* ---- broadcast ------------------------------------------------------------------------------------------ */

/* With ranks counted from the root, v receives from v without its lowest bit, and sends to v + 2^k for all 2^k
 * below that bit, farthest first. */
static bool broadcast_begin(lgt_collective *c, int round) {
  int n = size_of(c), v = (rank_of(c) - c->root + n) % n, span = 1;
  while (span < n && !(v & span)) span <<= 1;
  if (v == 0) round++; /* the root does not receive */
  if (round == 0) return recv_part(c, (v - span + c->root) % n, c->data, c->bytes), true;
  int distance = span >> round;
  if (!distance) return false;
  if (v + distance < n) send_part(c, (v + distance + c->root) % n, c->data, c->bytes);
  return true;
}

lgt_status lgt_broadcast_begin(lgt_transport *t, uint64_t tag, int root, void *data, size_t bytes, bool good,
                               lgt_collective *out) {
  static const collective_kind broadcast = {"a broadcast", broadcast_begin, NULL};
  if (root < 0 || root >= lgt_transport_size(t))
    return lgt_err(LGT_BAD_ARGUMENT, "broadcast from rank %d of %d", root, lgt_transport_size(t));
  *out = (lgt_collective){
      .transport = t, .kind = &broadcast, .tag = tag, .root = root, .data = data, .bytes = bytes};
  out->good = good || lgt_transport_rank(t) != root;
  return begin(out);
}

lgt_status lgt_broadcast(lgt_transport *t, uint64_t tag, int root, void *data, size_t bytes) {
  lgt_collective c;
  return wait_begun(lgt_broadcast_begin(t, tag, root, data, bytes, true, &c), &c);
}

/* ---- allgather ------------------------------------------------------------------------------------------- */

/* Where the part of a rank begins; of a reduction: n elements cut evenly. */
static int64_t part_at(const lgt_collective *c, int rank) {
  if (c->offset) return c->offset[rank];
  int64_t whole = c->n / size_of(c), rest = c->n % size_of(c);
  return (whole * rank + (rank < rest ? rank : rest)) * lgt_dtype_size(c->dtype);
}

static size_t part_bytes(const lgt_collective *c, int first, int count) {
  return (size_t)(part_at(c, first + count) - part_at(c, first));
}

/* Send or receive the parts of ranks first ... first + count - 1, counted modulo n: one stretch of memory or two. */
static void parts(lgt_collective *c, void (*begin)(lgt_collective *, int, void *, size_t), int peer,
                  int first, int count) {
  int n = size_of(c), head = first + count <= n ? count : n - first;
  begin(c, peer, c->data + part_at(c, first), part_bytes(c, first, head));
  if (head < count) begin(c, peer, c->data, part_bytes(c, 0, count - head));
}

static void send_stretch(lgt_collective *c, int peer, void *data, size_t bytes) {
  send_part(c, peer, data, bytes);
}

/* Before round k each rank has its own part and those of the next 2^k - 1 ranks. */
static bool allgather_begin(lgt_collective *c, int round) {
  int n = size_of(c), r = rank_of(c), have = 1 << round;
  if (have >= n) return false;
  int count = have < n - have ? have : n - have;
  parts(c, recv_part, (r + have) % n, (r + have) % n, count);
  parts(c, send_stretch, (r - have + n) % n, r, count);
  return true;
}

lgt_status lgt_allgather_begin(lgt_transport *t, uint64_t tag, void *data, const int64_t *offset, bool good,
                               lgt_collective *out) {
  static const collective_kind allgather = {"an allgather", allgather_begin, NULL};
  *out = (lgt_collective){
      .transport = t, .kind = &allgather, .tag = tag, .data = data, .offset = offset, .good = good};
  return begin(out);
}

lgt_status lgt_allgather(lgt_transport *t, uint64_t tag, void *data, const int64_t *offset) {
  lgt_collective c;
  return wait_begun(lgt_allgather_begin(t, tag, data, offset, true, &c), &c);
}

/* ---- allreduce -------------------------------------------------------------------------------------------- */

/* What this rank does in a round. */
typedef struct step {
  int peer;
  bool send, recv;
  enum {
    KEEP,
    TAKE,
    LOWER,
    UPPER
  } fold; /* TAKE the peer's; or combine, the peer's on the LOWER or UPPER side */
} step;

static bool step_of(const lgt_collective *c, int round, step *out) {
  int n = size_of(c), r = rank_of(c), p = 1, rounds = 0;
  while (2 * p <= n) p *= 2, rounds++;
  int extra = n - p;
  bool paired = r < 2 * extra, idle = paired && r % 2;
  *out = (step){.peer = -1};
  if (extra) {
    int partner = r ^ 1;
    if (round == 0 && paired) *out = (step){partner, idle, !idle, idle ? KEEP : UPPER};
    if (round == rounds + 1 && paired) *out = (step){partner, !idle, idle, idle ? TAKE : KEEP};
    if (round == 0 || round == rounds + 1) return true;
    round--;
  }
  if (round >= rounds) return false;
  if (idle) return true;
  int v = paired ? r / 2 : r - extra, u = v ^ (1 << round);
  *out = (step){u < extra ? 2 * u : u + extra, true, true, u < v ? LOWER : UPPER};
  return true;
}

static bool allreduce_begin(lgt_collective *c, int round) {
  step s;
  if (!step_of(c, round, &s)) return false;
  if (s.recv) recv_part(c, s.peer, c->other, c->bytes);
  if (s.send) send_part(c, s.peer, c->mine, c->bytes);
  return true;
}

static void swap(lgt_collective *c) {
  char *other = c->other;
  c->other = c->mine;
  c->mine = other;
}

/* mine = mine op other.  The commonest scalars do without the general fold, which costs as much as their message. */
static void combine(lgt_collective *c) {
  if (c->n == 1 && c->redop == LGT_REDOP_SUM && c->dtype == LGT_FLOAT64) {
    *(double *)c->mine += *(const double *)c->other;
    return;
  }
  size_t positions = c->bytes - (size_t)c->n * 8;
  lgt_redop_fold(c->redop, c->dtype, c->mine, c->at ? c->mine + positions : NULL, c->other,
                 c->at ? c->other + positions : NULL, c->n);
}

static void allreduce_fold(lgt_collective *c, int round) {
  step s;
  step_of(c, round, &s);
  if (s.fold == TAKE || s.fold == LOWER) swap(c);
  if (s.fold == LOWER || s.fold == UPPER) combine(c);
}

/* ---- allreduce of many elements ------------------------------------------------------------------------------ */

/* In round k each rank sends rank + k's part there, and gets its own part of rank - k's data. */
static bool share_begin(lgt_collective *c, int round) {
  int n = size_of(c), r = rank_of(c), distance = round + 1;
  if (round >= n - 1) return allgather_begin(c, round - (n - 1));
  int to = (r + distance) % n, from = (r - distance + n) % n;
  recv_part(c, from, c->other + (int64_t)round * (int64_t)part_bytes(c, r, 1), part_bytes(c, r, 1));
  send_part(c, to, c->data + part_at(c, to), part_bytes(c, to, 1));
  return true;
}

/* This rank's part as rank q had it. */
static char *share_of(const lgt_collective *c, int q) {
  int n = size_of(c), r = rank_of(c);
  if (q == r) return c->data + part_at(c, r);
  return c->other + ((r - q + n) % n - 1) * (int64_t)part_bytes(c, r, 1);
}

/* All have come: combine them in the order that collective.h promises.  The values of a subtree end up in the
 * memory of its lowest rank's. */
static void share_fold(lgt_collective *c, int round) {
  int n = size_of(c), r = rank_of(c), p = 1;
  if (round != n - 2) return;
  int64_t count = (int64_t)part_bytes(c, r, 1) / lgt_dtype_size(c->dtype);
  while (2 * p <= n) p *= 2;
  int extra = n - p;
#define FOLD(a, b) lgt_redop_fold(c->redop, c->dtype, share_of(c, a), NULL, share_of(c, b), NULL, count)
#define RANK(v)    ((v) < extra ? 2 * (v) : (v) + extra)
  for (int v = 0; v < extra; v++) FOLD(2 * v, 2 * v + 1);
  for (int span = 1; span < p; span *= 2)
    for (int v = 0; v < p; v += 2 * span) FOLD(RANK(v), RANK(v + span));
#undef FOLD
#undef RANK
  if (r) memmove(share_of(c, r), share_of(c, 0), part_bytes(c, r, 1));
}

/* ---- allreduce of either kind -------------------------------------------------------------------------------- */

/* Memory: `data` itself and one more of its size; with positions two packed ones, values before positions. */
static lgt_status reduction_memory(lgt_collective *c) {
  size_t values = (size_t)c->n * (size_t)lgt_dtype_size(c->dtype), whole = (values + 7) / 8 * 8;
  c->bytes = c->at ? whole + (size_t)c->n * 8 : values;
  size_t need = c->at ? 2 * c->bytes : whole;
  char *memory = c->small;
  if (need > sizeof c->small) {
    memory = c->owned = lgt_mem_alloc(need);
    if (!memory) return lgt_err(LGT_NO_MEMORY, "out of memory for a reduction of %zu bytes", values);
  }
  c->other = memory;
  c->mine = c->data;
  if (!c->at) return LGT_OK;
  c->mine = memory + c->bytes;
  memset(c->mine, 0, c->bytes);
  memcpy(c->mine, c->data, values);
  memcpy(c->mine + whole, c->at, (size_t)c->n * 8);
  return LGT_OK;
}

lgt_status lgt_allreduce_begin(lgt_transport *t, uint64_t tag, int redop, int dtype, void *data, int64_t *at,
                               int64_t n, bool good, lgt_collective *out) {
  static const collective_kind few = {"an allreduce", allreduce_begin, allreduce_fold};
  static const collective_kind many = {"an allreduce", share_begin, share_fold};
  /* Complex sums are sums of their parts. */
  if (lgt_dtype_is_complex(dtype) && redop == LGT_REDOP_SUM) dtype = lgt_dtype_part(dtype), n *= 2;
  bool positions = redop == LGT_REDOP_ARGMIN || redop == LGT_REDOP_ARGMAX;
  if (positions != (at != NULL))
    return lgt_err(LGT_BAD_ARGUMENT, "allreduce by %s %s positions", lgt_redop_name(redop),
                   at ? "takes no" : "needs");
  if (lgt_dtype_is_pair(dtype))
    return lgt_err(LGT_BAD_DTYPE, "allreduce by %s of %s", lgt_redop_name(redop), lgt_dtype_name(dtype));
  bool shared = !at && n * lgt_dtype_size(dtype) / lgt_transport_size(t) >= SHARE_BYTES;
  *out = (lgt_collective){.transport = t,
                          .kind = shared ? &many : &few,
                          .tag = tag,
                          .good = good,
                          .redop = redop,
                          .dtype = dtype,
                          .data = data,
                          .at = at,
                          .n = n};
  lgt_status status = reduction_memory(out);
  return status ? status : begin(out);
}

lgt_status lgt_allreduce(lgt_transport *t, uint64_t tag, int redop, int dtype, void *data, int64_t *at,
                         int64_t n) {
  lgt_collective c;
  return wait_begun(lgt_allreduce_begin(t, tag, redop, dtype, data, at, n, true, &c), &c);
}
