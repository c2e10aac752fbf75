#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a tape tells of waits, beside what the program saw: waits_program.py on 1 to 8 simulated devices.

  waits_truth.py [--devices N]... [--what-if] [KIND...]

Prints a row for each program: the functions by the program's clock, and how far the tape is off; shares of the passes that
waited behind another pass, that nothing explains, and that were long sums under a lock; the critical path beside the longest
pass. Exits with 1 if functions are off by more than 1 %, or if nothing explains more than 3 %. Where nodes want the GIL at the
same time, the program reads its clock only after it got the GIL: there the functions are not judged. Of the lock-bound hub
the critical path must be 0.9 of the pass. `--what-if` runs each program again with
functions that take half the time, and prints what `whatif --scale` says of that beside it."""
import argparse
import contextlib
import json
import os
import pathlib
import sqlite3
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TAPEDECK = os.environ.get("TAPEDECK", str(ROOT / "build" / "app" / "tapedeck"))
PROGRAM = ROOT / "tests" / "profile" / "waits_program.py"
WANT_GIL = ("hub", "lock-bound hub", "GIL", "spinning")
KINDS = ("chain", "fan", "hub", "lock-bound hub", "two callers", "re-entrant", "GIL", "spinning")
CHANGED = ("predicted", "actual", "points off")
HEADS = ("program", "devices", "pass ms", "functions ms", "tape off", "other pass", "unattributed", "sums", "path")


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    if done.returncode:
        sys.exit(f"{words}: {done.stderr[-2000:]}")
    return done.stdout


def wall_of(kind, devices, share, folder):
    tape, log = os.path.join(folder, "changed.tape"), os.path.join(folder, "log.json")
    run(TAPEDECK, "run", "--force", "--devices", f"cpu,sim:{devices}", "-o", tape, str(PROGRAM), kind, str(devices), log, str(share))
    return tape, json.loads(run(TAPEDECK, "report", tape, "--json"))["wall"]


def change(kind, devices, folder):
    """By how much the passes get shorter if functions take half the time: as predicted, and tried. Medians of three."""
    predicted, before, after = [], [], []
    for _ in range(3):
        tape, wall = wall_of(kind, devices, 1, folder)
        told = json.loads(run(TAPEDECK, "whatif", tape, "--policy", "engine", "--scale", "WorkBackward=0.5", "--json"))
        predicted.append(told["results"][0]["wall"] / told["replayed"] - 1)
        before.append(wall)
        after.append(wall_of(kind, devices, 0.5, folder)[1])
    return statistics.median(predicted), statistics.median(after) / statistics.median(before) - 1


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
    parser.add_argument("--what-if", action="store_true")
    options = parser.parse_args()
    bad = 0
    heads = HEADS + CHANGED if options.what_if else HEADS
    print("| " + " | ".join(heads) + " |")
    print("| --- " + "| ---: " * (len(heads) - 1) + "|")
    with tempfile.TemporaryDirectory() as folder:
        for kind in options.kinds or KINDS:
            for devices in options.devices or (1, 2, 4, 8):
                row = measure(kind, devices, folder)
                bad += (kind not in WANT_GIL and abs(row["off"]) > 0.01) or row["rest"] > 0.03
                bad += kind == "lock-bound hub" and row["path"] < 0.9
                changed = change(kind, devices, folder) if options.what_if else ()
                more = "".join(f" {share:+.1%} |" for share in changed)
                more += f" {100 * abs(changed[0] - changed[1]):.1f} |" if changed else ""
                print(f"| {kind} | {devices} | {row['wall'] / 1e6:.1f} | {row['ran'] / 1e6:.1f} | {row['off']:+.2%} | "
                      f"{row['other']:.1%} | {row['rest']:.2%} | {row['sums']:.1%} | {row['path']:.2f} |{more}", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
