"""Loops, branches and coroutines of random programs: how a Machine (machine.py) runs them.

A loop's turn ends with what it named first being forgotten.  `turns` are the numbers of the turns that are under way,
the innermost loop's last.
"""
from operations import demand


class Break(Exception):
    """The innermost loop ends."""


# The blocks of statements that have some.
BLOCKS = {"for": [2], "if": [2, 3], "every": [2], "both": [2, 4], "named": [2]}


def ends_loop(block):
    """May it end a loop around it?  Then it is no function's body, whether that statement is run or not."""
    return any(s[0] == "stop" or s[0] in ("if", "every") and any(ends_loop(s[i]) for i in BLOCKS[s[0]]) for s in block)


class Turns:
    """Part of a Machine, which has env, run, step, array, bind, looked_at."""

    def __init__(self):
        self.turns = []
        self.rings = {}  # by number: handles that a program keeps in a table, the oldest first

    def inner(self, block, depth):
        """A block: what it names first is gone at its end."""
        outer = set(self.env)
        try:
            self.run(block, depth + 1)
        finally:
            self.forget(outer)

    def forget(self, outer):
        for name in list(self.env):
            if name not in outer:
                del self.env[name]

    def turn(self, number, block, depth):
        self.turns.append(number)
        try:
            self.inner(block, depth)
        finally:
            self.turns.pop()

    def do_for(self, s, depth):
        outer = dict.fromkeys(self.env)
        try:
            for number in range(1, s[1] + 1):
                self.turn(number, s[2], depth)
        except Break:
            pass
        demand(all(name in self.env for name in outer), "dropped in a loop")

    def do_every(self, s, depth):
        """["every", k, block]: in each k-th turn of the innermost loop."""
        demand(self.turns, "no loop")
        before = set(self.env)
        if self.turns[-1] % s[1] == 0:
            self.inner(s[2], depth)
        demand(before == set(self.env), "dropped in a branch")

    def do_named(self, s, depth):
        """["named", id, block]: lgt.trace, which changes nothing."""
        demand(not ends_loop(s[2]), "a trace cannot end a loop")
        before = set(self.env)
        self.inner(s[2], depth)
        demand(before == set(self.env), "dropped in a trace")

    def do_stop(self, s, _depth):
        """["stop", condition]: the innermost loop ends if it is met."""
        demand(self.turns, "no loop")
        if self.decide(s[1]):
            raise Break()

    def do_both(self, s, depth):
        """["both", turns, block, turns, block]: two coroutines with a loop each, which take turns at every ["yield"] in
        their blocks."""
        outer = set(self.env)
        waiting = [self.coroutine(s[1], s[2], depth), self.coroutine(s[3], s[4], depth)]
        while waiting:
            waiting = [c for c in waiting if next(c, None)]
        demand(outer == set(self.env), "dropped in a coroutine")

    def coroutine(self, turns, block, depth):
        for number in range(1, turns + 1):
            own = set()
            for s in block:
                if s == ["yield"]:
                    yield True
                    continue
                before = set(self.env)
                self.turns.append(number)
                try:
                    self.step(s, depth + 1)
                except Break:
                    return
                finally:
                    self.turns.pop()
                own |= set(self.env) - before
            self.forget(set(self.env) - own)

    def do_yield(self, _s, _depth):
        demand(False, "no coroutine")

    def do_swap(self, s, depth):
        x, y = self.array(["var", s[1]]), self.array(["var", s[2]])
        demand(x.shape == y.shape and x.dtype == y.dtype, "swapping others")
        self.bind(s[1], y, depth)
        self.bind(s[2], x, depth)

    def do_ring(self, s, depth):
        """["ring", name, number, room, e]: e is kept in a table of so many; name is the oldest there."""
        _, name, number, room, e = s
        ring = self.rings.setdefault(number, [])
        ring.append(self.array(e))
        if len(ring) > room:
            del ring[0]
        self.bind(name, ring[0], depth)

    def do_if(self, s, depth):
        before = set(self.env)
        self.inner(s[2] if self.decide(s[1]) else s[3], depth)
        demand(before == set(self.env), "dropped in a branch")

    def decide(self, cond):
        """["lt", name, bound]: a number that was read; ["any" or "all", mask]; ["lt0", array, bound]."""
        if cond[0] == "lt":
            x = self.env.get(cond[1])
            demand(x is not None and not hasattr(x, "root") and x.source != "bool", "number")
            demand(abs(x.value - cond[2]) > 2 * x.err, "branch not known")
            return x.value < cond[2]
        x = self.looked_at(self.array(cond[1]))
        if cond[0] == "lt0":
            demand(x.ndim == 0 and x.dtype != "bool", "0-d array")
            value, err = x.val[()].item(), 0 if x.err is None else float(x.err[()])
            demand(abs(value) < float("inf") and abs(value - cond[2]) > 2 * err, "branch not known")
            return value < cond[2]
        demand(x.dtype == "bool", "mask")
        return bool(x.val.any() if cond[0] == "any" else x.val.all())
