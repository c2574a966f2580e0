/* lua_pairs.h - `next` and `pairs` for a LuaJIT that compiles its own wrongly.  Private to liblgt. */
#ifndef LGT_LUA_PAIRS_H
#define LGT_LUA_PAIRS_H

#include <lua.h>

/* Replace both in L, if its LuaJIT is such a one.  Before anything keeps them. */
void lgt_lua_mend_pairs(lua_State *L);

#endif
