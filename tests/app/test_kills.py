# SPDX-License-Identifier: LGPL-2.1-or-later
"""SIGKILL at random moments of a recording. What is on the disk then is a tape: it opens, keeps the engine's rules as
far as it goes, and has no pass that the program had not begun. test_kills.py run|record [NUMBER [SEED]]"""
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

TAPEDECK = os.environ["TAPEDECK"]
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
ENVIRONMENT.update(OMP_NUM_THREADS="1", XDG_CACHE_HOME=os.environ["BUILD_ROOT"] + "/test-cache")
PROGRAM = """
import os, torch
print(os.getpid(), flush=True)
x = torch.ones(40, requires_grad=True)
for i in range(100000):
    print('begin', flush=True)
    (x * x).exp().sum().backward()
    print('end', flush=True)
"""


def kill_one(folder, command, after_s, whole):
    """Kills the program, or its whole process group, some time after its first line. Returns what it printed."""
    with open(folder / "printed", "w+") as output:
        running = subprocess.Popen(command, cwd=folder, env=ENVIRONMENT, stdout=output, stderr=subprocess.DEVNULL,
                                   start_new_session=True)
        while not (first := (folder / "printed").read_text().partition("\n"))[1]:
            assert running.poll() is None, running
            time.sleep(0.01)
        time.sleep(after_s)
        if whole:
            os.killpg(running.pid, signal.SIGKILL)
        else:
            os.kill(int(first[0]), signal.SIGKILL)
        status = running.wait(timeout=120)
    assert status == (-signal.SIGKILL if whole else 128 + signal.SIGKILL), status
    return (folder / "printed").read_text().split()


def ask(folder, *arguments):
    return subprocess.run([TAPEDECK, *arguments], cwd=folder, capture_output=True, text=True, timeout=120)


def judge(folder, tape, printed):
    """Returns how many passes the tape has to their end."""
    info = ask(folder, "info", "--json", tape)
    assert info.returncode == 0, info
    ends = sum(json.loads(line)["event"] == "graph_task_end" for line in ask(folder, "events", "--json", "--kind",
                                                                             "graph_task_end", tape).stdout.splitlines())
    begun, ended = len(json.loads(info.stdout)["graph_tasks"]), printed.count("end")
    assert begun <= printed.count("begin"), (begun, printed.count("begin"))
    assert ends <= ended + 1, (ends, ended)
    broken = [line for line in ask(folder, "check", tape).stdout.splitlines() if ": complete: " not in line]
    assert not broken, broken
    return ends


def kill_many(command, number, chance, latest_s):
    n_absent = n_empty = n_passes = 0
    for turn in range(number):
        with tempfile.TemporaryDirectory(prefix="tapedeck-kills-") as name:
            folder = pathlib.Path(name)
            (folder / "program.py").write_text(PROGRAM)
            printed = kill_one(folder, command, chance.uniform(0, latest_s), chance.random() < 0.3)
            tapes = list(folder.glob("**/*.tape"))
            ends = [judge(folder, tape, printed) for tape in tapes]
            n_absent += not tapes
            n_empty += ends == [0]
            n_passes += sum(ends)
    print(f"{' '.join(command[1:2])}: {number} kills, {n_absent} without a tape, {n_empty} before the end of a pass, "
          f"{n_passes} passes on the tapes, 0 failed", flush=True)
    assert n_passes > number, "the kills came too early"


def main():
    number = int(sys.argv[2]) if len(sys.argv) > 2 else 25
    chance = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    if sys.argv[1] == "run":
        kill_many([TAPEDECK, "run", "-o", "out.tape", "program.py"], number, chance, 0.4)
    elif not torches.installed():
        sys.exit(77)
    else:
        for python in torches.installed().values():
            subprocess.run([TAPEDECK, "fit", python], env=ENVIRONMENT, check=True, capture_output=True)
            kill_many([TAPEDECK, "record", "-o", "out.tape", "--", python, "program.py"], number, chance, 3)


if __name__ == "__main__":
    main()
