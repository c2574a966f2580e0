-- Rydberg atoms on a ring: a quantum annealer that prepares an antiferromagnet, an atom excited beside one that is not.
--
--   lgt examples/rydberg.lua [atoms] [time]
--
-- Neighbours block each other, so that only states without two excited neighbours matter: the independent sets of
-- the ring.  H(t) = Omega(t) sum of flips - Delta(t) number of excited atoms; i dy/dt = H y by DOP853.  (After Ebadi
-- et al., "Quantum optimization of maximum independent set using Rydberg atom arrays", Science 376, 2022.)
local np, sp, solvers = require "array", require "sparse", require "solvers"
local bit = require "bit"

local atoms = tonumber(arg[1]) or 12
local duration = tonumber(arg[2]) or 6

-- The independent sets, as bits, and which of them differ by one atom.
local states, number = {}, {}
for s = 0, 2 ^ atoms - 1 do
  local turned = bit.bor(bit.lshift(s, 1) % 2 ^ atoms, bit.rshift(s, atoms - 1))
  if bit.band(s, turned) == 0 then
    states[#states + 1] = s
    number[s] = #states
  end
end
local rows, columns, excited = {}, {}, {}
for i, s in ipairs(states) do
  local count = 0
  for atom = 0, atoms - 1 do
    local other = number[bit.bxor(s, bit.lshift(1, atom))]
    if other then rows[#rows + 1], columns[#columns + 1] = i, other end
    if bit.band(s, bit.lshift(1, atom)) ~= 0 then count = count + 1 end
  end
  excited[i] = count
end
local n = #states
local flips = sp.csr_matrix({np.ones(#rows, {dtype = "complex128"}), {rows, columns}}, {shape = {n, n}})
excited = np.array(excited)

local minus_i = np.array {-1i}
local function derivative(t, y)
  local s = t / duration
  local omega, delta = math.sin(math.pi * s) ^ 2, 3 * (2 * s - 1)
  return minus_i * (omega * flips:dot(y) - delta * (excited * y))
end

local start = np.where(np.arange(n):eq(0), 1, 0):astype("complex128")
local result = solvers.solve_ivp(derivative, {0, duration}, start, {method = "DOP853", rtol = 1e-8, atol = 1e-10})
local y = result.y[{{}, -1}]
local probability = np.abs(y) ^ 2
local largest = excited:eq(np.max(excited))

print(("states      %d"):format(n))
print(("entries     %d"):format(flips.nnz))
print(("norm        %.6f"):format(probability:sum():item()))
print(("excited     %.6f"):format((probability * excited):sum():item()))
print(("maximum     %.6f"):format(np.where(largest, probability, 0):sum():item()))
