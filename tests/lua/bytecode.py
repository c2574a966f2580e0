"""Bytecode of lgt's own modules, on disk: the same as their source, however it has fared.

    tests/lua/bytecode.py --build build

In an installed copy, whose modules are then changed.  What scripts print, and the errors that they end with, must not depend on
what is on disk.
"""
import argparse
import glob
import os
import re
import subprocess
import tempfile

SCRIPT = """local np = require "array"
print(np.arange(4) * 2, debug.getinfo(np.linspace, "S").source)
print(pcall(np.zeros, "x"))
print(select(2, xpcall(function() return np.zeros(2):reshape(3) end, debug.traceback)))
np.ones(3)[{7}]:item()
"""


class Copy:
    def __init__(self, build, folder):
        self.folder, self.cache = folder, os.path.join(folder, "cache")
        subprocess.run(["meson", "install", "-C", build, "--no-rebuild", "--quiet"], check=True,
                       env=dict(os.environ, DESTDIR=folder), stdout=subprocess.DEVNULL)
        self.lgt = self.one("bin/lgt")
        self.script = os.path.join(folder, "script.lua")
        with open(self.script, "w") as file:
            file.write(SCRIPT)

    def one(self, name):
        found = glob.glob(os.path.join(glob.escape(self.folder), "**", name), recursive=True)
        assert len(found) == 1, (name, found)
        return found[0]

    def run(self, *options):
        r = subprocess.run([self.lgt, *options, self.script], capture_output=True, text=True, timeout=120,
                           env=dict(os.environ, XDG_CACHE_HOME=self.cache))
        address = re.compile(r"at 0x[0-9a-f]+")
        return r.returncode, address.sub("at", r.stdout), address.sub("at", r.stderr)

    def kept(self):
        return sorted(glob.glob(os.path.join(glob.escape(self.cache), "lgt", "*.luac")))


def damaged(copy, bytes_of):
    for path in copy.kept():
        with open(path, "rb") as file:
            whole = file.read()
        with open(path, "wb") as file:
            file.write(bytes_of(whole))


def test(copy):
    checks = []

    def check(what, good):
        checks.append(bool(good))
        if not good:
            print("FAIL", what)

    source = copy.run("--cache=0")
    check("the script fails where it should", source[0] == 1 and "script.lua:5:" in source[2] and "[0 2 4 6]" in source[1].replace("  ", " "))
    check("nothing is kept with --cache=0", not copy.kept())
    check("the first run does what the source does", copy.run() == source)
    kept = copy.kept()
    check("it keeps some modules", len(kept) > 8)
    times = [os.stat(path).st_mtime_ns for path in kept]
    check("the second run, too", copy.run() == source)
    check("and writes none again", copy.kept() == kept and [os.stat(path).st_mtime_ns for path in kept] == times)
    for what, bytes_of in (("cut", lambda whole: whole[:-9]), ("empty", lambda whole: b""),
                           ("changed", lambda whole: whole[:-9] + bytes(9)),
                           ("another one's", lambda whole: whole[:16] + bytes(16) + whole[32:])):
        damaged(copy, bytes_of)
        check(f"files that are {what} are not used", copy.run() == source)
        check("but written again", [os.stat(path).st_size for path in kept if os.stat(path).st_size < 100] == [])
    os.chmod(kept[0], 0o666)
    check("nor those that others may write", copy.run() == source)
    module = copy.one("array.lua")
    stat = os.stat(module)
    with open(module) as file:
        text = file.read()
    with open(module, "w") as file:
        file.write('print("changed")\n' + text)
    os.utime(module, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    check("a module that was changed is compiled", copy.run()[1].startswith("changed\n"))
    check("once", copy.run()[1].startswith("changed\n") and len(copy.kept()) == len(kept) + 1)
    with open(module, "w") as file:
        file.write("local x = = 1\n")
    code, _, error = copy.run()
    check("a module that is no Lua is named", code == 1 and "error loading module 'array' from file" in error and "array.lua:1:" in error)
    with open(module, "w") as file:
        file.write(text)
    check("the old source is the old module", copy.run() == source)
    return checks


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--build", required=True)
    build = parser.parse_args().build
    with tempfile.TemporaryDirectory(prefix="lgt-bytecode-") as folder:
        checks = test(Copy(build, folder))
    failed = checks.count(False)
    print(f"  {len(checks) - failed} passed, {failed} failed, 0 skipped")
    raise SystemExit(failed > 0)


main()
