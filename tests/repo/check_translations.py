#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Holds each catalogue of resources/po to the texts of the source: nothing untranslated, nothing left over, no field or key lost.

    check_translations.py

`ninja -C build tapedeck-update-po` brings the catalogues up to date.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

from catalogue import parse

ROOT = pathlib.Path(os.environ.get("SOURCE_ROOT", "."))
PO = ROOT / "resources/po"
SKIPPED = 77
GLIB = ("--from-code=UTF-8", "--keyword=_", "--keyword=N_", "--keyword=C_:1c,2", "--keyword=NC_:1c,2", "--keyword=g_dngettext:2,3")
MARK = re.compile(r'\b(?:_|N_|C_|ngettext|g_dngettext|TD_N|td_translate|SAYS|SAYS_BY|TD_SENTENCE|TD_SENTENCE_OF|TD_FAMILY|TD_FINDING|TD_CONDITION|TD_VALUE_CAUSE|TD_ERROR_ADVICE|TD_FAILURE_ADVICE)\([^"()]*"')
COUNTED = re.compile(r'\btd_format_many\([^;]*?"')  # commands, which are in app/, count in English
PEOPLE = {"label", "title", "tooltip-text", "placeholder-text", "description", "dropdown-tooltip"}
SIGNS = re.compile(r"[\s\d.,:;·…–/%()×+\-]*")
TELLERS = ("engine/profile/", "app/commands/", "app/print/", "app/session/", "ui/model/")
LITERALS = re.compile(r'"(?:[^"\\\n]|\\.)*"(?:[\s\w]*"(?:[^"\\\n]|\\.)*")*')  # with macros such as PRIu64 between them
GLUE = re.compile(r"^(?: |, |: |; )[A-Za-z].*[^ ]$", re.DOTALL)
FIELD = re.compile(r"\{\w+\}")
DIRECTIVE = re.compile(r"%(?:(\d+)\$)?([-+ #0]*[\d*]*(?:\.[\d*]+)?(?:hh|h|ll|l|z|j)?[a-zA-Z%])")

def keywords():
    return re.findall(r"'(--keyword=[^']+)'", (PO / "meson.build").read_text())


def extract():
    with tempfile.TemporaryDirectory() as folder:
        template = pathlib.Path(folder) / "tapedeck.pot"
        subprocess.run(["xgettext", *GLIB, *keywords(), f"--files-from={PO / 'POTFILES'}", f"--directory={ROOT}", f"--output={template}"],
                       check=True, stderr=subprocess.DEVNULL)
        return list(parse(template.read_text()))


def directives(text):
    """What printf takes, in its order."""
    found = [(int(number) if number else i, what) for i, (number, what) in enumerate(DIRECTIVE.findall(text.replace("%%", "")), 1)]
    return [what for _, what in sorted(found)]


def differs(msgid, text):
    """What a translation lost of its text."""
    if sorted(FIELD.findall(msgid)) != sorted(FIELD.findall(text)):
        return "other fields in braces"
    if directives(msgid) != directives(text):
        return "other directives of printf"
    if bool(re.search(r"_\w", msgid)) and msgid.count("_") == 1 and "_" not in text:
        return "no mnemonic"
    if len(msgid) - len(msgid.rstrip("\n")) != len(text) - len(text.rstrip("\n")):
        return "another end of line"
    return None


def problems_of(language, wanted):
    entries = {(e.context, e.msgids[0]): e for e in parse((PO / f"{language}.po").read_text())}
    for entry in wanted:
        msgid = entry.msgids[-1]
        found = entries.pop((entry.context, entry.msgids[0]), None)
        if not found or not all(found.translations) or "fuzzy" in found.flags:
            yield f"{language}: not translated: {msgid!r}"
            continue
        if "c-format" in entry.flags or FIELD.search(msgid) or "_" in msgid:
            for text in found.translations:
                trouble = differs(msgid, text)
                if trouble:
                    yield f"{language}: {trouble}: {msgid!r}"
    for context, msgid in entries:
        yield f"{language}: in no source any more: {msgid!r}"


def sources():
    for folder in ("app", "ui", "engine"):
        yield from (path for path in (ROOT / folder).rglob("*") if path.suffix in (".c", ".h", ".def"))


def unlisted():
    """Files with marked texts that no catalogue is made from."""
    listed = set((PO / "POTFILES").read_text().split())
    found = {str(path.relative_to(ROOT)) for path in sources() if MARK.search(path.read_text())}
    found |= {str(path.relative_to(ROOT)) for path in (ROOT / "ui").rglob("*.c") if COUNTED.search(path.read_text())}
    found |= {str(path.relative_to(ROOT)) for path in (ROOT / "resources/ui").glob("*.ui")}
    yield from (f"resources/po/POTFILES lacks {path}" for path in sorted(found - listed))
    yield from (f"resources/po/POTFILES has {path}, which marks nothing" for path in sorted(listed - found))


def unmarked():
    """Texts for people in the window's files that say nothing of translation."""
    for path in sorted((ROOT / "resources/ui").glob("*.ui")):
        for item in xml.etree.ElementTree.parse(path).iter():
            if item.get("name") in PEOPLE and not item.get("translatable") and not SIGNS.fullmatch(item.text or ""):
                yield f"{path.relative_to(ROOT)}: not translatable: {item.text!r}"


def is_ragged(text):
    """A fragment that a sentence is glued from: no translator can put its fields elsewhere."""
    return bool(text) and (text.strip(" ") != text or text[0] in ",;)")


def ragged(wanted):
    yield from (f"a fragment, not a text: {text!r}" for entry in wanted for text in entry.msgids if is_ragged(text))


def literals(source):
    """The string literals of C, with their neighbours joined."""
    code = re.sub(r"/\*.*?\*/|^#include.*?$", "", source, flags=re.DOTALL | re.MULTILINE)
    for literal in LITERALS.findall(code):
        yield "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literal))


def glued():
    """Literals that are appended to a sentence, where sentences about a tape are made."""
    for path in sources():
        if str(path.relative_to(ROOT)).startswith(TELLERS):
            yield from (f"{path.relative_to(ROOT)}: a fragment, not a text: {text!r}" for text in literals(path.read_text()) if GLUE.search(text))


def check_the_check():
    """A planted fault of each kind is found."""
    template = '#, c-format\nmsgid "%s of {node}"\nmsgstr ""\n\nmsgid "_Open"\nmsgstr ""\n'
    wanted = list(parse(template))
    assert [e.msgids[-1] for e in wanted] == ["%s of {node}", "_Open"]
    assert differs("%s of {node}", "{node}: %s") is None
    assert differs("%s of {node}", "%s") and differs("%s of {node}", "{node}") and differs("_Open", "Open")
    assert differs("%s of %u", "%2$u / %1$s") is None and differs("%s of %u", "%1$u / %2$s")
    assert all(map(is_ragged, (" was popped", "was popped ", ", from"))) and not is_ragged("{node} was popped.")
    assert list(literals('f(" a " /* " b" */ "c%s",\n  "d");')) == [" a c%s", "d"]
    assert GLUE.search(" at %s") and GLUE.search("; at %s") and not GLUE.search(" · ") and not GLUE.search("at %s.") and not GLUE.search(" in ")
    assert MARK.search('g_strdup(_("x"))') and MARK.search('SAYS_BY(a, "x")') and not MARK.search('td_format("x")')


def main():
    if not shutil.which("xgettext"):
        print("needs xgettext, of the package gettext")
        return SKIPPED
    check_the_check()
    wanted = extract()
    assert len(wanted) > 500, "xgettext found few texts"
    problems = [*unlisted(), *unmarked(), *ragged(wanted), *glued()]
    for language in (PO / "LINGUAS").read_text().split():
        problems += problems_of(language, wanted)
    print("\n".join(problems) or f"{len(wanted)} texts, each in every language")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
