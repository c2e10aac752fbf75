# SPDX-License-Identifier: LGPL-2.1-or-later
"""The site: where its pages go, and what is the same on each of them."""
import html
import pathlib
import shutil
import string

HERE = pathlib.Path(__file__).parent
PARTS = (("start.html", "Start"), ("lessons/index.html", "Lessons"), ("examples/index.html", "Examples"), ("commands/index.html", "Commands"),
         ("window.html", "Window"), ("documents/index.html", "Documents"))
escape = html.escape


class Site:
    def __init__(self, output, program):
        self.output, self.program, self.n_pages = output, program, 0
        self.template = string.Template((HERE / "page.html").read_text(encoding="utf-8"))
        for folder in ("examples", "lessons", "commands", "documents"):
            (output / folder).mkdir(parents=True)
        for path in (HERE / "style.css", program.source / "resources" / "screenshot.png"):
            shutil.copyfile(path, output / path.name)
        shutil.copyfile(program.source / "resources" / "icons" / "org.tapedeck.Tapedeck.svg", output / "tapedeck.svg")

    def write(self, place, title, body, language="en"):
        """Writes a page. `place` is its path in the site; `title` is a text, `body` HTML."""
        root = "../" * place.count("/")
        top = place.split("/")[0]
        links = "\n".join(f'<li><a href="{root}{target}"{current(target, place, top)}>{name}</a></li>' for target, name in PARTS)
        crumbs = crumbs_of(place, root, top)
        name = "Tapedeck" if title == "Tapedeck" else f"{title} · Tapedeck"
        page = self.template.substitute(title=escape(name), language=language, root=root, parts=f"<ul>\n{links}\n</ul>", body=f"{crumbs}{body}",
                                        version=self.program.version)
        (self.output / place).write_text(page, encoding="utf-8")
        self.n_pages += 1


def current(target, place, top):
    if target == place:
        return ' aria-current="page"'
    return ' aria-current="true"' if "/" in target and target.split("/")[0] == top else ""


def crumbs_of(place, root, top):
    parent = next((name for target, name in PARTS if target == f"{top}/index.html" and target != place), None)
    return f'<p class="crumbs"><a href="{root}{top}/index.html">{parent}</a></p>\n' if parent else ""


def player(source, title, place=""):
    """A page that plays, in a frame. Links with its name as target lead into it."""
    return (f'<iframe class="player" name="player" src="{source}{place}" title="{escape(title)}" loading="lazy"></iframe>\n'
            f'<p class="player-note"><a href="{source}">Open it on a page of its own</a><span>. Keys: Space plays, ← and → go one event, Shift with ← and '
            '→ one function. Click into the picture first.</span></p>\n')


def terminal(line, output, most=60):
    """A command and what it printed."""
    lines = output.rstrip("\n").split("\n")
    rest = len(lines) - most
    shown = "\n".join(as_printed(one) for one in (lines if rest <= 0 else lines[:most]))
    more = f'\n<span class="prompt">… and {rest} more lines</span>' if rest > 0 else ""
    return f'<pre tabindex="0"><span class="prompt">$ </span><b class="wraps">{escape(line)}</b>\n{shown}{more}</pre>\n'


def as_printed(line):
    """A line of a table stays one line; a sentence may wrap."""
    is_row = "  " in line.strip()
    return escape(line) if is_row else f'<span class="wraps">{escape(line)}</span>'


def steps(before, after):
    """Links to the neighbours, as (path, name) or None."""
    left = f'<a rel="prev" href="{before[0]}">← {escape(before[1])}</a>' if before else "<span></span>"
    right = f'<a rel="next" href="{after[0]}">{escape(after[1])} →</a>' if after else "<span></span>"
    return f'<nav class="steps" aria-label="Neighbours">{left}{right}</nav>\n'


def neighbours(items, at):
    return items[at - 1] if at else None, items[at + 1] if at + 1 < len(items) else None
