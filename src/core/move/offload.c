/* offload.c - see offload.h. */
#include "move/offload.h"

#include <stdio.h>
#include <string.h>

/* ---- into a queue ------------------------------------------------------------------------------------ */

/* Its queue waits for the jobs of others that it follows, unless it has already. */
static lgt_status order(lgt_binder *binder, const lgt_job *job, const lgt_device *device, lgt_queue *queue) {
  const struct lgt_job_offload *p = job->offload;
  lgt_lane *own = &binder->lane[p->lane];
  lgt_status status = LGT_OK;
  for (int i = 0; i < p->nneed && !status; i++) {
    const lgt_need *need = &p->need[i];
    if (binder->lane[need->lane].done >= need->number || own->seen[need->lane] >= need->number) continue;
    status = device->wait(queue, need->event);
    if (status) continue;
    own->seen[need->lane] = need->number;
    binder->queue_waits++;
  }
  return status;
}

/* For the profile, which can do without. */
static void note_begin(struct lgt_job_offload *p, lgt_device *device, lgt_queue *queue) {
  p->begin = device->event_new(device);
  if (!p->begin || !device->record(queue, p->begin)) return;
  device->event_free(p->begin);
  p->begin = NULL;
}

static lgt_status enqueue(lgt_binder *binder, lgt_job *job) {
  struct lgt_job_offload *p = job->offload;
  lgt_device *device = p->place->device;
  lgt_queue *queue = p->place->queue[p->lane % LGT_QUEUES];
  if (!(p->event = device->event_new(device))) return lgt_last_status();
  lgt_status status = order(binder, job, device, queue);
  if (!status && device->timed) note_begin(p, device, queue);
  if (!status && device->enter) status = device->enter(device);
  if (!status) status = p->enqueue(job, device, queue);
  char *message = status ? lgt_mem_strdup(lgt_message()) : NULL;
  lgt_status recorded = device->record(queue, p->event); /* part of it may be there */
  p->recorded = !recorded;
  if (message) lgt_err(status, "%s", message);
  lgt_mem_free(message);
  return status ? status : recorded;
}

/* A job that has failed, or could not be put into the queue, waits in the lane for those that it follows. */
static void begin(lgt_binder *binder, lgt_job *job) {
  struct lgt_job_offload *p = job->offload;
  lgt_lane *lane = &binder->lane[p->lane];
  bool skip = job->task.status || binder->dry || !p->enqueue;
  if (!skip && (p->status = enqueue(binder, job))) p->message = lgt_mem_strdup(lgt_message());
  p->number = ++lane->put;
  if (lane->last) lane->last->offload->next = job;
  else lane->first = job;
  lane->last = job;
  if (skip || p->status) return;
  binder->device_tasks++;
  if (binder->profile)
    p->span = lgt_profile_begin(
        binder->profile,
        &(lgt_label){.category = "device", .name = job->task.label.name, .line = job->task.label.line},
        "\"device\":\"%s %d\",\"bytes\":%lld", p->place->device->name, (int)(p->place - binder->map->memory),
        (long long)job->task.cost);
  lgt_exec_enqueued(binder->exec, &job->task);
}

bool lgt_offload_start(lgt_binder *binder) {
  bool some = false;
  for (lgt_task *task; (task = lgt_exec_take(binder->exec, &binder->offload)); some = true)
    begin(binder, (lgt_job *)task);
  return some;
}

/* ---- and out of it ----------------------------------------------------------------------------------- */

/* The row of the queue, with the times of events. */
static void report_row(const lgt_binder *binder, const lgt_job *job) {
  const struct lgt_job_offload *p = job->offload;
  const lgt_device *device = p->place->device;
  int64_t begin = device->when(p->begin), end = device->when(p->event);
  if (begin && end >= begin)
    lgt_profile_row(
        binder->profile, p->lane, begin, end,
        &(lgt_label){.category = "stream", .name = job->task.label.name, .line = job->task.label.line});
}

static void end(lgt_binder *binder, lgt_job *job, lgt_status status) {
  const struct lgt_job_offload *p = job->offload;
  if (!status && p->begin) report_row(binder, job);
  if (binder->profile && p->span)
    lgt_profile_end(binder->profile, p->span,
                    &(lgt_label){.category = "device", .name = job->task.label.name});
  if (p->status) status = lgt_err(p->status, "%s", p->message ? p->message : lgt_status_name(p->status));
  if (status && p->where && !strstr(lgt_message(), p->where))
    lgt_err(status, "%s (in a task launched at %s)", lgt_message(), p->where);
  lgt_exec_end(binder->exec, &job->task, status, status ? lgt_message() : NULL);
}

/* Those of a lane that are over.  One that is, but follows another one that was not when it was asked, waits. */
static bool finish_lane(lgt_binder *binder, lgt_lane *lane) {
  bool some = false;
  for (lgt_job *job; (job = lane->first) && !job->task.followed; some = true) {
    const struct lgt_job_offload *p = job->offload;
    lgt_status status = LGT_OK;
    if (p->recorded && !p->place->device->query(p->event, &status)) break;
    lane->first = p->next;
    if (!p->next) lane->last = NULL;
    lane->done = p->number;
    end(binder, job, status);
  }
  return some;
}

static bool finish(lgt_binder *binder) {
  bool some = false, again = true;
  while (again) {
    again = false;
    for (int l = 0; l < (binder->map->nmemory - 1) * LGT_QUEUES; l++)
      again |= finish_lane(binder, &binder->lane[l]);
    some |= again;
  }
  return some;
}

bool lgt_offload_progress(lgt_binder *binder) {
  if (binder->map->nmemory == 1) return false;
  bool some = finish(binder);
  return lgt_offload_start(binder) || some;
}

/* ---- tasks ------------------------------------------------------------------------------------------- */

static bool follow(lgt_task *before, lgt_task *after) {
  const struct lgt_job_offload *b = ((lgt_job *)before)->offload;
  struct lgt_job_offload *a = ((lgt_job *)after)->offload;
  int i = 0;
  if (a->late || (a->from_host && b->lane % LGT_QUEUES == LGT_QUEUE_OUT)) return false;
  if (a->lane == b->lane) return true;
  while (i < a->nneed && a->need[i].lane != b->lane) i++;
  if (i == LGT_MOST_NEEDS) return false;
  if (i == a->nneed) a->need[a->nneed++] = (lgt_need){.lane = b->lane};
  if (a->need[i].number < b->number) a->need[i] = (lgt_need){b->lane, b->number, b->event};
  return true;
}

/* Tells when a job in its queue is over. */
static void alert_of(lgt_event *event, const lgt_device *device) {
  if (device->alert) device->alert(event);
}

/* A job that is not in its queue is over when those before it are: the last one in its lane, and those in others. */
static void alert_before(const lgt_binder *binder, const lgt_job *job, const lgt_job *last) {
  const struct lgt_job_offload *p = job->offload;
  if (last) alert_of(last->offload->event, last->offload->place->device);
  for (int i = 0; i < p->nneed; i++) {
    const lgt_need *need = &p->need[i];
    const lgt_memory *place = &binder->map->memory[1 + need->lane / LGT_QUEUES];
    if (binder->lane[need->lane].done < need->number) alert_of(need->event, place->device);
  }
}

/* In each lane the first end that matters to somebody.  Who waits for a job that has failed, and is in no queue, waits for
 * those before it. */
static void alert(void *context, lgt_task *task) {
  const lgt_binder *binder = context;
  for (int l = 0; l < (binder->map->nmemory - 1) * LGT_QUEUES; l++) {
    const lgt_job *last = NULL; /* in the queue */
    bool found = false;
    for (lgt_job *job = binder->lane[l].first; job; job = job->offload->next) {
      struct lgt_job_offload *p = job->offload;
      bool first = !found && (job->task.watched || &job->task == task);
      if (!p->alerted && (first || !p->recorded)) {
        if (p->recorded) alert_of(p->event, p->place->device);
        else alert_before(binder, job, last);
        p->alerted = true;
      }
      found |= first;
      if (p->recorded) last = job;
    }
  }
}

static bool progress(void *context) { return lgt_offload_progress(context); }
static void stir(void *context) { lgt_exec_stir(((lgt_binder *)context)->exec); }

/* Its queues get rows in the profile. */
static void name_rows(const lgt_binder *binder, int memory) {
  static const char *const what[LGT_QUEUES] = {"kernels", "copies to it", "copies to the host"};
  lgt_device *device = binder->map->memory[memory].device;
  for (int q = 0; q < LGT_QUEUES; q++) {
    char name[120];
    snprintf(name, sizeof name, "%s %d: %s", device->name, memory, what[q]);
    lgt_profile_name_row(binder->profile, (memory - 1) * LGT_QUEUES + q, name);
  }
  device->timed = true;
}

void lgt_offload_begin(lgt_binder *binder) {
  lgt_map *map = binder->map;
  if (map->nmemory == 1) return;
  binder->offload = (lgt_outside){.progress = progress, .follow = follow, .alert = alert, .context = binder};
  lgt_exec_look_after(binder->exec, &binder->offload);
  for (int m = 1; m < map->nmemory; m++) {
    map->memory[m].device->notify_context = binder;
    map->memory[m].device->notify = stir;
    if (binder->profile && map->memory[m].device->when) name_rows(binder, m);
  }
}

static void look_at_copies(lgt_job *job) {
  struct lgt_job_offload *p = job->offload;
  int64_t bytes = 0;
  for (int i = 0; i < job->ncopy; i++) {
    const lgt_copy *c = &job->copy[i];
    bool from = lgt_instance_on_host(c->from);
    p->from_host |= from;
    if (from || lgt_instance_on_host(c->to)) bytes += lgt_elements(&c->rect, c->runs, c->along) * c->to->elem;
  }
  p->late = bytes > p->place->device->staging;
}

static int queue_for(const lgt_job *job) {
  for (int i = 0; i < job->ncopy; i++) {
    if (lgt_instance_on_host(job->copy[i].to)) return LGT_QUEUE_OUT;
    if (job->copy[i].from->memory != job->copy[i].to->memory) return LGT_QUEUE_IN;
  }
  return LGT_QUEUE_KERNELS;
}

lgt_status lgt_offload_job(lgt_binder *binder, lgt_job *job, lgt_memory *place,
                           lgt_status (*enqueue)(lgt_job *job, const lgt_device *device, lgt_queue *queue)) {
  struct lgt_job_offload *p = job->offload = lgt_mem_zalloc(sizeof *p);
  if (!p) return lgt_no_memory_to_launch();
  p->place = place;
  p->enqueue = enqueue;
  p->lane = (int)(place - binder->map->memory - 1) * LGT_QUEUES + queue_for(job);
  look_at_copies(job);
  p->where = binder->where;
  job->task.outside = &binder->offload;
  job->task.fallible = true;
  return LGT_OK;
}

void lgt_offload_free(lgt_job *job) {
  struct lgt_job_offload *p = job->offload;
  if (!p) return;
  if (p->event) p->place->device->event_free(p->event);
  if (p->begin) p->place->device->event_free(p->begin);
  lgt_mem_free(p->message);
  lgt_mem_free(p);
}
