# SPDX-License-Identifier: LGPL-2.1-or-later
"""Which page has what a file of the repository has. Documents link to files; their pages link to pages."""
import pathlib
import posixpath
import re

READ_ON = re.compile(r"^- \[([^\]]*)\]\(([^)#]+)\): (.+)$", re.MULTILINE)


def documents(program):
    """For each document: the file, the name of its page, what to call it, and what it is for. The README lists them at its end."""
    listed = READ_ON.findall((program.source / "README.md").read_text(encoding="utf-8"))
    rows = [("README.md", "README.md", "What Tapedeck does, on one page"), *listed]
    return [(path, page_name(pathlib.PurePosixPath(path)), label, about) for label, path, about in rows]


def page_name(path):
    name = path.parent.name if path.parent.name and path.stem == "README" else path.stem
    return name.lower().replace("_", "-")


def pictures(program):
    return sorted((program.source / "resources" / "docs").glob("*.png"))


class Links:
    """`tables` has the page that a link to a source of tests leads to."""

    def __init__(self, program, tables):
        self.documents = documents(program)
        names = {path: f"documents/{name}.html" for path, name, _, _ in self.documents}
        names |= {f"resources/docs/{path.name}": f"documents/{path.name}" for path in pictures(program)}
        folder = program.source / "resources"
        for kind, pattern in (("examples", "*.py"), ("lessons", "*.lesson")):
            names |= {f"resources/{kind}/{path.name}": f"{kind}/{path.stem}.html" for path in (folder / kind).glob(pattern)}
        names |= {path: f"documents/{page}.html" for path, page in tables.items()}
        table = (program.source / "app" / "commands.def").read_text(encoding="utf-8")
        names |= {f"app/commands/{name}.c": f"commands/{name}.html" for name in re.findall(r"^TD_COMMAND\((\w+)", table, re.MULTILINE)}
        self.pages = names | {"resources/screenshot.png": "screenshot.png", "ui/window/window_help.c": "window.html", "resources/examples": "examples/index.html",
                              "app/commands.def": "commands/index.html", "resources/site/start.md": "start.html"}

    def rewrite(self, text, source, place):
        """HTML made of the file `source`, for the page `place`: its links lead to pages, or are gone."""
        def target(link):
            path, mark, fragment = link.partition("#")
            if "://" in link or not path:
                return link
            page = self.pages.get(posixpath.normpath(posixpath.join(posixpath.dirname(source), path)))
            return page and posixpath.relpath(page, posixpath.dirname(place) or ".") + mark + fragment

        def anchor(match):
            link = target(match[1])
            return f'<a href="{link}">{match[2]}</a>' if link else match[2]

        text = re.sub(r'<a href="([^"]*)">(.*?)</a>', anchor, text, flags=re.DOTALL)
        return re.sub(r'src="([^"]*)"', lambda match: f'src="{target(match[1]) or match[1]}"', text)


def name_of(path):
    return pathlib.PurePosixPath(path).name
