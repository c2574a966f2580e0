/* message.c - see message.h. */
#include "move/message.h"

#include "base/random.h"
#include "move/offload.h"

#include <stdio.h>
#include <string.h>

typedef enum message_kind { SEND, RECV, BROADCAST, GATHER, FOLD, MANY } message_kind;

struct lgt_job_message {
  message_kind kind;
  bool poisoned; /* there is nothing to send, or nowhere to receive into */
  int peer;      /* BROADCAST: the root */
  uint64_t tag;
  char *data;
  size_t bytes;
  int64_t *offset;  /* GATHER: owned with the job */
  int redop, dtype; /* FOLD */
  int64_t *at, n;
  lgt_write_messages write; /* MANY: what it consists of */
  int count;                /* of many */
  lgt_peer_message *many;   /* owned with the job */
  lgt_pending **unfinished; /* owned with the job; NULL: done */
  bool intact;              /* those that are done came */
  uint64_t number;          /* of its event in the profile */
  lgt_pending *pending;     /* once it has begun */
  lgt_job *next;            /* among those underway */
  lgt_copy *copy;           /* small ones: what is packed or unpacked; they hold refs to runs */
  int ncopy;
  struct lgt_job_message *another; /* small ones: the task's next one, which has a block of its own */
};

static const char *const message_name[] = {"send", "receive", "broadcast", "gather", "fold", "shuffle"};

/* Bytes from which on a message goes to its place at once. */
enum { DIRECT = 1 << 20 };

static lgt_status no_memory(void) { return lgt_err(LGT_NO_MEMORY, "out of memory for a message"); }

uint64_t lgt_message_tag(const lgt_binder *binder, int touch, int domain) {
  if (domain != LGT_MESSAGE_FOLDS) domain %= binder->map->local;
  uint64_t place = (uint64_t)touch << 6 | (uint64_t)domain;
  return ((uint64_t)binder->agreed.exchanges << 19 | (place & ((1 << 19) - 1))) & ((1ull << 39) - 1);
}

/* ---- small messages ----------------------------------------------------------------------------------- */

/* Copy the pieces of a small message into its buffer, or out of it. */
static void copy_small(const lgt_binder *binder, const struct lgt_job_message *p, char *buffer) {
  for (int i = 0; i < p->ncopy && !binder->dry; i++) {
    p->copy[i].buffer = buffer;
    lgt_copy_run(&p->copy[i]);
  }
}

static void pack_and_send(lgt_binder *binder, const struct lgt_job_message *p, bool good) {
  lgt_eager *eager = lgt_eager_new(binder, p->bytes);
  if (!eager) return;
  if (good) copy_small(binder, p, eager->data);
  lgt_eager_send(binder, eager, p->peer, p->tag, good);
}

/* The end of the messages of a task, for the profile. */
static void report_end(const lgt_binder *binder, const lgt_job *job) {
  for (const struct lgt_job_message *p = job->message; p && binder->profile; p = p->another)
    lgt_profile_end(binder->profile, p->number, &job->task.label);
}

/* Pack small messages and send them.  The task is done then, so that its instances can be written again. */
static void send_small(lgt_binder *binder, lgt_job *job, bool good) {
  for (const struct lgt_job_message *p = job->message; p; p = p->another) pack_and_send(binder, p, good);
  report_end(binder, job);
  lgt_exec_finish(binder->exec, &job->task, NULL);
}

/* ---- looking after messages ------------------------------------------------------------------------- */

static void begin_many(lgt_binder *binder, lgt_job *job, bool good) {
  lgt_peers *peers = binder->peers;
  struct lgt_job_message *p = job->message;
  p->write(job->owned, good, p->many);
  for (int i = 0; i < p->count; i++) {
    const lgt_peer_message *l = &p->many[i];
    p->unfinished[i] = l->sends ? peers->send(peers, l->peer, p->tag, l->data, l->bytes)
                                : peers->recv(peers, l->peer, p->tag, l->data, l->bytes);
    if (!p->unfinished[i]) peers->abort(peers, lgt_message());
    if (!l->sends) continue;
    p->bytes += l->bytes;
    binder->messages++;
  }
  binder->sent += (int64_t)p->bytes;
}

/* Are all messages done? */
static bool done_many(lgt_peers *peers, struct lgt_job_message *p, bool *intact) {
  bool all = true;
  for (int i = 0; i < p->count; i++) {
    bool came = true;
    if (p->unfinished[i] && peers->done(peers, p->unfinished[i], &came)) {
      p->unfinished[i] = NULL;
      if (!p->many[i].sends) p->intact &= came;
    }
    all &= !p->unfinished[i];
  }
  *intact = p->intact;
  return all;
}

static void log_message(const struct lgt_job_message *p, bool good) {
  lgt_log(MAP, 3, "%s %zu bytes, peer %d, tag %llx%s", message_name[p->kind], p->bytes, p->peer,
          (unsigned long long)p->tag, good ? "" : ", without contents");
}

static void report_begin(const lgt_binder *binder, const lgt_job *job, bool good) {
  for (struct lgt_job_message *p = job->message; p; p = p->another) {
    if (binder->profile)
      p->number =
          lgt_profile_begin(binder->profile, &job->task.label, "\"bytes\":%zu,\"peer\":%d,\"tag\":\"%llx\"",
                            p->bytes, p->peer, (unsigned long long)p->tag);
    log_message(p, good);
  }
}

static void begin(lgt_binder *binder, lgt_job *job) {
  lgt_peers *peers = binder->peers;
  struct lgt_job_message *p = job->message;
  bool good = !p->poisoned && !job->task.status;
  report_begin(binder, job, good);
  p->intact = true;
  if (p->kind == SEND && p->ncopy) return send_small(binder, job, good);
  switch (p->kind) {
    case SEND:
      p->pending = peers->send(peers, p->peer, p->tag, p->data, good ? p->bytes : 0);
      break;
    case RECV: /* a small one began when it was submitted */
      if (!p->pending) p->pending = peers->recv(peers, p->peer, p->tag, p->data, p->bytes);
      break;
    case BROADCAST:
      p->pending = peers->broadcast(peers, p->tag, p->peer, p->data, p->bytes, good);
      break;
    case GATHER:
      p->pending = peers->allgather(peers, p->tag, p->data, p->offset, good);
      break;
    case FOLD:
      p->pending = peers->allreduce(peers, p->tag, p->redop, p->dtype, p->data, p->at, p->n, good);
      break;
    case MANY:
      begin_many(binder, job, good && !binder->dry);
      break;
  }
  if (!p->pending && p->kind != MANY)
    peers->abort(peers, lgt_message()); /* the others count on this message */
  p->next = NULL;
  *binder->underway_end = job;
  binder->underway_end = &p->next;
}

/* ... of a task that has several small ones, or one of any kind? */
static bool done_small(lgt_peers *peers, struct lgt_job_message *first, bool *intact) {
  bool all = true;
  for (struct lgt_job_message *p = first; p; p = p->another) {
    bool came = true;
    if (p->pending && peers->done(peers, p->pending, &came)) {
      p->pending = NULL;
      first->intact &= came;
    }
    all &= !p->pending;
  }
  *intact = first->intact;
  return all;
}

static bool finish(lgt_binder *binder) {
  bool some = lgt_eager_finish(binder);
  for (lgt_job **link = &binder->underway; *link;) {
    lgt_job *job = *link;
    bool intact = true;
    bool done = job->message->kind == MANY ? done_many(binder->peers, job->message, &intact)
                                           : done_small(binder->peers, job->message, &intact);
    if (!done) {
      link = &job->message->next;
      continue;
    }
    *link = job->message->next;
    if (!*link) binder->underway_end = link;
    some = true;
    report_end(binder, job);
    bool failed = job->message->poisoned || (!intact && job->message->kind != SEND);
    for (const struct lgt_job_message *p = job->message; p && !failed && !job->task.status; p = p->another)
      copy_small(binder, p, p->data);
    lgt_exec_finish(binder->exec, &job->task, failed ? "a task on another rank failed" : NULL);
  }
  return some;
}

static bool begin_ready(lgt_binder *binder) {
  bool some = false;
  for (lgt_task *task; (task = lgt_exec_take(binder->exec, &binder->messaging)); some = true)
    begin(binder, (lgt_job *)task);
  return some;
}

bool lgt_message_progress(lgt_binder *binder) {
  bool some = begin_ready(binder);
  some |= (binder->underway || binder->eager) && binder->peers->progress(binder->peers);
  return finish(binder) || some;
}

typedef struct sleeper {
  lgt_binder *binder;
  bool (*ready)(void *);
  void *context;
} sleeper;

static bool stirs(void *context) {
  sleeper *s = context;
  return s->ready(s->context) || finish(s->binder);
}

static bool progress(void *context) { return lgt_message_progress(context); }

static void sleep_for_messages(void *context, bool (*ready)(void *), void *exec) {
  lgt_binder *binder = context;
  sleeper s = {binder, ready, exec};
  char what[96] = "for other tasks";
  if (binder->underway) {
    const struct lgt_job_message *p = binder->underway->message;
    if (p->kind == RECV) snprintf(what, sizeof what, "for %zu bytes from rank %d", p->bytes, p->peer);
    else if (p->kind == SEND) snprintf(what, sizeof what, "for rank %d to take %zu bytes", p->peer, p->bytes);
    else snprintf(what, sizeof what, "for all ranks to share %zu bytes", p->bytes);
  }
  binder->peers->until(binder->peers, stirs, &s, what);
}

static bool attend(void *context) { return lgt_exec_help(((lgt_binder *)context)->exec); }

static void wake(void *context) {
  lgt_peers *peers = ((lgt_binder *)context)->peers;
  peers->wake(peers);
}

void lgt_message_begin(lgt_binder *binder) {
  binder->underway_end = &binder->underway;
  binder->messaging =
      (lgt_outside){.progress = progress, .sleep = sleep_for_messages, .wake = wake, .context = binder};
  lgt_exec_look_after(binder->exec, &binder->messaging);
  binder->peers->attend = attend;
  binder->peers->attend_context = binder;
  binder->share_limit = binder->map->pool->limit;
  lgt_message_least(binder, 0, &binder->share_limit, 1);
}

static bool none_is_left(void *context) {
  lgt_eager_finish(context);
  return !((const lgt_binder *)context)->eager;
}

void lgt_message_end(lgt_binder *binder) {
  if (!none_is_left(binder))
    binder->peers->until(binder->peers, none_is_left, binder, "for its messages to leave");
  binder->peers->attend = NULL;
  binder->peers->attend_context = NULL;
}

/* ---- tasks ------------------------------------------------------------------------------------------ */

static int64_t copy_bytes(const lgt_copy *copy) {
  return lgt_elements(&copy->rect, copy->runs, copy->along) * copy->from->elem;
}

/* To or from a buffer that holds messages: not counted among the copies. */
static bool packs(const lgt_copy *copy) { return copy->from_at >= 0 || copy->to_at >= 0; }

static void copy_describe(const lgt_step *step, int chunk, char *text, size_t room) {
  const lgt_copy *copy = step->data;
  (void)chunk;
  snprintf(text, room, ",\"bytes\":%lld,\"from\":%d,\"to\":%d", (long long)copy_bytes(copy),
           copy->from->domain, copy->to->domain);
}

static lgt_status copy_run(lgt_step *step, int chunk) {
  (void)chunk;
  lgt_copy_run(step->data);
  return LGT_OK;
}

/* Whose device copies: that of the target, or of a source; NULL: none is needed. */
static lgt_memory *copier(const lgt_copy *copies, int count) {
  if (!lgt_instance_on_host(copies->to)) return copies->to->memory;
  for (int i = 0; i < count; i++)
    if (!lgt_instance_on_host(copies[i].from)) return copies[i].from->memory;
  return NULL;
}

static lgt_status enqueue_copies(lgt_job *job, const lgt_device *device, lgt_queue *queue) {
  lgt_status status = LGT_OK;
  for (int i = 0; i < job->ncopy && !status; i++) status = lgt_copy_enqueue(&job->copy[i], device, queue);
  return status;
}

static void count_crossing(lgt_map *map, const lgt_copy *copy, int64_t bytes) {
  bool up = lgt_instance_on_host(copy->from) && !lgt_instance_on_host(copy->to),
       down = !lgt_instance_on_host(copy->from) && lgt_instance_on_host(copy->to);
  map->uploads += up;
  map->downloads += down;
  map->up_bytes += up ? bytes : 0;
  map->down_bytes += down ? bytes : 0;
}

lgt_status lgt_copy_submit(lgt_binder *binder, const lgt_copy *copies, int count) {
  void *memory;
  lgt_job_size size = {.steps = count, .instances = count + 1, .bytes = (size_t)count * sizeof *copies};
  lgt_job *job = lgt_job_new(binder, size, false, &memory);
  if (!job) return LGT_NO_MEMORY;
  lgt_copy *own = job->copy = memory;
  job->ncopy = count;
  lgt_instance *to = copies[0].to;
  job->task.fallible = false;
  for (int i = 0; i < count; i++) {
    const lgt_task *writer = copies[i].from->writer;
    job->task.fallible |= copies[i].from->failure || (writer && writer->fallible);
    own[i] = copies[i];
    lgt_runs_retain(own[i].runs);
    lgt_job_step(job, 1, copy_run, &own[i]);
    job->task.step[i].describe = copy_describe;
    int64_t bytes = copy_bytes(&copies[i]);
    job->task.cost += 2 * bytes;
    if (!packs(&copies[i])) binder->map->copied += bytes;
    if (binder->map->nmemory > 1) count_crossing(binder->map, &copies[i], bytes);
    lgt_log(MAP, 3, "copy %lld bytes from domain %d to domain %d", (long long)bytes, copies[i].from->domain,
            to->domain);
    /* A source that is known to be poisoned poisons the copy now; one still in flight does when it fails. */
    if (copies[i].from->failure && !to->failure) to->failure = lgt_failure_retain(copies[i].from->failure);
    bool known = false;
    for (int k = 0; k < job->nread; k++) known |= job->touched[k] == copies[i].from;
    if (!known) job->touched[job->nread++] = copies[i].from;
  }
  job->ntouched = job->nread;
  job->touched[job->ntouched++] = to;
  const char *name = copies[0].to_at >= 0 ? "pack" : copies[0].from_at >= 0 ? "unpack" : "copy";
  job->task.label = (lgt_label){.category = "copy", .name = name, .line = binder->where};
  lgt_memory *place = binder->map->nmemory > 1 ? copier(copies, count) : NULL;
  if (place && lgt_offload_job(binder, job, place, enqueue_copies))
    return lgt_job_free(binder, job), LGT_NO_MEMORY;
  return lgt_job_submit(binder, job);
}

/* Submit a message that reads or writes (all of) an instance; NULL: none. */
static lgt_status submit(lgt_binder *binder, const struct lgt_job_message *p, lgt_instance *inst,
                         lgt_instance *other, bool writes) {
  void *memory;
  size_t offsets = p->kind == GATHER ? ((size_t)binder->peers->size + 1) * sizeof *p->offset : 0;
  lgt_job_size size = {.instances = 2, .bytes = sizeof *p + offsets};
  lgt_job *job = lgt_job_new(binder, size, false, &memory);
  if (!job) return LGT_NO_MEMORY;
  job->message = memory;
  *job->message = *p;
  if (offsets) job->message->offset = memcpy(job->message + 1, p->offset, offsets);
  job->task.outside = &binder->messaging;
  job->task.label = (lgt_label){.category = "message", .name = message_name[p->kind], .line = binder->where};
  if (inst) job->touched[job->ntouched++] = inst;
  if (other) job->touched[job->ntouched++] = other;
  job->nread = writes ? 0 : job->ntouched;
  if (inst && inst->failure) job->message->poisoned = true;
  lgt_status status = lgt_job_submit(binder, job);
  begin_ready(binder); /* the sooner the better */
  return status;
}

lgt_status lgt_message_many(lgt_binder *binder, uint64_t tag, lgt_instance *const *inst, int ninst, int nread,
                            bool poisoned, int count, lgt_write_messages write, void *context) {
  void *memory;
  size_t bytes =
      sizeof(struct lgt_job_message) + (size_t)count * (sizeof(lgt_peer_message) + sizeof(lgt_pending *));
  lgt_job *job = lgt_job_new(binder, (lgt_job_size){.instances = ninst, .bytes = bytes}, false, &memory);
  if (!job) {
    lgt_mem_free(context);
    return LGT_NO_MEMORY;
  }
  struct lgt_job_message *p = job->message = memory;
  *p = (struct lgt_job_message){
      .kind = MANY, .poisoned = poisoned, .tag = tag, .count = count, .write = write};
  p->many = (lgt_peer_message *)(p + 1);
  p->unfinished = (lgt_pending **)(p->many + count);
  job->owned = context;
  job->task.outside = &binder->messaging;
  job->task.label = (lgt_label){.category = "message", .name = message_name[MANY], .line = binder->where};
  for (int i = 0; i < ninst; i++) lgt_job_touch(job, inst[i]);
  for (int i = 0; i < ninst; i++) p->poisoned |= inst[i]->failure != NULL;
  job->nread = nread;
  lgt_status status = lgt_job_submit(binder, job);
  begin_ready(binder);
  return status;
}

static bool complete(const lgt_piece *piece, int n) {
  bool all = true;
  for (int i = 0; i < n; i++) all &= piece[i].inst != NULL;
  return all;
}

static int64_t piece_size(const lgt_piece *piece) {
  return lgt_elements(&piece->rect, piece->runs, piece->along);
}

/* Bytes of a small message: itself, its copies, and the buffer of what is received. */
static size_t small_size(const struct lgt_job_message *p, int n) {
  return sizeof *p + (size_t)n * sizeof(lgt_copy) + (p->kind == SEND ? 0 : p->bytes);
}

/* The message itself, and what it packs or unpacks.  What is received may arrive before the task begins. */
static void fill_small(lgt_binder *binder, struct lgt_job_message *own, const lgt_small *small,
                       lgt_instance *const *inst) {
  int n = own->ncopy = small->n;
  own->copy = (lgt_copy *)(own + 1);
  memcpy(own->copy, small->copy, (size_t)n * sizeof *own->copy);
  for (int i = 0; i < n; i++) {
    *(small->sends ? &own->copy[i].from : &own->copy[i].to) = inst[i];
    lgt_runs_retain(own->copy[i].runs);
  }
  if (small->sends) return;
  own->data = (char *)(own->copy + n);
  own->pending = binder->peers->recv(binder->peers, own->peer, own->tag, own->data, own->bytes);
  if (!own->pending) binder->peers->abort(binder->peers, lgt_message());
}

static bool touches(const lgt_job *job, const lgt_instance *inst) {
  for (int k = 0; k < job->ntouched; k++)
    if (job->touched[k] == inst) return true;
  return false;
}

/* A further message of the task that may be joined.  False: it is not of the same instances, or there is no memory. */
static bool join(lgt_binder *binder, const struct lgt_job_message *p, const lgt_small *small,
                 lgt_instance *const *inst) {
  struct lgt_job_message *first = binder->joinable ? binder->joinable->message : NULL, *own;
  bool may = first && first->kind == p->kind;
  for (int i = 0; i < small->n && may; i++) may = touches(binder->joinable, inst[i]);
  if (!may || !(own = lgt_blocks_take(&binder->blocks, small_size(p, small->n)))) return false;
  *own = *p;
  struct lgt_job_message **last = &first->another;
  while (*last) last = &(*last)->another;
  *last = own;
  fill_small(binder, own, small, inst);
  return true;
}

/* A small message: one task, which packs or unpacks it, too.  The next messages of the same instances may join it, until
 * another task is submitted. */
lgt_status lgt_message_small(lgt_binder *binder, const lgt_small *small, lgt_instance *const *inst,
                             uint64_t tag) {
  bool sends = small->sends;
  void *memory;
  if (sends) binder->sent += (int64_t)small->bytes, binder->messages++;
  /* What is sent may be what the ones before receive: until these are submitted, its instances do not know of them. */
  bool behind = sends && binder->joinable && binder->joinable->message->kind == RECV;
  lgt_status status = behind ? lgt_message_flush(binder) : LGT_OK;
  if (status) return status;
  bool sent = lgt_small_send_at_once(binder, small, inst, tag);
  if (sent && !lgt_log_on(MAP, 3)) return LGT_OK;
  struct lgt_job_message p = {
      .kind = sends ? SEND : RECV, .peer = small->peer, .tag = tag, .bytes = small->bytes};
  if (sent) return log_message(&p, true), LGT_OK;
  if (join(binder, &p, small, inst)) return LGT_OK;
  status = lgt_message_flush(binder);
  lgt_job_size size = {.instances = small->n, .bytes = small_size(&p, small->n)};
  lgt_job *job = status ? NULL : lgt_job_new(binder, size, false, &memory);
  if (!job) return LGT_NO_MEMORY;
  job->message = memory;
  *job->message = p;
  for (int i = 0; i < small->n; i++)
    if (!touches(job, inst[i])) job->touched[job->ntouched++] = lgt_instance_retain(inst[i]);
  fill_small(binder, job->message, small, inst);
  job->nread = sends ? job->ntouched : 0;
  job->task.outside = &binder->messaging;
  job->task.label = (lgt_label){.category = "message", .name = message_name[p.kind], .line = binder->where};
  binder->joinable = job; /* with refs of its own to the instances */
  return LGT_OK;
}

lgt_status lgt_message_flush(lgt_binder *binder) {
  lgt_job *job = binder->joinable;
  if (!job) return LGT_OK;
  binder->joinable = NULL;
  for (int k = 0; k < job->nread; k++) job->message->poisoned |= job->touched[k]->failure != NULL;
  int held = job->ntouched;
  lgt_status status = lgt_job_submit(binder, job);
  if (status) job->message->poisoned = true; /* it does not hold all that it copies */
  begin_ready(binder);
  for (int k = 0; k < held; k++) lgt_instance_release(binder->map, job->touched[k]);
  return status;
}

void lgt_message_free(lgt_binder *binder, lgt_job *job) {
  for (struct lgt_job_message *p = job->message, *next; p; p = next) {
    next = p->another;
    for (int i = 0; i < p->ncopy; i++) lgt_runs_release(p->copy[i].runs);
    if (p != job->message) lgt_blocks_give(&binder->blocks, p, small_size(p, p->ncopy));
  }
}

static int64_t elements(const lgt_piece *piece, int n) {
  int64_t sum = 0;
  for (int i = 0; i < n; i++) sum += piece_size(&piece[i]);
  return sum;
}

/* Copy the pieces of a buffer, the first at element `at`, to it or out of it.  Those of one instance come together. */
static lgt_status copy_pieces(lgt_binder *binder, const lgt_piece *piece, int n, lgt_instance *buffer,
                              int64_t at, bool into) {
  lgt_copy *copies = lgt_mem_alloc((size_t)n * sizeof *copies);
  lgt_status status = copies ? LGT_OK : no_memory();
  for (int i = 0; i < n && !status; i++) {
    const lgt_piece *p = &piece[i];
    copies[i] = into ? (lgt_copy){p->inst, buffer, p->rect, -1, at, p->runs, p->along, NULL}
                     : (lgt_copy){buffer, p->inst, p->rect, at, -1, p->runs, p->along, NULL};
    at += piece_size(p);
  }
  for (int i = 0; i < n && !status;) { /* copies of one task have one target */
    int k = i + 1;
    while (k < n && copies[k].to == copies[i].to) k++;
    status = lgt_copy_submit(binder, copies + i, k - i);
    i = k;
  }
  lgt_mem_free(copies);
  return status;
}

/* Does the message go as a small one? */
static bool goes_small(lgt_binder *binder, const struct lgt_job_message *p, const lgt_piece *piece, int n,
                       int elem, lgt_status *status) {
  if (p->bytes > LGT_SMALL_MOST || !complete(piece, n)) return false;
  lgt_small *small = lgt_arena_alloc(&binder->arena, lgt_small_size(n));
  lgt_instance **inst = lgt_arena_alloc(&binder->arena, (size_t)n * sizeof *inst);
  if (!small || !inst) return false;
  lgt_small_make(small, p->peer, p->kind == SEND, piece, n, elem);
  for (int i = 0; i < n; i++) inst[i] = piece[i].inst;
  if (!lgt_small_may_go(binder, small, inst)) return false;
  *status = lgt_message_small(binder, small, inst, p->tag);
  return true;
}

lgt_status lgt_message_send(lgt_binder *binder, int peer, uint64_t tag, const lgt_piece *piece, int n,
                            int elem) {
  int64_t count = elements(piece, n);
  struct lgt_job_message p = {.kind = SEND, .peer = peer, .tag = tag, .bytes = (size_t)(count * elem)};
  lgt_status status;
  if (goes_small(binder, &p, piece, n, elem, &status)) return status;
  binder->sent += count * elem;
  binder->messages++;
  if (!complete(piece, n)) {
    p.poisoned = true;
    return submit(binder, &p, NULL, NULL, false);
  }
  lgt_instance *buffer = lgt_instance_buffer(binder->map, elem, count, true);
  p.poisoned = !buffer;
  p.data = buffer ? buffer->data : NULL;
  status = buffer ? copy_pieces(binder, piece, n, buffer, 0, true) : LGT_OK;
  if (!status) status = submit(binder, &p, buffer, NULL, false);
  lgt_instance_release(binder->map, buffer);
  return status;
}

lgt_status lgt_message_recv(lgt_binder *binder, int peer, uint64_t tag, const lgt_piece *piece, int n,
                            int elem) {
  int64_t count = elements(piece, n);
  struct lgt_job_message p = {.kind = RECV, .peer = peer, .tag = tag, .bytes = (size_t)(count * elem)};
  bool direct = n == 1 && !binder->overlaps && piece->inst && lgt_instance_on_host(piece->inst) &&
                !piece->runs && lgt_instance_contiguous(piece->inst, &piece->rect) &&
                (p.bytes >= DIRECT || lgt_random_choice(&binder->jitter));
  if (direct) {
    p.data = lgt_instance_at(piece->inst, piece->rect.lo);
    return submit(binder, &p, piece->inst, NULL, true);
  }
  lgt_status status;
  if (goes_small(binder, &p, piece, n, elem, &status)) return status;
  lgt_instance *buffer = complete(piece, n) ? lgt_instance_buffer(binder->map, elem, count, true) : NULL;
  p.data = buffer ? buffer->data : NULL;
  p.poisoned = !buffer;
  if (!buffer) p.bytes = 0;
  status = submit(binder, &p, buffer, NULL, true);
  if (!status && buffer) status = copy_pieces(binder, piece, n, buffer, 0, false);
  lgt_instance_release(binder->map, buffer);
  return status;
}

/* Where each rank's pieces begin, in elements; the pieces come in the order of the ranks. */
static int64_t *rank_offsets(const lgt_binder *binder, const lgt_piece *piece, const int *owner, int n) {
  int64_t *offset = lgt_mem_zalloc(((size_t)binder->peers->size + 1) * sizeof *offset);
  for (int i = 0; offset && i < n; i++) offset[owner[i] + 1] += piece_size(&piece[i]);
  for (int r = 0; offset && r < binder->peers->size; r++) offset[r + 1] += offset[r];
  return offset;
}

/* What was to come to these pieces will not. */
static void refuse(lgt_binder *binder, const lgt_piece *piece, const int *owner, int n) {
  for (int i = 0; i < n; i++)
    if (owner[i] != binder->peers->rank && piece[i].inst && !piece[i].inst->failure)
      piece[i].inst->failure = lgt_failure_retain(binder->no_memory);
}

lgt_status lgt_message_share(lgt_binder *binder, uint64_t tag, const lgt_piece *piece, const int *owner,
                             int n, int elem) {
  int me = binder->peers->rank, first = 0, end;
  int64_t count = elements(piece, n);
  if (count > binder->share_limit / elem) return refuse(binder, piece, owner, n), LGT_OK;
  int64_t *offset = rank_offsets(binder, piece, owner, n);
  lgt_instance *buffer = lgt_instance_buffer(binder->map, elem, count, true);
  if (!offset || !buffer)
    binder->peers->abort(binder->peers, "out of memory for elements that all ranks need");
  while (first < n && owner[first] < me) first++;
  for (end = first; end < n && owner[end] == me;) end++;
  bool whole = complete(piece + first, end - first);
  struct lgt_job_message p = {.kind = owner[0] == owner[n - 1] ? BROADCAST : GATHER,
                              .poisoned = !whole,
                              .peer = owner[0],
                              .tag = tag,
                              .data = buffer->data,
                              .bytes = (size_t)(count * elem),
                              .offset = offset};
  if (end > first) binder->sent += (offset[me + 1] - offset[me]) * elem, binder->messages++;
  lgt_status status = LGT_OK;
  if (whole && end > first)
    status = copy_pieces(binder, piece + first, end - first, buffer, offset[me], true);
  for (int r = 0; r <= binder->peers->size; r++) offset[r] *= elem;
  if (!status) status = submit(binder, &p, buffer, NULL, true);
  if (!status && first > 0 && complete(piece, first))
    status = copy_pieces(binder, piece, first, buffer, 0, false);
  if (!status && end < n && complete(piece + end, n - end))
    status = copy_pieces(binder, piece + end, n - end, buffer, offset[me + 1] / elem, false);
  lgt_mem_free(offset);
  lgt_instance_release(binder->map, buffer);
  return status;
}

static void wait_for_all(lgt_binder *binder, const struct lgt_job_message *p) {
  if (submit(binder, p, NULL, NULL, true)) binder->peers->abort(binder->peers, lgt_message());
  lgt_exec_wait(binder->exec, &binder->last->task);
}

void lgt_message_least(lgt_binder *binder, uint64_t tag, int64_t *value, int64_t n) {
  struct lgt_job_message p = {.kind = FOLD,
                              .tag = tag,
                              .data = (char *)value,
                              .bytes = (size_t)n * sizeof *value,
                              .redop = LGT_REDOP_MIN,
                              .dtype = LGT_INT64,
                              .n = n};
  wait_for_all(binder, &p);
}

void lgt_message_tell(lgt_binder *binder, uint64_t tag, int root, void *data, size_t bytes) {
  struct lgt_job_message p = {.kind = BROADCAST, .peer = root, .tag = tag, .data = data, .bytes = bytes};
  wait_for_all(binder, &p);
}

void lgt_message_gather(lgt_binder *binder, uint64_t tag, int64_t *all, int64_t each) {
  int n = binder->peers->size;
  int64_t *offset = lgt_arena_alloc(&binder->arena, ((size_t)n + 1) * sizeof *offset);
  if (!offset) binder->peers->abort(binder->peers, "out of memory for what all ranks tell each other");
  for (int r = 0; r <= n; r++) offset[r] = r * each * (int64_t)sizeof *all;
  struct lgt_job_message p = {
      .kind = GATHER, .tag = tag, .data = (char *)all, .bytes = (size_t)offset[n], .offset = offset};
  binder->sent += offset[1];
  binder->messages++;
  wait_for_all(binder, &p);
}

/* Begin one of the two messages of `numbers`: their count, or themselves. */
static lgt_task *begin_numbers(lgt_binder *binder, lgt_numbers *numbers, bool length) {
  struct lgt_job_message p = {.kind = numbers->sends ? SEND : RECV,
                              .peer = numbers->peer,
                              .tag = numbers->tag,
                              .data = length ? (char *)&numbers->count : (char *)numbers->word,
                              .bytes = (length ? 1 : (size_t)numbers->count) * sizeof *numbers->word};
  if (submit(binder, &p, NULL, NULL, true)) binder->peers->abort(binder->peers, lgt_message());
  if (numbers->sends) binder->sent += (int64_t)p.bytes, binder->messages++;
  return &binder->last->task;
}

void lgt_message_numbers(lgt_binder *binder, lgt_numbers *numbers, int n) {
  lgt_task **task = lgt_arena_alloc(&binder->arena, (2 * (size_t)n + 1) * sizeof *task);
  if (!task) binder->peers->abort(binder->peers, "out of memory for messages");
  for (int i = 0; i < n; i++) {
    task[2 * i] = begin_numbers(binder, &numbers[i], true);
    if (numbers[i].sends) task[2 * i + 1] = begin_numbers(binder, &numbers[i], false);
  }
  for (int i = 0; i < n; i++) {
    if (numbers[i].sends) continue;
    lgt_exec_wait(binder->exec, task[2 * i]);
    numbers[i].word = lgt_mem_alloc(((size_t)numbers[i].count + 1) * sizeof *numbers[i].word);
    if (!numbers[i].word) binder->peers->abort(binder->peers, "out of memory for a message");
    task[2 * i + 1] = begin_numbers(binder, &numbers[i], false);
  }
  for (int i = 0; i < 2 * n; i++) {
    lgt_exec_wait(binder->exec, task[i]);
    if (task[i]->status)
      binder->peers->abort(binder->peers, "ranks do not agree about what they tell each other");
  }
}

lgt_status lgt_message_fold(lgt_binder *binder, uint64_t tag, int redop, int dtype, lgt_instance *value,
                            lgt_instance *at, int64_t n) {
  struct lgt_job_message p = {.kind = FOLD,
                              .poisoned = !value,
                              .tag = tag,
                              .data = value ? value->data : NULL,
                              .bytes = (size_t)n * (size_t)lgt_dtype_size(dtype),
                              .redop = redop,
                              .dtype = dtype,
                              .at = at ? (int64_t *)at->data : NULL,
                              .n = n};
  binder->sent += (int64_t)p.bytes;
  binder->messages++;
  return submit(binder, &p, value, at, true);
}
