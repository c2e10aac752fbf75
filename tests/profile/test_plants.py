#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
# Contention planted on purpose, on both engines: the first row of a report names the culprit.
#   test_plants.py own|torch [unittest's arguments]
import json
import os
import sys
import tempfile
import unittest

import skipping
import torches
from commands import TAPEDECK, run
from plants import ADDED, GREEDY, HEAD, HELD, RUNNING, SLOW_S, UNBALANCED

KIND = sys.argv.pop(1) if len(sys.argv) > 1 and sys.argv[1] in ("own", "torch") else "own"

HOOK = HEAD + """
def slow_hook(grad):
    time.sleep(SLOW_S)
x = torch.ones(2, requires_grad=True)
for _ in range(3):
    y = x * 2
    y.register_hook(lambda grad: None)
    z = y.exp()
    z.register_hook(slow_hook)
    z.sum().backward()
"""
CALLBACK = HEAD + """
engine = torch.autograd.Variable._execution_engine
class Queue(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1
    @staticmethod
    def backward(ctx, grad):
        engine.queue_callback(lambda: time.sleep(SLOW_S))
        return grad
for _ in range(3):
    Queue.apply(torch.ones(2, requires_grad=True)).sum().backward()
"""
LINE = HEAD + """
x = torch.ones(2, requires_grad=True)
slow, quick = slow_function(SLOW_S), slow_function(0.001, "Quick")
for _ in range(3):
    y = quick(x)
    z = slow(y)  # here
    quick(z).sum().backward()
"""
# A node launches eight slow kernels on a stream of its own, and goes on. The next one waits for them.
KERNELS = HEAD + """
side = torch.Stream("sim:0")
def launch(grad):
    side.wait_stream(torch.accelerator.current_stream())
    with side:
        for _ in range(8):
            grad = grad * 1
    torch.accelerator.current_stream().wait_stream(side)
    return grad
class Slow(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1
    @staticmethod
    def backward(ctx, grad):
        return launch(grad)
x = torch.ones(2, requires_grad=True)
for _ in range(3):
    Slow.apply(x.to("sim:0")).sum().to("cpu").backward()
"""
# Each thread has passes of its own, and one of them has the slow layer.
THREAD = HEAD + """
def work(start):
    slow = slow_function(SLOW_S if threading.current_thread().name == "second" else 0.001)
    for _ in range(3):
        y = slow(torch.ones(2, requires_grad=True)).sum()
        start.wait()
        y.backward()
together(work)
"""


def ranks(program):
    """A script of two ranks that run this program."""
    return """
import os, subprocess, sys
RANK = '''
import os, sys, time, torch
import torch.distributed as distributed
from torch.nn.parallel import DistributedDataParallel
torch.set_num_threads(1)
rank = int(os.environ["RANK"])
distributed.init_process_group("gloo", init_method="file://" + sys.argv[1], rank=rank, world_size=2)
PROGRAM
os._exit(0)
'''
program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rank.py")
open(program, "w").write(RANK)
store = program + str(os.getpid())
ranks = [subprocess.Popen([sys.executable, program, store], env=dict(os.environ, RANK=str(i))) for i in (0, 1)]
sys.exit(max(rank.wait() for rank in ranks))
""".replace("PROGRAM", program)


# One rank begins each backward pass when the other one is in it, and late. So that one waits where gradients are reduced.
LATE = ranks("""
model = DistributedDataParallel(torch.nn.Linear(8, 8))
for i in range(4):
    begun, loss = f"{sys.argv[1]}.{i}", model(torch.ones(4, 8)).sum()
    if rank == 0:
        loss.register_hook(lambda grad: open(begun, "w").close())
    else:
        while not os.path.exists(begun):
            time.sleep(0.001)
        time.sleep(0.1)
    loss.backward()
""")
# Both begin at the same time, and one of them has a slow node. DDP reduces the gradients, or a hook of the program does.
SLOW_NODE = """
class Slow(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1
    @staticmethod
    def backward(ctx, grad):
        time.sleep(0.1 * rank)
        return grad * 1
"""
SLOW_RANK = ranks(SLOW_NODE + """
model = DistributedDataParallel(torch.nn.Linear(8, 8))
for i in range(4):
    loss = Slow.apply(model(torch.ones(4, 8))).sum()
    distributed.barrier()
    loss.backward()
""")
REDUCED = ranks(SLOW_NODE + """
x = torch.ones(8, requires_grad=True)
for i in range(4):
    y = x * 2
    y.register_hook(lambda grad: distributed.all_reduce(grad))
    loss = Slow.apply(y).sum()
    distributed.barrier()
    loss.backward()
""")


class Plants(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tape, self.script = (os.path.join(folder.name, name) for name in ("a.tape", "p.py"))

    def tapes(self, text, *options):
        """Runs a program on the engine, or on the PyTorchs of the test: the name of what ran it, after each run."""
        with open(self.script, "w") as file:
            file.write(text)
        if KIND == "own":
            run(TAPEDECK, "run", "-o", self.tape, *options, self.script)
            yield KIND
        for version, python in torches.each_of_test(self) if KIND == "torch" else ():
            run(TAPEDECK, "record", "--force", *options, "-o", self.tape, "--", python, self.script)
            yield version

    def told(self, *options):
        return json.loads(run(TAPEDECK, "report", self.tape, "--json", *options))

    def blame(self, kind, least):
        """Of the lock that threads waited for longest: its row, and the longest wait's."""
        first = self.told("--contention")["locks"][0]
        self.assertEqual(first["kind"], kind)
        self.assertGreater(first["waits"]["sum"], least)
        self.assertNotEqual(first["blames"][0]["waiter"], first["blames"][0]["holder"])
        self.assertIn("every rule holds", run(TAPEDECK, "check", self.tape))
        return first, first["blames"][0]

    def culprit(self, *parts):
        """What cost the most: the first row of those that threads waited for, or of some parts. On a busy machine,
        ranks wait for processors too."""
        told = self.told("--idle")["culprits"]
        self.assertEqual(told, sorted(told, key=lambda row: -row["ns"]))
        told = [row for row in told if not parts or row["part"] in parts]
        return told[0]["part"], told[0]["who"], told[0]["ns"]

    def idle(self, device="cpu"):
        told = self.told("--idle")
        thread, = (thread for thread in told["threads"] if thread["device"] == device)
        return {part: (ns or 0) / told["wall"] for part, ns in thread["parts"].items()}, thread

    def test_gil_of_a_stranger(self):
        """The holder never came into the engine, and has its name all the same."""
        for _ in self.tapes(GREEDY):
            first, blame = self.blame("gil", 10e6)
            self.assertEqual((first["lock"], blame["waiter"], blame["holder"]), ("GIL", "0 main", "1 greedy"))
            self.assertGreater(self.idle()[0]["gil"], 0.05)
            self.assertEqual(self.culprit()[:2], ("gil", "1 greedy"))
            text = run(TAPEDECK, "report", self.tape, "--contention")
            self.assertRegex(text, r"thread 0 main waited \d+ times, [\d.]+ m?s; thread 1 greedy held it")
            self.assertIn("began to wait for Python's GIL", run(TAPEDECK, "events", self.tape))
            rows = self.told("--by", "lock")["rows"]
            self.assertEqual(rows[0]["key"], "GIL")

    def test_gil_of_a_node(self):
        for _ in self.tapes(RUNNING):
            first, blame = self.blame("gil", 1e6)
            self.assertEqual([name.split()[1] for name in (blame["waiter"], blame["holder"])], ["second", "first"])
            nodes = {blame["node"] for blame in first["blames"] if (blame["holder"] or "").endswith("first")} - {None}
            self.assertTrue(any(node.startswith("ComputeBackward") for node in nodes), first)
            part, who, _ = self.culprit()
            self.assertEqual((part, who.split()[1]), ("gil", "first"))

    def test_node(self):
        for _ in self.tapes(HELD if KIND == "own" else ADDED):
            _, blame = self.blame("node", 1e6)
            self.assertEqual({blame[who].split()[1] for who in ("waiter", "holder")}, {"first", "second"})
            self.assertTrue(blame["node"].startswith("AccumulateGrad"), blame)
            self.assertEqual(self.culprit()[0], "lock")

    def test_hook(self):
        for _ in self.tapes(HOOK):
            first = self.told("--by", "hook")["rows"][0]
            self.assertGreater(first["self"], 3 * 1e9 * SLOW_S)
            self.assertIn("slow_hook", first["key"])

    def test_callback(self):
        for _ in self.tapes(CALLBACK):
            shares, _ = self.idle()
            self.assertEqual(max(shares, key=shares.get), "callbacks")
            part, who, ns = self.culprit()
            self.assertEqual(part, "callbacks")
            self.assertIn("<lambda>", who)
            self.assertGreater(ns, 3 * 1e9 * SLOW_S)

    def test_line(self):
        number = 1 + LINE.splitlines().index("    z = slow(y)  # here")
        for _ in self.tapes(LINE, *(["--stacks"] if KIND == "torch" else [])):
            by = "line" if KIND == "torch" else "op"
            first = self.told("--by", by)["rows"][0]
            self.assertGreater(first["self"], 3 * 1e9 * SLOW_S)
            self.assertIn(f"p.py:{number}" if KIND == "torch" else "SlowBackward", first["key"])

    def test_thread(self):
        for _ in self.tapes(THREAD):
            first = self.told("--by", "thread")["rows"][0]
            self.assertEqual(first["key"].split()[1], "second")

    def reduced(self):
        """How long each rank waited for collective operations in its passes."""
        threads = self.told("--idle")["threads"]
        return {thread["thread"].split(" ", 1)[1]: thread["parts"]["collective"] for thread in threads}

    @unittest.skipIf(KIND == "own", "there are no ranks")
    def test_slow_rank(self):
        """The other rank waits in DDP's final callback, or in a hook, until the slow one has run its nodes."""
        for program in (SLOW_RANK, REDUCED):
            for version in self.tapes(program):
                waited = self.reduced()
                self.assertGreater(waited["rank 0 · main"], 4 * 0.08e9)
                self.assertLess(waited["rank 1 · main"], waited["rank 0 · main"] / 2)
                part, who, ns = self.culprit("collective", "late")
                self.assertEqual((part, who.split(" ", 1)[1]), ("collective", "rank 1 · main"))
                self.assertGreater(ns, 4 * 0.08e9)
                self.assertIn("rank 1 · main: still ran nodes", run(TAPEDECK, "report", self.tape, "--idle"))
                self.assertIn("every rule holds", run(TAPEDECK, "check", self.tape))
                begins = run(TAPEDECK, "events", self.tape, "--json", "--kind", "collective_begin").splitlines()
                begins = [begin for begin in map(json.loads, begins) if begin["graph_task"] is not None]  # others lie outside of passes
                self.assertEqual({begin["node"] is not None for begin in begins}, {program is REDUCED})
                if program is REDUCED and version != "1.13.1":  # whose gloo does not tell
                    self.assertEqual({begin["operation"] for begin in begins}, {"ALLREDUCE"})

    @unittest.skipIf(KIND == "own", "there are no ranks")
    def test_late_rank(self):
        """The rank that is on time waits for gradients in the final callback of DDP, which has a name."""
        for _ in self.tapes(LATE):
            waited = self.reduced()
            self.assertGreater(waited["rank 0 · main"], 3 * 0.08e9)
            self.assertLess(waited["rank 1 · main"], waited["rank 0 · main"] / 2)
            self.assertIn("called the final callback c10d::Reducer", run(TAPEDECK, "events", self.tape))
            part, who, ns = self.culprit("collective", "late")
            self.assertEqual((part, who.split(" ", 1)[1]), ("late", "rank 1 · main"))
            self.assertGreater(ns, 3 * 0.08e9)
            self.assertIn("rank 1 · main: late", run(TAPEDECK, "report", self.tape, "--idle"))
            first = self.told("--by", "rank")["rows"][0]
            self.assertRegex(first["key"], "rank [01]")

    @unittest.skipIf(KIND == "torch", "PyTorch has no device with streams here")
    def test_stream(self):
        """A thread waits for one stream, which waits for the other: there the path finds the kernels."""
        for _ in self.tapes(KERNELS, "--devices", "cpu,sim:1,latency=20ms"):
            part, who, ns = self.culprit()
            self.assertEqual((part, who), ("stream", "stream 0 of sim:0"))
            self.assertGreater(ns, 3 * 8 * 20e6)
            told = self.told("--critical")
            longest = max(told["parts"], key=lambda part: part["ns"])
            self.assertEqual((longest["stream"], longest["what"]), ("stream 1 of sim:0", "SlowBackward"))
            self.assertGreaterEqual(longest["ns"], 8 * 20e6)
            wait, = (part["stream_wait"] for part in told["parts"] if part["stream_wait"])
            self.assertEqual((wait["name"], wait["inside"]), ("stream 0 of sim:0", 0))
            self.assertIn("for stream 0 of sim:0, up to a kernel of", run(TAPEDECK, "report", self.tape, "--critical"))

    @unittest.skipIf(KIND == "torch", "PyTorch has no second device here")
    def test_device(self):
        for _ in self.tapes(UNBALANCED, "--devices", "cpu,sim:2"):
            _, thread = self.idle("sim:1")
            self.assertEqual(max(thread["waited_for"], key=thread["waited_for"].get), "sim:0")
            self.assertEqual(self.culprit()[:2], ("other_device", "sim:0"))
            first = self.told("--by", "thread")["rows"][0]
            self.assertEqual(first["key"].split()[1], "pt_autograd_0")


if __name__ == "__main__":
    if KIND == "torch":
        torches.need_compiler()
    skipping.main()
