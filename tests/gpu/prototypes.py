#!/usr/bin/python3
"""Are the declarations of src/gpu/cuda_driver.h those of the toolkit's cuda.h?  Skipped where there is none."""
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HOMES = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda", "/opt/cuda", "/usr"]


def compiles(include, plant):
    command = ["cc", "-std=c11", "-Wno-deprecated-declarations", "-fsyntax-only", "-I", include,
               "-I", os.path.join(ROOT, "src/gpu"), f"-DPLANT={plant}", os.path.join(ROOT, "tests/gpu/prototypes.c")]
    return subprocess.run(command, capture_output=True, text=True)


def main():
    include = next((i for i in (os.path.join(h, "include") for h in HOMES if h)
                    if os.path.exists(os.path.join(i, "cuda.h"))), None)
    if not include:
        print("skip prototypes: there is no cuda.h")
        return 77
    got = compiles(include, 0)
    failed = got.returncode != 0
    print(f"FAIL prototypes: {include}/cuda.h says otherwise\n{got.stderr}" if failed else "ok prototypes")
    for plant, what in enumerate(("constant", "layout", "prototype"), 1):
        found = "static assertion failed" in compiles(include, plant).stderr
        failed = failed or not found
        print(f"ok prototypes_wrong_{what}" if found else f"FAIL prototypes_wrong_{what}: was not found")
    return failed


sys.exit(main())
