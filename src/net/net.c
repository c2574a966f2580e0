/* net.c - see net.h. */
#include "net.h"

#include "kernel/loop.h"
#include "base/mem.h"

enum { LEAVE = 0x4c454156 /* the token of leaving */ };
#define LEAVE_TAG (2 * LGT_PEERS_TAGS - 1)

lgt_status lgt_net_open(const lgt_net_options *options, lgt_wireup *wireup, lgt_net **out) {
  lgt_net *net = lgt_mem_zalloc(sizeof *net);
  if (!net) return lgt_err(LGT_NO_MEMORY, "out of memory while joining the run");
  lgt_control_options control = options->control;
  if (!control.line_text) control.line_text = lgt_net_line_text, control.context = net;
  net->how = wireup->how;
  lgt_status status = lgt_control_open(&control, wireup, &net->control);
  if (!status) status = lgt_transport_open(net->control, options->tcp, &net->transport);
  if (status) {
    if (net->control) lgt_control_abort(net->control, lgt_message());
    lgt_net_free(net);
    return status;
  }
  net->rank = net->control->rank;
  net->size = net->control->size;
  *out = net;
  return LGT_OK;
}

static bool never(void *context) { return (void)context, false; }

_Noreturn void lgt_net_disagree(lgt_net *net, const char *what) {
  lgt_control_report(net->control, what);
  lgt_transport_until(net->transport, never, NULL,
                      what); /* the hub finds where they differ, and ends the run */
  lgt_net_abort(net, lgt_message());
}

uint64_t lgt_net_history(const lgt_net *net) {
  return net->control->stream.hash ^ net->control->stream.position;
}

/* Have all ranks issued the same stream? */
static lgt_status compare_streams(lgt_net *net) {
  uint64_t both[2] = {lgt_net_history(net), ~lgt_net_history(net)};
  lgt_status status = lgt_allreduce(net->transport, LEAVE_TAG, LGT_REDOP_AND, LGT_UINT64, both, NULL, 2);
  if (!status && (both[0] ^ both[1]) != UINT64_MAX)
    lgt_net_disagree(net, "for the ranks to agree on how they end");
  return status;
}

static bool all_left(void *context) {
  return atomic_load_explicit(&((lgt_control *)context)->finished, memory_order_acquire);
}

lgt_status lgt_net_leave(lgt_net *net, uint32_t line) {
  net->left = true;
  lgt_control_note(net->control,
                   &(lgt_operation){.token = LEAVE, .line = line, .what = lgt_net_line(net, "the end")});
  lgt_status status = compare_streams(net);
  if (status) return status;
  lgt_net_meet(net); /* all have been there */
  lgt_transport_leave(net->transport);
  lgt_control_leave(net->control);
  status = lgt_transport_until(net->transport, all_left, net->control, "for the other ranks to end");
  if (!status) lgt_control_left(net->control);
  return status;
}

void lgt_net_free(lgt_net *net) {
  if (!net) return;
  lgt_net_drop_peers(net);
  lgt_transport_close(net->transport);
  lgt_control_close(net->control);
  lgt_mem_free(net);
}

_Noreturn void lgt_net_abort(lgt_net *net, const char *reason) { lgt_control_abort(net->control, reason); }
