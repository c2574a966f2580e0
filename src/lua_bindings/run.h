/* run.h - running chunks as luajit runs them: errors with a traceback, and Ctrl-C.
 *
 * Ctrl-C.  As in luajit the signal handler sets a hook, which raises an error at the next instruction;
 * a wait for the runtime's results ends too.  For a script the signal then goes back to the system, so
 * that a second Ctrl-C, before the hook is reached, kills.  At the prompt it never kills.  Compiled loops
 * do not look at hooks: what is loaded at the prompt is interpreted (lgt/prompt.lua).
 *
 * On several ranks, at the prompt: the terminal sends the signal to all, but it is rank 0's that counts.  It tells the
 * others, if possible by something that all do together, so that all stop at one place (control.h); else each stops
 * where it is.
 */
#ifndef LGT_RUN_H
#define LGT_RUN_H

#include <lua.h>
#include <stdbool.h>

#include "lgt.h"

extern const char *program_name; /* before messages; NULL at the prompt */

/* First, while Lua's functions are what they were. */
void run_open(lua_State *L);
/* What follows runs on several ranks: errors end all of them, except at the prompt. */
void run_on_ranks(lgt_ranks *ranks);
lgt_ranks *run_ranks(void); /* NULL: there is only one */
/* "lgt: message" on stderr. */
void complain(const char *message);
/* The same; on several ranks the end of all. */
void complain_finally(const char *message);
/* Adds to the syntax error on the top, of the file of this name, what was probably meant (lgt/slips.lua). */
void explain_syntax(lua_State *L, const char *name);
/* Complain about the error on the top of the stack if `status` says that there is one.  Returns status. */
int report(lua_State *L, int status);

/* Ctrl-C interrupts waits for this runtime; *runtime is NULL until there is one. */
void watch_runtime(lgt_runtime *const *runtime);
/* From now on Ctrl-C interrupts chunks and never ends the process.  Between chunks SIGINT is blocked, so that none is
 * lost: it waits for the next chunk, or for a line that lets it through. */
void survive_interrupts(void);

/* On several ranks: was the last call interrupted, wherever it was? */
bool run_interrupted(void);

/* Call the function below `nargs` arguments; an error leaves its message, with a traceback, on the stack. */
int call(lua_State *L, int nargs, int nresults);
int run_file(lua_State *L, const char *name); /* NULL: standard input */
int run_text(lua_State *L, const char *text, const char *name);
int run_library(lua_State *L, const char *name);

#endif
