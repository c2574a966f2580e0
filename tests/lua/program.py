#!/usr/bin/python3
"""`lgt` runs scripts as `luajit` does: both run the same command lines and must print and exit alike.

    tests/lua/program.py --lgt build/lgt

Then what only lgt has: options of the runtime, its help, its prompt, errors of tasks at exit.
"""
import argparse
import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

parser = argparse.ArgumentParser()
parser.add_argument("--lgt", default=os.environ.get("LGT", "build/lgt"))
LGT = os.path.abspath(parser.parse_args().lgt)
failed = 0
PATIENCE = 300  # seconds for an answer, for what hangs: machines are slow and busy


def say(name, why):
    global failed
    failed += why is not None
    print(f"FAIL {name}: {why}" if why else f"ok {name}", flush=True)


def run(program, args, stdin="", env=None):
    done = subprocess.run([program, *args], input=stdin, capture_output=True, text=True, timeout=900,
                          env={**os.environ, **(env or {})})
    name = os.path.basename(program)
    # The name of the program, and addresses, differ.
    clean = lambda s: "\n".join(" ".join(w for w in line.split() if not w.startswith("0x"))
                                for line in s.replace(program, "PROGRAM").replace(name + ":", "PROGRAM:").split("\n"))
    return clean(done.stdout), clean(done.stderr), done.returncode


def alike(name, args, stdin="", env=None, stderr=True):
    ours, theirs = run(LGT, args, stdin, env), run("luajit", args, stdin, env)
    if not stderr:
        ours, theirs = (ours[0], ours[2]), (theirs[0], theirs[2])
    say(name, None if ours == theirs else f"lgt {ours}, luajit {theirs}")


def expect(name, args, check, stdin="", env=None):
    got = run(LGT, args, stdin, env)
    say(name, None if check(*got) else f"{got}")


folder = tempfile.mkdtemp()


def script(name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as f:
        f.write(text)
    return path


show = script("show.lua", "print(...) for i = -5, 5 do if arg[i] and i >= 0 then print(i, arg[i]) end end print(#arg)")
alike("arguments", [show, "a", "b c", "-x"])
alike("no arguments", [show])
alike("options before the script", ["-e", "x = 1", "-l", "jit", show, "a"])
alike("negative arg", ["-e", "y = 2", script("neg.lua", "print(arg[-1], arg[-2], arg[0] ~= nil)")])
alike("-e", ["-e", "print(1 + 1)"])
alike("-eprint", ["-eprint(3)"])
alike("several -e", ["-e", "a = 1", "-e", "print(a)"])
alike("-l", ["-l", "ffi", "-e", "print(type(ffi), type(require('ffi').C))"])
alike("-l of nothing", ["-l", "no_such_module"], stderr=False)
alike("syntax error", ["-e", "print("])
alike("runtime error", ["-e", "error('gone')"])
alike("error in a script", [script("bad.lua", "local function f() error('deep') end\nf()\n")], stderr=False)
alike("error object", ["-e", "error(setmetatable({}, {__tostring = function() return 'object' end}))"])
alike("error table", ["-e", "error({})"])
alike("error nil", ["-e", "error()"])
alike("missing script", ["no_such_file.lua"])
alike("os.exit", ["-e", "os.exit(7)"])
alike("os.exit true", ["-e", "os.exit(true)"])
alike("os.exit false, closing", ["-e", "os.exit(false, true)"])
alike("stdin", [], "print('from stdin', ...)")
alike("stdin as -", ["-", "x", "y"], "print(..., arg[0], #arg)")
alike("--", ["--", show, "z"])
alike("shebang", [script("she.lua", "#!/usr/bin/env lgt\nprint('shebang')")])
alike("LUA_INIT", ["-e", "print(v)"], env={"LUA_INIT": "v = 5"})
alike("LUA_INIT file", ["-e", "print(w)"], env={"LUA_INIT": "@" + script("init.lua", "w = 6")})
alike("LUA_INIT error", ["-e", "print(1)"], env={"LUA_INIT": "error('init')"})
alike("-E", ["-E", "-e", "print(v)"], env={"LUA_INIT": "v = 5"})
alike("-joff", ["-joff", "-e", "print(jit.status())"], stderr=False)
alike("-j flush", ["-j", "flush", "-e", "print(2)"])
alike("-j of nothing", ["-jno_such_command"], stderr=False)
alike("-O", ["-O2", "-Ohotloop=10", "-e", "local s = 0 for i = 1, 1000 do s = s + i end print(s)"])
alike("-O of nothing", ["-Ono_such_parameter=1", "-e", "print(1)"], stderr=False)
alike("-b list", ["-bl", script("list.lua", "print(1)")], stderr=False)
alike("bad option", ["-q"], stderr=False)
alike("-e without a chunk", ["-e"], stderr=False)
bytecode = os.path.join(folder, "code.bc")
subprocess.run([LGT, "-b", show, bytecode], check=True)
alike("bytecode", [bytecode, "q"])
alike("exit status of a failing script", [script("status.lua", "os.exit(3)")])
alike("io", ["-e", "for l in io.lines() do io.write(l, ';') end"], "a\nb\n")
alike("goto, bit, ffi", ["-e", "local n = 0 ::again:: n = n + 1 if n < 3 then goto again end print(n, bit.bxor(5, 3))"])

# ---- what only lgt has -------------------------------------------------------------------------------------
expect("--version", ["--version"], lambda out, err, code: out.startswith("lgt ") and code == 0)
expect("--help", ["--help"], lambda out, err, code: "--cpus" in out and "-e chunk" in out and code == 0)
expect("an option of the runtime", ["--cpus", "1", "--fusion=0", "-e", "print(require('lgt').size(), ...)"],
       lambda out, err, code: out.strip() == "1" and code == 0)
# Counts of arrays that share memory of the FFI are gone when Lua ends, and here what is freed can be read no more.
expect("memory of the FFI", ["-e", """
local np, lgt, ffi = require "array", require "lgt", require "ffi"
for _ = 1, 3 do
  local a = np.frombuffer(ffi.new("double[4]"))
  lgt.fence()
end
collectgarbage()
lgt.fence()"""], lambda out, err, code: code == 0, env={"MALLOC_MMAP_THRESHOLD_": "1", "MALLOC_MMAP_MAX_": "1000000"})
expect("an unknown option", ["--colour", "red", "-e", "print(1)"],
       lambda out, err, code: "colour" in err and out == "" and code == 1)
expect("an option without its value", ["--cpus"], lambda out, err, code: "needs a value" in err and code == 1)
for option in ("--cpus", "--min-tile", "--profile", "-n"):
    expect(f"the word after {option} is the next option", [option, "-e", "print(1)"],
           lambda out, err, code: f"{option}: it needs a" in err and out == "" and code == 1)
expect("an unknown option without a value", ["--colour"], lambda out, err, code: "there is no option" in err and code == 1)
expect("a number behind an option that is on or off", ["--fusion", "3", "no-such-script.lua"],
       lambda out, err, code: "expected 0 or 1" in err and code == 1)
expect("a switch before a script", ["--fusion", show, "u"], lambda out, err, code: out.startswith("u") and code == 0)
for words in (["-n", "0"], ["-n0"], ["-n", "1.5"], ["-n", "99999999999"], ["--min-tile=0"], ["--min-tile=0.2"], ["--mem=0.5"]):
    expect(f"{words} is refused", [*words, "-e", "print(1)"],
           lambda out, err, code: "expected" in err and out == "" and code == 1)
expect("sizes have units", ["--mem=1.5G", "--min-tile=0.5K", "-e", "print(1)"], lambda out, err, code: code == 0)
expect("what keeps lgt from starting is said at the line", ["--cpus=100000", "-e", "\n\nlocal np = require 'array'"],
       lambda out, err, code: "(command line):3: lgt cannot start: cpus = 100000" in err and code == 1)
expect("a bad value", ["--cpus=many", "-e", "print(1)"], lambda out, err, code: "many" in err and code == 1)
expect("options and arg", ["--cpus", "1", show, "u"], lambda out, err, code: out.split() == ["u", "0", show, "1", "u", "1"])
for topic in ("constraint", "window", "fuse", "kernel", "emit", "map", "exec"):
    expect(f"--debug={topic}", [f"--debug={topic}:3", "--cache=0", "--background=0", "--domains=2", "--min-tile=1", "-e",
                               "local a = require('array').arange(100) * 0.5 print(a['1:-2'] + a['2:'])"],
           lambda out, err, code: f"lgt {topic}: " in err and code == 0)
expect("arrays", ["-e", "print(require('array').arange(3) * 2)"], lambda out, err, code: out == "[0 2 4]\n" and code == 0)
expect("a task that fails unseen fails the program",
       ["-e", "local np = require 'array' x = np.zeros(2^45) + 1"],
       lambda out, err, code: code == 1 and "out of memory" in err and "(command line):1" in err)
expect("a script's error is no internal error", ["-e", "local np = require 'array' print(np.ones(2) + np.ones(3))"],
       lambda out, err, code: code == 1 and "(command line):1: add: the shapes (2) and (3)" in err)
for place in ("/", folder):
    got = subprocess.run([LGT, "-e", "print(require('array').ones(2))"], cwd=place, capture_output=True, text=True)
    say(f"found from {'/' if place == '/' else 'elsewhere'}", None if got.stdout == "[1. 1.]\n" else got.stderr)


class Prompt:
    """lgt at a terminal of its own."""

    def __init__(self, *args):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "dumb"
            os.execv(LGT, [LGT, *args])
        self.text = ""

    def until(self, text, limit=PATIENCE):
        """Read until `text` has been printed."""
        end = time.monotonic() + limit
        while text not in self.text and time.monotonic() < end:
            if select.select([self.fd], [], [], 0.1)[0]:
                try:
                    self.text += os.read(self.fd, 4096).decode(errors="replace")
                except OSError:
                    break
        found = text in self.text
        before, self.text = self.text.partition(text)[::2]
        if not found:
            self.text = before
        return found

    def send(self, text):
        os.write(self.fd, text.encode())

    def close(self):
        """Wait until it has ended."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            self.until("\0", 0.1)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                os.close(self.fd)
                return status
            time.sleep(0.01)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        return "none: it did not end"


def prompt_case(name, steps):
    """Steps are (what to type, what must then appear)."""
    p = Prompt("-i")
    why = None if p.until("> ") else "no prompt"
    for typed, wanted in steps:
        if why:
            break
        if typed == "^C":
            os.kill(p.pid, signal.SIGINT)
        else:
            p.send(typed + "\n")
        if not p.until(wanted):
            why = f"after {typed!r}: {wanted!r} did not appear in {p.text!r}"
    # The terminal takes ^D for itself until readline shows the next prompt.
    if not why and not p.text.rstrip("\r\n ").endswith(">") and not p.until("> "):
        why = "no prompt at the end"
    if not why:
        p.send("\x04")
        status = p.close()
        why = None if status == 0 else f"status {status}"
    else:
        os.kill(p.pid, signal.SIGKILL)
        p.close()
    say(name, why)


def shell(name, command, check):
    """A command line, with $LGT as the program."""
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=900, cwd=folder, env={**os.environ, "LGT": LGT})
    say(name, None if check(done.stdout, done.stderr) else f"{done.stdout!r} {done.stderr!r}")


# What lgt opens for itself must not take their numbers.
shell("closed input of ranks", """$LGT -n 2 -e 'print(io.read("*l"))' <&-; luajit -e 'print(io.read("*l"))' <&-""",
      lambda out, err: len(set(out.split("\n")[:2])) == 1 and not err)
shell("closed input and output", """$LGT -n 2 -e 'io.stderr:write(tostring(io.write("x")), " ", select(3, io.stdout:flush()))' <&- >&-""",
      lambda out, err: err == "true 9")
shell("who reads what ranks write has enough", "$LGT -n 3 -e 'for i = 1, 1e6 do print(i) end' | head -1; echo ${PIPESTATUS[0]}",
      lambda out, err: (out, err) == ("1\n141\n", ""))

# What a program has no time to compile is there for the next run.
many = script("many.lua", """
local np = require "array"
local x, sum = np.arange(9) / 9, 0
for k = 1, 12 do
  local y = x
  for _ = 1, k do y = np.sin(y) * k + x end
  sum = sum + y:item(k % 9 + 1)
end
""")


def compiled(cache, *options):
    """How many kernels a run compiles before it ends."""
    output = run(LGT, [*options, f"--cache-dir={cache}", "--debug=kernel:1", many])[1]
    return sum("compiled:" in line for line in output.splitlines())


def files(folder):
    return sum(len(names) for _, _, names in os.walk(folder))


def leftovers():
    whole, cache = os.path.join(folder, "whole"), os.path.join(folder, "left")
    compiled(whole, "--background=0")
    if compiled(cache, "--finish=0") >= files(whole):
        return "the first run compiled everything: this test sees nothing"
    shutil.rmtree(cache)
    compiled(cache)
    end = time.time() + PATIENCE
    while files(cache) < files(whole) and time.time() < end:
        time.sleep(0.1)
    return None if files(cache) >= files(whole) else f"{files(cache)} of {files(whole)} kernels are there"


say("what a program has no time to compile is there for the next run", leftovers())

prompt_case("prompt: values and statements", [
    ("40 + 2", "42"), ("x = 'abc'", "> "), ("x .. x, #x", "abcabc\t3"), ("= x", "abc"), ("nil, 1", "nil\t1")])
prompt_case("prompt: several lines", [("for i = 1, 2 do", ">> "), ("print('turn ' .. i)", ">> "), ("end", "turn 2")])
prompt_case("prompt: errors do not end it", [("error('oops')", "oops"), ("1 +", ">> "), ("1", "2"), ("x y", "stdin:1:")])
prompt_case("prompt: Ctrl-C drops several lines", [("for i = 1, 2 do", ">> "), ("^C", "> "), ("6 * 7", "42")])
prompt_case("prompt: arrays", [("np = require 'array'", "> "), ("np.ones(2) + 1", "[2. 2.]")])
prompt_case("prompt: Ctrl-C ends a loop", [("print('in' .. 1) while true do end", "in1"), ("^C", "interrupted!"), ("6 * 7", "42")])
# The prompt before Ctrl-C is waited for, so that the one after it is seen: it drops what was typed until then.
prompt_case("prompt: Ctrl-C while typing", [("1 + 1", "2\r\n> "), ("^C", "> "), ("6 * 7", "42")])

sys.exit(1 if failed else 0)
