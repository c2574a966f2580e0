/* driver.c - see driver.h. */
#include "driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OLDEST = 11040 }; /* CUDA 11.4: driver 470 */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects what follows */
static lgt_cuda cuda;
static void *library; /* NULL: not loaded yet */
static pid_t owner;   /* the process that initialised the driver; 0: none did */

/* Of CUDA 12.4, say. */
static const char *version_text(int version, char text[24]) {
  snprintf(text, 24, "%d.%d", version / 1000, version % 1000 / 10);
  return text;
}

static lgt_status load_library(void) {
  if (library) return LGT_OK;
  library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library) return LGT_OK;
  const char *why = dlerror();
  if (why && strstr(why, "No such file"))
    return lgt_err(LGT_UNSUPPORTED,
                   "libcuda.so.1 was not found: NVIDIA's driver is not installed, or not "
                   "where libraries are looked for (LD_LIBRARY_PATH)");
  return lgt_err(LGT_UNSUPPORTED, "NVIDIA's driver cannot be loaded: %s", why ? why : "unknown error");
}

/* The version first: an older driver lacks functions. */
static lgt_status find_functions(void) {
  static const struct {
    const char *name;
    size_t offset;
  } functions[] = {
#define X(name, since, arguments) {#name, offsetof(lgt_cuda, name)},
      LGT_CUDA_FUNCTIONS(X)
#undef X
  };
  char text[24];
  CUresult (*version)(int *) = (CUresult(*)(int *))dlsym(library, "cuDriverGetVersion");
  if (!version)
    return lgt_err(LGT_UNSUPPORTED, "libcuda.so.1 has no cuDriverGetVersion: it is not NVIDIA's driver");
  if (version(&cuda.version)) cuda.version = 0;
  if (cuda.version < OLDEST)
    return lgt_err(
        LGT_UNSUPPORTED,
        "NVIDIA's driver supports CUDA %s, and lgt needs 11.4 at least: install driver 470 or a newer one",
        version_text(cuda.version, text));
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    void *found = dlsym(library, functions[i].name);
    if (!found)
      return lgt_err(LGT_UNSUPPORTED, "libcuda.so.1 has no %s: it is not NVIDIA's driver for CUDA %s",
                     functions[i].name, version_text(cuda.version, text));
    memcpy((char *)&cuda + functions[i].offset, &found, sizeof found);
  }
  return LGT_OK;
}

static lgt_status no_device(void) {
  const char *visible = getenv("CUDA_VISIBLE_DEVICES");
  if (visible)
    return lgt_err(LGT_UNSUPPORTED,
                   "no GPU is visible: CUDA_VISIBLE_DEVICES is \"%s\", which names none of "
                   "this machine's; unset it, or see `nvidia-smi -L`",
                   visible);
  return lgt_err(LGT_UNSUPPORTED, "the driver finds no GPU on this machine");
}

/* What a user can do about an error of cuInit. */
static lgt_status explain_init(CUresult result) {
  const char *advice = NULL;
  switch (result) {
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_INVALID_DEVICE:
      return no_device();
    case CUDA_ERROR_STUB_LIBRARY:
      advice = "libcuda.so.1 is the stub of a toolkit: take its folder out of LD_LIBRARY_PATH";
      break;
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
      advice = "libcuda.so.1 and the kernel's module are of different releases: restart the machine";
      break;
    case CUDA_ERROR_SYSTEM_NOT_READY:
      advice = "a service that the GPUs need does not run (nvidia-fabricmanager)";
      break;
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
      advice = "this GPU does not work with the compatibility libraries: install a newer driver";
      break;
    case CUDA_ERROR_UNKNOWN:
      advice = "after a suspend `modprobe -r nvidia_uvm; modprobe nvidia_uvm` helps";
      break;
    default:
      break;
  }
  lgt_status status = lgt_cuda_check(result, "cuInit");
  return advice ? lgt_err(LGT_UNSUPPORTED, "%s; %s", lgt_message(), advice) : status;
}

static lgt_status initialise(void) {
  if (owner == getpid()) return LGT_OK;
  if (owner)
    return lgt_err(LGT_UNSUPPORTED,
                   "process %d initialised CUDA before it forked this one, which cannot use GPUs",
                   (int)owner);
  lgt_status status = load_library();
  if (!status) status = find_functions();
  if (status) return status;
  CUresult result = cuda.cuInit(0);
  if (result) return explain_init(result);
  if ((result = cuda.cuDeviceGetCount(&cuda.devices))) return lgt_cuda_check(result, "cuDeviceGetCount");
  if (!cuda.devices) return no_device();
  owner = getpid();
  return LGT_OK;
}

const lgt_cuda *lgt_cuda_load(void) {
  pthread_mutex_lock(&lock);
  lgt_status status = initialise();
  pthread_mutex_unlock(&lock);
  return status ? NULL : &cuda;
}

/* After some errors every call fails for the rest of the process: those of kernels, and of hardware. */
static lgt_status status_of(CUresult result) {
  switch (result) {
    case CUDA_ERROR_OUT_OF_MEMORY:
      return LGT_NO_MEMORY;
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
      return LGT_DEVICE_LOST;
    default:
      return LGT_TASK_FAILED;
  }
}

lgt_status lgt_cuda_check(CUresult result, const char *what) {
  const char *name = NULL, *text = NULL;
  if (!result) return LGT_OK;
  if (cuda.cuGetErrorName && cuda.cuGetErrorName(result, &name)) name = NULL;
  if (cuda.cuGetErrorString && cuda.cuGetErrorString(result, &text)) text = NULL;
  int length = (int)strcspn(what, "(");
  return lgt_err(status_of(result), "the GPU's driver: %.*s: %s (%s)", length, what,
                 name ? name : "an unknown error", text ? text : "no description");
}

static lgt_status describe_device(int number, char *text, size_t room) {
  CUdevice device;
  size_t bytes;
  int major, minor;
  char name[64];
  lgt_status status = LGT_CUDA(&cuda, cuDeviceGet(&device, number));
  if (!status) status = LGT_CUDA(&cuda, cuDeviceGetName(name, sizeof name, device));
  if (!status) status = LGT_CUDA(&cuda, cuDeviceTotalMem_v2(&bytes, device));
  if (!status)
    status =
        LGT_CUDA(&cuda, cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  if (!status)
    status =
        LGT_CUDA(&cuda, cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
  if (status) return status;
  snprintf(text, room, "%s (%.1f GiB, compute capability %d.%d)", name, (double)bytes / (1 << 30), major,
           minor);
  return LGT_OK;
}

void lgt_cuda_describe(char *text, size_t room) {
  char version[24];
  if (!lgt_cuda_load()) {
    snprintf(text, room, "%s", lgt_message());
    return;
  }
  size_t used = (size_t)snprintf(text, room, "driver for CUDA %s; %d GPU%s",
                                 version_text(cuda.version, version), cuda.devices, lgt_plural(cuda.devices));
  for (int i = 0; i < cuda.devices && used < room; i++) {
    char one[160];
    if (describe_device(i, one, sizeof one)) snprintf(one, sizeof one, "%s", lgt_message());
    used += (size_t)snprintf(text + used, room - used, "%s%s", i ? ", " : ": ", one);
  }
}
