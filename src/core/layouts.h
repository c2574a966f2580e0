/* layouts.h - numbers of layouts that nobody has any more are given back.
 *
 * A program whose loop works on other slices in each turn meets new layouts for ever.  When many are new, all that are
 * in use are marked: those of handles, stores, recorded launches and plans.  A number that was neither marked nor asked
 * for since the collection before the last one is free.  So whoever has got a number, and has not made an array of it
 * yet, keeps it for thousands of other layouts: C and Lua alike remember layouts for an epoch at most (front.epoch).
 *
 * With one domain only: with several, footprints and histories speak of layouts, and these are kept.
 *
 * Belongs to the submitting thread.
 */
#ifndef LGT_LAYOUTS_H
#define LGT_LAYOUTS_H

#include "fuse.h"

/* Collect if more than `most` layouts are new.  Where there is no memory for it, nothing happens. */
void lgt_layouts_collect(lgt_stores *stores, const lgt_window *window, const lgt_fuser *fuser, uint32_t most);

#endif
