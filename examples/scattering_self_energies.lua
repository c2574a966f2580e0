-- How electrons are scattered by phonons: products of small complex matrices over neighbours, momenta and
-- energies.
--
--   lgt examples/scattering_self_energies.lua [] [...] [...] [...] [...] [...] [...] [...]
local np = require "array"

local sizes = { 2, 8, 2, 3, 6, 2, 4, 4 }
for k = 1, #sizes do sizes[k] = tonumber(arg[k]) or sizes[k] end
local nk, ne, nq, nw, na, nb, n3, norb = unpack(sizes)

-- Well-spread numbers: the fractional parts of the multiples of an irrational one.
local function spread(...)
  local size = 1
  for _, extent in ipairs { ... } do size = size * extent end
  return (np.arange(size) * 0.8191725133961645 % 1 - 0.5):reshape(...)
end
local function spread_complex(...) return spread(...) + spread(...) * np.array(require("ffi").new("complex", 0, 2)) end

local neighbours = np.arange(na)[":, *"] * np.arange(nb) % na + 1
local dH, G = spread_complex(na, nb, n3, norb, norb), spread_complex(nk, ne, na, norb, norb)
local D, Sigma = spread_complex(nq, nw, na, nb, n3, n3), np.zeros_like(G)
for w = 0, math.min(nw, ne) - 1 do
  for b = 1, nb do -- all momenta, energies and atoms at once
    local shifted = G[{ {}, { 1, ne - w }, {}, {}, {} }][{ {}, {}, neighbours[{ {}, b }], {}, {} }]
    local of_phonons = D[{ {}, w + 1, {}, b, {}, {} }]:sum(1)
    for i = 1, n3 do
      local left = np.matmul(shifted, dH[{ {}, b, i, {}, {} }])
      local right = np.sum(dH[{ {}, b, {}, {}, {} }] * of_phonons[{ {}, i, {}, "*", "*" }], 2)
      Sigma[{ {}, { w + 1, ne }, {}, {}, {} }]:iadd(np.matmul(left, right))
    end
  end
end

print(("real      %.12g"):format(np.real(Sigma):sum()()))
print(("imaginary %.12g"):format(np.imag(Sigma):sum()()))
print(("norm      %.12g"):format(np.linalg.norm(Sigma:ravel())()))
