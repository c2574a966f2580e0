"""Keys with arrays of positions and booleans, of all dtypes, through views: what is read, written, added to; lines of positions.

Vectors are longer than what is looked up at once (1,024 positions)."""
import numpy as np

DTYPES = "? i1 u2 i4 i8 f2 f4 f8 c8 c16".split()
# Of matrices of 5 x 7, 3-d ones of 3 x 4 x 5: Lua's key, NumPy's.
MATRIX = [("gp", "gp - 1"), ("{gp, {}}", "gp - 1, :"), ("{{}, gq}", ":, gq - 1"), ("{{}, gn}", ":, gn"), ("{gp, gp}", "gp - 1, gp - 1"),
          ("{gp, 2}", "gp - 1, 1"), ("{-1, gq}", "-1, gq - 1"), ("{g2, {}}", "g2 - 1"), ("{{}, g2}", ":, g2 - 1"),
          ("{g2, {2, 6, step = 2}}", "g2 - 1, 1:6:2"), ("{gc, gq}", "gc - 1, gq - 1"), ("np.ix_(gp, gq)", "np.ix_(gp - 1, gq - 1)"),
          ("{g0, {}}", "g0"), ("{{}, g0}", ":, g0"), ("{'...', gq}", "..., gq - 1"), ("{gp, '...'}", "gp - 1, ..."),
          ("{gr, {}}", "gr, :"), ("{{}, gm}", ":, gm"), ("{gr, 3}", "gr, 2"), ("{2, gm}", "1, gm"), ("{gr, gc}", "gr, gc[:, 0] - 1")]
CUBE = [("{gp3, {}, {}}", "gp3 - 1"), ("{{}, gp3, {}}", ":, gp3 - 1"), ("{{}, {}, gp3}", "..., gp3 - 1"), ("{{}, gp3, gp3}", ":, gp3 - 1, gp3 - 1"),
        ("{gp3, {}, gp3}", "gp3 - 1, :, gp3 - 1"), ("{gp3, gp3, gp3}", "gp3 - 1, gp3 - 1, gp3 - 1"), ("{{}, g2, {}}", ":, g2 - 1"),
        ("{{}, gr4, {}}", ":, gr4"), ("{{}, 2, gp3}", ":, 1, gp3 - 1"), ("{gp3, '...'}", "gp3 - 1, ...")]
MATRICES = [("{0}", "{0}"), ("{0}t.T", "{0}t.T"), ("{0}b['2:6, 3:9']", "{0}b[1:6, 2:9]"), ("{0}['::-1, ::-1']", "{0}[::-1, ::-1]"),
            ("{0}b['6:2:-1, ::2']", "{0}b[5:0:-1, ::2]")]


def add(case, change, inputs):
    rng = np.random.default_rng(11)

    def of(dtype, *shape):
        x = rng.integers(0, 2 if dtype == "?" else 100, shape)
        return (x + 1j * rng.integers(0, 9, shape) if dtype[0] == "c" else x).astype(dtype)

    inputs.update(gp=np.array([4, 1, 5, 1, 2]), gq=np.array([7, 2, 2, 1, 6]), gn=np.array([-1, -7, -3, -2]), g2=np.array([[1, 3, 3], [2, 1, 4]]),
                  gc=np.array([[2], [5], [1]]), g0=np.zeros(0, "i8"), gr=np.array([True, False, True, True, False]), gp3=np.array([3, 1, 3, 2]),
                  gm=np.array([False, True, True, False, False, True, False]), gr4=np.array([True, False, False, True]),
                  gd6=np.arange(64).reshape([2] * 6), gq6=np.array([2, 1]))
    for dtype in DTYPES:
        name = "g" + dtype.replace("?", "o")
        inputs[name], inputs[name + "t"], inputs[name + "b"] = of(dtype, 5, 7), of(dtype, 7, 5), of(dtype, 8, 14)
        inputs[name + "c"], inputs[name + "v"] = of(dtype, 3, 4, 5), of(dtype, 3000)
    def in_order(key, value, places="n"):
        """a[key] = value, the last of several values for one place being the one that stays."""
        return (f"n = np.arange(a.size).reshape(a.shape){key}; v = {value}; n = {places}\n"
                "for k, x in zip(n.ravel(), v.ravel()): a.flat[k] = x")

    pairs = [(lua.replace("gr, gc", "gr, gp3['1:3']"), py.replace("gr, gc[:, 0] - 1", "gr, gp3[:3] - 1")) for lua, py in MATRIX]

    def keys(number, root, list_of_keys, every):
        """Reading and writing by all keys; a third of them for each view, others for other dtypes."""
        lua_root, py_root = root
        for k, (lua, py) in enumerate(list_of_keys):
            if (k + number) % every:
                continue
            case(f"({lua_root})[{lua}]", f"({py_root})[{py}]")
            make, twin = f"local a = np.copy({lua_root}) ", f"a = ({py_root}).copy(); "
            change(make + f"a[{lua}] = 1", twin + f"a[{py}] = 1")
            change(make + f"local v = a[{lua}]:copy() a[{lua}] = np.flip(v)", twin + in_order(f"[{py}]", f"np.flip(a[{py}])"))
            # through a view of what is changed
            change(f"local a = np.copy({lua_root}) local w = np.transpose(a) w = np.transpose(w) w[{lua}] = np.flip(w[{lua}]:copy())",
                   twin + in_order(f"[{py}]", f"np.flip(a[{py}])"))
            if "go" not in lua_root:
                change(make + f"a:at({lua}):iadd(1)", twin + f"a[{py}] += np.ones((), a.dtype)")
                change(make + f"np.add.at(a, {lua}, 1)", twin + f"np.add.at(a, np.index_exp[{py}], np.ones((), a.dtype))")

    number = 0
    for dtype in DTYPES:
        name = "g" + dtype.replace("?", "o")
        for lua, py in MATRICES:
            keys(number, (lua.format(name), py.format(name)), pairs, 3)
            number += 1
        keys(number, (name + "c", name + "c"), CUBE, 2)
        keys(number, (f"np.transpose({name}c, {{3, 2, 1}})", f"np.transpose({name}c, (2, 1, 0))"), [x for x in CUBE if "gr4" in x[0] or "gp3" in x[0]], 2)
        # long ones
        inputs["glong"], inputs["gwide"] = rng.integers(-3000, 3000, 2500), rng.permutation(3000)[:1500]
        inputs["gblocks"] = rng.integers(0, 1000, 1400)
        at = "glong + np.astype(np.greater_equal(glong, 0), 'int64')"
        case(f"{name}v[{at}]", f"{name}v[glong]")
        case(f"np.reshape({name}v, 1000, 3)[gblocks + 1]", f"{name}v.reshape(1000, 3)[gblocks]")
        case(f"np.reshape({name}v, 3, 1000)[{{{{}}, gblocks + 1}}]", f"{name}v.reshape(3, 1000)[:, gblocks]")
        case(f"{name}v['::-1'][gwide + 1]", f"{name}v[::-1][gwide]")
        change(f"local a = {name}v:copy() a[{at}] = {name}v['1:2500']", f"a = {name}v.copy()\nfor k, x in zip(glong, {name}v): a[k] = x")
        change(f"local a = {name}v:copy() a['::-1'][gwide + 1] = {name}v['1501:']", f"a = {name}v.copy(); a[::-1][gwide] = {name}v[1500:]")
        change(f"local a = np.reshape({name}v:copy(), 3, 1000) a[{{{{}}, gblocks + 1}}] = {name}v['1:1400']",
               f"a = {name}v.reshape(3, 1000).copy()\nfor k, x in zip(gblocks, {name}v): a[:, k] = x")
        change(f"local a = np.reshape({name}v:copy(), 1000, 3) a[gblocks + 1] = np.reshape({name}v['1:1400'], 1400, 1)",
               f"a = {name}v.reshape(1000, 3).copy()\nfor k, x in zip(gblocks, {name}v): a[k] = x")
        if dtype != "?" and dtype != "f2":
            change(f"local a = {name}v:copy() np.add.at(a, {at}, {name}v['1:2500'])", f"a = {name}v.copy(); np.add.at(a, glong, {name}v[:2500])")
        # lines of positions
        for axis in range(2):
            for lua, py in MATRICES:
                inputs[f"gl{axis}"] = rng.integers(0, 4 + axis, (5, 7))
                m, p = lua.format(name), py.format(name)
                if "::2" in m or "6:2" in m:
                    continue
                case(f"np.take_along_axis({m}, gl{axis} + 1, {axis + 1})", f"np.take_along_axis({p}, gl{axis}, {axis})")
                case(f"np.take({m}, gp3, {axis + 1})", f"np.take({p}, gp3 - 1, {axis})")
                change(f"local a = np.copy({m}) np.put_along_axis(a, gl{axis} + 1, {name}b['1:5, 1:7'], {axis + 1})",
                       f"a = {p}.copy(); " + in_order("", f"{name}b[:5, :7]", f"np.take_along_axis(n, gl{axis}, {axis})"))
                change(f"local a = np.copy({m}) np.put(a, g2, {name}v['1:6'])", f"a = {p}.copy()\nfor k, x in zip(g2.ravel() - 1, {name}v): a.flat[k] = x")
    for key in ("{{}, np.array({1, 8}, 'int64')}", "{np.array({0, 1}, 'int64'), {}}", "{np.array({1, 2}, 'int64'), np.array({1, -8}, 'int64')}",
                "{{}, np.array({1, 2, 3}, 'int64'), {}}", "{gp, gq, gp}", "{gp3, gp}", "{{}, gr}"):
        case(f"gf8[{key}]", "error")
        change(f"local a = gf8:copy() a[{key}] = 1", "error")
        change(f"local a = gf8:copy() a[{key}] = gf8", "error")
    change("local a = gf8:copy() a[{{}, gq}] = gp", "a = gf8.copy(); a[:, gq - 1] = gp")
    for value in ("gf8t", "0.5", "1i", "gc8"):
        change(f"local a = gi4:copy() a[{{{{}}, gq}}] = {value}", "error")
    # all the dimensions that there are
    for lua, py in (("[gq6]", "[gq6 - 1]"), ("[{gq6, gq6, '...'}]", "[gq6 - 1, gq6 - 1]"), ("[{{}, {}, {}, gq6, '...'}]", "[:, :, :, gq6 - 1]")):
        case("gd6" + lua, "gd6" + py)
    case("np.take(gd6, gq6, 1)", "np.take(gd6, gq6 - 1, 0)")
    # a number is rounded once, to what it is written into
    inputs["ghalf"] = np.zeros(3, "f2")
    change("local a = ghalf:copy() a[gq6] = 1 + 2^-11 + 2^-40", "a = ghalf.copy(); a[gq6 - 1] = 1 + 2**-11 + 2**-40")
