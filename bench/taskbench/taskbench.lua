-- Task Bench with lgt: each point is a launch that gives a number, an array without dimensions.
--
--   lgt taskbench.lua PATTERN STEPS WIDTH [compute | memory [manual]]
--
-- `manual`: all launches of a turn are a trace that the script names.
-- graph.h says what is computed, and has the protocol.  Nothing here says that a task must wait for another one: the
-- arrays that a task reads are its dependences.
local np, lgt = require "array", require "lgt"
local folder = arg[0]:match("^(.*/)") or "./"
local patterns = dofile(folder .. "patterns.lua")

local graph = { pattern = arg[1], steps = tonumber(arg[2]), width = tonumber(arg[3]) }
local memory, manual = arg[4] == "memory", arg[5] == "manual"
local ROOM, CHECKED = 2 ^ 18, 256
assert(patterns.named[graph.pattern] and graph.steps and graph.width,
  "usage: PATTERN STEPS WIDTH [compute | memory [manual]]")

-- ---- kernels

-- What a task's place and its dependences give.
local function seed(own, dependences)
  local weight = 0.5
  for _, x in ipairs(dependences) do
    own = own + weight * x
    weight = weight * 0.5
  end
  return own
end

-- 64 products and sums, in chains that do not wait for each other.
local function compute(x)
  local sum
  for c = 0, 7 do
    local y = x + c
    for _ = 1, 8 do y = y * 0.875 + 0.0625 end
    sum = sum and sum + y or y
  end
  return sum * 0.125
end

-- Launches a task of n dependences, with the numbers and arrays of its table.
local function launcher(n)
  local args, words = { "in" }, { "t.from" }
  local function argument(privilege, word)
    args[#args + 1] = privilege
    words[#words + 1] = word
  end
  for k = 1, n do argument("in", "t[" .. k .. "]") end
  if memory then argument("out", "t.to") end
  argument("fresh max", "t.result")
  local point = lgt.task {
    name = "point" .. n,
    args = args,
    params = 1,
    generator = function(_, x, ...)
      local numbers = { ... }
      local own = table.remove(numbers)
      x = x + seed(own, numbers)
      if not memory then return compute(x) end
      local y = x * 0.5
      return y, y
    end,
  }
  local source = "local point = ... return function(t) point(%s, t.own) end"
  return loadstring(source:format(table.concat(words, ", ")))(point)
end

local launch = {}
for n = 0, 5 do launch[n] = launcher(n) end

-- ---- the graph

local function fractions(count)
  local x = np.arange(ROOM, { dtype = "float64" }) * 0.6180339887498949
  x = x - np.floor(x)
  return count and np.copy(np.broadcast_to(x, { count, ROOM })) or x
end

local from = fractions(memory and graph.width)
local to = memory and np.zeros(graph.width, ROOM)

local tasks, result = patterns.tasks(graph), {}
for _, task in ipairs(tasks) do
  result[task.step] = result[task.step] or {}
  result[task.step][task.point] = np.zeros({})
  task.result = result[task.step][task.point]
  for k = 1, #task do task[k] = result[task.step - 1][task[k]] end
end

-- Says which elements each task of so many iterations works on: with the memory kernel another part of the point's row
-- at each step.
local function prepare(iterations)
  local views = {}
  local function view(array, name, i, first)
    local key = name .. i .. "," .. first
    views[key] = views[key] or array[{ i + 1, { first + 1, first + iterations } }]
    return views[key]
  end
  local whole = not memory and from[{ { 1, iterations } }]
  for _, task in ipairs(tasks) do
    local first = iterations * task.step % ROOM
    task.from = whole or view(from, "from", task.point, first)
    task.to = memory and view(to, "to", task.point, first)
  end
end

local function launch_all()
  for i = 1, #tasks do
    local task = tasks[i]
    launch[#task](task)
  end
end

local function work(iterations)
  if manual then
    lgt.trace(iterations, launch_all)
  else
    launch_all()
  end
  lgt.fence()
end

-- ---- the contestant

local WARM_UP = 4 -- turns until kernels are compiled and plans are what they will be
local LONG, MOST_TURNS = 8192, 16 -- as in graph.h

prepare(CHECKED)
work(CHECKED)
local sum = 0
for _, task in ipairs(tasks) do sum = sum + task.own * task.result:item() end
io.write(("ready %d %.17g\n"):format(#tasks, sum))
io.flush()
local prepared
for line in io.lines() do
  local iterations = tonumber(line)
  if iterations ~= prepared then
    prepare(iterations)
    for _ = 2, WARM_UP do work(iterations) end
    prepared = iterations
  end
  for _ = 1, math.max(1, math.min(LONG / iterations, MOST_TURNS)) do work(iterations) end
  local begin = lgt.time()
  work(iterations)
  io.write(("%.9f\n"):format(lgt.time() - begin))
  io.flush()
end
