/* tracer.h - automatic tracing: where windows begin and end along traces, and the plans that belong to them.
 *
 * The flush asks where to cut.  The tracer gives the launches that it has not seen to the miner (miner.h) and lets the trie
 * (trie.h) follow them.  If a trace is found, the launches before it are a window, as they would have been, and then it is one;
 * its plan is found by comparing the launches with those that it was made for (lgt_window_compare), without the canonical
 * form being built and looked up.  If no trace is found the flush cuts as it does without a tracer, but not within launches that
 * go along a trace so far.  Nothing is guessed: a trace is a window once all of it is there.
 *
 * Simple loops need no search: the last window that was no trace is kept as if it were one, and a window like it that comes
 * next is a replay.  So a loop that looks at values in each turn is replayed from its second turn on.
 *
 * What becomes of traces is counted, by reasons.
 *
 * Where windows are cut is decided by the stream alone, as ranks must agree; which plan they get is each rank's own affair.
 *
 * Belongs to the submitting thread.
 */
#ifndef LGT_TRACER_H
#define LGT_TRACER_H

#include "plan/window.h"
#include "trace/manual.h"
#include "trace/miner.h"
#include "trace/trie.h"

/* Why a trace was not replayed although launches went along it (ABORTED), or a recording or a trace is no more
 * (EVICTED). */
/* clang-format off */
#define LGT_TRACE_REASON_LIST(X)                                                            \
  X(WAY, ABORTED, "the launches went another way")                                          \
  X(LOOK, ABORTED, "the script looked at values before it was complete")                    \
  X(LIMIT, ABORTED, "too many launches waited for its end")                                 \
  X(CALLS, ABORTED, "operations or shapes were others")                                     \
  X(STORES, ABORTED, "its arrays repeat in another way")                                    \
  X(STATE, ABORTED, "an array was new, or was none of the program's own, in one of the two") \
  X(KEY, ABORTED, "an array was cut into other tiles")                                      \
  X(SAVES, ABORTED, "it was planned for more memory, or less, or for the other of host and GPU") \
  X(MEMORY, ABORTED, "there was no memory to compare")                                      \
  X(NAMED, ABORTED, "one that the script named had other launches")                         \
  X(LESSONS, EVICTED, "results are stored now that were not, since the program asked for them") \
  X(RETIRED, EVICTED, "its plan was forgotten")                                             \
  X(GREW, EVICTED, "longer windows are possible now")                                       \
  X(ROOM, EVICTED, "others were seen more often")                                           \
  X(OPTIONS, EVICTED, "options were changed")
/* clang-format on */

/* clang-format off */
typedef enum lgt_trace_reason {
#define X(NAME, event, text) LGT_TRACE_##NAME,
  LGT_TRACE_REASON_LIST(X)
#undef X
  LGT_TRACE_REASONS
} lgt_trace_reason;
/* clang-format on */

typedef struct lgt_tracer_stats {
  int64_t launches; /* that were replayed */
  int64_t replayed, recorded;
  int64_t reason[LGT_TRACE_REASONS];
} lgt_tracer_stats;

typedef struct lgt_tracer {
  lgt_miner *miner; /* owned; NULL: tracing is off */
  lgt_trie trie;
  lgt_manual manual;
  lgt_trace *again;      /* owned: the last window that was no trace; NULL: none was */
  int shortest, longest; /* launches of a trace */
  int64_t base;          /* in the stream: where the window begins */
  int64_t seen;          /* ... and the first launch that the miner does not know */
  int64_t judged;        /* ... and where it began when a trace fitted it that was not recorded as it is */
  lgt_match next;        /* what comes next, behind untraced launches perhaps */
  int outgrown;          /* traces are too short now if they are shorter than this, 0: none is */
  bool failed;           /* there was no memory to go on as other ranks do */
  lgt_tracer_stats stats;
} lgt_tracer;

typedef struct lgt_cut {
  int count;        /* of launches that are a window; 0: wherever it is cut without traces, but ... */
  int most;         /* ... of so many launches at most */
  lgt_trace *trace; /* borrowed: they go along it; NULL: along none */
} lgt_cut;

lgt_status lgt_tracer_init(lgt_tracer *tracer, const lgt_config *config);
void lgt_tracer_fini(lgt_tracer *tracer);
/* The window has n launches, whose tokens are given: where is it cut?  `look`: all must go. */
lgt_cut lgt_tracer_cut(lgt_tracer *tracer, const uint64_t *token, int n, bool look);
/* The window is cut at the end of a trace that the script named. */
lgt_cut lgt_tracer_named(lgt_tracer *tracer, const uint64_t *token, lgt_trace *trace);
/* The first n launches have been a window, and are gone.  `pattern`: how their stores repeated; 0: they were no window, but
 * parts of one. */
void lgt_tracer_dropped(lgt_tracer *tracer, int n, lgt_trace *trace, uint64_t pattern, bool look);
/* The plan of the window's first n launches, which go along the trace, or NULL; *pattern as above.  Numbers the stores. */
lgt_plan *lgt_tracer_plan(lgt_tracer *tracer, lgt_trace *trace, lgt_window *window, lgt_stores *stores, int n, uint64_t *pattern);
/* They run by that plan. */
void lgt_tracer_replayed(lgt_tracer *tracer, lgt_trace *trace);
/* The plan that was found or made for them. */
void lgt_tracer_record(lgt_tracer *tracer, lgt_trace *trace, lgt_plan *plan, uint64_t pattern);
/* The window's first n launches run by that plan, along that trace or none (NULL): they may be kept for the next time. */
void lgt_tracer_planned(lgt_tracer *tracer, const lgt_window *window, int n, bool look, const lgt_trace *trace, lgt_plan *plan,
                        uint64_t pattern);
/* A trace that the script names begins, or ends (manual.h), where the window is empty.  Returns whether it had other launches. */
lgt_status lgt_tracer_begin(lgt_tracer *tracer, const char *name, int target);
bool lgt_tracer_end(lgt_tracer *tracer, bool whole);
/* By its number; NULL: there is none any more. */
const lgt_trace *lgt_tracer_find(const lgt_tracer *tracer, uint32_t id);
/* How many launches a search may take (miner.h). */
int64_t lgt_tracer_wish(const lgt_tracer *tracer);
void lgt_tracer_allow(lgt_tracer *tracer, int64_t launches);
/* Windows may be longer from now on. */
void lgt_tracer_grew(lgt_tracer *tracer, int window);
/* The options have changed: forget all.  The window is empty. */
lgt_status lgt_tracer_restart(lgt_tracer *tracer, const lgt_config *config);
/* How many were evicted, or else aborted. */
int64_t lgt_tracer_ended(const lgt_tracer *tracer, bool evicted);
/* The summary of LGT_DEBUG. */
void lgt_tracer_log(const lgt_tracer *tracer);
/* Let go of plans that are forgotten. */
void lgt_tracer_sweep(lgt_tracer *tracer);

#endif
