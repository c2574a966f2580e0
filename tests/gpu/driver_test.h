/* driver_test.h - for the tests of the emulated driver: each case is a process of its own, with its own environment.
 *
 *   TEST(name) { GOOD(body, "LGT_FAKE_CUDA_DEVICES=2", NULL) }     body must end well, and the driver must report nothing
 *   TEST(name) { BAD(body, "words of the report", NULL) }          the driver must report, and the exit status is its own
 *
 * In a body NEED(...) ends the process with a message if its condition does not hold.
 */
#ifndef LGT_DRIVER_TEST_H
#define LGT_DRIVER_TEST_H

#include "check.h"
#include "cuda_driver.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define LGT_DECLARE(name, since, arguments) CUresult name arguments;
LGT_CUDA_FUNCTIONS(LGT_DECLARE)

#define NEED(condition)                                               \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      _exit(1);                                                       \
    }                                                                 \
  } while (0)
#define OK(call)                                                            \
  do {                                                                      \
    CUresult ok_ = (call);                                                  \
    if (ok_) {                                                              \
      fprintf(stderr, "%s:%d: %s is %d\n", __FILE__, __LINE__, #call, ok_); \
      _exit(1);                                                             \
    }                                                                       \
  } while (0)
#define IS(call, expected)                                                                     \
  do {                                                                                         \
    CUresult is_ = (call);                                                                     \
    if (is_ != (expected)) {                                                                   \
      fprintf(stderr, "%s:%d: %s is %d, not %s\n", __FILE__, __LINE__, #call, is_, #expected); \
      _exit(1);                                                                                \
    }                                                                                          \
  } while (0)

enum { REPORTED = 97 };

static char test_said[8192];

/* The wait status of a process that does this; what it says on stderr is in test_said. */
static int test_run(void (*body)(void), const char *const *settings) {
  int ends[2];
  fflush(NULL);
  if (pipe(ends)) return -1;
  pid_t child = fork();
  if (!child) {
    dup2(ends[1], 2);
    close(ends[0]);
    close(ends[1]);
    setenv("LGT_FAKE_CUDA_STRICT", "1", 1);
    for (; settings && *settings; settings++) putenv((char *)*settings);
    body();
    exit(0);
  }
  close(ends[1]);
  size_t length = 0;
  for (ssize_t n; length < sizeof test_said - 1; length += (size_t)n) {
    n = read(ends[0], test_said + length, sizeof test_said - 1 - length);
    if (n <= 0) break;
  }
  test_said[length] = 0;
  close(ends[0]);
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

#define GOOD(body, ...)                                                              \
  do {                                                                               \
    int status_ = test_run(body, (const char *const[]){__VA_ARGS__, NULL});          \
    if (status_) FAIL("%s ends with 0x%x: %s", #body, (unsigned)status_, test_said); \
  } while (0)
#define BAD(body, words, ...)                                               \
  do {                                                                      \
    int status_ = test_run(body, (const char *const[]){__VA_ARGS__, NULL}); \
    if (!WIFEXITED(status_) || WEXITSTATUS(status_) != REPORTED)            \
      FAIL("%s ends with 0x%x: %s", #body, (unsigned)status_, test_said);   \
    CHECK_HAS(test_said, words);                                            \
  } while (0)

/* A device with its context. */
static CUcontext test_open(int device) {
  CUcontext context;
  OK(cuInit(0));
  OK(cuDevicePrimaryCtxRetain(&context, device));
  OK(cuCtxSetCurrent(context));
  return context;
}
static void test_close(int device) { OK(cuDevicePrimaryCtxRelease_v2(device)); }

static CUstream test_stream(void) {
  CUstream stream;
  OK(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0));
  return stream;
}
__attribute__((unused)) static CUevent test_event(void) {
  CUevent event;
  OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  return event;
}
static CUdeviceptr test_alloc(size_t bytes) {
  CUdeviceptr block;
  OK(cuMemAlloc_v2(&block, bytes));
  return block;
}
__attribute__((unused)) static void *test_pinned(size_t bytes) {
  void *block;
  OK(cuMemHostAlloc(&block, bytes, 0));
  return block;
}

#endif
