# SPDX-License-Identifier: LGPL-2.1-or-later
"""What goes into the wheel names nothing of GLib and Pango that Debian 11 does not have. `./bootstrap wheel` links with
those; the build here would not notice. What a later GLib has is in app/common/old_glib.h, and the window may use all."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
OLD = {"glib-2.0": (2, 66), "pango": (1, 46)}
SINCE = r"_AVAILABLE_%s_(\d+)_(\d+)"
# each has the version in two groups and the name in another
KINDS = [re.compile(SINCE % "IN" + r"\s[^;{}#]*?(?P<name>\w+)\s*\("),
         re.compile(SINCE % "STATIC_INLINE_IN" + r"\s[^;{}#]*?(?P<name>\w+)\s*\("),
         re.compile(r"#\s*define\s+(?P<name>\w+)[^\n]*" + SINCE % "MACRO_IN"),
         re.compile(r"(?P<name>\w+)\s+\w+" + SINCE % "ENUMERATOR_IN")]


def later_names(package, version):
    folder = subprocess.check_output(["pkg-config", "--variable=includedir", package], text=True).strip()
    for header in sorted(pathlib.Path(folder).glob(f"{package.split('-')[0]}-*/**/*.h")):
        text = header.read_text(encoding="utf-8", errors="replace")
        for found in (found for kind in KINDS for found in kind.finditer(text)):
            since = tuple(int(group) for group in found.groups() if group.isdecimal())
            if since > version:
                yield found["name"], f"{package} {since[0]}.{since[1]}"


def sources():
    """Of the wheel: all C but that of the window, and of what measures the window."""
    window = re.search(r"bench_window_sources = files\((.*?)\)", (ROOT / "app/bench/meson.build").read_text(encoding="utf-8"), re.S)[1]
    for path in sorted(path for folder in ("engine", "app", "ui") for path in (ROOT / folder).rglob("*.[ch]")):
        name = path.relative_to(ROOT)
        is_of_window = name.parts[:2] in (("ui", "widgets"), ("ui", "window")) or \
            name.parts[:2] == ("app", "bench") and f"'{path.stem}.c'" in window
        if not is_of_window and path.name != "old_glib.h":
            yield path


def words(path):
    return set(re.findall(r"\w+", path.read_text(encoding="utf-8")))


def main():
    later = {name: since for package, version in OLD.items() for name, since in later_names(package, version)}
    for known in ("g_spawn_check_wait_status", "g_memdup2", "G_DEFINE_FINAL_TYPE"):
        assert known in later, f"the headers have {known} in another form"
    allowed = words(ROOT / "app/common/old_glib.h")
    wrong = [f"{path.relative_to(ROOT)}: {name} needs {later[name]}" for path in sources()
             for name in sorted(later.keys() & words(path) - allowed)]
    print("\n".join(wrong))
    return bool(wrong)


sys.exit(main())
