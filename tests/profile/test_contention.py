#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
# `tapedeck report --contention`: beside sums over `events --json`, and contention that is there on purpose.
import collections
import json
import os
import tempfile
import unittest

import skipping
import torches
from commands import MAKE_TAPE, TAPEDECK, run
from plants import ADDED, HELD, SLEEPING


def spread(values):
    values = sorted(values)
    def rank(percent):
        return values[(len(values) * percent + 99) // 100 - 1] if values else 0
    return {"n": len(values), "sum": sum(values), "p50": rank(50), "p95": rank(95), "max": values[-1] if values else 0}


class Sums:
    """What the events of a tape say, without the names."""

    def __init__(self, tape):
        self.waits, self.slept, self.lay = (collections.defaultdict(list) for _ in range(3))
        self.pushes, self.pops, self.wakes = (collections.Counter() for _ in range(3))
        self.held = collections.Counter()
        pushed, holder = {}, {}
        for line in run(TAPEDECK, "events", tape, "--json").splitlines():
            e = json.loads(line)
            kind, thread = e["event"], e["thread"]
            if kind == "lock_held":
                holder[thread] = e["holder"]
            elif kind == "lock_acquired":
                self.waits[e["lock"], None if e["lock"] == "graph_task" else e["object"]].append(e["waited"])
                self.held[thread, holder.pop(thread, None)] += e["waited"]
            elif kind in ("queue_push", "queue_wake"):
                self.pushes[e["queue"]] += 1
                pushed[e.get("node"), e["graph_task"]] = e["t"]
            elif kind == "queue_pop":
                self.pops[e["queue"]] += 1
                if e["waited"]:
                    self.slept[e["queue"]].append(e["waited"])
                    self.wakes[e["queue"]] += e["node"] is None
                if e["node"] is not None:
                    self.lay[e["queue"]].append(e["t"] - pushed[e["node"], e["graph_task"]])


class Contention(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tape, self.script = (os.path.join(folder.name, name) for name in ("a.tape", "p.py"))

    def write(self, text):
        with open(self.script, "w") as file:
            file.write(text)

    def told(self, *options):
        return json.loads(run(TAPEDECK, "report", self.tape, "--contention", "--json", *options))

    def compare(self):
        told, sums = self.told(), Sums(self.tape)
        self.assertEqual(sorted((lock["kind"], sorted(lock["waits"].items())) for lock in told["locks"]),
                         sorted((kind, sorted(spread(waits).items())) for (kind, _), waits in sums.waits.items()))
        for queue in told["queues"]:
            number = int(queue["queue"].split()[0])
            self.assertEqual((queue["pushes"], queue["pops"], queue["empty_wakes"]),
                             (sums.pushes[number], sums.pops[number], sums.wakes[number]))
            self.assertEqual(queue["lay"], spread(sums.lay[number]))
            self.assertEqual(queue["slept"], spread(sums.slept[number]))
        self.assertEqual(sum(queue["pops"] for queue in told["queues"]), sum(sums.pops.values()))
        held = collections.Counter()
        for lock in told["locks"]:
            self.assertEqual(sum(blame["sum"] for blame in lock["blames"]), lock["waits"]["sum"])
            self.assertEqual(lock["blames"], sorted(lock["blames"], key=lambda blame: -blame["sum"]))
            for blame in lock["blames"]:
                threads = (blame["waiter"], blame["holder"])
                held[tuple(name and int(name.split()[0]) for name in threads)] += blame["sum"]
        self.assertEqual(held, sums.held)
        self.assertEqual(told["locks"], sorted(told["locks"], key=lambda lock: (-lock["waits"]["sum"], lock["lock"])))
        return told

    def test_made(self):
        run(MAKE_TAPE, "60", "3", "40", "5", self.tape)
        told = self.compare()
        self.assertTrue(told["locks"])
        self.assertEqual(told["passes"], 40)

    def test_one_pass(self):
        """The passes of a tape that follow one another have the waits of all of it."""
        self.write(SLEEPING)
        run(TAPEDECK, "run", "--devices", "cpu,sim:4", "-o", self.tape, self.script, "30", "2", "1")
        whole = self.compare()
        passes = [e["graph_task"] for e in map(json.loads, run(TAPEDECK, "events", self.tape, "--json", "--kind",
                                                              "graph_task_begin").splitlines())]
        parts = [self.told("--pass", str(number)) for number in passes]
        for count in ("pushes", "pops"):
            self.assertGreaterEqual(sum(queue[count] for queue in whole["queues"]),
                                    sum(queue[count] for part in parts for queue in part["queues"]))
        self.assertEqual(sum(queue["lay"]["n"] for queue in whole["queues"]),
                         sum(queue["lay"]["n"] for part in parts for queue in part["queues"]))
        self.assertTrue(any(queue["slept"]["n"] for queue in whole["queues"]))

    def blame(self, told, kind, least):
        """The first row is the plant: this kind of lock, held and wanted by the two threads."""
        first = told["locks"][0]
        self.assertEqual(first["kind"], kind)
        self.assertGreater(first["waits"]["sum"], least)
        for blame in first["blames"]:
            self.assertNotEqual(blame["waiter"], blame["holder"])
            self.assertTrue(blame["holder"] and blame["node"].startswith("AccumulateGrad"), blame)
        return first

    def test_held(self):
        self.write(HELD)
        run(TAPEDECK, "run", "-o", self.tape, self.script)
        first = self.blame(self.compare(), "node", 5 * 15e6)
        self.assertEqual(first["waits"]["n"], 5)

    def test_added(self):
        torches.need_compiler()
        for version, python in torches.each():
            with self.subTest(version):
                self.write(ADDED)
                run(TAPEDECK, "record", "--force", "-o", self.tape, "--", python, self.script)
                first = self.blame(self.compare(), "node", 1e6)
                self.assertEqual({blame["holder"].split()[1] for blame in first["blames"]} - {"first", "second"}, set())
                self.assertIn("every rule holds", run(TAPEDECK, "check", self.tape))

    def test_words(self):
        self.write(HELD)
        run(TAPEDECK, "run", "-o", self.tape, self.script)
        text = run(TAPEDECK, "report", self.tape, "--contention")
        self.assertRegex(text, r"thread \d (first|second) waited \d times?, [\d.]+ ms; "
                               r"thread \d (first|second) held it in AccumulateGrad")


if __name__ == "__main__":
    skipping.main()
