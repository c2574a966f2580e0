-- lgt.lua - `require "lgt"`: the runtime as Lua sees it.
--
-- Two audiences.  Scripts use the functions under "for scripts".  Libraries (array.lua, and yours)
-- build on what comes before: handles, layouts, kinds and launches.
--
-- Handles.  An array is an FFI struct with one constant field, its id.  Nothing is finalised when a
-- handle dies: every handle is entered in the weak table `alive` under its id, and a *sweep* finds the
-- ids whose handle the collector has cleared and reports them to the runtime.  Free ids hold `false`
-- there, so nil means: handed out, and dead.  Sweeps happen before a flush, when a sentinel has told
-- that a collection has ended, when the runtime asks for one (front.collect), and where free ids are few.
--
-- Launches.  `slot()` gives the next free record and may flush; from then until `commit()` nothing
-- else may launch, and handles are turned into ids only after slot(): a flush may collect, and what
-- was only an id by then could be swept.  The order is always: slot, fresh ids, fill, commit, handles.
--
-- The interpreter and the JIT compiler both matter here (loops of more than some 15 operations run
-- interpreted around compiled functions): the functions on the path of a launch are short, touch no
-- varargs and no closures, and what is rare sits in functions for which the compiler is switched off.
--
-- C never calls Lua and never runs the collector.

local binding = ... -- from luaopen_lgt: {runtime, library, headers, roots, line, entries}
local band = require("bit").band
local ffi = require "ffi"
local dtypes = require "lgt.dtype"
local bodies = require "lgt.body"

local ranks = package.loaded["lgt.ranks"] -- nil where this is the only rank

local lgt = { dtypes = dtypes, bodies = bodies, is_value = bodies.is_value }

lgt.ranks = ranks -- what libraries need that open files or look outside: see lgt/ranks.lua

-- The one that visits entries as they come, in another order on each rank: for libraries, where order does not matter.
lgt.next = ranks and ranks.next or next
-- The keys and values of a table whose keys have no order, which pairs refuses on several ranks.
function lgt.unordered(t) return lgt.next, t, nil end
-- How many entries a table has.  It ends a trace of the JIT compiler, but once, where `next` may do so for each.
lgt.entries = binding.entries

-- ---- the library ------------------------------------------------------------------------------

do
  local BEGIN, END = "#pragma GCC visibility push(default)", "#pragma GCC visibility pop"
  for _, header in ipairs(binding.headers) do
    local file = assert(io.open(header))
    local text = file:read("*a")
    file:close()
    local _, before = text:find(BEGIN, 1, true)
    ffi.cdef(text:sub(before + 1, text:find(END, before, true) - 1))
  end
  -- The padding says nothing.  A cdata of at most 16 bytes in a local variable of an outer function is a constant to
  -- LuaJIT: compiled code would keep the array alive.  (Two fields, for LuaJIT compiles no making of structs that have
  -- arrays.)
  ffi.cdef [[
    typedef struct lgt_array { const uint32_t id; const uint64_t _padding, _more_padding; } lgt_array;
    void *calloc(size_t, size_t);
    void free(void *);
  ]]
end

local C = ffi.load(binding.library)
local rt = ffi.cast("lgt_runtime *", binding.runtime)
local front = C.lgt_front_of(rt)
local handles, layouts = front.handles, front.layouts
lgt.C, lgt.rt, lgt.front, lgt.handles, lgt.layouts = C, rt, front, handles, layouts

-- ---- errors -----------------------------------------------------------------------------------

local getinfo = debug.getinfo
local library_roots = binding.roots -- chunk names of library code begin with one of these

local function is_library(source)
  for i = 1, #library_roots do
    if source:sub(1, #library_roots[i]) == library_roots[i] then return true end
  end
  return false
end

-- The level of the first function outside the libraries, as error() counts it in the caller.
local function user_level()
  local level = 3
  while true do
    local info = getinfo(level, "S")
    if not info then return 2 end
    if info.what ~= "C" and not is_library(info.source) then return level - 1 end
    level = level + 1
  end
end

-- The function of the libraries that the script called, nil if it is not on the stack; what the script calls it, for it
-- may have called another one last and be gone.
function lgt.called()
  local level, found, name = 2, nil, nil
  while true do
    local info = getinfo(level, "Sfn")
    if not info or info.what ~= "C" and not is_library(info.source) then return found, name end
    if info.what ~= "C" then found, name = info.func, info.name end
    level = level + 1
  end
end

-- Nouns that stand behind numbers in messages.
local singular = { axes = "axis", entries = "entry", probabilities = "probability" }
for noun in ([[argument array bin choice column condition count dimension element equation extent function number
  observation operand part parameter place position result row spacing step value weight]]):gmatch("%S+") do
  singular[noun .. "s"] = noun
end

-- Raise an error at the line of the script that called into the libraries.
---@param text string a format; says what was given, what was expected, what to do; "1 elements" becomes "1 element"
function lgt.raise(text, ...)
  if select("#", ...) > 0 then text = text:format(...) end
  text = text:gsub("%f[%w.-]1 (%l+)", function(noun) return singular[noun] and "1 " .. singular[noun] end)
  error(text, user_level())
end
local raise = lgt.raise

-- What a value of the wrong type is called in messages.
function lgt.describe(x) return x == nil and "nil" or "a " .. type(x) end
local describe = lgt.describe

-- Raise what the last failed call into the runtime had to say.
local function fail() return raise("%s", ffi.string(C.lgt_message())) end
lgt.fail = fail
bodies.bind(C, fail, raise)

-- The number of the script's line that is being executed.  It costs some 100 ns and ends a trace of the
-- JIT compiler, so only launches on large arrays, or of kinds that can fail, say where they come from.
lgt.line = binding.line

-- ---- handles ----------------------------------------------------------------------------------

local Array = ffi.typeof("lgt_array")
lgt.Array = Array

local weak = { __mode = "v" }
local alive = setmetatable({}, weak)
local capacity = 0 -- alive[1 .. capacity]: a handle, false for free, or nil for dead
local room = 0 -- ids handed out are no greater than this
local collected = true -- a collection has ended since the last sweep

local FEWEST = 256 -- ids that are always gone through
local BATCH = 1024
local dead = ffi.new("lgt_id[?]", BATCH)

local MANY = 65536

-- Every collection goes through all of the table, also when those are gone that it grew for.
local function shrink()
  local fewer = setmetatable({}, weak)
  for id = 1, room do fewer[id] = alive[id] end
  alive, capacity = fewer, room
end
jit.off(shrink)

-- The dead among the ids from `id` down: BATCH of them at most, noted in `dead`.  How many, and where to go on.
local function find_dead(id)
  local n = 0
  while id > 0 and n < BATCH do
    local array = alive[id] -- comparing an array with == would call its metamethod
    if not array and array ~= false then
      alive[id] = false
      dead[n] = id
      n = n + 1
    end
    id = id - 1
  end
  return n, id
end

-- No id beyond this is in use.  What has died since find_dead came by, in a function that gave back memory, is for the
-- next sweep to find: it counts as alive.
local function greatest_in_use()
  local id = room
  while id > FEWEST do
    local array = alive[id]
    if array or array ~= false then break end
    id = id - 1
  end
  return id
end

-- From the greatest id down, so that small ones are on top of the stack of free ids and `room` can shrink.  The loops
-- above are compiled; this is not, because it gives back memory of the host program, by functions that may call Lua.
local function sweep()
  collected = false
  local id = room
  while id > 0 do
    local n, rest = find_dead(id)
    if n > 0 then C.lgt_array_free_many(rt, dead, n) end
    id = rest
  end
  room = greatest_in_use()
  if capacity > MANY and room < capacity / 8 then shrink() end
end
jit.off(sweep)

-- An object that lives for one collection: its finaliser tells that the cycle has ended.
local function arm_sentinel()
  local object = newproxy(true)
  getmetatable(object).__gc = function()
    collected = true
    arm_sentinel()
  end
end
arm_sentinel()

local function grow(id)
  local wanted = math.max(1024, room)
  while wanted < id do wanted = wanted * 2 end
  for i = capacity + 1, wanted do alive[i] = false end
  capacity, room = math.max(capacity, wanted), wanted
end
jit.off(grow)

local SPARE = 16 -- more than a launch takes

-- Few ids are free.  Views launch nothing, so that a loop may make thousands of them between two flushes.
local function make_room()
  if collected then sweep() end
  if C.lgt_array_reserve(rt, SPARE) == 0 then return end
  collectgarbage()
  sweep()
  if C.lgt_array_reserve(rt, SPARE) < 0 then fail() end
end
jit.off(make_room)

-- The handle of an id that the runtime has just handed out (0: an error).  Enough ids for the next launch stay free:
-- between slot and commit, and in C, nothing can be swept.
---@return lgt_array
local function wrap(id)
  if id > room then grow(id) elseif id == 0 then fail() end
  local array = Array(id)
  alive[id] = array
  if front.nfree < SPARE then make_room() end
  return array
end
lgt.wrap = wrap

-- The same of what C has launched (lgt_launch_...), which leaves as many free.
---@return lgt_array
local function wrap_launched(id)
  if id > room then grow(id) end
  local array = Array(id)
  alive[id] = array
  return array
end
lgt.wrap_launched = wrap_launched

local WHOLE = 2 ^ 21 -- kB: a step of the collector that goes on to the end of its cycle

-- The runtime asked for a collection, or something is wrong.  To end a cycle costs half as much as to collect all: that
-- sweeps the heap before it marks, too.
local function go_on(status)
  while status == 0 and front.collect ~= 0 do
    if front.collect == 1 then collectgarbage() else collectgarbage("step", WHOLE) end
    sweep()
    C.lgt_collected(rt, collectgarbage("count") * 1024)
    status = C.lgt_flush_some(rt)
  end
  if status < 0 then fail() end
end
jit.off(go_on)
lgt.go_on = go_on

-- Part of the traces of loops that wait in each turn.
local function flush()
  if collected then sweep() end
  if ranks and ranks.checkpoint() then raise("interrupted!") end
  local status = C.lgt_flush_some(rt)
  if status ~= 0 or front.collect ~= 0 then go_on(status) end
end

-- Say explicitly that an array is no longer used.  Using it afterwards raises an error.
function lgt.free(array)
  local id = array.id
  if id == 0 then return end
  alive[id] = false
  ffi.cast("uint32_t *", array)[0] = 0
  C.lgt_array_free(rt, id)
end

-- Why an array cannot be used any more, for messages; nil: it can.
---@param array lgt_array
---@return string?
function lgt.why_gone(array)
  if array.id == 0 then return "was released with free()" end
  if handles[array.id].layout == 0 then return "was detached from its memory, or is a view of what was" end
end
local why_gone = lgt.why_gone

-- An id for a result of the given dense layout.
local function fresh(layout)
  local n = front.nfree
  if n == 0 then
    local id = C.lgt_layout_array(rt, layout)
    if id == 0 then fail() end
    return id
  end
  n = n - 1
  front.nfree = n
  local id = front.free_ids[n]
  local handle = handles[id]
  handle.store = 0
  handle.layout = layout
  return id
end
lgt.fresh = fresh

-- The record of the next launch, after a flush if there is no more room.
local function slot()
  if front.count >= front.limit then flush() end
  return front.launches[front.count]
end
lgt.slot = slot

local function commit() front.count = front.count + 1 end
lgt.commit = commit

-- ---- layouts ----------------------------------------------------------------------------------

local MAX_DIM, MAX_ARGS, MAX_PARAMS = C.LGT_MAX_DIM, C.LGT_MAX_ARGS, C.LGT_MAX_PARAMS
local extents = ffi.new("int64_t[?]", MAX_DIM)
local axes = ffi.new("int[?]", MAX_DIM)

local function fill_extents(shape)
  local ndim = #shape
  if ndim > MAX_DIM then raise("a shape of %d dimensions: arrays have at most %d", ndim, MAX_DIM) end
  for d = 1, ndim do
    local extent = shape[d]
    if extent >= 2 ^ 61 then raise("an extent of %.4g: an array has less than 2^61 bytes", extent) end
    extents[d - 1] = extent
  end
  return ndim
end

local function checked(layout)
  if layout == 0 then fail() end
  return layout
end

-- The layout of a new array.
---@param dtype integer
---@param shape integer[]
function lgt.dense(dtype, shape)
  local ndim = fill_extents(shape)
  return checked(C.lgt_layout_dense(rt, dtype, ndim, extents))
end

-- The same of one extent, or of two, without a table; they are integers from 0 up.
---@param dtype integer
---@param ndim integer 1 or 2
---@param n integer
---@param m integer of no account where ndim is 1
function lgt.dense_of(dtype, ndim, n, m)
  if n >= 2 ^ 53 or m >= 2 ^ 53 then return lgt.dense(dtype, ndim == 1 and { n } or { n, m }) end
  extents[0], extents[1] = n, m
  return checked(C.lgt_layout_dense(rt, dtype, ndim, extents))
end

-- Dimensions count from 1 here, first elements from 0.
function lgt.slice(layout, dim, first, count, step)
  return checked(C.lgt_layout_slice(rt, layout, dim - 1, first, count, step))
end
function lgt.project(layout, dim, index) return checked(C.lgt_layout_project(rt, layout, dim - 1, index)) end
function lgt.promote(layout, dim, extent) return checked(C.lgt_layout_promote(rt, layout, dim - 1, extent)) end

function lgt.diagonal(layout, row, column, above)
  return checked(C.lgt_layout_diagonal(rt, layout, row - 1, column - 1, above))
end

function lgt.windows(layout, dim, width) return checked(C.lgt_layout_windows(rt, layout, dim - 1, width)) end

function lgt.transpose(layout, order)
  local seen = {}
  for d = 1, #order do
    if seen[order[d]] then raise("transpose: axis %d is given twice", order[d]) end
    seen[order[d]] = true
    axes[d - 1] = order[d] - 1
  end
  return checked(C.lgt_layout_transpose(rt, layout, axes))
end

function lgt.broadcast(layout, shape)
  local ndim = fill_extents(shape)
  return checked(C.lgt_layout_broadcast(rt, layout, ndim, extents))
end

-- nil where it needs a copy.
function lgt.reshape(layout, shape)
  local ndim = fill_extents(shape)
  local result = C.lgt_layout_reshape(rt, layout, ndim, extents)
  if result ~= 0 then return result end
end

-- A fresh table of extents.
function lgt.shape(layout)
  local l = layouts[layout]
  local shape = {}
  for d = 1, l.ndim do shape[d] = tonumber(l.shape[d - 1]) end
  return shape
end

-- The layout of a new array like the one that has this layout: of its shape, and of its dtype.
function lgt.like(layout) return checked(C.lgt_layout_join(rt, layouts[layout].dtype, layout, layout)) end

local all_lines, LARGE = front.all_lines ~= 0, C.LGT_LAYOUT_LARGE
-- The source line for a launch, if an array of this layout is big enough that it is worth remembering; else 0.
-- On several ranks all launches say it, so that a rank that goes its own way can be told where; and to a profile, and
-- to a trace that the script names, when it is recorded.  `inside`: how many functions, the caller and those that
-- called it, are known to be the libraries' own: to look at one takes as long as to fill a launch.  nil: none.
---@param layout integer
---@param inside integer?
function lgt.line_for(layout, inside)
  local known = front.all_lines ~= 0 or band(layouts[layout].flags, LARGE) ~= 0
  return known and binding.line(1 + (inside or 0)) or 0
end

-- ---- arrays and launches, the comfortable way -------------------------------------------------

-- A new array with undefined contents.
---@return lgt_array
function lgt.new(layout) return wrap(fresh(layout)) end

-- The number by which C knows an array; 0 for everything else.
function lgt.id_of(x) return ffi.istype(Array, x) and x.id or 0 end

-- A second handle on the same elements through another layout of the same root.
function lgt.alias(array, layout) return wrap(C.lgt_layout_view(rt, array.id, layout)) end

local AGREED = 2 ^ 20 -- bytes
local place = ffi.new("void *[1]")

-- Zeroed memory that counts as what arrays take; C.lgt_memory_free gives it back.  `former`, from here, becomes it.  On
-- several ranks all ask alike for AGREED bytes or more, so that they fail together, unless some do so `alone`.  What is
-- not agreed upon may go beyond the limit: a rank that fails alone would not be in step with the others any more.
---@param bytes number
---@param former ffi.cdata*? nil: none
---@param alone boolean?
---@return ffi.cdata*
function lgt.memory(bytes, former, alone)
  local agreed = ranks and not former and not alone and bytes >= AGREED
  bytes = math.min(bytes, 2 ^ 62)
  for attempt = 1, 2 do
    place[0] = former
    local failed = C.lgt_memory_resize(rt, bytes, ranks and not agreed and 1 or 0, place) < 0
    local memory = place[0]
    local why = failed and ffi.string(C.lgt_message()) or nil
    if agreed then
      why = ranks.complaint("memory", why)
      if why and not failed then C.lgt_memory_free(memory) end
    end
    if not why then return memory end
    if attempt == 2 then raise("%s", why) end
    jit.flush() -- compiled code keeps the functions alive that it was made of, and what these refer to
    collectgarbage()
    sweep()
    if agreed or not ranks then flush() end -- what launches hold goes with them
  end
end

-- An object that stands for memory of a library: while it lives, so many bytes count as what arrays take.
---@param bytes number
---@return ffi.cdata*
function lgt.outside(bytes)
  if C.lgt_memory_count(rt, bytes, place) < 0 then fail() end
  return ffi.gc(place[0], C.lgt_memory_free)
end

-- A new array of the given dense layout over `data`, which is the array's own from now on: release(data), a function of
-- C, gives it back (none: free does).
function lgt.adopt(layout, data, release)
  if all_lines then front.line = lgt.line() end
  return wrap(C.lgt_array_adopt(rt, layout, data, release or ffi.C.free))
end

-- The number of an array over any memory, which release(context) gives back; 0 if it cannot be had.
-- `kind`: where the memory lies, if not on the host.
function lgt.attach(layout, data, release, context, kind)
  if all_lines then front.line = lgt.line() end
  local l = layouts[layout]
  return C.lgt_array_attach(rt, l.dtype, l.ndim, l.shape, kind or C.LGT_MEMORY_HOST, data, release, context)
end

function lgt.layout(array) return handles[array.id].layout end

local computed = {} -- kinds with a body: they fail for lack of memory alone
local BESIDE = 2 ^ 13 -- elements beside which remembering a line costs nothing

-- As commit, of a launch that may be wrong.
local function submit(launch)
  if C.lgt_check(rt, launch) < 0 then fail() end
  commit()
end

lgt.BESIDE, lgt.submit = BESIDE, submit -- for the launchers of lgt/task.lua

-- Launch a kind on up to twelve arrays with up to six numbers as parameters.  Raises what lgt_submit refuses:
-- shapes and dtypes that do not fit, arrays that are written and overlap another one.
---@param kind integer
---@param arrays lgt_array[]
---@param numbers number[]?
function lgt.launch(kind, arrays, numbers)
  local n, m = #arrays, numbers and #numbers or 0
  if n > MAX_ARGS or m > MAX_PARAMS then
    raise("a launch has at most %d arrays and %d parameters, not %d and %d", MAX_ARGS, MAX_PARAMS, n, m)
  end
  local l = slot()
  local known = front.all_lines ~= 0 or not computed[kind]
  l.kind, l.nargs, l.nparams = kind, n, m
  for i = 1, n do
    local why = why_gone(arrays[i])
    if why then raise("argument %d %s", i, why) end
    local id = arrays[i].id
    l.arg[i - 1] = id
    known = known or layouts[handles[id].layout].size >= BESIDE
  end
  l.line = known and lgt.line() or 0
  for i = 1, m do l.param[i - 1].f = numbers[i] end
  submit(l)
end

-- Register a task kind with a generator; see bodies.kind.
---@param name string for messages
---@param build fun(body: table)
---@return integer kind
function lgt.kind(name, build)
  local kind = bodies.kind(rt, name, build)
  computed[kind] = true
  return kind
end

-- ---- for scripts --------------------------------------------------------------------------------

-- Start everything that was launched so far.
function lgt.flush() flush() end
if all_lines then
  function lgt.flush() -- what looks at values begins here: ranks that look at different ones are told where
    front.line = lgt.line()
    flush()
  end
end

-- Wait until everything launched so far is done; raises the error of a task that failed.
function lgt.fence()
  lgt.flush()
  if C.lgt_fence(rt) < 0 then fail() end
end

local told = {} -- traces that have been reported

-- After the call: what the trace is told, and the results.
local function end_trace(name, ok, ...)
  local why = ffi.new("const char *[1]")
  local flushed, message = pcall(lgt.flush)
  local status = C.lgt_trace_end(rt, ok and flushed and why or nil)
  if not ok then error((...), 0) end
  if not flushed then error(message, 0) end
  if status < 0 then fail() end
  if why[0] ~= nil and not told[name] then
    told[name] = true
    if lgt.rank() == 0 then io.stderr:write("lgt: ", ffi.string(why[0]), ": it runs untraced\n") end
  end
  return ...
end

-- Call f, which launches the same each time it is called under this name: the same operations in the same order on
-- arrays of the same shapes and types, which may be other arrays with other values.  It is planned once and replayed
-- from then on, as loops are by themselves when they have been seen to repeat (`--trace`).  Where it launches something
-- else the rest of it runs untraced, with the same results, and standard error says once what differed.  Looking at
-- values in f is allowed, at the same places each time.  A trace within another one is a part of it.  One of more than
-- 32768 launches is not kept.  Begins and ends with a flush.
---@param name string|number
---@param f function
---@param ... any its arguments
---@return any ... its results
function lgt.trace(name, f, ...)
  if type(name) ~= "string" and type(name) ~= "number" then
    raise("trace: a name or number was expected first, not %s", describe(name))
  end
  if type(f) ~= "function" then raise("trace: a function was expected, not %s", describe(f)) end
  name = tostring(name)
  lgt.flush()
  if C.lgt_trace_begin(rt, name) < 0 then fail() end
  return end_trace(name, pcall(f, ...))
end

function lgt.rank() return C.lgt_rank(rt) end
function lgt.size() return C.lgt_size(rt) end
-- Seconds since some fixed point; on several ranks those of rank 0.
function lgt.time() return C.lgt_time() end
if ranks then lgt.time = ranks.shared("lgt.time", lgt.time) end

-- The runtime's counters since the last reset, by name.  Of the script: launches, windows (launches planned together),
-- waits (how often it looked at values), collections.  Of plans: plans_made, plans_shifted (made from one that differed
-- in numbers alone), fused_groups, temporaries_elided (results never stored), recipes_computed (such results that were
-- looked at after all).  Of what repeats: launches_replayed (whose plan was found without planning or looking it up),
-- traces_recorded, traces_evicted, traces_aborted (launches went along them, and not to the end).  Of kernels:
-- kernels_compiled, kernels_loaded (from disk), kernels_failed.  Of work: tasks, tasks_copied (made from earlier ones),
-- passes (over memory), passes_following (those among them that follow others row by row), passes_abreast (that run
-- while others of their task do), bytes_moved (read and written by loops).  Between instances and ranks: bytes_copied,
-- messages_sent, bytes_sent, tasks_ahead (that did something before all had come that they read); what tasks need from
-- elsewhere was exchanges_replayed as recorded before, or found out: exchanges_new (for the first time, or after a
-- sweep), exchanges_changed (something else had happened to an array),
-- exchanges_by_data (data says what moves), exchanges_gathered (parts of an array were brought together); of files:
-- bytes_read, bytes_written.  Of devices: device_tasks, device_kernels, groups_on_host, queue_waits (how often one
-- queue waits for another), copies_to_devices, copies_from_devices, bytes_to_devices, bytes_from_devices, bytes_staged
-- (through pinned memory), staging_waits (how often that was full), bytes_handed_over (reused before what worked on
-- them was over).
-- What there is now, not since a reset: bytes_live, bytes_peak (the most of
-- these), bytes_pooled (kept for what comes), bytes_in_libraries (factors of sparse matrices), live_stores, layouts,
-- footprints, partitions, plans.
---@return table<string, number>
function lgt.stats()
  local result, name, n = {}, ffi.new("const char *[1]"), 0
  while true do
    local count = C.lgt_stat(rt, n, name)
    if name[0] == nil then break end
    result[ffi.string(name[0])] = tonumber(count)
    n = n + 1
  end
  return result
end

function lgt.stats_reset() C.lgt_stats_reset(rt) end

local FIELDS = { "name", "class", "memory", "taken", "domain" }

local function list_devices()
  local info, values = ffi.new "lgt_device_info", {}
  for n = 0, C.lgt_device_list(rt, 0, info) - 1 do
    C.lgt_device_list(rt, n, info)
    values[#values + 1] = ffi.string(info.name)
    values[#values + 1] = ffi.string(info.class_name)
    values[#values + 1] = tonumber(info.memory)
    values[#values + 1] = tonumber(info.taken)
    values[#values + 1] = info.domain
  end
  return unpack(values)
end
if ranks then list_devices = ranks.shared("lgt.devices", list_devices) end

-- The devices that compute besides the processor, each with its `name`, its `class` ("cuda" or "emulated"), the
-- bytes of its `memory` that arrays may take and those `taken`, and the `domain` (from 0) that has it; on ranks those
-- of rank 0.
---@return table<string, any>[]
function lgt.devices()
  local values, result = { list_devices() }, {}
  for i, value in ipairs(values) do
    local field = (i - 1) % #FIELDS + 1
    if field == 1 then result[#result + 1] = {} end
    result[#result][FIELDS[field]] = value
  end
  return result
end

-- How an array is stored, and what was fused to make it, as text.
---@param array lgt_array
---@return string
function lgt.explain(array)
  if not ffi.istype(Array, array) then raise("explain: an array was expected, not %s", describe(array)) end
  local why = why_gone(array)
  if why then raise("explain: the array %s", why) end
  lgt.flush()
  local text = ffi.new("const char *[1]")
  if C.lgt_explain(rt, array.id, text) < 0 then fail() end
  return ffi.string(text[0])
end

-- Change options of the running runtime, as in lgt.options{fusion = false}; `lgt --help` lists them.
---@param options table<string, boolean|number|string>
function lgt.options(options)
  if type(options) ~= "table" then
    raise("options: a table such as {fusion = false} was expected, not %s", describe(options))
  end
  front.line = lgt.line()
  for name, value in pairs(options) do
    local text = value == true and "1" or value == false and "0" or tostring(value)
    if C.lgt_option(rt, tostring(name), text) < 0 then fail() end
  end
end

-- Must results have the same bits however arrays are cut?  (Option `reproducible`.)
---@return boolean
function lgt.reproducible() return front.reproducible ~= 0 end

-- Count a loop and show how far it is, on a terminal: see lgt/progress.lua.
--   for i in lgt.progress(n) do ... end        for i in lgt.progress(first, last, step) do ... end
--   for i, x in lgt.progress(list) do ... end
---@param first integer|table the last number, if it is alone; or a list
---@param last integer?
---@param step integer?
---@param options {label: string?}? the last argument: what stands before the bar
---@return fun(): integer?, any
function lgt.progress(first, last, step, options) return require("lgt.progress")(lgt, first, last, step, options) end

-- Define a kind of task, and get the function that launches it: task(array, ..., number, ...).  Fields: name, for
-- messages; args, a privilege for each array: "in", "out", "inout", or the reduction that collects a value of each
-- element there: "sum", "prod", "min", "max", "and", "or", "xor", into what the array holds (a total begins with
-- np.zeros), or "fresh sum" and the like, which drop that; params, how many numbers it takes; generator, a function of
-- the body, a value for each array that is read and the numbers, which gives a value for each array that is written.
-- lgt/task.lua says more.
---@param definition {name: string, args: string[], params: integer?, generator: function}
---@return fun(...: lgt_array|number)
function lgt.task(definition) return require("lgt.task")(lgt, definition) end

lgt.version = ffi.string(C.lgt_version())

-- What a prompt or an embedding host may want to know: fence before the end, ignore handles after it.
lgt.binding = binding

return lgt
