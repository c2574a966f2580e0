-- sparse/blocks.lua - matrices of dense blocks (bsr), and of rows that have equal room (ell).
--
-- Both are for products with vectors.  Blocks need one position for all of their elements, so that a matrix with
-- several unknowns a node moves fewer bytes.  Rows with equal room need none at all, and are cut as their results are:
-- what every matrix of a stencil can be.  Everything else goes by way of csr.

local sparse = require "sparse.core"

local np, core, dtypes, raise = sparse.np, sparse.array, sparse.dtypes, sparse.raise
local sp, any, bsr, ell = sparse.sp, sparse.methods.any, sparse.methods.bsr, sparse.methods.ell
local getters = sparse.getters
local vector, lgt = sparse.vector, sparse.lgt

local function is_dense_operand(x) return not sparse.is_matrix(x) and type(x) ~= "number" end

-- ---- blocks -------------------------------------------------------------------------------------------------

-- vals [blocks, height, width]; block k of row i of blocks belongs to column crd[k] of blocks, from 0.
local function new_bsr(m, n, pos, crd, vals)
  local shape = core.shape_of(vals)
  local rows = m / shape[2]
  return sparse.new("bsr", m, n, core.dtype_of(vals), { height = shape[2], width = shape[3], pos = pos,
    lo = sparse.part(pos, 0, rows), hi = sparse.part(pos, 1, rows), crd = crd, vals = vals })
end

getters.bsr.nnz = function(a) return core.size_of(a.vals) end
getters.bsr.data = function(a) return sparse.expose(a, "vals") end
getters.bsr.indices = function(a) return a.crd + 1 end
getters.bsr.indptr = function(a) return a.pos + 1 end
getters.bsr.blocksize = function(a) return setmetatable({ a.height, a.width }, core.shape_meta) end

function bsr.map(a, f) return new_bsr(a.m, a.n, a.pos, a.crd, f(a.vals)) end

-- The number of the block of each entry, row by row.
local function block_of_entries(c, rows, cols, height, width)
  return np.floor_divide(rows, height) * (c.n / width) + np.floor_divide(cols, width)
end

local function take_blocksize(c, size, rows, cols)
  if size ~= nil then
    if type(size) ~= "table" or #size ~= 2 or not (core.is_integer(size[1]) and core.is_integer(size[2]))
      or size[1] < 1 or size[2] < 1 then
      raise("tobsr: a block size {height, width} was expected, not %s", core.describe(size))
    end
    if c.m % size[1] ~= 0 or c.n % size[2] ~= 0 then
      raise("tobsr: a matrix of shape (%d, %d) is not made of blocks of %d x %d", c.m, c.n, size[1], size[2])
    end
    return size[1], size[2]
  end
  local FULL = 0.7 -- of the elements of blocks must be entries
  for k = 6, 2, -1 do
    if c.m % k == 0 and c.n % k == 0 and c.nnz > 0 then
      local blocks = core.size_of(np.unique(block_of_entries(c, rows, cols, k, k)))
      if c.nnz >= FULL * k * k * blocks then return k, k end
    end
  end
  return 1, 1
end

-- By dense blocks, each of which has an entry.
---@param size integer[]? {height, width}, which divide the shape; nil: square ones of up to 6 that are mostly full
---@return table matrix
function any.tobsr(a, size)
  local c = sparse.canonical(a:tocsr())
  local rows, cols = sparse.row_of_entries(c):astype("int64"), c.crd:astype("int64")
  local height, width = take_blocksize(c, size, rows, cols)
  local number = block_of_entries(c, rows, cols, height, width)
  local found, index = np.unique(number), dtypes.name[core.dtype_of(c.crd)]
  local vals = np.zeros(core.size_of(found), height, width, { dtype = a.dtype })
  if c.nnz > 0 then vals[{ np.searchsorted(found, number), rows % height + 1, cols % width + 1 }] = c.vals end
  local first = np.arange(c.m / height + 1) * (c.n / width)
  return new_bsr(c.m, c.n, np.astype(np.searchsorted(found, first) - 1, index),
    np.astype(found % math.max(1, c.n / width), index), vals)
end

function bsr.tobsr(a, size)
  if size == nil or type(size) == "table" and size[1] == a.height and size[2] == a.width then return a end
  return any.tobsr(a, size)
end

function bsr.tocsr(a)
  if a.by_rows then return a.by_rows end
  local row = vector(core.dtype_of(a.pos), core.size_of(a.crd))
  sparse.launch_whole("csr_rows", "rrw", { a.lo, a.hi, row })
  local index = { dtype = dtypes.name[sparse.index_type(a.m, a.n, a.nnz)] }
  local zeros = np.zeros(a.height, a.width, index)
  local down, right = zeros + np.arange(a.height, index)[":, *"], zeros + np.arange(a.width, index)
  local rows = row:astype(index.dtype)[":, *, *"] * a.height + down["*, ..."]
  local cols = a.crd:astype(index.dtype)[":, *, *"] * a.width + right["*, ..."]
  return sparse.remember(a, "by_rows",
    sparse.coo(a.m, a.n, np.ravel(rows), np.ravel(cols), np.ravel(a.vals)):tocsr())
end

function bsr.dot(a, x)
  if not is_dense_operand(x) or sparse.is_scalar(x) then return any.dot(a, x) end
  local shape, dtype, work
  x, shape, dtype, work = sparse.take_dense(a, x)
  local y = lgt.new(lgt.dense(work, { a.m / a.height, a.height, shape[2] }))
  sparse.launch_rows("bsr_dot", "wrrrrr", 3, { y, a.lo, a.hi, a.crd, sparse.values_in(a, work),
    np.reshape(x, { a.n / a.width, a.width, shape[2] }) }, nil, "image_ranges(1,2:3.0,4.0) image_points(3:5.0)")
  y = np.reshape(y, { a.m, shape[2] })
  return dtype == work and y or np.astype(y, dtypes.name[dtype])
end
bsr.matmul = bsr.dot

-- A matrix of dense blocks: from {data [blocks, height, width], indices, indptr} of columns and rows of blocks, or what
-- csr_matrix takes.
---@param arg any
---@param options {shape: integer[]?, dtype: string?, base: integer?, blocksize: integer[]?}?
---@return table matrix
function sp.bsr_matrix(arg, options)
  options = core.check_options(options, { shape = true, dtype = true, base = true, blocksize = true }, "bsr_matrix")
  local rest, size = { shape = options.shape, dtype = options.dtype, base = options.base }, options.blocksize
  local arrays = type(arg) == "table" and not sparse.is_matrix(arg) and core.is_array(arg[1])
  if not arrays or core.ndim_of(arg[1]) ~= 3 then return sparse.build("bsr", arg, rest):tobsr(size) end
  local block = core.shape_of(arg[1])
  if size ~= nil and not (type(size) == "table" and size[1] == block[2] and size[2] == block[3]) then
    raise("bsr_matrix: blocks of %d x %d were given, and as their size %s", block[2], block[3],
      type(size) == "table" and ("{%s, %s}"):format(tostring(size[1]), tostring(size[2])) or (core.describe(size)))
  end
  if rest.shape then
    local m, n = sparse.take_extents(rest.shape, "bsr_matrix")
    if m % block[2] ~= 0 or n % block[3] ~= 0 then
      raise("bsr_matrix: a matrix of shape (%d, %d) is not made of blocks of %d x %d", m, n, block[2], block[3])
    end
    rest.shape = { m / block[2], n / block[3] }
  end
  local vals = rest.dtype and np.astype(arg[1], rest.dtype) or np.copy(arg[1])
  rest.dtype = nil
  -- A matrix of one element a block, which checks the positions.
  local places = sp.csr_matrix({ np.ones(block[1], { dtype = "bool" }), arg[2], arg[3] }, rest)
  return new_bsr(places.m * block[2], places.n * block[3], places.pos, places.crd, vals)
end

-- ---- equal room ----------------------------------------------------------------------------------------------

-- crd and vals [m, room], of which row i uses the first count[i]; what is beyond names a column of the matrix, too, so
-- that it may be looked at.
local function new_ell(m, n, entries, count, crd, vals)
  return sparse.new("ell", m, n, core.dtype_of(vals),
    { entries = entries, count = count, crd = crd, vals = vals })
end

getters.ell.nnz = function(a) return a.entries end
getters.ell.data = function(a) return sparse.expose(a, "vals") end
getters.ell.indices = function(a) return a.crd + 1 end

function ell.map(a, f) return new_ell(a.m, a.n, a.entries, a.count, a.crd, f(a.vals)) end
function ell.toell(a) return a end

local MOST_ROOM = 10 -- times as much as entries need, that toell makes

-- Rows with room for as many entries as the longest has.
---@return table matrix
function any.toell(a)
  local c = sparse.canonical(a:tocsr())
  local count = c.hi - c.lo
  local room = c.m == 0 and 0 or tonumber(core.read_item(np.max(count)))
  if c.m * room > MOST_ROOM * (c.nnz + c.m) then
    raise("toell: the longest of %d rows has %d entries, all have %d: it would store mostly nothing", c.m, room, c.nnz)
  end
  local index = dtypes.name[core.dtype_of(c.crd)]
  local crd = np.zeros(c.m, room, { dtype = index })
  crd["..."] = np.minimum(np.arange(c.m), math.max(c.n - 1, 0)):astype(index)[":, *"]
  local vals = np.zeros(c.m, room, { dtype = a.dtype })
  if c.nnz > 0 then
    local row = sparse.row_of_entries(c):astype("int64") + 1
    local at = { row, np.arange(c.nnz) - c.lo[row] + 1 }
    crd[at], vals[at] = c.crd, c.vals
  end
  return new_ell(c.m, c.n, c.nnz, count, crd, vals)
end

function ell.tocsr(a)
  if a.by_rows then return a.by_rows end
  local used = np.less(np.arange(core.shape_of(a.crd)[2])["*, :"], a.count[":, *"])
  local pos = sparse.positions(a.count:astype("int64"), core.dtype_of(a.crd))
  return sparse.remember(a, "by_rows",
    sparse.csr(a.m, a.n, pos, a.crd[used], a.vals[used], { sorted = true, unique = true }))
end

function ell.dot(a, x)
  if not is_dense_operand(x) or sparse.is_scalar(x) then return any.dot(a, x) end
  local shape, dtype, work
  x, shape, dtype, work = sparse.take_dense(a, x)
  local y = lgt.new(lgt.dense(work, { a.m, shape[2] }))
  sparse.launch_rows("ell_dot", "wrrrr", 4, { y, a.count, a.crd, sparse.values_in(a, work), x }, nil,
    (shape[2] and "" or "by_rows ") .. "image_points(2:4.0)")
  return dtype == work and y or np.astype(y, dtypes.name[dtype])
end
ell.matmul = ell.dot

-- A matrix whose rows have equal room, from what csr_matrix takes.
---@param arg any
---@param options {shape: integer[]?, dtype: string?, base: integer?}?
---@return table matrix
function sp.ell_matrix(arg, options) return sparse.build("ell", arg, options):toell() end

sp.bsr_array, sp.ell_array = sp.bsr_matrix, sp.ell_matrix

return bsr
