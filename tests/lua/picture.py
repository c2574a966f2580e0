"""What picture.lua writes is read back by Python's zlib: the format, its checksums, the colours; and its refusals.

    tests/lua/picture.py --lgt build/lgt
"""
import argparse
import os
import struct
import subprocess
import sys
import tempfile
import zlib

SAVE = """
local np, picture = require "array", require "picture"
picture.save(arg[1], np.arange(6):reshape(2, 3))
picture.save(arg[2], np.arange(100000):reshape(100, 1000) % 7, {low = 2, high = 4})
"""
DARK, BRIGHT = (68, 1, 84), (253, 231, 37)  # the ends of viridis
REFUSALS = {
    "a vector": ('picture.save("x.png", np.ones(3))', "a matrix of real numbers"),
    "complex numbers": ('picture.save("x.png", np.ones(3, 3, {dtype = "complex64"}))', "a matrix of real numbers"),
    "no name": ("picture.save(nil, np.ones(3, 3))", "a file name was expected, not nil"),
    "an unknown option": ('picture.save("x.png", np.ones(3, 3), {lo = 1})', "unknown option lo; it takes high, low"),
    "no such folder": ('picture.save("/nowhere/x.png", np.ones(3, 3))', "No such file or directory"),
    "a full disk": ('picture.save("/dev/full", np.ones(300, 300))', "No space left on device"),
}


def pixels(path):
    """Rows of colours; raises if the file is not a PNG with right checksums."""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", "signature"
    at, chunks = 8, {}
    while at < len(data):
        size, name = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + size]
        assert struct.unpack(">I", data[at + 8 + size : at + 12 + size])[0] == zlib.crc32(name + body), f"crc of {name}"
        chunks[name] = body
        at += 12 + size
    assert list(chunks) == [b"IHDR", b"IDAT", b"IEND"], list(chunks)
    columns, rows, depth, colour = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
    assert (depth, colour) == (8, 2), "8 bits, red green blue"
    raw = zlib.decompress(chunks[b"IDAT"])
    assert len(raw) == rows * (1 + 3 * columns), "size"
    lines = [raw[r * (1 + 3 * columns) :][: 1 + 3 * columns] for r in range(rows)]
    assert not any(line[0] for line in lines), "filters"
    return [[tuple(line[1 + 3 * c : 4 + 3 * c]) for c in range(columns)] for line in lines]


def check_pictures(lgt, folder):
    paths = [os.path.join(folder, name) for name in ("small.png", "large.png")]
    subprocess.run([lgt, "-", *paths], input=SAVE, text=True, check=True, timeout=60)
    small, large = map(pixels, paths)
    assert (len(small), len(small[0])) == (2, 3)
    assert small[0][0] == DARK and small[1][2] == BRIGHT and len({p for row in small for p in row}) == 6
    assert (len(large), len(large[0])) == (100, 1000)
    assert large[0][:3] == [DARK] * 3 and large[0][4:7] == [BRIGHT] * 3 and large[0][3] not in (DARK, BRIGHT)


def refusal(lgt, call, words):
    """None, or why the call is not refused at its line with these words."""
    script = f'local np, picture = require "array", require "picture"\n{call}\n'
    run = subprocess.run([lgt, "-"], input=script, text=True, capture_output=True, timeout=60)
    first = (run.stderr.splitlines() or [""])[0]
    if run.returncode and "stdin:2: " in first and words in first:
        return None
    return f"status {run.returncode}, {first!r}"


def main():
    parser = argparse.ArgumentParser(description="Reads back what picture.lua writes.")
    parser.add_argument("--lgt", required=True)
    lgt = os.path.abspath(parser.parse_args().lgt)
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        try:
            check_pictures(lgt, folder)
            print("ok pictures")
        except (AssertionError, OSError, subprocess.SubprocessError) as error:
            failed = True
            print(f"FAIL pictures: {error}")
    for name, (call, words) in REFUSALS.items():
        why = refusal(lgt, call, words)
        failed = failed or bool(why)
        print(f"FAIL {name}: {why}" if why else f"ok {name}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
