#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes into tests/TRIED.md how often a test tried something, and how often that failed.

    tests/tried.py COMMAND...
    tests/tried.py < OUTPUT

The first form runs a command of the tests in the environment that `meson test` gives it. The second reads what such a
command printed. Each line `tried WHAT: NUMBER, NUMBER failed, NUMBER s` becomes a row; it replaces an earlier row of
the same WHAT. A table in Markdown, as tests/replay/hostile.py prints it, replaces the second table. Exits with the
command's status, and writes nothing if the command found no line to print."""
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
PAGE = ROOT / "tests" / "TRIED.md"
LINE = re.compile(r"tried (.+): (\d+), (\d+) failed, (\d+) s")
HEAD = """# What was tried

Some tests try the same thing many times: at random, or one by one. CI tries a few. `tests/tried.py` runs such a test
for longer and writes its numbers here. Do not edit the tables. [HACKING.md](../HACKING.md) says how to run each test,
[THREATS.md](../THREATS.md) what it stands for.

| what | tried | failed | seconds | on |
| --- | ---: | ---: | ---: | --- |
"""
SECOND = """
## Hostile tapes

`tests/replay/hostile.py --worst` builds tapes that no engine would write, and reads each with every command. A slope
of 1 says that the cost grows as the tape does. A slope of 2 says that it grows with the square. *Contents* are the
bytes of the tape without compression.

"""


def read_page():
    """The rows by their first cell, and the text of the second table."""
    text = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    first, _, second = text.partition(SECOND)
    rows = [line for line in first.removeprefix(HEAD).splitlines() if line.startswith("| ")]
    return {row.split("|")[1].strip(): row for row in rows}, second


def write_page(rows, second):
    PAGE.write_text(HEAD + "".join(f"{rows[what]}\n" for what in sorted(rows)) + SECOND + second, encoding="utf-8")


def row_of(found):
    what, tried, failed, seconds = found.groups()
    today = datetime.date.today()
    return f"| {what} | {int(tried):,} | {failed} | {int(seconds):,} | {today} |"


def take(lines):
    """Echoes the lines, and puts what they say into the page."""
    rows, second = read_page()
    table = []
    for line in lines:
        print(line, end="", flush=True)
        if found := LINE.fullmatch(line.strip()):
            rows[found[1]] = row_of(found)
        elif line.startswith("| "):
            table.append(line)
    write_page(rows, "".join(table) or second)


def environment():
    """What `meson test` gives a script."""
    listed = json.loads(subprocess.run(["meson", "introspect", "--tests", BUILD], check=True, capture_output=True).stdout)
    return {**os.environ, **next(test["env"] for test in listed if "TAPEDECK" in test["env"])}


def main():
    if len(sys.argv) == 1:
        take(sys.stdin)
        return 0
    program = [sys.executable] if sys.argv[1].endswith(".py") else []
    running = subprocess.Popen([*program, *sys.argv[1:]], env=environment(), stdout=subprocess.PIPE, text=True)
    take(running.stdout)
    return running.wait()


if __name__ == "__main__":
    sys.exit(main())
