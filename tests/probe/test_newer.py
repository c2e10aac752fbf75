# SPDX-License-Identifier: LGPL-2.1-or-later
"""What newer engines offer, on tapes: final callbacks, creation hooks and buffers that are exposed to custom functions.
tests/probe/programs/newer.py does all of it and prints what PyTorch did. Its tape must say the same."""
import json
import os
import subprocess
import tempfile
import unittest

import skipping
import torches
from record_case import TAPEDECK, plain_environment

PROGRAM = os.path.join(os.environ['SOURCE_ROOT'], 'tests', 'probe', 'programs', 'newer.py')
NEEDS = {'created': '2.14', 'exposed': '2.15'}

# A NaN that a custom function adds to a sum which waits for a leaf.
NAN = '''
import torch
class Times(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k):
        ctx.k = k
        return x * 2
    @staticmethod
    def backward(ctx, gradient):
        ctx.input_grad_buffers[0].add_(gradient * ctx.k)
        return None, None
x = torch.ones(3, requires_grad=True)
(Times.apply(x, float("nan")).sum() + (x * 5).sum()).backward()
print(x.grad.tolist())
'''


class Tape:
    """A program, recorded and not."""
    def __init__(self, python, *command, options=()):
        with tempfile.TemporaryDirectory() as folder:
            tape = os.path.join(folder, 'newer.tape')

            def run(*words):
                return subprocess.run(words, env=plain_environment(), cwd=folder, text=True, capture_output=True, timeout=480)
            self.plain = run(python, *command)
            self.recorded = run(TAPEDECK, 'record', *options, '-o', tape, '--', python, *command)
            self.check = run(TAPEDECK, 'check', tape)
            self.events = [json.loads(line) for line in run(TAPEDECK, 'events', tape, '--json').stdout.splitlines()]
        self.names = {event['node']: event['name'] for event in self.of('node_new')}

    def of(self, *kinds):
        return [event for event in self.events if event['event'] in kinds]


def short_name(owner):
    """'note' of 'Hooks.note (newer.py:7)'."""
    return owner.split(' (')[0].split('.')[-1]


class Newer(unittest.TestCase):
    tapes = {}

    def each(self, what=None):
        """(what the program said, its tape) on each PyTorch that has the feature."""
        found = []
        for version, python in torches.each():
            if version not in self.tapes:
                self.tapes[version] = Tape(python, PROGRAM)
            tape = self.tapes[version]
            said = {line['what']: line for line in map(json.loads, tape.plain.stdout.splitlines())}
            if what in said or not what:
                found.append((said.get(what), tape, version))
        if not found:
            self.skipTest(f'no PyTorch {NEEDS.get(what)} is here')
        return found

    def test_nothing_changes(self):
        for _, tape, _ in self.each():
            self.assertEqual((tape.recorded.returncode, tape.recorded.stdout), (0, tape.plain.stdout), tape.recorded.stderr)
            self.assertEqual(tape.check.returncode, 0, tape.check.stdout)
            self.assertNotIn('not judged', tape.check.stdout)

    def test_nothing_changes_at_level_2(self):
        for _, _, version in self.each():
            tape = Tape(torches.python_of(version), PROGRAM, options=['--level', '2'])
            self.assertEqual((tape.recorded.returncode, tape.recorded.stdout), (0, tape.plain.stdout), tape.recorded.stderr)
            self.assertEqual(tape.check.returncode, 0, tape.check.stdout)
            refused = [line for line in tape.recorded.stderr.splitlines() if 'input_grad_buffers' in line]
            self.assertEqual(len(refused), '"exposed"' in tape.plain.stdout)

    def test_final_callbacks(self):
        for said, tape, _ in self.each('final'):
            called = [short_name(event['owner']) for event in tape.of('final_callback')]
            self.assertEqual(called, said['done'])
            queued = [short_name(event['owner']) for event in tape.of('final_callback_new')]
            self.assertEqual(sorted(queued), sorted(called + ['first']))  # one came after one that failed
            self.assertEqual(len(tape.of('final_callback_end')), len(called))

    def test_creation_hooks(self):
        for said, tape, _ in self.each('created'):
            hooks = [event for event in tape.of('hook_begin') if event['kind'] == 'creation']
            names = {'note': 'noted', '<lambda>': 'twice'}
            for owner, what in names.items():
                met = [tape.names[event['node']] for event in hooks if short_name(event['owner']) == owner]
                self.assertEqual(met, [name.split('::')[-1] for name in said[what]])
            self.assertEqual(len(hooks), len(said['noted']) + len(said['twice']))
            news = {event['node']: event['seq'] for event in tape.of('node_new')}
            begins = {event['node']: event['seq'] for event in reversed(tape.of('node_begin'))}
            for event in hooks:
                self.assertLess(news[event['node']], event['seq'])
                self.assertLess(event['seq'], begins.get(event['node'], len(tape.events)))

    def test_exposed_buffers(self):
        for said, tape, _ in self.each('exposed'):
            exposed = [(event['by'], event['node'], event['input_nr']) for event in tape.of('buffer_expose')]
            direct = [event for event in tape.of('buffer_add') if event['mode'] == 'direct']
            self.assertEqual(len(exposed), said['n'])
            self.assertEqual(len(direct), len(said['added']))
            for event in direct:
                self.assertIn((event['from'], event['node'], event['input_nr']), exposed)
                self.assertEqual(event['bytes'], 12)
            self.check_what_else_came(said, tape, direct)

    def check_what_else_came(self, said, tape, direct):
        """A function that added everything gives no gradient beside; one that added a part gives the rest."""
        for how, event in zip(said['added'], direct):
            beside = [other['mode'] for other in tape.of('buffer_add')
                      if (other['from'], other['node']) == (event['from'], event['node']) and other['mode'] != 'direct']
            self.assertEqual(beside, [] if how == 'all' else ['in_place'])

    def test_nan_of_an_exposed_buffer(self):
        for _, _, version in self.each('exposed'):
            tape = Tape(torches.python_of(version), '-c', NAN, options=['--anomaly', 'nan'])
            self.assertEqual(tape.recorded.stdout, tape.plain.stdout)
            born = [(event['born'], tape.names[event['node']]) for event in tape.of('anomaly')]
            self.assertEqual(born, [('node', 'TimesBackward')])


if __name__ == '__main__':
    torches.need_compiler()
    skipping.main(verbosity=2)
