-- Task Bench's patterns for lgt; graph.h has the same for the programs in C, and says what they are.
--
-- named[name](g, step, i) lists the points of the row before on which point i of a row depends; points and steps count
-- from 0.  g has width, steps, and the pattern's name.
local RADIX, SPREAD, PERIOD = 5, 3, 3

local patterns = {}

-- A whole number below 2^31 - 1 that looks random.
local function hash(a, b, c)
  return (a * 73856093 + b * 19349663 + c * 83492791 + 12345) % 2147483647 * 48271 % 2147483647
end

local function span(g, lo, hi)
  local points = {}
  for i = math.max(lo, 0), math.min(hi, g.width - 1) do points[#points + 1] = i end
  return points
end

local function levels(g) -- ceil(log2(width)), 1 at least
  local n = 1
  while 2 ^ n < g.width do n = n + 1 end
  return n
end

function patterns.trivial() return {} end
function patterns.no_comm(g, _, i) return span(g, i, i) end
function patterns.stencil_1d(g, _, i) return span(g, i - 1, i + 1) end
function patterns.stencil_1d_periodic(g, _, i) return { (i - 1) % g.width, i, (i + 1) % g.width } end
function patterns.dom(g, _, i) return span(g, i - 1, i) end
function patterns.tree(g, _, i) return span(g, math.floor(i / 2), math.floor(i / 2)) end
function patterns.nearest(g, _, i) return span(g, i - math.floor(RADIX / 2), i + math.floor((RADIX - 1) / 2)) end

function patterns.fft(g, step, i)
  local points, apart = {}, 2 ^ ((step - 1) % levels(g))
  for k = -1, 1 do
    local point = i + k * apart
    if point >= 0 and point < g.width then points[#points + 1] = point end
  end
  return points
end

function patterns.spread(g, step, i)
  local points = {}
  for k = 0, SPREAD - 1 do
    points[k + 1] = (i + math.floor(k * g.width / SPREAD) + (k > 0 and step % PERIOD or 0)) % g.width
  end
  return points
end

-- Of the nearest ones the point itself and a quarter of the others.
function patterns.random_nearest(g, step, i)
  local points = {}
  for _, near in ipairs(patterns.nearest(g, step, i)) do
    if near == i or hash(step % PERIOD, i, near) < 0.25 * 2147483647 then points[#points + 1] = near end
  end
  return points
end

-- The first and the last point of a row: a wavefront that crosses a rectangle, a tree that grows, or all.
local function row(g, step)
  if g.pattern == "dom" then
    local first = math.max(0, step + g.width - g.steps)
    return first, first + math.min(g.width, step + 1, g.steps - step) - 1
  elseif g.pattern == "tree" then
    return 0, math.min(g.width, 2 ^ step) - 1
  end
  return 0, g.width - 1
end

-- All tasks, row by row: {step =, point =, own =, ...}, where ... are the dependences and `own` is what the place gives
-- to the result.
local function tasks(g)
  local list = {}
  for step = 0, g.steps - 1 do
    local first, last = row(g, step)
    for point = first, last do
      local task = { step = step, point = point, own = hash(step, point, 0) / 2147483647 }
      if step > 0 then
        local begin, finish = row(g, step - 1)
        for _, i in ipairs(patterns[g.pattern](g, step, point)) do
          if i >= begin and i <= finish then task[#task + 1] = i end
        end
      end
      list[#list + 1] = task
    end
  end
  return list
end

return { named = patterns, tasks = tasks }
