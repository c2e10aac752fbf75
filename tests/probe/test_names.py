# SPDX-License-Identifier: LGPL-2.1-or-later
# Modules, parameters, leaves and threads have their names on every tape, without an option, at both levels. And the
# program cannot notice that they have.
import collections
import functools
import json
import tempfile

import skipping
import together
import torches
from record_case import TAPEDECK, RecordCase, plain_environment

BEGIN = "import threading, torch\nfrom torch import nn\ntorch.manual_seed(3)\n"

ONE_ROOT = BEGIN + """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin, self.unused = nn.Linear(4, 4), nn.Linear(4, 4)
        self.scale = nn.Parameter(torch.ones(4))
    def forward(self, x):
        return self.lin(x).sin() * self.scale
net = nn.Sequential(Block(), nn.Tanh(), nn.Linear(4, 2))
criterion = nn.MSELoss()
for _ in range(2):
    criterion(net(torch.ones(3, 4)), torch.ones(3, 2)).backward()
"""

TWO_ROOTS = BEGIN + """
D, G = nn.Linear(3, 1), nn.Linear(2, 3)
(D(torch.randn(4, 3)).mean() - D(G(torch.randn(4, 2))).mean()).backward()
def train(D):
    D(torch.randn(4, 3)).mean().backward()
other = nn.Linear(3, 1)
train(other)
"""

ALONE_THEN_NOT = BEGIN + """
def first():
    net = nn.Linear(2, 2)
    net(torch.ones(1, 2)).sum().backward()
    return net
def second():
    class Trainer:
        def __init__(self): self.model = nn.Sequential(nn.Linear(2, 2))
        def step(self): self.model(torch.ones(1, 2)).sum().backward()
    Trainer().step()
kept = first()
second()
"""

OF_A_PART = BEGIN + """
class Auto(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = nn.Linear(4, 2), nn.Linear(2, 4)
def run(auto):
    auto.decoder(auto.encoder(torch.ones(1, 4))).sum().backward()
run(Auto())
"""

CHANGES = BEGIN + """
class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.head = nn.Embedding(10, 4), nn.Linear(4, 10, bias=False)
        self.head.weight = self.wte.weight
        self.hidden = [nn.Linear(4, 4)]
    def forward(self, x):
        x = self.hidden[0](self.wte(x))
        return (self.late(x) if hasattr(self, "late") else self.head(x)).tanh()
net = Tied()
net(torch.ones(2, dtype=torch.long)).sum().backward()
net.head.weight = nn.Parameter(torch.randn(10, 4))
net(torch.ones(2, dtype=torch.long)).sum().backward()
net.late = nn.Linear(4, 4)
net(torch.ones(2, dtype=torch.long)).sum().backward()
"""

FUNCTIONAL = BEGIN + """
w1 = torch.randn(4, 8, requires_grad=True)
params = [torch.randn(8, requires_grad=True), torch.randn(8, 2, requires_grad=True)]
table = {"gain": torch.ones(2, requires_grad=True)}
class Model:
    def __init__(self):
        self.scale = torch.ones(2, requires_grad=True)
    def loss(self, x):
        bias = torch.zeros(2, requires_grad=True)
        inner = lambda: bias
        (((torch.tanh(x @ w1 + params[0]) @ params[1] + bias) * self.scale) * table["gain"]).sum().backward()
Model().loss(torch.randn(3, 4))
"""

SCRIPTED = BEGIN + """
scripted = torch.jit.script(nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)))
scripted(torch.ones(2, 3)).sum().backward()
"""

RAISES = BEGIN + """
class Raises(nn.Module):
    def forward(self, x):
        x.exp()
        raise ValueError
class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.raises = Raises()
    def forward(self, x):
        x = x.sinh()
        try: self.raises(x)
        except ValueError: return x.cos()
Outer()(torch.ones(3, requires_grad=True)).abs().sum().backward()
"""

THREADS = BEGIN + """
net = nn.Linear(3, 3)
net(torch.ones(2, 3)).sum().backward()
def work():
    net(torch.ones(2, 3)).sum().backward()
threads = [threading.Thread(target=work, name=f"trainer {i} of the three") for i in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""

ONLY_THREADS = BEGIN + """
def work():
    net = nn.Linear(3, 3)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(4):
        net(torch.ones(2, 3)).sum().backward()
        optimizer.step()
for i in range(2):
    thread = threading.Thread(target=work, name=f"trainer {i}")
    thread.start()
    thread.join()
"""

INVISIBLE = BEGIN + """
import copy, dis, gc, sys, weakref
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(3, 3), nn.Linear(3, 3)
    def forward(self, x):
        h = self.a(x)
        seen.append(weakref.ref(h))
        return self.b(h).sum()
def run(net):
    kept = torch.ones(3, 3) * 2
    gone = weakref.ref(kept)
    net(kept).backward()
    del kept
    print(gone() is None, sorted(locals()))
seen = []
net = Net()
run(net)
print([ref() is None for ref in seen])
print([weakref.getweakrefcount(p) for p in net.parameters()], [sys.getrefcount(p) for p in net.parameters()])
module = torch.nn.modules.module
print(len(module._global_forward_hooks), len(module._global_forward_pre_hooks), type(nn.Module.__call__).__name__,
      nn.Module.__call__.__name__, len(threading.enumerate()), gc.isenabled())
copied = copy.deepcopy(net)
print([float(p.grad.sum()) for p in net.parameters()], float(copied(torch.ones(1, 3))))
if hasattr(torch.utils, "swap_tensors"):
    other = nn.Parameter(torch.zeros(3, 3))
    net.zero_grad()
    torch.utils.swap_tensors(net.a.weight, other)
    print(float(net(torch.ones(1, 3))))
class Logs(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        print(getattr(function, "__name__", function))
        return function(*args, **(kwargs or {}))
with Logs():
    Net()(torch.ones(1, 3)).backward()
"""

COMPILED = BEGIN + """
import sys
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(4, 4), nn.Tanh()) for _ in range(2))
        self.out = nn.Linear(4, 2)
    def forward(self, x):
        for block in self.blocks: x = block(x)
        if breaks: torch._dynamo.graph_break()
        return self.out(x)
net, breaks = Net(), False
net(torch.ones(1, 4)).sum().backward()
import torch._dynamo
for breaks in (False, True):
    torch._dynamo.reset()
    compiled = torch.compile(net, backend="aot_eager", fullgraph=not breaks)
    for _ in range(2): compiled(torch.ones(3, 4)).sum().backward()
    print({kind: dict(counts) for kind, counts in torch._dynamo.utils.counters.items()})
print([float(p.grad.double().sum()) for p in net.parameters()])
"""


TOGETHER = (ONE_ROOT, TWO_ROOTS, ALONE_THEN_NOT, OF_A_PART, CHANGES, FUNCTIONAL, SCRIPTED, RAISES, THREADS)


@functools.cache
def recorded_together(python, level):
    """{program: how it ended}, and the folder that has their tapes."""
    folder = tempfile.TemporaryDirectory()
    scripts = {}
    for i, program in enumerate(TOGETHER):
        with open(f"{folder.name}/{i}.py", "w") as file:
            file.write(program)
        scripts[program] = [file.name]
    environment = plain_environment(XDG_RUNTIME_DIR=folder.name)
    return together.run(python, scripts, folder.name, environment, (TAPEDECK, "record", "--level", str(level))), folder


class Names(RecordCase):
    def run_program(self, *command):
        done = self.run_in(*command)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def record(self, python, script, level, *options):
        done = super().record(python, self.script(script), options=["--force", "--level", level, *options, "-o", "t.tape"])
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.events("t.tape"), done

    def recorded(self, python, script, level):
        ended = recorded_together(python, level)[0][script]
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.tape = ended.tape
        return self.events(ended.tape)

    def each(self, script, *options):
        """The events, the labels of leaves, and the modules and classes of nodes by name: with the PyTorchs of the test, at each level."""
        for python in torches.of_test(self):
            for level in (1, 2):
                events = self.record(python, script, level, *options)[0] if options else self.recorded(python, script, level)
                names = {e["node"]: e["name"] for e in events if e["event"] == "node_new"}
                modules = collections.defaultdict(list)
                for e in events:
                    if e["event"] == "node_module":
                        modules[names[e["node"]]].append((e["module"], e["module_class"]))
                yield events, [e["label"] for e in events if e["event"] == "node_label"], modules

    def test_a_root_that_is_alone_has_the_names_of_pytorch(self):
        for _, labels, modules in self.each(ONE_ROOT):
            self.assertEqual(set(labels), {"0.lin.weight", "0.lin.bias", "0.scale", "2.weight", "2.bias"})
            self.assertEqual(set(modules["AddmmBackward0"]), {("0.lin", "Linear"), ("2", "Linear")})
            self.assertEqual(set(modules["SinBackward0"]), {("0", "Block")})
            self.assertEqual(set(modules["TanhBackward0"]), {("1", "Tanh")})
            self.assertEqual(set(modules["MseLossBackward0"]), {("criterion", "MSELoss")})

    def test_two_roots_are_told_apart(self):
        for _, labels, modules in self.each(TWO_ROOTS):
            self.assertEqual(set(labels), {"D.weight", "D.bias", "G.weight", "G.bias", "D#2.weight", "D#2.bias"})
            self.assertEqual(set(modules["AddmmBackward0"]), {("D", "Linear"), ("G", "Linear"), ("D#2", "Linear")})

    def test_readers_say_the_module(self):
        for _ in self.each(ONE_ROOT):
            told = self.run_program(TAPEDECK, "events", self.tape, "--kind", "node_begin").stdout
            self.assertRegex(told, r"AddmmBackward0 #\d+ \(Linear · 0\.lin\)")
            state = json.loads(self.run_program(TAPEDECK, "state", self.tape, "--at", "end", "--json").stdout)
            self.assertIn(("SinBackward0", "0", "Block"),
                          {(node["name"], node.get("module"), node.get("module_class")) for node in state["nodes"]})
            self.assertIn("2.bias", {node.get("label") for node in state["nodes"]})

    def test_a_root_that_comes_later_has_its_name(self):
        for _, labels, _ in self.each(ALONE_THEN_NOT):
            self.assertEqual(set(labels), {"weight", "bias", "Trainer.model.0.weight", "Trainer.model.0.bias"})

    def test_a_part_that_is_called_belongs_to_its_whole(self):
        for _, labels, _ in self.each(OF_A_PART):
            self.assertEqual(set(labels), {f"{part}.{name}" for part in ("encoder", "decoder")
                                           for name in ("weight", "bias")})

    def test_shared_replaced_and_late_parameters(self):
        for _, labels, modules in self.each(CHANGES):
            hidden = {"Tied.hidden[0].weight", "Tied.hidden[0].bias"}
            self.assertEqual(set(labels), hidden | {"wte.weight = head.weight", "wte.weight", "head.weight",
                                                    "late.weight", "late.bias"})
            self.assertEqual(set(modules["TanhBackward0"]), {("(Tied)", "Tied")})

    def test_leaves_of_functional_code_have_the_names_of_variables(self):
        for _, labels, _ in self.each(FUNCTIONAL):
            self.assertEqual(set(labels), {"w1", "params[0]", "params[1]", "table['gain']", "Model.scale", "bias"})

    def test_scripted(self):
        for _, labels, modules in self.each(SCRIPTED):
            self.assertEqual(set(labels), {"0.weight", "0.bias", "2.weight", "2.bias"})
            self.assertEqual(set(modules["TanhBackward0"]), {("(Sequential)", "Sequential")})

    def test_a_forward_that_raises_is_over(self):
        for _, _, modules in self.each(RAISES):
            self.assertEqual(modules["SinhBackward0"], [("(Outer)", "Outer")])
            self.assertEqual(modules["CosBackward0"], [("(Outer)", "Outer")])
            self.assertEqual(modules["AbsBackward0"], [])

    def test_threads_have_the_names_of_python(self):
        for events, _, _ in self.each(THREADS):
            named = {e["id"]: e["name"] for e in events if e["event"] == "thread_new"}
            owners = collections.Counter(named[e["owner"]] for e in events if e["event"] == "graph_task_begin")
            self.assertEqual(owners, collections.Counter(["main"] + [f"trainer {i} of the three" for i in range(3)]))

    def test_the_thread_that_begins_the_tape_has_its_name(self):
        for events, _, _ in self.each(ONLY_THREADS, "--every", "2"):
            named = {e["id"]: e["name"] for e in events if e["event"] == "thread_new"}
            self.assertCountEqual(named.values(), ["main", "trainer 0", "trainer 1"])

    def test_the_program_notices_nothing(self):
        for python in torches.of_test(self):
            plain = self.run_program(python, self.script(INVISIBLE)).stdout
            for options in ((), ("--stacks",)):
                _, done = self.record(python, INVISIBLE, 1, *options)
                self.assertEqual(done.stdout, plain)

    def test_compiled_graphs_are_the_same(self):
        python = torches.python_of("2.13.0")
        plain = self.run_program(python, self.script(COMPILED))
        for options in ((), ("--stacks",)):
            events, done = self.record(python, COMPILED, 1, *options)
            self.assertEqual(done.stdout, plain.stdout)
            said = [line for line in done.stderr.splitlines() if not line.startswith("tapedeck: ")]
            self.assertEqual(said, plain.stderr.splitlines())
            names = {e["node"]: e["name"] for e in events if e["event"] == "node_new"}
            made = {e["module"] for e in events
                    if e["event"] == "node_module" and names[e["node"]].startswith("CompiledFunction")}
            self.assertEqual(made, {"(Net)"})
            labels = {e["label"] for e in events if e["event"] == "node_label"}
            self.assertEqual(labels, {"out.weight", "out.bias"} | {f"blocks.{i}.0.{name}" for i in range(2)
                                                                   for name in ("weight", "bias")})


if __name__ == "__main__":
    torches.need_compiler()
    skipping.main(verbosity=2)
