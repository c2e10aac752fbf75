# SPDX-License-Identifier: LGPL-2.1-or-later
"""The flight recorder: `record --keep` leaves the end of a full recording, and writes it down when something happens. With
every PyTorch that is here, and with Tapedeck's own engine."""
import os
import pathlib
import subprocess
import sys
import time

import skipping
import torches
from record_case import TAPEDECK, RecordCase

TORCHES = torches.pythons()

TRAIN = """
import ctypes, os, signal, subprocess, sys, time, torch
torch.manual_seed(3)
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
def wait_for(name):
    for i in range(6000):
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

# Of the own engine, and of the package `tapedeck`.
OWN_FOLDERS = os.environ["OWN_ENGINE"] + ":" + os.environ["PYTHONPATH"].partition(":")[0]

# On Tapedeck's own engine, without an optimizer and without tapedeck.step(): passes are steps.
OWN = """
import torch
x = torch.ones(3, requires_grad=True)
for i in range(60):
    (x * x).exp().sum().backward()
"""

# The same as TRAIN, of Tapedeck's own engine.
OWN_TRAIN = """
import os, time, tapedeck, torch
x = torch.ones(3, requires_grad=True)
def wait_for(name):
    for i in range(6000):
        if os.path.exists(name):
            return
        time.sleep(0.05)
    raise SystemExit(f"{name} did not come")
def train(n):
    for i in range(n):
        (x * x).exp().sum().backward()
        tapedeck.step()
"""

TRAIN_LATE = """
text = (lambda words: words) if "{call}" == "tapedeck." else str.encode
{train}
def make_nan():
    (torch.zeros(3, requires_grad=True).sqrt() * 0).sum().backward()
train(20)
make_nan()
{call}keep(text("50steps"))
{call}keep(text("5steps"))
train(100)
time.sleep(0.6)
make_nan()
train(100)
wait_for("script.nan.tape")
time.sleep(0.6)
train(100)
{call}dump()
wait_for("script.program.tape")
"""

OWN_WRONG = """
import tapedeck, torch
for words in ("5", "0steps", "10KB", "", "steps", "1steps" * 20):
    try:
        tapedeck.keep(words)
        raise SystemExit(words)
    except ValueError as error:
        assert "must be" in str(error), error
for words in (5, None, b"5steps"):
    try:
        tapedeck.keep(words)
        raise SystemExit(words)
    except TypeError:
        pass
torch.ones(3, requires_grad=True).sum().backward()
tapedeck.keep("5steps")
"""


def end_of(events, n_steps):
    """The events after the last but n_steps-th step, without what differs from run to run."""
    steps = [i for i, event in enumerate(events) if event["event"] == "step"]
    begin = steps[-n_steps - 1] + 1
    volatile = ("seq", "t", "waited", "stack")
    return [{name: value for name, value in event.items() if name not in volatile} for event in events[begin:]
            if event["event"] not in ("string", "session_end", "thread_state", "recorder_took", "core_wait")]


def has_ended(process):
    try:
        return "\nState:\tZ" in pathlib.Path("/proc", process, "status").read_text()
    except OSError:
        return True


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
        for python in torches.of_test(self):
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
                events = self.events("script.nan.tape")
                born = next(i for i, event in enumerate(events) if event["event"] == "anomaly")
                self.assertEqual([event["iteration"] for event in events[:born] if event["event"] == "step"][-3:], [4, 5, 6])
                self.assertIn("graph_task_end", [event["event"] for event in events[born:]])
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
        for python in torches.of_test(self):
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
        for python in torches.of_test(self):
            with self.subTest(python):
                self.assert_recorded(self.record_all(text, "--force", "--keep", "10min", python=python))
                names = ["script.program.tape", "script.asked.tape", "script.asked-2.tape", "script.asked-3.tape", "script.tape"]
                self.assertEqual(self.tapes(), sorted(names))
                self.assertEqual(len(self.info("script.program.tape")["graph_tasks"]), 20)
                self.assertEqual(len(self.info("script.tape")["graph_tasks"]), 23)
                for tape in names:
                    self.assert_checked(tape)
                    (self.folder / tape).unlink()

    def assert_kept_from_now(self, python, call, more):
        """A program switches keeping on after 20 of 320 steps, and changes its mind. Of two NaNs, the one after the call makes
        a tape. It sleeps for longer than a cut stays behind."""
        self.script(TRAIN_LATE.format(train=more, call=call))
        done = self.record(python, "script.py", options=("--force", "--anomaly", "nan"))
        self.assert_recorded(done)
        self.assertIn("tapedeck: a NaN was born: wrote what was kept into script.nan.tape", done.stderr)
        self.assertIn("tapedeck: the program asked: wrote what was kept into script.program.tape", done.stderr)
        self.assertIn('tapedeck: kept the end (keep("5steps")) and let go of 317 passes before it (315 steps)', done.stderr)
        self.assertEqual(self.steps("script.tape"), list(range(315, 320)))
        steps = self.steps("script.program.tape")
        self.assertEqual(steps, list(range(steps[0], 320)))
        self.assertIn(steps[0], range(20, 300))
        events = self.events("script.nan.tape")
        step, = [i for i, event in enumerate(events) if event["event"] == "step" and event["iteration"] == 119]
        self.assertIn("anomaly", [event["event"] for event in events[step:]])
        left_out, = self.info("script.tape")["steps"][0]["left_out"]
        self.assertEqual((left_out["first"], left_out["steps"], left_out["passes"]), (0, 315, 317))
        self.assertEqual(self.info("script.tape")["steps"][0]["chosen"], 'keep("5steps")')
        self.assertEqual(self.tapes(), ["script.nan.tape", "script.program.tape", "script.tape"])
        for tape in self.tapes():
            self.assert_checked(tape)
            (self.folder / tape).unlink()

    def steps(self, tape):
        return [event["iteration"] for event in self.events(tape) if event["event"] == "step"]

    def test_from_now_on(self):
        for python in torches.of_test(self):
            with self.subTest(python):
                self.assert_kept_from_now(python, "ctypes.CDLL(None).tapedeck_", TRAIN)

    def test_from_now_on_with_the_own_engine(self):
        self.environment["PYTHONPATH"] = OWN_FOLDERS
        self.assert_kept_from_now(sys.executable, "tapedeck.", OWN_TRAIN)

    def test_from_the_start_on(self):
        """Before the first pass there is no recorder yet. A child keeps too."""
        for python in torches.of_test(self):
            with self.subTest(python):
                text = TRAIN + """
assert ctypes.CDLL(None).tapedeck_keep(b"200MB") == 0
assert ctypes.CDLL(None).tapedeck_keep(b"4 steps") == 0
train(20)
if os.fork() == 0:
    train(10)
    os._exit(0)
os.wait()
"""
                self.assert_recorded(self.record_all(text, "--force", python=python))
                for tape, left_out in (("script.1.tape", 16), ("script.2.tape", 6)):
                    self.assertEqual(len(self.info(tape)["graph_tasks"]), 4)
                    self.assertEqual(self.info(tape)["steps"][0]["left_out"][0]["passes"], left_out)
                    self.assert_checked(tape)

    def test_after_the_option(self):
        text = TRAIN + 'train(20)\nassert ctypes.CDLL(None).tapedeck_keep(b"6steps") == 0\ntrain(20)\n'
        done = self.record_all(text, "--keep", "30steps", python=TORCHES[0])
        self.assert_recorded(done)
        self.assertEqual(self.steps("script.tape"), list(range(34, 40)))

    def test_wrong_words(self):
        text = TRAIN + """
train(1)
for words in (b"5", b"0steps", b"10KB", b"", None, b"1steps" * 20):
    assert ctypes.CDLL(None).tapedeck_keep(words) == -1
train(9)
"""
        done = self.record_all(text, python=TORCHES[0])
        self.assert_recorded(done)
        self.assertIn("tapedeck: keep '5': must be a number and KB, MB, GB, steps, s, min or h\n", done.stderr)
        self.assertIn("tapedeck: keep '10KB': must be 1MB or more\n", done.stderr)
        self.assertEqual(len(self.info("script.tape")["graph_tasks"]), 10)

    def test_wrong_words_with_the_own_engine(self):
        """With a recorder and without, where right words do nothing."""
        self.script(OWN_WRONG)
        environment = {**self.environment, "PYTHONPATH": OWN_FOLDERS}
        self.assert_recorded(self.record(sys.executable, "script.py", env=environment))
        done = subprocess.run([sys.executable, "script.py"], cwd=self.folder, env=environment, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def run_own(self, text, *options):
        self.script(text)
        return self.run_in(TAPEDECK, "run", "--force", *options, "script.py")

    def test_run(self):
        """The same with `tapedeck run`, whose script can change the limit."""
        text = OWN_TRAIN + f"""
import signal, subprocess
train(60)
(torch.zeros(3, requires_grad=True).sqrt() * 0).sum().backward()
train(20)
wait_for("script.nan.tape")
tapedeck.dump()
wait_for("script.program.tape")
os.kill(os.getppid(), signal.SIGUSR2)
wait_for("script.asked.tape")
for process in os.getpid(), os.getppid():
    said = subprocess.run([{str(TAPEDECK)!r}, "dump", str(process)], capture_output=True, text=True)
    assert said.stdout.startswith(os.path.abspath("script.asked-")), said
tapedeck.keep("7steps")
train(20)
"""
        done = self.run_own(text, "--keep", "50steps")
        self.assert_recorded(done)
        self.assertIn('kept the end (keep("7steps")) and let go of 94 passes before it (93 steps)', done.stderr)
        self.assertEqual(self.steps("script.tape"), list(range(93, 100)))
        self.assertEqual(self.tapes(), sorted(["script.nan.tape", "script.program.tape", "script.asked.tape",
                                               "script.asked-2.tape", "script.asked-3.tape", "script.tape"]))
        for tape in self.tapes():
            self.assert_checked(tape)
            self.assertTrue(self.info(tape)["complete"])

    def test_run_of_a_short_script(self):
        self.assert_recorded(self.run_own(OWN_TRAIN + "train(9)", "--keep", "4steps"))
        self.assertEqual(self.steps("script.tape"), list(range(5, 9)))
        self.assertLess((self.folder / "script.tape").stat().st_size, 100000)
        self.assert_checked("script.tape")

    def test_run_of_a_killed_script(self):
        """A dump says when the last step is on the disk."""
        end = "train(60)\ntapedeck.dump()\nwait_for('script.program.tape')\nos.kill(os.getpid(), 9)"
        done = self.run_own(OWN_TRAIN + end, "--keep", "4steps")
        self.assertEqual(done.returncode, 137, done.stderr)
        self.assertEqual(self.steps("script.tape"), list(range(56, 60)))
        self.assert_checked("script.tape", killed=True)

    def test_run_without_the_option(self):
        done = self.run_own(OWN_TRAIN + 'tapedeck.keep("4steps")\ntrain(9)\ntapedeck.dump()')
        self.assert_recorded(done)
        self.assertEqual(self.steps("script.tape"), list(range(9)))
        self.assertEqual(self.tapes(), ["script.tape"])
        for options in ("--keep", "5"), ("--keep", "10KB"), ("--dump-every", "1h"):
            self.assertEqual(self.run_own("", *options).returncode, 2)

    def test_from_time_to_time(self):
        """The dump after the next one begins after the last step."""
        text = TRAIN + """
train(5)
name = lambda n: f"script.regular-{n}.tape" if n > 1 else "script.regular.tape"
n = 1
while os.path.exists(name(n)): n += 1
wait_for(name(n + 1))
open("last", "w").write(name(n + 1))
"""
        done = self.record_all(text, "--keep", "10min", "--dump-every", "1s", python=TORCHES[0])
        self.assert_recorded(done)
        self.assertEqual(len(self.info((self.folder / "last").read_text())["graph_tasks"]), 5)

    def test_the_last_pass_stays(self):
        """Nothing happens for longer than `--keep` says."""
        idle = "for i in range(6):\n    time.sleep(0.5)\n    torch.zeros(1, requires_grad=True)"
        for python in torches.of_test(self):
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
        skipping.need_semaphores()
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
                self.assertRegex(done.stderr, r"recorded 2 processes \(script.1.tape, script.2.tape\) into script.tape; no findings; see")
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
    with open("ready.part", "w") as file:
        file.write(str(os.getpid()))
    os.rename("ready.part", "ready")
    wait_for("recorded")
    train(20)
    sys.exit(0)
wait_for("ready")
"""
        done = self.record_all(text, "--keep", "4steps", "-o", "kept.tape", python=TORCHES[0])
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("a process still runs, and its tape keeps everything from now on", done.stderr)
        self.assertIn(" kept.tape, so far: a process still runs; see it with", done.stderr)
        before = {name: os.stat(self.folder / name).st_ino for name in self.tapes()}
        (self.folder / "recorded").touch()
        child = (self.folder / "ready").read_text()
        for _ in range(2400):
            if has_ended(child):
                break
            time.sleep(0.05)
        self.assertEqual(before, {name: os.stat(self.folder / name).st_ino for name in self.tapes()})
        self.assertTrue(any(len(self.info(name)["graph_tasks"]) > 20 for name in before), done.stderr)

    def test_a_tape_that_somebody_removes(self):
        """A dump says when the flight recorder has opened it."""
        text = TRAIN + """
train(20)
ctypes.CDLL(None).tapedeck_dump()
wait_for("kept.program.tape")
for name in os.listdir("."):
    if name.endswith(".tape"):
        os.unlink(name)
"""
        done = self.record_all(text, "--keep", "4steps", "-o", "kept.tape", python=TORCHES[0])
        self.assertRegex(done.stderr, r"kept\S*\.tape was not made smaller: No such file or directory")

    def test_own_engine(self):
        self.script(OWN)
        done = self.record(sys.executable, "script.py", options=("--keep", "6steps"),
                           env={**self.environment, "PYTHONPATH": OWN_FOLDERS})
        self.assert_recorded(done)
        self.assertEqual(len(self.info("script.tape")["graph_tasks"]), 6)
        self.assert_checked("script.tape")

    def test_the_disk_stays_bounded(self):
        """A tape of three megabytes comes down to less than two again and again. A keyframe holds what lives, and that is little."""
        python = TORCHES[-1]
        self.script(TRAIN + """
def taken():
    return sum(os.stat(name).st_blocks * 512 for name in os.listdir(".") if name.endswith(".tape"))
for round in range(ROUNDS):
    train(1500)
    for i in range(2400):
        if taken() < 2000000: break
        time.sleep(0.05)
    else:
        sys.exit(f"{taken()} bytes stay")
""".replace("ROUNDS", "12" if torches.is_thorough() else "4"))
        done = self.record(python, "script.py", options=("--keep", "1MB",))
        self.assertEqual(done.returncode, 0, done.stderr)
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
    torches.need_compiler()
    skipping.main()
