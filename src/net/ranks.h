/* ranks.h - a run of several ranks by what a configuration says: for the program, and for hosts (lgt.h).
 *
 *   who         -n N forks them here; a rendezvous, PMIx or Slurm found them
 *   share       the ranks of one machine share its cores and its memory: each gets its part, unless the launcher has
 *               bound it to cores already, or --cpus and --mem say otherwise
 *   lines       source lines that operations of the program itself are noted with, besides the runtime's
 *   end         all together, by an error that all have, or by one that only one has
 *
 * Thread: the submitting thread.
 */
#ifndef LGT_RANKS_H
#define LGT_RANKS_H

#include "net.h"

#pragma GCC visibility push(default)

/* `lgt -n N`: as lgt_ranks_open, after forking config->ranks of them.  In the launcher, when all have ended: *launcher is
 * true, and *status what to exit with.  prompt: rank 0 talks to a terminal. */
lgt_status lgt_ranks_spawn(lgt_config *config, bool prompt, lgt_ranks **out, bool *launcher, int *status);
/* Of ranks that nobody silences from outside (not `lgt -n`): what this one prints is dropped, or marked with its rank. */
void lgt_ranks_silence(const lgt_ranks *ranks, bool all_output);
lgt_peers *lgt_ranks_peers(lgt_ranks *ranks); /* NULL: this is the only one */
/* Rank 0's opinion. */
bool lgt_ranks_decide(lgt_ranks *ranks, bool mine);
/* After a chunk of a prompt, which ended by an error on this rank, or not (NULL): the first rank's error, in memory of
 * this function's, or NULL if none failed.  Where ranks have issued different streams the run ends here. */
const char *lgt_ranks_agree(lgt_ranks *ranks, const char *error, int *rank, bool *on_all);
/* Ctrl-C on rank 0; a signal handler may call it.  `act` is called on the control thread of all ranks. */
void lgt_ranks_interrupt(lgt_ranks *ranks, bool insist);
void lgt_ranks_on_interrupt(lgt_ranks *ranks, void (*act)(void *context), void *context);
void lgt_ranks_forget_interrupt(lgt_ranks *ranks); /* it came too late, or all have stopped */
/* As lgt_ranks_close, at the end of a program that exits with this status. */
lgt_status lgt_ranks_end(lgt_ranks *ranks, int status);

/* A number for a line of the program, for lgt_peers.note.  0 if the peers are no ranks of a real run. */
uint32_t lgt_ranks_line(lgt_peers *peers, const char *text);
/* The program has ended with this exit status, here, at this line; returns when it has on all ranks. */
void lgt_ranks_leave(lgt_peers *peers, const char *line, int status);

#pragma GCC visibility pop

#endif
