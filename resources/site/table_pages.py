# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pages of what the tests saw: texts of tables/, with data that the tests wrote (tests/fixtures/table.py). Data that takes hours, or a
PyTorch that few have, is in the tree. The rest is in the build folder once its test has run there; before, there is no page."""
import collections
import json
import sys

import documents
from template import HERE, escape

# The page, what it is for, its data, and the link of documents that leads to it instead of a source.
TABLES = (("conformance", "Each behaviour of the engine beside three versions of PyTorch", None, "tests/semantics/rows.py"),
          ("learners", "Which scripts of tutorials and lectures print what PyTorch prints", None, "tests/learners"),
          ("own-tests", "Which of PyTorch's own tests of autograd pass", "tests/pytorch/outcomes.json", "tests/pytorch/outcomes.json"),
          ("cases", "Mistakes that people reported, and what Tapedeck says first of each", "tests/cases/outcomes.json", "tests/cases/outcomes.json"),
          ("versions", "What each minor version of PyTorch gave when it was recorded", "tests/versions.json", "tests/versions.json"))
IMPORTED = ("TestAutogradComplex", "TestAutogradFunctional")


def made(source, folder):
    """(page, about, path of the data, link) of those that have data."""
    rows = [(page, about, source / data if data else folder / f"{page}.json", link) for page, about, data, link in TABLES]
    return [row for row in rows if row[2].exists()]


def to_markdown(columns, rows):
    lines = [[str(cell).replace("|", r"\|") for cell in row] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in [columns, ["---"] * len(columns), *lines])


def share(rows, imported):
    """How many pass of those that pass on 2.13: '12 of 15, 80 %,'."""
    seen = [ours for method, theirs, ours, _ in rows if theirs == "passes" and (method.partition(".")[0] in IMPORTED) == imported]
    n_pass = seen.count("passes")
    return f"**{n_pass} of {len(seen)}**, {100 * n_pass / max(len(seen), 1):.0f} %,"


def counts(rows):
    classes = collections.defaultdict(collections.Counter)
    for method, theirs, ours, _ in rows:
        classes[method.partition(".")[0]][ours] += theirs == "passes"
    return to_markdown(["class", "pass on 2.13", "of these here", "miss a name", "differ", "die or take too long"],
                       [[name, seen.total(), seen["passes"], seen["misses"], seen["differs"] + seen["skipped"], seen["dies"] + seen["too long"]]
                        for name, seen in sorted(classes.items()) if seen.total()])


def parts_of_own_tests(columns, rows):
    def section(wanted):
        return to_markdown(columns, [[f"`{method}`", theirs, ours, why and f"`{why.replace('`', chr(39))}`"]
                                     for method, theirs, ours, why in rows if wanted(theirs, ours)])
    return {"own": share(rows, False), "imported": share(rows, True), "counts": counts(rows),
            "here": section(lambda theirs, ours: theirs == "passes" != ours),
            "both": section(lambda theirs, ours: theirs == "passes" == ours),
            "rest": section(lambda theirs, ours: theirs != "passes")}


def write(site, links, folder):
    items = []
    for page, about, path, _ in made(site.program.source, folder):
        data = json.loads(path.read_text(encoding="utf-8"))
        parts = parts_of_own_tests(**data) if page == "own-tests" else {"table": to_markdown(**data)}
        text = (HERE / "tables" / f"{page}.md").read_text(encoding="utf-8")
        for name, part in parts.items():
            text = text.replace("{{" + name + "}}", part)
        place = f"documents/{page}.html"
        html = links.rewrite(documents.to_html(text), f"resources/site/tables/{page}.md", place)
        title = text.partition("\n")[0].lstrip("# ")
        site.write(place, title, html)
        items.append(f'<li><a href="{page}.html">{escape(title)}</a><span>{escape(about)}</span></li>\n')
    absent = [page for page, *_ in TABLES if page not in [row[0] for row in made(site.program.source, folder)]]
    if absent:
        print(f"make_site.py: no page of {' and '.join(absent)}: the test has not written {folder}", file=sys.stderr)
    return items
