# SPDX-License-Identifier: LGPL-2.1-or-later
"""Forks of programs that are recorded: no child waits for a lock that a thread of its parent held. `test_forks.py N`
forks N times as often as the suite."""
import os
import pathlib
import sys

import skipping
import torches
from preloads import preload
from record_case import SOURCE, TAPEDECK, RecordCase

PROGRAM = SOURCE / 'tests' / 'fixtures' / 'forks.py'
SLOW_LIST = pathlib.Path(os.environ['BUILD_ROOT']) / 'tests' / 'libslow_list.so'
N_FORKS = 12
times = 1


class Forks(RecordCase):
    def check_tape(self, python, how, options=(), **more):
        done = self.record(python, PROGRAM, how, N_FORKS * times, options=['--force', '-o', 'forks.tape', *options], **more)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        n_worked, n_held_up = map(int, done.stdout.split())
        if n_held_up:
            print(f'{how} {python}: {n_held_up} of {N_FORKS * times} children waited for a lock of PyTorch itself')
        self.assertGreater(n_worked, n_held_up)
        self.assertNotIn('tapedeck: /', done.stderr)
        self.assertIn(len(self.info('forks.tape')['processes']), range(1 + n_worked, 2 + n_worked + n_held_up), done.stderr)
        self.assert_checked('forks.tape', killed=n_held_up > 0)

    def test_children_work(self):
        for python in torches.pythons():
            self.run_in(TAPEDECK, 'fit', python)  # a child does not wait for a compiler
            for how in ('cold', 'warm'):
                with self.subTest(python=python, how=how):
                    self.check_tape(python, how)

    def test_children_work_at_level_2(self):
        for python in torches.of_test(self):
            with self.subTest(python=python):
                self.check_tape(python, 'warm', options=['--level', '2'])

    def test_list_of_libraries(self):
        """The C library's lock for its list of libraries is free in each child."""
        for python in torches.of_test(self):
            with self.subTest(python=python):
                self.check_tape(python, 'cold', env={**self.environment, 'LD_PRELOAD': preload(SLOW_LIST)})

    def test_unrecorded(self):
        """The program itself: it must not hang without Tapedeck, either."""
        for python, how in torches.in_turns(['cold', 'warm']):
            done = self.run_in(python, PROGRAM, how, N_FORKS * times)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == '__main__':
    if sys.argv[-1].isdigit():
        times = int(sys.argv.pop())
    torches.need_compiler()
    skipping.main(verbosity=2)
