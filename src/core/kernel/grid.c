/* grid.c - see grid.h. */
#include "kernel/grid.h"

#include "kernel/helper.h"

#include <stddef.h>
#include <string.h>

enum {
  MOST_BLOCKS = 1 << 16,
  FOLD_THREADS = 128,
  PAIR_THREADS = LGT_GRID_THREADS,
  MOST_LANES = 8,
  VECTOR_BYTES = 16
};
enum { COLUMN_THREADS = 64, MANY_THREADS = 1 << 16 };
enum { WIDE_ELEMENTS = 256, WIDE_UNITS = 4096, WIDE_UNITS_AHEAD = 1024, WIDE_BYTES = 48 };
enum { TILE_BYTES = 46 }; /* 48 KiB of shared memory */

typedef enum form { FORM_NONE, FORM_LANES, FORM_ROW, FORM_VECTOR, FORM_MIXED } form;

/* ---- loops ---------------------------------------------------------------------------------------- */

static form form_of(const lgt_loop *loop) {
  form all = FORM_NONE;
  for (int a = 0; a < loop->naccess; a++) {
    const lgt_access *access = &loop->access[a];
    if (access->mode != LGT_ACCESS_REDUCE) continue;
    form own = access->inner != LGT_STRIDE_ZERO ? FORM_VECTOR
               : access->row == LGT_STRIDE_ZERO ? FORM_LANES
                                                : FORM_ROW;
    if (all != FORM_NONE && own != all) return FORM_MIXED;
    all = own;
  }
  return all;
}

static int count_targets(const lgt_loop *loop) {
  int n = 0;
  for (int a = 0; a < loop->naccess; a++) n += loop->access[a].mode == LGT_ACCESS_REDUCE;
  return n;
}

_Static_assert(sizeof(lgt_grid_head) % 8 == 0 && sizeof(lgt_grid_fold) % 8 == 0, "what follows is aligned");

/* Arrays of the kernel's parameter that have an element for each access, without the outer dimensions'. */
enum { BASE, ROW, COLUMN, OUTER };
/* Along chunks, along blocks; only reductions have these. */
static int more(const lgt_loop *loop) { return form_of(loop) == FORM_NONE ? 0 : 2; }

static int param_bytes(const lgt_loop *loop, int dims) {
  return (int)sizeof(lgt_grid_head) + (OUTER + dims + more(loop)) * 8 * loop->naccess +
         loop->nparam * (int)sizeof(lgt_scalar);
}

int lgt_grid_dims(const lgt_loop *loop) {
  int dims = LGT_MAX_DIM - 2;
  if (form_of(loop) == FORM_MIXED || lgt_grid_fold_bytes(loop) > LGT_GRID_PARAM_MOST) return -1;
  while (dims >= 0 && param_bytes(loop, dims) > LGT_GRID_PARAM_MOST) dims--;
  return dims;
}

int lgt_grid_param_bytes(const lgt_loop *loop) { return param_bytes(loop, lgt_grid_dims(loop)); }

int lgt_grid_fold_bytes(const lgt_loop *loop) {
  return (int)sizeof(lgt_grid_fold) + count_targets(loop) * (int)sizeof(lgt_grid_target);
}

/* What takes long is not faster by vectors, and the code of each lane is written out. */
static bool takes_long(const lgt_inst *in, const lgt_loop *loop) {
  bool real = lgt_dtype_is_float(in->dtype);
  if (in->op == LGT_OP_PHILOX || in->op == LGT_OP_POWER || lgt_math_has(in->op)) return true;
  if (in->op == LGT_OP_LOAD || in->op == LGT_OP_STORE) {
    int inner = loop->access[in->op == LGT_OP_LOAD ? in->a : in->b].inner;
    return inner != LGT_STRIDE_UNIT && inner != LGT_STRIDE_ZERO;
  }
  return (in->op >= LGT_OP_FLOORDIV && in->op <= LGT_OP_FMOD) || (in->op == LGT_OP_DIV && !real);
}

int lgt_grid_lanes(const lgt_loop *loop) {
  int widest = 0;
  for (int i = 0; i < loop->ninst; i++)
    if (takes_long(&loop->inst[i], loop)) return 1;
  for (int a = 0; a < loop->naccess; a++) {
    const lgt_access *access = &loop->access[a];
    int size = lgt_dtype_size(access->dtype);
    if (access->mode == LGT_ACCESS_REDUCE) return 1;
    if (access->mode != LGT_ACCESS_INDEX && access->inner == LGT_STRIDE_UNIT && size > widest) widest = size;
  }
  int lanes = widest ? VECTOR_BYTES / widest : 1;
  return lanes < MOST_LANES ? lanes : MOST_LANES;
}

/* Is it a few instructions, without branches or calls? */
static bool is_simple(int op) {
  if (op == LGT_OP_STORE || op == LGT_OP_DIV || op == LGT_OP_POW || op == LGT_OP_ATAN2 || op == LGT_OP_HYPOT)
    return false;
  return op < LGT_OP_SQRT && !(op >= LGT_OP_FLOORDIV && op <= LGT_OP_FMOD);
}

int lgt_grid_ahead(const lgt_loop *loop) {
  int loads = 0;
  if (loop->ninst > LGT_GRID_AHEAD_INSTS || loop->naccess > LGT_GRID_AHEAD_ACCESSES) return 1;
  for (int i = 0; i < loop->ninst; i++)
    if (!is_simple(loop->inst[i].op)) return 1;
  for (int a = 0; a < loop->naccess; a++)
    loads += loop->access[a].mode == LGT_ACCESS_LOAD && loop->access[a].inner != LGT_STRIDE_ZERO;
  return loads == 0 || loads > 4 ? 1 : LGT_GRID_AHEAD / (loads == 3 ? 4 : loads);
}

int lgt_grid_wide(const lgt_loop *loop) {
  int bytes = 0;
  form form = form_of(loop);
  if (form != FORM_LANES && form != FORM_ROW) return 0;
  for (int a = 0; a < loop->naccess; a++) {
    int dtype = loop->access[a].dtype;
    if (loop->access[a].mode == LGT_ACCESS_REDUCE) bytes += dtype == LGT_FLOAT16 ? 4 : lgt_dtype_size(dtype);
  }
  return bytes <= WIDE_BYTES ? bytes : 0;
}

bool lgt_grid_staged(const lgt_access *access) {
  return access->mode == LGT_ACCESS_LOAD && access->inner == LGT_STRIDE_ANY;
}

int lgt_grid_tiles(const lgt_loop *loop) {
  int bytes = 0;
  bool along = false;
  if (form_of(loop) != FORM_NONE) return 0;
  for (int a = 0; a < loop->naccess; a++) {
    const lgt_access *access = &loop->access[a];
    if (lgt_grid_staged(access)) bytes += lgt_dtype_size(access->dtype);
    along |= access->mode == LGT_ACCESS_STORE &&
             (access->inner == LGT_STRIDE_UNIT || access->inner == LGT_STRIDE_PAIR);
  }
  return along && bytes <= TILE_BYTES ? bytes : 0;
}

/* ---- nests ---------------------------------------------------------------------------------------- */

/* A nest, and what follows from it. */
typedef struct plan {
  const lgt_loop *loop;
  const lgt_nest_shape *shape;
  form form;
  int n, outer;
  unsigned keep; /* dimensions along which targets move */
  int64_t kept;  /* elements of a target */
  int chunks;
  bool chunked;   /* chunks are among the units */
  bool raw;       /* slabs' results go through scratch memory */
  int64_t blocks; /* of a chunk */
  int64_t per_chunk, outer_steps, middle, inner, grain;
  int64_t scratch; /* bytes so far */
  uint64_t base;   /* of the scratch memory */
} plan;

static int64_t stride_at(const plan *p, int access, int dim) {
  return p->shape->stride[access * LGT_MAX_DIM + dim];
}
static bool is_kept(const plan *p, int dim) { return p->keep >> dim & 1; }
static int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

static void find_kept(plan *p) {
  p->keep = (1u << p->n) - 1;
  for (int a = 0; a < p->loop->naccess && p->form; a++)
    if (p->loop->access[a].mode == LGT_ACCESS_REDUCE) {
      p->keep = 0;
      for (int d = 0; d < p->n; d++) p->keep |= (unsigned)(stride_at(p, a, d) != 0) << d;
      break;
    }
  p->kept = 1;
  for (int d = 0; d < p->n; d++)
    if (is_kept(p, d)) p->kept *= p->shape->extent[d];
}

static lgt_status refuse(const char *why) { return lgt_err(LGT_UNSUPPORTED, "not for devices: %s", why); }

static lgt_status check(const plan *p) {
  const lgt_loop *loop = p->loop;
  int dims = lgt_grid_dims(loop);
  if (p->form == FORM_MIXED) return refuse("its reductions are of several forms");
  if (dims < 0) return refuse("a loop of too many accesses");
  if (p->outer > dims) return refuse("a loop of too many accesses for so many dimensions");
  for (int a = 0; a < loop->naccess; a++)
    for (int d = 0; d < p->n; d++) {
      if (loop->access[a].mode == LGT_ACCESS_STORE && d < p->n - 1 && stride_at(p, a, d) == 0 &&
          p->shape->extent[d] > 1)
        return refuse("elements are written many times");
      if (loop->access[a].mode == LGT_ACCESS_REDUCE && (stride_at(p, a, d) != 0) != is_kept(p, d))
        return refuse("its reductions are of several forms");
    }
  for (int d = 0; d < p->outer; d++)
    if (p->shape->extent[d] > UINT32_MAX) return refuse("a dimension is too long");
  return LGT_OK;
}

static plan plan_of(const lgt_loop *loop, const lgt_nest_shape *shape) {
  plan p = {.loop = loop, .shape = shape, .form = form_of(loop), .n = shape->ndim, .chunks = 1, .blocks = 1};
  p.outer = p.n > 2 ? p.n - 2 : 0;
  find_kept(&p);
  return p;
}

lgt_status lgt_grid_check(const lgt_loop *loop, const lgt_nest_shape *shape) {
  plan p = plan_of(loop, shape);
  return check(&p);
}

/* The product of the outer dimensions in [from, to) along which targets stand still. */
static int64_t still(const plan *p, int from, int to) {
  int64_t product = 1;
  for (int d = from; d < to; d++)
    if (!is_kept(p, d)) product *= p->shape->extent[d];
  return product;
}

/* How chunks, blocks and steps follow one another. */
static void plan_reduction(plan *p) {
  const lgt_nest_shape *shape = p->shape;
  bool lanes = p->form != FORM_VECTOR, line = p->n < 2;
  int split = shape->split;
  if (shape->partial) p->chunks = shape->nchunk;
  p->outer_steps = p->inner = 1;
  p->middle = p->grain = p->per_chunk = still(p, 0, p->outer);
  p->chunked = shape->partial && (!lanes || split >= p->outer);
  if (!lanes) return;
  if (line) {
    int64_t cols = p->n ? shape->extent[0] : 1, grain = shape->partial ? shape->grain : cols;
    p->blocks = p->per_chunk = p->grain = divide_up(grain, LGT_BLOCK);
    p->middle = (p->chunks - 1) * p->blocks + divide_up(cols - (p->chunks - 1) * grain, LGT_BLOCK);
  } else if (p->chunked) {
    p->outer_steps = p->per_chunk;
    p->middle = p->chunks;
    p->grain = 1;
  } else if (shape->partial) {
    p->outer_steps = still(p, 0, split);
    p->inner = still(p, split + 1, p->outer);
    p->middle = shape->extent[split];
    p->grain = shape->grain;
    p->per_chunk = p->outer_steps * p->grain * p->inner;
  }
  p->raw = p->per_chunk > 1;
}

static int64_t take_scratch(plan *p, int64_t bytes) {
  int64_t at = p->scratch;
  p->scratch += (bytes + 63) / 64 * 64;
  return (int64_t)p->base + at;
}

/* ---- the kernel's parameters ------------------------------------------------------------------------- */

/* Its arrays. */
typedef struct arrays {
  int64_t *data; /* borrowed */
  int naccess, dims;
} arrays;
static int64_t *entry(const arrays *t, int array, int access) {
  return &t->data[array * t->naccess + access];
}

/* Where a target is, or what takes its place, and its strides along dimensions and chunks. */
typedef struct place {
  int64_t base, stride[LGT_MAX_DIM], chunk, block;
} place;

static place own_place(const plan *p, const lgt_nest *nest, int a) {
  place at = {.base = nest->base[a].index};
  for (int d = 0; d < p->n; d++) at.stride[d] = stride_at(p, a, d);
  return at;
}

static place partial_place(const plan *p, int64_t base, int size) {
  place at = {.base = base, .chunk = p->kept * size};
  int64_t s = size;
  for (int d = p->n - 1; d >= 0; d--) {
    if (!is_kept(p, d)) continue;
    at.stride[d] = s;
    s *= p->shape->extent[d];
  }
  /* A chunk of one slab, which the units do not know as a chunk. */
  if (!p->chunked) at.stride[p->shape->split] = at.chunk;
  return at;
}

static place raw_place(const plan *p, int64_t base, int size) {
  place at = {.base = base, .chunk = size, .block = size};
  int64_t steps = p->outer_steps * p->middle * p->inner, s = size, k = size * steps;
  if (p->n < 2) at.chunk = p->blocks * size;
  else if (p->chunked) s *= p->chunks;
  for (int d = p->n - 1; d >= 0; d--) {
    if (is_kept(p, d)) {
      at.stride[d] = k;
      k *= p->shape->extent[d];
    } else if (d < p->outer) {
      at.stride[d] = s;
      s *= p->shape->extent[d];
    }
  }
  return at;
}

/* A slot for each outer dimension: parallel ones from 0 on, sequential ones from the last down, the fastest first. */
static void sort_dims(const plan *p, lgt_grid_head *head, int *dim) {
  int slots = lgt_grid_dims(p->loop);
  for (int i = 0; i < LGT_MAX_DIM; i++) dim[i] = -1;
  for (int d = p->outer - 1; d >= 0; d--) {
    bool sequential = p->form == FORM_VECTOR && !is_kept(p, d);
    int slot = sequential ? slots - 1 - (int)head->sequential++ : (int)head->parallel++;
    head->extent[slot] = (uint32_t)p->shape->extent[d];
    dim[slot] = d;
  }
}

static void cut_slabs(const plan *p, lgt_grid_head *head, const int *dim) {
  const lgt_nest_shape *shape = p->shape;
  int n = p->n, split = shape->split;
  head->row_most = head->rows = n >= 2 ? shape->extent[n - 2] : 1;
  head->col_most = head->cols = head->block = n >= 1 ? shape->extent[n - 1] : 1;
  head->split = LGT_MAX_DIM;
  head->chunks = p->chunked ? (uint32_t)p->chunks : 1;
  head->blocks = (uint32_t)p->blocks;
  if (p->form != FORM_NONE && p->form != FORM_VECTOR && n < 2) head->block = LGT_BLOCK;
  if (!p->chunked) return;
  if (split == n - 1) {
    head->col_most = head->col_step = shape->grain;
    if (n >= 2) head->block = shape->grain;
  } else if (split == n - 2) {
    head->row_most = head->row_step = shape->grain;
  } else {
    for (int i = 0; i < LGT_MAX_DIM; i++)
      if (dim[i] == split) head->split = (uint32_t)i;
    head->split_most = head->split_step = (uint32_t)shape->grain;
  }
}

static void fill_access(const plan *p, const int *dim, const arrays *t, int a, const place *at) {
  int n = p->n;
  *entry(t, BASE, a) = at->base;
  *entry(t, ROW, a) = n >= 2 ? at->stride[n - 2] : 0;
  *entry(t, COLUMN, a) = n >= 1 ? at->stride[n - 1] : 0;
  for (int i = 0; i < t->dims; i++) *entry(t, OUTER + i, a) = dim[i] < 0 ? 0 : at->stride[dim[i]];
  if (!more(p->loop)) return;
  *entry(t, OUTER + t->dims, a) = at->chunk;
  *entry(t, OUTER + t->dims + 1, a) = at->block;
}

static bool is_aligned(const plan *p, const place *at) {
  int64_t bits = at->base;
  for (int d = 0; d < p->n - 1; d++)
    if (p->shape->extent[d] > 1) bits |= at->stride[d];
  return bits % VECTOR_BYTES == 0;
}

/* A block for each unit, whose threads are over columns and rows.  False: units are many, or small. */
static bool size_wide(const plan *p, const lgt_grid_head *head, lgt_grid_launch *launch) {
  int64_t cols = head->block, rows = p->form == FORM_ROW ? 1 : head->row_most;
  uint32_t most = lgt_grid_ahead(p->loop) > 1 ? WIDE_UNITS_AHEAD : WIDE_UNITS;
  unsigned *block = launch->block;
  if (cols > head->col_most) cols = head->col_most;
  if (!lgt_grid_wide(p->loop) || head->units > most || (cols < WIDE_ELEMENTS && cols * rows < WIDE_ELEMENTS))
    return false;
  for (block[0] = LGT_LANES; block[0] < cols && block[0] < LGT_GRID_WIDE_THREADS;) block[0] *= 2;
  for (block[1] = 1; block[1] < rows && block[0] * block[1] < LGT_GRID_WIDE_THREADS;) block[1] *= 2;
  launch->grid[0] = head->units;
  launch->kernel = "lgt_wide";
  return true;
}

/* A square of elements for each block: what lies apart along the columns does not along the rows. */
static bool size_tiles(const plan *p, const lgt_grid_head *head, lgt_grid_launch *launch) {
  if (!lgt_grid_tiles(p->loop) || p->n < 2 || head->rows < LGT_GRID_TILE / 2 ||
      head->cols < LGT_GRID_TILE / 2)
    return false;
  for (int a = 0; a < p->loop->naccess; a++) {
    int64_t stride = stride_at(p, a, p->n - 2), most = 2 * lgt_dtype_size(p->loop->access[a].dtype);
    if (lgt_grid_staged(&p->loop->access[a]) && (stride > most || stride < -most || stride == 0))
      return false;
  }
  launch->kernel = "lgt_tiles";
  launch->block[0] = LGT_GRID_TILE;
  launch->block[1] = LGT_GRID_THREADS / LGT_GRID_TILE;
  return true;
}

/* A thread for each column (or some of them) and row, or 16 for each unit. */
static lgt_status size_grid(const plan *p, lgt_grid_head *head, lgt_grid_launch *launch) {
  unsigned *grid = launch->grid, *block = launch->block;
  launch->kernel = "lgt_kernel";
  grid[1] = grid[2] = block[0] = block[1] = block[2] = 1;
  if (p->form == FORM_LANES || p->form == FORM_ROW) {
    if (size_wide(p, head, launch)) return LGT_OK;
    int64_t blocks = divide_up(head->units, LGT_GRID_THREADS / LGT_LANES);
    block[0] = LGT_GRID_THREADS;
    grid[0] = (unsigned)(blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS);
    return LGT_OK;
  }
  int64_t rows = p->form == FORM_VECTOR ? head->row_units : head->rows;
  int64_t width = divide_up(head->cols, lgt_grid_lanes(p->loop)), tiles;
  bool square = size_tiles(p, head, launch);
  bool few = p->form == FORM_VECTOR && width < MANY_THREADS && rows < MANY_THREADS &&
             width * rows * head->units < MANY_THREADS;
  unsigned most = few ? COLUMN_THREADS : LGT_GRID_THREADS; /* few: so that all multiprocessors have some */
  for (; !square && block[0] < width && block[0] < most;) block[0] *= 2;
  for (; !square && block[1] < rows && block[0] * block[1] < most;) block[1] *= 2;
  int64_t x = divide_up(width, block[0]), y = divide_up(rows, square ? LGT_GRID_TILE : block[1]);
  if (__builtin_mul_overflow(x, y, &tiles) || __builtin_mul_overflow(tiles, (int64_t)head->units, &tiles) ||
      tiles > INT32_MAX)
    return refuse("too many elements");
  head->tiles_x = (uint32_t)x;
  head->tiles_y = (uint32_t)y;
  grid[0] = (unsigned)tiles;
  return LGT_OK;
}

/* Is it read or written in pieces of several elements, if it lies well? */
static bool is_vector(const lgt_access *access) {
  return access->inner == LGT_STRIDE_UNIT && access->mode != LGT_ACCESS_INDEX;
}

/* The struct of lgt_kernel. */
static lgt_status fill_kernel(plan *p, const lgt_nest *nest, const place *target, lgt_grid *out) {
  lgt_grid_launch *launch = &out->launch[out->nlaunch++];
  lgt_grid_head head = {0};
  int dim[LGT_MAX_DIM];
  const lgt_loop *loop = p->loop;
  arrays t = {(int64_t *)(launch->param + sizeof head), loop->naccess, lgt_grid_dims(loop)};
  sort_dims(p, &head, dim);
  cut_slabs(p, &head, dim);
  head.row_units = 1;
  if (p->form && p->n >= 2 && is_kept(p, p->n - 2)) {
    if (head.rows > UINT32_MAX) return refuse("a dimension is too long");
    head.row_units = (uint32_t)head.rows;
  }
  head.open = p->shape->partial;
  head.raw = p->raw;
  head.aligned = 1;
  int64_t units = (int64_t)head.chunks * head.blocks;
  for (uint32_t i = 0; i < head.parallel; i++)
    if (__builtin_mul_overflow(units, (int64_t)head.extent[i], &units)) return refuse("too many elements");
  if (__builtin_mul_overflow(units, p->form == FORM_VECTOR ? 1 : (int64_t)head.row_units, &units) ||
      units > INT32_MAX)
    return refuse("too many elements");
  head.units = (uint32_t)units;
  for (int a = 0; a < loop->naccess; a++) {
    place at = loop->access[a].mode == LGT_ACCESS_REDUCE ? target[a] : own_place(p, nest, a);
    if (loop->access[a].mode != LGT_ACCESS_REDUCE && p->form != FORM_NONE) {
      int64_t col = p->n ? at.stride[p->n - 1] : 0;
      if (p->chunked) at.chunk = p->shape->grain * at.stride[p->shape->split];
      at.block = LGT_BLOCK * col;
    }
    if (is_vector(&loop->access[a]) && !is_aligned(p, &at)) head.aligned = 0;
    fill_access(p, dim, &t, a, &at);
  }
  lgt_status status = size_grid(p, &head, launch);
  memcpy(launch->param, &head, sizeof head);
  if (loop->nparam)
    memcpy(entry(&t, OUTER + t.dims + more(loop), 0), nest->param, loop->nparam * sizeof *nest->param);
  launch->shared = 0;
  launch->param_bytes = lgt_grid_param_bytes(loop);
  return status;
}

/* ---- folding -------------------------------------------------------------------------------------------- */

/* The threads of lgt_chunks: over elements, and over the pairs of an element's partial results. */
static void size_pairs(const plan *p, unsigned block[3]) {
  for (block[0] = 1; block[0] < p->kept && block[0] < FOLD_THREADS;) block[0] *= 2;
  for (block[1] = 1; 4 * (int)block[1] <= p->chunks && block[0] * block[1] < PAIR_THREADS;) block[1] *= 2;
}

/* Of lgt_chunks, where each element has pairs; or of lgt_steps. */
static lgt_status fill_fold(const plan *p, bool pairs, const lgt_grid_target *target, int ntarget,
                            int64_t threads, lgt_grid *out) {
  lgt_grid_launch *launch = &out->launch[out->nlaunch++];
  lgt_grid_fold fold = {.kept = (uint32_t)p->kept,
                        .chunks = (uint32_t)p->chunks,
                        .outer = (uint32_t)p->outer_steps,
                        .middle = (uint32_t)p->middle,
                        .inner = (uint32_t)p->inner,
                        .grain = (uint32_t)p->grain,
                        .partial = p->shape->partial};
  if (threads > INT32_MAX || p->outer_steps * p->middle * p->inner > INT32_MAX)
    return refuse("too many elements");
  for (int d = p->n - 1; d >= 0; d--)
    if (is_kept(p, d)) fold.extent[fold.ndim++] = (uint32_t)p->shape->extent[d];
  memcpy(launch->param, &fold, sizeof fold);
  memcpy(launch->param + sizeof fold, target, (size_t)ntarget * sizeof *target);
  launch->kernel = pairs ? "lgt_chunks" : "lgt_steps";
  launch->shared = 0;
  launch->param_bytes = lgt_grid_fold_bytes(p->loop);
  memcpy(launch->block, (unsigned[3]){FOLD_THREADS, 1, 1}, sizeof launch->block);
  if (pairs) size_pairs(p, launch->block);
  int64_t blocks = divide_up(threads, launch->block[0]);
  memcpy(launch->grid, (unsigned[3]){(unsigned)(blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS), 1, 1},
         sizeof launch->grid);
  return LGT_OK;
}

lgt_status lgt_grid_of(const lgt_nest *nest, void *scratch, lgt_grid *out) {
  plan p = plan_of(nest->loop, nest->shape);
  lgt_grid_target target[2 * LGT_MAX_REDUCTIONS];
  place at[LGT_MAX_ACCESS];
  int ntarget = 0;
  bool nothing = p.shape->size == 0;
  lgt_status status = check(&p);
  out->nlaunch = 0;
  out->scratch_bytes = 0;
  if (status || (nothing && (!p.form || p.kept == 0))) return status;
  p.base = (uint64_t)(uintptr_t)scratch;
  if (p.form) plan_reduction(&p);
  if (nothing) p.middle = p.grain = 0;
  for (int a = 0; a < p.loop->naccess; a++) {
    if (p.loop->access[a].mode != LGT_ACCESS_REDUCE) continue;
    int size = lgt_dtype_size(p.loop->access[a].dtype);
    lgt_grid_target *t = &target[ntarget++];
    *t = (lgt_grid_target){.target = (uint64_t)nest->base[a].index, .chunk = p.kept * size};
    for (int d = p.n - 1, k = 0; d >= 0; d--)
      if (is_kept(&p, d)) t->stride[k++] = stride_at(&p, a, d);
    at[a] = own_place(&p, nest, a);
    if (p.shape->partial) {
      t->partial = (uint64_t)take_scratch(&p, p.chunks * p.kept * size);
      at[a] = partial_place(&p, (int64_t)t->partial, size);
    }
    if (p.raw) {
      t->steps = (uint64_t)take_scratch(&p, p.kept * p.outer_steps * p.middle * p.inner * size);
      at[a] = raw_place(&p, (int64_t)t->steps, size);
    }
  }
  if (!nothing) status = fill_kernel(&p, nest, at, out);
  if (!status && (p.raw || nothing)) status = fill_fold(&p, false, target, ntarget, p.kept * p.chunks, out);
  if (!status && p.shape->partial) status = fill_fold(&p, true, target, ntarget, p.kept, out);
  if (status) out->nlaunch = 0;
  out->scratch_bytes = p.scratch;
  return status;
}

/* ---- once more ------------------------------------------------------------------------------------------ */

static bool has_shape(const lgt_grid_record *record, const lgt_nest *nest) {
  const lgt_nest_shape *shape = nest->shape;
  return record->stride && record->ndim == shape->ndim &&
         !memcmp(record->extent, shape->extent, (size_t)shape->ndim * sizeof *shape->extent) &&
         !memcmp(record->stride, shape->stride, nest->loop->naccess * LGT_MAX_DIM * sizeof *shape->stride) &&
         record->partial == shape->partial &&
         (!shape->partial || (record->split == shape->split && record->nchunk == shape->nchunk &&
                              record->grain == shape->grain));
}

static int64_t *bases_of(lgt_grid_launch *launch) {
  return (int64_t *)(launch->param + sizeof(lgt_grid_head));
}

/* Is the access's base in lgt_kernel's parameter that of the nest? */
static bool is_own(const lgt_grid_record *record, const lgt_access *access) {
  return access->mode != LGT_ACCESS_REDUCE || !record->moved;
}

/* Other bases and other parameters. */
static void refill(lgt_grid_record *record, const lgt_nest *nest) {
  const lgt_loop *loop = nest->loop;
  lgt_grid_launch *launch = record->launch;
  int64_t *base = bases_of(launch);
  uint32_t aligned = record->aligned;
  for (int a = 0, k = 0; a < loop->naccess; a++) {
    const lgt_access *access = &loop->access[a];
    int64_t own = nest->base[a].index;
    if (is_own(record, access)) {
      base[a] = own;
      if (own % VECTOR_BYTES && is_vector(access)) aligned = 0;
    }
    if (access->mode != LGT_ACCESS_REDUCE) continue;
    for (int i = 1; i < record->nlaunch; i++) {
      lgt_grid_target *target = (lgt_grid_target *)(launch[i].param + sizeof(lgt_grid_fold));
      target[k].target = (uint64_t)own;
    }
    k++;
  }
  memcpy(launch->param + offsetof(lgt_grid_head, aligned), &aligned, sizeof aligned);
  size_t bytes = loop->nparam * sizeof *nest->param;
  if (bytes) memcpy(launch->param + launch->param_bytes - bytes, nest->param, bytes);
}

const lgt_grid_launch *lgt_grid_again(lgt_grid_memo *memo, const lgt_nest *nest, const void *scratch,
                                      int *nlaunch) {
  for (int i = 0; i < LGT_GRID_RECORDS; i++) {
    lgt_grid_record *record = &memo->record[i];
    if (!has_shape(record, nest) || (record->scratch && record->scratch != scratch)) continue;
    refill(record, nest);
    *nlaunch = record->nlaunch;
    return record->launch;
  }
  return NULL;
}

/* That of the same shape, whose scratch memory is elsewhere now; or the one that was made longest ago. */
static lgt_grid_record *record_for(lgt_grid_memo *memo, const lgt_nest *nest) {
  for (int i = 0; i < LGT_GRID_RECORDS; i++)
    if (has_shape(&memo->record[i], nest)) return &memo->record[i];
  lgt_grid_record *record = &memo->record[memo->next];
  memo->next = (memo->next + 1) % LGT_GRID_RECORDS;
  return record;
}

void lgt_grid_remember(lgt_grid_memo *memo, const lgt_nest *nest, const void *scratch, const lgt_grid *grid) {
  plan p = plan_of(nest->loop, nest->shape);
  size_t bytes = p.loop->naccess * LGT_MAX_DIM * sizeof *p.shape->stride;
  if (!grid->nlaunch || !p.shape->size) return;
  lgt_grid_record *record = record_for(memo, nest);
  if (!record->launch && !(record->launch = lgt_mem_alloc(LGT_GRID_LAUNCHES * sizeof *record->launch)))
    return;
  if (!record->stride && !(record->stride = lgt_mem_alloc(bytes + 1))) return;
  if (p.form) plan_reduction(&p);
  record->ndim = p.n;
  record->split = p.shape->split;
  record->nchunk = p.shape->nchunk;
  record->grain = p.shape->grain;
  record->partial = p.shape->partial;
  record->moved = p.form && (p.raw || p.shape->partial);
  record->scratch = grid->scratch_bytes ? scratch : NULL;
  record->nlaunch = grid->nlaunch;
  memcpy(record->extent, p.shape->extent, sizeof record->extent);
  memcpy(record->stride, p.shape->stride, bytes);
  memcpy(record->launch, grid->launch, (size_t)grid->nlaunch * sizeof *grid->launch);
  record->aligned = true;
  for (int a = 0; a < p.loop->naccess; a++) {
    const lgt_access *access = &p.loop->access[a];
    int size = lgt_dtype_size(access->dtype);
    if (!is_vector(access)) continue;
    place at = own_place(&p, nest, a);
    at.base = 0;
    if (!is_own(record, access)) {
      int64_t base = bases_of(record->launch)[a];
      at = p.raw ? raw_place(&p, base, size) : partial_place(&p, base, size);
    }
    record->aligned &= is_aligned(&p, &at);
  }
}

void lgt_grid_forget(lgt_grid_memo *memo) {
  for (int i = 0; i < LGT_GRID_RECORDS; i++) {
    lgt_mem_free(memo->record[i].stride);
    lgt_mem_free(memo->record[i].launch);
  }
  *memo = (lgt_grid_memo){0};
}
