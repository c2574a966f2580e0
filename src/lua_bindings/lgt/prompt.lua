-- lgt/prompt.lua - what the prompt understands, and how it answers.
--
--   1 + 1                 an expression: its values are printed, and kept in _, __ and ___
--   x = np.zeros(3)       a statement; `local x = ...` makes a global too, lest it be gone with its line
--   x = x + 1; x          statements and an expression, whose values are printed
--   for i = 1, 3 do       what is not complete goes on in the next line
--   ?np.sum               what the sources say about it; also help(np.sum)
--   dofile("x.lua")       a script; its local variables are globals then, as are those of `lgt -i x.lua`
--   who()                 the variables: type, shape, dtype, bytes
--   timeit("np.sum(x)")   how long it takes; also timeit(f)
--
-- np and lgt are loaded when they are first used.
--
-- The loop is C (prompt.c): start(terminal), then read() -> chunk, which it calls, and show(values...) or
-- tidy(error), until read returns nil.  read returns false where there is nothing to call.  `terminal` has
-- line(prompt) and complain(message), and on a real terminal also remember, load, save and columns; it calls
-- terminal.complete.
--
-- On several ranks, rank 0 reads.  What it has read runs on all of them.
--
-- Ctrl-C must end any loop, and a compiled one does not look at hooks.  So functions that are loaded from now
-- on are interpreted, unless they belong to the libraries: LuaJIT tells of each new prototype (its "bc" event),
-- and the JIT compiler is switched off for it.  timeit compiles what it measures, after a first run.

local jit = require "jit"
local jutil = require "jit.util"
local show = require "lgt.show"
local slips = require "lgt.slips"
local sources = require "lgt.sources"

local ranks = package.loaded["lgt.ranks"] -- nil where this is the only rank

local prompt = {} -- text: the last input

local globals = getfenv(0)
local loadstring, type, select, tostring, rawset, rawget = loadstring, type, select, tostring, rawset, rawget
local print, setmetatable, getmetatable, ipairs = print, setmetatable, getmetatable, ipairs

local terminal
local standard = {} -- names that there were at the start
local hidden = {} -- these and others that who() leaves out

-- ---- interpreted, so that Ctrl-C works ----------------------------------------------------------------

local function is_users(prototype)
  local source = jutil.funcinfo(prototype).source
  return source ~= nil and not sources.is_library(source)
end

local expected = {} -- prototypes of a script that runs before the prompt (-i); compiled until then

local function note(prototype)
  if is_users(prototype) then expected[#expected + 1] = prototype end
end

local function interpret(prototype)
  if is_users(prototype) then jit.off(prototype) end
end

local function note_names()
  for name in next, globals do standard[name], hidden[name] = true, true end
end

-- Before the script of `lgt -i script`.
function prompt.expect()
  note_names()
  jit.attach(note, "bc")
end

local function interpret_users()
  jit.attach(note)
  for _, prototype in ipairs(expected) do jit.off(prototype) end
  if #expected > 0 then jit.flush() end
  expected = {}
  jit.attach(interpret, "bc")
end

-- ---- local variables of chunks ---------------------------------------------------------------------------

-- The local variables of the chunk that calls this become globals; of a script (not `typed`) only those that do not
-- bear a name of Lua's own, which the libraries use.  The chunk's functions keep their own.
function prompt.keep(typed)
  local i = 1
  while true do
    local name, value = debug.getlocal(2, i)
    if not name then return end
    if name:find("^[%a_]") and (typed or not standard[name]) then rawset(globals, name, value) end
    i = i + 1
  end
end

-- A text as a chunk that keeps its local variables when it comes to its end, or to the `return` there.
local function keeping(text, name, typed)
  local call = (' require("lgt.prompt").keep(%s) '):format(tostring(typed))
  local chunk = loadstring(text .. "\n" .. call, name)
  if chunk then return chunk end
  local places = {}
  for at in slips.code_of(text):gmatch("()%f[%w_]return%f[^%w_]") do places[#places + 1] = at end
  for i = #places, 1, -1 do
    local before = text:sub(1, places[i] - 1)
    if loadstring(before) then return (loadstring(before .. call .. text:sub(places[i]), name)) end
  end
end

-- All of a regular file; what comes through a pipe can be read once only.
local function contents(path)
  local script = io.open(path, "rb")
  local text = script and script:seek("end") and script:seek("set") and script:read("*a")
  if script then script:close() end
  return text
end

-- A script as a chunk that keeps its local variables; nil: it is to be loaded as usual.
function prompt.load(path)
  local text
  if ranks then text = ranks.alone(contents, path) else text = contents(path) end
  return text and text:byte() ~= 27 and keeping(text:gsub("^#[^\n]*", ""), "@" .. path, false) or nil
end

-- dofile where the prompt's own line calls it.
local function install_dofile()
  local dofile = rawget(globals, "dofile")
  rawset(globals, "dofile", function(...)
    local caller = debug.getinfo(2, "S")
    local typed = caller and caller.what == "main" and caller.source == "=stdin"
    local chunk = typed and type((...)) == "string" and prompt.load((...))
    if chunk then return chunk() end
    return dofile(...)
  end)
end

-- ---- timing --------------------------------------------------------------------------------------------

local function duration(seconds)
  for _, unit in ipairs { { 1, "s" }, { 1e-3, "ms" }, { 1e-6, "us" } } do
    if seconds >= unit[1] then return ("%.3g %s"):format(seconds / unit[1], unit[2]) end
  end
  return ("%.3g ns"):format(seconds * 1e9)
end

-- Seconds for `count` calls, and for the runtime to finish what they launched.
local function measure(f, count, lgt)
  local begin = lgt.time()
  for _ = 1, count do f() end
  lgt.fence()
  return lgt.time() - begin
end

-- Print how long a function or an expression takes: the median and the best of several measurements.  What
-- it launches is waited for.
---@param what function|string
local function timeit(what)
  local f = what
  if type(what) == "string" then
    local why
    f, why = loadstring("return " .. what, "=timeit")
    if not f then f, why = loadstring(what, "=timeit") end
    if not f then error(why, 0) end
  end
  if type(f) ~= "function" then error("timeit: a function or the text of an expression was expected", 2) end
  local lgt = require "lgt"
  measure(f, 1, lgt) -- Ctrl-C ends this one: it is interpreted
  local interpreted = is_users(f)
  if interpreted then jit.on(f, true) end
  local ok, why = pcall(function()
    local once, count = measure(f, 1, lgt), 1
    while once * count < 0.02 and count < 1e7 do
      count = count * 4
      once = measure(f, count, lgt) / count
    end
    local times = {}
    for i = 1, once * count > 1 and 3 or 7 do times[i] = measure(f, count, lgt) / count end
    table.sort(times)
    print(("%s a call (best %s; %d times %d calls)"):format(duration(times[(#times + 1) / 2]), duration(times[1]),
      #times, count))
  end)
  if interpreted then jit.off(f, true) end
  if not ok then error(why, 0) end
end

-- ---- names of the prompt ---------------------------------------------------------------------------------

local lazy = { np = "array", lgt = "lgt" }

local function ask(...) print(require("lgt.help").text(...)) end

local function install_names()
  if next(standard) == nil then note_names() end
  for _, name in ipairs { "who", "help", "timeit", "_", "__", "___", "np", "lgt" } do hidden[name] = true end
  local names = {
    who = function() print(show.who(globals, hidden)) end,
    help = ask,
    timeit = timeit,
  }
  for name, value in next, names do
    if rawget(globals, name) == nil then rawset(globals, name, value) end
  end
  if getmetatable(globals) == nil then
    setmetatable(globals, { __index = function(_, name)
      if not lazy[name] then return nil end
      local module = require(lazy[name])
      rawset(globals, name, module)
      return module
    end })
  end
end

-- ---- history -----------------------------------------------------------------------------------------------

local function history_file()
  local home = os.getenv("HOME")
  local state = os.getenv("XDG_STATE_HOME") or home and home .. "/.local/state"
  return state and state .. "/lgt/history"
end

local file -- nil: history is not kept

local function load_history()
  file = history_file()
  if not file or terminal.load(file) then return end
  os.execute("mkdir -p '" .. file:match("^(.*)/"):gsub("'", "'\\''") .. "' 2>/dev/null")
end

-- ---- reading -----------------------------------------------------------------------------------------------

-- What is asked about: ?np.sum, np.sum?
local function question_in(text)
  return text:match("^%s*%?%s*(.-)%s*$") or text:match("^%s*([%a_][%w_.:]*)%s*%?%s*$")
end

-- May more lines help?  A string in quotes ends with its line; luajit, which a pipe gets, asks for more.
local function is_incomplete(message, text)
  if message:sub(-7) ~= "'<eof>'" then return false end
  if not terminal.remember or not message:find(": unfinished string near ", 1, true) then return true end
  local _, with_line = loadstring(text .. "\n", "=stdin")
  return with_line == nil or with_line:sub(-7) == "'<eof>'"
end

local leading -- values before those of an expression, in what the last chunk returns

local function typed_chunk(text)
  local declares = slips.code_of(text):find("%f[%w_]local%f[^%w_]")
  return declares and keeping(text, "=stdin", true) or loadstring(text, "=stdin")
end

-- Statements and, behind a semicolon, an expression: for Lua that is the beginning of a statement, or the call of a
-- function whose values nobody wants.
local function with_values(text)
  local places = {}
  for at in slips.code_of(text):gmatch("();") do places[#places + 1] = at end
  for i = #places, 1, -1 do
    local behind = text:sub(places[i] + 1)
    if loadstring("return 0, " .. behind) then
      local before = text:sub(1, places[i])
      return loadstring(before) and before:find("[^%s;]") and typed_chunk(before .. " return nil, " .. behind)
    end
  end
end

-- The chunk, or nil, why not, and whether more lines may help.  With a value ahead of it, the call in `f(x)`
-- is no tail call, which would lose its line.
local function compile(text)
  leading = 1
  local chunk, why = loadstring("return nil, " .. text:gsub("^=", "", 1), "=stdin")
  chunk = chunk or with_values(text)
  if chunk then return chunk end
  leading = 0
  local incomplete = is_incomplete(why, text)
  chunk, why = loadstring(text, "=stdin")
  if chunk then return typed_chunk(text) end
  return nil, why, incomplete or is_incomplete(why, text)
end

-- Saved at once: os.exit, or a crash, ends the process without asking.
local function remember(line)
  if not terminal.remember or not line:find("%S") then return end
  terminal.remember(line)
  if file then terminal.save(file) end
end

local function read_line(name, default)
  local text = rawget(globals, name)
  text = (type(text) == "string" or type(text) == "number") and tostring(text) or default
  local line, why = terminal.line(text)
  if line then remember(line) end
  return line, why
end

local function end_of_input(interrupted)
  if interrupted then return false end
  return nil
end

-- The text of a whole chunk; false: nothing to call; nil: the end.
local function read_text()
  local text, interrupted = read_line("_PROMPT", "> ")
  if not text then return end_of_input(interrupted) end
  if question_in(text) then return text end
  while true do
    local chunk, why, incomplete = compile(text)
    if chunk then return text end
    local hint = terminal.remember and (incomplete and slips.in_open(text) or not incomplete and slips.meant(text))
    if not incomplete or hint then
      terminal.complain(hint and ("%s: %s"):format(why, hint) or why)
      return false
    end
    local line
    line, interrupted = read_line("_PROMPT2", ">> ")
    if not line and terminal.remember and not interrupted then -- Ctrl-D gives the input up, as Ctrl-C does
      print()
      return false
    end
    if not line then return end_of_input(interrupted) end
    text = text .. "\n" .. line
  end
end

if ranks then
  local alone = read_text
  read_text = ranks.shared("the prompt", function() return ranks.alone(alone) end)
end

-- The next chunk; false: nothing to call; nil: the end.
function prompt.read()
  local text = read_text()
  if not text then return text end
  prompt.text = text
  local question = question_in(text)
  if not question then return (compile(text)) end
  leading = 0
  return function() print(require("lgt.help").text(question)) end
end

-- ---- answering -----------------------------------------------------------------------------------------------

-- What to say about nil, where a name was asked for that the libraries do not have.
local function about_nil()
  local word = (prompt.text or ""):match("^%s*=?%s*([%a_][%w_]*)%s*$")
  if word and slips.words[word] then return " -- write " .. slips.words[word] end
  local path, name = (prompt.text or ""):match("^%s*=?%s*([%a_][%w_.]*)%.([%a_][%w_]*)%s*$")
  if not path or not lazy[path:match("^[^.]*")] then return "" end
  local hint
  local meant = require "lgt.meant"
  if ranks then hint = ranks.alone(meant, path, ".", name, globals) else hint = meant(path, ".", name, globals) end
  return hint and " -- " .. hint or ""
end

-- Print the values of a chunk, and keep the first.
function prompt.show(...)
  local count = select("#", ...) - leading
  if count == 0 then return end
  local first, words = select(1 + leading, ...), {}
  if count == 1 and first ~= nil and rawequal(first, ask) then return ask() end
  for i = 1, count do words[i] = show.value((select(i + leading, ...))) end
  if count == 1 and rawequal(first, nil) and terminal.remember then words[1] = words[1] .. about_nil() end
  local line = table.concat(words, "\t")
  print(line:find("\n", 1, true) and table.concat(words, "\n") or line)
  if rawequal(first, nil) then return end
  rawset(globals, "___", rawget(globals, "__"))
  rawset(globals, "__", rawget(globals, "_"))
  rawset(globals, "_", first)
end

-- An error as a person wants to see it: without the frames of the libraries, and without a traceback that says
-- nothing more than the message.  A pipe gets what luajit would write.
function prompt.tidy(message)
  local text, frames = tostring(message):match("^(.*)\nstack traceback:\n(.*)$")
  if not text or not terminal.remember then return message end
  local kept = {}
  for frame in (frames .. "\n"):gmatch("([^\n]*)\n") do
    local place = frame:match("^\t(.-):%d+: ")
    if not (place and sources.is_library("@" .. place)) and not frame:match("^\t%[") then kept[#kept + 1] = frame end
  end
  if #kept <= 1 then return text end
  return text .. "\nstack traceback:\n" .. table.concat(kept, "\n")
end

function prompt.start(functions)
  terminal = functions
  terminal.complete = function(before)
    return require("lgt.complete").line(before, globals, terminal.columns())
  end
  install_names()
  install_dofile()
  if ranks then -- before the completer, on rank 0 alone, might
    for name, library in next, lazy do rawset(globals, name, require(library)) end
  end
  interpret_users()
  if not terminal.load then return end
  if ranks then ranks.alone(load_history) else load_history() end
  print("?name explains, who() lists your variables, TAB completes, Ctrl-C interrupts, Ctrl-D ends.")
end

return prompt
