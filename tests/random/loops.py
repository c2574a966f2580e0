"""Loops, branches and coroutines of random programs: how the generator (generate.py) makes them.

A body is written on a copy of the machine, during its first turn; the loop gets as many turns as the machine can
follow.  Loops are nested, check something every k turns, end early, swap and rebind what they work on, keep it in
tables, work on other slices in each turn or on longer ones, and two of them run as coroutines that take turns.  Their
bodies may be traces that the program names.
"""
from machine import KINDS, Num, Reject
from turns import Break, ends_loop


def moved(block, by, grow):
    """The block with all bounded slices and indices moved by so many elements; `grow`: only where slices end."""
    if not isinstance(block, list):
        return block
    if len(block) == 4 and block[0] == "s" and isinstance(block[1], int) and isinstance(block[2], int):
        lo, hi = block[1] + (0 if grow else by), block[2] + by
        if (lo < 0) != (block[1] < 0) or (hi < 0) != (block[2] < 0):
            raise Reject("it moved out")
        return ["s", lo, hi, block[3]]
    if len(block) == 2 and block[0] == "i" and isinstance(block[1], int) and not grow:
        if (block[1] + by < 0) != (block[1] < 0):
            raise Reject("it moved out")
        return ["i", block[1] + by]
    return [moved(b, by, grow) for b in block]


class Loops:
    """Part of a Generator, which has rng, machine, ran, profile, fixed, statement, emit, pick, number, type_of,
    other_operand, rebind, read, flush."""

    def body(self, depth, count, ends=(), loop=False):
        """A block, written while it runs on a copy of the machine; the copy and the block.  `ends`: makers of what it has
        at its end; `loop`: it is a loop's first turn."""
        outer, fixed = self.machine, self.fixed
        self.machine, self.fixed = outer.clone(), set(outer.env)
        self.machine.turns += [1] if loop else []
        block = []
        try:
            names = set(self.machine.env)
            for _ in range(count):
                self.statement(block, depth + 1)
            for make in ends or ([self.rebind] if self.rng.random() < 0.8 else []):
                self.emit(block, make, depth + 1)
            self.machine.forget(names)
            self.machine.turns = list(outer.turns)
            return self.machine, block
        finally:
            self.machine, self.fixed = outer, fixed

    def ends(self):
        """Makers of the last statements of a loop: such that it can have many turns, mostly."""
        rng = self.rng
        makers = [m for m, chance in ((self.settle, 0.7), (self.rebind, 0.3), (self.swap, 0.15), (self.ring, 0.15),
                                      (self.every, 0.25), (self.stop, 0.2), (self.flush, 0.1)) if rng.random() < chance]
        rng.shuffle(makers)
        return makers or [self.rebind]

    def loop(self, depth):
        rng = self.rng
        small = self.profile.size in ("tiny", "small")
        goal = rng.choice([2, 3, 4, 6, 10, 30] + ([30, 80] if small and depth == 0 else []))
        machine, block = self.body(depth, rng.randint(1, 6 if goal < 30 else 3), self.ends(), True)
        if block and rng.random() < 0.2 and not ends_loop(block):
            block = [["named", self.number(), block]]
        if rng.random() < 0.3:
            return self.moving_loop(depth, machine, block, goal)
        turns = self.turns_of(machine, block, depth, goal)
        return ["for", turns, block] if turns > 1 and block else None

    def turns_of(self, machine, block, depth, goal):
        """How many turns the machine can follow that has run the first one."""
        for number in range(2, goal + 1):
            try:
                machine.turn(number, block, depth)
            except Reject:
                return number - 1
            except Break:
                return goal
        return goal

    def moving_loop(self, depth, machine, block, goal):
        """A loop whose turns work on other slices each; now and then all of it is repeated."""
        rng = self.rng
        by, grow = rng.choice([-2, -1, 1, 1, 2]), rng.random() < 0.3
        if block and rng.random() < 0.7:
            block = block + [["flush"]]  # each turn is a window
        turns = [["for", 1, block]]
        while block and len(turns) < min(goal, 12):
            try:
                turn = ["for", 1, moved(block, by * len(turns), grow)]
                machine.step(turn, depth + 1)
            except Reject:
                break
            turns.append(turn)
        if len(turns) < 2 or turns[1] == turns[0]:
            return None
        again = self.turns_of(machine, turns, depth, 6) if rng.random() < 0.4 else 1
        return ["for", again, turns]

    def named(self, depth):
        """A trace that the program names; in loops its turns differ where their branches do."""
        block = self.body(depth, self.rng.randint(1, 4))[1]
        return ["named", self.number(), block] if block and not ends_loop(block) else None

    def both(self, depth):
        """Two loops that take turns."""
        loops = []
        for _ in range(2):
            block = self.body(depth, self.rng.randint(1, 3), self.ends(), True)[1]
            for _ in range(self.rng.choice([1, 1, 2])):
                block.insert(self.rng.randint(0, len(block)), ["yield"])
            loops.append(block)
        for turns in (30, 12, 5, 3):
            s = ["both", turns - self.rng.randint(0, 2), loops[0], turns, loops[1]]
            try:
                machine = self.machine.clone()
                machine.step(s, depth)
                self.ran = machine
                return s
            except Reject:
                continue
        return None

    def settle(self, depth):
        """x = 0.5 * x + 0.25 * y: errors do not grow from turn to turn."""
        name = self.pick(lambda x: KINDS[x.dtype] in "fc")
        x = self.machine.env[name]
        other = self.other_operand(x.shape, 1, 0.1)
        e = ["op", "add", [["op", "multiply", [["num", 0.5], ["var", name]], 0], ["op", "multiply", [["num", 0.25], other], 0]], 0]
        if self.type_of(e).dtype != x.dtype:
            e = ["cast", x.dtype, e]
        return ["set", ["var", name], e] if self.rng.random() < 0.3 else ["let", name, e]

    def swap(self, depth):
        a = self.pick()
        x = self.machine.env[a]
        b = self.pick(lambda y: y is not x and y.shape == x.shape and y.dtype == x.dtype)
        return ["swap", a, b]

    def ring(self, depth):
        """An array comes back after some turns."""
        name = self.pick(lambda x: x.contiguous())
        e = ["copy", ["var", name]] if self.rng.random() < 0.5 else ["var", name]
        return ["ring", name, self.number(), self.rng.randint(1, 4), e]

    def every(self, depth):
        """A look, or a few statements, every k turns."""
        if not self.machine.turns:
            return None
        rng = self.rng
        block = self.body(depth, rng.randint(1, 2), [self.read] if rng.random() < 0.6 else ())[1]
        return ["every", rng.choice([2, 3, 5, 10]), block] if block else None

    def stop(self, depth):
        if not self.machine.turns:
            return None
        return ["stop", self.condition()]

    def branch(self, depth):
        rng = self.rng
        cond = self.condition()
        self.machine.decide(cond)
        yes = self.body(depth, rng.randint(1, 3))[1]
        no = self.body(depth, rng.randint(1, 2))[1] if rng.random() < 0.5 else []
        return ["if", cond, yes, no]

    def condition(self):
        rng = self.rng
        reads = [n for n, x in self.machine.env.items() if isinstance(x, Num) and x.source != "bool"]
        kind = rng.random()
        if kind < 0.5 and reads:
            name = rng.choice(reads)
            return ["lt", name, round(self.machine.env[name].value, 2) + rng.choice([-0.5, 0.5, 0.13])]
        if kind < 0.7:
            return [rng.choice(["any", "all"]), ["var", self.pick(lambda x: x.dtype == "bool")]]
        e = ["reduce", "max", ["var", self.pick(lambda x: x.dtype != "bool" and x.size)], None, False]
        return ["lt0", e, round(float(self.type_of(e).val), 2) + rng.choice([-0.5, 0.5])]
