-- The lgt side of breadth.py:  lgt breadth.lua FOLDER
--
-- For each line of FOLDER/cases: milliseconds, and whether the call waited for its result.  The inputs are the .npy
-- files that FOLDER/names lists.
local lgt = require "lgt"
local np = require "array"

local folder = arg[1]
N = 1000000 -- luacheck: ignore
np.random.seed(1)
for name in io.lines(folder .. "/names") do _G[name] = np.load(folder .. "/" .. name .. ".npy") end

local LEAST, MOST, ENOUGH = 4, 15, 1 -- turns, and seconds for them

local function measured(f)
  local best, waited, spent, turns = math.huge, true, 0, 0
  while turns < LEAST or turns < MOST and spent < ENOUGH do
    lgt.fence()
    local pending = np.ones(1) -- a launch that stays where it is unless something is waited for
    local before, begin = lgt.front.count, os.clock()
    local result = f() -- luacheck: ignore
    waited = waited and lgt.front.count < before
    lgt.fence()
    local seconds = os.clock() - begin
    turns, spent = turns + 1, spent + seconds
    if turns > 2 then best = math.min(best, seconds) end
    pending:free()
  end
  return best, waited
end

for line in io.lines(folder .. "/cases") do
  local f = assert(loadstring("local np = require 'array' local result = " .. line .. " return result", "=" .. line))
  local ok, best, waited = pcall(measured, f)
  print(ok and ("%.4f\t%s"):format(best * 1e3, waited and "waits" or "") or "error\t" .. tostring(best))
end
