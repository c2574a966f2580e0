/* test_ptx.h - memory of a pretended device, and launches, for the tests of the emulator of PTX. */
#ifndef LGT_TEST_PTX_H
#define LGT_TEST_PTX_H

#include <stdlib.h>
#include "check.h"
#include "ptx.h"

enum { PRETENDED_ALLOCATIONS = 16 };

typedef struct {
  ptx_memory block[PRETENDED_ALLOCATIONS];
  int count;
} pretended;

static bool pretended_find(void *context, uint64_t address, ptx_memory *out) {
  const pretended *d = context;
  for (int k = 0; k < d->count; k++)
    if (address - d->block[k].base < d->block[k].bytes) return *out = d->block[k], true;
  return false;
}

/* Bytes on the device, not written yet. */
static uint64_t pretended_alloc(pretended *d, size_t bytes) {
  ptx_memory *m = &d->block[d->count];
  *m = (ptx_memory){.base = 0x700000000000u + (uint64_t)d->count * 0x100000000u, .bytes = bytes};
  m->host = malloc(bytes + 1);
  m->written = calloc(1, bytes + 1);
  memset(m->host, 0xcd, bytes);
  d->count++;
  return m->base;
}

static uint64_t pretended_copy(pretended *d, const void *from, size_t bytes) {
  uint64_t address = pretended_alloc(d, bytes);
  memcpy(d->block[d->count - 1].host, from, bytes);
  memset(d->block[d->count - 1].written, 1, bytes);
  return address;
}

static __attribute__((unused)) void *pretended_host(pretended *d, uint64_t address) {
  for (int k = 0; k < d->count; k++)
    if (d->block[k].base == address) return d->block[k].host;
  return NULL;
}

static __attribute__((unused)) void pretended_free(pretended *d) {
  for (int k = 0; k < d->count; k++) {
    free(d->block[k].host);
    free(d->block[k].written);
  }
  d->count = 0;
}

/* ---- Kernels ---- */

#define HEAD ".version 7.0\n.target sm_80\n.address_size 64\n"
/* Kernel k with one pointer, %rd1; the number of the thread in the launch is %r1, in the block %r4, and %rd3 is the
   address of its element of 8 bytes.  %rd4 is the same in shared memory, by the thread in the block. */
#define BEGIN HEAD ".extern .shared .align 16 .b8 dyn[];\n" BEGIN_KERNEL
#define BEGIN_KERNEL                                                                                   \
  ".visible .entry k(.param .u64 k_param_0) {\n"                                                       \
  ".reg .pred %p<20>;\n.reg .b16 %rs<20>;\n.reg .b32 %r<40>;\n.reg .b64 %rd<40>;\n.reg .f32 %f<20>;\n" \
  ".reg .f64 %fd<20>;\n.shared .align 16 .b8 st[2048];\n"                                              \
  "ld.param.u64 %rd1, [k_param_0];\n"                                                                  \
  "mov.u32 %r4, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\n"                              \
  "mad.lo.s32 %r1, %r2, %r3, %r4;\nmul.wide.s32 %rd2, %r1, 8;\nadd.s64 %rd3, %rd1, %rd2;\n"            \
  "mul.wide.s32 %rd4, %r4, 8;\nmov.u64 %rd5, st;\nadd.s64 %rd4, %rd5, %rd4;\n"
#define END "ret;\n}\n"

typedef struct {
  unsigned blocks, threads, unchecked, resident;
  size_t shared;
  bool cooperative;
  uint64_t limit;
  ptx_counts *counts;
} shape;

static char message[600];    /* of the last launch */
static const char *print_to; /* a folder: kernels are written there, for ptxas */
static int printed;

/* `wrong`: ptxas is to refuse it. */
static void print_kernel(const char *text, bool wrong) {
  char path[600];
  snprintf(path, sizeof path, "%s/%s%03d.ptx", print_to, wrong ? "wrong" : "", printed++);
  FILE *to = fopen(path, "w");
  if (to) fputs(text, to), fclose(to);
}

/* Runs kernel k with the address of the first memory as its only parameter. */
static __attribute__((unused)) bool run_kernel(const char *text, pretended *d, shape s, uint64_t seed) {
  if (print_to && !seed) print_kernel(text, false);
  message[0] = '\0';
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
                       .unchecked = s.unchecked,
                       .resident = s.resident,
                       .find = pretended_find,
                       .context = d,
                       .counts = s.counts};
  bool good = ptx_run(ptx_find(m, "k"), &launch, message, sizeof message);
  ptx_free(m);
  return good;
}

/* The same with `bytes` of memory, zeros at first, which are in `memory` afterwards. */
static __attribute__((unused)) bool run_on(const char *text, void *memory, size_t bytes, shape s, uint64_t seed) {
  pretended d = {0};
  pretended_copy(&d, memory, bytes);
  bool good = run_kernel(text, &d, s, seed);
  memcpy(memory, d.block[0].host, bytes);
  pretended_free(&d);
  return good;
}

#endif
