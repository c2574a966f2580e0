-- What a launch costs where there is a GPU whose kernels do nothing, in microseconds of processor time:
--   export LD_LIBRARY_PATH=build/tests/gpu LGT_FAKE_CUDA_KERNELS=0 LGT_FAKE_CUDA_DELAY=0
--   build/lgt --gpus 1 --cpus 1 tests/gpu/issue.lua
-- All threads are the emulated driver's, too.  The best of nine turns counts, since other programs may run beside it.
local ffi = require "ffi"
local lgt, np = require "lgt", require "array"

ffi.cdef [[
  typedef struct { long seconds, nanoseconds; } issue_time;
  int clock_gettime(int clock, issue_time *out);
]]
local PROCESS, THREAD = 2, 3
local time = ffi.new "issue_time"
local function now(clock)
  ffi.C.clock_gettime(clock, time)
  return tonumber(time.seconds) + tonumber(time.nanoseconds) * 1e-9
end

local a, b = np.ones(1000) * 1.5, np.ones(1000) * 2.5
local s = np.ones(42, 42) * 1.5
local t = s * 1
local ex, ey, hz = np.ones(60, 60) * 0.5, np.ones(60, 60) * 0.25, np.ones(60, 60) * 0.75
local m, x, y = np.ones(60, 60) * 0.01, np.ones(60), np.ones(60)
local turns = {
  chain = function() a = (a + b) * 0.5 end,
  stencils = function()
    t["2:-2, 2:-2"] = 0.2 * (s["2:-2, 2:-2"] + s[":-3, 2:-2"] + s["3:, 2:-2"] + s["2:-2, :-3"] + s["2:-2, 3:"])
    s, t = t, s
  end,
  fdtd = function()
    ey["1, :"] = 0.5
    ey["2:, :"] = ey["2:, :"] - 0.5 * (hz["2:, :"] - hz[":-2, :"])
    ex[":, 2:"] = ex[":, 2:"] - 0.5 * (hz[":, 2:"] - hz[":, :-2"])
    hz[":-2, :-2"] = hz[":-2, :-2"] - 0.7 * (ex[":-2, 2:"] - ex[":-2, :-2"] + ey["2:, :-2"] - ey[":-2, :-2"])
  end,
  sums = function()
    x = 0.5 * (m * x):sum(2)
    y = 0.5 * (m * y):sum(1)
  end
}

for _, name in ipairs { "chain", "stencils", "fdtd", "sums" } do -- what ran before makes collections dearer
  local turn = turns[name]
  local thread, process = math.huge, math.huge
  for i = 1, 10 do
    local before, own, all = lgt.stats().launches, now(THREAD), now(PROCESS)
    for _ = 1, 5000 do turn() end
    lgt.fence()
    own, all = now(THREAD) - own, now(PROCESS) - all
    local launches = lgt.stats().launches - before
    if i > 1 then thread, process = math.min(thread, own / launches), math.min(process, all / launches) end
  end
  print(("%-9s the script's thread %.2f, all threads %.2f"):format(name, thread * 1e6, process * 1e6))
end
