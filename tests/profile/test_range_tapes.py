#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
# Tables of ranges of time add up to those of the whole tape: test_ranges.c, on recorded tapes.
import os
import pathlib
import tempfile
import unittest

import skipping
import torches
from commands import TAPEDECK, run
from plants import HELD

RANGES = pathlib.Path(os.environ["BUILD_ROOT"]) / "tests" / "test_ranges"
# Threads that wait for the GIL, hooks, and passes that overlap.
THREADS = """
import threading, time, torch
w = torch.ones(64, 64, requires_grad=True)
class Slow(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, gradient):
        sum(range(20000))
        return gradient * 2
def work():
    for _ in range(10):
        x = w * 1.5
        x.register_hook(lambda gradient: time.sleep(0.0005))
        y = Slow.apply(x)
        for _ in range(10):
            y = y.sin() + y
        y.sum().backward()
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


class Ranges(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, text):
        script = self.folder / "p.py"
        script.write_text(text)
        return script

    def test_own(self):
        programs = {"digits": "digits", "deep_reentry": "deep_reentry", "two_devices": "two_devices", "held": self.write(HELD)}
        for name, program in programs.items():
            run(TAPEDECK, "run", "-o", self.folder / f"{name}.tape", program)
        crowded = pathlib.Path(__file__).with_name("cores_program.py")
        cores = ",".join(map(str, sorted(os.sched_getaffinity(0))[:2]))
        run("taskset", "--cpu-list", cores, TAPEDECK, "run", "-o", self.folder / "crowded.tape", crowded, "6", "2", "6", "120",
            self.folder / "log")
        run(RANGES, *sorted(self.folder.glob("*.tape")))

    def test_torch(self):
        torches.need_compiler()
        for version, python in torches.each():
            with self.subTest(version):
                tape = self.folder / f"{version}.tape"
                run(TAPEDECK, "record", "-o", tape, "--", python, self.write(THREADS))
                run(RANGES, tape)


if __name__ == "__main__":
    skipping.main()
