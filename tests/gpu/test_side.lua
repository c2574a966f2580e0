-- Where groups run by default: by estimate, on the host or on a GPU.
local check = dofile(arg[0]:match("^(.*/)") .. "../lua/check.lua")
local ffi = require "ffi"
local lgt, np = require "lgt", require "array"

local function says(x, text) return lgt.explain(x):find(text, 1, true) ~= nil end
local GPU = "devices computed it, and what it was made from in this window"

-- What changes of the counters while `f` runs, until all is done.
local function counted(f)
  lgt.fence()
  local before = lgt.stats()
  f()
  lgt.fence()
  local after = lgt.stats()
  for name, count in pairs(before) do after[name] = after[name] - count end
  return after
end

-- A GPU is opened for the next window once that seems worth it, which --gpu-credit says from the beginning.
np.arange(10):sum():item()
np.arange(10):sum():item()

check.case("a GPU was opened, and small arrays stay on the host", function()
  check.equal(#lgt.devices(), 1)
  local x
  local s = counted(function() x = np.arange(1000) * 2 + 1 end)
  check.equal(s.device_tasks, 0)
  check.equal(s.groups_on_host, 1)
  check.that(says(x, "a device would not be faster"))
  check.that(says(x, "by estimate"))
end)

check.case("large ones are made on the GPU", function()
  local x, sum
  local s = counted(function()
    x = np.arange(3e6) * 2.5 + 1
    sum = x:sum()
    sum:item()
  end)
  check.that(s.device_tasks > 0)
  check.equal(s.groups_on_host, 0)
  check.equal(s.bytes_to_devices, 0)
  check.that(says(x, GPU) and says(x, "by estimate"))
  check.equal(sum:item(), 2.5 * 3e6 * (3e6 - 1) / 2 + 3e6)
end)

check.case("a single use of 10 MB that the host has is not worth the bus", function()
  local n = 1250000
  local memory = ffi.new("double[?]", n)
  for i = 0, n - 1 do memory[i] = i end
  local x = np.frombuffer(memory)
  local y
  local s = counted(function() y = x * 2 + 1 end)
  check.equal(s.bytes_to_devices, 0)
  check.equal(s.device_tasks, 0)
  check.that(says(y, "the copies would cost more than a device saves"))
  check.equal(y[n]:item(), 2 * n - 1)
end)

check.case("much arithmetic is worth it", function()
  local n = 300000
  local memory = ffi.new("double[?]", n)
  for i = 0, n - 1 do memory[i] = i / n end
  local x = np.frombuffer(memory)
  local y
  local s = counted(function()
    y = x
    for _ = 1, 12 do y = np.sin(np.exp(y) + y) end
  end)
  check.equal(s.bytes_to_devices, 8 * n)
  check.that(s.device_tasks > 0)
  check.that(says(y, GPU))
end)

check.case("an iteration moves to the GPU once it has paid for the copies, and stays", function()
  local n = 1000000
  local memory = ffi.new("double[?]", n)
  for i = 0, n - 1 do memory[i] = 1 end
  local c = np.frombuffer(memory)
  local x = np.frombuffer(memory) * 1
  local function turn()
    x = (x + c) * 0.5
    lgt.fence()
  end
  local first = counted(turn)
  check.equal(first.device_tasks, 0)
  local turns = 0
  repeat
    turns = turns + 1
    local s = counted(turn)
    check.that(turns < 100, "it never moved")
  until s.device_tasks > 0
  local steady = counted(function() for _ = 1, 5 do turn() end end)
  check.equal(steady.groups_on_host, 0)
  check.equal(steady.bytes_to_devices, 0)
  check.equal(steady.bytes_from_devices, 0)
  check.that(says(x, GPU))
  check.equal(x[n]:item(), 1)
end)

check.case("a stencil of a stencil is one loop once the GPU has the arrays, and two on the host", function()
  local function passes(n)
    local a = np.arange(n)
    a = a * a
    local b
    local s = counted(function()
      local s = a["2:"] - a[":-2"]
      b = s["2:"] * s[":-2"]
      s = nil -- luacheck: ignore
    end)
    check.equal(b[4]:item(), 7 * 9)
    return s.passes, s.groups_on_host
  end
  for last, n in ipairs {500000, 1000} do
    local turns = 0
    local now, on_host
    repeat
      turns = turns + 1
      now, on_host = passes(n)
    until now == last and on_host == last - 1 or turns > 200
    check.equal(now, last)
    check.equal(on_host, last - 1)
  end
end)

return check.done()
