-- test_hints.lua - what a script that ends with one of Lua's own messages is told besides, and what stays as it is.
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")

local first = 0
while arg[first - 1] do first = first - 1 end
local LGT = arg[first] -- whatever options came between

-- The first line that a script of these lines ends with, without its path: PROGRAM and SCRIPT stand for their paths in
-- the command.
local function complaint_of(command, ...)
  local path = os.tmpname()
  local file = io.open(path, "w")
  file:write(table.concat({ ... }, "\n"), "\n")
  file:close()
  local pipe = io.popen((command:gsub("%u+", { PROGRAM = "timeout 300 '" .. LGT .. "'", SCRIPT = "'" .. path .. "'" })))
  local line = pipe:read("*l")
  pipe:close()
  os.remove(path)
  return (tostring(line):gsub("^.-:(%d+: )", "%1"))
end

-- The same, run with these options.
local function complaint(options, ...) return complaint_of("PROGRAM " .. options .. " SCRIPT 2>&1", ...) end

local ARRAYS = 'local np = require "array"; local x = np.ones(3); local M = { alpha = 1, linalg = np.linalg }'
local function expect(line, wanted) check.equal(complaint("", ARRAYS, line), "2: " .. wanted) end

check.case("a misspelt name", function()
  expect("np.ones_lke(x)", "attempt to call field 'ones_lke' (a nil value): did you mean np.ones_like?")
  expect("np.cumsm(x)", "attempt to call field 'cumsm' (a nil value): did you mean np.cumsum?")
  expect("np.linlag.solve(x)", "attempt to index field 'linlag' (a nil value): did you mean np.linalg?")
  expect("M.linalg.slove(x)", "attempt to call field 'slove' (a nil value): did you mean M.linalg.solve?")
  expect("local function f() return M.alhpa() + 1 end f()",
    "attempt to call field 'alhpa' (a nil value): did you mean M.alpha?")
  expect("local grid = np.mgrid['1:3']",
    "attempt to index field 'mgrid' (a nil value): write np.indices(shape), or np.meshgrid(x, y, {indexing = \"ij\"})")
  expect("np.foo(x)", "attempt to call field 'foo' (a nil value)") -- not np.bool
  expect("np.nothing_of_the_kind(x)", "attempt to call field 'nothing_of_the_kind' (a nil value)")
end)

check.case("a function that Python has", function()
  expect("print(len(x))", "attempt to call global 'len' (a nil value): write #x, or x.shape for all extents")
  expect("pritn(x)", "attempt to call global 'pritn' (a nil value): did you mean print?")
  expect("nothing_of_the_kind(x)", "attempt to call global 'nothing_of_the_kind' (a nil value)")
end)

-- Each is one of Python's, or C's, ways to write what is followed by what to write.
check.case("a line that Lua cannot read", function()
  for line, wanted in pairs {
    ["local y = x[1:2]"] = "slices are strings", ["local y = x[::2]"] = "slices are strings",
    ["local y = x[1, 2]"] = "several indices are a string or a table", ["if x != 3 then end"] = "a:ne(b)",
    ["x += 1"] = "x = x + y", ["i++"] = "i = i + 1", ["local y = x ** 2"] = "x ^ y",
    ["local y = x // 2"] = "floor_divide", ["local y = x @ x"] = "a:dot(b)", ["local y = x & x"] = "a:both(b)",
    ["local y = x || x"] = "a:either(b)",
    ["local y = ~x"] = "np.logical_not(m)", ["local y = !x"] = "np.logical_not(m)",
    ["local y = x ? 1 : 2"] = "np.where", ["local y = 2 # two"] = "comments begin with --",
    ["local y = np.sum(x, axis=1)"] = "{axis = 1}",
    ["local y = np.zeros((3, 4))"] = "np.zeros({3, 4})", ["local y = (1, 2)"] = "there are no tuples",
    ["local y = np.array([1, 2])"] = "lists are tables", ["import numpy as np"] = 'require "array"',
    ["from numpy import zeros"] = 'require "array"', ["def f(x):"] = "function f(x)",
    ["f = lambda x: x + 1"] = "function(x)", ["if x > 1: y = 2"] = "if c then",
    ["for i in range(3): y = 2"] = "for i = 1, n do", ["while x:"] = "while c do",
    ["if x = 1 then end"] = "comparisons are written ==", ["local y = 2j"] = "imaginary numbers end in i",
    ["local y = {'a': 1}"] = "{name = value}", ["del x"] = "x = nil", ["else if x then"] = "elseif",
    ["local n = 1 local y = x[n:2]"] = "slices are strings", ["if x:\n  y = 2"] = "if c then",
    ["for i = 1, 2 do\n  continue\nend"] = "there is no continue", ["if x is None then end"] = "identity is ==",
    ["try:\n  y = 2"] = "pcall", ["local s = ':' .. x['a'][1:2] -- [1, 2]"] = "slices are strings",
    ["function f(a, b=1) end"] = "parameters have no defaults", ["print x"] = "print(x)",
  } do
    local found = complaint("", 'local np = require "array"', line)
    check.that(found:find(wanted, 1, true), ("%s: %s"):format(line, found))
  end
  for _, line in ipairs { "x = = 1", "local y = (x", "for i = 1 do end", "f(1, , 2)", "local t = {a = 1, b 2}",
    "print('the mean is' x)", "y = lambda * 2 2", "local y = = 2 -- continue", "if true then print('what: ok') end end",
    "local y = (1 + 2), , 3", "local n = 3 #x", "local y = (x['2:3']", "if x then print(x['2:3'])",
    "if x then y = x['1:2']",
    "for i, v in ipairs{1, 2} do print(tostring(v):rep(2))", "while true do ::again::", "if x:sum then end",
    "local s = [[\nif x:\n]] s = = 2", "-- if x:\nlocal y = = 2", "local is = 2 2", "f(x, {a = 1} y = 2",
    "local y = f(x[':, *', x)", "x['1:2':copy()", "local y = f(x[1, x)" } do
    local found = complaint("", 'local np = require "array"', line)
    check.equal(found, complaint("", 'local np = nil', line))
  end
end)

check.case("names that are not np's", function()
  expect("local input = {} print(input.dtype.x)", "attempt to index field 'dtype' (a nil value)")
  expect("local win = {} win.concat(np.ones(3))", "attempt to call field 'concat' (a nil value)")
  expect("local rec = { f1 = 'name' } rec.f1()", "attempt to call field 'f1' (a string value)")
  expect("local rec = { int8 = 'name' } rec.int8(np.ones(3))", "attempt to call field 'int8' (a string value)")
  expect("print(np.float32(x))", "attempt to call field 'float32' (a string value): a dtype is a string: " ..
    "x:astype(np.float32), {dtype = np.float32}")
  expect("np.view(x)", "attempt to call field 'view' (a nil value)")
  check.equal(complaint("", 'local numpy = require "array"', "numpy.concat()"),
    "2: attempt to call field 'concat' (a nil value): write np.concatenate{a, b}")
end)

check.case("messages of the script's own", function()
  for _, message in ipairs { "table: number expected, got cdata here by me", "'for' all these, it must be a number",
    "no field 'ones_lke' (a nil value) here" } do
    expect(("error(%q)"):format(message), message)
  end
  expect("for i = 1, {} do print(i) end", "'for' limit must be a number")
end)

check.case("what the script has defined is not called", function()
  local lazy = "local lazy = setmetatable({}, { __index = function() while true do end end })"
  local wanted = "3: attempt to call field 'zed' (a nil value)"
  check.equal(complaint("", ARRAYS, lazy, "local h = { p = lazy } h.zed() -- lazy.sub.zed lazy.zed"), wanted)
  local strict = "setmetatable(_G, { __index = function(_, k) error('undefined ' .. k, 2) end })"
  check.equal(complaint("", ARRAYS, strict .. " require = nil", "local h = {} h.zed()"), wanted)
end)

check.case("a script that cannot be read twice", function()
  local wanted = "2: attempt to call field 'ones_lke' (a nil value): did you mean np.ones_like?"
  for _, command in ipairs { "cat SCRIPT | PROGRAM /dev/stdin 2>&1", "PROGRAM /dev/stdin 2>&1 < SCRIPT",
    "cat SCRIPT | PROGRAM - 2>&1",
    "mkfifo SCRIPT.pipe; cat SCRIPT > SCRIPT.pipe & PROGRAM SCRIPT.pipe 2>&1; rm SCRIPT.pipe" } do
    check.equal(complaint_of(command, ARRAYS, "np.ones_lke(x)"), wanted)
  end
end)

check.case("an array where Lua wants a number, a table or a string", function()
  local item = ": an array is no number to Lua, x:item() reads its only element"
  expect("print(('%.3f'):format(x:sum()))", "bad argument #1 to 'format' (number expected, got cdata)" .. item)
  expect("print(math.floor(x:sum()))", "bad argument #1 to 'floor' (number expected, got cdata)" .. item)
  expect("for i = 1, x:sum() do print(i) end", "'for' limit must be a number" .. item)
  expect("local a, b = unpack(x) print(a, b)", "bad argument #1 to 'unpack' (table expected, got cdata): an array " ..
    "is no table, x:totable() makes one, and x[1], x[2] are its rows")
  expect("io.write(x)", "bad argument #1 to 'write' (string expected, got cdata): tostring(x) is an array as text, " ..
    "x:item() its only element")
end)

check.case("without arrays messages are luajit's", function()
  check.equal(complaint("", "", "local y = x[1:2]"), "2: ']' expected near ':'")
  check.equal(complaint("", "local M = { alpha = 1 }", "M.alhpa()"), "2: attempt to call field 'alhpa' (a nil value)")
  check.equal(complaint("", "", "math.floor(1LL)"), "2: bad argument #1 to 'floor' (number expected, got cdata)")
end)

check.case("an error that is caught is luajit's", function()
  check.equal(complaint("", ARRAYS, "print(select(2, pcall(function() np.onse() end)))"),
    "2: attempt to call field 'onse' (a nil value)")
end)

check.case("on ranks", function()
  local wanted = "2: attempt to call field 'onse' (a nil value): did you mean np.ones?"
  check.equal(complaint("-n 2", ARRAYS, "np.onse(3)"), wanted)
  wanted = "2: unexpected symbol near '[': lists are tables: {1, 2, 3}, np.array{1, 2, 3}"
  check.equal(complaint("-n 2", ARRAYS, "local y = [1]"), wanted)
end)

check.done()
