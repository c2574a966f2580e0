#!/usr/bin/python3
"""Random programs: lgt against NumPy and against itself.

    tests/random/run.py --lgt build/lgt                600 programs, each under the reference and three drawn
                                                       configurations (make test)
    tests/random/run.py --stress                       the whole matrix of configurations (make stress)
    tests/random/run.py --count 100000 --longest 8 --set "gpus=1"      many short ones, each on a GPU
    tests/random/run.py --seed 123 [--config "domains=3 min_tile=1"]     one program, as it failed
    tests/random/run.py --show 123                     its text

A program follows from its seed (and --longest); a failing one is shrunk, and printed with its configuration and with what
was expected.

    program.py      its expressions and statements, listed at the head; their text in Lua (prelude.lua: what they call)
    machine.py      what they compute, with NumPy, and how exactly; with operations.py (ufuncs), turns.py (loops, coroutines)
    generate.py     how programs are drawn; with loops.py
    judge.py        what is compared; runner.lua runs a batch of programs in one process
    shrink.py       how a failing program is made small
"""
import argparse
import multiprocessing
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

from generate import generate
from judge import REFERENCE, Failure, Lgt, Subject, domains_of, driver_of, judge, judge_batch, options_of
from program import lua_text
from shrink import Shrinker

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BATCH = 50
LONGEST = 60  # statements that the longest programs are drawn with
SHOWN = 8  # failing programs that are shrunk, at most 3 of those that look alike

HEADER = """local np, lgt = require "array", require "lgt"
local prelude = dofile("tests/random/prelude.lua")
local input, calls = prelude.input, prelude.calls
local function seen(value) print("read", value) end
local function keep(name, array) print(name, array) end
"""

# Names that a program may use, to be left out (and reported) where the library lacks them.
PROBE = """
local np = require "array"
local missing = {}
for name in ("%s"):gmatch("%%S+") do if np[name] == nil then missing[#missing + 1] = name end end
print(table.concat(missing, " "))
"""


def draw(rng, cache, gpus):
    """A configuration.  It interprets kernels or compiles them in the background: see configurations.  Devices are those of
    the core or, if `gpus`, of the emulated driver."""
    config = {}

    def maybe(name, chance, values):
        if rng.random() < chance:
            config[name] = rng.choice(values)
    maybe("fusion", 0.1, [0])
    maybe("kernel_fusion", 0.12, [0])
    maybe("temporaries", 0.15, [0])
    config["cpus"] = rng.choice([1, 2, 2, 4])
    config["domains"] = rng.choice([1, 1, 2, 3, 4, 7])
    maybe("ranks", 0.12, [1, 2, 2, 3, 3, 4, 7])  # rarely: each is that many processes
    if "ranks" in config:
        config["domains"], config["cpus"] = rng.choice([1, 2]), 1
        maybe("uneven", 0.4, range(1, 10**6))
    if rng.random() < 0.12:
        config["gpus" if gpus and rng.random() < 0.5 else "emulate"] = rng.choice([1, 1, 2, 3])
        if "gpus" in config and rng.random() < 0.3:
            config["gpus"] = "auto"
        config["domains"] = 1
        maybe("emulate_mem" if "emulate" in config else "gpu_mem", 0.2, ["100K", "1M", "4M"])
    maybe("gc", 0.2, range(1, 10**6))
    maybe("reproducible", 0.12, [1])
    if domains_of(config) > 1:
        config["min_tile"] = rng.choice([1, 1, 7, 20])
        maybe("mix", 0.2, [0])
        maybe("widen", 0.3, [0, 10**6])
    maybe("jitter", 1 if config.get("gpus") == "auto" else 0.7, range(1, 10**6))  # it draws the side, too
    maybe("window", 0.4, [1, 2, 3, 5, 9, 30])
    maybe("between", 0.3, [0, 100, 1000])
    maybe("skew", 0.4, [0, 100, 300, 1000])
    maybe("abreast", 0.4, [0, 1, 300])
    maybe("compile", 0.6, [0])
    config["cache_dir"] = cache
    config["trace"] = rng.choice([0, 1, 1])
    if config["trace"]:  # programs are short, so searches are frequent
        config["trace_sample"] = rng.choice([3, 6, 12, 40])
        maybe("trace_shortest", 0.2, [1, 3])
        maybe("trace_longest", 0.2, [5, 20])
        maybe("trace_history", 0.2, [30, 200])
    maybe("check", 0.1, [1])
    maybe("mem", 0.1, ["1K", "10K", "100K"])
    maybe("turns", 0.3, [2])
    maybe("hotloop", 0.3, [2])
    maybe("finish", 0.8, [0])  # a batch leaves as much to compile as it takes itself
    return config


def configurations(number, first, count, folder, gpus):
    """What a batch runs under.  To wait for the compiler costs 20 ms a kernel, some 20 s a batch, so
    every eighth batch does: once with a cold cache, then, differently cut, with a warm one."""
    rng = random.Random(first * 7919 + number)
    cache = os.path.join(folder, "shared")
    configs = [draw(rng, cache, gpus) for _ in range(count)]
    if number % 8 == 3:
        own = os.path.join(folder, str(number))
        for config in configs[:2]:
            config.pop("compile", None)
            config.update(background=0, cache_dir=own)
    return configs


def with_set(config, fixed):
    """A drawn configuration with what is to be fixed; there are devices of one kind at most, and GPUs need compiled loops."""
    for kind, other, memory in (("gpus", "emulate", "emulate_mem"), ("emulate", "gpus", "gpu_mem")):
        if kind in fixed:
            config = {name: value for name, value in config.items() if name not in (other, memory)}
    if "gpus" in {**config, **fixed}:
        config = {name: value for name, value in config.items() if name != "compile"}
    return {**config, **fixed}


def matrix(cache):
    """Every configuration of the long form."""
    found = []
    base = {"cpus": 2, "background": 0, "cache_dir": cache}
    for change in ({}, {"fusion": 0}, {"kernel_fusion": 0}, {"temporaries": 0}, {"cpus": 1}, {"cpus": 4}, {"window": 1},
                   {"window": 2}, {"window": 7}, {"between": 0}, {"between": 500, "turns": 2}, {"turns": 3}, {"hotloop": 2}, {"check": 1}, {"background": 1},
                   {"trace": 1, "trace_sample": 5}, {"trace": 1, "trace_sample": 5, "turns": 3, "jitter": 3}, {"trace": 0},
                   {"compile": 0}, {"cache": 0}, {"jitter": 1}, {"jitter": 2, "hotloop": 2, "turns": 2}):
        found.append({**base, **change})
    for ranks in (1, 2, 3, 4, 7):
        for domains in (1, 2):
            for change in ({}, {"reproducible": 1}, {"fusion": 0}, {"uneven": ranks, "gc": 1}, {"jitter": 100 + ranks, "background": 1}, {"window": 3, "turns": 2}, {"trace": 1, "trace_sample": 5, "jitter": ranks}):
                found.append({**base, "cpus": 1, "min_tile": 1, "ranks": ranks, "domains": domains, **change})
    for domains in (2, 3, 4, 7):
        for change in ({}, {"min_tile": 1}, {"min_tile": 1, "reproducible": 1}, {"min_tile": 1, "jitter": domains}, {"min_tile": 1, "fusion": 0},
                       {"min_tile": 1, "temporaries": 0, "cpus": 4}, {"min_tile": 1, "window": 3, "turns": 2},
                       {"min_tile": 1, "kernel_fusion": 0}, {"min_tile": 1, "mix": 0}, {"min_tile": 1, "compile": 0, "jitter": 10 + domains},
                       {"min_tile": 1, "trace": 1, "trace_sample": 5}):
            found.append({**base, "domains": domains, **change})
    return found


def work(task):
    binary, seeds, configs, rules, limit = task
    subjects = [Subject(generate(seed, **rules)) for seed in seeds]
    lgt = Lgt(binary, limit)
    failures, runs = judge_batch(lgt, subjects, configs)
    statements = sum(len(s.program.block) for s in subjects)
    return failures, runs, statements


def config_text(config):
    runtime, script = options_of(config)
    script += [f"uneven={config['uneven']}"] if "uneven" in config else []
    return " ".join(runtime + script) or "(defaults)"


def describe(program, config, why, prefix=()):
    """The text of a failure: a Lua file that shows it."""
    subject = Subject(program)
    text = why[1].replace("\n", "\n-- ")
    lines = [f"-- random program {program.seed}: {why[0]}: {text}", f"-- lgt {config_text(config)}"]
    if prefix:
        lines.append(f"-- only after these programs in the same process: {', '.join(str(s.seed) for s in prefix)}")
    lines.append(HEADER + "local function program()")
    lines += [lua_text(program, subject.outputs), "end", "program()"]
    for name in subject.outputs:
        value, err, taint = subject.expected[name]
        flat = ", ".join(f"{v!r}" for v in value.reshape(-1)[:8].tolist())
        more = ", ..." if value.size > 8 else ""
        lines.append(f"-- NumPy: {name} {value.dtype} {value.shape}: {flat}{more}"
                     + (" (with a bound)" if err is not None else " (exact)") + (" (tainted)" if taint else ""))
    return "\n".join(lines) + "\n"


def report(lgt, failure, rules, keep, seconds):
    """Reproduces and shrinks one failure; its text."""
    program = generate(failure.seed, **rules)
    why = (failure.kind, failure.text)
    shrinker = Shrinker(lgt, program, failure.config, why, seconds)
    again = None
    for _ in range(3):
        again = shrinker.fails(program, failure.config)
        if again:
            break
    note = ""
    if not again and failure.prefix:
        shrinker.prefix = [Subject(generate(seed, **rules)) for seed in failure.prefix]
        again = shrinker.fails(program, failure.config)
    if again:
        shrinker.why = again
        shrinker.run()
    else:
        note = "-- it did not fail again, neither alone nor in its batch\n"
    text = note + describe(shrinker.program, shrinker.config, shrinker.why, shrinker.prefix)
    if keep:
        os.makedirs(keep, exist_ok=True)
        with open(os.path.join(keep, f"random-{failure.seed}-{failure.kind}.lua"), "w") as file:
            file.write(text)
    return text


def missing_names(binary):
    """Operations that the library lacks."""
    from machine import OPS
    names = sorted(set(OPS) | {"sum", "prod", "min", "max", "mean", "any", "all", "argmin", "argmax", "broadcast_to", "sliding_window_view",
                               "take", "concatenate"})
    done = subprocess.run([binary, "-e", PROBE % " ".join(names)], capture_output=True, text=True, timeout=900)
    if done.returncode:
        sys.exit(f"FAIL random: lgt does not start: {done.stderr.strip()[-800:]}")
    return done.stdout.split()


def self_test(binary, rules):
    """The judge must find what is wrong: one operation is rendered as another one."""
    mutate = {"maximum": "minimum"}
    lgt = Lgt(binary, mutate=mutate)
    seeds = range(1, 41)
    subjects = [Subject(generate(seed, **rules)) for seed in seeds]
    affected = [s for s in subjects if "maximum" in s.program.operations()]
    failures, _ = judge_batch(lgt, subjects, [])
    found = {f.seed for f in failures if f.kind == "wrong"}
    if not found or not found <= {s.seed for s in affected}:
        return f"of {len(affected)} programs with a wrong maximum, {len(found)} were found"
    first = min(f for f in found)
    failure = next(f for f in failures if f.seed == first)
    shrinker = Shrinker(lgt, generate(first, **rules), REFERENCE, (failure.kind, failure.text), 600).run()
    if len(shrinker.program.block) > 3 or "maximum" not in shrinker.program.operations():
        return f"a wrong maximum shrank to {len(shrinker.program.block)} statements only"
    # One bit: y * (1 + 2^-52) is within no bound of exact arithmetic, but within the bounds of sums.
    def exact(s):
        return next((n for n, e in s.expected.items() if e[1] is None and e[0].size and n not in s.ruined), None)
    subject = next(s for s in subjects if not found & {s.seed} and exact(s))
    reference, _ = lgt.run([subject], REFERENCE)
    result = reference[subject.seed][0]
    name = exact(subject)
    changed = result.arrays[name].copy()
    changed.reshape(-1).view("uint8")[0] ^= 1
    result.arrays[name] = changed
    if judge(subject, [result], None, REFERENCE) is None:
        return "a flipped bit was not found"
    return None


def parse_config(text):
    config = {}
    for word in text.replace("--", " ").split():
        name, _, value = word.partition("=")
        config[name.replace("-", "_")] = int(value) if value.lstrip("-").isdigit() else value
    return config


def one_seed(args, rules):
    program = generate(args.seed, **rules)
    subject = Subject(program)
    lgt = Lgt(args.lgt, args.limit)
    config = parse_config(args.config)
    failures, _ = judge_batch(lgt, [subject], [config] if config else [])
    if not failures:
        print(f"ok random {args.seed} under {config_text(config)}")
        return 0
    for f in failures:
        print(f"FAIL random {f.seed}: {f.kind}: {f.text} under {config_text(f.config)}")
        print(report(lgt, f, rules, args.keep, args.shrink))
    return 1


def many(args, rules):
    begin = time.monotonic()
    folder = tempfile.mkdtemp(prefix="lgt-random-cache-")
    batches = [range(first, min(first + BATCH, args.first + args.count))
               for first in range(args.first, args.first + args.count, BATCH)]
    tasks, sets = [], [parse_config(text) for text in args.set]
    for i, seeds in enumerate(batches):
        if args.stress:
            configs = matrix(os.path.join(folder, "shared")) * len(sets)
        else:
            configs = configurations(i, args.first, args.configs * len(sets), folder, driver_of(args.lgt) is not None)
        configs = [with_set(c, sets[k * len(sets) // len(configs)]) for k, c in enumerate(configs)]
        tasks.append((args.lgt, seeds, configs, rules, args.limit))
    failures, runs, statements, done = [], 0, 0, 0
    try:
        with multiprocessing.Pool(args.jobs) as pool:
            for found, count, length in pool.imap_unordered(work, tasks):
                failures += found
                runs += count
                statements += length
                done += 1
                if args.verbose:
                    print(f"{done}/{len(tasks)} batches, {runs} runs, {len(failures)} failures, "
                          f"{time.monotonic() - begin:.0f} s", flush=True)
                if len(failures) > 400:
                    pool.terminate()
                    break
        status = summarize(args, failures, rules)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{runs} runs of {args.count} programs, {statements / max(1, args.count):.0f} statements each: "
          f"{len(failures)} failures in {len({f.seed for f in failures})} programs, {time.monotonic() - begin:.0f} s")
    return status


def summarize(args, failures, rules):
    if not failures:
        print(f"ok random programs {args.first} to {args.first + args.count - 1}")
        return 0
    lgt = Lgt(args.lgt, args.limit)
    shown, kinds = 0, {}
    for f in sorted(failures, key=lambda f: f.seed):
        kinds.setdefault(signature(f), []).append(f)
    for name, group in sorted(kinds.items(), key=lambda item: -len(item[1])):
        first = group[0]
        print(f"FAIL random {first.seed}: {first.kind}: {first.text.splitlines()[0]} under"
              f" {config_text(first.config)} ({len(group)} alike)", flush=True)
        of_seed = list({f.seed: f for f in reversed(group)}.values())[::-1]
        for f in of_seed[::max(1, len(of_seed) // 3)][:3]:
            text = report(lgt, f, rules, args.keep, args.shrink) if shown < SHOWN else ""
            shown += 1
            print(text, flush=True)
    return 1


def signature(failure):
    """Failures that look alike."""
    text = "".join(c for c in failure.text.rsplit("random-cache", 1)[0] if not c.isdigit())
    if failure.kind == "error":
        return "error " + text.split(":", 2)[-1][:70]
    if failure.kind == "crash" and any(word in text for word in ("free()", "malloc()", "corrupt", "munmap_chunk")):
        return "crash of the heap"
    if failure.kind in ("crash", "exit"):
        return failure.kind + text[:120]
    several = domains_of(failure.config) > 1
    return f"{failure.kind} {'NumPy' if 'NumPy' in text else 'reference' if 'reference' in text else ''} {several} {failure.config == REFERENCE}"


def main():
    parser = argparse.ArgumentParser(description="Random programs: lgt against NumPy and against itself.")
    parser.add_argument("--lgt", default=os.path.join(ROOT, "build/lgt"))
    parser.add_argument("--stress", "--all", action="store_true", help="the whole matrix of configurations")
    parser.add_argument("--count", type=int, default=600, help="programs")
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--longest", type=int, default=LONGEST, help="statements of a program, blocks counted as one, at most: "
                        "many short programs rather than few long ones")
    parser.add_argument("--configs", type=int, default=3, help="configurations drawn for each batch")
    parser.add_argument("--set", action="append", help="what drawn configurations have, as in \"domains=1 compile=0\"; "
                        "several: so many configurations are drawn for each, and run against one reference")
    parser.add_argument("--limit", type=int, default=900, help="seconds for a batch")
    parser.add_argument("--shrink", type=int, default=60, help="seconds for shrinking one program")
    parser.add_argument("--driver", help="folders where the CUDA driver is looked for (default: the emulated one beside lgt)")
    parser.add_argument("--keep", help="folder for failing programs")
    parser.add_argument("-j", dest="jobs", type=int, default=os.cpu_count())
    parser.add_argument("-v", dest="verbose", action="store_true")
    parser.add_argument("--seed", type=int, help="one program")
    parser.add_argument("--config", default="", help="its configuration, as in \"domains=3 min_tile=1 turns=2\"")
    parser.add_argument("--show", type=int, help="print a program")
    args = parser.parse_args()
    args.lgt, args.set = os.path.abspath(args.lgt), args.set or [""]
    if args.driver is not None:
        os.environ["RANDOM_DRIVER"] = args.driver  # for judge.driver_of, in all processes

    if args.show is not None:
        program = generate(args.show, longest=args.longest)
        print(HEADER + lua_text(program, Subject(program).outputs))
        return 0
    rules = {"without": missing_names(args.lgt), "longest": args.longest}
    for name in rules["without"]:
        print(f"skip random: np.{name} is missing")
    if args.seed is not None:
        return one_seed(args, rules)
    why = self_test(args.lgt, {**rules, "longest": LONGEST})
    print(f"FAIL judge: {why}" if why else "ok judge finds wrong results, and shrinks them", flush=True)
    return many(args, rules) or (1 if why else 0)


if __name__ == "__main__":
    sys.exit(main())
