"""Programs on a GPU: bench/gpu.lua with and without it, CuPy and JAX where they see it, and what its memory allows at the most.

Nothing is measured on the emulated driver of the tests: without a GPU each figure is "not measured on a device".
"""
import os
import re
import subprocess
import sys
import time

from harness import compete

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SIZES = (10**8, 10**7, 10**6)  # what matters most comes first, since time may run out
MOST = 280  # seconds after which no further line is begun
# The makers' bandwidths in bytes a second, for the names that drivers give; the first that matches.
PEAKS = [("H200", 4.8e12), ("GH200.*144", 4.9e12), ("GH200", 4.0e12), ("H100 PCIe", 2.04e12), ("H100 NVL", 3.9e12), ("H100", 3.35e12),
         ("A100.*80GB PCIe", 1.94e12), ("A100.*80GB", 2.04e12), ("A100", 1.56e12), ("B200", 8.0e12), ("L40S", 0.864e12), ("A10", 0.6e12)]
NONE = "not measured on a device"


def device(lgt):
    """(the name of the GPU, None), or (None, why there is none)."""
    text = subprocess.run([lgt, "--version"], capture_output=True, text=True, check=True).stdout
    line = next((line.split("GPUs", 1)[1].strip() for line in text.splitlines() if "GPUs" in line), "lgt says nothing of GPUs")
    found = re.search(r"\d+ GPUs?: (.+?) \(", line)
    if not found:
        return None, line
    return (None, "the driver is the emulated one of the tests") if "mulated" in found.group(1) else (found.group(1), None)


def rivals():
    """Those of CuPy and JAX that this Python, or that of bench/venv-current, has, and that see a GPU: {label: command}."""
    found = {}
    for who, label in (("cupy", "CuPy"), ("jax", "JAX")):
        for python in (sys.executable, os.path.join(ROOT, "bench/venv-current/bin/python")):
            command = [python, os.path.join(ROOT, "bench/rivals/gpu.py"), who]
            try:
                if label not in found and subprocess.run(command, capture_output=True, timeout=100, check=False).returncode == 0:
                    found[label] = command
            except (OSError, subprocess.TimeoutExpired):
                pass
    return found


def share(limit, seconds):
    return f"{100 * limit / seconds:.0f}%" if limit and seconds else "-"


def lines(bench, contestant_of):
    """(name of the GPU or why there is none, the labels of the contestants, rows of cells, data)."""
    listed = subprocess.run([bench.lgt_path, os.path.join(ROOT, "bench/gpu.lua")], capture_output=True, text=True, check=True).stdout
    programs = [(name, int(count)) for name, count in (line.split() for line in listed.splitlines())]
    name, why = device(bench.lgt_path)
    sizes = (10**5,) if bench.quick else SIZES
    if not name:
        return why, [], [[f"{program}, {n:.0e}".replace("e+0", "e"), NONE] for program, _ in programs for n in sizes], {"why": why}
    others, peak = rivals(), next((bytes for pattern, bytes in PEAKS if re.search(pattern, name)), None)
    rows, data, begin = [], {"device": name, "peak": peak}, time.monotonic()
    for n in sizes:
        for program, count in programs:
            title = f"{program}, {n:.0e}".replace("e+0", "e")
            if time.monotonic() - begin > MOST:
                rows.append([title] + ["no time left"] * (4 + len(others)))
                continue
            script = os.path.join(ROOT, "bench/gpu.lua")
            contestants = [contestant_of("lgt --gpus 1", [bench.lgt_path, "--gpus=1", script, program, str(n)]),
                           contestant_of("lgt, CPU", [bench.lgt_path, "--gpus=none", script, program, str(n)]),
                           *(contestant_of(label, [*command, program, str(n)]) for label, command in others.items())]
            compete(contestants, bench.env, min(bench.budget, 1.5), tolerance=1e-7, most_rounds=7, warm_up=0.3)
            bench.note_failures(title, contestants)
            limit = count * n / peak if peak else None
            ours = contestants[0].median if contestants[0].times and not contestants[0].error else None
            rows.append([title, *("-" if c.error or not c.times else f"{1e3 * c.median:.3g}" for c in contestants),
                         f"{1e3 * limit:.3g}" if limit else "-", share(limit, ours)])
            data[title] = {c.label: {"seconds": c.times, "error": c.error} for c in contestants}
            print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    return name, [c.label for c in contestants], rows, data
