/* elementary_bits.c - are the bits of results the same everywhere?
 *
 * A *way* to compute is an instruction set, one of three that carry a function out on it (the vectors of
 * elementary_lanes.c, the interpreter, a compiled kernel), and all elements at once or in pieces: of many
 * lengths, so that pieces begin at odd places and end within a vector, and many in the place of an operand.
 * The results of all ways are hashed, and the hashes must be equal.  Those of the first inputs stand in
 * elementary.hashes, so that machines are compared, too.
 */
#include "elementary_judge.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/half.h"
#include "kernel/helper.h"
#include "kernel/kernel.h"
#include "kernel/object.h"

enum { DTYPES = 3, BLOCK = 1 << 16, WAYS = 5 * LGT_NISA };
static const int dtypes[DTYPES] = {LGT_FLOAT64, LGT_FLOAT32, LGT_FLOAT16};

/* ---- ways ------------------------------------------------------------------------------------ */

typedef enum means { VECTORS, INTERPRETER, KERNEL } means;
static const char *const means_names[] = {"vectors", "the interpreter", "a kernel"};

typedef struct way {
  lgt_isa isa;
  means by;
  bool pieces;
  lgt_object *object; /* KERNEL */
  lgt_kernel_fn code;
  XXH64_state_t *hash;
} way;

/* The loop out[i] = f(a[i], b[i]). */
typedef struct simple_loop {
  lgt_loop loop;
  lgt_access access[3];
  lgt_inst inst[4];
} simple_loop;

static void make_loop(simple_loop *l, const elementary *f, int dtype) {
  uint8_t type = (uint8_t)dtype;
  uint16_t n = (uint16_t)f->arity, second = n == 2 ? 1 : LGT_NO_VALUE;
  memset(l, 0, sizeof *l);
  for (uint16_t k = 0; k < n; k++) {
    l->access[k] = (lgt_access){LGT_ACCESS_LOAD, type, LGT_STRIDE_UNIT, 0};
    l->inst[k] = (lgt_inst){LGT_OP_LOAD, type, 0, 0, k, LGT_NO_VALUE, LGT_NO_VALUE};
  }
  l->access[n] = (lgt_access){LGT_ACCESS_STORE, type, LGT_STRIDE_UNIT, 0};
  l->inst[n] = (lgt_inst){(uint8_t)elementary_op(f), type, 0, 0, 0, second, LGT_NO_VALUE};
  l->inst[n + 1] = (lgt_inst){LGT_OP_STORE, type, 0, 0, n, n, LGT_NO_VALUE};
  l->loop = (lgt_loop){.naccess = n + 1, .ninst = n + 2, .access = l->access, .inst = l->inst};
  lgt_loop_seal(&l->loop);
}

/* NULL, and said once, where there is no compiler. */
static lgt_emit_loop_fn *emitter(void) {
  static lgt_emit_loop_fn *emit;
  static bool tried;
  char path[4096];
  if (tried) return emit;
  tried = true;
  void *module =
      lgt_module_path("liblgt-emit.so", path, sizeof path) ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
  if (module) emit = (lgt_emit_loop_fn *)dlsym(module, "lgt_emit_loop");
  if (!emit) printf("skip kernels: liblgt-emit.so was not found\n");
  return emit;
}

static bool compile(way *w, const lgt_loop *loop) {
  lgt_emit_result result;
  if (emitter()(loop, w->isa, LGT_KERNEL_PLAIN, false, &result))
    return printf("FAIL kernels: %s\n", result.message), false;
  lgt_status status = lgt_object_load(result.object, result.size, &w->object);
  free(result.object);
  if (status) return printf("FAIL kernels: %s\n", lgt_message()), false;
  w->code = (lgt_kernel_fn)lgt_object_symbol(w->object, "lgt_kernel");
  return w->code != NULL;
}

/* All there are on this machine; how many, or -1. */
static int make_ways(way *ways, const lgt_loop *loop) {
  int n = 0;
  for (int isa = 0; isa <= (int)lgt_isa_host(); isa++)
    for (int by = VECTORS; by <= (emitter() ? KERNEL : INTERPRETER); by++)
      for (int pieces = 1; pieces >= 0; pieces--) {
        if (!pieces && (isa != (int)lgt_isa_host() || by == INTERPRETER)) continue;
        ways[n] = (way){.isa = (lgt_isa)isa, .by = (means)by, .pieces = pieces};
        if (by == KERNEL && !compile(&ways[n], loop)) return -1;
        ways[n].hash = XXH64_createState();
        XXH64_reset(ways[n++].hash, 0);
      }
  return n;
}

/* ---- results ------------------------------------------------------------------------------------ */

/* Operands as vectors take them (float16 as float32), and those of float16 as arrays hold them. */
typedef struct block {
  const elementary *f;
  const lgt_loop *loop;
  int dtype;
  int64_t n;
  char *carried[2], *halves[2];
} block;

static size_t carried_size(int dtype) { return dtype == LGT_FLOAT64 ? 8 : 4; }

static void compute(const way *w, const block *in, char *out, const char *a, const char *b, int64_t n) {
  if (w->by == VECTORS) {
    rival_list[0].compute(in->f, in->dtype, out, a, in->f->arity == 2 ? b : NULL, n);
    return;
  }
  int64_t size = lgt_dtype_size(in->dtype), stride[3] = {size, size, size}, row[3] = {0, 0, 0};
  lgt_base base[3] = {{.address = (char *)a}, {.address = (char *)b}};
  base[in->f->arity].address = out;
  lgt_slab slab = {1, n, base, row, stride, NULL, 0};
  if (w->by == KERNEL) w->code(&slab);
  else lgt_interp_run(in->loop, &slab);
}

static void compute_pieces(const way *w, const block *in, size_t size, char *out, const char *a,
                           const char *b) {
  static const int lengths[] = {1, 3, 5, 7, 17, 2, 33, 64, 8, 100, 15, 1000, 31, 4, 257, 16, 63, 513};
  for (int64_t i = 0, turn = 0, piece; i < in->n; i += piece, turn++) {
    piece = lengths[turn % (int)(sizeof lengths / sizeof *lengths)];
    if (piece > in->n - i) piece = in->n - i;
    size_t at = (size_t)i * size;
    const char *x = a + at, *y = b + at;
    if (turn % 3 == 1) x = memcpy(out + at, x, (size_t)piece * size);
    else if (turn % 3 == 2 && in->f->arity == 2) y = memcpy(out + at, y, (size_t)piece * size);
    compute(w, in, out + at, x, y, piece);
  }
}

/* As they would be stored, but the bits of NaN are nobody's business. */
static void hash_block(const way *w, const block *in, char *out) {
  bool halves = w->by != VECTORS && in->dtype == LGT_FLOAT16;
  char *const *operand = halves ? in->halves : in->carried, *to = halves ? out + 4 * BLOCK : out;
  size_t size = halves ? 2 : carried_size(in->dtype);
  lgt_isa_limit(lgt_isa_name(w->isa));
  if (w->pieces) compute_pieces(w, in, size, to, operand[0], operand[1]);
  else compute(w, in, to, operand[0], operand[1], in->n);
  double *wide = (double *)out;
  float *narrow = (float *)out;
  for (int64_t i = 0; i < in->n; i++) {
    if (halves) narrow[i] = lgt_half_to_float(((uint16_t *)to)[i]);
    else if (in->dtype == LGT_FLOAT16) narrow[i] = lgt_half_round(narrow[i]);
    if (in->dtype == LGT_FLOAT64 && isnan(wide[i])) wide[i] = NAN;
    if (in->dtype != LGT_FLOAT64 && isnan(narrow[i])) narrow[i] = NAN;
  }
  XXH64_update(w->hash, out, (size_t)in->n * carried_size(in->dtype));
}

/* Inputs number first to first + n - 1. */
static void fill_block(block *in, int64_t first, int64_t n) {
  in->n = n;
  points_fill(in->f, in->dtype, first, n, in->carried[0], in->carried[1]);
  if (in->dtype != LGT_FLOAT16) return;
  for (int k = 0; k < in->f->arity; k++)
    for (int64_t i = 0; i < n; i++)
      ((uint16_t *)in->halves[k])[i] = lgt_half_from_float(((float *)in->carried[k])[i]);
}

static void hash_ways(const way *ways, int nways, const elementary *f, const lgt_loop *loop, int dtype,
                      int64_t count) {
  block in = {.f = f, .loop = loop, .dtype = dtype};
  char *out = malloc(BLOCK * 8);
  for (int k = 0; k < 2; k++) in.carried[k] = malloc(BLOCK * 8), in.halves[k] = malloc(BLOCK * 2);
  for (int64_t first = 0; first < count; first += BLOCK) {
    fill_block(&in, first, count - first < BLOCK ? count - first : BLOCK);
    for (int i = 0; i < nways; i++) hash_block(&ways[i], &in, out);
  }
  lgt_isa_limit("");
  for (int k = 0; k < 2; k++) free(in.carried[k]), free(in.halves[k]);
  free(out);
}

/* The hash of count results, if all ways give the same. */
static bool hash_of(const elementary *f, int dtype, int64_t count, uint64_t *hash) {
  simple_loop l;
  way ways[WAYS];
  make_loop(&l, f, dtype);
  int n = make_ways(ways, &l.loop);
  if (n > 0) hash_ways(ways, n, f, &l.loop, dtype, count);
  bool same = n > 0;
  for (int i = 0; i < n; i++) {
    uint64_t digest = XXH64_digest(ways[i].hash);
    if (i == 0) *hash = digest;
    else if (digest != *hash) {
      printf("FAIL %s_bits: of %s, %s of %s%s: %016" PRIx64 ", vectors of generic: %016" PRIx64 "\n", f->name,
             lgt_dtype_name(dtype), means_names[ways[i].by], lgt_isa_name(ways[i].isa),
             ways[i].pieces ? ", in pieces" : "", digest, *hash);
      same = false;
    }
    XXH64_freeState(ways[i].hash);
    lgt_object_free(ways[i].object);
  }
  return same;
}

/* ---- those that are written down ------------------------------------------------------------------- */

#define HASHED 200000

/* From a line "NAME float64's float32's float16's"; false if the file or the line is not there. */
static bool hash_expected(const char *path, const char *name, uint64_t *hashes) {
  FILE *file = fopen(path, "r");
  char line[200], word[32];
  bool found = false;
  while (file && !found && fgets(line, sizeof line, file))
    found = sscanf(line, "%31s %" SCNx64 " %" SCNx64 " %" SCNx64, word, &hashes[0], &hashes[1], &hashes[2]) ==
                4 &&
            !strcmp(word, name);
  if (file) fclose(file);
  return found;
}

bool bits_same(const elementary *f, int64_t count, uint64_t hashes[3]) {
  bool same = true;
  for (int d = 0; d < DTYPES; d++) same = hash_of(f, dtypes[d], count, &hashes[d]) && same;
  return same;
}

bool bits_expected(const elementary *f, const char *path) {
  uint64_t hashes[DTYPES], expected[DTYPES];
  if (!bits_same(f, HASHED, hashes)) return false;
  if (!hash_expected(path, f->name, expected))
    return printf("FAIL %s_bits: no hashes of it in %s\n", f->name, path), false;
  if (memcmp(expected, hashes, sizeof expected)) {
    printf("FAIL %s_bits: %016" PRIx64 " %016" PRIx64 " %016" PRIx64 ", not as in %s\n", f->name, hashes[0],
           hashes[1], hashes[2], path);
    return false;
  }
  printf("ok %s_bits\n", f->name);
  return true;
}

int bits_write(const char *path) {
  FILE *file = fopen(path, "w");
  if (!file) return perror(path), 2;
  fprintf(file,
          "# Written by elementary --write-hashes: results of %d inputs as float64, float32, float16.\n",
          HASHED);
  bool same = true;
  for (int i = 0; i < elementary_count; i++) {
    const elementary *f = &elementary_list[i];
    uint64_t hashes[DTYPES] = {0};
    if (elementary_op(f) < 0) continue;
    same = bits_same(f, HASHED, hashes) && same;
    fprintf(file, "%-6s", f->name);
    for (int d = 0; d < DTYPES; d++) fprintf(file, " %016" PRIx64, hashes[d]);
    fputc('\n', file);
  }
  return fclose(file) != 0 || !same;
}
