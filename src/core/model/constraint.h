/* constraint.h - which dimensions of a launch's arguments are cut alike, and the solver.
 *
 * A constraint set speaks about pairs argument.dimension.  The dimensions that `align` ties together
 * form a class, found by union-find; all dimensions of a class are cut alike, those under
 * `broadcast` are never cut, and those under `bloat` are cut with a halo.  The classes are the
 * dimensions of the launch's *space*.  A dimension under `scale` is cut in whole *blocks*, one for each
 * index of its class: of so many elements, or of as many as it takes for the extent of the class, which
 * another argument has then.
 *
 * Dimensions under `image_points`, `image_ranges` and `image_inverse` are named by data: by the elements that the task reads of other
 * arguments, positions, or pairs of where a range begins and ends; or they are those of the positions themselves, of which
 * a tile needs what leads to it.  No class has them; which of their elements a tile
 * needs is found out when the positions are there (image.h).
 *
 * A generator needs no set: its arguments are aligned with its iteration space from the right, as
 * NumPy broadcasts, so class d is dimension d of the space.
 *
 * The solver turns a space into a partition: derived from the key partition (the one it was last
 * written with) of the argument that would be costliest to move, or near those of views that are
 * shifted against each other, so that their launches fuse: with tiles of one size, launches over one extent have the same
 * ones, wherever their views begin, as long as only thin halos move for that; else natural.  What is too small for two
 * tiles runs where the part of a cut array lies that it touches, or, if it only reads that part, with the tiles of others over
 * its extent, or, of single numbers, where the one before it ran; else everywhere.
 */
#ifndef LGT_CONSTRAINT_H
#define LGT_CONSTRAINT_H

#include "model/call.h"
#include "model/partition.h"

/* How one argument lies in the space: its dimension d follows space dimension to[d] (-1: none, it is
 * whole), with a halo. */
typedef struct lgt_alignment {
  int8_t to[LGT_MAX_DIM];
  int8_t padding[2]; /* zero: alignments are compared as bytes */
  int32_t below[LGT_MAX_DIM], above[LGT_MAX_DIM];
  int64_t block[LGT_MAX_DIM]; /* elements for each index of the space; 0: one */
} lgt_alignment;

static inline int64_t lgt_alignment_block(const lgt_alignment *align, int dim) {
  return align->block[dim] > 0 ? align->block[dim] : 1;
}

enum { LGT_BLOCK_FITS = -1 };

/* Dimension `dim` of an argument is named by the elements of others. */
typedef struct lgt_image_constraint {
  int8_t arg, dim;
  int8_t source[2]; /* arguments: positions, -1; or where ranges begin, where they end */
  int8_t tile[2];   /* of an inverse: argument and dimension to whose tile the positions lead; else -1 */
  int32_t base;     /* what the first position is called */
} lgt_image_constraint;

enum { LGT_MAX_IMAGES = 8 };

struct lgt_constraint_set {
  int nargs;
  int8_t class_of[LGT_MAX_ARGS][LGT_MAX_DIM]; /* -1: whole */
  int32_t below[LGT_MAX_ARGS][LGT_MAX_DIM], above[LGT_MAX_ARGS][LGT_MAX_DIM];
  int32_t block[LGT_MAX_ARGS][LGT_MAX_DIM];   /* 0: none; LGT_BLOCK_FITS: what the class's extent asks for */
  int nclass;                                 /* numbered by first use */
  bool varies;                                /* bits of results vary with the tiles */
  bool by_rows;                               /* elements of argument 0, a vector, can be had a few at a time */
  lgt_image_constraint image[LGT_MAX_IMAGES]; /* at most one for each argument, after those of its sources */
  int nimage;
};

/* A call of C that must be alone in its task: one that is not `by_rows`. */
static inline bool lgt_kind_alone(const lgt_kind *kind) { return lgt_kind_native(kind) && !kind->constraints->by_rows; }
static inline bool lgt_kind_by_rows(const lgt_kind *kind) { return lgt_kind_native(kind) && kind->constraints->by_rows; }

/* Parse "align(0.0,1.0) broadcast(1.1) bloat(0.0,1,1) scale(0.0,64) scale(1.0) image_ranges(1,2:3.0) image_points(3:5.0)
 * varies by_rows"; NULL with a message on error. */
lgt_constraint_set *lgt_constraint_parse(const char *text, int nargs);

/* The space of a call and how its arguments lie in it. */
typedef struct lgt_space {
  int ndim;
  int64_t extent[LGT_MAX_DIM];
  unsigned whole;       /* dimensions that must not be cut */
  int64_t unit;         /* elements that a point of the space stands for */
  lgt_alignment *align; /* borrowed: one for each argument */
} lgt_space;

/* `space->align` has room for the call's arguments. */
lgt_status lgt_space_of_call(const lgt_stores *stores, const lgt_call *call, lgt_space *space);

/* What the view `layout` needs for one tile of the space, in the view's coordinates (halo included,
 * cut off at its extents). */
lgt_rect lgt_space_view_rect(const lgt_layout *layout, const lgt_alignment *align, const lgt_rect *tile);

enum { LGT_ANCHORS = 8 };

typedef struct lgt_solver {
  lgt_partitions *partitions;
  int domains;
  int most;                                 /* tiles */
  int64_t min_tile;                         /* elements */
  const lgt_partition *recent[8];           /* launches before this one, the newest first; NULL: no more */
  const lgt_partition *number;              /* the newest of them on single numbers that has an owner; NULL: none */
  const lgt_partition *anchor[LGT_ANCHORS]; /* launches of the window that write where something is already; NULL: no more */
} lgt_solver;

/* Before there are instances, what lgt_map_whole says of them: will each be all of its root? */
static inline bool lgt_solver_whole(const lgt_solver *solver) { return lgt_domain_alone(solver->domains); }

/* What the solver knows of an argument's root. */
typedef struct lgt_solver_key_state {
  const lgt_partition *key; /* NULL: none */
  bool recent;              /* written by an earlier call of the same window */
} lgt_solver_key_state;

/* The partition of the call's space; `state` is by argument, *reason says in a few words where it came
 * from.  Among arguments of equal cost a recent one wins: its tiles are those of the call that made
 * it, so that the two can be fused. */
const lgt_partition *lgt_solver_choose(const lgt_solver *solver, const lgt_stores *stores, const lgt_call *call,
                                       const lgt_space *space, const lgt_solver_key_state *state, const char **reason);
/* The partition of a store's root that a tiling of the space gives it through a view; NULL if it
 * cannot be told (then the store has no key partition). */
const lgt_partition *lgt_solver_key(const lgt_solver *solver, const lgt_layout *layout, const lgt_alignment *align,
                                    const lgt_partition *launch);
/* The key partition of a root that had `key` (or NULL) after a write through a view: a write of a part of a cut array does
 * not change how the array is cut, and one whose tiles would leave an owner far more than its share of the root does not tell.
 * `target`: the write is a reduction. */
const lgt_partition *lgt_solver_key_after(const lgt_solver *solver, const lgt_layout *layout, const lgt_alignment *align,
                                          const lgt_partition *launch, bool target, const lgt_partition *key);

#endif
