-- lgt/help.lua - help at the prompt: what the sources say about a function, a module, an array.

local meant = require "lgt.meant"
local show = require "lgt.show"
local slips = require "lgt.slips"
local sources = require "lgt.sources"

local help = {}

local ABOUT = [[
?name      explains a function, module or variable: ?np.sum, ?lgt.stats, x?; help(f) does too
?part      lists what has this in its name: ?reshape
who()      your variables: type, shape, dtype, bytes
timeit(f)  how long a function takes, or an expression: timeit("np.sum(x)")
dofile(f)  runs a script and keeps its local variables, as lgt -i f does
_ __ ___   the last results
TAB        completes names, of files in strings;  Ctrl-R searches in what you typed before

np is `require "array"`, lgt is `require "lgt"`: write these lines in a script.
np.NAME is NumPy's function NAME; indices count from 1 and include both ends.]]

local MANY = 60 -- names to list

local STANDARD = { string = 1, table = 1, math = 1, io = 1, os = 1, coroutine = 1, debug = 1, package = 1 }
local EXTENSIONS = { bit = "ext_ffi", ffi = "ext_ffi_api", jit = "ext_jit" }

-- ---- entries -------------------------------------------------------------------------------------------------

local function wrap(words, width, indent)
  local lines, line = {}, ""
  for word in words:gmatch("%S+") do
    if #line + #word + 1 > width and line ~= "" then
      lines[#lines + 1] = line
      line = ""
    end
    line = line == "" and word or line .. " " .. word
  end
  if line ~= "" then lines[#lines + 1] = line end
  return indent .. table.concat(lines, "\n" .. indent)
end

local function rows_of(entry)
  local rows = {}
  for _, p in ipairs(entry.params) do rows[#rows + 1] = { p.name, p.type, p.text } end
  for _, r in ipairs(entry.returns) do rows[#rows + 1] = { "returns", r.type, r.text } end
  local width, type_width = 0, 0
  for _, row in ipairs(rows) do
    width, type_width = math.max(width, #row[1]), math.max(type_width, #row[2])
  end
  local lines = {}
  for _, row in ipairs(rows) do
    local line = ("  %-" .. width .. "s  %-" .. math.min(type_width, 40) .. "s  %s"):format(row[1], row[2], row[3])
    lines[#lines + 1] = line:gsub("%s+$", "")
  end
  return lines
end

local function entry_text(entry, name)
  name = name or entry.name
  local lines = { entry.parameters and ("%s(%s)"):format(name, entry.parameters) or name }
  if #entry.text > 0 then
    lines[#lines + 1] = ""
    for _, line in ipairs(entry.text) do lines[#lines + 1] = "  " .. line end
  end
  local rows = rows_of(entry)
  if #rows > 0 then lines[#lines + 1] = "" end
  for _, row in ipairs(rows) do lines[#lines + 1] = row end
  lines[#lines + 1] = ("\n  (%s, line %d)"):format(entry.file, entry.line)
  return table.concat(lines, "\n")
end

local OPERANDS = { "x", "x, y", "x, y, z" }

local function ufunc_text(u, name)
  local operands = OPERANDS[u.nin] or "..."
  local text = ("%s(%s, {out, where, dtype})\n\n"):format(name or "np." .. tostring(u.name), operands)
  local entry = sources.index()["np." .. tostring(u.name)]
  if entry and #entry.text > 0 then text = text .. "  " .. table.concat(entry.text, "\n  ") .. "\n\n" end
  return text .. wrap(("An elementwise function of %d operand%s, arrays or numbers, with broadcasting. It fuses " ..
    "with what surrounds it. Options: out, an array for the result; where, a boolean array; dtype, of the result. " ..
    "It is NumPy's function of the same name."):format(u.nin, u.nin == 1 and "" or "s"), 76, "  ")
end

local function is_ufunc(x)
  local np = package.loaded.array
  return type(x) == "table" and np and rawget(x, "name") ~= nil and np.ufuncs[rawget(x, "name")] == x
end

local function array_text(x, name)
  local core = require "array.core"
  local why = core.lgt.why_gone(x)
  if why then return ("%s: %s"):format(name or "an array", why) end
  return ("%s: an array of shape %s, dtype %s, %d bytes\n\n%s"):format(name or "this",
    core.shape_text(core.shape_of(x)), x.dtype, tonumber(x.nbytes),
    wrap("x:name(...) calls what np.name(x, ...) does; TAB after x: lists the methods. lgt.explain(x) tells " ..
      "how it was made.", 76, "  "))
end

-- The names of the index that begin with `prefix`, without it.
local function names_under(prefix)
  local names = {}
  for name in pairs(sources.index()) do
    if name:sub(1, #prefix) == prefix and not name:find("[.:]", #prefix + 1) then
      names[#names + 1] = name:sub(#prefix + 1)
    end
  end
  return names
end

local function module_text(x, name)
  local module
  for loaded, value in pairs(package.loaded) do
    if rawequal(value, x) and (not module or #loaded < #module) and loaded ~= "_G" then module = loaded end
  end
  local prefix = (module == "array" and "np" or name or module or "") .. "."
  local names, seen = names_under(prefix), {}
  for _, n in ipairs(names) do seen[n] = true end
  for n, value in pairs(x) do
    if type(n) == "string" and not seen[n] and n:match("^%a") and
      (type(value) == "function" or type(value) == "table") then
      names[#names + 1] = n
    end
  end
  if #names == 0 or (not module and #names < 3) then return nil end
  table.sort(names)
  local about = module and sources.of_module(module)
  return (about or (name or "this") .. " has") .. "\n\n" .. wrap(table.concat(names, " "), 76, "  ")
end

-- ---- finding what is meant --------------------------------------------------------------------------------------

-- The value of a path such as np.random.rand or x:sum, without calling anything but __index of libraries.
local function resolve(path)
  local value = getfenv(0)
  for separator, key in ("." .. path):gmatch("([.:])([%a_][%w_]*)") do
    if show.is_array(value) then
      local core = require "array.core"
      value = separator == ":" and core.methods[key] or core.getters[key] or core.methods[key]
    else
      local ok, found = pcall(function() return value[key] end)
      if rawequal(found, nil) and rawequal(value, getfenv(0)) and (key == "sparse" or key == "solvers") then
        found = require(key) -- not loaded yet, but known by this name
      end
      value = ok and found or nil
    end
    if rawequal(value, nil) then return nil end
  end
  return value
end

local function standard_text(value)
  for library, t in pairs(package.loaded) do
    if STANDARD[library] or library == "_G" or EXTENSIONS[library] then
      for name, f in pairs(t) do
        if rawequal(f, value) then
          local full = library == "_G" and name or library .. "." .. name
          if EXTENSIONS[library] then
            return ("%s: a function of LuaJIT, https://luajit.org/%s.html"):format(full, EXTENSIONS[library])
          end
          return ("%s: a function of Lua, https://www.lua.org/manual/5.1/manual.html#pdf-%s"):format(full, full)
        end
      end
    end
  end
end

local function value_text(value, name)
  if show.is_array(value) then return array_text(value, name) end
  if is_ufunc(value) then return ufunc_text(value, name) end
  if type(value) == "function" then
    local entry = sources.of_function(value)
    if entry then return entry_text(entry, name) end
    return standard_text(value) or (name or "this") .. ": a function; its source is not at hand"
  end
  if type(value) == "table" then
    local text = module_text(value, name)
    if text then return text end
  end
  return ("%s: %s"):format(name or type(value), show.value(value))
end

-- Names that contain `part`.
local function similar(part)
  local found = {}
  for name in pairs(sources.index()) do
    if name:lower():find(part:lower(), 1, true) then found[#found + 1] = name end
  end
  local np = package.loaded.array
  for name in pairs(np and np.ufuncs or {}) do
    local full = "np." .. name
    if name:lower():find(part:lower(), 1, true) and not sources.index()[full] then found[#found + 1] = full end
  end
  table.sort(found)
  return found
end

-- What x:sum is, of an array x: what the sources say about arrays' sum, or np.sum.
local function method_text(name)
  local object, method = name:match("^(.*):([%a_][%w_]*)$")
  if not object or not show.is_array(resolve(object)) then return nil end
  local entry = sources.index()["array:" .. method] or sources.index()["np." .. method]
  return entry and #entry.params > 0 and entry_text(entry)
end

-- Where there is nothing of this name: what was meant, and what has it in its name.
local function absent_text(name)
  local path, separator, key = name:match("^(.*)([.:])([%w_]+)$")
  require "array" -- has names of its own to search
  local found = similar(key or name)
  if #found == 1 then return nil, found[1] end
  local hint = slips.words[name] and "write " .. slips.words[name]
  if path then hint = meant(path, separator, key, getfenv(0))
  elseif not hint and #name > 3 then hint = meant("np", ".", name, { np = package.loaded.array }) end
  local text = ("there is no %s%s"):format(name, hint and ": " .. hint or "")
  if #found == 0 then return text end
  if #found > MANY then return ("%s; %d names have it in them: ask for a longer part"):format(text, #found) end
  return ("%s; names with it:\n%s"):format(text, wrap(table.concat(found, "  "), 76, "  "))
end

local function name_text(name)
  name = name:gsub("%(.*%)$", ""):gsub("%s", "")
  if name == "array" and rawget(getfenv(0), "array") == nil then name = "np" end -- as in require "array"
  if not name:match("^[%a_][%w_.:]*$") then
    return ("%s is no name: ?np.sum, ?x, or ? alone"):format(name)
  end
  local method = method_text(name)
  if method then return method end
  local value = resolve(name)
  local entry = sources.index()[name]
  if type(value) == "table" and not is_ufunc(value) then
    local text = module_text(value, name)
    if text then return text end
  end
  if is_ufunc(value) or not entry then
    if not rawequal(value, nil) then return value_text(value, name) end
  elseif entry then
    return entry_text(entry, name)
  end
  local text, only = absent_text(name)
  return text or name_text(only)
end

-- What help(x) prints: about a value, or about a name if it is a string; about the prompt without arguments.
---@param ... any
---@return string
function help.text(...)
  if select("#", ...) == 0 then return ABOUT end
  local x = ...
  if x == "" then return ABOUT end
  if type(x) == "string" then return name_text(x) end
  return value_text(x)
end

return help
