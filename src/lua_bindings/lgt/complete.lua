-- lgt/complete.lua - what TAB adds to a line.
--
-- Only names are looked up, nothing is called: a.b.c, a:method, from the variables of the prompt.  Names that
-- modules load when they are first used come from the index of the sources; whether a call gives an array, whose
-- methods may follow, is told by annotations (lgt/infer.lua).  In a string, names of files complete.

local infer = require "lgt.infer"
local show = require "lgt.show"
local slips = require "lgt.slips"
local sources = require "lgt.sources"
local syntax = require "lgt.syntax"

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

-- ---- what calls give ----------------------------------------------------------------------------------------

local OPENING = { [")"] = "(", ["]"] = "[", ["}"] = "{" }

-- The place of the bracket that the one at `at` closes; nil if there is none.
local function opening_of(code, at)
  local closing, depth = code:sub(at, at), 0
  for i = at, 1, -1 do
    local c = code:sub(i, i)
    if c == closing then depth = depth + 1 elseif c == OPENING[closing] then depth = depth - 1 end
    if depth == 0 then return i end
  end
end

-- What a method may be called of at the end of a text: names, calls, indices; nil if there is nothing of that kind.
local function value_before(text)
  local code, at = (slips.code_of(text)), #text
  while at > 0 do
    local c = code:sub(at, at)
    local first = OPENING[c] and opening_of(code, at) or c == '"' and code:find('"+$')
    if first then
      code = code:sub(1, first - 1)
    else
      local name = code:match("[%a_][%w_]*$")
      if not name then return nil end
      code = code:sub(1, -1 - #name)
      if not code:find("[.:]$") or code:find("%.%.$") then return text:sub(#code + 1) end
      code = code:sub(1, -2)
    end
    at = #code
    if not code:find("[%w_%)%]}\"]$") then return text:sub(at + 1) end
  end
end

-- Text whose value is of the type of a variable of the prompt, for lgt/infer.lua.
local function stand_in(value)
  if rawequal(value, package.loaded.array) then return 'require "array"' end
  if rawequal(value, package.loaded.lgt) then return 'require "lgt"' end
  if show.is_array(value) then return "_np.zeros(1)" end
  if type(value) == "number" then return "1" end
end

-- Is the value of an expression certainly an array?
local function gives_array(expression, scope)
  local np = package.loaded.array
  if not np or not loadstring("return " .. expression) then return false end
  local path, rest = expression:match("^([%a_][%w_]*%.[%w_.]*)(.*)$")
  if path and show.is_array(look(scope, path)) then expression = "(_np.zeros(1))" .. rest end
  local names, values = { "_" }, { "1" }
  for name in expression:gmatch("%f[%w_][%a_][%w_]*") do
    local text = stand_in(scope[name])
    if text then names[#names + 1], values[#values + 1] = name, text end
  end
  local text = ('local _np = require "array" local %s = %s return %s'):format(table.concat(names, ", "),
    table.concat(values, ", "), expression)
  local block, variables = syntax.parse(text)
  infer.run(variables, np.ufuncs)
  return infer.is_array(infer.of(block[#block].values[1]))
end

-- ---- files ---------------------------------------------------------------------------------------------------

-- The names of files that a string may go on with, and what of the last one is there.
local function file_names(text)
  local folder, part = text:match("^(.*/)([^/]*)$")
  part = part or text
  local quoted = "'" .. (folder or "./"):gsub("'", "'\\''") .. "'"
  local list, names = io.popen("ls -1Ap -- " .. quoted .. " 2>/dev/null"), {}
  for name in list:lines() do
    local hidden = part == "" and name:find("^%.")
    if name:sub(1, #part) == part and not hidden and not name:find("[\"'\\]") then names[#names + 1] = name end
  end
  list:close()
  return names, part
end

-- ---- lines ---------------------------------------------------------------------------------------------------

-- The names that may stand at the end of `before`, sorted, and what is there of them already.
---@param before string the line up to the cursor
---@param scope table
---@return string[] names
---@return string part
function complete.names(before, scope)
  local _, string_at = slips.code_of(before)
  if string_at then return file_names(before:sub(string_at + 1)) end
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
  local whole, joint = before:match("^(.*[%w_%]%)}\"'])([.:])[%w_]*$")
  if whole and not whole:find("^[%w_.:]*$", #ahead + 1) or ahead:find("[%]%)}\"'][.:]$") then
    local expression = value_before(whole)
    if expression and gives_array(expression, scope) then
      part = before:match("[%w_]*$")
      add_array(joint, add)
    end
  elseif base then
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
