-- sparse/construct.lua - matrices from diagonals, at random, and from other matrices.

local sparse = require "sparse.core"

local np, core, dtypes, raise = sparse.np, sparse.array, sparse.dtypes, sparse.raise
local sp = sparse.sp

local diags_options = { shape = true, format = true, dtype = true }

local function diagonal_as_array(d)
  if type(d) == "number" then return np.full(1, d) end
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
  offsets = offsets or 0
  local single = type(offsets) == "number" and not (type(diagonals) == "table" and type(diagonals[1]) ~= "number")
  if single or core.is_array(diagonals) or type(diagonals) == "number" then diagonals = { diagonals } end
  offsets = sparse.take_offsets(offsets, "diags")
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
---@param offsets integer[]
---@return table matrix
function sp.spdiags(data, offsets, m, n, format)
  if type(m) == "table" then m, n, format = m[1], m[2], n end
  return sp.dia_matrix({ np.asarray(data), offsets }, { shape = { m, n } }):asformat(format)
end

local eye_options = { dtype = true, format = true }

-- Ones on diagonal k of a matrix of m rows and n (m) columns.
---@return table matrix of format "dia" if there is none in the options
function sp.eye(m, n, k, options)
  if type(n) == "table" then n, options = nil, n end
  if type(k) == "table" then k, options = nil, k end
  options = core.check_options(options, eye_options, "eye")
  m, n = sparse.take_extents({ m, n or m }, "eye")
  if k ~= nil and not core.is_integer(k) then
    raise("eye: k is the offset of a diagonal, not %s", sparse.describe(k))
  end
  local dtype = dtypes.name[options.dtype and core.check_dtype(options.dtype, "eye") or dtypes.FLOAT64]
  return sparse.dia(m, n, { k or 0 }, np.ones(1, n, { dtype = dtype })):asformat(options.format)
end
function sp.identity(n, options) return sp.eye(n, n, 0, options) end

return true
