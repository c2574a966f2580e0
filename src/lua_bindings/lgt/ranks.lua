-- lgt/ranks.lua - Lua on several ranks: the same program sees the same world on each.
--
-- Every rank runs the whole script.  What it does may depend only on what is alike on all of them, so here the
-- functions of Lua that look outside are replaced, before the script begins:
--
--   clocks, os.getenv, os.tmpname, standard input     the values of rank 0, on every rank
--   os.execute, os.remove, os.rename, io.popen        done once, by rank 0
--   files     read by every rank, written by rank 0.  Opening one waits for rank 0, and for writing for all: what was
--             written before is there, and what is still being read is not overwritten
--   print, io.write, io.stderr     of rank 0, unless all speak
--   pairs, next     LuaJIT's order is another one in each process.  Here: 1, 2, 3 ... as long as there are any, then
--             other numbers, ascending, then strings, then booleans.  Of keys that have no order (tables, functions,
--             cdata) at most one is legal; lgt.unordered(t) visits them as they come
--   os.exit   waits until all ranks have called it
--
-- math.random needs nothing: LuaJIT begins with the same numbers in each process.  Seeds are rank 0's.
--
-- What remains different, and a script must not depend on: addresses in tostring(table), collectgarbage("count"), and
-- what the FFI calls.
--
-- `ranks.alone(f, ...)` calls f on this rank only, with everything as in luajit: for the prompt.

local together = ...
local rank = together.rank

local type, rawget, rawequal, select, error, tostring = type, rawget, rawequal, select, error, tostring
local sort = table.sort
local raw = {
  next = next, pairs = pairs, open = io.open, read = io.read, lines = io.lines, input = io.input, output = io.output,
  popen = io.popen, tmpfile = io.tmpfile, loadfile = loadfile, dofile = dofile, exit = os.exit, write = io.write,
}
local rawnext = raw.next

local alone = false -- this rank does something by itself
local ranks = { next = rawnext, rank = rank, size = together.size, checkpoint = together.checkpoint }
package.loaded["lgt.ranks"] = ranks

local function finish_alone(before, ok, ...)
  alone = before
  if not ok then error((...), 0) end
  return ...
end

function ranks.alone(f, ...)
  local before = alone
  alone = true
  return finish_alone(before, pcall(f, ...))
end

-- f, but everywhere with what it returns on rank 0.
local function shared(name, f)
  return function(...)
    if alone then return f(...) end
    return together.share(name, f, ...)
  end
end

-- The same, for what changes something that other ranks may still be reading.
local function once(name, f)
  return function(...)
    if alone then return f(...) end
    together.meet(name)
    return together.share(name, f, ...)
  end
end

for _, name in ipairs { "clock", "getenv", "time" } do os[name] = shared("os." .. name, os[name]) end
for _, name in ipairs { "execute", "remove", "rename", "tmpname" } do os[name] = once("os." .. name, os[name]) end
ranks.shared = shared

-- The table that "*t" asks for travels as its fields.
local date, fields = os.date, { "year", "month", "day", "hour", "min", "sec", "wday", "yday", "isdst" }
local shared_date = shared("os.date", function(...)
  local text = date(...)
  if type(text) ~= "table" then return text end
  local values = {}
  for i, name in ipairs(fields) do values[i] = text[name] end
  return unpack(values, 1, #fields)
end)

local function dated(text, month, ...)
  if month == nil then return text end
  local values, result = { text, month, ... }, {}
  for i, name in ipairs(fields) do result[name] = values[i] end
  return result
end

function os.date(...) return dated(shared_date(...)) end

-- The least of what all ranks have, a whole number.
function ranks.least(what, number) return alone and number or together.least(what, number) end

-- What some rank has to say against going on, the first one's; nil if all are content.
---@param why string?
---@return string?
function ranks.complaint(what, why)
  if alone then return why end
  local text, who = together.complaint(what, why)
  return text and ("%s (on rank %d)"):format(text, who)
end

-- What all ranks have, strings of one length, behind one another in their order.
function ranks.gather(what, text)
  if alone then return text end
  return together.gather(what, text)
end

local seed = math.randomseed
local shared_seed = shared("math.randomseed", function(...) return ... end)
function math.randomseed(...) return seed(shared_seed(...)) end

function os.exit(status, close)
  if alone then return raw.exit(status, close) end
  together.leave(status == nil and 0 or type(status) == "number" and status or status and 0 or 1)
  return raw.exit(status, close)
end

-- ---- pairs and next ----------------------------------------------------------------------------------------------

local by_address = "%s: the table has several keys that are tables, functions or cdata, whose order differs from rank "
  .. "to rank.  Use numbers or strings as keys, or lgt.unordered(t) where any order will do"

-- The keys of t behind the sequence 1 ... n, in order.  `what` asks for them, on behalf of the function at this level;
-- nil: one without an order will do.
local function rest_of(t, n, what, level)
  local numbers, strings, others, odd = nil, nil, nil, nil
  for key in rawnext, t do
    local kind = type(key)
    if kind == "number" then
      if not (key >= 1 and key <= n and key % 1 == 0) then
        numbers = numbers or {}
        numbers[#numbers + 1] = key
      end
    elseif kind == "string" then
      strings = strings or {}
      strings[#strings + 1] = key
    elseif kind == "boolean" then
      others = others or {}
      others[key] = true
    else
      if odd ~= nil and what then error(by_address:format(what), level) end
      odd = key
    end
  end
  local keys = numbers or {}
  if numbers then sort(numbers) end
  if strings then
    sort(strings)
    local count = #keys
    for i = 1, #strings do keys[count + i] = strings[i] end
  end
  local count = #keys
  if others then
    for _, key in ipairs { false, true } do
      if others[key] then
        count = count + 1
        keys[count] = key
      end
    end
  end
  if odd ~= nil then
    count = count + 1
    keys[count] = odd
  end
  return keys, count
end

local function length_of(t)
  local n = 0
  while rawget(t, n + 1) ~= nil do n = n + 1 end
  return n
end

local function need_table(t, what)
  if type(t) ~= "table" then
    error(("bad argument #1 to '%s' (table expected, got %s)"):format(what, t == nil and "no value" or type(t)), 3)
  end
end

function pairs(t)
  if alone or type(t) == "cdata" then return raw.pairs(t) end
  need_table(t, "pairs")
  local n = length_of(t)
  local keys, count = rest_of(t, n, "pairs", 3)
  local at = 0
  return function()
    while at < n + count do -- what has been removed meanwhile is left out
      at = at + 1
      local key = at
      if at > n then key = keys[at - n] end
      local value = rawget(t, key)
      if value ~= nil then return key, value end
    end
  end, t, nil
end

-- The traversal that next was last used for.
local walked = setmetatable({}, { __mode = "v" }) -- its table
local length, rest, nrest, place = 0, {}, 0, 0

local function begin_walk(t)
  if rawequal(walked[1], t) then return end
  walked[1] = t
  length = length_of(t)
  rest, nrest = rest_of(t, length, "next", 4)
  place = 0
end

local function next_of_rest(t, from)
  for i = from, nrest do
    local value = rawget(t, rest[i])
    if value ~= nil then
      place = i
      return rest[i], value
    end
  end
end

local function place_in_rest(key)
  if rawequal(rest[place], key) then return place end
  for i = 1, nrest do
    if rawequal(rest[i], key) then return i end
  end
end

function next(t, key)
  if alone then return rawnext(t, key) end
  need_table(t, "next")
  if key == nil then
    walked[1] = nil
    local first = rawget(t, 1)
    if first ~= nil then return 1, first end
    local any, value = rawnext(t)
    if any == nil or rawnext(t, any) == nil then return any, value end
    local key0 = rest_of(t, 0)[1] -- as a rule all that is asked is whether there are any
    return key0, rawget(t, key0)
  end
  begin_walk(t)
  if type(key) == "number" and key >= 1 and key <= length and key % 1 == 0 then
    for i = key + 1, length do
      local value = rawget(t, i)
      if value ~= nil then return i, value end
    end
    return next_of_rest(t, 1)
  end
  local at = place_in_rest(key)
  if not at then
    walked[1] = nil -- the table has changed since
    begin_walk(t)
    at = place_in_rest(key)
    if not at then error("invalid key to 'next'", 2) end
  end
  return next_of_rest(t, at + 1)
end

if table.foreach then
  function table.foreach(t, f)
    for key, value in pairs(t) do
      local result = f(key, value)
      if result ~= nil then return result end
    end
  end
end

-- ---- files ----------------------------------------------------------------------------------------------------------

local null = "/dev/null"
local EVERYBODY = 2 ^ 40 -- more than any rank

-- open(name, mode) returns a file, or nil and why not.  What rank 0 cannot open, nobody can.
local function open_on_rank_0(open, name, mode)
  local file
  local ok, why, code = together.share("opening a file", function()
    local reason, number
    file, reason, number = open(name, mode)
    return file ~= nil, reason, number
  end)
  if not ok then return nil, why, code end
  return file, true
end

local function open_to_read(name, mode, open)
  local file, ok, code = open_on_rank_0(open or raw.open, name, mode)
  if ok ~= true then return nil, ok, code end
  if rank > 0 then file = (open or raw.open)(name, mode) end
  local bad = ranks.least("opening a file", file and EVERYBODY or rank)
  if bad < EVERYBODY then
    local why = ("rank %d cannot open it, rank 0 can: ranks on several machines need a common file system"):format(bad)
    return nil, open and why or name .. ": " .. why
  end
  return file
end

local function open_to_write(name, mode, open)
  together.meet("opening a file")
  local file, ok, code = open_on_rank_0(open or raw.open, name, mode)
  if ok ~= true then return nil, ok, code end
  return rank == 0 and file or (open or raw.open)(null, "w")
end

-- For files of libraries, by their own function: see open_on_rank_0.
function ranks.open(open, name, mode)
  if alone then return open(name, mode) end
  if mode:find("^[wa]") then return open_to_write(name, mode, open) end
  return open_to_read(name, mode, open)
end

function io.open(name, mode)
  if alone then return raw.open(name, mode) end
  mode = mode == nil and "r" or mode
  if type(mode) == "string" and mode:find("+", 1, true) then
    error(("io.open: mode \"%s\" reads and writes one file, which several ranks cannot; read, close, and write it")
      :format(mode), 2)
  end
  if type(mode) == "string" and mode:find("^[wa]") then return open_to_write(name, mode) end
  return open_to_read(name, mode)
end

function io.popen(command, mode)
  if alone or not raw.popen then return raw.popen(command, mode) end
  if mode == "w" then
    local file, why
    together.meet("io.popen")
    local ok, why0 = together.share("io.popen", function()
      file, why = raw.popen(command, mode)
      return file ~= nil, why
    end)
    if not ok then return nil, why0 end
    return rank == 0 and file or raw.open(null, "w")
  end
  together.meet("io.popen")
  local text, why = together.share("io.popen", function()
    local file, problem = raw.popen(command, mode)
    if not file then return nil, problem end
    local all = file:read("*a")
    file:close()
    return all
  end)
  if not text then return nil, why end
  local file = raw.tmpfile()
  file:write(text)
  file:seek("set")
  return file
end

-- ---- standard input and output --------------------------------------------------------------------------------

local stdin = io.stdin
local methods = getmetatable(stdin).__index
local file_read, file_lines = methods.read, methods.lines
local read_stdin = shared("io.read", function(...) return file_read(stdin, ...) end)

local function from_stdin() return not alone and rawequal(raw.input(), stdin) end

function methods.read(file, ...)
  if not alone and rawequal(file, stdin) then return read_stdin(...) end
  return file_read(file, ...)
end

function methods.lines(file, ...)
  if alone or not rawequal(file, stdin) then return file_lines(file, ...) end
  return function() return read_stdin("*l") end
end

function io.read(...)
  if from_stdin() then return read_stdin(...) end
  return raw.read(...)
end

function io.lines(name, ...)
  if alone then return raw.lines(name, ...) end
  if name == nil then
    if from_stdin() then return stdin:lines() end
    return raw.lines()
  end
  local file, why = open_to_read(name, "r")
  if not file then error(("bad argument #1 to 'lines' (%s)"):format(why), 2) end
  local formats, n = { ... }, select("#", ...)
  return function()
    if not file then error("file is already closed", 2) end
    local line
    if n > 0 then line = file_read(file, unpack(formats, 1, n)) else line = file_read(file, "*l") end
    if line == nil then
      file:close()
      file = nil
    end
    return line
  end
end

-- io.input(name) and io.output(name) open files.
for direction, open in raw.next, { input = open_to_read, output = open_to_write } do
  local original, mode = raw[direction], direction == "input" and "r" or "w"
  io[direction] = function(file)
    if alone or type(file) ~= "string" then
      if file == nil then return original() end
      return original(file)
    end
    local opened, why = open(file, mode)
    if not opened then error(("bad argument #1 to '%s' (%s)"):format(direction, why), 2) end
    return original(opened)
  end
end

local function read_program()
  local text = read_stdin("*a")
  return loadstring(text:gsub("^#[^\n]*", "", 1), "=stdin")
end

function loadfile(name, ...)
  if alone or name ~= nil then return raw.loadfile(name, ...) end
  return read_program()
end

function dofile(name)
  if alone or name ~= nil then return raw.dofile(name) end
  local chunk, why = read_program()
  if not chunk then error(why, 0) end
  return chunk()
end

if not together.speaks then
  function print(...)
    for i = 1, select("#", ...) do -- it may have to wait for an array, with the other ranks
      if type(tostring((select(i, ...)))) ~= "string" then error("'tostring' must return a string to 'print'", 2) end
    end
  end
  io.stdout = raw.open(null, "w")
  io.stderr = raw.open(null, "w")
  raw.output(io.stdout)
end
