# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs a test, and notes the processor time of it and of all that it started and waited for.

    meson test -C build --wrapper 'python3 tests/repo/processor_time.py FILE'

FILE gets a line of JSON: the command, what is hidden from it, and the seconds. run_tests.py does this for every test, and summary.py adds the seconds up.
Of a test that is killed, and of what outlives the test that started it, nothing is noted."""
import json
import os
import resource
import signal
import sys


def run(command):
    """The status of a command that gets the signals of its terminal itself."""
    child = os.fork()
    if child == 0:
        os.execvp(command[0], command)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    return os.waitpid(child, 0)[1]


def note(path, command):
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    line = json.dumps({"command": command, "without": os.environ.get("TAPEDECK_WITHOUT", ""),
                       "seconds": round(used.ru_utime + used.ru_stime, 2)}) + "\n"
    with open(path, "ab", buffering=0) as file:  # whole lines, whoever else writes at that moment
        file.write(line.encode())


def main(path, *command):
    status = run(command)
    note(path, command)
    if os.WIFSIGNALED(status):
        signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
        os.kill(os.getpid(), os.WTERMSIG(status))
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
