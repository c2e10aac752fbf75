# SPDX-License-Identifier: LGPL-2.1-or-later
"""The script that compare_torch.py runs on PyTorch and on Tapedeck: writes what it saw to a JSON file.

    torch_cases.py OUT.json FOLDER_OF_EXAMPLES
"""
import contextlib
import glob
import io
import json
import os
import runpy
import sys

import torch
from torch import nn
from torch.nn import functional as F


def all_nodes(roots):
    """Every node below the roots, in the order of a walk that is the same on both engines."""
    found, waiting = [], [root for root in roots if root is not None]
    while waiting:
        node = waiting.pop()
        if any(node is other for other in found):
            continue
        found.append(node)
        waiting.extend(edge[0] for edge in node.next_functions if edge[0] is not None)
    return found


def watch(roots):
    """The list that post hooks will fill with the names of nodes as they run, numbered in order of the walk."""
    order = []
    for i, node in enumerate(all_nodes(roots)):
        name = node.name().split('::')[-1]  # PyTorch says torch::autograd::AccumulateGrad
        node.register_hook(lambda grad_inputs, grad_outputs, seen=f'{name}#{i}': order.append(seen))
    return order


def values(tensors):
    return [None if t is None else t.tolist() for t in tensors]


def leaf(*numbers):
    return torch.tensor(numbers, requires_grad=True)


# Each case returns (roots, root gradients or None, leaves).

def fork():
    torch.manual_seed(3)
    linear1, linear2 = nn.Linear(4, 4), nn.Linear(4, 4)
    x = torch.randn(1, 4, requires_grad=True)
    h = linear1(x)
    z = torch.relu(h)
    o = (z + linear2(h))[0]
    return [o], [torch.ones(4)], [x, *linear1.parameters(), *linear2.parameters()]


def fan_in(n):
    """n leaves into one node: AccumulateGrads of equal sequence number, whose order is the heap's."""
    leaves = [leaf(float(i)) for i in range(n)]
    return [torch.cat(leaves).sum()], None, leaves


def convolution():
    torch.manual_seed(6)
    net = nn.Sequential(nn.Conv2d(2, 3, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(12, 4))
    x = torch.randn(5, 2, 4, 4, requires_grad=True)
    return [nn.MSELoss()(net(x), torch.randn(5, 4))], None, [x, *net.parameters()]


def shared_linear():
    torch.manual_seed(7)
    linear = nn.Linear(3, 3)
    x = torch.randn(1, 3, requires_grad=True)
    h = linear(x)
    return [(torch.relu(h) + linear(h))[0]], [torch.ones(3)], [x, *linear.parameters()]


def shapes():
    x = torch.arange(24.).view(2, 3, 4).requires_grad_()
    a = x.permute(2, 0, 1)[1:, 0:2, 0].reshape(-1)
    b = x[:, 1:, :].mean(dim=(0, 2)).expand(3, 2).flatten()
    sums = x.transpose(0, 1).chunk(3)[1].squeeze().sum(1)
    c, d = sums[0], sums[-1]
    return [(a * b).sum() / 3 + (1 / (1 + c)) ** 2 - 2 ** (d / 30) + torch.where(a > 9, a, -a).tanh().sum()], None, [x]


CASES = {'fork': fork,
         'convolution': convolution, 'shared linear': shared_linear, 'shapes': shapes,
         **{f'fan-in {n}': lambda n=n: fan_in(n) for n in range(2, 13)}}


def run_case(case):
    roots, gradients, leaves = case()
    order = watch([root.grad_fn for root in roots])
    torch.autograd.backward(roots, gradients)
    return {'order': order, 'values': values(roots) + values(x.grad for x in leaves)}


def run_example(path):
    """What the example printed, and the order of nodes in each of its backward passes."""
    passes, backward = [], torch.autograd.backward

    def watched(tensors, *args, **kwargs):
        passes.append(watch([(tensors if isinstance(tensors, (list, tuple)) else [tensors])[0].grad_fn]))
        return backward(tensors, *args, **kwargs)
    text = io.StringIO()
    torch.autograd.backward = watched
    try:
        with contextlib.redirect_stdout(text):
            runpy.run_path(path, run_name='__main__')
    finally:
        torch.autograd.backward = backward
    return {'passes': passes, 'text': text.getvalue()}


RANDOM = ['torch.rand(5)', 'torch.randn(5)', 'torch.randn(40)', 'torch.rand(3, dtype=torch.float64)',
          'torch.randn(17, dtype=torch.float64)', 'torch.randperm(9)', 'torch.zeros(4).uniform_(-2, 3)',
          'torch.zeros(20).normal_(1, 2)', 'nn.Linear(3, 4).weight', 'nn.Linear(3, 4).bias',
          'nn.Conv2d(2, 3, 3).weight', 'nn.Conv2d(2, 3, 3).bias']

PRINTED = ['torch.arange(3)', 'torch.arange(1, 2, 0.25)', 'torch.tensor([1., 1e5])', 'torch.tensor([1., 2000.5])',
           'torch.tensor(2.5)', 'torch.zeros(2, 2, 2)', 'torch.arange(1500.)', 'torch.arange(40.) / 3', 'torch.zeros(0, 3)',
           'torch.arange(2000).view(20, 100)', 'torch.tensor([1., float("inf"), 1e-9])', 'torch.zeros(3, dtype=torch.float64)',
           'torch.tensor([[True], [False]])', 'torch.ones(2, requires_grad=True) * 1.5', 'torch.tensor([-1, 100])',
           'nn.Linear(2, 3)', 'nn.Sequential(nn.Conv2d(1, 2, 3, padding=1), nn.ReLU())', 'torch.tensor([1e9, 2e9])',
           'torch.full((2, 30), 1 / 3)', 'torch.zeros(2, 3).shape', '(torch.ones(1, requires_grad=True) * 2).detach()',
           'torch.ones(1, requires_grad=True).exp().grad_fn.name()', 'f"{torch.tensor(0.123456):.3f}"', 'torch.device("cpu")']

TEXTS = ['torch.ones(1).backward()', 'leaf(1., 2.).exp().backward()', 'leaf(1.).exp().backward(torch.ones(2))',
         'torch.autograd.grad(leaf(1.).exp(), torch.ones(1))', 'torch.autograd.grad(leaf(1.).exp(), leaf(1.))',
         'torch.autograd.grad(leaf(1.).exp(), [])', 'leaf(1.).exp().backward(inputs=[])', 'leaf(1.).add_(1)',
         'torch.arange(2).requires_grad_()', 'leaf(1.).exp().requires_grad_(False)', 'torch.ones(2) + torch.ones(3)',
         'torch.ones(2, 3) @ torch.ones(2, 3)', 'torch.ones(2)[2]', 'torch.ones(2).view(3)', 'torch.ones(2).sum(1)',
         'torch.tensor([[1], [2, 3]])', 'bool(torch.ones(2))', 'torch.cat([torch.ones(1, 2), torch.ones(1, 3)])',
         'F.nll_loss(torch.zeros(1, 3), torch.tensor([7]))', 'len(torch.tensor(1))', 'torch.ones(2).size(3)',
         'torch.ones(2).item()', 'setattr(leaf(1.), "grad", torch.ones(2))']


def printed(expression):
    torch.manual_seed(8)
    return str(eval(expression))


def raised(expression):
    try:
        eval(expression)
    except Exception as problem:
        return f'{type(problem).__name__}: {problem}'
    return 'nothing raised'


def is_comparable(path):
    """Threads that train at once have no order of nodes that is the same each time."""
    with open(path) as file:
        return 'import threading' not in file.read()


def random_values(expression):
    torch.manual_seed(9)
    return eval(expression).tolist()


def main(out, examples):
    seen = {'engine': 'tapedeck' if hasattr(torch, '_tapedeck') else 'torch', 'version': torch.__version__,
            'cases': {name: run_case(case) for name, case in CASES.items()},
            'examples': {os.path.basename(path): run_example(path) for path in sorted(glob.glob(examples + '/*.py')) if is_comparable(path)},
            'random': {expression: random_values(expression) for expression in RANDOM},
            'printed': {expression: printed(expression) for expression in PRINTED},
            'texts': {expression: raised(expression) for expression in TEXTS}}
    with open(out, 'w') as file:
        json.dump(seen, file)


main(*sys.argv[1:])
