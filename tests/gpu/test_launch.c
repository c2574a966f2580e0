/* test_launch.c - the emulated driver: modules, linking, kernels, and what is wrong with them. */
#include "driver_test.h"

#include <stdbool.h>

enum { N = 1024 };

/* copy(to, from, n): 32-bit elements.  fill(to, value): one for each thread.  off(to): at an odd address.  big: a block of
 * 64 threads at most, with shared memory.  table: adds what a variable of the module has. */
static const char ptx[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .global .align 4 .u32 offset = 40;\n"
    ".extern .shared .align 16 .b8 room[];\n"
    ".visible .entry copy(.param .u64 copy_to, .param .u64 copy_from, .param .u32 copy_n)\n{\n"
    "\t.reg .pred %p<2>;\n\t.reg .b32 %r<7>;\n\t.reg .b64 %rd<6>;\n"
    "\tld.param.u64 %rd1, [copy_to];\n\tld.param.u64 %rd2, [copy_from];\n\tld.param.u32 %r1, [copy_n];\n"
    "\tmov.u32 %r2, %ctaid.x;\n\tmov.u32 %r3, %ntid.x;\n\tmov.u32 %r4, %tid.x;\n"
    "\tmad.lo.s32 %r5, %r2, %r3, %r4;\n\tsetp.ge.u32 %p1, %r5, %r1;\n\t@%p1 bra $L__BB0_2;\n"
    "\tmul.wide.u32 %rd3, %r5, 4;\n\tadd.s64 %rd4, %rd1, %rd3;\n\tadd.s64 %rd5, %rd2, %rd3;\n"
    "\tld.global.u32 %r6, [%rd5];\n\tst.global.u32 [%rd4], %r6;\n"
    "$L__BB0_2:\n\tret;\n}\n"
    ".visible .entry fill(.param .u64 fill_to, .param .u32 fill_value)\n{\n"
    "\t.reg .b32 %r<6>;\n\t.reg .b64 %rd<4>;\n"
    "\tld.param.u64 %rd1, [fill_to];\n\tld.param.u32 %r1, [fill_value];\n"
    "\tmov.u32 %r2, %ctaid.x;\n\tmov.u32 %r3, %ntid.x;\n\tmov.u32 %r4, %tid.x;\n"
    "\tmad.lo.s32 %r5, %r2, %r3, %r4;\n\tmul.wide.u32 %rd2, %r5, 4;\n\tadd.s64 %rd3, %rd1, %rd2;\n"
    "\tst.global.u32 [%rd3], %r1;\n\tret;\n}\n"
    ".visible .entry off(.param .u64 off_to)\n{\n"
    "\t.reg .b32 %r<2>;\n\t.reg .b64 %rd<2>;\n"
    "\tld.param.u64 %rd1, [off_to];\n\tmov.u32 %r1, 7;\n\tst.global.u32 [%rd1+1], %r1;\n\tret;\n}\n"
    ".visible .entry big(.param .u64 big_to)\n.maxntid 64, 1, 1\n{\n"
    "\t.reg .b32 %r<2>;\n\t.reg .b64 %rd<2>;\n"
    "\tld.param.u64 %rd1, [big_to];\n\tmov.u32 %r1, 3;\n\tst.shared.u32 [room], %r1;\n\tret;\n}\n"
    ".visible .entry table(.param .u64 table_to)\n{\n"
    "\t.reg .b32 %r<4>;\n\t.reg .b64 %rd<2>;\n"
    "\tld.param.u64 %rd1, [table_to];\n\tld.global.u32 %r1, [offset];\n\tld.global.u32 %r2, [%rd1];\n"
    "\tadd.s32 %r3, %r1, %r2;\n\tst.global.u32 [%rd1], %r3;\n\tret;\n}\n";

static CUmodule load_module(void) {
  CUmodule module;
  OK(cuModuleLoadDataEx(&module, ptx, 0, NULL, NULL));
  return module;
}
static CUfunction get(CUmodule module, const char *name) {
  CUfunction function;
  OK(cuModuleGetFunction(&function, module, name));
  return function;
}
static CUresult launch_fill(CUmodule module, CUdeviceptr to, uint32_t value, unsigned count,
                            CUstream stream) {
  void *params[] = {&to, &value};
  return cuLaunchKernel(get(module, "fill"), count / 32, 1, 1, 32, 1, 1, 0, stream, params, NULL);
}
static CUresult launch_copy(CUmodule module, CUdeviceptr to, CUdeviceptr from, uint32_t count,
                            CUstream stream) {
  void *params[] = {&to, &from, &count};
  return cuLaunchKernel(get(module, "copy"), count / 64 + 1, 1, 1, 64, 1, 1, 0, stream, params, NULL);
}
static void check_values(CUdeviceptr at, uint32_t value, int count) {
  uint32_t out[N];
  OK(cuMemcpyDtoH_v2(out, at, (size_t)count * 4));
  for (int i = 0; i < count; i++) NEED(out[i] == value);
}

/* ---- right use -------------------------------------------------------------------------------------- */

static void kernels_body(void) {
  test_open(0);
  CUmodule module = load_module();
  CUstream stream = test_stream();
  CUdeviceptr a = test_alloc(4 * N), b = test_alloc(4 * N), variable;
  size_t bytes;
  OK(launch_fill(module, a, 5, N, stream));
  OK(launch_copy(module, b, a, N - 3, stream));
  OK(cuStreamSynchronize(stream));
  check_values(b, 5, N - 3);
  OK(cuModuleGetGlobal_v2(&variable, &bytes, module, "offset"));
  NEED(bytes == 4);
  void *params[] = {&a};
  OK(cuLaunchKernel(get(module, "table"), 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
  OK(cuStreamSynchronize(stream));
  check_values(a, 45, 1);
  check_values(variable, 40, 1);
  OK(cuMemFree_v2(a));
  OK(cuMemFree_v2(b));
  OK(cuModuleUnload(module));
  OK(cuStreamDestroy_v2(stream));
  test_close(0);
}
TEST(kernels) {
  GOOD(kernels_body, NULL);
  GOOD(kernels_body, "LGT_FAKE_CUDA_SEED=99");
}

/* Pinned memory of the host, and parameters that are read at the call. */
static void pinned_body(void) {
  test_open(0);
  CUmodule module = load_module();
  CUstream stream = test_stream();
  CUdeviceptr a = test_alloc(4 * N);
  uint32_t *pinned = test_pinned(4 * N), value = 8;
  for (int i = 0; i < N; i++) pinned[i] = 9;
  void *params[] = {&a, &value};
  OK(cuLaunchKernel(get(module, "fill"), N / 32, 1, 1, 32, 1, 1, 0, stream, params, NULL));
  value = 100;
  OK(launch_copy(module, (CUdeviceptr)pinned, a, N / 2, stream));
  OK(launch_copy(module, a, (CUdeviceptr)(pinned + N / 2), 1, stream));
  OK(cuStreamSynchronize(stream));
  for (int i = 0; i < N; i++) NEED(pinned[i] == (i < N / 2 ? 8 : 9));
  check_values(a, 9, 1);
  OK(cuMemFree_v2(a));
  OK(cuMemFreeHost(pinned));
  OK(cuModuleUnload(module));
  OK(cuStreamDestroy_v2(stream));
  test_close(0);
}
TEST(pinned_and_parameters) { GOOD(pinned_body, NULL); }

static void no_kernels_body(void) {
  test_open(0);
  CUmodule module = load_module();
  CUdeviceptr a = test_alloc(4 * N);
  OK(cuMemsetD32Async(a, 1, N, NULL));
  OK(launch_fill(module, a, 5, N, NULL));
  check_values(a, 1, N);
  OK(cuMemFree_v2(a));
  OK(cuModuleUnload(module));
  test_close(0);
}
TEST(kernels_that_do_nothing) { GOOD(no_kernels_body, "LGT_FAKE_CUDA_KERNELS=0"); }

/* ---- sizes ------------------------------------------------------------------------------------------ */

static void sizes_body(void) {
  test_open(0);
  CUmodule module = load_module();
  CUfunction big = get(module, "big"), fill = get(module, "fill"), none;
  CUdeviceptr a = test_alloc(4 * N);
  uint32_t value = 1;
  void *params[] = {&a, &value}, *missing[] = {&a, NULL};
  int got;
  IS(cuModuleGetFunction(&none, module, "nothing"), CUDA_ERROR_NOT_FOUND);
  OK(cuFuncGetAttribute(&got, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, big));
  NEED(got == 64);
  IS(cuLaunchKernel(big, 1, 1, 1, 65, 1, 1, 4, NULL, params, NULL), CUDA_ERROR_INVALID_VALUE);
  IS(cuLaunchKernel(fill, 1, 1, 1, 1025, 1, 1, 0, NULL, params, NULL), CUDA_ERROR_INVALID_VALUE);
  IS(cuLaunchKernel(fill, 1, 65536, 1, 1, 1, 1, 0, NULL, params, NULL), CUDA_ERROR_INVALID_VALUE);
  IS(cuLaunchKernel(fill, 1, 0, 1, 1, 1, 1, 0, NULL, params, NULL), CUDA_ERROR_INVALID_VALUE);
  IS(cuLaunchKernel(fill, 1, 1, 1, 1, 1, 1, 0, NULL, missing, NULL), CUDA_ERROR_INVALID_VALUE);
  IS(cuLaunchKernel(fill, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
  IS(cuLaunchKernel(big, 1, 1, 1, 1, 1, 1, 50000, NULL, params, NULL), CUDA_ERROR_INVALID_VALUE);
  OK(cuFuncSetAttribute(big, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000));
  OK(cuLaunchKernel(big, 1, 1, 1, 1, 1, 1, 50000, NULL, params, NULL));
  IS(cuFuncSetAttribute(big, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 200000),
     CUDA_ERROR_INVALID_VALUE);
  OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&got, fill, 256, 0));
  NEED(got == 8);
  OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&got, big, 64, 80000));
  NEED(got == 2);
  OK(cuLaunchCooperativeKernel(fill, 16, 1, 1, 32, 1, 1, 0, NULL, params));
  IS(cuLaunchCooperativeKernel(fill, 17, 1, 1, 1024, 1, 1, 0, NULL, params),
     CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  OK(cuCtxSynchronize());
  OK(cuMemFree_v2(a));
  OK(cuModuleUnload(module));
  test_close(0);
}
TEST(sizes) { GOOD(sizes_body, NULL); }

/* ---- order ------------------------------------------------------------------------------------------ */

/* Kernels of two streams: the second begins `apart` elements behind the begin of the first's N / 2. */
static void two_kernels(unsigned apart, bool event) {
  test_open(0);
  CUmodule module = load_module();
  CUstream one = test_stream(), two = test_stream();
  CUevent edge = test_event();
  CUdeviceptr a = test_alloc(4 * N);
  OK(launch_fill(module, a, 1, N / 2, one));
  OK(cuEventRecord(edge, one));
  if (event) OK(cuStreamWaitEvent(two, edge, 0));
  OK(launch_fill(module, a + 4 * apart, 2, N / 2, two));
  cuCtxSynchronize();
  cuMemFree_v2(a);
  cuModuleUnload(module);
  cuEventDestroy_v2(edge);
  cuStreamDestroy_v2(one);
  cuStreamDestroy_v2(two);
  test_close(0);
}
static void kernels_apart(void) { two_kernels(N / 2, false); }
static void kernels_ordered(void) { two_kernels(N / 2 - 1, true); }
static void kernels_race(void) { two_kernels(N / 2 - 1, false); }
TEST(kernels_of_two_streams) {
  for (int seed = 1; seed <= 5; seed++) {
    char setting[64];
    snprintf(setting, sizeof setting, "LGT_FAKE_CUDA_SEED=%d", seed);
    GOOD(kernels_apart, setting);
    GOOD(kernels_ordered, setting);
    BAD(kernels_race, "cuLaunchKernel of call", setting);
    CHECK_HAS(test_said, "writes bytes 2044 to 2048");
  }
}

/* A copy in another stream reads what a kernel writes, or writes what it reads. */
static void kernel_and_copy(bool reads) {
  test_open(0);
  CUmodule module = load_module();
  CUstream one = test_stream(), two = test_stream();
  CUdeviceptr a = test_alloc(4 * N), b = test_alloc(4 * N), c = test_alloc(4 * N);
  OK(cuMemsetD8Async(b, 1, 4 * N, one));
  OK(cuStreamSynchronize(one));
  OK(launch_copy(module, a, b, N, one));
  if (reads) cuMemcpyDtoDAsync_v2(c, a, 4 * N, two);
  else cuMemsetD8Async(b, 2, 4 * N, two);
  IS(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}
static void copy_reads(void) { kernel_and_copy(true); }
static void fill_writes(void) { kernel_and_copy(false); }
TEST(kernels_and_copies) {
  BAD(copy_reads, "nothing orders them", NULL);
  BAD(fill_writes, "nothing orders them", NULL);
}

/* ---- kernels with mistakes -------------------------------------------------------------------------- */

static void beyond_body(void) {
  test_open(0);
  CUmodule module = load_module();
  CUdeviceptr a = test_alloc(4 * N);
  OK(launch_fill(module, a + 4, 1, N, NULL));
  IS(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  IS(cuMemFree_v2(a), CUDA_ERROR_ILLEGAL_ADDRESS);
}
static void freed_body(void) {
  test_open(0);
  CUmodule module = load_module();
  CUdeviceptr a = test_alloc(4 * N);
  OK(cuMemFree_v2(a));
  test_alloc(4 * N);
  OK(launch_fill(module, a, 1, N, NULL));
  IS(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}
static void odd_body(void) {
  test_open(0);
  CUmodule module = load_module();
  CUdeviceptr a = test_alloc(4 * N);
  void *params[] = {&a};
  OK(cuLaunchKernel(get(module, "off"), 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
  IS(cuCtxSynchronize(), CUDA_ERROR_MISALIGNED_ADDRESS);
}
static void unwritten_body(void) {
  test_open(0);
  CUmodule module = load_module();
  CUdeviceptr a = test_alloc(4 * N), b = test_alloc(4 * N);
  OK(launch_copy(module, a, b, N, NULL));
  CUresult got = cuCtxSynchronize();
  cuMemFree_v2(a);
  cuMemFree_v2(b);
  cuModuleUnload(module);
  test_close(0);
  NEED(got == CUDA_SUCCESS || got == CUDA_ERROR_LAUNCH_FAILED);
}
static void copied_unwritten_body(void) {
  test_open(0);
  CUmodule module = load_module();
  CUdeviceptr a = test_alloc(4 * N), b = test_alloc(4 * N);
  OK(cuMemcpyDtoDAsync_v2(b, a, 4 * N, NULL)); /* which is no mistake by itself */
  OK(launch_copy(module, a, b, N, NULL));
  IS(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
}
static void host_memory_body(void) {
  test_open(0);
  CUmodule module = load_module();
  char *mine = malloc(4 * N);
  OK(launch_fill(module, (CUdeviceptr)mine, 1, N, NULL));
  IS(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}
TEST(kernels_with_mistakes) {
  BAD(beyond_body, "cuLaunchKernel of call", NULL);
  BAD(freed_body, "of what call", NULL);
  BAD(odd_body, "align", NULL);
  BAD(unwritten_body, "never written", NULL);
  BAD(copied_unwritten_body, "never written", NULL);
  GOOD(unwritten_body, "LGT_FAKE_CUDA_UNWRITTEN=0");
  BAD(host_memory_body, "where nothing is", NULL);
}

static void unloaded_body(void) {
  test_open(0);
  CUmodule module = load_module();
  CUfunction fill = get(module, "fill");
  CUdeviceptr a = test_alloc(4 * N);
  uint32_t value = 1;
  void *params[] = {&a, &value};
  OK(cuModuleUnload(module));
  IS(cuLaunchKernel(fill, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL), CUDA_ERROR_INVALID_HANDLE);
}
static void other_context_body(void) {
  CUcontext one = test_open(1);
  CUstream stream = test_stream();
  (void)one;
  test_open(0);
  CUmodule module = load_module();
  CUdeviceptr a = test_alloc(4 * N);
  IS(launch_fill(module, a, 1, N, stream), CUDA_ERROR_INVALID_HANDLE);
}
TEST(wrong_handles) {
  BAD(unloaded_body, "the function was destroyed", NULL);
  BAD(other_context_body, "the stream is of another context", "LGT_FAKE_CUDA_DEVICES=2");
}

/* ---- several devices -------------------------------------------------------------------------------- */

static void peer_kernel(bool allowed) {
  CUcontext one = test_open(1), zero;
  CUdeviceptr a = test_alloc(4 * N);
  zero = test_open(0);
  CUmodule module = load_module();
  if (allowed) OK(cuCtxEnablePeerAccess(one, 0));
  OK(launch_fill(module, a, 7, N, NULL));
  CUresult got = cuCtxSynchronize();
  NEED(got == (allowed ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_ADDRESS));
  if (allowed) check_values(a, 7, N);
  cuModuleUnload(module);
  cuCtxSetCurrent(one);
  OK(cuMemFree_v2(a));
  cuCtxSetCurrent(zero);
  test_close(0);
  test_close(1);
}
static void peer_allowed(void) { peer_kernel(true); }
static void peer_forbidden(void) { peer_kernel(false); }
TEST(kernels_and_peers) {
  GOOD(peer_allowed, "LGT_FAKE_CUDA_DEVICES=2");
  BAD(peer_forbidden, "no access to", "LGT_FAKE_CUDA_DEVICES=2");
}

/* ---- loading and linking ---------------------------------------------------------------------------- */

static void bad_text_body(void) {
  char log[200] = "";
  CUmodule module;
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, (void *)sizeof log};
  test_open(0);
  const char *head =
      ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry f()\n{\n\tnonsense;\n}\n";
  IS(cuModuleLoadDataEx(&module, head, 2, options, values), CUDA_ERROR_INVALID_PTX);
  NEED(strstr(log, "nonsense"));
  IS(cuModuleLoadDataEx(&module, "hello", 2, options, values), CUDA_ERROR_INVALID_IMAGE);
  IS(cuModuleLoadDataEx(&module, ".version 7.0\n.target sm_90\n", 2, options, values),
     CUDA_ERROR_NO_BINARY_FOR_GPU);
  IS(cuModuleLoadDataEx(&module, ".version 9.1\n.target sm_80\n", 2, options, values),
     CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  test_close(0);
}
TEST(bad_texts) { GOOD(bad_text_body, NULL); }

static char cubin_path[] = "/tmp/lgt-cubin-XXXXXX";

static void link_body(void) {
  test_open(0);
  CUlinkState link;
  void *image;
  size_t bytes;
  OK(cuLinkCreate_v2(0, NULL, NULL, &link));
  IS(cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, (void *)ptx, sizeof ptx - 1, "ptx", 0, NULL, NULL),
     CUDA_ERROR_INVALID_PTX);
  OK(cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, (void *)ptx, sizeof ptx, "ptx", 0, NULL, NULL));
  OK(cuLinkComplete(link, &image, &bytes));
  FILE *file = fopen(cubin_path, "w");
  NEED(fwrite(image, 1, bytes, file) == bytes);
  fclose(file);
  OK(cuLinkDestroy(link));
  test_close(0);
}

static CUresult load_cubin(size_t change) {
  static char image[1 << 16];
  CUmodule module;
  FILE *file = fopen(cubin_path, "r");
  size_t bytes = fread(image, 1, sizeof image, file);
  fclose(file);
  if (change) image[bytes - change] ^= 1;
  test_open(0);
  CUresult got = cuModuleLoadDataEx(&module, image, 0, NULL, NULL);
  if (!got) {
    CUdeviceptr a = test_alloc(4 * N);
    OK(launch_fill(module, a, 3, N, NULL));
    check_values(a, 3, N);
    OK(cuMemFree_v2(a));
    OK(cuModuleUnload(module));
  }
  test_close(0);
  return got;
}
static void cubin_body(void) { OK(load_cubin(0)); }
static void cubin_of_another_body(void) { IS(load_cubin(0), CUDA_ERROR_NO_BINARY_FOR_GPU); }
static void cubin_changed_body(void) { IS(load_cubin(50), CUDA_ERROR_INVALID_IMAGE); }
TEST(cubins) {
  int file = mkstemp(cubin_path);
  CHECK(file >= 0);
  close(file);
  GOOD(link_body, NULL);
  GOOD(cubin_body, NULL);
  GOOD(cubin_of_another_body, "LGT_FAKE_CUDA_CHIP=90");
  GOOD(cubin_of_another_body, "LGT_FAKE_CUDA_DRIVER=12040");
  GOOD(cubin_changed_body, NULL);
  unlink(cubin_path);
}

int main(void) {
  RUN(kernels);
  RUN(pinned_and_parameters);
  RUN(kernels_that_do_nothing);
  RUN(sizes);
  RUN(kernels_of_two_streams);
  RUN(kernels_and_copies);
  RUN(kernels_with_mistakes);
  RUN(wrong_handles);
  RUN(kernels_and_peers);
  RUN(bad_texts);
  RUN(cubins);
  return check_done();
}
