/* sweep.h - what planning keeps, and nobody has any more, is given back: plans, histories, footprints,
 * partitions, layouts.
 *
 * A program whose loop works on other slices in each turn meets new layouts for ever, and with several domains other
 * partitions, footprints and plans.  When much is new, all that is in use is marked, and the rest is swept:
 *
 *   plans        that were not looked up since the sweep before the last one, and those that others have replaced, are
 *                retired: nobody finds them any more.  They go when no job runs them and no recipe needs them.
 *   histories    that no store and no image's moves name; also when they alone have become many
 *   footprints   that neither the plans that are left nor histories nor images name
 *   partitions   that none of these was cut by, nor any store
 *   layouts      that none of these, no handle and no launch has, and that were not asked for since the sweep before the last
 *                one.  So whoever has got a number, and has not made an array of it yet, keeps it for thousands of other
 *                layouts: C and Lua alike remember layouts for an epoch at most (front.epoch).
 *
 * Plans that are made again soon after they were swept tell that the next sweep came too early: then more is let come
 * together before the one after it, up to a share of what arrays may take.
 *
 * With several ranks each sweeps when it likes: no number or address of these reaches other ranks, and whatever tells what
 * moves (histories, images with their moves, stores' key partitions) keeps what it names.
 *
 * Belongs to the submitting thread.
 */
#ifndef LGT_SWEEP_H
#define LGT_SWEEP_H

#include "runtime/runtime.h"

/* Sweep if much is new.  Where there is no memory for it, nothing happens. */
void lgt_sweep(lgt_runtime *rt);

#endif
