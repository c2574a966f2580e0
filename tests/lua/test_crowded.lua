-- Tasks get all memory that they need before any of them runs, so that an attempt that lacks some can still give up
-- what nobody needs, or go elsewhere.  Run with --emulate=3 --emulate-mem=100K, with -n 2 --mem=1088K, with
-- --domains=2 --mem=2176K; as "siblings" with -n 2 --domains=2 --mem=130K, as "masks" with --domains=3 --mem=173100, as
-- "together" with -n 2 --mem=400K, as "numbers" with -n 2 --emulate=3 --mem=10K, as "again" with --domains=2
-- --mem=600K.
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
local np = require "array"
local lgt = require "lgt"

local devices = #lgt.devices()

-- Arrays that take all of each device: a block of memory is a power of two or one to three quarters more.
local function fill_devices()
  local all = {}
  for i, bytes in ipairs { 80 * 1024, 16 * 1024, 4 * 1024 } do all[i] = np.arange(devices * bytes / 8) * 0.5 end
  lgt.fence()
  return all
end

if arg[1] == "numbers" then
  check.case("a number comes to domains one of which lacks memory", function()
    local list = {}
    for i = 1, 1300 do list[i] = i end
    local all = np.array(list) -- more than there is: it was made outside
    lgt.fence()
    local x = np.array { 1, 2, 3, 4, 5, 6 }
    local y = (x + x)[-5] + 1
    np.add(y, y, { out = y, where = x[1]:ge(0) })
    check.refuses("out of memory", function() return (y:item()) end)
    check.equal(all(1300), 1300)
  end)
elseif devices > 0 then
  check.case("what a device reduces into, where the device has no room", function()
    local n = devices * 80 * 128
    local all = fill_devices()
    check.equal(np.sum(all[1]):item(), n * (n - 1) / 4)
    check.equal(np.argmax(all[1]):item(), n)
  end)

  check.case("a number for devices that have no room for it", function()
    local all = fill_devices()
    local least = np.max(all[3])
    check.equal((all[2] - least)(1), -(devices * 512 - 1) / 2)
  end)

  check.case("a device has room again", function()
    for _ = 1, 3 do
      collectgarbage()
      lgt.fence()
    end
    lgt.stats_reset()
    local x = fill_devices()
    check.equal(x[1](3), 1)
    check.equal(lgt.stats().groups_on_host, 0)
  end)
elseif arg[1] == "siblings" then
  check.case("what a domain could not get it has not for its siblings", function()
    local n, m = 2 ^ 14, 2 ^ 10
    local x = np.arange(n) + 1.0
    local weights = np.full({ m }, 1.0):astype("complex128") -- larger than what it meets, so they decide who works
    local ballast = np.full({ 8000 }, 1.0)
    lgt.fence()
    local turned = x["::-1"] + 0.0 -- domain 3 would get what domain 0 has
    lgt.flush()
    ballast:free()
    local first = n / 4 - 3 * m / 4 + 1
    local function total() return np.sum(np.real(weights * x[{ { first, first + m - 1 } }])):item() end
    local good, message = pcall(total) -- domain 2 needs some of that
    check.that(not good and message:find("no room for elements of other ranks", 1, true), message)
    good, message = pcall(function() return turned(1) end)
    check.that(not good and message:find("out of memory", 1, true), message)
    turned:free()
    check.equal(total(), m * (2 * first + m - 1) / 2)
  end)
elseif arg[1] == "together" then
  -- So many writes that an array's elements are brought together, for which a rank has no room.
  check.case("what a domain was to have for itself, and had no room for, is no contents", function()
    local n, m = 2 ^ 15, 2 ^ 8
    local source, x = np.arange(3 * n / 4) + 1.0, np.empty(n)
    x[{ { n / 4 + 1, n } }] = source
    lgt.fence()
    source:free()
    local weights = np.full({ m }, 1.0):astype("complex128")
    for i = 1, 40 do
      x[{ { i, i + m - 1 } }] = np.real(weights * i)
      lgt.flush()
    end
    lgt.fence()
    local ballast = np.arange(48000) + 1.5
    lgt.fence()
    local good, message = pcall(function() return np.sum(x[{ { 1, m } }] * np.real(weights)):item() end)
    check.that(not good and message:find("out of memory", 1, true), message)
    ballast:free()
    local wide = np.full({ 2000 }, 1.0):astype("complex128")
    local part = x[{ { n / 2 - 999, n / 2 + 1000 } }]
    good, message = pcall(function() return np.sum(part * np.real(wide)):item() end)
    check.that(not good and message:find("no room for elements of other ranks", 1, true), message)
    good, message = pcall(function() return x(n / 2 + 5) end)
    check.that(not good and message:find("out of memory", 1, true), message)
    x:fill(3)
    check.equal(x(n / 2 + 5), 3)
  end)
elseif arg[1] == "masks" then
  check.case("what is dead makes room for what tells which elements a domain needs", function()
    local n, sum = 3000, 0
    local x, y, wanted = np.arange(n) * 0.5, np.arange(n) * 0.25, {}
    collectgarbage("stop")
    for turn = 1, 60 do
      local mask = y:gt(30)
      x[mask] = y[mask] * 0.9
      local garbage = x + turn
      garbage["1:2"] = 3
    end
    collectgarbage("restart")
    for i = 1, n do
      local value = (i - 1) * 0.25
      wanted[i] = value > 30 and value * 0.9 or (i - 1) * 0.5
      sum = sum + wanted[i]
    end
    check.that(math.abs(np.sum(x):item() - sum) < 1e-6 * sum)
    check.equal(x:totable(), wanted)
  end)
elseif arg[1] == "again" then
  check.case("what waited for memory has the room that it had asked for", function()
    local x = np.arange(2 ^ 14) * 0.5
    local w, z -- luacheck: ignore
    lgt.fence()
    for _ = 1, 8 do
      x["2:-2"] = x["2:-2"] * 0.5 + 1
      w = np.sin(x["2:-2"] * 3)
      z = np.exp(np.sin(x["2:"] - x[":-2"]))
      lgt.flush()
    end
    w, z = nil, nil -- luacheck: ignore
    check.equal(x(7), 2 + 2 ^ -8)
  end)
elseif lgt.size() > 1 then
  check.case("only what lacks memory fails", function()
    local x = np.full({ 64, 64, 64 }, 0.5) -- half of it on each rank: 1 MB; what is left is too little for the sums
    lgt.fence()
    local most, sums = np.max(x, 3), np.sum(x, 1)
    lgt.flush()
    local good, message = pcall(function() return sums(1, 1) end)
    check.that(not good and message:find("needs 32768 more bytes", 1, true), message)
    check.equal(most(64, 64), 0.5)
  end)
else
  check.case("what is dead makes room for what domains reduce into", function()
    local x = np.full({ 64, 64, 64 }, 0.5)
    for turn = 1, 3 do
      check.equal(np.full({ 2 ^ 13 }, turn)(5), turn) -- nobody has it any more, and nobody knows that yet
      check.equal(np.sum(x, 1)(1, turn), 32)
    end
  end)
end

return check.done()
