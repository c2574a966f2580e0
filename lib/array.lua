-- array.lua - `require "array"`: NumPy for Lua, on the lgt runtime.
--
-- Names and semantics are NumPy's; positions (indices, axes) are Lua's: from 1, ends included.  The parts:
--
--   core.lua  what every part uses: handles, shapes, arguments, host memory
--   core/     the path of a launch (ufunc, native, fuse), elementwise functions (functions, complex, special, members),
--             reductions (reduce), questions about arrays and dtypes (about, extras), np.testing; unneeded
--   make/     new arrays (create, grid), other shapes (shape, join, windows)
--   index/    a[key] and a[key] = value (keys): what a key means (slice), what arrays in it pick (picks, planned);
--             elements by position and condition (choose); vectors in runs (runs)
--   math/     products (linalg, einsum, contraction), LAPACK (decompose), fft, signal, ndimage, sort, sets, scan,
--             statistics, histogram, random, distributions
--   io/       files: npy, zip, hdf5 (hdf5_apart, apart, words), what they are made of (bytes, output); plot, png;
--             memory that others share (buffer)
--   text/     numbers as text (format, print, write), and text as numbers (read)
--   meta/     declarations for editors and help of functions that loops make; nothing loads them
--
-- The parts required below, and what these require, are loaded at once; any other when a name of it is first used.
--
-- An array is an FFI struct whose only field is its id (lgt.lua); what it can do hangs on the metatype
-- that is installed here.
local ffi = require "ffi"
local core = require "array.core"
local ufunc = require "array.core.ufunc"
require "array.core.functions"
local index = require "array.index.keys"
require "array.core.reduce"
require "array.make.create"
require "array.make.shape"
require "array.math.linalg"

local np, methods, raise = core.np, core.methods, core.raise
local istype = ffi.istype
local Array = core.Array

-- ---- what Lua's operators do --------------------------------------------------------------------------

-- An operand of < <= == as a number of the script.  Waits.
local function by_value(x, sign, method)
  if type(x) == "number" then return x end
  if istype(Array, x) then
    if core.size_of(x) == 1 then return core.read_item(x) end
    raise("a %s b compares numbers and arrays of one element; for arrays of shape %s write a:%s(b), " ..
      "which gives a boolean array",
      sign, core.shape_text(core.shape_of(x)), method)
  end
  if type(x) == "cdata" then return x end
  raise("a %s b: an array cannot be compared with %s", sign, (core.describe(x)))
end

local function length(a)
  local shape = core.shape_of(a)
  if #shape == 0 then raise("#a: a 0-d array has no length") end
  return shape[1]
end

-- "norm " .. s
local function concat(a, b)
  local function word(x)
    if istype(Array, x) then return tostring(x) end
    if type(x) == "string" or type(x) == "number" then return x end
    raise("..: a string was expected, not %s", (core.describe(x)))
  end
  return word(a) .. word(b)
end

local has_value = { cdata = true, number = true, boolean = true }

local function equal(a, b)
  local ta, tb = type(a), type(b)
  if not has_value[ta] or not has_value[tb] then return false end
  if ta == "boolean" then return by_value(b, "==", "eq") == a end
  if tb == "boolean" then return by_value(a, "==", "eq") == b end
  return by_value(a, "==", "eq") == by_value(b, "==", "eq")
end

-- for i, x in ipairs(a): the views a[1], a[2], ...
local function rows(a)
  local count = length(a)
  return function(_, i)
    if i < count then return i + 1, a[i + 1] end
  end, a, 0
end

local meta = {
  __ipairs = rows, __pairs = rows,
  __index = index.get, __newindex = index.set, __call = index.call,
  __len = length, __concat = concat, __eq = equal,
  __lt = function(a, b) return by_value(a, "<", "lt") < by_value(b, "<", "lt") end,
  __le = function(a, b) return by_value(a, "<=", "le") <= by_value(b, "<=", "le") end,
  __tostring = function(a) return require("array.text.print").tostring(a) end,
}
for name, f in pairs(ufunc.operators) do meta[name] = f end
ffi.metatype(Array, meta)
for _, name in ipairs { "reduce", "accumulate", "outer", "reduceat" } do
  ufunc.members[name] = function(...)
    require "array.core.members" -- replaces this member
    return ufunc.members[name](...)
  end
end
-- A complex number that stands before an array, or before what calculates with complex numbers itself; powers.
core.dtypes.install_complex(function(event, x, y)
  if istype(Array, x) or istype(Array, y) then return meta[event](x, y) end
  if event == "__eq" then return false end
  for _, z in ipairs { x, y } do
    local own = type(z) == "table" and getmetatable(z)
    if own and own[event] then return own[event](x, y) end
  end
  local is_scalar = core.dtypes.of_scalar
  if event == "__pow" and is_scalar(x) and is_scalar(y) then return core.read_item(np.power(np.array(x), y)) end
  raise("arithmetic on %s and %s", (core.describe(x)), (core.describe(y)))
end)

-- ---- what is loaded when it is first used ---------------------------------------------------------------

local homes = {} -- file of lib/array by public name

local function at_home(file, names)
  for name in names:gmatch("%S+") do homes[name] = file end
end

local function methods_at_home(file, names)
  for name in names:gmatch("%S+") do
    methods[name] = function(...)
      require("array." .. file) -- replaces this method
      return methods[name](...)
    end
  end
end

at_home("math.random", "random")
at_home("core.testing", "testing")
at_home("math.fft", "fft")
at_home("io.npy", "save savez savez_compressed load")
at_home("text.read", "loadtxt genfromtxt fromstring fromfile")
at_home("core.extras", [[packbits unpackbits finfo iinfo issubdtype common_type min_scalar_type base_repr binary_repr
  get_printoptions printoptions array2string array_str array_repr ndindex ndenumerate polydiv apply_over_axes
  mask_indices real_if_close asfarray asarray_chkfinite asanyarray alltrue sometrue iterable]])
methods_at_home("core.extras", "tobytes")
at_home("io.hdf5", "hdf5")
at_home("io.plot", "plot")
at_home("math.ndimage", "ndimage")
at_home("io.buffer", "frombuffer from_dlpack")
methods_at_home("io.buffer", "detach dlpack")
at_home("text.write", "savetxt")
methods_at_home("text.write", "tofile")
at_home("core.fuse", "fuse")
at_home("text.print", "set_printoptions")
methods_at_home("text.print", "totable item host")
at_home("make.join", [[array_split split vsplit hsplit dsplit rot90 rollaxis atleast_1d atleast_2d atleast_3d
  broadcast_arrays broadcast_shapes dstack row_stack block append resize delete insert trim_zeros pad fill_diagonal]])
methods_at_home("make.join", "fill_diagonal")
at_home("make.grid", [[logspace geomspace vander tri fromfunction fromiter diagflat tril_indices triu_indices
  tril_indices_from triu_indices_from diag_indices ix_ ravel_multi_index unravel_index copyto ascontiguousarray]])
at_home("make.windows", "sliding_window_view lib")
at_home("math.einsum", "tensordot kron cross einsum einsum_path")
at_home("math.sort", "sort argsort msort sort_complex partition argpartition topk lexsort searchsorted digitize")
methods_at_home("math.sort", "sort argsort partition argpartition searchsorted topk")
at_home("index.choose", "take_along_axis put_along_axis compress extract choose argwhere put place putmask")
methods_at_home("index.choose", "choose put compress")
at_home("core.special", [[gcd lcm nextafter spacing ldexp frexp round around round_ unwrap iscomplexobj isrealobj
  isscalar]])
methods_at_home("core.special", "round")
at_home("math.statistics", [[average median quantile percentile nansum nanprod nanmax nanmin nanargmax nanargmin
  nanmean nanvar nanstd nanquantile nanpercentile nanmedian cov corrcoef]])
at_home("math.histogram", "histogram histogram_bin_edges histogramdd histogram2d bincount")
at_home("math.signal", [[convolve correlate interp piecewise polyval polyadd polysub polymul polyder polyint poly roots
  polyfit bartlett hanning hamming blackman kaiser i0 apply_along_axis]])
at_home("core.about", [[shape ndim size can_cast promote_types result_type array_equiv may_share_memory
  diag_indices_from]])
at_home("math.sets", "unique union1d intersect1d setdiff1d setxor1d in1d isin")
at_home("math.scan", "cumsum cumprod cumproduct nancumsum nancumprod diff ediff1d gradient trapz")
methods_at_home("math.scan", "cumsum cumprod")

-- np.extend(name, f): a:name(...) calls f(a, ...) from now on.
---@param name string
---@param f function
function np.extend(name, f)
  if type(name) ~= "string" or type(f) ~= "function" then raise("extend: a name and a function were expected") end
  if core.getters[name] or (methods[name] and methods[name] ~= f) then raise("extend: arrays already have %q", name) end
  methods[name] = f
end

np.pi, np.e, np.inf, np.nan = math.pi, math.exp(1), math.huge, 0 / 0
np.Inf, np.infty, np.PINF, np.NINF, np.NaN, np.NAN = np.inf, np.inf, np.inf, -np.inf, np.nan, np.nan
np.euler_gamma = 0.57721566490153286
np.newaxis = "*"
for name in ([[bool bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128
  int_ uint byte ubyte short ushort intc uintc intp uintp longlong ulonglong half single double float_ csingle cdouble
  complex_]]):gmatch("%S+") do
  np[name] = core.dtypes.name[core.dtypes.number[name]] -- {dtype = np.float32}
end
np.ufuncs = ufunc.all

setmetatable(np.linalg, {
  __index = function(linalg, name)
    require "array.math.decompose"
    return rawget(linalg, name)
  end,
})

return setmetatable(np, {
  __index = function(_, name)
    local home = homes[name]
    if not home then return nil end
    require("array." .. home)
    return rawget(np, name)
  end,
})
