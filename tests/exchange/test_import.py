# Traces of PyTorch's profilers as tapes: real ones that PyTorch writes here (both versions, where they are
# installed), ones written by hand with what bites in the wild, and damaged ones. What a tape must hold is
# computed anew from the JSON.
import gzip
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import torches

TAPEDECK = os.environ["TAPEDECK"]
SANITIZED = "ASAN_OPTIONS" in os.environ
EVALUATE = "autograd::engine::evaluate_function: "
MEGABYTE = 1 << 20

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


def run(*arguments):
    return subprocess.run([TAPEDECK, *map(str, arguments)], capture_output=True, text=True, timeout=300)


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


class Import(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = tempfile.TemporaryDirectory()
        cls.sets = []  # (folder, passes) for each PyTorch, the newest first
        for number, python in enumerate(reversed(torches.installed().values())):
            folder = os.path.join(cls.home.name, str(number))
            os.mkdir(folder)
            environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | {"OMP_NUM_THREADS": "1"}
            done = subprocess.run([python, "-c", MAKE_TRACES, folder, "24"], capture_output=True, text=True,
                                  env=environment, timeout=300)
            assert done.returncode == 0, done.stderr
            cls.sets.append((folder, json.loads(done.stdout.splitlines()[-1])))

    @classmethod
    def tearDownClass(cls):
        cls.home.cleanup()

    def path(self, name):
        return os.path.join(self.home.name, name)

    def imported(self, trace, stderr_has="imported"):
        tape = self.path("out.tape")
        done = run("import", trace, "-o", tape, "--force")
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        self.assertIn(stderr_has, done.stderr)
        self.assertEqual([n for n in os.listdir(self.home.name) if "part" in n or "import" in n], [])
        return tape

    def info(self, tape):
        document = json.loads(run("info", tape, "--json").stdout)
        self.assertEqual((document["probe_level"], document["damage"]), (3, None))
        checked = run("check", tape)
        self.assertEqual(checked.returncode, 0, checked.stdout)
        return document

    def events(self, tape, *kinds):
        arguments = [word for kind in kinds for word in ("--kind", kind)]
        return [json.loads(line) for line in run("events", tape, "--json", *arguments).stdout.splitlines()]

    def read(self, path):
        with open(path, "rb") as file:
            return file.read()

    def write(self, document, name="hand.json"):
        path = self.path(name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(document if isinstance(document, str) else json.dumps(document))
        return path

    def refused(self, trace, *words):
        """One clear line, exit status 2, and no tape."""
        tape = self.path("refused.tape")
        done = run("import", trace, "-o", tape)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith(f"tapedeck: {trace}: "), done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertFalse(os.path.exists(tape))
        self.assertEqual([n for n in os.listdir(self.home.name) if "part" in n], [])

    # Real traces

    def test_real(self):
        self.assertTrue(self.sets, "there is no PyTorch at all")
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

    # Traces by hand: what occurs in the wild

    def hand(self, *events, **document):
        """A document of X events (name, ts, dur, sequence number or None, changes)."""
        made = []
        for name, ts, dur, number, *changes in events:
            event = {"ph": "X", "cat": "cpu_op", "name": name, "pid": 7, "tid": 7, "ts": ts, "dur": dur, "args": {}}
            if number is not None:
                event["args"] = {"Sequence number": number, "Fwd thread id": 1 if "Backward" in name else 0}
            for change in changes:
                event.update(change)
            made.append(event)
        return document | {"traceEvents": made}

    def backward(self, name, ts, dur, number, *changes):
        return [(EVALUATE + name, ts, dur, number, *changes), (name, ts + 1, dur - 2, number, *changes)]

    def test_absolute_and_relative_times(self):
        node = self.backward("SinBackward0", 10.125, 5.5, 3)
        started = {}
        for base in (0, 1790857026000000000):
            absolute = [(n, ts + 1.79e15 * (base == 0), *rest) for n, ts, *rest in node]
            tape = self.imported(self.write(self.hand(*absolute, baseTimeNanoseconds=base) | {"schemaVersion": 1}))
            started[base] = self.info(tape)["started"]
            took = self.events(tape, "node_end")[0]["t"] - self.events(tape, "node_begin")[0]["t"]
            self.assertEqual(took, 3500)
        self.assertTrue(started[0].startswith("2026-09-21T"), started)
        self.assertTrue(started[1790857026000000000].startswith("2026-10-01T"), started)

    def test_deep_and_equal_spans(self):
        """The time grows with the number of spans, whatever their times are. Squares would take minutes here."""
        n = 150000
        call = "<built-in method run_backward of torch._C._EngineBase object>"
        frame = {"cat": "python_function"}
        for spans in (
                ((EVALUATE + "A", 10, 5, i) for i in range(n)),
                ((EVALUATE + "A", i, 2 * (n - i), i) for i in range(n)),
                (*((call, i + 1, n - i, None, frame) for i in range(n)), ("f", n, 10**7, None, frame),
                 *((EVALUATE + "A", 2 * n + 10 * i, 4, 1) for i in range(n))),
                (*(("x", 5, 9, None) for _ in range(n)),
                 *(("fwdbwd", 5, 0, None, {"ph": "f", "id": i}) for i in range(n)), (EVALUATE + "A", 50, 5, 1)),
                (*(("x", i / 1000, 10**9, None) for i in range(n)), *(("x", 1000 + i, 1, i) for i in range(n)),
                 *((EVALUATE + "ABackward0", 10**6 + i, 0.5, i) for i in range(n)))):
            done = subprocess.run([TAPEDECK, "import", self.write(self.hand(*spans)), "-o", self.path("out.tape"), "--force"],
                                  capture_output=True, text=True, timeout=120 if SANITIZED else 20)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_long_stacks(self):
        """Many stacks of long names make no endless tape: outer frames are left out."""
        n = 500
        frame = {"cat": "python_function"}
        spans = [*((f"{i:02}" * 500, i / 100, 10**6, None, frame) for i in range(60)),
                 *((f"leaf {i}", 10 + 10 * i, 9, None, frame) for i in range(n)),
                 *(("aten::sin", 11 + 10 * i, 1, i) for i in range(n)),
                 *((EVALUATE + "SinBackward0", 10**6 + 10 * i, 5, n - 1 - i) for i in range(n))]
        tape = self.imported(self.write(self.hand(*spans)))
        stacks = [event["stack"] for event in self.events(tape, "node_new")]
        self.assertEqual([stack.rpartition("\n")[2] for stack in stacks], [f"leaf {i}" for i in range(n)])
        self.assertTrue(all("59" * 500 in stack and len(stack) < 9000 for stack in stacks), len(stacks[0]))

    def test_exact_times(self):
        text = json.dumps(self.hand(*self.backward("SinBackward0", 111, 222, 3)))
        text = text.replace("111,", "1790857026123456.789,").replace("222,", "0.001,").replace("112,", "1.790857026123456789e15,")
        tape = self.imported(self.write(text.replace("220,", "\"0.001\",")))
        begin, end = self.events(tape, "node_begin", "node_end")
        self.assertEqual((begin["t"], end["t"]), (0, 1))

    def test_texts_for_numbers_and_control_characters(self):
        events = self.backward("Sin\tBackward0", 10, 5, "3", {"pid": "7", "tid": "stream 9", "ts": "10", "dur": "5"})
        text = json.dumps(self.hand(*events)).replace("\\t", "\t\x01")
        info = self.info(self.imported(self.write(text)))
        self.assertEqual((info["n_nodes"], info["threads"][0]["name"]), (1, "tid stream 9"))
        self.assertEqual(info["processes"][0]["pid"], 7)

    def test_keys_with_nul(self):
        """A key goes on after an escaped NUL. It is not the key that it begins with, however long it is."""
        events = self.hand(*self.backward("ABackward0", 10, 5, 2))
        for length in (0, 1, 1000, MEGABYTE, 4 * MEGABYTE, 15 * MEGABYTE):
            strange = {"ph\0" + "A" * length: "?", "ts\0" + "A" * length: "no time"}
            document = {"traceEvents\0" + "A" * length: 3} | events
            document["traceEvents"] = [strange | event | strange for event in events["traceEvents"]]
            self.assertEqual(self.info(self.imported(self.write(document)))["n_nodes"], 1)

    def test_terminal(self):
        """No name moves a terminal's cursor, whatever command prints it. JSON has the name as it is."""
        evil = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202eabc\u2066\x7f\r\u2028·é😀"
        seen = r"\u001b]0;owned\u0007\u001b[2J\u009b31m\u202eabc\u2066\u007f\u000d\u2028·é😀"
        document = self.hand(*self.backward(evil, 10, 5, 2), *self.backward("B" + evil, 30, 5, 3),
                             ("mark" + evil, 50, 1, None, {"cat": "user_annotation"}))
        document["traceEvents"].append({"ph": "M", "name": "thread_name", "pid": 7, "tid": 7,
                                        "args": {"name": evil + "\nforged line"}})
        trace, tape = self.write(document, f"x{evil}.json"), self.path(f"x{evil}.tape")
        harmless = re.compile(r"[^\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*")
        for arguments in (("import", trace, "-o", tape, "--force"), ("info", tape), ("events", tape), ("state", tape),
                          ("why", tape), ("check", tape), ("diff", tape, tape), ("import", trace, "-o", tape),
                          ("render", tape, "--view", "queues", "-o", tape + ".png"), ("render", tape, "--view", evil),
                          ("info", trace), ("open", trace + "none", tape), (evil,), ("info", "--" + evil),
                          ("run", "--devices", evil, trace), ("record", "--", trace), ("fit", trace)):
            if arguments[0] == "run" and b"libasan" in pathlib.Path(TAPEDECK).read_bytes():
                continue  # the module does not load into a Python without the sanitizer
            done = subprocess.run([TAPEDECK, *arguments], capture_output=True, timeout=60)
            for text in (done.stdout.decode(), done.stderr.decode()):
                self.assertTrue(harmless.fullmatch(text), (arguments[0], text))
                self.assertFalse([line for line in text.splitlines() if line.strip().startswith("forged")], text)
            self.assertIn(seen if arguments != ("check", tape) else "x", (done.stdout + done.stderr).decode(), arguments)
        raw = subprocess.run([TAPEDECK, "events", tape, "--json"], capture_output=True, timeout=60).stdout.decode()
        self.assertTrue(harmless.fullmatch(raw))
        names = [event["text"] for event in map(json.loads, raw.splitlines()) if event["event"] == "string"]
        self.assertIn(evil, names)
        self.assertIn("mark" + evil, names)
        broken = os.fsencode(self.path("")) + b"\x9b31m\xe9.tape"
        self.assertIn(rb"\x9b31m\xe9.tape: No such file", subprocess.run([TAPEDECK, "info", broken], capture_output=True).stderr)

    def test_events_not_last_and_strange_neighbours(self):
        document = {"deviceProperties": [{"id": 0, "traceEvents": [1, 2]}], "distributedInfo": {"rank": 3},
                    **self.hand(*self.backward("SinBackward0", 10, 5, 3)), "more": {"deep": [[[{}]]]}}
        document["traceEvents"] += [None, 1, "x", [], {}, {"ph": "X"}, {"ph": ["X"], "name": {"a": 1}, "args": 5}]
        info = self.info(self.imported(self.write(document)))
        self.assertEqual((info["n_nodes"], info["processes"][0]["rank"]), (1, 3))

    def test_events_in_any_order(self):
        events = [e for i in range(40) for e in self.backward(f"N{i}Backward0", 10 * i, 8, i)]
        straight = self.events(self.imported(self.write(self.hand(*events))), "node_begin")
        random.Random(1).shuffle(events)
        self.assertEqual(self.events(self.imported(self.write(self.hand(*events))), "node_begin"), straight)

    def test_misnested(self):
        """The node outlasts its evaluation, and the evaluation reaches into the next one."""
        events = [(EVALUATE + "ABackward0", 10, 10, 2), ("ABackward0", 11, 12, 2),
                  (EVALUATE + "BBackward0", 18, 10, 1), ("BBackward0", 19, 5, 1)]
        tape = self.imported(self.write(self.hand(*events)))
        info = self.info(tape)
        self.assertEqual((info["n_nodes"], len(info["graph_tasks"])), (2, 1))
        self.assertEqual([e["t"] for e in self.events(tape, "node_begin", "node_end")], [1000, 8000, 9000, 14000])

    def test_passes(self):
        """A forward operator ends a pass, and so does a node that runs again; without a node's own event it was not
        needed; an operator before the node is a hook's."""
        one = self.backward("ABackward0", 10, 5, 2)
        two = self.backward("ABackward0", 20, 5, 2)
        three = [(EVALUATE + "BBackward0", 40, 5, 1), ("aten::mul", 40.5, 0.25, None), ("BBackward0", 42, 2, 1)]
        not_needed = [(EVALUATE + "CBackward0", 50, 5, 0)]
        tape = self.imported(self.write(self.hand(*one, *two, ("aten::sin", 30, 5, 9), *three, *not_needed)))
        info = self.info(tape)
        self.assertEqual((info["n_nodes"], len(info["graph_tasks"])), (3, 3))
        self.assertEqual([e["reason"] for e in self.events(tape, "node_skip")], ["not_needed"])
        begin, end = self.events(tape, "hook_begin", "hook_end")
        self.assertEqual((begin["t"], end["t"], begin["kind"]), (30500, 30750, "tensor_pre"))

    def test_forward_threads(self):
        """Two threads count sequence numbers from 0: arrows tell whose node it is, and a device's thread works
        for the thread that made its nodes."""
        arrow = lambda phase, ts, tid, number: ("fwdbwd", ts, 0, None, {"ph": phase, "cat": "fwdbwd", "id": number, "tid": tid})
        on = lambda tid, forward, *rest: (*rest, {"tid": tid}, {"args": {"Sequence number": 0, "Fwd thread id": forward}})
        events = [on(1, 0, "aten::sin", 1, 2, 0), arrow("s", 1, 1, 11), on(2, 0, "aten::cos", 1, 2, 0), arrow("s", 1, 2, 12)]
        for ts, forward, name in ((10, 2, "CosBackward0"), (20, 1, "SinBackward0")):
            events += [on(9, forward, EVALUATE + name, ts, 5, 0), on(9, forward, name, ts + 1, 3, 0),
                       arrow("f", ts + 1, 9, 10 + forward)]
        tape = self.imported(self.write(self.hand(*events)))
        info = self.info(tape)
        thread = {t["name"]: t["id"] for t in info["threads"]}
        made = {e["name"]: e["thread"] for e in self.events(tape, "node_new")}
        self.assertEqual(made, {"SinBackward0": thread["tid 1"], "CosBackward0": thread["tid 2"]})
        self.assertEqual([t["owner"] for t in info["graph_tasks"]], [thread["tid 2"], thread["tid 1"]])

    def test_forward_thread_without_arrows(self):
        """Then numbers tell, where one thread has more of them."""
        forward = [("aten::sin", i, 0.5, i, {"tid": 1}) for i in range(5)]
        other = [("aten::sin", 0, 0.5, 0, {"tid": 2})]
        back = [e for i in range(5) for e in self.backward("SinBackward0", 100 - 10 * i, 5, i, {"tid": 1})]
        tape = self.imported(self.write(self.hand(*forward, *other, *back)))
        self.assertEqual([e["t"] for e in self.events(tape, "node_new")], [0, 1000, 2000, 3000, 4000])

    # What is no trace, and what is damaged

    def test_refused(self):
        deep = "[" * 100000
        for text, *words in (
                ("", "byte 0", "empty"), ("hello", "not a trace: byte 1"), ("{}", "no traceEvents"), ("[]", "no backward pass"),
                ("3", "no traceEvents"), ("\x00\xff\xfe" * 50, "byte"), ('{"traceEvents": 3}', "not a list"),
                ('{"traceEvents": {"a": 1}}', "not a list"), ('{"traceEvents": "x"}', "not a list"),
                ('{"traceEvents": [{"ph"', "ends here"), (deep, "deep"), ('{"traceEvents": [' + deep, "deep"),
                (self.hand(("aten::sin", 1, 1, 0)), "no backward pass"),
                (self.hand((EVALUATE + "A", 1e300, 1, 0)), "no backward pass", "number"),
                (self.hand((EVALUATE + "A", None, 1, 0)), "no backward pass"),
                ('[{"name": "' + "x" * (20 * MEGABYTE), "byte", "longer"),
                (self.hand(*((EVALUATE + "A", i, 1, 0, {"tid": i}) for i in range(5000))), "threads")):
            self.refused(self.write(text, "refused.json"), *words)
        self.refused(self.path("does not exist"), "No such file")
        self.refused(self.home.name, "is a directory")
        self.refused("/dev/zero", "not a regular file")
        trace = self.write(self.hand(*self.backward("ABackward0", 10, 5, 2)))
        self.assertIn("No such file", run("import", trace, "-o", self.path("none/x.tape")).stderr)
        self.imported(trace)
        again = run("import", trace, "-o", self.path("out.tape"))
        self.assertEqual(again.returncode, 2)
        self.assertIn("--force", again.stderr)

    def test_repetitive(self):
        """The tape is so small beside its contents that readers take it for hostile. `import` says how to open it."""
        trace = self.write(self.hand(*((EVALUATE + "A", 10, 5, 3) for _ in range(150000))))
        tape = self.imported(trace, stderr_has="tapedeck open --trust")
        self.assertEqual((run("info", tape).returncode, run("info", "--trust", tape).returncode), (2, 0))

    def test_trace_is_kept(self):
        trace = self.write(self.hand(*self.backward("ABackward0", 10, 5, 2)))
        before = self.read(trace)
        link = self.path("link.json")
        os.symlink(trace, link)
        for out in (trace, link):
            done = run("import", trace, "-o", out, "--force")
            self.assertEqual(done.returncode, 2, done)
            self.assertIn("is the trace itself", done.stderr)
            self.assertEqual(self.read(trace), before)

    def test_left_out(self):
        good = self.backward("ABackward0", 10, 5, 2)
        bad = [("aten::sin", "soon", 1, 0), ("aten::sin", 1, -3, 0), ("aten::sin", 1e200, 1, 0)]
        self.imported(self.write(self.hand(*good, *bad)), "3 events left out for this reason")

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

    def test_killed(self):
        """A signal leaves neither a tape nor a part of one, and still ends the command."""
        trace = self.write(self.hand(*((EVALUATE + "A", 10 * i, 5, i) for i in range(300000))))
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with tempfile.TemporaryDirectory(dir=self.home.name) as folder:
                command = subprocess.Popen([TAPEDECK, "import", trace, "-o", os.path.join(folder, "out.tape")],
                                           stderr=subprocess.PIPE,
                                           preexec_fn=lambda number=number: signal.signal(number, signal.SIG_DFL))
                while command.poll() is None and not os.listdir(folder):
                    time.sleep(0.001)
                self.assertIsNone(command.poll(), "it was over before it could be killed")
                command.send_signal(number)
                command.communicate()
                self.assertEqual((command.returncode, os.listdir(folder)), (-number, []))

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
    unittest.main(verbosity=2)
