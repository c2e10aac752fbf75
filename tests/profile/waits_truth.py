#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a tape tells of waits, beside what the program saw: waits_program.py on 1 to 8 simulated devices.

  waits_truth.py [--devices N]... [KIND...]

Prints a row for each program: the functions by the program's clock, and how far the tape is off; shares of the passes that
waited behind another pass, that nothing explains, and that were long sums under a lock; the critical path beside the longest
pass. Exits with 1 if functions are off by more than 1 %, or if nothing explains more than 3 %. Where nodes want the GIL at the
same time, the program reads its clock only after it got the GIL: there the functions are not judged."""
import argparse
import contextlib
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TAPEDECK = os.environ.get("TAPEDECK", str(ROOT / "build" / "app" / "tapedeck"))
PROGRAM = ROOT / "tests" / "profile" / "waits_program.py"
WANT_GIL = ("hub", "GIL", "spinning")
KINDS = ("chain", "fan", "hub", "two callers", "re-entrant", "GIL", "spinning")
HEADS = ("program", "devices", "pass ms", "functions ms", "tape off", "other pass", "unattributed", "sums", "path")


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    if done.returncode:
        sys.exit(f"{words}: {done.stderr[-2000:]}")
    return done.stdout


def measure(kind, devices, folder):
    tape, log = os.path.join(folder, "a.tape"), os.path.join(folder, "log.json")
    run(TAPEDECK, "run", "--force", "--devices", f"cpu,sim:{devices}", "-o", tape, str(PROGRAM), kind, str(devices), log)
    with open(log) as file:
        ran = sum(end - begin for _, begin, end in json.load(file))
    told = json.loads(run(TAPEDECK, "report", tape, "--json"))
    contention = json.loads(run(TAPEDECK, "report", tape, "--contention", "--json"))
    critical = json.loads(run(TAPEDECK, "report", tape, "--critical", "--json"))
    database = os.path.join(folder, "a.sqlite")
    run(TAPEDECK, "export", tape, "--force", "--to", "sqlite", "-o", database)
    with contextlib.closing(sqlite3.connect(database)) as connection:
        tape_ran, = connection.execute("SELECT sum(ns) FROM slices WHERE kind = 'node' AND name LIKE 'Work%'").fetchone()
    wall = told["wall"]
    return {"wall": wall, "ran": ran, "off": tape_ran / ran - 1, "other": told["wall_parts"]["lay_other_pass"] / wall,
            "rest": told["unattributed"] / wall, "sums": (contention["worked"] or 0) / wall,
            "path": critical["critical_path"] / critical["wall"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--devices", type=int, action="append")
    parser.add_argument("kinds", nargs="*", metavar="KIND")
    options = parser.parse_args()
    bad = 0
    print("| " + " | ".join(HEADS) + " |")
    print("| --- " + "| ---: " * (len(HEADS) - 1) + "|")
    with tempfile.TemporaryDirectory() as folder:
        for kind in options.kinds or KINDS:
            for devices in options.devices or (1, 2, 4, 8):
                row = measure(kind, devices, folder)
                bad += (kind not in WANT_GIL and abs(row["off"]) > 0.01) or row["rest"] > 0.03
                print(f"| {kind} | {devices} | {row['wall'] / 1e6:.1f} | {row['ran'] / 1e6:.1f} | {row['off']:+.2%} | "
                      f"{row['other']:.1%} | {row['rest']:.2%} | {row['sums']:.1%} | {row['path']:.2f} |", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
