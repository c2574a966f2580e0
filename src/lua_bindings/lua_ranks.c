/* lua_ranks.c - see lua_ranks.h.
 *
 * A *shared* function runs on rank 0 only; its results, or its error, are broadcast.  Calling one is an operation of the
 * stream, so a rank that calls it alone is found out.  Values travel as: count of values or -1 for an error, then for each
 * a letter and its bytes.
 */
#include "lua_ranks.h"

#include <lauxlib.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "lua_lgt.h"
#include "model/body.h"
#include "base/mem.h"
#include "ranks.h"

enum { INLINE = 112 };

/* The first message; longer values come in a second one. */
typedef struct head {
  int64_t bytes;    /* of the packet */
  uint64_t history; /* of the sender, to notice at once that another has done something else */
  char data[INLINE];
} head;

typedef struct packet {
  char *data; /* owned */
  int bytes, room;
  bool complete; /* false: out of memory */
} packet;

static uint64_t turn; /* tags: one run a process */

static lgt_peers *peers_of(lua_State *L) { return lua_touserdata(L, lua_upvalueindex(1)); }

void lgt_lua_ranks_note(lua_State *L, lgt_peers *peers, const char *name) {
  char where[160];
  uint64_t token = 14695981039346656037u;
  lgt_lua_where(L, where, sizeof where);
  for (const char *c = name; *c; c++) token = (token ^ (unsigned char)*c) * 1099511628211u;
  for (const char *c = where; *c; c++) token = (token ^ (unsigned char)*c) * 1099511628211u;
  peers->note(peers,
              &(lgt_operation){
                  .token = token, .line = lgt_ranks_line(peers, where), .what = peers->name(peers, name)});
}

/* ---- values as bytes ------------------------------------------------------------------------------------ */

static void append(packet *p, const void *data, size_t bytes) {
  p->complete = p->complete && bytes < INT32_MAX - (size_t)p->bytes &&
                lgt_mem_grow((void **)&p->data, &p->room, p->bytes + (int)bytes, 1);
  if (!p->complete) return;
  memcpy(p->data + p->bytes, data, bytes);
  p->bytes += (int)bytes;
}

/* False if the value cannot travel. */
static bool append_value(lua_State *L, packet *p, int place) {
  switch (lua_type(L, place)) {
    case LUA_TNIL:
      append(p, "-", 1);
      return true;
    case LUA_TBOOLEAN:
      append(p, lua_toboolean(L, place) ? "t" : "f", 1);
      return true;
    case LUA_TNUMBER: {
      lua_Number x = lua_tonumber(L, place);
      append(p, "n", 1);
      append(p, &x, sizeof x);
      return true;
    }
    case LUA_TSTRING: {
      size_t length;
      const char *text = lua_tolstring(L, place, &length);
      uint64_t n = length;
      append(p, "s", 1);
      append(p, &n, sizeof n);
      append(p, text, length);
      return true;
    }
  }
  return false;
}

/* The values from `base` to the top, or the error on the top. */
static void pack(lua_State *L, packet *p, int base, int status) {
  int32_t count = lua_gettop(L) - base + 1;
  *p = (packet){.complete = true};
  append(p, &count, sizeof count);
  for (int i = base; i <= lua_gettop(L) && !status; i++)
    if (!append_value(L, p, i)) {
      lua_pushfstring(L, "a %s cannot be sent to other ranks", luaL_typename(L, i));
      status = LUA_ERRRUN;
    }
  if (!status) return;
  const char *message = lua_tostring(L, -1);
  p->bytes = 0;
  count = -1;
  append(p, &count, sizeof count);
  lua_pushstring(L, message ? message : "(error object is not a string)");
  append_value(L, p, lua_gettop(L));
}

static const char *push_value(lua_State *L, const char *at) {
  lua_Number x;
  uint64_t length;
  switch (*at++) {
    case 'n':
      memcpy(&x, at, sizeof x);
      lua_pushnumber(L, x);
      return at + sizeof x;
    case 's':
      memcpy(&length, at, sizeof length);
      lua_pushlstring(L, at + sizeof length, length);
      return at + sizeof length + length;
    case 't':
    case 'f':
      lua_pushboolean(L, at[-1] == 't');
      return at;
    default:
      lua_pushnil(L);
      return at;
  }
}

/* ---- messages --------------------------------------------------------------------------------------------- */

typedef struct awaited {
  lgt_peers *peers;
  lgt_pending *pending;
  bool intact;
} awaited;

static bool is_over(void *context) {
  awaited *a = context;
  lgt_peers *peers = a->peers;
  do {
    if (peers->done(peers, a->pending, &a->intact)) return true;
  } while (peers->attend && peers->attend(peers->attend_context));
  return false;
}

static void finish(lgt_peers *peers, lgt_pending *pending, const char *what) {
  awaited a = {peers, pending, false};
  if (!pending) peers->abort(peers, lgt_message());
  peers->until(peers, is_over, &a, what);
  if (!a.intact) peers->abort(peers, "a message between ranks of the same program has another length");
}

static uint64_t next_tag(void) { return LGT_PEERS_TAGS + (turn++ & (LGT_PEERS_TAGS / 2 - 1)); }

/* The packet of `root` becomes everybody's. */
static void broadcast(lgt_peers *peers, int root, packet *p, const char *what) {
  lgt_net *net = lgt_net_of(peers);
  head h = {.bytes = p->bytes, .history = net ? lgt_net_history(net) : 0};
  uint64_t tag = next_tag(), rest = next_tag();
  if (peers->rank == root && p->bytes <= INLINE) memcpy(h.data, p->data, (size_t)p->bytes);
  finish(peers, peers->broadcast(peers, tag, root, &h, sizeof h, true), what);
  if (net && h.history != lgt_net_history(net)) lgt_net_disagree(net, what);
  if (peers->rank != root) {
    if (!lgt_mem_grow((void **)&p->data, &p->room, (int)h.bytes, 1)) peers->abort(peers, "out of memory");
    p->bytes = (int)h.bytes;
    if (h.bytes <= INLINE) memcpy(p->data, h.data, (size_t)h.bytes);
  }
  if (h.bytes > INLINE)
    finish(peers, peers->broadcast(peers, rest, root, p->data, (size_t)h.bytes, true), what);
}

/* ---- functions of Lua --------------------------------------------------------------------------------------- */

/* The message of an error without the line of lgt/ranks.lua that it came through. */
static const char *without_place(const char *message) {
  static const char file[] = "lgt/ranks.lua:";
  const char *at = strstr(message, file);
  if (!at) return message;
  at += sizeof file - 1;
  at += strspn(at, "0123456789");
  return strncmp(at, ": ", 2) ? message : at + 2;
}

/* An error at the script's line, unless its message names that already. */
static int raise(lua_State *L, const char *message) {
  char where[160];
  lgt_lua_where(L, where, sizeof where);
  message = without_place(message);
  if (strncmp(message, where, strlen(where))) lua_pushfstring(L, "%s: %s", where, message);
  else lua_pushstring(L, message);
  return lua_error(L);
}

static bool has_left(lgt_peers *peers) {
  const lgt_net *net = lgt_net_of(peers);
  return net && net->left;
}

/* share(name, f, ...) -> what f(...) returns on rank 0, or its error. */
static int share(lua_State *L) {
  lgt_peers *peers = peers_of(L);
  const char *name = luaL_checkstring(L, 1);
  char what[80];
  packet p = {0};
  if (has_left(peers)) { /* finalizers, on this rank's way out */
    lua_call(L, lua_gettop(L) - 2, LUA_MULTRET);
    return lua_gettop(L) - 1;
  }
  if (peers->checkpoint(peers)) return raise(L, "interrupted!");
  lgt_lua_ranks_note(L, peers, name);
  if (peers->rank == 0) {
    int status = lua_pcall(L, lua_gettop(L) - 2, LUA_MULTRET, 0);
    pack(L, &p, 2, status);
    if (!p.complete) peers->abort(peers, "out of memory");
  }
  snprintf(what, sizeof what, "for what %s gives on rank 0", name);
  broadcast(peers, 0, &p, what);
  lua_settop(L, 1);
  int32_t count;
  memcpy(&count, p.data, sizeof count);
  const char *at = p.data + sizeof count;
  if (count >= 0 && !lua_checkstack(L, count + 4)) peers->abort(peers, "too many values");
  for (int i = 0; i < (count < 0 ? 1 : count); i++) at = push_value(L, at);
  lgt_mem_free(p.data);
  if (count >= 0) return count;
  return raise(L, lua_tostring(L, -1));
}

/* meet(name): returns when all ranks have come here. */
static int meet(lua_State *L) {
  lgt_peers *peers = peers_of(L);
  const char *name = luaL_checkstring(L, 1);
  char what[80];
  int64_t one = 1;
  if (has_left(peers)) return 0;
  if (peers->checkpoint(peers)) return raise(L, "interrupted!");
  lgt_lua_ranks_note(L, peers, name);
  snprintf(what, sizeof what, "for all ranks to come to %s", name);
  finish(peers, peers->allreduce(peers, next_tag(), lgt_redop("sum"), LGT_INT64, &one, NULL, 1, true), what);
  return 0;
}

/* least(name, number) -> the least of all ranks' whole numbers. */
static int least(lua_State *L) {
  lgt_peers *peers = peers_of(L);
  const char *name = luaL_checkstring(L, 1);
  char what[80];
  int64_t value = (int64_t)luaL_checknumber(L, 2);
  if (!has_left(peers)) {
    if (peers->checkpoint(peers)) return raise(L, "interrupted!");
    lgt_lua_ranks_note(L, peers, name);
    snprintf(what, sizeof what, "for all ranks to come to %s", name);
    finish(peers, peers->allreduce(peers, next_tag(), lgt_redop("min"), LGT_INT64, &value, NULL, 1, true),
           what);
  }
  lua_pushnumber(L, (lua_Number)value);
  return 1;
}

/* complaint(name, text or nil) -> the text of the first rank that has one, and its number; nil if none has. */
static int complaint(lua_State *L) {
  lgt_peers *peers = peers_of(L);
  const char *name = luaL_checkstring(L, 1);
  bool mine = !lua_isnoneornil(L, 2);
  char what[80];
  int64_t first = mine ? peers->rank : INT64_MAX;
  packet p = {.complete = true};
  lua_settop(L, 2);
  if (!has_left(peers)) {
    lgt_lua_ranks_note(L, peers, name);
    snprintf(what, sizeof what, "for all ranks to come to %s", name);
    finish(peers, peers->allreduce(peers, next_tag(), lgt_redop("min"), LGT_INT64, &first, NULL, 1, true),
           what);
    if (first == INT64_MAX) return 0;
    if (first == peers->rank) append_value(L, &p, 2);
    if (!p.complete) peers->abort(peers, "out of memory");
    broadcast(peers, (int)first, &p, what);
    push_value(L, p.data);
    lgt_mem_free(p.data);
  }
  if (first == INT64_MAX) return 0;
  lua_pushinteger(L, (lua_Integer)first);
  return 2;
}

/* gather(name, text) -> the texts of all ranks, of one length each, behind one another. */
static int gather(lua_State *L) {
  lgt_peers *peers = peers_of(L);
  const char *name = luaL_checkstring(L, 1);
  size_t length;
  const char *mine = luaL_checklstring(L, 2, &length);
  char what[80];
  lgt_lua_ranks_note(L, peers, name);
  char *all = lgt_mem_alloc(length * (size_t)peers->size + 1);
  int64_t *offset = lgt_mem_alloc(((size_t)peers->size + 1) * sizeof *offset);
  if (!all || !offset) peers->abort(peers, "out of memory");
  for (int r = 0; r <= peers->size; r++) offset[r] = r * (int64_t)length;
  memcpy(all + offset[peers->rank], mine, length);
  snprintf(what, sizeof what, "for all ranks to come to %s", name);
  finish(peers, peers->allgather(peers, next_tag(), all, offset, true), what);
  lua_pushlstring(L, all, length * (size_t)peers->size);
  lgt_mem_free(all);
  lgt_mem_free(offset);
  return 1;
}

/* checkpoint() -> whether Ctrl-C stops all ranks here (peers.h). */
static int checkpoint(lua_State *L) {
  lgt_peers *peers = peers_of(L);
  lua_pushboolean(L, !has_left(peers) && peers->checkpoint(peers));
  return 1;
}

/* leave(status): before the process ends. */
static int leave(lua_State *L) {
  char where[160];
  lgt_lua_where(L, where, sizeof where);
  lgt_ranks_leave(peers_of(L), where, (int)luaL_optinteger(L, 1, 0));
  return 0;
}

/* ---- memory of Lua's ------------------------------------------------------------------------------------------ */

static struct {
  lua_Alloc alloc;
  void *context;
  lgt_peers *peers;
} watched; /* the allocator of the one state that several ranks run */

/* What Lua has no memory for is an error on this rank, and the script may catch it.  If it was only this one, the next
 * operation says so. */
static void *watch_alloc(void *context, void *old, size_t old_size, size_t size) {
  (void)context;
  void *p = watched.alloc(watched.context, old, old_size, size);
  if (!p && size) {
    lgt_net *net = lgt_net_of(watched.peers);
    if (net) net->mishap = "Lua ran out of memory, and the script caught it";
  }
  return p;
}

lgt_status lgt_lua_ranks_install(lua_State *L, lgt_peers *peers, int status, bool all_output) {
  static const luaL_Reg functions[] = {{"share", share},   {"meet", meet},
                                       {"least", least},   {"complaint", complaint},
                                       {"gather", gather}, {"checkpoint", checkpoint},
                                       {"leave", leave},   {NULL, NULL}};
  if (!status) {
    lua_newtable(L);
    for (const luaL_Reg *f = functions; f->name; f++) {
      lua_pushlightuserdata(L, peers);
      lua_pushcclosure(L, f->func, 1);
      lua_setfield(L, -2, f->name);
    }
    lua_pushinteger(L, peers->rank);
    lua_setfield(L, -2, "rank");
    lua_pushinteger(L, peers->size);
    lua_setfield(L, -2, "size");
    lua_pushboolean(L, peers->rank == 0 || all_output);
    lua_setfield(L, -2, "speaks");
    status = lua_pcall(L, 1, 0, 0);
  }
  if (!status) {
    watched.peers = peers;
    watched.alloc = lua_getallocf(L, &watched.context);
    lua_setallocf(L, watch_alloc, NULL);
    return LGT_OK;
  }
  lgt_err(LGT_SCRIPT, "%s", lua_tostring(L, -1));
  lua_pop(L, 1);
  return LGT_SCRIPT;
}
