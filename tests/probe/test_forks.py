# SPDX-License-Identifier: LGPL-2.1-or-later
"""Forks of programs that are recorded: no child waits for a lock that a thread of its parent held. `test_forks.py N`
forks N times as often as the suite."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import torches

TAPEDECK = os.environ['TAPEDECK']
PROGRAM = pathlib.Path(os.environ['SOURCE_ROOT']) / 'tests' / 'fixtures' / 'forks.py'
CACHE = pathlib.Path(os.environ['TEST_OUTPUT']) / 'cache'
N_FORKS = 12
times = 1


class Forks(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.environment = dict(os.environ, XDG_CACHE_HOME=str(CACHE), OMP_NUM_THREADS='1')
        for name in ('PYTHONPATH', 'TAPEDECK_SESSION'):
            self.environment.pop(name, None)

    def run_in(self, *command):
        return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=600,
                              cwd=self.temporary.name, env=self.environment)

    def record(self, python, *arguments, options=()):
        done = self.run_in(TAPEDECK, 'record', '--force', '-o', 'forks.tape', *options, '--', python, PROGRAM, *arguments)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def check_tape(self, python, how, options=()):
        done = self.record(python, how, N_FORKS * times, options=options)
        n_worked, n_held_up = map(int, done.stdout.split())
        if n_held_up:
            print(f'{how} {python}: {n_held_up} of {N_FORKS * times} children waited for a lock of PyTorch itself')
        self.assertGreater(n_worked, n_held_up)
        self.assertNotIn('tapedeck: /', done.stderr)
        info = json.loads(self.run_in(TAPEDECK, 'info', 'forks.tape', '--json').stdout)
        self.assertIn(len(info['processes']), range(1 + n_worked, 2 + n_worked + n_held_up), done.stderr)
        checked = self.run_in(TAPEDECK, 'check', 'forks.tape')
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

    def test_children_work(self):
        for python in torches.installed().values():
            self.run_in(TAPEDECK, 'fit', python)  # a child does not wait for a compiler
            for how in ('cold', 'warm'):
                with self.subTest(python=python, how=how):
                    self.check_tape(python, how)

    def test_children_work_at_level_2(self):
        for python in torches.installed().values():
            with self.subTest(python=python):
                self.check_tape(python, 'warm', options=['--level', '2'])

    def test_unrecorded(self):
        """The program itself: it must not hang without Tapedeck, either."""
        for python in torches.installed().values():
            for how in ('cold', 'warm'):
                done = self.run_in(python, PROGRAM, how, N_FORKS * times)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == '__main__':
    if sys.argv[-1].isdigit():
        times = int(sys.argv.pop())
    unittest.main(verbosity=2)
