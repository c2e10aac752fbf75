# SPDX-License-Identifier: LGPL-2.1-or-later
"""The n-th allocation, open, read, write, mapping, thread or library of Tapedeck fails, for every n, while a command
reads a tape or records one. The command says so or does without it; it never dies of a signal but its own abort.
test_faults.py [read|run] prints a line for each command and kind."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

TAPEDECK = os.environ["TAPEDECK"]
PRELOAD = pathlib.Path(os.environ["BUILD_ROOT"]) / "tests" / "libfaults.so"
KINDS = ("malloc", "open", "read", "write", "mmap", "pthread_create", "dlopen")
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
ABORTS = (-signal.SIGABRT, -signal.SIGTRAP, 128 + signal.SIGABRT)  # ours, GLib's, that of the program that `run` runs
STATUSES = (0, 1, 2, 125)
READ_ERROR = re.compile(rb"tapedeck: kept\.\w+: Input/output error")


class Faults:
    """A command in a folder of its own, with one fault after the other."""

    def __init__(self, folder, command):
        self.folder, self.command = folder, command
        self.fine = self.run({})
        assert self.fine.returncode == 0, self.fine
        self.picture = self.find_picture()

    def run(self, environment, *descriptors):
        for path in self.folder.glob("out.*"):
            path.unlink()
        return subprocess.run(self.command, cwd=self.folder, env={**os.environ, **environment}, capture_output=True,
                              timeout=120, pass_fds=descriptors)

    def find_picture(self):
        path = self.folder / "out.svg"
        return path.exists() and path.read_bytes()

    def fail(self, kind, number):
        """Runs the command with this fault. Returns what ended, or None if there were fewer calls."""
        note, told = os.pipe()
        ended = self.run({"LD_PRELOAD": str(PRELOAD), "FAULT_KIND": kind, "FAULT_AT": str(number), "FAULT_NOTE": str(told)},
                         told)
        os.close(told)
        with open(note, "rb") as failed:
            return ended if failed.read() else None

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

    def all_of(self, kind):
        number, ways = 0, {}
        while (ended := self.fail(kind, number)) is not None:
            self.judge(kind, number, ended)
            ways[ended.returncode] = ways.get(ended.returncode, 0) + 1
            number += 1
        told = ", ".join(f"{count} x {status}" for status, count in sorted(ways.items()))
        print(f"{' '.join(self.command[1:3]):24} {kind:15} {number:5} faults   {told}", flush=True)
        return number


def keep(folder, program):
    (folder / "program.py").write_text(program)
    subprocess.run([TAPEDECK, "run", "--force", "-o", "kept.tape", "program.py"], cwd=folder, check=True,
                   capture_output=True)


def fail_reads_of_long_tape(folder):
    """A tape of several chunks, whose events do not all stay in memory: commands come back to the file."""
    keep(folder, PROGRAM.replace("range(5)", "range(1000)"))
    for reader in READERS:
        if "kept.tape" in reader:
            Faults(folder, [TAPEDECK, *reader]).all_of("read")


def main():
    with tempfile.TemporaryDirectory(prefix="tapedeck-faults-") as name:
        folder = pathlib.Path(name)
        (folder / "kept.json").write_text(TRACE)
        keep(folder, PROGRAM)
        commands = {"read": [[TAPEDECK, *reader] for reader in READERS],
                    "run": [[TAPEDECK, "run", "-o", "out.tape", "program.py"]]}[sys.argv[1]]
        for command in commands:
            faults = Faults(folder, command)
            tried = sum(faults.all_of(kind) for kind in KINDS)
            assert tried > 10, "hardly a call was found"
        if sys.argv[1] == "read":
            fail_reads_of_long_tape(folder)


if __name__ == "__main__":
    main()
