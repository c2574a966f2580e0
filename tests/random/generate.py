"""Makes random programs (program.py), each from a seed.

The generator runs what it writes: every candidate statement is tried on a Machine, and what the
machine rejects (shapes, domains, undecidable comparisons) is thrown away.  So programs are valid by
construction.  loops.py makes loops, branches and coroutines.

A program has a profile: which dtypes, how large, how deep expressions are, and what it does most
(stencils over views, broadcasting, in-place writes through aliases, reductions, loops).
"""
import random

from loops import Loops
from machine import CALLS, KINDS, OPS_AT, Arr, Machine, Num, Reject
from program import Program
from turns import Break

BINARY = ["add", "subtract", "multiply", "add", "subtract", "multiply", "divide", "maximum", "minimum"]
RARE_BINARY = ["remainder", "power", "floor_divide", "fmod", "fmax", "fmin", "arctan2", "hypot", "copysign"]
UNARY = ["negative", "abs", "square", "sqrt", "exp", "sin", "cos", "tanh"]
RARE_UNARY = ["sign", "floor", "ceil", "trunc", "rint", "exp2", "expm1", "log", "log2", "log10", "log1p", "tan",
              "arcsin", "arccos", "arctan", "sinh", "cosh", "arcsinh", "arccosh", "arctanh", "cbrt"]
COMPARISONS = ["less", "less_equal", "greater", "greater_equal", "equal", "not_equal"]
LOGIC = ["logical_and", "logical_or", "logical_xor"]
BITS = ["bitwise_and", "bitwise_or", "bitwise_xor"]
NUMBERS = [2, 3, -1, 0.5, 0.25, 1.5, -0.75, 0.1, 3.3, 1, -2, 7]
# What brings values into a domain: the operand x becomes such an expression.
INTO = {
    "sqrt": [["op", "abs", ["x"]]],
    "log": [["op", "add", [["op", "abs", ["x"]], ["num", 0.5]]]],
    "exp": [["op", "negative", [["op", "abs", ["x"]]]], ["op", "sin", ["x"]]],
    "unit": [["op", "multiply", [["num", 0.9], ["op", "sin", ["x"]]]]],
    "above": [["op", "add", [["op", "abs", ["x"]], ["num", 1.25]]]],
    "small": [["op", "tanh", ["x"]], ["op", "multiply", ["x", ["num", 0.01]]]],
}
HELP = {"sqrt": "sqrt", "log": "log", "log2": "log", "log10": "log", "log1p": "sqrt", "exp": "exp", "exp2": "exp",
        "expm1": "exp", "arcsin": "unit", "arccos": "unit", "arctanh": "unit", "arccosh": "above", "tan": "unit",
        "sinh": "small", "cosh": "small", "arcsinh": "small", "sin": "small", "cos": "small"}


def substitute(template, x):
    if template == "x":
        return x
    if isinstance(template, list):
        return [substitute(t, x) for t in template]
    return template


class Profile:
    def __init__(self, rng, longest):
        self.size = rng.choices(["tiny", "small", "medium", "large", "huge"], [4, 8, 3, 0.6, 0.8])[0]
        huge = self.size == "huge"  # loops of so many elements are cut into chunks for several workers
        self.length = min(longest, rng.choice([5, 8, 12, 16, 20] if huge else [5, 8, 12, 16, 20, 25, 30, 40, 60]))
        self.depth = rng.choice([1, 2, 2, 3, 3, 4])
        self.room = 250000 if huge else 60000  # elements of one array
        self.dtypes = rng.choice([["float64"], ["float64"], ["float64", "float32"], ["float32"],
                                  ["float64", "int64", "bool"], ["float64", "float32", "int64", "int32", "bool"],
                                  ["int64", "int32", "bool"], ["float64", "int16", "uint8", "float32"],
                                  ["complex128", "float64"], ["complex64", "float32", "int32"],
                                  ["float16", "float32", "int8"], ["uint8", "uint16", "uint32", "uint64", "int64"]])
        self.picks = rng.choice([0, 0.03, 0.1])
        self.views = rng.choice([0.1, 0.3, 0.6])
        self.rare = rng.choice([0.05, 0.15, 0.4])
        self.alias = rng.choice([0.2, 1, 2])
        self.reductions = rng.choice([0.3, 1, 2])
        self.loops = rng.choice([0, 1, 2, 3])
        self.drops = rng.choice([0.3, 1, 2])
        self.empty = rng.random() < 0.06
        self.special = rng.random() < 0.05
        self.ruins = rng.choice([0, 0, 1, 4])  # what fails when it runs, and is used and overwritten


class Generator(Loops):
    def __init__(self, seed, without=(), longest=60):
        self.rng = random.Random(seed)
        self.seed = seed
        self.profile = Profile(self.rng, longest)
        self.without = set(without)
        self.extents = {}
        self.machine = None
        self.ran = None  # a machine like it that has run the statement which was just made
        self.counter = 0
        self.fixed = set()  # names that an enclosing block may not drop
        self.budget = 6 * self.profile.length  # candidate statements

    # -- the program

    def program(self):
        rng = self.rng
        sizes = {"tiny": (1, 5), "small": (3, 20), "medium": (15, 70), "large": (90, 170), "huge": (200, 420)}[self.profile.size]
        for i in range(rng.choice([2, 3, 3, 4])):
            self.extents[f"n{i}"] = rng.randint(*sizes)
        if self.profile.empty:
            self.extents["n1"] = 0
        self.machine = Machine(self.extents)
        self.machine.memo = {}
        block = []
        for _ in range(rng.randint(2, 5)):
            self.emit(block, self.new_input)
        for _ in range(2 * self.profile.length):
            if len(block) < self.profile.length:
                self.statement(block, 0)
        return Program(self.seed, self.extents, block)

    def statement(self, block, depth):
        p = self.profile
        if self.rng.random() < 0.03 * p.alias and self.twin(block, depth):
            return
        if self.rng.random() < 0.03 * p.drops and self.brief(block, depth):
            return
        makers = [(self.new_input, 3 if depth == 0 else 0.3), (self.let, 30), (self.let_view, 8 * p.alias),
                  (self.assign, 10 * p.alias), (self.in_place, 8 * p.alias), (self.fill, 1.5), (self.read, 3),
                  (self.into, 2 * p.alias), (self.put, 60 * p.picks), (self.host, 0.5), (self.fails, 1),
                  (self.exhaust, 0.15), (self.ruin, 2 * p.ruins), (self.scatter, p.ruins), (self.free, 2 * p.drops),
                  (self.drop, 5 * p.drops if depth == 0 else 0), (self.gc, 2 * p.drops), (self.flush, 3),
                  (self.rebind, 4), (self.loop, 3 * p.loops if depth < 2 else 0),
                  (self.both, 0.7 * p.loops if depth < 1 else 0), (self.swap, 2), (self.ring, 1), (self.caught, p.ruins),
                  (self.every, 2 * p.loops), (self.stop, 0.3 * p.loops), (self.named, p.loops if depth < 3 else 0),
                  (self.branch, 2 if depth < 2 else 0)]
        for make in self.rng.choices([m for m, _ in makers], [w for _, w in makers], k=8):
            if self.budget > 0 and self.emit(block, make, depth):
                return

    def emit(self, block, make, depth=0):
        """One statement that the machine accepts, or none."""
        self.budget -= 1
        try:
            s = make(depth)
            if s is None:
                return False
            if self.ran:
                self.machine, self.ran = self.ran, None
            else:
                self.step(s, depth)
        except (Reject, Break):
            return False
        block.append(s)
        return True

    def step(self, s, depth):
        before = len(self.machine.seen)
        try:
            self.machine.step(s, depth)
        except (Reject, Break):
            del self.machine.seen[before:]
            raise

    def name(self, prefix):
        self.counter += 1
        return f"{prefix}{self.counter}"

    def arrays(self):
        return [n for n, x in self.machine.env.items() if isinstance(x, Arr)]

    def pick(self, accept=lambda x: True):
        """The name of an array, later ones more often."""
        names = [n for n in self.arrays() if accept(self.machine.env[n])]
        if not names:
            raise Reject("no array")
        return names[-1 - min(int(self.rng.expovariate(0.35)), len(names) - 1)]

    def type_of(self, e):
        x = self.machine.array(e)
        if x.size > self.profile.room:
            raise Reject("too large")
        return x

    # -- leaves and views

    def new_input(self, depth):
        rng = self.rng
        dtype = rng.choice(self.profile.dtypes)
        names = list(self.extents)
        ndim = rng.choices([0, 1, 2, 3, 4], [1, 6, 8, 3, 0.7 if self.profile.size in ("tiny", "small") else 0])[0]
        if self.profile.size in ("large", "huge"):
            ndim = min(ndim, 2)
        first = rng.randint(0, len(names) - 1)
        shape = [names[min(first + i, len(names) - 1)] if rng.random() < 0.85 else rng.choice(names + [1])
                 for i in range(ndim)]
        m = rng.choice([5, 17, 101, 1009])
        params = [rng.randint(1, 400), rng.randint(0, 100), m, rng.choice([1, 3, 4, 7, 10, 50]) * (1 + m // 60)]
        return ["new", self.name("x"), dtype, shape, params]

    def slice_entry(self, n):
        rng = self.rng
        kind = rng.random()
        if n == 0 or kind < 0.25:
            return ["s", None, None, 1]
        if kind < 0.7:  # as in a stencil
            lo = rng.choice([None, 1, 1, 2])
            hi = rng.choice([None, -1, -1, -2])
            return ["s", lo, hi, 1]
        if kind < 0.8:
            return ["s", None, None, rng.choice([2, 2, 3, -1, -1, -2])]
        if kind < 0.85:
            return ["i", rng.randint(-n, n - 1)]
        a, b = sorted((rng.randint(0, n), rng.randint(0, n)))
        if a == b and not self.profile.empty and rng.random() < 0.8:
            a, b = 0, n
        if rng.random() < 0.15 and b - a > 1:  # backwards
            return ["s", b - 1, a - 1 if a else None, rng.choice([-1, -1, -2])]
        if rng.random() < 0.3:
            a = a - n if a < n and a else a
        return ["s", a, b, rng.choice([1, 1, 1, 2, 3])]

    def view(self, e):
        """A random view of e."""
        rng = self.rng
        x = self.type_of(e)
        kind = rng.random()
        if kind < 0.62 and x.ndim:
            entries = [self.slice_entry(n) for n in x.shape]
            if rng.random() < 0.08 and x.ndim < 4:
                entries.insert(rng.randint(0, len(entries)), ["n"])
            return ["index", e, entries, rng.randint(0, 1)]
        if kind < 0.75 and x.ndim >= 2:
            perm = list(range(x.ndim))
            rng.shuffle(perm)
            return ["transpose", e, perm]
        if kind < 0.85 and x.ndim:
            entries = [["s", None, None, 1] for _ in x.shape]
            k = rng.randrange(x.ndim)
            n = x.shape[k]
            if n == 0:
                raise Reject("empty")
            entries[k] = ["i", rng.randint(-n, n - 1)]
            return ["index", e, entries, rng.randint(0, 1)]
        if kind < 0.92 and x.ndim < 4 and x.ndim:
            entries = [["s", None, None, 1] for _ in x.shape]
            entries.insert(rng.randint(0, x.ndim), ["n"])
            return ["index", e, entries, 0]
        if x.contiguous() and x.ndim and x.size:
            return ["reshape", e, self.other_shape(x)]
        raise Reject("no view")

    def other_shape(self, x):
        shape = list(x.shape)
        options = []
        if len(shape) >= 2:
            k = self.rng.randrange(len(shape) - 1)
            options.append(shape[:k] + [shape[k] * shape[k + 1]] + shape[k + 2:])
        for k, n in enumerate(shape):
            for f in (2, 3, 5):
                if n % f == 0 and n > f and len(shape) < 4:
                    options.append(shape[:k] + [f, n // f] + shape[k + 1:])
        if not options:
            raise Reject("no other shape")
        return self.rng.choice(options)

    def leaf(self):
        e = ["var", self.pick()]
        while self.rng.random() < self.profile.views:
            e = self.view(e)
        return e

    def fit(self, e, shape):
        """A view of e that broadcasts to the shape."""
        rng = self.rng
        x = self.type_of(e)
        if x.ndim > len(shape):
            entries = [["i", rng.randrange(n)] if n else ["s", None, None, 1] for n in x.shape[:x.ndim - len(shape)]]
            e = ["index", e, entries + [["s", None, None, 1]] * len(shape), rng.randint(0, 1)]
            x = self.type_of(e)
        if x.ndim == 0:
            return e
        goal = shape[len(shape) - x.ndim:]
        if x.ndim == 2 and x.shape != goal and x.shape[::-1] == goal:
            return ["transpose", e, [1, 0]]
        entries, changed = [], False
        for n, want in zip(x.shape, goal):
            if n == want or n == 1 and rng.random() < 0.9:
                entries.append(["s", None, None, 1])
                continue
            changed = True
            if n < want or n == 0 or want == 0:
                if n and rng.random() < 0.7:
                    entries += [["s", 0, 1, 1]]
                    continue
                raise Reject("does not fit")
            step = rng.choice([1, 1, 1, 1, 2, -1])
            span = (want - 1) * abs(step) + 1
            if span > n:
                step, span = (1 if step > 0 else -1), want
            lo = rng.choice([0, n - span, rng.randint(0, n - span)])
            hi = lo + span
            if step < 0:
                entries.append(["s", hi - 1, lo - 1 if lo else None, step])
            elif rng.random() < 0.7:
                entries.append(["s", lo or None, hi - n if hi < n else None, step])
            else:
                entries.append(["s", lo, hi, step])
        return ["index", e, entries, rng.randint(0, 1)] if changed else e

    # -- expressions

    def expr(self, depth):
        rng, p = self.rng, self.profile
        for _ in range(8):
            try:
                kind = rng.random()
                if depth > 0 and rng.random() < p.picks:
                    e = rng.choice([self.picked, self.picked, self.join, self.call])(depth)
                elif depth <= 0 or kind < 0.12:
                    e = self.leaf()
                elif kind < 0.6:
                    e = self.binary(depth)
                elif kind < 0.76:
                    e = self.unary(depth)
                elif kind < 0.80:
                    e = self.compare(depth)
                elif kind < 0.84:
                    e = self.where(depth)
                elif kind < 0.84 + 0.06 * p.reductions:
                    e = self.reduction(depth)
                elif kind < 0.94:
                    e = self.convert(depth) if rng.random() > p.picks else self.sort(depth)
                else:
                    e = self.product()
                self.type_of(e)
                return e
            except Reject:
                continue
        raise Reject("no expression")

    def other_operand(self, shape, depth, numbers=0.35):
        """Something that broadcasts with the shape."""
        rng = self.rng
        if rng.random() < numbers:
            reads = [n for n, x in self.machine.env.items() if isinstance(x, Num) and x.source != "bool"]
            if reads and rng.random() < 0.5:
                return ["var", rng.choice(reads)]
            return ["num", rng.choice(NUMBERS)]
        if rng.random() < 0.3 and depth > 1:
            e = self.expr(depth - 1)
        else:
            e = self.leaf() if rng.random() < 0.5 else ["var", self.pick()]
        return e if rng.random() < 0.1 else self.fit(e, shape)

    def binary(self, depth):
        rng = self.rng
        a = self.expr(depth - 1)
        x = self.type_of(a)
        if x.dtype == "bool":
            name = rng.choice(LOGIC + ["add", "multiply"])
            return ["op", name, [a, self.other_operand(x.shape, depth, 0)], rng.randint(0, 1) if name in LOGIC else 0]
        if KINDS[x.dtype] == "i" and rng.random() < 0.2:
            name = rng.choice(BITS)
        else:
            name = rng.choice(RARE_BINARY if rng.random() < self.profile.rare else BINARY)
        b = self.other_operand(x.shape, depth)
        if name in ("remainder", "power", "fmod", "floor_divide") and rng.random() < 0.8:
            b = ["num", rng.choice([2, 3, 2, 0.5, 1.5])]
        args = [a, b]
        if rng.random() < 0.3 and name not in ("power",):
            args.reverse()
        if name == "divide" and args[1][0] != "num" and rng.random() < 0.8:
            if KINDS[self.type_of(args[1]).dtype] == "f":
                args[1] = ["op", "add", [["op", "abs", [args[1]], 0], ["num", 0.75]], 0]
        return self.need(["op", name, args, 0])

    def need(self, e):
        if e[1] in self.without:
            raise Reject("not in the library")
        return e

    def unary(self, depth):
        rng = self.rng
        a = self.expr(depth - 1)
        x = self.type_of(a)
        if x.dtype == "bool":
            return self.need(["op", "logical_not", [a], 0])
        if KINDS[x.dtype] == "c":
            return self.need(["op", rng.choice(["conj", "real", "imag", "abs", "negative", "square"]), [a], 0])
        name = rng.choice(RARE_UNARY if rng.random() < self.profile.rare else UNARY)
        e = self.need(["op", name, [a], 0])
        try:
            self.type_of(e)
            return e
        except Reject:
            if name not in HELP:
                raise
        inner = self.tag(substitute(rng.choice(INTO[HELP[name]]), a))
        return ["op", name, [inner], 0]

    def tag(self, e):
        """Styles for the operations of a template."""
        if isinstance(e, list) and e and e[0] == "op" and len(e) == 3:
            return ["op", e[1], [self.tag(a) for a in e[2]], 0]
        return e

    def compare(self, depth):
        a = self.expr(depth - 1)
        x = self.type_of(a)
        if x.dtype == "bool":
            raise Reject("comparison of booleans")
        if self.rng.random() < 0.05 and KINDS[x.dtype] == "f":
            return self.need(["op", self.rng.choice(["isnan", "isfinite", "isinf"]), [a], 0])
        return self.need(["op", self.rng.choice(COMPARISONS), [a, self.other_operand(x.shape, depth)],
                          self.rng.randint(0, 1)])

    def mask(self, shape, depth):
        """A boolean array that broadcasts to the shape."""
        for _ in range(4):
            try:
                if self.rng.random() < 0.4:
                    e = self.fit(["var", self.pick(lambda x: x.dtype == "bool")], shape)
                else:
                    b = self.other_operand(shape, 1, 0)
                    e = self.need(["op", self.rng.choice(COMPARISONS), [b, self.other_operand(shape, 1, 0.7)], 0])
                if self.type_of(e).dtype == "bool":
                    return e
            except Reject:
                continue
        raise Reject("no mask")

    def where(self, depth):
        a = self.expr(depth - 1)
        x = self.type_of(a)
        args = [self.mask(x.shape, depth), a, self.other_operand(x.shape, depth, 0.4)]
        if self.rng.random() < 0.3:
            args[1], args[2] = args[2], args[1]
        return self.need(["op", "where", args, 0])

    def reduction(self, depth):
        rng = self.rng
        a = self.expr(depth - 1)
        x = self.type_of(a)
        names = ["sum", "sum", "sum", "min", "max", "prod", "mean", "argmin", "argmax"]
        if x.dtype == "bool":
            names = ["any", "all", "sum"]
        name = rng.choice(names)
        if name in self.without:
            raise Reject("not in the library")
        axes = None
        if name in ("any", "all") or rng.random() < 0.65 and x.ndim:
            count = 1 if name.startswith("arg") or rng.random() < 0.8 else rng.randint(1, max(1, x.ndim))
            if x.ndim == 0:
                raise Reject("no axis")
            axes = sorted(rng.sample(range(x.ndim), min(count, x.ndim)))
        keep = axes is not None and not name.startswith("arg") and rng.random() < 0.3
        return ["reduce", name, a, axes, keep]

    def convert(self, depth):
        rng = self.rng
        a = self.expr(depth - 1)
        x = self.type_of(a)
        kind = rng.random()
        if kind < 0.35:
            return ["copy", a]
        if kind < 0.5 and x.ndim and x.size and x.ndim < 4:
            return ["copy", ["reshape", a, self.other_shape(x)]]
        if kind < 0.62 and x.ndim < 4 and x.size < 400:
            return ["op", "multiply", [["num", 2], ["broadcast", a, [rng.randint(1, 4)] + list(x.shape)]], 0]
        if kind < 0.72 and 0 < x.ndim < 4 and 0 < x.size < 400:
            axis = rng.randrange(x.ndim)
            e = ["windows", a, axis, rng.randint(1, min(3, x.shape[axis]))]
            return ["op", "multiply", [["num", 2], e], 0] if rng.random() < 0.5 else ["reduce", "max", e, [x.ndim], False]
        others = [d for d in ["float64", "float32", "int64", "int32", "bool"] + self.profile.dtypes if d != x.dtype]
        return ["cast", rng.choice(others), a]

    def sort(self, depth):
        a = self.expr(depth - 1)
        x = self.type_of(a)
        if x.ndim == 0:
            raise Reject("nothing to sort")
        return ["sort", self.rng.choice(["sort", "sort", "argsort"]), a, self.rng.randrange(x.ndim)]

    def product(self):
        rng = self.rng
        if rng.random() < 0.6:
            a = ["var", self.pick(lambda x: x.dtype in ("float64", "float32", "complex128", "int64") and x.ndim == 1)]
            e = ["band", a]
            if rng.random() < 0.7:  # with what often goes with it, in one pass
                e = ["op", rng.choice(["add", "subtract", "multiply"]), [e, a] if rng.random() < 0.5 else [self.leaf(), e], 0]
            return e
        a = ["var", self.pick(lambda x: KINDS[x.dtype] in "fc" and 1 <= x.ndim <= 2)]
        x = self.type_of(a)
        fits = [n for n in self.arrays() if 1 <= self.machine.env[n].ndim <= 2 and self.machine.env[n].dtype == x.dtype]
        rng.shuffle(fits)
        for n in fits:
            for b in (["var", n], ["transpose", ["var", n], [1, 0]]):
                try:
                    e = ["dot", a, b]
                    self.type_of(e)
                    return e
                except Reject:
                    continue
        raise Reject("nothing to multiply with")

    # -- what is picked, joined, called

    def positions(self, n):
        """Positions within an extent n: whatever integers there are, brought into it."""
        e = ["var", self.pick(lambda x: KINDS[x.dtype] == "i" and 1 <= x.ndim <= 2 and x.size <= 2000)]
        x = self.type_of(e)
        if x.ndim == 2 and self.rng.random() < 0.5:
            e = ["index", e, [["i", 0], ["s", None, None, 1]], 0]
        if self.rng.random() < 0.2:  # counted from the end
            return ["op", "subtract", [["num", -1], ["op", "remainder", [e, ["num", n]], 0]], 0]
        return ["op", "add", [["op", "remainder", [e, ["num", n]], 0], ["num", 1]], 0]

    def key(self, x, depth):
        """A mask or positions for x[key]."""
        if x.ndim == 0:
            raise Reject("nothing to pick from")
        return self.mask(x.shape, depth) if self.rng.random() < 0.4 else self.positions(x.shape[0])

    def picked(self, depth):
        rng = self.rng
        a = self.expr(depth - 1)
        x = self.type_of(a)
        if x.ndim and rng.random() < 0.3:
            axis = rng.randrange(x.ndim)
            return ["pick", a, self.positions(x.shape[axis]), axis]
        return ["pick", a, self.key(x, 1), None]

    def join(self, depth):
        a = self.expr(depth - 1)
        x = self.type_of(a)
        if x.ndim == 0:
            raise Reject("nothing to join")
        parts = [a] + [self.fit(self.leaf(), x.shape) for _ in range(self.rng.randint(0, 2))]
        self.rng.shuffle(parts)
        return ["join", parts, self.rng.randrange(x.ndim)]

    def call(self, depth):
        name = self.rng.choice(list(CALLS))
        a = self.expr(depth - 1)
        if name == "spread":
            return ["call", name, [a]]
        return ["call", name, [a, self.other_operand(self.type_of(a).shape, depth, 0)]]

    # -- statements

    def let(self, depth):
        e = self.expr(self.profile.depth)
        if e[0] == "var":
            return None
        return ["let", self.name("x"), e]

    def let_view(self, depth):
        e = self.view(["var", self.pick(lambda x: x.ndim > 0)])
        if self.rng.random() < 0.2:
            e = self.view(e)
        return ["let", self.name("v"), e]

    def target(self):
        e = ["var", self.pick(lambda x: x.writable())]
        x = self.type_of(e)
        if x.ndim and self.rng.random() < 0.7:
            e = self.view(e)
            if e[0] == "reshape" and self.rng.random() < 0.7:
                e = e[1]
        return e

    def related(self, target, x):
        """A view of the same variable with the target's shape: source and destination overlap."""
        base = target
        while base[0] != "var":
            base = base[1]
        return self.fit(base, x.shape)

    def assign(self, depth):
        rng = self.rng
        target = self.target()
        x = self.type_of(target)
        kind = rng.random()
        if kind < 0.15:
            value = ["num", rng.choice(NUMBERS)]
        elif kind < 0.5:
            a, b = self.related(target, x), self.other_operand(x.shape, 1, 0.3)
            value = ["op", rng.choice(["add", "subtract", "multiply", "maximum"]), [a, b], 0]
            if rng.random() < 0.5:
                value = ["op", "multiply", [["num", 0.5], value], 0]
        elif kind < 0.6:
            value = self.related(target, x)
        else:
            value = self.fit(self.expr(self.profile.depth), x.shape)
        return ["set", target, self.as_kind(value, x.dtype)]

    def twin(self, block, depth):
        """A copy, written in part; then it and what it was copied from are read with neighbours."""
        names = [n for n in self.arrays() if max(self.machine.env[n].shape, default=0) > 2]
        if not names:
            return False
        source, copy = self.rng.choice(names), self.name("x")
        if not self.emit(block, lambda _: ["let", copy, ["copy", ["var", source]]], depth):
            return False

        def write(_):
            target = self.view(["var", copy])
            x = self.type_of(target)
            return ["set", target, self.as_kind(self.other_operand(x.shape, 1, 0.4), x.dtype)]

        def put(_):
            x = self.type_of(["var", copy])
            key = self.positions(x.shape[0])
            picked = self.machine.array(["pick", ["var", copy], key, None])
            return ["put", ["var", copy], key, self.as_kind(self.other_operand(picked.shape, 1, 0.4), x.dtype), None, False]

        for _ in range(6):
            if self.emit(block, self.rng.choice([write, write, put]), depth):
                break
        for name in self.rng.sample([copy, source], 2):
            if self.rng.random() < 0.7:
                self.emit(block, self.flush, depth)
            self.emit(block, lambda _: self.neighbours(name), depth)
        return True

    def brief(self, block, depth):
        """An array that is written in part, used, and dropped in the window that made it; so may be what it was made of."""
        rng, source, name = self.rng, self.pick(), self.name("x")
        old = ["var", source]

        def make(_):
            if rng.random() < 0.5:
                return ["let", name, ["copy", old]]
            return ["let", name, ["op", "add", [old, self.other_operand(self.type_of(old).shape, 1, 0.4)], 0]]

        def change(of):
            target = self.view(["var", of]) if rng.random() < 0.8 else ["var", of]
            x = self.type_of(target)
            value = self.fit(["var", rng.choice([source, name])], x.shape) if rng.random() < 0.5 else self.other_operand(x.shape, 1, 0.4)
            if rng.random() < 0.6 or x.dtype == "bool":
                return ["set", target, self.as_kind(value, x.dtype)]
            return ["iop", rng.choice(["add", "subtract", "multiply"]), target, value]

        def use(_):
            value = self.view(["var", name]) if rng.random() < 0.4 else ["var", name]
            value = ["op", rng.choice(["add", "multiply"]), [value, self.other_operand(self.type_of(value).shape, 1, 0.4)], 0]
            return ["let", self.name("x"), value]

        if not self.emit(block, make, depth):
            return False
        for step in rng.choices([lambda _: change(name), lambda _: change(source), use], [4, 2, 3], k=rng.randint(2, 6)) + [use]:
            self.emit(block, step, depth)
        if not depth:
            self.emit(block, lambda _: [rng.choice(["nil", "nil", "free"]), name])
            if rng.random() < 0.6:
                self.emit(block, self.gc)
        return True

    def neighbours(self, name):
        shape = self.type_of(["var", name]).shape
        axis = self.rng.choice([k for k, n in enumerate(shape) if n > 2])
        parts = []
        for lo, hi in ((1, None), (None, -1)):
            entries = [["s", None, None, 1] for _ in shape]
            entries[axis] = ["s", lo, hi, 1]
            parts.append(["index", ["var", name], entries, 0])
        return ["let", self.name("x"), ["op", "add", parts, 0]]

    def as_kind(self, e, dtype):
        """Cast where assignment would be of another kind."""
        x = self.machine.eval(e)
        if isinstance(x, Arr) and KINDS[x.dtype] != KINDS[dtype] and self.rng.random() < 0.8:
            return ["cast", dtype, e]
        return e

    def in_place(self, depth):
        rng = self.rng
        target = self.target()
        x = self.type_of(target)
        if x.dtype == "bool":
            return None
        e = self.related(target, x) if rng.random() < 0.3 else self.other_operand(x.shape, self.profile.depth)
        return ["iop", rng.choice(["add", "subtract", "multiply", "add", "divide"]), target, e]

    def fill(self, depth):
        if "fill" in self.without:
            return None
        target = self.target()
        x = self.type_of(target)
        mask = self.mask(x.shape, 1)
        if self.type_of(mask).shape != x.shape or x.dtype == "bool":
            return None
        return ["fill", target, mask, self.rng.choice([0, 1, -1, 2] if KINDS[x.dtype] == "i" else NUMBERS)
                if not x.dtype.startswith("u") else 1]

    def put(self, depth):
        rng = self.rng
        target = self.target()
        x = self.type_of(target)
        key = self.key(x, 1)
        picked = self.machine.array(["pick", target, key, None])
        e = self.other_operand(picked.shape, 1, 0.4)
        kind = rng.random()
        if kind < 0.4:
            return ["put", target, key, self.as_kind(e, x.dtype), None, False]
        if kind < 0.75:
            return ["put", target, key, e, rng.choice(["add", "subtract", "multiply"]), False]
        return ["put", target, key, self.as_kind(e, x.dtype), rng.choice(list(OPS_AT)), True]

    def into(self, depth):
        """A ufunc whose result goes into an array, or where a mask is true."""
        rng = self.rng
        target = self.target()
        x = self.type_of(target)
        a = self.related(target, x) if rng.random() < 0.4 else self.other_operand(x.shape, 2, 0)
        if x.dtype == "bool":
            name, operands = rng.choice(COMPARISONS), [a, self.other_operand(x.shape, 1)]
        elif rng.random() < 0.3:
            name, operands = rng.choice(UNARY), [a]
        else:
            name, operands = rng.choice(BINARY), [a, self.other_operand(x.shape, 1)]
        mask = self.mask(x.shape, 1) if rng.random() < 0.5 else None
        return ["into", name, target, operands, mask]

    def host(self, depth):
        return ["host", self.target()]

    def free(self, depth):
        names = [n for n in self.arrays() if n not in self.fixed]
        if len(names) < 4:
            return None
        return ["free", self.rng.choice(names)]

    def fails(self, depth):
        """An expression that is not refused before its last operation."""
        rng = self.rng
        a = self.expr(1)
        x = self.type_of(a)
        kind = rng.random()
        if kind < 0.4:
            return ["fails", ["op", "add", [a, self.leaf()], 0]]
        if x.ndim == 0:
            return None
        if kind < 0.7:
            entries = [["s", None, None, 1] for _ in x.shape]
            k = rng.randrange(x.ndim)
            entries[k] = ["i", rng.choice([x.shape[k], -x.shape[k] - 1])]
            return ["fails", ["index", a, entries, rng.randint(0, 1)]]
        return ["fails", ["reshape", a, [x.size + 1]]]

    def ruin(self, depth):
        """What fails when it runs; others are computed from it, and it may be overwritten."""
        rng = self.rng
        e = ["ruin", rng.choice(["take", "take", "solve"]), ["var", self.pick()], self.number()]
        if rng.random() < 0.3:
            x = self.type_of(e)
            e = ["op", "add", [e, self.other_operand(x.shape, 1, 0.3)], 0]
        if rng.random() < 0.4:
            target = self.target()
            return ["set", target, self.as_kind(self.fit(e, self.type_of(target).shape), self.type_of(target).dtype)]
        return ["let", self.name("x"), e]

    def caught(self, depth):
        return ["caught", self.pick(lambda x: x.root.bad)]

    def scatter(self, depth):
        return ["scatter", ["var", self.pick(lambda x: x.writable())], self.number()]

    def number(self):
        self.counter += 1
        return self.counter

    def exhaust(self, depth):
        return ["exhaust", ["var", self.pick(lambda x: x.dtype != "bool")]]

    def read(self, depth):
        e = ["var", self.pick(lambda x: x.size > 0 and KINDS[x.dtype] != "c")]
        x = self.type_of(e)
        if self.rng.random() < 0.4 and x.ndim:
            e = ["reduce", self.rng.choice(["sum", "max", "min"]), e, None, False]
            x = self.type_of(e)
        n = [self.rng.randint(-k, k - 1) for k in x.shape]
        return ["read", self.name("s"), e, n]

    def drop(self, depth):
        names = [n for n in self.arrays() if n not in self.fixed]
        if len(names) < 4:
            return None
        return ["nil", self.rng.choice(names)]

    def gc(self, depth):
        return ["gc"]

    def flush(self, depth):
        return ["flush"]

    def rebind(self, depth):
        """x = something with x's shape and dtype."""
        name = self.pick()
        x = self.machine.env[name]
        if depth == 0 and self.rng.random() < 0.5:
            return ["let", name, self.expr(self.profile.depth)]
        e = self.fit(self.expr(self.profile.depth), x.shape)
        y = self.type_of(e)
        if y.shape != x.shape:
            other = self.other_operand(x.shape, 1, 0.1)
            e = ["op", "add", [["op", "multiply", [["num", 0.5], ["var", name]], 0], other], 0]
            y = self.type_of(e)
        if y.dtype != x.dtype:
            e = ["cast", x.dtype, e]
        elif e[0] in ("var", "index", "transpose") and self.rng.random() < 0.7:
            e = ["copy", e]
        return ["let", name, e]


def generate(seed, without=(), longest=60):
    return Generator(seed, without, longest).program()
