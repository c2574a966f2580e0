-- lgt/slips.lua - what was probably meant where LuaJIT cannot read a line: Python's spellings, and C's.
--
-- LuaJIT says `']' expected near ':'`; who writes a[1:3] is told how slices are written here.

local SLICES = 'slices are strings: a["2:3, :"]; positions count from 1, ends are included'
local LISTS = "lists are tables: {1, 2, 3}, np.array{1, 2, 3}"
local BLOCKS = "blocks are `if c then ... end`, `for i = 1, n do ... end`, `while c do ... end`"

-- What stands near the place (a pattern), the line (another), what to tell.  The first that fits counts.
local slips = {
  { "^!$", "!=", "`not equal` is ~= for values of Lua, a:ne(b) for the elements of arrays" },
  { "^!$", "!", "`not` is a word; of a boolean array np.logical_not(m)" },
  { "^[-+*/%%^]$", "[%w_%])]%s*[-+*/%%^]=", "there is no +=: x = x + y; in place x:iadd(y), isub, imul, idiv" },
  { "^[-+]$", "%+%+", "there is no ++: i = i + 1" },
  { "^%*$", "%*%*", "powers are written x ^ y" },
  { "^/$", "//", "rounded quotients are math.floor(x / y), of arrays np.floor_divide(x, y)" },
  { "^@$", "@", "products of matrices are written a:dot(b)" },
  { "^&$", "&", "`and` is a word for values of Lua; of boolean arrays a:both(b), of bits np.bitwise_and(a, b)" },
  { "^|$", "|", "`or` is a word for values of Lua; of boolean arrays a:either(b), of bits np.bitwise_or(a, b)" },
  { "^~$", "~", "of a boolean array np.logical_not(m), of bits np.invert(x)" },
  { "^%?$", "%?", "write `c and x or y`, or np.where(c, x, y)" },
  { "^#$", "#", "comments begin with --" },
  { "^::?$", "%[[^%]]*:", SLICES },
  { "^,$", "[%w_%])]%[[^%]\"']*,",
    'several indices are a string or a table: a["1, :"], a[{i, j}]; a(i, j) reads a number' },
  { "^:$", "{[^}]*:", 'fields of tables are {name = value}, {["name"] = value}' },
  { "^=$", "^%s*if%f[%W]", "comparisons are written ==" }, { "^=$", "^%s*while%f[%W]", "comparisons are written ==" },
  { "^=$", "%([^()]*[%a_][%w_]*%s*=[^=]", "named arguments stand in a table: np.sum(a, {axis = 1})" },
  { "^,$", "%(%s*%(", "shapes are tables, or arguments: np.zeros({3, 4}), np.zeros(3, 4)" },
  { "^,$", "=%s*%(", "there are no tuples: a table, {1, 2}" },
  { "^%[$", "%[", LISTS },
  { ".", "^%s*import%f[%W]", 'modules are loaded by `local np = require "array"`' },
  { ".", "^%s*from%s+[%w_.]+%s+import%f[%W]", 'modules are loaded by `local np = require "array"`' },
  { ".", "^%s*def%f[%W]", "functions are written `function f(x) ... end`" },
  { ".", "%f[%w]lambda%f[%W]", "functions without a name are `function(x) return x + 1 end`" },
  { ".", "^%s*del%f[%W]", "x = nil forgets x, x:free() gives its memory back at once" },
  { ".", "^%s*raise%f[%W]", "errors are raised by error(\"why\"), caught by pcall(f)" },
  { ".", "^%s*try%s*:", "errors are caught by pcall(f): local ok, result = pcall(f)" },
  { ".", "^%s*assert%s+[^%s(]", "assert is a function: assert(x == 1, \"why not\")" },
  { ".", "%f[%w]is%f[%W]", "identity is ==, in x == nil" },
  { ".", "^%s*elif%f[%W]", "the word is elseif" },
  { ".", "^%s*else%s+if%f[%W]", "the word is elseif, in one piece" },
  { ".", "%f[%w]elif%f[%W]", "the word is elseif" },
  { ".", "%f[%w]continue%f[%W]", "there is no continue: goto next, with ::next:: before the end of the loop" },
  { ".", "^%s*if%s.*:%s*$", BLOCKS }, { ".", "^%s*if%s.*:%s", BLOCKS },
  { ".", "^%s*for%s.*%sin%s.*:", BLOCKS }, { ".", "^%s*while%s.*:%s*$", BLOCKS },
  { "[jJ]$", "%d[jJ]", "imaginary numbers end in i: 2i" },
}

-- Line n of a text.
local function line_of(text, n)
  local at = 0
  for line in (text .. "\n"):gmatch("([^\n]*)\n") do
    at = at + 1
    if at == n then return line end
  end
end

-- Functions and values that Python has without asking for them.
local words = {
  len = "#x, or x.shape for all extents", range = "for i = 1, n do ... end, np.arange(n)", abs = "math.abs, np.abs",
  min = "math.min, np.min", max = "math.max, np.max", sum = "np.sum", round = "np.round", int = "math.floor(x)",
  float = "tonumber(x), x:item() of an array", str = "tostring(x)", list = "x:totable()",
  sorted = "table.sort(t), np.sort", enumerate = "for i, x in ipairs(t) do ... end", zip = "for i = 1, #t do ... end",
  isinstance = "type(x), np.isarray(x)", open = "io.open", input = "io.read()",
  dict = "a table, {name = value}", True = "true", False = "false", None = "nil",
  exit = "os.exit(), or Ctrl-D", quit = "os.exit(), or Ctrl-D", dir = "who(), or TAB behind a dot", array = "np.array",
}

local slip = { words = words }

-- What to tell about a syntax error in a text; nil where nothing is known.
---@param message string LuaJIT's: "chunk:LINE: ... near 'WORD'"
---@param text string
---@return string?
function slip.meant(message, text)
  local n, near = message:match(":(%d+): .- near '(.*)'$")
  local line = n and line_of(text, tonumber(n))
  if near == "<eof>" then -- a line such as `if x:` goes on with the next one
    near, line = ":", text:match("([^\n]*)%s*$")
  end
  if not line then return nil end
  for _, s in ipairs(slips) do
    if near:find(s[1]) and line:find(s[2]) then return s[3] end
  end
end

-- Is a line that LuaJIT thinks incomplete one of Python's, which no further line completes?
---@param text string
---@return string?
function slip.in_open(text)
  for _, pattern in ipairs { "^%s*if%s[^\"']*:%s*$", "^%s*while%s[^\"']*:%s*$", "^%s*for%s[^\"']*%sin%s[^\"']*%):",
    "^%s*try%s*:%s*$" } do
    if text:find(pattern) then return BLOCKS end
  end
end

-- A syntax error of a script that uses arrays, with what was probably meant.
---@param message string
---@param text string? of the script
---@return string
function slip.explained(message, text)
  if not text or not text:find("require") or not text:find("[\"']array[\"']") and not text:find("[\"']sparse[\"']") then
    return message
  end
  local hint = slip.meant(message, text)
  return hint and message .. ": " .. hint or message
end

-- The same of a file.  A rank whose script cannot be read asks no other.
---@param message string
---@param path string
---@return string
function slip.in_file(message, path)
  local function read()
    local file = io.open(path, "rb")
    local text = file and file:read("*a")
    if file then file:close() end
    return text
  end
  local ranks = package.loaded["lgt.ranks"]
  return slip.explained(message, ranks and ranks.alone(read) or not ranks and read() or nil)
end

return slip
