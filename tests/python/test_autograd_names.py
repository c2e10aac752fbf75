#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Forward mode, functional, gradcheck, profiles, selective checkpoints and other names of torch.autograd: one script shows
the same on Tapedeck and on PyTorch 2.13."""
import json
import math
import os
import subprocess
import tempfile
import unittest

import skipping
import torches

CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'autograd_cases.py')


def run(command, folder):
    """What the script shows when this command begins it."""
    out = os.path.join(folder, 'out.json')
    plain = {name: value for name, value in os.environ.items() if name != 'PYTHONPATH'}
    done = subprocess.run([*command, CASES, out], cwd=folder, env=plain, text=True, capture_output=True, timeout=300)
    if done.returncode:
        raise RuntimeError(done.stderr)
    with open(out, encoding='utf-8') as file:
        return json.load(file)


def close(a, b):
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(close, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-5, abs_tol=1e-7)
    return a == b


class Names(unittest.TestCase):
    maxDiff = None

    def test_two_engines(self):
        with tempfile.TemporaryDirectory() as folder:
            theirs = run([torches.python_of('2.13.0')], folder)
            ours = run([os.environ['TAPEDECK'], 'run', '-o', os.path.join(folder, 'x.tape')], folder)
        for name, expected in theirs.items():
            with self.subTest(name):
                if not close(expected, ours[name]):
                    self.assertEqual(expected, ours[name])


if __name__ == '__main__':
    skipping.main()
