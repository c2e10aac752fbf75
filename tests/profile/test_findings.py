# SPDX-License-Identifier: LGPL-2.1-or-later
"""`tapedeck findings`: each example of a mistake is found, in Tapedeck's engine and in PyTorch, and nothing else is."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

import torches

TAPEDECK, EXAMPLES = os.environ["TAPEDECK"], os.environ["EXAMPLES"]

# What is found in each: the kind, the function of its node, and a part of what is said. On Tapedeck's engine alone: needs devices.
MISTAKES = {
    "sqrt_at_zero": ("nonfinite", "SqrtBackward0", "NaN was born"),
    "where_mask": ("nonfinite", "SqrtBackward0", "NaN was born"),
    "nan_from_sum": ("nonfinite", None, "NaN was born in the sum"),
    "silent_nan": ("nonfinite", None, "NaN came with the data"),
    "overwritten": ("version_conflict", "ExpBackward0", "needed a tensor at version 0, but found it at version 1"),
    "state_carried": ("second_backward", "TanhBackward0", "backward through the graph a second time"),
    "wrong_shape": ("wrong_shape", "WidenBackward", "expected shape compatible with [3]"),
    "detached_branch": ("no_gradient", None, "right.weight, right.bias had no gradient"),
    "losses_kept": ("graphs_kept", "MeanBackward0", "21 nodes of the graphs of 3 earlier passes are still there, from that of MeanBackward0"),
    "penalty_cycle": ("graphs_kept", None, "of 3 earlier passes"),
    "hooks_grow": ("hooks_grow", "AccumulateGrad", "clip (hooks_grow.py:9) was called 1 times"),
    "deep_reentry": ("deep_reentry", "CheckpointBackward", "40 deep"),
    "other_order": ("order_differs", "AccumulateGrad", "got its 2 gradients in another order"),
    "missing_wait": ("stream_conflict", None, "on stream 1"),
}
OWN_ALONE = {"other_order", "missing_wait"}
ALSO = {"overwritten": {"error"}}  # the engine's words about the same

# Programs that do nothing wrong, though some look like it.
RIGHT = {
    "sums": """
import torch
net = torch.nn.Linear(4, 2)
total = 0.0
for step in range(6):
    loss = net(torch.ones(3, 4)).sum()
    loss.backward()
    total += loss.item()
""",
    "kept_on_purpose": """
import torch
x = torch.ones(3, requires_grad=True)
y = (x * 2).sin()
for step in range(6):
    y.sum().backward(retain_graph=True)
""",
    "hooks_of_their_own": """
import torch
def double(g): return g * 2
w = torch.ones(3, requires_grad=True)
for step in range(6):
    y = w * 3
    for _ in range(2 + step % 2): y.register_hook(double)
    y.sum().backward()
""",
    "more_terms_each_time": """
import torch
w = torch.ones(3, requires_grad=True)
for step in range(6):
    sum((w * k for k in range(1, step + 2)), torch.zeros(3)).sum().backward()
""",
}


def run(*words, ok=(0,)):
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert done.returncode in ok, (words, done.returncode, done.stdout[-1000:], done.stderr[-2000:])
    return done.stdout


class Findings(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name

    def record(self, python, program):
        """`python` is None for Tapedeck's engine. An example has its name, and so its devices."""
        tape = os.path.join(self.folder, "one.tape")
        options = ["--anomaly", "nonfinite", "--force", "-o", tape]
        if python is None:
            run(TAPEDECK, "run", *options, program)
        else:
            script = program if os.path.exists(program) else os.path.join(EXAMPLES, program + ".py")
            run(TAPEDECK, "record", *options, "--", python, script)
        return tape

    def findings(self, tape, ok):
        return json.loads(run(TAPEDECK, "findings", tape, "--json", ok=(ok,)))["findings"]

    def pythons(self):
        return {"tapedeck": None, **torches.installed()}

    def test_mistakes(self):
        for name, (kind, function, words) in MISTAKES.items():
            for engine, python in self.pythons().items():
                if python and name in OWN_ALONE:
                    continue
                with self.subTest(name=name, engine=engine):
                    tape = self.record(python, name)
                    found = self.findings(tape, 1)
                    self.assertEqual({one["kind"] for one in found} - ALSO.get(name, set()), {kind}, found)
                    alike = [one for one in found if one["kind"] == kind and words in one["text"]]
                    self.assertEqual(len(alike), 1, found)
                    first = alike[0]
                    self.assertTrue(first["advice"], first)
                    if kind == "second_backward":
                        self.assertRegex(first["advice"], "Graph task 0 ran it before")
                    state = json.loads(run(TAPEDECK, "state", tape, "--at", str(first["seq"]), "--json"))
                    nodes = {node["id"]: node["name"] for node in state["nodes"]}
                    if function:
                        self.assertEqual(nodes[first["node"]], function)

    def test_nothing(self):
        """A program without a mistake has no finding, and neither does a part of a tape that is cut."""
        for name, program in RIGHT.items():
            script = os.path.join(self.folder, name + ".py")
            with open(script, "w") as file:
                file.write(program)
            for engine, python in self.pythons().items():
                with self.subTest(name=name, engine=engine):
                    self.assertEqual(self.findings(self.record(python, script), 0), [])

    def test_words(self):
        """People get the same, and how to see it."""
        tape = self.record(None, "hooks_grow")
        one, = self.findings(tape, 1)
        text = run(TAPEDECK, "findings", tape, ok=(1,))
        for words in (one["text"], one["advice"], f"event {one['seq']}", "A list of hooks grows", "1 finding", "tapedeck open"):
            self.assertIn(words, text)
        self.assertNotIn("did not look for NaN", text)
        run(TAPEDECK, "run", "--force", "-o", tape, "exp_sum")
        self.assertIn("did not look for NaN", run(TAPEDECK, "findings", tape))

    def test_limits(self):
        """What a tape cannot tell is said, and is no "nothing wrong"."""
        whole, part, trace = self.record(None, "exp_sum"), os.path.join(self.folder, "part.tape"), os.path.join(self.folder, "t.json")
        with open(whole, "rb") as file, open(part, "wb") as out:
            out.write(file.read()[:-700])
        told = json.loads(run(TAPEDECK, "findings", part, "--json"))
        self.assertIsNotNone(told["damage"])
        self.assertIn(f"The tape is damaged: {told['damage']}.\nWhat the tape lacks may have more.", run(TAPEDECK, "findings", part))
        self.assertEqual(json.loads(run(TAPEDECK, "findings", whole, "--json"))["damage"], None)
        with open(trace, "w") as file:
            json.dump({"traceEvents": [
                {"ph": "X", "name": "autograd::engine::evaluate_function: SumBackward0", "pid": 1, "tid": 1, "ts": 1, "dur": 5,
                 "cat": "cpu_op", "args": {"Sequence number": 1, "Fwd thread id": 1}},
                {"ph": "X", "name": "SumBackward0", "pid": 1, "tid": 1, "ts": 2, "dur": 2, "cat": "cpu_op",
                 "args": {"Sequence number": 1, "Fwd thread id": 1}}]}, file)
        run(TAPEDECK, "import", "--force", trace, "-o", part)
        unjudged = json.loads(run(TAPEDECK, "findings", part, "--json"))["unjudged"]
        self.assertLessEqual({"nonfinite", "graphs_kept", "hooks_grow", "order_differs", "version_conflict"}, set(unjudged))
        self.assertIn("Not judged, because nobody saw such events: ", run(TAPEDECK, "findings", part))

    def test_cut(self):
        """A tape in segments has the findings of the same tape in one piece."""
        tools = os.path.join(os.environ["BUILD_ROOT"], "tests")
        for name in ("losses_kept", "hooks_grow", "sqrt_at_zero", "other_order"):
            tape = self.record(None, name)
            whole = self.findings(tape, 1)
            run(os.path.join(tools, "cut_tape"), tape, "60")
            self.assertEqual(self.findings(tape, 1), whole)


if __name__ == "__main__":
    unittest.main()
