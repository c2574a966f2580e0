/* rates.c - how fast the machine's driver, bus and GPU do what lgt asks of them: what docs/gpu.md's estimates stand on.
 *
 *   rates            a line for each rate, in microseconds if it names no other unit
 *
 * Each figure is the median of some tries.  On the emulated driver of the tests it shows only that everything runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "../../src/gpu/driver.h" /* tests/gpu has one of this name, too */

enum { MOST_TRIES = 201, LAUNCHES = 1000, NODES = 100 };
static const size_t MiB = 1 << 20;

static const lgt_cuda *cuda;
static CUstream kernels, upward, downward;
static CUevent event;
static CUfunction function;
static CUdeviceptr device;
static void *pinned;
static size_t elements; /* that a launch adds 1 to */

static const char PTX[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry increment(.param .u64 array, .param .u64 count) {\n"
    ".reg .b32 %r<5>;\n.reg .b64 %d<7>;\n.reg .f64 %f<3>;\n.reg .pred %p<2>;\n"
    "ld.param.u64 %d1, [array];\nld.param.u64 %d2, [count];\n"
    "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\n"
    "mad.lo.u32 %r4, %r1, %r2, %r3;\ncvt.u64.u32 %d3, %r4;\n"
    "setp.ge.u64 %p1, %d3, %d2;\n@%p1 bra END;\n"
    "shl.b64 %d4, %d3, 3;\nadd.u64 %d5, %d1, %d4;\n"
    "ld.global.f64 %f1, [%d5];\nadd.rn.f64 %f2, %f1, 0d3FF0000000000000;\n"
    "st.global.f64 [%d5], %f2;\nEND:\nret;\n}\n";

static void check(CUresult result, const char *what) {
  if (!result) return;
  (void)lgt_cuda_check(result, what);
  fprintf(stderr, "rates: %s\n", lgt_message());
  exit(1);
}
#define OK(call) check(cuda->call, #call)

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(int tries, void (*try)(size_t), size_t size) {
  double seconds[MOST_TRIES];
  for (int i = 0; i < tries; i++) {
    double begin = now();
    try(size);
    seconds[i] = now() - begin;
  }
  qsort(seconds, (size_t)tries, sizeof *seconds, by_value);
  return seconds[tries / 2];
}

/* ---- what is timed ---------------------------------------------------------------------------------------- */

static void launch(void) {
  void *params[] = {&device, &elements};
  OK(cuLaunchKernel(function, (unsigned)((elements + 255) / 256), 1, 1, 256, 1, 1, 0, kernels, params, NULL));
}

static void launch_and_wait(size_t n) {
  elements = n;
  launch();
  OK(cuStreamSynchronize(kernels));
}

static void launch_and_ask(size_t n) {
  elements = n;
  launch();
  OK(cuEventRecord(event, kernels));
  for (CUresult done; (done = cuda->cuEventQuery(event));)
    if (done != CUDA_ERROR_NOT_READY) check(done, "cuEventQuery");
}

static void issue(size_t n) {
  for (size_t i = 0; i < n; i++) launch();
}

static void record(size_t n) {
  for (size_t i = 0; i < n; i++) OK(cuEventRecord(event, kernels));
}

static void wait_for_event(size_t n) {
  for (size_t i = 0; i < n; i++) OK(cuStreamWaitEvent(upward, event, 0));
}

static void set_current(size_t n) {
  CUcontext context;
  OK(cuCtxGetCurrent(&context));
  for (size_t i = 0; i < n; i++) OK(cuCtxSetCurrent(context));
}

static void copy_up(size_t bytes) {
  OK(cuMemcpyHtoDAsync_v2(device, pinned, bytes, upward));
  OK(cuStreamSynchronize(upward));
}

static void copy_down(size_t bytes) {
  OK(cuMemcpyDtoHAsync_v2(pinned, device, bytes, downward));
  OK(cuStreamSynchronize(downward));
}

static void copy_within(size_t bytes) {
  OK(cuMemcpyDtoDAsync_v2(device, device + bytes, bytes, kernels));
  OK(cuStreamSynchronize(kernels));
}

/* ---- the rates -------------------------------------------------------------------------------------------- */

/* What has to be compiled gets another name each time, since drivers keep what they have compiled. */
static void compile(char first) {
  char text[sizeof PTX];
  CUlinkState link;
  CUmodule module;
  void *cubin;
  size_t bytes;
  char name[] = "increment";
  memcpy(text, PTX, sizeof PTX);
  *strstr(text, name) = first;
  name[0] = first;
  double begin = now();
  OK(cuLinkCreate_v2(0, NULL, NULL, &link));
  OK(cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, text, sizeof text, name, 0, NULL, NULL));
  OK(cuLinkComplete(link, &cubin, &bytes));
  double linked = now();
  OK(cuModuleLoadDataEx(&module, cubin, 0, NULL, NULL));
  OK(cuLinkDestroy(link));
  OK(cuModuleGetFunction(&function, module, name));
  printf("to compile a kernel %.0f, to load it %.0f\n", linked - begin, now() - linked);
}

static void begin(size_t room) {
  CUcontext context;
  CUdevice number;
  int processors;
  double start = now();
  cuda = lgt_cuda_load();
  if (!cuda) {
    fprintf(stderr, "rates: %s\n", lgt_message());
    exit(77);
  }
  double loaded = now();
  OK(cuDeviceGet(&number, 0));
  OK(cuDevicePrimaryCtxRetain(&context, number));
  OK(cuCtxSetCurrent(context));
  printf("to load the driver %.0f, to make a context %.0f\n", loaded - start, now() - loaded);
  OK(cuDeviceGetAttribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, number));
  start = now();
  OK(cuStreamCreate(&kernels, CU_STREAM_NON_BLOCKING));
  OK(cuStreamCreate(&upward, CU_STREAM_NON_BLOCKING));
  OK(cuStreamCreate(&downward, CU_STREAM_NON_BLOCKING));
  OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  printf("three streams and an event %.0f; multiprocessors %d\n", now() - start, processors);
  for (char first = 'a'; first < 'd'; first++) compile(first);
  start = now();
  OK(cuMemAlloc_v2(&device, room));
  printf("%zu MiB of the GPU %.0f", room / MiB, now() - start);
  start = now();
  OK(cuMemHostAlloc(&pinned, room / 8, 0));
  printf(", %zu MiB of pinned memory %.0f\n", room / 8 / MiB, now() - start);
  memset(pinned, 0, room / 8);
  OK(cuMemsetD8Async(device, 0, room, kernels));
  OK(cuStreamSynchronize(kernels));
}

static void graph(void) {
  CUgraph graph;
  CUgraphNode before = NULL;
  CUgraphExec exec;
  void *params[] = {&device, &elements};
  elements = 1024;
  OK(cuGraphCreate(&graph, 0));
  for (int i = 0; i < NODES; i++) {
    CUDA_KERNEL_NODE_PARAMS_v1 node = {.func = function,
                                       .gridDimX = 4,
                                       .gridDimY = 1,
                                       .gridDimZ = 1,
                                       .blockDimX = 256,
                                       .blockDimY = 1,
                                       .blockDimZ = 1,
                                       .kernelParams = params};
    CUgraphNode next;
    OK(cuGraphAddKernelNode(&next, graph, &before, before != NULL, &node));
    before = next;
  }
  double start = now();
  OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
  printf("a graph of %d kernels, to instantiate %.0f", NODES, now() - start);
  for (int i = 0; i < 3; i++) {
    start = now();
    OK(cuGraphLaunch(exec, kernels));
    double issued = now();
    OK(cuStreamSynchronize(kernels));
    if (i == 2) printf(", to launch %.1f, for each kernel %.2f\n", issued - start, (now() - start) / NODES);
  }
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphDestroy(graph));
}

int main(int argc, char **argv) {
  size_t room = argc > 1 ? (size_t)atol(argv[1]) * MiB : 2048 * MiB, most = room / 8;
  begin(room);
  printf("a launch and its end: %.1f waiting, %.1f asking\n", median(101, launch_and_wait, 1024),
         median(101, launch_and_ask, 1024));
  elements = 1024;
  double start = now();
  issue(LAUNCHES);
  double issued = now();
  OK(cuStreamSynchronize(kernels));
  printf("%d launches, each: issued %.2f, done %.2f\n", LAUNCHES, (issued - start) / LAUNCHES,
         (now() - start) / LAUNCHES);
  printf("an event recorded %.3f", median(3, record, LAUNCHES) / LAUNCHES);
  printf(", waited for %.3f", median(3, wait_for_event, LAUNCHES) / LAUNCHES);
  printf("; a context made current %.3f\n", median(3, set_current, LAUNCHES) / LAUNCHES);
  OK(cuCtxSynchronize());
  graph();
  for (size_t bytes = 8; bytes <= most; bytes *= 16) {
    double up = median(21, copy_up, bytes), down = median(21, copy_down, bytes);
    printf("%zu bytes: to the GPU %.1f, back %.1f\n", bytes, up, down);
  }
  printf("%zu MiB: to the GPU %.1f GB/s", most / MiB, 1e-3 * (double)most / median(9, copy_up, most));
  printf(", back %.1f", 1e-3 * (double)most / median(9, copy_down, most));
  printf(", within it %.0f, read and written", 1e-3 * (double)room / median(9, copy_within, room / 2));
  printf("; by a kernel %.0f\n", 2e-3 * (double)room / median(9, launch_and_wait, room / 8));
  return 0;
}
