/* Tests of the emulator of PTX: kernels as LLVM writes them, and each mistake that it must find. */
#include "test_ptx.h"

static char message[600];

#define HEAD ".version 7.0\n.target sm_80\n.address_size 64\n"
/* A kernel with one pointer %rd1, the number of the thread in the launch %r1, and that times 8 in %rd2. */
#define BEGIN                                                                            \
  HEAD ".extern .shared .align 16 .b8 dyn[];\n"                                          \
       ".visible .entry k(.param .u64 k_param_0) {\n"                                    \
       ".reg .pred %p<10>;\n.reg .b16 %rs<20>;\n.reg .b32 %r<20>;\n.reg .b64 %rd<20>;\n" \
       ".reg .f32 %f<20>;\n.reg .f64 %fd<20>;\n.shared .align 16 .b8 st[1024];\n"        \
       "ld.param.u64 %rd1, [k_param_0];\n"                                               \
       "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\n"           \
       "mad.lo.s32 %r1, %r2, %r3, %r1;\nmul.wide.s32 %rd2, %r1, 8;\nadd.s64 %rd3, %rd1, %rd2;\n"
#define END "ret;\n}\n"

typedef struct {
  unsigned blocks, threads;
  size_t shared;
  bool cooperative;
  uint64_t limit;
} shape;

/* Runs kernel k with the address of the memory as its only parameter. */
static bool run(const char *text, pretended *d, shape s, uint64_t seed) {
  ptx_module *m = ptx_load(text, message, sizeof message);
  if (!m) return false;
  for (int k = 0; k < ptx_globals(m); k++) {
    const ptx_global *g = ptx_global_at(m, k);
    ptx_place(m, k, pretended_copy(d, g->initial, g->bytes));
  }
  uint64_t address = d->block[0].base;
  void *params[] = {&address};
  ptx_launch launch = {.grid = {s.blocks, 1, 1},
                       .block = {s.threads, 1, 1},
                       .dynamic_shared = s.shared,
                       .cooperative = s.cooperative,
                       .params = params,
                       .seed = seed,
                       .limit = s.limit,
                       .find = pretended_find,
                       .context = d};
  bool good = ptx_run(ptx_find(m, "k"), &launch, message, sizeof message);
  ptx_free(m);
  return good;
}

TEST(loads_and_stores) {
  for (uint64_t seed = 0; seed < 8; seed++) {
    pretended d = {0};
    double x[256];
    for (int k = 0; k < 256; k++) x[k] = k;
    pretended_copy(&d, x, sizeof x);
    bool good = run(BEGIN
                    "ld.global.f64 %fd1, [%rd3];\nadd.rn.f64 %fd2, %fd1, 0d3FF0000000000000;\nst.global.f64 "
                    "[%rd3], %fd2;\n" END,
                    &d, (shape){4, 64, 0, false, 0}, seed);
    const double *y = pretended_host(&d, d.block[0].base);
    for (int k = 0; k < 256 && good; k++) good = y[k] == k + 1;
    pretended_free(&d);
    if (!good) FAIL("seed %d: %s", (int)seed, message);
  }
}

int main(void) {
  RUN(loads_and_stores);
  return check_done();
}
