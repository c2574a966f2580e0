-- A stack of matrices times one matrix.
--
--   lgt examples/doitgen.lua [nr] [nq] [np_]
local np = require "array"

local nr, nq, np_ = tonumber(arg[1]) or 150, tonumber(arg[2]) or 140, tonumber(arg[3]) or 160

local r, q, p = np.arange(nr)[":, *, *"], np.arange(nq)[":, *"], np.arange(np_)
local A = ((r * q + p) % np_) / np_
local C = (np.arange(np_)[":, *"] * p) % np_ / np_
A = np.matmul(A, C)

print(("sum       %.12g"):format(A:ravel():sum()()))
print(("norm      %.12g"):format(np.linalg.norm(A:ravel())()))
