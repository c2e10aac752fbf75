#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
# `tapedeck order`: on one device the prediction is what ran, in random programs on both engines. PyTorch's own predictor
# says the same. Where an order differs on purpose, the cause is the planted one.
#   test_order.py own|torch [unittest's arguments]
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest

import skipping
import torches

TAPEDECK = os.environ["TAPEDECK"]
TESTS = os.path.join(os.environ["SOURCE_ROOT"], "tests")
sys.path.insert(0, os.path.join(TESTS, "semantics"))
import fuzz_programs  # noqa: E402

KIND = sys.argv.pop(1) if len(sys.argv) > 1 and sys.argv[1] in ("own", "torch") else "own"
N_PROGRAMS = 80

# Two branches, on sim:0 and on sim:1, lead to functions of the CPU. The branch on sim:0 is the shorter one. Where it is
# the late one, the other waits until it says so, and it then waits until the other is over: a slow machine changes nothing.
BRANCHES = """
    import threading, time, torch
    class Work(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, do):
            ctx.do = do
            return x * 1
        @staticmethod
        def backward(ctx, g):
            if ctx.do: ctx.do()
            return g * 1, None
    def sleep(seconds=0.3):
        time.sleep(seconds)
    is_late, is_over, is_middle_over = threading.Event(), threading.Event(), threading.Event()
    def be_late(*_):
        is_late.set()
        is_over.wait()
    def branches(short, long, main=None, hook=None):
        a, b, m = (torch.ones(2, requires_grad=True) for _ in range(3))
        middle = Work.apply(Work.apply(m, is_middle_over.set).exp(), main)
        left = Work.apply(a.sin().to("sim:0"), short)
        if hook: left.register_hook(hook)
        right = Work.apply(Work.apply(b, is_over.set).cos().to("sim:1"), long)
        for _ in range(10): right = Work.apply(right, None)
        (left.to("cpu").sum() + right.to("cpu").sum() + middle.sum()).backward()
    """
PLANTS = {
    "timing": "branches(be_late, is_late.wait)",
    "hook": "branches(None, is_late.wait, hook=be_late)",
    "reentrant": """
        def inner():
            with torch.enable_grad():
                y = Work.apply(torch.ones(2, requires_grad=True, device="sim:0"), be_late)
                y.sum().backward()
        branches(inner, is_late.wait)
        """,
    "callers": """
        busy = threading.Event()
        def hold():
            busy.set()
            is_over.wait()
        def other():
            Work.apply(torch.ones(2, requires_grad=True, device="sim:0"), hold).sum().backward()
        thread = threading.Thread(target=other)
        thread.start()
        busy.wait()
        branches(None, is_middle_over.wait)
        thread.join()
        """,
    "number": """
        x = torch.ones(2, requires_grad=True)
        ys = [x * k for k in range(7)]
        ys[-1].register_hook(lambda g: ys[0].grad_fn._set_sequence_nr(1000))
        torch.stack(ys).sum().backward()
        """,
    # Both leaves are ready while the thread that owns their queue is busy.
    "tie": """
        a, b, m = (torch.ones(2, requires_grad=True) for _ in range(3))
        first, second = threading.Event(), threading.Event()
        middle = Work.apply(m, lambda: (second.wait(), sleep()))
        left = Work.apply(a.to("sim:0"), lambda: (first.wait(), sleep(), second.set()))
        right = Work.apply(b.to("sim:1"), first.set)
        for _ in range(9): right = Work.apply(right, None)
        (left.sum().to("cpu") + right.sum().to("cpu") + middle.sum()).backward()
        """,
}


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, (words, done.returncode, done.stderr[-2000:])
    return done.stdout


def order(tape, *options):
    return json.loads(run(TAPEDECK, "order", tape, "--json", *options))


def events(tape):
    return [json.loads(line) for line in run(TAPEDECK, "events", "--json", tape).splitlines()]


class Order(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.tape = os.path.join(self.folder.name, "t.tape")

    def write(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, "w") as file:
            file.write(textwrap.dedent(text))
        return path

    def record(self, *script, python=None, devices="cpu", level="1"):
        run(TAPEDECK, *(["record", "--force", "--level", level, "-o", self.tape, "--", python] if python else
                        ["run", "--force", "--devices", devices, "-o", self.tape]), *script)
        return self.tape

    def fuzz(self, seeds, make, **how):
        """The passes of random programs."""
        if how.get("python"):
            run(TAPEDECK, "fit", how["python"])  # a program must not wait for it: fuzz_run.py ends what hangs
        programs = [json.dumps({"number": seed, **make(seed)}) for seed in seeds]
        out = os.path.join(self.folder.name, "seen.jsonl")
        self.record(os.path.join(TESTS, "semantics", "fuzz_run.py"), out, self.write("p.jsonl", "\n".join(programs)), **how)
        return order(self.tape)

    def check_lists(self, told):
        """The actual order is that of the events, and the passes are as told."""
        outer, tasks, failed = {}, {}, set()
        for event in events(self.tape):
            kind, task = event["event"], event.get("graph_task")
            if kind == "graph_task_begin":
                outer[task], tasks[task] = task, []
            elif kind == "reentrant_enter":
                outer[task] = outer[event["outer"]]
                del tasks[task]
            elif kind == "error":
                failed.add(outer.get(task))
            elif kind == "queue_pop" and event["node"] is not None and outer.get(task) in tasks:
                if outer[task] not in failed:
                    tasks[outer[task]].append(event["node"])
        self.assertEqual({one["graph_task"]: one["actual"] for one in told["results"]}, tasks)
        self.assertEqual(told["passes"], len(tasks))

    def check_equal(self, told):
        for one in told["results"]:
            self.assertTrue(one["equal"], one)
            self.assertEqual(one["predicted"][:len(one["actual"])], one["actual"])


class Own(Order):
    def test_random_programs(self):
        told = self.fuzz(range(N_PROGRAMS), fuzz_programs.program)
        self.assertGreater(told["passes"], 2 * N_PROGRAMS)
        self.check_equal(told)
        self.check_lists(told)

    def test_threads(self):
        """The passes of threads share leaves, but no queue: each has the predicted order."""
        make = lambda seed: {**fuzz_programs.concurrent(seed), "switch_interval": 1e-4}
        programs = [seed for seed in range(200) if len(make(seed)["threads"]) == 2][:20]
        def on_cpu(seed):
            program = make(seed)
            program["threads"] = [[step for step in steps if step["do"] != "to"] for steps in program["threads"]]
            return program
        told = self.fuzz(programs, on_cpu)
        self.check_equal(told)
        self.check_lists(told)

    def test_schedulers(self):
        for example in ("aliasing_2017", "resnet18", "multi_root", "two_devices"):
            self.record(example, devices="cpu,sim:2")
            self.check_lists(order(self.tape))
        for scheduler in ("2017", "2017-fifo"):
            run(TAPEDECK, "run", "--force", "--scheduler", scheduler, "-o", self.tape, "mlp")
            self.check_equal(order(self.tape))

    def test_plants(self):
        for cause, plant in PLANTS.items():
            with self.subTest(cause):
                self.record(self.write("plant.py", textwrap.dedent(BRANCHES) + textwrap.dedent(plant)), devices="cpu,sim:2")
                told = order(self.tape)
                causes = [one["divergence"]["cause"] for one in told["results"] if not one["equal"]]
                self.assertEqual(causes, [cause], told)
                text = run(TAPEDECK, "order", self.tape)
                self.assertIn("left the predicted order at node", text)
                self.check_divergence(told)

    def check_divergence(self, told):
        by_seq = {event["seq"]: event for event in events(self.tape)}
        for one in told["results"]:
            if one["equal"]:
                continue
            what = one["divergence"]
            pop = by_seq[what["seq"]]
            self.assertEqual((pop["event"], pop["node"], pop["queue"], pop["thread"]),
                             ("queue_pop", what["actual"], what["queue"], what["thread"]))
            self.assertEqual(one["actual"][what["position"]], what["actual"])
            self.assertIn(what["predicted"], one["predicted"])
            self.assertRegex(what["text"], r"^\S.*\.$")
            self.assertNotIn("  ", what["text"])

    def test_a_number_changed_before(self):
        """Numbers count as they are when the pass begins, for each pass."""
        self.record(self.write("n.py", """
            import torch
            x = torch.ones(2, requires_grad=True)
            a, b = x.sin(), x.cos()
            y = (a + b).sum()
            y.backward(retain_graph=True)
            a.grad_fn._set_sequence_nr(100)
            y.backward()
            """))
        told = order(self.tape)
        self.check_equal(told)
        self.assertEqual(len({tuple(one["actual"]) for one in told["results"]}), 2)

    def test_words(self):
        self.record("mlp")
        text = run(TAPEDECK, "order", self.tape, "--pass", "1")
        self.assertIn("1 backward pass, 1 in the predicted order", text)
        self.assertEqual(len(order(self.tape, "--pass", "1")["results"]), 1)
        for words in (["--pass", "77"], ["--pass", "-2"]):
            done = subprocess.run([TAPEDECK, "order", self.tape, *words], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done)


class Torch(Order):
    def test_random_programs(self):
        torches.need_compiler()
        for python in torches.pythons():
            told = self.fuzz(range(N_PROGRAMS // 2), fuzz_programs.program, python=python)
            self.assertGreater(told["passes"], N_PROGRAMS)
            self.check_equal(told)
            self.check_lists(told)

    def test_own_predictor(self):
        """PyTorch predicts too, since 2.1."""
        torches.need_compiler()
        python = torches.python_of("2.13.0")
        self.record(self.write("p.py", """
            import json, torch
            found = []
            def backward(*tensors, inputs=None):
                def hook(g):
                    found.append([node.name() for node in torch._C._current_graph_task_execution_order()])
                handle = tensors[-1].register_hook(hook)
                with torch.autograd.set_multithreading_enabled(False):
                    torch.autograd.backward(tensors, [torch.ones_like(t) for t in tensors], inputs=inputs, retain_graph=True)
                handle.remove()
            net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
            t = torch.ones(3, 4, requires_grad=True)
            h = net(t)
            u = t.clone().sin().exp()
            v = t.exp() * t.sin().cos() + u
            backward(h.sum())
            backward((h * h + h.exp()).mean())
            backward(u)
            backward(v)
            backward(v, inputs=[t])
            backward(torch.stack([x.sin() * x.exp() for x in t.unbind()]).sum(), inputs=[t])
            json.dump(found, open(%r, "w"))
            """ % os.path.join(self.folder.name, "found.json")), python=python)
        names = {event["node"]: event["name"] for event in events(self.tape) if event["event"] == "node_new"}
        with open(os.path.join(self.folder.name, "found.json")) as file:
            found = json.load(file)
        short = lambda name: name.split("::")[-1]
        told = [[short(names[node]) for node in one["predicted"]] for one in order(self.tape)["results"]]
        self.assertEqual(told, [[short(name) for name in names] for names in found])

    def test_level_2(self):
        """What reconstructed pops say holds too, and the answer says how it is known."""
        python = torches.python_of("2.13.0")
        told = self.fuzz(range(10), fuzz_programs.program, python=python, level="2")
        self.assertEqual(told["known"], "reconstructed")
        self.assertGreater(told["equal"], 0.9 * told["passes"])
        self.assertEqual([event for event in events(self.tape) if event["event"] == "mark" and "not on the tape" in event["text"]], [])
        for one in told["results"]:
            self.assertTrue(one["equal"] or one["divergence"]["cause"] == "unknown", one)


if __name__ == "__main__":
    skipping.main(argv=sys.argv, defaultTest=KIND.capitalize() if len(sys.argv) < 2 else None)
