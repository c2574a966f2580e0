/* offload.c - see offload.h. */
#include "move/offload.h"

#include <sched.h>
#include <string.h>

static void fail(lgt_binder *binder, lgt_job *job, lgt_status status) {
  if (job->where && !strstr(lgt_message(), job->where))
    lgt_err(status, "%s (in a task launched at %s)", lgt_message(), job->where);
  lgt_exec_end(binder->exec, &job->task, status, lgt_message());
}

/* Put it into the next queue; it fails at once if that cannot be. */
static void begin(lgt_binder *binder, lgt_job *job) {
  lgt_memory *place = job->place;
  lgt_device *device = place->device;
  lgt_queue *queue = place->queue[place->turn++ % 2];
  if (job->task.status || binder->dry) { /* what it waited for has failed */
    lgt_exec_end(binder->exec, &job->task, LGT_OK, NULL);
    return;
  }
  if (!job->event) job->event = device->event_new(device);
  lgt_status status = job->event ? job->enqueue(job, device, queue) : lgt_last_status();
  lgt_status recorded = job->event ? device->record(queue, job->event) : LGT_OK;
  /* Part of it may be there, and works on what the job owns. */
  for (lgt_status late; status && job->event && !recorded && !device->query(job->event, &late);)
    sched_yield();
  if (status || recorded) {
    fail(binder, job, status ? status : recorded);
    return;
  }
  binder->device_tasks++;
  if (binder->profile)
    job->span = lgt_profile_begin(
        binder->profile,
        &(lgt_label){.category = "device", .name = job->task.label.name, .line = job->task.label.line},
        "\"device\":\"%s %d\",\"bytes\":%lld", device->name, (int)(place - binder->map->memory),
        (long long)job->task.cost);
  job->behind = binder->offloaded;
  binder->offloaded = job;
}

static bool finish(lgt_binder *binder) {
  bool some = false;
  for (lgt_job **link = &binder->offloaded; *link;) {
    lgt_job *job = *link;
    lgt_status status;
    if (!job->place->device->query(job->event, &status)) {
      link = &job->behind;
      continue;
    }
    *link = job->behind;
    some = true;
    if (binder->profile)
      lgt_profile_end(binder->profile, job->span,
                      &(lgt_label){.category = "device", .name = job->task.label.name});
    if (status) fail(binder, job, status);
    else lgt_exec_end(binder->exec, &job->task, LGT_OK, NULL);
  }
  return some;
}

bool lgt_offload_progress(lgt_binder *binder) {
  if (binder->map->nmemory == 1) return false;
  bool some = false;
  for (lgt_task *task; (task = lgt_exec_take(binder->exec, &binder->offload)); some = true)
    begin(binder, (lgt_job *)task);
  return finish(binder) || some;
}

static bool progress(void *context) { return lgt_offload_progress(context); }
static void stir(void *context) { lgt_exec_stir(((lgt_binder *)context)->exec); }

void lgt_offload_begin(lgt_binder *binder) {
  lgt_map *map = binder->map;
  if (map->nmemory == 1) return;
  binder->offload = (lgt_outside){progress, NULL, NULL, binder};
  lgt_exec_look_after(binder->exec, &binder->offload);
  for (int m = 1; m < map->nmemory; m++) {
    map->memory[m].device->notify_context = binder;
    map->memory[m].device->notify = stir;
  }
}

void lgt_offload_job(lgt_binder *binder, lgt_job *job, lgt_memory *place,
                     lgt_status (*enqueue)(lgt_job *job, const lgt_device *device, lgt_queue *queue)) {
  job->task.outside = &binder->offload;
  job->where = binder->where;
  job->place = place;
  job->enqueue = enqueue;
}
