# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the man page: make_man.py TEMPLATE VERSION PROGRAM, to standard output.

The commands and their options come from the program's own help, in the layout of GLib's options.
"""
import re
import subprocess
import sys

COMMAND_LINE = re.compile(r"^  ([a-z]+) {2,}(\S.*)$")
OPTION_LINE = re.compile(r"^  (-\S.*?)(?: {2,}(\S.*))?$")


def roff(text):
    return text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("…", "...")


def help_of(program, *command):
    return subprocess.run([program, *command, "--help"], check=True, text=True,
                          stdout=subprocess.PIPE, encoding="utf-8").stdout


def commands_in(text):
    body = text.split("Commands:\n", 1)[1].split("\n\n", 1)[0]
    return [match.groups() for match in map(COMMAND_LINE.match, body.splitlines()) if match]


def section(program, name, summary):
    lines = help_of(program, name).splitlines()
    usage = lines[1].split(" - ")[0].strip()
    yield f".SS {roff(usage)}"
    yield roff(summary[0].upper() + summary[1:]) + "."
    for match in filter(None, map(OPTION_LINE.match, lines[2:])):
        yield f".TP\n.B {roff(match[1])}\n{roff(match[2] or '')}"


def main(template, version, program):
    with open(template, encoding="utf-8") as file:
        page = file.read()
    commands = commands_in(help_of(program))
    body = "\n".join(line for command in commands for line in section(program, *command))
    sys.stdout.reconfigure(encoding="utf-8")
    print(page.replace("@VERSION@", version).replace("@COMMANDS@", body), end="")


if __name__ == "__main__":
    main(*sys.argv[1:])
