#!/usr/bin/python3
"""The prompt, driven through a pseudo-terminal as a person would, each wait bounded in time.

    tests/lua/prompt.py --lgt build/lgt
"""
import argparse
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import sys
import tempfile
import termios
import time
import traceback

PATIENCE = 300  # seconds for an answer, for what hangs: machines are slow and busy
INTERRUPT, END, TAB, UP, SEARCH = "\x03", "\x04", "\t", "\x1b[A", "\x12"
SEQUENCES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\r|\x07")


class Session:
    """lgt on a terminal of its own."""

    def __init__(self, lgt, home, *arguments, env=None):
        variables = {k: v for k, v in os.environ.items() if not k.startswith("LUA_")}
        variables.update(HOME=home, TERM="xterm", LC_ALL="C.UTF-8", XDG_STATE_HOME=os.path.join(home, "state"))
        variables.update(env or {})
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))  # a line is not broken
            os.chdir(home)
            os.execve(lgt, [lgt, *arguments], variables)
        self.seen = ""
        self.status = None
        self.count = 0  # of lines that were run

    def read(self, seconds):
        """More of what lgt wrote; False if there was nothing."""
        if not select.select([self.terminal], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.terminal, 65536)
        except OSError:  # the other end is closed
            return False
        self.seen += SEQUENCES.sub("", data.decode("utf-8", "replace"))
        return bool(data)

    def expect(self, text, seconds=PATIENCE):
        """Waits until `text` was written, and returns what came before it."""
        end = time.monotonic() + seconds
        while text not in self.seen:
            left = end - time.monotonic()
            if left <= 0 or not self.read(left):
                raise AssertionError(f"no {text!r} in {seconds} s, but {self.seen[-600:]!r}")
        before, self.seen = self.seen.split(text, 1)
        return before

    def expect_one(self, *texts):
        """Waits until one of the texts was written; which."""
        end = time.monotonic() + PATIENCE
        while not any(text in self.seen for text in texts):
            left = end - time.monotonic()
            if left <= 0 or not self.read(left):
                raise AssertionError(f"none of {texts} in {PATIENCE} s, but {self.seen[-600:]!r}")
        first = min((text for text in texts if text in self.seen), key=self.seen.index)
        self.expect(first)
        return first

    def send(self, text):
        os.write(self.terminal, text.encode())

    def type(self, line, answer="", prompt="> "):
        """A line, what must come back after its echo, and the next prompt; returns what came before the answer."""
        self.send(line + "\n")
        self.expect(line.split("\n")[-1])
        before = self.expect(answer) if answer else ""
        self.expect(prompt)
        return before

    def alive(self):
        """It answers: the prompt is usable."""
        self.type("'still ' .. 'here'", "still here")

    def alive_in_the_end(self):
        """As alive, after several Ctrl-C: the last may come after the line, and drop it."""
        for patience in [2] * 20 + [PATIENCE]:
            self.send("'still ' .. 'here'\n")
            try:
                self.expect("still here\n", patience)
                return self.alive()
            except AssertionError:
                if patience == PATIENCE:
                    raise

    def runs(self, line):
        """Types a line and returns when it runs: from then on Ctrl-C is for the program, not for the line."""
        self.count += 1
        self.send(f"print('loop' .. {self.count}) {line}\n")
        self.expect(f"loop{self.count}\n")

    def stops(self, line, presses=1, delay=0.3):
        """Ctrl-C ends what the line runs, after some time in it."""
        self.runs(line)
        time.sleep(delay)
        self.send(INTERRUPT * presses)
        self.expect("interrupted")
        self.expect("> ")
        if presses == 1:
            self.alive()
        else:
            self.alive_in_the_end()

    def close(self, seconds=PATIENCE):
        """Ctrl-D; the exit status."""
        self.send(END)
        return self.wait(seconds)

    def wait(self, seconds=PATIENCE):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.read(0.02)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = status
                return os.waitstatus_to_exitcode(status)
        raise AssertionError(f"it did not end in {seconds} s: {self.seen[-300:]!r}")

    def kill(self):
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.terminal)


def expressions(start):
    s = start()
    s.type("1 + 1", "2")
    s.type("_ * 21", "42")
    s.type("_ + __", "44")
    s.type("x = 7")
    s.type("x, 'text', nil", "7\ttext\tnil")
    s.type("{1, 'two', {three = 3}}", '{1, "two", {three = 3}}')
    s.type("=x", "7")
    s.type("local hidden = 5")
    s.type("hidden + 1", "6")
    s.type("local function twice(n) return 2 * n end")
    s.type("twice(hidden)", "10")
    assert s.close() == 0


def statements_and_expressions(start):
    """What an expression behind statements gives is shown."""
    s = start()
    s.type("x = 'abc'; x", "abc")
    s.type('y = "d;e" ; x .. y -- ;', "abcd;e")
    s.type("local t = {1}; t[2] = 5; #t, t[2]", "2\t5")
    s.type("local a = 2; local b = a + 1; a * b;", prompt="> ")
    s.type("a, b", "2\t3")
    s.type("x = 'q'; x:upper()", "Q")
    s.type("f = function() return 1; end; f()", "1")
    s.type("x = 'q'; 'lone ' .. \"string\"", "lone string")
    s.type("_", "lone string")
    s.type("for i = 1, 2 do z = i; end; z", "2")
    s.type("x = 1; y =", prompt=">> ")
    s.type("2")
    s.type("y", "2")
    s.type("x = 1; print(x)", "1\n")
    s.type("local one = 1 return one", "1")
    s.type("one", "1")
    s.type("'a'; 'b'", "unexpected symbol")
    s.alive()
    assert s.close() == 0


def arrays(start):
    s = start()
    s.type("np.arange(5) * 2", "[0 2 4 6 8]")
    s.type("a = np.zeros(1000, 1000)")
    shown = s.type("a", "...")
    assert len(shown) < 2000, "it is printed in full"
    s.type("m = np.ones({2, 3}, {dtype = 'float32'})")
    s.type("n = 12.5")
    table = s.type("who()", "12.5")
    rows = {line.split()[0]: line.split()[1:] for line in table.splitlines() if line.strip()}
    assert rows["a"] == ["array", "(1000,", "1000)", "float64", "7.6", "MiB"], rows
    assert rows["m"] == ["array", "(2,", "3)", "float32", "24", "B"], rows
    s.type("timeit('np.sum(a)')", " a call")
    s.type("timeit(function() return 1 end)", " a call")
    s.close()


def absent(start):
    """What np does not have is nil, and the person is told what there is."""
    on_ranks = start("-n", "2")
    on_ranks.type("np.linalg.slove", "nil -- did you mean np.linalg.solve?")
    on_ranks.alive()
    on_ranks.close()
    s = start()
    s.type("np.mgrid", "nil -- write np.indices(shape)")
    s.type("np.linalg.slove", "nil -- did you mean np.linalg.solve?")
    s.type("np.nothing_of_the_kind", "nil\n")
    s.type("t = {mgrid_ = 1}")
    s.type("t.mgrid", "nil\n")
    s.close()


def slips(start):
    """What Python would read is told how it is written in Lua, at once: no further line would complete it."""
    s = start()
    s.type("a[1:2]", "slices are strings")
    s.type("for i in range(3): print(i)", "for i = 1, n do")
    s.type("if a:", "if c then")
    s.type("quit", "Ctrl-D")
    s.type("np.ones(3)", "[1. 1. 1.]")
    s.type("len(_)", "write #x")
    s.alive()
    s.type("t = {f = function() return 3 end}")
    s.type("t:", prompt=">> ")
    s.type("f()", "3")
    s.type("print('abc", "unfinished string")
    s.type("t = 'abc\\", prompt=">> ")
    s.type("def'")
    s.type("#t", "7")
    s.type("t = [[abc", prompt=">> ")
    s.type("]]")
    s.type("#t", "4")
    for first, rest in (("for i, x in ipairs{1, 2} do print(tostring(x):rep(2))", "end print('done', 1)"),
                        ("while true do ::again::", "break end print('done', 1)"),
                        ("if true then goto e ::e::", "end print('done', 1)")):
        s.type(first, prompt=">> ")
        s.type(rest, "done\t1")
    s.close()


def many_lines(start):
    s = start()
    s.type("for i = 1, 3 do", prompt=">> ")
    s.type("io.write('line ', i * 11, ';')", prompt=">> ")
    s.type("end", "line 11;line 22;line 33;")
    s.type("f = function(x)", prompt=">> ")
    s.send(INTERRUPT)  # gives the input up
    s.expect("> ")
    s.alive()
    s.type("for i = 1, 3 do", prompt=">> ")
    s.send(END)  # so does this
    s.expect("\n> ")
    s.alive()
    s.type("t = {", prompt=">> ")
    s.type("1,", prompt=">> ")
    s.type("2}")
    s.type("#t", "2")
    s.close()


def completion(start):
    s = start()
    s.send("np.lins" + TAB)
    s.expect("np.linspace")
    s.send("(0, 1, 3)\n")
    s.expect("[0.  0.5 1. ]")
    s.expect("> ")
    s.send("np.random.uni" + TAB + "(0, 1, 2):dims()\n")
    s.expect("np.random.uniform")
    s.expect("2\n")
    s.expect("> ")
    s.type("long_variable_name = np.ones(4)")
    s.send("long_v" + TAB + ":resh" + TAB + "(2, 2).sha" + TAB)
    s.expect("long_variable_name:reshape(2, 2).shape")
    s.send("\n")
    s.expect("{2, 2}")
    s.expect("> ")
    for begun, ended, answer in (
            ("np.zeros(3):res" + TAB + "(1, 3)", "np.zeros(3):reshape(1, 3)", "[[0. 0. 0.]]"),
            ("(long_v" + TAB + " * 2):cumpr" + TAB + "()", "(long_variable_name * 2):cumprod()", "[ 2.  4.  8. 16.]"),
            ("long_variable_name[{ {1, 2} }]:nbyt" + TAB + "('x')", ":nbyt('x')", "nbyt"),  # no method
            ("long_variable_name['2:3']:sum():ite" + TAB + "()", ":sum():item()", "2"),
            ("os.time():su" + TAB + "()", "os.time():su()", "index a number value")):
        s.send(begun)
        s.expect(ended)
        s.send("\n")
        s.expect(answer)
        s.expect("> ")
    s.type("io.open('a long name.txt', 'w'):write('what is in it'):close()")
    s.send("io.open('a lo" + TAB)
    s.expect("'a long name.txt")
    s.send("'):read()\n")
    s.expect("what is in it")
    s.expect("> ")
    s.send("io.open('./a lon" + TAB + "', 'r'):read(4)\n")
    s.expect("what")
    s.expect("> ")
    s.send("lgt.sta" + TAB + TAB)
    s.expect("stats_reset")
    s.send(INTERRUPT)
    s.expect("^C")
    s.expect("> ")
    s.send("string.for" + TAB + "('%05d', 42)\n")
    s.expect("00042")
    s.expect("> ")
    s.alive()
    s.close()


def helping(start):
    s = start()
    s.type("?np.full", "array/make/create.lua")
    s.type("help(np.reshape)", "np.reshape")
    s.type("help", "?name")
    s.type("?np.exp", "elementwise")
    s.type("?solvers.gmres", "generalised minimal residual")
    s.type("v = np.arange(3)")
    s.type("?v", "int64")
    s.type("?lgt.stats", "counters")
    s.type("?ravel", "ravel")
    s.type("?no_such_name", "there is no no_such_name")
    s.type("np.full?", "array/make/create.lua")
    s.type("?np.zeross", "did you mean np.zeros?")
    s.type("?np.linalg", "cholesky cond det")
    s.type("?array", "NumPy for Lua")
    s.type("?v:sum", "The sum over axes")
    s.type("?a", "ask for a longer part")
    s.type("?", "explains")
    s.close()


def errors(start):
    s = start()
    s.type("error('deliberate')", "stdin:1: deliberate")
    s.alive()
    s.type("function deep(n) if n == 0 then error('at the end') end return 1 + deep(n - 1) end")
    shown = s.type("deep(3)", "in main chunk")
    assert shown.count("in function 'deep'") == 4, shown
    s.type("x = = 1", "unexpected symbol")
    s.alive()
    s.send("np.zeros(3) + np.zeros(4)\n")
    s.expect("np.zeros(4)")
    s.expect("shapes (3) and (4)")
    assert "/" not in s.expect("> "), "frames of the library are shown"
    s.alive()
    s.type("error({})", "not a string")
    s.alive()
    s.type("setmetatable({}, {__tostring = function() error('no text') end})", "no text")
    s.alive()
    s.send("os.exit(3, true)\n")
    assert s.wait() == 3


def interruption(start):
    s = start(env={"LGT_CPUS": "2"})
    s.stops("while true do end")
    s.stops("for i = 1, 1e15 do local x = i * i end")
    s.stops("repeat until false", presses=3)
    for turn in range(5):
        s.stops("while true do pcall(function() for i = 1, 10 do end end) end", delay=turn * 0.02)
    s.type("function spin() while true do end end")
    s.stops("spin()")
    s.stops("coroutine.wrap(spin)()")
    with open(os.path.join(s.home, "spin.lua"), "w") as file:
        file.write("local n = 0\nwhile true do n = n + 1 end\n")
    s.stops("dofile('spin.lua')")
    s.stops("while true do pcall(function() while true do end end) end")
    s.runs("for i = 1, 1e15 do local x = np.ones(10) * i end")
    time.sleep(0.3)
    s.send(INTERRUPT)
    s.expect("stdin:1: interrupted!")
    s.expect("> ")
    s.alive()
    s.stops("timeit('spin()')")
    s.send("half a li")
    s.send(INTERRUPT)
    s.expect("> ")
    s.alive()
    s.send(INTERRUPT + INTERRUPT + INTERRUPT)
    s.expect("> ")
    s.alive_in_the_end()
    assert s.close() == 0


def interrupted_waits(start):
    """Waits for the runtime, for tasks that take seconds."""
    s = start(env={"LGT_CPUS": "2"})
    s.type("function polynomial(x) for i = 1, 300 do x = x * x * 0.5 + 0.1 end return x end")
    s.type("f = np.fuse(polynomial)")

    def stops(wait):
        s.runs(wait + " print 'ended'")
        time.sleep(0.02)
        s.send(INTERRUPT)
        found = s.expect_one("interrupted", "ended\n")
        s.expect("> ")
        if found == "interrupted":
            s.alive()
        else:
            s.alive_in_the_end()  # Ctrl-C is for this line
        return found == "interrupted"

    for turns in (1, 10, 100):  # as many as it takes for them not to end too soon
        s.type("long = np.full({20000000}, 0.3)")
        s.type(f"for i = 1, {turns} do long = f(long) end")
        if stops("local first = long[1]:item()") and stops("lgt.fence()"):
            break
    else:
        raise AssertionError("waits are not interrupted")
    s.type("lgt.fence()")  # what was waited for goes on
    s.type("long[1]:item() > 0", "true")
    assert s.close() == 0


def script_before(start):
    s = start("-i", "-e", "function loop() for i = 1, 1e15 do end end for i = 1, 100 do end given = 3")
    s.type("given", "3")
    s.stops("loop()")
    s.close()


def variables_of_a_script(start):
    """The local variables of a script are there at the prompt, whether -i or dofile ran it."""
    s = start()  # for the folder
    s.type("np = 3")
    with open(os.path.join(s.home, "script.lua"), "w") as file:
        file.write("#!/usr/bin/lgt\nlocal np = require 'array'\nlocal a, n = np.arange(3), ...\nlocal table = 7\n"
                   "local function twice(x) return 2 * x end\nfor i = 1, 2 do local inner = i end\nlocal n = n or 'none'\n"
                   "local last = \"it\" -- the end")
    with open(os.path.join(s.home, "module.lua"), "w") as file:
        file.write("local M = {n = 5}\nfunction M.f() return function() return M.n end end\nreturn M, 'two' -- return")
    s.type("dofile('script.lua')")
    s.type("twice(a)", "[0 2 4]")
    s.type("n, last, inner", "none\tit\tnil")
    s.type("table.concat({1, 2}, '+')", "1+2")
    s.type("dofile('module.lua')", "two")
    s.type("M.f()()", "5")
    s.type("dofile('nowhere.lua')", "cannot open nowhere.lua")
    assert s.close() == 0
    for arguments in (), ("-n", "2"):
        s = start(*arguments, "-i", "script.lua", "given")
        s.type("twice(a)", "[0 2 4]")
        s.type("n", "given")
        s.type("who()", "twice")
        s.type("dofile('module.lua').n", "5")
        s.type("M.n", "5")
        assert s.close() == 0
    s = start("-i", "module.lua")
    s.type("M.n", "5")
    assert s.close() == 0


def history(start):
    s = start()
    s.type("first = 111")
    s.type("second = 222")
    s.send(UP + UP + "\n")
    s.expect("first = 111")
    s.expect("> ")
    s.send("os.exit(0, true)\n")  # no way around the history
    assert s.wait() == 0
    s = start()
    s.send(SEARCH + "seco" + "\n")
    s.expect("second = 222")
    s.expect("> ")
    s.type("second", "222")
    s.close()


def without_editor(start):
    s = start(env={"TERM": "dumb"})
    s.type("6 * 7", "42")
    s.stops("while true do end")
    s.send(INTERRUPT)
    s.expect("> ")
    s.alive()
    assert s.close() == 0


def half_a_line(start):
    for terminal in ("xterm", "dumb"):
        s = start(env={"TERM": terminal})
        s.type("'ready'", "ready")
        for i in range(40):  # neither the answer to Ctrl-C nor the line after it is lost
            s.send("half a li")
            s.send(INTERRUPT)
            s.expect("^C")
            s.expect("> ")
            s.type(f"'turn' .. {i}", f"turn{i}")
        s.send("os.exit(4)\n")
        assert s.wait() == 4
        assert not termios.tcgetattr(s.terminal)[3] & termios.NOFLSH  # the terminal is as it was


def pressed_at_once(start):
    """Ctrl-C right behind the line is for the line, for the program that it begins, or for the next line, and is not lost."""
    s = start()
    for turn in range(40):
        s.send("while true do end\n")
        time.sleep(turn * 0.0002)
        s.send(INTERRUPT)
        s.alive_in_the_end()
    assert s.close() == 0


ODD = "package.loaded['lgt.ranks'].rank == 2"


def on_ranks(start):
    s = start("-n", "3")
    s.type("40 + 2", "42")
    s.type("x = 'abc'")
    s.type("x .. x, #x", "abcabc\t3")
    s.type("for i = 1, 2 do", prompt=">> ")
    s.type("io.write('turn ', i, ';')", prompt=">> ")
    s.type("end", "turn 1;turn 2;")
    s.type("a = np.arange(3) * 2")
    s.type("a", "[0 2 4]")
    s.type("os.time() > 0, math.random() == math.random()", "true\tfalse")
    s.type("error('deliberate')", "stdin:1: deliberate")
    s.type("x = = 1", "unexpected symbol")
    s.type("setmetatable({}, {__tostring = function() error('no text') end})", "no text")
    s.type(f"if {ODD} then error('odd') end", "rank 2: stdin:1: odd")
    s.type("?np.full", "array/make/create.lua")
    s.type("who()", "array")
    s.type("timeit('1 + 1')", " a call")
    s.type("for i in lgt.progress(3) do os.time() end", "100% 3/3")
    s.type("f = function(x)", prompt=">> ")
    s.send(INTERRUPT)
    s.expect("> ")
    s.send("half a li")
    s.send(INTERRUPT)
    s.expect("> ")
    s.alive()
    assert s.close() == 0


def on_ranks_completion(start):
    s = start("-n", "2")
    s.send("np.lins" + TAB)
    s.expect("np.linspace")
    s.send("(0, 1, 3)\n")
    s.expect("[0.  0.5 1. ]")
    s.expect("> ")
    s.send(UP + "\n")
    s.expect("[0.  0.5 1. ]")
    s.expect("> ")
    s.alive()
    assert s.close() == 0


def on_ranks_interruption(start):
    s = start("-n", "3")
    s.type("n = 0")
    s.type("function same(x) assert(package.loaded['lgt.ranks'].shared('x', function() return x end)() == x) end")
    for _ in range(3):
        s.stops("while true do end")
        s.stops("while true do os.time() n = n + 1 end")  # all ranks stop at the same turn
        s.type("same(n)")
        s.type("n > 0", "true")
    s.stops("for i = 1, 1e15 do local x = i * i end")
    s.stops("repeat until false", presses=3)
    for turn in range(5):
        s.stops("while true do pcall(function() for i = 1, 10 do end end) end", delay=turn * 0.02)
    s.stops("while true do local t = os.clock() end", delay=0)
    s.type("a = np.zeros(100000)")
    for _ in range(2):
        s.stops("while true do a = a + 1 end")
        s.type("np.sum(a):item() > 0", "true")
        s.stops("while true do a = a + 1 if np.sum(a) < 0 then print(1) end end")
        s.type("same(np.sum(a):item())")
    s.send(INTERRUPT + INTERRUPT)
    s.expect("> ")
    s.alive_in_the_end()
    assert s.close() == 0


def on_ranks_ends(start):
    s = start("-n", "3")
    s.send(f"if {ODD} then os.clock() end\n")
    s.expect("do not run the same program")
    assert s.wait() == 1
    s = start("-n", "3")
    s.send("os.exit(3)\n")
    assert s.wait() == 3
    s = start("-n", "3", env={"TERM": "dumb"})
    s.type("6 * 7", "42")
    s.stops("while true do end")
    assert s.close() == 0
    s = start("-n", "2", "-i", "-e", "given = 3")
    s.type("given", "3")
    assert s.close() == 0


def on_ranks_faults(start):
    """A rank dies or is stopped while the prompt waits: all end, and the terminal is as it was."""
    for rank in (0, 2):
        for number, message, status in ((signal.SIGKILL, "was killed by signal 9", 137), (signal.SIGSTOP, "has given no sign of life", 1)):
            s = start("-n", "3", "--heartbeat=3")
            s.type("np.arange(10):sum()", "45")
            with open(f"/proc/{s.pid}/task/{s.pid}/children", encoding="ascii") as file:
                children = sorted(int(word) for word in file.read().split())
            os.kill(children[rank], number)
            s.expect(f"lgt: rank {rank} on ")
            s.expect(message)
            assert s.wait() == status
            modes = termios.tcgetattr(s.terminal)[3]
            assert modes & termios.ECHO and modes & termios.ICANON, "the terminal is not as it was"
            assert not [pid for pid in children if os.path.exists(f"/proc/{pid}")], "processes are left"


def on_ranks_without_prompt(start):
    """A script that fails leaves the terminal as others have set it meanwhile."""
    s = start("-n", "2", "-e", "print('> ready') io.read() error('failed')")
    s.expect("ready")
    modes = termios.tcgetattr(s.terminal)
    modes[3] &= ~(termios.ECHO | termios.ICANON)
    termios.tcsetattr(s.terminal, termios.TCSANOW, modes)
    s.send("\n")
    s.expect("failed")
    assert s.wait() == 1
    assert not termios.tcgetattr(s.terminal)[3] & (termios.ECHO | termios.ICANON), "the terminal was set back"


def main():
    parser = argparse.ArgumentParser(description="Tests the prompt through a terminal.")
    parser.add_argument("--lgt", default="build/lgt")
    parser.add_argument("-k", default="", help="only cases whose name contains this")
    args = parser.parse_args()
    lgt = os.path.abspath(args.lgt)
    editor = os.path.exists(os.path.join(os.path.dirname(lgt), "liblgt-edit.so"))
    failed = 0
    for case in (expressions, statements_and_expressions, arrays, absent, slips, many_lines, completion, helping, errors,
                 interruption, interrupted_waits, script_before, variables_of_a_script, history, without_editor, half_a_line,
                 pressed_at_once, on_ranks, on_ranks_completion, on_ranks_interruption, on_ranks_ends,
                 on_ranks_faults, on_ranks_without_prompt):
        if args.k not in case.__name__:
            continue
        if case in (completion, history, on_ranks_completion) and not editor:
            print(f"skip {case.__name__}: lgt was built without a line editor")
            continue
        home = tempfile.mkdtemp(prefix="lgt-prompt-")
        sessions = []

        def start(*arguments, env=None):
            session = Session(lgt, home, *arguments, env=env)
            session.home = home
            sessions.append(session)
            session.expect("> ")
            return session

        try:
            case(start)
            print(f"ok {case.__name__}")
        except Exception as error:  # a bad wait, a closed terminal: report and go on
            failed += 1
            where = traceback.extract_tb(error.__traceback__)
            lines = [str(f.lineno) for f in where if f.name == case.__name__]
            print(f"FAIL {case.__name__}: line {', '.join(lines)}: {error or type(error).__name__}")
        finally:
            for session in sessions:
                session.kill()
            shutil.rmtree(home, ignore_errors=True)
        sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
