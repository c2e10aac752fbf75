#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
# `tapedeck report --memory`: beside a sweep over the events of a tape that adds up all there is at each of them, and
# beside programs whose bytes are known by hand.
import collections
import json
import os
import tempfile
import unittest

import skipping
import torches
from commands import TAPEDECK, run
from reentrant import INNER

CUT_TAPE = os.path.join(os.environ["BUILD_ROOT"], "tests", "cut_tape")
GROUPS = ("saved", "kept", "buffers", "gradients")
KINDS = dict(zip(GROUPS, ("saved tensor", "kept tensor", "buffer", "gradient")))
OWN = ("move", "sparse", "steal", "copy")  # such a gradient has memory of its own

NET = """
import torch
net = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 8))
"""
# The input, the result of ReLU (which two nodes save), the second weight. No gradient of the input is wanted, so the
# first weight is not saved.
SAVED = 4 * (32 * 64 + 32 * 128 + 128 * 8)
FORWARD = NET + """
loss = net(torch.ones(32, 64)).sum()
"""
RETAIN = NET + """
loss = net(torch.ones(32, 64)).sum()
loss.backward(retain_graph=True)
loss.backward()
"""
# Of each step one loss is never used. All share the second weight.
REFERENCE = NET + """
losses = []
for _ in range(6):
    losses.append(net(torch.ones(4, 64)).sum())
    net(torch.ones(32, 64)).sum().backward()
"""
LONG = NET + """
lost = net(torch.ones(4, 64))
for _ in range(60):
    net(torch.ones(32, 64)).sum().backward()
"""
# Captured gradients, a retained graph, a pass inside a node, an error, leaves without names, several inputs.
MIXED = NET + """
""" + INNER + """\
class Broken(Inner):
    @staticmethod
    def backward(ctx, g):
        raise ValueError("on purpose")
for i in range(3):
    x = torch.ones(16, 64, requires_grad=True)
    h = net(x).exp()
    a, b = h.chunk(2, 1)
    loss = (Inner.apply(a) * b + a).sum()
    torch.autograd.grad(loss, [x, h], retain_graph=True)
    loss.backward(retain_graph=i == 1)
    try:
        Broken.apply(net(x)).sum().backward()
    except (ValueError, RuntimeError):
        pass
    if i: net.zero_grad()
"""
PROGRAMS = (FORWARD, RETAIN, REFERENCE, MIXED)


class Sweep:
    """All that is held after each event, added up anew."""

    def __init__(self, tape, only=None):
        events = [json.loads(line) for line in run(TAPEDECK, "events", tape, "--json").splitlines()]
        kinds = {e["event"] for e in events}
        self.labels = {e["node"]: e["label"] for e in events if e["event"] == "node_label"}
        self.expected = {(e["node"], e["input_nr"]): e["bytes"] for e in events if e["event"] == "input_metadata"}
        self.n_inputs = {e["node"]: e["n_inputs"] for e in events if e["event"] == "node_new"}
        self.inner = {e["graph_task"] for e in events if e["event"] == "reentrant_enter"}
        self.infers = "probe_level" in kinds and "release" not in kinds
        self.saved, self.shared, self.ran, self.keeping = [], {}, set(), set()
        self.buffers, self.captured, self.leaves = {}, [], {}
        self.levels, self.peak, self.retained, self.ends = [], None, None, []
        inside, by_step = only is None, "step" in kinds
        for e in events:
            inside |= e["event"] == "graph_task_begin" and e["graph_task"] == only
            self.take(e)
            now = self.level()
            if inside:
                self.levels.append((e["t"], now))
                if not self.peak or sum(now) > sum(self.peak[1]):
                    self.peak = (e["seq"], now, self.holders(GROUPS))
            ended = e["event"] == "graph_task_end" and e["graph_task"] not in self.inner
            if ended and only in (None, e["graph_task"]):
                if sum(now[:2]) > (sum(self.retained[1][:2]) if self.retained else 0):
                    self.retained = (e["graph_task"], now, self.holders(GROUPS[:2]))
            if inside and (e["event"] == "step" if by_step else ended):
                self.ends.append(now)
            inside &= not (ended and e["graph_task"] == only)
        if not sum(self.peak[1]):
            self.peak = None

    # What is held: (group, bytes, node, seq, how many more share it).
    def held(self):
        storages = collections.defaultdict(list)
        for node, counter, seq, n in self.saved:
            storages[counter].append((seq, node, n))
        for storage, tensors in storages.items():
            seq, node, n = tensors[0]
            yield ("kept" if seq in self.ran else "saved", self.shared[storage], node, seq, len(tensors) - 1)
        for (_, node), (n, seq) in self.buffers.items():
            yield "buffers", n, node, seq, 0
        for _, node, n, seq in self.captured:
            yield "gradients", n, node, seq, 0
        for node, n, seq in self.leaves.values():
            yield "gradients", n, node, seq, 0

    def level(self):
        sums = collections.Counter()
        for group, n, *_ in self.held():
            sums[group] += n
        return [sums[group] for group in GROUPS]

    def holders(self, groups):
        found = [item for item in self.held() if item[0] in groups]
        return [(KINDS[group], *rest) for group, *rest in sorted(found, key=lambda item: (-item[1], item[3]))[:10]]

    def let_go(self, node):
        self.saved = [item for item in self.saved if item[0] != node]
        counters = {counter for _, counter, *_ in self.saved}
        self.shared = {counter: n for counter, n in self.shared.items() if counter in counters}

    def gradient(self, e, input_nr):
        held = self.buffers.get((e["graph_task"], e["node"]))
        if held and self.n_inputs[e["node"]] <= 1:
            return held[0]
        return self.expected.get((e["node"], input_nr), 0)

    def take_out(self, e, n):
        key = e["graph_task"], e["node"]
        if key in self.buffers:
            held, seq = self.buffers[key]
            self.buffers[key] = max(held - n, 0), seq

    def take(self, e):
        kind, node, task, seq = e["event"], e.get("node"), e.get("graph_task"), e["seq"]
        if kind == "saved_tensor":
            self.saved.append((node, e["counter"], seq, e["bytes"]))
            self.shared[e["counter"]] = max(self.shared.get(e["counter"], 0), e["bytes"])
        elif kind == "release":
            self.let_go(node)
        elif kind == "node_free":
            self.let_go(node)
            if node not in self.labels:
                self.leaves.pop(node, None)
        elif kind == "graph_task_begin" and e["keep_graph"]:
            self.keeping.add(task)
        elif kind == "node_begin" and task in self.keeping:
            self.ran |= {at for owner, _, at, _ in self.saved if owner == node}
        elif kind == "node_end" and self.infers and task not in self.keeping:
            self.let_go(node)
        elif kind == "buffer_add" and e["mode"] in OWN:
            held, first = self.buffers.get((task, node), (0, seq))
            self.buffers[task, node] = held + e["bytes"], first
        elif kind == "capture":
            n = self.gradient(e, e["input_nr"])
            self.take_out(e, n)
            self.captured.append((task, node, n, seq))
        elif kind == "accumulate":
            key = self.labels.get(node, node)
            if e["mode"] in ("in_place", "undefined") and key in self.leaves:
                return
            n = self.gradient(e, 0)
            if e["mode"] == "steal":
                self.take_out(e, n)
            self.leaves[key] = node, n, seq
        if kind in ("node_end", "node_skip", "error"):
            self.buffers.pop((task, node), None)
        elif kind == "graph_task_end":
            self.captured = [item for item in self.captured if item[0] != task]
            self.buffers = {key: held for key, held in self.buffers.items() if key[0] != task}


def slope(ys):
    xs, n = range(1, len(ys) + 1), len(ys)
    spread = n * sum(x * x for x in xs) - sum(xs) ** 2
    return (n * sum(x * y for x, y in zip(xs, ys)) - sum(xs) * sum(ys)) / spread if spread else None


def level_of(row):
    return [row[group] or 0 for group in GROUPS]


class Memory(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tape, self.script = (os.path.join(folder.name, name) for name in ("a.tape", "p.py"))

    def record(self, program, *how):
        with open(self.script, "w") as file:
            file.write(program)
        how = how or (TAPEDECK, "run", "--force", "-o", self.tape)
        run(*how, self.script)

    def told(self, *options):
        return json.loads(run(TAPEDECK, "report", self.tape, "--memory", "--json", *options))

    def compare_moment(self, told, expected, place):
        self.assertEqual(told is None, expected is None)
        if not told:
            return
        self.assertEqual((told[place], level_of(told)), expected[:2])
        self.assertEqual(told["bytes"], sum(level_of(told)))
        self.assertEqual([(one["kind"], one["bytes"], one["node"], one["since"], one["sharing"]) for one in told["holders"]],
                         expected[2])

    def compare(self, *options, only=None):
        told, sweep = self.told(*options), Sweep(self.tape, only)
        self.compare_moment(told["peak"], sweep.peak, "seq")
        self.compare_moment(told["retained"], sweep.retained, "graph_task")
        steps = told["steps"]
        self.assertEqual((steps["n"], steps["per_row"]), (len(sweep.ends), 1))
        self.assertEqual([level_of(row) for row in steps["rows"]], sweep.ends)
        for i, group in enumerate(GROUPS):
            line = slope([end[i] for end in sweep.ends[1:]])
            if steps["growth"][group] is not None:
                self.assertAlmostEqual(steps["growth"][group], line, places=3)
            else:
                self.assertTrue(line is None or group in told["unknown"])
        self.compare_samples(told["samples"], sweep.levels)
        return told

    def compare_samples(self, told, levels):
        """Each interval tells the largest sum in it."""
        most, last = collections.Counter(), 0
        for t, level in levels:
            if sum(level) or most:
                at = (t - told["t"]) // told["interval"]
                for i in range(max(most, default=at), at + 1):
                    most[i] = max(most[i], last)
                most[at] = max(most[at], sum(level))
                last = sum(level)
        self.assertLessEqual(len(told["rows"]), 512)
        self.assertEqual([row["bytes"] for row in told["rows"]], [most[i] for i in range(len(most))])

    def test_sweep(self):
        for program in PROGRAMS:
            self.record(program)
            whole = self.compare()
            for row in whole["steps"]["rows"][:3]:
                self.compare("--pass", str(row["step"]), only=row["step"])
        for example in ("two_devices", "multi_root"):
            run(TAPEDECK, "run", "--force", "-o", self.tape, example)
            self.compare()

    def test_saved_bytes(self):
        """What a small network saves, computed by hand. A pass frees it."""
        self.record(FORWARD)
        peak = self.told()["peak"]
        self.assertEqual((peak["saved"], peak["kept"], peak["graph_task"]), (SAVED, 0, None))
        relu = peak["holders"][0]
        self.assertEqual((relu["bytes"], relu["sharing"]), (4 * 32 * 128, 1))
        self.assertIn("ReluBackward0", relu["name"])
        self.assertEqual((relu["shape"], relu["dtype"]), ("[32, 128]", "float32"))
        self.record(NET + "net(torch.ones(32, 64)).sum().backward()")
        self.assertIsNone(self.told()["retained"])
        self.assertIn("No saved tensor outlived", run(TAPEDECK, "report", self.tape, "--memory"))

    def test_retained(self):
        self.record(RETAIN)
        retained = self.told()["retained"]
        self.assertEqual((retained["graph_task"], retained["kept"], retained["saved"]), (0, SAVED, 0))
        self.assertEqual(sum(one["bytes"] for one in retained["holders"]), SAVED)
        self.assertEqual({one["kind"] for one in retained["holders"]}, {"kept tensor"})
        self.assertIsNone(self.told("--pass", "1")["retained"])

    def test_reference(self):
        """A loss that nobody uses keeps its graph: each step adds the same."""
        self.record(REFERENCE)
        told = self.told()
        one = 4 * (4 * 64 + 4 * 128)
        self.assertEqual((told["retained"]["graph_task"], told["retained"]["saved"], told["retained"]["kept"]),
                         (5, 6 * one + 4 * 128 * 8, 0))
        self.assertAlmostEqual(told["steps"]["growth"]["saved"], one)
        self.assertAlmostEqual(told["steps"]["growth"]["gradients"], 0)
        self.assertEqual(told["steps"]["growth"]["nodes"], 6)

    def test_segments(self):
        """A tape that is cut says the same."""
        self.record(LONG)
        whole = self.told()
        self.assertGreater(int(run(CUT_TAPE, self.tape, "100")), 3)
        self.assertEqual(self.told(), whole)

    def test_torch(self):
        torches.need_compiler()
        for version, python in torches.each_of_test(self):
            with self.subTest(version):
                self.record(MIXED, TAPEDECK, "record", "--force", "--stacks", "-o", self.tape, "--", python)
                told = self.compare()
                self.assertGreater(told["retained"]["kept"], SAVED)
                self.assertIn("p.py:", json.dumps(told["peak"]["holders"]))
                self.assertTrue(any(one["module"] for one in told["peak"]["holders"]))
                self.assertEqual(told["passes"], len(told["steps"]["rows"]))

    def test_unknown(self):
        """A dash and a reason stand for what a tape does not tell."""
        python = torches.pythons()[0]
        self.record(REFERENCE, TAPEDECK, "record", "--force", "--level", "2", "-o", self.tape, "--", python)
        told = self.told()
        self.assertEqual(told["unknown"].keys(), {"saved", "kept", "gradients"})
        self.assertIsNone(told["peak"]["saved"])
        self.assertGreater(told["peak"]["buffers"], 0)
        text = run(TAPEDECK, "report", self.tape, "--memory")
        self.assertIn("–  saved tensors: this tape has no events of saved tensors", text)

    def test_words(self):
        self.record(FORWARD)
        self.assertIn("no outermost pass 9", run(TAPEDECK, "report", self.tape, "--memory", "--pass", "9", ok=2))
        for words in (["--by", "op"], ["--csv"], ["--idle"]):
            self.assertIn("--memory", run(TAPEDECK, "report", self.tape, "--memory", *words, ok=2))


if __name__ == "__main__":
    skipping.main()
