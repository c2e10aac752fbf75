# SPDX-License-Identifier: LGPL-2.1-or-later
"""`tapedeck bench --small` runs every figure: each has a value, or says why it has none.

test_bench_small.py figures: those of Tapedeck alone. models: those beside PyTorch. window: those of the window, in a display.
"""
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import unittest

if sys.argv[1:] == ["window"]:
    import display
    display.ensure()

from cli_case import MAKE_TAPE, run

# What a machine may lack. All else has a value.
REASONS = {"no display": re.compile("drag_|window_"), "takes a minute: ask for it with --torch": re.compile("torch_"),
           "PyTorch is not installed (python3-torch)": re.compile("node_off$"),
           f"{sys.executable} has no PyTorch": re.compile("resnet18_step$")}
GROUPS = {"window": re.compile("drag_|window_"), "models": re.compile("torch_|node_off$|resnet18_step$")}


def group_of(name):
    return next((group for group, names in GROUPS.items() if names.match(name)), "figures")


def all_figures(table):
    """The names in a table of app/bench."""
    with open(os.path.join(os.environ["SOURCE_ROOT"], "app", "bench", table), encoding="utf-8") as file:
        names = re.findall(r"^\s*TD_(?:FIGURE|SCALE|MODEL)\((\w+)", file.read(), re.MULTILINE)
    return [name for name in names if name != "torch_step_"]


def measure(*options, names):
    wanted = [word for name in names for word in ("--figure", name)]
    done = run("bench", "--small", *options, *wanted)
    assert done.returncode == 0, done
    return done.stdout


class Small(unittest.TestCase):
    def check_rows(self, rows):
        for row in rows:
            with self.subTest(row["figure"]):
                self.assertIs(row["small"], True)
                self.assertNotIn("holds", row)
                if "skipped" in row:
                    self.assertRegex(row["figure"], REASONS.get(row["skipped"], "no reason: " + row["skipped"]))
                    print(f"{row['figure']}: {row['skipped']}")
                    continue
                floor = [row["floor_value"]] if row.get("floor") else []
                for value in row.get("values", [row.get("value")]) + floor:
                    self.assertTrue(math.isfinite(value) and value > 0, row)

    def check_group(self, group):
        names = [name for name in all_figures("figures.def") if group_of(name) == group]
        rows = json.loads(measure("--json", names=names))
        self.assertEqual([row["figure"] for row in rows], names)
        self.check_rows(rows)
        return rows


class Figures(Small):
    def test_figures(self):
        self.check_group("figures")

    def test_scales(self):
        names = all_figures("scales.def")
        rows = json.loads(measure("--json", "--scale", names=names))
        self.assertEqual([row["figure"] for row in rows], names)
        self.check_rows(rows)
        for row in rows:
            first = row["sizes"][0]
            self.assertEqual(row["sizes"], [first, 2 * first, 4 * first, 8 * first])

    def test_nothing_is_judged(self):
        """What small work takes says nothing about a bound."""
        for line in measure(names=["record_event", "layout_1000", "cut_event"]).splitlines():
            self.assertRegex(line, "not judged: small|to compare")
            self.assertNotRegex(line, r"\bholds|DOES NOT HOLD")


class Models(Small):
    def test_models(self):
        self.check_group("models")


class Window(Small):
    def test_window(self):
        for row in self.check_group("window"):
            self.assertNotIn("skipped", row)

    def test_actions(self):
        with tempfile.TemporaryDirectory() as folder:
            tape = os.path.join(folder, "small.tape")
            subprocess.run([MAKE_TAPE, "80", "3", "2", "4", tape], check=True)
            lines = run("bench", "--window", tape).stdout.splitlines()
        self.assertTrue(lines[0].startswith(tape))
        self.assertGreater(len(lines), 10)
        for line in lines[3:]:
            self.assertRegex(line, r"^.{26} +\d+\.\d +\d+\.\d +\d+\.\d +\d+ .*(holds|DOES NOT HOLD)$")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + [{"figures": "Figures", "models": "Models", "window": "Window"}[sys.argv[1]]])
