# SPDX-License-Identifier: LGPL-2.1-or-later
"""Recordings of the examples and pages of the lessons. Each is made once, and again after its script or the program changed."""
import hashlib
import json
import re

FIELDS_OF_EVENT = 7  # as in resources/page/tape.js
PLAYER_DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.DOTALL)


class Tapes:
    def __init__(self, program):
        self.program, self.work = program, program.work
        self.examples = program.json("examples")
        self.lessons = program.json("lesson", "list")
        facts = [path.stat() for path in sorted((program.path.parent).glob("tapedeck*")) if path.is_file()]
        self.program_mark = "".join(f"{fact.st_size} {fact.st_mtime_ns} " for fact in facts)

    def make(self, name, sources, make):
        """Calls make() unless what it made of these sources is there."""
        mark = hashlib.sha256(self.program_mark.encode())
        for source in sources:
            mark.update(source.read_bytes())
        stamp = self.work / f"{name}.made"
        if stamp.exists() and stamp.read_text() == mark.hexdigest():
            return
        make()
        stamp.write_text(mark.hexdigest())

    def record(self, name):
        """Records an example. Returns what it printed."""
        said = self.work / f"{name}.said"

        def make():
            done = self.program.run("run", "--force", "-o", f"{name}.tape", name, may_fail=True)
            said.write_text(self.program.without_paths(done.stdout), encoding="utf-8")

        self.make(name, [self.program.source / "resources" / "examples" / f"{name}.py"], make)
        return said.read_text(encoding="utf-8")

    def player(self, name, output):
        """Writes the page that plays an example's tape. Returns the numbers of its events, and its findings."""
        self.program.run("export", f"{name}.tape", "--to", "html", "--force", "-o", output)
        page = self.program.without_paths(output.read_text(encoding="utf-8"))
        output.write_text(page, encoding="utf-8")
        data = json.loads(PLAYER_DATA.search(page)[1])
        return range(data["first"], data["first"] + len(data["events"]) // FIELDS_OF_EVENT - 1), data["findings"]

    def lesson(self, name, output):
        made, folder = self.work / f"lesson-{name}.html", self.program.source / "resources" / "lessons"
        self.make(f"lesson-{name}", [folder / f"{name}.lesson", folder / f"{name}.py"],
                  lambda: self.program.run("lesson", "export", name, "--force", "-o", made))
        output.write_text(self.program.without_paths(made.read_text(encoding="utf-8")), encoding="utf-8")
