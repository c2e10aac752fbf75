#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
# Waits for a core, beside what the program itself reads of the kernel's account: threads that share two cores, and one thread.
import json
import os
import pathlib
import sqlite3
import tempfile
import unittest

import skipping
import torches
from commands import MAKE_TAPE, TAPEDECK, run

PROGRAM = pathlib.Path(__file__).with_name("cores_program.py")
ACCOUNT = pathlib.Path("/proc/self/task") / str(os.getpid()) / "schedstat"


class Cores(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tape, self.log, self.database = (os.path.join(folder.name, name) for name in ("a.tape", "log.json", "a.sqlite"))

    def record(self, python, *numbers, limit=1024):
        """What the program read, in ns. A thread shares two of the cores with others. `limit` of descriptors."""
        words = ("prlimit", f"--nofile={limit}:{limit}", "taskset", "--cpu-list", ",".join(map(str, sorted(os.sched_getaffinity(0))[:2])), TAPEDECK)
        words += ("record", "--force", "-o", self.tape, "--", python) if python else ("run", "--force", "-o", self.tape)
        run(*words, str(PROGRAM), *map(str, numbers), self.log)
        with open(self.log) as file:
            log = json.load(file)
        self.n_descriptors = log["descriptors"]
        return sum(log["waited"])

    def told(self, *options):
        return json.loads(run(TAPEDECK, "report", self.tape, "--json", *options))

    def check_spinning(self, seen):
        self.assertGreater(seen, 200e6)
        idle = self.told("--idle")
        without = sum(thread["parts"]["no_core"] for thread in idle["threads"])
        self.assertLess(abs(without / seen - 1), 0.1, (without, seen))
        self.assertNotIn("no_core", idle["reasons"])
        report = self.told()
        lives = sum(row["parts"]["no_core"] for row in report["rows"])
        self.assertLess(lives, 1.1 * seen)  # less: what a thread waits between nodes is no time of a node
        self.assertGreater(lives, 0.6 * seen)
        parts = report["wall_parts"]
        self.assertGreater(parts["no_core"], parts["functions"])
        self.assertAlmostEqual(sum(ns or 0 for ns in parts.values()) / report["wall"], 1, delta=0.01)
        text = run(TAPEDECK, "report", self.tape)
        self.assertRegex(text, "[0-9.]+ % waiting for a core")
        run(TAPEDECK, "export", self.tape, "--force", "--to", "sqlite", "-o", self.database)
        connection = sqlite3.connect(self.database)
        self.addCleanup(connection.close)
        self.assertEqual(connection.execute("SELECT sum(no_core_ns) FROM lives").fetchone()[0], lives)
        self.assertRegex(run(TAPEDECK, "events", self.tape, "--kind", "core_wait"), "had waited for a core for [0-9]+ ns of")

    def need_account(self):
        if not ACCOUNT.exists():
            raise skipping.Missing("the kernel's account of waits for cores")

    def test_pytorch(self):
        self.need_account()
        torches.need_compiler()
        for version, python in torches.each_of_test(self):
            with self.subTest(version):
                self.check_spinning(self.record(python, 8, 1, 24, 320))

    def test_own_engine(self):
        """A thread keeps its account open only where the program may have many files; else each look opens it anew."""
        self.need_account()
        self.check_spinning(self.record(None, 8, 1, 8, 160))
        many = self.n_descriptors
        self.check_spinning(self.record(None, 8, 1, 8, 160, limit=36))
        self.assertLessEqual(self.n_descriptors, many - 5)

    def test_alone(self):
        """One thread waits for a core only if the machine has other work: it is told what it read."""
        self.need_account()
        seen = self.record(None, 1, 10, 4, 160)
        idle = self.told("--idle")
        without = sum(thread["parts"]["no_core"] for thread in idle["threads"])
        self.assertLess(abs(without - seen), 0.02 * idle["wall"] + 100e3, (without, seen, idle["wall"]))

    def test_not_known(self):
        """A tape without such events does not say that nobody waited."""
        run(MAKE_TAPE, "40", "4", "20", "1", self.tape)
        idle = self.told("--idle")
        self.assertEqual({thread["parts"]["no_core"] for thread in idle["threads"]}, {None})
        self.assertIn("not observed", idle["reasons"]["no_core"])
        self.assertIsNone(self.told()["wall_parts"]["no_core"])
        self.assertIn("–  no core:", run(TAPEDECK, "report", self.tape))


if __name__ == "__main__":
    skipping.main()
