"""Cases of einsum.lua and contraction.lua: random subscripts of 1 to 8 arrays, the paths they take, what may be asked of paths."""
import re

import numpy as np

COUNT = 360
DTYPES = ("float64", "float64", "complex128", "int64", "float32", "int8", "bool", "complex64")


class Network:
    """Random subscripts, and arrays that fit them."""

    def __init__(self, rng, count):
        letters = "abcdefghij"[:rng.integers(2, 4 + count)]
        extent = {x: int(rng.choice((1, 2, 3, 4, 5))) for x in letters}
        if rng.random() < 0.1:
            extent[letters[0]] = 0
        dots = [int(n) for n in rng.integers(1, 4, rng.integers(0, 3))] if rng.random() < 0.3 else None
        self.shapes, terms, used = [], [], set()
        for _ in range(count):
            term = "".join(rng.choice(list(letters), rng.integers(0, 4)))  # letters may be repeated
            shape = [extent[x] for x in term]
            for k, x in enumerate(term):
                if term.count(x) == 1 and rng.random() < 0.08:
                    shape[k] = 1  # which others may stretch
            if dots is not None and rng.random() < 0.7:
                own = dots[rng.integers(0, len(dots) + 1):]
                at = int(rng.integers(0, len(term) + 1))
                term, shape = term[:at] + "..." + term[at:], shape[:at] + [n if rng.random() < 0.8 else 1 for n in own] + shape[at:]
            terms.append(term)
            used |= set(term) - {"."}
            self.shapes.append(tuple(shape))
        self.text, self.labels = ",".join(terms), len(used) + (len(dots) if dots else 0)
        if rng.random() < 0.8 or self.labels > 4:
            kept = [x for x in sorted(used) if rng.random() < 0.45][:3]  # lgt's arrays have at most 6 dimensions
            rng.shuffle(kept)
            right = "".join(kept)
            if any("." in t for t in terms):
                at = int(rng.integers(0, len(right) + 1))
                right = right[:at] + "..." + right[at:]
            self.text += "->" + right

    def arrays(self, rng):
        return [np.asarray(rng.integers(-3, 4, shape)) for shape in self.shapes]


def random_sums(case, inputs):
    rng = np.random.default_rng(61)
    for k in range(COUNT):
        count = 1 + k % 8
        network, dtype = Network(rng, count), DTYPES[int(rng.integers(len(DTYPES)))]
        names = []
        for i, array in enumerate(network.arrays(rng)):
            mixed = () not in network.shapes and rng.random() < 0.1  # NumPy looks at the values of numbers
            kind = DTYPES[int(rng.integers(len(DTYPES)))] if mixed else dtype
            if kind.startswith("complex"):
                array = array + 1j * rng.integers(-3, 4, array.shape)
            names.append(f"e{k}_{i}")
            inputs[names[-1]] = array.astype(kind)
        call = f"np.einsum('{network.text}', {', '.join(names)}"
        options = ["", "", ", {optimize = 'greedy'}"]
        if network.labels <= 6:
            options += [", {optimize = false}", ", {optimize = {'optimal', 1}}"]
        option = options[int(rng.integers(len(options)))]
        case(f"{call}{option})", f"{call})")


def flops(text):
    return float(re.search(r"Optimized FLOP count: *(\S+)", text).group(1))


def best_paths(case, inputs):
    """A path costs no more than the best that NumPy finds, which looks at all of them."""
    rng = np.random.default_rng(62)
    for k in range(60):
        letters, count = "abcdefgh", int(rng.integers(3, 7))
        extent = {x: int(rng.integers(2, 40)) for x in letters}
        terms = ["".join(rng.choice(list(letters), rng.integers(1, 4), replace=False)) for _ in range(count)]
        every = "".join(terms)
        right = "".join(x for x in letters if every.count(x) == 1 or every.count(x) > 1 and rng.random() < 0.2)
        text, zeros = ",".join(terms) + "->" + right, [np.zeros([extent[x] for x in t]) for t in terms]
        limit = int(rng.choice((-1, 10 ** 9)))
        theirs = flops(np.einsum_path(text, *zeros, optimize=("optimal", 10 ** 9))[1])
        shapes = ", ".join(f"np.zeros({', '.join(str(n) for n in z.shape)})" for z in zeros)
        case(f"(function() local _, t = np.einsum_path('{text}', {shapes}, {{optimize = {{'optimal', {limit}}}}})"
             f" return np.asarray(tonumber(t:match('Optimized FLOP count: *(%S+)')) <= {theirs}) end)()", "np.array(True)")
    # what is multiplied first; the chain of two matrices and a vector, a star, products that would be large
    for text, shapes, path in (
            ("ij,jk,k->i", ((20, 20), (20, 20), (20,)), ((2, 3), (1, 2))),
            ("i,ij,jk->k", ((20,), (20, 20), (20, 20)), ((1, 2), (1, 2))),
            ("ij,jk,kl->il", ((2, 9), (9, 9), (9, 3)), ((1, 2), (1, 2))),
            ("ij,jk,kl->il", ((9, 9), (9, 9), (9, 2)), ((2, 3), (1, 2))),
            ("a,b,ab->", ((9,), (9,), (9, 9)), None)):
        args = ", ".join(f"np.ones({{{', '.join(str(n) for n in s)}}})" for s in shapes)
        lua = f"np.einsum_path('{text}', {args})"
        if path:
            case(f"np.array(({lua}), {{dtype = 'int64'}})", f"np.array({path})")
        case(f"(function() local _, t = {lua} return np.asarray(tonumber(t:match('Largest intermediate: *(%S+)')) <= "
             f"{max(np.prod(s) for s in shapes)}) end)()", "np.array(True)")


def what_is_asked(case, inputs):
    inputs["big"] = np.arange(36.0).reshape(6, 6)
    for lua in ("true", "'optimal'", "'greedy'", "{'greedy', 3}", "{'optimal', -1}", "{{1, 2, 3}}", "{'einsum_path', {1, 3}, {1, 2}}",
                "{{2}, {1, 2}, {2, 1}}", "(np.einsum_path('ij,jk,kl->il', big, big, big))"):
        case(f"np.einsum('ij,jk,kl->il', big, big, big, {{optimize = {lua}}})", "np.einsum('ij,jk,kl->il', big, big, big)")
    many = ",".join("abcdefghijklm"[k:k + 2] for k in range(11))
    case(f"np.einsum('{many}', {', '.join(['big'] * 11)})", f"np.einsum('{many}', {', '.join(['big'] * 11)}, optimize=True)")
    case("(select(2, np.einsum_path('ij,jk->ik', big, big)):match('Complete contraction: *(%S+)') == 'ij,jk->ik' and big)", "big")
    for bad in ("'best'", "{{1, 2}}", "{{0, 1}, {1, 2}}", "{{1, 4}, {1, 2}}", "{{1, 1}, {1, 2}}", "{{}, {1, 2}}", "{'optimal', 'x'}",
                "{'einsum_path', 1}", "3", "{{1, 2}, {1, 2}, {1, 2}}", "{{1, 2.5}, {1, 2}}"):
        case(f"np.einsum('ij,jk,kl->il', big, big, big, {{optimize = {bad}}})", "error")


def add(case, change, inputs):
    random_sums(case, inputs)
    best_paths(case, inputs)
    what_is_asked(case, inputs)
