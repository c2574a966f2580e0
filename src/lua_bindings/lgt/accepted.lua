-- lgt/accepted.lua - which options a function of the libraries takes, as its source says, for `lgt --check`.
--
-- Options are checked when a function is called: core.check_options(options, {axis = true, ...}, "who").  Here the
-- function's tree (lgt/syntax.lua) is searched for such calls, in it and in what it hands its options on to, and what
-- they are given is looked up: names are upvalues of the function, or local variables with one value.  So nobody
-- writes the options down a second time.
--
-- Where something cannot be followed, nothing is known.  Too many options may be found (those of another way through
-- the function), never too few: tests/lua/test_options.lua compares with what the functions themselves say.

local core = require "array.core"
local sources = require "lgt.sources"
local syntax = require "lgt.syntax"

local DEPTH = 4 -- of functions that hand options on

-- ---- functions as trees -----------------------------------------------------------------------------------

local trees = {} -- the functions of a file by their first lines; false where two share one

local function functions_of(path)
  if trees[path] then return trees[path] end
  local found, file = {}, io.open(path, "rb")
  trees[path] = found
  local text = file and file:read("*a")
  if file then file:close() end
  syntax.walk(text and syntax.parse(text) or {}, function(node)
    if node.tag == "Function" then found[node.line] = found[node.line] == nil and node end
  end)
  return found
end

local function tree_of(f)
  local info = debug.getinfo(f, "S")
  if info.what ~= "Lua" or not sources.is_library(info.source) then return nil end
  return functions_of(info.source:sub(2))[info.linedefined] or nil
end

local function upvalues_of(f)
  local found, i = {}, 1
  while true do
    local name, value = debug.getupvalue(f, i)
    if not name then return found end
    found[name] = value
    i = i + 1
  end
end

-- ---- values of expressions ----------------------------------------------------------------------------------

local value_of

-- Of two tables, one of which it is: what either has.
local function either(a, b)
  if type(a) ~= "table" or type(b) ~= "table" then return nil end
  local both = {}
  for _, t in ipairs { a, b } do
    for key, value in pairs(t) do both[key] = value end
  end
  return both
end

local RULES = {
  String = function(node) return node.value end,
  True = function() return true end,
  Paren = function(node, scope) return value_of(node.inner, scope) end,
  Name = function(node, scope)
    local variable = node.variable
    if not variable then return _G[node.name] end
    if scope.bound[variable] ~= nil then return scope.bound[variable] end
    if scope.upvalues[node.name] ~= nil then return scope.upvalues[node.name] end
    local value = #variable.values == 1 and not scope.filled[variable] and variable.values[1]
    if value and value.tag == "Table" then return value_of(value, scope) end
  end,
  Index = function(node, scope)
    local object, key = value_of(node.object, scope), value_of(node.key, scope)
    if type(object) == "table" and type(key) == "string" then return object[key] end
  end,
  Table = function(node, scope)
    local t = {}
    for _, item in ipairs(node.items) do
      local key, value = item.key and value_of(item.key, scope), value_of(item.value, scope)
      if item.key and key == nil then return nil end
      t[key or #t + 1] = value == nil and true or value
    end
    return t
  end,
  Binary = function(node, scope)
    local a, b = value_of(node.left, scope), value_of(node.right, scope)
    if node.op == ".." then return type(a) == "string" and type(b) == "string" and a .. b or nil end
    if node.op == "or" and node.left.tag == "Binary" then return either(a, b) end -- c and a or b
    if node.op == "and" then return b end
  end,
}

function value_of(node, scope)
  local rule = node and RULES[node.tag]
  if rule then return rule(node, scope) end
end

-- ---- options ----------------------------------------------------------------------------------------------

local function add_keys(found, known)
  for key in pairs(known) do
    if type(key) == "string" then found.names[key] = true end
  end
end

local function add_names(found, names)
  if type(names) ~= "table" then return false end
  for _, name in ipairs(names) do found.names[name] = true end
  return true
end

-- What the functions do that check options, given the values of their arguments.
local checks = {
  [core.check_options] = function(found, _, known, who)
    found.whole = type(known) == "table" and found.whole ~= false
    if type(known) == "table" then add_keys(found, known) end
    if type(who) == "string" then found.who[#found.who + 1] = who end
  end,
  [core.take_named] = function(found, _, names)
    if not add_names(found, names) then found.whole = false end
  end,
  [core.take_only_named] = function(found, who, names)
    found.whole = add_names(found, names) and found.whole ~= false
    if type(who) == "string" then found.who[#found.who + 1] = who end
  end,
  [core.named_option] = function(found, _, name) found.names[name or ""] = true end,
  [core.take_named_shape] = function(found, _, name) found.names[name or ""] = true end,
  [core.axis_option] = function(found) found.names.axis = true end,
  [core.check_surplus] = function() end,
}

local public -- functions that get options only where these are named so

local function is_public(f)
  if not public then
    public = {}
    for _, g in pairs(core.np) do
      if type(g) == "function" then public[g] = true end
    end
  end
  return public[f]
end

local function hands_on(callee, args)
  for _, arg in ipairs(args) do
    if arg.tag == "Dots" then return true end
    if arg.tag == "Name" and arg.variable and (arg.name:find("option") or not is_public(callee)) then return true end
  end
  return false
end

-- The variables of tables whose fields are set later.
local function filled_in(tree)
  local filled = {}
  syntax.walk(tree.body, function(node)
    for _, target in ipairs(node.tag == "Assign" and node.targets or {}) do
      if target.tag == "Index" and target.object.variable then filled[target.object.variable] = true end
    end
  end)
  return filled
end

local function search(f, arguments, found, depth)
  local tree = tree_of(f)
  if not tree or depth > DEPTH or found.visited[f] then return end
  local scope = { upvalues = upvalues_of(f), bound = {}, filled = filled_in(tree) }
  found.visited[f] = next(arguments) == nil
  for i, parameter in ipairs(tree.params) do scope.bound[parameter] = arguments[i] end
  syntax.walk(tree.body, function(node)
    if node.tag ~= "Call" then return end
    local callee, values = value_of(node.callee, scope), {}
    if type(callee) ~= "function" then return end
    for i, arg in ipairs(node.args) do values[i] = value_of(arg, scope) end
    if checks[callee] then
      checks[callee](found, values[1], values[2], values[3])
    elseif hands_on(callee, node.args) then
      search(callee, values, found, depth + 1)
    end
  end)
end

local known = setmetatable({}, { __mode = "k" })

-- The options that a function, or a table that can be called, takes: their names as a set, and under which names it
-- checks them.  nil: nobody knows.
---@param f any
---@return table<string, boolean>? names
---@return string[]? who
return function(f)
  local own = type(f) == "table" and getmetatable(f)
  if own then f = type(own) == "table" and own.__call or nil end
  if type(f) ~= "function" then return nil end
  if not known[f] then
    known[f] = { names = {}, who = {}, visited = {} }
    search(f, {}, known[f], 1)
  end
  if known[f].whole then return known[f].names, known[f].who end
end
