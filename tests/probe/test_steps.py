# SPDX-License-Identifier: LGPL-2.1-or-later
"""`record --steps`, `--every`, `--first` and `--until`: the passes of the chosen steps are on the tape as a full recording
has them, the others leave no trace, and the program computes the same to the bit. With every PyTorch that is here."""
import collections
import functools
import hashlib
import json
import os
import pathlib
import tempfile

import skipping
import together
import torches
from record_case import SOURCE, TAPEDECK, RecordCase, built, plain_environment

TORCHES = torches.pythons()

BEGIN = """
import hashlib, os, sys, threading, torch
from torch import nn
torch.manual_seed(7)
torch.set_num_threads(1)
def digest(*modules):
    sha = hashlib.sha256()
    for module in modules:
        for parameter in module.parameters():
            sha.update(parameter.detach().numpy().tobytes())
            sha.update(b"" if parameter.grad is None else parameter.grad.numpy().tobytes())
    print(sha.hexdigest(), flush=True)
def mlp(n=8):
    return nn.Sequential(nn.Linear(4, n), nn.Tanh(), nn.Linear(n, 1))
def train(model, optimizer, n, *sizes):
    for i in range(n):
        optimizer.zero_grad()
        (model(torch.randn(3, 4)) ** 2).mean().backward()
        optimizer.step()
"""

# An MLP with SGD, and a learning rate that a scheduler changes.
MLP = BEGIN + """
model = mlp()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
for i in range(7):
    optimizer.zero_grad()
    (model(torch.randn(3, 4)) ** 2).mean().backward()
    optimizer.step()
    scheduler.step()
digest(model)
"""

GAN = BEGIN + """
maker, judge = mlp(6), nn.Sequential(nn.Linear(1, 5), nn.ReLU(), nn.Linear(5, 1))
makers, judges = torch.optim.Adam(maker.parameters()), torch.optim.Adam(judge.parameters())
loss = nn.BCEWithLogitsLoss()
for i in range(7):
    fake = maker(torch.randn(3, 4))
    judges.zero_grad()
    (loss(judge(torch.randn(3, 1)), torch.ones(3, 1)) + loss(judge(fake.detach()), torch.zeros(3, 1))).backward()
    judges.step()
    makers.zero_grad()
    loss(judge(fake), torch.ones(3, 1)).backward()
    makers.step()
digest(maker, judge)
"""

ACCUMULATION = BEGIN + """
model = mlp()
optimizer = torch.optim.Adam(model.parameters())
for i in range(7):
    optimizer.zero_grad()
    for j in range(3):
        (model(torch.randn(2, 4)) ** 2).mean().backward()
    optimizer.step()
digest(model)
"""

# Part of the graph is made once, and each pass goes through it.
NO_OPTIMIZER = BEGIN + """
model = mlp()
kept = (model[0].weight * 2).exp()
for i in range(7):
    (model(torch.randn(3, 4)).sum() + kept.sum()).backward(retain_graph=True)
digest(model)
"""

# Passes inside passes: so deep that the engine's pool runs them, and a checkpoint's.
REENTRANT = BEGIN + """
from torch.utils.checkpoint import checkpoint
class Deeper(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, depth):
        ctx.depth = depth
        return x.clone()
    @staticmethod
    def backward(ctx, gradient):
        if ctx.depth:
            with torch.enable_grad():
                x = gradient.detach().requires_grad_()
                Deeper.apply(x, ctx.depth - 1).sum().backward()
        return gradient, None
model = mlp()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i in range(7):
    optimizer.zero_grad()
    x = checkpoint(model, torch.randn(3, 4, requires_grad=True), use_reentrant=True)
    Deeper.apply(x, 66).sum().backward()
    optimizer.step()
digest(model)
"""

BESIDE = BEGIN + """
model, other = mlp(), mlp(3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
stop = threading.Event()
def beside():
    while not stop.is_set():
        (other(torch.ones(3, 4)) ** 2).mean().backward()
        other.zero_grad()
thread = threading.Thread(target=beside)
thread.start()
for i in range(60):
    optimizer.zero_grad()
    (model(torch.randn(3, 4)) ** 2).mean().backward()
    optimizer.step()
stop.set()
thread.join()
digest(model)
"""

FORK = BEGIN + """
def work(n):
    model = mlp()
    train(model, torch.optim.SGD(model.parameters(), lr=0.1), n)
    digest(model)
work(3)
if os.fork() == 0:
    work(6)
    os._exit(0)
assert os.wait()[1] == 0
work(3)
"""

NAN = BEGIN + """
model = mlp()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i in range(9):
    optimizer.zero_grad()
    x = torch.full((3, 4), float("inf") if i in (4, 6) else 1.0, requires_grad=True)
    (model(torch.randn(3, 4)).sum() + (x * (0.0 if i in (4, 6) else 1.0)).sum() * 0).backward()
    optimizer.step()
digest(model)
"""

SAYS = BEGIN + """
import ctypes
step = ctypes.CDLL(None).tapedeck_step if len(sys.argv) == 1 else lambda: None
model = mlp()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i in range(5):
    train(model, optimizer, 2)
    step()
digest(model)
"""

COMPILED = BEGIN + """
model = mlp()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
@torch.compile(backend="eager")
def step():
    optimizer.step()
for i in range(3):
    optimizer.zero_grad()
    (model(torch.randn(3, 4)) ** 2).mean().backward()
    step()
digest(model)
"""

IDS = {"seq", "t", "thread", "graph_task", "queue", "waited", "owner", "root", "id"}
NODES = {"node", "from", "by"}
OF_A_PASS = ("graph_task_begin", "exec_info", "dependency", "outstanding", "graph_task_end", "queue_push", "queue_pop", "buffer_new",
             "buffer_add", "buffer_ready", "buffer_park", "dependency_dec", "node_begin", "node_end", "node_skip", "capture",
             "accumulate")
COUNTED = ("dependency", "exec_info")  # in the order of ids, or of addresses


def passes_by_step(events):
    """{step: its passes}; a pass is a list of what happened, with nodes by name and by first appearance."""
    names = {event["node"]: event["name"] for event in events if event["event"] == "node_new"}
    passes, begun, steps = collections.defaultdict(list), [], {}
    numbers = collections.defaultdict(dict)
    for event in events:
        if event["event"] == "graph_task_begin":
            begun.append(event["graph_task"])
        if event["event"] == "step":
            steps[event["iteration"]] = begun
            begun = []
        if event["event"] in OF_A_PASS:
            task = event["graph_task"]
            known = numbers[task]
            what = {key: value for key, value in event.items() if key not in IDS | NODES}
            for key in NODES & event.keys():
                node = event[key]
                first = None if event["event"] in COUNTED else known.setdefault(node, len(known))
                what[key] = (names.get(node), first)
            passes[task].append(json.dumps(what, sort_keys=True))
    for task, what in passes.items():
        counted = sorted(line for line in what if any(f'"{kind}"' in line for kind in COUNTED))
        passes[task] = counted + [line for line in what if line not in set(counted)]
    return {step: [passes[task] for task in tasks] for step, tasks in steps.items()}


SHALLOW = REENTRANT.replace("66", "30")  # no pool: 1.13 does not say that its threads are in a pass
WHOLE = {None: (MLP, GAN, ACCUMULATION, NO_OPTIMIZER, REENTRANT, SHALLOW, BESIDE, NAN),
         "1": (MLP, GAN, ACCUMULATION, NO_OPTIMIZER, REENTRANT), "2": (MLP, NO_OPTIMIZER, SHALLOW)}


def name_of(text):
    return f"{hashlib.sha256(text.encode()).hexdigest()[:8]}.py"


@functools.cache
def whole(python, level=None):
    """{program: how it ended} of WHOLE, unrecorded or recorded from the first to the last step, and the folder of their
    tapes. One process imports PyTorch and forks for each of them."""
    folder = tempfile.TemporaryDirectory()
    programs = {text: [os.path.join(folder.name, name_of(text))] for text in WHOLE[level]}
    for text, (path,) in programs.items():
        pathlib.Path(path).write_text(text)
    recorder = (TAPEDECK, "record", "--level", level, "--first", "1000") if level else ()
    return together.run(python, programs, folder.name, plain_environment(XDG_RUNTIME_DIR=folder.name), recorder), folder


class Steps(RecordCase):
    maxDiff = 3000

    def script(self, text):
        return super().script(text, name_of(text))

    def record(self, python, text, *options, tape="p.tape", arguments=(), fine=True):
        """Records a program; its events, and what it and `record` said."""
        done = super().record(python, self.script(text), *arguments, options=["--force", "-o", tape, *options])
        self.assertEqual(done.returncode, 0, done.stderr)
        if not fine:
            return [], done
        self.assert_checked(tape)
        return self.events(tape), done

    def plain(self, python, text):
        """What it prints by itself."""
        return whole(python)[0][text].stdout

    def left_out(self, events):
        return [(event["first"], event["steps"], event["passes"]) for event in events if event["event"] == "left_out"]

    def compare(self, text, options, wanted, left_out, level="1"):
        """The chosen steps are those of a full recording, and the rest is told."""
        for python in torches.of_test(self):
            with self.subTest(python=python, options=options):
                all_ = whole(python, level)[0][text]
                self.assertEqual(all_.returncode, 0, all_.stderr)
                self.assert_checked(all_.tape)
                full = self.events(all_.tape)
                some, done = self.record(python, text, "--level", level, *options)
                self.assertEqual(done.stdout, self.plain(python, text))
                self.assertEqual(all_.stdout, done.stdout)
                of_full, of_some = passes_by_step(full), passes_by_step(some)
                self.assertEqual(sorted(of_some), wanted)
                for step in wanted:
                    self.assertGreater(len(of_full[step]), 0)
                    self.assertEqual(of_some[step], of_full[step], f"step {step}")
                self.assertEqual(self.left_out(some), left_out)
                self.check_nodes(some)
                self.assertEqual(len({event["graph_task"] for event in some if event["event"] == "graph_task_begin"}),
                                 sum(map(len, of_some.values())), "a pass that nobody wanted left a trace")

    def check_nodes(self, events):
        """A node is announced before it is used, and no more after its death."""
        alive = set()
        for event in events:
            if event["event"] == "node_new":
                self.assertNotIn(event["node"], alive)
                alive.add(event["node"])
            elif event["event"] == "node_free":
                alive.remove(event["node"])
            elif event["event"] in OF_A_PASS and event.get("node") is not None:
                self.assertIn(event["node"], alive, event)

    def test_mlp(self):
        self.compare(MLP, ["--steps", "2:5"], [2, 3, 4], [(0, 2, 2), (5, 2, 2)])
        self.compare(MLP, ["--every", "3"], [0, 3, 6], [(1, 2, 2), (4, 2, 2)])
        self.compare(MLP, ["--steps", "1:", "--every", "4"], [1, 5], [(0, 1, 1), (2, 3, 3), (6, 1, 1)])

    def test_mlp_at_level_2(self):
        self.compare(MLP, ["--steps", "2:4"], [2, 3], [(0, 2, 2), (4, 3, 3)], level="2")
        self.compare(NO_OPTIMIZER, ["--steps", "4"], [4], [(0, 4, 4), (5, 2, 2)], level="2")
        self.compare(SHALLOW, ["--every", "5"], [0, 5], [(1, 4, 4), (6, 1, 1)], level="2")

    def test_gan(self):
        """Both passes of an iteration are a step, but for the first."""
        self.compare(GAN, ["--steps", "3:5"], [3, 4], [(0, 3, 6), (5, 2, 4)])

    def test_accumulation(self):
        self.compare(ACCUMULATION, ["--every", "3"], [0, 3, 6], [(1, 2, 6), (4, 2, 6)])

    def test_no_optimizer(self):
        self.compare(NO_OPTIMIZER, ["--steps", "3:5"], [3, 4], [(0, 3, 3), (5, 2, 2)])
        self.compare(NO_OPTIMIZER, ["--every", "2"], [0, 2, 4, 6], [(1, 1, 1), (3, 1, 1), (5, 1, 1)])

    def test_passes_in_passes(self):
        self.compare(REENTRANT, ["--steps", "2:4"], [2, 3], [(0, 2, 2), (4, 3, 3)])

    def test_a_thread_beside(self):
        """Whole passes of the other thread, or none of it."""
        for python in torches.of_test(self):
            plain = self.plain(python, BESIDE)
            events, done = self.record(python, BESIDE, "--every", "7")
            self.assertEqual(done.stdout, plain)
            steps = [event["iteration"] for event in events if event["event"] == "step"]
            self.assertEqual(steps, list(range(0, 60, 7)))
            begun = [event["graph_task"] for event in events if event["event"] == "graph_task_begin"]
            ended = [event["graph_task"] for event in events if event["event"] == "graph_task_end"]
            self.assertEqual(sorted(begun), sorted(ended))
            self.check_nodes(events)
            self.assertGreaterEqual(sum(passes for _, _, passes in self.left_out(events)), 60 - len(steps))

    def test_devices(self):
        """The threads of devices wait through the steps that nobody wants."""
        program = SOURCE / "tests" / "probe" / "programs" / "two_devices.py"
        for version, python in torches.installed().items():
            text = program.read_text().replace("range(3)", "range(8)")
            self.environment["FAKE_DEVICE"] = built(version, "fake_device.cpp")
            plain = self.run_in(python, self.script(text)).stdout
            events, done = self.record(python, text, "--every", "3")
            self.assertEqual(done.stdout, plain)
            self.assertEqual([event["iteration"] for event in events if event["event"] == "step"], [0, 3, 6])
            ran = collections.Counter(event["graph_task"] for event in events if event["event"] == "node_begin")
            self.assertEqual(len(set(ran.values())), 1, ran)
            self.check_nodes(events)

    def test_fork(self):
        """The child counts its own steps."""
        for python in torches.of_test(self):
            for tape in self.tapes():
                os.unlink(self.folder / tape)
            plain = self.run_in(python, self.script(FORK)).stdout
            _, done = self.record(python, FORK, "--steps", "2:5")
            self.assertEqual(done.stdout, plain)
            parts = [self.events(tape) for tape in ("p.1.tape", "p.2.tape")]
            steps = [[event["iteration"] for event in events if event["event"] == "step"] for events in parts]
            self.assertEqual(steps, [[2, 3, 4], [2, 3, 4]])
            self.assertEqual([self.left_out(events) for events in parts], [[(0, 2, 2), (5, 1, 1)]] * 2)

    def test_until_nan(self):
        for python in torches.of_test(self):
            events, done = self.record(python, NAN, "--until", "nan")
            self.assertEqual(done.stdout, self.plain(python, NAN))
            self.assertEqual([event["iteration"] for event in events if event["event"] == "step"], [0, 1, 2, 3, 4])
            self.assertEqual(self.left_out(events), [(5, 4, 4)])
            kinds = [event["event"] for event in events]
            last = len(kinds) - 1 - kinds[::-1].index("graph_task_end")
            self.assertLess(kinds.index("anomaly"), last, "the pass with the NaN is not whole")
            _, done = self.record(python, MLP, "--until", "nan")
            self.assertIn("no NaN was born", done.stderr)

    def test_the_program_says(self):
        for python in torches.of_test(self):
            events, _ = self.record(python, SAYS, "--steps", "2:4")
            of_steps = passes_by_step(events)
            self.assertEqual({step: len(passes) for step, passes in of_steps.items()}, {2: 2, 3: 2})
            events, _ = self.record(python, SAYS, "--steps", "2:4", arguments=["silent"])
            self.assertEqual({step: len(passes) for step, passes in passes_by_step(events).items()}, {2: 1, 3: 1})

    def test_steps_are_told_without_a_choice(self):
        for python in torches.of_test(self):
            events, _ = self.record(python, MLP)
            self.assertEqual([event["iteration"] for event in events if event["event"] == "step"], list(range(7)))
            self.assertEqual(self.left_out(events), [])
            events, _ = self.record(python, NO_OPTIMIZER)
            self.assertEqual([event for event in events if event["event"] == "step"], [])

    def test_compiled_optimizer(self):
        """torch.compile sees what the optimizer calls, and must not stumble over it."""
        for version, python in torches.installed().items():
            if version.startswith("1."):
                continue
            plain = self.run_in(python, self.script(COMPILED))
            self.assertEqual(plain.returncode, 0, plain.stderr)
            _, done = self.record(python, COMPILED)
            self.assertEqual((done.stdout, done.stderr.count("Error")), (plain.stdout, 0))

    def test_info(self):
        python = TORCHES[0]
        self.record(python, GAN, "--steps", "3:5")
        told = self.info("p.tape")["steps"]
        self.assertEqual(told, [{"process": 0, "recorded": [[3, 4]], "chosen": "--steps 3:5",
                                 "left_out": [{"first": 0, "steps": 3, "passes": 6}, {"first": 5, "steps": 2, "passes": 4}]}])
        text = self.run_in(TAPEDECK, "info", "p.tape").stdout
        self.assertIn("3 to 4", text)
        self.assertIn("left out     6 passes of steps 0 to 2, 4 passes of steps 5 to 6: --steps 3:5", text)

    def test_bad_values(self):
        for options, words in ((["--steps", "5:3"], "less than"), (["--steps", "x"], "FROM:TO"), (["--steps", ":"], "FROM:TO"),
                               (["--steps", "3:3"], "less than"), (["--steps", "-1:3"], "FROM:TO"), (["--steps", "1:2:3"], "FROM:TO"),
                               (["--every", "0"], "from 1 to"), (["--first", "0"], "from 1 to"), (["--until", "inf"], "must be nan"),
                               (["--first", "2", "--steps", "3:"], "only one"), (["--until", "nan", "--anomaly", "off"], "does not"),
                               (["--steps", "99999999999:"], "FROM:TO"), (["--every", "two"], "from 1 to"), (["--every", "99999999999"], "from 1 to 4294967294")):
            done = self.run_in(TAPEDECK, "record", *options, "--", "true")
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), (options, done.stderr))
            self.assertIn(words, done.stderr)

    def test_beyond_the_end(self):
        for python in torches.of_test(self):
            _, done = self.record(python, MLP, "--steps", "100:103", fine=False)
            self.assertEqual(done.stderr.splitlines()[-1], "tapedeck: nothing was recorded: the program made 7 steps, none of "
                             "them in --steps 100:103")
            self.assertEqual(self.tapes(), [])


if __name__ == "__main__":
    torches.need_compiler()
    skipping.main()
