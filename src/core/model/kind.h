/* kind.h - task kinds.
 *
 * A kind says what a task does: by a generator (a body, for any back end) or a CPU variant.  The
 * privileges of a generator's arguments follow from its body.  Complex element types are lowered
 * here, once for each kind: an argument of complex type has two slots, its real and imaginary part.
 */
#ifndef LGT_KIND_H
#define LGT_KIND_H

#include "model/body.h"

enum { LGT_MAX_ARGS = 12, LGT_MAX_PARAMS = 6 };

typedef enum lgt_privilege {
  LGT_PRIV_READ = 1,
  LGT_PRIV_WRITE = 2,   /* every element of the view is overwritten (unless READ is set too) */
  LGT_PRIV_REDUCE = 4   /* with WRITE: fresh, the former contents are dropped */
} lgt_privilege;

typedef struct lgt_constraint_set lgt_constraint_set; /* constraint.h */
typedef struct lgt_steady lgt_steady;                 /* reproducible.h */

typedef struct lgt_kind {
  char *name;                        /* owned */
  int nargs, nparams;
  uint8_t privilege[LGT_MAX_ARGS];
  uint8_t dtype[LGT_MAX_ARGS];       /* LGT_NDTYPE: any (CPU variants) */
  uint8_t redop[LGT_MAX_ARGS];
  lgt_body *body;                    /* owned; NULL for a CPU variant; real types only */
  int *part;                         /* owned; first slot of each argument */
  bool is_copy;                      /* argument 0 = argument 1, nothing else */
  bool reduces;
  bool own_variant;                  /* a CPU variant of lgt's own: with small arguments it takes microseconds */
  bool own_params;                   /* parameters are each rank's own, and no part of the stream */
  lgt_cpu_variant cpu;
  lgt_constraint_set *constraints;   /* owned; of a CPU variant */
  uint32_t noted;                    /* its name's number in the stream (peers.h); 0: none yet */
  lgt_body *source;                  /* owned; as it was registered, kept if it reduces floats; else NULL */
  lgt_steady *steady;                /* owned; its form for reproducible mode, made when first needed */
  uint64_t hash;                     /* of what it does; a kind that is alike on another rank has the same */
} lgt_kind;

static inline bool lgt_kind_writes(const lgt_kind *kind, int arg) {
  return kind->privilege[arg] & (LGT_PRIV_WRITE | LGT_PRIV_REDUCE);
}

typedef struct lgt_kinds {
  lgt_kind **kind; /* owned, by number */
  int count, room;
} lgt_kinds;

void lgt_kinds_fini(lgt_kinds *kinds);
/* Both take over `body`; -1 with a message on error. */
int lgt_kinds_add_generator(lgt_kinds *kinds, const char *name, lgt_body *body);
int lgt_kinds_add_cpu(lgt_kinds *kinds, const char *name, const char *privileges, const char *constraints, lgt_cpu_variant variant);

/* Of api.c: marks a kind (or -1, an error) whose variant is one of lgt's own. */
int lgt_kind_own(lgt_runtime *rt, int kind);

#endif
