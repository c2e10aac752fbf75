# SPDX-License-Identifier: LGPL-2.1-or-later
"""torch.utils.data gives the same batches, draws and errors as on the real PyTorchs."""
import os
import subprocess
import tempfile
import unittest

import seen_cases
import skipping

FOLDER = os.path.dirname(os.path.abspath(__file__))

DEATH = """
import os, signal, torch
from torch.utils.data import DataLoader

class Deadly(torch.utils.data.Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        os.kill(os.getpid(), signal.SIGKILL)

try:
    list(DataLoader(Deadly(), num_workers=1))
except RuntimeError as problem:
    print('exited unexpectedly' in str(problem))
"""


class Data(unittest.TestCase):
    maxDiff = None

    def test_same_as_pytorch(self):
        seen_cases.compare(self, os.path.join(FOLDER, 'data_cases.py'))

    def test_worker_that_dies(self):
        """The program hears of it, and does not wait for ever."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'death.py')
            with open(path, 'w') as file:
                file.write(DEATH)
            done = subprocess.run([*seen_cases.own(), path], cwd=folder, capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stdout), (0, 'True\n'), done.stderr)


if __name__ == '__main__':
    skipping.need_semaphores()
    skipping.main(verbosity=2)
