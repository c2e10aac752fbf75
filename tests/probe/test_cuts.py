# SPDX-License-Identifier: LGPL-2.1-or-later
"""What `findings` says of PyTorch's programs that cut parameters off their loss, or write into what a node saved: which line,
and nothing where the line is not known."""
import json
import unittest

import skipping
import torches
from record_case import TAPEDECK, RecordCase

CUTS = """
import torch
from torch.utils.checkpoint import checkpoint
class Carrier(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, layer):
        return x + layer(x)  # custom
    @staticmethod
    def backward(ctx, grad):
        return grad, None
def switched_off(layer, x):
    torch.set_grad_enabled(False)
    y = layer(x)  # switched
    torch.set_grad_enabled(True)
    return y
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        for name in ("used", "carried", "switched", "inferred", "rerun", "listed", "dataed", "chosen", "compared", "whole", "watched"):
            setattr(self, name, torch.nn.Linear(2, 2, bias=False))
    def forward(self, x):
        h = self.used(x)
        h = Carrier.apply(h, self.carried)
        h = h + switched_off(self.switched, x)
        with torch.inference_mode():
            shift = self.inferred(x)  # inferred
        h = h + shift.clone()
        h = h + checkpoint(self.rerun, x, use_reentrant=True)  # checkpoint
        h = h * torch.tensor(self.listed(x).tolist())  # listed
        self.watched(x)  # makes a graph that nothing uses
        h = h + self.chosen(x).argmax(1, keepdim=True)  # chosen
        h = h + (self.compared(x) > 0).float()  # compared
        h = h + self.whole(x).long()  # whole
        return h + self.dataed(x).data  # data
net = Net()
spare = torch.nn.Parameter(torch.ones(2))
optimizer = torch.optim.SGD([*net.parameters(), spare], lr=0.1)
with torch.no_grad():
    net.used(torch.ones(3, 2)), net.watched(torch.ones(3, 2)), net.dataed(torch.ones(3, 2))  # looks at it first
for step in range(2):
    optimizer.zero_grad()
    net(torch.ones(3, 2)).square().sum().backward()
    optimizer.step()
"""
# Of each parameter: what is said, and the line with that mark.
EXPECTED = {
    'carried.weight': ('custom torch.autograd.Function', '# custom'),
    'switched.weight': ('gradients are switched off', '# switched'),
    'inferred.weight': ('inference_mode()', '# inferred'),
    'rerun.weight': ('use_reentrant=True', '# checkpoint'),
    'listed.weight': ('tolist()', '# listed'),
    'dataed.weight': ('took the .data', '# data'),
    'chosen.weight': ('argmax()', '# chosen'),
    'compared.weight': ('ended in a comparison', '# compared'),
    'whole.weight': ('was cast to integers', '# whole'),
    'parameter 11': ('Not known why. No module', None),
}

# PyTorch 1.13 keeps the copies that autocast made under no_grad(). Later versions do not.
CAST_FIRST = """
import torch
torch.manual_seed(0)
teacher, student = torch.nn.Linear(4, 4), torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD([*teacher.parameters(), *student.parameters()], lr=0.1)
x = torch.randn(8, 4)
student(x)  # the recorder comes with the first node
for step in range(3):
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16CACHE):
        with torch.no_grad():
            target = teacher(x)  # first
        BETWEEN
        loss = student(teacher(x)).float().square().mean() + (target.float() * 0).sum()
    loss.backward()
    optimizer.step()
"""

# The program may change a file once it runs, and another file of the same name may have made a node.
READ = """
import os, sys, torch
BEFORE
trunk, head = torch.nn.Linear(4, 4), torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD([*trunk.parameters(), *head.parameters()], lr=0.1)
for step in range(3):
    h = trunk(torch.ones(3, 4)).detach()  # cut
    optimizer.zero_grad()
    head(h).square().sum().backward()
    optimizer.step()
"""
SAME_NAME = """sys.path.insert(0, 'other')
import program as other"""
OTHER = """
import torch
# The same line as in the other program:


other = (
    torch.ones(2, requires_grad=True).exp())
other.sum().backward()
"""

STEP_BETWEEN = """
import torch
critic = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
actor = torch.nn.Linear(2, 3)
optimizer = torch.optim.Adam(critic.parameters())
score = critic(actor(torch.ones(5, 2)))
(-score.mean()).backward(retain_graph=True)
optimizer.step()
score.mean().backward()
"""
SLICE_WRITTEN = """
import torch
decay = torch.tensor(0.5, requires_grad=True)
states = torch.zeros(4)
for t in range(1, 4):
    states[t] = states[t - 1] * decay
states.sum().backward()
"""
# What is written, what is said of it, and the last words of the line that wrote.
WRITES = {
    STEP_BETWEEN: ('needed the memory of critic.2.weight', 'float32 [4, 1]', 'The step of an optimizer wrote into it', 'optimizer.step()'),
    SLICE_WRITTEN: ('needed a tensor at version', 'float32 []', 'copy_ wrote into it', '* decay'),
}
RIGHT = """
import torch
net = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
states = torch.zeros(4)
for step in range(3):
    optimizer.zero_grad()
    with torch.no_grad():
        net(torch.ones(3, 2))
    loss = net(torch.ones(3, 2)).square().sum()
    loss.backward()
    optimizer.step()
    states[step] = loss.detach()
print(states.tolist(), loss.item())
"""


def line_of(program, mark):
    if not mark:
        return None
    found = [number for number, line in enumerate(program.splitlines(), 1) if line.endswith(mark) and 'retain_graph' not in line]
    return f'program.py:{found[-1]}'


class Cuts(RecordCase):
    def findings_of(self, python, program, returncode=0, options=()):
        (self.folder / 'program.py').write_text(program)
        done = self.run_in(TAPEDECK, 'record', '--force', *options, '-o', 'a.tape', '--', python, 'program.py')
        self.assertEqual(done.returncode, returncode, done.stderr)
        return json.loads(self.ask('findings', '--json', 'a.tape').stdout)['findings']

    def test_what_cut_a_parameter_off(self):
        for version, python in torches.each():
            with self.subTest(version=version):
                found = {finding['text'].split(' had no gradient')[0]: finding for finding in self.findings_of(python, CUTS)}
                found = {name: finding for names, finding in found.items() for name in names.split(', ')}
                self.assertEqual(set(found), {*EXPECTED, 'watched.weight'})
                for name, (said, mark) in EXPECTED.items():
                    with self.subTest(name=name):
                        self.assertIn(said, found[name]['advice'])
                        self.assertEqual(found[name]['line'], line_of(CUTS, mark))
                self.assertIn('Not known why', found['watched.weight']['advice'])

    def test_copies_of_autocast(self):
        """The copy that was made without a graph is used again; or the teacher is used without one alone."""
        for version, python in torches.each():
            with self.subTest(version=version):
                is_kept = version.startswith('1.')
                program = CAST_FIRST.replace('CACHE', '').replace('BETWEEN', '')
                found = self.findings_of(python, program)
                self.assertEqual([finding['text'].split(' had')[0] for finding in found], ['teacher.weight, teacher.bias'] * is_kept)
                for finding in found:
                    self.assertIn('autocast kept the copy', finding['advice'])
                    self.assertEqual(finding['line'], line_of(program, '# first'))
                self.assertEqual(self.findings_of(python, CAST_FIRST.replace('CACHE', ', cache_enabled=False').replace('BETWEEN', '')), [])
                alone, = self.findings_of(python, CAST_FIRST.replace('CACHE', '').replace('BETWEEN', '').replace('student(teacher(x))', 'student(x)'))
                self.assertIn('gradients are switched off', alone['advice'])
                self.assertNotIn('autocast', alone['advice'])

    def test_text_of_the_line(self):
        """As it was when the program began; none if the file has changed, or if two files have a line of this name."""
        line = 'h = trunk(torch.ones(3, 4)).detach()  # cut'
        (self.folder / 'other').mkdir()
        (self.folder / 'other' / 'program.py').write_text('\n' + OTHER)
        for version, python in torches.each():
            for before, text in (('', line), ('os.utime(__file__)', None), (SAME_NAME, None)):
                with self.subTest(version=version, before=before):
                    program = READ.replace('BEFORE', before)
                    found, = self.findings_of(python, program, options=('--stacks',))
                    self.assertEqual(found['line'], line_of(program, '# cut'))
                    self.assertEqual(found['source'], text)
            self.assertIn('That line: ' + line, self.shown(python, READ.replace('BEFORE', '')))

    def shown(self, python, program):
        self.findings_of(python, program)
        return self.ask('findings', 'a.tape').stdout

    def test_what_wrote(self):
        for version, python in torches.each():
            for program, (text, shape, writer, line) in WRITES.items():
                with self.subTest(version=version, writer=writer):
                    found, = self.findings_of(python, program, 1)
                    self.assertEqual(found['kind'], 'version_conflict')
                    self.assertIn(text, found['text'])
                    for words in (shape, writer, f'at {line_of(program, line)}'):
                        self.assertIn(words, found['advice'])

    def test_right_program_has_none(self):
        for version, python in torches.each():
            with self.subTest(version=version):
                self.assertEqual(self.findings_of(python, RIGHT), [])


if __name__ == '__main__':
    torches.need_compiler()
    skipping.main(verbosity=2)
