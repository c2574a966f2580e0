-- array/core/about.lua - questions about arrays and dtypes.

local core = require "array.core"

local dtypes, raise = core.dtypes, core.raise
local np = core.np

function np.shape(a, surplus)
  core.check_surplus(surplus, "shape")
  return np.asarray(a).shape
end
function np.ndim(a, surplus)
  core.check_surplus(surplus, "ndim")
  return core.ndim_of(np.asarray(a))
end
-- The number of elements, or the extent of an axis.
function np.size(a, axis, surplus)
  axis = core.take_only_named("size", { "axis" }, axis, surplus)
  a = np.asarray(a)
  if axis == nil then return core.size_of(a) end
  return core.shape_of(a)[core.check_axis(axis, core.ndim_of(a), "size")]
end

local function dtype_of(x, who)
  if core.is_array(x) then return core.dtype_of(x), core.ndim_of(x) == 0 and 1 or 0 end
  if type(x) == "number" then return dtypes.of_scalar(x), 2 end
  return core.check_dtype(x, who), 0
end

local castings = {
  no = function(from, to) return from == to end,
  safe = function(from, to) return dtypes.promote(from, to) == to end,
  same_kind = dtypes.can_cast,
  unsafe = function() return true end,
}
castings.equiv = castings.no

-- Does an integer or a float dtype hold a number of the script?
local function holds(x, to)
  if not core.is_integer(x) then return dtypes.category[to] >= 2 end
  if dtypes.category[to] == 1 then return dtypes.holds(to, x) end
  return castings.safe(dtypes.number[np.min_scalar_type(x)], to)
end

-- May elements of one dtype be converted to another one?  Names of dtypes, or arrays; or a number.
---@param from string|lgt_array|number
---@param to string|lgt_array
---@param casting string? "safe" (default): whatever they are, they keep their values; "same_kind": what needs no astype
---  where it is written; "no", "equiv": only the same dtype; "unsafe": any
---@return boolean
function np.can_cast(from, to, casting, surplus)
  casting = core.take_only_named("can_cast", { "casting" }, casting, surplus) or "safe"
  local allowed = castings[casting]
  if not allowed then
    raise("can_cast: casting is \"safe\", \"same_kind\", \"no\", \"equiv\" or \"unsafe\", not %s",
      (core.describe(casting)))
  end
  local target = dtype_of(to, "can_cast")
  if type(from) == "number" and casting == "safe" then return holds(from, target) end
  return allowed((dtype_of(from, "can_cast")), target)
end

-- The name of the dtype that two have in common.
function np.promote_types(a, b, surplus)
  core.check_surplus(surplus, "promote_types")
  return dtypes.name[dtypes.promote(core.check_dtype(a, "promote_types"), core.check_dtype(b, "promote_types"))]
end

-- The name of the dtype that arrays, numbers and dtypes give together.
function np.result_type(...)
  if select("#", ...) == 0 then raise("result_type: at least one array or dtype was expected") end
  local dtype, weak = dtype_of((...), "result_type")
  for i = 2, select("#", ...) do
    local d, w = dtype_of((select(i, ...)), "result_type")
    dtype, weak = dtypes.promote(dtype, d, weak, w)
  end
  return dtypes.name[dtype]
end

-- Do two arrays have the same elements after broadcasting?  Waits.
function np.array_equiv(a, b, surplus)
  core.check_surplus(surplus, "array_equiv")
  a, b = np.asarray(a), np.asarray(b)
  if not core.broadcast_pair(core.shape_of(a), core.shape_of(b)) then return false end
  return np.all(np.equal(a, b))
end

-- Do two arrays show elements of one store?  (As NumPy's: they may still not overlap.)
function np.may_share_memory(a, b, surplus)
  core.check_surplus(surplus, "may_share_memory")
  core.layout_of(a, "may_share_memory")
  core.layout_of(b, "may_share_memory")
  local x, y = core.lgt.alias(a, core.layout_of(a)), core.lgt.alias(b, core.layout_of(b))
  local handles = core.lgt.handles
  return handles[x.id].store == handles[y.id].store
end

-- The positions of the main diagonal of an array of at least two dimensions; its extents must be equal.
function np.diag_indices_from(a, surplus)
  core.check_surplus(surplus, "diag_indices_from")
  local shape = core.shape_of(np.asarray(a))
  if #shape < 2 then raise("diag_indices_from: at least a matrix was expected, not %s", (core.describe(a))) end
  for d = 2, #shape do
    if shape[d] ~= shape[1] then raise("diag_indices_from: the extents of %s differ", core.shape_text(shape)) end
  end
  return np.diag_indices(shape[1], #shape)
end

return true
