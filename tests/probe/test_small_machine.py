# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a machine without C++ compiler, display and later PyTorch gives its user. TAPEDECK_WITHOUT makes it of this one."""
import os
import re
import shutil

import hidden
import skipping
import torches
from record_case import RecordCase

BACKWARD = 'import torch; (torch.ones(2, requires_grad=True) * 3).sum().backward(); print("fine")'


class SmallMachine(RecordCase):
    def test_nothing_finds_it(self):
        found = {word: [name for name in ('g++', 'c++', 'clang++', 'x86_64-linux-gnu-g++', 'Xvfb', 'xvfb-run', 'weston')
                        if re.fullmatch(hidden.PROGRAMS[word], name) and shutil.which(name)] for word in hidden.PROGRAMS}
        self.assertEqual(found, {'cxx': [], 'display': []})
        self.assertEqual([version for version in torches.with_newest() if version != '1.13.1'], [])
        self.assertTrue(shutil.which('sh'))

    def test_recorded_at_level_2(self):
        """The program runs, is recorded by hooks, and its user reads why."""
        done = self.record(torches.pythons()[0], '-c', BACKWARD, options=['-o', 'a.tape'])
        self.assertEqual((done.returncode, done.stdout), (0, 'fine\n'), done.stderr)
        self.assertIn('there is no C++ compiler', done.stderr)
        self.assertEqual(self.info('a.tape')['probe_level'], 2)
        self.assert_checked('a.tape')

    def test_no_window(self):
        done = self.ask('run', '-o', 'mlp.tape', 'mlp')
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.ask('open', 'mlp.tape')
        self.assertEqual((done.returncode, done.stdout), (2, ''))
        self.assertEqual(done.stderr.count('\n'), 1, done.stderr)


if __name__ == '__main__':
    if set(os.environ.get('TAPEDECK_WITHOUT', '').split()) != {'torch2', 'cxx', 'display'}:
        raise skipping.Missing('for TAPEDECK_WITHOUT="torch2 cxx display"')
    skipping.main(verbosity=2)
