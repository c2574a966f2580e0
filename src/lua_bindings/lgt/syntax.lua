-- lgt/syntax.lua - Lua source as a tree, with each name bound to its variable.
--
-- For text that LuaJIT has compiled already: what is no Lua was refused by it, with its own message, so that
-- nothing here reports errors.  A packaged parser (luacheck's) would have to be installed on every machine that
-- runs `lgt --check`, and LuaJIT's bytecode tells neither where parentheses were nor what a condition was.
--
-- Nodes are tables with `tag` and `line`.  Expressions:
--   Nil True False Dots  Number String (value)  Name (name, variable; nil: a global)  Function (params, body)
--   Table (items: {key, value})  Index (object, key)  Call (callee, args)  Method (object, name, args)
--   Binary (op, left, right)  Unary (op, operand)  Paren (inner)
-- Statements:
--   Local (variables, values)  Assign (targets, values)  Evaluate (call)  If (tests: {condition, block}, otherwise)
--   While (condition, block)  Repeat (block, condition)  For (variable, range, block)  ForIn (variables, values, block)
--   Do (block)  Return (values)  Jump
-- A variable has its name and `values`, the expressions that are ever assigned to it; UNKNOWN is one of them for
-- parameters, loop variables and what comes from calls with several results.

local syntax = {}

syntax.UNKNOWN = { tag = "Unknown" }

-- ---- words -------------------------------------------------------------------------------------------

local KEYWORDS = {}
for word in ("and break do else elseif end false for function if in local nil not or repeat return then true " ..
  "until while"):gmatch("%S+") do KEYWORDS[word] = true end

local ESCAPES = { a = "\a", b = "\b", f = "\f", n = "\n", r = "\r", t = "\t", v = "\v" }

-- What a quoted string stands for; escapes that no check asks about may stay as they are.
local function unescape(text)
  return (text:gsub("\\z%s*", ""):gsub("\\(%d%d?%d?)", function(digits) return string.char(tonumber(digits) % 256) end)
    :gsub("\\(.)", function(c) return ESCAPES[c] or c end))
end

local function scan_number(text, at)
  local stop = at
  local exponent = text:match("^0[xX]", at) and "[pP]" or "[eE]"
  while true do
    local c = text:sub(stop, stop)
    if c:match("[%w_.]") or (c:match("[+-]") and text:sub(stop - 1, stop - 1):match(exponent)) then
      stop = stop + 1
    else
      return stop
    end
  end
end

local SYMBOLS = { "...", "..", "==", "~=", "<=", ">=", "::" }

-- The word at `at`: its kind, what it stands for, and where the next one may begin.  Kinds are "name", "number",
-- "string", "eof", and each keyword and symbol itself.
local function scan(text, at)
  local name = text:match("^[%a_\128-\255][%w_\128-\255]*", at)
  if name then return KEYWORDS[name] and name or "name", name, at + #name end
  if text:match("^%.?%d", at) then
    local stop = scan_number(text, at)
    return "number", tonumber(text:sub(at, stop - 1)), stop
  end
  local equals = text:match("^%[(=*)%[", at)
  if equals then
    local _, stop, content = text:find("^%[" .. equals .. "%[\r?\n?(.-)%]" .. equals .. "%]", at)
    return "string", content, stop + 1
  end
  local quote = text:match("^[\"']", at)
  if quote then
    local stop = at + 1
    while text:sub(stop, stop) ~= quote do stop = stop + (text:sub(stop, stop) == "\\" and 2 or 1) end
    return "string", unescape(text:sub(at + 1, stop - 1)), stop + 1
  end
  for _, symbol in ipairs(SYMBOLS) do
    if text:sub(at, at + #symbol - 1) == symbol then return symbol, symbol, at + #symbol end
  end
  local c = text:sub(at, at)
  return c == "" and "eof" or c, c, at + 1
end

-- Past spaces and comments; and how many lines that were.
local function skip(text, at)
  while true do
    local stop = text:match("^%s+()", at)
    if not stop and text:sub(at, at + 1) == "--" then
      local equals = text:match("^%-%-%[(=*)%[", at)
      if equals then
        stop = select(2, text:find("]" .. equals .. "]", at, true)) + 1
      else
        stop = text:match("^[^\n]*()", at)
      end
    end
    if not stop then return at end
    at = stop
  end
end

local function tokenize(text)
  local tokens, at, line, counted = {}, 1, 1, 1
  if text:sub(1, 1) == "#" then at = text:match("^[^\n]*()") end
  while true do
    at = skip(text, at)
    for _ in text:sub(counted, at - 1):gmatch("\n") do line = line + 1 end
    counted = at
    local kind, value, stop = scan(text, at)
    tokens[#tokens + 1] = { kind = kind, value = value, line = line }
    if kind == "eof" then return tokens end
    at = stop
  end
end

-- ---- the parser --------------------------------------------------------------------------------------

local Parser = {}
Parser.__index = Parser

function Parser:kind() return self.tokens[self.at].kind end
function Parser:line() return self.tokens[self.at].line end

-- The value of the word here, after which the parser stands behind it.
function Parser:take()
  self.at = self.at + 1
  return self.tokens[self.at - 1].value
end

function Parser:accept(kind)
  if self:kind() ~= kind then return false end
  self.at = self.at + 1
  return true
end

function Parser:node(tag, fields, line)
  fields.tag, fields.line = tag, line or self:line()
  return fields
end

-- ---- scopes ------------------------------------------------------------------------------------------

function Parser:declare(name, value)
  local variable = { name = name, values = { value }, line = self:line() }
  self.variables[#self.variables + 1] = variable
  self.scope.names[name] = variable
  return variable
end

function Parser:find(name)
  local scope = self.scope
  while scope do
    if scope.names[name] then return scope.names[name] end
    scope = scope.parent
  end
end

function Parser:open() self.scope = { names = {}, parent = self.scope } end
function Parser:close() self.scope = self.scope.parent end

-- ---- expressions -------------------------------------------------------------------------------------

local LEFT = { ["or"] = 1, ["and"] = 2, ["<"] = 3, [">"] = 3, ["<="] = 3, [">="] = 3, ["~="] = 3, ["=="] = 3,
  [".."] = 5, ["+"] = 6, ["-"] = 6, ["*"] = 7, ["/"] = 7, ["%"] = 7, ["^"] = 10 }
local RIGHT = setmetatable({ [".."] = 4, ["^"] = 9 }, { __index = LEFT }) -- less than LEFT: right associative
local UNARY_PRIORITY = 8

function Parser:expressions()
  local list = { self:expression(0) }
  while self:accept(",") do list[#list + 1] = self:expression(0) end
  return list
end

function Parser:table()
  local line, items = self:line(), {}
  self:take()
  while self:kind() ~= "}" do
    local item = { line = self:line() }
    if self:accept("[") then
      item.key = self:expression(0)
      self:take() -- ]
      self:take() -- =
    elseif self:kind() == "name" and self.tokens[self.at + 1].kind == "=" then
      item.key = self:node("String", { value = self:take() })
      self:take()
    end
    item.value = self:expression(0)
    items[#items + 1] = item
    if not self:accept(",") then self:accept(";") end
  end
  self:take()
  return self:node("Table", { items = items }, line)
end

-- Parameters and body, from the opening parenthesis.
function Parser:function_body(line, self_name)
  local params = {}
  self:open()
  if self_name then params[1] = self:declare("self", syntax.UNKNOWN) end
  self:take() -- (
  while self:kind() ~= ")" do
    if self:accept("...") then break end
    params[#params + 1] = self:declare(self:take(), syntax.UNKNOWN)
    self:accept(",")
  end
  self:take() -- )
  local body = self:block()
  self:take() -- end
  self:close()
  return self:node("Function", { params = params, body = body }, line)
end

function Parser:arguments()
  if self:kind() == "string" then return { self:node("String", { value = self:take() }) } end
  if self:kind() == "{" then return { self:table() } end
  self:take() -- (
  local list = self:kind() == ")" and {} or self:expressions()
  self:take() -- )
  return list
end

-- A name or an expression in parentheses, and what is called or indexed on it.
function Parser:suffixed()
  local line = self:line()
  local node
  if self:accept("(") then
    node = self:node("Paren", { inner = self:expression(0) }, line)
    self:take()
  else
    local name = self:take()
    node = self:node("Name", { name = name, variable = self:find(name) }, line)
  end
  while true do
    local kind = self:kind()
    line = self:line()
    if kind == "." then
      self:take()
      node = self:node("Index", { object = node, key = self:node("String", { value = self:take() }, line) }, line)
    elseif kind == "[" then
      self:take()
      node = self:node("Index", { object = node, key = self:expression(0), bracketed = true }, line)
      self:take()
    elseif kind == ":" then
      self:take()
      local name = self:take()
      node = self:node("Method", { object = node, name = name, args = self:arguments() }, line)
    elseif kind == "(" or kind == "string" or kind == "{" then
      node = self:node("Call", { callee = node, args = self:arguments() }, line)
    else
      return node
    end
  end
end

local CONSTANTS = { ["nil"] = "Nil", ["true"] = "True", ["false"] = "False", ["..."] = "Dots" }

function Parser:simple()
  local kind, line = self:kind(), self:line()
  if CONSTANTS[kind] then
    self:take()
    return self:node(CONSTANTS[kind], {}, line)
  end
  if kind == "number" then return self:node("Number", { value = self:take() }, line) end
  if kind == "string" then return self:node("String", { value = self:take() }, line) end
  if kind == "{" then return self:table() end
  if kind == "function" then
    self:take()
    return self:function_body(line)
  end
  return self:suffixed()
end

function Parser:expression(limit)
  local kind, line = self:kind(), self:line()
  local node
  if kind == "not" or kind == "-" or kind == "#" then
    self:take()
    node = self:node("Unary", { op = kind, operand = self:expression(UNARY_PRIORITY) }, line)
  else
    node = self:simple()
  end
  while LEFT[self:kind()] and LEFT[self:kind()] > limit do
    local op = self:kind()
    line = self:line()
    self:take()
    node = self:node("Binary", { op = op, left = node, right = self:expression(RIGHT[op]) }, line)
  end
  return node
end

-- ---- statements --------------------------------------------------------------------------------------

local OPEN = { Call = true, Method = true, Dots = true } -- may have several results

-- What the i-th of several targets gets; result n of an open call is {tag = "Result", call, n}.
local function value_for(values, i)
  local last = values[#values]
  if i <= #values then return values[i] end
  if last and OPEN[last.tag] then return { tag = "Result", call = last, n = i - #values + 1, line = last.line } end
  return { tag = "Nil" }
end

local statements = {}

statements["local"] = function(self, line)
  if self:accept("function") then
    local variable = self:declare(self:take(), nil)
    variable.values[1] = self:function_body(line)
    return self:node("Local", { variables = { variable }, values = variable.values }, line)
  end
  local names = {}
  repeat names[#names + 1] = self:take() until not self:accept(",")
  local values = self:accept("=") and self:expressions() or {}
  local variables = {}
  for i, name in ipairs(names) do variables[i] = self:declare(name, value_for(values, i)) end
  return self:node("Local", { variables = variables, values = values }, line)
end

statements["function"] = function(self, line)
  local name = self:take()
  local target = self:node("Name", { name = name, variable = self:find(name) }, line)
  local method = false
  while self:kind() == "." or self:kind() == ":" do
    method = self:take() == ":"
    local key = self:node("String", { value = self:take() }, line)
    target = self:node("Index", { object = target, key = key }, line)
  end
  local value = self:function_body(line, method)
  if target.variable then table.insert(target.variable.values, value) end
  return self:node("Assign", { targets = { target }, values = { value } }, line)
end

statements["if"] = function(self, line)
  local tests, otherwise = {}, nil
  repeat
    local condition = self:expression(0)
    self:take() -- then
    tests[#tests + 1] = { condition = condition, block = self:block() }
  until not self:accept("elseif")
  if self:accept("else") then otherwise = self:block() end
  self:take() -- end
  return self:node("If", { tests = tests, otherwise = otherwise }, line)
end

statements["while"] = function(self, line)
  local condition = self:expression(0)
  self:take() -- do
  local block = self:block()
  self:take()
  return self:node("While", { condition = condition, block = block }, line)
end

statements["repeat"] = function(self, line)
  self:open() -- the condition sees the block's variables
  local block = self:statements()
  self:take() -- until
  local condition = self:expression(0)
  self:close()
  return self:node("Repeat", { block = block, condition = condition }, line)
end

statements["for"] = function(self, line)
  local names = {}
  repeat names[#names + 1] = self:take() until not self:accept(",")
  local numeric = self:take() == "="
  local values = self:expressions()
  self:take() -- do
  self:open()
  local variables = {}
  for i, name in ipairs(names) do variables[i] = self:declare(name, numeric and values[1] or syntax.UNKNOWN) end
  local block = self:statements()
  self:close()
  self:take() -- end
  if numeric then return self:node("For", { variable = variables[1], range = values, block = block }, line) end
  return self:node("ForIn", { variables = variables, values = values, block = block }, line)
end

statements["do"] = function(self, line)
  local block = self:block()
  self:take()
  return self:node("Do", { block = block }, line)
end

local ENDS = { eof = true, ["end"] = true, ["else"] = true, ["elseif"] = true, ["until"] = true }

statements["return"] = function(self, line)
  local values = (ENDS[self:kind()] or self:kind() == ";") and {} or self:expressions()
  return self:node("Return", { values = values }, line)
end

statements["break"] = function(self, line) return self:node("Jump", {}, line) end

statements["::"] = function(self, line)
  self:take()
  self:take()
  return self:node("Jump", {}, line)
end

function Parser:assignment_or_call()
  local line = self:line()
  if self.tokens[self.at].value == "goto" and self.tokens[self.at + 1].kind == "name" then
    self:take()
    self:take()
    return self:node("Jump", {}, line)
  end
  local targets = { self:suffixed() }
  while self:accept(",") do targets[#targets + 1] = self:suffixed() end
  if not self:accept("=") then return self:node("Evaluate", { call = targets[1] }, line) end
  local values = self:expressions()
  for i, target in ipairs(targets) do
    if target.variable and target.tag == "Name" then table.insert(target.variable.values, value_for(values, i)) end
  end
  return self:node("Assign", { targets = targets, values = values }, line)
end

function Parser:statements()
  local list = {}
  while not ENDS[self:kind()] do
    if not self:accept(";") then
      local line, read = self:line(), statements[self:kind()]
      if read then self:take() end
      list[#list + 1] = read and read(self, line) or self:assignment_or_call()
    end
  end
  return list
end

function Parser:block()
  self:open()
  local list = self:statements()
  self:close()
  return list
end

-- The statements of a chunk that compiles, and all its local variables.
---@param text string
---@return table[] block
---@return table[] variables
function syntax.parse(text)
  local parser = setmetatable({ tokens = tokenize(text), at = 1, variables = {} }, Parser)
  local block = parser:block()
  return block, parser.variables
end

-- ---- walking -----------------------------------------------------------------------------------------

local CHILDREN = { "object", "key", "callee", "left", "right", "operand", "inner", "call", "condition" }
local LISTS = { "args", "values", "targets", "range", "body", "block", "otherwise" }

-- Calls f(node) for every node beneath a list of nodes, parents first.
function syntax.walk(list, f)
  for _, node in ipairs(list) do
    f(node)
    for _, field in ipairs(CHILDREN) do
      if node[field] then syntax.walk({ node[field] }, f) end
    end
    for _, field in ipairs(LISTS) do
      if node[field] then syntax.walk(node[field], f) end
    end
    for _, item in ipairs(node.items or {}) do syntax.walk({ item.key or item.value, item.key and item.value }, f) end
    for _, test in ipairs(node.tests or {}) do
      syntax.walk({ test.condition }, f)
      syntax.walk(test.block, f)
    end
  end
end

return syntax
