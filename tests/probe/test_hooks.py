# SPDX-License-Identifier: LGPL-2.1-or-later
# Level 2 of recording tells what level 1 sees: the same gradients to the bit, the same events in the same order.
# And --stacks: the line, the module and the parameter that the program itself would name, at both levels.
import collections
import functools
import os
import pathlib
import re
import subprocess
import tempfile

import skipping
import together
import torches
from probe_programs import DEEP, ERROR, JOINS, MLP, PRELUDE, REENTRANT, SELECTIVE, THREADS
from record_case import TAPEDECK, RecordCase, plain_environment

SAME_NUMBERS = (pathlib.Path(__file__).parent / "programs" / "same_numbers.py").read_text()

# Of these, level 2 must tell the same in the same order.
SCHEDULING = ("graph_task_begin", "dependency_dec", "buffer_park", "buffer_ready", "queue_push", "queue_pop", "node_begin",
              "node_end", "capture", "outstanding", "reentrant_enter", "reentrant_leave", "pool_push", "graph_task_end")
# Of these, the same number of each.
COUNTED = SCHEDULING + ("dependency", "exec_info", "buffer_new", "buffer_add", "node_new", "edge_new")

LEAF_ROOT = PRELUDE + """
x = torch.ones(3, requires_grad=True)
y = x * 2
x.backward(torch.ones(3))
torch.autograd.backward([x, y], [torch.ones(3), torch.ones(3)])
show(x.grad)
"""

REFUSED = PRELUDE + """
x = torch.ones(3, requires_grad=True)
for call in (lambda: (x * 2).backward(), lambda: torch.ones(1).backward(),
             lambda: torch.autograd.grad(x.sum(), torch.ones(2, requires_grad=True))):
    try: call()
    except RuntimeError as error: print(str(error)[:40])
(x * 2).sum().backward()
show(x.grad)
import traceback
def bad(gradient): raise ValueError("bad")
y = x.exp()
y.register_hook(bad)
try: y.sum().backward()
except ValueError: print(traceback.format_exc())
"""

LEFT_BEHIND = PRELUDE + """
x = torch.ones(3, requires_grad=True)
y = (x * 2).sum()
y.backward(retain_graph=True)
import weakref
class Keeps(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): ctx.big = big = torch.ones(3); seen.append(weakref.ref(big)); return x * 1
    @staticmethod
    def backward(ctx, g): return g
seen = []
Keeps.apply(x).sum().backward()
print(seen[0]() is None)
"""

STACKS = """
import threading
import torch

class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(4, 4)
        self.scale = torch.nn.Parameter(torch.ones(4))
    def forward(self, x):
        return self.lin(x).sin() * self.scale  # line of sin

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(Block(), torch.nn.Sequential(Block(), torch.nn.Tanh()))
    def forward(self, x):
        return self.layers(x).cos()  # line of cos

class Raises(torch.nn.Module):
    def forward(self, x):
        x.exp()
        raise ValueError

class Custom(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x.clone()
    @staticmethod
    def backward(ctx, g): return g * 2

def in_a_thread(x):
    outs.append(x.neg())  # line of neg

net = Net()
h = net(torch.ones(2, 4))
try: Raises()(h)
except ValueError: pass
h = h.abs()  # line of abs
h = Custom.apply(h)  # line of custom
outs = []
thread = threading.Thread(target=in_a_thread, args=(h,))
thread.start()
thread.join()
outs[0].sum().backward()  # line of sum
"""

# A compiled function that calls backward, so that the compiler sees all that Python does there; then compiled autograd.
COMPILED = """
import torch
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))

def train():
    loss = net(torch.ones(2, 4)).sum()
    loss.backward()
    return loss

def show(*losses):
    print([loss.item() for loss in losses], [p.grad.double().sum().item() for p in net.parameters()])

compiled = torch.compile(train, backend="aot_eager")
show(compiled(), compiled())
torch._dynamo.reset()
torch._dynamo.config.compiled_autograd = True
compiled = torch.compile(train, backend="aot_eager")
show(compiled(), compiled())
torch._dynamo.config.compiled_autograd = False
from torch._dynamo import compiled_autograd
with compiled_autograd._enable(lambda graph: torch.compile(graph, backend="aot_eager")):
    show(train())
show(train())
for kind in "stats", "graph_break", "compiled_autograd":  # others differ from run to run
    print(kind, dict(torch._dynamo.utils.counters[kind]))
"""

COST = """
import sys, time, torch
net = torch.nn.Sequential(*[torch.nn.Linear(2, 2) for _ in range(100)])
def once():
    begin = time.perf_counter()
    for _ in range(20): y = net(torch.ones(1, 2))
    return time.perf_counter() - begin
once()
print(min(once() for _ in range(5)) / 20 / 200 * 1e6)
"""


# Of each PyTorch and at each level, one process imports it and forks for these. COMPARED are recorded at level 1 too.
COMPARED = (MLP, JOINS, REENTRANT, SELECTIVE, SAME_NUMBERS)
TOGETHER = (*COMPARED, DEEP, ERROR, THREADS, LEAF_ROOT, REFUSED, LEFT_BEHIND)


@functools.cache
def scripts():
    folder = tempfile.TemporaryDirectory()
    paths = {program: os.path.join(folder.name, f"{i}.py") for i, program in enumerate(TOGETHER)}
    for program, path in paths.items():
        pathlib.Path(path).write_text(program)
    return paths, folder


@functools.cache
def run_together(python, level=None):
    """{program: how it ended}, and the folder that has their tapes. Without a level they are not recorded."""
    folder = tempfile.TemporaryDirectory()
    programs = {program: [scripts()[0][program]] for program in (COMPARED if level == 1 else TOGETHER)}
    recorder = (TAPEDECK, "record", "--level", str(level)) if level else ()
    environment = plain_environment(XDG_RUNTIME_DIR=folder.name, PYTHONWARNINGS="ignore")
    return together.run(python, programs, folder.name, environment, recorder), folder


@functools.cache
def has_creation_hooks(python):
    say = "import torch; print(hasattr(torch.autograd.graph, 'node_creation_hook'))"
    return subprocess.run([python, "-c", say], capture_output=True, text=True, check=True,
                          env=plain_environment()).stdout == "True\n"


class Hooks(RecordCase):
    def setUp(self):
        super().setUp()
        self.environment["PYTHONWARNINGS"] = "ignore"

    def run_plain(self, python, script):
        done = run_together(python)[0][script] if script in TOGETHER else self.run_in(python, self.script(script))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def record(self, python, script, level, *options):
        """The events of a script's tape, and what it printed."""
        if level == 1:
            torches.need_compiler()
        if script in TOGETHER and not options:
            done = run_together(python, level)[0][script]
            tape = done.tape
        else:
            tape, more = "t.tape", ["--force", "--level", level, *options, "-o", "t.tape"]
            done = super().record(python, self.script(script), options=more)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_checked(tape)
        events = self.events(tape)
        self.assertEqual([e["level"] for e in events if e["event"] == "probe_level"], [level], done.stderr)
        return events, done.stdout

    def keys(self, events):
        """What a node is called on both tapes: numbers differ."""
        return {e["node"]: (e["name"], e["sequence_nr"]) for e in events if e["event"] == "node_new"}

    def told(self, events):
        keys = self.keys(events)
        return [(e["event"], keys.get(e.get("node"))) for e in events if e["event"] in SCHEDULING]

    def each(self, script):
        for python in torches.of_test(self):
            plain = self.run_plain(python, script)
            events, output = self.record(python, script, 2)
            self.assertEqual(output, plain)
            self.assertEqual([e["text"] for e in events if e["event"] == "mark"], [], "the rules did not explain it")
            yield python, events

    def compare(self, script):
        for python, hooks in self.each(script):
            engine, _ = self.record(python, script, 1)
            for kind in COUNTED:
                counts = [sum(e["event"] == kind for e in events) for events in (engine, hooks)]
                self.assertEqual(counts[0], counts[1], f"{kind} with {python}")
            self.assertEqual(self.told(engine), self.told(hooks), python)

    def test_mlp(self):
        self.compare(MLP)

    def test_joins(self):
        self.compare(JOINS)

    def test_reentrant(self):
        self.compare(REENTRANT)

    def test_selective_runs_and_captures_the_same(self):
        kinds = ("node_begin", "node_end", "capture", "queue_pop", "queue_push", "graph_task_end")
        for python, hooks in self.each(SELECTIVE):
            engine, _ = self.record(python, SELECTIVE, 1)
            told = [[t for t in self.told(events) if t[0] in kinds] for events in (engine, hooks)]
            self.assertEqual(told[0], told[1], python)

    def test_compiled_programs_stay_as_they_are(self):
        pythons = [python for version, python in torches.each() if version != "1.13.1"]
        if not pythons:
            self.skipTest("no PyTorch that compiles")
        self.environment.pop("PYTHONWARNINGS")
        for python in pythons:
            program = [python, self.script(COMPILED)]
            plain = self.run_in(*program)
            engine, hooks = [super(Hooks, self).record(*program, options=["--force", "--level", level, "-o", f"{level}.tape"])
                             for level in ("1", "2")]
            said = [line for line in (engine.stderr + hooks.stderr).splitlines() if line.startswith("tapedeck: ")]
            for done in (engine, hooks):
                self.assertEqual((done.returncode, done.stdout), (0, plain.stdout), done.stderr)
                beside = [line for line in done.stderr.splitlines() if line not in said]
                self.assertEqual(beside, plain.stderr.splitlines())
            self.assertEqual([line for line in said if "hooks" in line and "level" not in line],
                             ["tapedeck: compiled autograd runs no hooks, so its passes are not recorded"])
            self.check_passes_of_compiled_programs()

    def check_passes_of_compiled_programs(self):
        """Level 1 has passes without nodes where compiled autograd did the work. Level 2 has only the others."""
        passes = []
        for level in ("1", "2"):
            self.assert_checked(f"{level}.tape")
            events = self.events(f"{level}.tape")
            begun = collections.Counter(e["graph_task"] for e in events if e["event"] == "node_begin")
            passes.append([begun[e["graph_task"]] for e in events if e["event"] == "graph_task_begin"])
        self.assertGreaterEqual(passes[0].count(0), 3)
        self.assertEqual([n for n in passes[0] if n], passes[1])

    def test_deep(self):
        for _, events in self.each(DEEP):
            self.assertEqual(max(e["depth"] for e in events if e["event"] == "graph_task_begin"), 151)
            self.assertGreater(sum(e["event"] == "pool_push" for e in events), 0)

    def test_error(self):
        for python, hooks in self.each(ERROR):
            self.assertEqual([e["status"] for e in hooks if e["event"] == "graph_task_end"], ["error", "error", "ok"])
            keys = self.keys(hooks)
            self.assertEqual([keys[e["node"]][0] for e in hooks if e["event"] == "error"], ["BadBackward"] * 2)

    def test_threads(self):
        for _, events in self.each(THREADS):
            ended = sum(e["event"] == "graph_task_end" and e["status"] == "ok" for e in events)
            self.assertGreaterEqual(ended, 57)  # a thread's first pass may come before the hooks
            self.assertGreaterEqual(len({e["thread"] for e in events if e["event"] == "node_begin"}), 2)

    def test_leaf_as_root(self):
        for _, events in self.each(LEAF_ROOT):
            self.assertEqual(sum(e["event"] == "graph_task_end" for e in events), 2)

    def test_refused_calls_make_no_pass_and_tracebacks_are_the_program_s(self):
        for _, events in self.each(REFUSED):
            self.assertEqual([e["status"] for e in events if e["event"] == "graph_task_end"], ["ok", "error"])

    def test_nothing_is_left_behind(self):
        for _, events in self.each(LEFT_BEHIND):
            freed = {e["node"] for e in events if e["event"] == "node_free"}
            self.assertGreaterEqual(len(freed), 2)

    def line_of(self, word):
        return next(i for i, line in enumerate(STACKS.split("\n"), 1) if line.endswith(f"# line of {word}"))

    def own_frame(self, stack):
        """The innermost line of the program itself."""
        return [int(m) for m in re.findall(r"script\.py:(\d+) ", stack or "")][-1:]

    def test_stacks(self):
        expected = {"SinBackward0": "sin", "CosBackward0": "cos", "AbsBackward0": "abs", "NegBackward0": "neg",
                    "SumBackward0": "sum", "CustomBackward": "custom"}
        for python in torches.of_test(self):
            for level in (1, 2):
                events, _ = self.record(python, STACKS, level, "--stacks")
                for e in events:
                    if level == 2 and not has_creation_hooks(python) and e.get("name") == "NegBackward0":
                        self.assertIsNone(e["stack"])  # two threads took its number, and which made it is not seen
                    elif e["event"] == "node_new" and e["name"] in expected:
                        self.assertEqual(self.own_frame(e["stack"]), [self.line_of(expected[e["name"]])],
                                         (python, level, e["name"], e["stack"]))
                self.assertEqual(sum(e["event"] == "node_new" and e["name"] in expected for e in events), 7)
                self.modules(events)

    def made(self, events):
        """How many nodes there are of each name and number, with the module, the label and the stack that they have."""
        nodes = {e["node"]: dict.fromkeys(("module", "module_class", "label"), None) | e
                 for e in events if e["event"] == "node_new"}
        for e in events:
            if e["event"] in ("node_module", "node_label"):
                nodes[e["node"]].update({name: e[name] for name in ("module", "module_class", "label") if name in e})
        return collections.Counter(tuple(node[name] for name in ("name", "sequence_nr", "module", "module_class", "label",
                                                                 "stack")) for node in nodes.values())

    def test_two_threads_take_the_same_numbers(self):
        for python, hooks in self.each(SAME_NUMBERS):
            engine, _ = self.record(python, SAME_NUMBERS, 1)
            named = collections.Counter({made: n for made, n in self.made(hooks).items() if made[2] or made[4]})
            self.assertEqual(named - self.made(engine), {}, f"a node has another node's name with {python}")
            self.assertTrue(any(made[2] for made in named), python)

    def test_creation_hooks_tell_the_thread(self):
        pythons = [python for python in torches.pythons() if has_creation_hooks(python)]
        if not pythons:
            self.skipTest("no PyTorch with creation hooks (2.14) is here")
        for python in pythons:
            plain = self.run_plain(python, SAME_NUMBERS)
            for options in ((), ("--stacks",)):
                tapes = [self.record(python, SAME_NUMBERS, level, *options) for level in (1, 2)]
                self.assertEqual([output for _, output in tapes], [plain, plain])
                engine, hooks = [self.made(events) for events, _ in tapes]
                self.assertEqual(engine, hooks)
                named = sum(n for made, n in hooks.items() if made[2] or made[4])
                self.assertGreater(named, 0.8 * sum(hooks.values()))

    def modules(self, events):
        keys = self.keys(events)
        made = collections.defaultdict(list)
        for e in events:
            if e["event"] == "node_module":
                made[keys[e["node"]][0]].append(e["module"])
        self.assertEqual(sorted(made["AddmmBackward0"]), ["layers.0.lin", "layers.1.0.lin"])
        self.assertEqual(sorted(made["SinBackward0"]), ["layers.0", "layers.1.0"])
        self.assertEqual(made["TanhBackward0"], ["layers.1.1"])
        self.assertEqual(made["CosBackward0"], ["(Net)"])
        for outside in ("AbsBackward0", "CustomBackward", "NegBackward0"):
            self.assertEqual(made[outside], [])
        labels = sorted(e["label"] for e in events if e["event"] == "node_label")
        self.assertEqual(labels, sorted(f"layers.{block}.{name}" for block in ("0", "1.0")
                                        for name in ("lin.weight", "lin.bias", "scale")))

    def test_cost_of_stacks(self):
        for python in torches.pythons():
            plain = float(self.run_plain(python, COST))
            costs = {}
            for options in ((), ("--stacks",)):
                _, output = self.record(python, COST + "net(torch.ones(1, 2)).sum().backward()\n", 1, *options)
                costs[options] = float(output)
            print(f"{python}: forward per node {plain:.2f} us, recorded {costs[()]:.2f}, with stacks "
                  f"{costs[('--stacks',)]:.2f}")
            self.assertLess(costs[("--stacks",)] - plain, 100)


if __name__ == "__main__":
    skipping.main(verbosity=2)
