-- lgt/show.lua - values as text, for people: what the prompt answers, and the table of who().
--
-- show.value(x) is what print would show, except that tables show what is in them, up to a bounded depth
-- and number of entries.  show.who() describes the variables of the prompt.

local show = {}

local type, tostring, rawget, getmetatable = type, tostring, rawget, getmetatable
local ENTRIES, DEPTH, WIDTH = 20, 3, 78

local IDENTIFIER = "^[%a_][%w_]*$"

-- The array library where it is loaded: values are shown without loading anything.
local function arrays() return package.loaded["array.core"] end

function show.is_array(x)
  local core = arrays()
  return type(x) == "cdata" and core ~= nil and core.is_array(x)
end

local render

local function key_text(key, depth, seen)
  if type(key) == "string" and key:match(IDENTIFIER) then return key end
  return "[" .. render(key, depth, seen) .. "]"
end

-- Names in order, so that the same table always looks the same.
local function sorted_keys(t, n)
  local keys = {}
  for key in next, t do
    if not (type(key) == "number" and key >= 1 and key <= n and key % 1 == 0) then keys[#keys + 1] = key end
  end
  table.sort(keys, function(a, b)
    if type(a) == type(b) and (type(a) == "string" or type(a) == "number") then return a < b end
    return type(a) < type(b)
  end)
  return keys
end

local function join(words)
  local line = "{" .. table.concat(words, ", ") .. "}"
  if #line <= WIDTH and not line:find("\n", 1, true) then return line end
  for i = 1, #words do words[i] = words[i]:gsub("\n", "\n  ") end
  return "{\n  " .. table.concat(words, ",\n  ") .. "\n}"
end

local function render_table(t, depth, seen)
  if seen[t] then return "(itself)" end
  if depth > DEPTH then return next(t) == nil and "{}" or "{...}" end
  seen[t] = true
  local words, n = {}, 0
  while rawget(t, n + 1) ~= nil do n = n + 1 end
  for i = 1, n do
    if #words == ENTRIES then break end
    words[i] = render(t[i], depth + 1, seen)
  end
  local keys, more = sorted_keys(t, n), math.max(0, n - ENTRIES)
  for _, key in ipairs(keys) do
    if #words >= ENTRIES then
      more = more + 1
    else
      words[#words + 1] = key_text(key, depth + 1, seen) .. " = " .. render(rawget(t, key), depth + 1, seen)
    end
  end
  if more > 0 then words[#words + 1] = ("... %d more"):format(more) end
  seen[t] = nil
  return join(words)
end

function render(x, depth, seen)
  if type(x) == "string" then return ("%q"):format(x):gsub("\\\n", "\\n") end
  if type(x) ~= "table" then
    local text = tostring(x)
    if show.is_array(x) and text:find("\n", 1, true) then text = "\n" .. text end
    return text
  end
  local meta = getmetatable(x)
  if type(meta) == "table" and meta.__tostring or meta ~= nil and type(meta) ~= "table" then return tostring(x) end
  return render_table(x, depth, seen)
end

-- A value as the prompt shows it: text as it is, tables with what is in them.
---@param x any
---@return string
function show.value(x)
  if type(x) == "string" then return x end
  return (render(x, 1, {}))
end

-- ---- who ------------------------------------------------------------------------------------------------

local function bytes_text(n)
  if n < 1024 then return ("%d B"):format(n) end
  for _, unit in ipairs { "KiB", "MiB", "GiB" } do
    n = n / 1024
    if n < 1024 then return ("%.1f %s"):format(n, unit) end
  end
  return ("%.1f TiB"):format(n / 1024)
end

local function one_line(x)
  local text = show.value(x):gsub("%s+", " ")
  return #text > 40 and text:sub(1, 37) .. "..." or text
end

-- What who() says about a value: type, shape, dtype, bytes or the value itself.
local function describe(x)
  if show.is_array(x) then
    local core = arrays()
    if core.lgt.why_gone(x) then return { "array", "", "", "released" } end
    return { "array", core.shape_text(core.shape_of(x)), x.dtype, bytes_text(tonumber(x.nbytes)) }
  end
  local kind = type(x)
  if kind == "number" or kind == "string" or kind == "boolean" then return { kind, "", "", one_line(x) } end
  if kind == "table" then
    local count = 0
    for _ in next, x do count = count + 1 end
    return { kind, "", "", ("%d entries"):format(count) }
  end
  return { kind, "", "", kind == "cdata" and one_line(x) or "" }
end

-- The variables in `scope` that are not in `hidden`, as lines of a table.
---@param scope table
---@param hidden table<string, boolean>
---@return string
function show.who(scope, hidden)
  local names, rows, widths = {}, { { "name", "type", "shape", "dtype", "bytes or value" } }, {}
  for name in next, scope do
    if type(name) == "string" and not hidden[name] then names[#names + 1] = name end
  end
  if #names == 0 then return "no variables yet" end
  table.sort(names)
  for _, name in ipairs(names) do rows[#rows + 1] = { name, unpack(describe(rawget(scope, name))) } end
  for _, row in ipairs(rows) do
    for i, word in ipairs(row) do widths[i] = math.max(widths[i] or 0, #word) end
  end
  for r, row in ipairs(rows) do
    for i = 1, #row - 1 do row[i] = row[i] .. (" "):rep(widths[i] - #row[i]) end
    rows[r] = table.concat(row, "  ")
  end
  return table.concat(rows, "\n")
end

return show
