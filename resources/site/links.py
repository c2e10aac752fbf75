# SPDX-License-Identifier: LGPL-2.1-or-later
"""Which page has what a file of the repository has. Documents link to files; their pages link to pages."""
import pathlib
import posixpath
import re

DOCUMENTS = (  # a file, the name of its page, and what it is for
    ("README.md", "readme", "What Tapedeck does, in one document"),
    ("NEWS", "news", "What has changed"),
    ("KNOWN-ISSUES.md", "known-issues", "What is weak, and what does not work"),
    ("engine/DESIGN.md", "design", "How the folders work together, and designs that failed"),
    ("engine/CONFORMANCE.md", "conformance", "Each behaviour of the engine beside three versions of PyTorch"),
    ("engine/LEARNERS.md", "learners", "Which scripts of tutorials and lectures print what PyTorch prints"),
    ("engine/OWN_TESTS.md", "own-tests", "Which of PyTorch's own tests of autograd pass"),
    ("engine/VERSIONS.md", "versions", "What other versions of PyTorch gave"),
    ("engine/trace/FORMAT.md", "format", "What is in the file of a tape"),
    ("HACKING.md", "hacking", "How to build, test, and add things"),
    ("CONTRIBUTING.md", "contributing", "How to send a change"),
    ("THREATS.md", "threats", "What holds attacks off"),
    ("resources/data/README.md", "digits", "Where the handwritten digits come from"),
)


class Links:
    def __init__(self, program):
        names = {path: f"documents/{name}.html" for path, name, _ in DOCUMENTS}
        folder = program.source / "resources"
        for kind, pattern in (("examples", "*.py"), ("lessons", "*.lesson")):
            names |= {f"resources/{kind}/{path.name}": f"{kind}/{path.stem}.html" for path in (folder / kind).glob(pattern)}
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
