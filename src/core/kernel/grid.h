/* grid.h - how a nest is launched on a device that runs many threads (PTX; a loop's text is lgt_emit_device's).
 *
 * Pure functions: nothing here calls a driver.  A nest becomes up to three launches, one after another in a queue:
 *
 *   lgt_kernel    all of a loop without reductions; of one with some, the sums of its slabs (or blocks)
 *   lgt_wide      the same for few slabs of many elements: a block of threads for each
 *   lgt_tiles     the same as lgt_kernel for loops without reductions that read what lies side by side along the rows
 *   lgt_steps     adds these, one after another, to the targets or to the chunks' partial results
 *   lgt_chunks    folds partial results pairwise, and then into the targets
 *
 * The order in which values are combined is loop.h's.  What is done one after another there is done by one thread here, or
 * by 16, one for each lane; slabs, rows, chunks and targets are done side by side.
 *
 * A launch has one parameter, a struct passed by value, which is made of the parts below.  Positions along the outer
 * dimensions come from the number of a *unit*, digit by digit, the fastest first.  Dimensions are parallel, or sequential
 * where targets of the vector form stand still along them: then a thread walks them.
 */
#ifndef LGT_GRID_H
#define LGT_GRID_H

#include "kernel/loop.h"

/* Bytes of parameters that all devices take. */
enum {
  LGT_GRID_PARAM_MOST = 4352,
  LGT_GRID_THREADS = 256,
  LGT_GRID_WIDE_THREADS = 1024,
  LGT_GRID_LAUNCHES = 3,
  LGT_GRID_TILE = 32,
  LGT_GRID_AHEAD = 16,
  LGT_GRID_AHEAD_INSTS = 24,
  LGT_GRID_AHEAD_ACCESSES = 8
};

/* What lgt_kernel is told first.  Then come, all of 8 bytes: bases [naccess] (those of the first unit), strides along rows
 * and along columns [naccess], for each of lgt_grid_dims(loop) dimensions the strides [naccess], with reductions those along
 * chunks and along blocks [naccess]; and parameters [nparam] of 16 bytes. */
typedef struct lgt_grid_head {
  int64_t rows, cols;         /* of a slab, if no chunk is shorter */
  int64_t row_most, row_step; /* in chunk c there are min(row_most, rows - c row_step) rows */
  int64_t col_most, col_step; /* and so for columns; ... */
  int64_t block;              /* ... from block b on there are `block` columns, or how many are left */
  /* Units are chunks times blocks times the parallel dimensions, and times row_units in the row form. */
  uint32_t units, chunks, blocks;
  uint32_t row_units;            /* rows that are done side by side, or 1 */
  uint32_t tiles_x, tiles_y;     /* of threads, over columns and rows; as many again for each unit */
  uint32_t parallel, sequential; /* dimensions */
  uint32_t extent[LGT_MAX_DIM];  /* of the parallel ones from 0 on, of the sequential ones from the last down */
  /* The sequential dimension that is cut, or LGT_MAX_DIM: in chunk c it ends c split_step earlier, and it is no longer than
   * split_most. */
  uint32_t split, split_step, split_most;
  uint32_t open;    /* targets are partial results, without contents */
  uint32_t raw;     /* results are written as they are, for lgt_steps */
  uint32_t aligned; /* vectors of 16 bytes may be read and written */
} lgt_grid_head;

/* What lgt_steps and lgt_chunks are told; then for each access of a reduction, in the loop's order, an lgt_grid_target. */
typedef struct lgt_grid_fold {
  uint32_t kept, chunks;         /* elements of a target; partial results of each */
  uint32_t outer, middle, inner; /* the steps of an element: [outer][middle][inner], ... */
  uint32_t grain;                /* ... of which chunk c has grain in the middle, from c grain on */
  uint32_t partial;              /* steps go into partial results, else into targets */
  uint32_t ndim;
  uint32_t extent[LGT_MAX_DIM]; /* of the kept dimensions, the fastest first */
} lgt_grid_fold;
typedef struct lgt_grid_target {
  uint64_t steps, partial, target; /* addresses */
  int64_t chunk;                   /* bytes from a partial result to the next chunk's */
  int64_t stride[LGT_MAX_DIM];     /* of the target, along these */
} lgt_grid_target;

typedef struct lgt_grid_launch {
  const char *kernel; /* its name in the text */
  unsigned grid[3], block[3];
  unsigned shared; /* bytes of dynamic shared memory */
  int param_bytes; /* of the struct that is its only parameter */
  _Alignas(16) char param[LGT_GRID_PARAM_MOST];
} lgt_grid_launch;

/* Large: some 13 KB. */
typedef struct lgt_grid {
  int nlaunch; /* none where there is nothing to do */
  lgt_grid_launch launch[LGT_GRID_LAUNCHES];
  int64_t scratch_bytes; /* memory of the device for the launches while they run; it may hold anything */
} lgt_grid;

/* Elements along the columns that a thread of a loop without reductions computes: those of 16 bytes, or 1. */
int lgt_grid_lanes(const lgt_loop *loop);
/* Elements that a thread of a loop with reductions loads before it takes in the first, LGT_GRID_AHEAD at most; or 1, of bodies
 * that are long or store something: what these wait for is hidden by other threads' work. */
int lgt_grid_ahead(const lgt_loop *loop);
/* Bytes of shared memory for the values of an element in lgt_wide; 0: the loop has no such kernel. */
int lgt_grid_wide(const lgt_loop *loop);
/* Does lgt_tiles read an access by way of shared memory?  And bytes of it for an element; 0: the loop has no such kernel. */
bool lgt_grid_staged(const lgt_access *access);
int lgt_grid_tiles(const lgt_loop *loop);
/* How many outer dimensions (all but rows and columns) the parameters of a loop have room for; -1: the loop has too many
 * accesses, or reductions of several forms, and is none for devices. */
int lgt_grid_dims(const lgt_loop *loop);
/* Bytes of lgt_kernel's parameter, and of the other two's. */
int lgt_grid_param_bytes(const lgt_loop *loop);
int lgt_grid_fold_bytes(const lgt_loop *loop);

/* OK, or UNSUPPORTED with a message: such nests are not for devices. */
lgt_status lgt_grid_check(const lgt_loop *loop, const lgt_nest_shape *shape);

/* The launches of a nest, whose bases are addresses on the device.  `scratch` is on the device, too, aligned to 64 bytes; NULL
 * if it is not known yet: then ask once for scratch_bytes, and again.  UNSUPPORTED as above. */
lgt_status lgt_grid_of(const lgt_nest *nest, void *scratch, lgt_grid *out);

/* What nests of a loop were launched with: the next one of such a shape differs from it in its bases and parameters only, if its
 * scratch memory is where it was.  Belongs to whoever launches; zeroed before its first use. */
typedef struct lgt_grid_record {
  int ndim, split, nchunk;
  int64_t extent[LGT_MAX_DIM], grain;
  int64_t *stride; /* owned, as of the shape; NULL: nothing is remembered */
  bool partial;
  bool moved;          /* reductions end in scratch memory, from where lgt_steps and lgt_chunks fetch them */
  bool aligned;        /* all strides are, and the scratch memory */
  const void *scratch; /* borrowed; NULL: there is none */
  int nlaunch;
  lgt_grid_launch *launch; /* owned, [LGT_GRID_LAUNCHES] */
} lgt_grid_record;
/* A loop is used for a few shapes in turns: the lines and the columns of a grid, say. */
enum { LGT_GRID_RECORDS = 4 };
typedef struct lgt_grid_memo {
  lgt_grid_record record[LGT_GRID_RECORDS];
  int next; /* that is used for another shape */
} lgt_grid_memo;
/* The launches of a nest of the memo's loop, if they are remembered; else NULL.  Valid until the memo is used again. */
const lgt_grid_launch *lgt_grid_again(lgt_grid_memo *memo, const lgt_nest *nest, const void *scratch, int *nlaunch);
/* Remember what lgt_grid_of has made of a nest, if it can be used again. */
void lgt_grid_remember(lgt_grid_memo *memo, const lgt_nest *nest, const void *scratch, const lgt_grid *grid);
void lgt_grid_forget(lgt_grid_memo *memo);

#endif
