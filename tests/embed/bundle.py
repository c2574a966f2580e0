#!/usr/bin/python3
"""A tree of tools/bundle runs where it is moved to, in an empty environment, and loads no library of the machine.

    tests/embed/bundle.py --build build
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIMIT = 900  # seconds, for what hangs
# Uses whatever is loaded late, and prints the files that this process and its children have mapped.
SCRIPT = r"""
local lgt, np, sparse = require "lgt", require "array", require "sparse"
local h5 = os.getenv "HOME" .. "/it.h5"
local a = np.eye(30) * 4 + 1
assert(math.abs(np.linalg.solve(a, np.dot(a, np.ones(30))):sum():item() - 30) < 1e-9, "LAPACK")
assert(np.fft.fft(np.ones(64)):abs():max():item() == 64, "FFTW")
assert(np.sort(np.arange(200000) * -1)[1]:item() == -199999, "sorting")
assert(np.exp(np.zeros(1000000)):sum():item() == 1000000, "a kernel")
if lgt.size() == 1 then
  local solvers = require "solvers"
  assert(math.abs(solvers.splu(sparse.csr_matrix(a)):solve(np.ones(30)):sum():item() - 30 / 34) < 1e-9, "UMFPACK")
  np.savez_compressed(os.getenv "HOME" .. "/it.npz", {a = a})
  np.hdf5(h5, "w"):write("a", a)
  opened = np.hdf5(h5)
  assert(opened:read("a"):sum():item() == 1020, "HDF5")
end
lgt.fence()
if lgt.devices and arg[1] == "gpu" then assert(lgt.stats().device_tasks > 0, "nothing ran on the GPU") end
local function show(pid)
  for line in io.lines("/proc/" .. pid .. "/maps") do
    local file = line:match("^%S+ %S+ %S+ %S+ [1-9]%d* +(/.*)")
    if file and not file:find("^/dev/") and not file:find("^/memfd:") and not file:find("^/SYSV") then print("FILE " .. file) end
  end
  for line in io.popen("cat /proc/[0-9]*/stat 2>/dev/null"):lines() do
    local child, parent = line:match("^(%d+) %(lgt[^)]*%) %S (%d+)")
    if parent == pid then show(child) end
  end
end
show(io.open("/proc/self/stat"):read("*l"):match("^%d+"))
print("done")
"""


def run(name, folder, command, env, needed):
    """None, or why the script does not run, or which files of the machine it has loaded."""
    path = os.path.join(folder, "it.lua")
    with open(path, "w", encoding="utf-8") as file:
        file.write(SCRIPT)
    empty = {"HOME": folder, "PATH": "/nowhere:/usr/bin:/bin", **(env or {})}
    done = subprocess.run([*command], env=empty, cwd=folder, capture_output=True, text=True, timeout=LIMIT, check=False)
    lines = done.stdout.splitlines()
    if done.returncode or done.stderr or "done" not in lines:
        return f"exit status {done.returncode}: {done.stderr.strip()[-600:]}"
    tree = os.path.realpath(os.path.join(folder, "moved here"))
    loaded = {line[5:] for line in lines if line.startswith("FILE ")}
    foreign = sorted(f for f in loaded if not f.startswith((folder + "/", "/tmp/ompi.")))  # a launcher shares memory there
    ours = [f for f in loaded if f.startswith(tree + "/build/lib/")]
    if foreign or not ours:
        return f"has loaded {', '.join(foreign)}" if foreign else "has loaded nothing"
    for word in needed:
        if not any(word in os.path.basename(f) for f in loaded):
            return f"{word} was not loaded"
    print(f"ok {name}: {len(ours)} files of the tree, none of the machine's")
    return None


def main():
    parser = argparse.ArgumentParser(description="Makes a bundle and runs it.")
    parser.add_argument("--build", default="build")
    build = os.path.abspath(parser.parse_args().build)
    failed = 0
    with tempfile.TemporaryDirectory(prefix="lgt-bundle-") as folder:
        folder = os.path.realpath(folder)
        made, tree = os.path.join(folder, "made"), os.path.join(folder, "moved here")
        subprocess.run([os.path.join(ROOT, "tools/bundle"), build, made], check=True, stdout=subprocess.DEVNULL)
        os.rename(made, tree)
        os.symlink(os.path.join(tree, "lgt"), os.path.join(folder, "link"))
        lgt = os.path.join(tree, "lgt")
        driver = os.path.join(tree, "build/tests/gpu")
        gpus = {"LD_LIBRARY_PATH": driver, "LGT_FAKE_CUDA_STRICT": "1"}
        late = ["liblgt-emit", "liblgt-sort", "libopenblas", "libfftw3", "libumfpack", "libhdf5"]
        ways = [("alone", [lgt, "it.lua"], None, late), ("through a link", ["./link", "it.lua"], None, []),
                ("on two ranks", [lgt, "-n", "2", "it.lua"], None, ["libucp", "libuct_cma"]),
                ("with a driver from LD_LIBRARY_PATH", [lgt, "--gpus=1", "it.lua", "gpu"], gpus, ["libcuda"])]
        mpirun = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", lgt, "it.lua"]
        if shutil.which("mpirun"):
            ways.append(("under mpirun", mpirun, None, ["libpmix", "libucp"]))
        for name, command, env, needed in ways:
            why = run(name, folder, command, env, needed)
            if why:
                failed += 1
                print(f"FAIL {name}: {why}")
        if not os.path.isdir(os.path.join(folder, ".cache")):
            failed += 1
            print("FAIL the cache of kernels is not under HOME")
        listed = subprocess.run([os.path.join(tree, "tests/run"), "--list", "--suite", "core"], capture_output=True, text=True, check=False)
        good = listed.returncode == 0 and build not in listed.stdout and "build/test_window" in listed.stdout
        failed += not good
        print("ok tests/run has its list" if good else f"FAIL tests/run: {(listed.stdout + listed.stderr)[-400:]}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
