/* kernel.c - the table of kernels, and the thread that compiles them.
 *
 * A kernel is made once for each loop and lives as long as the runtime: plans point to it.  Code is
 * looked for on disk at once, by the submitting thread: that costs less than one pass of the
 * interpreter over a small array.  What is not there is queued, and one thread takes from there
 *
 *   first     what is for targets
 *   then      what a thread waits for, instead of interpreting it
 *   then      what the interpreter has taken longest for, and will next, by estimate (lgt_kernel.work)
 *   last      what takes it no time (SMALL), and that only when it has been queued for some time (SETTLED): edges of arrays
 *             and what happens once.  A short program leaves that to the process that compiles what it had no time for
 *
 * A thread that is to run a loop waits for its code where the interpreter would take longer (WORTHWHILE), and for as long as the
 * interpreter would have taken at most: so it loses at most as much again, and the compiler has a core for itself.
 *
 * A loop that cannot be compiled is interpreted for ever; the first is reported on stderr, since it
 * costs speed, the others in the log.
 *
 * Threads
 *   submitting thread   the table
 *   `lock`              the queue, `stop`, the statistics; `work` wakes the compiler, `done` those who wait
 *   a kernel's fields   written by whoever installs its code, once, before `state` becomes READY; the
 *                       code pointers themselves are released, and acquired by those who call them
 *   emitter             loaded by the first compilation of the process, under `emitter_lock`
 */
#include "kernel/kernel.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/kernel_cache.h"
#include "base/log.h"
#include "base/mem.h"
#include "kernel/object.h"

enum { FIRST_BUCKETS = 64, NICEST = 19, FINISH_SECONDS = 60 };
enum { SMALL = 1000000, LONGEST_WAIT = 1000000000 }; /* nanoseconds of the interpreter */
enum { WORTHWHILE = 2 };                             /* compilations */
#define SETTLED     1.0                              /* seconds */
#define LOOK_AGAIN  0.01 /* seconds after which what was small may not be any more */
#define COMPILATION 0.01 /* seconds, where none has ended */
#define INTERPRETED 0.4  /* nanoseconds that an instruction takes the interpreter for an element */
#define PER_BLOCK   5.0  /* ... and for a block of them */

/* In the queue: code for the host in one of its forms, or for the targets. */
typedef struct request {
  struct entry *entry;
  struct request *next;
  double since; /* when it was queued */
  double until; /* how long it may be waited for; 0: nobody has */
  int waiting;  /* threads that do */
} request;

typedef struct entry {
  lgt_kernel kernel; /* first: the two are one for the world outside */
  struct lgt_kernels *kernels;
  lgt_object *object[LGT_KERNEL_NFORM]; /* owned; NULL until there is code */
  struct entry *next_in_bucket;
  request host[LGT_KERNEL_NFORM], targets;
  atomic_int on_targets;        /* lgt_kernel_state of the next two */
  void *code[LGT_MOST_TARGETS]; /* by target */
  char *why;                    /* owned: why there is none */
} entry;

struct lgt_kernels {
  const lgt_config *config; /* borrowed: some of it may change while the runtime runs */
  lgt_profile *profile;     /* borrowed; NULL: none */
  lgt_isa isa;
  lgt_kernel_cache cache;
  entry **bucket; /* owned, nbucket: a power of two */
  int nbucket, nentry;
  pthread_mutex_t lock;
  pthread_cond_t work, done;
  request *front, **back; /* `back` is where the next one goes */
  bool stop, has_thread;
  int cpus;                             /* threads that work */
  lgt_target *target[LGT_MOST_TARGETS]; /* borrowed */
  int ntarget;
  atomic_bool trimmed; /* the cache; relaxed: once is enough, twice does no harm */
  pthread_t thread;
  lgt_kernels_stats stats;
};

/* ---- the emitter module ------------------------------------------------------------------------------ */

static char emitter_path[PATH_MAX]; /* set when the first runtime opens; "" where there is none */
static pthread_once_t path_once = PTHREAD_ONCE_INIT;
static pthread_mutex_t emitter_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
  lgt_emit_loop_fn *loop;
  lgt_emit_device_fn *device; /* NULL: the module has none */
} emitter;

bool lgt_module_path(const char *name, char *path, size_t size) {
  Dl_info info;
  char self[PATH_MAX];
  bool program = !dladdr((void *)lgt_module_path, &info) || !info.dli_fname || !strchr(info.dli_fname, '/');
  if (realpath(program ? "/proc/self/exe" : info.dli_fname, self)) {
    char *slash = strrchr(self, '/');
    snprintf(path, size, "%.*s/%s", (int)(slash - self), self, name);
    if (access(path, R_OK) == 0) return true;
  }
  snprintf(path, size, "%s/%s", LGT_LIBDIR, name);
  return access(path, R_OK) == 0;
}

static void find_emitter(void) {
  if (!lgt_module_path("liblgt-emit.so", emitter_path, sizeof emitter_path)) emitter_path[0] = 0;
}

/* False with a message.  The module stays loaded. */
static bool load_emitter(void) {
  pthread_mutex_lock(&emitter_lock);
  if (!emitter.loop && !emitter_path[0]) {
    lgt_err(LGT_COMPILE, "liblgt-emit.so, the kernel compiler, is neither beside liblgt nor in %s",
            LGT_LIBDIR);
  } else if (!emitter.loop) {
    double start = lgt_time();
    void *module = dlopen(emitter_path, RTLD_LAZY | RTLD_LOCAL);
    if (module) emitter.device = (lgt_emit_device_fn *)dlsym(module, "lgt_emit_device");
    if (module) emitter.loop = (lgt_emit_loop_fn *)dlsym(module, "lgt_emit_loop");
    if (!emitter.loop) lgt_err(LGT_COMPILE, "the kernel compiler: %s", dlerror());
    lgt_log(KERNEL, 2, "%s loaded in %.1f ms", emitter_path, 1e3 * (lgt_time() - start));
  }
  bool loaded = emitter.loop != NULL;
  pthread_mutex_unlock(&emitter_lock);
  return loaded;
}

/* ---- code ------------------------------------------------------------------------------------------------ */

static lgt_status install(entry *e, lgt_kernel_form form, const void *bytes, size_t size) {
  static const char *const name[LGT_KERNEL_NFORM] = {"lgt_kernel", "lgt_kernel_stream"};
  lgt_object *object;
  lgt_status status = lgt_object_load(bytes, size, &object);
  if (status) return status;
  lgt_kernel_fn code = (lgt_kernel_fn)lgt_object_symbol(object, name[form]);
  if (!code) {
    lgt_object_free(object);
    return lgt_err(LGT_COMPILE, "the object does not define %s", name[form]);
  }
  e->object[form] = object;
  atomic_store_explicit(&e->kernel.code[form], code, memory_order_release);
  atomic_store_explicit(&e->kernel.state[form], LGT_KERNEL_READY, memory_order_release);
  return LGT_OK;
}

/* As what the cache knows such objects. */
static const char *kind_of(lgt_kernel_form form) { return form == LGT_KERNEL_STREAM ? "stream" : NULL; }

static bool load_from_disk(lgt_kernels *kernels, entry *e, lgt_kernel_form form) {
  size_t size;
  double start = lgt_time();
  if (!kernels->config->cache) return false;
  void *bytes = lgt_kernel_cache_read(&kernels->cache, kind_of(form), e->kernel.loop, &size);
  if (!bytes) return false;
  lgt_status status = install(e, form, bytes, size);
  lgt_mem_free(bytes);
  if (status) {
    lgt_log(KERNEL, 1, "a file of the cache is no kernel: %s", lgt_message());
    return false;
  }
  pthread_mutex_lock(&kernels->lock);
  kernels->stats.loaded++;
  pthread_mutex_unlock(&kernels->lock);
  lgt_log(KERNEL, 2, "%016llx loaded in %.0f us", (unsigned long long)e->kernel.loop->hash[0],
          1e6 * (lgt_time() - start));
  return true;
}

static void log_compiled(const lgt_loop *loop, lgt_kernel_form form, const lgt_emit_result *r,
                         double seconds) {
  lgt_log(KERNEL, 1, "%016llx compiled: %d instructions, %d accesses%s, %zu bytes, %.1f ms",
          (unsigned long long)loop->hash[0], loop->ninst, loop->naccess,
          form == LGT_KERNEL_STREAM ? ", streaming" : "", r->size, 1e3 * seconds);
  lgt_log(EMIT, 2, "write %.2f start %.2f parse %.2f lower %.2f optimise %.2f generate %.2f ms",
          1e3 * r->seconds[LGT_EMIT_WRITE], 1e3 * r->seconds[LGT_EMIT_START],
          1e3 * r->seconds[LGT_EMIT_PARSE], 1e3 * r->seconds[LGT_EMIT_LOWER],
          1e3 * r->seconds[LGT_EMIT_OPTIMISE], 1e3 * r->seconds[LGT_EMIT_GENERATE]);
  if (r->text) lgt_log(EMIT, 4, "%016llx\n%s", (unsigned long long)loop->hash[0], r->text);
}

static void keep_object(lgt_kernels *kernels, const lgt_loop *loop, lgt_kernel_form form,
                        const lgt_emit_result *r) {
  lgt_kernel_cache_write(&kernels->cache, kind_of(form), loop, r->object, r->size);
  if (!atomic_exchange_explicit(&kernels->trimmed, true, memory_order_relaxed))
    lgt_kernel_cache_trim(&kernels->cache);
}

static lgt_status compile(lgt_kernels *kernels, entry *e, lgt_kernel_form form) {
  lgt_emit_result r;
  const lgt_loop *loop = e->kernel.loop;
  if (!load_emitter()) return LGT_COMPILE;
  double start = lgt_time();
  lgt_status status = emitter.loop(loop, kernels->isa, form, lgt_log_on(EMIT, 4), &r);
  if (status) {
    lgt_err(status, "%s", r.message);
  } else {
    log_compiled(loop, form, &r, lgt_time() - start);
    status = install(e, form, r.object, r.size);
    if (!status && kernels->config->cache) keep_object(kernels, loop, form, &r);
  }
  free(r.object);
  free(r.text);
  return status;
}

static void report_failure(const lgt_loop *loop) {
  static atomic_bool reported;
  if (!atomic_exchange_explicit(&reported, true, memory_order_relaxed))
    lgt_log_print(LGT_LOG_KERNEL, "a loop is interpreted, since it cannot be compiled: %s", lgt_message());
  else lgt_log(KERNEL, 1, "%016llx is interpreted: %s", (unsigned long long)loop->hash[0], lgt_message());
}

/* Compile, and tell who waits. */
static void make_code(lgt_kernels *kernels, entry *e, lgt_kernel_form form) {
  double start = lgt_time();
  int64_t begin = kernels->profile ? lgt_profile_now() : 0;
  lgt_status status = compile(kernels, e, form);
  if (kernels->profile)
    lgt_profile_span(kernels->profile, begin, &(lgt_label){.category = "compile"},
                     "\"kernel\":\"%016llx\",\"operations\":%d", (unsigned long long)e->kernel.loop->hash[0],
                     e->kernel.loop->ninst);
  if (status) report_failure(e->kernel.loop);
  pthread_mutex_lock(&kernels->lock);
  if (status) atomic_store_explicit(&e->kernel.state[form], LGT_KERNEL_FAILED, memory_order_release);
  kernels->stats.compiled += !status;
  kernels->stats.failed += status != LGT_OK;
  kernels->stats.compile_seconds += lgt_time() - start;
  pthread_cond_broadcast(&kernels->done);
  pthread_mutex_unlock(&kernels->lock);
}

/* ---- targets ------------------------------------------------------------------------------------------------- */

static lgt_status emit_text(void *context, const lgt_loop *loop, char **text, size_t *size) {
  lgt_emit_result r = {0};
  (void)context;
  if (!load_emitter()) return LGT_COMPILE;
  if (!emitter.device) return lgt_err(LGT_COMPILE, "the kernel compiler knows no devices");
  double start = lgt_time();
  lgt_status status = emitter.device(loop, false, &r);
  if (status) lgt_err(status, "%s", r.message);
  else if ((*text = lgt_mem_alloc(r.size + 1))) memcpy(*text, r.object, r.size), (*text)[ *size = r.size] = 0;
  else status = lgt_err(LGT_NO_MEMORY, "out of memory for a kernel");
  if (!status)
    lgt_log(KERNEL, 1, "%016llx written for devices: %d instructions, %zu bytes, %.1f ms",
            (unsigned long long)loop->hash[0], loop->ninst, r.size, 1e3 * (lgt_time() - start));
  free(r.object);
  free(r.text);
  return status;
}

static void make_for_targets(lgt_kernels *kernels, entry *e) {
  double start = lgt_time();
  const lgt_kernel_cache *cache = kernels->config->cache ? &kernels->cache : NULL;
  lgt_status status =
      lgt_target_load_all(cache, kernels->target, kernels->ntarget, e->kernel.loop, emit_text, NULL, e->code);
  if (status)
    lgt_log(KERNEL, 1, "%016llx has no code for devices: %s", (unsigned long long)e->kernel.loop->hash[0],
            lgt_message());
  pthread_mutex_lock(&kernels->lock);
  if (status) e->why = lgt_mem_strdup(lgt_message());
  atomic_store_explicit(&e->on_targets, status ? LGT_KERNEL_FAILED : LGT_KERNEL_READY, memory_order_release);
  kernels->stats.for_devices += !status;
  kernels->stats.compile_seconds += lgt_time() - start;
  pthread_cond_broadcast(&kernels->done);
  pthread_mutex_unlock(&kernels->lock);
}

/* ---- the compiling thread --------------------------------------------------------------------------------- */

/* Which form of the host's code a request is for. */
static lgt_kernel_form form_of(const request *r) { return (lgt_kernel_form)(r - r->entry->host); }
static bool for_targets(const request *r) { return r == &r->entry->targets; }

static int64_t work_of(const request *r) {
  return atomic_load_explicit(&r->entry->kernel.work[form_of(r)], memory_order_relaxed);
}

static bool is_before(const request *a, const request *b) {
  if (!a->waiting != !b->waiting) return a->waiting;
  return work_of(a) > work_of(b);
}

/* What is to be compiled next, where in the queue; NULL: nothing yet. */
static request **choose(const lgt_kernels *kernels) {
  request **best = NULL;
  double settled = lgt_time() - SETTLED;
  for (request **link = (request **)&kernels->front; *link; link = &(*link)->next) {
    const request *r = *link;
    if (for_targets(r)) return link;
    if (work_of(r) < SMALL && !r->waiting && r->since > settled) continue;
    if (!best || is_before(r, *best)) best = link;
  }
  return best;
}

static request *unlink_request(lgt_kernels *kernels, request **link) {
  request *r = *link;
  *link = r->next;
  if (!*link) kernels->back = link;
  return r;
}

static struct timespec in_seconds(double seconds) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  int64_t ns = at.tv_nsec + (int64_t)(1e9 * seconds);
  return (struct timespec){.tv_sec = at.tv_sec + (time_t)(ns / 1000000000),
                           .tv_nsec = (long)(ns % 1000000000)};
}

/* NULL: the thread is to end. */
static request *next_request(lgt_kernels *kernels) {
  request **link;
  while (!kernels->stop && !(link = choose(kernels))) {
    struct timespec later = in_seconds(LOOK_AGAIN);
    if (kernels->front) pthread_cond_timedwait(&kernels->work, &kernels->lock, &later);
    else pthread_cond_wait(&kernels->work, &kernels->lock);
  }
  return kernels->stop ? NULL : unlink_request(kernels, link);
}

static void *compiler_main(void *argument) {
  lgt_kernels *kernels = argument;
  lgt_profile_enter(LGT_TRACK_COMPILER);
  pthread_mutex_lock(&kernels->lock);
  for (request *r; (r = next_request(kernels));) {
    pthread_mutex_unlock(&kernels->lock);
    if (for_targets(r)) make_for_targets(kernels, r->entry);
    else make_code(kernels, r->entry, form_of(r));
    pthread_mutex_lock(&kernels->lock);
  }
  pthread_mutex_unlock(&kernels->lock);
  return NULL;
}

/* Signals are for the program's own threads. */
static bool start_thread(lgt_kernels *kernels) {
  sigset_t all, before;
  if (kernels->has_thread) return true;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  kernels->has_thread = pthread_create(&kernels->thread, NULL, compiler_main, kernels) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return kernels->has_thread;
}

static void enqueue(lgt_kernels *kernels, request *r, atomic_int *state) {
  pthread_mutex_lock(&kernels->lock);
  atomic_store_explicit(state, LGT_KERNEL_QUEUED, memory_order_relaxed);
  r->since = lgt_time();
  r->next = NULL;
  *kernels->back = r;
  kernels->back = &r->next;
  pthread_cond_signal(&kernels->work);
  pthread_mutex_unlock(&kernels->lock);
}

/* ---- the table -------------------------------------------------------------------------------------------- */

static void grow_table(lgt_kernels *kernels) {
  int n = kernels->nbucket * 2;
  entry **bucket = lgt_mem_zalloc((size_t)n * sizeof *bucket);
  if (!bucket) return; /* longer chains will do */
  for (int i = 0; i < kernels->nbucket; i++)
    for (entry *e = kernels->bucket[i], *next; e; e = next) {
      next = e->next_in_bucket;
      entry **head = &bucket[e->kernel.loop->hash[0] & (uint64_t)(n - 1)];
      e->next_in_bucket = *head;
      *head = e;
    }
  lgt_mem_free(kernels->bucket);
  kernels->bucket = bucket;
  kernels->nbucket = n;
}

static entry **bucket_of(const lgt_kernels *kernels, const lgt_loop *loop) {
  return &kernels->bucket[loop->hash[0] & (uint64_t)(kernels->nbucket - 1)];
}

static entry *find(const lgt_kernels *kernels, const lgt_loop *loop) {
  for (entry *e = *bucket_of(kernels, loop); e; e = e->next_in_bucket)
    if (lgt_loop_equal(e->kernel.loop, loop)) return e;
  return NULL;
}

static entry *insert(lgt_kernels *kernels, lgt_loop *loop) {
  entry *e = lgt_mem_zalloc(sizeof *e);
  if (!e) return NULL;
  if (kernels->nentry >= kernels->nbucket) grow_table(kernels);
  entry **head = bucket_of(kernels, loop);
  e->kernel.loop = loop;
  e->kernels = kernels;
  e->targets.entry = e;
  for (int form = 0; form < LGT_KERNEL_NFORM; form++) e->host[form].entry = e;
  e->next_in_bucket = *head;
  *head = e;
  kernels->nentry++;
  return e;
}

lgt_kernel *lgt_kernel_get(lgt_kernels *kernels, lgt_loop *loop) {
  entry *e = find(kernels, loop);
  if (e) {
    lgt_loop_free(loop);
  } else if (!(e = insert(kernels, loop))) {
    lgt_err(LGT_NO_MEMORY, "out of memory for a kernel");
    lgt_loop_free(loop);
    return NULL;
  }
  return &e->kernel;
}

/* Nanoseconds of the interpreter. */
static int64_t interpreted(const lgt_kernel *kernel, int64_t elements) {
  return (int64_t)((PER_BLOCK + INTERPRETED * (double)elements) * kernel->loop->ninst);
}

static lgt_kernel_form usable(const lgt_kernel *kernel, lgt_kernel_form form) {
  return form == LGT_KERNEL_STREAM && !lgt_loop_streams(kernel->loop) ? LGT_KERNEL_PLAIN : form;
}

static void add_work(lgt_kernel *kernel, lgt_kernel_form form, int64_t ns) {
  atomic_fetch_add_explicit(&kernel->work[form], ns, memory_order_relaxed);
}

static lgt_kernel_state state_of(const lgt_kernel *kernel, lgt_kernel_form form) {
  return (lgt_kernel_state)atomic_load_explicit(&kernel->state[form], memory_order_acquire);
}

/* Also for one met before, while compiling was off. */
void lgt_kernel_want(lgt_kernels *kernels, lgt_kernel *kernel, lgt_kernel_form form, int64_t elements) {
  entry *e = (entry *)kernel;
  form = usable(kernel, form);
  if (state_of(kernel, form) > LGT_KERNEL_QUEUED) return;
  add_work(kernel, form, interpreted(kernel, elements));
  if (state_of(kernel, form) != LGT_KERNEL_COLD || !kernels->config->compile ||
      load_from_disk(kernels, e, form))
    return;
  if (kernels->config->background && start_thread(kernels))
    enqueue(kernels, &e->host[form], &kernel->state[form]);
  else make_code(kernels, e, form);
}

void lgt_kernel_want_other(lgt_kernels *kernels, lgt_kernel *kernel, lgt_kernel_form form) {
  lgt_kernel_form other = form == LGT_KERNEL_PLAIN ? LGT_KERNEL_STREAM : LGT_KERNEL_PLAIN;
  if (state_of(kernel, form) != LGT_KERNEL_COLD) return;
  add_work(kernel, form, atomic_exchange_explicit(&kernel->work[other], 0, memory_order_relaxed));
  lgt_kernel_want(kernels, kernel, form, 0);
}

void lgt_kernel_wait(lgt_kernels *kernels, lgt_kernel *kernel) {
  entry *e = (entry *)kernel;
  pthread_mutex_lock(&kernels->lock);
  for (int form = 0; form < LGT_KERNEL_NFORM; form++) {
    e->host[form].waiting++;
    pthread_cond_signal(&kernels->work);
    while (state_of(kernel, (lgt_kernel_form)form) == LGT_KERNEL_QUEUED)
      pthread_cond_wait(&kernels->done, &kernels->lock);
    e->host[form].waiting--;
  }
  pthread_mutex_unlock(&kernels->lock);
}

/* Seconds that a compilation has taken so far; `lock` is held. */
static double compilation(const lgt_kernels *kernels) {
  const lgt_kernels_stats *s = &kernels->stats;
  return s->compiled ? s->compile_seconds / (double)s->compiled : COMPILATION;
}

static void wait_for_code(lgt_kernels *kernels, entry *e, lgt_kernel_form form, double seconds) {
  request *r = &e->host[form];
  pthread_mutex_lock(&kernels->lock);
  double now = lgt_time();
  if (!r->until && seconds > WORTHWHILE * compilation(kernels)) r->until = now + seconds;
  r->waiting++;
  if (now < r->until) pthread_cond_signal(&kernels->work);
  while (state_of(&e->kernel, form) == LGT_KERNEL_QUEUED && (now = lgt_time()) < r->until) {
    struct timespec until = in_seconds(r->until - now);
    pthread_cond_timedwait(&kernels->done, &kernels->lock, &until);
  }
  r->waiting--;
  pthread_mutex_unlock(&kernels->lock);
}

lgt_kernel_fn lgt_kernel_missing(lgt_kernel *kernel, lgt_kernel_form form, int64_t elements, int64_t whole) {
  entry *e = (entry *)kernel;
  lgt_kernel_form other = form == LGT_KERNEL_PLAIN ? LGT_KERNEL_STREAM : LGT_KERNEL_PLAIN;
  lgt_kernel_fn code = lgt_kernel_code(kernel, other);
  if (code) return code;
  form = usable(kernel, form);
  add_work(kernel, form, interpreted(kernel, elements));
  if (state_of(kernel, form) != LGT_KERNEL_QUEUED) return NULL;
  int64_t parts = elements > 0 ? whole / elements : 1,
          abreast = parts < e->kernels->cpus ? parts : e->kernels->cpus;
  int64_t ns = interpreted(kernel, whole) / (abreast > 0 ? abreast : 1);
  if (ns < SMALL) return NULL;
  wait_for_code(e->kernels, e, form, 1e-9 * (double)(ns < LONGEST_WAIT ? ns : LONGEST_WAIT));
  return lgt_kernel_code(kernel, form);
}

void lgt_kernel_prepare(lgt_kernels *kernels, lgt_kernel *kernel) {
  entry *e = (entry *)kernel;
  if (!kernels->config->compile || atomic_load_explicit(&e->on_targets, memory_order_relaxed)) return;
  if (kernels->config->background && start_thread(kernels)) enqueue(kernels, &e->targets, &e->on_targets);
  else make_for_targets(kernels, e);
}

bool lgt_kernel_loaded(lgt_kernels *kernels, lgt_kernel *kernel) {
  entry *e = (entry *)kernel;
  int state = atomic_load_explicit(&e->on_targets, memory_order_acquire);
  if (state == LGT_KERNEL_QUEUED) {
    pthread_mutex_lock(&kernels->lock);
    while (atomic_load_explicit(&e->on_targets, memory_order_acquire) == LGT_KERNEL_QUEUED)
      pthread_cond_wait(&kernels->done, &kernels->lock);
    pthread_mutex_unlock(&kernels->lock);
    state = atomic_load_explicit(&e->on_targets, memory_order_acquire);
  }
  if (state == LGT_KERNEL_READY) return true;
  if (state == LGT_KERNEL_COLD) lgt_err(LGT_COMPILE, "nothing is compiled (compile = 0)");
  else lgt_err(LGT_COMPILE, "%s", e->why ? e->why : "out of memory");
  return false;
}

lgt_kernel_state lgt_kernel_state_on_targets(const lgt_kernel *kernel) {
  return (lgt_kernel_state)atomic_load_explicit(&((const entry *)kernel)->on_targets, memory_order_acquire);
}

void *lgt_kernel_code_on(const lgt_kernel *kernel, const lgt_target *target) {
  return ((const entry *)kernel)->code[target->number];
}

/* ---- life ---------------------------------------------------------------------------------------------------- */

/* The instruction set is one for the process (helper.h): runtimes that are alive together agree on it. */
static pthread_mutex_t life_lock = PTHREAD_MUTEX_INITIALIZER;
static int alive;

static lgt_status enter_isa(const char *name) {
  pthread_mutex_lock(&life_lock);
  lgt_isa before = lgt_isa_current();
  lgt_status status = lgt_isa_limit(name);
  if (!status && alive && lgt_isa_current() != before) {
    status = lgt_err(LGT_UNSUPPORTED, "isa = \"%s\": another runtime of this process uses %s; close it first",
                     name, lgt_isa_name(before));
    lgt_isa_limit(lgt_isa_name(before));
  }
  if (!status) alive++;
  pthread_mutex_unlock(&life_lock);
  return status;
}

static void leave_isa(void) {
  pthread_mutex_lock(&life_lock);
  alive--;
  pthread_mutex_unlock(&life_lock);
}

lgt_status lgt_kernels_new(const lgt_config *config, lgt_kernels **out) {
  lgt_status status = enter_isa(config->isa);
  if (status) return status;
  pthread_once(&path_once, find_emitter);
  lgt_kernels *kernels = lgt_mem_zalloc(sizeof *kernels);
  if (!kernels) goto fail;
  kernels->config = config;
  kernels->isa = lgt_isa_current();
  kernels->cache.disk.fd = -1;
  kernels->nbucket = FIRST_BUCKETS;
  kernels->bucket = lgt_mem_zalloc(FIRST_BUCKETS * sizeof *kernels->bucket);
  if (!kernels->bucket) goto fail_kernels;
  if (config->cache && lgt_kernel_cache_open(&kernels->cache, config->cache_dir, emitter_path, kernels->isa))
    goto fail_bucket;
  pthread_condattr_t clock;
  pthread_condattr_init(&clock);
  pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
  pthread_mutex_init(&kernels->lock, NULL);
  pthread_cond_init(&kernels->work, &clock);
  pthread_cond_init(&kernels->done, &clock);
  pthread_condattr_destroy(&clock);
  kernels->back = &kernels->front;
  kernels->cpus = 1;
  *out = kernels;
  return LGT_OK;
fail_bucket:
  lgt_mem_free(kernels->bucket);
fail_kernels:
  lgt_mem_free(kernels);
fail:
  leave_isa();
  return lgt_err(LGT_NO_MEMORY, "out of memory for the table of kernels");
}

void lgt_kernels_watch(lgt_kernels *kernels, int cpus, lgt_profile *profile) {
  kernels->cpus = cpus;
  kernels->profile = profile;
}

bool lgt_kernels_for_devices(const lgt_kernels *kernels) { return kernels->ntarget > 0; }

void lgt_kernels_for_target(lgt_kernels *kernels, lgt_target *target) {
  lgt_assert(kernels->ntarget < LGT_MOST_TARGETS);
  target->number = kernels->ntarget;
  kernels->target[kernels->ntarget++] = target;
}

static void stop_thread(lgt_kernels *kernels) {
  if (!kernels->has_thread) return;
  pthread_mutex_lock(&kernels->lock);
  kernels->stop = true;
  pthread_cond_signal(&kernels->work);
  pthread_mutex_unlock(&kernels->lock);
  pthread_join(kernels->thread, NULL);
  kernels->has_thread = false;
}

void lgt_kernels_stop(lgt_kernels *kernels) {
  if (!kernels) return;
  stop_thread(kernels);
  for (int i = 0; i < kernels->nbucket && kernels->ntarget; i++)
    for (entry *e = kernels->bucket[i]; e; e = e->next_in_bucket) {
      bool ready = atomic_load_explicit(&e->on_targets, memory_order_acquire) == LGT_KERNEL_READY;
      for (int t = 0; ready && t < kernels->ntarget; t++)
        kernels->target[t]->unload(kernels->target[t], e->code[t]);
      atomic_store_explicit(&e->on_targets, LGT_KERNEL_FAILED, memory_order_relaxed);
    }
  kernels->ntarget = 0;
}

/* The child has one thread and nothing of its parent's but the directory of the cache. */
static void compile_rest(lgt_kernels *kernels) {
  int cache = fcntl(kernels->cache.disk.fd, F_DUPFD, 4), null = open("/dev/null", O_RDWR);
  if (cache < 0 || null < 0) return;
  for (int fd = 0; fd < 3; fd++) dup2(null, fd);
  if (dup2(cache, 3) < 0 || close_range(4, ~0u, 0) || setsid() < 0 || nice(NICEST) < 0) return;
  kernels->cache.disk.fd = 3;
  kernels->profile = NULL;
  sigset_t none;
  sigemptyset(&none);
  signal(SIGALRM, SIG_DFL); /* the script may have caught or blocked it */
  sigprocmask(SIG_SETMASK, &none, NULL);
  alarm(FINISH_SECONDS);
  for (request *r = kernels->front; r; r = r->next)
    if (!for_targets(r)) compile(kernels, r->entry, form_of(r));
}

/* A short program ends before its kernels are compiled, and would again and again.  What is left is compiled by a
 * process that nobody waits for.  Other threads of lgt's have ended by now, and the compiler's has let go of its locks. */
static void leave_rest(lgt_kernels *kernels) {
  const lgt_config *config = kernels->config;
  if (!kernels->front || !config->own_process || !config->finish || !config->cache ||
      kernels->cache.disk.fd < 0)
    return;
  fflush(NULL);
  pid_t child = fork();
  if (child) {
    if (child > 0) waitpid(child, NULL, 0);
    return;
  }
  if (!fork()) compile_rest(kernels); /* of no parent: nobody has to take notice of its end */
  _exit(0);
}

void lgt_kernels_free(lgt_kernels *kernels) {
  if (!kernels) return;
  lgt_kernels_stop(kernels);
  leave_rest(kernels);
  for (int i = 0; i < kernels->nbucket; i++)
    for (entry *e = kernels->bucket[i], *next; e; e = next) {
      next = e->next_in_bucket;
      for (int form = 0; form < LGT_KERNEL_NFORM; form++) lgt_object_free(e->object[form]);
      lgt_loop_free(e->kernel.loop);
      lgt_mem_free(e->why);
      lgt_mem_free(e);
    }
  pthread_cond_destroy(&kernels->done);
  pthread_cond_destroy(&kernels->work);
  pthread_mutex_destroy(&kernels->lock);
  lgt_kernel_cache_close(&kernels->cache);
  lgt_mem_free(kernels->bucket);
  lgt_mem_free(kernels);
  leave_isa();
}

lgt_kernels_stats lgt_kernels_stat(lgt_kernels *kernels) {
  pthread_mutex_lock(&kernels->lock);
  lgt_kernels_stats stats = kernels->stats;
  pthread_mutex_unlock(&kernels->lock);
  return stats;
}

void lgt_kernels_stat_reset(lgt_kernels *kernels) {
  pthread_mutex_lock(&kernels->lock);
  memset(&kernels->stats, 0, sizeof kernels->stats);
  pthread_mutex_unlock(&kernels->lock);
}
