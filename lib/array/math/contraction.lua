-- array/math/contraction.lua - in which order einsum multiplies its operands.
--
-- A path is a list of steps; each takes operands out of the list, by their positions in it, and puts their product
-- last.  Of up to OPTIMAL operands the path with the fewest operations is found, of all there are: what is best for a
-- set of operands is the best for two parts of it and the product of these, so sets are taken parts first (dynamic
-- programming: 3^n pairs of parts).  Of more operands, the pair comes next whose product is smallest compared with what
-- it replaces.  Both leave out products that are larger than anything given and asked for, while others will do.
--
--   "ij,jk,k->i", extents 2000:   (ij,jk) first: 1.6e10 operations;  (jk,k) first: 1.6e7
--
-- A network is what has to be contracted: {terms = labels of each operand, output = labels, extents = by label}.  A
-- term's labels are all different; labels that are in one term alone are summed over before anything is multiplied.

local bit = require "bit"
local core = require "array.core"

local band, bor, lshift = bit.band, bit.bor, bit.lshift
local raise = core.raise

local contraction = {}

local OPTIMAL = 8 -- operands up to which the best path is found: some thousand pairs
local WILLING = 14 -- ... if the caller asks for it, which takes a second
local REMEMBERED = 500 -- paths

-- ---- labels ---------------------------------------------------------------------------------------------

local function set_of(labels)
  local set = {}
  for _, label in ipairs(labels) do set[label] = true end
  return set
end

-- How many elements an array with these labels has.
local function volume(labels, extents)
  local n = 1
  for _, label in ipairs(labels) do n = n * extents[label] end
  return n
end
contraction.volume = volume

-- For a list of terms: how many terms, and the output, have each label.
local function holders_of(list, output)
  local count = {}
  for _, label in ipairs(output) do count[label] = 1 end
  for _, labels in ipairs(list) do
    for _, label in ipairs(labels) do count[label] = (count[label] or 0) + 1 end
  end
  return count
end

-- The labels of a product of two terms, how many operations it takes (a multiplication for all that its loop has, and
-- an addition if anything is summed), and how many labels the loop has.
local function product_of(a, b, count, extents)
  local first, second, result, space, rank = set_of(a), set_of(b), {}, 1, 0
  local function visit(label, own)
    space, rank = space * extents[label], rank + 1
    if count[label] > own then result[#result + 1] = label end
  end
  for _, label in ipairs(a) do visit(label, second[label] and 2 or 1) end
  for _, label in ipairs(b) do
    if not first[label] then visit(label, 1) end
  end
  return result, space * (rank > #result and 2 or 1), rank
end

-- The terms without what is summed over first.
local function summed(network)
  local count, list = holders_of(network.terms, network.output), {}
  for i, labels in ipairs(network.terms) do
    list[i] = {}
    for _, label in ipairs(labels) do
      if count[label] > 1 then table.insert(list[i], label) end
    end
  end
  return list
end

-- ---- the best path ----------------------------------------------------------------------------------------

-- For each set of operands (a number whose bits are operands): which labels its product has, as bits in two words, and
-- its size.
local function describe_sets(network)
  local terms, extents = network.terms, network.extents
  local full = lshift(1, #terms) - 1
  local labels, held, wanted = {}, {}, set_of(network.output)
  for i, term in ipairs(terms) do
    for _, label in ipairs(term) do
      if not held[label] then labels[#labels + 1], held[label] = label, 0 end
      held[label] = bor(held[label], lshift(1, i - 1))
    end
  end
  local low, high, size, extent = {}, {}, {}, {}
  for k, label in ipairs(labels) do extent[k] = extents[label] end
  for set = 1, full do
    low[set], high[set], size[set] = 0, 0, 1
    for k, label in ipairs(labels) do
      local inside = band(held[label], set)
      if inside ~= 0 and (wanted[label] or inside ~= held[label]) then
        if k <= 31 then low[set] = bor(low[set], lshift(1, k - 1))
        else high[set] = bor(high[set], lshift(1, k - 32)) end
        size[set] = size[set] * extent[k]
      end
    end
  end
  return { full = full, low = low, high = high, size = size, extent = extent }
end

-- How many operations the product of two sets takes that make up `set`.
local function price(sets, a, b, set)
  local low, high, n = bor(sets.low[a], sets.low[b]), bor(sets.high[a], sets.high[b]), 1
  for k = 1, #sets.extent do
    local word = k <= 31 and band(low, lshift(1, k - 1)) or k > 31 and band(high, lshift(1, k - 32))
    if word ~= 0 then n = n * sets.extent[k] end
  end
  return (low ~= sets.low[set] or high ~= sets.high[set]) and 2 * n or n
end

-- The best part of each set, and the largest intermediate product; nil if none of at most `limit` elements will do.
-- Best is what takes the fewest operations and then the least memory, or with `narrow` the other way round.
local function search(sets, limit, narrow)
  local work, peak, part = {}, {}, {}
  for set = 1, sets.full do
    local size = set == sets.full and 0 or sets.size[set]
    if band(set, set - 1) == 0 then
      work[set], peak[set] = 0, 0
    elseif size <= limit then
      local lowest = band(set, -set)
      local a = band(set - 1, set)
      while a > 0 do -- a runs through the parts of the set; those with its lowest operand stand for both halves
        local b = set - a
        if band(a, lowest) ~= 0 and work[a] and work[b] then
          local w, p = work[a] + work[b] + price(sets, a, b, set), math.max(peak[a], peak[b], size)
          local better
          if not work[set] then better = true
          elseif narrow then better = p < peak[set] or p == peak[set] and w < work[set]
          else better = w < work[set] or w == work[set] and p < peak[set] end
          if better then work[set], peak[set], part[set] = w, p, a end
        end
        a = band(a - 1, set)
      end
    end
  end
  if work[sets.full] then return part, peak[sets.full] end
end

local function best_path(network, limit)
  local sets = describe_sets(network)
  local part = search(sets, limit)
  if not part then
    local _, least = search(sets, math.huge, true)
    part = search(sets, least)
  end
  local list, path = {}, {} -- the list has sets
  for i = 1, #network.terms do list[i] = lshift(1, i - 1) end
  local function take(set)
    for i = 1, #list do
      if list[i] == set then return i end
    end
  end
  local function make(set)
    if band(set, set - 1) == 0 then return end
    local a, b = part[set], set - part[set]
    make(a)
    make(b)
    local i, j = take(a), take(b)
    path[#path + 1] = { math.min(i, j), math.max(i, j) }
    table.remove(list, math.max(i, j))
    table.remove(list, math.min(i, j))
    list[#list + 1] = set
  end
  make(sets.full)
  return path
end

-- ---- a good path of many -----------------------------------------------------------------------------------

local function first_before(x, y)
  for k = 1, #x do
    if x[k] ~= y[k] then return x[k] < y[k] end
  end
  return false
end

local function greedy_path(network, limit)
  local list, path, extents = summed(network), {}, network.extents
  while #list > 1 do
    local count = holders_of(list, network.output)
    local best, best_i, best_j, best_labels
    for i = 1, #list do
      for j = i + 1, #list do
        local labels, work = product_of(list[i], list[j], count, extents)
        local size, before = volume(labels, extents), volume(list[i], extents) + volume(list[j], extents)
        local over = #list > 2 and size > limit and size or 0
        local apart = #labels == #list[i] + #list[j] and 1 or 0 -- outer products come last
        local key = { over, apart, size - before, work }
        if not best or first_before(key, best) then best, best_i, best_j, best_labels = key, i, j, labels end
      end
    end
    path[#path + 1] = { best_i, best_j }
    table.remove(list, best_j)
    table.remove(list, best_i)
    list[#list + 1] = best_labels
  end
  return path
end

-- ---- what a caller asks for ----------------------------------------------------------------------------------

local function from_left(count)
  local path = {}
  for i = 1, count - 1 do path[i] = i == 1 and { 1, 2 } or { 1, count - i + 1 } end
  return path
end

local function is_path(list)
  for k = 1, #list do
    if type(list[k]) ~= "table" then return false end
  end
  return true
end

-- A path that a caller gives: lists of positions, behind "einsum_path" or not.  Of more than two operands in a step,
-- one is multiplied after another; one alone goes to the end of the list.
local function given_path(list, count, who)
  local steps = { unpack(list, list[1] == "einsum_path" and 2 or 1) }
  if not is_path(steps) then
    raise("%s: optimize is true, false, \"optimal\", \"greedy\", one of these names with a limit in elements, or a "
      .. "list of lists of positions", who)
  end
  local path, left = {}, count
  for k, step in ipairs(steps) do
    local positions, seen = {}, {}
    for i, p in ipairs(step) do
      p = core.plain(p)
      if not core.is_integer(p) or p < 1 or p > left or seen[p] then
        raise("%s: step %d of the path: %s is no position of one of %d arrays", who, k, core.word(p), left)
      end
      positions[i], seen[p] = p, true
    end
    if #positions == 0 then raise("%s: step %d of the path is empty", who, k) end
    table.sort(positions)
    path[#path + 1] = { positions[1], positions[2] }
    for i = 3, #positions do path[#path + 1] = { positions[i] - i + 1, left - i + 2 } end -- products are last
    left = left - #positions + 1
  end
  if left ~= 1 then raise("%s: the path leaves %d arrays", who, left) end
  return path
end

-- "optimal" or "greedy", and the limit in elements that may stand behind it.
local function asked(optimize, who)
  if optimize == nil or optimize == true then return true end
  local name, limit = optimize, nil
  if type(optimize) == "table" then name, limit = optimize[1], core.plain(optimize[2]) end
  if name ~= "optimal" and name ~= "greedy" then
    raise("%s: optimize is true, false, \"optimal\", \"greedy\" or a path, not %s", who, core.word(name))
  end
  if limit ~= nil and type(limit) ~= "number" then
    raise("%s: the limit of %q is a number of elements, not %s", who, name, (core.describe(limit)))
  end
  return name, limit and (limit < 0 and math.huge or limit)
end

-- No intermediate product is larger than this, where that can be: the largest array given or asked for.
local function usual_limit(network)
  local limit = volume(network.output, network.extents)
  for _, labels in ipairs(network.terms) do limit = math.max(limit, volume(labels, network.extents)) end
  return limit
end

local remembered, how_many = {}, 0

local function key_of(network, name, limit)
  local words = { tostring(name), tostring(limit) }
  for _, labels in ipairs(network.terms) do
    words[#words + 1] = ","
    for _, label in ipairs(labels) do
      words[#words + 1] = label
      words[#words + 1] = network.extents[label]
    end
  end
  words[#words + 1] = ">"
  for _, label in ipairs(network.output) do words[#words + 1] = label end
  return table.concat(words, " ")
end

-- The path by which a network is contracted.
---@param network {terms: integer[][], output: integer[], extents: table<integer, integer>}
---@param optimize boolean|string|table|nil as NumPy's: false is from left to right
---@param who string
---@return integer[][]
function contraction.path(network, optimize, who)
  local count = #network.terms
  if optimize == false then return from_left(count) end
  if type(optimize) == "table" and (#optimize == 0 or type(optimize[1]) == "table" or optimize[1] == "einsum_path") then
    return given_path(optimize, count, who)
  end
  local name, limit = asked(optimize, who)
  if count <= 2 then return from_left(count) end
  local key = key_of(network, name, limit)
  local path = remembered[key]
  if path then return path end
  limit = limit or usual_limit(network)
  local most = name == "optimal" and WILLING or OPTIMAL
  path = (name ~= "greedy" and count <= most and best_path or greedy_path)(network, limit)
  if how_many == REMEMBERED then remembered, how_many = {}, 0 end
  remembered[key], how_many = path, how_many + 1
  return path
end

-- ---- what a path costs -----------------------------------------------------------------------------------------

-- A letter for each label; what an ellipsis stands for gets letters that are not in use.
local function letters_of(network)
  local all, letters, used, free = {}, {}, {}, 64
  for label in pairs(holders_of(network.terms, network.output)) do all[#all + 1] = label end
  table.sort(all)
  for _, label in ipairs(all) do
    if label < 256 then letters[label], used[label] = string.char(label), true end
  end
  for _, label in ipairs(all) do
    if not letters[label] then
      repeat free = free + 1 until not used[free]
      letters[label] = string.char(free)
    end
  end
  return letters, all
end

local function spell(terms, letters)
  local words = {}
  for i, labels in ipairs(terms) do
    words[i] = ""
    for _, label in ipairs(labels) do words[i] = words[i] .. letters[label] end
  end
  return table.concat(words, ",")
end

-- What a path takes, as np.einsum_path tells it.
---@param network {terms: integer[][], output: integer[], extents: table<integer, integer>}
---@param path integer[][]
---@return string
function contraction.report(network, path)
  local extents, output = network.extents, network.output
  local letters, all = letters_of(network)
  local whole = spell(network.terms, letters) .. "->" .. spell({ output }, letters)
  local naive = volume(all, extents) * (math.max(1, #network.terms - 1) + (#all > #output and 1 or 0))
  local list, steps, work, largest, scaling = summed(network), {}, 0, volume(output, extents), #output
  for _, step in ipairs(path) do
    if step[2] then
      local count = holders_of(list, output)
      local b, a = table.remove(list, step[2]), table.remove(list, step[1])
      local labels, operations, rank = product_of(a, b, count, extents)
      list[#list + 1] = labels
      work, largest, scaling = work + operations, math.max(largest, volume(labels, extents)), math.max(scaling, rank)
      local product = spell({ a, b }, letters) .. "->" .. spell({ #list > 1 and labels or output }, letters)
      local rest = spell(list, letters) .. "->" .. spell({ output }, letters)
      steps[#steps + 1] = ("%4d    %24s %40s"):format(rank, product, rest)
    else
      list[#list + 1] = table.remove(list, step[1])
    end
  end
  local rule = ("-"):rep(74)
  return ([[
  Complete contraction:  %s
         Naive scaling:  %d
     Optimized scaling:  %d
      Naive FLOP count:  %.3e
  Optimized FLOP count:  %.3e
   Theoretical speedup:  %.3e
  Largest intermediate:  %.3e elements
%s
scaling                  current                                remaining
%s
%s]]):format(whole, #all, scaling, naive, work, naive / math.max(1, work), largest, rule, rule,
    table.concat(steps, "\n"))
end

return contraction
