#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
# What exports tell of waits for locks, and of the system's numbers of threads.
import collections
import json
import os
import pathlib
import sqlite3
import tempfile
import unittest

import skipping
from commands import TAPEDECK, run

WAITS = str(pathlib.Path(__file__).parents[1] / "profile" / "waits_program.py")
THREADS = """
import threading, torch
def train():
    torch.ones(4, requires_grad=True).sum().backward()
threads = [threading.Thread(target=train, name=f"trainer {i}") for i in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
with open(LOG, "w") as file:
    file.write(" ".join(str(thread.native_id) for thread in threads))
"""


class Waits(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tape, self.script, self.log, self.trace, self.database = (
            os.path.join(folder.name, name) for name in ("a.tape", "p.py", "log", "a.json", "a.sqlite"))

    def export(self, *program):
        run(TAPEDECK, "run", "--devices", "cpu,sim:4", "-o", self.tape, *program)
        for kind, path in (("chrome", self.trace), ("sqlite", self.database)):
            run(TAPEDECK, "export", self.tape, "--to", kind, "-o", path)
        self.connection = sqlite3.connect(self.database)
        self.addCleanup(self.connection.close)

    def test_system_numbers(self):
        with open(self.script, "w") as file:
            file.write(f"LOG = {self.log!r}\n" + THREADS)
        self.export(self.script)
        with open(self.log) as file:
            wanted = {f"trainer {i}": int(tid) for i, tid in enumerate(file.read().split())}
        told = dict(self.connection.execute("SELECT name, tid FROM threads WHERE name LIKE 'trainer%'"))
        self.assertEqual(told, wanted)
        with open(self.trace) as file:
            events = json.load(file)["traceEvents"]
        named = {e["args"]["name"]: e["tid"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
        self.assertEqual({name: tid for name, tid in named.items() if name in wanted}, wanted)

    def test_holders(self):
        """The end of each wait for a lock says who had the lock, and its two parts are the wait."""
        self.export(WAITS, "lock-bound hub", "4", self.log)
        with open(self.trace) as file:
            events = json.load(file)["traceEvents"]
        open_slices, waits = collections.defaultdict(list), []
        for e in events:
            if e["ph"] == "B":
                open_slices[e["tid"]].append(e)
            elif e["ph"] == "E":
                begin = open_slices[e["tid"]].pop()
                self.assertEqual("args" in e, begin["cat"] == "lock")
                if "args" in e:
                    ns = round(1000 * (e["ts"] - begin["ts"]))
                    self.assertAlmostEqual(e["args"]["held_ns"] + e["args"]["late_ns"], ns, delta=5)
                    waits.append((ns, e["args"].get("holder")))
        rows = self.connection.execute("SELECT ns, holder FROM waits WHERE kind = 'lock'").fetchall()
        self.assertEqual(len(waits), len(rows))
        if not rows:
            raise skipping.Missing("a thread that waited for a lock")
        names = dict(self.connection.execute("SELECT thread, name FROM threads"))
        wanted = collections.Counter(None if holder is None else f"{holder} {names[holder]}".strip() for _, holder in rows)
        self.assertEqual(collections.Counter(holder for _, holder in waits), wanted)


if __name__ == "__main__":
    skipping.main()
