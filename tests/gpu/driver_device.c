/* driver_device.c - of the emulated driver: devices and contexts.  See driver.h. */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void uuid_of(int number, char bytes[16]) {
  for (int i = 0; i < 16; i++) bytes[i] = (char)(17 * i + 5);
  bytes[0] = (char)number;
}

static void uuid_text(int number, char text[48]) {
  char bytes[16];
  uuid_of(number, bytes);
  char *to = text + sprintf(text, "GPU-");
  for (int i = 0; i < 16; i++)
    to += sprintf(to, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", (unsigned char)bytes[i]);
}

/* The device that one entry of CUDA_VISIBLE_DEVICES means; -1: none. */
static int named_device(const char *entry) {
  char *end;
  char text[48];
  long n = strtol(entry, &end, 10);
  if (end != entry && !*end) return n >= 0 && n < fake.set.devices ? (int)n : -1;
  int found = -1;
  for (int d = 0; d < fake.set.devices && strlen(entry) > 4; d++) {
    uuid_text(d, text);
    if (strncmp(text, entry, strlen(entry))) continue;
    if (found >= 0) return -1;
    found = d;
  }
  return found;
}

/* As the driver does: what is not understood ends the list. */
static void find_devices(void) {
  const char *visible = getenv("CUDA_VISIBLE_DEVICES");
  fake.devices = 0;
  if (!visible) {
    while (fake.devices < fake.set.devices) {
      fake.device[fake.devices].number = fake.devices;
      fake.devices++;
    }
    return;
  }
  char list[512];
  snprintf(list, sizeof list, "%s", visible);
  char *rest = NULL;
  for (char *entry = strtok_r(list, ",", &rest); entry; entry = strtok_r(NULL, ",", &rest)) {
    int d = named_device(entry);
    for (int i = 0; i < fake.devices; i++)
      if (fake.device[i].number == d) d = -1;
    if (d < 0) break;
    fake.device[fake.devices++].number = d;
  }
}

static void forked(void) { fake.forked = true; }

CUresult cuInit(unsigned flags) {
  ENTER(NOTHING);
  if (fake.pid) LEAVE(flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS);
  fake_read_settings();
  LEAVE_IF(flags, CUDA_ERROR_INVALID_VALUE);
  LEAVE_IF(fake.set.init, (CUresult)fake.set.init);
  find_devices();
  LEAVE_IF(!fake.devices, CUDA_ERROR_NO_DEVICE);
  fake.pid = getpid();
  pthread_atfork(NULL, NULL, forked);
  LEAVE(CUDA_SUCCESS);
}

CUresult cuDriverGetVersion(int *version) {
  if (!version) return CUDA_ERROR_INVALID_VALUE;
  if (!fake.pid) fake_read_settings();
  *version = fake.set.driver;
  return CUDA_SUCCESS;
}

/* ---- devices ---------------------------------------------------------------------------------------- */

static bool is_device(CUdevice device) { return device >= 0 && device < fake.devices; }

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  ENTER(INIT);
  LEAVE_IF(!device, CUDA_ERROR_INVALID_VALUE);
  LEAVE_IF(!is_device(ordinal), CUDA_ERROR_INVALID_DEVICE);
  *device = ordinal;
  LEAVE(CUDA_SUCCESS);
}

CUresult cuDeviceGetCount(int *count) {
  ENTER(INIT);
  LEAVE_IF(!count, CUDA_ERROR_INVALID_VALUE);
  *count = fake.devices;
  LEAVE(CUDA_SUCCESS);
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
  ENTER(INIT);
  LEAVE_IF(!name || length <= 0, CUDA_ERROR_INVALID_VALUE);
  LEAVE_IF(!is_device(device), CUDA_ERROR_INVALID_DEVICE);
  snprintf(name, (size_t)length, "Emulated device %d", fake.device[device].number);
  LEAVE(CUDA_SUCCESS);
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device) {
  ENTER(INIT);
  LEAVE_IF(!uuid, CUDA_ERROR_INVALID_VALUE);
  LEAVE_IF(!is_device(device), CUDA_ERROR_INVALID_DEVICE);
  uuid_of(fake.device[device].number, uuid->bytes);
  LEAVE(CUDA_SUCCESS);
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
  ENTER(INIT);
  LEAVE_IF(!bytes, CUDA_ERROR_INVALID_VALUE);
  LEAVE_IF(!is_device(device), CUDA_ERROR_INVALID_DEVICE);
  *bytes = fake.set.memory;
  LEAVE(CUDA_SUCCESS);
}

CUresult cuDeviceGetPCIBusId(char *id, int length, CUdevice device) {
  ENTER(INIT);
  LEAVE_IF(!id || length < 13, CUDA_ERROR_INVALID_VALUE);
  LEAVE_IF(!is_device(device), CUDA_ERROR_INVALID_DEVICE);
  snprintf(id, (size_t)length, "0000:%02X:00.0", 0x10 + fake.device[device].number);
  LEAVE(CUDA_SUCCESS);
}

/* What does not depend on the device; -1: not known here. */
static int attribute_of_all(CUdevice_attribute attribute) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
      return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
      return 64;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
    case CU_DEVICE_ATTRIBUTE_MAX_PITCH:
      return 0x7fffffff;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
      return 65535;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
      return 48 << 10;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
      return 163 << 10;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
      return 164 << 10;
    case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:
      return 1 << 10;
    case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY:
      return 64 << 10;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
      return 32;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
      return 65536;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
      return 1410000;
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
      return 1215000;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
      return 5120;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
      return 40 << 20;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
      return 2048;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
      return 32;
    case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT:
      return 3;
    case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
    case CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
      return 1;
    case CU_DEVICE_ATTRIBUTE_INTEGRATED:
    case CU_DEVICE_ATTRIBUTE_COMPUTE_MODE:
    case CU_DEVICE_ATTRIBUTE_ECC_ENABLED:
    case CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID:
    case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID:
    case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
      return 0;
    default:
      return -1;
  }
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
  ENTER(INIT);
  fake_note("%d", (int)attribute);
  LEAVE_IF(!value, CUDA_ERROR_INVALID_VALUE);
  LEAVE_IF(!is_device(device), CUDA_ERROR_INVALID_DEVICE);
  int found;
  if (attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) found = fake.set.sms;
  else if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) found = fake.set.chip / 10;
  else if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR) found = fake.set.chip % 10;
  else if (attribute == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID) found = 0x10 + fake.device[device].number;
  else found = attribute_of_all(attribute);
  LEAVE_IF(found < 0, CUDA_ERROR_INVALID_VALUE);
  *value = found;
  LEAVE(CUDA_SUCCESS);
}

CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer) {
  ENTER(INIT);
  LEAVE_IF(!can, CUDA_ERROR_INVALID_VALUE);
  LEAVE_IF(!is_device(device) || !is_device(peer), CUDA_ERROR_INVALID_DEVICE);
  *can = device != peer && fake.set.peers;
  LEAVE(CUDA_SUCCESS);
}

/* ---- contexts --------------------------------------------------------------------------------------- */

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  ENTER(INIT);
  LEAVE_IF(!context, CUDA_ERROR_INVALID_VALUE);
  LEAVE_IF(!is_device(device), CUDA_ERROR_INVALID_DEVICE);
  fake_device *d = &fake.device[device];
  if (!d->primary) {
    d->primary = fake_handle_new(CONTEXT, sizeof *d->primary, NULL);
    d->primary->device = device;
  }
  LEAVE_IF(d->primary->error, d->primary->error);
  d->retained++;
  *context = d->primary;
  LEAVE(CUDA_SUCCESS);
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  ENTER(INIT | RELEASES);
  LEAVE_IF(!is_device(device), CUDA_ERROR_INVALID_DEVICE);
  fake_device *d = &fake.device[device];
  LEAVE_IF(!d->retained, CUDA_ERROR_INVALID_CONTEXT);
  if (--d->retained) LEAVE(CUDA_SUCCESS);
  CUcontext context = d->primary;
  fake_context_end(context);
  if (context->error) LEAVE(CUDA_SUCCESS); /* what has failed does not come back in this process */
  fake_handle_end(context);
  d->primary = NULL;
  LEAVE(CUDA_SUCCESS);
}

CUresult cuCtxSetCurrent(CUcontext context) {
  ENTER(INIT);
  CUresult bad = context ? fake_handle_check(CONTEXT, context) : CUDA_SUCCESS;
  LEAVE_IF(bad, CUDA_ERROR_INVALID_CONTEXT);
  fake_self.current = context;
  LEAVE(CUDA_SUCCESS);
}

CUresult cuCtxGetCurrent(CUcontext *context) {
  ENTER(INIT);
  LEAVE_IF(!context, CUDA_ERROR_INVALID_VALUE);
  *context = fake_self.current;
  LEAVE(CUDA_SUCCESS);
}

CUresult cuCtxGetDevice(CUdevice *device) {
  ENTER(CURRENT);
  LEAVE_IF(!device, CUDA_ERROR_INVALID_VALUE);
  *device = fake_self.current->device;
  LEAVE(CUDA_SUCCESS);
}

CUresult cuCtxSynchronize(void) {
  ENTER(CURRENT);
  fake.waits++;
  fake_context_wait(fake_self.current);
  LEAVE(fake_self.current->error);
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  ENTER(CURRENT);
  LEAVE_IF(flags, CUDA_ERROR_INVALID_VALUE);
  LEAVE_IF(fake_handle_check(CONTEXT, peer), CUDA_ERROR_INVALID_CONTEXT);
  LEAVE_IF(peer == fake_self.current, CUDA_ERROR_INVALID_DEVICE);
  LEAVE_IF(!fake.set.peers, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
  LEAVE_IF(fake_self.current->peer[peer->device], CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
  fake_self.current->peer[peer->device] = true;
  LEAVE(CUDA_SUCCESS);
}
