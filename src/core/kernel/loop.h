/* loop.h - loop nests: what a fused task does, ready for a back end.
 *
 * A *loop* is one pass over an iteration space: a body whose slots are accesses.  It knows nothing
 * of extents, strides or addresses beyond the class of each access's innermost stride; its bytes are
 * the key under which its machine code is cached.  A *nest* is a loop bound to memory: extents,
 * base addresses and strides for one point task.  A *slab* is the two innermost dimensions of a
 * nest, the unit that a kernel works on; lgt_nest_run walks the outer dimensions and calls the
 * kernel for each slab.
 *
 * Cutting for parallel work.  A nest is cut along one dimension, `split`, in chunks of `grain`.
 * For a loop without reductions any cut gives the same bits.  For a loop with reductions the cut
 * depends on the extents and on the order of the dimensions alone (never on workers, or on what else is
 * fused into the loop), because it is part of the fixed order in which values are combined (but along columns that
 * all have a target of their own it is not, and may be any):
 *
 *   target  begins as its former contents, or as the identity if the reduction is fresh; what follows is
 *           added to it one after another.
 *   lane    Along the innermost dimension element i goes to accumulator i mod 16.
 *   block   A nest of one dimension is walked in blocks of LGT_BLOCK elements, each a slab.
 *   slab    If the target also stands still along the rows, the 16 accumulators go on from row to
 *           row and the slab ends with the tree below; else each row does.
 *   tree    16 accumulators fold to one: acc[i] = acc[i] op acc[i + 8], then 4, 2, 1.
 *   chunk   If the target stands still along `split` and there are several chunks, each has a partial
 *           result of its own, which begins as the identity.  They fold pairwise in order of the
 *           chunks, p[i] = p[2i] op p[2i+1] until one is left, and then into the target: t op p.
 *
 *   Where the target moves along the innermost dimension, rows are added one after another.
 *
 * Which dimension is the innermost, weave.c decides by the extents and by how the call's own arguments lie.
 */
#ifndef LGT_LOOP_H
#define LGT_LOOP_H

#include "model/body.h"
#include "base/rect.h"

#define LGT_LANES      16
#define LGT_MAX_ACCESS 512  /* of a loop */
#define LGT_BLOCK      4096 /* elements of a loop of one dimension that are worked on at once */

typedef enum lgt_access_mode { LGT_ACCESS_LOAD, LGT_ACCESS_STORE, LGT_ACCESS_REDUCE, LGT_ACCESS_INDEX } lgt_access_mode;
typedef enum lgt_stride_class {
  LGT_STRIDE_ZERO,
  LGT_STRIDE_UNIT,
  LGT_STRIDE_ANY,
  LGT_STRIDE_BACK,
  LGT_STRIDE_PAIR
} lgt_stride_class;

/* INDEX: no memory, the value is base.index + stride . coordinates, an int64. */
typedef struct lgt_access {
  uint8_t mode;  /* lgt_access_mode */
  uint8_t dtype; /* of the element; never complex */
  uint8_t inner; /* lgt_stride_class along the innermost dimension; UNIT is one element (INDEX: 1), BACK one element
                    backwards, PAIR two: a part of complex numbers side by side (both LOAD and STORE only) */
  uint8_t row;   /* REDUCE: LGT_STRIDE_ZERO if the target stands still along the rows, else LGT_STRIDE_ANY.  Others: one more
                    than the number of an earlier access whose strides are the same wherever the loop runs; 0: of none */
} lgt_access;

/* The class of an access to a part of `unit` bytes of elements of `size` (INDEX: 1 and 1), whose innermost stride is so
 * many bytes.  It must hold in every domain's memory: elements that lie side by side do there, too, but every second one
 * may be the only one there is.  Targets of reductions are neither BACK nor PAIR: partial results lie forwards, parts apart. */
static inline uint8_t lgt_access_class(const lgt_access *access, int64_t stride, int64_t unit, int64_t size) {
  bool plain = access->mode == LGT_ACCESS_LOAD || access->mode == LGT_ACCESS_STORE;
  if (stride == 0) return LGT_STRIDE_ZERO;
  if (stride == unit) return LGT_STRIDE_UNIT;
  if (plain && stride == -unit) return LGT_STRIDE_BACK;
  return plain && stride == size && size == 2 * unit ? LGT_STRIDE_PAIR : LGT_STRIDE_ANY;
}

/* Which of three forms a reduction takes follows from its access:
 *   lanes   inner ZERO, row ZERO: after the last row, target = target op tree(accumulators)
 *   row     inner ZERO, row ANY: after each row, target[row] = target[row] op tree(accumulators)
 *   vector  inner UNIT or ANY: target[col] = target[col] op value
 * Where the slab says that a reduction is open, its targets have no contents yet, and the first value
 * that reaches one finds the operator's identity there.
 * REDUCE_ARG has two accesses of equal class, slot b for the value and b + 1 for the position. */

typedef struct lgt_loop {
  uint16_t naccess, ninst, nconst, nparam;
  lgt_access *access;   /* owned, naccess */
  lgt_inst *inst;       /* owned, ninst; slots are accesses.  INDEX: a is the access */
  lgt_scalar *constant; /* owned, nconst */
  uint64_t hash[2];     /* of all of the above */
} lgt_loop;

typedef union lgt_base {
  char *address;
  int64_t index;
} lgt_base;

/* What a kernel is called with.  Strides are in bytes (INDEX: in units). */
typedef struct lgt_slab {
  int64_t rows, cols;
  const lgt_base *base;      /* naccess */
  const int64_t *row_stride; /* naccess */
  const int64_t *col_stride; /* naccess */
  const lgt_scalar *param;   /* nparam: f for floats of any width, i or u for the others */
  uint64_t open;             /* bit r: the loop's r-th reduction is open */
} lgt_slab;

typedef void (*lgt_kernel_fn)(const lgt_slab *slab);

/* The interpreter: executes any loop, without compilation. */
void lgt_interp_run(const lgt_loop *loop, const lgt_slab *slab);

/* Has it results that non-temporal stores can write? */
static inline bool lgt_loop_streams(const lgt_loop *loop) {
  bool streams = false;
  for (int k = 0; k < loop->naccess; k++) {
    if (loop->access[k].mode == LGT_ACCESS_REDUCE) return false; /* a reduction's lanes begin at column 0 */
    streams |= loop->access[k].mode == LGT_ACCESS_STORE && loop->access[k].inner == LGT_STRIDE_UNIT;
  }
  return streams;
}

/* Computes the hash.  False when the loop is malformed in a way lgt_body_verify does not see. */
void lgt_loop_seal(lgt_loop *loop);
/* A sealed copy, the caller's; NULL when out of memory. */
lgt_loop *lgt_loop_copy(const lgt_loop *loop);
bool lgt_loop_equal(const lgt_loop *a, const lgt_loop *b);
void lgt_loop_free(lgt_loop *loop);

/* ---- nests ----------------------------------------------------------------------------------- */

/* The extents of a nest and how it is cut; shared by all nests of equal extents and strides. */
typedef struct lgt_nest_shape {
  int ndim;
  int64_t extent[LGT_MAX_DIM];
  int64_t *stride; /* owned, [naccess][LGT_MAX_DIM], bytes (INDEX: units) */
  int split;       /* the dimension that is cut */
  int nchunk;      /* 0 for an empty iteration space */
  int64_t grain;
  int64_t size;          /* product of the extents */
  bool partial;          /* each chunk reduces into memory of its own */
  bool single;           /* there is one chunk, of one slab */
  int64_t partial_bytes; /* for one chunk, all reductions together */
  uint64_t open;         /* bit r: the r-th reduction's target has no contents when a chunk begins */
} lgt_nest_shape;

typedef struct lgt_nest {
  const lgt_loop *loop;
  const lgt_nest_shape *shape;
  const lgt_base *base;    /* naccess */
  const lgt_scalar *param; /* nparam */
  char *partial;           /* owned; nchunk * partial_bytes between begin and end */
} lgt_nest;

/* Fill in everything but ndim, extent and stride.  `workers` guides the cut of a loop without reductions, and whether an
 * element is more `costly` than the loop itself tells: then in all as much as moving so many bytes.  Dimensions that can be
 * walked as one are merged in such loops. */
void lgt_nest_shape_finish(const lgt_loop *loop, lgt_nest_shape *shape, int workers, bool costly, int64_t bytes);
/* The chunks of a loop of one dimension with reductions. */
int lgt_reduction_chunks(int64_t size);

/* What is done before each block of elements [lo, hi) of a nest of one dimension (or none); it may say where the
 * loop's accesses find them. */
typedef struct lgt_prelude {
  lgt_status (*run)(struct lgt_prelude *prelude, lgt_base *base, int64_t lo, int64_t hi);
} lgt_prelude;

/* A nest runs as begin, each chunk once (in any order, on any thread), end.  begin fails only when
 * memory runs out, run only if the prelude does (NULL: there is none).  `code` NULL means the interpreter. */
lgt_status lgt_nest_begin(lgt_nest *nest);
lgt_status lgt_nest_run(const lgt_nest *nest, lgt_kernel_fn code, int chunk, lgt_prelude *prelude);
void lgt_nest_end(lgt_nest *nest);
/* A part of a nest that reduces nothing and has a dimension: the points from `lo` to `hi` along the first one. */
void lgt_nest_run_rows(const lgt_nest *nest, lgt_kernel_fn code, int64_t lo, int64_t hi);
bool lgt_loop_reduces(const lgt_loop *loop);

/* target[i] = target[i] op value[i] for n contiguous elements; for ARGMIN and ARGMAX the positions
 * are in the second pair of arrays, else these are NULL. */
void lgt_redop_fold(int redop, int dtype, void *target, void *target_at, const void *value, const void *value_at, int64_t n);
/* n contiguous elements become the operator's identity. */
void lgt_redop_fill(int redop, int dtype, void *target, int64_t n);

#endif
