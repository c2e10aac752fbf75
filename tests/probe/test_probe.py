# The engine probe in real PyTorch programs: what it sees holds together, equals what PyTorch itself tells,
# and changes nothing: outputs and gradients are those of an unrecorded run, bit by bit.
import hashlib
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import skipping
import together
import torches
from preloads import preload
from probe_programs import DEEP, ERROR, ERROR_TEXTS, HOOKS, JOINS, MLP, PRELUDE, REENTRANT, SELECTIVE, THREADS
from record_case import plain_environment

TAPEDECK = os.environ["TAPEDECK"]
BUILD = pathlib.Path(os.environ["BUILD_ROOT"])
PROBE = BUILD / "engine" / "probe"

FORK = PRELUDE + """
import multiprocessing
def child(queue):
    x = torch.ones(3, requires_grad=True)
    (x * 3).sum().backward()
    queue.put(x.grad.tolist())
x = torch.ones(3, requires_grad=True)
(x * 2).sum().backward()
fork = multiprocessing.get_context("fork")
queue = fork.Queue()
process = fork.Process(target=child, args=(queue,))
process.start()
print(queue.get(timeout=30), x.grad.tolist())
process.join()
"""

ORDER = PRELUDE + """
x = torch.randn(4, requires_grad=True)
w = torch.randn(4, 4, requires_grad=True)
h = x
for _ in range(10): h = torch.tanh(h @ w) + x
loss = h.sum()
with torch.autograd.profiler.profile(use_kineto=False) as profile: loss.backward()
for event in sorted(profile.function_events, key=lambda e: e.time_range.start):
    if event.name.startswith("autograd::engine::evaluate_function: "):
        print(event.name.split(": ")[1].replace("torch::autograd::", ""))
"""


# Of each PyTorch, one process imports it and forks for these.
TOGETHER = (MLP, JOINS, SELECTIVE, REENTRANT, DEEP, ERROR, ERROR_TEXTS, HOOKS, THREADS, ORDER)

# Has its observer compiled, unless it is there, and says where it is.
FIND_OBSERVER = """
import torch
torch.ones(1, requires_grad=True).sum().backward()
print({line.split(maxsplit=5)[-1].strip() for line in open("/proc/self/maps") if "/observer.so" in line}.pop())
"""


class Torch:
    """A Python with its PyTorch, its observer, and what all programs of TOGETHER did: by themselves, and recorded."""

    def __init__(self, version, python, folder):
        self.version, self.python, self.folder = version, python, folder / version
        self.folder.mkdir()
        self.environment = dict(os.environ, OMP_NUM_THREADS="1", PYTHONWARNINGS="ignore")
        found = subprocess.run([TAPEDECK, "record", "--level", "1", "-o", str(self.folder / "observer.tape"), "--", python, "-c",
                                FIND_OBSERVER], capture_output=True, text=True, timeout=300, env=plain_environment())
        assert found.returncode == 0, found.stderr
        self.recording = dict(self.environment, LD_PRELOAD=preload(PROBE / "libtapedeck-preload.so"), TAPEDECK_SESSION="none",
                              TAPEDECK_OBSERVER=found.stdout.strip())
        scripts = {program: [self.script(program)] for program in TOGETHER}
        self.plain = together.run(python, scripts, str(self.folder), self.environment)
        self.recording["TAPEDECK_TAPE"] = str(self.folder / "together.%p.tape")
        self.recorded = together.run(python, scripts, str(self.folder), self.recording)

    def script(self, program):
        path = self.folder / (hashlib.sha1(program.encode()).hexdigest()[:12] + ".py")
        path.write_text(program)
        return str(path)

    def run(self, program, **environment):
        return subprocess.run([self.python, self.script(program)], capture_output=True, text=True, timeout=120,
                              env=dict(self.environment, **environment))


class Probe(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.torches = [Torch(version, python, cls.folder) for version, python in torches.each()]

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def record(self, torch, program):
        """How a program ended by itself and recorded, and its tapes."""
        if program in TOGETHER:
            done = torch.recorded[program]
            return torch.plain[program], done, torch.folder.glob(f"together.{done.process}.tape")
        pattern = torch.folder / "alone.%p.tape"
        return (torch.run(program), torch.run(program, **dict(torch.recording, TAPEDECK_TAPE=str(pattern))),
                torch.folder.glob("alone.*.tape"))

    def tapes(self, torch, program):
        """The events of a program's tapes. To record it changes nothing."""
        plain, done, tapes = self.record(torch, program)
        self.assertEqual(plain.returncode, 0, plain.stderr)
        self.assertEqual((done.returncode, done.stdout), (0, plain.stdout), done.stderr)
        self.assertNotIn("tapedeck", done.stderr)
        self.output = done.stdout
        return [self.checked(tape) for tape in tapes]

    def checked(self, tape):
        check = subprocess.run([TAPEDECK, "check", str(tape)], capture_output=True, text=True, timeout=300)
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)
        text = subprocess.run([TAPEDECK, "events", str(tape), "--json"], capture_output=True, text=True, check=True,
                              timeout=300).stdout
        events = [json.loads(line) for line in text.splitlines()]
        self.assertGreater(len(events), 10)
        lines = subprocess.run([TAPEDECK, "events", str(tape)], capture_output=True, text=True, check=True, timeout=300)
        self.assertEqual(lines.stdout.count("\n"), len(events))
        return events

    def each(self, script, n_tapes=1):
        self.assertTrue(self.torches)
        for torch in self.torches:
            tapes = self.tapes(torch, script)
            self.assertEqual(len(tapes), n_tapes, torch.version)
            yield tapes if n_tapes > 1 else tapes[0]

    def count(self, events, kind, **fields):
        return sum(e["event"] == kind and all(e[k] == v for k, v in fields.items()) for e in events)

    def names(self, events):
        return {e["node"]: e["name"] for e in events if e["event"] == "node_new"}

    def test_mlp(self):
        for events in self.each(MLP):
            self.assertEqual(self.count(events, "graph_task_end", status="ok"), 3)
            self.assertEqual(self.count(events, "accumulate", mode="steal"), 18)
            for kind in ("node_end", "queue_push", "queue_pop"):
                self.assertEqual(self.count(events, kind), self.count(events, "node_begin"))

    def test_joins(self):
        for events in self.each(JOINS):
            self.assertEqual(self.count(events, "buffer_add"),
                             self.count(events, "dependency_dec") + 1)
            summed = {e["mode"] for e in events if e["event"] == "buffer_add"}
            self.assertIn("out_of_place", summed)

    def test_selective(self):
        for events in self.each(SELECTIVE):
            self.assertGreater(self.count(events, "capture"), 4)
            self.assertGreater(self.count(events, "exec_info", needed=False), 0)

    def test_reentrant(self):
        for events in self.each(REENTRANT):
            inner = [e for e in events if e["event"] == "graph_task_begin" and e["depth"] == 1]
            self.assertEqual(len(inner), 1)
            entered = [e for e in events if e["event"] == "reentrant_enter"]
            self.assertEqual([self.names(events)[e["node"]] for e in entered], ["InnerBackward"])

    def test_deep(self):
        for events in self.each(DEEP):
            self.assertEqual(max(e["depth"] for e in events if e["event"] == "graph_task_begin"), 151)
            self.assertGreater(self.count(events, "pool_push"), 0)
            self.assertGreater(self.count(events, "pool_thread_new"), 0)

    def test_error(self):
        for events in self.each(ERROR):
            self.assertEqual(self.count(events, "graph_task_end", status="error"), 2)
            errors = [e for e in events if e["event"] == "error"]
            self.assertEqual([self.names(events)[e["node"]] for e in errors], ["BadBackward"] * 2)
            self.assertTrue(all("boom" in e["text"] for e in errors))

    def test_error_texts(self):
        """The tape's text is what Python shows: no backtrace of C++."""
        for events in self.each(ERROR_TEXTS):
            texts = [e["text"] for e in events if e["event"] == "error"]
            self.assertEqual(len(texts), 5)
            for text in texts:
                self.assertIn(text, self.output)

    def test_hooks(self):
        for events in self.each(HOOKS):
            begun = [e["kind"] for e in events if e["event"] == "hook_begin"]
            self.assertGreaterEqual(len(begun), 4)

    def test_threads(self):
        for events in self.each(THREADS):
            self.assertEqual(self.count(events, "graph_task_end", status="ok"), 60)
            self.assertEqual(self.count(events, "queue_new"), 3)

    def test_fork(self):
        skipping.need_semaphores()
        for tapes in self.each(FORK, n_tapes=2):
            for events in tapes:
                self.assertEqual(self.count(events, "graph_task_end", status="ok"), 1)
                self.assertEqual(self.count(events, "session_end"), 1)

    def test_order_is_that_of_record_function(self):
        for events in self.each(ORDER):
            names = self.names(events)
            begun = [names[e["node"]] for e in events if e["event"] == "node_begin"]
            self.assertEqual(begun, self.output.split())
            self.assertGreater(len(begun), 40)


if __name__ == "__main__":
    torches.need_compiler()
    skipping.main(verbosity=2)
