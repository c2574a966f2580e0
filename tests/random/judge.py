"""Runs batches of random programs under lgt and compares: with NumPy, and with lgt itself.

A *reference* run (nothing fused, one worker, one domain, interpreted) is compared with NumPy within the
errors that machine.py knows.  Every other run is compared with NumPy, too, and with the reference bit for
bit; only what is tainted by a floating-point sum may differ from it, and only with several domains, unless both are
runs in reproducible mode.

NaNs count as equal whatever their bits.
"""
import os
import random
import re
import socket
import subprocess
import tempfile
import time

import numpy as np

from program import lua_text, outputs_of

HERE = os.path.dirname(os.path.abspath(__file__))
REFERENCE = {"fusion": 0, "cpus": 1, "domains": 1, "compile": 0}


class Subject:
    """A program and what must come out of it."""

    def __init__(self, program, machine=None):
        machine = machine or program.run()
        self.program, self.seed = program, program.seed
        self.outputs = outputs_of(program, machine)
        self.expected, self.ruined = {}, {}
        for name in self.outputs:
            x = machine.env[name]
            if x.root.bad:
                self.ruined[name] = x.root.bad
            self.expected[name] = (np.array(x.val), None if x.err is None else np.array(x.err), x.taint)
        self.seen = machine.seen


class Result:
    """What one run of one program gave.  error: None, or (kind, text) with the kind "error" for a Lua
    error, "crash" or "hang" for the end of the process, "exit" for one that ended badly after the last
    program."""

    def __init__(self):
        self.arrays, self.seen, self.error, self.done = {}, [], None, False
        self.failed = {}  # by name: the message
        self.device_kernels = None  # of the process, where it ended well after this program


class Failure:
    def __init__(self, seed, config, kind, text, prefix=()):
        self.seed, self.config, self.kind, self.text = seed, config, kind, text
        self.prefix = list(prefix)  # seeds of the programs that ran before in the same process


def gpus_of(config):
    """Those of a rank; "auto" is one."""
    count = config.get("gpus", 0)
    return 1 if count == "auto" else int(count)


def must_use_gpus(config):
    """Does rank 0 run on a GPU all that it can?  Uneven ranks may not compile."""
    return config.get("gpus", "auto") != "auto" and "uneven" not in config


def domains_of(config):
    """Memory domains in all."""
    return max(int(config.get("domains", 1)), int(config.get("emulate", 1)), gpus_of(config)) * int(config.get("ranks", 1))


def driver_of(binary):
    """The folder of the CUDA driver: what was asked for (run.py --driver), or of the emulated one that was built beside lgt, or None."""
    if "RANDOM_DRIVER" in os.environ:
        return os.environ["RANDOM_DRIVER"]
    folder = os.path.join(os.path.dirname(os.path.abspath(binary)), "tests/gpu")
    return folder if os.path.exists(os.path.join(folder, "libcuda.so.1")) else None


def environment_of(binary, config):
    """What the emulated driver needs.  What a failed task did not write may be read by kernels whose results fail, too."""
    if not config.get("gpus"):
        return {}
    return {"LD_LIBRARY_PATH": driver_of(binary) or "", "LGT_FAKE_CUDA_STRICT": "1", "LGT_FAKE_CUDA_UNWRITTEN": "0",
            "LGT_FAKE_CUDA_DELAY": "5", "LGT_FAKE_CUDA_SEED": str(config.get("jitter", 1)),
            "LGT_FAKE_CUDA_DEVICES": str(min(8, gpus_of(config) * int(config.get("ranks", 1))))}


def options_of(config):
    """A configuration as arguments of lgt, and as arguments of runner.lua."""
    runtime, script = [], []
    for name, value in config.items():
        if name in ("turns", "hotloop", "gc"):
            script.append(f"{name}={value}")
        elif name != "uneven":
            runtime.append(f"--{name.replace('_', '-')}={value}")
    return runtime, script


def commands_of(binary, config, arguments):
    """The processes of a run.  Several if its ranks are uneven: each with options of its own, where they may differ."""
    runtime, script = options_of(config)
    ranks = int(config.get("ranks", 1))
    if ranks == 1 or "uneven" not in config:
        return [[binary, *runtime, *arguments, *script]]
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    commands = []
    for rank in range(ranks):
        rng = random.Random(int(config["uneven"]) * 64 + rank)
        own = [f"--rendezvous=127.0.0.1:{port}", f"--rank={rank}", f"--cpus={rng.choice([1, 2])}",
               f"--jitter={rng.randrange(10**6)}", f"--background={rng.choice([0, 1])}", f"--check={rng.choice([0, 0, 1])}"]
        own += rng.choice([["--compile=0"], [], ["--cache=0"]])
        commands.append([binary, *runtime, *own, *arguments, *script])
    return commands


def run_together(commands, limit, env, cwd):
    """All of them: the worst exit status and what they said; TimeoutExpired."""
    with tempfile.TemporaryFile() as said:
        running = [subprocess.Popen(command, stdout=said, stderr=said, stdin=subprocess.DEVNULL, env=env, cwd=cwd)
                   for command in commands]
        end = time.monotonic() + limit
        try:
            statuses = [process.wait(max(0.1, end - time.monotonic())) for process in running]
        finally:
            for process in running:
                process.kill()
                process.wait()
        said.seek(0)
        return min(statuses) or max(statuses), said.read().decode("utf-8", "replace").strip()


def batch_text(subjects, mutate=None):
    parts = ["return {"]
    for s in subjects:
        parts.append(f"{{{s.seed}, function(np, lgt, input, calls, seen, keep)")
        parts.append(lua_text(s.program, s.outputs, mutate))
        parts.append("end},")
    return "\n".join(parts + ["}"]) + "\n"


def parse(data):
    """The list of (seed, Result) in a runner's output, of which the last may be incomplete."""
    results, at = [], 0
    while True:
        end = data.find(b"\n", at)
        if end < 0:
            return results
        line = data[at:end].decode("utf-8", "replace")
        at = end + 1
        word, _, rest = line.partition(" ")
        if word == "P":
            results.append((int(rest), Result()))
        elif word == "S":
            results[-1][1].seen.append(rest)
        elif word == "A":
            name, dtype, size, *shape = rest.split()
            size = int(size)
            if at + size > len(data):
                return results
            shape = [int(n) for n in shape]
            results[-1][1].arrays[name] = np.frombuffer(data, dtype, size // np.dtype(dtype).itemsize, at).reshape(shape)
            at += size
        elif word == "F":
            name, _, message = rest.partition(" ")
            results[-1][1].failed[name] = message
            if "out of memory" in message:
                results[-1][1].error = ("error", message)
        elif word == "E":
            results[-1][1].error = ("error", rest)
        elif word == "D":
            results[-1][1].done = True
        elif word == "K":
            results[-1][1].device_kernels = int(rest)


class Lgt:
    """Runs programs with an lgt binary.  `mutate`: see program.Lua; applied unless `plain`."""

    def __init__(self, binary, limit=60, mutate=None, env=None):
        self.binary, self.limit, self.mutate = os.path.abspath(binary), limit, mutate
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("LGT_") or k.startswith("LGT_FAKE_")}
        self.env.update(env or {})
        self.processes = 0

    def once(self, subjects, config, limit=None, mutate=None):
        """One process: its results in order, and how it ended: None or (kind, text)."""
        self.processes += 1
        with tempfile.TemporaryDirectory(prefix="lgt-random-") as folder:
            batch, out = os.path.join(folder, "batch.lua"), os.path.join(folder, "out")
            with open(batch, "w") as file:
                file.write(batch_text(subjects, mutate or self.mutate))
            commands = commands_of(self.binary, config, [os.path.join(HERE, "runner.lua"), batch, out])
            ending = None
            try:
                status, said = run_together(commands, limit or self.limit, {**self.env, **environment_of(self.binary, config)}, folder)
                if len(said) > 3000:
                    said = said[:2000] + " [...] " + said[-1000:]
                if status < 0:
                    ending = ("crash", f"signal {-status}: {said}")
                elif status:
                    ending = ("crash", f"exit status {status}: {said}")
                elif said:
                    ending = ("exit", f"unexpected output: {said}")
            except subprocess.TimeoutExpired:
                ending = ("hang", f"no end after {limit or self.limit} s")
            data = b""
            if os.path.exists(out):
                with open(out, "rb") as file:
                    data = file.read()
        return parse(data), ending

    def run(self, subjects, config):
        """All programs, whatever crashes: {seed: [Result for each turn]}, and how the last process ended
        badly after its last program (None: well)."""
        results = {s.seed: [] for s in subjects}
        todo = list(subjects)
        while todo:
            got, ending = self.once(todo, config)
            for seed, result in got:
                results[seed].append(result)
            if ending is None:
                return results, None
            last = got[-1][1] if got else None
            if last is None:
                results[todo[0].seed].append(failed(ending))
                todo = todo[1:]
            elif not last.done:
                last.error = ending
                stopped = [s.seed for s in todo].index(got[-1][0])
                todo = [s for s in todo[stopped + 1:] if not results[s.seed]]
            else:
                return results, ending
        return results, None


def failed(ending):
    result = Result()
    result.error = ending
    return result


# ---- comparing ------------------------------------------------------------------------------------


def where_worst(bad, got, want, bound):
    """Names one element that is wrong."""
    index = tuple(int(k) for k in np.argwhere(bad)[0])
    place = ", ".join(str(k + 1) for k in index)
    tail = "" if bound is None else f", bound {float(bound[index]):.3g}"
    return f"({place}) is {got[index]!r} instead of {want[index]!r}{tail}; {int(bad.sum())} of {bad.size} elements differ"


def beyond(got, want, bound):
    """Which elements differ by more than the bound (None: must be equal)."""
    if got.dtype.kind in "fc":
        both_nan = np.isnan(got) & np.isnan(want)
        wrong = (got != want) & ~both_nan
        if bound is not None and wrong.any():
            wide = complex if got.dtype.kind == "c" else float
            with np.errstate(all="ignore"):
                wrong &= ~(np.abs(got.astype(wide) - want.astype(wide)) <= bound)
        return wrong
    return got != want


def other_bits(got, want):
    """Which elements have other bits; all NaNs are alike."""
    if got.dtype.kind == "c":
        return other_bits(got.real, want.real) | other_bits(got.imag, want.imag)
    if got.dtype.kind == "f":
        unsigned = {2: np.uint16, 4: np.uint32, 8: np.uint64}[got.dtype.itemsize]
        return (got.view(unsigned) != want.view(unsigned)) & ~(np.isnan(got) & np.isnan(want))
    return got != want


def ran_out(result, config):
    """Did the budget of the configuration end the program?"""
    return "mem" in config and result.error and result.error[0] == "error" and "out of memory" in result.error[1]


def against_numpy(subject, result, config):
    """What differs from NumPy, or None."""
    short = ran_out(result, config)
    if result.error and not short:
        return result.error
    if len(result.seen) != len(subject.seen) and not (short and len(result.seen) < len(subject.seen)):
        return "wrong", f"read {len(result.seen)} numbers instead of {len(subject.seen)}"
    for i, (text, (value, err, _)) in enumerate(zip(result.seen, subject.seen)):
        got = {"true": 1.0, "false": 0.0}.get(text)
        got = float(text) if got is None else got
        if not abs(got - float(value)) <= err * 1.01:
            return "wrong", f"number {i + 1} that is read is {text} instead of {value!r}, bound {err:.3g}"
    for name in subject.outputs:
        want, err, _ = subject.expected[name]
        got = result.arrays.get(name)
        if got is None and short:
            continue
        why = result.failed.get(name)
        if name in subject.ruined:
            if why is None:
                return "wrong", f"{name} should have failed"
            if subject.ruined[name][1] not in why:
                return "wrong", f"{name} fails with: {why}, not with {subject.ruined[name][1]!r}"
            continue
        if why:
            return "wrong", f"{name} fails: {why}"
        if got is None:
            return "wrong", f"{name} is missing"
        if got.dtype != want.dtype or got.shape != want.shape:
            return "wrong", f"{name} is {got.dtype} {got.shape} instead of {want.dtype} {want.shape}"
        bad = beyond(got, want, err)
        if bad.any():
            return "wrong", f"{name}{where_worst(bad, got, want, err)} (NumPy)"
    return None


def line_of_cause(message):
    found = re.search(r"launched at \S*/([^/]*:\d+)", message)
    return found and found[1]


def against_reference(subject, result, reference, config):
    """What differs from the reference run, or None."""
    several = domains_of(config) != 1 and not config.get("reproducible")
    for i, (mine, its, (_, err, taint)) in enumerate(zip(result.seen, reference.seen, subject.seen)):
        if mine != its and not (taint and several) and not mine == its == "nan":
            return "bits", f"number {i + 1} that is read is {mine} instead of {its} (reference)"
    for name in subject.outputs:
        _, _, taint = subject.expected[name]
        if name in subject.ruined and name in result.failed:
            if ran_out(result, config):
                continue
            mine, its = (line_of_cause(r.failed.get(name, "")) for r in (result, reference))
            if mine != its:
                return "bits", f"{name} failed at {mine} instead of {its} (reference)"
            continue
        if taint and several or name not in result.arrays:
            continue  # within the bound of NumPy, or not reached
        bad = other_bits(result.arrays[name], reference.arrays[name])
        if bad.any():
            return "bits", f"{name}{where_worst(bad, result.arrays[name], reference.arrays[name], None)} (reference)"
    return None


def judge(subject, turns, reference, config):
    """The first difference of the results of one program under one configuration, or None."""
    if not turns:
        return "crash", "did not run"
    for turn, result in enumerate(turns):
        why = against_numpy(subject, result, config)
        if not why and reference is not None:
            why = against_reference(subject, result, reference, config)
        if why:
            return (why[0], why[1] + (f" in turn {turn + 1}" if turn else ""))
    return None


def reference_for(config):
    """The reference for a configuration: other instructions have other bits, and so has reproducible mode."""
    return {**REFERENCE, **{name: value for name, value in config.items() if name in ("isa", "reproducible")}}


def judge_batch(lgt, subjects, configs):
    """Runs a batch under each configuration and its reference; the failures, and how many runs there were."""
    failures, runs = [], 0
    by_base = {}
    for config in configs or [{}]:
        by_base.setdefault(tuple(reference_for(config).items()), []).append(config)
    for base, same in by_base.items():
        found, more = judge_like(lgt, subjects, dict(base), same if configs else [])
        failures += found
        runs += more
    return failures, runs


def judge_like(lgt, subjects, base, configs):
    """The same for configurations with one reference, `base`."""
    failures, runs = [], 0
    seeds = [s.seed for s in subjects]
    reference, ending = lgt.run(subjects, base)
    runs += len(subjects)
    trusted = {}
    for i, s in enumerate(subjects):
        why = judge(s, reference[s.seed], None, base)
        if why:
            failures.append(Failure(s.seed, base, *why, seeds[:i]))
        else:
            trusted[s.seed] = reference[s.seed][0]
    if ending:
        failures.append(Failure(seeds[-1], base, *ending, seeds[:-1]))
    good = [s for s in subjects if s.seed in trusted]
    good_seeds = [s.seed for s in good]
    if good and len(good) < len(subjects):  # messages name lines of the batch, which others have moved
        trusted.update({seed: results[0] for seed, results in lgt.run(good, base)[0].items() if results})
    for config in configs:
        if not good:
            break
        results, ending = lgt.run(good, config)
        runs += len(good)
        for i, s in enumerate(good):
            why = judge(s, results[s.seed], trusted[s.seed], config)
            if why:
                failures.append(Failure(s.seed, config, *why, good_seeds[:i]))
        if not ending and must_use_gpus(config) and len(good) > 20 and any(r.device_kernels == 0 for r in results[good_seeds[-1]]):
            ending = "exit", "GPUs got no kernel"
        if ending:
            failures.append(Failure(good_seeds[-1], config, *ending, good_seeds[:-1]))
    return failures, runs
