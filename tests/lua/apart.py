#!/usr/bin/python3
"""The library of HDF5 runs apart: it may crash, hang or be killed, on one rank or on several, and the session goes on.

    tests/lua/apart.py --lgt build/lgt

Scripts wait for a line of input at some places; then their processes are looked at, or something is done to them.
"""
import argparse
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--lgt", default=os.environ.get("LGT", "build/lgt"))
LGT = os.path.abspath(parser.parse_args().lgt)
PATIENCE = 300  # seconds, for what hangs
folder = tempfile.mkdtemp(prefix="lgt-apart-")
failed = 0

PRELUDE = """
local np, lgt = require "array", require "lgt"
local function pause(what) print("pause " .. what) io.flush() io.read() end
local function try(f, ...)
  local ok, why = pcall(f, ...)
  print(ok, (tostring(why):gsub("^.-([^/]*%.lua:)%d+:", "%1")))
end
"""


def processes():
    """{pid: (parent, name, state)}"""
    found = {}
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8") as file:
                head, _, rest = file.read().rpartition(")")
        except (OSError, ValueError):
            continue
        if name.isdigit():
            found[int(name)] = (int(rest.split()[1]), head.partition("(")[2], rest.split()[0])
    return found


class Session:
    """A script that runs, and what it has said."""

    def __init__(self, text, *options):
        path = os.path.join(folder, "script.lua")
        with open(path, "w", encoding="utf-8") as file:
            file.write(PRELUDE + text)
        self.lines = []
        # Without a buffer: what one held when communicate() begins would be lost.
        self.process = subprocess.Popen([LGT, *options, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        bufsize=0)

    def below(self, name):
        """Processes of this name below it."""
        everything, mine = processes(), {self.process.pid}
        while True:
            more = {pid for pid, (parent, _, _) in everything.items() if parent in mine} - mine
            if not more:
                return [pid for pid in mine if everything.get(pid, (0, "", ""))[1] == name]
            mine |= more

    def apart(self):
        """Those that have a file; the helpers are their parents."""
        everything, all_apart = processes(), self.below("lgt-apart")
        return [pid for pid in all_apart if everything[pid][0] in all_apart]

    def until(self, place):
        for line in map(bytes.decode, self.process.stdout):
            if line.rstrip().endswith("pause " + place):
                return
            self.lines.append(line.rstrip("\n"))
        raise AssertionError(f"ended before {place}: {self.lines} {self.process.stderr.read()}")

    def go_on(self):
        self.process.stdin.write(b"\n")

    def until_polling(self, pid=None):
        """Until it waits for an answer; it is not known when system calls cannot be seen, then a moment must do."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                with open(f"/proc/{pid or self.process.pid}/syscall", encoding="utf-8") as file:
                    if file.read().split()[0] == "7":
                        return
            except OSError:
                return time.sleep(1)
            time.sleep(0.01)
        raise AssertionError("it does not wait")

    def end(self):
        out, err = map(bytes.decode, self.process.communicate(timeout=PATIENCE))
        assert self.process.returncode == 0 and not err, (self.process.returncode, err, out)
        return self.lines + out.splitlines()

    def open_things(self):
        """Descriptors of sockets, of shared memory and of HDF5 files (others come and go: what a thread loads, say);
        memory shared with others."""
        count, mine = 0, re.compile(r"socket:|/memfd:lgt-apart|.*\.h5$")
        for name in os.listdir(f"/proc/{self.process.pid}/fd"):
            with contextlib.suppress(FileNotFoundError):
                count += bool(mine.match(os.readlink(f"/proc/{self.process.pid}/fd/{name}")))
        with open(f"/proc/{self.process.pid}/maps", encoding="utf-8") as file:
            return count, file.read().count("lgt-apart")


def case(function):
    global failed
    name = function.__doc__.rstrip(".")
    try:
        function()
        print(f"ok {name}", flush=True)
    except (AssertionError, OSError, subprocess.SubprocessError) as error:
        failed += 1
        print(f"FAIL {name}: {type(error).__name__}: {error}", flush=True)


def made(name, text):
    """A file that lgt has written."""
    path = os.path.join(folder, name)
    session = Session(f"local file = np.hdf5('{path}', 'w') {text}")
    session.end()
    return path


WHOLE = made("whole.h5", "file:write('x', np.arange(4)) file:write('packed', np.arange(50), {chunks = {20}}) file:close()")


def expect(lines, *wanted):
    assert lines == list(wanted), f"{lines}, not {list(wanted)}"


def damaged(call, what, how):
    return f"false\tscript.lua: hdf5 {call}: {what} is damaged: the library of HDF5 {how}"


KILLED = f"{WHOLE}: packed: the process that had it open was killed: is there enough memory?"


def until_gone(pids):
    """These processes of lgt-apart; nobody may have heard of their ends."""
    end = time.monotonic() + PATIENCE
    while any(name == "lgt-apart" and state != "Z" for _, name, state in (processes().get(pid, (0, "", "")) for pid in pids)):
        assert time.monotonic() < end, "they are still there"
        time.sleep(0.02)


@case
def crash():
    """A crash is an error at the line that read, and all goes on."""
    session = Session(f"""
local function look(file) return np.sum(file:read("packed")):item() end
local file, other = np.hdf5("{WHOLE}"), np.hdf5("{WHOLE}")
other:close()
pause "before"
try(look, file)
pause "open"
try(look, file)
try(look, file)
pause "again"
file:list()
file:close()
pause "closed"
print(np.arange(3))
""")
    session.until("before")
    assert len(session.apart()) == 1, session.apart()
    session.go_on()
    session.until("open")
    things = session.open_things()
    for pid in session.apart():
        os.kill(pid, signal.SIGSEGV)
    session.go_on()
    session.until("again")
    assert session.open_things() == things, (things, session.open_things())
    session.go_on()
    session.until("closed")
    assert not session.apart(), "a process is left"
    assert session.open_things() == (things[0] - 3, 0), (things, session.open_things())
    session.go_on()
    expect(session.end(), "true\t1225", damaged("read", f"{WHOLE}: packed", "failed on it (signal 11)"), "true\t1225", "[0 1 2]")


def patched(name, offset, value):
    """A file whose global heap has another byte there."""
    path = made(name, "file:attribute('/', 'unit', 'km') file:attribute('/', 'n', 5) file:close()")
    with open(path, "r+b") as file:
        at = file.read().index(b"GCOL")
        file.seek(at + offset)
        file.write(bytes([value]))
    return path


@case
def hostile():
    """Damaged files on which the library crashes, or goes in circles."""
    for path, how in ((patched("crash.h5", 31, 0xf4), "failed on it .signal 11."),
                      (patched("circles.h5", 48, 0x4a), "came to no end in 1 s of processor time")):
        lines = Session(f"""
local function unit(file) local text = file:attribute("/", "unit") return text end
local file = np.hdf5("{path}", "r", {{seconds = 1}})
try(unit, file)
print(file:attribute("/", "n"))
file:close()
local changed = np.hdf5("{path}", "a", {{seconds = 1}})
try(unit, changed)
try(unit, changed)
""").end()
        where = f"script.lua: hdf5 attribute: {path}"
        if not re.fullmatch(re.escape(f"false\t{where}: / is damaged: the library of HDF5 ") + how, lines[0]):
            assert lines[0].startswith(f"false\t{where}: /: "), lines
            print(f"skip {path}: this library of HDF5 refuses it")
            continue
        expect(lines, lines[0], "5", lines[0], f"false\t{where} is closed")


@case
def hang():
    """Ctrl-C ends a call that does not come back."""
    session = Session(f"""
local file = np.hdf5("{WHOLE}")
pause "open"
try(function()
  print "pause calling"
  io.flush()
  file:list()
end)
print(np.sum(file:read("x")):item())
""")
    session.until("open")
    for pid in session.apart():
        os.kill(pid, signal.SIGSTOP)
    session.go_on()
    session.until("calling")
    session.until_polling()
    os.kill(session.process.pid, signal.SIGINT)
    lines = session.end()
    assert lines[0].startswith("false") and lines[0].endswith("interrupted!") and lines[1:] == ["6"], lines


@case
def several():
    """What a process of one rank comes to is an error on all."""
    session = Session(f"""
local function read(file, name) local a = file:read(name) return np.sum(a):item() end
local file = np.hdf5("{WHOLE}")
for _, name in ipairs {{ "packed", "x" }} do
  try(read, file, name)
  pause(name)
  try(read, file, name)
  try(read, file, name)
end
pause "last"
try(read, file, "packed")
""", "-n", "3", "--all-output")
    rank_0 = None
    session.until("packed")
    assert len(session.apart()) == 3, session.apart()
    everything = processes()
    ranks = sorted(everything[everything[pid][0]][0] for pid in session.apart())  # begun in this order
    for pid in session.apart():
        if everything[everything[pid][0]][0] == ranks[1]:
            os.kill(pid, signal.SIGABRT)
        elif everything[everything[pid][0]][0] == ranks[0]:
            rank_0 = pid
    session.go_on()
    session.until("x")
    os.kill(rank_0, signal.SIGBUS)
    session.go_on()
    session.until("last")
    for pid in session.apart():
        os.kill(pid, signal.SIGKILL)
    session.go_on()
    lines = session.end()
    for rank in range(3):
        mine = [line[4:] for line in lines if line.startswith(f"[{rank}] ") and "pause" not in line]
        expect(mine, "true\t1225", damaged("read", f"{WHOLE}: packed", "failed on it (signal 6) (on rank 1)"), "true\t1225",
               "true\t6", damaged("read", f"{WHOLE}: x", "failed on it (signal 7)"), "true\t6",
               f"false\tscript.lua: hdf5 read: {KILLED}")


@case
def gone():
    """Without lgt there are no processes of it."""
    session = Session(f"local file = np.hdf5('{WHOLE}') pause 'open'")
    session.until("open")
    pids = session.below("lgt-apart")
    assert len(pids) == 2, pids
    session.process.kill()
    session.process.wait()
    until_gone(pids)


@case
def helper():
    """A helper that somebody has killed is begun again."""
    session = Session(f"""
local function read(file) local a = file:read("packed") return np.sum(a):item() end
local file = np.hdf5("{WHOLE}")
pause "open"
try(read, file)
try(read, file)
try(read, np.hdf5("{WHOLE}"))
""")
    session.until("open")
    helpers = set(session.below("lgt-apart")) - set(session.apart())
    pids = session.below("lgt-apart")
    for pid in helpers:
        os.kill(pid, signal.SIGKILL)
    until_gone(pids)
    session.go_on()
    expect(session.end(), "false\tscript.lua: hdf5 read: " + KILLED, "true\t1225", "true\t1225")


@case
def many():
    """Of many open files few have a process, and all can be read."""
    session = Session(f"""
local files = {{}}
for i = 1, 40 do files[i] = np.hdf5("{WHOLE}") end
pause "open"
for i = 1, 40 do assert(np.sum(files[i]:read("packed")):item() == 1225) end
""")
    session.until("open")
    assert len(session.apart()) == 16, len(session.apart())
    session.go_on()
    session.end()


@case
def unclosed():
    """What was written is in a file that nobody has closed, however the script ends."""
    for end in ("", "os.exit(0)", "file = nil collectgarbage()", "pause 'killed'"):
        path = os.path.join(folder, "unclosed.h5")
        session = Session(f"""
local file = np.hdf5("{path}", "w")
file:write("x", np.arange(5), {{compression = 1}})
file:attribute("x", "unit", "m")
{end}
""")
        if "killed" in end:
            session.until("killed")
            session.process.kill()
            session.process.communicate()
        else:
            session.end()
        lines = Session(f"""
local file = np.hdf5("{path}", "r+")
print(np.sum(file:read("x")):item(), file:attribute("x", "unit"))
""").end()
        assert lines == ["10\tm"], (end, lines)


@case
def lost():
    """A new file whose process is lost is opened again, not made again."""
    path = os.path.join(folder, "lost.h5")
    lines = Session(f"""
local file = np.hdf5("{path}", "w")
file:write("x", np.arange(4))
require("array.io.apart").close(file.child)
file.child = nil
print(np.sum(file:read("x")):item())
""").end()
    expect(lines, "6")


BOXES = [("plain", None), ("rows", (60, 3001)), ("blocks", (64, 1000)), ("columns", (700, 7)), ("one", (700, 3001)), ("swapped", None)]
PARTS = [("nil", "..."), ("'5:650:3, 10:2900'", "4:650:3, 9:2900"), ("'7:699, 8:3000'", "6:699, 7:3000"), ("'7, ...'", "6"), ("':, 7'", ":, 6"),
         ("'::2, ::2'", "::2, ::2")]


@case
def locked():
    """A file that is written is closed by the collector, or by hand, before it is opened again."""
    path = os.path.join(folder, "locked.h5")
    lines = Session(f"""
np.hdf5("{path}", "w"):write("x", np.arange(4))
local file = np.hdf5("{path}", "a")
print(np.sum(file:read("x")):item())
try(np.hdf5, "{path}")
file:close()
print(np.sum(np.hdf5("{path}"):read("x")):item())
""").end()
    expect(lines, "6", f"false\tscript.lua: hdf5: {path} is open elsewhere, and one of both writes it: close() it there first", "6")


@case
def hang_on_ranks():
    """Ctrl-C ends a call of one rank that does not come back, on all."""
    session = Session(f"""
local file = np.hdf5("{WHOLE}")
pause "calling"
file:list()
""", "-n", "3")
    session.until("calling")
    assert len(session.apart()) == 1
    rank_0 = processes()[processes()[session.apart()[0]][0]][0]
    os.kill(session.apart()[0], signal.SIGSTOP)
    session.go_on()
    session.until_polling(rank_0)
    pids = session.below("lgt-apart")
    end = time.monotonic() + PATIENCE
    while session.process.poll() is None:  # where some ranks come to the call only now it must be pressed again
        assert time.monotonic() < end, "it does not end"
        with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
            os.kill(rank_0, signal.SIGINT)
            session.process.wait(10)
    assert session.process.returncode, "it went on"
    until_gone(pids)


@case
def boxes():
    """What is more than goes through the window at a time."""
    try:
        import h5py
    except ImportError:
        return print("skip boxes: python3-h5py is not installed")
    x, path, target = np.random.default_rng(1).normal(size=(700, 3001)), os.path.join(folder, "large.h5"), os.path.join(folder, "out")
    with h5py.File(path, "w") as file:
        for name, chunks in BOXES:
            file.create_dataset(name, data=x.astype(">f8") if name == "swapped" else x, chunks=chunks)
    lines = [f"local file = np.hdf5('{path}')"]
    for name, _ in BOXES:
        for i, (lua, _) in enumerate(PARTS):
            lines.append(f"np.save('{target}-{name}-{i}.npy', file:read('{name}', {lua}))")
    lines += [f"local x, copy = file:read('plain'), np.hdf5('{target}.h5', 'w')"]
    for name, chunks in BOXES[:-1]:
        options = f", {{chunks = {{{chunks[0]}, {chunks[1]}}}}}" if chunks else ""
        lines += [f"copy:write('{name}', x{options})", f"copy:update('{name}', '2:600, 3:2999', x['101:699, 1:2997'])"]
    session = Session("\n".join(lines + ["copy:close()"]))
    session.end()
    for name, _ in BOXES:
        for i, (_, part) in enumerate(PARTS):
            assert np.array_equal(np.load(f"{target}-{name}-{i}.npy"), eval(f"x[{part}]", {"x": x})), (name, part)
    changed = x.copy()
    changed[1:600, 2:2999] = x[100:699, :2997]
    with h5py.File(target + ".h5") as file:
        for name, _ in BOXES[:-1]:
            assert np.array_equal(file[name][()], changed), name
    return None


shutil.rmtree(folder)
sys.exit(failed != 0)
