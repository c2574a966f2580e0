#!/usr/bin/python3
"""What each form of each PTX instruction computes, worked out a second time, with exact integers and fractions.

Prints a table: a line with instructions, then a line for each case, indented,

    add.s32 %r0, %r1, %r2
      r1=7fffffff r2=00000001 -> r0=80000000

The letters are the registers' sizes: h 16, r 32, d 64 bits, p predicates.  Three addresses are given: %d7 of local, %d8
of shared, %d9 of global memory, 64 bytes for each case.  `nan` as a result is any bit pattern that is no number, where
PTX leaves its bits open.  test_forms.c makes a kernel of each form and runs the cases as threads; nothing in the table
depends on the emulator, so a device can be asked the same.
"""
import random
from fractions import Fraction

rng = random.Random(20240607)
CASES = 9


def emit(form, cases):
    print(form)
    for inputs, outputs in cases:
        print("  " + " ".join(f"{k}={v:x}" for k, v in inputs.items()) + " -> "
              + " ".join(f"{k}={v if isinstance(v, str) else format(v, 'x')}" for k, v in outputs.items()))


# ---- Integers ----

LETTER = {1: "h", 8: "h", 16: "h", 32: "r", 64: "d"}
GARBAGE = None  # what PTX leaves open


def mask(bits):
    return (1 << bits) - 1


def signed(x, bits):
    x &= mask(bits)
    return x - (1 << bits) if x >> (bits - 1) else x


def integers(bits, count=CASES):
    edges = [0, 1, mask(bits), 1 << (bits - 1), (1 << (bits - 1)) - 1]
    return edges + [rng.getrandbits(rng.choice((bits // 4, bits // 2, bits, bits))) for _ in range(count)]


def tuples(pool, arity, count=CASES):
    """Pairs, triples... of values, among them each value once at each place."""
    columns = [rng.sample(pool, len(pool)) for _ in range(arity)]
    return list(zip(*columns))[:max(count, len(pool))]


def integer_form(op, t, arity, function, result=None, last=None):
    """`function` gets Python integers, signed if the type is."""
    bits = int(t[1:])
    rbits = result or bits
    letters = [LETTER[bits]] * arity
    if last:
        letters[-1] = LETTER[last]
    names = [f"{letter}{k + 1}" for k, letter in enumerate(letters)]
    cases = []
    for values in tuples(integers(bits), arity):
        values = list(values)
        if last:
            values[-1] = integers(last)[len(cases) % 9]
        given = [signed(v, bits) if t[0] == "s" else v for v in values]
        r = function(*given)
        if r is GARBAGE:
            continue
        cases.append((dict(zip(names, values)), {LETTER[rbits] + "0": r & mask(rbits)}))
    emit(f"{op}.{t} %{LETTER[rbits]}0, " + ", ".join("%" + n for n in names), cases)


def quotient(a, b):
    return GARBAGE if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def remainder(a, b):
    return GARBAGE if b == 0 else a - b * quotient(a, b)


def clamp(x, bits):
    return max(-(1 << (bits - 1)), min((1 << (bits - 1)) - 1, x))


def arithmetic():
    for t in "u16 s16 u32 s32 u64 s64".split():
        bits = int(t[1:])
        integer_form("add", t, 2, lambda a, b: a + b)
        integer_form("sub", t, 2, lambda a, b: a - b)
        integer_form("mul.lo", t, 2, lambda a, b: a * b)
        integer_form("mul.hi", t, 2, lambda a, b: a * b >> bits)
        integer_form("mad.lo", t, 3, lambda a, b, c: a * b + c)
        integer_form("mad.hi", t, 3, lambda a, b, c: (a * b >> bits) + c)
        integer_form("div", t, 2, quotient)
        integer_form("rem", t, 2, remainder)
        integer_form("min", t, 2, min)
        integer_form("max", t, 2, max)
        integer_form("sad", t, 3, lambda a, b, c: abs(a - b) + c)
        if bits < 64:
            integer_form("mul.wide", t, 2, lambda a, b: a * b, result=2 * bits)
            wide = f"%{LETTER[2 * bits]}"
            cases = []
            for a, b in tuples(integers(bits), 2):
                c = rng.getrandbits(2 * bits)
                x, y = (signed(a, bits), signed(b, bits)) if t[0] == "s" else (a, b)
                cases.append(({f"{LETTER[bits]}1": a, f"{LETTER[bits]}2": b, f"{LETTER[2 * bits]}3": c},
                              {f"{LETTER[2 * bits]}0": x * y + c & mask(2 * bits)}))
            emit(f"mad.wide.{t} {wide}0, %{LETTER[bits]}1, %{LETTER[bits]}2, {wide}3", cases)
        if t[0] == "s":
            integer_form("abs", t, 1, abs)
            integer_form("neg", t, 1, lambda a: -a)
    integer_form("add.sat", "s32", 2, lambda a, b: clamp(a + b, 32))
    integer_form("sub.sat", "s32", 2, lambda a, b: clamp(a - b, 32))
    integer_form("mad.hi.sat", "s32", 3, lambda a, b, c: clamp((a * b >> 32) + c, 32))
    for t in ("u32", "s32"):
        low = (lambda x: signed(x, 24)) if t == "s32" else (lambda x: x & mask(24))
        integer_form("mul24.lo", t, 2, lambda a, b: low(a) * low(b))
        integer_form("mul24.hi", t, 2, lambda a, b: low(a) * low(b) >> 16)
        integer_form("mad24.lo", t, 3, lambda a, b, c: low(a) * low(b) + c)


def carries():
    """Two words at a time."""
    for bits in (32, 64):
        x = LETTER[bits]
        pool = [0, 1, mask(2 * bits), mask(bits), 1 << bits] + [rng.getrandbits(2 * bits) for _ in range(8)]
        for op, f in (("add", lambda a, b: a + b), ("sub", lambda a, b: a - b)):
            form = f"{op}.cc.u{bits} %{x}0, %{x}1, %{x}3; {op}c.u{bits} %{x}5, %{x}2, %{x}4"
            emit(form, [({f"{x}1": a & mask(bits), f"{x}2": a >> bits, f"{x}3": b & mask(bits), f"{x}4": b >> bits},
                         {f"{x}0": f(a, b) & mask(bits), f"{x}5": f(a, b) >> bits & mask(bits)}) for a, b in tuples(pool, 2)])
            form = (f"{op}.cc.u{bits} %{x}0, %{x}1, %{x}3; {op}c.cc.u{bits} %{x}5, %{x}2, %{x}4; "
                    f"{op}c.u{bits} %{x}6, %{x}7, 0")
            emit(form, [({f"{x}1": a & mask(bits), f"{x}2": a >> bits, f"{x}3": b & mask(bits), f"{x}4": b >> bits, f"{x}7": 7},
                         {f"{x}6": 7 + (f(a, b) >> 2 * bits) & mask(bits)}) for a, b in tuples(pool, 2)])
        form = f"mad.lo.cc.u{bits} %{x}0, %{x}1, %{x}2, %{x}3; madc.hi.u{bits} %{x}5, %{x}1, %{x}2, %{x}4"
        cases = []
        for a, b in tuples(pool, 2):
            c = rng.choice(pool)
            r = (a & mask(bits)) * (b & mask(bits)) + c
            cases.append(({f"{x}1": a & mask(bits), f"{x}2": b & mask(bits), f"{x}3": c & mask(bits), f"{x}4": c >> bits},
                          {f"{x}0": r & mask(bits), f"{x}5": r >> bits & mask(bits)}))
        emit(form, cases)


# ---- Bits ----

def reverse(x, bits):
    return int(format(x, f"0{bits}b")[::-1], 2)


def extract(a, b, c, bits, is_signed):
    at, length = b & 255, c & 255
    top = bits - 1
    sign = a >> min(at + length - 1, top) & 1 if is_signed and length else 0
    return sum((a >> (at + k) & 1 if k < length and at + k <= top else sign) << k for k in range(bits))


def insert(a, b, c, d, bits):
    at, length = c & 255, d & 255
    for k in range(length):
        if at + k < bits:
            b = b & ~(1 << (at + k)) | (a >> k & 1) << (at + k)
    return b


def leading(x, bits):
    return bits - x.bit_length()


def find(x, t):
    bits = int(t[1:])
    if t[0] == "s" and x >> (bits - 1):
        x = ~x & mask(bits)
    return x.bit_length() - 1 if x else mask(32)


def permute(a, b, c, mode):
    all_bytes = [(a | b << 32) >> 8 * k & 255 for k in range(8)]
    n = c & 3
    picks = {"": [c >> 4 * k & 15 for k in range(4)], ".f4e": [n, n + 1, n + 2, n + 3],
             ".b4e": [n, (n - 1) & 7, (n - 2) & 7, (n - 3) & 7], ".rc8": [n] * 4, ".ecl": [max(k, n) for k in range(4)],
             ".ecr": [min(k, n) for k in range(4)], ".rc16": [2 * (n & 1) + (k & 1) for k in range(4)]}[mode]
    got = [all_bytes[k & 7] if k < 8 else 255 * (all_bytes[k & 7] >> 7) for k in picks]
    return sum(x << 8 * k for k, x in enumerate(got))


def bit_operations():
    for bits in (16, 32, 64):
        x = LETTER[bits]
        for op, f in (("and", lambda a, b: a & b), ("or", lambda a, b: a | b), ("xor", lambda a, b: a ^ b)):
            integer_form(op, f"b{bits}", 2, f)
        integer_form("not", f"b{bits}", 1, lambda a: ~a)
        integer_form("cnot", f"b{bits}", 1, lambda a: int(a == 0))
        shifts = [0, 1, bits - 1, bits, bits + 1, 63, 64, 255, mask(32)]
        for op, t in (("shl", f"b{bits}"), ("shr", f"u{bits}"), ("shr", f"s{bits}"), ("shr", f"b{bits}")):
            cases = []
            for a, s in zip(integers(bits), shifts + shifts):
                v = signed(a, bits) if t[0] == "s" else a
                n = min(s, bits)
                cases.append(({f"{x}1": a, "r2": s}, {f"{x}0": (v << n if op == "shl" else v >> n) & mask(bits)}))
            emit(f"{op}.{t} %{x}0, %{x}1, %r2", cases)
        if bits == 16:
            continue
        unary = [("popc", lambda a: bin(a).count("1"), 32), ("clz", lambda a: leading(a, bits), 32),
                 ("brev", lambda a: reverse(a, bits), bits)]
        for op, f, result in unary:
            integer_form(op, f"b{bits}", 1, f, result=result)
        for t in (f"u{bits}", f"s{bits}"):
            integer_form("bfind", t, 1, lambda a: find(a & mask(bits), t), result=32)
            integer_form("bfind.shiftamt", t, 1,
                         lambda a: (lambda k: k if k == mask(32) else bits - 1 - k)(find(a & mask(bits), t)), result=32)
            cases = []
            for a in integers(bits):
                b, c = rng.choice([0, 1, 5, bits - 1, bits, 200, 256 + 3]), rng.choice([0, 1, 7, bits, 255, 512 + 9])
                cases.append(({f"{x}1": a, "r2": b, "r3": c}, {f"{x}0": extract(a, b, c, bits, t[0] == "s")}))
            emit(f"bfe.{t} %{x}0, %{x}1, %r2, %r3", cases)
        cases = []
        for a, b in tuples(integers(bits), 2):
            c, d = rng.choice([0, 1, 5, bits - 1, bits, 200]), rng.choice([0, 1, 7, bits, 255])
            cases.append(({f"{x}1": a, f"{x}2": b, "r3": c, "r4": d}, {f"{x}0": insert(a, b, c, d, bits)}))
        emit(f"bfi.b{bits} %{x}0, %{x}1, %{x}2, %r3, %r4", cases)
    three = tuples(integers(32), 3)
    for mode in ("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"):
        emit(f"prmt.b32{mode} %r0, %r1, %r2, %r3", [({"r1": a, "r2": b, "r3": c}, {"r0": permute(a, b, c, mode)}) for a, b, c in three])
    for side in "lr":
        for kind in ("wrap", "clamp"):
            cases = []
            for a, b, _ in three:
                s = rng.choice([0, 1, 16, 31, 32, 33, 100])
                n = s % 32 if kind == "wrap" else min(s, 32)
                both = b << 32 | a
                r = both << n >> 32 if side == "l" else both >> n
                cases.append(({"r1": a, "r2": b, "r3": s}, {"r0": r & mask(32)}))
            emit(f"shf.{side}.{kind}.b32 %r0, %r1, %r2, %r3", cases)
    for table in (0x80, 0xfe, 0x96, 0xe8, 0x1b):
        def lop(a, b, c):
            return sum((table >> (4 * (a >> k & 1) + 2 * (b >> k & 1) + (c >> k & 1)) & 1) << k for k in range(32))
        emit(f"lop3.b32 %r0, %r1, %r2, %r3, {table}", [({"r1": a, "r2": b, "r3": c}, {"r0": lop(a, b, c)}) for a, b, c in three])
    for op, f in (("and", lambda a, b: a & b), ("or", lambda a, b: a | b), ("xor", lambda a, b: a ^ b)):
        emit(f"{op}.pred %p0, %p1, %p2", [({"p1": a, "p2": b}, {"p0": f(a, b)}) for a in (0, 1) for b in (0, 1)])
    emit("not.pred %p0, %p1", [({"p1": a}, {"p0": 1 - a}) for a in (0, 1)])
    emit("mov.pred %p0, %p1", [({"p1": a}, {"p0": a}) for a in (0, 1)])


def moves():
    for bits in (16, 32, 64):
        for t in [f"b{bits}", f"u{bits}", f"s{bits}"] + ([f"f{bits}"] if bits > 16 else []):
            x = LETTER[bits]
            emit(f"mov.{t} %{x}0, %{x}1", [({f"{x}1": a}, {f"{x}0": a}) for a in integers(bits)])
            if t != "s16":
                emit(f"selp.{t} %{x}0, %{x}1, %{x}2, %p1",
                     [({f"{x}1": a, f"{x}2": b, "p1": p}, {f"{x}0": a if p else b}) for a, b in tuples(integers(bits), 2) for p in (0, 1)][:12])
    for a in ("mov.b32 %r0, {%h1, %h2}", "mov.b64 %d0, {%r1, %r2}", "mov.b64 %d0, {%h1, %h2, %h3, %h4}"):
        parts = [x.strip(" {}%") for x in a.split("{")[1].split(",")]
        bits = 16 if parts[0][0] == "h" else 32
        cases = []
        for _ in range(4):
            values = [rng.getrandbits(bits) for _ in parts]
            whole = sum(v << bits * k for k, v in enumerate(values))
            cases.append((dict(zip(parts, values)), {a.split("%")[1].split(",")[0]: whole}))
        emit(a, cases)
        whole = a.split("%")[1].split(",")[0]
        source = whole[0] + "9" if whole[0] == "r" else whole[0] + "6"
        into = "{" + ", ".join("%" + p for p in parts) + "}"
        emit(f"{a.split()[0]} {into}, %{source}", [({source: o[whole]}, i) for i, o in cases])
    emit("mov.b64 {%r0, _}, %d1", [({"d1": a}, {"r0": a & mask(32)}) for a in integers(64)])
    emit("{ .reg .b32 tmp; mov.b64 {tmp, %r0}, %d1; }", [({"d1": a}, {"r0": a >> 32}) for a in integers(64)])
    for t in "b16 b32 b64 f32".split():
        x = LETTER[int(t[1:])]
        emit(f"slct.{t}.s32 %{x}0, %{x}1, %{x}2, %r3", [({f"{x}1": 5, f"{x}2": 6, "r3": c}, {f"{x}0": 6 if c >> 31 else 5}) for c in integers(32)])


INTEGER_COMPARISONS = {"eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
                       "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b}


def comparisons():
    for t in "b16 b32 b64 u16 u32 u64 s16 s32 s64".split():
        bits = int(t[1:])
        x = LETTER[bits]
        pairs = tuples(integers(bits), 2) + [(a, a) for a in integers(bits)[:4]]
        names = dict(INTEGER_COMPARISONS)
        if t[0] == "u":
            names.update(lo=names["lt"], ls=names["le"], hi=names["gt"], hs=names["ge"])
        for name, f in names.items():
            if t[0] == "b" and name not in ("eq", "ne"):
                continue
            see = (lambda v: signed(v, bits)) if t[0] == "s" else (lambda v: v)
            emit(f"setp.{name}.{t} %p0, %{x}1, %{x}2", [({f"{x}1": a, f"{x}2": b}, {"p0": int(f(see(a), see(b)))}) for a, b in pairs])
    pairs = tuples(integers(32), 2) + [(3, 3)]
    for combine, g in (("and", lambda a, b: a & b), ("or", lambda a, b: a | b), ("xor", lambda a, b: a ^ b)):
        emit(f"setp.lt.{combine}.u32 %p0|%p3, %r1, %r2, %p1",
             [({"r1": a, "r2": b, "p1": p}, {"p0": g(int(a < b), p), "p3": g(int(a >= b), p)}) for a, b in pairs for p in (0, 1)])
        emit(f"setp.lt.{combine}.u32 %p0, %r1, %r2, !%p1",
             [({"r1": a, "r2": b, "p1": p}, {"p0": g(int(a < b), 1 - p)}) for a, b in pairs for p in (0, 1)])
    emit("setp.eq.s32 %p0|%p3, %r1, %r2", [({"r1": a, "r2": b}, {"p0": int(a == b), "p3": int(a != b)}) for a, b in pairs])
    for d, yes in (("u32", mask(32)), ("s32", mask(32)), ("f32", 0x3f800000)):
        emit(f"set.lt.{d}.s32 %r0, %r1, %r2", [({"r1": a, "r2": b}, {"r0": yes * (signed(a, 32) < signed(b, 32))}) for a, b in pairs])


def widths():
    """cvt between integers; a register that is wider than the type gets the value extended."""
    for to in "u8 s8 u16 s16 u32 s32 u64 s64".split():
        for source in "u8 s8 u16 s16 u32 s32 u64 s64".split():
            dbits, sbits = int(to[1:]), int(source[1:])
            fits = dbits - (to[0] == "s") >= sbits - (source[0] == "s") and (to[0] == "s" or source[0] == "u")
            for sat in ("",) if fits else ("", ".sat"):
                cases = []
                for a in integers(sbits):
                    v = signed(a, sbits) if source[0] == "s" else a
                    if sat:
                        low, high = (-(1 << (dbits - 1)), mask(dbits - 1)) if to[0] == "s" else (0, mask(dbits))
                        v = max(low, min(high, v))
                    v = signed(v, dbits) if to[0] == "s" else v & mask(dbits)
                    register = max(dbits, 16)
                    noise = rng.getrandbits(8) << 8 if sbits == 8 else 0
                    cases.append(({LETTER[sbits] + "1": a | noise}, {LETTER[dbits] + "0": v & mask(register)}))
                emit(f"cvt{sat}.{to}.{source} %{LETTER[dbits]}0, %{LETTER[sbits]}1", cases)
    emit("cvt.s8.s32 %r0, %r1", [({"r1": a}, {"r0": signed(a, 8) & mask(32)}) for a in integers(32)])
    emit("cvt.u8.u64 %d0, %d1", [({"d1": a}, {"d0": a & 255}) for a in integers(64)])
    emit("cvt.u16.u32 %r0, %r1", [({"r1": a}, {"r0": a & mask(16)}) for a in integers(32)])


# ---- Floating point ----

class Format:
    def __init__(self, name, exponent, fraction, nan):
        self.name, self.e, self.f, self.bits, self.nan = name, exponent, fraction, 1 + exponent + fraction, nan
        self.bias = (1 << (exponent - 1)) - 1
        self.infinity = mask(exponent) << fraction
        self.sign = 1 << (self.bits - 1)

    def is_nan(self, x):
        return x & ~self.sign > self.infinity

    def is_infinite(self, x):
        return x & ~self.sign == self.infinity

    def value(self, x):
        e, f = x >> self.f & mask(self.e), x & mask(self.f)
        v = Fraction(f + (e > 0) * (1 << self.f)) * Fraction(2) ** (max(e, 1) - self.bias - self.f)
        return -v if x & self.sign else v

    def round(self, v, mode="rn", zero=0):
        """The bits of a fraction; `zero`: the sign bit if it is 0."""
        if v == 0:
            return zero
        sign, v = (self.sign if v < 0 else 0), abs(v)
        e = v.numerator.bit_length() - v.denominator.bit_length()
        if Fraction(2) ** e > v:
            e -= 1
        e = max(e, 1 - self.bias)
        scaled = v / Fraction(2) ** (e - self.f)
        whole, rest = divmod(scaled, 1)
        up = {"rn": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole & 1), "rz": False,
              "rm": rest > 0 and sign != 0, "rp": rest > 0 and sign == 0}[mode]
        whole += up
        if whole >= 1 << (self.f + 1):
            whole, e = whole // 2, e + 1
        if e > self.bias:
            away = mode == "rn" or (mode == "rm" and sign) or (mode == "rp" and not sign)
            return sign | (self.infinity if away else self.infinity - 1)
        return sign | int(whole) + ((e + self.bias - 1) << self.f if whole >= 1 << self.f else 0)

    def pool(self, count=CASES):
        one = self.bias << self.f
        edges = [0, self.sign, one, one | self.sign, 1, self.sign | 1, mask(self.f), 1 << self.f, self.infinity - 1, self.infinity,
                 self.infinity | self.sign, self.infinity | 1 << (self.f - 1) | 5]
        near = [self.sign * rng.getrandbits(1) | (one + (rng.randrange(-6, 7) << self.f) + rng.getrandbits(self.f)) for _ in range(count)]
        return edges + near


F16, F32, F64 = Format("f16", 5, 10, 0x7fff), Format("f32", 8, 23, 0x7fffffff), Format("f64", 11, 52, "nan")
FORMATS = {f.name: f for f in (F16, F32, F64)}


def add(f, a, b, mode="rn"):
    if f.is_nan(a) or f.is_nan(b) or (f.is_infinite(a) and f.is_infinite(b) and a != b):
        return f.nan
    if f.is_infinite(a) or f.is_infinite(b):
        return a if f.is_infinite(a) else b
    v = f.value(a) + f.value(b)
    zero = a & b & f.sign if a & ~f.sign == 0 and b & ~f.sign == 0 else 0
    if v == 0 and (a ^ b) & f.sign:
        zero = f.sign if mode == "rm" else 0
    return f.round(v, mode, zero)


def mul(f, a, b, mode="rn"):
    sign = (a ^ b) & f.sign
    if f.is_nan(a) or f.is_nan(b):
        return f.nan
    if f.is_infinite(a) or f.is_infinite(b):
        return f.nan if not (a & ~f.sign and b & ~f.sign) else sign | f.infinity
    return f.round(f.value(a) * f.value(b), mode, sign)


def fma(f, a, b, c, mode="rn"):
    if f.is_nan(a) or f.is_nan(b) or f.is_nan(c):
        return f.nan
    sign = (a ^ b) & f.sign
    if f.is_infinite(a) or f.is_infinite(b):
        if not (a & ~f.sign and b & ~f.sign) or (f.is_infinite(c) and sign != c & f.sign):
            return f.nan
        return sign | f.infinity
    if f.is_infinite(c):
        return c
    product = f.value(a) * f.value(b)
    v = product + f.value(c)
    zero = sign if sign == c & f.sign else f.sign if mode == "rm" else 0
    return f.round(v, mode, zero)


def div(f, a, b, mode="rn"):
    sign = (a ^ b) & f.sign
    if f.is_nan(a) or f.is_nan(b):
        return f.nan
    if f.is_infinite(a) or f.is_infinite(b):
        return f.nan if f.is_infinite(a) and f.is_infinite(b) else sign | (f.infinity if f.is_infinite(a) else 0)
    if not b & ~f.sign:
        return sign | f.infinity if a & ~f.sign else f.nan
    return f.round(f.value(a) / f.value(b), mode, sign)


def sqrt(f, a, mode="rn"):
    if f.is_nan(a) or not a & ~f.sign:
        return f.nan if f.is_nan(a) else a
    if a & f.sign:
        return f.nan
    if f.is_infinite(a):
        return a
    v = f.value(a)  # a root to many bits, and one more that says whether there is a rest
    scale = 2 * (f.bias + 2 * f.f + 8)
    n = v.numerator * (1 << scale) // v.denominator
    import math
    root = math.isqrt(n)
    r = Fraction(root, 1 << scale // 2)
    if r * r != v:
        r += Fraction(1, 1 << (scale // 2 + 1))
    return f.round(r, mode)


def flush(f, x):
    return x if x & ~f.sign >= 1 << f.f else x & f.sign


def saturate(f, x):
    one = f.bias << f.f
    if isinstance(x, str) or f.is_nan(x) or x & f.sign:
        return 0
    return min(x, one)


def least(f, a, b, greatest=False, nan=False):
    if f.is_nan(a) or f.is_nan(b):
        return f.nan if nan or (f.is_nan(a) and f.is_nan(b)) else b if f.is_nan(a) else a
    def key(x):
        return -(x & ~f.sign) - 1 if x & f.sign else x
    return (max if greatest else min)(a, b, key=key)


def float_form(op, f, arity, function, suffix=None):
    x = LETTER[f.bits]
    names = [f"{x}{k + 1}" for k in range(arity)]
    cases = [(dict(zip(names, v)), {x + "0": function(*v)}) for v in tuples(f.pool(12), arity, 20)]
    emit(f"{op}.{suffix or f.name} %{x}0, " + ", ".join("%" + n for n in names), cases)


def float_arithmetic():
    for f in (F32, F64):
        for mode in ("rn", "rz", "rm", "rp"):
            float_form(f"add.{mode}", f, 2, lambda a, b: add(f, a, b, mode))
            float_form(f"sub.{mode}", f, 2, lambda a, b: add(f, a, b ^ f.sign, mode))
            float_form(f"mul.{mode}", f, 2, lambda a, b: mul(f, a, b, mode))
            float_form(f"fma.{mode}", f, 3, lambda a, b, c: fma(f, a, b, c, mode))
            float_form(f"mad.{mode}", f, 3, lambda a, b, c: fma(f, a, b, c, mode))
            float_form(f"div.{mode}", f, 2, lambda a, b: div(f, a, b, mode))
            float_form(f"rcp.{mode}", f, 1, lambda a: div(f, f.bias << f.f, a, mode))
            float_form(f"sqrt.{mode}", f, 1, lambda a: sqrt(f, a, mode))
    for f in (F16, F32):
        z = lambda x: flush(f, x)
        float_form("add.rn.ftz", f, 2, lambda a, b: z(add(f, z(a), z(b))))
        float_form("mul.rn.ftz", f, 2, lambda a, b: z(mul(f, z(a), z(b))))
        float_form("fma.rn.ftz", f, 3, lambda a, b, c: z(fma(f, z(a), z(b), z(c))))
        float_form("add.rn.sat", f, 2, lambda a, b: saturate(f, add(f, a, b)))
        float_form("fma.rn.sat", f, 3, lambda a, b, c: saturate(f, fma(f, a, b, c)))
        float_form("min.NaN", f, 2, lambda a, b: least(f, a, b, nan=True))
        float_form("max.NaN", f, 2, lambda a, b: least(f, a, b, True, True))
        float_form("min.ftz", f, 2, lambda a, b: least(f, z(a), z(b)))
    float_form("div.rn.ftz", F32, 2, lambda a, b: flush(F32, div(F32, flush(F32, a), flush(F32, b))))
    float_form("sqrt.rn.ftz", F32, 1, lambda a: flush(F32, sqrt(F32, flush(F32, a))))
    for op, g in (("add", add), ("sub", lambda f, a, b: add(f, a, b ^ f.sign)), ("mul", mul), ("fma", fma)):
        float_form(f"{op}.rn", F16, 3 if op == "fma" else 2, lambda *v: g(F16, *v))
    halves = []  # where rounding to f32 on the way would be wrong
    while len(halves) < 6:
        a, b, c = (rng.getrandbits(15) for _ in range(3))
        if max(a, b, c) < F16.infinity:
            exact = F16.value(a) * F16.value(b) + F16.value(c)
            if F16.round(F32.value(F32.round(exact))) != F16.round(exact) and exact < 60000:
                halves.append((a, b, c))
    emit("fma.rn.f16 %h0, %h1, %h2, %h3", [({"h1": a, "h2": b, "h3": c}, {"h0": fma(F16, a, b, c)}) for a, b, c in halves])
    for f in (F16, F32, F64):
        float_form("min", f, 2, lambda a, b: least(f, a, b))
        float_form("max", f, 2, lambda a, b: least(f, a, b, True))
    pairs()


def pairs():
    """f16x2: each half by itself."""
    for op, g, arity in (("add.rn", add, 2), ("mul.rn", mul, 2), ("fma.rn", fma, 3), ("min", least, 2),
                         ("max", lambda f, a, b: least(f, a, b, True), 2), ("neg", lambda f, a: a ^ f.sign, 1),
                         ("abs", lambda f, a: a & ~f.sign, 1), ("sub.rn", lambda f, a, b: add(f, a, b ^ f.sign), 2)):
        cases = []
        for v in tuples([a for a in F16.pool(12) if not (F16.is_nan(a) and arity == 1)], arity, 12):
            w = [rng.choice(F16.pool()[:8]) for _ in v]
            cases.append(({f"r{k + 1}": a | b << 16 for k, (a, b) in enumerate(zip(v, w))}, {"r0": g(F16, *v) | g(F16, *w) << 16}))
        emit(f"{op}.f16x2 %r0, " + ", ".join(f"%r{k + 1}" for k in range(arity)), cases)


def float_signs():
    for f in (F16, F32, F64):
        x = LETTER[f.bits]
        numbers = [a for a in f.pool() if not f.is_nan(a)]
        emit(f"abs.{f.name} %{x}0, %{x}1", [({x + "1": a}, {x + "0": a & ~f.sign}) for a in numbers])
        emit(f"neg.{f.name} %{x}0, %{x}1", [({x + "1": a}, {x + "0": a ^ f.sign}) for a in numbers])
        if f is not F64:
            emit(f"abs.ftz.{f.name} %{x}0, %{x}1", [({x + "1": a}, {x + "0": flush(f, a) & ~f.sign}) for a in numbers])
            emit(f"neg.ftz.{f.name} %{x}0, %{x}1", [({x + "1": a}, {x + "0": flush(f, a) ^ f.sign}) for a in numbers])
        if f is F16:
            continue
        emit(f"copysign.{f.name} %{x}0, %{x}1, %{x}2",
             [({x + "1": a, x + "2": b}, {x + "0": a & f.sign | b & ~f.sign}) for a, b in tuples(numbers, 2)])
        tests = {"finite": lambda a: not f.is_nan(a) and not f.is_infinite(a), "infinite": f.is_infinite,
                 "number": lambda a: not f.is_nan(a), "notanumber": f.is_nan,
                 "normal": lambda a: not a & ~f.sign or 1 << f.f <= a & ~f.sign < f.infinity,
                 "subnormal": lambda a: 0 < a & ~f.sign < 1 << f.f}
        for name, g in tests.items():
            emit(f"testp.{name}.{f.name} %p0, %{x}1", [({x + "1": a}, {"p0": int(g(a))}) for a in f.pool()])


def float_comparisons():
    for f in (F16, F32, F64):
        x = LETTER[f.bits]
        some = tuples(f.pool(), 2) + [(a, a) for a in f.pool()] + [(0, f.sign)]
        for name, g in INTEGER_COMPARISONS.items():
            for unordered in (False, True):
                cases = []
                for a, b in some:
                    if f.is_nan(a) or f.is_nan(b):
                        r = unordered
                    else:
                        # infinities as numbers beyond all others
                        u, v = (Fraction(2) ** 2000 * (-1 if y & f.sign else 1) if f.is_infinite(y) else f.value(y) for y in (a, b))
                        r = g(u, v)
                    cases.append(({x + "1": a, x + "2": b}, {"p0": int(r)}))
                emit(f"setp.{name}{'u' if unordered else ''}.{f.name} %p0, %{x}1, %{x}2", cases)
        for name in ("num", "nan"):
            cases = [({x + "1": a, x + "2": b}, {"p0": int((f.is_nan(a) or f.is_nan(b)) == (name == "nan"))}) for a, b in some]
            emit(f"setp.{name}.{f.name} %p0, %{x}1, %{x}2", cases)


def integral(v, mode):
    import math
    if mode == "rni":
        return round(v)  # halves to even
    return {"rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}[mode](v)


def float_conversions():
    for f in (F16, F32, F64):
        x = LETTER[f.bits]
        numbers = f.pool(12) + [f.round(Fraction(k, 2)) for k in range(-5, 6)] + [f.round(Fraction(2) ** k) for k in (7, 15)]
        for mode in ("rni", "rzi", "rmi", "rpi"):
            cases = []
            for a in numbers:
                if f.is_nan(a):
                    r = f.nan
                elif f.is_infinite(a):
                    r = a
                else:
                    r = f.round(Fraction(integral(f.value(a), mode)), zero=a & f.sign)
                cases.append(({x + "1": a}, {x + "0": r}))
            emit(f"cvt.{mode}.{f.name}.{f.name} %{x}0, %{x}1", cases)
            for t in "u8 s8 u16 s16 u32 s32 u64 s64".split():
                bits = int(t[1:])
                low, high = (-(1 << (bits - 1)), mask(bits - 1)) if t[0] == "s" else (0, mask(bits))
                cases = []
                for a in numbers + ([f.round(Fraction(2) ** (bits - 1)), f.round(-Fraction(2) ** (bits - 1))] if f.bias > bits else []):
                    if f.is_nan(a):
                        r = 1 << (bits - 1) if f is F64 or bits == 64 else 0
                        if t[0] == "s" and r:
                            r = low
                    elif f.is_infinite(a):
                        r = low if a & f.sign else high
                    else:
                        r = max(low, min(high, integral(f.value(a), mode)))
                    cases.append(({x + "1": a}, {LETTER[bits] + "0": r & mask(max(bits, 16))}))
                emit(f"cvt.{mode}.{t}.{f.name} %{LETTER[bits]}0, %{x}1", cases)
        for mode in ("rn", "rz", "rm", "rp"):
            for t in "u8 s8 u16 s16 u32 s32 u64 s64".split():
                bits = int(t[1:])
                cases = []
                for a in integers(bits):
                    v = signed(a, bits) if t[0] == "s" else a
                    cases.append(({LETTER[bits] + "1": a}, {x + "0": f.round(Fraction(v), mode)}))
                emit(f"cvt.{mode}.{f.name}.{t} %{x}0, %{LETTER[bits]}1", cases)
            for g in (F16, F32, F64):
                if g.bits > f.bits:
                    emit(f"cvt.{mode}.{f.name}.{g.name} %{x}0, %{LETTER[g.bits]}1", conversions(f, g, mode))
        for g in (F16, F32, F64):
            if g.bits < f.bits:
                emit(f"cvt.{f.name}.{g.name} %{x}0, %{LETTER[g.bits]}1", conversions(f, g, "rn"))
        emit(f"cvt.sat.{f.name}.{f.name} %{x}0, %{x}1", [({x + "1": a}, {x + "0": saturate(f, a)}) for a in f.pool()])
    emit("cvt.ftz.f64.f32 %d0, %r1", [({"r1": a}, {"d0": F64.round(F32.value(flush(F32, a)), zero=(a & F32.sign) << 32)})
                                      for a in F32.pool() if a & ~F32.sign < F32.infinity])
    some = [a for a in F32.pool() if not F32.is_nan(a)]
    half = lambda a: dict(conversions(F16, F32, "rn", [a])[0][1])["h0"]
    emit("cvt.rn.f16x2.f32 %r0, %r1, %r2", [({"r1": a, "r2": b}, {"r0": half(a) << 16 | half(b)}) for a, b in tuples(some, 2)])


def conversions(f, g, mode, pool=None):
    cases = []
    around = [g.round(f.value(a) * Fraction(n, 4096)) for a in f.pool()[2:9] for n in (4095, 4096, 4097, 4098)]
    for a in pool or g.pool(12) + around:
        sign = f.sign if a & g.sign else 0
        if g.is_nan(a):
            r = f.nan
        elif g.is_infinite(a):
            r = sign | f.infinity
        else:
            r = f.round(g.value(a), mode, sign)
        cases.append(({LETTER[g.bits] + "1": a}, {LETTER[f.bits] + "0": r}))
    return cases


# ---- Memory ----

def memory():
    spaces = ((".global", "%d9"), (".shared", "%d8"), (".local", "%d7"), ("", "%d9"))
    for space, at in spaces:
        for t in "b8 u8 s8 b16 u16 s16 b32 u32 s32 f32 b64 u64 s64 f64".split():
            bits = int(t[1:])
            x = LETTER[bits]
            st = "u8" if bits == 8 else t
            cases = []
            for a in integers(bits):
                r = signed(a, bits) & mask(max(bits, 16)) if t[0] == "s" else a
                cases.append(({x + "1": a}, {x + "0": r}))
            emit(f"st{space}.{st} [{at}+8], %{x}1; ld{space}.{t} %{x}0, [{at}+8]", cases)
        for n, t in [(n, t) for t in "u8 b8 u16 b16 u32 b32 s32 f32 u64 b64 f64".split() for n in (2, 4)]:
            bits = int(t[1:])
            if n * bits > 128:
                continue
            x = LETTER[bits]
            source, target = [f"{x}{k + 1}" for k in range(n)], [f"{x}{k + 1}" for k in range(n)]
            cases = []
            for _ in range(3):
                values = [rng.getrandbits(bits) for _ in source]
                cases.append((dict(zip(source, values)), {x + "0": values[-1], "d0": sum(v << bits * k for k, v in enumerate(values)) & mask(64 if n * bits > 32 else 32)}
                              if x != "d" else {"d0": values[0]}))
            vector = lambda names: "{" + ", ".join("%" + k for k in names) + "}"
            whole = "b64 %d0" if n * bits > 32 else "u32 %d0" if n * bits == 32 else "u16 %d0"
            back = vector(["d0", "d5"]) if x == "d" else vector(target[:-1] + [x + "0"])
            form = f"st{space}.v{n}.{t} [{at}+16], {vector(source)}; ld{space}.v{n}.{t} {back}, [{at}+16]"
            if x != "d":
                form += f"; ld{space}.{whole}, [{at}+16]"
            emit(form, cases)
    for form in ("ld.global.nc.u32 %r0, [%d6]", "ld.global.ca.u32 %r0, [%d6]",
                 "ld.volatile.global.u32 %r0, [%d6]", "ld.relaxed.gpu.global.u32 %r0, [%d6]", "ld.acquire.sys.global.u32 %r0, [%d6]",
                 "ld.u32 %r0, [%d6]", "ld.weak.global.u32 %r0, [%d6]"):
        emit(form, [({"r1": 1}, {"r0": 0x01020304})] * 2)
    for form in ("st.volatile.global.u32 [%d9], %r1", "st.relaxed.gpu.global.u32 [%d9], %r1", "st.release.gpu.global.u32 [%d9], %r1",
                 "st.u32 [%d9], %r1", "st.global.wb.u32 [%d9], %r1"):
        emit(form + "; ld.global.u32 %r0, [%d9]", [({"r1": a}, {"r0": a}) for a in integers(32)])
    for space, at in (("shared", "%d8"), ("local", "%d7")):
        emit(f"cvta.{space}.u64 %d1, {at}; st.u32 [%d1], %r1; ld.{space}.u32 %r0, [{at}]; cvta.to.{space}.u64 %d2, %d1; sub.u64 %d0, %d2, {at}",
             [({"r1": a}, {"r0": a, "d0": 0}) for a in (3, 5)])
    emit("cvta.global.u64 %d1, %d9; st.u32 [%d1], %r1; ld.global.u32 %r0, [%d9]", [({"r1": a}, {"r0": a}) for a in (3, 5)])
    emit("cvta.to.global.u64 %d1, %d9; st.global.u32 [%d1], %r1; ld.u32 %r0, [%d9]; isspacep.global %p0, %d9",
         [({"r1": a}, {"r0": a, "p0": 1}) for a in (3, 5)])
    emit("membar.gl; membar.cta; fence.acq_rel.gpu; fence.sc.sys; nanosleep.u32 20; mov.u32 %r0, %r1", [({"r1": 5}, {"r0": 5})])


def atomics():
    ops = []
    for bits in (32, 64):
        for op, f in (("and", lambda a, b: a & b), ("or", lambda a, b: a | b), ("xor", lambda a, b: a ^ b), ("exch", lambda a, b: b)):
            ops.append((op, f"b{bits}", f))
        for t in (f"u{bits}", f"s{bits}"):
            see = (lambda x, n=bits: signed(x, n)) if t[0] == "s" else (lambda x: x)
            ops.append(("min", t, lambda a, b, see=see: min(a, b, key=see)))
            ops.append(("max", t, lambda a, b, see=see: max(a, b, key=see)))
    for t in ("u32", "s32", "u64"):
        ops.append(("add", t, lambda a, b: a + b))
    ops.append(("inc", "u32", lambda a, b: 0 if a >= b else a + 1))
    ops.append(("dec", "u32", lambda a, b: b if a == 0 or a > b else a - 1))
    for space, at in (("global", "%d9"), ("shared", "%d8")):
        for op, t, f in ops:
            bits = int(t[1:])
            x = LETTER[bits]
            cases = [({x + "1": a, x + "2": b}, {x + "0": a, x + "3": f(a, b) & mask(bits)}) for a, b in tuples(integers(bits), 2)]
            emit(f"st.{space}.b{bits} [{at}], %{x}1; atom.{space}.{op}.{t} %{x}0, [{at}], %{x}2; ld.{space}.b{bits} %{x}3, [{at}]", cases)
            if op != "exch":
                emit(f"st.{space}.b{bits} [{at}], %{x}1; red.{space}.{op}.{t} [{at}], %{x}2; ld.{space}.b{bits} %{x}3, [{at}]",
                     [(i, {x + "3": o[x + "3"]}) for i, o in cases])
        for bits in (16, 32, 64):
            x = LETTER[bits]
            emit(f"st.{space}.b{bits} [{at}], %{x}1; atom.{space}.cas.b{bits} %{x}0, [{at}], %{x}2, %{x}3; ld.{space}.b{bits} %{x}4, [{at}]",
                 [({x + "1": a, x + "2": b, x + "3": 77}, {x + "0": a, x + "4": 77 if a == b else a})
                  for a, b in tuples(integers(bits), 2) + [(9, 9), (8, 8)]])
        for f in (F32, F64, F16):
            x = LETTER[f.bits]
            t = "noftz.f16" if f is F16 else f.name
            z = (lambda y: flush(F32, y)) if f is F32 and space == "global" else (lambda y: y)
            emit(f"st.{space}.b{f.bits} [{at}], %{x}1; atom.{space}.add.{t} %{x}0, [{at}], %{x}2; ld.{space}.b{f.bits} %{x}3, [{at}]",
                 [({x + "1": a, x + "2": b}, {x + "0": a, x + "3": "nan" if f.is_nan(r) else r})
                  for a, b in tuples([y for y in f.pool() if y & ~f.sign < f.infinity], 2) + [(1, 1), (5, 0), (1 << f.f, f.sign | (1 << f.f) + 3)]
                  for r in [z(add(f, z(a), z(b)))]])
    for form in ("atom.add.u32", "atom.relaxed.gpu.global.add.u32", "atom.acquire.gpu.global.add.u32", "atom.release.sys.global.add.u32",
                 "atom.acq_rel.cta.global.add.u32", "atom.gpu.global.add.u32"):
        emit(f"st.global.u32 [%d9], %r1; {form} %r0, [%d9], %r2; ld.global.u32 %r3, [%d9]",
             [({"r1": a, "r2": b}, {"r0": a, "r3": a + b & mask(32)}) for a, b in tuples(integers(32), 2)[:3]])


arithmetic()
carries()
bit_operations()
moves()
comparisons()
widths()
float_arithmetic()
float_signs()
float_comparisons()
float_conversions()
memory()
atomics()
