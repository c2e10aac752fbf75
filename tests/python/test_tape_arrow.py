#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
# Tape.to_arrow() and to_pandas() of a million events, against the JSON of `events`; and what they refuse. Runs itself again
# in a Python that has pandas and pyarrow.
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
from concurrent import futures

import skipping
import torches

N_NODES = 70000  # each makes 15 events
BUILD = pathlib.Path(os.environ['BUILD_ROOT'])
TAPEDECK = os.environ['TAPEDECK']


def go_to_python_with_pandas():
    python = torches.python_of('2.13.0', 'pandas', 'pyarrow')
    if sys.executable != python:
        os.execv(python, [python, *sys.argv])


class Arrow(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        from tapedeck import tape
        cls.folder = tempfile.TemporaryDirectory(prefix='tapedeck-test-')
        cls.path = os.path.join(cls.folder.name, 'long.tape')
        script = os.path.join(cls.folder.name, 'long.py')
        pathlib.Path(script).write_text('import torch\nx = torch.ones(1, requires_grad=True)\ny = x\n'
                                        f'for _ in range({N_NODES}):\n    y = y * 1.0\ny.sum().backward()\n')
        subprocess.run([TAPEDECK, 'run', '-o', cls.path, script], check=True, capture_output=True)
        cls.tape = tape.Tape(cls.path)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def json_events(self):
        said = subprocess.run([TAPEDECK, 'events', '--json', self.path], check=True, capture_output=True).stdout
        return [json.loads(line) for line in said.splitlines()]

    def test_events(self):
        table = self.tape.to_arrow('events')
        events = self.json_events()
        self.assertGreater(len(events), 1000000)
        self.assertEqual(table.num_rows, len(events))
        names = {'seq': 'seq', 'ns': 't', 'thread': 'thread', 'event': 'event'}
        for column, member in names.items():
            self.assertEqual(table[column].to_pylist(), [event[member] for event in events], column)
        fields = table['fields'].to_pylist()
        for row in range(0, len(events), 97):
            plain = {key: value for key, value in events[row].items() if key not in (*names.values(), 'stack')}  # stacks are a table
            self.assertEqual(json.loads(fields[row]), plain)

    def test_pandas(self):
        import pandas
        table, frame = self.tape.to_arrow('nodes'), self.tape.to_pandas()
        self.assertEqual(list(frame.columns), table.column_names)
        self.assertEqual(len(frame), self.tape.info['n_nodes'])
        self.assertEqual(frame['node'].dtype, pandas.Int64Dtype())
        self.assertEqual(set(frame['name']), {facts['name'] for facts in self.tape.nodes.values()})
        self.assertEqual(sorted(map(tuple, self.tape.to_pandas('edges').values.tolist())), sorted(self.tape.edges))
        self.assertEqual(self.tape.to_pandas('passes')['graph_task'].tolist(), [one['id'] for one in self.tape.passes])

    def test_tables_that_go(self):
        """Threads that ask for the first time at once, and somebody who removes what was exported."""
        from tapedeck import tape
        short = pathlib.Path(os.environ['SOURCE_ROOT']) / 'tests' / 'trace' / 'golden' / 'nested.tape'
        for _ in range(5):
            recorded, start = tape.Tape(short), threading.Barrier(5)

            def ask(name):
                start.wait()
                return recorded.to_arrow(name).num_rows
            with futures.ThreadPoolExecutor(5) as pool:
                self.assertEqual(list(pool.map(ask, ['nodes', 'edges', 'events', 'nodes', 'events'])), [6, 4, 122, 6, 122])
        shutil.rmtree(recorded._find_tables().name)  # as the child of a fork does at its end
        self.assertEqual(recorded.to_arrow('edges').num_rows, 4)

    def test_refusals(self):
        from tapedeck.tape import TapeError
        with self.assertRaisesRegex(TapeError, "no table 'knots'; there are columns, edges, events"):
            self.tape.to_arrow('knots')
        for name in ('pyarrow', 'pandas'):
            kept = {key: sys.modules.pop(key) for key in list(sys.modules) if key.split('.')[0] == name}
            sys.modules[name] = None
            try:
                with self.assertRaisesRegex(TapeError, f'pip install {name}'):
                    self.tape.to_pandas()
            finally:
                del sys.modules[name]
                sys.modules.update(kept)


if __name__ == '__main__':
    go_to_python_with_pandas()
    skipping.main()
