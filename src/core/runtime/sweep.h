/* sweep.h - frees what planning keeps and nothing uses any more: plans, histories, footprints, partitions, layouts.
 *
 * A program whose loop works on other slices in each turn meets new layouts for ever, and with several domains other
 * partitions, footprints and plans.  When much is new, all that is in use is marked, and the rest is swept:
 *
 *   plans        that were not looked up since the sweep before the last one, and those that others have replaced, are
 *                retired: no look-up finds them.  They are freed when no job runs them and no recipe needs them.
 *   histories    that no store and no image's moves name; also when they alone have become many
 *   footprints   that neither the plans that are left nor histories nor images name
 *   partitions   that none of these was cut by, nor any store
 *   layouts      that none of these, no handle and no launch names, and that were not asked for since the sweep before the
 *                last one.  So a layout's number that belongs to no array yet stays valid while thousands of other layouts
 *                are made, but not for ever: a cache of such numbers, in C or Lua, must be emptied when the epoch changes
 *                (front.epoch)
 *
 * Plans that are made again soon after they were swept show that a sweep came too early.  Then more must be new before the
 * next sweep, up to a share of the memory that arrays may take.
 *
 * Each rank sweeps when it likes: no number or address of these things reaches other ranks, and everything that decides what
 * moves between ranks (histories, images with their moves, stores' key partitions) keeps what it names.
 *
 * Belongs to the submitting thread.
 */
#ifndef LGT_SWEEP_H
#define LGT_SWEEP_H

#include "runtime/runtime.h"

/* Sweep if much is new.  Where there is no memory for it, nothing happens. */
void lgt_sweep(lgt_runtime *rt);

#endif
