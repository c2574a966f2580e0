/* runtime.h - the runtime: all parts together, and the flush that drives them. */
#ifndef LGT_RUNTIME_H
#define LGT_RUNTIME_H

#include "move/agree.h"
#include "bind/bind.h"
#include "plan/fuse.h"
#include "plan/reproducible.h"
#include "move/message.h"
#include "plan/window.h"
#include "trace/tracer.h"

enum { LGT_RING = 1024 };       /* launches that the front holds, and the longest window */
enum { LGT_FORMER_GROUPS = 8 }; /* groups that may leave as many former contents to recipes as one may */

/* A flush that stopped in the middle, for the caller to collect its garbage. */
typedef struct lgt_flush_state {
  bool active;
  bool forced;       /* plan everything, not only whole repetitions */
  int ncall;         /* of the window, being run; 0: none */
  lgt_plan *plan;    /* ref */
  lgt_trace *trace;  /* borrowed: they go along it; NULL: along none */
  uint64_t pattern;  /* how the stores of the calls repeat; 0: nobody knows yet, or they are parts of a window */
  lgt_plan *shifted; /* ref; waits for the collection that was asked for, or NULL */
  int group;         /* next to run */
  int released;      /* calls at the window's front that hold their stores no more: they have run */
  int lean;          /* calls at the window's front that are planned to store less: they lack memory */
  int apart;         /* ... or that are planned one by one: together they lack memory */
  bool collected;    /* the caller has collected since the flush began: once more would find nothing */
  bool relieved;     /* ... or has at least ended what its collector had begun, which may miss what is dead */
} lgt_flush_state;

/* What the stream of operations has besides launches. */
typedef enum lgt_note {
  LGT_NOTE_OPEN,
  LGT_NOTE_LOOK,
  LGT_NOTE_WRITE,
  LGT_NOTE_FENCE,
  LGT_NOTE_FLUSH,
  LGT_NOTE_FILE,
  LGT_NOTE_GIVEN,
  LGT_NOTE_TRACE,
  LGT_NOTES
} lgt_note;

enum { LGT_TEXT_ROOM = 8192 };

/* A launch that was found good.  Others of that kind whose arguments have these layouts are good, too, if no argument shares a
 * store that is written. */
typedef struct lgt_checked {
  lgt_kind_id kind; /* 0: none */
  uint32_t epoch;   /* of the stores, in which the layouts have these numbers */
  uint32_t layout[LGT_MAX_ARGS];
} lgt_checked;
enum { LGT_CHECKED = 256 };

struct lgt_runtime {
  lgt_config *config;   /* owned */
  lgt_peers *pretended; /* owned: other ranks that are not there; NULL: none */
  lgt_profile *profile; /* owned; NULL: none */
  double issuing;       /* seconds in flushes; counted with pretended ranks only */
  lgt_stores stores;
  lgt_partitions partitions;
  lgt_kinds kinds;
  lgt_kernels *kernels; /* owned */
  lgt_window window;
  lgt_tracer tracer;
  lgt_fuser fuser;
  lgt_map map;
  int gpus;       /* devices of the source that is offered */
  lgt_exec *exec; /* owned */
  lgt_binder binder;
  lgt_front front;
  lgt_flush_state flush;
  int target;                       /* calls that make the window full; grows while everything fuses */
  lgt_checked checked[LGT_CHECKED]; /* by a hash of what they have */

  char **line; /* owned texts by number; 0 is unused */
  int nline, line_room;
  bool looked;                      /* the script has looked at elements, and launched nothing since */
  int asked;                        /* what the caller was asked to collect; 0: nothing */
  int64_t asked_at, asked_for_plan; /* when; for the sake of a plan */
  int64_t collection_took;          /* nanoseconds, the last time */
  int64_t pressure;                 /* bytes of what may be dead for which the caller is asked to collect */
  int64_t stores_collected;         /* stores that were alive after the last collection, or fewer since */
  uint64_t jitter;                  /* state of the random local decisions; 0: none */
  char *text;                       /* owned, of LGT_TEXT_ROOM bytes: what was told last */

  int64_t swept;                     /* bytes that the last sweep left (sweep.h) ... */
  int64_t room;                      /* ... and how many new ones there may be until the next one */
  int64_t noted;                     /* with other ranks: stores that have a number in the stream */
  uint32_t note_name[LGT_NOTES];     /* what operations other than launches are called there */
  int file_kind[2][LGT_MAX_DIM + 1]; /* of file.c: for reading, for writing, by number of dimensions; 0: not made */

  int64_t launches, windows, waits, plans, shifts, collections, file_read, file_written;
};

/* With other ranks: an operation of the stream, issued at the line that the front names; of a rect of a store, or NULL. */
void lgt_runtime_note(lgt_runtime *rt, lgt_note note, lgt_store *store, const lgt_rect *rect);
/* The same for elements that the host program gives: every rank must have been given the same. */
void lgt_runtime_note_given(lgt_runtime *rt, lgt_store *store, lgt_dtype dtype, const void *data, size_t bytes);
/* Everything recorded is planned and started, without asking for collections. */
lgt_status lgt_runtime_settle(lgt_runtime *rt);
/* Is there nothing to plan or to bind?  Then views that were made meanwhile are all that a flush looks after. */
bool lgt_runtime_idle(const lgt_runtime *rt);
/* The longest window. */
int lgt_runtime_window(const lgt_runtime *rt);
/* Move the front's launches into the window.  A bad one is remembered as a failure. */
void lgt_runtime_take(lgt_runtime *rt);
/* Outside of a flush: if it is time that the caller collects its garbage, ask for it by the front's `collect`. */
void lgt_runtime_relieve(lgt_runtime *rt);

#endif
