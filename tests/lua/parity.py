#!/usr/bin/python3
"""lgt beside luajit: the same command lines must give the same output, errors and exit status.

    tests/lua/parity.py --lgt build/lgt

Both are started under the same name.  What may differ is masked: the banner, addresses, and the text after
"usage:".  Each command line runs in a fresh copy of a folder with the files below.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

FILES = {
    "hello.lua": "print('hello', ...)\n",
    "args.lua": "for i = -6, 6 do if arg[i] then print(i, arg[i]) end end\nprint(#arg, select('#', ...), ...)\n",
    "count.lua": "print(#arg, select('#', ...))\n",
    "bad.lua": "local t = nil\nlocal function f() return t.x end\nf()\n",
    "syntax.lua": "x = = 1\n",
    "exit3.lua": "os.exit(3)\n",
    "exittrue.lua": "os.exit(true, true)\n",
    "exitfalse.lua": "io.stdout:write('buffered') os.exit(false)\n",
    "object.lua": "error(setmetatable({}, {__tostring = function() return 'an object' end}))\n",
    "table.lua": "error({})\n",
    "nilerror.lua": "error(nil)\n",
    "numbererror.lua": "error(42)\n",
    "shebang.lua": "#!/usr/bin/env lgt\nprint('shebang', ...)\n",
    "mod.lua": "print('mod loaded', ...)\nreturn {answer = 42}\n",
    "sub/inner.lua": "return 'inner'\n",
    "init.lua": "print('init', arg and #arg)\nINIT = true\n",
    "setarg.lua": "arg = {'changed', 'arguments'}\n",
    "noarg.lua": "arg = nil\n",
    "readstdin.lua": "print(io.read('*a'))\n",
    "deep.lua": "local function f(n) if n == 0 then error('deep') end f(n - 1) end\nf(30)\n",
    "overflow.lua": "local function f() return 1 + f() end\nprint(pcall(f))\nf()\n",
    "coroutine.lua": "coroutine.wrap(function() error('inside') end)()\n",
    "-.lua": "print('minus')\n",
    "--": "print('a file called --', ...)\n",
    "-": "print('a file called -', ...)\n",
    "gc.lua": "local p = newproxy(true) getmetatable(p).__gc = function() print('collected') end\n",
    "gcerror.lua": "local p = newproxy(true) getmetatable(p).__gc = function() error('in gc') end\n",
    "globals.lua": "local names = {} for name in pairs(_G) do names[#names + 1] = name end\n"
                   "table.sort(names) print(table.concat(names, ' '))\n",
    "loaded.lua": "local names = {} for name in pairs(package.loaded) do names[#names + 1] = name end\n"
                  "table.sort(names) print(table.concat(names, ' '))\n",
    "jitstatus.lua": "print(jit.status())\n",
    "empty.lua": "",
    "return.lua": "return 5\n",
    "goto.lua": "for i = 1, 3 do if i == 2 then goto continue end print(i) ::continue:: end\n",
    "ffi.lua": "local ffi = require 'ffi' ffi.cdef 'int abs(int);' print(ffi.C.abs(-3), 5LL, 2ULL)\n",
    "spin.lua": "local p = io.open('ready', 'w') p:close() local n = 0\nwhile true do n = n + 1 end\n",
}
FILES_OUT = ("out.luac", "out.raw")

# A command line; then standard input and changes of the environment.
CASES = [
    # scripts and their arguments
    ["hello.lua"], ["hello.lua", "a", "b c", ""], ["args.lua"], ["args.lua", "1", "2", "3"], ["-e", "", "args.lua", "x"],
    ["count.lua", *map(str, range(9000))], ["--", "args.lua", "x"], ["--", "--"], ["--", "-"], ["--"], ["-", "x"], ["empty.lua"], ["return.lua"], ["shebang.lua", "a"],
    ["missing.lua"], ["sub"], ["./hello.lua"], ["sub/inner.lua"], ["-.lua"], ["hello.lua", "-e", "print(1)"],
    ["hello.lua", "--cpus", "2"], ["hello.lua", "--help"], ["hello.lua", "-i"], ["goto.lua"], ["ffi.lua"],
    ["globals.lua"], ["loaded.lua"], ["gc.lua"], ["gcerror.lua"],
    # errors and exit codes
    ["bad.lua"], ["syntax.lua"], ["exit3.lua"], ["exittrue.lua"], ["exitfalse.lua"], ["object.lua"], ["table.lua"],
    ["nilerror.lua"], ["numbererror.lua"], ["deep.lua"], ["overflow.lua"], ["coroutine.lua"],
    ["-e", "error('x', 0)"], ["-e", "error()"], ["-e", "os.exit(256)"], ["-e", "os.exit(-1)"], ["-e", "os.exit(2.7)"],
    ["-e", "local ok, e = pcall(error) print(ok, e)"], ["-e", "x =", "hello.lua"], ["-e", "error('x')", "hello.lua"],
    ["-e", "return 1"], ["-e", "io.stderr:write('to stderr') print('to stdout')"],
    # -e, -l
    ["-e", "print(1)"], ["-eprint(2)"], ["-e", "a = 1", "-e", "print(a)"], ["-e", "print(arg[0], arg[-1], #arg)"],
    ["-e", "print(...)"], ["-e"], ["-l"], ["-j"], ["-l", "mod"], ["-lmod"], ["-l", "mod", "-e", "print(mod.answer)"],
    ["-l", "sub.inner"], ["-l", "missing.module"], ["-lmod", "hello.lua", "z"], ["-l", "ffi"], ["-l", "syntax"],
    ["-e", "print(package.loaded.mod)", "-lmod"],
    # -j and -O
    ["-joff", "jitstatus.lua"], ["-j", "off", "-e", "print((jit.status()))"], ["-jon", "-e", "print((jit.status()))"],
    ["-jflush", "hello.lua"], ["-joff", "-jon", "-e", "print((jit.status()))"], ["-jnothing", "hello.lua"], ["-j", "nothing"],
    ["-jv=/dev/null", "-e", "for i = 1, 200 do end"], ["-jdump=b,/dev/null", "hello.lua"], ["-j="], ["-jbc", "hello.lua"],
    ["-O3", "hello.lua"], ["-O", "hello.lua"], ["-O0", "jitstatus.lua"], ["-O1", "jitstatus.lua"], ["-O2", "jitstatus.lua"],
    ["-O-cse", "jitstatus.lua"], ["-O+cse,-dce", "jitstatus.lua"], ["-Ohotloop=5", "hello.lua"], ["-Ohotloop=5,-fold", "jitstatus.lua"],
    ["-Onosuch", "hello.lua"], ["-Onosuch=3", "hello.lua"], ["-O9", "jitstatus.lua"], ["-Omaxtrace=100", "hello.lua"],
    ["-e", "jit = nil", "-joff", "hello.lua"], ["-jp=/dev/null", "hello.lua"], ["-joff", "-l", "mod", "-O1", "hello.lua"],
    # -b
    ["-b"], ["-b", "hello.lua", "out.luac"], ["-bl", "hello.lua"], ["-blg", "hello.lua"], ["-b", "-l", "hello.lua"],
    ["-bs", "hello.lua", "out.raw"], ["-bg", "hello.lua", "out.luac"], ["-be", "print(1)", "out.luac"], ["-ble", "print(1)"],
    ["-bt", "raw", "hello.lua", "out.luac"], ["-btc", "hello.lua", "-"], ["-bn", "name", "-tc", "hello.lua", "-"],
    ["-b", "missing.lua", "out.luac"], ["-b", "syntax.lua", "out.luac"], ["-bx"], ["-b", "hello.lua"], ["-b", "--", "hello.lua", "out.luac"],
    ["-v", "-b", "hello.lua", "out.luac"], ["-e", "", "-b", "hello.lua", "out.luac"], ["-i", "-b"], ["-E", "-bl", "hello.lua"],
    ["-b", "-"], (["-b", "-", "out.luac"], "print(1)"), (["-bl", "-"], "local x = 1 return x"),
    # -v, -i, -E, what is wrong
    ["-v"], ["-v", "hello.lua"], ["-v", "-e", "print(1)"], ["-v", "--"], ["-vx"], ["-ix"], ["-x"], ["-hello"], ["--u"], ["--nosuch=1"], ["-E"],
    ["-E", "hello.lua"], ["-Ex", "hello.lua"], ["-i", "-x"],
    # the prompt of a pipe
    (["-i"], ""), (["-i"], "print(1)\n"), (["-i"], "x = 5\n=x, x * 2\n"), (["-i"], "for i = 1, 2 do\nprint(i)\nend\n"),
    (["-i"], "error('at the prompt')\nprint('still')\n"), (["-i"], "x = = 1\nprint('still')\n"), (["-i"], "=nil\n"),
    (["-i"], "f(\n"), (["-i"], "os.exit(4)\n"), (["-i", "hello.lua"], "print('then')\n"), (["-i", "bad.lua"], "print('never')\n"),
    (["-i", "-e", "a = 3"], "=a\n"), (["-i"], "_PROMPT = 'next: '\nprint(1)\n"), (["-i"], "_PROMPT2 = 'more: '\nprint(\n1)\n"),
    (["-i"], "print(io.read())\nthis is read\nprint('after')\n"), (["-i"], "error({})\n"), (["-i"], "= = 1\n"),
    (["-i"], "return 1, 2\n"), (["-i"], "print(1) -- no newline"), (["-i", "args.lua", "x"], "print(arg[1])\n"),
    (["-i", "missing.lua"], ""), (["-i"], "print(debug.traceback('t'))\n"), (["-i"], "='two words'\n"),
    # standard input
    ([], "print('from stdin', ...)\n"), ([], "error('x')\n"), ([], "x = = 1\n"), ([], "os.exit(5)\n"), ([], ""),
    ([], "#!shebang\nprint('from stdin')\n"), (["-"], "print('minus', ...)\n"), (["-", "a", "b"], "print(arg[0], ...)\n"),
    (["-"], "error('x')\n"), (["-"], "x = = 1\n"), (["readstdin.lua"], "data\nmore"), (["-e", "print(io.read('*a'))"], "data"),
    (["-e", "print(1)", "-"], "print(2)\n"), (["-v", "-"], "print(2)\n"), (["-E", "-"], "print(2)\n"), (["-E"], "print(3)\n"),
    (["-lmod"], "print(mod.answer)\n"), (["-joff"], "print(jit.status())\n"), (["-O1"], "print(1)\n"),
    # the environment
    (["hello.lua"], "", {"LUA_INIT": "print('init')"}), (["hello.lua"], "", {"LUA_INIT": "@init.lua"}),
    (["hello.lua"], "", {"LUA_INIT": "@missing.lua"}), (["hello.lua"], "", {"LUA_INIT": "error('in init')"}),
    (["hello.lua"], "", {"LUA_INIT": "x = = 1"}), (["hello.lua", "own"], "", {"LUA_INIT": "@setarg.lua"}),
    (["hello.lua", "own"], "", {"LUA_INIT": "@noarg.lua"}), (["-e", "print(INIT)"], "", {"LUA_INIT": "@init.lua"}),
    (["-E", "-e", "print(INIT)"], "", {"LUA_INIT": "@init.lua"}), (["-v"], "", {"LUA_INIT": "print('init')"}),
    (["-x"], "", {"LUA_INIT": "print('init')"}), (["-bl", "hello.lua"], "", {"LUA_INIT": "print('init')"}),
    (["-l", "inner"], "", {"LUA_PATH": "./sub/?.lua"}), (["-l", "inner"], "", {"LUA_PATH": "./sub/?.lua;;"}),
    (["-E", "-l", "inner"], "", {"LUA_PATH": "./sub/?.lua"}), (["-l", "x"], "", {"LUA_CPATH": "./?.so"}),
    (["-e", "print(package.cpath)"], "", {"LUA_CPATH": "./?.so;;"}), (["-e", "print(package.cpath)"], "", {}),
    # bytecode, made by luajit before
    ["made.luac", "a"], ["stripped.luac", "a"], (["-"], open), (["-b", "made.luac", "out.luac"]), ["-bl", "made.luac"],
    ["-e", "dofile('made.luac')"], ["-e", "print(loadfile('made.luac'))"],
]


def mask(text, directory):
    text = text.replace(directory, "DIR")
    text = re.sub(r"0x[0-9a-f]+", "ADDRESS", text)
    text = re.sub(r"^.*-- Copyright \(C\) .*$", "BANNER", text, flags=re.M)
    text = re.sub(r"usage: .*", "usage", text, flags=re.S)
    # where modules were looked for: lgt's own directories come before the others
    return re.sub(r"^\tno file '.*'\n?", "", text, flags=re.M)


def environment(changes):
    keep = {k: v for k, v in os.environ.items() if not k.startswith(("LUA_", "LGT_"))}
    keep.update({"TERM": "dumb"}, **changes)
    return keep


def prepare(folder, luajit):
    for name, text in FILES.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    for option, name in (("-bg", "made.luac"), ("-bs", "stripped.luac")):
        subprocess.run([luajit, option, "hello.lua", name], cwd=folder, check=True)


def run(program, case, folder):
    """(status, stdout, stderr, contents of the files it wrote, stdout and stderr in one)"""
    words, stdin, changes = case if len(case) == 3 and isinstance(case, tuple) else \
        (*case, {}) if isinstance(case, tuple) else (case, "", {})
    if stdin is open:
        with open(os.path.join(folder, "made.luac"), "rb") as file:
            stdin = file.read()
    else:
        stdin = stdin.encode()
    together = {"executable": program, "input": stdin, "cwd": folder, "env": environment(changes), "timeout": 900}
    merged = subprocess.run(["program", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, **together)
    done = subprocess.run(["program", *words], capture_output=True, check=False, **together)
    written = []
    for name in FILES_OUT:
        path = os.path.join(folder, name)
        if os.path.exists(path):
            with open(path, "rb") as file:
                written.append((name, file.read()))
            os.remove(path)
    out, err, both = (mask(s.decode("latin-1"), folder) for s in (done.stdout, done.stderr, merged.stdout))
    return done.returncode, out, err, written, both


def interrupted(program, folder):
    """The status after Ctrl-C in a loop, and what was said."""
    ready = os.path.join(folder, "ready")
    process = subprocess.Popen(["program", "-joff", "spin.lua"], executable=program, cwd=folder, env=environment({}),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        while not os.path.exists(ready) and process.poll() is None:
            pass
        process.send_signal(2)
        out, err = process.communicate(timeout=900)
    finally:
        process.kill()
        process.wait()
    os.remove(ready)
    return process.returncode, out.decode(), re.sub(r":\d+:", ":LINE:", err.decode()).split("\n")[0]


def main():
    parser = argparse.ArgumentParser(description="Compares lgt with luajit.")
    parser.add_argument("--lgt", default="build/lgt")
    args = parser.parse_args()
    lgt, luajit = os.path.abspath(args.lgt), shutil.which("luajit")
    if not luajit:
        print("skip parity: luajit is not installed")
        return 77
    version = [subprocess.run([p, "-e", "io.write(jit.version)"], capture_output=True, check=True).stdout for p in (lgt, luajit)]
    if version[0] != version[1]:
        print(f"skip parity: lgt hosts {version[0].decode()}, luajit is {version[1].decode()}")
        return 77
    folder = os.path.realpath(tempfile.mkdtemp(prefix="lgt-parity-"))
    failed = 0
    try:
        prepare(folder, luajit)
        for number, case in enumerate(CASES + [interrupted], 1):
            if case is interrupted:
                theirs, ours = interrupted(luajit, folder), interrupted(lgt, folder)
            else:
                theirs, ours = run(luajit, case, folder), run(lgt, case, folder)
            name = f"{number} {'interrupted' if case is interrupted else case}"[:90]
            if theirs == ours:
                print(f"ok {name}")
            else:
                failed += 1
                what = "; ".join(f"{field}: {b!r}, luajit's is {a!r}" for field, a, b in
                                 zip(("status", "output", "errors", "files", "both"), theirs, ours) if a != b)
                print(f"FAIL {name}: {what}")
    finally:
        shutil.rmtree(folder)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
