#!/usr/bin/python3
"""bench/breadth.py: a line in error, and a name without a line, are not covered, and the exit status says so."""
import contextlib
import io
import os
import sys

import numpy  # noqa: F401  breadth.py's, as scipy is: where they are missing tests/run sees it here, and skips this
import scipy  # noqa: F401

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../bench"))
sys.dont_write_bytecode = True
import breadth  # noqa: E402


def covered(lines):
    """(exit status, how many functions of numpy.fft are covered, all that is printed)"""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        status = breadth.print_coverage({}, lines)
    row = next(row for row in out.getvalue().splitlines() if row.startswith("numpy.fft"))
    return status, int(row.split()[-2]), out.getvalue()


class Answers:
    """A run of lgt that says this of one line."""
    returncode, stdout, stderr = 0, "error x:1: it is broken\n", ""


def main():
    _, lines = breadth.read_lines()
    status, all_of_them, text = covered(lines)
    assert status == 0 and "FAIL" not in text, text
    first = next(line for line in lines if line.lgt.startswith("np.fft.ifft("))
    without = [line for line in lines if "np.fft.ifft" not in line.subjects()]
    assert covered(without)[:2] == (1, all_of_them - 1), covered(without)
    breadth.subprocess.run = lambda *_, **__: Answers
    breadth.find_moves("lgt", [first])
    status, some, text = covered(lines)
    assert (status, some) == (1, all_of_them - 1) and "it is broken" in text, text
    print("ok what is not measured is not covered")


main()
