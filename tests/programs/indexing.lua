-- What arrays of positions, masks, choices and repetitions do, read and written: after cuPyNumeric's examples and
-- microbenchmarks of indexing.
--
--   lgt tests/programs/indexing.lua [n]
local np = require "array"

local N = tonumber(arg[1]) or 200

local function positions(...) return np.array({ ... }, { dtype = "int64" }) end

local A1 = np.ones({ N }, { dtype = "int" })
for _ = 1, 3 do
  local A2 = np.diag(A1)
  A1 = np.diag(A2)
end
print(("diagonal  %d"):format(A1:sum():item()))

local A = {}
for k = 0, 9 do A[k + 1] = np.full({ N }, k) end
local C1 = np.arange(N, { dtype = "int" }) % 10
for _ = 1, 3 do C1 = np.choose(C1:astype("int") + 1, A, { mode = "wrap" }) end
print(("choose    %d"):format(C1:sum():item()))

local A2 = np.ones({ N, N }, { dtype = "int" })
local R = np.rep(1, N)
A2 = np.rep(A2, R, 2)
print(("repeat    %d"):format(A2:sum():item()))

A1 = np.ones({ N }, { dtype = "int" })
local B = np.arange(N, { dtype = "int" })
local indx = B % 10 + 1
local indx_bool = (B % 2):astype("bool")
A1[indx] = 10
A1[indx_bool] = 12
print(("1d        %d"):format(A1:sum():item()))

local indx2d_bool = (A2 % 2):astype("bool")
A2[{ indx_bool, indx_bool }] = 11
A2[{ {}, indx }] = 12
print(("2d        %d"):format(A2:sum():item()))
A2[indx2d_bool] = 13
print(("2d mask   %d"):format(A2:sum():item()))

local A3 = np.ones({ N, math.floor(N / 10), 10 }, { dtype = "int" })
local indx3d_bool = (A3 % 2):astype("bool")
A3[{ indx, {}, indx }] = 15
print(("3d        %d"):format(A3:sum():item()))
A3[indx3d_bool] = 16
print(("3d mask   %d"):format(A3:sum():item()))

local a = np.sin(np.arange(N * N)):reshape(N, N)
local mask = a[":, 1"]:gt(0)
local rows, columns = np.arange(N) * 7 % N + 1, np.arange(N) * 11 % N + 1
print(("rows      %.9g"):format(a[{ mask, {} }]:sum():item()))
print(("columns   %.9g"):format(a[{ {}, mask }]:sum():item()))
print(("pairs     %.9g"):format(a[{ np.span(1, N), columns }]:sum():item()))
print(("open mesh %.9g"):format(a[np.ix_(rows, columns)]:sum():item()))
a[{ {}, rows }] = a[{ {}, columns }]
a[{ 3, positions(1, 4, 5) }] = 999.0
a[mask] = -1
print(("written   %.9g"):format(a:sum():item()))
print(("along     %.9g"):format(np.take_along_axis(a, np.argsort(a, 2), 2)["1, :"]:sum():item()))
np.put(a, positions(1, 8, N * N), np.array { 1, 2, 3 })
np.put_along_axis(a, np.argmax(a, 2)[{ {}, np.newaxis }], 0.5, 2)
print(("put       %.9g"):format(a:sum():item()))
local cube = np.cos(np.arange(4 * N * 5)):reshape(4, N, 5)
print(("apart     %.9g"):format(cube[{ positions(1, 3), {}, positions(2, 5) }]["1, :"]:sum():item()))
print(("shape     %s"):format(tostring(cube[{ positions(1, 3), {}, positions(2, 5) }].shape)))

local pairs_ = {}
for first = 1, 8 do
  for second = first + 1, 8 do pairs_[#pairs_ + 1] = { first, second } end
end
local taken = a:take(np.array(pairs_, { dtype = "int64" }), 2)
print(("pairs     %s %.9g"):format(tostring(taken.shape), taken:sum():item()))
