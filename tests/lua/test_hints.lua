-- test_hints.lua - what a script that ends with one of Lua's own messages is told besides, and what stays as it is.
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")

-- The first line that a script of these lines ends with, without its path, run with these options.
local function complaint(options, ...)
  local path = os.tmpname()
  local file = io.open(path, "w")
  file:write(table.concat({ ... }, "\n"), "\n")
  file:close()
  local pipe = io.popen(("'%s' %s '%s' 2>&1"):format(arg[-1], options, path))
  local line = pipe:read("*l")
  pipe:close()
  os.remove(path)
  return (line:gsub("^.-:(%d+: )", "%1"))
end

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
  expect("np.nothing_of_the_kind(x)", "attempt to call field 'nothing_of_the_kind' (a nil value)")
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
end)

check.done()
