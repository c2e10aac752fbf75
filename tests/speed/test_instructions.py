#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Instructions of eleven figures (tests/speed/work.c), beside the numbers in instructions.json. One that has grown by more than
5 % fails, and says which functions grew.

test_instructions.py [--write] [--spread N] [FIGURE...]: --write writes the numbers anew. --spread counts N times, and prints
how far the counts are apart.

Noise does not touch these numbers, but another compiler makes other code. So the test is skipped if the numbers are of
another compiler or kind of build, and where there is no valgrind.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import callgrind

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("BUILD_ROOT") or HERE.parents[1] / "build")
WORK = str(BUILD / "tests" / "speed_work")
NUMBERS = HERE / "instructions.json"
FIGURES = ("event", "node", "decode", "seek", "layout", "frame", "report", "check", "info", "open", "finish")
MOST_GROWTH = 0.05
FUNCTIONS_KEPT, FUNCTIONS_NAMED = 25, 5


def kind_of_build():
    """What the numbers are of: "gcc 12, x86_64, debugoptimized"."""
    rows = json.loads((BUILD / "meson-info" / "intro-buildoptions.json").read_text(encoding="utf-8"))
    options = {row["name"]: row["value"] for row in rows}
    compiler = subprocess.run([WORK, "compiler", "."], check=True, text=True, capture_output=True).stdout.strip()
    words = [compiler, os.uname().machine, options["buildtype"]]
    if options["b_sanitize"] != "none":
        words.append("sanitizers: " + options["b_sanitize"])
    for name, usual in (("b_lto", False), ("b_coverage", False), ("c_args", [])):
        if options[name] != usual:
            words.append(f"{name}={options[name]}")
    return ", ".join(words)


def skip(why):
    print(why)
    sys.exit(77)


def count(figure, folder):
    return callgrind.count(WORK, [figure, folder], "td_speed_counted", os.path.join(folder, figure + ".callgrind"))


def count_all(figures):
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(min(2, os.cpu_count())) as pool:
        subprocess.run([WORK, "tape", folder], check=True)
        return dict(zip(figures, pool.map(lambda figure: count(figure, folder), figures)))


def row_of(functions):
    total = sum(functions.values())
    return {"instructions": total, "functions": {name: n for name, n in functions.most_common(FUNCTIONS_KEPT) if n > total / 1000}}


def growths(before, now):
    """[(growth, function, before, now)], the most first. A function that is not kept had no more than the least that is."""
    least = min(before.values())
    rows = [(n - before.get(name, least), name, before.get(name, least), n) for name, n in now.items()]
    return sorted(rows, reverse=True)


def compare(figure, before, functions):
    """Prints how a figure changed. Returns whether it may be so."""
    total, was = sum(functions.values()), before["instructions"]
    growth = total / was - 1
    print(f"{figure:8} {was:12,} {total:12,} {growth:+8.2%}")
    if growth < -MOST_GROWTH:
        print(f"  {figure} got cheaper: keep that with tests/speed/test_instructions.py --write")
    if growth <= MOST_GROWTH:
        return True
    print(f"  {figure} GREW by more than {MOST_GROWTH:.0%}, and most of all:")
    for more, name, then, now in growths(before["functions"], functions)[:FUNCTIONS_NAMED]:
        if more > (total - was) / 20:
            print(f"  {more:+12,}  {name}: {then:,} before, {now:,} now")
    return False


def print_spread(figures, times):
    rounds = [count_all(figures) for _ in range(times)]
    for figure in figures:
        totals = [sum(one[figure].values()) for one in rounds]
        print(f"{figure:8} {min(totals):12,} to {max(totals):12,}: {max(totals) / min(totals) - 1:.5%} apart")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--spread", type=int)
    parser.add_argument("figures", nargs="*", default=FIGURES)
    wish = parser.parse_args()
    if not shutil.which("valgrind"):
        skip("there is no valgrind")
    if wish.spread:
        return print_spread(wish.figures, wish.spread)
    if wish.write:
        rows = {figure: row_of(functions) for figure, functions in count_all(FIGURES).items()}
        NUMBERS.write_text(json.dumps({"build": kind_of_build(), "figures": rows}, indent=1) + "\n", encoding="utf-8")
        return None
    known = json.loads(NUMBERS.read_text(encoding="utf-8"))
    if known["build"] != kind_of_build():
        skip(f"the numbers are of {known['build']}, and this is {kind_of_build()}")
    print(f"{'':8} {'before':>12} {'now':>12}")
    fine = [compare(figure, known["figures"][figure], functions) for figure, functions in count_all(wish.figures).items()]
    if not all(fine):
        print("If that is how it must be: tests/speed/test_instructions.py --write, and say why in the commit.")
    return 0 if all(fine) else 1


if __name__ == "__main__":
    sys.exit(main())
