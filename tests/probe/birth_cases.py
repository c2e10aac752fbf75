# SPDX-License-Identifier: LGPL-2.1-or-later
"""Where values that are not finite come from, one mistake a function, for test_births.py: on PyTorch.

    python3 birth_cases.py CASE..."""
import sys

import torch
from torch import nn

INF = float('inf')


def cast_to_half():
    """The gradient of float32 is finite, and too large for the half that it goes back to."""
    weight = torch.full((3,), 2., dtype=torch.float16, requires_grad=True)
    wide = weight * 3 + torch.ones(3)  # float32 from here on
    (wide * 1e6).sum().backward()


def cast_to_float():
    """The same, straight into a leaf, from float64."""
    weight = torch.ones(2, requires_grad=True)
    (weight * torch.full((2,), 1e200, dtype=torch.float64)).sum().backward()


def cast_of_two():
    """Two gradients meet at the half. One of them does not fit."""
    weight = torch.ones(3, dtype=torch.float16, requires_grad=True)
    half = weight * 1
    ((half + torch.zeros(3)) * 1e7).sum().add((half + torch.ones(3)).sum()).backward()


def equal_eigenvalues():
    matrix = torch.diag(torch.tensor([2., 2., 5.])).requires_grad_()
    values, vectors = torch.linalg.eigh(matrix)
    (vectors[:, 0].sum() + values.sum()).backward()


def one_sample():
    batch = torch.ones(1, 4, requires_grad=True)
    (batch.var(0).sum() * 0).backward()


def root_of_zero():
    distance = torch.zeros(3, requires_grad=True)
    (distance.sqrt() * torch.tensor([0., 1., 0.])).sum().backward()


def log_of_negative():
    """The loss is a NaN, and no gradient has one."""
    rate = torch.tensor([0.3, -0.1], requires_grad=True)
    rate.log().sum().backward()


def root_of_negative():
    """The loss is a NaN, and so is the gradient that the root hands on."""
    rate = torch.tensor([0.3, -0.1], requires_grad=True)
    (rate * 2).sqrt().sum().backward()


def overflow_then_nan():
    """exp() overflows, and its result divided by itself is no number."""
    score = torch.full((3,), 200., requires_grad=True)
    weight = score.exp()
    (weight / weight.sum()).max().backward()


def attention(heads, later):
    scores = (heads @ heads.t()).masked_fill(later, -INF)
    return torch.softmax(scores, -1) @ heads


def mask_is_innocent():
    """Every step masks with -Inf. In the last one a root of 0 makes a NaN, which has nothing to do with the masks."""
    net, later = nn.Linear(4, 4), torch.triu(torch.ones(3, 3, dtype=torch.bool), 1)
    for step in range(3):
        out = attention(net(torch.ones(3, 4)), later)
        length = (out * 0).square().sum() if step == 2 else out.square().sum() + 1
        (out.sum() + length.sqrt()).backward()


def spoilt_by_gradient():
    """A NaN of the first step is in the weights from then on."""
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(4):
        optimizer.zero_grad()
        out = net(torch.ones(2, 3))
        loss = out.sum() + ((out * 0).square().sum().sqrt() if step == 1 else 0)
        loss.backward()
        optimizer.step()


def spoilt_by_optimizer():
    """The gradients are finite. The step makes the weights infinite."""
    net = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e38)
    for step in range(3):
        optimizer.zero_grad()
        (net(torch.ones(2, 3)).sum() * 1e5).backward()
        optimizer.step()


def main():
    torch.manual_seed(0)
    for case in sys.argv[1:]:
        globals()[case]()


main()
