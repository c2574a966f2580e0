/* lua_library.c - lgt's own Lua modules, which are compiled once for all processes.  See lua_library.h. */
#include "lua_library.h"

#include <lauxlib.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

/* Bytes that grow. */
typedef struct text {
  char *at; /* owned */
  size_t size, room;
} text;

static bool append(text *t, const void *bytes, size_t size) {
  if (t->size + size > t->room) {
    size_t room = 2 * t->room > t->size + size ? 2 * t->room : t->size + size;
    char *at = lgt_mem_realloc(t->at, room);
    if (!at) return false;
    t->at = at;
    t->room = room;
  }
  memcpy(t->at + t->size, bytes, size);
  t->size += size;
  return true;
}

static bool read_all(const char *path, text *out) {
  char part[16384];
  FILE *file = fopen(path, "rb");
  bool good = file != NULL;
  while (good) {
    size_t n = fread(part, 1, sizeof part, file);
    if (!n) break;
    good = append(out, part, n);
  }
  if (file) {
    good = good && !ferror(file);
    fclose(file);
  }
  return good;
}

/* ---- what is kept ----------------------------------------------------------------------------------- */

static const lgt_disk_cache *cache_of(lgt_lua_library *library) {
  const lgt_config *config = library->config;
  if (!config || !config->cache) return NULL;
  if (!library->opened) library->opened = !lgt_disk_cache_open(&library->cache, config->cache_dir, ".luac");
  return library->opened ? &library->cache : NULL;
}

static void key_of(const lgt_lua_library *library, const char *path, const text *source, uint64_t key[2]) {
  uint64_t all[6];
  memcpy(all, library->version, sizeof library->version);
  lgt_disk_cache_hash(all + 2, path, strlen(path)); /* bytecode names it, and errors do */
  lgt_disk_cache_hash(all + 4, source->at, source->size);
  lgt_disk_cache_hash(key, all, sizeof all);
}

static int write_part(lua_State *L, const void *bytes, size_t size, void *to) {
  (void)L;
  return !append(to, bytes, size);
}

static void keep(lua_State *L, const lgt_disk_cache *cache, const uint64_t key[2]) {
  text code = {0};
  if (!lua_dump(L, write_part, &code)) lgt_disk_cache_write(cache, key, code.at, code.size);
  lgt_mem_free(code.at);
}

/* The function of a source, from bytecode where there is some.  `name` is the chunk's: the path behind a '@'. */
static int load_source(lua_State *L, lgt_lua_library *library, const char *name, const text *source) {
  const lgt_disk_cache *cache = cache_of(library);
  uint64_t key[2];
  size_t size;
  if (cache) key_of(library, name + 1, source, key);
  void *kept = cache ? lgt_disk_cache_read(cache, key, &size) : NULL;
  int status = kept ? luaL_loadbuffer(L, kept, size, name) : LUA_ERRSYNTAX;
  lgt_mem_free(kept);
  if (!status) return 0;
  if (kept) lua_pop(L, 1); /* LuaJIT has its reasons */
  status = luaL_loadbuffer(L, source->at, source->size, name);
  if (!status && cache) keep(L, cache, key);
  return status;
}

int lgt_lua_library_load(lua_State *L, lgt_lua_library *library, const char *path) {
  text source = {0};
  if (!read_all(path, &source)) {
    lgt_mem_free(source.at);
    return luaL_loadfile(L, path); /* it says what is wrong with the file */
  }
  const char *name = lua_pushfstring(L, "@%s", path);
  int status = load_source(L, library, name, &source);
  lua_remove(L, -2);
  lgt_mem_free(source.at);
  return status;
}

/* ---- require ------------------------------------------------------------------------------------------ */

static bool is_inside(const lgt_lua_library *library, const char *path) {
  bool inside = false;
  for (int d = 0; d < 2 && library->directory[d]; d++) {
    size_t length = strlen(library->directory[d]);
    inside |= !strncmp(path, library->directory[d], length) && path[length] == '/';
  }
  return inside;
}

/* The loader of Lua files, in the place of LuaJIT's, which does the same but for the library.  Upvalues: the library, the
 * package table and its `searchpath`. */
static int load_module(lua_State *L) {
  lgt_lua_library *library = lua_touserdata(L, lua_upvalueindex(1));
  const char *name = luaL_checkstring(L, 1);
  lua_pushvalue(L, lua_upvalueindex(3));
  lua_pushvalue(L, 1);
  lua_getfield(L, lua_upvalueindex(2), "path");
  if (!lua_isstring(L, -1)) return luaL_error(L, LUA_QL("package.path") " must be a string");
  lua_call(L, 2, 2);
  const char *path = lua_tostring(L, -2);
  if (!path) return 1; /* where it was looked for */
  bool ours = is_inside(library, path);
  if (!(ours ? lgt_lua_library_load(L, library, path) : luaL_loadfile(L, path))) return 1;
  return luaL_error(L, "error loading module " LUA_QS " from file " LUA_QS ":\n\t%s", name, path,
                    lua_tostring(L, -1));
}

static void note_version(lua_State *L, lgt_lua_library *library) {
  size_t length = 0;
  lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
  lua_getfield(L, -1, "jit");
  if (lua_istable(L, -1)) lua_getfield(L, -1, "version");
  const char *version = lua_tolstring(L, -1, &length);
  lgt_disk_cache_hash(library->version, version ? version : "", length);
}

void lgt_lua_library_install(lua_State *L, lgt_lua_library *library) {
  int top = lua_gettop(L);
  note_version(L, library);
  lua_getglobal(L, "package");
  int package = lua_gettop(L);
  lua_getfield(L, package, "loaders");
  if (lua_istable(L, -1)) {
    lua_pushlightuserdata(L, library);
    lua_pushvalue(L, package);
    lua_getfield(L, package, "searchpath");
    lua_pushcclosure(L, load_module, 3);
    lua_rawseti(L, -2, 2);
  }
  lua_settop(L, top);
}

void lgt_lua_library_close(lgt_lua_library *library) {
  if (library->opened) lgt_disk_cache_close(&library->cache);
  *library = (lgt_lua_library){.opened = false};
}
