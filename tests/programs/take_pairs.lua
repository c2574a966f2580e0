-- Every pair of columns of a matrix, taken by an array of positions with two dimensions.
--
--   lgt tests/programs/take_pairs.lua [rows] [columns]
local np = require "array"

local M, N = tonumber(arg[1]) or 10000, tonumber(arg[2]) or 32

local data_array = np.arange(M * N, { dtype = np.int32 }):reshape({ M, N })
local combinations = {}
for i = 1, N do
  for j = i + 1, N do combinations[#combinations + 1] = { i, j } end
end
local indices = np.array(combinations, { dtype = np.int64 })
local result = data_array:take(indices, { axis = 2 })
print("shape", unpack(result.shape))
print(("result sum: %d"):format(result:sum():item()))
print(("by pairs: %d"):format((result["..., 1"] * result["..., 2"] % 1009):sum():item()))
