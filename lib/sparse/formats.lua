-- sparse/formats.lua - matrices by columns, as triplets and by diagonals; conversions; matrices from their arrays.

local sparse = require "sparse.core"
local rows_of_triplets = require "sparse.triplets"

local np, core, dtypes, raise = sparse.np, sparse.array, sparse.dtypes, sparse.raise
local sp, methods, getters = sparse.sp, sparse.methods, sparse.getters
local any = methods.any
local vector, lgt = sparse.vector, sparse.lgt

-- ---- by columns -----------------------------------------------------------------------------------------

-- The row of each entry.
local function row_of_entries(a) return sparse.rows_at(a.pos, a.nnz) end
sparse.row_of_entries = row_of_entries

-- The transposed matrix by rows; each remembers the other.
local function transpose(a)
  if a.transposed then return a.transposed end
  local result = rows_of_triplets(a.n, a.m, a.crd, nil, a.pos, a.vals, { sorted = true, unique = a.unique })
  if not a.exposed then sparse.remember(result, "transposed", a) end
  return sparse.remember(a, "transposed", result)
end

getters.csc.nnz = function(a) return a.t.nnz end
getters.csc.data = function(a) return a.t.data end
getters.csc.indices = function(a) return a.t.indices end
getters.csc.indptr = function(a) return a.t.indptr end
getters.csc.has_sorted_indices = function(a) return a.t.has_sorted_indices end
getters.csc.has_canonical_format = function(a) return a.t.has_canonical_format end
function methods.csc.sum_duplicates(a) return sparse.csc(a.t:sum_duplicates()) end
function methods.csc.sorted_indices(a) return sparse.csc(a.t:sorted_indices()) end

function methods.csr.tocsc(a) return sparse.csc(transpose(a)) end
function methods.csc.tocsr(a) return transpose(a.t) end
function methods.csc.tocsc(a) return a end

-- The transposed matrix, in the format whose arrays are the same.
---@return table matrix
function methods.csr.transpose(a) return sparse.csc(a) end
function methods.csc.transpose(a) return a.t end
function any.transpose(a) return a:tocsr():transpose() end
getters.any.T = function(a) return a:transpose() end
getters.any.H = function(a) return a:transpose():conj() end
function any.getH(a) return a.H end

-- ---- triplets -------------------------------------------------------------------------------------------

-- From positions that count from 0, of the right type.
local function coo(m, n, rows, cols, vals)
  return sparse.new("coo", m, n, core.dtype_of(vals), { rows = rows, cols = cols, vals = vals })
end
sparse.coo = coo

getters.coo.nnz = function(a) return core.size_of(a.vals) end
getters.coo.data = function(a) return sparse.expose(a, "vals") end
getters.coo.row = function(a) return a.rows + 1 end
getters.coo.col = function(a) return a.cols + 1 end

function methods.csr.tocoo(a) return coo(a.m, a.n, row_of_entries(a), a.crd, a.vals) end
function methods.csc.tocoo(a) return coo(a.m, a.n, a.t.crd, row_of_entries(a.t), a.t.vals) end
function methods.coo.tocoo(a) return a end
function any.tocoo(a) return a:tocsr():tocoo() end

-- Duplicates are summed, as in SciPy.
function methods.coo.tocsr(a)
  if a.by_rows then return a.by_rows end
  local rows = rows_of_triplets(a.m, a.n, a.rows, a.cols, nil, a.vals, nil, true)
  return sparse.remember(a, "by_rows", sparse.canonical(rows))
end
function methods.coo.tocsc(a) return sparse.csc(a:transpose():tocsr()) end
function methods.coo.transpose(a) return coo(a.n, a.m, a.cols, a.rows, a.vals) end

-- ---- diagonals ------------------------------------------------------------------------------------------

-- `diagonals` has a row for each of the offsets; element j of a row belongs to column j.
local function dia(m, n, offsets, diagonals)
  return sparse.new("dia", m, n, core.dtype_of(diagonals), { offs = offsets, diagonals = diagonals })
end
sparse.dia = dia

-- How many elements of a diagonal lie in the matrix.
local function diagonal_length(m, n, k) return math.max(0, math.min(m + math.min(k, 0), n - math.max(k, 0))) end
sparse.diagonal_length = diagonal_length

getters.dia.nnz = function(a)
  local count, width = 0, core.shape_of(a.diagonals)[2]
  for _, k in ipairs(a.offs) do count = count + diagonal_length(a.m, math.min(a.n, width), k) end
  return count
end
getters.dia.data = function(a) return sparse.expose(a, "diagonals") end
getters.dia.offsets = function(a) return np.array(a.offs, { dtype = "int32" }) end
function methods.dia.todia(a) return a end

-- The same with element i of a diagonal in row i: so a domain has what its rows need.
local function diagonals_by_rows(m, n, data, offsets)
  local result, width = np.zeros(#offsets, m, { dtype = dtypes.name[core.dtype_of(data)] }), core.shape_of(data)[2]
  for i, k in ipairs(offsets) do
    local first, past = math.max(0, -k), math.min(m, math.min(n, width) - k)
    if first < past then result[{ i, { first + 1, past } }] = data[{ i, { first + k + 1, past + k } }] end
  end
  return result
end

-- Zeros on the diagonals are no entries of the result, as in SciPy.
function methods.dia.tocsr(a)
  if a.by_rows then return a.by_rows end
  local order, sorted = {}, {}
  for i = 1, #a.offs do order[i] = i end
  table.sort(order, function(i, j) return a.offs[i] < a.offs[j] end)
  local ascends = true
  for i, j in ipairs(order) do
    sorted[i], ascends = a.offs[j], ascends and i == j
  end
  if #order == 0 then return sp.csr_matrix({ a.m, a.n }, { dtype = a.dtype }) end
  local data = ascends and a.diagonals or np.take(a.diagonals, order, 1)
  local by_rows = sparse.has_domains()
  if by_rows then data = diagonals_by_rows(a.m, a.n, data, sorted) end
  local alike, numbers = by_rows and ",%d.1" or "", { by_rows and 1 or 0 }
  local keep, offsets = np.not_equal(data, 0), np.array(sorted, { dtype = "int64" })
  local count = vector(dtypes.INT64, a.m)
  sparse.launch("dia_count", "wrr", ("align(0.0%s)"):format(alike:format(1)), { count, keep, offsets }, numbers)
  local pos, nnz = sparse.positions(count, sparse.index_type(a.m, a.n))
  local crd, vals = vector(core.dtype_of(pos), nnz), vector(a.kind, nnz)
  local lo, hi = sparse.bounds(pos, a.m)
  sparse.launch("dia_tocsr", "rrrrwwr", ("align(0.0,1.0%s%s) image_ranges(0,1:4.0,5.0)"):format(alike:format(2),
    alike:format(3)), { lo, hi, keep, data, crd, vals, offsets }, numbers)
  return sparse.remember(a, "by_rows", sparse.csr(a.m, a.n, pos, crd, vals, { sorted = true, unique = true }))
end

local MOST_DIAGONALS = 1000 -- that todia makes without being told that it is meant so

-- Which diagonals have entries, ascending: each domain lists those of its rows, if they are not more.  Waits.
local function offsets_of(a)
  local domains = lgt.C.lgt_domains(lgt.rt)
  local lists = a.m >= domains * domains and domains or 1
  local found = lgt.new(lgt.dense(dtypes.INT64, { lists, MOST_DIAGONALS }))
  local count = vector(dtypes.INT64, lists)
  sparse.launch("csr_offsets", "wwrrr", "align(0.0,1.0,2.0,3.0) scale(2.0) scale(3.0) image_ranges(2,3:4.0)",
    { found, count, a.lo, a.hi, a.crd }, { a.m, a.n, math.ceil(a.m / lists) })
  local counts, offsets, seen = count:totable(), {}, {}
  local longest = 0
  for i = 1, lists do longest = math.max(longest, tonumber(counts[i])) end
  local function refuse(n, or_more)
    raise("todia: the entries lie on %d diagonals%s, and at most %d are stored in full: keep the matrix as csr", n,
      or_more and lists > 1 and " or more" or "", MOST_DIAGONALS)
  end
  if longest > MOST_DIAGONALS then refuse(longest, true) end
  local all = found[{ {}, { 1, longest } }]:totable()
  for i = 1, lists do
    for k = 1, tonumber(counts[i]) do
      local offset = tonumber(all[i][k])
      if not seen[offset] then offsets[#offsets + 1], seen[offset] = offset, true end
    end
  end
  if #offsets > MOST_DIAGONALS then refuse(#offsets) end
  table.sort(offsets)
  return offsets
end

function any.todia(a)
  local c = sparse.canonical(a:tocsr())
  if c.nnz == 0 then return dia(a.m, a.n, {}, np.zeros(0, a.n, { dtype = a.dtype })) end
  local offsets = offsets_of(c)
  local diagonals, t = lgt.new(lgt.dense(a.kind, { #offsets, a.n })), transpose(c)
  sparse.launch("csr_todia", "rrwrrr", "align(0.0,1.0,2.1) image_ranges(0,1:3.0,4.0)",
    { t.lo, t.hi, diagonals, t.crd, t.vals, np.array(offsets, { dtype = "int64" }) })
  return dia(a.m, a.n, offsets, diagonals)
end

-- ---- between all of them --------------------------------------------------------------------------------

function any.tocsc(a) return a:tocsr():tocsc() end

-- As a new matrix, in which no place has two entries: of triplets these are added.
---@return table matrix
function any.sum_duplicates(a) return a:tocsr():sum_duplicates():asformat(a.format) end

-- The matrix in a format, named as in SciPy: "csr", "csc", "coo", "dia", "bsr", and "ell".
---@param format string? nil: as it is
---@return table matrix
function any.asformat(a, format)
  if format == nil then return a end
  local convert = type(format) == "string" and methods.any["to" .. format] or methods.csr["to" .. tostring(format)]
  if not convert or not methods[format] then
    raise("asformat: the formats are \"csr\", \"csc\", \"coo\", \"dia\", \"bsr\" and \"ell\", not %s",
      core.describe(format))
  end
  return a["to" .. format](a)
end

-- ---- matrices from their arrays -------------------------------------------------------------------------

local known = { shape = true, dtype = true, base = "base" }

local function take_options(options, who)
  options = core.check_options(options, known, who)
  return options, options.base or 1, options.dtype and core.check_dtype(options.dtype, who)
end

-- A copy: what was computed from the matrix must not depend on what becomes of the array that was given.
local function take_values(data, dtype, who)
  if type(data) == "table" then return np.array(data, dtype and { dtype = dtypes.name[dtype] }) end
  core.layout_of(data, who)
  if core.ndim_of(data) ~= 1 then raise("%s: the values are a vector, not %s", who, sparse.describe(data)) end
  return (dtype and dtype ~= core.dtype_of(data)) and np.astype(data, dtypes.name[dtype]) or np.copy(data)
end

local function extent_of(x, base) -- that positions need
  x = core.is_array(x) and x or np.array(x, { dtype = "int64" })
  if core.size_of(x) == 0 then return 0 end
  return tonumber(core.read_item(np.max(x))) + 1 - base
end

-- {data, {row, column}}
local function from_triplets(arg, options, who)
  local base, dtype, m, n
  options, base, dtype = take_options(options, who)
  local vals, pair = take_values(arg[1], dtype, who), arg[2]
  if type(pair) ~= "table" or #pair ~= 2 then raise("%s: {values, {rows, columns}} was expected", who) end
  if options.shape then m, n = sparse.take_extents(options.shape, who)
  else m, n = extent_of(pair[1], base), extent_of(pair[2], base) end
  local index = sparse.index_type(m, n, core.size_of(vals))
  local rows = sparse.take_positions(pair[1], m, index, base, who, "row")
  local cols = sparse.take_positions(pair[2], n, index, base, who, "column")
  if core.size_of(rows) ~= core.size_of(vals) or core.size_of(cols) ~= core.size_of(vals) then
    raise("%s: %d values, %d row positions and %d column positions: as many of each were expected", who,
      core.size_of(vals), core.size_of(rows), core.size_of(cols))
  end
  return coo(m, n, rows, cols, vals)
end

-- {data, indices, indptr} of a matrix by rows; `transposed`: the shape is that of a matrix by columns.
local function from_rows(arg, options, who, transposed)
  local base, dtype, m, n
  options, base, dtype = take_options(options, who)
  local vals = take_values(arg[1], dtype, who)
  local pos = arg[3]
  if type(pos) == "table" then pos = np.array(pos, { dtype = "int64" }) end
  local count = core.size_of(pos) - 1
  if options.shape then
    m, n = sparse.take_extents(options.shape, who)
    if transposed then m, n = n, m end
  else
    m, n = count, extent_of(arg[2], base)
  end
  local nnz = core.size_of(vals)
  if count ~= m then raise("%s: indptr has %d positions; %d rows or columns need %d", who, count + 1, m, m + 1) end
  local index = sparse.index_type(m, n, nnz)
  pos = sparse.take_positions(pos, nnz + 1, index, base, who, "indptr")
  local crd = sparse.take_positions(arg[2], n, index, base, who, transposed and "row" or "column")
  if core.size_of(crd) ~= nnz then
    raise("%s: %d values and %d indices: as many were expected", who, nnz, core.size_of(crd))
  end
  local descends = np.any(np.less(sparse.part(pos, 1, m), sparse.part(pos, 0, m)))
  if descends or core.element(pos, 0) ~= 0 or core.element(pos, m) ~= nnz then
    raise("%s: indptr must ascend from %d to %d, one beyond the last of %d entries", who, base, nnz + base, nnz)
  end
  return sparse.csr(m, n, pos, crd, vals)
end

local function is_list(x) return type(x) == "table" or core.is_array(x) and core.ndim_of(x) > 0 end

-- What the first argument of a constructor is.
local function kind_of(arg, options)
  if type(arg) ~= "table" then return "dense" end
  if #arg == 2 and core.is_integer(core.plain(arg[1])) then return "empty" end
  if #arg == 2 and is_list(arg[1]) and type(arg[2]) == "table" and is_list(arg[2][1]) then return "triplets" end
  local three = #arg == 3 and is_list(arg[1]) and is_list(arg[2]) and is_list(arg[3])
  if three and (core.is_array(arg[1]) or type(options) == "table" and options.shape) then return "rows" end
  return "dense"
end

local function empty(m, n, dtype)
  local index = { dtype = dtypes.name[sparse.index_type(m, n)] }
  return sparse.csr(m, n, np.zeros(m + 1, index), np.zeros(0, index),
    np.zeros(0, { dtype = dtypes.name[dtype or dtypes.FLOAT64] }), { sorted = true, unique = true })
end
sparse.empty = empty

-- What a constructor was given, as a matrix of any format.
local function build(format, arg, options)
  local who = format .. "_matrix"
  local _, _, dtype = take_options(options, who)
  if sparse.is_matrix(arg) then
    return dtype and dtype ~= arg.kind and arg:astype(dtypes.name[dtype]) or arg
  end
  local kind = kind_of(arg, options)
  if kind == "triplets" then return from_triplets(arg, options, who) end
  if kind == "rows" and format == "csc" then return sparse.csc(from_rows(arg, options, who, true)) end
  if kind == "rows" then return from_rows(arg, options, who) end
  if kind == "empty" then
    local m, n = sparse.take_extents(arg, who)
    return empty(m, n, dtype)
  end
  if type(arg) == "table" then arg = np.array(arg) end
  core.layout_of(arg, who)
  if core.ndim_of(arg) == 1 then arg = sparse.as_row(arg) end
  if core.ndim_of(arg) ~= 2 then raise("%s: a matrix was expected, not %s", who, sparse.describe(arg)) end
  return sparse.from_dense(dtype and np.astype(arg, dtypes.name[dtype]) or arg)
end

sparse.build = build

-- A matrix by rows.  From a dense matrix (an array, or nested tables), another sparse matrix, {m, n} (empty), {values,
-- {rows, columns}} (triplets; duplicates are summed), {values, indices, indptr} (columns, and where each row begins
-- and the last one ends; values are an array unless the options have a shape).  Positions count from 1, or from
-- options.base.
---@param arg any
---@param options {shape: integer[]?, dtype: string?, base: integer?}? without a shape: as large as the positions ask
---  for; without a dtype: that of the values
---@return table matrix
function sp.csr_matrix(arg, options) return build("csr", arg, options):tocsr() end

-- A matrix by columns, from what csr_matrix takes; of {values, indices, indptr} indices are rows, and indptr says where
-- each column begins.
---@param arg any
---@param options {shape: integer[]?, dtype: string?, base: integer?}?
---@return table matrix
function sp.csc_matrix(arg, options) return build("csc", arg, options):tocsc() end

-- A matrix as triplets, from what csr_matrix takes.  Duplicates stay until it is converted.
---@param arg any
---@param options {shape: integer[]?, dtype: string?, base: integer?}?
---@return table matrix
function sp.coo_matrix(arg, options) return build("coo", arg, options):tocoo() end

-- A matrix by diagonals, from {diagonals, offsets}, or from what csr_matrix takes.  Row i of the array of diagonals
-- [d, n] lies at offset i (0: the main diagonal, above it k > 0), and its element j belongs to column j.
---@param arg any
---@param options {shape: integer[]?, dtype: string?, base: integer?}? {diagonals, offsets} need a shape; without a
---  dtype: that of the diagonals
---@return table matrix
function sp.dia_matrix(arg, options)
  local first, second = nil, nil
  if type(arg) == "table" and #arg == 2 then first, second = arg[1], core.plain(arg[2]) end
  local by_offsets = (core.is_array(first) or is_list(first) and is_list(first[1])) and
    (type(second) == "number" or core.is_array(second) or type(second) == "table" and not is_list(second[1]))
  if not by_offsets or sparse.is_matrix(arg) then return build("dia", arg, options):todia() end
  local _, _, dtype = take_options(options, "dia_matrix")
  if not options or not options.shape then raise("dia_matrix: the shape is missing: {shape = {m, n}}") end
  local m, n = sparse.take_extents(options.shape, "dia_matrix")
  local diagonals, offsets = np.asarray(arg[1]), sparse.take_offsets(arg[2], "dia_matrix")
  if core.ndim_of(diagonals) == 1 then diagonals = sparse.as_row(diagonals) end
  if core.ndim_of(diagonals) ~= 2 or core.shape_of(diagonals)[1] ~= #offsets then
    raise("dia_matrix: %d offsets and diagonals of shape %s: a row for each offset was expected", #offsets,
      core.shape_text(core.shape_of(diagonals)))
  end
  return dia(m, n, offsets, dtype and np.astype(diagonals, dtypes.name[dtype]) or np.copy(diagonals))
end

-- Offsets as a table of integers, each once.
function sparse.take_offsets(x, who)
  local list, seen = core.as_list(core.is_array(x) and np.ravel(x) or x), {}
  if not list then raise("%s: offsets of diagonals are integers, not %s", who, sparse.describe(x)) end
  for i = 1, table.maxn(list) do
    local k = list[i]
    if not core.is_integer(k) then
      raise("%s: offsets of diagonals are integers, not %s", who, sparse.describe(k))
    end
    if seen[k] then raise("%s: offset %d is given twice", who, k) end
    seen[k] = true
  end
  return list
end

sp.csr_array, sp.csc_array, sp.coo_array, sp.dia_array = sp.csr_matrix, sp.csc_matrix, sp.coo_matrix, sp.dia_matrix

-- Is this a sparse matrix, of any format?
---@param x any
---@return boolean
function sp.issparse(x) return sparse.is_matrix(x) end
sp.isspmatrix = sp.issparse

-- Is this a sparse matrix of the format that the name says?
---@param x any
---@return boolean
for _, format in ipairs { "csr", "csc", "coo", "dia", "bsr", "ell" } do
  sp["isspmatrix_" .. format] = function(x) return sparse.is_matrix(x) and x.format == format end
end

return true
