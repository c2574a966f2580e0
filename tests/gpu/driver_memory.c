/* driver_memory.c - of the emulated driver: functions that allocate and free.  See driver.h.
 *
 * What a pool hands out has its address at once, but is touched by the stream that allocated it, in its place there: another
 * stream must be behind that.  Freeing it touches all of it.  A pool counts its bytes in the order of the calls, and keeps
 * what was freed until somebody waits, or trims it, as the release threshold says.
 */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

uint64_t fake_device_room(int device) {
  uint64_t gone = fake.set.taken + fake.device[device].used;
  return gone < fake.set.memory ? fake.set.memory - gone : 0;
}

/* ---- the device's ----------------------------------------------------------------------------------- */

CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total) {
  ENTER(CURRENT);
  LEAVE_IF(!free_bytes || !total, CUDA_ERROR_INVALID_VALUE);
  *free_bytes = fake_device_room(fake_self.current->device);
  *total = fake.set.memory;
  LEAVE(CUDA_SUCCESS);
}

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
  ENTER(CURRENT);
  fake_note("%zu", bytes);
  LEAVE_IF(!address || !bytes, CUDA_ERROR_INVALID_VALUE);
  int device = fake_self.current->device;
  LEAVE_IF(bytes > fake.set.memory || fake_padded(bytes) > fake_device_room(device),
           CUDA_ERROR_OUT_OF_MEMORY);
  fake_block *block = fake_block_new(fake_self.current, bytes);
  LEAVE_IF(!block, CUDA_ERROR_OUT_OF_MEMORY);
  fake.device[device].used += fake_padded(bytes);
  *address = block->base;
  LEAVE(CUDA_SUCCESS);
}

/* The block that begins there and may be freed, or NULL, which is reported. */
static fake_block *to_be_freed(CUdeviceptr address, bool on_host) {
  char text[200];
  fake_block *block = fake_block_at(address);
  if (block && block->base == address && !block->freed && !block->variable && (block->device < 0) == on_host)
    return block;
  if (block && block->freed)
    fake_report(fake_self.current, CUDA_ERROR_ILLEGAL_ADDRESS, "%s: call %llu freed it", fake_self.name,
                (unsigned long long)block->died);
  else
    fake_report(NULL, CUDA_ERROR_INVALID_VALUE, "%s: %s is not the begin of a block that it frees",
                fake_self.name, fake_address_text(address, text, sizeof text));
  return NULL;
}

static void count_out(CUmemoryPool pool, uint64_t bytes) { pool->used -= fake_padded(bytes); }

CUresult cuMemFree_v2(CUdeviceptr address) {
  ENTER(CURRENT | RELEASES);
  LEAVE_IF(!address, CUDA_SUCCESS);
  fake_block *block = to_be_freed(address, false);
  LEAVE_IF(!block, CUDA_ERROR_INVALID_VALUE);
  char text[200];
  block->freed = true;
  block->died = fake.calls;
  if (!block->pool) { /* waits, as on a device */
    fake_context_wait(block->context);
    fake.device[block->device].used -= fake_padded(block->bytes);
  } else { /* does not wait there */
    fake_clock seen = fake.host;
    fake_context_wait(block->context);
    if (!fake_settled(block, &seen, text, sizeof text))
      fake_report(fake_self.current, CUDA_ERROR_ILLEGAL_ADDRESS,
                  "cuMemFree_v2 of memory of a pool, of which the host has not seen the end of %s", text);
    count_out(block->pool, block->bytes);
  }
  fake_block_kill(block);
  LEAVE(CUDA_SUCCESS);
}

/* ---- pools ------------------------------------------------------------------------------------------ */

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *props) {
  ENTER(INIT);
  LEAVE_IF(!pool || !props, CUDA_ERROR_INVALID_VALUE);
  CUmemPoolProps plain = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .handleTypes = props->handleTypes};
  bool fits = props->allocType == plain.allocType && props->location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
              !props->win32SecurityAttributes &&
              !memcmp(props->reserved, plain.reserved, sizeof plain.reserved);
  LEAVE_IF(!fits, CUDA_ERROR_INVALID_VALUE);
  LEAVE_IF(props->handleTypes || (fake.set.driver < 12020 && props->maxSize), CUDA_ERROR_NOT_SUPPORTED);
  LEAVE_IF(props->location.id < 0 || props->location.id >= fake.devices, CUDA_ERROR_INVALID_DEVICE);
  CUmemoryPool made = fake_handle_new(POOL, sizeof *made, NULL);
  made->device = props->location.id;
  made->access[made->device] = true;
  for (int r = 0; r < 3; r++) made->reuse[r] = 1;
  *pool = made;
  LEAVE(CUDA_SUCCESS);
}

/* Gives back what the pool keeps beyond so many bytes. */
static void trim(CUmemoryPool pool, uint64_t keep) {
  uint64_t left = pool->used > keep ? pool->used : keep;
  if (left >= pool->reserved) return;
  fake.device[pool->device].used -= pool->reserved - left;
  pool->reserved = left;
}

static int trimmed_device;
static void trim_at_wait(void *object) {
  CUmemoryPool pool = object;
  if (pool->device == trimmed_device) trim(pool, pool->threshold);
}

void fake_pools_trim(int device) {
  trimmed_device = device;
  fake_handle_each(POOL, NULL, trim_at_wait);
}

CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  ENTER(INIT | RELEASES);
  CUresult bad = fake_handle_check(POOL, pool);
  LEAVE_IF(bad, bad);
  if (pool->used)
    fake_report(NULL, CUDA_ERROR_INVALID_VALUE, "cuMemPoolDestroy: %llu bytes of the pool are in use",
                (unsigned long long)pool->used);
  trim(pool, 0);
  fake_handle_end(pool);
  LEAVE(CUDA_SUCCESS);
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
  ENTER(INIT);
  CUresult bad = fake_handle_check(POOL, pool);
  LEAVE_IF(bad, bad);
  LEAVE_IF(!value, CUDA_ERROR_INVALID_VALUE);
  if (attribute >= CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES &&
      attribute <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES)
    pool->reuse[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES] = *(int *)value;
  else if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) pool->threshold = *(uint64_t *)value;
  else if (attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH && !*(uint64_t *)value)
    pool->reserved_high = pool->reserved;
  else if (attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH && !*(uint64_t *)value) pool->used_high = pool->used;
  else LEAVE(CUDA_ERROR_INVALID_VALUE);
  LEAVE(CUDA_SUCCESS);
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
  ENTER(INIT);
  CUresult bad = fake_handle_check(POOL, pool);
  LEAVE_IF(bad, bad);
  LEAVE_IF(!value, CUDA_ERROR_INVALID_VALUE);
  if (attribute >= CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES &&
      attribute <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES) {
    *(int *)value = pool->reuse[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES];
    LEAVE(CUDA_SUCCESS);
  }
  uint64_t *to = value;
  if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) *to = pool->threshold;
  else if (attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) *to = pool->reserved;
  else if (attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH) *to = pool->reserved_high;
  else if (attribute == CU_MEMPOOL_ATTR_USED_MEM_CURRENT) *to = pool->used;
  else if (attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH) *to = pool->used_high;
  else LEAVE(CUDA_ERROR_INVALID_VALUE);
  LEAVE(CUDA_SUCCESS);
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep) {
  ENTER(INIT);
  CUresult bad = fake_handle_check(POOL, pool);
  LEAVE_IF(bad, bad);
  trim(pool, keep);
  LEAVE(CUDA_SUCCESS);
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *access, size_t count) {
  ENTER(INIT);
  CUresult bad = fake_handle_check(POOL, pool);
  LEAVE_IF(bad, bad);
  LEAVE_IF(!access, CUDA_ERROR_INVALID_VALUE);
  for (size_t i = 0; i < count; i++) {
    int device = access[i].location.id;
    LEAVE_IF(access[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE, CUDA_ERROR_INVALID_VALUE);
    LEAVE_IF(device < 0 || device >= fake.devices, CUDA_ERROR_INVALID_DEVICE);
    LEAVE_IF(access[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READ, CUDA_ERROR_INVALID_VALUE); /* none or both */
    LEAVE_IF(device != pool->device && !fake.set.peers, CUDA_ERROR_INVALID_DEVICE);
    LEAVE_IF(device == pool->device && !access[i].flags, CUDA_ERROR_INVALID_DEVICE);
    pool->access[device] = access[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE;
  }
  LEAVE(CUDA_SUCCESS);
}

static void run_free(fake_op *op) {
  fake_block *block = op->data;
  if (block->dead) return;
  if (!op->stream->handle.context->error) fake_touch(op, block, &(fake_run){0, block->bytes, WRITES}, 1);
  fake_block_kill(block);
}

static void release_block(fake_op *op) { fake_block_release(op->data); }

static bool count_in(CUmemoryPool pool, uint64_t bytes) {
  uint64_t need = pool->used + fake_padded(bytes);
  if (need > pool->reserved) {
    uint64_t more = need - pool->reserved;
    if (more > fake_device_room(pool->device)) return false;
    fake.device[pool->device].used += more;
    pool->reserved = need;
  }
  pool->used = need;
  if (pool->used > pool->used_high) pool->used_high = pool->used;
  if (pool->reserved > pool->reserved_high) pool->reserved_high = pool->reserved;
  return true;
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t bytes, CUmemoryPool pool, CUstream handle) {
  ENTER(CURRENT);
  fake_note("%zu", bytes);
  CUstream stream;
  CUresult bad = fake_stream_of(handle, &stream);
  if (!bad) bad = fake_handle_check(POOL, pool);
  LEAVE_IF(bad, bad);
  LEAVE_IF(!address || !bytes, CUDA_ERROR_INVALID_VALUE);
  LEAVE_IF(bytes > fake.set.memory || !count_in(pool, bytes), CUDA_ERROR_OUT_OF_MEMORY);
  CUcontext home = fake.device[pool->device].primary;
  fake_block *block = home ? fake_block_new(home, bytes) : NULL;
  if (!block) count_out(pool, bytes);
  LEAVE_IF(!block, CUDA_ERROR_OUT_OF_MEMORY);
  block->pool = pool;
  fake_put(stream, &(fake_op){.always = true});
  /* The mark of its begin is there before anything can come to it. */
  fake_op birth = {.name = fake_self.name, .call = fake.calls, .stream = stream, .clock = stream->clock};
  fake_touch(&birth, block, &(fake_run){0, bytes, WRITES}, 1);
  *address = block->base;
  LEAVE(CUDA_SUCCESS);
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream handle) {
  ENTER(CURRENT | RELEASES);
  CUstream stream;
  CUresult bad = fake_stream_of(handle, &stream);
  fake_block *block = to_be_freed(address, false);
  LEAVE_IF(!block, CUDA_ERROR_INVALID_VALUE);
  LEAVE_IF(bad == CUDA_ERROR_INVALID_HANDLE || !block->pool, CUDA_ERROR_INVALID_VALUE);
  block->freed = true;
  block->died = fake.calls;
  block->refs++;
  count_out(block->pool, block->bytes);
  fake_put(stream, &(fake_op){.always = true, .run = run_free, .end = release_block, .data = block});
  LEAVE(bad);
}

/* ---- the host's ------------------------------------------------------------------------------------- */

CUresult cuMemHostAlloc(void **block, size_t bytes, unsigned flags) {
  ENTER(CURRENT);
  fake_note("%zu", bytes);
  unsigned known = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
  LEAVE_IF(!block || !bytes || flags & ~known, CUDA_ERROR_INVALID_VALUE);
  LEAVE_IF(bytes > fake.set.pinned || fake.pinned + bytes > fake.set.pinned, CUDA_ERROR_OUT_OF_MEMORY);
  fake_block *made = fake_block_pin(bytes);
  LEAVE_IF(!made, CUDA_ERROR_OUT_OF_MEMORY);
  fake.pinned += bytes;
  made->context = fake_self.current;
  *block = (void *)made->base;
  LEAVE(CUDA_SUCCESS);
}

/* Waits for all that may come to it, as a device does. */
static CUresult unpin(void *address, bool registered) {
  fake_block *block = to_be_freed((CUdeviceptr)address, true);
  if (!block) return registered ? CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED : CUDA_ERROR_INVALID_VALUE;
  if (block->registered != registered) return CUDA_ERROR_INVALID_VALUE;
  block->freed = true;
  block->died = fake.calls;
  for (int d = 0; d < fake.devices; d++)
    if (fake.device[d].primary) fake_context_wait(fake.device[d].primary);
  fake.pinned -= block->bytes;
  fake_block_kill(block);
  return CUDA_SUCCESS;
}

CUresult cuMemFreeHost(void *block) {
  ENTER(CURRENT | RELEASES);
  LEAVE_IF(!block, CUDA_SUCCESS);
  LEAVE(unpin(block, false));
}

CUresult cuMemHostRegister_v2(void *block, size_t bytes, unsigned flags) {
  ENTER(CURRENT);
  fake_note("%zu", bytes);
  unsigned known = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_READ_ONLY;
  LEAVE_IF(!block || !bytes || flags & ~known, CUDA_ERROR_INVALID_VALUE);
  LEAVE_IF(fake_is_device_address((uint64_t)block), CUDA_ERROR_INVALID_VALUE);
  LEAVE_IF(fake_block_overlaps((uint64_t)block, bytes), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  LEAVE_IF(fake.pinned + bytes > fake.set.pinned, CUDA_ERROR_OUT_OF_MEMORY);
  fake.pinned += bytes;
  fake_block *made = fake_block_register(block, bytes);
  made->context = fake_self.current;
  LEAVE(CUDA_SUCCESS);
}

CUresult cuMemHostUnregister(void *block) {
  ENTER(CURRENT | RELEASES);
  LEAVE(unpin(block, true));
}
