-- Loops that read along one dimension and write along the other, through squares in shared memory
-- (emit_device_tiles.c): those whose edges cut squares, several arrays at once, outer dimensions, other element types,
-- and what is too small.
local check = dofile(arg[0]:match("^(.*/)") .. "../lua/check.lua")
local np = require "array"

local function same(x, rows, columns, f)
  local t = x:totable()
  check.equal(#t, rows)
  for i = 1, rows do
    check.equal(#t[i], columns)
    for j = 1, columns do
      if t[i][j] ~= f(i, j) then check.equal(t[i][j], f(i, j)) end
    end
  end
end

local a = np.arange(70 * 50):reshape(70, 50) * 0.5
local function at(i, j) return (50 * (i - 1) + j - 1) * 0.5 end

check.case("a copy", function()
  same(a.T:copy(), 50, 70, function(i, j) return at(j, i) end)
end)

check.case("with what lies as the result does, and two that do not", function()
  local c = a[":50, :"].T + a["2:51, :"] * 3 - a["11:60, :"].T * 0.25
  same(c, 50, 50, function(i, j) return at(j, i) + 3 * at(i + 1, j) - 0.25 * at(j + 10, i) end)
end)

check.case("backwards, and every second one", function()
  same(a["-1:1:-1, :"].T * 2, 50, 70, function(i, j) return 2 * at(71 - j, i) end)
  same(a["::2, :"].T * 2, 50, 35, function(i, j) return 2 * at(2 * j - 1, i) end)
  same(a[":, ::2"].T * 2, 25, 70, function(i, j) return 2 * at(j, 2 * i - 1) end)
end)

check.case("an outer dimension, in float32", function()
  local d = np.arange(3 * 40 * 33):reshape(3, 40, 33):transpose(1, 3, 2):astype("float32") * 2
  for k = 1, 3 do same(d[k], 33, 40, function(i, j) return 2 * ((k - 1) * 1320 + (j - 1) * 33 + i - 1) end) end
end)

check.case("complex numbers, truth, and small integers", function()
  local z = np.complex(a, a + 1).T * 2
  same(np.real(z), 50, 70, function(i, j) return 2 * at(j, i) end)
  same(np.imag(z), 50, 70, function(i, j) return 2 * at(j, i) + 2 end)
  same(a.T:gt(30), 50, 70, function(i, j) return at(j, i) > 30 end)
  local bytes = (a * 2 % 100):astype("int8")
  same(bytes.T + 1, 50, 70, function(i, j) return 2 * at(j, i) % 100 + 1 end)
end)

check.case("in place, of parts that do not meet", function()
  local m = np.arange(64 * 64):reshape(64, 64) * 1.0
  m["1:32, 33:64"] = m["33:64, 1:32"].T + 1
  same(m, 64, 64, function(i, j)
    if i <= 32 and j > 32 then return 64 * (j - 1) + i - 1 + 1 end
    return 64 * (i - 1) + j - 1
  end)
end)

check.case("too small for a square", function()
  same(a[":5, :"].T + 1, 50, 5, function(i, j) return at(j, i) + 1 end)
  same(a[":, :5"].T + 1, 5, 70, function(i, j) return at(j, i) + 1 end)
end)

return check.done()
