"""How long solvers are: lines of code of the same method in lgt, SciPy and PETSc.

Blank lines, comments and docstrings do not count; helpers that only the method has do, what several share (arguments,
norms, stopping) does not.  SciPy's cg, bicg, cgs, bicgstab and gmres are the Python around a Fortran routine of about
the same length, which Debian's package has compiled only: not counted.  Of PETSc it is the functions that solve.
"""
import ast
import importlib.util
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# method: (file of lib/solvers and functions, file of scipy and functions, file of PETSc's src/ksp/ksp/impls and functions)
METHODS = {
    "cg": (("krylov", "cg"), ("sparse/linalg/_isolve/iterative", "cg"), ("cg/cg", "KSPSolve_CG")),
    "bicg": (("krylov", "bicg"), ("sparse/linalg/_isolve/iterative", "bicg"), ("bicg/bicg", "KSPSolve_BiCG")),
    "cgs": (("krylov", "cgs"), ("sparse/linalg/_isolve/iterative", "cgs"), ("cgs/cgs", "KSPSolve_CGS")),
    "bicgstab": (("krylov", "bicgstab"), ("sparse/linalg/_isolve/iterative", "bicgstab"), ("bcgs/bcgs", "KSPSolve_BCGS")),
    "gmres": (("krylov", "gmres rotation rotate back_substitute orthogonalise plus_combination"),
              ("sparse/linalg/_isolve/iterative", "gmres"),
              ("gmres/gmres", "KSPSolve_GMRES KSPGMRESCycle KSPGMRESBuildSoln KSPGMRESUpdateHessenberg")),
    "minres": (("krylov", "minres"), ("sparse/linalg/_isolve/minres", "minres"), ("minres/minres", "KSPSolve_MINRES")),
    "lsqr": (("least", "lsqr"), ("sparse/linalg/_isolve/lsqr", "lsqr"), ("lsqr/lsqr", "KSPSolve_LSQR")),
    "lsmr": (("least", "lsmr"), ("sparse/linalg/_isolve/lsmr", "lsmr"), None),
    "chebyshev": (("precondition", "chebyshev"), None, ("cheby/cheby", "KSPSolve_Chebyshev")),
    "expm_multiply": (("eigen", "expm_multiply"),
                      ("sparse/linalg/_expm_multiply", "expm_multiply _expm_multiply_simple _expm_multiply_simple_core"), None),
}


def lua_functions(text):
    """{name: lines of code}, of functions that begin and end at the margin."""
    found, name, count = {}, None, 0
    for line in text.splitlines():
        start = re.match(r"(?:local )?function (?:\w+\.)?(\w+)", line)
        if start and name is None:
            name, count = start.group(1), 0
        if name is None:
            continue
        count += bool(line.strip()) and not line.strip().startswith("--")
        if line == "end" or (start and line.endswith(" end")):
            found[name], name = count, None
    return found


def python_functions(text):
    found = {}
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.FunctionDef):
            continue
        skip = set()
        if ast.get_docstring(node) is not None:
            skip = set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
        found.setdefault(node.name, sum(bool(lines[k - 1].strip()) and not lines[k - 1].strip().startswith("#")
                                        for k in range(node.lineno, node.end_lineno + 1) if k not in skip))
    return found


def c_functions(text):
    text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group().count("\n"), text, flags=re.S)
    text = re.sub(r"//[^\n]*", "", text)
    found = {}
    for start in re.finditer(r"^(?:static )?PetscErrorCode (\w+)\([^;{]*\)\s*\{", text, flags=re.M):
        end = text.index("\n}", start.end())
        found[start.group(1)] = sum(bool(line.strip()) for line in text[start.start():end + 2].splitlines())
    return found


def count(path, functions, names):
    with open(path, encoding="utf-8") as file:
        found = functions(file.read())
    return sum(found[name] for name in names.split())


def lengths(petsc=None):
    """[(method, lgt, SciPy, PETSc)]; None where there is no such method, or no source of PETSc."""
    scipy = os.path.dirname(importlib.util.find_spec("scipy").origin)
    rows = []
    for method, (ours, theirs, in_petsc) in METHODS.items():
        rows.append((
            method, count(os.path.join(ROOT, "lib/solvers", ours[0] + ".lua"), lua_functions, ours[1]),
            theirs and count(os.path.join(scipy, theirs[0] + ".py"), python_functions, theirs[1]),
            petsc and in_petsc and count(os.path.join(petsc, "src/ksp/ksp/impls", in_petsc[0] + ".c"), c_functions, in_petsc[1])))
    return rows
