-- How much memory programs take beside their arrays: a few arrays more, however many turns their loops have.
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
local np, lgt = require "array", require "lgt"

local N = 1000 -- arrays of 8 MB: what is smaller than a few MB may take more turns at once
local GRID = 8 * N * N

-- The most that arrays took while f ran, in grids of N x N.
local function grids(f)
  lgt.fence()
  collectgarbage()
  collectgarbage()
  lgt.stats_reset()
  f()
  lgt.fence()
  return lgt.stats().bytes_peak / GRID
end

local function neighbours(a)
  return a["2:-2, :-3"] + a["2:-2, 3:"] + a[":-3, 2:-2"] + a["3:, 2:-2"]
end

check.case("two grids that are updated in place take two more at a time", function()
  local u, v = np.ones(N, N), np.zeros(N, N)
  v["400:600, 400:600"] = 0.25
  local inner, other = u["2:-2, 2:-2"], v["2:-2, 2:-2"]
  local most = grids(function()
    for _ = 1, 30 do
      local du, dv = neighbours(u) - 4 * inner, neighbours(v) - 4 * other
      local reaction = inner * other * other
      inner["..."] = inner + (0.16 * du - reaction + 0.035 * (1 - inner))
      other["..."] = other + (0.08 * dv + reaction - 0.1 * other)
    end
  end)
  check.that(most <= 8, "it took " .. most)
end)

check.case("a loop that makes an array anew takes no more than in its first turns", function()
  local p, q = np.zeros(N, N), np.zeros(N, N)
  q[{500, 500}] = 1
  local most = grids(function()
    for _ = 1, 40 do
      local r = np.zeros(N, N)
      r["2:-2, 2:-2"] = 2 * q["2:-2, 2:-2"] - p["2:-2, 2:-2"] + 0.25 * (neighbours(q) - 4 * q["2:-2, 2:-2"])
      r["1, :"] = q["2, :"]
      r[":, -1"] = q[":, -2"]
      p, q = q, r
    end
  end)
  check.that(most <= 10.5, "it took " .. most)
end)

check.case("what is held of a loop is right, and is all that is held", function()
  local x, held = np.arange(N * N):reshape(N, N):astype("float64"), {}
  local most = grids(function()
    for turn = 1, 24 do
      x = 0.25 * (np.roll(x, 1, 1) + np.roll(x, -1, 1)) + 0.5 * x
      if turn % 8 == 0 then held[#held + 1] = x end
    end
  end)
  check.that(most <= 14, "it took " .. most)
  for k, y in ipairs(held) do
    local z = np.arange(N * N):reshape(N, N):astype("float64")
    for _ = 1, 8 * k do z = 0.25 * (np.roll(z, 1, 1) + np.roll(z, -1, 1)) + 0.5 * z end
    check.that(np.array_equal(y, z), "result " .. k .. " differs")
  end
end)

check.done()
