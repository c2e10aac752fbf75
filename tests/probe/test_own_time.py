# SPDX-License-Identifier: LGPL-2.1-or-later
# What the recorder itself takes: its long work is events and a row of the report, and what a
# budget stopped is told.
import json

import skipping
import torches
from record_case import RecordCase

LARGE = """
import torch
x = torch.ones(1 << 22, requires_grad=True)
for _ in range(4):
    (x * 2).sum().backward()
    x.grad = None
"""
# Each number that is read here is looked up to the leaf: too much beside so little work.
LOGGED = """
import torch
x = torch.ones(64, requires_grad=True)
y = x
for _ in range(1500):
    y = torch.tanh(y * 1.01)
    y.sum().item()
y.sum().backward()
"""
NOTE = "the recorder stopped looking for what cuts"


class OwnTime(RecordCase):
    def recorded(self, program, *options, version=None):
        python = list(torches.observed().values())[0] if version is None else torches.observed()[version]
        done = self.record(python, self.script(program), options=('--force', '-o', 't.tape', *options))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_checked('t.tape')
        return done

    def test_long_work_is_told(self):
        """To look at a large gradient takes long. That is in no function's time, and the shares are the whole."""
        for version in torches.observed():
            self.recorded(LARGE, version=version)
            events = self.events('t.tape')
            took = [e for e in events if e['event'] == 'recorder_took']
            self.assertTrue([e for e in took if e['work'] == 'numbers'])
            self.assertTrue(all(e['took'] >= 9900 for e in took), took)
            report = json.loads(self.ask('report', 't.tape', '--json').stdout)
            self.assertNotIn('recorder', report['why'])
            self.assertGreater(report['wall_parts']['recorder'], 0)
            self.assertLessEqual(abs(sum(report['wall_parts'].values()) - report['wall']), len(report['wall_parts']))
            [leaf] = [row for row in report['rows'] if row['key'].endswith('AccumulateGrad')]
            functions, inside, later = self.times_of(leaf['key'], events)
            self.assertGreater(inside, 0)
            self.assertLessEqual(leaf['self'], functions + 4)
            self.assertLessEqual(functions - later - 4, leaf['self'], 'less: a wait for a core that was told of after the end')
            self.assertIn('in the recorder itself', self.ask('report', 't.tape').stdout)

    def times_of(self, name, events):
        """Of the nodes of a name: the time without the recorder's and waits for a core; the recorder's; such waits that their
        threads told of between the node's end and the next begin."""
        nodes = {e['node'] for e in events if e['event'] == 'node_new' and e['name'] == name}
        at_work, after, functions, inside, later = {}, set(), 0, 0, 0  # [since, ns] of threads that run one
        for e in events:
            kind, thread = e['event'], e['thread']
            if thread in at_work:
                since, ns = at_work[thread]
                ns += e['t'] - since
                if kind in ('recorder_took', 'core_wait'):
                    ns -= min(ns, e['took' if kind == 'recorder_took' else 'waited'])
                at_work[thread] = e['t'], ns
                inside += e['took'] if kind == 'recorder_took' else 0
            if kind == 'node_begin':
                after.discard(thread)
                if e['node'] in nodes:
                    at_work[thread] = e['t'], 0
            elif kind == 'node_end' and e['node'] in nodes:
                functions += at_work.pop(thread)[1]
                after.add(thread)
            elif kind == 'core_wait' and thread in after:
                later += e['waited']
        return functions, inside, later

    def test_budget(self):
        """What takes too much of the time stops, and everybody who would ask for it hears so."""
        for version in torches.observed():
            done = self.recorded(LOGGED, version=version)
            self.assertIn(NOTE, done.stderr)
            [stopped] = [e for e in self.events('t.tape') if e['event'] == 'recorder_stopped']
            self.assertEqual(stopped['work'], 'cuts')
            for command in ('info', 'findings'):
                self.assertIn(NOTE, self.ask(command, 't.tape').stdout)
                self.assertEqual(json.loads(self.ask(command, 't.tape', '--json').stdout)['recorder_stopped'], ['cuts'])
            done = self.recorded(LARGE, version=version)
            self.assertNotIn('stopped', done.stderr)
            for command in ('info', 'findings'):
                self.assertEqual(json.loads(self.ask(command, 't.tape', '--json').stdout)['recorder_stopped'], [])

    def test_older_tape(self):
        """Tapedeck's own engine does not time its recorder: that is said, and not zero."""
        self.script(LARGE)
        self.assertEqual(self.ask('run', '-o', 'own.tape', 'script.py').returncode, 0)
        report = json.loads(self.ask('report', 'own.tape', '--json').stdout)
        self.assertIsNone(report['wall_parts']['recorder'])
        self.assertIn('did not time', report['why']['recorder'])


if __name__ == '__main__':
    skipping.main()
