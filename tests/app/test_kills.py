# SPDX-License-Identifier: LGPL-2.1-or-later
"""SIGKILL at random moments of a recording. What is on the disk then is a tape: it opens, keeps the engine's rules as
far as it goes, and has no pass that the program had not begun. With `keep`,
a flight recorder cuts the tape all the time. test_kills.py run|record|keep [NUMBER [SEED]]"""
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

import torches
from record_case import TAPEDECK, plain_environment

PROGRAM = """
import os, time, torch
print(os.getpid(), flush=True)
x = torch.ones(40, requires_grad=True)
for i in range(100000):
    print('begin', flush=True)
    (x * x).exp().sum().backward()
    print('end', time.monotonic(), flush=True)
"""


def kill_one(folder, command, after, after_s, whole):
    """Kills the program, or its whole process group, some time after it printed a word. Returns what it printed, and
    when it was killed."""
    with open(folder / "printed", "w+") as output:
        running = subprocess.Popen(command, cwd=folder, env=plain_environment(), stdout=output, stderr=subprocess.DEVNULL,
                                   start_new_session=True)
        while after not in (printed := (folder / "printed").read_text()):
            assert running.poll() is None, running
            time.sleep(0.01)
        time.sleep(after_s)
        killed_s = time.monotonic()
        if whole:
            os.killpg(running.pid, signal.SIGKILL)
        else:
            os.kill(int(printed.partition("\n")[0]), signal.SIGKILL)
        status = running.wait(timeout=120)
    assert status == (-signal.SIGKILL if whole else 128 + signal.SIGKILL), f"ended with {status}"
    return (folder / "printed").read_text().split(), killed_s


def ask(folder, *arguments):
    return subprocess.run([TAPEDECK, *arguments], cwd=folder, capture_output=True, text=True, timeout=120)


def find_loss(printed, n_recorded, killed_s):
    """How many seconds before the kill the first pass ended that is not on the tape."""
    ends = [float(printed[i + 1]) for i, word in enumerate(printed[:-1]) if word == "end"]
    return max(killed_s - ends[n_recorded], 0) if n_recorded < len(ends) else 0


def judge(folder, tape, printed):
    """Returns how many passes the tape has to their end, and how many a flight recorder has let go."""
    info = ask(folder, "info", "--json", tape)
    assert info.returncode == 0, info
    ends = sum(json.loads(line)["event"] == "graph_task_end" for line in ask(folder, "events", "--json", "--kind",
                                                                             "graph_task_end", tape).stdout.splitlines())
    begun, ended = len(json.loads(info.stdout)["graph_tasks"]), printed.count("end")
    assert begun <= printed.count("begin"), (begun, printed.count("begin"))
    assert ends <= ended + 1, (ends, ended)
    broken = [line for line in ask(folder, "check", tape).stdout.splitlines() if ": complete: " not in line]
    assert not broken, broken
    gone = [part["passes"] for process in json.loads(info.stdout).get("steps", []) for part in process["left_out"]]
    return ends, sum(gone)


def kill_many(engine, command, number, chance, longest_s=0.4):
    """One kill in four may come before the first pass, while the recording begins. The others come after it. Returns
    how many failed."""
    n_absent = n_empty = n_passes = n_cut = n_failed = worst_s = 0
    begin = time.monotonic()
    for turn in range(number):
        with tempfile.TemporaryDirectory(prefix="tapedeck-kills-") as name:
            folder = pathlib.Path(name)
            (folder / "program.py").write_text(PROGRAM)
            after = "\n" if chance.random() < 0.25 else "end "
            try:
                printed, killed_s = kill_one(folder, command, after, chance.uniform(0, longest_s), chance.random() < 0.3)
                tapes = list(folder.glob("**/*.tape"))
                judged = [judge(folder, tape, printed) for tape in tapes]
                ends, n_cut = [n for n, _ in judged], n_cut + sum(n_gone > 0 for _, n_gone in judged)
                worst_s = max([worst_s] + [find_loss(printed, n + n_gone, killed_s) for n, n_gone in judged])
            except (AssertionError, subprocess.TimeoutExpired) as problem:
                n_failed += 1
                print(f"{engine}: kill {turn} failed: {problem}", flush=True)
                continue
            n_absent += not tapes
            n_empty += ends == [0]
            n_passes += sum(ends)
    print(f"{engine}: {n_absent} without a tape, {n_empty} before the end of a pass, {n_passes} passes on the tapes, "
          f"{n_cut} tapes cut, {worst_s * 1000:.0f} ms lost at most")
    print(f"tried kills, {engine}: {number}, {n_failed} failed, {time.monotonic() - begin:.0f} s", flush=True)
    assert n_passes > number, "the kills came too early"
    assert worst_s < 1, "the recorder writes everything within 50 ms"
    assert n_cut > 0 or "--keep" not in command, "no tape was cut"
    return n_failed


def main():
    number = torches.n_rounds(sys.argv[2]) if len(sys.argv) > 2 else 25
    chance = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    if sys.argv[1] == "run":
        sys.exit(bool(kill_many("run", [TAPEDECK, "run", "-o", "out.tape", "program.py"], number, chance)))
    torches.need_compiler()
    n_failed = 0
    for version, python in torches.each():
        subprocess.run([TAPEDECK, "fit", python], env=plain_environment(), check=True, capture_output=True)
        keep, longest_s = (["--keep", "20steps"], 2) if sys.argv[1] == "keep" else ([], 0.4)
        command = [TAPEDECK, "record", *keep, "-o", "out.tape", "--", python, "program.py"]
        what = " ".join([f"PyTorch {version}", *keep])
        n_failed += kill_many(what, command, number, chance, longest_s)
    sys.exit(bool(n_failed))


if __name__ == "__main__":
    main()
