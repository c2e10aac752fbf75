# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs methods of PyTorch's tests on the engine that `torch` means here, each in a process of its own.

    run_methods.py FOLDER OUT SECONDS [METHOD...]

Writes a line of JSON into OUT for each method: its name, what came out, why, and how long it took. Without methods it
writes the names of all. A process that takes longer than SECONDS is killed.
"""
import json
import os
import re
import select
import signal
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import torch  # noqa: E402
import common  # noqa: E402
import loading  # noqa: E402

NAMES = ['autograd.test_complex', 'autograd.test_functional', 'test_autograd']
MISSING = (loading.MissingName, AttributeError, ImportError)


def test_classes(folder):
    """{name: class} of the classes of tests."""
    common.install()
    modules = list(loading.load_tests(folder, NAMES))
    return {name: value for module in modules for name, value in vars(module).items()
            if isinstance(value, type) and issubclass(value, common.TestCase) and value is not common.TestCase}


def plain(problem):
    """One short line about an exception."""
    lines = [line for line in str(problem).splitlines() if line.strip()] or [type(problem).__name__]
    text = re.sub(r'0x[0-9a-f]+', '0x...', lines[0])
    kind = '' if isinstance(problem, (AssertionError, *MISSING)) else type(problem).__name__ + ': '
    return kind + re.sub(r'/[\w/.-]+/', '', text)


def judge(test):
    """(outcome, why) of one test, which runs here."""
    problems = []

    class Result(unittest.TestResult):
        def addError(self, test, problem):
            problems.append(problem[1])
        addFailure = addError

        def addSubTest(self, test, subtest, problem):
            if problem:
                problems.append(problem[1])
    result = Result()
    test.run(result)
    if problems:
        return ('misses' if isinstance(problems[0], MISSING) else 'differs'), plain(problems[0])
    if result.skipped:
        return 'skipped', result.skipped[0][1]
    return ('differs', 'passes, though it should not') if result.unexpectedSuccesses else ('passes', '')


def child(test, pipe):
    """Never returns. What the test prints is of no interest."""
    quiet = os.open('/dev/null', os.O_RDWR)
    for fd in (0, 1) if os.environ.get('LOUD') else (0, 1, 2):
        os.dup2(quiet, fd)
    os.write(pipe, json.dumps(judge(test)).encode()[:60000])
    os._exit(0)


def read_until(pipe, deadline):
    """What arrives until the other end is closed; None if that takes too long."""
    read = b''
    while select.select([pipe], [], [], max(0, deadline - time.monotonic()))[0]:
        some = os.read(pipe, 65536)
        if not some:
            return read
        read += some
    return None


def run(test, seconds):
    """(outcome, why) of one test, which runs in a process of its own."""
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setpgid(0, 0)
        os.close(ours)
        child(test, theirs)
    os.close(theirs)
    said = read_until(ours, time.monotonic() + seconds)
    os.close(ours)
    if said is None:
        os.kill(pid, signal.SIGKILL)
    status = os.waitpid(pid, 0)[1]
    if said is None:
        return 'too long', f'more than {seconds:g} s'
    if said:
        return json.loads(said)
    return 'dies', signal.Signals(status).name if os.WIFSIGNALED(status) else f'exit status {os.WEXITSTATUS(status)}'


def main(folder, out, seconds, *methods):
    classes = test_classes(folder)
    with open(out, 'a', encoding='utf-8') as file:
        for method in methods:
            cls, _, name = method.partition('.')
            began = time.monotonic()
            known = cls in classes and hasattr(classes[cls], name)
            outcome, why = run(classes[cls](name), float(seconds)) if known else ('misses', 'the method itself')
            print(json.dumps([method, outcome, why, round(time.monotonic() - began, 2)]), file=file, flush=True)
        if not methods:
            for cls in classes:
                for name in unittest.defaultTestLoader.getTestCaseNames(classes[cls]):
                    print(json.dumps([f'{cls}.{name}', '', '', 0]), file=file)


main(*sys.argv[1:])
