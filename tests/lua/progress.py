"""lgt.progress draws on a terminal, and only there.

    tests/lua/progress.py --lgt build/lgt
"""
import argparse
import os
import pty
import re
import subprocess
import sys
import time

LOOPS = {
    "a number": ("local s = 0 for i in lgt.progress(10) do s = s + i end print(s)", "55", "10/10"),
    "first and last": ("local s = 0 for i in lgt.progress(3, 5) do s = s + i end print(s)", "12", "3/3"),
    "a step": ("local s = {} for i in lgt.progress(9, 1, -4) do s[#s + 1] = i end print(unpack(s))", "9\t5\t1", "3/3"),
    "a list": ("for i, x in lgt.progress{'a', 'b'} do io.write(i, x) end print()", "1a2b", "2/2"),
    "nothing": ("for _ in lgt.progress(0) do print(1) end print('end')", "end", "100% 0/0"),
    "a label": ("for _ in lgt.progress(4, {label = 'fit'}) do end print('end')", "end", "fit |"),
    "many fast turns": ("local s = 0 for i in lgt.progress(3e6) do s = s + 1 end print(s)", "3000000", "3000000/3000000"),
    "slow turns": ("for i in lgt.progress(3) do local t = lgt.time() repeat until lgt.time() > t + 0.12 end print('end')", "end",
                   "33% 1/3"),
}
REFUSALS = {
    "a fraction": ("lgt.progress(2.5)", "the last number is an integer"),
    "nothing at all": ("lgt.progress()", "the last number is an integer, not nil"),
    "no step": ("lgt.progress(1, 2, 0)", "the step is 0"),
    "an unknown option": ("lgt.progress(3, {name = 'x'})", "unknown option name"),
}


def run(lgt, script, terminal):
    """Status, output, and what came to the error output."""
    command = [lgt, "-e", 'lgt = require "lgt" ' + script]
    if not terminal:
        done = subprocess.run(command, capture_output=True, text=True, timeout=900)
        return done.returncode, done.stdout.strip(), done.stderr
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, text=True) as child:
        os.close(theirs)
        drawn = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            drawn += part
        return child.wait(900), child.stdout.read().strip(), drawn.decode()


def main():
    parser = argparse.ArgumentParser(description="Looks at what lgt.progress draws.")
    parser.add_argument("--lgt", required=True)
    lgt = os.path.abspath(parser.parse_args().lgt)
    failed = False

    def judge(name, right, what):
        nonlocal failed
        failed = failed or not right
        print(f"ok {name}" if right else f"FAIL {name}: {what!r}")

    for name, (script, output, shown) in LOOPS.items():
        status, printed, drawn = run(lgt, script, True)
        right = status == 0 and printed == output and shown in drawn and drawn.endswith("\r\n")
        right = right and re.search(r"\d/\d+ [\d.]+[kMG]?(/s| s each) \d+:\d\d<(\d+:\d\d|\?)", drawn)
        judge(name, right, (status, printed, drawn))
        judge(name + ", no terminal", run(lgt, script, False) == (0, output, ""), "something was drawn")
    begin = time.monotonic()
    status, _, drawn = run(lgt, "for i in lgt.progress(5e6) do end", True)
    judge("few drawings", drawn.count("\r") < 10 + 10 * (time.monotonic() - begin), drawn.count("\r"))
    # Rates of all sizes: turns of 2^-k s.
    status, _, drawn = run(lgt, "for k = 2, 20 do for i in lgt.progress(2) do local t = lgt.time() "
                                "repeat until lgt.time() - t > 2 ^ -k end end", True)
    judge("rates", status == 0 and "e+" not in drawn and drawn.count("\r\n") == 19, drawn)
    for name, (call, words) in REFUSALS.items():
        status, _, said = run(lgt, call, False)
        judge(name, status != 0 and words in said, said)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
