/* bind.h - a plan's group meets the stores of one window: instances, copies, tasks.
 *
 * Binding picks or makes the instance for each slot and colour, launches the copies that bring missing
 * elements, builds one task for each colour from the group's loops, orders it behind what is in
 * flight, and afterwards tells the stores where their newest elements are.  A *job* is a task in
 * flight with everything it owns.
 *
 * With several ranks the group is bound on each of them: what moves between them follows from its calls alone
 * (exchange.h) and happens whatever fails here, so that a failure stays one of values.
 *
 * With one memory domain every instance is a whole root and the nests that fusing prepared are used
 * as they are; this path costs well below a microsecond for a group.
 *
 * Belongs to the submitting thread.
 */
#ifndef LGT_BIND_H
#define LGT_BIND_H

#include "exec/depend.h"
#include "plan/fuse.h"
#include "move/peers.h"

typedef struct lgt_job lgt_job;
typedef struct lgt_move lgt_move; /* moves.h */
typedef struct lgt_answer lgt_answer; /* moves.c */

/* A group that was bound while something was in flight, or the end of a store (poison.h).  It keeps no store alive: on all
 * ranks their numbers are free again at the same place of the stream, whatever is still in flight there. */
typedef struct lgt_trail {
  int64_t position;
  lgt_plan_group *group; /* its plan: ref; NULL: a store's end */
  uint32_t *store;       /* owned; by root of the plan: numbers of those that the group touches, else 0 */
  uint32_t gone;         /* the number that no store has any more; a later one may have it */
} lgt_trail;

typedef struct lgt_binder {
  lgt_stores *stores; /* borrowed, like the next two */
  lgt_map *map;
  lgt_exec *exec;
  lgt_fuser *fuser;     /* borrowed: rescues are woven when first needed */
  lgt_peers *peers;     /* borrowed: the other ranks; NULL: there are none */
  lgt_profile *profile; /* borrowed; NULL: none */
  const char
      *where; /* borrowed from the runtime: line of the group that is bound, or of who looks; NULL: unknown */
  lgt_job *first, *last; /* owned: jobs in flight, in order of submission */
  int njob;
  int64_t jobs;         /* submitted so far */
  int64_t position;     /* in the stream: groups bound so far, the same on all ranks */
  int64_t former;       /* bytes of former contents that recipes keep (recipes.h) */
  uint32_t stamp;       /* of the newest job */
  lgt_failure *failure; /* ref: the first failure nobody has seen yet */
  lgt_failure *seen;    /* ref: the last one that somebody has */
  lgt_failure *reserve; /* ref: stands for failures that there is no memory to describe */
  lgt_trail *trail;     /* owned; with several domains: the newest groups, in order */
  int ntrail, trail_room;
  const char *(*line_text)(void *context, uint32_t line);
  void *line_context;
  lgt_arena arena; /* owned: what binding one group needs */
  /* With several domains (exchange.h, transfer.h): */
  int64_t exchanges; /* their number so far, the same on all ranks */
  uint64_t stream;   /* a hash of what was launched so far */
  lgt_move *move;    /* owned: what the current exchange moves */
  int nmove, move_room;
  lgt_pieces pieces; /* owned: in pieces of these */
  int *near;         /* owned: domains that may want some */
  int nnear, near_room;
  lgt_answer **answer; /* owned: what had to move before, by question */
  lgt_job *posted, **posted_end; /* messages on their way */
  int64_t share_limit;           /* bytes that no rank has room for: what is larger is not gathered */
  int64_t sent, messages;        /* counters: bytes, and messages, to other ranks */
  int64_t replicate;             /* bytes of an array that a task may have brought to every rank whole */
  bool dry;                      /* tasks do nothing: only what comes before is of interest */
  bool check;                    /* verify each kernel's accesses against its slots */
  int64_t tasks, passes, groups, elided, rescued; /* counters; a pass is a loop of a task over its memory */
  int64_t moved;                                  /* bytes that passes have read and written */
} lgt_binder;

/* Run a group.  `calls` are the window's calls that the plan was made of, `root` their stores by
 * number.  Failures poison the results that depend on them.  Not LGT_OK: nothing has run or moved, because there is no memory
 * for all that the group needs at once, unless this is the `last` attempt; or because all ranks refuse one of several
 * calls: one call at a time it comes to what can be computed. */
lgt_status lgt_bind_group(lgt_binder *binder, lgt_plan_group *group, const lgt_call *calls,
                          const uint32_t *root, bool last);
/* Wait until tasks in flight no longer write (for_write: or read) the instance. */
void lgt_bind_wait(lgt_binder *binder, lgt_instance *inst, bool for_write);
/* Waits, which the user may interrupt: until the instance may be read; until all jobs are done, and retires them. */
lgt_status lgt_bind_look(lgt_binder *binder, lgt_instance *inst);
/* With several domains: until all is done that may fail, for elsewhere results may depend on it. */
lgt_status lgt_bind_look_risky(lgt_binder *binder);
lgt_status lgt_bind_look_all(lgt_binder *binder);

/* Work until at most so many groups are in flight behind the one that was bound last, or the user interrupts. */
void lgt_bind_keep_up(lgt_binder *binder, int groups);
/* Forget jobs that are done; `all`: wait for them first. */
void lgt_bind_retire(lgt_binder *binder, bool all);
void lgt_binder_fini(lgt_binder *binder);
/* A store that nobody refers to any more. */
void lgt_bind_drop_store(lgt_binder *binder, lgt_store *store);

#endif
