# SPDX-License-Identifier: LGPL-2.1-or-later
"""Finds sentences of more than 25 words, and banned phrases, in documents, headers, notes and texts for users.

    check_prose.py [--count] [ROOT] [PATH...]

Prints a line for each find. With --count it prints a table per folder instead. A PATH limits it to
files whose path begins with it.
"""
import argparse
import collections
import os
import pathlib
import re
import sys

MOST_WORDS = 25

# Strings of these folders are for people. In the other folders of the engine most are PyTorch's own.
TEXTS_IN_C = ("app/", "ui/", "engine/base/", "engine/control/", "engine/exchange/", "engine/probe/",
              "engine/profile/", "engine/replay/", "engine/trace/")

BANNED = re.compile(
    r"\b(?:(?:is|are|was|were|be|been|being) (?:told|asked)\b"
    r"|(?:what|all that) (?:is|was|has been|were) (?:seen|known|told) of\b"
    r"|of the one known\b|nothing where\b|is no damage\b"
    r"|(?:NULL|TD_NONE|fails|false|true) where\b)", re.IGNORECASE)

ABBREVIATION = re.compile(r"(?:^|[\s(])(?:e\.g|i\.e|cf|vs|etc|al|resp|[A-Z])\.$")
SENTENCE_END = re.compile(r"[.!?][)\"'”*_]*(?=\s|$)")
TABLE_ROW = re.compile(r"\S {2,}\S")  # a row of a table in a comment: columns are set off by spaces
LIST_ITEM = re.compile(r"^\s*(?:[-*+•]|\d+[.)]|[a-z][)])\s+")
TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/', re.DOTALL)
ROFF_FONT = re.compile(r"^\.(?:B|I|BR|BI|RB|RI|IR|IB)\s")

Block = collections.namedtuple("Block", "line text")  # text without a break in it, and where it begins
Sentence = collections.namedtuple("Sentence", "path line kind text")


def words_in(text):
    """Words as a reader counts them: a piece of code is one."""
    text = re.sub(r"(`+).*?\1", " code ", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r" \1 ", text)
    return [word for word in text.split() if re.search(r"\w|%", word)]


def sentences_of(block):
    """(line, text) of each sentence in a block; a semicolon or colon ends none."""
    hidden = re.sub(r"(`+)(.*?)\1", lambda code: code[0].replace(".", "·"), block.text, flags=re.DOTALL)
    start = 0
    ends = [match.end() for match in SENTENCE_END.finditer(hidden)
            if not ABBREVIATION.search(hidden[start:match.end()]) and not hidden[:match.end()].endswith("...")]
    for end in ends + [len(block.text)]:
        text = block.text[start:end]
        skipped = len(text) - len(text.lstrip())
        if text.strip():
            yield block.line + block.text.count("\n", 0, start + skipped), " ".join(text.split())
        start = end


def blocks_of_lines(lines, first_line):
    """Joins lines into blocks: a blank line, an item of a list, a row of a table and another indentation end one.
    Leaves out paragraphs that begin with a bracket, which are examples of JSON."""
    block, start, margin, in_json = [], first_line, 0, False
    for number, line in enumerate([*lines, ""], first_line):
        item = LIST_ITEM.match(line)
        indent = len(line) - len(line.lstrip())
        if block and (not line.strip() or item or indent != margin or TABLE_ROW.search(line)):
            yield Block(start, "\n".join(block))
            block = []
        in_json = bool(line.strip()) and (in_json or line.lstrip().startswith(("{", '[{')))
        if line.strip() and not in_json:
            start = start if block else number
            margin = len(item[0]) if item else indent
            block.append(line[margin:])


def blocks_of_markdown(text):
    plain = []
    in_code = False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            in_code = not in_code
            plain.append([""])
        elif in_code or re.match(r"^\s*(?:\|[\s:|-]+\||=+|-{3,})$", line):
            plain.append([""])
        elif line.startswith("#"):
            plain.append([line.lstrip("# "), ""])
        elif line.startswith("|"):
            plain.append(["", *re.split(r"(?<!\\)\|", line.strip().strip("|"))])
        else:
            plain.append([line])
    pending, first = [], 1
    for number, parts in enumerate(plain, 1):
        if len(parts) == 1:
            pending.append(parts[0])
            continue
        yield from blocks_of_lines(pending, first)
        yield from (Block(number, part.strip()) for part in parts if part.strip())
        pending, first = [], number + 1
    yield from blocks_of_lines(pending, first)


def blocks_of_comment(comment, line):
    body = comment[2:-2] if comment.startswith("/*") else comment[2:]
    first, *others = body.split("\n")
    lines = [first.strip(), *(re.sub(r"^\s*\* ?|^\s+(?=[^*\s])", "", part) for part in others)]
    return blocks_of_lines(["" if "SPDX" in part else part.rstrip() for part in lines], line)


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
            yield from (Block(literal_line, line) for line in literal.replace('\\"', '"').split("\\n"))
            literal = ""
        if token.startswith('"') and "texts" in wanted:
            literal_line = literal_line if literal else line
            literal += token[1:-1]
        elif token.startswith("/") and ("comments" in wanted or ("notes" in wanted and "Note [" in token)):
            yield from blocks_of_comment(token, line)


def blocks_of_roff(text):
    lines = []
    for line in re.sub(r"^\.nf$.*?^\.fi$", lambda code: "\n" * code[0].count("\n"), text,
                       flags=re.MULTILINE | re.DOTALL).splitlines():
        if ROFF_FONT.match(line):
            lines.append("`" + ROFF_FONT.sub("", line) + "`")
        else:
            lines.append("" if line.startswith((".", "@")) else line)
    return blocks_of_lines(lines, 1)


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
    """(kind, blocks) pairs of a file of the repository; none if it holds no prose that this checks."""
    text = path.read_text(encoding="utf-8")
    if name == "NEWS":
        yield "document", blocks_of_markdown(newest_section(text))
    elif path.suffix == ".md":
        yield "document", blocks_of_markdown(text)
    elif path.suffix in (".ui", ".xml") and name.startswith("resources/"):
        yield "text", blocks_of_ui(text)
    elif path.suffix == ".lesson":
        yield "text", blocks_of_lesson(text)
    elif path.suffix == ".py" and name.startswith(("resources/examples/", "resources/lessons/")):
        yield "text", [Block(1, text.split('"""')[1])]
    elif name == "resources/tapedeck.1.in":
        yield "text", blocks_of_roff(text)
    elif path.suffix in (".h", ".hpp"):
        yield "header", blocks_of_c(text, ["comments"])
    elif path.suffix == ".def":
        yield "header", blocks_of_c(text, ["comments"])
        yield "text", blocks_of_c(text, ["texts"])
    elif path.suffix in (".c", ".cpp"):
        yield "header", blocks_of_c(text, ["notes"])
        if name.startswith(TEXTS_IN_C):
            yield "text", blocks_of_c(text, ["texts"])


def all_sentences(root, begins):
    files = [root / "NEWS", *root.glob("*.md"), *(root / "tests").rglob("*.md")]
    for top in ("engine", "app", "ui", "resources"):
        files += sorted(path for path in (root / top).rglob("*") if path.is_file() and path.suffix != ".png")
    for path in files:
        name = path.relative_to(root).as_posix()
        if not begins or name.startswith(begins):
            yield from (Sentence(name, line, kind, sentence) for kind, blocks in prose_of(path, name)
                        for block in blocks for line, sentence in sentences_of(block))


def finds_in(sentence):
    """What is wrong with a sentence, as words."""
    count = len(words_in(sentence.text))
    if count > MOST_WORDS:
        yield f"{count} words: {' '.join(sentence.text.split()[:9])} ..."
    for phrase in BANNED.findall(sentence.text):
        yield f'"{phrase}": {" ".join(sentence.text.split()[:9])} ...'


def print_table(sentences):
    columns = ("sentences", "long", "banned")
    table = collections.defaultdict(collections.Counter)
    for sentence in sentences:
        where = sentence.path if sentence.kind == "document" else os.path.dirname(sentence.path)
        for key in ((sentence.kind, where), (sentence.kind, "all")):
            table[key]["sentences"] += 1
            table[key]["long"] += len(words_in(sentence.text)) > MOST_WORDS
            table[key]["banned"] += len(BANNED.findall(sentence.text))
    print(f"{'kind':10}{'where':28}" + "".join(f"{column:>11}" for column in columns))
    for (kind, where), row in sorted(table.items(), key=lambda item: (item[0][0], item[0][1] == "all", item[0][1])):
        print(f"{kind:10}{where:28}" + "".join(f"{row[column]:>11}" for column in columns))


def check_that_it_bites():
    """A long sentence is found in every place, and short ones, however joined, are not."""
    long = "word " * MOST_WORDS + "last"
    places = {
        "a document": blocks_of_markdown(f"Short.\n\nAlso short. {long}.\n"),
        "an item": blocks_of_markdown(f"- short\n- {long[:60]}\n  {long[60:]}\n"),
        "a cell": blocks_of_markdown(f"| short | {long} |\n"),
        "a header": blocks_of_c(f"/* Short.\n * {long[:60]}\n * {long[60:]}. */", ["comments"]),
        "a line comment": blocks_of_c(f"// {long}\n", ["comments"]),
        "a note": blocks_of_c(f"/* Note [X]: {long} */", ["notes"]),
        "a text": blocks_of_c(f'puts("{long[:60]}"\n "{long[60:]}");', ["texts"]),
        "the man page": blocks_of_roff(f".PP\n{long[:60]}\n.B bold\n{long[60:]}\n"),
        "a lesson": blocks_of_lesson(f"[Step a]\ntext={long}\ntext[zh_CN]={long}\n"),
        "the window": blocks_of_ui(f'<property translatable="yes">{long}</property>'),
    }
    for place, blocks in places.items():
        found = [find for block in blocks for _, text in sentences_of(block)
                 for find in finds_in(Sentence("", 0, "", text))]
        assert len(found) == 1 and found[0].startswith("2"), f"a long sentence in {place}: {found}"
    short = "word " * 20
    for text in (f"{short}. td_foo does {short}.", f"- {short}\n- {short}", f"| {short} | {short} |",
                 f"```\n{long}\n```", f"{short}\n\n{short}", f'{{"key": "{long}",\n "other": 1}}'):
        assert not [find for block in blocks_of_markdown(text) for _, part in sentences_of(block)
                    for find in finds_in(Sentence("", 0, "", part))], text
    assert list(finds_in(Sentence("", 0, "", "The reader is told.")))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", action="store_true")
    parser.add_argument("root", nargs="?", type=pathlib.Path,
                        default=pathlib.Path(os.environ.get("SOURCE_ROOT", ".")))
    parser.add_argument("paths", nargs="*")
    options = parser.parse_args()
    check_that_it_bites()
    sentences = list(all_sentences(options.root, tuple(options.paths)))
    assert sentences, f"no prose under {options.root}"
    if options.count:
        print_table(sentences)
        return 0
    problems = [f"{sentence.path}:{sentence.line}: {find}" for sentence in sentences
                for find in finds_in(sentence)]
    print("\n".join(problems) or f"{len(sentences)} sentences, none too long")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
