-- D = alpha A B C + beta D.
--
--   lgt examples/k2mm.lua [ni] [nj] [nk] [nl]
local np = require "array"

local ni, nj = tonumber(arg[1]) or 800, tonumber(arg[2]) or 850
local nk, nl = tonumber(arg[3]) or 900, tonumber(arg[4]) or 950

local function grid(rows, columns, f) return f(np.arange(rows)[":, *"], np.arange(columns)) end
local A = grid(ni, nk, function(i, j) return (i * j + 1) % ni / ni end)
local B = grid(nk, nj, function(i, j) return i * (j + 1) % nj / nj end)
local C = grid(nj, nl, function(i, j) return (i * (j + 3) + 1) % nl / nl end)
local D = grid(ni, nl, function(i, j) return i * (j + 2) % nk / nk end)

D = 1.5 * A:dot(B):dot(C) + 1.2 * D

print(("sum       %.12g"):format(D:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(D)()))
