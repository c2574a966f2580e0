-- sparse/arithmetic.lua - sums, products and functions of sparse matrices, entry by entry; sparse times sparse.
--
-- What keeps zeros is an array operation on the values.  Two matrices are joined row by row (ops/sparse/sparse_join.c),
-- by rows or both by columns.  Results have the format of the first operand; triplets and diagonals give rows.

local sparse = require "sparse.core"

local np, core, dtypes, raise = sparse.np, sparse.array, sparse.dtypes, sparse.raise
local any, csr, csc, coo, dia = sparse.methods.any, sparse.methods.csr, sparse.methods.csc, sparse.methods.coo,
  sparse.methods.dia
local Matrix, is_matrix, vector = sparse.Matrix, sparse.is_matrix, sparse.vector

-- ---- functions of the values ------------------------------------------------------------------------------

-- f(values) at the same places; f must keep zeros.
function csr.map(a, f) return sparse.with_values(a, f(a.vals)) end
function csc.map(a, f) return sparse.csc(a.t:map(f)) end
function coo.map(a, f) return sparse.coo(a.m, a.n, a.rows, a.cols, f(a.vals)) end
function dia.map(a, f) return sparse.dia(a.m, a.n, a.offs, f(a.diagonals)) end

local keep_zeros = { "arcsin", "arcsinh", "arctan", "arctanh", "ceil", "deg2rad", "expm1", "floor", "log1p", "rad2deg",
                     "rint", "sign", "sin", "sinh", "sqrt", "tan", "tanh", "trunc", "abs", "square" }
for _, name in ipairs(keep_zeros) do
  any[name] = function(a)
    -- Of triplets, which may name a place twice, the function is not the sum of the functions.
    if a.format == "coo" then a = a:tocsr() end
    if a.format == "csr" then a = sparse.canonical(a) end
    return a:map(np[name])
  end
end
for _, name in ipairs { "negative", "real", "imag" } do
  any[name] = function(a) return a:map(np[name]) end
end

-- The conjugated values; of real ones the same (np.conj would make bool int8).
---@return table matrix
function any.conj(a)
  return a:map(dtypes.category[a.kind] == 3 and np.conj or function(vals) return vals end)
end
any.conjugate = any.conj

---@param dtype string
---@return table matrix
function any.astype(a, dtype)
  if dtypes.number[dtype] == a.kind then return a end
  return a:map(function(vals) return np.astype(vals, dtype) end)
end

-- A copy whose values are its own.
function any.copy(a) return a:map(np.copy) end

-- Each entry to the power n, which must be positive (zeros stay).
---@param n number
---@return table matrix
function any.power(a, n)
  n = core.plain(n)
  if type(n) ~= "number" or n <= 0 then
    raise("power: a number above 0 was expected, not %s; of the entries alone A:map(function(x) return x ^ n end)",
      sparse.describe(n))
  end
  return sparse.canonical(a:tocsr()):map(function(vals) return vals ^ n end):asformat(a.format)
end

-- ---- two matrices -----------------------------------------------------------------------------------------

local ADD, SUBTRACT, MULTIPLY, MAXIMUM, MINIMUM, NOT_EQUAL, LESS, GREATER = 0, 1, 2, 3, 4, 5, 6, 7

local function with_index_type(a, index)
  if core.dtype_of(a.pos) == index then return a end
  local name = dtypes.name[index]
  return sparse.csr(a.m, a.n, np.astype(a.pos, name), np.astype(a.crd, name), a.vals, a)
end
sparse.with_index_type = with_index_type

-- Two matrices by rows as kernels want them: of one type of positions, with values of one type.
local function prepare(a, b, most)
  local index = sparse.index_type(most, a.m, a.n, b.n)
  if core.dtype_of(a.pos) == dtypes.INT64 or core.dtype_of(b.pos) == dtypes.INT64 then index = dtypes.INT64 end
  local dtype = dtypes.promote(a.kind, b.kind)
  local work = sparse.working_type(dtype)
  a, b = with_index_type(a, index), with_index_type(b, index)
  return a, b, sparse.values_in(a, work), sparse.values_in(b, work), dtype, work
end

-- A matrix of which row i has count[i] entries from lo[i] on: moved together, if they are not.
local function tighten(m, n, lo, count, crd, vals, dtype, sorted)
  local index = core.dtype_of(crd)
  local pos, nnz = sparse.positions(count, index)
  if nnz < core.size_of(crd) then
    local loose_crd, loose_vals = crd, vals
    crd, vals = vector(index, nnz), vector(core.dtype_of(vals), nnz)
    local first, past = sparse.bounds(pos, m)
    sparse.launch("csr_take", "rrrrwwrr", sparse.FROM_ROWS, { first, past, lo,
      np.astype(lo + count, dtypes.name[index]), crd, vals, loose_crd, loose_vals })
  end
  if dtype ~= core.dtype_of(vals) then vals = np.astype(vals, dtypes.name[dtype]) end
  return sparse.csr(m, n, pos, crd, vals, { sorted = sorted, unique = true })
end

-- The same on several domains, which count first: so none has more room than its rows need.
local function join_rows_apart(operation, a, b, va, vb, dtype, work)
  local count = vector(dtypes.INT64, a.m)
  sparse.launch("csr_join_count", "wrrrrrrrr",
    "align(0.0,1.0,2.0,5.0,6.0) image_ranges(1,2:3.0,4.0) image_ranges(5,6:7.0,8.0)",
    { count, a.lo, a.hi, a.crd, va, b.lo, b.hi, b.crd, vb }, { operation })
  local pos, nnz = sparse.positions(count, core.dtype_of(a.pos))
  local lo, hi = sparse.bounds(pos, a.m)
  local crd, vals = vector(core.dtype_of(pos), nnz), vector(work, nnz)
  a, b = with_index_type(a, core.dtype_of(pos)), with_index_type(b, core.dtype_of(pos))
  sparse.launch("csr_join_fill", "rrwwrrrrrrrr", "align(0.0,1.0,4.0,5.0,8.0,9.0) image_ranges(0,1:2.0,3.0) " ..
    "image_ranges(4,5:6.0,7.0) image_ranges(8,9:10.0,11.0)",
    { lo, hi, crd, vals, a.lo, a.hi, a.crd, va, b.lo, b.hi, b.crd, vb }, { operation })
  if dtype ~= work then vals = np.astype(vals, dtypes.name[dtype]) end
  return sparse.csr(a.m, a.n, pos, crd, vals, { sorted = true, unique = true })
end

local function join_rows(operation, a, b)
  local va, vb, dtype, work
  a, b = sparse.canonical(a), sparse.canonical(b)
  a, b, va, vb, dtype, work = prepare(a, b, a.nnz + b.nnz)
  if sparse.has_domains() and a.m > 0 then return join_rows_apart(operation, a, b, va, vb, dtype, work) end
  local first, room = a.pos, a.nnz -- counting would take longer than moving
  if operation ~= MULTIPLY then first, room = a.pos + b.pos, a.nnz + b.nnz end
  local lo, count = sparse.part(first, 0, a.m), vector(dtypes.INT64, a.m)
  local crd, vals = vector(core.dtype_of(first), room), vector(work, room)
  sparse.launch_whole("csr_join", "rwwwrrrrrrrr",
    { lo, count, crd, vals, a.lo, a.hi, a.crd, va, b.lo, b.hi, b.crd, vb }, { operation })
  return tighten(a.m, a.n, lo, count, crd, vals, dtype, true)
end

local function join(operation, a, b, who)
  if a.m ~= b.m or a.n ~= b.n then
    raise("%s: matrices of shapes (%d, %d) and (%d, %d): they must be the same", who, a.m, a.n, b.m, b.n)
  end
  local ordered = operation >= MAXIMUM and operation ~= NOT_EQUAL
  if ordered and (dtypes.category[a.kind] == 3 or dtypes.category[b.kind] == 3) then
    raise("%s: complex numbers have no order", who)
  end
  if a.format == "csc" and b.format == "csc" then return sparse.csc(join_rows(operation, a.t, b.t)) end
  local result = join_rows(operation, a:tocsr(), b:tocsr())
  return a.format == "csc" and result:tocsc() or result
end

-- Dense plus or minus sparse is dense.
local function join_dense(a, x, f, who)
  local shape = core.shape_of(x)
  if #shape ~= 2 or shape[1] ~= a.m or shape[2] ~= a.n then
    raise("%s: a sparse matrix of shape (%d, %d) and an array of shape %s: they must be the same", who, a.m, a.n,
      core.shape_text(shape))
  end
  return f(a:todense(), x)
end

local function no_operand(x, who)
  if type(x) == "number" then
    raise("%s: a number beside a sparse matrix would make it dense; add it to A.data, or to A:todense()", who)
  end
  raise("%s: a matrix was expected, not %s", who, sparse.describe(x))
end

local function additive(operation, f, who)
  return function(a, b)
    if not is_matrix(a) then -- an array or a number in front
      if core.is_array(a) then return join_dense(b, a, function(s, x) return f(x, s) end, who) end
      no_operand(a, who)
    end
    if is_matrix(b) then return join(operation, a, b, who) end
    if core.is_array(b) and core.ndim_of(b) > 0 then return join_dense(a, b, f, who) end
    return no_operand(b, who)
  end
end
Matrix.__add = additive(ADD, function(x, y) return x + y end, "+")
Matrix.__sub = additive(SUBTRACT, function(x, y) return x - y end, "-")
any.add, any.subtract = Matrix.__add, Matrix.__sub

-- By rows, or by columns if it is, with sorted rows in which no column is twice.
local function canonical_as_it_lies(a)
  return a.format == "csc" and sparse.csc(sparse.canonical(a.t)) or sparse.canonical(a:tocsr())
end

-- The larger or the smaller of each two elements; keeps(x): those of zeros and the number x are zeros.
local function extreme(operation, a, b, name, keeps)
  local f = np[name]
  b = core.plain(b)
  if type(b) == "number" then
    if dtypes.category[a.kind] == 3 then raise("%s: complex numbers have no order", name) end
    if not keeps(b) then
      raise("%s: with %g each of the many zeros would become %g: use np.%s(A:todense(), %g)", name, b, b, name, b)
    end
    return canonical_as_it_lies(a):map(function(vals) return f(vals, b) end)
  end
  if core.is_array(b) then return join_dense(a, b, f, name) end
  return join(operation, a, sparse.take_matrix(b, name), name)
end

-- The larger of each two elements, no entry counting as 0.
---@param b table|number|lgt_array matrix; a number up to 0; an array, with which the result is one
---@return table|lgt_array matrix
function any.maximum(a, b) return extreme(MAXIMUM, a, b, "maximum", function(x) return x <= 0 end) end

-- The smaller of each two elements, no entry counting as 0.
---@param b table|number|lgt_array matrix; a number from 0 up; an array, with which the result is one
---@return table|lgt_array matrix
function any.minimum(a, b) return extreme(MINIMUM, a, b, "minimum", function(x) return x >= 0 end) end

-- ---- elementwise products ---------------------------------------------------------------------------------

-- Arguments: where rows begin and end, what belongs to them; new values, values and columns of entries.
local TO_ENTRIES = "align(0.0,1.0,2.0) image_ranges(0,1:3.0,4.0,5.0)"

-- diag(left) A diag(right), of vectors.
local function scale_rows(a, left, right)
  local dtype = dtypes.promote(a.kind, dtypes.promote(core.dtype_of(left), core.dtype_of(right)))
  local work = sparse.working_type(dtype)
  local name, out = dtypes.name[work], vector(work, a.nnz)
  sparse.launch("csr_scale", "rrrwrrr", TO_ENTRIES .. " image_points(5:6.0)",
    { a.lo, a.hi, np.astype(left, name), out, sparse.values_in(a, work), a.crd, np.astype(right, name) })
  return sparse.with_values(a, dtype == work and out or np.astype(out, dtypes.name[dtype]))
end

local function ones(a, n) return np.ones(n, { dtype = a.dtype }) end

-- A times a dense array that has its shape, one row, or one column.
local function times_array(a, x)
  local shape = core.shape_of(x)
  if #shape == 1 then shape = { 1, shape[1] } end
  local c = a:tocsr()
  if shape[1] == 1 and shape[2] == a.n then return scale_rows(c, ones(c, a.m), np.ravel(x)) end
  if shape[1] == a.m and shape[2] == 1 then return scale_rows(c, np.ravel(x), ones(c, a.n)) end
  if shape[1] ~= a.m or shape[2] ~= a.n then
    raise("multiply: a sparse matrix of shape (%d, %d) and an array of shape %s: the same shape, one row or " ..
      "one column was expected", a.m, a.n, core.shape_text(shape))
  end
  local dtype = dtypes.promote(c.kind, core.dtype_of(x))
  local work = sparse.working_type(dtype)
  local out = vector(work, c.nnz)
  sparse.launch("csr_times", "rrrwrr", TO_ENTRIES,
    { c.lo, c.hi, np.astype(x, dtypes.name[work]), out, sparse.values_in(c, work), c.crd })
  return sparse.with_values(c, dtype == work and out or np.astype(out, dtypes.name[dtype]))
end

-- S times x y^T, element by element, of which only what S has entries for is computed.
---@param s table matrix [m, n]
---@param x lgt_array [m, k]
---@param y lgt_array [n, k]
---@return table matrix
function sparse.sp.sddmm(s, x, y, surplus)
  core.check_surplus(surplus, "sddmm")
  local c = sparse.take_matrix(s, "sddmm"):tocsr()
  for i, a in ipairs { x, y } do
    core.layout_of(a, "sddmm")
    local shape, wanted = core.shape_of(a), i == 1 and c.m or c.n
    if #shape ~= 2 or shape[1] ~= wanted or shape[2] ~= core.shape_of(x)[2] then
      raise("sddmm: for a matrix of shape (%d, %d) arrays of shapes (%d, k) and (%d, k) were expected, not %s", c.m,
        c.n, c.m, c.n, core.shape_text(shape))
    end
  end
  local dtype = dtypes.promote(c.kind, dtypes.promote(core.dtype_of(x), core.dtype_of(y)))
  local work = sparse.working_type(dtype)
  local name, out = dtypes.name[work], vector(work, c.nnz)
  sparse.launch("csr_sddmm", "rrrwrrr", TO_ENTRIES .. " image_points(5:6.0)",
    { c.lo, c.hi, np.astype(x, name), out, sparse.values_in(c, work), c.crd, np.astype(y, name) })
  return sparse.with_values(c, dtype == work and out or np.astype(out, dtypes.name[dtype]))
end

-- Element by element: A with a number, a sparse matrix, or an array of its shape, one row, or one column.
---@param b any
---@return table matrix
function any.multiply(a, b)
  if is_matrix(b) then
    local one = b.m == a.m and b.n == 1 and a.n ~= 1 or b.n == a.n and b.m == 1 and a.m ~= 1
    if one then return a:multiply(b:todense()) end
    return join(MULTIPLY, a, b, "multiply")
  end
  if type(b) == "table" then b = np.array(b) end
  if sparse.is_scalar(b) then
    if core.is_array(b) then b = np.reshape(b, {}) end
    return a:map(function(vals) return vals * b end)
  end
  core.layout_of(b, "multiply")
  return times_array(a, b):asformat(a.format == "csc" and "csc" or "csr")
end

function Matrix.__mul(a, b)
  if not is_matrix(a) then a, b = b, a end
  return a:multiply(b)
end

-- By a number, or element by element by an array of the same shape, one row or one column.
function Matrix.__div(a, b)
  if not is_matrix(a) then raise("/: a sparse matrix below a fraction: most of its elements are 0") end
  if is_matrix(b) then raise("/: by a sparse matrix, most of whose elements are 0") end
  if sparse.is_scalar(b) then
    if core.is_array(b) then b = np.reshape(b, {}) end
    return a:map(function(vals) return vals / b end)
  end
  core.layout_of(b, "/")
  return a:multiply(1 / b)
end

function Matrix.__unm(a) return a:map(np.negative) end
function Matrix.__pow(a, n) return a:power(n) end

-- What np's functions do with a sparse matrix beside an array, or alone (array/core.lua, core.foreign).
Matrix.of_arrays = {
  add = Matrix.__add, subtract = Matrix.__sub, multiply = Matrix.__mul, divide = Matrix.__div,
  dot = function(a, b)
    if is_matrix(a) then return a:dot(b) end
    if not core.is_array(a) or core.ndim_of(a) == 0 then return b:dot(a) end
    return core.ndim_of(a) == 1 and b.T:dot(a) or b.T:dot(a.T).T
  end,
}
for _, name in ipairs { "maximum", "minimum" } do
  Matrix.of_arrays[name] = function(a, b)
    if is_matrix(a) then return any[name](a, b) end
    return any[name](b, a)
  end
end
for _, name in ipairs { "sum", "mean", "max", "min" } do
  Matrix.of_arrays[name] = function(a, axis, options)
    core.check_options(options, { axis = true }, name)
    return a[name](a, axis)
  end
end
function Matrix.of_arrays.transpose(a, ...)
  local order = { ... }
  if type(order[1]) == "table" then order = order[1] end
  if #order > 0 and not (#order == 2 and order[1] == 2 and order[2] == 1) then
    raise("transpose: the axes of a sparse matrix are 2, 1, or none are given")
  end
  return a:transpose()
end
for _, name in ipairs(keep_zeros) do Matrix.of_arrays[name] = any[name] end
for _, name in ipairs { "conj", "negative", "real", "imag" } do Matrix.of_arrays[name] = any[name] end

-- ---- comparisons ------------------------------------------------------------------------------------------

local function all_true(vals) return np.ones(core.size_of(vals), { dtype = "bool" }) end

local turned = { eq = "eq", ne = "ne", lt = "gt", gt = "lt", le = "ge", ge = "le" } -- y beside x

-- Where elements compare so, as a boolean matrix.  The numbers with which zeros do make the result dense, and so does a
-- comparison that holds between zeros of two matrices: these raise.
---@param holds fun(x: any, y: any): boolean of numbers
---@param operation integer? of the entries of two matrices
local function comparison(name, of_arrays, holds, operation)
  any[name] = function(a, b)
    if core.is_array(b) and core.size_of(b) == 1 then b = core.read_item(b) end
    b = core.plain(b)
    if core.is_array(b) then return join_dense(a, b, np[of_arrays], name) end
    if sparse.is_scalar(b) then
      if operation ~= NOT_EQUAL and name ~= "eq" and (dtypes.category[a.kind] == 3 or type(b) ~= "number") then
        raise("%s: complex numbers have no order", name)
      end
      if holds(0, b) then
        raise("%s: it holds for each of the many zeros, so that the result would be dense: use A:todense():%s(%s)",
          name, name, tostring(b))
      end
      local c = canonical_as_it_lies(a)
      local rows = c.format == "csc" and c.t or c
      local found = sparse.keep_entries(rows, np[of_arrays](rows.vals, b)):map(all_true)
      return c.format == "csc" and sparse.csc(found) or found
    end
    sparse.take_matrix(b, name)
    if not operation then
      raise("%s: it holds wherever both matrices are 0, so that the result would be dense: use ne, lt, gt", name)
    end
    return join(operation, a, b, name):map(all_true)
  end
  Matrix.of_arrays[of_arrays] = function(a, b)
    if is_matrix(a) then return any[name](a, b) end
    return any[turned[name]](b, a)
  end
end
comparison("ne", "not_equal", function(x, y) return x ~= y end, NOT_EQUAL)
comparison("lt", "less", function(x, y) return x < y end, LESS)
comparison("gt", "greater", function(x, y) return x > y end, GREATER)
comparison("eq", "equal", function(x, y) return x == y end)
comparison("le", "less_equal", function(x, y) return x <= y end)
comparison("ge", "greater_equal", function(x, y) return x >= y end)

-- ---- sparse times sparse ----------------------------------------------------------------------------------

local SOME = 2 ^ 14 -- entries of a matrix that is worth a closer look
local ROOMY = 4 -- times as many entries as the factors have: so few terms are moved together, not counted
local MANY = 2 ^ 20 -- terms whose room is no small matter, if most of them meet others
local SAMPLE = 16 -- of so many rows one tells how many terms meet

-- Rows of A, and of B those that their columns name.
local ROWS_OF_ROWS = "image_ranges(1,2:3.0) image_points(3:4.0,5.0) image_ranges(4,5:6.0)"

-- On several domains, each of which has its rows of A and of the product, and gets the rows of B that they need.
local function product_of_rows_apart(a, b, va, vb, rows, dtype, work)
  sparse.launch_rows("csr_multiply_count", "wrrrrrr", 3, rows, { b.n }, ROWS_OF_ROWS)
  local pos, nnz = sparse.positions(rows[1], core.dtype_of(a.pos))
  local index = core.dtype_of(pos)
  a, b = with_index_type(a, index), with_index_type(b, index)
  local lo, hi = sparse.bounds(pos, a.m)
  local crd, vals = vector(index, nnz), vector(work, nnz)
  sparse.launch("csr_multiply_fill", "rrwwrrrrrrrr", "align(0.0,1.0,4.0,5.0) image_ranges(0,1:2.0,3.0) " ..
    "image_ranges(4,5:6.0,7.0) image_points(6:8.0,9.0) image_ranges(8,9:10.0,11.0)",
    { lo, hi, crd, vals, a.lo, a.hi, a.crd, va, b.lo, b.hi, b.crd, vb }, { b.n })
  if dtype ~= work then vals = np.astype(vals, dtypes.name[dtype]) end
  return sparse.csr(a.m, b.n, pos, crd, vals, { sorted = false, unique = true })
end

-- Where most rows follow the one before (csr_runs of ops/sparse/sparse.h), as inner rows of grids do, so do those of
-- the product, and are quickly counted.  Nil: not so.
local function product_of_runs(a, b, va, vb, rows, dtype, work)
  if a.nnz < SOME or not (sparse.mostly_follow(a) and sparse.mostly_follow(b)) then return nil end
  local run = vector(dtypes.UINT16, a.m)
  rows[8], rows[9], rows[10] = run, sparse.runs_of(a), sparse.runs_of(b)
  sparse.launch_whole("csr_multiply_count", "wrrrrrrwrr", rows, { b.n })
  local pos, nnz = sparse.positions(rows[1], core.dtype_of(a.pos))
  local index = core.dtype_of(pos)
  a, b = with_index_type(a, index), with_index_type(b, index)
  local crd, vals = vector(index, nnz), vector(work, nnz)
  sparse.launch_whole("csr_multiply_runs", "rrwwrrrrrrrr",
    { sparse.part(pos, 0, a.m), run, crd, vals, a.lo, a.hi, a.crd, va, b.lo, b.hi, b.crd, vb }, { b.n })
  if dtype ~= work then vals = np.astype(vals, dtypes.name[dtype]) end
  return sparse.csr(a.m, b.n, pos, crd, vals, { sorted = false, unique = true, runs = run })
end

-- Do terms of the product meet, so that a third of the room for all of them, or more, would stay empty?  Counts the
-- entries of some rows.  Waits.
local function terms_meet(a, b, rows)
  local some = math.ceil(a.m / SAMPLE)
  local function sampled(x) return np.copy(sparse.part(x, 0, some, SAMPLE)) end
  local terms, entries = sampled(rows[1]), vector(dtypes.INT64, some)
  local some_rows = { entries, sampled(a.lo), sampled(a.hi), a.crd, b.lo, b.hi, b.crd }
  sparse.launch_rows("csr_multiply_count", "wrrrrrr", 3, some_rows, { b.n }, ROWS_OF_ROWS)
  return 2 * core.read_item(np.sum(terms)) >= 3 * core.read_item(np.sum(entries))
end

local function product_of_rows(a, b)
  local va, vb, dtype, work
  a, b, va, vb, dtype, work = prepare(a, b, 0)
  local count = vector(dtypes.INT64, a.m)
  local rows = { count, a.lo, a.hi, a.crd, b.lo, b.hi, b.crd }
  if sparse.has_domains() then return product_of_rows_apart(a, b, va, vb, rows, dtype, work) end
  local result = product_of_runs(a, b, va, vb, rows, dtype, work)
  if result then return result end
  sparse.launch_rows("csr_multiply_terms", "wrrrrrr", 3, rows, nil, "image_ranges(1,2:3.0) image_points(3:4.0,5.0)")
  local terms = a.m > 0 and tonumber(core.read_item(np.sum(count))) or 0
  if terms > ROOMY * (a.nnz + b.nnz) or terms >= MANY and terms_meet(a, b, rows) then
    sparse.launch_rows("csr_multiply_count", "wrrrrrr", 3, rows, { b.n }, ROWS_OF_ROWS)
  end
  local first, room = sparse.positions(count, core.dtype_of(a.pos))
  local index = core.dtype_of(first)
  a, b = with_index_type(a, index), with_index_type(b, index)
  local lo, crd, vals = sparse.part(first, 0, a.m), vector(index, room), vector(work, room)
  sparse.launch_whole("csr_multiply", "mwwwrrrrrrrr",
    { lo, count, crd, vals, a.lo, a.hi, a.crd, va, b.lo, b.hi, b.crd, vb }, { b.n, b.sorted and 1 or 0 })
  return tighten(a.m, b.n, lo, count, crd, vals, dtype, false)
end

-- The product of two sparse matrices.  Its rows are not sorted until that matters; terms that cancel stay as zeros, so
-- that where entries are does not depend on values (SciPy drops such zeros).
function sparse.times_sparse(a, b)
  if a.n ~= b.m then
    raise("dot: shapes (%d, %d) and (%d, %d): the first has %d columns, so the second must have %d rows", a.m, a.n, b.m,
      b.n, a.n, a.n)
  end
  if a.format == "csc" and b.format == "csc" then return sparse.csc(product_of_rows(b.t, a.t)) end
  local result = product_of_rows(a:tocsr(), b:tocsr())
  return a.format == "csc" and result:tocsc() or result
end

return true
