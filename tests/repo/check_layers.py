# SPDX-License-Identifier: LGPL-2.1-or-later
"""Fails where an #include crosses a layer: each folder may include itself and what this table lists."""
import os
import pathlib
import re
import sys

CORE = ["engine/base", "engine/events", "engine/trace", "engine/replay", "engine/profile"]
RUN = ["engine/base", "engine/events", "engine/control", "engine/tensor", "engine/device", "engine/graph",
       "engine/pass"]

MAY_INCLUDE = {
    "engine/base": [],
    "engine/events": ["engine/base"],
    "engine/control": ["engine/base", "engine/events"],
    "engine/trace": ["engine/base", "engine/events"],
    "engine/replay": ["engine/base", "engine/events", "engine/trace"],
    "engine/profile": ["engine/base", "engine/events", "engine/trace", "engine/replay"],
    "engine/exchange": ["engine/base", "engine/events", "engine/trace"],
    "engine/tensor": ["engine/base"],
    "engine/device": ["engine/base", "engine/events", "engine/tensor"],
    "engine/graph": ["engine/base", "engine/events", "engine/control", "engine/tensor", "engine/device"],
    "engine/pass": ["engine/base", "engine/events", "engine/control", "engine/tensor", "engine/device", "engine/graph"],
    "engine/ops": RUN,
    "engine/probe": ["engine/base", "engine/events", "engine/control", "engine/trace"],
    "engine/python": RUN + ["engine/ops", "engine/trace"],
    "ui/geometry": ["engine/base"],
    "ui/draw": CORE + ["ui/geometry"],
    "ui/model": CORE + ["engine/control", "ui/geometry", "ui/draw"],  # a document owns its scenes
    "ui/widgets": ["ui/geometry", "ui/draw", "ui/model"],
    "app": ["*"],
    "tests": ["*"],
}

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

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


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


def problems_in(root):
    sources = sorted(p for top in ("app", "engine", "ui", "tests")
                     for p in (root / top).rglob("*") if p.suffix in (".c", ".h", ".def", ".cpp", ".hpp"))
    assert sources, "no sources under " + str(root)
    for source in sources:
        path = source.relative_to(root).as_posix()
        layer = layer_of(path)
        if layer is None:
            yield f"{path}: its folder is not in the table of tests/repo/check_layers.py"
            continue
        for quote, target in INCLUDE.findall(source.read_text(encoding="utf-8")):
            problem = problem_with(layer, quote, target)
            if problem:
                yield f"{path}: {problem}"


def main():
    # The table must bite: one crossing of each sort, and one include that is fine.
    assert problem_with("engine/pass", '"', "engine/replay/state.h")
    assert problem_with("engine/base", "<", "glib.h")
    assert problem_with("ui/geometry", "<", "cairo.h")
    assert problem_with("ui/widgets", '"', "neighbour.h")
    assert problem_with("engine/trace", '"', "engine/base/status.h") is None
    problems = list(problems_in(pathlib.Path(os.environ.get("SOURCE_ROOT", "."))))
    print("\n".join(problems) or "every include keeps to its layer")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
