# Traces of PyTorch's profilers as tapes: real ones that PyTorch writes here (both versions, where they are
# installed), and what becomes of them if they are cut off or changed. What a tape must hold is computed anew from
# the JSON.
import gzip
import json
import os
import random
import re
import subprocess
import sys

import skipping
import torches
from import_case import EVALUATE, MEGABYTE, SANITIZED, TAPEDECK, ImportCase, run

# Writes three traces into the folder argv[1]; prints how many backward passes each has.
MAKE_TRACES = r'''
import json, sys, torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function, schedule
torch.set_num_threads(1)
torch.manual_seed(1)
folder = sys.argv[1]

def train(steps, p, forward):
    for step in range(steps):
        with record_function("my region"):
            forward().backward()
        p.step()

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(4, 4, 3, padding=1), nn.Conv2d(4, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
    def forward(self, x):
        return torch.relu(x + self.norm(self.b(torch.relu(self.a(x)))))

resnet = nn.Sequential(nn.Conv2d(3, 4, 3), Block(), Block(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2))
images = torch.randn(2, 3, 12, 12)
with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as p:
    train(3, p, lambda: resnet(images).square().sum())
p.export_chrome_trace(folder + "/resnet.json")

lstm, attention = nn.LSTM(5, 6), nn.TransformerEncoderLayer(6, 2, 8, dropout=0.0)
words = torch.randn(4, 2, 5)

def my_tensor_hook(grad):
    return grad * 2

def my_forward():
    hidden, _ = lstm(words)
    hidden.register_hook(my_tensor_hook)
    return attention(hidden).sum()

class Inner(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2
    @staticmethod
    def backward(ctx, grad):
        x, = ctx.saved_tensors
        with torch.enable_grad():
            y = x.detach().requires_grad_()
            (y * y).sum().backward()
        return grad * 2

with profile(activities=[ProfilerActivity.CPU], with_stack=True, with_modules=True,
             schedule=schedule(wait=0, warmup=0, active=100)) as p:
    train(2, p, my_forward)
    x = torch.ones(3, requires_grad=True)
    Inner.apply(x).sum().backward()
p.export_chrome_trace(folder + "/attention.json")

w = [torch.ones(1, requires_grad=True) for _ in range(4)]
def chain():
    y = w[0]
    for i in range(200):
        y = (y * w[i % 4]).sin()
    return y
with profile(activities=[ProfilerActivity.CPU]) as p:
    train(int(sys.argv[2]), p, chain)
p.export_chrome_trace(folder + "/tiny.json")
print(json.dumps({"resnet": 3, "attention": 4, "tiny": int(sys.argv[2])}))
'''


# Runs a command and prints the most memory it took (KiB) and its CPU time. From a process of its own, because
# the kernel counts what a process was before its exec.
MEASURE = '''
import json, resource, subprocess, sys
status = subprocess.run(sys.argv[1:]).returncode
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([usage.ru_maxrss, usage.ru_utime + usage.ru_stime]))
sys.exit(status)
'''


def trace_events(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        document = json.load(file, strict=False)
    return document if isinstance(document, list) else document["traceEvents"]


def nanoseconds(number):
    """Exactly, from the text that Python read as a float: microseconds with at most three decimals."""
    whole, _, part = f"{number:.3f}".partition(".")
    return int(whole) * 1000 + int(part)


class Expected:
    """What follows from a trace, the slow and simple way."""

    def __init__(self, path):
        evaluations = [e for e in trace_events(path) if e["name"].startswith(EVALUATE)]
        numbered = {(e["args"]["Fwd thread id"], e["args"]["Sequence number"]) for e in evaluations
                    if "Sequence number" in e.get("args", {})}
        bare = [e for e in evaluations if "Sequence number" not in e.get("args", {})]
        self.n_nodes = len(numbered) + len(bare)
        self.n_runs = len(evaluations)
        self.durations = sorted(nanoseconds(e["dur"]) for e in evaluations)
        self.names = sorted(e["name"][len(EVALUATE):].removeprefix("torch::autograd::") for e in evaluations)


class ImportRealTraces(ImportCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.sets = []  # (folder, passes) for each PyTorch, the newest first
        for number, python in enumerate(reversed(torches.pythons())):
            folder = os.path.join(cls.home.name, str(number))
            os.mkdir(folder)
            environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | {"OMP_NUM_THREADS": "1"}
            done = subprocess.run([python, "-c", MAKE_TRACES, folder, "24"], capture_output=True, text=True,
                                  env=environment, timeout=300)
            assert done.returncode == 0, done.stderr
            cls.sets.append((folder, json.loads(done.stdout.splitlines()[-1])))

    def test_real(self):
        for folder, passes in self.sets:
            for name, n_passes in passes.items():
                trace = os.path.join(folder, name + ".json")
                expected, tape = Expected(trace), self.imported(trace)
                info = self.info(tape)
                self.assertEqual(info["n_nodes"], expected.n_nodes, trace)
                kinds = info["events_by_kind"]
                self.assertEqual(kinds["node_begin"] + kinds.get("node_skip", 0), expected.n_runs)
                self.assertEqual(kinds["node_begin"], kinds["node_end"])
                self.assertEqual(len(info["graph_tasks"]), n_passes, trace)
                self.assertEqual(info["known"]["node_begin"], "observed")
                self.assertFalse((info["started"] or "").startswith("1970"), info["started"])
                self.assertEqual(info["known"]["node_new"], "reconstructed")
                self.assertEqual(info["known"]["queue_pop"], "absent")
                names = {e["node"]: e["name"] for e in self.events(tape, "node_new")}
                ran = sorted(names[e["node"]] for e in self.events(tape, "node_begin"))
                self.assertEqual(ran, expected.names)
                began, took = {}, []
                for event in self.events(tape, "thread_state"):
                    if event["state"] == "processing":
                        began.setdefault(event["thread"], []).append(event["t"])
                    elif event["state"] == "idle":
                        took.append(event["t"] - began[event["thread"]].pop())
                step = 0 if any(duration % 1000 for duration in expected.durations) else 1000  # of the old clock
                for ours, theirs in zip(sorted(took), expected.durations, strict=True):
                    self.assertLessEqual(abs(ours - theirs), step, trace)

    def test_every_view(self):
        tape = self.imported(os.path.join(self.sets[0][0], "attention.json"))
        n_events = self.info(tape)["n_events"]
        for view in ("graph", "timeline", "queues", "overview"):
            picture = self.path(view + ".png")
            done = run("render", tape, "--view", view, "--at", n_events // 2, "--size", "600x400", "-o", picture)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertGreater(os.path.getsize(picture), 1000)
        self.assertEqual(run("state", tape, "--at", n_events - 1, "--json").returncode, 0)

    def test_stacks_modules_hooks_and_inner_passes(self):
        for folder, _ in self.sets:
            trace = os.path.join(folder, "attention.json")
            tape = self.imported(trace)
            depths = [t["depth"] for t in self.info(tape)["graph_tasks"]]
            self.assertEqual(sorted(depths), [0, 0, 0, 1])
            enter, = self.events(tape, "reentrant_enter")
            leave, = self.events(tape, "reentrant_leave")
            self.assertEqual([enter[k] for k in ("graph_task", "outer", "node")],
                             [leave[k] for k in ("graph_task", "outer", "node")])
            nodes = {e["node"]: e for e in self.events(tape, "node_new")}
            self.assertEqual(nodes[enter["node"]]["name"], "InnerBackward")
            if not any(e.get("cat") == "python_function" for e in trace_events(trace)):
                continue  # a build without Kineto: no stacks
            numbered = [e for e in nodes.values() if e["sequence_nr"] < 1 << 63]
            with_stack = [e for e in numbered if "my_forward" in (e["stack"] or "")]
            self.assertGreater(len(with_stack), len(numbered) * 0.8)
            modules = {e["module"] for e in self.events(tape, "node_module")}
            self.assertTrue(any(m.startswith("TransformerEncoderLayer_0.") for m in modules), modules)
            owners = [e["owner"] for e in self.events(tape, "hook_begin")]
            self.assertEqual(len([o for o in owners if o and o.endswith(" my_tensor_hook")]), 2, owners)
            self.assertIn("my region", [e["text"] for e in self.events(tape, "mark")])
            self.assertEqual([e["iteration"] for e in self.events(tape, "step")], [0, 1, 2])

    def test_edges_follow(self):
        """Leaves right after the node that completes them: in this chain of w[i] * y, always a multiplication."""
        for folder, _ in self.sets:
            tape = self.imported(os.path.join(folder, "tiny.json"))
            names = {e["node"]: e["name"] for e in self.events(tape, "node_new")}
            edges = self.events(tape, "edge_new")
            self.assertEqual(len(edges), sum("AccumulateGrad" in name for name in names.values()))
            for edge in edges:
                self.assertEqual(names[edge["from"]], "MulBackward0")
                self.assertEqual(names[edge["to"]], "AccumulateGrad")

    def test_gzip(self):
        trace = os.path.join(self.sets[0][0], "resnet.json")
        plain = self.read(self.imported(trace))
        packed = os.path.join(self.home.name, "resnet.json")
        with open(trace, "rb") as file, open(packed, "wb") as out:
            out.write(gzip.compress(file.read()))
        self.assertEqual(self.read(self.imported(packed)), plain)
        with open(packed, "rb+") as file:
            file.truncate(os.path.getsize(packed) * 2 // 3)
        self.imported(packed, "compressed file: it ends here")
        with open(trace, "rb") as file, gzip.open(packed, "wb") as out:
            text = file.read()
            end = text.rindex(b"}", 0, text.rindex(b"]")) + 1
            out.write(text[:end] + 20 * MEGABYTE * b", {}" + text[end:])
        self.imported(packed, "its contents are more than 100 times as large as the file")

    def test_huge(self):
        """A real trace, grown beyond 200 MB by repeating its events with later times and further numbers."""
        trace, huge = os.path.join(self.sets[0][0], "tiny.json"), self.path("huge.json")
        size, target = os.path.getsize(trace), (20 if SANITIZED else 205) * MEGABYTE
        with open(trace, encoding="utf-8") as file:
            text = file.read()
        first = text.index("[", max(text.find('"traceEvents"'), 0))  # some builds write a bare list
        begin, end = text.index("{", first), text.rindex("}", 0, text.rindex("]"))
        events = text[begin:end + 1]
        copies = target // len(events) + 1
        with open(huge, "w", encoding="utf-8") as file:
            file.write(text[:begin])
            for copy in range(copies):
                shifted = re.sub(r'"(ts|Sequence number|id)": (\d+)',
                                 lambda m: f'"{m[1]}": {int(m[2]) + copy * 10**8}', events)
                file.write((",\n" if copy else "") + shifted)
            file.write(text[end + 1:])
        expected = Expected(trace)
        self.assertGreater(os.path.getsize(huge), 0 if SANITIZED else 200 * MEGABYTE)
        tape = self.path("huge.tape")
        done = subprocess.run([sys.executable, "-c", MEASURE, TAPEDECK, "import", huge, "-o", tape],
                              capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        kibibytes, seconds = json.loads(done.stdout)
        print(f"{os.path.getsize(huge) / 1e6:.0f} MB in {seconds:.2f} s of CPU time, {kibibytes / 1024:.0f} MiB at most",
              file=sys.stderr)
        if not SANITIZED:
            self.assertLess(kibibytes, 100 * 1024)  # 300 MB would do
        self.assertEqual(self.info(tape)["n_nodes"], expected.n_nodes * copies)
        os.unlink(huge)
        os.unlink(tape)

    def test_breaks_off(self):
        """What is whole is imported, and said to end early."""
        trace = os.path.join(self.sets[0][0], "resnet.json")
        text = self.read(trace)
        cut = self.path("cut.json")
        for n_bytes in (len(text) - 3, len(text) // 2):
            with open(cut, "wb") as file:
                file.write(text[:n_bytes])
            tape = self.imported(cut, "the file ends here, the trace does not; everything before it was imported")
            self.assertIn(f"breaks off at byte {n_bytes}", run("info", tape).stdout)
            self.assertGreater(self.info(tape)["n_nodes"], 10)
        between = text.index(b"},", len(text) // 2) + 2  # inside a string the same bytes would be text
        with open(cut, "wb") as file:
            file.write(text[:between] + b"\x80{]" + text[between:])
        self.imported(cut, "byte ")

    def test_mutated(self):
        """Whatever a trace contains: a tape that opens and checks, or one clear line. Never a crash."""
        dice = random.Random(5)
        tokens = [b"null", b"-1", b"1e308", b"99999999999999999999", b'"', b"{", b"}", b"[", b"]", b":", b",", b"\x00", b"\xff",
                  b'"ph": "M", ', b'"tid": "x", ', b'"dur": 1e9, ', b'"Fwd thread id": 4294967295, ', b'"ts": 0, ']
        traces = [os.path.join(folder, name) for folder, _ in self.sets for name in ("resnet.json", "attention.json")]
        mutated, tape = self.path("mutated.json"), self.path("mutated.tape")
        n_imported = 0
        for turn in range(60):
            text = bytearray(self.read(traces[turn % len(traces)])[:400000])
            for _ in range(dice.choice((1, 3, 30))):
                at = dice.randrange(len(text))
                if turn % 3 == 0:  # values, so that the document stays one
                    found = re.compile(rb'": -?[0-9.]+').search(text, at)
                    if found:
                        text[found.start() + 3:found.end()] = dice.choice((b"0", b"-5", b"1e18", b"null", b'"1"', b"7.5", b"[]"))
                else:
                    text[at:at + dice.choice((0, 1, 4))] = dice.choice(tokens)
            with open(mutated, "wb") as file:
                file.write(text)
            done = run("import", mutated, "-o", tape, "--force")
            self.assertIn(done.returncode, (0, 2), done.stderr)
            self.assertNotIn("Sanitizer", done.stderr)
            if done.returncode == 0:
                n_imported += 1
                self.info(tape)
        self.assertGreater(n_imported, 20)


if __name__ == "__main__":
    skipping.main(verbosity=2)
