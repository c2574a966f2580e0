"""`lgt --profile FILE`: what the trace says must be what happened.

    tests/lua/profile.py --lgt build/lgt

The counters of lgt.stats are the oracle: bytes of kernels and copies, launches, plans, messages; and the trace must be
one that viewers can draw: spans of a thread are nested or apart, what begins on its own ends.
"""
import argparse
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile
from collections import Counter, defaultdict
from decimal import Decimal

SCRIPT = """local lgt, np = require "lgt", require "array"
local x, y = np.random.rand(1200, 1000), np.zeros(1200, 1000)
for i = 1, 6 do
  y = np.exp(x) * 2 + np.sqrt(y) -- line 4
  y["2:, :"] = y[":-2, :"] + 1
end
print("sum", np.sum(y):item()) -- line 7
local small = np.arange(10) + 1 -- line 8
print("third", small[{3}]:item(), small(4))
print("product", np.sum(np.dot(x["1:64, :"], y["1:1000, 1:64"])):item() > 0) -- line 10
lgt.fence() -- line 11
for name, value in lgt.next, lgt.stats() do print("stat", name, string.format("%.0f", value)) end
"""
WAYS = {
    "one domain": ["--cpus=1"],
    "compiling at once": ["--cpus=1", "--cache=0", "--background=0"],
    "two domains": ["--cpus=2", "--domains=2"],
    "two ranks": ["-n", "2", "--cpus=2", "--all-output"],
    "unfused": ["--cpus=2", "--fusion=0"],
}


class Wrong(Exception):
    pass


def require(condition, what):
    if not condition:
        raise Wrong(what)


def run(lgt, *words, status=0, **options):
    done = subprocess.run([lgt, *words], capture_output=True, text=True, timeout=900, **options)
    require(done.returncode == status, f"exit status {done.returncode}: {done.stderr}")
    return done


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file, parse_float=Decimal)


def statistics(output, ranks):
    """[counters of each rank]; --all-output marks lines with the rank."""
    counters = [{} for _ in range(ranks)]
    for line in output.splitlines():
        found = re.match(r"(?:\[(\d)\] )?stat\t(\w+)\t(\d+)", line)
        if found:
            counters[int(found[1] or 0)][found[2]] = int(found[3])
    return counters


def check_nesting(events):
    """Spans of a thread contain each other or are apart."""
    tracks = defaultdict(list)
    for e in events:
        if e["ph"] == "X":
            require(e["dur"] >= 0, f"a negative duration: {e}")
            tracks[e["tid"]].append((e["ts"], -(e["ts"] + e["dur"]), e["name"]))
    for spans in tracks.values():
        stack = []
        for begin, end, name in sorted(spans):
            while stack and stack[-1][0] <= begin:
                stack.pop()
            require(not stack or -end <= stack[-1][0], f"{name} at {begin} outlasts {stack and stack[-1]}")
            stack.append((-end, name))


def check_form(events, rank):
    names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    for e in events:
        require(e["pid"] == rank, f"pid {e['pid']} on rank {rank}")
        require(e["ph"] == "M" or e["tid"] in names, f"a thread without a name: {e}")
        require(e["ph"] in "MXibe" and e["name"], f"an unknown event: {e}")
    halves = Counter((e["id"], e["ph"]) for e in events if e["ph"] in "be")
    for (number, half), count in halves.items():
        require(count == 1 and halves[number, "e" if half == "b" else "b"] == 1, f"message {number} has no two ends")
    return names


def total(events, category, name=None):
    return sum(e["args"].get("bytes", 0) for e in events
               if e.get("cat") == category and name in (None, e["name"]) and e["ph"] == "X")


def check_counters(events, stats):
    count = Counter(e.get("cat") for e in events if e["ph"] in "Xi")
    for what, seen, counted in [
        ("bytes of kernels", total(events, "kernel"), stats["bytes_moved"]),
        ("bytes of copies", total(events, "copy", "copy"), stats["bytes_copied"]),
        ("launches", count["launch"], stats["launches"]),
        ("plans", count["plan"], stats["plans_made"]),
        ("tasks", sum(e["args"]["tasks"] for e in events if e["name"] == "flush"), stats["tasks"]),
    ]:
        require(seen == counted, f"{seen} {what}, {counted} were counted")


def check_lines(events, fused):
    lines = defaultdict(set)
    for e in events:
        line = e.get("args", {}).get("line")
        if line == "the end of the program":
            require(e["name"] == "fence", f"after the last line: {e}")
        elif line:
            lines[e["cat"]].add((e["name"], int(line.rsplit(":", 1)[1])))
        else:
            require(e.get("cat") not in ("kernel", "launch", "fold"), f"without a line: {e}")
    kernels = {name for name, line in lines["kernel"] if line in (2, 4)}
    wanted = "exp, multiply, sqrt" if fused else "sqrt"
    require(any(wanted in name for name in kernels), f"no {wanted} among {kernels}")
    operations = {e["args"]["operations"] for e in events if e.get("cat") == "kernel"}
    require(max(operations) >= 4 if fused else operations == {1}, f"kernels of {operations} operations")
    for wait in [("read values", 7), ("read values", 9), ("fence", 11)]:
        require(wait in lines["wait"], f"no {wait} among {sorted(lines['wait'])}")
    require(any(line == 8 for _, line in lines["launch"]), "launches on small arrays have no line")
    if any(e.get("cat") == "copy" for e in events):
        require(lines["copy"], "copies have no lines")


def check_messages(traces):
    """What one rank sends, another receives."""
    def of(events, name):
        return Counter((e["args"]["tag"], e["args"]["bytes"]) for e in events if e["ph"] == "b" and e["name"] == name)
    for mine, other in (traces, traces[::-1]):
        require(of(mine, "send") == of(other, "receive"), "not all that was sent was received")
    require(of(traces[0], "send"), "nothing was sent")


def check_way(lgt, folder, options):
    path, script = os.path.join(folder, "trace.json"), os.path.join(folder, "script.lua")
    ranks = 2 if "-n" in options else 1
    with open(script, "w", encoding="utf-8") as file:
        file.write(SCRIPT)
    done = run(lgt, *options, "--profile", path, script)
    traces = [read(path + (f".rank{r}" if r else "")) for r in range(ranks)]
    for rank, (events, stats) in enumerate(zip(traces, statistics(done.stdout, ranks))):
        names = check_form(events, rank)
        check_nesting(events)
        check_counters(events, stats)
        check_lines(events, "--fusion=0" not in options)
        compiled = sum(e.get("cat") == "compile" for e in events)
        if "--background=0" in options:
            require(compiled == stats["kernels_compiled"] > 0, f"{compiled} compilations")
    if ranks == 2:
        check_messages(traces)
    return {e["tid"] for e in traces[0] if e.get("cat") == "kernel"}


LAUNCHES = """local lgt, np = require "lgt", require "array"
local function all(a, b)
  local c = a + b
  c = 2 * a
  c = a - 3
  c = np.exp(a)
  c = -a
  a:iadd(b)
  a:imul(2)
  a["..."] = 4
  a["2:"] = b[":-2"]
  a:fill(7)
  c = a:sum()
  c = a:dot(b)
  c = np.where(a:gt(1), a, b)
  a[a:gt(5)] = 2
  c = np.add(a, b, {out = b:copy()})
  c = np.dot(a:reshape(100, 1000), b:reshape(1000, 100))
  c = a:max()
  c = np.fuse(function(x, y) return x * y end)(a, b)
end
all(np.ones(100000), np.ones(100000))
lgt.fence()
"""


def each_launch_names_its_line(lgt, folder):
    """The functions that launch say how many of their callers are not the script's: too many, and another line is named."""
    script = os.path.join(folder, "launches.lua")
    with open(script, "w", encoding="utf-8") as file:
        file.write(LAUNCHES)
    wanted = [n for n, line in enumerate(LAUNCHES.splitlines(), 1) if line.startswith("  ")]
    for options in (["--cpus=1"], ["--cpus=1", "--pretend-ranks=4"]):
        trace = os.path.join(folder, "lines.json")
        run(lgt, *options, f"--profile={trace}", script)
        lines = [int(e["args"]["line"].rsplit(":", 1)[1]) for e in read(trace) if e.get("cat") == "launch"]
        require(sorted(set(lines)) == wanted + [wanted[-1] + 2], f"launches at lines {lines}")


def many_workers(lgt, folder):
    """Which threads work is up to the operating system, which may have better things to do."""
    for _ in range(30):
        if len(check_way(lgt, folder, ["--cpus=4"])) > 1:
            return
    raise Wrong("only one of four workers ever worked")


# ---- around it -------------------------------------------------------------------------------------

ONE = 'local np = require "array" print(np.sum(np.ones(10)):item()) '


def refused(lgt, path, text, *options):
    done = run(lgt, *options, "--profile", path, "-e", ONE, status=1)
    require(f"the profile {path} {text}" in done.stderr and done.stdout == "", done.stderr)


def no_directory(lgt, folder):
    refused(lgt, folder + "/no/trace.json", "cannot be written: No such file or directory")
    refused(lgt, folder, "cannot be written: Is a directory")
    refused(lgt, "/dev/full", "cannot be written: No space left on device")


def one_rank_cannot_write(lgt, folder):
    os.mkdir(folder + "/trace.json.rank1")
    done = run(lgt, "-n", "2", "--profile", folder + "/trace.json", "-e", ONE, status=1)
    require(f"the profile {folder}/trace.json.rank1 cannot be written: Is a directory" in done.stderr, done.stderr)


def scripts_survive(lgt, folder):
    for name, message in (("script", "would overwrite a file that is no trace"), ("script.lua", "would write over a script")):
        path = f"{folder}/{name}"
        with open(path, "w", encoding="utf-8") as file:
            file.write(ONE)
        done = run(lgt, "--profile", path, "-e", ONE, status=1)
        require(message in done.stderr, done.stderr)
        with open(path, encoding="utf-8") as file:
            require(file.read() == ONE, "the script was changed")


def written_again(lgt, folder):
    path = folder + "/trace.json"
    run(lgt, "--profile", path, "-e", "for i = 1, 50 do " + ONE + " end")
    long = len(read(path))
    run(lgt, "--profile=" + path, "-e", ONE)
    require(len(read(path)) < long, "the second trace is no shorter")


def full_disk(lgt, folder):
    """The file ends early, with one warning, and the program goes on."""
    path = folder + "/trace.json"

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (300000, 300000))

    text = 'local np = require "array" local x = np.ones(10) for i = 1, 5000 do x = x + 1 end print(x[{1}]:item())'
    done = run(lgt, "--cache=0", "--compile=0", "--profile", path, "-e", text, preexec_fn=limit, restore_signals=False)
    require(done.stdout == "5001\n", done.stdout)
    require(done.stderr == f"lgt: the profile {path} ends early: File too large\n", done.stderr)
    require(len(read(path)) > 500 and os.path.getsize(path) <= 300000, "what was written is lost")


def scripts_that_exit(lgt, folder):
    for ranks in ([], ["-n", "2"]):
        path = folder + "/trace.json"
        run(lgt, *ranks, "--profile", path, "-e", ONE + "os.exit(3)", status=3)
        require(any(e.get("cat") == "wait" for e in read(path)), "os.exit lost the trace")
        os.unlink(path)
        run(lgt, *ranks, "--profile", path, "-e", ONE + "error 'oops'", status=1)
        require(any(e.get("cat") == "wait" for e in read(path)), "an error lost the trace")
        os.unlink(path)


def odd_names(lgt, folder):
    """File names and names of kinds that JSON must escape."""
    path, script = folder + "/trace.json", folder + '/gr\u00f6\u00dfe "1"\\\xe9.lua'
    with open(script, "w", encoding="utf-8") as file:
        file.write('local lgt, np = require "lgt", require "array"\n'
                   'local double = lgt.task{name = "zwei\\"\\\\\\t\\255", args = {"in", "out"}, '
                   "generator = function(b, x) return x + x end}\n"
                   "local x, y = np.ones(5), np.empty(5)\ndouble(x, y)\nprint(y(1))")
    run(lgt, "--profile", path, script)
    events = read(path)
    require(any(e["name"].startswith('zwei"\\ ?:') for e in events), "the task is not there")
    require(any(e["name"] == 'ones, zwei"\\ ?' for e in events), "its kernel is not there")
    require(any('gr\u00f6\u00dfe "1"\\\xe9.lua:4' in e["args"].get("line", "") for e in events), "the line is not there")


def nothing_without(lgt, folder):
    run(lgt, "-e", ONE, cwd=folder)
    run(lgt, "--profile", folder + "/trace.json", "-e", "print(1)")
    require(not os.listdir(folder), f"files: {os.listdir(folder)}")
    run(lgt, "-e", ONE, env={**os.environ, "LGT_PROFILE": folder + "/trace.json"})
    require(len(read(folder + "/trace.json")) > 3, "LGT_PROFILE wrote nothing")


AROUND = [each_launch_names_its_line, many_workers, no_directory, one_rank_cannot_write, scripts_survive, written_again, full_disk, scripts_that_exit, odd_names,
          nothing_without]


def main():
    parser = argparse.ArgumentParser(description="Holds profiles against the counters.")
    parser.add_argument("--lgt", required=True)
    lgt = os.path.abspath(parser.parse_args().lgt)
    cases = [(name, lambda lgt, folder, o=options: check_way(lgt, folder, o)) for name, options in WAYS.items()]
    cases += [(f.__name__.replace("_", " "), f) for f in AROUND]
    failed = False
    for name, f in cases:
        folder = tempfile.mkdtemp(prefix="lgt-profile-")
        try:
            f(lgt, folder)
            print(f"ok {name}")
        except (Wrong, ValueError, OSError, subprocess.TimeoutExpired) as wrong:
            print(f"FAIL {name}: {wrong}")
            failed = True
        finally:
            shutil.rmtree(folder)
    return failed


if __name__ == "__main__":
    raise SystemExit(main())
