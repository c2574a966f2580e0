-- check.lua - what the Lua tests share: cases that print `ok name` or `FAIL name: why`.
--
--   local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
--   check.case("name", function() check.equal(1 + 1, 2) end)
--   check.done()

local check = { failed = 0 }

local function show(x)
  if type(x) == "string" then return ("%q"):format(x) end
  if type(x) == "number" then return ("%.17g"):format(x) end
  if type(x) ~= "table" or getmetatable(x) then return tostring(x) end
  local words = {}
  for i = 1, #x do words[i] = show(x[i]) end
  return "{" .. table.concat(words, ", ") .. "}"
end

local function same(a, b)
  if type(a) ~= type(b) then return false end
  if type(a) ~= "table" then return rawequal(a, b) or (a ~= a and b ~= b) or (type(a) == "cdata" and a == b) end
  if #a ~= #b then return false end
  for i = 1, #a do
    if not same(a[i], b[i]) then return false end
  end
  return true
end

-- Numbers, strings, or lists of them.
function check.equal(got, wanted)
  if not same(got, wanted) then error(("got %s, wanted %s"):format(show(got), show(wanted)), 2) end
end

function check.close(got, wanted, bound)
  local near = math.abs(got - wanted) <= bound
  if not near then -- so is NaN
    error(("got %.17g, wanted %.17g within %g"):format(got, wanted, bound), 2)
  end
end

function check.that(condition, why)
  if not condition then error(why or "it does not hold", 2) end
end

-- Rows of small whole numbers, in which neighbours differ.
function check.grid(rows, columns)
  local numbers = {}
  for i = 1, rows do
    numbers[i] = {}
    for j = 1, columns do numbers[i][j] = (i * 7 + j * j) % 32 end
  end
  return numbers
end

-- What f gives where each launch says its line, which C (runtime/launch.c, routine.c) leaves to the library.
function check.by_steps(f, ...)
  local front = require("lgt").front
  local before = front.all_lines
  front.all_lines = 1
  local ok, result = pcall(f, ...)
  front.all_lines = before
  if not ok then error(result, 0) end
  return result
end

-- Type, shape, and each bit of the elements of an array.
local function image(x)
  local bits
  local row = require("array").ascontiguousarray(x)
  row:host("r", function(p) bits = require("ffi").string(p, x.itemsize * x.size) end)
  return ("%s %s %s"):format(x.dtype, tostring(x.shape), bits)
end

-- Arrays that are the same to the bit.
function check.same(got, wanted, what)
  if image(got) ~= image(wanted) then
    error(("%s: %s, not %s"):format(what, tostring(got), tostring(wanted)), 2)
  end
end

-- turn(101) to turn(n) make Lua's heap larger by less than `most` KB: what turn(1) to turn(100) made is remembered.
function check.forgets(turn, n, most)
  local lgt = require "lgt"
  local function heap()
    lgt.fence()
    jit.flush()
    for _ = 1, 3 do collectgarbage() end
    return collectgarbage("count")
  end
  local function run(first, last)
    for k = first, last do
      turn(k)
      if k % 50 == 0 then collectgarbage() end -- the table of handles is as long as many are alive
    end
    return heap()
  end
  local before = run(1, 100)
  local more = run(101, n) - before
  if more >= most then error(("%.0f KB more after %d turns"):format(more, n), 2) end
end

-- f must raise an error whose message contains `part`, at the line of the caller.
function check.refuses(part, f)
  local ok, message = pcall(f)
  if ok then error(("no error; one with %q was wanted"):format(part), 2) end
  message = tostring(message)
  if not message:find(part, 1, true) then error(("the error is %q; %q was wanted in it"):format(message, part), 2) end
  local file = debug.getinfo(2, "S").short_src
  if message:sub(1, #file) ~= file then error(("the error does not name this file: %q"):format(message), 2) end
end

function check.case(name, f)
  local ok, why = xpcall(f, function(message) return debug.traceback(tostring(message), 2) end)
  if ok then
    print("ok " .. name)
  else
    check.failed = check.failed + 1
    print(("FAIL %s: %s"):format(name, why))
  end
end

function check.done() os.exit(check.failed == 0 and 0 or 1, true) end

return check
