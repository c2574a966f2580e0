-- array/io/output.lua - binary files that come into being whole: np.save, np.savez, a:tofile.
--
-- What is written goes to a fresh file beside the one that was named, which it replaces when all of it is there; if
-- that fails, on whatever rank, there is nothing of it.  Rank 0 makes the file and writes what is no array; of an array
-- every rank writes the tiles it owns, so no rank holds all of it.
--
-- What is no ordinary file (a pipe, /dev/stdout) is written from front to back by rank 0, some rows of an array at a
-- time.

local bytes = require "array.io.bytes"
local core = require "array.core"
local ffi = require "ffi"

local lgt, dtypes, raise = core.lgt, core.dtypes, core.raise
local C, rt, ranks = ffi.C, lgt.rt, lgt.ranks

ffi.cdef [[
  int lgt_lua_file_begin(const char *, char *, char *);
  int lgt_lua_file_join(const char *);
  int close(int);
  int unlink(const char *);
  int rename(const char *, const char *);
  int fdatasync(int);
  long pread(int, void *, size_t, long);
  long pwrite(int, const void *, size_t, long);
]]

local output = {}

local Output = {}
Output.__index = Output

local PATH_MAX = 4096
local BLOCK = 2 ^ 20
local EINTR = 4
local leads = not ranks or ranks.rank == 0

-- What f returns on rank 0, for all.
local function by_rank_0(what, f)
  if ranks then return ranks.shared(what, f)() end
  return f()
end

-- Why some rank cannot go on, on all ranks; nil: all can.
local function complaint(what, why)
  if ranks then return ranks.complaint(what, why) end
  return why
end

local function open(path)
  local fd, fresh, target = nil, ffi.new("char[?]", PATH_MAX), ffi.new("char[?]", PATH_MAX)
  local named, text, goal = by_rank_0("making a file", function()
    fd = lgt.C.lgt_lua_file_begin(path, fresh, target)
    if fd == -1 then return nil, bytes.why() end
    return ffi.string(fresh), fd, ffi.string(target)
  end)
  if not named then return nil, text end
  if text == -2 then return false end
  local why
  if not leads then
    fd = lgt.C.lgt_lua_file_join(named)
    if fd < 0 then why = bytes.why() end
  end
  why = complaint("opening a file", why)
  if why and leads then C.unlink(named) end
  if why and fd >= 0 then C.close(fd) end
  if why then return nil, why end
  return { fd = fd, fresh = named, target = goal, at = 0 }
end

-- Bytes that all ranks have; `at`: where, behind what is there.
---@param data string|ffi.cdata*
function Output:put(data, count, at)
  count = count or #data
  if not at then
    at = self.at
    self.at = at + count
  end
  if not leads or self.why then return end
  if self.stream then
    if tonumber(C.fwrite(data, 1, count, self.stream)) ~= count then self.why = bytes.why() end
    return
  end
  local p = ffi.cast("const uint8_t *", data)
  while count > 0 do
    local n = tonumber(C.pwrite(self.fd, p, count, at))
    if n >= 0 then
      p, at, count = p + n, at + n, count - n
    elseif ffi.errno() ~= EINTR then
      self.why = bytes.why()
      return
    end
  end
end

-- Some rows of an array after the other, copied out on every rank, so that none has all of it: for data, rows, count in
-- output.rows(a).  `data`: the elements, `count` of them, valid until the next ones, bit for bit if `raw`, else for Lua
-- to read.  Waits.
---@param a lgt_array
---@param step integer? as many rows; else those of some million bytes
---@param raw boolean?
function output.rows(a, step, raw)
  local layout, size = core.layout_of(a), dtypes.size[core.dtype_of(a)]
  local rows, first = core.shape_of(a)[1] or 1, 0
  step = step or math.max(1, math.floor(BLOCK / math.max(1, core.size_of(a) / math.max(rows, 1) * size)))
  return function()
    local n = math.min(step, rows - first)
    if n <= 0 then return nil end
    local part = a
    if n < rows then part = lgt.alias(a, lgt.slice(layout, 1, first, n, 1)) end
    first = first + n
    local data, count = (raw and core.copy_out or core.copy_out_numbers)(part)
    return data, n, count
  end
end

-- The elements of an array, in C order.  Waits.
---@param a lgt_array
function Output:array(a)
  local size = dtypes.size[core.dtype_of(a)]
  if self.stream then
    for data, _, count in output.rows(a, nil, true) do self:put(data, count * size) end
    return
  end
  lgt.flush()
  if lgt.C.lgt_array_write(rt, a.id, self.fd, self.at) < 0 then
    raise("%s: %s: %s", self.who, self.path, ffi.string(lgt.C.lgt_message()))
  end
  self.at = self.at + core.size_of(a) * size
end

-- What the file has from `from` on, in blocks: for pointer, count in ...
local function blocks(out, from, count)
  local buffer = ffi.new("uint8_t[?]", BLOCK)
  return function()
    if count <= 0 then return nil end
    local n = tonumber(C.pread(out.fd, buffer, math.min(count, BLOCK), from))
    if n <= 0 then error(n < 0 and bytes.why() or "it was cut short by somebody else", 0) end
    from, count = from + n, count - n
    return buffer, n
  end
end

-- Have rank 0 call f(bytes_of) when all ranks have written what they do so far.  bytes_of(from, count) goes through the
-- bytes of the file from `from` on: for pointer, count in ....
function Output:afterwards(f)
  if not leads then C.fdatasync(self.fd) end -- rank 0 may be on another machine
  complaint("writing a file")
  if not leads or self.why then return end
  local ok, why = pcall(f, function(from, count) return blocks(self, from, count) end)
  if not ok then self.why = why end
end

-- Nothing shall be left of it.
local function drop(out)
  if out.stream then return bytes.close(out.stream) end
  C.close(out.fd)
  if leads then C.unlink(out.fresh) end
end

-- What is on no disk yet may have no room there, and would be missing after a failure of the machine, though it had
-- replaced what was there before.
local function finish(out)
  if not out.stream and not out.why and C.fdatasync(out.fd) ~= 0 then out.why = bytes.why() end
  local ended
  if out.stream then ended = bytes.close(out.stream) else ended = C.close(out.fd) == 0 end
  out.why = complaint("closing a file", out.why or not ended and bytes.why() or nil)
  if out.stream then return out.why end
  return by_rank_0("naming a file", function()
    if not out.why and C.rename(out.fresh, out.target) == 0 then return nil end
    local why = out.why or bytes.why()
    C.unlink(out.fresh)
    return why
  end)
end

-- Make a file of what fill(out) puts there.  Waits.
---@param path string
---@param who string
---@param fill fun(out: table)
function output.write(path, who, fill)
  if type(path) ~= "string" then raise("%s: a file name was expected, not %s", who, (core.describe(path))) end
  local out, why = open(path)
  if out == nil then raise("%s: %s: %s", who, path, why) end
  out = setmetatable(out or { stream = bytes.open(path, "wb", who), at = 0 }, Output)
  out.path, out.who = path, who
  local ok, problem = pcall(fill, out)
  if not ok then
    drop(out)
    error(problem, 0)
  end
  why = finish(out)
  if why then raise("%s: %s: the file could not be written completely: %s", who, path, why) end
end

-- A second file beside one that is being made, for what is only needed meanwhile: fill(scratch) as above.
---@param out table
---@param fill fun(scratch: table)
function output.scratch(out, fill)
  local scratch, why = open(out.path)
  if not scratch then raise("%s: %s: %s", out.who, out.path, why or "is no ordinary file") end
  scratch = setmetatable(scratch, Output)
  scratch.path, scratch.who = out.path, out.who
  local ok, problem = pcall(fill, scratch)
  drop(scratch)
  if not ok then error(problem, 0) end
  out.why = out.why or scratch.why
end

return output
