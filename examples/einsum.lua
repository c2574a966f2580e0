-- Sums of products by their indices.
--
--   lgt examples/einsum.lua [n]
local np = require "array"

local n = tonumber(arg[1]) or 100

-- Well-spread numbers: the fractional parts of the multiples of an irrational one.
local function spread(...)
  local size = 1
  for _, extent in ipairs { ... } do size = size * extent end
  return (np.arange(size) * 0.8191725133961645 % 1 - 0.5):reshape(...)
end
local A, B, T, v = spread(n, n), spread(n, n), spread(n, n, n), spread(n)
for _, case in ipairs {
  { "ij,jk->ik", A, B }, { "ij,kj->ik", A, B }, { "ii", A }, { "ij->ji", A }, { "ij,ij->", A, B }, { "i,j->ij", v, v },
  { "ijk,k->ij", T, v }, { "ijk,jk->i", T, A }, { "ij,jk,kl->il", A, B, A }, { "ijk,ilk->jl", T, T }, { "ii->i", B },
} do
  local result = np.einsum(unpack(case))
  print(("%-13s %.12g %.12g"):format(case[1], result:sum()(), np.linalg.norm(result:ravel())()))
end
