-- array/core/native.lua - launching what is no loop over elements: sorts, scans, gathers, LAPACK, FFTs.
--
-- Such a task has a variant in C that comes with lgt (ops/builtin.h).  A kind is a variant with
-- privileges and constraints, which depend on the number of dimensions; kinds are made when first needed.
-- Launches are asynchronous like all others: what a task finds wrong is raised where its result is looked
-- at, with the line that launched it.

local core = require "array.core"

local bit = require "bit"
local lgt = core.lgt
local np = core.np
local C, rt = lgt.C, lgt.rt

local native = {}

-- Is each array in one piece?  Otherwise several domains have parts of it.
native.whole = C.lgt_domains(rt) == 1

local kinds = {}

-- The kind that is a variant with these privileges and constraints.
---@param variant string
---@param privileges string a letter for each array: r, w, m
---@param constraints string as in lgt.h
---@return integer kind
function native.kind(variant, privileges, constraints)
  local key = variant .. " " .. privileges .. " " .. constraints
  local kind = kinds[key]
  if not kind then
    kind = C.lgt_kind_builtin(rt, variant, privileges, constraints)
    if kind == 0 then lgt.fail() end
    kinds[key] = kind
  end
  return kind
end

-- Launch a variant on arrays.
---@param variant string
---@param privileges string
---@param constraints string
---@param arrays lgt_array[]
---@param numbers number[]?
function native.launch(variant, privileges, constraints, arrays, numbers)
  lgt.launch(native.kind(variant, privileges, constraints), arrays, numbers or {})
end

local along = {}

-- The constraints that cut the first `lead` dimensions of `count` arguments alike, and nothing else.
function native.leading(lead, count)
  local key = lead * 16 + count
  local text = along[key]
  if not text then
    local words = {}
    for d = 0, lead - 1 do
      local pairs_of = {}
      for a = 0, count - 1 do pairs_of[#pairs_of + 1] = ("%d.%d"):format(a, d) end
      words[#words + 1] = "align(" .. table.concat(pairs_of, ",") .. ")"
    end
    text = table.concat(words, " ")
    along[key] = text
  end
  return text
end

-- Launch a variant that works on lines (rest = 1) or matrices (rest = 2) of arrays that agree in the
-- dimensions before.  An array that has no others gets one, of extent 1.
---@param variant string
---@param privileges string
---@param arrays lgt_array[]
---@param numbers number[]?
---@param rest integer? 1
function native.lines(variant, privileges, arrays, numbers, rest)
  local views = {}
  for i, a in ipairs(arrays) do
    local layout = core.layout_of(a, variant)
    if core.ndim_of(arrays[1]) == (rest or 1) then layout = lgt.promote(layout, 1, 1) end
    views[i] = lgt.alias(a, layout)
  end
  local lead = core.ndim_of(views[1]) - (rest or 1)
  native.launch(variant, privileges, native.leading(lead, #views), views, numbers)
end

-- Launch a variant that works element by element, on arrays of one shape, which are cut alike.
---@param variant string
---@param privileges string
---@param arrays lgt_array[]
---@param numbers number[]?
function native.elements(variant, privileges, arrays, numbers)
  local views, ndim = {}, core.ndim_of(arrays[1])
  for i, a in ipairs(arrays) do views[i] = ndim == 0 and np.expand_dims(a, 1) or a end
  native.launch(variant, privileges, native.leading(math.max(1, ndim), #views), views, numbers)
end

-- The array with an axis moved to the last place, and the function that moves it back.
---@return lgt_array, fun(x: lgt_array): lgt_array
function native.axis_last(a, axis)
  local ndim = core.ndim_of(a)
  if axis == ndim then return a, function(x) return x end end
  return np.moveaxis(a, axis, ndim), function(x) return np.moveaxis(x, ndim, axis) end
end

-- Is a line of so many elements cut among several domains?  Shorter ones are as well brought to each of them.
---@return boolean
function native.divided(size)
  local domains = C.lgt_domains(rt)
  return not native.whole and size >= math.max(2 * tonumber(C.lgt_min_tile(rt)), domains * domains)
end

-- Is this a reshaped view?  Several domains read such a one in whole rows of what it shows: a copy is cut freely.
---@return boolean
function native.reshaped(a)
  return bit.band(lgt.layouts[core.layout_of(a)].flags, C.LGT_LAYOUT_RESHAPED) ~= 0
end

-- A new array of a dtype (a number) and a shape.
function native.new(dtype, shape) return lgt.new(lgt.dense(dtype, shape)) end

-- The numbers of the operations that scans and scatters know (scan.h).
native.operation = {
  set = 0, add = 1, multiply = 2, subtract = 3, divide = 4, maximum = 5, minimum = 6, fmax = 7, fmin = 8,
  bitwise_and = 9, bitwise_or = 10, bitwise_xor = 11,
}

local on_booleans = { -- which add and multiply as logic does
  add = "bitwise_or", multiply = "bitwise_and", maximum = "bitwise_or", minimum = "bitwise_and",
  logical_and = "bitwise_and", logical_or = "bitwise_or", logical_xor = "bitwise_xor",
  bitwise_and = "bitwise_and", bitwise_or = "bitwise_or", bitwise_xor = "bitwise_xor",
}
local on_integers = { fmax = "maximum", fmin = "minimum", divide = false }
local on_complex = { maximum = false, minimum = false, fmax = false, fmin = false }

-- The number of the operation of a ufunc on a dtype; nil if there is none.
---@param name string of a ufunc
---@param dtype integer
---@return integer?
function native.operation_of(name, dtype)
  local category = core.dtypes.category[dtype]
  if category == 0 then
    name = on_booleans[name] or false
  elseif category == 1 then
    if on_integers[name] ~= nil then name = on_integers[name] end
  elseif name:find("^bitwise") or category == 3 and on_complex[name] == false then
    name = false
  end
  return native.operation[name]
end

return native
