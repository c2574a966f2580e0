"""What np.plot draws: images are read back by Python's zlib (the format, its checksums, the colours); gnuplot's files
are of the kind that was asked for and hold what was drawn; wrong calls are refused.

    tests/lua/plot.py --lgt build/lgt
"""
import argparse
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

SAVE = """
local np = require "array"
np.plot.image(np.arange(6):reshape(2, 3), {file = arg[1]})
np.plot.image(np.arange(100000):reshape(100, 1000) % 7, {file = arg[2], low = 2, high = 4})
"""
DARK, BRIGHT = (68, 1, 84), (253, 231, 37)  # the ends of viridis
DRAW = """
local np = require "array"
local x, folder = np.linspace(0, 6, 50), arg[1]
local a = np.outer(np.sin(x), np.cos(x))
np.plot(x, {np.sin(x), np.cos(x)}, {file = folder .. "/line.svg", labels = {"si'n", "cos"}, title = "it's a_b"})
np.plot({3, 1, 2}, {file = folder .. "/list.svg", xlim = {0, 4}, ylim = {-1, 5}, style = "steps"})
np.plot.scatter(x, np.where(x:gt(3), np.nan, np.exp(x)), {file = folder .. "/points.png", logy = true})
np.plot.image(a, {file = folder .. "/image.svg", xlabel = "here"})
np.plot.contour(a, {file = folder .. "/contour.svg", levels = {-0.5, 0, 0.5}})
np.plot.image(np.arange(8):reshape(4, 2), {title = "colours"})
np.plot(x, np.sin(x), {height = 10, width = 40, title = "wave"})
np.plot({1, 1, 1}, {file = folder .. "/constant.svg"})
np.plot({1}, {file = folder .. "/one.svg"})
np.plot.contour(np.ones(3, 3), {file = folder .. "/plain.svg"})
np.plot.image({{1}}, {file = folder .. "/pixel.svg"})
np.plot.image({{1, 2, 3}}, {file = folder .. "/row.svg"})
"""
REFUSALS = {
    "an image of a vector": ('np.plot.image(np.ones(3), {file = "x.png"})', "a matrix of real numbers"),
    "an image of complex numbers": ('np.plot.image(np.ones(3, 3, {dtype = "complex64"}))', "a matrix of real numbers"),
    "another format": ('np.plot.image(np.ones(3, 3), {file = "x.gif"})', "ends in .svg or .png, unlike x.gif"),
    "no name": ("np.plot.image(np.ones(3, 3), {file = 7})", "file is a string, not the number 7"),
    "an unknown option": ('np.plot.image(np.ones(3, 3), {lo = 1})', "unknown option lo"),
    "no such folder": ('np.plot.image(np.ones(3, 3), {file = "/nowhere/x.png"})', "No such file or directory"),
    "no such folder for gnuplot": ('np.plot(np.ones(3), {file = "/nowhere/x.svg"})', "gnuplot:"),
    "a full disk": ('np.plot.image(np.ones(300, 300), {file = "FULL"})', "No space left on device"),
    "nothing": ("np.plot()", ": plot: what is to be drawn?"),
    "nothing by another name": ("np.plot.line()", ": plot.line: what is to be drawn?"),
    "options alone": ('np.plot{title = "x"}', "what is to be drawn?"),
    "too few places": ("np.plot(np.ones(2), np.ones(3))", "2 places and 3 values"),
    "a matrix as a line": ("np.plot(np.ones(2, 2))", "a vector of real numbers was expected"),
    "no elements": ("np.plot(np.zeros(0))", "a vector without elements"),
    "an unknown style": ('np.plot(np.ones(3), {style = "nothing"})', "gnuplot:"),
    "a contour of a line": ("np.plot.contour(np.ones(1, 5))", "at least 2 rows and 2 columns"),
    "no points": ("np.plot(np.full({5}, np.nan))", "no point can be drawn"),
    "negative numbers on a logarithmic axis": ("np.plot({-1, -2}, {logy = true})", "no point can be drawn"),
    "no width": ("np.plot({1, 2}, {width = 0})", "width is a number from 1 to 16384, not the number 0"),
    "limits that are none": ("np.plot({1, 2}, {xlim = {0, 0/0}})", "xlim is {first, last}, two finite numbers"),
    "no levels": ("np.plot.contour(np.ones(3, 3), {levels = {}})", "at least one level was expected"),
    "levels that are none": ('np.plot.contour(np.ones(5, 5), {levels = "many"})', "levels are a number or a table"),
}


def check_drawings(lgt, folder):
    """What DRAW leaves and prints."""
    if not shutil.which("gnuplot"):
        print("skip drawings: gnuplot-nox is not installed")
        return
    run = subprocess.run([lgt, "-", folder], input=DRAW, text=True, capture_output=True, timeout=900)
    assert run.returncode == 0, run.stderr

    def drawn(name):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            return file.read()

    line = drawn("line.svg")
    assert line.startswith("<?xml") and "it's a_b" in line.replace("&#39;", "'") and "cos" in line
    assert len(re.findall(r"[ML]\d+\.\d+,\d+\.\d+|\d+\.\d+,\d+\.\d+", line)) >= 100, "two lines of 50 points"
    assert drawn("list.svg").startswith("<?xml") and drawn("image.svg").startswith("<?xml")
    for name in ("constant", "one", "plain"):
        assert drawn(name + ".svg").startswith("<?xml"), name
    for name in ("pixel", "row"):
        assert "rgb(" in drawn(name + ".svg").lower() or "<image" in drawn(name + ".svg"), f"{name} is empty"
    assert "here" in drawn("image.svg") and drawn("contour.svg").count("<path") > 3
    with open(os.path.join(folder, "points.png"), "rb") as file:
        assert file.read(8) == b"\x89PNG\r\n\x1a\n"
    image, wave = run.stdout.split("wave")
    assert image.startswith("colours\n") and image.count("\u2580") == 4 and "38;2;68;1;84" in image
    assert wave.count("*") > 10, wave


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
    subprocess.run([lgt, "-", *paths], input=SAVE, text=True, check=True, timeout=900)
    small, large = map(pixels, paths)
    assert (len(small), len(small[0])) == (2, 3)
    assert small[0][0] == DARK and small[1][2] == BRIGHT and len({p for row in small for p in row}) == 6
    assert (len(large), len(large[0])) == (100, 1000)
    assert large[0][:3] == [DARK] * 3 and large[0][4:7] == [BRIGHT] * 3 and large[0][3] not in (DARK, BRIGHT)


def refusal(lgt, call, words):
    """None, or why the call is not refused at its line with these words."""
    script = f'local np = require "array"\n{call}\n'
    run = subprocess.run([lgt, "-"], input=script, text=True, capture_output=True, timeout=900)
    first = (run.stderr.splitlines() or [""])[0]
    if run.returncode and "stdin:2: " in first and words in first:
        return None
    return f"status {run.returncode}, {first!r}"


def main():
    parser = argparse.ArgumentParser(description="Looks at what np.plot draws.")
    parser.add_argument("--lgt", required=True)
    lgt = os.path.abspath(parser.parse_args().lgt)
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for name, check in (("images", check_pictures), ("drawings", check_drawings)):
            try:
                check(lgt, folder)
                print(f"ok {name}")
            except (AssertionError, OSError, subprocess.SubprocessError) as error:
                failed = True
                print(f"FAIL {name}: {error}")
        full = os.path.join(folder, "full.png")
        os.symlink("/dev/full", full)
        for name, (call, words) in REFUSALS.items():
            why = refusal(lgt, call.replace("FULL", full), words)
            if why and "install gnuplot-nox" in why:
                print(f"skip {name}: gnuplot-nox is not installed")
                continue
            failed = failed or bool(why)
            print(f"FAIL {name}: {why}" if why else f"ok {name}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
