-- Loops take no more memory, however many turns they have.  Run with --compile=0: the compiler has tens of MB.
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
local np, lgt = require "array", require "lgt"

-- The most memory that the process has had so far, in bytes; nil where the system does not tell.
local function most_memory()
  local status = io.open("/proc/self/status")
  local most = status and tonumber(status:read("*a"):match("VmHWM:%s*(%d+) kB"))
  if status then status:close() end
  return most and most * 1024
end

-- The first case, while the process has had little memory.  A turn's plan serves no other turn, and is freed with the
-- results that were never stored: their handles must not wait for a collection until plans have taken tens of MB, and
-- with --mem, not until they have taken much of that ("plans" and how many MB there may be are arguments).
local MOST = tonumber(arg[2]) or 32
check.case("plans for other slices in each turn", function()
  local x, sum = np.ones(20000), np.zeros(3)
  local most = {}
  for k = 1, 6000 do
    local y = x[{ { k, k + 2 } }]
    for _ = 1, 30 do y = y * 0.5 + 1 end
    sum:iadd(y)
    lgt.flush()
    if k == 100 or k == 6000 then most[#most + 1] = most_memory() end
  end
  local more = most[1] and most[2] - most[1] or 0
  check.that(more < MOST * 2 ^ 20, ("%d bytes more"):format(more))
  check.that(lgt.stats().plans_shifted > 5000, "plans are not shifted")
end)
if arg[1] == "plans" then check.done() return end

-- What one turn of a loop does to a small grid; first what makes most results that are never stored.
local TURNS = {
  { "elided", function(x) return (x * 0.5 + 1) * 0.25 - 3 end },
  { "read", function(x, turn)
    if turn % 100 == 0 then x(1, turn / 100 % 64 + 1) end
    return x * 0.5 + 1
  end },
  { "anew", function(x) return x + 1 end },
  { "in place", function(x)
    x["2:-2, 2:-2"] = 0.25 * (x[":-3, 2:-2"] + x["3:, 2:-2"] + x["2:-2, :-3"] + x["2:-2, 3:"])
    return x
  end },
  { "slices", function(x, turn)
    local k = turn % 499 + 1
    x:ravel()[{ { k, k + 1 + turn % 17 } }] = turn
    return x
  end },
  { "sums", function(x) return x - np.mean(x) end },
  { "tables", function(x, turn)
    local row = np.array { turn, 2, 3 }
    row["1:2"] = row["2:3"] + 1
    x["2, :3"] = row
    return x
  end },
}

for _, loop in ipairs(TURNS) do
  local name, turn = unpack(loop)
  check.case(name .. ": more turns take no more memory", function()
    local x, most = np.ones(64, 64), {}
    for k = 1, 10 ^ 5 do
      x = turn(x, k)
      if k == 3 * 10 ^ 4 or k == 10 ^ 5 then
        lgt.fence()
        most[#most + 1] = most_memory()
      end
    end
    local more = most[1] and most[2] - most[1] or 0
    check.that(more < 16 * 2 ^ 20, ("%d bytes more"):format(more))
  end)
end

check.done()
