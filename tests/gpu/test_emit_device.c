/* test_emit_device.c - loops compiled to PTX, run by the emulator, against the interpreter, bit for bit.
 *
 * The first argument is the emitter module; the second, how many random loops to try; the third, the first seed.  With
 * --print FOLDER instead some of the texts are written there, for an assembler (ptxas.py). */
#include <dlfcn.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "core/random_loop.h"
#include "gpu/ptx.h"
#include "kernel/grid.h"
#include "kernel/kernel.h"

static lgt_emit_device_fn *emit;
static int count = 60;
static uint64_t first_seed = 1;
static bool functions = true; /* there are some for devices: lgt was built with clang */
static const char *folder;    /* for texts, which are not run then */

/* ---- nests -------------------------------------------------------------------------------------------- */

typedef struct block {
  char *data, *written; /* owned */
  size_t size;
} block;

/* A nest over memory of its own. */
typedef struct nest_memory {
  int ndim, naccess;
  int64_t extent[LGT_MAX_DIM], stride[MAX_ACCESS][LGT_MAX_DIM], low[MAX_ACCESS];
  block block[MAX_ACCESS + 1]; /* the last is scratch memory */
  lgt_base base[MAX_ACCESS];
} nest_memory;

static const int64_t *fixed_extent; /* not chosen, but these, up to a 0 */

static void choose_extents(nest_memory *m, const random_loop *r, int64_t most) {
  for (; fixed_extent && fixed_extent[m->ndim]; m->ndim++) m->extent[m->ndim] = fixed_extent[m->ndim];
  if (fixed_extent) return;
  bool rows = false;
  for (int k = 0; k < r->loop.naccess; k++)
    rows |= r->access[k].mode == LGT_ACCESS_REDUCE && r->access[k].row;
  m->ndim = random_below(LGT_MAX_DIM + 1);
  if (rows && m->ndim < 2) m->ndim = 2;
  if (m->ndim == 0 && !r->zero_only) m->ndim = 1;
  int64_t size = 1;
  for (int d = 0; d < m->ndim; d++) {
    int64_t room = most / size, n = random_below(3) ? 5 : random_below(2) ? 70 : most;
    m->extent[d] = r->zero_only ? 1 : 1 + random_below((int)(n < room ? n : room));
    size *= m->extent[d];
  }
  if (!r->zero_only && random_below(40) == 0) m->extent[random_below(m->ndim)] = 0;
}

static int64_t inner_stride(const lgt_access *access, int64_t size) {
  switch (access->inner) {
    case LGT_STRIDE_ZERO:
      return 0;
    case LGT_STRIDE_UNIT:
      return size;
    case LGT_STRIDE_BACK:
      return -size;
    case LGT_STRIDE_PAIR:
      return 2 * size;
    default:
      return (2 + random_below(3)) * size * (random_below(2) ? 1 : -1);
  }
}

/* `still`: outer dimensions along which targets stand still. */
static void choose_strides(nest_memory *m, const random_loop *r, int k, unsigned still) {
  const lgt_access *access = &r->access[k];
  bool index = access->mode == LGT_ACCESS_INDEX, load = access->mode == LGT_ACCESS_LOAD;
  int64_t size = index ? 1 : lgt_dtype_size(access->dtype), span = size;
  for (int d = m->ndim - 1; d >= 0; d--) {
    int64_t s = (span + size * random_below(3)) * (random_below(4) ? 1 : -1);
    if (random_below(3) == 0) s = s < 0 ? -span : span;
    if (d == m->ndim - 1) s = inner_stride(access, size);
    else if ((load || index) && random_below(4) == 0) s = 0;
    if (access->mode == LGT_ACCESS_REDUCE && d < m->ndim - 1 && still >> d & 1) s = 0;
    m->stride[k][d] = s;
    if (s) span = llabs(s) * (m->extent[d] > 1 ? m->extent[d] : 1);
  }
  if (m->ndim && random_below(3) == 0) /* rows on vectors' boundaries */
    for (int d = 0; d < m->ndim - 1; d++)
      if (m->stride[k][d] > 0 && load) m->stride[k][d] = (m->stride[k][d] + 15) / 16 * 16;
}

static bool tame; /* numbers that sums are made of, whose order shows */

static void fill_tame(char *data, size_t size) {
  for (size_t at = 0; at + 8 <= size; at += 8) {
    double value = (double)(random_bits() >> 11) * 0x1p-53 - 0.25;
    memcpy(data + at, &value, 8);
  }
}

static void nest_make(nest_memory *m, const random_loop *r, int64_t most) {
  unsigned still = (unsigned)random_bits();
  memset(m, 0, sizeof *m);
  m->naccess = r->loop.naccess;
  choose_extents(m, r, most);
  for (int k = 0; k < m->naccess; k++)
    if (r->access[k].mode == LGT_ACCESS_REDUCE && m->ndim >= 2) {
      still &= ~(1u << (m->ndim - 2));
      if (!r->access[k].row) still |= 1u << (m->ndim - 2);
    }
  for (int k = 0; k < m->naccess; k++) choose_strides(m, r, k, still);
  for (int k = 0; k < m->naccess; k++)
    if (r->alias[k] >= 0) memcpy(m->stride[r->alias[k]], m->stride[k], sizeof m->stride[k]);
  for (int k = 0; k < m->naccess; k++) {
    if (r->access[k].mode == LGT_ACCESS_INDEX) {
      m->base[k].index = random_below(2000) - 1000;
      continue;
    }
    int64_t size = lgt_dtype_size(r->access[k].dtype), low = 0, high = size;
    for (int d = 0; d < m->ndim; d++)
      if (m->extent[d]) *(m->stride[k][d] < 0 ? &low : &high) += m->stride[k][d] * (m->extent[d] - 1);
    m->low[k] = low;
    if (r->alias[k] >= 0) {
      m->base[k] = m->base[r->alias[k]];
      continue;
    }
    int64_t skew = random_below(3) ? 0 : size * random_below(16);
    m->block[k].size = (size_t)(high - low + skew);
    m->block[k].data = aligned_alloc(64, (m->block[k].size + 127) / 64 * 64);
    fill_random(m->block[k].data, m->block[k].size / (size_t)size * (size_t)size, r->access[k].dtype);
    if (tame) fill_tame(m->block[k].data, m->block[k].size);
    m->base[k].address = m->block[k].data + skew - low;
  }
}

static void nest_copy(nest_memory *to, const nest_memory *from, const random_loop *r) {
  *to = *from;
  for (int k = 0; k < from->naccess; k++) {
    if (!from->block[k].data) continue;
    to->block[k].data = aligned_alloc(64, (from->block[k].size + 127) / 64 * 64);
    memcpy(to->block[k].data, from->block[k].data, from->block[k].size);
    to->base[k].address = to->block[k].data + (from->base[k].address - from->block[k].data);
  }
  for (int k = 0; k < from->naccess; k++)
    if (r->alias[k] >= 0) to->base[k] = to->base[r->alias[k]];
}

static void nest_free(nest_memory *m) {
  for (int k = 0; k <= MAX_ACCESS; k++) free(m->block[k].data), free(m->block[k].written);
}

static bool same(int dtype, const char *a, const char *b) {
  int size = lgt_dtype_size(dtype);
  if (!memcmp(a, b, (size_t)size)) return true;
  lgt_scalar x = lgt_dtype_load(dtype, a), y = lgt_dtype_load(dtype, b);
  return lgt_dtype_is_float(dtype) && x.f != x.f && y.f != y.f;
}

static bool nests_agree(const nest_memory *a, const nest_memory *b, const random_loop *r, char *why,
                        size_t room) {
  for (int k = 0; k < a->naccess; k++) {
    int dtype = r->access[k].dtype, size = lgt_dtype_size(dtype);
    for (size_t at = 0; a->block[k].data && at + (size_t)size <= a->block[k].size; at += (size_t)size) {
      if (same(dtype, a->block[k].data + at, b->block[k].data + at)) continue;
      lgt_scalar x = lgt_dtype_load(dtype, a->block[k].data + at),
                 y = lgt_dtype_load(dtype, b->block[k].data + at);
      snprintf(why, room, "access %d element %zu of %zu is %llx (%g), interpreted %llx (%g)", k,
               at / (size_t)size, a->block[k].size / (size_t)size, (unsigned long long)y.u, y.f,
               (unsigned long long)x.u, x.f);
      return false;
    }
  }
  return true;
}

/* ---- running ------------------------------------------------------------------------------------------- */

static ptx_module *module; /* the one at work */

static bool find(void *context, uint64_t address, ptx_memory *out) {
  nest_memory *m = context;
  for (int i = 0; i < ptx_globals(module); i++) {
    const ptx_global *g = ptx_global_at(module, i);
    if (address < g->address || address >= g->address + g->bytes) continue;
    *out = (ptx_memory){.base = g->address, .bytes = g->bytes, .host = (char *)g->initial};
    return true;
  }
  for (int k = 0; k <= MAX_ACCESS; k++) {
    uint64_t base = (uint64_t)(uintptr_t)m->block[k].data;
    if (!base || address < base || address >= base + m->block[k].size) continue;
    *out = (ptx_memory){.base = base,
                        .bytes = m->block[k].size,
                        .host = m->block[k].data,
                        .written = (uint8_t *)m->block[k].written};
    return true;
  }
  return false;
}

static void interpret(const lgt_loop *loop, const lgt_nest_shape *shape, const nest_memory *m,
                      const lgt_scalar *param) {
  lgt_nest nest = {loop, shape, m->base, param, NULL};
  if (lgt_nest_begin(&nest)) abort();
  for (int c = 0; c < shape->nchunk; c++) lgt_nest_run(&nest, NULL, c, NULL);
  lgt_nest_end(&nest);
}

static ptx_counts counts;

static bool launch(const lgt_loop *loop, const lgt_nest_shape *shape, nest_memory *m, const lgt_scalar *param,
                   char *why, size_t room) {
  static lgt_grid grid;
  lgt_nest nest = {loop, shape, m->base, param, NULL};
  if (lgt_grid_of(&nest, NULL, &grid)) return snprintf(why, room, "%s", lgt_message()), false;
  block *scratch = &m->block[MAX_ACCESS];
  scratch->size = (size_t)grid.scratch_bytes;
  scratch->data = aligned_alloc(64, scratch->size + 64);
  scratch->written = calloc(1, scratch->size + 1);
  lgt_grid_of(&nest, scratch->data, &grid);
  for (int i = 0; i < grid.nlaunch; i++) {
    const lgt_grid_launch *l = &grid.launch[i];
    const ptx_kernel *kernel = ptx_find(module, l->kernel);
    void *params[1] = {(void *)l->param};
    if (!kernel) return snprintf(why, room, "no kernel %s", l->kernel), false;
    if (ptx_info(kernel)->param_bytes != (size_t)l->param_bytes)
      return snprintf(why, room, "%s wants %zu bytes of parameters, and gets %d", l->kernel,
                      ptx_info(kernel)->param_bytes, l->param_bytes),
             false;
    ptx_launch run = {.params = params, .seed = random_bits(), .find = find, .context = m, .counts = &counts};
    memcpy(run.grid, l->grid, sizeof run.grid);
    memcpy(run.block, l->block, sizeof run.block);
    if (!ptx_run(kernel, &run, why, room)) return false;
  }
  return true;
}

/* What no text has: operations that may be contracted or are not exact, accesses whose alignment had to be guessed. */
static bool is_clean(const char *text, char *why, size_t room) {
  static const char *const wrong[] = {"[^a-z](mul|add|sub|fma|div|sqrt|rcp)\\.(f16|f32|f64)",
                                      "\\.approx",
                                      "\\.ftz",
                                      "\\.full",
                                      "ld\\.global\\.nc",
                                      "\\.extern"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    regex_t pattern;
    regmatch_t at;
    if (regcomp(&pattern, wrong[i], REG_EXTENDED)) abort();
    bool found = regexec(&pattern, text, 1, &at, 0) == 0;
    regfree(&pattern);
    if (found) return snprintf(why, room, "the text has %.30s", text + at.rm_so), false;
  }
  return true;
}

static void print_text(const char *text) {
  static int number;
  char path[300];
  if (number++ % 17) return;
  snprintf(path, sizeof path, "%s/%05d.ptx", folder, number);
  FILE *file = fopen(path, "w");
  if (!file) abort();
  fputs(text, file);
  fclose(file);
}

/* The loop's text, which becomes the module at work. */
static bool compile(const lgt_loop *loop, char *why, size_t room) {
  lgt_emit_result result;
  char log[400] = "";
  if (emit(loop, false, &result)) return snprintf(why, room, "not compiled: %s", result.message), false;
  if (folder) print_text(result.object);
  if (!is_clean(result.object, why, room)) return false;
  if (strlen(result.object) != result.size) return snprintf(why, room, "the text's size"), false;
  module = ptx_load(result.object, log, sizeof log);
  free(result.object);
  if (!module) return snprintf(why, room, "not understood: %s", log), false;
  for (int i = 0; i < ptx_globals(module); i++)
    ptx_place(module, i, (uint64_t)(uintptr_t)ptx_global_at(module, i)->initial);
  return true;
}

/* One loop on one nest. */
static bool agree(const random_loop *r, int64_t most, char *why, size_t room) {
  nest_memory a, b;
  nest_make(&a, r, most);
  nest_copy(&b, &a, r);
  lgt_nest_shape shape = {.ndim = a.ndim, .stride = malloc(sizeof a.stride)};
  memcpy(shape.stride, a.stride, sizeof a.stride);
  memcpy(shape.extent, a.extent, sizeof a.extent);
  lgt_nest_shape_finish(&r->loop, &shape, 4, false, 0);
  interpret(&r->loop, &shape, &a, r->param);
  bool good = launch(&r->loop, &shape, &b, r->param, why, room) && nests_agree(&a, &b, r, why, room);
  if (!good) {
    size_t n = strlen(why);
    n += (size_t)snprintf(why + n, room - n, "; extents");
    for (int d = 0; d < shape.ndim && n < room; d++)
      n += (size_t)snprintf(why + n, room - n, " %lld", (long long)shape.extent[d]);
    if (n < room)
      snprintf(why + n, room - n, ", split %d grain %lld chunks %d partial %d", shape.split,
               (long long)shape.grain, shape.nchunk, shape.partial);
  }
  free(shape.stride);
  nest_free(&a);
  nest_free(&b);
  return good;
}

static bool try_loop(const random_loop *r, int nests, int64_t most, char *why, size_t room) {
  bool good = compile(&r->loop, why, room);
  if (strstr(why, "built without functions")) { /* such loops are the host's */
    if (functions) printf("skip functions: %s\n", why);
    functions = false;
    return true;
  }
  for (int i = 0; good && !folder && i < nests; i++) good = agree(r, most, why, room);
  ptx_free(module);
  module = NULL;
  return good;
}

/* What a plan makes of reductions: targets that all move alike, some of them fresh. */
static void make_alike(random_loop *r) {
  int first = -1;
  for (int k = 0; k < r->loop.naccess; k++) {
    if (r->access[k].mode != LGT_ACCESS_REDUCE) continue;
    if (first < 0) first = k;
    r->access[k].row = r->access[first].row;
  }
  for (int i = 0; i < r->loop.ninst; i++)
    if (r->inst[i].op == LGT_OP_REDUCE && random_below(2)) r->inst[i].aux |= LGT_REDUCE_FRESH;
  lgt_loop_seal(&r->loop);
}

/* ---- tests ----------------------------------------------------------------------------------------------- */

TEST(random_nests) {
  for (int i = 0; i < count; i++) {
    random_loop r;
    char why[700] = "";
    uint64_t seed = first_seed + (uint64_t)i;
    random_state = seed * 0x9e3779b97f4a7c15ULL + 1;
    random_loop_make(&r, i % 4 == 0 ? 30 : 6);
    make_alike(&r);
    if (!try_loop(&r, 4, 700, why, sizeof why)) {
      random_loop_print(&r);
      FAIL("seed %llu: %s", (unsigned long long)seed, why);
    }
  }
}

/* One opcode on one dtype; all casts from a dtype together. */
static void make_single(random_loop *r, int op, int dtype) {
  int in[3];
  random_loop_init(r);
  in[0] = add_load(r, op == LGT_OP_SELECT ? LGT_BOOL : dtype, LGT_STRIDE_UNIT);
  for (int k = 1; k < 3; k++) in[k] = add_load(r, dtype, LGT_STRIDE_UNIT);
  bool test = op >= LGT_OP_EQ && op <= LGT_OP_SIGNBIT;
  for (int k = 0; k < (op == LGT_OP_CAST ? NREAL : 1); k++) {
    int result = op == LGT_OP_CAST ? real_dtypes[k] : test ? LGT_BOOL : dtype;
    add_store(r, add_inst(r, op, result, op == LGT_OP_POWER ? 7 : 0, in[0], in[1], in[2]), LGT_STRIDE_UNIT);
  }
  lgt_loop_seal(&r->loop);
}

TEST(opcodes) {
  for (int op = LGT_OP_CAST; op < LGT_NOP; op++)
    for (int d = 0; d < NREAL; d++) {
      random_loop r;
      char why[700] = "";
      int dtype = real_dtypes[d];
      if (op == LGT_OP_COMPLEX || op == LGT_OP_REAL || op == LGT_OP_IMAG || !has_class(op, dtype)) continue;
      if (op == LGT_OP_PHILOX && dtype != LGT_UINT64) continue;
      random_state = (uint64_t)(op * 16 + d + 1) * 0x9e3779b97f4a7c15ULL;
      make_single(&r, op, dtype);
      if (!try_loop(&r, 4, 300, why, sizeof why)) {
        random_loop_print(&r);
        FAIL("%s of %s: %s", lgt_op_name(op), lgt_dtype_name(dtype), why);
      }
    }
}

/* Each operator on each dtype in each form, large enough for blocks, chunks and steps. */
TEST(reductions) {
  for (int redop = 0; redop < LGT_NREDOP; redop++)
    for (int form = 0; form < 4; form++) {
      static const char *const classes[] = {
#define X(NAME, name, classes) classes,
          LGT_REDOP_LIST(X)
#undef X
      };
      for (int d = 0; d < NREAL; d++) {
        random_loop r;
        char why[700] = "";
        int dtype = real_dtypes[d];
        if (!strchr(classes[redop], lgt_dtype_class(dtype))) continue;
        random_state = (uint64_t)(redop * 64 + form * 16 + d + 1) * 0x9e3779b97f4a7c15ULL;
        random_loop_init(&r);
        int inner = form >= 2 ? LGT_STRIDE_UNIT : LGT_STRIDE_ZERO,
            row = form & 1 ? LGT_STRIDE_ANY : LGT_STRIDE_ZERO;
        int value = add_load(&r, dtype, LGT_STRIDE_UNIT), at = LGT_NO_VALUE;
        bool pair = redop >= LGT_REDOP_ARGMIN;
        if (pair)
          at = add_inst(&r, LGT_OP_INDEX, LGT_INT64, 0, add_index_access(&r), LGT_NO_VALUE, LGT_NO_VALUE);
        int access = add_access(&r, LGT_ACCESS_REDUCE, dtype, inner, row);
        if (pair) add_access(&r, LGT_ACCESS_REDUCE, LGT_INT64, inner, row);
        add_inst(&r, pair ? LGT_OP_REDUCE_ARG : LGT_OP_REDUCE, dtype, redop, value, access, at);
        make_alike(&r);
        if (!try_loop(&r, 1, 400, why, sizeof why) ||
            !try_loop(&r, 1, d % 4 == redop % 4 ? 24000 : 2000, why, sizeof why)) {
          random_loop_print(&r);
          FAIL("%s of %s, form %d: %s", lgt_redop_name(redop), lgt_dtype_name(dtype), form, why);
        }
      }
    }
}

/* Many chunks, of several blocks or slabs each, the last one shorter; reductions too many for shared memory. */
TEST(large) {
  static const struct {
    int inner, row, sums;
    int64_t extent[LGT_MAX_DIM];
  } cases[] = {{LGT_STRIDE_ZERO, LGT_STRIDE_ZERO, 1, {200003}},
               {LGT_STRIDE_ZERO, LGT_STRIDE_ZERO, 7, {100003}},
               {LGT_STRIDE_ZERO, LGT_STRIDE_ZERO, 1, {500, 301}},
               {LGT_STRIDE_ZERO, LGT_STRIDE_ZERO, 7, {3, 90, 301}},
               {LGT_STRIDE_ZERO, LGT_STRIDE_ZERO, 1, {70, 40, 40}},
               {LGT_STRIDE_ZERO, LGT_STRIDE_ANY, 1, {500, 3, 60}},
               {LGT_STRIDE_UNIT, LGT_STRIDE_ZERO, 1, {30001, 3}},
               {LGT_STRIDE_UNIT, LGT_STRIDE_ANY, 1, {5000, 3, 5}}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    random_loop r;
    char why[700] = "";
    random_state = (i + 1) * 0x9e3779b97f4a7c15ULL;
    random_loop_init(&r);
    int value = add_load(&r, LGT_FLOAT64, LGT_STRIDE_UNIT);
    for (int k = 0; k < cases[i].sums; k++) {
      int access = add_access(&r, LGT_ACCESS_REDUCE, LGT_FLOAT64, cases[i].inner, cases[i].row);
      add_inst(&r, LGT_OP_REDUCE, LGT_FLOAT64, LGT_REDOP_SUM, value, access, LGT_NO_VALUE);
    }
    make_alike(&r);
    tame = true;
    fixed_extent = cases[i].extent;
    bool good = try_loop(&r, 2, 0, why, sizeof why);
    fixed_extent = NULL;
    tame = false;
    if (!good) FAIL("case %zu: %s", i, why);
  }
}

static int count_of(const char *text, const char *words) {
  int n = 0;
  for (; (text = strstr(text, words)); text += strlen(words)) n++;
  return n;
}

/* What is read and written: each element once, 16 bytes at a time where that can be. */
TEST(accesses) {
  static const struct {
    int dtype;
    const char *read, *write;
  } expected[] = {{LGT_FLOAT64, "ld.global.v2.f64", "st.global.v2.f64"},
                  {LGT_FLOAT32, "ld.global.v4.f32", "st.global.v4.f32"},
                  {LGT_INT64, "ld.global.v2.u64", "st.global.v2.u64"},
                  {LGT_INT32, "ld.global.v4.u32", "st.global.v4.u32"}};
  for (int i = 0; i < 4; i++) {
    random_loop r;
    lgt_emit_result result;
    int dtype = expected[i].dtype;
    random_loop_init(&r);
    int a = add_load(&r, dtype, LGT_STRIDE_UNIT), b = add_load(&r, dtype, LGT_STRIDE_UNIT);
    add_store(&r, add_inst(&r, LGT_OP_ADD, dtype, 0, a, b, LGT_NO_VALUE), LGT_STRIDE_UNIT);
    lgt_loop_seal(&r.loop);
    CHECK_EQ(emit(&r.loop, false, &result), LGT_OK);
    const char *text = result.object;
    CHECK_EQ(count_of(text, expected[i].read), 2);
    CHECK_EQ(count_of(text, expected[i].write), 1);
    CHECK_EQ(count_of(text, "ld.global."), 4); /* and one by one */
    CHECK_EQ(count_of(text, "st.global."), 2);
    CHECK_EQ(count_of(text, "local"), 0);
    free(result.object);
  }
}

/* What cannot be a device's has a message. */
TEST(refusal) {
  random_loop r;
  lgt_emit_result result;
  random_loop_init(&r);
  int value = add_load(&r, LGT_FLOAT64, LGT_STRIDE_UNIT);
  for (int row = 0; row < 2; row++) {
    int access = add_access(&r, LGT_ACCESS_REDUCE, LGT_FLOAT64, LGT_STRIDE_ZERO,
                            row ? LGT_STRIDE_ANY : LGT_STRIDE_ZERO);
    add_inst(&r, LGT_OP_REDUCE, LGT_FLOAT64, LGT_REDOP_SUM, value, access, LGT_NO_VALUE);
  }
  CHECK_EQ(emit(&r.loop, false, &result), LGT_UNSUPPORTED);
  CHECK_HAS(result.message, "several forms");
}

int main(int argc, char **argv) {
  if (argc < 2) return fprintf(stderr, "usage: %s MODULE [COUNT [SEED]]\n", argv[0]), 2;
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) return fprintf(stderr, "%s\n", dlerror()), 2;
  emit = (lgt_emit_device_fn *)dlsym(library, "lgt_emit_device");
  if (!emit) return fprintf(stderr, "%s\n", dlerror()), 2;
  if (argc > 3 && !strcmp(argv[2], "--print")) folder = argv[3];
  else if (argc > 2) count = atoi(argv[2]);
  if (argc > 3 && !folder) first_seed = strtoull(argv[3], NULL, 0);
  RUN(opcodes);
  RUN(reductions);
  RUN(large);
  RUN(random_nests);
  RUN(accesses);
  RUN(refusal);
  return check_done();
}
