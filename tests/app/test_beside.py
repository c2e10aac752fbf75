#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
# `tapedeck run --beside PYTHON`: one script on both engines.
#   test_beside.py [unittest's arguments]
import os
import subprocess
import sys
import tempfile
import unittest

import skipping
import torches

TAPEDECK = os.environ['TAPEDECK']
FOLDER = tempfile.TemporaryDirectory()

ALIKE = """
import sys, torch
print(sys.argv[1:])
net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
for i in range(3):
    loss = (net(torch.randn(4, 8)) ** 2).mean()
    loss.backward()
    print(f'loss {loss.item():.4f}')
"""
# Which engine it is, a script can only tell by the module's own name.
IS_OURS = "hasattr(torch, '_tapedeck')"


def write(name, text):
    path = os.path.join(FOLDER.name, name)
    with open(path, 'w') as file:
        file.write(text)
    return path


def beside(*words, python=None):
    plain = {name: value for name, value in os.environ.items() if name != 'PYTHONPATH'}
    return subprocess.run([TAPEDECK, 'run', '--force', '--beside', python or PYTHON, *words], cwd=FOLDER.name, env=plain,
                          text=True, capture_output=True, timeout=300)


class Beside(unittest.TestCase):
    def test_the_same(self):
        """Same seed, same numbers, same order: nothing to tell. The script keeps its arguments."""
        done = beside(write('alike.py', ALIKE), 'x', '--y')
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("['x', '--y']", done.stdout)
        self.assertIn('\ntext         the same', done.stdout)
        self.assertIn('order        the same, node by node', done.stdout)
        self.assertIn(' 0 differ ', done.stdout)
        self.assertEqual(done.stdout.count('loss'), 3)  # of one engine alone
        self.assertNotIn('seeded.py', done.stdout)
        for tape in ('alike.tape', 'alike.pytorch.tape'):
            self.assertTrue(os.path.exists(os.path.join(FOLDER.name, tape)), tape)

    def test_seed(self):
        printed = [beside('--seed', seed, write('seed.py', ALIKE)).stdout.split('\n')[1] for seed in ('1', '1', '2')]
        self.assertEqual(printed[0], printed[1])
        self.assertNotEqual(printed[0], printed[2])

    def test_text(self):
        done = beside(write('text.py', f'import torch\nprint("one")\nprint("ours" if {IS_OURS} else "theirs")\n'
                                       'torch.ones(1, requires_grad=True).sum().backward()\n'))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn('text         differs in 1 of 2 lines, in 1 part, first at line 2\n', done.stdout)
        self.assertIn('A: ours\n', done.stdout)
        self.assertIn('B: theirs\n', done.stdout)

    def test_values(self):
        done = beside(write('values.py', f'import torch\nx = torch.ones(1, requires_grad=True)\n'
                                         f'(x * (2 if {IS_OURS} else 3)).sum().backward()\n'))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn('order        the same', done.stdout)
        self.assertRegex(done.stdout, r'MulBackward0.* is 2 in A, 3 in B')

    def test_order(self):
        done = beside(write('order.py', f'import torch\nx = torch.ones(1, requires_grad=True)\n'
                                        f'y = x.exp() if {IS_OURS} else x.sin()\n(x.cos() + y).sum().backward()\n'))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn('order        differs in 1 of 1 graph task', done.stdout)
        self.assertIn('ExpBackward0', done.stdout)

    def test_errors(self):
        """Both end with the same exception, with another one, or one of them alone."""
        script = 'import torch\ntorch.ones(1, requires_grad=True).sum().backward()\n'
        same = beside(write('same.py', script + 'torch.ones(2).backward()\n'))
        self.assertEqual(same.returncode, 0, same.stdout + same.stderr)
        self.assertIn('error        the same\n', same.stdout)
        other = beside(write('other.py', script + f'raise RuntimeError({IS_OURS})\n'))
        self.assertEqual(other.returncode, 1)
        self.assertIn('A: RuntimeError: True\n', other.stdout)
        lone = beside(write('lone.py', script + f'assert {IS_OURS}, "no"\n'))
        self.assertEqual(lone.returncode, 1)
        self.assertIn('A ends with status 0, B with 1\n', lone.stdout)
        self.assertIn('B: AssertionError: no\n', lone.stdout)

    def test_ends_at_once(self):
        """A script that never comes to run leaves no tape of PyTorch: that is no failure of the comparison."""
        done = beside(write('syntax.py', 'print(1'))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn('error        the same\n', done.stdout)
        self.assertIn('order        not compared: PyTorch left no tape\n', done.stdout)

    def test_refused(self):
        script = write('refused.py', ALIKE)
        for words, why in ((['--live'], '--live: does not go with --beside'),
                           (['--scheduler', '2017'], '--scheduler: does not go with --beside'),
                           (['--keep', '1steps'], '--keep: does not go with --beside')):
            done = beside(*words, script)
            self.assertEqual((done.returncode, why in done.stderr), (2, True), done.stderr)

    def test_no_torch(self):
        script = write('none.py', ALIKE)
        done = beside(script, python='/nonexistent/python')
        self.assertEqual(done.returncode, 2)
        self.assertIn('/nonexistent/python', done.stderr)
        bare = write('bare', f'#!/bin/sh\nexec "{sys.executable}" -S -I "$@"\n')
        os.chmod(bare, 0o755)
        done = beside(script, python=bare)
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn("it has no PyTorch to compare with: ModuleNotFoundError: No module named 'torch'", done.stderr)
        self.assertFalse(os.path.exists(os.path.join(FOLDER.name, 'none.tape')))

    def test_overwrites_nothing(self):
        script = write('kept.py', ALIKE)
        kept = write('kept.pytorch.tape', 'mine')
        done = subprocess.run([TAPEDECK, 'run', '--beside', PYTHON, script], cwd=FOLDER.name, text=True, capture_output=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn('kept.pytorch.tape: exists already', done.stderr)
        with open(kept) as file:
            self.assertEqual(file.read(), 'mine')


PYTHON = torches.python_of('2.13.0')
if __name__ == '__main__':
    torches.need_compiler()
    skipping.main()
