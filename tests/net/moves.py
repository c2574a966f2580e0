#!/usr/bin/python3
"""What ranks send and hold for random programs, launch by launch, beside what must move and what they need.

    tests/net/moves.py --lgt build/lgt [--count N] [--first SEED] [-k PART OF A SETTING]

A program makes arrays, takes views of them (slices, steps, reversed, transposed, single rows), combines views, writes
through them, adds up.  The oracle knows by NumPy which elements of its root a view has; of each launch it is told only
which domain works on which part of its space (LGT_DEBUG=map:3).  For each element of each array it keeps who wrote it
last and which ranks have it since, so it knows what every rank lacks for each launch: that, and nothing else, must be
sent, by the rank that wrote it.

Three rules are lgt's own.  A part of a view has all elements of the box around it, which counts for views with steps.
What every rank works on, and some lack, is shared among all.  What several domains add up in one place is folded among
all, who have the result then.

What each domain holds of an array (LGT_DEBUG=map:3 lists the boxes of its instances) is compared with what launches have
asked it for: what it wrote, and what it read from others.  It may hold half as much again, once for what one launch touches
and once for what several do, so that neighbours lie in one piece of memory; a result has room for a halo if one that the
same launch made was asked for it.  What others have overwritten is given back, unless the domain worked on it last.
"""
import collections
import random
import re

import numpy as np

from common import PATIENCE, arguments, case, finish
from script import launch

PRELUDE = """
local blend = lgt.task { name = "blend", args = {"in", "inout"}, generator = function(b, x, y) return x + y end }
"""
SLACK = 2.25  # what is near is held together: twice, by one launch and by one after the other, up to half as much again
CALL = re.compile(r"exchange (\w+), (\w+)\S*\(([\d,]+)\):((?: \d+@[-\d:,]+)+| everywhere)$")
HOLDS = re.compile(r"exchange (\w+) holds of array (\d+):((?: \d+(?:@[-\d:,]+)?\*?)*)$")
MESSAGE = re.compile(r"(send|gather|broadcast|fold) (\d+) bytes, peer (\d+), tag (\w+)$")
# Who computes what others do, too, asks for more at once: bytes.py knows how much.
SETTINGS = [(n, domains, ("--widen=0", *options)) for n in (2, 3, 4, 7) for domains in (1, 2)
            for options in ((), ("--fusion=0",), ("--window=1",))]


# ---- programs ---------------------------------------------------------------------------------------------

View = collections.namedtuple("View", "name store at")  # at: the elements of the root, by position
Call = collections.namedtuple("Call", "kind space reads writes adds")  # reads, writes: (store, its elements over the space)


class Program:
    """Lua text, and the launches that it makes."""

    def __init__(self, seed, length=26):
        self.rng, self.number = random.Random(seed), seed
        self.lines, self.calls, self.shapes, self.views = [], [], [], []
        self.names = 0
        self.scale = self.rng.choice([1, 1, 4])
        for _ in range(3):
            self.array(self.shape())
        while len(self.lines) < length:
            self.rng.choice([self.combine, self.combine, self.combine, self.assign, self.assign, self.update, self.fill, self.total,
                             self.sums, self.scaled, self.spread, self.alone, self.far])()

    def text(self):
        return f"do -- {self.number}\n" + "\n".join(self.lines) + "\nend\nlgt.flush()\n"

    def shape(self):
        shape = self.rng.choice([lambda r: (r(3, 40),), lambda r: (r(2, 12), r(2, 12)), lambda r: (r(2, 12), r(2, 12)),
                                 lambda r: (r(2, 5), r(2, 6), r(2, 6))])(self.rng.randint)
        return tuple(n * self.scale for n in shape)

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

    def diagonal(self, view):
        """Of its last two dimensions, perhaps from upper right to lower left."""
        k = self.rng.randint(-1, 1)
        at = view.at.diagonal(k, -2, -1)
        return self.view(view, f":diagonal({k}, -2, -1)", at) if at.size else view

    def some(self, ndim=1):
        """Any view with at least so many dimensions."""
        found = [v for v in self.views if v.at.ndim >= ndim]
        v = self.rng.choice(found) if found else self.array((5, 7, 3)[:max(ndim, 2)])
        if v.at.ndim > max(ndim, 1) and self.rng.random() < 0.3:
            i = self.rng.randrange(len(v.at))
            return self.view(v, f"[{i + 1}]", v.at[i])
        if self.rng.random() < 0.2:
            return self.view(v, ".T", v.at.T)
        if v.at.ndim > ndim and self.rng.random() < 0.3:
            return self.diagonal(v)
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

    def far(self):
        """A launch that writes a part of an array, and reads another part of it."""
        a = self.some()
        n = len(a.at)
        if n < 2:
            return
        size, first = self.rng.randint(1, n // 2), self.rng.random() < 0.5
        lo, hi = (self.view(a, f'["{lo + 1}:{lo + size}{", :" * (a.at.ndim - 1)}"]', a.at[lo:lo + size]) for lo in (0, n - size))
        read, written = (lo, hi) if first else (hi, lo)
        if np.intersect1d(*(Array(self.shapes[v.store], 1).box(v.at).nonzero()[0] for v in (lo, hi))).size:
            return  # a view with steps
        self.call("blend", f"blend({read.name}, {written.name})", read.at.shape, [written, read], writes=[written])

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


# ---- what is held -----------------------------------------------------------------------------------------

class Memory:
    """What each domain was asked for of each array, and which elements of it are current there."""

    def __init__(self, ranks, local):
        self.domains, self.local = ranks * local, local
        self.exchange, self.launches = None, set()

    def begin(self, shapes):
        self.shapes = shapes
        self.asked, self.current, self.last = ([np.zeros((self.domains, *shape), bool) for shape in shapes] for _ in range(3))

    def box(self, store, at):
        shape = self.shapes[store]
        return tuple(slice(k.min(), k.max() + 1) for k in np.unravel_index(at, shape)) if shape else ()

    def boxes(self, store, at, parts):
        return [(domain, self.box(store, at[part])) for domain, part in parts if at[part].size]

    def launch(self, call, tiles, exchange, ids):
        if exchange != self.exchange:
            self.exchange, self.stores, self.touched = exchange, {}, set()
        self.stores.update(zip(dict.fromkeys(ids), dict.fromkeys(s for s, _ in [*call.writes, *call.adds, *call.reads])))
        everywhere = [(domain, ()) for domain in range(0, self.domains, self.local)]
        parts = everywhere if tiles is None else tiles
        like = str([call.kind, call.space, *((self.shapes[s], at.tobytes()) for s, at in [*call.reads, *call.writes, *call.adds])])
        for store, at in call.reads:
            self.touch(store, self.boxes(store, at, parts))
        for store, at in call.adds:
            owners = np.zeros(int(np.prod(self.shapes[store])), int)
            for _, part in parts:
                owners[np.unique(at[part])] += 1
            self.write(store, self.boxes(store, at, parts if owners.max() < 2 else everywhere))
        for store, at in call.writes:
            boxes = self.boxes(store, at, parts)
            self.write(store, boxes)
            if like in self.launches:  # with room for a halo that the result of such a launch was asked for
                for domain, box in boxes:
                    more = [(s.stop - s.start) // 2 + 4 for s in box]
                    self.asked[store][domain][tuple(slice(max(0, s.start - n), s.stop + n) for s, n in zip(box, more))] = True
        self.launches.add(like)

    def touch(self, store, boxes):
        for domain, box in boxes:
            if (store, domain) not in self.touched:
                self.touched.add((store, domain))
                self.last[store][domain] = False
            self.asked[store][domain, *box] = self.last[store][domain, *box] = self.current[store][domain, *box] = True

    def write(self, store, boxes):
        for _, box in boxes:
            self.current[store][:, *box] = False
        self.touch(store, boxes)

    def check(self, held):
        """held: {array: {domain: [(box, is it shared?)]}}.  None, or what is wrong."""
        for array, store in self.stores.items():
            for domain, boxes in held[array].items() if self.shapes[store] else ():
                for box, shared in boxes:
                    for other in self.stores if shared else ():
                        if self.shapes[self.stores[other]] == self.shapes[store] and (box, True) in held[other].get(domain, ()):
                            self.asked[store][domain][box] |= self.asked[self.stores[other]][domain][box]
                    if not self.current[store][domain][box].any() and not self.last[store][domain][box].any():
                        return f"domain {domain} holds {box} of {self.shapes[store]}, of which nothing is current"
                room = sum(int(np.prod([s.stop - s.start for s in box])) for box, _ in boxes)
                asked = int(self.asked[store][domain].sum())
                if room > SLACK * asked:
                    return f"domain {domain} holds {boxes} of {self.shapes[store]}, {room} elements, was asked for {asked}"
        return None


# ---- what happened ----------------------------------------------------------------------------------------

def tiles_of(text):
    if text == " everywhere":
        return None
    found = []
    for word in text.split():
        domain, _, rect = word.partition("@")
        found.append((int(domain), tuple(slice(*map(int, d.split(":"))) for d in rect.split(",") if d)))
    return found


def boxes_of(text):
    """{domain: [(box, shared)]} of instances."""
    found = collections.defaultdict(list)
    for word in text.split():
        (domain, box), = tiles_of(word.rstrip("*"))
        found[domain].append((box, word.endswith("*")))
    return found


def observed(err, ranks):
    """The launches, as [(exchange, kind, tiles)], and the messages, as {exchange: Counter}; or what is wrong."""
    launches, messages = [[] for _ in range(ranks)], collections.defaultdict(collections.Counter)
    held_by = []  # (rank, exchange, array, boxes)
    for line in err.splitlines():
        who = re.match(r"\[(\d+)\] ", line)
        rank = int(who[1]) if who else 0
        call, message = CALL.search(line), MESSAGE.search(line)
        held = HOLDS.search(line)
        if call:
            launches[rank].append((int(call[1], 16), call[2], call[4], tuple(map(int, call[3].split(",")))))
        elif held:
            held_by.append((rank, int(held[1], 16), int(held[2]), boxes_of(held[3])))
        elif message:
            exchange, size, peer = int(message[4], 16) >> 19, int(message[2]), int(message[3])
            if message[1] == "send":
                messages[exchange]["send", rank, peer] += size
            elif rank == 0:
                messages[exchange]["fold" if message[1] == "fold" else "share", 0, 0] += size
        elif "history of array" in line:
            return f"a history was too long: {line}"
    if any([call[:3] for call in of] != [call[:3] for call in launches[0]] for of in launches):
        return "the ranks do not launch the same"
    # An array's number is each rank's own, for it may be another one's that was collected: here it is that of rank 0.
    number = {(rank, mine[0], a): b for rank, of in enumerate(launches) for mine, first in zip(of, launches[0])
              for a, b in zip(mine[3], first[3])}
    holds = collections.defaultdict(lambda: collections.defaultdict(dict))
    for rank, exchange, array, boxes in held_by:
        holds[exchange][number.get((rank, exchange, array), array)].update(boxes)
    return launches[0], messages, holds


def compare(programs, ranks, local, options):
    outcome = launch(PRELUDE + "".join(p.text() for p in programs) + "lgt.fence() os.exit(0)", ranks, local, limit=PATIENCE,
                     env={"LGT_DEBUG": "map:3"}, options=options)
    seen = observed(outcome.err, ranks)
    if outcome.status or isinstance(seen, str):
        return f"{seen if outcome.status == 0 else str(outcome)[-1500:]}"
    launches, messages, holds = seen
    calls = [(p, i, c) for p in programs for i, c in enumerate(p.calls)]
    if len(calls) != len(launches):
        return f"{len(calls)} launches are expected, {len(launches)} happened"
    oracle, expected, first = Oracle(ranks, local), collections.defaultdict(collections.Counter), {}
    memory = Memory(ranks, local)
    for k, ((program, i, call), (exchange, kind, tiles, ids)) in enumerate(zip(calls, launches)):
        if kind != call.kind:
            return f"program {program.number}: launch {i} is {kind} instead of {call.kind}"
        if i == 0:
            oracle.arrays = {k: Array(shape, ranks) for k, shape in enumerate(program.shapes)}
            memory.begin(program.shapes)
        first.setdefault(exchange, f"program {program.number}, launch {i} ({kind}) in {tiles}")
        oracle.launch(call, tiles_of(tiles), expected[exchange])
        memory.launch(call, tiles_of(tiles), exchange, ids)
        if k + 1 == len(launches) or launches[k + 1][0] != exchange:
            why = memory.check(holds[exchange])
            if why:
                return f"{first[exchange]}: {why}"
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
