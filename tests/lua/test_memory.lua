-- Running out of memory is an error at the line that asked for too much, and the script goes on.  Run with --mem=64M:
-- all that grows with arrays counts, the scratch memory of tasks and what Lua keeps beside arrays, too.
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
local np = require "array"
local lgt = require "lgt"
local ffi = require "ffi"

local M = 2 ^ 20
local LIMIT = 64 * M

local function works()
  check.equal(np.sum(np.arange(1000)):item(), 499500)
end

-- The most memory that the process has had since the call before.
local function most_memory()
  local status = io.open("/proc/self/status")
  local most = status and tonumber(status:read("*a"):match("VmHWM:%s*(%d+) kB"))
  if status then status:close() end
  local clear = io.open("/proc/self/clear_refs", "w")
  local cleared = clear and clear:write("5\n") and clear:close()
  return most and cleared and most * 1024
end

-- f() either works or runs out of memory, and takes no more than there may be meanwhile (code and tables aside).
local function within(f)
  collectgarbage()
  most_memory()
  local before = most_memory()
  local good, message = pcall(f)
  local most = most_memory()
  if not good then check.that(message:find("out of memory", 1, true), "another error: " .. message) end
  if before and most then
    local more = most - before
    check.that(more < LIMIT * 1.2, ("%.0f MB more than before, where %.0f may be taken"):format(more / M, LIMIT / M))
  end
  works()
  return good, message
end

local function refused(f) check.that(not within(f), "it should have run out of memory") end
local function computed(f)
  local good, message = within(f)
  check.that(good, "it should have had enough memory: " .. tostring(message))
end

local function matrix(n) return np.random.rand(n, n) end

check.case("what is too large is refused, and told", function()
  local x = np.random.rand(5 * M)
  local good, message = pcall(function() return np.sum(np.concatenate({ x, x })):item() end)
  check.that(not good)
  check.that(message:find("needs 83886080 more bytes, 41943040 of 67108864 are taken", 1, true), message)
  x = nil
  works()
end)

check.case("what fails while memory is waited for spoils what comes of it", function()
  local held = { np.random.rand(3 * M) }
  lgt.fence()
  local late = np.sum(np.sin(np.cos(np.arange(4 * M) * 0.5)))
  local bad = np.linalg.inv(np.zeros(100, 100) + late * 0)
  lgt.flush()
  local other = held[1] + bad[1][1]
  lgt.flush()
  held[1] = nil -- its memory is free when the sum is done
  local result = bad[1][1] + np.zeros(3 * M)
  local good, message = pcall(function() return result:item(1) end)
  check.that(not good and message:find("singular", 1, true), message)
  check.that(not pcall(other.item, other, 1))
  pcall(lgt.fence)
end)

check.case("scratch memory of decompositions", function()
  refused(function() return np.linalg.det(matrix(2600)):item() end)
  refused(function() return np.linalg.solve(matrix(2500), np.ones(2500)):item(1) end)
  computed(function() return np.linalg.solve(matrix(1700), np.ones(1700)):item(1) end)
  computed(function() return np.linalg.inv(matrix(1500)):item(1, 1) end)
end)

check.case("scratch memory of sorts", function()
  refused(function() return np.sort(np.random.rand(2, 2 * M)):item(1, 1) end)
  refused(function() return np.median(np.random.rand(5 * M)):item() end)
  refused(function() return np.argsort(np.random.rand(1, 2 * M)):item(1, 1) end)
  computed(function() return np.sort(np.random.rand(2 * M)):item(1) end)
  computed(function() return np.argsort(np.random.rand(2, 900000)):item(1, 1) end)
  computed(function() return np.argpartition(np.random.rand(2 * M), 5):item(1) end)
end)

check.case("scratch memory of Fourier transforms", function()
  refused(function() return np.fft.fft(np.random.rand(1.5 * M)):item(1) end)
  computed(function() return np.fft.fft2(matrix(1024)):item(1, 1) end)
end)

check.case("scratch memory of products", function()
  local a = np.random.rand(2 ^ 10, 2 ^ 12)["::2, ::2"]
  computed(function() return a:dot(a.T):item(1, 1) end)
end)

check.case("a product of an array with itself makes one copy of it", function()
  computed(function()
    local t = np.arange(148 ^ 3):reshape(148, 148, 148) % 7 * 1.0
    return np.einsum("ijk,ilk->jl", t, t):item(1, 1)
  end)
  local t = np.arange(30 ^ 3):reshape(30, 30, 30) % 7
  local sum = np.einsum("ijk,ilk->jl", t, t)
  check.equal(sum:totable(), np.einsum("ijk,ilk->jl", t, t * 1):totable())
  check.equal(np.einsum("ijk,ijl->ikl", t, t):totable(), np.einsum("ijk,ijl->ikl", t, t * 1):totable())
  local other = np.einsum("ijk,lik->jl", t, t) -- other axes in their places
  check.equal(other:totable(), np.einsum("ijk,lik->jl", t, t * 1):totable())
end)

check.case("products with sparse matrices are not taken for what needs scratch memory", function()
  local n = 500000
  local A = require("sparse").diags({ 2, -1, -1 }, { 0, 1, -1 }, { shape = { n, n } }):tocsr()
  local x = np.ones(n)
  lgt.fence()
  local before = lgt.stats().fused_groups
  for _ = 1, 20 do x = x + 0.25 * A:dot(x) - 1 end
  check.equal(x:item(n / 2), -19)
  local groups = lgt.stats().fused_groups - before
  check.that(groups < 50, ("%d groups for 20 turns"):format(groups))
end)

check.case("a loop whose arrays die soon has the memory of a few turns", function()
  computed(function()
    local x = np.random.rand(1.5 * M)
    for _ = 1, 12 do x = np.sort(x) * 1 end
    return x:item(1)
  end)
  computed(function()
    local x = np.random.rand(700000)
    for _ = 1, 6 do x = np.fft.fft(x) end
    return x:item(1)
  end)
end)

check.case("what is only held is not stored where memory is short", function()
  local n = 3.1e6
  local a = { x = np.arange(n) * 1.0, y = np.arange(n) * 3.0 }
  lgt.fence()
  a.double = a.x * 2 -- can be computed again from x, which is held, too
  a.sum = a.y + a.double -- over y
  a.y = nil
  check.equal(np.sum(a.sum):item(), 5 * (n - 1) * n / 2)
  check.equal(a.sum:item(11), 50)
  a.sum = nil
  collectgarbage()
  check.equal(a.double:item(11), 20)
end)

-- Variables of a turn of a loop, 4 MB each, made of two arrays that nobody else has any more: these are kept instead.
local function variables(turn)
  local p, q = np.full(M / 2, turn + 0.5), np.full(M / 2, turn + 0.25)
  lgt.fence()
  local a = 2 * p + q
  local b = p - q
  local c = a * b
  local d = a + c
  local e = b / d
  return a, b, c, d, e, np.sqrt(e + c + d)
end

check.case("variables of a loop are there when memory is full", function()
  local held, full = { variables(1) }, {}
  collectgarbage()
  lgt.fence()
  for k = 1, 9 do
    full[k] = np.full(M / 2, k)
    lgt.fence()
  end
  for k, wanted in ipairs { 4.25, 0.25, 1.0625, 5.3125, 0.25 / 5.3125 } do
    check.equal(np.max(held[k]):item(), wanted)
    check.equal(np.min(held[k]):item(), wanted)
  end
  for k = 1, 9 do check.equal(full[k][k]:item(), k) end
end)

check.case("many small arrays leave their memory to a large one", function()
  computed(function()
    local t = {}
    for i = 1, 2000 do t[i] = np.random.rand(3500) end
    np.sum(t[2000]):item()
    for i = 1, 2000 do t[i] = nil end
    return np.sort(np.random.rand(2 * M)):item(1)
  end)
end)

check.case("copies for others count until they are given back", function()
  local x, kept = np.random.rand(3 * M), {}
  refused(function()
    for i = 1, 4 do kept[i] = x:dlpack() end
  end)
  check.equal(#kept, 1)
  check.close(np.sum(np.from_dlpack(kept[1])):item(), np.sum(x):item(), 1e-6)
  collectgarbage()
  computed(function()
    for _ = 1, 4 do
      local m = ffi.cast("lgt_dl_managed *", x:dlpack())
      m.deleter(m)
    end
  end)
end)

check.case("copies of FFI memory and tables are arrays", function()
  local memory, kept = ffi.new("double[?]", 3 * M), {}
  refused(function()
    for i = 1, 4 do kept[i] = np.array(memory) end
  end)
  check.equal(#kept, 2)
  for i = 1, #kept do kept[i] = nil end
  computed(function()
    for _ = 1, 8 do np.array(memory) end
  end)
  local numbers = {}
  for i = 1, 2 * M do numbers[i] = i end
  refused(function()
    for i = 1, 5 do kept[i] = np.array(numbers) end
  end)
  check.that(#kept > 1)
  for i = 1, #kept do kept[i] = nil end
  computed(function()
    for _ = 1, 8 do np.array(numbers) end
  end)
end)

local path = os.tmpname()

check.case("texts of numbers", function()
  local file = assert(io.open(path, "w"))
  for _ = 1, 8 do file:write(("1,2,3,4,5,6,7,8\n"):rep(M / 8)) end
  file:close()
  refused(function() return np.loadtxt(path, { delimiter = "," }):item(1, 1) end)
  computed(function() return np.loadtxt(path, { delimiter = ",", max_rows = M / 4 }):item(1, 1) end)
end)

-- A header that promises more than the file has, and than there is.
check.case("files that claim to be large", function()
  local header = "{'descr': '<f8', 'fortran_order': False, 'shape': (%s), }"
  for _, shape in ipairs { "1000000000000000,", "3000000000, 1000000000", "20000000," } do
    local text = header:format(shape)
    local file = assert(io.open(path, "wb"))
    file:write("\147NUMPY\1\0", string.char(118, 0), text, (" "):rep(117 - #text), "\n")
    file:close()
    local good, message = pcall(function() return np.load(path) end)
    check.that(not good and message:find("test_memory.lua", 1, true), message)
    works()
  end
end)
os.remove(path)

-- Of the 16 terms of each row of the product 4 remain: there is room for these only.
check.case("terms of a sparse product that meet", function()
  local sparse = require "sparse"
  local n = 220000
  local i = np.arange(4 * n, { dtype = "int32" })
  local pos = np.arange(n + 1, { dtype = "int32" }) * 4
  local a = sparse.csr_matrix({ np.ones(4 * n), i * 7919 % n, pos }, { shape = { n, n }, base = 0 })
  local b = sparse.csr_matrix({ np.ones(4 * n), i % 4 * 5, pos }, { shape = { n, 20 }, base = 0 })
  computed(function()
    local c = a:dot(b)
    check.equal(c.nnz, 4 * n)
    check.equal(c:sum():item(), 16 * n)
  end)
end)

-- The collector sees a small object where a library holds the factors of a matrix.
check.case("factors of sparse matrices", function()
  local sparse, solvers = require "sparse", require "solvers"
  local n = 100
  local size = n * n
  local diagonals = { np.full({ size }, 4), np.full({ size - 1 }, -1), np.full({ size - n }, -1) }
  local a = sparse.diags(diagonals, { 0, 1, n }):tocsr()
  a = a + a.T
  local nnz, most = solvers.splu(a).nnz, 0
  local one = lgt.stats().bytes_in_libraries
  check.that(one > 8 * nnz, one)
  for _ = 1, 64 do
    solvers.splu(a)
    most = math.max(most, lgt.stats().bytes_in_libraries)
  end
  check.that(most < 16 * one, most / one)
  collectgarbage()
  collectgarbage()
  check.equal(lgt.stats().bytes_in_libraries, 0)
end)

check.case("a task's line is told after a launch of the same task was refused", function()
  local double = lgt.task { name = "double", args = { "in", "out" }, generator = function(_, x) return 2 * x end }
  local x, kept = np.ones(M), {}
  kept[0] = np.empty(M)
  double(x, kept[0])
  lgt.fence()
  check.that(not pcall(double, np.ones(3), np.empty(4)), "shapes that differ")
  local here = debug.getinfo(1, "l").currentline + 4
  local good, message = pcall(function()
    for k = 1, 20 do
      kept[k] = np.empty(M)
      double(x, kept[k])
    end
    lgt.fence()
  end)
  check.that(not good and message:find("test_memory.lua:" .. here, 1, true), tostring(message))
  kept = nil
  collectgarbage()
  works()
end)

check.done()
