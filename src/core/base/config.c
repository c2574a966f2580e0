/* config.c - reading configuration variables from text, and printing their table.
 *
 * Everything is driven by LGT_CONFIG_LIST: a variable is its row in `variables`, a parser for its type,
 * and an offset into the structure.  The defaults pass through the same parsers as what users write, so a
 * bad default shows at the first start.
 *
 * Names: cache_dir in the table is LGT_CACHE_DIR in the environment and --cache-dir on the command line;
 * lgt_config_set takes underscores or dashes.
 *
 * Any thread, but one structure belongs to one thread.
 */
#include "base/config.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#ifndef LGT_VERSION
#error "the build defines LGT_VERSION"
#endif

const char *lgt_version(void) { return LGT_VERSION; }
int lgt_version_number(void) { return LGT_VERSION_NUMBER; }

typedef enum type { INT, COUNT, BOOL, SIZE, EXTENT, TIME, TEXT, DEVICES } type;

typedef struct variable {
  const char *name;
  type type;
  size_t offset; /* within lgt_config */
  const char *initial;
  bool live; /* may change at run time */
  bool same; /* on all ranks */
  const char *help;
} variable;

static const variable variables[] = {
#define X(TYPE, field, def, live, same, help) \
  {#field, TYPE, offsetof(lgt_config, field), def, live, same, help},
    LGT_CONFIG_LIST(X)
#undef X
};

enum { NVARIABLE = sizeof variables / sizeof *variables };

/* ---- values ----------------------------------------------------------------------------------- */

static const char *const expectation[] = {
    [INT] = "a whole number, 0 or more, at most 2147483647",
    [COUNT] = "a whole number, 1 or more, at most 2147483647",
    [BOOL] = "0 or 1 (or no, yes, off, on, false, true)",
    [SIZE] = "a number, perhaps followed by K, M, G or T: 0, or 1 and more, below 4194304T",
    [EXTENT] = "a number, perhaps followed by K, M, G or T: 1 or more, below 4194304T",
    [TIME] = "a number of seconds, more than 0: from 0.001 to 1000000",
    [DEVICES] = "a whole number, 0 or more, at most 2147483647, or none, all, or auto",
};

static bool parse_int(const char *text, int least, int *out) {
  char *end;
  errno = 0;
  long value = strtol(text, &end, 10);
  if (!isdigit((unsigned char)*text) || *end || errno || value < least || value > INT_MAX) return false;
  *out = (int)value;
  return true;
}

static bool parse_bool(const char *text, bool *out) {
  static const char *const words[2][4] = {{"0", "no", "off", "false"}, {"1", "yes", "on", "true"}};
  for (int value = 0; value < 2; value++)
    for (int i = 0; i < 4; i++)
      if (!strcasecmp(text, words[value][i])) return *out = value, true;
  return false;
}

static bool parse_size(const char *text, int64_t *out) {
  static const char units[] = "KMGT";
  char *end;
  if (!isdigit((unsigned char)*text) || strpbrk(text, "xX")) return false;
  double value = strtod(text, &end);
  if (*end) {
    const char *unit = strchr(units, toupper((unsigned char)*end));
    if (!unit || end[1]) return false;
    for (const char *u = units; u <= unit; u++) value *= 1024;
  }
  if (value >= 0x1p62 || (value > 0 && value < 1)) return false;
  *out = (int64_t)value;
  return true;
}

static bool parse_devices(const char *text, int *out) {
  if (!strcasecmp(text, "none")) return *out = 0, true;
  if (!strcasecmp(text, "all")) return *out = LGT_ALL_DEVICES, true;
  if (!strcasecmp(text, "auto")) return *out = LGT_DEVICES_BY_ESTIMATE, true;
  return parse_int(text, 0, out);
}

static bool parse_time(const char *text, double *out) {
  char *end;
  if (!isdigit((unsigned char)*text) || strpbrk(text, "xX")) return false;
  double value = strtod(text, &end);
  if (*end || value < 1e-3 || value > 1e6) return false;
  *out = value;
  return true;
}

static lgt_status assign(lgt_config *config, const variable *v, const char *text) {
  void *field = (char *)config + v->offset;
  bool good = false;
  switch (v->type) {
    case INT:
      good = parse_int(text, 0, field);
      break;
    case COUNT:
      good = parse_int(text, 1, field);
      break;
    case BOOL:
      good = parse_bool(text, field);
      break;
    case SIZE:
      good = parse_size(text, field);
      break;
    case EXTENT: {
      int64_t extent;
      good = parse_size(text, &extent) && extent > 0;
      if (good) *(int64_t *)field = extent;
      break;
    }
    case TIME:
      good = parse_time(text, field);
      break;
    case DEVICES:
      good = parse_devices(text, field);
      break;
    case TEXT: {
      char *copy = lgt_mem_strdup(text);
      if (!copy) return lgt_err(LGT_NO_MEMORY, "out of memory while setting %s", v->name);
      lgt_mem_free(*(char **)field);
      *(char **)field = copy;
      good = true;
    }
  }
  if (good) return LGT_OK;
  return lgt_err(LGT_BAD_ARGUMENT, "%s = \"%s\": expected %s", v->name, text, expectation[v->type]);
}

/* ---- names ------------------------------------------------------------------------------------ */

static char plain(char c) { return c == '-' ? '_' : (char)tolower((unsigned char)c); }

static bool same_name(const char *a, const char *b) {
  while (*a && plain(*a) == plain(*b)) a++, b++;
  return plain(*a) == plain(*b);
}

static const variable *find(const char *name) {
  for (int i = 0; i < NVARIABLE; i++)
    if (same_name(variables[i].name, name)) return &variables[i];
  return NULL;
}

enum { LONGEST_NAME = 32 };

/* How many letters must be put in, left out or changed to make b from a. */
static int edit_distance(const char *a, const char *b) {
  int length = (int)strlen(b), row[LONGEST_NAME + 1];
  if (length > LONGEST_NAME) return INT_MAX;
  for (int j = 0; j <= length; j++) row[j] = j;
  for (int i = 1; *a; a++, i++) {
    int diagonal = row[0];
    row[0] = i;
    for (int j = 1; j <= length; j++) {
      int change = diagonal + (plain(*a) != plain(b[j - 1]));
      int other = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
      diagonal = row[j];
      row[j] = change < other ? change : other;
    }
  }
  return row[length];
}

/* The variable that was probably meant, or NULL. */
static const variable *suggest(const char *name) {
  const variable *best = NULL;
  int least = (int)strlen(name) / 3 + 2;
  for (int i = 0; i < NVARIABLE; i++) {
    int distance = edit_distance(variables[i].name, name);
    if (distance < least) least = distance, best = &variables[i];
  }
  return best;
}

/* ---- the environment -------------------------------------------------------------------------- */

extern char **environ;

/* "CACHE_DIR=..." -> "cache_dir"; false if the name is too long to be one of ours. */
static bool name_of(const char *entry, const char *equals, char *name) {
  size_t length = (size_t)(equals - entry);
  if (length > LONGEST_NAME) return false;
  for (size_t i = 0; i < length; i++) name[i] = plain(entry[i]);
  name[length] = 0;
  return true;
}

static void warn_unknown(void) {
  for (char **entry = environ; entry && *entry; entry++) {
    const char *equals = strchr(*entry, '=');
    char name[LONGEST_NAME + 1];
    bool of_tests = !strncmp(*entry, "LGT_TEST_", 9) || !strncmp(*entry, "LGT_FAKE_", 9);
    if (strncmp(*entry, "LGT_", 4) || of_tests || !equals) continue;
    bool fits = name_of(*entry + 4, equals, name);
    if (fits && find(name)) continue;
    const variable *meant = fits ? suggest(name) : NULL;
    fprintf(stderr, "lgt: the environment variable %.*s is not one of lgt's", (int)(equals - *entry), *entry);
    if (meant) {
      fputs("; did you mean LGT_", stderr);
      for (const char *c = meant->name; *c; c++) putc(toupper((unsigned char)*c), stderr);
      putc('?', stderr);
    }
    fputs(meant ? "\n" : "; lgt --help lists them\n", stderr);
  }
}

static lgt_status read_environment(lgt_config *config) {
  static pthread_once_t warned = PTHREAD_ONCE_INIT;
  pthread_once(&warned, warn_unknown);
  for (char **entry = environ; entry && *entry; entry++) {
    const char *equals = strchr(*entry, '=');
    char name[LONGEST_NAME + 1];
    if (strncmp(*entry, "LGT_", 4) || !equals || !name_of(*entry + 4, equals, name)) continue;
    const variable *v = find(name);
    lgt_status status = v ? assign(config, v, equals + 1) : LGT_OK;
    if (status)
      return lgt_err_within(status, "in the environment, LGT_%.*s", (int)(equals - *entry - 4), *entry + 4);
  }
  return LGT_OK;
}

/* ---- public ----------------------------------------------------------------------------------- */

lgt_status lgt_config_new(lgt_config **out) {
  lgt_config *config = lgt_mem_zalloc(sizeof *config);
  if (!config) return lgt_err(LGT_NO_MEMORY, "out of memory for the configuration");
  lgt_status status = LGT_OK;
  for (int i = 0; i < NVARIABLE && !status; i++) status = assign(config, &variables[i], variables[i].initial);
  if (!status) status = read_environment(config);
  if (status) lgt_config_free(config);
  else *out = config;
  return status;
}

void lgt_config_free(lgt_config *config) {
  if (!config) return;
  for (int i = 0; i < NVARIABLE; i++)
    if (variables[i].type == TEXT) lgt_mem_free(*(char **)((char *)config + variables[i].offset));
  lgt_mem_free(config);
}

lgt_config *lgt_config_copy(const lgt_config *config) {
  lgt_config *copy = lgt_mem_alloc(sizeof *copy);
  if (!copy) return NULL;
  *copy = *config;
  bool complete = true;
  for (int i = 0; i < NVARIABLE; i++) {
    char **field = (char **)((char *)copy + variables[i].offset);
    if (variables[i].type == TEXT && !(*field = lgt_mem_strdup(*field))) complete = false;
  }
  if (complete) return copy;
  lgt_config_free(copy);
  return NULL;
}

static lgt_status unknown(const char *name) {
  const variable *meant = suggest(name);
  if (meant)
    return lgt_err(LGT_BAD_ARGUMENT, "there is no option \"%s\"; did you mean %s?", name, meant->name);
  return lgt_err(LGT_BAD_ARGUMENT, "there is no option \"%s\"; lgt --help lists them", name);
}

lgt_status lgt_config_set(lgt_config *config, const char *name, const char *value) {
  const variable *v = find(name);
  return v ? assign(config, v, value) : unknown(name);
}

lgt_status lgt_config_set_live(lgt_config *config, const char *name, const char *value) {
  const variable *v = find(name);
  if (!v) return unknown(name);
  if (v->live) return assign(config, v, value);
  return lgt_err(LGT_BAD_ARGUMENT, "option %s cannot change while the runtime runs; set it at the start",
                 v->name);
}

void lgt_config_agreed(const lgt_config *config, char *text, size_t room) {
  size_t used = 0;
  *text = 0;
  for (int i = 0; i < NVARIABLE; i++) {
    const variable *v = &variables[i];
    const void *field = (const char *)config + v->offset;
    if (!v->same) continue;
    lgt_assert(v->type != TEXT && v->type != TIME);
    bool large = v->type == SIZE || v->type == EXTENT;
    int64_t value = v->type == BOOL ? *(const bool *)field
                    : large         ? *(const int64_t *)field
                                    : *(const int *)field;
    used += (size_t)snprintf(text + used, room - used, "%s=%lld\n", v->name, (long long)value);
    lgt_assert(used < room);
  }
}

/* ---- help ------------------------------------------------------------------------------------- */

static char help[NVARIABLE * 192];

/* What begins with a variable of the table. */
static const struct {
  const char *name, *text;
} headings[] = {
    {"cpus", "The machine"},
    {"ranks", "Several processes"},
    {"fusion", "What is done to launches: turned off, to find a fault"},
    {"cache", "Kernels"},
    {"reproducible", "Results"},
    {"window", "Sizes"},
    {"jitter", "Looking inside, and tests"},
};

static const char *heading_of(const char *name) {
  for (size_t i = 0; i < sizeof headings / sizeof *headings; i++)
    if (!strcmp(headings[i].name, name)) return headings[i].text;
  return NULL;
}

static void write_help(void) {
  static const char *const placeholder[] = {
      [INT] = "N",       [COUNT] = "N",      [BOOL] = "0|1",  [SIZE] = "SIZE",
      [EXTENT] = "SIZE", [TIME] = "SECONDS", [TEXT] = "TEXT", [DEVICES] = "N|all|auto"};
  size_t used = 0;
  for (int i = 0; i < NVARIABLE; i++) {
    const variable *v = &variables[i];
    const char *heading = heading_of(v->name);
    if (heading) used += (size_t)snprintf(help + used, sizeof help - used, "%s%s:\n", i ? "\n" : "", heading);
    char option[LONGEST_NAME + 16], tail[32] = "";
    int length = snprintf(option, sizeof option, "--%s=%s", v->name, placeholder[v->type]);
    for (char *c = option; *c != '='; c++)
      if (*c == '_') *c = '-';
    if (*v->initial) snprintf(tail, sizeof tail, " [%s]", v->initial);
    used += (size_t)snprintf(help + used, sizeof help - used, "  %s%*s%s%s\n", option,
                             length < 22 ? 22 - length : 1, "", v->help, tail);
    lgt_assert(used < sizeof help);
  }
}

const char *lgt_config_help(void) {
  static pthread_once_t written = PTHREAD_ONCE_INIT;
  pthread_once(&written, write_help);
  return help;
}
