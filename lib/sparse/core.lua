-- sparse/core.lua - what every part of the sparse library uses: matrices, their arrays, launches.
--
-- A matrix is a Lua table.  What it holds depends on its format:
--
--   csr   pos (n + 1 positions), lo and hi (two views of it), crd (columns), vals; a row's entries are those
--         from lo to hi (ops/sparse/sparse.h)
--   csc   t, the transposed matrix, which is csr
--   coo   rows, cols, vals
--   dia   offsets (a Lua table), diagonals [d, n]; element j of a diagonal belongs to column j, as in SciPy
--   bsr, ell   blocks, rows of equal room (blocks.lua)
--
-- Positions in these arrays count from 0 and are int32 where that is enough; what a user gives and gets
-- (indices, indptr, row, col, A[{i, j}]) counts from 1.  Arrays of a matrix are never changed in place, so that
-- matrices share them; except its values through A.data, of which the matrix has its own from then on.
--
-- methods[format], getters[format]: what A:name() and A.name find; those of format "any" come last.

local ffi = require "ffi"
local np = require "array"
local core = require "array.core"
local native = require "array.core.native"
local slice = require "array.index.slice"

local lgt, dtypes, raise = core.lgt, core.dtypes, core.raise

local sparse = {
  np = np, lgt = lgt, dtypes = dtypes, raise = raise, native = native, array = core, sp = {},
  methods = { any = {}, csr = {}, csc = {}, coo = {}, dia = {}, bsr = {}, ell = {} },
  getters = { any = {}, csr = {}, csc = {}, coo = {}, dia = {}, bsr = {}, ell = {} },
}
local methods, getters = sparse.methods, sparse.getters

-- ---- matrices -------------------------------------------------------------------------------------------

local Matrix = {}
sparse.Matrix = Matrix

local function is_matrix(x) return type(x) == "table" and getmetatable(x) == Matrix end
sparse.is_matrix = is_matrix

function Matrix.in_words(x)
  return ("a sparse matrix of shape (%d, %d)"):format(x.m, x.n), ": A:todense() makes an array of it"
end

local function describe(x) return (core.describe(x)) end
sparse.describe = describe

function Matrix.__index(a, name)
  local format = rawget(a, "format")
  local f = methods[format][name] or methods.any[name]
  if f then return f end
  f = getters[format][name] or getters.any[name]
  if f then return f(a) end
  if type(name) ~= "string" or slice.looks_like_index(name) then return sparse.select(a, name) end
  if sparse.hidden[name] then return nil end
  raise("sparse matrices of format %s have no attribute %q", format, name)
end

-- Fields that a matrix may lack: caches.
sparse.hidden = { sorted = true, unique = true, exposed = true, casts = true, canon = true, transposed = true,
                  by_rows = true, runs = true, follows = true }
local of_values = { "casts", "canon", "transposed", "by_rows" }

-- Keep what was computed from a matrix; not while the script may change its values behind our back.
function sparse.remember(a, name, value)
  if not a.exposed then rawset(a, name, value) end
  return value
end

-- By array: a matrix has it, several have it, the script has it.
local function weak() return setmetatable({}, { __mode = "k" }) end
local has_owner, is_shared, is_exposed = weak(), weak(), weak()

-- The script gets hold of the array of values, which lies in `field`: from now on it is this matrix's alone.
function sparse.expose(a, field)
  local values = rawget(a, field)
  if is_shared[values] then
    values = np.copy(values)
    has_owner[values] = true
    rawset(a, field, values)
  end
  is_exposed[values] = true
  rawset(a, "exposed", true)
  for _, name in ipairs(of_values) do rawset(a, name, nil) end
  return values
end

function Matrix.__newindex(_, name)
  if type(name) ~= "string" or slice.looks_like_index(name) then
    raise("elements of a sparse matrix are not set one by one: build it of triplets, where values at one place are " ..
      "added, set a diagonal by A = A:setdiag(values, k), or multiply A by a matrix of ones and zeros")
  end
  raise("a sparse matrix has no attribute %s that could be set; elements change with A.data, or by building anew",
    tostring(name))
end

function Matrix.__tostring(a)
  return ("<%d x %d sparse matrix of type %s with %d stored elements in format %s>"):format(a.m, a.n, a.dtype, a.nnz,
    a.format)
end

-- A new matrix of a format; `fields` are what the format holds.
local function new(format, m, n, dtype, fields)
  fields.format, fields.m, fields.n, fields.kind = format, m, n, dtype
  local field = fields.vals and "vals" or fields.diagonals and "diagonals"
  if field then
    if is_exposed[fields[field]] then fields[field] = np.copy(fields[field]) end
    local values = fields[field]
    is_shared[values] = has_owner[values]
    has_owner[values] = true
  end
  return setmetatable(fields, Matrix)
end
sparse.new = new

getters.any.shape = function(a) return setmetatable({ a.m, a.n }, core.shape_meta) end
getters.any.dtype = function(a) return dtypes.name[a.kind] end
getters.any.ndim = function() return 2 end
getters.any.size = function(a) return a.nnz end
function methods.any.getformat(a) return a.format end
function methods.any.get_shape(a) return a.shape end

-- ---- arrays ---------------------------------------------------------------------------------------------

-- The type of positions in a matrix with so many rows, columns, entries.
function sparse.index_type(...)
  for i = 1, select("#", ...) do
    if select(i, ...) > 2 ^ 31 - 2 then return dtypes.INT64 end
  end
  return dtypes.INT32
end

function sparse.vector(dtype, count) return lgt.new(lgt.dense(dtype, { count })) end
local vector = sparse.vector

-- In C order and not part of something else, as kernels want the arrays of a matrix; of a dtype if one is given.
function sparse.dense(x, dtype)
  if dtype and core.dtype_of(x) ~= dtype then return np.astype(x, dtypes.name[dtype]) end
  local whole = lgt.layouts[core.layout_of(x)].flags % 2 == 1
  return whole and x or np.copy(x)
end

-- A vector as a matrix of one row: for variants that are one call.
local function as_row(x) return lgt.alias(x, lgt.promote(core.layout_of(x), 1, 1)) end
sparse.as_row = as_row

-- Elements first (from 0) ... of a vector, as a view.
local function part(x, first, count, step)
  return lgt.alias(x, lgt.slice(core.layout_of(x), 1, first, count, step or 1))
end
sparse.part = part

local launch, leading = native.launch, native.leading

-- Several domains share rows: what one of them makes lies where its rows' entries begin and end.
function sparse.has_domains() return not native.whole end

sparse.launch = launch

-- Arguments of variants that make rows of rows: where those of the result begin and end, and the others; columns and
-- values of the result; of the others.
sparse.FROM_ROWS = "align(0.0,1.0,2.0,3.0) image_ranges(0,1:4.0,5.0) image_ranges(2,3:6.0,7.0)"

-- A variant whose first `count` arguments are cut alike by rows.  `images`: which elements of others the rows need.
function sparse.launch_rows(variant, privileges, count, arrays, numbers, images)
  launch(variant, privileges, leading(1, count) .. (images and " " .. images or ""), arrays, numbers)
end

-- A variant that one point task runs, which has all of its arguments.
function sparse.launch_whole(variant, privileges, arrays, numbers)
  launch(variant, privileges, "", arrays, numbers)
end

-- A variant on diagonal blocks of `rows` rows, which are what is cut; `cut`: the arguments that have rows, the first
-- of them says where these begin; `images`: which elements of others they name.
function sparse.launch_blocks(variant, privileges, cut, images, arrays, numbers)
  local lo, rows = arrays[1], numbers[1]
  local blocks = math.ceil(core.size_of(lo) / rows)
  arrays[#arrays + 1] = part(lo, 0, blocks, rows)
  if blocks < 2 then return launch(variant, privileges .. "r", "", arrays, numbers) end
  local rowwise, scales = {}, {}
  for i, a in ipairs(cut) do rowwise[i], scales[i] = ("%d.0"):format(a), ("scale(%d.0,%d)"):format(a, rows) end
  launch(variant, privileges .. "r", ("align(%s,%d.0) %s %s"):format(table.concat(rowwise, ","), #arrays - 1,
    table.concat(scales, " "), images), arrays, numbers)
end

-- A variant that runs once: its vectors get a leading dimension of extent 1.
function sparse.launch_once(variant, privileges, arrays, numbers)
  local rows = {}
  for i = 1, #arrays do rows[i] = core.ndim_of(arrays[i]) == 1 and as_row(arrays[i]) or arrays[i] end
  launch(variant, privileges, "", rows, numbers)
end

-- ---- dtypes ---------------------------------------------------------------------------------------------

-- The dtype in which kernels calculate values of a dtype.
function sparse.working_type(dtype)
  if dtypes.category[dtype] < 2 then return dtypes.INT64 end
  return dtype == dtypes.FLOAT16 and dtypes.FLOAT32 or dtype
end

-- ---- csr ------------------------------------------------------------------------------------------------

-- A matrix by rows from its arrays, whose positions count from 0.  `state` may tell whether it is `sorted` (each row's
-- columns ascend) and `unique` (none is there twice), and its `runs` (csr.lua); what it does not tell is looked up when
-- it matters.
function sparse.csr(m, n, pos, crd, vals, state)
  state = state or {}
  return new("csr", m, n, core.dtype_of(vals), {
    pos = pos, lo = part(pos, 0, m), hi = part(pos, 1, m), crd = crd, vals = vals,
    sorted = state.sorted, unique = state.unique, runs = state.runs,
  })
end

-- The matrix by columns whose transposed one is given.
function sparse.csc(t) return new("csc", t.n, t.m, t.kind, { t = t }) end

-- Positions of rows of which the numbers of entries are known, and the sum of these.  Waits.
---@param count lgt_array int64
---@param index_type integer? at least
---@return lgt_array pos, integer nnz
function sparse.positions(count, index_type)
  local m = core.size_of(count)
  local nnz = m == 0 and 0 or tonumber(core.read_item(np.sum(count)))
  local wanted = sparse.index_type(nnz)
  if index_type == dtypes.INT64 then wanted = index_type end
  if sparse.has_domains() and m > 0 then
    local pos = vector(wanted, m + 1)
    pos["2:"] = np.cumsum(count):astype(dtypes.name[wanted]) -- first, so that its tiles are those of rows
    pos["1"] = 0
    return pos, nnz
  end
  local pos = vector(wanted, m + 1)
  sparse.launch_once("csr_positions", "wr", { pos, count })
  return pos, nnz
end

-- Where the rows of a matrix of m rows with these positions begin, and where they end.
function sparse.bounds(pos, m) return part(pos, 0, m), part(pos, 1, m) end

-- The row of each of nnz entries, where those of rows begin at `pos`.
function sparse.rows_at(pos, nnz)
  local rows = vector(core.dtype_of(pos), nnz)
  local lo, hi = sparse.bounds(pos, core.size_of(pos) - 1)
  sparse.launch("csr_rows", "rrw", "align(0.0,1.0) image_ranges(0,1:2.0)", { lo, hi, rows })
  return rows
end

-- ---- arguments ------------------------------------------------------------------------------------------

-- Positions that a user gives, from `base` (1), as positions from 0.  Waits.
function sparse.take_positions(x, extent, index_type, base, who, what)
  if type(x) == "table" and not is_matrix(x) then x = np.array(x, { dtype = "int64" }) end
  core.layout_of(x, who)
  if core.ndim_of(x) ~= 1 then raise("%s: %s positions are a vector, not %s", who, what, describe(x)) end
  if dtypes.category[core.dtype_of(x)] ~= 1 then
    raise("%s: %s positions must be integers, not %s", who, what, dtypes.name[core.dtype_of(x)])
  end
  if core.size_of(x) > 0 then
    local least, most = tonumber(core.read_item(np.min(x))), tonumber(core.read_item(np.max(x)))
    if least < base or most >= extent + base then
      raise("%s: %s position %d is outside 1 to %d%s", who, what, (least < base and least or most) + 1 - base, extent,
        least == 0 and base == 1 and "; for positions that count from 0 give {base = 0}" or "")
    end
  end
  return np.astype(base == 0 and x or x - base, dtypes.name[index_type])
end

-- A shape given as {m, n}.
function sparse.take_extents(shape, who)
  if type(shape) ~= "table" or #shape ~= 2 then
    raise("%s: a shape {rows, columns} was expected, not %s", who, describe(shape))
  end
  local extents = core.as_list(shape)
  for d = 1, 2 do
    if not core.is_integer(extents[d]) or extents[d] < 0 then
      raise("%s: an extent must be an integer from 0 up, not %s", who, describe(extents[d]))
    end
  end
  return extents[1], extents[2]
end

-- Is x a number of the script, or an array of one element?
function sparse.is_scalar(x)
  if core.is_array(x) then return core.size_of(x) == 1 end
  return type(core.plain(x)) == "number" or ffi.istype("complex", x)
end

function sparse.take_matrix(x, who)
  if not is_matrix(x) then
    raise("%s: a sparse matrix was expected, not %s%s", who, describe(x),
      core.is_array(x) and ": sp.csr_matrix makes one of a dense matrix" or "")
  end
  return x
end

return sparse
