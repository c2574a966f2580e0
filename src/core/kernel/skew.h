/* skew.h - nests that run block by block, one behind the other: time skewing.
 *
 * The loops of a task run one after another, because a loop may read neighbours of what the loop before it wrote.  When
 * arrays do not fit into a cache, each loop fetches them from memory again.  Most such loops walk the same rows, and
 * depend on few of one another's: then the second loop may follow the first a few rows behind, the third the second, and
 * so on, all in one *skew* over the rows, and what they leave for one another is still in the cache.
 *
 *     rows ->                            worker 0              worker 1
 *     loop 0   ########|                 ###############       ################
 *     loop 1   #######|                  ##############         ###############
 *     loop 2   ######|                   #############           ##############
 *
 * The front leans back by as many rows as each loop needs the one before to be *ahead*.  So that several workers sweep at
 * once each has a *trapezoid*: a part of the rows, which at its first end leans the other way, by as many rows as others are
 * needed *behind*.  What is left between two trapezoids, *wedges*, come when all trapezoids are done.  Every point is
 * computed once, from what it would find if the loops ran one after another, whatever the cut is.
 *
 * How far ahead and behind is found from addresses alone: two nests conflict where they touch the same bytes and one of
 * them writes.  A nest joins if it moves through what it shares with the others by the same bytes a row, and reduces nothing.
 * If its dimensions were merged into one it has the rows of a nest with which it conflicts.
 *
 * Sources: skewing, Wolfe, "Loop skewing: the wavefront method revisited", 1986; trapezoids and wedges ("split tiling"),
 * Krishnamoorthy et al., "Effective automatic parallelization of stencil computations", PLDI 2007.
 */
#ifndef LGT_SKEW_H
#define LGT_SKEW_H

#include "kernel/loop.h"

enum { LGT_SKEW_MOST = 32 };

/* A nest of a sweep.  Rows of the sweep are those of its first nest; row r of another is row r + `origin` of the sweep. */
typedef struct lgt_skewed {
  const lgt_nest *nest; /* borrowed, until lgt_skew_cut */
  int64_t points;       /* of its first dimension */
  int64_t rows, origin;
  int64_t unit;          /* points of the nest's first dimension that are a row: of several dimensions one may have been made */
  bool whole;            /* one row, whatever dimensions it has */
  int64_t ahead, behind; /* rows of the sweep by which the nest's front and its first end lean */
} lgt_skewed;

typedef struct lgt_skew {
  lgt_skewed skewed[LGT_SKEW_MOST];
  int nskewed, naccess;
  int64_t row;         /* bytes that all touch for each row, each byte once or so */
  int64_t alone;       /* bytes that each touches by itself, in all its rows, all nests together */
  int64_t first, last; /* rows */
  int64_t height;      /* rows of a block */
  int ntrapezoid;
} lgt_skew;

/* Let a nest follow the others; false: it cannot, or what all touch at once would have more bytes than `cache`.  The caller
 * must have zeroed the sweep before the first one. */
bool lgt_skew_add(lgt_skew *skew, const lgt_nest *nest, int64_t cache);
/* Does a nest touch nothing that one of the others writes, and write nothing that one touches?  Then it may run first.  Of one
 * that reduces nobody knows. */
bool lgt_skew_apart(const lgt_skew *skew, const lgt_nest *nest);
/* All have been added: choose blocks, and how many workers take part.  From here on the sweep tells of nests alone
 * that are like those: it is the same for all whose bases differ, but for those that share memory, by as much as
 * theirs do. */
void lgt_skew_cut(lgt_skew *skew, int64_t cache, int workers);
/* With the option `check`: are two sweeps that have been cut the same? */
bool lgt_skew_equal(const lgt_skew *a, const lgt_skew *b);

/* How the caller runs a part of the n-th nest: the points from `lo` to `hi` along its first dimension. */
typedef void lgt_skew_run(void *context, int n, int64_t lo, int64_t hi);
/* Trapezoids may run at once, then the ntrapezoid - 1 wedges. */
void lgt_skew_trapezoid(const lgt_skew *skew, int n, lgt_skew_run *run, void *context);
void lgt_skew_wedge(const lgt_skew *skew, int n, lgt_skew_run *run, void *context);

#endif
