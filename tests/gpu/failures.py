#!/usr/bin/python3
"""Each call of the driver fails once in a small program, each operation of a stream once: the program prints the right
numbers, or an error that names a line of it; then it computes on, and nothing is left behind.

A failed operation of a stream, unlike a failed call, ends the context: what uses the GPU fails from then on, and the program
still ends by itself.  All that fails then is one failure: the script was told of it, so the end must not report it once more,
whichever task met it when.  STRESS=1 takes every call, else some are left out.
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIMIT = 300  # seconds, for what hangs
PROGRAM = """
local np = require "array"
local function work()
  local x = np.arange(2000) * 0.5
  local y = x:reshape(40, 50).T + 1
  x["2:-2"] = x[":-3"] + x["3:"]
  return ("%.17g %.17g"):format(np.sum(x * x):item(), np.max(np.sin(y)):item())
end
for _ = 1, 3 do print(pcall(work)) end
local x = np.array({2, 3, 1}) + 1
print(pcall(function() return np.sort(x * -1)(1) end))
"""
RIGHT = None
# What streams have to wait for, with one GPU and with two.
EDGES = """
local np = require "array"
local x = np.array({3, 1, 2, 5, 8, 13}) * 2 + 1
for _ = 1, 4 do x["2:-2"] = x[":-3"] + x["3:"] end
print(np.sum(x):item())
"""
# Copies to the GPU into memory that kernels still read, without a wait for these but in the streams.
HANDED_OVER = """
local np, lgt = require "array", require "lgt"
local sum, values = np.zeros(500), {}
for i = 1, 500 do values[i] = i end
for _ = 1, 8 do
  local more = np.array(values) * 1.0
  more["2:"] = more[":-2"] + 1
  sum = sum + more
  more = nil
  lgt.flush()
  collectgarbage()
end
print(np.sum(sum):item(), lgt.stats().bytes_handed_over > 0)
"""


def outcome(env, options=(), text=None):
    """(exit status, lines, standard error)"""
    program = [script] if text is None else ["-e", text]
    whole = {**os.environ, "LD_LIBRARY_PATH": args.driver, "LGT_FAKE_CUDA_STRICT": "1", "LGT_FAKE_CUDA_DELAY": "2", **env}
    try:
        done = subprocess.run([args.lgt, "--gpus=1", "--cpus=1", "--finish=0", f"--cache-dir={cache}", *options, *program], cwd=ROOT,
                              capture_output=True, text=True, timeout=LIMIT, check=False, env=whole)
    except subprocess.TimeoutExpired:
        return None, [], f"took more than {LIMIT} s"
    return done.returncode, done.stdout.splitlines(), done.stderr


def why_wrong(status, lines, err, most):
    """None, or what is wrong; `most`: lines that may be errors."""
    if status == 1 and not lines:
        return None if re.search(r"script.lua:\d+: lgt cannot start: gpus: .*CUDA_ERROR", err) else f"did not start: {err!r}"
    if status or err:
        return f"exit status {status}: {err.strip()[-500:]!r} {lines}"
    if len(lines) != len(RIGHT):
        return f"printed {lines}"
    errors = 0
    for line, right in zip(lines, RIGHT):
        if line == right:
            continue
        errors += 1
        if not re.match(r"false\t\S*script.lua:\d+: ", line):
            return f"printed {line!r}, expected {right!r} or an error with its line"
    return f"{errors} lines are errors: {lines}" if errors > most else None


def edges():
    """Whether work that is not ordered is found; the driver forgets all that streams are told to wait for.  A kernel that runs
    before the copy that it waits for must be found by that rule, not because it reads what was never written."""
    failed = 0
    for gpus in 1, 2:
        options = [f"--gpus={gpus}", "--min-tile=1"]
        good = outcome({"LGT_FAKE_CUDA_DEVICES": "2"}, options, EDGES)
        bad = outcome({"LGT_FAKE_CUDA_DEVICES": "2", "LGT_FAKE_CUDA_WAITS": "0", "LGT_FAKE_CUDA_UNWRITTEN": "0"}, options, EDGES)
        right = good[0] == 0 and not good[2] and bad[0] == 97 and "nothing orders them" in bad[2]
        failed += not right
        print(f"{'ok' if right else 'FAIL'} a wait that is missing, with {gpus} GPUs{'' if right else f': {good} {bad}'}")
    return failed


def handed_over():
    failed = 0
    for seed in range(1, 40 if "STRESS" in os.environ else 4):
        status, lines, err = outcome({"LGT_FAKE_CUDA_SEED": str(seed), "LGT_FAKE_CUDA_DELAY": "60"}, ["--fusion=0"], HANDED_OVER)
        right = status == 0 and not err and lines == ["1002000\ttrue"]
        failed += not right
        print(f"{'ok' if right else 'FAIL'} memory that is handed over, seed {seed}{'' if right else f': {status} {lines} {err}'}")
    return failed


def main():
    global RIGHT
    log = os.path.join(folder, "log")
    status, RIGHT, err = outcome({"LGT_FAKE_CUDA_LOG": log})
    if status or err or len(RIGHT) != 4 or any(not line.startswith("true\t") for line in RIGHT):
        print(f"FAIL without failures: {status} {RIGHT} {err}")
        return 1
    with open(log, encoding="utf-8") as file:
        text = file.read()
    if "cuLaunchKernel" not in text:
        print("FAIL without failures: no kernel was launched")
        return 1
    calls = max(int(n) for n in re.findall(r"^(\d+) cu", text, re.M))
    step = 1 if "STRESS" in os.environ else max(1, calls // 60)
    cases = [(f"call {n} fails", {"LGT_FAKE_CUDA_FAIL": f":{n}"}, 1) for n in range(1, calls + 1, step)]
    cases += [(f"call {n} finds no memory", {"LGT_FAKE_CUDA_FAIL": f":{n}:2"}, 1) for n in range(1, calls + 1, 3 * step)]
    for name in "cuLaunchKernel", "cuMemcpyHtoDAsync_v2": # what a kernel was to write, or to read, is not there
        cases += [(f"{name} {n} fails", {"LGT_FAKE_CUDA_FAIL": f"{name}:{n}"}, 1) for n in range(1, text.count(f" {name}(") + 1)]
    cases += [(f"operation {n} fails", {"LGT_FAKE_CUDA_FAIL_RUN": f"{n}:719", "LGT_FAKE_CUDA_STRICT": "0"}, 4)
              for n in (1, 2, 3, 5, 8, 13, 21)]
    seeds = range(2, 22 if "STRESS" in os.environ else 6)
    cases += [(f"operation 8 fails, seed {n}", {"LGT_FAKE_CUDA_FAIL_RUN": "8:719", "LGT_FAKE_CUDA_STRICT": "0", "LGT_FAKE_CUDA_SEED": str(n),
                                                "LGT_FAKE_CUDA_DELAY": str(20 * n)}, 4) for n in seeds]
    failed = edges() + handed_over()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for (name, env, most), result in zip(cases, pool.map(lambda c: outcome(c[1]), cases)):
            why = why_wrong(*result, most)
            failed += why is not None
            print(f"FAIL {name}: {why}" if why else f"ok {name}", flush=True)
    return failed > 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Lets each call of the driver fail once.")
    parser.add_argument("--lgt", default=os.path.join(ROOT, "build/lgt"))
    parser.add_argument("--driver", default=os.path.join(ROOT, "build/tests/gpu"), help="folder of the emulated driver")
    args = parser.parse_args()
    args.lgt, args.driver = os.path.abspath(args.lgt), os.path.abspath(args.driver)
    with tempfile.TemporaryDirectory(prefix="lgt-gpu-") as folder:
        cache, script = os.path.join(folder, "kernels"), os.path.join(folder, "script.lua")
        with open(script, "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        sys.exit(main())
