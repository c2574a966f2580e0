-- What random programs call beside the library: their inputs, functions made with np.fuse and lgt.task
-- (machine.py has the same ones as CALLS), loops on the host, and errors that must come.
local ffi = require "ffi"
local lgt = require "lgt"
local np = require "array"
local core = require "array.core"
local sp = require "sparse"

-- An array of a formula in integers: ((i*a + b) % m - m/2) / q.
local function input(dtype, shape, a, b, m, q)
  local number = lgt.dtypes.parse(dtype)
  local count = 1
  for d = 1, #shape do count = count * shape[d] end
  local memory = core.host_memory(number, count)
  local half = dtype:find("^uint") and 0 or math.floor(m / 2)
  for i = 0, count - 1 do
    local k = (i * a + b) % m
    if dtype == "bool" then
      memory[i] = k * 2 < m
    elseif dtype == "float16" then
      memory[i] = lgt.dtypes.number_to_half((k - half) / q)
    elseif dtype:find("^float") then
      memory[i] = (k - half) / q
    elseif dtype:find("^complex") then
      memory[i] = ffi.new("complex", (k - half) / q, (k * 7 % m - half) / q)
    else
      memory[i] = k - half
    end
  end
  return core.adopt(number, shape, memory)
end

local calls = {
  damp = np.fuse(function(x, y) return x / (1 + np.abs(y)) end),
  bump = np.fuse(function(x, y) return np.where(np.less(x, y), x * x, y - x) end),
}

local lerp = lgt.task {
  name = "lerp", args = { "in", "in", "out" }, params = 1,
  generator = function(_, x, y, t) return x + t * (y - x) end,
}
function calls.lerp(x, y)
  local result = np.empty_like(x)
  lerp(x, y, result, 0.25)
  return result
end

local relax = lgt.task {
  name = "relax", args = { "inout", "in" },
  generator = function(_, x, y) return x * 0.5 + y end,
}
function calls.relax(x, y)
  local result = x:copy()
  relax(result, y)
  return result
end

local extrema = lgt.task {
  name = "extrema", args = { "in", "fresh max", "fresh min" },
  generator = function(_, x) return x, x end,
}
function calls.spread(x)
  local most, least = np.empty({}, { dtype = x.dtype }), np.empty({}, { dtype = x.dtype })
  extrema(x, most, least)
  return most - least
end

-- Three entries a row, each in a column of its own or not, in an order that machine.py adds them in, too.
local bands = {}
function calls.band(x)
  local n, dtype = x.size, x.dtype
  local key = dtype .. n
  if not bands[key] then
    local i = np.arange(n)
    local cols = np.reshape(np.transpose(np.stack {(3 * i + 1) % n, i, n - 1 - i}), 3 * n)
    local vals = np.reshape(np.broadcast_to(np.array {dtype == "int64" and 3 or 0.5, 2, -1}, {n, 3}), 3 * n)
    local starts = 3 * np.arange(n + 1)
    bands[key] = sp.csr_matrix({vals:astype(dtype), cols:astype("int64"), starts}, {shape = {n, n}, base = 0})
  end
  return bands[key]:dot(x)
end

-- A GPU's NaN has all bits of a mantissa; negated by Lua it would be LuaJIT's nil, so that it stays as it is.
function calls.negate(x)
  x:host("rw", function(p)
    for i = 0, x.size - 1 do
      if p[i] == p[i] then p[i] = -p[i] end
    end
  end)
end

function calls.fails(f)
  if pcall(f) then error("this should have been refused", 2) end
end

-- A trace that the program names.  That it had other launches than before is no news.
local function say(file, text, ...)
  if not tostring(text):find("^lgt: ") then return file:write(text, ...) end
end
function calls.named(id, f)
  local stderr = io.stderr
  rawset(io, "stderr", { write = function(_, ...) return say(stderr, ...) end })
  local ok, message = pcall(lgt.trace, id, f)
  rawset(io, "stderr", stderr)
  if not ok then error(message, 0) end
end

-- Coroutines take turns until both have ended.
function calls.both(f, g)
  local waiting = {coroutine.create(f), coroutine.create(g)}
  while waiting[1] do
    local still = {}
    for _, c in ipairs(waiting) do
      local ok, message = coroutine.resume(c)
      if not ok then error(message, 0) end
      if coroutine.status(c) ~= "dead" then still[#still + 1] = c end
    end
    waiting = still
  end
end

-- A function that keeps an array in the table of this number, of `room` arrays at most, and returns the oldest there.
function calls.rings()
  local rings = {}
  return function(number, room, x)
    local ring = rings[number] or {}
    rings[number] = ring
    ring[#ring + 1] = x
    if #ring > room then table.remove(ring, 1) end
    return ring[1]
  end
end

-- Positions in x's first dimension, of which the last is outside and tells who it was.
function calls.outside(x, id)
  local where = np.arange(x.shape[1]) + 1
  where[-1] = 1000000 + id
  return where
end
calls.singular = np.zeros(2, 2)

-- A task needs more memory than any machine has: it spoils x, which can be used again when it is overwritten.  The huge
-- array is written twice and held: one that a recipe computes would not be stored for want of memory.
function calls.exhaust(x)
  local huge = np.empty(2 ^ 43)
  huge:fill(1)
  huge[2] = 3
  x["..."] = huge[1]
  calls.fails(function() return x:totable() end)
  calls.fails(function() return huge:item(1) end)
  x:fill(2)
end

return { input = input, calls = calls }
