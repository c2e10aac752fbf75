# SPDX-License-Identifier: LGPL-2.1-or-later
# What the recorder itself takes: its long work is events and a row of the report, what a budget stopped is told, and a
# program's tracers, profilers and collector do not see it.
import ast
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

# Counts what is seen from before the first node on, and what the collector knows after some steps.
TRACED = """
import cProfile, collections, gc, pstats, sys
seen = collections.Counter()
def note(frame, event, argument):
    name = argument.__qualname__ if event.startswith("c_") else frame.f_code.co_qualname if hasattr(frame.f_code, "co_qualname") else frame.f_code.co_name
    seen[event, name] += 1
import torch
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
unused = torch.nn.Parameter(torch.ones(2))
optimizer = torch.optim.SGD([*model.parameters(), unused], 0.01)
def step():
    optimizer.zero_grad()
    model(torch.ones(4, 8)).sum().backward()
    optimizer.step()
def traced(frame, event, argument):
    note(frame, event, argument)
    return traced
how = sys.argv[1]
if how == "trace":
    sys.settrace(traced)
elif how == "profile":
    sys.setprofile(note)
elif how == "cprofile":
    profiler = cProfile.Profile()
    profiler.enable()
elif how == "objects":
    for one in (*model.modules(), optimizer):
        vars(one)  # Python 3.11 makes the dict of an object when it is asked for, and the recorder asks
    gc.collect()
    before = collections.Counter(type(one).__name__ for one in gc.get_objects())
for _ in range(5):
    step()
if how == "trace":
    sys.settrace(None)
elif how == "profile":
    sys.setprofile(None)
elif how == "cprofile":
    profiler.disable()
    seen = {key[1:]: value[:2] for key, value in pstats.Stats(profiler).stats.items()}
elif how == "objects":
    gc.collect()
    seen = collections.Counter(type(one).__name__ for one in gc.get_objects())
    seen.subtract(before)
    seen = {name: n for name, n in seen.items() if n}
print(len(seen), *sorted(map(str, seen.items())), sep="\\n")
"""


def told(text):
    """What was seen, and how often. Not of PyTorch's loop over hooks of optimizers: it goes round once more. Before PyTorch 2.0
    optimizers have an empty method, _optimizer_step_code, and the recorder takes its place."""
    seen = dict(ast.literal_eval(line) for line in text.splitlines()[1:])
    return {what: n for what, n in seen.items()
            if "_optimizer_step_code" not in str(what) and "profile_hook_step" not in str(what)}


def more(recorded, plain):
    """Of which kinds the collector knows more objects. It forgets some of the program's sooner or later."""
    return {what for what, n in recorded.items() if n > max(plain.get(what, 0), 0) and what != "instancemethod"}


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
            self.assertLessEqual(abs(leaf['self'] - (spans - inside)), 4)
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

    def test_nobody_sees_it(self):
        """Tracers, profilers and the collector see as much as in the plain program."""
        for version, python in torches.observed().items():
            script = self.script(TRACED)
            for how in ('trace', 'profile', 'cprofile', 'objects'):
                plain = self.run_in(python, script, how)
                self.assertGreater(int(plain.stdout.split()[0]), 0 if how != 'objects' else -1, plain.stderr)
                for options in ((), ('--anomaly=nonfinite', '--stats=full', '--stacks')):
                    with self.subTest(version=version, how=how, options=options):
                        done = self.record(python, script, how, options=('--force', '-o', 't.tape', *options))
                        if how == 'objects':
                            self.assertEqual(more(told(done.stdout), told(plain.stdout)), set())
                        else:
                            self.assertEqual(told(done.stdout), told(plain.stdout))
                        self.assertEqual(self.info('t.tape')['events_by_kind'].get('optimizer_step'), 5)


if __name__ == '__main__':
    skipping.main()
