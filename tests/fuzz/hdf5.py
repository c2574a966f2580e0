#!/usr/bin/python3
"""Hostile HDF5 files: lgt must read or refuse each of them.

    tests/fuzz/hdf5.py --lgt build/lgt [--count 20000] [--seed N]

hdf5.lua changes files and reads them.  The library of HDF5 itself crashes, or goes in circles, on some files: where it
does so for h5py, too, that is noted, and not a failure.  What lgt alone cannot stand is; the file is kept.
"""
import argparse
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SILENCE = 30  # seconds in which a turn must end

# The same calls as hdf5.lua, by another program.
READER = """
import sys, h5py, numpy as np

def tried(f):
    try:
        return f()
    except Exception:
        return None

def look_at(x, depth):
    for key in tried(lambda: list(x.attrs)) or []:
        tried(lambda: x.attrs[key])
    if isinstance(x, h5py.Group):
        for name in depth < 4 and tried(lambda: list(x)) or []:
            inner = tried(lambda: x[name])
            if inner is not None:
                look_at(inner, depth + 1)
    elif isinstance(x, h5py.Dataset):
        tried(lambda: x.dtype)
        if (tried(lambda: x.size) or 0) <= 10000:
            tried(lambda: x[()])
            tried(lambda: x[1:])

file = tried(lambda: h5py.File(sys.argv[1], "r"))
if file is not None:
    look_at(file, 0)
    tried(file.close)
"""


def library_fails(path):
    """Does the library of HDF5 crash on this file, or not end?  Then how."""
    try:
        done = subprocess.run([sys.executable, "-c", READER, path], capture_output=True, timeout=SILENCE, check=False)
    except subprocess.TimeoutExpired:
        return "no end"
    return f"signal {-done.returncode}" if done.returncode < 0 else None


def run(lgt, path, first, last, seed):
    """(the last turn begun, how it ended: None well, what was said)."""
    command = [lgt, "--mem", "1G", os.path.join(HERE, "hdf5.lua"), path, str(first), str(last), str(seed)]
    with tempfile.TemporaryFile() as errors, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors) as process:
        turn, said, buffer, ended = first, "", b"", None
        while True:
            ready, _, _ = select.select([process.stdout], [], [], SILENCE)
            if not ready:
                process.kill()
                ended = "no end"
                break
            data = os.read(process.stdout.fileno(), 65536)
            if not data:
                break
            *lines, buffer = (buffer + data).split(b"\n")
            for line in lines:
                word, _, rest = line.decode(errors="replace").partition(" ")
                if word == "turn":
                    turn = int(rest)
                else:
                    said = f"{word} {rest}"
        process.wait()
        errors.seek(0)
        message = errors.read().decode(errors="replace").strip()
    if not ended and process.returncode:
        ended = f"signal {-process.returncode}" if process.returncode < 0 else f"status {process.returncode}: {said or message}"
    return turn, ended, said


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lgt", default=os.path.join(HERE, "../../build/lgt"))
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    args = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="lgt-hdf5-")
    path, first, library = os.path.join(folder, "it.h5"), 1, {}
    read = refused = 0
    while first <= args.count:
        last = min(first + 499, args.count)
        turn, ended, said = run(args.lgt, path, first, last, args.seed)
        if ended:
            theirs = ended if ended.startswith("status") else library_fails(path)
            if ended.startswith("status") or not theirs:
                print(f"FAIL hdf5: seed {args.seed}, turn {turn}: {ended} (the file is {path})")
                return 1
            library[theirs] = library.get(theirs, 0) + 1
            first = turn + 1
            continue
        counts = said.split()
        read, refused = read + int(counts[1]), refused + int(counts[2])
        first = last + 1
    shutil.rmtree(folder)
    noted = ", ".join(f"{n} x {how}" for how, n in sorted(library.items()))
    print(f"ok {args.count} changed HDF5 files: {read} calls gave something, {refused} were refused" +
          (f"; in h5py as well as here the library itself came to {noted}" if noted else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
