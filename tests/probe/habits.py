#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What recording costs programs of different habits: each of habit_programs.py plain and recorded, one after the other.

  habits.py [--runs N] [--python PYTHON]... [NAME...]

Prints a table for each Python: is what came out the same, and processor time and memory recorded, beside plain, the least of N runs.
No part of the everyday run: it takes minutes, and its numbers are of this machine."""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "fixtures"))
import torches  # noqa: E402
from beside_plain import WAYS, recorder, run  # noqa: E402

PROGRAM = ROOT / "tests" / "probe" / "habit_programs.py"


def least(words, folder, runs):
    ends = [run(words, folder) for _ in range(runs)]
    outcomes = {(end.end, end.output) for end in ends}
    return outcomes.pop() if len(outcomes) == 1 else None, min(end.seconds for end in ends), min(end.megabytes for end in ends)


def cell(plain, recorded):
    if plain[0] is None or recorded[0] is None:
        outcome = "unsteady"
    else:
        outcome = "same" if recorded[0] == plain[0] else "DIFFERS"
    return f"{outcome} {recorded[1] / plain[1]:.2f} {recorded[2] / plain[2]:.2f}"


def table(python, names, runs):
    version = subprocess.check_output([python, "-c", "import torch; print(torch.__version__)"], text=True).strip()
    print(f"\nPyTorch {version}: what came out, processor time and memory, recorded beside plain\n")
    print("| program | plain | " + " | ".join(WAYS) + " |\n| --- |" + " --- |" * (1 + len(WAYS)), flush=True)
    differs = False
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            command = [python, str(PROGRAM), name]
            plain = least(command, folder, runs)
            cells = []
            for options in WAYS.values():
                cells.append(cell(plain, least(recorder(options, "t.tape") + command, folder, runs)))
            differs = differs or any("DIFFERS" in one for one in cells)
            print(f"| `{name}` | {plain[1]:.1f} s, {plain[2]:.0f} MB | " + " | ".join(cells) + " |", flush=True)
    return differs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--python", action="append")
    parser.add_argument("names", nargs="*")
    wanted = parser.parse_args()
    pythons = wanted.python or list(torches.installed().values())
    names = wanted.names or subprocess.check_output([pythons[0], str(PROGRAM)], text=True).split()
    return 1 if any([table(python, names, wanted.runs) for python in pythons]) else 0


if __name__ == "__main__":
    sys.exit(main())
