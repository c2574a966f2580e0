#!/usr/bin/python3
"""What ranks send for random programs, launch by launch, beside what must move.

    tests/net/moves.py --lgt build/lgt [--count N] [--first SEED] [-k PART OF A SETTING]

A program makes arrays, takes views of them (slices, steps, reversed, transposed, single rows), combines views, writes
through them, adds up.  The oracle knows by NumPy which elements of its root a view has; of each launch it is told only
which domain works on which part of its space (LGT_DEBUG=map:3).  For each element of each array it keeps who wrote it
last and which ranks have it since, so it knows what every rank lacks for each launch: that, and nothing else, must be
sent, by the rank that wrote it.

Three rules are lgt's own.  A part of a view has all elements of the box around it, which counts for views with steps.
What every rank works on, and some lack, is shared among all.  What several domains add up in one place is folded among
all, who have the result then.
"""
import collections
import random
import re

import numpy as np

from common import PATIENCE, arguments, case, finish
from script import launch

CALL = re.compile(r"exchange (\w+), (\w+)\S*:((?: \d+@[-\d:,]+)+| everywhere)$")
MESSAGE = re.compile(r"(send|gather|broadcast|fold) (\d+) bytes, peer (\d+), tag (\w+)$")
SETTINGS = [(n, domains, options) for n in (2, 3, 4, 7) for domains in (1, 2) for options in ((), ("--fusion=0",), ("--window=1",))]


# ---- programs ---------------------------------------------------------------------------------------------

View = collections.namedtuple("View", "name store at")  # at: the elements of the root, by position
Call = collections.namedtuple("Call", "kind space reads writes adds")  # reads, writes: (store, its elements over the space)


class Program:
    """Lua text, and the launches that it makes."""

    def __init__(self, seed, length=26):
        self.rng, self.number = random.Random(seed), seed
        self.lines, self.calls, self.shapes, self.views = [], [], [], []
        self.names = 0
        for _ in range(3):
            self.array(self.shape())
        while len(self.lines) < length:
            self.rng.choice([self.combine, self.combine, self.combine, self.assign, self.assign, self.update, self.fill, self.total,
                             self.sums, self.scaled, self.spread, self.alone])()

    def text(self):
        return f"do -- {self.number}\n" + "\n".join(self.lines) + "\nend\n"

    def shape(self):
        return self.rng.choice([lambda r: (r(3, 40),), lambda r: (r(2, 12), r(2, 12)), lambda r: (r(2, 12), r(2, 12)),
                                lambda r: (r(2, 5), r(2, 6), r(2, 6))])(self.rng.randint)

    def name(self):
        self.names += 1
        return f"x{self.names}"

    def store(self, shape):
        """A new array that a statement makes."""
        self.shapes.append(shape)
        view = View(self.name(), len(self.shapes) - 1, np.arange(int(np.prod(shape))).reshape(shape))
        self.views.append(view)
        return view

    def array(self, shape):
        new = self.store(shape)
        self.lines.append(f"local {new.name} = np.zeros {{{', '.join(map(str, shape))}}}")
        self.calls.append(Call("zeros", shape, [], [(new.store, new.at)], []))
        return new

    def window(self, view, shape):
        """A part of it of this shape."""
        parts, index, steps = [], [], self.rng.random() < 0.3
        for have, want in zip(view.at.shape, shape):
            step = self.rng.randint(1, (have - 1) // (want - 1)) if steps and want > 1 else 1
            lo = self.rng.randint(0, have - (want - 1) * step - 1)
            hi = lo + (want - 1) * step
            if self.rng.random() < 0.15:
                parts.append(f"{hi + 1}:{lo + 1}:{-step}")
                index.append(slice(hi, lo - 1 if lo else None, -step))
            else:
                parts.append(f"{lo + 1}:{hi + 1}:{step}" if step > 1 else f"{lo + 1}:{hi + 1}")
                index.append(slice(lo, hi + 1, step))
        return self.view(view, '["' + ", ".join(parts) + '"]', view.at[tuple(index)])

    def view(self, view, how, at):
        new = View(self.name(), view.store, at)
        self.lines.append(f"local {new.name} = {view.name}{how}")
        return new

    def fit(self, shape, other=None):
        """A view of this shape; not of the array `other`."""
        found = [v for v in self.views if v.store != other and v.at.ndim == len(shape)]
        self.rng.shuffle(found)
        for v in found:
            if all(have >= want for have, want in zip(v.at.shape, shape)):
                return self.window(v, shape) if self.rng.random() < 0.8 or v.at.shape != shape else v
            if all(have >= want for have, want in zip(v.at.shape[::-1], shape)):
                return self.window(self.view(v, ".T", v.at.T), shape)
        return self.array(shape)

    def some(self, ndim=1):
        """Any view with at least so many dimensions."""
        found = [v for v in self.views if v.at.ndim >= ndim]
        v = self.rng.choice(found) if found else self.array((5, 7, 3)[:max(ndim, 2)])
        if v.at.ndim > max(ndim, 1) and self.rng.random() < 0.3:
            i = self.rng.randrange(len(v.at))
            return self.view(v, f"[{i + 1}]", v.at[i])
        if self.rng.random() < 0.2:
            return self.view(v, ".T", v.at.T)
        if self.rng.random() < 0.5:
            return self.window(v, tuple(self.rng.randint(max(1, n // 2), n) for n in v.at.shape))
        return v

    def call(self, kind, line, space, reads, new=None, writes=(), adds=()):
        spread = [[(v.store, np.broadcast_to(v.at, space)) for v in views] for views in (reads, writes)]
        if new:
            spread[1].append((new.store, new.at))
        self.lines.append(line)
        self.calls.append(Call(kind, space, *spread, list(adds)))

    def combine(self):
        a = self.some()
        b = self.fit(a.at.shape)
        new = self.store(a.at.shape)
        self.call("add", f"local {new.name} = {a.name} + {b.name}", a.at.shape, [a, b], new)

    def alone(self):
        a = self.some()
        new = self.store(a.at.shape)
        self.call("multiply", f"local {new.name} = {a.name} * 2", a.at.shape, [a], new)

    def spread(self):
        a = self.some(2)
        row = self.fit(a.at.shape[-1:])
        new = self.store(a.at.shape)
        self.call("subtract", f"local {new.name} = {a.name} - {row.name}", a.at.shape, [a, row], new)

    def assign(self):
        a = self.some()
        b = self.fit(a.at.shape, a.store)
        self.call("assign", f'{a.name}["..."] = {b.name}', a.at.shape, [b], writes=[a])

    def update(self):
        a = self.some()
        b = self.fit(a.at.shape, a.store)
        self.call("iadd", f"{a.name}:iadd({b.name})", a.at.shape, [a, b], writes=[a])

    def fill(self):
        a = self.some()
        self.call("fill", f"{a.name}:fill(3)", a.at.shape, [], writes=[a])

    def total(self):
        a = self.some()
        new = self.store(())
        self.views.pop()
        self.call("sum", f"local {new.name} = np.sum({a.name})", a.at.shape, [a],
                  adds=[(new.store, np.broadcast_to(new.at, a.at.shape))])
        return new

    def scaled(self):
        s, a = self.total(), self.some()
        new = self.store(a.at.shape)
        self.call("multiply", f"local {new.name} = {a.name} * {s.name}", a.at.shape, [a, s], new)

    def sums(self):
        a = self.some(2)
        axis = self.rng.randrange(a.at.ndim)
        new = self.store(a.at.shape[:axis] + a.at.shape[axis + 1:])
        target = np.broadcast_to(np.expand_dims(new.at, axis), a.at.shape)
        self.call("sum", f"local {new.name} = np.sum({a.name}, {axis + 1})", a.at.shape, [a], adds=[(new.store, target)])


# ---- the oracle -------------------------------------------------------------------------------------------

NEVER, ALL = -2, -1


class Array:
    def __init__(self, shape, ranks):
        size = int(np.prod(shape))
        self.shape = shape
        self.writer = np.full(size, NEVER)  # a domain; ALL: every rank
        self.has = np.zeros((ranks, size), bool)
        self.everywhere = np.zeros(size, bool)  # not by chance, but because all ranks worked on it

    def box(self, at):
        """All elements in the box around these."""
        found = np.zeros(self.shape, bool)
        if at.size and self.shape:
            found[tuple(slice(k.min(), k.max() + 1) for k in np.unravel_index(at, self.shape))] = True
        return found.reshape(-1) if self.shape else np.ones(1, bool)


class Oracle:
    def __init__(self, ranks, local):
        self.ranks, self.local, self.arrays = ranks, local, {}

    def array(self, store):
        return self.arrays[store]

    def rank(self, domain):
        return domain // self.local

    def launch(self, call, tiles, expected):
        """tiles: [(domain, slices of the space)]; None: every rank does all of it.  Adds to the messages expected."""
        parts = [(None, ())] if tiles is None else tiles
        read, written = list(call.reads), list(call.writes)
        for store, at in call.writes:  # what lies between the elements that are written stays
            if self.array(store).box(at).sum() != np.unique(at).size:
                read.append((store, at))
        for store, at in read:
            common = tiles is None or self.array(store).shape == () and len(tiles) > 1
            for domain, part in [(None, ())] if common else parts:
                self.fetch(self.array(store), self.array(store).box(at[part]), domain, expected)
        for store, at in call.adds:
            owners = np.zeros(self.array(store).writer.size, int)
            for _, part in parts:
                owners[np.unique(at[part])] += at[part].size > 0
            if tiles is not None and (owners.max() > 1 or self.array(store).shape == ()) and len(parts) > 1:
                expected["fold", 0, 0] += 8 * owners.size
                self.write(self.array(store), self.array(store).box(at), None)
            else:
                written.append((store, at))
        for store, at in written:
            for domain, part in parts:
                self.write(self.array(store), self.array(store).box(at[part]), domain)

    def fetch(self, array, box, domain, expected):
        known = array.writer != NEVER
        if domain is None:
            lacking = box & known & ~array.everywhere
            if lacking.any():
                expected["share", 0, 0] += 8 * int(lacking.sum())
            array.has[:, box] = True
            array.everywhere |= box
            return
        lacking = box & known & ~array.has[self.rank(domain)]
        for writer in np.unique(array.writer[lacking]):
            assert writer >= 0, "what all have cannot be lacking"
            expected["send", self.rank(writer), self.rank(domain)] += 8 * int((lacking & (array.writer == writer)).sum())
        array.has[self.rank(domain), box] = True

    def write(self, array, box, domain):
        array.writer[box] = ALL if domain is None else domain
        array.everywhere[box] = domain is None
        array.has[:, box] = domain is None
        if domain is not None:
            array.has[self.rank(domain), box] = True


# ---- what happened ----------------------------------------------------------------------------------------

def tiles_of(text):
    if text == " everywhere":
        return None
    found = []
    for word in text.split():
        domain, _, rect = word.partition("@")
        found.append((int(domain), tuple(slice(*map(int, d.split(":"))) for d in rect.split(","))))
    return found


def observed(err, ranks):
    """The launches, as [(exchange, kind, tiles)], and the messages, as {exchange: Counter}; or what is wrong."""
    launches, messages = [[] for _ in range(ranks)], collections.defaultdict(collections.Counter)
    for line in err.splitlines():
        who = re.match(r"\[(\d+)\] ", line)
        rank = int(who[1]) if who else 0
        call, message = CALL.search(line), MESSAGE.search(line)
        if call:
            launches[rank].append((int(call[1], 16), call[2], call[3]))
        elif message:
            exchange, size, peer = int(message[4], 16) >> 19, int(message[2]), int(message[3])
            if message[1] == "send":
                messages[exchange]["send", rank, peer] += size
            elif rank == 0:
                messages[exchange]["fold" if message[1] == "fold" else "share", 0, 0] += size
        elif "history of array" in line:
            return f"a history was too long: {line}"
    if any(of != launches[0] for of in launches):
        return "the ranks do not launch the same"
    return launches[0], messages


def compare(programs, ranks, local, options):
    outcome = launch("".join(p.text() for p in programs) + "lgt.fence() os.exit(0)", ranks, local, limit=PATIENCE,
                     env={"LGT_DEBUG": "map:3"}, options=options)
    seen = observed(outcome.err, ranks)
    if outcome.status or isinstance(seen, str):
        return f"{seen if outcome.status == 0 else str(outcome)[-1500:]}"
    launches, messages = seen
    calls = [(p, i, c) for p in programs for i, c in enumerate(p.calls)]
    if len(calls) != len(launches):
        return f"{len(calls)} launches are expected, {len(launches)} happened"
    oracle, expected, first = Oracle(ranks, local), collections.defaultdict(collections.Counter), {}
    for (program, i, call), (exchange, kind, tiles) in zip(calls, launches):
        if kind != call.kind:
            return f"program {program.number}: launch {i} is {kind} instead of {call.kind}"
        if i == 0:
            oracle.arrays = {k: Array(shape, ranks) for k, shape in enumerate(program.shapes)}
        first.setdefault(exchange, f"program {program.number}, launch {i} ({kind}) in {tiles}")
        oracle.launch(call, tiles_of(tiles), expected[exchange])
    for exchange, where in first.items():
        if messages[exchange] != expected[exchange]:
            return f"{where}: sent {dict(messages[exchange])}, must move {dict(expected[exchange])}"
    return None if any(sum(m.values()) for m in expected.values()) else "nothing moved"


def setting(number, ranks, local, options):
    def check():
        seeds = range(arguments.first + number * arguments.count, arguments.first + (number + 1) * arguments.count)
        return compare([Program(seed) for seed in seeds], ranks, local, options)
    return check


for number, (ranks, local, options) in enumerate(SETTINGS):
    case(f"{ranks} ranks of {local} domains {' '.join(options)}".rstrip(), setting(number, ranks, local, options))
finish(1)
