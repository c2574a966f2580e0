-- sparse/select.lua - rows, columns, elements, triangles and diagonals of sparse matrices; sums and extrema.

local sparse = require "sparse.core"
local slice = require "array.index.slice"

local np, core, dtypes, raise = sparse.np, sparse.array, sparse.dtypes, sparse.raise
local sp, any, csr = sparse.sp, sparse.methods.any, sparse.methods.csr
local Matrix, vector = sparse.Matrix, sparse.vector

-- An axis that may be left out: {axis = 2}, or 2.
function sparse.take_axis(axis, who)
  axis = core.axis_option(axis, who)
  if axis == nil then return nil end
  return core.check_axis(axis, 2, who)
end

-- ---- some of the entries ----------------------------------------------------------------------------------

-- The entries of a matrix by rows for which `keep`, a boolean vector, holds.
function sparse.keep_entries(a, keep)
  local count = vector(dtypes.INT64, a.m)
  sparse.launch_rows("csr_count", "wrrr", 3, { count, a.lo, a.hi, keep }, nil, "image_ranges(1,2:3.0)")
  local pos, nnz = sparse.positions(count, core.dtype_of(a.pos))
  if nnz == a.nnz then return a end
  local crd, vals = vector(core.dtype_of(pos), nnz), vector(a.kind, nnz)
  local lo, hi = sparse.bounds(pos, a.m)
  sparse.launch("csr_keep", "rrrrwwrrr",
    "align(0.0,1.0,2.0,3.0) image_ranges(0,1:4.0,5.0) image_ranges(2,3:6.0,7.0,8.0)",
    { lo, hi, a.lo, a.hi, crd, vals, a.crd, a.vals, keep })
  return sparse.csr(a.m, a.n, pos, crd, vals, { sorted = a.sorted, unique = a.unique })
end

-- Without entries that are 0; a new matrix (SciPy's changes the one it is called on).
---@return table matrix
function any.eliminate_zeros(a)
  local c = a:tocsr()
  return sparse.keep_entries(c, np.not_equal(c.vals, 0)):asformat(a.format)
end

-- How far entries are above the main diagonal.
local function height(a) return np.subtract(a.crd, sparse.row_of_entries(a)) end

-- The part on and below diagonal k.
---@param a table matrix
---@param k integer? 0: the main diagonal; above it k > 0
---@param format string? "csr"
---@return table matrix
function sp.tril(a, k, format, surplus)
  core.check_surplus(surplus, "tril")
  local c = sparse.take_matrix(a, "tril"):tocsr()
  return sparse.keep_entries(c, np.less_equal(height(c), k or 0)):asformat(format)
end

-- The part on and above diagonal k.
---@param a table matrix
---@param k integer? 0: the main diagonal; above it k > 0
---@param format string? "csr"
---@return table matrix
function sp.triu(a, k, format, surplus)
  core.check_surplus(surplus, "triu")
  local c = sparse.take_matrix(a, "triu"):tocsr()
  return sparse.keep_entries(c, np.greater_equal(height(c), k or 0)):asformat(format)
end

-- Rows, columns and values of what is not 0; positions count from 1.
---@param a table matrix
---@return lgt_array rows int64, lgt_array columns int64, lgt_array values
function sp.find(a, surplus)
  core.check_surplus(surplus, "find")
  local c = sparse.canonical(sparse.take_matrix(a, "find"):tocsr()):eliminate_zeros():tocoo()
  return c.row:astype("int64"), c.col:astype("int64"), c.data
end
function any.nonzero(a)
  local rows, cols = sp.find(a)
  return { rows, cols }
end

-- How many entries there are, or how many in each row or column, as SciPy's.
---@param axis integer? 1: in each column, 2: in each row
---@return integer|lgt_array
function any.getnnz(a, axis)
  axis = sparse.take_axis(axis, "getnnz")
  if not axis then return a.nnz end
  local c = a.format == "csc" and a or a:tocsr()
  return c:map(function(vals) return np.ones(core.size_of(vals), { dtype = "int64" }) end):sum(axis)
end

function any.count_nonzero(a) return np.count_nonzero(sparse.canonical(a:tocsr()).vals) end

-- ---- rows and columns -------------------------------------------------------------------------------------

-- A matrix of rows that lo and hi bound.
local function take_rows(a, m, lo, hi)
  local count = np.astype(hi, "int64") - lo
  local pos, nnz = sparse.positions(count, core.dtype_of(a.pos))
  local crd, vals = vector(core.dtype_of(a.crd), nnz), vector(a.kind, nnz)
  if core.dtype_of(pos) ~= core.dtype_of(a.pos) then
    local name = dtypes.name[core.dtype_of(pos)]
    a = sparse.with_index_type(a, core.dtype_of(pos))
    crd, lo, hi = vector(core.dtype_of(pos), nnz), np.astype(lo, name), np.astype(hi, name)
  end
  local first, past = sparse.bounds(pos, m)
  sparse.launch("csr_take", "rrrrwwrr", sparse.FROM_ROWS, { first, past, lo, hi, crd, vals, a.crd, a.vals })
  return sparse.csr(m, a.n, pos, crd, vals, { sorted = a.sorted, unique = a.unique })
end

-- Rows first (from 0), first + step, ...
local function row_range(a, s)
  return take_rows(a, s.count, sparse.part(a.lo, s.first, s.count, s.step), sparse.part(a.hi, s.first, s.count, s.step))
end

-- Columns first (from 0), first + step, ...
local function column_range(a, s)
  if s.step < 0 then return row_range(a.T:tocsr(), s).T:tocsr() end
  local offset = a.crd - s.first
  local keep = np.logical_and(np.greater_equal(offset, 0), np.less(offset, s.count * s.step))
  if s.step > 1 then keep = np.logical_and(keep, np.equal(offset % s.step, 0)) end
  local c = sparse.keep_entries(a, keep)
  local crd = s.step > 1 and np.floor_divide(c.crd - s.first, s.step) or c.crd - s.first
  return sparse.csr(a.m, s.count, c.pos, crd, c.vals, { sorted = a.sorted, unique = a.unique })
end

-- Positions from 1, or negative from the end.  Waits.
local function check_positions(positions, extent)
  if core.size_of(positions) == 0 then return end
  local outside = np.logical_or(np.greater(np.abs(positions), extent), np.equal(positions, 0))
  if not np.any(outside) then return end
  local wrong = tonumber(core.read_item(positions[np.argmax(outside)]))
  if wrong == 0 then raise("index: positions count from 1, 0 was given") end
  raise("index: position %d is outside an extent of %d", wrong, extent)
end

local function pick_rows(a, positions)
  if core.ndim_of(positions) ~= 1 then raise("index: rows and columns are picked with vectors") end
  if core.dtype_of(positions) == dtypes.BOOL then
    if core.size_of(positions) ~= a.m then
      raise("index: a boolean vector of %d elements does not select from an extent of %d", core.size_of(positions), a.m)
    end
    positions = np.flatnonzero(positions)
  end
  check_positions(positions, a.m)
  return take_rows(a, core.size_of(positions), a.lo[positions], a.hi[positions])
end

-- The rows that an entry of an index selects.
local function rows_of_entry(a, e)
  if e.kind == "pick" then return pick_rows(a, e.array) end
  local first, count, step
  if e.kind == "at" then first, count, step = slice.resolve_position(e.at, a.m, 1), 1, 1
  else first, count, step = slice.resolve_range(e.lo, e.hi, e.step, a.m) end
  if count == a.m and step == 1 then return a end
  return row_range(a, { first = first, count = count, step = step })
end

local function columns_of_entry(a, e)
  if e.kind == "pick" then return pick_rows(a.T:tocsr(), e.array).T:tocsr() end
  local first, count, step
  if e.kind == "at" then first, count, step = slice.resolve_position(e.at, a.n, 2), 1, 1
  else first, count, step = slice.resolve_range(e.lo, e.hi, e.step, a.n) end
  if count == a.n and step == 1 then return a end
  return column_range(a, { first = first, count = count, step = step })
end

-- The sum of what is there: of another type than the elements where these are small integers.
local function in_type_of(a, sum) return core.dtype_of(sum) == a.kind and sum or np.astype(sum, a.dtype) end

local function element(a, i, j)
  local row = row_range(a, { first = i, count = 1, step = 1 })
  return in_type_of(a, np.sum(np.where(np.equal(row.crd, j), row.vals, 0)))
end

-- Elements at pairs of positions, as a vector.
local function elements(a, rows, cols)
  local picked = pick_rows(a, rows)
  local count = picked.m
  if core.size_of(cols) ~= count then
    raise("index: %d row and %d column positions: elements are picked by pairs", count, core.size_of(cols))
  end
  check_positions(cols, a.n)
  local where = np.astype(np.where(np.less(cols, 0), cols + a.n, cols - 1), "int64")
  local entry_row = sparse.row_of_entries(picked)
  local wanted = where[entry_row:astype("int64") + 1]
  local vals = np.where(np.equal(picked.crd, wanted), picked.vals, 0)
  return in_type_of(a, sparse.with_values(picked, vals):sum(2))
end

-- Booleans as the positions at which they hold.
local function positions_of(x)
  return core.dtype_of(x) == dtypes.BOOL and core.ndim_of(x) == 1 and np.flatnonzero(x) or x
end

-- Elements at pairs of positions, in the shape of these; of np.ix_'s, a column and a row, the matrix that they cross.
local function pick_both(a, rows, cols)
  rows, cols = positions_of(rows), positions_of(cols)
  local m, n = core.shape_of(rows), core.shape_of(cols)
  if #m == 1 and #n == 1 then return elements(a, rows, cols) end
  if #m == 2 and #n == 2 and m[2] == 1 and n[1] == 1 then
    return pick_rows(pick_rows(a, np.ravel(rows)).T:tocsr(), np.ravel(cols)).T:tocsr()
  end
  if core.shape_text(m) ~= core.shape_text(n) then
    raise("index: row positions of shape %s and column positions of shape %s: as many of both were expected, or " ..
      "np.ix_ of two vectors", core.shape_text(m), core.shape_text(n))
  end
  return np.reshape(elements(a, np.ravel(rows), np.ravel(cols)), m)
end

-- Of arrays without dimensions slice.lua takes the number.
local function axes_of(x) return core.is_array(x) and core.ndim_of(x) > 0 and 1 or nil end

local ALL = { kind = "range", step = 1 }

-- A key as two entries (array/index/slice.lua).
local function two_entries(key)
  local entries
  key = core.plain(key)
  if type(key) == "number" then entries = { { kind = "at", at = key }, ALL }
  elseif core.is_array(key) then entries = { { kind = "pick", array = key }, ALL }
  elseif type(key) == "string" then
    entries = slice.parse_string(key)
    if #entries == 1 then entries[2] = ALL end -- as of arrays
  elseif type(key) == "table" and not sparse.is_matrix(key) then entries = slice.parse_table(key, 2, axes_of)
  else raise("index: %s cannot be an index of a sparse matrix", sparse.describe(key)) end
  if #entries ~= 2 then raise("index: %d entries for a sparse matrix, which has two dimensions", #entries) end
  for i, e in ipairs(entries) do
    if e.kind == "new" then raise("index: a sparse matrix has two dimensions, \"*\" cannot add one") end
    if e.kind == "rest" then entries[i] = ALL end
  end
  return entries[1], entries[2]
end

-- A[{i, j}] is an element (an array of no dimensions), A[{rows, columns}] and A["2:5, ::2"] are matrices, in which one
-- position counts as a range of one; A[i] is row i; A[{array, array}] are the elements at pairs of positions, and
-- A[np.ix_(rows, columns)] is the matrix that they cross.
function sparse.select(a, key)
  local rows, cols = two_entries(key)
  local c = a:tocsr()
  if rows.kind == "at" and cols.kind == "at" then
    return element(c, slice.resolve_position(rows.at, a.m, 1), slice.resolve_position(cols.at, a.n, 2))
  end
  if rows.kind == "pick" and cols.kind == "pick" then c = pick_both(c, rows.array, cols.array)
  else c = columns_of_entry(rows_of_entry(c, rows), cols) end
  if core.is_array(c) then return c end
  return a.format == "csc" and c:tocsc() or c
end

-- A(i, j) is an element as a Lua number.  Waits.
function Matrix.__call(a, ...)
  if select("#", ...) ~= 2 then raise("A(i, j) is an element, A(...) got %d positions", select("#", ...)) end
  return core.read_item(sparse.select(a, { ... }))
end

---@param i integer
---@return table matrix of one row
function any.getrow(a, i) return sparse.select(a:tocsr(), { i, {} }) end
---@param j integer
---@return table matrix of one column
function any.getcol(a, j) return sparse.select(a, { {}, j }) end

-- ---- diagonals --------------------------------------------------------------------------------------------

-- The elements of diagonal k.
---@param k integer? 0
---@return lgt_array
function any.diagonal(a, k)
  k = core.plain(k) or 0
  if not core.is_integer(k) then raise("diagonal: k is the offset of a diagonal, not %s", sparse.describe(k)) end
  local c = a:tocsr()
  local length, first = sparse.diagonal_length(a.m, a.n, k), math.max(0, -k)
  local work = sparse.working_type(a.kind)
  local d = vector(work, length)
  if length == 0 then return np.astype(d, a.dtype) end
  local lo, hi = sparse.part(c.lo, first, length), sparse.part(c.hi, first, length)
  sparse.launch_rows("csr_diagonal", "wrrrr", 3, { d, lo, hi, c.crd, sparse.values_in(c, work) }, { math.max(k, 0) },
    "image_ranges(1,2:3.0,4.0)")
  return work == a.kind and d or np.astype(d, a.dtype)
end

-- The sum of the elements of diagonal k.
---@param k integer? 0
function any.trace(a, k) return np.sum(a:diagonal(k)) end

-- With another diagonal k; a new matrix (SciPy's changes the one it is called on).
---@param values any a number, or as many as the diagonal has; they are converted to the matrix's type
---@param k integer? 0
---@return table matrix
function any.setdiag(a, values, k)
  k = core.plain(k) or 0
  if not core.is_integer(k) or k <= -a.m or k >= a.n then
    raise("setdiag: a matrix of shape (%d, %d) has the diagonals %d to %d, not %s", a.m, a.n, 1 - a.m, a.n - 1,
      core.is_integer(k) and ("%d"):format(k) or sparse.describe(k))
  end
  local c = sparse.canonical(a:tocsr())
  local rest = sparse.keep_entries(c, np.not_equal(height(c), k))
  local length = sparse.diagonal_length(a.m, a.n, k)
  local d = np.asarray(values)
  if core.size_of(d) == 1 then d = np.full(length, core.read_item(d), { dtype = d.dtype }) end
  if dtypes.category[core.dtype_of(d)] == 3 and dtypes.category[a.kind] < 3 then
    raise("setdiag: complex values for a matrix of type %s: A:astype(\"complex128\") takes them", a.dtype)
  end
  if core.size_of(d) ~= length then
    raise("setdiag: %d values for a diagonal of %d elements", core.size_of(d), length)
  end
  local diagonal = sp.diags({ np.astype(d, a.dtype) }, { k }, { shape = { a.m, a.n }, dtype = a.dtype })
  return (rest + diagonal):asformat(a.format)
end

-- ---- sums -------------------------------------------------------------------------------------------------

local take_axis = sparse.take_axis

-- The sum of all elements, or a vector of the sums along an axis (1: of each column).
---@param axis integer?
---@return lgt_array
function any.sum(a, axis)
  axis = take_axis(axis, "sum")
  local dtype = dtypes.of_sum(a.kind)
  if not axis then return np.sum(a.format == "dia" and a:tocsr().vals or a:tocoo().vals) end
  if axis == 2 then return a:tocsr():dot(np.ones(a.n, { dtype = dtypes.name[dtype] })) end
  if a.format == "csc" then return a.t:sum(2) end
  local c = a:tocsr()
  local work = sparse.working_type(dtype)
  if sparse.has_domains() then
    local y = np.zeros(a.n, { dtype = dtypes.name[dtype] })
    np.add.at(y, c.crd:astype("int64") + 1, np.astype(c.vals, dtypes.name[dtype]))
    return y
  end
  local y = vector(work, a.n)
  sparse.launch_once("csr_column_sums", "wrr", { y, c.crd, sparse.dense(sparse.values_in(c, work)) })
  return work == dtype and y or np.astype(y, dtypes.name[dtype])
end

-- The mean of all elements, zeros included, or of those along an axis.
---@param axis integer?
---@return lgt_array
function any.mean(a, axis)
  axis = take_axis(axis, "mean")
  local count = axis == 1 and a.m or axis == 2 and a.n or a.m * a.n
  local s = a:sum(axis)
  return (dtypes.category[a.kind] < 2 and np.astype(s, "float64") or s) / count
end

-- Extrema of rows, or of all; what is not stored counts as 0.
local function extremum(name, axis, a)
  local c = sparse.canonical(a:tocsr())
  if axis == 1 then return extremum(name, 2, a.T) end
  if dtypes.category[a.kind] == 3 then raise("%s: complex numbers have no order", name) end
  if axis == nil then
    if a.m * a.n == 0 then raise("%s: of no elements", name) end
    if c.nnz == 0 then return np.zeros({}, { dtype = a.dtype }) end
    local best = np[name](c.vals)
    return c.nnz < a.m * a.n and np[name .. "imum"](best, np.zeros({}, { dtype = a.dtype })) or best
  end
  local result = np.zeros(a.m, { dtype = a.dtype })
  local full = np.equal(c.hi - c.lo, a.n)
  local limit = dtypes.category[a.kind] == 2 and np.inf or nil
  local low, high = -math.huge, math.huge
  if not limit then low, high = dtypes.range_of(a.kind) end
  local start = np.where(full, np.full(a.m, name == "max" and low or high), 0):astype(a.dtype)
  result["..."] = start
  if c.nnz > 0 then np[name .. "imum"].at(result, sparse.row_of_entries(c):astype("int64") + 1, c.vals) end
  return result
end
function any.max(a, axis) return extremum("max", take_axis(axis, "max"), a) end
function any.min(a, axis) return extremum("min", take_axis(axis, "min"), a) end

-- The column, from 1, of the first extremum of each row: an entry, or the first place without one if it is 0.
local function columns_of(name, a)
  local c = sparse.canonical(a:tocsr())
  local best = extremum(name, 2, c)
  local row = sparse.row_of_entries(c):astype("int64") + 1
  local number, gap = np.arange(c.nnz) - c.lo[row], np.zeros(c.m, { dtype = "int64" })
  np.add.at(gap, row, np.equal(c.crd, number):astype("int64")) -- up to the gap, columns are the numbers of entries
  local first = np.where(np.logical_and(np.equal(best, 0), np.less(gap, c.n)), gap, c.n):astype("int64")
  local found = np.logical_or(np.equal(c.vals, best[row]), np.not_equal(c.vals, c.vals))
  np.minimum.at(first, row, np.where(found, c.crd, c.n):astype("int64"))
  return first + 1, best
end

local function position(name, axis, a)
  local extent = axis == 1 and a.m or axis == 2 and a.n or a.m * a.n
  if extent == 0 then raise("arg%s: of no elements", name) end
  if axis == 1 then a = a.T end
  local columns, best = columns_of(name, a)
  if axis then return columns end
  local row = np["arg" .. name](best)
  return (row - 1) * a.n + np.take(columns, row)
end

-- Where the extremum of all elements is, in C order from 1, or those of columns (axis 1), of rows (axis 2).
---@param axis integer?
---@return lgt_array int64
function any.argmax(a, axis) return position("max", take_axis(axis, "argmax"), a) end
function any.argmin(a, axis) return position("min", take_axis(axis, "argmin"), a) end

-- The norm of a matrix: "fro" (default), 1 and math.huge (the largest sum of absolute values of a column, a row),
-- -1 and -math.huge; or along an axis: 2 (default), 1, math.huge, 0.
---@param a table matrix
---@param order number|string|nil
---@param axis integer?
---@return lgt_array
function sp.norm(a, order, axis, surplus)
  core.check_surplus(surplus, "norm")
  a = sparse.canonical(sparse.take_matrix(a, "norm"):tocsr())
  if core.is_options(order) then
    local options = core.check_options(order, { ord = true, axis = true }, "norm")
    order, axis = options.ord, options.axis
  end
  axis = take_axis(axis, "norm")
  local size = a:abs()
  if axis then
    if order == nil or order == 2 then return np.sqrt(size:square():sum(axis)) end
    if order == 1 then return size:sum(axis) end
    if order == math.huge then return size:max(axis) end
    if order == -math.huge then return size:min(axis) end
    if order == 0 then return size:ne(0):astype("int64"):sum(axis) end
    raise("norm: the order is 2, 1, 0, math.huge or -math.huge, not %s", sparse.describe(order))
  end
  if order == nil or order == "fro" then return np.norm(a.vals) end
  if order == 1 then return np.max(size:sum(1)) end
  if order == -1 then return np.min(size:sum(1)) end
  if order == math.huge then return np.max(size:sum(2)) end
  if order == -math.huge then return np.min(size:sum(2)) end
  raise("norm: the order of a matrix norm is \"fro\", 1, -1, math.huge or -math.huge, not %s", sparse.describe(order))
end

-- One extent that is -1, for what the other leaves.
local function infer_extent(a, shape)
  if type(shape) ~= "table" or #shape ~= 2 or (shape[1] == -1) == (shape[2] == -1) then return shape end
  local other = shape[1] == -1 and shape[2] or shape[1]
  if not core.is_integer(other) or other < 1 or a.m * a.n % other ~= 0 then return shape end
  local left = a.m * a.n / other
  return shape[1] == -1 and { left, other } or { other, left }
end

-- Reshaped, in C order.
---@param shape integer[] one of which may be -1: what is left; or two numbers
---@return table matrix
function any.reshape(a, shape, n)
  if type(core.plain(shape)) == "number" then shape = { shape, n } end
  shape = core.as_list(shape) or shape
  local m
  m, n = sparse.take_extents(infer_extent(a, shape), "reshape")
  if m * n ~= a.m * a.n then
    raise("reshape: %d elements do not fit into a shape (%d, %d)", a.m * a.n, m, n)
  end
  local c = a:tocoo()
  local at = c.rows:astype("int64") * a.n + c.cols
  local name = { dtype = dtypes.name[sparse.index_type(m, n, c.nnz)] }
  return sparse.coo(m, n, np.astype(np.floor_divide(at, n), name.dtype), np.astype(at % n, name.dtype), c.vals)
    :asformat(a.format ~= "dia" and a.format or nil)
end

return csr
