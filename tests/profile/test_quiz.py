#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
# `tapedeck quiz`: every answer beside one that this test computes from the events alone, and the talk in a terminal.
import collections
import json
import os

import subprocess
import tempfile
import unittest

from reentrant import INNER

TAPEDECK = os.environ["TAPEDECK"]
LEAF = 2**64 - 1  # the sequence number of a leaf
EXAMPLES = ("diamond", "multi_root", "two_devices", "gpt_mini", "lstm_cells", "float_sum_order", "transformer_encoder")

# Three threads call backward at once, and one pass lies in a node of another.
THREADS = """
import threading, torch
""" + INNER + """\
def work():
    x = torch.ones(1, requires_grad=True)
    for _ in range(4):
        y = Inner.apply(x * 3)
        (y.sin() * y + y).sum().backward()
threads = [threading.Thread(target=work) for _ in range(3)]
[t.start() for t in threads]
[t.join() for t in threads]
"""


def run(*arguments, **options):
    return subprocess.run([TAPEDECK, *map(str, arguments)], capture_output=True, text=True, timeout=120, **options)


def read(*arguments):
    done = run(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


class World:
    """What is ready and what waits before each event: a replay of its own."""

    def __init__(self, tape):
        self.events = [json.loads(line) for line in read("events", tape, "--json").splitlines()]
        self.sequence, self.order = {}, {}
        for event in self.events:
            if event["event"] == "node_new":
                self.sequence[event["node"]] = event["sequence_nr"]
            if event["event"] == "queue_new":
                self.order[event["queue"]] = event["order"]

    def at(self, position):
        """Queues, as (node, pass) in the order of entry, and the counts by (node, pass)."""
        queues, counts = collections.defaultdict(list), {}
        for event in self.events[:position]:
            name, task = event["event"], (event.get("node"), event.get("graph_task"))
            if name == "queue_push":
                queues[event["queue"]].append(task)
            elif name == "queue_pop" and event["node"] is not None:
                queues[event["queue"]].remove(task)
                counts.pop(task, None)
            elif name == "dependency":
                counts[task] = event["count"]
            elif name == "dependency_dec":
                counts[task] = event["left"]
        return queues, counts

    def key_of(self, task):
        return self.sequence.get(task[0], LEAF)


class QuizTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        script = os.path.join(cls.folder.name, "threads.py")
        with open(script, "w", encoding="utf-8") as file:
            file.write(THREADS)
        cls.tapes = {}
        for name in (*EXAMPLES, script):
            tape = os.path.join(cls.folder.name, os.path.basename(name) + ".tape")
            assert run("run", "--stats", "full", "-o", tape, name).returncode == 0, name
            cls.tapes[os.path.basename(name)] = tape

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def questions(self, name, n=60, seed=7):
        return json.loads(read("quiz", self.tapes[name], "--json", "-n", n, "--seed", seed))["questions"]

    # ---- one judge for each kind ----

    def judge_pop(self, world, question):
        event = world.events[question["answered"]]
        self.assertEqual((event["event"], [event["node"]]), ("queue_pop", question["answer"]))
        queues, counts = world.at(question["position"])
        ready = {node for node, _ in queues[question["queue"]]}
        waiting = {node for (node, _), left in counts.items() if left > 0}
        values = {choice["value"] for choice in question["choices"]}
        self.assertLessEqual(values, ready | waiting)
        self.assertIn(question["answer"][0], values)
        if len(values) < 8:
            self.assertLessEqual(ready, values)

    def judge_count(self, world, question):
        _, counts = world.at(question["position"])
        self.assertEqual(question["answer"], [counts[question["node"], question["graph_task"]]])
        come = [fact for fact in question["facts"] if fact.endswith((": done", "takes no part in this pass", "its gradient has come"))]
        self.assertEqual(question["answer"], [len(question["facts"]) - len(come)])  # people can count too

    def judge_thread(self, world, question):
        event = world.events[question["answered"]]
        self.assertEqual((event["event"], event["node"], [event["thread"]]), ("node_begin", question["node"], question["answer"]))

    def judge_queue(self, world, question):
        event = world.events[question["answered"]]
        self.assertEqual((event["event"], event["node"], [event["queue"]]), ("queue_push", question["node"], question["answer"]))

    def judge_order(self, world, question):
        """Sequence numbers fall, and no task is left out."""
        queues, _ = world.at(question["position"])
        self.assertEqual(sorted(question["answer"]), sorted(node for node, _ in queues[question["queue"]]))
        numbers = [world.sequence.get(node, LEAF) for node in question["answer"]]
        self.assertEqual(numbers, sorted(numbers, reverse=True))

    def judge_policy(self, world, question):
        queues, _ = world.at(question["position"])
        entries = queues[question["queue"]]
        self.assertEqual(len(question["facts"]), len(entries))
        best = max(map(world.key_of, entries))
        firsts = [{node for node, graph_task in entries if world.key_of((node, graph_task)) == best},
                  {entries[0][0]}, {entries[-1][0]}]
        right = [order for order in range(3) if question["node"] in firsts[order]]
        self.assertIn(question["answer"][0], right)
        if 0 not in right:  # without a tie, only one order can be right
            self.assertEqual(question["answer"], right)

    def test_answers(self):
        kinds = collections.Counter()
        for name, tape in self.tapes.items():
            world = World(tape)
            for question in self.questions(name):
                with self.subTest(tape=name, question=question["prompt"], position=question["position"]):
                    kinds[question["kind"]] += 1
                    getattr(self, "judge_" + question["kind"])(world, question)
                    self.assertTrue(question["prompt"].endswith(("?", ".")) and question["reason"].endswith("."))
                    values = [choice["value"] for choice in question["choices"]]
                    self.assertEqual(len(values), len(set(values)))
                    self.assertNotEqual(len(values), 1)
                    if question["kind"] in ("pop", "order"):  # nobody could know
                        self.assertNotIn("the place in the heap decides", question["reason"])
        self.assertEqual(set(kinds), {"pop", "count", "thread", "queue", "order", "policy"})
        self.assertGreater(min(kinds.values()), 5, kinds)

    def test_places_tell_nothing(self):
        """Who always takes the last choice, or the first, is not right more often than who guesses."""
        places, orders = collections.Counter(), collections.Counter()
        for name in self.tapes:
            for question in self.questions(name):
                orders[question["kind"], *question["answer"]] += question["kind"] == "policy"
                values = [choice["value"] for choice in question["choices"]]
                if question["kind"] == "pop" and len(values) >= 4:
                    place = values.index(question["answer"][0])
                    places["first" if place == 0 else "last" if place + 1 == len(values) else "between"] += 1
        self.assertGreater(places.total(), 20)
        self.assertLess(max(places["first"], places["last"]), places.total() / 2, places)
        for order in range(3):
            self.assertGreater(orders["policy", order], 0)

    def test_seed(self):
        first = self.questions("transformer_encoder", 30, 1)
        self.assertEqual(first, self.questions("transformer_encoder", 30, 1))
        self.assertNotEqual(first, self.questions("transformer_encoder", 30, 2))
        asked = [question["position"] for question in first]  # one question may answer another there
        self.assertEqual(len(asked), len(set(asked)))

    # ---- the talk ----

    def answers(self, questions, right):
        """Lines to type."""
        for question in questions:
            values = [choice["value"] for choice in question["choices"]]
            if not values:
                yield str(question["answer"][0] + (not right)) if question["kind"] == "count" else f"0x{question['answer'][0] ^ (not right):08x}"
            elif right:
                yield " ".join(str(1 + values.index(value)) for value in question["answer"])
            else:
                wrong = values[::-1] if question["kind"] == "order" and values[::-1] != question["answer"] else values
                if question["kind"] != "order":
                    ready = [value for value, fact in zip(values, question["facts"]) if question["kind"] != "pop" or fact.endswith("ready")]
                    wrong = [value for value in ready or values if value not in question["answer"]][:1]
                    wrong = wrong or [value for value in values if value not in question["answer"]][:1]
                yield " ".join(str(1 + values.index(value)) for value in wrong)

    def talk(self, name, lines, n=21, seed=5):
        done = run("quiz", self.tapes[name], "-n", n, "--seed", seed, input="\n".join(lines) + "\n")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_right_answers(self):
        questions = self.questions("transformer_encoder", 21, 5)
        text = self.talk("transformer_encoder", self.answers(questions, True))
        self.assertIn("21 of 21 right, longest streak 21.", text)
        self.assertNotIn("Wrong", text)
        for question in questions:
            self.assertIn(question["prompt"], text)
            self.assertIn(question["reason"], text)

    def test_wrong_answers(self):
        text = self.talk("transformer_encoder", self.answers(self.questions("transformer_encoder", 21, 5), False))
        self.assertIn("0 of 21 right, longest streak 0.\nMistakes: ", text)
        self.assertEqual(text.count("Wrong. The answer is: "), 21)
        self.assertIn("It would be next if its sequence_nr were higher than", text)

    def test_no_answers(self):
        garbage = ["7000", "0", "-1", "abc", "1 1", "1,2,3,4,5,6,7,8,9", "0x3", "\x1b[2J", "9" * 400, "é"]
        text = self.talk("diamond", garbage * 3, n=5)
        self.assertIn("That is no answer.", text)
        self.assertIn(" right, longest streak ", self.talk("diamond", [], n=5))

    def test_answers_printed(self):
        text = read("quiz", self.tapes["diamond"], "--answers", "--seed", 1)
        self.assertIn("The answer is: ", text)
        self.assertNotIn("Answer (", text)

    def test_bad_use(self):
        for arguments in (["-n", "0"], ["-n", "1001"], ["--seed", "-1"], ["--nonsense"]):
            self.assertEqual(run("quiz", self.tapes["diamond"], *arguments).returncode, 2, arguments)
        script = os.path.join(self.folder.name, "none.py")
        with open(script, "w", encoding="utf-8") as file:
            file.write("import torch\ntorch.ones(1, requires_grad=True) * 2\n")
        tape = os.path.join(self.folder.name, "none.tape")
        self.assertEqual(run("run", "-o", tape, script).returncode, 0)
        golden = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "trace", "golden", "cut.tape")
        for which in (tape, golden):  # the second has moments, but each has one possible answer
            for mode in ((), ("--json",), ("--answers",)):
                done = run("quiz", which, *mode)
                self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, "", 1), (which, mode))
                self.assertIn("no question was found on the tape", done.stderr)


unittest.main()
