/* Each form of each instruction computes what the table says (instructions.py), which a case for each form reports.
 *
 *   test_forms TABLE             runs the kernels on the emulator
 *   test_forms TABLE --print F   writes them into the folder F, as one module for ptxas
 *
 * A kernel reads the registers of its thread's case, has the instructions of the form, and writes the registers that
 * the case asks for.
 */
#include <ctype.h>
#include "test_ptx.h"

enum { MOST_CASES = 128, MOST_NAMES = 8, SCRATCH = 64 };

typedef struct {
  char name[4];
  uint64_t value[MOST_CASES];
  bool open[MOST_CASES]; /* of a result: any bits that are no number */
} column;

typedef struct {
  char text[400];
  column in[MOST_NAMES], out[MOST_NAMES];
  int ins, outs, cases;
} form;

/* ---- The table ---- */

static column *column_named(column *all, int *count, const char *name, size_t length) {
  for (int k = 0; k < *count; k++)
    if (!strncmp(all[k].name, name, length) && !all[k].name[length]) return &all[k];
  if (*count == MOST_NAMES || length > 3) exit(2);
  column *c = &all[(*count)++];
  memset(c, 0, sizeof *c);
  memcpy(c->name, name, length);
  return c;
}

static void read_case(form *f, char *line) {
  if (f->cases == MOST_CASES) return;
  bool results = false;
  for (char *word = strtok(line, " \n"); word; word = strtok(NULL, " \n")) {
    if (!strcmp(word, "->")) {
      results = true;
      continue;
    }
    char *equals = strchr(word, '=');
    if (!equals) exit(2);
    column *c = results ? column_named(f->out, &f->outs, word, (size_t)(equals - word))
                        : column_named(f->in, &f->ins, word, (size_t)(equals - word));
    c->open[f->cases] = !strcmp(equals + 1, "nan");
    c->value[f->cases] = strtoull(equals + 1, NULL, 16);
  }
  f->cases++;
}

static bool next_form(FILE *table, form *f, char *line, size_t size) {
  if (!line[0] && !fgets(line, (int)size, table)) return false;
  snprintf(f->text, sizeof f->text, "%.*s", (int)strcspn(line, "\n"), line);
  f->ins = f->outs = f->cases = 0;
  while (fgets(line, (int)size, table) && line[0] == ' ') read_case(f, line);
  if (feof(table)) line[0] = '\0';
  return true;
}

/* ---- The kernel ---- */

static int bits_of(const column *c) {
  return c->name[0] == 'h' ? 16 : c->name[0] == 'r' ? 32 : c->name[0] == 'd' ? 64 : 1;
}

static void write_kernel(FILE *to, const form *f, const char *name) {
  fprintf(to,
          ".visible .entry %s(.param .u64 %s_0, .param .u64 %s_1, .param .u64 %s_2, .param .u64 %s_3) {\n"
          ".local .align 16 .b8 depot[64];\n.shared .align 16 .b8 sm[%d];\n"
          ".reg .pred %%p<10>;\n.reg .b16 %%h<10>;\n.reg .b32 %%r<10>;\n.reg .b64 %%d<10>;\n"
          ".reg .b16 %%s0;\n.reg .b32 %%t0;\n.reg .b64 %%a<10>;\n"
          "ld.param.u64 %%a0, [%s_0];\nld.param.u64 %%a1, [%s_1];\nld.param.u64 %%a2, [%s_2];\nld.param.u64 "
          "%%d6, [%s_3];\n"
          "mov.u32 %%t0, %%tid.x;\nmul.wide.u32 %%a4, %%t0, %d;\nadd.s64 %%d9, %%a2, %%a4;\n"
          "mov.u64 %%a5, sm;\nadd.s64 %%d8, %%a5, %%a4;\nmov.u64 %%d7, depot;\n"
          "mul.wide.u32 %%a4, %%t0, %d;\nadd.s64 %%a0, %%a0, %%a4;\nmul.wide.u32 %%a4, %%t0, %d;\nadd.s64 "
          "%%a1, %%a1, %%a4;\n",
          name, name, name, name, name, SCRATCH * f->cases, name, name, name, name, SCRATCH, 8 * f->ins,
          8 * f->outs);
  for (int k = 0; k < f->ins; k++) {
    int bits = bits_of(&f->in[k]);
    if (bits == 1)
      fprintf(to, "ld.global.u8 %%s0, [%%a0+%d];\nsetp.ne.b16 %%%s, %%s0, 0;\n", 8 * k, f->in[k].name);
    else fprintf(to, "ld.global.b%d %%%s, [%%a0+%d];\n", bits, f->in[k].name, 8 * k);
  }
  fprintf(to, "%s%s\n", f->text, f->text[0] == '{' ? "" : ";");
  for (int k = 0; k < f->outs; k++) {
    int bits = bits_of(&f->out[k]);
    if (bits == 1)
      fprintf(to, "selp.u64 %%a5, 1, 0, %%%s;\nst.global.u64 [%%a1+%d], %%a5;\n", f->out[k].name, 8 * k);
    else fprintf(to, "st.global.b%d [%%a1+%d], %%%s;\n", bits, 8 * k, f->out[k].name);
  }
  fprintf(to, "ret;\n}\n");
}

/* ---- A run ---- */

static bool is_nan(uint64_t x, int bits) {
  uint64_t infinity = bits == 64 ? 0x7ff0000000000000u : bits == 32 ? 0x7f800000u : 0x7c00u;
  return (x & (~(uint64_t)0 >> (65 - bits))) > infinity;
}

static bool compare(const form *f, const uint64_t *results, char *why, size_t size) {
  for (int c = 0; c < f->cases; c++)
    for (int k = 0; k < f->outs; k++) {
      const column *o = &f->out[k];
      uint64_t got = results[c * f->outs + k], want = o->value[c];
      if (o->open[c] ? is_nan(got, bits_of(o)) : got == want) continue;
      int used = snprintf(why, size, "%s is 0x%llx, not %s0x%llx, for", o->name, (unsigned long long)got,
                          o->open[c] ? "NaN, " : "", (unsigned long long)want);
      for (int n = 0; n < f->ins; n++)
        used += snprintf(why + used, size - (size_t)used, " %s=%llx", f->in[n].name,
                         (unsigned long long)f->in[n].value[c]);
      return false;
    }
  return true;
}

static bool run_form(const form *f, uint64_t seed, char *why, size_t size) {
  char *text;
  size_t length;
  FILE *to = open_memstream(&text, &length);
  fputs(HEAD, to);
  write_kernel(to, f, "k");
  fclose(to);
  pretended d = {0};
  uint64_t *inputs = calloc((size_t)f->cases * MOST_NAMES, 8),
           *results = calloc((size_t)f->cases * MOST_NAMES, 8);
  for (int c = 0; c < f->cases; c++)
    for (int k = 0; k < f->ins; k++) inputs[c * f->ins + k] = f->in[k].value[c];
  uint32_t constant = 0x01020304;
  uint64_t addresses[4] = {pretended_copy(&d, inputs, (size_t)f->cases * MOST_NAMES * 8),
                           pretended_copy(&d, results, (size_t)f->cases * MOST_NAMES * 8),
                           pretended_alloc(&d, (size_t)f->cases * SCRATCH),
                           pretended_copy(&d, &constant, sizeof constant)};
  void *params[] = {&addresses[0], &addresses[1], &addresses[2], &addresses[3]};
  ptx_launch launch = {.grid = {1, 1, 1},
                       .block = {(unsigned)f->cases, 1, 1},
                       .params = params,
                       .seed = seed,
                       .find = pretended_find,
                       .context = &d};
  ptx_module *m = ptx_load(text, why, size);
  bool good = m && ptx_run(ptx_find(m, "k"), &launch, why, size) &&
              compare(f, pretended_host(&d, addresses[1]), why, size);
  ptx_free(m);
  pretended_free(&d);
  free(inputs);
  free(results);
  free(text);
  return good;
}

/* All kernels in one module. */
static bool print_forms(FILE *table, const char *folder) {
  static form f;
  char line[1000] = "", path[600];
  snprintf(path, sizeof path, "%s/forms.ptx", folder);
  FILE *to = fopen(path, "w");
  if (!to) return false;
  fputs(HEAD, to);
  for (int count = 0; next_form(table, &f, line, sizeof line); count++) {
    char name[20];
    snprintf(name, sizeof name, "f%d", count);
    write_kernel(to, &f, name);
  }
  return fclose(to) == 0;
}

static form current;
static uint64_t seed;

TEST(current_form) {
  if (!run_form(&current, seed++, message, sizeof message)) FAIL("%s", message);
}

int main(int argc, char **argv) {
  FILE *table = argc > 1 ? fopen(argv[1], "r") : NULL;
  if (!table) return 2;
  if (argc > 3) return !print_forms(table, argv[3]);
  char line[1000] = "";
  while (next_form(table, &current, line, sizeof line)) check_run(current.text, current_form);
  fclose(table);
  return check_done() || !seed;
}
