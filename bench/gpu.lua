-- What GPUs are measured by, as a contestant:  lgt bench/gpu.lua PROGRAM ELEMENTS
-- lgt bench/gpu.lua names the programs, each with the bytes of memory that a turn must move for each element.
package.path = arg[0]:gsub("[^/]*$", "") .. "?.lua;" .. package.path
local contest = require "contest"
local np = require "array"

local programs = {}

local function matrix(n)
  local rows = math.floor(math.sqrt(n))
  return contest.fraction(rows * rows, 0.6180339887498949, 0, 1, "float64"):reshape(rows, rows)
end

-- Each is {bytes for each element, function(elements) that returns a turn and what it has computed}.

programs.triad = {24, function(n)
  local b = contest.fraction(n, 0.6180339887498949, 0, 1, "float64")
  local c, a = contest.fraction(n, 0.4142135623730951, 0, 1, "float64")
  return function() a = b + 3 * c end, function() return a:mean():item() end
end}

programs.black_scholes = {40, function(n)
  local S = contest.fraction(n, 0.8191725133961645, 5, 30, "float64")
  local X = contest.fraction(n, 0.6710436067037893, 1, 100, "float64")
  local T = contest.fraction(n, 0.5497004779019703, 0.25, 10, "float64")
  local r, v, call, put = 0.02, 0.3
  local function cnd(d)
    local k = 1 / (1 + 0.2316419 * np.abs(d))
    local tail = 0.3989422804014327 * np.exp(-0.5 * d * d) * k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 +
      k * (-1.821255978 + k * 1.330274429))))
    return np.where(d:gt(0), 1 - tail, tail)
  end
  return function()
    local vt = v * np.sqrt(T)
    local d1 = (np.log(S / X) + (r + 0.5 * v * v) * T) / vt
    local n1, n2 = cnd(d1), cnd(d1 - vt)
    local D = X * np.exp(-r * T)
    call, put = S * n1 - D * n2, D * (1 - n2) - S * (1 - n1)
  end, function() return call:mean():item(), put:mean():item() end
end}

programs.stencil = {16, function(n)
  local a = matrix(n)
  local b = a:copy()
  return function()
    b["2:-2, 2:-2"] = 0.2 * (a["2:-2, 2:-2"] + a[":-3, 2:-2"] + a["3:, 2:-2"] + a["2:-2, :-3"] + a["2:-2, 3:"])
    a, b = b, a
  end, function() return a:mean():item() end
end}

-- A step of examples/shallow_water.lua, in three passes: the greatest speed is known when all of the state was read
-- (24 bytes), and either stage reads neighbours of what was written before it.  The first reads and writes the
-- state (48), the second reads both states and writes the new one (72).
programs.shallow_water = {144, function(n)
  local file = assert(io.open(arg[0]:gsub("[^/]*$", "") .. "../examples/shallow_water.lua"))
  local text = file:read("*a")
  file:close()
  local head, step = text:match("^(.-)for _ = 1, steps do\n(.-\n)end\n")
  local script = assert(loadstring(head .. "return function()\n" .. step .. "end, function() return h end",
    "=shallow_water"))
  setfenv(script, setmetatable({arg = {math.floor(math.sqrt(n)) - 4}}, {__index = _G}))
  local turn, height = script()
  return turn, function() return height():mean():item() end
end}

-- The vectors of conjugate gradients; the matrix is a diagonal, whose product is stored as any other matrix's would be.
programs.cg = {96, function(n)
  local d = contest.fraction(n, 0.6180339887498949, 1, 2, "float64")
  local x, r = np.zeros(n), contest.fraction(n, 0.4142135623730951, 0, 1, "float64")
  local p, rr = r, r:dot(r)
  return function()
    local q = d * p
    local alpha = rr / p:dot(q)
    x = x + alpha * p
    r = r - alpha * q
    local now = r:dot(r)
    p = r + (now / rr) * p
    rr = now
  end, function() return x:mean():item() end
end}

for name, axis in pairs {sum = 0, sum_down = 1, sum_across = 2} do
  programs[name] = {8, function(n)
    local a, s = matrix(n)
    return function() s = axis == 0 and np.sum(a) or np.sum(a, axis) end, function() return np.sum(s):item() end
  end}
end

programs.transpose = {16, function(n)
  local a, b = matrix(n)
  return function() b = a.T:copy() end, function() return b[{1, -1}]:item() end
end}

if not arg[1] then
  for _, name in ipairs {"triad", "black_scholes", "stencil", "shallow_water", "cg", "sum", "sum_down", "sum_across",
    "transpose"} do
    print(name, programs[name][1])
  end
  return
end
local name, n = arg[1], tonumber(arg[2])
contest.serve(programs[name][2](n))
