#!/usr/bin/python3
"""The machine code that ptxas makes of a few programs' kernels, as nvdisasm reads it.

    tests/gpu/sass.py --lgt build/lgt --driver build/tests/gpu [NAME ...]

Of each kernel of a turn of each program, for each chip:

    wide         accesses of 16 bytes in the text are accesses of 128 bits in the code; where a program says so there are some
    uncontracted a text that has neither fused multiplications and additions nor what is made of them (quotients, roots) becomes
                 code without any: each product and each sum is rounded, as on the host
    spills       no register's contents go to memory

nvdisasm is that of the toolkit or, where the toolkit has none, of PyPI's wheel, which is kept beside the emulated driver.  It
reads the code of any older ptxas.  Without ptxas, nvdisasm or a network the test is skipped.
"""
import argparse
import collections
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

from models import turn

CHIPS = ("sm_80", "sm_90", "sm_100")
WHEEL = "nvidia-cuda-nvdisasm==13.5.37"
# Programs of bench/gpu.lua: elements, and whether there must be accesses of 16 bytes, and kernels without fused operations.
PROGRAMS = {"triad": (160000, True, True), "stencil": (160000, False, True), "cg": (160000, True, True),
            "transpose": (160000, False, True), "sum": (640000, False, True), "black_scholes": (40000, False, False),
            "shallow_water": (40000, False, True)}
FUSED = re.compile(r"\b(?:fma|div|rcp|sqrt|rsqrt|ex2|lg2|sin|cos|tanh)\.\S*f(?:16|32|64)")


def find_nvdisasm(folder):
    """Its path, or None."""
    kept = os.path.join(folder, "nvdisasm")
    for path in (shutil.which("nvdisasm"), "/usr/local/cuda/bin/nvdisasm", kept):
        if path and os.path.exists(path):
            return path
    with tempfile.TemporaryDirectory() as wheels:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--timeout=20", "--retries=1", "-d", wheels, WHEEL]
        done = subprocess.run(command, capture_output=True, check=False)
        paths = glob.glob(os.path.join(wheels, "*.whl"))
        if done.returncode or not paths:
            return None
        with zipfile.ZipFile(paths[0]) as wheel:
            name = next(n for n in wheel.namelist() if n.endswith("/bin/nvdisasm"))
            with open(kept + ".new", "wb") as file:
                file.write(wheel.read(name))
    os.chmod(kept + ".new", 0o755)
    os.replace(kept + ".new", kept)
    return kept


def texts_of(path):
    """{kernel: its text} of a module."""
    with open(path, encoding="utf-8") as file:
        parts = re.split(r"^\.visible \.entry (\w+)", file.read(), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def codes_of(path, chip, tools):
    """{kernel: its machine code, as text}, and what ptxas says of spills."""
    ptxas, nvdisasm = tools
    cubin = path + ".cubin"
    done = subprocess.run([ptxas, "-v", f"-arch={chip}", path, "-o", cubin], capture_output=True, text=True, check=True)
    spills = [int(n) for n in re.findall(r"(\d+) bytes spill", done.stderr)]
    code = subprocess.run([nvdisasm, "-c", cubin], capture_output=True, text=True, check=True).stdout
    parts = re.split(r"^\s*\.section\s+\.text\.(\w+)", code, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2])), sum(spills)


def wide_accesses(text, code):
    """Accesses of 16 bytes in the text, and of 128 bits in the code: (loads, stores) each."""
    asked = [len(re.findall(rf"\b{op}\.global\S*\.(?:v2\.[a-z]64|v4\.[a-z]32)", text)) for op in ("ld", "st")]
    made = [len(re.findall(rf"\b{op}\.E\S*\.128", code)) for op in ("LDG", "STG")]
    return asked, made


def look(name, text, code, counts):
    """What is wrong with a kernel."""
    asked, made = wide_accesses(text, code)
    counts["wide"] += sum(made)
    if any(m < a for a, m in zip(asked, made)):
        return f"{name}: {asked} loads and stores of 16 bytes became {made} of 128 bits"
    # (HFMA2 of registers of zero is how ptxas writes a constant into a register.)
    fused = re.findall(r"\b[DF]FMA\S*", code)
    if FUSED.search(text):
        return None
    counts["plain"] += 1
    return f"{name}: {fused[0]} in the code, and no fused operation in the text" if fused else None


def check(args, name, tools):
    """What is wrong with a program."""
    elements, wide, plain = PROGRAMS[name]
    wrong, counts = [], collections.Counter()
    with tempfile.TemporaryDirectory(prefix="lgt-sass-") as folder:
        kernels = {(k.module, k.name) for k in turn(args, name, elements, folder)}
        for module in {m for m, _ in kernels}:
            path = os.path.join(folder, f"{module}.ptx")
            texts = texts_of(path)
            for chip in CHIPS:
                codes, spilled = codes_of(path, chip, tools)
                if spilled:
                    wrong.append(f"{name}: module {module} spills {spilled} bytes on {chip}")
                for kernel in (k for m, k in kernels if m == module):
                    counts["kernels"] += 1
                    wrong.append(look(f"{name}: {kernel} of module {module} on {chip}", texts[kernel], codes[kernel], counts))
    if wide and not counts["wide"]:
        wrong.append(f"{name}: no access has 128 bits")
    if plain and not counts["plain"]:
        wrong.append(f"{name}: each kernel has fused operations, so nothing was tested")
    wrong = [w for w in wrong if w]
    print("\n".join(f"FAIL {w}" for w in wrong) if wrong else
          f"ok {name}: {counts['kernels']} kernels, {counts['wide']} accesses of 128 bits, {counts['plain']} kernels with no fused operation")
    return not wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lgt", required=True)
    parser.add_argument("--driver", required=True, help="folder of the emulated driver")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    ptxas = shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
    if not os.path.exists(ptxas):
        print("skip sass: ptxas is not installed")
        return 0
    nvdisasm = find_nvdisasm(args.driver)
    if not nvdisasm:
        print(f"skip sass: there is no nvdisasm, and {WHEEL} is not to be had from PyPI")
        return 0
    return 0 if all([check(args, name, (ptxas, nvdisasm)) for name in args.names or PROGRAMS]) else 1


if __name__ == "__main__":
    sys.exit(main())
