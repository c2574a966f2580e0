/* depend.c - ordering tasks by the instances they touch.  See depend.h. */
#include "exec/depend.h"

static bool order(lgt_exec *exec, lgt_task *before, lgt_task *after, const lgt_instance *needs) {
  return !before || before == after || lgt_exec_order(exec, before, after, needs);
}

/* Behind all that is in flight on an instance. */
static bool order_behind(lgt_exec *exec, lgt_task *task, const lgt_instance *inst,
                         const lgt_instance *needs) {
  if (!order(exec, inst->writer, task, needs)) return false;
  for (int i = 0; i < inst->nreader; i++)
    if (!order(exec, inst->reader[i], task, NULL)) return false;
  return true;
}

/* ... of those whose memory it has. */
static bool order_behind_former(lgt_exec *exec, lgt_task *task, const lgt_instance *inst) {
  return !inst->former || inst->behind || order_behind(exec, task, inst->former, NULL);
}

bool lgt_depend_read(lgt_exec *exec, lgt_task *task, lgt_instance *inst) {
  if (!order(exec, inst->writer, task, inst) || !order_behind_former(exec, task, inst)) return false;
  if (!lgt_mem_grow((void **)&inst->reader, &inst->reader_room, inst->nreader + 1, sizeof *inst->reader))
    return false;
  inst->reader[inst->nreader++] = task;
  inst->flying++;
  lgt_instance_retain(inst);
  return true;
}

static bool write(lgt_exec *exec, lgt_task *task, lgt_instance *inst, const lgt_instance *needs) {
  if (!order_behind(exec, task, inst, needs) || !order_behind_former(exec, task, inst)) return false;
  inst->nreader = 0; /* they are behind this writer now */
  inst->writer = task;
  inst->behind = true;
  inst->flying++;
  lgt_instance_retain(inst);
  return true;
}

bool lgt_depend_write(lgt_exec *exec, lgt_task *task, lgt_instance *inst) {
  return write(exec, task, inst, inst);
}

bool lgt_depend_overwrite(lgt_exec *exec, lgt_task *task, lgt_instance *inst) {
  return write(exec, task, inst, NULL);
}

void lgt_depend_retire(lgt_map *map, lgt_task *task, lgt_instance *inst) {
  if (inst->writer == task) inst->writer = NULL;
  for (int i = 0; i < inst->nreader; i++)
    if (inst->reader[i] == task) inst->reader[i--] = inst->reader[--inst->nreader];
  inst->flying--;
  lgt_instance_release(map, inst);
}
