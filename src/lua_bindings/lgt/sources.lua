-- lgt/sources.lua - what the libraries' sources say about themselves.
--
-- The comment above a definition documents it: text, and LuaLS annotations (---@param, ---@return).  Help,
-- completion and `lgt --check` read them from here, so there is one place where they are written.
--
-- A definition is found by its public name: what a file calls np.sum, methods.sum and lgt.fence is np.sum,
-- array:sum and lgt.fence; what it calls File.read in hdf5.lua is file:read; the functions of a table t with
-- `np.t = t` are np.t.f, and those of the table that a module returns bear the module's name.

local sources = {}

-- ---- where they are ---------------------------------------------------------------------------------------

local roots = {} -- directories, each with a slash at its end

local function add_root(module, file_pattern)
  local file = package.searchpath(module, package.path)
  local root = file and file:match(file_pattern)
  if root and root ~= roots[1] then roots[#roots + 1] = root end
end
add_root("lgt.sources", "^(.*/)lgt/sources%.lua$")
add_root("array", "^(.*/)array%.lua$")

-- Does a chunk of this name (debug.getinfo's `source`) belong to the libraries?
---@param source string
---@return boolean
function sources.is_library(source)
  for _, root in ipairs(roots) do
    if source:sub(2, #root + 1) == root then return source:sub(1, 1) == "@" end
  end
  return false
end

-- Declarations come first: of two comments on one name the first one counts.
local function files()
  local declared, found = {}, {}
  for _, root in ipairs(roots) do
    local quoted = "'" .. root:gsub("'", "'\\''") .. "'"
    local list = io.popen("cd " .. quoted .. " && ls -d *.lua */*.lua */*/*.lua 2>/dev/null")
    for name in list:lines() do
      local target = name:find("/meta/", 1, true) and declared or found
      target[#target + 1] = { path = root .. name, name = name }
    end
    list:close()
  end
  for _, file in ipairs(found) do declared[#declared + 1] = file end
  return declared
end

-- ---- definitions --------------------------------------------------------------------------------------------

local function read_lines(path)
  local lines = {}
  for line in io.lines(path) do lines[#lines + 1] = line end
  return lines
end

-- The comment that ends above line n, perhaps above the loop that the line is in.
local function comment_above(lines, n)
  local last = n - 1
  while last > 0 and last > n - 4 and lines[last]:match("^%s*for ") do last = last - 1 end
  local first = last
  while first > 0 and lines[first]:match("^%s*%-%-") and not lines[first]:match("^%s*%-%- %-%-%-%-") do
    first = first - 1
  end
  return first + 1, last
end

local BRACKETS = { ["("] = 1, ["["] = 1, ["{"] = 1, ["<"] = 1, [")"] = -1, ["]"] = -1, ["}"] = -1, [">"] = -1 }

-- The type that `text` begins with, and what follows.  It ends at the first space or comma outside of brackets, but
-- for what a function gives: "fun(x: number): integer, any".  Nil where brackets are not closed.
local function take_type(text)
  local depth, gives = 0, false
  for i = 1, #text do
    local c = text:sub(i, i)
    depth = depth + (BRACKETS[c] or 0)
    if depth < 0 then return nil end
    if depth == 0 then
      gives = gives or c == ":"
      local last = text:sub(i - 1, i - 1)
      if c == " " and last ~= ":" and not (gives and last == ",") or c == "," and not gives then
        return text:sub(1, i - 1), text:sub(i)
      end
    end
  end
  if depth == 0 and text ~= "" then return text, "" end
end

local TYPES = {}
for name in ("lgt_array integer number string boolean table any fun function ffi"):gmatch("%S+") do
  TYPES[name] = true
end

-- Does a type begin here, and no other word?
local function is_type(text) return text:find("^[%({]") or TYPES[text:match("^[%a_]+") or ""] end

-- What is said of a result, and the results that follow: "values (n, m), lgt_array positions".
local function take_text(text)
  local depth = 0
  for i = 1, #text do
    local c = text:sub(i, i)
    depth = math.max(0, depth + (c:find("[<>]") and 0 or BRACKETS[c] or 0))
    if c == "," and depth == 0 and is_type(text:sub(i + 1):gsub("^%s+", "")) then
      return text:sub(1, i - 1), text:sub(i + 1):gsub("^%s+", "")
    end
  end
  return text, ""
end

local function trimmed(text) return (text:gsub("^%s+", ""):gsub("%s+$", "")) end

-- Add what an annotation says; false if its type is none.
local function take_annotation(doc, text)
  local name, rest = text:match("^@param%s+(%S+)%s+(.*)$")
  if name then
    local kind, said = take_type(rest)
    doc.params[#doc.params + 1] = { name = name, type = kind or rest, text = trimmed(said or "") }
    return kind ~= nil
  end
  rest = text:match("^@return%s+(.*)$")
  if not rest then return not text:find("^@param") and not text:find("^@return") end
  repeat
    local kind, said = take_type(rest)
    if not kind then return false end
    said, rest = take_text(said)
    doc.returns[#doc.returns + 1] = { type = kind, text = trimmed(said) }
  until rest == ""
  return true
end

-- What a comment says: { text = {lines}, params = {{name, type, text}}, returns = {{type, text}}, wrong = the number of
-- the first line whose type is none }.  An annotation goes on in lines that begin with three dashes and a space.
local function parse_comment(lines, first, last)
  local doc = { text = {}, params = {}, returns = {} }
  local i = first
  while i <= last do
    local at = i
    local text = lines[i]:match("^%s*%-%-%-(@.*)$")
    while text and i < last and lines[i + 1]:match("^%s*%-%-%-%s") do
      i = i + 1
      text = text .. " " .. trimmed(lines[i]:match("^%s*%-%-%-(.*)$"))
    end
    if not text then
      doc.text[#doc.text + 1] = lines[i]:match("^%s*%-%-%-?%s?(.*)$")
    elseif not take_annotation(doc, text) then
      doc.wrong = doc.wrong or at
    end
    i = i + 1
  end
  return doc
end

-- The public names of a file's tables.
local function prefixes_of(file, lines)
  local of = file.name:find("^sparse/") and "matrix" or "array"
  local known = { np = "np.", lgt = "lgt.", methods = of .. ":", getters = of .. "." }
  if file.name == "array/io/hdf5.lua" then known.File = "file:" end
  local module = file.name:match("^([%w_]+)%.lua$")
  for _, line in ipairs(lines) do
    local public, own = line:match("^np%.([%w_]+) = ([%a_][%w_]*)$")
    if public then known[own] = "np." .. public .. "." end
    own, public = line:match("^local ([%a_][%w_]*) = np%.([%w_]+)$")
    if public then known[own] = "np." .. public .. "." end
    own = module and line:match("^return ([%a_][%w_]*)$") or line:match("^return setmetatable%(([%a_][%w_]*),")
    if module and own and not known[own] then known[own] = module .. "." end
  end
  return known
end

local function is_bare(entry) return #entry.text == 0 and #entry.params == 0 end

-- Without the parameter that takes what a function refuses (core.check_surplus of the array library).
local function of_use(parameters) return parameters and (parameters:gsub(",? ?surplus$", "")) end

local function scan(file, index)
  local lines = read_lines(file.path)
  local known = prefixes_of(file, lines)
  for n, line in ipairs(lines) do
    local holder, name, parameters = line:match("^function ([%a_][%w_]*)[.:]([%a_][%w_]*)%s*%((.-)%)")
    if not holder then holder, name = line:match("^([%a_][%w_]*)%.([%a_][%w_]*)[%w_., ]* = ") end
    if holder and known[holder] then
      local entry = parse_comment(lines, comment_above(lines, n))
      entry.name, entry.path, entry.file, entry.line = known[holder] .. name, file.path, file.name, n
      entry.parameters = of_use(parameters or line:match("= function%((.-)%)"))
      entry.alias = line:match("= ([%a_][%w_]*%.[%a_][%w_]*)$")
      if not index[entry.name] or is_bare(index[entry.name]) then index[entry.name] = entry end
      local also = line:match("^[%w_.]+, ([%w_.]+) = ") -- a.f, a.g = a.h, a.h
      holder, name = (also or ""):match("^([%a_][%w_]*)%.([%a_][%w_]*)$")
      if holder and known[holder] and not index[known[holder] .. name] then index[known[holder] .. name] = entry end
    end
  end
end

local index

-- All definitions of the libraries by public name.
---@return table<string, table>
function sources.index()
  if not index then
    index = {}
    for _, file in ipairs(files()) do scan(file, index) end
    for name, entry in pairs(index) do -- methods.sum = np.sum
      local target = entry.alias and index[entry.alias]
      if target and is_bare(entry) and #entry.returns == 0 then index[name] = target end
    end
  end
  return index
end

-- What the source says about a function: an entry like those of the index, or nil.
---@param f function
---@return table?
function sources.of_function(f)
  local info = debug.getinfo(f, "S")
  if info.what == "C" or info.source:sub(1, 1) ~= "@" then return nil end
  local path, n = info.source:sub(2), info.linedefined
  for _, entry in pairs(sources.index()) do
    if entry.line == n and entry.path == path then return entry end
  end
  local ok, lines = pcall(read_lines, path)
  if not ok or not lines[n] then return nil end
  local entry = parse_comment(lines, comment_above(lines, n))
  entry.path, entry.file, entry.line = path, path, n
  entry.name = lines[n]:match("function%s+([%w_.:]+)%s*%(") or lines[n]:match("([%w_.]+)%s*=%s*function") or "function"
  entry.parameters = of_use(lines[n]:match("function%s*[%w_.:]*%s*%((.-)%)"))
  return entry
end

-- Where annotations of the libraries have no type, or one whose brackets are not closed: the first of each file as
-- "path:line".
---@return string[]
function sources.wrong_types()
  local found = {}
  for _, file in ipairs(files()) do
    local lines = read_lines(file.path)
    local line = parse_comment(lines, 1, #lines).wrong
    if line then found[#found + 1] = file.path .. ":" .. line end
  end
  return found
end

-- The comment at the top of a module's file, or nil.
---@param name string as for require
---@return string?
function sources.of_module(name)
  local path = package.searchpath(name, package.path)
  if not path then return nil end
  local text = {}
  for line in io.lines(path) do
    if not line:match("^%-%-") then break end
    text[#text + 1] = line:gsub("^%-%-%s?", "")
  end
  return #text > 0 and table.concat(text, "\n") or nil
end

return sources
