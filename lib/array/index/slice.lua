-- array/index/slice.lua - what an index means: from strings, numbers and tables to steps that make a view.
--
-- Plain Lua without a runtime.  Positions count from 1, ends are inclusive, negative ones count from the
-- end.  An index is parsed into a list of entries, and resolved against a shape into steps:
--
--   entry   {kind = "at", at = n}                       one position: the axis goes away
--           {kind = "range", lo, hi, step}              lo and hi may be nil
--           {kind = "new"}                              a new axis of extent 1
--           {kind = "rest"}                             as many full ranges as are missing
--           {kind = "pick", array = x, axes = n}        an array of positions or booleans (keys.lua)
--   step    {kind = "at", axis, first}                  first counts from 0
--           {kind = "range", axis, first, count, step}
--           {kind = "new", axis}
--           {kind = "pick", axis, array, axes, source}   source: the axis before all steps
--   An axis in a step is that of the view as it is when the step is taken.

local slice = {}

-- Replaced by keys.lua: an error at the script's line, and what stands for a number as that number.
local raise, plain = error, function(x) return x end

function slice.bind(on_mistake, to_plain) raise, plain = on_mistake, to_plain or plain end

-- ---- parsing ------------------------------------------------------------------------------------------

local function parse_bound(text, whole)
  if text == "" then return nil end
  if text == "end" then return -1 end
  local n = tonumber(text)
  if text == "None" or text:find("newaxis$") then raise(("index %q: a new axis is written *"):format(whole)) end
  if not n or n ~= math.floor(n) then
    raise(("index %q: %q is no position: an integer, or \"end\", was expected"):format(whole, text))
  end
  return n
end

-- One part of a string index: "3", "2:-2", "::2", "*", "...".
local function parse_part(part, whole)
  if part == "*" then return { kind = "new" } end
  if part == "..." then return { kind = "rest" } end
  local fields = {}
  for field in (part .. ":"):gmatch("([^:]*):") do fields[#fields + 1] = field:match("^%s*(.-)%s*$") end
  if #fields == 1 then
    local at = parse_bound(fields[1], whole)
    if not at then raise(("index %q: a part is empty; \":\" takes a whole axis"):format(whole)) end
    return { kind = "at", at = at }
  end
  if #fields > 3 then raise(("index %q: %q has too many colons; lo:hi:step was expected"):format(whole, part)) end
  local step = fields[3] and parse_bound(fields[3], whole) or 1
  return { kind = "range", lo = parse_bound(fields[1], whole), hi = parse_bound(fields[2], whole), step = step }
end

---@param text string such as "2:-2, :, ::2"
function slice.parse_string(text)
  local entries = {}
  for part in (text .. ","):gmatch("([^,]*),") do
    entries[#entries + 1] = parse_part(part:match("^%s*(.-)%s*$"), text)
  end
  return entries
end

-- Does a string look like an index, rather than a misspelt attribute?
function slice.looks_like_index(text)
  return text:find("[:,*]") ~= nil or text:find("^%s*[%d%-]") ~= nil or text:find("^%s*end%f[%A]") ~= nil or
    text:find("^[%s%.]*$") ~= nil
end

local range_keys = { [1] = true, [2] = true, step = true }

-- A table inside a table index: {} is everything, {lo, hi} or {lo, hi, step = k} a range.
local function parse_range(t)
  if next(t) == nil then return { kind = "range", step = 1 } end
  for key in pairs(t) do
    if not range_keys[key] then
      raise("index: a table inside an index is {} or a range {lo, hi} or {lo, hi, step = k}; " ..
        "positions to gather come as np.array({...}, \"int64\")")
    end
  end
  local lo, hi, step = plain(t[1]), plain(t[2]), plain(t.step or 1)
  if type(lo) ~= "number" or type(hi) ~= "number" or type(step) ~= "number" then
    raise("index: a range is {lo, hi} or {lo, hi, step = k} with integers; " ..
      "positions to gather come as np.array({...}, \"int64\")")
  end
  return { kind = "range", lo = lo, hi = hi, step = step }
end

-- The entries of a table index, of which there must be exactly `ndim` (see resolve for "...").
-- axes_of tells how many axes an array of positions or booleans takes, and gives nil for anything else.
---@param key table
function slice.parse_table(key, ndim, axes_of)
  local entries, count = {}, 0
  for k in pairs(key) do
    if type(k) ~= "number" or k < 1 or k ~= math.floor(k) then
      raise(("index: unknown field %s; an index lists one entry for each axis"):format(tostring(k)))
    end
    if k > count then count = k end
  end
  for i = 1, count do
    local e = key[i]
    local kind = type(e)
    if e == nil then
      raise(("index: entry %d is nil; {} takes a whole axis"):format(i))
    elseif kind == "number" then
      entries[i] = { kind = "at", at = e }
    elseif kind == "string" then
      local parsed = slice.parse_string(e)
      if #parsed ~= 1 then raise(("index: entry %d, %q, describes %d axes, not one"):format(i, e, #parsed)) end
      entries[i] = parsed[1]
    elseif axes_of(e) then
      entries[i] = { kind = "pick", array = e, axes = axes_of(e) }
    elseif kind == "table" then
      entries[i] = parse_range(e)
    elseif type(plain(e)) == "number" then
      entries[i] = { kind = "at", at = plain(e) }
    else
      raise(("index: entry %d is a %s; numbers, ranges, strings and arrays were expected"):format(i, kind))
    end
  end
  local axes, rest = 0, false
  for i = 1, count do
    local kind = entries[i].kind
    if kind == "rest" then rest = true elseif kind ~= "new" then axes = axes + (entries[i].axes or 1) end
  end
  if not rest and axes ~= ndim then
    local advice = ""
    if ndim == 1 and count == 2 and type(key[1]) == "number" and type(key[2]) == "number" then
      advice = ("; for elements %d to %d write {{%d, %d}}"):format(key[1], key[2], key[1], key[2])
    elseif count == 1 and type(key[1]) == "table" and entries[1].hi and entries[1].step == 1 then
      advice = (", as in {{%g, %g}, \"...\"}"):format(entries[1].lo, entries[1].hi)
    end
    raise(("index: %d entries for an array of %d dimensions; write {} for a whole axis, or \"...\" for the rest%s")
      :format(axes, ndim, advice))
  end
  return entries
end

-- ---- resolving ------------------------------------------------------------------------------------------

-- A position from 1 or from the end as an offset from 0.
function slice.resolve_position(at, extent, axis)
  if at ~= math.floor(at) then raise(("index: %g is no position; an integer was expected"):format(at)) end
  if at == 0 then raise("index: positions count from 1, 0 was given") end
  local offset = at < 0 and extent + at or at - 1
  if offset < 0 or offset >= extent then
    raise(("index: position %.14g of axis %d is outside its extent of %d"):format(at, axis, extent))
  end
  return offset
end

-- A range as (first offset, count, step).
function slice.resolve_range(lo, hi, step, extent)
  if lo == 0 then raise("index: positions count from 1, a range cannot begin at 0") end
  for _, v in pairs { lo or 1, hi or 1, step } do
    if v ~= math.floor(v) then raise(("index: %g is no position; integers were expected in a range"):format(v)) end
  end
  if step == 0 then raise("index: the step of a range is 0") end
  if step > 0 then
    lo = lo and (lo < 0 and extent + 1 + lo or lo) or 1
    hi = hi and (hi < 0 and extent + 1 + hi or hi) or extent
    if lo < 1 then lo = 1 end
    if hi > extent then hi = extent end
  else
    lo = lo and (lo < 0 and extent + 1 + lo or lo) or extent
    hi = hi and (hi < 0 and extent + 1 + hi or hi) or 1
    if lo > extent then lo = extent end
    if hi < 1 then hi = 1 end
  end
  local count = math.floor((hi - lo) / step) + 1
  if count <= 0 then return 0, 0, 1 end
  return lo - 1, count, step
end

local MOST = 6 -- dimensions

-- Many new axes: the numbers come first, so that there are never more than MOST.  Steps for these, and what is left of
-- the entries and of the shape; nil where arrays pick, for which the order counts.
local function numbers_first(entries, shape, used)
  local steps, others, left, source = {}, {}, {}, 1
  local function keep(n)
    for _ = 1, n do left[#left + 1], source = shape[source], source + 1 end
  end
  for _, e in ipairs(entries) do
    if e.kind == "pick" then return nil end
    if e.kind == "at" then
      local first = slice.resolve_position(e.at, shape[source], source)
      steps[#steps + 1] = { kind = "at", axis = #left + 1, first = first }
      source = source + 1
    else
      others[#others + 1] = e
      keep(e.kind == "rest" and #shape - used or e.kind == "range" and 1 or 0)
    end
  end
  keep(#shape - source + 1)
  return steps, others, left
end

-- The steps that lead from an array of this shape to the view.
---@param entries table
---@param shape integer[]
function slice.resolve(entries, shape)
  local ndim, used, rest, new = #shape, 0, false, 0
  for _, e in ipairs(entries) do
    if e.kind == "rest" then
      if rest then raise("index: \"...\" appears twice") end
      rest = true
    elseif e.kind ~= "new" then
      used = used + (e.axes or 1)
    else
      new = new + 1
    end
  end
  if used > ndim then raise(("index: %d entries for an array of %d dimensions"):format(used, ndim)) end
  local steps, axis, source = {}, 1, 1
  if ndim + new > MOST then
    local numbers, others, left = numbers_first(entries, shape, used)
    if numbers and #left + new > MOST then
      raise(("index: a view of %d dimensions; arrays have at most %d"):format(#left + new, MOST))
    end
    if numbers then
      for _, step in ipairs(slice.resolve(others, left)) do numbers[#numbers + 1] = step end
      return numbers
    end
  end
  for _, e in ipairs(entries) do
    if e.kind == "rest" then
      axis, source = axis + ndim - used, source + ndim - used
    elseif e.kind == "new" then
      steps[#steps + 1] = { kind = "new", axis = axis }
      axis = axis + 1
    elseif e.kind == "at" then
      steps[#steps + 1] = { kind = "at", axis = axis, first = slice.resolve_position(e.at, shape[source], source) }
      source = source + 1
    elseif e.kind == "range" then
      local first, count, step = slice.resolve_range(e.lo, e.hi, e.step, shape[source])
      if not (first == 0 and count == shape[source] and step == 1) then
        steps[#steps + 1] = { kind = "range", axis = axis, first = first, count = count, step = step }
      end
      axis, source = axis + 1, source + 1
    else
      steps[#steps + 1] = { kind = "pick", axis = axis, array = e.array, axes = e.axes, source = source }
      axis, source = axis + (e.axes or 1), source + (e.axes or 1)
    end
  end
  return steps
end

return slice
