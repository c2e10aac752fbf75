# SPDX-License-Identifier: LGPL-2.1-or-later
"""Passes and steps of an optimizer that begin just below the limit of recursion."""
import sys

import torch

x = torch.ones(3, requires_grad=True)
optimizer = torch.optim.SGD([x], 0.1)


def work():
    (x * 2).sum().backward()
    optimizer.step()


def below(n, do):
    return do() if n == 0 else below(n - 1, do)


def ends(n, do):
    try:
        below(n, do)
        return True
    except RuntimeError:  # PyTorch may make one of a RecursionError
        return False


for _ in range(3):
    work()
y = (x * 2).sum()
sys.setrecursionlimit(120)
print(sum(ends(n, work) for n in range(80, 120)))
print(torch.isfinite(x).all().item())
