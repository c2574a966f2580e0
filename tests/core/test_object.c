/* Loading objects: real ones work, damaged ones are refused and never crash.  The argument is the
 * emitter module. */
#include <dlfcn.h>
#include <elf.h>
#include <stdlib.h>

#include "check.h"
#include "kernel/kernel.h"
#include "base/mem.h"
#include "kernel/object.h"
#include "random_loop.h"

static lgt_emit_loop_fn *emit;
static char *bytes; /* an object with calls, constants, two functions */
static size_t size;

static void make_object(void) {
  random_loop r;
  lgt_emit_result result;
  random_loop_init(&r);
  int a = add_load(&r, LGT_FLOAT64, LGT_STRIDE_UNIT), b = add_load(&r, LGT_FLOAT64, LGT_STRIDE_UNIT);
  int c = add_inst(&r, LGT_OP_EXP, LGT_FLOAT64, 0, a, LGT_NO_VALUE, LGT_NO_VALUE);
  int d = add_inst(&r, LGT_OP_FMOD, LGT_FLOAT64, 0, c, b, LGT_NO_VALUE);
  add_store(&r, d, LGT_STRIDE_UNIT);
  r.alias[2] = -1;
  lgt_loop_seal(&r.loop);
  if (emit(&r.loop, lgt_isa_host(), LGT_KERNEL_PLAIN, false, &result))
    printf("FAIL emit: %s\n", result.message);
  bytes = result.object;
  size = result.size;
}

static Elf64_Shdr *section(char *object, int i) {
  return (Elf64_Shdr *)(object + ((Elf64_Ehdr *)object)->e_shoff) + i;
}

static int find_section(char *object, unsigned type) {
  for (int i = 0; i < ((Elf64_Ehdr *)object)->e_shnum; i++)
    if (section(object, i)->sh_type == type) return i;
  return -1;
}

static lgt_status try(const char *object, size_t n) {
  lgt_object *loaded = NULL;
  lgt_status status = lgt_object_load(object, n, &loaded);
  if (!status) lgt_object_free(loaded);
  return status;
}

TEST(good) {
  lgt_object *object;
  CHECK_EQ(lgt_object_load(bytes, size, &object), LGT_OK);
  CHECK(lgt_object_symbol(object, "lgt_kernel") != NULL);
  CHECK(lgt_object_symbol(object, "lgt_other") == NULL);
  double x[19], y[19], z[19];
  for (int i = 0; i < 19; i++) x[i] = i * 0.1, y[i] = 0.75, z[i] = -1;
  lgt_base base[3] = {{.address = (char *)x}, {.address = (char *)y}, {.address = (char *)z}};
  int64_t row[3] = {0}, col[3] = {8, 8, 8};
  lgt_slab slab = {1, 19, base, row, col, NULL, 0};
  ((lgt_kernel_fn)lgt_object_symbol(object, "lgt_kernel"))(&slab);
  for (int i = 0; i < 19; i++) CHECK(fabs(z[i] - fmod(exp(x[i]), 0.75)) < 1e-14);
  lgt_object_free(object);
}

/* Misaligned bytes are no problem. */
TEST(misaligned) {
  char *copy = malloc(size + 1);
  memcpy(copy + 1, bytes, size);
  CHECK_EQ(try(copy + 1, size), LGT_OK);
  free(copy);
}

TEST(truncated) {
  for (size_t n = 0; n < size; n++) {
    char *exact = malloc(n + 1); /* so that a sanitizer sees a read behind it */
    memcpy(exact, bytes, n);
    lgt_status status = try(exact, n);
    free(exact);
    CHECK(status != LGT_OK);
  }
}

/* Any byte may be wrong: the result is a status, and nothing is read or written outside. */
TEST(flipped) {
  char *copy = malloc(size);
  for (size_t at = 0; at < size; at++)
    for (int bit = 0; bit < 8; bit++) {
      memcpy(copy, bytes, size);
      copy[at] ^= (char)(1 << bit);
      try(copy, size);
    }
  random_state = 7;
  for (int round = 0; round < 20000; round++) {
    memcpy(copy, bytes, size);
    for (int k = 1 + random_below(8); k > 0; k--) copy[random_below((int)size)] = (char)random_bits();
    try(copy, size);
  }
  free(copy);
}

/* Mistakes of each kind, and what is said about them. */
static void refused(void (*damage)(char *object), const char *words) {
  char *copy = malloc(size);
  memcpy(copy, bytes, size);
  damage(copy);
  lgt_status status = try(copy, size);
  free(copy);
  if (status != LGT_COMPILE || !strstr(lgt_message(), words))
    check_fail(__FILE__, __LINE__, "status %d, message \"%s\", expected \"%s\"", status,
               status ? lgt_message() : "", words);
}

static void other_machine(char *o) { ((Elf64_Ehdr *)o)->e_machine = EM_AARCH64; }
static void many_sections(char *o) { ((Elf64_Ehdr *)o)->e_shnum = 0xffff; }
static void far_sections(char *o) { ((Elf64_Ehdr *)o)->e_shoff = UINT64_MAX - 8; }
static void long_section(char *o) { section(o, 2)->sh_size = UINT64_MAX; }
static void writable(char *o) {
  for (int i = 0; i < ((Elf64_Ehdr *)o)->e_shnum; i++)
    if (section(o, i)->sh_flags & SHF_EXECINSTR) section(o, i)->sh_flags |= SHF_WRITE;
}
static Elf64_Rela *first_rela(char *o) {
  return (Elf64_Rela *)(o + section(o, find_section(o, SHT_RELA))->sh_offset);
}
static void far_relocation(char *o) { first_rela(o)->r_offset = 1 << 30; }
static void odd_relocation(char *o) {
  first_rela(o)->r_info = ELF64_R_INFO(ELF64_R_SYM(first_rela(o)->r_info), R_X86_64_32S);
}
static void far_symbol(char *o) { first_rela(o)->r_info = ELF64_R_INFO(4000, R_X86_64_PC32); }
static void out_of_reach(char *o) { first_rela(o)->r_addend = 1LL << 40; }
static void no_symbols(char *o) { section(o, find_section(o, SHT_SYMTAB))->sh_type = SHT_NOTE; }
static void foreign_symbol(char *o) {
  for (char *at = o; at < o + size - 16; at++)
    if (memcmp(at, "lgt_helper_fmod", 15) == 0) memcpy(at, "system\0", 7);
}

TEST(refusals) {
  refused(other_machine, "no relocatable ELF64");
  refused(many_sections, "a table of 65535 sections");
  refused(far_sections, "a table of");
  refused(long_section, "ends behind the file");
  refused(writable, "flags 7");
  refused(far_relocation, "a relocation at 1073741824");
  refused(odd_relocation, "relocation type 11");
  refused(far_symbol, "symbol 4000");
  refused(out_of_reach, "out of reach");
  refused(no_symbols, "no usable table of symbols");
  refused(foreign_symbol, "it refers to 'system'");
}

TEST(no_memory) {
  int64_t live = lgt_mem_live();
  for (int n = 1;; n++) {
    lgt_mem_fail_at(n);
    lgt_status status = try(bytes, size);
    lgt_mem_fail_at(0);
    CHECK_EQ(lgt_mem_live(), live);
    if (status == LGT_OK) {
      CHECK(n > 1);
      return;
    }
    CHECK_EQ(status, LGT_NO_MEMORY);
  }
}

int main(int argc, char **argv) {
  void *module = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (!module)
    return fprintf(stderr, "usage: %s MODULE (%s)\n", argv[0], argc > 1 ? dlerror() : "none given"), 2;
  emit = (lgt_emit_loop_fn *)dlsym(module, "lgt_emit_loop");
  make_object();
  if (!bytes) return 1;
  RUN(good);
  RUN(misaligned);
  RUN(truncated);
  RUN(flipped);
  RUN(refusals);
  RUN(no_memory);
  free(bytes);
  return check_done();
}
