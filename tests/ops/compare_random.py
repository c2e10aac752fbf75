# SPDX-License-Identifier: LGPL-2.1-or-later
"""Random numbers of two engines: PyTorch's and Tapedeck's draw the same ones, to the last bit. Skipped where there is no
PyTorch.

On Intel's processors PyTorch 2 draws some kinds from another library. PyTorch 1.13 has older texts, and rounds exponential
numbers of double precision otherwise. These lines may differ.
"""
import os
import subprocess
import tempfile
import unittest

import skipping
import torches

TAPEDECK = os.environ['TAPEDECK']
CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'random_cases.py')
PLAIN = {name: value for name, value in os.environ.items() if name != 'PYTHONPATH'}
OF_INTELS_LIBRARY = ('exponential_', 'bernoulli_', 'multinomial', 'dropout')


def lines(*command):
    done = subprocess.run(command, env=PLAIN, text=True, capture_output=True, timeout=120)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout.splitlines()


def is_intels():
    with open('/proc/cpuinfo') as file:
        return 'GenuineIntel' in file.read()


class Compare(unittest.TestCase):
    maxDiff = None

    def test_same_numbers(self):
        for version, python in torches.each():
            with self.subTest(version), tempfile.TemporaryDirectory() as folder:
                ours = lines(TAPEDECK, 'run', '--devices', 'cpu', '--semantics', '1.11' if version < '2' else '2.13', '-o',
                             os.path.join(folder, 'x.tape'), CASES)
                theirs = lines(python, CASES)
                self.assertEqual(len(ours), len(theirs))
                for a, b in zip(theirs, ours):
                    if not self.may_differ(a, version):
                        self.assertEqual(a, b)

    def may_differ(self, line, version):
        if version < '2':
            return line.startswith(('torch.', 'generator.', 'exponential_ torch.float64'))
        return is_intels() and line.startswith(OF_INTELS_LIBRARY)


if __name__ == '__main__':
    skipping.main(verbosity=2)
