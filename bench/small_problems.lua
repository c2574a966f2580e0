-- Small problems, where a user feels a runtime:  lgt small_problems.lua NAME STEPS
--                                                lgt small_problems.lua FILE ARGUMENTS...
--
-- A turn is so many steps, or a whole example, whose numbers are checked; what counts is processor time.
-- rivals/contestant.py and rivals/small_problems.c have the same.
local np = require "array"
local contest = require "contest"

local problems = {}

local function vector(n, k) return contest.fraction(n, k, 0, 1, "float64"):copy() end

-- What a step leaves is kept: a result that nobody can ask for would not be computed.
problems["x[mask]"] = function()
  local x, kept = vector(100, 0.6180339887498949), nil
  local mask = x:gt(0.5)
  return function() kept = x[mask] end, function() return np.sum(kept):item() end
end

problems["x[mask] = v"] = function()
  local x, v = vector(100, 0.6180339887498949), 0
  local mask = x:gt(0.5)
  return function()
    v = v + 1
    x[mask] = v
  end, function() return np.sum(x):item() - v * np.count_nonzero(mask) end
end

problems["nonzero(mask)"] = function()
  local mask, kept = vector(100, 0.6180339887498949):gt(0.5), nil
  return function() kept = np.nonzero(mask)[1] end, function() return np.sum(kept):item() - #kept end
end

problems["x(i)"] = function() -- a look at what was just computed
  local x, sum = vector(100, 0.6180339887498949), 0
  return function()
    local y = x + 1
    sum = y(7)
  end, function() return sum end
end

problems["sum(x[positions])"] = function()
  local x, sum = vector(100, 0.6180339887498949), nil
  local positions = (np.arange(50) * 7 % 100 + 1):astype("int64"):copy()
  return function() sum = np.sum(x[positions]):item() end, function() return sum end
end

problems["a[i, j] = a(i-1, j) + a(i, j-1)"] = function()
  local a, i, j = np.ones(10, 10), 2, 2
  return function()
    a[{i, j}] = 0.5 * (a(i - 1, j) + a(i, j - 1))
    j = j + 1
    if j > 10 then i, j = i % 10 + 1, 2 end
    if i == 1 then i = 2 end
  end, function() return np.sum(a):item() end
end

local function rotation(n)
  local a = np.eye(n)
  a[{1, 1}], a[{1, 2}], a[{2, 1}], a[{2, 2}] = 0.8, 0.6, -0.6, 0.8
  return a
end

problems["B = A:dot(B), 4 x 4"] = function()
  local a = rotation(4)
  local b = vector(16, 0.6180339887498949):reshape(4, 4)
  return function() b = a:dot(b) end, function() return np.sum(b * b):item() end
end

problems["Kalman step, 4 x 4"] = function()
  local F, Q = 0.5 * rotation(4), 0.1 * np.eye(4)
  local x, P = vector(4, 0.6180339887498949), np.eye(4)
  return function()
    x = F:dot(x)
    P = F:dot(P):dot(F.T) + Q
  end, function() return np.sum(P):item() end
end

-- A step of the classical method.
local function runge_kutta(f, y, h)
  local k1 = f(y)
  local k2 = f(y + h / 2 * k1)
  local k3 = f(y + h / 2 * k2)
  local k4 = f(y + h * k3)
  return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
end

problems["Runge-Kutta, y' = A y, 3"] = function()
  local A, y = np.array {{0, 1, 0}, {-1, 0, 1}, {0, -1, 0}}, np.array {1, 0.5, 0.25}
  local function f(u) return A:dot(u) end
  return function() y = runge_kutta(f, y, 0.01) end, function() return np.sum(y * y):item() end
end

problems["Runge-Kutta, Lorenz, 3"] = function()
  local start = np.array {1, 1, 20}
  local y, step = start, 0
  local function f(u)
    local a, b, c = u(1), u(2), u(3)
    return np.array {10 * (b - a), a * (28 - c) - b, a * b - 8 / 3 * c}
  end
  return function()
    y = runge_kutta(f, step % 100 == 0 and start or y, 0.01)
    step = step + 1
  end, function() return np.sum(y):item() end
end

-- The numbers that an example prints.
local function example(file)
  local script, said = assert(loadfile(file)), {}
  local args = {[0] = file, unpack(arg, 2)}
  setfenv(script, setmetatable({arg = args, print = function(text) said[#said + 1] = text end}, {__index = _G}))
  return function()
    said = {}
    script()
  end, function()
    local numbers = {}
    for word in table.concat(said, " "):gmatch "%S+" do numbers[#numbers + 1] = tonumber(word) end
    return unpack(numbers)
  end
end

local problem = problems[arg[1]]
if not problem then
  local turn, numbers = example(arg[1])
  return contest.serve(turn, numbers, os.clock)
end
local step, check = problem()
local steps = tonumber(arg[2])
contest.serve(function()
  for _ = 1, steps do step() end
end, check, os.clock)
