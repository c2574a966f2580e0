#!/usr/bin/python3
"""docs/numpy.md against NumPy and lgt.

    tests/lua/numpy_page.py --lgt build/lgt

Every name under "What there is" must exist in lgt, none under "What there is not" may, and every public function of
NumPy (of numpy, numpy.linalg, numpy.fft, numpy.random) and every attribute of its arrays must be on the page.
Prints how much of each NumPy has is there.
"""
import argparse
import os
import re
import subprocess
import sys
import types
import warnings

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NAME = re.compile(r"\b(np(?:\.\w+)+|a[.:]\w+)")
LUA = """
local np = require "array"
local a = np.arange(3)
for line in io.lines(arg[1]) do
  local owner, name = line:match("^(.*)[.:](%w[%w_]*)$")
  local place = owner == "a" and a or np
  for part in owner:gsub("^np%.?", ""):gmatch("[%w_]+") do
    if owner ~= "a" then place = place and place[part] end
  end
  local ok, found = pcall(function() return place[name] ~= nil end)
  print(line, ok and found and "yes" or "no")
end
"""


def functions(module, prefix):
    names = []
    for name in dir(module):
        thing = getattr(module, name)
        if not name.startswith("_") and callable(thing) and not isinstance(thing, (types.ModuleType, type)):
            names.append(prefix + name)
    return names


def exist(lgt, names):
    """{name: whether lgt has it}"""
    path = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"numpy_page_{os.getpid()}")
    try:
        with open(path, "w") as f:
            f.write("\n".join(names) + "\n")
        run = subprocess.run([lgt, "-e", "arg = {[1] = '" + path + "'} " + LUA], capture_output=True, text=True)
    finally:
        os.remove(path)
    if run.returncode:
        sys.exit("FAIL numpy_page: " + run.stderr)
    return dict(line.split() for line in run.stdout.splitlines())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lgt", default=os.environ.get("LGT", "build/lgt"))
    lgt = os.path.abspath(parser.parse_args().lgt)
    with open(os.path.join(ROOT, "docs/numpy.md"), encoding="utf-8") as f:
        page = f.read()
    _, otherwise, there, absent, _ = re.split(r"^## .*$", page, flags=re.M)
    there = sorted(set(NAME.findall(" ".join(re.findall(r"`([^`]+)`", there)))))
    absent = sorted({n for row in absent.splitlines() for n in NAME.findall(row.split("|")[1] if "|" in row else "")})
    found = exist(lgt, there + absent)
    bad = [f"{n} is on the page, but not in lgt" for n in there if found[n] != "yes"]
    bad += [f"{n} exists, but the page says it does not" for n in absent if found[n] == "yes"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        groups = {"numpy": functions(np, "np."), "numpy.linalg": functions(np.linalg, "np.linalg."),
                  "numpy.fft": functions(np.fft, "np.fft."), "numpy.random": functions(np.random, "np.random."),
                  "ndarray": ["a." + n for n in dir(np.ndarray) if not n.startswith("_")]}
    mentioned = {n.replace(":", ".") for n in there + absent + NAME.findall(otherwise)}
    mentioned |= {"np." + n for n in re.findall(r"`(\w+)`", otherwise)}
    for group, names in groups.items():
        bad += [f"{n} is not on the page" for n in names if n not in mentioned]
        here = {n.replace(":", ".") for n in there}
        print(f"# {group}: {sum(n in here for n in names)} of {len(names)}")
    for why in bad:
        print(f"FAIL {why}")
    if not bad:
        print(f"ok {len(there)} names exist, {len(absent)} do not")
    sys.exit(1 if bad else 0)


main()
