/* options.c - the command line: see options.h. */
#include "options.h"

#include <ctype.h>
#include <lauxlib.h>
#include <luajit.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"
#include "lgt_binding.h"
#include "run.h"

/* ---- what is printed ----------------------------------------------------------------------------- */

static const char usage_line[] =
    "usage: %s [options]... [script [args]...]\n"
    "       %s --check script...\n";

static const char short_options[] =
    "  -e chunk    Execute string 'chunk'.\n"
    "  -l name     Require library 'name'.\n"
    "  -b ...      Save or list bytecode.\n"
    "  -j cmd      Perform LuaJIT control command.\n"
    "  -O[opt]     Control LuaJIT optimizations.\n"
    "  -i          Enter interactive mode after executing 'script'.\n"
    "  -v          Show version information.\n"
    "  -E          Ignore environment variables.\n"
    "  --          Stop handling options.\n"
    "  -           Execute stdin and stop handling options.\n";

static void print_usage(void) {
  const char *name = program_name;
  fprintf(stderr, usage_line, name, name);
  fprintf(stderr, "Available options are:\n%s  --help      Explain these and all others.\n", short_options);
  fflush(stderr);
}

static void print_help(void) {
  const char *name = program_name;
  printf("lgt %s: LuaJIT with arrays that are computed on all cores.\n\n", lgt_version());
  printf(usage_line, name, name);
  printf(
      "\nWithout a script: a prompt on a terminal; otherwise standard input is executed.\n"
      "\nAs in luajit:\n%s"
      "\nOf lgt:\n"
      "  -n N        Run the script on N processes, the ranks, which divide its arrays among them.\n"
      "  --help      Show this.\n"
      "  --version   Show what lgt was built from, and what it finds on this machine.\n"
      "  --check script...\n"
      "              Look for mistakes in scripts without running them; exit status 1 if there are any.\n"
      "\nThe options of the runtime are --name=value or --name value, or LGT_NAME=value in the environment.\n"
      "Defaults are in brackets; SIZE may end in K, M, G or T.\n\n",
      short_options);
  fputs(lgt_config_help(), stdout);
  printf(
      "\nExamples:\n"
      "  lgt script.lua 100            run a script; its arguments are in `arg` and `...`\n"
      "  lgt --cpus=4 script.lua       on four cores\n"
      "  lgt -n 4 script.lua           on four processes; also mpirun -n 4 lgt script.lua, srun\n"
      "  lgt -i script.lua             then ask for more\n"
      "  lgt --profile=trace.json script.lua\n"
      "                                write what runs when, to look at in ui.perfetto.dev\n"
      "  LGT_DEBUG=fuse:1 lgt script.lua\n"
      "                                say what was fused\n");
}

static void print_version(void) {
  printf("lgt %s\n", lgt_version());
  printf("  host      %s\n", LUAJIT_VERSION);
  printf("  kernels   LLVM and MLIR %s\n", LGT_LLVM_VERSION);
  char gpus[1024];
  lgt_gpus_describe(gpus, sizeof gpus);
  printf("  GPUs      %s\n", gpus);
  printf("  prompt    %s\n", LGT_EDITOR_VERSION);
}

void print_banner(void) {
  printf("lgt %s -- %s -- %s. %s\n", lgt_version(), LUAJIT_VERSION, LUAJIT_COPYRIGHT, LUAJIT_URL);
}

void print_jit_status(lua_State *L) {
  lua_getglobal(L, "jit");
  lua_getfield(L, -1, "status");
  lua_remove(L, -2);
  int base = lua_gettop(L);
  lua_call(L, 0, LUA_MULTRET);
  fputs(lua_toboolean(L, base) ? "JIT: ON" : "JIT: OFF", stdout);
  for (int i = base + 1; i <= lua_gettop(L); i++) printf(" %s", lua_tostring(L, i));
  putchar('\n');
  lua_settop(L, base - 1);
}

/* ---- reading ------------------------------------------------------------------------------------- */

/* Is there no value for the option in the word before: nothing, or the next option? */
static bool is_option(const char *word) { return !word || word[0] == '-'; }

static bool takes(command *c, const char *name, const char *value) {
  return !lgt_config_set(c->config, name, value);
}

/* --name value and --name=value set a variable of the runtime, --name alone one that is on or off.  Returns how many
 * words it took, 0 on an error, with its message. */
static int set_variable(command *c, char **word) {
  char name[64];
  const char *text = *word + 2, *value = strchr(text, '=');
  size_t length = value ? (size_t)(value - text) : strlen(text);
  if (length >= sizeof name) length = sizeof name - 1;
  memcpy(name, text, length);
  name[length] = 0;
  for (char *p = name; *p; p++)
    if (*p == '-') *p = '_';
  if (value) return lgt_config_set(c->config, name, value + 1) ? 0 : 1;
  bool given = !is_option(word[1]), number = given && isdigit((unsigned char)word[1][0]);
  if (given && takes(c, name, word[1])) return 2;
  char why[512];
  snprintf(why, sizeof why, "%s", given ? lgt_message() : "it needs a value");
  bool stray = number && access(word[1], F_OK) != 0; /* a number that is no script was meant as the value */
  if (!stray && takes(c, name, "on") && !takes(c, name, ""))
    return 1; /* texts take anything, numbers neither */
  if (given || takes(c, name, "1")) lgt_fail(-1, why);
  return 0;
}

static int read_variable(command *c, char **word) {
  int words = set_variable(c, word);
  if (words) return words;
  print_usage();
  fprintf(stderr, "%s: %s: %s\n", program_name, *word, lgt_message());
  return 0;
}

/* What only makes sense otherwise, or is more likely a slip. */
static bool sensible(const command *c) {
  const lgt_config *config = c->config;
  size_t length = strlen(config->profile);
  if (config->pretend_ranks > 1 && config->ranks > 1) {
    complain("--pretend-ranks takes the place of other ranks: leave out -n");
  } else if (config->as_rank && !config->pretend_ranks) {
    complain(
        "--as-rank says which of the --pretend-ranks this one is, of which none are given; -n starts all of "
        "them, --rank is for a rendezvous");
  } else if (length > 4 && !strcmp(config->profile + length - 4, ".lua")) {
    char text[512];
    snprintf(text, sizeof text,
             "--profile=%.200s would write over a script: name the file for the profile, "
             "--profile=trace.json, before it",
             config->profile);
    complain(text);
  } else return true;
  return false;
}

/* -n N, -nN. */
static int read_ranks(command *c, int i) {
  const char *word = c->argv[i], *value = word[2] ? word + 2 : c->argv[i + 1];
  const char *why = "it needs a number, as in -n 4";
  if (!is_option(value) && lgt_config_set(c->config, "ranks", value)) why = lgt_message();
  else if (!is_option(value) && c->config->ranks == 0) why = "0 ranks: at least 1 was expected";
  else if (!is_option(value)) return word[2] ? 1 : 2;
  fprintf(stderr, "%s: -n: %s\n", program_name, why);
  return -2;
}

/* The option at argv[i], of one letter.  How many words it took; 0: it is wrong; -1: options end after it;
 * -2: it is wrong, and has been complained about. */
static int read_letter(command *c, int i) {
  const char *word = c->argv[i];
  switch (word[1]) {
    case 'i':
      if (word[2]) return 0;
      c->interactive = c->version = true;
      return 1;
    case 'v':
      if (word[2]) return 0;
      c->version = true;
      return 1;
    case 'e':
      c->executes = true; /* fall through */
    case 'j':
    case 'l':
      c->loads = true;
      if (word[2]) return 1;
      return c->argv[i + 1] ? 2 : 0;
    case 'O':
      return 1;
    case 'b': /* the rest belongs to it, and nothing but -O may come before */
      if (c->version || c->loads || c->no_environment) return 0;
      c->executes = c->bytecode = true;
      return -1;
    case 'E':
      c->no_environment = true;
      return 1;
    case 'n':
      return read_ranks(c, i);
  }
  return 0;
}

static reading bad_usage(void) {
  print_usage();
  return READ_BAD;
}

reading options_read(command *c) {
  char **argv = c->argv;
  int i = 1;
  for (int words; i < c->argc; i += words) {
    const char *word = argv[i];
    if (word[0] != '-' || word[1] == 0) break; /* the script, or "-" */
    if (word[1] != '-') {
      words = read_letter(c, i);
      if (words == 0) return bad_usage();
      if (words == -2) return READ_BAD;
      if (words < 0) {
        i++;
        break;
      }
      continue;
    }
    if (word[2] == 0) {
      i++;
      break;
    }
    if (!strcmp(word, "--help")) return print_help(), READ_STOP;
    if (!strcmp(word, "--version")) return print_version(), READ_STOP;
    if (!strcmp(word, "--check")) {
      c->checks = true;
      i++;
      break;
    }
    words = read_variable(c, argv + i);
    if (!words) return READ_BAD;
  }
  c->script = i < c->argc ? i : c->argc;
  if (!sensible(c)) return READ_BAD;
  if (!c->checks || c->script < c->argc) return READ_DONE;
  complain("--check needs the name of a script");
  return READ_BAD;
}

/* ---- the compiler's own options (-j, -O, -b), which modules of LuaJIT carry out -------------------- */

/* Replaces the name on the top by the module's start function. */
static bool load_jit_module(lua_State *L) {
  static const char missing[] = "unknown luaJIT command or jit.* modules not installed";
  lua_getglobal(L, "require");
  lua_pushliteral(L, "jit.");
  lua_pushvalue(L, -3);
  lua_concat(L, 2);
  if (lua_pcall(L, 1, 1, 0)) {
    const char *message = lua_tostring(L, -1);
    if (message && !strncmp(message, "module ", 7)) complain(missing);
    else report(L, 1);
    return false;
  }
  lua_getfield(L, -1, "start");
  if (lua_isnil(L, -1)) {
    complain(missing);
    return false;
  }
  lua_remove(L, -2);
  lua_remove(L, -2);
  return true;
}

/* Calls the function on the top with the comma-separated words of `options`. */
static int call_with_words(lua_State *L, const char *options) {
  int narg = 0;
  if (options && *options) {
    for (;;) {
      const char *end = strchr(options, ',');
      narg++;
      if (!end) break;
      if (end == options) lua_pushnil(L);
      else lua_pushlstring(L, options, (size_t)(end - options));
      options = end + 1;
    }
    if (*options) lua_pushstring(L, options);
    else lua_pushnil(L);
  }
  return report(L, lua_pcall(L, narg, 0, 0));
}

/* Pushes a module as luajit finds it: scripts may have changed the globals. */
static void push_loaded(lua_State *L, const char *name) {
  lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
  lua_getfield(L, -1, name);
  lua_remove(L, -2);
}

static int jit_command(lua_State *L, const char *text) {
  const char *options = strchr(text, '=');
  lua_pushlstring(L, text, options ? (size_t)(options - text) : strlen(text));
  push_loaded(L, "jit"); /* jit.on, jit.off, jit.flush; else a module */
  lua_pushvalue(L, -2);
  lua_gettable(L, -2);
  if (lua_isfunction(L, -1)) {
    lua_remove(L, -2);
    lua_remove(L, -2);
  } else {
    lua_pop(L, 2);
    if (!load_jit_module(L)) return 1;
  }
  return call_with_words(L, options ? options + 1 : NULL);
}

static int jit_option(lua_State *L, const char *text) {
  push_loaded(L, "jit.opt");
  lua_getfield(L, -1, "start");
  lua_remove(L, -2);
  return call_with_words(L, text);
}

/* The rest of the command line belongs to jit.bcsave. */
static int save_bytecode(lua_State *L, char **argv) {
  int narg = 0;
  lua_pushliteral(L, "bcsave");
  if (!load_jit_module(L)) return 1;
  if (argv[0][2]) {
    narg++;
    argv[0][1] = '-';
    lua_pushstring(L, argv[0] + 1);
  }
  for (argv++; *argv; narg++, argv++) lua_pushstring(L, *argv);
  report(L, lua_pcall(L, narg, 0, 0));
  return -1;
}

/* ---- carrying out -------------------------------------------------------------------------------- */

int options_run(lua_State *L, command *c) {
  char **argv = c->argv;
  for (int i = 1; i < c->script; i++) {
    const char *text = argv[i] + 2;
    int status = 0;
    switch (argv[i][1]) {
      case '-':
        if (*text) i += set_variable(c, argv + i) - 1;
        break;
      case 'e':
        status = run_text(L, *text ? text : argv[++i], "=(command line)");
        break;
      case 'l':
        status = run_library(L, *text ? text : argv[++i]);
        break;
      case 'j':
        status = jit_command(L, *text ? text : argv[++i]);
        break;
      case 'O':
        status = jit_option(L, text);
        break;
      case 'b':
        return save_bytecode(L, argv + i);
      case 'n':
        if (!*text) i++; /* its value */
        break;
    }
    if (status) return 1;
  }
  return 0;
}
