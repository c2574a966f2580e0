"""The programs of bench/gpu.lua in Python:  gpu.py WHO PROGRAM ELEMENTS

WHO is cupy, jax (one compiled function a turn), or numpy, which shows without a GPU that the programs are the same.
With no PROGRAM: 0 if the library is there and sees a GPU.
"""
import math
import os
import re
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WHO = sys.argv[1]
if WHO == "cupy":
    import cupy as np

    def wait(_):
        np.cuda.Device().synchronize()
elif WHO == "jax":
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    import jax

    jax.config.update("jax_enable_x64", True)
    import jax.numpy as np

    def wait(state):
        jax.block_until_ready(state)
else:
    import numpy as np

    def wait(_):
        pass


def fraction(n, k, lo, hi):
    x = np.arange(n, dtype="float64") * k
    return (x - np.floor(x)) * (hi - lo) + lo


def matrix(n):
    rows = math.isqrt(n)
    return fraction(rows * rows, 0.6180339887498949, 0, 1).reshape(rows, rows)


# Each gives the first state, what a turn makes of a state, and what was computed.

def triad(n):
    b, c = fraction(n, 0.6180339887498949, 0, 1), fraction(n, 0.4142135623730951, 0, 1)
    return (b, c, None), lambda s: (s[0], s[1], s[0] + 3 * s[1]), lambda s: [s[2].mean()]


def black_scholes(n):
    r, v = 0.02, 0.3

    def cnd(d):
        k = 1 / (1 + 0.2316419 * np.abs(d))
        tail = 0.3989422804014327 * np.exp(-0.5 * d * d) * k * (0.31938153 + k * (-0.356563782 + k * (
            1.781477937 + k * (-1.821255978 + k * 1.330274429))))
        return np.where(d > 0, 1 - tail, tail)

    def turn(s):
        S, X, T = s[:3]
        vt = v * np.sqrt(T)
        d1 = (np.log(S / X) + (r + 0.5 * v * v) * T) / vt
        n1, n2 = cnd(d1), cnd(d1 - vt)
        D = X * np.exp(-r * T)
        return S, X, T, S * n1 - D * n2, D * (1 - n2) - S * (1 - n1)

    state = (fraction(n, 0.8191725133961645, 5, 30), fraction(n, 0.6710436067037893, 1, 100), fraction(n, 0.5497004779019703, 0.25, 10))
    return (*state, None, None), turn, lambda s: [s[3].mean(), s[4].mean()]


def put(a, where, value):
    if WHO == "jax":
        return a.at[where].set(value)
    a[where] = value
    return a


def stencil(n):
    def turn(s):
        a, b = s
        inner = 0.2 * (a[1:-1, 1:-1] + a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
        return put(b, (slice(1, -1), slice(1, -1)), inner), a

    return (matrix(n), matrix(n)), turn, lambda s: [s[0].mean()]


def shallow_water(n):
    with open(os.path.join(ROOT, "tests/programs/shallow_water.py"), encoding="utf-8") as file:
        text = file.read().split("\ninside =")[0].split("import numpy as np\n")[1]
    head, step = re.split(r"^for _ in range\(steps\):\n", text, flags=re.M)
    text = head + "def turn(s):\n    h, hu, hv, time = s\n" + step + "    return h, hu, hv, time\n"
    text = re.sub(r"^n = .*\nsteps = .*\n", "", text, flags=re.M)
    if WHO == "jax":  # arrays do not change
        text = re.sub(r"^    q\[(.*?)\] = (.*)$", r"    q = q.at[\1].set(\2)", text, flags=re.M)
        text = text.replace("q[-3:-5:-1, :])\n", "q[-3:-5:-1, :])\n    return q\n")
        text = re.sub(r"^    reflect\((\w+),", r"    \1 = reflect(\1,", text, flags=re.M)
        text = re.sub(r"^    (\w+)\[2:-2, 2:-2\] -= (.*)$", r"    \1 = \1.at[2:-2, 2:-2].add(-(\2))", text, flags=re.M)
    names = {"np": np, "n": math.isqrt(n) - 4}
    exec(compile(text, "shallow_water", "exec"), names)
    return tuple(names[name] for name in ("h", "hu", "hv", "time")), names["turn"], lambda s: [s[0].mean()]


def cg(n):
    def turn(s):
        d, x, r, p, rr = s
        q = d * p
        alpha = rr / p.dot(q)
        x, r = x + alpha * p, r - alpha * q
        now = r.dot(r)
        return d, x, r, r + (now / rr) * p, now

    r = fraction(n, 0.4142135623730951, 0, 1)
    return (fraction(n, 0.6180339887498949, 1, 2), np.zeros(n), r, r, r.dot(r)), turn, lambda s: [s[1].mean()]


def total(axis):
    return lambda n: ((matrix(n), None), lambda s: (s[0], np.sum(s[0], axis=axis)), lambda s: [np.sum(s[1])])


def transpose(n):
    return (matrix(n), None), lambda s: (s[0], s[0].T.copy()), lambda s: [s[1][0, -1]]


PROGRAMS = {"triad": triad, "black_scholes": black_scholes, "stencil": stencil, "shallow_water": shallow_water, "cg": cg,
            "sum": total(None), "sum_down": total(0), "sum_across": total(1), "transpose": transpose}


def main():
    if len(sys.argv) == 2:
        sees = {"cupy": lambda: np.cuda.runtime.getDeviceCount() > 0, "jax": lambda: jax.default_backend() == "gpu"}
        return not sees[WHO]()
    state, turn, look = PROGRAMS[sys.argv[2]](int(float(sys.argv[3])))
    if WHO == "jax":
        turn = jax.jit(turn)
    state = turn(state)
    print("ready", *("%.17g" % float(v) for v in look(state)), flush=True)
    for line in sys.stdin:
        begin = time.perf_counter()
        for _ in range(int(line)):
            state = turn(state)
            wait(state)
        print("%.9f" % (time.perf_counter() - begin), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
