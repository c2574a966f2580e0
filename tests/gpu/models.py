#!/usr/bin/python3
"""What the kernels of a few programs move, and how near to the limits of an H100 that would bring them.

    tests/gpu/models.py                       the programs of bench/gpu.lua that the model is about, as a table
    tests/gpu/models.py --check               as a test: bytes, spills, and the width of triad's accesses
    tests/gpu/models.py --program cg --all    every kernel of a turn
    tests/gpu/models.py --program sum --elements 1e8    in the emulator as many elements as in the model: minutes

The emulated driver runs a turn of each program and counts; ptxas says what an assembler makes of the texts.  Per element:

    loads, stores    bytes that threads ask for.  A neighbour that several threads load counts each time: these meet in L1.
    read, written    bytes of memory that a kernel comes to, each counted once: what crosses DRAM if a kernel reads each line
                     once, as it does where its threads go through memory in order.  These the model takes.
    sectors          pieces of 32 bytes of memory, each once for a load or store of a warp: neighbouring threads should come to
                     neighbouring elements
    work             instructions of threads, and operations of float64 (a quotient or a root as 9, a reciprocal as 6)
    waits            of the thread that waits most often for memory: what was loaded since it waited last comes at once

The model, for figures that others have measured: 2.9 TB/s, 2.4 us for the first launch of a turn, 1.3 us for each that
follows it, 29.6 T instructions/s (132 multiprocessors, 128 lanes, 1.755 GHz) and half as many of float64.  A kernel takes the
longest of these, and no less than its longest thread: 5 cycles an instruction, 265 for what comes from L2.  Launches are
those of the emulator's sizes; more slabs than lgt_wide takes are lgt_kernel's, with the same bytes.  With as many elements as
in the model (--elements) a thread takes 650 cycles for each wait, too, and threads that find no room (2048, or 65536 registers, on a
multiprocessor) begin when others end.  Nothing here has run on a device.
"""
import argparse
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BANDWIDTH, FIRST, NEXT = 2.9e12, 2.4e-6, 1.3e-6
CLOCK = 1.755e9
ISSUE, DOUBLES, DEPENDENT = 132 * 128 * CLOCK, 132 * 64 * CLOCK, 5
LATENCY, SUM, AT_ONCE = 265, 8, 8  # cycles of L2, of an addition; loads at a time in lgt_steps
MEMORY, PROCESSORS, THREADS, REGISTERS = 650, 132, 2048, 65536  # cycles; of a multiprocessor
TARGET = 10**8
# name: (elements in the emulator, bytes that a turn must move for each, from bench/gpu.lua)
SIZES = {"triad": 160000, "black_scholes": 40000, "stencil": 160000, "shallow_water": 291600, "cg": 160000,
         "sum": 640000, "sum_down": 160000, "sum_across": 1210000, "transpose": 160000}
# Bytes for each element that a turn moves, at most; less than what bench/gpu.lua says where borders are left out.
# shallow_water's kernels compute anew what stencils find in neighbours.
MOVED = {"triad": 24, "black_scholes": 40, "stencil": 16, "cg": 96.1, "shallow_water": 147, "transpose": 16}
MODELLED = ["triad", "black_scholes", "stencil", "shallow_water", "cg", "transpose", "sum", "sum_down", "sum_across"]
# How often a thread may wait for memory: of 400 rows, or 1100 columns of which it has 69, it loads 16 elements at a time; sums of
# chunks are added by many threads at once.
WAITS = {"sum": 14, "sum_down": 26, "sum_across": 11}


class Kernel:
    """A launch: what it did, from a line of the driver's list."""

    def __init__(self, line):
        words = line.split()
        self.module, self.name, self.blocks, self.threads = int(words[0]), words[1], int(words[2]), int(words[3])
        count = dict(zip(words[4::2], words[5::2]))  # loads and stores have two numbers: count them by place
        at = words.index("loads")
        self.instructions, self.doubles = int(count["instructions"]), int(words[7])
        self.loads, self.load_bytes = int(words[at + 1]), int(words[at + 2])
        self.stores, self.store_bytes = int(words[at + 4]), int(words[at + 5])
        self.read, self.written, self.sectors = int(words[at + 7]), int(words[at + 9]), int(words[at + 11])
        self.waits, self.registers = int(words[at + 13]), 0

    def seconds(self, scale):
        """At `scale` times the elements; and what it waits for."""
        threads = self.blocks * self.threads
        serial = DEPENDENT * self.instructions / threads / CLOCK
        if scale == 1:
            resident = PROCESSORS * min(THREADS, REGISTERS / max(self.registers, 1))
            serial = max(serial, max(1, threads / resident) * self.waits * MEMORY / CLOCK)
        elif self.name == "lgt_steps":  # as many threads for more elements; AT_ONCE loads at a time
            serial = scale * max(serial, self.loads / threads * (SUM + LATENCY / AT_ONCE) / CLOCK)
        return max(((self.read + self.written) * scale / BANDWIDTH, "memory"), (self.instructions * scale / ISSUE, "issue"),
                   (self.doubles * scale / DOUBLES, "float64"), (serial, "latency"))


def turn(args, name, n, folder):
    """The launches of a turn, the third: plans and recipes have settled by then."""
    env = {**os.environ, "LD_LIBRARY_PATH": args.driver, "LGT_FAKE_CUDA_LAUNCHES": folder, "LGT_FAKE_CUDA_DELAY": "0"}
    process = subprocess.Popen([args.lgt, "--gpus=1", "--cpus=1", f"--cache-dir={folder}/cache", os.path.join(ROOT, "bench/gpu.lua"), name,
                                str(n)], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    lines = []
    assert process.stdout.readline().startswith("ready"), f"{name}: not ready"
    for _ in range(4):
        with open(os.path.join(folder, "launches"), encoding="utf-8") as file:
            lines.append(len(file.readlines()))
        process.stdin.write("1\n")
        process.stdin.flush()
        assert process.stdout.readline(), f"{name}: does not answer"
    process.stdin.close()
    process.wait()
    with open(os.path.join(folder, "launches"), encoding="utf-8") as file:
        return [Kernel(line) for line in file.readlines()[lines[2]:lines[3]]]


def assembled(module, folder, chip):
    """{kernel: (registers, bytes spilled)}, or {} without ptxas."""
    ptxas = shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
    if not os.path.exists(ptxas):
        return {}
    done = subprocess.run([ptxas, "-v", f"-arch={chip}", os.path.join(folder, f"{module}.ptx"), "-o", "/dev/null"], capture_output=True,
                          text=True, check=True)
    found = re.findall(r"Compiling entry function '(\w+)'.*?(\d+) bytes spill stores, (\d+) bytes spill loads.*?Used (\d+) registers",
                       done.stderr, re.S)
    return {name: (int(registers), int(stores) + int(loads)) for name, stores, loads, registers in found}


def row(cells):
    return "| " + " | ".join(cells) + " |"


def look(args, name, ideal):
    """Rows of the table, and what is wrong."""
    wrong, rows, n = [], [], args.elements or SIZES[name]
    with tempfile.TemporaryDirectory(prefix="lgt-models-") as folder:
        kernels = turn(args, name, n, folder)
        chips = {chip: {m: assembled(m, folder, chip) for m in {k.module for k in kernels}} for chip in ("sm_80", "sm_90")}
    groups = collections.OrderedDict()
    for k in kernels:
        k.registers = chips["sm_90"][k.module].get(k.name, (0, 0))[0]
        groups.setdefault((k.module, k.name), []).append(k)
    scale, total, moved = TARGET / n, FIRST + NEXT * (len(kernels) - 1), 0
    for (module, kernel), some in groups.items():
        total += sum(k.seconds(scale)[0] for k in some)
        moved += sum(k.read + k.written for k in some)
        per = lambda what: f"{sum(getattr(k, what) for k in some) / n:.4g}"
        used = [chips[chip][module].get(kernel) for chip in chips]
        for chip, u in zip(chips, used):
            if u and u[1]:
                wrong.append(f"{name}: kernel {module} {kernel} spills {u[1]} bytes on {chip}")
        wide = sum(k.load_bytes + k.store_bytes for k in some) / max(1, sum(k.loads + k.stores for k in some))
        if args.all or sum(k.seconds(scale)[0] for k in some) > 0.01 * ideal * TARGET / BANDWIDTH:
            rows.append(row([name, f"{kernel} {module}", str(len(some)), f"{per('load_bytes')} + {per('store_bytes')}",
                             f"{per('read')} + {per('written')}",
                             f"{wide:.3g}", f"{per('instructions')}, {per('doubles')}",
                             str(max(k.waits for k in some)),
                             "/".join(str(u[0]) if u else "-" for u in used), "/".join(str(u[1]) if u else "-" for u in used),
                             some[0].seconds(scale)[1]]))
    share = ideal * TARGET / BANDWIDTH / total
    if moved / n > MOVED.get(name, 1e9):
        wrong.append(f"{name}: moves {moved / n:.5g} bytes for each element, not {MOVED[name]}")
    if any(k.waits > WAITS.get(name, k.waits) for k in kernels):
        wrong.append(f"{name}: a thread waits {max(k.waits for k in kernels)} times for memory, not {WAITS[name]}")
    if name == "triad" and any(k.load_bytes != 16 * k.loads or k.store_bytes != 16 * k.stores for k in kernels):
        wrong.append(f"{name}: not all accesses have 16 bytes")
    if name in ("triad", "transpose") and any(32 * k.sectors > 1.02 * (k.load_bytes + k.store_bytes) for k in kernels):
        wrong.append(f"{name}: threads of a warp do not come to neighbouring elements")
    rows.append(row([f"**{name}**", f"{len(kernels)} launches", "", "", f"{moved / n:.4g} of {ideal}", "", "", "", "", "",
                     f"{1e3 * total:.3g} ms, {100 * share:.0f}%"]))
    return rows, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lgt", default=os.path.join(ROOT, "build/lgt"))
    parser.add_argument("--driver", default=os.path.join(ROOT, "build/tests/gpu"), help="folder of the emulated driver")
    parser.add_argument("--program", action="append", choices=SIZES)
    parser.add_argument("--elements", type=lambda text: int(float(text)), help="in the emulator")
    parser.add_argument("--all", action="store_true", help="kernels that take no time, too")
    parser.add_argument("--check", action="store_true", help="a line for each program in place of the table")
    args = parser.parse_args()
    args.lgt, args.driver = os.path.abspath(args.lgt), os.path.abspath(args.driver)
    listed = subprocess.run([args.lgt, os.path.join(ROOT, "bench/gpu.lua")], capture_output=True, text=True, check=True).stdout
    ideal = {name: int(count) for name, count in (line.split() for line in listed.splitlines())}
    if not args.check:
        print(row(["program", "kernel", "launches", "loads + stores", "read + written", "bytes an access", "work", "waits",
                   "registers 80/90", "spills", "waits for"]))
        print("| --- | --- |" + " ---: |" * 9)
    failed = False
    for name in args.program or MODELLED:
        rows, wrong = look(args, name, ideal[name])
        failed |= bool(wrong)
        if not args.check:
            print("\n".join(rows), flush=True)
        for why in wrong:
            print(f"FAIL {why}")
        if args.check and not wrong:
            print(f"ok {name}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
