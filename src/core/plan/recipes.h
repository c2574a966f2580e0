/* recipes.h - results that are not stored, and how they are computed if the program looks at them after all.
 *
 * Python drops a temporary at once; Lua's collector does so some time later, and until then nobody knows whether
 * the program still holds it.  A group does not store such a result: the result is *elided*, and the group leaves a
 * *recipe*, which is the group itself with the instances that it found and its parameters.  If the program looks at the
 * result, a *rescue* runs those calls of the group again on which the result depends.  Mostly the program does not look,
 * and the recipe ends with the last handle on the result.
 *
 * So all that these calls read must still be there.  The contents that an item (weave.h) reads come from one of
 *
 *   memory     When the group ends, the memory still has the contents that the item has read (`lasts`).  The recipe
 *              *pins* this memory: an instance is not overwritten where recipes read it (`kept` is a bound of all
 *              that they read; `changed`, a bound of all that the group itself writes, must not meet it).
 *   an item    Another item wrote all of the contents, into memory of the group's own or into registers: that item
 *              runs again, too.  Preferred where it is possible (`again`), for otherwise the group's own memory would
 *              have to be kept.
 *   versions   The contents are one of several versions of an array that the group changes piece by piece.  All items
 *              that wrote the array before run again, on memory of the rescue's own; if the array existed before the
 *              group, on a copy of its former contents.  Therefore a group whose recipe may be wanted leaves the former
 *              memory alone and goes on in a copy; any other group works in place.  This costs one copy for a group
 *              instead of all results of its temporaries, and is done where that is cheaper (`saved`, fuse.c).
 *              In this way a small result that is held for long keeps a whole array.  Hence there is a limit to the
 *              former contents that all recipes keep (lgt_binder.former): beyond the limit windows are planned to keep
 *              none (lgt_window.saves), and when memory is short, rescues compute the results so that what only
 *              recipes keep can be freed (lgt_rescue_kept_alone).
 *              Where results are held that the group itself reads on, the variables of a loop, and are larger than what
 *              they were made of, they are not stored either, but that is left to their recipes (`spares`, fuse.c).
 *   nowhere    Then the result *must die*: before the group runs, the flush makes sure that no handle on the result is
 *              left, else the result is stored.
 *
 * Reductions and calls of C do not run again: their results are stored.  A result of a single element is elided only
 * if its recipe reads nothing but single elements: no array should be kept for its sake.
 *
 * Belongs to the submitting thread.
 */
#ifndef LGT_RECIPES_H
#define LGT_RECIPES_H

#include "plan/weave.h"

/* List the group's elided results, after slots were chosen; adds slots for former contents. */
lgt_status lgt_recipes_list(lgt_weaver *weaver);
/* Find, from the items' layouts, the `kept` and `changed` of each slot.  False if the group changes elements that a recipe
 * reads. */
bool lgt_recipes_keep(lgt_weaver *weaver);
/* Make group->elided[n].rescue: a group that computes that result alone.  Its initial slots are
 * the slots of `group` by number (slot.root), its only final is the result. */
const lgt_plan_group *lgt_recipes_rescue(lgt_fuser *fuser, const lgt_plan_group *group, int n);

#endif
