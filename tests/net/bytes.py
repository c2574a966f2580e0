#!/usr/bin/python3
"""What ranks send each other: no byte more than must move.

Each script prints, on every rank, what one turn of it has sent; who must send what is counted here, point by point.
"""
import re

import numpy as np

from common import case, finish
from script import launch, measured


def owners(shape, grid):
    """Which domain has each element, for tiles in a grid."""
    domain = np.zeros(shape, int)
    for d, n in enumerate(grid):
        tile = -(-shape[d] // n)
        along = np.arange(shape[d]) // tile
        domain = domain * n + along.reshape([-1 if k == d else 1 for k in range(len(shape))])
    return domain


def halos(n, m, grid, ranks, local=1):
    """What each rank sends where the inner points of n x m, in tiles, read their four neighbours."""
    domain = owners((n, m), grid)
    wanted = set()  # (who wants it, element)
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            for x, y in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)):
                if domain[x, y] // local != domain[i, j] // local:
                    wanted.add((domain[i, j], x, y))
    sent = [0] * ranks
    for _, x, y in wanted:
        sent[domain[x, y] // local] += 8
    return sent


def steps(text, ranks, expected, local=1, options=("--widen=0",)):
    """In each step of the script every rank sends so many bytes."""
    def check():
        got = measured(text, ranks, local, options=options)
        if isinstance(got, str):
            return got
        return None if [b for b, _ in got["step"]] == expected else f"sent {got['step']} instead of {expected}"
    return check


STENCIL = """
local n, m = %d, %d
local grid = np.zeros(n + 2, m + 2)
grid["1, :"] = 40
local center, north, south = grid["2:-2, 2:-2"], grid[":-3, 2:-2"], grid["3:, 2:-2"]
local east, west = grid["2:-2, 3:"], grid["2:-2, :-3"]
local function step()
  local average = center + north + east + west + south
  center["..."] = 0.2 * average
end
for _ = 1, 3 do step() end
sent("step", 10, step)
"""


def stencil(n, m, grid, ranks, local=1):
    return steps(STENCIL % (n, m), ranks, halos(n + 2, m + 2, grid, ranks, local), local)


case("a stencil in rows sends its halos", stencil(120, 30, (4, 1), 4))
case("a stencil in squares sends its halos", stencil(60, 60, (2, 2), 4))
case("two domains a rank: halos between ranks", stencil(120, 30, (4, 1), 2, 2))


# The fields of a staggered grid: some have an element less along one dimension, or the other.
STAGGERED = """
local n = 100
local Ez, Hx, Hy = np.zeros(n, n), np.zeros(n, n - 1), np.zeros(n - 1, n)
Ez[{7, 8}] = 1
local function step()
  Hx = Hx - 0.5 * (Ez[":, 2:"] - Ez[":, :-2"])
  Hy = Hy + 0.5 * (Ez["2:, :"] - Ez[":-2, :"])
  local change = (Hy["2:, 2:-2"] - Hy[":-2, 2:-2"]) - (Hx["2:-2, 2:"] - Hx["2:-2, :-2"])
  Ez["2:-2, 2:-2"] = 0.9 * Ez["2:-2, 2:-2"] + 0.5 * change
end
sent("begin", 1, step)
sent("step", 10, step)
"""


def staggered():
    """One rank sends a row of Hy, the other one what is new in a row of Ez."""
    got = measured(STAGGERED, 2, options=("--widen=0",))
    if isinstance(got, str):
        return got
    for label, columns in (("begin", 100), ("step", 98)):
        sent = [b for b, _ in got[label]]
        if sent != [8 * 98, 8 * columns]:
            return f"{label}: sent {sent}"
    return None


case("fields of a staggered grid send halos, from the beginning", staggered)


# What an array is joined of is where it was; the array is shared evenly nevertheless.
JOINED = """
local n = 100
local joined = np.concatenate { np.arange(n) * 0.5, np.arange(n) * 0.25, np.arange(2 * n) * 2.0 }
local y = joined + 1
lgt.flush()
print("has", lgt.explain(y):match("domain %d: an instance of %[(%d+):(%d+)%]"))
print("sum", np.sum(y):item(), 0)
"""


def joined():
    got = measured(JOINED, 2)
    if isinstance(got, str):
        return got
    total = np.arange(100).sum() * 0.75 + np.arange(200).sum() * 2 + 400
    if got["sum"][0][0] != total:
        return f"sum {got['sum']} instead of {total}"
    return None if got["has"] == [(1, 200), (201, 400)] else f"ranks have {got['has']}"


case("what is joined of parts is shared evenly", joined)


def ahead(options, expected):
    """Tiles that are large enough to do something before the halos come: so many tasks in ten steps, and the same halos."""
    text = (STENCIL % (400, 120)).replace("sent(", "lgt.flush() lgt.stats_reset() sent(")
    text += 'print("ahead", lgt.stats().tasks_ahead)'

    def check():
        got = measured(text, 2, options=("--widen=0", *options))
        if isinstance(got, str):
            return got
        good = [b for b, _ in got["step"]] == halos(402, 122, (2, 1), 2) and got["ahead"] == [(expected,)] * 2
        return None if good else f"{got}"
    return check


case("across a network a large tile does not wait for its halo", ahead(("--tcp",), 10))
case("in shared memory it does", ahead((), 0))
case("as it does where a message takes no time", ahead(("--tcp", "--overlap=0"), 0))


def wide_halos(n, m, grid, ranks, turns):
    """The same once for several turns: of the inner points each tile computes others around it, as many in each of the
    dimensions that are cut as there are turns to come, and reads their neighbours, of which those at the edge never change."""
    domain = owners((n, m), grid)
    inner = np.zeros((n, m), bool)
    inner[1:-1, 1:-1] = True
    sent = [0] * ranks
    for rank in range(ranks):
        rows, columns = np.nonzero((domain == rank) & inner)
        box = [rows.min(), rows.max() + 1, columns.min(), columns.max() + 1]
        for d in range(2):
            if grid[d] > 1:
                box[2 * d], box[2 * d + 1] = box[2 * d] - turns + 1, box[2 * d + 1] + turns - 1
        computes = np.zeros((n, m), bool)
        computes[max(box[0], 0):box[1], max(box[2], 0):box[3]] = True
        computes &= inner
        reads = computes.copy()
        for d in range(2):
            reads |= np.roll(computes, 1, d) | np.roll(computes, -1, d)
        for other in range(ranks):
            sent[other] += 8 * int((reads & inner & (domain == other)).sum()) if other != rank else 0
    return sent


def wide_steps(n, m, grid, ranks, turns, most):
    """A window is so many steps of six launches, and a group: one exchange, of at most so many messages."""
    expected = [b / turns for b in wide_halos(n + 2, m + 2, grid, ranks, turns)]
    text = (STENCIL % (n, m)).replace("for _ = 1, 3 do", "lgt.flush() for _ = 1, 8 do").replace('"step", 10', '"step", 8')

    def check():
        got = measured(text, ranks, options=("--widen=1000000", f"--window={6 * turns}"))
        if isinstance(got, str):
            return got
        good = [b for b, _ in got["step"]] == expected and all(messages <= most / turns for _, messages in got["step"])
        return None if good else f"sent {got['step']} instead of {expected} in at most {most} messages in {turns} steps"
    return check


case("a stencil in rows sends wide halos once in four steps", wide_steps(120, 30, (4, 1), 4, 4, 2))
case("a stencil in squares sends wide halos once in four steps", wide_steps(60, 60, (2, 2), 4, 4, 3))
case("a stencil of two ranks sends wide halos once in eight steps", wide_steps(120, 30, (2, 1), 2, 8, 1))

# Two views of one array that are far apart: what a domain takes from a sibling, the sibling may have in two pieces of
# memory, one of which a message has yet to fill.
SIBLINGS = """
local part = np.arange(12 * 13):reshape(12, 13) + 1.0
local all = np.concatenate({part, part, part}, 1)
local difference = all["2:-2, ::-2"].T - all["17:-7:2, 1:1"]
print("sum", difference:sum()())
"""


def siblings():
    got = measured(SIBLINGS, 2, 3)
    if isinstance(got, str):
        return got
    rows = np.concatenate([np.arange(12 * 13).reshape(12, 13) + 1] * 3)
    expected = (rows[1:-1, ::-2].T - rows[16:30:2, :1]).sum()
    return None if got["sum"] == [(expected,)] * 2 else f"{got['sum']}, not {expected}"


case("what siblings have in several pieces is found", siblings)

# ---- programs in time steps: what their arrays need of each other's tiles, once each, and nothing else ------

WAVE = """
local n = 60
local before = np.arange(n * n):reshape(n, n) % 17 + 0.0
local now = before + 1
local function step()
  local inside = now["2:-2, 2:-2"]
  local laplacian = now["3:, 2:-2"] + now[":-3, 2:-2"] + now["2:-2, 3:"] + now["2:-2, :-3"] - 4 * inside
  local after = np.zeros(n, n)
  after["2:-2, 2:-2"] = 2 * inside - before["2:-2, 2:-2"] + 0.25 * laplacian
  after["1, :"] = now["2, :"]
  after["-1, :"] = now["-2, :"]
  after[":, 1"] = now[":, 2"]
  after[":, -1"] = now[":, -2"]
  before, now = now, after
end
for _ = 1, 6 do step() end
sent("step", 10, step)
"""

JACOBI = """
local n = 60
local a, b = np.ones(n, n), np.zeros(n, n)
local function average(a)
  return 0.2 * (a["2:-2, 2:-2"] + a["2:-2, :-3"] + a["2:-2, 3:"] + a["3:, 2:-2"] + a[":-3, 2:-2"])
end
local function step()
  b["2:-2, 2:-2"] = average(a)
  a["2:-2, 2:-2"] = average(b)
end
for _ = 1, 4 do step() end
sent("step", 10, step)
"""


for ranks, grid in ((2, (2, 1)), (4, (2, 2))):
    once = halos(60, 60, grid, ranks)
    case(f"a wave with open edges sends its halos, {ranks} ranks", steps(WAVE, ranks, once))
    case(f"two grids in turn send their halos, {ranks} ranks", steps(JACOBI, ranks, [2 * b for b in once]))

# A padded vector is cut like the vector, with what pads it at its ends; fluxes at the cells' edges, one more, likewise.
BURGERS = """
local n = 512
local function five(padded, k, towards)
  local views = {}
  for j = 0, 4 do views[j + 1] = padded[{{k + j * towards, k + j * towards + n}}] end
  return unpack(views)
end
local function upwind(a, b, c, d, e) return (2 * a - 13 * b + 47 * c + 27 * d - 3 * e) / 60 end
local u = np.arange(n) % 7 * 1.0
local function step()
  local right, left = np.pad(0.5 * u + 1, 3, "wrap"), np.pad(0.5 * u - 1, 3, "wrap")
  local edges = upwind(five(right, 1, 1)) + upwind(five(left, 6, -1))
  u = u + 0.01 * (edges[":-2"] - edges["2:"])
end
for _ = 1, 60 do step() end
sent("step", 10, step)
"""


def burgers(ranks, n=512):
    """Each owner has n / ranks cells, and of the padded vectors and the edges what lies there; the last one the rest."""
    tile = n // ranks
    cell = np.minimum(np.arange(n) // tile, ranks - 1)
    padded = np.concatenate([[0] * 3, cell, [ranks - 1] * 3])
    edge = np.concatenate([cell, [ranks - 1]])
    edge[np.arange(1, ranks) * tile] -= 1  # a tile takes in the edge just beyond it
    wanted = {("edge", k, cell[i]) for i in range(n) for k in (i, i + 1) if edge[k] != cell[i]}
    for name, first in (("right", 0), ("left", 1)):
        wanted |= {(name, k + j, edge[k]) for k in range(n + 1) for j in range(first, first + 5) if padded[k + j] != edge[k]}
        wanted |= {(name + " wraps", k, padded[k]) for k in range(3) if cell[n - 3 + k] != padded[k]}
        wanted |= {(name + " wraps", n + 3 + k, padded[n + 3 + k]) for k in range(3) if cell[k] != padded[n + 3 + k]}
    owner = {"edge": edge, "right": padded, "left": padded}
    sent = [0] * ranks
    for name, k, _ in wanted:
        sent[cell[(k - 3) % n] if "wraps" in name else owner[name][k]] += 8
    return sent


case("padded vectors send what pads them, and halos, 2 ranks", steps(BURGERS, 2, burgers(2)))


def more_burgers(ranks=4):
    """An edge of the cells lies with either of its neighbours, which is for a window to say."""
    got = measured(BURGERS, ranks)
    if isinstance(got, str):
        return got
    expected = burgers(ranks)
    good = all(b <= most + 16 for (b, _), most in zip(got["step"], expected))
    return None if good else f"sent {got['step']} instead of about {expected}"


case("padded vectors send what pads them, and halos, 4 ranks", more_burgers)

# Ranks of pages: what a row's links lead to, each element once to each owner of such rows; a sum of what is lost, and a norm.
PAGES = """
local sp = require "sparse"
local n = 400
local i = np.arange(n)
local from, to = {}, {}
for k = 1, 3 do from[k], to[k] = i, (i * i + 7 * k) % n end
local P = sp.csr_matrix({np.ones(3 * n), {np.concatenate(from), np.concatenate(to)}}, {shape = {n, n}, base = 0})
local rank = np.full(n, 1 / n)
local function step() rank = 0.85 / 3 * P:dot(rank) + 0.15 / n end
for _ = 1, 20 do step() end
sent("step", 10, step)
"""


def pages(ranks, n=400):
    tile = n // ranks
    wanted = {(i // tile, (i * i + 7 * k) % n) for i in range(n) for k in (1, 2, 3)}
    return [8 * sum(1 for who, j in wanted if j // tile == rank and who != rank) for rank in range(ranks)]


case("ranks of pages send what links lead to", steps(PAGES, 4, pages(4)))

SCAN = """
local n = 30000
local x = np.random.rand(n)
local m = np.random.rand(3000, 40)
lgt.options { replicate = 16384 }
np.cumsum(x)
sent("vector", 1, function() return np.cumsum(x) end)
sent("columns", 1, function() return np.cumsum(m, 1) end)
sent("rows", 1, function() return np.maximum.accumulate(m, 2) end)
"""


def scans():
    got = measured(SCAN, 3)
    if isinstance(got, str):
        return got
    edges, block = 2, 1024  # of tiles, which lie in whole blocks
    most = {"vector": 8 * (edges * block + 30 + 30 * 2), "columns": 8 * 40 * (edges * block + 9), "rows": 0}
    for what, limit in most.items():
        total = sum(b for b, _ in got[what])
        if total > limit:
            return f"{what}: {total} bytes were sent, at most {limit} must"
    return None


case("scans send the totals of blocks", scans)

SORT = """
local n = 400000
local x = np.random.rand(n)
lgt.options { replicate = 65536 }
local y = np.sort(x)
lgt.fence()
print("peak", lgt.stats().bytes_peak, 0)
sent("random", 1, function() np.sort(x) lgt.fence() end)
sent("positions", 1, function() np.argsort(x) lgt.fence() end)
sent("sorted", 1, function() np.sort(y) lgt.fence() end)
"""


def sorts():
    ranks, n = 4, 400000
    got = measured(SORT, ranks)
    if isinstance(got, str):
        return got
    total = {label: sum(b for b, _ in of) for label, of in got.items()}
    counts = 8 * 8 * 257 * ranks * (ranks - 1)  # of the digits of keys, and where runs are cut
    if total["random"] > 8 * n + counts or total["positions"] > 16 * n + counts:
        return f"elements move once, {total['random']} and {total['positions']} bytes were sent for {n} of them"
    if total["sorted"] > counts:
        return f"{total['sorted']} bytes were sent to sort what is sorted"
    share, most = 8 * n // ranks, max(b for b, _ in got["peak"])
    return None if most < 8 * share else f"a rank had {most} bytes, {most / share:.1f} times its share"


case("sorts send each element once", sorts)

# What rests on sorts: no array is brought to all ranks.
RESTING = """
local n = 200000
local x, k = np.random.rand(n), np.random.randint(0, 9, n)
local rows, columns = np.random.rand(2, 150000), np.random.rand(300, 700)
lgt.options { replicate = 65536 }
local m = np.median(x):item()
local p = np.percentile(x, { 10, 90 })
assert(m > 0.45 and m < 0.55 and p(1) < 0.15 and p(2) > 0.85)
assert(np.sort(rows, 2)(2, 150000) == np.max(rows[2]):item() and np.sort(columns, 1)(300, 7) == np.max(columns[":, 7"]):item())
assert(np.topk(x, 3)(1) == np.max(x):item() and np.partition(x, 2)(1) == np.min(x):item())
local order = np.lexsort { x, k }
assert(k[order](1) == 0 and k[order](n) == 8 and np.all(np.isin(k, np.arange(9))))
local u, counts = np.unique(k, { return_counts = true })
assert(#u == 9 and np.sum(counts):item() == n and #x[x:gt(2)] == 0 and #np.union1d(k, u) == 9)
print("works", 1, 1)
"""
case("what rests on sorts brings no array to all ranks",
     lambda: None if isinstance(got := measured(RESTING, 3), dict) and "works" in got else got)

CG = """
local n, m = 126, 20
local p, r, x = np.zeros(n + 2, m + 2), np.ones({n + 2, m + 2}), np.zeros(n + 2, m + 2)
local inner = "2:-2, 2:-2"
local rr = np.sum(r[inner] * r[inner])
p[inner] = r[inner]
local function step()
  local q = 4 * p[inner] - p[":-3, 2:-2"] - p["3:, 2:-2"] - p["2:-2, :-3"] - p["2:-2, 3:"]
  local alpha = rr / np.sum(p[inner] * q)
  x[inner] = x[inner] + alpha * p[inner]
  r[inner] = r[inner] - alpha * q
  local new = np.sum(r[inner] * r[inner])
  p[inner] = r[inner] + new / rr * p[inner]
  rr = new
  return rr:item()
end
for _ = 1, 3 do step() end
sent("step", 10, step)
"""


def cg():
    got = measured(CG, 4)
    if isinstance(got, str):
        return got
    expected = [halo + 2 * 8 for halo in halos(128, 22, (4, 1), 4)]
    return None if [b for b, _ in got["step"]] == expected else f"sent {got['step']} instead of {expected}"


case("conjugate gradients send halos and two numbers", cg)

# A vector that all need: once.  A product of a 2 x 2 grid of tiles with it leaves two parts of each result to be added.
COPIES = """
local x, A = np.arange(64) * 1.0, np.ones({64, 64})
local total = np.sum(A) + np.sum(x)
total:item()
sent("first", 1, function() return x:totable() and A:totable() end)
local a = np.arange(1000) * 0.5
local b = np.empty(1000)
local function shifted() b[":500"] = a["501:"] end
sent("move", 1, shifted)
sent("again", 5, shifted)
a["1"] = 3
sent("elsewhere", 5, shifted)
local s = np.sum(a)
sent("scalar", 5, function() return s + 1, a * s end)
"""


def copies():
    got = measured(COPIES, 4)
    if isinstance(got, str):
        return got
    total = {label: sum(b for b, _ in of) for label, of in got.items()}
    for label in ("again", "elsewhere", "scalar"):
        if total[label]:
            return f"{label}: {total[label]} bytes are sent for what is there already"
    return None if total["move"] <= 500 * 8 else f"500 elements move, {total['move']} bytes are sent"


case("what is there already is not sent again", copies)

# Planes of a vector that is looked at as a cube; each step needs nothing from beside it.
PLANES = """
local x = np.reshape(np.arange(24 * 10 * 8) % 7 * 0.5, 24, 10, 8)
local y = np.empty(24, 10, 8)
local function plane(a, k) return a[{ {}, {}, k }] end
local function step()
  for k = 2, 8 do plane(x, k):isub(plane(x, k - 1) / 2) end
  for k = 8, 1, -1 do y[{ {}, {}, k }] = plane(x, k) * 2 end
  for k = 7, 1, -1 do x[{ {}, {}, k }] = plane(x, k) + plane(y, k + 1) end
end
step()
sent("planes", 3, step)
"""


def planes():
    got = measured(PLANES, 4)
    if isinstance(got, str):
        return got
    total = sum(b for b, _ in got["planes"])
    return f"{total} bytes were sent, nothing has to move" if total else None


case("planes of a reshaped array are written where they are", planes)

# Two dimensions of three are looked at as one, beside another that stays: a small matrix times all these columns.
COLUMNS = """
local v = np.arange(3)[":, *, *"] * 1.0 + np.reshape(np.arange(24 * 10) % 7, 24, 10)
local c = np.array { {1, 2, 3}, {4, 5, 6} } * 0.5
local w = np.zeros(2, 24, 10)
local function step()
  w:iadd(np.tensordot(c, v, 1))
  np.reshape(w, 2, 240)["2, :"] = np.reshape(v, 3, 240)["1, :"]
end
step()
sent("columns", 3, step)
"""


def columns():
    got = measured(COLUMNS, 4)
    if isinstance(got, str):
        return got
    total = sum(b for b, _ in got["columns"])
    return f"{total} bytes were sent, nothing has to move" if total else None


case("columns of a reshaped array are multiplied where they are", columns)

ROWS = """
local a, row = np.zeros(60, 60), np.ones(60)
local function write(turn)
  local i = turn % 60 + 1
  local from = turn % 41 + 1
  a[{ i, { from, from + 19 } }] = turn
  if turn % 100 == 0 then a[{ { i % 50 + 1, i % 50 + 5 }, {} }]:iadd(row) end
end
for turn = 1, 4000 do write(turn) end
print("sum", np.sum(a):item())
"""


def bounded():
    """What a write costs grows with the history that it is compared with."""
    outcome = launch(ROWS, 3, env={"LGT_DEBUG": "map:3"})
    lengths = [int(n) for n in re.findall(r"after (\d+) events", outcome.err)]
    if outcome.status or not lengths:
        return str(outcome)[:2000]
    return None if max(lengths) < 300 else f"the history of an array has {max(lengths)} events"


case("many small writes keep histories short", bounded)

finish(1)
