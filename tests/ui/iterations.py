#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""iterations.py [NAME...]: makes five large tapes, and prints how long each action in the window keeps its main loop.

NAME is chain, hub, lstm, gpt or resnet152; without, all of them. The last two need a PyTorch, for its modules. A tape
that build/test-output/large has already is not made again."""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ.setdefault("PYTHONPATH", f"{ROOT}/tests/fixtures")
sys.path.insert(0, str(ROOT / "tests" / "fixtures"))

import display

display.ensure()

import torches

PROGRAMS = ROOT / "tests" / "fixtures" / "large"
TAPES = ROOT / "build" / "test-output" / "large"
TAPEDECK = os.environ.get("TAPEDECK", ROOT / "build" / "app" / "tapedeck")
RECORDED = {"chain": False, "hub": False, "lstm": False, "gpt": True, "resnet152": True}  # or made by `tapedeck run`


def make_tape(name):
    """The path of a tape, or None if there is no PyTorch for it."""
    tape, program = TAPES / f"{name}.tape", PROGRAMS / f"{name}.py"
    if tape.exists():
        return tape
    environment = dict(os.environ, PYTHONPATH=str(ROOT / "resources" / "examples"))
    if RECORDED[name]:
        python = torches.installed().get("2.13.0")
        command = [TAPEDECK, "record", "--stacks", "-o", tape, "--", python, program]
        if not python:
            return None
    else:
        command = [TAPEDECK, "run", "-o", tape, program]
    subprocess.run(list(map(str, command)), env=environment, check=True)
    return tape


def main():
    TAPES.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[1:] or RECORDED:
        tape = make_tape(name)
        if tape:
            subprocess.run([TAPEDECK, "bench", "--window", str(tape)], check=True)
        else:
            print(f"{name}: skipped, no PyTorch 2.13")


if __name__ == "__main__":
    main()
