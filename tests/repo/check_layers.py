# SPDX-License-Identifier: LGPL-2.1-or-later
"""Holds every #include to the structure of the house: a folder includes itself and what a table lists, and
inside a folder units include each other one way only. A unit is a header and its source of the same name. A library prints
nothing. Tests in Python import fixtures, never each other. The packages `tapedeck` and `torch` do not import each other."""
import os
import pathlib
import posixpath
import re
import sys

TAPE = ["engine/base", "engine/events", "engine/rules", "engine/trace", "engine/replay"]
PROFILE = ["engine/profile"] + ["engine/profile/" + folder for folder in ("answers", "chain", "check", "model", "ranks", "report", "why", "order", "diff", "findings", "quiz", "stops")]
CORE = TAPE + PROFILE
RUN = ["engine/base", "engine/events", "engine/control", "engine/torch/tensor", "engine/torch/device", "engine/torch/graph",
       "engine/torch/pass"]
MODEL = CORE + ["engine/control", "ui/geometry", "ui/draw"]
MODELS = ["ui/model/" + folder for folder in ("answers", "base", "document", "playhead", "facts", "findings", "events", "analysis", "lesson", "live", "compare", "palette")]
DRAWN = ["ui/geometry", "ui/draw"] + MODELS
WIDGETS = ["ui/widgets/" + folder for folder in ("base", "graph", "timeline", "panes", "dialogs", "view")]

MAY_INCLUDE = {
    "engine/base": [],
    "engine/events": ["engine/base"],
    "engine/control": ["engine/base", "engine/events"],
    "engine/rules": ["engine/base", "engine/events"],  # never of engine/torch: rules judge it
    "engine/trace": ["engine/base", "engine/events", "engine/rules"],  # raw tapes follow the rules
    "engine/replay": ["engine/base", "engine/events", "engine/rules", "engine/trace"],
    "engine/profile": TAPE,
    "engine/profile/answers": TAPE + ["engine/profile", "engine/profile/findings", "engine/profile/report"],
    "engine/profile/chain": TAPE + ["engine/profile", "engine/profile/why"],
    "engine/profile/check": TAPE + ["engine/profile"],
    "engine/profile/why": TAPE + ["engine/profile", "engine/profile/report"],
    "engine/profile/order": TAPE + ["engine/profile"],
    "engine/profile/model": TAPE + ["engine/profile"],
    "engine/profile/ranks": TAPE + ["engine/profile", "engine/profile/why"],
    "engine/profile/report": TAPE + ["engine/profile", "engine/profile/model"],
    "engine/profile/findings": TAPE + ["engine/profile", "engine/profile/check", "engine/profile/order", "engine/profile/ranks", "engine/profile/why"],
    "engine/profile/diff": TAPE + ["engine/profile", "engine/profile/report", "engine/profile/why"],
    "engine/profile/quiz": TAPE + ["engine/profile", "engine/profile/why"],
    "engine/profile/stops": TAPE + ["engine/control"],
    "engine/exchange": CORE,
    "engine/torch/tensor": ["engine/base"],
    "engine/torch/device": ["engine/base", "engine/events", "engine/torch/tensor"],
    "engine/torch/graph": ["engine/base", "engine/events", "engine/control", "engine/torch/tensor", "engine/torch/device"],
    "engine/torch/pass": ["engine/base", "engine/events", "engine/control", "engine/torch/tensor", "engine/torch/device", "engine/torch/graph"],
    "engine/torch/pass/variants": RUN,
    "engine/torch/ops": RUN,
    "engine/probe": ["engine/base", "engine/events", "engine/control", "engine/rules", "engine/trace"],
    "engine/torch/binding": RUN + ["engine/torch/pass/variants", "engine/torch/ops", "engine/trace"],
    "ui/geometry": ["engine/base"],
    "ui/draw": CORE + ["ui/geometry"],
    "ui/page": CORE + ["ui/geometry", "ui/draw"],
    "ui/model/base": CORE,
    "ui/model/document": MODEL + ["ui/model/base"],  # a document owns its scenes
    "ui/model/answers": MODEL + ["ui/model/base", "ui/model/document"],
    "ui/model/findings": MODEL + ["ui/model/base", "ui/model/document"],
    "ui/model/playhead": MODEL + ["ui/model/base", "ui/model/document", "ui/model/findings"],
    "ui/model/facts": MODEL + ["ui/model/base", "ui/model/document", "ui/model/findings"],
    "ui/model/events": MODEL + ["ui/model/base", "ui/model/document", "ui/model/findings", "ui/model/facts"],
    "ui/model/analysis": MODEL + ["ui/model/base", "ui/model/document"],
    "ui/model/lesson": MODEL + ["ui/model/base", "ui/model/document", "ui/model/playhead"],
    "ui/model/live": MODEL + ["ui/model/base", "ui/model/document", "ui/model/playhead"],
    "ui/model/compare": MODEL + ["ui/model/base", "ui/model/playhead"],
    "ui/model/palette": MODEL + ["ui/model/base", "ui/model/document", "ui/model/facts", "ui/model/events"],
    "ui/widgets/base": DRAWN,
    "ui/widgets/graph": DRAWN + ["ui/widgets/base"],
    "ui/widgets/timeline": DRAWN + ["ui/widgets/base"],
    "ui/widgets/panes": DRAWN + ["ui/widgets/base", "ui/widgets/graph", "ui/widgets/timeline"],
    "ui/widgets/dialogs": DRAWN + ["ui/widgets/base"],
    "ui/widgets/view": DRAWN + ["ui/widgets/base", "ui/widgets/graph", "ui/widgets/timeline", "ui/widgets/panes"],
    "app/common": CORE + ["ui/geometry", "ui/draw", "ui/model/lesson"],
    "app/print": CORE + ["ui/geometry", "app/common", "app/session", "app/session/attach"],
    "app/session/observer": TAPE + ["engine/control", "engine/probe", "engine/profile/check", "app/common"],
    "app/session/attach": CORE + ["engine/control", "ui/geometry", "app/common", "app/session"],
    "app/session/remote": CORE + ["engine/control", "app/common", "app/session"],
    "app/session": CORE + ["engine/control", "app/common", "app/session/observer"],
    "ui/window": CORE + ["engine/control", "ui/page", "app/common", "app/session"] + DRAWN + WIDGETS,
    "app/bench": ["*"],
    "app/commands": ["*"],
    "app": ["*"],
    "tests": ["*"],
}

# The Python packages: folder, what it does not import, whether not even in functions. Only a function that is about to record asks
# for PyTorch, and a script that runs on PyTorch.
PACKAGES = [("engine/python/tapedeck", "torch", False), ("engine/torch/python/torch", "tapedeck", True)]
BESIDE = "seeded.py"

# Whose libraries a layer may use, by the first folder or the name of the header.
DESKTOP = re.compile(r"(glib|gio|gobject|gmodule|gtk|gdk|gsk|adwaita|json-glib)[/.\w-]*")
DRAWING = re.compile(r"(cairo|pango)[/.\w-]*")
TOOLKIT = re.compile(r"(gtk|gdk|gsk|adwaita)[/.\w-]*")
FORBIDDEN_LIBRARIES = {
    "engine/": [DESKTOP, DRAWING],
    "ui/geometry": [DESKTOP, DRAWING],
    "ui/draw": [TOOLKIT],
    "ui/model": [TOOLKIT],
}

# Libraries that print nothing and end no process: their callers do. What of app/common prints, they do not include.
SILENT = ("app/session/",)
LOUD_HEADERS = ("app/common/exit.h", "app/common/moment.h", "app/common/moment_replay.h", "app/common/terminal.h")
LOUD = re.compile(r"\b(stdout|stderr|STD(?:OUT|ERR)_FILENO|(?:v?printf|puts|putchar|perror|g_print|g_printerr|g_message|g_warning|psignal"
                  r"|_?exit|abort) *\(|(?:write|dprintf) *\( *[12] *,)")

# A sleep costs no instruction, so no count of them sees it. These sources may sleep, and why.
SLEEPERS = {
    "app/session/attach/native.c": "lets a tenth of a second pass between two looks at a program",
    "app/session/attach/release.c": "asks again whether a program runs on",
    "engine/probe/deadly.c": "waits for the end of the tape while the program dies",
    "engine/probe/preload.c": "tries again to open a library while memory is short",
    "engine/torch/device/sim.c": "a simulated device takes its time",
    "engine/trace/recorder.c": "waits for its own thread to end while the program dies",
}
SLEEP = re.compile(r"\b(?:g_usleep|usleep|sleep|nanosleep|clock_nanosleep|thrd_sleep|sleep_for|sleep_until) *\(")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)

IMPORTED_TEST = re.compile(r"^\s*(?:from |import (?:[\w.]+, *)*)((?:test|compare|rows)_\w+)", re.MULTILINE)


def layer_of(path):
    """The longest folder of the table that holds this path, or None."""
    folders = [folder for folder in MAY_INCLUDE if path.startswith(folder + "/")]
    return max(folders, key=len, default=None)


def problem_with(layer, quote, target):
    if quote == "<":
        for folder, libraries in FORBIDDEN_LIBRARIES.items():
            if layer.startswith(folder) and any(lib.fullmatch(target) for lib in libraries):
                return f"{layer} stays free of <{target}>"
        return None
    home = layer_of(target)
    if home is None:
        return f'"{target}" is not a path from the root into a folder of the table'
    allowed = MAY_INCLUDE[layer]
    if home == layer or "*" in allowed or home in allowed:
        return None
    return f'{layer} may not include {home} ("{target}")'


def noise_in(path, text):
    """What of a source of a silent library prints, or ends the process."""
    if path.startswith(SILENT):
        yield from (target for quote, target in INCLUDE.findall(text) if target in LOUD_HEADERS)
        yield from LOUD.findall(COMMENT.sub("", text))


def sleeps_in(path, text):
    return [] if path in SLEEPERS or path.startswith("tests/") else SLEEP.findall(COMMENT.sub("", text))


def sources_in(root):
    """The texts of all sources, by path from the root."""
    sources = sorted(p for top in ("app", "engine", "ui", "tests")
                     for p in (root / top).rglob("*") if p.suffix in (".c", ".h", ".def", ".cpp", ".hpp", ".cu"))
    assert sources, "no sources under " + str(root)
    return {source.relative_to(root).as_posix(): source.read_text(encoding="utf-8") for source in sources}


def problems_in(files):
    for path, text in files.items():
        layer = layer_of(path)
        if layer is None:
            yield f"{path}: its folder is not in the table of tests/repo/check_layers.py"
            continue
        for quote, target in INCLUDE.findall(text):
            problem = problem_with(layer, quote, target)
            if problem:
                yield f"{path}: {problem}"
        for noise in noise_in(path, text):
            yield f"{path}: a library prints nothing and ends no process: {noise}"
        for sleep in sleeps_in(path, text):
            yield f"{path}: it sleeps: {sleep})"


def units_of(files):
    """Which units each unit includes, of its own folder; files maps paths to texts."""
    uses = {}
    for path, text in files.items():
        unit, dot, suffix = path.rpartition(".")
        uses.setdefault(unit, set())
        for quote, target in INCLUDE.findall(text):
            other = target.rpartition(".")[0]
            if quote == '"' and other != unit and posixpath.dirname(other) == posixpath.dirname(unit):
                uses[unit].add(other)
    return uses


def circles_in(uses):
    """Sets of nodes of a graph that reach each other (Tarjan's strongly connected components)."""
    number, lowest, path, circles = {}, {}, [], []

    def visit(node):
        number[node] = lowest[node] = len(number)
        path.append(node)
        for other in sorted(uses.get(node, ())):
            if other not in number:
                visit(other)
            if other in path:
                lowest[node] = min(lowest[node], lowest[other])
        if lowest[node] == number[node]:
            circle = path[path.index(node):]
            del path[path.index(node):]
            if len(circle) > 1:
                circles.append(sorted(circle))

    for node in sorted(uses):
        if node not in number:
            visit(node)
    return circles


def imported_tests(text):
    """The tests that a script imports."""
    return IMPORTED_TEST.findall(text)


def problems_in_tests(root):
    scripts = sorted((root / "tests").rglob("*.py"))
    assert scripts, "no tests under " + str(root)
    for script in scripts:
        for name in imported_tests(script.read_text(encoding="utf-8")):
            yield f"{script.relative_to(root).as_posix()}: it imports the test {name}; move what both use into tests/fixtures"


def problems_in_packages(root):
    for folder, other, is_apart in PACKAGES:
        scripts = sorted((root / folder).rglob("*.py"))
        assert scripts, f"no package in {root / folder}"
        for script in scripts:
            if imports_at_all(script.read_text(encoding="utf-8"), other, is_apart) and script.name != BESIDE:
                yield f"{script.relative_to(root).as_posix()}: it imports {other}"


def imports_at_all(text, package, also_in_functions):
    return re.search(rf"^{' *' if also_in_functions else ''}(?:from|import) {package}\b", text, re.MULTILINE) is not None


def check_the_check():
    """The tables must bite: a crossing of each sort, a planted circle, and what is fine."""
    assert problem_with("engine/torch/pass", '"', "engine/replay/state.h")
    assert problem_with("engine/torch/pass", '"', "engine/torch/pass/variants/scheduler_2017.h")
    assert problem_with("engine/base", "<", "glib.h")
    assert problem_with("ui/geometry", "<", "cairo.h")
    assert problem_with("ui/widgets/base", '"', "neighbour.h")
    assert problem_with("engine/trace", '"', "engine/base/status.h") is None
    for loud in ('fprintf(stderr, "x")', 'puts("x")', "write(2, x, 1)", "dup(STDOUT_FILENO)", '#include "app/common/exit.h"', "exit(1)"):
        assert list(noise_in("app/session/x.c", loud)), loud
        assert not list(noise_in("app/print/x.c", loud))
    assert not list(noise_in("app/session/x.c", '/* stderr */ fprintf(out, "x"); write(fd, x, 1); on_exit_cb(1);'))
    assert sleeps_in("engine/trace/x.c", "f(1);\n  nanosleep (&t, NULL);") and sleeps_in("ui/draw/x.c", "std::this_thread::sleep_for(t)")
    assert not sleeps_in("engine/trace/recorder.c", "usleep(1);") and not sleeps_in("ui/draw/x.c", "/* usleep(1) */ may_sleep(1); asleep(1);")
    planted = {"a/x.c": '#include "a/x.h"', "a/x.h": '#include "a/y.h"', "a/y.c": '#include "a/z.h"',
               "a/z.h": '#include "a/x.h"', "b/x.c": '#include "a/x.h"', "b/x.h": '#include "b/w.h"'}
    assert circles_in(units_of(planted)) == [["a/x", "a/y", "a/z"]]
    planted["a/z.h"] = '#include "b/x.h"'
    assert circles_in(units_of(planted)) == []
    assert imported_tests("import test_a, os\n    from rows_roots import c\nimport compare_d\n") == ["test_a", "rows_roots", "compare_d"]
    assert imported_tests("import os, test_a\n") == ["test_a"]
    assert imports_at_all("import os\nfrom torch import nn\n", "torch", False) and not imports_at_all("  import torch\n", "torch", False)
    assert imports_at_all("  import tapedeck\n", "tapedeck", True) and not imports_at_all("import tapedecks\n", "tapedeck", True)
    assert imported_tests("import attest_a\nfrom fixtures import test_a\n") == []


def main():
    check_the_check()
    root = pathlib.Path(os.environ.get("SOURCE_ROOT", "."))
    files = sources_in(root)
    problems = list(problems_in(files)) + list(problems_in_tests(root)) + list(problems_in_packages(root))
    problems += ["a circle of folders in the table: " + " ".join(circle) for circle in circles_in(MAY_INCLUDE)]
    problems += ["a circle of units: " + " ".join(circle) for circle in circles_in(units_of(files))]
    print("\n".join(problems) or "every include keeps to its layer, app/session prints nothing, nothing sleeps unasked, no units include each other in a circle, "
          "no test and no package imports another")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
