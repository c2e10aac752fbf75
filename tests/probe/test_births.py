# SPDX-License-Identifier: LGPL-2.1-or-later
"""What `findings` says of values that are not finite, on each PyTorch: one mistake is one finding, and names its cause.
birth_cases.py has the mistakes."""
import json
import os
import re
import unittest

import skipping
import torches
from record_case import TAPEDECK, RecordCase

FOLDER = os.path.dirname(os.path.abspath(__file__))
CASES = os.path.join(FOLDER, 'birth_cases.py')

# Of each mistake: the place where the first value was born, the line of birth_cases.py, and what is said of it.
MISTAKES = {
    'cast_to_half': ('Inf was born in a cast: output 0 of AddBackward0', 'weight * 3',
                     'takes float16, which holds no number above 65504'),
    'cast_to_float': ('Inf was born in a cast: output 0 of MulBackward0', None, 'takes float32, which holds no number above 3.40e38'),
    'cast_of_two': ('Inf was born in a cast: output 0 of AddBackward0', 'weight * 1', 'takes float16'),
    'equal_eigenvalues': ('NaN was born in LinalgEighBackward0', 'eigh(matrix)', 'Two eigenvalues are equal'),
    'one_sample': ('NaN was born in the forward pass', 'batch.var(0)', 'variance of one sample'),
    'root_of_zero': ('NaN was born in SqrtBackward0', 'distance.sqrt()', 'its derivative at 0 is infinite'),
    'log_of_negative': ('NaN was born in the forward pass', 'rate.log()', r'No gradient of graph task \d+ has a NaN\.'),
    'root_of_negative': ('NaN was born in the forward pass', '(rate * 2).sqrt()',
                         r'The first gradient of graph task \d+ that has a NaN is the one that SqrtBackward0'),
    'overflow_then_nan': ('Inf was born in the forward pass', 'score.exp()', 'above 88.7 in float32'),
    'mask_is_innocent': ('Inf was born in SqrtBackward0', 'length.sqrt()', 'its derivative at 0 is infinite'),
    'spoilt_by_gradient': ('Inf was born in SqrtBackward0', 'square().sum().sqrt()', 'its derivative at 0 is infinite'),
    'spoilt_by_optimizer': ('Inf was in the leaf of AccumulateGrad', 'net(torch.ones(2, 3)).sum() * 1e5',
                            'No gradient that the tape has brought it there'),
}
ECHOES = {'overflow_then_nan': 1, 'mask_is_innocent': 1, 'spoilt_by_gradient': 9}

# Infinities that are meant, and what only looks like the mistakes above.
RIGHT = """
import torch
from torch import nn
torch.manual_seed(0)
inf = float('inf')
net, later = nn.Linear(4, 4), torch.triu(torch.ones(3, 3, dtype=torch.bool), 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):  # masks of attention, written and added
    optimizer.zero_grad()
    heads = net(torch.ones(3, 4))
    scores = (heads @ heads.t()).masked_fill(later, -inf) + torch.zeros(3, 3).masked_fill(later, -inf)
    (torch.softmax(scores, -1) @ heads).square().sum().backward()
    optimizer.step()
logits = net(torch.ones(2, 4)) + torch.tensor([0., 0., -inf, 0.])  # an answer that is ruled out
nn.functional.cross_entropy(logits, torch.tensor([0, 1])).backward()
x = torch.tensor([2., 3.], requires_grad=True)
torch.where(x > 5, torch.tensor(-inf), x).clamp(min=0).sum().backward()
half = torch.ones(3, dtype=torch.float16, requires_grad=True)  # casts of gradients that fit
((half * 3 + torch.ones(3)) * 1e4).sum().backward()
values, vectors = torch.linalg.eigh(torch.diag(torch.tensor([1., 2., 5.])).requires_grad_())
(vectors[:, 0].sum() + values.sum()).backward()
(x - 1).sqrt().log().sum().backward()
torch.randn(4, 3, requires_grad=True).var(0).sum().backward()
"""

COMPILED = """
import torch
class Distance(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.zeros(3))
    def forward(self, x):
        return (x * self.scale).square().sqrt().sum()
net = torch.compile(Distance(), backend="aot_eager")
net(torch.ones(3)).backward()
"""


class Births(RecordCase):
    def findings_of(self, python, *command, options=()):
        done = self.run_in(TAPEDECK, 'record', '--force', '--stacks', *options, '-o', 'a.tape', '--anomaly', '--', python, *command)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(self.ask('findings', '--json', 'a.tape').stdout)['findings']

    def line_of(self, text):
        with open(CASES) as file:
            found = [number for number, line in enumerate(file, 1) if text in line]
        self.assertEqual(len(found), 1, text)
        return f'birth_cases.py:{found[0]}'

    def test_inside_compiled(self):
        """One node stands for the compiled graph. Without compilation the operation is named."""
        python = torches.python_of('2.13.0')
        script = self.script(COMPILED, 'compiled.py')
        whole, = self.findings_of(python, script)
        self.assertIn('NaN was born in CompiledFunctionBackward', whole['text'])
        self.assertIn('tapedeck record --no-compile', whole['advice'])
        self.assertRegex(whole['line'], r'compiled\.py:\d+$')
        named, = self.findings_of(python, script, options=['--no-compile'])
        self.assertRegex(named['text'], 'born in (Sqrt|Pow)Backward')
        self.assertRegex(named['line'], f'compiled.py:{1 + COMPILED[:COMPILED.index("return (x")].count(chr(10))}$')

    def test_each_mistake_is_one_finding(self):
        for version, python in torches.each():
            with self.subTest(version=version):
                found = self.findings_of(python, CASES, *MISTAKES)
                self.assertEqual(len(found), len(MISTAKES), [finding['text'] for finding in found])
                for finding, (case, (born, line, said)) in zip(found, MISTAKES.items()):
                    with self.subTest(case=case):
                        self.assertEqual(finding['kind'], 'nonfinite')
                        self.assertTrue(finding['text'].startswith(born), finding['text'])
                        self.assertRegex(finding['advice'], said)
                        self.assertEqual(finding['line'], line and self.line_of(line))
                        led = re.search(r'It led to (\d+) in all', finding['advice'])
                        self.assertEqual(int(led[1]) if led else 0, ECHOES.get(case, 0))

    def test_right_programs_have_none(self):
        for version, python in torches.each():
            with self.subTest(version=version):
                found = self.findings_of(python, '-c', RIGHT)
                self.assertEqual([finding for finding in found if finding['kind'] == 'nonfinite'], [])


if __name__ == '__main__':
    torches.need_compiler()
    skipping.main(verbosity=2)
