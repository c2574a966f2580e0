#!/usr/bin/python3
"""The layers: who may include whom, and who may allocate.

core.h lists the concepts of src/core in the order in which data flows.  This test reads the list and
checks that

  - every file of src/core belongs to a listed concept: x.c, x.h or x_part.c to concept x;
  - a file includes headers of its own or earlier concepts only;
  - the headers of MLIR and LLVM are included by the concept `emit` alone, those of Highway by `keys`, those of
    CUDA in src/gpu, of UCX and PMIx in src/net, of Lua in src/lua_bindings;
  - src/core includes nothing from outside src/core;
  - the core allocates through mem.h.

It then plants one mistake of each kind in a copy and checks that it is found.
"""
import os
import re
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)
# Foreign headers, and where they may be included: a folder, or a concept of the core.
FOREIGN = [
    (re.compile(r"^(mlir|llvm)"), "src/core", "emit"),
    (re.compile(r"^hwy"), "src/core", "keys"),
    (re.compile(r"^(cuda|cublas|cusparse|nv)"), "src/gpu", None),
    (re.compile(r"^(ucp|ucs|uct|ucm|pmix)"), "src/net", None),
    (re.compile(r"^(lua|lauxlib|lualib|luajit)"), "src/lua_bindings", None),
]
ALLOCATOR = re.compile(r"(?<![\w.>])(malloc|calloc|realloc|strdup|strndup|free|aligned_alloc|posix_memalign)\s*\(")
# Blocks that cross into or out of a foreign library's allocator: file -> what it may call.
OWN_ALLOCATION = {"mem": {"*"}, "emit": {"*"}, "kernel": {"free"}}


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def concepts(root):
    """{concept: level}.  An entry is one or more concepts of one level, two spaces, and what they are."""
    levels = {}
    for line in read(os.path.join(root, "src/core/core.h")).split("*/")[0].splitlines():
        if not re.match(r" \*   \w", line):
            continue
        level = len(levels)
        levels.update((word, level) for word in line[5:].split("  ")[0].split())
    return levels


def concept_of(name, levels):
    """The concept a file belongs to: the longest listed prefix of its name that ends at a '_'."""
    stem = name.rsplit(".", 1)[0]
    while stem and stem not in levels:
        stem = stem.rpartition("_")[0]
    return stem


def without_comments(text):
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"//[^\n]*", " ", text)
    return re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)


def check_core_file(folder, name, levels):
    mistakes = []
    concept = concept_of(name, levels)
    if name != "core.h" and not concept:
        return [f"{name}: belongs to no concept that core.h lists"]
    text = read(os.path.join(folder, name))
    for kind, header in INCLUDE.findall(text):
        if kind == "<":
            continue
        base = header.rsplit("/", 1)[-1]
        if "/" in header or not os.path.exists(os.path.join(folder, base)):
            mistakes.append(f"{name}: includes {header}, which is not in src/core")
            continue
        if base == "core.h" or name == "core.h":
            continue
        other = concept_of(base, levels)
        if other and levels[other] > levels[concept]:
            mistakes.append(f"{name}: includes {header}, but {other} comes after {concept} in core.h")
    allowed = OWN_ALLOCATION.get(concept, set())
    for call in ALLOCATOR.findall(without_comments(text)):
        if call not in allowed and "*" not in allowed:
            mistakes.append(f"{name}: calls {call}(); the core allocates through mem.h")
    return mistakes


def check_foreign(root, levels):
    mistakes = []
    for path, _, names in os.walk(os.path.join(root, "src")):
        place = os.path.relpath(path, root)
        for name in sorted(names):
            if not name.endswith((".c", ".h", ".cc", ".cpp")):
                continue
            for kind, header in INCLUDE.findall(read(os.path.join(path, name))):
                for pattern, folder, concept in FOREIGN:
                    if kind != "<" or not pattern.match(header):
                        continue
                    inside = place == folder or place.startswith(folder + "/")
                    if not inside or (concept and concept_of(name, levels) != concept):
                        where = f"{folder}/{concept}*" if concept else folder
                        mistakes.append(f"{place}/{name}: includes <{header}>, which belongs in {where}")
    return mistakes


def check(root):
    levels = concepts(root)
    folder = os.path.join(root, "src/core")
    mistakes = check_foreign(root, levels)
    for name in sorted(os.listdir(folder)):
        if name.endswith((".c", ".h")):
            mistakes += check_core_file(folder, name, levels)
    return mistakes


PLANTED = {
    "a later header": ("src/core/body.c", '#include "runtime.h"\n', "comes after"),
    "an unknown concept": ("src/core/zebra.c", "\n", "no concept"),
    "a foreign folder": ("src/core/exec.c", '#include "../net/net.h"\n', "not in src/core"),
    "MLIR outside emit": ("src/core/fuse.c", "#include <mlir-c/IR.h>\n", "belongs in src/core/emit"),
    "CUDA in the core": ("src/core/map.c", "#include <cuda.h>\n", "belongs in src/gpu"),
    "Lua in the core": ("src/core/task.c", "#include <lua.h>\n", "belongs in src/lua_bindings"),
    "malloc in the core": ("src/core/window.c", "void *f(void) { return malloc(8); }\n", "calls malloc"),
}


def planted(what):
    """None if this mistake is found, else why not."""
    path, text, expected = PLANTED[what]
    with tempfile.TemporaryDirectory() as root:
        os.makedirs(os.path.join(root, "src/core"))
        for name, content in (("core.h", read(os.path.join(ROOT, "src/core/core.h"))), ("runtime.h", "")):
            with open(os.path.join(root, "src/core", name), "w", encoding="utf-8") as file:
                file.write(content)
        clean = check(root)
        with open(os.path.join(root, path), "w", encoding="utf-8") as file:
            file.write(text)
        found = [m for m in check(root) if m not in clean]
    return None if len(found) == 1 and expected in found[0] else f"found {found}"


def main():
    failed = 0

    def case(name, why):
        nonlocal failed
        print(f"FAIL {name}: {why}" if why else f"ok {name}")
        failed += bool(why)

    listed = concepts(ROOT)
    missing = [c for c in ("lgt", "err", "dtype", "store", "fuse", "emit", "runtime") if c not in listed]
    case("core.h lists the concepts", f"did not find {missing}" if missing else None)
    case("src keeps its layers", "\n  ".join(check(ROOT)))
    for what in PLANTED:
        case(f"finds {what}", planted(what))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
