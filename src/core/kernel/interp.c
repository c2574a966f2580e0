/* interp.c - executes loops without compiling them.
 *
 * The interpreter is what runs while a kernel is being compiled, for scalars, and wherever compiling is
 * off.  It is also the reference: a compiled kernel gives the bits that this file gives.
 *
 * A slab is cut into blocks of some hundred elements: part of one row, or several whole rows when rows are
 * short.  For each block the instructions run one after another, each over the whole block, between
 * blocks of scratch memory that stay in the L1 and L2 caches.  The work for one element costs little more
 * than in a compiled loop that keeps its values in memory; the cost of an instruction, about 3 ns, is
 * shared by the block.
 *
 * Scratch memory lies on the stack: no allocation, so nothing can fail.  Each value has a block of its
 * own while that fits; else blocks are handed on after a value's last use.
 *
 * In-place loops are safe: a store to what a load of the loop reads touches, by loop.h, the very same
 * element, and instructions run in the order of the body.
 *
 * Any thread.
 */
#include <string.h>

#include "base/half.h"
#include "kernel/helper.h"
#include "kernel/interp_ops.h"

enum {
  SCRATCH = 64 << 10,        /* bytes, exceeded only by bodies with hundreds of live values */
  BLOCK_MAX = 512,           /* elements */
  BLOCK_MIN = 2 * LGT_LANES, /* so that a block holds the accumulators of an argmin */
  WIDTH = 8,                 /* bytes for an element of any dtype */
};

typedef struct run {
  const lgt_loop *loop;
  const lgt_slab *slab;
  const lgt_interp_ops *ops;
  const uint16_t *home; /* block of each instruction's value; NULL: as numbered */
  char *scratch;
  int64_t block_bytes;
  int64_t row, rows, col, cols, n; /* the elements at work: rows x cols = n */
  bool first;                      /* the first of the slab's blocks */
} run;

static const lgt_interp_ops *const tables[LGT_NISA] = {
    [LGT_ISA_GENERIC] = &lgt_interp_ops_generic,
    [LGT_ISA_AVX2] = &lgt_interp_ops_avx2,
    [LGT_ISA_AVX512] = &lgt_interp_ops_avx512,
};

static inline char *value_of(const run *r, int inst) {
  return r->scratch + r->block_bytes * (r->home ? r->home[inst] : inst);
}

/* ---- leaves ----------------------------------------------------------------------------------- */

/* Bytes of an element in scratch. */
static int scratch_size(int dtype) { return dtype == LGT_FLOAT16 ? 4 : lgt_dtype_size(dtype); }

static int64_t padded(int64_t n) { return (n + LGT_LANES - 1) & -(int64_t)LGT_LANES; }

/* An element in scratch form. */
static void put_scalar(int dtype, lgt_scalar value, void *out) {
  if (dtype == LGT_FLOAT16) {
    float rounded = lgt_half_to_float(lgt_half_from_double(value.f));
    memcpy(out, &rounded, sizeof rounded);
  } else {
    lgt_dtype_store(dtype, out, value);
  }
}

/* Elements [from, to) become copies of the one before them. */
static void spread(char *block, int size, int64_t from, int64_t to) {
#define SPREAD(T)                                     \
  case sizeof(T): {                                   \
    T *x = (T *)block, value = x[from - 1];           \
    for (int64_t i = from; i < to; i++) x[i] = value; \
    break;                                            \
  }
  switch (size) {
    SPREAD(uint8_t)
    SPREAD(uint16_t)
    SPREAD(uint32_t)
    SPREAD(uint64_t)
  }
#undef SPREAD
}

static void fill(const run *r, char *out, int dtype, lgt_scalar value) {
  put_scalar(dtype, value, out);
  spread(out, scratch_size(dtype), 1, padded(r->n));
}

/* Strides of an access that is walked as `lines` lines of `length` elements. */
typedef struct walk {
  int64_t lines, length, line_stride, stride;
} walk;

/* The block's rows as one line where the strides allow it. */
static walk walk_of(const run *r, int access) {
  int64_t rs = r->slab->row_stride[access], cs = r->slab->col_stride[access];
  if (r->rows == 1) return (walk){1, r->n, 0, cs};
  if (r->cols == 1) return (walk){1, r->n, 0, rs};
  if (rs == cs * r->cols) return (walk){1, r->n, 0, cs};
  return (walk){r->rows, r->cols, rs, cs};
}

static int64_t offset_of(const run *r, int access) {
  return r->row * r->slab->row_stride[access] + r->col * r->slab->col_stride[access];
}

static void load(const run *r, const lgt_inst *inst, char *out) {
  const char *from = r->slab->base[inst->a].address + offset_of(r, inst->a);
  walk w = walk_of(r, inst->a);
  int size = scratch_size(inst->dtype);
  lgt_interp_load_fn *fn = r->ops->load[inst->dtype];
  for (int64_t i = 0; i < w.lines; i++)
    fn(out + i * w.length * size, from + i * w.line_stride, w.stride, w.length);
  /* The padding is computed with: it must not send a function down a rare path. */
  spread(out, size, r->n, padded(r->n));
}

static void index_values(const run *r, const lgt_inst *inst, char *out) {
  int64_t first = r->slab->base[inst->a].index + offset_of(r, inst->a), *x = (int64_t *)out;
  walk w = walk_of(r, inst->a);
  for (int64_t i = 0; i < w.lines; i++)
    for (int64_t j = 0; j < w.length; j++) *x++ = first + i * w.line_stride + j * w.stride;
  for (int64_t i = r->n, end = padded(r->n); i < end; i++) *x++ = first;
}

/* ---- effects ---------------------------------------------------------------------------------- */

static void store(const run *r, const lgt_inst *inst) {
  char *to = r->slab->base[inst->b].address + offset_of(r, inst->b);
  const char *values = value_of(r, inst->a);
  walk w = walk_of(r, inst->b);
  int size = scratch_size(inst->dtype);
  lgt_interp_store_fn *fn = r->ops->store[inst->dtype];
  for (int64_t i = 0; i < w.lines; i++)
    fn(to + i * w.line_stride, w.stride, values + i * w.length * size, w.length);
}

/* A reduction at work: its operator, values and accumulators, in either of two kinds. */
typedef struct reduction {
  const lgt_interp_reduce *plain; /* or NULL */
  const lgt_interp_reduce_arg *arg;
  int redop, dtype, size;
  bool open;
  char *values, *acc;
  int64_t *at, *acc_at; /* positions; NULL if plain */
} reduction;

/* Instruction i, the loop's reduction `number`. */
static reduction reduction_of(const run *r, int i, int number) {
  const lgt_inst *inst = &r->loop->inst[i];
  int redop = lgt_inst_redop(inst);
  reduction red = {.redop = redop,
                   .dtype = inst->dtype,
                   .size = scratch_size(inst->dtype),
                   .open = r->slab->open >> number & 1};
  red.values = value_of(r, inst->a);
  red.acc = value_of(r, i); /* an effect has no value; its block keeps accumulators from block to block */
  if (inst->op == LGT_OP_REDUCE) {
    red.plain = &r->ops->reduce[redop][inst->dtype];
  } else {
    red.arg = &r->ops->reduce_arg[redop - LGT_REDOP_ARGMIN][inst->dtype];
    red.at = (int64_t *)value_of(r, inst->c);
    red.acc_at = (int64_t *)(red.acc + LGT_LANES * WIDTH);
  }
  return red;
}

/* Values [from, from + n) of the block into the accumulators, beginning at lane 0. */
static void lanes(const reduction *red, int64_t from, int64_t n) {
  char *values = red->values + from * red->size;
  if (red->plain) red->plain->lanes(red->acc, values, n);
  else red->arg->lanes(red->acc, red->acc_at, values, red->at + from, n);
}

/* Slots b and b + 1 are the targets of values and positions. */
static void each(const run *r, const reduction *red, int slot, int64_t offset, int64_t offset_at, bool move,
                 const char *values, const int64_t *at, int64_t n) {
  char *to = r->slab->base[slot].address + offset;
  int64_t stride = move ? r->slab->col_stride[slot] : 0;
  if (red->plain) red->plain->each(to, stride, values, n);
  else
    red->arg->each(to, stride, r->slab->base[slot + 1].address + offset_at,
                   move ? r->slab->col_stride[slot + 1] : 0, values, at, n);
}

static void reset(reduction *red) {
  put_scalar(red->dtype, lgt_redop_identity(red->redop, red->dtype), red->acc);
  spread(red->acc, red->size, 1, LGT_LANES);
  for (int k = 0; red->at && k < LGT_LANES; k++) red->acc_at[k] = INT64_MAX;
}

/* Targets that have no contents yet. */
static void clear(const run *r, const reduction *red, int slot, int64_t offset, int64_t offset_at,
                  int64_t n) {
  lgt_scalar identity = lgt_redop_identity(red->redop, red->dtype);
  char *to = r->slab->base[slot].address + offset;
  for (int64_t i = 0; i < n; i++) lgt_dtype_store(red->dtype, to + i * r->slab->col_stride[slot], identity);
  if (!red->at) return;
  to = r->slab->base[slot + 1].address + offset_at;
  for (int64_t i = 0; i < n; i++) *(int64_t *)(to + i * r->slab->col_stride[slot + 1]) = INT64_MAX;
}

/* The tree, and its result into the target of a row. */
static void fold(const run *r, const reduction *red, int slot, int64_t row) {
  int64_t offset = row * r->slab->row_stride[slot],
          offset_at = red->at ? row * r->slab->row_stride[slot + 1] : 0;
  if (red->plain) red->plain->fold(red->acc);
  else red->arg->fold(red->acc, red->acc_at);
  if (red->open) clear(r, red, slot, offset, offset_at, 1);
  each(r, red, slot, offset, offset_at, false, red->acc, red->acc_at, 1);
}

/* One accumulation for the slab: its blocks come one after another. */
static void reduce_slab(const run *r, reduction *red, int slot) {
  if (r->row == 0 && r->col == 0) reset(red);
  for (int64_t i = 0; i < r->rows; i++) lanes(red, i * r->cols, r->cols);
  if (r->row + r->rows == r->slab->rows && r->col + r->cols == r->slab->cols) fold(r, red, slot, 0);
}

/* One accumulation a row; a long row comes in several blocks. */
static void reduce_rows(const run *r, reduction *red, int slot) {
  for (int64_t i = 0; i < r->rows; i++) {
    if (r->col == 0) reset(red);
    lanes(red, i * r->cols, r->cols);
    if (r->col + r->cols == r->slab->cols) fold(r, red, slot, r->row + i);
  }
}

static void reduce_vectors(const run *r, reduction *red, int slot) {
  bool once = r->loop->access[slot].row == LGT_STRIDE_ZERO; /* all rows have the same targets */
  for (int64_t i = 0; i < r->rows; i++) {
    int64_t row = r->row + i, from = i * r->cols;
    int64_t offset = row * r->slab->row_stride[slot] + r->col * r->slab->col_stride[slot];
    int64_t offset_at =
        red->at ? row * r->slab->row_stride[slot + 1] + r->col * r->slab->col_stride[slot + 1] : 0;
    if (red->open && !(once && row > 0)) clear(r, red, slot, offset, offset_at, r->cols);
    each(r, red, slot, offset, offset_at, true, red->values + from * red->size,
         red->at ? red->at + from : NULL, r->cols);
  }
}

static void reduce(const run *r, int i, int number) {
  const lgt_inst *inst = &r->loop->inst[i];
  const lgt_access *access = &r->loop->access[inst->b];
  reduction red = reduction_of(r, i, number);
  if (access->inner != LGT_STRIDE_ZERO) reduce_vectors(r, &red, inst->b);
  else if (access->row == LGT_STRIDE_ZERO) reduce_slab(r, &red, inst->b);
  else reduce_rows(r, &red, inst->b);
}

/* ---- instructions ----------------------------------------------------------------------------- */

/* x to a constant power, which is of x's type. */
static void operate_power(const lgt_inst *inst, char *out, const char *a, int64_t n) {
  double power = lgt_inst_power(inst);
  float power_f32 = (float)power;
  lgt_helper_math(LGT_OP_POWER, inst->dtype, out, a,
                  inst->dtype == LGT_FLOAT64 ? (void *)&power : (void *)&power_f32, n);
}

static void operate(const run *r, const lgt_inst *inst, char *out) {
  const char *a = value_of(r, inst->a);
  const char *b = inst->b == LGT_NO_VALUE ? NULL : value_of(r, inst->b);
  const char *c = inst->c == LGT_NO_VALUE ? NULL : value_of(r, inst->c);
  int operand = r->loop->inst[inst->op == LGT_OP_SELECT ? inst->b : inst->a].dtype;
  lgt_interp_op_fn *fn =
      inst->op == LGT_OP_CAST ? r->ops->cast[operand][inst->dtype] : r->ops->op[inst->op][operand];
  if (fn) fn(out, a, b, c, r->n);
  else if (inst->op == LGT_OP_POWER) operate_power(inst, out, a, padded(r->n));
  else lgt_helper_math(inst->op, operand, out, a, b, padded(r->n));
  if (inst->dtype == LGT_FLOAT16 && inst->op != LGT_OP_CAST) r->ops->half_round((float *)out, r->n);
}

static void execute_block(const run *r) {
  const lgt_loop *loop = r->loop;
  bool again = r->first || r->home; /* else what does not change from block to block is still there */
  int nreduction = 0;
  for (int i = 0; i < loop->ninst; i++) {
    const lgt_inst *inst = &loop->inst[i];
    char *out = value_of(r, i);
    switch (inst->op) {
      case LGT_OP_LOAD:
        load(r, inst, out);
        break;
      case LGT_OP_INDEX:
        index_values(r, inst, out);
        break;
      case LGT_OP_CONST:
        if (again) fill(r, out, inst->dtype, loop->constant[inst->a]);
        break;
      case LGT_OP_PARAM:
        if (again) fill(r, out, inst->dtype, (lgt_scalar){.i = r->slab->param[inst->a].range[inst->aux]});
        break;
      case LGT_OP_STORE:
        store(r, inst);
        break;
      case LGT_OP_REDUCE:
      case LGT_OP_REDUCE_ARG:
        reduce(r, i, nreduction++);
        break;
      default:
        operate(r, inst, out);
    }
  }
}

/* ---- blocks of scratch memory ----------------------------------------------------------------- */

/* Hand blocks on after their value's last use.  Returns how many it takes. */
static int assign_homes(const lgt_loop *loop, uint16_t *home, uint16_t *last, uint16_t *spare) {
  uint16_t operand[3];
  int used = 0, nspare = 0;
  for (int i = 0; i < loop->ninst; i++) {
    last[i] = (uint16_t)i;
    for (int k = lgt_inst_operands(&loop->inst[i], operand); k-- > 0;) last[operand[k]] = (uint16_t)i;
  }
  for (int i = 0; i < loop->ninst; i++) {
    const lgt_inst *inst = &loop->inst[i];
    bool keeps = inst->op == LGT_OP_REDUCE || inst->op == LGT_OP_REDUCE_ARG;
    /* Accumulators live on to the next block of elements, so nobody else may ever have had their home.
     * Other results are placed before the operands' homes are free, so that they share none of them. */
    home[i] = nspare && !keeps ? spare[--nspare] : (uint16_t)used++;
    int n = lgt_inst_operands(inst, operand);
    for (int k = 0; k < n; k++) {
      bool repeated = (k > 0 && operand[k] == operand[0]) || (k > 1 && operand[k] == operand[1]);
      if (last[operand[k]] == i && !repeated) spare[nspare++] = home[operand[k]];
    }
    if (last[i] == i && !keeps) spare[nspare++] = home[i];
  }
  return used;
}

/* ---- slabs ------------------------------------------------------------------------------------ */

/* Walk the slab in blocks of at most `most` elements. */
static void execute(run *r, int64_t most) {
  int64_t rows = r->slab->rows, cols = r->slab->cols;
  int64_t step = cols < most ? most / cols : 1;
  r->first = true;
  for (r->row = 0; r->row < rows; r->row += step) {
    r->rows = rows - r->row < step ? rows - r->row : step;
    for (r->col = 0; r->col < cols; r->col += most) {
      r->cols = cols - r->col < most ? cols - r->col : most;
      r->n = r->rows * r->cols;
      execute_block(r);
      /* Constants were filled as far as the first block went, and no later block is longer. */
      r->first = false;
    }
  }
}

/* Blocks handed on: kept apart, because it needs more stack. */
static __attribute__((noinline)) void execute_tight(run *r, int64_t want) {
  int ninst = r->loop->ninst;
  uint16_t home[ninst], last[ninst], spare[ninst];
  int64_t blocks = assign_homes(r->loop, home, last, spare);
  int64_t most = SCRATCH / WIDTH / blocks & -(int64_t)LGT_LANES;
  if (most > want) most = want;
  if (most < BLOCK_MIN) most = BLOCK_MIN;
  _Alignas(64) char scratch[blocks * most * WIDTH];
  r->home = home;
  r->scratch = scratch;
  r->block_bytes = most * WIDTH;
  execute(r, most);
}

static void execute_roomy(run *r, int64_t want) {
  _Alignas(64) char scratch[SCRATCH];
  r->scratch = scratch;
  r->block_bytes = want * WIDTH;
  execute(r, want);
}

void lgt_interp_run(const lgt_loop *loop, const lgt_slab *slab) {
  if (slab->rows <= 0 || slab->cols <= 0) return;
  lgt_assert(loop->ninst <= LGT_MAX_INST);
  run r = {.loop = loop, .slab = slab, .ops = tables[lgt_isa_current()]};
  int64_t want = BLOCK_MIN;
  if (slab->rows > 1 || slab->cols > BLOCK_MIN) {
    want = slab->cols >= BLOCK_MAX || slab->rows >= BLOCK_MAX ? BLOCK_MAX : padded(slab->rows * slab->cols);
    if (want > BLOCK_MAX) want = BLOCK_MAX;
    if (want < BLOCK_MIN) want = BLOCK_MIN;
  }
  if (loop->ninst * want * WIDTH <= SCRATCH) execute_roomy(&r, want);
  else execute_tight(&r, want);
}
