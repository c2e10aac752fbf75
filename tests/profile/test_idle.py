#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
# `tapedeck report --idle`: beside a sweep over the events of a tape, beside `report --by thread`, and where devices are
# unbalanced on purpose.
import collections
import fractions
import json
import os
import tempfile
import unittest

import recorder_times
import skipping
import torches
from commands import MAKE_TAPE, TAPEDECK, run
from plants import SLEEPING, SLOW_S, UNBALANCED

LATE = """
import threading, time, torch
class Late(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1
    @staticmethod
    def backward(ctx, grad):
        came.set()
        return grad
started, came = threading.Event(), threading.Event()
class Starting(Late):
    @staticmethod
    def backward(ctx, grad):
        started.set()
        came.wait()
        return grad
def second():
    y = Late.apply(torch.ones(2, requires_grad=True)).sum()
    started.wait()
    time.sleep(0.05)
    y.backward()
thread = threading.Thread(target=second)
thread.start()
Starting.apply(torch.ones(2, requires_grad=True)).sum().backward()
thread.join()
"""
KERNELS = """
import torch
x = torch.ones(4, requires_grad=True)
for _ in range(3):
    (x.to("sim:0") * 2).exp().sum().to("cpu").backward()
"""
TRAINING = """
import torch
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))
for _ in range(5):
    model(torch.ones(32, 64)).sum().backward()
"""


WHILE_OTHERS_RUN = ("no_ready", "other_device")


class Thread:
    def __init__(self):
        self.device, self.passes, self.begun, self.hooks, self.callbacks = None, 0, [], 0, 0
        self.piece, self.fresh = [], collections.Counter()  # since its last event; since it was last told of waits for a core
        self.asleep = self.waits = self.serves = self.ended = False
        self.away = 0  # in no pass, since passes are under way
        self.parts, self.waited_for = collections.Counter(), collections.Counter()

    def serve(self, device):
        self.device = device
        self.serves |= device >= 0

    def part(self):
        if self.waits:
            return self.waits
        if self.begun or self.hooks:
            return "running"
        if self.callbacks:
            return "callbacks"
        return "engine" if self.passes or self.serves and not self.ended else "outside"

    def add(self, part, device, ns):
        self.parts[part] += ns
        self.fresh[part] += ns
        self.piece.append((part, device, ns))
        if device is not None:
            self.waited_for[device] += ns

    def lack_core(self, waited):
        """Each part since the thread's last event gives its share, in whole ns, but the time in no pass; what is left, parts
        before do."""
        pieces = [piece for piece in self.piece if piece[0] != "outside"]
        wall, busy = sum(ns for _, _, ns in pieces), sum(ns for part, _, ns in pieces if part in WHILE_OTHERS_RUN)
        taken = min(waited, wall)
        of_busy = taken * busy // wall if wall else 0
        for part, device, ns in pieces:
            cut = ns * (fractions.Fraction(of_busy, busy) if part in WHILE_OTHERS_RUN else
                        fractions.Fraction(taken - of_busy, wall - busy)) if ns else 0
            self.parts[part] -= cut
            self.fresh[part] -= cut
            if device is not None:
                self.waited_for[device] -= cut
        for part in ("running", "lock", "gil", "stream", "callbacks", "engine"):
            ns = min(waited - taken, self.fresh[part])
            self.parts[part] -= ns
            taken += ns
        self.parts["no_core"] += taken
        self.piece, self.fresh = [], collections.Counter()


class Sweep:
    """The state of all threads between any two events. For tapes of Tapedeck's engine without passes inside passes."""

    def __init__(self, tape):
        self.threads, self.names, self.owners, self.under_way, self.wall, now = {}, {}, {}, 0, 0, 0
        for e in map(json.loads, run(TAPEDECK, "events", tape, "--json").splitlines()):
            if e["event"] == "device_new":
                self.names[e["device"]] = e["name"]
            if e["event"] == "thread_new":
                self.threads.setdefault(e["id"], Thread()).serve(e["device"])
            if e["event"] == "graph_task_begin":
                self.owners[e["graph_task"]] = e["owner"]
            self.pass_by(e["t"] - now)
            now = e["t"]
            self.change(self.threads.setdefault(e["thread"], Thread()), e)

    def pass_by(self, ns):
        if not self.under_way or not ns:
            return
        self.wall += ns
        running = [thread.device for thread in self.threads.values() if not thread.asleep and thread.part() == "running"]
        for thread in self.threads.values():
            if not thread.asleep:
                thread.add(thread.part(), None, ns)
                thread.away += ns if thread.part() == "outside" else 0
                continue
            thread.add("waking", None, 0 if running else ns)
            for device in running:
                thread.add("no_ready" if device == thread.device else "other_device", device, fractions.Fraction(ns, len(running)))

    def change(self, thread, e):
        kind = e["event"]
        if kind == "core_wait":
            return self.under_way and thread.lack_core(e["waited"])
        thread.piece = []
        thread.asleep = kind == "thread_state" and e["state"] == "idle"
        thread.serves |= thread.asleep and not thread.passes
        if kind in ("graph_task_begin", "graph_task_end"):
            step = 1 if kind == "graph_task_begin" else -1
            owner = self.threads[self.owners[e["graph_task"]]]
            if step == 1 and not self.under_way:
                for each in self.threads.values():
                    each.away, each.piece, each.fresh = 0, [], collections.Counter()
            if step == 1 and not owner.passes and not owner.serves:
                owner.parts["late"] += owner.away
                owner.parts["outside"] -= owner.away
            owner.away = 0
            owner.passes += step
            self.under_way += step
        elif kind in ("lock_wait", "lock_acquired"):
            thread.waits = kind == "lock_wait" and ("gil" if e["lock"] == "gil" else "lock")
        elif kind in ("synchronize_begin", "synchronize_end"):
            thread.waits = kind == "synchronize_begin" and "stream"
        elif kind == "node_begin":
            thread.begun.append(e["node"])
        elif kind == "outstanding" and thread.begun:
            thread.begun.pop()
        elif kind in ("hook_begin", "hook_end"):
            thread.hooks += 1 if kind == "hook_begin" else -1
        elif kind in ("final_callback", "final_callback_end"):
            thread.callbacks += 1 if kind == "final_callback" else -1
        elif kind == "thread_end":
            thread.ended = True


class Idle(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tape, self.script = (os.path.join(folder.name, name) for name in ("a.tape", "p.py"))

    def write(self, text):
        with open(self.script, "w") as file:
            file.write(text)

    def told(self, *options):
        told = json.loads(run(TAPEDECK, "report", self.tape, "--idle", "--json", *options))
        settings = json.loads(run(TAPEDECK, "info", self.tape, "--json"))["settings"]
        looked = run(TAPEDECK, "events", self.tape, "--kind", "core_wait", "--json").strip()
        known = {"no_core": bool(looked), **{part: settings.get(setting) == "watched" for part, setting in
                                             (("stream", "streams"), ("gil", "gil"), ("collective", "collectives"))}}
        unknown = [part for part in ("stream", "gil", "no_core", "collective") if not known[part]]
        self.assertEqual(list(told["reasons"]), unknown)
        for thread in told["threads"]:
            parts = thread["parts"]
            self.assertEqual([part for part, ns in parts.items() if ns is None], unknown)
            self.assertEqual(sum(ns for ns in parts.values() if ns), told["wall"])
            self.assertAlmostEqual(sum(thread["waited_for"].values()), parts["no_ready"] + parts["other_device"],
                                   delta=len(thread["waited_for"]))
        return told

    def compare(self):
        told, sweep = self.told(), Sweep(self.tape)
        self.assertEqual(told["wall"], sweep.wall)
        seen = {number: thread for number, thread in sweep.threads.items()
                if any(ns for part, ns in thread.parts.items() if part not in ("late", "outside"))}
        self.assertEqual([int(thread["thread"].split()[0]) for thread in told["threads"]], sorted(seen))
        for thread in told["threads"]:
            wanted = seen[int(thread["thread"].split()[0])]
            for part, ns in thread["parts"].items():
                if part != "outside":
                    self.assertAlmostEqual(ns or 0, float(wanted.parts[part]), delta=1, msg=part)
            for device, ns in wanted.waited_for.items():
                self.assertAlmostEqual(thread["waited_for"].get(sweep.names[device], 0), float(ns), delta=1)
        return told

    def test_made(self):
        for seed, kind in ((1, ()), (2, ("train",)), (3, ())):
            run(MAKE_TAPE, "40", "4", "20", str(seed), self.tape, *kind)
            self.compare()
            os.unlink(self.tape)

    def test_devices(self):
        self.write(SLEEPING)
        run(TAPEDECK, "run", "--devices", "cpu,sim:4", "-o", self.tape, self.script, "30", "2", "1")
        told = self.compare()
        self.assertTrue(any(thread["parts"]["other_device"] for thread in told["threads"]))

    def test_unbalanced(self):
        """The thread of the idle device waits for the other one."""
        self.write(UNBALANCED)
        run(TAPEDECK, "run", "--devices", "cpu,sim:2", "-o", self.tape, self.script)
        told = self.compare()
        idle, = (thread for thread in told["threads"] if thread["device"] == "sim:1")
        self.assertGreater(idle["parts"]["other_device"], 3 * 1.5e9 * SLOW_S)
        self.assertEqual(max(idle["waited_for"], key=idle["waited_for"].get), "sim:0")

    def test_streams(self):
        """The calling thread waits for kernels of 20 ms. It runs no node meanwhile, so nobody waits for it."""
        self.write(KERNELS)
        run(TAPEDECK, "run", "--devices", "cpu,sim:1,latency=20ms", "-o", self.tape, self.script)
        told = self.compare()
        waited = {thread["device"]: thread["parts"]["stream"] for thread in told["threads"]}
        self.assertGreater(waited["sim:0"] + waited["cpu"], 3 * 15e6)
        first = told["culprits"][0]
        self.assertEqual((first["part"], first["who"]), ("stream", "stream 0 of sim:0"))
        without = sum(thread["parts"]["no_core"] or 0 for thread in told["threads"])
        self.assertGreaterEqual(first["ns"], sum(waited.values()))
        self.assertLessEqual(first["ns"], sum(waited.values()) + without)
        run(TAPEDECK, "run", "--force", "--devices", "cpu,sim:1,virtual", "-o", self.tape, self.script)
        self.assertIn("virtual time", self.told()["reasons"]["stream"])
        self.assertIn("–  stream: with virtual time no thread waits", run(TAPEDECK, "report", self.tape, "--idle"))

    def test_late(self):
        """A thread calls backward 50 ms after the other one, whose node waits for it."""
        self.write(LATE)
        run(TAPEDECK, "run", "-o", self.tape, self.script)
        told = self.compare()
        late = [thread["parts"]["late"] for thread in told["threads"]]
        self.assertEqual(len([ns for ns in late if ns > 40_000_000]), 1, late)
        self.assertIn("late: in no pass yet", run(TAPEDECK, "report", self.tape, "--idle"))

    def test_crowded(self):
        """Threads that share two cores, among them those that sleep until others have run nodes."""
        crowded = os.path.join(os.path.dirname(__file__), "cores_program.py")
        cores = ",".join(map(str, sorted(os.sched_getaffinity(0))[:2]))
        run("taskset", "--cpu-list", cores, TAPEDECK, "run", "-o", self.tape, crowded, "8", "2", "6", "120", self.script)
        self.check_lack()
        self.write(SLEEPING)
        run("taskset", "--cpu-list", cores.split(",")[0], TAPEDECK, "run", "--force", "--devices", "cpu,sim:4", "-o", self.tape,
            self.script, "30", "2", "1")
        self.compare()

    def check_lack(self):
        told = self.compare()
        if told["threads"][0]["parts"]["no_core"] is not None:  # the kernel keeps an account
            self.assertGreater(sum(thread["parts"]["no_core"] for thread in told["threads"]), 1e6)

    def test_one_pass(self):
        self.write(UNBALANCED)
        run(TAPEDECK, "run", "--devices", "cpu,sim:2", "-o", self.tape, self.script)
        whole, parts = self.told(), [self.told("--pass", str(number)) for number in range(3)]
        self.assertEqual(whole["wall"], sum(part["wall"] for part in parts))
        for i, thread in enumerate(whole["threads"]):
            for part, ns in thread["parts"].items():
                self.assertAlmostEqual(ns or 0, sum(one["threads"][i]["parts"][part] or 0 for one in parts), delta=3, msg=part)

    def test_torch(self):
        """With one thread, `report` and the wall time of its passes say the same."""
        torches.need_compiler()
        for version, python in torches.each_of_test(self):
            with self.subTest(version):
                self.write(TRAINING)
                run(TAPEDECK, "record", "--force", "-o", self.tape, "--", python, self.script)
                told = self.told()
                report = json.loads(run(TAPEDECK, "report", self.tape, "--by", "thread", "--json"))
                self.assertEqual(told["wall"], report["wall"])
                row, = report["rows"]
                thread, = told["threads"]
                busy = thread["parts"]["running"] + thread["parts"]["lock"] + thread["parts"]["gil"]
                took = recorder_times.in_nodes(TAPEDECK, self.tape)  # a row of its own in `report`
                without = thread["parts"]["no_core"] or 0
                self.assertGreaterEqual(busy + without, row["total"] + sum(took.values()))
                self.assertLessEqual(busy, row["total"] + report["wall_parts"]["recorder"] + 1)
                self.assertEqual(thread["parts"]["outside"], 0)

    def test_refused(self):
        """A tape without queues has no answer."""
        self.write(TRAINING)
        python = torches.pythons()[0]
        run(TAPEDECK, "record", "--level", "2", "-o", self.tape, "--", python, self.script)
        with self.assertRaisesRegex(Exception, "did not observe what entered"):
            run(TAPEDECK, "report", self.tape, "--idle")


if __name__ == "__main__":
    skipping.main()
