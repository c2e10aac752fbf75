# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the tables of resources/docs say of commands and examples."""
import re

COMMAND = re.compile(r"`tapedeck (\w+)")
COMMANDS = "resources/docs/commands.md"
EXAMPLES = ("resources/docs/mistakes.md", "resources/docs/course.md")


def rows(program, path):
    """Rows of two cells, in the order of the page."""
    for line in (program.source / path).read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if line.startswith("|") and len(cells) == 2:
            yield cells


def of_commands(program):
    """For each command, its rows: (how it is called, what it does)."""
    found = {}
    for call, text in rows(program, COMMANDS):
        for name in dict.fromkeys(COMMAND.findall(call)):
            found.setdefault(name, []).append((call, text))
    return found


def of_examples(program, names):
    """For each example, what a row says of it: (text, is it a mistake)."""
    found = {}
    for left, right in (row for path in EXAMPLES for row in rows(program, path)):
        for name, text, is_mistake in ((right, left, True), (left, right, False)):
            if re.fullmatch(r"`\w+`", name) and name.strip("`") in names:
                found[name.strip("`")] = (text, is_mistake)
    return found
