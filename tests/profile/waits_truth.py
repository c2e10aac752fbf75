#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a tape tells of waits, beside what the program saw: waits_program.py on 1 to 8 simulated devices.

  waits_truth.py [--devices N]... [KIND...]

Prints a row for each program. A node is ready when the last node that it waits for has returned, so the program knows how long
nodes waited for their thread, with the time that gradients took to come. Exits with 1 if times of functions are off by more than
1 %, or if more than 3 % of the passes is told by nothing."""
import argparse
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
KINDS = ("chain", "fan", "hub", "two callers", "re-entrant", "GIL", "spinning")
HEADS = ("program", "devices", "pass ms", "self ms", "tape off", "waits ms", "tape off", "other pass", "unattributed", "sums", "path")


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    if done.returncode:
        sys.exit(f"{words}: {done.stderr[-2000:]}")
    return done.stdout


def waited(log):
    """How long the nodes waited that other nodes of the program wait for, all together."""
    begins = {number: (begin, end) for number, begin, end in log["ran"]}
    return sum(max(0, begins[int(number)][0] - max(begins[feed][1] for feed in feeds)) for number, feeds in log["feeds"].items() if feeds)


def measure(kind, devices, folder):
    tape, log = os.path.join(folder, "a.tape"), os.path.join(folder, "log.json")
    run(TAPEDECK, "run", "--force", "--devices", f"cpu,sim:{devices}", "-o", tape, str(PROGRAM), kind, str(devices), log)
    with open(log) as file:
        log = json.load(file)
    told = json.loads(run(TAPEDECK, "report", tape, "--json"))
    contention = json.loads(run(TAPEDECK, "report", tape, "--contention", "--json"))
    critical = json.loads(run(TAPEDECK, "report", tape, "--critical", "--json"))
    database = os.path.join(folder, "a.sqlite")
    run(TAPEDECK, "export", tape, "--force", "--to", "sqlite", "-o", database)
    connection = sqlite3.connect(database)
    names = "SELECT node FROM nodes WHERE name LIKE 'Work%' OR name LIKE 'ToCopy%'"
    lay = connection.execute(f"SELECT sum(queue_wait_ns) FROM lives WHERE node IN ({names})").fetchone()[0] or 0
    connection.close()
    ran = sum(end - begin for _, begin, end in log["ran"])
    tape_ran = sum(row["self"] for row in told["rows"] if row["key"].startswith("Work"))
    wall, parts = told["wall"], told["wall_parts"]
    waits = waited(log)
    return {"wall": wall, "ran": ran, "off": tape_ran / ran - 1, "waits": waits, "waits_off": (lay - waits) / wall,
            "other": parts["lay_other_pass"] / wall, "rest": told["unattributed"] / wall, "sums": (contention["worked"] or 0) / wall,
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
                bad += abs(row["off"]) > 0.01 or row["rest"] > 0.03
                print(f"| {kind} | {devices} | {row['wall'] / 1e6:.1f} | {row['ran'] / 1e6:.1f} | {row['off']:+.2%} | {row['waits'] / 1e6:.1f} | "
                      f"{row['waits_off']:+.2%} | {row['other']:.1%} | {row['rest']:.2%} | {row['sums']:.1%} | {row['path']:.2f} |", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
