/* manual.h - traces that the script names: it says that what it launches between begin and end is the same each time.
 *
 * The first time all is cut and planned as without traces, and each window becomes a trace (trie.h) with its plan.  The next
 * time windows are cut there, and their plans are compared with the launches instead of being looked up: a script that is
 * wrong about itself loses that, and no more.  From the first launch that differs on, what remains is cut and planned as
 * without traces; what differed is told at the end, and the launches of the next time are kept anew.
 *
 * The window is empty where a trace begins and ends, so that all ranks cut there.  What is kept follows from the stream alone.
 * It is little for each launch, and nothing of a trace of more than 32768.
 *
 * Belongs to the submitting thread.
 */
#ifndef LGT_MANUAL_H
#define LGT_MANUAL_H

#include "plan/window.h"
#include "trace/trie.h"

/* One launch as messages name it. */
typedef struct lgt_manual_launch {
  const lgt_kind *kind; /* lives as long as the runtime; NULL: there is none */
  uint32_t line;
} lgt_manual_launch;

typedef struct lgt_manual_trace {
  char *name;         /* owned */
  lgt_trace **window; /* owned, and what they point to */
  int count, room;
  lgt_manual_launch *launch; /* owned: of all windows */
  int launches, launch_room;
  int target;   /* launches that made a window full when it was recorded */
  int64_t used; /* when it was begun last */
} lgt_manual_trace;

/* The first difference. */
typedef struct lgt_manual_difference {
  int at;                         /* the launch, from 0; -1: there is none */
  lgt_manual_launch expected, is; /* without a kind: it should have ended, it ended */
  lgt_manual_launch last;         /* if it should have ended: what was the last one */
  bool looked;                    /* it ended for the script looked at values, or the window was full */
} lgt_manual_difference;

typedef struct lgt_manual {
  lgt_manual_trace **trace; /* owned, and what they point to */
  int count, room;
  int64_t launches; /* of all */
  int64_t begun;    /* how many traces were begun */

  lgt_manual_trace *now; /* borrowed: which is under way; NULL: none */
  int inner;             /* traces that began within it: they are parts of it */
  bool recording;
  int window, at; /* of it, the next one; launches that went by */
  lgt_manual_difference difference;
} lgt_manual;

void lgt_manual_fini(lgt_manual *manual);
/* `target`: so many launches make the window full; if these are more than when it was recorded, it is recorded anew. */
lgt_status lgt_manual_begin(lgt_manual *manual, const char *name, int target);
/* `whole`: all that belongs to it was launched; otherwise nothing is kept of this time and nothing told.  Returns whether
 * there is a difference, which is there until the next begin. */
bool lgt_manual_end(lgt_manual *manual, bool whole);
/* Launches could not run as they were planned: go on as if no trace had begun. */
void lgt_manual_abandon(lgt_manual *manual);
/* The trace of the next window, of which n launches are there, or NULL: it is cut as without traces. */
lgt_trace *lgt_manual_next(lgt_manual *manual, const lgt_window *window, int n);
/* A window of n launches got a plan; `id`: what a trace that is new is called. */
lgt_status lgt_manual_planned(lgt_manual *manual, const lgt_window *window, int n, bool look, lgt_plan *plan, uint64_t pattern,
                              uint32_t id);

#endif
