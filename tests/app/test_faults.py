# SPDX-License-Identifier: LGPL-2.1-or-later
"""The n-th allocation, open, read, write, mapping, thread or library of Tapedeck fails, for every n, while a command
reads a tape or records one. The command says so or does without it; it never dies of a signal but its own abort.
test_faults.py [read|run] prints a line for each command and kind."""
import os
import pathlib
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
READERS = (["info"], ["state", "--json"], ["why"], ["check"], ["events", "--json"],
           ["render", "--view", "overview", "-o", "out.svg"])
ABORTS = (-signal.SIGABRT, -signal.SIGTRAP, 128 + signal.SIGABRT)  # ours, GLib's, that of the program that `run` runs
STATUSES = (0, 1, 2, 125)


class Faults:
    """A command in a folder of its own, with one fault after the other."""

    def __init__(self, folder, command):
        self.folder, self.command = folder, command
        self.fine = self.run({})
        assert self.fine.returncode == 0, self.fine

    def run(self, environment, *descriptors):
        for path in self.folder.glob("out.*"):
            path.unlink()
        return subprocess.run(self.command, cwd=self.folder, env={**os.environ, **environment}, capture_output=True,
                              timeout=120, pass_fds=descriptors)

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
            assert ended.returncode or kind == "read" or self.is_honest(ended), where
        assert not [path.name for path in self.folder.iterdir() if ".part" in path.name], where

    def is_honest(self, ended):
        """A command that succeeds all the same does what it does without the fault, or says what is missing. But a
        chunk that cannot be read counts as damage, and only `info` and `check` tell of damage."""
        return ended.stdout == self.fine.stdout or b"damage" in ended.stdout + ended.stderr

    def all_of(self, kind):
        number, ways = 0, {}
        while (ended := self.fail(kind, number)) is not None:
            self.judge(kind, number, ended)
            ways[ended.returncode] = ways.get(ended.returncode, 0) + 1
            number += 1
        told = ", ".join(f"{count} x {status}" for status, count in sorted(ways.items()))
        print(f"{' '.join(self.command[1:3]):24} {kind:15} {number:5} faults   {told}", flush=True)
        return number


def main():
    with tempfile.TemporaryDirectory(prefix="tapedeck-faults-") as name:
        folder = pathlib.Path(name)
        (folder / "program.py").write_text(PROGRAM)
        subprocess.run([TAPEDECK, "run", "-o", "kept.tape", "program.py"], cwd=folder, check=True, capture_output=True)
        commands = {"read": [[TAPEDECK, *reader, "kept.tape"] for reader in READERS],
                    "run": [[TAPEDECK, "run", "-o", "out.tape", "program.py"]]}[sys.argv[1]]
        for command in commands:
            faults = Faults(folder, command)
            tried = sum(faults.all_of(kind) for kind in KINDS)
            assert tried > 10, "hardly a call was found"


if __name__ == "__main__":
    main()
