#!/usr/bin/python3
"""The program on several ranks: the same script everywhere sees the same world, speaks once, and ends together.

Every fault must end all ranks: soon, with one message, an exit status other than 0, and nothing left behind.
"""
import itertools
import os
import re
import shutil
import signal
import tempfile
import time

from common import LGT, PATIENCE, STRESS, Running, Skip, case, finish, judge, left_behind, run, segments
from places import MPIRUN, free_port

# Ranks that end in the middle leak, and their threads are alive then.
os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
QUICK = ["--heartbeat=3", "--patience=0.2"]
DEATH, SILENCE = 2.0, 10.0  # seconds from the fault to the end
folder = tempfile.mkdtemp(prefix="lgt-ranks-")
numbers = itertools.count()


def script(text):
    path = os.path.join(folder, f"s{next(numbers)}.lua")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


# ---- what all ranks see

def alike(text, *options, stdin="", expect=None, n=3):
    """Every rank prints the same, and what is expected."""
    def check():
        outcome = run([LGT, "-n", str(n), *QUICK, "--all-output", *options, script(text)], stdin=stdin)
        if outcome.status or outcome.err:
            return str(outcome)
        of = [[line[4:] for line in outcome.out.splitlines() if line.startswith(f"[{r}] ")] for r in range(n)]
        if not of[0] or any(lines != of[0] for lines in of):
            return f"the ranks print different lines: {of}"
        printed = "\n".join(of[0])
        return None if expect is None or re.fullmatch(expect, printed) else f"printed {printed!r}, expected {expect!r}"
    return check


def prints(text, expected, *options, status=0, err="", n=3, stdin=""):
    """Only rank 0 is heard; once."""
    def check():
        outcome = run([LGT, "-n", str(n), *QUICK, *options, script(text)], stdin=stdin)
        good = outcome.status == status and outcome.out == expected and re.fullmatch(err, outcome.err.rstrip("\n"), re.S)
        return None if good else str(outcome)
    return check


KEYS = """
local keys = {}
for i = 1, 40 do keys["k" .. i] = i end
for i = 1, 5 do keys[i] = i end
keys[2.5], keys[-1], keys[100], keys[true], keys[false], keys[print] = 1, 2, 3, 4, 5, 6
local function name(k) return type(k) == "function" and "print" or tostring(k) end
local by_pairs, by_next, by_foreach = {}, {}, {}
for k, v in pairs(keys) do
  by_pairs[#by_pairs + 1] = name(k)
  if k == "k7" then keys[k] = nil end -- legal during a traversal
end
local k = next(keys)
while k ~= nil do
  by_next[#by_next + 1] = name(k)
  k = next(keys, k)
end
table.foreach(keys, function(key) by_foreach[#by_foreach + 1] = name(key) end)
print(table.concat(by_pairs, " "))
local left = table.concat(by_pairs, " "):gsub("k7 ", "")
assert(left == table.concat(by_next, " "))
assert(left == table.concat(by_foreach, " "))
assert(next({}) == nil and next({ x = 1 }) == "x" and select(2, next({ 7 })) == 7)
for k in pairs(keys) do keys[k] = nil end
assert(next(keys) == nil)
local objects = { [{}] = 1, [{}] = 2 }
print(next(objects) ~= nil, pcall(pairs, objects), pcall(next, objects, (next(objects))))
local count = 0
for _ in require("lgt").unordered(objects) do count = count + 1 end
print(count)
"""
case("keys in one order", alike(KEYS, expect=r"1 2 3 4 5 -1 2.5 100 k1 k10 .* k9 false true print\ntrue\tfalse\tfalse\t.*several keys.*\n2"))
case("no order of keys, at the line", alike("local t = {[{}] = 1, [{}] = 2}\nprint(pcall(function()\n for _ in pairs(t) do end\nend))", expect=r"false\t\S+:3: pairs: .*"))
case("clocks", alike("for i = 1, 50 do print(os.time(), os.clock(), os.date(), require('lgt').time()) end"))
case("elements that the host leaves out", alike("""
local np = require "array"
local a = np.empty(6)
a:host("w", function(p) p[1] = 5 end)
a:reshape(2, 3)[":, 1"]:host("w", function(p) p[1] = 6 end)
print(a(2), a(4), os.time() > 0)
""", expect="5\t6\ttrue"))
case("a date as a table", alike("local t = os.date('*t', 86400 * 45) print(t.year, t.month, os.time(t) > 0, t.isdst) print(os.date('!*t', 0).hour)",
                                expect=r"1970\t2\ttrue\tfalse\n0"))
case("the environment", alike("print(os.getenv('HOME'), os.getenv('NO_SUCH_VARIABLE'))", expect=r"\S+\tnil"))
case("random numbers", alike("print(math.random(), math.random(10)) math.randomseed(os.time()) print(math.random())"))
case("standard input", alike("print(io.read()) print(io.read('*n', '*l')) for l in io.lines() do print(l) end print(io.stdin:read('*a'))",
                             stdin="one\n12 x\nthree\nfour\n", expect="one\n12\t x\nthree\nfour\n"))
case("a long line of standard input", alike("print(#io.read('*a'))", stdin="x" * 100000, expect="100000"))
case("a program from standard input", lambda: (lambda o: None if (o.status, o.out, o.err) == (0, "7\n", "") else str(o))(
    run([LGT, "-n", "3", *QUICK], stdin="#!shebang\nprint(7)\n")))
case("a program from standard input, by name", lambda: (lambda o: None if (o.status, o.out, o.err) == (0, "a\t7\n", "") else str(o))(
    run([LGT, "-n", "3", *QUICK, "-", "a"], stdin="local lgt, np = require 'lgt', require 'array'\nprint(..., np.full(1, 7):sum()())\n")))
case("a bad program from standard input", lambda: (lambda o: None if o.status == 1 and o.err.count("lgt: stdin:1: unexpected") == 1 else str(o))(
    run([LGT, "-n", "3", *QUICK, "-"], stdin="x = = 1\n")))
case("errors of shared functions", alike("print(pcall(os.time, 'x')) print(pcall(os.date, {}))", expect=r"false\t.*bad argument.*\nfalse\t.*"))
case("errors of shared functions name one line", alike("print(pcall(function()\n local f = io.open {}\nend))\nprint(pcall(function()\n local t = os.time 'x'\nend))",
     expect=r"false\t[^ :]+:2: bad argument #1 to 'open' [^\n:]*\nfalse\t[^ :]+:5: bad argument [^\n:]*"))
case("a file that is written and read", alike("""
local name = os.tmpname()
for turn = 1, 20 do
  local file = assert(io.open(name, "w"))
  file:write("line ", turn, "\\n", ("x"):rep(1000), "\\n")
  file:close()
  local lines = {}
  for line in io.lines(name) do lines[#lines + 1] = line end
  assert(lines[1] == "line " .. turn and #lines == 2 and #lines[2] == 1000, lines[1])
end
for line in assert(io.open(name)):lines() do print(#line) end
print(os.rename(name, name .. ".new"), io.open(name) == nil, os.remove(name .. ".new"))
print(io.open("/no/such/file"))
print(pcall(io.lines, "/no/such/file"))
print((pcall(io.open, name, "r+")))
""", expect=r"7\n1000\ntrue\ttrue\ttrue\nnil\t/no/such/file: No such file.*\nfalse\t.*No such file.*\nfalse"))
case("arrays in files", alike("""
local np = require "array"
local name = os.tmpname() .. ".npy"
for turn = 1, 10 do
  np.save(name, np.arange(1000) * turn)
  assert(np.sum(np.load(name)):item() == 499500 * turn)
end
print(pcall(np.load, "/no/such/file"))
print(os.remove(name))
""", expect=r"false\t.*No such file.*\ntrue"))
case("commands run once", alike(f"""
local name = {folder!r} .. "/once"
os.remove(name)
os.execute("echo x >>" .. name)
for line in io.popen("cat " .. name):lines() do print(line) end
local p = io.popen("cat >>" .. name, "w")
p:write("y\\n")
p:close()
print(io.open(name):read("*a"))
""", expect="x\nx\ny\n"))
case("output of one rank", prints("print('a') io.write('b\\n') io.stdout:write('c\\n') io.stderr:write('d\\n') io.output():write('e\\n')",
                                  "a\nb\nc\ne\n", err="d"))
case("arguments", prints("print(..., arg[0] ~= nil, #arg)", "nil\ttrue\t0\n"))
case("one rank", prints("for k in pairs({[{}] = 1, [{}] = 2}) do end print(package.loaded['lgt.ranks'])", "nil\n", n=1))
case("exit status", prints("print('x') os.exit(7)", "x\n", status=7))
case("exit status true", prints("os.exit(true)", ""))
case("exit status, closing", prints("os.exit(3, true)", "", status=3))
case("an array", prints("print(require('array').arange(5) * 2)", "[0 2 4 6 8]\n"))
case("what every rank would need whole has a limit", alike("""
local np = require "array"
local x = np.arange(300000)
print(pcall(function() return np.real(np.fft.rfft(x))(3) end))
print(np.bincount(x["1:9"], {base = 0, size = 9})(3), x:sum()(), x:reshape(3, 100000)(2, 1))
""", "--min-tile=1", "--replicate=1M", expect=r"false\t[^\n]*\.lua:4: 'rfft' needs all of an array of 2400000 bytes on every "
     r"rank, where at most 1048576 [^\n]*replicate[^\n]*\n1\t44999850000\t100000"))
case("cores are divided", alike("print(#io.popen('nproc'):read('*a') > 0) print(require('lgt').stats().launches)"))


def cores():
    """Two ranks on two cores each have one; more ranks than cores are not bound."""
    if len(os.sched_getaffinity(0)) < 2:
        raise Skip("one core")
    program = script("io.write('') local f = io.lines('/proc/self/status') for l in f do print(l:match('^Cpus_allowed_list:%s*(.*)')) end")
    n = len(os.sched_getaffinity(0))
    outcome = run([LGT, "-n", "2", "--all-output", program])
    sets = sorted(line for line in outcome.out.splitlines() if "nil" not in line)
    if len(sets) != 2 or sets[0][4:] == sets[1][4:]:
        return f"{n} cores: {outcome}"
    outcome = run([LGT, "-n", str(n + 1), "--all-output", program])
    sets = {line[4:] for line in outcome.out.splitlines() if "nil" not in line}
    return None if len(sets) == 1 else f"{n} cores, one rank more: {outcome}"


case("ranks have cores of their own", cores)



def libraries():
    """LuaJIT's own order of keys, other than pairs and next, is used only where any order will do."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    allowed = {f"lib/array/{name}.lua" for name in ("core/reduce", "index/keys", "index/planned", "io/buffer", "make/create")}
    found = set()
    for top in ("lib", "src/lua_bindings/lgt"):
        for path, _, names in os.walk(os.path.join(root, top)):
            for name in names:
                with open(os.path.join(path, name), encoding="utf-8") as file:
                    if re.search(r"lgt\.next|unordered|ranks\.next", file.read()):
                        found.add(os.path.relpath(os.path.join(path, name), root))
    unexpected = found - allowed - {"src/lua_bindings/lgt/ranks.lua"}
    return f"{unexpected} depend on an order that differs from rank to rank" if unexpected else None


case("libraries visit tables in order", libraries)
case("seeds from addresses", alike("math.randomseed(tonumber(tostring({}):match('0x(%x+)'), 16) % 2^31) print(math.random())"))

# ---- ways to start

WORLD = "print(...) print(require('lgt').time() > 0, io.read()) if arg[1] == 'fail' then error('on all') end"


def judged(outcomes, out, err, status):
    text = "".join(o.out for o in outcomes)
    said = [line for o in outcomes for line in o.err.splitlines() if line.startswith("lgt: ")]
    good = text == out and all(o.status is not None and (o.status == 0) == (status == 0) for o in outcomes)
    if err is None:
        good = good and not said
    else:
        good = good and said and all(re.search(err, line) for line in said)
    return None if good else "; ".join(str(o) for o in outcomes)


def rendezvous(*options, args=("a",), out="a\ntrue\tline\n", err=None, status=0):
    def check():
        where, program = f"127.0.0.1:{free_port()}", script(WORLD)
        running = [Running([LGT, *QUICK, "--rendezvous", where, "--rank", str(r), "--ranks", "3", *options, program, *args], stdin="line\n")
                   for r in (2, 1, 0)]
        return judged([r.wait(PATIENCE) for r in running], out, err, status)
    return check


def mpirun(*options, args=("a",), out="a\ntrue\tline\n", err=None, status=0):
    def check():
        if not shutil.which("mpirun"):
            raise Skip("no mpirun (Debian: openmpi-bin)")
        outcome = run([*MPIRUN, "-n", "3", LGT, *QUICK, *options, script(WORLD), *args], stdin="line\n")
        return judged([outcome], out, err, status)
    return check


for name, way in (("rendezvous", rendezvous), ("mpirun", mpirun)):
    case(name, way())
    case(f"{name} over TCP", way("--tcp"))
    case(f"{name}, an error", way(args=("fail",), out="fail\ntrue\tline\n", err=r": on all$", status=1))


def all_output_of_one():
    """One of two ranks that no launcher listens to."""
    where, program = f"127.0.0.1:{free_port()}", script("print(...) io.stderr:write('to ', ..., '\\n')")
    running = [Running([LGT, *QUICK, "--all-output", "--rendezvous", where, "--rank", str(r), "--ranks", "2", program, "us"]) for r in (1, 0)]
    outcomes = [r.wait(PATIENCE) for r in running]
    good = all(o.out == f"[{r}] us\n" and o.err == f"[{r}] to us\n" for r, o in zip((1, 0), outcomes))
    return None if good else "; ".join(str(o) for o in outcomes)


case("rendezvous, all output", all_output_of_one)


def refused(pattern, *options, env=None):
    def check():
        outcome = run([LGT, *options, "-e", "print('ran')"], env=env)
        good = outcome.status == 1 and outcome.out == "" and re.search(pattern, outcome.err)
        return None if good else str(outcome)
    return check


case("no number of ranks", refused("-n: .*expected a whole number", "-n", "many"))
case("too many ranks", refused("-n 99999: at most 1024 ranks are started on one machine", "-n", "99999"))
case("a bad option", refused(r"\A\S+lgt: debug: there is no topic[^\n]*\n\Z", "-n", "2", "--debug=nut"))
case("no heartbeat", refused("heartbeat = \"0\": expected a number of seconds, more than 0: from 0.001 to 1000000", "-n", "2", "--heartbeat=0"))
case("as a rank of a real run", refused("--as-rank says which of the --pretend-ranks", "-n", "2", "--as-rank=1"))
case("pretending, on ranks", refused("--pretend-ranks takes the place of other ranks", "-n", "2", "--pretend-ranks=4"))
case("a profile over a script", refused("--profile=script.lua would write over a script", "--profile", "script.lua"))
case("a rank without a rendezvous", refused("no rendezvous", "--rank", "1"))
case("a rank that is too great", refused("expected ranks 0 to n - 1", "--rendezvous=127.0.0.1:7000", "--rank=2", "--ranks=2"))
case("ranks within ranks of another launcher", refused("leave the number to it", "-n", "2", env={"PMIX_RANK": "0"}))
case("a launcher without PMIx", refused("cannot find each other", env={"OMPI_COMM_WORLD_SIZE": "4"}))
case("nobody comes", refused("only 1 of 2 ranks have arrived within 0.5 s", "--rendezvous=127.0.0.1:%d" % free_port(), "--ranks=2",
                             "--start-timeout=0.5"))


def unlike(*options, pattern):
    """Rank 1 has other options."""
    def check():
        where, program = f"127.0.0.1:{free_port()}", script("print(1)")
        running = [Running([LGT, *QUICK, "--rendezvous", where, "--rank", str(r), "--ranks", "2", *(options if r else ()), program])
                   for r in range(2)]
        return judged([r.wait(PATIENCE) for r in running], "", pattern, 1)
    return check


case("another option on a rank", unlike("--fusion=0", pattern="rank 0 has fusion=1, rank 1 has fusion=0"))
case("other instructions on a rank", unlike("--isa=generic", pattern=r"rank 0 has isa=(?!generic)\w+, rank 1 has isa=generic|$^"))

# ---- faults

START = """
local lgt = require "lgt"
local rank = package.loaded["lgt.ranks"].rank
local function wait() while true do os.time() end end
local function compute(seconds) -- without any operation of the stream
  local ffi = require "ffi"
  pcall(ffi.cdef, "double lgt_time(void);")
  local finish = lgt.C.lgt_time() + seconds
  while lgt.C.lgt_time() < finish do end
end
local function crash() -- not for a sanitizer to catch
  local ffi = require "ffi"
  ffi.cdef "void (*signal(int, void (*)(int)))(int);"
  ffi.C.signal(11, nil)
  ffi.cast("int *", 8)[0] = 1
end
local function go() -- all ranks have come here
  package.loaded["lgt.ranks"].least("go", 0)
  print "go"
  io.stdout:flush()
end
os.time()
print "ready"
io.stdout:flush()
"""
FIRST = len(START.splitlines())  # the scripts' own lines follow


def line(n):
    return FIRST + n


def fault(name, text, message, status=1, n=3, options=(), start=START):
    """The script does something that goes wrong by itself."""
    def check():
        before = segments()
        running = Running([LGT, "-n", str(n), *QUICK, *options, script(start + text)])
        outcome = running.wait(PATIENCE)
        return judge(running, outcome, outcome.seconds, SILENCE, message, status, before)
    case(name, check)


def children(pid):
    """The ranks of a launcher, in their order."""
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return sorted(int(word) for word in file.read().split())


def wait_for_words(running, words, count):
    """Until the script has said one of the words so often."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and len(re.findall(words, os.pread(running.out.fileno(), 10000, 0))) < count:
        time.sleep(0.02)


def signalled(name, text, rank, number, message, status, limit, n=3):
    def check():
        before = segments()
        running = Running([LGT, "-n", str(n), *QUICK, script(START + text)])
        wait_for_words(running, rb"ready", 1)
        time.sleep(0.3)  # wherever it is then
        os.kill(children(running.process.pid)[rank], number)
        begin = time.monotonic()
        outcome = running.wait(PATIENCE)
        return judge(running, outcome, time.monotonic() - begin, limit, message, status, before)
    case(name, check)


fault("an error on all ranks", "error('deliberate')", rf"^lgt: \S+:{line(1)}: deliberate$")
fault("an error object on all ranks", "error(setmetatable({}, {__tostring = function() return 'object' end}))", "^lgt: object")
for name, text, differs in (
    ("another shape", "local x = A(rank == 1 and 5 or 6) + 1", "of other shapes or types"),
    ("another view", "local x = a[rank == 1 and '2:4' or '3:5'] + 1", "'add', of other shapes or types"),
    ("another array of the same shape", "local x = (rank == 1 and a or b) + 1", "'add', of other arrays"),
    ("another number", "local x = a * (rank == 1 and 2.5 or 3.5)", "'multiply', with other numbers"),
    ("another constant in a kernel", "local x = np.fuse(function(x) return x * (rank == 1 and 2.5 or 3.5) end)(a)", "that does something else"),
    ("another operation", "local x = rank == 1 and a * b or a + b", r"'(add|multiply)' and '(add|multiply)'"),
    ("a look at another array", "print((rank == 1 and a or b):totable()[1])", "'a look at values', of other arrays"),
    ("a look at another element", "print(a(rank == 1 and 2 or 3))", "'a look at values', of other shapes or types"),
    ("another number in a table", "print(np.array {1, 2, rank == 1 and 3 or 4}:sum()())", "'elements from Lua or C', with other numbers"),
    ("more numbers in a table", "print(np.array(rank == 1 and {1, 2} or {1, 2, 3}):sum()())", "'elements from Lua or C', of other shapes or types"),
    ("another number from the FFI", "x = require('ffi').new('double[3]', rank == 1 and 3 or 4) print(np.asarray(x):sum()())",
     "'elements from Lua or C', with other numbers"),
    ("another number on the host", "a:host('rw', function(p) p[0] = rank == 1 and 3 or 4 end) print(a(2))",
     "'elements from Lua or C', with other numbers"),
    ("another seed", "np.random.seed(rank == 1 and 3 or 4) print(np.random.rand(3))", "'random"),
    ("another option", "lgt.options {min_tile = rank == 1 and 7 or 8}", "'option min_tile', with other numbers"),
    ("another function", "print(rank == 1 and os.time() or os.clock())", r"'os\.(time|clock)' and 'os\.(time|clock)'"),
):
    fault(f"{name} on rank 1", f"local np = require 'array' local A = np.ones local a, b = A(9) * 2, A(9) * 3\n{text} lgt.flush()\nwait()",
          rf"do not run the same program: operation \d+ .*:{line(2)} by rank \d.*{differs}")
fault("one operation more on rank 1, long ago", "local x = require 'array'.ones(9)\nif rank == 1 then x = x + 1 end\n"
      "for i = 1, 60000 do x = x * 1.5 end\nprint(x:sum()())",
      rf"do not run the same program: operation \d+ is issued at \S+:({line(2)} by rank 1 and at \S+:{line(3)} by rank \d|"
      rf"{line(3)} by rank \d and at \S+:{line(2)} by rank 1): '(add|multiply)' and '(add|multiply)'")
def runs_ahead():
    """Rank 0 sends its clock and waits for nobody, rank 2 does something else, and the hub looks away: how far does
    rank 0 get?  What it does meanwhile must not be forgotten when the hub asks."""
    with tempfile.NamedTemporaryFile() as file:
        file.truncate(4096)
        running = Running([LGT, "-n", "3", "--heartbeat=100", "--patience=0.2", script(START + f"""
local ffi = require "ffi"
ffi.cdef "void *mmap(void *, size_t, int, int, int, long); int open(const char *, int); int usleep(unsigned);"
local page = ffi.cast("volatile long *", ffi.C.mmap(nil, 4096, 3, 1, ffi.C.open("{file.name}", 2), 0))
while page[1] == 0 do ffi.C.usleep(1000) end
if rank == 2 then os.clock() end
while true do
  os.time()
  if rank == 0 then page[0] = page[0] + 1 end
end
""")])
        wait_for_words(running, rb"ready", 1)
        os.kill(running.process.pid, signal.SIGSTOP)
        os.pwrite(file.fileno(), b"\1", 8)
        time.sleep(1)
        os.kill(running.process.pid, signal.SIGCONT)
        outcome = running.wait(60)
        count = int.from_bytes(os.pread(file.fileno(), 8, 0), "little")
    if count > 3000:
        return f"rank 0 was {count} operations ahead"
    return None if "do not run the same program" in outcome.err else str(outcome)


case("no rank runs far ahead", runs_ahead)
fault("a rank that opens the runtime alone", "if rank == 1 then require 'lgt' end",
      rf"do not run the same program: operation \d+ .*:{line(1)} by rank 1",
      start="local rank = package.loaded['lgt.ranks'].rank\n" + "\n" * (FIRST - 1))
OUT_OF_MEMORY = """local ffi = require 'ffi'
ffi.cdef 'typedef struct { long now, most; } limit; int getrlimit(int, limit *); int setrlimit(int, const limit *);'
local before, less = ffi.new 'limit', ffi.new 'limit'
ffi.C.getrlimit(9, before)
less.most = before.most
local function fill() -- all that this process may have
  for megabytes = 0, 2 ^ 20, 64 do
    less.now = megabytes * 2 ^ 20
    ffi.C.setrlimit(9, less)
    if pcall(function() return ffi.new('char[?]', 2 ^ 20) end) then break end
  end
  local all = {}
  for i = 1, 1e4 do all[i] = ffi.new('char[?]', 2 ^ 20) end
end
if %s then
  local ok, why = pcall(fill)
  ffi.C.setrlimit(9, before)
  print(ok, why)
end
"""
fault("Lua runs out of memory on rank 1, which catches it", OUT_OF_MEMORY % "rank == 1" + "wait()",
      rf"operation \d+ is issued at .*:\d+ by rank \d .*'Lua ran out of memory")
case("numbers that differ by a rounding error", prints(
    START + "local x = 0.1 if rank == 1 then x = x * (1 + 2 ^ -52) end\nprint(require 'array'.array {x, -0.0 * rank}:sum()() > 0)", "ready\ntrue\n"))
case("Lua runs out of memory on all ranks, which catch it", prints(START + OUT_OF_MEMORY % "true", "ready\nfalse\tnot enough memory\n"))
fault("a syntax error", "x = = 1", "unexpected symbol")
fault("an error on all ranks, one of them late", "if rank == 1 then compute(0.2) end\nerror('deliberate')", rf"^lgt: \S+:{line(2)}: deliberate$")
for r in (0, 2):
    fault(f"an error on rank {r}", f"if rank == {r} then error('only here') end", rf"^lgt: rank {r}: \S+:{line(1)}: only here$")
    fault(f"an error on rank {r}, the others wait", f"if rank == {r} then error('only here') end\nwait()",
          rf"^lgt: rank {r}: \S+:{line(1)}: only here$")
    fault(f"an error on rank {r}, the others compute", f"if rank == {r} then error('only here') end\ncompute(60)",
          rf"^lgt: rank {r}: \S+:{line(1)}: only here$")
    fault(f"an error on rank {r} that is caught", f"pcall(function() if rank == {r} then os.time() error('x') end end)\nprint(os.clock())",
          rf"do not run the same program: operation \d+ .*:{line(1)} by rank {r}")
    fault(f"an option of rank {r}", f"if rank == {r} then lgt.options {{fusion = false}} end\nprint(lgt.stats() ~= nil)\nlgt.fence()",
          rf"do not run the same program: operation \d+ .*:{line(1)} by rank {r}")
    fault(f"another value of an option on rank {r}", f"lgt.options {{min_tile = rank == {r} and 7 or 8}}\nwait()",
          rf"do not run the same program: operation \d+ .*:{line(1)} by rank \d")
    fault(f"os.exit on rank {r}", f"if rank == {r} then os.exit(3) end\nwait()", rf"operation \d+ is issued at .*:{line(1)} by rank {r}")
    fault(f"os.exit on rank {r}, at the end", f"if rank == {r} then os.exit(4) end", rf"operation \d+ is issued at .*:{line(1)} by rank {r}")
    fault(f"an operation of rank {r}", f"if rank == {r} then os.time() end\nwait()", rf"operation \d+ is issued at .*:{line(1)} by rank {r}")
    fault(f"an operation of rank {r}, at the end", f"if rank == {r} then os.time() end", rf"operation \d+ is issued at .*:{line(1)} by rank {r}")
    fault(f"another operation on rank {r}", f"if rank == {r} then os.time() else\nos.clock() end\nwait()",
          rf"operation \d+ is issued at .*:({line(1)}|{line(2)}) by rank \d .*:({line(1)}|{line(2)}) by")
    fault(f"rank {r} crashes", f"if rank == {r} then crash() end\nwait()",
          rf"rank {r} on \S+ was killed by signal 11", status=139)
    fault(f"rank {r} is killed by the script", f"if rank == {r} then require('ffi').cdef 'int raise(int);' require('ffi').C.raise(9) end\nwait()",
          rf"rank {r} on \S+ was killed by signal 9", status=137)
    fault(f"rank {r} is killed while it makes shared memory", f"""if rank == {r} then
  require('ffi').cdef 'int raise(int); int shmget(int, size_t, int);'
  require('ffi').C.shmget(0, 5000, {0o600 | 0o1000})
  require('ffi').C.raise(9)
end
wait()""", rf"rank {r} on \S+ was killed by signal 9", status=137)
    for what in ("wait()", "compute(60)"):
        signalled(f"kill -9 of rank {r}: {what}", what, r, signal.SIGKILL, rf"rank {r} on \S+ was killed by signal 9", 137, DEATH)
        signalled(f"SIGSTOP of rank {r}: {what}", what, r, signal.SIGSTOP, rf"rank {r} on \S+ has given no sign of life", 1, SILENCE)
ARRAYS = "local np = require 'array'\nlocal x = np.arange(100000) * 2\nprint(np.sum(x):item())\n"
for r in (0, 2):
    fault(f"an array that only rank {r} prints", ARRAYS + f"if rank == {r} then print(x) end\nprint(np.sum(x + 1):item())",
          rf"operation \d+ is issued at .*:{line(4)} by rank {r}")
    fault(f"an array that only rank {r} computes", ARRAYS + f"if rank == {r} then x = x * 3 end\nprint(np.sum(x + 1):item())",
          rf"operation \d+ is issued at .*:{line(4)} by rank {r}")
    fault(f"an array that only rank {r} computes, at the end", ARRAYS + f"if rank == {r} then x = x * 3 end",
          rf"operation \d+ is issued at .*:{line(4)} by rank {r}")
    fault(f"an error on rank {r} between arrays", ARRAYS + f"for i = 1, 10 do x = x + 1 if i == 5 and rank == {r} then error('odd') end x[1]:item() end",
          rf"^lgt: rank {r}: \S+:{line(4)}: odd$")
    for number, message, status, limit in ((signal.SIGKILL, "was killed by signal 9", 137, DEATH),
                                           (signal.SIGSTOP, "has given no sign of life", 1, SILENCE)):
        signalled(f"{number.name} of rank {r} between arrays", ARRAYS + "while true do x = x + 1 if np.sum(x) < 0 then print(x) end end", r,
                  number, rf"rank {r} on \S+ {message}", status, limit)


def interrupted(name, text, *options, out="", message=None, status=0, times=1):
    """Ctrl-C, as often; the script says "go" each time that it is where it may come."""
    def check():
        before = segments()
        running = Running([LGT, "-n", "3", *QUICK, *options, script(START + text)])
        for turn in range(times):
            wait_for_words(running, rb"go", turn + 1)
            time.sleep(0.3)  # wherever it is then
            os.kill(running.process.pid, signal.SIGINT)
        outcome = running.wait(PATIENCE)
        if message:
            return judge(running, outcome, 0, 1, message, 1, before)
        good = outcome.status == status and outcome.err == "" and re.fullmatch(out, outcome.out)
        return left_behind(running, before) if good else str(outcome)
    case(name, check)


CATCHES = """local np = require 'array'
local x, more = np.zeros(1000), true
print(pcall(function() go() while more do %s end end))
local total = np.sum(x + 1):item()
print(total == 1000 * x(1) + 1000, os.time() > 0)
"""
for name, text, options in (("between arrays", "x = x + 1 if np.sum(x) < 0 then print(x) end", ()),
                            ("in a launch that nobody looks at", "x = x + 1", ()),
                            ("where clocks are read", "os.time()", ()),
                            ("in a loop without operations", "", ("-joff",)),
                            ("on one rank in a loop without operations", "if rank == 1 then compute(0.15) end x = x + 1 x(1)", ())):
    interrupted(f"Ctrl-C {name} is caught at one place", CATCHES % text, *options, out=r"ready\ngo\nfalse\t[^\n]*interrupted!\ntrue\ttrue\n")
interrupted("Ctrl-C in a loop that only one rank is in", CATCHES % "if rank == 1 then compute(60) end x(1)", "-joff",
            message="do not run the same program.*Ctrl-C has stopped each where it was")
interrupted("Ctrl-C ends a script", "go() while true do os.time() end", message="^lgt: interrupted!$")
interrupted("a second Ctrl-C ends a script that catches it", """
  local forever = true
  pcall(function() go() while forever do os.time() end end)
  pcall(function() go() while forever do os.time() end end)
  print "not reached"
""", out=r"ready\ngo\ngo\n", status=130, times=2)
fault("different exit statuses", "os.exit(rank)", r"the ranks do not run the same program: operation \d+ is issued at")
case("a rank that computes for longer than the limit", prints(START + "if rank == 1 then compute(5) end\nprint(os.time() > 0)",
                                                              "ready\ntrue\n"))
if STRESS:  # with the limits as they are
    case("a rank that computes for a minute", lambda: (lambda o: None if (o.status, o.out, o.err) == (0, "ready\ntrue\n", "") else str(o))(
        run([LGT, "-n", "3", script(START + "if rank == 1 then compute(60) end\nprint(os.time() > 0)")])))
case("a pipe is read once, for all", prints("""
local np = require "array"
local pipe = os.tmpname()
os.execute(("rm %s; mkfifo %s; (printf '1 2 3' | timeout 20 tee %s > /dev/null) &"):format(pipe, pipe, pipe))
print(np.loadtxt(pipe))
os.remove(pipe)
""", "[1. 2. 3.]\n"))
case("a task that fails unseen", prints("local np = require 'array' x = np.zeros(2^45) + 1", "", status=1, err=".*out of memory.*"))

try:
    finish(2, 100)
finally:
    shutil.rmtree(folder, ignore_errors=True)
