# SPDX-License-Identifier: LGPL-2.1-or-later
"""torch.save and torch.load: each engine reads what each other has written, and no file harms Tapedeck's."""
import json
import os
import subprocess
import tempfile
import unittest

import seen_cases
import skipping
import torches

FOLDER = os.path.dirname(os.path.abspath(__file__))
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != 'PYTHONPATH'}


class Save(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())

    def run_script(self, command, script, *arguments):
        done = subprocess.run([*command, os.path.join(FOLDER, script), *arguments], cwd=self.folder, env=ENVIRONMENT,
                              capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def own(self, number):
        return [*seen_cases.own()[:-1], f'{number}.tape']

    def test_each_reads_each(self):
        engines = {'own': self.own(1), **{version: [python] for version, python in torches.installed().items()}}
        for name, command in engines.items():
            os.mkdir(os.path.join(self.folder, name))
            self.run_script(command, 'saved_files.py', 'write', name)
        engines['own'] = self.own(2)
        seen = {}
        for name, command in engines.items():
            self.run_script(command, 'saved_files.py', 'read', name + '.json', *engines)
            with open(os.path.join(self.folder, name + '.json')) as file:
                seen[name] = json.load(file)
        for reader in engines:
            for file, contents in seen[reader].items():
                with self.subTest(f'{file}, read by {reader}'):
                    writer = file.split()[0]
                    self.assertEqual(contents, seen[writer][file])
        self.assertGreater(len(seen['own']), 7 * len(engines))

    def test_whole_modules_of_pytorch_are_refused(self):
        scripts = {'write.py': 'import sys, torch; torch.save(torch.nn.Linear(2, 3), sys.argv[1])',
                   'read.py': 'import sys, torch; torch.load(sys.argv[1], weights_only=False)'}
        for name, text in scripts.items():
            with open(os.path.join(self.folder, name), 'w') as file:
                file.write(text)
        for version, python in torches.installed().items():
            self.run_script([python], os.path.join(self.folder, 'write.py'), f'{version}.pt')
            done = subprocess.run([*self.own(4), '--force', os.path.join(self.folder, 'read.py'), f'{version}.pt'], cwd=self.folder,
                                  env=ENVIRONMENT, capture_output=True, text=True, timeout=300)
            self.assertIn('UnpicklingError', done.stderr, version)

    def test_hostile_files(self):
        self.assertEqual(self.run_script(self.own(3), 'hostile_saves.py', self.folder), 'fine\n')


if __name__ == '__main__':
    skipping.main(verbosity=2)
