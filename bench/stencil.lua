-- The 5-point stencil in place:  lgt stencil.lua ROWS COLUMNS ITERATIONS
local contest = require "contest"
local np = require "array"

local rows, columns, iterations = tonumber(arg[1]), tonumber(arg[2]), tonumber(arg[3])
local grid = np.zeros(rows + 2, columns + 2)
grid["1, :"] = 40

local center = grid["2:-2, 2:-2"]
local north, south = grid[":-3, 2:-2"], grid["3:, 2:-2"]
local west, east = grid["2:-2, :-3"], grid["2:-2, 3:"]

contest.serve(function()
  for _ = 1, iterations do center["..."] = 0.2 * (center + north + east + west + south) end
end, function() return center:mean():item() end)
