/* wireup.h - who takes part in a run, and where its hub is.
 *
 * A run has `size` ranks and one *hub*, to which each rank keeps a control socket (control.h).  All a rank
 * must know to join is its number, how many there are, and how to reach the hub: versions, options and the
 * addresses of the transport travel over the control socket.  So a back end has little to do:
 *
 *   launcher     `lgt -n 4`: the ranks are forked, the launcher is the hub, sockets are inherited (launch.h)
 *   rendezvous   --rendezvous host:port --rank r --ranks n: rank 0 listens there and holds the hub
 *   PMIx         under mpirun, prterun, srun --mpi=pmix (PMIX_RANK is set): rank 0 listens on any port and
 *                publishes it.  The library is loaded then and only then
 *   Slurm        srun without PMIx: a rendezvous on the step's first node
 *
 * A process that some launcher started as one of several, but that none of these can connect, refuses to run:
 * never n independent copies.
 *
 * Thread: the one that starts the run.
 */
#ifndef LGT_WIREUP_H
#define LGT_WIREUP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* What a user may ask for.  All zero: whatever the environment says. */
typedef struct lgt_wireup_options {
  const char *rendezvous; /* host:port, or NULL */
  int rank, size;         /* with a rendezvous */
  int start_ms;           /* all ranks must have met within this time; 0: 30 s */
} lgt_wireup_options;

typedef struct lgt_wireup lgt_wireup;
struct lgt_wireup {
  int rank, size;
  const char *how;     /* for messages: "lgt -n", "rendezvous", "PMIx", "Slurm" */
  int socket;          /* owned: connected to the hub (forked ranks), else -1 */
  int listener;        /* owned: on rank 0 the socket on which its hub listens, else -1 */
  char address[512];   /* "port host host ...": where the hub may be reached, tried in turn */
  uint64_t cookie;     /* of this run, so that strangers on the same port are told apart */
  bool launched;       /* by lgt itself: the launcher prints why a run ended */
  bool gathered;       /* stderr of all ranks ends up in one place: one rank prints it */
  void (*close)(void); /* or NULL */
};

/* Find out.  A process that runs alone gets size 1, rank 0 and neither socket. */
lgt_status lgt_wireup_find(const lgt_wireup_options *options, lgt_wireup *out);
/* A socket connected to the hub; retries until start_ms have passed.  The caller closes it. */
lgt_status lgt_wireup_connect(lgt_wireup *wireup, int start_ms, int *socket);
/* At the regular end of a run. */
void lgt_wireup_close(lgt_wireup *wireup);

/* ---- for back ends -------------------------------------------------------------------------------- */

#define LGT_WIREUP_NONE \
  { .rank = 0, .size = 1, .how = "", .socket = -1, .listener = -1 }

lgt_status lgt_wireup_pmix(const lgt_wireup_options *options, lgt_wireup *out);
lgt_status lgt_wireup_rendezvous(const lgt_wireup_options *options, lgt_wireup *out);
lgt_status lgt_wireup_slurm(const lgt_wireup_options *options, lgt_wireup *out);
/* Listen on a port (0: any) of all interfaces; `port` becomes the one it is. */
lgt_status lgt_wireup_listen(int *port, int *socket);

#endif
