-- Host memory that a script asks for (a:host), or has attached, has the newest values wherever groups run, and what
-- the script writes there reaches GPUs.  A list of numbers in Lua says what must be there.
local check = dofile(arg[0]:match("^(.*/)") .. "../lua/check.lua")
local ffi = require "ffi"
local lgt, np = require "lgt", require "array"

local N = 24
local state = 12345
local function random(n) -- 1 ... n, the same on all ranks
  state = (state * 1103515245 + 12345) % 2147483648
  return math.floor(state / 65536) % n + 1
end

-- What may happen to an array `x` and the list `want` of what it holds.
local steps = {
  function(x, want, lo, hi) -- on a GPU
    x:sub(lo, hi):iadd(3)
    for i = lo, hi do want[i] = want[i] + 3 end
  end,
  function(x, want) -- on a GPU, from what lies before: views of itself
    x["2:"] = x[":-2"] * 2
    for i = N, 2, -1 do want[i] = want[i - 1] * 2 % 1048576 end
    x["..."] = x % 1048576
    want[1] = want[1] % 1048576
  end,
  function(x, want, lo, hi) -- by the script
    x:sub(lo, hi):host("rw", function(p, n) for i = 0, n - 1 do p[i] = p[i] + i end end)
    for i = lo, hi do want[i] = want[i] + i - lo end
  end,
  function(x, want, lo, hi) -- by the script, without reading
    x:sub(lo, hi):host("w", function(p, n) for i = 0, n - 1 do p[i] = lo end end)
    for i = lo, hi do want[i] = lo end
  end,
  function(x, want) -- a call of C
    x["..."] = np.sort(x)
    table.sort(want)
  end,
  function(x, want, lo, hi) -- the script looks
    x:sub(lo, hi):host("r", function(p, n)
      for i = 0, n - 1 do check.equal(p[i], want[lo + i]) end
    end)
  end,
  function(x, want, lo) check.equal(x(lo), want[lo]) end,
  function() lgt.fence() end,
}

local function walk(x, turns, each)
  local want = {}
  for i = 1, N do want[i] = i end
  for _ = 1, turns do
    local lo = random(N)
    local hi = lo + random(N - lo + 1) - 1
    steps[random(#steps)](x, want, lo, hi)
    if each then each(x, want) end
  end
  check.equal(x:totable(), want)
  return want
end

check.case("memory that a script asks for", function()
  for _ = 1, 4 do walk(np.arange(N):astype("float64") + 1, 60) end
end)

check.case("memory that was attached, once all is done", function()
  local memory = ffi.new("double[?]", N)
  for i = 0, N - 1 do memory[i] = i + 1 end
  local x = np.frombuffer(memory)
  local want = walk(x, 60)
  x:detach()
  for i = 1, N do check.equal(memory[i - 1], want[i]) end
end)

check.case("what a GPU has from attached memory is not kept for longer than it is right", function()
  local memory = ffi.new("double[?]", N)
  for i = 0, N - 1 do memory[i] = i + 1 end
  local x = np.frombuffer(memory)
  local before = x * 2
  check.equal(before[N]:item(), 2 * N)
  x:host("rw", function(p) p[N - 1] = -1 end)
  check.equal((x * 2)[N]:item(), -2)
  x:iadd(1)
  check.equal((x * 2)[N]:item(), 0)
  check.equal(before[N]:item(), 2 * N)
end)

check.done()
