#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
# `tapedeck report --critical`: its path beside that of a search through all chains, on small random graphs.
import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_whatif import MAKE_TAPE, SLEEPING, TAPEDECK, Tape, run

PARTS_MOST = 20


def critical(tape, *options):
    return json.loads(run(TAPEDECK, "report", tape, "--critical", "--json", *options))


class Chains:
    """Every chain of tasks, one by one."""

    def __init__(self, one):
        self.tasks, self.followers = one.tasks, {task: [] for task in one.tasks}
        by_node, last = {task.node: task for task in one.tasks}, {}
        for task in one.tasks:
            if task.thread in last:
                self.followers[last[task.thread]].append((task, last[task.thread].total))
            last[task.thread] = task
            self.followers[task] += [(by_node[to], offset) for to, offset, _ in task.sent if to in by_node]
        self.through = dict.fromkeys(self.tasks, 0)
        for task in one.tasks:
            self.follow([task], 0)
        self.length = max(self.through.values())

    def follow(self, chain, length):
        end = length + chain[-1].total
        for task in chain:
            self.through[task] = max(self.through[task], end)
        for task, way in self.followers[chain[-1]]:
            self.follow(chain + [task], length + way)


class Critical(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tape = os.path.join(folder.name, "made.tape")
        self.script = os.path.join(folder.name, "p.py")

    def test_all_chains(self):
        n_tried = 0
        for seed in range(100):
            run(MAKE_TAPE, str(5 + seed % 8), str(1 + seed % 3), "5", str(seed), self.tape)
            for (one,), _ in Tape(self.tape).groups:
                self.compare(one, critical(self.tape, "--pass", str(one.graph_task)))
                n_tried += 1
            os.unlink(self.tape)
        self.assertEqual(n_tried, 500)

    def compare(self, one, told):
        chains = Chains(one)
        self.assertEqual(told["critical_path"], chains.length)
        self.assertEqual(told["work"], sum(task.total for task in one.tasks))
        self.assertEqual((told["wall"], told["lead"], told["tail"]), (one.end - one.begin, one.lead, one.tail))
        self.assertEqual([(node["node"], node["slack"]) for node in told["nodes"]],
                         [(task.node, chains.length - chains.through[task]) for task in one.tasks])
        self.assertEqual(sum(part["ns"] for part in told["parts"]), told["critical_path"])
        self.assertEqual(sum(part["steps"] for part in told["parts"]), told["steps"])
        self.assertLessEqual(len(told["parts"]), PARTS_MOST)

    def test_few_parts(self):
        """However long the path, twenty parts tell it. The default is the longest pass."""
        with open(self.script, "w") as file:
            file.write(SLEEPING)
        run(TAPEDECK, "run", "--devices", "cpu,sim:4", "-o", self.tape, self.script, "4", "1")
        told = critical(self.tape)
        self.assertGreater(told["steps"], PARTS_MOST)
        self.assertEqual(len(told["parts"]), PARTS_MOST)
        self.assertEqual(sum(part["ns"] for part in told["parts"]), told["critical_path"])
        self.assertGreater(told["critical_path"], told["wall"] // 2)
        self.assertIn("WorkBackward", {part["what"] for part in told["parts"]})
        text = run(TAPEDECK, "report", self.tape, "--critical")
        self.assertEqual(len(text.splitlines()), 3 + PARTS_MOST + 1)

    def test_words(self):
        run(MAKE_TAPE, "20", "1", "3", "1", self.tape)
        self.assertIn("no outermost pass 99", run(TAPEDECK, "report", self.tape, "--critical", "--pass", "99", ok=2))
        for words in (["--by", "op"], ["--csv"], ["--sort", "n"], ["--skip-first", "1"]):
            self.assertIn("--critical", run(TAPEDECK, "report", self.tape, "--critical", *words, ok=2))


if __name__ == "__main__":
    unittest.main()
