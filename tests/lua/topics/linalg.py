"""Cases of decompose.lua and reduce.lua's norm: systems of equations, decompositions."""
import numpy as np

TOLERANCE = {"float32": 2e-4, "float64": 1e-10}  # rounding times the condition of these matrices


def scipy_expm(a):
    import scipy.linalg
    return scipy.linalg.expm(a)


def add(case, change, inputs):
    rng = np.random.default_rng(14)
    for name, shape in (("a5", (5, 5)), ("a1", (1, 1)), ("stack", (3, 4, 4)), ("deep", (2, 3, 3, 3)), ("tall", (7, 4)),
                        ("wide", (3, 6)), ("talls", (2, 6, 3))):
        inputs[name] = rng.normal(size=shape)
    inputs["long_"] = np.sin(np.outer(np.arange(20000), [1, 2, 3]))
    inputs["b5"], inputs["bv"] = rng.normal(size=(5, 3)), rng.normal(size=5)
    inputs["bs"], inputs["sv"] = rng.normal(size=(3, 4, 2)), rng.normal(size=(3, 4))
    inputs["c5"] = rng.normal(size=(5, 5)) + 1j * rng.normal(size=(5, 5))
    inputs["cw"] = inputs["c5"].astype("complex64")
    inputs["s5"] = inputs["a5"].astype("float32")
    inputs["i5"] = rng.integers(-5, 6, size=(5, 5))
    inputs["spd"] = inputs["a5"] @ inputs["a5"].T + 5 * np.eye(5)
    inputs["hpd"] = inputs["c5"] @ inputs["c5"].conj().T + 5 * np.eye(5)
    inputs["spds"] = inputs["stack"] @ np.swapaxes(inputs["stack"], 1, 2) + np.eye(4)
    inputs["low"] = np.outer(np.arange(4.0), np.arange(3.0)) + 1
    inputs["sing"] = np.ones((3, 3))
    inputs["z0"] = np.zeros((0, 0))
    inputs["taller"] = rng.normal(size=(17001, 3))
    SQUARE = ("a5", "a1", "stack", "deep", "c5", "cw", "s5", "i5", "a5.T", "stack['::-1, :, ::-1']")
    npy = {"stack['::-1, :, ::-1']": "stack[::-1, :, ::-1]"}
    L = "np.linalg."
    for a in SQUARE:
        py = npy.get(a, a)
        for f in ("inv", "det", "pinv", "matrix_rank", "cond"):
            if a == "cw" and f == "cond":
                continue
            case(f"{L}{f}({a})", f"{L}{f}({py})")
        case(f"{L}slogdet({a})", f"{L}slogdet({py})[0]")
        case(f"select(2, {L}slogdet({a}))", f"{L}slogdet({py})[1]")
        case(f"{L}solve({a}, {a} + 1)", f"{L}solve({py}, {py} + 1)")
        case(f"({L}qr({a}))", f"{L}qr({py})[0]")
        case(f"select(2, {L}qr({a}))", f"{L}qr({py})[1]")
        case(f"{L}svd({a}, {{compute_uv = false}})", f"{L}svd({py}, compute_uv=False)")
        case(f"(function() local u, s, v = {L}svd({a}) return np.matmul(u * np.expand_dims(s, -2), v) end)()", f"{py} * 1.0" if a == "i5" else py)
        for n in (0, 1, 2, 5, -1, -3):
            if a in ("i5",) and n < 0:
                continue
            case(f"{L}matrix_power({a}, {n})", f"{L}matrix_power({py}, {n})")
        case(f"np.sort(np.abs({L}eigvals({a})))", f"np.sort(np.abs({L}eigvals({py})))")
        case(f"(function() local w, v = {L}eig({a}) return np.abs(np.matmul({a}, v) - v * np.expand_dims(w, -2)) end)()",
             f"np.zeros({py}.shape, np.abs({L}inv({py})).dtype)")
    inputs["large"], inputs["many"] = rng.normal(size=(150, 150)) + 20 * np.eye(150), rng.normal(size=(150, 200))
    inputs["clarge"] = inputs["large"] + 1j * rng.normal(size=(150, 150))
    for a in ("large", "large.T", "clarge"):
        case(f"{L}inv({a})")
        case(f"{L}solve({a}, many)")
        case(f"{L}solve({a}, large.T)")
    # the factorisation of which workers share
    inputs["shared"] = rng.normal(size=(600, 600)) + 30 * np.eye(600)
    inputs["cshared"] = inputs["shared"][:513, :513] + 1j * rng.normal(size=(513, 513))
    for a in ("shared", "shared.T", "cshared", "shared:astype('float32')", "shared['::-1, ::-1']"):
        py = a.replace(":astype", ".astype").replace("['::-1, ::-1']", "[::-1, ::-1]")
        case(f"{L}solve({a}, {a}[1])", f"{L}solve({py}, {py}[0])")
        case(f"{L}solve({a}, ({a})[':, 2:70'])", f"{L}solve({py}, ({py})[:, 1:70])")
        case(f"{L}inv({a})", f"{L}inv({py})")
        case(f"{L}slogdet({a})", f"{L}slogdet({py})[0]")
        case(f"select(2, {L}slogdet({a}))", f"{L}slogdet({py})[1]")
    case(f"{L}solve(shared, shared[':, 1:0'])", f"{L}solve(shared, shared[:, :0])")
    case(f"{L}solve(shared * 0, shared[1])", "error")
    case(f"{L}inv(shared * np.where(np.arange(600):eq(470), 0, 1))", "error")
    case(f"{L}det(shared * np.where(np.arange(600):eq(470), 0, 1))", "np.array(0.0)")
    case(f"{L}inv(large:astype('float32'))", f"{L}inv(large.astype('f4'))")
    case(f"{L}solve(large, many['::-1, ::-1'])", f"{L}solve(large, many[::-1, ::-1])")
    case(f"{L}solve(large['1:3, 1:3'], many['1:3'])", f"{L}solve(large[:3, :3], many[:3])")
    case(f"{L}solve(a5, bv)")
    case(f"{L}solve(a5, b5)")
    case(f"{L}solve(stack, sv)", f"{L}solve(stack, sv)")
    case(f"{L}solve(stack, bs)")
    case(f"{L}solve(a5, i5)")
    case(f"{L}solve(c5, b5)")
    for a in ("z0",):
        for f in ("inv", "det"):
            case(f"{L}{f}({a})")
        case(f"{L}solve(z0, np.zeros(0, 2))", f"{L}solve(z0, np.zeros((0, 2)))")
    for a in ("spd", "hpd", "spds", "spd:astype('float32')"):
        py = a.replace(":", ".")
        case(f"{L}cholesky({a})", f"{L}cholesky({py})")
        for uplo in ("", ", 'U'"):
            case(f"{L}eigvalsh({a}{uplo})", f"{L}eigvalsh({py}{uplo})")
            case(f"(function() local w, v = {L}eigh({a}{uplo}) return np.matmul(v * np.expand_dims(w, -2), np.conj(np.swapaxes(v, -1, -2))) end)()", py)
        case(f"({L}eigh({a}))", f"{L}eigh({py})[0]")
    case(f"{L}eigvalsh(a5)")
    case(f"{L}eigvalsh(a5, 'U')")
    for a in ("tall", "wide", "talls", "c5[{{}, {1, 3}}]"):
        py = "c5[:, :3]" if a[0] == "c" else a
        for mode in ("reduced", "complete"):
            case(f"({L}qr({a}, '{mode}'))", f"{L}qr({py}, '{mode}')[0]")
            case(f"select(2, {L}qr({a}, '{mode}'))", f"{L}qr({py}, '{mode}')[1]")
        case(f"{L}qr({a}, 'r')", f"{L}qr({py}, 'r')")
        case(f"select(2, {L}svd({a}))", f"{L}svd({py})[1]")
        k = "'1:%d'" % min(eval(py, {"np": np, **inputs}).shape[-2:])
        case(f"np.abs(({L}svd({a}))['..., ' .. {k}])", f"np.abs({L}svd({py}, full_matrices=False)[0])")
        case(f"(function() local u = {L}svd({a}) return np.matmul(u, np.conj(np.swapaxes(u, -1, -2))) end)()",
             f"np.matmul({py}, np.swapaxes({py}, -1, -2)) * 0 + np.eye({py}.shape[-2])")
        case(f"(function() local u, s, v = {L}svd({a}, {{full_matrices = false}}) return np.matmul(u * np.expand_dims(s, -2), v) end)()", py)
        case(f"{L}pinv({a})", f"{L}pinv({py})")
        case(f"{L}matrix_rank({a})", f"{L}matrix_rank({py})")
    case(f"{L}matrix_rank(low)")
    case(f"{L}matrix_rank(sing)")
    case(f"{L}matrix_rank(bv)")
    case(f"{L}matrix_rank(low, 1e-3)")
    for k in range(4):
        for a, b in (("tall", "np.arange(7)"), ("tall", "tall"), ("wide", "np.ones(3)"), ("low", "np.arange(4)"), ("a5", "b5"),
                     ("c5[{{}, {1, 3}}]", "b5"), ("s5", "s5")):
            if k == 1 and a == "low":
                continue  # NumPy looks at the rank before it gives residuals
            py = "c5[:, :3]" if a[0] == "c" else a
            case(f"select({k + 1}, {L}lstsq({a}, {b}))",
                 f"np.array({L}lstsq({py}, {b}, rcond=None)[{k}]).reshape(-1 if {k} in (1, 3) else np.shape({L}lstsq({py}, {b}, rcond=None)[{k}])).astype('int64' if {k} == 2 else {L}lstsq({py}, {b}, rcond=None)[{k}].dtype if {k} != 2 else None)")
    for k in (0, 1, 3):  # of more rows than LAPACK is given at once
        case(f"(select({k + 1}, {L}lstsq(taller, taller[':, 1'] * 2 + np.sin(taller[':, 2']))))",
             f"np.array({L}lstsq(taller, taller[:, 0] * 2 + np.sin(taller[:, 1]), rcond=None)[{k}])")
    case(f"{L}lstsq(np.broadcast_to(np.zeros(1, 1), 40000, 9000), np.zeros(40000))", "error")
    # ---- norms
    for a in ("a5", "wide", "c5", "s5"):
        for o, py in (("'fro'", "'fro'"), ("'nuc'", "'nuc'"), ("1", "1"), ("-1", "-1"), ("2", "2"), ("-2", "-2"), ("math.huge", "np.inf"),
                      ("-math.huge", "-np.inf")):
            case(f"np.norm({a}, {o})", f"{L}norm({a}, {py})")
            case(f"{L}norm(stack, {o}, {{1, 3}})", f"{L}norm(stack, {py}, axis=(0, 2))")
            case(f"{L}norm(stack, {o}, {{2, 3}}, {{keepdims = true}})", f"{L}norm(stack, {py}, axis=(1, 2), keepdims=True)")
    for o, py in (("2", "2"), ("1", "1"), ("3", "3"), ("-math.huge", "-np.inf"), ("0.5", "0.5")):
        case(f"{L}norm(stack, {o}, 2)", f"{L}norm(stack, {py}, axis=1)")
        case(f"{L}norm(bv, {o})", f"{L}norm(bv, {py})")
    for p, py in (("1", "1"), ("-1", "-1"), ("2", "2"), ("-2", "-2"), ("'fro'", "'fro'"), ("math.huge", "np.inf")):
        case(f"{L}cond(a5, {p})", f"{L}cond(a5, {py})")
    # ---- others
    case(f"{L}multi_dot{{a5, b5, b5.T, bv}}", f"{L}multi_dot([a5, b5, b5.T, bv])")
    case(f"{L}multi_dot{{bv, a5, b5}}", f"{L}multi_dot([bv, a5, b5])")
    case(f"{L}multi_dot{{bv, a5, bv}}", f"{L}multi_dot([bv, a5, bv])")
    for a in ("a5", "a5 * 9", "c5", "spd / 50", "np.zeros(2, 2)", "a1"):
        case(f"{L}expm({a})", f"scipy_expm({a})" if "zeros" not in a else "np.eye(2)")
    case(f"{L}tensorsolve(np.eye(24):reshape(6, 4, 2, 3, 4) + 0.1, np.arange(24):reshape(6, 4))",
         f"{L}tensorsolve(np.eye(24).reshape(6, 4, 2, 3, 4) + 0.1, np.arange(24).reshape(6, 4))")
    case(f"{L}tensorinv(np.eye(24):reshape(6, 4, 2, 3, 4) + 0.1)", f"{L}tensorinv(np.eye(24).reshape(6, 4, 2, 3, 4) + 0.1)")
    for bad in ("solve(sing, sing)", "inv(sing)", "cholesky(-spd)", "inv(tall)", "det(wide)", "solve(a5, bs)", "inv(bv)", "qr(a5, 'x')",
                "eigh(a5, 'M')", "inv(f2['1:4, 1:4'])", "matrix_power(a5, 0.5)", "multi_dot{a5}", "expm(stack)", "norm(a5, 7)",
                "norm(bv, 'fro')", "norm(stack, 2)", "lstsq(a5, v)", "inv(np.zeros(20000, 20000, {dtype = 'int8'})['1:20000, 1:20000'])",
                "tensorinv(a5, 0)", "tensorsolve(a5, b5)", "expm(a5 / 0)", "svd(long_)", "qr(long_, 'complete')", "pinv(np.broadcast_to(np.zeros(1, 1), 2 ^ 15, 2 ^ 14))"):
        case(f"{L}{bad}", "error")
    case(f"{L}svd(long_, {{compute_uv = false}})", "np.linalg.svd(long_, compute_uv=False)")
    case(f"(function() local u, s, v = {L}svd(long_, false) return np.dot(u * s, v) end)()", "long_")
    case(f"np.abs({L}qr(long_, 'r'))", "np.abs(np.linalg.qr(long_, 'r'))")
    case(f"({L}lstsq(long_, long_[':, 1']))", "np.linalg.lstsq(long_, long_[:, 0], rcond=None)[0]")
