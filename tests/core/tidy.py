#!/usr/bin/python3
"""clang-tidy, with the checks of .clang-tidy, over the C files of src that a build compiles.

    tests/core/tidy.py --build build [FILE...]     (all files)

gcc compiles lgt: clang-tidy is given its commands without the options that clang does not know.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
UNKNOWN = {"-fcx-limited-range", "-fvect-cost-model=dynamic"}
# What clang does not compile: names of instruction sets as gcc has them; vectors as gcc converts them.
OTHERS = {"src/core/kernel/helper.c", "src/core/kernel/elementary/elementary_lanes.c"}


def commands(build):
    """The compile commands of C files, one of each, by path from the root."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entries = json.load(file)
    found = {}
    for entry in entries:
        path = os.path.relpath(os.path.join(entry["directory"], entry["file"]), ROOT)
        if path.startswith("src/") and path.endswith(".c") and path not in OTHERS:
            words = [word for word in entry["command"].split() if word not in UNKNOWN]
            found[path] = {**entry, "command": " ".join(words)}
    return found


def main():
    parser = argparse.ArgumentParser(description="clang-tidy over the C files of src.")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("-j", dest="jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("files", nargs="*", help="only these")
    args = parser.parse_args()
    known = commands(args.build)
    wanted = sorted(os.path.relpath(f, ROOT) for f in args.files) or sorted(known)
    failed = [f"{f}: the build does not compile it" for f in wanted if f not in known]
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "compile_commands.json"), "w", encoding="utf-8") as file:
            json.dump(list(known.values()), file)

        def check(path):
            done = subprocess.run(["clang-tidy", "--quiet", "-p", folder, os.path.join(ROOT, path)], cwd=ROOT,
                                  capture_output=True, text=True)
            if done.returncode == 0:
                return []
            lines = [re.sub(r"^\S*?(?=src/)", "", line) for line in done.stdout.splitlines()]
            return [line for line in lines if ": error:" in line or ": warning:" in line] or [f"{path}: {done.stderr}"]
        with ThreadPoolExecutor(args.jobs) as pool:
            for found in pool.map(check, [f for f in wanted if f in known]):
                failed += found
    for line in sorted(set(failed)):
        print(f"FAIL {line}")
    if not failed:
        print(f"ok {len(wanted)} files")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
