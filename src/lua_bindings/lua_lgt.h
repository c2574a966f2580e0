/* lua_lgt.h - lgt in a lua_State: one that the host program owns, or one made here.
 *
 * A host with a lua_State calls lgt_lua_open once; scripts then find `require "lgt"` and the libraries.
 * A runtime is opened when the first script asks for it, unless the host attaches its own.  A host
 * without Lua of its own opens a runtime and asks for a state with lgt_lua_new.
 *
 *   lgt_runtime *rt;
 *   lgt_open(NULL, &rt);
 *   lua_State *L;
 *   lgt_lua_new(rt, &L);
 *   if (lgt_lua_run_file(L, "script.lua")) fprintf(stderr, "%s\n", lgt_message());
 *   lua_close(L);
 *   lgt_close(rt);
 *
 * Nothing here ends the process or handles signals.  A state belongs to the thread that uses its runtime.
 * What can fail returns a status; lgt_message() tells what went wrong.
 */
#ifndef LGT_LUA_H
#define LGT_LUA_H

#include "lgt.h"

#ifdef __cplusplus
extern "C" {
#endif
#include <lua.h>
#pragma GCC visibility push(default)

/* ---- states ----------------------------------------------------------------------------------- */

/* Make `require "lgt"`, "array", ... work in L.  `config` (may be NULL) is copied when the runtime opens
 * and must live until then.  Fails if the Lua libraries cannot be found.  Where `config` is that of several ranks
 * (lgt_ranks_open), the functions of Lua that look outside, such as os.time and io.open, are replaced in L by such
 * as give the same on all ranks, and only rank 0 prints; so L needs its standard libraries by then.  The same is true
 * of `next` and `pairs` with a LuaJIT of before April 2022, whose own are compiled wrongly at times. */
lgt_status lgt_lua_open(lua_State *L, const lgt_config *config);
/* Let scripts use the host's runtime, which must outlive L.  Before the first `require "lgt"`; after
 * lgt_lua_open, or instead of it.  A runtime serves one lua_State at a time. */
lgt_status lgt_lua_attach(lua_State *L, lgt_runtime *rt);
/* A new state with Lua's libraries, whose scripts use `rt`.  Close it with lua_close, before the runtime. */
lgt_status lgt_lua_new(lgt_runtime *rt, lua_State **L);
/* The opener of `require "lgt"` for hosts that fill package.preload themselves. */
int luaopen_lgt(lua_State *L);

/* Where the state's runtime is kept, until L is closed: NULL in there as long as none was opened. */
lgt_runtime *const *lgt_lua_runtime(lua_State *L);
/* Start and wait for everything that scripts have launched; fails if one of these tasks did.  Does nothing
 * where no runtime was opened. */
lgt_status lgt_lua_finish(lua_State *L);
/* Programs of hundreds of array operations need more and larger traces than LuaJIT's defaults allow.  This
 * is done for states of lgt_lua_new, and a host may want it for its own. */
void lgt_lua_tune(lua_State *L);
/* "file:line" of what runs in the first function outside of lgt's libraries, for messages. */
void lgt_lua_where(lua_State *L, char *text, size_t room);

/* ---- scripts and arrays ------------------------------------------------------------------------- */

/* Run a file, or text that messages call `name`.  An error of the script, with its traceback, is
 * lgt_message(). */
lgt_status lgt_lua_run_file(lua_State *L, const char *path);
lgt_status lgt_lua_run_text(lua_State *L, const char *text, const char *name);
/* Push an array of the state's runtime, which from now on is Lua's: its collector frees it.  To keep it,
 * push an alias (lgt_array_alias).  On an error nothing is pushed. */
lgt_status lgt_lua_push(lua_State *L, lgt_id array);
/* The array at a place of the stack, still Lua's; 0 if there is none. */
lgt_id lgt_lua_array(lua_State *L, int place);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
