/* main.c - the `lgt` program: LuaJIT's command line, the runtime's options, and a prompt.
 *
 * Scripts must run as `luajit` runs them: the same options, `arg`, exit codes, LUA_INIT, standard
 * input, bytecode.  What is added are long options: --help, --version, and --<variable> for every
 * variable of the runtime (config.h).  They come before the script; everything after it is its own.
 *
 * The runtime opens when the script asks for it, so `lgt -e 'print(1)'` costs what luajit costs.
 * After the last chunk the program waits for what was launched: a task that failed without anybody
 * looking at its result still makes lgt exit with an error.
 *
 * Ctrl-C.  As in luajit the handler sets a hook, which raises an error at the next instruction, and
 * gives the signal back to the system: a second Ctrl-C kills.  Compiled loops do not look at hooks,
 * so code typed at the prompt is interpreted; the libraries it calls are compiled as ever.
 *
 * readline is loaded when there is a prompt to show: scripts do not pay for it, and lgt works
 * without it.
 */
#include <dlfcn.h>
#include <lauxlib.h>
#include <lua.h>
#include <luajit.h>
#include <lualib.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <unistd.h>

#include "lua_lgt.h"

static const char *program = "lgt";
static lua_State *interrupted_state; /* for the signal handler, while a chunk runs */

/* A program of some hundred array operations has traces for each of them; at its usual limits (1000 traces,
 * 512 KB) LuaJIT throws them all away and begins again.  -O options of the user come later and win.  The
 * limits on one trace stay: a loop body too long for it runs interpreted around compiled operations, which
 * costs 60 to 250 ns each, as much as in one long trace. */
static const char *const jit_parameters[] = {"maxtrace=8000", "sizemcode=128", "maxmcode=16384"};

/* ---- errors and calls -------------------------------------------------------------------------- */

static void complain(const char *message) {
  fflush(stdout);
  fprintf(stderr, "%s: %s\n", program, message);
}

static int report(lua_State *L, int status) {
  if (status && !lua_isnil(L, -1)) {
    const char *message = lua_tostring(L, -1);
    complain(message ? message : "(error object is not a string)");
    lua_pop(L, 1);
  }
  return status;
}

static int traceback(lua_State *L) {
  if (!lua_isstring(L, 1)) { /* an error object: it may know how to print itself */
    if (lua_isnoneornil(L, 1) || !luaL_callmeta(L, 1, "__tostring") || !lua_isstring(L, -1)) return 1;
    lua_remove(L, 1);
  }
  luaL_traceback(L, L, lua_tostring(L, 1), 1);
  return 1;
}

static void raise_interrupted(lua_State *L, lua_Debug *where) {
  (void)where;
  lua_sethook(L, NULL, 0, 0);
  luaL_error(L, "interrupted!");
}

static void on_interrupt(int number) {
  signal(number, SIG_DFL); /* a second one, before the hook is reached, ends the process */
  lua_sethook(interrupted_state, raise_interrupted, LUA_MASKCALL | LUA_MASKRET | LUA_MASKCOUNT, 1);
}

/* Call the function below `nargs` arguments; on an error its traceback is on the stack. */
static int call(lua_State *L, int nargs, int nresults) {
  int base = lua_gettop(L) - nargs;
  lua_pushcfunction(L, traceback);
  lua_insert(L, base);
  interrupted_state = L;
  signal(SIGINT, on_interrupt);
  int status = lua_pcall(L, nargs, nresults, base);
  signal(SIGINT, SIG_DFL);
  lua_remove(L, base);
  if (status) lua_gc(L, LUA_GCCOLLECT, 0);
  return status;
}

static int run_file(lua_State *L, const char *name) {
  return report(L, luaL_loadfile(L, name) || call(L, 0, 0));
}

static int run_text(lua_State *L, const char *text, const char *name) {
  return report(L, luaL_loadbuffer(L, text, strlen(text), name) || call(L, 0, 0));
}

static int run_library(lua_State *L, const char *name) {
  lua_getglobal(L, "require");
  lua_pushstring(L, name);
  return report(L, call(L, 1, 1));
}

/* ---- the compiler's own options (-j, -O, -b), which modules of LuaJIT carry out -------------------- */

static bool load_jit_module(lua_State *L) {
  lua_getglobal(L, "require");
  lua_pushliteral(L, "jit.");
  lua_pushvalue(L, -3);
  lua_concat(L, 2);
  if (lua_pcall(L, 1, 1, 0)) {
    const char *message = lua_tostring(L, -1);
    if (message && !strncmp(message, "module ", 7))
      complain("unknown luaJIT command or jit.* modules not installed");
    else report(L, 1);
    return false;
  }
  lua_getfield(L, -1, "start");
  if (lua_isnil(L, -1)) {
    complain("unknown luaJIT command or jit.* modules not installed");
    return false;
  }
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

static int jit_command(lua_State *L, const char *command) {
  const char *options = strchr(command, '=');
  lua_pushlstring(L, command, options ? (size_t)(options - command) : strlen(command));
  lua_getglobal(L, "jit"); /* jit.on, jit.off, jit.flush; else a module */
  lua_pushvalue(L, -2);
  lua_gettable(L, -2);
  if (!lua_isfunction(L, -1)) {
    lua_pop(L, 2);
    if (!load_jit_module(L)) return 1;
  } else {
    lua_remove(L, -2);
  }
  lua_remove(L, -2);
  return call_with_words(L, options ? options + 1 : NULL);
}

static void push_jit_opt_start(lua_State *L) {
  lua_getglobal(L, "jit");
  lua_getfield(L, -1, "opt");
  lua_remove(L, -2);
  lua_getfield(L, -1, "start");
  lua_remove(L, -2);
}

static int jit_option(lua_State *L, const char *option) {
  push_jit_opt_start(L);
  return call_with_words(L, option);
}

static void set_jit_parameters(lua_State *L) {
  int count = (int)(sizeof jit_parameters / sizeof *jit_parameters);
  push_jit_opt_start(L);
  for (int i = 0; i < count; i++) lua_pushstring(L, jit_parameters[i]);
  if (lua_pcall(L, count, 0, 0)) lua_pop(L, 1); /* another LuaJIT may not know them all: slower, not wrong */
}

/* Save or list bytecode: the rest of the command line belongs to jit.bcsave. */
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

/* ---- the prompt ---------------------------------------------------------------------------------- */

/* readline's functions for a program that waits itself; so Ctrl-C never has to jump out of them. */
static struct {
  void (*install)(const char *prompt, void (*take)(char *line));
  void (*read_char)(void);
  void (*remove)(void);
  void (*free_line_state)(void); /* these two may be missing */
  void (*sigcleanup)(void);
  void (*add_history)(const char *line);
} editor;

static volatile sig_atomic_t prompt_interrupted;
static char *finished_line; /* owned; from the editor */
static bool line_is_finished;

static void interrupt_prompt(int number) {
  (void)number;
  prompt_interrupted = 1;
}

static void take_line(char *line) {
  finished_line = line;
  line_is_finished = true;
  editor.remove();
}

static void load_editor(void) {
  static const char *const names[] = {"libreadline.so.8", "libedit.so.2", "libreadline.so"};
  for (int i = 0; i < 3 && isatty(0) && !editor.install; i++) {
    void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library) continue;
    *(void **)&editor.read_char = dlsym(library, "rl_callback_read_char");
    *(void **)&editor.remove = dlsym(library, "rl_callback_handler_remove");
    *(void **)&editor.free_line_state = dlsym(library, "rl_free_line_state");
    *(void **)&editor.sigcleanup = dlsym(library, "rl_callback_sigcleanup");
    *(void **)&editor.add_history = dlsym(library, "add_history");
    int *catch_signals = dlsym(library, "rl_catch_signals");
    if (catch_signals) *catch_signals = 0;
    if (editor.read_char && editor.remove && editor.add_history)
      *(void **)&editor.install = dlsym(library, "rl_callback_handler_install");
  }
}

/* One line from the editor; NULL at the end of input, or with prompt_interrupted set. */
static char *edit_line(const char *prompt) {
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGINT);
  sigprocmask(SIG_BLOCK, &blocked, &before); /* delivered while pselect waits, and only then */
  line_is_finished = false;
  finished_line = NULL;
  editor.install(prompt, take_line);
  while (!line_is_finished) {
    fd_set input;
    FD_ZERO(&input);
    FD_SET(0, &input);
    if (pselect(1, &input, NULL, NULL, NULL, &before) > 0) {
      editor.read_char();
    } else if (prompt_interrupted) {
      if (editor.free_line_state) editor.free_line_state();
      if (editor.sigcleanup) editor.sigcleanup();
      editor.remove();
      break;
    }
  }
  sigprocmask(SIG_SETMASK, &before, NULL);
  return finished_line;
}

/* One line, from malloc; NULL at the end of input, or with prompt_interrupted set. */
static char *read_line(const char *prompt) {
  struct sigaction action = {.sa_handler = interrupt_prompt};
  prompt_interrupted = 0;
  sigaction(SIGINT, &action, NULL); /* without SA_RESTART: getline returns too */
  fflush(stdout);
  char *line = NULL;
  if (editor.install) {
    line = edit_line(prompt);
  } else {
    size_t room = 0;
    fputs(prompt, stdout);
    fflush(stdout);
    ssize_t length = getline(&line, &room, stdin);
    if (length > 0 && line[length - 1] == '\n') line[length - 1] = 0;
    if (length < 0) {
      clearerr(stdin);
      free(line);
      line = NULL;
    }
  }
  signal(SIGINT, SIG_DFL);
  return line;
}

static bool is_incomplete(lua_State *L, int status) {
  if (status != LUA_ERRSYNTAX) return false;
  size_t length;
  const char *message = lua_tolstring(L, -1, &length);
  return length >= 7 && !strcmp(message + length - 7, "'<eof>'");
}

/* Push a line of input; false at its end, or after Ctrl-C. */
static bool push_line(lua_State *L, bool first) {
  lua_getglobal(L, first ? "_PROMPT" : "_PROMPT2");
  const char *prompt = lua_tostring(L, -1);
  char *line = read_line(prompt ? prompt : first ? "> " : ">> ");
  lua_pop(L, 1);
  if (!line) return false;
  if (editor.install && *line) editor.add_history(line);
  lua_pushstring(L, line);
  free(line);
  return true;
}

/* Pushes the chunk of what was typed, as an expression whose values are wanted or else as statements, and
 * asks for more lines while it is incomplete.  -1 at the end of input or after Ctrl-C. */
static int load_input(lua_State *L) {
  if (!push_line(L, true)) return -1;
  for (;;) {
    const char *text = lua_tostring(L, 1);
    lua_pushfstring(L, "return %s", *text == '=' ? text + 1 : text);
    int status = luaL_loadbuffer(L, lua_tostring(L, -1), lua_strlen(L, -1), "=stdin");
    if (!status) return 0;
    bool incomplete = is_incomplete(L, status);
    lua_settop(L, 1);
    status = luaL_loadbuffer(L, text, strlen(text), "=stdin");
    if (!status || !(incomplete || is_incomplete(L, status))) return status;
    lua_settop(L, 1);
    lua_pushliteral(L, "\n");
    if (!push_line(L, false)) return -1;
    lua_concat(L, 3);
  }
}

static void print_values(lua_State *L) {
  if (lua_gettop(L) == 0) return;
  lua_getglobal(L, "print");
  lua_insert(L, 1);
  if (lua_pcall(L, lua_gettop(L) - 1, 0, 0)) {
    lua_pushfstring(L, "error while printing: %s", lua_tostring(L, -1));
    report(L, 1);
  }
}

static void prompt_loop(lua_State *L) {
  load_editor();
  for (;;) {
    lua_settop(L, 0);
    int status = load_input(L);
    if (status < 0 && !prompt_interrupted) break;
    if (status < 0) { /* Ctrl-C while typing: a fresh prompt */
      putchar('\n');
      continue;
    }
    if (!status) {
      lua_replace(L, 1);
      lua_settop(L, 1);
      luaJIT_setmode(L, 1, LUAJIT_MODE_ALLFUNC | LUAJIT_MODE_OFF);
      status = call(L, 0, LUA_MULTRET);
    }
    if (status) {
      const char *message = lua_tostring(L, -1);
      fprintf(stderr, "%s\n", message ? message : "(error object is not a string)");
    } else {
      print_values(L);
    }
  }
  lua_settop(L, 0);
  putchar('\n');
  fflush(stdout);
}

static void print_versions(void) {
  printf("lgt %s -- %s -- %s. %s\n", lgt_version(), LUAJIT_VERSION, LUAJIT_COPYRIGHT, LUAJIT_URL);
}

static void print_jit_status(lua_State *L) {
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

/* ---- the command line ------------------------------------------------------------------------------ */

typedef struct command {
  int argc;
  char **argv;
  lgt_config *config;
  int status; /* exit status, where it is not that of an error */
  bool interactive, version, executes, no_environment;
} command;

static void print_usage(FILE *out) {
  fprintf(out,
          "usage: %s [options]... [script [args]...]\n"
          "Available options are:\n"
          "  -e chunk     Execute string 'chunk'.\n"
          "  -l name      Require library 'name'.\n"
          "  -b ...       Save or list bytecode.\n"
          "  -j cmd       Perform LuaJIT control command.\n"
          "  -O[opt]      Control LuaJIT optimizations.\n"
          "  -i           Enter interactive mode after executing 'script'.\n"
          "  -v           Show version information.\n"
          "  -E           Ignore environment variables.\n"
          "  --           Stop handling options.\n"
          "  -            Execute stdin and stop handling options.\n"
          "  --help       Show this, and the runtime's options:\n",
          program);
  fputs(lgt_config_help(), out);
}

/* --name value and --name=value set a variable of the runtime.  Returns how many words it took, 0 on an error. */
static int long_option(command *c, char **word) {
  char name[64];
  const char *text = *word + 2, *value = strchr(text, '=');
  size_t length = value ? (size_t)(value - text) : strlen(text);
  if (length >= sizeof name) length = sizeof name - 1;
  memcpy(name, text, length);
  name[length] = 0;
  for (char *p = name; *p; p++)
    if (*p == '-') *p = '_';
  int words = value ? 1 : 2;
  value = value ? value + 1 : word[1];
  if (!value) {
    fprintf(stderr, "%s: %s needs a value\n", program, *word);
    return 0;
  }
  if (lgt_config_set(c->config, name, value)) {
    fprintf(stderr, "%s: %s: %s\n", program, *word, lgt_message());
    return 0;
  }
  return words;
}

/* Reads the options; the index of the script, or -1 if the usage must be shown, -2 to stop with c->status. */
static int collect_options(command *c) {
  char **argv = c->argv;
  int i = 1;
  while (argv[i]) {
    const char *word = argv[i];
    if (word[0] != '-' || word[1] == 0) return i; /* the script, or "-" */
    switch (word[1]) {
      case '-': {
        if (word[2] == 0) return i + 1;
        if (!strcmp(word, "--help")) return print_usage(stdout), c->status = 0, -2;
        if (!strcmp(word, "--version")) return printf("lgt %s\n", lgt_version()), c->status = 0, -2;
        int words = long_option(c, argv + i);
        if (!words) return c->status = 1, -2;
        i += words - 1;
        break;
      }
      case 'i':
        if (word[2]) return -1;
        c->interactive = c->version = true;
        break;
      case 'v':
        if (word[2]) return -1;
        c->version = true;
        break;
      case 'e':
        c->executes = true; /* fall through */
      case 'j':
      case 'l':
        if (word[2] == 0 && !argv[++i]) return -1;
        break;
      case 'O':
        break;
      case 'b':
        if (c->interactive || c->version || c->executes) return -1;
        c->executes = true;
        return i + 1;
      case 'E':
        c->no_environment = true;
        break;
      default:
        return -1;
    }
    i++;
  }
  return i;
}

/* Carries out -e, -l, -j, -O and -b in the order in which they were given. */
static int run_options(lua_State *L, command *c, int script) {
  char **argv = c->argv;
  for (int i = 1; i < script && argv[i]; i++) {
    if (argv[i][0] != '-') continue; /* the value of a long option */
    const char *text = argv[i] + 2;
    int status = 0;
    switch (argv[i][1]) {
      case '-':
        if (*text && !strchr(text, '=')) i++;
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
    }
    if (status) return status;
  }
  return 0;
}

/* The global `arg`: the script at 0, its arguments from 1, what came before it at negative places. */
static void make_arg(lua_State *L, const command *c, int script) {
  lua_createtable(L, c->argc - script, script);
  for (int i = 0; i < c->argc; i++) {
    lua_pushstring(L, c->argv[i]);
    lua_rawseti(L, -2, i - script);
  }
  lua_setglobal(L, "arg");
}

static int run_script(lua_State *L, const command *c, int script) {
  const char *name = c->argv[script];
  if (!strcmp(name, "-") && strcmp(c->argv[script - 1], "--")) name = NULL; /* standard input */
  int status = luaL_loadfile(L, name);
  if (!status) {
    int narg = c->argc - script - 1;
    luaL_checkstack(L, narg + 3, "too many arguments to script");
    for (int i = 1; i <= narg; i++) lua_pushstring(L, c->argv[script + i]);
    status = call(L, narg, 0);
  }
  return report(L, status);
}

static int run_init(lua_State *L) {
  const char *init = getenv("LUA_INIT");
  if (!init) return 0;
  return init[0] == '@' ? run_file(L, init + 1) : run_text(L, init, "=LUA_INIT");
}

/* Wait for what the chunks launched: an error in it is the program's. */
static int finish(lua_State *L) {
  int status = lgt_lua_finish(L);
  if (status) complain(lgt_message());
  return status;
}

static int protected_main(lua_State *L) {
  command *c = lua_touserdata(L, 1);
  lua_settop(L, 0);
  int script = collect_options(c);
  if (script == -2) return 0;
  c->status = 1;
  if (script < 0) return print_usage(stderr), 0;
  if (c->no_environment) {
    lua_pushboolean(L, 1);
    lua_setfield(L, LUA_REGISTRYINDEX, "LUA_NOENV");
  }
  lua_gc(L, LUA_GCSTOP, 0);
  luaL_openlibs(L);
  lua_gc(L, LUA_GCRESTART, -1);
  if (lgt_lua_open(L, c->config)) return complain(lgt_message()), 0;
  set_jit_parameters(L);
  make_arg(L, c, script);
  if (!c->no_environment && run_init(L)) return 0;
  if (c->version) print_versions();
  int status = run_options(L, c, script);
  if (status) return c->status = status > 0, 0;
  if (script < c->argc && run_script(L, c, script)) return 0;
  if (c->interactive) {
    print_jit_status(L);
    prompt_loop(L);
  } else if (script >= c->argc && !c->executes && !c->version) {
    if (isatty(0)) {
      print_versions();
      print_jit_status(L);
      prompt_loop(L);
    } else if (run_file(L, NULL)) {
      return 0;
    }
  }
  c->status = finish(L) != 0;
  return 0;
}

int main(int argc, char **argv) {
  if (argv[0] && argv[0][0]) program = argv[0];
  command c = {.argc = argc, .argv = argv, .status = 1};
  c.config = lgt_config_new();
  if (!c.config) return complain(lgt_message()), EXIT_FAILURE;
  lua_State *L = luaL_newstate();
  if (!L) return complain("cannot create state: not enough memory"), EXIT_FAILURE;
  int status = lua_cpcall(L, protected_main, &c);
  report(L, status);
  lua_close(L);
  lgt_config_free(c.config);
  return status || c.status ? EXIT_FAILURE : EXIT_SUCCESS;
}
