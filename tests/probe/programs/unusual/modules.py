# SPDX-License-Identifier: LGPL-2.1-or-later
"""Modules that contain themselves, that many paths lead to, that lie deep, that answer for attributes that they lack."""
import sys

import torch


class Looped(torch.nn.Module):
    def forward(self, x):
        return self.layer(x)


class Pair(torch.nn.Module):
    def __init__(self, child):
        super().__init__()
        self.a = self.b = child

    def forward(self, x):
        return self.a(x)


class Answers(torch.nn.Module):
    asked = 0

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 2)

    def __getattribute__(self, name):
        if name in ("_modules", "_parameters"):
            Answers.asked += 1
        return super().__getattribute__(name)

    def forward(self, x):
        return self.layer(x)


def train(net):
    net(torch.ones(2, 3)).sum().backward()
    return sorted(len(parameter.grad) for parameter in net.parameters())


sys.setrecursionlimit(100000)
looped = Looped()
looped.layer = torch.nn.Linear(3, 2)
looped._modules["parent"] = looped
print(train(looped))
shared = deep = torch.nn.Linear(3, 2)
for _ in range(40):
    shared = Pair(shared)
print(train(shared))
inner = torch.nn.Linear(3, 3)
for _ in range(3000):
    outer = torch.nn.Module()
    outer.inner = inner
    inner = outer
deep.extra = inner
print(len(deep(torch.ones(2, 3))))
answers = Answers()
train(answers)
print(Answers.asked)
