/* depend.h - which tasks wait for which, found through the instances they touch.
 *
 * Several tasks may read an instance at once; a writer waits for all readers since the last writer, and
 * readers and writers wait for the last writer.  An instance that has taken over another one's memory waits for what is
 * in flight there, too, until it is written.  Only tasks in flight are remembered: lgt_depend_retire
 * removes a task that is done.  Belongs to the submitting thread.
 */
#ifndef LGT_DEPEND_H
#define LGT_DEPEND_H

#include "exec/exec.h"
#include "memory/map.h"

/* Order `task` behind what is in flight on the instance and remember it there.  Takes a reference on
 * the instance, which lgt_depend_retire gives back.  False when out of memory. */
bool lgt_depend_read(lgt_exec *exec, lgt_task *task, lgt_instance *inst);
bool lgt_depend_write(lgt_exec *exec, lgt_task *task, lgt_instance *inst);
/* As lgt_depend_write, for a task that overwrites all of the instance: it waits for an earlier writer, but does not fail
 * with it. */
bool lgt_depend_overwrite(lgt_exec *exec, lgt_task *task, lgt_instance *inst);
/* The task is done: forget it here. */
void lgt_depend_retire(lgt_map *map, lgt_task *task, lgt_instance *inst);

#endif
