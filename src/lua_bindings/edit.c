/* edit.c - liblgt-edit: lines of a terminal, with editing, history and completion, by libedit.
 *
 * A module of its own, so that scripts do not load the library.  libedit reads characters through a
 * function of ours, which waits with SIGINT and SIGWINCH let through and only then: Ctrl-C never has to
 * jump out of the library, and a line is redrawn when its terminal changes size.
 *
 * One terminal a process: the state is static.  Everything runs on the thread of the prompt.
 */
#include <errno.h>
#include <histedit.h>
#include <lauxlib.h>
#include <locale.h>
#include <lua.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

enum { HISTORY = 2000 };

static struct {
  EditLine *line;
  History *history;
  const char *prompt; /* borrowed for the time of a line */
  lua_State *L;       /* likewise; for completion, on whose stack the terminal table is at 2 */
  pthread_t reader;
  sigset_t waiting; /* the signals blocked while waiting for a character */
} terminal;

static volatile sig_atomic_t got_interrupt, got_resize;

/* Where the reader blocks a signal a thread of a library may get it. */
static void note_signal(int number) {
  if (!pthread_equal(pthread_self(), terminal.reader)) {
    pthread_kill(terminal.reader, number);
    return;
  }
  if (number == SIGINT) got_interrupt = 1;
  else got_resize = 1;
}

static char *current_prompt(EditLine *line) {
  (void)line;
  return (char *)terminal.prompt;
}

/* One byte of input: 1, 0 at its end, -1 after Ctrl-C. */
static int read_byte(char *byte) {
  for (;;) {
    sigset_t blocked; /* a signal comes before bytes that are there already */
    sigprocmask(SIG_SETMASK, &terminal.waiting, &blocked);
    sigprocmask(SIG_SETMASK, &blocked, NULL);
    if (got_interrupt) return -1;
    fd_set input;
    FD_ZERO(&input);
    FD_SET(0, &input);
    int ready = pselect(1, &input, NULL, NULL, NULL, &terminal.waiting);
    if (got_resize) {
      got_resize = 0;
      el_resize(terminal.line);
    }
    if (got_interrupt) return -1;
    if (ready < 0 && errno != EINTR) return 0;
    if (ready > 0) return read(0, byte, 1) == 1;
  }
}

static int read_character(EditLine *line, wchar_t *out) {
  (void)line;
  mbstate_t state;
  memset(&state, 0, sizeof state);
  for (;;) {
    char byte;
    int count = read_byte(&byte);
    if (count <= 0) return count;
    size_t length = mbrtowc(out, &byte, 1, &state);
    if (length == (size_t)-2) continue; /* more of it is to come */
    if (length == (size_t)-1) *out = L'?';
    return 1;
  }
}

/* TAB: complete(text before the cursor) returns what to insert, and what to show beneath the line. */
static unsigned char complete(EditLine *line, int key) {
  (void)key;
  lua_State *L = terminal.L;
  const LineInfo *info = el_line(line);
  unsigned char answer = CC_NORM;
  lua_getfield(L, 2, "complete");
  lua_pushlstring(L, info->buffer, (size_t)(info->cursor - info->buffer));
  if (lua_pcall(L, 1, 2, 0)) {
    lua_pop(L, 1);
    return CC_ERROR;
  }
  const char *insertion = lua_tostring(L, -2), *listing = lua_tostring(L, -1);
  if (listing) {
    printf("\n%s", listing);
    fflush(stdout);
    answer = CC_REDISPLAY;
  }
  if (insertion && *insertion && el_insertstr(line, insertion) == 0 && !listing) answer = CC_REFRESH;
  lua_pop(L, 2);
  return answer;
}

/* line(prompt) -> text; nil at the end of input; nil, "interrupted" after Ctrl-C. */
static int edit_line(lua_State *L) {
  lua_settop(L, 1);
  lua_pushvalue(L, lua_upvalueindex(1)); /* the terminal table */
  terminal.prompt = luaL_checkstring(L, 1);
  terminal.L = L;
  struct sigaction action = {.sa_handler = note_signal}, on_interrupt, on_resize;
  sigset_t blocked, old;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGINT);
  sigaddset(&blocked, SIGWINCH);
  got_interrupt = 0;
  terminal.reader = pthread_self();
  sigprocmask(SIG_BLOCK, &blocked, &old);
  terminal.waiting = old;
  sigdelset(&terminal.waiting, SIGINT);
  sigdelset(&terminal.waiting, SIGWINCH);
  sigaction(SIGINT, &action, &on_interrupt);
  sigaction(SIGWINCH, &action, &on_resize);
  int length = 0;
  fflush(stdout);
  el_set(terminal.line, EL_PREP_TERM,
         1); /* before the prompt is seen: keys like Ctrl-D are then the line's */
  const char *text = el_gets(terminal.line, &length);
  sigaction(SIGINT, &on_interrupt, NULL);
  sigaction(SIGWINCH, &on_resize, NULL);
  sigprocmask(SIG_SETMASK, &old, NULL);
  if (got_interrupt) {
    tcflush(0, TCIFLUSH); /* what was typed before goes with the line */
    printf("^C\n");
    lua_pushnil(L);
    lua_pushliteral(L, "interrupted");
    return 2;
  }
  if (!text || length <= 0) return 0;
  if (text[length - 1] == '\n') length--;
  lua_pushlstring(L, text, (size_t)length);
  return 1;
}

/* ---- history --------------------------------------------------------------------------------------- */

static int remember(lua_State *L) {
  HistEvent event;
  history(terminal.history, &event, H_ENTER, luaL_checkstring(L, 1));
  return 0;
}

/* load(file), save(file): whether it worked. */
static int load_history(lua_State *L) {
  HistEvent event;
  lua_pushboolean(L, history(terminal.history, &event, H_LOAD, luaL_checkstring(L, 1)) >= 0);
  return 1;
}

static int save_history(lua_State *L) {
  HistEvent event;
  lua_pushboolean(L, history(terminal.history, &event, H_SAVE, luaL_checkstring(L, 1)) >= 0);
  return 1;
}

static int columns(lua_State *L) {
  int count = 80;
  el_get(terminal.line, EL_GETTC, "co", &count);
  lua_pushinteger(L, count);
  return 1;
}

/* ---- opening --------------------------------------------------------------------------------------- */

static bool start_library(void) {
  HistEvent event;
  setlocale(LC_CTYPE, ""); /* how characters are made of bytes */
  terminal.history = history_init();
  terminal.line = el_init("lgt", stdin, stdout, stderr);
  if (!terminal.history || !terminal.line) return false;
  history(terminal.history, &event, H_SETSIZE, HISTORY);
  history(terminal.history, &event, H_SETUNIQUE, 1);
  el_set(terminal.line, EL_PROMPT, current_prompt);
  el_set(terminal.line, EL_HIST, history, terminal.history);
  el_set(terminal.line, EL_EDITOR, "emacs");
  el_set(terminal.line, EL_GETCFN, read_character);
  el_set(terminal.line, EL_ADDFN, "lgt-complete", "complete a name of Lua", complete);
  el_set(terminal.line, EL_BIND, "^I", "lgt-complete", NULL);
  el_set(terminal.line, EL_BIND, "^R", "em-inc-search-prev", NULL);
  /* See keep_output in prompt.c: the library has terminal modes of its own, for lines and between them. */
  el_set(terminal.line, EL_SETTY, "-d", "+noflsh", NULL);
  el_set(terminal.line, EL_SETTY, "-x", "+noflsh", NULL);
  el_source(terminal.line, NULL); /* ~/.editrc */
  return true;
}

/* Adds its functions to the terminal table, its argument: line, remember, load, save, columns.  The table's
 * field `complete` is called for TAB. */
__attribute__((visibility("default"))) int luaopen_lgt_edit(lua_State *L) {
  static const struct {
    const char *name;
    lua_CFunction function;
  } functions[] = {{"line", edit_line},
                   {"remember", remember},
                   {"load", load_history},
                   {"save", save_history},
                   {"columns", columns}};
  luaL_checktype(L, 1, LUA_TTABLE);
  if (!start_library()) return luaL_error(L, "this terminal cannot be edited on");
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    lua_pushvalue(L, 1);
    lua_pushcclosure(L, functions[i].function, 1);
    lua_setfield(L, 1, functions[i].name);
  }
  return 0;
}
