-- Boolean arrays as keys: what is true is counted, then read or written; positions give the same.
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
local np = require "array"
local lgt = require "lgt"

local function random_mask(...) return np.random.rand(...):gt(0.5) end

-- What positions give, which always are tasks.
local function by_positions(a, mask)
  local key = np.nonzero(mask)
  for _ = #key + 1, a.ndim do key[#key + 1] = {} end
  return a[key]
end

local function same(a, b) return a.dtype == b.dtype and np.array_equal(a, b) end

-- Arrays, and masks that pick from them: extents where nothing is cut evenly, and some that all workers work on.
local function each(call)
  local dtypes = { "bool", "int16", "float32", "float64", "complex128" }
  for _, dtype in ipairs(dtypes) do
    for _, n in ipairs { 1, 7, 8, 100, 40000 } do
      call(np.arange(n):astype(dtype), random_mask(n))
      call(np.arange(2 * n):astype(dtype)["2::2"], random_mask(n))
      call(np.arange(n):astype(dtype)["::-1"], random_mask(2 * n)["::2"])
    end
    local grid = np.arange(15 * 17):reshape(15, 17):astype(dtype)
    call(grid, random_mask(15, 17))
    call(grid, random_mask(15))
    call(grid.T, random_mask(17, 15))
    call(grid["2:9, 3:"], random_mask(8, 15))
    call(grid[":, ::2"], random_mask(15))
    call(np.arange(4 * 5 * 6):reshape(4, 5, 6):astype(dtype), random_mask(4, 5))
    local large = np.arange(210 * 190):reshape(210, 190):astype(dtype)
    call(large, random_mask(210, 190))
    call(large.T, random_mask(190, 210))
    call(np.arange(60000):reshape(20000, 3):astype(dtype), random_mask(20000))
    call(grid, np.zeros(15, 17, { dtype = "bool" }))
    call(grid, np.ones(15, 17, { dtype = "bool" }))
  end
end

-- The positions of what is true, one by one.
local function positions_of(mask)
  local lists, at, n = {}, {}, mask.ndim
  for d = 1, n do lists[d] = {} end
  local function walk(values, d)
    for i, v in ipairs(values) do
      at[d] = i
      if d < n then walk(v, d + 1) end
      for axis = 1, n do
        if d == n and v then table.insert(lists[axis], at[axis]) end
      end
    end
  end
  walk(mask:totable(), 1)
  return lists
end

check.case("where an array is true", function()
  local function try(mask)
    local lists, wanted = np.nonzero(mask), positions_of(mask)
    check.equal(#lists, mask.ndim)
    for d = 1, mask.ndim do check.equal(lists[d]:totable(), wanted[d], tostring(mask.shape)) end
  end
  for _, n in ipairs { 1, 7, 8, 100, 40000 } do
    try(random_mask(n))
    try(random_mask(2 * n)["::2"])
    try(random_mask(n)["::-1"])
  end
  try(np.random.rand(50000):gt(0.99))
  try(np.zeros(20000, { dtype = "bool" }))
  try(np.ones(20000, { dtype = "bool" }))
  try(random_mask(15, 17))
  try(random_mask(150, 170).T)
  try(random_mask(2, 30, 700)[":, ::3, 1:600"])
  try(np.broadcast_to(random_mask(130), { 140, 130 }))
  try(np.zeros(0, { dtype = "bool" }))
  try(np.zeros(3, 0, { dtype = "bool" }))
end)

check.case("reading", function()
  each(function(a, mask) check.that(same(a[mask], by_positions(a, mask)), a.dtype .. tostring(a.shape)) end)
end)

check.case("writing", function()
  each(function(a, mask)
    local key, wanted = np.nonzero(mask), np.copy(a)
    local values = by_positions(a["::-1"], mask):copy()
    for _ = #key + 1, a.ndim do key[#key + 1] = {} end
    wanted[key] = values
    a[mask] = values
    check.that(same(a, wanted), a.dtype .. tostring(a.shape))
  end)
end)

check.case("what was computed from an array that is written stays", function()
  local u = np.arange(50):astype("float64")
  local mask = u:gt(20)
  for _ = 1, 5 do
    local doubled = u * 2
    local other = doubled + 1
    local before = np.copy(u)
    u[mask] = other[mask]
    check.that(np.array_equal(doubled, before * 2), "a result from before changed")
  end
end)

check.case("an array that picks from itself, and values that are elements of it", function()
  local b = np.array { true, false, true, true }
  b[b] = np.array { false, true, false }
  check.equal(b:totable(), { false, false, true, false })
  local x = np.arange(6):astype("float64")
  x[np.array { false, true, true, true, false, false }] = x["1:3"]
  check.equal(x:totable(), { 0, 0, 1, 2, 4, 5 })
end)

check.case("values of other dtypes, and that are stretched", function()
  local x, mask = np.arange(5):astype("float64"), np.array { true, false, true, false, true }
  x[mask] = np.array({ 7, 8, 9 }, { dtype = "int64" })
  check.equal(x:totable(), { 7, 1, 8, 3, 9 })
  x[mask] = np.array { 4 }
  check.equal(x:totable(), { 4, 1, 4, 3, 4 })
  local rows = np.zeros(3, 2)
  rows[np.array { true, false, true }] = np.array { 1, 2 }
  check.equal(rows:totable(), { { 1, 2 }, { 0, 0 }, { 1, 2 } })
end)

local function fails(wanted, call, ...)
  local good, message = pcall(call, ...)
  check.that(not good and tostring(message):find(wanted, 1, true), tostring(message))
end

check.case("mistakes are named at their line", function()
  local x, mask = np.zeros(4), np.ones(4, { dtype = "bool" })
  fails("test_masks.lua", function() return x[np.ones(5, { dtype = "bool" })] end)
  fails("does not fit into what is picked", function() x[mask] = np.zeros(3) end)
  fails("it does not change", function() x[mask][mask] = np.zeros(4) end)
  local gone = np.ones(4, { dtype = "bool" })
  gone:free()
  fails("released", function() return x[gone] end)
  fails("released", function() x[gone] = np.zeros(4) end)
end)

check.case("what failed fails what is picked from it when that is looked at", function()
  local function failed() return np.arange(5)[np.array({ 1, 2, 9, 4, 5 }, { dtype = "int64" })] end
  local mask = np.arange(5):gt(2)
  local y = failed()[mask]
  fails("position 9", function() return y(1) end)
  local x = np.zeros(5, { dtype = "int64" })
  x[mask] = failed()[mask]
  fails("position 9", function() return x(1) end)
  x["..."] = 1
  check.equal(np.sum(x)(), 5)
  fails("position 9", function() return x[failed():gt(2)] end)
end)

-- Positions from 1, or from the end.
local function positions(extent, n)
  local p = np.random.randint(1, extent + 1, { size = n })
  return np.where(np.random.rand(n):lt(0.3), p - extent - 1, p)
end

check.case("positions along several axes are written where the first of them lead", function()
  for _, sizes in ipairs { { 5, 7, 40 }, { 1, 9, 13 }, { 40, 3, 200 }, { 17, 11, 1 } } do
    local n, m, count = unpack(sizes)
    local p, q, values = positions(n, count), positions(m, count), np.arange(count) + 1
    local i, j, expected, sums = p:totable(), q:totable(), np.zeros(n, m):totable(), np.zeros(n, m):totable()
    for k = 1, count do -- the last one wins, or all count
      local row, column = i[k] < 0 and n + 1 + i[k] or i[k], j[k] < 0 and m + 1 + j[k] or j[k]
      expected[row][column], sums[row][column] = k, sums[row][column] + k
    end
    local views = { np.zeros(n, m), np.zeros(m, n).T, np.zeros(2 * n, m)["::2"], np.zeros(n, m)["::-1"]["::-1"],
      np.zeros(n, 2, m)[":, 2"] }
    for _, a in ipairs(views) do
      a[{ p, q }] = values
      check.equal(a:totable(), expected)
      a["..."] = 0
      np.add.at(a, { p, q }, values)
      check.equal(a:totable(), sums)
    end
    local rows = np.zeros(n, m, 3)
    rows[{ p, q, {} }] = values[":, *"]
    check.equal(rows[":, :, 3"]:totable(), expected)
    local between = np.zeros(n, 3, m)
    between[{ p, {}, q }] = values[":, *"]
    check.equal(between[":, 2"]:totable(), expected)
    local inner = np.zeros(3, n, m)
    inner[{ {}, p, q }] = values
    check.equal(inner[3]:totable(), expected)
  end
end)

check.case("a wrong position along any axis fails all that is written to", function()
  local a, good = np.zeros(6, 5), np.array({ 1, 2, 6 }, { dtype = "int64" })
  a[{ good, np.array({ 1, 2, 6 }, { dtype = "int64" }) }] = 1
  for _ = 1, 2 do
    for i = 1, 6 do fails("position 6 of axis 2 is outside its extent of 5", function() return a(i, 1) end) end
  end
  a["..."] = 2
  a[{ np.array({ 1, 0, 6 }, { dtype = "int64" }), good - 1 }] = 1
  fails("positions count from 1", function() return a(3, 3) end)
  a["..."] = 3
  check.equal(np.sum(a)(), 90)
end)

-- As many domains as there are would have a part of its one row.
check.case("a boolean array of one row", function()
  local a, b = np.arange(20):reshape(1, 20), np.zeros(1, 20)
  local mask, wanted = np.fmod(a, 7):lt(5), {}
  for i = 1, 20 do
    if (i - 1) % 7 < 5 then wanted[#wanted + 1] = i - 1 end
  end
  for _ = 1, 3 do
    check.equal(a[mask]:totable(), wanted)
    check.equal(#np.nonzero(mask)[2]:totable(), #wanted)
    b[mask] = a[mask] + 1
    check.equal(np.sum(b)(), np.sum(a[mask])() + #wanted)
  end
end)

check.case("garbage is collected where nothing is launched", function()
  local x = np.zeros(20000)
  local mask = np.ones(20000, { dtype = "bool" })
  lgt.fence()
  local before = lgt.stats().bytes_live
  for _ = 1, 2000 do check.that(x[mask]) end
  check.that(lgt.stats().bytes_live < before + 2 ^ 26, "memory that nobody holds was kept")
end)

check.case("from small arrays one domain picks at once, and its garbage is collected, too", function()
  if lgt.C.lgt_domains(lgt.rt) > 1 then return end
  local x, mask = np.arange(500):copy(), (np.arange(500) % 5):ne(0):copy()
  lgt.fence()
  lgt.stats_reset()
  local picked, places = x[mask], np.nonzero(mask)[1]
  local stats = lgt.stats()
  check.equal({ stats.launches, stats.waits }, { 0, 2 })
  check.equal({ picked(1), picked(400), places(1), places(400) }, { 1, 499, 2, 500 })
  for _ = 1, 10000 do check.that(x[mask], np.nonzero(mask)) end
  check.that(lgt.stats().bytes_live < stats.bytes_live + 2 ^ 25, "memory that nobody holds was kept")
end)

check.case("an array without dimensions is converted as others are", function()
  for _, value in ipairs { np.array(2.5), np.full({ 2 }, 2.5) } do
    local a = np.arange(4)
    a[a:gt(1)] = value
    check.equal(a:totable(), { 0, 1, 2, 2 })
  end
  local a = np.arange(4)
  check.refuses("2.5 into an array of int64", function() a[a:gt(1)] = 2.5 end)
  check.refuses(": iadd: the result is float64", function() a:at(a:gt(1)):iadd(2.5) end)
end)

check.done()
