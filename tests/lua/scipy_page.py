#!/usr/bin/python3
"""docs/scipy.md against SciPy and lgt.

    tests/lua/scipy_page.py --lgt build/lgt

Every name under "What there is" must exist in lgt, none under "What there is not" may, and every public function of
scipy.sparse and scipy.sparse.linalg and every attribute of SciPy's csr matrices must be on the page.
"""
import argparse
import os
import re
import subprocess
import sys
import types
import warnings

import scipy.sparse
import scipy.sparse.linalg

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NAME = re.compile(r"\b((?:sp|solvers)\.\w+|A[.:]\w+)")
LUA = """
local np, sp, solvers = require "array", require "sparse", require "solvers"
local places = {sp = sp, solvers = solvers, A = sp.csr_matrix{2, 2}}
for line in io.lines(arg[1]) do
  local owner, name = line:match("^(%w+)[.:]([%w_]+)$")
  local ok, found = pcall(function() return places[owner][name] ~= nil end)
  print(line, ok and found and "yes" or "no")
end
"""


def public(thing, prefix):
    return [prefix + n for n in dir(thing) if not n.startswith("_") and not isinstance(getattr(thing, n), types.ModuleType)
            and (prefix == "A." or callable(getattr(thing, n))) and not n.endswith(("Warning", "Error", "NoConvergence"))
            and n not in ("test", "spmatrix")]


def exist(lgt, names):
    """{name: whether lgt has it}"""
    path = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"scipy_page_{os.getpid()}")
    try:
        with open(path, "w") as f:
            f.write("\n".join(names) + "\n")
        run = subprocess.run([lgt, "-e", "arg = {[1] = '" + path + "'} " + LUA], capture_output=True, text=True)
    finally:
        os.remove(path)
    if run.returncode:
        sys.exit("FAIL scipy_page: " + run.stderr)
    return dict(line.split() for line in run.stdout.splitlines())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lgt", default=os.environ.get("LGT", "build/lgt"))
    lgt = os.path.abspath(parser.parse_args().lgt)
    with open(os.path.join(ROOT, "docs/scipy.md"), encoding="utf-8") as f:
        page = f.read()
    _, _, there, absent = re.split(r"^## .*$", page, flags=re.M)
    there = sorted(set(NAME.findall(" ".join(re.findall(r"`([^`]+)`", there)))))
    absent = sorted({n for row in absent.splitlines() for n in NAME.findall(row.split("|")[1] if "|" in row else "")})
    found = exist(lgt, there + absent)
    bad = [f"{n} is on the page, but not in lgt" for n in there if found[n] != "yes"]
    bad += [f"{n} exists, but the page says it does not" for n in absent if found[n] == "yes"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        groups = {"scipy.sparse": public(scipy.sparse, "sp."), "scipy.sparse.linalg": public(scipy.sparse.linalg, "solvers."),
                  "csr_matrix": public(scipy.sparse.csr_matrix((2, 2)), "A.")}
    here = {n.replace(":", ".") for n in there}
    mentioned = here | {n.replace(":", ".") for n in absent}
    for group, names in groups.items():
        bad += [f"{n} is not on the page" for n in names if n not in mentioned]
        print(f"# {group}: {sum(n in here for n in names)} of {len(names)}")
    for why in bad:
        print(f"FAIL {why}")
    if not bad:
        print(f"ok {len(there)} names exist, {len(absent)} do not")
    sys.exit(1 if bad else 0)


main()
