-- What an operation costs the Lua thread before the runtime sees it, in nanoseconds, by the form of the
-- operations and the length of the loop's body (the JIT compiler takes short ones whole and long ones not):
--   build/lgt bench/issue.lua
-- The median over the turns of a loop counts, because other programs may run on this machine.
local np = require "array"
local lgt = require "lgt"

local forms = {
  arrays = { "c = a + b", "c = c - b", "c = a * b", "c = c + a" },
  numbers = { "c = a + b", "c = c * 0.5", "c = 1 - c", "c = c + a" },
  functions = { "c = np.maximum(a, b)", "c = np.abs(c)", "c = c:lt(b)", "c = np.sqrt(a)" },
  views = { "c = a['2:-2'] + b['3:-1']", "b[':-4'] = a['3:-2']", "b:iadd(a)", "c = b['1:5'] - a[{{4, 8}}]" },
}

-- Seconds for one launch in a loop whose body has so many operations.
local function cost(form, operations)
  local body = {}
  for i = 1, operations do body[i] = forms[form][i % 4 + 1] end
  local loop = assert(loadstring(([[
    local np, lgt, a, b, seconds, turns = ...
    local c = a
    for turn = 1, turns do
      lgt.flush()
      local begin = lgt.time()
      %s
      seconds[turn] = lgt.time() - begin
    end
    lgt.fence()]]):format(table.concat(body, "\n")), "=loop"))
  local a, b = np.ones(1000), np.ones(1000)
  local turns, seconds = math.ceil(40000 / operations), {}
  loop(np, lgt, a, b, seconds, turns)
  lgt.stats_reset()
  loop(np, lgt, a, b, seconds, turns)
  table.sort(seconds)
  return seconds[math.ceil(turns / 2)] * turns / lgt.stats().launches
end

print("operations a turn", 10, 50, 150, 300)
for _, form in ipairs { "arrays", "numbers", "functions", "views" } do
  local row = {}
  for i, operations in ipairs { 10, 50, 150, 300 } do row[i] = ("%.0f ns"):format(cost(form, operations) * 1e9) end
  print(("%-17s"):format(form), unpack(row))
end
