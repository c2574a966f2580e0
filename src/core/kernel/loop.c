/* loop.c - cutting loop nests into chunks, walking them, and folding what chunks reduced.
 *
 * The rules are in loop.h.  Nothing here depends on how kernels are made: a kernel sees slabs of two
 * dimensions, this file turns chunks into slabs.
 *
 * Reductions.  A chunk writes to the target itself, or, where several chunks reduce into the same
 * elements (`partial`), into a dense array of its own.  Neither is filled with the identity beforehand:
 * the first slab that reaches a target is told that it is open.
 *
 * lgt_redop_fold runs a loop of one operation through the interpreter, so an operator has one
 * meaning wherever values are combined.
 *
 * Thread: begin and end are called by one thread, with all chunks in between; run by any.
 */
#include "kernel/loop.h"

#include <string.h>

#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

enum {
  REDUCE_CHUNK = 8192, /* elements that make another chunk of a reduction worth while */
  REDUCE_MAX_CHUNKS = 64,
  CHUNK_MIN = 8192, /* elements; loops without reductions */
  CHUNKS_PER_WORKER = 8,
  LONG_CHUNK_MIN = 64, /* where each element takes long, and some longer */
  LONG_CHUNKS_PER_WORKER = 16,
  LONG_MAX_CHUNKS = 64,
  LONG_CHUNK_BYTES = 96 << 10, /* fewer are moved in less time than workers take to share chunks */
  SPLIT_MIN = 64,              /* a shorter dimension is cut only if none is longer */
  PARTIAL_MAX = 4 << 20,       /* bytes of partial results */
  COLUMN_BLOCK = 256,
  CHUNKS_OF_COLUMNS = 4, /* for each worker, where these are wide */
};

/* ---- loops ----------------------------------------------------------------------------------- */

void lgt_loop_seal(lgt_loop *loop) {
  XXH3_state_t state;
  uint16_t counts[4] = {loop->naccess, loop->ninst, loop->nconst, loop->nparam};
  XXH3_128bits_reset(&state);
  XXH3_128bits_update(&state, counts, sizeof counts);
  XXH3_128bits_update(&state, loop->access, loop->naccess * sizeof *loop->access);
  XXH3_128bits_update(&state, loop->inst, loop->ninst * sizeof *loop->inst);
  XXH3_128bits_update(&state, loop->constant, loop->nconst * sizeof *loop->constant);
  XXH128_hash_t h = XXH3_128bits_digest(&state);
  loop->hash[0] = h.low64;
  loop->hash[1] = h.high64;
}

static bool same_bytes(const void *a, const void *b, size_t n) { return n == 0 || memcmp(a, b, n) == 0; }

bool lgt_loop_equal(const lgt_loop *a, const lgt_loop *b) {
  return a->hash[0] == b->hash[0] && a->hash[1] == b->hash[1] && a->naccess == b->naccess &&
         a->ninst == b->ninst && a->nconst == b->nconst && a->nparam == b->nparam &&
         same_bytes(a->access, b->access, a->naccess * sizeof *a->access) &&
         same_bytes(a->inst, b->inst, a->ninst * sizeof *a->inst) &&
         same_bytes(a->constant, b->constant, a->nconst * sizeof *a->constant);
}

static void *copy_of(const void *bytes, size_t n) {
  void *copy = lgt_mem_alloc(n + 1);
  if (copy && n) memcpy(copy, bytes, n);
  return copy;
}

lgt_loop *lgt_loop_copy(const lgt_loop *loop) {
  lgt_loop *copy = copy_of(loop, sizeof *loop);
  if (!copy) return NULL;
  copy->access = copy_of(loop->access, loop->naccess * sizeof *loop->access);
  copy->inst = copy_of(loop->inst, loop->ninst * sizeof *loop->inst);
  copy->constant = copy_of(loop->constant, loop->nconst * sizeof *loop->constant);
  if (!copy->access || !copy->inst || !copy->constant) return lgt_loop_free(copy), NULL;
  lgt_loop_seal(copy);
  return copy;
}

void lgt_loop_free(lgt_loop *loop) {
  if (!loop) return;
  lgt_mem_free(loop->access);
  lgt_mem_free(loop->inst);
  lgt_mem_free(loop->constant);
  lgt_mem_free(loop);
}

/* ---- operators ---------------------------------------------------------------------------------- */

static void fold_values(int redop, int dtype, void *target, const void *value, int64_t n) {
  lgt_access access[3] = {{LGT_ACCESS_LOAD, (uint8_t)dtype, LGT_STRIDE_UNIT, 0},
                          {LGT_ACCESS_LOAD, (uint8_t)dtype, LGT_STRIDE_UNIT, 0},
                          {LGT_ACCESS_STORE, (uint8_t)dtype, LGT_STRIDE_UNIT, 0}};
  uint8_t d = (uint8_t)dtype;
  lgt_inst inst[4] = {{LGT_OP_LOAD, d, 0, 0, 0, LGT_NO_VALUE, LGT_NO_VALUE},
                      {LGT_OP_LOAD, d, 0, 0, 1, LGT_NO_VALUE, LGT_NO_VALUE},
                      {(uint8_t)lgt_redop_op(redop), d, 0, 0, 0, 1, LGT_NO_VALUE},
                      {LGT_OP_STORE, d, 0, 0, 2, 2, LGT_NO_VALUE}};
  lgt_loop loop = {.naccess = 3, .ninst = 4, .access = access, .inst = inst};
  lgt_base base[3] = {{.address = target}, {.address = (char *)value}, {.address = target}};
  int64_t row[3] = {0}, size = lgt_dtype_size(dtype), col[3] = {size, size, size};
  lgt_slab slab = {1, n, base, row, col, NULL, 0};
  lgt_interp_run(&loop, &slab);
}

/* Pairs: let the interpreter reduce the candidate into the target in its vector form. */
static void fold_pairs(int redop, int dtype, void *target, void *target_at, const void *value,
                       const void *value_at, int64_t n) {
  uint8_t d = (uint8_t)dtype;
  lgt_access access[4] = {{LGT_ACCESS_LOAD, d, LGT_STRIDE_UNIT, 0},
                          {LGT_ACCESS_LOAD, LGT_INT64, LGT_STRIDE_UNIT, 0},
                          {LGT_ACCESS_REDUCE, d, LGT_STRIDE_UNIT, LGT_STRIDE_ANY},
                          {LGT_ACCESS_REDUCE, LGT_INT64, LGT_STRIDE_UNIT, LGT_STRIDE_ANY}};
  lgt_inst inst[3] = {{LGT_OP_LOAD, d, 0, 0, 0, LGT_NO_VALUE, LGT_NO_VALUE},
                      {LGT_OP_LOAD, LGT_INT64, 0, 0, 1, LGT_NO_VALUE, LGT_NO_VALUE},
                      {LGT_OP_REDUCE_ARG, d, (uint8_t)redop, 0, 0, 2, 1}};
  lgt_loop loop = {.naccess = 4, .ninst = 3, .access = access, .inst = inst};
  lgt_base base[4] = {
      {.address = (char *)value}, {.address = (char *)value_at}, {.address = target}, {.address = target_at}};
  int64_t row[4] = {0}, size = lgt_dtype_size(dtype), col[4] = {size, 8, size, 8};
  lgt_slab slab = {1, n, base, row, col, NULL, 0};
  lgt_interp_run(&loop, &slab);
}

void lgt_redop_fold(int redop, int dtype, void *target, void *target_at, const void *value,
                    const void *value_at, int64_t n) {
  if (redop == LGT_REDOP_ARGMIN || redop == LGT_REDOP_ARGMAX)
    fold_pairs(redop, dtype, target, target_at, value, value_at, n);
  else fold_values(redop, dtype, target, value, n);
}

void lgt_redop_fill(int redop, int dtype, void *target, int64_t n) {
  lgt_scalar identity = lgt_redop_identity(redop, dtype);
  int size = lgt_dtype_size(dtype);
  for (int64_t i = 0; i < n; i++) lgt_dtype_store(dtype, (char *)target + i * size, identity);
}

/* ---- shapes ------------------------------------------------------------------------------------- */

static bool has_reduction(const lgt_loop *loop) {
  for (int a = 0; a < loop->naccess; a++)
    if (loop->access[a].mode == LGT_ACCESS_REDUCE) return true;
  return false;
}

static int64_t stride_of(const lgt_nest_shape *shape, int access, int dim) {
  return shape->stride[access * LGT_MAX_DIM + dim];
}

/* Walk dimensions d and d + 1 as one where every access allows it. */
static void merge_dims(const lgt_loop *loop, lgt_nest_shape *shape) {
  for (int d = shape->ndim - 2; d >= 0; d--) {
    bool together = true;
    for (int a = 0; a < loop->naccess && together; a++)
      together = stride_of(shape, a, d) == stride_of(shape, a, d + 1) * shape->extent[d + 1];
    if (!together) continue;
    shape->extent[d] *= shape->extent[d + 1];
    for (int a = 0; a < loop->naccess; a++) {
      int64_t *s = &shape->stride[a * LGT_MAX_DIM];
      s[d] = s[d + 1];
      for (int e = d + 1; e + 1 < shape->ndim; e++) s[e] = s[e + 1];
    }
    for (int e = d + 1; e + 1 < shape->ndim; e++) shape->extent[e] = shape->extent[e + 1];
    shape->ndim--;
  }
}

/* Does the first reduction's target move along dimension d?  (All of a loop's targets agree.) */
static bool kept(const lgt_loop *loop, const lgt_nest_shape *shape, int d) {
  for (int a = 0; a < loop->naccess; a++)
    if (loop->access[a].mode == LGT_ACCESS_REDUCE) return stride_of(shape, a, d) != 0;
  return true;
}

/* Which dimensions are kept tells how chunks, partial results and kernels' forms lie. */
static bool targets_agree(const lgt_loop *loop, const lgt_nest_shape *shape) {
  for (int a = 0; a < loop->naccess; a++)
    for (int d = 0; loop->access[a].mode == LGT_ACCESS_REDUCE && d < shape->ndim; d++)
      if (shape->extent[d] > 1 && (stride_of(shape, a, d) != 0) != kept(loop, shape, d)) return false;
  return true;
}

static int longest(const lgt_nest_shape *shape, unsigned allowed) {
  int best = -1;
  for (int d = 0; d < shape->ndim; d++) {
    if (!(allowed & (1u << d))) continue;
    if (shape->extent[d] >= SPLIT_MIN) return d; /* outer ones first */
    if (best < 0 || shape->extent[d] > shape->extent[best]) best = d;
  }
  return best;
}

static int64_t kept_size(const lgt_loop *loop, const lgt_nest_shape *shape) {
  int64_t n = 1;
  for (int d = 0; d < shape->ndim; d++)
    if (kept(loop, shape, d)) n *= shape->extent[d];
  return n;
}

/* A power of two, so that as many workers have equal shares. */
int lgt_reduction_chunks(int64_t size) {
  int chunks = 1;
  while (chunks < REDUCE_MAX_CHUNKS && (int64_t)chunks * 2 * REDUCE_CHUNK < size + REDUCE_CHUNK) chunks *= 2;
  return chunks;
}

/* The grain along columns whose rows are added one after another.  Any has the same bits, so that it may depend on workers:
 * wide chunks read more at a time, but everybody wants some. */
static int64_t wide_grain(int64_t grain, int64_t extent, int workers) {
  int64_t share = extent / (CHUNKS_OF_COLUMNS * (int64_t)workers);
  if (share > COLUMN_BLOCK) share = COLUMN_BLOCK;
  return grain > share ? grain : share;
}

/* The cut of a loop with reductions: from extents and kept dimensions only, where it tells in which order values are combined. */
static void cut_reduction(const lgt_loop *loop, lgt_nest_shape *shape, int workers) {
  unsigned keep = 0, all = (1u << shape->ndim) - 1;
  for (int d = 0; d < shape->ndim; d++)
    if (kept(loop, shape, d)) keep |= 1u << d;
  int split = keep ? longest(shape, keep) : -1;
  if (split < 0 || shape->extent[split] < SPLIT_MIN) {
    int other = longest(shape, all & ~keep);
    bool small = kept_size(loop, shape) * 16 * REDUCE_MAX_CHUNKS <= PARTIAL_MAX;
    if (split < 0 || (other >= 0 && small && shape->extent[other] > shape->extent[split])) split = other;
  }
  int64_t chunks = split < 0 ? 1 : lgt_reduction_chunks(shape->size);
  shape->split = split < 0 ? 0 : split;
  int64_t extent = split < 0 ? 1 : shape->extent[split];
  shape->grain = (extent + chunks - 1) / chunks;
  if (split == shape->ndim - 1 && keep & (1u << shape->split))
    shape->grain = wide_grain(shape->grain, extent, workers);
  if (split == shape->ndim - 1) shape->grain = (shape->grain + LGT_LANES - 1) / LGT_LANES * LGT_LANES;
  if (shape->grain < 1) shape->grain = 1;
  shape->nchunk = (int)((extent + shape->grain - 1) / shape->grain);
  shape->partial = shape->nchunk > 1 && !(keep & (1u << shape->split));
}

static void cut_plain(lgt_nest_shape *shape, int workers, bool costly, int64_t bytes) {
  int split = longest(shape, (1u << shape->ndim) - 1);
  int64_t chunks = shape->size / (costly ? LONG_CHUNK_MIN : CHUNK_MIN),
          most = (int64_t)workers * (costly ? LONG_CHUNKS_PER_WORKER : CHUNKS_PER_WORKER);
  if (chunks > most) chunks = most;
  if (costly && chunks > LONG_MAX_CHUNKS) chunks = LONG_MAX_CHUNKS;
  if (costly && chunks > bytes / LONG_CHUNK_BYTES) chunks = bytes / LONG_CHUNK_BYTES;
  if (chunks > workers && !costly) chunks -= chunks % workers; /* equal shares */
  if (chunks < 1 || split < 0) chunks = 1;
  shape->split = split < 0 ? 0 : split;
  int64_t extent = split < 0 ? 1 : shape->extent[split];
  shape->grain = (extent + chunks - 1) / chunks;
  if (split == shape->ndim - 1) shape->grain = (shape->grain + 63) / 64 * 64; /* whole cache lines */
  if (shape->grain < 1) shape->grain = 1;
  shape->nchunk = (int)((extent + shape->grain - 1) / shape->grain);
}

/* A reduction of the loop, as its instruction says. */
typedef struct reduction {
  int access; /* of the value; the position's is the next one */
  int redop;
  bool fresh, pair;
} reduction;

static int find_reductions(const lgt_loop *loop, reduction *out) {
  int n = 0;
  for (int i = 0; i < loop->ninst; i++) {
    const lgt_inst *in = &loop->inst[i];
    if (in->op != LGT_OP_REDUCE && in->op != LGT_OP_REDUCE_ARG) continue;
    lgt_assert(n < LGT_MAX_REDUCTIONS);
    bool pair = in->op == LGT_OP_REDUCE_ARG;
    out[n++] = (reduction){in->b, lgt_inst_redop(in), pair || (in->aux & LGT_REDUCE_FRESH), pair};
  }
  return n;
}

/* Are the columns of a slab of so many taken a few at a time?  So are targets that stand still along the rows, to stay in the
 * cache from row to row. */
static bool takes_blocks(const lgt_loop *loop, const lgt_nest_shape *shape, int64_t rows, int64_t cols) {
  int n = shape->ndim;
  return rows > 1 && cols > COLUMN_BLOCK && kept(loop, shape, n - 1) && !kept(loop, shape, n - 2);
}

/* Which reductions begin anew, and whether there is only one slab. */
static void note_slabs(const lgt_loop *loop, lgt_nest_shape *shape) {
  reduction reductions[LGT_MAX_REDUCTIONS];
  int reduced = find_reductions(loop, reductions), n = shape->ndim;
  for (int r = 0; r < reduced; r++)
    if (shape->partial || reductions[r].fresh) shape->open |= UINT64_C(1) << r;
  bool whole = n == 2 ? !takes_blocks(loop, shape, shape->extent[0], shape->extent[1])
                      : n < 2 && (!reduced || shape->size <= LGT_BLOCK);
  shape->single = whole && shape->nchunk == 1 && shape->size > 0;
}

void lgt_nest_shape_finish(const lgt_loop *loop, lgt_nest_shape *shape, int workers, bool costly,
                           int64_t bytes) {
  bool reduces = has_reduction(loop);
  shape->partial = shape->single = false;
  shape->partial_bytes = 0;
  shape->open = 0;
  shape->size = 1;
  for (int d = 0; d < shape->ndim; d++) shape->size *= shape->extent[d];
  if (!reduces && shape->size > 0) merge_dims(loop, shape);
  if (!reduces && shape->size == 0) {
    shape->split = 0;
    shape->grain = 1;
    shape->nchunk = 0;
    return;
  }
  lgt_assert(!reduces || targets_agree(loop, shape));
  if (reduces) cut_reduction(loop, shape, workers);
  else cut_plain(shape, workers, costly, bytes);
  if (shape->size == 0) shape->nchunk = 1; /* targets still get their identity */
  note_slabs(loop, shape);
  if (shape->partial)
    for (int a = 0; a < loop->naccess; a++)
      if (loop->access[a].mode == LGT_ACCESS_REDUCE)
        shape->partial_bytes +=
            (kept_size(loop, shape) * lgt_dtype_size(loop->access[a].dtype) + 63) / 64 * 64;
}

/* ---- running -------------------------------------------------------------------------------------- */

/* Fill the target's elements within [lo, hi) of the split dimension with `value`'s identity, or fold
 * into them: visits each distinct target element once, in C order of the kept dimensions. */
typedef void visit_fn(char *target, char *at, int64_t n, void *context);
static void visit_target(const lgt_nest_shape *shape, int access, char *target, char *at, int64_t lo,
                         int64_t hi, visit_fn *visit, void *context) {
  int64_t extent[LGT_MAX_DIM], stride[2][LGT_MAX_DIM], index[LGT_MAX_DIM] = {0}, place[2] = {0, 0};
  int n = 0;
  for (int d = 0; d < shape->ndim; d++) {
    if (!stride_of(shape, access, d)) continue;
    extent[n] = d == shape->split ? hi - lo : shape->extent[d];
    for (int i = 0; i < (at ? 2 : 1); i++) {
      stride[i][n] = stride_of(shape, access + i, d);
      if (d == shape->split) place[i] += lo * stride[i][n];
    }
    if (extent[n] <= 0) return;
    n++;
  }
  do {
    visit(target + place[0], at ? at + place[1] : NULL, 1, context);
  } while (
      lgt_index_next(n, extent, index, at ? 2 : 1, place, (const int64_t *const[]){stride[0], stride[1]}));
}

typedef struct fill_context {
  int redop, dtype;
} fill_context;

static void fill_element(char *target, char *at, int64_t n, void *context) {
  fill_context *c = context;
  lgt_redop_fill(c->redop, c->dtype, target, n);
  if (at) *(int64_t *)at = INT64_MAX;
}

/* Where a reduction of chunk c puts its results: address and strides of value and position. */
typedef struct target {
  lgt_base base[2];
  int64_t stride[2][LGT_MAX_DIM];
} target;

static int64_t partial_offset(const lgt_loop *loop, const lgt_nest_shape *shape, int access) {
  int64_t offset = 0, n = kept_size(loop, shape);
  for (int a = 0; a < access; a++)
    if (loop->access[a].mode == LGT_ACCESS_REDUCE)
      offset += (n * lgt_dtype_size(loop->access[a].dtype) + 63) / 64 * 64;
  return offset;
}

static void partial_target(const lgt_nest *nest, int chunk, int access, lgt_base *base, int64_t *stride) {
  const lgt_nest_shape *shape = nest->shape;
  int64_t s = lgt_dtype_size(nest->loop->access[access].dtype);
  base->address = nest->partial + chunk * shape->partial_bytes + partial_offset(nest->loop, shape, access);
  for (int d = shape->ndim - 1; d >= 0; d--) {
    stride[d] = 0;
    if (!stride_of(shape, access, d)) continue;
    stride[d] = s;
    s *= shape->extent[d];
  }
}

lgt_status lgt_nest_begin(lgt_nest *nest) {
  const lgt_nest_shape *shape = nest->shape;
  nest->partial = NULL;
  if (!shape->partial) return LGT_OK;
  nest->partial = lgt_mem_alloc((size_t)(shape->nchunk * shape->partial_bytes));
  if (!nest->partial)
    return lgt_err(LGT_NO_MEMORY, "out of memory for %lld bytes of partial results",
                   (long long)(shape->nchunk * shape->partial_bytes));
  return LGT_OK;
}

/* Where there is nothing to reduce, fresh targets become the identity. */
static void clear_targets(const lgt_nest *nest) {
  const lgt_nest_shape *shape = nest->shape;
  reduction reductions[LGT_MAX_REDUCTIONS];
  int n = find_reductions(nest->loop, reductions);
  for (int r = 0; r < n; r++) {
    const reduction *red = &reductions[r];
    fill_context context = {red->redop, nest->loop->access[red->access].dtype};
    int64_t all = shape->ndim ? shape->extent[shape->split] : 1;
    if (red->fresh)
      visit_target(shape, red->access, nest->base[red->access].address,
                   red->pair ? nest->base[red->access + 1].address : NULL, 0, all, fill_element, &context);
  }
}

/* What a chunk's walk needs; lives on the stack of lgt_nest_run. */
typedef struct walk {
  int64_t extent[LGT_MAX_DIM];
  lgt_base base[LGT_MAX_ACCESS];
  int64_t stride[LGT_MAX_ACCESS][LGT_MAX_DIM];
  int64_t row[LGT_MAX_ACCESS], col[LGT_MAX_ACCESS];
  uint64_t open;  /* reductions whose targets have no contents when the chunk begins */
  unsigned still; /* outer dimensions along which targets stand still: only index 0 finds them open */
} walk;

static void open_targets(walk *w, const lgt_nest *nest, int chunk) {
  const lgt_nest_shape *shape = nest->shape;
  reduction reductions[LGT_MAX_REDUCTIONS];
  int n = find_reductions(nest->loop, reductions);
  w->open = shape->open;
  w->still = 0;
  for (int d = 0; n && d + 2 < shape->ndim; d++)
    if (!kept(nest->loop, shape, d)) w->still |= 1u << d;
  for (int r = 0; r < n && shape->partial; r++) {
    const reduction *red = &reductions[r];
    for (int k = 0; k <= red->pair; k++)
      partial_target(nest, chunk, red->access + k, &w->base[red->access + k], w->stride[red->access + k]);
  }
}

static void run_kernel(const lgt_slab *slab, const lgt_loop *loop, lgt_kernel_fn code) {
  if (code) code(slab);
  else lgt_interp_run(loop, slab);
}

static void advance(const lgt_slab *slab, const lgt_loop *loop, lgt_base *base, int64_t cols) {
  for (int a = 0; a < loop->naccess; a++) base[a].index += cols * slab->col_stride[a];
}

static void run_slab(lgt_slab *slab, const lgt_loop *loop, lgt_kernel_fn code, lgt_base *base, bool blocked) {
  int64_t cols = slab->cols, block = blocked ? COLUMN_BLOCK : cols;
  if (!blocked) {
    run_kernel(slab, loop, code);
    return;
  }
  for (int64_t col = 0; col < cols; col += block) {
    slab->cols = cols - col < block ? cols - col : block;
    run_kernel(slab, loop, code);
    advance(slab, loop, base, slab->cols);
  }
  advance(slab, loop, base, -cols);
  slab->cols = cols;
}

/* A chunk of a nest of one dimension, or none: the elements from `lo` on.  `moves`: targets do not stand still. */
static lgt_status run_line(lgt_slab *slab, const lgt_loop *loop, lgt_kernel_fn code, lgt_base *base,
                           bool moves, int64_t lo, lgt_prelude *prelude) {
  int64_t hi = lo + slab->cols;
  for (; lo < hi; lo += slab->cols) {
    slab->cols = hi - lo < LGT_BLOCK ? hi - lo : LGT_BLOCK;
    lgt_status status = prelude ? prelude->run(prelude, base, lo, lo + slab->cols) : LGT_OK;
    if (status) return status;
    run_kernel(slab, loop, code);
    advance(slab, loop, base, slab->cols);
    if (!moves) slab->open = 0;
  }
  return LGT_OK;
}

static uint64_t open_at(const walk *w, const int64_t *index, int outer) {
  for (int d = 0; d < outer; d++)
    if (index[d] && w->still & (1u << d)) return 0;
  return w->open;
}

/* The addresses of the next slab; false: there is none. */
static bool next_slab(walk *w, int naccess, int outer, int64_t *index) {
  _Static_assert(sizeof(lgt_base) == sizeof(int64_t), "bases are an array of places");
  const int64_t *stride[LGT_MAX_ACCESS];
  if (!outer) return false;
  for (int a = 0; a < naccess; a++) stride[a] = w->stride[a];
  return lgt_index_next(outer, w->extent, index, naccess, &w->base->index, stride);
}

/* The points of a nest from `lo` to `hi` along a dimension: its n-th chunk, or any points if there is nothing to reduce. */
static lgt_status run_part(const lgt_nest *nest, lgt_kernel_fn code, int chunk, int along, int64_t lo,
                           int64_t hi, lgt_prelude *prelude) {
  const lgt_loop *loop = nest->loop;
  const lgt_nest_shape *shape = nest->shape;
  int n = shape->ndim, outer = n > 2 ? n - 2 : 0;
  walk w;
  for (int d = 0; d < n; d++) w.extent[d] = shape->extent[d];
  if (n > 0) w.extent[along] = hi - lo;
  for (int a = 0; a < loop->naccess; a++) {
    w.base[a] = nest->base[a];
    memcpy(w.stride[a], &shape->stride[a * LGT_MAX_DIM], sizeof w.stride[a]);
  }
  open_targets(&w, nest, chunk);
  for (int a = 0; a < loop->naccess; a++) {
    if (n > 0) w.base[a].index += lo * w.stride[a][along];
    w.row[a] = n >= 2 ? w.stride[a][n - 2] : 0;
    w.col[a] = n >= 1 ? w.stride[a][n - 1] : 0;
  }
  int64_t index[LGT_MAX_DIM] = {0};
  lgt_slab slab = {
      n >= 2 ? w.extent[n - 2] : 1, n >= 1 ? w.extent[n - 1] : 1, w.base, w.row, w.col, nest->param, 0};
  if (n < 2) {
    slab.open = w.open;
    if (prelude || has_reduction(loop))
      return run_line(&slab, loop, code, w.base, n == 1 && kept(loop, shape, 0), n == 1 ? lo : 0, prelude);
  }
  bool blocked = takes_blocks(loop, shape, slab.rows, slab.cols);
  do {
    slab.open = open_at(&w, index, outer);
    run_slab(&slab, loop, code, w.base, blocked);
  } while (next_slab(&w, loop->naccess, outer, index));
  return LGT_OK;
}

/* The only slab, at the nest's own addresses. */
static void run_single(const lgt_nest *nest, lgt_kernel_fn code) {
  const lgt_loop *loop = nest->loop;
  const lgt_nest_shape *shape = nest->shape;
  int64_t row[LGT_MAX_ACCESS], col[LGT_MAX_ACCESS];
  int n = shape->ndim;
  for (int a = 0; a < loop->naccess; a++) {
    row[a] = n >= 2 ? stride_of(shape, a, 0) : 0;
    col[a] = n >= 1 ? stride_of(shape, a, n - 1) : 0;
  }
  lgt_slab slab = {.rows = n >= 2 ? shape->extent[0] : 1,
                   .cols = n >= 1 ? shape->extent[n - 1] : 1,
                   .base = nest->base,
                   .row_stride = row,
                   .col_stride = col,
                   .param = nest->param,
                   .open = shape->open};
  run_kernel(&slab, loop, code);
}

lgt_status lgt_nest_run(const lgt_nest *nest, lgt_kernel_fn code, int chunk, lgt_prelude *prelude) {
  const lgt_nest_shape *shape = nest->shape;
  if (shape->single && !prelude) return run_single(nest, code), LGT_OK;
  if (shape->size == 0) {
    clear_targets(nest);
    return LGT_OK;
  }
  int64_t lo = chunk * shape->grain, hi = lo + shape->grain;
  if (shape->ndim > 0 && hi > shape->extent[shape->split]) hi = shape->extent[shape->split];
  return run_part(nest, code, chunk, shape->split, lo, hi, prelude);
}

bool lgt_loop_reduces(const lgt_loop *loop) { return has_reduction(loop); }

void lgt_nest_run_rows(const lgt_nest *nest, lgt_kernel_fn code, int64_t lo, int64_t hi) {
  if (lo < hi) run_part(nest, code, 0, 0, lo, hi, NULL);
}

typedef struct fold_context {
  int redop, dtype;
  bool fresh;
  const char *value, *at; /* advance */
} fold_context;

static void fold_element(char *target, char *at, int64_t n, void *context) {
  fold_context *c = context;
  int size = lgt_dtype_size(c->dtype);
  if (c->fresh) {
    memcpy(target, c->value, (size_t)size);
    if (at) memcpy(at, c->at, 8);
  } else {
    lgt_redop_fold(c->redop, c->dtype, target, at, c->value, c->at, n);
  }
  c->value += size;
  if (at) c->at += 8;
}

void lgt_nest_end(lgt_nest *nest) {
  const lgt_loop *loop = nest->loop;
  const lgt_nest_shape *shape = nest->shape;
  reduction reductions[LGT_MAX_REDUCTIONS];
  if (!nest->partial) return;
  int n = find_reductions(loop, reductions);
  int64_t size = kept_size(loop, shape);
  for (int r = 0; r < n; r++) {
    reduction *red = &reductions[r];
    int dtype = loop->access[red->access].dtype;
    char *value = nest->partial + partial_offset(loop, shape, red->access);
    char *at = red->pair ? nest->partial + partial_offset(loop, shape, red->access + 1) : NULL;
    /* Neighbours at distance 1, 2, 4, ...: the same pairs as p[i] = p[2i] op p[2i + 1]. */
    for (int64_t step = 1; step < shape->nchunk; step *= 2)
      for (int64_t i = 0; i + step < shape->nchunk; i += 2 * step) {
        int64_t a = i * shape->partial_bytes, b = (i + step) * shape->partial_bytes;
        lgt_redop_fold(red->redop, dtype, value + a, at ? at + a : NULL, value + b, at ? at + b : NULL, size);
      }
    fold_context context = {red->redop, dtype, red->fresh, value, at};
    int64_t all = shape->ndim ? shape->extent[shape->split] : 1;
    visit_target(shape, red->access, nest->base[red->access].address,
                 red->pair ? nest->base[red->access + 1].address : NULL, 0, all, fold_element, &context);
  }
  lgt_mem_free(nest->partial);
  nest->partial = NULL;
}
