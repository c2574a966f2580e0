/* Each mistake that the emulator of PTX looks for is found, and what is no mistake is not.
 *
 * A mistake has to be found whatever the order of blocks and warps is, so each kernel is run under several seeds.
 */
#include "test_ptx.h"

enum { SEEDS = 12 };

/* Every run of the kernel on 64 zeros fails, with these words. */
static bool finds(const char *text, shape s, const char *words) {
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    uint64_t x[64] = {0};
    if (run_on(text, x, sizeof x, s, seed)) {
      snprintf(message, sizeof message, "nothing was found under seed %d", (int)seed);
      return false;
    }
    if (!strstr(message, words)) return false;
  }
  return true;
}

static bool passes(const char *text, shape s) {
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    uint64_t x[64] = {0};
    if (!run_on(text, x, sizeof x, s, seed)) return false;
  }
  return true;
}

#define ONE_BLOCK \
  (shape) { .blocks = 1, .threads = 64 }
#define ONE_WARP \
  (shape) { .blocks = 1, .threads = 32 }
#define TWO_BLOCKS \
  (shape) { .blocks = 2, .threads = 32 }
#define FINDS(body, s, words) \
  if (!finds(BEGIN body END, s, words)) FAIL("\"%s\", without \"%s\"", message, words)
#define PASSES(body, s) \
  if (!passes(BEGIN body END, s)) FAIL("%s", message)

/* ---- Addresses ---- */

TEST(bounds) {
  FINDS("ld.global.u64 %rd10, [%rd3+8];\n", ONE_BLOCK, "in no allocation");
  FINDS("ld.global.v2.u64 {%rd10, %rd11}, [%rd1+512];\n", ONE_BLOCK, "in no allocation");
  FINDS("ld.global.u64 %rd10, [%rd3+-8];\n", ONE_BLOCK, "in no allocation");
  FINDS("mov.u64 %rd10, 0;\nld.global.u64 %rd10, [%rd10];\n", ONE_BLOCK, "in no allocation");
  FINDS("st.global.u64 [%rd1+512], %rd1;\n", ONE_BLOCK, "in no allocation");
  FINDS("red.global.add.u64 [%rd1+512], %rd1;\n", ONE_BLOCK, "in no allocation");
  FINDS("st.shared.u64 [%rd5+2048], %rd1;\n", ONE_BLOCK, "out of bounds");
  FINDS("mov.u64 %rd10, dyn;\nst.shared.u32 [%rd10+60], %r1;\nst.shared.u32 [%rd10+64], %r1;\n",
        ((shape){.blocks = 1, .threads = 1, .shared = 64}), "out of bounds");
  FINDS(
      ".local .align 8 .b8 depot[16];\nmov.u64 %rd10, depot;\nst.local.u64 [%rd10+8], %rd1;\nst.local.u64 "
      "[%rd10+16], %rd1;\n",
      ONE_BLOCK, "out of bounds");
  FINDS("mov.b64 %rd10, k_param_0;\nld.param.u64 %rd11, [%rd10+8];\n", ONE_BLOCK, "out of bounds");
  FINDS("cvta.to.shared.u64 %rd10, %rd1;\n", ONE_BLOCK, "no address in that space");
}

TEST(bounds_within) {
  pretended d = {0};
  uint32_t three[3] = {0};
  pretended_copy(&d, three, sizeof three);
  CHECK(!run_kernel(BEGIN "ld.global.u64 %rd10, [%rd1+8];\n" END, &d, (shape){.blocks = 1, .threads = 1}, 0));
  CHECK_HAS(message, "out of bounds");
  pretended_free(&d);
}

TEST(alignment) {
  FINDS("ld.global.u32 %r10, [%rd1+2];\n", ONE_BLOCK, "misaligned");
  FINDS("ld.global.v2.u32 {%r10, %r11}, [%rd1+4];\n", ONE_BLOCK, "misaligned");
  FINDS("ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd1+8];\n", ONE_BLOCK, "misaligned");
  FINDS("st.global.u16 [%rd1+1], %rs1;\n", ONE_BLOCK, "never written");
  FINDS("st.shared.v2.f64 [%rd5+8], {0d0000000000000000, 0d0000000000000000};\n", ONE_WARP, "misaligned");
  FINDS("atom.global.add.u64 %rd10, [%rd1+4], 1;\n", ONE_BLOCK, "misaligned");
}

/* ---- What was never written ---- */

TEST(unwritten_registers) {
  FINDS("add.s32 %r10, %r11, 1;\n", ONE_BLOCK, "a register is read that was never written");
  FINDS("st.global.u32 [%rd3], %r11;\n", ONE_BLOCK, "register");
  FINDS("ld.global.u32 %r10, [%rd30];\n", ONE_BLOCK, "register");
  FINDS("@%p1 mov.u32 %r10, 1;\n", ONE_BLOCK, "predicate");
  FINDS("@%p1 bra $L1;\n$L1:\n", ONE_BLOCK, "predicate");
  FINDS("setp.lt.s32 %p1, %r1, 5;\n@%p1 mov.u32 %r10, 1;\nadd.s32 %r11, %r10, 1;\n", ONE_BLOCK, "register");
  FINDS("bar.sync %r10;\n", ONE_BLOCK, "register");
  FINDS("shfl.sync.bfly.b32 %r10, %r11, 1, 31, -1;\n", ONE_WARP, "register");
  FINDS("mov.u32 %r10, %r11;\nadd.s32 %r10, %r10, 1;\n", ONE_BLOCK, "register");
  FINDS("setp.lt.s32 %p1, %r1, 5;\nselp.b32 %r10, %r1, %r11, %p1;\nadd.s32 %r10, %r10, 1;\n", ONE_BLOCK,
        "register");
  PASSES("mov.u32 %r10, %r11;\nmov.b64 {%r12, %r13}, %rd30;\nmov.b64 %rd31, {%r1, %r13};\n", ONE_BLOCK);
  PASSES("setp.lt.s32 %p1, %r1, 500;\nselp.b32 %r10, %r1, %r11, %p1;\nadd.s32 %r10, %r10, 1;\n", ONE_BLOCK);
  PASSES("setp.lt.s32 %p1, %r1, 5;\n@%p1 mov.u32 %r10, 1;\n@%p1 add.s32 %r11, %r10, 1;\n", ONE_BLOCK);
}

/* What an earlier call of the same function wrote is not there any more. */
TEST(unwritten_registers_of_a_call) {
  static const char text[] = HEAD
      ".visible .func f(.param .b32 f_param_0)\n{\n.reg .pred %p<3>;\n.reg .b32 %r<5>;\nld.param.u32 %r1, "
      "[f_param_0];\n"
      "setp.eq.s32 %p1, %r1, 0;\n@%p1 bra $L1;\nmov.u32 %r2, 5;\nret;\n$L1:\nadd.s32 %r3, %r2, "
      "1;\nret;\n}\n" BEGIN_KERNEL
      "{\n.param .b32 param0;\nst.param.b32 [param0+0], 1;\ncall.uni f, (param0);\n}\n"
      "{\n.param .b32 param0;\nst.param.b32 [param0+0], 0;\ncall.uni f, (param0);\n}\n" END;
  if (!finds(text, ONE_BLOCK, "register")) FAIL("%s", message);
}

TEST(unwritten_memory) {
  FINDS("ld.shared.u64 %rd10, [%rd4];\n", ONE_BLOCK, "shared memory");
  FINDS("st.shared.u32 [%rd4], %r1;\nld.shared.u64 %rd10, [%rd4];\n", ONE_BLOCK, "shared memory");
  FINDS("atom.shared.add.u32 %r10, [%rd5], 1;\n", ONE_BLOCK, "never written");
  FINDS(
      ".local .align 8 .b8 depot[16];\nmov.u64 %rd10, depot;\nst.local.u64 [%rd10], %rd1;\nld.local.u64 "
      "%rd11, [%rd10+8];\n",
      ONE_BLOCK, "local memory");
  pretended d = {0};
  pretended_alloc(&d, 512);
  CHECK(!run_kernel(BEGIN "ld.global.u64 %rd10, [%rd3];\n" END, &d, ONE_BLOCK, 0));
  CHECK_HAS(message, "global memory");
  CHECK(
      run_kernel(BEGIN "st.global.u64 [%rd3], %rd1;\nld.global.u64 %rd10, [%rd3];\n" END, &d, ONE_BLOCK, 0));
  CHECK(run_kernel(BEGIN "ld.global.u64 %rd10, [%rd3];\n" END, &d, ONE_BLOCK, 0));
  pretended_free(&d);
  pretended_alloc(&d, 512);
  CHECK(run_kernel(BEGIN "ld.global.u64 %rd10, [%rd3];\n" END, &d,
                   (shape){.blocks = 1, .threads = 64, .unchecked = PTX_NO_UNWRITTEN}, 0));
  pretended_free(&d);
}

/* ---- Races ---- */

/* The neighbour's element in shared and in global memory. */
#define SHARED_NEIGHBOUR "xor.b32 %r5, %r4, 1;\nmul.wide.u32 %rd10, %r5, 8;\nadd.s64 %rd10, %rd5, %rd10;\n"
#define FAR_NEIGHBOUR    "xor.b32 %r5, %r4, 32;\nmul.wide.u32 %rd10, %r5, 8;\nadd.s64 %rd10, %rd5, %rd10;\n"

TEST(races_in_shared_memory) {
  FINDS("st.shared.u64 [%rd4], %rd1;\n" FAR_NEIGHBOUR "ld.shared.u64 %rd11, [%rd10];\n",
        ((shape){.blocks = 1, .threads = 64, .unchecked = PTX_NO_UNWRITTEN}), "race");
  FINDS("st.shared.u64 [%rd4], %rd1;\nbar.sync 0;\n" FAR_NEIGHBOUR
        "ld.shared.u64 %rd11, [%rd10];\nst.shared.u64 [%rd4], %rd11;\n",
        ONE_BLOCK, "race");
  FINDS("st.shared.u64 [%rd5], %rd1;\n", ONE_BLOCK, "race");
  FINDS("st.shared.u64 [%rd4], %rd1;\n" SHARED_NEIGHBOUR "ld.shared.u64 %rd11, [%rd10];\n",
        ((shape){.blocks = 1, .threads = 32, .unchecked = PTX_NO_UNWRITTEN}), "race");
  FINDS("st.shared.u64 [%rd4], %rd1;\nbar.warp.sync -1;\n" FAR_NEIGHBOUR "ld.shared.u64 %rd11, [%rd10];\n",
        ((shape){.blocks = 1, .threads = 64, .unchecked = PTX_NO_UNWRITTEN}), "race");
  FINDS(
      "mov.u32 %r10, 0;\nsetp.ne.s32 %p1, %r4, 0;\n@%p1 bra $L1;\nst.shared.u32 [%rd5], "
      "%r10;\n$L1:\natom.shared.add.u32 %r11, [%rd5], 1;\n",
      ((shape){.blocks = 1, .threads = 64, .unchecked = PTX_NO_UNWRITTEN}), "race");
  /* Bytes beside each other are no race. */
  PASSES(
      "add.s64 %rd10, %rd5, %rd2;\ncvt.u64.u32 %rd12, %r4;\nadd.s64 %rd11, %rd5, %rd12;\nst.shared.u8 "
      "[%rd11], %r4;\nld.shared.u8 %r10, [%rd11];\n",
      ONE_BLOCK);
  PASSES("st.shared.u64 [%rd4], %rd1;\nbar.sync 0;\n" FAR_NEIGHBOUR
         "ld.shared.u64 %rd11, [%rd10];\nbar.sync 0;\nst.shared.u64 [%rd4], %rd11;\n",
         ONE_BLOCK);
  PASSES("st.shared.u64 [%rd4], %rd1;\nbar.warp.sync -1;\n" SHARED_NEIGHBOUR
         "ld.shared.u64 %rd11, [%rd10];\n",
         ONE_BLOCK);
}

TEST(races_in_global_memory) {
  FINDS("st.global.u64 [%rd1], %rd1;\n", TWO_BLOCKS, "race");
  FINDS("st.global.u64 [%rd1], %rd1;\n", ((shape){.blocks = 2, .threads = 1}), "race");
  FINDS("ld.global.u64 %rd10, [%rd3];\nbar.sync 0;\nst.global.u8 [%rd1+300], %r1;\n", TWO_BLOCKS, "race");
  FINDS("bar.sync 0;\nst.global.u64 [%rd1], %rd1;\nbar.sync 0;\n", ((shape){.blocks = 2, .threads = 1}),
        "race");
  FINDS(
      "add.s32 %r5, %r1, 1;\nand.b32 %r5, %r5, 63;\nmul.wide.u32 %rd10, %r5, 8;\nadd.s64 %rd10, %rd1, "
      "%rd10;\nld.global.u64 %rd11, [%rd10];\n"
      "st.global.u64 [%rd3], %rd11;\n",
      TWO_BLOCKS, "race");
  FINDS("atom.global.add.u64 %rd10, [%rd1], 1;\nld.global.u64 %rd11, [%rd1];\n", TWO_BLOCKS, "race");
  FINDS(
      "setp.ne.s32 %p1, %r1, 0;\n@%p1 bra $L1;\nst.global.u64 [%rd1], 1;\n$L1:\nld.relaxed.gpu.global.u64 "
      "%rd10, [%rd1];\n",
      TWO_BLOCKS, "race");
  FINDS("bar.sync 0;\nst.global.u32 [%rd1+4], %r1;\nld.global.u64 %rd10, [%rd1];\n",
        ((shape){.blocks = 2, .threads = 1}), "race");
  PASSES(
      "atom.global.add.u64 %rd10, [%rd1], 1;\nld.relaxed.gpu.global.u64 %rd11, "
      "[%rd1];\nst.relaxed.gpu.global.u64 [%rd1], %rd11;\n",
      TWO_BLOCKS);
  PASSES("ld.global.u64 %rd10, [%rd1];\nld.global.u32 %r10, [%rd1+4];\n", TWO_BLOCKS);
  PASSES("cvt.u64.u32 %rd10, %r1;\nadd.s64 %rd10, %rd1, %rd10;\nst.global.u8 [%rd10], %r1;\n", TWO_BLOCKS);
  PASSES("ld.global.u64 %rd10, [%rd3];\nadd.s64 %rd10, %rd10, 1;\nst.global.u64 [%rd3], %rd10;\n",
         TWO_BLOCKS);
  PASSES("st.global.u64 [%rd1], %rd1;\n", ((shape){.blocks = 2, .threads = 32, .unchecked = PTX_NO_RACES}));
}

/* A value and a flag, from the first block to the second. */
#define MESSAGE(before, after)                                                   \
  "setp.ne.s32 %p1, %r2, 0;\n@%p1 bra $L1;\nst.global.u64 [%rd1+8], 7;\n" before \
  "bra.uni $L3;\n"                                                               \
  "$L1:\n" after "setp.ne.s32 %p2, %r10, 1;\n@%p2 bra $L1;\n"

TEST(messages) {
  shape s = {.blocks = 2, .threads = 1, .cooperative = true};
  PASSES(MESSAGE("st.release.gpu.global.u32 [%rd1], 1;\n",
                 "ld.acquire.gpu.global.u32 %r10, [%rd1];\n") "ld.global.u64 %rd10, [%rd1+8];\n$L3:\n",
         s);
  PASSES(MESSAGE("fence.acq_rel.gpu;\nst.relaxed.gpu.global.u32 [%rd1], 1;\n", "ld.relaxed.gpu.global.u32 %r10, [%rd1];\nfence.acq_rel.gpu;\n")
             "ld.global.u64 %rd10, [%rd1+8];\n$L3:\n", s);
  PASSES(
      MESSAGE("membar.gl;\natom.global.exch.b32 %r11, [%rd1], 1;\n",
              "ld.volatile.global.u32 %r10, [%rd1];\nmembar.gl;\n") "ld.global.u64 %rd10, [%rd1+8];\n$L3:\n",
      s);
  FINDS(MESSAGE("st.relaxed.gpu.global.u32 [%rd1], 1;\n",
                "ld.acquire.gpu.global.u32 %r10, [%rd1];\n") "ld.global.u64 %rd10, [%rd1+8];\n$L3:\n",
        s, "race");
  FINDS(MESSAGE("st.release.gpu.global.u32 [%rd1], 1;\n",
                "ld.relaxed.gpu.global.u32 %r10, [%rd1];\n") "ld.global.u64 %rd10, [%rd1+8];\n$L3:\n",
        s, "race");
  FINDS(MESSAGE("st.release.gpu.global.u32 [%rd1], 1;\nst.global.u64 [%rd1+8], 8;\n",
                "ld.acquire.gpu.global.u32 %r10, [%rd1];\n") "ld.global.u64 %rd10, [%rd1+8];\n$L3:\n",
        s, "race");
}

TEST(cached_reads) {
  FINDS("st.global.u64 [%rd3], %rd1;\nld.global.nc.u64 %rd10, [%rd3];\n", ONE_BLOCK,
        "which this launch writes");
  FINDS("ld.global.nc.u64 %rd10, [%rd3];\nst.global.u64 [%rd3], %rd10;\n", ONE_BLOCK, "ld.global.nc");
  PASSES("ld.global.nc.u64 %rd10, [%rd1];\n", TWO_BLOCKS);
}

/* ---- Threads that do not come ---- */

TEST(barriers) {
  FINDS("setp.lt.s32 %p1, %r4, 5;\n@%p1 bra $L1;\nbar.sync 0;\n$L1:\nbar.sync 0;\n", ONE_BLOCK,
        "a barrier in divergent code");
  FINDS("setp.lt.s32 %p1, %r4, 5;\n@%p1 bar.sync 0;\n", ONE_BLOCK, "barrier");
  FINDS("setp.lt.s32 %p1, %r4, 5;\n@%p1 ret;\nbar.sync 0;\n", ONE_BLOCK, "barrier");
  FINDS("setp.lt.s32 %p1, %r4, 32;\n@%p1 bra $L1;\nbar.sync 0;\n$L1:\n", ONE_BLOCK, "barrier");
  FINDS("setp.lt.s32 %p1, %r4, 32;\nselp.b32 %r5, 1, 2, %p1;\nbar.sync %r5;\n", ONE_BLOCK, "never come");
  FINDS("bar.sync 0, 32;\n", ONE_BLOCK, "not emulated");
  FINDS("bar.sync %r4;\n", ONE_BLOCK, "different barriers");
  PASSES("setp.lt.s32 %p1, %r4, 5;\n@%p1 bra $L1;\nmov.u32 %r5, 5;\n$L1:\nbar.sync 0, 64;\n", ONE_BLOCK);
  PASSES("setp.lt.s32 %p1, %r4, 32;\n@%p1 bra $L1;\nbar.sync 0;\nbra.uni $L2;\n$L1:\nbar.sync 0;\n$L2:\n",
         ONE_BLOCK);
}

TEST(shuffles) {
  FINDS(
      "setp.lt.s32 %p1, %r4, 5;\n@%p1 bra $L1;\nshfl.sync.bfly.b32 %r10, %r1, 1, 31, -1;\nbra.uni "
      "$L2;\n$L1:\nbar.warp.sync -1;\n$L2:\n",
      ONE_WARP, "waits for lanes of its warp");
  FINDS("shfl.sync.bfly.b32 %r10, %r1, 1, 31, 255;\n", ONE_WARP, "not in its mask");
  FINDS("shfl.sync.down.b32 %r10, %r1, 8, 31, -1;\n", ((shape){.blocks = 1, .threads = 20}),
        "which takes no part");
  FINDS("setp.gt.s32 %p1, %r4, 15;\n@%p1 bra $L1;\nshfl.sync.idx.b32 %r10, %r1, 16, 31, 0xffff;\n$L1:\n",
        ONE_WARP, "which takes no part");
  PASSES("shfl.sync.down.b32 %r10, %r1, 8, 31, -1;\n", ONE_WARP);
}

/* ---- Other mistakes ---- */

TEST(contraction) {
  FINDS("mov.f64 %fd1, 0d3FF0000000000000;\nmul.f64 %fd2, %fd1, %fd1;\n", ONE_BLOCK, "contract");
  FINDS("mov.f32 %f1, 0f3F800000;\nadd.f32 %f2, %f1, %f1;\n", ONE_BLOCK, "contract");
  FINDS("mov.b16 %rs1, 0x3c00;\nsub.f16 %rs2, %rs1, %rs1;\n", ONE_BLOCK, "contract");
  PASSES("mov.f64 %fd1, 0d3FF0000000000000;\nmul.f64 %fd2, %fd1, %fd1;\n",
         ((shape){.blocks = 1, .threads = 1, .unchecked = PTX_NO_CONTRACTION}));
}

TEST(endless_loops) {
  FINDS("$L1:\nbra.uni $L1;\n", ((shape){.blocks = 2, .threads = 64, .limit = 10000}), "does not end");
  FINDS("$L1:\nbar.sync 0;\nbra.uni $L1;\n", ((shape){.blocks = 2, .threads = 64, .limit = 10000}),
        "does not end");
}

TEST(traps) {
  FINDS("setp.eq.s32 %p1, %r1, 40;\n@%p1 trap;\n", ONE_BLOCK, "block (0,0,0) thread (40,0,0): trap");
  FINDS("$L_t:\n.branchtargets $L0, $L0;\nbrx.idx %r1, $L_t;\n$L0:\n", ONE_BLOCK, "of 2 targets");
}

TEST(where_it_was) {
  FINDS("mov.u32 %r10, 5;\nld.global.u32 %r10, [%rd3+2];\n", ((shape){.blocks = 1, .threads = 1}),
        "kernel k, line 24 (ld.global.u32 %r10, [%rd3+2];), block (0,0,0) thread (0,0,0): misaligned");
}

/* ---- Texts that are not understood; ptxas refuses them, too ---- */

TEST(texts) {
  static const char *const bodies[] = {"add.s32 %r10, %r1;\n",
                                       "add.s32 %r10, %r1, %r1, %r1;\n",
                                       "add.s32 %r10, %rd1, %r1;\n",
                                       "add.f32 %r90, %f1, %f1;\n",
                                       "add.rn.s32 %r10, %r1, %r1;\n",
                                       "add.s8 %r10, %r1, %r1;\n",
                                       "foo.s32 %r10, %r1;\n",
                                       "mov.b32 {}, %r1;\n",
                                       "mov.b32 %r1, {};\n",
                                       "add.s32 %r10, %r1, %q;\n",
                                       "bra $L9;\n",
                                       "$L1:\n$L1:\n",
                                       "fma.f64 %fd1, %fd1, %fd1, %fd1;\n",
                                       "div.f64 %fd1, %fd1, %fd1;\n",
                                       "mul.s32 %r10, %r1, %r1;\n",
                                       "ld.global.v3.u32 {%r10, %r11, %r12}, [%rd1];\n",
                                       "ld.global.v4.u64 {%rd10, %rd11, %rd12, %rd13}, [%rd1];\n",
                                       "ld.global.u32 %r10, [%r1];\n",
                                       "ld.global.u32 %r10, %rd1;\n",
                                       "cvt.f32.f64 %f1, %fd1;\n",
                                       "cvt.rn.f64.f32 %fd1, %f1;\n",
                                       "cvt.s32.f32 %r10, %f1;\n",
                                       "cvt.rn.s32.f32 %r10, %f1;\n",
                                       "cvt.sat.u32.u16 %r10, %rs1;\n",
                                       "shfl.down.b32 %r10, %r1, 1, 31;\n",
                                       "shl.b32 %r10, %r1, %rd1;\n",
                                       "mov.u32 %r10, 0f3F800000;\nadd.s32 %r10, %r10, 1.5;\n",
                                       "mov.f32 %f1, 5;\n",
                                       "setp.lt.b32 %p1, %r1, %r1;\n",
                                       "setp.ltu.s32 %p1, %r1, %r1;\n",
                                       "st.const.u32 [%rd1], %r1;\n",
                                       "st.param.u64 [k_param_0], %rd1;\n",
                                       "min.NaN.f64 %fd1, %fd1, %fd1;\n",
                                       "sin.f32 %f1, %f1;\n",
                                       "call foo;\n",
                                       "{ .reg .b32 tmp; }\nmov.u32 tmp, 1;\n",
                                       "bar.sync;\n",
                                       "red.global.exch.b32 [%rd1], %r1;\n"};
  for (size_t k = 0; k < sizeof bodies / sizeof *bodies; k++) {
    char text[4000];
    snprintf(text, sizeof text, "%s%s%s", BEGIN, bodies[k], END);
    if (print_to) print_kernel(text, true);
    ptx_module *m = ptx_load(text, message, sizeof message);
    if (m) FAIL("not refused: %s", bodies[k]);
    CHECK_HAS(message, "line ");
  }
  static const char *const modules[] = {"",
                                        ".version 7.0\n",
                                        HEAD ".visible .entry k() {",
                                        HEAD "foo",
                                        HEAD ".extern .global .u32 g;\n",
                                        HEAD ".func f(.param .u16 a) { ret; }\n",
                                        HEAD ".section .debug",
                                        HEAD ".func (",
                                        HEAD ".visible .entry k() { $L: .branchtargets a",
                                        HEAD ".visible .entry k() { ret; }\n.visible .entry k() { ret; }\n",
                                        HEAD "/*",
                                        HEAD "\"",
                                        HEAD "#",
                                        HEAD ".extern .func f;\n.visible .entry k() { call f; ret; }\n",
                                        ".version 7.0\n.target sm_80\n.address_size 32\n"};
  for (size_t k = 0; k < sizeof modules / sizeof *modules; k++) {
    ptx_module *m = ptx_load(modules[k], message, sizeof message);
    if (m) FAIL("not refused: %s", modules[k]);
    CHECK_HAS(message, "line ");
  }
}

int main(int argc, char **argv) {
  if (argc > 2 && !strcmp(argv[1], "--print")) print_to = argv[2];
  RUN(bounds);
  RUN(bounds_within);
  RUN(alignment);
  RUN(unwritten_registers);
  RUN(unwritten_registers_of_a_call);
  RUN(unwritten_memory);
  RUN(races_in_shared_memory);
  RUN(races_in_global_memory);
  RUN(messages);
  RUN(cached_reads);
  RUN(barriers);
  RUN(shuffles);
  RUN(contraction);
  RUN(endless_loops);
  RUN(traps);
  RUN(where_it_was);
  RUN(texts);
  return check_done();
}
