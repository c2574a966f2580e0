/* lua_ranks.h - a lua_State on several ranks: what scripts read from outside is the same on all of them.
 *
 * Every rank runs the script, so that whatever decides what it does must be alike: lgt/ranks.lua replaces the functions
 * of Lua that look outside (clocks, the environment, files) or whose results depend on addresses (pairs, next).  Here is
 * what it needs: values of rank 0 for everybody.
 */
#ifndef LGT_LUA_RANKS_H
#define LGT_LUA_RANKS_H

#include <lua.h>
#include <stdbool.h>
#include <stddef.h>

#include "lgt.h"

struct lgt_peers;

/* Replace them in L by what lgt/ranks.lua does, which is popped: a function, or with a `status` a message why it could not be
 * loaded.  all_output: every rank prints. */
lgt_status lgt_lua_ranks_install(lua_State *L, struct lgt_peers *peers, int status, bool all_output);
/* An operation of the stream, issued by the script's line that runs: a rank that does it alone is found out. */
void lgt_lua_ranks_note(lua_State *L, struct lgt_peers *peers, const char *name);

#endif
