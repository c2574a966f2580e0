/* layout.h - one layout: which elements of its root a view shows.
 *
 * A layout is an affine map from the view's coordinates to the root's.  What is asked of it here needs nothing but the
 * layout itself; store.h interns layouts and makes views of views.
 */
#ifndef LGT_LAYOUT_H
#define LGT_LAYOUT_H

#include "base/rect.h"

/* Strides of a C-order array of this shape, in elements. */
void lgt_shape_strides(int ndim, const int64_t *shape, int64_t *stride);

/* The rect of root coordinates that a view's rect touches (a bounding box when steps are not 1).  For a reshaped view
 * these are, in each segment where it is not slanted, whole rows: from the first to the last that it touches along the
 * segment's first dimension of more than one element. */
lgt_rect lgt_layout_root_rect(const lgt_layout *layout, const lgt_rect *view);
/* The same for a reduction's target, which has all its elements also where there is nothing to reduce:
 * dimensions that do not walk along the root do not count. */
lgt_rect lgt_layout_target_rect(const lgt_layout *layout, lgt_rect view);
/* The map in the root's coordinates: where the view begins, and the root step of each view dimension
 * (0 where it walks nowhere).  Not for reshaped views. */
void lgt_layout_walk(const lgt_layout *layout, int64_t begin[LGT_MAX_DIM], int64_t step[LGT_MAX_DIM]);
/* The same for any view: each of its dimensions may walk along several of the root's, as those of reshaped views do that are
 * *slanted*.  False: it is reshaped, and goes on from the end of a row to the next one. */
bool lgt_layout_steps(const lgt_layout *layout, int64_t begin[LGT_MAX_DIM], int64_t step[LGT_MAX_DIM][LGT_MAX_DIM]);
/* The root's first dimension of more than one element, and the size of one of its rows: what lies in rows of it is
 * contiguous in C order. */
int lgt_layout_row(const lgt_layout *layout, int64_t *size);
/* The least and the greatest position in the root's C order of a view's rect, which is not empty. */
void lgt_layout_reach(const lgt_layout *layout, const lgt_rect *view, int64_t *least, int64_t *most);
/* A reshaped view keeps some dimensions of its root apart: {2, 6, 4} as {2, 24} keeps the first one.  The root's dimensions
 * from `first` on, to which steps of others do not lead: *part is what the view does there, in steps of theirs alone.
 * Returns where the next segment begins. */
int lgt_layout_segment(const lgt_layout *layout, int first, lgt_layout *part);
/* How tiles of a reshaped view lie in its root, in a segment where one dimension of the view, the *outer* one, steps past all
 * that the others reach together: index i of it begins in row (at + i * block) / unit of the root, one of `block` and `unit`
 * being 1.  Tiles cut there have rows that do not meet where that number is whole.
 *
 *   root {24}, view {2, 3, 4}     row 0, outer 0, at 0, block 12, unit 1: each index is 12 rows
 *   root {6, 4}, view {24}        row 0, outer 0, at 0, block 1, unit 4: four indices are a row
 *   root {6, 4}, view {3, 8}      row 0, outer 0, at 0, block 2, unit 1
 *   root {2, 6, 4}, view {2, 24}  row 0, outer 0, at 0, block 1, unit 1, and row 1, outer 1, at 0, block 1, unit 4
 */
typedef struct lgt_outer {
  int dim; /* of the view */
  int row; /* the dimension of the root of which these are rows: the first one of more than one element in its segment */
  int64_t at, block, unit;
} lgt_outer;
/* That of the root's dimension `row`.  False: its segment has none, its steps are not whole rows or shares of one, that is not
 * a dimension of rows, or the view is not reshaped. */
bool lgt_layout_outer(const lgt_layout *layout, int row, lgt_outer *out);
/* Elements of the root. */
int64_t lgt_layout_root_size(const lgt_layout *layout);
/* Elements of one size in one shape: memory that is made for one is right for the other, for variants in C, too. */
bool lgt_layout_alike(const lgt_layout *a, const lgt_layout *b);
/* How many different elements of the root the view has (broadcast ones count once; of windows of which some are left out,
 * at most so many). */
int64_t lgt_layout_distinct(const lgt_layout *layout);
/* Is every element of the root in the view?  `target`: as a reduction's target, see above. */
bool lgt_layout_covers(const lgt_layout *layout, bool target);
/* May two views of one root share an element, were they targets of reductions?  False only when they
 * certainly do not. */
bool lgt_layout_may_overlap(const lgt_layout *a, const lgt_layout *b);
/* Does every root element within the bound of the view belong to the view? */
static inline bool lgt_layout_exact(const lgt_layout *layout) { return layout->flags & LGT_LAYOUT_EXACT; }
/* Finds `first`, `last` and whether the view is exact, from all else; layouts that are interned know them. */
void lgt_layout_find_bounds(lgt_layout *layout);

#endif
