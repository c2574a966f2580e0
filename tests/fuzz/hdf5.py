#!/usr/bin/python3
"""Hostile HDF5 files: lgt must read or refuse each of them.

    tests/fuzz/hdf5.py --lgt build/lgt [--count 20000] [--seed N] [--first TURN] [--keep FOLDER]

hdf5.lua changes files, of its own and of h5py, and reads them.  The library of HDF5 itself crashes, or goes in circles, on
some: then lgt says so and goes on; how often that was is told.  --keep has copies of these files, --first begins later.
Some ten calls read a file, on the average: many are refused at once.
"""
import argparse
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter

HERE = os.path.dirname(os.path.abspath(__file__))
SILENCE = 900  # seconds in which something must be said: machines are slow and busy
BATCH = 50000  # turns of a process


def valid(folder):
    """Files as others write them, if h5py is there: where they are."""
    try:
        import h5py
        import numpy as np
    except ImportError:
        return []
    rng = np.random.default_rng(3)
    paths = []
    for name, options in (("old", {}), ("new", {"libver": "latest"}), ("block", {"userblock_size": 512})):
        paths.append(os.path.join(folder, name + ".h5"))
        with h5py.File(paths[-1], "w", **options) as file:
            file["plain"] = rng.normal(size=(5, 7))
            file["small"] = np.arange(6, dtype=">i2")
            file.create_dataset("packed", data=np.arange(300).reshape(30, 10), chunks=(7, 4), compression="gzip", shuffle=True)
            file.create_dataset("summed", data=np.arange(40.0), chunks=(8,), fletcher32=True, maxshape=(None,))
            file.create_dataset("scaled", data=np.arange(40), chunks=(16,), scaleoffset=4)
            file.create_dataset("light", data=np.arange(64, dtype="f4"), chunks=(16,), compression="lzf")
            file.create_dataset("grid", data=np.arange(64).reshape(8, 8), chunks=(4, 4), maxshape=(None, None))
            file.create_dataset("filled", shape=(4, 4), dtype="f8", fillvalue=3.5, chunks=(2, 2))
            file.create_dataset("nothing", data=h5py.Empty("f8"))
            file["truth"] = np.array([True, False])
            file["complex"] = np.ones(3, "complex64")
            file["records"] = np.zeros(3, [("a", "i4"), ("b", "f8")])
            file["strings"] = np.array([b"a", b"bc"])
            file.create_dataset("texts", data=["a", "text"], dtype=h5py.string_dtype())
            file.create_dataset("ragged", (2,), h5py.vlen_dtype("i4"))[0] = [1, 2, 3]
            file["deep/er/x"] = np.arange(3)
            file["soft"] = h5py.SoftLink("/plain")
            file["nowhere"] = h5py.SoftLink("/nothing/at/all")
            file["hard"] = file["deep"]
            for i in range(12):
                file["plain"].attrs[f"number {i}"] = np.arange(i)
            file.attrs["title"], file.attrs["fixed"], file.attrs["texts"] = "a text", np.bytes_(b"abc"), ["a", "b"]
            for i in range(12):
                file[f"many/{i}"] = i
    return paths


def run(command, path, keep):
    """(the counts that it gave, how it failed, the kinds of ends of the library)."""
    counts, ends, buffer, last = None, Counter(), b"", ""
    with tempfile.TemporaryFile() as errors, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors) as process:
        while True:
            ready, _, _ = select.select([process.stdout], [], [], SILENCE)
            if not ready:
                process.kill()
                return None, f"no end after {last}", ends
            data = os.read(process.stdout.fileno(), 65536)
            if not data:
                break
            *lines, buffer = (buffer + data).split(b"\n")
            for line in lines:
                last = line.decode(errors="replace")
                word, *rest = last.split(" ", 2)
                if word == "lost":
                    ends[rest[1]] += 1
                    print(f"  {last}", flush=True)
                    if keep:
                        shutil.copy(path, os.path.join(keep, f"{rest[0]}.h5"))
                elif word == "done":
                    counts = [int(n) for n in rest[0].split() + rest[1].split()]
        process.wait()
        errors.seek(0)
        message = errors.read().decode(errors="replace").strip()
    if process.returncode or not counts or message:
        return None, f"status {process.returncode} after {last}: {message}", ends
    return counts, None, ends


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lgt", default=os.path.join(HERE, "../../build/lgt"))
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--keep", help="a folder for files on which the library fails")
    args = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="lgt-hdf5-")
    path, total, ends = os.path.join(folder, "it.h5"), Counter(), Counter()
    seeds = valid(folder)
    for first in range(args.first, args.count + 1, BATCH):
        last = min(first + BATCH - 1, args.count)
        counts, failed, some = run([args.lgt, "--mem", "1G", os.path.join(HERE, "hdf5.lua"), path, str(first), str(last),
                                    str(args.seed), *seeds], path, args.keep)
        ends += some
        if failed:
            print(f"FAIL hdf5: seed {args.seed}, turns {first} to {last}: {failed} (the file is {path})")
            return 1
        total.update(dict(zip(("read", "refused"), counts)))
        if last < args.count:
            print(f"  {last} turns, {dict(total)}, {dict(ends)}", flush=True)
    shutil.rmtree(folder)
    noted = ", ".join(f"{n} times it {how}" for how, n in sorted(ends.items()))
    print(f"ok {args.count - args.first + 1} changed HDF5 files: {total['read']} calls gave something, {total['refused']} were refused"
          f"; the library of HDF5: {noted or 'nothing went wrong'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
