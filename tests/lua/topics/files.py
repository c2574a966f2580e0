"""Cases of npy.lua, text/read.lua and text/write.lua: files that NumPy has written are read, and NumPy reads what lgt has written."""
import atexit
import gzip
import os
import shutil
import tempfile
import warnings

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
    for name, array in (("big_real", np.arange(20) * 0.5), ("big_whole", np.arange(20)),
                        ("big_complex", np.arange(4) * (1 + 2j))):
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


TABLES = {
    "plain": "1 2 3\n4 5 6\n",
    "floats": "# a table\n 1.5e3\t-2  nan # or so\n\n+inf -Infinity .5\n1. 1e-320 123456789.123456789",
    "commas": "1, 2,3\n4 ,5,6",
    "windows": "1;2\r\n3;4\r\n",
    "row": "1 2 3",
    "column": "1\n2\n3",
    "one": "42",
    "none": "# nothing\n\n",
    "more": "x,y\n% first\n1,2,3\n4,5,6\n7,8,9\n",
    "complex": "(1+2j) 3-4j\n5 6j\n-1e3-2.5e-1j (7)",
    "whole": "9223372036854775807 -9223372036854775808\n0 +7",
    "uneven": "1 2\n3\n",
    "words": "1 two 3\n4 5 six",
    "holes": "1,,3\n,5,x\n7,NA,9\n",
    "hex": "0x10 1",
    "large": "300 1",
    "named": "# made today\nid, x y,z\n1,2,3\n4,,6\n",
    "comment": "# id  x, id  (m)\n1 2 3 4\n5 6 7 8\n",
}
LOADS = [  # table, lgt's options, NumPy's arguments
    ("plain", "", ""), ("floats", "", ""), ("commas", "delimiter = ','", "delimiter=','"),
    ("windows", "delimiter = ';'", "delimiter=';'"), ("row", "", ""), ("column", "", ""), ("one", "", ""),
    ("row", "ndmin = 2", "ndmin=2"), ("column", "ndmin = 2", "ndmin=2"), ("column", "ndmin = 1", "ndmin=1"),
    ("one", "ndmin = 1", "ndmin=1"), ("one", "ndmin = 2", "ndmin=2"), ("none", "", ""),
    ("more", "delimiter = ',', skiprows = 1, comments = '%'", "delimiter=',', skiprows=1, comments='%'"),
    ("more", "delimiter = ',', comments = {'x', '%'}, max_rows = 2", "delimiter=',', comments=['x', '%'], max_rows=2"),
    ("more", "delimiter = ',', skiprows = 2, usecols = {3, 1}", "delimiter=',', skiprows=2, usecols=(2, 0)"),
    ("more", "delimiter = ',', skiprows = 2, usecols = -1", "delimiter=',', skiprows=2, usecols=-1"),
    ("more", "delimiter = ',', skiprows = 2, usecols = {2, 5}", None),
    ("more", "delimiter = ',', skiprows = 2, usecols = {0}", None),
    ("complex", "dtype = 'complex128'", "dtype=complex"), ("complex", "dtype = 'complex64'", "dtype='c8'"),
    ("whole", "dtype = 'int64'", "dtype=int"), ("plain", "dtype = 'int8'", "dtype='i1'"),
    ("plain", "dtype = 'uint64'", "dtype='u8'"), ("plain", "dtype = 'float16'", "dtype='f2'"),
    ("plain", "dtype = 'bool'", "dtype=bool"), ("large", "dtype = 'uint8'", None), ("uneven", "", None),
    ("words", "", None), ("holes", "delimiter = ','", None), ("hex", "", None), ("plain", "delimiter = ', '", None),
    ("plain", "rows = 2", None), ("plain", "skiprows = -1", None), ("plain", "dtype = 'integer'", None),
    ("words", "converters = function(s) return #s end", "converters=lambda s: len(s)"),
    ("words", "usecols = {2}, converters = {[2] = function(s) return #s end}", "usecols=1, converters={1: len}"),
    ("words", "converters = function(s) return s end", None),
]
GENERIC = [
    ("holes", "delimiter = ','", "delimiter=','"),
    ("holes", "delimiter = ',', dtype = 'int64'", "delimiter=',', dtype=int"),
    ("holes", "delimiter = ',', filling_values = 0", "delimiter=',', filling_values=0"),
    ("holes", "delimiter = ',', filling_values = {7, 8, 9}", "delimiter=',', filling_values=[7, 8, 9]"),
    ("holes", "delimiter = ',', missing_values = 'NA', filling_values = -5",
     "delimiter=',', missing_values='NA', filling_values=-5"),
    ("holes", "delimiter = ',', missing_values = {'7', 'x'}", "delimiter=',', missing_values=['7', 'x']"),
    ("holes", "delimiter = ',', usecols = {1, 3}, skip_header = 1", "delimiter=',', usecols=(0, 2), skip_header=1"),
    ("holes", "delimiter = ',', skip_footer = 1", "delimiter=',', skip_footer=1"),
    ("floats", "", ""), ("words", "", ""), ("uneven", "", None), ("row", "", ""), ("one", "", ""),
    ("plain", "max_rows = 1", "max_rows=1"), ("uneven", "invalid_raise = false", "invalid_raise=False"),
    ("plain", "filling_values = 'a'", None),
    ("named", "delimiter = ',', usecols = {'id'}", None), ("named", "delimiter = ',', usecols = 'id'", None),
    ("named", "names = true, delimiter = ',', skip_header = 1, usecols = {'y'}", None),
    ("named", "names = 7, delimiter = ','", None), ("plain", "usecols = {1.5}", None), ("plain", "usecols = {true}", None),
    ("plain", "filling_values = {x = 1}", None), ("plain", "converters = {x = print}", None),
]
NAMED = [  # table, lgt's options, NumPy's, the names that there are
    ("named", "delimiter = ',', skip_header = 1", "delimiter=',', skip_header=1", "id x_y z"),
    ("named", "delimiter = ',', skip_header = 1, usecols = {'z', 'id'}", "delimiter=',', skip_header=1, usecols=('z', 'id')",
     "z id"),
    ("named", "delimiter = ',', skip_header = 1, usecols = 'z, x_y'", "delimiter=',', skip_header=1, usecols='z, x_y'",
     "z x_y"),
    ("named", "delimiter = ',', skip_header = 1, usecols = {-1}, max_rows = 1",
     "delimiter=',', skip_header=1, usecols=(-1,), max_rows=1", "z"),
    ("named", "delimiter = ',', skip_header = 1, filling_values = {x_y = 7}, converters = {id = function(s) return #s end}",
     "delimiter=',', skip_header=1, filling_values={'x_y': 7}, converters={'id': lambda s: float(len(s))}", "id x_y z"),
    ("comment", "", "", "id x id_1 m"),
    ("comment", "usecols = {'m', 'id_1'}", "usecols=('m', 'id_1')", "m id_1"),
    ("plain", "names = 'a, b, c', usecols = {'b'}", "names='a, b, c', usecols=('b',)", "b"),
    ("plain", "names = {'a', 'b'}, usecols = {3, 1}", "names=['a', 'b'], usecols=(2, 0)", "a b"),
]


def texts(case, change, inputs):
    warnings.simplefilter("ignore")
    for name, text in TABLES.items():
        with open(path(name + ".txt"), "w", newline="") as file:
            file.write(text)
    for function, loads in (("loadtxt", LOADS), ("genfromtxt", GENERIC)):
        for name, lua, numpy in loads:
            lua = f"np.{function}('{path(name + '.txt')}', {{{lua}}})"
            if name == "none":  # NumPy's has no elements either, but how many dimensions depends on its version
                case(lua + ".size + np.zeros(1)", "np.zeros(1)")
            else:
                case(lua, f"np.asarray(np.{function}({path(name + '.txt')!r}, {numpy}))" if numpy is not None else "error")
    for name, lua, numpy, names in NAMED:
        lua, numpy = (t if "names" in t else "names" + with_true + t
                      for t, with_true in ((lua, " = true, "), (numpy, "=True, ")))
        for column in names.split():
            case(f"np.genfromtxt('{path(name + '.txt')}', {{{lua}}}).{column}",
                 f"np.genfromtxt({path(name + '.txt')!r}, {numpy})[{column!r}]")
    case(f"select(2, np.genfromtxt('{path('comment.txt')}', {{names = true, unpack = true}}))",
         f"np.genfromtxt('{path('comment.txt')}', names=True)['x']")
    case(f"np.loadtxt('{path('plain.txt')}', {{usecols = {{'id'}}}})", "error")
    case("np.loadtxt({'1 2', '3 4'})", "np.loadtxt(['1 2', '3 4'])")
    case(f"np.loadtxt(io.lines('{path('plain.txt')}'))", f"np.loadtxt('{path('plain.txt')}')")
    case(f"select(2, np.loadtxt('{path('plain.txt')}', {{unpack = true}}))", f"np.loadtxt('{path('plain.txt')}')[:, 1]")
    for bad in ("", "7", "{1, 2}", "'/nowhere/a.txt'", "{'1', nil, '2'}"):
        case(f"np.loadtxt({bad})", "error")
    with gzip.open(path("packed.gz"), "wt") as file:
        file.write("1 2\n3 4\n" * 30000)
    case(f"np.loadtxt('{path('packed.gz')}')", f"np.loadtxt('{path('packed.gz')}')")
    with open(path("packed.gz"), "rb") as file, open(path("broken.gz"), "wb") as out:
        out.write(file.read()[:-40])
    case(f"np.loadtxt('{path('broken.gz')}')", "error")
    saves(case, change)
    for text, lua, numpy in (("1 2 3", "", "sep=' '"), ("1, 2,3", "sep = ','", "sep=','"), ("1\\n2 3", "", "sep=' '"),
                             ("1 2 3", "count = 2, dtype = 'int8'", "sep=' ', count=2, dtype='i1'")):
        case(f"np.fromstring('{text}', {{{lua}}})", f"np.fromstring('{text}', {numpy})")
    case("np.fromstring('1 a')", "error")
    case("np.fromstring(7)", "error")


def saves(case, change):
    def same_text(lua, numpy, first):
        ours, theirs = path(f"ours{len(written)}.txt"), path(f"theirs{len(written)}.txt")
        written.append(ours)
        change(f"np.savetxt('{ours}', {first}, {{{lua}}}) local a = f",
               f"a = f; np.savetxt('{theirs}', {first}, {numpy}); assert open('{ours}').read() == open('{theirs}').read()")
    written = []
    for first in ("f", "v", "f4", "i", "u8", "b", "z", "w", "x", "m.T"):
        same_text("", "", first)
    same_text("fmt = '%d'", "fmt='%d'", "i")
    same_text("fmt = '%10.3f', delimiter = ', '", "fmt='%10.3f', delimiter=', '", "f")
    same_text("fmt = {'%d', '%.2f', '%g', '%5.1e', '%i'}", "fmt=['%d', '%.2f', '%g', '%5.1e', '%i']", "f")
    same_text("fmt = '%d-%d %d %d: %g;'", "fmt='%d-%d %d %d: %g;'", "f")
    same_text("header = 'a\\nb', footer = 'end', comments = '% ', newline = ';'",
              "header='a\\nb', footer='end', comments='% ', newline=';'", "f")
    packed = path("saved.gz")
    change(f"np.savetxt('{packed}', f) local a = f", f"a = np.loadtxt('{packed}')")
    for name in ("f", "i", "z", "b", "u8"):
        file = path(f"raw.{name}")
        change(f"{name}:tofile('{file}') local a = np.fromfile('{file}', {{dtype = {name}.dtype}})",
               f"a = {name}.ravel(); assert (np.fromfile('{file}', {name}.dtype) == a).all()")
    change(f"f:tofile('{path('raw')}', ',') local a = np.fromfile('{path('raw')}', {{sep = ','}})",
           f"a = f.ravel(); assert (np.fromfile('{path('raw')}', sep=',') == a).all()")
    case(f"np.fromfile('{path('raw.f')}', {{offset = 16, count = 3}})", f"np.fromfile('{path('raw.f')}', offset=16, count=3)")
    for bad in ("t", "s", "f, {fmt = '%d %d'}", "f, {fmt = '%y'}", "f, {fmt = {'%d'}}", "f, {sep = ','}", "f, {fmt = 7}"):
        case(f"np.savetxt('{path('bad')}', {bad})", "error")
    case("np.savetxt('/nowhere/x', f)", "error")
    case("np.savetxt('/dev/full', f)", "error")


def add(case, change, inputs):
    archives(case, change, inputs)
    texts(case, change, inputs)
