-- lgt/sources.lua - what the libraries' sources say about themselves.
--
-- The comment above a definition documents it: text, and LuaLS annotations (---@param, ---@return).  Help,
-- completion and `lgt --check` read them from here, so there is one place where they are written.
--
-- A definition is found by its public name: what a file calls np.sum, methods.sum and lgt.fence is np.sum,
-- array:sum and lgt.fence; the functions of a table t with `np.t = t` are np.t.f, and those of the table that
-- a module returns bear the module's name.

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

local function files()
  local found = {}
  for _, root in ipairs(roots) do
    local quoted = "'" .. root:gsub("'", "'\\''") .. "'"
    local list = io.popen("cd " .. quoted .. " && ls -d *.lua */*.lua 2>/dev/null")
    for name in list:lines() do found[#found + 1] = { path = root .. name, name = name } end
    list:close()
  end
  return found
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

-- What a comment says: { text = {lines}, params = {{name, type, text}}, returns = {{type, text}} }.
local function parse_comment(lines, first, last)
  local doc = { text = {}, params = {}, returns = {} }
  for i = first, last do
    local line = lines[i]:match("^%s*%-%-%-?%s?(.*)$")
    local name, kind, rest = line:match("^@param%s+(%S+)%s+(%S+)%s*(.*)$")
    if name and kind:match("^[%w_]*[%({<]") and not kind:match("[%)}>]%??$") then -- with spaces: fun(a, b), {a: b}
      local close = kind:find("{", 1, true) and "%b{}" or kind:find("<", 1, true) and "%b<>" or "%b()"
      local whole, after = line:match("^@param%s+%S+%s+([%w_]*" .. close .. "%S*)%s*(.*)$")
      if whole then kind, rest = whole, after end
    end
    if name then
      doc.params[#doc.params + 1] = { name = name, type = kind, text = rest }
    elseif line:match("^@return") then
      local result, text = line:match("^@return%s+(%S+)%s*(.*)$")
      doc.returns[#doc.returns + 1] = { type = result, text = text }
    elseif not line:match("^@") then
      doc.text[#doc.text + 1] = line
    end
  end
  return doc
end

-- The public names of a file's tables.
local function prefixes_of(file, lines)
  local known = { np = "np.", lgt = "lgt.", methods = "array:", getters = "array." }
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

local function scan(file, index)
  local lines = read_lines(file.path)
  local known = prefixes_of(file, lines)
  for n, line in ipairs(lines) do
    local holder, name, parameters = line:match("^function ([%a_][%w_]*)[.:]([%a_][%w_]*)%s*%((.-)%)")
    if not holder then holder, name = line:match("^([%a_][%w_]*)%.([%a_][%w_]*)[%w_., ]* = ") end
    if holder and known[holder] then
      local entry = parse_comment(lines, comment_above(lines, n))
      entry.name, entry.path, entry.file, entry.line = known[holder] .. name, file.path, file.name, n
      entry.parameters = parameters or line:match("= function%((.-)%)")
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
  entry.parameters = lines[n]:match("function%s*[%w_.:]*%s*%((.-)%)")
  return entry
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
