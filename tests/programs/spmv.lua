-- The product of a sparse matrix with a vector, written with slices and gathers, row by row.
--
--   lgt tests/programs/spmv.lua [m] [n] [entries]
local np = require "array"

local M, N, nnz = tonumber(arg[1]) or 500, tonumber(arg[2]) or 500, tonumber(arg[3]) or 8000

local x = np.arange(N) * 0.8191725133961645 % 1
local rows = np.sort(np.arange(nnz) * 7919 % M) -- row of each entry, from 0
local counts = np.bincount(rows + 1, { minlength = M })
local A_row = np.concatenate { np.zeros({ 1 }, { dtype = "int64" }), np.cumsum(counts) }:astype("uint32")
local A_col = (np.arange(nnz) * 104729 % N):astype("uint32")
local A_val = np.arange(nnz) * 0.6710436067037893 % 1

-- Matrix-Vector Multiplication with the matrix given in Compressed Sparse Row
-- (CSR) format
local function spmv(row, col, val, vector)
  local y = np.empty(row.size - 1, { dtype = val.dtype })
  for i = 1, row.size - 1 do
    local cols = col[{ { row(i) + 1, row(i + 1) } }]
    local vals = val[{ { row(i) + 1, row(i + 1) } }]
    y[i] = vals:dot(vector:take(cols, { base = 0 }))
  end
  return y
end
local y = spmv(A_row, A_col, A_val, x)

print(("sum       %.12g"):format(y:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(y)()))
