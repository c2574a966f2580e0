#!/usr/bin/python3
"""docs/scipy.md against SciPy and lgt.

    tests/lua/scipy_page.py --lgt build/lgt

Every name under "What there is" must exist in lgt, none under "What there is not" may, and every public function of
scipy.sparse and scipy.sparse.linalg and every attribute of SciPy's csr matrices must be on the page.
"""
import types

import scipy.sparse
import scipy.sparse.linalg

from name_page import check

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


def groups():
    return {"scipy.sparse": public(scipy.sparse, "sp."), "scipy.sparse.linalg": public(scipy.sparse.linalg, "solvers."),
            "csr_matrix": public(scipy.sparse.csr_matrix((2, 2)), "A.")}


check("docs/scipy.md", r"\b((?:sp|solvers)\.\w+|A[.:]\w+)", LUA, groups)
