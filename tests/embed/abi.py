#!/usr/bin/python3
"""Does liblgt keep what programs that were built with an earlier version of it rely on?

    tests/embed/abi.py --build build             compare
    tests/embed/abi.py --build build --record    write the list anew

abi.txt lists what lgt.h and lua_lgt.h promise as long as the soname stays: functions with their types, constants, sizes of
structs, places of their members, options.  Of what lgt_binding.h has beside (`binding`), and of what the library exports for
lgt's own program and Lua files (`own`), it has the names alone, for nothing is promised.  The list is compared with the
headers, as a compiler of C sees them, and with the symbols of the library.  The table of options in lgt.h must be that of
config.h.  This test then plants mistakes in a copy of the list and checks that they are found.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "abi.txt")
PROMISED = ["src/core/lgt.h", "src/lua_bindings/lua_lgt.h"]
BINDING = "src/core/lgt_binding.h"
OPTIONS = "src/core/base/config.h"
HEAD = """\
# What programs that use liblgt rely on; see abi.py, which writes this file with --record.
"""
HELP = """\
If something is gone or changed, programs that were built with the soname {soname} break: keep it, or, if the change is
meant, raise `soversion` in meson.build (once between two releases) and say so in CHANGELOG.md.  What is new breaks nobody.
Either way write the list anew, and commit it with the change:
    tests/embed/abi.py --build {build} --record"""


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def statements(path):
    """The declarations of a header, without comments."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", " ", file.read(), flags=re.S)
    text = re.sub(r'^\s*#.*$|extern "C" \{', " ", text, flags=re.M)
    depth, begin = 0, 0
    for at, character in enumerate(text):
        depth += (character == "{") - (character == "}")
        if character == ";" and depth == 0:
            yield " ".join(text[begin:at].split())
            begin = at + 1


def unnamed(declaration):
    """Without the names of parameters, which nobody relies on."""
    declaration = re.sub(r"(\w) +\w+(?=[,)])", r"\1", re.sub(r"\* ?\w+(?=[,)])", "*", declaration))
    return re.sub(r"(?<=, void )\(\*\w+\)", "(*)", declaration)


def members(body):
    """The names of a struct's members."""
    for declaration in filter(None, (part.strip() for part in body.split(";"))):
        pointer = re.search(r"\(\*(\w+)\)", declaration)
        for declarator in [pointer.group(1)] if pointer else declaration.split(","):
            yield re.search(r"(\w+)\s*(?:\[[^\]]*\])*$", declarator).group(1)


def of_header(path):
    """What a header declares: {function: type}, {type: text}, [constant], {struct: [member]}."""
    functions, types, constants, structs = {}, {}, [], {}
    for statement in statements(path):
        struct = re.search(r"^typedef (?:struct|union) (\w+) \{(.*)\}", statement)
        enum = re.search(r"enum(?: \w+)? \{(.*)\}", statement)
        if struct:
            structs[struct.group(1)] = list(members(struct.group(2)))
        elif enum:
            constants += re.findall(r"(?:^|,)\s*(\w+)", enum.group(1))
        elif statement.startswith("typedef"):
            name = re.search(r"\(\*(\w+)\)|(\w+)$", statement)
            types[name.group(1) or name.group(2)] = unnamed(statement)
        else:
            functions[re.search(r"(\w+)\(", statement).group(1)] = unnamed(statement)
    return functions, types, constants, structs


def measured(constants, structs):
    """Their values, sizes and places, which a program prints that is compiled with the header."""
    lines = ["#include <lgt.h>", "#include <stdio.h>", "int main(void) {"]
    lines += [f'printf("constant {name}: %lld\\n", (long long){name});' for name in constants]
    for struct, names in structs.items():
        lines.append(f'printf("struct {struct}: %zu bytes\\n", sizeof({struct}));')
        lines += [f'printf("member {struct}.{name}: at %zu, %zu bytes\\n", offsetof({struct}, {name}), '
                  f"sizeof((({struct} *)0)->{name}));" for name in names]
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, "abi.c"), os.path.join(folder, "abi")
        with open(source, "w", encoding="utf-8") as file:
            file.write("\n".join(lines + ["return 0;", "}"]))
        output("cc", "-std=c11", "-I", os.path.join(ROOT, "src/core"), source, "-o", program)
        return output(program).splitlines()


def present(library):
    """The list as it is now: {what: value}; and what headers declare that the library does not have."""
    soname = re.search(r"SONAME.*\[(.*)\]", output("readelf", "-d", library)).group(1)
    exported = {line.split()[-1] for line in output("nm", "-D", "--defined-only", library).splitlines()}
    exported = {name for name in exported if not name.startswith("_")}
    lines, declared = [f"soname: {soname}"], set()
    for path in PROMISED:
        functions, types, constants, structs = of_header(path)
        declared |= set(functions)
        lines += [f"type {name}: {text}" for name, text in types.items()] + measured(constants, structs)
        lines += [f"function {name}: {text}" for name, text in functions.items() if name in exported]
    binding = of_header(BINDING)[0]
    lines += [f"binding {name}: a function" for name in binding if name in exported]
    lines += [f"option {name}: {row[0]}" for name, row in options()[0].items()]
    lines += [f"own {name}: a function" for name in sorted(exported - declared - set(binding))]
    missing = [f"{name} is declared, but the library does not export it" for name in sorted((declared | set(binding)) - exported)]
    return dict(line.split(": ", 1) for line in lines), missing


def options():
    """The table of options, {name: (type, default, whether it may change, meaning)}, and what lgt.h says otherwise."""
    def read(path):
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            return file.read()
    table = {name: (kind, default or "-", "run time" if live == "1" else "", meaning) for kind, name, default, live, meaning
             in re.findall(r'X\((\w+), (\w+), "([^"]*)", (\d), \d, "([^"]*)"\)', read(OPTIONS))}
    text = re.search(r"\n \* Options of a configuration:.*?\n \*\n", read(PROMISED[0]), re.S).group(0)
    text = re.sub(r"\n \*   {9,}", " ", text)
    told = {name: (kind, default, live, meaning) for name, kind, default, live, meaning
            in re.findall(r"^ \*   (\w+) +([A-Z]+) +(\S+) +(run time|) *(.*)$", text, re.M)}
    wrong = [f"{name}: lgt.h has {told.get(name)}, config.h {table.get(name)}" for name in {**table, **told}
             if told.get(name) != table.get(name)]
    return table, wrong


def may_grow(what, recorded):
    """May this number become greater?  Of element types, and of structs that begin with their size."""
    return what == "constant LGT_NDTYPE" or what.startswith("struct ") and f"member {what[7:]}.size" in recorded


def compare(recorded, now):
    """What differs, and whether it breaks programs."""
    gone = [f"gone:    {what}: {value}" for what, value in recorded.items() if what not in now]
    changed, grown = [], []
    for what, value in recorded.items():
        if value == now.get(what, value):
            continue
        grows = may_grow(what, recorded) and int(now[what].split()[0]) > int(value.split()[0])
        (grown if grows else changed).append(f"{'grown' if grows else 'changed'}: {what}: {value} -> {now[what]}")
    new = [f"new:     {what}: {value}" for what, value in now.items() if what not in recorded]
    return gone + changed + grown + new, any(not re.match("gone: +(binding|own)", line) for line in gone + changed)


def mistakes(now):
    """Mistakes that the comparison does not find, of those planted here."""
    planted = {
        "a function is gone": ({**now, "function lgt_gone": "void lgt_gone(void)"}, "gone:    function lgt_gone", True),
        "a function of bindings is gone": ({**now, "binding lgt_gone": "a function"}, "gone:    binding lgt_gone", False),
        "a parameter has changed": ({**now, "function lgt_close": "void lgt_close(int)"}, "changed: function lgt_close", True),
        "a member has moved": ({**now, "member lgt_tile.ndim": "at 0, 4 bytes"}, "changed: member lgt_tile.ndim", True),
        "a struct has grown": ({**now, "struct lgt_tile": "8 bytes"}, "changed: struct lgt_tile", True),
        "a struct that may has grown": ({**now, "struct lgt_work": "8 bytes"}, "grown: struct lgt_work", False),
        "a constant has another value": ({**now, "constant LGT_NO_MEMORY": "7"}, "changed: constant LGT_NO_MEMORY", True),
        "a function is new": ({k: v for k, v in now.items() if k != "function lgt_open"}, "new:     function lgt_open", False),
    }
    for name, (recorded, line, breaks) in planted.items():
        found, broken = compare(recorded, now)
        if len(found) != 1 or not found[0].startswith(line) or broken != breaks:
            yield f"{name}: {found}, {broken}"


def main():
    parser = argparse.ArgumentParser(description="Compares the binary interface of liblgt with a recorded list.")
    parser.add_argument("--build", default="build")
    parser.add_argument("--record", action="store_true", help="write the list anew")
    arguments = parser.parse_args()
    now, missing = present(os.path.join(arguments.build, "liblgt.so"))
    with open(LIST, encoding="utf-8") as file:
        recorded = dict(line.rstrip("\n").split(": ", 1) for line in file if not line.startswith("#"))
    different, breaks = compare(recorded, now)
    if arguments.record:
        with open(LIST, "w", encoding="utf-8") as file:
            file.write(HEAD + "".join(f"{what}: {value}\n" for what, value in now.items()))
        print("\n".join(different))
        if breaks and recorded["soname"] == now["soname"]:
            print(f"This breaks programs that were built with {now['soname']}.")
        return 0
    if different:
        different.append(HELP.format(soname=recorded["soname"], build=os.path.relpath(arguments.build, ROOT)))
    failed = 0
    for name, problems in {"what programs rely on": different, "the library has what headers declare": missing,
                           "lgt.h has the table of options": options()[1],
                           "planted mistakes are found": list(mistakes(now))}.items():
        failed += bool(problems)
        print(f"FAIL {name}:\n  " + "\n  ".join(problems) if problems else f"ok {name}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
