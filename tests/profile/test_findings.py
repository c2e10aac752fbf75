# SPDX-License-Identifier: LGPL-2.1-or-later
"""`tapedeck findings`: each example of a mistake is found, in Tapedeck's engine and in PyTorch, and nothing else is."""
import functools
import json
import math
import os
import re
import subprocess
import tempfile
import unittest

import skipping
import together
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
    "detached_branch": ("no_gradient", None, "right.weight, right.bias had no gradient when the optimizer had made its first step, nor later"),
    "losses_kept": ("graphs_kept", "MeanBackward0", "21 nodes of the graphs of 3 earlier passes are still there, from that of MeanBackward0"),
    "penalty_cycle": ("graphs_kept", None, "of 3 earlier passes"),
    "hooks_grow": ("hooks_grow", "AccumulateGrad", "clip (hooks_grow.py:9) by one node became more, 4 times: from 1 to 5"),
    "deep_reentry": ("deep_reentry", "CheckpointBackward", "40 deep"),
    "other_order": ("order_differs", "AccumulateGrad", "got its 2 gradients in another order"),
    "missing_wait": ("stream_conflict", None, "on stream 1"),
}
OWN_ALONE = {"other_order", "missing_wait"}
PYTORCH_ALONE = {"taking_turns"}  # Tapedeck's engine has no names yet of a module that nobody has called

# A hook gives a node another sequence number while the pass is under way.
NUMBER = """
import torch
x = torch.ones(2, requires_grad=True)
ys = [x * k for k in range(7)]
ys[-1].register_hook(lambda g: ys[0].grad_fn._set_sequence_nr(1000))
torch.stack(ys).sum().backward()
"""

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
    "masks": """
import torch
net = torch.nn.Linear(4, 4)
x = torch.ones(3, 4)
later = torch.triu(torch.ones(3, 3, dtype=torch.bool), 1)
for step in range(2):
    q = net(x)
    (torch.softmax((q @ q.t()).masked_fill(later, float("-inf")), -1) @ q).sum().backward()
q = net(x)
(torch.softmax(q @ q.t() + torch.zeros(3, 3).masked_fill(later, float("-inf")), -1) @ q).sum().backward()
""",
    "inner_loops": """
import torch
w = torch.ones(3, requires_grad=True)
for step in range(4):
    inner = w
    for k in range(5):
        g, = torch.autograd.grad(inner.square().sum(), inner, create_graph=True)
        inner = inner - 0.1 * g
    inner.sum().backward()
""",
    "micro_batches": """
import torch
net = torch.nn.Linear(4, 1)
for step in range(3):
    losses = []
    for micro in range(8):
        losses.append(net(torch.ones(8, 4)).square().mean())
        losses[-1].backward()
    print(sum(loss.item() for loss in losses))
""",
    "hooks_of_more_nodes": """
import torch
def clip(g): return g.clamp(-1, 1)
w = torch.ones(3, requires_grad=True)
for length in range(2, 8):  # batches sorted by length
    h = w
    for t in range(length):
        h = h.sin()
        h.register_hook(clip)
    h.sum().backward()
""",
    "experts": """
import torch
class Mixture(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.left, self.right = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    def forward(self, x, step):
        return self.right(x) if step % 2 else self.left(x)
net = Mixture()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(6):
    optimizer.zero_grad()
    net(torch.ones(3, 2), step).square().sum().backward()
    optimizer.step()
""",
    "two_phases": """
import torch
trunk, head = torch.nn.Linear(4, 4), torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD([*trunk.parameters(), *head.parameters()], lr=0.1)
optimizer.step()  # some programs do so for a scheduler
for step in range(4):
    with torch.set_grad_enabled(step > 1):
        h = trunk(torch.ones(3, 4))
    optimizer.zero_grad()
    head(h).square().sum().backward()
    optimizer.step()
""",
    "taking_turns": """
import torch
left, right = torch.nn.Linear(4, 1), torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD([*left.parameters(), *right.parameters()], lr=0.1)
for step in range(2):
    optimizer.zero_grad()
    (right if step else left)(torch.ones(3, 4)).square().sum().backward()
    optimizer.step()
""",
    "more_terms_each_time": """
import torch
w = torch.ones(3, requires_grad=True)
for step in range(6):
    sum((w * k for k in range(1, step + 2)), torch.zeros(3)).sum().backward()
""",
}


# What reaches no loss, and by which line. `used` is looked at in all these ways, but it also has a gradient.
CUTS = """
import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        for name in ("used", "detached", "numbered", "frozen", "dataed", "chosen", "idle"):
            setattr(self, name, torch.nn.Linear(2, 2, bias=False))
    def forward(self, x):
        h = self.used(x)
        h = h + self.detached(x).sin().detach()
        h = h * self.numbered(x).sum().item()
        with torch.no_grad():
            shift = self.frozen(x)
        h = h + self.dataed(x).data
        h = h + self.chosen(x).argmax(1, keepdim=True)
        return h + shift
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
with torch.no_grad():
    print(net.used(torch.ones(3, 2)))
for step in range(3):
    optimizer.zero_grad()
    loss = net(torch.ones(3, 2)).square().sum()
    loss.backward()
    print(loss.item(), loss.detach())
    optimizer.step()
"""


# Two modules with equal names of parameters. The first thing that each program does is to use `trunk`.
TWO = """
import torch
trunk, head = torch.nn.Linear(4, 4), torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD([*trunk.parameters(), *head.parameters()], lr=0.1)
for step in range(3):
    CUT
    optimizer.zero_grad()
    head(h).square().sum().backward()
    optimizer.step()
"""
TWO_CUTS = {"h = trunk(torch.ones(3, 4)).detach()": "detach()", "h = trunk(torch.ones(3, 4)).detach_()": "detach()",
            "h = torch.ones(3, 4) * trunk(torch.ones(3, 4)).sum().item()": "item()",
            "with torch.no_grad(): h = trunk(torch.ones(3, 4))": "no_grad()"}


def run(*words, ok=(0,)):
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert done.returncode in ok, (words, done.returncode, done.stdout[-1000:], done.stderr[-2000:])
    return done.stdout


@functools.cache
def recorded_together(python):
    """The programs of both tables, in one process of this PyTorch that forks for each: {name: how it ended}, and their folder."""
    folder = tempfile.TemporaryDirectory()
    scripts = {name: [os.path.join(EXAMPLES, name + ".py")] for name in MISTAKES if name not in OWN_ALONE}
    for name, program in RIGHT.items():
        scripts[name] = [os.path.join(folder.name, name + ".py")]
        with open(*scripts[name], "w") as file:
            file.write(program)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    recorder = (TAPEDECK, "record", "--anomaly", "nonfinite")
    return together.run(python, scripts, folder.name, environment, recorder), folder


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

    def record_table(self, python, name, program):
        if python is None:
            return self.record(python, program)
        ended = recorded_together(python)[0][name]
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return ended.tape

    def findings(self, tape, ok):
        found = json.loads(run(TAPEDECK, "findings", tape, "--json", ok=(ok,)))["findings"]
        if found:
            self.check_places(tape, found)
        return found

    def check_places(self, tape, found):
        """A step is counted when it is over. Of passes that overlap, none is told."""
        events = [json.loads(line) for kind in ("step", "graph_task_begin", "graph_task_end")
                  for line in run(TAPEDECK, "events", tape, "--json", "--kind", kind).splitlines()]
        steps = sorted((e["seq"], e["iteration"]) for e in events if e["event"] == "step")
        ends = {e["graph_task"]: e["seq"] for e in events if e["event"] == "graph_task_end"}
        passes = [(e["seq"], ends.get(e["graph_task"], math.inf), e["graph_task"]) for e in events
                  if e["event"] == "graph_task_begin" and e["depth"] == 0]
        for one in found:
            self.assertEqual(one["step"], next((number for seq, number in steps if seq >= one["seq"]), None), one)
            around = [task for begin, end, task in passes if begin <= one["seq"] <= end
                      and not any(begin < other < end or other < begin < until for other, until, _ in passes)]
            self.assertEqual(one["graph_task"], around[0] if around else None, (one, passes))

    def pythons(self, case=0):
        """None for Tapedeck's engine, and one PyTorch."""
        wanted = torches.of_test(self, case) if torches.observed() else []
        return {"tapedeck": None, **{version: python for version, python in torches.installed().items() if python in wanted}}

    def test_mistakes(self):
        for case, (name, (kind, function, words)) in enumerate(MISTAKES.items()):
            for engine, python in self.pythons(case).items():
                if python and name in OWN_ALONE:
                    continue
                with self.subTest(name=name, engine=engine):
                    tape = self.record_table(python, name, name)
                    found = self.findings(tape, 1)
                    self.assertEqual({one["kind"] for one in found}, {kind}, found)
                    alike = [one for one in found if one["kind"] == kind and words in one["text"] + (one["advice"] or "")]
                    self.assertEqual(len(alike), 1, found)
                    first = alike[0]
                    self.assertTrue(first["advice"], first)
                    if kind == "second_backward":
                        self.assertRegex(first["advice"], r"An earlier one, backward pass 1 \(graph task 0\), ran it and let go")
                    state = json.loads(run(TAPEDECK, "state", tape, "--at", str(first["seq"]), "--json"))
                    nodes = {node["id"]: node["name"] for node in state["nodes"]}
                    if function:
                        self.assertEqual(nodes[first["node"]], function)

    def test_nothing(self):
        """A program without a mistake has no finding, and neither does a part of a tape that is cut."""
        for case, (name, program) in enumerate(RIGHT.items()):
            script = os.path.join(self.folder, name + ".py")
            with open(script, "w") as file:
                file.write(program)
            for engine, python in self.pythons(case).items():
                if not python and name in PYTORCH_ALONE:
                    continue
                with self.subTest(name=name, engine=engine):
                    self.assertEqual(self.findings(self.record_table(python, name, script), 0), [])

    def test_edges_of_own_engine(self):
        """Causes follow the edges over which a value that is not finite went. So a mask's Inf is no cause of a NaN elsewhere, and
        an overflow is told that the gradients show, also if no NaN comes of it."""
        cases = {
            "mask": ("(torch.softmax(scores, -1).square().sum() + (y.sqrt() * 0).sum()).backward()", ["NaN was born in SqrtBackward0"]),
            "overflow": ("y.add(100).exp().sum().backward()", ["Inf was born in the forward pass: result 0 of the operation that created ExpB"]),
            "led": ("z = y.add(100).exp(); (z - z * 1).sum().backward()", ["Inf was born in the forward pass: result 0 of the operation that"]),
            "alone": ("torch.softmax(scores, -1).square().sum().backward()", [])}
        for name, (last, expected) in cases.items():
            with self.subTest(name=name):
                script = os.path.join(self.folder, name + ".py")
                with open(script, "w") as file:
                    file.write(f"""
import torch
torch.manual_seed(0)
w = torch.randn(3, 3, requires_grad=True)
scores = (w @ w.t()).masked_fill(torch.triu(torch.ones(3, 3, dtype=torch.bool), 1), -float('inf'))
y = torch.tensor([0., 1.], requires_grad=True)
{last}
""")
                found = self.findings(self.record(None, script), int(bool(expected)))
                self.assertEqual([one["text"][:len(text)] for one, text in zip(found, expected)], expected)
                self.assertEqual(len(found), len(expected), found)

    def test_every_second_step(self):
        """A list of hooks that grows in every second pass grows too."""
        script = os.path.join(self.folder, "second.py")
        with open(script, "w") as file:
            file.write("""
import torch
def look(g): return g
w = torch.ones(3, requires_grad=True)
for step in range(8):
    if step % 2 == 0: w.register_hook(look)
    (w * 2).sum().backward()
""")
        for engine, python in self.pythons().items():
            with self.subTest(engine=engine):
                one, = self.findings(self.record(python, script), 1)
                self.assertIn("3 times: from 1 to 4", one["text"])

    def test_what_cut_a_parameter_off(self):
        """Each line that cut parameters off is a finding, with that line. One that only looks at values is none."""
        script = os.path.join(self.folder, "cuts.py")
        with open(script, "w") as file:
            file.write(CUTS)
        lines = {words: number for number, line in enumerate(CUTS.splitlines(), 1)
                 for words in ("sin().detach()", "sum().item()", "self.frozen(x)", ").data", ".argmax(") if words in line}
        expected = {"detached.weight": ("detach()", lines["sin().detach()"]), "numbered.weight": ("item()", lines["sum().item()"]),
                    "frozen.weight": ("no_grad()", lines["self.frozen(x)"]), "idle.weight": ("Not known why", None),
                    "dataed.weight": (".data", lines[").data"]), "chosen.weight": ("argmax()", lines[".argmax("])}
        for engine, python in self.pythons().items():
            with self.subTest(engine=engine):
                found = {one["text"].split()[0]: one for one in self.findings(self.record(python, script), 1)}
                self.assertEqual(set(found), set(expected))
                for name, (words, line) in expected.items():
                    self.assertIn(words, found[name]["advice"])
                    self.assertEqual(found[name].get("line"), f"cuts.py:{line}" if line else None)

    def test_equal_names(self):
        """Modules side by side have names of their own, and the first step has its cut too."""
        script = os.path.join(self.folder, "two.py")
        for case, (cut, words) in enumerate(TWO_CUTS.items()):
            with open(script, "w") as file:
                file.write(TWO.replace("CUT", cut))
            for engine, python in self.pythons(case).items():
                with self.subTest(cut=cut, engine=engine):
                    one, = self.findings(self.record(python, script), 1)
                    self.assertIn("trunk.weight, trunk.bias had no gradient", one["text"])
                    self.assertIn("nor later", one["text"])
                    self.assertIn(words, one["advice"])
                    self.assertEqual(one.get("line"), "two.py:6")

    def test_a_surprise(self):
        script = os.path.join(self.folder, "number.py")
        with open(script, "w") as file:
            file.write(NUMBER)
        one, = self.findings(self.record(None, script), 1)
        self.assertEqual(one["kind"], "order_surprise")
        self.assertIn("a changed sequence number", one["advice"])

    def test_words(self):
        """People get the same, and how to see it."""
        tape = self.record(None, "hooks_grow")
        one, = self.findings(tape, 1)
        text = run(TAPEDECK, "findings", tape, ok=(1,))
        place = f"event {one['seq']}, backward pass {one['graph_task'] + 1} (graph task {one['graph_task']})"
        for words in (one["text"], one["advice"], place, "A list of hooks grows", "1 finding", "tapedeck open"):
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
        self.assertIn(f"The tape is damaged: {told['damage']}.\nEvents that the tape lacks may show more.", run(TAPEDECK, "findings", part))
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
        self.assertIn("Not judged, because the tape has no such events, or too many: ", run(TAPEDECK, "findings", part))

    def test_cut(self):
        """A tape in segments has the findings of the same tape in one piece."""
        tools = os.path.join(os.environ["BUILD_ROOT"], "tests")
        for name in ("losses_kept", "hooks_grow", "sqrt_at_zero", "nan_from_sum", "other_order"):
            tape = self.record(None, name)
            whole = self.findings(tape, 1)
            run(os.path.join(tools, "cut_tape"), tape, "60")
            part, beyond = self.findings(tape, 1), "Which gradient of a later part of the tape has it first is not looked for. "
            for one, other in zip(whole, part):
                if beyond in other["advice"]:
                    one["advice"] = re.sub(r"The first gradient of graph task .*?: event \d+\. ", beyond, one["advice"])
            self.assertEqual(part, whole)


if __name__ == "__main__":
    skipping.main()
