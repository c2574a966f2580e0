#!/usr/bin/python3
"""Are the rooms of src/core kept: who may include whom, and who may allocate?

core.h lists the rooms of src/core in the order in which data flows, and the concepts (files) of each.  This test
reads the list and checks that

  - every file of src/core lies in a room and belongs to a concept that is listed there: x.c, x.h or x_part.c to concept x;
  - includes name the room ("plan/weave.h"), never a later one;
  - a header includes headers of earlier concepts of its own room only, so that there are no circles;
  - the headers of MLIR and LLVM are included by the concept `emit` alone, those of Highway by `keys`, those of
    CUDA in src/gpu, of UCX and PMIx in src/net, of Lua in src/lua_bindings;
  - src/core includes nothing from outside src/core;
  - the core allocates through mem.h;
  - nobody tells one domain from many but through the predicates that are named after what follows from it;
  - words that the glossary of HACKING.md has replaced name nothing in src/core, src/net and src/gpu;
  - no function of C in src has more than 60 lines, tables not counted, and no file in src and lib more than 800.

It then plants one mistake of each kind in a copy and checks that it is found, and says how many rooms deep the
includes are.
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
# One domain or many?  Where that is asked, and which words ask it.
ONE_DOMAIN = {"src/core/model/partition.h", "lib/array/native.lua"}
TELLS_ONE = re.compile(r"\b(?:domains|local)(?:\([^()]*\))?\s*(?:(?:==|!=|~=|>|<|<=|>=)\s*1|(?:>=|<)\s*2)\b"
                       r"|\b(?:1\s*(?:==|!=|~=|<|>=)|2\s*(?:<=|>))\s*[\w.>-]*\b(?:domains|local)\b")
# Words that the glossary of HACKING.md has replaced.  A letter of a text is none of them.
DROPPED = re.compile(r"(?:blame|spoil|trail|anew|heal|risky|sure|partly|undead"
                     r"|letter|parcel|post|mail|route|transfer|ship|fetch|coin|bite)s?")
FOREIGN_NAME = re.compile(r"atomic_fetch_\w+")
STILL_NAMED = {
    "src/core/model/body.c": {"letters"},
    "src/core/model/kind.c": {"letter"},
}

MOST_LINES = 60  # of a function
MOST_OF_FILE = 800
# Where a function may begin: names, types and parameters that no semicolon, brace or assignment interrupts.
FUNCTION = re.compile(r"^(?![#}/ \n])[^;{}=]*?\b(\w+)\([^;{}=]*\) \{$.*?^\}", re.M | re.S)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Rooms:
    """What core.h lists: the level of each room, and in each room that of each concept."""

    def __init__(self, root):
        self.room, self.concepts = {}, {}
        for line in read(os.path.join(root, "src/core/core.h")).split("*/")[0].splitlines():
            room = re.match(r" \*   (\w+)   ", line)
            if room:
                self.room[room[1]] = len(self.room)
                self.concepts[room[1]] = {}
            elif re.match(r" \*     \w", line):
                listed = self.concepts[list(self.room)[-1]]
                level = len(listed)
                for word in line[6:].split("   ")[0].split():
                    listed.setdefault(word.rstrip("*").rstrip("_"), level)
                    level += 1

    def concept_of(self, room, name):
        """The concept a file belongs to: the longest listed prefix of its name that ends at a '_'."""
        stem = name.rsplit(".", 1)[0]
        while stem and stem not in self.concepts[room]:
            stem = stem.rpartition("_")[0]
        return stem


def without_comments(text):
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"//[^\n]*", " ", text)
    return re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)


def core_files(root):
    """(room, path below src/core) of each source; the room of what lies in none is None."""
    folder = os.path.join(root, "src/core")
    for path, _, names in os.walk(folder):
        for name in sorted(names):
            if name.endswith((".c", ".h", ".cpp")):
                inside = os.path.relpath(os.path.join(path, name), folder)
                yield inside.split(os.sep)[0] if os.sep in inside else None, inside


def included(root, inside):
    return [h for kind, h in INCLUDE.findall(read(os.path.join(root, "src/core", inside))) if kind == '"']


def check_include(root, rooms, room, inside, header):
    """Why a file may not include a header; None: it may."""
    if not os.path.exists(os.path.join(root, "src/core", header)):
        beside = os.path.join(os.path.dirname(inside), header)
        if os.path.exists(os.path.join(root, "src/core", beside)):
            return "does not name the room"
        return "is not in src/core"
    if "/" not in header:
        return None  # lgt.h, core.h
    other = header.split("/")[0]
    if rooms.room[other] > rooms.room[room]:
        return f"{other} comes after {room} in core.h"
    name = os.path.basename(inside)
    concept, theirs = rooms.concept_of(room, name), rooms.concept_of(other, os.path.basename(header))
    listed = rooms.concepts[room]
    if other == room and name.endswith(".h") and listed.get(theirs, 0) > listed.get(concept, 0):
        return f"{theirs} comes after {concept} in core.h"
    return None


def check_core_file(root, rooms, room, inside):
    if room is None:
        return [] if inside in ("core.h", "lgt.h", "lgt_binding.h") else [f"{inside}: lies in no room"]
    if room not in rooms.room:
        return [f"{inside}: {room} is no room that core.h lists"]
    concept = rooms.concept_of(room, os.path.basename(inside))
    if not concept:
        return [f"{inside}: belongs to no concept that core.h lists in {room}"]
    mistakes = []
    for header in included(root, inside):
        why = check_include(root, rooms, room, inside, header)
        if why:
            mistakes.append(f"{inside}: includes {header}, which {why}" if why.startswith(("is", "does"))
                            else f"{inside}: includes {header}, but {why}")
    allowed = OWN_ALLOCATION.get(concept, set())
    for call in ALLOCATOR.findall(without_comments(read(os.path.join(root, "src/core", inside)))):
        if call not in allowed and "*" not in allowed:
            mistakes.append(f"{inside}: calls {call}(); the core allocates through mem.h")
    return mistakes


def room_depth(root, rooms):
    """The longest chain of rooms that include one another."""
    below = {room: set() for room in rooms.room}
    for room, inside in core_files(root):
        for header in included(root, inside) if room else []:
            other = header.split("/")[0]
            if other in below and other != room:
                below[room].add(other)
    depth = {}
    for room in rooms.room:
        depth[room] = 1 + max((depth[other] for other in below[room]), default=0)
    return max(depth.values())


def check_foreign(root, rooms):
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
                    room = place.split("/")[2] if place.startswith("src/core/") else None
                    if not inside or (concept and rooms.concept_of(room, name) != concept):
                        where = f"{folder}/{concept}*" if concept else folder
                        mistakes.append(f"{place}/{name}: includes <{header}>, which belongs in {where}")
    return mistakes


def check_domains(root):
    """Where else than in the predicates one domain is told from many."""
    mistakes = []
    for folder, comments in (("src/core", r"//[^\n]*|/\*.*?\*/"), ("lib", r"--[^\n]*")):
        for path, _, names in os.walk(os.path.join(root, folder)):
            for name in sorted(names):
                place = os.path.relpath(os.path.join(path, name), root)
                if place in ONE_DOMAIN or not name.endswith((".c", ".h", ".lua")):
                    continue
                for _ in TELLS_ONE.findall(re.sub(comments, " ", read(os.path.join(path, name)), flags=re.S)):
                    mistakes.append(f"{place}: asks whether there is one domain")
    return mistakes


def check_words(root):
    """Which names in src are made of words that were dropped."""
    mistakes = []
    for folder in ("src/core", "src/net", "src/gpu"):
        for path, _, names in os.walk(os.path.join(root, folder)):
            for name in sorted(names):
                place = os.path.relpath(os.path.join(path, name), root)
                if not name.endswith((".c", ".h", ".cpp")):
                    continue
                identifiers = set(re.findall(r"[A-Za-z_]\w*", without_comments(read(os.path.join(path, name)))))
                for identifier in sorted(identifiers - STILL_NAMED.get(place, set())):
                    if FOREIGN_NAME.fullmatch(identifier):
                        continue
                    dropped = [part for part in identifier.lower().split("_") if DROPPED.fullmatch(part)]
                    if dropped:
                        mistakes.append(f"{place}: {identifier}: the glossary has another word for {dropped[0]}")
    return mistakes


def words_of(section):
    """What the glossary of HACKING.md lists in a section."""
    glossary = read(os.path.join(ROOT, "HACKING.md")).split("\n## Words\n")[1].split("\n## ")[0]
    listed = re.search(rf"^{section}\b.*?\n\n((?:- .*\n)+)", glossary, re.M)
    return re.findall(r"^- \*\*(\w+)\*\*", listed[1], re.M) if listed else []


def check_lengths(root):
    """Functions and files that want to be two."""
    mistakes = []
    for folder in ("src", "lib"):
        for path, _, names in os.walk(os.path.join(root, folder)):
            for name in sorted(names):
                if not name.endswith((".c", ".h", ".cpp", ".lua")):
                    continue
                place = os.path.relpath(os.path.join(path, name), root)
                text = read(os.path.join(path, name))
                lines = text.count("\n")
                if lines > MOST_OF_FILE:
                    mistakes.append(f"{place}: has {lines} lines")
                for function in [] if name.endswith(".lua") else FUNCTION.finditer(text):
                    lines = function[0].count("\n") + 1
                    if lines > MOST_LINES:
                        mistakes.append(f"{place}: {function[1]} has {lines} lines")
    return mistakes


def check(root):
    rooms = Rooms(root)
    mistakes = check_foreign(root, rooms) + check_domains(root) + check_words(root) + check_lengths(root)
    for room, inside in core_files(root):
        mistakes += check_core_file(root, rooms, room, inside)
    return mistakes


PLANTED = {
    "a later room": ("plan/window.c", '#include "bind/bind.h"\n', "comes after"),
    "a later header of the room": ("model/store.h", '#include "model/kind.h"\n', "comes after"),
    "an include without its room": ("plan/fuse.c", '#include "weave.h"\n', "does not name the room"),
    "an unknown concept": ("plan/zebra.c", "\n", "no concept"),
    "an unknown room": ("zoo/zebra.c", "\n", "is no room"),
    "a file outside of the rooms": ("zebra.c", "\n", "lies in no room"),
    "a foreign folder": ("exec/exec.c", '#include "../net/net.h"\n', "not in src/core"),
    "MLIR outside emit": ("plan/fuse.c", "#include <mlir-c/IR.h>\n", "belongs in src/core/emit"),
    "CUDA in the core": ("memory/map.c", "#include <cuda.h>\n", "belongs in src/gpu"),
    "Lua in the core": ("model/kind.c", "#include <lua.h>\n", "belongs in src/lua_bindings"),
    "one domain in C": ("plan/window.c", "bool f(map *m) { return m->domains > 1; }\n", "one domain"),
    "one domain of a rank": ("plan/window.c", "bool f(map *m) { return m->local<2; }\n", "one domain"),
    "one domain in Lua": ("../../lib/x.lua", "local alone = 1 == domains\n", "one domain"),
    "a dropped word": ("move/message.c", "static int letter_room; /* a letter */\n", "another word for letter"),
    "a dropped word of devices": ("../gpu/gpu.h", "int lgt_copy_post(void);\n", "another word for post"),
    "a dropped word with an s": ("../net/net.h", "typedef struct lgt_parcels lgt_parcels;\n", "another word for parcels"),
    "a long function": ("plan/window.c", "int f(int a,\n      int b) {\n" + "  a++;\n" * 58 + "}\n", "f has 61 lines"),
    "a long file": ("plan/window.c", "\n" * 801, "has 801 lines"),
    "a long file in Lua": ("../../lib/x.lua", "\n" * 801, "has 801 lines"),
    "malloc in the core": ("plan/window.c", "void *f(void) { return malloc(8); }\n", "calls malloc"),
}


def planted(what):
    """None if this mistake is found, else why not."""
    path, text, expected = PLANTED[what]
    with tempfile.TemporaryDirectory() as root:
        os.makedirs(os.path.dirname(os.path.join(root, "src/core", path)), exist_ok=True)
        for name in ("core.h", "plan/weave.h", "model/kind.h", "bind/bind.h"):
            os.makedirs(os.path.dirname(os.path.join(root, "src/core", name)), exist_ok=True)
            with open(os.path.join(root, "src/core", name), "w", encoding="utf-8") as file:
                file.write(read(os.path.join(ROOT, "src/core/core.h")).split("#ifndef")[0] if name == "core.h" else "")
        clean = check(root)
        with open(os.path.join(root, "src/core", path), "w", encoding="utf-8") as file:
            file.write(text)
        found = [m for m in check(root) if m not in clean]
    return None if len(found) == 1 and expected in found[0] else f"found {found}"


def main():
    failed = 0

    def case(name, why):
        nonlocal failed
        print(f"FAIL {name}: {why}" if why else f"ok {name}")
        failed += bool(why)

    rooms = Rooms(ROOT)
    listed = {concept for room in rooms.concepts.values() for concept in room}
    missing = [c for c in ("err", "dtype", "store", "fuse", "emit", "runtime") if c not in listed]
    case("core.h lists the concepts", f"did not find {missing}" if missing else None)
    case("src keeps its rooms", "\n  ".join(check(ROOT)))
    depth = room_depth(ROOT, rooms)
    case(f"rooms include one another {depth} deep", "at most 10 were expected" if depth > 10 else None)
    for section in ("Movement", "Failure"):
        words = words_of(section)
        case(f"the glossary has few words for {section.lower()}", None if 0 < len(words) <= 4 else f"at most 4, not {words}")
    for what in PLANTED:
        case(f"finds {what}", planted(what))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
