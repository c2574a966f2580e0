-- Products with sparse matrices among operations on vectors, which join their pass: against loops in Lua, on integers,
-- so that sums are exact; and against the same without fusion, bit by bit, on others.
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
local np, sp, lgt = require "array", require "sparse", require "lgt"

local seed = 1
local function random(n)
  seed = (seed * 16807) % 2147483647
  return seed % n + 1
end

-- How many entries a row has: few (none in every fifth), or as many as those around it.
local function row_length(i)
  local part = math.floor(i / 100) % 4
  return part < 2 and (i % 5 == 0 and 0 or 1 + i % 3) or part == 2 and 1 + math.floor(i / 40) % 9 or 11
end

-- A matrix of such rows, as an array of lgt and as lists.
local function matrix(n, format)
  local entries, rows, cols, vals = {}, {}, {}, {}
  for i = 1, n do
    entries[i] = {}
    for k = 1, row_length(i) do
      local column, value = (i * (2 * k - 1) + k * k) % n + 1, (i + k) % 7 - 3
      entries[i][k] = { column, value }
      rows[#rows + 1], cols[#cols + 1], vals[#vals + 1] = i, column, value
    end
  end
  if #rows == 0 then rows, cols, vals = { 1 }, { 1 }, { 0 } end
  local places = { np.array(rows, { dtype = "int64" }), np.array(cols, { dtype = "int64" }) }
  local arrays = { np.array(vals):astype("float64"), places }
  return { array = sp.csr_matrix(arrays, { shape = { n, n } }):asformat(format), entries = entries }
end

-- The same two functions for arrays and for tables of numbers.
local function array_dot(A, x) return A.array:dot(x) end
local function table_dot(A, x)
  local y = {}
  for i = 1, #x do
    y[i] = 0
    for _, e in ipairs(A.entries[i]) do y[i] = y[i] + e[2] * x[e[1]] end
  end
  return y
end

-- What a turn does to a list v of vectors with matrices A and B: with arrays, and with tables.  Each ends with numbers
-- below 64.
local actions = {
  function(v, A, _, i, j, k) v[k] = (v[i] - array_dot(A, v[j])) % 64 end,
  function(v, A, _, i, j)
    v[i]:iadd(array_dot(A, v[j]))
    v[i]["..."] = v[i] % 64
  end,
  function(v, A, _, i, j, k) -- what the product reads changes afterwards
    local y = array_dot(A, v[i])
    v[i]["..."] = (v[i] + v[j]) % 64
    v[k] = (y * v[i]) % 64
  end,
  function(v, A, B, i, j) v[j] = (array_dot(B, array_dot(A, v[i]) % 64) + v[i]) % 64 end,
  function(v, A, _, i, j, k) -- neighbours of the product's elements
    local y = array_dot(A, v[i])
    v[k] = v[j]:copy()
    v[k]["2:"] = (y["2:"] + y[":-2"]) % 64
  end,
  function(v, A, B, i, j, k) -- two products in a pass, and their sum
    local y, z = array_dot(A, v[i]), array_dot(B, v[j])
    v[k] = (y + z) % 64
    return (y * z):sum()
  end,
  function(v, A, _, i, j) return v[j]:dot(array_dot(A, v[i])) end,
  function(v, A, _, i, j, k) -- the same matrix twice, changed in place
    local y = array_dot(A, v[i])
    y:isub(v[j])
    v[k] = y % 64
    return (array_dot(A, v[i]) - v[i]):sum()
  end,
  function(v, A, B, i, j, k) -- two products that are only written
    local y, z = array_dot(A, v[i]), array_dot(B, v[j])
    lgt.flush()
    v[k] = (y - z) % 64
  end,
  function(v, A, _, i, j, k) -- one that is written and used in its pass
    local y = array_dot(A, v[i])
    local sum = (y * v[j]):sum()
    lgt.flush()
    v[k] = y % 64
    return sum
  end,
}

local function combine(f, ...)
  local lists, out = { ... }, {}
  for n = 1, #lists[1] do
    local at = {}
    for l = 1, #lists do at[l] = lists[l][n] end
    out[n] = f(unpack(at))
  end
  return out
end
local function total(x)
  local sum = 0
  for n = 1, #x do sum = sum + x[n] end
  return sum
end

local models = {
  function(v, A, _, i, j, k) v[k] = combine(function(a, b) return (a - b) % 64 end, v[i], table_dot(A, v[j])) end,
  function(v, A, _, i, j) v[i] = combine(function(a, b) return (a + b) % 64 end, v[i], table_dot(A, v[j])) end,
  function(v, A, _, i, j, k)
    local y = table_dot(A, v[i])
    v[i] = combine(function(a, b) return (a + b) % 64 end, v[i], v[j])
    v[k] = combine(function(a, b) return (a * b) % 64 end, y, v[i])
  end,
  function(v, A, B, i, j)
    local y = combine(function(a) return a % 64 end, table_dot(A, v[i]))
    v[j] = combine(function(a, b) return (a + b) % 64 end, table_dot(B, y), v[i])
  end,
  function(v, A, _, i, j, k)
    local y, new = table_dot(A, v[i]), {}
    for n = 1, #y do new[n] = n == 1 and v[j][1] or (y[n] + y[n - 1]) % 64 end
    v[k] = new
  end,
  function(v, A, B, i, j, k)
    local y, z = table_dot(A, v[i]), table_dot(B, v[j])
    v[k] = combine(function(a, b) return (a + b) % 64 end, y, z)
    return total(combine(function(a, b) return a * b end, y, z))
  end,
  function(v, A, _, i, j) return total(combine(function(a, b) return a * b end, v[j], table_dot(A, v[i]))) end,
  function(v, A, _, i, j, k)
    local y = table_dot(A, v[i])
    local d = total(combine(function(a, b) return a - b end, y, v[i]))
    v[k] = combine(function(a, b) return (a - b) % 64 end, y, v[j])
    return i == k and total(combine(function(a, b) return a - b end, table_dot(A, v[i]), v[i])) or d
  end,
  function(v, A, B, i, j, k)
    v[k] = combine(function(a, b) return (a - b) % 64 end, table_dot(A, v[i]), table_dot(B, v[j]))
  end,
  function(v, A, _, i, j, k)
    local y = table_dot(A, v[i])
    local sum = total(combine(function(a, b) return a * b end, y, v[j]))
    v[k] = combine(function(a) return a % 64 end, y)
    return sum
  end,
}

-- Turns of random actions: the vectors afterwards and the numbers that were read, as arrays give them or tables.
local function play(start, turns, with, v, A, B)
  seed = start
  local read = {}
  for turn = 1, turns do
    local number = with(random(#actions), v, A, B, random(3), random(3), random(3))
    if number ~= nil then read[#read + 1] = { number, turn } end
  end
  for n, r in ipairs(read) do read[n] = type(r[1]) == "number" and r[1] or r[1]() end
  return read
end
local function with_arrays(action, ...) return actions[action](...) end
local function with_tables(action, ...) return models[action](...) end

local function vectors(n, make)
  local v = {}
  for k = 1, 3 do
    local numbers = {}
    for i = 1, n do numbers[i] = make(i, k) end
    v[k] = numbers
  end
  return v
end

local function arrays_of(v)
  local out = {}
  for k = 1, #v do out[k] = np.array(v[k]):astype("float64") end
  return out
end

local function compare(v, tables)
  for k = 1, #v do check.equal(v[k]:totable(), tables[k]) end
end

check.case("chains of products and of operations on vectors are what loops compute", function()
  for round, n in ipairs { 1, 2, 7, 300, 2000, 9000 } do
    local A, B = matrix(n, "csr"), matrix(n, "ell")
    for start = 1, n > 1000 and 3 or 12 do
      local tables = vectors(n, function(i, k) return (i * 37 + k * 11) % 64 end)
      local v = arrays_of(tables)
      local got = play(start * 100 + round, 8, with_arrays, v, A, B)
      check.equal(got, play(start * 100 + round, 8, with_tables, tables, A, B))
      compare(v, tables)
    end
  end
end)

check.case("fused or not, elements and sums are the same bits", function()
  local n = 300000 -- enough for sums to join the pass
  local A = sp.diags({ -1.1, 2.3, -0.7 }, { -500, 0, 1 }, { shape = { n, n }, format = "csr" })
  local function chain()
    local x, b = np.sin(np.arange(n)), np.cos(np.arange(n))
    local sums = {}
    for turn = 1, 2 do
      local r = b - A:dot(x)
      local p = A:dot(r) * r
      sums[turn] = (r:dot(r) + p:dot(x))()
      x:iadd(0.1 * r)
      b = b - A:dot(x) / 3
    end
    return sums, { x:sum()(), x[17](), b:sum()(), b[n](), np.max(np.abs(b))() }
  end
  local sums, rest = chain()
  for _, off in ipairs { "fusion", "kernel_fusion", "temporaries" } do
    lgt.options { [off] = 0 }
    local same, others = chain()
    lgt.options { [off] = 1 }
    check.equal(same, sums)
    check.equal(others, rest)
  end
end)

check.case("a product goes to memory once, in a pass that reads each element once, whoever else is in it", function()
  local n = 2000 -- few enough for sums to join the pass, however many threads there are
  local A, x = sp.eye(n, n, 0, { format = "csr" }):tocsr(), np.ones(n)
  check.equal(A:dot(x):sum()(), n) -- which finds out, once, which rows follow each other
  local function moved(action)
    lgt.fence()
    lgt.stats_reset()
    local kept = { action() }
    lgt.fence()
    local stats = lgt.stats()
    for _, y in ipairs(kept) do check.equal(y:sum()(), n) end
    return { stats.tasks, stats.passes, stats.bytes_moved / n }
  end
  if lgt.C.lgt_domains(lgt.rt) > 1 then return end -- counts are those of one domain
  local row = 4 + 4 + 8 + 2 -- position, column, value, and how many rows follow
  check.equal(moved(function() return A:dot(x) end), { 1, 1, row + 8 + 8 })
  check.equal(moved(function() return A:dot(x), A:dot(x) end), { 1, 1, 2 * (row + 8 + 8) })
  lgt.options { temporaries = 0 }
  local sum = moved(function()
    local y = A:dot(x)
    return y, y:dot(x)
  end)
  lgt.options { temporaries = 1 }
  check.equal(math.floor(sum[3]), row + 8 + 8)
end)

check.case("a pass has not more large arrays than processors read well side by side", function()
  if lgt.C.lgt_domains(lgt.rt) > 1 then return end -- counts are those of one domain
  local function dots(n, count)
    local w, sums = np.cos(np.arange(n)), {}
    local V = {}
    for k = 1, count do V[k] = np.sin(np.arange(n) * k) end
    lgt.fence()
    lgt.stats_reset()
    for k = 1, count do w = w - V[k] / k end
    w:sum()()
    local passes = lgt.stats().passes
    for k = 1, count do sums[k] = V[k]:dot(w) end
    for k = 1, count do sums[k] = sums[k]() end
    return passes, sums
  end
  check.equal(dots(1000, 21), 1) -- not the same window but for its extents: that would have the same plan, once
  local n = 2 ^ 17
  local passes, sums = dots(n, 20)
  check.equal(passes, 2)
  lgt.options { kernel_fusion = 0 }
  local _, same = dots(n, 20)
  lgt.options { kernel_fusion = 1 }
  check.equal(same, sums)
end)

check.case("one task may have more products than there are images kept", function()
  local n, columns = 4000, 24
  local A = sp.diags({ 1, 1, 1 }, { -1, 0, 1 }, { shape = { n, n }, format = "csr" })
  local X = (np.arange(n * columns):reshape(n, columns) % 7):astype("float64")
  local wanted = np.sum(A:dot(X), 1)
  local y = {}
  for k = 1, columns do y[k] = A:dot(X[{ {}, k }]) end
  for k = 1, columns do check.equal(y[k]:sum()(), wanted[k]()) end
end)

-- A matrix in which rows follow those before them: they have the same columns, moved on by one.  Lists of rows, columns
-- and integers as values, from 0; stretches of such rows of many lengths, and what lies between.
local function matrix_of_runs(m, n)
  local rows, cols, vals = {}, {}, {}
  local i = 0
  while i < m do
    local length, columns, most = ({ 0, 1, 2, 3, 4, 5, 5, 6, 7, 8, 9, 10, 31, 32, 40 })[random(15)], {}, 0
    for k = 1, length do
      columns[k] = random(math.floor(n / 2)) - 1
      most = math.max(most, columns[k])
    end
    local count = math.min(({ 1, 1, 2, 3, 7, 8, 9, 16, 30, 255, 256, 257, 700 })[random(13)], m - i, n - most)
    for r = 0, count - 1 do
      for k = 1, length do
        rows[#rows + 1], cols[#cols + 1], vals[#vals + 1] = i + r, columns[k] + r, random(19) - 10
      end
    end
    i = i + count
  end
  return rows, cols, vals
end

check.case("rows that follow each other are multiplied as all others", function()
  for round = 1, 24 do
    local m, n = 900 + 5 * round, 1600 + round
    local rows, cols, numbers = matrix_of_runs(m, n)
    local pos, wanted = {}, {}
    for i = 1, m + 1 do pos[i] = 0 end
    for i = 1, m do wanted[i] = 0 end
    for e = 1, #rows do
      pos[rows[e] + 2] = pos[rows[e] + 2] + 1
      wanted[rows[e] + 1] = wanted[rows[e] + 1] + numbers[e] * (cols[e] % 23)
    end
    for i = 1, m do pos[i + 1] = pos[i + 1] + pos[i] end
    local dtype = ({ "float64", "float32", "int64", "complex128", "complex64" })[round % 5 + 1]
    local A = sp.csr_matrix({ np.array(numbers, { dtype = dtype }), np.array(cols, { dtype = "int64" }),
                              np.array(pos, { dtype = "int64" }) }, { shape = { m, n }, base = 0 })
    if round % 3 == 0 then A = A + sp.csr_matrix({ m, n }, { dtype = dtype }) end -- sorted, without equal columns
    local x = (np.arange(n) % 23):astype(dtype)
    for _ = 1, 2 do check.equal(np.real(A:dot(x)):astype("float64"):totable(), wanted) end
    local from = random(m) -- other rows begin each run
    local part = A[("%d:, :"):format(from)]
    check.equal(np.real(part:dot(x)):astype("float64"):totable(), { unpack(wanted, from) })
    -- The same bits as without that knowledge, which products with a vector that is not dense do not use.
    local doubles = A:astype("float64") * 0.1
    local wide = np.sqrt(np.arange(2 * n))
    local apart = wide["::2"]
    check.that(np.array_equal(doubles:dot(np.copy(apart)), doubles:dot(apart)))
  end
end)

check.case("a residual is one task", function()
  local n = 5000
  local A = sp.eye(n, n, 0, { format = "csr" }):tocsr()
  local x, b = np.ones(n), np.arange(n)
  local function residual()
    local r = b - A:dot(x)
    return np.max(r)()
  end
  for _ = 1, 3 do check.equal(residual(), n - 2) end
  lgt.stats_reset()
  residual()
  check.equal(lgt.stats().fused_groups, 1)
end)

check.case("a matrix with too many diagonals says how many", function()
  local n = 1300
  local rows, columns = np.zeros(n, { dtype = "int64" }), np.arange(n)
  local function first_row(count)
    return sp.coo_matrix({ np.ones(count), { rows[{ { 1, count } }], columns[{ { 1, count } }] } },
      { shape = { n, n }, base = 0 })
  end
  check.equal(first_row(1000):todia():tocsr().nnz, 1000)
  check.refuses("the entries lie on 1300 diagonals", function() first_row(n):todia() end)
  check.refuses("at most 1000 are stored in full: keep the matrix as csr", function() first_row(1001):todia() end)
  local both = sp.vstack { first_row(700), first_row(1) } -- several domains list those of their rows
  check.equal(#both:todia().offsets, 701)
end)

-- Memory of a result that is needed no more serves one of as many bytes.  Here it was a row; the product's is a vector.
check.case("a product takes no memory of another shape", function()
  lgt.options { kernel_fusion = false }
  local n = 64
  local A = sp.identity(n, { format = "csr" }) * 2
  local row, x = np.arange(n):reshape(1, n) * 1.0, np.arange(n) * 1.0
  lgt.fence()
  local sum = np.sum((row + 1) * 3)
  local function twice(y) return y + y end
  local product = twice(A:dot(x * 1))
  check.equal(sum:item(), 3 * n * (n + 1) / 2)
  check.that(np.array_equal(product, 4 * np.arange(n)))
  lgt.options { kernel_fusion = true }
end)

check.done()
