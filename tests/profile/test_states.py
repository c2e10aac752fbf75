#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
# What threads say that they do, on tapes of both engines.
import json
import os
import tempfile
import unittest

import skipping
import torches
from commands import TAPEDECK, run

REENTRANT = """
import torch
class Inner(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        with torch.enable_grad():
            y = torch.ones(2, requires_grad=True)
            (y * y).sum().backward()
        return g * 2
x = torch.ones(2, requires_grad=True)
for _ in range(2):
    Inner.apply(Inner.apply(x) * 3).sum().backward()
"""


class States(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tape, self.script = (os.path.join(folder.name, name) for name in ("a.tape", "p.py"))

    def recordings(self, script):
        """Runs a program on each engine, and gives the events."""
        with open(self.script, "w") as file:
            file.write(script)
        engines = {"own": ["run"]} | {version: ["record", "--force"] for version in torches.observed()}
        for engine, command in engines.items():
            program = [self.script] if engine == "own" else ["--", torches.installed()[engine], self.script]
            with self.subTest(engine):
                run(TAPEDECK, *command, "-o", self.tape, *program)
                lines = run(TAPEDECK, "events", self.tape, "--json").splitlines()
                yield [json.loads(line) for line in lines]

    def test_reentrant(self):
        """Between the pass inside a node and the node's end, the thread works for the outer pass."""
        for events in self.recordings(REENTRANT):
            state, inside, n_left = {}, {}, 0
            for e in events:
                thread = e["thread"]
                if e["event"] == "thread_state":
                    state[thread] = e["state"], e["graph_task"]
                elif e["event"] == "reentrant_leave":
                    inside[thread] = e["node"], e["outer"]
                    n_left += 1
                elif e["event"] == "node_end" and thread in inside:
                    node, outer = inside.pop(thread)
                    self.assertEqual((e["node"], *state[thread]), (node, "processing", outer))
            self.assertEqual((n_left, inside), (4, {}))


if __name__ == "__main__":
    skipping.main()
