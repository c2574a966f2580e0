-- array/core/ufunc.lua - elementwise functions: one table of generators, and the path of a launch.
--
-- A ufunc is a Lua function over values (lgt/body.lua).  What dtype comes out follows from running it,
-- so that a new ufunc is one line in the table below.
--
-- The path of a launch.  A ufunc keeps *rules*: for the types of its operands, which kind to launch and of what
-- dtype the result is.  A type is a dtype, and whether the array has no dimensions (`type` of a layout): so there are
-- few rules, however many shapes a program meets.  A hit costs some table look-ups and stores, and a call of C that
-- knows the layout of the result (model/result.h); a miss promotes, perhaps registers a kind, and remembers.
--     array, array     u.pairs[type][type]
--     array            u.single[type]
--     array, number    u.before[type]
--     number, array    u.after[type]
-- A rule is {kind, dtype, numbers}: `numbers` (integer and bool arrays with a number) leads to rules for
-- integral and other numbers.  More operands walk a tree of tables, one level for each.
-- Where the types of operands alone lead to a rule C knows it, too (u.fast), and launches by it in one call, unless
-- something is to be done first; what the tree has for up to three operands is told with the call.
--
-- Some numbers mean less work, as an exponent of 2 does: those that u.known(dtype, x) names are constants of kinds of
-- their own, found in `known` of a rule.
--
-- In place, the rules are those of a second table; the result is the first argument itself.

local ffi = require "ffi"
local core = require "array.core"

local lgt, dtypes, raise = core.lgt, core.dtypes, core.raise
local np = core.np
local Array, handles, layouts = lgt.Array, lgt.handles, lgt.layouts
local slot, fresh, commit, wrap, line_for = lgt.slot, lgt.fresh, lgt.commit, lgt.wrap, lgt.line_for
local wrap_launched = lgt.wrap_launched
local C, rt = lgt.C, lgt.rt
local istype, floor, type = ffi.istype, math.floor, type
local category = dtypes.category
local new_table = require "table.new"

-- Rules by type lie in the array part of their tables, where the JIT compiler looks them up at once.
local NO_RULES = new_table(31, 0)

-- Remember a rule in u[which], or a list of rules in u[which][type].
local function remember(u, which, t, rule)
  if u[which] == NO_RULES then u[which] = new_table(31, 0) end
  u[which][t] = rule
  return rule
end

-- Those that C knows.
local NO_FAST = ffi.new("lgt_rules")

local ufunc = { all = {}, NO_FAST = NO_FAST }

-- Tell C a rule for operands of the types t and, if it is not nil, t2.
---@param place "pair"|"single"|"before"|"after"
local function teach(u, rule, place, t, t2)
  if u.inplace then return end
  if u.fast == NO_FAST then u.fast = ffi.new("lgt_rules") end
  local entry = t2 and u.fast[place][t][t2] or u.fast[place][t]
  entry.kind, entry.dtype = rule.kind, rule.dtype
end
jit.off(teach)
ufunc.teach = teach

-- ---- kinds ------------------------------------------------------------------------------------------

-- What an operand is to a kind: {dtype, weak} for an array, {number = true, fraction = bool} for a number.
local function operand_of(x, who)
  if istype(Array, x) then
    local l = lgt.layouts[core.layout_of(x, who)]
    return { dtype = l.dtype, weak = l.ndim == 0 and 1 or 0 }
  end
  if type(x) == "number" then return { number = true, fraction = not (x == floor(x) and x - x == 0) } end
  raise("%s: arrays and numbers were expected, not %s%s", who, (core.describe(x)), core.way_to_array(x))
end

-- Those of a call.  A number that u.known names is a constant.
local function operands_of(u, arguments)
  local operands = {}
  for i = 1, #arguments do operands[i] = operand_of(arguments[i], u.name) end
  local first, second = operands[1], operands[2]
  if u.known and first.dtype and second.number and u.known(first.dtype, arguments[2]) then
    second.constant = arguments[2]
  end
  return operands
end

local function operand_text(o)
  if o.constant then return ("=%.17g"):format(o.constant) end
  if o.number then return o.fraction and "#f" or "#i" end
  return dtypes.name[o.dtype] .. (o.weak == 1 and "." or "")
end

-- Raise where a result of one dtype does not go into an array of another.
function ufunc.check_cast(from, to, who)
  if not dtypes.can_cast(from, to) then
    raise("%s: the result is %s and cannot be written into an array of %s; use astype", who, dtypes.name[from],
      dtypes.name[to])
  end
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
      if o.constant then
        values[i] = o.constant
      elseif o.number then
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
      if u.inplace or into then ufunc.check_cast(x.dtype, dtype, u.name) end
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

-- The layout of what the operands give: their common shape, of this dtype.  Raises where there is none.
local function common_layout(u, arguments, dtype)
  local layout
  for i = 1, #arguments do
    if istype(Array, arguments[i]) then
      local next_layout = handles[arguments[i].id].layout
      layout = C.lgt_layout_join(rt, dtype, layout or next_layout, next_layout)
      if layout == 0 then
        core.broadcast_shapes(shapes_of(arguments), u.name)
        lgt.fail()
      end
    end
  end
  return layout
end
jit.off(common_layout)

-- The same of two arrays.
local function join(u, a, b, dtype)
  local layout = C.lgt_layout_join(rt, dtype, handles[a.id].layout, handles[b.id].layout)
  return layout ~= 0 and layout or common_layout(u, { a, b }, dtype)
end

local function like(a, dtype)
  local layout = handles[a.id].layout
  layout = C.lgt_layout_join(rt, dtype, layout, layout)
  if layout == 0 then lgt.fail() end
  return layout
end

-- A rule for these arguments, not remembered.
local function make_rule(u, arguments)
  local operands = operands_of(u, arguments)
  core.broadcast_shapes(shapes_of(arguments), u.name) -- raises where they do not fit, before a kind is made
  local k = kind_of(u, operands)
  return { kind = k.kind, dtype = k.dtypes[1], dtypes = k.dtypes }
end

local function raise_fills(u, a, b)
  raise("%s: an array of shape %s cannot take a result of shape %s in place", u.name,
    core.shape_text(core.shape_of(a)), core.shape_text(core.broadcast_shapes(shapes_of({ a, b }), u.name)))
end

local function type_of(x) return layouts[handles[x.id].layout].type end

-- The rule for an array and a number, which is operand number `place`.
local function rule_with(u, array, place, x)
  return make_rule(u, place == 1 and { x, array } or { array, x })
end

-- For an array of integers and a number: one rule for numbers that the dtype holds, one for fractions, each
-- made when it is first needed (number_rule).
local function make_number_rule(u, array, place)
  local dtype = core.dtype_of(array)
  if category[dtype] >= 2 then
    if not u.known or place == 1 then return rule_with(u, array, place, 0) end
    return { dtype = dtype, numbers = true, known = {}, other = rule_with(u, array, place, math.pi) }
  end
  local rule = { dtype = dtype, numbers = true, integral = false, fraction = false }
  rule.lowest, rule.highest = dtypes.range_of(dtype == dtypes.BOOL and dtypes.INT64 or dtype) -- bool becomes int64
  return rule
end

local function known_rule(u, rule, array, x)
  if not u.known(rule.dtype, x) then return rule.other end
  rule.known[x] = rule.known[x] or rule_with(u, array, 2, x)
  return rule.known[x]
end

-- Which of the rules a number leads to.
local function number_rule(u, rule, array, place, x)
  if rule.known then return known_rule(u, rule, array, x) end
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
  operand_of(a, u.name)
  operand_of(b, u.name)
  if not istype(Array, b) then
    local rule = remember(u, "before", type_of(a), make_number_rule(u, a, 2))
    if not rule.numbers then teach(u, rule, "before", type_of(a)) end
    return rule
  end
  if not istype(Array, a) then
    local rule = remember(u, "after", type_of(b), make_number_rule(u, b, 1))
    if not rule.numbers then teach(u, rule, "after", type_of(b)) end
    return rule
  end
  local rule = make_rule(u, { a, b })
  local seconds = u.pairs[type_of(a)] or remember(u, "pairs", type_of(a), new_table(31, 0))
  seconds[type_of(b)] = rule
  teach(u, rule, "pair", type_of(a), type_of(b))
  return rule
end
jit.off(learn_pair)

local function learn_single(u, a)
  core.layout_of(a, u.name)
  local rule = remember(u, "single", type_of(a), make_rule(u, { a }))
  teach(u, rule, "single", type_of(a))
  return rule
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
  local own = core.foreign(u.name, a, b)
  if own then return own(a, b) end
  operand_of(a, u.name)
  operand_of(b, u.name)
end
jit.off(other_pair)

-- One function for each pair of operands, and one that chooses: what is compiled on its own stays compiled where the
-- choice is interpreted.  Parentheses around what is returned make a call that is no tail call: the JIT compiler takes
-- loops with 15 tail calls at most as a whole, and there is one an operation already, in the operators and methods.
local function launch_arrays(u, a, b)
  local rules = u.pairs[type_of(a)]
  local rule = rules and rules[type_of(b)] or learn_pair(u, a, b)
  local layout = join(u, a, b, rule.dtype)
  local line = line_for(layout, 3)
  local l = slot()
  local id = fresh(layout)
  l.kind, l.nargs, l.nparams, l.line = rule.kind, 3, 0, line
  l.arg[0], l.arg[1], l.arg[2] = id, a.id, b.id
  commit()
  return (wrap(id))
end

local function binary_arrays(u, a, b)
  if not (istype(Array, a) and istype(Array, b)) then return other_pair(u, a, b) end
  local id = C.lgt_launch_pair(rt, u.fast, a.id, b.id)
  if id ~= 0 then return (wrap_launched(id)) end
  return (launch_arrays(u, a, b))
end

local function launch_number(rule, a, x)
  local layout = like(a, rule.dtype)
  local line = line_for(layout, 3)
  local l = slot()
  local id = fresh(layout)
  l.kind, l.nargs, l.nparams, l.line = rule.kind, 2, 1, line
  l.arg[0], l.arg[1] = id, a.id
  l.param[0].f = x
  commit()
  return (wrap(id))
end

local function array_number(u, a, b)
  if not istype(Array, a) then return other_pair(u, a, b) end
  local id = C.lgt_launch_before(rt, u.fast, a.id, b)
  if id ~= 0 then return (wrap_launched(id)) end
  local rule = u.before[type_of(a)] or learn_pair(u, a, b)
  if rule.numbers then rule = number_rule(u, rule, a, 2, b) end
  return (launch_number(rule, a, b))
end

local function number_array(u, a, b)
  if not istype(Array, b) then return other_pair(u, a, b) end
  local id = C.lgt_launch_after(rt, u.fast, a, b.id)
  if id ~= 0 then return (wrap_launched(id)) end
  local rule = u.after[type_of(b)] or learn_pair(u, a, b)
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
  local own = core.foreign(u.name, a)
  if own then return own(a) end
  return operand_of(a, u.name)
end
jit.off(other_single)

local function launch_single(u, a)
  local rule = u.single[type_of(a)] or learn_single(u, a)
  local layout = like(a, rule.dtype)
  local line = line_for(layout, 2)
  local l = slot()
  local id = fresh(layout)
  l.kind, l.nargs, l.nparams, l.line = rule.kind, 2, 0, line
  l.arg[0], l.arg[1] = id, a.id
  commit()
  return (wrap(id))
end

local function unary(u, a)
  if not istype(Array, a) then return other_single(u, a) end
  local id = C.lgt_launch_single(rt, u.fast, a.id)
  if id ~= 0 then return (wrap_launched(id)) end
  return (launch_single(u, a))
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

local function operand_array(u, x)
  if type(x) == "boolean" or (type(x) == "cdata" and dtypes.of_scalar(x)) then return boxed(x) end
  operand_of(x, u.name) -- raises
end
jit.off(operand_array)

local function inplace_array(u, a, b)
  check_target(u, a)
  if not istype(Array, b) then b = operand_array(u, b) end
  if overlaps(a, b) then b = np.copy(b) end
  local rules = u.pairs[type_of(a)]
  local rule = rules and rules[type_of(b)] or learn_pair(u, a, b)
  local layout = handles[a.id].layout
  if C.lgt_layout_fills(rt, layout, handles[b.id].layout) == 0 then raise_fills(u, a, b) end
  local line = line_for(layout, 2)
  local l = slot()
  l.kind, l.nargs, l.nparams, l.line = rule.kind, 2, 0, line
  l.arg[0], l.arg[1] = a.id, b.id
  commit()
  return a
end

local function inplace_number(u, a, b)
  check_target(u, a)
  local rule = u.before[type_of(a)] or learn_pair(u, a, b)
  if rule.numbers then rule = number_rule(u, rule, a, 2, b) end
  local line = line_for(handles[a.id].layout, 2)
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

-- Launch a kind whose arguments are the results and then `arguments`.
local function launch(kind, results, arguments)
  local line = line_for(handles[results[1].id].layout, 2)
  local l = slot()
  local arg, number = #results, 0
  for i = 1, #results do l.arg[i - 1] = results[i].id end
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
  l.kind, l.nargs, l.nparams, l.line = kind, arg, number, line
  commit()
end

-- How the tree of rules tells numbers apart that are no more than that: integral ones, and others.
local INTEGRAL, OTHER = -1, -2
local function class_of(x) return x == floor(x) and x - x == 0 and INTEGRAL or OTHER end

-- The same for operands; nil for arrays.
local function number_class(u, x, first)
  if type(x) ~= "number" then return nil end
  if u.known and istype(Array, first) and u.known(core.dtype_of(first), x) then return "=" .. x end
  return class_of(x)
end

-- Does every type of integers hold an integral number?
local function fits_all(x) return x >= 0 and x <= 127 end

-- Integral numbers take the dtype of integer arrays beside them, so they must fit.
local function check_fits(u, x, arguments)
  for i = 1, #arguments do
    if istype(Array, arguments[i]) and category[core.dtype_of(arguments[i])] == 1 then
      if not dtypes.holds(core.dtype_of(arguments[i]), x) then
        raise("%s: %.17g does not fit into %s; use astype on the array first", u.name, x,
          dtypes.name[core.dtype_of(arguments[i])])
      end
    end
  end
end

-- The rule for operands of any number: a walk along the tree of rules.
local function find_rule(u, arguments, count)
  local node = u.tree
  for i = 1, count do
    local x = arguments[i]
    local class = number_class(u, x, arguments[1])
    if not class then
      core.layout_of(x, u.name)
      class = type_of(x)
    elseif class == INTEGRAL and not fits_all(x) then
      check_fits(u, x, arguments)
    end
    local next_node = node[class]
    if not next_node then
      next_node = i < count and {} or make_rule(u, arguments)
      node[class] = next_node
    end
    node = next_node
  end
  return node
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

-- What an operand is in the tree of rules (nil: none), and to C: an array or 0, and a number.
local function as_operand(x)
  if type(x) == "number" then return class_of(x), 0, x end
  if istype(Array, x) then return type_of(x), x.id, 0 end
  return nil, 0, 0
end

local FEW = 3

-- The result of a ufunc of up to three operands and one result, launched in one call of C.  0: nothing was launched.
local function launch_few(u, a, b, c)
  if u.nout ~= 1 or u.known then return 0 end
  local count, node = u.nin, u.tree
  local class, first, x = as_operand(a)
  local id_2, y, id_3, z = 0, 0, 0, 0
  node = node[class]
  if count > 1 and node then
    class, id_2, y = as_operand(b)
    node = node[class]
  end
  if count > 2 and node then
    class, id_3, z = as_operand(c)
    node = node[class]
  end
  if not node then return 0 end
  return C.lgt_launch_few(rt, node.kind, node.dtype, count, first, id_2, id_3, x, y, z)
end

-- Call a ufunc of any arity: walks the tree of rules.
function ufunc.call(u, ...)
  local arguments, values, arrays = { ... }, false, false
  local count = u.nin
  if select("#", ...) < count then
    if u.alone and select("#", ...) == 1 then return u.alone(...) end
    raise("%s takes %d operands, not %d", u.name, count, select("#", ...))
  end
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
  local rule, results = find_rule(u, arguments, count), {}
  for i = 1, u.nout do results[i] = lgt.new(common_layout(u, arguments, rule.dtypes[i])) end
  launch(rule.kind, results, arguments)
  return unpack(results, 1, u.nout)
end

-- For calls with options.
ufunc.operand_of, ufunc.operands_of, ufunc.shapes_of, ufunc.kind_of = operand_of, operands_of, shapes_of, kind_of
ufunc.launch, ufunc.count_results = launch, count_results

local call_options = { out = true, where = true, dtype = true, casting = true }
local called_with -- once it is needed

local function call_with(u, options, ...)
  options = core.check_options(options, call_options, u.name)
  called_with = called_with or require "array.core.called_with"
  return called_with(u, options, ...)
end

-- Launch in place on the first of several operands, which are stretched to its shape.
function ufunc.inplace_call(u, a, ...)
  local arguments = { a, ... }
  for i = 2, #arguments do
    local x = arguments[i]
    if istype(Array, x) and overlaps(a, x) then arguments[i] = np.copy(x) end
  end
  local rule = find_rule(u, arguments, #arguments)
  for i = 2, #arguments do
    local x = arguments[i]
    if istype(Array, x) and C.lgt_layout_fills(rt, handles[a.id].layout, handles[x.id].layout) == 0 then
      raise_fills(u, a, x)
    end
  end
  table.remove(arguments, 1)
  launch(rule.kind, { a }, arguments)
  return a
end

-- The same on an array with another one of its shape (a mask) and a number, by a rule that an earlier launch has left;
-- returns false, and launches nothing, where there is none or one of these needs more thought.  u knows no numbers.
---@return boolean
function ufunc.inplace_number_where(u, a, mask, x)
  local node, class = u.tree[type_of(a)], class_of(x)
  node = node and node[type_of(mask)]
  local rule = node and node[class]
  if not rule or overlaps(a, mask) then return false end
  local layout = handles[a.id].layout
  if class == INTEGRAL and not fits_all(x) and category[layouts[layout].dtype] == 1 then return false end
  local line = line_for(layout, 1)
  local l = slot()
  l.kind, l.nargs, l.nparams, l.line = rule.kind, 2, 1, line
  l.arg[0], l.arg[1] = a.id, mask.id
  l.param[0].f = x
  commit()
  return true
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

local function call_other(u, ...)
  local options = select(u.nin + 1, ...)
  if core.is_array(options) then raise("%s takes %d operands, not %d", u.name, u.nin, select("#", ...)) end
  if options ~= nil then return call_with(u, options, unpack({ ... }, 1, u.nin)) end
  return ufunc.call(u, ...)
end

local meta_other = metatable(function(u, ...)
  local a, b, c, behind = ...
  local count = u.nin
  if count == 1 then behind = b elseif count == 2 then behind = c end
  if count <= FEW and behind == nil then
    local id = launch_few(u, a, b, c)
    if id ~= 0 then return (wrap_launched(id)) end
  end
  return call_other(u, ...)
end)

-- Rules without a public name.
function ufunc.new_rules(name, f, nin, nout)
  return { name = name, f = f, nin = nin, nout = nout, kinds = {}, tree = {}, known = false,
           pairs = NO_RULES, single = NO_RULES, before = NO_RULES, after = NO_RULES, fast = NO_FAST }
end

-- Make a ufunc of a function over values.  `options`: nout, the number of results (1); scalar, the same
-- function on Lua numbers; compares, whether the result is a comparison; known(dtype, x), whether the second of two
-- operands, a number beside an array of floats or complex numbers, is to be a constant.
---@param name string
---@param f fun(...): table
---@param options table?
---@return table ufunc
function ufunc.define(name, f, options)
  options = options or {}
  local u = ufunc.new_rules(name, f, options.nin or debug.getinfo(f, "u").nparams, options.nout or 1)
  u.scalar, u.compares, u.known = options.scalar or false, options.compares or false, options.known or false
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
  u.inplace, u.known = true, ufunc.all[of].known
  return u
end

return ufunc
