# SPDX-License-Identifier: LGPL-2.1-or-later
"""One script on two engines: PyTorch's and Tapedeck's give the same values, the same order of nodes as post hooks
see it, the same random numbers, prints and error texts. Skipped where PyTorch is not installed."""
import json
import math
import os
import re
import subprocess
import tempfile
import unittest

import skipping
import torches

TAPEDECK, EXAMPLES = os.environ['TAPEDECK'], os.environ['EXAMPLES']
CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'torch_cases.py')


def run(command, environment):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, 'out.json')
        done = subprocess.run([*command(folder), CASES, out, EXAMPLES], cwd=folder, env=environment, text=True,
                              capture_output=True, timeout=120)
        if done.returncode:
            raise RuntimeError(done.stderr)
        with open(out) as file:
            return json.load(file)


def close(a, b):
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(close, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=1e-5, abs_tol=1e-7)
    return a == b


def words(text):
    """The words of a text, numbers as numbers."""
    return [float(w) if re.fullmatch(r'-?\d+\.\d*', w) else w for w in re.findall(r'-?\d+\.\d*|[^\s\d]+|\d+', text)]


class Compare(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        python = torches.pythons()[0]
        plain = {name: value for name, value in os.environ.items() if name != 'PYTHONPATH'}
        cls.torch = run(lambda folder: [python], plain)
        semantics = '1.11' if cls.torch['version'].startswith('1.') else '2.13'
        cls.ours = run(lambda folder: [TAPEDECK, 'run', '--devices', 'cpu', '--semantics', semantics, '-o',
                                       os.path.join(folder, 'x.tape')], plain)

    def compare(self, part, check):
        for name, theirs in self.torch[part].items():
            with self.subTest(f'{part} {name}'):
                check(theirs, self.ours[part][name])

    def assert_close(self, theirs, ours):
        self.assertTrue(close(theirs, ours), f'{theirs}\n{ours}')

    def test_two_engines(self):
        self.assertEqual((self.torch['engine'], self.ours['engine']), ('torch', 'tapedeck'))

    def test_values_of_graphs(self):
        self.compare('cases', lambda theirs, ours: self.assert_close(theirs['values'], ours['values']))

    def test_order_of_nodes(self):
        def check(theirs, ours):
            self.assertGreater(len(theirs['order']), 2)
            self.assertEqual(theirs['order'], ours['order'])
        self.compare('cases', check)

    def test_examples(self):
        def check(theirs, ours):
            text = ours['text']
            if self.torch['version'].startswith('1.'):  # it has no such hooks
                text = ''.join(line for line in text.splitlines(True) if not line.startswith('post-accumulate hook'))
            self.assert_close(words(theirs['text']), words(text))
            self.assertEqual(theirs['passes'], ours['passes'])
        self.compare('examples', check)

    def test_random_numbers(self):
        self.compare('random', self.assert_close)

    def test_prints(self):
        self.compare('printed', self.assertEqual)

    def test_error_texts(self):
        self.compare('texts', lambda theirs, ours: self.assertEqual(theirs.splitlines()[0], ours.splitlines()[0]))


if __name__ == '__main__':
    skipping.main(verbosity=2)
