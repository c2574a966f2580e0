/* map.h - instances: where the elements of stores are, in which memory, and copies between memories.
 *
 * An *instance* is an allocation in one memory domain that holds a rect of a store's root, in C order
 * of that rect.  A *replica* is what a domain has of a store: at most one instance, and the region of
 * it that holds the newest data.  The replicas of a store together hold every element that was ever
 * written.  When a task needs a larger rect the instance is replaced by one that covers both, so that
 * tile and halo lie in one piece of memory (coalescing), and what a domain has fetched stays valid
 * until somebody writes it, so that a stencil moves halo elements only.
 *
 * An instance is immutable while a recipe or a second store refers to it: who wants to write in place
 * then gets a copy.  Memory of dead instances is kept in a pool and reused while its pages are warm.
 *
 * Scalars (0-d stores) live in domain 0 and are read by all domains from there.
 *
 * Belongs to the submitting thread.  `writer` and `reader` order tasks (depend.h).
 */
#ifndef LGT_MAP_H
#define LGT_MAP_H

#include "exec.h"
#include "store.h"
#include "task.h"

typedef struct lgt_instance {
  int refs;            /* stores, bindings, tasks in flight */
  int owners;          /* stores among them */
  int pins;            /* recipes among them */
  int domain;
  int elem;            /* bytes of an element */
  lgt_rect rect;       /* of the root */
  int64_t stride[LGT_MAX_DIM]; /* in bytes */
  char *data;
  int64_t bytes;       /* allocated; 0: attached memory */
  lgt_task *writer;    /* last task in flight that writes it */
  lgt_task **reader;   /* owned: tasks in flight that read it and came after the writer */
  int nreader, reader_room;
  lgt_failure *failure; /* ref; the task that should have written it failed */
  uint32_t stamp;      /* of the job that listed it last */
  struct lgt_instance *next; /* among the spare ones */
} lgt_instance;

struct lgt_replica {
  lgt_instance *inst;  /* ref, or NULL */
  lgt_region valid;    /* of the root */
  struct lgt_replica *next; /* of the first one: among the spare arrays of replicas */
};

enum { LGT_POOL_CLASSES = 256 };

/* A free block of memory; kept in its own first bytes. */
typedef struct lgt_free_block {
  struct lgt_free_block *next;
} lgt_free_block;

typedef struct lgt_map {
  lgt_stores *stores;  /* borrowed */
  int domains;
  int64_t budget;      /* bytes */
  int64_t live, peak;  /* bytes of instances */
  int64_t pooled;      /* bytes of free blocks */
  int64_t since_collection; /* bytes allocated since the last collection, records included */
  int64_t copied;      /* bytes between domains */
  lgt_free_block *pool[LGT_POOL_CLASSES];
  lgt_instance *spare_instance; /* owned: records to use again, with the arrays they have grown */
  lgt_replica *spare_replicas;
} lgt_map;

void lgt_map_init(lgt_map *map, lgt_stores *stores, int domains, int64_t budget);
void lgt_map_fini(lgt_map *map);

/* A new instance with one reference; NULL when the budget or the memory is used up (no message: the
 * caller knows what it was for). */
lgt_instance *lgt_instance_new(lgt_map *map, int domain, const lgt_layout *root, const lgt_rect *rect);
/* One that uses memory of the host program, whole root in C order. */
lgt_instance *lgt_instance_attach(lgt_map *map, const lgt_layout *root, void *data);
static inline lgt_instance *lgt_instance_retain(lgt_instance *inst) { inst->refs++; return inst; }
void lgt_instance_release(lgt_map *map, lgt_instance *inst);
/* Give free memory back to the system. */
void lgt_map_trim(lgt_map *map);

/* The address of a root coordinate within an instance. */
char *lgt_instance_at(const lgt_instance *inst, const int64_t *coordinate);

/* The store's replicas, made when first asked for; NULL when out of memory. */
lgt_replica *lgt_store_replicas(lgt_map *map, lgt_store *store);
/* Domain's instance of the store is `inst` from now on (takes over a reference; NULL: none). */
void lgt_replica_set(lgt_map *map, lgt_replica *replica, lgt_instance *inst);
/* The store has no contents any more. */
void lgt_store_forget(lgt_map *map, lgt_store *store);

/* After a write of `rect` in `domain`: valid there, and nowhere else.  False when out of memory: then
 * nothing has changed. */
bool lgt_store_written(lgt_map *map, lgt_store *store, int domain, const lgt_rect *rect);

/* One copy between instances that has to happen: root coordinates `rect`. */
typedef struct lgt_copy {
  lgt_instance *from, *to; /* borrowed */
  lgt_rect rect;
} lgt_copy;
void lgt_copy_run(const lgt_copy *copy);

/* What must be copied so that `rect` is valid in `domain`, whose instance covers it: appended to
 * copies (owned by the caller), who adds `rect` to the valid region when they are under way.  False when
 * out of memory. */
bool lgt_store_fetch(lgt_map *map, lgt_store *store, int domain, const lgt_rect *rect, lgt_copy **copies, int *count, int *room);

#endif
