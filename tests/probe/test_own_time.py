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
            spans, begun, inside = 0, {}, 0
            leaves = {e['node'] for e in events if e['event'] == 'node_new' and e['name'].endswith('AccumulateGrad')}
            for e in events:
                if e['event'] == 'node_begin' and e['node'] in leaves:
                    begun[e['thread']] = e['t']
                elif e['event'] == 'node_end' and e['node'] in leaves:
                    spans += e['t'] - begun.pop(e['thread'])
                elif e['event'] == 'recorder_took' and e['thread'] in begun:
                    inside += e['took']
            self.assertGreater(inside, 0)
            without = leaf['parts']['no_core'] or 0
            self.assertLessEqual(leaf['self'] - 4, spans - inside)
            self.assertLessEqual(spans - inside, leaf['self'] + without + 4)
            self.assertIn('in the recorder itself', self.ask('report', 't.tape').stdout)

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
