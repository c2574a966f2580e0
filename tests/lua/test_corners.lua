-- With so many domains that most dimensions of an array are cut.
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
local np = require "array"

-- Grids of tiles have more corners than those that are looked at first.
check.case("many dimensions are cut", function()
  for _, n in ipairs { 5, 6 } do
    local shape = {}
    for i = 1, n do shape[i] = 4 end
    local a = np.ones(shape)
    local b = a * 2 + 1
    local c = b["2:"] + b[":-2"]
    local d = c * 2 + a["2:"]
    check.equal({ b:sum()(), c:sum()(), d:sum()() }, { 3 * 4 ^ n, 6 * 3 * 4 ^ (n - 1), 13 * 3 * 4 ^ (n - 1) })
  end
end)

check.done()
