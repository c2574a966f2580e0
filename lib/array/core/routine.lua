-- array/core/routine.lua - functions whose launches follow from the layouts of their operands: planned once.
--
-- Views, results and kinds of a sort, say, are the same for all operands of one layout.  So when a function is called
-- with such operands, and the same other arguments, for the second time, C watches what it launches, and launches that
-- again from then on, by one call (src/core/runtime/routine.c).  What C cannot keep, and whatever is wrong, is for the
-- function itself.
--
-- The functions must not depend on anything else that may change, and give one array.  What the script calls encloses a
-- call of them in parentheses: it stays on the stack then, where messages look for its name (lgt.called).

local ffi = require "ffi"
local core = require "array.core"

local lgt = core.lgt
local Array, handles, front = lgt.Array, lgt.handles, lgt.front
local C, rt, slot, wrap_launched, entries = lgt.C, lgt.rt, lgt.slot, lgt.wrap_launched, lgt.entries
local istype, type, getmetatable = ffi.istype, type, getmetatable
local clear = require "table.clear"

local routine = {}

local MOST_OPERANDS = C.LGT_MOST_OPERANDS
local ids = ffi.new("lgt_id[?]", MOST_OPERANDS) -- of the operands of a call

-- ---- what is known --------------------------------------------------------------------------------------------

-- By function a tree, whose levels are what the function was given: layouts and numbers, to each of which 0.5 is added
-- (keys.lua says why, and why all are forgotten at times), or a text.  A leaf has `seen`, how often that was given;
-- `routine`, what C has kept, if it has; and `lines`, whether its launches say their line.
local trees = {}
local MOST = 4096
local remembered, epoch, settings = 0, front.epoch, front.settings

local FIRST, LAST = 2, 4 -- calls that are watched, until one of them is kept
local NONE = -0.25 -- in place of a number that was not given
local LARGEST = 2 ^ 51 -- up to it, a half more is another number

local function forget()
  remembered, epoch, settings = 0, front.epoch, front.settings
  for _, tree in ipairs(trees) do clear(tree) end
end
jit.off(forget)

local function is_stale() return front.epoch ~= epoch or front.settings ~= settings or remembered > MOST end

---@param f function
---@return table
function routine.new(f)
  local tree = {}
  trees[#trees + 1] = tree
  return { f = f, tree = tree }
end

local function grow(node, key)
  local found = node[key]
  if not found then
    found = { seen = 0 }
    node[key] = found
    remembered = remembered + 1
  end
  return found
end

local bytes, line = ffi.new("double[?]", C.LGT_ROUTINE_BYTES / 8), ffi.new("int[1]")

-- Call the function; the operands of the call are in `ids`.  Where all launches say their lines C keeps nothing, and
-- where no line is known it would not see which of them do.
local function watched(leaf, count, f, ...)
  leaf.seen = leaf.seen + 1
  if leaf.seen < FIRST or leaf.seen > LAST then return f(...) end
  if front.all_lines ~= 0 or lgt.line() == 0 then return f(...) end
  local watch, own = ffi.new("lgt_watch"), ffi.new("lgt_id[?]", MOST_OPERANDS)
  ffi.copy(own, ids, ffi.sizeof(own))
  C.lgt_routine_watch(rt, watch)
  local result = f(...)
  local size = C.lgt_routine_end(rt, watch, own, count, lgt.id_of(result), ffi.cast("lgt_routine *", bytes), line)
  if size == 0 then return result end
  local kept = ffi.new("double[?]", math.ceil(size / 8))
  ffi.copy(kept, bytes, size)
  leaf.routine, leaf.lines = kept, line[0] ~= 0
  return result
end
jit.off(watched)

-- What a routine gives for the operands in `ids`; nil: the function must be called.
local function again(leaf)
  local kept = leaf.routine
  if not kept then return nil end
  if front.count >= front.limit then slot() end
  local id = C.lgt_launch_routine(rt, ffi.cast("const lgt_routine *", kept), ids, leaf.lines and lgt.line() or 0)
  return id ~= 0 and wrap_launched(id) or nil
end

-- ---- calls ----------------------------------------------------------------------------------------------------

-- The key of an integer, or of nil; nil: it is something else.
local function key_of(x)
  if x == nil then return NONE end
  return type(x) == "number" and x % 1 == 0 and x < LARGEST and x > -LARGEST and x + 0.5 or nil
end

-- f(a, x, y): of an array, and up to two numbers.
---@return lgt_array
function routine.of_array(r, a, x, y)
  local layout = istype(Array, a) and handles[a.id].layout or 0
  local first, second = key_of(x), key_of(y)
  if layout == 0 or not first or not second then return r.f(a, x, y) end
  if is_stale() then forget() end
  local leaf = grow(grow(grow(r.tree, layout + 0.5), first), second)
  ids[0] = a.id
  return again(leaf) or watched(leaf, 1, r.f, a, x, y)
end

-- f(a, b): of two arrays.
---@return lgt_array
function routine.of_pair(r, a, b)
  local first, second = istype(Array, a) and handles[a.id].layout or 0, istype(Array, b) and handles[b.id].layout or 0
  if first == 0 or second == 0 then return r.f(a, b) end
  if is_stale() then forget() end
  local leaf = grow(grow(r.tree, first + 0.5), second + 0.5)
  ids[0], ids[1] = a.id, b.id
  return again(leaf) or watched(leaf, 2, r.f, a, b)
end

-- f(arrays, x): of a list of arrays, and a number.
---@return lgt_array
function routine.of_list(r, arrays, x)
  local number = key_of(x)
  if not number or type(arrays) ~= "table" or getmetatable(arrays) then return r.f(arrays, x) end
  local count = #arrays
  if count > MOST_OPERANDS or entries(arrays) ~= count then return r.f(arrays, x) end
  if is_stale() then forget() end
  local node = grow(grow(r.tree, number), count + 0.5)
  for i = 1, count do
    local a = arrays[i]
    local layout = istype(Array, a) and handles[a.id].layout or 0
    if layout == 0 then return r.f(arrays, x) end
    node = grow(node, layout + 0.5)
    ids[i - 1] = a.id
  end
  return again(node) or watched(node, count, r.f, arrays, x)
end

-- f(text, ...): of a text and one to three arrays.
---@return lgt_array
function routine.of_text(r, text, ...)
  if type(text) ~= "string" then return r.f(text, ...) end
  if is_stale() then forget() end
  local count, a, b, c = select("#", ...), ...
  local node = grow(grow(r.tree, text), count + 0.5)
  for i = 1, count do
    local x = i == 1 and a or i == 2 and b or c
    local layout = istype(Array, x) and handles[x.id].layout or 0
    if layout == 0 then return r.f(text, ...) end
    node = grow(node, layout + 0.5)
    ids[i - 1] = x.id
  end
  return again(node) or watched(node, count, r.f, text, ...)
end

return routine
