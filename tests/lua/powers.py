#!/usr/bin/env python3
"""x^n for constant n: within 1 ulp in float64, correctly rounded in float32 and float16, the same bits however computed.

Python's fractions are the oracle, for whole n; roots are compared by squaring."""

import argparse
import math
import random
import struct
import subprocess
import sys
import tempfile
from fractions import Fraction

SCRIPT = """
local np = require "array"
local function values(dtype) return np.frombuffer(io.open(arg[1], "rb"):read("*a"), {dtype = "float64"}):astype(dtype) end
for _, dtype in ipairs{"float64", "float32", "float16"} do
  local x = values(dtype)
  for i = 2, #arg do
    local y = (np.power(x, tonumber(arg[i])) / 1):astype("float64"):totable()
    for k = 1, #y do y[k] = ("%.17g"):format(y[k]) end
    print(dtype, arg[i], table.concat(y, " "))
  end
end
"""

DIGITS = {"float64": (53, -1074, 1024), "float32": (24, -149, 128), "float16": (11, -24, 16)}


def nearest(x: Fraction, digits, least, most):
    """The nearest float of that format, ties to even, and the unit in the last place there."""
    if x == 0:
        return Fraction(0), Fraction(2) ** least
    size = abs(x)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    unit = Fraction(2) ** max(exponent - digits + 1, least)
    rounded = round(size / unit) * unit
    if rounded >= Fraction(2) ** most:
        return math.inf if x > 0 else -math.inf, unit
    return (rounded if x > 0 else -rounded), unit


def power(x, n):
    """Exactly, or the square of the result for n = 1/2 and -1/2."""
    return Fraction(x) ** (int(2 * n) if n != int(n) else int(n))


def judge(dtype, n, x, y):
    """Why y is wrong as x^n, or None."""
    digits, least, most = DIGITS[dtype]
    if n != int(n):
        if x <= 0 or math.isinf(x):
            return None
        exact, got = power(x, n), Fraction(y)
        unit = nearest(got, digits, least, most)[1]
        slack = unit if dtype == "float64" else unit / 2
        return None if (got - slack) ** 2 <= exact <= (got + slack) ** 2 else "off"
    if math.isinf(x):
        return None if y == x**n else "of infinity"
    if math.isnan(y):
        return "of a number"
    if x == 0 and n < 0:
        return None if math.isinf(y) else "no infinity"
    exact = power(x, n)
    best, unit = nearest(exact, digits, least, most)
    if math.isinf(y) or best in (math.inf, -math.inf):
        return None if y == best else f"expected {float(best)}"
    if dtype == "float64":
        return None if abs(Fraction(y) - exact) <= unit else f"off by {float(abs(Fraction(y) - exact) / unit):.3f} ulp"
    return None if Fraction(y) == best else f"expected {float(best)!r}"


def rounded(x, dtype):
    form = {"float64": "d", "float32": "f", "float16": "e"}[dtype]
    try:
        return struct.unpack(form, struct.pack(form, x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lgt", required=True)
    args = parser.parse_args()
    draw = random.Random(5)
    x = [0.0, -0.0, 1.0, -1.0, 3.0, -3.0, 10.0, 0.5]
    x += [draw.choice([1, -1]) * draw.uniform(0.5, 2) * 2.0 ** draw.randint(-14, 14) for _ in range(60)]
    x += [draw.choice([1, -1]) * draw.uniform(0.5, 2) * 2.0 ** k for k in (*range(-1074, 1024, 37), *range(-149, 129, 9))]
    folder = tempfile.TemporaryDirectory()
    path = folder.name + "/x"
    with open(path, "wb") as f:
        f.write(struct.pack(f"{len(x)}d", *x))
    with open(path + ".lua", "w") as f:
        f.write(SCRIPT)
    exponents = ["%g" % n for n in list(range(-64, 65)) + [0.5, -0.5]]
    outputs = {}
    for name, options in {"compiled": ["--background=0", "--cache=0"], "interpreted": ["--compile=0"],
                          "generic": ["--isa=generic", "--background=0", "--cache=0"]}.items():
        some = exponents if name == "interpreted" else exponents[::7] + ["0.5", "-0.5", "3", "-1"]
        done = subprocess.run([args.lgt, *options, path + ".lua", path, *some], capture_output=True, text=True, timeout=120)
        if done.returncode:
            print(f"FAIL {name}: {done.stderr}")
            return 1
        outputs[name] = {tuple(line.split("\t")[:2]): line.split("\t")[2] for line in done.stdout.splitlines()}
    failed = False
    for dtype in DIGITS:
        wrong = []
        for n in exponents:
            for a, y in zip(x, outputs["interpreted"][dtype, n].split()):
                a, y = rounded(a, dtype), float(y)
                why = judge(dtype, float(n), a, y)
                if why:
                    wrong.append(f"{a!r}^{n} = {y!r}: {why}")
        print(f"FAIL {dtype}: {len(wrong)}; {'; '.join(wrong[:5])}" if wrong else f"ok {dtype}")
        failed |= bool(wrong)
    for name in ("compiled", "generic"):
        other = [key for key, line in outputs[name].items() if line != outputs["interpreted"][key]]
        print(f"FAIL {name} differs from interpreted: {other[:5]}" if other else f"ok {name} as interpreted")
        failed |= bool(other)
    return failed


if __name__ == "__main__":
    sys.exit(main())
