"""Parameters of NumPy's functions: out= over types, shapes, axes and views, where=, initial=, dtype=, and the rest.

OUT has calls as (Lua, NumPy), with # for an axis; each is given a fresh array, a view of one, one of a wider type, and
three that it must refuse.
"""
import numpy as np

TOLERANCE = {"float16": 8e-3, "float32": 2e-5, "float64": 1e-12}
ARRAYS = ("f", "f4", "i", "i1", "u1", "z", "t", "t2")
REDUCTIONS = "sum prod max min mean std var ptp median nansum nanprod nanmax nanmin nanmean nanstd nanvar nanmedian".split()
SCANS = "cumsum cumprod nancumsum nancumprod".split()
PLACES = "argmax argmin nanargmax nanargmin".split()
OTHERS = (
    ("np.quantile(@, {0.25, 0.6}, {axis = #, out = a})", "np.quantile(@, [0.25, 0.6], axis=#, out=a)"),
    ("np.percentile(@, 30, {axis = #, keepdims = true, out = a})", "np.percentile(@, 30, axis=#, keepdims=True, out=a)"),
    ("np.nanquantile(@, 0.4, {axis = #, out = a})", "np.nanquantile(@, 0.4, axis=#, out=a)"),
    ("np.concatenate({@, @}, {axis = #, out = a})", "np.concatenate([@, @], axis=#, out=a)"),
    ("np.concatenate({@, @}, #, {out = a})", "np.concatenate([@, @], axis=#, out=a)"),
    ("np.stack({@, @}, {axis = #, out = a})", "np.stack([@, @], axis=#, out=a)"),
    ("np.take(@, {2, 1}, {axis = #, out = a})", "np.take(@, [1, 0], axis=#, out=a)"),
    ("np.compress({true, false, true}, @, {axis = #, out = a})", "np.compress([True, False, True], @, axis=#, out=a)"),
    ("(@):compress({true, false, true}, {axis = #, out = a})", "@.compress([True, False, True], axis=#, out=a)"),
    ("np.add.accumulate(@, {axis = #, out = a})", "np.add.accumulate(@, axis=#, out=a)"),
    ("np.add.reduce(@, {axis = #, out = a})", "np.add.reduce(@, axis=#, out=a)"),
    ("np.add.reduceat(@, {1, 3}, {axis = #, out = a})", "np.add.reduceat(@, [0, 2], axis=#, out=a)"),
    ("(@):cumsum(#, {out = a})", "@.cumsum(axis=#, out=a)"), ("(@):argmax(#, {out = a})", "@.argmax(axis=#, out=a)"),
    ("(@):mean(#, {out = a})", "@.mean(axis=#, out=a)"), ("(@):ptp(#, {out = a})", "@.ptp(axis=#, out=a)"),
)
WITHOUT_AXES = (
    ("np.trace(@, {out = a})", "np.trace(@, out=a)"), ("(@):trace({offset = 1, out = a})", "@.trace(offset=1, out=a)"),
    ("np.choose(np.ones({4, 5}, 'int64') + b, {np.abs(f), 2}, {out = a})", "np.choose(b * 1, [np.abs(f), 2], out=a)"),
    ("np.clip(@, 0, 1, {out = a})", "np.clip(@, 0, 1, out=a)"), ("np.round(@, {out = a})", "np.round(@, out=a)"),
    ("np.dot(@, @.T, {out = a})", "np.dot(@, @.T, out=a)"), ("np.matmul(@, @.T, {out = a})", "np.matmul(@, @.T, out=a)"),
    ("np.einsum('ij,kj->ik', @, @, {out = a})", "np.einsum('ij,kj->ik', @, @, out=a)"),
    ("np.einsum('ij->ji', @, {out = a})", "np.einsum('ij->ji', @, out=a)"),
    ("np.outer(@, @, {out = a})", "np.outer(@, @, out=a)"),
)
WIDER = {"float16": "float32", "float32": "float64", "int8": "int16", "int32": "int64", "uint8": "uint16", "complex64": "complex128"}


def result_of(numpy, inputs):
    """What NumPy gives where there is no out=, or None."""
    try:
        return np.asarray(eval(numpy.replace(", out=a", ""), {"np": np, **inputs}))
    except Exception:
        return None


def out_cases(change, inputs, lua, numpy):
    wanted = result_of(numpy, inputs)
    if wanted is None or wanted.dtype == bool:
        return
    shape, name = wanted.shape, wanted.dtype.name
    extents = "{" + ", ".join(map(str, shape)) + "}"
    check, plus = " assert(np.may_share_memory(r, a)) ", int("argm" in lua)  # positions count from 1
    change(f"local a = np.zeros({extents}, '{name}') local r = {lua}" + check, f"a = np.zeros({shape}, '{name}'); {numpy}; a += {plus}")
    if name in WIDER:
        wide = WIDER[name]
        change(f"local a = np.zeros({extents}, '{wide}') local r = {lua}{check} assert(a.dtype == '{wide}') a = a:astype('{name}')",
               f"a = {numpy.replace(', out=a', '')}")
    if shape:
        twice = "{" + ", ".join(str(2 * n) for n in shape) + "}"
        steps = ", ".join("::-2" if d % 2 else "::2" for d in range(len(shape)))
        change(f"local whole = np.ones({twice}, '{name}') local a = whole['{steps}'] local r = {lua} a = whole",
               f"whole = np.ones({tuple(2 * n for n in shape)}, '{name}'); a = whole[{steps}]; a[...] = {numpy.replace(', out=a', '')} + {plus}; a = whole")
    longer = "{" + ", ".join(map(str, (*shape, 2))) + "}"
    change(f"local a = np.zeros({longer}, '{name}') local r = {lua}", "error")
    change(f"local a = np.zeros({extents}, 'bool') local r = {lua}", "error")
    change(f"local a = 7 local r = {lua}", "error")


def add_out(change, inputs):
    calls = [(f"np.{name}(@, {{axis = #, out = a}})", f"np.{name}(@, axis=#, out=a)") for name in REDUCTIONS + SCANS + PLACES]
    calls += [(f"np.{name}(@, #, {{keepdims = true, out = a}})", f"np.{name}(@, axis=#, keepdims=True, out=a)") for name in REDUCTIONS]
    for k, (lua, numpy) in enumerate(calls + list(OTHERS)):
        turns = [(ARRAYS[(k + step) % len(ARRAYS)], (k + step) % 2) for step in (0, 3)] + [("f", 1)]
        for array, axis in dict.fromkeys(turns):
            if array == "z" and any(word in lua for word in ("max", "min", "ptp", "median", "quantile", "percentile")):
                continue
            out_cases(change, inputs, lua.replace("@", array).replace("#", str(axis + 1)), numpy.replace("@", array).replace("#", str(axis)))
    for lua, numpy in WITHOUT_AXES:
        for array in ("f", "f4", "i"):
            out_cases(change, inputs, lua.replace("@", array), numpy.replace("@", array))


def add(case, change, inputs):
    inputs["t2"] = np.where(inputs["t"] > 1, np.nan, inputs["t"]).astype("float32")
    inputs["y"] = np.where(inputs["f"] > 2, np.nan, inputs["f"])
    add_out(change, inputs)
