-- lgt/infer.lua - which expressions of a script are arrays, as far as that is certain.
--
-- Types are "array", "mask" (an array of booleans), "np" and "lgt" (the modules), "fused" (what np.fuse returns),
-- "number", "string", "boolean", "table", "function", "nil"; UNKNOWN for all that may be several things; ANY for
-- what nothing is known about yet.  A variable has a type if everything that is ever assigned to it has, so the
-- inference begins with ANY for each and goes over the assignments until nothing changes.
--
-- What functions return is said by their annotations (lgt/sources.lua).

local sources = require "lgt.sources"
local syntax = require "lgt.syntax"

local infer = {}

local UNKNOWN, ANY = "unknown", "any"

infer.COMPARISONS = { lt = true, le = true, gt = true, ge = true, eq = true, ne = true }
local COMPARING = { equal = true, not_equal = true, less = true, less_equal = true, greater = true,
  greater_equal = true, isnan = true, isinf = true, isfinite = true, signbit = true, isclose = true, logical_and = true,
  logical_or = true, logical_xor = true, logical_not = true }

local ANNOTATED = { lgt_array = "array", number = "number", integer = "number", boolean = "boolean", string = "string",
  table = "table" }

local function is_array(t) return t == "array" or t == "mask" end
infer.is_array = is_array

local function meet(a, b)
  if a == ANY or a == b then return b end
  if b == ANY then return a end
  if is_array(a) and is_array(b) then return "array" end
  return UNKNOWN
end

-- The n-th result of a documented function.
local function annotated(name, n)
  local entry = sources.index()[name]
  local result = entry and entry.returns[n]
  return result and ANNOTATED[result.type] or UNKNOWN
end

-- The dotted name of an expression that begins at a module: np.random.rand.  nil for others.
function infer.path(node)
  if node.tag == "Name" and node.variable then
    local t = node.variable.type
    return (t == "np" or t == "lgt") and t or nil
  end
  if node.tag ~= "Index" or node.bracketed then return nil end
  local base = infer.path(node.object)
  return base and base .. "." .. node.key.value
end

local of

local function any_array(args)
  local found = false
  for _, arg in ipairs(args) do
    local t = of(arg)
    if t == ANY then return ANY end
    found = found or is_array(t)
  end
  return found
end

-- Functions on elements give arrays for arrays, numbers for numbers.
local function elementwise(name, args)
  local found = any_array(args)
  if found == ANY then return ANY end
  return found and (COMPARING[name] and "mask" or "array") or UNKNOWN
end

local function of_call(node, n)
  local callee = node.callee
  if callee.tag == "Name" and not callee.variable and callee.name == "require" then
    local module = node.args[1] and node.args[1].value
    return module == "array" and "np" or module == "lgt" and "lgt" or UNKNOWN
  end
  local path = infer.path(callee)
  if path == "np.fuse" then return "fused" end
  if path then
    local own = path:match("^np%.([%w_]+)$")
    if own and infer.ufuncs[own] then return elementwise(own, node.args) end
    return annotated(path, n)
  end
  local t = of(callee)
  if t == "fused" then return elementwise("", node.args) end
  return t == ANY and ANY or UNKNOWN
end

local function of_method(node, n)
  local t = of(node.object)
  if t == ANY then return ANY end
  if not is_array(t) then return UNKNOWN end
  if infer.COMPARISONS[node.name] then return "mask" end
  if infer.ufuncs[node.name] then return COMPARING[node.name] and "mask" or "array" end
  local result = annotated("array:" .. node.name, n)
  return result ~= UNKNOWN and result or annotated("np." .. node.name, n)
end

local function of_index(node)
  local t = of(node.object)
  if t == ANY then return ANY end
  if not is_array(t) then return UNKNOWN end
  local key = node.key
  if not node.bracketed then return key.value == "T" and t or UNKNOWN end
  if key.tag == "String" then return key.value:match("^[%s%d,:*.-]*$") and t or UNKNOWN end
  local kind = of(key)
  if kind == ANY then return ANY end
  return (kind == "number" or kind == "table" or is_array(kind)) and t or UNKNOWN
end

local ARITHMETIC = { ["+"] = true, ["-"] = true, ["*"] = true, ["/"] = true, ["%"] = true, ["^"] = true }

local function of_binary(node)
  if node.op == ".." then return "string" end
  if node.op == "and" or node.op == "or" then return UNKNOWN end
  if not ARITHMETIC[node.op] then return "boolean" end
  local a, b = of(node.left), of(node.right)
  if a == "mask" and b == "mask" and (node.op == "*" or node.op == "+") then return "mask" end
  if is_array(a) or is_array(b) then return "array" end
  if a == ANY or b == ANY then return ANY end
  return a == "number" and b == "number" and "number" or UNKNOWN
end

local RULES = {
  Nil = function() return "nil" end,
  True = function() return "boolean" end,
  False = function() return "boolean" end,
  Number = function() return "number" end,
  String = function() return "string" end,
  Table = function() return "table" end,
  Function = function() return "function" end,
  Paren = function(node) return of(node.inner) end,
  Name = function(node) return node.variable and node.variable.type or UNKNOWN end,
  Call = function(node) return of_call(node, 1) end,
  Method = function(node) return of_method(node, 1) end,
  Result = function(node)
    if node.call.tag == "Call" then return of_call(node.call, node.n) end
    return node.call.tag == "Method" and of_method(node.call, node.n) or UNKNOWN
  end,
  Index = of_index,
  Binary = of_binary,
  Unary = function(node)
    if node.op == "not" then return "boolean" end
    local t = of(node.operand)
    if node.op == "#" then return "number" end
    return (is_array(t) or t == ANY or t == "number") and t or UNKNOWN
  end,
}

function of(node)
  local rule = RULES[node.tag]
  return rule and rule(node) or UNKNOWN
end

-- ---- arrays of numbers --------------------------------------------------------------------------------------

local function set(text)
  local found = {}
  for word in text:gmatch("%S+") do found[word] = true end
  return found
end

-- Functions whose results are no booleans, whatever they get; those that make floats unless an option or a string says
-- otherwise; methods that give the elements that there were.
local NUMERIC = set "sum mean prod std var dot trace sqrt exp log sin cos tan argmax argmin cumsum arange linspace"
local MAKERS = set "zeros ones empty"
local KEEPING = set "copy reshape ravel flatten max min transpose"

local function says_dtype(args)
  for _, arg in ipairs(args) do
    if arg.tag == "String" then return true end
    for _, item in ipairs(arg.tag == "Table" and arg.items or {}) do
      if item.key then return true end
    end
  end
  return false
end

-- Is it certain that these elements are numbers?
local function is_numeric(node, seen)
  if node.tag == "Paren" then return is_numeric(node.inner, seen) end
  if node.tag == "Number" then return true end
  if not is_array(of(node)) or of(node) == "mask" or seen[node] then return false end
  seen[node] = true
  if node.tag == "Name" then
    for _, value in ipairs(node.variable.values) do
      if not is_numeric(value, seen) then return false end
    end
    return true
  elseif node.tag == "Binary" then
    return node.op == "-" or node.op == "/" or node.op == "%" or node.op == "^" or is_numeric(node.left, seen) or
      is_numeric(node.right, seen)
  elseif node.tag == "Index" then
    return is_numeric(node.object, seen)
  elseif node.tag == "Method" then
    if says_dtype(node.args) then return false end
    return NUMERIC[node.name] or KEEPING[node.name] and is_numeric(node.object, seen) or false
  elseif node.tag == "Call" then
    local name = (infer.path(node.callee) or ""):match("^np%.(.*)$")
    local first = node.args[1]
    if not name or says_dtype(node.args) then return false end
    if name == "array" then
      while first and first.tag == "Table" do first = first.items[1] and first.items[1].value end
      return #node.args == 1 and first ~= nil and first.tag == "Number"
    end
    for i = 2, MAKERS[name] and #node.args or 0 do
      if of(node.args[i]) ~= "number" then return false end
    end
    return NUMERIC[name] or MAKERS[name] or name == "random.rand" or name == "random.randn" or name == "random.normal"
  end
  return false
end

-- Does it read a number, which 0 is, too: x:item(), x(i), np.count_nonzero(x)?
---@param node table
---@return boolean
function infer.reads_number(node)
  if node.tag == "Method" and node.name == "item" then
    return is_array(of(node.object)) and is_numeric(node.object, {})
  elseif node.tag == "Call" and is_array(of(node.callee)) then
    return is_numeric(node.callee, {})
  end
  local path = node.tag == "Call" and infer.path(node.callee)
  return path and (of(node) == "number" or path == "np.count_nonzero" and #node.args == 1) or false
end

-- The type of an expression, after infer.run.
---@param node table
---@return string
infer.of = of

-- Give each local variable of a chunk its type.
---@param variables table[] from syntax.parse
---@param ufuncs table<string, table> the array library's
function infer.run(variables, ufuncs)
  infer.ufuncs = ufuncs
  for _, variable in ipairs(variables) do variable.type = ANY end
  local changed = true
  while changed do
    changed = false
    for _, variable in ipairs(variables) do
      local t = ANY
      for _, value in ipairs(variable.values) do t = meet(t, value == syntax.UNKNOWN and UNKNOWN or of(value)) end
      if t ~= variable.type then variable.type, changed = meet(variable.type, t), true end
    end
  end
end

return infer
