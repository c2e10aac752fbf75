#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Which lines does no test run? Builds with gcc's counters in build-coverage, runs tests, and lists what was never executed.

    tests/coverage.py [--list N] [--no-run] [ARGUMENT OF MESON TEST...]

Without arguments it runs the suites quick, replay, engine and cli; with names, those tests alone, and builds no more than they need. Prints each
folder's share, then the largest clusters of lines: those that stand together, but for lines without code. Counts add up from run to run, until
the folder is removed. Needs gcovr. A process that is killed counts nothing."""
import argparse
import collections
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build-coverage"
FOLDERS = ["engine/events", "engine/trace", "engine/replay", "engine/profile", "engine/probe", "ui/model"]
SUITES = [word for suite in ("quick", "replay", "engine", "cli") for word in ("--suite", suite)]


def counted():
    """{file: {line: how often it ran}} of the folders."""
    wanted = [word for folder in FOLDERS for word in ("--filter", f"{ROOT}/{folder}/")]
    text = subprocess.run(["gcovr", "--root", ROOT, "--object-directory", BUILD, *wanted, "--json", "-", BUILD], check=True, capture_output=True, text=True).stdout
    return {file["file"]: {line["line_number"]: line["count"] for line in file["lines"] if not line.get("gcovr/noncode")}
            for file in json.loads(text)["files"]}


def clusters(lines):
    """[(first, last, how many)] of the lines that never ran, as long as none that ran is between them."""
    found, current = [], []
    for number in sorted(lines):
        if lines[number] == 0:
            current.append(number)
        elif current:
            found.append((current[0], current[-1], len(current)))
            current = []
    return found + ([(current[0], current[-1], len(current))] if current else [])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", type=int, default=40, metavar="N", help="how many clusters; 40 without it")
    parser.add_argument("--no-run", action="store_true", help="list what earlier runs have counted")
    wanted, tests = parser.parse_known_args()
    status = 0
    if not wanted.no_run:
        if not (BUILD / "build.ninja").exists():
            subprocess.run(["meson", "setup", BUILD, "-Db_coverage=true", "-Doptimization=0"], cwd=ROOT, check=True)
        status = subprocess.run(["meson", "test", "-C", BUILD, *(tests or SUITES)]).returncode
    files = counted()
    total = collections.defaultdict(lambda: [0, 0])
    for name, lines in files.items():
        folder = next(folder for folder in FOLDERS if name.startswith(folder + "/"))
        total[folder][0] += sum(count > 0 for count in lines.values())
        total[folder][1] += len(lines)
    for folder in FOLDERS:
        ran, every = total[folder]
        print(f"{folder}: {ran} of {every} lines ran" + (f", {100 * ran / every:.1f} %" if every else ""))
    largest = sorted(((n, name, first, last) for name, lines in files.items() for first, last, n in clusters(lines)), key=lambda row: (-row[0], row))
    print(f"\n{len(largest)} clusters, the largest first")
    for n, name, first, last in largest[:wanted.list]:
        print(f"{n:5} {name}:{first}-{last}")
    return status


if __name__ == "__main__":
    sys.exit(main())
