-- test_check.lua - lgt --check: what it must say, what it must not, and that its parser reads Lua as LuaJIT does.
--
-- In the scripts below a line that must be reported ends in `--! part of the message`; all others must not be.

local directory = arg[0]:match("^(.*/)")
local check = dofile(directory .. "check.lua")
local jutil = require "jit.util"
local vmdef = require "jit.vmdef"
local bit = require "bit"
local syntax = require "lgt.syntax"

local root = directory .. "../../"

-- ---- whole scripts -------------------------------------------------------------------------------------

-- What lgt --check prints about a text, as {line = message}, and its exit status.
local function run(text)
  local path = os.tmpname()
  local file = io.open(path, "w")
  file:write(text)
  file:close()
  local pipe = io.popen(("'%s' --check '%s' 2>&1; echo status $?"):format(arg[-1], path))
  local found, status = {}, nil
  for line in pipe:lines() do
    local at, message = line:match("^" .. path:gsub("%p", "%%%0") .. ":(%d+): (.*)$")
    if at then
      found[tonumber(at)] = (found[tonumber(at)] or "") .. message .. "\n"
    else
      status = line:match("^status (%d+)$") or error("unexpected: " .. line)
    end
  end
  pipe:close()
  os.remove(path)
  return found, tonumber(status)
end

-- Reports must be exactly where the text says.
local function expect(text)
  local found, status = run(text)
  local n, wanted = 0, false
  for line in (text .. "\n"):gmatch("([^\n]*)\n") do
    n = n + 1
    local message = line:match("%-%-! (.*)$")
    wanted = wanted or message ~= nil
    if message and not (found[n] and found[n]:find(message, 1, true)) then
      error(("line %d, %q: %q was wanted, got %s"):format(n, line, message, tostring(found[n])), 2)
    end
    if not message and found[n] then error(("line %d, %q: %s"):format(n, line, found[n]), 2) end
  end
  check.equal(status, wanted and 1 or 0)
end

check.case("truth tests", function()
  expect [[
local np = require "array"
local a, b = np.zeros(3), np.ones(3)
if a then print(1) end --! always true
if a:gt(b) then print(1) elseif b then print(2) end --! always true
while a:lt(b) do a = a + 1 end --! always true
repeat a = a + 1 until a:eq(b) --! always true
local c = not a --! always true
local d = a:gt(0) and 1 or 2 --! always true
print(b and c, d) --! always true
if c == nil or (a - b) then print(3) end --! always true
local s = a:sum()
if s then print(s) end --! always true
if np.exp(a) then print(4) end --! always true
local view = a["1:2"]
if view then print(view) end --! always true
local f = np.fuse(function(x) return x + 1 end)
if f(a) then print(5) end --! always true
local function g(x, y)
  if x:gt(y) then return x end --! always true
  return y
end
g(a, b)
]]
end)

check.case("truth tests of numbers", function()
  expect [[
local np = require "array"
local x, flags, n = np.arange(3), np.zeros(3, "bool"), 3
local s = x:sum()
if s:item() then print(1) end --! write x:item() ~= 0
if s() then print(2) end --! write x() ~= 0
while x(1) do x = x - 1 end --! write x(i) ~= 0
if not np.count_nonzero(x) then print(3) end --! write np.count_nonzero(...) ~= 0
print((x[1] * 2):item() and 4 or 5) --! write x:item() ~= 0
if np.array({ 1, 0 })[n]:item() then print(6) end --! ~= 0
if flags[1]:item() or flags(2) or x:gt(1)[1]:item() or x:gt(0)(1) then print(7) end
if s:item() ~= 0 and x(1) == 0 or x:any() then print(8) end
local function f(y) return y:item() and 1 or y() and 2 end
local either = np.array { true, false }
if either[1]:item() or either:max():item() or np.full(3, true)(1) then print(f(x)) end
local m = np.zeros(3, { dtype = "bool" })
if m(1) or m:copy():item() then print(9) end
]]
end)

check.case("tests that are none of arrays", function()
  expect [[
local np = require "array"
local a, b = np.zeros(3), np.ones(3)
if np.any(a:gt(b)) or np.all(a:lt(b)) then print(1) end
if a:any() and not b:all() then print(1) end
if a:sum() < b:sum() then print(1) end
while (a:dot(b)):sqrt() > 1e-3 do a = a / 2 end
if np.allclose(a, b) or np.array_equal(a, b) then print(2) end
if a == nil then print(3) end
if #a > 2 and a.ndim == 1 then print(4) end
if a:item() ~= 0 then print(5) end
local cache
local function get()
  if not cache then cache = np.zeros(3) end
  return cache
end
get()
local function h(x, mask)
  x = x or np.zeros(3)
  mask = mask or x:gt(0)
  if x and mask then return x end
  return nil
end
h()
local maybe = np.zeros(3)
if os.time() > 0 then maybe = nil end
if maybe then print(maybe) end
local n = 3
if n then print(n) end
for i = 1, 3 do if i then print(i) end end
if np.exp(2) then print(6) end
local t = {a = a}
if t.a then print(7) end
local result = a:totable()
if result then print(result) end
]]
end)

check.case("comparisons of other objects", function()
  expect [[
local np = require "array"
local Set = {}
Set.__index = Set
function Set:eq(other) return self.n == other.n end
function Set.lt(a, b) return a.n < b.n end
local function use(x, y)
  if x:eq(y) or x:lt(y) then return 2 * x:lt(y) end
  return x
end
use(setmetatable({}, Set), np)
]]
  expect [[
local function use(x, y)
  if x:gt(y) then return x * y:gt(x) end
  return x
end
use()
]]
end)

check.case("fused functions do not branch", function()
  expect [[
local np = require "array"
local a, scale = np.ones(3), 2
local relu = np.fuse(function(x)
  if x:gt(0) then return x end --! an element is always true
  local y = x * scale
  if scale == 2 and y == 1 then return y end --! == and ~= do not look at elements
  if scale == nil or scale > 3 then return 0 end
  return y % 2 and 1 or 0 --! an element is always true
end)
local fine = np.fuse(function(x, y) return np.where(x:eq(y), x, y) end)
local function plain(x) return x == 1 and 2 or 3 end
print(relu(a), fine(a, a), plain(3))
]]
end)

check.case("a method binds before an operator", function()
  expect [[
local np = require "array"
local a, b, c = np.zeros(3), np.ones(3), np.ones(3)
local m = a*b:gt(c) --! binds before
local n, count = 0, {}
for i = 1, 3 do n = n + a[i]:eq(b[i]) end
local function both(x, y) return (x:gt(1) + x:lt(0)) * y:eq(1), (x + y) * y:eq(1) end --! binds before
print(count[np.argmax(a)], ({ 1, 2 })[b[1] ]) --! t[x:item()]
print(count[n], count[np.argmax(a):item()], a[b:gt(1)], len(n), count[both]) --! write #x
m = a + b:lt(1) --! binds before
m = a - b - c:ge(1) --! binds before
m = a / b:eq(1) --! binds before
m = -a:gt(b) --! binds before
m = m * a ^ b:ne(2) --! binds before
local function f(x, y) return x * y:gt(0) end --! binds before
f(a, b)
m = (a*b):gt(c)
m = a*(b:gt(c))
m = a:gt(0) * b:gt(c) + c:lt(1)
m = 1 - a:gt(0)
local inside = a:ge(0)
m = inside * b:gt(c)
m = -a:exp() + b:sum() * a:sqrt()
m = a * b:gt(c):sum()
print(m, "a*b:gt(c)")
]]
end)

check.case("axes", function()
  expect [[
local np = require "array"
local a = np.zeros(3, 4)
print(np.sum(a, {axis = 0})) --! axes count from 1
print(a:sum({axis = 0})) --! axes count from 1
print(a:mean{axis = 0, keepdims = true}) --! axes count from 1
print(np.sum(a, 0), a:sum(1)) --! axes count from 1
print(a:max(0)) --! axes count from 1
print(np.sum(a, {axis = {0, 1}})) --! axes count from 1
local function norm(x) return x:sum{axis = 0} end --! axes count from 1
norm(a)
print(np.sum(a, {axis = 1}), a:sum(-1), np.full({2}, 0), a:reshape(-1), np.zeros(0))
local plot = {axis = 0}
print(plot.axis, {axis = 0})
]]
end)

check.case("positions", function()
  expect [[
local np = require "array"
local ffi = require "ffi"
local a = np.zeros(3, 4)
print(a[0]) --! positions count from 1
print(a[{0, 1}]) --! positions count from 1
print(a(0, 1)) --! positions count from 1
print(a["0:2, :"]) --! positions count from 1
print(a["1:2, 0"]) --! positions count from 1
print(a[{{0, 2}, {}}]) --! positions count from 1
a[0] = 1 --! positions count from 1
print(a[1], a[-1], a["1:2, ::2"], a["-1, 10:20"], a[{{1, 0}, {}}], a["2:0, :"])
local p = ffi.new("double[3]")
p[0] = 1
local t = {[0] = 1}
print(p[0], t[0])
a:host("rw", function(q) q[0] = 1 end)
]]
end)

check.case("names", function()
  expect [[
local np = require "array"
local lgt = require "lgt"
local a = np.zeross(3) --! did you mean np.zeros
print(pritn, a) --! did you mean print
lgt.fencee() --! did you mean lgt.fence
print(np.random.rand(3), np.pi, np.save, lgt.stats())
local b = np.zeros(3)
print(b:summ()) --! did you mean :sum
tabel.concat({}) --! did you mean table
counter = counter_start --! never defined
counter = counter + 1
function helper() return helper_value end
helper_value = 1
print(helper(), arg, ..., _VERSION, jit.version, bit.band(1, 2))
np.own = function() return 1 end
print(np.own())
np.cumsm(b) --! did you mean np.cumsum
print(np.mgrid, b:tolist()) --! write a:totable()
np.linalg.slove(b, b) --! did you mean np.linalg.solve
print(np.add.reduce(b), np.linalg.norm(b), np.fft.fft(b))
print(b.sum()) --! methods are called with a colon: x:sum(...)
print(b.shape[1], b.T:sum(), b.dtype)
print(b.shap) --! arrays have no attribute "shap": did you mean .shape
print(b.view) --! arrays have no attribute "view"
print(b.flat) --! write a:ravel()
print(b["2:"], b["shape"], b.sum, ({ b }).view)
]]
  expect [[
local np = require "array"
np.extend("view", function(a) return a end)
print(np.ones(3).view)
]]
  expect "print(np.zeros(3)) --! local np = require \"array\""
end)

check.case("options", function()
  expect [[
local np = require "array"
local a = np.zeros(3, { dtyp = "int32" }) --! np.zeros: unknown option dtyp: did you mean dtype?
local b = np.zeros({2, 3}, { dtype = "int32", order = "C" })
print(np.sum(a, { axs = 1 }), np.sum(b, { axis = 1, --! unknown option axs: did you mean axis?
  keepdim = true })) --! np.sum: unknown option keepdim: did you mean keepdims?
print(a:mean { axis = 1, keepdims = true }, a:mean { axis = 1, weights = 3 }) --! mean: unknown option weights: it takes
print(np.add(a, b, { output = a }), np.add(a, b, { out = b, where = a:gt(0), dtype = "f8" })) --! option output
print(np.linspace { start = 0, stop = 1, number = 5 }, np.linspace(0, 1, { num = 3 })) --! np.linspace: unknown option
print(np.linalg.norm(a, { order = 2 }), np.random.normal { size = 5 }, np.loadtxt("x", { skip_rows = 1 })) --! skip_rows
print(np.random.normal(0, 1, { sizes = 3 }), np.sort(a, { kind = "stable" })) --! unknown option sizes
local own = { dtyp = 1 }
np.savez("x.npz", { dtyp = a })
np.own = function() return 1 end
print(own, np.own({ axs = 1 }), np.einsum("i,i", a, a), np.zeros(3, own))
]]
end)

check.case("numbers that Lua wants", function()
  expect [[
local np = require "array"
local a = np.arange(3)
print(("%d %.3f"):format(3, a:sum())) --! x:item() reads its only element
print(string.format("%5.1f", np.mean(a))) --! x:item()
print(math.floor(a:sum())) --! x:item()
print(tonumber(a[1])) --! x:item()
for i = 1, a:max() do print(i) end --! x:item()
print(("%s %d%%, %s"):format(a, 3, a:sum()), ("%d"):format(a:sum():item()), ("%g"):format(a(1)))
print(math.floor(a:sum()()), tonumber(a:item()), string.format("%s", a))
for i = 1, #a do print(i) end
for i = 1, a.shape[1] do print(i) end
]]
end)

check.case("globals that may be defined", function()
  expect [[
local unpack = unpack or table.unpack
if utf8 then print(utf8.char(1)) end
local has_bit32 = bit32 ~= nil and bit32.band
if type(sometimes) == "function" then sometimes() end
_G.defined_here = 1
print(defined_here, unpack, has_bit32)
for name in pairs(_G) do print(name) end
]]
  expect "_G[('x'):rep(2)] = 1\nprint(xx)"
  expect "setfenv(1, {print = print, other = 1})\nprint(other)"
  expect "setmetatable(_G, {__index = function() return 1 end})\nprint(anything)"
  expect "module('m', package.seeall)\nprint(anything)"
  expect "dofile('elsewhere.lua')\nprint(anything)"
  expect "require 'lfs'\nprint(lfs.currentdir())"
  expect "x = = 1 --! unexpected symbol"
  expect "local np = require 'array'\nprint(np.ones(3)[1:2]) --! slices are strings"
  expect "local np = require 'array'\nnp.extend('cube', function(a) return a ^ 3 end)\nprint(np.ones(2):cube())"
end)

check.case("what is no script", function()
  local function says(command, wanted)
    local pipe = io.popen(("export LGT='%s'; (%s) 2>&1; echo status $?"):format(arg[-1], command))
    local text = pipe:read("*a")
    pipe:close()
    check.that(text:find(wanted), text)
  end
  says("$LGT --check /no/such/file.lua", "^lgt: cannot open /no/such/file.lua.*\nstatus 1\n$")
  says("$LGT --check /tmp", "^lgt: cannot read /tmp: [^\n]*\nstatus 1\n$")
  says("echo 'print(nowhere)' | $LGT --check -", "^stdin:1: the global \"nowhere\" is never defined\nstatus 1\n$")
  local path = os.tmpname()
  says(("$LGT -be 'print(nowhere)' %s; $LGT --check %s; rm %s"):format(path, path, path),
    "^lgt: " .. path .. " is bytecode, which is not checked\nstatus 0\n$")
end)

local function files(...)
  local pipe = io.popen("cd '" .. root .. "' && ls " .. table.concat({ ... }, " "))
  local found = {}
  for line in pipe:lines() do found[#found + 1] = root .. line end
  pipe:close()
  return found
end

check.case("the examples and the libraries are clean", function()
  local names = files("examples/*.lua", "tools/*.lua", "lib/*.lua", "lib/*/*.lua", "lib/*/*/*.lua")
  check.that(#names > 20, "they were not found")
  for _, path in ipairs(names) do
    local pipe = io.popen(("'%s' --check '%s' 2>&1"):format(arg[-1], path))
    check.equal(pipe:read("*a"), "")
    pipe:close()
  end
end)

-- ---- the parser, against LuaJIT's bytecode ------------------------------------------------------------

local function instruction(prototype, pc)
  local word = jutil.funcbc(prototype, pc)
  return (vmdef.bcnames:sub(word % 256 * 6 + 1, word % 256 * 6 + 6):gsub(" ", "")), bit.rshift(word, 16)
end

-- How often each global is read and written, by the compiler.
local function compiled_globals(prototype, found)
  for pc = 1, jutil.funcinfo(prototype).bytecodes - 1 do
    local name, operand = instruction(prototype, pc)
    if name == "GGET" or name == "GSET" then
      local key = name .. " " .. jutil.funck(prototype, -operand - 1)
      found[key] = (found[key] or 0) + 1
    end
  end
  local i = -1
  while jutil.funck(prototype, i) ~= nil do
    local constant = jutil.funck(prototype, i)
    if type(constant) == "proto" then compiled_globals(constant, found) end
    i = i - 1
  end
  return found
end

local function parsed_globals(text)
  local found, targets = {}, {}
  syntax.walk((syntax.parse(text)), function(node)
    for _, target in ipairs(node.tag == "Assign" and node.targets or {}) do targets[target] = true end
    if node.tag == "Name" and not node.variable then
      local key = (targets[node] and "GSET " or "GGET ") .. node.name
      found[key] = (found[key] or 0) + 1
    end
  end)
  return found
end

local function same_globals(text, name)
  local chunk = assert(loadstring(text))
  local wanted, got = compiled_globals(chunk, {}), parsed_globals(text)
  for key, n in pairs(wanted) do
    if got[key] ~= n then error(("%s: %s: %s instead of %d"):format(name, key, tostring(got[key]), n), 2) end
  end
  for key in pairs(got) do
    if not wanted[key] then error(("%s: %s is no global"):format(name, key), 2) end
  end
end

check.case("the parser finds the globals that LuaJIT finds, in every file here", function()
  local names = files("examples/*.lua", "lib/*.lua", "lib/*/*.lua", "lib/*/*/*.lua", "src/lua_bindings/*.lua",
    "src/lua_bindings/*/*.lua", "tests/*/*.lua", "tools/*.lua", "/usr/share/luajit-*/jit/*.lua 2>/dev/null")
  for _, path in ipairs(names) do
    local file = io.open(path) or io.open(path:sub(#root + 1))
    same_globals(file:read("*a"), path)
    file:close()
  end
end)

check.case("the parser reads odd forms", function()
  for _, text in ipairs {
    "local a = 0x1p-3 + 1e-5 + 3LL + 0xfULL + 2i + .5 + 5. return a, x",
    "local s = [==[ ]] x ]=] ]==] .. 'a\\'b' .. \"\\z   \\065\\x41\\n\" return s, y",
    "--[[ x y z ]] f() --[==[ ]] ]==] g() -- h()",
    "goto done do local x = a end ::done:: b()",
    "local goto_ = 1 ; x = goto_ ; y = 2",
    "local function f(...) local a, b = ..., c return a, b end return f",
    "local t = {f = g, [h] = i; j, 'k', function() return l end} return t",
    "for i = a, b, c do local a = i d(a) end for k, v in e(f) do g(k, v, i) end",
    "repeat local x = f() until x == y local x = x",
    "function a.b.c:d(e) return self, e, f end function g() return g end",
    "local x, y = 1 return x, y, z",
    "f'a' f\"b\" f[[c]] f{d = e} (f or g)(h) f:g'i':j{k}.l[m] = n",
    "return - - 2 ^ - x .. not y == z, #w % 2, a < b == c > d",
    "if a then b() elseif c then d() else e() end while f do break end",
    "local function r() return r end local s = function() return s end return r, s",
  } do
    same_globals(text, text)
  end
end)

check.done()
