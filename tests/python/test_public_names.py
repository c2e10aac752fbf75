#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The public modules of Tapedeck's own `torch` are PyTorch's too, and its public classes say that they are of PyTorch's modules, so
that pickles name the same."""
import json
import os
import subprocess
import sys
import unittest

import skipping
import torches

# Prints the public modules that are files, and of each public class of a package its module.
LOOK = """
import importlib, json, pkgutil, sys, torch
modules, classes = [], {}
def walk(name):
    modules.append(name)
    package = importlib.import_module(name)
    for kind_name, kind in vars(package).items():
        if isinstance(kind, type) and not kind_name.startswith("_") and kind.__module__.split(".")[0] == "torch":
            classes[f"{name}.{kind_name}"] = kind.__module__
    for found in pkgutil.iter_modules(getattr(package, "__path__", [])):
        if not found.name.startswith("_") and found.module_finder.find_spec(found.name).origin.endswith(".py"):
            walk(f"{name}.{found.name}")
walk("torch")
print(json.dumps([modules, classes]))
"""
# Prints which of these modules are there, and of the classes their modules.
ASK = """
import importlib, importlib.util, json, sys, torch
modules, classes = json.load(sys.stdin)
def is_there(name):
    try:
        importlib.import_module(name)
    except ImportError:
        holder, _, last = name.rpartition(".")
        return hasattr(importlib.import_module(holder), last) if is_there(holder) else False
    return True
there = [name for name in modules if is_there(name)]
homes = {}
for name in classes:
    holder, _, last = name.rpartition(".")
    if holder in there:
        kind = getattr(importlib.import_module(holder), last, None)
        homes[name] = kind.__module__ if isinstance(kind, type) else None
print(json.dumps([there, homes]))
"""
OURS = {"torch.sim"}  # simulated devices
# Of PyTorch these have no file that Tapedeck has.
ELSEWHERE = {"torch.nn.DataParallel": "torch.nn.parallel.data_parallel"}
# Programs keep objects of these in pickles.
KEPT = ("torch.nn.", "torch.optim.", "torch.utils.data.")


class PublicNames(unittest.TestCase):
    def test_modules_and_classes(self):
        environment = {**os.environ, "PYTHONPATH": os.environ["OWN_ENGINE"] + ":" + os.environ["PYTHONPATH"]}
        done = subprocess.run([sys.executable, "-c", LOOK], env=environment, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        modules, classes = json.loads(done.stdout)
        self.assertGreater(len(modules), 30)
        plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run([torches.python_of("2.13.0"), "-c", ASK], env=plain, input=done.stdout, capture_output=True, text=True,
                              timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        there, homes = json.loads(done.stdout)
        self.assertEqual(set(modules) - set(there) - OURS, set())
        other = {name: (classes[name], home) for name, home in homes.items()
                 if home and home != classes[name] and ELSEWHERE.get(name) != home and name.startswith(KEPT)}
        self.assertEqual(other, {})
        self.assertGreater(len([name for name in homes if name.startswith("torch.nn.")]), 100)


if __name__ == "__main__":
    skipping.main()
