/* lua_pairs.c - `next` and `pairs` that LuaJIT does not compile, where what it compiles for its own is wrong.
 *
 * LuaJIT compiles both since the end of 2021.  Until April 2022 a loop over pairs may end early, and what is compiled for
 * next may keep half of an address (github.com/LuaJIT/LuaJIT/issues/827 and 829).  Debian 12's LuaJIT is of March 2022.  It
 * calls functions that it does not know, such as these, as they are.
 */
#include "lua_pairs.h"

#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

/* Versions with the date as their number came later than the mending. */
static int is_sound(lua_State *L) {
  int top = lua_gettop(L);
  lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
  lua_getfield(L, -1, "jit");
  if (lua_istable(L, -1)) lua_getfield(L, -1, "version");
  const char *version = lua_tostring(L, -1), *number = version ? strstr(version, "2.1.") : NULL;
  int sound = !number || atoi(number + strlen("2.1.")) >= 1000;
  lua_settop(L, top);
  return sound;
}

static int next_entry(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 2);
  if (lua_next(L, 1)) return 2;
  lua_pushnil(L);
  return 1;
}

/* Upvalues: the function above; LuaJIT's own, for what only LuaJIT knows (cdata). */
static int all_pairs(lua_State *L) {
  if (lua_type(L, 1) <= LUA_TTHREAD) luaL_checktype(L, 1, LUA_TTABLE);
  if (!lua_istable(L, 1)) {
    lua_pushvalue(L, lua_upvalueindex(2));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
  }
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_pushvalue(L, 1);
  lua_pushnil(L);
  return 3;
}

void lgt_lua_mend_pairs(lua_State *L) {
  lua_getglobal(L, "pairs");
  if (lua_isfunction(L, -1) && !is_sound(L)) {
    lua_pushcfunction(L, next_entry);
    lua_pushvalue(L, -1);
    lua_setglobal(L, "next");
    lua_pushvalue(L, -2);
    lua_pushcclosure(L, all_pairs, 2);
    lua_setglobal(L, "pairs");
  }
  lua_pop(L, 1);
}
