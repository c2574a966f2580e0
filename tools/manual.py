#!/usr/bin/python3
"""Writes the manual page: docs/lgt.1.in with the options that the program knows.

    tools/manual.py LGT docs/lgt.1.in >lgt.1
"""
import re
import subprocess
import sys

program, template = sys.argv[1:]
text = subprocess.run([program, "--help"], check=True, capture_output=True, text=True).stdout
version = re.match(r"lgt ([\w.]+)", text).group(1)
options = re.search(r"K, M, G or T\.\n\n(.*?)\n\nExamples:", text, re.S).group(1)
options = options.replace("\\", "\\e").replace("-", "\\-").replace("\n'", "\n\\&'").replace("\n.", "\n\\&.")
with open(template, encoding="utf-8") as file:
    print(file.read().replace("@VERSION@", version).replace("@OPTIONS@", options), end="")
