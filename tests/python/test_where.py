# SPDX-License-Identifier: LGPL-2.1-or-later
"""Where a program writes in place: the tape names the program's own line, never one of the package's."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TAPEDECK = os.environ['TAPEDECK']
PACKAGE = pathlib.Path(os.environ['OWN_ENGINE']) / 'torch'
SCRIPT = '''\
import torch
x = torch.ones(2, requires_grad=True)
x.sum().backward()  # the engine writes x.grad, in no line of Python
optimizer = torch.optim.SGD([x], lr=0.1)
torch.zeros(2).add_(1)  # line 5
optimizer.step()  # line 6: written into by the package
'''


class Where(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()

    def write(self, *parts):
        script = self.folder.joinpath(*parts, 'train.py')
        script.parent.mkdir(parents=True)
        script.write_text(SCRIPT)
        return script

    def writes(self, *command, **options):
        """The places of the writes on the tape of a command."""
        done = subprocess.run([TAPEDECK, *command], cwd=self.folder, capture_output=True, text=True, timeout=300, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        told = subprocess.run([TAPEDECK, 'events', 't.tape', '--json', '--kind', 'tensor_write'], cwd=self.folder,
                              capture_output=True, text=True, timeout=300, check=True).stdout
        return [json.loads(line)['stack'] for line in told.splitlines()]

    def recorded(self, package, script):
        """The same of a program that imports the package from the folder given."""
        return self.writes('record', '--force', '-o', 't.tape', '--', sys.executable, script,
                           env={**os.environ, 'PYTHONPATH': str(package.parent)})

    def lines(self, script):
        return [None, f'{script}:5', f'{script}:6']

    def test_script_in_a_folder_of_that_name(self):
        for parts in ('torch',), ('torch', 'examples'), ('torch-1',):
            with self.subTest(parts):
                script = self.write(*parts)
                self.assertEqual(self.writes('run', '--force', '-o', 't.tape', str(script)), self.lines(script))
                self.assertEqual(self.recorded(PACKAGE, script), self.lines(script))

    def test_package_behind_a_symlink(self):
        link = self.folder / 'link'
        link.symlink_to(PACKAGE.parent)
        script = self.write('torch')
        self.assertEqual(self.recorded(link / 'torch', script), self.lines(script))

    def test_package_of_symlinks(self):
        """As some package managers install it: each file is a link into a store."""
        script = self.write('torch')
        package = self.folder / 'python' / 'torch'
        shutil.copytree(PACKAGE, package, copy_function=os.symlink, ignore=shutil.ignore_patterns('*.p', '__pycache__'))
        self.assertEqual(self.recorded(package, script), self.lines(script))

    def test_installed_package(self):
        """A copy, in a folder of the same name as the script's."""
        script = self.write('torch')
        package = self.folder / 'torch' / 'site-packages' / 'torch'
        shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns('*.p', '__pycache__'))
        self.assertEqual(self.recorded(package, script), self.lines(script))


if __name__ == '__main__':
    unittest.main(verbosity=2)
