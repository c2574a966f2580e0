#!/usr/bin/python3
"""Messages and collectives between 1, 2, 3, 4 and 7 forked ranks, over shared memory and over TCP.

Reductions of every operator and element type are compared, bit for bit, with NumPy's, combined in the order that
collective.h promises; the ranks themselves check that all have the same bits.
"""
import os
import struct
import tempfile

import numpy as np

from common import RANKS, case, done, finish, run

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
          "float64", "complex64", "complex128"]
CLASSES = {"sum": "iufc", "prod": "iuf", "min": "biuf", "max": "biuf", "and": "biu", "or": "biu", "xor": "biu",
           "argmin": "biuf", "argmax": "biuf"}


def ordered(op):
    """op(a, b), but of equal values, which may be 0.0 and -0.0, the second, and of two NaNs the first: that shows the
    order."""
    return lambda a, b: np.where(a != a, a, np.where(b != b, b, np.where(a == b, b, op(a, b))))


FUNCTION = {"sum": np.add, "prod": np.multiply, "min": ordered(np.minimum), "max": ordered(np.maximum),
            "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
random = np.random.default_rng(1)


def tree(op, values):
    """values[0] op values[1] op ... in the fixed order."""
    n = len(values)
    extra = n - (1 << n.bit_length() - 1)
    values = [op(values[2 * i], values[2 * i + 1]) for i in range(extra)] + list(values[2 * extra:])
    while len(values) > 1:
        values = [op(a, b) for a, b in zip(values[::2], values[1::2])]
    return values[0]


def better(name):
    """The better value and its position, the lower one where equal; NaN is better than any number."""
    def op(a, b):
        (v, p), (w, q) = a, b
        with np.errstate(invalid="ignore"):
            beats = (w < v) if name == "argmin" else (w > v)
        nan_v, nan_w = v != v, w != w
        second = np.where(nan_v | nan_w, nan_w & (~nan_v | (q < p)), beats | ((v == w) & (q < p)))
        return np.where(second, w, v), np.where(second, q, p)
    return op


def data(name, dtype, ranks, n):
    kind = np.dtype(dtype).kind
    if kind == "b":
        return random.random((ranks, n)) < 0.5
    if kind in "iu":
        info = np.iinfo(dtype)
        return random.integers(info.min, info.max, (ranks, n), dtype=dtype, endpoint=True)
    x = random.standard_normal((ranks, n)) * 3
    if kind == "c":
        return (x + 1j * random.standard_normal((ranks, n))).astype(dtype)
    if n > 5:
        x[0, 3] = np.nan
        if name in ("min", "max") and dtype != "float16":  # NaNs of different bits: the first comes through
            bits = np.uint32 if dtype == "float32" else np.uint64
            x = x.astype(dtype)
            x[:, 2] = (np.full(ranks, np.nan, dtype).view(bits) + np.arange(1, ranks + 1, dtype=bits)).view(dtype)
        x[:, 4] = np.where(np.arange(ranks) % 3 == 0, 0.0, -0.0)
        x[:, 5] = np.where(np.arange(ranks) % 2, 0.0, -0.0)
    return x.astype(dtype)


def reductions(ranks, options):
    cases = []
    for op, name in enumerate(CLASSES):
        for code, dtype in enumerate(DTYPES):
            if np.dtype(dtype).kind in CLASSES[name]:
                cases += [(op, name, code, dtype, n) for n in (1, 9, 1000)]
    cases += [(0, "sum", DTYPES.index("float64"), "float64", n) for n in (0, 300000)]
    # Enough for each rank to combine a part.
    cases += [(op, name, DTYPES.index(dtype), dtype, 100003) for op, name, dtype in
              ((0, "sum", "float32"), (0, "sum", "complex64"), (3, "max", "float64"), (1, "prod", "uint16"))]
    expected = []
    with tempfile.TemporaryDirectory() as folder:
        source, result = os.path.join(folder, "in"), os.path.join(folder, "out")
        with open(source, "wb") as file:
            for op, name, code, dtype, n in cases:
                x = data(name, dtype, ranks, n)
                file.write(struct.pack("qqq", op, code, n) + x.tobytes())
                with np.errstate(all="ignore"):
                    if name.startswith("arg"):
                        if n == 9:
                            x[:, 4:] = x[0, 4:]  # ties
                            file.seek(-x.nbytes, 1)
                            file.write(x.tobytes())
                        at = np.stack([random.permutation(ranks * n)[:n] for _ in range(ranks)]).astype(np.int64)
                        file.write(at.tobytes())
                        value, position = tree(better(name), list(zip(x, at)))
                        expected.append((value.astype(dtype).tobytes(), position.astype(np.int64).tobytes()))
                    else:
                        expected.append((tree(FUNCTION[name], list(x)).astype(dtype).tobytes(), b""))
        outcome = run([RANKS, "-n", str(ranks), *options, "reduce", source, result])
        if done(outcome):
            return str(outcome)
        with open(result, "rb") as file:
            for (_, name, _, dtype, n), (values, positions) in zip(cases, expected):
                got = file.read(len(values)), file.read(len(positions))
                if got != (values, positions):
                    a, b = (np.frombuffer(v, dtype) for v in (got[0], values))
                    where = [i for i in range(n) if a[i:i + 1].tobytes() != b[i:i + 1].tobytes()][:5]
                    return f"{name} of {n} {dtype}: {a[where]}, expected {b[where]} (or their positions) at {where}"
            if file.read():
                return "more results than cases"
    return None


def well(ranks, options, what):
    return done(run([RANKS, "-n", str(ranks), *options, what]))


for n in (1, 2, 3, 4, 7):
    for over, options in (("any transport", []), ("tcp", ["--tcp"])):
        case(f"messages, {n} ranks, {over}", well, n, options, "messages")
        case(f"collectives, {n} ranks, {over}", well, n, options, "collectives")
        case(f"the core's table, {n} ranks, {over}", well, n, options, "peers")
        if not options or n == 3:
            case(f"reductions, {n} ranks, {over}", reductions, n, options)
finish(1)
