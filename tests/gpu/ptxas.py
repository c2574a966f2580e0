#!/usr/bin/python3
"""ptxas accepts the loops that are compiled, and each kernel of the tests of the emulator of PTX, and refuses the same
wrong texts."""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

CHIPS = ("sm_80", "sm_90", "sm_100")


def assembles(path, chip):
    return subprocess.run([PTXAS, "-O0", f"-arch={chip}", path, "-o", "/dev/null"], capture_output=True, text=True)


def check(name, program, folder, each):
    """The program prints its kernels; those in wrong*.ptx are to be refused.  Each is for all chips, or (`each`) for one of them."""
    subprocess.run([*program, "--print", folder], stdout=subprocess.DEVNULL, check=True)
    paths = sorted(os.listdir(folder))
    for number, path in enumerate(paths):
        wrong = path.startswith("wrong")
        for chip in [CHIPS[number % len(CHIPS)]] if each else CHIPS:
            done = assembles(os.path.join(folder, path), chip)
            if (done.returncode != 0) != wrong:
                with open(os.path.join(folder, path)) as text:
                    print(f"FAIL {name}: {chip}: " + (done.stdout + done.stderr or "accepted").strip().replace("\n", " ") + "\n" + text.read())
                return False
    print(f"ok {name}: {len(paths)} texts")
    return bool(paths)


parser = argparse.ArgumentParser()
parser.add_argument("--forms", nargs=2, required=True, metavar=("PROGRAM", "TABLE"))
parser.add_argument("--emit", nargs=2, required=True, metavar=("PROGRAM", "MODULE"))
parser.add_argument("programs", nargs="+")
args = parser.parse_args()
PTXAS = shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
if not os.path.exists(PTXAS):
    print("skip ptxas: it is not installed")
    sys.exit(0)
good = True
for program in [args.forms, args.emit] + [[p] for p in args.programs]:
    with tempfile.TemporaryDirectory() as folder:
        good &= check("ptxas_" + os.path.basename(program[0]), program, folder, program is not args.forms)
sys.exit(not good)
