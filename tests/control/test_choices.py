# SPDX-License-Identifier: LGPL-2.1-or-later
"""Choices of the next task: in a live session by a user, and again by the schedule that a tape is."""
import json
import pathlib
import random
import subprocess
import tempfile
import unittest

import skipping
import torches
from live_session import TAPEDECK, Session

# Each leaf gets one gradient, so no order of pops changes a value. Two passes: a tree, then several roots at once.
FAN = """
import torch
leaves = [torch.full((2,), 0.1 * (i + 1), requires_grad=True) for i in range(4)]
parts = [leaf.sin().sum() for leaf in leaves]
((parts[0] + parts[1]) + (parts[2] + parts[3])).backward()
more = [torch.full((2,), 0.3 * (i + 1), requires_grad=True) for i in range(3)]
torch.autograd.backward([leaf.exp().sum() for leaf in more])
print('gradients', [leaf.grad.tolist() for leaf in leaves + more])
"""
# A pass inside a node: its tasks go before those of the pass around it.
NESTED = """
import torch
class Inner(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x * 1
    @staticmethod
    def backward(ctx, gradient):
        with torch.enable_grad():
            y = torch.ones(2, requires_grad=True)
            ((y * 2).sum() + (y * 3).sum()).backward()
        return gradient
x = torch.ones(2, requires_grad=True)
z = torch.ones(2, requires_grad=True)
first = (z * 2).sin().sum()
(first + Inner.apply(x).sum()).backward()
print('gradients', x.grad.tolist(), z.grad.tolist())
"""


def ask(*words):
    done = subprocess.run([TAPEDECK, *map(str, words)], capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return done


class Choices(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tapedeck-choices-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def script(self, source, name="script.py"):
        path = self.folder / name
        path.write_text(source)
        return path

    def live(self, source, *options, python=None):
        command = ["record", "--live", "--force", "-o", "live.tape", "--", python] if python else ["run", "--live", "-o", "live.tape", *options]
        session = Session(self.folder, *command, self.script(source))
        self.addCleanup(session.clean_up)
        return session.connect()

    def run_plainly(self, source, *options):
        tape = self.folder / "again.tape"
        done = subprocess.run([TAPEDECK, "run", "--force", "-o", tape, *map(str, options), self.script(source)],
                              capture_output=True, text=True, cwd=self.folder)
        return tape, done

    def queues(self, session):
        """What waits in each queue, as the tape has it at this stop."""
        tape = session.now_at()
        last = json.loads(ask("info", "--json", tape).stdout)["n_events"] - 1
        return {queue["id"]: queue["nodes"] for queue in json.loads(ask("state", tape, "--at", last, "--json").stdout)["queues"]}

    def choose(self, session, queue, node):
        session.say(f"choose queue={queue} node={node}")
        while True:
            line = session.hear()
            self.assertIsNotNone(line, session.text())
            if line.word in ("chosen", "refused"):
                return line

    def play(self, session, choose_one, command="continue"):
        """Goes to the end, and asks for a choice at each stop at which there are several tasks."""
        chosen = []
        line = session.stop()
        while line and line.word == "stopped":
            for queue, nodes in self.queues(session).items():
                node = choose_one(line, nodes) if len(nodes) > 1 else None
                if node is not None:
                    self.assertEqual(self.choose(session, queue, node).word, "chosen")
                    chosen.append(node)
            session.say(command)
            line = session.hear()
            while line and line.word not in ("stopped", "over"):
                line = session.hear()
        self.assertEqual(session.end(), 0, session.text())
        return chosen

    def gradients(self, text):
        return [line for line in text.splitlines() if line.startswith("gradients")]

    def assert_equal_order(self, tape, other, expected=True):
        report = json.loads(ask("diff", "--json", tape, other).stdout)
        self.assertEqual(report["equal_order"], expected, report)
        return report

    def events(self, tape, kind):
        return [json.loads(line) for line in ask("events", "--json", "--kind", kind, tape).stdout.splitlines()]

    def test_random_choices(self):
        """Any legal choices leave the gradients alone and break no rule, and their tape does the same again."""
        plain, done = self.run_plainly(FAN)
        plain = plain.rename(self.folder / "plain.tape")
        gradients = self.gradients(done.stdout)
        self.assertEqual(len(gradients), 1, done.stderr)
        for seed in range(2):
            with self.subTest(seed):
                dice = random.Random(seed)
                (self.folder / "live.tape").unlink(missing_ok=True)
                session = self.live(FAN, "--break", "choice")
                chosen = self.play(session, lambda line, nodes: dice.choice(nodes))
                tape = self.folder / "live.tape"
                self.assertGreater(len(chosen), 5)
                self.assertEqual(self.gradients(session.text()), gradients)
                made = self.events(tape, "task_chosen")
                self.assertEqual([(event["node"], event["by"]) for event in made], [(node, "user") for node in chosen])
                pops = [event["node"] for event in self.events(tape, "queue_pop")]
                self.assertEqual([node for node in pops if node in chosen], chosen)
                self.assertEqual(ask("check", tape).returncode, 0, ask("check", tape).stdout)
                report = self.assert_equal_order(plain, tape, False)
                self.assertEqual(report["divergence"]["cause"], "choice", report["divergence"])
                causes = [entry["divergence"]["cause"] for entry in json.loads(ask("order", "--json", tape).stdout)["results"]
                          if not entry["equal"]]
                self.assertEqual(set(causes), {"choice"})
                again, done = self.run_plainly(FAN, "--schedule", tape)
                self.assertEqual(self.gradients(done.stdout), gradients)
                self.assertNotIn("choices on", done.stderr)
                self.assert_equal_order(tape, again)
                self.assertEqual([event["by"] for event in self.events(again, "task_chosen")], ["schedule"] * len(made))
                self.assertEqual(ask("check", again).returncode, 0)

    def test_why(self):
        """The sentence of the pop names the choice, not the order."""
        session = self.live(FAN, "--break", "choice")
        chosen = self.play(session, lambda line, nodes: nodes[-1])
        tape = self.folder / "live.tape"
        told = 0
        for event in self.events(tape, "task_chosen"):
            words = ask("why", tape, "--at", event["seq"] + 1).stdout
            self.assertIn("the user chose it", words)
            self.assertNotIn("Out of turn", words)
            told += 1
        self.assertEqual(told, len(chosen))
        self.assertIn("the user chose ", ask("events", tape, "--kind", "task_chosen").stdout)

    def test_earlier_stops(self):
        """A choice that is made at another stop waits for the next pop of its queue."""
        session = self.live(FAN)
        chosen = self.play(session, lambda line, nodes: nodes[-1] if line["kind"] == "node_begin" else None, "step")
        self.assertGreater(len(chosen), 3)
        tape = self.folder / "live.tape"
        self.assertEqual([event["node"] for event in self.events(tape, "task_chosen")], chosen)
        self.assertEqual(ask("check", tape).returncode, 0)

    def test_refusals(self):
        """What is not ready, not there or not stopped is refused with a sentence; the pass goes on as ever."""
        session = self.live(FAN, "--break", "choice")
        line = session.stop()
        self.assertEqual((line["kind"], line["condition"]), ("queue_pop", "choice"))
        (queue, nodes), = self.queues(session).items()
        waiting = next(n for n in range(100) if n not in nodes)
        for words, reason in ((f"queue={queue} node={waiting}", "only a ready task"), (f"queue=77 node={nodes[0]}", "no queue 77"),
                              (f"queue={queue} node={nodes[0]} graph_task=9", "only a ready task"), ("", "names a queue"),
                              (f"queue={queue}", "names a queue"), (f"node={nodes[0]}", "names a queue")):
            session.say("choose " + words)
            line = session.hear()
            while line.word not in ("chosen", "refused"):
                line = session.hear()
            self.assertEqual(line.word, "refused", words)
            self.assertIn(reason, line["reason"])
        session.say("detach")
        session.hear_until("running")
        self.assertEqual(session.end(), 0, session.text())
        tape = self.folder / "live.tape"
        self.assertEqual(self.events(tape, "task_chosen"), [])
        self.assert_equal_order(self.run_plainly(FAN)[0], tape)

    def test_passes_inside(self):
        """While a pass inside a node has tasks, those of the pass around it may not go."""
        session = self.live(NESTED)
        refused, chosen = [], []
        line = session.stop()
        while line.word == "stopped":
            for queue, nodes in self.queues(session).items():
                for node in nodes[::-1] if len(nodes) > 1 else ():
                    answer = self.choose(session, queue, node)
                    (refused if answer.word == "refused" else chosen).append(answer["reason"])
            session.say("step")
            line = session.hear()
            while line and line.word not in ("stopped", "over"):
                line = session.hear()
        self.assertEqual(session.end(), 0, session.text())
        self.assertTrue(chosen)
        self.assertTrue(refused)
        self.assertTrue(all("inner pass" in reason for reason in refused), refused)
        self.assertEqual(self.gradients(session.text()), self.gradients(self.run_plainly(NESTED)[1].stdout))
        self.assertEqual(ask("check", self.folder / "live.tape").returncode, 0)

    def test_pytorch(self):
        """PyTorch's engine cannot be steered, and says so."""
        torches.need_compiler()
        for python in torches.pythons():
            session = self.live(FAN, python=python)
            session.stop()
            answer = self.choose(session, 0, 0)
            self.assertEqual(answer.word, "refused")
            self.assertIn("cannot be steered", answer["reason"])
            session.say("detach")
            self.assertEqual(session.end(), 0, session.text())

    def test_other_program(self):
        """A schedule that does not fit says so once, and the program goes on."""
        session = self.live(FAN, "--break", "choice")
        self.play(session, lambda line, nodes: nodes[-1])
        tape = self.folder / "live.tape"
        other = FAN.replace(".sin()", ".cos()").replace(".exp()", ".sigmoid()")
        done = self.run_plainly(other, "--schedule", tape)[1]
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count("differs from the one on"), 1, done.stderr)
        self.assertIn(" choices on ", done.stderr)
        self.assertEqual(self.gradients(done.stdout), self.gradients(self.run_plainly(other)[1].stdout))
        done = self.run_plainly("print('nothing')", "--schedule", tape)[1]
        self.assertIn(f"0 of the {len(self.events(tape, 'task_chosen'))} choices on", done.stderr)

    def test_no_schedule(self):
        """A tape without choices, and what is no tape, are refused before the program runs."""
        tape = self.run_plainly(FAN)[0].rename(self.folder / "plain.tape")
        for path, reason in ((tape, "has no choices"), (self.folder / "script.py", "tape"), (self.folder / "absent", "No such file")):
            done = self.run_plainly(FAN, "--schedule", path)[1]
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertIn(reason, done.stderr)


if __name__ == "__main__":
    skipping.main()
