-- C = alpha A B + beta C.
--
--   lgt examples/gemm.lua [ni] [nj] [nk]
local np = require "array"

local ni, nj, nk = tonumber(arg[1]) or 1000, tonumber(arg[2]) or 1100, tonumber(arg[3]) or 1200

local function grid(rows, columns, f) return f(np.arange(rows)[":, *"], np.arange(columns)) end
local A = grid(ni, nk, function(i, k) return i * (k + 1) % nk / nk end)
local B = grid(nk, nj, function(k, j) return k * (j + 2) % nj / nj end)
local C = grid(ni, nj, function(i, j) return (i * j + 1) % ni / ni end)

C = 1.5 * A:dot(B) + 1.2 * C

print(("sum       %.12g"):format(C:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(C)()))
