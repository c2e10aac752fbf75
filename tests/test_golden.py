# SPDX-License-Identifier: LGPL-2.1-or-later
"""The golden traces of real PyTorch, as they stand on a tape: order of evaluation, dependency counts, numbers of nodes,
what waits in not_ready, gradients. compare_torch.py compares with PyTorch itself; the counts it cannot see are here."""
import collections
import json
import os
import subprocess
import tempfile
import unittest

TAPEDECK = os.environ['TAPEDECK']

# name: (script, order as name[sequence_nr,topological_nr] with sequence numbers from 0 and M for a leaf, the counts
# of the `dependency` events by name, what the script prints)
GOLDEN = {
    'GT-1': ('a, b = torch.tensor([2., 3.], requires_grad=True), torch.tensor([6., 4.], requires_grad=True)\n'
             '(3*a**3 - b**2).backward(gradient=torch.tensor([1., 1.]))\n'
             'print(a.grad.tolist(), b.grad.tolist())',
             'Sub[3,3] Pow[2,1] Leaf[M,0] Mul[1,2] Pow[0,1] Leaf[M,0]',
             {'Pow': [1, 1], 'Leaf': [1, 1], 'Mul': [1]}, '[36.0, 81.0] [-12.0, -8.0]'),
    'GT-2': ('l1, l2 = nn.Linear(1, 1), nn.Linear(1, 1)\n'
             'x = torch.ones(1, 1, requires_grad=True)\n'
             'h = l1(x); z = torch.relu(h); y = l2(h); o = (z + y)[0]\n'
             'o.backward()\n'
             'print(x.grad is not None)',
             'Select[6,5] Add[5,4] Addmm[4,3] Leaf[M,0] T[3,1] Leaf[M,0] Relu[2,3] Addmm[1,2] Leaf[M,0] Leaf[M,0] '
             'T[0,1] Leaf[M,0]',
             {'Add': [1], 'Addmm': [1, 2], 'Leaf': [1, 1, 1, 1, 1], 'T': [1, 1], 'Relu': [1]}, 'True'),
    'GT-4': ('x = torch.tensor([1.], requires_grad=True)\n'
             'y = 2*x; z = 3*y + y.sin(); z.backward(); print(len(x.grad))',
             'Add[3,3] Sin[2,2] Mul[1,2] Mul[0,1] Leaf[M,0]',
             {'Sin': [1], 'Mul': [1, 2], 'Leaf': [1]}, '1'),
    'GT-5': ('x = torch.tensor([1.], requires_grad=True)\n'
             'a, b = 2*x, x.sin(); torch.autograd.backward([a, b]); print(len(x.grad))',
             'GraphRoot[2,2] Sin[1,1] Mul[0,1] Leaf[M,0]',
             {'Mul': [1], 'Sin': [1], 'Leaf': [2]}, '1'),
    'GT-7': ('w, x = torch.randn(4, 4, requires_grad=True), torch.randn(2, 4, requires_grad=True)\n'
             'r = x + torch.relu(x@w); r.sum().backward(); print(x.grad.shape == x.shape)',
             'Sum[3,4] Add[2,3] Relu[1,2] Mm[0,1] Leaf[M,0] Leaf[M,0]',
             {'Add': [1], 'Relu': [1], 'Mm': [1], 'Leaf': [1, 2]}, 'True'),
    'GT-11': ('m = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))\n'
              'F.cross_entropy(m(torch.randn(5, 4)), torch.tensor([0, 1, 2, 0, 1])).backward()\n'
              'print(sum(p.grad is not None for p in m.parameters()))',
              'NllLoss[6,6] LogSoftmax[5,5] Addmm[4,4] Leaf[M,0] T[3,1] Leaf[M,0] Relu[2,3] Addmm[1,2] Leaf[M,0] '
              'T[0,1] Leaf[M,0]',
              {'LogSoftmax': [1], 'Addmm': [1, 1], 'Leaf': [1, 1, 1, 1], 'T': [1, 1], 'Relu': [1]}, '4'),
    'GT-12': ('p, q = torch.tensor([1.], requires_grad=True), torch.tensor([2.], requires_grad=True)\n'
              'c = torch.sin(q); d = torch.cos(p); (c*d).backward(); print(len(p.grad))',
              'Mul[2,2] Cos[1,1] Leaf[M,0] Sin[0,1] Leaf[M,0]',
              {'Cos': [1], 'Sin': [1], 'Leaf': [1, 1]}, '1'),
    'GT-14': ('x = torch.tensor([1., 2.], requires_grad=True)\n'
              'torch.exp(x).sum().backward(); print(len(x.grad))',
              'Sum[1,2] Exp[0,1] Leaf[M,0]', {'Exp': [1], 'Leaf': [1]}, '2'),
    'GT-16': ('def grad(factors):\n'
              '    x = torch.tensor([1.], requires_grad=True); y = x*1.\n'
              '    a, b, c = [y*f for f in factors]; ((a + b) + c).backward()\n'
              '    return x.grad.item()\n'
              'print(grad([1., 1e8, -1e8]))\n',
              'Add[5,4] Add[4,3] Mul[3,2] Mul[2,2] Mul[1,2] Mul[0,1] Leaf[M,0]',
              {'Add': [1], 'Mul': [1, 1, 1, 3], 'Leaf': [1]}, '1.0'),
    'GT-16 built the other way': (
        'x = torch.tensor([1.], requires_grad=True); y = x*1.\n'
        'a, b, c = [y*f for f in [-1e8, 1e8, 1.]]; ((a + b) + c).backward()\n'
        'print(x.grad.item())',
        'Add[5,4] Add[4,3] Mul[3,2] Mul[2,2] Mul[1,2] Mul[0,1] Leaf[M,0]',
        {'Add': [1], 'Mul': [1, 1, 1, 3], 'Leaf': [1]}, '0.0'),
}

HEAD = 'import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n'


def short(name):
    return 'Leaf' if name == 'AccumulateGrad' else name.split('Backward')[0]


class Golden(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def tapedeck(self, *arguments):
        done = subprocess.run([TAPEDECK, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def record(self, script):
        """Runs a script; returns what it printed, its events and its nodes by number."""
        with open(os.path.join(self.folder, 'g.py'), 'w') as file:
            file.write(HEAD + script)
        printed = self.tapedeck('run', '--force', 'g.py').strip()
        events = [json.loads(line) for line in self.tapedeck('events', 'g.tape', '--json').splitlines()]
        return printed, events, {e['node']: e for e in events if e['event'] == 'node_new'}

    def test_traces(self):
        for name, (script, order, counts, printed) in GOLDEN.items():
            with self.subTest(name):
                self.trace(script, order, counts, printed)

    def trace(self, script, order, counts, printed):
        said, events, nodes = self.record(script)

        def write(node):
            number = 'M' if node['sequence_nr'] == 2**64 - 1 else node['sequence_nr']
            return f'{short(node["name"])}[{number},{node["topological_nr"]}]'
        self.assertEqual(' '.join(write(nodes[e['node']]) for e in events if e['event'] == 'node_begin'), order)
        seen = collections.defaultdict(list)
        for event in events:
            if event['event'] == 'dependency':
                seen[short(nodes[event['node']]['name'])].append(event['count'])
        self.assertEqual({name: sorted(found) for name, found in seen.items()}, counts)
        self.assertEqual(said, printed)

    def test_not_ready_from_addmm_until_relu(self):
        """GT-2: after the second Addmm ran, the first waits with 1 gradient of 2, until Relu has run."""
        _, events, nodes = self.record(GOLDEN['GT-2'][0])
        parked = []
        for event in events:
            if event['event'] != 'node_begin':
                continue
            state = json.loads(self.tapedeck('state', 'g.tape', '--at', str(event['seq']), '--json'))
            waiting = [short(nodes[entry['node']]['name']) for entry in state['not_ready']]
            parked.append((short(nodes[event['node']]['name']), waiting))
        self.assertEqual(parked[:2], [('Select', []), ('Add', [])])
        self.assertEqual(parked[2:7], [('Addmm', []), ('Leaf', ['Addmm']), ('T', ['Addmm']), ('Leaf', ['Addmm']),
                                       ('Relu', ['Addmm'])])
        self.assertEqual([waiting for _, waiting in parked[7:]], [[]] * 5)


if __name__ == '__main__':
    unittest.main()
