/* net.h - a run of several ranks, as the runtime sees it: join, leave, and fail together.
 *
 *   wireup      who takes part, where the hub is          launch      forks the ranks of `lgt -n N`
 *   wire hub    frames; the middle of the star            control     a rank's line to it: alive, aborted, diverged
 *   transport   messages                                  collective  what all ranks do together
 *   stream      the operations a rank has issued, as evidence
 *   terminal    as the prompt found it, at the end
 *   peers       all of this as the table that the core asks for (core/move/peers.h)
 *
 * A program does
 *
 *   lgt_spawn(...)  or  lgt_wireup_find(...)       which fills in an lgt_wireup; size 1 needs nothing of this
 *   lgt_net_open(&options, &wireup, &net)           returns when all ranks are there and fit together
 *   lgt_control_note(net->control, &operation)      for each operation of the stream
 *   messages and collectives over net->transport    under tags derived from positions in the stream
 *   lgt_net_leave(net, line), lgt_net_free(net)     at the end, os.exit and uncaught errors included
 *
 * Leaving is an operation of the stream: a rank that exits while others go on is a divergence, and is named.
 * Errors that the ranks should share are agreed on by an allreduce (the minimum of the failing positions, say);
 * what cannot be shared ends in lgt_net_abort.
 *
 * Thread: the submitting thread, but for lgt_net_abort and lgt_transport_wake, which any may call.
 */
#ifndef LGT_NET_H
#define LGT_NET_H

#include "collective.h"
#include "control.h"
#include "move/peers.h"
#include "transport.h"
#include "wireup.h"

typedef struct lgt_net_options {
  lgt_control_options control; /* line_text NULL: as the user of the peers says */
  bool tcp;                    /* use TCP between all ranks */
} lgt_net_options;

typedef struct lgt_net {
  int rank, size;
  lgt_control *control;     /* owned */
  lgt_transport *transport; /* owned */
  lgt_peers peers;          /* filled by lgt_net_peers */
  lgt_pending *spare;       /* owned: of the peers, free to use */
  const char *how;          /* the ranks were started */
  bool left;                /* lgt_net_leave was called */
  const char *mishap;       /* not NULL: what has happened here that maybe did not on other ranks */
  lgt_collective abreast;   /* the latest of the barriers that keep the ranks abreast; `transport` NULL: none yet */
  int ahead;                /* operations since it began */
  char **line;              /* owned texts: of lgt_net_line */
  int nline, line_room;
} lgt_net;

/* Takes over the wire-up.  An error is for this rank to print; the others are told. */
lgt_status lgt_net_open(const lgt_net_options *options, lgt_wireup *wireup, lgt_net **out);
/* Returns when all ranks have left, having issued the same stream. */
lgt_status lgt_net_leave(lgt_net *net, uint32_t line);
void lgt_net_free(lgt_net *net);
/* End the run on all ranks; `reason` says what happened here ("out of memory at heat.lua:12"). */
_Noreturn void lgt_net_abort(lgt_net *net, const char *reason);

/* The table of operations through which a runtime uses these ranks; it lives as long as `net`.  Tags are cut to
 * LGT_TAG_BITS; the upper half of them, from LGT_PEERS_TAGS on, is for others than the runtime. */
#define LGT_PEERS_TAGS ((uint64_t)1 << (LGT_TAG_BITS - 1))
lgt_peers *lgt_net_peers(lgt_net *net);
lgt_net *lgt_net_of(lgt_peers *peers); /* NULL if it is another table */
/* A number for a line that is none of the runtime's, from LGT_NET_LINES on; 0 when out of memory. */
#define LGT_NET_LINES 0x80000000u
uint32_t lgt_net_line(lgt_net *net, const char *text);

/* A hash of the stream so far: equal on ranks that have issued the same. */
uint64_t lgt_net_history(const lgt_net *net);
/* It was found to differ: has the hub say where. */
_Noreturn void lgt_net_disagree(lgt_net *net, const char *what);

/* Returns when all ranks have come to where this rank last began to wait for them (peers.c, keep_abreast). */
void lgt_net_meet(lgt_net *net);

/* ---- for net.c -------------------------------------------------------------------------------------------- */

/* Lines as the table's user knows them. */
void lgt_net_line_text(void *net, uint32_t line, char *text, size_t room);
void lgt_net_drop_peers(lgt_net *net);

#endif
