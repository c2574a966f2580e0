/* prompt.h - lgt as a conversation: see lgt/prompt.lua for what it understands. */
#ifndef LGT_PROMPT_H
#define LGT_PROMPT_H

#include <lua.h>

/* To be called before a script after which there will be a prompt (-i): its functions can then be
 * interrupted when they are called from there. */
void prompt_expect(lua_State *L);
/* As luaL_loadfile, after prompt_expect: the script's local variables are globals of the prompt afterwards. */
int prompt_load(lua_State *L, const char *name);
/* Until the end of input. */
void prompt_run(lua_State *L);

#endif
