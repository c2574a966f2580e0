"""What is written lies in what is read: assignments, in-place operators and out= onto views of one array that overlap.

As in NumPy, everything is read before anything is written: the twin writes what copies of its inputs give."""
import itertools

import numpy as np

# Views of a vector of 3,072 with 1,536 elements, and of a matrix of 60 x 60 with 40 x 40; the last ones have to be stretched.
# Fewer elements are read before any is written, whoever forgets to copy them.
VECTORS = [("'1:1536'", "0:1536"), ("'2:1537'", "1:1537"), ("'769:2304'", "768:2304"), ("'::2'", "::2"), ("'2::2'", "1::2"),
           ("'1536:1:-1'", "1535::-1"), ("'2304:769:-1'", "2303:767:-1"), ("'::-2'", "::-2")]
MATRICES = [("['1:40, 1:40']", "[0:40, 0:40]"), ("['2:41, 1:40']", "[1:41, 0:40]"), ("['1:40, 21:60']", "[0:40, 20:60]"),
            ("['2:41, 2:41'].T", "[1:41, 1:41].T"), ("['40:1:-1, 1:40']", "[39::-1, 0:40]"), ("['21:60, 41:2:-1'].T", "[20:60, 40:0:-1].T")]
STRETCHED = [("['2:2, 1:40']", "[1:2, 0:40]"), ("['1:40, 3:3']", "[0:40, 2:3]"), ("[{3, {2, 41}}]", "[2, 1:41]"), ("[{2, 2}]", "[1, 1]")]

# Of the view w that is written, and of s and u, which are read.
OPERATIONS = [("w['...'] = s", "s"), ("w['...'] = s * 2 - u", "s * 2 - u"), ("w:iadd(s)", "w + s"), ("w:imul(s - u)", "w * (s - u)"),
              ("np.add(s, u, {out = w})", "s + u"), ("np.maximum(w, s, {out = w})", "np.maximum(w, s)"),
              ("np.copyto(w, s)", "s"), ("w['...'] = s w:iadd(a{other})", "s; w += a{other}.copy()")]
# Of views that are no scalars, and not stretched.
WHOLE = [("np.round(s, 1, {out = w})", "np.round(s, 1)"), ("w['...'] = np.cumsum(s, -1)", "np.cumsum(s, -1)"),
         ("w['...'] = np.sort(s, -1)", "np.sort(s, -1)"),
         ("w['...'] = np.flip(s)", "np.flip(s)"), ("w['...'] = np.where(s:gt(0), s, u)", "np.where(s > 0, s, u)"),
         ("np.exp(s, {out = w, where = s:gt(0)})", "np.where(s > 0, np.exp(s), w)"),
         ("np.negative(w, {out = w['::-1']})", "-w[::-1]")]


def add(case, change, inputs):
    rng = np.random.default_rng(7)
    inputs["ov"], inputs["om"] = rng.uniform(-2, 2, 3072), rng.uniform(-2, 2, (60, 60))
    inputs["oi"], inputs["orows"] = rng.integers(0, 3072, 1536), rng.integers(0, 40, 40)

    def both(root, target, source, other, lua, numpy):
        """One operation, on a copy of the root."""
        begin = f"local a = {root}:copy() local w, s, u = a{target[0]}, a{source[0]}, a{other[0]} "
        twin = f"a = {root}.copy(); w = a{target[1]}; s, u = a{source[1]}.copy(), a{other[1]}.copy(); "
        change(begin + lua.replace("{other}", other[0]), f"{twin} w[...] = " + numpy.replace("{other}", other[1]))

    vectors = [(f"[{lua}]", f"[{numpy}]") for lua, numpy in VECTORS]
    for k, (target, source) in enumerate(itertools.product(vectors, vectors)):
        for n, (lua, numpy) in enumerate(OPERATIONS + WHOLE):
            both("ov", target, source, vectors[(3 * k + n) % len(vectors)], lua, numpy)
    for k, (target, source) in enumerate(itertools.product(MATRICES, MATRICES + STRETCHED)):
        for n, (lua, numpy) in enumerate(OPERATIONS + (WHOLE if source in MATRICES else [])):
            both("om", target, source, MATRICES[(5 * k + n) % len(MATRICES)], lua, numpy)
    for (target, source) in itertools.product(MATRICES, MATRICES):
        begin, twin = f"local a = om:copy() local w, s = a{target[0]}, a{source[0]} ", f"a = om.copy(); w, s = a{target[1]}, a{source[1]}.copy(); "
        change(begin + "np.dot(s, s.T, {out = w})", twin + "w[...] = np.dot(s, s.T)")
        change(begin + "np.sum(s, 1, {out = w[2]})", twin + "w[1] = np.sum(s, 0)")
        change(begin + "np.take(s, orows + 1, 1, {out = w})", twin + "w[...] = s[orows]")
        change(begin + "w[np.array({3, 1, 2}, 'int64')] = s['2:4']", twin + "w[[2, 0, 1]] = s[1:4]")
        change(begin + "w[s:gt(0)] = s[s:gt(0)] * 3", twin + "w[s > 0] = s[s > 0] * 3")
        change(begin + "s:sort() w['...'] = s:copy()", twin + f"s = a{source[1]}; s.sort(-1); w[...] = s.copy()")
    for n in (2, 3, 5):
        change(f"local a = ov:copy() a['{n}:'] = a[':-{n}']", f"a = ov.copy(); a[{n - 1}:] = a[:{1 - n}].copy()")
        change(f"local a = ov:copy() a[':-{n}'] = a['{n}:']", f"a = ov.copy(); a[:{1 - n}] = a[{n - 1}:].copy()")
        change(f"local a = ov:copy() for i = 1, 7 do a['{n}:']:iadd(a[':-{n}']) end",
               f"a = ov.copy()\nfor i in range(7): a[{n - 1}:] += a[:{1 - n}].copy()")
    change("local a = ov:copy() a['...'] = a['::-1']", "a = ov[::-1].copy()")
    change("local a = om:copy() a['...'] = a.T", "a = om.T.copy()")
    change("local a = om:copy() a:iadd(a.T)", "a = om + om.T")
    change("local a = om:copy() a.T:iadd(a['::-1, :'])", "a = om + om[::-1].T")
    change("local a = ov:copy() a[oi + 1] = a['769:2304']", "a = ov.copy(); a[oi] = a[768:2304].copy()")
    change("local a = ov:copy() np.add.at(a, oi + 1, a['769:2304'])", "a = ov.copy(); np.add.at(a, oi, a[768:2304].copy())")
    for out in ("np.broadcast_to(ov[1], 3072)", "np.broadcast_to(ov, 3, 3072)"):
        case(f"np.add(ov, 1, {{out = {out}}})", "error")
