-- Nothing waits unless a value is looked at: a call leaves its launches pending, and those that are there
-- from before.  (Waiting would plan and run them.)
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
local np = require "array"
local lgt = require "lgt"
local front = lgt.front

local n = 64
local x, y = np.random.rand(n) + 0.5, np.random.rand(n)
local m = np.random.rand(8, 8) + np.eye(8) * 8
local t = np.random.rand(4, 5, 6)
local i = np.random.randint(1, n + 1, n)
local z = m + m * 1i

local asynchronous = {
  ["sort"] = function() return np.sort(x), np.argsort(x), np.partition(x, 3), np.topk(x, 4), np.lexsort { x, y } end,
  ["searchsorted"] = function() return np.searchsorted(np.sort(x), y), np.isin(i, i) end,
  ["scans"] = function() return np.cumsum(x), np.cumprod(t, 2), np.add.accumulate(x), np.nancumsum(x) end,
  ["gather"] = function() return x[i], np.take(t, i % 5 + 1, 2), m[{ i % 8 + 1, i % 8 + 1 }] end,
  ["take_along_axis"] = function() return np.take_along_axis(x, np.argsort(y), 1) end,
  ["scatter"] = function() x[i] = y end,
  ["scatter in place"] = function() x:at(i):iadd(y) end,
  ["add.at"] = function() np.add.at(x, i, y) end,
  ["assignment through a mask"] = function() x[y:gt(2)] = 1 end,
  ["median"] = function() return np.median(x), np.quantile(t, { 0.1, 0.5 }, 2), np.nanpercentile(x, 20) end,
  ["nan"] = function() return np.nanmax(x), np.nanstd(t, 1), np.nanargmin(x) end,
  ["averages"] = function() return np.average(x, { weights = y }), np.std(t, 2), np.cov(m), np.corrcoef(m) end,
  ["histogram"] = function() return np.histogram(x), np.histogram2d(x, y), np.bincount(i, { size = n }) end,
  ["differences"] = function() return np.diff(x), np.gradient(t), np.trapz(x), np.unwrap(x) end,
  ["joining"] = function() return np.pad(m, 2, "reflect"), np.roll(m, 1), np.tile(x, 2), np.block { { m, m } } end,
  ["tables of elements"] = function() return np.array { x[1], 2, x[3] } end,
  ["splitting"] = function() return np.split(x, 4)[1] * 2, np.delete(x, { 1, 5 }), np.insert(x, 3, 1) end,
  ["einsum"] = function() return np.einsum("ij,jk->ik", m, m), np.einsum("ijk->j", t), np.tensordot(t, t, 3) end,
  ["products"] = function()
    return np.kron(m, m), np.cross(t[":, :, 1:3"], t[":, :, 1:3"]), np.matmul(t, t:moveaxis(2, 3))
  end,
  ["solve"] = function() return np.linalg.solve(m, m), np.linalg.inv(z), np.linalg.det(m), np.linalg.pinv(m) end,
  ["decompositions"] = function()
    return np.linalg.qr(m), np.linalg.svd(z), np.linalg.eigh(m), np.linalg.eig(m), np.linalg.cholesky(m + m.T)
  end,
  ["least squares"] = function() return np.linalg.lstsq(m, m[1]), np.polyfit(x, y, 2), np.linalg.cond(m) end,
  ["norms"] = function() return np.norm(m, 2), np.norm(m, "nuc"), np.linalg.matrix_rank(m) end,
  ["fft"] = function() return np.fft.fft(x), np.fft.irfftn(np.fft.rfftn(t)), np.fft.fftshift(x) end,
  ["random"] = function()
    return np.random.gamma(2, 1, n), np.random.poisson(x), np.random.permutation(n),
      np.random.choice(n, 5, { p = y / np.sum(y) })
  end,
  ["reduce"] = function() return np.subtract.reduce(m), np.bitwise_or.reduce(i), np.sum(x, { where = y:gt(0.5) }) end,
  ["special"] = function() return np.gcd(i, 6), np.nextafter(x, 0), np.round(x, 2), np.interp(y, np.sort(x), x) end,
}

-- How many launches are pending, up to a constant: those the runtime has taken from the record lower its limit.
local function pending() return front.count - front.limit end

local MARKS = 12

local function leaves_pending(call)
  lgt.fence()
  local before, marks = pending(), {}
  for k = 1, MARKS do marks[k] = x + k end -- launches that are there from before
  local kept = { call() }
  return #marks == MARKS and kept ~= nil and pending() > before + MARKS
end

for name, call in pairs(asynchronous) do
  check.case(name, function()
    call() -- kinds are registered, files loaded
    check.that(leaves_pending(call), "the launches were not left pending: something waited")
    lgt.fence()
  end)
end

-- What does wait shows that the test can tell.
check.case("a mask waits", function()
  check.that(not leaves_pending(function() return x[y:gt(0.5)] end), "this test does not see waiting")
  check.that(not leaves_pending(function() return np.unique(i) end), "this test does not see waiting")
end)

check.done()
