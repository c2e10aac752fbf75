# SPDX-License-Identifier: LGPL-2.1-or-later
"""The flight recorder: `record --keep` leaves the end of a full recording, and writes it down when something happens. With
every PyTorch that is here, and with Tapedeck's own engine."""
import os
import sys
import time
import unittest

import torches
from record_case import TAPEDECK, RecordCase

TORCHES = list(torches.installed().values())

TRAIN = """
import ctypes, os, signal, subprocess, sys, time, torch
torch.manual_seed(3)
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
def wait_for(name):
    for i in range(600):
        if os.path.exists(name):
            return
        time.sleep(0.05)
    sys.exit(f"{name} did not come")
def train(n, at=lambda i: 1):
    for i in range(n):
        optimizer.zero_grad()
        ((model(torch.randn(3, 4)) * at(i)) ** 2).mean().backward()
        optimizer.step()
"""

# On Tapedeck's own engine, without an optimizer and without tapedeck.step(): passes are steps.
OWN = """
import tapedeck as torch
x = torch.ones(3, requires_grad=True)
for i in range(60):
    (x * x).exp().sum().backward()
"""


def end_of(events, n_steps):
    """The events after the last but n_steps-th step, without what differs from run to run."""
    steps = [i for i, event in enumerate(events) if event["event"] == "step"]
    begin = steps[-n_steps - 1] + 1
    volatile = ("seq", "t", "waited", "stack")
    return [{name: value for name, value in event.items() if name not in volatile} for event in events[begin:]
            if event["event"] not in ("string", "session_end", "thread_state")]


class Keep(RecordCase):
    def record_all(self, text, *options, python, **more):
        self.script(text)
        return self.record(python, "script.py", options=options, **more)

    def assert_recorded(self, done):
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def test_the_end_is_as_in_a_full_recording(self):
        for python in TORCHES:
            with self.subTest(python):
                self.assert_recorded(self.record_all(TRAIN + "train(60)", "--force", "-o", "full.tape", python=python))
                done = self.record_all(TRAIN + "train(60)", "--force", "-o", "kept.tape", "--keep", "5steps",
                                       "--anomaly", "off", python=python)
                self.assert_recorded(done)
                self.assertIn("let go of 55 passes before it (55 steps)", done.stderr)
                full, kept = self.events("full.tape"), self.events("kept.tape")
                self.assertEqual([event["iteration"] for event in kept if event["event"] == "step"], list(range(55, 60)))
                wanted, cut = end_of(full, 5), [i for i, event in enumerate(kept) if event["event"] == "left_out"][-1]
                self.assertEqual(end_of([{"event": "step"}] + kept[cut + 1:], 5), wanted)
                self.assertGreater(len(wanted), 300)
                left_out, = self.info("kept.tape")["steps"][0]["left_out"]
                self.assertEqual((left_out["first"], left_out["steps"], left_out["passes"]), (0, 55, 55))
                self.assertEqual(self.tapes(), ["full.tape", "kept.tape"])
                self.assert_checked("kept.tape")

    def test_what_fits_stays(self):
        for python in TORCHES:
            with self.subTest(python):
                done = self.record_all(TRAIN + "train(9)", "--force", "--keep", "200MB", python=python)
                self.assert_recorded(done)
                self.assertNotIn("let go", done.stderr)
                self.assertEqual(len(self.info("script.tape")["graph_tasks"]), 9)
                self.assertTrue(self.info("script.tape")["complete"])
                self.assertLess((self.folder / "script.tape").stat().st_size, 100000)

    def test_a_nan_and_an_error_make_a_tape(self):
        text = TRAIN + """
train(300, lambda i: float("nan") if i == 7 else 1)
class Bad(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x * 2
    @staticmethod
    def backward(ctx, gradient): raise RuntimeError("bad luck")
try:
    Bad.apply(model[0].weight).sum().backward()
except RuntimeError:
    pass
train(300)
"""
        for python in TORCHES:
            with self.subTest(python):
                done = self.record_all(text, "--force", "--keep", "3steps", python=python)
                self.assert_recorded(done)
                self.assertIn("tapedeck: a NaN was born: wrote what was kept into script.nan.tape", done.stderr)
                self.assertIn("tapedeck: a backward pass failed: wrote what was kept into script.error.tape", done.stderr)
                born = next(i for i, event in enumerate(self.events("script.nan.tape")) if event["event"] == "anomaly")
                self.assertIn(7, [event["iteration"] for event in self.events("script.nan.tape")[born:]
                                  if event["event"] == "step"])
                self.assertTrue([event for event in self.events("script.error.tape") if event["event"] == "error"])
                for tape in ("script.nan.tape", "script.error.tape", "script.tape"):
                    self.assert_checked(tape)
                    self.assertTrue(self.info(tape)["complete"])
                    (self.folder / tape).unlink()

    def test_nan_in_every_step_make_one_tape(self):
        """The steps last longer than the flight recorder's rounds. Its last round finds NaNs of the last moment."""
        text = TRAIN + """
weight = torch.zeros(3, requires_grad=True)
for i in range(40):
    (weight.sqrt() * 0).sum().backward()
    time.sleep(0.02)
"""
        for python in TORCHES:
            with self.subTest(python):
                done = self.record_all(text, "--force", "--keep", "200MB", python=python)
                self.assert_recorded(done)
                self.assertEqual(self.tapes(), ["script.nan.tape", "script.tape"], done.stderr)
                self.assertEqual(len([event for event in self.events("script.tape") if event["event"] == "anomaly"]), 40)
                (self.folder / "script.nan.tape").unlink()

    def test_who_asks_gets_a_tape(self):
        text = TRAIN + f"""
train(20)
ctypes.CDLL(None).tapedeck_dump()
wait_for("script.program.tape")
train(1)
os.kill(os.getppid(), signal.SIGUSR2)
wait_for("script.asked.tape")
train(1)
said = subprocess.run([{str(TAPEDECK)!r}, "dump", str(os.getpid())], capture_output=True, text=True)
assert said.stdout == os.path.abspath("script.asked-2.tape") + "\\n", said
said = subprocess.run([{str(TAPEDECK)!r}, "dump", str(os.getppid())], capture_output=True, text=True)
assert said.stdout == os.path.abspath("script.asked-3.tape") + "\\n", said
train(1)
"""
        for python in TORCHES:
            with self.subTest(python):
                self.assert_recorded(self.record_all(text, "--force", "--keep", "10min", python=python))
                names = ["script.program.tape", "script.asked.tape", "script.asked-2.tape", "script.asked-3.tape", "script.tape"]
                self.assertEqual(self.tapes(), sorted(names))
                self.assertEqual(len(self.info("script.program.tape")["graph_tasks"]), 20)
                self.assertEqual(len(self.info("script.tape")["graph_tasks"]), 23)
                for tape in names:
                    self.assert_checked(tape)
                    (self.folder / tape).unlink()

    def test_from_time_to_time(self):
        text = TRAIN + 'train(5)\nwait_for("script.regular-2.tape")'
        done = self.record_all(text, "--keep", "10min", "--dump-every", "1s", python=TORCHES[0])
        self.assert_recorded(done)
        self.assertEqual(len(self.info("script.regular-2.tape")["graph_tasks"]), 5)

    def test_the_last_pass_stays(self):
        """Nothing happens for longer than `--keep` says."""
        idle = "for i in range(6):\n    time.sleep(0.5)\n    torch.zeros(1, requires_grad=True)"
        for python in TORCHES:
            with self.subTest(python):
                self.assert_recorded(self.record_all(TRAIN + "train(9)\n" + idle, "--force", "--keep", "1s", python=python))
                self.assertEqual(len(self.info("script.tape")["graph_tasks"]), 1)
                self.assert_checked("script.tape")

    def test_a_pass_that_is_too_large(self):
        """What is left of it is not thrown away."""
        text = "import torch\nx = y = torch.ones(2, requires_grad=True)\nfor i in range(1000000):\n    y = y + 1\ny.sum().backward()"
        done = self.record_all(text, "--keep", "1MB", python=TORCHES[-1])
        self.assert_recorded(done)
        self.assertEqual([part["passes"] for part in self.info("script.tape")["steps"][0]["left_out"]], [1], done.stderr)

    def test_each_process_keeps_its_end(self):
        text = TRAIN + "if os.fork() == 0:\n    train(40)\n    os._exit(0)\ntrain(50)\nos.wait()\n"
        done = self.record_all(text, "--keep", "4steps", python=TORCHES[0])
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(len(self.tapes()), 3, done.stderr)
        for tape in ("script.1.tape", "script.2.tape"):
            self.assertEqual(len(self.info(tape)["graph_tasks"]), 4)
            self.assert_checked(tape)

    def test_exec_and_workers(self):
        """Workers of a DataLoader load PyTorch, and have no pass. A program that executes another has two tapes."""
        text = TRAIN + """
for i in torch.utils.data.DataLoader(range(3), num_workers=2):
    train(20)
if "again" not in sys.argv:
    os.execv(sys.executable, [sys.executable, "script.py", "again"])
os._exit(0)
"""
        for python in TORCHES:
            with self.subTest(python):
                done = self.record_all(text, "--force", "--keep", "4steps", python=python)
                self.assert_recorded(done)
                self.assertIn("let go of 112 passes before it (112 steps)", done.stderr)
                self.assertRegex(done.stderr, r"recorded 2 processes \(script.1.tape, script.2.tape\) into script.tape; see")
                for tape in ("script.1.tape", "script.2.tape"):
                    self.assertEqual(len(self.info(tape)["graph_tasks"]), 4)
                    self.assert_checked(tape)

    def test_a_process_that_outlives_the_command(self):
        text = TRAIN + """
if os.fork() == 0:
    os.setsid()
    quiet = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(quiet, descriptor)
    train(20)
    open("ready", "w").close()
    wait_for("recorded")
    train(20)
    os.rename("ready", "over")
    sys.exit(0)
wait_for("ready")
"""
        done = self.record_all(text, "--keep", "4steps", "-o", "kept.tape", python=TORCHES[0])
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("a process still runs, and its tape keeps everything from now on", done.stderr)
        self.assertIn(" kept.tape, so far: a process still runs; see it with", done.stderr)
        before = {name: os.stat(self.folder / name).st_ino for name in self.tapes()}
        (self.folder / "recorded").touch()
        for _ in range(200):
            if (self.folder / "over").exists():
                break
            time.sleep(0.05)
        time.sleep(0.5)
        self.assertEqual(before, {name: os.stat(self.folder / name).st_ino for name in self.tapes()})
        self.assertTrue(any(len(self.info(name)["graph_tasks"]) > 20 for name in before), done.stderr)

    def test_a_tape_that_somebody_removes(self):
        text = TRAIN + """
train(20)
time.sleep(0.6)
for name in os.listdir("."):
    if name.endswith(".tape"):
        os.unlink(name)
"""
        done = self.record_all(text, "--keep", "4steps", "-o", "kept.tape", python=TORCHES[0])
        self.assertRegex(done.stderr, r"kept\S*\.tape was not made smaller: No such file or directory")

    def test_own_engine(self):
        module = os.environ["PYTHONPATH"].partition(":")[0]
        self.script(OWN)
        done = self.record(sys.executable, "script.py", options=("--keep", "6steps"),
                           env={**self.environment, "PYTHONPATH": module})
        self.assert_recorded(done)
        self.assertEqual(len(self.info("script.tape")["graph_tasks"]), 6)
        self.assert_checked("script.tape")

    def test_the_disk_stays_bounded(self):
        """A tape of many megabytes never takes more than a few. A keyframe holds what lives, and that is little."""
        python = TORCHES[-1]
        self.script(TRAIN + """
most = 0
for round in range(12):
    train(1500)
    most = max([most] + [os.stat(name).st_blocks * 512 for name in os.listdir(".") if name.endswith(".tape")])
    time.sleep(0.3)
print(most)
""")
        done = self.record(python, "script.py", options=("--keep", "1MB",))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(int(done.stdout), 3000000)
        self.assertLessEqual((self.folder / "script.tape").stat().st_size, 1100000)
        self.assertIn("let go", done.stderr)
        self.assert_checked("script.tape")

    def test_the_end_of_chosen_steps(self):
        """What the user did not want and what did not stay are told together."""
        for options, wanted in ((("--steps", "10:50"), [(0, 47, 47), (50, 10, 10)]), (("--every", "10"), [(0, 21, 21), (21, 9, 9)])):
            with self.subTest(options):
                done = self.record_all(TRAIN + "train(60)", "--force", "--keep", "3steps", *options, python=TORCHES[0])
                self.assert_recorded(done)
                steps, = self.info("script.tape")["steps"]
                left_out = [(part["first"], part["steps"], part["passes"]) for part in steps["left_out"]]
                self.assertEqual(left_out[:len(wanted)], wanted)
                self.assertEqual(sum(passes for _, _, passes in left_out), 57)
                self.assertEqual(steps["chosen"], "--keep 3steps, " + " ".join(options))

    def test_bad_options(self):
        for options, words in ((["--keep", "5"], "must be a number and"), (["--keep", "0steps"], "must be a number and"),
                               (["--keep", "10KB"], "must be 1MB or more"), (["--dump-every", "1h"], "give --keep too"),
                               (["--keep", "5steps", "--dump-every", "5steps"], "must be a number and s, min or h")):
            done = self.record("true", options=options)
            self.assertEqual(done.returncode, 2)
            self.assertIn(words, done.stderr)
        for arguments in (["dump"], ["dump", "x"], ["dump", "4000000"]):
            self.assertEqual(self.ask(*arguments).returncode, 2)


if __name__ == "__main__":
    if not TORCHES:
        print("there is no PyTorch here")
        raise SystemExit(77)
    unittest.main()
