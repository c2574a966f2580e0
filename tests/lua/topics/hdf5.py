"""Cases of hdf5.lua: h5py reads what lgt has written, and lgt what h5py has."""
import atexit
import os
import shutil
import tempfile

import numpy as np

try:
    import h5py
except ImportError:
    h5py = None

folder = tempfile.mkdtemp()
atexit.register(shutil.rmtree, folder)
NAMES = ["f", "f4", "f2", "i", "i1", "i4", "u1", "u8", "b", "z", "w", "s", "si", "t", "e", "v"]


def path(name):
    return os.path.join(folder, name)


def reading(case, inputs):
    file = path("theirs.h5")
    with h5py.File(file, "w") as f:
        for name in NAMES:
            f[f"plain/{name}"] = inputs[name]
            if inputs[name].ndim and inputs[name].size:
                f.create_dataset(f"packed/{name}", data=inputs[name], compression="gzip", chunks=True)
        f["big"] = np.arange(6).astype(">i4")
        f["big_real"] = np.arange(6).astype(">f8") / 3
        f["strings"] = np.array([b"a", b"bc"])
        f["text"] = "some text"
        f["records"] = np.zeros(3, [("a", "i4"), ("b", "f8"), ("c", "i1")])
        f.create_dataset("empty", dtype="f8", shape=None, data=h5py.Empty("f8"))
        f["plain/t"].attrs.update(unit="kelvin", n=3, x=2.5, v=np.arange(3), raw=np.bytes_(b"abc"), on=True)
        f["link"] = h5py.SoftLink("/nowhere")
    opened = f"np.hdf5('{file}')"
    for name in NAMES:
        case(f"{opened}:read('plain/{name}')", name)
        if inputs[name].ndim and inputs[name].size:
            case(f"{opened}:read('/packed/{name}')", name)
    for lua, numpy in (("'2:3, :, 1'", "1:3, :, 0"), ("{2, {1, 4, step = 2}, {}}", "1, 0:4:2, :"), ("'-1, ...'", "-1, ..."),
                       ("3", "2"), ("'3:2, :, :'", "3:2, :, :"), ("{1, 2, 3}", "0, 1, 2"), ("'::2, ::3, ::4'", "::2, ::3, ::4")):
        case(f"{opened}:read('plain/t', {lua})", f"t[{numpy}]")
        case(f"{opened}:read('packed/t', {lua})", f"t[{numpy}]")
    for bad in ("'::-1, :, :'", "4", "{1, 2}", "'a'", "{np.array{1, 2}, 1, 1}", "{1, 2, 3, 4}"):
        case(f"{opened}:read('plain/t', {bad})", "error")
    case(f"{opened}:read('big')", "np.arange(6).astype('i4')")
    case(f"{opened}:read('big_real')", "np.arange(6) / 3")
    for name in ("strings", "text", "records", "nothing", "plain", "plain/t/x", "", "link"):
        case(f"{opened}:read('{name}')", "error")
    case(f"{opened}:read('empty')", "np.zeros(0)")
    case(f"np.array({opened}:attribute('plain/t', 'v'))", "np.arange(3)")
    for key, value in (("unit", "'kelvin'"), ("raw", "'abc'"), ("n", "3"), ("x", "2.5"), ("on", "true"), ("none", "nil")):
        case(f"np.array({opened}:attribute('plain/t', '{key}') == {value})", "np.array(True)")
    case(f"np.array(table.concat({opened}:list(), ' ') == 'big big_real empty link packed/ plain/ records strings text')",
         "np.array(True)")
    case(f"np.array((({opened}:about('plain/t'))))", "np.array([3., 4., 5.])")
    for bad in ("write('x', f)", "list('big')", "list('nowhere')", "attribute('nowhere', 'x')", "delete('big')", "group('x')",
                "update('big', 1, 1)", "attribute('big', 7)", "read()", "about('nowhere')"):
        case(f"{opened}:{bad}", "error")


def writing(case, change, inputs):
    file = path("ours.h5")
    change(f"do local h = np.hdf5('{file}', 'w') h:close() end local a = f", "a = f")
    for name in NAMES:
        for target, options in ((name, ""), (f"deep/in/{name}", ", {compression = 4}")):
            if options and not inputs[name].ndim:
                continue
            change(f"local h = np.hdf5('{file}', 'r+') h:write('{target}', {name}{options}) h:close() local a = {name}",
                   f"import h5py; a = h5py.File('{file}')['{target}'][()]")
    changed = path("changed.h5")
    change(f"local h = np.hdf5('{changed}', 'a') h:write('x', f.T) h:write('x', t, {{chunks = {{1, 2, 5}}}}) "
           "h:update('x', '2, :, 2:3', 7) h:update('x', {3, {1, 2}, {}}, f['1:2, :']) h:group('g/h') h:write('g/y', h and f) "
           "h:delete('g/y') h:attribute('x', 'unit', 'm') h:attribute('x', 'unit', 'km') h:attribute('g', 'v', i) "
           "h:attribute('/', 'n', np.array(7)) h:close() local a = f",
           f"import h5py; d = h5py.File('{changed}'); a = f; x = t.copy(); x[1, :, 1:3] = 7; x[2, 0:2] = f[:2]\n"
           "assert (d['x'][()] == x).all() and d['x'].chunks == (1, 2, 5) and list(d['g']) == ['h']\n"
           "assert d['x'].attrs['unit'] == 'km' and (d['g'].attrs['v'] == i).all() and d.attrs['n'] == 7")
    for call in ("'/nowhere/x.h5'", "'/nowhere/x.h5', 'w'", f"'{path('ours.h5')}', 'x'", "7", f"'{path('x.h5')}', 'rw'"):
        case(f"np.hdf5({call})", "error")
    for call in ("write('x', f, {compression = 10})", "write('x', f, {chunks = {1}})", "write('x', f, {chunks = {0, 1}})",
                 "write('x', 'text')", "write(7, f)", "write('x', f, {level = 3})", "close() h:read('x')", "update('f', 1, h)"):
        case(f"(function() local h = np.hdf5('{path('bad.h5')}', 'w') h:write('f', f) h:{call} end)()", "error")


def elsewhere(case):
    """Data sets that do not lie in the file where its own lie, or nowhere."""
    with h5py.File(path("target.h5"), "w") as f:
        f["x"] = np.arange(10.0) + 100
        f["back"] = h5py.ExternalLink("linking.h5", "own")
    with h5py.File(path("linking.h5"), "w") as f:
        f["own"] = np.arange(2000.0)
        f["other"] = h5py.ExternalLink("target.h5", "x")
        f["self"] = h5py.ExternalLink("target.h5", "back")
    opened = f"np.hdf5('{path('linking.h5')}')"
    case(f"{opened}:read('other')", "np.arange(10.) + 100")
    case(f"{opened}:read('other', '2:9')", "np.arange(10.)[1:9] + 100")
    for name in ("own", "self"):
        case(f"{opened}:read('{name}')", "np.arange(2000.)")
    for block in (0, 1024):
        file = path(f"block_{block}.h5")
        with h5py.File(file, "w", userblock_size=block) as f:
            f["x"] = np.arange(3000.0)
            f.create_dataset("unallocated", (5,), "f8")
            f.create_dataset("filled", (5,), "f8", fillvalue=7)
            f["y"] = np.arange(100)
            f.create_dataset("packed", data=np.arange(100), compression="gzip")
            f.create_dataset("outside", data=np.arange(5.0), external=[(path(f"outside_{block}"), 0, 40)])
        for name, value in (("x", "np.arange(3000.)"), ("unallocated", "np.zeros(5)"), ("filled", "np.full(5, 7.)"), ("y", "np.arange(100)"),
                            ("packed", "np.arange(100)"), ("outside", "np.arange(5.)")):
            case(f"np.hdf5('{file}'):read('{name}')", value)


def names(case, change):
    """What HDF5 would take for another name, or for another part."""
    file = path("names.h5")
    change(f"local h = np.hdf5('{file}', 'w') h:write('a', f) h:attribute('a', 'n', 1) pcall(h.write, h, 'a\\0b', i) "
           "pcall(h.attribute, h, 'a', 'n\\0m', 2) pcall(h.attribute, h, 'a', 'n', 'text\\0more') h:close() "
           f"pcall(np.hdf5, '{file}\\0b', 'w') local a = f",
           f"import h5py; d = h5py.File('{file}')['a']; a = d[()]; assert d.attrs['n'] == 1")
    opened = f"np.hdf5('{file}')"
    for call in ("read('a\\0b')", "attribute('a', 'n\\0m')", "list('/\\0b')", "read('a', np.array{true})", "read('a', np.array{1})",
                 "read('a', true)"):
        case(f"{opened}:{call}", "error")
    case(f"np.array(({opened}:attribute('a', 'n')))", "np.array(1.)")
    case(f"np.array(select(2, pcall({opened}.read, {opened}, 'a', np.array{{true}})):find('named by positions and by ranges') ~= nil)",
         "np.array(True)")


def messages(case):
    file = path("messages.h5")
    with h5py.File(file, "w") as f:
        f["e"] = np.arange(3)
        f["e"].attrs["names"] = ["a", "b"]
        f["link"], f["away"] = h5py.SoftLink("/nowhere"), h5py.ExternalLink("gone.h5", "/x")
        f["g/link"], f["g/good"] = h5py.SoftLink("lost"), h5py.SoftLink("/e")
    for call, text in (("'r'):list('nowhere')", "nowhere does not exist"), ("'r'):attribute('nowhere', 'x')", "nowhere does not exist"),
                       ("'r'):list('link')", "link: the link /link leads to /nowhere, which does not exist"),
                       ("'r'):list('g/link/x')", "g/link/x: the link /g/link leads to lost, which does not exist"),
                       ("'r'):list('away')", "away: the link /away leads to /x in the file gone.h5, which cannot be opened"),
                       ("'r'):attribute('e', 'names')", "e: attribute names holds strings"),
                       ("'r'):list('g/good/x')", "g/good/x does not exist"),
                       ("'a'):write('e/f', f)", "e/f: e is no group"), ("'a'):group('/e/f/g')", "/e/f/g: /e is no group"),
                       ("'x')", "messages.h5: unable to open file: File exists$")):
        case(f"np.array(select(2, pcall(function() return np.hdf5('{file}', {call} end)):find('{text}') ~= nil)", "np.array(True)")


def damaged(case):
    """What is no HDF5 file, or only a part of one."""
    with open(path("whole.h5"), "wb") as out, h5py.File(out, "w") as f:
        f["x"] = np.arange(5000.0)
        f.create_dataset("y", data=np.arange(5000.0), compression="gzip")
        f.create_dataset("huge", shape=(10**14,), dtype="f8", chunks=True)
    with open(path("whole.h5"), "rb") as file:
        data = file.read()
    for name, content in (("none", b"no HDF5 file"), ("empty", b""), ("half", data[:len(data) // 2]), ("head", data[:600])):
        with open(path(name + ".h5"), "wb") as out:
            out.write(content)
        case(f"np.hdf5('{path(name + '.h5')}'):read('x')", "error")
    at = data.find(np.arange(5000.0).tobytes())
    assert at > 0
    case(f"np.hdf5('{path('whole.h5')}'):read('x')", "np.arange(5000.0)")
    case(f"np.hdf5('{path('whole.h5')}'):read('huge')", "error")


def add(case, change, inputs):
    if h5py is None:
        print("skip hdf5: python3-h5py is not installed")
        return
    reading(case, inputs)
    writing(case, change, inputs)
    elsewhere(case)
    names(case, change)
    messages(case)
    damaged(case)
