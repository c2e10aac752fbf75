#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""An installed Tapedeck works where its tree was moved to: that is what a wheel and DESTDIR do. Nothing of the build
folder is used then."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import skipping
import torches

BUILD = Path(os.environ["BUILD_ROOT"]).resolve()


def option(name):
    told = json.loads(subprocess.check_output(["meson", "introspect", "--buildoptions", BUILD], text=True))
    return next(entry["value"] for entry in told if entry["name"] == name)


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        first, root = Path(cls.folder.name, "first"), Path(cls.folder.name, "moved here")
        subprocess.run(["meson", "install", "-C", BUILD, "--no-rebuild", "--quiet"], check=True, stdout=subprocess.DEVNULL,
                       env=os.environ | {"DESTDIR": str(first)})
        first.rename(root)
        cls.prefix = Path(f"{root}{option('prefix')}")
        cls.libexec = cls.prefix / option("libexecdir") / "tapedeck"
        cls.environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "TAPEDECK")}
        cls.environment["XDG_CACHE_HOME"] = str(root / "cache")

    def call(self, *words, status=0, **environment):
        done = subprocess.run([self.prefix / option("bindir") / "tapedeck", *words], cwd=self.folder.name, text=True,
                              capture_output=True, check=False, env=self.environment | environment)
        self.assertEqual(done.returncode, status, (words, done.stdout, done.stderr))
        return done.stdout + done.stderr

    def loaded(self, *words):
        """Which libraries of the build folder the call and its children loaded, and how many programs there were."""
        log = Path(self.folder.name, "trace")
        self.environment["LD_DEBUG"], self.environment["LD_DEBUG_OUTPUT"] = "files", str(log)
        try:
            self.call(*words)
        finally:
            del self.environment["LD_DEBUG"], self.environment["LD_DEBUG_OUTPUT"]
        texts = [path.read_text(encoding="utf-8", errors="replace") for path in log.parent.glob("trace.*")]
        return {line for text in texts for line in text.splitlines() if str(BUILD) in line}, len(texts)

    def test_runs_an_example(self):
        found, n_programs = self.loaded("run", "--force", "-o", "mlp.tape", "mlp")
        self.assertEqual(found, set())
        self.assertGreaterEqual(n_programs, 2, "the program and Python")
        self.assertIn("every rule holds", self.call("check", "mlp.tape"))
        self.call("render", "mlp.tape", "--view", "graph", "-o", "graph.svg")
        self.assertIn("<svg", Path(self.folder.name, "graph.svg").read_text(encoding="utf-8"))

    def test_finds_its_files(self):
        self.assertIn("mlp", self.call("examples"))
        self.assertIn("chain", self.call("lesson", "list"))

    def test_records_pytorch(self):
        python = torches.pythons()[0]
        torches.need_compiler()
        script = Path(self.folder.name, "train.py")
        script.write_text("import torch\nx = torch.ones(3, requires_grad=True)\n(x.exp() * 2).sum().backward()\n", encoding="utf-8")
        self.call("record", "--force", "-o", "x.tape", "--level", "1", "--", python, script)
        self.assertEqual(json.loads(self.call("info", "--json", "x.tape"))["probe_level"], 1)

    def test_has_a_window_or_says_why(self):
        window = self.libexec / "tapedeck-window"
        if window.exists():
            self.assertIn("see it with: tapedeck open w.tape", self.call("run", "--force", "-o", "w.tape", "mlp"))
            self.assertIn("no display", self.call("open", "w.tape", status=2, DISPLAY="", WAYLAND_DISPLAY=""))
            window.rename(window.with_suffix(".away"))
            self.addCleanup(window.with_suffix(".away").rename, window)
        self.assertIn("see it with: tapedeck info w.tape", self.call("run", "--force", "-o", "w.tape", "mlp"))
        self.assertIn("tapedeck-window", self.call("open", "w.tape", status=2))

    def test_as_a_module(self):
        """`python -m tapedeck` is the command, for that Python: the engine in it is the one that `run` takes."""
        [module] = Path(self.folder.name).rglob("tapedeck/__main__.py")
        program = self.prefix / option("bindir") / "tapedeck"
        environment = self.environment | {"PYTHONPATH": str(module.parent.parent), "TAPEDECK": str(program)}
        words = [sys.executable, "-m", "tapedeck", "run", "--force", "-o", "m.tape", "mlp"]
        done = subprocess.run(words, cwd=self.folder.name, env=environment, text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("every rule holds", self.call("check", "m.tape"))
        done = subprocess.run(words[:3], cwd=self.folder.name, env=environment | {"TAPEDECK": "", "PATH": "/nowhere"},
                              text=True, capture_output=True, check=False)
        self.assertEqual(done.stderr, "tapedeck: the program tapedeck is not in PATH; set TAPEDECK to where it is\n")

    def test_hides_no_pytorch(self):
        """The own engine's package `torch` is where only `run` looks."""
        [module] = Path(self.folder.name).rglob("tapedeck/__main__.py")
        self.assertEqual([entry.name for entry in module.parent.parent.iterdir()], ["tapedeck"])
        self.assertTrue((module.parent / "own-engine" / "torch" / "__init__.py").exists())
        self.assertFalse((module.parent / "torch").exists())

    def test_engine_of_another_python(self):
        """A wheel is for any Python, the engine in it for one: it is a module whose name has the version."""
        [module] = Path(self.folder.name).rglob("_C.*.so")
        self.addCleanup(module.with_suffix(".away").rename, module)
        module.rename(module.with_suffix(".away"))
        told = self.call("run", "--force", "-o", "e.tape", "mlp", status=125)
        self.assertRegex(told, r"^tapedeck: .*: Tapedeck's own engine is not built for Python 3\.\d+; `tapedeck record` is for any\n$")

    def test_another_python(self):
        """TAPEDECK_PYTHON is the Python of `tapedeck run`: a wheel names the one that it is installed for."""
        other = Path(self.folder.name, "python")
        other.write_text(f'#!/bin/sh\necho "the other one"\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
        other.chmod(0o755)
        self.assertIn("the other one", self.call("run", "--force", "-o", "o.tape", "mlp", TAPEDECK_PYTHON=str(other)))


if __name__ == "__main__":
    if not shutil.which("meson"):
        raise skipping.Missing("meson is not in PATH")
    skipping.main(verbosity=2)
