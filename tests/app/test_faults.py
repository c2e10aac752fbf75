# SPDX-License-Identifier: LGPL-2.1-or-later
"""The n-th allocation, open, read, write, mapping, thread, library, connection or child of Tapedeck fails. A command
that reads a tape or runs a program says so or does without it; it never dies of a signal but its own abort. A recorded
program notices nothing.

test_faults.py read|run         every fourth n, with TAPEDECK_THOROUGH every n; a line for each command and kind
test_faults.py record [all|N]   N of them on each part of a recording, or every n on both PyTorchs: hours"""
import itertools
import os
import pathlib
import random
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time

import torches
from preloads import preload
from record_case import plain_environment

TAPEDECK = os.environ["TAPEDECK"]
PRELOAD = pathlib.Path(os.environ["BUILD_ROOT"]) / "tests" / "libfaults.so"
KINDS = ("malloc", "open", "read", "write", "mmap", "pthread_create", "dlopen", "socket", "posix_spawn")  # faults.c's order
COUNTS = struct.Struct(f"{1 + len(KINDS)}l")
PROGRAM = """
import torch
x = torch.ones(3, requires_grad=True)
for _ in range(5):
    (x * x.exp()).sum().backward()
print(x.grad.tolist())
"""
READERS = (["info", "kept.tape"], ["state", "--json", "kept.tape"], ["why", "kept.tape"], ["check", "kept.tape"],
           ["events", "--json", "kept.tape"], ["render", "--view", "overview", "-o", "out.svg", "kept.tape"],
           ["diff", "kept.tape", "kept.tape"], ["import", "-o", "out.tape", "kept.json"])
TRACE = """{"traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "autograd::engine::evaluate_function: MulBackward0", "pid": 1, "tid": 2, "ts": 10,
 "dur": 5, "args": {"Sequence number": 3, "Fwd thread id": 1}},
{"ph": "X", "cat": "cpu_op", "name": "MulBackward0", "pid": 1, "tid": 2, "ts": 11, "dur": 3,
 "args": {"Sequence number": 3, "Fwd thread id": 1}}]}"""
RECORDED = """
import threading, torch
print("begin", flush=True)
x = torch.ones(3, requires_grad=True)
def passes():
    for _ in range(3):
        (x * x.exp()).sum().backward()
passes()
thread = threading.Thread(target=passes)
thread.start()
thread.join()
print(x.grad.tolist(), flush=True)
raise SystemExit(3)
"""
N_PASSES = 6
ABORTS = (-signal.SIGABRT, -signal.SIGTRAP, 128 + signal.SIGABRT)  # ours, GLib's, that of the program that `run` runs
STATUSES = (0, 1, 2, 125, 126)  # 126: the program cannot be started
READ_ERROR = re.compile(rb"tapedeck: kept\.\w+: Input/output error")


class Faults:
    """A command in a folder of its own, with one fault after the other."""

    part = ""  # of Tapedeck that fails: see faults.c

    def __init__(self, folder, command):
        self.folder, self.command = folder, command
        self.fine = self.run({})
        self.expect_fine()
        self.picture = self.find_picture()

    def expect_fine(self):
        assert self.fine.returncode == 0, self.fine

    def run(self, environment):
        for path in self.folder.glob("out*"):
            path.unlink()
        return subprocess.run(self.command, cwd=self.folder, env={**os.environ, **environment}, capture_output=True,
                              timeout=120)

    def find_picture(self):
        path = self.folder / "out.svg"
        return path.exists() and path.read_bytes()

    def run_with(self, kind, number):
        """Runs the command with this fault. Returns what ended, whether the fault came, and {kind: calls}."""
        counts = self.folder / "counts"
        counts.write_bytes(bytes(COUNTS.size))
        ended = self.run({"LD_PRELOAD": preload(PRELOAD), "FAULT_KIND": kind, "FAULT_AT": str(number), "FAULT_PART": self.part,
                          "FAULT_FILE": str(counts)})
        n_failed, *calls = COUNTS.unpack(counts.read_bytes())
        return ended, n_failed > 0, dict(zip(KINDS, calls))

    def judge(self, kind, number, ended):
        where = (self.command, kind, number, ended)
        if ended.returncode in ABORTS:
            assert kind in ("malloc", "mmap") and b"memory" in ended.stderr, where
        else:
            assert ended.returncode in STATUSES, where
            silent = kind == "write" and number == 0  # the first thing that a command writes may be its complaint
            assert silent or ended.returncode == 0 or ended.stderr or ended.returncode == 1 and b"damaged" in ended.stdout, where
            assert self.is_honest(kind, ended), where
        assert not [path.name for path in self.folder.iterdir() if ".part" in path.name], where

    def is_honest(self, kind, ended):
        """A command that succeeds all the same does what it does without the fault, or says what is missing. A disk that
        fails is no damage of the tape: the command names the tape, or does without what it could not read."""
        if kind == "read" and ended.returncode:
            return ended.returncode == 2 and READ_ERROR.search(ended.stderr) and b"damage" not in ended.stderr
        if ended.returncode or (ended.stdout, self.find_picture()) == (self.fine.stdout, self.picture):
            return True
        return kind != "read" and b"damage" in ended.stdout + ended.stderr

    def fail_all(self, kind, numbers=None):
        """Fails each call of a kind, every fourth if the tests are not thorough, or those of these numbers that there are. Returns how
        many."""
        began, ways = time.monotonic(), {}
        for number in itertools.count(step=1 if torches.is_thorough() else 4) if numbers is None else numbers:
            ended, failed, _ = self.run_with(kind, number)
            if not failed and numbers is None:
                break
            if not failed:
                continue  # threads race: this time there were fewer calls
            self.judge(kind, number, ended)
            ways[ended.returncode] = ways.get(ended.returncode, 0) + 1
        told = ", ".join(f"{count} x {status}" for status, count in sorted(ways.items()))
        print(f"{' '.join(self.command[1:3])} {self.part:8} {kind:15} {sum(ways.values()):5} faults "
              f"{time.monotonic() - began:6.0f} s   {told}", flush=True)
        return sum(ways.values())


class RecordFaults(Faults):
    """A recording of PyTorch. Whatever fails, the program ends as it does without Tapedeck."""

    def __init__(self, folder, part, python, options):
        self.part = part
        self.name = f"{'record itself' if part == 'app' else 'inside the program'}, {' '.join(options[-2:])}"
        (folder / "program.py").write_text(RECORDED)
        super().__init__(folder, [TAPEDECK, "record", *options, "-o", "out.tape", "--", python, "program.py"])

    def expect_fine(self):
        assert self.fine.returncode == 3 and self.count_passes() == N_PASSES, self.fine

    def run(self, environment):
        return super().run({**plain_environment(XDG_RUNTIME_DIR=str(self.folder)), **environment})

    def count_passes(self):
        """On the tape; None if there is no tape."""
        if not (self.folder / "out.tape").exists():
            return None
        events = subprocess.run([TAPEDECK, "events", "--kind", "graph_task_end", "out.tape"], cwd=self.folder,
                                capture_output=True, check=True)
        return len(events.stdout.splitlines())

    def judge(self, kind, number, ended):
        where = (self.part, kind, number, ended, self.count_passes(), list(self.folder.iterdir()))
        has_begun = ended.stdout.startswith(b"begin")
        if has_begun or self.part == "probe":
            assert ended.stdout == self.fine.stdout, where
        if self.part == "probe":
            assert ended.returncode == 3, where
        elif ended.returncode in ABORTS:
            assert kind in ("malloc", "mmap") and b"memory" in ended.stderr, where
            return  # the next session removes what this one left behind
        else:
            assert ended.returncode == (3 if has_begun else 125) or not has_begun and ended.returncode in (2, 126), where
        assert self.count_passes() == N_PASSES or ended.stderr.count(b"tapedeck:") > 0 and ended.stderr != self.fine.stderr, where
        left = {path.name for path in self.folder.iterdir()} - {"program.py", "counts", "out.tape"}
        assert not left, where


def fail_sample(faults, wanted, chance):
    """Fails so many calls, spread over all kinds, or all calls."""
    began = time.monotonic()
    ended, _, calls = faults.run_with("none", 0)
    assert ended.stdout == faults.fine.stdout, ended
    each = {kind: range(n) for kind, n in calls.items() if n}
    everything = [(kind, number) for kind in each for number in each[kind]]
    if wanted is not None:
        some = [(kind, number) for kind in each for number in chance.sample(each[kind], min(2, len(each[kind])))]
        rest = [call for call in everything if call not in some]
        everything = chance.sample(some, min(wanted, len(some)))
        everything += chance.sample(rest, min(wanted - len(everything), len(rest)))
    tried = sum(faults.fail_all(kind, sorted(number for one, number in everything if one == kind)) for kind in each)
    print(f"{tried} of {sum(calls.values())} calls were tried", flush=True)
    print(f"tried faults in a recording, {faults.name}: {tried}, 0 failed, {time.monotonic() - began:.0f} s", flush=True)


def fail_record(wanted):
    pythons = torches.each()
    torches.need_compiler()
    chance = random.Random(1)
    for version, python in pythons if wanted is None else pythons[:1]:
        environment = plain_environment()
        subprocess.run([TAPEDECK, "fit", python], env=environment, check=True, capture_output=True)
        for part, level in itertools.product(("app", "probe"), ("1", "2")):
            with tempfile.TemporaryDirectory(prefix="tapedeck-faults-") as folder:
                faults = RecordFaults(pathlib.Path(folder), part, python, ["--stacks", "--level", level])
                faults.name += f", PyTorch {version}"
                fail_sample(faults, wanted, chance)


def keep(folder, program):
    (folder / "program.py").write_text(program)
    subprocess.run([TAPEDECK, "run", "--force", "-o", "kept.tape", "program.py"], cwd=folder, check=True,
                   capture_output=True)


def fail_reads_of_long_tape(folder):
    """A tape of several chunks, whose events do not all stay in memory: commands come back to the file."""
    keep(folder, PROGRAM.replace("range(5)", "range(1000)"))
    for reader in READERS:
        if "kept.tape" in reader:
            Faults(folder, [TAPEDECK, *reader]).fail_all("read")


def fail_commands(commands, folder):
    (folder / "kept.json").write_text(TRACE)
    keep(folder, PROGRAM)
    for command in commands:
        faults = Faults(folder, command)
        tried = sum(faults.fail_all(kind) for kind in KINDS)
        assert tried > 10, "hardly a call was found"


def main():
    with tempfile.TemporaryDirectory(prefix="tapedeck-faults-") as name:
        if sys.argv[1] == "record":
            number = sys.argv[2] if len(sys.argv) > 2 else "8"
            fail_record(None if number == "all" else int(number))
        elif sys.argv[1] == "read":
            fail_commands([[TAPEDECK, *reader] for reader in READERS], pathlib.Path(name))
            fail_reads_of_long_tape(pathlib.Path(name))
        else:
            fail_commands([[TAPEDECK, "run", "-o", "out.tape", "program.py"]], pathlib.Path(name))


if __name__ == "__main__":
    main()
