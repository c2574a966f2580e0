-- array/math/sets.lua - arrays as sets: what is in them, once each, in ascending order.
--
-- Sorting and comparing neighbours are tasks; how many different elements there are depends on data, so that
-- taking them out waits.  Positions count from 1.

local core = require "array.core"
local native = require "array.core.native"

local lgt, dtypes = core.lgt, core.dtypes
local np = core.np
require "array.math.sort" -- for core.count_before

-- Whether elements differ; NaN does not differ from NaN, nor complex numbers that have one in either part.
local function differ(a, b)
  return np.logical_and(np.not_equal(a, b), np.logical_not(np.logical_and(np.isnan(a), np.isnan(b))))
end

-- Whether each element of a sorted vector differs from the one before; if `alone`, NaN differs from NaN.
local function firsts(sorted, alone)
  if alone or core.is_long_line(sorted, 1) then
    if core.size_of(sorted) == 0 then return np.zeros(0, { dtype = "bool" }) end
    local after, before = sorted["2:"], sorted[":-2"]
    local differs = alone and np.not_equal or differ
    return np.concatenate { np.ones(1, { dtype = "bool" }), differs(after, before) }
  end
  local result = native.new(dtypes.BOOL, core.shape_of(sorted))
  native.lines("unique", "wr", { result, sorted })
  return result
end

local unique_options = { return_index = true, return_inverse = true, return_counts = true, axis = true,
                         equal_nan = true }

-- What return_index, return_inverse and return_counts ask for, in this order, behind `values`.
local function with_extras(values, options, order, mask, first)
  local results = { values }
  local total = core.size_of(mask)
  if options.return_index then results[#results + 1] = np.take(order, first) end
  if options.return_inverse then
    local inverse = native.new(dtypes.INT64, { total })
    if total > 0 then inverse[order] = np.cumsum(mask) end
    results[#results + 1] = inverse
  end
  if options.return_counts then
    results[#results + 1] = np.diff(first, { append = np.array({ total + 1 }, { dtype = "int64" }) })
  end
  return unpack(results)
end

-- The slices along an axis, once each, in lexicographic order.
local function unique_slices(a, axis, options)
  axis = core.check_axis(axis, core.ndim_of(a), "unique")
  local moved = np.moveaxis(a, axis, 1)
  local shape = core.shape_of(moved)
  local rows = np.reshape(moved, { shape[1], -1 })
  local keys = {}
  for d = core.shape_of(rows)[2], 1, -1 do
    keys[#keys + 1] = np.copy(lgt.alias(rows, lgt.project(core.layout_of(rows), 2, d - 1)))
  end
  local order = np.lexsort(keys)
  local sorted = np.take(rows, order, 1)
  local differs = np.any(np.diff(np.astype(sorted, dtypes.name[core.dtype_of(a)]), 1, 1):ne(0), 2)
  local mask = np.concatenate({ np.ones(1, { dtype = "bool" }), differs })
  local first = np.flatnonzero(mask)
  local values = np.moveaxis(np.take(moved, order[first], 1), 1, axis)
  return with_extras(np.copy(values), options, order, mask, first)
end

-- The different elements of an array, ascending; NaN counts once.
---@param a lgt_array flattened, unless there is an axis
---@param options {return_index: boolean?, return_inverse: boolean?, return_counts: boolean?, axis: integer?,
---  equal_nan: boolean?}? further results: where each is first found, which of them each element is, how often each
---  occurs; equal_nan = false: each NaN counts
---@return lgt_array, lgt_array?, lgt_array?, lgt_array?
function np.unique(a, options, surplus)
  core.check_behind(surplus, "unique")
  options = core.check_options(options, unique_options, "unique")
  a = np.asarray(a)
  if options.axis then return unique_slices(a, options.axis, options) end
  a = np.ravel(a)
  if not (options.return_index or options.return_inverse or options.return_counts) then
    local sorted = np.sort(a)
    return np.compress(firsts(sorted, options.equal_nan == false), sorted)
  end
  local order = np.argsort(a)
  local sorted = np.take(a, order)
  local mask = firsts(sorted, options.equal_nan == false)
  local first = np.flatnonzero(mask)
  return with_extras(np.take(sorted, first), options, order, mask, first)
end

local function vector(a) return np.ravel(np.asarray(a)) end

-- What is in either of two arrays.
---@return lgt_array
function np.union1d(a, b, surplus)
  core.check_surplus(surplus, "union1d")
  return np.unique(np.concatenate({ vector(a), vector(b) }))
end

-- For each element of a, whether it is in b; or not, with {invert = true}.
---@param a lgt_array
---@param b lgt_array
---@param options {invert: boolean?, assume_unique: boolean?}?
---@return lgt_array bool, a's shape
function np.isin(a, b, options)
  options = core.check_options(options, { invert = true, assume_unique = true }, "isin")
  a, b = np.asarray(a), vector(b)
  local n = core.size_of(b)
  if n == 0 then return np.full(core.shape_of(a), options.invert == true) end
  local dtype = dtypes.promote(core.dtype_of(a), core.dtype_of(b))
  local x = np.asarray(a, { dtype = dtypes.name[dtype] })
  b = np.asarray(b, { dtype = dtypes.name[dtype] })
  local found
  if dtypes.category[dtype] == 3 or native.divided(n) then
    local sorted = np.sort(b)
    local at = np.minimum(core.count_before(sorted, x, false), n - 1) + 1
    found = np.equal(np.take(sorted, at), x)
  else
    -- Integers need not be sorted if they lie close together: one task finds out.
    local sorted = dtypes.category[dtype] == 2 or core.ndim_of(x) > 1
    if sorted then b = np.sort(b) end
    found = native.new(dtypes.BOOL, core.shape_of(x))
    local lead = math.max(1, core.ndim_of(x))
    local function view(y)
      for _ = core.ndim_of(y) + 1, lead + 1 do y = np.expand_dims(y, 1) end
      return y
    end
    local words = {}
    for d = 0, lead do words[#words + 1] = ("align(0.%d,2.%d)"):format(d, d) end
    native.launch("member", "wrr", table.concat(words, " "), { view(found), b, view(x) }, { sorted and 1 or 0 })
  end
  return options.invert and np.logical_not(found) or found
end

function np.in1d(a, b, options) return np.isin(vector(a), b, options) end

local intersect_options = { return_indices = true, assume_unique = true }

-- What is in both arrays, once each; with return_indices also where it is first found in each.
---@return lgt_array, lgt_array?, lgt_array?
function np.intersect1d(a, b, options)
  options = core.check_options(options, intersect_options, "intersect1d")
  local dtype = dtypes.name[dtypes.promote(core.dtype_of(np.asarray(a)), core.dtype_of(np.asarray(b)))]
  a, b = np.astype(vector(a), dtype), np.astype(vector(b), dtype)
  if not options.return_indices then
    local u = np.unique(a)
    return np.compress(np.isin(u, b), u)
  end
  local u, at = np.unique(a, { return_index = true })
  local v, bt = np.unique(b, { return_index = true })
  local keep, keep_b = np.flatnonzero(np.isin(u, v)), np.flatnonzero(np.isin(v, u))
  return np.take(u, keep), np.take(at, keep), np.take(bt, keep_b)
end

local unique_inputs = { assume_unique = true }

-- What is in the first array but not in the second.
---@param a lgt_array
---@param b lgt_array
---@return lgt_array
---@param options {assume_unique: boolean?}? the elements of both differ, and those of `a` keep their order
function np.setdiff1d(a, b, options)
  options = core.check_options(options, unique_inputs, "setdiff1d")
  local u = options.assume_unique and vector(a) or np.unique(a)
  return np.compress(np.isin(u, b, { invert = true }), u)
end

-- What is in one of two arrays but not in both.
---@param a lgt_array
---@param b lgt_array
---@return lgt_array
---@param options {assume_unique: boolean?}?
function np.setxor1d(a, b, options)
  core.check_options(options, unique_inputs, "setxor1d")
  local u, v = np.unique(a), np.unique(b)
  local all = np.concatenate({ np.compress(np.isin(u, v, { invert = true }), u),
                               np.compress(np.isin(v, u, { invert = true }), v) })
  return np.sort(all)
end

return true
