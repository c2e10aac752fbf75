#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs `./bootstrap test` again and again, each time on a clean clone of the last commit, and adds a row to tests/RUNS.md.

    tests/repo/whole_runs.py [--load] [--with-cuda] [--note WORDS] [N]
                                             N runs (1); --load keeps two cores busy meanwhile, with stress-ng;
                                             --with-cuda is an option of `./bootstrap test`; WORDS say what else
                                             was so, as "beside other work"
    tests/repo/whole_runs.py --add FILE WHERE    a row of out/tests.json that a run elsewhere left in its clone

Prints what the runs print. Stops at a run that fails, and leaves that clone for a look."""
import argparse
import contextlib
import datetime
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "tests" / "RUNS.md"
HEAD = """# Whole runs

Each row is one `./bootstrap test` on a clean clone with all packages installed. `tests/repo/whole_runs.py` writes the
rows; do not edit them. *Seconds* are of the clock. Under the names of suites stand the seconds of their tests, added
up; two tests run at a time. *Sanitizers* are builds, tests and fuzzers together. An *unsteady* test failed beside
others and passed alone.

"""
SUITES = ("engine", "replay", "ui", "cli", "python", "semantics", "torch", "window", "repo", "fuzz", "speed", "hidden")
COLUMNS = ("on", "commit", "where", "passed", "failed", "skipped", "unsteady", "seconds", "building", "fetching", "tests",
           "sanitizers", *SUITES)


def last_commit(folder):
    """Of a checkout, whoever owns it."""
    command = ["git", "-c", "safe.directory=*", "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def row_of(told, commit, where):
    phases, totals = told["phases"], told["totals"]
    named = [both.split(": ")[1] for both in told["unsteady"]]
    cells = {
        "on": str(datetime.date.today()), "commit": commit, "where": where, "unsteady": " ".join(named) or "-",
        "seconds": phases["all of it"], "building": phases.get("building the program", "-"),
        "fetching": phases.get("fetching what tests use", "-"), "tests": phases.get("tests", "-"),
        "sanitizers": sum(seconds for name, seconds in phases.items() if "sanitizer" in name or name == "fuzzing") or "-",
        **{outcome: totals.get(outcome, 0) for outcome in ("passed", "failed", "skipped")},
        **{suite: told["suites"].get("build " + suite, "-") for suite in SUITES},
    }
    return "| " + " | ".join(str(cells[column]) for column in COLUMNS) + " |\n"


def add(row):
    if not PAGE.exists():
        PAGE.write_text(HEAD + "| " + " | ".join(COLUMNS) + " |\n|" + " --- |" * 3 + " ---: |" * (len(COLUMNS) - 3) + "\n", encoding="utf-8")
    with PAGE.open("a", encoding="utf-8") as page:
        page.write(row)
    print(row, end="", flush=True)


@contextlib.contextmanager
def busy_cores(wanted):
    load = wanted and subprocess.Popen(["stress-ng", "--cpu", "2", "--quiet"])
    try:
        yield
    finally:
        if load:
            load.terminate()
            load.wait()


def run_once(load, options, note):
    """The row of one run, and whether it passed."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tapedeck-run-"))
    subprocess.run(["git", "clone", "-q", ROOT, folder / "tapedeck"], check=True)
    commit = last_commit(folder / "tapedeck")
    with busy_cores(load):
        done = subprocess.run(["./bootstrap", "test", *options], cwd=folder / "tapedeck", stdin=subprocess.DEVNULL)
    told = json.loads((folder / "tapedeck" / "out" / "tests.json").read_text(encoding="utf-8"))
    if done.returncode == 0:
        shutil.rmtree(folder)
    else:
        print(f"left for a look: {folder}", file=sys.stderr)
    where = ", ".join([f"{os.cpu_count()} cores", *(["busy"] if load else []), *options, *([note] if note else [])])
    return row_of(told, commit, where), done.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--load", action="store_true")
    parser.add_argument("--with-cuda", action="store_true")
    parser.add_argument("--note")
    parser.add_argument("--add", nargs=2, metavar=("FILE", "WHERE"))
    parser.add_argument("n", type=int, nargs="?", default=1)
    args = parser.parse_args()
    if args.add:
        path, where = args.add
        told = pathlib.Path(path)
        add(row_of(json.loads(told.read_text(encoding="utf-8")), last_commit(told.parent), where))
        return 0
    for _ in range(args.n):
        row, passed = run_once(args.load, ["--with-cuda"] if args.with_cuda else [], args.note)
        add(row)
        if not passed:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
