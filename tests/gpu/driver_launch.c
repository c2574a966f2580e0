/* driver_launch.c - of the emulated driver: kernels.  See driver.h.
 *
 * The emulator of PTX is told where memory is when a kernel comes to it, and says afterwards which bytes were read and
 * written.  What a kernel may come to: memory of its device, pinned memory of the host, memory of other devices if its context
 * or the pool allows it.
 */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- sizes ------------------------------------------------------------------------------------------ */

unsigned fake_threads_most(CUfunction function) {
  const ptx_kernel_info *info = ptx_info(function->kernel);
  const unsigned *limit = info->reqntid[0] ? info->reqntid : info->maxntid;
  uint64_t most = 1;
  for (int d = 0; d < 3; d++) most *= limit[d] ? limit[d] : 1;
  return !limit[0] || most > 1024 ? 1024 : (unsigned)most;
}

int fake_blocks_per_sm(CUfunction function, unsigned threads, size_t shared) {
  if (!threads || threads > fake_threads_most(function)) return 0;
  unsigned warps = (threads + 31) / 32;
  size_t each = ptx_info(function->kernel)->static_shared + shared + 1024; /* the system's */
  unsigned blocks = 2048 / 32 / warps, by_shared = (unsigned)((164 << 10) / each);
  if (blocks > by_shared) blocks = by_shared;
  return blocks < 32 ? (int)blocks : 32;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads,
                                                     size_t shared) {
  ENTER(CURRENT);
  CUresult bad = fake_handle_check(FUNCTION, function);
  LEAVE_IF(bad, bad);
  LEAVE_IF(!blocks || threads <= 0, CUDA_ERROR_INVALID_VALUE);
  *blocks = fake_blocks_per_sm(function, (unsigned)threads, shared);
  LEAVE(CUDA_SUCCESS);
}

/* ---- running ---------------------------------------------------------------------------------------- */

typedef struct found {
  fake_block *block; /* ref */
  uint8_t *touched;  /* owned */
} found;

typedef struct search {
  const fake_op *op;
  found *found; /* owned */
  int count, room;
  char why[300]; /* the last address was none */
} search;

static bool may_use(const fake_block *block, CUcontext context) {
  if (block->device < 0 || block->device == context->device) return true;
  return block->pool ? block->pool->access[context->device] : context->peer[block->device];
}

static bool find_locked(search *s, uint64_t address, ptx_memory *out) {
  fake_block *block = fake_block_at(address);
  char text[200];
  if (!block || !may_use(block, s->op->stream->handle.context)) {
    snprintf(s->why, sizeof s->why, "%s%s", fake_address_text(address, text, sizeof text),
             block ? ", on a device that this one has no access to" : "");
    return false;
  }
  int i = 0;
  while (i < s->count && s->found[i].block != block) i++;
  if (i == s->count) {
    if (i == s->room) {
      s->room = 2 * s->room + 8;
      s->found = realloc(s->found, (size_t)s->room * sizeof *s->found);
    }
    block->refs++;
    s->found[s->count++] = (found){block, calloc(1, block->bytes)};
  }
  *out = (ptx_memory){.base = block->base,
                      .bytes = block->bytes,
                      .host = block->host,
                      .written = block->written,
                      .touched = s->found[i].touched};
  return true;
}

static bool find(void *context, uint64_t address, ptx_memory *out) {
  pthread_mutex_lock(&fake.lock);
  bool good = find_locked(context, address, out);
  pthread_mutex_unlock(&fake.lock);
  return good;
}

/* The first byte from `at` on that is not `how`. */
static size_t end_of_run(const uint8_t *touched, size_t at, size_t bytes, int how) {
  uint64_t eight, same = 0x0101010101010101u * (uint64_t)how;
  while (at + 8 <= bytes && (memcpy(&eight, touched + at, 8), eight == same)) at += 8;
  while (at < bytes && touched[at] == how) at++;
  return at;
}

/* The bytes that were touched, as runs. */
static int runs_of(const found *f, fake_run **runs) {
  int count = 0, room = 0;
  *runs = NULL;
  for (size_t at = 0; at < f->block->bytes;) {
    int how = f->touched[at];
    size_t begin = at;
    at = end_of_run(f->touched, at, f->block->bytes, how);
    if (!how) continue;
    if (count == room) {
      room = 2 * room + 16;
      *runs = realloc(*runs, (size_t)room * sizeof **runs);
    }
    (*runs)[count++] = (fake_run){begin, at, how};
  }
  return count;
}

/* A line of the list of launches: sizes, what the threads did, and how many bytes each kind of access came to. */
static void write_launch(const search *s, const fake_launch *l, const ptx_counts *c) {
  size_t read = 0, written = 0;
  for (int i = 0; i < s->count; i++)
    for (size_t b = 0; b < s->found[i].block->bytes; b++) {
      read += s->found[i].touched[b] & 1;
      written += s->found[i].touched[b] >> 1 & 1;
    }
  fprintf(fake.set.launches,
          "%d %s %u %u instructions %llu doubles %llu loads %llu %llu stores %llu %llu read %zu written %zu "
          "sectors %llu waits %llu\n",
          l->function->module->number, ptx_info(l->function->kernel)->name,
          l->grid[0] * l->grid[1] * l->grid[2], l->block[0] * l->block[1] * l->block[2],
          (unsigned long long)c->instructions, (unsigned long long)c->doubles, (unsigned long long)c->loads,
          (unsigned long long)c->load_bytes, (unsigned long long)c->stores,
          (unsigned long long)c->store_bytes, read, written, (unsigned long long)c->sectors,
          (unsigned long long)c->waits);
}

static void end_search(search *s, fake_op *op) {
  for (int i = 0; i < s->count; i++) {
    fake_run *runs;
    int count = runs_of(&s->found[i], &runs);
    if (!op->stream->handle.context->error && count) fake_touch(op, s->found[i].block, runs, count);
    free(runs);
    free(s->found[i].touched);
    fake_block_release(s->found[i].block);
  }
  free(s->found);
}

static CUresult code_of(const char *error) {
  if (strstr(error, "align")) return CUDA_ERROR_MISALIGNED_ADDRESS;
  if (strstr(error, "bounds") || strstr(error, "allocation") || strstr(error, "freed"))
    return CUDA_ERROR_ILLEGAL_ADDRESS;
  return CUDA_ERROR_LAUNCH_FAILED;
}

static void run_launch(fake_op *op) {
  const fake_launch *l = op->data;
  search s = {.op = op};
  ptx_counts counts = {0};
  char error[600] = "";
  ptx_launch how = {.dynamic_shared = l->shared,
                    .cooperative = l->cooperative,
                    .params = l->params,
                    .seed = fake.set.seed + op->call,
                    .unchecked = fake.set.unwritten ? 0 : PTX_NO_UNWRITTEN,
                    .find = find,
                    .context = &s,
                    .counts = fake.set.launches ? &counts : NULL};
  memcpy(how.grid, l->grid, sizeof how.grid);
  memcpy(how.block, l->block, sizeof how.block);
  pthread_mutex_unlock(&fake.lock);
  bool good = ptx_run(l->function->kernel, &how, error, sizeof error);
  pthread_mutex_lock(&fake.lock);
  if (!good)
    fake_report(op->stream->handle.context, code_of(error), "%s of call %llu: %s%s%s", op->name,
                (unsigned long long)op->call, error, *s.why ? ": " : "", s.why);
  if (fake.set.launches) write_launch(&s, l, &counts);
  end_search(&s, op);
}

void fake_launch_fini(fake_launch *l) {
  free(l->bytes);
  free(l->params);
}

static void end_launch(fake_op *op) {
  fake_launch_fini(op->data);
  free(op->data);
}

/* ---- launching -------------------------------------------------------------------------------------- */

static CUresult check_sizes(const fake_launch *l) {
  static const unsigned most_grid[3] = {0x7fffffff, 65535, 65535}, most_block[3] = {1024, 1024, 64};
  const ptx_kernel_info *info = ptx_info(l->function->kernel);
  uint64_t threads = 1, blocks = 1;
  for (int d = 0; d < 3; d++) {
    if (!l->grid[d] || l->grid[d] > most_grid[d]) return CUDA_ERROR_INVALID_VALUE;
    if (!l->block[d] || l->block[d] > most_block[d]) return CUDA_ERROR_INVALID_VALUE;
    if (info->reqntid[0] && l->block[d] != (info->reqntid[d] ? info->reqntid[d] : 1))
      return CUDA_ERROR_INVALID_VALUE;
    threads *= l->block[d];
    blocks *= l->grid[d];
  }
  if (threads > fake_threads_most(l->function)) return CUDA_ERROR_INVALID_VALUE;
  if (l->shared > (size_t)l->function->dynamic_shared) return CUDA_ERROR_INVALID_VALUE;
  if (!l->cooperative) return CUDA_SUCCESS;
  uint64_t most =
      (uint64_t)fake_blocks_per_sm(l->function, (unsigned)threads, l->shared) * (uint64_t)fake.set.sms;
  return blocks > most ? CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE : CUDA_SUCCESS;
}

static CUresult check_launch(const fake_launch *what, void **params) {
  CUresult bad = fake_handle_check(FUNCTION, what->function);
  if (bad) return bad;
  const ptx_kernel_info *info = ptx_info(what->function->kernel);
  fake_note("%s, %ux%ux%u blocks of %ux%ux%u", info->name, what->grid[0], what->grid[1], what->grid[2],
            what->block[0], what->block[1], what->block[2]);
  bad = check_sizes(what);
  if (bad) return bad;
  for (int p = 0; p < info->params; p++)
    if (!params || !params[p]) return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

CUresult fake_launch_copy(const fake_launch *what, void **params, fake_launch *out) {
  CUresult bad = check_launch(what, params);
  if (bad) return bad;
  const ptx_kernel_info *info = ptx_info(what->function->kernel);
  *out = *what;
  out->bytes = malloc(info->param_bytes + 1);
  out->params = malloc(((size_t)info->params + 1) * sizeof(void *));
  for (int p = 0; p < info->params; p++) {
    out->params[p] = out->bytes + info->param[p].offset;
    memcpy(out->params[p], params[p], info->param[p].bytes);
  }
  return CUDA_SUCCESS;
}

/* The caller has entered. */
CUresult fake_put_launch(const fake_launch *what, CUstream handle, void **params) {
  CUstream stream;
  CUresult bad = fake_handle_check(FUNCTION, what->function);
  if (!bad) bad = fake_stream_of(handle, &stream);
  if (bad) return bad;
  if (stream->handle.context != fake_self.current || what->function->handle.context != fake_self.current) {
    fake_report(NULL, CUDA_ERROR_INVALID_HANDLE, "%s: the %s is of another context", fake_self.name,
                stream->handle.context != fake_self.current ? "stream" : "function");
    return CUDA_ERROR_INVALID_HANDLE;
  }
  fake_launch copy;
  bad = fake.set.kernels ? fake_launch_copy(what, params, &copy) : check_launch(what, params);
  if (bad) return bad;
  fake.launches++;
  if (!fake.set.kernels) return CUDA_SUCCESS;
  fake_launch *l = malloc(sizeof *l);
  *l = copy;
  fake_put(stream, &(fake_op){.run = run_launch, .end = end_launch, .data = l});
  return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                        CUstream stream, void **params, void **extra) {
  ENTER(CURRENT);
  LEAVE_IF(extra, CUDA_ERROR_NOT_SUPPORTED);
  fake_launch l = {function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, false, NULL,
                   NULL};
  LEAVE(fake_put_launch(&l, stream, params));
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                                   CUstream stream, void **params) {
  ENTER(CURRENT);
  fake_launch l = {function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, true, NULL, NULL};
  LEAVE(fake_put_launch(&l, stream, params));
}
