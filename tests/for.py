#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Names the tests of a source, the nearest first.

    tests/for.py FILE...
    meson test -C build $(tests/for.py FILE...)

A test is near a source if it shares words with it that few others have: functions that the source defines, and texts in quotes, such
as the title of a pane or the word of a command. If no test does, the users of the source are asked, then their users. BY_FOLDER
adds the scripts to which no words lead, because they run commands. The reasons go to standard error. It is a guess: before a change is
sent, every test runs."""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEFINED = re.compile(r"^(td_\w+)\(", re.MULTILINE)  # the house style begins a line with the name
DEFINED_PY = re.compile(r"^(?:def|class) (\w+)", re.MULTILINE)
QUOTED = re.compile(r'"((?:[^"\\\n]|\\.){3,60})"|' + r"'((?:[^'\\\n]|\\.){3,60})'")
TEMPLATE = re.compile(r">([^<>\n]{4,60})<")
UNIT = re.compile(r"\{'unit': '([\w/]+)'")
SCRIPT = re.compile(r"\{'script': '([\w/.]+)'([^}]*)\}")
NAME = re.compile(r"'name': '(\w+)'")
MOST_STEPS, MOST_TESTS, WORTH = 4, 10, 0.2
# What a folder is for, as scripts try it from outside. A folder below another has the tests of the nearest.
BY_FOLDER = {
    "app/print": "record inside silent_mistakes",
    "app/session/attach": "attach attach_unrecorded",
    "app/session/observer": "fit other_users",
    "app/session/remote": "remote_pipe remote_torch",
    "engine/control": "control live",
    "engine/events": "trace golden tape",
    "engine/exchange": "export export_tracks export_waits import dumps tape_arrow",
    "engine/probe": "record_torch record hooks numerics steps",
    "engine/probe/observer": "record_torch numerics births saved",
    "engine/profile/answers": "answers cases",
    "engine/profile/chain": "chain_truth",
    "engine/profile/check": "check_segments check_spans cli",
    "engine/profile/diff": "diff_by beside",
    "engine/profile/findings": "findings silent_mistakes cases cuts",
    "engine/profile/model": "critical_own critical_torch whatif_own whatif_truth",
    "engine/profile/order": "order_own order_torch",
    "engine/profile/quiz": "quiz",
    "engine/profile/ranks": "ranks",
    "engine/profile/report": "report_own report_torch idle range_tapes contention memory_report",
    "engine/profile/why": "why_truth states",
    "engine/replay": "replay golden contents cut_moments",
    "engine/trace": "trace golden contents keep",
    "ui/model/analysis": "window_analysis",
    "ui/model/answers": "window_answers",
    "ui/model/compare": "window_compare",
    "ui/model/document": "window_layouts window_fold",
    "ui/model/events": "window",
    "ui/model/facts": "window_reader",
    "ui/model/findings": "window_answers window_stops",
    "ui/model/lesson": "window_lesson",
    "ui/model/live": "window_live",
    "ui/model/playhead": "window_ways",
}


def read(path):
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def tests():
    """{file of a test: the names that `meson test` knows}"""
    table, found = read(ROOT / "tests" / "meson.build"), collections.defaultdict(list)
    for unit in UNIT.findall(table):
        folder, name = unit.split("/")
        found[ROOT / "tests" / folder / f"test_{name}.c"].append(name)
    for script, rest in SCRIPT.findall(table):
        found[ROOT / "tests" / script].append(name_of(script, rest))
    return found


def name_of(script, rest):
    name = NAME.search(rest)
    return name[1] if name else pathlib.Path(script).stem.removeprefix("test_")


def of_breadth():
    """Tests that `meson test` leaves out, unless it is told their suite."""
    return {name_of(script, rest) for script, rest in SCRIPT.findall(read(ROOT / "tests" / "meson.build")) if "'breadth'" in rest}


def sources():
    return [path for top in ("app", "engine", "ui") for path in (ROOT / top).rglob("*") if path.suffix in (".c", ".cpp", ".h", ".def", ".py")]


def may_run(test, path):
    """The checks of the repository read sources and run none of them. They are the tests of themselves, and of documents."""
    return test == path or test.parent.name != "repo" or path.suffix not in (".c", ".cpp", ".hpp", ".h", ".def", ".py")


def quoted(path):
    """The texts in quotes; the path of an included header is one of them."""
    return {one or other for one, other in QUOTED.findall(read(path))}


def words_of(path):
    """By which words tests and other sources speak of this one."""
    body = path.with_suffix(".c") if path.suffix == ".h" else path
    name = path.relative_to(ROOT).as_posix()
    if path.suffix == ".def":  # its words are those of all that it lists; who includes it is what counts
        return {name}
    words = set(DEFINED.findall(read(body))) | {name.replace(".c", ".h"), path.name, path.stem}
    if path.suffix == ".py":
        words |= set(DEFINED_PY.findall(read(path)))
    return words | set(TEMPLATE.findall(read(ROOT / "resources" / "ui" / (path.stem + ".ui"))))


def texts_of(path):
    return {text for text in quoted(path) if path.suffix != ".def" and not text.endswith((".h", ".c", ".def"))}


class Map:
    def __init__(self):
        self.tests, self.sources = tests(), sources()
        self.spoken = {path: set(re.findall(r"\w+", read(path))) | quoted(path) for path in [*self.tests, *self.sources]}
        self.quoted = {path: quoted(path) for path in self.tests}
        self.test_named = {name: test for test, names in self.tests.items() for name in names}
        unknown = set(" ".join(BY_FOLDER.values()).split()) - self.test_named.keys()
        if unknown or not all((ROOT / folder).is_dir() for folder in BY_FOLDER):
            sys.exit(f"for.py: BY_FOLDER has tests or folders that are not there: {unknown}")
        self.n_tests_with = collections.Counter(word for path in self.tests for word in self.spoken[path] | {path.stem})

    def worth(self, test, path):
        """How much a test says of a source: each word counts the more, the fewer tests have it."""
        if test == path:
            return 100
        code = words_of(path) & (self.spoken[test] if path.suffix != ".py" else self.quoted[test] | self.spoken[test])
        shared = {word for word in code if word.startswith("td_") or word in self.quoted[test] or "/" in word}
        shared |= texts_of(path) & self.quoted[test]
        own_name = test.stem.removeprefix("test_") == path.stem
        return own_name + sum(1 / self.n_tests_with[word] for word in shared)

    def users(self, path):
        names = {word for word in words_of(path) if word.startswith("td_") or "/" in word}
        return [user for user in self.sources if user != path and names & self.spoken[user]]

    def find(self, path):
        """[(worth, test, the source through which it was found)], the best first."""
        seen, level = {path}, [path]
        for _ in range(MOST_STEPS if path.suffix in (".c", ".cpp", ".h", ".def", ".py") else 1):
            found = [(self.worth(test, through), test, through) for through in level for test in self.tests if may_run(test, path)]
            best = max((row[0] for row in found), default=0)
            if best >= WORTH:
                return sorted((row for row in found if row[0] >= best * WORTH), key=lambda row: -row[0])
            level = [user for through in level for user in self.users(through) if user not in seen and not seen.add(user)]
        return self.of_folder(path)

    def by_folder(self, path):
        """[(test, the folder for which BY_FOLDER has it)]"""
        folders = [folder for folder in path.relative_to(ROOT).parents if folder.as_posix() in BY_FOLDER]
        return [(self.test_named[name], ROOT / folders[0]) for name in BY_FOLDER[folders[0].as_posix()].split()] if folders else []

    def of_folder(self, path):
        """Where nothing is shared: the tests of the folder of that name, else those that speak of the folder."""
        name = path.parent.name
        found = [test for test in self.tests if test.parent.name == name] or \
            [test for test in self.tests if self.spoken[test] & {name, name.upper()}]
        return [(0, test, path.parent) for test in found]


def main(names):
    if not names:
        sys.exit(__doc__)
    known, told = Map(), {}
    for name in names:
        path = pathlib.Path(name).resolve()
        if not path.is_file() or not path.is_relative_to(ROOT):
            sys.exit(f"for.py: {name} is no file of {ROOT}")
        for test, through in [row[1:] for row in known.find(path)[:MOST_TESTS]] + known.by_folder(path):
            for test_name in known.tests[test]:
                told.setdefault(test_name, f"{test.relative_to(ROOT)}" + (f", through {through.relative_to(ROOT)}" if through != path else ""))
    for test_name, reason in told.items():
        wants_suite = " (only with --suite breadth)" if test_name in of_breadth() else ""
        print(f"{test_name}: {reason}{wants_suite}", file=sys.stderr)
    print(*told)
    return 0 if told else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
