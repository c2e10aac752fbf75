# SPDX-License-Identifier: LGPL-2.1-or-later
"""The window in other languages. In a made-up one every translation stands in «»: what has no such marks is a text that nobody can
translate. Then Chinese, with pictures. Commands stay English, because scripts read them."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import display

display.ensure()

from catalogue import parse
from window_case import Window
from window_tapes import OUTPUT, TAPEDECK, tapedeck

BUILD = pathlib.Path(os.environ["BUILD_ROOT"]) / "resources/po"
CATALOGUE = pathlib.Path(os.environ["SOURCE_ROOT"]) / "resources/po/zh_CN.po"
MARKED = re.compile(r"«[^«»]*»")
KEYS = re.compile(r"\([A-Z]\w*(\+\w+)*\)")
WORD = re.compile(r"[A-Za-z]{4,}")
PAGES = ("inspector", "events", "findings", "profile", "waiting", "contention", "critical", "whatif", "memory")
WIDGET = re.compile(r"(?:Td|Gtk|Adw)\w+")  # what a widget without a name is called
OF_GTK = {"Close", "Close the window", "Maximize", "Maximize the window", "Minimize", "Minimize the window"}
MADE_UP = "xx"


def in_language(language):
    """GNU gettext heeds LANGUAGE in every locale but C itself, and the tests run in C.UTF-8."""
    os.environ["LANGUAGE"] = language


def write_entry(entry):
    context = f"msgctxt {json.dumps(entry.context, ensure_ascii=False)}\n" if entry.context else ""
    names = ("msgid", "msgid_plural") if len(entry.msgids) > 1 else ("msgid",)
    ids = "".join(f"{name} {json.dumps(text, ensure_ascii=False)}\n" for name, text in zip(names, entry.msgids))
    end = entry.msgids[-1].rstrip("\n")
    text = json.dumps(f"«{end}»" + entry.msgids[-1][len(end):], ensure_ascii=False)
    return f"{context}{ids}{'msgstr[0]' if len(names) > 1 else 'msgstr'} {text}\n"


def make_language(folder):
    """A catalogue like the Chinese one, with «English» for each text."""
    po = folder / "made_up.po"
    header = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\nPlural-Forms: nplurals=1; plural=0;\\n"\n'
    po.write_text("\n".join([header, *map(write_entry, parse(CATALOGUE.read_text()))]))
    home = BUILD / MADE_UP / "LC_MESSAGES"
    home.mkdir(parents=True, exist_ok=True)
    subprocess.run(["msgfmt", "-o", home / "tapedeck.mo", po], check=True)


def words_of_tape(tape):
    """What the tape itself, the examples and the lessons say (a lesson has its translations beside it), and what is written alike in every language."""
    said = [tapedeck(*command) for command in (["events", "--json", tape], ["info", "--json", tape], ["examples"], ["lesson", "list"])]
    return set(WORD.findall(" ".join([*said, str(tape), "Tapedeck tapedeck PyTorch fifo lifo critical"])))


def without_translations(text):
    """Without keys in parentheses too."""
    before = None
    while before != text:
        before, text = text, MARKED.sub(" ", text)
    return KEYS.sub(" ", text)


def texts_shown(window):
    """Every name and description on the accessibility bus, but for the name of the process."""
    return {text for node in window.nodes()[1:] for text in (node.name, node.description) if text}


def test_every_text(tape):
    """Each page of the side pane, with a node selected, has no word that is in no catalogue."""
    own, plain = words_of_tape(tape), set()
    for page in PAGES:
        with Window(tape, "--node", 12, "--at", "nan", "--page", page) as window:
            window.find("slider", lambda name: "Event position" in name)
            for text in texts_shown(window):
                if WIDGET.fullmatch(text) or text in OF_GTK or text.startswith("tapedeck "):
                    continue
                rest = set(WORD.findall(without_translations(text))) - own
                if rest:
                    plain.add(f"{page}: {text!r}")
    assert not plain, "\n".join(sorted(plain))


def test_start_page():
    with Window() as window:
        window.read("«Play, pause and rewind a backward pass.»")


def test_chinese(tape):
    with Window(tape, "--page", "events", "--size", "1400x900") as window:
        window.find("push button", "打开")
        window.find("page tab", "检查器")
        window.take_picture(OUTPUT / "chinese.png", 1400, 900)


def test_commands_stay_english(tape):
    """What a command prints is the same in every language."""
    for command in (["info", tape], ["why", tape, "--at", "nan"], ["findings", tape], ["--help"], ["info", "--help"]):
        said = []
        for language in ("zh_CN", "C"):
            environment = dict(os.environ, LANGUAGE=language, LC_ALL="C.UTF-8")
            said.append(subprocess.run([TAPEDECK, *map(str, command)], env=environment, capture_output=True, text=True).stdout)
        assert said[0] == said[1] and said[0], command


def main():
    if not shutil.which("msgfmt"):
        print("needs msgfmt, of the package gettext")
        sys.exit(display.SKIPPED)
    OUTPUT.mkdir(parents=True, exist_ok=True)
    tape = OUTPUT / "language.tape"
    tapedeck("run", "--force", "--anomaly", "nonfinite", "-o", tape, "nan_from_sum")
    test_commands_stay_english(tape)
    print("ok test_commands_stay_english", flush=True)
    try:
        make_language(OUTPUT)
        in_language(MADE_UP)
        for test, arguments in ((test_start_page, []), (test_every_text, [tape])):
            test(*arguments)
            print("ok", test.__name__, flush=True)
    finally:
        shutil.rmtree(BUILD / MADE_UP, ignore_errors=True)
    in_language("zh_CN")
    test_chinese(tape)
    print("ok test_chinese", flush=True)


if __name__ == "__main__":
    main()
