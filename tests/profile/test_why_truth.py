#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
# Each clause that `why` says is true. Small programs run on Tapedeck's own engine and on PyTorch. At every event, this
# test takes the sentences apart and compares them with books of its own, which it keeps from the events alone.
#   test_why_truth.py [unittest's arguments]
import collections
import concurrent.futures
import json
import os
import re
import subprocess
import tempfile
import textwrap
import unittest

import torches

TAPEDECK = os.environ["TAPEDECK"]
HIGHEST = 2**64 - 1
PROGRAMS = {
    "shared": """
        x = torch.ones(2, 2, requires_grad=True)
        y = torch.full((2, 2), 2., requires_grad=True)
        a = x * y
        b = x + y
        (a @ b + a.t() @ x + y.exp()).sum().backward()
        """,
    "twice the same": """
        x = torch.ones(2, 2, requires_grad=True)
        y = x * 2
        z = y @ y
        (z * z + y).sum().backward()
        """,
    "many ready": """
        ws = [torch.full((2,), float(i), requires_grad=True) for i in range(12)]
        torch.stack([w.exp() for w in ws]).sum().backward()
        """,
    "nested": """
        class Inner(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x * 2
            @staticmethod
            def backward(ctx, g):
                x, = ctx.saved_tensors
                with torch.enable_grad():
                    y = x.detach().requires_grad_()
                    (y * y + y).sum().backward()
                return g * 2
        u = torch.ones(2, requires_grad=True)
        v = torch.ones(2, requires_grad=True)
        (Inner.apply(u) + v * 2 + u.exp()).sum().backward()
        """,
    "two threads": """
        import threading
        x = torch.ones(3, 3, requires_grad=True)
        def work(k):
            h = x * k
            for i in range(4):
                h = h @ x + x
            h.sum().backward()
        threads = [threading.Thread(target=work, args=(k,)) for k in (1., 2.)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        """,
    "selective": """
        x = torch.ones(2, requires_grad=True)
        y = torch.ones(2, requires_grad=True)
        a = x * y
        b = a.exp()
        torch.autograd.grad((a + b).sum(), [x, a])
        """,
    "hooks and retained": """
        x = torch.ones(2, requires_grad=True)
        h = (x * 3).tanh()
        h.register_hook(lambda g: g * 2)
        loss = (h + x).sum()
        loss.backward(retain_graph=True)
        loss.backward()
        """,
}
# All events of these kinds are asked for, of each other kind two.
OF_STATE = ("queue_push", "queue_pop", "buffer_new", "buffer_add", "buffer_park", "buffer_expose", "dependency_dec")
ENGINES = {"own": None, **torches.installed()}


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, (words, done.stderr[-2000:])
    return done.stdout


def record(folder, program, python):
    script, tape = os.path.join(folder, "program.py"), os.path.join(folder, "program.tape")
    with open(script, "w") as file:
        file.write(("import tapedeck as torch\n" if python is None else "import torch\n") + textwrap.dedent(PROGRAMS[program]))
    run(TAPEDECK, *(["run", "--force", "-o", tape, script] if python is None
                    else ["record", "--force", "-o", tape, "--", python, script]))
    return tape


class Books:
    """What is so after some events of a tape."""

    def __init__(self):
        self.sequence_nr, self.depth, self.over = {}, {}, set()
        self.expected, self.dependencies, self.arrived = {}, {}, collections.Counter()
        self.queues = collections.defaultdict(list)
        self.running, self.done = set(), set()

    def take(self, event):
        kind, node, task = event["event"], event.get("node"), event.get("graph_task")
        key = node, task
        if kind in ("node_new", "node_sequence_nr"):
            self.sequence_nr[node] = HIGHEST if event["sequence_nr"] in (None, "max") else event["sequence_nr"]
        elif kind == "graph_task_begin":
            self.depth[task] = event["depth"]
        elif kind == "graph_task_end":
            self.over.add(task)
        elif kind == "dependency":
            self.expected[key] = self.dependencies[key] = event["count"]
        elif kind == "dependency_dec":
            self.dependencies[key] = event["left"]
        elif kind == "buffer_add":
            self.arrived[key] += 1
        elif kind == "queue_push":
            self.queues[event["queue"]].append(key)
        elif kind == "queue_pop" and key in self.queues[event["queue"]]:
            self.queues[event["queue"]].remove(key)
            self.running.add(node)
        elif kind == "node_begin":
            self.running.add(node)
        elif kind == "node_end":
            self.running.discard(node)
            self.done.add(key)

    def rank(self, key):
        return float("inf") if key[1] in self.over else self.depth[key[1]]

    def key(self, entry):
        return self.rank(entry), self.sequence_nr[entry[0]]

    def is_queued(self, node):
        return any(entry[0] == node for queue in self.queues.values() for entry in queue)


class Reader:
    """Takes the words of `why` apart. It turns each name of a node into «number»."""

    def __init__(self, nodes):
        self.numbers = {}
        for node in nodes:
            name = f"{node['name']}({node['label']})" if node.get("label") else f"{node['name']} #{node['id']}"
            self.numbers[name] = node["id"]
            if node.get("module"):
                self.numbers[f"{name} ({node['module']})"] = node["id"]
        names = sorted(self.numbers, key=len, reverse=True)
        self.pattern = re.compile("|".join(re.escape(name) for name in names) + r"(?![0-9])") if names else None

    def read(self, text):
        return self.pattern.sub(lambda found: f"«{self.numbers[found[0]]}»", text) if self.pattern else text


def named(text):
    """The nodes of "«3», «4» and 2 more", and how many there are with those that have no name."""
    nodes = [int(number) for number in re.findall(r"«(\d+)»", text)]
    more = re.search(r"and (\d+) more", text)
    return nodes, len(nodes) + (int(more[1]) if more else 0)


class WhyTruth(unittest.TestCase):
    def assert_reason(self, clause, books, winner, losers, wins):
        """One clause on why an entry goes before, or after, others."""
        numbers = re.search(r"\((?:depth )?(\d+) against (\d+)\)", clause)
        pairs = [(winner, loser) if wins else (loser, winner) for loser in losers]
        for first, second in pairs:
            (deep, high), (less_deep, low) = books.key(first), books.key(second)
            if "equal" in clause:
                self.assertEqual((deep, high), (less_deep, low), clause)
            elif "sequence_nr is" in clause or "highest sequence_nr" in clause:
                self.assertEqual(deep, less_deep, clause)
                self.assertGreater(high, low, clause)
            elif "nested" in clause:
                self.assertGreater(deep, less_deep, clause)
            else:
                self.assertIn("graph task", clause)
        if "highest" in clause:
            self.assertTrue(all(books.key(first)[1] == HIGHEST for first, _ in pairs), clause)
        if numbers:
            place = 0 if "depth" in numbers[0] else 1
            self.assertEqual(int(numbers[1]), books.key(winner)[place], clause)
            self.assertIn(int(numbers[2]), [books.key(loser)[place] for loser in losers], clause)

    def assert_order(self, text, books, entry, others, wins):
        """The clauses on the order of a queue. Each of the others is in one of them."""
        rest = list(others)
        groups = re.findall(r"Against ([^:]*?), ((?:its|depths|AccumulateGrad has|a graph|a task)[^.]*)\.", text)
        for who, clause in groups:
            nodes, n = named(who)
            group = [other for other in rest if other[0] in nodes]
            self.assertEqual(len(group), len(nodes), text)
            for other in group:
                rest.remove(other)
            self.assert_reason(clause, books, entry, group, wins)
            if n > len(nodes):
                return
        if groups:
            self.assertEqual(rest, [], text)
        else:
            self.assert_reason(text, books, entry, others, wins)

    def assert_waits(self, text, books, task):
        for node, left, total, senders in re.findall(
                r"«(\d+)» still waits for (\d+) of (\d+) gradients?((?:, from|,| and)?[^.;]*)", text):
            key = int(node), task
            self.assertEqual((int(left), int(total)), (books.dependencies[key], books.expected[key]), text)
            n_owed = 0
            for sender, state, on_its_way, n in re.findall(r"«(\d+)» \((\w+)(, on its way)?(?:, (\d+) gradients)?\)", senders):
                n_owed += int(n or 1)
                is_done = (int(sender), task) in books.done
                self.assertEqual(state == "done", is_done and int(sender) not in books.running, text)
                self.assertEqual(bool(on_its_way), state == "done", text)
                if state == "queued":
                    self.assertTrue(books.is_queued(int(sender)), text)
                if state == "running":
                    self.assertIn(int(sender), books.running, text)
            if " more" not in senders:
                self.assertEqual(n_owed, int(left), text)

    def assert_true(self, event, text, before, after):
        sentences = re.split(r"(?<=[.:]) ", text)
        self.assertEqual(len(sentences), len(set(sentences)), text)
        task = event.get("graph_task")
        self.assert_waits(text, before if event["event"] == "queue_pop" else after, task)
        key = event.get("node"), task
        if "has all its gradients" in text:
            self.assertEqual((after.dependencies.get(key, 0), after.arrived[key]), (0, after.expected.get(key, 1)), text)
        if found := re.search(r"its last gradient, which is on its way from «(\d+)»", text):
            self.assertEqual(after.dependencies[key], 0, text)
            self.assertLess(after.arrived[key], after.expected[key], text)
            self.assertIn((int(found[1]), task), after.done, text)
        if found := re.search(r"It waits behind (.*?)\. (?=[A-Z])", text):
            ahead = [entry for entry in after.queues[event["queue"]] if entry[0] in named(found[1])[0]]
            self.assertEqual(len(ahead), len(named(found[1])[0]), text)
            if " more" not in text:
                self.assert_order(text[found.end():], after, key, ahead, wins=False)
        if "It is the next to be popped" in text:
            self.assertEqual(max(map(after.key, after.queues[event["queue"]])), after.key(key), text)
        if event["event"] == "queue_pop" and event["node"] is not None:
            self.assert_pop(event, text, before, key)

    def assert_pop(self, event, text, before, key):
        others = [entry for entry in before.queues[event["queue"]] if entry != key]
        if "It was the only task there" in text:
            self.assertEqual(others, [], text)
            return
        found = re.search(r"was popped from .*? before (.*?)\. (?=[A-Z])", text)
        nodes, n = named(found[1])
        self.assertEqual(n, len(others), text)
        self.assertLessEqual(set(nodes), {entry[0] for entry in others}, text)
        self.assert_order(text[found.end():].split(" Not ready:")[0], before, key, others, wins=True)

    def judge(self, program, python):
        with tempfile.TemporaryDirectory() as folder:
            tape = record(folder, program, python)
            events = [json.loads(line) for line in run(TAPEDECK, "events", tape, "--json").splitlines()]
            nodes = json.loads(run(TAPEDECK, "state", tape, "--at", "end", "--json"))["nodes"]
            ask = lambda event: run(TAPEDECK, "why", tape, "--at", str(event["seq"])).strip() if is_asked(event) else ""
            kinds = collections.Counter()
            is_asked = lambda event: event["event"] in OF_STATE or not kinds.update([event["event"]]) and kinds[event["event"]] < 3
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                texts = list(pool.map(ask, events))
        reader, before, after = Reader(nodes), Books(), Books()
        for event, text in zip(events, texts):
            after.take(event)
            if text:
                self.assert_true(event, reader.read(text), before, after)
            before.take(event)

    def test_truth(self):
        for engine, python in ENGINES.items():
            for program in PROGRAMS:
                with self.subTest(engine=engine, program=program):
                    self.judge(program, python)


if __name__ == "__main__":
    unittest.main()
