/* lua_lgt.c - opens lgt in a lua_State: where the Lua libraries lie, and who owns the runtime.
 *
 * All of the binding's logic is Lua (lgt.lua, over LuaJIT's FFI).  What is left for C:
 *
 *   paths     The libraries are found relative to liblgt itself, whose place the dynamic linker knows:
 *             beside the build directory it was built in, or in the installation's data directory.
 *             So nothing depends on the working directory or on the name the program was started by.
 *   lines     Launches on large arrays say which line of the script they come from.  debug.getinfo makes
 *             tables and strings; here it costs a look at the stack and at a small cache.
 *   runtime   Opened at the first `require "lgt"`, so that a script which does not use it pays nothing;
 *             closed when the lua_State closes, by the finaliser of a userdata in the registry, unless
 *             the host attached a runtime of its own.
 *
 * Runs on the thread that owns the lua_State.  Nothing here is called back by the runtime.
 */
#include "lua_lgt.h"

#include <dlfcn.h>
#include <lauxlib.h>
#include <limits.h>
#include <lualib.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "lua_library.h"
#include "lua_pairs.h"
#include "lua_ranks.h"
#include "lua_support.h"
#include "runtime/runtime.h"

enum { LINES = 1024, SOURCES = 256 }; /* powers of two */

/* What the registry keeps under the address of this object: a `binding`. */
static const char registry_key;

/* Outside of Lua's heap, which for a script without arrays is what luajit's would be. */
typedef struct places {
  struct {
    const char *source; /* a string of L, anchored in the registry: it is never another one's address */
    int line;
    uint32_t number; /* of lgt_line; 0: the slot is free */
  } line[LINES];
  const char *inside[SOURCES]; /* sources of the libraries, anchored likewise; NULL: the place is free */
  char library[PATH_MAX];      /* liblgt */
  char header[2][PATH_MAX];    /* lgt.h and lgt_binding.h, which the FFI reads */
  char runtime_lua[PATH_MAX];  /* the directory of lgt.lua */
  char library_lua[PATH_MAX];  /* the directory of array.lua */
} places;

typedef struct binding {
  const lgt_config *config; /* borrowed from the host; may be NULL */
  lgt_runtime *rt;          /* NULL until it is needed */
  bool owned;               /* rt is closed with the lua_State */
  places *at;               /* owned; NULL once the lua_State closes */
  lgt_lua_library modules;
} binding;

static binding *find_binding(lua_State *L) {
  lua_pushlightuserdata(L, (void *)&registry_key);
  lua_rawget(L, LUA_REGISTRYINDEX);
  binding *b = lua_touserdata(L, -1);
  lua_pop(L, 1); /* the registry keeps it */
  return b;
}

/* ---- paths ------------------------------------------------------------------------------------ */

static bool readable(const char *path) { return access(path, R_OK) == 0; }

static bool join(char *out, const char *directory, const char *rest) {
  return snprintf(out, PATH_MAX, "%s/%s", directory, rest) < PATH_MAX;
}

/* Where liblgt lies decides: LGT_BUILD_DIR and LGT_SOURCE_DIR are baked in by the build. */
static bool find_paths(places *at) {
  Dl_info info;
  char directory[PATH_MAX], probe[PATH_MAX];
  if (!dladdr((void *)lgt_open, &info) || !realpath(info.dli_fname, at->library)) return false;
  snprintf(directory, sizeof directory, "%s", at->library);
  *strrchr(directory, '/') = 0;
  if (!strcmp(directory, LGT_BUILD_DIR))
    return join(at->header[0], LGT_SOURCE_DIR, "src/core/lgt.h") &&
           join(at->header[1], LGT_SOURCE_DIR, "src/core/lgt_binding.h") &&
           join(at->runtime_lua, LGT_SOURCE_DIR, "src/lua_bindings") &&
           join(at->library_lua, LGT_SOURCE_DIR, "lib");
  return join(probe, directory, LGT_DATA_FROM_LIB) && realpath(probe, at->runtime_lua) &&
         realpath(probe, at->library_lua) && join(at->header[0], at->runtime_lua, "lgt.h") &&
         readable(at->header[0]) && join(at->header[1], at->runtime_lua, "lgt_binding.h") &&
         readable(at->header[1]);
}

/* Put the libraries before everything else on package.path. */
static void extend_path(lua_State *L, const places *at) {
  lua_getglobal(L, "package");
  lua_getfield(L, -1, "path");
  const char *old = lua_tostring(L, -1);
  if (strcmp(at->runtime_lua, at->library_lua))
    lua_pushfstring(L, "%s/?.lua;%s/?.lua;%s", at->runtime_lua, at->library_lua, old ? old : "");
  else lua_pushfstring(L, "%s/?.lua;%s", at->library_lua, old ? old : "");
  lua_setfield(L, -3, "path");
  lua_pop(L, 2);
}

/* ---- source lines ----------------------------------------------------------------------------- */

static bool begins_with(const char *text, const char *directory) {
  size_t length = strlen(directory);
  return text[0] == '@' && !strncmp(text + 1, directory, length) && text[1 + length] == '/';
}

static bool is_library(const places *at, const char *source) {
  return begins_with(source, at->library_lua) || begins_with(source, at->runtime_lua);
}

static bool in_libraries(const places *at, const lua_Debug *where) {
  return where->currentline < 0 || is_library(at, where->source);
}

void lgt_lua_where(lua_State *L, char *text, size_t room) {
  const binding *b = find_binding(L);
  lua_Debug where;
  snprintf(text, room, "an unknown line");
  for (int level = 0; b && b->at && lua_getstack(L, level, &where); level++) {
    lua_getinfo(L, "Sl", &where);
    if (in_libraries(b->at, &where)) continue;
    snprintf(text, room, "%s:%d", where.short_src, where.currentline);
    return;
  }
}

/* Returns how many entries a table has. */
static int count_entries(lua_State *L) {
  lua_Integer count = 0;
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) count++;
  lua_pushinteger(L, count);
  return 1;
}

static void anchor(lua_State *L, const char *source) {
  lua_pushstring(L, source);
  lua_pushboolean(L, 1);
  lua_rawset(L, lua_upvalueindex(2));
}

/* As is_library, for line_number: most functions on the way to the script are of few sources, which are known by address. */
static bool is_known_library(places *at, const char *source) {
  return at->inside[(uintptr_t)source / 16 % SOURCES] == source;
}

/* A source that is not known yet is that of a library, or of the script. */
static bool learn_library(lua_State *L, places *at, const char *source) {
  if (!is_library(at, source)) return false;
  anchor(L, source);
  at->inside[(uintptr_t)source / 16 % SOURCES] = source;
  return true;
}

/* The number of a line of the script; 0: it is not known yet. */
static uint32_t known_line(places *at, const lua_Debug *where, size_t *slot) {
  *slot = ((uintptr_t)where->source / 16 + (size_t)where->currentline * 31) % LINES;
  bool same = at->line[*slot].source == where->source && at->line[*slot].line == where->currentline;
  return same ? at->line[*slot].number : 0;
}

static uint32_t learn_line(lua_State *L, binding *b, const lua_Debug *where, size_t slot) {
  char text[sizeof where->short_src + 16];
  snprintf(text, sizeof text, "%s:%d", where->short_src, where->currentline);
  anchor(L, where->source);
  b->at->line[slot].number = lgt_line(b->rt, text);
  b->at->line[slot].source = where->source;
  b->at->line[slot].line = where->currentline;
  return b->at->line[slot].number;
}

/* The number (lgt_line) of the line that runs in the first function outside the libraries, from `level` on; 0: unknown. */
static uint32_t find_line(lua_State *L, binding *b, int level) {
  lua_Debug where;
  for (; lua_getstack(L, level, &where); level++) {
    size_t slot;
    lua_getinfo(L, "S", &where);
    if (is_known_library(b->at, where.source)) continue;
    lua_getinfo(L, "l", &where);
    if (where.currentline < 0) continue;
    uint32_t number = known_line(b->at, &where, &slot);
    if (number) return number;
    if (!learn_library(L, b->at, where.source)) return learn_line(L, b, &where, slot);
  }
  return 0;
}

/* Returns the number of the script's line; an argument says how many functions are known to be inside the libraries. */
static int line_number(lua_State *L) {
  binding *b = lua_touserdata(L, lua_upvalueindex(1));
  int inside = (int)lua_tointeger(L, 1);
  lua_pushinteger(L, b->at ? (lua_Integer)find_line(L, b, 1 + inside) : 0);
  return 1;
}

/* ---- the runtime ------------------------------------------------------------------------------ */

/* For reports to the other ranks. */
static const char *line_text(void *context, uint32_t line) {
  const lgt_runtime *rt = context;
  return line && (int)line < rt->nline ? rt->line[line] : NULL;
}

static void tell_lines(lgt_runtime *rt, bool on) {
  lgt_peers *peers = rt->config->peers;
  if (!peers) return;
  peers->line_text = on ? line_text : NULL;
  peers->line_context = on ? rt : NULL;
}

static int close_binding(lua_State *L) {
  binding *b = lua_touserdata(L, 1);
  if (b->rt) tell_lines(b->rt, false);
  if (b->owned) lgt_close(b->rt);
  b->rt = NULL;
  b->owned = false;
  lgt_lua_library_close(&b->modules);
  free(b->at);
  b->at = NULL;
  return 0;
}

/* The lgt module: runs lgt.lua with a table that tells it where everything is. */
int luaopen_lgt(lua_State *L) {
  binding *b = find_binding(L);
  if (!b) {
    if (lgt_lua_open(L, NULL)) return luaL_error(L, "%s", lgt_message());
    b = find_binding(L);
  }
  if (!b->rt) {
    if (b->config && b->config->peers) lgt_lua_ranks_note(L, b->config->peers, "require \"lgt\"");
    if (lgt_open(b->config, &b->rt)) {
      char place[LUA_IDSIZE + 16];
      lgt_lua_where(L, place, sizeof place);
      return luaL_error(L, "%s: lgt cannot start: %s", place, lgt_message());
    }
    b->owned = true;
  }
  b->modules.config = b->rt->config;
  tell_lines(b->rt, true);
  lua_pushfstring(L, "%s/lgt.lua", b->at->runtime_lua);
  if (lgt_lua_library_load(L, &b->modules, lua_tostring(L, -1))) return lua_error(L);
  lua_createtable(L, 0, 6);
  lua_pushcfunction(L, count_entries);
  lua_setfield(L, -2, "entries");
  lua_pushlightuserdata(L, b); /* the registry keeps it */
  lua_newtable(L);
  lua_pushcclosure(L, line_number, 2);
  lua_setfield(L, -2, "line");
  lua_pushlightuserdata(L, b->rt);
  lua_setfield(L, -2, "runtime");
  lua_pushstring(L, b->at->library);
  lua_setfield(L, -2, "library");
  lua_createtable(L, 2, 0);
  for (int i = 0; i < 2; i++) {
    lua_pushstring(L, b->at->header[i]);
    lua_rawseti(L, -2, i + 1);
  }
  lua_setfield(L, -2, "headers");
  lua_createtable(L, 2, 0);
  lua_pushfstring(L, "@%s/", b->at->runtime_lua);
  lua_rawseti(L, -2, 1);
  lua_pushfstring(L, "@%s/", b->at->library_lua);
  lua_rawseti(L, -2, 2);
  lua_setfield(L, -2, "roots");
  lua_call(L, 1, 1);
  return 1;
}

static lgt_status enter_ranks(lua_State *L, binding *b) {
  char path[PATH_MAX];
  if (!join(path, b->at->runtime_lua, "lgt/ranks.lua"))
    return lgt_err(LGT_IO, "the path of lgt/ranks.lua is too long");
  int status = lgt_lua_library_load(L, &b->modules, path);
  return lgt_lua_ranks_install(L, b->config->peers, status, b->config->all_output);
}

lgt_status lgt_lua_open(lua_State *L, const lgt_config *config) {
  places *at = calloc(1, sizeof *at);
  if (!at) return lgt_err(LGT_NO_MEMORY, "out of memory for lgt in a lua_State");
  if (!find_paths(at)) {
    free(at);
    return lgt_err(LGT_IO,
                   "the Lua libraries of lgt were not found beside liblgt: is the installation complete?");
  }
  binding *b = lua_newuserdata(L, sizeof *b);
  *b = (binding){.config = config,
                 .at = at,
                 .modules = {.directory = {at->runtime_lua, at->library_lua}, .config = config}};
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, close_binding);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  lua_pushlightuserdata(L, (void *)&registry_key);
  lua_insert(L, -2);
  lua_rawset(L, LUA_REGISTRYINDEX);
  extend_path(L, at);
  lgt_lua_library_install(L, &b->modules);
  lua_getglobal(L, "package");
  lua_getfield(L, -1, "preload");
  lua_pushcfunction(L, luaopen_lgt);
  lua_setfield(L, -2, "lgt");
  lua_pop(L, 2);
  lgt_lua_mend_pairs(L);
  return config && config->peers ? enter_ranks(L, b) : LGT_OK;
}

/* ---- states ----------------------------------------------------------------------------------- */

lgt_status lgt_lua_attach(lua_State *L, lgt_runtime *rt) {
  if (!find_binding(L)) {
    lgt_status status = lgt_lua_open(L, rt->config);
    if (status) return status;
  }
  binding *b = find_binding(L);
  if (b->rt && b->rt != rt)
    return lgt_err(LGT_BAD_ARGUMENT, "the lua_State has a runtime already: attach before `require \"lgt\"`");
  b->rt = rt;
  return LGT_OK;
}

static int open_state(lua_State *L) {
  lgt_runtime *rt = lua_touserdata(L, 1);
  lua_gc(L, LUA_GCSTOP, 0);
  luaL_openlibs(L);
  lua_gc(L, LUA_GCRESTART, -1);
  if (lgt_lua_attach(L, rt)) return luaL_error(L, "%s", lgt_message());
  lgt_lua_tune(L);
  return 0;
}

lgt_status lgt_lua_new(lgt_runtime *rt, lua_State **out) {
  lua_State *L = luaL_newstate();
  if (!L) return lgt_err(LGT_NO_MEMORY, "out of memory for a lua_State");
  if (!lua_cpcall(L, open_state, rt)) {
    *out = L;
    return LGT_OK;
  }
  lgt_status status = lgt_err(LGT_SCRIPT, "%s", lua_tostring(L, -1));
  lua_close(L);
  return status;
}

lgt_runtime *const *lgt_lua_runtime(lua_State *L) {
  binding *b = find_binding(L);
  return b ? &b->rt : NULL;
}

lgt_status lgt_lua_finish(lua_State *L) {
  binding *b = find_binding(L);
  if (!b || !b->rt) return LGT_OK;
  lgt_front_of(b->rt)->line = lgt_line(b->rt, "the end of the program");
  return lgt_fence(b->rt);
}

/* A program of some hundred array operations has traces for each of them; at its usual limits (1000 traces,
 * 512 KB) LuaJIT throws them all away and begins again.  loopunroll, 15 as a rule, also limits the operations of
 * a loop's body that is compiled as a whole: an iteration of a solver has some dozens.  Longer bodies run
 * interpreted around compiled operations, which costs 60 to 250 ns each, as much as in one very long trace. */
void lgt_lua_tune(lua_State *L) {
  static const char *const parameters[] = {"maxtrace=8000", "sizemcode=128", "maxmcode=16384",
                                           "loopunroll=45"};
  int top = lua_gettop(L), count = (int)(sizeof parameters / sizeof *parameters);
  lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
  lua_getfield(L, -1, "jit.opt");
  if (lua_istable(L, -1)) {
    lua_getfield(L, -1, "start");
    for (int i = 0; i < count; i++) lua_pushstring(L, parameters[i]);
    lua_pcall(L, count, 0, 0); /* another LuaJIT may not know them all: slower, not wrong */
  }
  lua_settop(L, top);
}

/* ---- scripts and arrays ------------------------------------------------------------------------- */

static int traceback(lua_State *L) {
  const char *message = lua_tostring(L, 1);
  if (!message && luaL_callmeta(L, 1, "__tostring")) message = lua_tostring(L, -1);
  luaL_traceback(L, L, message ? message : "(error object is not a string)", 1);
  return 1;
}

/* Run what luaL_load... left on the stack. */
static lgt_status run(lua_State *L, int status) {
  if (!status) {
    lua_pushcfunction(L, traceback);
    lua_insert(L, -2);
    status = lua_pcall(L, 0, 0, -2);
    lua_remove(L, status ? -2 : -1);
  }
  if (!status) return LGT_OK;
  lgt_err(status == LUA_ERRMEM ? LGT_NO_MEMORY : LGT_SCRIPT, "%s", lua_tostring(L, -1));
  lua_pop(L, 1);
  return status == LUA_ERRMEM ? LGT_NO_MEMORY : LGT_SCRIPT;
}

lgt_status lgt_lua_run_file(lua_State *L, const char *path) { return run(L, luaL_loadfile(L, path)); }

lgt_status lgt_lua_run_text(lua_State *L, const char *text, const char *name) {
  lua_pushfstring(L, "=%s", name);
  int status = luaL_loadbuffer(L, text, strlen(text), lua_tostring(L, -1));
  lua_remove(L, -2);
  return run(L, status);
}

/* Pushes a field of the lgt module; false with an error message on the stack instead. */
static bool push_field(lua_State *L, const char *name) {
  lua_getglobal(L, "require");
  lua_pushliteral(L, "lgt");
  if (lua_pcall(L, 1, 1, 0)) return false;
  lua_getfield(L, -1, name);
  lua_remove(L, -2);
  return true;
}

lgt_status lgt_lua_push(lua_State *L, lgt_id array) {
  if (push_field(L, "wrap")) {
    lua_pushnumber(L, array);
    if (!lua_pcall(L, 1, 1, 0)) return LGT_OK;
  }
  lgt_err(LGT_SCRIPT, "%s", lua_tostring(L, -1));
  lua_pop(L, 1);
  return LGT_SCRIPT;
}

lgt_id lgt_lua_array(lua_State *L, int place) {
  lgt_id id = 0;
  lua_pushvalue(L, place);
  if (push_field(L, "id_of")) {
    lua_insert(L, -2);
    if (!lua_pcall(L, 1, 1, 0)) id = (lgt_id)lua_tonumber(L, -1);
    lua_pop(L, 1);
  } else {
    lua_pop(L, 2);
  }
  return id;
}

/* ---- memory that arrays share ------------------------------------------------------------------- */

void lgt_lua_unshare(void *count) {
  int *users = count;
  if (--*users == 0) free(users);
}

/* DLPack's DLManagedTensorVersioned, as in buffer.lua, as far as its deleter. */
typedef struct dlpack_versioned {
  uint32_t major, minor;
  void *context;
  void (*deleter)(struct dlpack_versioned *);
} dlpack_versioned;

void lgt_lua_delete_dlpack_versioned(void *managed) {
  dlpack_versioned *d = managed;
  if (d->deleter) d->deleter(d);
}

void lgt_lua_delete_shared(void *managed) {
  lgt_shared_free(*(lgt_shared **)((char *)managed + LGT_LUA_DLPACK_SHARED));
  lgt_memory_free(managed);
}

/* The beginning of DLPack's DLManagedTensor, as in buffer.lua. */
typedef struct dlpack {
  struct {
    void *data;
    int32_t device[2];
    int32_t ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t byte_offset;
  } tensor;
  void *context;
  void (*deleter)(struct dlpack *);
} dlpack;

void lgt_lua_delete_dlpack(void *managed) {
  dlpack *d = managed;
  if (d->deleter) d->deleter(d);
}
