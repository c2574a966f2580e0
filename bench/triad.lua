-- STREAM's triad:  lgt triad.lua N DTYPE EXPRESSION [inplace]
-- The expression is in the arrays b and c and the numbers s and t.
local contest = require "contest"
local np = require "array"

local n, dtype, expression, form = tonumber(arg[1]), arg[2], arg[3], arg[4]
local b = contest.fraction(n, 0.6180339887498949, 0, 1, dtype)
local c = contest.fraction(n, 0.4142135623730951, 0, 1, dtype)
local a = np.zeros(n, {dtype = dtype})
local triad = contest.compile("b, c, s, t", expression)

local function fresh() a = triad(b, c, 3, 0.5) end
local function inplace() a[":"] = triad(b, c, 3, 0.5) end

contest.serve(form == "inplace" and inplace or fresh, function()
  return a:astype("float64"):mean():item()
end)
