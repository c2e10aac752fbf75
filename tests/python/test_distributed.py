# SPDX-License-Identifier: LGPL-2.1-or-later
"""torch.distributed.autograd and torch.distributed.rpc in a world of one worker: as PyTorch 2.13 has them."""
import collections
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import skipping
import torches

TAPEDECK = os.environ['TAPEDECK']
CASES = pathlib.Path(__file__).with_name('distributed_cases.py')
SEEN = CASES.with_suffix('.txt')  # what PyTorch 2.13 printed


class Distributed(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def output(self, *command, environment=os.environ):
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def record(self):
        return self.output(TAPEDECK, 'run', '--semantics', '2.13', '-o', 't.tape', CASES)

    def test_prints_the_same(self):
        self.assertEqual(self.record(), SEEN.read_text())

    def test_pytorch_still_prints_it(self):
        python = torches.python_of('2.13.0')
        plain = {name: value for name, value in os.environ.items() if name != 'PYTHONPATH'}
        self.assertEqual(self.output(python, CASES, environment=plain), SEEN.read_text())

    def test_the_tape(self):
        """The passes end, keep the rules, and run send and receive functions as often as there were calls."""
        self.record()
        self.output(TAPEDECK, 'check', 't.tape')
        events = [json.loads(line) for line in self.output(TAPEDECK, 'events', 't.tape', '--json').splitlines()]
        count = collections.Counter(event['event'] for event in events)
        self.assertEqual(count['graph_task_begin'], 7)
        self.assertEqual([event['status'] for event in events if event['event'] == 'graph_task_end'].count('error'), 2)
        self.assertEqual(count['graph_task_end'], 7)
        names = {event['node']: event['name'] for event in events if event['event'] == 'node_new'}
        ran = collections.Counter(names[event['node']] for event in events if event['event'] == 'node_begin')
        self.assertEqual((ran['SendRpcBackward'], ran['RecvRpcBackward']), (10, 10))


if __name__ == '__main__':
    skipping.main(verbosity=2)
