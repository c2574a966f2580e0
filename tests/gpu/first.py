#!/usr/bin/python3
"""What the first kernel of a process costs: as many instructions as 20 ms of a processor at most, until it is PTX.

Instructions are counted, by valgrind, since other programs do not change them; 26 million of them took 13 ms.  What can only
be timed is printed beside it: writing PTX, loading what writes it, and the work of ptxas, which drivers have in themselves.
"""
import argparse
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

MOST = 40e6  # 20 ms at 2 instructions a nanosecond
SCRIPT = """
local np = require "array"
local x = np.arange(1000) * 0.001
local y = np.exp(2 * x + 3) * (x - 2) + np.sqrt(x * 3 + 1)
require("lgt").fence()
assert(require("lgt").stats().device_kernels == 1)
"""


def lgt(args, before=(), **env):
    """Runs the script on the emulated driver, with kernels that do nothing; its output."""
    command = [*before, args.lgt, "--gpus=1", "--cpus=1", "--cache=0", "--background=0", "-e", SCRIPT]
    env = {**os.environ, "LD_LIBRARY_PATH": args.driver, "LGT_FAKE_CUDA_KERNELS": "0", "LGT_FAKE_CUDA_DELAY": "0",
           "LGT_ISA": "generic", **env}  # valgrind may not know AVX-512
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        sys.exit(f"FAIL first kernel: {done.stdout.strip()}")
    return done.stdout


def instructions(args, folder):
    """Of the compiler, from the loop to its text."""
    said = lgt(args, ["valgrind", "--tool=callgrind", "--toggle-collect=lgt_emit_device", f"--callgrind-out-file={folder}/callgrind"])
    return int(re.search(r"Collected : (\d+)", said).group(1))


def milliseconds(args):
    """{what: the least of some times}."""
    texts = [lgt(args, LGT_DEBUG="kernel:2") for _ in range(5)]
    found = {"loading": r"loaded in ([\d.]+) ms", "writing": r"written for devices.* ([\d.]+) ms"}
    return {what: min(float(re.search(pattern, text).group(1)) for text in texts) for what, pattern in found.items()}


def assembling(args, folder):
    """Milliseconds of processor time of ptxas, or None."""
    ptxas = shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
    if not os.path.exists(ptxas):
        return None
    lgt(args, LGT_FAKE_CUDA_LAUNCHES=folder)
    path = next(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".ptx"))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([ptxas, "-arch=sm_90", path, "-o", "/dev/null"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1e3 * (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lgt", required=True)
    parser.add_argument("--driver", required=True, help="folder of the emulated driver")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="lgt-first-") as folder:
        count, times, cubin = instructions(args, folder), milliseconds(args), assembling(args, folder)
    text = (f"first kernel: PTX after {count / 1e6:.1f} million instructions, {times['writing']:.1f} ms, and "
            f"{times['loading']:.1f} ms for loading the compiler; " +
            ("no ptxas to time" if cubin is None else f"{cubin:.0f} ms of ptxas"))
    print(("ok " if count <= MOST else "FAIL ") + text + ("" if count <= MOST else f"; at most {MOST / 1e6:.0f} million"))
    return count > MOST


if __name__ == "__main__":
    sys.exit(main())
