"""Lua scripts on ranks, for tests of what they send and what they hold."""
import atexit
import os
import shutil
import tempfile

from common import LGT, PATIENCE, run

folder = tempfile.mkdtemp(prefix="lgt-script-")
atexit.register(shutil.rmtree, folder, ignore_errors=True)

PRELUDE = """
local np, lgt = require "array", require "lgt"
local function sent(label, turns, f)
  lgt.flush()
  local before = lgt.stats()
  for turn = 1, turns do f(turn) end
  lgt.flush()
  local after = lgt.stats()
  print(label, (after.bytes_sent - before.bytes_sent) / turns, (after.messages_sent - before.messages_sent) / turns)
end
"""


def launch(text, ranks, domains=1, argument="", limit=PATIENCE, env=None, options=()):
    """Even tiny arrays are divided; all ranks print."""
    path = os.path.join(folder, "script.lua")
    with open(path, "w", encoding="utf-8") as file:
        file.write(PRELUDE + text)
    return run([LGT, "-n", str(ranks), "--domains", str(domains), "--cpus=1", "--min-tile=1", "--all-output", *options, path,
                argument], limit, env)


def measured(*script, **more):
    """{label: [numbers of each rank]} of lines "label number ..."; a text where it went wrong."""
    outcome = launch(*script, **more)
    ranks = script[1]
    if outcome.status or outcome.err:
        return str(outcome)
    found = {}
    for line in outcome.out.splitlines():
        words = line.split() if ranks > 1 else ["[0]", *line.split()]
        rank = int(words[0].strip("[]"))
        found.setdefault(words[1], [None] * ranks)[rank] = tuple(float(word) for word in words[2:])
    return found
