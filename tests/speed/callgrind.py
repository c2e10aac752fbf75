# SPDX-License-Identifier: LGPL-2.1-or-later
"""Instructions that a program executes, by function, as `valgrind --tool=callgrind` counts them."""
import collections
import os
import re
import subprocess

NAMES = {"fl": "file", "fi": "file", "fe": "file", "cfi": "file", "cfl": "file", "fn": "function", "cfn": "function",
         "ob": "object", "cob": "object"}
LINE = re.compile(r"(\w+)=\((\d+)\)(?: (.*))?$")
# What the compiler made of a function, and how deep it called itself.
SUFFIX = re.compile(r"('\d+|\.(isra|part|constprop|cold)(\.\d+)?)+$")


def counted(path, program):
    """{"engine/trace/tape.c td_tape_get": instructions of its own} of the functions of `program` in a file of callgrind.

    The libraries of the system choose code by the processor, so they do not count.
    """
    names, now, called, totals = collections.defaultdict(dict), {}, False, collections.Counter()
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in map(str.rstrip, file):
            found = LINE.match(line)
            if found and found[1] in NAMES:
                kind, number, name = found.groups()
                if name:
                    names[NAMES[kind]][number] = name
                if kind in ("fl", "fn", "ob"):
                    now[kind] = names[NAMES[kind]].get(number, "")
            elif line.startswith("calls="):
                called = True
            elif line and (line[0].isdigit() or line[0] in "+-*"):
                if not called and os.path.basename(now["ob"]) == os.path.basename(program):
                    totals[now["fl"].split("../")[-1] + " " + SUFFIX.sub("", now["fn"])] += int(line.split()[-1])
                called = False
    return totals


def count(program, arguments, within, output):
    """Of the functions of a program while `within` runs."""
    subprocess.run(["valgrind", "--quiet", "--tool=callgrind", "--toggle-collect=" + within,
                    "--callgrind-out-file=" + output, program, *arguments],
                   check=True, stdout=subprocess.DEVNULL, env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "LC_ALL": "C"})
    totals = counted(output, program)
    if not totals:
        raise ValueError(f"{within} did not run")
    return totals
