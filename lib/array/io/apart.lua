-- array/io/apart.lua - libraries that may crash on what others have written are called in processes apart.
--
-- A process is a child of the program lgt-apart (src/lua_bindings/apart.h), which has loaded a script: the part of a
-- library of ours that calls the other one.  It answers requests, lists of words, with lists of words; large data lie
-- in a window of memory that both see.  When a child crashes, or comes to no end, or Ctrl-C is pressed, the request has
-- a message instead of a reply, and the session goes on.

local core = require "array.core"
local ffi = require "ffi"
local words = require "array.io.words"

local C, rt = core.lgt.C, core.lgt.rt

ffi.cdef [[
  typedef struct lgt_apart lgt_apart;
  typedef struct lgt_apart_child lgt_apart_child;
  lgt_apart *lgt_lua_apart_begin(const char *);
  void lgt_lua_apart_end(lgt_apart *);
  lgt_apart_child *lgt_lua_apart_fork(lgt_runtime *, lgt_apart *);
  int lgt_lua_apart_call(lgt_runtime *, lgt_apart_child *, const char *, size_t, int, char **, size_t *);
  int lgt_lua_apart_failed(const lgt_apart_child *);
  void *lgt_lua_apart_window(lgt_apart_child *, size_t);
  int lgt_lua_apart_close(lgt_apart_child *, int);
  char *strerror(int);
]]

local apart = {}

local helpers = {} -- by script
local folder = debug.getinfo(1, "S").source:match("^@(.*/)") or "./"

local function why() return ffi.string(ffi.C.strerror(ffi.errno())) end

local function begin(script)
  local helper = C.lgt_lua_apart_begin(folder .. script)
  if helper == nil then return nil end
  helpers[script] = ffi.gc(helper, C.lgt_lua_apart_end)
  return helper
end

-- A new process that answers by a script of this folder.  `gently`: it may do what is left to be done when nobody holds
-- it any more, as closing a file that is written; else it is just ended.
---@param script string
---@param gently boolean
---@return table? child, string? why
function apart.child(script, gently)
  local helper = helpers[script] or begin(script)
  local child = helper and C.lgt_lua_apart_fork(rt, helper)
  if helper and child == nil then -- somebody has killed it
    helper = begin(script)
    child = helper and C.lgt_lua_apart_fork(rt, helper)
  end
  if not helper or child == nil then return nil, "the program lgt-apart cannot be started: " .. why() end
  local grace = gently and 1 or 0
  return { process = ffi.gc(child, function(process) C.lgt_lua_apart_close(process, grace) end) }
end

-- End it; how it has ended, as waitpid says.
function apart.close(child, gently)
  local process = child.process
  child.process = nil
  return C.lgt_lua_apart_close(ffi.gc(process, nil), gently and 1 or 0)
end

-- Whether it can be asked: when Ctrl-C ends a request, an error may be raised before ask has closed the child.
function apart.lives(child) return child.process and C.lgt_lua_apart_failed(child.process) == 0 end

local SIGKILL, SIGTERM, SIGXCPU, INTERRUPTED = 9, 15, 24, 2

-- How a process has ended that should not have.
local function epitaph(status, seconds)
  local number = status % 128
  if status < 0 or number == SIGKILL or number == SIGTERM then return "k" end
  if number == SIGXCPU then return ("lcame to no end in %.0f s of processor time"):format(seconds) end
  if number > 0 then return ("lfailed on it (signal %d)"):format(number) end
  return ("lfailed on it (status %d)"):format(math.floor(status / 256))
end

local text, length = ffi.new("char *[1]"), ffi.new("size_t[1]")

-- What a child says to a request, as a letter and a text: "o" and the packed reply; "e" and the message of an error;
-- "l" and how it was lost, "k" when it was killed, "i" when the user did not want to wait; then the child is closed.
---@param request any[]
---@param seconds number processor time that it may take
---@return string
function apart.ask(child, request, seconds)
  local packed = words.pack(request)
  local failed = C.lgt_lua_apart_call(rt, child.process, packed, #packed, math.ceil(seconds), text, length)
  if failed == 0 then
    local reply = ffi.string(text[0], length[0])
    ffi.C.free(text[0])
    return reply
  end
  local status = apart.close(child)
  if failed == INTERRUPTED then return "i" end
  return epitaph(status, seconds)
end

-- Memory of so many bytes that a child sees, too, until the next call; nil and why not.
function apart.window(child, bytes)
  local window = C.lgt_lua_apart_window(child.process, bytes)
  if window == nil then return nil, ("%.0f bytes of shared memory: %s"):format(bytes, why()) end
  return ffi.cast("uint8_t *", window)
end

return apart
