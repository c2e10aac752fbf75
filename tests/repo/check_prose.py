# SPDX-License-Identifier: LGPL-2.1-or-later
"""Finds banned phrases in documents, headers, notes and texts for users: those with a vague subject, such as "is told".

    check_prose.py [ROOT] [PATH...]

Prints a line for each find. A PATH limits it to files whose path begins with it.
"""
import argparse
import collections
import os
import pathlib
import re
import sys

# Strings of these folders are for people. In the other folders of the engine most are PyTorch's own.
TEXTS_IN_C = ("app/", "ui/", "engine/base/", "engine/control/", "engine/exchange/", "engine/probe/",
              "engine/profile/", "engine/replay/", "engine/trace/")

BANNED = re.compile(
    r"\b(?:(?:is|are|was|were|be|been|being) (?:told|asked)\b"
    r"|(?:what|all that) (?:is|was|has been|were) (?:seen|known|told) of\b"
    r"|of the one known\b|nothing where\b|is no damage\b"
    r"|(?:NULL|TD_NONE|fails|false|true) where\b)", re.IGNORECASE)

TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/', re.DOTALL)

Block = collections.namedtuple("Block", "line text")  # a text, and the line where it begins


def blocks_of_markdown(text):
    """Paragraphs and rows of tables. Code becomes empty lines."""
    plain = re.sub(r"^\s*```.*?^\s*```$", lambda code: "\n" * code[0].count("\n"), text, flags=re.MULTILINE | re.DOTALL)
    plain = re.sub(r"(`+).*?\1", "`", plain)
    for match in re.finditer(r"(?:^(?!\|).*\S.*\n?)+|^\|.*$", plain, re.MULTILINE):
        yield Block(plain.count("\n", 0, match.start()) + 1, match[0])


def tokens_of(source):
    """(line, token, glued): comments and literals; glued when only space is between it and the one before."""
    end = 0
    for match in TOKEN.finditer(source):
        yield source.count("\n", 0, match.start()) + 1, match[0], not source[end:match.start()].strip()
        end = match.end()


def blocks_of_c(source, wanted):
    """Comments of a C file if `wanted` has "comments" (of a source: notes alone), its strings if it has "texts"."""
    literal, literal_line = "", 0
    for line, token, glued in list(tokens_of(source)) + [(0, "", False)]:
        if literal and not (glued and token.startswith('"')):
            yield Block(literal_line, literal)
            literal = ""
        if token.startswith('"') and "texts" in wanted:
            literal_line = literal_line if literal else line
            literal += token[1:-1]
        elif token.startswith("/") and ("comments" in wanted or ("notes" in wanted and "Note [" in token)):
            yield Block(line, re.sub(r"\n\s*\*", "\n", token))


def blocks_of_roff(text):
    code = re.sub(r"^\.nf$.*?^\.fi$", lambda code: "\n" * code[0].count("\n"), text, flags=re.MULTILINE | re.DOTALL)
    yield Block(1, re.sub(r"^\.(?:[BIR]{1,2}\s)?", "", code, flags=re.MULTILINE))


def blocks_of_ui(text):
    for match in re.finditer(r'translatable="(?:yes|true)"[^>]*>([^<]*)<|<(?:p|summary|li)>([^<]*)<', text):
        yield Block(text.count("\n", 0, match.start()) + 1, match[1] or match[2])


def blocks_of_lesson(text):
    for number, line in enumerate(text.splitlines(), 1):
        if match := re.match(r"(?:title|about|text|hint)=(.*)", line):
            yield Block(number, match[1])


def newest_section(text):
    """NEWS up to the second underlined heading; older sections stay as they were."""
    headings = [match.start() for match in re.finditer(r"^\S.*\n=+$", text, re.MULTILINE)]
    return text[:headings[1]] if len(headings) > 1 else text


def prose_of(path, name):
    """The blocks of a file of the repository; none if it holds no prose that this checks."""
    text = path.read_text(encoding="utf-8")
    if name == "NEWS":
        yield from blocks_of_markdown(newest_section(text))
    elif path.suffix == ".md":
        yield from blocks_of_markdown(text)
    elif path.suffix in (".ui", ".xml") and name.startswith("resources/"):
        yield from blocks_of_ui(text)
    elif path.suffix == ".lesson":
        yield from blocks_of_lesson(text)
    elif path.suffix == ".py" and name.startswith(("resources/examples/", "resources/lessons/")):
        yield Block(1, text.split('"""')[1])
    elif name == "resources/tapedeck.1.in":
        yield from blocks_of_roff(text)
    elif path.suffix in (".h", ".hpp"):
        yield from blocks_of_c(text, ["comments"])
    elif path.suffix == ".def":
        yield from blocks_of_c(text, ["comments", "texts"])
    elif path.suffix in (".c", ".cpp"):
        yield from blocks_of_c(text, ["notes", "texts"] if name.startswith(TEXTS_IN_C) else ["notes"])


def finds_of(blocks):
    """(line, words) of each banned phrase, with what follows it."""
    for block in blocks:
        for match in BANNED.finditer(" ".join(block.text.split())):
            yield block.line, f'"{match[0]}": {" ".join(match.string[match.start():].split()[:9])} ...'


def finds_in(root, begins):
    files = [root / "NEWS", *root.glob("*.md"), *(root / "tests").rglob("*.md")]
    for top in ("engine", "app", "ui", "resources"):
        files += sorted(path for path in (root / top).rglob("*") if path.is_file() and path.suffix != ".png")
    for path in files:
        name = path.relative_to(root).as_posix()
        if not begins or name.startswith(begins):
            yield from (f"{name}:{line}: {find}" for line, find in finds_of(prose_of(path, name)))


def check_that_it_bites():
    """A banned phrase is found in every place, also over the end of a line, and not in code."""
    for place, blocks in {
        "a document": blocks_of_markdown("Short.\n\nThe reader is\ntold.\n"),
        "an item": blocks_of_markdown("- short\n- The reader is\n  told.\n"),
        "a cell": blocks_of_markdown("| short | The reader is told. |\n"),
        "a header": blocks_of_c("/* Short.\n * The reader is\n * told. */", ["comments"]),
        "a line comment": blocks_of_c("// The reader is told.\n", ["comments"]),
        "a note": blocks_of_c("/* Note [X]: the reader is told. */", ["notes"]),
        "a text": blocks_of_c('puts("The reader is "\n "told.");', ["texts"]),
        "the man page": blocks_of_roff(".PP\nThe reader\n.B is\ntold.\n"),
        "a lesson": blocks_of_lesson("[Step a]\ntext=The reader is told.\ntext[zh_CN]=The reader is told.\n"),
        "the window": blocks_of_ui('<property translatable="yes">The reader is told.</property>'),
    }.items():
        assert len(list(finds_of(blocks))) == 1, place
    assert not list(finds_of(blocks_of_markdown("The reader.\n\n```\nis told\n```\n\n`is told`, is\n\ntold")))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root", nargs="?", type=pathlib.Path,
                        default=pathlib.Path(os.environ.get("SOURCE_ROOT", ".")))
    parser.add_argument("paths", nargs="*")
    options = parser.parse_args()
    check_that_it_bites()
    finds = list(finds_in(options.root, tuple(options.paths)))
    print("\n".join(finds) or "no banned phrase")
    return 1 if finds else 0


if __name__ == "__main__":
    sys.exit(main())
