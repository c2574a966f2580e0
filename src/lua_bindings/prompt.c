/* prompt.c - the loop of the prompt.
 *
 * What is typed, how it is read as Lua, and how values are shown is written in Lua (lgt/prompt.lua).  Here
 * is the loop around it, so that chunks run at the bottom of the stack and their tracebacks show nothing
 * of the prompt, and the plain way to read a line.  Lines of a terminal are read by liblgt-edit, a module
 * over a line editing library, which is loaded when there is a terminal; without it everything else works.
 */
#include "prompt.h"

#include <dlfcn.h>
#include <errno.h>
#include <lauxlib.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <termios.h>
#include <unistd.h>

#include "ranks.h"
#include "run.h"

/* ---- lines without an editor --------------------------------------------------------------------- */

static volatile sig_atomic_t interrupted;
static pthread_t reader;

/* Where the reader blocks a signal a thread of a library may get it. */
static void note_interrupt(int number) {
  if (pthread_equal(pthread_self(), reader)) interrupted = 1;
  else pthread_kill(reader, number);
}

/* A terminal hands over whole lines: wait for one, with Ctrl-C let through only here.  False: interrupted. */
static bool wait_for_line(const sigset_t *waiting) {
  if (!isatty(0)) return true;
  for (;;) {
    fd_set input;
    FD_ZERO(&input);
    FD_SET(0, &input);
    int ready = pselect(1, &input, NULL, NULL, NULL, waiting);
    if (interrupted) return false;
    if (ready > 0 || errno != EINTR) return true;
  }
}

/* line(prompt) -> text; nil at the end of input; nil, "interrupted" after Ctrl-C. */
static int plain_line(lua_State *L) {
  char *line = NULL;
  size_t room = 0;
  ssize_t length = -1;
  struct sigaction action = {.sa_handler = note_interrupt}, before;
  sigset_t blocked, old, waiting;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGINT);
  interrupted = 0;
  reader = pthread_self();
  const char *text = luaL_checkstring(L, 1);
  sigprocmask(SIG_BLOCK, &blocked, &old);
  waiting = old;
  sigdelset(&waiting, SIGINT);
  sigaction(SIGINT, &action, &before);
  fputs(text, stdout);
  fflush(stdout);
  if (wait_for_line(&waiting)) length = getline(&line, &room, stdin);
  sigaction(SIGINT, &before, NULL);
  sigprocmask(SIG_SETMASK, &old, NULL);
  if (length > 0 && line[length - 1] == '\n') length--;
  if (length >= 0) {
    lua_pushlstring(L, line, (size_t)length);
  } else {
    clearerr(stdin);
    lua_pushnil(L);
  }
  free(line);
  if (length >= 0 || !interrupted) return 1;
  if (isatty(0)) tcflush(0, TCIFLUSH); /* what was typed before goes with the line */
  putchar('\n');
  lua_pushliteral(L, "interrupted");
  return 2;
}

/* complain(message): on stderr, after what was printed. */
static int complain_from_lua(lua_State *L) {
  complain(luaL_checkstring(L, 1));
  return 0;
}

/* Pushes the table of terminal functions that lgt/prompt.lua expects, with an editor's where there is one. */
static void push_terminal(lua_State *L) {
  lua_newtable(L);
  lua_pushcfunction(L, plain_line);
  lua_setfield(L, -2, "line");
  lua_pushcfunction(L, complain_from_lua);
  lua_setfield(L, -2, "complain");
  if (run_ranks() && lgt_ranks_rank(run_ranks())) return; /* rank 0 has the terminal */
  const char *kind = getenv("TERM");
  if (!isatty(0) || !isatty(1) || !kind || !strcmp(kind, "dumb")) return;
  char path[PATH_MAX];
  Dl_info info;
  if (!dladdr((void *)lgt_open, &info) || !realpath(info.dli_fname, path)) return;
  char *name = strrchr(path, '/') + 1;
  snprintf(name, (size_t)(path + sizeof path - name), "liblgt-edit.so");
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL); /* until the process ends */
  lua_CFunction open = NULL;
  if (library) *(void **)&open = dlsym(library, "luaopen_lgt_edit");
  if (!open) return;
  lua_pushcfunction(L, open);
  lua_pushvalue(L, -2);
  if (lua_pcall(L, 1, 0, 0)) lua_pop(L, 1); /* this terminal cannot be edited on */
}

/* ---- the loop ------------------------------------------------------------------------------------ */

static const char module_key; /* the registry keeps lgt/prompt.lua's functions under its address */
static int patience = 10;     /* errors of the prompt itself, before it gives up */

static bool load_module(lua_State *L) {
  lua_pushlightuserdata(L, (void *)&module_key);
  lua_getglobal(L, "require");
  lua_pushliteral(L, "lgt.prompt");
  if (report(L, call(L, 1, 1))) return false;
  lua_rawset(L, LUA_REGISTRYINDEX);
  return true;
}

static void push_function(lua_State *L, const char *name) {
  lua_pushlightuserdata(L, (void *)&module_key);
  lua_rawget(L, LUA_REGISTRYINDEX);
  lua_getfield(L, -1, name);
  lua_remove(L, -2);
}

void prompt_expect(lua_State *L) {
  if (!load_module(L)) return;
  push_function(L, "expect");
  report(L, call(L, 0, 0));
}

int prompt_load(lua_State *L, const char *name) {
  push_function(L, "load");
  lua_pushstring(L, name);
  if (lua_pcall(L, 1, 1, 0) == 0 && lua_isfunction(L, -1)) return 0;
  lua_pop(L, 1);
  return luaL_loadfile(L, name); /* with its own words where that cannot be */
}

/* Pushes what read() returns.  A Ctrl-C meanwhile is for the line: it waits until the line lets it through. */
static int read_input(lua_State *L) {
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGINT);
  sigprocmask(SIG_BLOCK, &blocked, &before);
  push_function(L, "read");
  int status = lua_pcall(L, 0, 1, 0);
  sigprocmask(SIG_SETMASK, &before, NULL);
  return report(L, status);
}

/* Runs the chunk on the top and shows its values.  Its status; an error's message is on the top. */
static int run_chunk(lua_State *L) {
  int base = lua_gettop(L) - 1, status = call(L, 0, LUA_MULTRET), count = lua_gettop(L) - base;
  if (status || count == 0) return status;
  push_function(L, "show");
  lua_insert(L, base + 1);
  return call(L, count, 0);
}

static void tell(lua_State *L) {
  push_function(L, "tidy");
  lua_insert(L, -2);
  if (!report(L, call(L, 1, 1))) report(L, 1);
}

/* All ranks have come here; what one of them has to say, all replace their own message by. */
static int agree(lua_State *L, int status) {
  int rank;
  bool on_all;
  const char *message = status ? lua_tostring(L, -1) : NULL;
  if (status && !message) message = "(error object is not a string)";
  if (run_interrupted() && lgt_ranks_rank(run_ranks()) == 0) lgt_ranks_interrupt(run_ranks(), true);
  message = lgt_ranks_agree(run_ranks(), message, &rank, &on_all);
  lgt_ranks_forget_interrupt(run_ranks());
  if (message && on_all) lua_pushstring(L, message);
  else if (message) lua_pushfstring(L, "rank %d: %s", rank, message);
  return message != NULL;
}

/* One input and its answer; false at the end of input. */
static bool turn(lua_State *L) {
  if (read_input(L)) return patience-- > 0;
  if (lua_isnil(L, -1)) return false;
  if (!lua_isfunction(L, -1)) return true;
  int status = run_chunk(L);
  if (run_ranks()) status = agree(L, status);
  if (status) tell(L);
  return true;
}

static struct termios terminal_modes; /* as we found them */

static void give_terminal_back(void) { tcsetattr(0, TCSADRAIN, &terminal_modes); }

/* For Ctrl-C a terminal sends the signal and *then* drops what was typed and what was written: the answer
 * to the signal, too, and the line typed after it, if we are quick.  Asks it not to, until we end. */
static void keep_output(void) {
  if (tcgetattr(0, &terminal_modes) != 0) return;
  atexit(give_terminal_back);
  struct termios modes = terminal_modes;
  modes.c_lflag |= NOFLSH;
  tcsetattr(0, TCSADRAIN, &modes);
}

void prompt_run(lua_State *L) {
  const char *name = program_name;
  program_name = NULL;
  survive_interrupts();
  keep_output();
  lua_settop(L, 0);
  if (load_module(L)) {
    push_function(L, "start");
    push_terminal(L);
    bool more = !report(L, call(L, 1, 0));
    while (more) {
      lua_settop(L, 0);
      more = turn(L);
      fflush(stdout);
    }
  }
  lua_settop(L, 0);
  putchar('\n'); /* of ranks that do not speak it is dropped */
  fflush(stdout);
  program_name = name;
}
