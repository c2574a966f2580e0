-- array/index/planned.lua - what one or two arrays of positions in a key pick, where one domain has all: planned once.
--
-- Which kind is launched on which views follows from layouts, and from the axes that are picked from: it is remembered
-- by these numbers.  So reading or writing a few elements costs a launch, not the tables that picks.lua makes.
-- Whatever else a key may be, wrong as well, is nil or false here: that is for picks.lua.

local ffi = require "ffi"
local core = require "array.core"
local native = require "array.core.native"
local picks = require "array.index.picks"

local lgt, dtypes, np = core.lgt, core.dtypes, core.np
local Array, handles, layouts, front = lgt.Array, lgt.handles, lgt.layouts, lgt.front
local C, rt, wrap, slot, fresh, commit = lgt.C, lgt.rt, lgt.wrap, lgt.slot, lgt.fresh, lgt.commit
local istype, type, entries = ffi.istype, type, lgt.entries
local clear = require "table.clear"

local planned = {}

local WHOLE = native.whole
local FEW_BYTES = 2 ^ 12 -- that are picked while a task would begin

local take_entry -- keys.lua's: the layout, and the next axis, after an entry that is a position or a range
function planned.bind(f) take_entry = f end

-- ---- plans ----------------------------------------------------------------------------------------------------

-- [layout of what is picked from][axes, as `look` has them][layout of positions][of the second array of positions, or
-- 0]; to each number 0.5 is added, as in keys.lua, where it also says why all are forgotten at times.
local plans = {}
local MOST = 8192
local remembered, epoch = 0, front.epoch

local function forget()
  remembered, epoch = 0, front.epoch
  clear(plans)
end

local function child(of, key)
  local found = of[key]
  if not found then
    found = {}
    of[key] = found
  end
  return found
end

-- What a launch needs: view, the layout of what is picked from with its axes in order; shape and result (a layout) of
-- what is picked; at and at2, layouts of the positions; the kinds.  `front` and `values` are of scatters, made by the
-- first of them: without axes before those that are picked from there is one of extent 1, by which nothing is cut;
-- `full`: there is no room for that one.
local function make(layout, code, first, second)
  if remembered == MOST then forget() end
  remembered = remembered + 1
  local digits, numbers = math.floor(code / 100), code % 100
  local axes, shapes = digits < 10 and { digits } or { math.floor(digits / 10), digits % 10 }, { lgt.shape(first) }
  if second ~= 0 then shapes[2] = lgt.shape(second) end
  local common = core.broadcast_shapes(shapes, "index")
  local order, shape, before = picks.arrange(lgt.shape(layout), axes, common)
  if #shape > 6 then return nil end
  local plan = { shape = shape, before = before, values = {}, count = #axes, numbers = numbers }
  plan.full = before == 0 and math.max(#shape, #order) == C.LGT_MAX_DIM
  plan.view = lgt.transpose(layout, order)
  plan.result = lgt.dense(layouts[layout].dtype, shape)
  plan.at = lgt.broadcast(first, common)
  plan.at2 = second ~= 0 and lgt.broadcast(second, common) or 0
  plan.gather = picks.gather_kind(before, #common, #axes, #shape, 1)
  plan.gather_from_0 = picks.gather_kind(before, #common, #axes, #shape, 0)
  plan.few = #shape > 0 and core.product(shape) * dtypes.size[layouts[layout].dtype] <= FEW_BYTES
  plan.scatter = native.kind("scatter", "mr" .. ("r"):rep(#axes), "")
  plan.scatter_number = native.kind("scatter_number", "m" .. ("r"):rep(#axes), "")
  child(child(child(plans, layout + 0.5), code + 0.5), first + 0.5)[second + 0.5] = plan
  return plan
end
jit.off(make)

local function plan_of(layout, code, first, second)
  if front.epoch ~= epoch then forget() end
  local node = plans[layout + 0.5]
  node = node and node[code + 0.5]
  node = node and node[first + 0.5]
  return node and node[second + 0.5] or make(layout, code, first, second)
end

-- ---- keys -----------------------------------------------------------------------------------------------------

-- Integers as int64; nil: others.
local function as_positions(e, dtype)
  if dtype == dtypes.INT64 then return e end
  return dtypes.category[dtype] == 1 and np.astype(e, "int64") or nil
end

-- The array of positions that an entry of a key for an axis of so many elements is; nil: it is none.  Waits for
-- booleans.
local function positions_of(e, extent)
  local layout = handles[e.id].layout
  if layout == 0 or layouts[layout].ndim == 0 then return nil end
  local integers = as_positions(e, layouts[layout].dtype)
  if integers then return integers end
  if layouts[layout].dtype ~= dtypes.BOOL or layouts[layout].ndim > 1 then return nil end
  return layouts[layout].shape[0] == extent and picks.nonzero(e)[1] or nil
end

-- The layout of what the arrays in a table pick from; their axes there and then those of the whole array, which errors
-- name, as two digits each; the arrays.  nil for what needs more thought.
local function look(layout, key)
  local count, axis, axes, first, second, rest = #key, 0, 0, nil, nil, false
  local numbers, before = 0, 0 -- entry i is of axis i + before of the whole array
  if count == 0 or entries(key) ~= count then return nil end
  for i = 1, count do
    local e, l = key[i], layouts[layout]
    if e == "..." then
      if rest then return nil end
      rest, before = true, l.ndim - (count - i) - axis - 1
      axis = axis + before + 1
      if before < -1 then return nil end
    elseif axis >= l.ndim then
      return nil
    elseif istype(Array, e) then
      local positions = positions_of(e, l.shape[axis])
      if not positions or second then return nil end
      if first then second = positions else first = positions end
      axis = axis + 1
      axes, numbers = axes * 10 + axis, numbers * 10 + i + before
    elseif type(e) == "string" then
      return nil
    else
      layout, axis = take_entry(layout, axis, tonumber(l.shape[axis]), e)
      if layout == 0 then return nil end
    end
  end
  if not first or axis ~= layouts[layout].ndim then return nil end
  return layout, axes * 100 + numbers, first, second
end

-- The plan for a[key], and its one or two arrays of positions; nil for what needs more thought.
function planned.find(a, key)
  local layout = handles[a.id].layout
  if not WHOLE or layout == 0 then return nil end
  local code, first, second = 101
  if istype(Array, key) then
    local own = handles[key.id].layout
    if own == 0 or layouts[own].ndim == 0 or layouts[layout].ndim == 0 then return nil end
    first = as_positions(key, layouts[own].dtype)
    if not first then return nil end
  elseif type(key) == "table" then
    layout, code, first, second = look(layout, key)
    if not layout then return nil end
  else
    return nil
  end
  return plan_of(layout, code, handles[first.id].layout, second and handles[second.id].layout or 0), first, second
end

-- ---- launches -------------------------------------------------------------------------------------------------

-- The number of an array that shows what `a` does through another layout; `release` it after the launch.
local function through(a, layout)
  if handles[a.id].layout == layout then return a.id end
  local view = C.lgt_layout_view(rt, a.id, layout)
  if view == 0 then lgt.fail() end
  return view
end

local function release(a, view)
  if view ~= a.id then C.lgt_array_free(rt, view) end
end

-- Arguments `from` and after it are the positions, which count from `base`, and the parameters that all have; launches,
-- or does what is little at once, where nothing stands in the way.
local function finish(l, plan, from, first, second, depth, base, operation)
  l.nargs = from + plan.count
  l.param[0].f, l.param[1].f, l.param[2].f, l.param[3].f = depth, base, operation, plan.numbers
  local at = through(first, plan.at)
  local at2 = second and through(second, plan.at2) or 0
  l.arg[from] = at
  if second then l.arg[from + 1] = at2 end
  if not plan.few or C.lgt_launch_at_once(rt, l) == 0 then
    l.line = lgt.line() -- positions may be wrong
    commit()
  end
  release(first, at)
  if second then release(second, at2) end
end

-- A copy of what is picked by positions that count from `base` (1), or from 0.
---@return lgt_array
function planned.gather(a, plan, first, second, base)
  local l = slot()
  local id, view = fresh(plan.result), through(a, plan.view)
  base = base or 1
  l.kind, l.nparams = base == 1 and plan.gather or plan.gather_from_0, 4
  l.arg[0], l.arg[1] = id, view
  finish(l, plan, 2, first, second, plan.before, base, 0)
  release(a, view)
  local picked = wrap(id)
  if front.collect ~= 0 then lgt.go_on(0) end
  return picked
end

-- Do two arrays show elements of one store?  One that has none yet has no views.
local function shares(x, a)
  local store = handles[x.id].store
  return x.id == a.id or store ~= 0 and store == handles[a.id].store
end

local function front_of(plan)
  plan.front = plan.before > 0 and plan.view or lgt.promote(plan.view, 1, 1)
  return plan.front
end
jit.off(front_of)

local function layout_of_values(plan, layout)
  if C.lgt_layout_fills(rt, plan.result, layout) == 0 then return nil end
  local result = lgt.broadcast(layout, plan.shape)
  if plan.before == 0 then result = lgt.promote(result, 1, 1) end
  remembered = remembered + 1
  plan.values[layout + 0.5] = result
  return result
end
jit.off(layout_of_values)

-- Write a number or an array into what is picked, or combine it with that by an operation of native.operation; false
-- for what needs more thought.  What is written must have been looked at by core.check_assigned.
---@return boolean
function planned.scatter(a, plan, first, second, value, operation)
  if plan.full or shares(first, a) or second and shares(second, a) then return false end
  local single = type(value) == "number"
  local values = 0
  if not single then
    if not istype(Array, value) or handles[value.id].layout == 0 then return false end
    local dtype = layouts[handles[a.id].layout].dtype
    if layouts[handles[value.id].layout].dtype ~= dtype then value = np.astype(value, dtypes.name[dtype]) end
    if shares(value, a) then value = np.copy(value) end
    local layout = handles[value.id].layout
    values = plan.values[layout + 0.5] or layout_of_values(plan, layout)
    if not values then return false end
  end
  local depth, whole = plan.before > 0 and plan.before or 1, plan.front or front_of(plan)
  local l = slot()
  local target = through(a, whole)
  l.nparams, l.param[4].f = 5, 0
  l.arg[0] = target
  if single then
    l.kind, l.param[4].f = plan.scatter_number, value
    finish(l, plan, 1, first, second, depth, 1, operation or 0)
  else
    local source = through(value, values)
    l.kind, l.arg[1] = plan.scatter, source
    finish(l, plan, 2, first, second, depth, 1, operation or 0)
    release(value, source)
  end
  release(a, target)
  return true
end

return planned
