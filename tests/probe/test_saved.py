# SPDX-License-Identifier: LGPL-2.1-or-later
# What nodes of PyTorch save for their backward functions. PyTorch's own hooks on saved tensors count the same tensors, with
# the same shapes, types and bytes, on the same storages.
import collections
import json

import skipping
import torches
from record_case import RecordCase

CASES = """import collections, json, sys, torch
from torch import nn
from torch.autograd.graph import saved_tensors_hooks
torch.manual_seed(0)
class Mine(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x, x.exp())
        return x * 2
    @staticmethod
    def backward(ctx, gradient):
        x, y = ctx.saved_tensors
        return gradient * 2 + 0 * x * y
mlp = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.LayerNorm(16), nn.GELU(), nn.Linear(16, 4), nn.Tanh())
conv = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 8, 3), nn.Sigmoid(),
                     nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5))
embedding, gru = nn.Embedding(10, 6), nn.GRU(4, 3)
encoder = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0)
weight = embedding.weight
cases = {
    "mlp": lambda: mlp(torch.ones(5, 8)).sum(),
    "conv": lambda: nn.functional.cross_entropy(conv(torch.ones(2, 3, 12, 12)), torch.tensor([1, 2])),
    "embedding": lambda: embedding(torch.tensor([[1, 2], [3, 4]])).pow(3).mean(),
    "transformer": lambda: encoder(torch.randn(3, 2, 8)).square().sum(),
    "gru": lambda: gru(torch.ones(3, 2, 4))[0].sum(),
    "custom": lambda: Mine.apply(weight.sin()).prod(),
    "double": lambda: (weight.double() ** 2).log().sum(),
    "lists": lambda: weight[torch.tensor([1, 2]), torch.tensor([0, 1])].exp().sum(),
    "nothing": lambda: (weight + 1).sum(),
    "numbers": lambda: sum(x.sum() for x in torch._foreach_mul([weight, weight.exp()], [2.0, 3.0])),
}
if torch.__version__ < "2": del cases["numbers"]
told = {}
for name, make in cases.items():
    if "count" not in sys.argv:
        make().backward()
        continue
    seen = []
    with saved_tensors_hooks(lambda tensor: seen.append(tensor) or tensor, lambda tensor: tensor):
        make()
    shapes = sorted([str(list(t.shape)), str(t.dtype).replace("torch.", ""), t.numel() * t.element_size()] for t in seen)
    storages = collections.Counter(t.storage().data_ptr() for t in seen)
    told[name] = [shapes, sorted(storages.values())]
if told: print(json.dumps(told))
"""

PARTS = ['transformer', 'gru']  # PyTorch gives the parts of a chunk counters of their own on one storage

KEPT = """import torch
x = torch.ones(3, requires_grad=True)
y = x.exp().sin().sum()
y.backward(retain_graph=True)
y.backward()
dropped = x.exp().sum()
dropped.backward(retain_graph=True)
del dropped
"""

CONFLICTS = """import torch
class Keeps(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clone()
    @staticmethod
    def backward(ctx, gradient):
        return gradient * ctx.saved_tensors[0]
for use in (lambda y: torch.ones(3) * y * y, Keeps.apply):
    y = torch.ones(3, requires_grad=True).exp().clone()
    z = use(y)
    with torch.no_grad():
        y.add_(1).add_(1)
    try:
        z.sum().backward()
    except RuntimeError as problem:
        print(problem)
"""

THREADS = """import threading, torch
weight = torch.randn(8, 8, requires_grad=True)
def train():
    for _ in range(60):
        y = torch.ones(4, 8)
        for _ in range(5):
            y = (y @ weight).relu()
        gradient, = torch.autograd.grad(y.sum(), weight, create_graph=True)
        (gradient * gradient).sum().backward()
threads = [threading.Thread(target=train) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
"""


STEPS = """import torch
weight = torch.randn(8, 8, requires_grad=True)
optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1)  # only counts the steps
kept = []
for step in range(12):
    y = torch.ones(4 + step, 8)
    for _ in range(5):
        y = (y @ weight).relu()
    kept.append(y.sum())
    kept[-1].backward(retain_graph=True)
    if step % 3 == 1:  # nobody records this one
        for each in kept: each.backward()
        kept.clear()
    optimizer.step()
"""

MANY = """import random, torch
random.seed(5)
kept = []
for i in range(3000):
    x, factor = torch.ones(i + 1, requires_grad=True), torch.ones(i + 1)
    kept.append((x * factor).sum() + (x * factor).sum())
    kept[-1].backward(retain_graph=True)
    while len(kept) > 700 + 600 * (i // 1000 % 2):  # so many, in another order
        kept[random.randrange(len(kept))] = kept[-1]
        kept.pop()
"""


class Saved(RecordCase):
    maxDiff = None

    def on_each(self, text, *options):
        """(its Python, its events, what the program said) for the PyTorchs of the test."""
        self.script(text, 'saves.py')
        for version, python in torches.each_of_test(self):
            tape = f'{version}.tape'
            done = self.record(python, 'saves.py', options=('-o', tape, *options))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assert_checked(tape)
            yield python, self.events(tape), done.stdout

    def test_what_is_saved(self):
        for python, events, _ in self.on_each(CASES):
            counted = json.loads(self.run_in(python, 'saves.py', 'count').stdout)
            found, saved = [], []
            for event in events:  # a pass announces its nodes, and then begins
                if event['event'] == 'saved_tensor':
                    saved.append(event)
                if event['event'] == 'graph_task_begin':
                    found.append([sorted([e['shape'], e['dtype'], e['bytes']] for e in saved),
                                  sorted(collections.Counter(e['counter'] for e in saved).values())])
                    saved = []
            found = dict(zip(counted, found))
            for name in PARTS:
                found[name][1] = counted[name][1]
            self.assertEqual(found, counted)

    def test_how_long(self):
        for _, events, _ in self.on_each(KEPT):
            saves = [event for event in events if event['event'] == 'saved_tensor']
            ends = {kind: [e['node'] for e in events if e['event'] == kind] for kind in ('release', 'node_free')}
            self.assertEqual([event['is_output'] for event in saves].count(True), 2)
            self.assertEqual(len(saves), 3)
            sin, exp, dropped = (event['node'] for event in saves)
            self.assertEqual(ends['release'], [sin, exp])
            self.assertIn(dropped, ends['node_free'])
            second = [e['seq'] for e in events if e['event'] == 'graph_task_begin'][1]
            self.assertTrue(all(e['seq'] > second for e in events if e['event'] == 'release'))

    def test_conflicts(self):
        for _, events, said in self.on_each(CONFLICTS):
            self.assertEqual(said.count('at version 2; expected version 0'), 2, said)
            names = {event['node']: event['name'] for event in events if event['event'] == 'node_new'}
            saved = {(e['node'], e['number']): e for e in events if e['event'] == 'saved_tensor'}
            found = [event for event in events if event['event'] == 'version_conflict']
            self.assertEqual([[names[e['node']], e['saved'], e['found']] for e in found],
                             [['MulBackward0', 0, 2], ['KeepsBackward', 0, 2]])
            for event in found:
                self.assertEqual(saved[event['node'], event['number']]['counter'], event['counter'])

    def test_threads(self):
        self.check_counters(THREADS)

    def test_steps_left_out(self):
        """What nodes let go of while the recording pauses."""
        self.check_counters(STEPS, '--every', '3')

    def test_many(self):
        """Two nodes each save one tensor, of which no other has the size."""
        for events in self.check_counters(MANY):
            counters, saves = collections.defaultdict(set), collections.Counter()
            for event in events:
                if event['event'] == 'saved_tensor':
                    counters[event['bytes']].add(event['counter'])
                    saves[event['bytes']] += 1
            self.assertEqual(set(saves.values()), {2})
            self.assertEqual({len(found) for found in counters.values()}, {1})
            self.assertEqual(len(counters), 3000)
            self.assertEqual(len(set.union(*counters.values())), 3000)

    def check_counters(self, text, *options):
        """Tensors that share a counter at one time are of one size here. All of them go, and never come back."""
        runs = [events for _, events, _ in self.on_each(text, *options)]
        for events in runs:
            holds = collections.defaultdict(set)  # of each counter, the nodes that hold it
            saved = collections.defaultdict(set)
            shapes, gone = {}, set()
            for event in events:
                if event['event'] == 'saved_tensor':
                    self.assertNotIn(event['counter'], gone)
                    if not holds[event['counter']]:
                        shapes[event['counter']] = event['bytes']
                    self.assertEqual(shapes[event['counter']], event['bytes'])  # nobody else has this counter now
                    holds[event['counter']].add(event['node'])
                    saved[event['node']].add(event['counter'])
                if event['event'] in ('release', 'node_free'):
                    for counter in saved.pop(event['node'], ()):
                        holds[counter].discard(event['node'])
                        gone.update([] if holds[counter] else [counter])
            self.assertFalse(saved)
        return runs


if __name__ == '__main__':
    torches.need_compiler()
    skipping.main()
