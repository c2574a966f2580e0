-- lgt/complete.lua - what TAB adds to a line.
--
-- Only names are looked up, nothing is called: a.b.c, a:method, from the variables of the prompt.  Names that
-- modules load when they are first used come from the index of the sources.

local show = require "lgt.show"
local sources = require "lgt.sources"

local complete = {}

local DEPTH = 10 -- of tables that inherit from each other

local KEYWORDS = { "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "if", "in", "local",
  "nil", "not", "or", "repeat", "return", "then", "true", "until", "while" }

-- The value of a name in a value; nil where there is none.  Functions that a table asks for its names are called only
-- where they are the libraries': a user's may do anything.
local function value_of(value, name)
  if show.is_array(value) then
    local ok, found = pcall(function() return value[name] end)
    return ok and found or nil
  end
  for _ = 1, DEPTH do
    local found
    if type(value) == "table" then found = rawget(value, name) end
    if not rawequal(found, nil) then return found end
    local meta = debug.getmetatable(value)
    local index = type(meta) == "table" and rawget(meta, "__index")
    if type(index) == "function" then
      if not sources.is_library(debug.getinfo(index, "S").source) then return nil end
      local ok
      ok, found = pcall(index, value, name)
      return ok and found or nil
    end
    if type(index) ~= "table" then return nil end
    value = index
  end
end

-- The value of a path of names in `scope`; nil where there is none.
local function look(scope, path)
  local value = scope
  for name in path:gmatch("[%a_][%w_]*") do
    value = value_of(value, name)
    if rawequal(value, nil) then return nil end
  end
  return value
end

complete.look = look

local function add_keys(t, add)
  for name, value in next, t do
    if type(name) == "string" then add(name, value) end
  end
end

-- What __index says there is, as far as it is a table.
local function add_inherited(value, add)
  local meta = debug.getmetatable(value)
  for _ = 1, DEPTH do
    local parent = type(meta) == "table" and rawget(meta, "__index")
    if type(parent) ~= "table" then return end
    add_keys(parent, add)
    meta = debug.getmetatable(parent)
  end
end

local function add_array(separator, add)
  local core = require "array.core"
  add_keys(core.methods, add)
  if separator == "." then add_keys(core.getters, add) end
  for name in pairs(sources.index()) do
    local own = name:match("^array:([%w_]+)$")
    if own then add(own) end
  end
end

local function add_module(value, add)
  local prefix = rawequal(value, package.loaded.array) and "np." or rawequal(value, package.loaded.lgt) and "lgt."
  for name in pairs(prefix and sources.index() or {}) do
    local own = name:match("^" .. (prefix or ""):gsub("%.", "%%.") .. "([%w_]+)")
    if own then add(own) end
  end
end

local function add_members(value, separator, add)
  if show.is_array(value) then return add_array(separator, add) end
  local function fitting(name, member)
    if separator == "." or type(member) == "function" then add(name) end
  end
  if type(value) == "table" then
    add_keys(value, fitting)
    if separator == "." then add_module(value, add) end
  end
  add_inherited(value, fitting)
end

-- The names that may follow `path` and a separator, as {name = true}; nothing is said of what `scope` does not have.
---@param path string "np.linalg"
---@param separator string "." or ":"
---@param scope table
---@return table<string, boolean>
function complete.members(path, separator, scope)
  local names, value = {}, look(scope, path)
  if value then add_members(value, separator, function(name) names[name] = true end) end
  return names
end

-- The names that may stand at the end of `before`, sorted, and what is there of them already.
---@param before string the line up to the cursor
---@param scope table
---@return string[] names
---@return string part
function complete.names(before, scope)
  local path = before:match("[%a_][%w_.:]*$") or ""
  local base, separator, part = path:match("^(.-)([.:])([%w_]*)$")
  if not base then part = path end
  local seen, names = {}, {}
  local function add(name)
    if not seen[name] and name:sub(1, #part) == part and name:match("^[%a_][%w_]*$") and
      (part ~= "" or name:sub(1, 1) ~= "_") then
      seen[name] = true
      names[#names + 1] = name
    end
  end
  local ahead = before:sub(1, #before - #path)
  if base then
    local value = base ~= "" and not ahead:match("[%w_%]%)\"'.:]$") and look(scope, base)
    if value then add_members(value, separator, add) end
  elseif not ahead:match("[%]%)\"'.:]$") then
    add_keys(scope, add)
    for _, name in ipairs { "np", "lgt" } do add(name) end
    for _, name in ipairs(KEYWORDS) do add(name) end
  end
  table.sort(names)
  return names, part
end

local function common_prefix(names)
  local prefix = names[1]
  for i = 2, #names do
    while names[i]:sub(1, #prefix) ~= prefix do prefix = prefix:sub(1, -2) end
  end
  return prefix
end

-- In columns, read downwards.
local function listing(names, width)
  local cell = 0
  for _, name in ipairs(names) do cell = math.max(cell, #name + 2) end
  local columns = math.max(1, math.floor(width / cell))
  local rows = math.ceil(#names / columns)
  local lines = {}
  for r = 1, rows do
    local line = ""
    for i = r, #names, rows do line = line .. names[i] .. (" "):rep(cell - #names[i]) end
    lines[r] = line:gsub("%s+$", "")
  end
  return table.concat(lines, "\n") .. "\n"
end

-- What TAB inserts at the cursor, and what it shows beneath the line (nil: nothing).
---@param before string the line up to the cursor
---@param scope table
---@param width integer of the terminal
---@return string insertion
---@return string? listing
function complete.line(before, scope, width)
  if before:match("^%s*$") then return "  " end -- indentation
  local names, part = complete.names(before, scope)
  if #names == 0 then return "" end
  local insertion = common_prefix(names):sub(#part + 1)
  if #names == 1 or insertion ~= "" then return insertion end
  return "", listing(names, width)
end

return complete
