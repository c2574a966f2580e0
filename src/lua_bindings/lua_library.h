/* lua_library.h - lgt's own Lua modules, which are compiled once for all processes.  Private to liblgt.
 *
 * The bytecode of a module is kept on disk, beside the machine code of kernels (base/disk_cache.h), under a hash of its
 * source, its path and LuaJIT's version: where one of these is another, there is no bytecode yet.  To read what a script
 * needs of the array library takes a tenth of the time in which its source is compiled.
 */
#ifndef LGT_LUA_LIBRARY_H
#define LGT_LUA_LIBRARY_H

#include <lua.h>
#include <stdbool.h>

#include "base/config.h"
#include "base/disk_cache.h"

typedef struct lgt_lua_library {
  const char *directory[2]; /* borrowed: the modules are beneath them */
  const lgt_config *config; /* borrowed: says whether and where bytecode is kept; NULL: it is not */
  lgt_disk_cache cache;
  bool opened;         /* the cache; when the first module is loaded */
  uint64_t version[2]; /* a hash of LuaJIT's */
} lgt_lua_library;

/* Have `require` load modules in the directories so, if package.path finds them there.  The structure stays where it is as
 * long as L is open; once it is closed, `require` does as without it. */
void lgt_lua_library_install(lua_State *L, lgt_lua_library *library);
void lgt_lua_library_close(lgt_lua_library *library);

/* As luaL_loadfile: pushes a file of the library as a function, or a message. */
int lgt_lua_library_load(lua_State *L, lgt_lua_library *library, const char *path);

#endif
