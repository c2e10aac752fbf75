# SPDX-License-Identifier: LGPL-2.1-or-later
"""The page of the window: the user guide that F1 opens, and the table of keys, both from the sources of the window."""
import ast
import re

from template import escape

STRING = r'"(?:[^"\\]|\\.)*"'
TEXT = rf'N_\(((?:{STRING}\s*)+)\)'
SECTIONS = re.compile(r"section_titles\[N_SECTIONS\] = \{(.*?)\};", re.DOTALL)
ACTION = re.compile(rf'(?:\{{|TD_STEP\(\w+, )"([\w-]+)",\s*{TEXT},\s*({STRING}|NULL),\s*(\w+)')
KEYS = {"Right": "→", "Left": "←", "Up": "↑", "Down": "↓", "bracketright": "]", "bracketleft": "[", "braceright": "}", "braceleft": "{", "plus": "+",
        "minus": "−", "equal": "=", "space": "Space", "question": "?", "comma": ",", "slash": "/", "KP_Add": "+", "KP_Subtract": "−"}


def text_of(literals):
    """The text of C literals that stand side by side; their escapes are Python's too."""
    return "".join(ast.literal_eval(one) for one in re.findall(STRING, literals))


def guide(program):
    source = (program.source / "ui" / "window" / "window_help.c").read_text(encoding="utf-8")
    topics = re.findall(rf"\{{{TEXT},\s*{TEXT}\}}", source)
    assert len(topics) > 3, "window_help.c has other topics than before"
    parts = []
    for title, text in topics:
        name = text_of(title)
        paragraphs = "".join(f"<p>{escape(one)}</p>\n" for one in text_of(text).split("\n\n"))
        parts.append(f'<h2 id="{re.sub("[^a-z]+", "-", name.lower()).strip("-")}">{escape(name)}</h2>\n{paragraphs}')
    return "".join(parts)


def key_text(keys):
    """The first of several keys, as people read it."""
    *modifiers, key = re.findall(r"<(\w+)>|(\S+)", keys.split()[0])
    names = [{"Control": "Ctrl"}.get(one, one) for one, _ in modifiers]
    return "+".join(f"<kbd>{escape(one)}</kbd>" for one in [*names, KEYS.get(key[1], key[1].upper() if len(key[1]) == 1 else key[1])])


def keys(program):
    """A table for each section of the list of shortcuts."""
    source = (program.source / "ui" / "window" / "window_actions.c").read_text(encoding="utf-8")
    titles = {name: text_of(text) for name, text in re.findall(rf"\[(\w+)\] = {TEXT}", SECTIONS.search(source)[1])}
    steps = (program.source / "ui" / "window" / "steps.def").read_text(encoding="utf-8")
    rows = {title: [] for title in titles.values()}
    for _, title, pressed, section in ACTION.findall(steps) + ACTION.findall(source.partition("actions[] = {")[2]):
        if pressed != "NULL":
            rows[titles.get(section, titles["SECTION_MOVE"])].append((text_of(title), key_text(text_of(pressed))))
    return "".join(f"<h3>{escape(title)}</h3>\n<table>\n" + "".join(f"<tr><td>{key}</td><td>{escape(text)}</td></tr>\n" for text, key in group) + "</table>\n"
                   for title, group in rows.items() if group)


def write(site):
    program = site.program
    site.write("window.html", "The window", '<h1>The window</h1>\n<p class="lead">This is the user guide that F1 opens.</p>\n'
               '<figure><img src="screenshot.png" alt="The window: graph, ready queues, inspector and timeline"></figure>\n'
               f'{guide(program)}<h2 id="keys">Keys</h2>\n<p>The window lists them with Ctrl+?.</p>\n{keys(program)}')
