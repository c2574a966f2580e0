-- array/math/signal.lua - convolutions, interpolation, polynomials, windows.

local core = require "array.core"
local native = require "array.core.native"

local lgt, dtypes, raise = core.lgt, core.dtypes, core.raise
local np = core.np

local function vector(a, who)
  a = np.asarray(a)
  if core.ndim_of(a) ~= 1 then raise("%s: a vector was expected, not %s", who, (core.describe(a))) end
  return a
end

local function part(a, first, count)
  return lgt.alias(a, lgt.slice(core.layout_of(a), 1, count == 0 and 0 or first, count, 1))
end
local function element(a, i) return lgt.alias(a, lgt.project(core.layout_of(a), 1, i)) end -- from 0

-- ---- convolutions -----------------------------------------------------------------------------------------

local DIRECT = { [2] = 512, [3] = 64 } -- shorter vectors, real and complex, are not worth a transform

-- The least product of powers of 2, 3 and 5 from n on: transforms of such a length are fast.
local function good_length(n)
  local best = math.huge
  local five = 1
  while five < 2 * n do
    local three = five
    while three < 2 * n do
      local length = three * 2 ^ math.max(0, math.ceil(math.log(n / three) / math.log(2) - 1e-9))
      if length >= n and length < best then best = length end
      three = three * 3
    end
    five = five * 5
  end
  return best
end

-- By a task (ops/convolve.c) in float64, or in integers that wrap around.
local function direct(a, b, dtype)
  local wide = dtypes.name[dtypes.category[dtype] == 1 and dtypes.INT64 or dtypes.FLOAT64]
  local n, m = core.size_of(a), core.size_of(b)
  local result, constraints = native.new(dtypes.number[wide], { n + m - 1 }), "align(0.0)"
  a, b = np.astype(a, wide), np.astype(b, wide)
  if native.divided(n) then -- each domain needs as many elements before its own as b has, of which few kinds are made
    local before = 1
    while before < m do before = before * 2 end
    a, constraints = np.pad(a, { 0, m - 1 }), ("align(0.0,1.0) bloat(1.0,%d,0)"):format(before)
  end
  native.launch("convolve", "wrr", constraints, { result, a, b }, { n })
  return np.asarray(result, { dtype = dtypes.name[dtype] })
end

-- The full convolution of two vectors of one dtype, b being the shorter one.
local function full(a, b)
  local n, m, dtype = core.size_of(a), core.size_of(b), core.dtype_of(a)
  local category = dtypes.category[dtype]
  if category >= 2 and m > DIRECT[category] then -- by the convolution theorem
    local fft, length = np.fft, good_length(n + m - 1)
    local product = category == 3 and fft.ifft(fft.fft(a, length) * fft.fft(b, length)) or
      fft.irfft(fft.rfft(a, length) * fft.rfft(b, length), length)
    return np.astype(part(product, 0, n + m - 1), dtypes.name[dtype])
  end
  if category == 1 or category == 2 then return direct(a, b, dtype) end
  local padded, result = np.pad(a, m - 1), nil
  for j = 0, m - 1 do
    local term = part(padded, m - 1 - j, n + m - 1) * element(b, j)
    result = result and result + term or term
  end
  return result
end

local MOST = 256 -- elements of a matrix, or of more dimensions, each of which becomes a term
local FUSED = 16 -- terms of one expression

-- The sum over the elements of v of views of a, which is as much larger than the result as v has elements less one.
local function sum_of_views(a, v, extents)
  local m, total, some = core.shape_of(v), nil, nil
  local count = core.product(m)
  for i = 0, count - 1 do
    local from, weight, rest, at = core.layout_of(a), core.layout_of(v), i, {}
    for d = #m, 1, -1 do
      at[d] = rest % m[d]
      rest = (rest - at[d]) / m[d]
    end
    for d = #m, 1, -1 do
      from = lgt.slice(from, d, m[d] - 1 - at[d], extents[d], 1)
      weight = lgt.project(weight, d, at[d])
    end
    local term = lgt.alias(a, from) * lgt.alias(v, weight)
    some = some and some + term or term
    if i % FUSED == FUSED - 1 or i == count - 1 then
      total, some = total and total + some or some, nil
    end
  end
  return total
end

-- Of arrays of two and more dimensions, as by scipy.signal.convolve.
local function convolve_all(a, v, mode)
  local n, m = core.shape_of(a), core.shape_of(v)
  if #n ~= #m then
    raise("convolve: shapes %s and %s; both must have as many dimensions, a new one is made by v[\"*, :\"]",
      core.shape_text(n), core.shape_text(m))
  end
  if core.product(m) > core.product(n) and mode ~= "same" then a, v, n, m = v, a, m, n end
  local first, extents, lengths, widths = {}, {}, {}, {}
  for d = 1, #n do
    if n[d] == 0 or m[d] == 0 then raise("convolve: an empty array was given") end
    if mode == "valid" and m[d] > n[d] then
      raise("convolve: for mode \"valid\" one array is the larger one along all axes, not shapes %s and %s",
        core.shape_text(n), core.shape_text(m))
    end
    first[d] = mode == "full" and 0 or mode == "same" and math.floor((m[d] - 1) / 2) or m[d] - 1
    extents[d] = mode == "full" and n[d] + m[d] - 1 or mode == "same" and n[d] or n[d] - m[d] + 1
    lengths[d] = good_length(n[d] + m[d] - 1)
    widths[d] = { m[d] - 1 - first[d], first[d] + extents[d] - n[d] }
  end
  local category = dtypes.category[core.dtype_of(a)]
  if core.product(m) <= MOST then return sum_of_views(np.pad(a, widths), v, extents) end
  if category < 2 then
    raise("convolve: a kernel of %d integers; at most %d are taken, or floats: a:astype(\"float64\")",
      core.product(m), MOST)
  end
  local fft = np.fft
  local product = category == 3 and fft.ifftn(fft.fftn(a, lengths) * fft.fftn(v, lengths)) or
    fft.irfftn(fft.rfftn(a, lengths) * fft.rfftn(v, lengths), lengths)
  local view = core.layout_of(product)
  for d = 1, #n do view = lgt.slice(view, d, first[d], extents[d], 1) end
  return np.astype(lgt.alias(product, view), dtypes.name[core.dtype_of(a)])
end

local modes = { full = true, same = true, valid = true }

-- The sums of products of one vector with another that slides over it backwards.  A kernel of more than 512
-- floats goes by Fourier transforms, whose errors are relative to the greatest element.  Beyond NumPy also of arrays of
-- more dimensions, as scipy.signal.convolve: "same" is then as large as a.
---@param a lgt_array
---@param v lgt_array of as many dimensions
---@param mode string? "full" (default), "same", "valid"
---@return lgt_array
function np.convolve(a, v, mode, surplus)
  core.check_surplus(surplus, "convolve")
  mode = core.named_option(mode, "mode", "convolve") or "full"
  if not modes[mode] then
    raise("convolve: mode is \"full\", \"same\" or \"valid\", not %q", core.word(mode))
  end
  a, v = np.asarray(a), np.asarray(v)
  if core.ndim_of(a) > 1 or core.ndim_of(v) > 1 then
    local dtype = dtypes.name[dtypes.promote(core.dtype_of(a), core.dtype_of(v))]
    return convolve_all(np.asarray(a, { dtype = dtype }), np.asarray(v, { dtype = dtype }), mode)
  end
  a, v = np.atleast_1d(a), np.atleast_1d(v)
  if core.size_of(v) > core.size_of(a) then a, v = v, a end
  local n, m = core.size_of(a), core.size_of(v)
  if m == 0 then raise("convolve: an empty vector was given") end
  local dtype = dtypes.name[dtypes.promote(core.dtype_of(a), core.dtype_of(v))]
  local all = full(np.asarray(a, { dtype = dtype }), np.asarray(v, { dtype = dtype }))
  if mode == "full" then return all end
  if mode == "same" then return part(all, math.floor((m - 1) / 2), n) end
  return part(all, m - 1, n - m + 1)
end

-- The same with the second vector forwards and conjugated.
---@param a lgt_array vector
---@param v lgt_array vector
---@param mode string? "valid" (default), "same", "full"
---@return lgt_array
function np.correlate(a, v, mode, surplus)
  core.check_surplus(surplus, "correlate")
  mode = core.named_option(mode, "mode", "correlate")
  a, v, mode = vector(a, "correlate"), vector(v, "correlate"), mode or "valid"
  if mode == "same" and core.size_of(v) > core.size_of(a) then
    return np.flip(np.conj(np.correlate(v, a, mode)))
  end
  return np.convolve(a, np.flip(np.conj(v)), mode)
end

-- ---- interpolation ------------------------------------------------------------------------------------------

-- Piecewise linear interpolation between points; outside, the first and last value, or those given.
---@param x lgt_array|number
---@param xp lgt_array vector, ascending
---@param fp lgt_array vector
---@param options {left: number?, right: number?, period: number?}?
---@return lgt_array
function np.interp(x, xp, fp, options)
  xp, fp, options = core.take_named("interp", { "xp", "fp" }, xp, fp, options)
  options = core.check_options(options, { left = true, right = true, period = "number" }, "interp")
  if options.period == 0 then raise("interp: the period is 0") end
  x, xp, fp = np.asarray(x), np.astype(vector(xp, "interp"), "float64"), vector(fp, "interp")
  x = np.astype(x, "float64")
  if dtypes.category[core.dtype_of(fp)] < 3 then fp = np.astype(fp, "float64") end
  local n = core.size_of(xp)
  if n == 0 or core.size_of(fp) ~= n then raise("interp: %d places and %d values", n, core.size_of(fp)) end
  if options.period then
    local period = math.abs(options.period)
    x, xp = x % period, xp % period
    local order = np.argsort(xp)
    xp, fp = np.take(xp, order), np.take(fp, order)
    local function around(v, shift)
      return np.concatenate { part(v, n - 1, 1) - shift, v, part(v, 0, 1) + shift }
    end
    xp, fp, n = around(xp, period), around(fp, 0), n + 2
  end
  local first, last = element(fp, 0), element(fp, n - 1)
  local at = np.clip(np.searchsorted(xp, x, "right") - 1, 1, math.max(1, n - 1))
  local result = first
  if n > 1 then
    local x0, y0 = np.take(xp, at), np.take(fp, at)
    local slope = (np.take(fp, at + 1) - y0) / (np.take(xp, at + 1) - x0)
    result = slope * (x - x0) + y0
  end
  result = np.where(np.greater_equal(x, element(xp, n - 1)), last, result)
  if not options.period then
    result = np.where(np.less(x, element(xp, 0)), options.left or first, result)
    result = np.where(np.greater(x, element(xp, n - 1)), options.right or last, result)
  end
  return result
end

-- For each element the function, or the number, that belongs to the last condition that holds there; else the
-- one more that may be given, or 0.  Functions see the whole array.
---@param x lgt_array
---@param conditions lgt_array[]
---@param functions (number|fun(x: lgt_array): lgt_array)[]
---@return lgt_array of x's dtype
function np.piecewise(x, conditions, functions, surplus)
  core.check_surplus(surplus, "piecewise")
  x = np.asarray(x)
  if core.is_array(conditions) then conditions = { conditions } end
  if type(conditions) ~= "table" or type(functions) ~= "table" then
    raise("piecewise: a table of conditions and one of functions were expected, not %s",
      (core.describe(type(conditions) ~= "table" and conditions or functions)))
  end
  if #functions ~= #conditions and #functions ~= #conditions + 1 then
    raise("piecewise: %d conditions and %d functions", #conditions, #functions)
  end
  local function value(f) return type(f) == "function" and f(x) or f end
  local result = np.zeros_like(x)
  if #functions > #conditions then result = result + value(functions[#functions]) end
  for i, condition in ipairs(conditions) do result = np.where(condition, value(functions[i]), result) end
  return np.astype(result, dtypes.name[core.dtype_of(x)])
end

-- ---- polynomials: vectors of coefficients, the highest power first ---------------------------------------------

local function coefficients(p, who)
  p = np.asarray(p)
  if core.ndim_of(p) == 0 then p = np.reshape(p, { 1 }) end
  return vector(p, who)
end

---@return lgt_array the polynomial's values at x
function np.polyval(p, x, surplus)
  core.check_surplus(surplus, "polyval")
  p, x = coefficients(p, "polyval"), np.asarray(x)
  local result = np.zeros_like(x)
  for i = 0, core.size_of(p) - 1 do result = result * x + element(p, i) end
  return result
end

local function aligned(a, b, who)
  a, b = coefficients(a, who), coefficients(b, who)
  local n = math.max(core.size_of(a), core.size_of(b))
  return np.pad(a, { n - core.size_of(a), 0 }), np.pad(b, { n - core.size_of(b), 0 })
end

function np.polyadd(a, b, surplus)
  core.check_surplus(surplus, "polyadd")
  a, b = aligned(a, b, "polyadd")
  return a + b
end
function np.polysub(a, b, surplus)
  core.check_surplus(surplus, "polysub")
  a, b = aligned(a, b, "polysub")
  return a - b
end
function np.polymul(a, b, surplus)
  core.check_surplus(surplus, "polymul")
  return np.convolve(coefficients(a, "polymul"), coefficients(b, "polymul"))
end

local MOST_TIMES = 1000 -- that a polynomial is integrated

local function check_times(m, who)
  m = core.plain(m)
  if m ~= nil and (not core.is_integer(m) or m < 0) then
    raise("%s: how often is an integer from 0 up, not %s", who, core.word(m))
  end
  return m or 1
end

-- The m-th derivative.
function np.polyder(p, m, surplus)
  core.check_surplus(surplus, "polyder")
  p, m = coefficients(p, "polyder"), core.named_option(m, "m", "polyder")
  for _ = 1, check_times(m, "polyder") do
    local n = core.size_of(p)
    if n == 0 then return p end
    p = part(p, 0, n - 1) * np.flip(np.arange(1, n))
  end
  return p
end

-- The m-th antiderivative, with integration constants k (0).
function np.polyint(p, m, k, surplus)
  core.check_surplus(surplus, "polyint")
  if core.is_options(m) then
    local options = core.check_options(m, { m = true, k = true }, "polyint")
    m, k = options.m, options.k
  end
  p, k = coefficients(p, "polyint"), core.named_option(k, "k", "polyint") or 0
  if dtypes.category[core.dtype_of(p)] < 2 then p = np.astype(p, "float64") end
  local times = check_times(m, "polyint")
  if times > MOST_TIMES then raise("polyint: at most %d times, not %g", MOST_TIMES, times) end
  k = core.as_list(k) or { k }
  if #k ~= 1 and #k < times then
    raise("polyint: k is one constant, or one for each of %d times, not %d of them", times, #k)
  end
  for i = 1, times do
    local n = core.size_of(p)
    local constant = np.ravel(np.asarray(#k == 1 and k[1] or k[i]))
    p = np.concatenate { p / np.flip(np.arange(1, n + 1)), constant }
  end
  return p
end

-- The polynomial with given roots, or the characteristic polynomial of a matrix.
function np.poly(roots, surplus)
  core.check_surplus(surplus, "poly")
  roots = np.asarray(roots)
  if core.ndim_of(roots) == 2 then roots = np.linalg.eigvals(roots) end
  local result = np.ones(1)
  for i = 0, core.size_of(roots) - 1 do
    result = np.convolve(result, np.concatenate { np.ones(1), np.reshape(-element(roots, i), { 1 }) })
  end
  return result
end

-- The roots, always complex: eigenvalues of the companion matrix.  Waits.
---@return lgt_array complex
function np.roots(p, surplus)
  core.check_surplus(surplus, "roots")
  p = coefficients(p, "roots")
  local inner = np.trim_zeros(p)
  local zeros = core.size_of(np.trim_zeros(p, "f")) - core.size_of(inner)
  local n = core.size_of(inner) - 1
  local result = np.zeros(math.max(0, zeros), { dtype = "complex128" })
  if n < 1 then return result end
  local companion = np.diag(np.ones(n - 1), -1)
  companion[1] = -part(inner, 1, n) / element(inner, 0)
  return np.concatenate { np.linalg.eigvals(companion), result }
end

-- The polynomial of a degree that comes closest to points, in the sense of least squares.
---@param x lgt_array vector
---@param y lgt_array vector
---@param degree integer
---@param options {deg: integer?, w: lgt_array?, rcond: number?, full: boolean?, cov: boolean|"unscaled"|nil}? w:
---  weights of the residuals; full: residuals, rank, singular values and rcond are further results; cov: the
---  covariances of the coefficients are one, scaled by the residuals or "unscaled"
---@return lgt_array coefficients the highest power first, a column for each of y's
---@return lgt_array? residuals or covariances, lgt_array? rank, lgt_array? values singular ones, number? rcond
function np.polyfit(x, y, degree, options)
  degree, options = core.take_named("polyfit", { "deg" }, degree, options)
  options = core.check_options(options, { w = true, rcond = true, full = true, cov = true }, "polyfit")
  local cov = options.cov
  if type(cov) == "string" and cov ~= "unscaled" then
    raise("polyfit: cov is true, false or \"unscaled\", not %q", cov)
  end
  if type(cov) ~= "string" then cov = core.check_value(cov, "flag", "cov", "polyfit") end
  x, y = np.astype(vector(x, "polyfit"), "float64"), np.asarray(y)
  if core.ndim_of(y) ~= 1 and core.ndim_of(y) ~= 2 then
    raise("polyfit: a vector or a matrix of values was expected, not %s", (core.describe(y)))
  end
  y = np.astype(y, "float64")
  degree = core.plain(degree)
  if not core.is_integer(degree) or degree < 0 then
    raise("polyfit: a degree was expected, not %s", core.word(degree))
  end
  local several, n = core.ndim_of(y) == 2, core.size_of(x)
  if n ~= core.shape_of(y)[1] or n == 0 then raise("polyfit: %d places and %d values", n, core.shape_of(y)[1]) end
  local left = np.vander(x, degree + 1)
  if options.w ~= nil then
    local w = np.astype(vector(options.w, "polyfit"), "float64")
    if core.size_of(w) ~= n then raise("polyfit: %d weights for %d places", core.size_of(w), n) end
    left, y = left * np.expand_dims(w, 2), y * (several and np.expand_dims(w, 2) or w)
  end
  local scale = np.sqrt(np.sum(left * left, 1))
  local rcond = options.rcond or core.size_of(x) * 2 ^ -52
  left = left / scale
  local c, residuals, rank, s = np.linalg.lstsq(left, y, rcond)
  c = c / (several and np.expand_dims(scale, 2) or scale)
  if options.full then return c, residuals, rank, s, rcond end
  if not cov then return c end
  local base = np.linalg.inv(np.dot(left.T, left)) / np.outer(scale, scale)
  if several then base = np.expand_dims(base, 3) end
  if cov ~= "unscaled" then
    if n <= degree + 1 then
      raise("polyfit: %d places leave nothing to scale the covariances of %d coefficients by", n, degree + 1)
    end
    base = base * (residuals / (n - degree - 1))
  end
  return c, base
end

-- ---- windows ------------------------------------------------------------------------------------------------

-- f of the places -(n - 1), ..., n - 1, two apart, of n - 1, and of a parameter of those that are `shaped` by it.
local function window(name, f, shaped)
  np[name] = function(n, beta, surplus)
    if not shaped then core.check_surplus(beta, name) end
    core.check_surplus(surplus, name)
    n = core.plain(n)
    if not core.is_integer(n) or n < 0 then
      raise("%s: a number of points was expected, not %s", name, (core.describe(n)))
    end
    if n <= 1 then return np.ones(n) end
    return f(np.arange(1 - n, n, 2, { dtype = "float64" }), n - 1, beta)
  end
end
window("bartlett", function(k, m) return np.where(np.less_equal(k, 0), 1 + k / m, 1 - k / m) end)
window("hanning", function(k, m) return 0.5 + 0.5 * np.cos(k * (math.pi / m)) end)
window("hamming", function(k, m) return 0.54 + 0.46 * np.cos(k * (math.pi / m)) end)
window("blackman", function(k, m)
  return 0.42 + 0.5 * np.cos(k * (math.pi / m)) + 0.08 * np.cos(k * (2 * math.pi / m))
end)

-- The modified Bessel function of order 0, by its power series below 15 and by its asymptotic series above
-- (Abramowitz and Stegun, 9.6.12 and 9.7.1).
local bessel = np.fuse(function(x)
  local a = np.abs(x) / 1
  local t = np.minimum(a, 15)
  local q, term, sum = t * t / 4, 1, 1
  for k = 1, 40 do
    term = term * q / (k * k)
    sum = sum + term
  end
  local b = np.maximum(a, 15)
  local step, tail = 1, 1
  for k = 1, 20 do
    step = step * ((2 * k - 1) ^ 2 / (8 * k)) / b
    tail = tail + step
  end
  return np.where(a:lt(15), sum, np.exp(b) / np.sqrt(2 * math.pi * b) * tail)
end)

---@param x lgt_array|number
---@return lgt_array of floats
function np.i0(x, surplus)
  core.check_surplus(surplus, "i0")
  x = np.asarray(x)
  local dtype = core.dtype_of(x)
  if dtypes.category[dtype] == 3 then raise("i0: real numbers were expected, not complex ones") end
  local result = bessel(np.astype(x, "float64"))
  return dtypes.category[dtype] == 2 and np.astype(result, dtypes.name[dtype]) or result
end

window("kaiser", function(k, m, beta)
  beta = core.plain(beta)
  if type(beta) ~= "number" then raise("kaiser: beta is a number, not %s", (core.describe(beta))) end
  local r = k / m
  return np.i0(beta * np.sqrt(np.maximum(0, 1 - r * r))) / np.i0(beta)
end, true)

-- ---- functions along axes ---------------------------------------------------------------------------------------

-- f of each line along an axis, stacked.  A launch or more for each line: what works on all lines at once is faster.
---@param f fun(line: lgt_array): lgt_array|number
---@param axis integer
---@param a lgt_array
---@return lgt_array
function np.apply_along_axis(f, axis, a, surplus)
  core.check_surplus(surplus, "apply_along_axis")
  if not core.is_callable(f) then raise("apply_along_axis: a function was expected, not %s", (core.describe(f))) end
  a = np.asarray(a)
  axis = core.check_axis(axis, core.ndim_of(a), "apply_along_axis")
  local lines = np.moveaxis(a, axis, -1)
  local shape = core.shape_of(lines)
  local extent = table.remove(shape)
  local flat, results = np.reshape(lines, { -1, extent }), {}
  for i = 1, core.shape_of(flat)[1] do results[i] = np.asarray(f(flat[i])) end
  if #results == 0 then raise("apply_along_axis: there is no line along axis %d", axis) end
  local inner = core.shape_of(results[1])
  local whole = { unpack(shape) }
  for _, n in ipairs(inner) do whole[#whole + 1] = n end
  local result = np.reshape(np.stack(results), whole)
  if #inner == 0 then return result end
  local from, to = {}, {}
  for i = 1, #inner do from[i], to[i] = #shape + i, axis + i - 1 end
  return np.moveaxis(result, from, to)
end

return true
