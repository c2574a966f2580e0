/* driver_stream.c - of the emulated driver: streams, events, functions of the host.  See driver.h.
 *
 * A stream is a list and a thread that takes the first operation, dawdles, and carries it out; what is to wait for an event
 * waits there.  Once the context has an error only events go on.
 *
 * Stream 0 of a context waits for all streams that were not created as non-blocking, and they for it.
 */
#include "driver.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- the thread of a stream ------------------------------------------------------------------------- */

static void dawdle(CUstream stream) {
  stream->random ^= stream->random << 13;
  stream->random ^= stream->random >> 7;
  stream->random ^= stream->random << 17;
  if (!fake.set.delay) return;
  if (stream->random % 4 == 0) usleep((useconds_t)(stream->random / 4 % fake.set.delay));
  else sched_yield();
}

void fake_mark_release(fake_mark *mark) {
  if (mark && !--mark->refs) free(mark);
}

static bool injected_failure(fake_op *op) {
  if (op->always) return false;
  fake.runs++;
  if (fake.set.fail_run <= 0 || --fake.set.fail_run) return false;
  if (!op->stream->handle.context->error)
    op->stream->handle.context->error = (CUresult)fake.set.fail_run_code;
  return true;
}

static void carry_out(fake_op *op) {
  bool skip = injected_failure(op) || (op->stream->handle.context->error && !op->always);
  if (!skip && op->run) op->run(op);
  if (op->end) op->end(op);
  fake_mark_release(op->mark);
}

static void *work(void *context) {
  CUstream stream = context;
  pthread_mutex_lock(&fake.lock);
  for (;;) {
    while (!stream->first && !stream->ending) pthread_cond_wait(&stream->some, &fake.lock);
    fake_op *op = stream->first;
    if (!op) break;
    pthread_mutex_unlock(&fake.lock);
    dawdle(stream);
    pthread_mutex_lock(&fake.lock);
    carry_out(op);
    stream->first = op->next;
    if (!stream->first) stream->last = NULL;
    free(op);
    stream->done++;
    if (fake.waiting) pthread_cond_broadcast(&fake.changed);
  }
  pthread_mutex_unlock(&fake.lock);
  return NULL;
}

/* ---- putting operations in -------------------------------------------------------------------------- */

void fake_wake(void) {
  CUstream stream = fake_self.filled;
  fake_self.filled = NULL;
  if (stream) pthread_cond_signal(&stream->some);
}

void fake_wait_for_change(void) {
  fake_wake();
  fake.waiting++;
  pthread_cond_wait(&fake.changed, &fake.lock);
  fake.waiting--;
}

static uint64_t push(CUstream stream, const fake_op *what) {
  fake_op *op = malloc(sizeof *op);
  fake_clock_join(&stream->clock, &fake.host);
  uint32_t at = ++fake.slot[stream->slot].at;
  stream->clock.at[stream->slot] = at;
  *op = *what;
  op->next = NULL;
  op->name = fake_self.name;
  op->call = fake.calls;
  op->stream = stream;
  op->clock = stream->clock;
  fake_name_slot(stream->slot, at, op->name, op->call);
  if (stream->last) stream->last->next = op;
  else stream->first = op;
  stream->last = op;
  if (fake_self.filled != stream) fake_wake();
  fake_self.filled = stream;
  return ++stream->put;
}

static void run_wait(fake_op *op) {
  while (!op->mark->done) fake_wait_for_change();
}

static void run_record(fake_op *op) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  op->mark->time = (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
  op->mark->done = true;
}

fake_mark *fake_push_record(CUstream stream) {
  fake_mark *mark = calloc(1, sizeof *mark);
  mark->refs = 2; /* the operation's, and what is returned */
  push(stream, &(fake_op){.always = true, .mark = mark, .run = run_record});
  mark->clock = stream->clock;
  return mark;
}

void fake_push_wait(CUstream stream, fake_mark *mark) {
  fake_clock_join(&stream->clock, &mark->clock);
  if (mark->done) return;
  mark->refs++;
  push(stream, &(fake_op){.always = true, .mark = mark, .run = run_wait});
}

static void follow(CUstream stream, CUstream other) {
  fake_mark *mark = fake_push_record(other);
  fake_push_wait(stream, mark);
  fake_mark_release(mark);
}

static CUstream leader;
static void lead(void *object) {
  CUstream stream = object;
  if (stream != leader && !(stream->flags & CU_STREAM_NON_BLOCKING)) follow(leader, stream);
}

uint64_t fake_put(CUstream stream, const fake_op *op) {
  CUcontext context = stream->handle.context;
  if (stream == context->legacy) {
    leader = stream;
    fake_handle_each(STREAM, context, lead);
  } else if (!(stream->flags & CU_STREAM_NON_BLOCKING) && context->legacy) follow(stream, context->legacy);
  return push(stream, op);
}

void fake_wait(CUstream stream, uint64_t number) {
  while (stream->done < number) fake_wait_for_change();
}

/* ---- streams ---------------------------------------------------------------------------------------- */

CUstream fake_stream_new(CUcontext context, unsigned flags) {
  int slot = HOST + 1;
  while (slot < SLOTS && fake.slot[slot].stream) slot++;
  if (slot == SLOTS) return NULL;
  CUstream stream = fake_handle_new(STREAM, sizeof *stream, context);
  fake.slot[slot].stream = stream;
  pthread_cond_init(&stream->some, NULL);
  stream->flags = flags;
  stream->slot = slot;
  stream->clock.at[slot] = fake.slot[slot].at;
  fake.set.seed = fake.set.seed * 0x9e3779b97f4a7c15u + 1;
  stream->random = fake.set.seed | 1;
  sigset_t all, before;
  sigfillset(&all); /* signals are for the program's own threads */
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int bad = pthread_create(&stream->thread, NULL, work, stream);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (!bad) return stream;
  fake.slot[slot].stream = NULL;
  fake_handle_end(stream);
  return NULL;
}

CUresult fake_stream_of(CUstream handle, CUstream *stream) {
  CUcontext context = fake_self.current;
  if (handle) {
    CUresult bad = fake_handle_check(STREAM, handle);
    if (!bad) *stream = handle;
    return bad ? bad : handle->handle.context->error;
  }
  if (!context->legacy) context->legacy = fake_stream_new(context, CU_STREAM_DEFAULT);
  if (!context->legacy) return CUDA_ERROR_OUT_OF_MEMORY;
  context->legacy->inner = true;
  *stream = context->legacy;
  return context->error;
}

void fake_stream_end(CUstream stream) {
  stream->ending = true; /* when it is empty */
  pthread_cond_signal(&stream->some);
  fake_handle_end(stream);
  pthread_mutex_unlock(&fake.lock);
  pthread_join(stream->thread, NULL);
  pthread_mutex_lock(&fake.lock);
  fake.slot[stream->slot].stream = NULL;
}

static CUresult create(CUstream *stream, unsigned flags) {
  fake_note("flags %u", flags);
  if (!stream || flags > CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
  CUstream made = fake_stream_new(fake_self.current, flags);
  if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
  *stream = made;
  return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
  ENTER(CURRENT);
  LEAVE(create(stream, flags));
}

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority) {
  ENTER(CURRENT);
  (void)priority; /* no priorities here: order is random */
  LEAVE(create(stream, flags));
}

/* What is in the stream is carried out; the call does not wait for that on a device, here it does, and the host's clock does not
   move, so that nobody may rely on it. */
CUresult cuStreamDestroy_v2(CUstream stream) {
  ENTER(CURRENT | RELEASES);
  CUresult bad = fake_handle_check(STREAM, stream);
  LEAVE_IF(bad, bad);
  fake_stream_end(stream);
  LEAVE(CUDA_SUCCESS);
}

CUresult cuStreamQuery(CUstream handle) {
  ENTER(CURRENT);
  CUstream stream;
  CUresult bad = fake_stream_of(handle, &stream);
  LEAVE_IF(bad, bad);
  LEAVE_IF(stream->done < stream->put, CUDA_ERROR_NOT_READY);
  fake_host_sees(&stream->clock);
  LEAVE(CUDA_SUCCESS);
}

CUresult cuStreamSynchronize(CUstream handle) {
  ENTER(CURRENT);
  CUstream stream;
  CUresult bad = fake_stream_of(handle, &stream);
  LEAVE_IF(bad, bad);
  fake.waits++;
  CUcontext context = stream->handle.context;
  fake_clock seen = stream->clock;
  fake_wait(stream, stream->put);
  fake_host_sees(&seen);
  fake_pools_trim(context->device);
  LEAVE(context->error);
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned flags) {
  ENTER(CURRENT);
  CUstream stream;
  CUresult bad = fake_stream_of(handle, &stream);
  if (!bad) bad = fake_handle_check(EVENT, event);
  LEAVE_IF(bad, bad);
  LEAVE_IF(flags, CUDA_ERROR_INVALID_VALUE);
  if (event->mark && fake.set.waits) fake_push_wait(stream, event->mark);
  LEAVE(CUDA_SUCCESS);
}

/* ---- contexts --------------------------------------------------------------------------------------- */

void fake_context_wait(CUcontext context) {
  fake_clock seen = {0};
  /* Other calls may come in between: the slots are looked at anew after each wait. */
  for (int s = HOST + 1; s < SLOTS; s++) {
    CUstream stream = fake.slot[s].stream;
    if (!stream || stream->handle.context != context) continue;
    fake_clock_join(&seen, &stream->clock);
    if (stream->done == stream->put) continue;
    fake_wait(stream, stream->put);
    s = HOST;
  }
  fake_host_sees(&seen);
  fake_pools_trim(context->device);
}

static void end_block(fake_block *block, void *context) {
  if (block->context != context || block->device < 0) return;
  if (block->pool) return; /* a pool's, which is the device's */
  if (!block->variable) fake.device[block->device].used -= fake_padded(block->bytes);
  fake_block_kill(block);
}

void fake_context_end(CUcontext context) {
  fake_context_wait(context);
  fake_tell_left(context);
  for (int s = HOST + 1; s < SLOTS; s++) {
    CUstream stream = fake.slot[s].stream;
    if (!stream || stream->handle.context != context) continue;
    fake_stream_end(stream);
  }
  context->legacy = NULL;
  memset(context->inner, 0, sizeof context->inner);
  fake_handle_each(EVENT, context, fake_handle_end);
  fake_handle_each(MODULE, context, fake_module_end);
  fake_block_each(end_block, context);
}

/* ---- events ----------------------------------------------------------------------------------------- */

CUresult cuEventCreate(CUevent *event, unsigned flags) {
  ENTER(CURRENT);
  unsigned known = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING;
  LEAVE_IF(!event || flags & ~known, CUDA_ERROR_INVALID_VALUE);
  *event = fake_handle_new(EVENT, sizeof **event, fake_self.current);
  (*event)->flags = flags;
  LEAVE(CUDA_SUCCESS);
}

CUresult cuEventDestroy_v2(CUevent event) {
  ENTER(CURRENT | RELEASES);
  CUresult bad = fake_handle_check(EVENT, event);
  LEAVE_IF(bad, bad);
  fake_mark_release(event->mark);
  event->mark = NULL;
  fake_handle_end(event);
  LEAVE(CUDA_SUCCESS);
}

CUresult cuEventRecord(CUevent event, CUstream handle) {
  ENTER(CURRENT);
  CUstream stream;
  CUresult bad = fake_stream_of(handle, &stream);
  if (!bad) bad = fake_handle_check(EVENT, event);
  LEAVE_IF(bad, bad);
  if (event->handle.context != stream->handle.context) {
    fake_report(NULL, CUDA_ERROR_INVALID_HANDLE,
                "cuEventRecord: the event is of another context than the stream");
    LEAVE(CUDA_ERROR_INVALID_HANDLE);
  }
  if (stream == stream->handle.context->legacy) fake_put(stream, &(fake_op){.always = true});
  fake_mark_release(event->mark);
  event->mark = fake_push_record(stream);
  LEAVE(CUDA_SUCCESS);
}

CUresult cuEventQuery(CUevent event) {
  ENTER(CURRENT);
  CUresult bad = fake_handle_check(EVENT, event);
  LEAVE_IF(bad, bad);
  LEAVE_IF(event->mark && !event->mark->done, CUDA_ERROR_NOT_READY);
  if (event->mark) fake_host_sees(&event->mark->clock);
  LEAVE(event->handle.context->error);
}

CUresult cuEventSynchronize(CUevent event) {
  ENTER(CURRENT);
  CUresult bad = fake_handle_check(EVENT, event);
  LEAVE_IF(bad, bad);
  CUcontext context = event->handle.context;
  fake_mark *mark = event->mark;
  fake.waits++;
  if (mark) {
    mark->refs++;
    while (!mark->done) fake_wait_for_change();
    fake_host_sees(&mark->clock);
    fake_mark_release(mark);
  }
  fake_pools_trim(context->device);
  LEAVE(context->error);
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent begin, CUevent end) {
  ENTER(CURRENT);
  CUresult bad = fake_handle_check(EVENT, begin);
  if (!bad) bad = fake_handle_check(EVENT, end);
  LEAVE_IF(bad, bad);
  LEAVE_IF(!milliseconds, CUDA_ERROR_INVALID_VALUE);
  bool timed = !((begin->flags | end->flags) & CU_EVENT_DISABLE_TIMING);
  bool same = begin->handle.context == end->handle.context;
  LEAVE_IF(!timed || !same || !begin->mark || !end->mark, CUDA_ERROR_INVALID_HANDLE);
  LEAVE_IF(!begin->mark->done || !end->mark->done, CUDA_ERROR_NOT_READY);
  *milliseconds = (float)((end->mark->time - begin->mark->time) * 1e3);
  LEAVE(begin->handle.context->error);
}

/* ---- functions of the host -------------------------------------------------------------------------- */

typedef struct host_call {
  CUhostFn function;
  void *context;
} host_call;

static void run_host(fake_op *op) {
  const host_call *call = op->data;
  fake_host_sees(&op->clock);
  pthread_mutex_unlock(&fake.lock);
  fake_self.in_host_function = true;
  call->function(call->context);
  fake_self.in_host_function = false;
  pthread_mutex_lock(&fake.lock);
}

static void free_data(fake_op *op) { free(op->data); }

CUresult fake_put_host(CUhostFn function, void *context, CUstream handle) {
  CUstream stream;
  CUresult bad = fake_stream_of(handle, &stream);
  if (bad) return bad;
  if (!function) return CUDA_ERROR_INVALID_VALUE;
  host_call *call = malloc(sizeof *call);
  *call = (host_call){function, context};
  fake_put(stream, &(fake_op){.run = run_host, .end = free_data, .data = call});
  return CUDA_SUCCESS;
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *context) {
  ENTER(CURRENT);
  LEAVE(fake_put_host(function, context, stream));
}
