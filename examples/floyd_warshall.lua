-- The shortest paths between all pairs of nodes.
--
--   lgt examples/floyd_warshall.lua [n]
local np = require "array"

local n = tonumber(arg[1]) or 400

local i, j = np.arange(n)[":, *"], np.arange(n)
local path = i * j % 7 + 1
path = np.where(((i + j) % 13):eq(0) + ((i + j) % 7):eq(0) + ((i + j) % 11):eq(0), 999, path)

for k = 1, n do path = np.minimum(path, path[{ {}, { k, k } }] + path[k]) end

print(("sum       %d"):format(path:sum()()))
print(("longest   %d"):format(path:max()()))
