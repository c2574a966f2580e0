-- array/make/create.lua - new arrays: from Lua tables, constant, ranges, grids, special matrices.
--
-- Everything but np.array is a launch of a generator that knows its place in the array, so that a range
-- or an identity matrix fuses with what uses it.  A Lua number in np.array, np.full and the like is
-- float64 (Lua cannot write 0.0); np.arange of integers and np.span give int64, as positions should be.

local ffi = require "ffi"
local core = require "array.core"

local lgt, dtypes, raise = core.lgt, core.dtypes, core.raise
local np = core.np
local handles, layouts, plain = lgt.handles, lgt.layouts, core.plain
local C, rt = lgt.C, lgt.rt
local floor, huge, istype, select, type = math.floor, math.huge, ffi.istype, select, type

-- ---- generators that know their place ---------------------------------------------------------------

local kinds = {}

-- Launch build(body) -> value, which fills a new array.  `name` identifies the generator.
local function generate(name, dtype, shape, build, numbers)
  local full = name .. ">" .. dtypes.name[dtype]
  local kind = kinds[full]
  if not kind then
    kind = lgt.kind(full, function(body) body:store(dtype, 0, build(body)) end)
    kinds[full] = kind
  end
  local result = lgt.new(lgt.dense(dtype, shape))
  lgt.launch(kind, { result }, numbers)
  return result
end
core.generate = generate

local function is_extent(n) return type(n) == "number" and n >= 0 and n == floor(n) and n < huge end

-- The layout that count arguments, one or two extents n and m, say; nil: they say something else, or nothing.
local function plain_layout(dtype, count, n, m)
  if count == 1 and is_extent(n) then return lgt.dense_of(dtype, 1, n, 0) end
  if count == 2 and is_extent(n) and is_extent(m) then return lgt.dense_of(dtype, 2, n, m) end
end

-- A generator that is known already, launched in one call of C; nil: it is launched step by step.
local function generate_at_once(kind, layout, numbers, x, y)
  if not kind or not layout then return nil end
  local id = C.lgt_launch_new(rt, kind, layout, numbers, x, y)
  return id ~= 0 and lgt.wrap_launched(id) or nil
end

local dtype_option = { dtype = true }

local function take_dtype(options, default, who)
  options = core.check_options(options, dtype_option, who)
  return options.dtype and core.check_dtype(options.dtype, who) or default
end

-- ---- constant arrays --------------------------------------------------------------------------------------

local function constant(value) return function(body) return body:constant(value) end end
local zero, one = constant(0), constant(1)

-- A dtype alone is a shape that is missing, not the shape of a 0-d array.
local function check_shape(shape, who)
  if type(shape) == "string" then raise("%s: a shape was expected, not %s", who, (core.describe(shape))) end
end

local function take_new_shape(who, ...)
  check_shape((...), who)
  return core.take_named_shape(who, "shape", ...)
end

---@param ... integer shape, as arguments or as one table; then options {dtype}
---@return lgt_array
function np.zeros(...)
  local layout = plain_layout(dtypes.FLOAT64, select("#", ...), ...)
  local result = generate_at_once(kinds["zeros>float64"], layout, 0, 0, 0)
  if result then return result end
  local shape, options = take_new_shape("zeros", ...)
  return generate("zeros", take_dtype(options, dtypes.FLOAT64, "zeros"), shape, zero)
end

---@return lgt_array
function np.ones(...)
  local layout = plain_layout(dtypes.FLOAT64, select("#", ...), ...)
  local result = generate_at_once(kinds["ones>float64"], layout, 0, 0, 0)
  if result then return result end
  local shape, options = take_new_shape("ones", ...)
  return generate("ones", take_dtype(options, dtypes.FLOAT64, "ones"), shape, one)
end

-- Contents are undefined until they are written.
---@return lgt_array
function np.empty(...)
  local layout = plain_layout(dtypes.FLOAT64, select("#", ...), ...)
  if layout then return lgt.new(layout) end
  local shape, options = take_new_shape("empty", ...)
  return lgt.new(lgt.dense(take_dtype(options, dtypes.FLOAT64, "empty"), shape))
end

local function dtype_of_value(value)
  if type(value) == "number" then return dtypes.FLOAT64 end
  if core.is_array(value) then return core.dtype_of(value) end
  return dtypes.of_scalar(value)
end

local filled
local function full_kind()
  filled = filled or lgt.kind("full>float64", function(body) body:store(dtypes.FLOAT64, 0, body:number(0, true)) end)
  return filled
end

---@param shape integer|integer[]
---@param value number|boolean|lgt_array
---@param options {dtype: string}?
---@return lgt_array
function np.full(shape, value, options)
  if options == nil and type(value) == "number" then
    local result = generate_at_once(full_kind(), plain_layout(dtypes.FLOAT64, 1, shape), 1, value, 0)
    if result then return result end
  end
  shape, value, options = core.take_named("full", { "shape", "fill_value" }, shape, value, options)
  check_shape(shape, "full")
  shape = core.take_only_shape("full", shape)
  local default = dtype_of_value(value)
  if not default then raise("full: a number was expected, not %s", (core.describe(value))) end
  local result = lgt.new(lgt.dense(take_dtype(options, default, "full"), shape))
  core.assign(result.id, core.layout_of(result), value)
  return result
end

local like_options = { dtype = true, shape = true }

-- The shape and the dtype of an array like another one.
local function take_like(a, options, who)
  a, options = np.asarray(a), core.check_options(options, like_options, who)
  local shape = options.shape == nil and core.shape_of(a) or core.take_only_shape(who, options.shape)
  return shape, { dtype = options.dtype or dtypes.name[core.dtype_of(a)] }
end

for _, name in ipairs { "zeros", "ones", "empty" } do
  local who, of = name .. "_like", {} -- kinds by dtype
  np[who] = function(a, options)
    local layout = options == nil and istype(core.Array, a) and handles[a.id].layout or 0
    if layout ~= 0 and name == "empty" then return lgt.new(lgt.like(layout)) end
    local kind = layout ~= 0 and of[layouts[layout].dtype]
    local result = kind and generate_at_once(kind, lgt.like(layout), 0, 0, 0)
    if result then return result end
    result = np[name](take_like(a, options, who))
    local dtype = core.dtype_of(result)
    of[dtype] = kinds[name .. ">" .. dtypes.name[dtype]]
    return result
  end
end

---@param a lgt_array
---@param value number|boolean|lgt_array
---@param options {dtype: string?, shape: integer|integer[]|nil}?
---@return lgt_array
function np.full_like(a, value, options)
  value, options = core.take_named("full_like", { "fill_value" }, value, options)
  local shape, dtype = take_like(a, options, "full_like")
  return np.full(shape, value, dtype)
end

-- ---- from Lua tables ------------------------------------------------------------------------------------

-- np.x as its users write it: "sum", "linalg.inv"; the shortest of several names.
local function name_of(f, called)
  local best
  local function look(names, prefix)
    for key, value in pairs(names) do
      local name = prefix .. tostring(key)
      if rawequal(value, f) and (not best or #name < #best or #name == #best and name < best) then best = name end
      if type(value) == "table" and prefix == "" then look(value, name .. ".") end
    end
  end
  look(np, "")
  for _, library in ipairs { "sparse", "solvers" } do
    if not best and package.loaded[library] then look(package.loaded[library], library .. ".") end
  end
  return best or called and (np[called] or core.methods[called]) and called or "array"
end

-- Whatever takes arrays makes them of what it is given: messages name the function that the script called.
local function caller() return name_of(lgt.called()) end

-- The shape of nested tables, and the common dtype of what is in them.
local function inspect(t, depth, shape, found)
  if type(t) == "table" then
    local count = core.length_of_list(t, caller)
    if shape[depth] == nil then
      if found.any then raise("%s: the table is ragged: numbers and tables side by side", caller()) end
      shape[depth] = count
    elseif shape[depth] ~= count then
      raise("%s: the table is ragged: %d elements where others have %d", caller(), count, shape[depth])
    end
    for i = 1, count do inspect(t[i], depth + 1, shape, found) end
    return
  end
  local dtype = type(t) == "number" and dtypes.FLOAT64 or dtypes.of_scalar(t)
  if not dtype then raise("%s: numbers and booleans were expected, not %s", caller(), (core.describe(t))) end
  if #shape >= depth then raise("%s: the table is ragged: numbers and tables side by side", caller()) end
  found.dtype = found.dtype and dtypes.promote(found.dtype, dtype) or dtype
  found.any = true
end

local function fill(t, p, at)
  if type(t) ~= "table" then
    p[at] = t
    return at + 1
  end
  for i = 1, #t do at = fill(t[i], p, at) end
  return at
end

-- How a Lua value is written into memory of a dtype; nil where C's conversion is right.
local function converter(dtype)
  if dtype == dtypes.FLOAT16 then
    return function(x) return dtypes.number_to_half(x == true and 1 or x == false and 0 or tonumber(x)) end
  end
  if dtype == dtypes.BOOL then return function(x) return x ~= false and x ~= 0 end end
  return function(x)
    if x == true then return 1 elseif x == false then return 0 end
    return x
  end
end

local function map_table(t, f)
  if type(t) ~= "table" then return f(t) end
  local result = {}
  for i = 1, #t do result[i] = map_table(t[i], f) end
  return result
end

local function contains_array(t)
  if core.is_array(t) then return true end
  if type(t) ~= "table" then return false end
  for i = 1, table.maxn(t) do
    if contains_array(t[i]) then return true end
  end
  return false
end

-- Check that numbers survive in an integer dtype.
local function check_integers(t, dtype)
  if type(t) == "table" then
    for i = 1, #t do check_integers(t[i], dtype) end
  elseif type(t) == "number" and t - t ~= 0 then
    raise("%s: %.14g in an array of %s, which has no such number", caller(), t, dtypes.name[dtype])
  elseif type(t) == "number" and t ~= math.floor(t) then
    raise("%s: %.14g is no integer and would lose its fraction in an array of %s", caller(), t, dtypes.name[dtype])
  elseif type(t) == "number" or type(t) == "cdata" then
    if not dtypes.holds(dtype, t) then
      local text = type(t) == "number" and ("%.17g"):format(t) or tostring(t):gsub("U?LL$", "")
      raise("%s: %s does not fit into %s", caller(), text, dtypes.name[dtype])
    end
  end
end

-- Is it an FFI array, as ffi.new("double[10]") makes them?
local function is_buffer(value)
  return type(value) == "cdata" and tostring(ffi.typeof(value)):find("%]>$") ~= nil
end

local function copy_of_buffer(buffer)
  local a = np.frombuffer(buffer)
  local dtype, shape = core.dtype_of(a), core.shape_of(a)
  local count = core.product(shape)
  local p = core.host_memory(dtype, count)
  ffi.copy(p, buffer, count * dtypes.size[dtype])
  return core.adopt(dtype, shape, p)
end

-- ---- of arrays without dimensions, as right-hand sides of equations are written

local MOST_TOGETHER, MOST_NUMBERS = 10, 6 -- arguments and parameters of a task
local together_kinds = {} -- by the dtypes of the elements

-- Element i is argument i, or the next parameter.
local function together_kind(key, list, dtype)
  local kind = lgt.kind(("together%.0f"):format(key), function(body)
    local at, result, arg, number = body:coordinate(1), nil, 0, 0
    for i = 1, #list do
      local x
      if type(list[i]) == "number" then
        x, number = body:number(number, true), number + 1
      else
        arg = arg + 1
        x = body:load(core.dtype_of(list[i]), arg)
      end
      result = result and at:eq(i - 1):select(x:cast(dtype), result) or x:cast(dtype)
    end
    body:store(dtype, 0, result)
  end)
  together_kinds[key] = kind
  return kind
end
jit.off(together_kind)

-- Does a table have no entries but the elements 1 to n?  To count those of a long list takes longer than all else;
-- where its last ones follow each other they lie in the table's array part, behind which next comes to all others.
-- (In its hash part the order of numbers is as good as random.)
local LONG, LAST = 16, 8
local function has_only(list, n)
  if n >= LONG and list[0] == nil then
    local at = n - LAST
    while at < n and lgt.next(list, at) == at + 1 do at = at + 1 end
    if at == n then return lgt.next(list, n) == nil end
  end
  return lgt.entries(list) == n
end

-- A vector of few numbers and arrays without dimensions, in one launch; nil for other tables.
local function together(list)
  local n, numbers, dtype, key = #list, 0, dtypes.BOOL, 1
  if n == 0 or n > MOST_TOGETHER or not has_only(list, n) then return nil end
  for i = 1, n do
    local x, own = list[i], dtypes.FLOAT64
    if type(x) == "number" then
      numbers = numbers + 1
      key = key * 32
    elseif core.is_array(x) then
      local layout = handles[x.id].layout
      own = layouts[layout].dtype
      if layout == 0 or layouts[layout].ndim > 0 then return nil end
      key = key * 32 + own + 1
    else
      return nil
    end
    dtype = i == 1 and own or dtypes.promote(dtype, own)
  end
  if numbers == n or numbers > MOST_NUMBERS then return nil end
  local kind = together_kinds[key] or together_kind(key, list, dtype)
  local layout = lgt.dense(dtype, { n })
  local line = lgt.line_for(layout)
  local l = lgt.slot()
  local id = lgt.fresh(layout)
  local arg, number = 0, 0
  l.arg[0] = id
  for i = 1, n do
    local x = list[i]
    if type(x) == "number" then
      l.param[number].f, number = x, number + 1
    else
      arg = arg + 1
      l.arg[arg] = x.id
    end
  end
  l.kind, l.nargs, l.nparams, l.line = kind, arg + 1, number, line
  lgt.commit()
  return (lgt.wrap(id))
end

-- A vector of numbers, which needs no thought; nil for other tables.
local function vector(list)
  local n = #list
  if n == 0 then return nil end
  for i = 1, n do
    if type(list[i]) ~= "number" then return nil end
  end
  if not has_only(list, n) then return nil end
  local p = core.host_memory(dtypes.FLOAT64, n)
  for i = 1, n do p[i - 1] = list[i] end
  return core.adopt(dtypes.FLOAT64, { n }, p)
end

-- Whatever takes arrays makes them of what it is given: the function that the script called is named.
local function refuse(value)
  local name = caller()
  raise("%s: numbers, tables and arrays were expected, not %s%s", name, (core.describe(value)),
    value == nil and core.methods[name] and core.COLON or core.way_to_array(value))
end

-- Is it a table that stands for something else, such as a sparse matrix?
local function is_foreign(value)
  if lgt.is_value(value) then return true end
  local own = getmetatable(value)
  return type(own) == "table" and own.in_words ~= nil
end

local array_options = { dtype = true, ndmin = true, copy = true }

-- np.array with options besides a dtype.
local function array_with(value, options)
  local how = options.dtype and { dtype = options.dtype } or nil
  local result = (options.copy == false and np.asarray or np.array)(value, how)
  local least = plain(options.ndmin or 0)
  if not core.is_integer(least) or least < 0 or least > 6 then
    raise("array: ndmin is a number of dimensions up to 6, not %s", (core.describe(least)))
  end
  while core.ndim_of(result) < least do result = np.expand_dims(result, 1) end
  return result
end

-- An array of a number, a nested table of numbers, or a copy of an array or of FFI memory.
---@param value number|boolean|table|lgt_array|ffi.cdata*
---@param options {dtype: string?, ndmin: integer?, copy: boolean?}? ndmin: at least so many dimensions; copy = false:
---  as np.asarray
---@return lgt_array
function np.array(value, options)
  local numbers = options == nil and type(value) == "table" and getmetatable(value) == nil and vector(value)
  if numbers then return numbers end
  if type(options) == "table" and not core.is_array(options) then
    options = core.check_options(options, array_options, "array")
    if options.ndmin ~= nil or options.copy ~= nil then return array_with(value, options) end
    options = options.dtype and { dtype = options.dtype } or nil
  end
  local wanted = take_dtype(options, nil, "array")
  if value == nil or type(value) == "table" and is_foreign(value) then refuse(value) end
  if core.is_array(value) then return wanted and np.astype(value, dtypes.name[wanted]) or np.copy(value) end
  if is_buffer(value) then value = copy_of_buffer(value) end
  if core.is_array(value) then return wanted and np.astype(value, dtypes.name[wanted]) or value end
  local integers = wanted and dtypes.category[wanted] < 2 and options or nil -- which float64 might round
  local result = type(value) == "table" and not integers and together(value)
  if result or contains_array(value) then
    local parts = {}
    for i = 1, result and 0 or core.length_of_list(value, caller) do parts[i] = np.asarray(value[i], integers) end
    result = result or np.stack(parts)
    return wanted and np.astype(result, dtypes.name[wanted]) or result
  end
  local shape, found = {}, {}
  inspect(value, 1, shape, found)
  if #shape > 6 then raise("%s: %d levels of tables; arrays have at most 6 dimensions", caller(), #shape) end
  local dtype = wanted or found.dtype or dtypes.FLOAT64
  if dtypes.category[dtype] < 2 and (found.dtype or 0) > dtypes.BOOL and dtype ~= dtypes.BOOL then
    check_integers(value, dtype)
  end
  if found.dtype == dtypes.COMPLEX128 and dtypes.category[dtype] < 3 then
    raise("%s: complex numbers do not fit into %s", caller(), dtypes.name[dtype])
  end
  local p = core.host_memory(dtype, core.product(shape))
  if dtype == dtypes.FLOAT16 or found.dtype ~= dtypes.FLOAT64 or dtype == dtypes.BOOL then
    value = map_table(value, converter(dtype))
  end
  fill(value, p, 0)
  return core.adopt(dtype, shape, p)
end

-- The same, but an array (of the wanted dtype) is returned as it is, and FFI memory is not copied (np.frombuffer).
---@return lgt_array
function np.asarray(value, options)
  if not core.is_array(value) and is_buffer(value) then value = np.frombuffer(value) end
  if core.is_array(value) then
    local wanted = take_dtype(options, nil, "asarray")
    if not wanted or wanted == core.dtype_of(value) then return value end
    return np.astype(value, dtypes.name[wanted])
  end
  return np.array(value, options)
end

-- Are these numbers of the script, all of them integers that int64 holds?
local function all_int64(x)
  if type(x) ~= "table" then return core.is_integer(x) and x >= -2 ^ 63 and x < 2 ^ 63 end
  for i = 1, #x do
    if not all_int64(x[i]) then return false end
  end
  return #x > 0
end

-- What is joined with an array of a dtype, as an array: beside integers, integral numbers of the script are int64
-- if that holds them.
---@return lgt_array
function core.beside(x, dtype)
  if core.is_array(x) or dtypes.category[dtype] > 1 or not all_int64(x) then return np.asarray(x) end
  return np.asarray(x, { dtype = "int64" })
end

-- ---- ranges ---------------------------------------------------------------------------------------------

local RANGE = { "start", "stop", "step" }

-- The bounds, the step and the options of np.arange.
local function take_range(...)
  local count = select("#", ...)
  if count > 1 and select(count, ...) == nil then core.to_number(nil, "arange") end -- raises: a misspelt variable
  local start, stop, step, options = core.take_named("arange", RANGE, ...)
  stop, step, options = core.take_early_options(stop, step, options)
  if stop == nil then start, stop = 0, start end
  if stop == nil or type(options) == "number" then
    raise("arange takes (stop), (start, stop) or (start, stop, step), then options")
  end
  start, stop = core.to_number(start == nil and 0 or start, "arange"), core.to_number(stop, "arange")
  return start, stop, step == nil and 1 or core.to_number(step, "arange"), options
end

local function ramp(name, dtype, count, first, step)
  local whole = core.is_integer(first) and core.is_integer(step)
  return generate(name .. (whole and "i" or "f"), dtype, { count }, function(body)
    return body:number(0, not whole) + body:coordinate() * body:number(1, not whole)
  end, { first, step })
end

-- np.arange of integers alone; nil: it is something else, or launched step by step.
local function integers_at_once(count, start, stop, step)
  if count == 1 then start, stop, step = 0, start, 1 elseif count == 2 then step = 1 end
  if count > 3 or not (core.is_integer(start) and core.is_integer(stop) and core.is_integer(step)) or step == 0 then
    return nil
  end
  local layout = plain_layout(dtypes.INT64, 1, math.max(0, math.ceil((stop - start) / step)))
  return generate_at_once(kinds["arangei>int64"], layout, 2, start, step)
end

-- np.arange(n): 0 to n - 1.  np.arange(start, stop, step): stop is not included.  int64 if all are integers.
---@return lgt_array
function np.arange(...)
  local result = integers_at_once(select("#", ...), ...)
  if result then return result end
  local start, stop, step, options = take_range(...)
  if step == 0 then raise("arange: the step is 0") end
  local whole = core.is_integer(start) and core.is_integer(stop) and core.is_integer(step)
  local dtype = take_dtype(options, whole and dtypes.INT64 or dtypes.FLOAT64, "arange")
  return ramp("arange", dtype, math.max(0, math.ceil((stop - start) / step)), start, step)
end

-- np.span(lo, hi): the integers lo to hi, both included, as Lua counts: np.span(1, n) are all positions.
---@return lgt_array int64
function np.span(lo, hi, step, options)
  if core.is_options(step) then step, options = nil, step end
  lo, hi, step = plain(lo), plain(hi), plain(step or 1)
  if not core.is_integer(lo) or not core.is_integer(hi) or not core.is_integer(step) or step == 0 then
    raise("span: integers lo, hi and a step other than 0 were expected")
  end
  local dtype = take_dtype(options, dtypes.INT64, "span")
  return ramp("arange", dtype, math.max(0, math.floor((hi - lo) / step) + 1), lo, step)
end

local LINE = { "start", "stop", "num" }
local line_options = { dtype = true, endpoint = true, retstep = true, axis = true }

-- np.linspace between arrays.
local function lines_between(first, last, count, parts, options)
  local shape = core.broadcast_shapes({ core.shape_of(first), core.shape_of(last) }, "linspace")
  local dtype = dtypes.promote(core.dtype_of(first), core.dtype_of(last))
  if dtypes.category[dtype] < 2 then dtype = dtypes.FLOAT64 end
  local name = dtypes.name[dtype]
  first = np.broadcast_to(np.asarray(first, { dtype = name }), shape)
  last = np.broadcast_to(np.asarray(last, { dtype = name }), shape)
  local step = (last - first) / parts
  local column = { count }
  for d = 1, #shape do column[d + 1] = 1 end
  local steps = np.arange(count, { dtype = dtypes.name[dtypes.part_of(dtype)] })
  local result = np.reshape(steps, column) * (parts > 0 and step or last - first) + first
  if options.endpoint ~= false and count > 1 then result[-1] = last end
  if options.dtype then
    local whole = dtypes.category[core.check_dtype(options.dtype, "linspace")] == 1
    result = np.astype(whole and np.floor(result) or result, options.dtype)
  end
  result = np.moveaxis(result, 1, core.check_axis(options.axis or 1, #shape + 1, "linspace"))
  if options.retstep then return result, step end
  return result
end

-- What a line may end at: a number of the script, or an array.
local function line_end(x)
  if core.is_array(x) and core.ndim_of(x) > 0 or type(x) == "table" or dtypes.of_scalar(x) == dtypes.COMPLEX128 then
    return np.asarray(x)
  end
  return core.to_number(x, "linspace")
end

-- `count` numbers (50) from `first` to `last`, both included (`last` only unless endpoint = false).
---@param first number|lgt_array
---@param last number|lgt_array
---@param count integer?
---@param options {start: any, stop: any, num: integer?, endpoint: boolean?, retstep: boolean?, dtype: string?,
---  axis: integer?}? retstep: the distance is a second result; axis: along which lines between arrays lie, 1
---@return lgt_array float64, number?
function np.linspace(first, last, count, options)
  first, last, count, options = core.take_named("linspace", LINE, first, last, count, options)
  options = core.check_options(options, line_options, "linspace")
  count = plain(count or 50)
  if not core.is_integer(count) or count < 0 then
    raise("linspace: a number of points was expected, not %s", (core.describe(count)))
  end
  first, last = line_end(first), line_end(last)
  local parts = options.endpoint == false and count or count - 1
  if core.is_array(first) or core.is_array(last) then
    return lines_between(np.asarray(first), np.asarray(last), count, parts, options)
  end
  if options.axis ~= nil then core.check_axis(options.axis, 1, "linspace") end
  local step = parts > 0 and (last - first) / parts or 0
  local dtype = options.dtype and core.check_dtype(options.dtype, "linspace") or dtypes.FLOAT64
  local ending, whole = options.endpoint ~= false and count > 1, dtypes.category[dtype] == 1
  local result = generate("linspace" .. (ending and "e" or ""), dtype, { count }, function(body)
    local i = body:coordinate()
    local x = i * body:number(1, true) + body:number(0, true)
    if whole then x = x:floor() end
    if not ending then return x end
    return i:eq(body:number(3, false)):select(body:number(2, true), x)
  end, { first, step, whole and math.floor(last) or last, count - 1 })
  if options.retstep then return result, parts > 0 and step or 0 / 0 end
  return result
end

-- ---- matrices -------------------------------------------------------------------------------------------

local function eye(who, n, m, k, options)
  k = plain(k)
  if k ~= nil and not core.is_integer(k) then
    raise("%s: the number of a diagonal is an integer, not %s", who, (core.describe(k)))
  end
  local shape = core.take_only_shape(who, n, m or n)
  return generate("eye", take_dtype(options, dtypes.FLOAT64, who), shape, function(body)
    return (body:coordinate(1) + body:number(0, false)):eq(body:coordinate(2))
  end, { k or 0 })
end

-- n rows and m (n) columns, ones on diagonal k (0).
---@param n integer
---@param m integer?
---@param k integer?
---@param options {dtype: string}|string|nil float64; also in the place of what is left out before it
---@return lgt_array
function np.eye(n, m, k, options)
  n, m, k, options = core.take_named("eye", { "N", "M", "k" }, n, m, k, options)
  return eye("eye", n, core.take_early_options(m, k, options))
end

---@param n integer
---@param options {dtype: string}|string|nil float64
---@return lgt_array
function np.identity(n, options) return eye("identity", n, n, 0, options) end

-- The diagonal of a matrix, or a matrix with a vector on its diagonal k.
---@param a lgt_array
---@param k integer? 0
---@return lgt_array
function np.diag(a, k, surplus)
  core.check_surplus(surplus, "diag")
  a, k = np.asarray(a), plain(core.named_option(k, "k", "diag")) or 0
  local ndim = core.ndim_of(a)
  if ndim == 2 then return np.diagonal(a, k) end
  if ndim ~= 1 then raise("diag: a vector or a matrix was expected, not %d dimensions", ndim) end
  if not core.is_integer(k) then
    raise("diag: the number of a diagonal is an integer, not %s", (core.describe(k)))
  end
  -- Element by element, so that nobody needs more of the matrix than a tile.
  local n, dtype = core.shape_of(a)[1], core.dtype_of(a)
  local name = "diag:" .. dtypes.name[dtype]
  kinds[name] = kinds[name] or lgt.kind(name, function(body)
    body:store(dtype, 0, body:coordinate(1):eq(body:coordinate(2)):select(body:load(dtype, 1), 0))
  end)
  local block = lgt.new(lgt.dense(dtype, { n, n }))
  lgt.launch(kinds[name], { block, lgt.alias(a, lgt.promote(core.layout_of(a), 2, n)) })
  if k == 0 then return block end
  local m, row, column = n + math.abs(k), math.max(-k, 0), math.max(k, 0)
  local result = np.zeros(m, m, { dtype = dtypes.name[dtype] })
  result[{ { row + 1, row + n }, { column + 1, column + n } }] = block
  return result
end

local function triangle(name, keep)
  np[name] = function(a, k, surplus)
    core.check_surplus(surplus, name)
    a, k = np.asarray(a), plain(core.named_option(k, "k", name))
    if core.ndim_of(a) == 0 then raise("%s: a matrix was expected, not a 0-d array", name) end
    if k ~= nil and not core.is_integer(k) then
      raise("%s: the number of a diagonal is an integer, not %s", name, (core.describe(k)))
    end
    if core.ndim_of(a) == 1 then a = np.broadcast_to(a, core.size_of(a), core.size_of(a)) end
    local dtype, ndim = core.dtype_of(a), core.ndim_of(a)
    local full = ("%s%d:%s"):format(name, ndim, dtypes.name[dtype])
    kinds[full] = kinds[full] or lgt.kind(full, function(body)
      local kept = keep(body:coordinate(ndim - 1) + body:number(0, false), body:coordinate(ndim))
      body:store(dtype, 0, kept:select(body:load(dtype, 1), 0))
    end)
    local result = lgt.new(lgt.dense(dtype, core.shape_of(a)))
    lgt.launch(kinds[full], { result, a }, { k or 0 })
    return result
  end
end
triangle("tril", function(row, column) return column:le(row) end)
triangle("triu", function(row, column) return column:ge(row) end)

-- ---- grids ----------------------------------------------------------------------------------------------

-- The coordinates along each axis, which broadcast against each other: several results.
local function open_grid(shape, dtype)
  local parts = {}
  for d = 1, #shape do
    local extents = {}
    for i = 1, #shape do extents[i] = i == d and shape[d] or 1 end
    parts[d] = np.reshape(np.arange(shape[d], { dtype = dtypes.name[dtype] }), extents)
  end
  return unpack(parts)
end

-- Give the elements of an array their coordinates along axis d, from 0.
function core.fill_with_coordinates(array, d)
  local dtype = core.dtype_of(array)
  local name = ("index%d>%s"):format(d, dtypes.name[dtype])
  kinds[name] = kinds[name] or lgt.kind(name, function(body) body:store(dtype, 0, body:coordinate(d)) end)
  lgt.launch(kinds[name], { array })
end

-- For each axis the coordinates (from 0) of every element, stacked: shape (ndim, ...).  Options: dtype; sparse: one
-- array for each axis (several results), with no other extents than along it.
---@return lgt_array int64
function np.indices(...)
  local shape, options = core.take_named_shape("indices", "dimensions", ...)
  options = core.check_options(options, { dtype = true, sparse = true }, "indices")
  local dtype = options.dtype and core.check_dtype(options.dtype, "indices") or dtypes.INT64
  if options.sparse then return open_grid(shape, dtype) end
  local whole = { #shape, unpack(shape) }
  local result = lgt.new(lgt.dense(dtype, whole))
  for d = 1, #shape do
    core.fill_with_coordinates(lgt.alias(result, lgt.project(core.layout_of(result), 1, d - 1)), d)
  end
  return result
end

-- Matrices of coordinates from vectors, one for each (multiple results), as views.  Options: indexing, "xy"
-- (the default: the first vector runs along columns) or "ij"; sparse, whether to leave them unstretched; copy = true:
-- arrays of their own, which can be written.
---@return lgt_array ...
function np.meshgrid(...)
  local vectors, count = { ... }, select("#", ...)
  local options
  if core.is_options(vectors[count]) then
    options = vectors[count]
    vectors[count] = nil
    count = count - 1
  end
  options = core.check_options(options, { indexing = true, sparse = true, copy = true }, "meshgrid")
  if options.indexing and options.indexing ~= "xy" and options.indexing ~= "ij" then
    raise("meshgrid: indexing is \"xy\" or \"ij\", not %q", core.word(options.indexing))
  end
  local swap = options.indexing ~= "ij" and count >= 2
  local shape, grids = {}, {}
  for i = 1, count do vectors[i] = np.ravel(vectors[i]) end
  for d = 1, count do
    local source = swap and (d == 1 and 2 or d == 2 and 1) or d
    shape[d] = core.size_of(vectors[source])
  end
  for i = 1, count do
    local along = swap and (i == 1 and 2 or i == 2 and 1) or i
    local layout = core.layout_of(vectors[i])
    for _ = along + 1, count do layout = lgt.promote(layout, layouts[layout].ndim + 1, 1) end
    for _ = 1, along - 1 do layout = lgt.promote(layout, 1, 1) end
    grids[i] = lgt.alias(vectors[i], options.sparse and layout or lgt.broadcast(layout, shape))
    if options.copy then grids[i] = np.copy(grids[i]) end
  end
  return unpack(grids, 1, count)
end

-- An array of the elements of FFI memory, copied.  On several ranks they must be alike on all of them: fill what malloc
-- returned before.
---@param pointer ffi.cdata*
---@param count integer
---@param dtype string
function np.frompointer(pointer, count, dtype, surplus)
  core.check_surplus(surplus, "frompointer")
  local number = core.check_dtype(dtype, "frompointer")
  local p = core.host_memory(number, count)
  ffi.copy(p, pointer, count * dtypes.size[number])
  return core.adopt(number, { count }, p)
end

return true
