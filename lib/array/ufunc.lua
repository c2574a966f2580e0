-- array/ufunc.lua - elementwise functions: one table of generators, and the path of a launch.
--
-- A ufunc is a Lua function over values (lgt/body.lua).  What dtype comes out follows from running it,
-- so that a new ufunc is one line in the table below.
--
-- The path of a launch.  A ufunc keeps *rules*: for the classes of its operands (lgt.class_of: shape and
-- dtype as one number), which kind to launch and which layout the result has.  A hit costs some table
-- look-ups and stores; a miss promotes, broadcasts, perhaps registers a kind, and remembers.
--     array, array     rules[class_a * 2^21 + class_b]
--     array            rules[class + 0.5], so that it lies in the table's hash part (see index.lua)
--     array, number    rules[-class]
--     number, array    rules[-class - 2^21]
-- A rule is {kind, layout, large, numbers}: `large` launches say which line they come from, and
-- `numbers` (integer and bool arrays with a number) leads to rules for integral and other numbers.
-- More operands walk a tree of tables, one level for each.
--
-- In place, the rules are those of a second table; the result is the first argument itself.

local ffi = require "ffi"
local core = require "array.core"

local lgt, dtypes, raise = core.lgt, core.dtypes, core.raise
local np = core.np
local Array, handles, class_of = lgt.Array, lgt.handles, lgt.class_of
local slot, fresh, commit, wrap, source_line = lgt.slot, lgt.fresh, lgt.commit, lgt.wrap, lgt.line
local istype, floor, type = ffi.istype, math.floor, type
local category = dtypes.category

local SECOND = 2 ^ 21 -- more than there are layouts

local ufunc = { all = {} }

-- ---- kinds ------------------------------------------------------------------------------------------

-- What an operand is to a kind: {dtype, weak} for an array, {number = true, fraction = bool} for a number.
local function operand_of(x, who)
  if istype(Array, x) then
    local l = lgt.layouts[core.layout_of(x, who)]
    return { dtype = l.dtype, weak = l.ndim == 0 and 1 or 0 }
  end
  if type(x) == "number" then return { number = true, fraction = not (x == floor(x) and x - x == 0) } end
  raise("%s: arrays and numbers were expected, not %s%s", who, core.describe(x),
    type(x) == "table" and ": np.array makes an array of a table" or "")
end

local function operand_text(o)
  if o.number then return o.fraction and "#f" or "#i" end
  return dtypes.name[o.dtype] .. (o.weak == 1 and "." or "")
end

-- The kind of a ufunc for these operands.  `into` is the dtype of an array given as out=, or nil;
-- `masked` adds a bool operand at the end that says where to write.  Arguments are the results, then the
-- arrays (without the first, which is the result, in place), then the mask.
---@return table {kind, dtypes of the results}
local function kind_of(u, operands, into, masked)
  local texts = {}
  for i, o in ipairs(operands) do texts[i] = operand_text(o) end
  local name = u.name .. ":" .. table.concat(texts, ",")
  if into then name = name .. ">" .. dtypes.name[into] end
  if masked then name = name .. "?" end
  local known = u.kinds[name]
  if known then return known end
  local result = { dtypes = {} }
  result.kind = lgt.kind(name, function(body)
    local values, arg, number = {}, u.nout, 0
    for i, o in ipairs(operands) do
      if o.number then
        values[i] = body:number(number, o.fraction)
        number = number + 1
      elseif i == 1 and u.inplace then
        values[i] = body:load(o.dtype, 0, o.weak)
      else
        values[i] = body:load(o.dtype, arg, o.weak)
        arg = arg + 1
      end
    end
    local results = { u.f(unpack(values)) }
    if #results ~= u.nout then raise("%s: the function gave %d results, not %d", u.name, #results, u.nout) end
    for i = 1, u.nout do
      local x = body:constant(results[i])
      local dtype = u.inplace and operands[1].dtype or into or x.dtype
      if (u.inplace or into) and not dtypes.can_cast(x.dtype, dtype) then
        raise("%s: the result is %s and cannot be written into an array of %s; use astype",
          u.name, dtypes.name[x.dtype], dtypes.name[dtype])
      end
      if masked then x = body:load(dtypes.BOOL, arg):select(x, body:load(dtype, i - 1)) end
      result.dtypes[i] = dtype
      body:store(dtype, i - 1, x)
    end
  end)
  u.kinds[name] = result
  return result
end

-- ---- rules ------------------------------------------------------------------------------------------

local function shapes_of(arguments)
  local shapes = {}
  for i = 1, #arguments do
    shapes[i] = istype(Array, arguments[i]) and core.shape_of(arguments[i]) or {}
  end
  return shapes
end

-- A rule for these arguments, not remembered.
local function make_rule(u, arguments)
  local operands = {}
  for i = 1, #arguments do operands[i] = operand_of(arguments[i], u.name) end
  local shapes = shapes_of(arguments)
  local shape = core.broadcast_shapes(shapes, u.name)
  if u.inplace and not core.same_shape(shape, shapes[1]) then
    raise("%s: an array of shape %s cannot take a result of shape %s in place", u.name, core.shape_text(shapes[1]),
      core.shape_text(shape))
  end
  local k = kind_of(u, operands)
  local layout = lgt.dense(k.dtypes[1], shape)
  local rule = { kind = k.kind, layout = layout, large = lgt.is_large(layout) }
  for i = 2, u.nout do rule[i] = lgt.dense(k.dtypes[i], shape) end
  return rule
end

-- The rule for an array and a number, which is operand number `place`.
local function rule_with(u, array, place, x)
  return make_rule(u, place == 1 and { x, array } or { array, x })
end

-- For an array of integers and a number: one rule for numbers that the dtype holds, one for fractions, each
-- made when it is first needed (number_rule).
local function make_number_rule(u, array, place)
  local dtype = core.dtype_of(array)
  if category[dtype] >= 2 then return rule_with(u, array, place, 0) end
  local rule = { dtype = dtype, numbers = true, integral = false, fraction = false }
  rule.lowest, rule.highest = dtypes.range_of(dtype)
  if dtype == dtypes.BOOL then rule.lowest, rule.highest = -2 ^ 63, 2 ^ 63 - 1025 end -- becomes int64
  return rule
end

-- Which of the rules a number leads to.
local function number_rule(u, rule, array, place, x)
  if x == floor(x) and x >= rule.lowest and x <= rule.highest then
    if not rule.integral then rule.integral = rule_with(u, array, place, 1) end
    return rule.integral
  end
  if x == floor(x) and x - x == 0 and not u.compares then
    raise("%s: %.17g does not fit into %s; use astype on the array first", u.name, x, dtypes.name[rule.dtype])
  end
  if not rule.fraction then rule.fraction = rule_with(u, array, place, 0.5) end
  return rule.fraction
end

local function learn_pair(u, a, b)
  if istype(Array, a) and istype(Array, b) then
    local rule = make_rule(u, { a, b })
    u[lgt.classify(core.layout_of(a)) * SECOND + lgt.classify(core.layout_of(b))] = rule
    return rule
  elseif istype(Array, a) then
    operand_of(b, u.name)
    local class = lgt.classify(core.layout_of(a, u.name))
    u[-class] = make_number_rule(u, a, 2)
    return u[-class]
  end
  operand_of(a, u.name)
  local class = lgt.classify(core.layout_of(b, u.name))
  u[-class - SECOND] = make_number_rule(u, b, 1)
  return u[-class - SECOND]
end
jit.off(learn_pair)

local function learn_single(u, a)
  local class = lgt.classify(core.layout_of(a, u.name))
  u[class + 0.5] = make_rule(u, { a })
  return u[class + 0.5]
end
jit.off(learn_single)

-- ---- the path of a launch ---------------------------------------------------------------------------

local function scalar_result(u, ...)
  if u.scalar then return u.scalar(...) end
  local first = np.full({}, (...))
  return core.read_item(ufunc.call(u, first, select(2, ...)))
end

local function boxed(x) return np.array(x) end -- a boxed integer or complex number takes part as a 0-d array

local function other_pair(u, a, b)
  local ta, tb = type(a), type(b)
  if ta == "number" and tb == "number" then return scalar_result(u, a, b) end
  if lgt.is_value(a) or lgt.is_value(b) then return u.f(a, b) end
  if ta == "boolean" or (ta == "cdata" and not istype(Array, a) and dtypes.of_scalar(a)) then
    return ufunc.binary(u, boxed(a), b)
  end
  if tb == "boolean" or (tb == "cdata" and not istype(Array, b) and dtypes.of_scalar(b)) then
    return ufunc.binary(u, a, boxed(b))
  end
  operand_of(a, u.name)
  operand_of(b, u.name)
end
jit.off(other_pair)

-- One function for each pair of operands, and one that chooses: what is compiled on its own stays compiled where the
-- choice is interpreted.  Parentheses around what is returned make a call that is no tail call: the JIT compiler takes
-- loops with 15 tail calls at most as a whole, and there is one an operation already, in the operators and methods.
local function binary_arrays(u, a, b)
  if not (istype(Array, a) and istype(Array, b)) then return other_pair(u, a, b) end
  local rule = u[class_of[handles[a.id].layout] * SECOND + class_of[handles[b.id].layout]] or learn_pair(u, a, b)
  local line = rule.large and source_line() or 0
  local l = slot()
  local id = fresh(rule.layout)
  l.kind, l.nargs, l.nparams, l.line = rule.kind, 3, 0, line
  l.arg[0], l.arg[1], l.arg[2] = id, a.id, b.id
  commit()
  return (wrap(id))
end

local function launch_number(rule, a, x)
  local line = rule.large and source_line() or 0
  local l = slot()
  local id = fresh(rule.layout)
  l.kind, l.nargs, l.nparams, l.line = rule.kind, 2, 1, line
  l.arg[0], l.arg[1] = id, a.id
  l.param[0].f = x
  commit()
  return (wrap(id))
end

local function array_number(u, a, b)
  if not istype(Array, a) then return other_pair(u, a, b) end
  local rule = u[-class_of[handles[a.id].layout]] or learn_pair(u, a, b)
  if rule.numbers then rule = number_rule(u, rule, a, 2, b) end
  return (launch_number(rule, a, b))
end

local function number_array(u, a, b)
  if not istype(Array, b) then return other_pair(u, a, b) end
  local rule = u[-class_of[handles[b.id].layout] - SECOND] or learn_pair(u, a, b)
  if rule.numbers then rule = number_rule(u, rule, b, 1, a) end
  return (launch_number(rule, b, a))
end

local function binary(u, a, b)
  if type(b) == "number" then return (array_number(u, a, b)) end
  if type(a) == "number" then return (number_array(u, a, b)) end
  return (binary_arrays(u, a, b))
end
ufunc.binary = binary

local function other_single(u, a)
  if type(a) == "number" then return scalar_result(u, a) end
  if lgt.is_value(a) then return u.f(a) end
  if type(a) == "boolean" or (type(a) == "cdata" and dtypes.of_scalar(a)) then
    return core.read_item(ufunc.unary(u, boxed(a)))
  end
  return operand_of(a, u.name)
end
jit.off(other_single)

local function unary(u, a)
  if not istype(Array, a) then return other_single(u, a) end
  local rule = u[class_of[handles[a.id].layout] + 0.5] or learn_single(u, a)
  local line = rule.large and source_line() or 0
  local l = slot()
  local id = fresh(rule.layout)
  l.kind, l.nargs, l.nparams, l.line = rule.kind, 2, 0, line
  l.arg[0], l.arg[1] = id, a.id
  commit()
  return (wrap(id))
end
ufunc.unary = unary

-- Do two handles overlap without being the same view?  Then a launch that writes one while it reads the
-- other would see its own results.
local function overlaps(a, b)
  local x, y = handles[a.id], handles[b.id]
  return x.store == y.store and x.store ~= 0 and x.layout ~= y.layout
end
ufunc.overlaps = overlaps

local function check_target(u, a)
  if not istype(Array, a) then operand_of(a, u.name); core.layout_of(a, u.name) end
  core.check_writable(a, u.name)
end

local function inplace_array(u, a, b)
  check_target(u, a)
  if not istype(Array, b) then return other_pair(u, a, b) or a end
  if overlaps(a, b) then b = np.copy(b) end
  local rule = u[class_of[handles[a.id].layout] * SECOND + class_of[handles[b.id].layout]] or learn_pair(u, a, b)
  local line = rule.large and source_line() or 0
  local l = slot()
  l.kind, l.nargs, l.nparams, l.line = rule.kind, 2, 0, line
  l.arg[0], l.arg[1] = a.id, b.id
  commit()
  return a
end

local function inplace_number(u, a, b)
  check_target(u, a)
  local rule = u[-class_of[handles[a.id].layout]] or learn_pair(u, a, b)
  if rule.numbers then rule = number_rule(u, rule, a, 2, b) end
  local line = rule.large and source_line() or 0
  local l = slot()
  l.kind, l.nargs, l.nparams, l.line = rule.kind, 1, 1, line
  l.arg[0] = a.id
  l.param[0].f = b
  commit()
  return a
end

-- u is the table of rules for in-place use; returns a.
local function inplace(u, a, b)
  if type(b) == "number" then return (inplace_number(u, a, b)) end
  return (inplace_array(u, a, b))
end
ufunc.inplace = inplace

-- ---- any number of operands ---------------------------------------------------------------------------

-- Launch a rule whose arguments are the results and then `arguments`.
local function launch(rule, nout, results, arguments)
  local line = rule.large and source_line() or 0
  local l = slot()
  local arg, number = nout, 0
  for i = 1, #arguments do
    local x = arguments[i]
    if type(x) == "number" then
      l.param[number].f = x
      number = number + 1
    else
      l.arg[arg] = x.id
      arg = arg + 1
    end
  end
  local ids = results
  if not ids then
    ids = { fresh(rule.layout) }
    for i = 2, nout do ids[i] = fresh(rule[i]) end
  end
  for i = 1, nout do l.arg[i - 1] = ids[i] end
  l.kind, l.nargs, l.nparams, l.line = rule.kind, arg, number, line
  commit()
  return ids
end

-- How the tree of rules tells numbers apart; nil for arrays.
local function number_class(x)
  if type(x) ~= "number" then return nil end
  return x == floor(x) and x - x == 0 and -1 or -2
end

-- Integral numbers take the dtype of integer arrays beside them, so they must fit.
local function check_fits(u, x, arguments)
  for i = 1, #arguments do
    if istype(Array, arguments[i]) and category[core.dtype_of(arguments[i])] == 1 then
      local lowest, highest = dtypes.range_of(core.dtype_of(arguments[i]))
      if x < lowest or x > highest then
        raise("%s: %.17g does not fit into %s; use astype on the array first", u.name, x,
          dtypes.name[core.dtype_of(arguments[i])])
      end
    end
  end
end

-- How many values a function gives for these arguments, found by running it on a body that is thrown away.
local function count_results(u, arguments)
  return lgt.bodies.try(function(body)
    local values = {}
    for i, x in ipairs(arguments) do
      local o = operand_of(x, u.name)
      values[i] = o.number and body:number(i - 1, o.fraction) or body:load(o.dtype, i - 1, o.weak)
    end
    local count = select("#", u.f(unpack(values)))
    if count == 0 then raise("%s: the function returns nothing", u.name) end
    return count
  end)
end

-- Call a ufunc of any arity: walks the tree of rules.
function ufunc.call(u, ...)
  local arguments, values, arrays = { ... }, false, false
  local count = u.nin
  if select("#", ...) < count then raise("%s takes %d operands, not %d", u.name, count, select("#", ...)) end
  local node = u.tree
  for i = 1, count do
    local x = arguments[i]
    arrays = arrays or istype(Array, x)
    if lgt.is_value(x) then
      values = true
    elseif type(x) ~= "number" and not istype(Array, x) then
      if not dtypes.of_scalar(x) then operand_of(x, u.name) end
      arguments[i] = boxed(x)
    end
  end
  if values then return u.f(...) end
  if not arrays then return scalar_result(u, ...) end
  if not u.nout then u.nout = count_results(u, arguments) end
  for i = 1, count do
    local x = arguments[i]
    local class = number_class(x) or lgt.classify(core.layout_of(x, u.name))
    if class == -1 and (x < 0 or x > 127) then check_fits(u, x, arguments) end
    local next_node = node[class]
    if not next_node then
      next_node = i < count and {} or make_rule(u, arguments)
      node[class] = next_node
    end
    node = next_node
  end
  local ids = launch(node, u.nout, nil, arguments)
  for i = 1, u.nout do ids[i] = wrap(ids[i]) end
  return unpack(ids, 1, u.nout)
end

local call_options = { out = true, where = true, dtype = true }

-- A call with options: out=, where=, dtype=.
local function call_with(u, options, ...)
  core.check_options(options, call_options, u.name)
  local out, mask = options.out, options.where
  local arguments = { ... }
  if options.dtype then -- what it computes in
    core.check_dtype(options.dtype, u.name)
    for i, x in ipairs(arguments) do
      if istype(Array, x) then arguments[i] = np.astype(x, options.dtype) end
    end
    if out == nil and mask == nil then return ufunc.call(u, unpack(arguments)) end
  end
  if u.nout ~= 1 then
    if mask ~= nil or type(out) ~= "table" or #out ~= u.nout then
      raise("%s has %d results: out= is a table of as many arrays, and there is no where=", u.name, u.nout)
    end
    local results = { ufunc.call(u, unpack(arguments)) }
    for i, array in ipairs(out) do
      local layout = core.layout_of(array, u.name)
      core.assign(array.id, layout, results[i])
    end
    return unpack(out)
  end
  local operands = {}
  for i, x in ipairs(arguments) do operands[i] = operand_of(x, u.name) end
  local shapes = shapes_of(arguments)
  if mask ~= nil then
    mask = np.asarray(mask)
    if core.dtype_of(mask) ~= dtypes.BOOL then
      raise("%s: where= must be a boolean array, not %s", u.name, (core.describe(options.where)))
    end
    shapes[#shapes + 1] = core.shape_of(mask)
  end
  local shape = core.broadcast_shapes(shapes, u.name)
  if out == nil then out = np.zeros(shape, { dtype = dtypes.name[kind_of(u, operands).dtypes[1]] }) end
  core.layout_of(out, u.name)
  core.check_writable(out, u.name)
  if not core.same_shape(shape, core.shape_of(out)) then
    raise("%s: out= has shape %s, the result has %s", u.name, core.shape_text(core.shape_of(out)),
      core.shape_text(shape))
  end
  for i, x in ipairs(arguments) do
    if istype(Array, x) and overlaps(out, x) then arguments[i] = np.copy(x) end
  end
  if mask then arguments[#arguments + 1] = overlaps(out, mask) and np.copy(mask) or mask end
  local k = kind_of(u, operands, core.dtype_of(out), mask and true)
  launch({ kind = k.kind, large = true }, 1, { out.id }, arguments)
  return out
end


-- Launch in place on the first of several operands.
function ufunc.inplace_call(u, a, ...)
  local arguments = { a, ... }
  local node = u.tree
  for i = 1, #arguments do
    local x = arguments[i]
    if i > 1 and istype(Array, x) and overlaps(a, x) then
      x = np.copy(x)
      arguments[i] = x
    end
    local class = number_class(x) or lgt.classify(core.layout_of(x, u.name))
    if class == -1 and (x < 0 or x > 127) then check_fits(u, x, arguments) end
    local next_node = node[class]
    if not next_node then
      next_node = i < #arguments and {} or make_rule(u, arguments)
      node[class] = next_node
    end
    node = next_node
  end
  table.remove(arguments, 1)
  launch(node, 1, { a.id }, arguments)
  return a
end

-- ---- defining ---------------------------------------------------------------------------------------
--
-- A ufunc is the table of its own rules, and callable: np.exp(x), np.add(x, y, {out = z}).  What
-- ufunc.members holds can be called as np.add.at(...), the ufunc being passed first.

ufunc.members = {}

local function member(u, key)
  local f = ufunc.members[key]
  return f and function(...) return f(u, ...) end
end

local function tostring_ufunc(u) return ("ufunc %s"):format(u.name) end

local function metatable(call)
  return { __call = call, __index = member, __tostring = tostring_ufunc }
end

local meta_unary = metatable(function(u, a, options)
  if options ~= nil then return call_with(u, options, a) end
  return unary(u, a)
end)

local meta_binary = metatable(function(u, a, b, options)
  if options ~= nil then return call_with(u, options, a, b) end
  return binary(u, a, b)
end)

local meta_other = metatable(function(u, ...)
  local options = select(u.nin + 1, ...)
  if core.is_array(options) then raise("%s takes %d operands, not %d", u.name, u.nin, select("#", ...)) end
  if options ~= nil then return call_with(u, options, unpack({ ... }, 1, u.nin)) end
  return ufunc.call(u, ...)
end)

-- Rules without a public name.
function ufunc.new_rules(name, f, nin, nout)
  return { name = name, f = f, nin = nin, nout = nout, kinds = {}, tree = {} }
end

-- Make a ufunc of a function over values.  `options`: nout, the number of results (1); scalar, the same
-- function on Lua numbers; compares, whether the result is a comparison.
---@param name string
---@param f fun(...): table
---@param options table?
---@return table ufunc
function ufunc.define(name, f, options)
  options = options or {}
  local u = ufunc.new_rules(name, f, options.nin or debug.getinfo(f, "u").nparams, options.nout or 1)
  u.scalar, u.compares = options.scalar or false, options.compares or false
  ufunc.all[name] = u
  local meta = u.nin == 1 and meta_unary or u.nin == 2 and meta_binary or meta_other
  return setmetatable(u, u.nout > 1 and meta_other or meta)
end

-- A ufunc made of any scalar Lua function; how many results it has shows when it first runs.
function ufunc.anonymous(name, f, nin)
  local u = ufunc.new_rules(name, f, nin, false)
  u.scalar, u.compares = f, false
  return setmetatable(u, meta_other)
end

-- The rules for using a ufunc in place.
function ufunc.define_inplace(name, of)
  local u = ufunc.new_rules(name, ufunc.all[of].f, 2, 1)
  u.inplace = true
  return u
end

return ufunc
