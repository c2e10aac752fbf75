#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Trainings with a flight recorder, for long: flights.py [MINUTES [SEED]], through tests/tried.py.

Windows come and go, tapes are asked for, and trainings end or are killed, at random. Every tape that is left keeps the rules of the
engine, and the memory of the trainings and of `record` does not grow. Uses each PyTorch in turn, and a window if there is a display for it."""
import json
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "fixtures"))
import display  # noqa: E402

display.ensure()

import program_list  # noqa: E402
import torches  # noqa: E402
from beside_plain import broken_rules  # noqa: E402
from record_case import TAPEDECK, plain_environment  # noqa: E402
from window_case import Window  # noqa: E402
from window_tapes import OUTPUT  # noqa: E402

MOST_GROWTH_MB = 8  # between the second quarter of a life and the last one; a leak of 60 bytes an event is 30 MB a minute
LEAST_LIFE_S = 40   # of a training whose memory is judged
STARTS_S = 300      # until its tape is there; the first one may compile its observer

PROGRAM = """
import os, time, torch
torch.manual_seed(3)
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
open('pid', 'w').write(str(os.getpid()))
while not os.path.exists('end'):
    optimizer.zero_grad()
    (model(torch.randn(8, 16)) ** 2).mean().backward()
    optimizer.step()
    time.sleep(0.005)
"""


def memory_mb(pid):
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS"))


def judge_growth(name, samples):
    if len(samples) < LEAST_LIFE_S:
        return
    quarter = len(samples) // 4
    growth = statistics.median(samples[-quarter:]) - statistics.median(samples[quarter:2 * quarter])
    assert growth < MOST_GROWTH_MB, f"{name} grew by {growth:.1f} MB in {len(samples)} s"


class Training:
    """One recorded training, in a folder of its own, with the sizes that its processes had each second."""
    def __init__(self, python, keep, live):
        self.temporary = tempfile.TemporaryDirectory(prefix="tapedeck-flights-")
        self.folder, self.window = pathlib.Path(self.temporary.name), None
        (self.folder / "train.py").write_text(PROGRAM)
        os.environ["XDG_RUNTIME_DIR"] = str(self.folder)  # the window looks there
        self.environment = plain_environment(TAPEDECK_WINDOW="/bin/true")
        command = [TAPEDECK, "record", *(["--live"] if live else []), "--keep", keep, "-o", "out.tape", "--", python, "train.py"]
        self.record = subprocess.Popen(command, cwd=self.folder, env=self.environment, stdout=subprocess.DEVNULL,
                                       stderr=open(self.folder / "said", "w"), start_new_session=True)
        self.sizes = {"the training": [], "record": []}
        display.wait_for("the tape", lambda: (self.folder / "pid").exists() and list(self.folder.glob("**/*.tape")), STARTS_S)
        self.pid = int((self.folder / "pid").read_text())

    def look(self):
        assert self.record.poll() is None, f"record ended with {self.record.returncode}: {(self.folder / 'said').read_text()}"
        self.sizes["the training"].append(memory_mb(self.pid))
        self.sizes["record"].append(memory_mb(self.record.pid))

    def attach(self, chance):
        """A window comes, or the one that is there goes: closed by its user, or killed."""
        if not self.window:
            self.window = Window()
            program_list.attach(self.window, "stopped")
        elif chance.random() < 0.5:
            self.window.press("Close")
            assert self.window.quits() == 0
            self.window = None
        else:
            self.drop_window()

    def drop_window(self):
        if self.window:
            self.window.process.kill()
            self.window.process.wait()
        self.window = None

    def dump(self, chance):
        done = subprocess.run([TAPEDECK, "dump", str(self.record.pid)], cwd=self.folder, env=self.environment, capture_output=True, text=True,
                              timeout=120)
        assert done.returncode == 0, done
        self.judge(self.folder / done.stdout.strip())

    def judge(self, tape):
        """Returns how many passes are on it."""
        broken = broken_rules(tape)
        assert not broken, (tape.name, broken)
        info = subprocess.run([TAPEDECK, "info", "--json", tape], capture_output=True, text=True, timeout=300)
        assert info.returncode == 0, info
        passes = len(json.loads(info.stdout)["graph_tasks"])
        assert passes, f"{tape.name} is empty"
        return passes

    def end(self, how):
        """The training ends, is killed, or is killed with its recorder. Returns how many tapes it left."""
        if how == "end":
            (self.folder / "end").touch()
        elif how == "kill":
            os.kill(self.pid, signal.SIGKILL)
        else:
            os.killpg(self.record.pid, signal.SIGKILL)
        status = self.record.wait(120)
        assert status == {"end": 0, "kill": 128 + signal.SIGKILL, "kill all": -signal.SIGKILL}[how], (how, status)
        self.drop_window()
        tapes = list(self.folder.glob("**/*.tape"))
        assert tapes, f"no tape after {how}"
        for tape in tapes:
            self.judge(tape)
        for name, samples in self.sizes.items():
            judge_growth(name, samples)
        return len(tapes)

    def close(self):
        self.drop_window()
        if self.record.poll() is None:
            os.killpg(self.record.pid, signal.SIGKILL)
            self.record.wait()
        self.temporary.cleanup()


def fly(training, chance, until, counts):
    """What happens to one training, until it ends."""
    longest = time.monotonic() + chance.uniform(60, 240)
    while time.monotonic() < min(longest, until):
        next_at = time.monotonic() + chance.uniform(2, 15)
        while time.monotonic() < next_at:
            training.look()
            time.sleep(1)
        act = chance.choice(["attach", "attach", "dump"])
        getattr(training, act)(chance)
        counts[act] += 1
    counts["tapes"] += training.end(chance.choice(["end", "kill", "kill all"]))


def main():
    minutes, seed = float(sys.argv[1]) if len(sys.argv) > 1 else 15, int(sys.argv[2]) if len(sys.argv) > 2 else 1
    torches.need_compiler()
    OUTPUT.mkdir(parents=True, exist_ok=True)
    chance, begin, n_failed, n = random.Random(seed), time.monotonic(), 0, 0
    counts, pythons, largest = {"attach": 0, "dump": 0, "tapes": 0}, torches.pythons(), 0
    while time.monotonic() < begin + minutes * 60:
        python, keep, live = pythons[n % len(pythons)], chance.choice(["20steps", "200steps", "2MB", "10s"]), chance.random() < 0.5
        training, n = Training(python, keep, live), n + 1
        try:
            fly(training, chance, begin + minutes * 60, counts)
        except Exception as problem:  # of a window too, whatever it is: the other trainings fly
            n_failed += 1
            print(f"flight {n} --keep {keep}{' --live' if live else ''} failed: {type(problem).__name__} {problem}", flush=True)
        finally:
            largest = max([largest, *training.sizes["the training"]])
            training.close()
    print(f"{n} trainings, {counts['attach']} windows came or went, {counts['dump']} dumps, {counts['tapes']} tapes, {largest:.0f} MB at most")
    print(f"tried trainings with a flight recorder: {n}, {n_failed} failed, {time.monotonic() - begin:.0f} s", flush=True)
    sys.exit(bool(n_failed))


if __name__ == "__main__":
    main()
