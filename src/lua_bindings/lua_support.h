/* lua_support.h - functions of liblgt that its own Lua libraries call through the FFI, and nobody else. */
#ifndef LGT_LUA_SUPPORT_H
#define LGT_LUA_SUPPORT_H

#include "lua_lgt.h"

#pragma GCC visibility push(default)

/* ---- memory that arrays share (lib/array/io/buffer.lua) --------------------------------------------- */

/* Release callbacks for lgt_array_attach that never enter Lua.  `count` (from calloc) counts the users of some memory:
 * the last one frees it.  A DLManagedTensor, or a DLManagedTensorVersioned: its deleter is called. */
void lgt_lua_unshare(void *count);
void lgt_lua_delete_dlpack(void *managed);
void lgt_lua_delete_dlpack_versioned(void *managed);
/* The deleter of a tensor of lgt's in memory of a GPU: so many bytes behind its beginning is the address of the lgt_shared. */
enum { LGT_LUA_DLPACK_SHARED = 248 };
void lgt_lua_delete_shared(void *managed);

/* ---- files that come into being whole (lib/array/io/output.lua) ---------------------------------------- */

/* A fresh file, beside the one that `path` means, which it is to replace: its descriptor, to read and write, its name, and
 * that of the other one; both have room for PATH_MAX bytes.  -1: errno says why not; -2: `path` is no ordinary file. */
int lgt_lua_file_begin(const char *path, char *fresh, char *target);
/* The descriptor that another rank has of it; -1: errno. */
int lgt_lua_file_join(const char *fresh);

/* ---- work apart (lib/array/io/apart.lua) ----------------------------------------------------------------- */

/* Libraries that read what others have written may crash on it, corrupt their heap, or go in circles.  They are called in
 * processes apart: children of a helper program, which loads a Lua script once.  On the thread that uses the runtime. */
typedef struct lgt_apart lgt_apart;
typedef struct lgt_apart_child lgt_apart_child;
enum { LGT_APART_GONE = 1, LGT_APART_INTERRUPTED };

/* Begin the helper; NULL: errno. */
lgt_apart *lgt_lua_apart_begin(const char *script);
/* It ends after its last child. */
void lgt_lua_apart_end(lgt_apart *apart);
/* A new child, which may allocate as much memory as the runtime's arrays; NULL: errno. */
lgt_apart_child *lgt_lua_apart_fork(lgt_runtime *rt, lgt_apart *apart);
/* Have a child answer a request, in that much processor time at most.  The reply is freed by the caller.  Not 0: there is
 * none, because the child is gone, or the wait was interrupted (lgt_interrupt); then all that is left is to close it. */
int lgt_lua_apart_call(lgt_runtime *rt, lgt_apart_child *child, const char *request, size_t length, int seconds, char **reply,
                       size_t *reply_length);
/* What the last request of the child came to: Ctrl-C may raise an error before the caller has seen it. */
int lgt_lua_apart_failed(const lgt_apart_child *child);
/* Memory that the child shares, with room for so many bytes, until the next call; NULL: errno. */
void *lgt_lua_apart_window(lgt_apart_child *child, size_t bytes);
/* Free it.  The process is killed, unless `gently`: it may close its files first.  How it has ended, as waitpid says. */
int lgt_lua_apart_close(lgt_apart_child *child, int gently);

#pragma GCC visibility pop

#endif
