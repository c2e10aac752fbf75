# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every operation on two engines: PyTorch's and Tapedeck's give the same values, gradients, dtypes, trees of nodes, prints and
error texts; and Tapedeck's gradients are those of finite differences. Skipped where there is no PyTorch.

The reference is PyTorch 2.15 or 2.13 if it is installed, else the system's. Of the system's, the names and texts that later
versions changed are not compared.
"""
import json
import math
import os
import subprocess
import tempfile
import unittest

import skipping
import torches

TAPEDECK = os.environ['TAPEDECK']
CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'op_cases.py')
TOLERANCE = 1e-5  # of finite differences
OF_PYTORCH_2 = ('torch.linspace(-3.3, 7.1, 57).tolist()', 'torch.ones(2).itemsize')  # 1.13 rounds otherwise, and lacks the other

PLAIN = {name: value for name, value in os.environ.items() if name != 'PYTHONPATH'}


def run(command):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, 'out.json')
        done = subprocess.run([*command(folder), CASES, out], cwd=folder, env=PLAIN, text=True, capture_output=True, timeout=120)
        if done.returncode:
            raise RuntimeError(done.stderr)
        with open(out) as file:
            return json.load(file)


def close(a, b):
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(close, a, b))
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(close(a[k], b[k]) for k in a)
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (a != a and b != b) or math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-9)
    return a == b


class Compare(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        semantics = '2.15' if REFERENCE == '2.15.0' else '2.13'
        cls.ours = run(lambda folder: [TAPEDECK, 'run', '--devices', 'cpu', '--semantics', semantics, '-o',
                                       os.path.join(folder, 'x.tape')])
        cls.torch = run(lambda folder: [torches.python_of(REFERENCE)])

    def compare(self, part, check):
        for row, theirs in self.torch[part].items():
            with self.subTest(row):
                check(theirs, self.ours[part][row])

    def test_values_gradients_and_nodes(self):
        def check(theirs, ours):
            self.assertNotIn('failed', theirs)
            for part in ('value', 'dtype', 'gradients', *(['tree'] if REFERENCE != '1.13.1' else [])):
                self.assertTrue(close(theirs[part], ours.get(part)), f'{part}: {theirs[part]}, {ours}')
        self.compare('rows', check)

    def test_error_texts(self):
        if REFERENCE == '1.13.1':
            self.skipTest('texts are those of PyTorch 2')
        self.compare('refused', self.assertEqual)

    def test_prints(self):
        if REFERENCE == '1.13.1':
            self.torch['told'] = {row: theirs for row, theirs in self.torch['told'].items() if row not in OF_PYTORCH_2}
        self.compare('told', self.assertEqual)

    def test_finite_differences(self):
        self.assertGreater(len(self.ours['errors']), 200)
        for row, errors in self.ours['errors'].items():
            for order, error in enumerate(errors, 1):
                with self.subTest(f'{row}, order {order}'):
                    once = order == 2 and isinstance(error, dict) and any(
                        text in error['failed'] for text in ('cannot be differentiated twice', 'is not implemented'))
                    self.assertTrue(once or (isinstance(error, float) and error < TOLERANCE), error)


if __name__ == '__main__':
    torches.each()
    REFERENCE = list(torches.with_newest())[-1]
    skipping.main(verbosity=2)
