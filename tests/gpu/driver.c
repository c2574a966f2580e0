/* driver.c - of the emulated driver: how calls begin and end, reports, handles, what is left at exit.  See driver.h.
 *
 * The order in a call: a process that was forked is refused before any lock is taken, since the lock may be held by a thread
 * that the child does not have.
 */
#include "driver.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

fake_state fake = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
_Thread_local fake_thread fake_self;

static FILE *call_log;

/* ---- the environment -------------------------------------------------------------------------------- */

static uint64_t number(const char *name, uint64_t otherwise) {
  const char *text = getenv(name);
  if (!text || !*text) return otherwise;
  char *end;
  uint64_t value = strtoull(text, &end, 10);
  static const char units[] = "KMG";
  const char *unit = *end ? strchr(units, *end) : NULL;
  return unit ? value << (10 * (unit - units + 1)) : value;
}

/* [NAME]:N[:CODE] */
static void read_failure(fake_settings *set) {
  const char *text = getenv("LGT_FAKE_CUDA_FAIL");
  const char *colon = text ? strchr(text, ':') : NULL;
  if (!colon) return;
  snprintf(set->fail_name, sizeof set->fail_name, "%.*s", (int)(colon - text), text);
  set->fail_at = strtoll(colon + 1, NULL, 10);
  colon = strchr(colon + 1, ':');
  set->fail_code = colon ? atoi(colon + 1) : 0;
}

void fake_read_settings(void) {
  fake_settings *set = &fake.set;
  set->strict = number("LGT_FAKE_CUDA_STRICT", 0) != 0;
  set->devices = (int)number("LGT_FAKE_CUDA_DEVICES", 1);
  if (set->devices > MOST_DEVICES) set->devices = MOST_DEVICES;
  set->memory = number("LGT_FAKE_CUDA_MEMORY", (uint64_t)1 << 30);
  set->taken = number("LGT_FAKE_CUDA_TAKEN", 0);
  set->pinned = number("LGT_FAKE_CUDA_PINNED", (uint64_t)1 << 30);
  set->sms = (int)number("LGT_FAKE_CUDA_SMS", 4);
  set->chip = (int)number("LGT_FAKE_CUDA_CHIP", 80);
  set->driver = (int)number("LGT_FAKE_CUDA_DRIVER", 13000);
  set->seed = number("LGT_FAKE_CUDA_SEED", 1);
  set->delay = number("LGT_FAKE_CUDA_DELAY", 60);
  set->peers = number("LGT_FAKE_CUDA_PEERS", 1) != 0;
  set->kernels = number("LGT_FAKE_CUDA_KERNELS", 1) != 0;
  set->waits = number("LGT_FAKE_CUDA_WAITS", 1) != 0;
  set->unwritten = number("LGT_FAKE_CUDA_UNWRITTEN", 1) != 0;
  set->init = (int)number("LGT_FAKE_CUDA_INIT", 0);
  read_failure(set);
  const char *text = getenv("LGT_FAKE_CUDA_FAIL_RUN"), *colon = text ? strchr(text, ':') : NULL;
  set->fail_run = text ? strtoll(text, NULL, 10) : 0;
  set->fail_run_code = colon ? atoi(colon + 1) : CUDA_ERROR_LAUNCH_FAILED;
  const char *path = getenv("LGT_FAKE_CUDA_LOG");
  if (path && !call_log) call_log = fopen(path, "a");
  if (call_log) setvbuf(call_log, NULL, _IOLBF, 0);
  const char *folder = getenv("LGT_FAKE_CUDA_LAUNCHES");
  char file[4096];
  if (folder && !set->launches && snprintf(file, sizeof file, "%s/launches", folder) < (int)sizeof file)
    set->launches = fopen(file, "w");
  if (set->launches) setvbuf(set->launches, NULL, _IOLBF, 0);
}

/* ---- names of results ------------------------------------------------------------------------------- */

const char *fake_result_name(CUresult result) {
#define CASE(name, value) \
  case value:             \
    return #name;
  switch ((int)result) { LGT_CU_RESULTS(CASE) }
  return NULL;
}

CUresult cuGetErrorName(CUresult error, const char **text) {
  if (!text) return CUDA_ERROR_INVALID_VALUE;
  *text = fake_result_name(error);
  return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* The words of the name. */
CUresult cuGetErrorString(CUresult error, const char **text) {
  static char words[1000][48]; /* the same bytes, whoever writes them */
  const char *name = fake_result_name(error);
  if (!text) return CUDA_ERROR_INVALID_VALUE;
  *text = NULL;
  if (!name) return CUDA_ERROR_INVALID_VALUE;
  static const char prefix[] = "CUDA_ERROR_";
  const char *from = strncmp(name, prefix, sizeof prefix - 1) ? "no error" : name + sizeof prefix - 1;
  char *to = words[error];
  for (size_t i = 0; from[i]; i++) to[i] = from[i] == '_' ? ' ' : (char)tolower(from[i]);
  *text = to;
  return CUDA_SUCCESS;
}

/* ---- reports ---------------------------------------------------------------------------------------- */

void fake_report(CUcontext context, CUresult error, const char *format, ...) {
  char text[600];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  fprintf(stderr, "libcuda emulation: %s\n", text);
  if (call_log) fprintf(call_log, "report %s\n", text);
  fake.reports++;
  if (context && !context->error) context->error = error;
}

static const char *const kind_name[KINDS] = {"context", "stream", "event", "module", "function",
                                             "link",    "pool",   "graph", "node",   "executable graph"};
static int left;
static CUcontext left_of; /* NULL: of all, at exit */

static const char *when(void) { return left_of ? "when its context ended" : "at exit"; }

static void tell_handle(void *object) {
  const fake_handle *handle = object;
  if (handle->context && handle->context->error) return; /* all of it is lost */
  if (handle->kind == STREAM && ((const struct CUstream_st *)object)->inner) return;
  left++;
  fprintf(stderr, "libcuda emulation: left %s: %s of call %llu\n", when(), kind_name[handle->kind],
          (unsigned long long)handle->born);
}

static void tell_block(fake_block *block, void *context) {
  (void)context;
  if (left_of && (block->context != left_of || block->device < 0)) return;
  if (block->variable || block->freed || (block->context && block->context->error)) return;
  left++;
  fprintf(stderr, "libcuda emulation: left %s: %llu bytes of %s of call %llu\n", when(),
          (unsigned long long)block->bytes, block->device < 0 ? "pinned memory" : "device memory",
          (unsigned long long)block->born);
}

void fake_tell_left(CUcontext context) {
  static const fake_kind kinds[] = {STREAM, EVENT, MODULE, LINK, POOL, GRAPH, GRAPH_EXEC};
  if (!fake.set.strict) return;
  left_of = context;
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    if (kinds[k] != POOL || !context) fake_handle_each(kinds[k], context, tell_handle);
  fake_block_each(tell_block, NULL);
  for (int d = 0; d < fake.devices && !context; d++)
    if (fake.device[d].retained && !fake.device[d].primary->error && ++left)
      fprintf(stderr, "libcuda emulation: left at exit: context of device %d\n", d);
}

__attribute__((destructor)) static void at_exit(void) {
  if (!fake.pid || (fake.pid != getpid() && !fake.reports)) return;
  if (fake.pid == getpid()) {
    fake_tell_left(NULL);
    if (call_log)
      fprintf(call_log,
              "# calls %llu launches %llu waits %llu runs %llu pageable %llu in %llu out %llu across %llu\n",
              (unsigned long long)fake.calls, (unsigned long long)fake.launches,
              (unsigned long long)fake.waits, (unsigned long long)fake.runs,
              (unsigned long long)fake.pageable, (unsigned long long)fake.bytes_in,
              (unsigned long long)fake.bytes_out, (unsigned long long)fake.bytes_across);
  }
  if (!fake.set.strict || !(fake.reports || left)) return;
  fflush(NULL);
  _exit(97);
}

/* ---- calls ------------------------------------------------------------------------------------------ */

void fake_note(const char *format, ...) {
  va_list args;
  if (!call_log) return;
  va_start(args, format);
  vsnprintf(fake_self.note, sizeof fake_self.note, format, args);
  va_end(args);
}

static void write_log(const char *name, CUresult result) {
  if (!call_log) return;
  const char *text = fake_result_name(result);
  fprintf(call_log, "%llu %s(%s) = %s\n", (unsigned long long)fake.calls, name, fake_self.note,
          text ? text : "?");
}

static CUresult usual_failure(const char *name) {
  static const char *const allocate[] = {"Alloc", "Create", "Load", "Register", "Complete", "Retain"};
  for (size_t i = 0; i < sizeof allocate / sizeof *allocate; i++)
    if (strstr(name, allocate[i])) return CUDA_ERROR_OUT_OF_MEMORY;
  return CUDA_ERROR_UNKNOWN;
}

static CUresult injected(const char *name) {
  fake_settings *set = &fake.set;
  if (set->fail_at <= 0 || (*set->fail_name && strcmp(set->fail_name, name))) return CUDA_SUCCESS;
  if (!*set->fail_name && !strncmp(name, "cuCtx", 5) && strcmp(name, "cuCtxSynchronize") != 0)
    return CUDA_SUCCESS;
  if (--set->fail_at) return CUDA_SUCCESS;
  return set->fail_code ? (CUresult)set->fail_code : usual_failure(name);
}

static CUresult current_state(void) {
  CUcontext context = fake_self.current;
  if (!context) return CUDA_ERROR_INVALID_CONTEXT;
  return context->handle.alive ? context->error : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

CUresult fake_enter(const char *name, int needs) {
  if (fake.forked) {
    fake_report(NULL, CUDA_ERROR_NOT_INITIALIZED, "%s in a process that was forked after cuInit", name);
    return CUDA_ERROR_NOT_INITIALIZED;
  }
  if (fake_self.in_host_function) {
    fake_report(NULL, CUDA_ERROR_NOT_PERMITTED, "%s in a function of cuLaunchHostFunc", name);
    return CUDA_ERROR_NOT_PERMITTED;
  }
  pthread_mutex_lock(&fake.lock);
  fake.calls++;
  fake_self.name = name;
  fake_self.note[0] = 0;
  CUresult result = CUDA_SUCCESS, late = CUDA_SUCCESS;
  if ((needs & (INIT | CURRENT)) && !fake.pid) result = CUDA_ERROR_NOT_INITIALIZED;
  if (!result && (needs & (INIT | CURRENT))) late = injected(name);
  if (!result && (needs & CURRENT)) {
    CUresult state = current_state();
    if (state == CUDA_ERROR_INVALID_CONTEXT || state == CUDA_ERROR_CONTEXT_IS_DESTROYED) result = state;
    else if (state) late = state;
  }
  fake_self.late = late;
  if (!result && late && !(needs & RELEASES)) result = late;
  if (!result) return CUDA_SUCCESS;
  write_log(name, result);
  pthread_mutex_unlock(&fake.lock);
  return result;
}

CUresult fake_leave(CUresult result) {
  if (!result) result = fake_self.late;
  write_log(fake_self.name, result);
  pthread_mutex_unlock(&fake.lock);
  fake_wake(); /* only now, or it would wait for the lock at once */
  return result;
}

/* ---- handles ---------------------------------------------------------------------------------------- */

enum { BUCKETS = 1024, MOST_DEAD = 20000 };
static fake_handle *bucket[BUCKETS];
static fake_handle *dead[MOST_DEAD]; /* a ring: the oldest are given back */
static int next_dead;

static fake_handle **bucket_of(const void *handle) {
  return &bucket[((uintptr_t)handle >> 4) * 0x9e3779b97f4a7c15u >> 54];
}

void *fake_handle_new(fake_kind kind, size_t bytes, CUcontext context) {
  fake_handle *handle = calloc(1, bytes);
  *handle = (fake_handle){
      .kind = kind, .alive = true, .born = fake.calls, .context = context, .next = *bucket_of(handle)};
  *bucket_of(handle) = handle;
  return handle;
}

static void forget(fake_handle *handle) {
  fake_handle **link = bucket_of(handle);
  while (*link != handle) link = &(*link)->next;
  *link = handle->next;
  free(handle);
}

void fake_handle_end(void *object) {
  fake_handle *handle = object;
  handle->alive = false;
  handle->died = fake.calls;
  if (handle->kind != EVENT) return; /* others are few */
  if (dead[next_dead]) forget(dead[next_dead]);
  dead[next_dead] = handle;
  next_dead = (next_dead + 1) % MOST_DEAD;
}

CUresult fake_handle_check(fake_kind kind, const void *object) {
  if (!object) return CUDA_ERROR_INVALID_HANDLE;
  const fake_handle *handle = *bucket_of(object);
  while (handle && handle != object) handle = handle->next;
  if (handle && handle->kind == kind && handle->alive) return CUDA_SUCCESS;
  if (handle && handle->kind == kind)
    fake_report(NULL, CUDA_ERROR_INVALID_HANDLE, "%s: the %s was destroyed by call %llu", fake_self.name,
                kind_name[kind], (unsigned long long)handle->died);
  else
    fake_report(NULL, CUDA_ERROR_INVALID_HANDLE, "%s: %p is no %s", fake_self.name, object, kind_name[kind]);
  return CUDA_ERROR_INVALID_HANDLE;
}

void fake_handle_each(fake_kind kind, CUcontext context, void (*f)(void *handle)) {
  for (int b = 0; b < BUCKETS; b++)
    for (fake_handle *handle = bucket[b], *next; handle; handle = next) {
      next = handle->next;
      if (handle->alive && handle->kind == kind && (!context || handle->context == context)) f(handle);
    }
}
