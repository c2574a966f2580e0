-- Rydberg atoms find a maximum independent set: a quantum annealer, of which every allowed state is followed.
--
--   lgt examples/quantum.lua [rows] [columns] [time]
--
-- Atoms sit on a lattice with holes.  Those beside each other, diagonally too, are never excited together, so that only
-- the independent sets of this graph are states.  H(t) = Omega(t) sum of flips - Delta(t) number of excited atoms;
-- i dy/dt = H y by DOP853.  At the end the largest sets should be the likely ones.  (Ebadi et al., "Quantum
-- optimization of maximum independent set using Rydberg atom arrays", Science 376, 2022.)
local np, sp, solvers = require "array", require "sparse", require "solvers"
local bit = require "bit"

local height, width = tonumber(arg[1]) or 4, tonumber(arg[2]) or 5
local duration = tonumber(arg[3]) or 6

-- The independent sets, as bits: those without an atom, and those of them that it may join.
local atoms, states = {}, {0}
for x = 0, width - 1 do
  for y = 0, height - 1 do
    if (2 * x + 3 * y) % 7 ~= 6 then
      local blocked, own = 0, 2 ^ #atoms
      for i, other in ipairs(atoms) do
        if math.abs(other.x - x) <= 1 and math.abs(other.y - y) <= 1 then blocked = blocked + 2 ^ (i - 1) end
      end
      atoms[#atoms + 1] = {x = x, y = y}
      for k = 1, #states do
        if bit.band(states[k], blocked) == 0 then states[#states + 1] = states[k] + own end
      end
    end
  end
end

local number = {}
for i, s in ipairs(states) do number[s] = i end
local rows, columns, excited = {}, {}, {}
for i, s in ipairs(states) do
  excited[i] = 0
  for atom = 0, #atoms - 1 do
    local flipped = number[bit.bxor(s, bit.lshift(1, atom))]
    if flipped then rows[#rows + 1], columns[#columns + 1] = i, flipped end
    excited[i] = excited[i] + bit.band(bit.rshift(s, atom), 1)
  end
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
local probability = np.abs(result.y[{{}, -1}]) ^ 2
local largest = excited:eq(np.max(excited))

print(("atoms       %d"):format(#atoms))
print(("states      %d"):format(n))
print(("entries     %d"):format(flips.nnz))
print(("largest     %d"):format(np.max(excited):item()))
print(("of them     %d"):format(np.count_nonzero(largest)))
print(("norm        %.6f"):format(probability:sum():item()))
print(("excited     %.6f"):format((probability * excited):sum():item()))
print(("found       %.6f"):format(np.where(largest, probability, 0):sum():item()))
