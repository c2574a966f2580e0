-- array/math/einsum.lua - products of arrays of any number of dimensions: einsum, tensordot, kron, cross.
--
-- einsum contracts two operands at a time, in an order that it plans by itself (contraction.lua).  A pair of which each
-- has axes of its own becomes a product of matrices (BLAS); any other pair is one reduction of a product, a generator
-- that fuses with its neighbours.

local core = require "array.core"
local contraction = require "array.math.contraction"
local reduce = require "array.core.reduce"
local routine = require "array.core.routine"
local ufunc = require "array.core.ufunc"

local lgt, dtypes, raise = core.lgt, core.dtypes, core.raise
local volume = contraction.volume
local handles = lgt.handles
local np = core.np

-- ---- tensordot, kron, cross ---------------------------------------------------------------------------

-- The axes that are not in `axes`, then those, or the other way round.
local function order_with(axes, ndim, last)
  local order, chosen = {}, {}
  for _, d in ipairs(axes) do chosen[d] = true end
  if not last then for _, d in ipairs(axes) do order[#order + 1] = d end end
  local rest = {}
  for d = 1, ndim do
    if not chosen[d] then
      order[#order + 1] = d
      rest[#rest + 1] = d
    end
  end
  if last then for _, d in ipairs(axes) do order[#order + 1] = d end end
  return order, rest
end

local function checked_axes(axes, ndim)
  if type(axes) ~= "table" then axes = { axes } end
  local result = {}
  for i = 1, #axes do result[i] = core.check_axis(axes[i], ndim, "tensordot") end
  return result
end

-- The sum of products over pairs of axes; what is left of the first comes before what is left of the second.
---@param a lgt_array
---@param b lgt_array
---@param axes integer|table|nil n: the last n of a with the first n of b (2); or {axes of a, axes of b}
---@return lgt_array
function np.tensordot(a, b, axes, surplus)
  core.check_surplus(surplus, "tensordot")
  a, b, axes = np.asarray(a), np.asarray(b), core.plain(core.named_option(axes, "axes", "tensordot") or 2)
  local m, n = core.ndim_of(a), core.ndim_of(b)
  local first, second = {}, {}
  if type(axes) == "number" then
    if not core.is_integer(axes) or axes < 0 or axes > m or axes > n then
      raise("tensordot: %g axes of arrays of %d and %d dimensions", axes, m, n)
    end
    for i = 1, axes do first[i], second[i] = m - axes + i, i end
  elseif type(axes) ~= "table" or getmetatable(axes) or #axes ~= 2 then
    raise("tensordot: axes are a number of them or {axes of a, axes of b}, not %s", core.word(axes))
  else
    first, second = checked_axes(axes[1], m), checked_axes(axes[2], n)
  end
  if #first ~= #second then raise("tensordot: %d axes of the first array, %d of the second", #first, #second) end
  local sa, sb, inner = core.shape_of(a), core.shape_of(b), 1
  for i = 1, #first do
    if sa[first[i]] ~= sb[second[i]] then
      raise("tensordot: axis %d of shape %s and axis %d of shape %s differ", first[i], core.shape_text(sa), second[i],
        core.shape_text(sb))
    end
    inner = inner * sa[first[i]]
  end
  local order_a, rest_a = order_with(first, m, true)
  local order_b, rest_b = order_with(second, n, false)
  local shape, rows, columns = {}, 1, 1
  for _, d in ipairs(rest_a) do shape[#shape + 1], rows = sa[d], rows * sa[d] end
  for _, d in ipairs(rest_b) do shape[#shape + 1], columns = sb[d], columns * sb[d] end
  if m > 0 then a = np.transpose(a, order_a) end
  if n > 0 then b = np.transpose(b, order_b) end
  return np.reshape(np.dot(np.reshape(a, { rows, inner }), np.reshape(b, { inner, columns })), shape)
end

-- Each element of a times all of b, as blocks.
---@param a lgt_array at most 3 dimensions
---@param b lgt_array
---@return lgt_array
function np.kron(a, b, surplus)
  core.check_surplus(surplus, "kron")
  a, b = np.asarray(a), np.asarray(b)
  local ndim = math.max(core.ndim_of(a), core.ndim_of(b))
  if ndim > 3 then raise("kron: %d dimensions; at most 3 are possible", ndim) end
  while core.ndim_of(a) < ndim do a = np.expand_dims(a, 1) end
  while core.ndim_of(b) < ndim do b = np.expand_dims(b, 1) end
  local shape, left, right = core.shape_of(a), {}, {}
  for d, n in ipairs(core.shape_of(b)) do
    left[#left + 1], left[#left + 2] = shape[d], 1
    right[#right + 1], right[#right + 2] = 1, n
    shape[d] = shape[d] * n
  end
  return np.reshape(np.reshape(a, left) * np.reshape(b, right), shape)
end

local cross_options = { axisa = true, axisb = true, axisc = true, axis = true }

-- The vector product of vectors of 2 or 3 elements, which lie along the last axes; of two with 2 elements
-- only the third component.
---@param a lgt_array
---@param b lgt_array
---@param options {axisa: integer?, axisb: integer?, axisc: integer?, axis: integer?}?
---@return lgt_array
function np.cross(a, b, options)
  options = core.check_options(options, cross_options, "cross")
  a, b = np.asarray(a), np.asarray(b)
  local function last(x, axis)
    if core.ndim_of(x) == 0 then raise("cross: vectors were expected, not a 0-d array") end
    x = np.moveaxis(x, options.axis or axis or -1, -1)
    local shape = core.shape_of(x)
    local n = shape[#shape]
    if n ~= 2 and n ~= 3 then raise("cross: vectors of 2 or 3 elements were expected, not %d", n) end
    local parts = {}
    for i = 1, n do parts[i] = lgt.alias(x, lgt.project(core.layout_of(x), #shape, i - 1)) end
    return parts
  end
  local x, y = last(a, options.axisa), last(b, options.axisb)
  local third = x[1] * y[2] - x[2] * y[1]
  if #x == 2 and #y == 2 then return third end
  local function product(i, j) return x[i] and y[j] and x[i] * y[j] end
  local function difference(p, q) return p and q and p - q or p or -q end
  local result = np.stack({ difference(product(2, 3), product(3, 2)), difference(product(3, 1), product(1, 3)), third },
    -1)
  return np.moveaxis(result, -1, options.axis or options.axisc or -1)
end

-- ---- einsum: what the subscripts say -------------------------------------------------------------------

local ELLIPSIS = 1000 -- labels above: the axes an ellipsis stands for, counted from the last

-- The labels of one operand: byte codes of letters, or ELLIPSIS + 1, ... from the right.
local function labels_of(text, ndim, who)
  local labels, letters = {}, select(2, text:gsub("%a", ""))
  if text:gsub("%.%.%.", "", 1):find("[^%a]") then raise("%s: %q: letters and one \"...\" were expected", who, text) end
  for part in text:gmatch("%.*%a?") do
    if part:sub(1, 3) == "..." then
      for k = ndim - letters, 1, -1 do labels[#labels + 1] = ELLIPSIS + k end
      part = part:sub(4)
    end
    if part ~= "" then labels[#labels + 1] = part:byte() end
  end
  if ndim and #labels ~= ndim then
    raise("%s: %q names %d axes, the array has %d", who, text, #labels, ndim)
  end
  return labels
end

local function parse(subscripts, operands, who)
  if type(subscripts) ~= "string" then
    raise("%s: subscripts such as \"ij,jk->ik\" were expected, not %s", who, (core.describe(subscripts)))
  end
  local text = subscripts:gsub("%s", "")
  local left, right = text:match("^(.-)%->(.*)$")
  left = left or text
  local terms, count, widest = {}, {}, 0
  for term in (left .. ","):gmatch("([^,]*),") do terms[#terms + 1] = term end
  if #terms ~= #operands then raise("%s: %q names %d arrays, %d were given", who, subscripts, #terms, #operands) end
  for i, term in ipairs(terms) do
    terms[i] = labels_of(term, core.ndim_of(operands[i]), who)
    for _, label in ipairs(terms[i]) do
      count[label] = (count[label] or 0) + 1
      if label > ELLIPSIS then widest = math.max(widest, label - ELLIPSIS) end
    end
  end
  local output = {}
  if right then
    output = labels_of(right, right:find("...", 1, true) and widest + select(2, right:gsub("%a", "")) or nil, who)
    local seen = {}
    for _, label in ipairs(output) do
      if seen[label] then raise("%s: %q: an axis appears twice in the result", who, subscripts) end
      if not count[label] then raise("%s: %q: the result has an axis that no array has", who, subscripts) end
      seen[label] = true
    end
    for label in pairs(count) do
      if label > ELLIPSIS and not seen[label] then
        raise("%s: %q: \"...\" of the arrays is missing in the result", who, subscripts)
      end
    end
  else
    for k = widest, 1, -1 do output[#output + 1] = ELLIPSIS + k end
    local once = {}
    for label, n in pairs(count) do
      if n == 1 and label < ELLIPSIS then once[#once + 1] = label end
    end
    table.sort(once)
    for _, label in ipairs(once) do output[#output + 1] = label end
  end
  return terms, output
end

-- ---- einsum: operands and pairs ------------------------------------------------------------------------

-- An operand is {array, labels}, its labels all different.

local function find(list, x)
  for i = 1, #list do
    if list[i] == x then return i end
  end
end

-- A label that appears twice means the diagonal.
local function take_diagonals(array, labels)
  for i = 1, #labels do
    for j = #labels, i + 1, -1 do
      if labels[i] == labels[j] then
        local shape = core.shape_of(array)
        if shape[i] ~= shape[j] then raise("einsum: a repeated axis has extents %d and %d", shape[i], shape[j]) end
        array = np.diagonal(array, 0, i, j)
        local label = labels[i]
        local rest = {}
        for k = 1, #labels do
          if k ~= i and k ~= j then rest[#rest + 1] = labels[k] end
        end
        rest[#rest + 1] = label
        return take_diagonals(array, rest)
      end
    end
  end
  return array, labels
end

local function sum_over(array, axes)
  if #axes == 0 then return array end
  if core.dtype_of(array) == dtypes.BOOL then return np.any(array, axes) end
  local dtype = core.dtype_of(array)
  local result = np.sum(array, axes)
  return core.dtype_of(result) == dtype and result or np.astype(result, dtypes.name[dtype])
end

-- Drop axes of extent 1 that others stretch.
local function drop_stretched(array, all, extents)
  local layout, labels = core.layout_of(array), {}
  local shape = lgt.shape(layout)
  for d = #shape, 1, -1 do
    if shape[d] == 1 and extents[all[d]] ~= 1 then
      layout = lgt.project(layout, d, 0)
    else
      table.insert(labels, 1, all[d])
    end
  end
  return lgt.alias(array, layout), labels
end

-- Sum over the axes that nothing else needs.
local function sum_unneeded(operand, needed)
  local left, axes = {}, {}
  for d, label in ipairs(operand.labels) do
    if needed[label] then left[#left + 1] = label else axes[#axes + 1] = d end
  end
  return { array = sum_over(operand.array, axes), labels = left }
end

-- A view with one axis for each of `labels`, of extent 1 where the operand lacks it.
local function spread(operand, labels)
  local order, places = {}, {}
  for i, label in ipairs(labels) do
    local d = find(operand.labels, label)
    if d then order[#order + 1] = d else places[#places + 1] = i end
  end
  local array = #order > 1 and np.transpose(operand.array, order) or operand.array
  local layout = core.layout_of(array)
  for _, i in ipairs(places) do layout = lgt.promote(layout, i, 1) end
  return lgt.alias(array, layout)
end

local function joined(...)
  local list = {}
  for i = 1, select("#", ...) do
    for _, x in ipairs((select(i, ...))) do list[#list + 1] = x end
  end
  return list
end

-- An operand with its axes grouped into matrices: {batch, rows, columns}.
local function grouped(operand, extents, ...)
  local array = spread(operand, joined(...))
  local shape = {}
  for i = 1, select("#", ...) do shape[i] = volume((select(i, ...)), extents) end
  return np.reshape(array, shape)
end

-- Are two operands the same elements, and the axes that each has for itself in the same places?  Then one matrix is the
-- other's transpose.
local function is_transpose(a, b, left, right)
  local x, y = handles[a.array.id], handles[b.array.id]
  if x.store == 0 or x.store ~= y.store or x.layout ~= y.layout then return false end
  for d, label in ipairs(a.labels) do
    local own = find(left, label)
    if b.labels[d] ~= (own and right[own] or label) then return false end
  end
  return true
end

local BLAS_PAYS = 2 ^ 18 -- multiplications: below, a reduction of products is as fast

-- The product of two operands, summed over the labels that are not needed afterwards.
local function contract(a, b, needed, extents)
  local batch, left, right, inner = {}, {}, {}, {}
  for _, label in ipairs(a.labels) do
    local list = not find(b.labels, label) and left or needed[label] and batch or inner
    list[#list + 1] = label
  end
  for _, label in ipairs(b.labels) do
    if not find(a.labels, label) then right[#right + 1] = label end
  end
  local labels = joined(batch, left, right)
  local work = volume(left, extents) * volume(right, extents) * volume(inner, extents)
  local space = joined(labels, inner)
  if #inner > 0 and (#left > 0 and #right > 0 and (#batch == 0 or work >= BLAS_PAYS) or #space > 6) then
    local x = grouped(a, extents, batch, left, inner)
    local y = is_transpose(a, b, left, right) and np.swapaxes(x, 2, 3) or grouped(b, extents, batch, inner, right)
    if #batch == 0 then x, y = x[1], y[1] end
    local shape = {}
    for i, label in ipairs(labels) do shape[i] = extents[label] end
    return { array = np.reshape(np.matmul(x, y), shape), labels = labels }
  end
  local x, y = spread(a, space), spread(b, space)
  if #inner == 0 then return { array = x * y, labels = labels } end
  local set = {}
  for i = #labels + 1, #space do set[i] = true end
  return { array = reduce.products(reduce.DOT, x, y, set), labels = labels }
end

local function needed_by(list, output, skip_i, skip_j)
  local needed = {}
  for _, label in ipairs(output) do needed[label] = true end
  for k, labels in ipairs(list) do
    if k ~= skip_i and k ~= skip_j then
      for _, label in ipairs(labels) do needed[label] = true end
    end
  end
  return needed
end

local einsum_options = { optimize = true, out = true, dtype = true }

local function prepare(who, subscripts, ...)
  local operands, count = { ... }, select("#", ...)
  local options
  if core.is_options(operands[count]) then
    options, operands[count], count = operands[count], nil, count - 1
  end
  options = core.check_options(options, einsum_options, who)
  if count == 0 then raise("%s: no array was given", who) end
  for i = 1, count do operands[i] = np.asarray(operands[i]) end
  local terms, output = parse(subscripts, operands, who)
  local extents = {}
  for i = 1, count do
    operands[i], terms[i] = take_diagonals(operands[i], terms[i])
    for d, n in ipairs(core.shape_of(operands[i])) do
      local label = terms[i][d]
      local known = extents[label] or 1
      if known ~= n and known ~= 1 and n ~= 1 then
        raise("%s: %q: one axis has extents %d and %d", who, subscripts, known, n)
      end
      extents[label] = known == 1 and n or known
    end
  end
  for i = 1, count do operands[i], terms[i] = drop_stretched(operands[i], terms[i], extents) end
  return operands, terms, output, extents, options
end

local function planned(terms, output, extents, options, who)
  local network = { terms = terms, output = output, extents = extents }
  return contraction.path(network, options.optimize, who), network
end

-- The order in which einsum multiplies: a table of pairs of positions (each pair leaves the list and its product is
-- put last), which einsum takes as its option `optimize`; and a text about what that costs.
---@param subscripts string
---@param ... lgt_array then options {optimize}, as einsum's
---@return integer[][], string
function np.einsum_path(subscripts, ...)
  local _, terms, output, extents, options = prepare("einsum_path", subscripts, ...)
  local path, network = planned(terms, output, extents, options, "einsum_path")
  local copy = {}
  for i, step in ipairs(path) do copy[i] = { step[1], step[2] } end
  return copy, contraction.report(network, path)
end

local function einsum(subscripts, ...)
  local operands, terms, output, extents, options = prepare("einsum", subscripts, ...)
  local dtype = core.dtype_of(operands[1])
  for i = 2, #operands do dtype = dtypes.promote(dtype, core.dtype_of(operands[i])) end
  if options.dtype then
    local wanted = core.check_dtype(options.dtype, "einsum")
    ufunc.check_cast(dtype, wanted, "einsum")
    dtype = wanted
  end
  local list, path = {}, planned(terms, output, extents, options, "einsum")
  for i, a in ipairs(operands) do
    if core.dtype_of(a) ~= dtype then a = np.astype(a, dtypes.name[dtype]) end
    list[i] = sum_unneeded({ array = a, labels = terms[i] }, needed_by(terms, output, i))
  end
  for _, step in ipairs(path) do
    local b = step[2] and table.remove(list, step[2])
    local a = table.remove(list, step[1])
    if b then
      local rest = {}
      for k, operand in ipairs(list) do rest[k] = operand.labels end
      a = contract(a, b, needed_by(rest, output), extents)
    end
    list[#list + 1] = a
  end
  return reduce.give(spread(list[1], output), options.out, "einsum")
end
local EINSUM = routine.new(einsum)

-- Einstein's sums: "ij,jk->ik" multiplies matrices, "ii" is a trace, "..." stands for axes that broadcast.  Of up to 8
-- arrays those two are multiplied first with which all takes the fewest operations; of more, a good order is found.
-- No product is made on the way that is larger than the largest array or the result, while another order avoids it.
---@param subscripts string
---@param ... lgt_array then options {optimize, out, dtype}; optimize: true, false (from left to right), "optimal",
---  "greedy", {"optimal" or "greedy", limit: elements of a product on the way}, or a path of np.einsum_path; dtype:
---  what it computes in
---@return lgt_array a view where nothing is multiplied or summed
function np.einsum(subscripts, ...)
  local count = select("#", ...)
  if count >= 1 and count <= 3 then return (routine.of_text(EINSUM, subscripts, ...)) end
  return (einsum(subscripts, ...))
end

return true
