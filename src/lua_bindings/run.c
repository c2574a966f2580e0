/* run.c - running chunks as luajit runs them: see run.h. */
#include "run.h"

#include <lauxlib.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lua_lgt.h"
#include "ranks.h"

const char *program_name = "lgt";

/* For the signal handler. */
enum { AGAIN = 1000, PATIENT = 50 }; /* after so many instructions it is interrupted again, so many times */
static lua_State *interrupted_state;
static unsigned raised; /* times, for one Ctrl-C */
static lgt_runtime *const *watched;
static bool survives;

static lgt_ranks *all; /* NULL: this is the only one */

lgt_ranks *run_ranks(void) { return all; }

void complain_finally(const char *message) {
  if (all && !survives) {
    const char *interrupted = strstr(message, ": interrupted!\n"); /* where does not matter, and differs */
    if (interrupted && !memchr(message, '\n', (size_t)(interrupted - message))) message = interrupted + 2;
    fflush(stdout);
    lgt_ranks_fail(all, message);
  }
  complain(message);
}

void complain(const char *message) {
  if (all && lgt_ranks_rank(all) > 0) return; /* all say the same */
  if (program_name) fprintf(stderr, "%s: ", program_name);
  fprintf(stderr, "%s\n", message);
  fflush(stderr);
}

int report(lua_State *L, int status) {
  if (status && !lua_isnil(L, -1)) {
    const char *message = lua_tostring(L, -1);
    complain_finally(message ? message : "(error object is not a string)");
    lua_pop(L, 1);
  }
  return status;
}

/* ---- Ctrl-C ------------------------------------------------------------------------------------
 *
 * With several ranks it is for all, at one place of the program, so that a script that catches it goes on alike: rank 0
 * tells the others, and all stop at their next common checkpoint (net/control.h).  Only where they come to none each is
 * interrupted wherever it is, by a signal of its own.  A second one ends a script.
 */

void watch_runtime(lgt_runtime *const *runtime) { watched = runtime; }

enum { TOLD = 1, STOPPED };
static pthread_t script_thread;
static volatile sig_atomic_t pressed, told, running;

bool run_interrupted(void) { return pressed || told; }

/* All ranks are to stop: the signal handler does it, on the thread that runs the script. */

static void interrupt_script(void *context) {
  (void)context;
  if (!running) return;
  told = TOLD;
  pthread_sigqueue(script_thread, SIGINT, (union sigval){0}); /* unlike the terminal's and ours */
}

/* A thread of a library got the signal, which is for this one: here it waits until it is wanted. */
static void hand_over(int number) { pthread_kill(script_thread, number); }

static void admit_interrupts(bool on) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  pthread_sigmask(on ? SIG_UNBLOCK : SIG_BLOCK, &set, NULL);
}

void survive_interrupts(void) {
  survives = true;
  script_thread = pthread_self();
  admit_interrupts(false);
  signal(SIGINT, hand_over);
}

void run_on_ranks(lgt_ranks *ranks) {
  all = ranks;
  script_thread = pthread_self();
  lgt_ranks_on_interrupt(all, interrupt_script, NULL);
}

static void interrupt_waits(bool on) {
  if (watched && *watched) lgt_interrupt(*watched, on);
}

/* A loop may catch it and go on: the prompt comes back to it, each time at another place of the loop.  In the end this
 * comes so soon that nothing catches it but what surrounds the loop. */
static int instructions_left(void) {
  unsigned turn = raised++;
  return turn < PATIENT ? AGAIN + (int)(turn * 37 % 101) : 1 + (int)(turn % 61);
}

static void raise_interrupted(lua_State *L, lua_Debug *where) {
  (void)where;
  char place[LUA_IDSIZE + 16];
  if (survives) lua_sethook(L, raise_interrupted, LUA_MASKCOUNT, instructions_left());
  else lua_sethook(L, NULL, 0, 0);
  interrupt_waits(false);
  lgt_lua_where(L, place, sizeof place); /* a hook has no frame of its own */
  lua_pushfstring(L, "%s: interrupted!", place);
  lua_error(L);
}

static void on_interrupt(int number, siginfo_t *info, void *context) {
  (void)context;
  if (all && told != TOLD && info->si_code == SI_QUEUE) return; /* interrupt_script's, for an earlier chunk */
  if (all && told != TOLD && !(survives && told)) {
    if (pressed && !survives) {
      signal(number, SIG_DFL);
      raise(number);
      return;
    }
    pressed = 1;
    if (lgt_ranks_rank(all) == 0) lgt_ranks_interrupt(all, false);
    return;
  }
  told = STOPPED;
  if (!survives && !all) signal(number, SIG_DFL);
  lua_sethook(interrupted_state, raise_interrupted, LUA_MASKCALL | LUA_MASKRET | LUA_MASKCOUNT, 1);
  interrupt_waits(true);
}

/* The prompt also wants io.read and the like to return: no SA_RESTART. */
static void catch_interrupts(lua_State *L) {
  struct sigaction action = {.sa_sigaction = on_interrupt,
                             .sa_flags = SA_SIGINFO | (survives ? 0 : SA_RESTART)};
  interrupted_state = L;
  pressed = told = 0;
  raised = 0;
  running = 1;
  sigaction(SIGINT, &action, NULL);
  if (survives) admit_interrupts(true);
}

/* ---- calls ------------------------------------------------------------------------------------- */

static char require_key; /* of Lua's function in the registry: a script may have changed the global */

void run_open(lua_State *L) {
  lua_pushlightuserdata(L, &require_key);
  lua_getglobal(L, "require");
  lua_rawset(L, LUA_REGISTRYINDEX);
}

static int is_regular_file(lua_State *L) {
  struct stat info;
  lua_pushboolean(L, stat(luaL_checkstring(L, 1), &info) == 0 && S_ISREG(info.st_mode));
  return 1;
}

/* lgt/hints.lua may know more about the message at index 1; a script without arrays gets what luajit says. */
static int find_hint(lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
  lua_pushliteral(L, "array");
  lua_rawget(L, -2);
  if (!lua_istable(L, -1)) return 0;
  lua_pushlightuserdata(L, &require_key);
  lua_rawget(L, LUA_REGISTRYINDEX);
  lua_pushliteral(L, "lgt.hints");
  lua_call(L, 1, 1);
  lua_pushvalue(L, 1);
  lua_pushcfunction(L, is_regular_file);
  lua_call(L, 2, 1);
  return 1;
}

/* Whatever goes wrong with a hint, the message stays. */
static void add_hint(lua_State *L) {
  if (strstr(lua_tostring(L, 1), "stack overflow")) return; /* no room for more */
  lua_pushcfunction(L, find_hint);
  lua_pushvalue(L, 1);
  if (lua_pcall(L, 1, 1, 0) == 0 && lua_isstring(L, -1)) lua_replace(L, 1);
  lua_settop(L, 1);
}

/* Of (message, name of the file): the message that a person gets. */
static int find_slip(lua_State *L) {
  lua_pushcfunction(L, is_regular_file);
  lua_pushvalue(L, 2);
  lua_call(L, 1, 1);
  if (!lua_toboolean(L, -1)) return 0; /* what was read from a pipe is gone */
  lua_pushlightuserdata(L, &require_key);
  lua_rawget(L, LUA_REGISTRYINDEX);
  lua_pushliteral(L, "lgt.slips");
  lua_call(L, 1, 1);
  lua_getfield(L, -1, "in_file");
  lua_pushvalue(L, 1);
  lua_pushvalue(L, 2);
  lua_call(L, 2, 1);
  return 1;
}

void explain_syntax(lua_State *L, const char *name) {
  lua_pushcfunction(L, find_slip);
  lua_pushvalue(L, -2);
  lua_pushstring(L, name);
  if (lua_pcall(L, 2, 1, 0) == 0 && lua_isstring(L, -1)) lua_replace(L, -2);
  else lua_pop(L, 1);
}

static int traceback(lua_State *L) {
  if (!lua_isstring(L, 1)) { /* an error object: it may know how to print itself */
    if (lua_isnoneornil(L, 1) || !luaL_callmeta(L, 1, "__tostring") || !lua_isstring(L, -1)) return 1;
    lua_remove(L, 1);
  }
  add_hint(L);
  luaL_traceback(L, L, lua_tostring(L, 1), 1);
  return 1;
}

int call(lua_State *L, int nargs, int nresults) {
  int base = lua_gettop(L) - nargs;
  lua_pushcfunction(L, traceback);
  lua_insert(L, base);
  catch_interrupts(L);
  int status = lua_pcall(L, nargs, nresults, base);
  running = 0;
  if (survives) admit_interrupts(false);
  signal(SIGINT, survives ? hand_over : SIG_DFL);
  if (survives) {
    lua_sethook(L, NULL, 0, 0);
    interrupt_waits(false);
    if (all) lgt_ranks_forget_interrupt(all);
  }
  lua_remove(L, base);
  if (status) lua_gc(L, LUA_GCCOLLECT, 0);
  return status;
}

int run_file(lua_State *L, const char *name) { return report(L, luaL_loadfile(L, name) || call(L, 0, 0)); }

int run_text(lua_State *L, const char *text, const char *name) {
  return report(L, luaL_loadbuffer(L, text, strlen(text), name) || call(L, 0, 0));
}

int run_library(lua_State *L, const char *name) {
  lua_getglobal(L, "require");
  lua_pushstring(L, name);
  return report(L, call(L, 1, 1));
}
