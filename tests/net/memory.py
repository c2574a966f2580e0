#!/usr/bin/python3
"""What ranks hold: of n ranks each has a part of what one rank has alone, and a halo.

Each script prints, on every rank, the most bytes of arrays and messages that there were at a time.  What a domain has in
several pieces of memory is the same in all of them; who shares one of these does not notice.
"""
import re

from common import case, finish
from script import launch, measured

PRELUDE = """
local function held(label, turns, f)
  lgt.fence()
  local begin = lgt.stats().bytes_sent
  f(1)
  lgt.fence()
  local first = lgt.stats().bytes_sent - begin
  f(2) -- the first turns learn what halos there are
  lgt.fence() collectgarbage() collectgarbage() lgt.fence()
  local peak, sent = math.huge, 0
  for turn = 1, turns do
    lgt.stats_reset()
    f(turn)
    lgt.fence() collectgarbage() collectgarbage() lgt.fence() -- what is garbage is gone on all of them
    -- What must be held is held in every turn; how long a message waits for a rank that is late differs.
    peak, sent = math.min(peak, lgt.stats().bytes_peak), sent + lgt.stats().bytes_sent
  end
  print(label, peak, first, sent / turns)
end
"""
PROGRAMS = {
    "a chain of operations": """
local x, y = np.arange(90000) * 0.5, np.zeros(90000)
held("peak", 4, function() y = np.sqrt(x * 2 + y) - x / (1 + y) end)""",
    "shifted views": """
local x, y = np.arange(90000) * 0.5, np.zeros(90000)
held("peak", 4, function() y["2:-2"] = x[":-3"] + 2 * x["2:-2"] + x["3:"] end)""",
    "halves": """
local x, y = np.arange(90000) * 0.5, np.zeros(90000)
held("peak", 4, function() y[":45000"] = x["45001:"] + 1 end)""",
    "a reversed view": """
local x, y = np.arange(90000) * 0.5, np.zeros(90000)
held("peak", 4, function() y["..."] = x["::-1"] + 1 end)""",
    "a stencil": """
local grid = np.zeros(302, 302)
local center, north, south = grid["2:-2, 2:-2"], grid[":-3, 2:-2"], grid["3:, 2:-2"]
local east, west = grid["2:-2, 3:"], grid["2:-2, :-3"]
held("peak", 5, function() center["..."] = 0.2 * (center + north + east + west + south) end)""",
    "reductions": """
local a = np.ones({300, 300})
held("peak", 4, function() return np.sum(a), np.sum(a, 1), np.max(a * a, 2) end)""",
    "black_scholes": """
local S, K, T = np.linspace(5, 30, 60000), np.linspace(1, 100, 60000), np.linspace(0.2, 2, 60000)
held("peak", 3, function()
  local d1 = (np.log(S / K) + 0.07 * T) / (0.3 * np.sqrt(T))
  local d2 = d1 - 0.3 * np.sqrt(T)
  local c1, c2 = 0.5 * (1 + np.erf(d1)), 0.5 * (1 + np.erf(d2))
  local call = S * c1 - K * np.exp(-0.02 * T) * c2
  local put = call - S + K * np.exp(-0.02 * T)
  return call, put
end)""",
    "jacobi": """
local A, b = np.ones({300, 300}) + np.eye(300) * 400, np.ones(300)
local d, x = np.diag(A):copy(), np.zeros(300)
local R = A - np.diag(d)
A = nil
held("peak", 4, function() x = (b - R:dot(x)) / d end)""",
    "conjugate gradients": """
local A, b = np.ones({300, 300}) + np.eye(300) * 400, np.ones(300)
local x = np.zeros(300)
local r = b - A:dot(x)
local p, rr = r:copy(), np.sum(r * r)
held("peak", 4, function()
  local q = A:dot(p)
  local alpha = rr / np.sum(p * q)
  x, r = x + alpha * p, r - alpha * q
  local new = np.sum(r * r)
  p, rr = r + new / rr * p, new
end)""",
    "rows of a matrix": """
local a, v = np.ones({300, 300}), np.ones(300)
held("peak", 4, function(turn) a[turn * 7] = v a[300 - turn * 9]:imul(2) end)""",
    "two clusters of a vector": """
local x, k = np.arange(1000000) * 0.5, np.arange(4000)
local index = (np.floor_divide(k, 2) + k % 2 * 990000 + 1):astype("int64")
held("peak", 4, function() return x[index] end)""",
    "two clusters of rows": """
local x, k = np.ones({5000, 200}), np.arange(4000)
local index = (np.floor_divide(k, 16) + k % 2 * 4700 + 1):astype("int64")
held("peak", 4, function() return x[index] end)""",
    "a transposed matrix": """
local a, b = np.ones({300, 300}), np.zeros(300, 300)
held("peak", 4, function() b = a.T + b end)""",
    "a matrix and its transposed one": """
local a, b = np.ones({300, 300}), np.zeros(300, 300)
held("peak", 4, function() b = a + a.T end)""",
    "from rows to columns": """
local a, b = np.ones({4, 22500}), np.zeros(22500, 4)
held("peak", 4, function() b["..."] = a.T * 2 a["..."] = b.T end)""",
    "a diagonal": """
local a, b = np.ones({300, 300}), np.zeros(300)
held("peak", 4, function() b = b + np.diag(a) + np.diagonal(a.T, 20)["1:1"] + np.trace(a["::-1"]) end)""",
    "far parts of what is written": """
local y = np.arange(90000) * 0.5
local blend = lgt.task { name = "blend", args = {"in", "inout"}, generator = function(b, x, y) return x + y end }
held("peak", 4, function() blend(y["80001:"], y[":10000"]) end)""",
    "a product of far parts": """
local a = np.ones({400, 300})
held("peak", 3, function() return a["1:50"]:dot(a["351:400"].T) end)""",
    "far rows": """
local a, v = np.ones({300, 300}), np.zeros(300)
held("peak", 4, function() v = v + a[2] + a[150] + a[299] end)""",
    "a sum over the transposed": """
local a, b = np.ones({300, 300}), np.zeros(300, 300)
held("peak", 4, function() b = a.T * 2 a = a + b return np.sum(b, 2) end)""",
}


def shares(text, ranks):
    def check():
        tiles = ("--min-tile=1000",)  # a row of a matrix is not cut
        alone, among = (measured(PRELUDE + text, n, options=tiles) for n in (1, ranks))
        if isinstance(alone, str) or isinstance(among, str):
            return f"{alone} {among}"
        whole, parts = alone["peak"][0][0], [peak for peak, _, _ in among["peak"]]
        first, sent = (max(numbers) for numbers in list(zip(*among["peak"]))[1:])
        # What came in the first turn stays, perhaps with what lies between; what comes in each is in a message that is
        # sent, in one that has come, and in its place.  Blocks of memory come in steps of up to a quarter.
        most = 1.3 * (whole / ranks + 1.5 * first + 3 * sent) + 16000
        return None if max(parts) <= most else (f"alone {whole:.0f} bytes, ranks have {parts}, {max(parts) * ranks / whole:.2f} shares, may have "
                                                f"{most * ranks / whole:.2f}, and send {first:.0f} and then {sent:.0f}")

    return check


# Each domain has two rows of `b`, which `copy` shares, and two columns beside.  In the columns one writes what it has in
# its rows, too, and reads that there.
PIECES = """
local b, one, two = np.ones(10, 10) + 0, np.ones(10, 10) + 0, np.ones(10, 10) + 0
lgt.fence()
local copy = b:copy()
lgt.fence()
local columns = np.where(one:gt(two), two, b.T)
lgt.fence()
b[":2, :2"]:fill(7)
lgt.fence()
local rows = b + 1
lgt.fence()
print(np.sum(copy), np.sum(b), np.sum(rows), np.sum(columns))
"""


def pieces(ranks, domains):
    def check():
        outcome = launch(PIECES, ranks, domains, options=("--min-tile=4",))
        right = "100.0\t124.0\t224.0\t100.0"
        return None if outcome.status == 0 and outcome.out.count(right) == ranks else f"{outcome}, instead of {right!r} {ranks} times"
    return check


# Turn after turn, what is renamed has room for its halo, and no more than that: what is copied is the grid's edge, of two
# columns, and the halos.
TURNS = """
local grid = np.zeros(2002, 52)
local center, north, south = grid["2:-2, 2:-2"], grid[":-3, 2:-2"], grid["3:, 2:-2"]
local east, west = grid["2:-2, 3:"], grid["2:-2, :-3"]
local function turn() center["..."] = 0.2 * (center + north + east + west + south) end
for _ = 1, 100 do turn() end
lgt.fence()
lgt.stats_reset()
for _ = 1, 300 do turn() end
lgt.fence()
print("copied", lgt.stats().bytes_copied / 300)
"""


# The halo of the first array is found out; all others have the same, whichever operation makes them.
HALOS = """
local x = np.arange(1, 100001) * 0.5
lgt.stats_reset()
for _, name in ipairs{"sqrt", "exp2", "square", "log", "negative", "rint", "floor", "cbrt"} do
  local y = np[name](x)
  lgt.fence()
  local z = y[":-3"] + y["3:"]
  lgt.fence()
end
print("copied", lgt.stats().bytes_copied)
"""
# Each array gets its edges after the rest of it.
EDGES = """
local x = np.arange(1, 100001) * 0.5
lgt.stats_reset()
for turn = 1, 8 do
  local padded = np.empty(100006)
  padded["4:-4"] = x * turn
  padded["1:3"] = x["-3:"]
  padded["-3:"] = x["1:3"]
  local z = padded[":-7"] + padded["7:"]
  lgt.fence()
end
print("copied", lgt.stats().bytes_copied)
"""
# Periodic boundaries: of arrays whose parts come from both ends only the rows that wrap around move, and those between tiles.
WRAPS = """
local n, m = 3000, 40
local function turns(x, turn)
  for _ = 1, 4 do x = turn(x) if FENCE then lgt.fence() end end
  lgt.fence()
  lgt.stats_reset()
  for _ = 1, 60 do x = turn(x) if FENCE then lgt.fence() end end
  lgt.fence()
  local bytes = lgt.stats().bytes_copied / 60
  return bytes, np.sum(x):item()
end
local line = turns(np.sin(np.arange(n * m) / n), function(u)
  local l, r = np.concatenate{u["-1:"], u["1:-2"]}, np.concatenate{u["2:"], u["1:1"]}
  return u - 0.2 * (r - l) * u + 0.08 * (r - 2 * u + l)
end)
local plane, sum = turns(np.cos(np.arange(n * m)):reshape(n, m), function(c)
  return c + 0.01 * (np.roll(c, 1, 1) + np.roll(c, -1, 1) + np.roll(c, 1, 2) + np.roll(c, -1, 2) - 4 * c)
end)
local wide = turns(np.cos(np.arange(n * m)):reshape(n, m), function(c)
  return c + 0.01 * (np.roll(c, 3, 1) + np.roll(c, -2, 1) - 2 * c)
end)
assert(math.abs(sum - np.sum(np.cos(np.arange(n * m))):item()) < 1e-6)
print("copied", line + plane + wide)
"""
# What is written a column at a time gets its place as a whole before long.
COLUMNS = """
local a, v = np.empty(1000, 300), np.ones(1000)
lgt.stats_reset()
for k = 1, 300 do
  a[{{}, k}] = v
  lgt.flush()
end
lgt.fence()
print("copied", lgt.stats().bytes_copied)
"""

# Each domain gathers from all of a window that moves on: of the windows that it has left behind only the last few stay.  And
# from few places all over the array, others in each turn: the pages of the last few.
WINDOWS = """
local n, windows, k = 4000000, 40, np.arange(12500)
local x, base = np.arange(n) * 0.5, k * 7919 % 12500 * 8 + 1
for w = 0, windows - 1 do
  local y = x[(base + w * (n / windows)):astype("int64")]
  assert(y:sum()() == (12500 * 12499 * 4 + 12500 * w * (n / windows)) / 2)
  lgt.fence()
end
collectgarbage() collectgarbage() lgt.fence()
print("held", lgt.stats().bytes_live)
"""
PLACES = """
local n, k = 4000000, np.arange(600)
local x = np.arange(n) * 0.5
for w = 0, 59 do
  local at = (k * 6661 + w * 104729) % 3999971
  local y = x[(at + 1):astype("int64")]
  assert(y:sum()() == (at * 0.5):sum()())
  lgt.fence()
end
collectgarbage() collectgarbage() lgt.fence()
print("held", lgt.stats().bytes_live)
"""


def moving(text, ranks, domains, most):
    def check():
        found = measured(text, ranks, domains)
        if isinstance(found, str):
            return found
        return None if all(held <= most for held, in found["held"]) else f"{found['held']} bytes, may be {most:.0f}"

    return check


def copied(text, ranks, domains, most):
    def check():
        outcome = launch(text, ranks, domains, options=("--min-tile=1",))
        if outcome.status:
            return str(outcome)
        each = [float(number) for number in re.findall(r"copied\s+([0-9.]+)", outcome.out)]
        return None if len(each) == ranks and sum(each) <= 1.5 * most else f"copied {each} bytes, may be {1.5 * most:.0f} together"

    return check


def of_turns(cuts):
    return (2 * 2002 + 4 * 52 * cuts) * 8


case("turns of one domain among four", copied(TURNS, 1, 4, of_turns(3)))
case("turns on ranks", copied(TURNS, 3, 1, of_turns(2)))
for ranks, domains in ((1, 3), (3, 1)):
    case(f"halos of new arrays, {ranks} ranks of {domains} domains", copied(HALOS, ranks, domains, 100000 * 8))
    case(f"edges of new arrays, {ranks} ranks of {domains} domains", copied(EDGES, ranks, domains, 100000 * 8))
    case(f"wrapped arrays turn by turn, {ranks} ranks of {domains} domains",
         copied("local FENCE = true" + WRAPS, ranks, domains, 7000))
    case(f"wrapped arrays, {ranks} ranks of {domains} domains", copied("local FENCE = false" + WRAPS, ranks, domains, 60000))
    case(f"windows that move on, {ranks} ranks of {domains} domains", moving(WINDOWS, ranks, domains, 35e6 if ranks > 1 else 100e6))
    case(f"places that change, {ranks} ranks of {domains} domains", moving(PLACES, ranks, domains, 42e6 if ranks > 1 else 90e6))
    case(f"columns, {ranks} ranks of {domains} domains", copied(COLUMNS, ranks, domains, 1000 * 8 * 4))
case("pieces of one domain", pieces(1, 5))
case("pieces on ranks", pieces(5, 1))
for name, text in PROGRAMS.items():
    for ranks in (2, 3, 4):
        case(f"{name} on {ranks} ranks", shares(text, ranks))
finish(1)
