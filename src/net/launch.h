/* launch.h - `lgt -n N`: one process becomes a launcher and N ranks.
 *
 * The ranks are forked, so this comes before any thread is started, and before UCX or a runtime is opened.  The
 * launcher holds the hub, passes signals on, tags output, and returns when all ranks have ended.  No rank outlives
 * it, however it ends.
 *
 *   stdin    of rank 0 is the launcher's; the others read /dev/null
 *   stdout   of rank 0 is the launcher's; the others' is dropped
 *   stderr   of rank 0 likewise; the others' lines as "[r] line"
 *            all_output: each line of all, as "[r] line" (with one rank as it is)
 *   signals  from a terminal reach everybody anyway; INT, TERM, HUP, USR1 and USR2 sent to the launcher alone are
 *            passed on to all ranks
 *   status   0 if all ranks returned 0; else that of the first that failed, 128 + n if signal n killed it
 *
 * When a rank dies, or the run fails otherwise, the launcher prints why, once, and ends the others: asked first,
 * killed two seconds later.
 */
#ifndef LGT_LAUNCH_H
#define LGT_LAUNCH_H

#include "wireup.h"

typedef struct lgt_spawn_options {
  int ranks;
  bool all_output;
  bool prompt;  /* rank 0 talks to a terminal: its stderr is the launcher's too, so that prompts stay in order */
  int start_ms; /* 0: 30 s */
  int dead_ms;  /* 0: 10 s.  Both as in lgt_control_options, which should say the same */
} lgt_spawn_options;

/* In a rank: fills in the wire-up, sets *launcher to false.  In the launcher, after all have ended: sets it to true,
 * and *exit_status. */
lgt_status lgt_spawn(const lgt_spawn_options *options, lgt_wireup *out, bool *launcher, int *exit_status);

#endif
