-- Numbers changed in place and reduced in one loop: threads without an element do not load what others store.  And
-- quotients with a divisor in common (src/core/kernel/emit/emit_device_quotient.c) have the bits of divisions.
local check = dofile(arg[0]:match("^(.*/)") .. "../lua/check.lua")
local np = require "array"

check.case("a number changed in place, and its greatest element", function()
  local a = np.sum(np.arange(9) * 0.5)
  local y = np.arange(9) * 1.0
  for turn = 1, 3 do
    a:isub(y[3])
    local most, more = np.max(a), 0.5 * a + a
    check.equal(most:item(), 18 - 2 * turn)
    check.equal(more:item(), 1.5 * (18 - 2 * turn))
  end
end)

-- Numbers of either sign whose quotients are near the middle of two numbers, small, large, or none.
local function edges()
  local list = {0, 1 / 0, 0 / 0, 2 ^ -1074, 3 * 2 ^ -1074, 2 ^ -1022, 2 ^ -1021, 2 ^ 1023, 1.75 * 2 ^ 1023,
    1, 3, 1 / 3, 1e-160, 1e160}
  for _, power in ipairs {-800, -401, -400, 0, 399, 400, 800} do
    for k = 1, 4 do list[#list + 1] = (2 - k * 2 ^ -52) * 2 ^ power end
    list[#list + 1] = (1 + 2 ^ -52) * 2 ^ power
  end
  for i = 1, #list do list[#list + 1] = -list[i] end
  return list
end

check.case("quotients by the same", function()
  local list, above, below = edges(), {}, {}
  for _, a in ipairs(list) do
    for _, b in ipairs(list) do
      for k = 1, 2 do above[#above + 1], below[#below + 1] = k == 1 and a or 7, b end -- what is not side by side
    end
  end
  local a, b = np.array(above)["1:-1:2"], np.array(below)["1:-1:2"]
  require "lgt".fence()
  local x, y, z = a / b, -a / b, (a * 3) / b
  x, y, z = x:totable(), y:totable(), z:totable()
  local function same(result, right) -- the signs of zeros, too
    if result == result and (result ~= right or 1 / result ~= 1 / right) or (result ~= result) ~= (right ~= right) then
      check.equal(result, right)
    end
  end
  for i = 1, #x do
    local p, q = above[2 * i - 1], below[2 * i - 1]
    same(x[i], p / q)
    same(y[i], -p / q)
    same(z[i], (p * 3) / q)
  end
end)

return check.done()
