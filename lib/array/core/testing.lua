-- array/core/testing.lua - np.testing: assertions that say where two arrays differ.  All wait.

local core = require "array.core"

local np, raise = core.np, core.raise

local testing = {}
np.testing = testing

-- Raise for where `same` is false, with the first place and how many there are.
local function complain(who, actual, desired, same)
  local wrong = np.logical_not(np.atleast_1d(same))
  local count, places = np.count_nonzero(wrong), np.argwhere(wrong)
  local at = {}
  for d = 1, core.ndim_of(wrong) do at[d] = places(1, d) end
  local shape = core.shape_of(wrong)
  local function there(x) return tostring(np.broadcast_to(x, shape)[at]) end
  raise("%s: differences in %d of %d elements; the first, at {%s}, is %s, where %s was expected", who, count,
    core.product(shape), table.concat(at, ", "), there(actual), there(desired))
end

local function compare(who, actual, desired, f)
  actual, desired = np.asarray(actual), np.asarray(desired)
  local a, b = core.shape_of(actual), core.shape_of(desired)
  if #a > 0 and #b > 0 and not core.same_shape(a, b) then
    raise("%s: an array of shape %s, where %s was expected", who, core.shape_text(a), core.shape_text(b))
  end
  local same = f(actual, desired)
  if not np.all(same) then complain(who, actual, desired, same) end
end

-- Both are NaN; NaNs are equal to each other here.
local function nans(a, b) return np.logical_and(np.not_equal(a, a), np.not_equal(b, b)) end

-- Raise unless |actual - desired| <= atol + rtol * |desired| everywhere.  Waits.
---@param actual lgt_array|number|table
---@param desired lgt_array|number|table
---@param rtol number|table|nil 1e-7, or options {rtol, atol, equal_nan}
---@param atol number? 0
function testing.assert_allclose(actual, desired, rtol, atol)
  local options = { rtol = rtol, atol = atol }
  if type(rtol) == "table" then
    options = core.check_options(rtol, { rtol = true, atol = true, equal_nan = true }, "assert_allclose")
  end
  compare("assert_allclose", actual, desired, function(a, b)
    local close = np.isclose(a, b, { rtol = options.rtol or 1e-7, atol = options.atol or 0 })
    return options.equal_nan == false and close or np.logical_or(close, nans(a, b))
  end)
end

-- Raise unless the arrays have the same elements.  NaNs are equal here.  Waits.
---@param actual lgt_array|number|table
---@param desired lgt_array|number|table
function testing.assert_array_equal(actual, desired)
  compare("assert_array_equal", actual, desired, function(a, b) return np.logical_or(np.equal(a, b), nans(a, b)) end)
end
testing.assert_equal = testing.assert_array_equal

-- Division makes floats of integers, whose differences could be too large for them.
local function almost(a, b, decimal)
  decimal = core.plain(decimal)
  local near = np.less(np.absolute(np.subtract(a, np.true_divide(b, 1))), 1.5 * 10 ^ -decimal)
  return np.logical_or(near, np.logical_or(np.equal(a, b), nans(a, b)))
end

-- Raise unless |actual - desired| < 1.5 * 10^-decimal everywhere.  Waits.
---@param actual lgt_array|number|table
---@param desired lgt_array|number|table
---@param decimal integer? 6
function testing.assert_array_almost_equal(actual, desired, decimal)
  compare("assert_array_almost_equal", actual, desired, function(a, b) return almost(a, b, decimal or 6) end)
end

-- The same, but 7 decimals unless others are given, and of complex numbers each part counts for itself.  Waits.
---@param actual lgt_array|number|table
---@param desired lgt_array|number|table
---@param decimal integer? 7
function testing.assert_almost_equal(actual, desired, decimal)
  decimal = decimal or 7
  compare("assert_almost_equal", actual, desired, function(a, b)
    return np.logical_and(almost(np.real(a), np.real(b), decimal), almost(np.imag(a), np.imag(b), decimal))
  end)
end

return testing
