-- array/fuse.lua - np.fuse: a scalar Lua function as one elementwise kernel.
--
--   local smooth = np.fuse(function(x, y) return x / (1 + np.exp(-y)) end)
--   z = smooth(x, y)
--
-- The function runs once for each combination of dtypes, on values that record what is done with them
-- (lgt/body.lua); so it may call the ufuncs of np, other fused functions and loops over numbers, but it
-- cannot branch on a value: np.where(condition, a, b) computes both and selects.

local core = require "array.core"
local ufunc = require "array.ufunc"

local np, raise = core.np, core.raise

---@param f function of scalars
---@return function of arrays and numbers
function np.fuse(f, surplus)
  core.check_surplus(surplus, "fuse")
  if type(f) ~= "function" then raise("fuse: a function was expected, not %s", (core.describe(f))) end
  local info = debug.getinfo(f, "uS")
  if info.isvararg or info.nparams == 0 or info.nparams > 8 then
    raise("fuse: a function of 1 to 8 named parameters was expected")
  end
  return ufunc.anonymous(("fused@%s:%d"):format(info.short_src, info.linedefined), f, info.nparams)
end

return true
