#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
# Each clause that `why` says is true. Small programs run on Tapedeck's own engine and on PyTorch. At every event, this
# test takes the sentences apart and compares them with books of its own, which it keeps from the events alone.
#   test_why_truth.py [unittest's arguments]
import collections
import concurrent.futures
import json
import re
import tempfile
import unittest

import skipping
from commands import TAPEDECK, run
from why_programs import ENGINES, PROGRAMS, PROGRAMS_OF, record

HIGHEST = 2**64 - 1
# Each sentence has one of these forms. Those that begin with a name and a verb only tell the event.
FORMS = [re.compile(form) for form in (
    r"«\d+» still waits for \d+ of \d+ gradients?(, from .*)?\.", r"Not ready: «\d+» still waits for .*\.",
    r"«\d+» has all its gradients and is about to enter a queue\.",
    r"«\d+» waits for its last gradient, which is on its way from «\d+»\.",
    r"«\d+» is not run in this pass\.", r"«\d+» was popped and is about to run\.",
    r"It waits behind .*\.", r"It is the next to be popped\.", r"It was the only task there\.",
    r"(«\d+»|The shutdown task|A dummy task) was popped from .*\.", r"It runs no node: .*\.",
    r"(Against .*, )?[Ii]ts sequence_nr is (higher|lower) \(.*\)(: the node created later .*|, and the higher number) goes first\.",
    r"(Against .*, )?[Ii]ts graph task is nested (deeper|less deep) \(depth \d+ against \d+\)\.",
    r"(Against .*, )?AccumulateGrad has the highest sequence_nr: .*\.",
    r"(Their|All|Against .*,) depths and sequence numbers are equal, so the place in the heap decides\.",
    r"(Against .*, )?[Tt]his queue is (first in, first out|last in, first out)\.",
    r"(Against .*, )?[Aa] dummy task goes before every node\.",
    r"In that time thread .* waited \d+ times? for Python's GIL, [\d.]+ ms in all\.", r"In the longest wait, [\d.]+ ms, .* the GIL(, at .*)?\.",
    r"When the wait began, .* the GIL(, at .*)?\.",
    r"Since event \d+, thread .* waits for .*: [\d.]+ ms in all\.", r"For (at most )?[\d.]+ ms of that, thread .* held it\.",
    r"\d+ more threads? held it\.", r"For [\d.]+ ms it was free: thread .* woke late\.",
)]
LAY = re.compile(r"It lay there for ([\d.]+) ms, in which thread (.+?) ((?:was|waited|had|ran|did) .*? \([\d.]+ ms\))\.(?= |$)")
BEHIND = re.compile(r"The node that kept it for longest, ([\d.]+) ms, was «(\d+)»(?: of another pass, graph task (\d+))?\.")
SERVER = re.compile(r"Meanwhile thread (.+?), which pops from this queue, (is at «(\d+)»(?: of another pass, graph task (\d+))?"
                    r"|has yet to wake from sleep|waits for a lock|waits for the GIL)\.")
# All events of these kinds are asked for, of each other kind two.
OF_STATE = ("queue_push", "queue_pop", "buffer_new", "buffer_add", "buffer_park", "buffer_expose", "dependency_dec")
# All events of these kinds are asked for too, where threads wait for the GIL.
OF_GIL = ("node_begin", "node_end", "lock_acquired")
class Books:
    """What is so after some events of a tape."""

    def __init__(self, names):
        self.names = names  # of threads: a thread that is met as a holder gets its name later
        self.sequence_nr, self.depth, self.over = {}, {}, set()
        self.expected, self.dependencies, self.arrived = {}, {}, collections.Counter()
        self.queues = collections.defaultdict(list)
        self.running, self.done = set(), set()
        self.n_taken, self.at, self.begun = 0, {}, collections.defaultdict(list)
        self.waiting, self.waits = {}, collections.defaultdict(list)  # for the GIL, by thread
        self.pushed, self.runs = {}, []  # when; (node, task, thread, begin, end)
        self.last, self.turned = {}, {}  # by thread: its last event, and the run that began or ended last

    def take(self, event):
        kind, node, task = event["event"], event.get("node"), event.get("graph_task")
        key = node, task
        self.n_taken += 1
        self.at[kind, node, task] = self.n_taken
        self.take_gil(event)
        self.last[event["thread"]] = event
        if kind == "queue_push":
            self.pushed[key] = event["t"]
        elif kind == "node_begin":
            self.turned[event["thread"]] = [node, task, event["thread"], event["t"], float("inf")]
            self.runs.append(self.turned[event["thread"]])
        elif kind == "node_end":
            self.turned[event["thread"]] = next(run for run in reversed(self.runs) if run[:2] == [node, task])
            self.turned[event["thread"]][4] = event["t"]
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

    def take_gil(self, event):
        kind, thread = event["event"], event["thread"]
        if kind == "node_begin":
            self.begun[thread].append(event["node"])
        elif kind == "node_end":
            self.begun[thread].remove(event["node"])
        elif event.get("lock") != "gil":
            return
        elif kind == "lock_wait":
            self.waiting[thread] = None, []
        elif kind == "lock_held":
            self.waiting[thread] = event["holder"], list(self.begun[event["holder"]])
        elif kind == "lock_acquired":
            self.waits[thread].append((self.n_taken, event["waited"], *self.waiting.pop(thread, (None, []))))

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
            if "first out" in clause:
                queue = next(queue for queue in books.queues.values() if first in queue and second in queue)
                self.assertEqual(queue.index(first) < queue.index(second), "first in" in clause, clause)
            elif "equal" in clause:
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
        groups = re.findall(r"Against ([^:]*?), ((?:its|depths|AccumulateGrad has|a graph|a task|this queue)[^.]*)\.", text)
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
                if state in ("waiting", "partial"):
                    self.assertEqual(books.arrived[int(sender), task] > 0, state == "partial", text)
                    self.assertFalse(books.is_queued(int(sender)) or is_done, text)
            if " more" not in senders:
                self.assertEqual(n_owed, int(left), text)

    def assert_known(self, event, sentences):
        """No sentence is left that this test cannot judge. The first one of `Event 7: ...` tells the event."""
        told = 0 if event["event"] == "queue_pop" else 1
        for sentence in re.split(r"(?<=\.) (?=[A-Z«])", " ".join(sentences[told:]))[told:]:
            self.assertTrue(any(form.fullmatch(sentence) for form in FORMS), (event["event"], sentence))

    def assert_lay(self, event, text, books):
        """For how long a task lay, that the parts are not longer, and which node kept it. Returns the other sentences."""
        if found := LAY.search(text):
            lay = (event["t"] - books.pushed[event["node"], event["graph_task"]]) / 1e6
            parts = [float(ms) for ms in re.findall(r"\(([\d.]+) ms\)", found[3])]
            self.assertEqual(found[2], books.names[event["thread"]], text)
            self.assertAlmostEqual(float(found[1]), lay, delta=0.0006, msg=text)
            self.assertLessEqual(sum(parts), lay + 0.0006 * len(parts), text)
            self.assertGreater(sum(parts), lay - 0.001 * 8, text)
        if found := BEHIND.search(text):
            pushed = books.pushed[event["node"], event["graph_task"]]
            kept = [min(end, event["t"]) - max(begin, pushed) for node, _, thread, begin, end in books.runs
                    if node == int(found[2]) and thread == event["thread"]]
            self.assertGreater(float(found[1]), max(kept) / 1e6 - 0.0006, text)  # its hooks and handing on count too
            self.assertLess(float(found[1]), (event["t"] - pushed) / 1e6 + 0.0006, text)
        return re.sub(" +", " ", BEHIND.sub("", LAY.sub("", text))).strip()

    def assert_server(self, text, books):
        """What the thread that pops from a queue does when a task comes. Returns the other sentences."""
        for name, what, node, task in SERVER.findall(text):
            thread = next(number for number, its in books.names.items() if its == name)
            last = books.last[thread]
            if node:
                runs = [run for run in books.runs if run[2] == thread]  # after its end, it hands on what it made
                at = [books.turned[thread], *[run for run in runs if run[4] == float("inf")][-1:]]
                self.assertIn(int(node), [run[0] for run in at], text)
                self.assertIn(task, ["", *(str(run[1]) for run in at)], text)
            elif what.endswith("sleep"):
                self.assertEqual((last["event"], last["state"]), ("thread_state", "idle"), text)
            else:
                self.assertEqual((last["event"], last["lock"] == "gil"), ("lock_wait", what.endswith("GIL")), text)
        return re.sub(" +", " ", SERVER.sub("", text)).strip()

    def assert_true(self, event, text, before, after):
        text = self.assert_server(self.assert_lay(event, text, after), after)
        sentences = re.split(r"(?<=[.:]) ", text)
        self.assertEqual(len(sentences), len(set(sentences)), text)
        task = event.get("graph_task")
        if event["event"] in OF_STATE:
            self.assert_known(event, sentences)
        self.assert_waits(text, before if event["event"] == "queue_pop" else after, task)
        key = event.get("node"), task
        self.assert_gil(event, text, after)
        self.assert_lock_waits(event, text, after)
        if "is not run in this pass" in text:
            self.assertFalse(key in after.done or key[0] in after.running, text)
        if "was popped and is about to run" in text:
            self.assertIn(key[0], after.running, text)
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

    def assert_gil(self, event, text, books):
        """How long the thread waited for the GIL, and who had it: told if and only if it was so."""
        starts = {"queue_pop": "queue_push", "node_begin": "queue_pop", "node_end": "node_begin"}
        kind, waits = event["event"], books.waits[event["thread"]]
        if kind == "lock_acquired" and event["lock"] == "gil":
            waits = waits[-1:]
        elif kind in starts and event["node"] is not None:
            waits = [wait for wait in waits if wait[0] > books.at[starts[kind], event["node"], event["graph_task"]]]
        else:
            waits = []
        self.assertEqual(bool(waits), "the GIL" in text, text)
        if not waits:
            return
        _, longest, holder, nodes = max(waits, key=lambda wait: wait[1])
        if kind != "lock_acquired":
            name, n, total, most = re.search(r"In that time thread (.*) waited (\d+) times? for Python's GIL, ([\d.]+) ms in all\. "
                                             r"In the longest wait, ([\d.]+) ms,", text).groups()
            self.assertEqual((name, int(n)), (books.names[event["thread"]], len(waits)), text)
            self.assertAlmostEqual(float(total), sum(wait[1] for wait in waits) / 1e6, delta=0.0006)
            self.assertAlmostEqual(float(most), longest / 1e6, delta=0.0006)
        who = re.search(r"(?:ms|began), (?:thread (.+?) had the GIL, at (?:no node|«(\d+)».*)|the tape does not say who had the GIL)\.", text)
        self.assertIsNotNone(who, text)
        self.assertEqual(who[1], holder if holder is None else books.names[holder], (text, waits))
        if nodes:
            self.assertEqual(int(who[2]), nodes[-1], text)
        self.n_of_gil += 1

    n_of_gil = 0

    def assert_lock_waits(self, event, text, books):
        """A thread waits for a lock at this event, or its wait ends here; and for so long in all."""
        for seq, name, ms in re.findall(r"Since event (\d+), thread (.*?) waits for .*?: ([\d.]+) ms in all\.", text):
            thread, end, waited = self.lock_waits[int(seq)]
            self.assertEqual(name, books.names[thread], text)
            self.assertLessEqual(int(seq), event["seq"], text)
            self.assertLessEqual(event["seq"], end, text)
            self.assertAlmostEqual(float(ms), waited / 1e6, delta=0.01, msg=text)

    @staticmethod
    def lock_waits_of(events):
        """{begin: (thread, end, ns)}, of the waits that end."""
        begun, waits = {}, {}
        for event in events:
            if event["event"] == "lock_wait":
                begun[event["thread"]] = event["seq"]
            elif event["event"] == "lock_acquired":
                waits[begun.pop(event["thread"], None)] = event["thread"], event["seq"], event["waited"]
        return waits

    def assert_pop(self, event, text, before, key):
        others = [entry for entry in before.queues[event["queue"]] if entry != key]
        if "It was the only task there" in text:
            self.assertEqual(others, [], text)
            return
        found = re.search(r"was popped from .*? before (.*?)\. (?=[A-Z])", text)
        nodes, n = named(found[1])
        self.assertEqual(n, len(others), text)
        self.assertLessEqual(set(nodes), {entry[0] for entry in others}, text)
        self.assert_order(re.split(" Not ready:| In that time", text[found.end():])[0], before, key, others, wins=True)

    def judge(self, program, python):
        with tempfile.TemporaryDirectory() as folder:
            tape = record(folder, program, python)
            events = [json.loads(line) for line in run(TAPEDECK, "events", tape, "--json").splitlines()]
            self.lock_waits = self.lock_waits_of(events)
            nodes = json.loads(run(TAPEDECK, "state", tape, "--at", "end", "--json"))["nodes"]
            ask = lambda event: run(TAPEDECK, "why", tape, "--at", str(event["seq"])).strip() if is_asked(event) else ""
            kinds = collections.Counter()
            of_state = OF_STATE + OF_GIL if program == "taking turns" else OF_STATE
            is_asked = lambda event: event["event"] in of_state or not kinds.update([event["event"]]) and kinds[event["event"]] < 3
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                texts = list(pool.map(ask, events))
        names = {event["id"]: event["name"] for event in events if event["event"] == "thread_new" and event["name"]}
        reader, before, after = Reader(nodes), Books(names), Books(names)
        for event, text in zip(events, texts):
            after.take(event)
            if text:
                self.assert_true(event, reader.read(text), before, after)
            before.take(event)

    def test_truth(self):
        for engine, python in ENGINES.items():
            for program in PROGRAMS_OF.get(engine, PROGRAMS):
                with self.subTest(engine=engine, program=program):
                    self.judge(program, python)
        self.assertGreater(self.n_of_gil, 0)


if __name__ == "__main__":
    skipping.main()
