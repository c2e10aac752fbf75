# SPDX-License-Identifier: LGPL-2.1-or-later
"""A page for each example: what it teaches, the recording that plays, findings, the source, and where the time went."""
import re

import python_source
import tables
from documents import inline
from template import escape, neighbours, player, steps, terminal

ROWS = 14  # of a report, with its two lines of heading


def finding(one, on_page, name):
    at = f'event {one["seq"]}'
    place = f'<a href="{name}.play.html#at={one["seq"]}" target="player">{at}: see it above</a>' if one["seq"] in on_page else at
    times = f', {one["n"]} times' if one["n"] > 1 else ""
    line = ""
    if "line" in one:
        number = re.fullmatch(rf"{name}\.py:(\d+)", one["line"])
        line = f' · <a href="#L{number[1]}">line {number[1]}</a>' if number else f' · {escape(one["line"])}'
    advice = f'<p class="dim">{escape(one["advice"])}</p>' if "advice" in one else ""
    return f'<li><p><b>{escape(one["title"])}{times}</b> · {place}{line}</p><p>{escape(one["text"].rstrip("."))}.</p>{advice}</li>\n'


def findings(found, name, on_page):
    items = "".join(finding(one, on_page, name) for one in found["items"])
    note = f'<p class="dim">{escape(found["note"])}</p>\n' if "note" in found else ""
    return (f'<ul class="findings">\n{items}</ul>\n' if items else "<p>Nothing found that is wrong.</p>\n") + note


def body(site, tapes, example, taught):
    name, program = example["name"], tapes.program
    said = tapes.record(name)
    on_page, found = tapes.player(name, site.output / "examples" / f"{name}.play.html")
    source = (program.source / "resources" / "examples" / f"{name}.py").read_text(encoding="utf-8")
    devices = "" if example["devices"] == "cpu" else f'<p>It is recorded with <code>--devices {escape(example["devices"])}</code>.</p>\n'
    more = f'<p><b>{"The mistake" if taught[1] else "What to see"}:</b> {taught[0]}.</p>\n' if taught else ""
    passes = len(program.json("info", f"{name}.tape")["graph_tasks"])
    which = f"<p>The tape has {passes} backward passes. This is the largest of them.</p>\n" if passes > 1 else ""
    return (f'<h1>{name}</h1>\n<p class="lead">{escape(example["summary"])}</p>\n{more}{devices}'
            f'<h2 id="play">The recording</h2>\n{which}{player(f"{name}.play.html", f"{name}, a recorded backward pass that plays")}'
            f'<h2 id="findings">What Tapedeck finds</h2>\n{findings(found, name, on_page)}'
            f'<h2 id="source">The script</h2>\n{python_source.to_html(source)}'
            + (f'<p>It prints:</p>\n<pre tabindex="0">{escape(said.rstrip())}</pre>\n' if said.strip() else "")
            + f'<h2 id="report">Where the time went</h2>\n{terminal(f"tapedeck report {name}.tape", program.text("report", f"{name}.tape"), ROWS)}'
            f'<h2 id="try">Try it</h2>\n<pre tabindex="0">build/app/tapedeck run {name}\nbuild/app/tapedeck findings {name}.tape\n'
            f'build/app/tapedeck open {name}.tape</pre>\n')


def cards(examples):
    items = "".join(f'<li><a href="{one["name"]}.html">{one["name"]}</a><p>{escape(one["summary"])}</p></li>\n' for one in examples)
    return f'<ul class="cards">\n{items}</ul>\n'


def index(examples, taught):
    groups = [("Mistakes to try", "Each has a mistake, and Tapedeck names it.", [one for one in examples if taught.get(one["name"], ("", False))[1]]),
              ("For a lecture", "", [one for one in examples if not taught.get(one["name"], ("", True))[1]]),
              ("All others", "", [one for one in examples if one["name"] not in taught])]
    parts = "".join(f"<h2>{title}</h2>\n{f'<p>{text}</p>' if text else ''}{cards(group)}" for title, text, group in groups if group)
    return ('<h1>Examples</h1>\n<p class="lead">Each is a short script. Its page has the recorded backward pass, which plays, and what Tapedeck says of it.'
            '</p>\n<p><code>build/app/tapedeck run NAME</code> runs and records one. The same scripts run on PyTorch.</p>\n' + parts)


def write(site, tapes, links):
    examples = tapes.examples
    taught = tables.of_examples(tapes.program, {one["name"] for one in examples})
    shown = {name: (inline(text, links, f"examples/{name}.html"), is_mistake) for name, (text, is_mistake) in taught.items()}
    pages = [(f'{one["name"]}.html', one["name"]) for one in examples]
    for at, example in enumerate(examples):
        name = example["name"]
        site.write(f"examples/{name}.html", name, body(site, tapes, example, shown.get(name)) + steps(*neighbours(pages, at)))
    site.write("examples/index.html", "Examples", index(examples, taught))
