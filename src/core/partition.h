/* partition.h - how an index space is cut into tiles, one for each colour of a launch domain.
 *
 * Partitions are symbolic and interned: two are equal exactly when their pointers are.  What one
 * costs does not depend on its number of colours.  Kinds:
 *
 *   NONE     every colour sees everything (one tile, replicated)
 *   TILING   colour c covers [offset + c * tile, offset + (c + 1) * tile) of each dimension, cut off
 *            at the extent; the first and last tiles of a dimension may be partial
 *   RECTS    an explicit list, for manual launches
 *
 * Data-dependent partitions (images of index arrays) will be a further kind here, with the store
 * and version of their source as fields.
 *
 * Colours are numbered in C order over the grid of tiles.  Belongs to the submitting thread.
 */
#ifndef LGT_PARTITION_H
#define LGT_PARTITION_H

#include "store.h"

typedef enum lgt_partition_kind { LGT_PARTITION_NONE, LGT_PARTITION_TILING, LGT_PARTITION_RECTS } lgt_partition_kind;

typedef struct lgt_partition {
  lgt_partition_kind kind;
  int ndim;
  int64_t extent[LGT_MAX_DIM];   /* of the space that is cut */
  int64_t tile[LGT_MAX_DIM];     /* TILING */
  int64_t offset[LGT_MAX_DIM];   /* TILING: where tile 0 begins, <= 0 and > -tile */
  int32_t grid[LGT_MAX_DIM];     /* TILING: tiles along each dimension */
  int32_t ncolour;
  lgt_rect *rect;                /* RECTS: owned, ncolour */
  uint64_t hash;
} lgt_partition;

typedef struct lgt_partitions {
  lgt_partition **table; /* owned, open addressing */
  uint32_t count, mask;
} lgt_partitions;

lgt_status lgt_partitions_init(lgt_partitions *partitions);
void lgt_partitions_fini(lgt_partitions *partitions);

/* NULL when out of memory. */
const lgt_partition *lgt_partition_none(lgt_partitions *partitions, int ndim, const int64_t *extent);
/* Tiles of `tile` beginning at `offset`; normalised so that tile 0 is the first that is not empty. */
const lgt_partition *lgt_partition_tiling(lgt_partitions *partitions, int ndim, const int64_t *extent, const int64_t *tile, const int64_t *offset);
const lgt_partition *lgt_partition_rects(lgt_partitions *partitions, int ndim, const int64_t *extent, const lgt_rect *rect, int n);

/* What colour c covers; may be empty. */
lgt_rect lgt_partition_rect(const lgt_partition *partition, int colour);
/* Do no two colours share a point? */
bool lgt_partition_disjoint(const lgt_partition *partition);

/* The natural cut of a space: at most `most` tiles of at least `min_tile` elements, with as little
 * surface as the grid allows.  Dimensions whose bit is set in `whole` are not cut. */
const lgt_partition *lgt_partition_natural(lgt_partitions *partitions, int ndim, const int64_t *extent, unsigned whole, int most, int64_t min_tile);

#endif
