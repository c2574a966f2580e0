"""Random programs: an abstract list of statements, and its text in Lua.

A Program has extents (numbers that the shapes of its inputs name) and a block of statements.  The
statements are nested lists, so that they can be walked, copied, cut and compared:

  expressions  ["var", name]  ["num", value]  ["op", name, operands, style]
               ["index", e, entries, style]  ["transpose", e, perm]  ["broadcast", e, shape]
               ["windows", e, axis, width]  ["reshape", e, shape]  ["reduce", name, e, axes or None, keepdims]  ["dot", a, b]  ["band", e]
               ["cast", dtype, e]  ["copy", e]  ["join", operands, axis]
               ["pick", e, key, axis or None]: by a mask or by positions  ["call", name, operands]
               ["ruin", "take" or "solve", var, id]: it fails when it runs  ["sort", "sort" or "argsort", e, axis]
  statements   ["new", name, dtype, shape, pattern]  ["let", name, e]  ["set", target, e]
               ["iop", op, target, e]  ["fill", target, mask, value]  ["read", name, e, indices]
               ["put", target, key, e, op or None, each]  ["into", op, target, operands, mask or None]
               ["scatter", var, id]: fails, too   ["host", target]  ["free", name]  ["fails", e]  ["exhaust", target]
               ["nil", name]  ["gc"]  ["flush"]  ["for", turns, block]  ["if", cond, block, block]
               ["every", k, block]  ["stop", cond]  ["swap", name, name]  ["ring", name, number, room, e]
               ["both", turns, block, turns, block]  ["yield"]: see turns.py  ["caught", name]
               ["named", id, block]: a trace that the program names

machine.py gives them meaning.  A style chooses between ways to write the same thing in Lua.
"""
import copy
import json

from machine import Arr, Machine

INFIX = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "remainder": "%", "power": "^"}
COMPARE = {"less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge", "equal": "eq",
           "not_equal": "ne"}
IN_PLACE = {"add": "iadd", "subtract": "isub", "multiply": "imul", "divide": "idiv", "power": "ipow"}


class Program:
    def __init__(self, seed, extents, block, keep=None):
        self.seed, self.extents, self.block = seed, extents, block
        self.keep = keep  # the only outputs to look at; None: every array that is alive at the end

    def copy(self):
        return Program(self.seed, dict(self.extents), copy.deepcopy(self.block), self.keep)

    def key(self):
        return json.dumps([self.extents, self.block, self.keep])

    def run(self):
        """A machine after the last statement; Reject where the program makes no sense."""
        machine = Machine(self.extents)
        machine.run(self.block)
        return machine

    def operations(self):
        """The names of library functions and methods that the program needs."""
        found = set()

        def walk(x):
            if isinstance(x, list):
                if len(x) > 1 and x[0] in ("op", "reduce", "iop"):
                    found.add(x[1])
                if x and x[0] in ("pick", "join", "dot", "broadcast", "windows", "reshape", "transpose", "cast", "copy", "fill", "read", "sort"):
                    found.add(x[0])
                for y in x:
                    walk(y)
        walk(self.block)
        return found

    def may_fail(self):
        """Does it have what fails when it runs?"""
        return self.has("ruin", "scatter")

    def has(self, *kinds):
        """Expressions or statements of these kinds?"""
        def walk(x):
            return isinstance(x, list) and (bool(x) and x[0] in kinds or any(walk(y) for y in x))
        return walk(self.block)


def number(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) or float(value).is_integer() and abs(value) < 1e15:
        return str(int(value))
    return repr(float(value))


class Lua:
    """Renders one program.  `mutate`: an operation to render as another one (the judge's self-test)."""

    def __init__(self, program, mutate=None):
        self.program, self.mutate = program, mutate
        self.lines = []
        self.turns = []  # the variables of the loops around

    # -- expressions: text, and whether a suffix may follow without parentheses

    def atom(self, e):
        text, atomic = self.expr(e)
        return text if atomic else f"({text})"

    def text(self, e):
        return self.expr(e)[0]

    def expr(self, e):
        return getattr(self, "e_" + e[0])(e)

    def e_var(self, e):
        return e[1], True

    def e_num(self, e):
        return number(e[1]), e[1] >= 0

    def e_op(self, e):
        name, args = e[1], e[2]
        style = e[3] if len(e) > 3 else 0
        if self.mutate and name in self.mutate:
            name = self.mutate[name]
        if name in INFIX and style == 0:
            return f"{self.atom(args[0])} {INFIX[name]} {self.atom(args[1])}", False
        if name == "negative" and style == 0:
            return f"-{self.atom(args[0])}", False
        if name in COMPARE and style == 0 and args[0][0] != "num":
            return f"{self.atom(args[0])}:{COMPARE[name]}({self.text(args[1])})", True
        if name in ("logical_and", "logical_or") and style == 1:
            return f"{self.atom(args[0])} {'*' if name == 'logical_and' else '+'} {self.atom(args[1])}", False
        return f"np.{name}({', '.join(self.text(a) for a in args)})", True

    def e_index(self, e):
        style = e[3] if len(e) > 3 else 0
        base = self.atom(e[1])
        entries = e[2]
        if len(entries) == 1 and entries[0][0] == "i" and style == 0:
            return f"{base}[{position(entries[0][1])}]", True
        if style == 1 and all(x[0] != "n" for x in entries):
            return f"{base}[{{{', '.join(table_entry(x) for x in entries)}}}]", True
        return f"{base}[\"{', '.join(text_entry(x) for x in entries)}\"]", True

    def e_transpose(self, e):
        if e[2] == sorted(e[2], reverse=True):
            return f"{self.atom(e[1])}.T", True
        return f"{self.atom(e[1])}:transpose({', '.join(str(p + 1) for p in e[2])})", True

    def extents(self, shape):
        return ", ".join(str(self.program.extents[n] if isinstance(n, str) else n) for n in shape)

    def e_broadcast(self, e):
        return f"np.broadcast_to({self.text(e[1])}, {{{self.extents(e[2])}}})", True

    def e_windows(self, e):
        return f"np.sliding_window_view({self.text(e[1])}, {e[3]}, {e[2] + 1})", True

    def e_reshape(self, e):
        return f"{self.atom(e[1])}:reshape({self.extents(e[2]) or '{}'})", True

    def e_reduce(self, e):
        _, name, x, axes, keepdims = e
        options = []
        if axes is not None:
            places = ", ".join(str(a + 1) for a in axes)
            options.append(f"axis = {places}" if len(axes) == 1 else f"axis = {{{places}}}")
        if keepdims:
            options.append("keepdims = true")
        return f"np.{name}({self.text(x)}{', {' + ', '.join(options) + '}' if options else ''})", True

    def e_dot(self, e):
        return f"{self.atom(e[1])}:dot({self.text(e[2])})", True

    def e_band(self, e):
        return f"calls.band({self.text(e[1])})", True

    def e_cast(self, e):
        return f"{self.atom(e[2])}:astype(\"{e[1]}\")", True

    def e_copy(self, e):
        return f"{self.atom(e[1])}:copy()", True

    def e_pick(self, e):
        if e[3] is None:
            return f"{self.atom(e[1])}[{self.text(e[2])}]", True
        return f"np.take({self.text(e[1])}, {self.text(e[2])}, {e[3] + 1})", True

    def e_join(self, e):
        return f"np.concatenate({{{', '.join(self.text(a) for a in e[1])}}}, {e[2] + 1})", True

    def e_sort(self, e):
        return f"np.{e[1]}({self.text(e[2])}, {e[3] + 1})", True

    def e_call(self, e):
        return f"calls.{e[1]}({', '.join(self.text(a) for a in e[2])})", True

    def e_ruin(self, e):
        name, x = e[1], self.atom(e[2])
        if name == "take":
            return f"np.take({x}, calls.outside({x}, {e[3]}), 1)", True
        return f"{x} * np.linalg.solve(calls.singular, calls.singular)[1][1]", False

    # -- statements

    def block(self, block, depth, names):
        for s in block:
            getattr(self, "s_" + s[0])(s, depth, names)

    def line(self, depth, text):
        self.lines.append("  " * depth + text)

    def bind(self, name, text, depth, names):
        self.line(depth, f"{'' if name in names else 'local '}{name} = {text}")
        names.add(name)

    def s_new(self, s, depth, names):
        _, name, dtype, shape, params = s
        text = f"input(\"{dtype}\", {{{self.extents(shape)}}}, {', '.join(str(p) for p in params)})"
        self.bind(name, text, depth, names)

    def s_let(self, s, depth, names):
        self.bind(s[1], self.text(s[2]), depth, names)

    def s_set(self, s, depth, _):
        target = self.text(s[1])
        if s[1][0] != "index":
            target += "[\"...\"]"
        self.line(depth, f"{target} = {self.text(s[2])}")

    def s_iop(self, s, depth, _):
        name = self.mutate.get(s[1], s[1]) if self.mutate else s[1]
        self.line(depth, f"{self.atom(s[2])}:{IN_PLACE[name]}({self.text(s[3])})")

    def s_fill(self, s, depth, _):
        self.line(depth, f"{self.atom(s[1])}[{self.text(s[2])}] = {number(s[3])}")

    def s_put(self, s, depth, _):
        _, target, key, e, name, each = s
        if name is None:
            self.line(depth, f"{self.atom(target)}[{self.text(key)}] = {self.text(e)}")
        elif each:
            self.line(depth, f"np.{name}.at({self.text(target)}, {self.text(key)}, {self.text(e)})")
        else:
            self.line(depth, f"{self.atom(target)}:at({self.text(key)}):{IN_PLACE[name]}({self.text(e)})")

    def s_into(self, s, depth, _):
        where = "" if s[4] is None else f", where = {self.text(s[4])}"
        self.line(depth, f"np.{s[1]}({', '.join(self.text(a) for a in s[3])}, {{out = {self.text(s[2])}{where}}})")

    def s_scatter(self, s, depth, _):
        self.line(depth, f"{s[1][1]}[calls.outside({s[1][1]}, {s[2]})] = 0")

    def s_host(self, s, depth, _):
        self.line(depth, f"calls.negate({self.text(s[1])})")

    def s_free(self, s, depth, _):
        self.line(depth, f"{s[1]}:free()")

    def s_fails(self, s, depth, _):
        self.line(depth, f"calls.fails(function() return {self.text(s[1])} end)")

    def s_exhaust(self, s, depth, _):
        self.line(depth, f"calls.exhaust({self.text(s[1])})")

    def s_read(self, s, depth, names):
        self.bind(s[1], f"{self.atom(s[2])}({', '.join(str(position(k)) for k in s[3])})", depth, names)
        self.line(depth, f"seen({s[1]})")

    def s_nil(self, s, depth, _):
        self.line(depth, f"{s[1]} = nil")

    def s_gc(self, _s, depth, _):
        self.line(depth, "collectgarbage()")

    def s_flush(self, _s, depth, _):
        self.line(depth, "lgt.flush()")

    def s_caught(self, s, depth, _):
        self.line(depth, f"calls.fails(function() return {s[1]}:totable() end)")

    def s_for(self, s, depth, names):
        self.turns.append(f"t{len(self.turns) + 1}")
        self.line(depth, f"for {self.turns[-1]} = 1, {s[1]} do")
        self.block(s[2], depth + 1, set(names))
        self.line(depth, "end")
        self.turns.pop()

    def s_every(self, s, depth, names):
        self.line(depth, f"if {self.turns[-1] if self.turns else 'nil'} % {s[1]} == 0 then")
        self.block(s[2], depth + 1, set(names))
        self.line(depth, "end")

    def s_stop(self, s, depth, _):
        self.line(depth, f"if {self.condition(s[1])} then {'break' if self.turns else 'error()'} end")

    def s_named(self, s, depth, names):
        self.line(depth, f"calls.named({s[1]}, function()")
        self.block(s[2], depth + 1, set(names))
        self.line(depth, "end)")

    def s_both(self, s, depth, names):
        self.line(depth, "calls.both(function()")
        self.s_for(["for", s[1], s[2]], depth + 1, names)
        self.line(depth, "end, function()")
        self.s_for(["for", s[3], s[4]], depth + 1, names)
        self.line(depth, "end)")

    def s_yield(self, _s, depth, _):
        self.line(depth, "coroutine.yield()")

    def s_swap(self, s, depth, _):
        self.line(depth, f"{s[1]}, {s[2]} = {s[2]}, {s[1]}")

    def s_ring(self, s, depth, names):
        self.bind(s[1], f"ring({s[2]}, {s[3]}, {self.text(s[4])})", depth, names)

    def s_if(self, s, depth, names):
        self.line(depth, f"if {self.condition(s[1])} then")
        self.block(s[2], depth + 1, set(names))
        if s[3]:
            self.line(depth, "else")
            self.block(s[3], depth + 1, set(names))
        self.line(depth, "end")

    def condition(self, cond):
        if cond[0] == "lt":
            return f"{cond[1]} < {number(cond[2])}"
        if cond[0] == "lt0":
            return f"{self.atom(cond[1])} < {number(cond[2])}"
        return f"np.{cond[0]}({self.text(cond[1])})"


def position(k):
    """A Python index as a Lua position."""
    return k + 1 if k >= 0 else k


def bounds(entry):
    """lo and hi of a Python slice as Lua's inclusive ones; None where omitted."""
    _, lo, hi, step = entry
    if hi is None:
        last = None
    elif step > 0:
        last = hi if hi >= 0 else hi - 1
    else:
        last = hi + 2 if hi >= 0 else hi + 1
    return None if lo is None else position(lo), last, step


def text_entry(entry):
    if entry[0] == "n":
        return "*"
    if entry[0] == "i":
        return str(position(entry[1]))
    lo, hi, step = bounds(entry)
    text = f"{'' if lo is None else lo}:{'' if hi is None else hi}"
    return text if step == 1 else f"{text}:{step}"


def table_entry(entry):
    if entry[0] == "i":
        return str(position(entry[1]))
    lo, hi, step = bounds(entry)
    if lo is None and hi is None and step == 1:
        return "{}"
    lo = (1 if step > 0 else -1) if lo is None else lo
    hi = (-1 if step > 0 else 1) if hi is None else hi
    return f"{{{lo}, {hi}{'' if step == 1 else f', step = {step}'}}}"


def lua_text(program, outputs, mutate=None):
    """The body of a Lua function that runs the program and keeps its outputs."""
    lua = Lua(program, mutate)
    if program.has("ring"):
        lua.line(1, "local ring = calls.rings()")
    lua.block(program.block, 1, set())
    for name in outputs:
        lua.line(1, f"keep(\"{name}\", {name})")
    if program.may_fail():
        lua.line(1, "pcall(lgt.fence)")
    return "\n".join(lua.lines)


def outputs_of(program, machine):
    return [name for name, x in machine.env.items()
            if isinstance(x, Arr) and (program.keep is None or name in program.keep)]
