---@meta
-- array/meta/arrays.lua - arrays, shapes, reductions: what editors, help and the reference know of
-- functions that loops make, or that have others' bodies.  Declarations only: nothing loads this file.

local np, methods = {}, {}

---@class lgt_array
---@field shape integer[] extents, a fresh table that compares and prints
---@field dtype string
---@field ndim integer
---@field size integer number of elements
---@field itemsize integer bytes of an element
---@field nbytes integer
---@field T lgt_array the axes in reverse order, a view
---@field real lgt_array the real parts: a copy, of real numbers a view; a.real = x replaces them
---@field imag lgt_array the imaginary parts, a copy; a.imag = x replaces them
---@operator add(any): lgt_array
---@operator sub(any): lgt_array
---@operator mul(any): lgt_array
---@operator div(any): lgt_array
---@operator mod(any): lgt_array
---@operator pow(any): lgt_array
---@operator unm: lgt_array
---@operator call(...): number


-- ---- shapes --------------------------------------------------------------------------------------------

-- Ones.  The shape as arguments or as one table; options {dtype}.
---@param ... integer|integer[]|table
---@return lgt_array
function np.ones(...) end

-- An array of a's shape and dtype whose elements are not set.
---@param a lgt_array
---@param options {dtype: string?}?
---@return lgt_array
function np.empty_like(a, options) end

-- Zeros in a's shape and dtype.
---@param a lgt_array
---@param options {dtype: string?}?
---@return lgt_array
function np.zeros_like(a, options) end

-- Ones in a's shape and dtype.
---@param a lgt_array
---@param options {dtype: string?}?
---@return lgt_array
function np.ones_like(a, options) end

-- The elements on and below diagonal k (0) of a matrix or of a stack of them, else 0.
---@param a lgt_array
---@param k integer?
---@return lgt_array
function np.tril(a, k) end

-- The elements on and above diagonal k (0) of a matrix or of a stack of them, else 0.
---@param a lgt_array
---@param k integer?
---@return lgt_array
function np.triu(a, k) end

-- Positions of the upper triangle of an n x m matrix, for use as an index.
---@param n integer
---@param k integer?
---@param m integer?
---@return lgt_array[]
function np.triu_indices(n, k, m) end

-- Positions of a matrix's lower triangle.
---@param a lgt_array
---@param k integer?
---@return lgt_array[]
function np.tril_indices_from(a, k) end

-- Positions of a matrix's upper triangle.
---@param a lgt_array
---@param k integer?
---@return lgt_array[]
function np.triu_indices_from(a, k) end

-- The arrays with at least one dimension.
---@param ... lgt_array
---@return lgt_array ...
function np.atleast_1d(...) end

-- The arrays with at least two dimensions.
---@param ... lgt_array
---@return lgt_array ...
function np.atleast_2d(...) end

-- The arrays with at least three dimensions.
---@param ... lgt_array
---@return lgt_array ...
function np.atleast_3d(...) end

-- A view with the second axis reversed.
---@param a lgt_array
---@return lgt_array
function np.fliplr(a) end

-- A view with the first axis reversed.
---@param a lgt_array
---@return lgt_array
function np.flipud(a) end

-- All elements in C order: a view where the strides allow it.
---@param a lgt_array
---@return lgt_array
function np.ravel(a) end

-- A view with two axes exchanged.
---@param a lgt_array
---@param first integer
---@param second integer
---@return lgt_array
function np.swapaxes(a, first, second) end

-- Vectors and matrices side by side, as columns.
---@param arrays lgt_array[]
---@return lgt_array
function np.column_stack(arrays) end

-- Joined along the second axis (vectors along their only one).
---@param arrays lgt_array[]
---@return lgt_array
function np.hstack(arrays) end

-- Joined along the first axis, vectors as rows.
---@param arrays lgt_array[]
---@return lgt_array
function np.vstack(arrays) end

-- As np.vstack.
---@param arrays lgt_array[]
---@return lgt_array
function np.row_stack(arrays) end

-- Parts along the second axis: a number of equal ones, or positions where they begin.
---@param a lgt_array
---@param parts integer|integer[]
---@return lgt_array[]
function np.hsplit(a, parts) end

-- Parts along the first axis: a number of equal ones, or positions where they begin.
---@param a lgt_array
---@param parts integer|integer[]
---@return lgt_array[]
function np.vsplit(a, parts) end

-- Parts along the third axis: a number of equal ones, or positions where they begin.
---@param a lgt_array
---@param parts integer|integer[]
---@return lgt_array[]
function np.dsplit(a, parts) end

-- np.rep under NumPy's name: np["repeat"].
---@param a lgt_array
---@param times integer|lgt_array
---@param axis integer?
---@return lgt_array
np["repeat"] = function(a, times, axis) end

-- Positions of what is not 0 in the flattened array.  Waits.
---@param a lgt_array
---@return lgt_array
function np.flatnonzero(a) end

-- Positions in an order in which the one at kth is where a sort would put it.
---@param a lgt_array
---@param kth integer|integer[]
---@param axis integer?
---@return lgt_array
function np.argpartition(a, kth, axis) end

-- For each element of the flattened a, whether it is in b.
---@param a lgt_array
---@param b lgt_array
---@param options {invert: boolean?}?
---@return lgt_array
function np.in1d(a, b, options) end

-- Sorted along the first axis.
---@param a lgt_array
---@return lgt_array
function np.msort(a) end

-- Sorted by real parts, then imaginary ones, as complex numbers.
---@param a lgt_array
---@return lgt_array
function np.sort_complex(a) end

-- ---- reductions ----------------------------------------------------------------------------------------

-- The sum over axes (all).  Options: axis, keepdims, dtype, where, initial, out.
---@param a lgt_array
---@param axis integer|integer[]|nil
---@param options table?
---@return lgt_array
function np.sum(a, axis, options) end

-- The product over axes (all).  Options: axis, keepdims, dtype, where, initial, out.
---@param a lgt_array
---@param axis integer|integer[]|nil
---@param options table?
---@return lgt_array
function np.prod(a, axis, options) end

-- As np.prod.
---@param a lgt_array
---@param axis integer|integer[]|nil
---@param options table?
---@return lgt_array
function np.product(a, axis, options) end

-- The greatest element over axes (all), NaN if there is one.  Options: axis, keepdims, where, initial, out.
---@param a lgt_array
---@param axis integer|integer[]|nil
---@param options table?
---@return lgt_array
function np.max(a, axis, options) end

-- The least element over axes (all), NaN if there is one.  Options: axis, keepdims, where, initial, out.
---@param a lgt_array
---@param axis integer|integer[]|nil
---@param options table?
---@return lgt_array
function np.min(a, axis, options) end

-- As np.max.
---@param a lgt_array
---@param axis integer|integer[]|nil
---@param options table?
---@return lgt_array
function np.amax(a, axis, options) end

-- As np.min.
---@param a lgt_array
---@param axis integer|integer[]|nil
---@param options table?
---@return lgt_array
function np.amin(a, axis, options) end

-- The greatest element less the least one.
---@param a lgt_array
---@param axis integer|integer[]|nil
---@param options table?
---@return lgt_array
function np.ptp(a, axis, options) end

-- The mean over axes (all).  Options: axis, keepdims, dtype, where.
---@param a lgt_array
---@param axis integer|integer[]|nil
---@param options table?
---@return lgt_array
function np.mean(a, axis, options) end

-- The standard deviation over axes (all).  Options: axis, keepdims, dtype, ddof (0).
---@param a lgt_array
---@param axis integer|integer[]|nil
---@param options table?
---@return lgt_array
function np.std(a, axis, options) end

-- The variance over axes (all).  Options: axis, keepdims, dtype, ddof (0).
---@param a lgt_array
---@param axis integer|integer[]|nil
---@param options table?
---@return lgt_array
function np.var(a, axis, options) end

-- Are all elements true?  Without an axis a boolean of Lua, which waits.
---@param a lgt_array
---@param axis integer|integer[]|nil
---@param options table?
---@return boolean|lgt_array
function np.all(a, axis, options) end

-- Is an element true?  Without an axis a boolean of Lua, which waits.
---@param a lgt_array
---@param axis integer|integer[]|nil
---@param options table?
---@return boolean|lgt_array
function np.any(a, axis, options) end

-- As np.all.
---@param a lgt_array
---@param axis integer?
---@return boolean|lgt_array
function np.alltrue(a, axis) end

-- As np.any.
---@param a lgt_array
---@param axis integer?
---@return boolean|lgt_array
function np.sometrue(a, axis) end

-- The position of the greatest element along an axis (in the flattened array), the first one of several.
---@param a lgt_array
---@param axis integer?
---@param options {keepdims: boolean?}?
---@return lgt_array
function np.argmax(a, axis, options) end

-- The position of the least element along an axis (in the flattened array), the first one of several.
---@param a lgt_array
---@param axis integer?
---@param options {keepdims: boolean?}?
---@return lgt_array
function np.argmin(a, axis, options) end

-- How many elements are not 0.  Without an axis a number of Lua, which waits.
---@param a lgt_array
---@param axis integer|integer[]|nil
---@param options {keepdims: boolean?}?
---@return integer|lgt_array
function np.count_nonzero(a, axis, options) end

-- Do two arrays have the same shape and elements?  Waits.
---@param a lgt_array
---@param b lgt_array
---@param options {equal_nan: boolean?}?
---@return boolean
function np.array_equal(a, b, options) end

-- For each pair, |a - b| <= atol (1e-8) + rtol (1e-5) * |b|.
---@param a lgt_array
---@param b lgt_array
---@param options {rtol: number?, atol: number?, equal_nan: boolean?}?
---@return lgt_array bool
function np.isclose(a, b, options) end

-- As np.linalg.norm.
---@param a lgt_array
---@param order any
---@param axis any
---@return lgt_array
function np.norm(a, order, axis) end

-- The sum of what is no NaN.
---@param a lgt_array
---@param axis integer|integer[]|nil
---@param options table?
---@return lgt_array
function np.nansum(a, axis, options) end

-- The product of what is no NaN.
---@param a lgt_array
---@param axis integer|integer[]|nil
---@param options table?
---@return lgt_array
function np.nanprod(a, axis, options) end

-- The greatest number; NaN where there is none.
---@param a lgt_array
---@param axis integer|integer[]|nil
---@param options table?
---@return lgt_array
function np.nanmax(a, axis, options) end

-- The least number; NaN where there is none.
---@param a lgt_array
---@param axis integer|integer[]|nil
---@param options table?
---@return lgt_array
function np.nanmin(a, axis, options) end

-- The position of the greatest number.
---@param a lgt_array
---@param axis integer?
---@return lgt_array
function np.nanargmax(a, axis) end

-- The position of the least number.
---@param a lgt_array
---@param axis integer?
---@return lgt_array
function np.nanargmin(a, axis) end

-- The standard deviation of what is no NaN.
---@param a lgt_array
---@param axis integer|integer[]|nil
---@param options {keepdims: boolean?, dtype: string?, ddof: number?}?
---@return lgt_array
function np.nanstd(a, axis, options) end

-- The median of what is no NaN.
---@param a lgt_array
---@param axis integer|integer[]|nil
---@param options {keepdims: boolean?}?
---@return lgt_array
function np.nanmedian(a, axis, options) end

-- np.quantile of what is no NaN.
---@param a lgt_array
---@param q number|number[]
---@param axis integer|integer[]|nil
---@param options table?
---@return lgt_array
function np.nanquantile(a, q, axis, options) end

-- np.percentile of what is no NaN.
---@param a lgt_array
---@param q number|number[]
---@param axis integer|integer[]|nil
---@param options table?
---@return lgt_array
function np.nanpercentile(a, q, axis, options) end

-- Running sums along an axis (of the flattened array).
---@param a lgt_array
---@param axis integer?
---@param options {dtype: string?}?
---@return lgt_array
function np.cumsum(a, axis, options) end

-- Running products along an axis (of the flattened array).
---@param a lgt_array
---@param axis integer?
---@param options {dtype: string?}?
---@return lgt_array
function np.cumprod(a, axis, options) end

-- As np.cumprod.
---@param a lgt_array
---@param axis integer?
---@param options {dtype: string?}?
---@return lgt_array
function np.cumproduct(a, axis, options) end

-- Running sums, NaN counting as 0.
---@param a lgt_array
---@param axis integer?
---@param options {dtype: string?}?
---@return lgt_array
function np.nancumsum(a, axis, options) end

-- Running products, NaN counting as 1.
---@param a lgt_array
---@param axis integer?
---@param options {dtype: string?}?
---@return lgt_array
function np.nancumprod(a, axis, options) end

-- ---- methods ------------------------------------------------------------------------------------------

-- For each element, whether it is less than the other one: a boolean array.
---@param a lgt_array
---@param b lgt_array|number
---@return lgt_array
function methods.lt(a, b) end

-- For each element, whether it is less than or equal to the other one: a boolean array.
---@param a lgt_array
---@param b lgt_array|number
---@return lgt_array
function methods.le(a, b) end

-- For each element, whether it is greater than the other one: a boolean array.
---@param a lgt_array
---@param b lgt_array|number
---@return lgt_array
function methods.gt(a, b) end

-- For each element, whether it is greater than or equal to the other one: a boolean array.
---@param a lgt_array
---@param b lgt_array|number
---@return lgt_array
function methods.ge(a, b) end

-- For each element, whether it is equal to the other one: a boolean array.
---@param a lgt_array
---@param b lgt_array|number
---@return lgt_array
function methods.eq(a, b) end

-- For each element, whether it is different from the other one: a boolean array.
---@param a lgt_array
---@param b lgt_array|number
---@return lgt_array
function methods.ne(a, b) end

-- For each pair, whether both are true.
---@param a lgt_array
---@param b lgt_array
---@return lgt_array
function methods.both(a, b) end

-- For each pair, whether one of them is true.
---@param a lgt_array
---@param b lgt_array
---@return lgt_array
function methods.either(a, b) end

-- The extents as several results.
---@param a lgt_array
---@return integer ...
function methods.dims(a) end

-- a + b in a's own place; gives a.
---@param a lgt_array
---@param b lgt_array|number
---@return lgt_array
function methods.iadd(a, b) end

-- a - b in a's own place; gives a.
---@param a lgt_array
---@param b lgt_array|number
---@return lgt_array
function methods.isub(a, b) end

-- a * b in a's own place; gives a.
---@param a lgt_array
---@param b lgt_array|number
---@return lgt_array
function methods.imul(a, b) end

-- a / b in a's own place; gives a.
---@param a lgt_array
---@param b lgt_array|number
---@return lgt_array
function methods.idiv(a, b) end

-- a % b in a's own place; gives a.
---@param a lgt_array
---@param b lgt_array|number
---@return lgt_array
function methods.imod(a, b) end

-- a ^ b in a's own place; gives a.
---@param a lgt_array
---@param b lgt_array|number
---@return lgt_array
function methods.ipow(a, b) end

-- np.maximum(a, b) in a's own place; gives a.
---@param a lgt_array
---@param b lgt_array|number
---@return lgt_array
function methods.imaximum(a, b) end

-- np.minimum(a, b) in a's own place; gives a.
---@param a lgt_array
---@param b lgt_array|number
---@return lgt_array
function methods.iminimum(a, b) end

-- np.compress(condition, a, axis).
---@param a lgt_array
---@param condition lgt_array
---@param axis integer?
---@return lgt_array
function methods.compress(a, condition, axis) end

-- np.partition in a's own place.
---@param a lgt_array
---@param kth integer|integer[]
---@param axis integer?
---@return lgt_array
function methods.partition(a, kth, axis) end

-- np.cumsum(a, axis).
---@param a lgt_array
---@param axis integer?
---@param options {dtype: string?}?
---@return lgt_array
function methods.cumsum(a, axis, options) end

-- np.cumprod(a, axis).
---@param a lgt_array
---@param axis integer?
---@param options {dtype: string?}?
---@return lgt_array
function methods.cumprod(a, axis, options) end

return np, methods
