"""Cases of npy.lua: files that NumPy has written are read, and NumPy reads what lgt has written."""
import atexit
import os
import shutil
import tempfile

import numpy as np

folder = tempfile.mkdtemp()
atexit.register(shutil.rmtree, folder)


def path(name):
    return os.path.join(folder, name)


def archives(case, change, inputs):
    names = ["f", "f4", "f2", "i", "i1", "u8", "b", "z", "w", "s", "t", "e"]
    arrays = {n: inputs[n] for n in names}
    np.savez(path("plain.npz"), **arrays)
    np.savez_compressed(path("small.npz"), **arrays)
    for name in names:
        for file in ("plain", "small"):
            case(f"np.load('{path(file + '.npz')}').{name}", name)
    for compress in ("", "_compressed"):
        file = path(f"ours{compress}.npz")
        for name in names:
            change(f"np.savez{compress}('{file}.{name}', {name}, {name}.T, {{x = {name}, ['a b'] = np.arange(3)}}) local a = {name}",
                   f"import operator; d = np.load('{file}.{name}.npz'); a = d['x']\n"
                   f"assert sorted(d) == ['a b', 'arr_0', 'arr_1', 'x'] and np.array_equal(d['arr_1'], {name}.T)")
    for name, array in (("big", np.arange(20) * 0.5), ("whole", np.arange(20)), ("complex", np.arange(4) * (1 + 2j))):
        np.save(path(name + ".npy"), array.astype(array.dtype.newbyteorder(">")))
        inputs[name] = array
        case(f"np.load('{path(name + '.npy')}')", name)
    for turn, array in (("fortran", inputs["t"].T), ("version", inputs["f"])):
        with open(path(turn + ".npy"), "wb") as file:
            np.lib.format.write_array(file, array, version=(2, 0))
        inputs[turn] = array
        case(f"np.load('{path(turn + '.npy')}')", turn)
    np.save(path("date.npy"), np.zeros(3, "M8[s]"))
    np.save(path("record.npy"), np.zeros(3, [("a", "i4")]))
    np.save(path("object.npy"), np.array([{}]), allow_pickle=True)
    for name in ("date", "record", "object"):
        case(f"np.load('{path(name + '.npy')}')", "error")
    case("np.load('/nowhere/a.npz')", "error")
    case("np.load('/')", "error")
    case("np.load()", "error")
    case("np.savez({x = f})", "error")
    case(f"np.savez('{path('x')}', {{[1.5] = f}})", "error")
    case(f"np.savez('{path('x')}', f, {{arr_0 = f}})", "error")


def add(case, change, inputs):
    archives(case, change, inputs)
