-- array/index/picks.lua - what arrays in a key pick: reading it, writing it.
--
-- Both are tasks (ops/gather.c), so that positions are checked when these run: a wrong one
-- is raised where the result is looked at, naming the line that picked; an array that a scatter failed on stays
-- unusable until all of it is overwritten.  The last of several values for one place wins.
--
-- With several domains, each gathers the elements that its part of one array of positions names, and writes those
-- values whose positions lead to what it has; who needs what is found out when an array of positions is used first,
-- which waits for it.  Several arrays of positions are merged into one, of positions along one axis that has all
-- elements of the axes they are of: a copy of the array is made in that form.  A scatter goes by the first of them.

local ffi = require "ffi"
local core = require "array.core"
local native = require "array.core.native"

local lgt, dtypes, raise, np = core.lgt, core.dtypes, core.raise, core.np
local handles, front = lgt.handles, lgt.front
local C, rt, wrap, slot, fresh, commit = lgt.C, lgt.rt, lgt.wrap, lgt.slot, lgt.fresh, lgt.commit

local picks = {}

-- An array through a layout, with one more axis in front.
local function in_front(x, layout) return lgt.alias(x, lgt.promote(layout, 1, 1)) end

-- ---- where the elements are -----------------------------------------------------------------------------------

-- What is picked is counted in runs of rows of the mask, one for each domain that has a part of it, and there in blocks
-- (ops/select.c).
local BLOCK, MOST_BLOCKS = 2 ^ 14, 64 -- elements that make another block worth while; blocks of a run

-- What a boolean array with elements picks: `n`, how many; the counts, and the bounds of runs in what is picked, as
-- arguments for tasks; whether these are cut into runs; the parameters that they take.  Waits.  A single row is not
-- cut: an axis of one element stands for as many as another one has.
local function count(mask)
  local shape, size = core.shape_of(mask), core.size_of(mask)
  local rows, number = shape[1], native.divided(size) and math.min(tonumber(C.lgt_domains(rt)), shape[1]) or 1
  local run = math.ceil(rows / number)
  local block = math.max(1, math.floor(BLOCK * rows / size), math.ceil(run / MOST_BLOCKS))
  local blocks = math.ceil(run / block)
  local counts = native.new(dtypes.INT64, { number, blocks })
  local found = { cut = number > 1, counts = counts, numbers = { run, block } }
  native.launch("mask_count", "rw", found.cut and "align(1.0,0.0) scale(0.0)" or "", { mask, counts }, found.numbers)
  if number * blocks == 1 then
    found.n = tonumber(core.element(counts))
  else
    local bounds = native.new(dtypes.INT64, { number + 1 })
    local layout = core.layout_of(bounds)
    native.launch("mask_bounds", "wr", "", { bounds, counts })
    found.n = tonumber(core.element(bounds, number))
    found.lo = lgt.alias(bounds, lgt.slice(layout, 1, 0, number, 1))
    found.hi = lgt.alias(bounds, lgt.slice(layout, 1, 1, number, 1))
  end
  return found
end

-- Launch on arrays, of which those with numbers in `rowwise` have the mask's rows, and those in `lists` what it picks.
local function launch_picked(variant, privileges, found, arrays, rowwise, lists)
  if not found.cut then return native.launch(variant, privileges, "", arrays, found.numbers) end
  local lo, words = #arrays, {}
  arrays[lo + 1], arrays[lo + 2] = found.lo, found.hi
  words[1] = ("align(%d.0,%d.0,%s.0)"):format(lo, lo + 1, table.concat(rowwise, ".0,"))
  for _, a in ipairs(rowwise) do words[#words + 1] = ("scale(%d.0)"):format(a) end
  for _, a in ipairs(lists) do words[#words + 1] = ("image_ranges(%d,%d:%d.0)"):format(lo, lo + 1, a) end
  native.launch(variant, privileges .. "rr", table.concat(words, " "), arrays, found.numbers)
end

local function list_many(mask)
  local lists, numbers, ndim = {}, {}, core.ndim_of(mask)
  local found = core.size_of(mask) > 0 and count(mask)
  for d = 1, ndim do
    lists[d], numbers[d] = native.new(dtypes.INT64, { found and found.n or 0 }), d + 1
  end
  if found and found.n > 0 then
    local arrays = { mask, found.counts, unpack(lists) }
    launch_picked("mask_positions", "rr" .. ("w"):rep(ndim), found, arrays, { 0 }, numbers)
  end
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

-- The first of several arrays of positions, which fails if any of them is wrong: then all domains know.
local function checked(view, first, positions, numbers)
  local shape, checks = core.shape_of(view), positions[1]
  for k = 2, #positions do
    local result = native.new(dtypes.INT64, core.shape_of(checks))
    native.elements("check_positions", "wrr", { result, checks, positions[k] },
      { 1, shape[first], numbers[1], 1, shape[first + k - 1], numbers[k] })
    checks = result
  end
  return checks
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

-- Each tile of the target is written by the domain that has it, from those values whose positions along the first axis
-- that is picked from lead there: the others are not cut.  There is one more axis in front.
local function scatter_constraints(before, between, npick, ndim)
  if between == 0 then return "" end
  local words, named = {}, {}
  for d = 1, before do words[#words + 1] = ("align(0.%d,1.%d)"):format(d, d) end
  words[#words + 1] = ("align(0.%d)"):format(before + 1)
  for d = before + between, ndim - 1 do
    words[#words + 1] = ("align(0.%d,1.%d)"):format(d - between + npick + 1, d + 1)
  end
  for k = 1, npick do named[k] = ("%d.0"):format(k + 1) end
  named[npick + 1] = ("1.%d"):format(before + 1)
  words[#words + 1] = ("image_inverse(2,0.%d:%s;1)"):format(before + 1, table.concat(named, ","))
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

-- ---- few elements ---------------------------------------------------------------------------------------------

-- Does a boolean array pick elements from the first axes of an array?
local function suits(a, mask)
  local shape, whole = core.shape_of(mask), core.shape_of(a)
  if #shape == 0 or #shape > #whole or core.size_of(a) == 0 then return false end
  for d = 1, #shape do
    if shape[d] ~= whole[d] then return false end
  end
  return true
end

local function shape_of_picked(a, mask, n)
  local shape = { n }
  for d = core.ndim_of(mask) + 1, core.ndim_of(a) do shape[#shape + 1] = core.shape_of(a)[d] end
  return shape
end

-- Where there may as well be room for all elements, these are picked while they are counted.  Launches do that by two
-- tasks: what they were picked from may have failed, which is no matter of their number.  What is launched follows from
-- layouts, and is remembered by their numbers, to which 0.5 is added as in keys.lua: [of the array, or 0: none][of the
-- mask].
local FEW_BYTES, MOST_PLANS = 2 ^ 12, 1024
local few, planned, epoch = {}, 0, front.epoch

local function remember(of, by, plan)
  if planned == MOST_PLANS then few, planned = {}, 0 end
  planned = planned + 1
  few[of + 0.5] = few[of + 0.5] or {}
  few[of + 0.5][by + 0.5] = plan
  return plan
end

-- `shape`: of the room; nil where this is no way.
local function make_plan(variant, privileges, dtype, shape)
  if not shape then return { fits = false } end
  return { fits = true, kind = native.kind(variant, privileges, ""), room = lgt.dense(dtype, shape), most = shape[1],
           count = native.kind("mask_count", "rw", ""), counts = lgt.dense(dtypes.INT64, { 1, 1 }) }
end

local function plan_to_pick(a, mask)
  local dtype, size = core.dtype_of(a), core.size_of(mask)
  local fits = suits(a, mask) and core.size_of(a) * dtypes.size[dtype] <= FEW_BYTES and not native.divided(size)
  local plan = make_plan("mask_pick", "wrr", dtype, fits and shape_of_picked(a, mask, size))
  plan.rows = core.shape_of(mask)[1]
  return remember(core.layout_of(a), core.layout_of(mask), plan)
end
jit.off(plan_to_pick)

local function plan_to_list(mask)
  local size, ndim = core.size_of(mask), core.ndim_of(mask)
  local fits = size > 0 and size * dtypes.size[dtypes.INT64] <= FEW_BYTES and not native.divided(size)
  local plan = make_plan("mask_list", "rw" .. ("w"):rep(ndim), dtypes.INT64, fits and { size })
  plan.ndim = ndim
  return remember(0, core.layout_of(mask), plan)
end
jit.off(plan_to_list)

local function plan_of(of, by)
  if front.epoch ~= epoch then few, planned, epoch = {}, 0, front.epoch end
  local plans = few[of + 0.5]
  return plans and plans[by + 0.5]
end

-- How many a task has counted into an array that nobody else knows.  Waits.
local function counted(counts)
  local found = tonumber(core.element(counts))
  lgt.free(counts)
  return found
end

-- The elements of a room that have been filled.
local function filled(room, plan, found)
  if found == plan.most then return room end
  local view = wrap(C.lgt_layout_view(rt, room.id, C.lgt_layout_slice(rt, plan.room, 0, 0, found, 1)))
  lgt.free(room)
  return view
end

-- Where one domain has all it is done at once, unless something has failed: launches say what fails with it.
local WHOLE = native.whole
local ids = ffi.new("lgt_id[?]", C.LGT_MAX_DIM)

-- What was picked, when what is dead has been collected.
local function relieved(picked)
  if front.collect ~= 0 then lgt.go_on(0) end
  return picked
end

local function select_few(a, mask, plan)
  if WHOLE then
    lgt.flush()
    local picked = C.lgt_mask_pick(rt, plan.room, mask.id, a.id)
    if picked ~= 0 then return relieved(wrap(picked)) end
  end
  local line = lgt.line_for(plan.room)
  local l = slot()
  local counts = fresh(plan.counts)
  l.kind, l.line, l.nargs, l.nparams = plan.count, line, 2, 2
  l.arg[0], l.arg[1] = mask.id, counts
  l.param[0].f, l.param[1].f = plan.rows, plan.rows
  commit()
  counts = wrap(counts)
  l = slot()
  local room = fresh(plan.room)
  l.kind, l.line, l.nargs, l.nparams = plan.kind, line, 3, 0
  l.arg[0], l.arg[1], l.arg[2] = room, mask.id, a.id
  commit()
  room = wrap(room)
  return (filled(room, plan, counted(counts)))
end

local function list_few(mask, plan)
  local lists = {}
  if WHOLE then
    lgt.flush()
    if C.lgt_mask_list(rt, plan.room, mask.id, ids) == 0 then
      for d = 1, plan.ndim do lists[d] = wrap(ids[d - 1]) end
      return relieved(lists)
    end
  end
  local line = lgt.line_for(plan.room)
  local l = slot()
  local counts = fresh(plan.counts)
  for d = 1, plan.ndim do
    lists[d] = fresh(plan.room)
    l.arg[d + 1] = lists[d]
  end
  l.kind, l.line, l.nargs, l.nparams = plan.kind, line, plan.ndim + 2, 0
  l.arg[0], l.arg[1] = mask.id, counts
  commit()
  for d = 1, plan.ndim do lists[d] = wrap(lists[d]) end
  local found = counted(wrap(counts))
  for d = 1, plan.ndim do lists[d] = filled(lists[d], plan, found) end
  return lists
end

-- ---- reading and writing through masks ---------------------------------------------------------------------------

-- Where a boolean array is true: for each of its axes an array of positions from 1.  Waits for their number.
---@return lgt_array[] int64
function picks.nonzero(mask)
  local by = handles[mask.id].layout
  local plan = plan_of(0, by) or plan_to_list(mask)
  if plan.fits then return (list_few(mask, plan)) end
  return list_many(mask)
end

-- What a boolean array picks; nil where that needs more thought.  Waits for how many.
---@return lgt_array?
function picks.selected(a, mask)
  local plan = plan_of(handles[a.id].layout, handles[mask.id].layout) or plan_to_pick(a, mask)
  if plan.fits then return (select_few(a, mask, plan)) end
  if not suits(a, mask) then return nil end
  local found = count(mask)
  local result = native.new(core.dtype_of(a), shape_of_picked(a, mask, found.n))
  if found.n > 0 then
    launch_picked("mask_select", "rrrw", found, { mask, a, found.counts, result }, { 0, 1 }, { 3 })
  end
  return result
end

-- A copy if the array shares its elements with another.
local function apart(x, from)
  return handles[x.id].store == handles[from.id].store and np.copy(x) or x
end

-- Write as many values as a boolean array picks there; false where that needs more thought.  Waits for how many.
---@return boolean
function picks.placed(a, mask, values)
  if not suits(a, mask) or core.dtype_of(values) ~= core.dtype_of(a) then return false end
  local found = count(mask)
  if not core.same_shape(core.shape_of(values), shape_of_picked(a, mask, found.n)) then return false end
  if found.n > 0 then
    values = np.ascontiguousarray(apart(values, a))
    launch_picked("mask_place", "mrrr", found, { a, apart(mask, a), found.counts, values }, { 0, 1 }, { 3 })
  end
  return true
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

local function launch_scatter(view, value, positions, shape, before, axes, operation, cut)
  local npick, between = #positions, core.ndim_of(positions[1])
  local extent = core.shape_of(view)[before + 1]
  local constraints = (npick == 1 or cut) and scatter_constraints(before, between, npick, #shape) or ""
  native.launch("scatter", "mr" .. ("r"):rep(npick), constraints,
    { in_front(view, core.layout_of(view)), in_front(value, lgt.broadcast(core.layout_of(value), shape)),
      unpack(positions) }, { before + 1, 1, operation or native.operation.set, axes, extent })
end

-- The same where one more axis in front is one too many: those before, picked and behind become one each, in a copy.
local function scatter_in_three(view, value, positions, shape, before, numbers, operation)
  local merged, extent = merge_positions(view, before + 1, positions, 1, numbers)
  local whole, number, ahead = core.shape_of(view), core.size_of(merged), 1
  for d = 1, before do ahead = ahead * whole[d] end
  local behind = core.product({ unpack(whole, before + #positions + 1) })
  local copy = np.copy(np.reshape(view, { ahead, extent, behind }))
  local values = np.reshape(np.broadcast_to(value, shape), { ahead, number, behind })
  local line = np.copy(np.reshape(merged, { number }))
  launch_scatter(copy, np.copy(values), { line }, core.shape_of(values), 1, digits(numbers), operation)
  core.assign(view.id, core.layout_of(view), np.reshape(copy, whole))
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
  if math.max(core.ndim_of(view), #shape) == C.LGT_MAX_DIM then
    return scatter_in_three(view, value, positions, shape, before, numbers, operation)
  end
  if #positions > 1 and native.divided(core.size_of(view)) and core.ndim_of(positions[1]) > 0 and
    not native.reshaped(view) then
    positions[1] = checked(view, before + 1, positions, numbers)
    return launch_scatter(view, value, positions, shape, before, digits(numbers), operation, true)
  end
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
