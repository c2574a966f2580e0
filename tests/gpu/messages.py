#!/usr/bin/python3
"""What lgt says about GPUs: where there are none, too old a driver, no device, wrong options; and that nothing of CUDA is
loaded until a device is wanted."""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIMIT = 300  # seconds, for what hangs
USE = 'local np = require "array"; print(np.sum(np.arange(10)):item())'
DEVICES = ('for _, d in ipairs(require "lgt".devices()) do print(d.name, d.class, d.memory, d.domain) end')
STRICT = ('local np = require "array"\nlocal x = np.arange(100) * 0.5\n'
          'print(pcall(function() return np.sort(x)(1) end))\nprint((x + 1)(3))')
failed = 0


def lgt(words, env=None, driver=True):
    """(exit status, standard output, standard error)"""
    whole = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    if driver:
        whole.update(LD_LIBRARY_PATH=args.driver, LGT_FAKE_CUDA_STRICT="1")
    done = subprocess.run([args.lgt, "--cache=0", *words], cwd=ROOT, capture_output=True, text=True, timeout=LIMIT, check=False,
                          env={**whole, **(env or {})})
    return done.returncode, done.stdout, done.stderr


def case(name, words, status=0, out=None, err="", **how):
    """`out` and `err` are expressions that must be found; err "": standard error is empty."""
    global failed
    got, stdout, stderr = lgt(words, **how)
    why = None
    if got != status:
        why = f"exit status {got}, expected {status}"
    elif out is not None and not re.search(out, stdout):
        why = f"standard output {stdout!r}, expected {out!r}"
    elif stderr if err == "" else not re.search(err, stderr):
        why = f"standard error {stderr!r}, expected {err!r}"
    failed += why is not None
    print(f"FAIL {name}: {why}; {stdout!r} {stderr!r}" if why else f"ok {name}")


def loads_nothing():
    """No call of the driver is logged."""
    global failed
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log")
        lgt(["-e", USE], {"LGT_FAKE_CUDA_LOG": log})
        before = os.path.exists(log)
        lgt(["--gpus=1", "-e", USE], {"LGT_FAKE_CUDA_LOG": log})
        good = not before and os.path.exists(log)
        failed += not good
        print("ok loads nothing" if good else f"FAIL loads nothing: a log before {before}, with GPUs {os.path.exists(log)}")


def other_libraries():
    """Something else of the driver's name."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "libcuda.so.1")
        with open(path, "w", encoding="utf-8") as file:
            file.write("no library")
        case("a broken library", ["--gpus=1", "-e", USE], 1, err="NVIDIA's driver cannot be loaded: .*invalid ELF|file too short",
             env={"LD_LIBRARY_PATH": folder})
        os.remove(path)
        with open("/proc/self/maps", encoding="utf-8") as maps:
            os.symlink(next(line.split()[-1] for line in maps if "libc.so" in line or "libc-" in line), path)
        case("another library", ["--gpus=1", "-e", USE], 1, err="no cuDriverGetVersion: it is not NVIDIA's driver",
             env={"LD_LIBRARY_PATH": folder})
        case("another library, not wanted", ["--gpu-credit=1000", "-e", f"{USE}; {USE}"], out="^45\n45\n$",
             env={"LD_LIBRARY_PATH": folder})


def profile():
    """The profile says on which side a task ran, and why; and has a row for each stream, where tasks follow one another."""
    global failed
    script = 'local np = require "array"; np.sort(np.arange(100) * -1.5):sum():item()'
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "profile")
        lgt(["--gpus=1", f"--profile={path}", "-e", script])
        with open(path, encoding="utf-8") as file:
            events = json.load(file)
    marks = {(event["cat"], event["name"]) for event in events if event.get("cat", "").startswith("on ")}
    wanted = {("on the host", "sort: it has no variant for devices"), ("on a device", "sum:float64")}
    failed += not wanted <= marks
    print("ok sides in the profile" if wanted <= marks else f"FAIL sides in the profile: {marks}")
    names = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    spans = sorted((event["tid"], event["ts"], event["dur"], event["name"]) for event in events if event.get("cat") == "stream")
    rows = {names.get(tid, "?").split(": ")[-1] for tid, _, _, _ in spans}
    whole = [event["ts"] for event in events if "ts" in event]
    in_order = all(a[0] != b[0] or a[1] + a[2] < b[1] + 0.01 for a, b in zip(spans, spans[1:]))
    slack = 2e5  # us: the host may not run when it reads its clock
    inside = all(min(whole) - slack <= ts and 0 <= dur and ts + dur <= max(whole) + slack for _, ts, dur, _ in spans)
    inside = inside and any(dur > 0 for _, _, dur, _ in spans)
    good = rows == {"kernels", "copies to it", "copies to the host"} and in_order and inside
    failed += not good
    print("ok streams in the profile" if good else f"FAIL streams in the profile: {rows} {in_order} {inside} {spans}")


def vanished():
    """A GPU that stops working while a script runs."""
    script = ('local np = require "array"; local a = np.arange(100) * 2.5\n'
              'print(pcall(function() return a:sum()() end))\nprint(pcall(function() return (a + 1):sum()() end))')
    case("a GPU that vanishes", ["--gpus=1", "-e", script], out="(?s)^false\t.*CUDA_ERROR.*\nfalse\t.*(CUDA_ERROR|lost)",
         env={"LGT_FAKE_CUDA_FAIL_RUN": "1:719", "LGT_FAKE_CUDA_STRICT": "0"})


def main():
    case("no driver", ["--gpus=1", "-e", USE], 1, err="libcuda.so.1 was not found.*driver is not installed", driver=False)
    case("no driver, not wanted", ["-e", USE], out="^45\n", driver=False)
    case("version without a driver", ["--version"], out="GPUs +libcuda.so.1 was not found", driver=False)
    case("version", ["--version"], out=r"GPUs +driver for CUDA 13.0; 1 GPU: Emulated device 0 \(1.0 GiB, compute capability 8.0\)")
    case("old driver", ["--gpus=1", "-e", USE], 1, err="supports CUDA 11.2, and lgt needs 11.4.*install driver 470",
         env={"LGT_FAKE_CUDA_DRIVER": "11020"})
    case("old chip", ["--gpus=1", "-e", USE], 1, err="compute capability 7.5, and lgt needs 8.0",
         env={"LGT_FAKE_CUDA_CHIP": "75"})
    case("no device", ["--gpus=1", "-e", USE], 1, err="the driver finds no GPU", env={"LGT_FAKE_CUDA_DEVICES": "0"})
    case("wrong choice", ["--gpus=1", "-e", USE], 1, err='CUDA_VISIBLE_DEVICES is "9", which names none',
         env={"CUDA_VISIBLE_DEVICES": "9"})
    case("a stub", ["--gpus=1", "-e", USE], 1, err="stub of a toolkit.*LD_LIBRARY_PATH", env={"LGT_FAKE_CUDA_INIT": "34"})
    case("mismatch", ["--gpus=1", "-e", USE], 1, err="restart the machine", env={"LGT_FAKE_CUDA_INIT": "803"})
    case("a service lacks", ["--gpus=1", "-e", USE], 1, err="nvidia-fabricmanager", env={"LGT_FAKE_CUDA_INIT": "802"})
    case("compatibility libraries", ["--gpus=1", "-e", USE], 1, err="install a newer driver", env={"LGT_FAKE_CUDA_INIT": "804"})
    case("after a suspend", ["--gpus=1", "-e", USE], 1, err="modprobe -r nvidia_uvm", env={"LGT_FAKE_CUDA_INIT": "999"})
    case("a device that does not answer", ["--gpus=1", "-e", USE], 1, err="cuDevicePrimaryCtxRetain: CUDA_ERROR_\\w+",
         env={"LGT_FAKE_CUDA_FAIL": "cuDevicePrimaryCtxRetain:1:999"})
    other_libraries()
    vanished()
    profile()
    case("too many", ["--gpus=3", "-e", USE], 1, err="gpus = 3: there are 2", env={"LGT_FAKE_CUDA_DEVICES": "2"})
    case("no number", ["--gpus=some", "-e", USE], 1, err="expected a whole number.* or none, all, or auto")
    case("too much memory", ["--gpus=1", "--gpu-mem=8G", "-e", USE], 1, err="gpu-mem = 8589934592: Emulated device 0 has 1073741824")
    case("taken by others", ["--gpus=1", "-e", USE], 1, err="no memory|too little", env={"LGT_FAKE_CUDA_TAKEN": "1G"})
    case("and emulated ones", ["--gpus=1", "--emulate=1", "-e", USE], 1, err="choose one of them")
    case("all", ["--gpus=all", "-e", DEVICES], out=r"^(Emulated device (\d)\tcuda\t\d+\t\d\n){3}$",
         env={"LGT_FAKE_CUDA_DEVICES": "3"})
    case("none", ["--gpus=none", "-e", DEVICES], out="^$")
    case("a choice", ["--gpus=all", "-e", DEVICES], out="^Emulated device 2\tcuda\t\\d+\t0\n$",
         env={"LGT_FAKE_CUDA_DEVICES": "3", "CUDA_VISIBLE_DEVICES": "2"})
    case("memory of one's own", ["--gpus=1", "--gpu-mem=16M", "-e", DEVICES], out="\tcuda\t16777216\t0\n")
    case("ranks", ["-n", "2", "--gpus=1", "--all-output", "-e", DEVICES], out="cuda", env={"LGT_FAKE_CUDA_DEVICES": "2"})
    for device in "--gpus=1", "--emulate=1":
        case(f"strict {device}", [device, "--gpu-strict", "-e", STRICT],
             out=r"false\t.*'sort' would run on the host, which --gpu-strict forbids: it has no variant for devices.*\n2$")
    for why, env in {"old driver": {"LGT_FAKE_CUDA_DRIVER": "11020"}, "no device": {"LGT_FAKE_CUDA_DEVICES": "0"},
                     "old chip": {"LGT_FAKE_CUDA_CHIP": "75"}, "no memory": {"LGT_FAKE_CUDA_TAKEN": "1G"},
                     "no stream": {"LGT_FAKE_CUDA_FAIL": "cuStreamCreate:2"}}.items():
        case(f"by default the host goes on alone: {why}", ["--gpu-credit=1000", "-e", f"{USE}; {USE}"], out="^45\n45\n$", env=env)
        case(f"and says so: {why}", ["--gpu-credit=1000", "--debug=map:1", "-e", f"{USE}; {USE}"], out="^45\n45\n$",
             err="no GPU is used: ", env=env)
    # GPU 1 is on the bus of the package of core 0, GPU 0 on the other one's.
    places = {"HWLOC_XMLFILE": os.path.join(ROOT, "tests/gpu/two_packages.xml"), "HWLOC_THISSYSTEM": "1",
              "LGT_FAKE_CUDA_DEVICES": "2"}
    case("the nearest for each rank", ["-n", "2", "--gpus=1", "-e", DEVICES], out="^Emulated device 1\tcuda", env=places)
    shares = 'local np = require "array"; print(pcall(function() np.ones(2):dlpack { device = "cuda" } end))'
    case("no GPU to share memory of", ["--gpus=none", "-e", shares], out="false\t.*this program uses no GPU: --gpus 1 asks for one")
    case("several", ["--gpus=2", "-e", shares], out="false\t.*one process and one GPU only", env={"LGT_FAKE_CUDA_DEVICES": "2"})
    case("one that is opened for it", ["-e", shares], out="^true\n$", env={"LGT_FAKE_CUDA_STRICT": "0"})
    loads_nothing()
    return failed > 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="What lgt says about GPUs.")
    parser.add_argument("--lgt", default=os.path.join(ROOT, "build/lgt"))
    parser.add_argument("--driver", default=os.path.join(ROOT, "build/tests/gpu"), help="folder of the emulated driver")
    args = parser.parse_args()
    args.lgt, args.driver = os.path.abspath(args.lgt), os.path.abspath(args.driver)
    sys.exit(main())
