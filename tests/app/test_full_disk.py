# SPDX-License-Identifier: LGPL-2.1-or-later
"""A disk that fills up at any byte: `run` and `record` say so in these words, keep what is of use, and leave nothing
else. test_full_disk.py run|record [NUMBER of disks]"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import torches
from record_case import TAPEDECK, plain_environment

PRELOAD = pathlib.Path(os.environ["BUILD_ROOT"]) / "tests" / "libfull_disk.so"
REASON = "the tape could not be written: No space left on device"
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


def record_with(command, room):
    """Runs a command whose tape has so much room; returns its words and the tape, or None."""
    with tempfile.TemporaryDirectory(prefix="tapedeck-full-") as folder:
        pathlib.Path(folder, "program.py").write_text(PROGRAM, encoding="utf-8")
        environment = plain_environment(LD_PRELOAD=str(PRELOAD), FULL_DISK_BYTES=str(room))
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


def main():
    n_disks = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    if sys.argv[1] == "run":
        check("run", [TAPEDECK, "run", "-o", "out.tape", "program.py"], n_disks or 16)
        return
    if not torches.installed():
        sys.exit(77)
    for version, python in torches.installed().items():
        check(f"record {version}", [TAPEDECK, "record", "-o", "out.tape", "--", python, "program.py"], n_disks or 7)


if __name__ == "__main__":
    main()
