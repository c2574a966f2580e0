#!/usr/bin/python3
"""No operation brings all of an array to a rank, but for those that say so.

Expressions over arrays of 160 kB and more run on ranks that may bring arrays of at most 24 kB to all, and give what one
process gives.  What rests on LAPACK or FFT libraries raises there; the error says what to do.  How much ranks send for some
of them is bounded by how often each element has to move.
"""
import re

from common import case, finish
from script import launch, measured

ARRAYS = """
local N, R = 20164, 142
local x, y = np.sin(np.arange(N) * 12.9898) * 4 + 5, np.cos(np.arange(N) * 7.233)
local m, w = x:reshape(R, R):copy(), y:reshape(R, R):copy()
local k, l = np.floor(x * 100):astype("int64"), np.floor(y * 500 + 501):astype("int64")
local permutation, mask, masked = (np.arange(N) * 51) % N + 1, x:gt(5), m:gt(5)
local rows, columns = k % R + 1, l % R + 1
local square = rows:reshape(R, R):copy()
local cube = x[":20000"]:reshape(20, 25, 40):copy()
local ascending, z = np.arange(N) * 0.5, x + np.array{0}
local c = np.floor(x):astype("complex128") + np.floor(y * 3) * 1i
lgt.fence()
lgt.options { replicate = 24576 }
"""
SETUP = ARRAYS + """
local function total(...) -- a number that depends on where each element is
  local sum = 0
  for j = 1, select("#", ...) do
    local a = (select(j, ...))
    if np.isarray(a) then
      a = np.ravel(a)
      if a.dtype == "complex128" then a = a.real + 3 * a.imag end
      local weight = np.arange(#a) % 97 + 1
      sum = sum + np.sum(np.where(np.isnan(a), 0.5, a) * weight):item() * (1 + j / 7)
    else
      sum = sum + (type(a) == "number" and a or a and 1 or 0)
    end
  end
  return sum
end
local function changed(a, f)
  a = a:copy()
  f(a)
  return a
end
local cases = {
CASES
}
for _, c in ipairs(cases) do
  local good, value = pcall(function() return total(c[2]()) end)
  if good then print(("%s\\t%.12g"):format(c[1], value)) else print(c[1] .. "\\t" .. tostring(value):gsub("\\n", " ")) end
end
"""

WORKS = {
    "picks": """m[{rows, columns}]; m[{rows, 3}]; m[{{}, rows}]; cube[{rows % 20 + 1, {}, columns % 40 + 1}]; m[masked]
        m[np.ix_(rows[":30"], columns[":40"])]; np.take(m, permutation[":100"]); np.take(m, rows, 2); x[permutation]
        np.argwhere(masked); np.nonzero(masked)[2]; np.flatnonzero(mask); np.compress(mask, x); np.extract(mask, x)
        np.choose(rows % 2 + 1, {x, y}); np.select({mask}, {x}, 0)""",
    "puts": """changed(m, function(a) a[{rows, columns}] = x end); changed(m, function(a) np.add.at(a, {rows, columns}, 1) end)
        changed(cube, function(a) a[{rows[":9"] % 20 + 1, {}, columns[":9"] % 40 + 1}] = 3 end)
        changed(np.zeros(2, 3), function(a) np.add.at(a, {rows % 2 + 1, columns % 3 + 1}, y) end)
        changed(np.zeros(10, 10), function(a) np.add.at(a.T, {rows % 10 + 1, columns % 10 + 1}, y) end)
        changed(np.zeros(2, 2, 2), function(a) a[{rows % 2 + 1, {}, columns % 2 + 1}] = np.expand_dims(y, 2) end)
        changed(x, function(a) np.add.at(a, rows, y) end); changed(m, function(a) a[masked] = np.arange(np.count_nonzero(masked)) end)
        changed(m, function(a) np.put(a, permutation, y) end); changed(m, function(a) np.put(a.T, permutation, y) end)
        changed(x, function(a) np.place(a, mask, y) end); changed(x, function(a) np.putmask(a, mask, y) end)""",
    "sorts": """np.sort(x); np.argsort(k); np.sort(m, 1); np.sort(m, 2); np.partition(x, 9)[9]; np.topk(x, 10); np.unique(k)
        np.unique(k, {return_index = true, return_inverse = true, return_counts = true}); np.lexsort{x, k}; np.median(x)
        np.percentile(x, {10, 30}); np.median(m, 1); np.union1d(k, l); np.trim_zeros(k - 100)""",
    "searches": """np.searchsorted(ascending, y * 9000); np.searchsorted(ascending, y[":50"] * 9000, "right")
        np.searchsorted(ascending, ascending, "right"); np.searchsorted(x, y, {sorter = np.argsort(x)})
        np.isin(k, permutation); np.isin(x, y); np.digitize(y * 9000, ascending); np.digitize(x, ascending["::-1"])
        np.interp(y * 9000, ascending, x); np.setdiff1d(k, l); np.intersect1d(k, l); np.setxor1d(k, l)
        np.intersect1d(permutation, l, {return_indices = true})""",
    "counts": """np.bincount(k); np.bincount(k, {weights = x}); np.bincount(permutation); np.bincount(permutation, {weights = y})
        np.histogram(x, 10); np.histogram(x, np.linspace(0, 10, 50)); np.histogram(x, 30, {weights = y}); np.histogram(x, ascending)
        (np.histogram2d(x, y, 10)); (np.histogramdd(m[{{}, {1, 3}}], 5))""",
    "complex": """np.sort(c); np.argsort(c); np.unique(c); np.unique(c, {return_counts = true}); np.sort_complex(x); np.isin(c, c[":900"])
        np.searchsorted(np.sort(c), c)""",
    "products": """m:dot(w); np.dot(m, w[1]); np.floor(m):astype("int64"):dot(np.floor(w * 9):astype("int64"))
        m.T:dot(w); np.tensordot(m, w, 1); np.inner(m, w); np.cov(m); np.einsum("ij,jk->ik", m, w); c:reshape(R, R):dot(w)
        cube:reshape(20, 1000):dot(y[":20000"]:reshape(1000, 20)); cube:reshape(20, 1000):dot(cube:reshape(20, 1000).T)
        np.linalg.matrix_power(m, 3); np.einsum("ij,kj->ik", m, w); np.matmul(cube, cube:reshape(20, 40, 25))""",
    "along": """np.take_along_axis(x, permutation, 1); np.take_along_axis(m, square, 2); np.take_along_axis(m, square, 1)
        np.take_along_axis(x:reshape(2, 10082), permutation:reshape(2, 10082) % 10082 + 1, 2); np.packbits(mask)
        np.unpackbits((k % 256):astype("uint8"), nil, {count = 20000}); changed(m, function(a) np.fill_diagonal(a, x) end)
        changed(m, function(a) np.put_along_axis(a, square, w, 2) end)
        changed(x, function(a) np.put_along_axis(a, permutation, y, 1) end)""",
    "lines": """np.convolve(x, y[":5"]); np.convolve(x, y[":300"], "same"); np.convolve(k, l[":7"], "valid"); np.convolve(c, c[":3"])
        np.convolve(m, w[":3, :5"], "same"); np.convolve(m, w[":2, :4"])
        np.correlate(x, y[":8"], "full"); np.add.reduceat(x, {1, 500, 3000, 2000}); np.add.reduceat(x, permutation[":900"])
        np.maximum.reduceat(m, {1, 50}, 2); np.maximum.reduceat(x:reshape(2, 10082), {1, 5000, 9000}, 2)""",
    "random orders": """np.random.seed(3) or np.random.permutation(20164); np.random.seed(3) or np.random.permutation(x)
        np.random.seed(3) or np.random.choice(20164, 900, {replace = false})
        changed(m, function(a) np.random.seed(3) np.random.shuffle(a) end)""",
    "scans": """np.subtract.accumulate(k); np.cumsum(k); np.maximum.accumulate(x); np.cumsum(np.floor(m), 1); np.cumsum(np.floor(m), 2)""",
}


# What needs a line or a matrix whole.
REFUSED = """np.fft.fft(x); np.fft.rfft(x); np.fft.irfft(c); np.linalg.solve(m, w); np.linalg.inv(m); np.linalg.det(m)
    np.linalg.cholesky(m); np.linalg.qr(m); np.linalg.svd(m); np.linalg.eigh(m); np.linalg.eig(m); np.linalg.lstsq(m, x[":142"])"""

# How many bytes all ranks together send for one turn, at most, for each element of 8 bytes: the whole to all would be 24.
# (What new positions name is told in 16 bytes or less for each.)
SENT = {
    "np.bincount(k)": 2, "np.histogram(x, 30)": 0.1, "np.convolve(x, y[':5'])": 0.1, "np.choose(rows % 2 + 1, {x, y})": 0,
    "np.packbits(mask)": 0.01, "np.add.reduceat(x, {1, 500, 3000})": 0.1, "np.searchsorted(ascending, y[':9'])": 0.1,
    "m[{rows, columns}]": 14, "m.T:dot(w[{{}, {1, 3}}])": 2, "np.subtract.accumulate(x)": 0.25,
}


def refused():
    script = ARRAYS + "\n".join(f"print(pcall(function() local a = {e.strip()} return np.sum(a * 1):item() end))"
                               for e in re.split(r";\s|\n", REFUSED)) + "\nprint(np.sum(k):item())\n"
    outcome = launch(script, 3, options=["--all-output=0"])
    *lines, last = outcome.out.splitlines() or [""]
    for line in lines:
        if not re.match(r"false\t.*needs all of an array of \d+ bytes on every rank, where at most 24576 .*replicate", line):
            return f"{line!r} is no refusal"
    return None if not outcome.status and len(lines) == 12 and last.isdigit() else str(outcome)[-2500:]


def sends():
    body = "\n".join(f'local f = function() local a = {e} lgt.flush() return a end f() sent("e{i}", 2, f)'
                     for i, e in enumerate(SENT))
    got = measured(ARRAYS + body.replace("local f =", "f =").replace("f =", "local f =", 1), 4)
    if isinstance(got, str):
        return got[:3000]
    for i, (expression, most) in enumerate(SENT.items()):
        total = sum(bytes_sent for bytes_sent, _ in got[f"e{i}"])
        if total > most * 20164:
            return f"{expression}: {total} bytes are sent, {total / 20164:.2f} for an element"
    return None


def check(expressions):
    def run():
        body = ",\n".join(f"{{ [=[{e.strip()}]=], function() return {e.strip()} end }}" for e in re.split(r";\s|\n", expressions)
                          if e.strip())
        script = SETUP.replace("CASES", body)
        alone, ranks = launch(script, 1), launch(script, 3, options=["--all-output=0"])
        if alone.status or ranks.status:
            return str(ranks if ranks.status else alone)[:3000]
        found = ranks.out.splitlines()
        for expected, line in zip(alone.out.splitlines(), found):
            label, value = expected.split("\t")
            try:
                good = abs(float(line.split("\t")[1]) - float(value)) <= 1e-9 * abs(float(value))
            except ValueError:
                good = False
            if not good:
                return f"{line} instead of {value}"
        return None if len(found) == len(alone.out.splitlines()) else "lines are missing"
    return run


for name, expressions in WORKS.items():
    case(f"{name}: no array is brought whole to all ranks", check(expressions))

case("what rests on libraries has a limit, and says so", refused)
case("how much is sent", sends)

finish(1)
