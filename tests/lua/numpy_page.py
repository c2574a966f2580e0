#!/usr/bin/python3
"""docs/numpy.md against NumPy and lgt.

    tests/lua/numpy_page.py --lgt build/lgt

Every name under "What there is" must exist in lgt, none under "What there is not" may, and every public function of
NumPy (of numpy, numpy.linalg, numpy.fft, numpy.random) and every attribute of its arrays must be on the page.
Prints how much of each NumPy has is there.
"""
import re
import types

import numpy as np

from name_page import check

NAME = r"\b(np(?:\.\w+)+|a[.:]\w+)"
LUA = """
local np = require "array"
local a = np.arange(3)
for line in io.lines(arg[1]) do
  local owner, name = line:match("^(.*)[.:](%w[%w_]*)$")
  local place = owner == "a" and a or np
  for part in owner:gsub("^np%.?", ""):gmatch("[%w_]+") do
    if owner ~= "a" then place = place and place[part] end
  end
  local ok, found = pcall(function() return place[name] ~= nil end)
  print(line, ok and found and "yes" or "no")
end
"""


def functions(module, prefix):
    names = []
    for name in dir(module):
        thing = getattr(module, name)
        if not name.startswith("_") and callable(thing) and not isinstance(thing, (types.ModuleType, type)):
            names.append(prefix + name)
    return names


def groups():
    return {"numpy": functions(np, "np."), "numpy.linalg": functions(np.linalg, "np.linalg."),
            "numpy.fft": functions(np.fft, "np.fft."), "numpy.random": functions(np.random, "np.random."),
            "ndarray": ["a." + n for n in dir(np.ndarray) if not n.startswith("_")]}


def mentions(otherwise):
    return {n.replace(":", ".") for n in re.findall(NAME, otherwise)} | {"np." + n for n in re.findall(r"`(\w+)`", otherwise)}


check("docs/numpy.md", NAME, LUA, groups, mentions)
