/* binder.h - what a rank is (its memory, executor, peers), and the state that its bound groups have led to so far.
 *
 * Everything that turns plans into tasks works on one binder: jobs, messages, exchanges, images (this room), and
 * groups (the next one).
 *
 * Belongs to the submitting thread.
 */
#ifndef LGT_BINDER_H
#define LGT_BINDER_H

#include "exec/depend.h"
#include "move/peers.h"
#include "plan/fuse.h"

/* What binding reports where an allocation fails. */
static inline lgt_status lgt_no_memory_to_launch(void) { return lgt_err(LGT_NO_MEMORY, "out of memory while launching a task"); }

typedef struct lgt_job lgt_job;
typedef struct lgt_template lgt_template; /* template.h */
typedef struct lgt_move lgt_move;         /* moves.h */
typedef struct lgt_eager lgt_eager;       /* small.h */
typedef struct lgt_answer lgt_answer;     /* moves.c */
typedef struct lgt_selected lgt_selected; /* exchange.h */

/* A group that was bound while tasks were in flight, or the end of a store (poison.h).  A recent group keeps no store
 * alive: the number of a store is free again at the same place of the stream on all ranks, whatever is still in flight. */
typedef struct lgt_recent {
  int64_t position;
  const lgt_plan_group *group; /* its plan: ref; NULL: a store's end */
  int nstore;                  /* stores that it touches, as its notes list them; of a store's end 1 */
} lgt_recent;

/* The counters that all ranks advance alike.  They follow from the stream of operations alone, never from what a rank
 * decides by itself, so whatever is named after one of them has the same name on every rank: a message, a failure's place,
 * the contents of an array.  A part of the stream that is carried out in another way than by binding its groups must leave
 * the counters as binding would have. */
typedef struct lgt_agreed {
  int64_t position;  /* in the stream: groups bound so far */
  int64_t exchanges; /* of elements, of reach, of verdicts: whatever has tags of its own (lgt_message_tag) */
  int64_t versions;  /* the newest version of any store */
  int64_t images;    /* the newest image's number (image.h) */
  uint64_t stream;   /* a hash of what was launched so far; with other ranks only */
  int64_t search;    /* launches that go by while what repeats is searched: the most that any rank wished for */
} lgt_agreed;

/* Exchanges of groups, by what became of them (record.h). */
#define LGT_EXCHANGES_LIST(_)                                                                     \
  _(REPLAYED, "exchanges_replayed") /* as recorded */                                             \
  _(NEW, "exchanges_new")           /* the group has no record that is still good */              \
  _(CHANGED, "exchanges_changed")   /* something else had happened to its arrays before */        \
  _(BY_DATA, "exchanges_by_data")   /* data says what moves, or they work on parts of an array */ \
  _(GATHERED, "exchanges_gathered") /* a long history: elements are brought together */
#define LGT_EXCHANGES_ENUM(name, stat) LGT_EXCHANGES_##name,
enum { LGT_EXCHANGES_LIST(LGT_EXCHANGES_ENUM) LGT_EXCHANGES };

/* What a queue of a device has to do: jobs in order, numbered from 1.  (Two of them are never done in another order.) */
enum { LGT_MOST_LANES = LGT_MOST_DEVICES * LGT_QUEUES };
typedef struct lgt_lane {
  lgt_job *first, *last;        /* borrowed: those that are not known to be over */
  int64_t put, done;            /* numbers of the last one, and of the last one that is over */
  int64_t seen[LGT_MOST_LANES]; /* what it was told to wait for in each other lane */
} lgt_lane;

/* Which side groups run on by default (side.h). */
typedef struct lgt_side {
  bool by_estimate;      /* else on devices, if they can */
  bool unopened;         /* no device is open yet ... */
  bool wanted;           /* ... and one is wanted */
  int stage;             /* counts openings: estimates of earlier ones are out of date */
  double credit;         /* seconds */
  double missed;         /* seconds that all groups would have won so far; unopened */
  double recent, there;  /* seconds that recent groups which may run on devices take on the host; of those that run there */
  int64_t copies, bytes; /* between the host and devices that are counted */
  uint64_t jitter;       /* state of random choices, for tests; 0: none */
} lgt_side;

/* The halo that tiles of arrays of one layout were found to need, and what they were because data had named it, however wide:
 * a guess for those that are made for the first time. */
enum { LGT_HABITS = 16 };
typedef struct lgt_habit {
  uint32_t layout; /* of a whole store; 0: none */
  lgt_halo halo, named;
} lgt_habit;

typedef struct lgt_binder {
  lgt_stores *stores; /* borrowed, like the next two */
  lgt_map *map;
  lgt_exec *exec;
  lgt_fuser *fuser;      /* borrowed: rescues are woven when first needed */
  lgt_peers *peers;      /* borrowed: the other ranks; NULL: there are none */
  lgt_profile *profile;  /* borrowed; NULL: none */
  const lgt_call *ahead; /* borrowed from the window: the calls of the group that is being bound, and those after it (evict.h) */
  int nahead, nbound;    /* how many; how many of the group; 0: no group is being bound */
  bool may_collect;      /* whoever has the group bound would collect garbage if it lacks memory */
  const char *where;     /* borrowed from the runtime: line of the group that is bound, or of the look; NULL: unknown */
  lgt_job *first, *last; /* owned: jobs in flight, in order of submission */
  int njob;
  lgt_blocks blocks; /* owned: for jobs and small messages */
  lgt_agreed agreed;
  int64_t search_wish;     /* of this rank: see agreed.search */
  int64_t jobs;            /* submitted so far; this rank's own number, for a rank has jobs for its own colours only */
  int64_t recipes;         /* of results that were not stored: how many there are ... */
  int64_t former;          /* ... bytes of former contents that they keep (recipes.h), ... */
  int64_t deferred;        /* ... and bytes that their results would take */
  uint32_t stamp;          /* of the newest job */
  lgt_failure *unreported; /* ref: the first failure that no look or fence has reported */
  lgt_failure *reported;   /* ref: the failure that was reported last */
  bool lost_reported;      /* a script knows that a device was lost: what fails for that reason is no news */
  lgt_failure *no_memory;  /* ref: stands for a failure for whose description there is no memory */
  lgt_recent *recent;      /* owned; with several domains: the newest groups, in order */
  int nrecent, recent_room;
  uint32_t *recent_store; /* owned; numbers of their stores, which a later store may have again */
  int nrecent_store, recent_store_room;
  const char *(*line_text)(void *context, uint32_t line);
  void *line_context;
  lgt_arena arena; /* owned: what binding one group needs */
  /* With several domains (exchange.h, message.h): */
  lgt_move *move; /* owned: what the current exchange moves */
  int nmove, move_room;
  lgt_pieces pieces; /* owned: the pieces of these moves */
  int *near;         /* owned: domains that may lack elements that this rank has (lgt_moves_near) */
  int nnear, near_room;
  int64_t forgets;                  /* how often histories were swept: a record from before may name what is gone */
  int64_t exchanged[LGT_EXCHANGES]; /* counters */
  lgt_answer **answer;              /* owned: answers of lgt_moves_list that are kept, by question */
  const lgt_plan_group *selecting;  /* borrowed: the group that is being bound, if data selects what it touches; or NULL */
  lgt_selected *selected;           /* owned: by touch of that group */
  lgt_habit habit[LGT_HABITS];      /* by layout, of which some share a place */
  int selected_room;
  lgt_job *joinable;                              /* owned: small messages, not yet submitted (message.c); NULL: none */
  lgt_job *underway, **underway_end;              /* messages that have begun and are not done */
  lgt_eager *eager;                               /* owned: small messages that are on their way (small.h) */
  int64_t eager_bytes;                            /* bytes of these */
  int64_t share_limit;                            /* bytes: a larger array is not gathered, for a rank would lack room */
  int64_t sent, messages;                         /* counters: bytes, and messages, to other ranks */
  int64_t replicate;                              /* bytes: a task may bring no larger array whole to every rank */
  lgt_outside offload;                            /* how the executor looks after queues of devices (offload.h) */
  lgt_lane lane[LGT_MOST_LANES];                  /* what is in these queues: those of the first device, of the next one, ... */
  int64_t device_tasks, queue_waits;              /* counters; of what queues are told to wait for */
  int64_t copied;                                 /* counter: tasks that were made by copying (template.h) */
  int64_t host_groups;                            /* counter: groups that ran on the host although there are devices */
  bool strict;                                    /* such a group is refused */
  lgt_side side;                                  /* where groups run that may run on either */
  lgt_outside messaging;                          /* how the executor looks after messages */
  int message_us;                                 /* microseconds that a message is expected to take; 0: nobody would notice */
  bool overlaps;                                  /* tasks of the group that is being bound run before what comes for it */
  int64_t ahead_tasks;                            /* counter: tasks that do before something comes what does not need that */
  uint64_t jitter;                                /* state of random choices, for tests; 0: none */
  bool dry;                                       /* tasks do nothing: for measuring what comes before them */
  bool check;                                     /* verify each kernel's accesses against its slots */
  int64_t tasks, passes, groups, elided, rescued; /* counters; a pass is a loop of a task over its memory */
  int64_t moved;                                  /* bytes that passes have read and written */
  int64_t followed;                               /* loops that followed one another row by row (follow.h) */
  int64_t abreast;                                /* loops that were one step with the loop before (plan/abreast.h) */
} lgt_binder;

/* The next colour of a group after `colour` (-1: the first) on which a local domain works; -1: none. */
int lgt_binder_next(const lgt_binder *binder, const lgt_partition *launch, int domain, int colour);
/* The alignment of an access with the space of its loop; copies made by renaming have spaces of their own. */
lgt_alignment lgt_group_align(const lgt_plan_group *group, const lgt_plan_access *access);
/* The tile of a loop's space for a colour. */
lgt_rect lgt_group_tile(const lgt_plan_group *group, const lgt_plan_loop *loop, int colour);

#endif
