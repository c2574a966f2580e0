/* test_graph.c - the emulated driver: graphs. */
#include "driver_test.h"

#include <stdatomic.h>
#include <stdbool.h>

enum { N = 256 };

/* put(to, value): one element. */
static const char ptx[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry put(.param .u64 put_to, .param .u32 put_value)\n{\n"
    "\t.reg .b32 %r<2>;\n\t.reg .b64 %rd<2>;\n"
    "\tld.param.u64 %rd1, [put_to];\n\tld.param.u32 %r1, [put_value];\n\tst.global.u32 [%rd1], "
    "%r1;\n\tret;\n}\n";

static CUcontext context;
static CUstream stream;
static CUgraph graph;
static CUdeviceptr a, b, c;

static void begin(void) {
  context = test_open(0);
  stream = test_stream();
  a = test_alloc(N);
  b = test_alloc(N);
  c = test_alloc(N);
  OK(cuGraphCreate(&graph, 0));
}

/* Also after an error. */
static void end(CUgraphExec exec) {
  if (exec) cuGraphExecDestroy(exec);
  cuGraphDestroy(graph);
  cuMemFree_v2(a);
  cuMemFree_v2(b);
  cuMemFree_v2(c);
  cuStreamDestroy_v2(stream);
  test_close(0);
}

static CUgraphNode add_fill(CUdeviceptr to, unsigned value, CUgraphNode after) {
  CUgraphNode node;
  CUDA_MEMSET_NODE_PARAMS params = {.dst = to, .value = value, .elementSize = 1, .width = N, .height = 1};
  OK(cuGraphAddMemsetNode(&node, graph, &after, after ? 1 : 0, &params, context));
  return node;
}

static CUDA_MEMCPY3D line(CUdeviceptr to, CUdeviceptr from) {
  return (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                         .srcDevice = from,
                         .srcPitch = N,
                         .srcHeight = 1,
                         .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                         .dstDevice = to,
                         .dstPitch = N,
                         .dstHeight = 1,
                         .WidthInBytes = N,
                         .Height = 1,
                         .Depth = 1};
}
static CUgraphNode add_copy(CUdeviceptr to, CUdeviceptr from, CUgraphNode after) {
  CUgraphNode node;
  CUDA_MEMCPY3D copy = line(to, from);
  OK(cuGraphAddMemcpyNode(&node, graph, &after, after ? 1 : 0, &copy, context));
  return node;
}

static CUgraphExec instantiate(void) {
  CUgraphExec exec;
  OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
  return exec;
}

static void check_bytes(CUdeviceptr at, int value) {
  unsigned char out[N];
  OK(cuMemcpyDtoHAsync_v2(out, at, N, stream));
  for (int i = 0; i < N; i++) NEED(out[i] == value);
}

/* ---- right use -------------------------------------------------------------------------------------- */

static void count_up(void *counter) { atomic_fetch_add((atomic_int *)counter, 1); }

/* One fill, two copies of it, a function behind both; launched again and again. */
static void diamond_body(void) {
  begin();
  CUgraphNode fill = add_fill(a, 7, NULL), both[2] = {add_copy(b, a, fill), add_copy(c, a, fill)}, host, join;
  atomic_int counter = 0;
  CUDA_HOST_NODE_PARAMS call = {count_up, &counter};
  OK(cuGraphAddEmptyNode(&join, graph, both, 2));
  OK(cuGraphAddHostNode(&host, graph, &join, 1, &call));
  CUgraphExec exec = instantiate();
  OK(cuGraphUpload(exec, stream));
  for (int i = 0; i < 5; i++) {
    OK(cuMemsetD8Async(b, 1, N, stream));
    OK(cuGraphLaunch(exec, stream));
    OK(cuMemsetD8Async(a, 2, N, stream));
  }
  check_bytes(b, 7);
  check_bytes(c, 7);
  NEED(counter == 5);
  end(exec);
}
TEST(diamond) {
  GOOD(diamond_body, NULL);
  GOOD(diamond_body, "LGT_FAKE_CUDA_SEED=5");
}

static void kernel_body(void) {
  begin();
  CUmodule module;
  CUfunction put;
  OK(cuModuleLoadDataEx(&module, ptx, 0, NULL, NULL));
  OK(cuModuleGetFunction(&put, module, "put"));
  CUgraphNode fill = add_fill(a, 0, NULL), kernel, copy;
  uint32_t value = 0x05050505;
  CUdeviceptr to = a;
  void *params[] = {&to, &value};
  CUDA_KERNEL_NODE_PARAMS_v1 launch = {.func = put,
                                       .gridDimX = 1,
                                       .gridDimY = 1,
                                       .gridDimZ = 1,
                                       .blockDimX = 1,
                                       .blockDimY = 1,
                                       .blockDimZ = 1,
                                       .kernelParams = params};
  OK(cuGraphAddKernelNode(&kernel, graph, &fill, 1, &launch));
  copy = add_copy(b, a, kernel);
  value = 1; /* copied already */
  CUgraphExec exec = instantiate();
  OK(cuGraphLaunch(exec, stream));
  unsigned char out[N];
  OK(cuMemcpyDtoHAsync_v2(out, b, N, stream));
  NEED(out[0] == 5 && out[3] == 5 && out[4] == 0);
  value = 0x06060606;
  to = a + 4;
  OK(cuGraphExecKernelNodeSetParams(exec, kernel, &launch));
  CUDA_MEMCPY3D other = line(c, a);
  OK(cuGraphExecMemcpyNodeSetParams(exec, copy, &other, context));
  IS(cuGraphExecMemcpyNodeSetParams(exec, kernel, &other, context), CUDA_ERROR_INVALID_VALUE);
  OK(cuMemsetD8Async(b, 1, N, stream));
  OK(cuGraphLaunch(exec, stream));
  OK(cuMemcpyDtoHAsync_v2(out, c, N, stream));
  NEED(out[0] == 0 && out[4] == 6 && out[8] == 0);
  check_bytes(b, 1);
  OK(cuModuleUnload(module));
  end(exec);
}
TEST(kernel_nodes) { GOOD(kernel_body, NULL); }

/* ---- mistakes --------------------------------------------------------------------------------------- */

static void edge(bool there) {
  begin();
  CUgraphNode fill = add_fill(a, 7, NULL), copy = add_copy(b, a, NULL);
  if (there) OK(cuGraphAddDependencies(graph, &fill, &copy, 1));
  CUgraphExec exec = instantiate();
  OK(cuMemsetD8Async(a, 1, N, stream));
  OK(cuGraphLaunch(exec, stream));
  cuStreamSynchronize(stream);
  end(exec);
}
static void with_edge(void) { edge(true); }
static void without_edge(void) { edge(false); }

static void beside_body(void) { /* another stream does not know */
  begin();
  CUstream other = test_stream();
  add_fill(a, 7, NULL);
  CUgraphExec exec = instantiate();
  OK(cuGraphLaunch(exec, stream));
  OK(cuMemsetD8Async(a, 1, N, other));
  cuCtxSynchronize();
  cuStreamDestroy_v2(other);
  end(exec);
}

static void two_graphs_body(void) { /* launched in two streams */
  begin();
  CUstream other = test_stream();
  add_fill(a, 7, NULL);
  CUgraphExec one = instantiate(), two = instantiate();
  OK(cuGraphLaunch(one, stream));
  OK(cuGraphLaunch(two, other));
  cuCtxSynchronize();
  cuStreamDestroy_v2(other);
  cuGraphExecDestroy(two);
  end(one);
}
TEST(edges) {
  for (int seed = 1; seed <= 5; seed++) {
    char setting[64];
    snprintf(setting, sizeof setting, "LGT_FAKE_CUDA_SEED=%d", seed);
    GOOD(with_edge, setting);
    BAD(without_edge, "nothing orders them", setting);
    BAD(beside_body, "nothing orders them", setting);
  }
  BAD(two_graphs_body, "nothing orders them", NULL);
}

static void circle_body(void) {
  begin();
  CUgraphNode fill = add_fill(a, 7, NULL), copy = add_copy(b, a, fill);
  CUgraphExec exec = NULL;
  OK(cuGraphAddDependencies(graph, &copy, &fill, 1));
  IS(cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_ERROR_INVALID_VALUE);
  end(exec);
}
static void foreign_body(void) {
  begin();
  CUgraph first = graph;
  CUgraphNode fill = add_fill(a, 7, NULL), node;
  OK(cuGraphCreate(&graph, 0));
  IS(cuGraphAddEmptyNode(&node, graph, &fill, 1), CUDA_ERROR_INVALID_VALUE);
  OK(cuGraphDestroy(first));
  end(NULL);
}
static void freed_body(void) {
  begin();
  add_copy(b, a, NULL);
  CUgraphExec exec = instantiate();
  OK(cuMemFree_v2(a));
  IS(cuGraphLaunch(exec, stream), CUDA_ERROR_INVALID_VALUE);
}
static void destroyed_body(void) {
  begin();
  CUgraphExec exec = instantiate();
  OK(cuGraphExecDestroy(exec));
  IS(cuGraphLaunch(exec, stream), CUDA_ERROR_INVALID_HANDLE);
}
static void left_body(void) {
  begin();
  instantiate();
  end(NULL);
}
TEST(wrong_graphs) {
  GOOD(circle_body, NULL);
  GOOD(foreign_body, NULL);
  BAD(freed_body, "of what call", NULL);
  BAD(destroyed_body, "the executable graph was destroyed", NULL);
  BAD(left_body, "left when its context ended: executable graph", NULL);
}

int main(void) {
  RUN(diamond);
  RUN(kernel_nodes);
  RUN(edges);
  RUN(wrong_graphs);
  return check_done();
}
