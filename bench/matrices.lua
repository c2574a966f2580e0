-- What is done with sparse matrices as such:  lgt matrices.lua WORK SIZE
-- product: A A;  transpose: A by columns;  add: A + A^T;  multiply: A times 16 vectors;
-- triplets: A from triplets by rows, or, for "shuffled triplets", in no order.
-- A is random with 20 entries a row, or for "poisson product" the 5-point Laplacian of a SIZE x SIZE grid.
local contest = require "contest"
local np, sp = require "array", require "sparse"

local work, n = arg[1], tonumber(arg[2])
local A
if work:find("^poisson") then
  local line = sp.diags({2, -1, -1}, {0, 1, -1}, {shape = {n, n}})
  A = sp.kronsum(line, line, "csr")
else
  local i = np.arange(20 * n)
  local rows = np.floor_divide(i, 20)
  local columns = (i % 20 * 7919 + rows * 104729 + rows * rows % 10007 * 31) % n
  A = sp.csr_matrix({contest.fraction(20 * n, 0.6180339887498949, 0, 1, "float64"), {rows, columns}},
    {shape = {n, n}, base = 0})
end
local coo, X = A:tocoo(), np.ones(A.shape[2], 16)
if work:find("^shuffled") then
  local order = np.arange(A.nnz) * 1000003 % A.nnz + 1
  coo = sp.coo_matrix({coo.data[order], {coo.row[order], coo.col[order]}}, {shape = A.shape})
end
local T = A.T:tocsr()
local result

-- Nothing that was remembered of a matrix: each turn has one of its own, with the same arrays.
local function anew(a) return a:map(function(vals) return vals end) end
local turns = {
  product = function() result = A:dot(A) end,
  transpose = function() result = anew(A):tocsc() end,
  add = function() result = A + T end,
  triplets = function() result = anew(coo):tocsr() end,
  multiply = function() result = A:dot(X) end,
}
contest.serve(turns[work:match("%l+$")], function() return result:sum():item() end)
