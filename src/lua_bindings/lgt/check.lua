-- lgt/check.lua - `lgt --check script.lua`: mistakes that can be seen without running the script.
--
--   if a:gt(0) then         an array is always true in Lua
--   a * b:gt(c)             the method is called before the multiplication
--   np.sum(a, {axis = 0})   axes and positions count from 1; so x[0]
--   pritn(x)                a global that nothing defines; np.zeross; a:sumn(); a.sum()
--   np.zeros(3, {dtyp = "int32"})   an option that the function does not have
--   if x:item() then        0 is true in Lua
--   ("%g"):format(a:sum())  functions of Lua want numbers: a:sum():item()
--
-- A finding is printed as file:line: what is wrong, what to write.  What is not certain is not reported: an array is
-- what lgt/infer.lua can prove to be one, and scripts that define globals in ways that cannot be followed are not
-- asked about theirs.  Syntax errors are LuaJIT's own.

local accepted = require "lgt.accepted"
local complete = require "lgt.complete"
local elsewhere = require "lgt.elsewhere"
local infer = require "lgt.infer"
local similar = require "lgt.similar"
local slips = require "lgt.slips"
local sources = require "lgt.sources"
local syntax = require "lgt.syntax"

local np = require "array"
local lgt = require "lgt"
local core = require "array.core"
local unneeded = require "array.core.unneeded"

local NAMES = { np = np, lgt = lgt }

-- ---- findings --------------------------------------------------------------------------------------------

local Check = {}
Check.__index = Check

function Check:say(line, text, ...)
  if select("#", ...) > 0 then text = text:format(...) end
  local key = line .. text
  if self.said[key] then return end
  self.said[key] = true
  self.findings[#self.findings + 1] = { line = line, text = text, order = #self.findings }
end

-- ---- truth ---------------------------------------------------------------------------------------------------

local ARITHMETIC = { ["+"] = true, ["-"] = true, ["*"] = true, ["/"] = true, ["%"] = true, ["^"] = true }

local function is_comparison(node) return node.tag == "Method" and infer.COMPARISONS[node.name] end

local function bare(node)
  while node.tag == "Paren" do node = node.inner end
  return node
end

-- A comparison method of something that may well be an array, in a script that has arrays.
function Check:may_compare(node)
  return is_comparison(node) and self.uses_arrays and not self.own_methods[node.name] and
    infer.of(node.object) == "unknown"
end

-- Is it calculated from the parameters of a function that np.fuse gets, which are neither numbers nor arrays?
function Check:is_element(node, seen)
  node, seen = bare(node), seen or {}
  if seen[node] then return false end
  seen[node] = true
  local variable = node.tag == "Name" and node.variable
  if variable then
    if self.elements[variable] then return true end
    for _, value in ipairs(variable.values) do
      if self:is_element(value, seen) then return true end
    end
  end
  if node.tag == "Method" then return self:is_element(node.object, seen) end
  return node.tag == "Binary" and ARITHMETIC[node.op] ~= nil and
    (self:is_element(node.left, seen) or self:is_element(node.right, seen))
end

local ELEMENT = "in a fused function %s: np.where(x:gt(0), a, b) computes both and picks"

function Check:truth(node)
  node = bare(node)
  local t = infer.of(node)
  if self:is_element(node) then
    self:say(node.line, ELEMENT, "an element is always true")
  elseif t == "mask" or self:may_compare(node) then
    self:say(node.line, "an array is always true in Lua: write np.any(...) or np.all(...) of the comparison, or " ..
      "compare two numbers or 0-d arrays with < <= ==")
  elseif t == "array" then
    self:say(node.line, "an array is always true in Lua: write np.any(x) or np.all(x), or x:item() for its only " ..
      "element")
  elseif infer.reads_number(node) then
    local path = node.tag == "Call" and infer.path(node.callee)
    local read = node.tag == "Method" and "x:item()" or path and path .. "(...)" or #node.args > 0 and "x(i)" or "x()"
    self:say(node.line, "numbers are always true in Lua, 0 too: write %s ~= 0", read)
  end
end

local truths = {
  If = function(self, node)
    for _, test in ipairs(node.tests) do self:truth(test.condition) end
  end,
  While = function(self, node) self:truth(node.condition) end,
  Repeat = function(self, node) self:truth(node.condition) end,
  Unary = function(self, node)
    if node.op == "not" then self:truth(node.operand) end
  end,
  Binary = function(self, node)
    if node.op == "and" or node.op == "or" then self:truth(node.left) end
  end,
}

-- In a condition the last operand of `and` and `or` is tested, too.
local function add_last_operands(self, node)
  node = bare(node)
  if node.tag == "Binary" and (node.op == "and" or node.op == "or") then
    add_last_operands(self, node.left)
    add_last_operands(self, node.right)
  else
    self:truth(node)
  end
end

local function conditions(self, node)
  if node.condition then add_last_operands(self, node.condition) end
  for _, test in ipairs(node.tests or {}) do add_last_operands(self, test.condition) end
end

-- x == 1 of an element, which is false.
function Check:equality(node)
  if node.tag == "Binary" and (node.op == "==" or node.op == "~=") and node.right.tag ~= "Nil" and
    (self:is_element(node.left) or self:is_element(node.right)) then
    self:say(node.line, ELEMENT, "== and ~= do not look at elements, x:eq(y) and x:ne(y) do")
  end
end

-- ---- a * b:gt(c) ---------------------------------------------------------------------------------------------

-- Is it made of comparisons alone, whose product is `and`, whose sum is `or`?
local function is_condition(node)
  node = bare(node)
  if is_comparison(node) or infer.of(node) == "mask" then return true end
  return node.tag == "Binary" and (node.op == "*" or node.op == "+") and is_condition(node.left) and
    is_condition(node.right)
end

-- Was it a number once, such as what counts: n = n + x:eq(y)?
local function is_counter(node)
  for _, value in ipairs(node.tag == "Name" and node.variable and node.variable.values or {}) do
    if value.tag == "Number" then return true end
  end
  return false
end

-- `1 - x:gt(0)`, `n + x:eq(y)` and `mask * x:gt(0)` are idioms; so is whatever has parentheses.
function Check:precedence(node)
  local left, right, op = node.left, node.right, node.op
  if node.tag == "Unary" then left, right, op = nil, node.operand, "-" end
  if not ((node.tag == "Binary" and ARITHMETIC[op]) or (node.tag == "Unary" and node.op == "-")) then return end
  if not is_comparison(right) or not self.uses_arrays or self.own_methods[right.name] then return end
  local t = infer.of(right.object)
  if not infer.is_array(t) and t ~= "unknown" and t ~= "any" then return end
  if left then
    local l = bare(left)
    if l.tag == "Number" or is_counter(l) or is_condition(l) then return end
  end
  local a = left and "a " .. op .. " " or "-"
  self:say(right.line, "a method binds before the operator: %sb:%s(c) is %s(b:%s(c)); write (%sb):%s(c), or the " ..
    "parentheses that are meant", a, right.name, a, right.name, a, right.name)
end

-- ---- positions ---------------------------------------------------------------------------------------------------

local function is_zero(node) return node ~= nil and node.tag == "Number" and node.value == 0 end

local function has_zero(node)
  if is_zero(node) then return true end
  for _, item in ipairs(node.tag == "Table" and node.items or {}) do
    if not item.key and is_zero(item.value) then return true end
  end
  return false
end

local AXIS = "axes count from 1: axis = 1 is the first, axis = -1 the last, axis = 0 does not exist"
local POSITION = "positions count from 1: %s is outside of every array; the first element is at 1, the last at -1"

-- Which parameter of a documented function is `axis`.
local function axis_place(name)
  local entry = sources.index()[name]
  local place = 0
  for parameter in (entry and entry.parameters or ""):gmatch("[%w_]+") do
    place = place + 1
    if parameter == "axis" then return place end
  end
end

function Check:axes(node)
  local on_array = node.tag == "Method" and infer.is_array(infer.of(node.object))
  local path = node.tag == "Call" and infer.path(node.callee)
  if not on_array and not path and not (node.tag == "Method" and self.uses_arrays) then return end
  for _, arg in ipairs(node.args) do
    for _, item in ipairs(arg.tag == "Table" and arg.items or {}) do
      if item.key and item.key.value == "axis" and has_zero(item.value) then self:say(item.line, AXIS) end
    end
  end
  local place = path and axis_place(path) or on_array and (axis_place("np." .. node.name) or 0) - 1
  local arg = place and node.args[place]
  if arg and has_zero(arg) then self:say(arg.line, AXIS) end
end

local function zero_in_slices(text)
  for part in (text .. ","):gmatch("([^,]*),") do
    if part:match("^%s*0+%s*$") or part:match("^%s*0+%s*:") then return true end
  end
  return false
end

function Check:indices(node)
  local key = node.key
  if node.tag == "Index" and node.bracketed and infer.is_array(infer.of(key)) and infer.of(node.object) == "table" then
    self:say(node.line, "an array as the key of a table stands for itself, not for its value: t[x:item()]")
  elseif node.tag == "Index" and node.bracketed and infer.is_array(infer.of(node.object)) then
    local text = key.tag == "String" and key.value
    if text and zero_in_slices(text) then self:say(node.line, POSITION, ("%q"):format(text)) end
    if has_zero(key) then self:say(node.line, POSITION, "0") end
    for _, item in ipairs(key.tag == "Table" and key.items or {}) do
      local range = item.value.tag == "Table" and item.value.items[1]
      if range and not range.key and is_zero(range.value) then self:say(node.line, POSITION, "0") end
    end
  elseif node.tag == "Call" and infer.is_array(infer.of(node.callee)) then
    for _, arg in ipairs(node.args) do
      if is_zero(arg) then self:say(node.line, POSITION, "0") end
    end
  end
end

local function is_global(node, name) return node.tag == "Name" and not node.variable and node.name == name end

-- ---- names ---------------------------------------------------------------------------------------------------------

local function meant(name, prefix, ...)
  if elsewhere[name] then return ": write " .. elsewhere[name] end
  local guess = similar(name, ...)
  return guess and (": did you mean %s%s?"):format(prefix, guess) or ""
end

function Check:members(node)
  local path = node.tag == "Index" and not self.assigned[node] and infer.path(node)
  local base, name = (path or ""):match("^(.*)%.([%w_]+)$")
  if base and not self.extended[path] then
    if type(complete.look(NAMES, base)) == "table" and complete.look(NAMES, path) == nil then
      self:say(node.line, "there is no %s%s", path, meant(name, base .. ".", complete.members(base, ".", NAMES)))
    end
  end
  local object = node.tag == "Method" and node.object
  if object and infer.is_array(infer.of(object)) and not self.extends and core.methods[node.name] == nil then
    self:say(node.line, "arrays have no method %q%s", node.name, meant(node.name, ":", core.methods))
  end
  local attribute = node.tag == "Index" and not node.bracketed and not self.assigned[node] and not self.extends and
    infer.is_array(infer.of(node.object)) and node.key.value
  if attribute and core.methods[attribute] == nil and core.getters[attribute] == nil then
    self:say(node.line, "arrays have no attribute %q%s", attribute, meant(attribute, ".", core.methods, core.getters))
  end
  local callee = node.tag == "Call" and node.callee
  if callee and callee.tag == "Index" and not callee.bracketed and infer.is_array(infer.of(callee.object)) and
    core.methods[callee.key.value] then
    self:say(node.line, "methods are called with a colon: x:%s(...); with a dot it does not know which array",
      callee.key.value)
  end
end

-- The names of a table in which nothing else is: options.
local function names_in(node)
  local names = {}
  for _, item in ipairs(node and node.tag == "Table" and node.items or {}) do
    if not item.key or item.key.tag ~= "String" then return {} end
    names[#names + 1] = item
  end
  return names
end

local function takes_unneeded(who, name)
  for _, function_name in ipairs(who) do
    local ok, taken = pcall(unneeded, function_name, name)
    if not ok or taken then return true end
  end
  return false
end

function Check:options(node)
  local items = names_in(node.args[#node.args])
  if #items == 0 then return end
  local name, f = node.tag == "Call" and infer.path(node.callee), nil
  if name then
    f = not self.extended[name] and complete.look(NAMES, name)
  elseif node.tag == "Method" and infer.is_array(infer.of(node.object)) and not self.extends then
    name, f = node.name, core.methods[node.name]
  end
  local names, who = accepted(f)
  if not names then return end
  for _, item in ipairs(items) do
    local option = item.key.value
    if not names[option] and not takes_unneeded(who, option) then
      local list = {}
      for known in pairs(names) do list[#list + 1] = known end
      table.sort(list)
      local guess = similar(option, names)
      self:say(item.line or node.line, "%s: unknown option %s%s", name, option,
        guess and (": did you mean %s?"):format(guess) or #list > 0 and ": it takes " .. table.concat(list, ", ") or "")
    end
  end
end

-- Functions of Lua that want numbers, string.format where the text says so.
function Check:numbers(node)
  local function want(argument)
    if argument and infer.is_array(infer.of(argument)) then
      self:say(argument.line, "Lua wants a number here, and an array is none: x:item() reads its only element")
    end
  end
  local function want_in_text(text, arguments)
    local n = 0
    for conversion in (text.tag == "String" and text.value or ""):gsub("%%%%", ""):gmatch("%%[-+ #0]*%d*%.?%d*(%a)") do
      n = n + 1
      if conversion:find("[diucxXoeEfgGaA]") then want(arguments[n]) end
    end
  end
  if node.tag == "For" then
    for _, bound in ipairs(node.range) do want(bound) end
  elseif node.tag == "Method" and node.name == "format" then
    want_in_text(bare(node.object), node.args)
  elseif node.tag == "Call" and node.callee.tag == "Index" and not node.callee.bracketed then
    local library = node.callee.object
    if is_global(library, "math") then
      for _, argument in ipairs(node.args) do want(argument) end
    elseif is_global(library, "string") and node.callee.key.value == "format" and node.args[1] then
      want_in_text(node.args[1], { unpack(node.args, 2) })
    end
  elseif node.tag == "Call" and is_global(node.callee, "tonumber") then
    want(node.args[1])
  end
end

-- Names that are only asked for: `if jit then`, x == nil, type(x), x or y.
local function note_tests(tested, node)
  local function note(operand)
    operand = operand and bare(operand)
    if operand and operand.tag == "Name" and not operand.variable then tested[operand.name] = true end
  end
  if node.condition then note(node.condition) end
  for _, test in ipairs(node.tests or {}) do note(test.condition) end
  if node.tag == "Unary" and node.op == "not" then note(node.operand) end
  if node.tag == "Binary" and (node.op == "and" or node.op == "or" or node.op == "==" or node.op == "~=") then
    note(node.left)
    note(node.right)
  end
  if node.tag == "Call" and node.callee.tag == "Name" and node.callee.name == "type" then note(node.args[1]) end
end

-- Functions after which nobody knows which globals there are.
local OPAQUE = { setfenv = true, getfenv = true, module = true, loadstring = true, load = true, dofile = true,
  loadfile = true, rawset = true }

-- The globals that a chunk and the modules it requires define; nil if that cannot be told.  `seen`: modules that
-- were read.
local function defined_globals(block, seen, found)
  local opaque = false
  local function module_globals(name)
    if seen[name] then return end
    seen[name] = true
    found[name:match("^[^.]*")] = true -- modules of the old kind
    local path = package.searchpath(name, package.path)
    if not path or sources.is_library("@" .. path) then return end
    local file = io.open(path)
    local text = file and file:read("*a")
    if file then file:close() end
    if not text or not loadstring((text:gsub("^#[^\n]*", "")), "=module") or text:sub(1, 1) == "\27" then return end
    defined_globals(syntax.parse(text), seen, found)
  end
  syntax.walk(block, function(node)
    for _, target in ipairs(node.tag == "Assign" and node.targets or {}) do
      if target.tag == "Name" and not target.variable then found[target.name] = true end
      if target.tag == "Index" and is_global(target.object, "_G") then
        if target.key.tag == "String" then found[target.key.value] = true else opaque = true end
      end
    end
    if node.tag ~= "Call" then return end
    if node.callee.tag == "Name" and not node.callee.variable then
      if OPAQUE[node.callee.name] then opaque = true end
      local name = node.args[1] and node.args[1].tag == "String" and node.args[1].value
      if node.callee.name == "require" and name then module_globals(name) end
    end
    for _, arg in ipairs(node.args) do
      if is_global(arg, "_G") then opaque = true end
    end
  end)
  return not opaque and found or nil
end

function Check:globals(block)
  local defined = defined_globals(block, {}, {})
  if not defined then return end
  local tested = {}
  syntax.walk(block, function(node) note_tests(tested, node) end)
  syntax.walk(block, function(node)
    local name = node.name
    if node.tag ~= "Name" or node.variable or defined[name] or tested[name] or _G[name] ~= nil then return end
    if name == "np" or name == "lgt" then
      self:say(node.line, "%s is not defined: local %s = require %q", name, name, name == "np" and "array" or "lgt")
    else
      self:say(node.line, "the global %q is never defined%s", name,
        not elsewhere[name] and slips.words[name] and ": write " .. slips.words[name] or meant(name, "", _G))
    end
  end)
end

-- ---- a script -------------------------------------------------------------------------------------------------------

-- What the script itself defines, so that it is not taken for the library's.
function Check:survey(block)
  syntax.walk(block, function(node)
    if node.tag == "Call" and is_global(node.callee, "require") and node.args[1] then
      local module = node.args[1].value
      self.uses_arrays = self.uses_arrays or module == "array" or module == "sparse" or module == "solvers"
    end
    for _, target in ipairs(node.tag == "Assign" and node.targets or {}) do
      if target.tag == "Index" and target.key.tag == "String" then
        self.assigned[target] = true
        self.own_methods[target.key.value] = true
        local path = infer.path(target)
        if path then self.extended[path] = true end
      end
    end
    for _, item in ipairs(node.items or {}) do
      if item.key and item.key.tag == "String" and item.value.tag == "Function" then
        self.own_methods[item.key.value] = true
      end
    end
    local path = node.tag == "Call" and infer.path(node.callee)
    if path == "np.extend" then self.extends = true end
    local fused = path == "np.fuse" and node.args[1]
    for _, parameter in ipairs(fused and fused.tag == "Function" and fused.params or {}) do
      self.elements[parameter] = true
    end
  end)
end

-- The findings in the text of a script, by line.
---@param text string
---@return {line: integer, text: string}[]
local function examine(text)
  local block, variables = syntax.parse(text)
  local self = setmetatable({ findings = {}, said = {}, own_methods = {}, assigned = {}, elements = {}, extended = {} },
    Check)
  infer.run(variables, np.ufuncs)
  self:survey(block)
  syntax.walk(block, function(node)
    if truths[node.tag] then truths[node.tag](self, node) end
    conditions(self, node)
    self:equality(node)
    self:precedence(node)
    if node.args then
      self:axes(node)
      self:options(node)
    end
    self:indices(node)
    self:members(node)
    self:numbers(node)
  end)
  self:globals(block)
  table.sort(self.findings, function(a, b)
    if a.line ~= b.line then return a.line < b.line end
    return a.order < b.order
  end)
  return self.findings
end

local function check_file(path)
  local file, why, text = io.stdin
  if path ~= "-" then file, why = io.open(path, "rb") end
  if not file then
    io.stderr:write("lgt: cannot open ", why, "\n")
    return 1
  end
  text, why = file:read("*a")
  if not text then
    io.stderr:write(("lgt: cannot read %s: %s\n"):format(path, why))
    return 1
  end
  if path == "-" then path = "stdin" else file:close() end
  local chunk
  chunk, why = loadstring((text:gsub("^#[^\n]*", "")), "@" .. path)
  if not chunk then
    print(slips.explained(why, text))
    return 1
  end
  if text:sub(1, 1) == "\27" then
    io.stderr:write("lgt: ", path, " is bytecode, which is not checked\n")
    return 0
  end
  local findings = examine(text)
  for _, finding in ipairs(findings) do print(("%s:%d: %s"):format(path, finding.line, finding.text)) end
  return #findings
end

-- Check the files of these names, print what is found, and return how much it is.
---@param ... string
---@return integer
return function(...)
  local count = 0
  for i = 1, select("#", ...) do count = count + check_file((select(i, ...))) end
  return count
end
