-- The lgt side of breadth.py:  lgt breadth.lua FOLDER N turns|moves
--
-- FOLDER/names lists the inputs, .npy files; FOLDER/cases the expressions.  "turns" answers each "NUMBER CALLS" that
-- comes in with the seconds of the processor that a call of this expression takes; "moves", on several ranks, says of
-- each expression whether it waits, and whether it brings an array whole to a rank.
local lgt = require "lgt"
local np = require "array"

-- luacheck: push ignore
_G.lgt = lgt
ffi = require "ffi"
folder = arg[1]
N = tonumber(arg[2])
R, T = math.floor(math.sqrt(N) + 0.5), math.floor(N / 10)
np.random.seed(1)
for name in io.lines(folder .. "/names") do _G[name] = np.load(folder .. "/" .. name .. ".npy") end
text = io.open(folder .. "/text"):read("*a"):gsub("\n", " ")
memory = ffi.new("double[?]", N)
-- luacheck: pop

local cases = {}
for line in io.lines(arg[1] .. "/cases") do
  cases[#cases + 1] = assert(loadstring("local np = ... return function() return " .. line .. "\nend", "=" .. line))(np)
end

if arg[3] == "turns" then
  for request in io.lines() do
    local number, calls = request:match("(%d+) (%d+)")
    local f, kept = cases[tonumber(number)], {} -- luacheck: ignore
    local ok, why = pcall(function()
      lgt.fence()
      local begin = os.clock()
      for k = 1, tonumber(calls) do kept[k] = { f() } end
      lgt.fence()
      return (os.clock() - begin) / calls
    end)
    io.write(ok and ("%.9f\n"):format(why) or "error " .. tostring(why):gsub("\n", " ") .. "\n")
    io.flush()
    kept = nil -- luacheck: ignore
    collectgarbage()
  end
else
  for _, f in ipairs(cases) do
    local waited = false
    local ok, why = pcall(function()
      f() -- kinds are registered, files loaded
      local before = lgt.stats().waits
      local kept = { f() } -- luacheck: ignore
      waited = lgt.stats().waits > before
      lgt.fence()
    end)
    why = tostring(why):gsub("\n", " ")
    local whole = not ok and why:find("needs all of an array of", 1, true)
    print(not ok and not whole and "error " .. why or (waited and "waits " or "") .. (whole and "whole" or ""))
  end
end
