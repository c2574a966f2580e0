-- sparse/construct.lua - matrices from diagonals, at random, and from other matrices.

local sparse = require "sparse.core"

local np, core, dtypes, raise = sparse.np, sparse.array, sparse.dtypes, sparse.raise
local sp = sparse.sp

local diags_options = { shape = true, format = true, dtype = true }

local function diagonal_as_array(d)
  if type(d) == "number" then return np.full(1, d) end
  if sparse.is_scalar(d) then return np.ravel(np.asarray(d)) end
  if type(d) == "table" then return np.array(d) end
  core.layout_of(d, "diags")
  return np.ravel(d)
end

-- A matrix with these diagonals: arrays, tables, or numbers for constant ones.
---@param diagonals table|lgt_array|number one for each offset
---@param offsets integer|integer[]? 0: the main diagonal; above it k > 0
---@param options {shape: integer[]?, format: string?, dtype: string?}? without a shape: square, as the first fits
---@return table matrix of format "dia" if there is none in the options
function sp.diags(diagonals, offsets, options)
  options = core.check_options(options, diags_options, "diags")
  offsets = core.plain(offsets) or 0
  local single = type(offsets) == "number" and not (type(diagonals) == "table" and type(diagonals[1]) ~= "number")
  if single or core.is_array(diagonals) or type(diagonals) == "number" then diagonals = { diagonals } end
  offsets = sparse.take_offsets(offsets, "diags")
  if type(diagonals) ~= "table" then
    raise("diags: a table of diagonals was expected, not %s", (sparse.describe(diagonals)))
  end
  if #diagonals ~= #offsets then raise("diags: %d diagonals and %d offsets", #diagonals, #offsets) end
  local list, kind, m, n = {}, nil, nil, nil
  for i, d in ipairs(diagonals) do
    list[i] = diagonal_as_array(d)
    local dtype = core.dtype_of(list[i])
    kind = kind and dtypes.promote(kind, dtype) or dtype
  end
  if options.dtype then kind = core.check_dtype(options.dtype, "diags") end
  if options.shape then m, n = sparse.take_extents(options.shape, "diags")
  elseif #list > 0 then
    m = core.size_of(list[1]) + math.abs(offsets[1])
    n = m
  else raise("diags: without diagonals there must be a shape") end
  local data = np.zeros(#list, n, { dtype = dtypes.name[kind or dtypes.FLOAT64] })
  for i, d in ipairs(list) do
    local k, size = offsets[i], core.size_of(d)
    local length = sparse.diagonal_length(m, n, k)
    if size ~= length and size ~= 1 or k <= -m or k >= n then
      raise("diags: diagonal %d, at offset %d, has %d elements; in a matrix of shape (%d, %d) it has %d", i, k, size,
        m, n, length)
    end
    local first = math.max(k, 0)
    data[{ i, { first + 1, first + length } }] = np.astype(d, dtypes.name[kind])
  end
  return sparse.dia(m, n, offsets, data):asformat(options.format)
end

-- A matrix from the rows of `data`, whose element j belongs to column j.
---@param data lgt_array [d, n]
---@param offsets integer|integer[] of each row
---@param m integer? as many as data has columns
---@param n integer?
---@param format string? "dia"
---@return table matrix [m, n] of data's dtype
function sp.spdiags(data, offsets, m, n, format, surplus)
  core.check_surplus(surplus, "spdiags")
  if type(m) == "table" then m, n, format = m[1], m[2], n end
  data = np.asarray(data)
  if m == nil and n == nil then
    m = core.shape_of(data)[core.ndim_of(data)]
    n = m
  end
  return sp.dia_matrix({ data, offsets }, { shape = { m, n } }):asformat(format)
end

local eye_options = { dtype = true, format = true }

-- Ones on diagonal k of a matrix of m rows and n (m) columns.
---@param m integer
---@param n integer?
---@param k integer? 0: the main diagonal; above it k > 0
---@param options {dtype: string?, format: string?}? float64 without a dtype
---@return table matrix [m, n] of format "dia" if there is none in the options
function sp.eye(m, n, k, options)
  if type(n) == "table" then n, options = nil, n end
  if type(k) == "table" then k, options = nil, k end
  options = core.check_options(options, eye_options, "eye")
  m, n = sparse.take_extents({ m, n or m }, "eye")
  k = core.plain(k)
  if k ~= nil and not core.is_integer(k) then
    raise("eye: k is the offset of a diagonal, not %s", sparse.describe(k))
  end
  local dtype = dtypes.name[options.dtype and core.check_dtype(options.dtype, "eye") or dtypes.FLOAT64]
  return sparse.dia(m, n, { k or 0 }, np.ones(1, n, { dtype = dtype })):asformat(options.format)
end

-- The identity of n rows and columns.
---@param n integer
---@param options {dtype: string?, format: string?}? as of eye
---@return table matrix [n, n]
function sp.identity(n, options) return sp.eye(n, n, 0, options) end

-- ---- from other matrices ---------------------------------------------------------------------------------------

local function matrix_of(x, who)
  if sparse.is_matrix(x) then return x end
  if type(x) == "table" or core.is_array(x) then return sp.csr_matrix(x) end
  raise("%s: a matrix was expected, not %s", who, sparse.describe(x))
end

-- The Kronecker product: each element of A times all of B.
---@param a table|lgt_array matrix [m, n]
---@param b table|lgt_array matrix [p, q]
---@param format string? "coo"
---@return table matrix [m p, n q]
function sp.kron(a, b, format, surplus)
  core.check_surplus(surplus, "kron")
  a, b = matrix_of(a, "kron"):tocoo(), matrix_of(b, "kron"):tocoo()
  local m, n, na, nb = a.m * b.m, a.n * b.n, a.nnz, b.nnz
  local index = dtypes.name[sparse.index_type(m, n, na * nb)]
  local function outer(x, scale, y) -- x * scale + y for each two
    return np.ravel(np.astype(x, index)[":, *"] * scale + np.astype(y, index)["*, :"])
  end
  local vals = np.ravel(a.vals[":, *"] * b.vals["*, :"])
  return sparse.coo(m, n, outer(a.rows, b.m, b.rows), outer(a.cols, b.n, b.cols), vals):asformat(format)
end

-- kron(I, A) + kron(B, I), of square matrices, with identities as large as B and as A.
---@param a table|lgt_array matrix [m, m]
---@param b table|lgt_array matrix [n, n]
---@param format string? "csr"
---@return table matrix [n m, n m] of the dtype that both have in common
function sp.kronsum(a, b, format, surplus)
  core.check_surplus(surplus, "kronsum")
  a, b = matrix_of(a, "kronsum"), matrix_of(b, "kronsum")
  if a.m ~= a.n or b.m ~= b.n then raise("kronsum: both matrices must be square") end
  local function one(x) return sp.identity(x.m, { dtype = x.dtype }) end
  return (sp.kron(one(b), a, "csr") + sp.kron(b, one(a), "csr")):asformat(format)
end

-- The heights of rows of blocks (the widths of columns); raises where two blocks disagree.
local function extents_of_blocks(blocks, rows, cols, axis)
  local extents = {}
  for i = 1, rows do
    for j = 1, cols do
      local x, k = blocks[i][j], axis == 1 and i or j
      if sparse.is_matrix(x) then
        local extent = axis == 1 and x.m or x.n
        if extents[k] and extents[k] ~= extent then
          raise("bmat: block (%d, %d) has %d %s, others beside it %d", i, j, extent, axis == 1 and "rows" or "columns",
            extents[k])
        end
        extents[k] = extent
      end
    end
  end
  local first, sum = {}, 0
  for k = 1, axis == 1 and rows or cols do
    if not extents[k] then
      raise("bmat: %s %d of blocks has none that says how large it is", axis == 1 and "row" or "column", k)
    end
    first[k] = sum
    sum = sum + extents[k]
  end
  return first, sum
end

-- A matrix of m rows and n columns of blocks of format coo, {x = block, top = rows above it, left = columns before it}.
local function assemble(placed, m, n, format, dtype, who)
  local kind, nnz = nil, 0
  for _, b in ipairs(placed) do kind, nnz = kind and dtypes.promote(kind, b.x.kind) or b.x.kind, nnz + b.x.nnz end
  if dtype then kind = core.check_dtype(dtype, who) end
  local index = dtypes.name[sparse.index_type(m, n, nnz)]
  local r, c, v = {}, {}, {}
  for i, b in ipairs(placed) do
    r[i], c[i] = np.astype(b.x.rows, index) + b.top, np.astype(b.x.cols, index) + b.left
    v[i] = np.astype(b.x.vals, dtypes.name[kind])
  end
  return sparse.coo(m, n, np.concatenate(r), np.concatenate(c), np.concatenate(v)):asformat(format)
end

local function take_blocks(blocks, who)
  if type(blocks) ~= "table" or sparse.is_matrix(blocks) or #blocks == 0 then
    raise("%s: a table of matrices was expected, not %s", who,
      type(blocks) == "table" and not sparse.is_matrix(blocks) and "an empty one" or sparse.describe(blocks))
  end
  return blocks
end

-- A matrix of blocks, some of which may be false (nil would end the table): nothing but zeros.
---@param blocks table of tables of matrices
---@param format string?
---@param dtype string?
---@return table matrix
function sp.bmat(blocks, format, dtype, surplus)
  core.check_surplus(surplus, "bmat")
  if type(blocks) ~= "table" or #blocks == 0 or type(blocks[1]) ~= "table" then
    raise("bmat: a table of rows of blocks was expected, not %s", sparse.describe(blocks))
  end
  local rows, cols = #blocks, #blocks[1]
  local parts, placed = {}, {}
  for i = 1, rows do
    parts[i] = {}
    if #blocks[i] ~= cols then raise("bmat: row %d has %d blocks, the first has %d", i, #blocks[i], cols) end
    for j = 1, cols do
      parts[i][j] = blocks[i][j] and matrix_of(blocks[i][j], "bmat"):tocoo()
    end
  end
  local top, m = extents_of_blocks(parts, rows, cols, 1)
  local left, n = extents_of_blocks(parts, rows, cols, 2)
  for i = 1, rows do
    for j = 1, cols do
      local x = parts[i][j]
      if x then placed[#placed + 1] = { x = x, top = top[i], left = left[j] } end
    end
  end
  return assemble(placed, m, n, format, dtype, "bmat")
end

-- Matrices of as many rows, side by side.
---@param blocks (table|lgt_array)[] matrices
---@param format string? "coo"
---@param dtype string? what they have in common
---@return table matrix
function sp.hstack(blocks, format, dtype, surplus)
  core.check_surplus(surplus, "hstack")
  return sp.bmat({ take_blocks(blocks, "hstack") }, format, dtype)
end

-- Matrices of as many columns, one above the other.
---@param blocks (table|lgt_array)[] matrices
---@param format string? "coo"
---@param dtype string? what they have in common
---@return table matrix
function sp.vstack(blocks, format, dtype, surplus)
  core.check_surplus(surplus, "vstack")
  local column = {}
  for i, x in ipairs(take_blocks(blocks, "vstack")) do column[i] = { x } end
  return sp.bmat(column, format, dtype)
end

-- Matrices along the diagonal of one, which is 0 elsewhere.
---@param blocks (table|lgt_array)[] matrices
---@param format string? "coo"
---@param dtype string? what they have in common
---@return table matrix
function sp.block_diag(blocks, format, dtype, surplus)
  core.check_surplus(surplus, "block_diag")
  local list = take_blocks(blocks, "block_diag")
  local placed, m, n = {}, 0, 0
  for i, x in ipairs(list) do
    x = matrix_of(x, "block_diag"):tocoo()
    placed[i] = { x = x, top = m, left = n }
    m, n = m + x.m, n + x.n
  end
  return assemble(placed, m, n, format, dtype, "block_diag")
end

-- ---- at random -----------------------------------------------------------------------------------------------------

local random_options = { format = true, dtype = true, random_state = true, density = "number", data_rvs = "call" }

-- So many different numbers below n, ascending.
local function choose_places(count, n)
  if count > n / 4 then return np.sort(np.random.permutation(n)[{ { 1, count } }] - 1) end
  local places = np.zeros(0, { dtype = "int64" })
  while core.size_of(places) < count do -- about twice as many as are missing, until they are different ones
    local missing = count - core.size_of(places)
    local fresh = np.random.randint(0, n, { 2 * missing + 10 })
    places = np.unique(np.concatenate({ places, np.astype(fresh, "int64") }))
  end
  if core.size_of(places) == count then return places end
  return np.sort(np.random.permutation(places)[{ { 1, count } }])
end

-- A matrix of m rows and n columns with round(density m n) entries at places chosen at random, uniform in [0, 1).
---@param m integer
---@param n integer
---@param density number? 0.01
---@param options {format: string?, dtype: string?, random_state: integer?, data_rvs: fun(n: integer): any}?
---  random_state seeds the generator; data_rvs(n) gives n values instead
---@return table matrix of format "coo" if there is none in the options
function sp.random(m, n, density, options)
  if type(density) == "table" then density, options = density.density, density end
  options = core.check_options(options, random_options, "random")
  m, n = sparse.take_extents({ m, n }, "random")
  density = core.plain(density or 0.01)
  if type(density) ~= "number" or density < 0 or density > 1 then
    raise("random: the density is a number from 0 to 1, not %s", sparse.describe(density))
  end
  if options.random_state then np.random.seed(options.random_state) end
  local count = math.floor(density * m * n + 0.5)
  local places = choose_places(count, m * n)
  local index = dtypes.name[sparse.index_type(m, n, count)]
  local rows, cols = np.floor_divide(places, math.max(n, 1)), places % math.max(n, 1)
  local drawn = options.data_rvs and np.ravel(np.asarray(options.data_rvs(count))) or np.random.rand(count)
  if core.size_of(drawn) ~= count then
    raise("random: data_rvs gave %d values, %d were asked for", core.size_of(drawn), count)
  end
  local vals = np.astype(drawn, options.dtype or options.data_rvs and drawn.dtype or "float64")
  return sparse.coo(m, n, np.astype(rows, index), np.astype(cols, index), vals):asformat(options.format)
end
sp.rand = sp.random

return true
