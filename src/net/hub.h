/* hub.h - the middle of the star of control sockets.
 *
 * The hub checks that all ranks arrive and fit together, hands out addresses, hears who is alive, compares
 * the reports of ranks that wait, and is the one place where it is decided that a run has failed: the first
 * reason wins, is sent to every rank, and remains readable here.  When a program ends by an error it does so on all
 * ranks, as a rule, so the hub waits a moment for the others before it says that one of them has failed.  It holds no data of the run and takes no
 * part in its messages.
 *
 * It is a state machine without a thread of its own: somebody polls lgt_hub_fd and calls lgt_hub_serve.  The
 * launcher does (launch.h), else a thread on rank 0 (control.c).
 *
 * Thread: one at a time.
 */
#ifndef LGT_HUB_H
#define LGT_HUB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

typedef struct lgt_hub lgt_hub;

typedef struct lgt_hub_options {
  int size;
  int start_ms; /* all ranks must have said hello within this time */
  int dead_ms;  /* a rank not heard of for so long is dead; 0: never */
  int listener; /* socket to accept ranks on, owned by the caller; -1: none */
  uint64_t cookie;
  /* How a rank ended whose socket was closed ("was killed by signal 9"); may wait a little; NULL: nobody knows. */
  void (*fate)(void *context, int rank, char *text, size_t room);
  void *context;
} lgt_hub_options;

typedef enum lgt_hub_state {
  LGT_HUB_STARTING,
  LGT_HUB_RUNNING,
  LGT_HUB_DONE, /* all ranks said goodbye */
  LGT_HUB_FAILED
} lgt_hub_state;

lgt_status lgt_hub_new(const lgt_hub_options *options, lgt_hub **out);
void lgt_hub_free(lgt_hub *hub);
/* The hub's end of a rank's socket, which it owns from now on. */
lgt_status lgt_hub_adopt(lgt_hub *hub, int rank, int socket);

int lgt_hub_fd(const lgt_hub *hub); /* readable when there is something to serve */
void lgt_hub_serve(lgt_hub *hub);   /* never waits; call it at least every lgt_hub_tick ms */
int lgt_hub_tick(const lgt_hub *hub);
lgt_hub_state lgt_hub_now(const lgt_hub *hub);
/* End the run; the first call counts. */
void lgt_hub_abort(lgt_hub *hub, int rank, const char *reason);
const char *lgt_hub_reason(const lgt_hub *hub); /* once FAILED: "rank 2 was killed by signal 9 (Killed)" */

#endif
