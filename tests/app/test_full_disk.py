# SPDX-License-Identifier: LGPL-2.1-or-later
"""A disk that fills up at any byte: `run` and `record` say so in these words, keep what is of use, and leave nothing
else. `--keep` goes on, for the disk may have room again. test_full_disk.py run|record|keep [NUMBER of disks]"""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

import torches
from preloads import preload
from record_case import TAPEDECK, plain_environment

PRELOAD = pathlib.Path(os.environ["BUILD_ROOT"]) / "tests" / "libfull_disk.so"
REASON = "the tape could not be written: No space left on device"
FULL = "out.tape grows beyond --keep for now: No space left on device"
CUT_OFF = "the recording was not ended"
# The recorder writes what it has while the program sleeps: half of the tape.
PROGRAM = """
import time
import torch
x = torch.ones(3, requires_grad=True)
for i in range(400):
    (x * x).sum().backward()
    if i == 150:
        time.sleep(0.4)
"""
KEPT = """
import time
import torch
import tapedeck
x = torch.ones(3, requires_grad=True)
for i in range(180):
    for _ in range(20):
        (x * x).sum().backward()
    tapedeck.step()
    time.sleep(0.01)
"""


def record_with(command, room):
    """Runs a command whose tape has so much room; returns its words and the tape, or None."""
    with tempfile.TemporaryDirectory(prefix="tapedeck-full-") as folder:
        pathlib.Path(folder, "program.py").write_text(PROGRAM, encoding="utf-8")
        environment = plain_environment(LD_PRELOAD=preload(PRELOAD), FULL_DISK_BYTES=str(room))
        ended = subprocess.run(command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True, timeout=400)
        left = sorted(path.name for path in pathlib.Path(folder).iterdir() if path.name != "program.py")
        assert left in ([], ["out.tape"]), left
        if left:
            info = subprocess.run([TAPEDECK, "info", "--json", folder + "/out.tape"], stdout=subprocess.PIPE, text=True)
            assert info.returncode == 0 and '"n_events": 0,' not in info.stdout, info.stdout
        return ended.stderr, (pathlib.Path(folder) / left[0]).stat().st_size if left else None


def check(what, command, n_disks):
    begin = time.monotonic()
    words, size = record_with(command, 1 << 30)
    assert REASON not in words and "see it with" in words, words
    n_kept = 0
    for room in [size * 3 // 4 * disk // (n_disks - 1) for disk in range(n_disks)]:  # a tape has never quite its size
        words, left = record_with(command, room)
        assert REASON in words, (room, words)
        assert "killed" not in words and "abruptly" not in words and "no backward pass" not in words, (room, words)
        n_kept += left is not None
    assert 0 < n_kept < n_disks, n_kept
    print(f"{size} bytes of tape, {n_kept} tapes of use")
    print(f"tried full disk, {what}: {n_disks}, 0 failed, {time.monotonic() - begin:.0f} s", flush=True)


def keep_with(at, n_failures, lies):
    """Steps on the tape of a run with --keep whose disk is full from there on, for so many calls; and its words."""
    with tempfile.TemporaryDirectory(prefix="tapedeck-full-") as folder:
        pathlib.Path(folder, "program.py").write_text(KEPT, encoding="utf-8")
        environment = plain_environment(LD_PRELOAD=preload(PRELOAD), FULL_DISK_FROM=str(at), FULL_DISK_FAILURES=str(n_failures),
                                        **({"FULL_DISK_LIES": "1"} if lies else {}))
        ended = subprocess.run([TAPEDECK, "run", "--keep", "10steps", "-o", "out.tape", "program.py"], cwd=folder,
                               env=environment, stderr=subprocess.PIPE, text=True, timeout=400)
        assert ended.returncode == 0, ended.stderr
        left = sorted(path.name for path in pathlib.Path(folder).iterdir())
        assert left == ["out.tape", "program.py"], left
        checked = subprocess.run([TAPEDECK, "check", folder + "/out.tape"], capture_output=True, text=True)
        assert checked.returncode == 0 or lies and CUT_OFF in checked.stdout, checked.stdout + checked.stderr
        info = json.loads(subprocess.run([TAPEDECK, "info", "--json", folder + "/out.tape"], stdout=subprocess.PIPE).stdout)
        return info["steps"][0], ended.stderr


def check_keep(n_disks):
    """The last steps are always there, and one hole: what was let go, which is counted."""
    begin, bytes_of_run = time.monotonic(), 24000
    never = 1 << 30
    disks = [(1, never, False), (1, never, True), (1, 1, False)]
    disks += [(random.randrange(1, bytes_of_run), random.choice((1, 2, never)), random.random() < 0.5) for _ in range(n_disks - 3)]
    for at, n_failures, lies in disks:
        steps, words = keep_with(at, n_failures, lies)
        (first, last), = steps["recorded"]
        case = f"{at} bytes, {n_failures} failures, lies {lies}: {steps}\n{words}"
        assert first <= 170 and last == 179, case
        assert sum(part["passes"] for part in steps["left_out"]) == 20 * first, case
        assert first == 170 or FULL in words, case
        if at == 1:  # a byte, for --keep first tries whether files there can give back room
            assert FULL in words and first == (0 if n_failures == never else 170), case
    print(f"tried full disk, run --keep: {n_disks}, 0 failed, {time.monotonic() - begin:.0f} s", flush=True)


def main():
    n_disks = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    if sys.argv[1] == "keep":
        check_keep(n_disks or 8)
        return
    if sys.argv[1] == "run":
        check("run", [TAPEDECK, "run", "-o", "out.tape", "program.py"], n_disks or 16)
        return
    torches.need_compiler()
    for version, python in torches.each():
        check(f"record {version}", [TAPEDECK, "record", "-o", "out.tape", "--", python, "program.py"], n_disks or 7)


if __name__ == "__main__":
    main()
