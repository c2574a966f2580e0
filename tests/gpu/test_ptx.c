/* Kernels on the emulator of PTX: divergence, barriers, shuffles, calls, atomics, blocks that wait for each other.
 *
 * Each is run under several seeds, that is orders of blocks, warps and lanes.  `--print FOLDER` also writes the texts
 * there, for ptxas.
 */
#include <math.h>
#include "test_ptx.h"

enum { SEEDS = 12 };
#define EACH_SEED for (uint64_t seed = 0; seed < SEEDS; seed++)
#define RUNS(text, memory, ...)                                         \
  if (!run_on(text, memory, sizeof memory, (shape){__VA_ARGS__}, seed)) \
  FAIL("seed %d: %s", (int)seed, message)

/* ---- One thread at a time ---- */

TEST(loads_and_stores) {
  EACH_SEED {
    double x[256];
    for (int k = 0; k < 256; k++) x[k] = k;
    RUNS(BEGIN
         "ld.global.f64 %fd1, [%rd3];\nadd.rn.f64 %fd2, %fd1, 0d3FF0000000000000;\nst.global.f64 [%rd3], "
         "%fd2;\n" END,
         x, .blocks = 4, .threads = 64);
    for (int k = 0; k < 256; k++) CHECK(x[k] == k + 1);
  }
}

/* Steps until 1 is reached: each lane leaves the loop at another time, and half of the steps are another branch. */
TEST(divergent_loops) {
  EACH_SEED {
    uint64_t x[96] = {0};
    RUNS(BEGIN
         "add.s32 %r5, %r1, 1;\ncvt.u64.u32 %rd10, %r5;\nmov.u64 %rd11, 0;\n"
         "$L1:\nsetp.eq.s64 %p1, %rd10, 1;\n@%p1 bra $L4;\nand.b64 %rd12, %rd10, 1;\nsetp.eq.b64 %p2, %rd12, "
         "0;\n@%p2 bra $L2;\n"
         "mul.lo.s64 %rd10, %rd10, 3;\nadd.s64 %rd10, %rd10, 1;\nbra.uni $L3;\n"
         "$L2:\nshr.u64 %rd10, %rd10, 1;\n"
         "$L3:\nadd.s64 %rd11, %rd11, 1;\nbra.uni $L1;\n"
         "$L4:\nst.global.u64 [%rd3], %rd11;\n" END,
         x, .blocks = 2, .threads = 48);
    for (uint64_t k = 0; k < 96; k++) {
      uint64_t steps = 0;
      for (uint64_t n = k + 1; n != 1; steps++) n = n & 1 ? 3 * n + 1 : n / 2;
      CHECK_EQ(x[k], steps);
    }
  }
}

TEST(guards) {
  EACH_SEED {
    uint64_t x[64] = {0};
    RUNS(BEGIN
         "and.b32 %r5, %r1, 3;\nsetp.eq.s32 %p1, %r5, 2;\nmov.u64 %rd10, 7;\n@%p1 mov.u64 %rd10, 8;\n"
         "@!%p1 st.global.u64 [%rd3], %rd10;\n@%p1 ret;\nadd.s64 %rd10, %rd10, 1;\nst.global.u64 [%rd3], "
         "%rd10;\n" END,
         x, .blocks = 1, .threads = 64);
    for (int k = 0; k < 64; k++) CHECK_EQ(x[k], k % 4 == 2 ? 0 : 8);
  }
}

TEST(indexed_branches) {
  EACH_SEED {
    uint64_t x[64] = {0};
    RUNS(BEGIN
         "and.b32 %r5, %r1, 3;\nmov.u64 %rd10, 0;\n$L_t:\n.branchtargets $L0, $L1, $L2, $L0;\nbrx.idx %r5, "
         "$L_t;\n"
         "$L0:\nadd.s64 %rd10, %rd10, 1;\n$L1:\nadd.s64 %rd10, %rd10, 10;\n$L2:\nst.global.u64 [%rd3], "
         "%rd10;\n" END,
         x, .blocks = 1, .threads = 64);
    for (int k = 0; k < 64; k++) CHECK_EQ(x[k], ((int[]){11, 10, 0, 11})[k % 4]);
  }
}

/* A function that calls itself, with a stack, from divergent code. */
TEST(calls) {
  EACH_SEED {
    uint64_t x[64] = {0};
    RUNS(HEAD
         ".visible .func (.param .b64 func_retval0) sum(.param .b32 sum_param_0);\n"
         ".visible .func (.param .b64 func_retval0) sum(.param .b32 sum_param_0)\n{\n"
         ".local .align 8 .b8 __local_depot0[8];\n.reg .b64 %SP;\n.reg .b64 %SPL;\n.reg .pred %p<3>;\n.reg "
         ".b32 %r<4>;\n.reg .b64 %rd<6>;\n"
         "mov.u64 %SPL, __local_depot0;\ncvta.local.u64 %SP, %SPL;\nld.param.u32 %r1, [sum_param_0];\n"
         "cvt.u64.u32 %rd1, %r1;\nst.u64 [%SP+0], %rd1;\nmov.u64 %rd4, 0;\nsetp.eq.s32 %p1, %r1, 0;\n@%p1 "
         "bra $L1;\n"
         "add.s32 %r2, %r1, -1;\n"
         "{ // callseq 0, 0\n.param .b32 param0;\nst.param.b32 [param0+0], %r2;\n.param .b64 retval0;\n"
         "call.uni (retval0), \nsum, \n(\nparam0\n);\nld.param.b64 %rd2, [retval0+0];\n}\n"
         "ld.local.u64 %rd3, [%SPL];\nadd.s64 %rd4, %rd3, %rd2;\n"
         "$L1:\nst.param.b64 [func_retval0+0], %rd4;\nret;\n}\n" BEGIN_KERNEL
         "and.b32 %r5, %r1, 15;\nsetp.gt.u32 %p1, %r5, 12;\nmov.u64 %rd10, 99;\n@%p1 bra $L2;\n"
         "{\n.param .b32 param0;\nst.param.b32 [param0+0], %r5;\n.param .b64 retval0;\ncall.uni (retval0), "
         "sum, (param0);\n"
         "ld.param.b64 %rd10, [retval0+0];\n}\n$L2:\nst.global.u64 [%rd3], %rd10;\n" END,
         x, .blocks = 1, .threads = 64);
    for (int k = 0; k < 64; k++) CHECK_EQ(x[k], k % 16 > 12 ? 99 : k % 16 * (k % 16 + 1) / 2);
  }
}

TEST(local_arrays) {
  EACH_SEED {
    uint64_t x[64] = {0};
    RUNS(BEGIN
         ".local .align 8 .b8 __local_depot0[64];\n.reg .b64 %SPL;\nmov.u64 %SPL, __local_depot0;\n"
         "mov.u32 %r5, 0;\n$L1:\nmul.wide.u32 %rd10, %r5, 8;\nadd.s64 %rd11, %SPL, %rd10;\nmad.lo.s32 %r6, "
         "%r1, 10, %r5;\n"
         "cvt.u64.u32 %rd12, %r6;\nst.local.u64 [%rd11], %rd12;\nadd.s32 %r5, %r5, 1;\nsetp.lt.s32 %p1, %r5, "
         "8;\n@%p1 bra $L1;\n"
         "and.b32 %r7, %r1, 7;\nmul.wide.u32 %rd10, %r7, 8;\nadd.s64 %rd11, %SPL, %rd10;\nld.local.u64 "
         "%rd13, [%rd11];\n"
         "st.global.u64 [%rd3], %rd13;\n" END,
         x, .blocks = 1, .threads = 64);
    for (int k = 0; k < 64; k++) CHECK_EQ(x[k], 10 * k + k % 8);
  }
}

TEST(variables_of_the_module) {
  EACH_SEED {
    uint64_t x[32] = {0};
    RUNS(HEAD
         ".const .align 8 .b8 tab[16] = {1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 1};\n.global .align 4 "
         ".u32 g[3] = {5, 6};\n" BEGIN_KERNEL
         "mov.u64 %rd10, tab;\nld.const.u64 %rd11, [%rd10+8];\nld.global.u32 %r5, [g+4];\nmov.u64 %rd12, "
         "g+8;\n"
         "ld.global.u32 %r6, [%rd12];\nadd.s32 %r5, %r5, %r6;\ncvt.u64.u32 %rd13, %r5;\nadd.s64 %rd11, "
         "%rd11, %rd13;\n"
         "st.global.u64 [%rd3], %rd11;\n" END,
         x, .blocks = 1, .threads = 32);
    for (int k = 0; k < 32; k++) CHECK(x[k] == 0x0100000000000002u + 6);
  }
}

/* The approximations are within their bounds, which are relative but for sin, cos and lg2, and not always the nearest. */
TEST(approximations) {
  static const struct {
    const char *form;
    bool single;
    double (*exactly)(double);
    double relative, absolute;
  } all[] = {{"ex2.approx.f32 %f2, %f1;\n", true, exp2, 0x1p-21, 0},
             {"lg2.approx.f32 %f2, %f1;\n", true, log2, 0x1p-23, 0x1p-22},
             {"sin.approx.f32 %f2, %f1;\n", true, sin, 0x1p-24, 0x1p-20},
             {"cos.approx.f32 %f2, %f1;\n", true, cos, 0x1p-24, 0x1p-20},
             {"sqrt.approx.f32 %f2, %f1;\n", true, sqrt, 0x1p-22, 0},
             {"tanh.approx.f32 %f2, %f1;\n", true, tanh, 0x1p-10, 0},
             {"rsqrt.approx.ftz.f32 %f2, %f1;\nrcp.approx.f32 %f2, %f2;\n", true, sqrt, 0x1p-20, 0},
             {"div.approx.f32 %f2, %f1, %f1;\ndiv.full.f32 %f2, %f1, %f2;\nsqrt.approx.ftz.f32 %f2, %f2;\n",
              true, sqrt, 0x1p-20, 0},
             {"rcp.approx.ftz.f64 %fd2, %fd1;\nrcp.rn.f64 %fd2, %fd2;\nsqrt.rn.f64 %fd2, %fd2;\n", false,
              sqrt, 0x1p-18, 0},
             {"rsqrt.approx.f64 %fd2, %fd1;\nrcp.rn.f64 %fd2, %fd2;\n", false, sqrt, 0x1p-50, 0},
             {"rsqrt.approx.ftz.f64 %fd2, %fd1;\nrcp.rn.f64 %fd2, %fd2;\n", false, sqrt, 0x1p-18, 0}};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    int inexact = 0;
    EACH_SEED {
      double x[32], given[32];
      char text[4000];
      for (int l = 0; l < 32; l++) given[l] = x[l] = 0.1015625 + l * 0.09375;
      snprintf(text, sizeof text,
               "%sld.global.f64 %%fd1, [%%rd3];\ncvt.rn.f32.f64 %%f1, %%fd1;\n%s%sst.global.f64 [%%rd3], "
               "%%fd2;\n%s",
               BEGIN, all[k].form, all[k].single ? "cvt.f64.f32 %fd2, %f2;\n" : "", END);
      RUNS(text, x, .blocks = 1, .threads = 32);
      for (int l = 0; l < 32; l++) {
        double want = all[k].exactly(given[l]), error = fabs(x[l] - want);
        if (error > all[k].absolute + all[k].relative * fabs(want))
          FAIL("%s gives %g, not %g", all[k].form, x[l], want);
        inexact += all[k].single ? x[l] != (double)(float)want : x[l] != want;
      }
    }
    CHECK(inexact);
  }
}

/* A struct passed by value, read at fixed places and by an index; a kernel with the sizes that it asks for. */
TEST(parameters) {
  const char *text = HEAD
      ".visible .entry k(.param .align 8 .b8 k_param_0[40], .param .u32 k_param_1)\n.maxntid 64, 2, "
      "1\n.minnctapersm 3\n{\n"
      ".reg .b32 %r<5>;\n.reg .b64 %rd<10>;\n"
      "ld.param.u64 %rd1, [k_param_0];\nmov.b64 %rd2, k_param_0;\nmov.u32 %r1, %tid.x;\nand.b32 %r2, %r1, "
      "3;\nmul.wide.u32 %rd3, %r2, 8;\n"
      "add.s64 %rd4, %rd2, %rd3;\nld.param.u64 %rd5, [%rd4+8];\nld.param.u32 %r3, [k_param_1];\ncvt.u64.u32 "
      "%rd6, %r3;\n"
      "add.s64 %rd5, %rd5, %rd6;\nmul.wide.u32 %rd7, %r1, 8;\nadd.s64 %rd8, %rd1, %rd7;\nst.global.u64 "
      "[%rd8], %rd5;\nret;\n}\n";
  if (print_to) print_kernel(text, false);
  ptx_module *m = ptx_load(text, message, sizeof message);
  if (!m) FAIL("%s", message);
  CHECK_EQ(ptx_kernels(m), 1);
  const ptx_kernel_info *i = ptx_info(ptx_kernel_at(m, 0));
  CHECK_TEXT(i->name, "k");
  CHECK_EQ(i->params, 2);
  CHECK_EQ(i->param[1].offset, 40);
  CHECK_EQ(i->param_bytes, 44);
  CHECK_EQ(i->maxntid[0] * i->maxntid[1] * i->maxntid[2], 128);
  CHECK_EQ(i->minctasm, 3);
  pretended d = {0};
  struct {
    uint64_t pointer, number[4];
  } first = {pretended_alloc(&d, 8 * 32), {10, 20, 30, 40}};
  uint32_t second = 5;
  void *params[] = {&first, &second};
  ptx_launch launch = {
      .grid = {1, 1, 1}, .block = {32, 1, 1}, .params = params, .find = pretended_find, .context = &d};
  bool good = ptx_run(ptx_find(m, "k"), &launch, message, sizeof message);
  const uint64_t *x = (const void *)d.block[0].host;
  for (int k = 0; k < 32 && good; k++) CHECK_EQ(x[k], 10 * (k % 4 + 1) + 5);
  launch.block[0] = 129;
  CHECK(!ptx_run(ptx_find(m, "k"), &launch, message, sizeof message));
  CHECK_HAS(message, "maxntid");
  pretended_free(&d);
  ptx_free(m);
  CHECK(good);
}

static void param_text(char *text, size_t size, const char *type, const char *name) {
  int bytes = atoi(type + 1) / 8;
  if (bytes < 4) snprintf(text, size, ".param .align %d .b8 %s[%d]", bytes, name, bytes);
  else snprintf(text, size, ".param .%s %s", type, name);
}

/* Each type as a parameter of a kernel, which hands it to a function and gets it back; less than 32 bits as an array. */
TEST(types_of_parameters) {
  static const char *const types[] = {"u8",  "s8",  "b8",  "u16", "s16", "b16", "u32",
                                      "s32", "b32", "f32", "u64", "s64", "b64", "f64"};
  for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
    const char *t = types[k];
    int bits = atoi(t + 1), wide = bits < 16 ? 16 : bits;
    const char *r = wide == 16 ? "rs" : wide == 32 ? "r" : "rd";
    char text[2000], in[80], result[80], given_in[80], given_result[80];
    param_text(in, sizeof in, t, "f_param_0");
    param_text(result, sizeof result, t, "func_retval0");
    param_text(given_in, sizeof given_in, t, "param0");
    param_text(given_result, sizeof given_result, t, "retval0");
    snprintf(
        text, sizeof text,
        HEAD
        ".visible .func (%s) f(%s)\n{\n.reg .b%d %%%s<3>;\nld.param.%s %%%s1, [f_param_0];\n"
        "st.param.%s [func_retval0+0], %%%s1;\nret;\n}\n"
        ".visible .entry k(.param .u64 k_param_0, .param .%s k_param_1)\n{\n.reg .b16 %%rs<9>;\n.reg .b32 "
        "%%r<9>;\n.reg .b64 %%rd<9>;\n"
        "ld.param.u64 %%rd5, [k_param_0];\nld.param.%s %%%s1, [k_param_1];\nst.global.b%d [%%rd5], %%%s1;\n"
        "{\n%s;\nst.param.%s [param0+0], %%%s1;\n%s;\ncall.uni (retval0), f, (param0);\n"
        "ld.param.%s %%%s2, [retval0+0];\n}\nst.global.b%d [%%rd5+8], %%%s2;\nret;\n}\n",
        result, in, wide, r, t, r, t, r, t, t, r, wide, r, given_in, t, r, given_result, t, r, wide, r);
    if (print_to) print_kernel(text, false);
    ptx_module *m = ptx_load(text, message, sizeof message);
    if (!m) FAIL("%s: %s", t, message);
    pretended d = {0};
    uint64_t x[2] = {0}, address = pretended_copy(&d, x, sizeof x), given = 0x8182838485868788u;
    uint64_t want = bits == 64 ? given : given & ((1ull << bits) - 1);
    if (t[0] == 's' && bits == 8) want |= 0xff00;
    void *params[] = {&address, &given};
    ptx_launch launch = {
        .grid = {1, 1, 1}, .block = {1, 1, 1}, .params = params, .find = pretended_find, .context = &d};
    bool good = ptx_run(ptx_find(m, "k"), &launch, message, sizeof message);
    memcpy(x, d.block[0].host, sizeof x);
    pretended_free(&d);
    ptx_free(m);
    if (!good) FAIL("%s: %s", t, message);
    if (x[0] != want || x[1] != want)
      FAIL("%s: 0x%llx and 0x%llx", t, (unsigned long long)x[0], (unsigned long long)x[1]);
  }
}

/* ---- A warp ---- */

TEST(shuffles) {
  static const char *modes[] = {"up", "down", "bfly", "idx"};
  for (int mode = 0; mode < 4; mode++)
    for (int width = 32; width >= 4; width /= 2)
      for (int by = 0; by < 8; by += by + 1) {
        uint64_t x[32] = {0};
        char middle[400], text[4000];
        snprintf(middle, sizeof middle,
                 "mul.lo.s32 %%r5, %%r1, 7;\nshfl.sync.%s.b32 %%r6|%%p1, %%r5, %d, %d, -1;\nselp.b32 %%r7, "
                 "1, 0, %%p1;\n"
                 "mov.b64 %%rd10, {%%r6, %%r7};\nst.global.u64 [%%rd3], %%rd10;\n",
                 modes[mode], by, (32 - width) << 8 | (mode == 0 ? 0 : 31));
        snprintf(text, sizeof text, "%s%s%s", BEGIN, middle, END);
        uint64_t seed = (uint64_t)by;
        RUNS(text, x, .blocks = 1, .threads = 32);
        for (int l = 0; l < 32; l++) {
          int first = l / width * width, j = mode == 0   ? l - by
                                             : mode == 1 ? l + by
                                             : mode == 2 ? l ^ by
                                                         : first + by % width;
          bool inside = (j >= first || mode == 2) && j < first + width; /* by is not cut for bfly */
          CHECK_EQ(x[l] & 0xffffffff, 7 * (inside ? j : l));
          CHECK_EQ(x[l] >> 32, inside);
        }
      }
}

TEST(votes) {
  EACH_SEED {
    uint64_t x[32] = {0};
    RUNS(BEGIN
         "and.b32 %r5, %r1, 1;\nsetp.eq.s32 %p1, %r5, 1;\nvote.sync.ballot.b32 %r6, %p1, "
         "-1;\nvote.sync.any.pred %p2, %p1, -1;\n"
         "vote.sync.all.pred %p3, %p1, -1;\nvote.sync.uni.pred %p4, !%p1, -1;\nmatch.any.sync.b32 %r7, %r5, "
         "-1;\n"
         "match.all.sync.b32 %r8|%p5, %r5, -1;\nactivemask.b32 %r9;\nredux.sync.add.s32 %r10, %r1, "
         "-1;\nredux.sync.max.u32 %r11, %r1, -1;\n"
         "redux.sync.xor.b32 %r12, %r1, -1;\nsetp.ne.b32 %p6, %r6, 0xaaaaaaaa;\nnot.pred %p2, %p2;\nor.pred "
         "%p6, %p6, %p2;\nor.pred %p6, %p6, %p3;\n"
         "or.pred %p6, %p6, %p4;\nor.pred %p6, %p6, %p5;\nsetp.ne.or.b32 %p6, %r8, 0, %p6;\nsetp.ne.or.b32 "
         "%p6, %r9, -1, %p6;\n"
         "setp.ne.or.s32 %p6, %r10, 496, %p6;\nsetp.ne.or.s32 %p6, %r11, 31, %p6;\nsetp.ne.or.s32 %p6, %r12, "
         "0, %p6;\n"
         "selp.b32 %r13, 0, %r7, %p6;\ncvt.u64.u32 %rd10, %r13;\nst.global.u64 [%rd3], %rd10;\n" END,
         x, .blocks = 1, .threads = 32);
    for (int l = 0; l < 32; l++) CHECK_EQ(x[l], l & 1 ? 0xaaaaaaaau : 0x55555555u);
  }
}

/* Lanes that come by different ways to the same shuffle; those of each half have a mask of their own. */
TEST(shuffles_of_a_part) {
  EACH_SEED {
    uint64_t x[32] = {0};
    RUNS(BEGIN
         "setp.lt.s32 %p1, %r1, 16;\nmov.u32 %r5, 0xffff0000;\nmov.u32 %r6, %r1;\n@%p1 bra $L1;\nbra.uni "
         "$L2;\n"
         "$L1:\nmov.u32 %r5, 0x0000ffff;\nmul.lo.s32 %r6, %r6, 3;\n"
         "$L2:\nshfl.sync.bfly.b32 %r7, %r6, 1, 31, %r5;\nbar.warp.sync %r5;\ncvt.u64.u32 %rd10, "
         "%r7;\nst.global.u64 [%rd3], %rd10;\n" END,
         x, .blocks = 1, .threads = 32);
    for (int l = 0; l < 32; l++) CHECK_EQ(x[l], (l ^ 1) * (l < 16 ? 3 : 1));
  }
}

/* All lanes come to the same shuffle, some of them earlier. */
TEST(shuffles_after_divergence) {
  for (uint64_t seed = 0; seed < 100; seed++) {
    uint64_t x[32] = {0};
    RUNS(BEGIN
         "mov.u32 %r6, %r1;\nsetp.lt.s32 %p1, %r1, 7;\n@%p1 bra $L1;\nadd.s32 %r6, %r6, 100;\nbra.uni $L2;\n"
         "$L1:\nadd.s32 %r6, %r6, 200;\nadd.s32 %r6, %r6, 0;\n$L2:\nshfl.sync.idx.b32 %r7, %r6, 6, 31, -1;\n"
         "cvt.u64.u32 %rd10, %r7;\nst.global.u64 [%rd3], %rd10;\n" END,
         x, .blocks = 1, .threads = 32);
    for (int l = 0; l < 32; l++) CHECK_EQ(x[l], 206);
  }
}

/* One lane waits in a loop for another one of its warp. */
TEST(lanes_that_wait_for_each_other) {
  EACH_SEED {
    uint64_t x[1] = {0};
    RUNS(BEGIN
         "setp.ne.s32 %p1, %r1, 0;\n@%p1 bra $L2;\n"
         "$L1:\nld.relaxed.gpu.global.u64 %rd10, [%rd1];\nsetp.ne.s64 %p2, %rd10, 31;\n@%p2 bra $L1;\n"
         "atom.global.add.u64 %rd11, [%rd1], 100;\nbra.uni $L3;\n"
         "$L2:\natom.global.add.u64 %rd11, [%rd1], 1;\n$L3:\n" END,
         x, .blocks = 1, .threads = 32);
    CHECK_EQ(x[0], 131);
  }
}

/* ---- A block ---- */

#define REDUCE                                                                                             \
  "ld.global.f64 %fd1, [%rd3];\nst.shared.f64 [%rd4], %fd1;\nmov.u32 %r5, 128;\n"                          \
  "$R1:\nbar.sync 0;\nshr.u32 %r5, %r5, 1;\nsetp.ge.u32 %p1, %r4, %r5;\n@%p1 bra $R2;\n"                   \
  "mul.wide.u32 %rd10, %r5, 8;\nadd.s64 %rd10, %rd4, %rd10;\nld.shared.f64 %fd1, [%rd10];\nld.shared.f64 " \
  "%fd2, [%rd4];\n"                                                                                        \
  "add.rn.f64 %fd2, %fd1, %fd2;\nst.shared.f64 [%rd4], %fd2;\n"                                            \
  "$R2:\nsetp.gt.u32 %p1, %r5, 1;\n@%p1 bra $R1;\n"

TEST(reduction) {
  EACH_SEED {
    double x[512];
    for (int k = 0; k < 512; k++) x[k] = k;
    RUNS(BEGIN REDUCE
         "setp.ne.s32 %p2, %r4, 0;\n@%p2 bra $L1;\nld.shared.f64 %fd3, [%rd4];\nst.global.f64 [%rd3], "
         "%fd3;\n$L1:\n" END,
         x, .blocks = 4, .threads = 128);
    for (int b = 0; b < 4; b++) CHECK(x[128 * b] == 128 * 128 * b + 127 * 64);
  }
}

TEST(barriers_with_results) {
  EACH_SEED {
    uint64_t x[96] = {0};
    RUNS(BEGIN
         "setp.lt.s32 %p1, %r4, 5;\nbar.red.popc.u32 %r5, 0, %p1;\nbarrier.sync.aligned 3;\nbar.red.and.pred "
         "%p2, 1, %p1;\nbar.red.or.pred %p3, 0, !%p1;\n"
         "selp.b32 %r6, 100, 0, %p2;\nselp.b32 %r7, 1000, 0, %p3;\nadd.s32 %r5, %r5, %r6;\nadd.s32 %r5, %r5, "
         "%r7;\n"
         "cvt.u64.u32 %rd10, %r5;\nst.global.u64 [%rd3], %rd10;\n" END,
         x, .blocks = 1, .threads = 96);
    for (int l = 0; l < 96; l++) CHECK_EQ(x[l], 1005);
  }
}

TEST(dynamic_shared_memory) {
  EACH_SEED {
    uint64_t x[64] = {0};
    RUNS(BEGIN
         "mov.u64 %rd10, dyn;\nmul.wide.u32 %rd11, %r4, 4;\nadd.s64 %rd11, %rd10, %rd11;\nst.shared.u32 "
         "[%rd11], %r4;\nst.shared.u64 [%rd4], %rd1;\n"
         "bar.sync 0;\nxor.b32 %r5, %r4, 63;\nmul.wide.u32 %rd11, %r5, 4;\nadd.s64 %rd11, %rd10, "
         "%rd11;\nld.shared.u32 %r6, [%rd11];\n"
         "cvt.u64.u32 %rd12, %r6;\nst.global.u64 [%rd3], %rd12;\n" END,
         x, .blocks = 1, .threads = 64, .shared = 256);
    for (int l = 0; l < 64; l++) CHECK_EQ(x[l], l ^ 63);
  }
}

/* Each warp writes what the next lanes of the same warp read: a barrier of the warp is enough. */
TEST(barriers_of_a_warp) {
  EACH_SEED {
    uint64_t x[64] = {0};
    RUNS(BEGIN
         "cvt.u64.u32 %rd10, %r4;\nst.shared.u64 [%rd4], %rd10;\nbar.warp.sync -1;\nxor.b32 %r5, %r4, "
         "5;\nmul.wide.u32 %rd11, %r5, 8;\n"
         "add.s64 %rd11, %rd5, %rd11;\nld.shared.u64 %rd12, [%rd11];\nbar.warp.sync -1;\nst.shared.u64 "
         "[%rd4], %rd12;\nst.global.u64 [%rd3], %rd12;\n" END,
         x, .blocks = 1, .threads = 64);
    for (int l = 0; l < 64; l++) CHECK_EQ(x[l], l ^ 5);
  }
}

TEST(histogram) {
  EACH_SEED {
    uint64_t x[32] = {0};
    RUNS(BEGIN
         "mov.u32 %r5, 0;\nsetp.gt.u32 %p1, %r4, 7;\n@%p1 bra $L1;\nst.shared.u32 [%rd4], "
         "%r5;\n$L1:\nbar.sync 0;\n"
         "and.b32 %r6, %r1, 7;\nmul.wide.u32 %rd10, %r6, 8;\nadd.s64 %rd11, %rd5, "
         "%rd10;\natom.shared.add.u32 %r7, [%rd11], 1;\nbar.sync 0;\n"
         "@%p1 bra $L2;\nld.shared.u32 %r8, [%rd4];\ncvt.u64.u32 %rd12, %r8;\nadd.s64 %rd13, %rd1, "
         "%rd10;\nred.global.add.u64 [%rd13], %rd12;\n$L2:\n" END,
         x, .blocks = 5, .threads = 64);
    for (int l = 0; l < 8; l++) CHECK_EQ(x[l], 40);
  }
}

/* ---- Blocks ---- */

/* A barrier of the grid: the first thread of each block counts up, and waits until all have. */
#define GRID_BARRIER(name, counter)                                   \
  "bar.sync 0;\nsetp.ne.s32 %p10, %r4, 0;\n@%p10 bra $" name          \
  "2;\nfence.acq_rel.gpu;\natom.global.add.u32 %r20, [%rd20+" counter \
  "], 1;\n"                                                           \
  "$" name "1:\nld.relaxed.gpu.global.u32 %r20, [%rd20+" counter      \
  "];\nsetp.lt.u32 %p11, %r20, %r21;\n@%p11 bra $" name               \
  "1;\n"                                                              \
  "fence.acq_rel.gpu;\n$" name "2:\nbar.sync 0;\n"

#define GRID_KERNEL \
  BEGIN "add.s64 %rd20, %rd1, 2048;\nmov.u32 %r21, %nctaid.x;\nmul.lo.s32 %r22, %r21, %r3;\n"                         \
        "cvt.u64.u32 %rd10, %r1;\nst.global.u64 [%rd3], %rd10;\n" GRID_BARRIER("A", "0")                              \
        "add.s32 %r5, %r1, 40;\nrem.u32 %r5, %r5, %r22;\nmul.wide.u32 %rd11, %r5, 8;\nadd.s64 %rd11, %rd1, %rd11;\n"  \
        "ld.global.u64 %rd12, [%rd11];\n" GRID_BARRIER("B", "4") "st.global.u64 [%rd3], %rd12;\n" END

TEST(barrier_of_the_grid) {
  EACH_SEED {
    uint64_t x[257] = {0};
    RUNS(GRID_KERNEL, x, .blocks = 8, .threads = 32, .cooperative = true);
    for (int l = 0; l < 256; l++) CHECK_EQ(x[l], (l + 40) % 256);
    CHECK(x[256] == 0x800000008u);
  }
}

/* The block that comes last adds what all blocks have written. */
#define LAST_BLOCK(first_fence, last_fence)                                                               \
  BEGIN REDUCE                                                                                            \
      "setp.ne.s32 %p2, %r4, 0;\nmov.u32 %r30, 0;\n@%p2 bra $L1;\nld.shared.f64 %fd3, "                   \
      "[%rd4];\nmul.wide.u32 %rd15, %r2, 8;\n"                                                            \
      "add.s64 %rd15, %rd1, %rd15;\nst.global.f64 [%rd15+4096], %fd3;\n" first_fence                      \
      "mov.u32 %r31, %nctaid.x;\nadd.s32 %r32, %r31, -1;\natom.global.inc.u32 %r33, [%rd1+8192], "        \
      "%r32;\nsetp.ne.s32 %p3, %r33, %r32;\n@%p3 bra $L1;\n" last_fence                                   \
      "mov.f64 %fd4, 0d0000000000000000;\nmov.u32 %r34, 0;\n$L2:\nmul.wide.u32 %rd16, %r34, 8;\nadd.s64 " \
      "%rd16, %rd1, %rd16;\n"                                                                             \
      "ld.global.f64 %fd5, [%rd16+4096];\nadd.rn.f64 %fd4, %fd4, %fd5;\nadd.s32 %r34, %r34, "             \
      "1;\nsetp.lt.u32 %p4, %r34, %r31;\n@%p4 bra $L2;\n"                                                 \
      "st.global.f64 [%rd1+8200], %fd4;\n$L1:\n" END

TEST(last_block_adds) {
  EACH_SEED {
    double x[1026] = {0};
    for (int k = 0; k < 512; k++) x[k] = k;
    RUNS(LAST_BLOCK("membar.gl;\n", "membar.gl;\n"), x, .blocks = 4, .threads = 128);
    CHECK(x[1025] == 511 * 256);
  }
}

TEST(last_block_without_fence) {
  static const char *const texts[] = {LAST_BLOCK("", "membar.gl;\n"), LAST_BLOCK("membar.gl;\n", "")};
  for (int k = 0; k < 2; k++)
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
      double x[1026] = {0};
      CHECK(!run_on(texts[k], x, sizeof x, (shape){.blocks = 4, .threads = 128}, seed));
      CHECK_HAS(message, "race");
    }
}

/* Blocks that wait for others which are not resident. */
TEST(barrier_of_the_grid_without_cooperation) {
  int hangs = 0;
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    uint64_t x[600] = {0};
    if (!run_on(GRID_KERNEL, x, sizeof x, (shape){.blocks = 8, .threads = 32, .limit = 300000}, seed)) {
      CHECK_HAS(message, "does not end");
      hangs++;
    }
  }
  CHECK(hangs > 0);
}

/* Each block takes a number when it runs. */
TEST(orders_of_blocks) {
  int unlike = 0, backward = 0;
  uint64_t first[17];
  EACH_SEED {
    uint64_t x[17] = {0};
    RUNS(BEGIN "atom.global.add.u64 %rd10, [%rd1+128], 1;\nst.global.u64 [%rd3], %rd10;\n" END, x,
         .blocks = 16, .threads = 1, .resident = 1);
    if (!seed) memcpy(first, x, sizeof x);
    unlike += memcmp(first, x, sizeof x) != 0;
    for (int k = 0; k + 1 < 16; k++) backward += x[k] > x[k + 1];
  }
  CHECK(unlike == SEEDS - 1);
  CHECK(backward > SEEDS);
}

TEST(counts) {
  ptx_counts n = {0};
  double x[64];
  uint64_t seed = 1;
  for (int k = 0; k < 64; k++) x[k] = 0;
  RUNS(BEGIN
       "setp.gt.s32 %p1, %r1, 15;\n@%p1 bra $L1;\nld.global.v2.f64 {%fd1, %fd2}, [%rd1];\nst.global.f32 "
       "[%rd3+256], 0f3F800000;\n"
       "red.global.add.f64 [%rd1+128], 0d3FF0000000000000;\n$L1:\nbar.sync 0;\n" END,
       x, .blocks = 1, .threads = 64, .counts = &n);
  CHECK_EQ(n.loads, 16);
  CHECK_EQ(n.load_bytes, 256);
  CHECK_EQ(n.store_bytes, 64);
  CHECK_EQ(n.atomics, 16);
  CHECK_EQ(n.barriers, 1);
  CHECK(n.instructions > 64 * 13);
  CHECK(x[16] == 16);
}

int main(int argc, char **argv) {
  if (argc > 2 && !strcmp(argv[1], "--print")) print_to = argv[2];
  RUN(loads_and_stores);
  RUN(divergent_loops);
  RUN(guards);
  RUN(indexed_branches);
  RUN(calls);
  RUN(local_arrays);
  RUN(variables_of_the_module);
  RUN(approximations);
  RUN(parameters);
  RUN(types_of_parameters);
  RUN(shuffles);
  RUN(votes);
  RUN(shuffles_of_a_part);
  RUN(shuffles_after_divergence);
  RUN(lanes_that_wait_for_each_other);
  RUN(reduction);
  RUN(barriers_with_results);
  RUN(dynamic_shared_memory);
  RUN(barriers_of_a_warp);
  RUN(histogram);
  RUN(barrier_of_the_grid);
  RUN(last_block_adds);
  RUN(last_block_without_fence);
  RUN(barrier_of_the_grid_without_cooperation);
  RUN(orders_of_blocks);
  RUN(counts);
  return check_done();
}
