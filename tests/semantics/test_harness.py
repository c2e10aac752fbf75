#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The harness of the rows itself, with groups of its own: it finds a difference that was planted, and without a PyTorch it
says so, exits with 77, and calls nothing "same"."""
import os
import subprocess
import sys
import tempfile
import unittest

import skipping
import table
import torches

HERE = os.path.dirname(os.path.abspath(__file__))
GROUP = '''
import sys
from harness import order_of, row

TAPEDECK = 'tapedeck' in sys.modules


@row('A-01')
def equal(torch):
    return torch.ones(2).tolist()


@row('A-02')
def unequal(torch):
    return TAPEDECK


@row('A-03', expect=[2.0])
def expected(torch):
    return (torch.ones(1) * 2).tolist()


@row('A-04', expect=[3.0])
def unexpected(torch):
    return (torch.ones(1) * 2).tolist()


@row('A-05', expect=[2.0])
def expected_in_part(torch):
    return (torch.ones(1) * 2).tolist()


@row('A-05')
def compared_in_part(torch):
    return 1


@row('A-06', tape=order_of)
def unequal_on_tape(torch):
    y = torch.ones(1, requires_grad=True) * 2
    (y.exp() if TAPEDECK else y.sin()).backward()
'''
NONE = ''


class Harness(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        with open(os.path.join(self.folder, 'rows_planted.py'), 'w', encoding='utf-8') as file:
            file.write(GROUP)

    def run_rows(self, *arguments, pythons=None):
        environment = {**os.environ, 'SEMANTICS_GROUPS': self.folder}
        if pythons is not None:
            environment['TEST_PYTHONS'] = pythons
        done = subprocess.run([sys.executable, os.path.join(HERE, 'test_semantics.py'), *arguments], env=environment,
                              capture_output=True, text=True, timeout=600)
        self.assertEqual(done.stderr, '')
        return done

    def test_without_any_pytorch(self):
        done = self.run_rows('A-01', 'A-03', pythons=NONE)
        self.assertEqual(done.returncode, 77, done.stdout)
        self.assertIn('skipped: TEST_PYTHONS has no PyTorch 1.13.1', done.stdout)
        self.assertIn('skipped: TEST_PYTHONS has no PyTorch 2.13.0', done.stdout)
        self.assertIn('1 rows not run, or not all of their tests: A-01\n', done.stdout)

    def test_a_python_without_pytorch(self):
        done = self.run_rows('A-01', pythons='2.13.0=/bin/true')
        self.assertEqual(done.returncode, 77, done.stdout)
        self.assertIn('skipped: /bin/true has no PyTorch 2.13.0', done.stdout)

    def test_what_is_expected_fails_without_any_pytorch(self):
        done = self.run_rows('A-04', pythons=NONE)
        self.assertEqual(done.returncode, 1)
        self.assertIn('Tapedeck: not what is expected, [3.0]', done.stdout)

    def test_table_without_any_pytorch(self):
        path = os.path.join(self.folder, 'table.json')
        self.run_rows(f'--table={path}', pythons=NONE)
        made = {row[0]: row[2:5] for row in table.read(path)}
        self.assertEqual(made['A-01'], ['not run', 'not run', 'not run'])
        self.assertEqual(made['A-03'], ['passed', 'not run', 'not run'])
        self.assertEqual(made['A-04'], ['FAILED', 'not run', 'not run'])
        self.assertEqual(made['A-05'], ['in part not run', 'not run', 'not run'])
        self.assertFalse([name for name, words in made.items() if 'same' in ' '.join(words)])

    def test_a_row_without_a_test_fails(self):
        done = self.run_rows(pythons=NONE)
        self.assertEqual(done.returncode, 1)
        self.assertIn('A-07: no test', done.stdout)
        self.assertNotIn('A-01: no test', done.stdout)

    def test_planted_differences(self):
        here = torches.installed()
        if not here:
            self.skipTest('there is no PyTorch to differ from')
        done = self.run_rows('A-01', 'A-02', 'A-03', 'A-06')
        self.assertEqual(done.returncode, 1)
        for version in here:
            self.assertIn(f'A-02 rows_planted.unequal: Tapedeck and PyTorch {version} differ', done.stdout)
            self.assertIn(f'A-06 rows_planted.unequal_on_tape: Tapedeck and PyTorch {version} differ', done.stdout)
        self.assertIn(f'{2 * len(here)} problems', done.stdout)


if __name__ == '__main__':
    skipping.main(verbosity=2)
