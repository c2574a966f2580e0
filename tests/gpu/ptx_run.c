/* ptx_run.c - a launch: blocks that begin in a random order, and warps that run in turns.
 *
 * As many blocks are resident as the launch says; in a cooperative launch all are.  A turn goes to a random warp of a
 * random block, for a random number of instructions, so that who waits in a loop does not keep others from going on.
 */
#include <inttypes.h>
#include "ptx_inner.h"

enum { MOST_RESIDENT = 16, LONGEST_TURN = 256 };

/* xorshift64*: good enough for orders. */
uint64_t ptx_random(uint64_t *state) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * 0x2545f4914f6cdd1du;
}

void ptx_fault(ptx_warp *w, int lane, const char *format, ...) {
  ptx_run_state *r = w->run;
  if (r->failed) return;
  r->failed = true;
  char what[256];
  va_list args;
  va_start(args, format);
  vsnprintf(what, sizeof what, format, args);
  va_end(args);
  const unsigned *n = r->launch->block, *g = r->launch->grid;
  uint32_t t = (uint32_t)(w->number * LANES + lane), b = w->block->number;
  uint32_t line = r->m->code[w->at].line;
  snprintf(r->error, r->error_size,
           "kernel %s, line %" PRIu32 " (%.100s), block (%u,%u,%u) thread (%u,%u,%u): %s", r->f->name, line,
           ptx_line(r->m, line), b % g[0], b / g[0] % g[1], b / g[0] / g[1], t % n[0], t / n[0] % n[1],
           t / n[0] / n[1], what);
}

/* ---- Frames ---- */

static bool frame_alloc(ptx_frame *f, int registers, int predicates, size_t bytes) {
  f->value_bytes = (size_t)registers * LANES * sizeof *f->value;
  f->param_bytes = LANES * (bytes ? bytes : 1);
  f->value = ptx_pool_take(f->value_bytes);
  f->defined = malloc((size_t)registers * sizeof *f->defined);
  f->coming = malloc((size_t)registers * sizeof *f->coming);
  f->pred = calloc((size_t)predicates, sizeof *f->pred);
  f->pdefined = malloc((size_t)predicates * sizeof *f->pdefined);
  f->param = ptx_pool_take(f->param_bytes);
  f->param_stride = bytes;
  if (f->param) memset(f->param, 0, f->param_bytes);
  return f->value && f->defined && f->coming && f->pred && f->pdefined && f->param;
}

static void frame_free(ptx_frame *f) {
  ptx_pool_give(f->value, f->value_bytes);
  free(f->defined);
  free(f->coming);
  free(f->pred);
  free(f->pdefined);
  ptx_pool_give(f->param, f->param_bytes);
}

/* The lanes get a frame in which nothing is written yet. */
void ptx_frame_enter(ptx_warp *w, int level, uint32_t lanes) {
  const ptx_module *m = w->run->m;
  const ptx_function *f = w->run->f;
  int registers = level ? m->most_registers : f->registers,
      predicates = level ? m->most_predicates : f->predicates;
  ptx_frame *frame = &w->frames[level];
  if (!frame->value) {
    if (!frame_alloc(frame, registers, predicates, level ? m->most_frame : f->frame_bytes)) {
      ptx_fault(w, 0, "out of memory");
      return;
    }
    lanes = ALL_LANES;
  }
  for (int k = 1; k < registers; k++) frame->defined[k] &= ~lanes, frame->coming[k] &= ~lanes;
  for (int k = 1; k < predicates; k++) frame->pdefined[k] &= ~lanes;
  frame->defined[0] = frame->pdefined[0] = ALL_LANES;
  frame->coming[0] = 0;
  frame->pred[FALSE_PRED] = 0;
  size_t at = level ? f->local_bytes + (size_t)(level - 1) * m->most_local : 0,
         bytes = level ? m->most_local : f->local_bytes;
  for (int l = 0; bytes && l < LANES; l++)
    if (lanes >> l & 1) memset(w->local_written + (size_t)l * w->run->local_bytes + at, 0, bytes);
}

/* ---- Blocks ---- */

static void fill(ptx_warp *w, ptx_special s, uint64_t x) {
  for (int l = 0; l < LANES; l++) w->special[s].lane[l] = x;
}

static void set_specials(ptx_warp *w) {
  const ptx_launch *launch = w->run->launch;
  const unsigned *g = launch->grid, *n = launch->block;
  uint32_t b = w->block->number;
  uint64_t ctaid[3] = {b % g[0], b / g[0] % g[1], b / g[0] / g[1]};
  for (int k = 0; k < 3; k++) {
    fill(w, SPECIAL_CTAID_X + k, ctaid[k]);
    fill(w, SPECIAL_NCTAID_X + k, g[k]);
    fill(w, SPECIAL_NTID_X + k, n[k]);
  }
  for (uint32_t l = 0; l < LANES; l++) {
    uint32_t t = (uint32_t)w->number * LANES + l;
    w->special[SPECIAL_TID_X].lane[l] = t % n[0];
    w->special[SPECIAL_TID_Y].lane[l] = t / n[0] % n[1];
    w->special[SPECIAL_TID_Z].lane[l] = t / n[0] / n[1];
    w->special[SPECIAL_LANEID].lane[l] = l;
    w->special[SPECIAL_EQ].lane[l] = 1u << l;
    w->special[SPECIAL_LT].lane[l] = (1u << l) - 1;
    w->special[SPECIAL_LE].lane[l] = (1u << l) | ((1u << l) - 1);
    w->special[SPECIAL_GE].lane[l] = ALL_LANES << l;
    w->special[SPECIAL_GT].lane[l] = ALL_LANES << l & ~(1u << l);
  }
  fill(w, SPECIAL_WARPID, (uint64_t)w->number);
  fill(w, SPECIAL_NWARPID, 64);
  fill(w, SPECIAL_SMID, b % 4);
  fill(w, SPECIAL_NSMID, 4);
  fill(w, SPECIAL_GRIDID, 1);
  fill(w, SPECIAL_TOTAL_SMEM, w->run->shared_bytes);
  fill(w, SPECIAL_DYNAMIC_SMEM, launch->dynamic_shared);
  fill(w, SPECIAL_DYNAMIC, w->run->dynamic_offset);
}

static void begin_warp(ptx_warp *w) {
  ptx_run_state *r = w->run;
  uint32_t from = (uint32_t)w->number * LANES, count = r->threads - from;
  w->first = w->block->number * r->threads + from;
  w->live = count >= LANES ? ALL_LANES : (1u << count) - 1;
  w->parked = w->waiting = w->carry = w->synced = w->far = 0;
  w->lates = 0;
  memset(w->waits, 0, sizeof w->waits);
  w->at = r->f->start;
  for (int l = 0; l < LANES; l++) {
    w->pc[l] = r->f->start;
    w->depth[l] = 0;
  }
  set_specials(w);
  ptx_frame_enter(w, 0, ALL_LANES);
}

/* The next block takes the place; without one the place stays empty. */
static void begin_block(ptx_run_state *r, ptx_block *b) {
  b->number = UINT32_MAX;
  if (r->started == r->blocks) return;
  b->number = r->order[r->started++];
  b->threads = b->live = r->threads;
  b->tick = b->barrier_tick = 0;
  memset(b->barrier, 0, sizeof b->barrier);
  memset(b->shared_written, 0, r->shared_bytes);
  for (size_t k = 0; k < r->shared_bytes; k++) b->shared[k] = (char)0xa5;
  for (int k = 0; k < b->warps && !r->failed; k++) begin_warp(&b->warp[k]);
}

static bool block_alloc(ptx_run_state *r, ptx_block *b) {
  b->warps = (int)((r->threads + LANES - 1) / LANES);
  b->warp = ptx_pool_take((size_t)b->warps * sizeof *b->warp);
  if (b->warp) memset(b->warp, 0, (size_t)b->warps * sizeof *b->warp);
  b->shared = malloc(r->shared_bytes + 1);
  b->shared_written = malloc(r->shared_bytes + 1);
  b->shadow = ptx_shadow_new();
  if (!b->warp || !b->shared || !b->shared_written || !b->shadow) return false;
  for (int k = 0; k < b->warps; k++) {
    ptx_warp *w = &b->warp[k];
    w->run = r;
    w->block = b;
    w->number = k;
    if (!r->local_bytes) continue;
    w->local = ptx_pool_take(LANES * r->local_bytes);
    w->local_written = ptx_pool_take(LANES * r->local_bytes);
    if (!w->local || !w->local_written) return false;
  }
  return true;
}

static void block_free(ptx_run_state *r, ptx_block *b) {
  if (b->warp) ptx_order_block_end(b);
  for (int k = 0; b->warp && k < b->warps; k++) {
    ptx_warp *w = &b->warp[k];
    for (int d = 0; d < MAX_DEPTH; d++)
      if (w->frames[d].value) frame_free(&w->frames[d]);
    ptx_pool_give(w->local, LANES * r->local_bytes);
    ptx_pool_give(w->local_written, LANES * r->local_bytes);
  }
  ptx_pool_give(b->warp, (size_t)b->warps * sizeof *b->warp);
  free(b->shared);
  free(b->shared_written);
  ptx_shadow_free(b->shadow);
}

/* ---- The launch ---- */

static bool refuse(ptx_run_state *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool refuse(ptx_run_state *r, const char *format, ...) {
  int length = snprintf(r->error, r->error_size, "kernel %s: ", r->f->name);
  va_list args;
  va_start(args, format);
  if ((size_t)length < r->error_size)
    vsnprintf(r->error + length, r->error_size - (size_t)length, format, args);
  va_end(args);
  return false;
}

static bool check_launch(ptx_run_state *r) {
  const ptx_launch *a = r->launch;
  const ptx_kernel_info *n = &r->f->info;
  uint64_t threads = (uint64_t)a->block[0] * a->block[1] * a->block[2],
           blocks = (uint64_t)a->grid[0] * a->grid[1];
  if (!threads || threads > 1024) return refuse(r, "%" PRIu64 " threads in a block", threads);
  if (!blocks || !a->grid[2] || blocks * a->grid[2] * threads >= UINT32_MAX)
    return refuse(r, "%" PRIu64 " blocks", blocks * a->grid[2]);
  if (n->maxntid[0] && threads > (uint64_t)n->maxntid[0] * n->maxntid[1] * n->maxntid[2])
    return refuse(r, "%" PRIu64 " threads in a block are more than .maxntid says", threads);
  for (int k = 0; k < 3; k++)
    if (n->reqntid[0] && a->block[k] != n->reqntid[k])
      return refuse(r, "the block has not the size that .reqntid says");
  if (n->params && !a->params) return refuse(r, "no parameters");
  for (int k = 0; k < r->m->nvariables; k++)
    if (!r->m->variables[k].info.address)
      return refuse(r, "the variable %s has no address", r->m->variables[k].name);
  r->threads = (uint32_t)threads;
  r->blocks = (uint32_t)(blocks * a->grid[2]);
  return true;
}

static bool run_alloc(ptx_run_state *r) {
  const ptx_function *f = r->f;
  const ptx_launch *a = r->launch;
  r->dynamic_offset = (f->info.static_shared + 15) / 16 * 16;
  r->shared_bytes =
      f->dynamic || a->dynamic_shared ? r->dynamic_offset + a->dynamic_shared : f->info.static_shared;
  r->local_bytes = f->local_bytes + (size_t)(MAX_DEPTH - 1) * r->m->most_local;
  r->params = calloc(1, f->param_bytes + 1);
  r->order = calloc(r->blocks, sizeof *r->order);
  unsigned resident = a->cooperative ? r->blocks
                      : a->resident  ? a->resident
                                     : 1 + (unsigned)(ptx_random(&r->random) % MOST_RESIDENT);
  r->resident = (int)(resident < r->blocks ? resident : r->blocks);
  r->block = calloc((size_t)r->resident, sizeof *r->block);
  if (!r->params || !r->order || !r->block || !ptx_order_init(r)) return refuse(r, "out of memory");
  for (int k = 0; k < r->resident; k++)
    if (!block_alloc(r, &r->block[k])) return refuse(r, "out of memory");
  for (int k = 0; k < f->params; k++) memcpy(r->params + f->param[k].offset, a->params[k], f->param[k].bytes);
  for (uint32_t k = 0; k < r->blocks; k++) {
    uint32_t other = (uint32_t)(ptx_random(&r->random) % (k + 1));
    r->order[k] = r->order[other];
    r->order[other] = k;
  }
  return true;
}

/* A turn of a random warp of the block that can go on; false if there is none. */
static bool turn(ptx_run_state *r, ptx_block *b) {
  int first = (int)(ptx_random(&r->random) % (uint64_t)b->warps);
  for (int k = 0; k < b->warps; k++) {
    ptx_warp *w = &b->warp[(first + k) % b->warps];
    if (!ready_lanes(w)) continue;
    uint64_t longest = ptx_random(&r->random) & 3 ? LONGEST_TURN : 8;
    ptx_warp_run(w, 1 + (int)(ptx_random(&r->random) % longest));
    if (r->count > r->limit)
      ptx_fault(w, __builtin_ctz(w->live | 1u << 31), "the kernel does not end: %" PRIu64 " instructions",
                r->count);
    return true;
  }
  return false;
}

static void run_blocks(ptx_run_state *r) {
  uint32_t left = r->blocks;
  for (int k = 0; k < r->resident && !r->failed; k++) begin_block(r, &r->block[k]);
  while (left && !r->failed) {
    ptx_block *b = &r->block[ptx_random(&r->random) % (uint64_t)r->resident];
    if (b->number == UINT32_MAX) continue;
    if (!turn(r, b)) ptx_stuck(b);
    if (b->live || r->failed) continue;
    left--;
    ptx_order_block_end(b);
    begin_block(r, b);
  }
}

bool ptx_run(const ptx_kernel *kernel, const ptx_launch *launch, char *error, size_t error_size) {
  ptx_run_state r = {.m = kernel->module,
                     .f = &kernel->module->functions[kernel->function],
                     .launch = launch,
                     .random = launch->seed * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u,
                     .limit = launch->limit ? launch->limit : 10000000000u,
                     .error = error,
                     .error_size = error_size};
  if (!r.random) r.random = 1;
  error[0] = '\0';
  bool good = check_launch(&r) && run_alloc(&r);
  if (good) run_blocks(&r);
  for (int k = 0; r.block && k < r.resident; k++) block_free(&r, &r.block[k]);
  ptx_order_fini(&r);
  free(r.block);
  free(r.order);
  free(r.params);
  if (launch->counts) {
    ptx_counts *c = launch->counts;
    c->instructions += r.count;
    c->doubles += r.counts.doubles;
    c->loads += r.counts.loads;
    c->stores += r.counts.stores;
    c->atomics += r.counts.atomics;
    c->load_bytes += r.counts.load_bytes;
    c->store_bytes += r.counts.store_bytes;
    c->sectors += r.counts.sectors;
    c->barriers += r.counts.barriers;
    if (r.counts.waits > c->waits) c->waits = r.counts.waits;
  }
  return good && !r.failed;
}
