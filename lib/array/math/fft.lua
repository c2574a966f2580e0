-- array/math/fft.lua - np.fft: discrete Fourier transforms.
--
-- A transform along one axis is one task on lines (ops/fft.c), by FFTW, in double precision as NumPy's.  Lines
-- are never cut: with several domains the other axes are.  Transforms over several axes take one axis after the
-- other.

local core = require "array.core"
local native = require "array.core.native"

local lgt, dtypes, raise = core.lgt, core.dtypes, core.raise
local np = core.np

local fft = {}
np.fft = fft

-- ---- along one axis -----------------------------------------------------------------------------------------

local ALONG_ONE = { "n", "axis", "norm" }

-- fft(a, n, axis, norm), or some of the last three in a table of options.
local function take(who, a, n, axis, norm)
  a = np.asarray(a)
  n, axis, norm = core.take_only_named(who, ALONG_ONE, n, axis, norm)
  if core.ndim_of(a) == 0 then raise("%s: a 0-d array has no axis", who) end
  axis = core.check_axis(axis or -1, core.ndim_of(a), who)
  n = core.plain(n)
  if n ~= nil and (not core.is_integer(n) or n < 1) then
    raise("%s: a number of elements from 1 up was expected, not %s", who, (core.describe(n)))
  end
  if norm ~= nil and norm ~= "backward" and norm ~= "ortho" and norm ~= "forward" then
    raise("%s: norm is \"backward\", \"ortho\" or \"forward\", not %q", who, core.word(norm))
  end
  return a, n, axis, norm or "backward"
end

local function scale_of(norm, n, inverse)
  if norm == "ortho" then return 1 / math.sqrt(n) end
  return (norm == "backward") == inverse and 1 / n or 1
end

-- n elements along the last axis: cut off, or zeros added.
local function fitted(a, n)
  local shape = core.shape_of(a)
  local ndim, extent = #shape, shape[#shape]
  if extent == n then return a end
  if extent > n then return lgt.alias(a, lgt.slice(core.layout_of(a), ndim, 0, n, 1)) end
  shape[ndim] = n - extent
  return np.concatenate({ a, np.zeros(shape, { dtype = dtypes.name[core.dtype_of(a)] }) }, ndim)
end

-- One transform: `from` and `to` are dtypes, `wanted` how many elements the task reads, `made` how many it gives.
local function transform(who, variant, a, axis, from, to, wanted, made, sign, scale)
  local source, back = native.axis_last(a, axis)
  source = fitted(np.asarray(source, { dtype = dtypes.name[from] }), wanted)
  local shape = core.shape_of(source)
  if wanted < 1 then raise("%s: an axis without elements", who) end
  shape[#shape] = made
  local result = native.new(to, shape)
  native.lines(variant, "wr", { result, source }, { sign, scale })
  return back(result)
end

local COMPLEX, REAL = dtypes.COMPLEX128, dtypes.FLOAT64

local function complex_transform(name, sign, inverse)
  fft[name] = function(a, n, axis, norm, surplus)
    core.check_surplus(surplus, name)
    a, n, axis, norm = take(name, a, n, axis, norm)
    n = n or core.shape_of(a)[axis]
    return transform(name, "fft", a, axis, COMPLEX, COMPLEX, n, n, sign, scale_of(norm, n, inverse))
  end
end
-- The transform along an axis (the last) of n elements (as many as there are), and its inverse.
complex_transform("fft", -1, false)
complex_transform("ifft", 1, true)

local function check_real(a, who)
  if dtypes.category[core.dtype_of(a)] == 3 then raise("%s: complex numbers were given; use fft", who) end
end

-- Of real numbers: the n/2 + 1 elements that are not the conjugates of others.
---@param a lgt_array real
---@param n integer?
---@param axis integer?
---@param norm string? "backward" (default), "ortho", "forward"
---@return lgt_array complex128
function fft.rfft(a, n, axis, norm, surplus)
  core.check_surplus(surplus, "rfft")
  a, n, axis, norm = take("rfft", a, n, axis, norm)
  check_real(a, "rfft")
  n = n or core.shape_of(a)[axis]
  return transform("rfft", "rfft", a, axis, REAL, COMPLEX, n, math.floor(n / 2) + 1, -1, scale_of(norm, n, false))
end

-- Back to n (2 (m - 1)) real numbers.
---@return lgt_array float64
function fft.irfft(a, n, axis, norm, surplus)
  core.check_surplus(surplus, "irfft")
  a, n, axis, norm = take("irfft", a, n, axis, norm)
  n = n or 2 * (core.shape_of(a)[axis] - 1)
  if n < 1 then raise("irfft: %d elements in the result; say how many with n", n) end
  return transform("irfft", "irfft", a, axis, COMPLEX, REAL, math.floor(n / 2) + 1, n, 1, scale_of(norm, n, true))
end

local opposite = { backward = "forward", forward = "backward", ortho = "ortho" }

-- Of a signal that is symmetric in its conjugates, as rfft backwards.
---@return lgt_array float64
function fft.hfft(a, n, axis, norm, surplus)
  core.check_surplus(surplus, "hfft")
  a, n, axis, norm = take("hfft", a, n, axis, norm)
  return fft.irfft(np.conj(a), n or 2 * (core.shape_of(a)[axis] - 1), axis, opposite[norm])
end

---@return lgt_array complex128
function fft.ihfft(a, n, axis, norm, surplus)
  core.check_surplus(surplus, "ihfft")
  a, n, axis, norm = take("ihfft", a, n, axis, norm)
  return np.conj(fft.rfft(a, n, axis, opposite[norm]))
end

-- ---- along several ---------------------------------------------------------------------------------------------

local ALONG_SEVERAL = { "s", "axes", "norm" }

-- The extents and axes that a call means: all axes, or the last two.
local function take_axes(who, a, s, axes, norm, two)
  a = np.asarray(a)
  s, axes, norm = core.take_only_named(who, ALONG_SEVERAL, s, axes, norm)
  local ndim = core.ndim_of(a)
  if axes == nil then
    axes = {}
    local count = two and 2 or type(s) == "table" and #s or ndim
    for i = 1, count do axes[i] = i - count - 1 end
  end
  for _, list in ipairs { s or {}, axes } do
    if type(list) ~= "table" then
      raise("%s: extents and axes are tables, one entry for each axis, not %s", who, (core.describe(list)))
    end
  end
  if s and #s ~= #axes then raise("%s: %d extents for %d axes", who, #s, #axes) end
  local list = {}
  for i = 1, #axes do list[i] = core.check_axis(axes[i], ndim, who) end
  return a, s or {}, list, norm
end

local function over_axes(name, two, each)
  return function(a, s, axes, norm, surplus)
    core.check_surplus(surplus, name)
    a, s, axes, norm = take_axes(name, a, s, axes, norm, two)
    for i = #axes, 1, -1 do a = fft[each](a, s[i], axes[i], norm) end
    return a
  end
end
fft.fftn, fft.ifftn = over_axes("fftn", false, "fft"), over_axes("ifftn", false, "ifft")
fft.fft2, fft.ifft2 = over_axes("fft2", true, "fft"), over_axes("ifft2", true, "ifft")

-- The last axis by rfft, the others by fft.
local function real_over_axes(name, two)
  return function(a, s, axes, norm, surplus)
    core.check_surplus(surplus, name)
    a, s, axes, norm = take_axes(name, a, s, axes, norm, two)
    local last = #axes
    if last == 0 then raise("%s: at least one axis was expected", name) end
    a = fft.rfft(a, s[last], axes[last], norm)
    for i = last - 1, 1, -1 do a = fft.fft(a, s[i], axes[i], norm) end
    return a
  end
end
fft.rfftn, fft.rfft2 = real_over_axes("rfftn", false), real_over_axes("rfft2", true)

local function back_to_real(name, two)
  return function(a, s, axes, norm, surplus)
    core.check_surplus(surplus, name)
    a, s, axes, norm = take_axes(name, a, s, axes, norm, two)
    local last = #axes
    if last == 0 then raise("%s: at least one axis was expected", name) end
    for i = 1, last - 1 do a = fft.ifft(a, s[i], axes[i], norm) end
    return fft.irfft(a, s[last], axes[last], norm)
  end
end
fft.irfftn, fft.irfft2 = back_to_real("irfftn", false), back_to_real("irfft2", true)

-- ---- helpers ------------------------------------------------------------------------------------------------------

local function take_count(n, who)
  n = core.plain(n)
  if not core.is_integer(n) or n < 1 then
    raise("%s: a number of elements was expected, not %s", who, (core.describe(n)))
  end
  return n
end

-- The frequencies that the elements of a transform of n belong to, for samples at distance d (1).
---@param n integer
---@param d number?
---@return lgt_array float64
function fft.fftfreq(n, d, surplus)
  core.check_surplus(surplus, "fftfreq")
  n = take_count(n, "fftfreq")
  d = core.check_value(core.named_option(d, "d", "fftfreq"), "number", "d", "fftfreq")
  local i, positive = np.arange(n, { dtype = "float64" }), math.floor((n - 1) / 2) + 1
  return np.where(np.less(i, positive), i, i - n) * (1 / (n * (d or 1)))
end

---@return lgt_array float64, n/2 + 1 of them
function fft.rfftfreq(n, d, surplus)
  core.check_surplus(surplus, "rfftfreq")
  n = take_count(n, "rfftfreq")
  d = core.check_value(core.named_option(d, "d", "rfftfreq"), "number", "d", "rfftfreq")
  return np.arange(math.floor(n / 2) + 1, { dtype = "float64" }) * (1 / (n * (d or 1)))
end

local function shifted(name, by)
  fft[name] = function(a, axes, surplus)
    core.check_surplus(surplus, name)
    a, axes = np.asarray(a), core.named_option(axes, "axes", name)
    local shape = core.shape_of(a)
    local _, list = core.check_axes(core.named_option(axes, "axes", name), #shape, name)
    for _, d in ipairs(list) do a = np.roll(a, by(shape[d]), d) end
    return a
  end
end
-- The frequency 0 in the middle, and back to the front.
shifted("fftshift", function(n) return math.floor(n / 2) end)
shifted("ifftshift", function(n) return -math.floor(n / 2) end)

return true
