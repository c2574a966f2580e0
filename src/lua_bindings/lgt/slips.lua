-- lgt/slips.lua - what was probably meant where LuaJIT cannot read a line: Python's spellings, and C's.
--
-- LuaJIT says `']' expected near ':'`; who writes a[1:3] is told how slices are written here.

local SLICES = 'slices are strings: a["2:3, :"]; positions count from 1, ends are included'
local LISTS = "lists are tables: {1, 2, 3}, np.array{1, 2, 3}"
local BLOCKS = "blocks are `if c then ... end`, `for i = 1, n do ... end`, `while c do ... end`"

local MODULES = 'modules are loaded by `local np = require "array"`'
local LAMBDA = "functions without a name are `function(x) return x + 1 end`"
local TRY = "errors are caught by pcall(f): local ok, result = pcall(f)"
local IDENTITY = "identity is ==, in x == nil"
local EQUALS = "comparisons are written =="
local ELSEIF = "the word is elseif"
local VALUE = "[%w_%])\"]%s*$" -- what a value ends with
local INDEX = "[%w_%])]%[[^%[%](){}\"]*" -- within the brackets of an index, without strings
local FIELDS = "{[^%[%](){}]*"

-- Patterns for the symbol that Lua cannot read, for the code before it and behind it on its line, what to tell, and
-- perhaps a pattern for LuaJIT's words.  The first that fits counts.  Strings are quotes only, comments are blank, and
-- closed brackets before the symbol are a name (with `across`, that code is of all lines above, too, brackets and all):
-- so each tells of the very place.  Where correct Lua with a misprint looks the same, none is here.
local slips = {
  { "^!$", "", "^=", "`not equal` is ~= for values of Lua, a:ne(b) for the elements of arrays" },
  { "^!$", "", "", "`not` is a word; of a boolean array np.logical_not(m)" },
  { "^[-+*/%%^]$", VALUE, "^=[^=]", "there is no +=: x = x + y; in place x:iadd(y), isub, imul, idiv" },
  { "^%+$", VALUE, "^%+", "there is no ++: i = i + 1" }, { "^%+$", "%+$", "", "there is no ++: i = i + 1" },
  { "^%*$", "%*$", "", "powers are written x ^ y" },
  { "^/$", "[%w_%])]%s*/$", "", "rounded quotients are math.floor(x / y), of arrays np.floor_divide(x, y)" },
  { "^@$", VALUE, "", "products of matrices are written a:dot(b)" },
  { "^&$", VALUE, "", "`and` is a word for values of Lua; of boolean arrays a:both(b), of bits np.bitwise_and(a, b)" },
  { "^|$", VALUE, "", "`or` is a word for values of Lua; of boolean arrays a:either(b), of bits np.bitwise_or(a, b)" },
  { "^~$", "", "", "of a boolean array np.logical_not(m), of bits np.invert(x)" },
  { "^%?$", VALUE, "", "write `c and x or y`, or np.where(c, x, y)" },
  { "^#$", "", "^[%s#]", "comments begin with --" },
  { "^::?$", INDEX .. "$", "", SLICES }, { "", INDEX .. ":%s*$", "", SLICES },
  { "^,$", INDEX .. "$", "^[^%[]*%]",
    'several indices are a string or a table: a["1, :"], a[{i, j}]; a(i, j) reads a number' },
  { "^:$", FIELDS .. "[%w_\"]%s*$", "", 'fields of tables are {name = value}, {["name"] = value}' },
  { "", FIELDS .. "[%w_]%s*:%s*$", "", 'fields of tables are {name = value}, {["name"] = value}' },
  { "^=$", "^%s*if%f[%W]%s*%(?[^(%[{]*[%w_]%s*$", "", EQUALS, "'[t)].*' expected" },
  { "^=$", "^%s*while%f[%W]%s*%(?[^(%[{]*[%w_]%s*$", "", EQUALS, "'[d)].*' expected" },
  { "^=$", "function[%s%w_.:]*%([^()]*$", "",
    "parameters have no defaults: x = x or 1, as the first line of a function" },
  { "^=$", "[%w_%]]%([^()]*[%a_][%w_]*%s*$", "",
    "named arguments stand in a table: np.sum(a, {axis = 1})", "'%)' expected" },
  { "^,$", "[%w_%]]%(%(%s*[^(){}%[%],]+$", "^[^()]*%)%s*[,)]",
    "shapes are tables, or arguments: np.zeros({3, 4}), np.zeros(3, 4)" },
  { "^,$", "=%s*%(%s*[^(){}%[%],]+$", "^[^()]*%)", "there are no tuples: a table, {1, 2}" },
  { "^%[$", "[=(,{]%s*$", "", LISTS }, { "^%[$", "^%s*$", "", LISTS },
  { "^%[$", "%f[%w_]return%s+$", "", LISTS }, { "^%[$", "%f[%w_]in%s+$", "", LISTS },
  { "^[%a_]", "^%s*import%s+$", "", MODULES }, { "^[%a_]", "^%s*from%s+$", "^[%w_.]*%s+import%f[%W]", MODULES },
  { "^[%a_]", "^%s*def%s+$", "^%s*%(", "functions are written `function f(x) ... end`" },
  { "^[%a_]", "%f[%w_]lambda%s+$", "^[%w_%s,]*:", LAMBDA },
  { "", "%f[%w_]lambda%s+[%a_][%w_%s,]*:%s*[%w_]*%s*$", "", LAMBDA }, { "", "%f[%w_]lambda:%s*$", "", LAMBDA },
  { "^[%a_]", "^%s*del%s+$", "", "x = nil forgets x, x:free() gives its memory back at once" },
  { "^[%a_]", "^%s*raise%s+$", "", "errors are raised by error(\"why\"), caught by pcall(f)" },
  { "^[%w_]", "^%s*print%s+$", "", "print is a function: print(x)" },
  { "^[%w_]", "^%s*assert%s+$", "", "assert is a function: assert(x == 1, \"why not\")" },
  { "^is$", VALUE, "^%s+[%w_]", IDENTITY }, { "^None$", "%f[%w_]is%s+$", "", IDENTITY },
  { "^not$", "%f[%w_]is%s+$", "", IDENTITY },
  { "", "%f[%w_]elif%s+$", "", ELSEIF }, { "^then$", "%f[%w_]elif%s*__+%s*$", "", ELSEIF },
  { "^else$", "^%s*$", "^%s+if%f[%W]", "the word is elseif, in one piece" },
  { "^[jJ]$", "%d$", "", "imaginary numbers end in i: 2i" },
  { "^[%d.]+[jJ]$", "", "", "imaginary numbers end in i: 2i" },
}

for _, word in ipairs { "\n%s*", "%f[%w_]then%s+", "%f[%w_]do%s+", "%f[%w_]else%s+" } do
  slips[#slips + 1] = { "", word .. "continue%s*;?%s*$", "",
    "there is no continue: goto next, with ::next:: before the end of the loop", "'=' expected", across = true }
end

-- The end of the string that begins at a place of a text; nil if the text ends before.
local function end_of_string(text, from)
  local quote, at = text:sub(from, from), from + 1
  while true do
    at = text:find("[\\\n" .. quote .. "]", at)
    if not at then return nil end
    if text:sub(at, at) ~= "\\" then return at end
    at = at + 2
  end
end

-- A text, each byte in its place, with quotes for the bytes of strings and blanks for those of comments; where the
-- string begins that its end is in.
local function code_of(text)
  local pieces, at, open = {}, 1, nil
  while true do
    local from = text:find("[-\"'%[]", at)
    if not from then return table.concat(pieces) .. text:sub(at), open end
    local comment = text:find("^%-%-", from)
    local equals = text:match("^%[(=*)%[", comment and from + 2 or from)
    local to, fill = from, nil
    if equals then
      to, fill = select(2, text:find("]" .. equals .. "]", from, true)) or #text, comment and " " or '"'
    elseif comment then
      to, fill = (text:find("\n", from, true) or #text + 1) - 1, " "
    elseif text:find("^[\"']", from) then
      to, fill = end_of_string(text, from), '"'
      if not to then to, open = #text, from end
    end
    pieces[#pieces + 1] = text:sub(at, from - 1)
    local found = text:sub(from, to)
    pieces[#pieces + 1] = fill and found:gsub("[^\n]", fill) or found
    at = to + 1
  end
end

-- What is in closed brackets is a name.
local function folded(code)
  for _, brackets in ipairs { "%b()", "%b[]", "%b{}" } do
    code = code:gsub(brackets, function(inside) return ("_"):rep(#inside) end)
  end
  return code
end

-- What LuaJIT says of a text: its message without the place, the line, the symbol.
local function complaint(text)
  local chunk, message = loadstring(text, "=text")
  if chunk then return nil end
  local line, why = message:match("^text:(%d+): (.*)$")
  local near = why and why:match(" near '(.*)'$")
  if near then return why, tonumber(line), near end
end

local function last_line(text) return text:sub(text:match("^.*\n()") or 1) end

-- The places of a symbol in a line of code, where it is not a part of another.
local function places(code, line, near)
  local found, at = {}, 1
  for _ = 2, line do at = (code:find("\n", at, true) or #code) + 1 end
  local last = (code:find("\n", at, true) or #code + 1) - 1
  while true do
    local from, to = code:find(near, at, true)
    if not from or to > last then return found end
    local around = code:sub(from - 1, from - 1) .. " " .. code:sub(to + 1, to + 1)
    local part = near:find("^[%w_]") and around:find("[%w_]") or near == "=" and around:find("[=~<>]")
      or near == ":" and around:find(":", 1, true)
    if not part then found[#found + 1] = from end
    at = from + 1
  end
end

-- The first and the last byte of the symbol that LuaJIT cannot read: the first place where the text, with nothing
-- behind it, fails so.  What ends before it is incomplete at most.
local function place_of(text, code, line, near)
  local found = places(code, line, near)
  local low, high = 1, #found + 1
  while low < high do
    local middle = math.floor((low + high) / 2)
    local _, at, what = complaint(text:sub(1, found[middle] + #near - 1))
    if at == line and what == near then high = middle else low = middle + 1 end
  end
  if found[low] then return found[low], found[low] + #near - 1 end
end

-- Does a line of code begin a block as Python does?  A colon of Lua's has no blank behind it.
local function opens_block(line)
  line = folded(line) .. " "
  for _, word in ipairs { "then", "do", "function" } do
    if line:find("%f[%w_]" .. word .. "%f[^%w_]") then return nil end
  end
  if line:find("^%s*try%s*:%s") then return TRY end
  for _, head in ipairs { "^%s*if%f[^%w_]", "^%s*while%f[^%w_]", "^%s*for%s.*%sin%s" } do
    if line:find(head .. "[^(%[{]*[%w_%])\"]%s*:%s") then return BLOCKS end
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

local slip = { words = words, code_of = code_of }

-- What to tell about the syntax error of a text; nil where nothing is known.
---@param text string
---@return string?
function slip.meant(text)
  text = text:gsub("^#[^\n]*", "")
  local why, line, near = complaint(text)
  if not why then return nil end
  local code = (code_of(text))
  local from, to = #code + 1, #code
  if near ~= "<eof>" then from, to = place_of(text, code, line, near) end
  if not from then return nil end
  local lines = "\n" .. code:sub(1, from - 1)
  local before = last_line(lines)
  local above = last_line(lines:sub(1, -2 - #before):match("^.*%S") or "")
  local behind = code:match("^[^\n]*", to + 1)
  local shown = folded(before)
  for _, s in ipairs(near == "<eof>" and {} or slips) do
    if near:find(s[1]) and (s.across and lines or shown):find(s[2]) and (behind .. "\n"):find(s[3])
      and (not s[5] or why:find(s[5])) then
      return s[4]
    end
  end
  for _, wanted in ipairs { "^'then'", "^'do'", "^'<name>'", "^function arguments" } do
    if why:find(wanted .. " expected") then
      return opens_block(near == ":" and before .. ":" .. behind or before) or opens_block(above)
    end
  end
end

-- Is the last line of a text that LuaJIT thinks incomplete one of Python's, which no further line completes?
---@param text string
---@return string?
function slip.in_open(text)
  return opens_block(last_line((code_of(text))))
end

-- A syntax error of a script that uses arrays, with what was probably meant.
---@param message string
---@param text string? of the script
---@return string
function slip.explained(message, text)
  if not text or not text:find("require") or not text:find("[\"']array[\"']") and not text:find("[\"']sparse[\"']") then
    return message
  end
  local hint = slip.meant(text)
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
