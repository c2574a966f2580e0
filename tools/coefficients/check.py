#!/usr/bin/env python3
"""Are the arrays in src/core/kernel/elementary/elementary_*.h those that the scripts here print?

    tools/coefficients/check.py

Each *.sollya finds the coefficients of one header's polynomials in multiple precision (Debian: sollya) and prints them as
C.  Arrays are compared as numbers, by name.  Without sollya there is nothing to compare with: exit status 77."""

import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = HERE.parent.parent / "src" / "core" / "kernel" / "elementary"
ARRAY = re.compile(r"^static const double (\w+)\[\w*\]\s*=\s*\{(.*?)\};", re.S | re.M)


def number(text):
    return float.fromhex(text.strip()) if "0x" in text else float(text)


def arrays(text):
    """Without those that are plain fractions, as of a Taylor series."""
    return {name: [number(x) for x in values.split(",") if x.strip()] for name, values in ARRAY.findall(text) if "0x" in values}


def main():
    if not shutil.which("sollya"):
        print("skip coefficients: sollya is not installed (Debian: sollya)")
        return 77
    failed = False
    there = {}
    for header in sorted(SOURCES.glob("elementary_*.h")):
        for name, values in arrays(header.read_text()).items():
            there[name] = (header.name, values)
    for script in sorted(HERE.glob("*.sollya")):
        done = subprocess.run(["sollya", str(script)], capture_output=True, text=True, timeout=600)
        made = arrays(done.stdout)
        wrong = [name for name in made if there.pop(name, (None, None))[1] != made[name]]
        if wrong or not made:  # the exit status says only whether sollya warned
            print(f"FAIL {script.name}: {', '.join(wrong) or 'no arrays'} not as in the header; {done.stderr[:200]}")
            failed = True
        else:
            print(f"ok {script.name}")
    for name, (header, _) in sorted(there.items()):
        print(f"FAIL {name} of {header}: no script prints it")
        failed = True
    return failed


if __name__ == "__main__":
    sys.exit(main())
