# SPDX-License-Identifier: LGPL-2.1-or-later
"""Holds every call to the structure of the house, as check_layers.py holds every #include: a folder calls what its row of the table
allows, and inside a layer units call each other one way only. Who calls whom is read off the objects of a build, with nm: a
function of another unit is an undefined symbol. Data counts too."""
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys

from check_layers import MAY_INCLUDE, circles_in, layer_of

SKIPPED = 77
# The derivative of an operation is made of operations. So formulas go back up, but through these two units alone: their own
# calls of operations do not count as a circle.
FORMULAS = {"engine/torch/ops/base/calc", "engine/torch/ops/base/gradient_sum"}


def objects_of(build):
    """{path of an object: path of its source below the root}, of the libraries and the extension module."""
    root = pathlib.Path(os.environ["SOURCE_ROOT"]).resolve()
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        source = (pathlib.Path(entry["directory"]) / entry["file"]).resolve()
        if source.suffix == ".c" and source.is_relative_to(root) and not source.is_relative_to(build.resolve()):
            name = source.relative_to(root).as_posix()
            path = build / entry["output"]
            if not name.startswith("tests/") and not entry["output"].startswith("tests/") and path.exists():
                found[path] = name
    return found


def symbols_of(paths):
    """{object: (symbols that it defines, symbols that it wants)}"""
    defined, wanted = collections.defaultdict(set), collections.defaultdict(set)
    for line in subprocess.check_output(["nm", "-A", "--no-sort", *map(str, paths)], text=True).splitlines():
        place, _, rest = line.partition(":")
        kind, name = rest.split()[-2:]
        if not name.startswith(("td_", "tdpy_")):
            continue  # of the C library, which the probe intercepts
        if kind in "TDBRVWC":
            defined[place].add(name)
        elif kind == "U":
            wanted[place].add(name)
    return {str(path): (defined[str(path)], wanted[str(path)]) for path in paths}


def calls_of(objects, symbols):
    """{(unit, unit): a symbol} of units that use each other."""
    home = collections.defaultdict(set)
    for path, source in objects.items():
        for name in symbols[str(path)][0]:
            home[name].add(source.rpartition(".")[0])
    calls = {}
    for path, source in objects.items():
        unit = source.rpartition(".")[0]
        for name in symbols[str(path)][1]:
            homes = home[name]
            if len(homes) == 1 and unit not in homes:
                calls[unit, next(iter(homes))] = name
    return calls


def forbidden(calls):
    """(unit, folder) of calls that no row of the table allows."""
    for unit, other in calls:
        here, there = layer_of(unit + ".c"), layer_of(other + ".c")
        if here != there and "*" not in MAY_INCLUDE[here] and there not in MAY_INCLUDE[here]:
            yield unit, there


def calls_into(calls, unit, folder):
    return ", ".join(sorted(name for (here, other), name in calls.items() if here == unit and layer_of(other + ".c") == folder))


def circles_of(calls):
    uses = collections.defaultdict(set)
    for unit, other in calls:
        if layer_of(unit + ".c") == layer_of(other + ".c") and unit not in FORMULAS:
            uses[unit].add(other)
            uses.setdefault(other, set())
    return circles_in(uses)


def check_the_check():
    objects = {"a.o": "engine/base/a.c", "b.o": "engine/base/b.c", "c.o": "engine/trace/c.c"}
    symbols = {"a.o": ({"td_a"}, {"td_b", "td_c"}), "b.o": ({"td_b"}, {"td_a"}), "c.o": ({"td_c"}, {"td_a"})}
    calls = calls_of(objects, symbols)
    assert circles_of(calls) == [["engine/base/a", "engine/base/b"]]
    assert list(forbidden(calls)) == [("engine/base/a", "engine/trace")]
    formula, view, split = "engine/torch/ops/base/calc", "engine/torch/ops/shape/view", "engine/torch/ops/shape/split"
    assert circles_of({(formula, view): "td_op_view", (view, formula): "td_calc_end"}) == []
    assert circles_of({(formula, view): "td_op_view", (view, split): "td_op_split", (split, view): "td_op_view"}) == [[split, view]]


def main():
    check_the_check()
    if not shutil.which("nm"):
        print("needs nm")
        return SKIPPED
    objects = objects_of(pathlib.Path(os.environ["BUILD_ROOT"]))
    assert objects, "no objects: the build is not made"
    calls = calls_of(objects, symbols_of(objects))
    circles = circles_of(calls)
    problems = [f"{unit}: {layer_of(unit + '.c')} may not call {folder} ({calls_into(calls, unit, folder)})"
                for unit, folder in sorted(set(forbidden(calls)))]
    problems += ["a circle of units that call each other: " + " ".join(circle) for circle in circles]
    print("\n".join(problems) or f"{len(calls)} arrows between units, and no circle")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
