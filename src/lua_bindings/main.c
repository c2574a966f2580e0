/* main.c - the `lgt` program: scripts as luajit runs them, with lgt's libraries within reach.
 *
 * Scripts must run as `luajit` runs them: the same options, `arg`, exit codes, LUA_INIT, standard input,
 * bytecode; tests/lua/parity.py holds both against each other.  What is added are long options.
 *
 *   options   what the command line says
 *   run       chunks: errors, tracebacks, Ctrl-C
 *   prompt    a conversation, in Lua (lgt/prompt.lua), with an editor of lines (edit.c)
 *
 * Several ranks: `lgt -n 4` forks before anything else happens, and this process becomes their launcher; or this process
 * finds that mpirun or the like started it as one of several.  All ranks run the script; see lgt/ranks.lua for what they
 * see of the world, and run.h for their errors.
 *
 * The runtime opens when the script asks for it, so `lgt -e 'print(1)'` costs what luajit costs.  After
 * the last chunk the program waits for what was launched: a task that failed without anybody looking at
 * its result still makes lgt exit with an error.
 */
#include <fcntl.h>
#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"
#include "move/peers.h"
#include "lua_lgt.h"
#include "options.h"
#include "prompt.h"
#include "ranks.h"
#include "run.h"
#include "terminal.h"

/* The global `arg`: the script at 0, its arguments from 1, what came before it at negative places. */
static void make_arg(lua_State *L, const command *c) {
  lua_createtable(L, c->argc - c->script, c->script);
  for (int i = 0; i < c->argc; i++) {
    lua_pushstring(L, c->argv[i]);
    lua_rawseti(L, -2, i - c->script);
  }
  lua_setglobal(L, "arg");
}

/* Pushes arg[1], arg[2], ...: what ran before the script may have changed them.  Returns how many.
 * LuaJIT's stack grows as they are pushed; lua_checkstack would allow 8000 of them. */
static int push_arguments(lua_State *L) {
  lua_getglobal(L, "arg");
  if (!lua_istable(L, -1)) {
    lua_pop(L, 1);
    return 0;
  }
  int table = lua_gettop(L), count = 0;
  for (;;) {
    lua_rawgeti(L, table, count + 1);
    if (lua_isnil(L, -1)) break;
    count++;
  }
  lua_pop(L, 1);
  lua_remove(L, table);
  return count;
}

/* Standard input as a function: what rank 0 reads. */
static int load_input(lua_State *L, bool several) {
  if (!several) return luaL_loadfile(L, NULL);
  lua_getglobal(L, "loadfile"); /* of lgt/ranks.lua */
  int status = call(L, 0, 2);
  if (status) return status;
  if (lua_isfunction(L, -2)) return lua_pop(L, 1), 0;
  lua_remove(L, -2);
  return LUA_ERRSYNTAX;
}

static int run_script(lua_State *L, const command *c, bool several) {
  const char *name = c->argv[c->script];
  bool input = !strcmp(name, "-") && strcmp(c->argv[c->script - 1], "--");
  int status = input            ? load_input(L, several)
               : c->interactive ? prompt_load(L, name)
                                : luaL_loadfile(L, name);
  if (status == LUA_ERRSYNTAX && !input) explain_syntax(L, name);
  if (!status) status = call(L, push_arguments(L), 0);
  return report(L, status);
}

static int run_init(lua_State *L) {
  const char *init = getenv("LUA_INIT");
  if (!init) return 0;
  return init[0] == '@' ? run_file(L, init + 1) : run_text(L, init, "=LUA_INIT");
}

/* --check: the words after it are scripts.  lgt/check.lua answers with the number of its findings. */
static int check_scripts(lua_State *L, const command *c) {
  lua_getglobal(L, "require");
  lua_pushliteral(L, "lgt.check");
  if (report(L, call(L, 1, 1))) return 1;
  luaL_checkstack(L, c->argc, "too many scripts");
  for (int i = c->script; i < c->argc; i++) lua_pushstring(L, c->argv[i]);
  if (report(L, call(L, c->argc - c->script, 1))) return 1;
  return lua_tointeger(L, -1) != 0;
}

/* Standard input as a program; its errors leave the status at 0, as in luajit. */
static void run_input(lua_State *L, bool several) { report(L, load_input(L, several) || call(L, 0, 0)); }

typedef struct work {
  command command;
  lgt_ranks *ranks; /* NULL: this is the only one */
  bool terminal;    /* standard input, of rank 0, is one */
  int status;
} work;

/* What comes after the options: a script, a prompt, standard input. */
static int run_rest(lua_State *L, const work *w) {
  const command *c = &w->command;
  bool has_script = c->script < c->argc;
  if (has_script && run_script(L, c, w->ranks)) return 1;
  if (c->interactive) {
    print_jit_status(L);
    prompt_run(L);
  } else if (!has_script && !c->executes && !c->version) {
    if (w->terminal) {
      print_banner();
      print_jit_status(L);
      prompt_run(L);
    } else {
      run_input(L, w->ranks);
    }
  }
  return 0;
}

static int protected_main(lua_State *L) {
  work *w = lua_touserdata(L, 1);
  command *c = &w->command;
  lua_settop(L, 0);
  w->status = 1;
  if (c->no_environment) {
    lua_pushboolean(L, 1);
    lua_setfield(L, LUA_REGISTRYINDEX, "LUA_NOENV");
  }
  lua_gc(L, LUA_GCSTOP, 0);
  luaL_openlibs(L);
  run_open(L);
  lua_gc(L, LUA_GCRESTART, -1);
  if (lgt_lua_open(L, c->config)) return complain_finally(lgt_message()), 0;
  watch_runtime(lgt_lua_runtime(L));
  lgt_lua_tune(L);
  make_arg(L, c);
  if (c->checks) return w->status = check_scripts(L, c), 0;
  if (!c->no_environment && run_init(L)) return 0;
  if (c->version) print_banner();
  if (c->interactive) prompt_expect(L);
  int status = options_run(L, c);
  if (status) return w->status = status > 0, 0;
  if (run_rest(L, w)) return 0;
  w->status = lgt_lua_finish(L) != 0;
  if (w->status) complain_finally(lgt_message());
  /* While the runtime still knows its lines: they are named if the ranks turn out to have gone different ways. */
  if (w->ranks) lgt_ranks_leave(lgt_ranks_peers(w->ranks), "the end of the program", w->status);
  return 0;
}

/* Join the other ranks, if there are any.  False: *status is what to exit with. */
static bool enter_ranks(work *w, int *status) {
  const command *c = &w->command;
  lgt_config *config = c->config;
  bool launcher = false, nothing = c->checks || c->bytecode,
       bare = !c->executes && !c->version && c->script == c->argc;
  bool prompt = c->interactive || (bare && isatty(0));
  lgt_ranks *ranks = NULL;
  *status = EXIT_FAILURE;
  if (nothing) return true;
  if (prompt) lgt_terminal_keep();
  lgt_status failed = config->ranks > 1 && !*config->rendezvous
                          ? lgt_ranks_spawn(config, prompt, &ranks, &launcher, status)
                          : lgt_ranks_open(config, &ranks);
  if (failed) return complain(lgt_message()), *status = EXIT_FAILURE, false;
  if (launcher) return false;
  if (lgt_ranks_size(ranks) == 1) return lgt_ranks_close(ranks) == LGT_OK;
  config->own_process = lgt_ranks_peers(ranks)->rank == 0; /* it compiles for all */
  lgt_ranks_silence(ranks, config->all_output);
  w->terminal = lgt_ranks_decide(ranks, w->terminal);
  w->ranks = ranks;
  run_on_ranks(ranks);
  return true;
}

/* The script's state, from its beginning to its end. */
static void run_all(work *w) {
  lua_State *L = luaL_newstate();
  if (!L) return complain_finally("cannot create state: not enough memory");
  int status = lua_cpcall(L, protected_main, w);
  if (report(L, status)) w->status = EXIT_FAILURE;
  lua_close(L);
}

/* Standard files that are closed stay so for the script, but what is opened here does not get their numbers. */
static void keep_standard_files(void) {
  for (int fd = 0; fd < 3; fd++)
    if (fcntl(fd, F_GETFD) < 0) open("/dev/null", (fd ? O_RDONLY : O_WRONLY) | O_CLOEXEC);
}

int main(int argc, char **argv) {
  keep_standard_files();
  if (argv[0] && argv[0][0]) program_name = argv[0];
  work w = {.command = {.argc = argc, .argv = argv}, .terminal = isatty(0), .status = EXIT_FAILURE};
  if (lgt_config_new(&w.command.config)) return complain(lgt_message()), EXIT_FAILURE;
  w.command.config->own_process = true;
  reading got = options_read(&w.command);
  if (got == READ_STOP) w.status = EXIT_SUCCESS;
  else if (got == READ_DONE && enter_ranks(&w, &w.status)) run_all(&w);
  if (w.ranks && lgt_ranks_end(w.ranks, w.status ? EXIT_FAILURE : EXIT_SUCCESS)) {
    complain(lgt_message());
    w.status = EXIT_FAILURE;
  }
  lgt_config_free(w.command.config);
  return w.status;
}
