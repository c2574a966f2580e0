-- array/index/picks.lua - what arrays in a key pick: reading it, writing it.
--
-- Both are tasks (ops/gather.c), so that positions are checked when these run: a wrong one
-- is raised where the result is looked at, naming the line that picked; an array that a scatter failed on stays
-- unusable until all of it is overwritten.  The last of several values for one place wins.
--
-- With several domains, each gathers the elements that its part of one array of positions names, and writes those
-- values whose positions lead to what it has; who needs what is found out when an array of positions is used first,
-- which waits for it.  Several arrays of positions are merged into one, of positions along one axis that has all
-- elements of the axes they are of: a copy of the array is made in that form, and a scatter copies it back.

local ffi = require "ffi"
local core = require "array.core"
local native = require "array.core.native"
local runs = require "array.index.runs"

local lgt, dtypes, raise, np = core.lgt, core.dtypes, core.raise, core.np
local handles, front = lgt.handles, lgt.front
local C, rt = lgt.C, lgt.rt

local picks = {}

-- An array through a layout, with one more axis in front.
local function in_front(x, layout) return lgt.alias(x, lgt.promote(layout, 1, 1)) end

-- ---- where the elements are -----------------------------------------------------------------------------------

-- Where a boolean array is true: for each of its axes an array of positions from 1.  Waits for their number.
local found_along = ffi.new("lgt_id[6]") -- no array has more dimensions
---@return lgt_array[] int64
function picks.nonzero(mask)
  local shape, lists, views = core.shape_of(mask), {}, {}
  lgt.flush()
  local status = C.lgt_array_nonzero(rt, mask.id, found_along)
  if status ~= 0 or front.collect ~= 0 then
    lgt.go_on(status)
    lgt.go_on(C.lgt_array_nonzero(rt, mask.id, found_along))
  end
  if found_along[0] ~= 0 then
    for d = 1, #shape do lists[d] = lgt.wrap(found_along[d - 1]) end
    return lists
  end
  local found = np.count_nonzero(mask)
  if native.divided(core.size_of(mask)) then
    local positions = runs.positions(np.copy(np.ravel(mask)), found)
    return #shape == 1 and { positions } or np.unravel_index(positions, shape)
  end
  for d = 1, #shape do
    lists[d] = lgt.new(lgt.dense(dtypes.INT64, { found }))
    views[d] = in_front(lists[d], core.layout_of(lists[d]))
  end
  local flat = np.ravel(mask)
  views[#shape + 1] = in_front(flat, core.layout_of(flat))
  native.launch("nonzero", ("w"):rep(#shape) .. "r", "", views, { unpack(shape, 2) })
  return lists
end

-- Each pick as {axis, number, positions}: the axis of the view, that of the whole array, an int64 array.  A boolean
-- array becomes one for each of its axes.
local function expand_picks(steps, shape)
  local list = {}
  for _, s in ipairs(steps) do
    if s.kind == "pick" then
      if core.dtype_of(s.array) == dtypes.BOOL then
        local mask_shape = core.shape_of(s.array)
        for d = 1, #mask_shape do
          if mask_shape[d] ~= shape[s.axis + d - 1] then
            raise("index: a boolean array of shape %s does not select from axes of shape %s",
              core.shape_text(mask_shape), core.shape_text(shape))
          end
        end
        for d, positions in ipairs(picks.nonzero(s.array)) do
          list[#list + 1] = { axis = s.axis + d - 1, number = s.source + d - 1, positions = positions }
        end
      else
        local positions = core.dtype_of(s.array) == dtypes.INT64 and s.array or np.astype(s.array, "int64")
        list[#list + 1] = { axis = s.axis, number = s.source, positions = positions }
      end
    end
  end
  return list
end

-- One array of positions along all of several axes of `view`, those from `first` on, merged into one.
local function merge_positions(view, first, positions, base, numbers)
  local shape = core.shape_of(view)
  local merged, extent = positions[1], shape[first]
  for k = 2, #positions do
    local result = native.new(dtypes.INT64, core.shape_of(merged))
    native.elements("merge_positions", "wrr", { result, merged, positions[k] },
      { k == 2 and base or 1, extent, numbers[k - 1], base, shape[first + k - 1], numbers[k] })
    merged, extent = result, extent * shape[first + k - 1]
  end
  return merged, extent
end

-- How the axes of an array, of which some are picked from by positions of a common shape, stand in what is picked: the
-- axes in the order before, picked, after; the shape of the selection; how many axes stand before.
function picks.arrange(shape, axes, common)
  local picked, adjacent = {}, true
  for i, axis in ipairs(axes) do
    picked[axis] = true
    adjacent = adjacent and (i == 1 or axis == axes[i - 1] + 1)
  end
  local before, after, result, order = {}, {}, {}, {}
  for d = 1, #shape do
    if not picked[d] then
      local into = adjacent and d < axes[1] and before or after
      into[#into + 1] = d
    end
  end
  for _, d in ipairs(before) do result[#result + 1], order[#order + 1] = shape[d], d end
  for _, n in ipairs(common) do result[#result + 1] = n end
  for _, d in ipairs(axes) do order[#order + 1] = d end
  for _, d in ipairs(after) do result[#result + 1], order[#order + 1] = shape[d], d end
  return order, result, #before
end

-- What a key with picks selects: the view they pick from, with its axes in the order before, picked, after; the
-- positions, stretched to one shape; the shape of the selection; how many axes stand before; the numbers of the picked
-- axes in the whole array.
local function plan_picks(a, layout, steps)
  local shape = lgt.shape(layout)
  local shapes, axes, numbers, positions = {}, {}, {}, {}
  local list = expand_picks(steps, shape)
  for i, p in ipairs(list) do shapes[i], axes[i], numbers[i] = core.shape_of(p.positions), p.axis, p.number end
  local common = core.broadcast_shapes(shapes, "index")
  local order, result, before = picks.arrange(shape, axes, common)
  for i, p in ipairs(list) do
    positions[i] = lgt.alias(p.positions, lgt.broadcast(core.layout_of(p.positions), common))
  end
  return lgt.alias(a, lgt.transpose(layout, order)), positions, result, before, numbers
end

-- Do several domains have parts of what is picked from in a form that they cannot use?
local function wants_one_axis(view, positions)
  return native.divided(core.size_of(view)) and (#positions > 1 or native.reshaped(view))
end

-- A copy of the view with all axes that are picked from as one, and positions along that.
local function in_one_axis(view, positions, before, base, numbers)
  local merged, extent = merge_positions(view, before + 1, positions, base, numbers)
  local whole, shape = core.shape_of(view), {}
  for d = 1, before do shape[d] = whole[d] end
  shape[before + 1] = extent
  for d = before + #positions + 1, #whole do shape[#shape + 1] = whole[d] end
  return np.copy(np.reshape(view, shape)), merged
end

-- The numbers of axes as the digits of one.
local function digits(numbers)
  local result = 0
  for _, n in ipairs(numbers) do result = result * 10 + n end
  return result
end

-- ---- tasks ----------------------------------------------------------------------------------------------------

-- Tiles of the result are made of tiles of the axes before and after, and of the positions.  One array of positions
-- says which elements of its axis a tile needs.
local function gather_constraints(before, between, npick, ndim, base)
  local words = {}
  for d = 0, before - 1 do words[#words + 1] = ("align(0.%d,1.%d)"):format(d, d) end
  for d = 0, between - 1 do
    local word = ("align(0.%d"):format(before + d)
    for k = 0, npick - 1 do word = word .. (",%d.%d"):format(2 + k, d) end
    words[#words + 1] = word .. ")"
  end
  for d = before + between, ndim - 1 do
    words[#words + 1] = ("align(0.%d,1.%d)"):format(d, d - between + npick)
  end
  if npick == 1 then words[#words + 1] = ("image_points(2:1.%d;%d)"):format(before, base) end
  return table.concat(words, " ")
end

-- Each tile of the target is written by the domain that has it, from those values whose positions lead there.  There is
-- one more axis in front.
local function scatter_constraints(before, between, npick, ndim)
  if npick ~= 1 or between == 0 then return "" end
  local words = {}
  for d = 1, before do words[#words + 1] = ("align(0.%d,1.%d)"):format(d, d) end
  words[#words + 1] = ("align(0.%d)"):format(before + 1)
  for d = before + between, ndim - 1 do
    words[#words + 1] = ("align(0.%d,1.%d)"):format(d - between + 2, d + 1)
  end
  words[#words + 1] = ("image_inverse(2,0.%d:2.0,1.%d;1)"):format(before + 1, before + 1)
  return table.concat(words, " ")
end

local gather_kinds = {} -- by what their constraints depend on

function picks.gather_kind(before, between, npick, ndim, base)
  local key = (((base * 8 + before) * 8 + between) * 16 + npick) * 8 + ndim
  local kind = gather_kinds[key]
  if not kind then
    local constraints = gather_constraints(before, between, npick, ndim, base)
    kind = native.kind("gather", "wr" .. ("r"):rep(npick), constraints)
    gather_kinds[key] = kind
  end
  return kind
end

local function launch_gather(view, positions, shape, before, base, axes)
  local result = lgt.new(lgt.dense(core.dtype_of(view), shape))
  local kind = picks.gather_kind(before, core.ndim_of(positions[1]), #positions, #shape, base)
  lgt.launch(kind, { result, view, unpack(positions) }, { before, base, 0, axes })
  return result
end

-- A copy of the elements of a's first axis at positions, an int64 array: what picks.gather gives for the commonest key.
-- nil where that needs more thought.
---@return lgt_array?
function picks.rows(a, positions)
  local shape, rest = core.shape_of(positions), core.shape_of(a)
  if #shape == 0 or #rest == 0 or #shape + #rest > 7 or wants_one_axis(a, { positions }) then return nil end
  for d = 2, #rest do shape[#shape + 1] = rest[d] end
  return launch_gather(a, { positions }, shape, 0, 1, 1)
end

-- What a boolean array picks; nil where that needs more thought.  Waits.
local selected = ffi.new("lgt_id[1]")
---@return lgt_array?
function picks.selected(a, mask)
  lgt.flush()
  local status = C.lgt_array_select(rt, a.id, mask.id, selected)
  if status ~= 0 or front.collect ~= 0 then
    lgt.go_on(status)
    lgt.go_on(C.lgt_array_select(rt, a.id, mask.id, selected))
  end
  if selected[0] ~= 0 then return (lgt.wrap(selected[0])) end
end

-- Write as many values as a boolean array picks there; false where that needs more thought.  Waits.
local done = ffi.new("int[1]")
---@return boolean
function picks.placed(a, mask, values)
  lgt.flush()
  if C.lgt_array_place(rt, a.id, mask.id, values.id, done) < 0 then lgt.fail() end
  return done[0] ~= 0
end

-- A copy of what the steps pick from a view of a.  Positions count from `base` (1).
---@return lgt_array
function picks.gather(a, layout, steps, base)
  local view, positions, shape, before, numbers = plan_picks(a, layout, steps)
  base = base or 1
  if not wants_one_axis(view, positions) then
    return launch_gather(view, positions, shape, before, base, digits(numbers))
  end
  local flat, merged = in_one_axis(view, positions, before, base, numbers)
  return launch_gather(flat, { merged }, shape, before, #positions == 1 and base or 1, digits(numbers))
end

-- A copy if the array shares its elements with another.
local function apart(x, from)
  return handles[x.id].store == handles[from.id].store and np.copy(x) or x
end

local function launch_scatter(view, value, positions, shape, before, axes, operation)
  local npick, between = #positions, core.ndim_of(positions[1])
  local extent = npick == 1 and core.shape_of(view)[before + 1] or 0
  native.launch("scatter", "mr" .. ("r"):rep(npick), scatter_constraints(before, between, npick, #shape),
    { in_front(view, core.layout_of(view)), in_front(value, lgt.broadcast(core.layout_of(value), shape)),
      unpack(positions) }, { before + 1, 1, operation or native.operation.set, axes, extent })
end

-- Write into what the steps pick, or combine with it by an operation of native.operation.
function picks.scatter(a, layout, steps, value, operation)
  local view, positions, shape, before, numbers = plan_picks(a, layout, steps)
  local dtype = core.dtype_of(a)
  core.check_assigned(a, value)
  value = np.asarray(value)
  local together = core.broadcast_pair(core.shape_of(value), shape)
  if not together or not core.same_shape(together, shape) then
    raise("assignment: an array of shape %s does not fit into what is picked, %d elements of shape %s",
      core.shape_text(core.shape_of(value)), core.product(shape), core.shape_text(shape))
  end
  if core.dtype_of(value) ~= dtype then value = np.astype(value, dtypes.name[dtype]) end
  value = apart(value, view)
  for i, p in ipairs(positions) do positions[i] = apart(p, view) end
  -- Several arrays of positions would go to every domain whole, so many are merged even if the target is small.
  local many = #positions > 1 and native.divided(core.size_of(positions[1]))
  if not many and not wants_one_axis(view, positions) then
    return launch_scatter(view, value, positions, shape, before, digits(numbers), operation)
  end
  local flat, merged = in_one_axis(view, positions, before, 1, numbers)
  launch_scatter(flat, value, { merged }, shape, before, digits(numbers), operation)
  core.assign(view.id, core.layout_of(view), np.reshape(flat, core.shape_of(view)))
end

return picks
