/* fuse.h - plans: how a window becomes a few tasks.
 *
 * A plan is made once for each canonical form of a window, and kept.  It names stores only by their number in
 * the window (*roots*).  It consists of groups; a group is one fused task, the longest run of calls
 * that satisfies these constraints (Diffuse, section 4.2: Yadav et al., ASPLOS'25):
 *
 *   launch domain   all calls have the same partition (a single colour: the same one tile), or partitions between
 *                   the same owners (cells.h)
 *   true dependence what was written is then read through the same view only, or by the domain that wrote it, or by others
 *                   that have computed it for themselves, too (widen.h)
 *   anti-dependence what was read is then written through the same view only
 *   reduction       what was reduced is not looked at
 *
 * A call of a CPU variant is a task of its own, unless it works by rows; among several colours, nothing that such a
 * call reads may have been written in its group if data names the elements it needs.
 *
 * With a single colour every neighbour is in the same tile, so the last three cannot fail: accesses
 * that do not agree are ordered inside the task (weave.h).
 *
 * Results.  A root that the window creates is *stored*, or *elided* when nothing outside its group
 * needs it.  The program may still hold a handle on an elided result, so the group leaves a *recipe*
 * behind (the inputs that the result was made from) unless the result is known to be dead.  If the program
 * looks at the result after all, it is computed from the recipe, and the plan's lessons say that it is wanted.  An
 * elided root whose recipe would not survive its own group is `must_die`: before the group runs, the flush
 * makes sure that no handle is left, else the root is stored.
 *
 * A plan does not change once it is made.  What its runs teach for the next plan of the window are its *lessons*; what is
 * worked out from a group when it is first needed, and what its runs find out about it, are the group's *notes*.
 *
 * Belongs to the submitting thread.
 */
#ifndef LGT_FUSE_H
#define LGT_FUSE_H

#include "model/constraint.h"
#include "kernel/kernel.h"
#include "plan/window.h"

/* What planning reports where an allocation fails. */
static inline lgt_status lgt_no_memory_to_fuse(void) { return lgt_err(LGT_NO_MEMORY, "out of memory while fusing"); }

#define LGT_NONE  0xffff
#define LGT_FORMS 1024
#define LGT_GONE  32768

/* Why a group ended before the next call. */
/* clang-format off */
#define LGT_REFUSAL_LIST(X)                                                       \
  X(END, "the window ends")                                                       \
  X(OFF, "fusion is turned off")                                                  \
  X(CPU_VARIANT, "a task without a generator runs alone")                         \
  X(LAUNCH_DOMAIN, "the launch domains differ")                                   \
  X(TRUE_DEPENDENCE, "a result is read through another view of other tiles")      \
  X(ANTI_DEPENDENCE, "what was read through one view is written through another") \
  X(REDUCTION, "a reduction's result is needed")                                  \
  X(FAR, "it works on a part of an array far from the one before")                \
  X(MEMORY, "what its loops leave for one another takes too much memory")         \
  X(SIZE, "the task is large enough")
/* clang-format on */

/* clang-format off */
typedef enum lgt_refusal {
#define X(NAME, text) LGT_REFUSAL_##NAME,
  LGT_REFUSAL_LIST(X)
#undef X
  LGT_NREFUSAL
} lgt_refusal;
/* clang-format on */
const char *lgt_refusal_text(int refusal);

/* A call in canonical form. */
typedef struct lgt_plan_call {
  const lgt_kind *kind;
  uint8_t nargs;
  uint16_t root[LGT_MAX_ARGS];
  uint32_t layout[LGT_MAX_ARGS];
  uint8_t part[LGT_MAX_ARGS]; /* of its root: what is only read, and lies far from part 0, has memory of its own */
  bool repeats;               /* each task of its group computes all of it, for itself (cells.h) */
  uint16_t touch;             /* the number of its first argument among those of its group's calls */
  lgt_space space;
  const lgt_partition *launch;
  const lgt_partition *wide; /* where it is computed: its launch partition, or that with margins (widen.h) */
  const char *reason;        /* for the choice of the launch partition */
} lgt_plan_call;

typedef struct lgt_plan_root {
  uint32_t layout;               /* of the root */
  const lgt_partition *key;      /* of the store, before the window ... */
  const lgt_partition *last_key; /* ... and after it; while the plan is made */
  bool fresh;                    /* the window creates it and writes all of it first ... */
  uint16_t pieces;               /* ... piece by piece: how many calls there are up to the last piece; 0: at once */
  bool joined;                   /* pieces: all that is written there is copied */
  bool attached;                 /* memory of the host program: stays where it is */
  bool stored;                   /* for fresh ones: decided by lessons, use, and reachability */
  bool saved;      /* recipes may want what a group finds in it and overwrites: cheaper than to store their results */
  bool alive;      /* was reachable when the plan was made */
  bool read;       /* by calls of the window */
  bool reduced;    /* a call of the window reduces into it */
  bool spare;      /* need not be stored: its recipe keeps nothing that is not kept anyway */
  bool passing;    /* is not stored although it is alive: what recipes keep for it and others takes less */
  uint16_t writes; /* calls that write it */
  int32_t uses;    /* as of the store, in the window */
  uint16_t first_group, last_group;
} lgt_plan_root;

/* Memory that a group works on: a root as it was before the group, or a new one. */
typedef struct lgt_plan_slot {
  uint32_t layout; /* root layout */
  uint16_t root;   /* initial: whose contents; else the root it becomes, or LGT_NONE */
  uint8_t part;    /* initial: of the root, as of calls */
  bool initial;
  bool read;          /* initial: its former contents matter */
  bool written;       /* initial: written in place */
  bool defined;       /* initial: all of it is overwritten before any of it is read */
  uint16_t rest;      /* new: the initial slot from which its rest is copied (weave.h); LGT_NONE: none */
  uint16_t rest_call; /* new: the call whose write is not part of the rest; initial: one that overwrites before any call reads */
  uint8_t rest_arg;   /* the argument of that write; 0xff: new: the rest is everything; initial: there is no such write */
  uint16_t saved;     /* initial, written: the slot of its former contents, which recipes may want; LGT_NONE: nobody wants them */
  bool former;        /* initial: such a slot, for recipes only; without memory if none is kept */
  uint16_t takes;     /* new: the initial slot whose memory it may have, if that is nobody else's: of its root, or of one that
                         is garbage by then; LGT_NONE: none */
  bool idle;          /* no loop comes to it: it has no memory (inline.h) */
  bool pinned;        /* a recipe reads it: what it reads must stay as the group leaves it */
  lgt_rect kept;      /* pinned: around all that recipes read of it; else, as below, ndim is -1 */
  lgt_rect changed;   /* initial or pinned: around all that the group writes of it */
} lgt_plan_slot;

typedef struct lgt_plan_access {
  uint16_t slot; /* LGT_NONE for INDEX, and for what a native call has just left in the block */
  int32_t byte;  /* of a complex element's imaginary part; in a block: where the element is */
  uint32_t layout;
  uint16_t item; /* whose access it is, for its alignment */
  uint8_t arg;
  int8_t index_dim;            /* INDEX: space dimension, -1: C-order position */
  int64_t offset;              /* into the root, in elements; INDEX: where it begins to count */
  int64_t stride[LGT_MAX_DIM]; /* along the space's dimensions, in elements of the root */
} lgt_plan_access;

/* A call of a CPU variant. */
typedef struct lgt_plan_native {
  const lgt_kind *kind;    /* borrowed */
  uint16_t call;           /* of the plan */
  int32_t block;           /* by rows, of results without a slot: where they begin in the loop's block of memory */
  lgt_plan_access *access; /* owned, one for each argument */
} lgt_plan_native;

/* What a loop with such calls moves, as far as that tells how long it takes: a user's may compute for long. */
static inline int64_t lgt_plan_native_bytes(const lgt_plan_native *native, int n, int64_t bytes) {
  for (int i = 0; i < n; i++)
    if (!native[i].kind->own) return INT64_MAX;
  return bytes;
}

/* Either a kernel, with native calls that compute some of its elements by rows, right before it reads them; or one
 * native call; or some by rows that leave nothing for a kernel to do. */
typedef struct lgt_plan_loop {
  lgt_kernel *kernel;      /* borrowed from the kernel cache; NULL: none */
  lgt_plan_native *native; /* owned */
  int nnative;
  int64_t block_bytes;         /* memory for the results of native calls, LGT_BLOCK elements of each */
  uint16_t woven;              /* its number as items name it (weave.h): later passes drop loops */
  const lgt_partition *launch; /* of its calls */
  int space_ndim;
  int64_t extent[LGT_MAX_DIM]; /* of the space */
  int ndim;
  int8_t dim[LGT_MAX_DIM]; /* loop dimension -> space dimension */
  int8_t inner;            /* reductions: the space dimension that is walked innermost; -1: as it comes */
  lgt_plan_access *access; /* owned, one for each access of the loop */
  uint16_t *param_call;    /* owned, by parameter of the loop: the call of the plan that has it */
  uint8_t *param_index;    /* and its number among that call's parameters */
  /* For a single colour whose instances are whole roots: ready to run. */
  lgt_nest_shape shape;
  lgt_base *base;   /* owned: byte offset within the slot's memory; INDEX: the base */
  int64_t bytes;    /* that it reads, and that it writes: each element once; one native call: 0, unknown */
  int64_t cost;     /* bytes that would be moved in the time it takes (abreast.h); where they are unknown: 0 */
  uint16_t abreast; /* of the loops that may run at once with it: the first one (abreast.h) */
  bool stream;      /* its results are too large to stay in cache */
} lgt_plan_loop;

/* Does access `a` of a loop load what a native call has left in the block? */
static inline bool lgt_access_is_block(const lgt_plan_loop *loop, int a) {
  return loop->access[a].slot == LGT_NONE && loop->kernel->loop->access[a].mode == LGT_ACCESS_LOAD;
}

/* An elided result of a group. */
typedef struct lgt_plan_elided {
  uint16_t root;
  bool must_die;
  uint16_t *item; /* owned: the calls of the group it depends on, in order */
  uint16_t nitem;
  uint64_t *reads; /* owned, bits: does a recipe read what is in a slot of the group?  must_die: NULL */
} lgt_plan_elided;

typedef struct lgt_touch lgt_touch; /* touch.h */
typedef struct lgt_touched {
  uint16_t root;
  uint8_t part;
} lgt_touched;
typedef struct lgt_guard lgt_guard; /* shift.h */

/* Elements around a tile. */
typedef struct lgt_halo {
  int64_t below[LGT_MAX_DIM], above[LGT_MAX_DIM];
} lgt_halo;

/* Seconds that a group takes on the host and on a device (side.h); those for copies that each needs first, and for code. */
typedef struct lgt_estimate {
  double host, device, down, up, wait;
} lgt_estimate;
enum { LGT_MOST_MOVES = 20 };

/* What belongs to a group and is no part of its plan; all is made when first needed. */
enum { LGT_RECORDS = 2 };
typedef struct lgt_plan_notes {
  lgt_touch *touch; /* owned; touch.h */
  int ntouch;
  int64_t brought;             /* the most that any of them brings to every domain */
  lgt_touched *touched;        /* owned: the roots in them, each once, or each part of one */
  int ntouched, nheld;         /* ... of which those come first that have contents from before the group */
  int16_t *of_slot;            /* owned, by slot: the number of its root, or part of one, among these; -1: no call touches it */
  lgt_rect *cover;             /* owned, by local domain * nheld + such a number: what all touches of contents from before are of,
                           ndim -1: nothing; NULL: data selects it */
  void *survey;                /* owned; survey.h */
  void *room;                  /* owned; room.h, of a later room */
  void *fitting;               /* owned; attempt.c */
  void *folds;                 /* owned; fold.c, like the next one */
  void *privates;              /* owned */
  void *points;                /* owned; point.c */
  void *recorded[LGT_RECORDS]; /* owned: what its exchanges did, the newest first (record.h, of a later room) ... */
  int unlike;                  /* ... and how many of them in a row no record was like */
  lgt_guard *guard;            /* owned; shift.h */
  int nguard;
  bool guarded;
  struct lgt_plan_group **rescue; /* owned, by elided result: how to compute it later */
  struct lgt_template **template; /* owned: lists (template.h, of a later room); NULL: none yet */
  void (*free_templates)(struct lgt_template **template);
  lgt_halo *halo; /* owned, by slot: what tiles of what it ends as were found to need later; NULL: nothing */
  int halos;      /* how often that has changed */
  bool foreseen;  /* what later groups of the plan need is among that */
  bool on_grid;   /* devices may be launched with all its loops (grid.h); false: or nobody has looked yet */
  char *name;     /* owned; in the profile */
  char *on_host;  /* owned: why its last run was the host's although there are devices, and which operation's; NULL: it was not */
  int estimated;  /* 0: the estimate is not made, or of another stage (side.h) */
  bool alone;     /* its last run was before any device was opened */
  lgt_estimate on;     /* without copies */
  lgt_estimate chosen; /* of the last run, with copies; 0 if nobody chose */
  double missed;       /* seconds that it would have won on a device since it moved there last */
  int moves;           /* how often it moved there and then found its arrays on the host again */
} lgt_plan_notes;

typedef struct lgt_plan_group {
  struct lgt_plan *plan;       /* borrowed */
  int first, count;            /* calls of the plan */
  const lgt_partition *launch; /* of all its calls; mixed: its owners, each of which has a tile of each call, or none (cells.h) */
  bool mixed;
  int64_t repeated;    /* while it is made: elements that each of its tasks works on for itself */
  int turns;           /* 0: none; else as many would be groups if some calls were not computed in margins, too (widen.h) */
  lgt_refusal refusal; /* what ended it */
  lgt_plan_slot *slot; /* owned */
  int nslot;
  lgt_plan_loop *loop; /* owned */
  int nloop;
  uint16_t *slot_of_final; /* owned, pairs root, slot: which memory each stored root ends in */
  int nfinal;
  lgt_plan_elided *elided; /* owned */
  int nelided;
  int nmust_die;
  struct lgt_weave_items *items; /* owned; what was woven, for rescues */
  bool inlined;                  /* some of its loops compute what others would leave in memory (inline.h) */
  bool patched;                  /* some of its loops take several elements at a time (patch.h) */
  bool split;                    /* it works on several parts of a root */
  int nparam;                    /* parameters of all loops */
  int naccess;                   /* accesses of all loops */
  int nnative, nnative_arg;      /* native calls of all loops, and their arguments */
  lgt_plan_notes *notes;         /* owned, and no part of the plan */
} lgt_plan_group;

typedef struct lgt_lessons {
  bool stale;   /* they have changed: the plan shall be made again */
  bool *wanted; /* in the same block, by root: is to be stored: was asked for after it had been elided, or that is cheaper */
} lgt_lessons;

typedef struct lgt_plan {
  uint64_t hash;
  uint64_t *word; /* owned: the canonical form */
  int nword;
  lgt_plan_call *call;  /* owned */
  lgt_alignment *align; /* owned: of the calls' arguments, one after the other; shifted plans share them */
  int ncall;
  lgt_plan_root *root; /* owned */
  int nroot;
  lgt_plan_group *group; /* owned */
  int ngroup;
  bool fused_whole; /* one group took all, or would if arrays were not cut: the window may grow */
  uint64_t *form;   /* owned: the window's form ... */
  int nform;
  uint64_t form_hash;
  bool saves;       /* its groups may leave former contents to recipes (`saved`) */
  bool spares;      /* one leaves more than most_saved, for the sake of results that are held and would take more still */
  bool lean;        /* memory is short: results that are spare are not stored, although somebody may hold them */
  bool devices;     /* made for a device (lgt_window.devices) */
  bool guessed;     /* nobody had looked which results are dead; to be made again when there is time to look */
  uint32_t *layout; /* owned: ... and its layouts by number */
  int nlayout;
  struct lgt_plan *origin; /* ref: of which it is a shifted copy (shift.h); NULL: of none */
  bool translated;         /* such a copy: all views of a root are equally far from its origin's, and cut alike */
  lgt_lessons *lessons;    /* owned; a shifted copy's: its origin's */
  /* What keeps it: */
  int refs;                              /* runs of it, jobs, recipes, shifted copies */
  uint64_t calls_hash;                   /* of kinds and shapes: the same when it is made again */
  uint32_t epoch;                        /* of layouts, in which it was looked up last */
  bool retired;                          /* nobody finds it any more */
  uint32_t trace;                        /* the number of the trace it was recorded for last (trie.h); 0: of none */
  int64_t bytes;                         /* of a shifted plan, which is freed with its last user; else 0 */
  int recipes;                           /* those of its users */
  struct lgt_plan *next_shifted, **link; /* of a shifted plan: in the fuser's list of them */
} lgt_plan;

/* Words with a bit for each of the group's slots. */
static inline int lgt_plan_words(const lgt_plan_group *group) { return group->nslot / 64 + 1; }

static inline lgt_plan *lgt_plan_retain(lgt_plan *plan) {
  plan->refs++;
  return plan;
}
/* One that was shifted to fit serves once, and one that guessed until there is time to do better. */
static inline bool lgt_plan_serves_again(const lgt_plan *plan) { return !plan->origin && !plan->retired && !plan->guessed; }
/* The program has asked for an elided result: the next plan of the window stores it. */
void lgt_plan_want(const lgt_plan *plan, uint16_t root);
/* Frees a shifted plan with its last reference; other plans are kept until they are swept. */
void lgt_plan_release(lgt_plan *plan);
/* The group that lasts: of a shifted plan, the same group of its origin.  One that rescues results (recipes.h) is none of the
 * plan's groups, and has notes of its own. */
static inline const lgt_plan_group *lgt_plan_group_lasting(const lgt_plan_group *group) {
  const lgt_plan *plan = group->plan;
  bool one = plan->origin && group >= plan->group && group < plan->group + plan->ngroup;
  return one ? &plan->origin->group[group - plan->group] : group;
}

/* Parameters of the group's calls: LGT_MAX_PARAMS of each, up to the last call that takes any. */
static inline int lgt_plan_group_params(const lgt_plan_group *group) {
  const lgt_plan_call *call = &group->plan->call[group->first];
  int n = group->count;
  while (n > 0 && !call[n - 1].kind->nparams) n--;
  return n * LGT_MAX_PARAMS;
}

/* The recipe of the elided results of one run of a group. */
struct lgt_recipe {
  int refs;                    /* deferred stores */
  const lgt_plan_group *group; /* borrowed */
  struct lgt_binding *binding; /* of the same block; rescue.h: the instances and parameters it ran with */
  int64_t former;              /* bytes of former contents among them */
  int64_t results;             /* bytes that the deferred stores would take */
};

/* A window that has run under shifted plans, and how often (shift.c). */
typedef struct lgt_seen {
  uint64_t hash;
  int times;
} lgt_seen;

typedef struct lgt_fuser {
  lgt_stores *stores; /* borrowed, like all below */
  lgt_kernels *kernels;
  const lgt_config *config;
  lgt_solver solver;
  int workers;
  int64_t cache_bytes;                   /* of the last-level cache */
  double collection_ns;                  /* what a collection costs (lgt_collected) */
  int64_t gpu_bytes;                     /* of the memory of the first GPU; 0: there is none */
  int64_t mem;                           /* the least `mem` of all ranks; 0: none has one */
  int64_t most_saved;                    /* bytes of former contents that a group may leave to recipes */
  uint64_t jitter;                       /* state of random choices, for tests; 0: none */
  const lgt_kind *copy_kind[LGT_NDTYPE]; /* borrowed: copies of each element type */
  lgt_plan **table;                      /* owned, open addressing by hash */
  uint32_t count, mask;
  int64_t calls;      /* of all plans */
  lgt_plan **by_form; /* owned; the newest plan of a form, by its hash; LGT_FORMS of them */
  lgt_seen *seen;     /* owned; by hash; LGT_FORMS of them */
  lgt_plan *shifted;  /* those there are; each belongs to its users */
  lgt_plan **retired; /* owned: replaced or forgotten, but perhaps still running */
  int nretired, retired_room;
  uint64_t *gone;      /* owned; calls_hash of plans that were swept; LGT_GONE, or NULL: none were */
  int64_t made, again; /* plans since the last sweep; those of them that had been swept before */
} lgt_fuser;

/* Do the first calls that use a root write all of it piece by piece, before one reads?  How many calls there are up to the last
 * piece; 0: they do not. */
int lgt_plan_pieces(const lgt_fuser *fuser, const lgt_plan *plan, uint16_t root);
/* Are results of a group not stored because what recipes keep takes less, and does that hold for the layouts that the roots of
 * the plan have now (shift.h)? */
bool lgt_plan_spares_still(const lgt_fuser *fuser, const lgt_plan *plan, int group);
/* May plans leave out results that nobody can reach?  Else it does not matter which these are. */
static inline bool lgt_fuser_elides(const lgt_fuser *fuser) { return fuser->config->fusion && fuser->config->temporaries; }

lgt_status lgt_fuser_init(lgt_fuser *fuser);
void lgt_fuser_fini(lgt_fuser *fuser);
/* Forget all plans (the options changed).  They are kept in `retired`, for recipes may need them. */
void lgt_fuser_clear(lgt_fuser *fuser);
/* For sweep.h.  Retire: forget plans that were not looked up for long.  Sweep: free retired plans that are not in use. */
void lgt_fuser_retire(lgt_fuser *fuser);
void lgt_fuser_sweep(lgt_fuser *fuser);
/* Numbers of layouts, which are in the hashes of windows, stand for other layouts from now on: forget `seen`. */
void lgt_fuser_forget_seen(lgt_fuser *fuser);

/* The plan of the window's canonical form, or NULL. */
lgt_plan *lgt_fuser_find(const lgt_fuser *fuser, const lgt_window *window);
/* The newest plan of the window's form, or NULL. */
lgt_plan *lgt_fuser_find_form(const lgt_fuser *fuser, const lgt_window *window);
/* Make the plan of the first n calls, whose canonical form (and form) the window holds; replaces a stale one.
 * Handles that died before the call count as dead, all others as alive. */
lgt_status lgt_fuser_plan(lgt_fuser *fuser, const lgt_window *window, int n, lgt_plan **out);
/* The host is to run a group's loops: their code is wanted.  Those of all groups, unless devices may run them. */
void lgt_plan_want_code(const lgt_fuser *fuser, const lgt_plan_group *group);
void lgt_plan_want_host_code(const lgt_fuser *fuser, const lgt_plan *plan);
/* Only decide how the calls are cut and grouped: a plan whose groups are not woven, that nobody finds, and that the caller
 * frees.  All ranks decide alike. */
lgt_status lgt_fuser_decide(lgt_fuser *fuser, const lgt_window *window, int n, lgt_plan **out);
void lgt_plan_free(lgt_plan *plan);

#endif
