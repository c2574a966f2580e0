-- With devices of little memory (--emulate=N --emulate-mem=4M): what does not fit into it moves to the host or runs
-- there, and nothing stays in it.
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
local np = require "array"
local lgt = require "lgt"

local function counted(f)
  lgt.fence()
  lgt.stats_reset()
  f()
  lgt.fence()
  return lgt.stats()
end

check.case("devices are listed", function()
  local devices = lgt.devices()
  local first = devices[1]
  check.that(first and first.class == "emulated" and first.domain == 0 and first.memory == 2 ^ 22, "a wrong list")
end)

check.case("more arrays than the devices hold", function()
  local all, total = {}, 0
  local stats = counted(function()
    for i = 1, 40 do all[i] = np.arange(100000) * i end
    for i = 1, 40 do total = total + np.sum(all[i]):item() end
  end)
  check.equal(total, 40 * 41 / 2 * 99999 * 50000)
  check.that(stats.device_tasks > 80, ("devices did %d tasks"):format(stats.device_tasks))
  check.that(stats.copies_from_devices > 20, ("%d copies have left"):format(stats.copies_from_devices))
end)

check.case("an array that no device holds", function()
  local x
  local stats = counted(function() x = np.arange(4000000) * 0.5 end)
  check.equal(np.sum(x):item(), 3999999 * 1000000)
  check.that(stats.groups_on_host > 0, "where was it?")
end)

check.case("all of the memory is there again", function()
  for _ = 1, 3 do
    collectgarbage()
    lgt.fence()
  end
  local stats = counted(function()
    for _ = 1, 5 do
      local x = np.arange(150000) * 0.5
      check.equal((x + x)(150000), 149999)
    end
  end)
  check.that(stats.groups_on_host == 0, "it ran on the host")
end)

check.case("sums of all devices, numbers for all", function()
  local stats = counted(function()
    local x = np.arange(1000) * 0.5
    local y = (x - np.mean(x)) / np.max(x)
    check.that(math.abs(np.sum(y):item()) < 1e-9 and np.argmin(y):item() == 1, "values are wrong")
    check.that(np.sum(y:reshape(10, 100), 1).shape[1] == 100, "a shape is wrong")
  end)
  check.that(stats.groups_on_host == 0, ("%d groups ran on the host"):format(stats.groups_on_host))
end)

-- Five arrays where four fit.  Were all to leave whenever one lacks room, they would all come back in each turn.
check.case("arrays that are worked with in turns stay as far as there is room", function()
  local devices, all, total = #lgt.devices(), {}, 0
  local n = 100000 * devices * lgt.size()
  for i = 1, 5 do all[i] = np.arange(n) * i end
  collectgarbage()
  collectgarbage()
  local stats = counted(function()
    for _ = 1, 6 do
      for i = 1, 5 do total = total + np.max(all[i]):item() end
    end
  end)
  check.equal(total, 6 * 15 * (n - 1))
  check.that(stats.groups_on_host == 0, ("%d groups ran on the host"):format(stats.groups_on_host))
  local moved = (stats.bytes_to_devices + stats.bytes_from_devices) / devices
  check.that(moved > 4e6 and moved < 14e6, ("%d bytes crossed the bus for each device"):format(moved))
  stats = counted(function()
    for _ = 1, 6 do
      for i = 1, 5 do
        all[i]:iadd(i)
        lgt.flush()
      end
    end
  end)
  moved = (stats.bytes_to_devices + stats.bytes_from_devices) / devices
  check.that(moved > 4e6 and moved < 20e6, ("%d bytes crossed the bus for each device"):format(moved))
  for i = 1, 5 do check.equal(np.max(all[i]):item(), i * (n - 1 + 6)) end
end)

-- The first time nobody has the product, so nothing is computed, by a device; the second time it is asked for, and no
-- device multiplies sparse matrices.
check.case("a recipe of which a device has the inputs", function()
  local sparse = require "sparse"
  local n = 50
  local a = sparse.diags({ np.full({ n }, 2) }, { 0 }):tocsr()
  local x = np.arange(n) * 0.5
  a:dot(x):totable()
  for turn = 1, 2 do
    local y = a:dot(x)
    if turn == 1 then
      y = nil
      collectgarbage()
      collectgarbage()
    end
    lgt.flush()
    if y then check.equal(y:totable(), (x * 2):totable()) end
  end
end)

return check.done()
