"""What the pages of names have in common: docs/numpy.md and docs/scipy.md against lgt and the library they are about."""
import argparse
import os
import re
import subprocess
import sys
import warnings

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def exist(lgt, lua, names):
    """{name: whether lgt has it}, as the Lua chunk says of each line of the file arg[1]."""
    path = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"name_page_{os.getpid()}")
    try:
        with open(path, "w") as f:
            f.write("\n".join(names) + "\n")
        run = subprocess.run([lgt, "-e", "arg = {[1] = '" + path + "'} " + lua], capture_output=True, text=True)
    finally:
        os.remove(path)
    if run.returncode:
        sys.exit("FAIL: " + run.stderr)
    return dict(line.split() for line in run.stdout.splitlines())


def check(page, name, lua, groups, mentions=lambda otherwise: set()):
    """Every `name` (a pattern) under "What there is" must exist in lgt, none under "What there is not" may, and all
    that groups() gives, {group: names}, must be on the page, or among what mentions() finds in the section before
    "What there is".  Prints how much of each group is there, and ends the program."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--lgt", default=os.environ.get("LGT", "build/lgt"))
    lgt = os.path.abspath(parser.parse_args().lgt)
    with open(os.path.join(ROOT, page), encoding="utf-8") as f:
        titles_and_texts = re.split(r"^## (.*)$", f.read(), flags=re.M)[1:]
    titles, texts = titles_and_texts[::2], titles_and_texts[1::2]
    at = titles.index("What there is")
    there = sorted(set(re.findall(name, " ".join(re.findall(r"`([^`]+)`", texts[at])))))
    rows = texts[titles.index("What there is not, and why")].splitlines()
    absent = sorted({n for row in rows for n in re.findall(name, row.split("|")[1] if "|" in row else "")})
    found = exist(lgt, lua, there + absent)
    bad = [f"{n} is on the page, but not in lgt" for n in there if found[n] != "yes"]
    bad += [f"{n} exists, but the page says it does not" for n in absent if found[n] == "yes"]
    here = {n.replace(":", ".") for n in there}
    mentioned = here | {n.replace(":", ".") for n in absent} | mentions(texts[at - 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for group, names in groups().items():
            bad += [f"{n} is not on the page" for n in names if n not in mentioned]
            print(f"# {group}: {sum(n in here for n in names)} of {len(names)}")
    for why in bad:
        print(f"FAIL {why}")
    if not bad:
        print(f"ok {len(there)} names exist, {len(absent)} do not")
    sys.exit(1 if bad else 0)
