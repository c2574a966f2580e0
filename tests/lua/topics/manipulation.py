"""Cases of shape.lua, join.lua, create.lua and grid.lua: creation, and other shapes."""
import numpy as np


def add(case, change, inputs):
    inputs["o"] = np.array([0, 0, 1, 0, 2.5, 0])
    inputs["f0"] = np.zeros((3, 0))
    views = {"f": "f", "i": "i", "t": "t", "h": "h", "z": "z", "b": "b", "f4": "f4", "e": "e", "f.T": "f.T",
             "t['::2, ::-1, 2:4']": "t[::2, ::-1, 1:4]"}
    # ---- taking apart
    for lua, py in views.items():
        ndim = eval(py, {"np": np, **inputs}).ndim
        for axis in list(range(ndim)) + [-1]:
            ax = axis + 1 if axis >= 0 else axis
            for parts in (1, 2, 3, 7):
                for k in (0, parts - 1):
                    case(f"np.array_split({lua}, {parts}, {ax})[{k + 1}]", f"np.array_split({py}, {parts}, axis={axis})[{k}]")
            case(f"np.concatenate(np.split({lua}, {{2, 4}}, {ax}), {ax})", f"{py}")
            case(f"np.split({lua}, {{2, 4}}, {ax})[2]", f"np.split({py}, [1, 3], axis={axis})[1]")
            case(f"np.flip({lua}, {ax})", f"np.flip({py}, {axis})")
            case(f"np.flip({lua})", f"np.flip({py})")
            case(f"np.roll({lua}, 2, {ax})", f"np.roll({py}, 2, axis={axis})")
            case(f"np.rep({lua}, 2, {ax})", f"np.repeat({py}, 2, axis={axis})")
            case(f"np.expand_dims({lua}, {ax})", f"np.expand_dims({py}, {axis})")
            case(f"np.append({lua}, {lua}, {ax})", f"np.append({py}, {py}, axis={axis})")
            case(f"np.stack({{{lua}, {lua}}}, {ax})", f"np.stack([{py}, {py}], axis={axis})")
            case(f"np.moveaxis({lua}, {ax}, 1)", f"np.moveaxis({py}, {axis}, 0)")
            if eval(py, {"np": np, **inputs}).shape[axis] >= 3:
                case(f"np.delete({lua}, 2, {ax})", f"np.delete({py}, 1, axis={axis})")
                case(f"np.delete({lua}, {{1, -1, 1}}, {ax})", f"np.delete({py}, [0, -1, 0], axis={axis})")
                case(f"np.insert({lua}, 2, 7, {ax})", f"np.insert({py}, 1, 7, axis={axis})")
                case(f"np.insert({lua}, {{1, 3}}, 1, {ax})", f"np.insert({py}, [0, 2], 1, axis={axis})")
        case(f"np.delete({lua}, {{}})", f"np.delete({py}, [])")
        case(f"np.append({lua}, {lua})", f"np.append({py}, {py})")
        case(f"np.roll({lua}, -3)", f"np.roll({py}, -3)")
        case(f"np.tile({lua}, 2)", f"np.tile({py}, 2)")
        for counts in ("1", "0", "3, 2", "0, 3", "2, 1, 3"):
            case(f"np.tile({lua}, {counts})", f"np.tile({py}, ({counts},))")
        case(f"np.resize({lua}, 3, 9)", f"np.resize({py}, (3, 9))")
        case(f"np.resize({lua}, 2)", f"np.resize({py}, 2)")
        for name in ("atleast_1d", "atleast_2d", "atleast_3d"):
            case(f"np.{name}({lua})", f"np.{name}({py})")
        case(f"np.dstack{{{lua}, {lua}}}", f"np.dstack([{py}, {py}])")
        case(f"np.vstack{{{lua}, {lua}}}", f"np.vstack([{py}, {py}])")
        case(f"np.hstack{{{lua}, {lua}}}", f"np.hstack([{py}, {py}])")
        if ndim >= 2:
            for k in (-1, 0, 1, 2, 3, 5):
                case(f"np.rot90({lua}, {k})", f"np.rot90({py}, {k})")
            case(f"np.rot90({lua}, 1, {{2, 1}})", f"np.rot90({py}, 1, (1, 0))")
            for k in (-2, 0, 1, 9):
                case(f"np.diagonal({lua}, {k})", f"np.diagonal({py}, {k})")
                case(f"np.trace({lua}, {k})", f"np.trace({py}, {k})")
            case(f"np.trace({lua}, 0, -1, 1)", f"np.trace({py}, 0, -1, 0)")
            case(f"np.diagonal({lua}, 1, -1, 1)", f"np.diagonal({py}, 1, -1, 0)")
            case(f"np.vsplit({lua}, {{2}})[1]", f"np.vsplit({py}, [1])[0]")
            case(f"np.hsplit({lua}, {{2}})[2]", f"np.hsplit({py}, [1])[1]")
            case(f"np.roll({lua}, {{1, 2}}, {{1, 2}})", f"np.roll({py}, (1, 2), (0, 1))")
            case(f"np.rollaxis({lua}, 2)", f"np.rollaxis({py}, 1)")
            case(f"np.rollaxis({lua}, 1, 3)", f"np.rollaxis({py}, 0, 2)")
            case(f"np.expand_dims({lua}, {{1, -1}})", f"np.expand_dims({py}, (0, -1))")
    case("np.dsplit(t, {2})[2]", "np.dsplit(t, [1])[1]")
    case("np.moveaxis(t, {1, 2}, {-1, 1})", "np.moveaxis(t, [0, 1], [-1, 0])")
    case("np.rep(h, np.array({1, 0, 3, 2, 1}, {dtype = 'int64'}))", "np.repeat(h, [1, 0, 3, 2, 1])")
    case("np.rep(f, {2, 0, 1, 1}, 1)", "np.repeat(f, [2, 0, 1, 1], axis=0)")
    case("np.concatenate{p, {1e20}}", "np.concatenate([p, [1e20]])")
    case("np.concatenate{p, {-2^63}}", "np.concatenate([p, [-2**63]])")
    case("np.append(p, 2^63)", "np.append(p, 2.0**63)")
    case("np.append(p, 2^70)", "np.append(p, 2.0**70)")
    case("np.insert(h, 6, v)", "np.insert(h, 5, v)")
    case("np.insert(h, 2, {1, 2, 3})", "np.insert(h, 1, [1, 2, 3])")
    case("np.insert(h, {2, 2, 5}, {1, 2, 3})", "np.insert(h, [1, 1, 4], [1, 2, 3])")
    case("np.insert(f, 2, h, 1)", "np.insert(f, 1, h, axis=0)")
    case("np.insert(f, {1, 3}, h, 1)", "np.insert(f, [0, 2], h, axis=0)")
    case("np.insert(f, 2, {1, 2, 3, 4}, 2)", "np.insert(f, 1, [1, 2, 3, 4], axis=1)")
    case("np.insert(i, 3, 9)", "np.insert(i, 2, 9)")
    case("np.insert(h, p, 0)", "np.insert(h, p - 1, 0)")
    case("np.insert(h, {}, {})", "np.insert(h, [], [])")
    # few positions, and many
    inputs["long"], inputs["spots"] = np.arange(2000.0), np.random.default_rng(11).integers(1, 2001, 900)
    for n in (3, 90, 199, 201, 900):
        case(f"np.insert(long, spots['1:{n}'], -spots['1:{n}'])", f"np.insert(long, spots[:{n}] - 1, -spots[:{n}])")
        case(f"np.delete(long, spots['1:{n}'])", f"np.delete(long, spots[:{n}] - 1)")
        case(f"np.insert(np.reshape(long, 2, 1000), spots['1:{n}'] % 1000 + 1, {{{{7}}, {{9}}}}, 2)",
             f"np.insert(long.reshape(2, 1000), spots[:{n}] % 1000, [[7], [9]], axis=1)")
    case("np.insert(long, {2001, 1, 2001, -1}, {1, 2, 3, 4})", "np.insert(long, [2000, 0, 2000, -1], [1, 2, 3, 4])")
    case("np.delete(h, p)", "np.delete(h, p - 1)")
    case("np.delete(h, np.greater(h, 0.5))", "np.delete(h, h > 0.5)")
    case("np.delete(f, {true, false, true, false}, 1)", "np.delete(f, [True, False, True, False], axis=0)")
    case("np.delete(long, np.less(long % 3, 1), 1)", "np.delete(long, long % 3 < 1)")
    case("np.trim_zeros(o)")
    case("np.trim_zeros(o, 'f')", "np.trim_zeros(o, 'f')")
    case("np.trim_zeros(o, 'b')", "np.trim_zeros(o, 'b')")
    case("np.trim_zeros(o * 0)")
    case("np.block{{f, m.T}, {n[':4, :'], f}}", "np.block([[f, m.T], [n[:4], f]])")
    case("np.block{h, 1, v}", "np.block([h, 1, v])")
    case("np.block{{h, h:astype('float32')}, {h * 2, h}}", "np.block([[h, h.astype('f4')], [h * 2, h]])")
    case("np.block{{{t, t}, {t, t}}, {{t, t}, {t, t}}}", "np.block([[[t, t], [t, t]], [[t, t], [t, t]]])")
    case("np.block{{f, f}, {f, 1}}", "error")
    case("np.diag(i[1])", "np.diag(i[0])")
    case("np.diag(z[1], -2)", "np.diag(z[0], -2)")
    case("np.diag(h['::-2'], 1)", "np.diag(h[::-2], 1)")
    case("select(2, np.broadcast_arrays(f, h))", "np.broadcast_arrays(f, h)[1]")
    change("local a = n:copy() np.fill_diagonal(a, 0)", "a = n.copy(); np.fill_diagonal(a, 0)")
    change("local a = f:copy() np.fill_diagonal(a, h)", "a = f.copy(); np.fill_diagonal(a, h)")
    change("local a = i:copy() np.fill_diagonal(a.T, 7)", "a = i.copy(); np.fill_diagonal(a.T, 7)")
    change("local a = i:copy() np.fill_diagonal(a['::2, ::-2'], h)", "a = i.copy(); np.fill_diagonal(a[::2, ::-2], h)")
    change("local a = m:copy() np.fill_diagonal(a, {1, 2})", "a = m.copy(); a[range(4), range(4)] = [1, 2, 1, 2]")
    change("local a = m:copy() np.fill_diagonal(a, np.ones(1, 1) * 3)", "a = m.copy(); np.fill_diagonal(a, [[3]])")
    change("local a = f:copy() np.fill_diagonal(f[p], 1)", "error")
    change("local a = f:copy() np.fill_diagonal(a, {})", "error")
    for bad in ("np.split(h, 2)", "np.split(h, 0)", "np.array_split(h, -1)", "np.split(f, {0}, 1)", "np.delete(h, 9)",
                "np.delete(h, 0)", "np.delete(h, {true})", "np.delete(f, np.equal(f, f), 1)", "np.insert(h, 9, 1)", "np.insert(h, 0, 1)", "np.insert(h, 1.5, 1)", "np.rot90(h)",
                "np.rot90(f, 1, {1, 1})", "np.vsplit(h, 1)", "np.diagonal(h)", "np.moveaxis(t, {1, 1}, {1, 2})",
                "np.moveaxis(t, 0, 1)", "np.rep(h, -1)", "np.rep(h, {1, 2})", "np.roll(h, 0.5)", "np.block({})",
                "np.append(f, h, 1)", "np.expand_dims(f, 4)", "np.delete(f, 2, {axes = 1})"):
        case(bad, "error")
    # ---- windows
    for lua, py in (("f", "f"), ("f.T", "f.T"), ("t['::2, ::-1, 2:4']", "t[::2, ::-1, 1:4]"), ("i", "i"), ("np.broadcast_to(h, 4, 5)",
                    "np.broadcast_to(h, (4, 5))"), ("np.diagonal(t)", "np.diagonal(t)"), ("t:reshape(-1, 2)", "t.reshape(-1, 2)")):
        windows = "np.lib.stride_tricks.sliding_window_view"
        for axis in range(eval(py, {"np": np, **inputs}).ndim):
            for width in (1, 2):
                case(f"np.sliding_window_view({lua}, {width}, {axis + 1})", f"{windows}({py}, {width}, {axis})")
                case(f"np.sliding_window_view({lua}, {width}, {{axis = {axis + 1}}}):sum(-1)", f"{windows}({py}, {width}, {axis}).sum(-1)")
            case(f"{windows}({lua}, {{2, 1}}, {{{axis + 1}, {axis + 1}}}) * 2", f"{windows}({py}, (2, 1), ({axis}, {axis})) * 2")
    case("np.sliding_window_view(h, 3)", "np.lib.stride_tricks.sliding_window_view(h, 3)")
    case("np.sliding_window_view(h, 3)['::2, ::-1'].T + 1",
         "np.lib.stride_tricks.sliding_window_view(h, 3)[::2, ::-1].T + 1")
    case("np.sliding_window_view(f, {2, 3})", "np.lib.stride_tricks.sliding_window_view(f, (2, 3))")
    case("np.sliding_window_view(f + 1, {2, 2}):max({3, 4}) - f['2:, 2:']",
         "np.lib.stride_tricks.sliding_window_view(f + 1, (2, 2)).max((2, 3)) - f[1:, 1:]")
    case("np.sliding_window_view(h, 2)[np.array({4, 1}, {dtype = 'int64'})]", "np.lib.stride_tricks.sliding_window_view(h, 2)[[3, 0]]")
    case("np.sliding_window_view(h, 2):reshape(-1)", "np.lib.stride_tricks.sliding_window_view(h, 2).reshape(-1)")
    change("local a = h:copy() local w = np.sliding_window_view(a, 2) a[2] = 9 a = w:copy()",
           "a = h.copy(); a[1] = 9; a = np.lib.stride_tricks.sliding_window_view(a, 2)")
    change("local a = h:copy() np.sliding_window_view(a, 2)['...'] = 1", "error")
    change("local a = h:copy() np.sliding_window_view(a, 2):iadd(1)", "error")
    change("local a = h:copy() a:host('r', print) np.sliding_window_view(a, 2):host('w', print)", "error")
    for bad in ("h, 0", "h, 99", "h, 1.5", "h, {1, 1}", "f, 2", "f, 2, 3", "f, 2, 0", "f, {1, 1}, 1", "t, {1, 1, 1, 1}, {1, 1, 1, 1}", "h", "h, 2, {}"):
        case(f"np.sliding_window_view({bad})", "error")
    # ---- padding
    for lua, py in (("f", "f"), ("i", "i"), ("h", "h"), ("t", "t"), ("f4", "f4"), ("f.T", "f.T")):
        for mode in "constant edge reflect symmetric linear_ramp maximum mean minimum wrap".split():
            case(f"np.pad({lua}, 2, '{mode}')", f"np.pad({py}, 2, '{mode}')")
            case(f"np.pad({lua}, {{1, 3}}, '{mode}')", f"np.pad({py}, (1, 3), '{mode}')")
    for mode in "edge reflect symmetric".split():
        case(f"np.pad(f, {{{{0, 9}}, {{7, 1}}}}, '{mode}')", f"np.pad(f, ((0, 9), (7, 1)), '{mode}')")
    case("np.pad(f, {{1, 2}, {0, 3}}, {constant_values = 7})", "np.pad(f, ((1, 2), (0, 3)), constant_values=7)")
    case("np.pad(f, {{1, 2}, {0, 3}}, {constant_values = {{1, 2}, {3, 4}}})",
         "np.pad(f, ((1, 2), (0, 3)), constant_values=((1, 2), (3, 4)))")
    case("np.pad(f, 3, 'linear_ramp', {end_values = {-1, 5}})", "np.pad(f, 3, 'linear_ramp', end_values=(-1, 5))")
    case("np.pad(f, 2, 'maximum', {stat_length = 2})", "np.pad(f, 2, 'maximum', stat_length=2)")
    case("np.pad(b, 1)", "np.pad(b, 1)")
    case("np.pad(e, 1)", "np.pad(e, 1)")
    case("np.pad(h['2:2'], 2, 'reflect')", "np.pad(h[1:2], 2, 'reflect')")
    for bad in ("np.pad(h, -1)", "np.pad(h, 1, 'mirror')", "np.pad(h, 1.5)", "np.pad(e, 1, 'edge')", "np.pad(h, {1, 2, 3})",
                "np.pad(h, 1, 'edge', {value = 1})"):
        case(bad, "error")
    # ---- creation
    for args in ("1, 1000, 4", "1, 256, 9", "-1000, -1, 4", "2, 3", "1e-3, 1e3, 7", "5, 5, 1"):
        case(f"np.geomspace({args})")
    case("np.geomspace(1, 100, 5, {endpoint = false})", "np.geomspace(1, 100, 5, endpoint=False)")
    case("np.geomspace(1, 100, 3, {dtype = 'int64'})", "np.geomspace(1, 100, 3, dtype='int64')")
    case("np.logspace(0, 3, 7)")
    case("np.logspace(0, 3, 7, {base = 2})", "np.logspace(0, 3, 7, base=2)")
    case("np.logspace(-2, 2, 5, {endpoint = false})", "np.logspace(-2, 2, 5, endpoint=False)")
    case("np.linspace(-1, -2.5, 4, {dtype = 'int64'})", "np.linspace(-1, -2.5, 4, dtype='int64')")
    case("np.linspace(-3, 4, 6, {dtype = 'int32'})", "np.linspace(-3, 4, 6, dtype='int32')")
    for a in ("h", "i[1]", "f4[2]", "z[1]"):
        py = a if a == "h" else a.replace("[1]", "[0]").replace("[2]", "[1]")
        case(f"np.vander({a})", f"np.vander({py})")
        case(f"np.vander({a}, 3)", f"np.vander({py}, 3)")
        case(f"np.vander({a}, 4, true)", f"np.vander({py}, 4, True)")
        case(f"np.diagflat({a}, 1)", f"np.diagflat({py}, 1)")
    for n, m, k in ((3, 3, 0), (3, 5, 1), (4, 2, -1), (0, 3, 0), (2, 2, 5)):
        case(f"np.tri({n}, {m}, {k})", f"np.tri({n}, {m}, {k})")
        for name in ("tril_indices", "triu_indices"):
            for r in (0, 1):
                case(f"np.{name}({n}, {k}, {m})[{r + 1}]", f"np.{name}({n}, {k}, {m})[{r}] + 1")
    case("np.tri(3, {dtype = 'int8'})", "np.tri(3, dtype='int8')")
    case("f[np.triu_indices_from(f, 1)]", "f[np.triu_indices_from(f, 1)]")
    for a in ("f", "i", "t", "b", "z"):
        for k in (-7, -1, 0, 2, 9):
            case(f"np.tril({a}, {k})", f"np.tril({a}, {k})")
            case(f"np.triu({a}, {k})", f"np.triu({a}, {k})")
    case("np.fromfunction(function(i, j) return 10 * i + j end, {3, 4})", "np.fromfunction(lambda i, j: 10 * i + j, (3, 4))")
    case("np.fromfunction(function(i) return i * i end, 5, {dtype = 'int64'})", "np.fromfunction(lambda i: i * i, (5,), dtype='int64')")
    case("np.fromiter(function() return 1 end, {count = 3})", "np.ones(3)")
    case("np.fromiter(coroutine.wrap(function() for i = 1, 4 do coroutine.yield(i * i) end end), {count = -1})",
         "np.fromiter((i * i for i in range(1, 5)), float, count=-1)")
    case("n[np.diag_indices(5)]", "n[np.diag_indices(5)]")
    case("f[np.ix_({1, 3}, {2, 5, 4})]", "f[np.ix_([0, 2], [1, 4, 3])]")
    case("np.array(np.ravel_multi_index({2, 3}, {4, 5}), {dtype = 'int64'})", "np.array(np.ravel_multi_index((1, 2), (4, 5)) + 1)")
    case("np.ravel_multi_index({{1, 2}, {3, 1}}, {2, 3})", "np.ravel_multi_index(([0, 1], [2, 0]), (2, 3)) + 1")
    case("np.ravel_multi_index({{1, 5}, 3}, {2, 3}, 'clip')", "np.ravel_multi_index(([0, 4], 2), (2, 3), 'clip') + 1")
    case("np.unravel_index(np.span(1, 20), {4, 5})[2]", "np.unravel_index(np.arange(20), (4, 5))[1] + 1")
    case("np.unravel_index(np.span(1, 20), {4, 5})[1]", "np.unravel_index(np.arange(20), (4, 5))[0] + 1")
    case("select(2, np.meshgrid(h, v, {sparse = true}))", "np.meshgrid(h, v, sparse=True)[1]")
    case("select(3, np.meshgrid(h, v, o))", "np.meshgrid(h, v, o)[2]")
    change("local a = f:copy() np.copyto(a, i)", "a = f.copy(); np.copyto(a, i)")
    change("local a = f:copy() np.copyto(a, 0, {where = b})", "a = f.copy(); np.copyto(a, 0, where=b)")
    case("np.ascontiguousarray(f.T)", "np.ascontiguousarray(f.T)")
    for bad in ("np.geomspace(0, 1, 3)", "np.geomspace(-1, 1)", "np.vander(f)", "np.tri(-1)", "np.ix_(f)", "np.logspace(0, 1, -2)",
                "np.ravel_multi_index({1}, {2, 3})", "np.ravel_multi_index({{1.5}, {1}}, {2, 3})", "np.fromfunction(3, 2)", "np.meshgrid(h, v, {indexing = 'xx'})", "np.tri(2.5)"):
        case(bad, "error")
