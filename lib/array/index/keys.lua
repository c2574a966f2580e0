-- array/index/keys.lua - a[key] and a[key] = value: views, and what gathers and scatters.
--
-- A key of numbers, ranges and strings gives a view: a second handle on the same elements through another
-- layout.  Which layout follows from the array's layout and the key alone.  For tables of numbers and ranges it is
-- asked for each time; what takes longer is remembered: for strings in a table, for other tables in a tree with a
-- level for each entry.
--
-- Arrays in a key pick elements, which a view cannot do (picks.lua).  Reading copies what was picked; writing goes
-- through.  What a boolean array picks is counted first, which waits; only assigning one value through one is an
-- ordinary launch.

local ffi = require "ffi"
local core = require "array.core"
local slice = require "array.index.slice"
local ufunc = require "array.core.ufunc"
local native = require "array.core.native"
local picks = require "array.index.picks"
local planned = require "array.index.planned"

local lgt, dtypes, raise = core.lgt, core.dtypes, core.raise
local np, methods, getters, setters = core.np, core.methods, core.getters, core.setters
local Array, handles, layouts = lgt.Array, lgt.handles, lgt.layouts
local C, rt, wrap, free = lgt.C, lgt.rt, lgt.wrap, lgt.free
local istype, next, entries, type = ffi.istype, lgt.next, lgt.entries, type
local WHOLE = native.whole
local clear = require "table.clear"
local bit = require "bit"
local band = bit.band

slice.bind(raise, core.plain)

local index = {}

-- ---- views --------------------------------------------------------------------------------------------

-- Not to be written: results of a[array of positions], z.real, z.imag, and views of these, because that would change a
-- copy; and views that show one element at several positions.
local gathered = setmetatable({}, { __mode = "v" }) -- by id + 0.5; see by_text

local parts = setmetatable({}, { __mode = "v" }) -- of these, z.real and z.imag

function core.mark_part(a)
  gathered[a.id + 0.5], parts[a.id + 0.5] = a, a
  return a
end

-- `view` shows elements of `a`.
function core.mark_view(a, view)
  local key = a.id + 0.5
  if gathered[key] and rawequal(gathered[key], a) then
    gathered[view.id + 0.5] = view
    if rawequal(parts[key], a) then parts[view.id + 0.5] = view end
  end
end
local mark_view = core.mark_view

local STRETCHED = lgt.C.LGT_LAYOUT_STRETCHED

function core.check_writable(a, who)
  if band(layouts[handles[a.id].layout].flags, STRETCHED) ~= 0 then
    raise("%s: several positions of this view are one element, as broadcasting makes them: " ..
      "change a copy with a:copy()", who)
  end
  local key = a.id + 0.5
  if gathered[key] and rawequal(gathered[key], a) then
    if rawequal(parts[key], a) then
      raise("%s: z.real and z.imag are copies, changing them does not change z: write z.real = value", who)
    end
    local way = "change b = a[positions]:copy(), and write it back with a[positions] = b"
    if who == "fill" then
      way = "write a[positions] = value"
    elseif ufunc.inplace_names[who] then
      way = ("write a:at(positions):%s(...), or keep a copy with a[positions]:copy()"):format(who)
    end
    raise("%s: a[positions] is a copy, changing it does not change a: %s", who, way)
  end
end

-- Layouts of views, by the layout they were taken from.  To every number that is a key 0.5 is added: so it lies in
-- the hash part of its table, where the JIT compiler can follow; it gives up on a number that may be in either part.
local by_text = {} -- [layout + 0.5][string]
local trees = {} -- [layout + 0.5]: a tree with a level for each entry of a table; see follow

-- A program whose every turn takes other slices would fill memory with them: so many are remembered, then all are
-- forgotten.  So they are when numbers of layouts were given back, for these may stand for others now.
local MOST = 8192
local front = lgt.front
local remembered, epoch = 0, front.epoch

local function forget()
  remembered, epoch = 0, front.epoch
  clear(by_text)
  clear(trees)
end

local function count_remembered()
  if remembered == MOST then forget() end
  remembered = remembered + 1
end

-- Take the steps that make views; what picks is left for later.
local function layout_after(layout, steps)
  for _, s in ipairs(steps) do
    if s.kind == "at" then
      layout = lgt.project(layout, s.axis, s.first)
    elseif s.kind == "range" then
      layout = lgt.slice(layout, s.axis, s.first, s.count, s.step)
    elseif s.kind == "new" then
      layout = lgt.promote(layout, s.axis, 1)
    end
  end
  return layout
end

-- The layout of the view that a string names.
local function learn_view(layout, key)
  if not slice.looks_like_index(key) then
    local similar, written = require "lgt.similar" (key, methods, getters), require "lgt.elsewhere"[key]
    raise("arrays have no attribute %q%s", key, written and "; write " .. written or
      similar and ("; did you mean %q?"):format(similar) or "")
  end
  local result = layout_after(layout, slice.resolve(slice.parse_string(key), lgt.shape(layout)))
  count_remembered()
  local of_layout = by_text[layout + 0.5] or {}
  by_text[layout + 0.5] = of_layout
  of_layout[key] = result
  return result
end

-- The layout of the view at a position of the first axis.
local function view_at(layout, key)
  local l = layouts[layout]
  if l.ndim == 0 then raise("index: a 0-d array has no positions; use s() to read it") end
  local n = tonumber(l.shape[0])
  if key >= 1 and key <= n and key % 1 == 0 then return C.lgt_layout_project(rt, layout, 0, key - 1) end
  return lgt.project(layout, 1, slice.resolve_position(key, n, 1))
end

-- The numbers of a range, {lo, hi} or {lo, hi, step = k}; nil for what is none.  (Other tables may have metatables.)
local function bounds_of(e)
  local lo, hi, step = rawget(e, 1), rawget(e, 2), rawget(e, "step")
  if type(lo) ~= "number" or type(hi) ~= "number" then return nil end
  if step == nil then
    if entries(e) == 2 then return lo, hi, 1 end
  elseif type(step) == "number" and entries(e) == 3 then
    return lo, hi, step
  end
end

-- How many entries a list has; 0 for a table with others, too.
local function count_listed(key)
  local count = #key
  return count > 0 and entries(key) == count and count or 0
end

-- The node that an entry of a table leads to; nil for what the slow path must judge.
local function follow(node, e)
  local kind = type(e)
  if kind == "number" then return node.position[e + 0.5] end
  if kind == "string" then return node.text[e] end
  if kind ~= "table" then return nil end
  if rawget(e, 1) == nil and entries(e) == 0 then return node.whole end
  local lo, hi, step = bounds_of(e)
  if not lo then return nil end
  local his = node.range[lo + 0.5]
  local steps = his and his[hi + 0.5]
  return steps and steps[step + 0.5]
end

-- The remembered layout for a list of so many entries, or nil.  The first entries are taken without a loop, which would
-- be a trace of its own where nothing outside it is compiled.
local function find_in_tree(layout, key, count)
  if front.epoch ~= epoch then forget() end
  local node = trees[layout + 0.5]
  if not node then return nil end
  node = follow(node, key[1])
  if node and count > 1 then node = follow(node, key[2]) end
  if node and count > 2 then node = follow(node, key[3]) end
  if count > 3 then
    for i = 4, count do node = node and follow(node, key[i]) end
  end
  return node and node.layout
end

local nothing = {} -- for a node that leads nowhere by such entries; most are leaves
local function new_node() return { position = nothing, text = nothing, range = nothing } end

-- Is each entry one that `follow` finds: a number, a string, or a range of numbers?
local function can_be_followed(key)
  for i = 1, #key do
    local e = key[i]
    local kind = type(e)
    if kind == "table" then
      for _, bound in next, e do
        if type(bound) ~= "number" then return false end
      end
    elseif kind ~= "number" and kind ~= "string" then
      return false
    end
  end
  return true
end

local function remember_in_tree(layout, key, result)
  count_remembered()
  local node = trees[layout + 0.5] or new_node()
  trees[layout + 0.5] = node
  local function child(of, k, make)
    if of[k] == nil or of[k] == nothing then of[k] = make and make() or {} end
    return of[k]
  end
  for i = 1, #key do
    local e = key[i]
    if type(e) == "number" then
      node = child(child(node, "position"), e + 0.5, new_node)
    elseif type(e) == "string" then
      node = child(child(node, "text"), e, new_node)
    elseif entries(e) == 0 then
      node = child(node, "whole", new_node)
    else
      node = child(child(child(child(node, "range"), e[1] + 0.5), e[2] + 0.5), (e.step or 1) + 0.5, new_node)
    end
  end
  node.layout = result
end

-- One entry of a table key, a position or a range that lies within the extent: the layout and its next axis (from 0).
-- 0 for anything else.
local function take_entry(layout, axis, extent, e)
  if type(e) == "number" then
    if e < 0 then e = e + extent + 1 end
    if not (e >= 1 and e <= extent and e % 1 == 0) then return 0, 0 end
    return C.lgt_layout_project(rt, layout, axis, e - 1), axis
  end
  if type(e) ~= "table" then return 0, 0 end
  if rawget(e, 1) == nil and entries(e) == 0 then return layout, axis + 1 end
  local lo, hi, step = bounds_of(e)
  if not lo then return 0, 0 end
  if lo < 0 then lo = lo + extent + 1 end
  if hi < 0 then hi = hi + extent + 1 end
  if not (lo >= 1 and lo <= hi and hi <= extent and step >= 1) or lo % 1 + hi % 1 + step % 1 ~= 0 then return 0, 0 end
  return C.lgt_layout_slice(rt, layout, axis, lo - 1, (hi - lo - (hi - lo) % step) / step + 1, step), axis + 1
end

planned.bind(take_entry)

-- The layout for a list of so many such entries and "*", one for each axis: as quick as remembering, for programs whose
-- every turn takes other slices, and nothing is left to the collector.  0 for other keys.
local function take_many(layout, key, count)
  local axis = 0
  for i = 1, count do
    local l = layouts[layout]
    if key[i] == "*" then
      layout, axis = C.lgt_layout_promote(rt, layout, axis, 1), axis + 1
    elseif axis < l.ndim then
      layout, axis = take_entry(layout, axis, tonumber(l.shape[axis]), key[i])
    else
      return 0
    end
    if layout == 0 then return 0 end
  end
  return axis == layouts[layout].ndim and layout or 0
end

-- The same, without a loop for at most three axes: it would be a trace of its own.
local function take_entries(layout, key, count)
  local l, axis = layouts[layout], 0
  local ndim, shape = l.ndim, l.shape
  if count == 0 or count < ndim then return 0 end
  if count > ndim or ndim > 3 then return take_many(layout, key, count) end
  layout, axis = take_entry(layout, axis, tonumber(shape[0]), key[1])
  if layout ~= 0 and ndim > 1 then layout, axis = take_entry(layout, axis, tonumber(shape[1]), key[2]) end
  if layout ~= 0 and ndim > 2 then layout = take_entry(layout, axis, tonumber(shape[2]), key[3]) end
  return layout
end

-- How many axes an array in a key takes; nil for other things.
local function axes_of(x)
  if not istype(Array, x) then return nil end
  local l = layouts[core.layout_of(x, "index")]
  local category = dtypes.category[l.dtype]
  if category > 1 then
    raise("index: an array of %s cannot be an index; integers are positions, booleans select: " ..
      "use a:astype(\"int64\"), or np.array(t, {dtype = \"int64\"})", dtypes.name[l.dtype])
  end
  return category == 0 and math.max(1, l.ndim) or 1
end

-- The steps for any key, and whether some of them pick.
local function steps_of(layout, key)
  local shape = lgt.shape(layout)
  if axes_of(key) or type(core.plain(key)) == "number" then key = { key, "..." } end
  if type(key) ~= "table" then raise("index: %s cannot be an index", (core.describe(key))) end
  local steps = slice.resolve(slice.parse_table(key, #shape, axes_of), shape)
  for _, s in ipairs(steps) do
    if s.kind == "pick" then return steps, true end
  end
  return steps, false
end

-- The layout of the view for any key that makes one, or nil and the steps.
local function view_layout(layout, key)
  if front.epoch ~= epoch then forget() end
  local kind = type(key)
  if kind == "string" then
    local known = by_text[layout + 0.5]
    return known and known[key] or learn_view(layout, key)
  elseif kind == "number" then
    return view_at(layout, key)
  elseif kind == "table" then
    local count = count_listed(key)
    local result = take_entries(layout, key, count)
    if result ~= 0 then return result end
    result = count > 0 and find_in_tree(layout, key, count)
    if result then return result end
  end
  local steps, picking = steps_of(layout, key)
  if picking then return nil, steps end
  local result = layout_after(layout, steps)
  if type(key) == "table" and can_be_followed(key) then remember_in_tree(layout, key, result) end
  return result
end

-- Refuse single booleans among the arrays that pick.
local function check_booleans(steps)
  for _, s in ipairs(steps) do
    if s.array and core.ndim_of(s.array) == 0 and core.dtype_of(s.array) == dtypes.BOOL then
      raise("index: one boolean, an array without dimensions, picks no elements; m() is its value, for if")
    end
  end
end

local function gather(a, steps, base)
  check_booleans(steps)
  return picks.gather(a, layout_after(core.layout_of(a), steps), steps, base)
end

-- What a[key] with arrays in the key gives, as an array that may be written: a result of a function, which nobody takes
-- for a view.
function core.pick(a, key, base)
  local plan, first, second = planned.find(a, key)
  if plan then return planned.gather(a, plan, first, second, base) end
  local _, steps = view_layout(core.layout_of(a, "index"), key)
  return gather(a, steps, base)
end

local function scatter(a, steps, value, operation)
  check_booleans(steps)
  picks.scatter(a, layout_after(core.layout_of(a), steps), steps, value, operation)
end

-- ---- masks ------------------------------------------------------------------------------------------------

-- x where the mask is true becomes v.  Its name is what errors say.
local MASKED = ufunc.new_rules("assignment", function(x, m, v)
  if x.dtype == dtypes.BOOL then v = v:ne(0) end
  return m:select(v, x)
end, 3, 1)
MASKED.inplace = true

-- A boolean array as wide as `a`: trailing axes are added.
local function widen(mask, a)
  local shape, whole = core.shape_of(mask), core.shape_of(a)
  for d = 1, #shape do
    if shape[d] ~= whole[d] then
      raise("index: a boolean array of shape %s does not select from an array of shape %s", core.shape_text(shape),
        core.shape_text(whole))
    end
  end
  local layout = core.layout_of(mask)
  for d = #shape + 1, #whole do layout = lgt.promote(layout, d, 1) end
  return #whole > #shape and lgt.alias(mask, layout) or mask
end

local function is_mask(key) return istype(Array, key) and layouts[handles[key.id].layout].dtype == dtypes.BOOL end

local function is_single(value)
  return type(value) == "number" or type(value) == "boolean" or istype(Array, value) and core.ndim_of(value) == 0 or
    type(value) == "cdata" and not istype(Array, value)
end

-- ---- reading and writing ------------------------------------------------------------------------------------

local function alias(a, layout)
  local view = wrap(C.lgt_layout_view(rt, a.id, layout))
  mark_view(a, view)
  return view
end

local function other_index(a, key)
  local layout = core.layout_of(a, "index")
  if istype(Array, key) and layouts[core.layout_of(key, "index")].dtype == dtypes.INT64 then
    local copy = picks.rows(a, key)
    if copy then
      gathered[copy.id + 0.5] = copy
      return copy
    end
  end
  local result, steps = view_layout(layout, key)
  if result then return (alias(a, result)) end
  local copy = gather(a, steps)
  gathered[copy.id + 0.5] = copy
  return copy
end
jit.off(other_index)

-- a[key] for each type of key.  Each is compiled on its own, also where the choice between them is interpreted.
local function get_named(a, key)
  if front.epoch ~= epoch then forget() end
  local known = by_text[handles[a.id].layout + 0.5]
  local layout = known and known[key]
  if layout then return (alias(a, layout)) end
  local getter = getters[key]
  if getter then return getter(a) end
  return other_index(a, key)
end

local function get_position(a, key)
  local layout = handles[a.id].layout
  if layout == 0 then core.layout_of(a, "index") end -- which raises
  return (alias(a, view_at(layout, key)))
end

-- A copy of what one or two arrays of positions pick; nil for what needs more thought.
local function get_planned(a, key)
  local plan, first, second = planned.find(a, key)
  if not plan then return nil end
  local copy = planned.gather(a, plan, first, second)
  gathered[copy.id + 0.5] = copy
  return copy
end

-- LuaJIT does not compile lgt.entries: a trace ends there, and the one behind reaches to the end of the function that
-- called it.  So this function and index.set count the key's entries themselves.
local function get_table(a, key)
  local count = #key
  if count > 0 and entries(key) == count then
    local layout = take_entries(handles[a.id].layout, key, count)
    if layout == 0 then layout = find_in_tree(handles[a.id].layout, key, count) end
    if layout then return (alias(a, layout)) end
  end
  return get_planned(a, key) or other_index(a, key)
end

local function get_picked(a, key)
  local of, by = handles[a.id].layout, istype(Array, key) and handles[key.id].layout or 0
  if of ~= 0 and by ~= 0 and layouts[by].ndim > 0 then
    local copy
    if layouts[by].dtype == dtypes.BOOL then copy = picks.selected(a, key) end
    if copy then
      gathered[copy.id + 0.5] = copy
      return copy
    end
  end
  return get_planned(a, key) or other_index(a, key)
end

-- a[key]
function index.get(a, key)
  local kind = type(key)
  if kind == "string" then
    local method = methods[key]
    if method ~= nil then return method end
    return get_named(a, key)
  end
  if kind == "number" then return get_position(a, key) end
  if kind == "table" then return get_table(a, key) end
  return get_picked(a, key)
end

-- Write into what one or two arrays of positions pick; false for what needs more thought.
local function set_planned(a, key, value)
  local plan, first, second = planned.find(a, key)
  if not plan then return false end
  core.check_assigned(a, value)
  return planned.scatter(a, plan, first, second, value)
end

-- Are there arrays among the entries of a table?
local function has_arrays(key)
  for i = 1, #key do
    if istype(Array, key[i]) then return true end
  end
  return false
end

-- a[mask] = number, where the mask has the array's shape; false for what needs more thought.
local function set_masked(a, mask, x)
  local of, by = handles[a.id].layout, handles[mask.id].layout
  if of == 0 then return false end
  local l, m = layouts[of], layouts[by]
  if m.dtype ~= dtypes.BOOL or m.ndim ~= l.ndim or m.ndim == 0 then return false end
  for d = 0, l.ndim - 1 do
    if l.shape[d] ~= m.shape[d] then return false end
  end
  core.check_writable(a, "assignment")
  core.check_assigned(a, x)
  return (ufunc.inplace_number_where(MASKED, a, mask, x))
end

-- Write a value into the elements of `a` that a layout shows.  A number goes into an element at once, where all that
-- was launched has run: loops over elements look at some and write others.
local function write(a, layout, value)
  core.check_writable(a, "assignment")
  if WHOLE and type(value) == "number" and layouts[layout].ndim == 0 then
    core.check_assigned(a, value)
    if C.lgt_element_put(rt, a.id, layout, value) ~= 0 then return end
  end
  local view = alias(a, layout)
  core.assign(view.id, layout, value)
  free(view)
end

-- Positions and ranges; false for what needs more thought.
local function set_entries(a, key, count, value)
  local layout = take_entries(core.layout_of(a, "assignment"), key, count)
  if layout == 0 then return false end
  write(a, layout, value)
  return true
end

local function other_set(a, key, steps, value)
  if is_mask(key) and is_single(value) then
    local mask = widen(key, a)
    core.check_assigned(a, value)
    if type(value) ~= "number" then value = np.astype(np.asarray(value), dtypes.name[core.dtype_of(a)]) end
    ufunc.inplace_call(MASKED, a, mask, value)
  else
    scatter(a, steps, value)
  end
end
jit.off(other_set)

-- a[key] = value
function index.set(a, key, value)
  local count = type(key) == "table" and #key or 0
  if count > 0 and entries(key) == count and set_entries(a, key, count, value) then return end
  if type(value) == "number" and istype(Array, key) and set_masked(a, key, value) then return end
  if is_mask(key) and istype(Array, value) and core.ndim_of(value) > 0 then
    core.layout_of(a, "assignment")
    core.check_writable(a, "assignment")
    if picks.placed(a, key, value) then return end
  end
  if type(key) == "string" and (methods[key] ~= nil or getters[key] ~= nil) then
    if setters[key] then return setters[key](a, value) end
    raise("arrays have no attribute %q to assign to", key)
  end
  local of = core.layout_of(a, "assignment")
  if istype(Array, key) or type(key) == "table" and has_arrays(key) then
    core.check_writable(a, "assignment")
    if set_planned(a, key, value) then return end
  end
  local layout, steps = view_layout(of, key)
  if layout then return write(a, layout, value) end
  core.check_writable(a, "assignment")
  other_set(a, key, steps, value)
end

-- a:sub(i, j, k, l): rows i to j, columns k to l.
function methods.sub(a, ...)
  local key = {}
  for i = 1, select("#", ...), 2 do
    local lo, hi = select(i, ...)
    lo, hi = core.plain(lo), core.plain(hi)
    if type(lo) ~= "number" or type(hi) ~= "number" then
      raise("sub: two integers for each axis were expected, as in a:sub(i, j, k, l)")
    end
    key[#key + 1] = { lo, hi }
  end
  if #key < core.ndim_of(a) then key[#key + 1] = "..." end
  return index.get(a, key)
end

local function is_position(at, extent) return type(at) == "number" and at >= 1 and at <= extent and at % 1 == 0 end

-- What most loops over elements ask for, positions from the front of one or two axes, needs no table.
local function is_plain(l, count, i, j)
  if l.ndim ~= count or not is_position(i, tonumber(l.shape[0])) then return false end
  return count == 1 or count == 2 and is_position(j, tonumber(l.shape[1]))
end

-- a(i, j): one element as a Lua number; s() reads an array of one element.  Waits.
function index.call(a, ...)
  local count = select("#", ...)
  local i, j = ...
  if is_plain(layouts[handles[a.id].layout], count, i, j) then
    return core.element(a, i - 1, count == 2 and j - 1 or nil)
  end
  local shape = lgt.shape(core.layout_of(a, "call"))
  if count == 0 then
    if core.product(shape) ~= 1 then
      raise("a(): an array of shape %s has more than one element; a(i, j) reads one", core.shape_text(shape))
    end
    return core.read_item(a)
  end
  if count == 2 and (...) == nil and select(2, ...) == nil then
    raise("for x in a: an array is no iterator; write for i, x in ipairs(a), or a:host for loops over elements")
  end
  if count ~= #shape then raise("a(...): %d positions for an array of %d dimensions", count, #shape) end
  local offsets = {}
  for d = 1, count do
    local at = core.plain((select(d, ...)))
    if type(at) ~= "number" then raise("a(...): positions are integers, not %s", (core.describe(at))) end
    offsets[d] = slice.resolve_position(at, shape[d], d)
  end
  return core.element(a, unpack(offsets))
end

-- ---- in place through a selection ---------------------------------------------------------------------------

local Selection = {}
Selection.__index = Selection

-- a:at(key):iadd(v): change the selected elements in place; where a place is picked twice, the last wins.
function methods.at(a, key) return setmetatable({ array = a, key = key }, Selection) end

for name, of in pairs(ufunc.inplace_names) do
  local combine = ufunc.all[of].f
  local masked = ufunc.new_rules(name, function(x, m, v) return m:select(combine(x, v), x) end, 3, 1)
  masked.inplace = true
  Selection[name] = function(selection, value)
    local a, key = selection.array, selection.key
    core.layout_of(a, name)
    core.check_writable(a, name)
    local plan, first, second = planned.find(a, key)
    if plan then
      local changed = planned.gather(a, plan, first, second)
      methods[name](changed, value)
      if planned.scatter(a, plan, first, second, changed) then return selection end
    end
    local layout, steps = view_layout(core.layout_of(a, name), key)
    if layout then
      methods[name](lgt.alias(a, layout), value)
    elseif is_mask(key) and is_single(value) then
      if type(value) ~= "number" then value = np.asarray(value) end
      ufunc.inplace_call(masked, a, widen(key, a), value)
    else
      local changed = gather(a, steps)
      methods[name](changed, value)
      scatter(a, steps, changed)
    end
    return selection
  end
end

-- np.add.at(a, key, value): as a:at(key):iadd(value), but duplicates accumulate, in index order.
---@param a lgt_array
---@param key any what a[key] takes
---@param value lgt_array|number converted to a's dtype
function ufunc.members.at(u, a, key, value)
  local who = u.name .. ".at"
  local layout = core.layout_of(a, who)
  core.check_writable(a, who)
  local plan, first, second = planned.find(a, key)
  local by = plan and native.operation_of(u.name, core.dtype_of(a))
  if by then
    core.check_assigned(a, value)
    if planned.scatter(a, plan, first, second, value, by) then return end
  end
  local view, steps = view_layout(layout, key)
  if view then
    view = lgt.alias(a, view)
    core.assign(view.id, core.layout_of(view), u(view, value))
    return
  end
  local operation = native.operation_of(u.name, core.dtype_of(a))
  if not operation then
    raise("%s: this function cannot accumulate in arrays of %s; add, subtract, multiply, maximum, minimum and " ..
      "(of floats) divide can, and the bitwise ones", who, dtypes.name[core.dtype_of(a)])
  end
  scatter(a, steps, value, operation)
end

-- ---- positions as values --------------------------------------------------------------------------------------

-- Where an array is not zero, as positions from 1: a table with one int64 array for each axis, which can be
-- used as an index.  Waits.
---@param a lgt_array
---@return table
function np.nonzero(a, surplus)
  core.check_surplus(surplus, "nonzero")
  local layout = core.layout_of(a, "nonzero")
  if layouts[layout].ndim == 0 then raise("nonzero: a 0-d array has no positions") end
  if core.dtype_of(a) ~= dtypes.BOOL then a = np.not_equal(a, 0) end
  return picks.nonzero(a)
end
methods.nonzero = np.nonzero

function np.flatnonzero(a, surplus)
  core.check_surplus(surplus, "flatnonzero")
  return np.nonzero(np.ravel(a))[1]
end

local take_options = { axis = true, base = "base", mode = true, out = true }

-- Positions (an array or a number) from `base`, of which those outside of n of them are brought inside as `mode` says.
function core.inside(positions, n, mode, base, who)
  if mode == nil or mode == "raise" then return positions end
  if mode ~= "clip" and mode ~= "wrap" then
    raise("%s: mode is \"raise\", \"wrap\" or \"clip\", not %s", who, core.word(mode))
  end
  local single = type(positions) == "number"
  if not single then
    if dtypes.category[core.dtype_of(positions)] > 1 then return positions end -- which is refused as an index
    local large = core.dtype_of(positions) == dtypes.UINT64 and mode == "clip" -- some may lie beyond int64
    if not large then positions = np.astype(positions, "int64", { copy = false }) end -- n may not fit into others
  end
  n = math.max(n, 1)
  if mode == "wrap" then return (positions - base) % n + base end
  if single then return math.min(math.max(positions, base), n - 1 + base) end
  return np.clip(positions, base, n - 1 + base)
end

-- np.take(a, positions, axis): as a[positions], along an axis (without one: of a:ravel()).
---@param a lgt_array
---@param positions lgt_array|integer[]|integer of any shape; one number gives an array without the axis
---@param axis integer|table? an axis, or options
---@param options {axis: integer?, base: integer?, mode: string?, out: lgt_array?}? base = 0: positions count from 0;
---  mode: "raise" (default: a position outside is an error), "wrap" (behind the last stands the first, before the first
---  the last) or "clip" (the first or the last)
---@return lgt_array
function np.take(a, positions, axis, options)
  if type(axis) == "table" then
    core.check_surplus(options, "take")
    axis, options = nil, axis
  end
  options = core.check_options(options, take_options, "take")
  local base = options.base or 1
  if axis == nil then axis = options.axis end
  a = np.asarray(a)
  if not core.is_array(positions) then positions = np.array(positions, { dtype = "int64" }) end
  if axis == nil then a, axis = np.ravel(a), 1 end
  local ndim = core.ndim_of(a)
  axis = core.check_axis(axis, ndim, "take")
  positions = core.inside(positions, core.shape_of(a)[axis], options.mode, base, "take")
  local key = {}
  for d = 1, ndim do key[d] = d == axis and positions or {} end
  local result = core.pick(a, key, base)
  return options.out == nil and result or require("array.core.reduce").give(result, options.out, "take")
end
methods.take = np.take

return index
