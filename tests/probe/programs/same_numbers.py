# SPDX-License-Identifier: LGPL-2.1-or-later
"""Two threads train a model each, and their nodes have the same sequence numbers. The program has creation hooks of its
own, if PyTorch has some. Prints what they met and what the gradients are."""
import contextlib
import threading

import torch
from torch.autograd import graph

STEPS = 5
met = []


def note(node):
    met.append(node.name())


creation_hook = getattr(graph, "node_creation_hook", lambda hook: contextlib.nullcontext())


class Block(torch.nn.Module):
    def __init__(self, n):
        super().__init__()
        self.inner = torch.nn.Linear(n, n)
        self.norm = torch.nn.LayerNorm(n)

    def forward(self, x):
        return self.norm(self.inner(x).relu())


class Left(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = Block(4), Block(4)

    def forward(self, x):
        return self.second(self.first(x)).tanh()


class Right(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.encode, self.decode = torch.nn.Linear(6, 3), torch.nn.Linear(3, 6)

    def forward(self, x):
        return self.decode(self.encode(x).sigmoid()).exp()


def train(model, x, together):
    for _ in range(STEPS):
        together.wait()
        loss = model(x).sum()
        together.wait()
        loss.backward()
    sums.append((type(model).__name__, [p.grad.sum().item() for p in model.parameters()]))


torch.manual_seed(0)
left, right, sums = Left(), Right(), []
with creation_hook(note):  # the first node of all comes within the program's own hook
    first = left(torch.ones(1, 4)).sum()
    with creation_hook(note):
        second = right(torch.ones(1, 6)).sum()
n_met = len(met)
(first * second).backward()
print(n_met == len(met), met)

together = threading.Barrier(2)
threads = [threading.Thread(target=train, args=(model, torch.ones(2, n), together), name=name)
           for name, model, n in (("on the left", left, 4), ("on the right", right, 6))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sorted(sums))
print(len(met) == n_met)
