-- One operation:  lgt operations.lua EXPRESSION COMPARED ORIGIN OPERAND...
--
-- operations.py says what operands are.  COMPARED is which of the expression's results is compared with the rivals',
-- ORIGIN what is subtracted from it before: 1 from positions, which others count from 0.
local np = require "array"
local contest = require "contest"

local expression, compared, origin = arg[1], tonumber(arg[2]), tonumber(arg[3])
local IRRATIONAL = {0.6180339887498949, 0.41421356237309503, 0.7320508075688772} -- one for each operand

-- Numbers between lo and hi in no order.
local function random(n, k, lo, hi)
  local u = contest.fraction(n, k, 0, 1, "float64")
  u = u * u * 1e6
  return (u - np.floor(u)) * (hi - lo) + lo
end

local function operand(text, number)
  local name, dtype, shape, lo, hi, form = text:match "^(%w+)=(%w+):([%dx]+):([^:]+):([^:]+):?(%w*)$"
  local n, extents, k = 1, {}, IRRATIONAL[number]
  for extent in shape:gmatch "%d+" do
    extents[#extents + 1] = tonumber(extent)
    n = n * tonumber(extent)
  end
  local x = random(n, k, tonumber(lo), tonumber(hi))
  if dtype == "position" then
    x = (np.floor(x) + 1):astype("int64")
  elseif dtype == "bool" then
    x = x:gt(0.5)
  elseif dtype == "complex128" then
    x = np.complex(x, random(n, k / 2, tonumber(lo), tonumber(hi)))
  else
    x = x:astype(dtype)
  end
  x = #extents > 1 and x:reshape(unpack(extents)) or x
  if form == "sorted" then
    x = np.sort(x)
  elseif form == "symmetric" then
    x = x + x.T
  end
  return name, x:copy()
end

local names, values = {"np"}, {np}
for k = 4, #arg do names[k - 2], values[k - 2] = operand(arg[k], k - 3) end
local work = contest.compile(table.concat(names, ", "), expression)
local results -- luacheck: ignore 231 (kept, so that it is computed)

contest.serve(function() results = {work(unpack(values))} end, function()
  local x = np.ravel(np.asarray(results[compared]))
  x = (np.abs(x) - origin):astype("float64")
  return x:mean():item(), x["::97"]:mean():item()
end)
