/* random_loop.h - loops of any opcode on any element type, and memory to run them on.
 *
 * A loop is grown from a seed: values are leaves or operations on earlier values, effects come last.
 * The memory of each access lies against an inaccessible page, at its end or its beginning, so that an
 * access outside of it faults.
 */
#ifndef LGT_RANDOM_LOOP_H
#define LGT_RANDOM_LOOP_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/half.h"
#include "kernel/loop.h"

/* ---- numbers ------------------------------------------------------------------------------- */

static uint64_t random_state = 1;

static inline uint64_t random_bits(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state * 0x2545f4914f6cdd1dULL;
}

static inline int random_below(int n) { return (int)((random_bits() >> 33) % (uint64_t)n); }

static inline double random_float(void) {
  static const double special[] = {0.0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, -NAN, 0.5, -2.5, 1e308, -1e308, 5e-324, 1e-310,
                                   65520, -65504, 6e-8, 2.5e-8, 1e22, -1e5, 0x1p31, -0x1p31, 0x1p63, -0x1p63, 0x1p64, 0x1p32,
                                   1e-40, 88.8, -745.2, 3.0,
                                   /* near ties of float16 and float32 */
                                   1 + 0x1p-11 + 0x1p-40, 1 + 0x1.8p-10 - 0x1p-40, -0x1p-25 - 0x1p-60, 1 + 0x1p-24 + 0x1p-50};
  switch (random_below(8)) {
    case 0:
      return special[random_below(sizeof special / sizeof *special)];
    case 1:
      return random_below(21) - 10;
    case 2:
      return exp(random_below(160) - 80) * (random_below(2) ? 1 : -1) * (1 + random_below(1000) * 1e-3);
    case 3:
      return (random_below(20001) - 10000) * 0.01;
    default:
      return (double)(random_bits() >> 11) * 0x1p-52 - 1;
  }
}

static inline int64_t random_integer(void) {
  static const int64_t special[] = {0,      1,         -1,        2,         -2,        127,       128,       -128, 255, 32767,
                                    -32768, INT32_MAX, INT32_MIN, 1LL << 32, INT64_MAX, INT64_MIN, 1LL << 62, 63,   64,  31};
  switch (random_below(4)) {
    case 0:
      return special[random_below(sizeof special / sizeof *special)];
    case 1:
      return (int64_t)random_bits();
    default:
      return random_below(41) - 20;
  }
}

static inline lgt_scalar random_scalar(int dtype) {
  lgt_scalar s = {.range = {0, 0}};
  switch (lgt_dtype_class(dtype)) {
    case 'f':
      s.f = random_float();
      break;
    case 'b':
      s.i = random_below(2);
      break;
    default:
      s.i = random_integer();
  }
  return s;
}

/* ---- loops ---------------------------------------------------------------------------------- */

enum { MAX_ACCESS = 24, MAX_INST = 96, MAX_CONST = 24, MAX_PARAM = 6 };

typedef struct random_loop {
  lgt_loop loop;
  lgt_access access[MAX_ACCESS];
  lgt_inst inst[MAX_INST];
  lgt_scalar constant[MAX_CONST];
  lgt_scalar param[MAX_PARAM];
  int reduces;           /* 0: no reduction; 1 lanes, 2 row, 3 vector form */
  int alias[MAX_ACCESS]; /* a store's: the load at the same addresses, or -1 */
  int zero_only;         /* some store stands still: one element in all */
} random_loop;

static const int real_dtypes[] = {LGT_BOOL,   LGT_INT8,   LGT_INT16,  LGT_INT32,   LGT_INT64,   LGT_UINT8,
                                  LGT_UINT16, LGT_UINT32, LGT_UINT64, LGT_FLOAT16, LGT_FLOAT32, LGT_FLOAT64};
enum { NREAL = sizeof real_dtypes / sizeof *real_dtypes };

static inline int add_inst(random_loop *r, int op, int dtype, int aux, int a, int b, int c) {
  lgt_inst in = {(uint8_t)op, (uint8_t)dtype, (uint8_t)aux, 0, (uint16_t)a, (uint16_t)b, (uint16_t)c};
  r->inst[r->loop.ninst] = in;
  return r->loop.ninst++;
}

static inline int add_access(random_loop *r, int mode, int dtype, int inner, int row) {
  lgt_access access = {(uint8_t)mode, (uint8_t)dtype, (uint8_t)inner, (uint8_t)row};
  r->access[r->loop.naccess] = access;
  r->alias[r->loop.naccess] = -1;
  return r->loop.naccess++;
}

static inline bool is_value(const random_loop *r, int i) {
  int op = r->inst[i].op;
  return op != LGT_OP_STORE && op != LGT_OP_REDUCE && op != LGT_OP_REDUCE_ARG;
}

static inline int random_inner(void) {
  static const int classes[] = {LGT_STRIDE_UNIT, LGT_STRIDE_UNIT, LGT_STRIDE_UNIT, LGT_STRIDE_ZERO,
                                LGT_STRIDE_ANY,  LGT_STRIDE_BACK, LGT_STRIDE_PAIR};
  return classes[random_below(7)];
}

static inline int add_index_access(random_loop *r) {
  int inner = random_inner();
  if (inner == LGT_STRIDE_BACK || inner == LGT_STRIDE_PAIR) inner = LGT_STRIDE_ANY;
  return add_access(r, LGT_ACCESS_INDEX, LGT_INT64, inner, 0);
}

static inline int random_moving(void) {
  static const int classes[] = {LGT_STRIDE_UNIT, LGT_STRIDE_UNIT, LGT_STRIDE_UNIT, LGT_STRIDE_UNIT,
                                LGT_STRIDE_ANY,  LGT_STRIDE_BACK, LGT_STRIDE_PAIR};
  return classes[random_below(7)];
}

static inline int add_load(random_loop *r, int dtype, int inner) {
  int access = add_access(r, LGT_ACCESS_LOAD, dtype, inner, 0);
  return add_inst(r, LGT_OP_LOAD, dtype, 0, access, LGT_NO_VALUE, LGT_NO_VALUE);
}

static inline int add_leaf(random_loop *r, int dtype) {
  int kind = random_below(8);
  if (kind == 0 && r->loop.nconst < MAX_CONST) {
    r->constant[r->loop.nconst] = random_scalar(dtype);
    return add_inst(r, LGT_OP_CONST, dtype, 0, r->loop.nconst++, LGT_NO_VALUE, LGT_NO_VALUE);
  }
  if (kind == 1 && r->loop.nparam < MAX_PARAM) {
    r->param[r->loop.nparam] = random_scalar(dtype);
    r->param[r->loop.nparam].range[1] = random_scalar(dtype).i; /* the second half of a pair */
    return add_inst(r, LGT_OP_PARAM, dtype, random_below(2), r->loop.nparam++, LGT_NO_VALUE, LGT_NO_VALUE);
  }
  int room = MAX_ACCESS - 6;
  if (kind == 2 && dtype == LGT_INT64 && r->loop.naccess < room)
    return add_inst(r, LGT_OP_INDEX, dtype, 0, add_index_access(r), LGT_NO_VALUE, LGT_NO_VALUE);
  if (r->loop.naccess < room) return add_load(r, dtype, random_inner());
  r->constant[0] = random_scalar(dtype);
  if (r->loop.nconst == 0) r->loop.nconst = 1;
  return add_inst(r, LGT_OP_CONST, dtype, 0, 0, LGT_NO_VALUE, LGT_NO_VALUE);
}

/* An earlier value of the dtype, or a new leaf. */
static inline int operand(random_loop *r, int dtype) {
  if (random_below(4))
    for (int tries = 0; tries < 12 && r->loop.ninst; tries++) {
      int i = random_below(r->loop.ninst);
      if (is_value(r, i) && r->inst[i].dtype == dtype) return i;
    }
  return add_leaf(r, dtype);
}

static inline bool has_class(int op, int dtype) { return strchr(lgt_op_classes(op), lgt_dtype_class(dtype)) != NULL; }

/* `op` on operands of `dtype`. */
static inline int add_op(random_loop *r, int op, int dtype) {
  if (op == LGT_OP_CAST) {
    int a = operand(r, dtype), to = real_dtypes[random_below(NREAL)];
    return add_inst(r, op, to, 0, a, LGT_NO_VALUE, LGT_NO_VALUE);
  }
  if (op == LGT_OP_SELECT) {
    int a = operand(r, LGT_BOOL), b = operand(r, dtype), c = operand(r, dtype);
    return add_inst(r, op, dtype, 0, a, b, c);
  }
  if (op == LGT_OP_PHILOX) dtype = LGT_UINT64;
  /* The sign of a computed NaN is not specified: look at signs of leaves only. */
  bool sign = op == LGT_OP_SIGNBIT || op == LGT_OP_COPYSIGN;
  int a = op == LGT_OP_SIGNBIT ? add_leaf(r, dtype) : operand(r, dtype), b = LGT_NO_VALUE;
  if (lgt_op_arity(op) == 2) b = sign ? add_leaf(r, dtype) : operand(r, dtype);
  bool test = op >= LGT_OP_EQ && op <= LGT_OP_SIGNBIT;
  int power = random_below(4) ? 3 + random_below(LGT_POWER_MOST - 2) : LGT_POWER_ROOT;
  if (random_below(2)) power = -power;
  return add_inst(r, op, test ? LGT_BOOL : dtype, op == LGT_OP_POWER ? power : 0, a, b, LGT_NO_VALUE);
}

static inline void add_random_op(random_loop *r) {
  for (;;) {
    int op = random_below(LGT_NOP);
    int dtype = real_dtypes[random_below(NREAL)];
    if (op <= LGT_OP_REDUCE_ARG || op == LGT_OP_COMPLEX || op == LGT_OP_REAL || op == LGT_OP_IMAG) continue;
    if (op == LGT_OP_PHILOX) dtype = LGT_UINT64;
    if (!has_class(op, dtype)) continue;
    add_op(r, op, dtype);
    return;
  }
}

static inline int random_value(random_loop *r) {
  for (int tries = 0; tries < 8; tries++) {
    int i = r->loop.ninst - 1 - random_below(r->loop.ninst < 6 ? r->loop.ninst : 6);
    if (is_value(r, i)) return i;
  }
  return add_leaf(r, LGT_FLOAT64);
}

static inline void add_store(random_loop *r, int value, int inner) {
  int access = add_access(r, LGT_ACCESS_STORE, r->inst[value].dtype, inner, 0);
  for (int k = 0; k < access && random_below(3) == 0; k++) {
    bool taken = false;
    for (int other = 0; other < access; other++) taken |= r->alias[other] == k;
    if (!taken && r->access[k].mode == LGT_ACCESS_LOAD && r->access[k].inner == inner &&
        r->access[k].dtype == r->inst[value].dtype)
      r->alias[access] = k;
  }
  add_inst(r, LGT_OP_STORE, r->inst[value].dtype, 0, value, access, LGT_NO_VALUE);
  if (inner == LGT_STRIDE_ZERO) r->zero_only = 1;
}

static inline void add_reduction(random_loop *r, int value, int form) {
  int dtype = r->inst[value].dtype, redop;
  static const char *const classes[] = {
#define X(NAME, name, classes) classes,
      LGT_REDOP_LIST(X)
#undef X
  };
  do redop = random_below(LGT_NREDOP);
  while (!strchr(classes[redop], lgt_dtype_class(dtype)));
  int inner = form == 3 ? (random_below(3) ? LGT_STRIDE_UNIT : LGT_STRIDE_ANY) : LGT_STRIDE_ZERO;
  int row = form == 1 || (form == 3 && random_below(2)) ? LGT_STRIDE_ZERO : LGT_STRIDE_ANY;
  int at = redop >= LGT_REDOP_ARGMIN ? operand(r, LGT_INT64) : LGT_NO_VALUE;
  int access = add_access(r, LGT_ACCESS_REDUCE, dtype, inner, row);
  if (at == LGT_NO_VALUE) {
    add_inst(r, LGT_OP_REDUCE, dtype, redop, value, access, LGT_NO_VALUE);
  } else {
    add_access(r, LGT_ACCESS_REDUCE, LGT_INT64, inner, row);
    add_inst(r, LGT_OP_REDUCE_ARG, dtype, redop, value, access, at);
  }
}

static inline void random_loop_init(random_loop *r) {
  memset(r, 0, sizeof *r);
  r->loop.access = r->access;
  r->loop.inst = r->inst;
  r->loop.constant = r->constant;
}

/* A loop of some operations, and effects of one of the kinds. */
static inline void random_loop_make(random_loop *r, int max_ops) {
  random_loop_init(r);
  r->reduces = random_below(2) ? 1 + random_below(3) : 0;
  bool zero_store = !r->reduces && random_below(12) == 0;
  for (int n = 1 + random_below(max_ops); n > 0; n--) add_random_op(r);
  for (int n = r->reduces ? random_below(2) : 1 + random_below(2); n > 0; n--)
    add_store(r, random_value(r), zero_store ? LGT_STRIDE_ZERO : random_moving());
  for (int n = r->reduces ? 1 + random_below(2) : 0; n > 0; n--) add_reduction(r, random_value(r), r->reduces);
  lgt_loop_seal(&r->loop);
}

/* ---- memory --------------------------------------------------------------------------------------- */

typedef struct memory {
  char *map[MAX_ACCESS], *data[MAX_ACCESS];
  size_t map_size[MAX_ACCESS], size[MAX_ACCESS];
  lgt_base base[MAX_ACCESS];
  int64_t row[MAX_ACCESS], col[MAX_ACCESS];
  int64_t rows, cols;
  int naccess;
  uint64_t open; /* reductions whose targets have no contents when row 0 begins */
} memory;

static inline char *guarded(size_t size, bool at_end, char **map, size_t *map_size) {
  size_t page = 4096, body = (size + page - 1) / page * page;
  *map_size = body + 2 * page;
  *map = mmap(NULL, *map_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(*map + page, body, PROT_READ | PROT_WRITE);
  return *map + page + (at_end ? body - size : 0);
}

static inline void fill_random(char *data, size_t size, int dtype) {
  int bytes = lgt_dtype_size(dtype);
  for (size_t at = 0; at + (size_t)bytes <= size; at += (size_t)bytes) lgt_dtype_store(dtype, data + at, random_scalar(dtype));
}

static inline void memory_strides(memory *m, const random_loop *r, int k) {
  const lgt_access *access = &r->access[k];
  int64_t size = lgt_dtype_size(access->dtype);
  bool written = access->mode == LGT_ACCESS_STORE || access->mode == LGT_ACCESS_REDUCE;
  int64_t step = 1 + random_below(3);
  m->col[k] = access->inner == LGT_STRIDE_ZERO   ? 0
              : access->inner == LGT_STRIDE_UNIT ? size
              : access->inner == LGT_STRIDE_BACK ? -size
              : access->inner == LGT_STRIDE_PAIR ? 2 * size
                                                 : step * size * (random_below(2) ? 1 : -1);
  if (!written && access->inner == LGT_STRIDE_ANY && random_below(4) == 0) m->col[k] = 0;
  int64_t span = m->cols * llabs(m->col[k]) + (m->col[k] == 0 ? size : 0) + size * random_below(3);
  m->row[k] = random_below(2) || !written ? span : -span;
  if (!written && random_below(3) == 0) m->row[k] = 0;
  if (access->mode == LGT_ACCESS_REDUCE && access->row == LGT_STRIDE_ZERO) m->row[k] = 0;
}

static inline void memory_make(memory *m, const random_loop *r, int64_t rows, int64_t cols) {
  memset(m, 0, sizeof *m);
  m->rows = rows;
  m->cols = cols;
  m->naccess = r->loop.naccess;
  m->open = (uint64_t)random_below(4);
  for (int k = 0; k < m->naccess; k++) {
    const lgt_access *access = &r->access[k];
    if (access->mode == LGT_ACCESS_INDEX) {
      m->base[k].index = random_below(2000) - 1000;
      m->row[k] = random_below(100) - 50;
      m->col[k] = access->inner == LGT_STRIDE_ZERO ? 0 : access->inner == LGT_STRIDE_UNIT ? 1 : random_below(9) - 4;
      continue;
    }
    memory_strides(m, r, k);
  }
  for (int k = 0; k < m->naccess; k++) /* in place: the same places in the same order */
    if (r->alias[k] >= 0) m->row[r->alias[k]] = m->row[k], m->col[r->alias[k]] = m->col[k];
  for (int k = 0; k < m->naccess; k++) {
    const lgt_access *access = &r->access[k];
    if (access->mode == LGT_ACCESS_INDEX) continue;
    int64_t size = lgt_dtype_size(access->dtype), low = 0, high = size;
    int64_t far_row = (rows - 1) * m->row[k], far_col = (cols - 1) * m->col[k];
    *(far_row < 0 ? &low : &high) += far_row;
    *(far_col < 0 ? &low : &high) += far_col;
    m->size[k] = (size_t)(high - low);
    if (r->alias[k] >= 0) {
      m->data[k] = m->data[r->alias[k]];
      m->base[k] = m->base[r->alias[k]];
      continue;
    }
    m->data[k] = guarded(m->size[k], random_below(2), &m->map[k], &m->map_size[k]);
    fill_random(m->data[k], m->size[k], access->dtype);
    m->base[k].address = m->data[k] - low;
  }
}

/* Memory of its own with the same contents and strides. */
static inline void memory_copy(memory *to, const memory *from, const random_loop *r) {
  *to = *from;
  for (int k = 0; k < from->naccess; k++) {
    if (!from->data[k]) continue;
    if (r->alias[k] >= 0) {
      to->data[k] = to->data[r->alias[k]];
      to->base[k] = to->base[r->alias[k]];
      continue;
    }
    to->data[k] = guarded(from->size[k], random_below(2), &to->map[k], &to->map_size[k]);
    memcpy(to->data[k], from->data[k], from->size[k]);
    to->base[k].address = to->data[k] + (from->base[k].address - from->data[k]);
  }
}

static inline void memory_free(memory *m) {
  for (int k = 0; k < m->naccess; k++)
    if (m->map[k]) munmap(m->map[k], m->map_size[k]);
}

static inline bool same_element(int dtype, const char *a, const char *b) {
  int size = lgt_dtype_size(dtype);
  if (memcmp(a, b, (size_t)size) == 0) return true;
  if (!lgt_dtype_is_float(dtype)) return false;
  return isnan(lgt_dtype_load(dtype, a).f) && isnan(lgt_dtype_load(dtype, b).f); /* any NaN is a NaN */
}

/* The access whose memory differs, or -1. */
static inline int memory_differs(const memory *a, const memory *b, const random_loop *r, size_t *where) {
  for (int k = 0; k < a->naccess; k++) {
    if (!a->data[k]) continue;
    int dtype = r->access[k].dtype;
    size_t size = (size_t)lgt_dtype_size(dtype);
    for (size_t at = 0; at + size <= a->size[k]; at += size)
      if (!same_element(dtype, a->data[k] + at, b->data[k] + at)) {
        *where = at / size;
        return k;
      }
  }
  return -1;
}

/* Of those, the ones whose targets have none when `row` begins either. */
static inline uint64_t still_open(const memory *m, const random_loop *r, int64_t row) {
  uint64_t open = m->open;
  for (int i = 0, number = 0; i < r->loop.ninst; i++) {
    const lgt_inst *in = &r->inst[i];
    if (in->op != LGT_OP_REDUCE && in->op != LGT_OP_REDUCE_ARG) continue;
    if (row > 0 && r->access[in->b].row == LGT_STRIDE_ZERO) open &= ~(UINT64_C(1) << number);
    number++;
  }
  return open;
}

/* Run rows [row, row + rows) and columns [col, col + cols). */
static inline void memory_run(const memory *m, const random_loop *r, lgt_kernel_fn code, int64_t row, int64_t rows, int64_t col,
                              int64_t cols) {
  lgt_base base[MAX_ACCESS];
  for (int k = 0; k < m->naccess; k++) {
    int64_t moved = row * m->row[k] + col * m->col[k];
    if (r->access[k].mode == LGT_ACCESS_INDEX) base[k].index = m->base[k].index + moved;
    else base[k].address = m->base[k].address + moved;
  }
  lgt_slab slab = {rows, cols, base, m->row, m->col, r->param, still_open(m, r, row)};
  if (code) code(&slab);
  else lgt_interp_run(&r->loop, &slab);
}

static inline void random_loop_print(const random_loop *r) {
  for (int i = 0; i < r->loop.ninst; i++) {
    const lgt_inst *in = &r->inst[i];
    printf("  %d: %s %s aux %d  %d %d %d\n", i, lgt_op_name(in->op), lgt_dtype_name(in->dtype), in->aux, (int16_t)in->a,
           (int16_t)in->b, (int16_t)in->c);
  }
  for (int k = 0; k < r->loop.naccess; k++)
    printf("  access %d: mode %d %s inner %d row %d alias %d\n", k, r->access[k].mode, lgt_dtype_name(r->access[k].dtype),
           r->access[k].inner, r->access[k].row, r->alias[k]);
}

#endif
