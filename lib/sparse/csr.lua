-- sparse/csr.lua - matrices by rows: products, order, conversions to what is dense.

local sparse = require "sparse.core"

local np, core, dtypes, raise = sparse.np, sparse.array, sparse.dtypes, sparse.raise
local methods, getters = sparse.methods.csr, sparse.getters.csr
local any = sparse.methods.any
local vector = sparse.vector

-- ---- what a user sees of the arrays ---------------------------------------------------------------------

getters.nnz = function(a) return core.size_of(a.crd) end
getters.data = function(a) return sparse.expose(a, "vals") end
getters.indices = function(a) return a.crd + 1 end
getters.indptr = function(a) return a.pos + 1 end

-- The values in another dtype, remembered: a matrix is used many times.
local function values_in(a, dtype)
  if a.kind == dtype then return a.vals end
  local casts = a.casts or sparse.remember(a, "casts", {})
  if not casts[dtype] then casts[dtype] = np.astype(a.vals, dtypes.name[dtype]) end
  return casts[dtype]
end
sparse.values_in = values_in

-- A matrix with the same places and other values.
function sparse.with_values(a, vals)
  return sparse.csr(a.m, a.n, a.pos, a.crd, vals, a)
end

-- ---- order ------------------------------------------------------------------------------------------------------

-- Are columns sorted in each row, and none there twice?  Waits, once.  (Of rows that are not sorted the second is known
-- only where it was told.)
local function look_at_order(a)
  if a.sorted ~= nil and (a.unique ~= nil or not a.sorted) then return end
  local least = 2
  if a.m > 0 and a.nnz > 0 then
    local order = vector(dtypes.INT64, a.m)
    sparse.launch_rows("csr_order", "wrrr", 3, { order, a.lo, a.hi, a.crd }, nil, "image_ranges(1,2:3.0)")
    least = tonumber(core.read_item(np.min(order)))
  end
  rawset(a, "sorted", least > 0)
  if least ~= 0 then rawset(a, "unique", least > 1) end
end

local function sorted(a)
  look_at_order(a)
  if a.sorted then return a end
  local crd, vals = vector(core.dtype_of(a.crd), a.nnz), vector(a.kind, a.nnz)
  sparse.launch("csr_sort", "rrwwrr", "align(0.0,1.0) image_ranges(0,1:2.0,3.0,4.0,5.0)",
    { a.lo, a.hi, crd, vals, a.crd, a.vals })
  return sparse.csr(a.m, a.n, a.pos, crd, vals, { sorted = true, unique = a.unique })
end
sparse.sorted = sorted

-- The same matrix with sorted rows in which no column is twice.  Waits, once.
local function canonical(a)
  if a.sorted and a.unique then return a end
  if a.canon then return a.canon end
  local s = sorted(a)
  look_at_order(s)
  local result = s
  if not s.unique then
    local work = sparse.working_type(s.kind)
    local count = vector(dtypes.INT64, s.m)
    sparse.launch_rows("csr_unique", "wrrr", 3, { count, s.lo, s.hi, s.crd }, nil, "image_ranges(1,2:3.0)")
    local pos, nnz = sparse.positions(count, core.dtype_of(s.pos))
    local crd, vals = vector(core.dtype_of(pos), nnz), vector(work, nnz)
    local lo, hi = sparse.bounds(pos, s.m)
    sparse.launch("csr_sum_duplicates", "rrrrwwrr", sparse.FROM_ROWS,
      { lo, hi, s.lo, s.hi, crd, vals, s.crd, values_in(s, work) })
    result = sparse.csr(s.m, s.n, pos, crd, work == s.kind and vals or np.astype(vals, dtypes.name[s.kind]),
      { sorted = true, unique = true })
  end
  if rawequal(result, a) then return a end
  return sparse.remember(a, "canon", result)
end
sparse.canonical = canonical

getters.has_sorted_indices = function(a)
  look_at_order(a)
  return a.sorted
end
getters.has_canonical_format = function(a)
  look_at_order(a)
  return a.sorted and a.unique
end
-- As a new matrix (SciPy's sum_duplicates and sort_indices change the one they are called on).
---@return table matrix
function methods.sum_duplicates(a) return canonical(a) end
---@return table matrix
function methods.sorted_indices(a) return sorted(a) end

-- ---- products -------------------------------------------------------------------------------------------

local function check_inner(a, extent, shape)
  if extent ~= a.n then
    raise("dot: shapes (%d, %d) and %s: the first has %d columns, so the second must have %d rows", a.m, a.n,
      core.shape_text(shape), a.n, a.n)
  end
end

-- A dense vector or matrix to multiply: of the type to calculate with, its shape, the dtype of the product, that type.
function sparse.take_dense(a, x)
  if type(x) == "table" then x = np.array(x) end
  core.layout_of(x, "dot")
  local shape = core.shape_of(x)
  if #shape ~= 1 and #shape ~= 2 then raise("dot: a vector or a matrix was expected, not %s", sparse.describe(x)) end
  check_inner(a, shape[1], shape)
  local dtype = dtypes.promote(a.kind, core.dtype_of(x))
  local work = sparse.working_type(dtype)
  return core.dtype_of(x) == work and x or np.astype(x, dtypes.name[work]), shape, dtype, work
end

-- Of each row, how many of those behind it have its columns, moved on by one step from row to row (csr_runs of
-- ops/sparse/sparse.c): found out once, for products, which need not read these.
local function runs_of(a)
  if not a.runs then
    local runs = vector(dtypes.UINT16, a.m)
    sparse.launch_rows("csr_runs", "wrrr", 3, { runs, a.lo, a.hi, a.crd }, nil, "image_ranges(1,2:3.0)")
    rawset(a, "runs", runs)
  end
  return a.runs
end

sparse.runs_of = runs_of

local STEPS = 2 ^ 14 -- other runs than those by one column, from here on (ops/sparse/sparse.h)

-- Do most rows follow the one before them, by one column?  Waits, once.
function sparse.mostly_follow(a)
  if a.follows == nil then
    local runs = runs_of(a)
    local count = a.m > 0 and np.count_nonzero(np.logical_and(np.greater(runs, 0), np.less(runs, STEPS))) or 0
    rawset(a, "follows", 2 * count > a.m)
  end
  return a.follows
end

local OF_ENTRIES = " image_ranges(1,2:3.0,4.0) image_points(3:5.0)"

local function times_dense(a, x)
  local shape, dtype, work
  x, shape, dtype, work = sparse.take_dense(a, x)
  local y = core.lgt.new(core.lgt.dense(work, { a.m, shape[2] }))
  local vals = values_in(a, work)
  if shape[2] then
    sparse.launch("csr_dot", "wrrrrr", "align(0.0,1.0,2.0)" .. OF_ENTRIES, { y, a.lo, a.hi, a.crd, vals, x })
  else
    sparse.launch("csr_dot", "wrrrrrr", "align(0.0,1.0,2.0,6.0) by_rows" .. OF_ENTRIES,
      { y, a.lo, a.hi, a.crd, vals, x, runs_of(a) })
  end
  return dtype == work and y or np.astype(y, dtypes.name[dtype])
end
sparse.times_dense = times_dense

-- A times x: a number, a dense vector or matrix, another sparse matrix.
---@param x number|lgt_array|table
---@return lgt_array|table
function any.dot(a, x)
  if sparse.is_matrix(x) then return sparse.times_sparse(a, x) end
  if sparse.is_scalar(x) and not (core.is_array(x) and core.ndim_of(x) > 0) then return a * x end
  return times_dense(a:tocsr(), x)
end
any.matmul = any.dot

-- ---- dense ----------------------------------------------------------------------------------------------

-- The matrix as an array.
---@return lgt_array
function methods.todense(a)
  local work = sparse.working_type(a.kind)
  local y = np.zeros(a.m, a.n, { dtype = dtypes.name[work] })
  sparse.launch_rows("csr_todense", "mrrrr", 3, { y, a.lo, a.hi, a.crd, values_in(a, work) }, nil,
    "image_ranges(1,2:3.0,4.0)")
  return work == a.kind and y or np.astype(y, dtypes.name[a.kind])
end
function any.todense(a) return a:tocsr():todense() end
function any.toarray(a) return a:todense() end
methods.toarray = methods.todense

function sparse.from_dense(x)
  local m, n = x:dims()
  local keep = np.not_equal(x, 0)
  local count = m > 0 and n > 0 and np.count_nonzero(keep, 2) or np.zeros(m, { dtype = "int64" })
  local pos, nnz = sparse.positions(count, sparse.index_type(m, n))
  local crd, vals = vector(core.dtype_of(pos), nnz), vector(core.dtype_of(x), nnz)
  local lo, hi = sparse.bounds(pos, m)
  sparse.launch("dense_tocsr", "rrrrww", "align(0.0,1.0,2.0,3.0) image_ranges(0,1:4.0,5.0)",
    { lo, hi, keep, x, crd, vals })
  return sparse.csr(m, n, pos, crd, vals, { sorted = true, unique = true })
end

function methods.tocsr(a) return a end

return true
