#!/usr/bin/python3
"""What ranks send each other for operations whose elements are named by data: those elements, once each.

Who must send what is counted here from the positions, element by element; values are compared with NumPy's and SciPy's.
"""
import numpy as np
import scipy.sparse as sp

from common import case, finish
from script import measured

RANKS = 4


def owner_of(n, ranks=RANKS):
    """Which rank has each of n elements, or works on each of n rows."""
    return np.arange(n) // -(-n // ranks)


def wanted(owner, worker, positions):
    """What each rank sends, in elements, where the task of element i, on rank worker[i], needs positions[i]."""
    pairs = {(int(w), int(p)) for w, p in zip(worker, positions) if owner[p] != w}
    sent = [0] * RANKS
    for _, p in pairs:
        sent[owner[p]] += 1
    return sent


def expect(got, what):
    """what: {label: what each rank prints first}; a number: all the same."""
    if isinstance(got, str):
        return got
    for label, numbers in what.items():
        numbers = numbers if isinstance(numbers, list) else [numbers] * RANKS
        found = [line[0] for line in got[label]]
        if not np.allclose(found, numbers, rtol=1e-12, atol=0):
            return f"{label}: {found} instead of {numbers}"
    return None


# ---- products of sparse matrices ------------------------------------------------------------------------------

N, DEEP = 203, 3  # each row's columns lie all over the matrix
CHECK = "local function show(label, y) print(label, np.sum(y * np.arange(1, #y + 1)):item()) end\n"
ROWS = CHECK + """
local sp = require "sparse"
local n, deep = %d, %d
local k = np.arange(n * deep)
local columns = (np.floor_divide(k, deep) * 7 + k %% deep * 31) %% n
local A = sp.csr_matrix({k * 0.5 + 1, columns + 1, np.arange(n + 1) * deep + 1}, {shape = {n, n}})
local x = np.arange(n) * 0.25
local y
sent("first", 1, function() y = A:dot(x) end)
sent("again", 3, function() y = A:dot(x) end)
show("value", y)
local z = x * 2
sent("another", 1, function() y = A:dot(z) end)
z:iadd(1); y = A:dot(z)
sent("changed", 2, function() z:iadd(1); y = A:dot(z) end)
show("last", y)
A.data["..."] = A.data * 2
z:iadd(1); y = A:dot(z)
sent("scaled", 2, function() z:iadd(1); y = A:dot(z) end)
show("after", y)
y = A:dot(np.stack({z, z, z}, 2))
sent("matrix", 2, function() y = A:dot(np.stack({z, z, z}, 2)) end)
""" % (N, DEEP)


def rows():
    k = np.arange(N * DEEP)
    columns = (k // DEEP * 7 + k % DEEP * 31) % N
    matrix = sp.csr_matrix((k * 0.5 + 1, columns, np.arange(N + 1) * DEEP))
    x, weight = np.arange(N) * 0.25, np.arange(N) + 1.0
    worker = owner_of(N)
    must = [8 * n for n in wanted(owner_of(N), worker[k // DEEP], columns)]
    got = measured(ROWS, RANKS)
    return expect(got, {"again": 0, "another": must, "changed": must, "value": weight @ (matrix @ x),
                        "last": weight @ (matrix @ (2 * x + 3)), "after": weight @ (2 * matrix @ (2 * x + 6)),
                        "matrix": [3 * b for b in must]})


def first_time():
    """Rows of a matrix stay where they are: of n rows in tiles a few entries move, beside who needs what."""
    got = measured(ROWS, RANKS)
    if isinstance(got, str):
        return got
    entry = 8 + 4
    lists = 8 * 2 * N * DEEP / RANKS
    most = 8 * N / RANKS + entry * DEEP * RANKS + lists + 3 * 3 * 8 * 2
    return None if all(b <= most for b, _ in got["first"]) else f"{got['first']}, more than {most}"


case("a product with a sparse matrix sends what its rows need", rows)
case("the first one moves few entries of the matrix", first_time)

POISSON = """
local sp, solvers = require "sparse", require "solvers"
local n = 32
local beside = np.full(n * n - 1, -1)
beside[("%d::%d"):format(n, n)] = 0
local A = sp.diags({4, beside, beside, -1, -1}, {0, 1, -1, n, -n}, {shape = {n * n, n * n}, format = "csr"})
local b = np.sin(np.arange(n * n) * 0.1) + 1
local before, least, most
local x = solvers.cg(A, b, nil, {tol = 1e-10, maxiter = 12, callback = function()
  lgt.flush()
  local now = lgt.stats().bytes_sent
  if before then least, most = math.min(least or now, now - before), math.max(most or 0, now - before) end
  before = now
end})
print("least", least)
print("most", most)
"""


def poisson():
    n = 32
    worker = owner_of(n * n)
    near = [(i, i + d) for i in range(n * n) for d in (-n, -1, 1, n) if 0 <= i + d < n * n]
    must = wanted(worker, worker[[i for i, _ in near]], [j for _, j in near])
    folds = [8 * e + 3 * 8 for e in must]
    return expect(measured(POISSON, RANKS), {"least": folds, "most": folds})


case("conjugate gradients with a sparse matrix send halos and three numbers", poisson)

# ---- reading at positions -----------------------------------------------------------------------------------------

GATHER = CHECK + """
local n = 400
local a, B = np.arange(n) * 0.5, np.arange(n * 6):reshape(n, 6) * 1.0
local at = (np.arange(100) * 37) % n + 1
local y
sent("first", 1, function() y = a[at] end)
sent("again", 2, function() y = a[at] end)
show("value", y)
print("explained", lgt.explain(at):match("it names elements of another array: domain %d needs (%d+)"))
sent("changed", 3, function() a:iadd(1); y = a[at] end)
show("last", y)
B:iadd(1); y = B[at]
sent("rows", 1, function() B:iadd(1); y = B[at] end)
show("row", y["3"] * 0 + np.sum(y, 2)["3"])
local back = -at
y = a["::-1"][back]
sent("negative", 2, function() a:iadd(1); y = a["::-1"][back] end)
show("backward", y)
local square = at:reshape(10, 10)
y = a[square]
sent("square", 2, function() a:iadd(1); y = a[square] end)
show("squares", y:ravel())
"""


def gather():
    n, at = 400, np.arange(100) * 37 % 400
    a, weight = np.arange(n) * 0.5, np.arange(100) + 1.0
    must = wanted(owner_of(n), owner_of(100), at)
    squares = wanted(owner_of(n), np.repeat(owner_of(10), 10), at)
    eight = [8 * m for m in must]
    third = (np.arange(n * 6).reshape(n, 6) + 2)[at][2].sum() * 21
    return expect(measured(GATHER, RANKS), {
        "again": 0, "explained": 25, "changed": eight, "rows": [6 * b for b in eight], "negative": eight,
        "value": weight @ a[at], "last": weight @ (a + 3)[at], "row": third,
        "backward": weight @ (a + 5)[at], "squares": weight @ (a + 7)[at]})


case("reading at positions moves what they name", gather)

FEW = CHECK + """
local n = 4000
local a = np.arange(n) * 0.5
local at = np.array({ 7, 3999, -1, 7, 2000 }, { dtype = "int64" })
local y = a[at]
a:iadd(1); y = a[at]
sent("all", 3, function() a:iadd(1); y = a[at] end)
show("value", y)
"""


def few():
    """Fewer positions than a tile has elements: every rank looks, and gets those elements."""
    a = np.arange(4000) * 0.5 + 4
    value = np.arange(1, 6) @ a[[6, 3998, -1, 6, 1999]]
    must = [8, 8, 0, 16]
    return expect(measured(FEW, RANKS, options=["--min-tile=50"]), {"all": must, "value": value})


case("a few positions of a large array", few)

# What an image brought is far from the tile, and lies in memory of its own.
STAYS = """
local sp = require "sparse"
local n = 4000
local x, p = np.sin(np.arange(n)), np.span(1, n)["::-1"]:copy()
local A = sp.csr_matrix({ np.ones(n), { np.span(1, n), p } }, { shape = { n, n } })
local weight = np.arange(n) + 1
local function total(y) local t = np.sum(y * weight):item() lgt.fence() return t end
local here, taken, product = total(x), total(x[p]), total(A:dot(x))
for _ = 1, 3 do
  print("here", total(x * 2) == 2 * here and 1 or 0)
  local junk = {}
  for i = 1, 20 do junk[i] = np.full(n, -7 * i) lgt.flush() end
  lgt.fence() junk = nil collectgarbage() collectgarbage()
  print("taken", total(x[p]) == taken and 1 or 0, taken)
  print("product", total(A:dot(x)) == product and 1 or 0)
end
"""


def stays():
    x = np.sin(np.arange(4000))
    for ranks, domains in ((4, 1), (3, 1), (1, 4), (2, 2)):
        got = measured(STAYS, ranks, domains)
        if isinstance(got, str):
            return got
        if any(line[0] != 1 for lines in got.values() for line in lines):
            return f"{ranks} ranks, {domains} domains: what was read again is something else: {got}"
        if not np.isclose(got["taken"][0][1], x[::-1] @ np.arange(1, 4001)):
            return f"{ranks} ranks, {domains} domains: {got['taken']}"
    return None


case("what an image brought stays while other parts are used", stays)

# ---- writing at positions -----------------------------------------------------------------------------------------

SCATTER = CHECK + """
local n = 400
local a, k = np.arange(n) * 0.5, np.arange(150)
local at, v = k * 37 % 113 * 3 + 1, k * 1.5 + 1 -- some places are there twice
a[at] = v
show("last", a)
sent("again", 3, function() v:iadd(1); a[at] = v end)
show("again_value", a)
sent("same", 2, function() a[at] = v end)
np.add.at(a, at, v)
show("all", a)
local B = np.zeros(n, 6)
B[at] = v[":, *"] + np.arange(6)
show("rows", B:ravel())
B[{ {}, np.array({ 2, 5, 2, -1 }, { dtype = "int64" }) }] = np.arange(n)[":, *"] + np.arange(4) * 1000
show("columns", B:ravel())
local h = np.zeros(n, { dtype = "int64" })
np.add.at(h, at, 1)
show("counts", h)
local other = at:copy() -- shares memory with the first until it is written
other["77"] = 1000
local good, why = pcall(function() a[other] = v; return np.sum(a):item() end)
print("outside", good and 1 or 0, #why)
a["..."] = np.arange(n) * 1.0
a[at] = v
show("after", a)
"""


def scatter():
    n, k = 400, np.arange(150)
    at, v = k * 37 % 113 * 3, k * 1.5 + 1
    weight, value = np.arange(n) + 1.0, {}
    a = np.arange(n) * 0.5
    a[at] = v
    value["last"] = weight @ a
    v += 3
    a[at] = v
    value["again_value"] = weight @ a
    np.add.at(a, at, v)
    value["all"] = weight @ a
    long, b = np.arange(n * 6) + 1.0, np.zeros((n, 6))
    b[at] = v[:, None] + np.arange(6)
    value["rows"] = long @ b.ravel()
    b[:, [1, 4, 1, -1]] = np.arange(n)[:, None] + np.arange(4) * 1000
    value["columns"] = long @ b.ravel()
    value["counts"] = weight @ np.bincount(at, minlength=n)
    a = np.arange(n) * 1.0
    a[at] = v
    value["after"] = weight @ a
    moved = [8 * b for b in wanted(owner_of(150), owner_of(n)[at], k)]
    got = measured(SCATTER, RANKS)
    failed = expect(got, {**value, "again": moved, "same": 0, "outside": 0})
    if failed:
        return failed
    return None if len({line[1] for line in got["outside"]}) == 1 else f"the ranks say different things: {got['outside']}"


case("writing at positions moves the values to who has the places", scatter)

OUTSIDE = """
local a = np.arange(400) * 0.5
local at = np.arange(100) + 1
at["77"] = 401
local good, why = pcall(function() return np.sum(a[at]):item() end)
print("caught", good and 1 or 0, #why)
print("sum", np.sum(a[np.arange(100) * 4 + 1]):item())
local broken = np.arange(100) + 1
local bad = at[np.arange(100) * 2 + 1] -- positions that do not come about
good, why = pcall(function() return np.sum(a[bad]):item() end)
print("poisoned", good and 1 or 0, #why)
print("after", np.sum(a[broken]):item())
-- Where rows begin is not known on the last rank: its neighbours need what those rows name all the same.
local sp = require "sparse"
local A = sp.diags({-1, 4, -1}, {-1, 0, 1}, {shape = {400, 400}, format = "csr"})
local at = np.span(1, 401)
at[{396}] = 1000
A.pos["..."] = A.pos[at]
good, why = pcall(function() return np.sum(A:dot(a)):item() end)
print("rows", good and 1 or 0, #why)
"""


def outside():
    got = measured(OUTSIDE, RANKS)
    failed = expect(got, {"caught": 0, "sum": np.arange(0, 400, 4).sum() * 0.5, "poisoned": 0, "after": 99 * 100 / 4,
                          "rows": 0})
    if failed:
        return failed
    for label in ("caught", "poisoned", "rows"):
        if len({line[1] for line in got[label]}) != 1:
            return f"{label}: the ranks say different things: {got[label]}"
    return None


case("a position outside is the same error on all ranks", outside)

finish(1)
