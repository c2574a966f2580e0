/* test_driver.c - the emulated driver: right use passes, and each rule that is broken is found. */
#include "driver_test.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <signal.h>

enum { N = 4096 };

/* ---- devices and contexts --------------------------------------------------------------------------- */

static void devices_body(void) {
  int count, value;
  char name[64], id[16];
  CUuuid a, b;
  size_t bytes;
  IS(cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
  OK(cuInit(0));
  OK(cuDeviceGetCount(&count));
  NEED(count == 3);
  OK(cuDeviceGetName(name, sizeof name, 2));
  NEED(!strcmp(name, "Emulated device 2"));
  OK(cuDeviceGetPCIBusId(id, sizeof id, 1));
  NEED(!strcmp(id, "0000:11:00.0"));
  OK(cuDeviceGetUuid(&a, 0));
  OK(cuDeviceGetUuid(&b, 1));
  NEED(memcmp(&a, &b, sizeof a));
  OK(cuDeviceTotalMem_v2(&bytes, 0));
  NEED(bytes == 64 << 20);
  OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
  NEED(value == 9);
  OK(cuDeviceCanAccessPeer(&value, 0, 1));
  NEED(value == 1);
  IS(cuDeviceGetName(name, sizeof name, 3), CUDA_ERROR_INVALID_DEVICE);
}
TEST(devices) {
  GOOD(devices_body, "LGT_FAKE_CUDA_DEVICES=3", "LGT_FAKE_CUDA_MEMORY=64M", "LGT_FAKE_CUDA_CHIP=90");
}

static void visible_body(void) {
  int count;
  char name[64];
  OK(cuInit(0));
  OK(cuDeviceGetCount(&count));
  NEED(count == 2);
  OK(cuDeviceGetName(name, sizeof name, 0));
  NEED(!strcmp(name, "Emulated device 2"));
}
static void none_visible_body(void) { IS(cuInit(0), CUDA_ERROR_NO_DEVICE); }
TEST(visible) {
  GOOD(visible_body, "LGT_FAKE_CUDA_DEVICES=3", "CUDA_VISIBLE_DEVICES=2,0,7,1");
  GOOD(visible_body, "LGT_FAKE_CUDA_DEVICES=3", "CUDA_VISIBLE_DEVICES=GPU-02,GPU-00");
  GOOD(none_visible_body, "CUDA_VISIBLE_DEVICES=");
  GOOD(none_visible_body, "CUDA_VISIBLE_DEVICES=5");
}

static void init_fails_body(void) { IS(cuInit(0), CUDA_ERROR_SYSTEM_DRIVER_MISMATCH); }
TEST(init_fails) { GOOD(init_fails_body, "LGT_FAKE_CUDA_INIT=803"); }

static void errors_body(void) {
  const char *text;
  OK(cuGetErrorName(CUDA_ERROR_OUT_OF_MEMORY, &text));
  NEED(!strcmp(text, "CUDA_ERROR_OUT_OF_MEMORY"));
  OK(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text));
  NEED(!strcmp(text, "out of memory"));
  IS(cuGetErrorName((CUresult)12345, &text), CUDA_ERROR_INVALID_VALUE);
}
TEST(error_names) { GOOD(errors_body, NULL); }

static void no_context_body(void) {
  CUdeviceptr block;
  OK(cuInit(0));
  IS(cuMemAlloc_v2(&block, 64), CUDA_ERROR_INVALID_CONTEXT);
  IS(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
  test_open(0);
  OK(cuMemAlloc_v2(&block, 64));
  OK(cuMemFree_v2(block));
  test_close(0);
  IS(cuMemAlloc_v2(&block, 64), CUDA_ERROR_CONTEXT_IS_DESTROYED);
}
TEST(no_context) { GOOD(no_context_body, NULL); }

static void fork_body(void) {
  test_open(0);
  pid_t child = fork();
  if (!child) {
    CUdeviceptr block;
    IS(cuMemAlloc_v2(&block, 64), CUDA_ERROR_NOT_INITIALIZED);
    exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  test_close(0);
  exit(WEXITSTATUS(status));
}
TEST(use_after_fork) { BAD(fork_body, "forked after cuInit", NULL); }

/* ---- memory ----------------------------------------------------------------------------------------- */

static void round_trip_body(void) {
  test_open(0);
  CUstream stream = test_stream();
  CUdeviceptr a = test_alloc(N), b = test_alloc(N);
  unsigned char *in = test_pinned(N), *out = test_pinned(N);
  for (int i = 0; i < N; i++) in[i] = (unsigned char)(i * 7);
  OK(cuMemcpyHtoDAsync_v2(a, in, N, stream));
  OK(cuMemcpyDtoDAsync_v2(b, a, N, stream));
  OK(cuMemsetD32Async(b + 16, 0x01020304, 4, stream));
  OK(cuMemcpyDtoHAsync_v2(out, b, N, stream));
  OK(cuStreamSynchronize(stream));
  for (int i = 0; i < N; i++) NEED(out[i] == (i >= 16 && i < 32 ? 4 - i % 4 : (unsigned char)(i * 7)));
  OK(cuMemFree_v2(a));
  OK(cuMemFree_v2(b));
  OK(cuMemFreeHost(in));
  OK(cuMemFreeHost(out));
  OK(cuStreamDestroy_v2(stream));
  test_close(0);
}
TEST(round_trip) { GOOD(round_trip_body, NULL); }

static void host_touches_body(void) {
  test_open(0);
  volatile char *block = (volatile char *)test_alloc(N);
  *block = 1;
}
static bool ends_by_touching(void (*body)(void)) {
  int status = test_run(body, NULL);
  return (WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV) || strstr(test_said, "Sanitizer: SEGV");
}
TEST(host_touches_device_memory) { CHECK(ends_by_touching(host_touches_body)); }

static void limit_body(void) {
  test_open(0);
  size_t room, total;
  CUdeviceptr a, b;
  OK(cuMemGetInfo_v2(&room, &total));
  NEED(room == 3 << 20 && total == 4 << 20);
  OK(cuMemAlloc_v2(&a, 2 << 20));
  IS(cuMemAlloc_v2(&b, 2 << 20), CUDA_ERROR_OUT_OF_MEMORY);
  OK(cuMemFree_v2(a));
  OK(cuMemAlloc_v2(&b, 3 << 20));
  OK(cuMemFree_v2(b));
  IS(cuMemAlloc_v2(&a, 0), CUDA_ERROR_INVALID_VALUE);
  test_close(0);
}
TEST(memory_limit) { GOOD(limit_body, "LGT_FAKE_CUDA_MEMORY=4M", "LGT_FAKE_CUDA_TAKEN=1M"); }

static void freed_body(void) {
  test_open(0);
  CUdeviceptr a = test_alloc(N);
  char out[N];
  OK(cuMemFree_v2(a));
  test_alloc(N);
  IS(cuMemcpyDtoH_v2(out, a, N), CUDA_ERROR_INVALID_VALUE);
}
static void freed_twice_body(void) {
  test_open(0);
  CUdeviceptr a = test_alloc(N);
  OK(cuMemFree_v2(a));
  IS(cuMemFree_v2(a), CUDA_ERROR_INVALID_VALUE);
}
static void beyond_body(void) {
  test_open(0);
  CUdeviceptr a = test_alloc(N);
  IS(cuMemsetD8Async(a + 1, 0, N, NULL), CUDA_ERROR_INVALID_VALUE);
}
static void host_pointer_body(void) {
  test_open(0);
  char *mine = malloc(N);
  IS(cuMemsetD8Async((CUdeviceptr)mine, 0, N, NULL), CUDA_ERROR_INVALID_VALUE);
}
static void misaligned_body(void) {
  test_open(0);
  CUdeviceptr a = test_alloc(N);
  IS(cuMemsetD32Async(a + 2, 0, 4, NULL), CUDA_ERROR_INVALID_VALUE);
  OK(cuMemFree_v2(a));
  test_close(0);
}
TEST(wrong_memory) {
  BAD(freed_body, "of what call", NULL);
  BAD(freed_twice_body, "cuMemFree_v2", NULL);
  BAD(beyond_body, "go beyond its end", NULL);
  BAD(host_pointer_body, "no memory of a device", NULL);
  GOOD(misaligned_body, NULL);
}

static void leak_body(void) {
  test_open(0);
  test_alloc(N);
}
static void leak_event_body(void) {
  test_open(0);
  test_event();
}
static void leave_body(void) {
  test_open(0);
  test_alloc(N);
  test_stream();
  test_close(0);
}
TEST(left_at_exit) {
  BAD(leave_body, "left when its context ended: stream of call", NULL);
  CHECK_HAS(test_said, "left when its context ended: 4096 bytes of device memory of call 4");
  BAD(leak_body, "left at exit: 4096 bytes of device memory", NULL);
  BAD(leak_event_body, "left at exit: event", NULL);
}

static void register_body(void) {
  test_open(0);
  char *mine = aligned_alloc(4096, N);
  CUdeviceptr a = test_alloc(N);
  OK(cuMemHostRegister_v2(mine, N, 0));
  IS(cuMemHostRegister_v2(mine + 64, 64, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  OK(cuMemcpyHtoDAsync_v2(a, mine, N, NULL));
  OK(cuMemHostUnregister(mine));
  OK(cuMemFree_v2(a));
  free(mine);
  test_close(0);
}
TEST(registered) { GOOD(register_body, NULL); }

/* The bytes of pinned memory are read when the stream gets there, those of other memory before the call returns. */
static void hold(void *context) {
  while (!atomic_load((atomic_int *)context)) usleep(100);
}
static void late_read_body(void) {
  test_open(0);
  CUstream stream = test_stream();
  CUdeviceptr a = test_alloc(1);
  char *pinned = test_pinned(1), plain = 1, got;
  atomic_int go = 0;
  *pinned = 1;
  OK(cuLaunchHostFunc(stream, hold, &go));
  OK(cuMemcpyHtoDAsync_v2(a, pinned, 1, stream));
  IS(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  *pinned = 2;
  go = 1;
  OK(cuStreamSynchronize(stream));
  OK(cuMemcpyDtoHAsync_v2(&got, a, 1, stream));
  NEED(got == 2);
  OK(cuMemcpyHtoDAsync_v2(a, &plain, 1, stream));
  plain = 3;
  OK(cuMemcpyDtoHAsync_v2(&got, a, 1, stream));
  NEED(got == 1);
  OK(cuMemFree_v2(a));
  OK(cuMemFreeHost(pinned));
  OK(cuStreamDestroy_v2(stream));
  test_close(0);
}
TEST(pinned_is_read_late) { GOOD(late_read_body, NULL); }

/* The host may read what a copy is to read, and nothing else of it before it has waited. */
static void touch_early(bool out, bool write) {
  test_open(0);
  CUstream stream = test_stream();
  CUdeviceptr a = test_alloc(N);
  volatile char *pinned = test_pinned(3 * N);
  atomic_int go = 0;
  OK(cuMemsetD8Async(a, 1, N, stream));
  OK(cuLaunchHostFunc(stream, hold, &go));
  if (out) OK(cuMemcpyDtoHAsync_v2((char *)pinned + N, a, N, stream));
  else OK(cuMemcpyHtoDAsync_v2(a, (char *)pinned + N, N, stream));
  pinned[0] = pinned[2 * N] = 1;
  if (write) pinned[N + 5] = 1;
  else NEED(pinned[N + 5] == 0);
  go = 1;
  OK(cuStreamSynchronize(stream));
  pinned[N + 5] = 1;
  OK(cuMemFree_v2(a));
  OK(cuMemFreeHost((char *)pinned));
  OK(cuStreamDestroy_v2(stream));
  test_close(0);
}
static void read_source(void) { touch_early(false, false); }
static void write_source(void) { touch_early(false, true); }
static void read_target(void) { touch_early(true, false); }
TEST(pinned_is_guarded) {
  GOOD(read_source, NULL);
  CHECK(ends_by_touching(write_source));
  CHECK(ends_by_touching(read_target));
}

/* A copy from the device into memory that is not pinned is over when the call returns; one to the device may not be. */
static void plain_out_body(void) {
  test_open(0);
  CUstream one = test_stream(), two = test_stream();
  CUdeviceptr a = test_alloc(N);
  char out[N];
  OK(cuMemsetD8Async(a, 1, N, one));
  OK(cuMemcpyDtoHAsync_v2(out, a, N, one));
  OK(cuMemsetD8Async(a, 2, N, two));
  OK(cuMemFree_v2(a));
  OK(cuStreamDestroy_v2(one));
  OK(cuStreamDestroy_v2(two));
  test_close(0);
}
static void plain_in_body(void) {
  test_open(0);
  CUstream one = test_stream(), two = test_stream();
  CUdeviceptr a = test_alloc(N);
  char in[N] = {0};
  OK(cuMemcpyHtoDAsync_v2(a, in, N, one));
  OK(cuMemsetD8Async(a, 2, N, two));
  cuStreamSynchronize(two);
}
TEST(plain_memory) {
  GOOD(plain_out_body, NULL);
  BAD(plain_in_body, "that cuMemcpyHtoDAsync_v2 of call", NULL);
}

/* ---- order ------------------------------------------------------------------------------------------ */

typedef enum edge { NO_EDGE, EVENT_EDGE, HOST_EDGE, EARLY_EVENT } edge;

/* One stream writes, another reads. */
static void two_streams(edge how) {
  test_open(0);
  CUstream one = test_stream(), two = test_stream();
  CUevent event = test_event();
  CUdeviceptr a = test_alloc(N), b = test_alloc(N);
  OK(cuMemsetD8Async(b, 0, N, one));
  OK(cuStreamSynchronize(one));
  if (how == EARLY_EVENT) OK(cuEventRecord(event, one));
  OK(cuMemsetD8Async(a, 1, N, one));
  if (how == EVENT_EDGE) OK(cuEventRecord(event, one));
  if (how == EVENT_EDGE || how == EARLY_EVENT) OK(cuStreamWaitEvent(two, event, 0));
  if (how == HOST_EDGE) OK(cuStreamSynchronize(one));
  cuMemcpyDtoDAsync_v2(b, a, N, two);
  CUresult got = cuStreamSynchronize(two);
  cuStreamSynchronize(one);
  if (!got) got = cuCtxSynchronize();
  NEED((got == CUDA_SUCCESS) == (how == EVENT_EDGE || how == HOST_EDGE));
  cuMemFree_v2(a);
  cuMemFree_v2(b);
  cuEventDestroy_v2(event);
  cuStreamDestroy_v2(one);
  cuStreamDestroy_v2(two);
  test_close(0);
}
static void no_edge(void) { two_streams(NO_EDGE); }
static void event_edge(void) { two_streams(EVENT_EDGE); }
static void host_edge(void) { two_streams(HOST_EDGE); }
static void early_event(void) { two_streams(EARLY_EVENT); }
TEST(order_of_streams) {
  GOOD(event_edge, NULL);
  GOOD(host_edge, NULL);
  BAD(no_edge, "nothing orders them", NULL);
  BAD(early_event, "nothing orders them", NULL);
  for (int seed = 1; seed <= 20; seed++) { /* whatever ran first */
    char setting[64];
    snprintf(setting, sizeof setting, "LGT_FAKE_CUDA_SEED=%d", seed);
    BAD(no_edge, "nothing orders them", setting);
    GOOD(event_edge, setting);
  }
}

/* Two streams that write different bytes, even neighbours, or read the same. */
static void apart_body(void) {
  test_open(0);
  CUstream one = test_stream(), two = test_stream();
  CUdeviceptr a = test_alloc(N), b = test_alloc(N), c = test_alloc(N);
  OK(cuMemsetD8Async(a, 1, 1001, one));
  OK(cuMemsetD8Async(a + 1001, 2, N - 1001, two));
  OK(cuStreamSynchronize(one));
  OK(cuStreamSynchronize(two));
  for (int i = 0; i < 10; i++) {
    OK(cuMemcpyDtoDAsync_v2(b, a, N, one));
    OK(cuMemcpyDtoDAsync_v2(c, a, N, two));
  }
  OK(cuCtxSynchronize());
  OK(cuMemFree_v2(a));
  OK(cuMemFree_v2(b));
  OK(cuMemFree_v2(c));
  OK(cuStreamDestroy_v2(one));
  OK(cuStreamDestroy_v2(two));
  test_close(0);
}
TEST(bytes_apart) { GOOD(apart_body, NULL); }

/* A copy of columns does not touch what lies between. */
static void columns(size_t left) {
  test_open(0);
  CUstream one = test_stream(), two = test_stream();
  CUdeviceptr a = test_alloc(16 * 64);
  char *in = test_pinned(8 * 64);
  memset(in, 5, 8 * 64);
  CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                        .srcHost = in,
                        .srcPitch = 8,
                        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                        .dstDevice = a,
                        .dstPitch = 16,
                        .WidthInBytes = 8,
                        .Height = 64};
  OK(cuMemcpy2DAsync_v2(&copy, one));
  copy.dstXInBytes = left;
  OK(cuMemcpy2DAsync_v2(&copy, two));
  cuCtxSynchronize();
  cuMemFree_v2(a);
  cuMemFreeHost(in);
  cuStreamDestroy_v2(one);
  cuStreamDestroy_v2(two);
  test_close(0);
}
static void columns_apart(void) { columns(8); }
static void columns_overlap(void) { columns(7); }
TEST(columns_of_streams) {
  GOOD(columns_apart, NULL);
  BAD(columns_overlap, "nothing orders them", NULL);
}

/* Stream 0 waits for streams that are not non-blocking, and they for it; others do not. */
static void legacy(unsigned flags) {
  test_open(0);
  CUstream stream;
  OK(cuStreamCreate(&stream, flags));
  CUdeviceptr a = test_alloc(N);
  OK(cuMemsetD8Async(a, 1, N, stream));
  OK(cuMemsetD8Async(a, 2, N, NULL));
  OK(cuMemsetD8Async(a, 3, N, stream));
  cuCtxSynchronize();
  cuMemFree_v2(a);
  cuStreamDestroy_v2(stream);
  test_close(0);
}
static void legacy_blocking(void) { legacy(CU_STREAM_DEFAULT); }
static void legacy_other(void) { legacy(CU_STREAM_NON_BLOCKING); }
TEST(stream_0) {
  GOOD(legacy_blocking, NULL);
  BAD(legacy_other, "nothing orders them", NULL);
}

/* ---- 3d copies -------------------------------------------------------------------------------------- */

static void space_body(void) {
  enum { X = 10, Y = 5, Z = 4 };
  test_open(0);
  CUstream stream = test_stream();
  CUdeviceptr a = test_alloc(X * Y * Z);
  unsigned char *in = test_pinned(X * Y * Z), *out = test_pinned(X * Y * Z);
  for (int i = 0; i < X * Y * Z; i++) in[i] = (unsigned char)i;
  OK(cuMemsetD8Async(a, 255, X * Y * Z, stream));
  CUDA_MEMCPY3D copy = {.srcXInBytes = 1,
                        .srcY = 1,
                        .srcZ = 1,
                        .srcMemoryType = CU_MEMORYTYPE_HOST,
                        .srcHost = in,
                        .srcPitch = X,
                        .srcHeight = Y,
                        .dstXInBytes = 2,
                        .dstY = 0,
                        .dstZ = 2,
                        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                        .dstDevice = a,
                        .dstPitch = X,
                        .dstHeight = Y,
                        .WidthInBytes = 3,
                        .Height = 4,
                        .Depth = 2};
  OK(cuMemcpy3DAsync_v2(&copy, stream));
  copy.dstHeight = 3;
  IS(cuMemcpy3DAsync_v2(&copy, stream), CUDA_ERROR_INVALID_VALUE);
  OK(cuMemcpyDtoHAsync_v2(out, a, X * Y * Z, stream));
  OK(cuStreamSynchronize(stream));
  for (int z = 0; z < Z; z++)
    for (int y = 0; y < Y; y++)
      for (int x = 0; x < X; x++) {
        bool inside = z >= 2 && y < 4 && x >= 2 && x < 5;
        int from = ((z - 1) * Y + y + 1) * X + x - 1;
        NEED(out[(z * Y + y) * X + x] == (inside ? from : 255));
      }
  OK(cuMemFree_v2(a));
  OK(cuMemFreeHost(in));
  OK(cuMemFreeHost(out));
  OK(cuStreamDestroy_v2(stream));
  test_close(0);
}
TEST(space_copies) { GOOD(space_body, NULL); }

/* ---- events ----------------------------------------------------------------------------------------- */

static void events_body(void) {
  test_open(0);
  CUstream stream = test_stream();
  CUevent begin, end;
  float time;
  atomic_int go = 0;
  OK(cuEventCreate(&begin, 0));
  OK(cuEventCreate(&end, 0));
  OK(cuEventQuery(begin)); /* never recorded */
  OK(cuEventSynchronize(begin));
  OK(cuEventRecord(begin, stream));
  OK(cuLaunchHostFunc(stream, hold, &go));
  OK(cuEventRecord(end, stream));
  IS(cuEventQuery(end), CUDA_ERROR_NOT_READY);
  IS(cuEventElapsedTime(&time, begin, end), CUDA_ERROR_NOT_READY);
  OK(cuEventSynchronize(begin));
  usleep(1000);
  go = 1;
  OK(cuEventSynchronize(end));
  OK(cuEventElapsedTime(&time, begin, end));
  NEED(time >= 0.9F);
  OK(cuEventDestroy_v2(begin));
  OK(cuEventDestroy_v2(end));
  OK(cuStreamDestroy_v2(stream));
  test_close(0);
}
static void destroyed_body(void) {
  test_open(0);
  CUstream stream = test_stream();
  CUevent event = test_event();
  OK(cuEventDestroy_v2(event));
  IS(cuEventRecord(event, stream), CUDA_ERROR_INVALID_HANDLE);
}
static void no_handle_body(void) {
  test_open(0);
  IS(cuStreamSynchronize((CUstream)&check_total), CUDA_ERROR_INVALID_HANDLE);
}
TEST(events) {
  GOOD(events_body, NULL);
  BAD(destroyed_body, "the event was destroyed by call", NULL);
  BAD(no_handle_body, "is no stream", NULL);
}

/* An operation behind another device's event. */
static void other_context_body(void) {
  CUcontext other = test_open(1), one = test_open(0);
  CUstream stream = test_stream();
  OK(cuCtxSetCurrent(other));
  CUevent event = test_event();
  IS(cuEventRecord(event, stream), CUDA_ERROR_INVALID_HANDLE);
  (void)one;
}
TEST(event_of_another_context) { BAD(other_context_body, "of another context", "LGT_FAKE_CUDA_DEVICES=2"); }

static void in_host_function(void *context) { *(CUresult *)context = cuCtxSynchronize(); }
static void host_function_body(void) {
  test_open(0);
  CUstream stream = test_stream();
  CUresult got = CUDA_SUCCESS;
  OK(cuLaunchHostFunc(stream, in_host_function, &got));
  cuStreamSynchronize(stream);
  NEED(got == CUDA_ERROR_NOT_PERMITTED);
}
TEST(calls_in_host_functions) { BAD(host_function_body, "in a function of cuLaunchHostFunc", NULL); }

/* ---- pools ------------------------------------------------------------------------------------------ */

static CUmemoryPool new_pool(void) {
  CUmemoryPool pool;
  CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                          .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
  OK(cuMemPoolCreate(&pool, &props));
  return pool;
}

static void pool_body(void) {
  test_open(0);
  CUstream one = test_stream(), two = test_stream();
  CUevent event = test_event();
  CUmemoryPool pool = new_pool();
  CUdeviceptr a, b;
  size_t room, total;
  uint64_t keep = 1 << 20, held;
  OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep));
  OK(cuMemAllocFromPoolAsync(&a, 3 << 20, pool, one));
  OK(cuMemsetD8Async(a, 1, 3 << 20, one));
  OK(cuEventRecord(event, one));
  OK(cuStreamWaitEvent(two, event, 0));
  OK(cuMemsetD8Async(a, 2, 3 << 20, two));
  OK(cuMemFreeAsync(a, two));
  OK(cuMemAllocFromPoolAsync(&b, 2 << 20, pool, two)); /* of what was freed */
  OK(cuMemsetD8Async(b, 2, 2 << 20, two));
  OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &held));
  NEED(held == 3 << 20);
  OK(cuMemFreeAsync(b, two));
  OK(cuStreamSynchronize(two));
  OK(cuMemGetInfo_v2(&room, &total));
  NEED(room == 3 << 20);
  OK(cuMemPoolTrimTo(pool, 0));
  OK(cuMemGetInfo_v2(&room, &total));
  NEED(room == 4 << 20);
  IS(cuMemAllocFromPoolAsync(&a, 5 << 20, pool, one), CUDA_ERROR_OUT_OF_MEMORY);
  OK(cuMemPoolDestroy(pool));
  OK(cuEventDestroy_v2(event));
  OK(cuStreamDestroy_v2(one));
  OK(cuStreamDestroy_v2(two));
  test_close(0);
}
TEST(pools) { GOOD(pool_body, "LGT_FAKE_CUDA_MEMORY=4M"); }

typedef enum pool_mistake { USED_TOO_EARLY, USED_AFTER, FREED_BY_HOST } pool_mistake;
static void pool_mistaken(pool_mistake what) {
  test_open(0);
  CUstream one = test_stream(), two = test_stream();
  CUmemoryPool pool = new_pool();
  CUdeviceptr a;
  OK(cuMemAllocFromPoolAsync(&a, N, pool, one));
  if (what != USED_TOO_EARLY) OK(cuStreamSynchronize(one));
  if (what != USED_AFTER) OK(cuMemsetD8Async(a, 1, N, two));
  if (what == FREED_BY_HOST) cuMemFree_v2(a);
  else cuMemFreeAsync(a, what == USED_TOO_EARLY ? two : one);
  if (what == USED_AFTER) cuMemsetD8Async(a, 1, N, one);
  cuCtxSynchronize();
}
/* Whichever of the two comes first. */
static void freed_beside(bool free_first) {
  test_open(0);
  CUstream one = test_stream(), two = test_stream();
  CUmemoryPool pool = new_pool();
  CUdeviceptr a;
  atomic_int go = 0;
  OK(cuMemAllocFromPoolAsync(&a, N, pool, one));
  OK(cuStreamSynchronize(one));
  OK(cuLaunchHostFunc(free_first ? two : one, hold, &go));
  OK(cuMemsetD8Async(a, 1, N, two));
  OK(cuMemFreeAsync(a, one));
  OK(cuStreamSynchronize(free_first ? one : two));
  go = 1;
  IS(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}
static void free_first(void) { freed_beside(true); }
static void use_first(void) { freed_beside(false); }
static void used_too_early(void) { pool_mistaken(USED_TOO_EARLY); }
static void used_after(void) { pool_mistaken(USED_AFTER); }
static void freed_by_host(void) { pool_mistaken(FREED_BY_HOST); }
TEST(pool_mistakes) {
  BAD(free_first, "cuMemsetD8Async of call 10 uses byte 0 of what call 11 freed", NULL);
  BAD(use_first, "cuMemFreeAsync of call 11", NULL);
  for (int seed = 1; seed <= 10; seed++) {
    char setting[64];
    snprintf(setting, sizeof setting, "LGT_FAKE_CUDA_SEED=%d", seed);
    BAD(used_too_early, "that cuMemAllocFromPoolAsync of call", setting);
    BAD(used_after, "freed", setting);
    BAD(freed_by_host, "has not seen the end of cuMemsetD8Async", setting);
  }
}

/* ---- several devices -------------------------------------------------------------------------------- */

static void peers_body(void) {
  CUcontext one = test_open(1), zero = test_open(0);
  CUdeviceptr a = test_alloc(N);
  OK(cuCtxSetCurrent(one));
  CUdeviceptr b = test_alloc(N);
  CUstream stream = test_stream();
  CUevent event = test_event();
  OK(cuMemsetD8Async(b, 9, N, stream));
  OK(cuEventRecord(event, stream));
  OK(cuCtxSetCurrent(zero));
  CUstream other = test_stream();
  OK(cuStreamWaitEvent(other, event, 0));
  OK(cuMemcpyPeerAsync(a, zero, b, one, N, other));
  char out[N];
  OK(cuMemcpyDtoHAsync_v2(out, a, N, other));
  for (int i = 0; i < N; i++) NEED(out[i] == 9);
  OK(cuCtxEnablePeerAccess(one, 0));
  IS(cuCtxEnablePeerAccess(one, 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
  OK(cuStreamDestroy_v2(other));
  OK(cuMemFree_v2(a));
  OK(cuCtxSetCurrent(one));
  OK(cuMemFree_v2(b));
  OK(cuEventDestroy_v2(event));
  OK(cuStreamDestroy_v2(stream));
  test_close(0);
  test_close(1);
}
static void wrong_peer_body(void) {
  CUcontext one = test_open(1), zero = test_open(0);
  CUdeviceptr a = test_alloc(N), b = test_alloc(N);
  IS(cuMemcpyPeerAsync(a, one, b, zero, N, NULL), CUDA_ERROR_INVALID_VALUE);
}
TEST(peers) {
  GOOD(peers_body, "LGT_FAKE_CUDA_DEVICES=2");
  BAD(wrong_peer_body, "of another context", "LGT_FAKE_CUDA_DEVICES=2");
}

/* ---- failures --------------------------------------------------------------------------------------- */

static void fail_any_body(void) {
  OK(cuInit(0));
  CUcontext context;
  CUdeviceptr a;
  OK(cuDevicePrimaryCtxRetain(&context, 0));
  OK(cuCtxSetCurrent(context));
  IS(cuMemAlloc_v2(&a, N), CUDA_ERROR_OUT_OF_MEMORY);
  OK(cuMemAlloc_v2(&a, N));
  OK(cuMemFree_v2(a));
  test_close(0);
}
static void fail_named_body(void) {
  test_open(0);
  CUdeviceptr a = test_alloc(N), b = test_alloc(N);
  OK(cuMemFree_v2(a));
  IS(cuMemFree_v2(b), CUDA_ERROR_LAUNCH_FAILED); /* and it was freed */
  test_close(0);
}
static void set_flag(void *context) { atomic_store((atomic_int *)context, 1); }
static void fail_run_body(void) {
  test_open(0);
  CUstream stream = test_stream();
  CUdeviceptr a = test_alloc(N);
  OK(cuMemsetD8Async(a, 1, N, stream));
  atomic_int go = 0, called = 0;
  OK(cuLaunchHostFunc(stream, hold, &go));
  OK(cuMemsetD8Async(a, 1, N, stream));
  OK(cuLaunchHostFunc(stream, set_flag, &called));
  go = 1;
  IS(cuStreamSynchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
  NEED(!called); /* nothing is carried out any more */
  IS(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  IS(cuMemAlloc_v2(&a, N), CUDA_ERROR_ILLEGAL_ADDRESS);
  IS(cuStreamDestroy_v2(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
  test_close(0);
  CUcontext context;
  IS(cuDevicePrimaryCtxRetain(&context, 0),
     CUDA_ERROR_ILLEGAL_ADDRESS); /* for as long as the process lives */
}
TEST(failures_asked_for) {
  GOOD(fail_any_body, "LGT_FAKE_CUDA_FAIL=:2");
  GOOD(fail_named_body, "LGT_FAKE_CUDA_FAIL=cuMemFree_v2:2:719");
  GOOD(fail_run_body, "LGT_FAKE_CUDA_FAIL_RUN=3:700");
}

static void log_body(void) { round_trip_body(); }
TEST(log_of_calls) {
  char path[] = "/tmp/lgt-driver-XXXXXX", setting[64], text[8192];
  int file = mkstemp(path);
  CHECK(file >= 0);
  snprintf(setting, sizeof setting, "LGT_FAKE_CUDA_LOG=%s", path);
  GOOD(log_body, setting);
  ssize_t length = read(file, text, sizeof text - 1);
  text[length > 0 ? length : 0] = 0;
  close(file);
  unlink(path);
  CHECK_HAS(text, "cuMemAlloc_v2(4096) = CUDA_SUCCESS");
  CHECK_HAS(text, "cuMemcpyHtoDAsync_v2(4096 bytes) = CUDA_SUCCESS");
  CHECK_HAS(text, "waits 1 runs 4 pageable 0 in 4096 out 4096 across 0");
}

int main(void) {
  RUN(devices);
  RUN(visible);
  RUN(init_fails);
  RUN(error_names);
  RUN(no_context);
  RUN(use_after_fork);
  RUN(round_trip);
  RUN(host_touches_device_memory);
  RUN(memory_limit);
  RUN(wrong_memory);
  RUN(left_at_exit);
  RUN(registered);
  RUN(pinned_is_read_late);
  RUN(pinned_is_guarded);
  RUN(plain_memory);
  RUN(order_of_streams);
  RUN(bytes_apart);
  RUN(columns_of_streams);
  RUN(stream_0);
  RUN(space_copies);
  RUN(events);
  RUN(event_of_another_context);
  RUN(calls_in_host_functions);
  RUN(pools);
  RUN(pool_mistakes);
  RUN(peers);
  RUN(failures_asked_for);
  RUN(log_of_calls);
  return check_done();
}
