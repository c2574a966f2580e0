/* peers.c - see net.h: lgt_net_peers.
 *
 * What the core gets as an lgt_pending is a request or a collective, in memory that is used again.  Errors of the
 * network end the run here, since the core could do nothing about them; a message of an unexpected length is none.
 */
#include "move/peers.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "net.h"

#define ABREAST_TAG (2 * LGT_PEERS_TAGS - 2)

struct lgt_pending {
  bool alone; /* a message, not a collective */
  union {
    lgt_request request;
    lgt_collective collective;
    lgt_pending *next; /* of those that are free */
  };
};

static lgt_net *net_of(lgt_peers *peers) { return (lgt_net *)((char *)peers - offsetof(lgt_net, peers)); }

static uint64_t outer_tag(uint64_t tag) { return tag & (((uint64_t)1 << LGT_TAG_BITS) - 1); }

/* Of one peer (alone), or of all ranks. */
static lgt_pending *take(lgt_net *net, bool alone) {
  lgt_pending *t = net->spare;
  if (t) net->spare = t->next;
  else if (!(t = lgt_mem_alloc(sizeof *t))) lgt_err(LGT_NO_MEMORY, "out of memory for a message");
  if (t) t->request.done = false, t->alone = alone;
  return t;
}

static void give(lgt_net *net, lgt_pending *t) {
  t->next = net->spare;
  net->spare = t;
}

/* A message or collective that has begun; NULL when out of memory. */
static lgt_pending *begun(lgt_net *net, lgt_pending *t, lgt_status status) {
  if (!status) return t;
  if (status != LGT_NO_MEMORY) lgt_net_abort(net, lgt_message());
  give(net, t);
  return NULL;
}

/* ---- the table ------------------------------------------------------------------------------------------ */

static lgt_pending *peers_send(lgt_peers *peers, int peer, uint64_t tag, const void *data, size_t bytes) {
  lgt_net *net = net_of(peers);
  lgt_pending *t = take(net, true);
  if (!t) return NULL;
  return begun(net, t, lgt_transport_send(net->transport, peer, outer_tag(tag), data, bytes, &t->request));
}

static lgt_pending *peers_recv(lgt_peers *peers, int peer, uint64_t tag, void *data, size_t bytes) {
  lgt_net *net = net_of(peers);
  lgt_pending *t = take(net, true);
  if (!t) return NULL;
  lgt_status status = lgt_transport_recv(net->transport, peer, outer_tag(tag), data, bytes, &t->request);
  return begun(net, t, t->request.done ? LGT_OK : status); /* `done` judges what has come already */
}

static lgt_pending *peers_broadcast(lgt_peers *peers, uint64_t tag, int root, void *data, size_t bytes,
                                    bool good) {
  lgt_net *net = net_of(peers);
  lgt_pending *t = take(net, false);
  if (!t) return NULL;
  return begun(net, t,
               lgt_broadcast_begin(net->transport, outer_tag(tag), root, data, bytes, good, &t->collective));
}

static lgt_pending *peers_allreduce(lgt_peers *peers, uint64_t tag, int redop, int dtype, void *data,
                                    int64_t *at, int64_t n, bool good) {
  lgt_net *net = net_of(peers);
  lgt_pending *t = take(net, false);
  if (!t) return NULL;
  return begun(
      net, t,
      lgt_allreduce_begin(net->transport, outer_tag(tag), redop, dtype, data, at, n, good, &t->collective));
}

static lgt_pending *peers_allgather(lgt_peers *peers, uint64_t tag, void *data, const int64_t *offset,
                                    bool good) {
  lgt_net *net = net_of(peers);
  lgt_pending *t = take(net, false);
  if (!t) return NULL;
  return begun(net, t,
               lgt_allgather_begin(net->transport, outer_tag(tag), data, offset, good, &t->collective));
}

static bool peers_done(lgt_peers *peers, lgt_pending *t, bool *intact) {
  lgt_net *net = net_of(peers);
  if (!(t->alone ? t->request.done : t->collective.done)) return false;
  *intact = t->alone ? !lgt_request_odd_length(&t->request) : t->collective.good;
  lgt_status status = LGT_OK;
  if (!t->alone) status = t->collective.status;
  else if (*intact) status = lgt_request_status(&t->request);
  if (status) lgt_net_abort(net, lgt_message());
  give(net, t);
  return true;
}

static bool peers_progress(lgt_peers *peers) { return lgt_transport_progress(net_of(peers)->transport); }

static void peers_until(lgt_peers *peers, bool (*ready)(void *), void *context, const char *what) {
  lgt_net *net = net_of(peers);
  if (lgt_transport_until(net->transport, ready, context, what)) lgt_net_abort(net, lgt_message());
}

static void peers_wake(lgt_peers *peers) { lgt_transport_wake(net_of(peers)->transport); }

static bool is_decided(void *context) {
  return atomic_load_explicit(&((lgt_control *)context)->stopping, memory_order_acquire) != LGT_STOPPING;
}

static bool peers_checkpoint(lgt_peers *peers) {
  lgt_control *control = net_of(peers)->control;
  uint64_t checkpoint = lgt_control_checkpoint(control);
  if (!checkpoint) return false;
  peers_until(peers, is_decided, control, "for all ranks to stop after Ctrl-C");
  return lgt_control_stops(control, checkpoint);
}

/* As an operation of its own: if it has happened on all ranks, here, all go on; else it is what differs. */
static void note_mishap(lgt_net *net, uint32_t line) {
  const char *what = net->mishap;
  net->mishap = NULL;
  lgt_control_note(net->control,
                   &(lgt_operation){.token = 0x6d6973686170, .line = line, .what = lgt_net_line(net, what)});
}

/* How many operations a rank may be ahead of another is at most twice this.  What a rank sends to one that has not come
 * so far waits there, and takes 8 KB of shared memory for each message however short: a loop over os.time(), which
 * rank 0 sends and waits for nobody, would fill a machine's within a second. */
enum { LEAD = 1024 };

static bool has_met(void *context) {
  lgt_net *net = context;
  while (!net->abreast.done && net->peers.attend && net->peers.attend(net->peers.attend_context)) {}
  return net->abreast.done;
}

void lgt_net_meet(lgt_net *net) {
  if (!net->abreast.transport) return;
  peers_until(&net->peers, has_met, net, "for all ranks to have come so far");
  if (net->abreast.status) lgt_net_abort(net, lgt_message());
}

static void keep_abreast(lgt_net *net) {
  lgt_net_meet(net);
  net->ahead = 0;
  if (lgt_barrier_begin(net->transport, ABREAST_TAG, &net->abreast)) lgt_net_abort(net, lgt_message());
}

static void peers_note(lgt_peers *peers, const lgt_operation *operation) {
  lgt_net *net = net_of(peers);
  if (__builtin_expect(++net->ahead == LEAD, 0)) keep_abreast(net);
  if (__builtin_expect(net->mishap != NULL, 0)) note_mishap(net, operation->line);
  lgt_control_note(net->control, operation);
}

static uint32_t peers_name(lgt_peers *peers, const char *text) { return lgt_net_line(net_of(peers), text); }

static void peers_abort(lgt_peers *peers, const char *reason) { lgt_net_abort(net_of(peers), reason); }

void lgt_net_line_text(void *context, uint32_t line, char *text, size_t room) {
  const lgt_net *net = context;
  const lgt_peers *peers = &net->peers;
  const char *known = NULL;
  if (line >= LGT_NET_LINES) known = net->line[line - LGT_NET_LINES];
  else if (line && peers->line_text) known = peers->line_text(peers->line_context, line);
  snprintf(text, room, "%s", known ? known : "an unknown line");
}

lgt_peers *lgt_net_peers(lgt_net *net) {
  lgt_peers *p = &net->peers;
  p->rank = net->rank, p->size = net->size, p->how = net->how;
  p->send = peers_send, p->recv = peers_recv;
  p->broadcast = peers_broadcast, p->allreduce = peers_allreduce, p->allgather = peers_allgather;
  p->done = peers_done, p->progress = peers_progress;
  p->until = peers_until, p->wake = peers_wake;
  p->checkpoint = peers_checkpoint;
  p->note = peers_note, p->name = peers_name, p->abort = peers_abort;
  return p;
}

lgt_net *lgt_net_of(lgt_peers *peers) { return peers && peers->send == peers_send ? net_of(peers) : NULL; }

uint32_t lgt_net_line(lgt_net *net, const char *text) {
  for (int i = net->nline - 1; i >= 0; i--) /* a program has few */
    if (!strcmp(net->line[i], text)) return LGT_NET_LINES + (uint32_t)i;
  if (!lgt_mem_grow((void **)&net->line, &net->line_room, net->nline + 1, sizeof *net->line)) return 0;
  if (!(net->line[net->nline] = lgt_mem_strdup(text))) return 0;
  return LGT_NET_LINES + (uint32_t)net->nline++;
}

void lgt_net_drop_peers(lgt_net *net) {
  for (lgt_pending *t = net->spare, *next; t; t = next) {
    next = t->next;
    lgt_mem_free(t);
  }
  net->spare = NULL;
  for (int i = 0; i < net->nline; i++) lgt_mem_free(net->line[i]);
  lgt_mem_free(net->line);
}
