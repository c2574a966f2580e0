/* lua_lgt.h - lgt in a lua_State that a host program owns.
 *
 * The host calls lgt_lua_open once; scripts then find `require "lgt"` and the libraries.  A runtime
 * is opened when the first script asks for it, unless the host attaches its own.
 */
#ifndef LGT_LUA_H
#define LGT_LUA_H

#include <lua.h>

#include "lgt.h"

/* Make `require "lgt"`, "array", ... work in L.  `config` (may be NULL) is copied when the runtime opens
 * and must live until then.  Returns 0, or a negative status if the Lua libraries cannot be found. */
lgt_status lgt_lua_open(lua_State *L, const lgt_config *config);

/* Let scripts use the host's runtime, which must outlive L.  Call it before the first `require "lgt"`. */
void lgt_lua_attach(lua_State *L, lgt_runtime *rt);

/* Start and wait for everything that scripts have launched.  Pushes nothing; on an error returns its
 * status, and lgt_message() tells what went wrong.  Does nothing where no runtime was opened. */
lgt_status lgt_lua_finish(lua_State *L);

/* The opener of `require "lgt"` for hosts that fill package.preload themselves. */
int luaopen_lgt(lua_State *L);

#endif
