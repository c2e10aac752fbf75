# SPDX-License-Identifier: LGPL-2.1-or-later
"""A training step of a shipped model takes at most 1.2 times as long as PyTorch's. These two models take a third of that; the
others are for `tapedeck bench --torch`, on a quiet machine. Skipped where PyTorch is not installed."""
import json
import os
import subprocess
import unittest

import skipping
import torches

MODELS = ('mlp', 'gpt_mini')


class Bench(unittest.TestCase):
    def test_steps_beside_torch(self):
        names = [f'torch_step_{model}{suffix}' for model in MODELS for suffix in ('', '_recorded')]
        wanted = [word for name in names for word in ('--figure', name)]
        for python in torches.of_test(self):
            with self.subTest(python):
                done = subprocess.run([os.environ['TAPEDECK'], 'bench', '--json', '--torch=' + python, *wanted],
                                      capture_output=True, text=True, timeout=600)
                rows = json.loads(done.stdout)
                self.assertEqual([row['figure'] for row in rows], names)
                for row in rows:
                    self.assertNotIn('skipped', row)
                    low, middle, high = row['ratio_quartiles']
                    self.assertTrue(0 < low <= middle <= high)
                    self.assertAlmostEqual(row['ratio'], middle, places=9)
                    self.assertEqual(row.get('holds', True), True, row)


if __name__ == '__main__':
    skipping.main()
