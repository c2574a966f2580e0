/* map.h - instances: where the elements of stores are, in which memory, and copies between memories.
 *
 * An *instance* is an allocation in one memory domain that holds a rect of a store's root, in C order
 * of that rect.  A *replica* is what a domain has of a store: mostly one instance.  Which elements of it are the
 * newest follows from the store's history (coherence.h).  When a task needs a larger rect the instance is replaced
 * by one that covers both, so that tile and halo lie in one piece of memory (coalescing); elements that lie far away have an
 * instance of their own (replica.h).  Elements that a domain has fetched stay valid until a domain writes them, so that
 * a stencil moves halo elements only.
 *
 * The domains of all ranks are numbered together, rank by rank; a rank has instances only in its own, the *local*
 * domains.
 *
 * While a recipe or a second store refers to an instance, the instance is immutable, and a store that is to be written in
 * place gets a copy.  Two kinds of elements are exempt: those that no recipe reads, and those that come from another
 * domain and are the same for all owners of the instance (`alike`) and for its recipes (`pinned_alike`).  If one owner is
 * left, `alike` still says when it was what the others were, as long as recipes may read that.  A failure poisons a whole
 * instance, so a task that may fail counts as writing all of it.  Memory of dead instances is kept in a pool and reused
 * while its pages are warm.
 *
 * Memory of devices is reused before the tasks are over that work on it: a *leaving* instance, which nobody but tasks in
 * flight refers to, may give its memory to a new one (its *former* instance), whose first task then waits for those.  In the
 * queue for kernels that costs nothing, since the next kernel is behind them anyway; another queue waits for their event.
 *
 * Belongs to the submitting thread.  `writer` and `reader` order tasks (depend.h).
 */
#ifndef LGT_MAP_H
#define LGT_MAP_H

#include "memory/coherence.h"
#include "memory/pool.h"
#include "base/runs.h"
#include "model/store.h"
#include "model/failure.h"
#include "model/kind.h"

typedef struct lgt_task lgt_task; /* exec.h */

/* A memory of this rank, where instances lie: the host's, or that of a device.  A domain says who computes, and all ranks
 * agree about it; a memory is a rank's own affair.  A domain has a *home* memory, but may have instances in the host's
 * memory, too: elements are copied between these as between any instances of a replica (replica.h), and no history records
 * such a copy. */
enum { LGT_QUEUE_KERNELS, LGT_QUEUE_IN, LGT_QUEUE_OUT, LGT_QUEUES }; /* copies into it, and to the host, go beside kernels */
typedef struct lgt_memory {
  lgt_pool *pool;               /* ref */
  lgt_device *device;           /* owned, unless it is the host */
  bool on_host;                 /* as of the device */
  lgt_queue *queue[LGT_QUEUES]; /* owned, of a device */
} lgt_memory;
enum { LGT_MOST_DEVICES = 16 };

struct lgt_instance {
  int refs;             /* stores, bindings, tasks in flight, an instance that has taken its memory */
  int flying;           /* tasks in flight among the refs */
  int abroad;           /* those of them that its memory's queue for kernels does not do */
  bool leaving;         /* it is in the map's list of those that only tasks in flight refer to */
  bool behind;          /* a task that writes it has been put behind those of the former one */
  lgt_instance *former; /* ref: whose memory it has, on which tasks may be in flight; or NULL */
  int owners;           /* stores among the refs */
  int64_t alike;        /* up to this version all owners had the same contents; or LGT_ALIKE_NEVER, LGT_ALIKE_SOON */
  int pins;             /* recipes among the refs */
  int64_t pinned_alike; /* pins > 0: up to this version they read what the store has that is there; or as above */
  int domain;           /* whose it is, for messages */
  lgt_memory *memory;   /* borrowed */
  int elem;             /* bytes of an element */
  int64_t waste;        /* at most so many of its elements were never asked for */
  char *data;
  int64_t bytes;               /* allocated or adopted; 0: attached memory */
  void (*release)(void *data); /* of adopted memory: gives it back; NULL: it is the pool's, or attached */
  lgt_thin *thin;              /* owned: whose addresses these are; NULL: all of it has memory */
  lgt_task *writer;            /* last task in flight that writes it */
  lgt_task **reader;           /* owned: tasks in flight that read it and came after the writer */
  int nreader, reader_room;
  lgt_failure *failure;        /* ref; the task that should have written it failed */
  int64_t overwritten_by;      /* number of the last job that overwrote all of it or poisoned it: earlier failures are over */
  int64_t overwritten_at;      /* position in the stream of that job's group */
  uint32_t stamp;              /* of the job that listed the instance last */
  lgt_rect rect;               /* of the root; from here on a new instance is not zeroed */
  lgt_rect made_for;           /* the part for whose sake it was made: without room for halos, and for what it grew by */
  int64_t stride[LGT_MAX_DIM]; /* in bytes, along the rect's dimensions */
  lgt_rect pinned;             /* pins > 0: a bound of all elements that these recipes read */
};

/* In place of a version.  NEVER: it is not known that owners were ever alike.  SOON: they are alike from the end of the
 * group that is being bound. */
enum { LGT_ALIKE_NEVER = -1, LGT_ALIKE_SOON = -2 };

/* An instance of a replica that is put aside, and the elements of it for which another instance has newer ones
 * (replica.h). */
typedef struct lgt_aside {
  lgt_instance *inst; /* ref */
  lgt_region old;
} lgt_aside;

struct lgt_replica {
  lgt_instance *inst; /* ref, or NULL: the main one */
  lgt_region old;     /* elements of it for which an aside has newer ones */
  lgt_aside *aside;   /* owned: the other instances */
  int naside, aside_room;
  int grown;         /* how often the main instance was too small */
  lgt_region absent; /* with several ranks: what the history says was copied here, though there was no memory */
};

typedef struct lgt_map {
  lgt_stores *stores; /* borrowed */
  int domains;        /* of all ranks */
  int local, first;   /* domains of this rank, and the number of their first one */
  lgt_footprints footprints;
  lgt_histories histories;
  lgt_memory memory[1 + LGT_MOST_DEVICES]; /* [0]: the host's; then devices': [1 + d] is the home of local domain d */
  int nmemory;
  lgt_instance **leaving; /* borrowed, the array owned: of devices, in the order in which they were left */
  int nleaving, leaving_room;
  int64_t handed_over;      /* counter: bytes of theirs that others got */
  lgt_pool *pool;           /* borrowed: of the host's memory */
  int64_t live, peak;       /* bytes of instances */
  int64_t kept_alone;       /* with one domain: bytes of those that recipes keep, and no store any more */
  int64_t since_collection; /* bytes that stores and recipes came to hold since the last collection, and hold still, and of
                             * records: what dead handles may hold */
  int64_t held_since;       /* ... and how many instances these are */
  int64_t copied;           /* bytes between instances of this rank */
  bool check;               /* new instances are filled with NaN, so that a read of what was never written shows */
  int64_t uploads, downloads, up_bytes, down_bytes; /* copies to devices and back */
  lgt_spares spare_instance;                        /* owned: records to use again, with the arrays they have grown */
  lgt_spares spare_replicas;
} lgt_map;

/* What follows from the number of domains and memories; no caller asks for the number of domains itself.
 *   whole    each instance is all of its root: neither tiles nor histories
 *   still    `whole` holds, and no element ever moves, because all instances lie in the host's memory */
static inline bool lgt_map_whole(const lgt_map *map) { return lgt_domain_alone(map->domains); }
static inline bool lgt_map_still(const lgt_map *map) { return lgt_map_whole(map) && map->nmemory == 1; }
/* The memory in which a local domain works. */
static inline lgt_memory *lgt_map_home(lgt_map *map, int domain) {
  return &map->memory[domain + 1 < map->nmemory ? domain + 1 : 0];
}

/* `local` domains on each of `ranks` ranks, of which this one is `rank`. */
lgt_status lgt_map_init(lgt_map *map, lgt_stores *stores, int local, int rank, int ranks, int64_t budget);
/* The next local domain without a device gets this one's memory as its home.  Takes over the device. */
lgt_status lgt_map_add_device(lgt_map *map, lgt_device *device, int64_t budget);
void lgt_map_fini(lgt_map *map);

/* A new instance in the host's memory, with one reference; NULL when the budget or the memory is used up (no message: the
 * caller knows what it was for). */
lgt_instance *lgt_instance_new(lgt_map *map, int domain, const lgt_layout *root, const lgt_rect *rect);
/* As lgt_instance_new, in any memory. */
lgt_instance *lgt_instance_in(lgt_map *map, lgt_memory *memory, int domain, const lgt_layout *root, const lgt_rect *rect);
/* As lgt_instance_new, in a thin block, where what is going to be written is noted.  On success it owns the block. */
lgt_instance *lgt_instance_new_thin(lgt_map *map, int domain, const lgt_layout *root, const lgt_rect *rect, lgt_thin *thin);
/* Of a thin instance all that is noted in `more` is going to be written.  False: there is no memory for it, and nothing has
 * changed.  `needed`: may exceed the budget. */
bool lgt_instance_thicken(lgt_map *map, lgt_instance *inst, const lgt_thin *more, bool needed);
/* Of a thin instance, which no task in flight refers to, what is not noted in `wanted` is given back. */
void lgt_instance_thin_out(lgt_map *map, lgt_instance *inst, const lgt_thin *wanted);
/* An instance over memory of the host program: the whole root in C order. */
lgt_instance *lgt_instance_attach(lgt_map *map, const lgt_layout *root, void *data);
/* The same over memory that is nobody else's, which the instance frees. */
lgt_instance *lgt_instance_adopt(lgt_map *map, const lgt_layout *root, void *data, void (*release)(void *data));
/* A buffer for `count` elements of `elem` bytes that are on their way.  `needed`: may exceed the budget. */
lgt_instance *lgt_instance_buffer(lgt_map *map, int elem, int64_t count, bool needed);
/* An instance that all ranks count on: may exceed the budget. */
lgt_instance *lgt_instance_shared(lgt_map *map, int elem, const lgt_rect *rect);
static inline lgt_instance *lgt_instance_retain(lgt_instance *inst) {
  inst->refs++;
  return inst;
}
/* An instance has one reference less: only tasks in flight refer to it, or nobody does. */
void lgt_instance_left(lgt_map *map, lgt_instance *inst);
static inline void lgt_instance_release(lgt_map *map, lgt_instance *inst) { /* NULL: do nothing */
  if (inst && --inst->refs <= inst->flying) lgt_instance_left(map, inst);
}

/* May any thread of the host read and write the instance's elements? */
static inline bool lgt_instance_on_host(const lgt_instance *inst) { return inst->memory->on_host; }

/* Handles hold so much more, or less, that a collection may give back. */
void lgt_map_hold(lgt_map *map, int64_t bytes);
void lgt_map_let_go(lgt_map *map, int64_t bytes);
/* One more store, or one less, has the instance among its own. */
void lgt_instance_own(lgt_map *map, lgt_instance *inst);
void lgt_instance_disown(lgt_map *map, lgt_instance *inst);
/* One more recipe refers to the instance, and reads `rect` of it; or one less does. */
void lgt_instance_pin(lgt_map *map, lgt_instance *inst, const lgt_rect *rect);
void lgt_instance_unpin(lgt_map *map, lgt_instance *inst);

/* The address of a root coordinate within an instance. */
char *lgt_instance_at(const lgt_instance *inst, const int64_t *coordinate);

/* The part of a view that one tile of the space needs, within an instance; space_stride (may be NULL)
 * gets the strides along the space's dimensions, in bytes. */
void lgt_instance_tile(const lgt_layout *layout, const lgt_alignment *align, const lgt_rect *tile, const lgt_instance *inst,
                       lgt_tile *out, int64_t *space_stride);

/* The store's replicas, one for each local domain, made when first asked for; NULL when out of memory. */
lgt_replica *lgt_store_replicas(lgt_map *map, lgt_store *store);
/* The replica of a store (which has replicas) that a local domain uses.  A scalar has one on each rank, for all domains. */
const lgt_replica *lgt_store_replica(const lgt_map *map, const lgt_store *store, int domain);
/* The store has a history from now on, if only an empty one. */
static inline void lgt_store_begin_history(const lgt_map *map, lgt_store *store) {
  if (!store->history) store->history = &map->histories.none;
}
/* The replica's main instance is `inst` from now on (takes over a reference; NULL: none). */
void lgt_replica_set(lgt_map *map, lgt_replica *replica, lgt_instance *inst);
/* The store loses its contents: all its instances, asides too. */
void lgt_store_forget(lgt_map *map, lgt_store *store);

/* One copy: the elements of `rect` (root coordinates) from one instance to another.  Either of these may be a buffer for
 * messages instead: then `from_at` or `to_at` is the element of the buffer from which on the copied elements lie one
 * after the other.  -1: no buffer, the elements lie as an instance's do. */
typedef struct lgt_copy {
  lgt_instance *from, *to; /* borrowed; NULL: `buffer` */
  lgt_rect rect;
  int64_t from_at, to_at;
  lgt_runs *runs; /* a ref once a task holds the copy; NULL: all of the rect, else its runs along dimension `along` */
  int along;
  char *buffer; /* borrowed: a buffer of the host that is no instance */
} lgt_copy;
/* All of `rect`, between instances that are no buffers. */
static inline lgt_copy lgt_copy_of(lgt_instance *from, lgt_instance *to, const lgt_rect *rect) {
  return (lgt_copy){.from = from, .to = to, .rect = *rect, .from_at = -1, .to_at = -1};
}
void lgt_copy_run(const lgt_copy *copy);
/* As lgt_copy_run, by a queue of a device. */
lgt_status lgt_copy_enqueue(const lgt_copy *copy, const lgt_device *device, lgt_queue *queue);
/* How many elements: those of the runs, or (NULL) of the rect. */
int64_t lgt_elements(const lgt_rect *rect, const lgt_runs *runs, int along);
/* Are the elements of a rect one after the other in the instance? */
bool lgt_instance_contiguous(const lgt_instance *inst, const lgt_rect *rect);

#endif
