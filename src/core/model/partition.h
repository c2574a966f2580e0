/* partition.h - how an index space is cut into tiles, one for each colour of a launch domain.
 *
 * Partitions are symbolic and interned: two are equal exactly when their pointers are.  What one
 * costs does not depend on its number of colours.  Kinds:
 *
 *   NONE     one tile: every rank works on all of it
 *   TILING   colour c covers [offset + c * tile, offset + (c + 1) * tile) of each dimension, cut off
 *            at the extent; the first and last tiles of a dimension may be partial, or larger: they reach to
 *            the edges of the space
 *   RECTS    an explicit list, for manual launches
 *
 * Data-dependent partitions (images of index arrays) will be a further kind here, with the store
 * and version of their source as fields.
 *
 * Colours are numbered in C order over the grid of tiles.  Belongs to the submitting thread.
 *
 * Which domain works on a colour is part of the partition: its *home*, a grid of owners.  A tiling that comes
 * from another one through a view keeps that one's owners, so that every element stays with the domain that has
 * it: the tiles of A[t:] are not those of domain 0 because they come first.  Owners are spread over the domains
 * in C order.  A tiling that lies within one owner's tile is *placed*: its one colour runs there and nowhere else.
 *
 * A *widened* tiling has tiles that reach into their neighbours, by a margin, as far as the space does.  Its colours compute
 * there, each for itself, what their neighbours compute, too (widen.h).
 */
#ifndef LGT_PARTITION_H
#define LGT_PARTITION_H

#include "base/hash.h"
#include "model/store.h"

typedef enum lgt_partition_kind { LGT_PARTITION_NONE, LGT_PARTITION_TILING, LGT_PARTITION_RECTS } lgt_partition_kind;

typedef struct lgt_home {
  int ndim;
  int32_t grid[LGT_MAX_DIM];  /* of owners */
  int32_t first[LGT_MAX_DIM]; /* the owner of tile 0 */
  int8_t dim[LGT_MAX_DIM];    /* the dimension of the partition that this one of the grid follows; -1: all tiles have the
                               * owner `first` */
} lgt_home;

typedef struct lgt_partition {
  lgt_partition_kind kind;
  int ndim;
  int64_t extent[LGT_MAX_DIM]; /* of the space that is cut */
  int64_t tile[LGT_MAX_DIM];   /* TILING */
  int64_t offset[LGT_MAX_DIM]; /* TILING: where tile 1 begins, less a tile */
  int32_t grid[LGT_MAX_DIM];   /* TILING: tiles along each dimension */
  int32_t ncolour;
  lgt_home home;                                  /* TILING */
  bool widened;                                   /* TILING: there is a margin ... */
  int64_t below[LGT_MAX_DIM], above[LGT_MAX_DIM]; /* ... before and behind each tile; 0: of this dimension none */
  lgt_rect *rect;                                 /* RECTS: owned, ncolour */
  bool marked;
} lgt_partition;

typedef struct lgt_partitions {
  lgt_intern table; /* of lgt_partition */
} lgt_partitions;

void lgt_partitions_init(lgt_partitions *partitions);
void lgt_partitions_fini(lgt_partitions *partitions);

/* For sweep.h: a partition is in use (NULL is fine); those that were not marked since the last sweep are freed, unless there is
 * no memory for that. */
static inline void lgt_partition_mark(const lgt_partition *partition) {
  if (partition) ((lgt_partition *)partition)->marked = true;
}
void lgt_partitions_sweep(lgt_partitions *partitions);

/* NULL when out of memory. */
const lgt_partition *lgt_partition_none(lgt_partitions *partitions, int ndim, const int64_t *extent);
/* Tiles of `tile` beginning at `offset`; normalised so that tile 0 is the first that is not empty. */
const lgt_partition *lgt_partition_tiling(lgt_partitions *partitions, int ndim, const int64_t *extent, const int64_t *tile,
                                          const int64_t *offset);
/* The same, with owners; `home->first` belongs to the tile that begins at `offset` as given. */
const lgt_partition *lgt_partition_tiling_at(lgt_partitions *partitions, int ndim, const int64_t *extent, const int64_t *tile,
                                             const int64_t *offset, const lgt_home *home);
const lgt_partition *lgt_partition_rects(lgt_partitions *partitions, int ndim, const int64_t *extent, const lgt_rect *rect,
                                         int n);

/* A tiling, which is not widened, with margins; itself, if these are nothing. */
const lgt_partition *lgt_partition_widened(lgt_partitions *partitions, const lgt_partition *tiling, const int64_t *below,
                                           const int64_t *above);

/* Is there one domain only?  No other function compares the number of domains with one: code that depends on a consequence of
 * the answer must ask for the consequence (lgt_solver_whole; lgt_map_whole, lgt_map_still). */
static inline bool lgt_domain_alone(int domains) { return domains == 1; }

/* Do several tiles meet the same elements of an argument that moves by these strides along the space?  It stands still along
 * a dimension that is cut. */
static inline bool lgt_partition_repeats(const lgt_partition *partition, const int64_t *stride) {
  for (int d = 0; partition->kind == LGT_PARTITION_TILING && d < partition->ndim; d++)
    if (partition->grid[d] > 1 && stride[d] == 0) return true;
  return false;
}

/* What colour c covers; may be empty. */
lgt_rect lgt_partition_rect(const lgt_partition *partition, int colour);
/* The number of the tile, along a dimension, that has a place of the space. */
int64_t lgt_partition_tile_at(const lgt_partition *partition, int dim, int64_t at);
/* The number of a colour's owner, and which of `domains` that is. */
int lgt_partition_owner(const lgt_partition *partition, int colour);
int lgt_partition_domain(const lgt_partition *partition, int domains, int colour);
/* The next colour of a domain after `colour` (-1: the first), or -1: there are no more.  What a round over them costs
 * does not depend on the number of domains. */
int lgt_partition_next(const lgt_partition *partition, int domains, int domain, int colour);
/* Has every domain at most one colour? */
bool lgt_partition_apart(const lgt_partition *partition, int domains);
/* One colour for each owner: those of the groups whose launches are cut apart, each in its own way, between the same owners. */
const lgt_partition *lgt_partition_owners(lgt_partitions *partitions, const lgt_partition *partition);
bool lgt_partition_same_owners(const lgt_partition *a, const lgt_partition *b);
/* Does one owner have far more than its share, because the others have none of what lies before or behind some tiles? */
bool lgt_partition_lopsided(const lgt_partition *partition);
/* The (first) colour of an owner; -1: there is none. */
int lgt_partition_colour_of(const lgt_partition *partition, int owner);
/* Do no two colours share a point? */
bool lgt_partition_disjoint(const lgt_partition *partition);

/* The natural cut of a space: at most `most` tiles of at least `min_tile` elements, with as little
 * surface as the grid allows, or little more, if outer dimensions are cut then.  Dimensions whose bit is set in `whole` are not
 * cut. */
const lgt_partition *lgt_partition_natural(lgt_partitions *partitions, int ndim, const int64_t *extent, unsigned whole, int most,
                                           int64_t min_tile);

#endif
