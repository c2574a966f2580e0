#!/usr/bin/python3
"""Files of arrays on several ranks: each writes and reads the tiles it owns, NumPy is the oracle, and what one rank
cannot do is an error on all of them, after which there is nothing of the file.
"""
import atexit
import itertools
import os
import re
import shutil
import subprocess
import tempfile

import numpy as np

from common import LGT, PATIENCE, Running, Skip, case, finish, run
from places import free_port

folder = tempfile.mkdtemp(prefix="lgt-files-")
atexit.register(shutil.rmtree, folder, ignore_errors=True)
numbers = itertools.count()
RANKS = 3


def place():
    own = os.path.join(folder, str(next(numbers)))
    os.mkdir(own)
    return own


def launch(text, *options, ranks=RANKS, own=None):
    path = os.path.join(own or place(), "script.lua")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return run([LGT, "-n", str(ranks), "--min-tile=1", "--cpus=1", "--all-output", *options, path])


# ---- the bytes ----------------------------------------------------------------------------------------------------

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
          "complex64", "complex128"]
SHAPES = [(), (1,), (0,), (7,), (40, 3), (3, 40), (5, 0, 2), (9, 2, 5), (2, 3, 2, 3), (300, 200)]

WRITE = """
local np = require "array"
local function numbered(dtype, ...)
  local n = 1
  for _, extent in ipairs { ... } do n = n * extent end
  return (np.arange(n) %% 100):astype(dtype):reshape { ... }
end
np.save("%s/many.npy", numbered("float64", 999, 60)["::-1, 3::7"])
np.save("%s/column.npy", numbered("float64", 999, 60)[":, 5"])
np.save("%s/stretched.npy", np.broadcast_to(np.arange(40), { 3, 40 }))
"""


def written():
    """All element types, shapes and kinds of views, as NumPy has them."""
    own = place()
    lines, expected = [WRITE % (own, own, own)], {
        "many": (np.arange(999 * 60.0) % 100).reshape(999, 60)[::-1, 2::7].copy(),
        "column": (np.arange(999 * 60.0) % 100).reshape(999, 60)[:, 4].copy(),
        "stretched": np.broadcast_to(np.arange(40), (3, 40)).copy()}
    for i, (shape, dtype) in enumerate(itertools.product(SHAPES, DTYPES)):
        a = (np.arange(int(np.prod(shape))) % 100).astype(dtype).reshape(shape)
        extents = "".join(f", {n}" for n in shape)
        expected[f"c{i}"], expected[f"t{i}"] = a, a.T.copy()
        lines.append(f'np.save("{own}/c{i}.npy", numbered("{dtype}"{extents}))')
        lines.append(f'np.save("{own}/t{i}.npy", numbered("{dtype}"{extents}).T)')
    outcome = launch("\n".join(lines), "--domains=2")
    if outcome.status or outcome.err:
        return str(outcome)[:3000]
    for name, a in expected.items():
        np.save(os.path.join(own, "expected.npy"), a)
        texts = [open(os.path.join(own, f"{name}.npy"), "rb").read() for name in (name, "expected")]
        if texts[0][:8] != texts[1][:8] or texts[0][128:] != texts[1][128:] or len(texts[0]) != len(texts[1]):
            return f"{name}: {a.shape} {a.dtype} is not what NumPy writes"
        if not np.array_equal(np.load(os.path.join(own, f"{name}.npy")), a):
            return f"{name}: {a.shape} {a.dtype} is read differently by NumPy"
    left = [name for name in os.listdir(own) if name.endswith(".part")]
    return f"left behind: {left}" if left else None


def read():
    """NumPy's files in both orders of elements and of bytes: the sums of what is read, each element with its weight."""
    own, lines, expected = place(), ['local np = require "array"'], []
    for i, (shape, dtype) in enumerate(itertools.product(SHAPES, DTYPES)):
        a = (np.arange(int(np.prod(shape))) % 100).astype(dtype).reshape(shape)
        for kind, file in (("c", a), ("f", np.asfortranarray(a)), ("r", a.astype(a.dtype.newbyteorder(">")))):
            path = f"{own}/{kind}{i}.npy"
            np.save(path, file)
            weights = np.arange(a.size).reshape(a.shape) % 7 + 1
            expected.append(f"{a.dtype} {int((a.real.astype('float64') * weights).sum())}")
            lines.append(f'do local a = np.load("{path}") '
                         f'local w = (np.arange(a.size) % 7 + 1):reshape(a.shape) '
                         f'print(a.dtype .. " " .. ("%d"):format(np.sum(np.real(a):astype("float64") * w):item())) end')
    outcome = launch("\n".join(lines).replace("a.dtype .. \" \"", "a.dtype .. ' '"), "--domains=2")
    if outcome.status or outcome.err:
        return str(outcome)[:3000]
    for rank in range(RANKS):
        said = [line.partition("] ")[2] for line in outcome.out.splitlines() if line.startswith(f"[{rank}]")]
        for got, want in zip(said, expected):
            if got != want:
                return f"rank {rank}: {got} instead of {want}"
        if len(said) != len(expected):
            return f"rank {rank} has read {len(said)} files of {len(expected)}: {outcome}"[:2000]
    return None


def archives():
    own = place()
    x, y = np.arange(3000.0).reshape(60, 50), np.arange(10) % 3 == 0
    np.savez(f"{own}/a.npz", x=x, y=y)
    np.savez_compressed(f"{own}/b.npz", x=x, y=y)
    outcome = launch(f"""
      local np = require "array"
      for _, name in ipairs {{ "a", "b" }} do
        local z = np.load("{own}/" .. name .. ".npz")
        print(z.x["3, 4"], np.sum(z.x):item(), z.y)
        np.savez("{own}/stored-" .. name, {{ x = z.x.T, y = z.y }})
        np.savez_compressed("{own}/packed-" .. name, {{ x = z.x.T, y = z.y }})
      end
    """)
    if outcome.status or outcome.err:
        return str(outcome)
    for name in ("stored-a", "stored-b", "packed-a", "packed-b"):
        z = np.load(f"{own}/{name}.npz")
        if not np.array_equal(z["x"], x.T) or not np.array_equal(z["y"], y):
            return f"{name}: something else is there"
    return None


case("what ranks write is what NumPy writes", written)
case("what NumPy writes is read by ranks", read)
case("archives", archives)

# ---- who holds and moves what -----------------------------------------------------------------------------------------

SHARES = """
local np, lgt = require "array", require "lgt"
local path, n, m = "%s/big", %d, %d
local a = (np.arange(n * m) %% 1000):reshape(n, m)
lgt.fence()
collectgarbage() collectgarbage()
lgt.flush()
local function measured(label, f)
  lgt.flush()
  lgt.stats_reset()
  f()
  local s = lgt.stats()
  print(label, s.bytes_written, s.bytes_read, s.bytes_sent, s.bytes_peak)
end
measured("save", function() np.save(path, a) end)
measured("savez", function() np.savez(path, a) end)
a:free()
local b
measured("load", function() b = np.load(path .. ".npy") end)
print("sum", np.sum(b):item())
b:free()
measured("loadz", function() b = np.load(path .. ".npz").arr_0 end)
print("sum", np.sum(b):item())
"""


def shares(n, m, ranks):
    def check():
        size = n * m * 8
        share = size / ranks * 1.01 + 100
        outcome = launch(SHARES % (place(), n, m), f"--mem={int(size * 0.6)}", ranks=ranks)
        if outcome.status or outcome.err:
            return str(outcome)
        total = {}
        for line in outcome.out.splitlines():
            words = line.split()[1:]
            if words[0] == "sum":
                if int(words[1]) != sum(i % 1000 for i in range(n * m)):
                    return line
                continue
            put, got, sent, peak = (float(word) for word in words[1:])
            total[words[0]] = total.get(words[0], 0) + put + got
            if max(put, got) > share or sent or peak > 1.1 * share:  # instances are rounded up
                return f"{line}: a rank's share is {share:.0f} bytes"
        wrong = {label: moved for label, moved in total.items() if moved != size}
        return f"{wrong} bytes of {size} were moved" if wrong or len(total) != 4 else None
    return check


for shape in ((1000, 64), (8, 8000)):
    case(f"no rank writes, reads or holds more than its share of {shape[0]} x {shape[1]}", shares(*shape, 4))

TEXT = """
local np, sp = require "array", require "sparse"
local a = np.arange(300000) * 0.5
a:tofile("%s/a.txt", " ")
np.savetxt("%s/b.txt", a:reshape(30000, 10), { fmt = "%%.1f" })
print(np.sum(a):item())
"""


def text():
    """Each rank has room for its share and some rows more."""
    own = place()
    outcome = launch(TEXT % (own, own), "--mem=2M", ranks=4)
    if outcome.status or outcome.err:
        return str(outcome)[:2000]
    for name in ("a", "b"):
        if not np.array_equal(np.loadtxt(f"{own}/{name}.txt").ravel(), np.arange(300000) * 0.5):
            return f"{name}.txt is something else"
    return None


case("text is written some rows at a time", text)

HDF5 = """
local np, lgt = require "array", require "lgt"
local file = np.hdf5("%s")
for _, name in ipairs { "plain", "numbers", "reversed", "chunked", "truth", "one" } do
  lgt.stats_reset()
  local a = file:read(name)
  print(name, lgt.stats().bytes_read)
  np.save("%s/" .. name, a)
end
"""


def hdf5():
    """What lies in one piece is read by tile; the rest by the library, on every rank."""
    try:
        import h5py
    except ImportError as error:
        raise Skip("no h5py (Debian: python3-h5py)") from error
    own = place()
    x = np.arange(8910.0).reshape(90, 99)
    wanted = {"plain": x, "numbers": x.astype("i4"), "reversed": x.astype(">f8"), "chunked": x, "truth": x % 3 == 0, "one": np.float64(7)}
    with h5py.File(f"{own}/a.h5", "w", userblock_size=512) as file:
        for name, a in wanted.items():
            file.create_dataset(name, data=a, **({"chunks": (10, 10)} if name == "chunked" else {}))
    outcome = launch(HDF5 % (f"{own}/a.h5", own))
    if outcome.status or outcome.err:
        return str(outcome)[:2000]
    for name, a in wanted.items():
        if not np.array_equal(np.load(f"{own}/{name}.npy"), a):
            return f"{name} is read differently"
    taken = dict(line.split()[1:] for line in outcome.out.splitlines() if line.startswith("[1]"))
    expected = {"plain": "23760", "numbers": "11880", "truth": "2970", "reversed": "0", "chunked": "0"}
    wrong = {name: taken[name] for name, count in expected.items() if taken[name] != count}
    return f"rank 1 reads {wrong} bytes by itself" if wrong else None


case("data sets of HDF5", hdf5)

HDF5_WRITE = """
local np, lgt = require "array", require "lgt"
local file = np.hdf5("%s", "w")
local a = np.arange(8910):reshape(90, 99) * 0.5
lgt.stats_reset()
file:write("plain", a)
print("plain", lgt.stats().bytes_written)
file:write("turned", a.T)
file:write("g/packed", a, { compression = 4, chunks = { 7, 11 } })
file:write("one", np.array(7.0))
file:write("empty", np.zeros(0, 3))
file:write("truth", a:gt(100))
file:update("plain", "2:89:3, 5", np.arange(30) * -1.0)
file:update("g/packed", "3, :", 1.5)
file:update("g/packed", ":, 98:99", a[":, 1:2"])
file:attribute("g", "unit", "kelvin")
print("packed", file:read("g/packed"):sum():item() + file:read("plain"):sum():item())
print("bad", pcall(file.write, file, "plain", np.take(np.arange(5), np.array({ 1, 9 }, "int64"))))
file:write("one", np.arange(5))
file:close()
print("closed", pcall(file.read, file, "one"))
print("again", np.hdf5("%s", "a"):read("one"):sum():item())
print("folder", pcall(np.hdf5, "/dev/null/x", "w"))
"""


def hdf5_written():
    """Every rank writes its tiles of what lies in one piece; the rest goes through rank 0.  A value that failed changes nothing."""
    try:
        import h5py
    except ImportError as error:
        raise Skip("no h5py (Debian: python3-h5py)") from error
    path = os.path.join(place(), "a.h5")
    outcome = launch(HDF5_WRITE % (path, path))
    if outcome.status or outcome.err:
        return str(outcome)[:2000]
    x = np.arange(8910.0).reshape(90, 99) * 0.5
    plain, packed = x.copy(), x.copy()
    plain[1:89:3, 4] = -np.arange(30)
    packed[2], packed[:, 97:99] = 1.5, x[:, :2]
    with h5py.File(path) as file:
        for name, a in {"plain": plain, "turned": x.T, "g/packed": packed, "one": np.arange(5), "empty": np.zeros((0, 3)), "truth": x > 100}.items():
            if not np.array_equal(file[name][()], a):
                return f"{name} is written differently"
        if file["g/packed"].chunks != (7, 11) or file["g"].attrs["unit"] != "kelvin":
            return "chunks or attributes differ"
    for rank in range(RANKS):
        said = dict(line.split(maxsplit=2)[1:] for line in outcome.out.splitlines() if line.startswith(f"[{rank}]"))
        wanted = {"plain": "23760", "packed": f"{int(plain.sum() + packed.sum())}", "again": "10"}
        for word, text in (("bad", "position 9 of axis 1"), ("closed", "is closed"), ("folder", "hdf5: /dev/null/x")):
            wanted[word] = said[word] if text in said[word] else text
        wrong = {word: said[word] for word, text in wanted.items() if said[word] != text}
        if wrong:
            return f"rank {rank} prints {wrong}"
    return None


case("HDF5 is written by tiles", hdf5_written)

# ---- matrices in text ---------------------------------------------------------------------------------------------------

NUMBERS = ["0", "-0", "1", "-1.5", ".25", "5.", "+3", "1e5", "1E-5", "9007199254740993", "9007199254740992.5", "1e22", "1e23", "1e27", "1e-27",
           "123456789012345678", "1234567890123456789", "12345678901234567890", "0.1", "1.7976931348623157e308", "5e-324", "2.2250738585072014e-308",
           "18446744073709551615", "1e-400", "1e400", "0.000000000000000000000000000001", "1000000000000000000000000000000", "inf", "-inf",
           "4503599627370496.5", "4503599627370497.5", "0.500000000000000166533453693773481063544750213623046875", "00012", "1e+05"]

MARKET = """
local np, sp, lgt = require "array", require "sparse", require "lgt"
local function taken()
  local bytes
  for line in io.lines("/proc/self/io") do bytes = bytes or line:match("^rchar: (%%d+)") end
  return tonumber(bytes)
end
sp.mmread("%s/pattern.mtx") -- so that the library is there
for _, name in ipairs { "real", "integer", "complex", "pattern", "symmetric" } do
  local begin = taken()
  local a = sp.mmread("%s/" .. name .. ".mtx")
  print(name, taken() - begin)
  for _, part in ipairs { "rows", "cols", "vals" } do np.save("%s/" .. name .. "-" .. part, a[part]) end
end
print(pcall(sp.mmread, "%s/bad.mtx"))
"""


def market():
    """Entries of every kind, as Python's float and int read them; no rank reads much more than its share."""
    own, rng, n = place(), np.random.default_rng(5), 60000
    words = [NUMBERS[i] if i < len(NUMBERS) else repr(float(x)) if i % 3 else f"{x:.18e}" if i % 2 else f"{x:.{i % 17}f}"
             for i, x in enumerate(rng.normal(size=n) * 10.0 ** rng.integers(-8, 8, n))]
    rows, cols = rng.integers(1, 901, n), rng.integers(1, 801, n)
    rows, cols = np.maximum(rows, cols), np.minimum(rows, cols)  # the lower triangle
    big = [int(x) for x in rng.integers(-2**63, 2**63, n)]
    kinds = {"real": words, "integer": [str(x) for x in big], "complex": [f"{w} {v}" for w, v in zip(words, reversed(words))],
             "pattern": [""] * n, "symmetric": words}
    for name, values in kinds.items():
        kind, symmetry = (name, "general") if name != "symmetric" else ("real", name)
        with open(f"{own}/{name}.mtx", "w", encoding="ascii") as file:
            file.write(f"%%MatrixMarket matrix coordinate {kind} {symmetry}\n% one\n\n%two\n900 900 {n}\n")
            file.write("\n".join(f" {i}\t{j} {v}" + ("\r" if k % 5 == 0 else "\n  " if k % 7 == 0 else "")
                                 for k, (i, j, v) in enumerate(zip(rows, cols, values))))
    text = open(f"{own}/real.mtx", encoding="ascii").read().splitlines()
    text[-30] = "901 5 1"
    with open(f"{own}/bad.mtx", "w", encoding="ascii") as file:
        file.write("\n".join(text))
    outcome = launch(MARKET % (own, own, own, own))
    if outcome.status or outcome.err:
        return str(outcome)[:2000]
    expected = {"real": [float(w) for w in words], "integer": big,
                "complex": [complex(float(w), float(v)) for w, v in zip(words, reversed(words))], "pattern": [1.0] * n}
    for name, values in expected.items():
        got = [np.load(f"{own}/{name}-{part}.npy") for part in ("rows", "cols", "vals")]
        wrong = np.flatnonzero((got[0] != rows - 1) | (got[1] != cols - 1) | (got[2] != np.array(values)))
        if wrong.size:
            k = wrong[0]
            return f"{name}: entry {k} is {[x[k] for x in got]}, its line {rows[k]} {cols[k]} {kinds[name][k]!r}"
    if len(np.load(f"{own}/symmetric-vals.npy")) != n + np.sum(rows != cols):
        return "the other triangle is not complete"
    for line in outcome.out.splitlines():
        rank, _, said = line.partition(" ")
        if said.startswith("false"):
            if not re.search(r"bad.mtx has entry 599\d+ at \(901, 5\), outside of 900 rows and 900 columns \(on rank 2\)", said):
                return line
        else:  # a third is counted, a third is read, besides the head and two slices for each of a task's 64 chunks
            name, taken = said.split()
            size = os.path.getsize(f"{own}/{name}.mtx")
            if float(taken) > 2 / 3 * size + 2 ** 16 + 128 * max(size / 2000, 1024) + 20000:
                return f"rank {rank} reads {said} bytes of {size}"
    return None


case("entries of matrices in text", market)

# ---- what goes wrong ------------------------------------------------------------------------------------------------

FAILS = """
local np, lgt = require "array", require "lgt"
local x = np.arange(30000) * 0.5
local function try(f, ...)
  local ok, why = pcall(f, ...)
  print(ok, why)
end
%s
print(np.sum(x):item())
"""


def each_rank(text, wrap, bad):
    """Each rank by itself, that one within another command."""
    own = place()
    script = os.path.join(own, "script.lua")
    with open(script, "w", encoding="utf-8") as file:
        file.write(FAILS % text)
    os.mkdir(os.path.join(own, "data"))
    with open(os.path.join(own, "data", "old.npy"), "w", encoding="ascii") as file:
        file.write("as before")
    where = f"127.0.0.1:{free_port()}"
    running = []
    for r in range(RANKS):
        command = [LGT, "--rendezvous", where, "--rank", str(r), "--ranks", str(RANKS), "--min-tile=1", "--cpus=1",
                   "--all-output", script]
        running.append(Running(wrap(own, command) if r == bad else command, {"DATA": own + "/data"}))
    return own, [r.wait(PATIENCE) for r in running]


def small_files(own, command):
    """As a full disk: files end at 4 blocks of 1024 bytes."""
    return ["bash", "-c", 'trap "" XFSZ; ulimit -f 4; exec "$@"', "bash", *command]


def other_folder(own, command):
    if subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True).returncode:
        raise Skip("no mount namespaces")
    return ["unshare", "-m", "bash", "-c", 'mount -t tmpfs none "$DATA" && exec "$@"', "bash", *command]


def together(text, wrap, bad, expected):
    def check():
        own, outcomes = each_rank(text, wrap, bad)
        said = [[line.partition("] ")[2] for line in o.out.splitlines()] for o in outcomes]
        if any(o.status or o.err for o in outcomes) or any(s != said[0] for s in said):
            return "; ".join(str(o) for o in outcomes)
        printed = "\n".join(said[0])
        for piece in expected:
            if piece.replace("RANK", str(bad)) not in printed:
                return f"printed {printed!r}, without {piece!r}"
        left = sorted(os.listdir(own + "/data"))
        if left != ["old.npy"] or open(own + "/data/old.npy", encoding="ascii").read() != "as before":
            return f"there is {left}"
        return None
    return check


SAVES = 'try(np.save, os.getenv("DATA") .. "/%s", x)'
for bad in range(RANKS):
    case(f"no room for what rank {bad} writes", together(SAVES % "old.npy", small_files, bad, [
        "script.lua:5: save: ", "old.npy: File too large (on rank RANK)", "\n224992500"]))
case("no room for an archive", together('try(np.savez, os.getenv("DATA") .. "/new.npz", x, x)', small_files, 1, [
    "script.lua:5: savez: ", "new.npz: File too large (on rank 1)", "\n224992500"]))
case("no room for a compressed archive", together('try(np.savez_compressed, os.getenv("DATA") .. "/new.npz", x)', small_files, 0, [
    "script.lua:5: savez_compressed: ", "new.npz: ", "File too large (on rank 0)", "\n224992500"]))
case("no room for a matrix in text", together(
    'local sp = require "sparse"\ntry(sp.mmwrite, os.getenv("DATA") .. "/new", sp.eye(3000))', small_files, 0, [
        "script.lua:5: mmwrite: ", "new.mtx: the file could not be written completely: File too large", "\n224992500"]))
case("bytes without a header", together('try(x.tofile, x, os.getenv("DATA") .. "/new")', small_files, 2, [
    "script.lua:5: tofile: ", "new: File too large (on rank 2)", "\n224992500"]))
for bad in (1, 2):
    case(f"rank {bad} does not see the folder", together(SAVES % "old.npy", other_folder, bad, [
        "script.lua:5: save: ", "old.npy: No such file or directory (on rank RANK)", "\n224992500"]))
case("nobody has the folder", together(SAVES % "nowhere/x.npy", lambda own, command: command, 0, [
    "script.lua:5: save: ", "x.npy: No such file or directory\n224992500"]))
# What failed before is not saved, and named as what failed.
case("an array that failed", together(
    'local bad = np.linalg.cholesky(np.zeros(3, 3))\ntry(np.save, os.getenv("DATA") .. "/new.npy", bad)',
    lambda own, command: command, 0, ["false\t", "script.lua:8", "\n224992500"]))

finish(1)
