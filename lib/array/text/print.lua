-- array/text/print.lua - arrays as Lua tables and as text.
--
-- Of a large array only the corners that are shown are fetched, through views.

local ffi = require "ffi"
local core = require "array.core"
local text = require "array.text.format"
local new_table = require "table.new"

local lgt, dtypes, raise = core.lgt, core.dtypes, core.raise
local np, methods = core.np, core.methods
local ranks = package.loaded["lgt.ranks"] -- nil where this is the only one

local printing = {}

-- Elements that are no Lua values as they lie in memory.
local converted = { [dtypes.FLOAT16] = true, [dtypes.INT64] = true, [dtypes.UINT64] = true }

local function row(p, at, n, dtype)
  local t = new_table(n, 0)
  if converted[dtype] then
    for i = 1, n do t[i] = dtypes.to_lua(dtype, p[at + i - 1]) end
  else
    for i = 1, n do t[i] = p[at + i - 1] end
  end
  return t
end

-- Elements in C order as nested tables.
local function nest(p, shape, dtype)
  local at, ndim = 0, #shape
  if ndim == 0 then return dtypes.to_lua(dtype, p[0]) end
  local function level(d)
    if d == ndim then
      at = at + shape[d]
      return row(p, at - shape[d], shape[d], dtype)
    end
    local t = new_table(shape[d], 0)
    for i = 1, shape[d] do t[i] = level(d + 1) end
    return t
  end
  return level(1)
end

-- The elements as nested Lua tables; a 0-d array as a Lua value.  Waits.
---@param a lgt_array
---@return table|number|boolean
function methods.totable(a)
  core.layout_of(a, "totable")
  return nest(core.copy_out_numbers(a), core.shape_of(a), core.dtype_of(a))
end

-- The only element as a Lua value, which Lua prints: of integers beyond 10^14 tostring shows fourteen digits,
-- ("%d"):format(x) all; those beyond 2^53 are boxed integers, with all digits and LL or ULL at the end.  Waits.
---@return number|boolean|ffi.cdata*
function methods.item(a, ...)
  if select("#", ...) > 0 then return a(...) end
  core.layout_of(a, "item")
  if core.size_of(a) ~= 1 then
    raise("item: an array of shape %s has %d elements; a(i, j) reads one of them", core.shape_text(core.shape_of(a)),
      core.size_of(a))
  end
  return core.read_item(a)
end

-- Between elements with strides, from p[at] on, and a copy in C order, from copy[k] on; where that ends.
local function pack(p, at, copy, k, shape, strides, d, into)
  local extent, stride = shape[d], strides[d]
  if d < #shape then
    for i = 0, extent - 1 do k = pack(p, at + i * stride, copy, k, shape, strides, d + 1, into) end
  elseif into then
    for i = 0, extent - 1 do copy[k + i] = p[at + i * stride] end
    k = k + extent
  else
    for i = 0, extent - 1 do p[at + i * stride] = copy[k + i] end
    k = k + extent
  end
  return k
end

local function counted(...) return { n = select("#", ...), ... } end

-- a:host(mode, function(p, n, m, ...) ... end): p points to the elements in C order, n, m, ... are the extents.
-- mode is "r", they are read; "rw", read and written; or "w", written: then all are 0 at first, and stay it where the
-- function does not write.  Waits.  The pointer is good inside the function only, which must not touch arrays.  LuaJIT
-- reads memory as it is: a NaN that a file or another program made may be anything but a number there; a(i) is safe.
-- Returns what the function returns; what it wrote before an error stays.
---@param mode "r"|"w"|"rw"
---@param f fun(p: ffi.cdata*, ...: integer): ...
function methods.host(a, mode, f)
  if mode ~= "r" and mode ~= "w" and mode ~= "rw" then
    raise("host: the mode must be \"r\", \"w\" or \"rw\", not %s", (core.describe(mode)))
  end
  if type(f) ~= "function" then raise("host: a function was expected, not %s", (core.describe(f))) end
  core.layout_of(a, "host")
  if mode ~= "r" then core.check_writable(a, "host") end
  local shape, dtype = core.shape_of(a), core.dtype_of(a)
  local p, strides, contiguous = core.host(a, mode)
  local given, size = p, core.size_of(a)
  -- So that the elements are the same on one rank and on several, where the memory may be a new one.
  if contiguous and mode == "w" then ffi.fill(p, size * dtypes.size[dtype]) end
  if contiguous and (mode == "r" or not ranks) then return f(p, unpack(shape)) end
  -- Where elements lie may differ from rank to rank: the copy is made without asking the runtime for anything.
  if not contiguous then
    local memory = ffi.new("void *[1]")
    local bytes = math.max(size, 1) * dtypes.size[dtype]
    if lgt.C.lgt_memory_alloc(lgt.rt, bytes, ranks and 1 or 0, memory) < 0 then lgt.fail() end
    given = ffi.gc(ffi.cast(dtypes.pointer[dtype], memory[0]), lgt.C.lgt_memory_free)
    if mode ~= "w" then pack(p, 0, given, 0, shape, strides, 1, true) end
  end
  local results = counted(pcall(f, given, unpack(shape)))
  if mode ~= "r" then
    if not contiguous then pack(p, 0, given, 0, shape, strides, 1, false) end
    if lgt.C.lgt_array_given(lgt.rt, a.id, given) < 0 then lgt.fail() end
  end
  if not results[1] then error(results[2], 0) end
  return unpack(results, 2, results.n)
end

-- ---- text ---------------------------------------------------------------------------------------------

-- The elements to show, nested; what is left out is text.ELISION.
local function shown(a, axis)
  local shape = core.shape_of(a)
  if axis > #shape then return methods.totable(a) end
  local edge, extent = text.options.edgeitems, shape[axis]
  if extent <= 2 * edge then return shown(a, axis + 1) end
  local layout = core.layout_of(a)
  local head = shown(lgt.alias(a, lgt.slice(layout, axis, 0, edge, 1)), axis + 1)
  local tail = shown(lgt.alias(a, lgt.slice(layout, axis, extent - edge, edge, 1)), axis + 1)
  local function join(x, y, depth)
    if depth == axis then
      local joined = { unpack(x) }
      joined[#joined + 1] = text.ELISION
      for i = 1, #y do joined[#joined + 1] = y[i] end
      return joined
    end
    local joined = {}
    for i = 1, #x do joined[i] = x[i] == text.ELISION and x[i] or join(x[i], y[i], depth + 1) end
    return joined
  end
  return join(head, tail, 1)
end

local float32 = ffi.new("float[1]")
-- Numbers rounded to a float type narrower than Lua's.
local rounding = {
  [dtypes.FLOAT32] = function(x)
    float32[0] = x
    return tonumber(float32[0])
  end,
  [dtypes.FLOAT16] = function(x) return dtypes.half_to_number(dtypes.number_to_half(x)) end,
}
rounding[dtypes.COMPLEX64] = rounding[dtypes.FLOAT32]

local function complex_formatter(values)
  local function parts(v, field)
    if type(v) ~= "table" then return field == "im" and math.abs(v.im) or tonumber(v[field]) end
    local t = {}
    for i = 1, #v do t[i] = parts(v[i], field) end
    return t
  end
  local re, im = text.float_formatter(parts(values, "re")), text.float_formatter(parts(values, "im"))
  return function(z)
    local before, number, after = im(math.abs(z.im)):match("^(%s*)(.-)(%s*)$")
    return re(tonumber(z.re)) .. before .. (z.im < 0 and "-" or "+") .. number .. "i" .. after
  end
end

local function formatter(values, dtype)
  local category = dtypes.category[dtype]
  if category == 2 then
    return text.float_formatter(values, rounding[dtype])
  end
  return category == 3 and complex_formatter(values) or text.plain_formatter(values)
end

-- What print shows.  Waits.
---@return string
function printing.tostring(a)
  if core.lgt.why_gone(a) then return "array (released)" end
  local shape, dtype = core.shape_of(a), core.dtype_of(a)
  if #shape == 0 then
    local x = core.read_item(a)
    local category = dtypes.category[dtype]
    local round = rounding[dtype]
    return category == 2 and text.float(x, round) or category == 3 and text.complex(x, round) or text.plain(x)
  end
  if core.product(shape) == 0 then
    return #shape == 1 and "[]" or ("[] of shape %s"):format(core.shape_text(shape))
  end
  local values = core.product(shape) > text.options.threshold and shown(a, 1) or methods.totable(a)
  local format = formatter(text.without_elision(values), dtype)
  return text.layout(values, #shape, format)
end

local MOST_DIGITS = 99 -- that string.format writes

-- How arrays are printed: precision, threshold, edgeitems, linewidth, suppress.
function np.set_printoptions(options)
  for name, value in pairs(core.check_options(options, text.known, "set_printoptions")) do
    text.options[name] = name == "precision" and math.min(value, MOST_DIGITS) or value
  end
end

return printing
