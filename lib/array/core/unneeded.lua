-- array/core/unneeded.lua - parameters of NumPy's functions that say nothing here, asked for when an option is unknown.
--
-- A program that is ported line by line has them.  What changes nothing is taken, and nothing comes of it; other values
-- are refused, with the reason.

local core = require "array.core"
local ufunc = require "array.core.ufunc"

local function words(text)
  local set = {}
  for word in text:gmatch("%S+") do set[word] = true end
  return set
end

local ANY = setmetatable({}, { __index = function() return true end })
local BOOLEANS = { [true] = true, [false] = true }

-- name = {of: the functions that have it besides ufuncs; ufuncs: whether they do; taken: the values that change
-- nothing; why others are refused}
local parameters = {
  order = { ufuncs = true, taken = words "C K A",
    of = words [[array asarray asanyarray asarray_chkfinite zeros ones empty full zeros_like ones_like empty_like
      full_like copy eye astype matmul einsum tobytes]],
    why = "arrays have no order in memory that a script sees; leave it out" },
  subok = { ufuncs = true, taken = BOOLEANS,
    of = words "array copy zeros_like ones_like empty_like full_like broadcast_to broadcast_arrays astype matmul",
    why = "it is true or false" },
  like = { taken = {},
    of = words [[array asarray asanyarray ascontiguousarray arange zeros ones empty full eye identity tri frombuffer
      fromfile fromfunction fromiter fromstring loadtxt genfromtxt]],
    why = "there is one kind of arrays; leave it out" },
  casting = { taken = words "same_kind", ufuncs = true, of = words "matmul einsum",
    why = "casting is \"same_kind\"; a:astype(dtype) converts to anything" },
  overwrite_input = { taken = BOOLEANS,
    of = words "median nanmedian quantile nanquantile percentile nanpercentile", why = "it is true or false" },
  refcheck = { taken = BOOLEANS, of = words "resize", why = "it is true or false" },
  mmap_mode = { taken = {}, of = words "load", why = "each rank reads what it owns of a file; leave it out" },
  allow_pickle = { taken = { [false] = true }, of = words "load save",
    why = "Python's objects are neither read nor written; leave it out" },
  fix_imports = { taken = BOOLEANS, of = words "load save", why = "it is true or false" },
  max_header_size = { taken = ANY, of = words "load" },
  encoding = { taken = words "bytes utf-8 utf8 UTF-8 latin1 ASCII ascii", of = words "load loadtxt genfromtxt savetxt",
    why = "text is taken byte for byte; leave it out" },
  max_work = { taken = ANY, of = words "may_share_memory" },
  kind = { taken = { sort = true, table = true }, of = words "isin in1d",
    why = "kind is \"sort\" or \"table\"; which is faster is found out" },
}

-- May an option of this name and value be left out of account?  Raises where it is one of NumPy's and may not.
---@param who string
---@param name any
---@param value any
---@return boolean
return function(who, name, value)
  local parameter = parameters[name]
  if not parameter or not (parameter.of[who] or parameter.ufuncs and ufunc.all[who]) then return false end
  if parameter.taken[value] then return true end
  core.raise("%s: %s = %s: %s", who, name, type(value) == "string" and ("%q"):format(value) or
    type(value) == "boolean" and tostring(value) or (core.describe(value)), parameter.why)
end
