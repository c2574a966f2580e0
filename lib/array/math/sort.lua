-- array/math/sort.lua - sorting, and searching in what is sorted.
--
-- A sort is one task (ops/sort.c) on lines: the other axes are cut among the domains and the workers, a
-- line is sorted by one of them.  A long line by itself is sorted in parts, which are then merged (ops/merge.c),
-- on several domains after each has sent the others what belongs to them (ops/sort_parts.c, shuffle.h).
-- All sorts are stable and put NaN last; complex numbers with a NaN in either part come after those without, and are
-- ordered by their real parts, then by their imaginary parts.  Positions count from 1.

local core = require "array.core"
local native = require "array.core.native"
local routine = require "array.core.routine"
local runs = require "array.index.runs"

local lgt, dtypes, raise = core.lgt, core.dtypes, core.raise
local np, methods = core.np, core.methods

local options_of_sort = { axis = true, kind = true }

-- The array and the axis that a call means: the last one if none is given.
local function take_axis(a, axis, who)
  if core.is_options(axis) then axis = core.check_options(axis, options_of_sort, who).axis end
  if not core.is_array(a) then a = np.asarray(a) end
  core.layout_of(a, who)
  if core.ndim_of(a) == 0 then raise("%s: a 0-d array has no axis to sort along", who) end
  return a, core.check_axis(axis or -1, core.ndim_of(a), who)
end

-- ---- one long line -----------------------------------------------------------------------------------------------

local WORTH = 131072 -- elements, from which on a line is sorted in parts by several workers
local LEAST_OF_PAIRS = 64 -- ... by several domains: elements for each two of them, who have to agree on cuts
local LEAST_PART, PARTS = 32768, 8 -- parts where several domains must agree on how many

-- How a line of n elements is cut: its runs, one for each domain, and the parts of a run, which workers share.
local function cutting(n)
  local domains = lgt.C.lgt_domains(lgt.rt)
  local run = math.ceil(n / domains)
  local most = not native.whole and PARTS or lgt.C.lgt_workers(lgt.rt)
  return { n = n, domains = domains, run = run, parts = math.max(1, math.min(most, math.floor(run / LEAST_PART))),
           marks = np.zeros(domains, { dtype = "int8" }) }
end

local function is_complex(a) return dtypes.category[core.dtype_of(a)] == 3 end

-- Is a line by itself worth it?  Where there are enough lines, each is sorted by one worker; one of complex numbers is,
-- unless several domains have it.
local function worth_parts(a, axis)
  local n, size, domains = core.shape_of(a)[axis], core.size_of(a), lgt.C.lgt_domains(lgt.rt)
  if size == 0 then return false end
  if not native.whole then
    return native.divided(n) and n >= LEAST_OF_PAIRS * domains * domains and size < n * domains
  end
  return n >= WORTH and size < n * lgt.C.lgt_workers(lgt.rt) and not is_complex(a)
end

-- The same, and several domains have it: then it is better sorted than brought to each of them.
---@return boolean
function core.is_long_line(a, axis) return not native.whole and worth_parts(a, axis) end

-- A function of vectors for each line along an axis.
local function for_each_line(a, axis, f)
  local n, size = core.shape_of(a)[axis], core.size_of(a)
  if core.ndim_of(a) == 1 then return f(a) end
  local moved = np.moveaxis(a, axis, core.ndim_of(a))
  local lines, results = np.reshape(moved, { size / n, n }), {}
  for i = 1, size / n do results[i] = f(np.copy(lines[i])) end
  local shape = core.shape_of(moved)
  shape[#shape] = core.size_of(results[1])
  return np.moveaxis(np.reshape(np.stack(results), shape), core.ndim_of(a), axis)
end
core.for_each_line = for_each_line

-- How many elements of each sorted run come before each run of all of them.
local function find_cuts(sorted, cut, is_position)
  local d, int64 = cut.domains, dtypes.INT64
  local width = dtypes.size[core.dtype_of(sorted)] * 8
  local digit = d <= 16 and 8 or 4
  local function count(prefix, values, shift)
    local counts = native.new(int64, { d, d - 1, values })
    native.launch("sort_digits", "wrr", "align(0.0,1.0) scale(1.0)", { counts, sorted, prefix },
      { cut.run, shift, is_position and 1 or 0 })
    return counts
  end
  local prefix = np.zeros(d - 1, { dtype = "int64" })
  for shift = width - digit, 0, -digit do
    local longer = native.new(int64, { d - 1 })
    native.launch("sort_narrow", "wrr", "", { longer, prefix, count(prefix, 2 ^ digit, shift) }, { cut.run, shift })
    prefix = longer
  end
  local cuts = native.new(int64, { d + 1, d })
  native.launch("sort_cuts", "wr", "", { cuts, count(prefix, 2, 0) }, { cut.run, cut.n })
  return cuts
end

-- The elements of a vector in ascending order: each domain sorts its run; then all find out what of it belongs to whom.
local function sort_in_parts(a)
  local cut, dtype = cutting(core.size_of(a)), core.dtype_of(a)
  local function new() return native.new(dtype, { cut.n }) end
  local parts, numbers = new(), { cut.parts, cut.run, 0 }
  runs.launch("sort_parts", "wrr", cut.marks, { parts, a }, numbers)
  local sorted = parts
  if cut.parts > 1 then
    sorted = new()
    runs.launch("merge_parts", "wrr", cut.marks, { sorted, parts }, numbers)
  end
  if native.whole then return sorted end
  local cuts, result = find_cuts(sorted, cut, false), new()
  local pieces = runs.shuffle(sorted, cut.marks, cuts, cut.n)
  runs.launch("merge_pieces", "wrrr", cut.marks, { result, pieces }, numbers, cuts)
  return result
end

-- Their positions in that order, from 1.
local function argsort_in_parts(a)
  local cut, dtype = cutting(core.size_of(a)), core.dtype_of(a)
  local function new() return native.new(dtype, { cut.n }), native.new(dtypes.INT64, { cut.n }) end
  local numbers = { cut.parts, cut.run, 1 }
  local parts, of_parts = new()
  runs.launch("argsort_parts", "wrwr", cut.marks, { of_parts, a, parts }, numbers)
  local sorted, of_sorted = parts, of_parts
  if native.whole then
    local result = native.new(dtypes.INT64, { cut.n })
    runs.launch("argmerge_parts", "wrrr", cut.marks, { result, parts, of_parts }, numbers)
    return result
  elseif cut.parts > 1 then
    sorted, of_sorted = new()
    runs.launch("argmerge_parts", "wrrwr", cut.marks, { of_sorted, parts, of_parts, sorted }, numbers)
  end
  local cuts, result = find_cuts(sorted, cut, true), native.new(dtypes.INT64, { cut.n })
  local pieces = runs.shuffle(sorted, cut.marks, cuts, cut.n)
  local of_pieces = runs.shuffle(of_sorted, cut.marks, cuts, cut.n)
  runs.launch("argmerge_pieces", "wrrrr", cut.marks, { result, pieces, of_pieces }, numbers, cuts)
  return result
end

-- Complex numbers: by their imaginary parts, then by their real ones, then by whether one is NaN.
local function argsort_complex(a)
  local order = argsort_in_parts(np.copy(np.imag(a)))
  local function then_by(key) order = np.take(order, argsort_in_parts(np.take(key, order))) end
  then_by(np.real(a))
  if np.any(np.isnan(np.imag(a))) then then_by(np.astype(np.isnan(a), "uint8")) end
  return order
end
local function sort_complex(a) return np.take(a, argsort_complex(a)) end

-- ---- sorting -------------------------------------------------------------------------------------------------------

local kinds = { quicksort = true, mergesort = true, heapsort = true, stable = true }

-- NumPy's names of algorithms are all one: what shows, the order of equal elements, is that of "stable" (but -0 comes
-- before 0 among sorted values).
local function take_axis_and_kind(a, axis, kind, who)
  if core.is_options(axis) then
    core.check_behind(kind, who)
    local options = core.check_options(axis, { axis = true, kind = true }, who)
    axis, kind = options.axis, options.kind
  else
    kind = core.named_option(kind, "kind", who)
  end
  if kind ~= nil and not kinds[kind] then
    raise("%s: kind is \"stable\", \"quicksort\", \"mergesort\" or \"heapsort\", not %s", who, core.word(kind))
  end
  return take_axis(a, axis, who)
end

local function sort(a, axis, kind, surplus)
  core.check_surplus(surplus, "sort")
  a, axis = take_axis_and_kind(a, axis, kind, "sort")
  if worth_parts(a, axis) then return for_each_line(a, axis, is_complex(a) and sort_complex or sort_in_parts) end
  local source, back = native.axis_last(a, axis)
  local result = native.new(core.dtype_of(a), core.shape_of(source))
  native.lines("sort", "wr", { result, source })
  return back(result)
end
local SORT = routine.new(sort)

-- Ascending along an axis (the last), as a new array.
---@param a lgt_array
---@param axis integer|{axis: integer?, kind: string?}|nil
---@param kind string|{kind: string}|nil
---@return lgt_array
function np.sort(a, axis, kind, surplus)
  if kind == nil and surplus == nil then return (routine.of_array(SORT, a, axis)) end
  return (sort(a, axis, kind, surplus))
end

local function argsort(a, axis, kind, surplus)
  core.check_surplus(surplus, "argsort")
  a, axis = take_axis_and_kind(a, axis, kind, "argsort")
  if worth_parts(a, axis) then
    return for_each_line(a, axis, is_complex(a) and argsort_complex or argsort_in_parts)
  end
  local source, back = native.axis_last(a, axis)
  local result = native.new(dtypes.INT64, core.shape_of(source))
  native.lines("argsort", "wr", { result, source }, { 1 })
  return back(result)
end
local ARGSORT = routine.new(argsort)

-- The positions that sort along an axis (the last); equal elements keep their order.
---@param a lgt_array
---@param axis integer|{axis: integer?, kind: string?}|nil
---@param kind string|{kind: string}|nil
---@return lgt_array int64
function np.argsort(a, axis, kind, surplus)
  if kind == nil and surplus == nil then return (routine.of_array(ARGSORT, a, axis)) end
  return (argsort(a, axis, kind, surplus))
end

function np.msort(a, surplus)
  core.check_surplus(surplus, "msort")
  return np.sort(a, 1)
end

-- Ascending, as complex numbers: complex64 of integers of at most 16 bits and of complex64, else complex128.
function np.sort_complex(a, surplus)
  core.check_surplus(surplus, "sort_complex")
  a = np.sort(a)
  local dtype = core.dtype_of(a)
  local small = dtype == dtypes.COMPLEX64 or dtypes.category[dtype] == 1 and dtypes.size[dtype] <= 2
  return np.astype(a, small and "complex64" or "complex128")
end

-- Positions as numbers.  Along nothing, NumPy takes any position.
local function check_kth(kth, extent, who)
  kth = core.plain(kth)
  if kth == nil then raise("%s: the position of the element that a sort would put there was expected, not nil", who) end
  if extent == 0 then return kth end
  for _, k in ipairs(type(kth) == "table" and kth or { kth }) do
    k = core.plain(k)
    if not core.is_integer(k) or k == 0 or k > extent or k < -extent then
      raise("%s: position %s of an axis of extent %d: 1 to %d was expected", who, core.word(k), extent, extent)
    end
  end
  return kth
end

local PARTITION = { "kth", "axis", "kind" }

local function check_select(kind, who)
  if kind ~= nil and kind ~= "introselect" then
    raise("%s: kind is \"introselect\", not %s", who, (core.describe(kind)))
  end
end

-- An order in which the element at position kth is where a sort would put it, smaller ones before, greater
-- ones after it.  For several positions, and complex numbers: a sort.
---@param a lgt_array
---@param kth integer|integer[] from 1
---@param axis integer?
---@param kind string? "introselect", as NumPy has it
---@return lgt_array
function np.partition(a, kth, axis, kind, surplus)
  kth, axis, kind = core.take_only_named("partition", PARTITION, kth, axis, kind, surplus)
  check_select(kind, "partition")
  a, axis = take_axis(a, axis, "partition")
  local extent = core.shape_of(a)[axis]
  kth = check_kth(kth, extent, "partition")
  if type(kth) == "table" or extent == 0 or dtypes.category[core.dtype_of(a)] == 3 or core.is_long_line(a, axis) then
    return np.sort(a, axis)
  end
  local source, back = native.axis_last(a, axis)
  local result = native.new(core.dtype_of(a), core.shape_of(source))
  native.lines("partition", "wr", { result, source }, { kth < 0 and extent + kth or kth - 1 })
  return back(result)
end

---@return lgt_array int64
function np.argpartition(a, kth, axis, kind, surplus)
  kth, axis, kind = core.take_only_named("argpartition", PARTITION, kth, axis, kind, surplus)
  check_select(kind, "argpartition")
  a, axis = take_axis(a, axis, "argpartition")
  local extent = core.shape_of(a)[axis]
  kth = check_kth(kth, extent, "argpartition")
  if type(kth) == "table" or extent == 0 or dtypes.category[core.dtype_of(a)] == 3 or core.is_long_line(a, axis) then
    return np.argsort(a, axis)
  end
  local source, back = native.axis_last(a, axis)
  local result = native.new(dtypes.INT64, core.shape_of(source))
  native.lines("argpartition", "wr", { result, source }, { kth < 0 and extent + kth or kth - 1, 1 })
  return back(result)
end

-- As np.take_along_axis: of a vector, only what is named moves.
local function take_along(a, positions, axis)
  return core.ndim_of(a) == 1 and np.take(a, positions) or np.take_along_axis(a, positions, axis)
end

-- The k greatest elements along an axis (the last), the greatest first, and their positions.  Of equal ones,
-- later positions come first.
---@param a lgt_array
---@param k integer
---@param axis integer?
---@return lgt_array values, lgt_array positions
function np.topk(a, k, axis, surplus)
  core.check_surplus(surplus, "topk")
  a, axis = take_axis(a, axis, "topk")
  local extent = core.shape_of(a)[axis]
  k = core.plain(k)
  if not core.is_integer(k) or k < 0 or k > extent then
    raise("topk: %s of %d elements were asked for", core.word(k), extent)
  end
  if dtypes.category[core.dtype_of(a)] < 3 and not core.is_long_line(a, axis) then
    local source, back = native.axis_last(a, axis)
    local shape = core.shape_of(source)
    shape[#shape] = k
    local values, positions = native.new(core.dtype_of(a), shape), native.new(dtypes.INT64, shape)
    native.lines("topk", "wwr", { values, positions, source }, { 1 })
    return back(values), back(positions)
  end
  local order = np.argsort(a, axis)
  local best = lgt.slice(core.layout_of(order), axis, k == 0 and 0 or extent - 1, k, -1)
  local positions = np.copy(lgt.alias(order, best))
  return take_along(a, positions, axis), positions
end

-- The positions that sort by several keys, the last one being the first to decide.
---@param keys lgt_array[]|lgt_array arrays of one shape, or the rows of one array
---@param axis integer?
---@return lgt_array int64
function np.lexsort(keys, axis, surplus)
  core.check_surplus(surplus, "lexsort")
  local list = {}
  if core.is_array(keys) then
    if core.ndim_of(keys) == 0 then raise("lexsort: a table of keys was expected, not a 0-d array") end
    for i = 1, core.shape_of(keys)[1] do list[i] = keys[i] end
  elseif type(keys) == "table" then
    for i = 1, #keys do list[i] = np.asarray(keys[i]) end
  end
  if #list == 0 then raise("lexsort: at least one key was expected") end
  local order
  for _, key in ipairs(list) do
    if not core.same_shape(core.shape_of(key), core.shape_of(list[1])) then
      raise("lexsort: keys of shapes %s and %s", core.shape_text(core.shape_of(list[1])),
        core.shape_text(core.shape_of(key)))
    end
    if not order then
      order = np.argsort(key, axis)
    else
      local along = axis or -1
      order = take_along(order, np.argsort(take_along(key, order, along), along), along)
    end
  end
  return order
end

-- Does this vector ascend?  Waits.
local function ascends(v)
  local n, layout = core.size_of(v), core.layout_of(v)
  if n < 2 then return true end
  local before, after = lgt.slice(layout, 1, 0, n - 1, 1), lgt.slice(layout, 1, 1, n - 1, 1)
  return not np.any(np.greater(lgt.alias(v, before), lgt.alias(v, after)))
end

-- As count_before, of a sorted vector that several domains have parts of, and few values: each counts in its run.
local function count_in_runs(sorted, values, right)
  local domains, n = lgt.C.lgt_domains(lgt.rt), core.size_of(sorted)
  local counts = native.new(dtypes.INT64, { domains, core.size_of(values) })
  native.launch("search_runs", "wrr", "align(0.0,1.0) scale(1.0)", { counts, sorted, values },
    { right and 1 or 0, math.ceil(n / domains) })
  return np.sum(counts, 1)
end

-- ... and many values: they are sorted together, and then counted how many elements of the vector come before each.
local function count_by_sorting(sorted, values, right)
  local n, m = core.size_of(sorted), core.size_of(values)
  local order = np.argsort(np.concatenate(right and { sorted, values } or { values, sorted }))
  local before = native.new(dtypes.INT64, { n + m })
  before[order] = np.cumsum(right and np.less_equal(order, n) or np.greater(order, m))
  return np.copy(lgt.alias(before, lgt.slice(core.layout_of(before), 1, right and n or 0, m, 1)))
end

-- How many elements of a sorted vector come before each of `values`, from 0.  either_way: it may descend, then how many
-- do not come before.
local function count_before(sorted, values, right, either_way)
  local dtype = dtypes.promote(core.dtype_of(sorted), core.dtype_of(values))
  if core.dtype_of(sorted) ~= dtype then sorted = np.astype(sorted, dtypes.name[dtype]) end
  if core.dtype_of(values) ~= dtype then values = np.astype(values, dtypes.name[dtype]) end
  local shape = core.shape_of(values)
  if not either_way and native.divided(core.size_of(sorted)) then
    local count = native.divided(core.size_of(values)) and count_by_sorting or count_in_runs
    return np.reshape(count(sorted, np.reshape(values, -1), right), shape)
  end
  local result = native.new(dtypes.INT64, shape)
  local words = {}
  for d = 0, #shape - 1 do words[#words + 1] = ("align(0.%d,2.%d)"):format(d, d) end
  native.launch("searchsorted", "wrr", table.concat(words, " "), { result, sorted, values },
    { right and 1 or 0, either_way and -1 or 0 })
  return result
end
core.count_before = count_before

-- The positions at which values would go into a sorted vector to keep it sorted: before equal elements, or
-- behind them (side "right").
---@param a lgt_array vector, ascending
---@param values lgt_array|number
---@param options {side: string?, sorter: lgt_array?}? sorter: positions that sort a
---@return lgt_array int64, of the shape of values; 1 to #a + 1
function np.searchsorted(a, values, options)
  if type(options) == "string" then options = { side = options } end
  values, options = core.take_named("searchsorted", { "v" }, values, options)
  options = core.check_options(options, { side = true, sorter = true }, "searchsorted")
  a, values = np.asarray(a), np.asarray(values)
  if core.ndim_of(a) ~= 1 then raise("searchsorted: a sorted vector was expected, not %s", (core.describe(a))) end
  local side = options.side or "left"
  if side ~= "left" and side ~= "right" then
    raise("searchsorted: side is \"left\" or \"right\", not %q", core.word(side))
  end
  if options.sorter ~= nil then
    local sorter = np.asarray(options.sorter, { dtype = type(options.sorter) == "table" and "int64" or nil })
    if not core.same_shape(core.shape_of(sorter), core.shape_of(a)) then
      raise("searchsorted: sorter has the shape %s, that of the positions of all elements is %s",
        core.shape_text(core.shape_of(sorter)), core.shape_text(core.shape_of(a)))
    end
    a = np.take(a, sorter)
  end
  return count_before(a, values, side == "right") + 1
end

-- Into which of the #bins + 1 intervals between the edges each value falls: 1 below the first edge, #bins + 1
-- above the last.  An edge belongs to the interval above it, or below (right = true).
---@param x lgt_array
---@param bins lgt_array vector, ascending or descending
---@param options {right: boolean?}?
---@return lgt_array int64
function np.digitize(x, bins, options)
  if options ~= nil and type(options) ~= "table" then options = { right = options } end
  bins, options = core.take_named("digitize", { "bins" }, bins, options)
  options = core.check_options(options, { right = "flag" }, "digitize")
  x, bins = np.asarray(x), np.asarray(bins)
  if core.ndim_of(bins) ~= 1 then raise("digitize: a vector of edges was expected, not %s", (core.describe(bins))) end
  local few = bins.nbytes <= tonumber(lgt.C.lgt_replicate(lgt.rt)) -- all may come to every domain
  if few and not is_complex(bins) and not is_complex(x) then
    return count_before(bins, x, not options.right, true) + 1
  end
  if ascends(bins) then return count_before(bins, x, not options.right) + 1 end
  local reversed = np.flip(bins)
  if not ascends(reversed) then raise("digitize: the edges must ascend or descend") end
  return core.size_of(bins) - count_before(reversed, x, not options.right) + 1
end

-- In place, as NumPy's method.
---@param axis integer?
---@param kind string?
function methods.sort(a, axis, kind, surplus)
  core.layout_of(a, "sort")
  core.check_writable(a, "sort")
  core.assign(a.id, core.layout_of(a), np.sort(a, axis, kind, surplus))
  return a
end
function methods.partition(a, kth, axis, kind, surplus)
  core.check_writable(a, "partition")
  core.assign(a.id, core.layout_of(a), np.partition(a, kth, axis, kind, surplus))
  return a
end
for _, name in ipairs { "argsort", "argpartition", "searchsorted", "topk" } do methods[name] = np[name] end

return true
