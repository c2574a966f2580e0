#!/usr/bin/python3
"""Ranks that differ where they may: in options, in memory, in what they find on their disks.

A task that fails on one rank fails for the script on all of them: pcall catches the same error at the same line
everywhere, and all compute on.
"""
import atexit
import itertools
import os
import re
import shutil
import subprocess
import tempfile

import numpy as np

from common import LGT, PATIENCE, Running, Skip, case, finish
from places import free_port

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RANKS = 3
folder = tempfile.mkdtemp(prefix="lgt-uneven-")
atexit.register(shutil.rmtree, folder, ignore_errors=True)
numbers = itertools.count()


def launch(text, options=(), env=None):
    """Each rank by itself, with the options and the environment of its own; its outcome."""
    own = os.path.join(folder, str(next(numbers)))
    os.mkdir(own)
    path = os.path.join(own, "script.lua")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    where = f"127.0.0.1:{free_port()}"

    def start(r):
        more = env[r] if env else {}
        inside = ["env", "-C", more["PWD"]] if "PWD" in more else []
        return Running([*inside, LGT, "--rendezvous", where, "--rank", str(r), "--ranks", str(RANKS), "--min-tile=1", "--cpus=1",
                        "--all-output", *(options[r] if options else ()), path], more)
    running = [start(r) for r in range(RANKS)]
    return [r.wait(PATIENCE) for r in running]


def alike(text, options=(), env=None, expect=""):
    """All ranks print the same, and what is expected."""
    def check():
        outcomes = launch(text, options, env() if env else None)
        said = [[line.partition("] ")[2] for line in o.out.splitlines()] for o in outcomes]
        if any(o.status or o.err for o in outcomes) or any(s != said[0] for s in said):
            return "; ".join(str(o) for o in outcomes)
        printed = "\n".join(said[0])
        return None if re.fullmatch(expect, printed) else f"printed {printed!r}, expected {expect!r}"
    return check


WORK = """
local np, lgt = require "array", require "lgt"
local function works()
  local x = np.arange(3000) * 0.5
  local total = np.sum(x + x["::-1"]):item()
  print(total == 3000 * 1499.5 and "works" or total)
end
"""

VARIED = WORK + """
collectgarbage("setpause", 20 + 100 * lgt.rank())
local x = np.linspace(0, 1, 5000)
for turn = 1, 60 do
  local y = np.sin(x) * turn + x["::-1"]
  x[":2500"] = y["2501:"] / turn
  if turn % 7 == 0 then x["2501:"]:imul(0.5) end
  if turn % 20 == 0 then print(turn, ("%.17g"):format(np.sum(x):item())) end
end
works()
"""
OWN = [["--compile=0", "--jitter=1"], ["--background=0", "--cache=0", "--jitter=2", "--cpus=2"], ["--jitter=3", "--check=1"]]
case("options of each rank's own", alike(VARIED, OWN, expect=r"(?:\d+\t\S+\n){3}works"))

# Which results the program still holds is each rank's own, and must not decide where a group ends.
HELD = WORK + """
local n, held = 3000, {}
local function laplacian(u)
  local r = -2 * u
  r["2:"]:iadd(u[":-2"])
  r[":-2"]:iadd(u["2:"])
  return r
end
local u, v = np.arange(n) / n, np.ones(n)
for turn = 1, 60 do
  local a = laplacian(u)
  local b = laplacian(a) * 0.1
  local c = laplacian(b) + v
  u = u + 0.01 * a
  v = v + 0.01 * c - 0.001 * b
  if (turn * 7 + lgt.rank() * 3) % 5 == 0 then held[#held + 1] = {a, b, c} end
  if #held > 6 then table.remove(held, 1) end
end
print(("%.12g %.12g"):format(u:sum():item(), v:sum():item()))
works()
"""
WHOLE = ["--min-tile=64K", "--between=100K"]
case("results that only some ranks hold", alike(HELD, [WHOLE] * RANKS, expect=r"\S+ \S+\nworks"))

# What lies together in memory differs from rank to rank.
HOST = WORK + """
local x = np.zeros(12, 5)
x["3:5, :"] = 1
local total = 0
x[":, 4"]:host("rw", function(p, n) for i = 0, n - 1 do p[i] = p[i] + i end end)
x["::-2, :"]:T():host("r", function(p, n, m) for i = 0, n * m - 1 do total = total + p[i] end end)
print(total, np.sum(x):item())
works()
"""
case("elements on the host", alike(HOST.replace(":T()", ".T"), expect=r"\d+\t81\nworks"))

# Line 10 launches what fails, line 12 looks at it.
MEMORY = WORK + """local y
local ok, message = pcall(function()
  y = np.zeros(120000) + np.arange(120000)
  y["2:"]:iadd(1)
  local total = y:sum():item()
  return total
end)
print(ok, message)
y = nil
works()
"""
for poor in range(RANKS):
    case(f"no memory on rank {poor}", alike(MEMORY, [["--mem=100K"] if r == poor else [] for r in range(RANKS)],
                                            expect=(
        r"false\t[^\n]*script\.lua:12: out of memory: [^\n]*launched at [^\n]*script\.lua:10\)\nworks")))

# How much memory there is decides how many turns of large tiles are one task: for all ranks alike.
TURNS = WORK + """
local n, m = 300, 400
local x = np.arange(n * m):reshape(n, m) % 17
for _ = 1, 24 do
  local y = np.where(x:ge(4), 1, 0)
  x = x - 4 * y
  x["2:, :"] = x["2:, :"] + y[":-2, :"]
  x[":-2, :"] = x[":-2, :"] + y["2:, :"]
end
print(np.sum(x * (np.arange(m) % 13)):item(), lgt.stats().fused_groups)
works()
"""
LARGE = ["--skew=64K", "--between=0"]
case("less memory for turns on one rank", alike(TURNS, [LARGE, [*LARGE, "--mem=2M"], LARGE], expect=r"1179595\t\d+\nworks"))

# The same for what ranks send each other out of a task, at each step of it.
SORTING = WORK + """local y
local ok, message = pcall(function()
  local x = np.random.rand(300000)
  y = np.argsort(x)
  return y:item(1)
end)
print(ok, message)
y = nil
works()
"""
for least in (1000, 1500, 2000, 2500, 3000, 3300, 3600):
    case(f"no memory to sort with {least} KB", alike(SORTING, [[], [f"--mem={least}K"], []], expect=(
        r"false\t[^\n]*script\.lua:9: out of memory[^\n]*launched at [^\n]*script\.lua:11\)\nworks")))

VARIANT = r"""
#include <stdlib.h>
#include "lgt.h"
lgt_status twice(void *context, const lgt_work *work) {
  const lgt_tile *tiles = work->tiles;
  (void)context;
  if (getenv("FAILS")) return lgt_fail(LGT_TASK_FAILED, "twice: this rank cannot");
  for (int64_t i = work->lo; i < work->hi; i++)
    *(double *)((char *)tiles[0].data + i * tiles[0].stride[0]) =
        2 * *(double *)((char *)tiles[1].data + i * tiles[1].stride[0]);
  return LGT_OK;
}
"""

TWICE = WORK + """local variant = require("ffi").load(os.getenv("VARIANT"))
require("ffi").cdef "lgt_status twice(void *, const lgt_work *);"
local kind = lgt.C.lgt_kind_new(lgt.rt, "twice", "wr", "align(0.0,1.0)")
assert(lgt.C.lgt_kind_variant(lgt.rt, kind, "LGT_VARIANT_CPU", variant.twice, nil) == 0)
local x, y = np.arange(90) * 0.5, np.empty(90)
lgt.launch(kind, { y, x }, {})
local z = y["::-1"] + 1
print(pcall(function() local total = np.sum(z):item() return total end))
print(pcall(function() local rows = y:totable() return rows end))
y:fill(0)
lgt.launch(kind, { y, x }, {})
print(pcall(lgt.fence))
y["..."] = x + 1
print(y(90))
works()
"""


def variant():
    if not shutil.which("cc"):
        raise Skip("no C compiler")
    source, library = os.path.join(folder, "twice.c"), os.path.join(folder, "twice.so")
    with open(source, "w", encoding="utf-8") as file:
        file.write(VARIANT)
    subprocess.run(["cc", "-shared", "-fPIC", "-I", os.path.join(ROOT, "src/core"), source, "-o", library], check=True)
    return library


def failing(bad):
    return lambda: [{"VARIANT": variant(), **({"FAILS": "1"} if r == bad else {})} for r in range(RANKS)]


for bad in range(RANKS):
    case(f"a task that fails on rank {bad}", alike(TWICE, env=failing(bad), expect=(
        r"false\t[^\n]*script\.lua:15: task 'twice': twice: this rank cannot[^\n]*script\.lua:13\)\n"
        r"false\t[^\n]*script\.lua:16: task 'twice': twice: this rank cannot[^\n]*script\.lua:13\)\n"
        r"false\t[^\n]*script\.lua:19: task 'twice': twice: this rank cannot[^\n]*script\.lua:18\)\n45\.5\nworks")))

# Every rank reads a file of its own under the same name; one is missing, or ends too soon.
READ = WORK + """local ok, message = pcall(function()
  local x = np.load("x.npy")
  local total = np.sum(x):item()
  return total
end)
print(ok, message)
print(np.sum(np.load("good.npy")):item())
works()
"""


def folders(bad, spoil):
    def make():
        env = []
        for r in range(RANKS):
            own = os.path.join(folder, str(next(numbers)))
            os.mkdir(own)
            for name in ("x.npy", "good.npy"):
                np.save(os.path.join(own, name), np.arange(300.0))
            if r == bad:
                spoil(os.path.join(own, "x.npy"))
            env.append({"PWD": own})
        return env
    return make


for bad in range(RANKS):
    for how, spoil in (("is missing", os.remove), ("is too short", lambda path: os.truncate(path, 700))):
        case(f"a file of rank {bad} {how}", alike(READ, env=folders(bad, spoil), expect=(
            r"false\t[^\n]*script\.lua:9: [^\n]*x\.npy[^\n]*\n44850\nworks")))

finish(1)
