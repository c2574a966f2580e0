-- array/core.lua - what every part of the array library uses: handles, shapes, arguments, host memory.
--
-- np       the public table, `require "array"`
-- methods  what a:name(...) finds; usually the same functions
-- getters  what a.name computes
-- setters  what a.name = value does
--
-- Shapes are tables of Lua numbers, dtypes are numbers inside (lgt/dtype.lua) and strings outside,
-- axes count from 1 everywhere.

local ffi = require "ffi"
local lgt = require "lgt"

local dtypes = lgt.dtypes
local raise, layouts = lgt.raise, lgt.layouts
local handles = lgt.handles
local Array = lgt.Array

local core = {
  np = {}, methods = {}, getters = {}, setters = {},
  lgt = lgt, dtypes = dtypes, raise = raise, Array = Array,
}
local np, methods, getters = core.np, core.methods, core.getters

local function is_array(x) return ffi.istype(Array, x) end
core.is_array = is_array
np.isarray = is_array

-- What a value is called in messages.
local function describe(x)
  if is_array(x) then
    local why = lgt.why_gone(x)
    if why then return "an array that " .. why end
    local l = layouts[handles[x.id].layout]
    return ("an array of shape (%s)"):format(table.concat(lgt.shape(handles[x.id].layout), ", ")),
      dtypes.name[l.dtype]
  end
  if type(x) == "string" then return ("the string %q"):format(x) end
  if type(x) == "number" then return ("the number %.14g"):format(x) end
  if type(x) == "nil" then return "nil" end
  if ffi.istype("int64_t", x) or ffi.istype("uint64_t", x) then return "the integer " .. tostring(x) end
  if type(x) == "table" then
    if lgt.is_value(x) then return "an element, as a fused function gets it" end
    local own = getmetatable(x)
    return type(own) == "table" and own.in_words and (own.in_words(x)) or "a table"
  end
  return "a " .. type(x)
end
core.describe = describe

-- The same, shorter: words and numbers as they are.
function core.word(x)
  local kind = type(x)
  return (kind == "string" or kind == "number" or kind == "boolean" or kind == "nil") and tostring(x) or (describe(x))
end

-- How an array is made of what was refused, for the end of a message.  Tables such as sparse matrices say it: the
-- function `in_words` of their metatable gives what they are called, and this.
local function way_to_array(x)
  if type(x) ~= "table" or lgt.is_value(x) then return "" end
  local own = getmetatable(x)
  return type(own) == "table" and own.in_words and select(2, own.in_words(x)) or ": np.array makes an array of a table"
end
core.way_to_array = way_to_array

core.COLON = "; methods are called with a colon, as in x:sum()" -- for nil, which x.sum() gives to sum

-- The layout of an array; raises for anything else, in the name of `who`.
local function layout_of(x, who)
  if not is_array(x) then
    raise("%s: an array was expected, not %s%s", who, describe(x),
      x == nil and core.COLON or way_to_array(x))
  end
  local layout = handles[x.id].layout
  if layout == 0 then raise("%s: the array %s", who, lgt.why_gone(x)) end
  return layout
end
core.layout_of = layout_of

-- What a table does by itself where arrays are expected, as sparse matrices do: the field `of_arrays` of its metatable
-- has functions by the names of ufuncs, and dot.
function core.foreign(name, a, b)
  for i = 1, 2 do
    local own = getmetatable(i == 1 and a or b)
    local f = type(own) == "table" and own.of_arrays and own.of_arrays[name]
    if f then return f end
  end
end

-- The same where no function's name is at hand.
local function layout_in_use(x)
  if not is_array(x) then raise("an array was expected, not %s", (describe(x))) end
  local layout = handles[x.id].layout
  if layout == 0 then raise("the array %s", lgt.why_gone(x)) end
  return layout
end

function core.shape_of(x) return lgt.shape(layout_in_use(x)) end
function core.dtype_of(x) return layouts[layout_in_use(x)].dtype end
function core.ndim_of(x) return layouts[layout_in_use(x)].ndim end
function core.size_of(x) return tonumber(layouts[layout_in_use(x)].size) end

-- ---- shapes as users see them -------------------------------------------------------------------

local shape_meta = {
  __eq = function(a, b)
    if #a ~= #b then return false end
    for d = 1, #a do
      if a[d] ~= b[d] then return false end
    end
    return true
  end,
  -- Axes count as they do elsewhere: shape[-1] is the last extent, shape[0] none.
  __index = function(shape, d)
    if d == 0 then raise("shape[0]: axes count from 1 (NumPy's axis 0 is axis 1 here)") end
    if type(d) == "number" and d < 0 then return rawget(shape, #shape + 1 + d) end
  end,
  __tostring = function(shape) return "{" .. table.concat(shape, ", ") .. "}" end,
  __concat = function(a, b) return tostring(a) .. tostring(b) end,
}
core.shape_meta = shape_meta

local function same_shape(a, b) return shape_meta.__eq(a, b) end
core.same_shape = same_shape

local function shape_text(shape) return "(" .. table.concat(shape, ", ") .. ")" end
core.shape_text = shape_text

local function is_integer(x) return type(x) == "number" and x == math.floor(x) and x - x == 0 end
core.is_integer = is_integer

function core.product(shape)
  local n = 1
  for d = 1, #shape do n = n * shape[d] end
  return n
end

-- The shape that two shapes have in common, or nil.
local function broadcast_pair(a, b)
  if #a < #b then a, b = b, a end
  local result, offset = {}, #a - #b
  for d = 1, #a do
    local m, n = a[d], d > offset and b[d - offset] or 1
    if m ~= n and m ~= 1 and n ~= 1 then return nil end
    result[d] = m == 1 and n or m
  end
  return result
end
core.broadcast_pair = broadcast_pair

-- The common shape of a list of shapes; raises in the name of `who`.
function core.broadcast_shapes(shapes, who)
  local result = {}
  for i = 1, #shapes do
    local next_result = broadcast_pair(result, shapes[i])
    if not next_result then
      local texts = {}
      for j = 1, #shapes do texts[j] = shape_text(shapes[j]) end
      raise("%s: the shapes %s do not fit together: aligned at the right, extents must be equal or 1", who,
        table.concat(texts, " and "))
    end
    result = next_result
  end
  return result
end

-- ---- numbers of the script -----------------------------------------------------------------------

local C, rt = lgt.C, lgt.rt

local item = ffi.new("lgt_scalar")
local complex = ffi.typeof("complex double")

-- What is in `item`, as a Lua value.
local function item_value(dtype)
  local category = dtypes.category[dtype]
  if category == 2 then return item.f end
  if category == 0 then return item.i ~= 0 end
  if category == 3 then return complex(item.c[0], item.c[1]) end
  if dtype == dtypes.UINT64 then return dtypes.to_lua(dtype, item.u) end
  return dtypes.to_lua(dtypes.INT64, item.i)
end

-- The only element of an array as a Lua value.  Waits.
local function read_item(x)
  lgt.flush()
  if C.lgt_array_item(rt, x.id, item) < 0 then lgt.fail() end
  return item_value(layouts[handles[x.id].layout].dtype)
end
core.read_item = read_item

-- What may stand where a number, or true or false, of the script is expected, as that: an array of 0 dimensions that is
-- not complex, which is read, and a boxed integer that a double holds.  Anything else as it is.
local function plain(x)
  if type(x) ~= "cdata" then return x end
  if is_array(x) then
    local layout = handles[x.id].layout
    if layout == 0 or layouts[layout].ndim > 0 or dtypes.category[layouts[layout].dtype] > 2 then return x end
    return read_item(x)
  end
  if ffi.istype("int64_t", x) then return dtypes.to_lua(dtypes.INT64, x) end
  if ffi.istype("uint64_t", x) then return dtypes.to_lua(dtypes.UINT64, x) end
  return x
end
core.plain = plain

-- A number, or several in a vector or a table, as a list of plain numbers; what else a table has stays in it.  nil:
-- anything else.
function core.as_list(x)
  x = plain(x)
  if type(x) == "number" then return { x } end
  if is_array(x) then return core.ndim_of(x) == 1 and x:totable() or nil end
  if type(x) ~= "table" then return nil end
  local list = {}
  for i = 1, table.maxn(x) do list[i] = plain(x[i]) end
  return list
end

-- ---- arguments ------------------------------------------------------------------------------------

-- A table with string keys only: options.  (An empty table is a shape, or a list.)
local function is_options(x)
  if type(x) ~= "table" or getmetatable(x) == shape_meta or #x > 0 then return false end
  local key = next(x)
  return type(key) == "string"
end
core.is_options = is_options

-- {axis = nil} is this: nothing is named.
local function names_nothing(x) return type(x) == "table" and next(x) == nil and not getmetatable(x) end

-- An argument for which an empty table says no more than nil.
function core.given(x)
  if not names_nothing(x) then return x end
end

local function sorted_names(set)
  local names = {}
  for name in pairs(set) do names[#names + 1] = name end
  table.sort(names)
  return names
end

-- Options that are no table.
local function refuse_options(options, known, who)
  local names = sorted_names(known)
  local example = known.out and is_array(options) and "{out = x}" or known.dtype and "{dtype = \"float32\"}" or
    ("{%s = ...}"):format(names[1] or "axis")
  raise("%s: options are a table such as %s, not %s%s", who, example, (describe(options)),
    #names > 0 and "; it takes " .. table.concat(names, ", ") or "")
end

-- Functions, and tables that can be called, but no arrays and sparse matrices, whose elements calls read.
function core.is_callable(x)
  local own = getmetatable(x)
  return type(x) == "function" or type(own) == "table" and own.__call ~= nil and not (is_array(x) or own.of_arrays)
end

local function is_finite(x) return type(x) == "number" and x - x == 0 end

-- What values of some options must be, as `known` names it; a third entry makes them so.
local kinds = {
  flag = { function(x) return type(x) == "boolean" end, "true or false" },
  number = { function(x) return type(x) == "number" end, "a number" },
  amount = { function(x) return type(x) == "number" and x >= 0 end, "a number from 0 up" },
  positive = { function(x) return is_integer(x) and x >= 1 end, "an integer from 1 up" },
  count = { function(x) return is_integer(x) and x >= 0 end, "an integer from 0 up" },
  limit = { function(x) return is_integer(x) and x >= 0 or x == math.huge end, "an integer from 0 up, or math.huge" },
  base = { function(x) return type(x) == "number" and (x == 0 or x == 1) end, "0 or 1" },
  interval = { function(x) return #x == 2 and is_finite(x[1]) and is_finite(x[2]) end,
    "{first, last}, two finite numbers", core.as_list },
  call = { core.is_callable, "a function" },
}

-- Options of these names are flags where `known` does not say otherwise: 0, which is false in Python, is true in Lua.
local flags = {}
local FLAGS = "assume_unique bias calc_var compute_uv copy dense_output density endpoint equal_nan full " ..
  "full_matrices hermitian increasing invert keepdims lower replace retstep return_counts " ..
  "return_eigenvectors return_index return_indices return_inverse returned rowvar shuffle " ..
  "sparse suppress suppress_small unit_diagonal unpack vectorized wrap"
for name in FLAGS:gmatch("%S+") do flags[name] = "flag" end

-- A value that is what `kind` names, with plain numbers; nil: it was not given.
function core.check_value(value, kind, name, who)
  if value == nil then return nil end
  local rule = kinds[kind]
  local taken = (rule[3] or plain)(value)
  if taken ~= nil and rule[1](taken) then return taken end
  raise("%s: %s is %s, not %s", who, name, rule[2], core.word(rule[3] and value or taken))
end

-- Check options against `known`, a table {name = true or a kind of values}, and give them with plain numbers.  A string
-- is the dtype, which NumPy's users give by its place.
function core.check_options(options, known, who)
  if options == nil then return {} end
  if type(options) == "string" and known.dtype then return { dtype = options } end
  if type(options) ~= "table" then refuse_options(options, known, who) end
  local converted
  for key, value in pairs(options) do
    if not known[key] and not require("array.core.unneeded")(who, key, value) then
      local names = sorted_names(known)
      raise("%s: unknown option %s; it takes %s", who, type(key) == "string" and key or describe(key),
        #names > 0 and table.concat(names, ", ") or "none here")
    end
    local kind = known[key] ~= true and known[key] or flags[key]
    if kinds[kind] then
      local checked = core.check_value(value, kind, key, who)
      if not rawequal(checked, value) then
        converted = converted or {}
        converted[key] = checked
      end
    end
  end
  if not converted then return options end
  for key, value in pairs(options) do
    if converted[key] == nil then converted[key] = value end
  end
  return setmetatable(converted, getmetatable(options))
end

-- What stands behind the last argument of a function, which takes no options there; Lua itself would drop it.
function core.check_surplus(surplus, who)
  if surplus == nil or names_nothing(surplus) then return end
  if is_options(surplus) then
    core.check_options(surplus, {}, who)
  else
    raise("%s: %s stands behind its last argument, where nothing was expected", who, (describe(surplus)))
  end
end

-- What stands behind a table of options.
function core.check_behind(surplus, who)
  if surplus == nil then return end
  raise("%s: %s stands behind its options; all of them belong into one table", who, (describe(surplus)))
end

-- An argument and the options behind it, which may stand in its place if it is left out.
function core.split_options(value, options, who)
  if not is_options(value) then
    if names_nothing(value) then value = nil end
    return value, options
  end
  core.check_behind(options, who)
  return nil, value
end

-- Options, or a dtype, may come before arguments that are left out: m, k and the options of (m, k, options).
function core.take_early_options(m, k, options)
  if is_options(m) or type(m) == "string" then return nil, nil, m end
  if is_options(k) or type(k) == "string" then return m, nil, k end
  return m, k, options
end

function core.check_dtype(name, who)
  local number, message = dtypes.parse(name)
  if not number then raise("%s: %s", who, message) end
  return number
end

local function check_extent(n, who, d)
  if n == nil then raise("%s: extent %d of the shape is nil, as any name that does not exist", who, d) end
  n = plain(n)
  if not is_integer(n) or n < 0 then raise("%s: an extent must be an integer from 0 up, not %s", who, (describe(n))) end
  return n
end

local function refuse_list(who, text, ...)
  raise("%s: " .. text, type(who) == "function" and who() or who, ...)
end

-- How many elements a list has; raises where some are nil, of which a misspelt variable is the usual reason, in the
-- name of `who`, a string or a function that returns it.
function core.length_of_list(list, who)
  local count, most = 0, table.maxn(list)
  for key in pairs(list) do
    if type(key) ~= "number" then refuse_list(who, "a list was expected, this table has a field %q", tostring(key)) end
    if key < 1 or key ~= math.floor(key) then
      refuse_list(who, "elements of a list are numbered from 1, this one has number %.14g", key)
    end
    count = count + 1
  end
  if count == most then return most end
  for i = 1, most do
    if list[i] == nil then refuse_list(who, "element %d of a list of %d is nil", i, most) end
  end
end

-- Shapes come as arguments or as one table, options last: (2, 3), ({2, 3}), (2, 3, {dtype = ...}), (2, 3, "float32").
-- Options that are nil are none behind a table only: (2, nil) is more likely an extent that is missing.
---@return integer[] shape, table|string|nil options
function core.take_shape(who, ...)
  local count = select("#", ...)
  local options
  if count > 0 then
    local last = select(count, ...)
    local absent = last == nil and count == 2 and type(...) == "table"
    if absent or is_options(last) or type(last) == "string" or count > 1 and names_nothing(last) then
      options, count = last, count - 1
    end
  end
  local shape = {}
  local first = ...
  if count == 1 and type(first) == "table" then
    for key in pairs(first) do
      if type(key) ~= "number" then
        raise("%s: %s stands among the extents of a shape; options belong into a table behind it", who, describe(key))
      end
    end
    for d = 1, table.maxn(first) do shape[d] = check_extent(first[d], who, d) end
  else
    for d = 1, count do
      local extent = select(d, ...)
      shape[d] = check_extent(extent, who, d)
    end
  end
  if #shape > 6 then raise("%s: %d dimensions given; arrays have at most 6", who, #shape) end
  return shape, options
end

-- Compiled, it was seen to return an empty shape for a table of one extent (LuaJIT 2.1 of 2022-03-20).
jit.off(core.take_shape)

-- The same where NumPy's users may give the shape by its name, `name`: ({shape = {2, 3}}), (0, 1, {size = 4}).
---@return integer[] shape, table|string|nil options
function core.take_named_shape(who, name, ...)
  local shape, options = core.take_shape(who, ...)
  local given = type(options) == "table" and options[name]
  if not given then return shape, options end
  if #shape > 0 then raise("%s: the shape is given twice, by its place and as %s", who, name) end
  local rest = {}
  for key, value in pairs(options) do
    if key ~= name then rest[key] = value end
  end
  return core.take_shape(who, type(given) == "table" and given or { given }), rest
end

-- The same for functions that take no options.
---@return integer[]
function core.take_only_shape(who, ...)
  local shape, options = core.take_shape(who, ...)
  core.check_options(options, {}, who)
  return shape
end

-- An axis from 1, or negative from the last, as a number from 1.
function core.check_axis(axis, ndim, who)
  axis = plain(axis)
  if type(axis) == "number" and axis == 0 then
    raise("%s: axis = 0: axes count from 1 (NumPy's axis 0 is axis 1 here)", who)
  end
  if names_nothing(axis) then
    raise("%s: an empty table, as {axis = nil} is, names no axis: leave it out for the usual one; where axis=None "
      .. "takes all elements, np.ravel does", who)
  end
  if ndim == 0 then raise("%s: an axis was given, and a 0-d array has none", who) end
  if not is_integer(axis) or axis > ndim or axis < -ndim then
    raise("%s: axis %s of an array of %d dimensions: 1 to %d, or -1 for the last, was expected", who,
      type(axis) == "number" and ("%g"):format(axis) or (describe(axis)), ndim, ndim)
  end
  return axis < 0 and ndim + 1 + axis or axis
end

-- An axis, or a table of them, given as it is or as {axis = ...}.
function core.axis_option(axis, who)
  if not is_options(axis) then return axis end
  return core.check_options(axis, { axis = true }, who).axis
end

-- Another argument that may be given as it is or by its name, in a table.
function core.named_option(value, name, who)
  if is_options(value) then return core.check_options(value, { [name] = true }, who)[name] end
  if names_nothing(value) then return nil end
  if flags[name] then return core.check_value(value, "flag", name, who) end
  return value
end

-- What may be left out, and is no list that may be empty.
local LEFT_OUT = "M N a_max a_min axes axis axis1 axis2 compute_uv full_matrices hermitian k max min mode n norm " ..
  "num offset rcond s step stop tol x y"
local may_be_left_out = {}
for name in LEFT_OUT:gmatch("%S+") do may_be_left_out[name] = true end

-- Arguments that stand in their places or, in the table of options behind them, under their names: `names` lists them,
-- `...` are they and the options.  Gives them in that order, then the options that are left.
local function take_named(who, names, ...)
  local count, place = #names, 0
  local options
  repeat
    place = place + 1
    options = (select(place, ...))
  until place > count or is_options(options) and not getmetatable(options) -- values of np.fuse have one
  if not is_options(options) or getmetatable(options) then
    local values
    for i = 1, count do
      if may_be_left_out[names[i]] and names_nothing((select(i, ...))) then
        values = values or { ... }
        values[i] = nil
      end
    end
    if values then return unpack(values, 1, select("#", ...)) end
    return ...
  end
  local values, rest = { ... }, nil
  for i = place + 1, select("#", ...) do core.check_behind(values[i], who) end
  values[place] = nil
  for key, value in pairs(options) do
    local own
    for i = 1, count do own = names[i] == key and i or own end
    if not own then
      rest = rest or {}
      rest[key] = value
    elseif values[own] ~= nil then
      raise("%s: %s is given twice, by its place and by its name", who, key)
    else
      values[own] = value
    end
  end
  values[count + 1] = rest
  return unpack(values, 1, count + 1)
end

-- Where none of them is a table, they are in order.
function core.take_named(who, names, ...)
  local a, b, c, d = ...
  local few = select("#", ...) <= 4 and type(a) ~= "table" and type(b) ~= "table"
  if few and type(c) ~= "table" and type(d) ~= "table" then return ... end
  return take_named(who, names, ...)
end

-- The same where nothing else may be among the options.
function core.take_only_named(who, names, ...)
  local values = { take_named(who, names, ...) }
  local rest = values[#names + 1]
  if rest ~= nil then
    local known = {}
    for i = 1, #names do known[names[i]] = true end
    core.check_options(rest, known, who)
  end
  for i = 1, #names do
    if flags[names[i]] then values[i] = core.check_value(values[i], "flag", names[i], who) end
  end
  return unpack(values, 1, #names)
end

-- One axis or a table of axes (nil: all) as a table {[axis] = true} and their sorted list.
function core.check_axes(axes, ndim, who)
  local set, list = {}, {}
  axes = core.axis_option(axes, who)
  if axes == nil then
    for d = 1, ndim do set[d], list[d] = true, d end
    return set, list
  end
  if type(axes) ~= "table" then axes = { axes } end
  for i = 1, #axes do
    local d = core.check_axis(axes[i], ndim, who)
    if set[d] then raise("%s: axis %d is given twice", who, d) end
    set[d] = true
    list[#list + 1] = d
  end
  table.sort(list)
  return set, list
end

-- ---- elements on the host ---------------------------------------------------------------------------

-- Fresh, zeroed memory for `count` elements, typed; not owned by the collector: C.lgt_memory_free gives it back.
function core.host_memory(dtype, count)
  return ffi.cast(dtypes.pointer[dtype], lgt.memory(math.max(count, 1) * dtypes.size[dtype]))
end

-- A new array over memory from host_memory, which it owns from now on.
function core.adopt(dtype, shape, memory)
  return lgt.adopt(lgt.dense(dtype, shape), memory, C.lgt_memory_free)
end

local COLLECTED_BYTES = 2 ^ 30 -- what LuaJIT can allocate itself ends somewhat above that

-- A copy of all elements in C order, in memory that the collector owns.  Waits.
---@return ffi.cdata* pointer, integer count
function core.copy_out(x)
  local l = layouts[layout_in_use(x)]
  local count = tonumber(l.size)
  local memory
  if count * dtypes.size[l.dtype] < COLLECTED_BYTES then
    memory = ffi.new(ffi.typeof("$[?]", dtypes.ctype[l.dtype]), math.max(count, 1))
  else
    memory = ffi.gc(core.host_memory(l.dtype, count), C.lgt_memory_free)
  end
  lgt.flush()
  if C.lgt_array_copy_out(rt, x.id, memory) < 0 then lgt.fail() end
  return memory, count
end

-- The same for elements that Lua is going to read: any NaN but one would be a value of another type there.
---@return ffi.cdata* pointer, integer count
function core.copy_out_numbers(x)
  local memory, count = core.copy_out(x)
  C.lgt_plain_nans(core.dtype_of(x), memory, count)
  return memory, count
end

local tile = ffi.new("lgt_tile")
local index = ffi.new("int64_t[6]")

-- Where the elements lie: a typed pointer to the first, strides in elements, and whether these are of C order.  Waits.
-- Valid until the next call that touches the runtime.
function core.host(x, mode)
  lgt.flush()
  if C.lgt_array_host(rt, x.id, mode, tile) < 0 then lgt.fail() end
  local l = layouts[handles[x.id].layout]
  local strides, contiguous, dense, size = {}, true, 1, dtypes.size[l.dtype]
  for d = l.ndim, 1, -1 do
    strides[d] = tonumber(tile.stride[d - 1]) / size
    if l.shape[d - 1] ~= 1 and strides[d] ~= dense then contiguous = false end
    dense = dense * tonumber(l.shape[d - 1])
  end
  return ffi.cast(dtypes.pointer[l.dtype], tile.data), strides, contiguous
end

-- The element at offsets (from 0) along each axis, without making a view of it.  Waits.
function core.element(x, first, second, ...)
  local l = layouts[handles[x.id].layout]
  index[0], index[1] = first or 0, second or 0
  for d = 3, l.ndim do index[d - 1] = select(d - 2, ...) end
  lgt.flush()
  if C.lgt_array_element(rt, x.id, index, item) < 0 then lgt.fail() end
  return item_value(l.dtype)
end

getters.dtype = function(x) return dtypes.name[core.dtype_of(x)] end
getters.ndim = core.ndim_of
getters.size = core.size_of
getters.shape = function(x) return setmetatable(core.shape_of(x), shape_meta) end
getters.itemsize = function(x) return dtypes.size[core.dtype_of(x)] end
getters.nbytes = function(x) return core.size_of(x) * dtypes.size[core.dtype_of(x)] end
function methods.dims(x) return unpack(core.shape_of(x)) end
methods.free = lgt.free

-- A scalar argument as a number of the script: numbers, and arrays of one element (which waits).
function core.to_number(x, who)
  x = plain(x)
  if type(x) == "number" then return x end
  if is_array(x) and core.size_of(x) == 1 then return tonumber(read_item(x)) end
  raise("%s: a number was expected, not %s", who, (describe(x)))
end

return core
