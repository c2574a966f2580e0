"""NumPy's elementary functions for tests/core/elementary.c.

Standard input holds requests: a line "NAME DTYPE OPERANDS COUNT", then the operands (float16 as float32).
Answered is 0 where NumPy has no such function, else 1 and the results.
"""
import sys

import numpy as np

NAMES = {"acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan",
         "atanh": "arctanh", "atan2": "arctan2", "pow": "power"}


def main():
    ask, answer = sys.stdin.buffer, sys.stdout.buffer
    np.seterr(all="ignore")
    for line in ask:
        name, dtype, operands, count = line.decode().split()
        function = getattr(np, NAMES.get(name, name), None)
        answer.write(b"1" if function else b"0")
        answer.flush()
        if not function or count == "0":
            continue
        carried = np.float64 if dtype == "float64" else np.float32
        size = int(count) * np.dtype(carried).itemsize
        values = [np.frombuffer(ask.read(size), carried).astype(dtype) for _ in range(int(operands))]
        answer.write(function(*values).astype(carried).tobytes())
        answer.flush()


main()
