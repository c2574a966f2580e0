-- The product of four matrices.
--
--   lgt tests/programs/k3mm.lua [ni] [nj] [nk] [nl] [nm]
local np = require "array"

local NI, NJ, NK = tonumber(arg[1]) or 500, tonumber(arg[2]) or 550, tonumber(arg[3]) or 600
local NL, NM = tonumber(arg[4]) or 650, tonumber(arg[5]) or 700

local A = np.fromfunction(function(i, j) return (i * j + 1) % NI / (5 * NI) end, { NI, NK })
local B = np.fromfunction(function(i, j) return (i * (j + 1) + 2) % NJ / (5 * NJ) end, { NK, NJ })
local C = np.fromfunction(function(i, j) return i * (j + 3) % NL / (5 * NL) end, { NJ, NM })
local D = np.fromfunction(function(i, j) return (i * (j + 2) + 2) % NK / (5 * NK) end, { NM, NL })

local E = A:dot(B):dot(C):dot(D)

print(("sum       %.12g"):format(E:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(E)()))
