/* driver_copy.c - of the emulated driver: copies, and filling.  See driver.h.
 *
 * A copy reads its bytes when the stream gets there.  Only one with an end in host memory that is not pinned makes the
 * caller wait, as on a device: behind a copy from the device its bytes are there, but one to the device may have taken them
 * away without having arrived, so that the host's clock does not move.
 */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

typedef enum side { ON_HOST, ON_DEVICE } side; /* what a caller says; pinned memory may be either */

typedef struct end {
  side side;
  uint64_t address;
  size_t stride[2];
  fake_block *block; /* ref; NULL: of the host, and not pinned */
} end;

/* count[0] times count[1] runs of `bytes`. */
typedef struct copy {
  end to, from;
  size_t bytes, count[2];
} copy;

static size_t extent(const copy *c, const end *e) {
  return (c->count[0] - 1) * e->stride[0] + (c->count[1] - 1) * e->stride[1] + c->bytes;
}

static CUresult wrong(uint64_t address, size_t bytes, const char *why) {
  char text[200];
  fake_report(NULL, CUDA_ERROR_INVALID_VALUE, "%s: %zu bytes at %s %s", fake_self.name, bytes,
              fake_address_text(address, text, sizeof text), why);
  return CUDA_ERROR_INVALID_VALUE;
}

/* Finds the block of an end, and checks that all of it lies there. */
static CUresult find_end(end *e, size_t bytes) {
  fake_block *block = fake_block_at(e->address);
  if (block && block->freed) return wrong(e->address, bytes, "were freed");
  if (block && e->address + bytes > block->base + block->bytes)
    return wrong(e->address, bytes, "go beyond its end");
  if (block && block->device >= 0 && e->side == ON_HOST)
    return wrong(e->address, bytes, "are not the host's");
  if (!block && (e->side == ON_DEVICE || fake_is_device_address(e->address)))
    return wrong(e->address, bytes, "are no memory of a device");
  if (!block && fake_block_overlaps(e->address, bytes)) return wrong(e->address, bytes, "are pinned in part");
  e->block = block;
  return CUDA_SUCCESS;
}

static bool touch_end(const fake_op *op, const copy *c, const end *e, int how) {
  fake_block *block = e->block;
  if (!block) return true;
  if (block->dead) {
    char text[200];
    fake_report(op->stream->handle.context, CUDA_ERROR_ILLEGAL_ADDRESS, "%s of call %llu uses %s", op->name,
                (unsigned long long)op->call, fake_address_text(e->address, text, sizeof text));
    return false;
  }
  size_t begin = e->address - block->base, runs = 0;
  fake_run *run = malloc(c->count[0] * c->count[1] * sizeof *run);
  for (size_t j = 0; j < c->count[1]; j++)
    for (size_t i = 0; i < c->count[0]; i++) {
      size_t at = begin + i * e->stride[0] + j * e->stride[1];
      if (runs && run[runs - 1].end == at) run[runs - 1].end = at + c->bytes;
      else run[runs++] = (fake_run){at, at + c->bytes, how};
    }
  bool good = fake_touch(op, block, run, (int)runs); /* a pitch is never less than a line */
  free(run);
  return good;
}

static char *host_of(const end *e) {
  return e->block ? e->block->host + (e->address - e->block->base) : (char *)e->address;
}

static void copy_rows(const copy *c) {
  char *to = host_of(&c->to), *from = host_of(&c->from);
  uint8_t *written = c->to.block ? c->to.block->written : NULL;
  const uint8_t *known = c->from.block ? c->from.block->written : NULL;
  size_t to_begin = written ? c->to.address - c->to.block->base : 0;
  size_t from_begin = known ? c->from.address - c->from.block->base : 0;
  for (size_t j = 0; j < c->count[1]; j++)
    for (size_t i = 0; i < c->count[0]; i++) {
      size_t to_at = i * c->to.stride[0] + j * c->to.stride[1],
             from_at = i * c->from.stride[0] + j * c->from.stride[1];
      memmove(to + to_at, from + from_at, c->bytes);
      if (written && known) memmove(written + to_begin + to_at, known + from_begin + from_at, c->bytes);
      else if (written) memset(written + to_begin + to_at, 1, c->bytes);
    }
}

static void run_copy(fake_op *op) {
  const copy *c = op->data;
  if (!touch_end(op, c, &c->from, READS) || !touch_end(op, c, &c->to, WRITES)) return;
  pthread_mutex_unlock(&fake.lock);
  copy_rows(c);
  pthread_mutex_lock(&fake.lock);
}

static void end_copy(fake_op *op) {
  const copy *c = op->data;
  if (c->to.block) fake_block_release(c->to.block);
  if (c->from.block) fake_block_release(c->from.block);
  free(op->data);
}

static void count_bytes(const copy *c) {
  uint64_t bytes = (uint64_t)c->bytes * c->count[0] * c->count[1];
  int to = c->to.block ? c->to.block->device : -1, from = c->from.block ? c->from.block->device : -1;
  if (to >= 0 && from < 0) fake.bytes_in += bytes;
  else if (to < 0 && from >= 0) fake.bytes_out += bytes;
  else if (to != from) fake.bytes_across += bytes;
  fake_note("%llu bytes%s", (unsigned long long)bytes, c->to.block && c->from.block ? "" : ", waits");
}

/* Keeps the host from pinned memory, if the copy has all of a range there. */
static void guard_end(const copy *c, const end *e, bool written, fake_access until) {
  bool dense = (c->count[0] == 1 || e->stride[0] == c->bytes) &&
               (c->count[1] == 1 || e->stride[1] == c->bytes * c->count[0]);
  if (!e->block || !dense) return;
  size_t begin = e->address - e->block->base;
  fake_block_guard(e->block, begin, begin + c->bytes * c->count[0] * c->count[1], written, until);
}

/* Puts the copy into the stream; the caller has entered. */
static CUresult put_copy(const copy *what, CUstream handle) {
  CUstream stream;
  CUresult bad = fake_stream_of(handle, &stream);
  if (bad) return bad;
  if (!what->bytes || !what->count[0] || !what->count[1]) return CUDA_SUCCESS;
  copy *c = malloc(sizeof *c);
  *c = *what;
  bad = find_end(&c->to, extent(c, &c->to));
  if (!bad) bad = find_end(&c->from, extent(c, &c->from));
  if (bad) {
    free(c);
    return bad;
  }
  if (c->to.block) c->to.block->refs++;
  if (c->from.block) c->from.block->refs++;
  count_bytes(c);
  bool to_waits = !c->to.block, from_waits = !c->from.block;
  uint64_t number = fake_put(stream, &(fake_op){.run = run_copy, .end = end_copy, .data = c});
  fake_access now = {(uint8_t)stream->slot, stream->clock.at[stream->slot]};
  guard_end(c, &c->from, false, now);
  guard_end(c, &c->to, true, now);
  if (!to_waits && !from_waits) return CUDA_SUCCESS;
  fake.pageable++;
  fake_clock seen = stream->clock;
  CUcontext context = stream->handle.context;
  fake_wait(stream, number);
  if (to_waits) fake_host_sees(&seen);
  return context->error;
}

static CUresult put_line(uint64_t to, side to_side, uint64_t from, side from_side, size_t bytes,
                         CUstream stream) {
  copy c = {
      .to = {.side = to_side, .address = to}, .from = {.side = from_side, .address = from}, .bytes = bytes};
  c.count[0] = c.count[1] = 1;
  return put_copy(&c, stream);
}

/* ---- one line --------------------------------------------------------------------------------------- */

/* In stream 0, and the host waits. */
static CUresult line_and_wait(uint64_t to, side to_side, uint64_t from, side from_side, size_t bytes) {
  CUresult bad = put_line(to, to_side, from, from_side, bytes, LGT_CU_STREAM_LEGACY);
  if (bad) return bad;
  CUcontext context = fake_self.current;
  CUstream stream = context->legacy;
  fake.waits++;
  fake_clock seen = stream->clock;
  fake_wait(stream, stream->put);
  fake_host_sees(&seen);
  return context->error;
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes) {
  ENTER(CURRENT);
  LEAVE(line_and_wait(to, ON_DEVICE, (uint64_t)from, ON_HOST, bytes));
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes) {
  ENTER(CURRENT);
  LEAVE(line_and_wait((uint64_t)to, ON_HOST, from, ON_DEVICE, bytes));
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
  ENTER(CURRENT);
  LEAVE(put_line(to, ON_DEVICE, (uint64_t)from, ON_HOST, bytes, stream));
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
  ENTER(CURRENT);
  LEAVE(put_line((uint64_t)to, ON_HOST, from, ON_DEVICE, bytes, stream));
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  ENTER(CURRENT);
  LEAVE(put_line(to, ON_DEVICE, from, ON_DEVICE, bytes, stream));
}

/* Is the context that the caller gives that of the memory? */
static CUresult check_context(CUcontext context, uint64_t address) {
  CUresult bad = fake_handle_check(CONTEXT, context);
  if (bad) return CUDA_ERROR_INVALID_CONTEXT;
  const fake_block *block = fake_block_at(address);
  if (!block || block->device < 0 || block->context == context) return CUDA_SUCCESS;
  fake_report(NULL, CUDA_ERROR_INVALID_VALUE, "%s: the memory of call %llu is of another context",
              fake_self.name, (unsigned long long)block->born);
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                           size_t bytes, CUstream stream) {
  ENTER(CURRENT);
  CUresult bad = check_context(to_context, to);
  if (!bad) bad = check_context(from_context, from);
  LEAVE_IF(bad, bad);
  LEAVE(put_line(to, ON_DEVICE, from, ON_DEVICE, bytes, stream));
}

/* ---- lines, planes ---------------------------------------------------------------------------------- */

typedef struct shape {
  size_t x, y, z, pitch, height;
} shape;

static CUresult lay_end(end *e, CUmemorytype type, const void *host, CUdeviceptr device, shape at,
                        const copy *c) {
  const size_t most = 0x7fffffff;
  if (type != CU_MEMORYTYPE_HOST && type != CU_MEMORYTYPE_DEVICE && type != CU_MEMORYTYPE_UNIFIED)
    return CUDA_ERROR_INVALID_VALUE;
  if (!at.height && c->count[1] == 1) at.height = at.y + c->count[0];
  bool fits = at.pitch >= at.x + c->bytes && at.pitch <= most && at.height >= at.y + c->count[0];
  if (!fits) return CUDA_ERROR_INVALID_VALUE;
  e->side = type == CU_MEMORYTYPE_HOST ? ON_HOST : ON_DEVICE;
  e->address = type == CU_MEMORYTYPE_HOST ? (uint64_t)host : device;
  e->address += (at.z * at.height + at.y) * at.pitch + at.x;
  e->stride[0] = at.pitch;
  e->stride[1] = at.pitch * at.height;
  return CUDA_SUCCESS;
}

CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *p, CUstream stream) {
  ENTER(CURRENT);
  LEAVE_IF(!p, CUDA_ERROR_INVALID_VALUE);
  copy c = {.bytes = p->WidthInBytes, .count = {p->Height, 1}};
  LEAVE_IF(!c.bytes || !c.count[0], CUDA_SUCCESS);
  shape from = {p->srcXInBytes, p->srcY, 0, p->srcPitch, 0},
        to = {p->dstXInBytes, p->dstY, 0, p->dstPitch, 0};
  CUresult bad = lay_end(&c.from, p->srcMemoryType, p->srcHost, p->srcDevice, from, &c);
  if (!bad) bad = lay_end(&c.to, p->dstMemoryType, p->dstHost, p->dstDevice, to, &c);
  LEAVE_IF(bad, bad);
  LEAVE(put_copy(&c, stream));
}

/* The fields that both structs have. */
#define LAY_SPACE(p, c, bad)                                                                       \
  do {                                                                                             \
    shape from_ = {(p)->srcXInBytes, (p)->srcY, (p)->srcZ, (p)->srcPitch, (p)->srcHeight};         \
    shape to_ = {(p)->dstXInBytes, (p)->dstY, (p)->dstZ, (p)->dstPitch, (p)->dstHeight};           \
    bad = lay_end(&(c).from, (p)->srcMemoryType, (p)->srcHost, (p)->srcDevice, from_, &(c));       \
    if (!bad) bad = lay_end(&(c).to, (p)->dstMemoryType, (p)->dstHost, (p)->dstDevice, to_, &(c)); \
    if ((p)->srcLOD || (p)->dstLOD) bad = CUDA_ERROR_INVALID_VALUE;                                \
  } while (0)

CUresult fake_put_copy3(const CUDA_MEMCPY3D *p, CUstream stream) {
  if (!p || p->reserved0 || p->reserved1) return CUDA_ERROR_INVALID_VALUE;
  copy c = {.bytes = p->WidthInBytes, .count = {p->Height, p->Depth}};
  if (!c.bytes || !c.count[0] || !c.count[1]) return CUDA_SUCCESS;
  CUresult bad;
  LAY_SPACE(p, c, bad);
  return bad ? bad : put_copy(&c, stream);
}

CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *p, CUstream stream) {
  ENTER(CURRENT);
  LEAVE(fake_put_copy3(p, stream));
}

CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *p, CUstream stream) {
  ENTER(CURRENT);
  LEAVE_IF(!p, CUDA_ERROR_INVALID_VALUE);
  copy c = {.bytes = p->WidthInBytes, .count = {p->Height, p->Depth}};
  LEAVE_IF(!c.bytes || !c.count[0] || !c.count[1], CUDA_SUCCESS);
  CUresult bad;
  LAY_SPACE(p, c, bad);
  if (!bad && c.from.side == ON_DEVICE) bad = check_context(p->srcContext, c.from.address);
  if (!bad && c.to.side == ON_DEVICE) bad = check_context(p->dstContext, c.to.address);
  LEAVE_IF(bad, bad);
  LEAVE(put_copy(&c, stream));
}

/* ---- filling ---------------------------------------------------------------------------------------- */

typedef struct fill {
  copy where; /* the end it is written to */
  unsigned value;
  size_t size;
} fill;

static void run_fill(fake_op *op) {
  const fill *f = op->data;
  if (!touch_end(op, &f->where, &f->where.to, WRITES)) return;
  pthread_mutex_unlock(&fake.lock);
  char *to = host_of(&f->where.to);
  for (size_t i = 0; i < f->where.bytes; i += f->size) memcpy(to + i, &f->value, f->size); /* little-endian */
  const fake_block *block = f->where.to.block;
  if (block->written) memset(block->written + (f->where.to.address - block->base), 1, f->where.bytes);
  pthread_mutex_lock(&fake.lock);
}

static void end_fill(fake_op *op) {
  fill *f = op->data;
  fake_block_release(f->where.to.block);
  free(f);
}

CUresult fake_put_fill(CUdeviceptr to, unsigned value, size_t size, size_t count, CUstream handle) {
  CUstream stream;
  CUresult bad = fake_stream_of(handle, &stream);
  if (bad || !count) return bad;
  if (to % size) return CUDA_ERROR_INVALID_VALUE;
  fake_note("%zu bytes", size * count);
  fill *f = calloc(1, sizeof *f);
  f->where.to = (end){.side = ON_DEVICE, .address = to};
  f->where.bytes = size * count;
  f->where.count[0] = f->where.count[1] = 1;
  f->value = value;
  f->size = size;
  bad = find_end(&f->where.to, f->where.bytes);
  if (bad) {
    free(f);
    return bad;
  }
  f->where.to.block->refs++;
  fake_put(stream, &(fake_op){.run = run_fill, .end = end_fill, .data = f});
  return CUDA_SUCCESS;
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
  ENTER(CURRENT);
  LEAVE(fake_put_fill(to, value, 1, count, stream));
}

CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
  ENTER(CURRENT);
  LEAVE(fake_put_fill(to, value, 2, count, stream));
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
  ENTER(CURRENT);
  LEAVE(fake_put_fill(to, value, 4, count, stream));
}
