/* map.h - instances: where the elements of stores are, in which memory, and copies between memories.
 *
 * An *instance* is an allocation in one memory domain that holds a rect of a store's root, in C order
 * of that rect.  A *replica* is what a domain has of a store: mostly one instance.  Which elements of it are the
 * newest follows from the store's history (coherence.h).  When a task needs a larger rect the instance is replaced
 * by one that covers both, so that tile and halo lie in one piece of memory (coalescing); what lies far away has an
 * instance of its own (replica.h).  What a domain has fetched stays valid until somebody writes it, so that a stencil
 * moves halo elements only.
 *
 * The domains of all ranks are numbered together, rank by rank; a rank has instances in its own ones, the *local*
 * domains, only.
 *
 * An instance is immutable while a recipe or a second store refers to it, but for elements that no recipe reads, and those
 * that come from elsewhere and are the same for all its owners (`alike`): who wants to write in place then gets a copy.
 * A failure is the whole instance's, so whoever may fail counts as writing all of it.  Memory of dead instances is kept in
 * a pool and reused while its pages are warm.
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
 * agree about it; a memory is a rank's own affair.  A domain has a *home*, but may have instances in the host's memory, too:
 * the copies between them are those inside a replica (replica.h), and no history knows of them. */
typedef struct lgt_memory {
  lgt_pool *pool;      /* ref */
  lgt_device *device;  /* owned, unless it is the host */
  bool on_host;        /* as of the device */
  lgt_queue *queue[2]; /* owned, of a device */
  unsigned turn;       /* which of them is next */
} lgt_memory;
enum { LGT_MOST_DEVICES = 16 };

struct lgt_instance {
  int refs;            /* stores, bindings, tasks in flight */
  int owners;          /* stores among them */
  int64_t alike;       /* until this version those that own it were the same; LGT_ALIKE_NEVER, LGT_ALIKE_SOON */
  int pins;            /* recipes among them ... */
  lgt_rect pinned;     /* ... and around all that they read, if there are some */
  int domain;          /* local */
  lgt_memory *memory;  /* borrowed */
  int elem;            /* bytes of an element */
  lgt_rect rect;       /* of the root */
  int64_t waste;       /* elements of it that nobody has asked for, at most */
  int64_t stride[LGT_MAX_DIM]; /* in bytes */
  char *data;
  int64_t bytes;       /* allocated; 0: attached memory */
  lgt_task *writer;    /* last task in flight that writes it */
  lgt_task **reader;   /* owned: tasks in flight that read it and came after the writer */
  int nreader, reader_room;
  lgt_failure *failure; /* ref; the task that should have written it failed */
  int64_t overwritten_by; /* number of the last job that wrote all of it, or said why not: earlier failures do not count */
  int64_t overwritten_at; /* position in the stream of that job's group */
  uint32_t stamp;      /* of the job that listed it last */
};

/* Instead of a version: nobody knows; from the end of the group that is being bound. */
enum { LGT_ALIKE_NEVER = -1, LGT_ALIKE_SOON = -2 };

/* One of a replica's instances that is put aside, and what of it another one has newer (replica.h). */
typedef struct lgt_aside {
  lgt_instance *inst; /* ref */
  lgt_region old;
} lgt_aside;

struct lgt_replica {
  lgt_instance *inst;       /* ref, or NULL: the main one */
  lgt_region old;           /* what of it another one has newer */
  lgt_aside *aside;         /* owned: the others */
  int naside, aside_room;
  lgt_region absent;        /* with several ranks: what the history says was copied here, but there was no memory */
};

typedef struct lgt_map {
  lgt_stores *stores;  /* borrowed */
  int domains;         /* of all ranks */
  int local, first;    /* domains of this rank, and the number of their first one */
  lgt_footprints footprints;
  lgt_histories histories;
  lgt_memory memory[1 + LGT_MOST_DEVICES]; /* the host's first, then those of devices: the homes of the first domains */
  int nmemory;
  lgt_pool *pool;      /* borrowed: of the host's memory */
  int64_t live, peak;  /* bytes of instances */
  int64_t since_collection; /* bytes that dead handles may hold since then: allocated and not given back, and records */
  int64_t copied;      /* bytes between domains of this rank */
  int64_t uploads, downloads, up_bytes, down_bytes; /* copies to devices and back */
  lgt_spares spare_instance; /* owned: records to use again, with the arrays they have grown */
  lgt_spares spare_replicas;
} lgt_map;

/* What used to follow from there being one domain; nobody asks for their number.
 *   whole    each instance is all of its root: neither tiles nor histories
 *   still    ... and nothing ever has to move, because all of it lies in the host's memory */
static inline bool lgt_map_whole(const lgt_map *map) { return lgt_domain_alone(map->domains); }
static inline bool lgt_map_still(const lgt_map *map) { return lgt_map_whole(map) && map->nmemory == 1; }
/* Where a local domain works. */
static inline lgt_memory *lgt_map_home(lgt_map *map, int domain) {
  return &map->memory[domain + 1 < map->nmemory ? domain + 1 : 0];
}

/* `local` domains on each of `ranks` ranks, of which this one is `rank`. */
lgt_status lgt_map_init(lgt_map *map, lgt_stores *stores, int local, int rank, int ranks, int64_t budget);
/* One more domain has a device's memory as its home; takes the device over. */
lgt_status lgt_map_add_device(lgt_map *map, lgt_device *device, int64_t budget);
void lgt_map_fini(lgt_map *map);

/* A new instance in the host's memory, with one reference; NULL when the budget or the memory is used up (no message: the
 * caller knows what it was for). */
lgt_instance *lgt_instance_new(lgt_map *map, int domain, const lgt_layout *root, const lgt_rect *rect);
/* The same in any memory. */
lgt_instance *lgt_instance_in(lgt_map *map, lgt_memory *memory, int domain, const lgt_layout *root, const lgt_rect *rect);
/* One that uses memory of the host program, whole root in C order. */
lgt_instance *lgt_instance_attach(lgt_map *map, const lgt_layout *root, void *data);
/* Room for `count` elements of `elem` bytes on their way; `needed`: beyond the budget, if it must be. */
lgt_instance *lgt_instance_buffer(lgt_map *map, int elem, int64_t count, bool needed);
/* Room for what all ranks count on, beyond the budget, too. */
lgt_instance *lgt_instance_shared(lgt_map *map, int elem, const lgt_rect *rect);
static inline lgt_instance *lgt_instance_retain(lgt_instance *inst) { inst->refs++; return inst; }
void lgt_instance_release(lgt_map *map, lgt_instance *inst);

/* May its elements be read and written here, by any thread of the host? */
static inline bool lgt_instance_on_host(const lgt_instance *inst) { return inst->memory->on_host; }

/* A recipe reads this much of it. */
static inline void lgt_instance_pin(lgt_instance *inst, const lgt_rect *rect) {
  inst->pinned = inst->pins++ ? lgt_rect_bound(&inst->pinned, rect) : *rect;
}

/* The address of a root coordinate within an instance. */
char *lgt_instance_at(const lgt_instance *inst, const int64_t *coordinate);

/* The part of a view that one tile of the space needs, within an instance; space_stride (may be NULL)
 * gets the strides along the space's dimensions, in bytes. */
void lgt_instance_tile(const lgt_layout *layout, const lgt_alignment *align, const lgt_rect *tile, const lgt_instance *inst,
                    lgt_tile *out, int64_t *space_stride);

/* The store's replicas, one for each local domain, made when first asked for; NULL when out of memory. */
lgt_replica *lgt_store_replicas(lgt_map *map, lgt_store *store);
/* Where a local domain finds what it has of a store that has replicas: a scalar exists once on a rank. */
const lgt_replica *lgt_store_replica(const lgt_map *map, const lgt_store *store, int domain);
/* The store has a history from now on, if only an empty one. */
static inline void lgt_store_begin_history(const lgt_map *map, lgt_store *store) {
  if (!store->history) store->history = &map->histories.none;
}
/* Domain's instance of the store is `inst` from now on (takes over a reference; NULL: none). */
void lgt_replica_set(lgt_map *map, lgt_replica *replica, lgt_instance *inst);
/* The store has no contents any more; nothing of it is put aside. */
void lgt_store_forget(lgt_map *map, lgt_store *store);

/* One copy that has to happen: root coordinates `rect`, between instances, or between one and a place in another
 * that holds messages: elements one after the other from element `from_at` or `to_at` on; -1: it is laid out as an
 * instance. */
typedef struct lgt_copy {
  lgt_instance *from, *to; /* borrowed */
  lgt_rect rect;
  int64_t from_at, to_at;
  lgt_runs *runs; /* ref once it is a task's; NULL: all of the rect, else what lies there along dimension `along` */
  int along;
} lgt_copy;
void lgt_copy_run(const lgt_copy *copy);
/* The same by a queue of a device. */
lgt_status lgt_copy_post(const lgt_copy *copy, const lgt_device *device, lgt_queue *queue);
/* How many elements; of runs, or (NULL) all of the rect. */
int64_t lgt_elements(const lgt_rect *rect, const lgt_runs *runs, int along);
/* Are the elements of a rect one after the other in the instance? */
bool lgt_instance_contiguous(const lgt_instance *inst, const lgt_rect *rect);

#endif
