"""Makes a failing program small: drops statements, unrolls loops, simplifies expressions, shrinks extents
and the configuration, as long as the same kind of failure remains and the program makes sense."""
import time

from judge import REFERENCE, Subject, judge, reference_for
from machine import Reject
from turns import BLOCKS

EXPRESSIONS = {"var", "num", "op", "index", "transpose", "broadcast", "windows", "reshape", "reduce", "dot", "band", "cast",
               "copy",
               "pick", "join", "call", "sort"}


def kind_of(why):
    """What must stay the same while shrinking."""
    kind, text = why
    if kind in ("wrong", "bits"):
        return "value"
    if kind == "error":
        return "error " + "".join(c for c in text.split(":", 2)[-1] if not c.isdigit())[:60]
    return kind


class Shrinker:
    def __init__(self, lgt, program, config, why, seconds=60, prefix=()):
        self.lgt, self.program, self.config = lgt, program, dict(config)
        self.why, self.kind = why, kind_of(why)
        self.deadline = time.monotonic() + seconds
        self.prefix = list(prefix)  # subjects that must run before in the same process
        self.tried = set()
        self.limit = 10 if self.kind == "hang" else 60

    def late(self):
        return time.monotonic() > self.deadline

    def fails(self, program, config, prefix=None):
        """Why a candidate fails in the same way, or None."""
        try:
            subject = Subject(program)
        except Reject:
            return None
        before = self.prefix if prefix is None else prefix
        reference = None
        if config != REFERENCE and self.kind == "value":
            got, _ = self.lgt.once([subject], reference_for(config), self.limit, mutate={})
            reference = got[0][1] if got and judge(subject, [got[0][1]], None, REFERENCE) is None else None
        got, ending = self.lgt.once([*before, subject], config, self.limit)
        mine = [r for seed, r in got if seed == subject.seed]
        if ending and (not mine or not mine[-1].done):
            if not mine and got and got[-1][0] != subject.seed and not got[-1][1].done:
                return None  # it was a program before that crashed
            why = ending
        elif ending and self.kind in ("crash", "exit"):
            why = ending
        else:
            why = judge(subject, mine, reference, config)
        return why if why and kind_of(why) == self.kind else None

    def attempt(self, program, config=None, prefix=None):
        """Take the candidate if it fails; is it taken?"""
        config = self.config if config is None else config
        key = (program.key(), tuple(sorted(config.items())), None if prefix is None else len(prefix),
               None if prefix is None else tuple(s.seed for s in prefix))
        if key in self.tried or self.late():
            return False
        self.tried.add(key)
        why = self.fails(program, config, prefix)
        if not why:
            return False
        self.program, self.config, self.why = program, config, why
        if prefix is not None:
            self.prefix = prefix
        return True

    def run(self):
        """Shrinks until nothing more can go, or the time is over."""
        self.shrink_prefix()
        self.merge_prefix()
        self.configuration()
        while not self.late():
            before = self.program.key()
            self.statements()
            self.blocks()
            self.outputs()
            self.expressions()
            self.extents()
            if self.program.key() == before:
                break
        self.configuration()
        return self

    def shrink_prefix(self):
        if self.prefix and self.attempt(self.program, prefix=[]):
            return
        size = max(1, len(self.prefix) // 2)
        while self.prefix and not self.late():
            at = 0
            while at < len(self.prefix):
                if not self.attempt(self.program, prefix=self.prefix[:at] + self.prefix[at + size:]):
                    at += size
            if size == 1:
                break
            size //= 2

    def merge_prefix(self):
        """What ran before becomes blocks of the same program, which shrink like the rest."""
        if not self.prefix:
            return
        merged = self.program.copy()
        for k, subject in enumerate(reversed(self.prefix)):
            before = subject.program
            mark = "abcdefgh"[k % 8] + str(k // 8 or "")
            merged.block.insert(0, ["for", 1, renamed(before.block, mark)])
            merged.extents.update({mark + n: v for n, v in before.extents.items()})
        self.attempt(merged, prefix=[])

    # -- statements

    def all_blocks(self, program):
        """The paths of all blocks."""
        paths = [()]
        at = 0
        while at < len(paths):
            path = paths[at]
            at += 1
            for i, s in enumerate(get(program.block, path)):
                for k in BLOCKS.get(s[0], []):
                    paths.append((*path, i, k))
        return paths

    def statements(self):
        k = 0
        while k < len(self.all_blocks(self.program)):
            path = self.all_blocks(self.program)[k]
            k += 1
            size = len(self.block_at(path)) // 2 or 1
            while size >= 1 and not self.late():
                at = len(self.block_at(path))
                while at > 0:
                    candidate = self.program.copy()
                    block = get(candidate.block, path)
                    del block[max(0, at - size):at]
                    self.attempt(candidate)
                    at = min(at - size, len(self.block_at(path)))
                size //= 2

    def block_at(self, path):
        try:
            return get(self.program.block, path)
        except IndexError:
            return []

    def blocks(self):
        """Loops and branches become what is in them; turns become fewer."""
        for path in reversed(self.all_blocks(self.program)):
            for i in reversed(range(len(self.block_at(path)))):
                s = self.block_at(path)[i]
                for k in BLOCKS.get(s[0], []):
                    candidate = self.program.copy()
                    get(candidate.block, path)[i:i + 1] = s[k]
                    if self.attempt(candidate):
                        break
                else:
                    for turns in (2, 3, 5, 10, 20) if s[0] == "for" else ():
                        if turns < s[1]:
                            candidate = self.program.copy()
                            get(candidate.block, path)[i][1] = turns
                            if self.attempt(candidate):
                                break

    def outputs(self):
        """Only one output."""
        try:
            names = Subject(self.program).outputs
        except Reject:
            return
        for name in names if len(names) > 1 else ():
            candidate = self.program.copy()
            candidate.keep = [name]
            if self.attempt(candidate):
                return
        if names:
            candidate = self.program.copy()
            candidate.keep = []
            self.attempt(candidate)

    # -- expressions

    def expressions(self):
        done = False
        while not done and not self.late():
            done = True
            for path in nodes(self.program.block):
                if any(self.attempt(candidate) for candidate in self.simpler(path)):
                    done = False
                    break

    def simpler(self, path):
        e = get(self.program.block, path)
        for child in children(e):
            yield self.replaced(path, child)
        if e[0] != "num":
            for name in self.names():
                if e == ["var", name]:
                    break  # only earlier ones: there must be an end
                yield self.replaced(path, ["var", name])
        if e[0] == "op":
            if len(e) > 3 and e[3]:
                yield self.replaced(path, [*e[:3], 0])
            for i, a in enumerate(e[2]):
                if a[0] not in ("var", "num"):
                    yield self.replaced(path, [e[0], e[1], [*e[2][:i], ["num", 1], *e[2][i + 1:]], 0])
        if e[0] == "index":
            for i, entry in enumerate(e[2]):
                if entry not in (["s", None, None, 1], ["n"]):
                    entries = list(e[2])
                    entries[i] = ["s", None, None, 1]
                    yield self.replaced(path, ["index", e[1], entries, 0])
            if len(e) > 3 and e[3]:
                yield self.replaced(path, [*e[:3], 0])
        if e[0] == "reduce" and e[3] is not None:
            yield self.replaced(path, [*e[:3], None, False])

    def names(self):
        return [s[1] for s in self.program.block if s[0] in ("new", "let")][:4]

    def replaced(self, path, e):
        candidate = self.program.copy()
        get(candidate.block, path[:-1])[path[-1]] = e
        return candidate

    # -- extents, inputs, configuration

    def extents(self):
        for name, n in list(self.program.extents.items()):
            for smaller in [1, 2, 3, n // 2, n - 1]:
                if 0 < smaller < self.program.extents[name]:
                    candidate = self.program.copy()
                    candidate.extents[name] = smaller
                    if self.attempt(candidate):
                        break
        for i, s in enumerate(self.program.block):
            if s[0] == "new":
                for k, value in ((2, "float64"), (3, s[3][1:]), (3, s[3][:-1]), (4, [1, 0, 1009, 1])):
                    if self.program.block[i][k] != value:
                        candidate = self.program.copy()
                        candidate.block[i][k] = value
                        self.attempt(candidate)

    def configuration(self):
        for name in list(self.config):
            if name in REFERENCE and self.config == REFERENCE:
                return
            config = {k: v for k, v in self.config.items() if k != name}
            if self.attempt(self.program, config):
                continue
            if name in REFERENCE:
                self.attempt(self.program, {**self.config, name: REFERENCE[name]})
            for smaller in {"domains": [2, 3], "cpus": [2], "window": [1, 2, 4, 8], "jitter": [1, 2, 3]}.get(name, []):
                if smaller < int(self.config.get(name, 0)) and self.attempt(self.program, {**self.config, name: smaller}):
                    break


def renamed(x, mark):
    """A block whose variables and extents (x1, s2, n0, ...) have a mark before their names."""
    if isinstance(x, list):
        return [renamed(y, mark) for y in x]
    if isinstance(x, str) and x[:1] in "xvsn" and x[1:].isdigit():
        return mark + x
    return x


def get(tree, path):
    for k in path:
        tree = tree[k]
    return tree


def nodes(block):
    """Paths of all expressions, outer ones first."""
    found = []

    def walk(x, path):
        if isinstance(x, list):
            if len(x) > 1 and isinstance(x[0], str) and x[0] in EXPRESSIONS:
                found.append(path)
            for i, y in enumerate(x):
                walk(y, (*path, i))
    walk(block, ())
    return sorted(found, key=len)


def children(e):
    if e[0] == "op":
        return e[2]
    if e[0] in ("index", "transpose", "broadcast", "windows", "reshape", "copy", "band"):
        return [e[1]]
    if e[0] in ("cast", "reduce", "sort"):
        return [e[2]]
    if e[0] in ("dot", "pick"):
        return [e[1], e[2]]
    if e[0] == "join":
        return e[1]
    if e[0] == "call":
        return e[2]
    return []
