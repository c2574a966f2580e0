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
 * that is not slanted these are whole rows: from the first to the last that it touches along the root's first dimension of
 * more than one element. */
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
/* How many different elements of the root the view has (broadcast ones count once; of windows of which some are left out,
 * at most so many). */
int64_t lgt_layout_distinct(const lgt_layout *layout);
/* Is every element of the root in the view?  `target`: as a reduction's target, see above. */
bool lgt_layout_covers(const lgt_layout *layout, bool target);
/* May two views of one root share an element, were they targets of reductions?  False only when they
 * certainly do not. */
bool lgt_layout_may_overlap(const lgt_layout *a, const lgt_layout *b);
/* Does every root element within the bound of the view belong to the view? */
bool lgt_layout_exact(const lgt_layout *layout);

#endif
