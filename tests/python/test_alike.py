# SPDX-License-Identifier: LGPL-2.1-or-later
"""Small programs say the same on Tapedeck and on PyTorch 1.13 and 2.13: values, errors, warnings. Without a PyTorch, its
comparison is skipped."""
import json
import os
import subprocess
import tempfile
import unittest

import skipping
import torches

TAPEDECK = os.environ['TAPEDECK']
CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'alike_cases.py')


def run(*command):
    plain = {name: value for name, value in os.environ.items() if name != 'PYTHONPATH'}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([*command, CASES, 'out.json'], cwd=folder, env=plain, text=True, capture_output=True, timeout=300)
        if done.returncode:
            raise RuntimeError(done.stdout + done.stderr)
        with open(os.path.join(folder, 'out.json')) as file:
            return json.load(file)


class Beside(unittest.TestCase):
    maxDiff = None

    def compare(self, version, semantics):
        theirs = run(torches.python_of(version))
        ours = run(TAPEDECK, 'run', '--semantics', semantics, '-o', 'x.tape')
        for name, (_, seen) in theirs.items():
            with self.subTest(name):
                self.assertEqual(json.dumps(seen, indent=1), json.dumps(ours[name][1], indent=1))

    def test_1_13(self):
        self.compare('1.13.1', '1.11')

    def test_2_13(self):
        self.compare('2.13.0', '2.13')


if __name__ == '__main__':
    skipping.main()
