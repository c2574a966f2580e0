#!/usr/bin/python3
"""Runs the Lua programs that README.md, HACKING.md, docs/numpy.md and docs/scipy.md show.

    tests/docs.py --lgt build/lgt

A block that begins with ```lua is a whole program and must run without an error.  Where a line ends in
a comment after print(...), that is what it must print:  print(x)    -- 1 2 3
"""
import argparse
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = re.compile(r"^```lua\n(.*?)^```", re.M | re.S)
LIMIT = 600  # seconds for what hangs
EXPECTED = re.compile(r"^print\(.*\) +-- (.*)$", re.M)


def why_not(lgt, program):
    """None, or why the program is not what the document says."""
    try:
        run = subprocess.run([lgt, "-e", program], capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return f"took more than {LIMIT} s"
    if run.returncode != 0:
        return (run.stderr.strip().splitlines() or [f"exit status {run.returncode}"])[0]
    printed = run.stdout.splitlines()
    for line in EXPECTED.findall(program):
        if line not in printed:
            return f"printed {run.stdout.strip()!r}, not {line!r}"
    return None


def main():
    parser = argparse.ArgumentParser(description="Runs the programs of the documents.")
    parser.add_argument("--lgt", default=os.path.join(ROOT, "build/lgt"))
    lgt = os.path.abspath(parser.parse_args().lgt)
    failed = found = 0
    for document in ("README.md", "HACKING.md", "docs/numpy.md", "docs/scipy.md"):
        with open(os.path.join(ROOT, document), encoding="utf-8") as file:
            programs = PROGRAM.findall(file.read())
        for number, program in enumerate(programs, 1):
            found += 1
            why = why_not(lgt, program)
            print(f"FAIL {document} program {number}: {why}" if why else f"ok {document} program {number}")
            failed += bool(why)
    if not found:
        print("FAIL documents: no program was found in them")
    return 1 if failed or not found else 0


if __name__ == "__main__":
    sys.exit(main())
