/* test_share.c - memory of a GPU between lgt, by lgt.h alone, and another library, for which the driver itself stands. */
#include "check.h"
#include "cuda_driver.h"
#include "lgt.h"

#include <pthread.h>

#define DECLARED(name, since, arguments) CUresult name arguments;
LGT_CUDA_FUNCTIONS(DECLARED)

enum { N = 500 };
static const int64_t COUNT = N;
static double block[N];
static int released;

static void on_release(void *context) { released += context == &released; }

static lgt_runtime *open_runtime(const char *gpus) {
  lgt_config *config;
  lgt_runtime *rt = NULL;
  if (lgt_config_new(&config)) return NULL;
  if (!lgt_config_set(config, "gpus", gpus) && !lgt_config_set(config, "cpus", "1") && lgt_open(config, &rt))
    printf("# %s\n", lgt_message());
  lgt_config_free(config);
  return rt;
}

/* An array of 0, 1, 2, ... */
static lgt_id counted(lgt_runtime *rt) {
  lgt_id x = lgt_array_new(rt, LGT_FLOAT64, 1, &COUNT);
  for (int i = 0; i < N; i++) block[i] = i;
  return x && !lgt_array_copy_in(rt, x, block) ? x : 0;
}

static void *free_shared(void *shared) {
  lgt_shared_free(shared);
  return NULL;
}

TEST(what_is_given_outlives_the_runtime) {
  lgt_runtime *rt = open_runtime("1");
  lgt_shared *shared = NULL;
  CUcontext context;
  CHECK(rt);
  lgt_id x = counted(rt);
  CHECK(x && !lgt_array_share(rt, x, LGT_MEMORY_CUDA, &shared));
  CHECK_EQ(shared->device, 0);
  for (int i = 0; i < N; i++) block[i] = -1;
  CHECK(!lgt_array_copy_in(rt, x, block)); /* it is a copy */
  lgt_close(rt);
  CHECK(!cuDevicePrimaryCtxRetain(&context, 0) && !cuCtxSetCurrent(context));
  CHECK(!cuMemcpyDtoHAsync_v2(block, (CUdeviceptr)(uintptr_t)shared->data, sizeof block, NULL));
  CHECK(!cuCtxSynchronize());
  for (int i = 0; i < N; i++) CHECK_EQ(block[i], i);
  pthread_t thread;
  CHECK(!pthread_create(&thread, NULL, free_shared, shared) && !pthread_join(thread, NULL));
  cuDevicePrimaryCtxRelease_v2(0);
}

TEST(what_is_attached_comes_back) {
  lgt_runtime *rt = open_runtime("1");
  CUcontext context;
  CUdeviceptr address;
  CHECK(rt);
  CHECK(!cuDevicePrimaryCtxRetain(&context, 0) && !cuCtxSetCurrent(context));
  for (int i = 0; i < N; i++) block[i] = 2 * i;
  CHECK(!cuMemAlloc_v2(&address, sizeof block));
  CHECK(!cuMemcpyHtoDAsync_v2(address, block, sizeof block, NULL));
  lgt_id x = lgt_array_attach(rt, LGT_FLOAT64, 1, &COUNT, LGT_MEMORY_CUDA, (void *)(uintptr_t)address,
                              on_release, &released);
  CHECK(x);
  int64_t index = 7;
  lgt_scalar element;
  CHECK(!lgt_array_element(rt, x, &index, &element) && element.f == 14);
  for (int i = 0; i < N; i++) block[i] = 3 * i;
  CHECK(!lgt_array_copy_in(rt, x, block)); /* to the host's memory */
  CHECK_EQ(released, 0);
  CHECK(!lgt_array_detach(rt, x));
  CHECK_EQ(released, 1);
  CHECK(!cuCtxSetCurrent(context));
  for (int i = 0; i < N; i++) block[i] = 0;
  CHECK(!cuMemcpyDtoHAsync_v2(block, address, sizeof block, NULL) && !cuCtxSynchronize());
  for (int i = 0; i < N; i++) CHECK_EQ(block[i], 3 * i);
  lgt_close(rt);
  CHECK(!cuCtxSetCurrent(context) && !cuMemFree_v2(address));
  cuDevicePrimaryCtxRelease_v2(0);
}

TEST(what_cannot_be_shared) {
  lgt_runtime *rt = open_runtime("none");
  lgt_shared *shared = NULL;
  CHECK(rt);
  lgt_id x = counted(rt);
  CHECK_EQ(lgt_array_share(rt, x, LGT_MEMORY_CUDA, &shared), LGT_UNSUPPORTED);
  CHECK(strstr(lgt_message(), "--gpus 1"));
  CHECK_EQ(lgt_array_attach(rt, LGT_FLOAT64, 1, &COUNT, LGT_MEMORY_CUDA, block, NULL, NULL), 0);
  CHECK(strstr(lgt_message(), "--gpus 1"));
  CHECK_EQ(lgt_array_share(rt, x, LGT_MEMORY_HOST, &shared), LGT_BAD_ARGUMENT);
  lgt_close(rt);
  rt = open_runtime("1");
  x = counted(rt);
  lgt_id view = lgt_array_slice(rt, x, 0, 1, 10, 1);
  CHECK_EQ(lgt_array_share(rt, view, LGT_MEMORY_CUDA, &shared), LGT_BAD_ARGUMENT);
  CHECK(strstr(lgt_message(), "copied first"));
  lgt_close(rt);
}

int main(void) {
  RUN(what_is_given_outlives_the_runtime);
  RUN(what_is_attached_comes_back);
  RUN(what_cannot_be_shared);
  return check_done();
}
