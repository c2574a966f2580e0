-- Tasks get all memory that they need before any of them runs, so that an attempt that lacks some can still give up
-- what nobody needs, or go elsewhere.  Run with --emulate=3 --emulate-mem=100K, with -n 2 --mem=1088K, and with
-- --domains=2 --mem=2176K.
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

if devices > 0 then
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
elseif lgt.size() > 1 then
  check.case("only what lacks memory fails", function()
    local x = np.full({ 64, 64, 64 }, 0.5) -- half of it on each rank; two domains reduce into the sums
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
