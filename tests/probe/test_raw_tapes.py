# SPDX-License-Identifier: LGPL-2.1-or-later
# At level 2 the program writes what was seen alone, and whoever reads the tape derives the rest. So a tape of a program that still
# runs, and one whose recorder was killed, show what a finished one shows.
import os
import pathlib
import shutil
import signal
import subprocess
import time

import skipping
import torches
from record_case import TAPEDECK, RecordCase

PROGRAM = """
import os, sys, time, torch
print(os.getpid(), flush=True)
w = torch.ones(4, 4, requires_grad=True)
def train(n):
    for _ in range(n):
        y = torch.ones(2, 4) @ w
        (y.tanh().sum() + y.exp().sum()).backward()
train(20)
time.sleep(0.5)  # the recorder writes within 50 ms
print("waits", flush=True)
sys.stdin.readline()
train(20)
"""

# Some 3 MB of what is seen, and twice as much with what follows.
LONG = """
import torch
x = torch.ones(3, requires_grad=True)
for _ in range(400):
    y = x
    for _ in range(400): y = y * 1.001
    y.sum().backward()
"""


class RawTapes(RecordCase):
    def start(self, python, *options):
        """The recording and its program, which waits in the middle."""
        command = [TAPEDECK, "record", "--level", "2", "--force", "-o", "t.tape", *options, "--", python, self.script(PROGRAM)]
        running = subprocess.Popen(command, cwd=self.folder, env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, running)
        pid = int(running.stdout.readline())
        self.assertEqual(running.stdout.readline(), "waits\n")
        return running, pid

    def end(self, running):
        running.kill()
        running.wait(timeout=60)
        for pipe in (running.stdin, running.stdout, running.stderr):
            pipe.close()

    def told(self, tape):
        """All events but for times and durations: a program that goes on learns more of its clock."""
        return [{name: value for name, value in e.items() if name not in ("t", "took", "waited")} for e in self.events(tape)]

    def test_a_tape_that_grows_is_the_beginning_of_the_finished_one(self):
        for python in torches.of_test(self):
            running, pid = self.start(python)
            shutil.copy(self.folder / f"t.{pid}.tape", self.folder / "early.tape")
            running.communicate("\n", timeout=120)
            self.assertEqual(running.returncode, 0)
            early, whole = self.told("early.tape"), self.told("t.tape")
            self.assertEqual(whole[:len(early)], early)
            kinds = {e["event"] for e in early}
            self.assertLessEqual({"queue_push", "queue_pop", "dependency", "buffer_add"}, kinds)
            self.assertFalse(kinds & {"root_gradient", "wanted_output", "node_gradient"})
            self.assert_checked("t.tape")

    def test_a_killed_recorder_leaves_a_tape_that_all_commands_read(self):
        for python in torches.of_test(self):
            running, pid = self.start(python)
            running.send_signal(signal.SIGKILL)
            running.wait(timeout=60)
            running.stdin.write("\n")
            running.stdin.close()
            while pathlib.Path(f"/proc/{pid}").exists() and " Z " not in pathlib.Path(f"/proc/{pid}/stat").read_text():
                time.sleep(0.05)
            tape = f"t.{pid}.tape"
            events = self.events(tape)
            self.assertEqual(sum(e["event"] == "graph_task_end" for e in events), 40)
            pops = [e for e in events if e["event"] == "queue_pop"]
            self.assertEqual({e["known"] for e in pops}, {"reconstructed"})
            self.assertEqual(len(pops), sum(e["event"] == "node_begin" for e in events))
            self.assert_checked(tape)
            for words in (("info",), ("report",), ("order",), ("findings",), ("state", "--at", "300"), ("why", "--at", "300")):
                done = self.ask(words[0], tape, *words[1:])
                self.assertIn(done.returncode, (0, 1), (words, done.stderr))
            for left in self.folder.glob("tapedeck-*"):  # a recorder that is killed removes nothing
                shutil.rmtree(left)

    def test_a_flight_recorder_s_limit_holds_for_what_people_get(self):
        done = self.record(torches.pythons()[0], self.script(LONG), options=["--level", "2", "--keep", "1MB", "--force", "-o", "t.tape"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(os.path.getsize(self.folder / "t.tape"), 1_300_000)  # the limit, and the table of contents
        events = self.events("t.tape")
        self.assertGreater(sum(e["event"] == "queue_pop" for e in events), 20)
        self.assertEqual([e["text"] for e in events if e["event"] == "mark"], [])
        self.assert_checked("t.tape")


if __name__ == "__main__":
    skipping.main(verbosity=2)
