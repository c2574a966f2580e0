-- array/core/fuse.lua - np.fuse: a scalar Lua function as one elementwise kernel.
--
--   local smooth = np.fuse(function(x, y) return x / (1 + np.exp(-y)) end)
--   z = smooth(x, y)
--
-- The function runs once for each combination of dtypes, on values that record what is done with them
-- (lgt/body.lua); so it may call the ufuncs of np, other fused functions and loops over numbers, but it
-- cannot branch on a value: np.where(condition, a, b) computes both and selects.

local core = require "array.core"
local ufunc = require "array.core.ufunc"

local np, raise, lgt = core.np, core.raise, core.lgt

-- What Lua says where a function takes its values for numbers, and what to do.
local meanings = {
  { "attempt to compare .*table", "elements are compared by x:gt(y), and np.where(c, a, b) stands for `if`" },
  { "bad argument #%d+ to '[^']*' %(number expected, got table%)",
    "Lua's functions take numbers only: np.sin(x), np.maximum(x, y) take what a fused function gets" },
  { "attempt to call method '[^']*' %(a nil value%)",
    "a fused function gets single elements: x:exp(), but not x:sum()" },
  { "'for' [%a ]+ must be a number", "how many turns a loop has must not depend on elements" },
}

-- What the function returned, or its error, with what it means here.
local function finish(who, ok, first, ...)
  if ok then
    if first == nil then raise("%s: the function returned nil", who) end
    return first, ...
  end
  if type(first) ~= "string" then error(first, 0) end
  for _, meaning in ipairs(meanings) do
    if first:find(meaning[1]) then first = first .. ": " .. meaning[2] end
  end
  if first:find("^bad argument") then raise("%s: %s", who, first) end -- f ended in a call of Lua's function
  error(first, 0)
end

local function explained(who, f)
  return function(...)
    for i = 1, select("#", ...) do
      if lgt.is_value((select(i, ...))) then return finish(who, pcall(f, ...)) end
    end
    return f(...)
  end
end

---@param f function of scalars
---@return function of arrays and numbers
function np.fuse(f, surplus)
  core.check_surplus(surplus, "fuse")
  if type(f) ~= "function" then raise("fuse: a function was expected, not %s", (core.describe(f))) end
  local info = debug.getinfo(f, "uS")
  if info.isvararg or info.nparams == 0 or info.nparams > 8 then
    raise("fuse: a function of 1 to 8 named parameters was expected")
  end
  local who = ("fused@%s:%d"):format(info.short_src, info.linedefined)
  return ufunc.anonymous(who, explained(who, f), info.nparams)
end

return true
