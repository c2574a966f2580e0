/* cell.h - which elements of a root each owner touches through an access.
 *
 * Where every owner has at most one tile of a launch, owner o touches through a view the elements between two cuts of the root,
 * a *cell* (cells.h).  Or all elements are one owner's.
 */
#ifndef LGT_CELL_H
#define LGT_CELL_H

#include "model/constraint.h"

/* What the owners along one dimension of their grid touch of a root. */
typedef struct lgt_cell {
  int dim;              /* of the root, along which the cells lie; -1: all elements are the owner `first`'s */
  int64_t tile, origin; /* of the first owner's cell */
  int32_t first;
} lgt_cell;

/* Along dimension j of the grid of owners of a launch partition.  False: several owners touch the same elements, or it cannot
 * be told. */
bool lgt_cell_of(const lgt_layout *layout, const lgt_alignment *align, const lgt_partition *launch, int j, lgt_cell *out);
/* Is all of a rect, through which one owner touches the root, in that owner's cell?  The outermost cells reach to the edges. */
bool lgt_cell_holds(const lgt_cell *cell, const lgt_rect *rect, int32_t owner, int32_t owners);

#endif
