/* store.h - layouts, stores and handles.
 *
 * A *store* is a logical n-dimensional array of one element type, in C order: the root of views.  A
 * *layout* is what a view adds to it: an affine map from the view's coordinates to the root's,
 * interned, so that equality of shape, type and place is equality of numbers, and so that the maps
 * of views can be cached by number, for as long as somebody has it (sweep.h).  A *handle* (lgt_id) pairs a store with a layout; several
 * handles may share a store.
 *
 * A store lives while handles, recorded launches or recipes refer to it (`handles`, `refs`).  Where
 * its elements are is the mapper's business (map.h): `replica`, `history`.
 *
 * Everything here belongs to the submitting thread.
 */
#ifndef LGT_STORE_H
#define LGT_STORE_H

#include "model/layout.h"

typedef struct lgt_replica lgt_replica; /* map.h */
typedef struct lgt_recipe lgt_recipe;   /* fuse.h */
typedef struct lgt_history lgt_history; /* coherence.h */
typedef struct lgt_image lgt_image;     /* image.h */
typedef struct lgt_failure lgt_failure; /* failure.h */
struct lgt_partition;

typedef struct lgt_store {
  uint32_t id;
  uint32_t layout; /* its root layout, dense */
  int32_t handles; /* live handles */
  int32_t refs;    /* recorded launches, recipes, attachments */
  int64_t version; /* of its contents: no other store has had the same one; 0: never written */
  uint32_t line;   /* where it was created, 0: unknown */
  bool written;    /* some element was */
  bool attached;   /* memory of the host program: stays where it is */

  int64_t noted; /* with other ranks: its number in the stream, by first use; 0: none yet */

  uint32_t stamp;  /* of the window that numbered it last */
  uint16_t number; /* in that window */
  int32_t uses;    /* references by the calls of that window */

  /* With devices: the last two groups that worked on it, numbered from 1 by their positions (evict.h). */
  int64_t used, used_before;

  lgt_replica *replica;               /* owned, one for each domain of this rank; NULL until it has an instance */
  const lgt_history *history;         /* borrowed from the map, NULL: none yet; with several domains: who has which elements */
  lgt_image *images;                  /* owned; with several domains: of which it is the source */
  const struct lgt_partition *key;    /* the partition it was last written with; NULL: none */
  lgt_recipe *recipe;                 /* ref; not NULL: its contents are not stored but can be computed */
  uint16_t recipe_root;               /* which of the recipe's results it is */
  const struct lgt_plan_group *maker; /* borrowed (plans live as long as the runtime): wrote it last */
  const char *at_once;                /* borrowed: the kind that wrote it since, without a task (launch.c, pick.c); or NULL */
  const struct lgt_plan_group
      *housed;               /* borrowed: made its memory, and makes more room next time if that is too little; or NULL */
  uint16_t housed_slot;      /* as which of its slots */
  lgt_failure *failure;      /* ref; not NULL: poisoned */
  struct lgt_instance *home; /* ref: attached memory of a device (share.h); NULL: the host's, or none */
  void (*release)(void *);   /* of attached memory */
  void *release_context;
} lgt_store;

/* What planning notes of a layout. */
typedef struct lgt_layout_note {
  uint64_t form;   /* lgt_layout_form; 0: not asked for yet */
  uint32_t stamp;  /* of the window that numbered it last */
  uint32_t number; /* in that window */
  uint32_t epoch;  /* in which it was last asked for, or found to be in use; LGT_NOWHERE: its number is free */
} lgt_layout_note;

/* What was asked of result.h in short. */
typedef struct lgt_result {
  uint32_t question, a, b;
  uint32_t layout; /* 0: nothing was asked yet */
  uint32_t view;
} lgt_result;

/* A view that was asked for: through one more slice, projection or promotion of a layout. */
typedef struct lgt_viewed {
  uint32_t of, how; /* how: which of these, of which dimension */
  int64_t first, count, step;
  uint32_t view; /* 0: nothing was asked yet */
} lgt_viewed;

enum {
  LGT_RESULTS = 4096,
  LGT_VIEWS = 8192,
  LGT_NO_TYPE = 2 * LGT_NDTYPE + 1, /* `type` of layout number 0, which is none, and of free numbers */
};
#define LGT_NOWHERE UINT32_MAX

typedef struct lgt_stores {
  lgt_layout *layout;    /* reserved, never moves; number 0 is unused */
  lgt_layout_note *note; /* reserved, by the layout's number */
  lgt_result *result;    /* owned: LGT_RESULTS places */
  lgt_viewed *viewed;    /* owned: LGT_VIEWS places */
  uint32_t nlayout;      /* no number in use is as great */
  uint32_t *free_layout; /* reserved stack */
  uint32_t nfree_layout;
  uint64_t *layout_table; /* owned, open addressing: numbers, and in the upper half part of the hash */
  uint32_t layout_mask;
  uint32_t epoch; /* sweeps of layouts so far, and one */

  lgt_store *store; /* reserved, never moves; number 0 is unused */
  uint32_t nstore;
  uint32_t *free_store; /* reserved stack */
  uint32_t nfree_store;

  lgt_handle *handle; /* reserved; layout 0: not in use, or, if it has a store, detached */
  uint32_t max_handle;
  uint32_t *free_handle; /* reserved stack, shared with the front */
  int64_t live_stores;
} lgt_stores;

lgt_status lgt_stores_init(lgt_stores *stores);
void lgt_stores_fini(lgt_stores *stores);

/* Intern a layout whose fields but size, flags and hash are set.  0 when the table is full. */
uint32_t lgt_layout_intern(lgt_stores *stores, lgt_layout *layout);
static inline int64_t lgt_layout_bytes(const lgt_layout *l) { return l->size * lgt_dtype_size(l->dtype); }
static inline const lgt_layout *lgt_layout_at(const lgt_stores *stores, uint32_t number) { return &stores->layout[number]; }

/* For sweep.h: a number is in use; those that were neither marked nor asked for in this epoch and the one before are
 * free from now on, unless there is no memory to find out. */
static inline void lgt_layout_mark(lgt_stores *stores, uint32_t number) { stores->note[number].epoch = stores->epoch; }
void lgt_layouts_sweep(lgt_stores *stores);

uint32_t lgt_stores_dense(lgt_stores *stores, int dtype, int ndim, const int64_t *shape);
uint32_t lgt_stores_slice(lgt_stores *stores, uint32_t layout, int dim, int64_t first, int64_t count, int64_t step);
uint32_t lgt_stores_project(lgt_stores *stores, uint32_t layout, int dim, int64_t index);
uint32_t lgt_stores_promote(lgt_stores *stores, uint32_t layout, int dim, int64_t extent);
uint32_t lgt_stores_transpose(lgt_stores *stores, uint32_t layout, const int *axes);
uint32_t lgt_stores_broadcast(lgt_stores *stores, uint32_t layout, int ndim, const int64_t *shape);
/* Element (i, i + above) of the matrices that two dimensions span, along a new last dimension. */
uint32_t lgt_stores_diagonal(lgt_stores *stores, uint32_t layout, int row, int column, int64_t above);
/* Element i + j of a dimension as element (i, j) of it and a new last one of extent `width`. */
uint32_t lgt_stores_windows(lgt_stores *stores, uint32_t layout, int dim, int64_t width);
uint32_t lgt_stores_reshape(lgt_stores *stores, uint32_t layout, int ndim, const int64_t *shape);

/* A hash of the view's *form*: everything planning asks of a view by itself, without its numbers.  Two windows whose
 * views have equal forms, and relate to one another alike, are planned alike (shift.h). */
uint64_t lgt_layout_form(lgt_stores *stores, uint32_t layout);

/* A group has written it. */
static inline void lgt_store_made(lgt_store *store, const struct lgt_plan_group *maker) {
  store->maker = maker;
  store->at_once = NULL;
}

/* May anybody but the calls that are being planned still ask for its contents? */
static inline bool lgt_store_reachable(const lgt_store *store) { return store->handles > 0 || store->refs > store->uses; }

lgt_store *lgt_store_new(lgt_stores *stores, uint32_t root_layout); /* NULL when the table is full */
/* Give the store's number back.  The caller has released what it owns. */
void lgt_store_recycle(lgt_stores *stores, lgt_store *store);
static inline lgt_store *lgt_store_at(lgt_stores *stores, uint32_t id) { return &stores->store[id]; }

/* Refill the stack of free handles; false when the table is full. */
bool lgt_handles_refill(lgt_stores *stores, uint32_t *nfree);

#endif
