/* kind.h - task kinds.
 *
 * A kind says what a task does: by a generator (a body, for any back end), or by functions that work on tiles: a *native*
 * kind.  The privileges of a generator's arguments follow from its body.  Complex element types are lowered
 * here, once for each kind: an argument of complex type has two slots, its real and imaginary part.
 */
#ifndef LGT_KIND_H
#define LGT_KIND_H

#include "model/body.h"

typedef enum lgt_privilege {
  LGT_PRIV_READ = 1,
  LGT_PRIV_WRITE = 2, /* every element of the view is overwritten (unless READ is set too) */
  LGT_PRIV_REDUCE = 4 /* with WRITE: fresh, the former contents are dropped */
} lgt_privilege;

typedef struct lgt_constraint_set lgt_constraint_set; /* constraint.h */
typedef struct lgt_steady lgt_steady;                 /* reproducible.h */
typedef struct lgt_share lgt_share;                   /* targets.h */

enum { LGT_NCLASS = LGT_VARIANT_CPU + 1 };

/* A CPU variant of lgt's own: rows [lo, hi) of dimension 0 of the first tile.  See lgt_variant. */
typedef lgt_status (*lgt_own_variant)(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi);

typedef struct lgt_kind {
  char *name; /* owned */
  int nargs, nparams;
  uint8_t privilege[LGT_MAX_ARGS];
  uint8_t dtype[LGT_MAX_ARGS]; /* LGT_NDTYPE: any (native kinds) */
  uint8_t redop[LGT_MAX_ARGS];
  lgt_body *body; /* owned; NULL: native; real types only */
  int *part;      /* owned; first slot of each argument */
  bool is_copy;   /* argument 0 = argument 1, nothing else */
  bool reduces;
  bool several;                    /* it reduces into several arguments */
  bool inexact;                    /* it reduces floats */
  bool own_params;                 /* parameters are each rank's own, and no part of the stream */
  lgt_own_variant own;             /* lgt's own: with small arguments it takes microseconds; or NULL, then: */
  bool infallible;                 /* one that fails for want of memory alone; nobody looks at what it leaves unwritten */
  lgt_variant variant[LGT_NCLASS]; /* by device class; NULL: there is none */
  void *context[LGT_NCLASS];       /* borrowed; for each of them */
  lgt_constraint_set *constraints; /* owned; of a native kind */
  uint32_t noted;                  /* its name's number in the stream (peers.h); 0: none yet */
  lgt_body *source;                /* owned; as it was registered, kept if `several` or `inexact`; else NULL */
  lgt_steady *steady;              /* owned; its form for reproducible mode, made when first needed */
  lgt_share *share;                /* owned; kinds that reduce into some of its arguments, made when first needed */
  int nshare, share_room;
  uint64_t hash; /* of what it does; a kind that is alike on another rank has the same */
} lgt_kind;

/* Its work is done by functions, not by a generator. */
static inline bool lgt_kind_native(const lgt_kind *kind) { return !kind->body; }

static inline bool lgt_kind_writes(const lgt_kind *kind, int arg) {
  return kind->privilege[arg] & (LGT_PRIV_WRITE | LGT_PRIV_REDUCE);
}

typedef struct lgt_kinds {
  lgt_kind **kind; /* owned, by number; 0 is no kind */
  int count, room; /* count: one more than the greatest number */
} lgt_kinds;

void lgt_kinds_fini(lgt_kinds *kinds);
/* NULL with a message: there is no such kind. */
lgt_kind *lgt_kinds_find(const lgt_kinds *kinds, uint32_t number);
/* The number of a new kind, from 1; -1 with a message on error.  Takes over `body`. */
int lgt_kinds_add_generator(lgt_kinds *kinds, const char *name, lgt_body *body);
/* A native kind without variants. */
int lgt_kinds_add(lgt_kinds *kinds, const char *name, const char *privileges, const char *constraints);
/* One of lgt's own. */
int lgt_kinds_add_own(lgt_kinds *kinds, const char *name, const char *privileges, const char *constraints, lgt_own_variant own,
                      bool infallible);
lgt_status lgt_kind_set_variant(lgt_kind *kind, int device, lgt_variant function, void *context);
/* Is there a function, or a body, to run? */
lgt_status lgt_kind_ready(const lgt_kind *kind);

#endif
