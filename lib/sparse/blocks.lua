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

-- Arguments 2 and 3 speak of the rows, of which a row of blocks has `height`.
local function scaled(constraints, height)
  return ("%s scale(2.0,%d) scale(3.0,%d)"):format(constraints, height, height)
end

-- How many blocks with entries each row of blocks has; rows of c are sorted.
local function count_blocks(c, height, width)
  local count = vector(dtypes.INT64, c.m / height)
  sparse.launch("bsr_count", "wrrr", ("align(0.0,1.0,2.0) scale(1.0,%d) scale(2.0,%d) image_ranges(1,2:3.0)"):format(
    height, height), { count, c.lo, c.hi, c.crd }, { height, width })
  return count
end

local function take_blocksize(c, size, who)
  if size ~= nil then
    local list = core.as_list(size) or {}
    local height, width = list[1], list[2]
    if #list ~= 2 or not (core.is_integer(height) and core.is_integer(width)) or height < 1 or width < 1 then
      raise("%s: a block size {height, width} was expected, not %s", who, (core.describe(size)))
    end
    if c.m % height ~= 0 or c.n % width ~= 0 then
      raise("%s: a matrix of shape (%d, %d) is not made of blocks of %d x %d", who, c.m, c.n, height, width)
    end
    return height, width
  end
  local FULL = 0.7 -- of the elements of blocks must be entries
  for k = 6, 2, -1 do
    if c.m % k == 0 and c.n % k == 0 and c.nnz > 0 then
      local blocks = tonumber(core.read_item(np.sum(count_blocks(c, k, k))))
      if c.nnz >= FULL * k * k * blocks then return k, k end
    end
  end
  return 1, 1
end

local function blocks_of(a, size, who)
  local c = sparse.canonical(a:tocsr())
  local height, width = take_blocksize(c, size, who)
  local pos, blocks = sparse.positions(count_blocks(c, height, width), core.dtype_of(c.pos))
  local lo, hi = sparse.bounds(pos, c.m / height)
  local crd, vals = vector(core.dtype_of(pos), blocks), lgt.new(lgt.dense(a.kind, { blocks, height, width }))
  c = sparse.with_index_type(c, core.dtype_of(pos))
  sparse.launch("csr_tobsr", "rrrrwwrr", scaled(sparse.FROM_ROWS, height),
    { lo, hi, c.lo, c.hi, crd, vals, c.crd, c.vals })
  return new_bsr(c.m, c.n, pos, crd, vals)
end

-- By dense blocks, each of which has an entry.
---@param size integer[]? {height, width}, which divide the shape; nil: square ones of up to 6 that are mostly full
---@return table matrix
function any.tobsr(a, size) return blocks_of(a, size, "tobsr") end

function bsr.tobsr(a, size)
  if size == nil or type(size) == "table" and size[1] == a.height and size[2] == a.width then return a end
  return any.tobsr(a, size)
end

function bsr.tocsr(a)
  if a.by_rows then return a.by_rows end
  local blocks = (a.hi - a.lo):astype("int64")
  local count = np.ravel(np.zeros(a.m / a.height, a.height, { dtype = "int64" }) + (blocks * a.width)[":, *"])
  local pos, nnz = sparse.positions(count, sparse.index_type(a.m, a.n, a.nnz))
  local index = core.dtype_of(pos)
  local crd, vals = vector(index, nnz), vector(a.kind, nnz)
  local first, past = sparse.bounds(pos, a.m)
  local function cast(x) return np.astype(x, dtypes.name[index]) end
  sparse.launch("bsr_tocsr", "rrrrwwrr",
    scaled("align(0.0,1.0,2.0,3.0) image_ranges(2,3:4.0,5.0) image_ranges(0,1:6.0,7.0)", a.height),
    { cast(a.lo), cast(a.hi), first, past, crd, vals, cast(a.crd), a.vals })
  return sparse.remember(a, "by_rows", sparse.canonical(sparse.csr(a.m, a.n, pos, crd, vals)))
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
  options = core.check_options(options, { shape = true, dtype = true, base = "base", blocksize = true }, "bsr_matrix")
  local rest, size = { shape = options.shape, dtype = options.dtype, base = options.base }, options.blocksize
  local arrays = type(arg) == "table" and not sparse.is_matrix(arg) and core.is_array(arg[1])
  if not arrays or core.ndim_of(arg[1]) ~= 3 then
    local made = sparse.build("bsr", arg, rest)
    return made.format == "bsr" and made:tobsr(size) or blocks_of(made, size, "bsr_matrix")
  end
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
  local places = sparse.build("bsr", { np.ones(block[1], { dtype = "bool" }), arg[2], arg[3] }, rest)
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
  local function new(dtype) return lgt.new(lgt.dense(dtype, { c.m, room })) end
  local crd, vals = new(core.dtype_of(c.crd)), new(a.kind)
  sparse.launch("csr_toell", "rrwwrr", "align(0.0,1.0,2.0,3.0) image_ranges(0,1:4.0,5.0)",
    { c.lo, c.hi, crd, vals, c.crd, c.vals }, { math.max(c.n - 1, 0) })
  return new_ell(c.m, c.n, c.nnz, count, crd, vals)
end

function ell.tocsr(a)
  if a.by_rows then return a.by_rows end
  local pos, nnz = sparse.positions(a.count:astype("int64"), sparse.index_type(a.m, a.n, core.size_of(a.crd)))
  local index = core.dtype_of(pos)
  local crd, vals = vector(index, nnz), vector(a.kind, nnz)
  local lo, hi = sparse.bounds(pos, a.m)
  sparse.launch("ell_tocsr", "rrrrww", "align(0.0,1.0,2.0,3.0) image_ranges(0,1:4.0,5.0)",
    { lo, hi, np.astype(a.crd, dtypes.name[index]), a.vals, crd, vals })
  return sparse.remember(a, "by_rows", sparse.csr(a.m, a.n, pos, crd, vals, { sorted = true, unique = true }))
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
