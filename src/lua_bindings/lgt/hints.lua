-- lgt/hints.lua - what Lua's own messages mean in a script with arrays.
--
-- LuaJIT must say `attempt to call field 'ones_lke' (a nil value)`, and string.format that it wants a number: scripts
-- may ask whether np.foo is nil, and Lua's functions know nothing of arrays.  But a message that ends a script is for a
-- person, who is told what was probably meant.  Nothing but that message is touched (see traceback in run.c).

local complete = require "lgt.complete"
local elsewhere = require "lgt.elsewhere"
local similar = require "lgt.similar"

local ITEM = "an array is no number to Lua, x:item() reads its only element"

-- Messages of Lua's own, and what they mean if an array is the reason.
local meanings = {
  { "number expected, got cdata", ITEM },
  { "'for' [%a ]+ must be a number", ITEM },
  { "table expected, got cdata", "an array is no table, x:totable() makes one, and x[1], x[2] are its rows" },
  { "string expected, got cdata", "tostring(x) is an array as text, x:item() its only element" },
  { "invalid value %(cdata%) at index %d+ in table for 'concat'", "tostring(x) is an array as text" },
  { "field '[%a_]+%d*_?' %(a string value%)", "a dtype is a string: x:astype(np.float32), {dtype = np.float32}" },
}

local function line_of(source, n)
  local text = source:match("^[^@=].*")
  local file = not text and source:match("^@") and io.open(source:sub(2))
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

-- The variables that the function which raised a message sees, and the text of the line.
local function find_frame(message)
  local place, line = message:match("^(.-):(%d+): ")
  for level = 2, 200 do
    local info = debug.getinfo(level, "Slf")
    if not info then return nil end
    if info.short_src == place and info.currentline == tonumber(line) then
      local scope = setmetatable({}, { __index = getfenv(info.func) })
      for i = 1, 255 do
        local name, value = debug.getupvalue(info.func, i)
        if name then scope[name] = value end
      end
      for i = 1, 255 do
        local name, value = debug.getlocal(level, i)
        if name then scope[name] = value end
      end
      return scope, line_of(info.source, info.currentline)
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
local function misspelt(message)
  local kind, name = message:match("(%a+) '([%a_][%w_]*)' %(a nil value%)")
  local separator = kind == "field" and "." or kind == "method" and ":"
  if not separator then return nil end
  local scope, text = find_frame(message)
  local best, least
  if elsewhere[name] and scope and (text or "np"):find("np", 1, true) then return "write " .. elsewhere[name] end
  for _, path in ipairs(scope and paths_before(name, separator, text) or {}) do
    local guess, differences = similar(name, complete.members(path, separator, scope))
    if guess and (not least or differences < least) then best, least = path .. separator .. guess, differences end
  end
  return best and ("did you mean %s?"):format(best)
end

local function explained(message)
  local hint = misspelt(message)
  for _, meaning in ipairs(meanings) do
    if not hint and message:find(meaning[1]) then hint = meaning[2] end
  end
  return hint and message .. ": " .. hint or message
end

local ranks = package.loaded["lgt.ranks"]

-- A message, with what was probably meant.  A rank that fails may be the only one: it asks no other.
---@param message string
---@return string
return function(message)
  if ranks then return ranks.alone(explained, message) end
  return explained(message)
end
