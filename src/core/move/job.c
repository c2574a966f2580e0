/* job.c - tasks in flight, from submission to retirement.  See job.h and bind.h. */
#include "move/job.h"

#include <string.h>

#include "move/poison.h"
#include "move/message.h"
#include "move/offload.h"
#include "move/template.h"

/* ---- building ---------------------------------------------------------------------------------------- */

lgt_job *lgt_job_new(lgt_binder *binder, lgt_job_size n, bool here, void **memory) {
  size_t size = sizeof(lgt_job) + n.bytes + (size_t)n.steps * sizeof(lgt_step) +
                (size_t)n.shapes * sizeof(lgt_nest_shape) + (size_t)n.instances * sizeof(lgt_instance *) + 64;
  char *p = lgt_blocks_take(&binder->blocks, size);
  if (!p) {
    lgt_no_memory_to_launch();
    return NULL;
  }
  lgt_job *job = (lgt_job *)p;
  memset(job, 0, sizeof *job);
  job->here = here;
  job->size = size;
  p += (sizeof *job + 15) / 16 * 16;
  *memory = p;
  p += (n.bytes + 15) / 16 * 16;
  job->task.step = (lgt_step *)p;
  p += (size_t)n.steps * sizeof *job->task.step;
  job->shape = (lgt_nest_shape *)p;
  p += (size_t)n.shapes * sizeof *job->shape;
  job->touched = (lgt_instance **)p;
  lgt_task_init(&job->task);
  return job;
}

void lgt_job_free(lgt_binder *binder, lgt_job *job) {
  for (int i = 0; i < job->nshape; i++) lgt_mem_free(job->shape[i].stride);
  for (int i = 0; i < job->ncopy; i++) lgt_runs_release(job->copy[i].runs);
  for (int i = 0; i < job->nrows; i++) lgt_runs_release(job->rows[i]);
  for (int i = 0; i < job->npoison; i++) lgt_failure_release(job->poison[i]);
  lgt_mem_free(job->poison);
  if (job->message) lgt_message_free(binder, job);
  lgt_exec_forget(&job->task);
  lgt_offload_free(job);
  lgt_mem_free(job->owned);
  lgt_template_release(job->template);
  lgt_plan_release(job->plan);
  lgt_blocks_give(&binder->blocks, job, job->size);
}

void lgt_job_step(lgt_job *job, int chunks, lgt_status (*run)(lgt_step *, int), void *data) {
  job->task.step[job->task.nstep++] = (lgt_step){chunks, NULL, run, NULL, NULL, data};
}

void lgt_job_touch(lgt_job *job, lgt_instance *inst) {
  if (inst) job->touched[job->ntouched++] = inst;
}

/* Has all of it been overwritten, somewhere else perhaps, since the job was launched that writes it now?  Then a failure of
 * that job is over, too. */
static bool is_over(const lgt_instance *inst) {
  return inst->writer && ((const lgt_job *)inst->writer)->number < inst->overwritten_by;
}

/* Does a device's queue for kernels do it? */
static bool is_kernel(const lgt_job *job) {
  return job->offload && job->offload->lane % LGT_QUEUES == LGT_QUEUE_KERNELS;
}

static bool depend(lgt_binder *binder, lgt_job *job, int i) {
  lgt_instance *inst = job->touched[i];
  if (i < job->nread) return lgt_depend_read(binder->exec, &job->task, inst);
  lgt_written extent = job->extent ? job->extent[i] : LGT_WRITTEN_IN_PART;
  if (extent == LGT_WRITTEN_IN_PART)
    return is_over(inst) ? lgt_depend_overwrite(binder->exec, &job->task, inst)
                         : lgt_depend_write(binder->exec, &job->task, inst);
  if (inst->overwritten_at != job->position && !job->ahead) {
    inst->overwritten_by = job->number; /* several colours overwrite it together */
    inst->overwritten_at = job->position;
  }
  return extent == LGT_RENEWED ? lgt_depend_write(binder->exec, &job->task, inst)
                               : lgt_depend_overwrite(binder->exec, &job->task, inst);
}

lgt_status lgt_job_submit(lgt_binder *binder, lgt_job *job) {
  lgt_log(EXEC, 3, "a task of %d steps, %lld bytes%s", job->task.nstep, (long long)job->task.cost,
          job->here ? ", runs at once" : "");
  if (binder->dry) job->task.nstep = 0;
  if (job->here) {
    lgt_exec_submit(binder->exec, &job->task);
    lgt_status status = job->task.status;
    if (status) lgt_err(status, "%s", job->task.message ? job->task.message : lgt_status_name(status));
    lgt_job_free(binder, job);
    return status;
  }
  lgt_status status = lgt_message_flush(binder); /* what was launched before comes before */
  bool good = true;
  int i = 0;
  job->position = job->task.position = binder->agreed.position;
  job->number = ++binder->jobs;
  job->task.thing = (const void *const *)job->touched;
  job->task.nthing = job->ntouched;
  lgt_exec_together(binder->exec);
  for (; i < job->ntouched && good; i++) {
    good = depend(binder, job, i);
    if (good && !is_kernel(job)) job->touched[i]->abroad++;
  }
  if (!good) { /* it cannot be taken out of the graph any more: run it without work */
    job->ntouched = i - 1;
    job->task.nstep = 0;
    if (job->offload) job->offload->enqueue = NULL;
  }
  if (binder->last) binder->last->next = job;
  else binder->first = job;
  binder->last = job;
  binder->njob++;
  lgt_exec_submit(binder->exec, &job->task);
  if (job->offload) lgt_offload_start(binder);
  return good ? status : lgt_no_memory_to_launch();
}

/* ---- waiting and retiring -------------------------------------------------------------------------------------- */

void lgt_job_wait(lgt_binder *binder, lgt_instance *inst, bool for_write) {
  if (!inst) return;
  if (inst->writer) lgt_exec_wait(binder->exec, inst->writer);
  for (int i = 0; for_write && i < inst->nreader; i++) lgt_exec_wait(binder->exec, inst->reader[i]);
}

static lgt_status look(lgt_binder *binder, lgt_task *task) {
  if (lgt_exec_look(binder->exec, task)) return LGT_OK;
  return lgt_err(LGT_INTERRUPTED, "interrupted while waiting for results, which are still being computed");
}

lgt_status lgt_job_look(lgt_binder *binder, lgt_instance *inst) {
  return inst && inst->writer ? look(binder, inst->writer) : LGT_OK;
}

bool lgt_job_await_first(lgt_binder *binder) {
  if (!lgt_exec_look(binder->exec, &binder->first->task)) return false;
  lgt_job_retire(binder, false);
  return true;
}

void lgt_job_keep_up(lgt_binder *binder, int groups, int enqueued) {
  int64_t now = binder->agreed.position;
  for (lgt_job *job = binder->first; job && job->position < now - groups;) {
    if (job->task.enqueued && job->position >= now - enqueued) {
      job = job->next;
      continue;
    }
    if (!look(binder, &job->task)) lgt_job_retire(binder, false);
    else return; /* interrupted: the next look says so */
    job = binder->first;
  }
}

/* What the job has made of one of its instances is poisoned by what failed before the job ran: why; NULL: it is not. */
static lgt_failure *failure_of(const lgt_binder *binder, const lgt_job *job, const lgt_instance *inst) {
  const lgt_poison *poison = lgt_task_poison(&job->task, inst);
  if (!poison) return NULL;
  lgt_failure *failure = lgt_failure_new(
      poison->status, poison->message ? poison->message : lgt_status_name(poison->status), NULL);
  if (!failure) return lgt_failure_retain(binder->no_memory);
  failure->position = poison->position;
  return failure;
}

/* An instance that a later job overwrites does not get the failure of an earlier one. */
static void poison_instance(const lgt_binder *binder, const lgt_job *job, lgt_instance *inst,
                            lgt_failure *failure) {
  lgt_failure *why = failure_of(binder, job, inst);
  if (!why && failure) why = lgt_failure_retain(failure);
  bool first = why && (!inst->failure || why->position < inst->failure->position);
  if (!first || job->number < inst->overwritten_by) return lgt_failure_release(why);
  lgt_failure_release(inst->failure);
  inst->failure = why;
}

static void retire(lgt_binder *binder, lgt_job *job) {
  lgt_failure *failure = NULL;
  if (job->task.status) {
    const char *message = job->task.message ? job->task.message : lgt_status_name(job->task.status);
    failure = job->task.poisoned ? lgt_failure_new(job->task.status, message, NULL)
                                 : lgt_poison_new(binder, job->task.status, message, 0);
    if (failure) failure->position = job->task.position, lgt_poison_note(binder);
    else failure = lgt_failure_retain(binder->no_memory);
    if (!job->task.poisoned) lgt_poison_group(binder, job->position, failure);
  }
  for (int i = 0; i < job->ntouched; i++) {
    lgt_instance *inst = job->touched[i];
    if ((failure || job->task.poison) && i >= job->nread) poison_instance(binder, job, inst, failure);
    if (!is_kernel(job)) inst->abroad--;
    lgt_depend_retire(binder->map, &job->task, inst);
  }
  lgt_failure_release(failure);
  lgt_job_free(binder, job);
}

lgt_status lgt_job_look_all(lgt_binder *binder) {
  lgt_status status = LGT_OK;
  for (lgt_job *job = binder->first; job && !status; job = job->next) status = look(binder, &job->task);
  lgt_job_retire(binder, false);
  return status;
}

lgt_status lgt_job_look_native(lgt_binder *binder) {
  lgt_status status = LGT_OK;
  for (lgt_job *job = lgt_map_whole(binder->map) ? NULL : binder->first; job && !status; job = job->next)
    if (job->native) status = look(binder, &job->task);
  return status;
}

void lgt_job_retire(lgt_binder *binder, bool all) {
  lgt_job **link = &binder->first;
  if (binder->peers && *link) lgt_message_progress(binder);
  if (*link) lgt_offload_progress(binder);
  binder->last = NULL;
  while (*link) {
    lgt_job *job = *link;
    if (all) lgt_exec_wait(binder->exec, &job->task);
    if (!lgt_task_done(&job->task)) {
      binder->last = job;
      link = &job->next;
      continue;
    }
    *link = job->next;
    binder->njob--;
    retire(binder, job);
  }
  if (binder->nrecent) lgt_poison_forget(binder, binder->first ? binder->first->position : INT64_MAX);
}
