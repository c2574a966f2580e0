/* recipes.h - results that are not stored, and how they are computed if somebody asks for them after all.
 *
 * Python drops a temporary at once; Lua's collector does so some time later, and until then nobody knows whether
 * the program still holds it.  A group does not store such a result: it leaves a *recipe*, which is the group
 * itself with the memory that it found and its parameters.  Who asks for the result has those calls of the group
 * run again that it comes from (a *rescue*).  Mostly nobody does, and the recipe goes with the handle.
 *
 * So all that these calls read must still be there.  What an item (weave.h) reads comes from
 *
 *   memory     What lies there when the group ends is what the item has read (`lasts`).  The recipe *pins* it: an
 *              instance is not overwritten where recipes read it (`kept`: around all that; `changed`: around all
 *              that the group itself writes, which must lie apart).
 *   an item    It is all that another item has written, into memory of the group's own or into registers: that one
 *              runs again, too.  Preferred where it can (`again`), for else the group's own memory would be kept.
 *   versions   It is one of several versions of an array that the group changes bit by bit.  All items that wrote
 *              the array before run again, on memory of the rescue's own; of an array that was there before the
 *              group, on a copy of what was in it then.  For that the group leaves the former memory alone and goes
 *              on in a copy, if somebody may want the recipe; else it works in place.  This is one copy for a group
 *              instead of all the results of its temporaries, and done where that is cheaper (`saved`, fuse.c).
 *              A small result that is held for long keeps a whole array so.  Hence there is a limit to what all
 *              recipes keep (lgt_binder.former): beyond it windows are planned without (lgt_window.saves); and where
 *              memory lacks, results are computed to let go of it (lgt_rescue_former).
 *   nowhere    Then the result *must die*: the flush sees to it that no handle is left before the group runs, or
 *              has it stored.
 *
 * Reductions and calls of C do not run again: what they make is stored.  A single element is kept as a recipe only
 * if that reads nothing but single elements: no array should stay for its sake.
 *
 * Belongs to the submitting thread.
 */
#ifndef LGT_RECIPES_H
#define LGT_RECIPES_H

#include "plan/weave.h"

/* List the group's elided results, once memory is chosen; adds slots for former contents. */
lgt_status lgt_recipes_list(lgt_weaver *weaver);
/* Find, from the items' layouts, what recipes keep of each slot, and what the group changes.  False if it changes
 * what a recipe reads. */
bool lgt_recipes_keep(lgt_weaver *weaver);
/* Make group->elided[n].rescue: a group that computes that result alone.  Its initial slots are
 * the slots of `group` by number (slot.root), its only final is the result. */
lgt_status lgt_recipes_rescue(lgt_fuser *fuser, lgt_plan_group *group, int n);

#endif
