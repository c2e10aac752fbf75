# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the tests of a build folder. A test that fails runs once more, alone.

    run_tests.py FOLDER [OPTION OF MESON TEST...]

The second result decides, and summary.py prints both: a test that passes alone is *unsteady*. Exits with 1 if a test failed twice,
or if there is none. `meson test` keeps its logs in FOLDER/meson-logs: testlog*.json of the first run, again-NAME*.json
of a second one. Of the first run, processor_time.py notes in processor-time.jsonl what each test used."""
import json
import os
import pathlib
import shlex
import subprocess
import sys
import time

PASSED = ("OK", "EXPECTEDFAIL", "SKIP")
AGAIN_SECONDS = 15 * 60  # if many tests hang, a few tell it
AT_A_TIME = len(os.sched_getaffinity(0)) + 1  # a test waits for a third of its time: for windows, for programs that it lets sleep


def meson_test(folder, *options):
    return subprocess.run(["meson", "test", "-C", folder, "--print-errorlogs", *options], stdin=subprocess.DEVNULL).returncode


def noted(folder):
    """Where the processor time of the first run stands."""
    return pathlib.Path(folder).absolute() / "meson-logs" / "processor-time.jsonl"


def noting(folder):
    """The option that has each test started by what notes its processor time."""
    return "--wrapper", shlex.join([sys.executable, str(pathlib.Path(__file__).with_name("processor_time.py")), str(noted(folder))])


def results(folder, log):
    """What stands in the logs of one name: a dictionary for each test that ran. In them a test is called 'project:suite / name'."""
    logs = pathlib.Path(folder) / "meson-logs"
    tests = [json.loads(line) for path in [*logs.glob(log + ".json"), *logs.glob(log + "-*.json")]  # -asan: of a setup, or of a wrapper
             for line in path.read_text(encoding="utf-8").splitlines()]
    return [{**test, "name": test["name"].rpartition(" / ")[2]} for test in tests]


def failures(folder, log="testlog"):
    return [test["name"] for test in results(folder, log) if test["result"] not in PASSED]


def setup_of(options):
    """The option --setup among those of the first run: the second one wants it too, but no suite."""
    return [word for name, value in zip(options, options[1:]) if name == "--setup" for word in (name, value)]


def main(folder, *options):
    logs = pathlib.Path(folder) / "meson-logs"
    for log in (*logs.glob("again-*"), *logs.glob("testlog*.json"), *logs.glob(noted(folder).name)):
        log.unlink()
    status = meson_test(folder, "--num-processes", str(AT_A_TIME), *noting(folder), *options)
    failed, deadline = failures(folder), time.monotonic() + AGAIN_SECONDS
    for name in failed:
        if time.monotonic() > deadline:
            print(f"not run again: {name}", flush=True)
            continue
        print(f"\nOnce more, alone: {name}", flush=True)
        meson_test(folder, "--num-processes", "1", "--no-rebuild", "--logbase", "again-" + name, *setup_of(options), name)
    passed_alone = [name for name in failed if (again := results(folder, f"again-{name}")) and not failures(folder, f"again-{name}")]
    if not results(folder, "testlog"):
        return 1
    return 0 if status == 0 or (failed and passed_alone == failed) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
