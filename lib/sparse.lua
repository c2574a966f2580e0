-- sparse.lua - `require "sparse"`: scipy.sparse for Lua, on the lgt runtime.
--
-- Names, argument orders and results are SciPy's, of matrices as its sparse *arrays* are: `A * B` is elementwise and
-- A:dot(B) the product.  Positions (A.indices, A.indptr, A.row, A.col, A[{i, j}], axes) count from 1.  The parts:
--
--   core       matrices, their arrays, launches
--   csr        by rows: products, order
--   formats    by columns, triplets, diagonals; conversions; constructors
--   blocks     of dense blocks, of rows with equal room
--   arithmetic entry by entry; sparse times sparse
--   select     rows, columns, elements, diagonals, sums
--   construct  diags, eye, kron, hstack, random, ...
--   files      save_npz, load_npz, mmread, mmwrite; loaded when first used
local sparse = require "sparse.core"
require "sparse.csr"
require "sparse.formats"
require "sparse.blocks"
require "sparse.arithmetic"
require "sparse.select"
require "sparse.construct"

local in_files = { save_npz = true, load_npz = true, mmread = true, mmwrite = true }
return setmetatable(sparse.sp, {
  __index = function(sp, name)
    if not in_files[name] then return nil end
    require "sparse.files"
    return rawget(sp, name)
  end,
})
