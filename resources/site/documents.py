# SPDX-License-Identifier: LGPL-2.1-or-later
"""The documents of the repository as pages, the page for newcomers, and the index."""
import re
import shutil

import markdown

from links import name_of, pictures
from template import HERE, escape, player

PLAYER_LINE = re.compile(r"<p>\{\{player (\w+)\}\}</p>")
TITLE = re.compile(r"<h1[^>]*>(.*?)</h1>", re.DOTALL)


def with_gaps(text):
    """Python's Markdown wants an empty line before a list; GitHub's does not."""
    made, before, in_code = [], "", False
    for line in text.split("\n"):
        in_code ^= line.startswith("```")
        is_item = re.match(r"(?:[-*]|\d+\.) ", line) and not in_code
        if is_item and before.strip() and not re.match(r"\s|[-*] |\d+\. ", before):
            made.append("")
        made.append(line)
        before = line
    return "\n".join(made)


def to_html(text):
    maker = markdown.Markdown(extensions=["tables", "fenced_code", "toc", "sane_lists"], output_format="html")
    maker.preprocessors.deregister("html_block")  # `<name>` in a document is no HTML
    maker.inlinePatterns.deregister("html")
    made = maker.convert(with_gaps(text))
    made = re.sub(r"<table>.*?</table>", lambda table: table[0].replace("\\|", "|"), made, flags=re.DOTALL)
    made = made.replace("<pre>", '<pre tabindex="0">')
    return made.replace("<table>", '<div class="table" tabindex="0"><table>').replace("</table>", "</table></div>")


def inline(text, links, place, source="README.md"):
    """A line of Markdown, without a paragraph around it."""
    made = markdown.markdown(text, output_format="html")
    return links.rewrite(made.removeprefix("<p>").removesuffix("</p>"), source, place)


def page_of(site, links, source, place):
    text = (site.program.source / source).read_text(encoding="utf-8")
    if source == "NEWS":  # a heading for each version, and none for all
        text = "# News\n\n" + re.sub(r"^=+$", "---", text, flags=re.MULTILINE)
    made = links.rewrite(to_html(text), source, place)
    title = TITLE.search(made)
    return made, re.sub(r"<[^>]*>", "", title[1]) if title else name_of(source)


def write_start(site, links):
    made, _ = page_of(site, links, "resources/site/start.md", "start.html")
    made = PLAYER_LINE.sub(lambda match: player(f"examples/{match[1]}.play.html", f"{match[1]}, a recorded backward pass that plays"), made)
    site.write("start.html", "Start here", made)


def write_index(site):
    text = (HERE / "index.html").read_text(encoding="utf-8")
    site.write("index.html", "Tapedeck", text.replace("<!-- SPDX-License-Identifier: LGPL-2.1-or-later -->\n", ""))


def write(site, links, tables):
    """`tables`: items of the list of what the tests saw."""
    items = []
    for path in pictures(site.program):
        shutil.copyfile(path, site.output / "documents" / path.name)
    for source, name, label, about in links.documents:
        made, title = page_of(site, links, source, f"documents/{name}.html")
        site.write(f"documents/{name}.html", title if name != "readme" else "README", made)
        items.append(f'<li><a href="{name}.html">{escape(label)}</a><span>{inline(about, links, "documents/index.html")}</span></li>\n')
    site.write("documents/index.html", "Documents", '<h1>Documents</h1>\n<p class="lead">The files of the repository that are for reading. Links to sources are left out.</p>\n'
               f'<ul class="list">\n{"".join(items)}</ul>\n<h2>What the tests saw</h2>\n<ul class="list">\n{"".join(tables)}</ul>\n')
    write_start(site, links)
    write_index(site)
