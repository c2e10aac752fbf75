#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
# Each step of `why --chain` is true, and leads on to the begin of the outermost pass. Small programs run on Tapedeck's own
# engine and on PyTorch. This test compares the steps with the events alone.
import json
import tempfile
import unittest

from commands import TAPEDECK, run
from why_programs import ENGINES, PROGRAMS, PROGRAMS_OF, record

SHOWN = 12  # pops of a program


class Books:
    """When each event of a task was, and which edges there are."""

    def __init__(self, events):
        self.events, self.at, self.edges, self.outermost = events, {}, set(), set()
        for event in events:
            kind = event["event"]
            self.at.setdefault((kind, event.get("node"), event.get("graph_task")), []).append(event["seq"])
            if kind == "edge_new":
                self.edges.add((event["from"], event["to"]))
            elif kind == "graph_task_begin" and event["depth"] == 0:
                self.outermost.add(event["seq"])

    def queue_of(self, seq):
        return self.events[seq]["queue"]

    def last_before(self, seq, kind, node, task):
        return max((at for at in self.at.get((kind, node, task), []) if at < seq), default=None)


class ChainTruth(unittest.TestCase):
    def assert_step(self, books, event, step, node, task):
        """A step that explains a node of a pass."""
        if step["link"] == "data":
            self.assertEqual((step["edge"]["from"], step["edge"]["to"]), (step["node"], node))
            self.assertIn((step["node"], node), books.edges)
            self.assertIsNotNone(books.last_before(step["seq"], "node_begin", step["node"], task))
        elif step["link"] == "queue":  # it was in the queue before, and has not left it yet
            self.assertEqual((event["event"], event["node"]), ("queue_pop", step["node"]))
            pushed = books.last_before(step["seq"], "queue_push", node, task)
            popped = books.last_before(step["seq"], "queue_pop", node, task)
            self.assertIsNotNone(pushed)
            self.assertTrue(popped is None or popped < pushed)
            self.assertEqual(books.queue_of(pushed), event["queue"])
        elif step["link"] == "call":
            self.assertEqual((event["event"], event["graph_task"]), ("graph_task_begin", task))
        elif step["link"] == "end":
            self.assertIn(step["seq"], books.outermost)

    def judge(self, program, python):
        with tempfile.TemporaryDirectory() as folder:
            tape = record(folder, program, python)
            events = [json.loads(line) for line in run(TAPEDECK, "events", tape, "--json").splitlines()]
            pops = [event for event in events if event["event"] == "queue_pop" and event["node"] is not None]
            ask = lambda pop: json.loads(run(TAPEDECK, "why", tape, "--at", str(pop["seq"]), "--chain", "--json"))
            chains = [ask(pop) for pop in pops[::-(-len(pops) // SHOWN)]]
        books = Books(events)
        for chain in chains:
            self.assertEqual(chain["end"], "pass")
            node, task, before = chain["steps"][0]["node"], chain["steps"][0]["graph_task"], chain["steps"][0]["seq"]
            for step in chain["steps"][1:]:
                self.assertLess(step["seq"], before, step)
                self.assert_step(books, events[step["seq"]], step, node, task)
                before = step["seq"]
                if step["link"] == "wait":
                    continue
                node, task = step["node"], events[step["seq"]].get("graph_task", task)
                if step["link"] == "call":  # the node runs in the outer pass
                    task = max((at[-1], key[2]) for key, at in books.at.items()
                               if key[:2] == ("node_begin", node) and at[-1] < before)[1]

    def test_truth(self):
        for engine, python in ENGINES.items():
            for program in PROGRAMS_OF.get(engine, PROGRAMS):
                with self.subTest(engine=engine, program=program):
                    self.judge(program, python)


if __name__ == "__main__":
    unittest.main()
