-- The runtime as scripts see it: counters, options, errors of tasks.
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
local np = require "array"
local lgt = require "lgt"

-- Each of them takes milliseconds of every start.
check.case("a process loads no library that it has no use for", function()
  local maps = assert(io.open("/proc/self/maps")):read("*a")
  for _, name in ipairs { "hwloc/", "libcuda", "libopenblas", "libLLVM" } do
    check.that(not maps:find(name, 1, true), name .. " is loaded")
  end
end)

check.case("who and when", function()
  check.equal(lgt.rank(), 0)
  check.equal(lgt.size(), 1)
  local t = lgt.time()
  check.that(lgt.time() >= t)
  check.that(lgt.version:match("^%d+%.%d+%.%d+$"))
end)

check.case("counters", function()
  lgt.fence()
  lgt.stats_reset()
  local x = np.ones(10) + 1
  lgt.fence()
  local stats = lgt.stats()
  check.equal(stats.launches, 2)
  for _, name in ipairs { "launches", "tasks", "fused_groups", "temporaries_elided", "kernels_compiled",
    "kernels_loaded",
                          "bytes_copied", "bytes_live", "bytes_peak", "collections" } do
    check.equal(type(stats[name]), "number")
  end
  check.equal(x(1), 2)
  check.equal(lgt.stats().waits - stats.waits, 1)
end)

check.case("options", function()
  lgt.options { fusion = false }
  lgt.options { fusion = true, window = 64 }
  check.refuses("colour", function() lgt.options { colour = 1 } end)
  check.refuses("cpus", function() lgt.options { cpus = 3 } end)
  check.refuses("not nil", function() lgt.options() end)
  check.refuses("not a string", function() lgt.options("fusion") end)
end)

check.case("explain", function()
  local x = np.ones(10) * 2
  local text = lgt.explain(x)
  check.that(type(text) == "string" and #text > 20)
  check.refuses("an array was expected", function() lgt.explain(3) end)
  local gone = np.ones(3)
  gone:free()
  check.refuses("released with free()", function() lgt.explain(gone) end)
end)

check.case("extents that no array has, axes given twice", function()
  check.refuses("an extent of 1e+300", function() np.zeros(1e300) end)
  check.refuses("an extent of 4.612e+18", function() np.zeros(2, 2 ^ 62) end)
  check.refuses("axis 1 is given twice", function() np.ones(2, 2):transpose(1, 1) end)
end)

check.case("an array too large names its line", function()
  local line = debug.getinfo(1, "l").currentline + 1
  local x = np.zeros(2 ^ 45) -- nothing is allocated yet
  local y = x + 1
  check.refuses(("test_lgt.lua:%d)"):format(line), function() print(y(1)) end)
  check.equal((np.ones(3) * 2):sum()(), 6) -- and the runtime works on
end)

check.case("an array that is overwritten is sound again, though results wait that read it", function()
  for _ = 1, 3 do
    local x, huge = 1 + np.ones(2), np.empty(2 ^ 43)
    huge:fill(1)
    x["..."] = huge[1]
    check.refuses("out of memory", function() x:totable() end)
    x:fill(2)
    local _ = np.minimum(1, x) % -2
    check.equal(x:totable(), { 2, 2 })
  end
end)

check.case("what fails takes with it only what is computed from it, though all are one task", function()
  local a, x = np.ones(9), np.ones(9)
  x["..."] = np.take(a, np.full({ 9 }, 30):astype("int64"))
  check.refuses("outside its extent", function() x:totable() end)
  for _ = 1, 3 do
    local good, bad = a + 1, x + 1
    local y = x * 0
    y:fill(2)
    check.equal(good:totable(), { 2, 2, 2, 2, 2, 2, 2, 2, 2 })
    check.equal(y:totable(), { 2, 2, 2, 2, 2, 2, 2, 2, 2 })
    check.refuses("outside its extent", function() bad:totable() end)
  end
end)

check.done()
