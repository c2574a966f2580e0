/* emulated.c - a device that is not there: memory that the host cannot touch, and queues that take their time.
 *
 * The memory is a file in memory that is mapped twice.  Addresses that the device hands out are those of the *guarded*
 * mapping, which nobody may read or write: a host that follows one dies with SIGSEGV.  The thread of a queue translates them
 * into the *open* mapping; so does a copy for those of other emulated devices, but a kernel does not, and dies, too.
 *
 * Each queue is a thread that carries out its operations one by one and dawdles in between, by a random generator of its
 * own.  Its kernels are the host's: the same code, hence the same bits.
 *
 * Locks: `lock` of a device protects its free blocks and the counter of failures, that of a queue its list; `devices` the
 * list of devices.  None is held while another one is taken.
 */
#include "device/device.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/random.h"

enum { GRAIN = 256, MOST_NAP_US = 60 };

typedef struct block {
  int64_t at, bytes;
} block;

typedef struct emulated {
  lgt_device device; /* first: it is one */
  char *guarded, *open;
  int64_t bytes, used; /* of address space: all, and what was ever handed out */
  int64_t taken;       /* bytes that are in use */
  block *spare;        /* owned: freed blocks */
  int nspare, spare_room;
  uint64_t seed;
  int64_t fail_at;  /* operations until one fails; 0: none does */
  atomic_bool held; /* relaxed: queues do nothing */
  pthread_mutex_t lock;
  struct emulated *next;
} emulated;

/* What an event stands for since it was recorded. */
typedef struct mark {
  atomic_int refs;
  atomic_bool over; /* released by the queue's thread, acquired by whoever asks */
  lgt_status status;
} mark;

typedef enum operation_kind { COPY, FILL, LAUNCH, RECORD, WAIT, END } operation_kind;

typedef struct operation {
  struct operation *next;
  operation_kind kind;
  lgt_box box; /* COPY; FILL: to, bytes of an element, count[0] */
  char element[32];
  lgt_code code;
  lgt_nest *nest;
  mark *mark; /* RECORD, WAIT: ref */
} operation;

struct lgt_queue {
  emulated *of;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t more;
  operation *first, *last; /* owned */
  uint64_t random;
  lgt_status status; /* the thread's: of what failed since the last event */
};

struct lgt_event {
  mark *mark; /* ref; NULL: it was never recorded */
};

static emulated *devices;
static pthread_mutex_t devices_lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- memory ----------------------------------------------------------------------------------------- */

static char *translate(const emulated *e, const void *address) {
  const char *p = address;
  return p >= e->guarded && p < e->guarded + e->bytes ? e->open + (p - e->guarded) : (char *)p;
}

/* For a copy, whose ends may be on other devices. */
static char *translate_any(const void *address) {
  char *result = (char *)address;
  pthread_mutex_lock(&devices_lock);
  for (emulated *e = devices; e; e = e->next) result = translate(e, result);
  pthread_mutex_unlock(&devices_lock);
  return result;
}

static int64_t rounded(size_t bytes) { return ((int64_t)bytes + GRAIN - 1) / GRAIN * GRAIN; }

/* A freed block of this size, or a new one. */
static int64_t place_for(emulated *e, int64_t bytes) {
  for (int i = 0; i < e->nspare; i++) {
    int64_t at = e->spare[i].at;
    if (e->spare[i].bytes != bytes) continue;
    e->spare[i] = e->spare[--e->nspare];
    return at;
  }
  if (bytes > e->bytes - e->used) return -1;
  e->used += bytes;
  return e->used - bytes;
}

static void *alloc(lgt_device *device, size_t bytes) {
  emulated *e = (emulated *)device;
  int64_t size = rounded(bytes), at = -1;
  pthread_mutex_lock(&e->lock);
  if (size <= e->device.traits.limit - e->taken) at = place_for(e, size);
  if (at >= 0) e->taken += size;
  pthread_mutex_unlock(&e->lock);
  return at < 0 ? NULL : e->guarded + at;
}

static void release(lgt_device *device, void *address, size_t bytes) {
  emulated *e = (emulated *)device;
  pthread_mutex_lock(&e->lock);
  e->taken -= rounded(bytes);
  if (lgt_mem_grow((void **)&e->spare, &e->spare_room, e->nspare + 1, sizeof *e->spare))
    e->spare[e->nspare++] = (block){(char *)address - e->guarded, rounded(bytes)};
  pthread_mutex_unlock(&e->lock);
}

/* ---- what a queue's thread does --------------------------------------------------------------------- */

static void dawdle(lgt_queue *queue) {
  uint64_t r = lgt_random_next(&queue->random);
  if (r % 4 == 0) usleep((useconds_t)(r / 4 % MOST_NAP_US));
  else sched_yield();
}

static bool fails(emulated *e) {
  pthread_mutex_lock(&e->lock);
  bool now = e->fail_at > 0 && --e->fail_at == 0;
  pthread_mutex_unlock(&e->lock);
  return now;
}

static lgt_status run_launch(const emulated *e, const operation *o) {
  lgt_nest nest = *o->nest;
  const lgt_loop *loop = nest.loop;
  lgt_base base[LGT_MAX_ACCESS];
  for (int a = 0; a < loop->naccess; a++) {
    base[a] = nest.base[a];
    if (loop->access[a].mode != LGT_ACCESS_INDEX) base[a].address = translate(e, base[a].address);
  }
  nest.base = base;
  lgt_status status = lgt_nest_begin(&nest);
  for (int c = 0; c < nest.shape->nchunk && !status; c++)
    status = lgt_nest_run(&nest, (lgt_kernel_fn)o->code.handle, c, NULL);
  lgt_nest_end(&nest);
  return status;
}

static lgt_status carry_out(lgt_queue *queue, const operation *o) {
  if (fails(queue->of)) return LGT_TASK_FAILED;
  if (o->kind == LAUNCH) return run_launch(queue->of, o);
  lgt_box box = o->box;
  box.to = translate_any(box.to);
  box.from = translate_any(box.from);
  if (o->kind == COPY) lgt_box_copy(&box);
  for (int64_t i = 0; o->kind == FILL && i < box.count[0]; i++)
    memcpy(box.to + i * box.bytes, o->element, (size_t)box.bytes);
  return LGT_OK;
}

static void mark_release(mark *m) {
  if (m && atomic_fetch_sub(&m->refs, 1) == 1) lgt_mem_free(m);
}

static bool is_over(mark *m) { return atomic_load_explicit(&m->over, memory_order_acquire); }

static void end_mark(lgt_queue *queue, mark *m) {
  const lgt_device *device = &queue->of->device;
  m->status = queue->status;
  queue->status = LGT_OK;
  atomic_store_explicit(&m->over, true, memory_order_release);
  if (device->notify) device->notify(device->notify_context);
}

static bool is_held(emulated *e) { return atomic_load_explicit(&e->held, memory_order_relaxed); }

static void *work(void *context) {
  lgt_queue *queue = context;
  for (bool end = false; !end;) {
    pthread_mutex_lock(&queue->lock);
    while (!queue->first) pthread_cond_wait(&queue->more, &queue->lock);
    operation *o = queue->first;
    queue->first = o->next;
    if (!queue->first) queue->last = NULL;
    pthread_mutex_unlock(&queue->lock);
    dawdle(queue);
    while (is_held(queue->of)) usleep(MOST_NAP_US);
    if (o->kind == RECORD) end_mark(queue, o->mark);
    else if (o->kind == WAIT)
      while (!is_over(o->mark)) usleep(10);
    else if (o->kind == END) end = true;
    else if (!queue->status) queue->status = carry_out(queue, o);
    mark_release(o->mark);
    lgt_mem_free(o);
  }
  return NULL;
}

/* ---- the table -------------------------------------------------------------------------------------- */

static lgt_status put(lgt_queue *queue, const operation *what) {
  operation *o = lgt_mem_alloc(sizeof *o);
  if (!o) return lgt_err(LGT_NO_MEMORY, "out of memory for an operation of a device");
  *o = *what;
  pthread_mutex_lock(&queue->lock);
  if (queue->last) queue->last->next = o;
  else queue->first = o;
  queue->last = o;
  pthread_cond_signal(&queue->more);
  pthread_mutex_unlock(&queue->lock);
  return LGT_OK;
}

static lgt_status copy(lgt_queue *queue, const lgt_box *box) {
  return put(queue, &(operation){.kind = COPY, .box = *box});
}

static lgt_status fill(lgt_queue *queue, void *to, const void *element, int size, int64_t count) {
  operation o = {.kind = FILL, .box = {.to = to, .bytes = size, .count = {count, 1}}};
  lgt_assert(size <= (int)sizeof o.element);
  memcpy(o.element, element, (size_t)size);
  return put(queue, &o);
}

static lgt_status launch(lgt_queue *queue, lgt_code code, lgt_nest *nest) {
  lgt_assert(code.class == LGT_CLASS_HOST);
  return put(queue, &(operation){.kind = LAUNCH, .code = code, .nest = nest});
}

static lgt_status record(lgt_queue *queue, lgt_event *event) {
  mark *m = lgt_mem_zalloc(sizeof *m);
  if (!m) return lgt_err(LGT_NO_MEMORY, "out of memory for an event");
  atomic_init(&m->refs, 2);
  lgt_status status = put(queue, &(operation){.kind = RECORD, .mark = m});
  if (status) return lgt_mem_free(m), status;
  mark_release(event->mark);
  event->mark = m;
  return LGT_OK;
}

static lgt_status wait(lgt_queue *queue, lgt_event *event) {
  if (!event->mark || is_over(event->mark)) return LGT_OK;
  atomic_fetch_add(&event->mark->refs, 1);
  lgt_status status = put(queue, &(operation){.kind = WAIT, .mark = event->mark});
  if (status) mark_release(event->mark);
  return status;
}

static bool query(lgt_event *event, lgt_status *status) {
  *status = LGT_OK;
  if (!event->mark) return true;
  if (!is_over(event->mark)) return false;
  *status = event->mark->status;
  if (*status) lgt_err(*status, "a device has failed");
  return true;
}

static lgt_event *event_new(lgt_device *device) {
  lgt_event *event = lgt_mem_zalloc(sizeof *event);
  (void)device;
  if (!event) lgt_err(LGT_NO_MEMORY, "out of memory for an event");
  return event;
}
static void event_free(lgt_event *event) {
  mark_release(event->mark);
  lgt_mem_free(event);
}

static lgt_queue *queue_new(lgt_device *device) {
  emulated *e = (emulated *)device;
  lgt_queue *queue = lgt_mem_zalloc(sizeof *queue);
  if (!queue) return lgt_err(LGT_NO_MEMORY, "out of memory for a queue"), NULL;
  queue->of = e;
  e->seed = e->seed * 0x9e3779b97f4a7c15u + 1;
  queue->random = e->seed | 1;
  pthread_mutex_init(&queue->lock, NULL);
  pthread_cond_init(&queue->more, NULL);
  sigset_t all, before;
  sigfillset(&all); /* signals are for the program's own threads */
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int bad = pthread_create(&queue->thread, NULL, work, queue);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (!bad) return queue;
  lgt_err(LGT_SYSTEM, "cannot start a thread for an emulated device");
  lgt_mem_free(queue);
  return NULL;
}

static void queue_free(lgt_queue *queue) {
  if (!queue) return;
  while (put(queue, &(operation){.kind = END})) sched_yield(); /* only a test lets it fail */
  pthread_join(queue->thread, NULL);
  pthread_cond_destroy(&queue->more);
  pthread_mutex_destroy(&queue->lock);
  lgt_mem_free(queue);
}

static void close_emulated(lgt_device *device) {
  emulated *e = (emulated *)device;
  pthread_mutex_lock(&devices_lock);
  for (emulated **link = &devices; *link; link = &(*link)->next)
    if (*link == e) {
      *link = e->next;
      break;
    }
  pthread_mutex_unlock(&devices_lock);
  munmap(e->guarded, (size_t)e->bytes);
  munmap(e->open, (size_t)e->bytes);
  pthread_mutex_destroy(&e->lock);
  lgt_mem_free(e->spare);
  lgt_mem_free(e);
}

/* Address space is for more than the limit: blocks of other sizes do not fit into the holes between. */
static bool map_twice(emulated *e, int64_t limit) {
  int64_t bytes = 4 * limit + (64 << 20), page = sysconf(_SC_PAGESIZE);
  bytes = (bytes + page - 1) / page * page;
  int file = memfd_create("lgt-emulated", MFD_CLOEXEC);
  if (file < 0) return false;
  bool good = ftruncate(file, bytes) == 0;
  void *guarded =
      good ? mmap(NULL, (size_t)bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE, file, 0) : MAP_FAILED;
  void *open = guarded != MAP_FAILED
                   ? mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0)
                   : MAP_FAILED;
  close(file);
  if (open == MAP_FAILED) {
    if (guarded != MAP_FAILED) munmap(guarded, (size_t)bytes);
    return false;
  }
  e->guarded = guarded;
  e->open = open;
  e->bytes = bytes;
  return true;
}

lgt_device *lgt_device_emulate(int64_t bytes, uint64_t seed) {
  emulated *e = lgt_mem_zalloc(sizeof *e);
  if (!e) return lgt_err(LGT_NO_MEMORY, "out of memory for an emulated device"), NULL;
  e->device = (lgt_device){.class = LGT_CLASS_EMULATED,
                           .traits = {.lanes = 4, .workers = 1, .limit = bytes},
                           .staging = INT64_MAX,
                           .name = "an emulated device",
                           .alloc = alloc,
                           .free = release,
                           .queue_new = queue_new,
                           .queue_free = queue_free,
                           .copy = copy,
                           .fill = fill,
                           .launch = launch,
                           .event_new = event_new,
                           .event_free = event_free,
                           .record = record,
                           .wait = wait,
                           .query = query,
                           .close = close_emulated};
  e->seed = seed;
  pthread_mutex_init(&e->lock, NULL);
  if (!map_twice(e, bytes)) {
    lgt_err(LGT_SYSTEM, "cannot map %lld bytes for an emulated device", (long long)bytes);
    lgt_mem_free(e);
    return NULL;
  }
  pthread_mutex_lock(&devices_lock);
  e->next = devices;
  devices = e;
  pthread_mutex_unlock(&devices_lock);
  return &e->device;
}

void lgt_device_fail_at(lgt_device *device, int64_t n) {
  emulated *e = (emulated *)device;
  pthread_mutex_lock(&e->lock);
  e->fail_at = n;
  pthread_mutex_unlock(&e->lock);
}

void lgt_device_hold(lgt_device *device, bool hold) {
  atomic_store_explicit(&((emulated *)device)->held, hold, memory_order_relaxed);
}
