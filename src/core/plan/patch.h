/* patch.h - on a GPU, loops whose threads compute a patch of elements each, so that neighbours share what both need.
 *
 * A stencil of a stencil that is one loop (inline.h) computes for each element what its neighbours compute, too: in
 *
 *   b[i] = f(a[i + 1], a[i + 2]) - f(a[i], a[i + 1])
 *
 * every f is computed twice.  A loop over two elements at a time does three of them instead of four:
 *
 *   x, y, z = f(a[2i], a[2i + 1]), f(a[2i + 1], a[2i + 2]), f(a[2i + 2], a[2i + 3])
 *   b[2i], b[2i + 1] = y - x, z - y
 *
 * So a loop becomes one over patches of rows and columns, whose accesses move so many times as far, and others over the rows
 * and columns that are left.  What is the same in two elements of a patch is found as equal instructions.  The bits are the same.
 *
 *   loops   that may be cut (cut.h)
 *   cost    arithmetic takes longer than memory does, a patch saves some of it, and there are threads enough without; of
 *           several patches (1 x 2 elements, 2 x 2, 4 x 2) that which saves most is taken
 *
 * It works on the loops that inline.c leaves.  Plans with such loops are not shifted (shift.h), either.
 */
#ifndef LGT_PATCH_H
#define LGT_PATCH_H

#include "plan/assemble.h"

/* The loops of a group that gain by it. */
lgt_status lgt_patch_loops(lgt_weaver *weaver);

#endif
