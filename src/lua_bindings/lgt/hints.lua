-- lgt/hints.lua - what Lua's own messages mean in a script with arrays.
--
-- LuaJIT must say `attempt to call field 'ones_lke' (a nil value)`, and string.format that it wants a number: scripts
-- may ask whether np.foo is nil, and Lua's functions know nothing of arrays.  But a message that ends a script is for a
-- person, who is told what was probably meant.  Nothing but that message is touched (see traceback in run.c).

local complete = require "lgt.complete"
local meant = require "lgt.meant"
local show = require "lgt.show"
local similar = require "lgt.similar"
local slips = require "lgt.slips"

local ITEM = "an array is no number to Lua, x:item() reads its only element"

-- Messages of Lua's own, whole, and what they mean if an array is the reason.
local meanings = {
  { "bad argument #%d+ to '[^']+' %(number expected, got cdata%)$", ITEM },
  { "bad argument #%d+ to '[^']+' %(table expected, got cdata%)$",
    "an array is no table, x:totable() makes one, and x[1], x[2] are its rows" },
  { "bad argument #%d+ to '[^']+' %(string expected, got cdata%)$",
    "tostring(x) is an array as text, x:item() its only element" },
  { "invalid value %(cdata%) at index %d+ in table for 'concat'$", "tostring(x) is an array as text" },
}

-- Line n of a chunk.  Only a regular file can be read again: a pipe has no end until its writers close it.
local function line_of(source, n, is_file)
  local text = source:match("^[^@=].*")
  local prompt = source == "=stdin" and package.loaded["lgt.prompt"]
  if prompt then text = prompt.text end
  local path = source:match("^@(.*)")
  local file = path and is_file(path) and io.open(path)
  if file then
    text = file:read("*a")
    file:close()
  end
  if not text then return nil end
  local at = 0
  for line in (text .. "\n"):gmatch("([^\n]*)\n") do
    at = at + 1
    if at == n then return line end
  end
end

-- Where a message was raised: `scope`, the variables that the function sees; `text` of the line, if it can be had;
-- whether an `array` is among the values that have no names.
local function find_frame(message, is_file)
  local place, line = message:match("^(.-):(%d+): ")
  for level = 2, 200 do
    local info = debug.getinfo(level, "Slf")
    if not info then return nil end
    if info.short_src == place and info.currentline == tonumber(line) then
      local scope, array = setmetatable({}, { __index = getfenv(info.func) }), false
      for i = 1, 255 do
        local name, value = debug.getupvalue(info.func, i)
        if name then scope[name] = value end
      end
      for i = 1, 255 do
        local name, value = debug.getlocal(level, i)
        if not name then break end
        scope[name] = value
        array = array or (name:find("^%(") and show.is_array(value))
      end
      return { scope = scope, text = line_of(info.source, info.currentline, is_file), array = array }
    end
  end
end

-- What stands before a name in a line; where there is no text, as at the prompt, what may.
local function paths_before(name, separator, text)
  local found = {}
  for path in (text or ""):gmatch("([%a_][%w_.]*)%" .. separator .. name .. "%f[^%w_]") do found[#found + 1] = path end
  return text and found or { "np", "np.linalg", "np.random", "np.fft", "lgt" }
end

-- The member of a table that is spelt nearly as the one that is nil.
local function misspelt(message, frame)
  local kind, name = message:match(": attempt to [%a ]+ (%a+) '([%a_][%w_]*)' %(a nil value%)$")
  local separator = kind == "field" and "." or kind == "method" and ":"
  if not separator then return nil end
  local best, least
  for _, path in ipairs(paths_before(name, separator, frame.text)) do
    local guess, differences = meant(path, separator, name, frame.scope)
    if guess and (not least or differences < least) then best, least = guess, differences end
  end
  return best
end

-- A function that Python has among its globals, or one of Lua's that is spelt nearly so.
local function called_global(message, frame)
  local name = message:match(": attempt to call global '([%a_][%w_]*)' %(a nil value%)$")
  if not name then return nil end
  if slips.words[name] then return "write " .. slips.words[name] end
  local guess = similar(name, getmetatable(frame.scope).__index)
  return guess and ("did you mean %s?"):format(guess)
end

local function called_dtype(message, frame)
  local name = message:match(": attempt to call field '([%a_][%w_]*)' %(a string value%)$")
  for _, path in ipairs(name and paths_before(name, ".", frame.text) or {}) do
    if rawequal(complete.look(frame.scope, path), package.loaded.array) then
      return "a dtype is a string: x:astype(np.float32), {dtype = np.float32}"
    end
  end
end

local function explained(message, is_file)
  local frame = find_frame(message, is_file)
  local hint = frame and (misspelt(message, frame) or called_global(message, frame) or called_dtype(message, frame))
  if frame and frame.array and message:find(": 'for' [%a ]+ must be a number$") then hint = ITEM end
  for _, meaning in ipairs(meanings) do
    if message:find(": " .. meaning[1]) then hint = meaning[2] end
  end
  return hint and message .. ": " .. hint or message
end

local ranks = package.loaded["lgt.ranks"]

-- A message, with what was probably meant.  A rank that fails may be the only one: it asks no other.
---@param message string
---@param is_file fun(path: string): boolean regular ones
---@return string
return function(message, is_file)
  if ranks then return ranks.alone(explained, message, is_file) end
  return explained(message, is_file)
end
