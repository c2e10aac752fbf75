# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every shipped example can run as the body of a loop: the resident set is flat. 1,000 steps where the tests are thorough;
else as often as fits into a few seconds, and at least 32 times."""
import glob
import os
import re
import subprocess
import tempfile
import unittest

import skipping
import torches

TAPEDECK, EXAMPLES = os.environ['TAPEDECK'], os.environ['EXAMPLES']
STEPS = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'memory_steps.py')
MOST = 1500  # KB: the recorder's own tables and malloc's reserves take up to 400 KB
MOST_SHARED = 40000  # KB: the ring of a later thread is faulted in as the thread gets there, 2 x 8 MB; a lost one is 128 KB
STEPS_OF = {'digits': 24, 'other_order': 4}  # slow ones, whose runs are several steps
SLOW = ['digits']  # 2 s a run: only where the tests are thorough


def devices(path):
    with open(path) as file:
        named = re.search(r'^# devices: (\S+)', file.read(), re.M)
    return named.group(1) if named else 'cpu'


def grown(path):
    """(number of runs, KB of its own pages, KB of shared ones)"""
    with tempfile.TemporaryDirectory() as folder:
        seconds = '3600' if torches.is_thorough() else '2'
        steps = STEPS_OF.get(os.path.basename(path)[:-len('.py')], 1)
        done = subprocess.run([TAPEDECK, 'run', '--devices', devices(path), '-o', 'x.tape', STEPS, path,
                               str(-(-1000 // steps)), seconds],
                              cwd=folder, capture_output=True, text=True, timeout=3600)
        if done.returncode:
            raise RuntimeError(done.stdout + done.stderr)
        return tuple(map(int, done.stdout.split()))


class Memory(unittest.TestCase):
    def test_examples(self):
        for path in sorted(glob.glob(os.path.join(EXAMPLES, '*.py'))):
            name = os.path.basename(path)[:-len('.py')]
            if name in SLOW and not torches.is_thorough():
                continue
            with self.subTest(name):
                runs, growth, shared = grown(path)
                print(f'{name}: {runs} runs, {growth} KB and {shared} KB', flush=True)
                self.assertLess(growth, MOST)
                self.assertLess(shared, MOST_SHARED)


if __name__ == '__main__':
    skipping.main()
